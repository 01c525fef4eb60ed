//! Words: literals, calls, strings and keys without quotes, and text that is no JSON.

use super::{
    Engine, Expect, Flow, Lex, Source, Step, Text, Token,
    frames::Shape,
    look,
    source::{Edge, Look, is_word},
    strings::Quote,
};
use crate::RepairKind;

/// What a literal of another language, or a cut one, stands for.
fn literal(word: &[u8], ended: bool) -> Option<(Option<RepairKind>, &'static str)> {
    const JSON: [&str; 3] = ["true", "false", "null"];
    if let Some(exact) = JSON.into_iter().find(|json| json.as_bytes() == word) {
        return Some((None, exact));
    }
    match word {
        b"True" => return Some((Some(RepairKind::PythonLiteral), "true")),
        b"False" => return Some((Some(RepairKind::PythonLiteral), "false")),
        b"None" => return Some((Some(RepairKind::PythonLiteral), "null")),
        b"undefined" => return Some((Some(RepairKind::Undefined), "null")),
        b"NaN" | b"nan" | b"Infinity" | b"-Infinity" | b"inf" | b"-inf" => {
            return Some((Some(RepairKind::NonFinite), "null"));
        }
        _ => {}
    }
    if let Some(json) = JSON.into_iter().find(|json| json.as_bytes().eq_ignore_ascii_case(word)) {
        return Some((Some(RepairKind::LiteralCase), json));
    }
    if ended && !word.is_empty() {
        for (whole, json) in [
            ("true", "true"),
            ("false", "false"),
            ("null", "null"),
            ("True", "true"),
            ("False", "false"),
            ("None", "null"),
        ] {
            if whole.as_bytes().starts_with(word) {
                return Some((Some(RepairKind::CutLiteral), json));
            }
        }
    }
    None
}

impl Engine {
    /// A word where a value may stand.
    pub(super) fn word(&mut self, source: &Source<'_>) -> Step {
        let at = self.pos;
        let root = self.frames.len() == 0;
        let mut look = self.look(source, at);
        let (word, ended) = match look.word() {
            Ok(word) => (word, false),
            Err(Edge::More) => return Ok(Flow::Wait),
            Err(Edge::End) => (look.rest_from_start(), true),
            Err(Edge::Window) => (&[][..], false),
        };
        self.steps += word.len() as u64;
        let next = if ended { b' ' } else { look.peek().unwrap_or(b' ') };
        let closes = next.is_ascii_whitespace()
            || matches!(
                next,
                b',' | b'}' | b']' | b')' | b':' | b';' | b'/' | b'#' | b'"' | b'`' | b'{' | b'['
            );
        if !word.is_empty()
            && closes
            && let Some((kind, after)) = literal(word, ended)
        {
            if !ended && look!(self.goes_on_as_text(look), false) {
                return self.open_bare(source, false);
            }
            if root && !ended && !look!(self.stands_alone(look), true) {
                return self.not_a_document();
            }
            self.begin_value();
            if let Some(kind) = kind {
                if kind == RepairKind::CutLiteral {
                    self.cut_off()?;
                }
                self.edit(kind, at..at + word.len(), after)?;
            }
            self.pos += word.len();
            self.value_ended(source)?;
            self.settle();
            return Ok(Flow::Go);
        }
        let mut next = next;
        if root && next == b' ' && !ended && !word.is_empty() {
            next = look!(look.blanks(), 0);
        }
        if word == b"new" && next == b' ' && !ended {
            // `new Date(…)`.
            let mut name = look;
            look!(name.blanks(), 0);
            if look!(name.word(), b"") != b"" && look!(name.peek(), 0) == b'(' {
                (look, next) = (name, b'(');
            }
        }
        if next == b'(' && !word.is_empty() && !word[0].is_ascii_digit() {
            let mut inside = look;
            inside.bump();
            let first = look!(inside.gap(), 0);
            if !root && !look!(self.holds_one_value(inside), true) {
                return self.open_bare(source, false);
            }
            let value = matches!(first, b'{' | b'[')
                || !root
                    && (first == b')'
                        || first.is_ascii_digit()
                        || first == b'-'
                        || look!(inside.at_quote(), false));
            if value {
                return self.open_call(at, look.passed() + 1);
            }
        }
        if root { self.not_a_document() } else { self.open_bare(source, false) }
    }

