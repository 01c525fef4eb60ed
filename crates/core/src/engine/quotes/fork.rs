//! Readings of the rest, where a quote may end its string or not.
//!
//! Code in a string looks like JSON: in `"x = {"a": "b", "c": 1};…"` a member seems to follow
//! `"b"`. The whole-text path can read on: once as if the quote ends the string, once as if it does
//! not, and, if neither reads well, as if a later quote does. Of those that close the document with
//! harmless repairs only and leave nothing over, the one with the lowest worst risk wins, then the one
//! with the fewest repairs.

use alloc::{collections::BTreeMap, vec::Vec};

use super::inner::{before_brackets, without_space};
use crate::engine::frames::Shape;
use crate::{
    Policy, RepairKind, Risk,
    engine::{Edit, Engine, Lex, Source, Stop, Text, quote::Quote, source::is_word},
    grammar::Expect,
};

/// How many later quotes are tried for one string.
const MAX_TRIES: usize = 64;

/// How many bytes of open containers a try may copy for nothing.
const MAX_FREE: usize = 4096;

/// How many ends of strings are remembered, so that memory is bounded.
const MAX_ENDS: usize = 1 << 16;

/// What a reading of the rest takes. The lowest is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::engine) struct Cost {
    risk: Option<Risk>,
    repairs: usize,
}

impl Cost {
    pub(in crate::engine) const NOTHING: Self = Self { risk: None, repairs: 0 };

    pub(in crate::engine) fn of(edits: &[Edit]) -> Self {
        edits.iter().fold(Self::NOTHING, |cost, edit| match edit {
            Edit::Replace(repair, _) => cost.and(Self::one(repair.kind())),
            Edit::EndDocument { .. } => cost,
        })
    }

    pub(in crate::engine) const fn one(kind: RepairKind) -> Self {
        Self { risk: Some(kind.risk()), repairs: 1 }
    }

    pub(in crate::engine) fn and(self, other: Self) -> Self {
        Self { risk: self.risk.max(other.risk), repairs: self.repairs + other.repairs }
    }
}

/// The results of reading the rest, stored for every end of a string with unescaped quotes on the
/// way. A try that reaches a stored end is over: it would read the same bytes in the same state.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Tried {
    /// Whether this engine is such a try.
    trying: bool,
    /// For a closing quote and a number of open containers, what the rest after it takes, if it reads
    /// well.
    known: BTreeMap<End, Option<Cost>>,
    /// The ends that this try has passed, and how many edits it had made there.
    passed: Vec<(End, usize)>,
    /// The stored result that this try has reached.
    met: Option<Option<Cost>>,
}

/// Where a string ends, and how many containers are open there.
type End = (usize, usize);

impl Tried {
    /// Whether an earlier try has passed a string that ends at `at`.
    pub(in crate::engine) fn meets(&mut self, at: usize, open: usize, edits: usize) -> bool {
        if !self.trying {
            return false;
        }
        self.met = self.known.get(&(at, open)).copied();
        if self.passed.len() < MAX_ENDS {
            self.passed.push(((at, open), edits));
        }
        self.met.is_some()
    }

    /// Ends the try, which made these edits. Returns what the reading takes, and the first end that
    /// was passed.
    fn over(&mut self, reads: bool, edits: &[Edit]) -> (Option<Cost>, Option<usize>) {
        let rest = self.met.take().unwrap_or(reads.then_some(Cost::NOTHING));
        let (mut upto, mut cost) = (edits.len(), rest);
        for &(end, made) in self.passed.iter().rev() {
            let made = made.min(upto);
            cost = cost.map(|cost| cost.and(Cost::of(&edits[made..upto])));
            upto = made;
            if self.known.len() < MAX_ENDS {
                self.known.insert(end, cost);
            }
        }
        cost = cost.map(|cost| cost.and(Cost::of(&edits[..upto])));
        let first = self.passed.first().map(|(end, _)| end.0);
        self.passed.clear();
        self.trying = false;
        (cost, first)
    }
}

impl Engine {
    /// Whether the quote at `pos`, of `length` bytes, which may end its string, really does. A
    /// stream, which cannot read on, says yes outside of code.
    pub(in crate::engine) fn fork(
        &mut self,
        source: &Source<'_>,
        text: Text,
        length: usize,
    ) -> Result<bool, Stop> {
        let plain = text.quote == Quote::Double && text.quotes == 1;
        if !self.whole || !plain {
            return Ok(!self.string.inner.is_open());
        }
        let (at, code) = (self.pos, self.string.inner.is_open());
        let Some(ends) = self.ends_here(source, at + length) else {
            // The budget for reading on is used up.
            return Ok(true);
        };
        if ends == Some(Cost::NOTHING) && !code {
            return self.ends_after_all(source);
        }
        // Outside of a quotation, what follows a comma is evidence enough.
        let comma = source.look(at + length, self.window).space() == Ok(b',');
        if comma && !code && !self.string.inner.is_quoting() {
            return match ends {
                Some(_) => self.ends_after_all(source),
                None => self.doubt_quotes().map(|()| true),
            };
        }
        let on = self.goes_on(source, text, length);
        let later = match (ends, on) {
            (None, None) if !code => self
                .later_end(source, at + length, false)
                .or_else(|| self.later_end(source, at + length, true)),
            _ => on,
        };
        match (ends, later) {
            (None, None) if code => Ok(false),
            (None, None) => self.doubt_quotes().map(|()| true),
            (None, Some((_, end))) => {
                self.string.definite_end = end;
                Ok(false)
            }
            (Some(ends), Some((cost, end))) if code || cost < ends => {
                self.string.definite_end = end;
                Ok(false)
            }
            (Some(_), _) => self.ends_after_all(source),
        }
    }

