//! Between tokens: white space of every kind, and signs of other scripts.

use super::{
    Comma, Comment, Engine, Expect, Flow, Source, Stop, Token,
    follows::begins_member,
    source::{ESCAPE, Edge, WideSpace, wide_space},
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
            b'-' if self.is_in_container() => {
                let look = source.look(self.pos, self.window);
                match [1, 2].map(|at| look.peek_at(at)) {
                    [Err(Edge::More), _] | [Ok(b'-'), Err(Edge::More)] => Ok(Some(Flow::Wait)),
                    // As in SQL.
                    [Ok(b'-'), Ok(b' ' | b'\t')] => Ok(Some(self.open_comment(Comment::Line))),
                    _ => Ok(None),
                }
            }
            b'+' if self.is_in_container() && self.begins_line(source) => self.line_mark(source),
            b'<' => match source.look(self.pos, 8).starts_with(b"<!--") {
                Ok(true) => Ok(Some(self.open_comment(Comment::Markup))),
                Err(Edge::More) => Ok(Some(Flow::Wait)),
                _ if self.is_in_container() => self.model_token(source),
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

    /// Commits a long run of white space after a bracket or a value. What was withheld before it
    /// counts as if the white space had arrived byte by byte.
    pub(super) fn release_space(&mut self, source: &Source<'_>) -> Result<(), Stop> {
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
        if waits && self.pos - self.gap.start > self.window && self.script.is_committed() {
            self.check_withheld_at(self.gap.start + self.window)?;
            if self.expect == E::After && self.gap_holds_line_end(source) {
                self.gap.broken = Some(self.gap.start);
            }
            self.commit_content();
        }
        Ok(())
    }

    /// Whether what follows the document may belong to it, because quotes in it were in doubt.
    pub(super) fn is_tail_in_doubt(&self) -> bool {
        self.expect == Expect::After && self.unescaped > 0 && !self.document.fenced
    }

    /// Drops a special token of a model between tokens of the document: `<|im_end|>`, `</s>`.
    fn model_token(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        match self.look(source, self.pos).model_token() {
            Err(Edge::More) => Ok(Some(Flow::Wait)),
            Ok(length) if length > 0 => {
                self.edit(RepairKind::StrayText, self.pos..self.pos + length, "")?;
                self.pos += length;
                Ok(Some(Flow::Go))
            }
            _ => Ok(None),
        }
    }

    /// Whether a line end is directly before `pos`. Not in a gap that is so long that its start may have
    /// been forgotten.
    fn begins_line(&self, source: &Source<'_>) -> bool {
        let gap = self.pos.saturating_sub(self.gap.start);
        (1..=self.window).contains(&gap) && source.byte(self.pos - 1) == Some(b'\n')
    }

    /// At a plus sign at the start of a line: drops the mark of a diff in which not all lines were
    /// added. Before a string that is no key it may join two strings.
    fn line_mark(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        let mut look = self.look(source, self.pos + 1);
        let marks = (|| {
            if !matches!(look.peek()?, b' ' | b'\t') {
                return Ok(false);
            }
            look.space()?;
            Ok(!look.at_quote()? || self.string.closed.is_none() || begins_member(look)?)
        })();
        match marks {
            Err(Edge::More) => return Ok(Some(Flow::Wait)),
            Ok(true) => {}
            _ => return Ok(None),
        }
        self.edit(RepairKind::LineMark, self.pos..self.pos + 1, "")?;
        self.pos += 1;
        Ok(Some(Flow::Go))
    }

    /// Whether a key, an item, or the end of a container may come next.
    const fn is_in_container(&self) -> bool {
        use super::Expect as E;
        matches!(
            self.expect,
            E::FirstItem | E::Item | E::ItemEnd | E::FirstKey | E::Key | E::MemberEnd
        )
    }

    /// Whether `#` begins a comment. Where a value is expected, it may begin a value (`#fff`).
    pub(super) fn is_comment_here(&self) -> bool {
        use super::Expect as E;
        matches!(
            self.expect,
            E::ItemEnd | E::MemberEnd | E::FirstKey | E::Key | E::Colon | E::After
        )
    }

    /// Handles `\n` and the like outside of strings, in a document that is escaped one time too
    /// many.
    pub(super) fn escaped_space(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        match source.byte(self.pos + 1) {
            // As in a shell. The end of the input is the end of a line.
            Some(b' ' | b'\t' | b'\n' | b'\r') => self.odd_space(1, ""),
            None if source.is_last() => self.odd_space(1, ""),
            Some(b'n' | b'r' | b't') => {
                self.edit(RepairKind::EscapedDocument, self.pos..self.pos + 2, " ")?;
                self.pos += 2;
                Ok(Some(Flow::Go))
            }
            None => Ok(Some(Flow::Wait)),
            Some(_) => Ok(None),
        }
    }

    /// Handles white space outside ASCII.
    pub(super) fn wide_space(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
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

    pub(super) fn odd_space(
        &mut self,
        bytes: usize,
        after: &'static str,
    ) -> Result<Option<Flow>, Stop> {
        self.edit(RepairKind::OddSpace, self.pos..self.pos + bytes, after)?;
        self.pos += bytes;
        Ok(Some(Flow::Go))
    }

    /// Handles a comma or colon of another script where it may be a separator.
    pub(super) fn wide_sign(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
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
                let edits = self.script.serial;
                self.edit(RepairKind::MissingComma, at..at + length, ",")?;
                self.pos += length;
                self.pend_comma(Comma { at, length }, edits);
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

    /// Whether there is a line end between the document and `pos` that is not in a comment, so that
    /// it is still there in the output. What was committed of a long gap may be gone.
    pub(super) fn gap_keeps_line_end(&self, source: &Source<'_>) -> bool {
        let has_line_end = |from: usize, to| source.again(from.min(to), to).contains(&b'\n');
        let mut at = self.gap.start.max(source.base());
        for edit in &self.script.edits[self.script.before(at)..] {
            if has_line_end(at, edit.start().min(self.pos)) {
                return true;
            }
            at = at.max(edit.end().unwrap_or(at));
        }
        has_line_end(at, self.pos)
    }

    /// Whether there is a line end between the document and `pos`, with nothing but white space and
    /// closers after it. What was committed of a long gap may be gone.
    pub(super) fn gap_holds_line_end(&self, source: &Source<'_>) -> bool {
        let gap = source.again(self.gap.start.max(source.base()), self.pos);
        match gap.iter().rposition(|byte| !b" \t\r;}])".contains(byte)) {
            Some(at) => gap[at] == b'\n',
            None => self.gap.broken == Some(self.gap.start),
        }
    }
}
