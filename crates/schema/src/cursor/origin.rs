//! From offsets of mended text to offsets of the input.

use jsonmend_core::Repair;

/// Where the text that is being read came from. Repairs come in order, each before the first byte
/// behind it, so that the last one is enough.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origin {
    /// Up to here the text stands for what the last repair replaced.
    text: usize,
    /// Behind what was replaced.
    input: usize,
    /// Where that began.
    start: usize,
}

impl Origin {
    /// A repair was made after `read` bytes of text.
    pub(super) fn repaired(&mut self, read: usize, repair: &Repair) {
        *self = Self { text: read + repair.after.len(), input: repair.end, start: repair.start };
    }

    /// The text begins at that byte of the input.
    pub(super) const fn beginning_at(input: usize) -> Self {
        Self { text: 0, input, start: input }
    }

    /// Where the byte at `at` begins.
    pub(super) const fn of(self, at: usize) -> usize {
        if at >= self.text { self.input + (at - self.text) } else { self.start }
    }

    /// Where the byte at `at` ends.
    pub(super) const fn behind(self, at: usize) -> usize {
        if at >= self.text { self.input + (at - self.text) + 1 } else { self.input }
    }
}
