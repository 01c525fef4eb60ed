//! After a document: another one, the rest of a string, or members cut off by a stray closer.

use super::{Edit, Engine, Expect, Flow, Source, Step, Token, source::Edge, try_peek};
use crate::TrailingDocuments;

impl Engine {
    /// Decides what to do with a token after the document.
    pub(super) fn defer_after(&mut self, source: &Source<'_>, token: Token) -> Step {
        let at = self.pos;
        let mut look = self.look(source, at);
        if token == Token::Comma {
            look.bump();
            let next = try_peek!(look.gap(), 0);
            if next == 0 || matches!(next, b'{' | b'[' | b'}' | b']') || next.is_ascii_digit() {
                return self.skip(source, token);
            }
            return self.open_tail(source, token);
        }
        let container = matches!(token, Token::ObjectOpen | Token::ArrayOpen);
        // A scalar may only follow another scalar, on a line of its own.
        let scalar = !matches!(source.byte(self.document.start), Some(b'{' | b'['));
        let lines = self.gap.broken == Some(self.gap.start) || self.gap_keeps_line_end(source);
        let separated =
            lines && (scalar || self.options.trailing_documents() == TrailingDocuments::All);
        if token == Token::Plus && self.whole && self.string.closed.is_some() {
            let mut after = look;
            after.bump();
            if try_peek!(after.gap(), 0) == 0 || !try_peek!(after.at_quote(), false) {
                return self.open_tail(source, token);
            }
            // `"a" + "b"` as the whole document: it goes on.
            self.reopen_document();
            return self.join(source);
        }
        if token == Token::Word {
            // A literal on its own line is a document if all documents are wanted. Words are prose.
            let word = match look.word() {
                Ok(word) => word,
                Err(Edge::More) => return Ok(Flow::Wait),
                Err(_) => look.seen(),
            };
            let literal = matches!(word, b"true" | b"false" | b"null");
            let all =
                self.options.trailing_documents() == TrailingDocuments::All && separated && literal;
            return if all { self.next_document(source) } else { self.open_tail(source, token) };
        }
        match self.options.trailing_documents() {
            TrailingDocuments::Error => self.open_tail(source, token),
            TrailingDocuments::All if container || separated => self.next_document(source),
            TrailingDocuments::Array | TrailingDocuments::Last
                if self.documents.several && (container || separated) =>
            {
                self.next_document(source)
            }
            _ => self.open_tail(source, token),
        }
    }

    /// Another document begins.
    fn next_document(&mut self, source: &Source<'_>) -> Step {
        let _ = source;
        self.commit();
        self.document.guessed = false;
        if self.documents.forgets && self.documents.count > 1 {
            self.forget_document();
        }
        self.expect = Expect::Document;
        Ok(Flow::Go)
    }

    /// Continues the document that ended last.
    fn reopen_document(&mut self) {
        self.forget_document();
        self.documents.count = self.documents.count.saturating_sub(1);
        self.document.end = None;
    }

    /// Forgets where the document ended that was recorded last.
    fn forget_document(&mut self) {
        let ended = |edit: &Edit| matches!(edit, Edit::EndDocument { .. });
        if let Some(at) = self.script.edits.iter().rposition(ended) {
            self.script.remove(at);
        }
    }
}