    /// The string ends here. Notes if a bracket in it is open.
    fn ends_after_all(&mut self, source: &Source<'_>) -> Result<bool, Stop> {
        if self.string.inner.is_open()
            || self.holds_open_brace(source) && !self.string.inner.is_closed()
        {
            self.doubt_quotes()?;
        }
        Ok(true)
    }

    /// What the rest takes if the string ends at `pos`, according to an earlier try or a new one.
    /// `None` if the budget for tries is used up.
    fn ends_here(&mut self, source: &Source<'_>, after: usize) -> Option<Option<Cost>> {
        let known = self.trials.tried.known.get(&(self.pos, self.frames.len())).copied();
        known.or_else(|| self.rest_reads(source, after, true))
    }

    /// The first quote at or after `from` after which the rest reads well.
    fn later_end(
        &mut self,
        source: &Source<'_>,
        from: usize,
        quotes: bool,
    ) -> Option<(Cost, Option<usize>)> {
        let (mut at, mut passed) = (from, Cost::one(RepairKind::UnescapedQuote));
        for _ in 0..MAX_TRIES {
            let rest = source.from(at);
            at += rest.iter().position(|&b| b == b'"')?;
            let escaped = source.byte(at.wrapping_sub(1)) == Some(b'\\');
            // A quote directly before a word opens it.
            let opens = source.byte(at + 1).is_some_and(is_word);
            if !escaped
                && !opens
                && let Some(cost) = self.rest_reads(source, at + 1, quotes)?
            {
                return Some((cost.and(passed), Some(at)));
            }
            passed = passed.and(Cost::one(RepairKind::UnescapedQuote));
            at += 1;
        }
        None
    }

    /// What the rest takes if the string goes on after the quote at `pos`, and where it then ends.
    fn goes_on(
        &mut self,
        source: &Source<'_>,
        text: Text,
        length: usize,
    ) -> Option<(Cost, Option<usize>)> {
        let at = self.pos + length;
        let mut rest = self.rest(at, harmless(true))?;
        rest.expect = self.expect;
        rest.lex = Lex::Text(text);
        rest.lex_start = at;
        rest.committed_in_string = true;
        rest.string.inner_quotes = 1;
        rest.string.inner = self.string.inner;
        rest.string.inner.quote(source.from(at));
        let (cost, end) = self.try_rest(rest, source, true);
        Some((cost?.and(Cost::one(RepairKind::UnescapedQuote)), Some(end?)))
    }

    /// What it takes that the text from `at` on closes what is open, if harmless repairs are enough.
    /// `quotes` says whether unescaped quotes count as harmless. `None` if the budget for tries is
    /// used up.
    fn rest_reads(&mut self, source: &Source<'_>, at: usize, quotes: bool) -> Option<Option<Cost>> {
        let mut rest = self.rest(at, harmless(quotes))?;
        rest.expect = match self.frames.top() {
            Some(Shape::Object) => Expect::MemberEnd,
            Some(Shape::Call) => Expect::CallEnd,
            Some(Shape::Doubled) => Expect::DoubledEnd,
            Some(Shape::Array | Shape::Tuple) => Expect::ItemEnd,
            None => return Some(Some(Cost::NOTHING)),
        };
        Some(self.try_rest(rest, source, quotes).0)
    }

    /// Creates an engine that tries the rest from `at` on, in the containers that are open. Each
    /// try stops at its first fault. All tries together may read no more than a few times the text.
    pub(in crate::engine) fn rest(&mut self, at: usize, policy: Policy) -> Option<Self> {
        if self.trials.budget == 0 {
            return None;
        }
        // The containers are copied: long keys count, but for what any text has.
        let copied = self.frames.weight().saturating_sub(MAX_FREE);
        self.steps += copied as u64;
        self.trials.budget = self.trials.budget.saturating_sub(copied);
        let mut rest = Self::streaming(self.options.clone().with_policy(policy));
        rest.frames = self.frames.clone();
        rest.pos = at;
        rest.committed = at;
        rest.emitted = at;
        rest.gap.start = at;
        rest.script.most = self.script.most;
        rest.trials.trying = true;
        Some(rest)
    }

