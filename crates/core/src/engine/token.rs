//! What the next byte begins; white space and comments.

use super::{
    Comment, Engine, Expect, Flow, Lex, Source, Step, Stop, Token, look, quote::Quote, source::Edge,
};
use crate::{RepairKind, scan};

impl Engine {
    /// Passes white space of every kind, and opens comments. `Ok(None)`: a token follows.
    pub(super) fn gap(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        let rest = source.text();
        let end = source.base() + scan::skip_space(rest, self.pos - source.base());
        self.steps += (end - self.pos) as u64;
        self.pos = end;
        self.release_space()?;
        self.check_held()?;
        let Some(byte) = source.byte(self.pos) else { return Ok(None) };
        match byte {
            // Where quotes were in doubt, it may be code that belongs to the document.
            b'/' | b'#' if self.is_tail_in_doubt() => Ok(None),
            b'/' => match source.byte(self.pos + 1) {
                Some(b'/') => Ok(Some(self.open_comment(Comment::Line))),
                Some(b'*') => Ok(Some(self.open_comment(Comment::Block))),
                None if !source.is_last() => Ok(Some(Flow::Wait)),
                _ => Ok(None),
            },
            b'#' if self.is_comment_here() => Ok(Some(self.open_comment(Comment::Line))),
            b'#' => match source.byte(self.pos + 1) {
                Some(b' ' | b'#' | b'!' | b'\t') => Ok(Some(self.open_comment(Comment::Line))),
                None if !source.is_last() => Ok(Some(Flow::Wait)),
                _ => Ok(None),
            },
            b'<' => match source.look(self.pos, 8).starts_with(b"<!--") {
                Ok(true) => Ok(Some(self.open_comment(Comment::Markup))),
                Err(Edge::More) => Ok(Some(Flow::Wait)),
                _ => Ok(None),
            },
            b'\\' => self.escaped_space(source),
            0..=0x1f | 0x7f => self.odd_space(1, ""),
            0xc2 | 0xe1..=0xe3 | 0xef => match self.wide_sign(source)? {
                None => self.wide_space(source),
                sign => Ok(sign),
            },
            0xd8 => self.wide_sign(source),
            _ => Ok(None),
        }
    }

    /// A comma or colon of another script, where one may stand.
    fn wide_sign(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        let at = self.pos;
        let sign = match source.look(at, self.window).wide_sign() {
            Err(_) => return Ok(Some(Flow::Wait)),
            Ok(sign) => sign,
        };
        match (self.expect, sign) {
            (
                Expect::FirstItem | Expect::Item | Expect::FirstKey | Expect::Key,
                Some((b',', length)),
            ) => {
                self.edit(RepairKind::ExtraComma, at..at + length, "")?;
                self.pos += length;
            }
            (Expect::Colon | Expect::MemberValue, Some((b',', _))) => {
                self.insert_value(Token::Comma)?;
            }
            (Expect::MemberValue, Some((b':', length))) => {
                self.edit(RepairKind::ExtraColon, at..at + length, "")?;
                self.pos += length;
            }
            (Expect::ItemEnd | Expect::MemberEnd, Some((b',', length))) => {
                match self.separates(source, at, length) {
                    Err(Edge::More) => return Ok(Some(Flow::Wait)),
                    Ok(false) => return Ok(None),
                    _ => {}
                }
                let edits = self.serial;
                self.edit(RepairKind::MissingComma, at..at + length, ",")?;
                self.pos += length;
                self.pend_comma(at, edits, length);
            }
            (Expect::Colon, Some((b':', length))) => {
                self.edit(RepairKind::MissingColon, at..at + length, ":")?;
                self.pos += length;
                self.expect = Expect::MemberValue;
            }
            _ => return Ok(None),
        }
        Ok(Some(Flow::Go))
    }

    /// Whether what stands behind the document may belong to it, as quotes in it were in doubt.
    fn is_tail_in_doubt(&self) -> bool {
        self.expect == Expect::After && self.unescaped > 0 && !self.fenced
    }

    /// Where a value may stand, `#` may begin one (`#fff`); elsewhere it begins a comment.
    fn is_comment_here(&self) -> bool {
        use super::Expect as E;
        matches!(
            self.expect,
            E::ItemEnd | E::MemberEnd | E::FirstKey | E::Key | E::Colon | E::After
        )
    }

