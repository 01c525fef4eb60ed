//! Finding the end of a string with unescaped quotes by trying the rest of the text.
//!
//! Code in a string looks like JSON: in `"x = {"a": "b", "c": 1};…"` a member seems to follow
//! `"b"`. The whole-text path can try each possible end: the rest after it must close the document,
//! with nothing left over.

use alloc::{collections::BTreeMap, vec::Vec};

use crate::engine::frames::Shape;
use crate::{
    Policy, RepairKind,
    engine::{Edit, Engine, Lex, Source, Stop, Text, quote::Quote, source::is_word},
    grammar::Expect,
};

/// How many later quotes are tried for one string.
const MAX_TRIES: usize = 64;

/// How many bytes of open containers a try may copy for nothing.
const MAX_FREE: usize = 4096;

/// How many ends of strings are remembered, so that memory is bounded.
const MAX_ENDS: usize = 1 << 16;

/// The results of trying the rest, stored for every end of a string with unescaped quotes on the
/// way. A try that reaches a stored end is over: it would read the same bytes in the same state.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Tried {
    /// Whether this engine is such a try.
    trying: bool,
    /// For a closing quote and a number of open containers, whether the rest after it reads well.
    known: BTreeMap<End, bool>,
    /// The ends that this try has passed.
    passed: Vec<End>,
    /// The stored result that this try has reached.
    met: Option<bool>,
}

/// Where a string ends, and how many containers are open there.
type End = (usize, usize);

impl Tried {
    /// Whether an earlier try has passed a string that ends at `at`.
    pub(in crate::engine) fn meets(&mut self, at: usize, open: usize) -> bool {
        if !self.trying {
            return false;
        }
        self.met = self.known.get(&(at, open)).copied();
        if self.passed.len() < MAX_ENDS {
            self.passed.push((at, open));
        }
        self.met.is_some()
    }

    /// Ends the try. Returns whether the rest reads well, and the first end that was passed.
    fn over(&mut self, reads: bool) -> (bool, Option<usize>) {
        let reads = self.met.take().unwrap_or(reads);
        if self.known.len() < MAX_ENDS {
            self.known.extend(self.passed.iter().map(|end| (*end, reads)));
        }
        let first = self.passed.first().map(|end| end.0);
        self.passed.clear();
        self.trying = false;
        (reads, first)
    }
}

impl Engine {
    /// Whether the quote at `pos`, of `length` bytes, which seems to end its string, really does.
    pub(in crate::engine) fn rest_confirms(
        &mut self,
        source: &Source<'_>,
        text: Text,
        length: usize,
    ) -> Result<bool, Stop> {
        let plain = text.quote == Quote::Double && text.quotes == 1;
        if !self.whole || text.is_key || self.inner_quotes == 0 || !plain {
            return Ok(true);
        }
        if let Some(end) = self.definite_end {
            if self.pos < end {
                return Ok(false);
            }
        } else if self.inner.is_open()
            && let Some(end) = self.goes_on(source, text, length)
        {
            self.definite_end = Some(end);
            return Ok(false);
        } else if !self.ends_before(source, self.pos + length) {
            if self.inner.is_open() {
                return Ok(false);
            }
            let from = self.pos + length;
            let mut look = source.look(from, self.window);
            if look.space() == Ok(b',') && !self.inner.is_quoting() {
                // Outside of a quotation, this is enough.
                self.doubt_quotes()?;
                return Ok(true);
            }
            let later = self.later_end(source, from, false);
            let later = later.or_else(|| self.later_end(source, from, true));
            if later.is_some() {
                self.definite_end = later;
                return Ok(false);
            }
            self.doubt_quotes()?;
            return Ok(true);
        }
        if self.inner.is_open() || self.holds_open_brace(source) && !self.inner.is_closed() {
            self.doubt_quotes()?;
        }
        Ok(true)
    }

    /// Whether the rest after the quote at `pos` reads well, according to an earlier try or a new
    /// one. True if the budget for tries is used up.
    fn ends_before(&mut self, source: &Source<'_>, at: usize) -> bool {
        let known = self.tried.known.get(&(self.pos, self.frames.len())).copied();
        known.or_else(|| self.rest_reads(source, at, true)).unwrap_or(true)
    }

