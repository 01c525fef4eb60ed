//! The clean stretch: tokens of valid JSON, read without look-ahead machinery.
//!
//! This is a shortcut and nothing else. It reads only what the rules of the other files would read
//! the same way, whatever follows; at anything else, and where the bytes that decide have not
//! arrived, it stops at the last place between tokens and leaves the rest to them. The laws are
//! checked with every input cut into single bytes too, where hardly anything is read here.

use super::{Engine, Lex, Source, frames::Shape, strings::is_plain_unit};
use crate::{grammar::Expect, scan};

/// The longest key, and the longest stretch of white space, that is read here.
const SHORT: usize = 512;

/// A key that was read, and what stood before it.
#[derive(Clone, Copy)]
struct Key {
    comma: Option<usize>,
    start: usize,
    end: usize,
    /// Behind the colon.
    next: usize,
}

/// What a quote that ends a value is followed by.
enum Behind {
    /// Another member, whose key was read already.
    Key(Key),
    /// Anything else that leaves no doubt.
    Other,
}

/// Behind white space, if that is short and something follows it.
#[inline]
fn space(text: &[u8], from: usize) -> Option<usize> {
    let at = match text.get(from)? {
        b' ' | b'\n' | b'\r' | b'\t' => scan::skip_space(text, from),
        _ => return Some(from),
    };
    (at - from < SHORT && at < text.len()).then_some(at)
}

impl Engine {
    /// Reads clean tokens as far as they go; whether there were any.
    pub(super) fn clean(&mut self, source: &Source<'_>) -> bool {
        let held = self.options.limits().buffer();
        if self.edits.len() > self.firm || self.tail.is_some() || held < 8 * SHORT {
            return false;
        }
        let (text, base) = (source.text(), source.base());
        let from = self.pos;
        let mut key = None;
        while self.clean_step(text, base, &mut key).is_some() {}
        self.steps += (self.pos - from) as u64;
        self.pos > from
    }

    /// Reads one token and what must stand before it. `ahead` is the key that the token before
    /// looked at already.
    #[inline]
    fn clean_step(&mut self, text: &[u8], base: usize, ahead: &mut Option<Key>) -> Option<()> {
        let at = self.pos - base;
        let object = match self.frames.top()? {
            Shape::Object => true,
            Shape::Array => false,
            Shape::Tuple | Shape::Call | Shape::Doubled => return None,
        };
        if let Some(key) = ahead.take() {
            return self.clean_value(text, base, key.next, Some(key), None, ahead);
        }
        let at = space(text, at)?;
        match (self.expect, text[at]) {
            (Expect::MemberEnd, b',') => {
                let key = clean_key(text, space(text, at + 1)?, Some(at))?;
                self.clean_value(text, base, key.next, Some(key), None, ahead)
            }
            (Expect::FirstKey, b'"') => {
                let key = clean_key(text, at, None)?;
                self.clean_value(text, base, key.next, Some(key), None, ahead)
            }
            (Expect::ItemEnd, b',') => {
                let next = space(text, at + 1)?;
                self.clean_value(text, base, next, None, Some(at), ahead)
            }
            (Expect::FirstItem, byte) if byte != b']' => {
                self.clean_value(text, base, at, None, None, ahead)
            }
            (Expect::FirstKey | Expect::MemberEnd, b'}') if object => self.clean_close(base + at),
            (Expect::FirstItem | Expect::ItemEnd, b']') if !object => self.clean_close(base + at),
            _ => None,
        }
    }

    /// Closes the innermost container, unless it is the document.
    #[inline]
    fn clean_close(&mut self, at: usize) -> Option<()> {
        if self.frames.len() < 2 {
            return None;
        }
        self.closed_items = self.frames.pop()?.items;
        self.pos = at + 1;
        self.clean_ended();
        Some(())
    }

    /// A value that needs no second look has ended at `pos`.
    #[inline]
    fn clean_ended(&mut self) {
        self.mark = self.pos;
        self.anchor = self.pos;
        self.mark_in_string = false;
        self.closed_string = None;
        self.expect = match self.frames.top() {
            Some(Shape::Object) => Expect::MemberEnd,
            Some(Shape::Call) => Expect::CallEnd,
            Some(Shape::Doubled) => Expect::DoubledEnd,
            Some(Shape::Array | Shape::Tuple) | None => Expect::ItemEnd,
        };
    }

    /// What was pending before a value is certain now.
    #[inline]
    fn clean_begin(&mut self, text: &[u8], base: usize, key: Option<Key>, comma: Option<usize>) {
        if let Some(key) = key {
            if let Some(comma) = key.comma {
                self.comma = base + comma;
                self.comma_length = 1;
                self.member_edits = self.serial;
            } else {
                self.member_edits = self.serial;
            }
            self.key_start = base + key.start - 1;
            self.frames.set_key(&text[key.start..key.end]);
        } else {
            self.frames.begin_item();
            if let Some(comma) = comma {
                self.comma = base + comma;
                self.comma_length = 1;
                self.member_edits = self.serial;
            }
        }
    }

