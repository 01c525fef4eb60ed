//! Objects, arrays and quotations in a string whose quotes were not escaped.
//!
//! In `"x = {"a": "b", "c": 1};"` a member seems to follow `"b"`. The brace before the first inner
//! quote shows that it belongs to the text: no quote ends the string until that brace is closed. In
//! `"say "a", "b""` the quote directly before `a` begins a quotation, and the next one ends it.

use crate::signs::{is_word, wide_space};

/// The last byte of content other than white space, and whether white space follows it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::engine) struct Last {
    byte: u8,
    spaced: bool,
    /// Whether there is a raw line end in that white space.
    broken: bool,
    /// Whether that white space ends with an escape.
    escaped: bool,
}

impl Last {
    /// The byte `byte`, followed by nothing.
    #[inline(always)]
    pub(in crate::engine) const fn touching(byte: u8) -> Self {
        Self { byte, spaced: false, broken: false, escaped: false }
    }

    /// The byte `byte`, followed by white space.
    #[inline(always)]
    pub(in crate::engine) const fn spaced(byte: u8) -> Self {
        Self { byte, spaced: true, broken: false, escaped: false }
    }
}

/// What is known of the current string's content. Updated with every byte, because a stream cannot
/// look back.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::engine) struct Inner {
    last: Last,
    /// Whether the last byte is the only one after an inner quote, like the brace in `"{"`.
    alone: bool,
    /// How many brackets are open, counting from the first one that is followed by a quote.
    open: u32,
    /// Whether there was such a bracket.
    any: bool,
    /// Whether an odd number of quotes followed it, so that a string of the text is open.
    quoted: bool,
    /// Whether a quotation is open, begun by a quote directly before a word.
    quoting: bool,
    /// A bracket at the start of a string of the text, until it is known whether it is all of it.
    pending: Option<u8>,
}

impl Inner {
    /// Whether an object or array of the text is open.
    pub(in crate::engine) const fn is_open(&self) -> bool {
        self.open > 0
    }

    /// Whether the next quote ends a quotation in the string.
    pub(in crate::engine) const fn is_quoting(&self) -> bool {
        self.quoting
            || self.open > 0 && self.quoted
            || self.alone && matches!(self.last.byte, b'{' | b'[' | b'}' | b']')
    }

    /// Whether a quote here that directly precedes a word begins a quotation: there is white space
    /// before it, or a punctuation mark that can come before words.
    pub(in crate::engine) const fn may_begin(&self) -> bool {
        self.last.spaced
            || matches!(self.last.byte, b'(' | b'[' | b'{' | b'=' | b',' | b':' | b'|')
            || matches!(self.last.byte, b'&' | b'+' | b'#')
    }

    /// Whether a quote here and another one directly after it may be one that was written twice:
    /// there is text before it, which ends with no blank that a quotation may follow, and it is not the
    /// sign of inches.
    pub(in crate::engine) const fn may_be_doubled(&self) -> bool {
        match self.last.spaced {
            true => self.last.escaped,
            false => !matches!(self.last.byte, 0 | b'"' | b'\\' | b'0'..=b'9'),
        }
    }

    /// Whether the content ends with a digit.
    pub(in crate::engine) const fn is_after_digit(&self) -> bool {
        !self.last.spaced && self.last.byte.is_ascii_digit()
    }

    /// Whether the content ends with a word, and then white space that is not escaped.
    pub(in crate::engine) const fn is_between_words(&self) -> bool {
        self.last.spaced && !self.last.escaped && is_word(self.last.byte)
    }

    /// Whether the content ends with a colon.
    pub(in crate::engine) const fn is_after_colon(&self) -> bool {
        !self.last.spaced && self.last.byte == b':'
    }

    /// Whether the content ends with an escaped line end or tab.
    pub(in crate::engine) const fn is_after_escaped_space(&self) -> bool {
        self.last.spaced && self.last.escaped
    }