    /// A long run of white space behind a bracket or a value is let go. What was held before that
    /// counts, whether the run came at once or not.
    fn release_space(&mut self) -> Result<(), Stop> {
        use super::Expect as E;
        let waits = matches!(
            self.expect,
            E::FirstItem
                | E::FirstKey
                | E::ItemEnd
                | E::MemberEnd
                | E::CallEnd
                | E::DoubledEnd
                | E::After
        );
        if waits && self.pos - self.anchor > self.window && self.firm == self.edits.len() {
            self.held_at(self.anchor + self.window)?;
            self.settle_content();
        }
        Ok(())
    }

    fn open_comment(&mut self, comment: Comment) -> Flow {
        self.lex_start = self.pos;
        self.pos += if comment == Comment::Markup { 4 } else { 1 };
        if comment == Comment::Block {
            self.pos += 1;
        }
        self.lex = Lex::Comment(comment);
        Flow::Go
    }

    /// Inside a comment.
    pub(super) fn comment(&mut self, source: &Source<'_>, comment: Comment) -> Step {
        if self.whole
            && comment == Comment::Line
            && self.frames.len() > 0
            && let Some(end) = self.end_of_last_line(source)
        {
            return self.last_remark(source, end);
        }
        let rest = source.from(self.pos);
        let (mark, found) = match comment {
            Comment::Line => (0, rest.iter().position(|&b| b == b'\n' || b == b'\r')),
            Comment::Block => (2, rest.windows(2).position(|w| w == b"*/")),
            Comment::Markup => (3, rest.windows(3).position(|w| w == b"-->")),
        };
        let end = match found {
            Some(at) => self.pos + at + mark,
            None if source.is_last() => source.end(),
            None => {
                self.pos += rest.len().saturating_sub(mark.max(1) - 1);
                return Ok(Flow::Wait);
            }
        };
        self.end_comment(RepairKind::Comment, end)
    }

    /// Whole text only: where the line at `pos` ends, if it is the last one that is not blank.
    fn end_of_last_line(&mut self, source: &Source<'_>) -> Option<usize> {
        if self.last_line.is_none_or(|(from, _)| self.pos < from) {
            let rest = source.from(self.pos);
            let line = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
            let blank = rest[line..].iter().take_while(|b| b.is_ascii_whitespace()).count();
            self.steps += (line + blank) as u64;
            if line + blank < rest.len() {
                return None;
            }
            // Comments that end before their line does must not look for its end again and again.
            self.last_line = Some((self.pos, self.pos + line));
        }
        self.last_line.map(|(_, end)| end)
    }

    /// A comment on the last line: a closer in it is the document's, unless it is only a remark.
    fn last_remark(&mut self, source: &Source<'_>, line_end: usize) -> Step {
        let line = source.slice(self.pos, line_end);
        let Some(closer) = line.iter().position(|b| matches!(b, b'}' | b']')) else {
            return self.end_comment(RepairKind::Comment, line_end.max(self.pos));
        };
        let end = self.pos + closer;
        let remark = source.slice(self.lex_start, end);
        // Members that stand on its line go with it.
        let members = remark.iter().any(|b| matches!(b, b'"' | b',' | b':'));
        let kind = if members { RepairKind::StrayText } else { RepairKind::Comment };
        self.end_comment(kind, end)
    }

    fn end_comment(&mut self, kind: RepairKind, end: usize) -> Step {
        self.pos = end;
        self.lex = Lex::None;
        // A limit comes before a refusal, as it does where the comment arrives in pieces.
        self.check_held()?;
        self.edit(kind, self.lex_start..end, "")?;
        Ok(Flow::Go)
    }

    /// `\n` and the like outside strings: white space of a document that is escaped once too often.
    fn escaped_space(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        match source.byte(self.pos + 1) {
            Some(b'n' | b'r' | b't') => {
                self.edit(RepairKind::EscapedDocument, self.pos..self.pos + 2, " ")?;
                self.pos += 2;
                Ok(Some(Flow::Go))
            }
            None if !source.is_last() => Ok(Some(Flow::Wait)),
            _ => Ok(None),
        }
    }

