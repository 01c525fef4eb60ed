//! Text after the last document.

use super::{
    Dropping, Edit, Engine, Flow, Lex, Source, Step, Stop, Token, prose::Passed, source::Edge,
    try_peek,
};
use crate::{Repair, RepairKind, Tail, TrailingDocuments, tail::Remainder};

impl Engine {
    /// Drops everything from here on.
    pub(super) fn open_tail(&mut self, source: &Source<'_>, token: Token) -> Step {
        let sentence = token == Token::Colon && self.whole && !self.leads_member(source);
        if token == Token::Colon && self.documents.count == 1 && self.is_scalar() && !sentence {
            // `"a": 1}` lost its opening brace: a key alone is not a document.
            return Err(Stop::Nothing);
        }
        if self.whole && self.documents.count == 1 && self.is_scalar() && self.reopens_prose() {
            return Ok(Flow::Go);
        }
        let tail = match token {
            Token::ObjectOpen | Token::ArrayOpen => None,
            _ => Some(try_peek!(self.classify_tail(source, token), Tail::new(0))),
        };
        let kind = tail.map_or(RepairKind::SecondDocument, |tail| tail.kind());
        let goes_on = tail.as_ref().is_some_and(Tail::goes_on);
        let doubtful = self.unescaped > 0 || self.document.guessed || self.document.doubtful;
        let watched = goes_on || doubtful && !self.document.fenced;
        if self.options.trailing_documents() == TrailingDocuments::Error
            || !self.options.policy().allows(kind)
        {
            let from = self.gap.start;
            self.ending.refused = Some(Repair::new(kind, from..self.pos, ""));
            return Err(Stop::Refused);
        }
        let others = match self.options.trailing_documents() {
            TrailingDocuments::All => true,
            TrailingDocuments::Array | TrailingDocuments::Last => self.documents.several,
            TrailingDocuments::Error | TrailingDocuments::First => false,
        };
        if others {
            if watched
                && self.whole
                && let Some(rest) = self.rest_after(source)
            {
                self.end_of_rest(self.has_end(rest, goes_on), kind)?;
            }
            self.note_text(source);
            self.outside.text.begin_text();
            let step = self.not_a_document(source, 0);
            self.outside.kind = kind;
            return step;
        }
        self.note_text(source);
        self.outside.text.begin_text();
        let from = self.gap.start.max(self.committed);
        self.script.forget_uncommitted(from);
        let rest = watched.then(|| Remainder::beginning(!self.gap_holds_line_end(source)));
        self.dropping = Some(Dropping { from, kind, rest, goes_on });
        self.lex = Lex::Tail;
        Ok(Flow::Go)
    }

    /// Classifies the text that begins at `pos`, after the document.
    fn classify_tail(&mut self, source: &Source<'_>, token: Token) -> Result<Tail, Edge> {
        let mut tail = Tail::new(self.window).in_doubt(self.unescaped > 0 && !self.document.fenced);
        let plain = matches!(source.byte(self.pos), Some(b'"' | b'\''));
        if token == Token::Quote && plain && self.document.end == Some(self.pos) {
            tail.touch();
        }
        // Text after a line end is not on the document's line; closers may come between them.
        if self.gap_holds_line_end(source) {
            tail.byte(b'\n');
        }
        let mut look = source.look(self.pos, self.window);
        while !tail.is_decided() {
            match look.peek() {
                Ok(byte) => tail.byte(byte),
                Err(Edge::More) => return Err(Edge::More),
                Err(Edge::End | Edge::Window) => break,
            }
            look.bump();
        }
        Ok(tail)
    }

    /// The repair of the text that is being dropped, if the caller gives up.
    pub(crate) fn abandon(&mut self) -> Option<Repair> {
        let Dropping { from, kind, .. } = self.dropping.take()?;
        Some(Repair::new(kind, from..self.committed, ""))
    }

    /// Drops text after the last document, and notes where another document begins in it.
    pub(super) fn tail_text(&mut self, source: &Source<'_>) -> Step {
        let from = self.pos;
        let second = RepairKind::SecondDocument;
        // The rest of the document holds no other.
        let all = |dropping: Dropping| {
            matches!(dropping.kind, RepairKind::StrayText) || dropping.kind == second
        };
        let passed = if self.dropping.is_some_and(all) {
            self.pos = source.end();
            if source.is_last() { Passed::End } else { Passed::Wait }
        } else {
            let passed = self.pass_prose(source);
            self.note_text(source);
            passed
        };
        if let Some(Dropping { rest: Some(rest), .. }) = &mut self.dropping {
            rest.pass(source.slice(from, self.pos));
        }
        self.commit_content();
        match passed {
            Passed::On => return Ok(Flow::Go),
            Passed::Wait => return Ok(Flow::Wait),
            Passed::End | Passed::Document => {}
        }
        let Some(dropping) = self.dropping.take() else { return Ok(Flow::Wait) };
        let Dropping { from, kind, rest, goes_on } = dropping;
        if from < self.pos {
            // It is gone, so that is said even if the document turns out to be refused.
            let repair = Repair::new(kind, from..self.pos, "");
            self.script.serial += 1;
            self.script.edits.push(Edit::Replace(repair, self.script.serial));
            self.script.commit();
        }
        if matches!(passed, Passed::Document) {
            if !self.options.policy().allows(second) {
                self.ending.refused = Some(Repair::new(second, self.pos..self.pos, ""));
                return Err(Stop::Refused);
            }
            self.dropping = Some(Dropping { from: self.pos, kind: second, ..dropping });
            return Ok(Flow::Go);
        }
        if let Some(rest) = rest {
            self.end_of_rest(self.has_end(rest, goes_on), kind)?;
        }
        Ok(Flow::Wait)
    }

    /// What the rest from `pos` on leaves open. It is read after one document only, because that takes
    /// reading all of it. Whole-text path only.
    pub(super) fn rest_after(&mut self, source: &Source<'_>) -> Option<Remainder> {
        let (pos, inline) = (self.pos, !self.gap_holds_line_end(source));
        let read = *self.rest.get_or_insert_default().remainder.get_or_insert_with(|| {
            let rest = source.from(pos);
            self.steps += rest.len() as u64;
            let mut remainder = Remainder::beginning(inline);
            remainder.pass(rest);
            (pos, remainder)
        });
        (read.0 == pos).then_some(read.1)
    }

    /// Whether text after the document is all there, which has signs of the document or comes after one
    /// that was in doubt.
    const fn has_end(&self, rest: Remainder, goes_on: bool) -> bool {
        if goes_on { rest.has_end() } else { !rest.is_open(self.document.guessed) }
    }

    /// What was dropped has signs of the document. If it does not hold the bracket that closes that,
    /// the end is missing.
    fn end_of_rest(&mut self, has_closer: bool, kind: RepairKind) -> Result<(), Stop> {
        if has_closer {
            return Ok(());
        }
        if !self.options.policy().closes_cut() {
            self.ending.refused = Some(Repair::new(kind, self.gap.start..self.pos, ""));
            return Err(Stop::Refused);
        }
        self.outside.torn = true;
        Ok(())
    }
}
