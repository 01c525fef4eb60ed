//! Tokens of valid JSON, as far as one chunk holds them.

use super::SHORT;
use crate::scan;

/// The longest white space, and the longest number, that is read here.
pub(super) const NEAR: usize = 48;

/// What stands behind a stretch of string content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// A quote.
    Quote,
    /// A backslash whose escape is cut off, odd, or half of a surrogate pair.
    Escape,
    /// The end of the chunk.
    End,
    /// The end of the chunk, and before it so many bytes of a character that is cut off.
    Cut(usize),
    /// What may not stand in a string.
    Odd,
}

/// A stretch of string content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    /// Behind its last escape, or where it starts.
    pub(super) from: usize,
    pub(super) end: usize,
    pub(super) behind: Behind,
}

/// Reads string content from `start` on (RFC 8259, section 7).
#[inline(always)]
pub(super) fn content(text: &[u8], start: usize) -> Content {
    let mut from = start;
    loop {
        let run = scan::string_run(text, from, b'"');
        let end = run.end;
        if !run.ascii
            && let Err(error) = core::str::from_utf8(&text[from..end])
        {
            let cut = error.error_len().is_none() && end == text.len();
            let valid = from + error.valid_up_to();
            let behind = if cut { Behind::Cut(end - valid) } else { Behind::Odd };
            return Content { from, end: valid, behind };
        }
        let behind = match text.get(end) {
            Some(b'"') => Behind::Quote,
            Some(b'\\') => match escape_end(text, end) {
                Some(behind) => {
                    from = behind;
                    continue;
                }
                None => Behind::Escape,
            },
            Some(_) => Behind::Odd,
            None => Behind::End,
        };
        return Content { from, end, behind };
    }
}

/// Behind the escape whose backslash stands at `at`, if it is whole, and stands for a character.
#[inline(always)]
fn escape_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => {
            let digits = text.get(at + 2..at + 6)?;
            // `\uD800` to `\uDFFF` are halves of a pair, or lone.
            let half = matches!(digits, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
            (digits.iter().all(u8::is_ascii_hexdigit) && !half).then_some(at + 6)
        }
        _ => None,
    }
}

/// Behind white space, if that is short and something follows it.
#[inline(always)]
pub(super) fn gap(text: &[u8], from: usize) -> Option<usize> {
    if *text.get(from)? > b' ' { Some(from) } else { wide_gap(text, from) }
}

#[inline]
fn wide_gap(text: &[u8], from: usize) -> Option<usize> {
    // A single space is the most common gap.
    if text.get(from) == Some(&b' ') && *text.get(from + 1)? > b' ' {
        return Some(from + 1);
    }
    let at = scan::skip_space(text, from);
    (at - from < NEAR && at < text.len()).then_some(at)
}

/// A key that is whole, with its colon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// Behind its quote.
    pub(super) from: usize,
    /// Before its second quote.
    pub(super) to: usize,
    /// Where the value starts.
    pub(super) value: usize,
}

/// Reads a key, white space before it included, if it is short, without escapes, and followed by a
/// colon and the first byte of a value.
#[inline(always)]
pub(super) fn key(text: &[u8], at: usize) -> Option<Key> {
    let quote = gap(text, at)?;
    if text[quote] != b'"' {
        return None;
    }
    let from = quote + 1;
    let run = scan::string_run(text, from, b'"');
    let to = run.end;
    let clean = to > from && to - from < SHORT - 1 && *text.get(to)? == b'"';
    if !clean || !run.ascii && core::str::from_utf8(&text[from..to]).is_err() {
        return None;
    }
    let colon = gap(text, to + 1)?;
    if text[colon] != b':' {
        return None;
    }
    Some(Key { from, to, value: gap(text, colon + 1)? })
}

/// Behind the number or the literal at `at`, if that is one, and something follows it (RFC 8259,
/// sections 3 and 6).
#[inline(always)]
pub(super) fn scalar(text: &[u8], at: usize) -> Option<usize> {
    let end = match text.get(at)? {
        b't' => word(text, at, b"true")?,
        b'f' => word(text, at, b"false")?,
        b'n' => word(text, at, b"null")?,
        _ => number(text, at)?,
    };
    (end < text.len() && end - at < NEAR).then_some(end)
}

#[inline(always)]
fn word(text: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    text.get(at..)?.starts_with(word).then_some(at + word.len())
}

#[inline(always)]
fn number(text: &[u8], at: usize) -> Option<usize> {
    let at = at + usize::from(text.get(at) == Some(&b'-'));
    let mut end = match text.get(at)? {
        b'0' => at + 1,
        b'1'..=b'9' => digits(text, at + 1),
        _ => return None,
    };
    if text.get(end) == Some(&b'.') {
        let from = end + 1;
        end = digits(text, from);
        if end == from {
            return None;
        }
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let from = end + 1 + usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        end = digits(text, from);
        if end == from {
            return None;
        }
    }
    Some(end)
}

#[inline(always)]
fn digits(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}
