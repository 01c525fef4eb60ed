//! The fast path: an automaton for valid JSON, and for the dialects that are written most, that
//! reads each byte once, whatever the size of the chunks.
//!
//! It is an optimization and nothing else. The automaton reads ahead of the engine on the
//! assumption that the input is valid JSON or a [dialect](dialect), and updates the engine's state
//! whenever it is certain. At anything unusual it stops, and the rules in the other files continue
//! from that state. It never accepts anything that those rules would read differently, whatever
//! follows, and makes the same edits.
//!
//! The fast path is entered only after a step of the engine, and left only at a certain byte, so
//! neither depends on where a chunk ends.

mod automaton;
mod bulk;
mod characters;
mod commit;
mod content;
mod dialect;
mod pieces;
mod steps;
mod tokens;

use super::{
    Engine, Flow, Lex, Source, Text, frames::Shape, quote::Quote, quotes::Last, state::Stray,
};
use crate::{MendOptions, grammar::Expect};
use characters::Utf8Blocks;
use dialect::Dialect;
pub(crate) use pieces::LONGEST;

/// The longest key, and the longest run of white space, that the fast path reads.
const MAX_TOKEN: usize = 512;

/// The state of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The fast path is not in use.
    Inactive,
    /// After a value or an opening bracket.
    Between,
    /// Before a key.
    BeforeKey,
    /// In a key.
    Key,
    /// Before the colon.
    BeforeColon,
    /// Before the value of a member.
    BeforeValue,
    /// After a comma in an array.
    BeforeItem,
    /// After the brace that opens a value. Another brace would double it.
    Brace,
    /// After the quote that opens a value.
    Quote,
    /// After `""`.
    Empty,
    /// In a string.
    String,
    /// After a backslash.
    Escape,
    /// In the four digits of `\u`, after this many of them.
    Unit(u8),
    /// In a character of which not all bytes have arrived.
    Utf8,
    /// After the quote that seems to end a string.
    AfterQuote,
    /// After that quote and a comma, in an array.
    AfterQuoteComma,
    /// After that quote and a closing bracket.
    AfterQuoteClose,
    /// In a number.
    Number(Digits),
    /// In a literal, after this many of its bytes.
    Literal(u8),
    /// After a scalar.
    Scalar,
    /// After a scalar and a comma directly after it. A digit here would continue the number.
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

/// What the fast path remembers between chunks. Offsets are offsets in the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastPath {
    phase: Phase,
    /// The fast path is not entered before this offset.
    blocked: usize,
    /// How much of the current white space was read in earlier chunks.
    passed: usize,
    /// The comma before the member or item that comes next.
    comma: Option<usize>,
    /// The key of that member, between its quotes.
    key: (usize, usize),
    /// What delimits that key, and the current string: `"`, or what a [`Dialect`] has.
    key_quote: Delimiter,
    quote: Delimiter,
    /// Whether the text may be in a dialect, and whether it is.
    dialect: Dialect,
    ascii: bool,
    /// Whether it is undecided if the quote at `end` ends the current string.
    doubt: bool,
    /// Where the current scalar starts.
    value: usize,
    /// Where the last scalar or string ends, without its quote; and the offset of the bracket after
    /// a string.
    end: usize,
    close: usize,
    /// The first byte of the literal.
    first: u8,
    /// The bytes of a character of which not all have arrived.
    partial: [u8; 4],
    partial_length: u8,
    /// Which bytes are known to be UTF-8.
    blocks: Utf8Blocks,
}

/// What delimits a key or a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delimiter {
    Double,
    Single,
    /// Nothing: a key without quotes.
    None,
}

impl FastPath {
    /// The state before the fast path is used, for a text that is mended with `options`.
    pub(super) fn new(options: &MendOptions) -> Self {
        Self { dialect: Dialect::of(options), ..Self::INACTIVE }
    }

    const INACTIVE: Self = Self {
        phase: Phase::Inactive,
        blocked: 0,
        passed: 0,
        comma: None,
        key: (0, 0),
        key_quote: Delimiter::Double,
        quote: Delimiter::Double,
        dialect: Dialect::NONE,
        ascii: true,
        doubt: false,
        value: 0,
        end: 0,
        close: 0,
        first: 0,
        partial: [0; 4],
        partial_length: 0,
        blocks: Utf8Blocks::NONE,
    };
}

/// Where the text so far ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// In a string, of which everything is committed.
    Content,
    /// In a character or an escape of a string.
    Token,
    /// Elsewhere in a document that is on the fast path.
    Clean,
    /// Anywhere else.
    Other,
}

/// Why the automaton stopped.
enum End {
    /// All bytes were read.
    More,
    /// Something unusual was found. The fast path is not entered again before this offset.
    Unusual(usize),
    /// At this offset is something that is usual in a dialect, and unusual in JSON.
    Dialect(usize),
}

impl Engine {
    /// Whether the next chunk continues on the fast path.
    #[inline]
    pub(crate) fn on_fast_path(&self) -> bool {
        self.fast.phase != Phase::Inactive
    }

    /// Leaves the remaining bytes to the rules in the other files.
    pub(super) fn leave_fast_path(&mut self) {
        self.fast.phase = Phase::Inactive;
    }

