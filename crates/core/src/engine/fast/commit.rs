//! Moving the engine's state to where the fast path is certain.

use super::{
    Delimiter, Digits, End, Engine, Phase,
    characters::cut_character,
    content::{After, Content},
    dialect::{self, SINGLE},
    pieces::is_content,
    tokens::{self, Key},
};
use crate::{
    RepairKind,
    engine::{
        Closed, Comma, Lex, PLAIN,
        frames::Shape,
        quotes::{Inner, Last, ends_with_wide_space},
        state::Stray,
    },
    grammar::Expect,
};

/// The shortest text in which to look for a whole key. In less, it is usually incomplete.
const MIN_MEMBER: usize = 12;

impl Engine {
    /// Whether the key that was read is valid UTF-8.
    pub(super) fn fast_key_is_text(&self, carry: &[u8], text: &[u8], base: usize) -> bool {
        let (before, after) = self.fast_key(carry, text, base);
        is_content(before, after)
    }

    /// The bytes of the key that was read: those in `carry`, and those in `text`.
    #[inline(always)]
    fn fast_key<'a>(&self, carry: &'a [u8], text: &'a [u8], base: usize) -> (&'a [u8], &'a [u8]) {
        let (from, to) = self.fast.key;
        let start = base - carry.len();
        if from >= base {
            return (&[], &text[from - base..to - base]);
        }
        (&carry[from - start..to.min(base) - start], &text[..to.saturating_sub(base)])
    }

    /// Begins an item. A member has begun with its key.
    #[inline(always)]
    fn fast_begin(&mut self) {
        if self.expect != Expect::MemberValue {
            self.frames.begin_item();
            self.fast_comma_stays();
            self.expect = Expect::Item;
        }
    }

    /// Begins a member: the key and the colon were read, and the value starts at `value`.
    #[inline(always)]
    pub(super) fn fast_member_begins<const DIALECT: bool>(
        &mut self,
        carry: &[u8],
        text: &[u8],
        base: usize,
        value: usize,
    ) {
        let (before, after) = self.fast_key(carry, text, base);
        self.frames.set_split_key(before, after);
        let (from, to) = self.fast.key;
        self.fast_key_read::<DIALECT>(from, to, value, self.fast.key_quote);
    }

    /// Begins a member with its key between `from` and `to`, and its value at `value`.
    #[inline(always)]
    fn fast_key_read<const DIALECT: bool>(
        &mut self,
        from: usize,
        to: usize,
        value: usize,
        quote: Delimiter,
    ) {
        self.fast_comma_stays();
        if DIALECT {
            self.fast_key_edits(from, to, quote);
        }
        let quotes = usize::from(!DIALECT || quote != Delimiter::None);
        self.string.doubled = false;
        self.member.key_start = from - quotes;
        self.lex_start = from;
        self.gap.start = to + quotes;
        self.pos = value;
        self.expect = Expect::MemberValue;
    }

    #[inline]
    pub(super) fn fast_comma_stays(&mut self) {
        self.member.edits_before = self.script.serial;
        if let Some(at) = self.fast.comma {
            self.member.comma = Some(Comma::read(at));
        }
    }

    /// Reads a whole key at `at` with its colon, if the chunk contains them and the byte after.
    /// This is a shortcut past several phases.
    #[inline(always)]
    pub(super) fn fast_member<const DIALECT: bool>(
        &mut self,
        text: &[u8],
        base: usize,
        at: usize,
    ) -> (Phase, usize) {
        if text.len() - at >= MIN_MEMBER
            && let Some(value) = self.fast_whole_key::<DIALECT>(text, base, at)
        {
            return (Phase::BeforeValue, value);
        }
        (Phase::BeforeKey, at)
    }

    /// Returns where the value of the member starts. `at` is passed by value, so that the variable
    /// of the automaton can stay in a register.
    #[inline(never)]
    fn fast_whole_key<const DIALECT: bool>(
        &mut self,
        text: &[u8],
        base: usize,
        at: usize,
    ) -> Option<usize> {
        let blocks = &mut self.fast.blocks;
        let key =
            if DIALECT { dialect::key(text, at, blocks)? } else { tokens::key(text, at, blocks)? };
        let Key { from, to, value, quote } = key;
        if self.fast.doubt {
            self.fast_string_ended::<DIALECT>();
        }
        self.frames.set_key(&text[from..to]);
        self.fast_key_read::<DIALECT>(base + from, base + to, base + value, quote);
        Some(value)
    }

    /// Commits a value that has ended at `pos`.
    #[inline]
    fn fast_ended<const DIALECT: bool>(&mut self) {
        self.committed = self.pos;
        if DIALECT {
            self.script.commit();
        }
        self.gap.start = self.pos;
        self.committed_in_string = false;
        self.string.closed = None;
        self.expect = if self.in_list() { Expect::ItemEnd } else { Expect::MemberEnd };
    }

    /// Whether the innermost container is an array, according to what is expected next.
    #[inline]
    pub(super) const fn in_list(&self) -> bool {
        matches!(self.expect, Expect::FirstItem | Expect::Item | Expect::ItemEnd)
    }

    /// Opens a container, unless the depth limit forbids it.
    #[inline(always)]
    pub(super) fn fast_open<const DIALECT: bool>(&mut self, shape: Shape) -> bool {
        if self.frames.depth() >= self.options.limits().depth() {
            return false;
        }
        self.fast_begin();
        self.frames.push(shape, self.fast.value);
        self.pos = self.fast.value + 1;
        self.fast_ended::<DIALECT>();
        self.member.comma = None;
        self.expect = if shape == Shape::Object { Expect::FirstKey } else { Expect::FirstItem };
        true
    }

    /// Closes the innermost container, unless it is the document.
    #[inline]
    pub(super) fn fast_close<const DIALECT: bool>(&mut self, at: usize) -> bool {
        if self.frames.len() < 2 {
            return false;
        }
        self.closed = Closed { is_object: !self.in_list(), end: at + 1 };
        self.frames.pop();
        self.pos = at + 1;
        self.fast_ended::<DIALECT>();
        // Frames that do not appear in the output are left to the other rules.
        let (expect, known) = match self.frames.top() {
            Some(Shape::Object) => (Expect::MemberEnd, true),
            Some(Shape::Array) => (Expect::ItemEnd, true),
            Some(Shape::Call) => (Expect::CallEnd, false),
            Some(Shape::Doubled) => (Expect::DoubledEnd, false),
            Some(Shape::Tuple) | None => (Expect::ItemEnd, false),
        };
        self.expect = expect;
        known
    }

    /// Commits a number or a literal.
    #[inline]
    pub(super) fn fast_scalar_ended<const DIALECT: bool>(&mut self) {
        self.fast_begin();
        if DIALECT {
            self.fast_literal_edit(self.fast.first, self.fast.value, self.fast.end);
        }
        self.pos = self.fast.end;
        self.fast_ended::<DIALECT>();
    }

    /// Handles what follows a scalar directly, if that is clear from the next bytes.
    #[inline(always)]
    pub(super) fn fast_after_scalar<const DIALECT: bool>(
        &mut self,
        text: &[u8],
        base: usize,
        at: usize,
    ) -> (Phase, usize) {
        let list = self.in_list();
        match text[at..] {
            // `1,234` may be one number.
            [b',', next, ..] if list || !next.is_ascii_digit() => {
                self.fast_scalar_ended::<DIALECT>();
                self.fast.comma = Some(base + at);
                if list {
                    (Phase::BeforeItem, at + 1)
                } else {
                    self.fast_member::<DIALECT>(text, base, at + 1)
                }
            }
            [b'}' | b']', ..] => {
                self.fast_scalar_ended::<DIALECT>();
                (Phase::Between, at)
            }
            _ => (Phase::Scalar, at),
        }
    }

    /// Whether a quote at `at` may end the current string. Then its content was read in earlier
    /// chunks, or as plain text, and all of it is committed.
    #[inline(always)]
    pub(super) fn fast_quote<const DIALECT: bool>(
        &mut self,
        text: &[u8],
        base: usize,
        at: usize,
    ) -> bool {
        let ends = text.get(at) == Some(&b'"')
            && self.string.tail.is_none()
            && !(DIALECT && self.fast.quote == Delimiter::Single);
        if ends {
            self.fast.end = base + at;
        }
        ends
    }

    /// Notes whether there is a line end in the white space before `at`.
    #[inline(always)]
    pub(super) fn fast_line_end(&mut self, text: &[u8], base: usize, at: usize) {
        let gap = text.get(self.gap.start.saturating_sub(base)..at);
        if gap.is_some_and(|gap| gap.contains(&b'\n')) {
            self.gap.broken = Some(self.gap.start);
        }
    }

    /// Handles the byte at `at`, the first one after a quote and white space.
    #[inline(always)]
    pub(super) fn fast_after_quote<const DIALECT: bool>(
        &mut self,
        text: &[u8],
        base: usize,
        at: usize,
    ) -> Result<(Phase, usize), End> {
        self.fast.doubt = true;
        let list = self.in_list();
        Ok(match text.get(at) {
            Some(b',') => {
                self.fast.comma = Some(base + at);
                if list {
                    (Phase::AfterQuoteComma, at + 1)
                } else {
                    self.fast_member::<DIALECT>(text, base, at + 1)
                }
            }
            Some(b'}') if !list => return self.fast_after_close::<DIALECT>(text, base, at),
            Some(b']') if list => return self.fast_after_close::<DIALECT>(text, base, at),
            _ => return Err(End::Unusual(base + at)),
        })
    }

    #[inline]
    fn fast_after_close<const DIALECT: bool>(
        &mut self,
        text: &[u8],
        base: usize,
        at: usize,
    ) -> Result<(Phase, usize), End> {
        if self.frames.depth() > 1 {
            // Usually the comma after it is in the same piece, and shows it.
            if text.get(at + 1) == Some(&b',') {
                self.fast_string_ended::<DIALECT>();
                if !self.fast_close::<DIALECT>(base + at) {
                    return Err(End::Unusual(base + at + 1));
                }
                if self.in_list() {
                    self.fast.comma = Some(base + at + 1);
                    return Ok((Phase::BeforeItem, at + 2));
                }
                return Ok((Phase::Between, at + 1));
            }
            self.fast.close = base + at;
            return Ok((Phase::AfterQuoteClose, at + 1));
        }
        self.fast_string_ended::<DIALECT>();
        Ok((Phase::Between, at))
    }

    /// Opens a string.
    #[inline(always)]
    pub(super) fn fast_open_string<const DIALECT: bool>(&mut self) {
        self.fast_begin();
        self.pos = self.fast.value + 1;
        self.lex_start = self.pos;
        self.string.inner_quotes = 0;
        self.string.unpaired = false;
        self.string.doubles = false;
        self.string.doubled = false;
        self.string.stray = Stray::None;
        self.string.inner = Inner::default();
        self.string.tail = None;
        self.lex = Lex::Text(PLAIN);
        if DIALECT {
            self.fast_quote_edit(self.fast.value);
            self.script.commit();
            if self.fast.quote == Delimiter::Single {
                self.lex = Lex::Text(SINGLE);
            }
        }
        self.committed = self.pos;
        self.committed_in_string = true;
        self.string.closed = None;
    }

    /// Commits the end of the string at `end`. The decision can be reversed until the next value
    /// begins.
    #[inline]
    pub(super) fn fast_string_ended<const DIALECT: bool>(&mut self) {
        self.lex = Lex::None;
        self.pos = self.fast.end + 1;
        self.fast_ended::<DIALECT>();
        self.committed = self.fast.end;
        if DIALECT {
            self.fast_quote_edit(self.fast.end);
        }
        self.committed_in_string = true;
        self.string.closed = Some(self.fast.end);
        self.fast.doubt = false;
    }

    /// Commits string content that was read from `start` on, and returns the next phase.
    #[inline(always)]
    pub(super) fn fast_string<const DIALECT: bool>(
        &mut self,
        text: &[u8],
        base: usize,
        start: usize,
        content: Content,
    ) -> Result<(Phase, usize), End> {
        let Content { from, end, after } = content;
        self.fast_content(text, base, start, from, end);
        match after {
            After::End => Ok((Phase::String, end)),
            After::Cut(length) => {
                self.fast.partial = cut_character(text, length);
                self.fast.partial_length = u8::try_from(length).unwrap_or_default();
                Ok((Phase::Utf8, text.len()))
            }
            // With a comma before it, the quote may open a string whose predecessor has lost its
            // quote.
            After::Quote if self.string.tail.is_some() => Err(End::Unusual(base + end)),
            After::Quote => {
                self.fast.end = base + end;
                Ok((Phase::AfterQuote, end + 1))
            }
            After::Double if !DIALECT => Err(End::Unusual(base + end)),
            After::Double => {
                let at = base + end;
                self.fast_edit(RepairKind::SingleQuote, at, at, "\\");
                self.pos = at + 1;
                self.commit_text(PLAIN);
                Ok((Phase::String, end + 1))
            }
            After::Escape => {
                self.commit_text(PLAIN);
                Ok((Phase::Escape, end + 1))
            }
            After::Unusual => Err(End::Unusual(base + end)),
        }
    }

    /// Commits string content from `start` to `end`. `from` is the end of its last escape.
    #[inline(always)]
    fn fast_content(&mut self, text: &[u8], base: usize, start: usize, from: usize, end: usize) {
        if from > start {
            self.pos = base + from;
            self.committed = self.pos;
            self.string.tail = None;
        }
        match text[from..end] {
            [] => self.string.inner.ends_escaped(&text[start..from]),
            [.., last]
                if !matches!(last, b',' | b' ')
                    && (last < 0x80 || !ends_with_wide_space(&text[from..end])) =>
            {
                self.pos = base + end;
                self.committed = self.pos;
                self.string.tail = None;
                self.string.inner.ends_with(Last::touching(last));
            }
            [.., last, b' '] if last < 0x80 && !matches!(last, b',' | b' ') => {
                self.pos = base + end;
                self.committed = self.pos;
                self.string.tail = None;
                self.string.inner.ends_with(Last::spaced(last));
            }
            // The comma may follow a quote that was lost.
            _ => {
                self.string.inner.ends_escaped(&text[start..from]);
                self.consume_text(&text[from..end], end - from, PLAIN);
            }
        }
    }

    /// Ends what the comma before the closer at `at` seemed to separate, drops the comma, and closes
    /// the container. `false` if that is left to the rules.
    #[inline(never)]
    pub(super) fn fast_close_after_comma(&mut self, at: usize) -> bool {
        if self.frames.len() < 2 {
            return false;
        }
        if self.fast.doubt {
            self.fast_string_ended::<true>();
        }
        self.fast_comma_stays();
        if let Some(comma) = self.member.comma {
            self.fast_comma_edit(comma.at);
        }
        self.fast_close::<true>(at)
    }
}

/// Reads a number on from `part` (RFC 8259, section 6). Returns the part in which it ends, and
/// where.
#[inline(always)]
pub(super) fn number_end(text: &[u8], from: usize, mut part: Digits) -> (Digits, usize) {
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        part = match (part, byte) {
            (Digits::Integer | Digits::Fraction | Digits::Exponent, b'0'..=b'9') => part,
            (Digits::Minus, b'0') => Digits::Zero,
            (Digits::Minus, b'1'..=b'9') => Digits::Integer,
            (Digits::Zero | Digits::Integer, b'.') => Digits::Point,
            (Digits::Point, b'0'..=b'9') => Digits::Fraction,
            (Digits::Zero | Digits::Integer | Digits::Fraction, b'e' | b'E') => Digits::Mark,
            (Digits::Mark, b'+' | b'-') => Digits::Sign,
            (Digits::Mark | Digits::Sign, b'0'..=b'9') => Digits::Exponent,
            _ => break,
        };
        at += 1;
    }
    (part, at)
}