    /// White space beyond ASCII.
    fn wide_space(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        let rest = source.from(self.pos);
        let need = if rest[0] < 0xe0 { 2 } else { 3 };
        if rest.len() < need && !source.is_last() {
            return Ok(Some(Flow::Wait));
        }
        match rest {
            // No-break space, next line.
            [0xc2, 0xa0 | 0x85, ..] => self.odd_space(2, " "),
            // The spaces of U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
            [0xe1, 0x9a, 0x80, ..]
            | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, ..]
            | [0xe2, 0x81, 0x9f, ..]
            | [0xe3, 0x80, 0x80, ..] => self.odd_space(3, " "),
            // Zero-width marks: U+200B to U+200F, U+2060.
            [0xe2, 0x80, 0x8b..=0x8f, ..] | [0xe2, 0x81, 0xa0, ..] => self.odd_space(3, ""),
            [0xef, 0xbb, 0xbf, ..] => {
                self.edit(RepairKind::ByteOrderMark, self.pos..self.pos + 3, "")?;
                self.pos += 3;
                Ok(Some(Flow::Go))
            }
            _ => Ok(None),
        }
    }

    fn odd_space(&mut self, bytes: usize, after: &'static str) -> Result<Option<Flow>, Stop> {
        self.edit(RepairKind::OddSpace, self.pos..self.pos + bytes, after)?;
        self.pos += bytes;
        Ok(Some(Flow::Go))
    }

    /// What the byte at `pos` begins. A wide token is told by look-ahead.
    pub(super) fn token(&mut self, source: &Source<'_>) -> Result<Token, Edge> {
        let Some(byte) = source.byte(self.pos) else {
            return if source.is_last() { Ok(Token::End) } else { Err(Edge::More) };
        };
        let look = source.look(self.pos, self.window);
        let behind_value = matches!(self.expect, Expect::ItemEnd | Expect::MemberEnd);
        let next = || match look.peek_at(1) {
            Err(Edge::End | Edge::Window) => Ok(0),
            other => other,
        };
        Ok(match byte {
            b'"' | b'\'' => Token::Quote,
            b'{' => Token::ObjectOpen,
            b'[' => Token::ArrayOpen,
            b'(' => Token::GroupOpen,
            b'}' => Token::ObjectClose,
            b']' => Token::ArrayClose,
            b')' => Token::GroupClose,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'=' => Token::Equals,
            b';' => Token::Semicolon,
            b'0'..=b'9' => Token::Number,
            b'-' if matches!(next()?, b'0'..=b'9' | b'.' | b'I' | b'i') => Token::Number,
            b'+' if matches!(next()?, b'0'..=b'9' | b'.') => Token::Number,
            // `+Infinity` stands where a value does; behind a value, `+` joins.
            b'+' if !behind_value && matches!(next()?, b'I' | b'i' | b'N' | b'n') => Token::Number,
            b'+' => Token::Plus,
            b'-' if next()? == 0 => Token::Number,
            b'.' => match next()? {
                b'.' => Token::Ellipsis,
                b'0'..=b'9' => Token::Number,
                _ => Token::Word,
            },
            b'`' | b'~' => {
                let fence: &[u8] = if byte == b'`' { b"```" } else { b"~~~" };
                match look.starts_with(fence) {
                    Ok(true) => Token::Fence,
                    Err(Edge::More) => return Err(Edge::More),
                    _ if byte == b'`' => Token::Quote,
                    _ => Token::Word,
                }
            }
            b'\\' if next()? == b'"' => Token::Quote,
            0xc2 | 0xe2 | 0xef => {
                let need = if byte == 0xc2 { 1 } else { 2 };
                if look.peek_at(need) == Err(Edge::More) {
                    return Err(Edge::More);
                }
                if Quote::of(look.rest()).is_some() {
                    Token::Quote
                } else if look.rest().starts_with("…".as_bytes()) {
                    Token::Ellipsis
                } else {
                    Token::Word
                }
            }
            _ => Token::Word,
        })
    }

    /// Passes an ellipsis.
    pub(super) fn skip_ellipsis(&mut self, source: &Source<'_>) -> Step {
        let mut look = self.look(source, self.pos);
        if look.rest().starts_with("…".as_bytes()) {
            look.advance(3);
        }
        while look!(look.peek(), 0) == b'.' {
            look.bump();
        }
        let end = self.pos + look.passed();
        // The blanks between it and the comma before were its own.
        let behind_comma = self.comma.saturating_add(self.comma_length);
        let blank = source.slice(behind_comma, self.pos).iter().all(u8::is_ascii_whitespace);
        let pending = matches!(self.expect, super::Expect::Item | super::Expect::Key);
        let start =
            if pending && blank && behind_comma < self.pos { behind_comma } else { self.pos };
        self.forget_behind(start);
        self.edit(RepairKind::Ellipsis, start..end, "")?;
        self.pos = end;
        Ok(Flow::Go)
    }
}