    /// The first quote at or after `from` after which the rest reads well.
    fn later_end(&mut self, source: &Source<'_>, from: usize, quotes: bool) -> Option<usize> {
        let mut at = from;
        for _ in 0..MAX_TRIES {
            let rest = source.from(at);
            at += rest.iter().position(|&b| b == b'"')?;
            let escaped = source.byte(at.wrapping_sub(1)) == Some(b'\\');
            // A quote directly before a word opens it.
            let opens = source.byte(at + 1).is_some_and(is_word);
            if !escaped && !opens && self.rest_reads(source, at + 1, quotes)? {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// Where the string ends if it goes on after the quote at `pos`, and the rest then reads well.
    fn goes_on(&mut self, source: &Source<'_>, text: Text, length: usize) -> Option<usize> {
        let at = self.pos + length;
        let mut rest = self.rest(at, true)?;
        rest.expect = self.expect;
        rest.lex = Lex::Text(text);
        rest.lex_start = at;
        rest.committed_in_string = true;
        rest.inner_quotes = 1;
        rest.inner = self.inner;
        rest.inner.quote(source.from(at));
        let (reads, end) = self.try_rest(rest, source, true);
        end.filter(|_| reads)
    }

    /// Whether the text from `at` on closes what is open with harmless repairs only. `quotes` says
    /// whether unescaped quotes count as harmless. `None` if the budget for tries is used up.
    fn rest_reads(&mut self, source: &Source<'_>, at: usize, quotes: bool) -> Option<bool> {
        let mut rest = self.rest(at, quotes)?;
        rest.expect = match self.frames.top() {
            Some(Shape::Object) => Expect::MemberEnd,
            Some(Shape::Call) => Expect::CallEnd,
            Some(Shape::Doubled) => Expect::DoubledEnd,
            Some(Shape::Array | Shape::Tuple) => Expect::ItemEnd,
            None => return Some(true),
        };
        Some(self.try_rest(rest, source, quotes).0)
    }

    /// Creates an engine that tries the rest from `at` on, in the containers that are open. Each
    /// try stops at its first fault. All tries together may read no more than a few times the text.
    fn rest(&mut self, at: usize, quotes: bool) -> Option<Self> {
        if self.rest_budget == 0 {
            return None;
        }
        // The containers are copied: long keys count, but for what any text has.
        let copied = self.frames.weight().saturating_sub(MAX_FREE);
        self.steps += copied as u64;
        self.rest_budget = self.rest_budget.saturating_sub(copied);
        let policy = Policy::TRIAL
            .without(RepairKind::LeadingProse)
            .without(RepairKind::ExtraClose)
            .without(RepairKind::MismatchedClose)
            .without(RepairKind::DuplicateOpen)
            .without(RepairKind::UnquotedString)
            .without(RepairKind::MissingColon);
        let policy = if quotes { policy } else { policy.without(RepairKind::UnescapedQuote) };
        let mut rest = Self::streaming(self.options.clone().with_policy(policy));
        rest.frames = self.frames.clone();
        rest.pos = at;
        rest.committed = at;
        rest.emitted = at;
        rest.gap_start = at;
        rest.most_edits = self.most_edits;
        Some(rest)
    }

    /// Whether the rest reads well, and where its first string with inner quotes ends.
    fn try_rest(
        &mut self,
        mut rest: Self,
        source: &Source<'_>,
        quotes: bool,
    ) -> (bool, Option<usize>) {
        if quotes {
            rest.tried = core::mem::take(&mut self.tried);
            rest.tried.trying = true;
        }
        let at = rest.pos;
        let read = rest.run(source.rest(at));
        self.steps += rest.steps;
        self.rest_budget = self.rest_budget.saturating_sub(rest.steps as usize + 16);
        // Prose may follow the document, but no quote, because that may belong to the string.
        let end = rest.document_end.unwrap_or(source.end());
        let alone = !source.from(end).contains(&b'"');
        // If a try exceeds a limit, the real reading will exceed it, too.
        let reads = match read {
            Ok(()) => rest.documents == 1 && alone,
            Err(stop) => matches!(stop, Stop::Crowded | Stop::Overflow),
        };
        if !quotes {
            return (reads, None);
        }
        let (reads, end) = rest.tried.over(reads);
        self.tried = rest.tried;
        (reads, end)
    }

    /// Notes, at the last inner quote of this string, that its quotes could be read in several
    /// ways.
    fn doubt_quotes(&mut self) -> Result<(), Stop> {
        let first = self.edits_before(self.lex_start);
        let last = self.edits[first..].iter_mut().rev().find_map(|edit| match edit {
            Edit::Replace(repair, _) if repair.kind == RepairKind::UnescapedQuote => Some(repair),
            _ => None,
        });
        if let Some(repair) = last {
            repair.kind = RepairKind::AmbiguousQuote;
            if !self.options.policy().allows(RepairKind::AmbiguousQuote) {
                self.refused = Some(repair.clone());
                return Err(Stop::Refused);
            }
        }
        Ok(())
    }
}
