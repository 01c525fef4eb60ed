//! Edits: changes to the input that were decided but not emitted yet.

use alloc::{borrow::Cow, vec::Vec};
use core::ops::Range;

use super::{Engine, Stop};
use crate::{Repair, RepairKind, Risk};

/// Whether repairs of this kind write the comma before an item.
pub(super) const fn writes_comma(kind: RepairKind) -> bool {
    matches!(kind, RepairKind::MissingComma | RepairKind::MismatchedOpen)
}

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

/// The edits that were not emitted yet.
#[derive(Clone, Debug)]
pub(super) struct Script {
    /// Sorted by where they start.
    pub(super) edits: Vec<Edit>,
    /// How many of these are committed. They come first.
    pub(super) committed: usize,
    /// How many edits may be kept until they are emitted.
    pub(super) most: usize,
    /// How many edits were made so far.
    pub(super) serial: usize,
    /// The end of the last text that was dropped, not counting repairs of risk *exact*.
    pub(super) dropped_to: usize,
}

impl Default for Script {
    fn default() -> Self {
        Self { edits: Vec::new(), committed: 0, most: usize::MAX, serial: 0, dropped_to: 0 }
    }
}

impl Script {
    /// An empty script in the same memory.
    pub(super) fn emptied(mut self) -> Self {
        self.edits.clear();
        Self { edits: self.edits, ..Self::default() }
    }

    /// Whether all edits are committed.
    pub(super) fn is_committed(&self) -> bool {
        self.committed == self.edits.len()
    }

    /// Commits all edits.
    pub(super) fn commit(&mut self) {
        self.committed = self.edits.len();
    }

    /// Inserts a repair where it belongs.
    fn insert(&mut self, repair: Repair) {
        let (start, inserts) = (repair.start, repair.start == repair.end);
        let mut at = self.edits.len();
        while at > 0 && self.edits[at - 1].sorts_after(start, inserts) {
            at -= 1;
        }
        self.serial += 1;
        self.edits.insert(at, Edit::Replace(repair, self.serial));
        if at < self.committed {
            self.committed += 1;
        }
    }

    /// Adds a repair after all others.
    #[inline(always)]
    pub(super) fn append(
        &mut self,
        kind: RepairKind,
        start: usize,
        end: usize,
        after: &'static str,
    ) {
        self.serial += 1;
        let serial = self.serial;
        // With `push`, the edit would be built before the vector grows, and then copied: that took
        // half of the time of a text in a dialect.
        let edit = |_| Edit::Replace(Repair::new(kind, start..end, after), serial);
        self.edits.extend((0..1).map(edit));
    }

    /// Records at its end that a document ends.
    pub(super) fn end_document(&mut self, start: usize, end: usize) {
        self.edits.push(Edit::EndDocument { start, end });
        self.commit();
    }

    /// Removes the edit with this index.
    pub(super) fn remove(&mut self, at: usize) {
        self.edits.remove(at);
        self.committed -= usize::from(at < self.committed);
    }

    /// How many edits start before `offset`. A binary search, because there may be many.
    pub(super) fn before(&self, offset: usize) -> usize {
        self.edits.partition_point(|edit| edit.start() < offset)
    }

    /// Whether an edit begins before `offset` and ends after it, such as that of an escape.
    pub(super) fn spans(&self, offset: usize) -> bool {
        let before = self.edits[..self.before(offset)].last();
        before.and_then(Edit::end).is_some_and(|end| end > offset)
    }

    /// The index of the first edit that starts at `offset` and passes the test.
    pub(super) fn find_at(&self, offset: usize, test: impl Fn(&Edit) -> bool) -> Option<usize> {
        let first = self.before(offset);
        let mut there = self.edits[first..].iter().take_while(|edit| edit.start() == offset);
        there.position(test).map(|found| first + found)
    }

    /// Removes the edits that start at or after `from`, committed or not.
    fn forget(&mut self, from: usize) {
        self.edits.truncate(self.before(from));
        self.committed = self.committed.min(self.edits.len());
    }

    /// Removes the uncommitted edits that start at or after `from`.
    pub(super) fn forget_uncommitted(&mut self, from: usize) {
        let kept = self.before(from).max(self.committed);
        self.edits.truncate(kept);
    }

    /// Removes the uncommitted escapes of line ends and tabs at or after `from`.
    pub(super) fn forget_controls(&mut self, from: usize) {
        let first = self.before(from).max(self.committed);
        let mut kept = first;
        for at in first..self.edits.len() {
            if !self.edits[at].is_control() {
                self.edits.swap(kept, at);
                kept += 1;
            }
        }
        self.edits.truncate(kept);
    }

    /// Removes the edits after `from`, and those at `from` that were made after the first `serial`
    /// edits, with the comma if that was the first of these. The first `kept` edits stay.
    pub(super) fn forget_since(&mut self, serial: usize, from: usize, kept: usize) {
        let mut at = 0;
        self.edits.retain(|edit| {
            at += 1;
            let comma =
                |repair: &Repair, made: usize| made == serial + 1 && writes_comma(repair.kind);
            at <= kept
                || !matches!(edit, Edit::Replace(repair, made)
                    if repair.start > from
                        || *made > serial && (repair.start == from || comma(repair, *made)))
        });
        self.committed = self.committed.min(self.edits.len());
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
            self.ending.refused = Some(Repair::new(kind, span, after));
            return Err(Stop::Refused);
        }
        if self.script.edits.len() >= self.script.most {
            return Err(Stop::Crowded);
        }
        debug_assert!(
            self.whole || span.start >= self.committed,
            "{kind} at {span:?}, committed up to {}",
            self.committed
        );
        let repair = Repair::new(kind, span, after);
        if repair.after().is_empty() && kind.risk() > Risk::Exact {
            self.script.dropped_to = repair.end;
        }
        self.document.escaped |= kind == RepairKind::EscapedDocument;
        self.document.guessed |= kind.doubts_end() && self.frames.len() > 0;
        self.script.insert(repair);
        Ok(())
    }

    /// Removes the edits that start at or after `from`; in the push path, only uncommitted ones.
    pub(super) fn forget(&mut self, from: usize) {
        debug_assert!(self.reaches(from));
        if self.whole {
            self.script.forget(from);
        } else {
            self.script.forget_uncommitted(from);
        }
    }

    /// Whether an edit may still be made at this offset.
    pub(super) fn reaches(&self, at: usize) -> bool {
        self.whole || at >= self.committed
    }
}