    /// Enters the fast path if the state of the engine allows it, and reads as far as the input is
    /// clean. Returns [`Flow::Wait`] if that is all of it.
    #[inline]
    pub(super) fn enter_fast_path(&mut self, source: &Source<'_>) -> Flow {
        let short = self.options.limits().buffer() < 8 * MAX_TOKEN;
        if short || !self.script.is_committed() || self.pos < self.fast.blocked {
            return Flow::Go;
        }
        let mut single = false;
        let phase = match self.lex {
            Lex::None
                if self.string.tail.is_none()
                    && matches!(
                        self.expect,
                        Expect::FirstKey | Expect::MemberEnd | Expect::FirstItem | Expect::ItemEnd
                    )
                    && matches!(self.frames.top(), Some(Shape::Object | Shape::Array)) =>
            {
                Phase::Between
            }
            Lex::Text(text)
                if !self.whole
                    && self.string.inner_quotes == 0
                    && self.may_continue(text)
                    && matches!(self.frames.top(), Some(Shape::Object | Shape::Array)) =>
            {
                single = text.quote == Quote::Single;
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
        let FastPath { blocked, mut dialect, blocks, .. } = self.fast;
        dialect.enter(single);
        let quote = if single { Delimiter::Single } else { Delimiter::Double };
        self.fast = FastPath { phase, blocked, quote, dialect, blocks, ..FastPath::INACTIVE };
        if !self.read_fast(&[], source.from(self.pos), self.pos) {
            return Flow::Go;
        }
        if source.is_last() {
            self.fast.blocked = source.end();
            self.leave_fast_path();
            return Flow::Go;
        }
        Flow::Wait
    }

    /// Whether the fast path can read on in a string that the rules have begun.
    fn may_continue(&self, text: Text) -> bool {
        let known = match text.quote {
            Quote::Double => true,
            Quote::Single => self.fast.dialect.is_allowed(),
            Quote::Backtick | Quote::Escaped | Quote::Smart => false,
        };
        known && !text.is_key && text.quotes == 1 && self.string.stray == Stray::None
    }

    /// Where the text ends.
    #[inline(always)]
    pub(crate) const fn within(&self) -> Within {
        match self.fast.phase {
            Phase::String if self.string.tail.is_none() => Within::Content,
            Phase::Escape | Phase::Unit(_) | Phase::Utf8 => Within::Token,
            Phase::Inactive => Within::Other,
            _ => Within::Clean,
        }
    }

    /// Where the text ends in [content](Within::Content), reads plain text at `base`, unless its
    /// last bytes may be more than content.
    #[inline(always)]
    pub(crate) fn read_content(&mut self, text: &[u8], base: usize) -> bool {
        if self.fast.quote == Delimiter::Single && FastPath::ends_with_single(text) {
            return false;
        }
        // After a comma, or a comma and white space, a quote may have been lost.
        match *text {
            [] | [.., b','] | [b' '] | [.., b',' | b' ', b' '] => return false,
            [.., last, b' '] => self.string.inner.ends_with(Last::spaced(last)),
            [.., last] => self.string.inner.ends_with(Last::touching(last)),
        }
        self.steps += text.len() as u64;
        self.pos = base + text.len();
        self.committed = self.pos;
        self.emitted = self.pos;
        true
    }

    /// Reads `text`, at offset `base`, and returns whether all of it was clean. `carry` is the input
    /// between the committed position and `base`.
    #[inline(never)]
    pub(crate) fn read_fast(&mut self, carry: &[u8], text: &[u8], base: usize) -> bool {
        self.read_piece(carry, text, base)
    }

    /// Like `read_fast`, but inlined: for pieces of a few bytes, a call and the registers it saves
    /// are a tenth of the work.
    #[inline(always)]
    pub(crate) fn read_piece(&mut self, carry: &[u8], text: &[u8], base: usize) -> bool {
        let end = self.fast_steps(carry, text, base);
        match end {
            End::More => {
                self.steps += text.len() as u64;
                true
            }
            End::Unusual(at) | End::Dialect(at) => {
                self.steps += 1 + at.saturating_sub(base) as u64;
                self.fast.phase = Phase::Inactive;
                self.fast.blocked = at;
                false
            }
        }
    }

    /// Runs the automaton on `text`.
    #[inline(always)]
    fn fast_steps(&mut self, carry: &[u8], text: &[u8], base: usize) -> End {
        self.fast.blocks.begin_chunk(base);
        if self.fast.dialect.is_seen() {
            return self.dialect_steps(carry, text, base, 0);
        }
        // A local variable, so that it is kept in a register.
        let mut phase = self.fast.phase;
        let end = self.fast_phases::<false>(carry, text, base, 0, &mut phase);
        self.fast.phase = phase;
        match end {
            End::Dialect(at) => self.dialect_steps(carry, text, base, at - base),
            end => end,
        }
    }

    /// Runs the automaton that also reads a dialect, from `at` on.
    #[inline(never)]
    fn dialect_steps(&mut self, carry: &[u8], text: &[u8], base: usize, at: usize) -> End {
        self.fast.dialect.note();
        let mut phase = self.fast.phase;
        let end = self.fast_phases::<true>(carry, text, base, at, &mut phase);
        self.fast.phase = phase;
        end
    }
}
