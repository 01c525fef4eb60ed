//! Strings and keys without quotes.

mod ends;

use super::{
    Engine, Expect, Flow, Lex, OpenString, Source, Step, Stop, Text,
    follows::{at_bullet, ends_in_quote, words_before_item},
    frames::Shape,
    quote::Quote,
    source::{ESCAPE, Edge, colour, wide_sign, wide_space},
    try_peek,
    word::without_json_space,
};
use crate::RepairKind;

/// Quotes that are escaped twice, or written as HTML, and those of East Asia. A string that begins with one
/// of the former has probably lost a level of escapes on its way, and one of the latter may be its
/// delimiter, so that to take it as it is written is a guess.
const FOREIGN_QUOTES: [&[u8]; 5] =
    [br#"\\\""#, b"&quot;", b"&#34;", "「".as_bytes(), "『".as_bytes()];

impl Engine {
    /// A string without quotes begins.
    pub(super) fn open_bare(&mut self, source: &Source<'_>, is_key: bool) -> Step {
        let text = Text::new(Quote::Double, is_key, 0);
        let look = self.look(source, self.pos);
        let mut kind = bare_kind(text);
        for quote in FOREIGN_QUOTES {
            if try_peek!(look.starts_with(quote), false) {
                kind = RepairKind::AmbiguousQuote;
            }
        }
        if !is_key
            && self.frames.top().is_some_and(Shape::is_list)
            && (self.frames.items() > 0 || try_peek!(at_bullet(look), false))
            && let Some(length) = try_peek!(words_before_item(look), None)
        {
            let words = without_json_space(source.slice(self.pos, self.pos + length)).len();
            self.edit(RepairKind::StrayText, self.pos..self.pos + words, "")?;
            self.pos += words;
            return Ok(Flow::Go);
        }
        let half = match is_key || self.document.escaped {
            true => None,
            false => try_peek!(ends_in_quote(look), None),
        };
        if is_key {
            self.begin_key();
        } else {
            self.begin_value();
        }
        self.edit(kind, self.pos..self.pos, "\"")?;
        self.lex_start = self.pos;
        if half.is_some() {
            // From here on, it is like any other string.
            self.string = OpenString::default();
        }
        self.string.tail = None;
        self.lex = Lex::Text(half.map_or(text, |quote| Text::new(quote, false, 1)));
        if !is_key {
            self.commit();
        }
        Ok(Flow::Go)
    }

    /// Inside a string without quotes.
    pub(super) fn bare(&mut self, source: &Source<'_>, text: Text) -> Step {
        let rest = source.from(self.pos);
        let guided = self.options.guide().is_some();
        if guided && matches!(rest.first(), Some(b' ' | b'\t')) && self.word_ended(source, text) {
            let look = self.look(source, self.pos);
            let ends = if text.is_key {
                self.bare_key_ends_at_blank(source, look)
            } else if text.nested == 0 {
                self.bare_ends_at_blank(source, look)
            } else {
                Ok(false)
            };
            if try_peek!(ends, false) {
                // Prose may contain a name and a colon, so this end is a guess. A policy without
                // guesses gets no other reading instead, which would be a guess as well.
                let guess = !text.is_key && self.frames.top() == Some(Shape::Object);
                let kind = if guess { RepairKind::UnterminatedString } else { bare_kind(text) };
                return self.end_bare_by(kind, source, text);
            }
        }
        let plain = |b: &u8| {
            !(*b < 0x20
                || matches!(
                    b,
                    b',' | b'}'
                        | b']'
                        | b'{'
                        | b'['
                        | b'('
                        | b')'
                        | b'"'
                        | b'\\'
                        | b':'
                        | b'/'
                        | b';'
                        | b'`'
                        | b'='
                )
                || *b == b'\'' && text.is_key)
        };
        let sign = |at: usize| {
            let ends = if text.is_key { b':' } else { b',' };
            wide_sign(&rest[at..]).filter(|(sign, _)| *sign == ends)
        };
        // With a guide, read word by word, because the string may end at each blank.
        let blank = rest.iter().take_while(|b| guided && **b == b' ').count();
        let word = rest.iter().enumerate().skip(blank).take_while(|(at, b)| {
            plain(b) && !(guided && **b == b' ') && (b.is_ascii() || sign(*at).is_none())
        });
        let mut run = blank + word.count();
        if run == 0
            && let Some((_, length)) = sign(0)
        {
            // A comma or colon of another script may end the string.
            let may = self.pos > self.lex_start;
            if may && try_peek!(self.wide_sign_ends(source, text, length), false) {
                return self.end_bare(source, text);
            }
            run = length;
        }
        if let Err(error) = core::str::from_utf8(&rest[..run]) {
            if error.valid_up_to() == 0 {
                let arrives = error.error_len().is_none() && run == rest.len() && !source.is_last();
                if !text.is_key && !arrives && self.pos - self.committed > self.window {
                    return self.end_bare(source, text);
                }
                return self.broken_utf8(source, text, error.error_len(), run);
            }
            run = error.valid_up_to();
        }
        if !text.is_key {
            self.check_blanks(&rest[..run])?;
        }
        self.pos += run;
        if text.is_key {
            self.check_withheld()?;
        }
        let blank = run - without_blanks(&rest[..run]);
        if blank < run && !text.is_key {
            self.committed = self.pos - blank;
            self.script.commit();
        }
        let first = self.pos == self.lex_start;
        let Some(&byte) = source.from(self.pos).first() else {
            return if source.is_last() { self.end_bare(source, text) } else { Ok(Flow::Wait) };
        };
        match byte {
            // The character after the run is incomplete or not UTF-8.
            0x80.. => Ok(Flow::Go),
            // The next word may not belong to the string.
            b' ' => Ok(Flow::Go),
            b'\t' if guided && run > 0 => Ok(Flow::Go),
            _ if !text.is_key && self.pos - self.committed > self.window => {
                self.end_bare(source, text)
            }
            b'\\' => {
                let Some(next) = source.byte(self.pos + 1) else {
                    if !source.is_last() {
                        return Ok(Flow::Wait);
                    }
                    self.cut_off()?;
                    return self.cut_off_in_bare(source, text, 1);
                };
                let look = self.look(source, self.pos);
                if self.document.escaped && !first && try_peek!(look.at_escaped_space(), false) {
                    return self.end_bare(source, text);
                }
                let unopened = match text.unopened {
                    Some(known) => known,
                    None => !text.is_key && try_peek!(self.lost_opening_quote(source, text), false),
                };
                let text = Text { unopened: Some(unopened), ..text };
                self.lex = Lex::Text(text);
                match next {
                    b'"' => self.pos += 2,
                    b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' if unopened => self.pos += 2,
                    b'u' if unopened => return self.unicode_escape(source, text, self.pos),
                    _ => {
                        self.edit(RepairKind::BadEscape, self.pos..self.pos, "\\")?;
                        self.pos += 1;
                    }
                }
                self.commit_text(text);
                Ok(Flow::Go)
            }
            b'\n' | b'\r' => {
                // Words on a line of their own between items in quotes may be no item.
                let list = !text.is_key && self.frames.top().is_some_and(Shape::is_list);
                let mut look = self.look(source, self.pos);
                let odd = list && matches!(try_peek!(look.gap(), b','), b'"' | b'{' | b'[');
                let kind = if odd { RepairKind::AmbiguousQuote } else { bare_kind(text) };
                self.end_bare_by(kind, source, text)
            }
            b'\t' => {
                self.edit(RepairKind::UnescapedControl, self.pos..self.pos + 1, "\\t")?;
                self.pos += 1;
                Ok(Flow::Go)
            }
            ESCAPE => {
                let colour = source.look(self.pos, self.window).terminal_colour();
                let length = try_peek!(colour, 1);
                self.edit(RepairKind::OddSpace, self.pos..self.pos + length, "")?;
                self.pos += length;
                Ok(Flow::Go)
            }
            0..=0x1f => {
                self.edit(RepairKind::OddSpace, self.pos..self.pos + 1, "")?;
                self.pos += 1;
                Ok(Flow::Go)
            }
            b'"' => self.quote_in_bare(source, text),
            // `b 'y'`: a key without its colon. In a word it is an apostrophe.
            b'\'' if text.is_key && source.byte(self.pos.wrapping_sub(1)) == Some(b' ') => {
                self.end_bare(source, text)
            }
            b'\'' | b'`' if text.is_key && !first && try_peek!(self.ends_key(source), false) => {
                // Only its opening quote was lost.
                let (at, kind) = (self.pos, RepairKind::UnquotedKey);
                self.edit(kind, at..at + 1, "\"")?;
                self.pos += 1;
                self.bare_closed(source, text, at)
            }
            b'{' | b'[' | b'(' => {
                let text = Text { nested: text.nested.saturating_add(1), ..text };
                self.lex = Lex::Text(text);
                self.keep(text)
            }
            _ if first => self.keep(text),
            b':' | b'=' if text.is_key => self.end_bare(source, text),
            b',' => {
                if text.is_key || self.frames.top() != Some(Shape::Object) && text.nested == 0 {
                    return self.end_bare(source, text);
                }
                let ends = try_peek!(self.comma_ends_bare(source, text, 1), true);
                if ends { self.end_bare(source, text) } else { self.keep(text) }
            }
            b';' => {
                let at = self.pos;
                self.pos += 1;
                let mut look = self.look(source, self.pos);
                let gap = look.space();
                self.pos += look.passed();
                let follows = gap.and_then(|_| self.key_follows(source));
                self.pos = at;
                let ends = try_peek!(follows, false);
                if ends { self.end_bare(source, text) } else { self.keep(text) }
            }
            b'}' | b']' | b')' if text.nested > 0 => {
                self.lex = Lex::Text(Text { nested: text.nested - 1, ..text });
                self.keep(Text { nested: text.nested - 1, ..text })
            }
            b'}' | b']' | b')' => {
                let open = |shape: Shape| match byte {
                    b'}' => shape == Shape::Object,
                    b']' => shape.is_list(),
                    _ => matches!(shape, Shape::Tuple | Shape::Call),
                };
                let ends = text.is_key && byte != b')' || self.frames.above(open).is_some();
                if ends { self.end_bare(source, text) } else { self.keep(text) }
            }
            b'/' => {
                let Some(next) = source.byte(self.pos + 1) else {
                    return if source.is_last() { self.keep(text) } else { Ok(Flow::Wait) };
                };
                let after_space = source.byte(self.pos.wrapping_sub(1)).is_some_and(|b| b == b' ');
                let comment = next == b'*' || next == b'/' && after_space;
                if comment && after_space { self.end_bare(source, text) } else { self.keep(text) }
            }
            b'`' => {
                let fence =
                    try_peek!(source.look(self.pos, self.window).starts_with(b"```"), false);
                if fence { self.end_bare(source, text) } else { self.keep(text) }
            }
            _ => self.keep(text),
        }
    }

    /// Whether a colon follows the quote at `pos`.
    fn ends_key(&mut self, source: &Source<'_>) -> Result<bool, Edge> {
        Ok(self.look(source, self.pos + 1).space()? == b':')
    }

    /// Blanks are withheld until a word follows them. If a run of blanks exceeds the limit, the
    /// engine must stop at the same byte as if they had arrived one by one.
    fn check_blanks(&mut self, run: &[u8]) -> Result<(), Stop> {
        if self.check_withheld_at(self.pos + run.len()).is_ok() {
            return Ok(());
        }
        let (from, mut committed) = (self.pos, self.committed);
        let mut at = 0;
        while at < run.len() {
            let space = wide_space(&run[at..]).map(|(_, length)| length);
            let Some(length) = space.or((run[at] == b' ').then_some(1)) else {
                at += 1;
                committed = from + at;
                continue;
            };
            if committed > self.committed {
                self.committed = committed;
                self.script.commit();
            }
            at += length;
            self.check_withheld_at(from + at)?;
        }
        Ok(())
    }

    /// Takes the byte at `pos` as part of the string.
    fn keep(&mut self, text: Text) -> Step {
        self.pos += 1;
        self.commit_text(text);
        Ok(Flow::Go)
    }

    fn broken_utf8(
        &mut self,
        source: &Source<'_>,
        text: Text,
        bad: Option<usize>,
        run: usize,
    ) -> Step {
        let at = self.pos;
        let bad = match bad {
            Some(bad) => bad,
            None if run < source.from(at).len() => run,
            None if !source.is_last() => return Ok(Flow::Wait),
            None => {
                self.cut_off()?;
                return self.cut_off_in_bare(source, text, run);
            }
        };
        self.edit(RepairKind::InvalidUtf8, at..at + bad, "\u{fffd}")?;
        self.pos += bad;
        self.commit_text(text);
        Ok(Flow::Go)
    }

    /// Drops the `length` bytes at the end of the input, of a character or an escape that was cut off.
    fn cut_off_in_bare(&mut self, source: &Source<'_>, text: Text, length: usize) -> Step {
        let at = self.pos;
        if !text.is_key && !source.again(self.committed, at).is_ascii() {
            // The odd space before it is in the string.
            self.commit_text(text);
        }
        self.edit(RepairKind::CutEscape, at..at + length, "")?;
        self.pos += length;
        Ok(Flow::Go)
    }

    /// A quote in a string without quotes.
    fn quote_in_bare(&mut self, source: &Source<'_>, text: Text) -> Step {
        let at = self.pos;
        let mut look = self.look(source, at + 1);
        let next = try_peek!(look.space(), b'}');
        let closes = if text.is_key { next == b':' } else { matches!(next, b',' | b'}' | b']') };
        if closes && at > self.lex_start {
            // Only its opening quote was lost, so white space before this one was meant.
            self.pos = at + 1;
            return self.bare_closed(source, text, at);
        }
        if !text.is_key && try_peek!(self.key_follows(source), false) && at > self.lex_start {
            return self.end_bare(source, text);
        }
        if text.is_key && at > self.lex_start {
            return self.end_bare(source, text);
        }
        // Text without quotes around it is not often written with quotes in it.
        self.edit(RepairKind::AmbiguousQuote, at..at, "\\")?;
        self.keep(text)
    }

    /// Ends the string before `pos`, without the white space at its end.
    fn end_bare(&mut self, source: &Source<'_>, text: Text) -> Step {
        self.end_bare_by(bare_kind(text), source, text)
    }

    /// Like [`end_bare`](Self::end_bare), with the kind of the repair that adds the closing quote.
    fn end_bare_by(&mut self, kind: RepairKind, source: &Source<'_>, text: Text) -> Step {
        let end = if text.is_key {
            let content = source.again(self.lex_start, self.pos);
            self.lex_start + without_blanks(content)
        } else {
            self.committed
        };
        // White space at the end was read as content, and is not part of the string.
        self.script.forget_controls(end);
        let blank = source.again(end, self.pos);
        if !blank.is_ascii() && is_blank(blank) {
            // What is not JSON's is dropped between tokens.
            self.script.forget_uncommitted(end);
            self.pos = end;
        }
        self.edit(kind, end..end, "\"")?;
        self.bare_closed(source, text, end)
    }

    fn bare_closed(&mut self, source: &Source<'_>, text: Text, end: usize) -> Step {
        self.lex = Lex::None;
        if text.is_key {
            self.frames.set_key(source.slice(self.lex_start, end));
            self.expect = Expect::Colon;
            self.gap.start = end;
            return Ok(Flow::Go);
        }
        let pos = self.pos;
        self.value_ended(source)?;
        self.gap.start = if pos > end { pos.min(end + 1) } else { end };
        if self.gap.start > end && source.byte(end) != Some(b'"') {
            self.gap.start = end;
        }
        Ok(Flow::Go)
    }
}

/// The length of `text` without the white space at its end, JSON's or not.
fn without_blanks(text: &[u8]) -> usize {
    let mut text = text.trim_ascii_end();
    while let Some(at) = (text.len().saturating_sub(3)..text.len())
        .find(|&at| wide_space(&text[at..]).is_some_and(|(_, length)| at + length == text.len()))
    {
        text = text[..at].trim_ascii_end();
    }
    text.len()
}

/// Whether `text` is nothing but white space, JSON's or not, control characters and sequences for a
/// terminal.
fn is_blank(mut text: &[u8]) -> bool {
    while let Some(first) = text.first() {
        let space = wide_space(text).map(|(_, length)| length).or_else(|| colour(text));
        let Some(length) = space.or((*first <= b' ').then_some(1)) else { return false };
        text = &text[length..];
    }
    true
}

/// The repair that adds quotes to a key or a string.
const fn bare_kind(text: Text) -> RepairKind {
    if text.is_key { RepairKind::UnquotedKey } else { RepairKind::UnquotedString }
}
