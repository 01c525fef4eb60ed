//! Recognizing the next token; white space and comments.

use super::{
    Comment, Engine, Expect, Flow, Lex, Source, Step, Stop, Token,
    quote::Quote,
    source::{ESCAPE, Edge, WideSpace, wide_space},
    try_peek,
};
use crate::{RepairKind, scan};

impl Engine {
    /// Skips white space of every kind, and opens comments. `Ok(None)` means that a token follows.
    pub(super) fn gap(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        let rest = source.text();
        let end = source.base() + scan::skip_space(rest, self.pos - source.base());
        self.steps += (end - self.pos) as u64;
        self.pos = end;
        self.release_space(source)?;
        self.check_withheld()?;
        let Some(byte) = source.byte(self.pos) else { return Ok(None) };
        match byte {
            // If quotes were in doubt, this may be code that belongs to the document.
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
            ESCAPE => match source.look(self.pos, self.window).terminal_colour() {
                Ok(length) => self.odd_space(length, ""),
                Err(_) => Ok(Some(Flow::Wait)),
            },
            0..=0x1f | 0x7f => self.odd_space(1, ""),
            0xc2 | 0xe1..=0xe3 | 0xef => match self.wide_sign(source)? {
                None => self.wide_space(source),
                sign => Ok(sign),
            },
            0xd8 => self.wide_sign(source),
            _ => Ok(None),
        }
    }

    /// Handles a comma or colon of another script where it may be a separator.
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

    /// Whether what follows the document may belong to it, because quotes in it were in doubt.
    fn is_tail_in_doubt(&self) -> bool {
        self.expect == Expect::After && self.unescaped > 0 && !self.fenced
    }

    /// Whether `#` begins a comment. Where a value is expected, it may begin a value (`#fff`).
    fn is_comment_here(&self) -> bool {
        use super::Expect as E;
        matches!(
            self.expect,
            E::ItemEnd | E::MemberEnd | E::FirstKey | E::Key | E::Colon | E::After
        )
    }

    /// Commits a long run of white space after a bracket or a value. What was withheld before it
    /// counts as if the white space had arrived byte by byte.
    fn release_space(&mut self, source: &Source<'_>) -> Result<(), Stop> {
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
        if waits
            && self.pos - self.gap_start > self.window
            && self.committed_edits == self.edits.len()
        {
            self.check_withheld_at(self.gap_start + self.window)?;
            if self.expect == E::After && self.gap_holds_line_end(source) {
                self.broken_gap = Some(self.gap_start);
            }
            self.commit_content();
        }
        Ok(())
    }

    /// Whether there is a line end between the document and `pos`, with nothing but white space and
    /// closers after it. What was committed of a long gap may be gone.
    pub(super) fn gap_holds_line_end(&self, source: &Source<'_>) -> bool {
        let gap = source.slice(self.gap_start.max(source.base()), self.pos);
        match gap.iter().rposition(|byte| !b" \t\r;}])".contains(byte)) {
            Some(at) => gap[at] == b'\n',
            None => self.broken_gap == Some(self.gap_start),
        }
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

    /// On the whole-text path, the end of the line at `pos`, if it is the last one that is not blank.
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
        // Members on the same line are dropped with it.
        let members = remark.iter().any(|b| matches!(b, b'"' | b',' | b':'));
        let kind = if members { RepairKind::StrayText } else { RepairKind::Comment };
        self.end_comment(kind, end)
    }

    fn end_comment(&mut self, kind: RepairKind, end: usize) -> Step {
        self.pos = end;
        self.lex = Lex::None;
        // Check the limit before the edit can be refused, as if the comment came in pieces.
        self.check_withheld()?;
        self.edit(kind, self.lex_start..end, "")?;
        Ok(Flow::Go)
    }

    /// Handles `\n` and the like outside of strings, in a document that is escaped one time too
    /// many.
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

    /// Handles white space outside ASCII.
    fn wide_space(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        let rest = source.from(self.pos);
        let need = if rest[0] < 0xe0 { 2 } else { 3 };
        if rest.len() < need && !source.is_last() {
            return Ok(Some(Flow::Wait));
        }
        match wide_space(rest) {
            Some((WideSpace::Space, bytes)) => self.odd_space(bytes, " "),
            Some((WideSpace::ZeroWidth, bytes)) => self.odd_space(bytes, ""),
            Some((WideSpace::ByteOrderMark, bytes)) => {
                self.edit(RepairKind::ByteOrderMark, self.pos..self.pos + bytes, "")?;
                self.pos += bytes;
                Ok(Some(Flow::Go))
            }
            None => Ok(None),
        }
    }

    fn odd_space(&mut self, bytes: usize, after: &'static str) -> Result<Option<Flow>, Stop> {
        self.edit(RepairKind::OddSpace, self.pos..self.pos + bytes, after)?;
        self.pos += bytes;
        Ok(Some(Flow::Go))
    }

    /// The token that begins at `pos`. Some need look-ahead.
    pub(super) fn token(&mut self, source: &Source<'_>) -> Result<Token, Edge> {
        let Some(byte) = source.byte(self.pos) else {
            return if source.is_last() { Ok(Token::End) } else { Err(Edge::More) };
        };
        let look = source.look(self.pos, self.window);
        let after_value = matches!(self.expect, Expect::ItemEnd | Expect::MemberEnd);
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
            // `+Infinity` may be a value; after a value, `+` joins strings.
            b'+' if !after_value && matches!(next()?, b'I' | b'i' | b'N' | b'n') => Token::Number,
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
                    // The end of the input cut off a fence.
                    Err(Edge::End) if self.expect == Expect::Document => Token::Word,
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
        let after_comma = self.comma.saturating_add(self.comma_length);
        let blank = source.slice(after_comma, self.pos).iter().all(u8::is_ascii_whitespace);
        let pending = matches!(self.expect, super::Expect::Item | super::Expect::Key);
        let start = if pending && blank && after_comma < self.pos { after_comma } else { self.pos };
        self.forget_uncommitted(start);
        self.edit(RepairKind::Ellipsis, start..end, "")?;
        self.pos = end;
        Ok(Flow::Go)
    }
}
