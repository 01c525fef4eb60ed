//! What a string holds before a quote.

use crate::{
    engine::{Engine, Source, Text, frames::Shape},
    verdict::Context,
};

use super::inner::{ends_whole, without_space};

/// How far back to look, in bytes.
const LOOK_BACK: usize = 256;

/// The longest key that may have lost its closing quote, in bytes.
const MAX_KEY: usize = 64;

/// The most white space before a quote to look past, in bytes.
const MAX_BLANK: usize = 64;

impl Engine {
    /// What the current string holds before the quote at `pos`, and the place where its own closing
    /// quote would be if that were lost. `next` is the byte directly after the quote.
    pub(super) fn context(
        &self,
        source: &Source<'_>,
        text: Text,
        next: Option<u8>,
    ) -> (Context, Option<usize>) {
        // A stream may look back only to the committed position, or the chunks would matter.
        let from = if self.whole { self.lex_start } else { self.lex_start.max(self.committed) };
        let from = from.max(self.pos.saturating_sub(LOOK_BACK));
        let before = Before::of(source.slice(from, self.pos));
        let touching =
            next.is_some_and(|next| !next.is_ascii_whitespace() && !b",}]:".contains(&next));
        let lost = |at: usize| Some(from + at);
        if text.is_key {
            // A key is not committed before it ends, so all of it is there.
            let key = source.slice(self.lex_start, self.pos);
            let end = lost_key(key).filter(|_| touching);
            return match (before.sign(), end) {
                // `{"key: "value"` and `{"key: ["item"`: the quote opens the first string after it.
                (Some(_), Some(end)) if is_sign_and_brackets(&key[end..]) => {
                    (Context::Named, Some(self.lex_start + end))
                }
                (Some(_), Some(end)) => (Context::Separated, Some(self.lex_start + end)),
                _ if self.string.inner_quotes > 0 => (Context::Quoted, None),
                _ => (Context::Plain, None),
            };
        }
        let quoted = self.string.inner_quotes > 0;
        let list = self.frames.top().is_some_and(Shape::is_list);
        let object = self.frames.top() == Some(Shape::Object);
        if touching {
            let separator = match (list, object) {
                (true, _) if !quoted => before.comma_between_items(),
                (_, true) => before.separator(),
                _ => None,
            };
            if let Some(at) = separator {
                let context = if quoted { Context::QuotedSeparated } else { Context::Separated };
                return (context, lost(at));
            }
        }
        // A second quote after a line end is one too many, and not a quotation of nothing.
        let doubled = next == Some(b'"') && self.string.inner.is_after_escaped_space();
        let opens = self.string.inner.may_begin() && !doubled;
        let context = match quoted {
            true if self.string.inner.is_quoting() => Context::Quotation,
            true if opens => Context::QuotedOpening,
            true => Context::Quoted,
            false if opens => Context::Opening,
            false => Context::Plain,
        };
        (context, None)
    }
}

/// In a key that has lost its closing quote: where the key ends, before the first colon or what is
/// written for one.
pub(in crate::engine) fn lost_key(content: &[u8]) -> Option<usize> {
    let head = &content[..content.len().min(MAX_KEY)];
    let sign = |at: &usize| match head[*at] {
        // `{"key\": 1}`: the closing quote was escaped.
        b'"' => *at == 0 || head[at - 1] != b'\\',
        byte => b":=,{}[]\n".contains(&byte),
    };
    let colon = (0..head.len()).find(sign)?;
    let end = without_space(&head[..colon]).len();
    (end > 0 && colon_length(&head[colon..]) > 0).then_some(end)
}

/// The length of a colon, or of what is written for one: `::`, `=` or `=>`, but not `==`.
fn colon_length(text: &[u8]) -> usize {
    match text {
        [b'=', b'=', ..] => 0,
        [b'=', b'>', ..] => 2,
        [b'=', ..] => 1,
        _ => text.iter().take_while(|byte| **byte == b':').count(),
    }
}

/// Whether this is a colon, or what is written for one, and then nothing but opening brackets and perhaps
/// the prefix of a string.
fn is_sign_and_brackets(text: &[u8]) -> bool {
    let space = text.iter().take_while(|byte| !matches!(byte, b':' | b'=')).count();
    let rest = &text[space..];
    let mut rest = without_prefix(&rest[colon_length(rest)..]);
    loop {
        rest = match without_space(rest) {
            [] => return true,
            [before @ .., b'{' | b'['] => before,
            _ => return false,
        };
    }
}

/// `content` without the prefix at its end that Python writes before a quote, as in `u"text"`.
fn without_prefix(content: &[u8]) -> &[u8] {
    match content {
        [before @ .., b'u' | b'U' | b'b' | b'B' | b'r' | b'R' | b'f' | b'F'] => {
            let apart = matches!(before, [.., b':' | b'=' | b'>' | b',' | b'{' | b'[' | b'(']);
            if apart || without_space(before).len() < before.len() { before } else { content }
        }
        _ => content,
    }
}

/// The length of the escaped quote at the end of `content`, if it seems to be the closing one: it has no
/// counterpart in the content.
pub(in crate::engine) fn escaped_closer(content: &[u8]) -> usize {
    let quotes = content.iter().filter(|byte| **byte == b'"').count();
    let ends = matches!(content, [before @ .., b'"'] if !ends_whole(before));
    if ends && quotes % 2 == 1 { 2 } else { 0 }
}

/// The content before a quote, and the length of it without white space and a prefix of the quote at its end.
struct Before<'a> {
    content: &'a [u8],
    trimmed: usize,
}

impl<'a> Before<'a> {
    fn of(content: &'a [u8]) -> Self {
        let text = without_prefix(content);
        let (far, near) = text.split_at(text.len().saturating_sub(MAX_BLANK));
        Self { content, trimmed: far.len() + without_space(near).len() }
    }

    /// The content, without white space at its end.
    fn text(&self) -> &'a [u8] {
        &self.content[..self.trimmed]
    }

    /// Where a value ends before a comma or a line end. After a bracket, a key belongs to an object
    /// in the string.
    fn separator(&self) -> Option<usize> {
        match self.text() {
            [kept @ .., b','] => Some(kept.len()),
            // In code, a semicolon ends a statement.
            [kept @ .., b';'] if !kept.iter().any(|byte| b"(){}[]=\"".contains(byte)) => {
                Some(kept.len())
            }
            [.., b'{' | b'['] => None,
            kept => self.content[self.trimmed..].contains(&b'\n').then_some(kept.len()),
        }
    }

    /// Where an item ends before a comma, unless the content is code.
    fn comma_between_items(&self) -> Option<usize> {
        let open = self.content.iter().filter(|b| matches!(b, b'(' | b'[' | b'{')).count();
        let closed = self.content.iter().filter(|b| matches!(b, b')' | b']' | b'}')).count();
        let [kept @ .., b','] = self.text() else { return None };
        let quotes = self.content.iter().filter(|b| **b == b'"').count();
        // That of `"item\", "next"` was escaped.
        let escaped = escaped_closer(kept.trim_ascii_end()) > 0;
        (open <= closed && quotes == usize::from(escaped)).then_some(kept.len())
    }

    /// The sign at the end of the content, after which a string may begin.
    fn sign(&self) -> Option<u8> {
        match self.text() {
            [.., sign @ (b':' | b'=' | b',' | b'{' | b'[')] => Some(*sign),
            [.., b'=', b'>'] => Some(b'='),
            _ => self.content[self.trimmed..].contains(&b'\n').then_some(b'\n'),
        }
    }
}
