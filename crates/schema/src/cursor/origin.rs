//! Maps offsets in the mended text to offsets in the input.

use wiremend_core::Repair;

/// Where the mended text came from. Repairs arrive in order, each one before the first byte that
/// follows it. A number is only recognised at its end, when there may already be repairs inside or
/// after it, so repairs are kept until an event has [passed](Self::pass) them.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    repairs: Vec<Replaced>,
}

/// The effect of one repair.
#[derive(Clone, Copy, Debug, Default)]
struct Replaced {
    /// Its offset in the mended text.
    from: usize,
    /// The end of the replacement in the mended text.
    text: usize,
    /// The end of the replaced bytes in the input.
    input: usize,
    /// The start of the replaced bytes in the input.
    start: usize,
}

impl Origin {
    /// Records a repair after `read` bytes of mended text.
    pub(super) fn repaired(&mut self, read: usize, repair: &Repair) {
        let text = read + repair.after().len();
        self.push(Replaced { from: read, text, input: repair.end(), start: repair.start() });
    }

    /// Creates a map for text that begins at byte `input` of the input.
    pub(super) fn beginning_at(input: usize) -> Self {
        Self { repairs: vec![Replaced { from: 0, text: 0, input, start: input }] }
    }

    pub(super) fn clear(&mut self) {
        self.repairs.clear();
    }

    /// Forgets what is only needed for offsets before `at`.
    pub(super) fn pass(&mut self, at: usize) {
        let passed = self.repairs.partition_point(|repair| repair.from <= at);
        self.repairs.drain(..passed.saturating_sub(1));
    }

    fn push(&mut self, repair: Replaced) {
        // Of two repairs at the same offset, the later one determines how the text continues.
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

    /// The start in the input of the byte at `at`.
    pub(super) fn of(&self, at: usize) -> usize {
        let repair = self.before(at);
        if at >= repair.text { repair.input + (at - repair.text) } else { repair.start }
    }

    /// The end in the input of the byte at `at`.
    pub(super) fn end_of(&self, at: usize) -> usize {
        let repair = self.before(at);
        if at >= repair.text { repair.input + (at - repair.text) + 1 } else { repair.input }
    }
}
