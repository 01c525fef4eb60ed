//! Decides whether a quote ends its string.
//!
//! The decision is made by what follows, never by where a chunk ends. In valid JSON every rule
//! answers [`Verdict::Close`] at the closing quote: that of a value is followed by `,`, `}`, `]` or
//! the end, and that of a key by `:`. The rules doubt a `,` only if no key follows it (in an
//! object), and a `}` or `]` only if what follows cannot continue a container.

mod inner;
mod item;
mod member;
mod rest;

pub(super) use inner::{Inner, Last};
pub(super) use rest::Tried;

use super::{
    Engine, Source, Text,
    frames::Shape,
    quote::Quote,
    source::{Edge, Look, is_literal, is_word},
};

/// How far back to look for the place of a lost quote, in bytes.
const LOOK_BACK: usize = 256;

/// What a quote means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It ends the string, and has this many bytes.
    Close(usize),
    /// It is part of the string.
    Inner,
    /// It opens the next string. The quote that should have ended this one is missing at the
    /// offset.
    LostBefore(usize),
}

impl Engine {
    /// How many quotes open a string. `look` is at the second one.
    pub(super) fn quotes_at_start(
        &mut self,
        mut look: Look<'_>,
        quote: u8,
        is_key: bool,
    ) -> Result<u8, Edge> {
        look.bump();
        let third = look.peek()?;
        if third == quote {
            // `""""` is two empty strings, or four quotes. Three quotes are a delimiter.
            return Ok(if look.peek_at(1)? == quote { 1 } else { 3 });
        }
        if matches!(third, b',' | b':' | b'}' | b']' | b')' | b';' | b'+' | b'=' | b'{' | b'[') {
            return Ok(1);
        }
        if third.is_ascii_whitespace() {
            // `"" key": …`: an empty string would be followed by a delimiter.
            let next = look.space()?;
            if !is_word(next) {
                return Ok(1);
            }
        }
        // `""word""` and `""word":` are doubled; `""word" more"` begins with a quoted word.
        look.string(quote)?;
        let next = look.peek()?;
        if next == quote {
            return Ok(2);
        }
        match look.space()? {
            b':' if is_key => Ok(2),
            b'}' | b']' => {
                look.bump();
                match look.space() {
                    Ok(b',' | b'}' | b']') | Err(Edge::End) => Ok(2),
                    other => other.map(|_| 1),
                }
            }
            b',' => {
                // `""Yes", he said."` is text that begins with a quotation.
                look.bump();
                let object = self.frames.top() == Some(Shape::Object);
                let ends = if object { self.member_begins(look)? } else { !look.words()? };
                Ok(if ends { 2 } else { 1 })
            }
            _ => Ok(1),
        }
    }

    /// Whether a key and a colon follow, or the end of the object.
    fn member_begins(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        if look.gap()? == b'}' {
            return Ok(true);
        }
        match look.quote()? {
            Some((quote, length)) => {
                look.advance(length);
                look.through(quote)?;
            }
            None => _ = look.word()?,
        }
        Ok(look.space()? == b':')
    }

    /// Decides about a quote of `length` bytes at `pos`.
    pub(super) fn judge_quote(
        &mut self,
        source: &Source<'_>,
        text: Text,
        length: usize,
    ) -> Result<Verdict, Edge> {
        let quote = text.quote;
        let mut length = length;
        if text.quotes > 1 {
            // A string in two or three quotes ends with the same number; one in two also with one.
            let one = if quote == Quote::Single { b'\'' } else { b'"' };
            let look = source.look(self.pos, self.window);
            let mut run = 0;
            while run < usize::from(text.quotes) && look.peek_at(run) == Ok(one) {
                run += 1;
            }
            if run < usize::from(text.quotes) {
                look.peek_at(run)
                    .or_else(|edge| if edge == Edge::More { Err(edge) } else { Ok(0) })?;
            }
            if run == usize::from(text.quotes) {
                return Ok(Verdict::Close(run));
            }
            if text.quotes == 3 {
                return Ok(Verdict::Inner);
            }
            length = run;
        }
        let mut look = self.look_after_quote(source, length);
        // The most common cases first.
        let first = look.space();
        let fallback = match first {
            Ok(b',' | b'}' | b']' | b':') | Err(_) => Verdict::Close(length),
            Ok(_) => Verdict::Inner,
        };
        let verdict = match first {
            Err(edge) => Err(edge),
            Ok(next) => self.judge(source, text, look, next, length),
        };
        match verdict {
            Err(Edge::End) if text.is_key && first.is_ok() => Ok(Verdict::Close(length)),
            Err(Edge::End | Edge::Window) => Ok(fallback),
            other => other,
        }
    }

