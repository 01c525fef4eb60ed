//! Readings of the rest, where a closing bracket does not match what is open.
//!
//! The closer may be of the wrong kind, or one too many; those of the containers in between may be
//! missing; or the opening bracket was wrong. The whole-text path reads on in each of these ways, and
//! takes the one with the lowest worst risk, then the one with the fewest repairs.

use core::cell::Cell;

use super::{
    Closed, Engine, Expect, Flow, Member, Source, Step,
    frames::Shape,
    quotes::{Cost, Tried},
};
use crate::{Policy, RepairKind};

/// What a closer means that does not match the innermost container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closer {
    /// It closes an outer container; the closers of so many inner ones are missing.
    Lost(usize),
    /// It closes the innermost container, and is of the wrong kind.
    Mistyped,
    /// It closes nothing.
    Extra,
    /// It closes the innermost container, and the opening bracket of that was of the wrong kind.
    Reopened,
    /// It closes an array whose opening bracket is missing at this offset.
    Listed(usize),
}

impl Engine {
    /// Does what the closer at `pos` means.
    pub(super) fn close_as(&mut self, source: &Source<'_>, meaning: Closer) -> Step {
        match meaning {
            Closer::Lost(above) => self.close_lost(source, above),
            Closer::Mistyped => self.mistyped(source),
            Closer::Extra => self.extra_close(source),
            Closer::Reopened => self.reopen(),
            Closer::Listed(start) => self.open_lost_list(source, start),
        }
    }

    /// What the closer at `pos` means, if the rest shows it; otherwise what `likely` says. `above` is
    /// how many containers are above the one that it could close. Whole-text path only.
    pub(super) fn weigh_closer(
        &mut self,
        source: &Source<'_>,
        likely: Closer,
        above: Option<usize>,
        group: bool,
    ) -> Closer {
        let list = self.lost_list(source).filter(|_| !group);
        // A parenthesis that closes none may have been written for the closer.
        let others = [
            above.map(Closer::Lost),
            Some(Closer::Mistyped).filter(|_| !group || above.is_none()),
            Some(Closer::Extra),
            // The root would be read again as a whole, with all that was reopened in it.
            Some(Closer::Reopened)
                .filter(|_| !group && self.frames.len() > 1 && self.may_reopen(source)),
            list.map(Closer::Listed),
        ];
        // With nothing else to weigh, or no budget for reading on, the edits so far need not be looked at again.
        let is_alone = others.iter().flatten().all(|other| *other == likely);
        if is_alone || self.trials.budget == 0 {
            return likely;
        }
        let opened = self.script.before(self.frames.start() + 1);
        let since = Cost::of(&self.script.edits[opened..]);
        self.steps += (self.script.edits.len() - opened) as u64;
        let mut best = (likely, self.cost_of_closer(source, likely).map(|cost| cost.and(since)));
        for other in others.into_iter().flatten().filter(|other| *other != likely) {
            let base = match other {
                Closer::Reopened => Cost::NOTHING,
                Closer::Listed(start) => {
                    let kept = self.script.before(start).max(opened);
                    Cost::of(&self.script.edits[opened..kept])
                }
                _ => since,
            };
            let Some(cost) = self.cost_of_closer(source, other) else { continue };
            let cost = cost.and(base);
            if best.1.is_none_or(|lowest| cost < lowest) {
                best = (other, Some(cost));
            }
        }
        best.0
    }

    /// Whether the first item of an array, which a colon follows, is a key, and the bracket before it
    /// should have been a brace. Otherwise a brace is missing before the key. Whole-text path only.
    pub(super) fn was_object(&mut self, source: &Source<'_>) -> bool {
        let list = self.frames.top().is_some_and(Shape::is_list);
        let first = list && self.frames.items() == 1;
        if !(self.whole && first && self.string.closed.is_some() && self.may_reopen(source)) {
            return false;
        }
        let Some(reopened) = self.cost_of_closer(source, Closer::Reopened) else { return false };
        let Some(mut inner) = self.rest(self.pos, Policy::PERMISSIVE) else { return false };
        inner.frames.push(Shape::Object, self.pos);
        // It has its key: without one, a comma after the value would be its first sign.
        inner.frames.set_key(&[]);
        inner.member.key_start = self.pos;
        inner.expect = Expect::Colon;
        let inner = self.cost_to_the_end(inner, source);
        inner.is_none_or(|inner| reopened < inner.and(Cost::one(RepairKind::MissingOpen)))
    }

    /// Whether the innermost container is an array or object that was opened with its own bracket.
    fn may_reopen(&self, source: &Source<'_>) -> bool {
        let bracket = match self.frames.top() {
            Some(Shape::Object) => b'{',
            Some(Shape::Array) => b'[',
            Some(Shape::Tuple) => b'(',
            _ => return false,
        };
        let start = self.frames.start();
        // Containers whose brackets are missing begin where the one does that they were opened for.
        let added = |edit: &super::Edit| match edit {
            super::Edit::Replace(repair, _) => repair.kind == RepairKind::MissingOpen,
            super::Edit::EndDocument { .. } => false,
        };
        source.byte(start) == Some(bracket)
            && self.frames.count_from(start) > self.script.count_at(start, added)
    }

