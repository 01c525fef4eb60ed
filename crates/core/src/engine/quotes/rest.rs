//! Whole text only: a string that held unescaped quotes ends where the rest of the text reads well.
//!
//! Code in a string looks like JSON: behind `"b"` in `"x = {"a": "b", "c": 1};…"` a member seems to
//! follow. Where the whole text is there, the rest can be tried: it must close the document, with
//! nothing left over.

use alloc::{collections::BTreeMap, vec::Vec};

use crate::engine::frames::Shape;
use crate::{
    Policy, RepairKind,
    engine::{Edit, Engine, Lex, Source, Stop, Text, quote::Quote, source::is_word},
    grammar::Expect,
};

/// How many later quotes are tried, for one string.
const TRIES: usize = 64;

/// How many bytes of open containers a try may copy for nothing.
const MOST_FREE: usize = 4096;

/// How many ends of strings are kept in mind, so that memory has a bound.
const MOST_ENDS: usize = 1 << 16;

/// What tries of the rest came to, by the ends of strings with unescaped quotes that they came by.
/// A try that comes by one again is over: it would read the same bytes in the same state.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Tried {
    /// Whether the engine is such a try.
    trying: bool,
    /// Closing quotes and how many containers were open; whether the rest behind them reads well.
    known: BTreeMap<End, bool>,
    /// The ends that this try came by.
    passed: Vec<End>,
    met: Option<bool>,
}

/// Where a string ends, and how many containers are open there.
type End = (usize, usize);

impl Tried {
    /// Whether a string that ends at `at` is one that an earlier try came by.
    pub(in crate::engine) fn meets(&mut self, at: usize, open: usize) -> bool {
        if !self.trying {
            return false;
        }
        self.met = self.known.get(&(at, open)).copied();
        if self.passed.len() < MOST_ENDS {
            self.passed.push((at, open));
        }
        self.met.is_some()
    }

    /// The try is over. Whether it read well, alone or by what it met, and the first end it came by.
    fn over(&mut self, reads: bool) -> (bool, Option<usize>) {
        let reads = self.met.take().unwrap_or(reads);
        if self.known.len() < MOST_ENDS {
            self.known.extend(self.passed.iter().map(|end| (*end, reads)));
        }
        let first = self.passed.first().map(|end| end.0);
        self.passed.clear();
        self.trying = false;
        (reads, first)
    }
}

impl Engine {
    /// Whether the quote at `pos`, which seems to end its string, ends it. `length` is the quote's.
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
                // Outside a quotation that says enough.
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

    /// Whether the rest behind the quote at `pos` reads well, as far as an earlier try knows, or by
    /// one of its own. What can no longer be tried is believed.
    fn ends_before(&mut self, source: &Source<'_>, at: usize) -> bool {
        let known = self.tried.known.get(&(self.pos, self.frames.len())).copied();
        known.or_else(|| self.rest_reads(source, at, true)).unwrap_or(true)
    }

    /// The first quote from `from` on behind which the rest reads well.
    fn later_end(&mut self, source: &Source<'_>, from: usize, quotes: bool) -> Option<usize> {
        let mut at = from;
        for _ in 0..TRIES {
            let rest = source.from(at);
            at += rest.iter().position(|&b| b == b'"')?;
            let escaped = source.byte(at.wrapping_sub(1)) == Some(b'\\');
            // A quote that touches a word opens it.
            let opens = source.byte(at + 1).is_some_and(is_word);
            if !escaped && !opens && self.rest_reads(source, at + 1, quotes)? {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// Where the string ends, if it goes on behind the quote at `pos`, and the rest reads well then.
    fn goes_on(&mut self, source: &Source<'_>, text: Text, length: usize) -> Option<usize> {
        let at = self.pos + length;
        let mut rest = self.rest(at, true)?;
        rest.expect = self.expect;
        rest.lex = Lex::Text(text);
        rest.lex_start = at;
        rest.mark_in_string = true;
        rest.inner_quotes = 1;
        rest.inner = self.inner;
        rest.inner.quote(source.from(at));
        let (reads, end) = self.try_rest(rest, source, true);
        end.filter(|_| reads)
    }

    /// Whether the text from `at` on closes what is open with at most harmless repairs; `quotes`
    /// says whether unescaped quotes in it are. `None` where too much was tried already.
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

    /// An engine that tries the rest from `at` on, in the containers that are open. Each try reads to
    /// its first fault; all together may not read more than a few times the text.
    fn rest(&mut self, at: usize, quotes: bool) -> Option<Self> {
        if self.rest_budget == 0 {
            return None;
        }
        // The containers are copied: long keys count, but for what any text has.
        let copied = self.frames.weight().saturating_sub(MOST_FREE);
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
        rest.mark = at;
        rest.emitted = at;
        rest.anchor = at;
        Some(rest)
    }

    /// Whether the rest reads well, and where the first string in it ends that holds quotes.
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
        let read = rest.run(Source::new(source.from(at), at, true));
        self.steps += rest.steps;
        self.rest_budget = self.rest_budget.saturating_sub(rest.steps as usize + 16);
        // Prose behind the document may follow, but no quote: it may be that of the string.
        let end = rest.document_end.unwrap_or(source.end());
        let alone = !source.from(end).contains(&b'"');
        // Where a limit is passed, it will be in earnest.
        let reads = match read {
            Ok(()) => rest.documents == 1 && alone,
            Err(stop) => stop == Stop::Overflow,
        };
        if !quotes {
            return (reads, None);
        }
        let (reads, end) = rest.tried.over(reads);
        self.tried = rest.tried;
        (reads, end)
    }

    /// The quotes in this string were read one way of several: the last of them says so.
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