    /// A cursor after a quote of `length` bytes at `pos`. After a longer quote it sees less, so
    /// that no more is withheld because of it.
    fn look_after_quote<'a>(&self, source: &Source<'a>, length: usize) -> Look<'a> {
        let look = source.look(self.pos + length, (self.window + 1).saturating_sub(length));
        look.in_escaped(self.escaped)
    }

    fn judge(
        &mut self,
        source: &Source<'_>,
        text: Text,
        look: Look<'_>,
        next: u8,
        length: usize,
    ) -> Result<Verdict, Edge> {
        let close = Verdict::Close(length);
        let single = text.quote == Quote::Single && !text.is_key;
        if single && look.passed() == 0 && self.inner.is_within_word(next) {
            return Ok(Verdict::Inner);
        }
        let inside = self.inner.is_open() && !text.is_key;
        if inside && (!self.whole || single) {
            return Ok(Verdict::Inner);
        }
        if !(inside || matches!(next, b',' | b'}' | b']' | b':'))
            && let Some(lost) = self.opens_next(source, text, length)?
        {
            return Ok(Verdict::LostBefore(lost));
        }
        if text.is_key {
            return self.judge_key(look, next, text.quote, close);
        }
        match self.frames.top() {
            Some(Shape::Object) => self.judge_member(source, look, next, text.quote, close, length),
            Some(Shape::Array | Shape::Tuple) => self.judge_item(look, next, text.quote, close),
            Some(Shape::Call) if next == b')' => Ok(close),
            Some(Shape::Call | Shape::Doubled) | None => {
                self.judge_root(look, next, text.quote, close)
            }
        }
    }

    /// Whether the quote opens a key, and the quote that ends this string is missing: a comma or a
    /// line end comes before the quote, and a word, a quote and a colon after it.
    fn opens_next(
        &mut self,
        source: &Source<'_>,
        text: Text,
        length: usize,
    ) -> Result<Option<usize>, Edge> {
        // A stream may look back only to the committed position, or the chunks would matter.
        let from = if self.whole { self.lex_start } else { self.lex_start.max(self.committed) };
        let content = source.slice(from.max(self.pos.saturating_sub(LOOK_BACK)), self.pos);
        let trimmed = content.len()
            - content.iter().rev().take(64).take_while(|b| b.is_ascii_whitespace()).count();
        let broken = content[trimmed..].contains(&b'\n');
        let comma = trimmed > 0 && content[trimmed - 1] == b',';
        if self.frames.top() != Some(Shape::Object) {
            if !comma || !self.frames.top().is_some_and(Shape::is_list) {
                return Ok(None);
            }
            // In an array: `["a", "b, "c"]`. The word after the quote must end as an item does.
            let mut look = self.look_after_quote(source, length);
            let opened = content.iter().filter(|b| matches!(b, b'(' | b'[' | b'{')).count();
            let closed = content.iter().filter(|b| matches!(b, b')' | b']' | b'}')).count();
            let code = self.inner_quotes > 0 || content.contains(&b'"') || opened > closed;
            if !is_word(look.peek()?) || code {
                return Ok(None);
            }
            while is_word(look.peek()?) || look.peek()? == b' ' {
                look.bump();
            }
            if look.closer(text.quote)?.is_none() {
                return Ok(None);
            }
            look.bump();
            let lost = self.pos - (content.len() - trimmed) - 1;
            let follows = match look.space()? {
                b',' => {
                    look.bump();
                    !look.words()?
                }
                after => after == b']',
            };
            return Ok(follows.then_some(lost));
        }
        let lost_key = text.is_key && content.contains(&b':');
        let colon = trimmed > 0 && content[trimmed - 1] == b':';
        if !text.is_key && colon && self.whole {
            return Ok(self.bare_member_before(content, trimmed));
        }
        if text.is_key && colon {
            // `{"key: "value"`: the quote directly before a word opens the value.
            let touched = self.look_after_quote(source, length).peek()?;
            let name = content[..trimmed - 1].trim_ascii_end();
            let before = self.pos - content.len() + name.len();
            return Ok((is_word(touched) && !name.is_empty()).then_some(before));
        }
        // After a bracket, the key belongs to an object in the string.
        let inside = matches!(content[..trimmed], [.., b'{' | b'[']);
        if !(comma || broken) || inside || (text.is_key && !lost_key) {
            return Ok(None);
        }
        let mut look = self.look_after_quote(source, length);
        let key = source.look(self.pos, self.window);
        if !self.reads_key(&mut look, text.quote)? {
            return Ok(None);
        }
        if self.inner_quotes > 0 {
            look.bump();
            if look.words()? || self.forbids_member(key)? {
                return Ok(None);
            }
        }
        let before = self.pos - content.len();
        if text.is_key {
            let colon = content.iter().position(|&b| b == b':').unwrap_or(0);
            let word = content[..colon].trim_ascii_end().len();
            return Ok((word > 0).then_some(before + word));
        }
        let kept = if comma { trimmed - 1 } else { trimmed };
        Ok(Some(before + kept))
    }

    /// In `"first, b: "second"` the string ended before the comma. `content` ends with the colon.
    fn bare_member_before(&self, content: &[u8], trimmed: usize) -> Option<usize> {
        let head = content[..trimmed - 1].trim_ascii_end();
        let word = head.iter().rev().take_while(|b| is_word(**b)).count();
        let comma = head[..head.len() - word].trim_ascii_end();
        let lost = self.pos - content.len() + comma.len().checked_sub(1)?;
        (word > 0 && word < 40 && comma.ends_with(b",") && !content.contains(&b'"')).then_some(lost)
    }

    /// Whether `look` is at the rest of a key: a word, a closing quote, and a colon.
    pub(super) fn reads_key(&mut self, look: &mut Look<'_>, quote: Quote) -> Result<bool, Edge> {
        let first = look.peek()?;
        if matches!(first, b',' | b'}' | b']' | b':') || first.is_ascii_whitespace() {
            return Ok(false);
        }
        let from = look.passed();
        loop {
            let byte = look.peek()?;
            if byte == b'\n' || byte == b'\\' || look.passed() - from > 64 {
                return Ok(false);
            }
            if let Some(length) = look.closer(quote)? {
                look.advance(length);
                break;
            }
            look.bump();
        }
        Ok(look.space()? == b':')
    }

    /// Whether a quote directly before `look` begins a quotation, for which another quote must
    /// follow.
    fn begins_quotation(&mut self, mut look: Look<'_>, quote: Quote) -> Result<bool, Edge> {
        if !self.inner.may_begin() {
            return Ok(false);
        }
        if let Some(length) = look.closer(quote)?
            && is_word(look.peek_at(length)?)
        {
            // `["Note:""b"]`: the second quote begins the next item.
            return Ok(false);
        }
        match look.through(quote) {
            Err(Edge::End) => Ok(false),
            passed => passed.map(|()| true),
        }
    }

    /// Whether a single quote after `bracket`, a bracket of the text, begins its first key or item.
    /// `look` is after the quote.
    pub(super) fn opens_in_text(&mut self, mut look: Look<'_>, bracket: u8) -> Result<bool, Edge> {
        let word = is_word(look.peek()?);
        look.through(Quote::Single)?;
        let next = look.space()?;
        Ok(if bracket == b'{' { next == b':' } else { word && matches!(next, b',' | b']') })
    }

    /// Decides about a quote in a key.
    fn judge_key(
        &mut self,
        mut look: Look<'_>,
        next: u8,
        quote: Quote,
        close: Verdict,
    ) -> Result<Verdict, Edge> {
        match next {
            b':' | b'=' | b',' | b'}' | b'{' | b'[' | b'-' | b'0'..=b'9' => return Ok(close),
            _ if look.at_quote()? => {
                // In `{"a "b"": 1}` the second quote ends the key. In `{"a"": 1}` it is one too
                // many.
                let Some(second) = look.closer(quote)? else { return Ok(close) };
                let touching = look.passed() == 0;
                look.advance(second);
                return Ok(match (touching && look.space()? == b':', close) {
                    (true, _) if self.inner_quotes > 0 => Verdict::Inner,
                    (true, Verdict::Close(first)) => Verdict::Close(first + second),
                    _ => close,
                });
            }
            _ => {}
        }
        // Before a word, this is an inner quote if the key's real end, with its colon, is on this
        // line.
        let mut probe = look;
        let word = probe.word()?;
        if is_literal(word) {
            return Ok(close);
        }
        loop {
            let byte = look.peek()?;
            if matches!(byte, b'\n' | b',' | b'{' | b'}' | b'[' | b']') {
                return Ok(close);
            }
            if let Some(length) = look.closer(quote)? {
                look.advance(length);
                let after = look.space()?;
                if after == b':' {
                    return Ok(Verdict::Inner);
                }
                continue;
            }
            look.bump();
        }
    }

    /// Whether a comment follows a quote, and not more of the string. Unless it is a block comment,
    /// there must be white space before it. Its line must contain no further quote, or else pairs
    /// of them, and the next line must begin with a closer, a comma or a string.
    pub(super) fn comment_follows(
        &mut self,
        mut look: Look<'_>,
        quote: Quote,
    ) -> Result<bool, Edge> {
        let touching = look.passed() == 0;
        let (block, mark) = match (look.peek()?, look.peek_at(1)) {
            (b'#', _) => (false, 1),
            (_, Ok(b'/')) => (false, 2),
            (_, Ok(b'*')) => (true, 2),
            (_, Err(Edge::More)) => return Err(Edge::More),
            _ => return Ok(false),
        };
        if block {
            return Ok(true);
        }
        if touching {
            return Ok(false);
        }
        look.advance(mark);
        let mut quotes = 0;
        loop {
            match look.peek() {
                Ok(b'\n') if quotes > 0 => break,
                Err(Edge::End) if quotes > 0 => return Ok(false),
                Ok(b'\n') | Err(Edge::End) => return Ok(true),
                Err(edge) => return Err(edge),
                Ok(_) => {}
            }
            if let Some(length) = look.closer(quote)? {
                quotes += 1;
                look.advance(length);
            } else {
                look.bump();
            }
        }
        let next = look.space()?;
        Ok(quotes % 2 == 0 && (matches!(next, b'}' | b']' | b',') || look.at_quote()?))
    }

    /// Decides about a quote in a string that is the whole document.
    fn judge_root(
        &mut self,
        mut look: Look<'_>,
        next: u8,
        quote: Quote,
        close: Verdict,
    ) -> Result<Verdict, Edge> {
        let separates =
            matches!(next, b'+' | b',' | b':' | b';' | b'/' | b'#' | b'{' | b'[' | b'`');
        if separates || look.is_broken() || look.closer(quote)?.is_some() {
            return Ok(close);
        }
        loop {
            match look.peek() {
                Ok(b'\n') | Err(Edge::End | Edge::Window) => return Ok(close),
                Err(Edge::More) => return Err(Edge::More),
                Ok(_) => {}
            }
            if look.closer(quote)?.is_some() {
                return Ok(Verdict::Inner);
            }
            look.bump();
        }
    }
}
