//! Characters outside ASCII in string content, which have to be UTF-8 (RFC 3629, section 4).

use super::content::After;

/// Which bytes of the input are known to be UTF-8. They are checked in blocks, each of them once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Utf8Blocks {
    /// The offset of the chunk in the input.
    base: usize,
    /// The index in the chunk at which the last block starts.
    start: u32,
    /// How many bytes it has.
    length: u16,
    /// Whether they were found to be UTF-8.
    valid: bool,
}

/// The size of a block in bytes.
const BLOCK: usize = 1024;

impl Utf8Blocks {
    pub(super) const NONE: Self = Self { base: 0, start: 0, length: 0, valid: false };

    /// Continues with the chunk at `base`, which may be the same as before.
    #[inline(always)]
    pub(super) const fn begin_chunk(&mut self, base: usize) {
        if self.length > 0 && self.base != base {
            *self = Self::NONE;
        }
        self.base = base;
    }

    /// Up to which index the text is known to be whole characters, if it is from `at` on.
    #[inline(always)]
    pub(super) fn ahead(&self, text: &[u8], at: usize) -> Option<usize> {
        let known = self.valid && self.contains(at);
        known.then(|| text.len().min(self.end()))
    }

    /// Up to which index the text from `at` on is known to be whole characters. At `at` is a byte
    /// outside ASCII, and everything before was read. Returns `at` if nothing is known: then it has
    /// to be read by [`characters`].
    #[inline(always)]
    pub(super) fn known(&mut self, text: &[u8], at: usize) -> usize {
        if !self.contains(at) {
            // There are not enough for a block.
            if text.len() < at + WINDOW {
                return at;
            }
            self.check(text, at);
        }
        if self.valid { text.len().min(self.end()) } else { at }
    }

    #[inline(always)]
    const fn end(&self) -> usize {
        self.start as usize + self.length as usize
    }

    /// Whether the byte at `at` is in the last block. One before it may be read again.
    #[inline(always)]
    const fn contains(&self, at: usize) -> bool {
        at.wrapping_sub(self.start as usize) < self.length as usize
    }

    /// Checks a block.
    #[inline(never)]
    fn check(&mut self, text: &[u8], at: usize) {
        *self = Self { base: self.base, ..Self::NONE };
        // In a chunk of more than 4 GiB, the rest is read character by character.
        let Ok(start) = u32::try_from(at) else { return };
        let limit = text.len().min(at + BLOCK) - 1;
        // A block ends at the first byte of a character.
        let end = (at..=limit).rev().find(|&end| text[end] & 0xc0 != 0x80).unwrap_or(at);
        self.valid = text[at] >= 0xc0 && end > at && is_utf8(text, at, end);
        (self.start, self.length) = (start, (end - at).max(1) as u16);
    }
}

/// Whether the bytes from `from` to `end` are whole characters. `false` also if they are rare, or
/// too few. At either index is the first byte of a character.
///
/// A byte before `from` cannot hide an error, whatever it is: if it asked for another one, that at
/// `from` would have to continue its character.
fn is_utf8(text: &[u8], from: usize, end: usize) -> bool {
    // The last window ends with the byte at `end`, which shows if the one before is the last one of
    // its character. It may begin before `from`.
    let Some(last) = (end + 1).checked_sub(WINDOW) else { return false };
    let Some(start) = from.checked_sub(WINDOW - LANES) else { return false };
    let (mut rest, mut odd) = (&text[start..end + 1], [0; LANES]);
    while let Some(window) = rest.first_chunk() {
        note_odd(&mut odd, window);
        rest = &rest[LANES..];
    }
    let Some(window) = text[last..].first_chunk() else { return false };
    note_odd(&mut odd, window);
    odd == [0; LANES]
}

/// How many bytes are checked at a time, and how many are looked at: the first byte of a character
/// is up to three before its last.
const LANES: usize = 16;
const WINDOW: usize = LANES + 3;

/// Notes which of the last bytes of a window do not follow those before it in UTF-8, or belong to a
/// character that is rare: one of the planes from U+40000 on. Without a branch, and with nothing
/// taken out of the lanes before the end of a block, it becomes vector instructions.
#[inline(always)]
fn note_odd(odd: &mut [u8; LANES], window: &[u8; WINDOW]) {
    for (lane, odd) in odd.iter_mut().enumerate() {
        let [third, second, before, byte] =
            [window[lane], window[lane + 1], window[lane + 2], window[lane + 3]];
        // Comparisons with a sign are one instruction. They are used where the byte continues a
        // character; if it does not, that is found anyway.
        let signed = byte as i8;
        let continues = signed < -0x40;
        // The excess over the greatest byte that does not ask for so many more.
        let excess =
            before.saturating_sub(0xbf) | second.saturating_sub(0xdf) | third.saturating_sub(0xef);
        // Characters that would fit in fewer bytes, and surrogates.
        let low = signed < -0x60;
        let wrong = (byte & 0xfe == 0xc0)
            | ((before == 0xe0) & low)
            | ((before == 0xed) & !low)
            | ((before == 0xf0) & (signed < -0x70));
        *odd |= u8::from((continues == (excess == 0)) | wrong) | byte.saturating_sub(0xf0);
    }
}

