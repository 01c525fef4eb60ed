//! Text before a document and between documents. What of it begins a document, [`Prose`] decides.
//!
//! [`Prose`]: crate::prose::Prose

use super::{Engine, Expect, Flow, Lex, Source, Step, Stop};
use crate::{
    Lead, Repair, RepairKind, Risk,
    prose::{Mark, Quoted},
};

/// What stopped the reading of text outside of documents.
pub(super) enum Passed {
    /// A sign that was read.
    On,
    /// More has to arrive.
    Wait,
    /// The end of the input.
    End,
    /// A document, which begins here.
    Document,
}

/// Comes before JSON that a page must not run as a script.
const GUARD: &[u8] = b")]}'";

impl Engine {
    /// Says that the first byte of the input begins a document.
    pub(crate) const fn begin_document(&mut self) {
        self.outside.begins = Some(0);
    }

    /// Judges the first bracket as well. A `Mender` does not, because it would have to wait for what
    /// follows it before it shows anything.
    pub(crate) const fn judge_start(&mut self) {
        self.outside.trusts = false;
    }

    /// Where a document is expected: handles a bracket that begins none, and a code fence.
    /// `Ok(None)` means that a token follows.
    pub(super) fn at_document(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        let at = self.pos;
        // The signs that `Prose` knows, and those of reasoning blocks.
        let byte = match source.byte(at) {
            Some(byte @ (b'{' | b'[' | b'(' | b'`' | b'~' | b'<' | 0xE2)) => byte,
            Some(b'\'' | b'"') => return self.document_in_quotes(source),
            // Written before JSON so that no page can run it as a script.
            Some(b')') if self.documents.count == 0 => {
                let ahead = source.from(at);
                if ahead.len() < GUARD.len() && GUARD.starts_with(ahead) && !source.is_last() {
                    return Ok(Some(Flow::Wait));
                }
                if !ahead.starts_with(GUARD) {
                    return Ok(None);
                }
                return self.not_a_document(source, GUARD.len()).map(Some);
            }
            // `\"{\\\"a\\\": 1}\"`: a document that was escaped twice, in quotes.
            Some(b'\\') => {
                let ahead = source.from(at);
                let opens = ahead.starts_with(b"\\\"{") || ahead.starts_with(b"\\\"[");
                if ahead.len() < 3 && !source.is_last() {
                    return Ok(Some(Flow::Wait));
                }
                return if opens { self.not_a_document(source, 2).map(Some) } else { Ok(None) };
            }
            _ => return Ok(None),
        };
        // `[RESULT]` before a document is a label. No array of JSON begins with an upper-case letter.
        let label =
            byte == b'[' && source.byte(at + 1).is_some_and(|next| next.is_ascii_uppercase());
        if self.outside.trusts && byte == b'[' && source.from(at).len() < 2 && !source.is_last() {
            return Ok(Some(Flow::Wait));
        }
        if self.outside.trusts && matches!(byte, b'{' | b'[') && !label {
            self.note_text(source);
            if self.outside.text.is_start() {
                return Ok(None);
            }
        }
        match self.what_begins(source) {
            None => Ok(Some(Flow::Wait)),
            Some(Mark::Document) => Ok(None),
            Some(Mark::Open(fence, length)) => {
                self.edit(RepairKind::CodeFence, at..at + length, "")?;
                self.pos += length;
                self.outside.text.open_fence(fence);
                self.outside.read = self.pos;
                Ok(Some(Flow::Go))
            }
            Some(Mark::Text(_)) if matches!(byte, b'<' | 0xE2) => Ok(None),
            // Backticks may be the quotes of a string.
            Some(Mark::Text(length)) if byte == b'`' => {
                let quoted = source.byte(at + length);
                if quoted.is_none() && !source.is_last() {
                    return Ok(Some(Flow::Wait));
                }
                if !matches!(quoted, Some(b'{' | b'[')) {
                    return Ok(None);
                }
                self.not_a_document(source, length).map(Some)
            }
            Some(Mark::Text(length)) => self.not_a_document(source, length).map(Some),
            Some(Mark::Marked(_)) => self.not_a_document(source, 1).map(Some),
            Some(Mark::Reasoning(..) | Mark::Close(_)) => self.not_a_document(source, 0).map(Some),
        }
    }

