//! Bytes that are kept until the end, for the crates of this workspace. Not part of the public API.

use alloc::vec::Vec;

/// Keeps what it is given, up to a limit. Once there is more, it keeps nothing, because what is left
/// of the bytes would be of no use.
///
/// ```
/// use wiremend_core::buffer::BoundedBuffer;
/// let mut buffer = BoundedBuffer::new(4);
/// buffer.push(b"ab");
/// assert_eq!(buffer.get(), Some(&b"ab"[..]));
/// buffer.push(b"cde");
/// assert_eq!(buffer.get(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundedBuffer {
    /// `None` once it has exceeded the limit.
    bytes: Option<Vec<u8>>,
    limit: usize,
}

impl BoundedBuffer {
    /// An empty buffer for at most `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { bytes: Some(Vec::new()), limit }
    }

    /// Keeps more bytes, or none at all if they are too many.
    pub fn push(&mut self, more: &[u8]) {
        match &mut self.bytes {
            Some(bytes) if more.len() <= self.limit - bytes.len() => bytes.extend_from_slice(more),
            bytes => *bytes = None,
        }
    }

    /// Keeps nothing from now on.
    pub fn give_up(&mut self) {
        self.bytes = None;
    }

    /// Everything it was given, unless that was too much.
    #[must_use]
    pub fn get(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// Everything it was given, unless that was too much.
    #[must_use]
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        self.bytes
    }

    /// Whether it has kept everything.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.bytes.is_some()
    }

    /// How many bytes it holds.
    #[must_use]
    pub fn held(&self) -> usize {
        self.bytes.as_ref().map_or(0, Vec::len)
    }
}