    /// Whether a quote here, before `next`, is an apostrophe: there are letters on both sides.
    /// Other scripts count if they use apostrophes: Latin, Greek, Cyrillic, Armenian.
    pub(in crate::engine) const fn is_within_word(&self, next: u8) -> bool {
        let before = self.last.byte.is_ascii_alphabetic() || self.last.byte >= 0x80;
        !self.last.spaced && before && (next.is_ascii_alphabetic() || matches!(next, 0xc3..=0xd4))
    }

    /// The bracket directly before this position, ignoring white space.
    pub(in crate::engine) const fn bracket_before(&self) -> Option<u8> {
        match self.last.byte {
            byte @ (b'{' | b'[') if self.open == 0 => Some(byte),
            _ => None,
        }
    }

    /// Reads a single quote that is part of a string in single quotes. `opens` says that it begins
    /// the first key or item after a bracket. Quotations are not tracked, because apostrophes begin
    /// words, too.
    pub(in crate::engine) const fn single_quote(&mut self, opens: bool) {
        self.pending = None;
        if self.open > 0 {
            self.quoted = !self.quoted;
        } else if opens {
            (self.open, self.any, self.quoted) = (1, true, true);
        }
        (self.last, self.alone) = (Last::touching(b'\''), false);
    }

    /// Reads white space that is not escaped.
    pub(in crate::engine) const fn space(&mut self) {
        (self.last.spaced, self.last.escaped) = (true, false);
    }

    /// Reads a raw line end.
    pub(in crate::engine) const fn line_end(&mut self) {
        (self.last.spaced, self.last.broken, self.last.escaped) = (true, true, false);
    }

    /// Whether a quote here begins a line, outside of brackets.
    pub(in crate::engine) const fn begins_line(&self) -> bool {
        self.open == 0 && self.last.broken && !matches!(self.last.byte, b'{' | b'[')
    }

    /// Reads content without escapes.
    pub(in crate::engine) fn content(&mut self, run: &[u8]) {
        let mut run = run;
        while self.open > 0
            && let [byte, rest @ ..] = run
        {
            self.byte(*byte);
            run = rest;
        }
        let text = without_space(run);
        let mut solid = text.iter().rev().filter(|byte| !byte.is_ascii_whitespace());
        if let Some(&last) = solid.next() {
            self.alone = self.last.byte == b'"' && solid.next().is_none();
            self.last = Last::touching(last);
        }
        if text.len() < run.len() {
            self.space();
        }
    }

    /// Reads content that ends with `last`, in a string without inner quotes.
    #[inline(always)]
    pub(in crate::engine) const fn ends_with(&mut self, last: Last) {
        self.last = last;
    }

    /// Reads one character outside ASCII.
    #[inline(always)]
    pub(in crate::engine) const fn ends_with_character(&mut self, character: &[u8]) {
        if is_wide_space(character) {
            self.space();
        } else if let Some(last) = character.last() {
            self.last = Last::touching(*last);
        }
    }

    /// Reads valid content that ends with an escape, in a string without inner quotes.
    pub(in crate::engine) fn ends_escaped(&mut self, content: &[u8]) {
        let mut rest = content;
        loop {
            rest = match rest {
                [] => break,
                [before @ .., b' '] => before,
                [before @ .., b'\\', b'n' | b'r' | b't'] if ends_whole(before) => before,
                // An escape is neither a letter nor a bracket.
                [before @ .., b'\\', _] | [before @ .., b'\\', b'u', _, _, _, _]
                    if ends_whole(before) =>
                {
                    self.last = Last::touching(b'\\');
                    break;
                }
                [before @ .., _, _, 0x80..=0xff] if is_wide_space(&rest[before.len()..]) => before,
                [before @ .., _, 0x80..=0xff] if is_wide_space(&rest[before.len()..]) => before,
                [.., last] => {
                    self.last = Last::touching(*last);
                    break;
                }
            };
        }
        if rest.len() < content.len() {
            self.space();
            self.last.escaped = !content.ends_with(b" ");
        }
    }

