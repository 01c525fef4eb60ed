//! Bytes of which mostly a few are added and taken away at a time.

use alloc::{boxed::Box, vec::Vec};
use core::{mem, ops::Deref};

/// How much is added without a call.
const SHORT: usize = 16;

/// A text that grows at its end, mostly by a few bytes. A vector would call a function that copies
/// an unknown length, and check its capacity in another one; for a few bytes, either takes longer
/// than the copy. So the bytes after the end are there already, and are written over.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppendBuffer {
    /// The text, and room for more of it.
    bytes: Box<[u8]>,
    length: usize,
}

impl AppendBuffer {
    #[inline(always)]
    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    #[inline(always)]
    pub(crate) const fn clear(&mut self) {
        self.length = 0;
    }

    /// Keeps the first `length` bytes, if there are more.
    #[inline(always)]
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Removes the first `length` bytes.
    pub(crate) fn drop_front(&mut self, length: usize) {
        self.bytes.copy_within(length..self.length, 0);
        self.length -= length;
    }

    /// Adds `text` at the end.
    #[inline(always)]
    pub(crate) fn append(&mut self, text: &[u8]) {
        match self.room() {
            Some(room) if text.len() <= SHORT => copy_short(room, text),
            _ => self.append_long(text),
        }
        self.length += text.len();
    }

    /// Adds the last `length` bytes of `text`, of which there must be as many.
    #[inline(always)]
    pub(crate) fn append_end(&mut self, text: &[u8], length: usize) {
        match (text.last_chunk(), self.room()) {
            (Some(word), Some([room @ .., _, _, _, _, _, _, _, _])) if length <= room.len() => {
                let word = u64::from_le_bytes(*word).unbounded_shr(64 - 8 * length as u32);
                *room = word.to_le_bytes();
                self.length += length;
            }
            (None, Some([room, ..])) if text.len() == 1 && length == 1 => {
                *room = text[0];
                self.length += 1;
            }
            _ => self.append(&text[text.len() - length..]),
        }
    }

    /// The bytes after the end, if there are enough.
    #[inline(always)]
    fn room(&mut self) -> Option<&mut [u8; SHORT]> {
        self.bytes.get_mut(self.length..)?.first_chunk_mut()
    }

    /// Writes `text` after the end, and makes room.
    #[inline(never)]
    fn append_long(&mut self, text: &[u8]) {
        let end = self.length + text.len();
        if self.bytes.len() < end + SHORT {
            let mut bytes = Vec::from(mem::take(&mut self.bytes));
            bytes.reserve(text.len() + SHORT);
            bytes.resize(bytes.capacity(), 0);
            self.bytes = bytes.into_boxed_slice();
        }
        self.bytes[self.length..end].copy_from_slice(text);
    }
}

impl Deref for AppendBuffer {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Writes a text of no more than [`SHORT`] bytes to the start of `room`, in words that overlap.
#[inline(always)]
fn copy_short(room: &mut [u8; SHORT], text: &[u8]) {
    let length = text.len();
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        room[..8].copy_from_slice(first);
        room[length - 8..length].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        room[..4].copy_from_slice(first);
        room[length - 4..length].copy_from_slice(last);
    } else if let [first, .., last] = text {
        room[0] = *first;
        // The one in the middle of two is the last one.
        room[1] = text[1];
        room[length - 1] = *last;
    } else if let [only] = text {
        room[0] = *only;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_a_vector_is() {
        let text: Vec<u8> = (1..=90).collect();
        let (mut buffer, mut vector) = (AppendBuffer::default(), Vec::new());
        for round in 0..2000 {
            let length = round * 7 % 29 % if round % 50 == 0 { 91 } else { 20 };
            match round % 9 {
                0 => {
                    let count = length.min(vector.len());
                    buffer.drop_front(count);
                    vector.drain(..count);
                }
                1 => {
                    let kept = vector.len() / 2;
                    buffer.truncate(kept);
                    vector.truncate(kept);
                }
                2 | 3 => {
                    buffer.append_end(&text[..length + 5], length);
                    vector.extend_from_slice(&text[5..length + 5]);
                }
                5 => {
                    // Shorter than a word, of which each length is its own case.
                    let short = &text[..round % 10];
                    for length in 0..=short.len() {
                        buffer.append_end(short, length);
                        vector.extend_from_slice(&short[short.len() - length..]);
                    }
                }
                4 if round % 100 == 4 => {
                    buffer.clear();
                    vector.clear();
                }
                _ => {
                    buffer.append(&text[round % 40..][..length]);
                    vector.extend_from_slice(&text[round % 40..][..length]);
                }
            }
            assert_eq!(*buffer, *vector, "{round}");
            assert_eq!((buffer.len(), buffer.is_empty()), (vector.len(), vector.is_empty()));
        }
    }
}
