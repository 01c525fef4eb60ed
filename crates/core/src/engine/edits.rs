//! The edits: changes to the input that were decided, and not handed out yet.

use alloc::borrow::Cow;
use core::ops::Range;

use super::{Engine, Stop};
use crate::{Repair, RepairKind, Risk};

/// A change to the input.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// A document ends at that offset.
    EndDocument { start: usize, end: usize },
    /// A span of the input is replaced; the number says how many edits were made before.
    Replace(Repair, usize),
}

impl Edit {
    /// Whether an edit recorded now at `start` belongs before this one: an insertion stands before
    /// a replacement at the same place.
    fn stands_behind(&self, start: usize, inserts: bool) -> bool {
        match self {
            Self::EndDocument { end, .. } => *end > start,
            Self::Replace(repair, _) => {
                repair.start > start || inserts && repair.start == start && repair.end > start
            }
        }
    }

    fn is_control(&self) -> bool {
        matches!(self, Self::Replace(repair, _) if repair.kind == RepairKind::UnescapedControl)
    }

    /// Where what a repair replaces ends.
    pub(super) const fn end(&self) -> Option<usize> {
        match self {
            Self::EndDocument { .. } => None,
            Self::Replace(repair, _) => Some(repair.end),
        }
    }

    pub(crate) const fn start(&self) -> usize {
        match self {
            Self::EndDocument { end, .. } => *end,
            Self::Replace(repair, _) => repair.start,
        }
    }
}

impl Engine {
    /// Records an edit; edits may come out of order as long as they lie behind the mark.
    pub(super) fn edit(
        &mut self,
        kind: RepairKind,
        span: Range<usize>,
        after: impl Into<Cow<'static, str>>,
    ) -> Result<(), Stop> {
        if !self.options.policy().allows(kind) {
            self.refused = Some(Repair::new(kind, span, after, self.frames.shared_path()));
            return Err(Stop::Refused);
        }
        if self.recorded >= self.options.limits().repairs() {
            return Err(Stop::Overflow);
        }
        self.recorded += 1;
        debug_assert!(
            self.whole || span.start >= self.mark,
            "{kind} at {span:?}, mark {}",
            self.mark
        );
        let path = self.frames.shared_path();
        let (start, inserts) = (span.start, span.is_empty());
        let repair = Repair::new(kind, span, after, path);
        if repair.after.is_empty() && kind.risk() > Risk::Exact {
            self.stray = repair.end;
        }
        self.escaped |= kind == RepairKind::EscapedDocument;
        let mut at = self.edits.len();
        while at > 0 && self.edits[at - 1].stands_behind(start, inserts) {
            at -= 1;
        }
        self.serial += 1;
        self.edits.insert(at, Edit::Replace(repair, self.serial));
        if at < self.firm {
            self.firm += 1;
        }
        Ok(())
    }

    /// How many edits start before that offset. They are in order, and there may be many.
    pub(super) fn edits_before(&self, offset: usize) -> usize {
        self.edits.partition_point(|edit| edit.start() < offset)
    }

    /// Forgets the line ends and tabs from `from` on that were escaped, as far as that is not firm.
    pub(super) fn forget_controls(&mut self, from: usize) {
        let first = self.edits_before(from).max(self.firm);
        let before = self.edits.len();
        let mut kept = first;
        for at in first..before {
            if !self.edits[at].is_control() {
                self.edits.swap(kept, at);
                kept += 1;
            }
        }
        self.edits.truncate(kept);
        self.recorded -= before - self.edits.len();
    }

    /// Forgets the edits that start at `from` or behind it; of a stream, those not handed out.
    pub(super) fn forget(&mut self, from: usize) {
        debug_assert!(self.reaches(from));
        while self.edits.last().is_some_and(|edit| edit.start() >= from) {
            if !self.whole && self.edits.len() <= self.firm {
                break;
            }
            self.edits.pop();
            self.recorded = self.recorded.saturating_sub(1);
        }
        self.firm = self.firm.min(self.edits.len());
    }

    /// Forgets the edits that are not firm and start at `from` or behind it.
    pub(super) fn forget_behind(&mut self, from: usize) {
        while self.edits.len() > self.firm && self.edits.last().is_some_and(|e| e.start() >= from) {
            self.edits.pop();
            self.recorded = self.recorded.saturating_sub(1);
        }
    }

    /// Forgets the edits at `from` and behind that were made after the first `serial`, and the
    /// comma that was the first of them.
    pub(super) fn forget_since(&mut self, serial: usize, from: usize) {
        let (firm, whole, mut at) = (self.firm, self.whole, 0);
        let before = self.edits.len();
        self.edits.retain(|edit| {
            at += 1;
            let comma = |repair: &Repair, made: usize| {
                made == serial + 1 && repair.kind == RepairKind::MissingComma
            };
            at <= firm && !whole
                || !matches!(edit, Edit::Replace(repair, made)
                    if repair.start > from
                        || *made > serial && (repair.start == from || comma(repair, *made)))
        });
        self.recorded -= before - self.edits.len();
        self.firm = self.firm.min(self.edits.len());
    }

    /// Whether a repair may still be made at that offset.
    pub(super) fn reaches(&self, at: usize) -> bool {
        self.whole || at >= self.mark
    }
}
