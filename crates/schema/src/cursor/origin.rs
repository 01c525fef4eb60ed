//! From offsets of mended text to offsets of the input.

use jsonmend_core::Repair;

/// Where the text that is being read came from. Repairs come in order, each before the first byte
/// after it. A number is known at its end, when there may be repairs in it or after it, so those are
/// kept until an event has [passed](Self::pass) them.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    repairs: Vec<Replaced>,
}

/// What one repair did.
#[derive(Clone, Copy, Debug, Default)]
struct Replaced {
    /// Its offset in the text.
    from: usize,
    /// Up to here the text is the replacement.
    text: usize,
    /// The end of what was replaced.
    input: usize,
    /// Where that began.
    start: usize,
}

impl Origin {
    /// A repair was made after `read` bytes of text.
    pub(super) fn repaired(&mut self, read: usize, repair: &Repair) {
        let text = read + repair.after().len();
        self.push(Replaced { from: read, text, input: repair.end(), start: repair.start() });
    }

    /// The text begins at that byte of the input.
    pub(super) fn beginning_at(input: usize) -> Self {
        Self { repairs: vec![Replaced { from: 0, text: 0, input, start: input }] }
    }

    pub(super) fn clear(&mut self) {
        self.repairs.clear();
    }

    /// Nothing before `at` will be looked up again.
    pub(super) fn pass(&mut self, at: usize) {
        let passed = self.repairs.partition_point(|repair| repair.from <= at);
        self.repairs.drain(..passed.saturating_sub(1));
    }

    fn push(&mut self, repair: Replaced) {
        // Of two in one place the later one says where the text goes on.
        if self.repairs.last().is_some_and(|last| last.from == repair.from) {
            self.repairs.pop();
        }
        self.repairs.push(repair);
    }

    /// The last repair before the byte at `at`.
    fn before(&self, at: usize) -> Replaced {
        let repair = self.repairs.iter().rev().find(|repair| repair.from <= at);
        repair.copied().unwrap_or_default()
    }

    /// Where the byte at `at` begins.
    pub(super) fn of(&self, at: usize) -> usize {
        let repair = self.before(at);
        if at >= repair.text { repair.input + (at - repair.text) } else { repair.start }
    }

    /// Where the byte at `at` ends.
    pub(super) fn behind(&self, at: usize) -> usize {
        let repair = self.before(at);
        if at >= repair.text { repair.input + (at - repair.text) + 1 } else { repair.input }
    }
}
