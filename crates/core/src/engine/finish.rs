//! The end of the input.

use alloc::{string::String, vec::Vec};

use super::{
    Engine, Expect, Flow, Lex, Source, Step, Stop, Text,
    frames::Shape,
    quotes::{escaped_closer, lost_key},
};
use crate::{RepairKind, TrailingDocuments};

impl Engine {
    /// The input ended between tokens.
    pub(super) fn finish_document(&mut self, source: &Source<'_>) -> Step {
        match self.expect {
            Expect::Document if self.documents.count == 0 => return Err(Stop::Nothing),
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
                let kept = if self.whole { 0 } else { self.script.committed };
                self.script.forget_since(self.member.edits_before, from, kept);
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
        let key = self.member.key_start;
        match self.member.comma {
            Some(comma) if comma.length > 0 => comma.at.min(key),
            _ => key,
        }
    }

    /// The input ended inside a string.
    pub(super) fn end_of_text(&mut self, source: &Source<'_>, text: Text) -> Step {
        self.cut_off()?;
        if text.is_key && self.reads_lost_key(source, text)? {
            return Ok(Flow::Go);
        }
        self.lex = Lex::None;
        if text.is_key {
            self.expect = Expect::Colon;
            return Ok(Flow::Go);
        }
        let content = source.slice(self.lex_start, self.pos);
        let kept = if self.whole { self.closers_at_end(content) } else { None };
        let end = kept.map_or(self.pos, |(kept, _)| self.lex_start + kept);
        if end < self.pos {
            self.forget(end);
            self.pos = end;
        }
        let content = source.slice(self.lex_start, end);
        // Where containers are open, the text was cut off, which needs no mistake to explain it.
        let ends = self.whole && (kept.is_some() || self.frames.len() == 0);
        let sign = if ends { text.quote.mistaken_closer(content) } else { 0 };
        let sign = if self.script.spans(end - sign) { 0 } else { sign };
        self.edit(RepairKind::UnterminatedString, end - sign..end, "\"")?;
        self.value_ended(source)?;
        Ok(Flow::Go)
    }

    /// In `{"a": 1, "b: 2}` perhaps only a quote is missing. Reads the rest again, from the end of the
    /// key.
    fn reads_lost_key(&mut self, source: &Source<'_>, text: Text) -> Result<bool, Stop> {
        let content = source.slice(self.lex_start, self.pos);
        // A sign after the document may begin another one, which is not for this reading to refuse.
        let alone = self.options.trailing_documents() == TrailingDocuments::Error;
        let ends = |closed: usize| {
            let after = content[closed..].trim_ascii_start();
            !alone || after.is_empty() || after.starts_with(b"```")
        };
        let fits = |end: &usize| {
            self.closers_at_end(content)
                .is_some_and(|(kept, closed)| stays_inside(&content[*end..kept]) && ends(closed))
        };
        let Some(end) = lost_key(content).filter(fits) else {
            return Ok(false);
        };
        let at = self.lex_start + end;
        self.forget(at);
        let sign = text.quote.mistaken_closer(&content[..end]).max(escaped_closer(&content[..end]));
        let sign = if self.script.spans(at - sign) { 0 } else { sign };
        self.edit(RepairKind::UnterminatedString, at - sign..at, "\"")?;
        self.frames.set_key(&content[..end - sign]);
        self.pos = at;
        self.gap.start = at;
        self.lex = Lex::None;
        self.expect = Expect::Colon;
        Ok(true)
    }

    /// In `{"a": ["x", "y]}` only the quote is missing. Returns the length of the string without the
    /// brackets at its end, and the white space before them, if they close all that is open and
    /// nothing in the string; and where the last of them ends. What is around a document may follow.
    fn closers_at_end(&self, content: &[u8]) -> Option<(usize, usize)> {
        if self.frames.len() == 0 || self.frames.depth() < self.frames.len() {
            return None;
        }
        let closed = without_wrapper(content);
        let mut rest = closed;
        for closer in self.frames.closers_from_outermost() {
            rest = rest.strip_suffix(&[closer as u8])?.trim_ascii_end();
        }
        let count = |brackets: &[u8; 2]| rest.iter().filter(|b| brackets.contains(b)).count();
        (count(b"{[") <= count(b"}]")).then_some((rest.len(), closed.len()))
    }

    /// For a text that is the beginning of valid JSON, after it was read: where the closing quote of
    /// the string is missing that it ends in, if that is all that is missing, and where the document
    /// ends.
    pub(crate) fn only_quote_lost(&self, input: &[u8]) -> Option<(usize, usize)> {
        let value = matches!(self.lex, Lex::Text(text) if !text.is_key);
        let content = input.get(self.lex_start..).filter(|_| value)?;
        let (end, closed) = self.closers_at_end(content)?;
        Some((self.lex_start + end, self.lex_start + closed))
    }
}

/// The content of a string that holds the end of the text, without what may be around a document:
/// a fence, a tag, a mark, lines of words.
fn without_wrapper(content: &[u8]) -> &[u8] {
    let mut text = content.trim_ascii_end();
    for _ in 0..MAX_AROUND {
        let kept = match text {
            [kept @ .., b'`' | b'*' | b';' | b',' | b'.' | b'%' | b')'] => kept,
            [.., b'>'] => before_tag(text, b'<').unwrap_or(text),
            [.., b']'] => before_tag(text, b'[').unwrap_or(text),
            [.., b'}'] => text,
            _ => before_words(text).unwrap_or(text),
        };
        if kept.len() == text.len() {
            break;
        }
        text = kept.trim_ascii_end();
    }
    text
}

/// How many signs and tags may be around a document.
const MAX_AROUND: usize = 12;

/// The longest tag, and the longest text, to look for after a document, in bytes.
const MAX_TAG: usize = 64;
const MAX_WORDS: usize = 512;

/// `text` without the tag that ends it, as in `</json>` and `[/JSON]`.
fn before_tag(text: &[u8], opener: u8) -> Option<&[u8]> {
    let from = text.len().saturating_sub(MAX_TAG);
    let at = from + text.get(from..)?.iter().rposition(|byte| *byte == opener)?;
    let inside = text.get(at + 1..text.len() - 1)?;
    let name = inside.strip_prefix(b"/").unwrap_or_default();
    let tag =
        !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let token = opener == b'<' && inside.starts_with(b"|") && inside.ends_with(b"|");
    (tag || token).then_some(text.get(..at)?)
}

/// `text` without the lines of words after its last closer.
fn before_words(text: &[u8]) -> Option<&[u8]> {
    let from = text.len().saturating_sub(MAX_WORDS);
    let at = from + text.get(from..)?.iter().rposition(|byte| matches!(byte, b'}' | b']'))?;
    let (closed, words) = text.split_at_checked(at + 1)?;
    let first = words.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let apart = words.get(..first)?.contains(&b'\n');
    (apart && !words.iter().any(|byte| b"\"{[".contains(byte))).then_some(closed)
}

/// Whether no bracket in a text closes what was opened before it, or may: one of the other kind may.
fn stays_inside(text: &[u8]) -> bool {
    let mut open = Vec::new();
    text.iter().all(|byte| match byte {
        b'{' | b'[' => {
            open.push(*byte);
            true
        }
        b'}' => open.pop() == Some(b'{'),
        b']' => open.pop() == Some(b'['),
        _ => true,
    })
}
