//! The clean lane: valid JSON, read byte after byte, each once, whatever the size of the chunks.
//!
//! This is a shortcut and nothing else. The lane is an automaton that reads ahead of the engine on
//! the assumption that the input is valid JSON. The engine's own state stands at the last place the
//! lane was sure of; at anything odd the lane is left, and the rules of the other files read on from
//! there. What it takes is what those rules would take, whatever follows.
//!
//! The lane is entered only behind a step of the engine, and left only at a byte, so that neither
//! depends on where a chunk ends.

mod steps;
mod stride;
mod taken;
mod tokens;

use super::{Engine, Flow, Lex, PLAIN, Source, frames::Shape, quotes::Last};
use crate::{grammar::Expect, scan};

/// The longest key, and the longest stretch of white space, that is read here.
const SHORT: usize = 512;

/// Where the lane stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The lane is not in use.
    Left,
    /// Behind a value or an opening bracket.
    Between,
    /// Before a key.
    BeforeKey,
    /// In a key.
    Key,
    /// Before the colon.
    BeforeColon,
    /// Before the value of a member.
    BeforeValue,
    /// Behind a comma in a list.
    BeforeItem,
    /// Behind the brace that opens a value; another would double it.
    Brace,
    /// Behind the quote that opens a value.
    Quote,
    /// Behind `""`.
    Empty,
    /// In a string.
    String,
    /// Behind a backslash.
    Escape,
    /// In the four digits behind `\u`; the number says how many came.
    Unit(u8),
    /// In a character that has not arrived whole.
    Utf8,
    /// Behind the quote that seems to end a string.
    Behind,
    /// Behind that quote and a comma, in a list.
    BehindComma,
    /// Behind that quote and a closing bracket.
    BehindClose,
    /// In a number.
    Number(Digits),
    /// In a literal, of which so many bytes came.
    Literal(u8),
    /// Behind a scalar.
    Scalar,
    /// Behind a scalar and a comma that touches it; a digit would go on with the number.
    ScalarComma,
}

/// Which part of a number was read last (RFC 8259, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digits {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Mark,
    Sign,
    Exponent,
}

/// What the lane remembers between chunks. Offsets are those of the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    phase: Phase,
    /// The lane is not entered before this offset.
    blocked: usize,
    /// How much of the white space came that is being read.
    passed: usize,
    /// The comma before the pending member or item; `usize::MAX` where there is none.
    comma: usize,
    /// The pending key, between its quotes.
    key: (usize, usize),
    ascii: bool,
    /// It is not known yet whether the quote at `end` ends the string that is open.
    doubt: bool,
    /// Where the pending scalar starts.
    value: usize,
    /// Where the scalar or the string before ends, without its quote; then, of a bracket behind a
    /// string, that.
    end: usize,
    close: usize,
    /// The first byte of the literal.
    first: u8,
    /// The bytes of a character that has not arrived whole.
    partial: [u8; 4],
    partial_length: u8,
}

impl Lane {
    pub(super) const LEFT: Self = Self {
        phase: Phase::Left,
        blocked: 0,
        passed: 0,
        comma: usize::MAX,
        key: (0, 0),
        ascii: true,
        doubt: false,
        value: 0,
        end: 0,
        close: 0,
        first: 0,
        partial: [0; 4],
        partial_length: 0,
    };
}

/// How a stretch ended.
enum End {
    /// All bytes were read.
    More,
    /// Something odd stands there; the lane is not entered again before that offset.
    Odd(usize),
}

impl Engine {
    /// Whether the lane goes on with the next chunk.
    #[inline]
    pub(crate) fn in_lane(&self) -> bool {
        self.lane.phase != Phase::Left
    }

    /// The bytes that are left are for the rules of the other files.
    pub(super) fn leave_lane(&mut self) {
        self.lane.phase = Phase::Left;
    }

    /// Enters the lane, if the engine stands where it may, and reads as far as it is clean.
    /// [`Flow::Wait`]: all there is was read.
    #[inline]
    pub(super) fn enter_lane(&mut self, source: &Source<'_>) -> Flow {
        let short = self.options.limits().buffer() < 8 * SHORT;
        if short || self.edits.len() > self.firm || self.pos < self.lane.blocked {
            return Flow::Go;
        }
        let phase = match self.lex {
            Lex::None
                if self.tail.is_none()
                    && matches!(
                        self.expect,
                        Expect::FirstKey | Expect::MemberEnd | Expect::FirstItem | Expect::ItemEnd
                    )
                    && matches!(self.frames.top(), Some(Shape::Object | Shape::Array)) =>
            {
                Phase::Between
            }
            Lex::Text(PLAIN)
                if !self.whole
                    && self.inner_quotes == 0
                    && matches!(self.frames.top(), Some(Shape::Object | Shape::Array)) =>
            {
                Phase::String
            }
            _ => return Flow::Go,
        };
        if phase == Phase::String {
            self.expect = match self.frames.top() {
                Some(Shape::Object) => Expect::MemberValue,
                _ => Expect::Item,
            };
        }
        let blocked = self.lane.blocked;
        self.lane = Lane { phase, blocked, ..Lane::LEFT };
        if !self.read_lane(&[], source.from(self.pos), self.pos) {
            return Flow::Go;
        }
        if source.is_last() {
            self.lane.blocked = source.end();
            self.leave_lane();
            return Flow::Go;
        }
        Flow::Wait
    }

    /// Reads a chunk at `base` that lies within a string from end to end, as most small chunks do:
    /// whether it does.
    #[inline]
    pub(crate) fn read_content(&mut self, text: &[u8], base: usize) -> bool {
        let inside = self.lane.phase == Phase::String && self.tail.is_none();
        if !(inside && scan::is_plain_text(text)) {
            return false;
        }
        // Behind a comma, or one and white space, a quote may have been lost.
        match *text {
            [] | [.., b','] | [b' '] | [.., b',' | b' ', b' '] => return false,
            [.., last, b' '] => self.inner.ends_with(Last::spaced(last)),
            [.., last] => self.inner.ends_with(Last::touching(last)),
        }
        self.steps += text.len() as u64;
        self.pos = base + text.len();
        self.mark = self.pos;
        self.emitted = self.pos;
        true
    }

    /// Reads `text`, which stands at `base`, in the lane: whether all of it was clean. `held` is what
    /// stands before it, from the mark on.
    #[inline(never)]
    pub(crate) fn read_lane(&mut self, held: &[u8], text: &[u8], base: usize) -> bool {
        self.read_piece(held, text, base)
    }

    /// The same, inlined: of a piece of some bytes, a call and the registers it saves are a tenth of
    /// the work.
    #[inline(always)]
    pub(crate) fn read_piece(&mut self, held: &[u8], text: &[u8], base: usize) -> bool {
        let end = self.lane_steps(held, text, base);
        match end {
            End::More => {
                self.steps += text.len() as u64;
                true
            }
            End::Odd(at) => {
                self.steps += 1 + at.saturating_sub(base) as u64;
                self.lane.phase = Phase::Left;
                self.lane.blocked = at;
                false
            }
        }
    }
}