/// Skips characters outside ASCII. Returns what is wrong if one is incomplete or not UTF-8.
#[inline(always)]
pub(super) fn characters(text: &[u8], at: &mut usize) -> Option<After> {
    loop {
        let rest = &text[*at..];
        let word = word_at(rest);
        if word & 0x80 == 0 {
            return None;
        }
        let length = character_length(word);
        *at += length;
        match length {
            0 => return Some(broken_character(rest)),
            2 if word & 0x80_0000 == 0 => return None,
            3 if word & 0x8000_0000 == 0 => return None,
            2 => *at = two_byte_run(text, *at),
            3 => *at = three_byte_run(text, *at),
            _ => {}
        }
    }
}

/// The end of a run of characters of two bytes, as far as sixteen bytes can be read at a time.
#[inline(always)]
fn two_byte_run(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        let word = u128::from_le_bytes(*bytes);
        // Each lane is a lead byte and one that continues it.
        let other = word & (TWOS * 0xc0_e0) ^ (TWOS * 0x80_c0);
        // After 0xc0 and 0xc1, the character would fit in one byte.
        let rare = (word & (TWOS * 0x1e)).wrapping_sub(TWOS) & (TWOS * 0x8000);
        if other | rare != 0 {
            return at + (other | rare).trailing_zeros() as usize / 16 * 2;
        }
        at += 16;
    }
    at
}

/// The end of a run of characters of three bytes, as far as sixteen bytes can be read at a time:
/// those of China, Japan and Korea.
#[inline(always)]
fn three_byte_run(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        let word = u128::from_le_bytes(*bytes);
        // Each lane is a lead byte and two that continue it.
        let other = word & (THREES * 0xc0_c0_f0) ^ (THREES * 0x80_80_e0);
        // After 0xe0 and 0xed, not all second bytes are allowed; those are read one by one.
        let low = word & (THREES * 0x0f);
        let rare = low.wrapping_sub(THREES) | (low ^ (THREES * 0x0d)).wrapping_sub(THREES);
        let odd = other | rare & (THREES * 0x80_0000);
        if odd != 0 {
            return at + odd.trailing_zeros() as usize / 24 * 3;
        }
        at += 15;
    }
    at
}

/// The lowest bit of each of eight lanes of two bytes.
const TWOS: u128 = u128::MAX / 0xffff;

/// The lowest bit of each of five lanes of three bytes.
const THREES: u128 = 1 | 1 << 24 | 1 << 48 | 1 << 72 | 1 << 96;

/// The length of the character outside ASCII that `word` begins with, its first byte being the
/// lowest one. 0 if there is none (RFC 3629, section 4).
#[inline(always)]
const fn character_length(word: u32) -> usize {
    if word & 0xc0_e0 == 0x80_c0 {
        // Two bytes for a character that fits in one are not UTF-8.
        return if word & 0x1e == 0 { 0 } else { 2 };
    }
    if word & 0xc0_c0_f0 == 0x80_80_e0 {
        // Nor are three bytes for a character that fits in two, nor surrogates.
        let top = word & 0x20_0f;
        return if top == 0 || top == 0x20_0d { 0 } else { 3 };
    }
    // From U+10000 to U+10FFFF.
    let top = (word & 0x07) << 8 | word >> 8 & 0x30;
    let four = word & 0xc0c0_c0f8 == 0x8080_80f0 && top >= 0x0_10 && top < 0x4_10;
    if four { 4 } else { 0 }
}

/// What is wrong with the character outside ASCII that `rest` begins with: it is cut off by the end
/// of the text, or not UTF-8.
pub(super) const fn broken_character(rest: &[u8]) -> After {
    match *rest {
        [0xc2..=0xf4] => After::Cut(1),
        [0xe0, 0xa0..=0xbf] | [0xe1..=0xec | 0xee | 0xef, 0x80..=0xbf] | [0xed, 0x80..=0x9f] => {
            After::Cut(2)
        }
        [0xf0, 0x90..=0xbf] | [0xf1..=0xf3, 0x80..=0xbf] | [0xf4, 0x80..=0x8f] => After::Cut(2),
        [0xf0, 0x90..=0xbf, 0x80..=0xbf]
        | [0xf1..=0xf3, 0x80..=0xbf, 0x80..=0xbf]
        | [0xf4, 0x80..=0x8f, 0x80..=0xbf] => After::Cut(3),
        _ => After::Unusual,
    }
}