    /// What it takes to read on with this meaning. `None` if that is not possible, or the budget for
    /// reading on is used up.
    fn cost_of_closer(&mut self, source: &Source<'_>, meaning: Closer) -> Option<Cost> {
        let comma = self.member.comma.map_or(self.gap.start, |comma| comma.at);
        let from = match meaning {
            Closer::Reopened => self.frames.start(),
            Closer::Listed(start) => start,
            _ => comma.min(self.gap.start),
        };
        let mut rest = self.rest(from, Policy::PERMISSIVE)?;
        (rest.expect, rest.pos) = (self.expect, self.pos);
        (rest.gap, rest.member, rest.closed) = (self.gap, self.member, self.closed);
        let work = Cell::new(0);
        let part = source.rest(from);
        let step = rest.close_as(&Source::new(part, &work), meaning);
        rest.steps += work.get();
        if step.is_err() {
            return None;
        }
        self.cost_to_the_end(rest, source)
    }

    /// Where an array may have begun whose items were read as keys without values, or as objects
    /// among the members: at the last value with a key.
    fn lost_list(&self, source: &Source<'_>) -> Option<usize> {
        let deep = self.frames.depth() >= self.options.limits().depth();
        if !self.whole || deep || self.frames.top() != Some(Shape::Object) {
            return None;
        }
        let Member { comma, is_unpaired, last_pair, .. } = self.member;
        let start = if is_unpaired {
            let direct = last_pair > self.frames.start() && last_pair >= self.closed.end;
            let mut look = source.look(last_pair, self.window);
            let (quote, length) = look.quote().ok().flatten().filter(|_| direct)?;
            look.advance(length);
            look.through(quote).ok()?;
            look.space().ok().filter(|next| *next == b':')?;
            look.bump();
            look.space().ok()?;
            last_pair + look.passed()
        } else {
            let Closed { is_object, start, end, .. } = self.closed;
            Some(start).filter(|_| is_object && comma.is_some_and(|comma| comma.at == end))?
        };
        let before = source.slice(start.saturating_sub(self.window), start).trim_ascii_end();
        // A document that goes on after its end was closed itself.
        let inside = start > self.frames.start();
        let known = inside && (self.trials.lists_from..self.pos).contains(&start);
        // The colon may have been removed, and a key inserted after it.
        let added = |edit: &super::Edit| match edit {
            super::Edit::Replace(repair, _) => repair.kind == RepairKind::MissingKey,
            super::Edit::EndDocument { .. } => false,
        };
        let keyed = before.ends_with(b":") && self.script.count_at(start, added) == 0;
        (keyed && known).then_some(start)
    }

    /// Whether a brace where a key is expected begins another item of an array whose opening bracket
    /// is missing. Otherwise it is around members. Whole-text path only.
    pub(super) fn begins_item(&mut self, source: &Source<'_>) -> Option<usize> {
        let start = self.lost_list(source)?;
        let list = self.cost_of_closer(source, Closer::Listed(start))?;
        let kept = self.script.before(start);
        let since = Cost::of(&self.script.edits[kept..]);
        let mut inner = self.rest(self.pos + 1, Policy::PERMISSIVE)?;
        inner.expect = Expect::Key;
        let inner = self.cost_to_the_end(inner, source)?;
        let braces = inner.and(Cost::one(RepairKind::InnerBraces)).and(since);
        (list < braces).then_some(start)
    }

    /// Opens an array at `start`, before the value of a member, and reads on from there.
    pub(super) fn open_lost_list(&mut self, source: &Source<'_>, start: usize) -> Step {
        if self.member.is_unpaired {
            let key = source.slice(self.member.last_pair, start).trim_ascii_end();
            let key = key.strip_suffix(b":").unwrap_or(key).trim_ascii_end();
            self.frames.set_key(key.get(1..key.len().saturating_sub(1)).unwrap_or_default());
        }
        self.forget(start);
        self.edit(RepairKind::MissingOpen, start..start, "[")?;
        self.frames.push(Shape::Array, start);
        self.pos = start;
        self.gap.start = start;
        self.member = Member { comma: None, is_unpaired: false, ..self.member };
        self.string.closed = None;
        self.trials.tried = Tried::default();
        self.trials.lists_from = start + 1;
        self.expect = Expect::FirstItem;
        self.commit();
        Ok(Flow::Go)
    }

    /// Opens the innermost container again, as one of the other kind.
    fn reopen(&mut self) -> Step {
        let start = self.frames.start();
        let object = self.frames.top() == Some(Shape::Object);
        self.forget(start + 1);
        if self.frames.top() == Some(Shape::Tuple) {
            self.withdraw_tuple(start);
        }
        self.frames.pop();
        let (shape, bracket) = if object { (Shape::Array, "[") } else { (Shape::Object, "{") };
        self.edit(RepairKind::MismatchedOpen, start..start + 1, bracket)?;
        self.frames.push(shape, start);
        self.pos = start + 1;
        self.gap.start = self.pos;
        // What was read of it is read again, and is no member or container any more.
        self.member = Member { edits_before: self.script.serial, ..Member::default() };
        self.closed = Closed::default();
        self.string.closed = None;
        // What was found about the rest holds for the other kind.
        self.trials.tried = Tried::default();
        self.expect = if object { Expect::FirstItem } else { Expect::FirstKey };
        self.commit();
        Ok(Flow::Go)
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
        let doubtful = self.unescaped > 0 || self.document.doubtful || list && !self.trials.trying;
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
        let start = self.frames.start();
        self.closed = Closed { items: self.frames.pop(), is_object, start, end: self.pos };
        self.commit();
        self.value_ended(source)?;
        Ok(Flow::Go)
    }
}
