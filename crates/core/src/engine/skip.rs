//! Dropping what has no meaning where it is.

use super::{
    Comma, Engine, Expect, Flow, Lex, Source, Step, Stop, Token,
    quote::Quote,
    source::{Edge, Look, is_literal},
    try_peek,
};
use crate::RepairKind;

/// Labels that are no value even if nothing comes between them and the end of the fence.
const LABELS: [&[u8]; 5] = [b"json", b"javascript", b"plaintext", b"python", b"text"];

/// The longest remark in parentheses that is dropped whole, in bytes.
const MAX_REMARK: usize = 128;

impl Engine {
    /// Drops a token that has no meaning here.
    pub(super) fn skip(&mut self, source: &Source<'_>, token: Token) -> Step {
        let at = self.pos;
        let kind = match token {
            Token::Ellipsis => return self.skip_ellipsis(source),
            Token::GroupOpen if self.expect == Expect::MemberEnd => {
                let length = try_peek!(remark(self.look(source, at)), 0);
                let kind =
                    if length > 0 { RepairKind::StrayText } else { RepairKind::DuplicateOpen };
                self.edit(kind, at..at + length.max(1), "")?;
                self.pos += length.max(1);
                return Ok(Flow::Go);
            }
            Token::Fence => {
                // After a document, the line end before a fence is dropped with it.
                let after = self.expect == Expect::After
                    && self.options.trailing_documents() != crate::TrailingDocuments::All
                    && self.gap.start >= self.committed;
                let blank = source.slice(self.gap.start, at).iter().all(|b| b" \t\r\n".contains(b));
                let from = if after && blank { self.gap.start } else { at };
                let value =
                    matches!(self.expect, Expect::MemberValue | Expect::Item | Expect::FirstItem);
                let end =
                    if value { try_peek!(self.label_end(source, at + 3), at + 3) } else { at + 3 };
                self.note_text(source);
                self.edit(RepairKind::CodeFence, from..end, "")?;
                self.pos = end;
                self.document.fenced = self.expect == Expect::After;
                self.outside.text.close_fence(source.slice(at, at + 3));
                self.outside.read = self.pos;
                return Ok(Flow::Go);
            }
            Token::Semicolon if self.expect == Expect::After && self.document.wrapped => {
                RepairKind::CallWrapper
            }
            Token::Semicolon if self.expect == Expect::After => RepairKind::TrailingProse,
            Token::Comma | Token::Semicolon => RepairKind::ExtraComma,
            Token::Colon | Token::Equals => RepairKind::ExtraColon,
            Token::ObjectClose | Token::ArrayClose | Token::GroupClose => RepairKind::ExtraClose,
            Token::ObjectOpen | Token::GroupOpen => RepairKind::DuplicateOpen,
            Token::ArrayOpen
            | Token::Plus
            | Token::Quote
            | Token::Number
            | Token::Word
            | Token::End => RepairKind::StrayText,
        };
        let end = if token == Token::Equals {
            let Some(end) = self.equals_end(source)? else { return Ok(Flow::Wait) };
            end
        } else {
            at + 1
        };
        self.edit(kind, at..end, "")?;
        self.pos = end;
        Ok(Flow::Go)
    }

    /// The end of the label of a fence around a value, as in ```` ```json ````. It is followed by a line
    /// end or a bracket, and by the value: a number, a literal, or the last word before the fence closes
    /// is itself the value.
    fn label_end(&mut self, source: &Source<'_>, at: usize) -> Result<usize, Edge> {
        let mut look = self.look(source, at);
        let mut word = look;
        if !look.peek()?.is_ascii_alphabetic() || is_literal(word.word()?) {
            return Ok(at);
        }
        while look.peek()?.is_ascii_alphanumeric() {
            look.bump();
        }
        let label = look.passed();
        while matches!(look.peek()?, b' ' | b'\t' | b'\r') {
            look.bump();
        }
        let begins = matches!(look.peek()?, b'\n' | b'{' | b'[');
        let named = LABELS.contains(&look.seen().trim_ascii());
        let is_label = begins && (named || look.gap()? != b'`');
        Ok(if is_label { at + label } else { at })
    }

    /// The end of `=`, `=>` or `->`, if all of it has arrived.
    pub(super) fn equals_end(&mut self, source: &Source<'_>) -> Result<Option<usize>, Stop> {
        Ok(match source.byte(self.pos + 1) {
            Some(b'>' | b'=') => Some(self.pos + 2),
            None if !source.is_last() => None,
            _ => Some(self.pos + 1),
        })
    }

    /// Drops an ellipsis.
    pub(super) fn skip_ellipsis(&mut self, source: &Source<'_>) -> Step {
        let mut look = self.look(source, self.pos);
        if look.rest().starts_with("…".as_bytes()) {
            look.advance(3);
        }
        while try_peek!(look.peek(), 0) == b'.' {
            look.bump();
        }
        let end = self.pos + look.passed();
        // The blanks between the comma and the ellipsis are dropped with it.
        let pending = matches!(self.expect, super::Expect::Item | super::Expect::Key);
        let after_comma = self.member.comma.filter(|_| pending).map(Comma::end);
        let blank = |from: &usize| {
            *from < self.pos && source.again(*from, self.pos).iter().all(u8::is_ascii_whitespace)
        };
        let start = after_comma.filter(blank).unwrap_or(self.pos);
        self.script.forget_uncommitted(start);
        self.edit(RepairKind::Ellipsis, start..end, "")?;
        self.pos = end;
        Ok(Flow::Go)
    }

    /// Drops words between members, up to the next separator, quote or line end.
    pub(super) fn stray(&mut self, source: &Source<'_>) -> Step {
        let rest = source.from(self.pos);
        let first = usize::from(self.pos == self.lex_start);
        let mut found = None;
        for (at, byte) in rest.iter().enumerate().skip(first) {
            match byte {
                b',' | b'}' | b']' | b'{' | b'[' | b'"' | b'\n' => found = Some(at),
                0xc2 | 0xe2 | 0xef => {
                    // All of the character has to be there.
                    if rest.len() < at + 3 && !source.is_last() {
                        self.pos += at;
                        self.check_withheld()?;
                        return Ok(Flow::Wait);
                    }
                    found = Quote::of(&rest[at..]).map(|_| at);
                }
                _ => {}
            }
            if found.is_some() {
                break;
            }
        }
        self.pos += found.unwrap_or(rest.len());
        self.check_withheld()?;
        if found.is_none() && !source.is_last() {
            return Ok(Flow::Wait);
        }
        let stray = source.slice(self.lex_start, self.pos);
        let blank = stray.iter().rev().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        let kept = stray.len() - blank;
        self.edit(RepairKind::StrayText, self.lex_start..self.lex_start + kept, "")?;
        self.lex = Lex::None;
        Ok(Flow::Go)
    }
}

/// The length of a remark in parentheses after the value of a member, on its line. A comma in it
/// separates no members. 0 if there is none.
fn remark(mut look: Look<'_>) -> Result<usize, Edge> {
    while look.passed() < MAX_REMARK {
        let byte = look.peek()?;
        look.bump();
        match byte {
            b')' => {
                let length = look.passed();
                let ends = matches!(look.wide_blanks()?, b',' | b';' | b'}' | b'\n' | b'\r');
                return Ok(if ends { length } else { 0 });
            }
            b'\n' | b'"' | b'{' | b'}' | b'[' | b']' | b':' => break,
            _ => {}
        }
    }
    Ok(0)
}