    /// What the rest takes, if it reads well, and where its first string with inner quotes ends.
    fn try_rest(
        &mut self,
        mut rest: Self,
        source: &Source<'_>,
        quotes: bool,
    ) -> (Option<Cost>, Option<usize>) {
        if quotes {
            rest.trials.tried = core::mem::take(&mut self.trials.tried);
            rest.trials.tried.trying = true;
        }
        let at = rest.pos;
        let read = rest.run(source.rest(at));
        self.steps += rest.steps;
        self.trials.budget = self.trials.budget.saturating_sub(rest.steps as usize + 16);
        // Prose may follow the document, but no quote, because that may belong to the string.
        let end = rest.document.end.unwrap_or(source.end());
        let after = source.from(end);
        let quote = after.iter().position(|byte| *byte == b'"');
        self.steps += quote.unwrap_or(after.len()) as u64;
        // If a try exceeds a limit, the real reading will exceed it, too.
        let reads = match read {
            Ok(()) => rest.documents.count == 1 && quote.is_none(),
            Err(stop) => matches!(stop, Stop::Crowded | Stop::Overflow),
        };
        if !quotes {
            return (reads.then(|| Cost::of(&rest.script.edits)), None);
        }
        let found = rest.trials.tried.over(reads, &rest.script.edits);
        self.trials.tried = rest.trials.tried;
        found
    }

    /// Where the closing quote of a member's string was that is missing at `lost`: before the closers at
    /// its end if the rest reads better after them, as in `{"a": {"b": "x}, "c": 1}`. Whole-text path only.
    pub(in crate::engine) fn lost_before_closers(
        &mut self,
        source: &Source<'_>,
        lost: usize,
    ) -> usize {
        if !self.whole || self.frames.top() != Some(Shape::Object) {
            return lost;
        }
        let content = source.slice(self.lex_start, lost);
        let kept = before_brackets(content);
        let brackets = &content[kept..];
        if !brackets.contains(&b'}') || self.frames.outside(brackets).is_none() {
            return lost;
        }
        let kept = self.lex_start + without_space(&content[..kept]).len();
        // The bracket may be a part of an escape.
        if self.script.spans(kept) {
            return lost;
        }
        let [with, before] = [lost, kept].map(|at| {
            let mut rest = self.rest(at, Policy::PERMISSIVE)?;
            rest.expect = Expect::MemberEnd;
            self.cost_to_the_end(rest, source)
        });
        let better = before.is_some_and(|before| with.is_none_or(|with| before < with));
        if better { kept } else { lost }
    }

    /// Whether the string that ends before `at` is the first key of an object whose brace is missing,
    /// so that the rest, from its colon on, reads well.
    pub(in crate::engine) fn reads_as_object(&mut self, source: &Source<'_>, at: usize) -> bool {
        let Some(mut rest) = self.rest(at, harmless(true)) else { return false };
        rest.frames.push(Shape::Object, at);
        // The object has its key: without one, a comma after the value would be its first sign.
        rest.frames.set_key(&[]);
        rest.expect = Expect::Colon;
        self.try_rest(rest, source, false).0.is_some()
    }

    /// What a reading takes, whatever its repairs are. `None` if it stops early, unless that is because
    /// it makes more edits than may be kept. Such a reading takes no less than those. If that is the
    /// least of all readings, the real one will not be able to keep its edits either, and the text is
    /// read piece by piece.
    pub(in crate::engine) fn cost_to_the_end(
        &mut self,
        mut rest: Self,
        source: &Source<'_>,
    ) -> Option<Cost> {
        let read = rest.run(source.rest(rest.committed));
        self.steps += rest.steps;
        self.trials.budget = self.trials.budget.saturating_sub(rest.steps as usize + 16);
        if read.is_err_and(|stop| stop != Stop::Crowded) {
            return None;
        }
        let cost = Cost::of(&rest.script.edits);
        let dropped = rest.dropping.map_or(Cost::NOTHING, |dropping| Cost::one(dropping.kind));
        Some(cost.and(dropped))
    }

    /// Notes, at the last inner quote of this string, that its quotes could be read in several
    /// ways.
    fn doubt_quotes(&mut self) -> Result<(), Stop> {
        let first = self.script.before(self.lex_start);
        let last = self.script.edits[first..].iter_mut().rev().find_map(|edit| match edit {
            Edit::Replace(repair, _) if repair.kind == RepairKind::UnescapedQuote => Some(repair),
            _ => None,
        });
        if let Some(repair) = last {
            repair.kind = RepairKind::AmbiguousQuote;
            if !self.options.policy().allows(RepairKind::AmbiguousQuote) {
                self.ending.refused = Some(repair.clone());
                return Err(Stop::Refused);
            }
        }
        Ok(())
    }
}

/// The repairs that make a reading no worse. `quotes` says whether unescaped quotes are among them.
const fn harmless(quotes: bool) -> Policy {
    let policy = Policy::TRIAL
        .without(RepairKind::LeadingProse)
        .without(RepairKind::ExtraClose)
        .without(RepairKind::MismatchedClose)
        .without(RepairKind::DuplicateOpen)
        .without(RepairKind::UnquotedString)
        .without(RepairKind::MissingColon);
    if quotes { policy } else { policy.without(RepairKind::UnescapedQuote) }
}
