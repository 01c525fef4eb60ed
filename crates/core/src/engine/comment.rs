//! Comments.

use super::{Comment, Engine, Flow, Lex, Source, Step};
use crate::RepairKind;

impl Engine {
    pub(super) fn open_comment(&mut self, comment: Comment) -> Flow {
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
    pub(super) fn end_of_last_line(&mut self, source: &Source<'_>) -> Option<usize> {
        let known = self.trials.rest.as_ref().and_then(|rest| rest.last_line);
        if known.is_none_or(|(from, _)| self.pos < from) {
            let rest = source.from(self.pos);
            let line = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
            let blank = rest[line..].iter().take_while(|b| b.is_ascii_whitespace()).count();
            self.steps += (line + blank) as u64;
            if line + blank < rest.len() {
                return None;
            }
            // Comments that end before their line does must not look for its end again and again.
            let found = (self.pos, self.pos + line);
            self.trials.rest.get_or_insert_default().last_line = Some(found);
            return Some(found.1);
        }
        known.map(|(_, end)| end)
    }

    /// A comment on the last line: a closer in it is the document's, unless it is only a remark.
    pub(super) fn last_remark(&mut self, source: &Source<'_>, line_end: usize) -> Step {
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

    pub(super) fn end_comment(&mut self, kind: RepairKind, end: usize) -> Step {
        self.pos = end;
        self.lex = Lex::None;
        // Check the limit before the edit can be refused, as if the comment came in pieces.
        self.check_withheld()?;
        self.edit(kind, self.lex_start..end, "")?;
        Ok(Flow::Go)
    }
}
