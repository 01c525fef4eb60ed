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

    pub(super) fn end_comment(&mut self, kind: RepairKind, end: usize) -> Step {
        self.pos = end;
        self.lex = Lex::None;
        // Check the limit before the edit can be refused, as if the comment came in pieces.
        self.check_withheld()?;
        self.edit(kind, self.lex_start..end, "")?;
        Ok(Flow::Go)
    }
}
