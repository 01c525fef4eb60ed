//! Edits: changes to the input that were decided but not emitted yet.

use alloc::borrow::Cow;
use core::ops::Range;

use super::{Engine, Stop};
use crate::{Repair, RepairKind, Risk};

/// A change to the input.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// A document ends at `end`.
    EndDocument { start: usize, end: usize },
    /// A span of the input is replaced. The number counts the edits made so far, and identifies it.
    Replace(Repair, usize),
}

impl Edit {
    /// Whether a new edit at `start` belongs before this one. An insertion comes before a
    /// replacement at the same place.
    fn sorts_after(&self, start: usize, inserts: bool) -> bool {
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

    /// The end of the span that a repair replaces.
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
    /// Records an edit. Edits may be made in any order, but none before the committed position.
    pub(super) fn edit(
        &mut self,
        kind: RepairKind,
        span: Range<usize>,
        after: impl Into<Cow<'static, str>>,
    ) -> Result<(), Stop> {
        if !self.options.policy().allows(kind) {
            self.refused = Some(Repair::new(kind, span, after));
            return Err(Stop::Refused);
        }
        if self.edits.len() >= self.most_edits {
            return Err(Stop::Crowded);
        }
        debug_assert!(
            self.whole || span.start >= self.committed,
            "{kind} at {span:?}, committed up to {}",
            self.committed
        );
        let (start, inserts) = (span.start, span.is_empty());
        let repair = Repair::new(kind, span, after);
        if repair.after().is_empty() && kind.risk() > Risk::Exact {
            self.stray = repair.end;
        }
        self.escaped |= kind == RepairKind::EscapedDocument;
        let mut at = self.edits.len();
        while at > 0 && self.edits[at - 1].sorts_after(start, inserts) {
            at -= 1;
        }
        self.serial += 1;
        self.edits.insert(at, Edit::Replace(repair, self.serial));
        if at < self.committed_edits {
            self.committed_edits += 1;
        }
        Ok(())
    }

    /// How many edits start before `offset`. A binary search, because there may be many.
    pub(super) fn edits_before(&self, offset: usize) -> usize {
        self.edits.partition_point(|edit| edit.start() < offset)
    }

    /// Removes the escapes of line ends and tabs at or after `from`, if they are not committed.
    pub(super) fn forget_controls(&mut self, from: usize) {
        let first = self.edits_before(from).max(self.committed_edits);
        let before = self.edits.len();
        let mut kept = first;
        for at in first..before {
            if !self.edits[at].is_control() {
                self.edits.swap(kept, at);
                kept += 1;
            }
        }
        self.edits.truncate(kept);
    }

    /// Removes the edits that start at or after `from`; in the push path, only uncommitted ones.
    pub(super) fn forget(&mut self, from: usize) {
        debug_assert!(self.reaches(from));
        while self.edits.last().is_some_and(|edit| edit.start() >= from) {
            if !self.whole && self.edits.len() <= self.committed_edits {
                break;
            }
            self.edits.pop();
        }
        self.committed_edits = self.committed_edits.min(self.edits.len());
    }

    /// Removes the uncommitted edits that start at or after `from`.
    pub(super) fn forget_uncommitted(&mut self, from: usize) {
        while self.edits.len() > self.committed_edits
            && self.edits.last().is_some_and(|e| e.start() >= from)
        {
            self.edits.pop();
        }
    }

    /// Removes the edits after `from`, and those at `from` that were made after the first `serial`
    /// edits, with the comma if that was the first of these.
    pub(super) fn forget_since(&mut self, serial: usize, from: usize) {
        let (committed_edits, whole, mut at) = (self.committed_edits, self.whole, 0);
        self.edits.retain(|edit| {
            at += 1;
            let comma = |repair: &Repair, made: usize| {
                made == serial + 1 && repair.kind == RepairKind::MissingComma
            };
            at <= committed_edits && !whole
                || !matches!(edit, Edit::Replace(repair, made)
                    if repair.start > from
                        || *made > serial && (repair.start == from || comma(repair, *made)))
        });
        self.committed_edits = self.committed_edits.min(self.edits.len());
    }

    /// Whether an edit may still be made at this offset.
    pub(super) fn reaches(&self, at: usize) -> bool {
        self.whole || at >= self.committed
    }
}
