//! After a document: another one, the rest of a string, or members cut off by a stray closer.

use super::{
    Edit, Engine, Expect, Flow, Source, Step, Stop, Token,
    follows::{Start, member},
    frames::Shape,
    source::{Edge, Look},
    try_peek,
};
use crate::{RepairKind, TrailingDocuments, tail::Remainder};

impl Engine {
    /// Decides what to do with a token after the document.
    pub(super) fn defer_after(&mut self, source: &Source<'_>, token: Token) -> Step {
        let at = self.pos;
        let mut look = self.look(source, at);
        if token == Token::Comma {
            look.bump();
            let next = try_peek!(look.gap(), 0);
            if self.whole && self.rejoins(source, look)? {
                return Ok(Flow::Go);
            }
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

    /// In `{"a": 1}, "b": 2}` the first brace came too early: removes it and continues the object.
    /// Whole-text path only.
    fn rejoins(&mut self, source: &Source<'_>, look: Look<'_>) -> Result<bool, Stop> {
        let Some(end) = self.document.end else { return Ok(false) };
        if self.rejoins_array(source, look, end)? {
            return Ok(true);
        }
        let closed_object = source.byte(end.wrapping_sub(1)) == Some(b'}') && self.closed.items > 0;
        let comma = self.pos;
        let quoted = look.at_quote().unwrap_or(false);
        let next = member(self.look(source, comma + look.passed()));
        let follows = closed_object && quoted && matches!(next, Ok(Start::Member | Start::Strings));
        if !follows || self.document_was_wrapped(source, end) {
            return Ok(false);
        }
        self.reopen_document();
        self.frames.push(Shape::Object, self.document.start);
        self.edit(RepairKind::ExtraClose, end - 1..end, "")?;
        self.expect = Expect::MemberEnd;
        self.gap.start = end;
        Ok(true)
    }

    /// In `[1, 2], 3]` the first bracket came too early: only one that is closed later shows that, and
    /// what follows is no container, because that may be another document.
    fn rejoins_array(
        &mut self,
        source: &Source<'_>,
        look: Look<'_>,
        end: usize,
    ) -> Result<bool, Stop> {
        let next = self.pos + look.passed();
        let scalar = look.at_quote().unwrap_or(false)
            || source.byte(next).is_some_and(|byte| byte.is_ascii_digit() || byte == b'-');
        let closed = source.byte(end.wrapping_sub(1)) == Some(b']') && self.closed.items > 0;
        let array = source.byte(self.document.start) == Some(b'[') && !self.closed.is_object;
        if !(scalar && closed && array && self.rest_after(source).is_some_and(Remainder::closes))
            || self.was_edited(end)
        {
            return Ok(false);
        }
        self.reopen_document();
        self.frames.push(Shape::Array, self.document.start);
        self.frames.set_items(self.closed.items);
        self.edit(RepairKind::ExtraClose, end - 1..end, "")?;
        self.expect = Expect::ItemEnd;
        self.gap.start = end;
        Ok(true)
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

    /// Whether the document does not begin with a brace, or an edit changed its closing one.
    fn document_was_wrapped(&self, source: &Source<'_>, end: usize) -> bool {
        source.byte(self.document.start) != Some(b'{') || self.was_edited(end)
    }

    /// Whether an edit changed the byte before `end`.
    fn was_edited(&self, end: usize) -> bool {
        let before = &self.script.edits[..self.script.before(end)];
        let mut ends = before.iter().rev().filter_map(Edit::end);
        ends.next().is_some_and(|last| last >= end)
    }
}
