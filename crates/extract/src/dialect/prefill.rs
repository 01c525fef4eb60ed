//! What the prompt has written of the answer.

/// What the prompt has written of the answer. It is read like the rest, but it is no part of the input.
#[derive(Clone, Debug)]
pub(super) struct Prefill {
    pub(super) text: Vec<u8>,
    /// Whether it was read.
    pub(super) read: bool,
    /// How much of it no sink can have seen yet.
    left: usize,
}

impl Prefill {
    pub(super) fn new(text: Vec<u8>) -> Self {
        Self { left: text.len(), text, read: false }
    }

    /// Starts over.
    pub(super) fn reset(&mut self) {
        (self.left, self.read) = (self.text.len(), false);
    }

    /// How much of what was read and not emitted is no part of the input.
    pub(super) const fn held(&self) -> usize {
        if self.read { self.left } else { 0 }
    }

    /// The part of the source that belongs to the input, unless there is none.
    #[inline]
    pub(super) fn cut<'b>(&mut self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        if self.left == 0 {
            return Some(bytes);
        }
        let length = self.left.min(bytes.len());
        self.left -= length;
        bytes.get(length..).filter(|rest| !rest.is_empty())
    }

    /// An offset in the input.
    pub(super) const fn offset(&self, at: usize) -> usize {
        at.saturating_sub(self.text.len())
    }
}
