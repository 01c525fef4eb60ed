//! The end of the input, and what follows the last document.

use alloc::string::String;

use super::{
    Edit, Engine, Expect, Flow, Lex, Source, Step, Stop, Text, Token, frames::Shape, source::Edge,
    try_peek,
};
use crate::{Repair, RepairKind, Tail, TrailingDocuments};

impl Engine {
    /// The input ended between tokens.
    pub(super) fn finish_document(&mut self, source: &Source<'_>) -> Step {
        match self.expect {
            Expect::Document if self.documents == 0 => return Err(Stop::Nothing),
            Expect::Document | Expect::After => {
                self.commit();
                return Ok(Flow::Wait);
            }
            Expect::FirstItem | Expect::Item if self.frames.top() == Some(Shape::Call) => {
                self.edit(RepairKind::MissingValue, self.pos..self.pos, "null")?;
                self.value_ended(source)?;
                return Ok(Flow::Go);
            }
            Expect::CallEnd | Expect::DoubledEnd => {
                self.frames.pop();
                self.value_ended(source)?;
                return Ok(Flow::Go);
            }
            Expect::FirstItem | Expect::Item | Expect::ItemEnd => {}
            Expect::FirstKey | Expect::Key | Expect::MemberEnd => {}
            Expect::Colon | Expect::MemberValue => {}
        }
        self.cut_off()?;
        match self.expect {
            Expect::Colon | Expect::MemberValue => {
                let from = self.member_start();
                self.forget_since(self.member_edits, from);
                self.edit(RepairKind::CutKey, from..self.pos, "")?;
                self.frames.clear_key();
                self.expect = Expect::MemberEnd;
            }
            _ => self.drop_comma()?,
        }
        let closers: String = self.frames.closers().collect();
        self.edit(RepairKind::MissingClose, self.pos..self.pos, closers)?;
        self.frames.clear();
        self.value_ended(source)?;
        Ok(Flow::Go)
    }

    /// Where the unfinished member starts: at its comma, or at its key.
    fn member_start(&self) -> usize {
        if self.comma_length == 0 { self.key_start } else { self.comma.min(self.key_start) }
    }

    /// Records that the document is cut off. Stops if the policy forbids closing it.
    pub(super) fn cut_off(&mut self) -> Result<(), Stop> {
        if !self.options.policy().closes_cut() {
            return Err(Stop::Cut);
        }
        if self.cut.is_none() {
            self.cut = Some(self.frames.path());
        }
        Ok(())
    }

    /// The input ended inside a string.
    pub(super) fn end_of_text(&mut self, source: &Source<'_>, text: Text) -> Step {
        self.cut_off()?;
        self.lex = Lex::None;
        if text.is_key {
            self.expect = Expect::Colon;
            return Ok(Flow::Go);
        }
        let content = source.slice(self.lex_start, self.pos);
        let kept = if self.whole { self.closers_at_end(content) } else { None };
        let end = kept.map_or(self.pos, |kept| self.lex_start + kept);
        if end < self.pos {
            self.forget(end);
            self.pos = end;
        }
        let content = source.slice(self.lex_start, end);
        let sign = if self.whole { text.quote.mistaken_closer(content) } else { 0 };
        self.edit(RepairKind::UnterminatedString, end - sign..end, "\"")?;
        self.value_ended(source)?;
        Ok(Flow::Go)
    }

    /// In `{"a": ["x", "y]}` only the quote is missing. Returns the length of the string without the
    /// brackets at its end, and the white space before them, if they close all that is open and
    /// nothing in the string.
    fn closers_at_end(&self, content: &[u8]) -> Option<usize> {
        if self.frames.len() == 0 || self.frames.depth() < self.frames.len() {
            return None;
        }
        let content = content.trim_ascii_end();
        let mut rest = content.strip_suffix(b"```").unwrap_or(content).trim_ascii_end();
        for closer in self.frames.closers_from_outermost() {
            rest = rest.strip_suffix(&[closer as u8])?.trim_ascii_end();
        }
        let count = |brackets: &[u8; 2]| rest.iter().filter(|b| brackets.contains(b)).count();
        (count(b"{[") <= count(b"}]")).then_some(rest.len())
    }

