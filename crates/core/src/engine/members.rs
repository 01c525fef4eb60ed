//! Members and items with a missing separator or bracket: what follows a token decides.

use super::{
    Engine, Flow, Lex, Source, Step,
    follows::{Start, begins_member, member, words_before_separator},
    frames::Shape,
    source::{Edge, is_literal},
    try_peek,
};
use crate::{
    RepairKind,
    grammar::{Expect, Token},
};

impl Engine {
    /// A second opening brace, as in `{{"a": 1}}`.
    pub(super) fn double_open(&mut self) -> Step {
        if self.expect == Expect::Key
            && let Some(comma) = self.member.comma
            && comma.length > 0
            && self.script.is_committed()
            && self.frames.parent().is_some_and(Shape::is_list)
        {
            // `[{"i": 1, {"i": 2}]`: the brace before the comma is missing.
            self.edit(RepairKind::MissingClose, comma.at..comma.at, "}")?;
            self.frames.pop();
            self.committed = self.committed.max(comma.at);
            self.committed_in_string = false;
            self.string.closed = None;
            self.script.commit();
            self.pend_comma(comma, self.script.serial);
            return Ok(Flow::Go);
        }
        // After a member, the brace is not a doubled one: it begins another object, perhaps another
        // record.
        let first = self.expect == Expect::FirstKey;
        let kind = if first { RepairKind::DuplicateOpen } else { RepairKind::InnerBraces };
        self.edit(kind, self.pos..self.pos + 1, "")?;
        self.document.doubtful = true;
        if first && self.frames.len() < 2 * self.options.limits().depth() {
            self.frames.double();
        }
        self.pos += 1;
        Ok(Flow::Go)
    }

    pub(super) fn defer_value(&mut self, source: &Source<'_>, token: Token) -> Step {
        match token {
            Token::ObjectOpen => {
                // `{{name}}` is a placeholder if it contains nothing but a word.
                let mut look = self.look(source, self.pos + 1);
                if try_peek!(look.peek(), 0) == b'{' {
                    look.bump();
                    try_peek!(look.blanks(), 0);
                    let word = try_peek!(look.word(), &[][..]);
                    if !word.is_empty() {
                        while matches!(try_peek!(look.peek(), 0), b' ' | b'.' | b'|' | b'_') {
                            look.bump();
                            try_peek!(look.word(), &[][..]);
                        }
                        if try_peek!(look.starts_with(b"}}"), false) {
                            return self.open_bare(source, false);
                        }
                    }
                }
                self.open(Shape::Object)
            }
            Token::Plus => {
                // `["a", + "b"]`: there is nothing before the plus to join.
                let mut look = self.look(source, self.pos + 1);
                try_peek!(look.gap(), 0);
                if try_peek!(look.at_quote(), false) {
                    return self.skip(source, token);
                }
                self.word(source)
            }
            _ => self.word(source),
        }
    }

    pub(super) fn defer_member_end(&mut self, source: &Source<'_>, token: Token) -> Step {
        match token {
            Token::Plus => self.join(source),
            Token::ObjectOpen if self.frames.parent().is_some_and(Shape::is_list) => {
                // `[{"i": 1{"i": 2}]`: the brace before this one is missing.
                let at = if self.reaches(self.gap.start) { self.gap.start } else { self.pos };
                self.edit(RepairKind::MissingClose, at..at, "}")?;
                self.frames.pop();
                self.commit();
                self.value_ended(source)?;
                Ok(Flow::Go)
            }
            Token::ObjectOpen | Token::ArrayOpen => {
                self.insert_comma()?;
                Ok(Flow::Go)
            }
            _ => {
                let look = self.look(source, self.pos);
                let member = match member(look) {
                    Err(Edge::More) => return Ok(Flow::Wait),
                    Err(_) => true,
                    Ok(Start::Member) => true,
                    Ok(Start::WithoutColon) => token == Token::Quote,
                    Ok(Start::Strings | Start::Other) => false,
                };
                if member {
                    self.document.doubtful |=
                        self.closed.end > 0 && self.closed.end == self.gap.start;
                    self.insert_comma()?;
                    return Ok(Flow::Go);
                }
                if try_peek!(self.declares_member(look), false) {
                    self.insert_comma()?;
                    return Ok(Flow::Go);
                }
                if token == Token::Quote && self.string.closed.is_some_and(|at| self.reaches(at)) {
                    return self.join(source);
                }
                self.lex_start = self.pos;
                self.lex = Lex::Stray;
                Ok(Flow::Go)
            }
        }
    }