    /// At a quote, which is text before a document, or begins a string.
    fn document_in_quotes(&mut self, source: &Source<'_>) -> Result<Option<Flow>, Stop> {
        match source.byte(self.pos + 1) {
            Some(b'{' | b'[') => {}
            // Whether the text before it counts must not depend on what has arrived.
            None if !source.is_last() => return Ok(Some(Flow::Wait)),
            _ if self.documents.count > 0 && self.outside.begins != Some(self.pos) => {
                return Ok(None);
            }
            _ => {}
        }
        self.note_text(source);
        let ahead = source.from(self.pos);
        let window = self.options.limits().lookahead();
        self.steps += ahead.len().min(window) as u64;
        let allowed = self.options.policy().allows(RepairKind::MissingOpen);
        match self.outside.text.quoted(ahead, self.pos, source.is_last()) {
            None => Ok(Some(Flow::Wait)),
            Some(Quoted::Document) if self.outside.begins != Some(self.pos) => {
                self.not_a_document(source, 1).map(Some)
            }
            Some(Quoted::Either) => {
                self.outside.either = Some(self.pos);
                Ok(None)
            }
            Some(Quoted::Member) if allowed => {
                self.open_before_key()?;
                Ok(Some(Flow::Go))
            }
            // A key alone is not a document.
            Some(Quoted::Member) if self.documents.count > 0 => {
                self.not_a_document(source, 1).map(Some)
            }
            Some(Quoted::Document | Quoted::Member | Quoted::String) => Ok(None),
        }
    }

    /// What is at `pos`, where a document is expected. `None` waits for more.
    pub(super) fn what_begins(&mut self, source: &Source<'_>) -> Option<Mark> {
        if self.outside.begins == Some(self.pos) {
            return Some(Mark::Document);
        }
        self.mark(source)
    }

    fn mark(&mut self, source: &Source<'_>) -> Option<Mark> {
        self.note_text(source);
        let ahead = source.from(self.pos);
        let window = self.options.limits().lookahead();
        self.steps += ahead.len().min(window) as u64;
        let guide = self.options.guide().map(|guide| &**guide);
        match self.outside.text.mark(ahead, self.pos, source.is_last(), guide)? {
            Mark::Marked(marks) if marks.are_taken_for_documents(&self.options) => {
                Some(Mark::Document)
            }
            mark => Some(mark),
        }
    }

    /// Reads what begins here as prose, with `length` bytes that are known to be.
    pub(super) fn not_a_document(&mut self, source: &Source<'_>, length: usize) -> Step {
        self.note_text(source);
        self.lex_start = self.pos;
        self.pos += length;
        self.lex = Lex::Prose;
        self.outside.kind = RepairKind::TrailingProse;
        Ok(Flow::Go)
    }

    /// Whether the first string is a key, so that a colon follows its first closing quote.
    pub(super) fn leads_member(&mut self, source: &Source<'_>) -> bool {
        let mut look = self.look(source, self.document.start);
        let Ok(Some((quote, length))) = look.quote() else { return false };
        look.advance(length);
        look.through(quote).is_err() || look.space() == Ok(b':')
    }