/// Continues a character of which the first `had` bytes are in `bytes`. Returns how many there are
/// now, and whether these are all; `None` if they are not UTF-8.
#[inline(always)]
pub(super) fn continue_character(
    bytes: &mut [u8; 4],
    had: usize,
    text: &[u8],
) -> Option<(usize, bool)> {
    let held = u32::from_le_bytes(*bytes) & !(u32::MAX << (8 * had));
    let word = held | word_at(text) << (8 * had);
    *bytes = word.to_le_bytes();
    match character_length(word) {
        0 => {
            let has = 4.min(had + text.len());
            matches!(broken_character(&bytes[..has]), After::Cut(_)).then_some((has, false))
        }
        all => Some((all, true)),
    }
}

/// The first four bytes of a text, the first one being the lowest. After its end are zero bytes,
/// which continue no character.
#[inline(always)]
fn word_at(text: &[u8]) -> u32 {
    match text.first_chunk() {
        Some(bytes) => u32::from_le_bytes(*bytes),
        None => text.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)),
    }
}

/// The bytes of a character that is cut off: the last `length` ones of `text`.
#[inline(always)]
pub(super) fn cut_character(text: &[u8], length: usize) -> [u8; 4] {
    let word = match text.last_chunk() {
        Some(bytes) => u32::from_le_bytes(*bytes) >> (8 * (4 - length)),
        None => word_at(&text[text.len() - length..]),
    };
    word.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_its_length() {
        let bytes = [0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
        for first in 0x80..=0xff {
            for second in bytes {
                for third in bytes {
                    for fourth in bytes {
                        let all = [first, second, third, fourth];
                        let valid = (2..=4).find(|&length| {
                            core::str::from_utf8(&all[..length])
                                .is_ok_and(|text| text.chars().count() == 1)
                        });
                        let found = character_length(u32::from_le_bytes(all));
                        assert_eq!(found, valid.unwrap_or(0), "{all:x?}");
                        for length in 1..4 {
                            let cut = match core::str::from_utf8(&all[..length]) {
                                Err(error) if is_cut_in_first(error) => After::Cut(length),
                                _ => After::Unusual,
                            };
                            assert_eq!(broken_character(&all[..length]), cut, "{all:x?}, {length}");
                        }
                    }
                }
            }
        }
    }

    /// Whether the first character is cut off.
    fn is_cut_in_first(error: core::str::Utf8Error) -> bool {
        error.error_len().is_none() && error.valid_up_to() == 0
    }

    #[test]
    fn runs_of_wide_characters_are_checked() {
        type Run = fn(&[u8], usize) -> usize;
        let runs: [(Run, &str, usize); 2] =
            [(two_byte_run, "Приветыñçöß", 16), (three_byte_run, "北方地区的", 15)];
        for (run, characters, size) in runs {
            let mut text = [characters.as_bytes(); 2].concat();
            text.push(b'"');
            assert!(run(&text, 0) > text.len() - size, "{text:x?}");
            for at in 0..=size {
                for byte in 0..=255 {
                    let before = core::mem::replace(&mut text[at], byte);
                    let end = run(&text, 0);
                    assert!(core::str::from_utf8(&text[..end]).is_ok(), "{text:x?}");
                    // It goes on to the character that is not one of them.
                    assert!(end + 3 > at, "{text:x?}");
                    text[at] = before;
                }
            }
        }
    }

    #[test]
    fn blocks_are_utf8() {
        let content = "北方地区的会议, très bien 👍 Привет नमस्ते 안녕 ไทย and so on".as_bytes();
        let mut text = [b"\"k\": \"", content, b"\", ", content, b"\""].concat();
        let mut valid = 0;
        for changed in 0..text.len() {
            for byte in 0..=255 {
                let before = core::mem::replace(&mut text[changed], byte);
                for at in (0..text.len()).filter(|&at| text[at] >= 0x80) {
                    let mut blocks = Utf8Blocks { base: 7, ..Utf8Blocks::NONE };
                    let end = blocks.known(&text, at);
                    let run = core::str::from_utf8(&text[at..end]);
                    assert!(run.is_ok(), "{changed} {byte:x} {at} {end}");
                    valid += usize::from(end > at);
                    assert_eq!(blocks.known(&text, at), end);
                }
                text[changed] = before;
            }
        }
        assert!(valid > 100_000, "{valid}");
    }

    #[test]
    fn long_texts_are_blocks() {
        let text = "北方地区的会议, très bien 👍 and so on. ".repeat(100);
        let mut blocks = Utf8Blocks::NONE;
        let (mut at, mut known) = (3, 0);
        while at + 40 < text.len() {
            let end = blocks.known(text.as_bytes(), at);
            known += end - at;
            at = at.max(end)
                + text.as_bytes()[at.max(end)..].iter().take_while(|b| **b < 0xc0).count();
        }
        assert!(known > text.len() * 9 / 10, "{known} of {}", text.len());
    }
}
