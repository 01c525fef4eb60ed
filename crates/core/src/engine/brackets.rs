//! A closing bracket that does not match what is open: it is of the wrong kind, or one too many, or those
//! of the containers in between are missing.

use super::{Closed, Engine, Expect, Flow, Source, Step, frames::Shape};
use crate::RepairKind;

/// What a closer means that does not match the innermost container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closer {
    /// It closes an outer container; the closers of so many inner ones are missing.
    Lost(usize),
    /// It closes the innermost container, and is of the wrong kind.
    Mistyped,
    /// It closes nothing.
    Extra,
}

impl Engine {
    /// Does what the closer at `pos` means.
    pub(super) fn close_as(&mut self, source: &Source<'_>, meaning: Closer) -> Step {
        match meaning {
            Closer::Lost(above) => self.close_lost(source, above),
            Closer::Mistyped => self.mistyped(source),
            Closer::Extra => self.extra_close(source),
        }
    }

    /// Withdraws the edit that made an array of the tuple at `start`.
    pub(super) fn withdraw_tuple(&mut self, start: usize) -> bool {
        let tuple = |edit: &super::Edit| match edit {
            super::Edit::Replace(repair, _) => repair.kind == RepairKind::Tuple,
            super::Edit::EndDocument { .. } => false,
        };
        let found = self.script.find_at(start, tuple);
        if let Some(found) = found {
            self.script.remove(found);
        }
        found.is_some()
    }

    /// Drops the closer at `pos`, which closes nothing. What it was meant to close may be in a string
    /// with quotes that were not escaped, or may have been closed before a member without its comma,
    /// or opened twice.
    pub(super) fn extra_close(&mut self, source: &Source<'_>) -> Step {
        // After the value of a member, the bracket before that may be missing as well.
        let closer = source.byte(self.pos);
        let list = self.expect == Expect::MemberEnd && closer == Some(b']');
        let doubtful = self.unescaped > 0 || self.document.doubtful || list;
        let doubtful = doubtful && closer != Some(b')');
        let kind = if doubtful { RepairKind::StrayText } else { RepairKind::ExtraClose };
        self.edit(kind, self.pos..self.pos + 1, "")?;
        self.pos += 1;
        Ok(Flow::Go)
    }

    /// Replaces a closer of the wrong shape with the right one.
    pub(super) fn mistyped(&mut self, source: &Source<'_>) -> Step {
        self.drop_comma()?;
        let at = self.pos;
        let after = match self.frames.top().and_then(Shape::closer) {
            Some('}') => "}",
            Some(_) => "]",
            None => "",
        };
        self.edit(RepairKind::MismatchedClose, at..at + 1, after)?;
        self.popped(source)
    }

    /// Closes the `above` innermost containers, whose closers are missing.
    pub(super) fn close_lost(&mut self, source: &Source<'_>, above: usize) -> Step {
        self.drop_comma()?;
        let at = self.pos;
        for _ in 0..above {
            let closer = match self.frames.top().and_then(Shape::closer) {
                Some('}') => "}",
                Some(_) => "]",
                None => "",
            };
            if !closer.is_empty() {
                self.edit(RepairKind::MissingClose, at..at, closer)?;
            }
            self.frames.pop();
        }
        self.commit();
        self.value_ended(source)?;
        Ok(Flow::Go)
    }

    /// Moves past the closer at `pos`, which was handled.
    pub(super) fn popped(&mut self, source: &Source<'_>) -> Step {
        self.pos += 1;
        let is_object = self.frames.top() == Some(Shape::Object);
        self.closed = Closed { is_object, end: self.pos };
        self.frames.pop();
        self.commit();
        self.value_ended(source)?;
        Ok(Flow::Go)
    }
}