    /// Whether one scalar, or a container, stands in the parentheses that `look` is in.
    fn holds_one_value(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        if let Some((quote, length)) = look.quote()? {
            look.advance(length);
            look.through(quote)?;
        } else if matches!(look.peek()?, b'{' | b'[') {
            return Ok(true);
        } else {
            while !matches!(look.peek()?, b',' | b')' | b'}' | b']' | b'\n') {
                look.bump();
            }
        }
        self.steps += look.passed() as u64;
        Ok(look.space()? == b')')
    }

    /// `name(` around a value.
    fn open_call(&mut self, at: usize, length: usize) -> Step {
        self.edit(RepairKind::CallWrapper, at..at + length, "")?;
        self.pos = at + length - 1;
        let root = self.frames.len() == 0;
        let flow = self.open(Shape::Call)?;
        if root {
            // The document begins with the name.
            self.document_start = at;
        }
        Ok(flow)
    }

    /// A word where a key may stand.
    pub(super) fn word_as_key(&mut self, source: &Source<'_>) -> Step {
        // `oops "key": 1`: the word is none of the key.
        let mut look = self.look(source, self.pos);
        let word = look!(look.word(), &[][..]);
        if !word.is_empty() && look!(look.blanks(), b':') == b'"' && look.seen().ends_with(b" ") {
            let at = self.pos;
            self.pos = at + look.passed();
            let key = self.key_follows(source);
            self.pos = at;
            if look!(key, false) {
                self.lex_start = at;
                self.lex = Lex::Stray;
                return Ok(Flow::Go);
            }
        }
        self.open_bare(source, true)
    }

    /// A string without quotes begins.
    pub(super) fn open_bare(&mut self, _: &Source<'_>, is_key: bool) -> Step {
        let kind = if is_key { RepairKind::UnquotedKey } else { RepairKind::UnquotedString };
        if is_key {
            self.begin_key();
        } else {
            self.begin_value();
        }
        self.edit(kind, self.pos..self.pos, "\"")?;
        self.lex_start = self.pos;
        self.tail = None;
        self.lex =
            Lex::Text(Text { quote: Quote::Double, is_key, quotes: 0, nested: 0, embedded: 0 });
        if !is_key {
            self.settle();
        }
        Ok(Flow::Go)
    }

