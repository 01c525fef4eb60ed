//! Emission: the committed text with its edits applied.

use crate::{
    Output,
    engine::{Edit, Engine},
};

/// The input that is not emitted yet: what was withheld, and the rest of the chunk at `base`.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) carry: &'a [u8],
    pub(super) rest: &'a [u8],
    pub(super) base: usize,
}

impl Text<'_> {
    /// The offset of its first byte.
    const fn start(&self) -> usize {
        self.base - self.carry.len()
    }

    /// Emits the bytes between two offsets.
    #[inline]
    fn copy(&self, from: usize, to: usize, out: &mut impl Output) {
        if from < self.base {
            let start = self.start();
            let end = to.min(self.base);
            if from < end {
                out.copy(&self.carry[from - start..end - start]);
            }
        }
        let from = from.max(self.base);
        if from < to {
            out.copy(&self.rest[from - self.base..to - self.base]);
        }
    }
}

/// Emits the text that was committed since the last time, with the edits applied.
pub(super) fn emit(engine: &mut Engine, text: Text<'_>, out: &mut impl Output, count: &mut usize) {
    let committed = engine.committed();
    let mut at = engine.emitted().max(text.start());
    if engine.is_plain() {
        engine.emit_plain();
        text.copy(at, committed, out);
        return;
    }
    engine.drain(|edit| match edit {
        Edit::Replace(repair, _) => {
            text.copy(at, repair.start, out);
            at = at.max(repair.end);
            *count += 1;
            let after = repair.shared_after();
            out.repair(repair);
            if !after.is_empty() {
                out.patch(after.as_bytes());
            }
        }
        Edit::EndDocument { end, .. } => {
            text.copy(at, end, out);
            at = at.max(end);
            out.end_document();
        }
    });
    if engine.dropping().is_none_or(|from| from > at) {
        let upto = engine.dropping().unwrap_or(committed).min(committed);
        text.copy(at, upto, out);
    }
}