    /// `"Yes" {…}`, `42 is right`: a scalar counts only if it is the whole text. Reads it as prose.
    /// Whole-text path only, and only once: a scalar that begins in prose, at the start of a fence, stays
    /// one.
    pub(super) fn reopens_prose(&mut self) -> bool {
        if self.options.trailing_documents() == crate::TrailingDocuments::Error
            || self.outside.begins == Some(self.document.start)
        {
            return false;
        }
        self.pos = self.document.start;
        self.forget(self.pos);
        self.documents.count = 0;
        self.document.end = None;
        self.unescaped = 0;
        let rest = self.rest.as_mut();
        if let Some(before) = rest.and_then(|rest| rest.before_scalar.take()) {
            (self.outside.text, self.outside.read) = before;
        }
        self.lex_start = self.pos;
        self.lex = Lex::Prose;
        self.outside.kind = RepairKind::TrailingProse;
        true
    }

    /// Looks for a document in text before it.
    pub(super) fn prose(&mut self, source: &Source<'_>) -> Step {
        match self.pass_prose(source) {
            Passed::On => Ok(Flow::Go),
            Passed::Wait => Ok(Flow::Wait),
            Passed::End => self.end_of_prose(),
            Passed::Document => {
                self.check_withheld()?;
                self.lead_to_document(source)
            }
        }
    }

    /// Reads text outside of documents, up to the next sign that means something, and that sign, unless it
    /// begins a document.
    pub(super) fn pass_prose(&mut self, source: &Source<'_>) -> Passed {
        let unread = if source.is_last() { Passed::End } else { Passed::Wait };
        if let Some(block) = self.outside.block {
            let (inside, close) = block.inside(source.from(self.pos), source.is_last());
            self.pos += inside + close.unwrap_or_default();
            if close.is_none() {
                return unread;
            }
            self.outside.text.end_reasoning();
            self.outside.read = self.pos;
            self.outside.block = None;
            return Passed::On;
        }
        self.note_text(source);
        self.pos += self.outside.text.plain(source.from(self.pos));
        if source.byte(self.pos).is_none() {
            return unread;
        }
        match self.mark(source) {
            None => return Passed::Wait,
            Some(Mark::Document) => return Passed::Document,
            Some(Mark::Text(length)) => self.pos += length,
            // The marks of a text that begins with them were taken off before.
            Some(Mark::Marked(_)) => self.pos += 1,
            Some(Mark::Reasoning(block, length)) => {
                self.pos += length;
                self.outside.block = Some(block);
            }
            Some(Mark::Open(fence, length)) => {
                self.pos += length;
                self.outside.text.open_fence(fence);
                self.outside.read = self.pos;
            }
            Some(Mark::Close(length)) => {
                self.outside.text.close_fence(source.slice(self.pos, self.pos + length));
                self.pos += length;
                self.outside.read = self.pos;
            }
        }
        Passed::On
    }

    /// A document begins after text.
    fn lead_to_document(&mut self, source: &Source<'_>) -> Step {
        let lead = Lead::of(source.slice(self.lex_start, self.pos));
        self.steps += (self.pos - self.lex_start) as u64;
        // Between two documents, what the first one left open counts, too.
        let span = self.lex_start..self.pos;
        let between = self.outside.kind.risk() > Risk::Likely;
        let kind = if between { self.outside.kind } else { lead.kind() };
        if lead.is_torn() && self.documents.count == 0 {
            if !self.options.policy().closes_cut() {
                self.ending.refused = Some(Repair::new(kind, span, ""));
                return Err(Stop::Refused);
            }
            self.outside.torn = true;
        }
        if !span.is_empty() {
            self.edit(kind, span, "")?;
        }
        self.lex = Lex::None;
        self.expect = Expect::Document;
        self.outside.begins = Some(self.pos);
        Ok(Flow::Go)
    }

    /// The input ended in text after which no document came.
    pub(super) fn end_of_prose(&mut self) -> Step {
        if self.documents.count == 0 {
            return Err(Stop::Nothing);
        }
        self.edit(self.outside.kind, self.lex_start..self.pos, "")?;
        self.lex = Lex::None;
        self.expect = Expect::After;
        Ok(Flow::Go)
    }
}