    /// For a text that is the beginning of valid JSON, after it was read: where the closing quote of
    /// the string is missing that it ends in, if that is all that is missing.
    pub(crate) fn only_quote_lost(&self, input: &[u8]) -> Option<usize> {
        let value = matches!(self.lex, Lex::Text(text) if !text.is_key);
        let content = input.get(self.lex_start..).filter(|_| value)?;
        Some(self.lex_start + self.closers_at_end(content)?)
    }

    /// The input ended in text after which no document came.
    pub(super) fn end_of_prose(&mut self) -> Step {
        if self.documents == 0 {
            return Err(Stop::Nothing);
        }
        self.edit(self.prose_kind, self.lex_start..self.pos, "")?;
        self.lex = Lex::None;
        self.expect = Expect::After;
        Ok(Flow::Go)
    }

    /// Drops everything from here on.
    pub(super) fn open_tail(&mut self, source: &Source<'_>, token: Token) -> Step {
        let sentence = token == Token::Colon && self.whole && !self.leads_member(source);
        if token == Token::Colon && self.documents == 1 && self.is_scalar() && !sentence {
            // `"a": 1}` lost its opening brace: a key alone is not a document.
            return Err(Stop::Nothing);
        }
        if self.whole && self.documents == 1 && self.is_scalar() && self.reopens_prose() {
            return Ok(Flow::Go);
        }
        let kind = match token {
            Token::ObjectOpen | Token::ArrayOpen => RepairKind::SecondDocument,
            _ => try_peek!(self.tail_kind(source, token), RepairKind::TrailingProse),
        };
        if self.options.trailing_documents() == TrailingDocuments::Error
            || !self.options.policy().allows(kind)
        {
            let from = self.gap_start;
            self.refused = Some(Repair::new(kind, from..self.pos, ""));
            return Err(Stop::Refused);
        }
        let others = match self.options.trailing_documents() {
            TrailingDocuments::All => true,
            TrailingDocuments::Array | TrailingDocuments::Last => self.several,
            TrailingDocuments::Error | TrailingDocuments::First => false,
        };
        if others {
            self.outside.text.begin_text();
            let step = self.not_a_document(0);
            self.prose_kind = kind;
            return step;
        }
        let from = self.gap_start.max(self.committed);
        self.forget_uncommitted(from);
        self.dropping = Some(from);
        self.dropping_kind = kind;
        self.lex = Lex::Tail;
        Ok(Flow::Go)
    }

    /// Classifies the text that begins at `pos`, after the document.
    fn tail_kind(&mut self, source: &Source<'_>, token: Token) -> Result<RepairKind, Edge> {
        let mut tail = Tail::new(self.window).in_doubt(self.unescaped > 0 && !self.fenced);
        let plain = matches!(source.byte(self.pos), Some(b'"' | b'\''));
        if token == Token::Quote && plain && self.document_end == Some(self.pos) {
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
        Ok(tail.kind())
    }

    /// The repair of the text that is being dropped, if the caller gives up.
    pub(crate) fn abandon(&mut self) -> Option<Repair> {
        let from = self.dropping.take()?;
        Some(Repair::new(self.dropping_kind, from..self.committed, ""))
    }

    /// Drops text after the last document.
    pub(super) fn tail_text(&mut self, source: &Source<'_>) -> Step {
        self.pos = source.end();
        self.commit_content();
        if source.is_last()
            && let Some(from) = self.dropping.take()
        {
            let repair = Repair::new(self.dropping_kind, from..self.pos, "");
            self.serial += 1;
            self.edits.push(Edit::Replace(repair, self.serial));
            self.committed_edits = self.edits.len();
        }
        Ok(Flow::Wait)
    }
}