    /// Reads a value at `at`.
    #[inline]
    fn clean_value(
        &mut self,
        text: &[u8],
        base: usize,
        at: usize,
        key: Option<Key>,
        comma: Option<usize>,
        ahead: &mut Option<Key>,
    ) -> Option<()> {
        match text[at] {
            b'"' => {
                let end = clean_string(text, at + 1)?;
                let behind = self.behind_string(text, end + 1)?;
                self.clean_begin(text, base, key, comma);
                // As after any string, the quote stays uncertain until the next value begins.
                self.lex_start = base + at + 1;
                self.pos = base + end + 1;
                self.clean_ended();
                self.mark = base + end;
                self.mark_in_string = true;
                self.closed_string = Some(base + end);
                if let Behind::Key(key) = behind {
                    *ahead = Some(key);
                }
            }
            open @ (b'{' | b'[') => {
                let doubled = open == b'{' && *text.get(at + 1)? == b'{';
                if doubled || self.frames.depth() >= self.options.limits().depth() {
                    return None;
                }
                self.clean_begin(text, base, key, comma);
                let (shape, expect) = match open {
                    b'{' => (Shape::Object, Expect::FirstKey),
                    _ => (Shape::Array, Expect::FirstItem),
                };
                self.frames.push(shape, base + at);
                self.pos = base + at + 1;
                self.clean_ended();
                self.comma = usize::MAX;
                self.comma_length = 1;
                self.expect = expect;
            }
            _ => {
                let end = clean_scalar(text, at, self.window, key.is_some())?;
                self.clean_begin(text, base, key, comma);
                self.pos = base + end;
                self.clean_ended();
            }
        }
        debug_assert!(self.lex == Lex::None);
        Some(())
    }

    /// What follows a quote that ends a value, where that leaves no doubt.
    #[inline]
    fn behind_string(&self, text: &[u8], from: usize) -> Option<Behind> {
        let at = space(text, from)?;
        let object = self.frames.top() == Some(Shape::Object);
        match text[at] {
            b',' if object => clean_key(text, space(text, at + 1)?, Some(at)).map(Behind::Key),
            b',' => {
                let next = text[space(text, at + 1)?];
                let item = matches!(next, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9');
                item.then_some(Behind::Other)
            }
            b'}' | b']' if (text[at] == b'}') == object => {
                if self.frames.depth() > 1 {
                    let next = text[space(text, at + 1)?];
                    return matches!(next, b',' | b'}' | b']').then_some(Behind::Other);
                }
                Some(Behind::Other)
            }
            _ => None,
        }
    }
}

/// Reads a key at its quote, and the colon, up to the value.
#[inline]
fn clean_key(text: &[u8], at: usize, comma: Option<usize>) -> Option<Key> {
    if *text.get(at)? != b'"' {
        return None;
    }
    let run = scan::string_run(text, at + 1, b'"');
    let short = run.ascii && run.end > at + 1 && run.end - at < SHORT;
    if !short || *text.get(run.end)? != b'"' {
        return None;
    }
    let colon = space(text, run.end + 1)?;
    if text[colon] != b':' {
        return None;
    }
    let next = space(text, colon + 1)?;
    Some(Key { comma, start: at + 1, end: run.end, next })
}

/// Reads string content from `from` on: the index of the closing quote.
#[inline]
fn clean_string(text: &[u8], from: usize) -> Option<usize> {
    match text.get(from)? {
        // An empty string, or several quotes.
        b'"' => return matches!(text.get(from + 1)?, b',' | b'}' | b']').then_some(from),
        // JSON in a string, whose quotes may not be escaped.
        b'{' | b'[' if *text.get(from + 1)? == b'"' => return None,
        _ => {}
    }
    let mut at = from;
    loop {
        let run = scan::string_run(text, at, b'"');
        if !run.ascii && core::str::from_utf8(&text[at..run.end]).is_err() {
            return None;
        }
        match text.get(run.end)? {
            b'"' => {
                // A comma before the quote may have followed a lost one.
                let content = &text[at..run.end];
                let blank = content.iter().rev().take_while(|b| **b == b' ').count();
                let doubtful = blank == content.len() || content[content.len() - blank - 1] == b',';
                let escaped = content.is_empty() && at > from;
                return (!doubtful || escaped).then_some(run.end);
            }
            b'\\'
                if matches!(
                    text.get(run.end + 1)?,
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'
                ) =>
            {
                at = run.end + 2;
            }
            b'\\' if is_plain_unit(&text[run.end..]) => at = run.end + 6,
            _ => return None,
        }
    }
}

/// Reads a number or a literal and looks at what follows: the index behind it.
#[inline]
fn clean_scalar(text: &[u8], at: usize, window: usize, member: bool) -> Option<usize> {
    let rest = &text[at..];
    let end = match rest.first()? {
        b't' if rest.starts_with(b"true") => at + 4,
        b'f' if rest.starts_with(b"false") => at + 5,
        b'n' if rest.starts_with(b"null") => at + 4,
        b'-' | b'0'..=b'9' => at + clean_number(rest)?,
        _ => return None,
    };
    if end - at + 2 >= window {
        return None;
    }
    let behind = space(text, end)?;
    match text[behind] {
        // `1,234` may be one number.
        b',' if member && behind == end => {
            let next = *text.get(end + 1)?;
            (!next.is_ascii_digit()).then_some(end)
        }
        b',' | b'}' | b']' => Some(end),
        _ => None,
    }
}

/// The length of the JSON number at the start of `text`, if something follows it.
#[inline]
fn clean_number(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| -> Option<usize> {
        let mut at = from;
        while text.get(at)?.is_ascii_digit() {
            at += 1;
        }
        (at > from).then_some(at)
    };
    let sign = usize::from(text[0] == b'-');
    let mut at = match text.get(sign)? {
        b'0' => sign + 1,
        _ => digits(sign)?,
    };
    if *text.get(at)? == b'.' {
        at = digits(at + 1)?;
    }
    if matches!(text.get(at)?, b'e' | b'E') {
        let signed = usize::from(matches!(text.get(at + 1)?, b'+' | b'-'));
        at = digits(at + 1 + signed)?;
    }
    Some(at)
}