    /// A word after an item. Directly after a container, words before a separator are no item that
    /// lacks its comma and its quotes: `[{"a": 1} done, {"a": 2}]`.
    pub(super) fn defer_item_end(&mut self, source: &Source<'_>) -> Step {
        let container = self.closed.end > 0 && self.closed.end == self.gap.start;
        let string = self.string.closed.is_some_and(|closed| closed + 1 == self.gap.start);
        let apart = self.pos > self.gap.start && !self.gap_holds_line_end(source);
        let stray = container || string && apart;
        let look = self.look(source, self.pos);
        // The last words after a string may be an item: `["a", "b" c]`.
        let last = container || source.byte(self.pos) == Some(b'(');
        if stray && try_peek!(words_before_separator(look, last), false) {
            self.lex_start = self.pos;
            self.lex = Lex::Stray;
        } else {
            self.insert_comma()?;
        }
        Ok(Flow::Go)
    }

    /// Joins strings as in `"a" + "b"` or `"a" "b"`, by removing the quotes between them.
    pub(super) fn join(&mut self, source: &Source<'_>) -> Step {
        let at = self.pos;
        let mut look = self.look(source, at);
        let plus = try_peek!(look.peek(), 0) == b'+';
        if plus {
            look.bump();
            try_peek!(look.gap(), 0);
        }
        if let Some(from) = self.string.closed.filter(|&from| self.reaches(from))
            && let Some((quote, length)) = try_peek!(look.quote(), None)
        {
            let after = at + look.passed() + length;
            self.forget(from);
            // On one line, double quotes may be part of the text.
            let line = !plus
                && source.byte(from) == Some(b'"')
                && !source.again(from, at).contains(&b'\n');
            // The join also removes what was dropped between the two.
            let kind = match self.script.dropped_to > from {
                true => RepairKind::StrayText,
                false if line => RepairKind::AmbiguousQuote,
                false => RepairKind::StringConcatenation,
            };
            self.edit(kind, from..after, "")?;
            self.pos = after;
            self.lex_start = after;
            self.string.tail = None;
            self.string.closed = None;
            let text = super::Text::new(quote, false, 1);
            self.lex = Lex::Text(text);
            self.string.inner = super::quotes::Inner::default();
            return Ok(Flow::Go);
        }
        self.lex_start = at;
        self.lex = Lex::Stray;
        self.pos += usize::from(plus);
        Ok(Flow::Go)
    }

    /// Whether the comma after a key was written for a colon, as in `"b", 2, "c": 3`: a value follows
    /// that has no colon after it, and then another member or the end of the object. After the first
    /// key a member must follow, because `{"b", 2}` may be a set.
    pub(super) fn comma_for_colon(&mut self, source: &Source<'_>) -> Result<bool, Edge> {
        let mut look = self.look(source, self.pos + 1);
        if matches!(look.gap()?, b'{' | b'[') {
            return Ok(true);
        }
        let from = look.passed();
        if let Some((quote, length)) = look.quote()? {
            look.advance(length);
            look.through(quote)?;
        } else {
            while matches!(look.peek()?, b'0'..=b'9' | b'-' | b'.') {
                look.bump();
            }
            if look.passed() == from && !is_literal(look.word()?) {
                return Ok(false);
            }
        }
        match look.gap()? {
            b'}' => Ok(self.member.comma.is_some()),
            b',' => {
                look.bump();
                match look.gap()? {
                    b'}' => Ok(self.member.comma.is_some()),
                    _ => begins_member(look),
                }
            }
            _ => Ok(false),
        }
    }
}