    /// Reads a backslash and the byte after it.
    #[inline]
    pub(in crate::engine) fn escape(&mut self, byte: u8) {
        match byte {
            // These are white space.
            b'n' | b'r' | b't' => (self.last.spaced, self.last.escaped) = (true, true),
            _ if self.open > 0 => self.byte(b'\\'),
            _ => (self.last, self.alone) = (Last::touching(b'\\'), false),
        }
    }

    /// Reads a quote that is part of the string and is followed by `after`.
    pub(in crate::engine) fn quote(&mut self, after: &[u8]) {
        let next = after.first().copied();
        let begins = self.may_begin();
        let opens = match after {
            [] => false,
            // Punctuation follows a quote that opens nothing, such as the one in `5" tall`.
            [b',' | b'.' | b';' | b':' | b'!' | b'?' | b')' | b']' | b'}', ..] => begins,
            [b'\\', b'n' | b'r' | b't', ..] => begins,
            // The sign of inches at the end.
            [b'"', ..] if self.is_after_digit() => false,
            // A blank between quotes.
            [b' ', b'"', ..] => begins,
            [byte, ..] => !byte.is_ascii_whitespace() || begins && !self.last.spaced,
        };
        // A bracket between two quotes is text, but in `"{"a": 1}"` a key follows the second quote.
        let bracket =
            matches!(self.last.byte, b'{' | b'[') && (!self.alone || next.is_some_and(is_word));
        self.pending = None;
        if self.open > 0 {
            self.quoted = !self.quoted;
        } else if bracket {
            (self.open, self.any, self.quoted) = (1, true, true);
        } else {
            self.quoting = !self.is_quoting() && opens;
        }
        (self.last, self.alone) = (Last::touching(b'"'), false);
    }

    fn byte(&mut self, byte: u8) {
        if let Some(pending) = self.pending.take() {
            self.bracket(pending);
        }
        if matches!(byte, b'{' | b'[' | b'}' | b']') {
            if self.quoted && self.last.byte == b'"' {
                self.pending = Some(byte);
            } else {
                self.bracket(byte);
            }
        }
        if byte.is_ascii_whitespace() {
            self.space();
        } else {
            (self.last, self.alone) = (Last::touching(byte), false);
        }
    }

    const fn bracket(&mut self, byte: u8) {
        if matches!(byte, b'{' | b'[') {
            self.open = self.open.saturating_add(1);
        } else {
            self.open = self.open.saturating_sub(1);
        }
    }
}

/// `run` without the white space at its end.
pub(super) fn without_space(run: &[u8]) -> &[u8] {
    let mut text = run.trim_ascii_end();
    loop {
        let wide = |length: &usize| {
            let end = text.len().checked_sub(*length).and_then(|at| text.get(at..));
            end.and_then(wide_space).is_some_and(|(_, wide)| wide == *length)
        };
        match [2, 3].into_iter().find(wide) {
            Some(length) => text = text[..text.len() - length].trim_ascii_end(),
            None => return text,
        }
    }
}

/// Whether a text ends with white space outside ASCII.
#[inline(always)]
pub(in crate::engine) const fn ends_with_wide_space(text: &[u8]) -> bool {
    match text {
        [.., first @ (0xe1..=0xe3 | 0xef), second, third] if may_end_wide_space(*second) => {
            is_wide_space(&[*first, *second, *third])
        }
        [.., 0xc2, second] => is_wide_space(&[0xc2, *second]),
        _ => false,
    }
}

/// Whether such a character may end with this byte and another one.
#[inline(always)]
pub(in crate::engine) const fn may_end_wide_space(byte: u8) -> bool {
    matches!(byte, 0x80 | 0x81 | 0x9a | 0xa0 | 0xbb | 0xc2)
}

/// Whether all of a text is one such character.
const fn is_wide_space(text: &[u8]) -> bool {
    matches!(wide_space(text), Some((_, length)) if length == text.len())
}

/// Whether `content` does not end with a backslash that escapes what follows.
pub(super) fn ends_whole(content: &[u8]) -> bool {
    content.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
}