    /// Inside a string without quotes.
    pub(super) fn bare(&mut self, source: &Source<'_>, text: Text) -> Step {
        let rest = source.from(self.pos);
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
                ))
        };
        let mut run = rest.iter().take_while(|b| plain(b)).count();
        if let Err(error) = core::str::from_utf8(&rest[..run]) {
            if error.valid_up_to() == 0 {
                let arrives = error.error_len().is_none() && run == rest.len() && !source.is_last();
                if !text.is_key && !arrives && self.pos - self.mark > self.window {
                    return self.end_bare(source, text);
                }
                return self.broken_utf8(source, text, error.error_len(), run);
            }
            run = error.valid_up_to();
        }
        self.pos += run;
        if text.is_key {
            self.check_held()?;
        }
        let blank = rest[..run].iter().rev().take_while(|b| **b == b' ').count();
        if blank < run && !text.is_key {
            self.mark = self.pos - blank;
            self.firm = self.edits.len();
        }
        let first = self.pos == self.lex_start;
        let Some(&byte) = source.from(self.pos).first() else {
            return if source.is_last() { self.end_bare(source, text) } else { Ok(Flow::Wait) };
        };
        match byte {
            // The character behind the run is not whole, or not UTF-8.
            0x80.. => Ok(Flow::Go),
            _ if !text.is_key && self.pos - self.mark > self.window => self.end_bare(source, text),
            b'\\' => {
                let Some(next) = source.byte(self.pos + 1) else {
                    if !source.is_last() {
                        return Ok(Flow::Wait);
                    }
                    self.cut_off()?;
                    self.edit(RepairKind::CutEscape, self.pos..self.pos + 1, "")?;
                    self.pos += 1;
                    return Ok(Flow::Go);
                };
                if next == b'"' {
                    self.pos += 2;
                } else {
                    self.edit(RepairKind::BadEscape, self.pos..self.pos, "\\")?;
                    self.pos += 1;
                }
                self.settle_text(text);
                Ok(Flow::Go)
            }
            b'\n' | b'\r' => self.end_bare(source, text),
            b'\t' => {
                self.edit(RepairKind::UnescapedControl, self.pos..self.pos + 1, "\\t")?;
                self.pos += 1;
                Ok(Flow::Go)
            }
            0..=0x1f => {
                self.edit(RepairKind::OddSpace, self.pos..self.pos + 1, "")?;
                self.pos += 1;
                Ok(Flow::Go)
            }
            b'"' => self.quote_in_bare(source, text),
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
                let ends = look!(self.comma_ends_bare(source, text), true);
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
                let ends = look!(follows, false);
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
                let behind_space = source.byte(self.pos.wrapping_sub(1)).is_some_and(|b| b == b' ');
                let comment = next == b'*' || next == b'/' && behind_space;
                if comment && behind_space { self.end_bare(source, text) } else { self.keep(text) }
            }
            b'`' => {
                let fence = look!(source.look(self.pos, self.window).starts_with(b"```"), false);
                if fence { self.end_bare(source, text) } else { self.keep(text) }
            }
            _ => self.keep(text),
        }
    }

    /// The byte at `pos` belongs to the string.
    fn keep(&mut self, text: Text) -> Step {
        self.pos += 1;
        self.settle_text(text);
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
                self.edit(RepairKind::CutEscape, at..at + run, "")?;
                self.pos += run;
                return Ok(Flow::Go);
            }
        };
        self.edit(RepairKind::InvalidUtf8, at..at + bad, "\u{fffd}")?;
        self.pos += bad;
        self.settle_text(text);
        Ok(Flow::Go)
    }

    /// A comma behind a bare value of an object: does another member, or nothing, follow it?
    fn comma_ends_bare(&mut self, source: &Source<'_>, text: Text) -> Result<bool, Edge> {
        let at = self.pos;
        let mut look = source.look(at + 1, self.window);
        let next = look.gap()?;
        if matches!(next, b'}' | b']' | b',' | b'.') {
            return Ok(true);
        }
        if text.nested == 0 && look.at_quote()? {
            return Ok(true);
        }
        self.pos = at + 1 + look.passed();
        let follows = self.key_follows(source);
        self.pos = at;
        follows
    }

    /// A quote in a string without quotes.
    fn quote_in_bare(&mut self, source: &Source<'_>, text: Text) -> Step {
        let at = self.pos;
        let mut look = self.look(source, at + 1);
        let next = look!(look.space(), b'}');
        let closes = if text.is_key { next == b':' } else { matches!(next, b',' | b'}' | b']') };
        if closes && at > self.lex_start {
            // It lost its opening quote only; white space before it was meant.
            self.pos = at + 1;
            return self.bare_closed(source, text, at);
        }
        if !text.is_key && look!(self.key_follows(source), false) && at > self.lex_start {
            return self.end_bare(source, text);
        }
        if text.is_key && at > self.lex_start {
            return self.end_bare(source, text);
        }
        self.edit(RepairKind::UnescapedQuote, at..at, "\\")?;
        self.keep(text)
    }

    /// The string ends before `pos`; white space at its end is none of it.
    fn end_bare(&mut self, source: &Source<'_>, text: Text) -> Step {
        let end = if text.is_key {
            let content = source.slice(self.lex_start, self.pos);
            self.lex_start + content.trim_ascii_end().len()
        } else {
            self.mark
        };
        // White space at the end was taken for content: it is none.
        let (firm, mut at) = (self.firm, 0);
        let before = self.edits.len();
        self.edits.retain(|edit| {
            at += 1;
            at <= firm || edit.start() < end || !edit.is_control()
        });
        self.recorded -= before - self.edits.len();
        let kind = if text.is_key { RepairKind::UnquotedKey } else { RepairKind::UnquotedString };
        self.edit(kind, end..end, "\"")?;
        self.bare_closed(source, text, end)
    }

    fn bare_closed(&mut self, source: &Source<'_>, text: Text, end: usize) -> Step {
        self.lex = Lex::None;
        if text.is_key {
            self.frames.set_key(source.slice(self.lex_start, end));
            self.expect = Expect::Colon;
            self.anchor = end;
            return Ok(Flow::Go);
        }
        let pos = self.pos;
        self.value_ended(source)?;
        self.anchor = if pos > end { pos.min(end + 1) } else { end };
        if self.anchor > end && source.byte(end) != Some(b'"') {
            self.anchor = end;
        }
        Ok(Flow::Go)
    }

    /// What begins here is no document.
    pub(super) fn not_a_document(&mut self) -> Step {
        self.lex_start = self.pos;
        self.lex = Lex::Prose;
        Ok(Flow::Go)
    }

    pub(super) fn defer_document(&mut self, source: &Source<'_>, token: Token) -> Step {
        match token {
            Token::Word => self.word(source),
            Token::Fence => {
                let mut look = self.look(source, self.pos);
                look.advance(3);
                look!(look.word(), &[][..]);
                let next = look!(look.blanks(), b'\n');
                if matches!(next, b'\n' | b'\r' | b'{' | b'[' | b'"') {
                    // The line end belongs to the fence.
                    if next == b'\r' {
                        look.bump();
                    }
                    if look!(look.peek(), 0) == b'\n' {
                        look.bump();
                    }
                    let end = self.pos + look.passed();
                    self.edit(RepairKind::CodeFence, self.pos..end, "")?;
                    self.pos = end;
                    return Ok(Flow::Go);
                }
                self.not_a_document()
            }
            Token::GroupOpen => {
                let mut look = self.look(source, self.pos + 1);
                let next = look!(look.gap(), 0);
                let list = match next {
                    b'(' | b'[' | b'{' => true,
                    b'0'..=b'9' | b'-' => {
                        while matches!(look!(look.peek(), 0), b'0'..=b'9' | b'.' | b'-') {
                            look.bump();
                        }
                        let behind = look!(look.gap(), b')');
                        look.bump();
                        behind == b',' || behind == b')' && look!(look.gap(), 0) == 0
                    }
                    _ => look!(look.at_quote(), false),
                };
                if list { self.open(Shape::Tuple) } else { self.not_a_document() }
            }
            _ => self.not_a_document(),
        }
    }

    /// In text before a document: looks for a bracket that begins one.
    pub(super) fn prose(&mut self, source: &Source<'_>) -> Step {
        let rest = source.from(self.pos);
        let run = rest.iter().take_while(|b| !matches!(b, b'{' | b'[')).count();
        self.pos += run;
        self.check_held()?;
        let look = self.look(source, self.pos);
        if source.byte(self.pos).is_none() {
            if !source.is_last() {
                return Ok(Flow::Wait);
            }
            return self.end_of_prose();
        }
        if look!(self.begins_document(look), false) {
            self.edit(RepairKind::LeadingProse, self.lex_start..self.pos, "")?;
            self.lex = Lex::None;
        } else {
            self.pos += 1;
        }
        Ok(Flow::Go)
    }

    /// Whether a bracket in text begins a document.
    fn begins_document(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        self.steps += 8;
        let open = look.peek()?;
        look.bump();
        let next = look.gap()?;
        if open == b'[' {
            if look.at_quote()? || matches!(next, b'{' | b'[' | b'-') {
                return Ok(true);
            }
            if next.is_ascii_digit() {
                // `[3]` is a citation; `[3, 4` is a list.
                while matches!(look.peek()?, b'0'..=b'9' | b'.' | b'e' | b'-') {
                    look.bump();
                }
                return Ok(look.space()? == b',');
            }
            let word = look.word()?;
            return Ok(literal(word, false).is_some() && matches!(look.space()?, b',' | b']'));
        }
        if next == b'}' || next == b'{' || next == b'\\' {
            return Ok(next != b'{' || !look.peek_at(1)?.is_ascii_alphabetic());
        }
        if look.at_quote()? {
            return Ok(true);
        }
        let word = look.word()?;
        if word.is_empty() || look.blanks()? != b':' {
            return Ok(false);
        }
        look.bump();
        let value = look.blanks()?;
        Ok(look.at_quote()?
            || matches!(value, b'{' | b'[' | b'-' | b'0'..=b'9')
            || literal(look.word().unwrap_or_default(), false).is_some()
            || (is_word(value) && look.blanks()? == b','))
    }
}
