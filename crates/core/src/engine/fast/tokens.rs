//! Tokens of valid JSON that are complete in one chunk.

use super::{
    Delimiter, MAX_TOKEN,
    characters::{Utf8Blocks, characters},
    content::{After, Content},
    pieces,
};
use crate::{engine::strings::is_plain_unit, scan};

/// The longest run of white space, and the longest number, that is read here.
pub(super) const MAX_SHORT_TOKEN: usize = 48;

/// Reads string content from `start` (RFC 8259, section 7).
#[inline(always)]
pub(super) fn content(text: &[u8], start: usize, blocks: &mut Utf8Blocks) -> Content {
    let end = plain_or_known_run(text, start, blocks);
    content_from(text, start, end, blocks)
}

/// The end of a run of plain text, or of text that is known to be UTF-8.
#[inline(always)]
fn plain_or_known_run(text: &[u8], from: usize, blocks: &Utf8Blocks) -> usize {
    match blocks.ahead(text, from) {
        Some(known) => scan::content_run(&text[..known], from),
        None => scan::plain_run(text, from),
    }
}

/// Like [`content`], for content that usually ends in its first run. Everything else is not
/// inlined, so that the automaton keeps its registers.
#[inline(always)]
pub(super) fn short_content(text: &[u8], start: usize, blocks: &mut Utf8Blocks) -> Content {
    let end = short_run(text, start);
    match text.get(end) {
        Some(b'"') => Content { from: start, end, after: After::Quote },
        None => Content { from: start, end, after: After::End },
        Some(_) => wide_content(text, start, end, blocks),
    }
}

/// The end of a run of plain text that is usually short.
#[inline(always)]
pub(super) fn short_run(text: &[u8], from: usize) -> usize {
    scan::first_odd(text, from).unwrap_or_else(|| long_run(text, from + 8))
}

#[inline(never)]
fn long_run(text: &[u8], from: usize) -> usize {
    scan::plain_run(text, from)
}

/// The end of a run of content, including characters outside ASCII.
#[inline(never)]
pub(super) fn wide_run(text: &[u8], from: usize) -> usize {
    scan::string_run(text, from, b'"').end
}

#[inline(never)]
fn wide_content(text: &[u8], start: usize, end: usize, blocks: &mut Utf8Blocks) -> Content {
    let mut end = end;
    if text.len() - end <= pieces::LONGEST && text[end] >= 0x80 {
        let (read, after) = pieces::short_content(text, end);
        if let Some(after) = after {
            return Content { from: start, end: read, after };
        }
        end = read;
    }
    content_from(text, start, end, blocks)
}

/// Reads on from `end`, the end of the first run of plain content.
#[inline(always)]
fn content_from(text: &[u8], start: usize, end: usize, blocks: &mut Utf8Blocks) -> Content {
    let (mut from, mut end) = (start, end);
    let after = loop {
        match text.get(end) {
            Some(b'"') => break After::Quote,
            Some(b'\\') => match escape_end(text, end) {
                Some(after) => (from, end) = (after, scan::plain_run_between(text, after)),
                None => break After::Escape,
            },
            Some(0x80..) => {
                let known = blocks.known(text, end);
                if known > end {
                    end = scan::content_run(&text[..known], end);
                    continue;
                }
                if let Some(broken) = characters(text, &mut end) {
                    break broken;
                }
                end = scan::plain_run(text, end);
            }
            // The block ends here.
            Some(0x20..) => end = scan::plain_run(text, end),
            Some(_) => break After::Unusual,
            None => break After::End,
        }
    };
    Content { from, end, after }
}

/// The end of the escape whose backslash is at `at`, if it is complete and encodes a character.
#[inline(always)]
pub(super) fn escape_end(text: &[u8], at: usize) -> Option<usize> {
    if IS_SHORT_ESCAPE[usize::from(*text.get(at + 1)?)] {
        return Some(at + 2);
    }
    is_plain_unit(text.get(at..)?).then_some(at + 6)
}

/// Whether a backslash and this byte are a whole escape.
static IS_SHORT_ESCAPE: [bool; 256] = {
    let mut table = [false; 256];
    let mut rest: &[u8] = b"\"\\/bfnrt";
    while let [byte, tail @ ..] = rest {
        table[*byte as usize] = true;
        rest = tail;
    }
    table
};

/// The end of the white space at `from`, if it is short and something follows it.
#[inline(always)]
pub(super) fn gap(text: &[u8], from: usize) -> Option<usize> {
    if *text.get(from)? > b' ' { Some(from) } else { wide_gap(text, from) }
}

#[inline(always)]
fn wide_gap(text: &[u8], from: usize) -> Option<usize> {
    // A single space is the most common gap.
    if text.get(from) == Some(&b' ') && *text.get(from + 1)? > b' ' {
        return Some(from + 1);
    }
    if let Some(bytes) = text.get(from..)?.first_chunk()
        && let Some(length) = scan::indentation(*bytes)
    {
        return Some(from + length);
    }
    long_gap(text, from)
}

/// Like [`gap`], for white space that is longer than a word or has tabs in it.
#[inline(never)]
fn long_gap(text: &[u8], from: usize) -> Option<usize> {
    let at = scan::skip_space(text, from);
    (at - from < MAX_SHORT_TOKEN && at < text.len()).then_some(at)
}

/// A complete key with its colon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// The start of its content.
    pub(super) from: usize,
    /// The end of its content.
    pub(super) to: usize,
    /// Where the value starts.
    pub(super) value: usize,
    /// What delimits it.
    pub(super) quote: Delimiter,
}

/// Reads a key with the white space before it, if it is short and without escapes, and is followed
/// by a colon and the first byte of a value.
#[inline(always)]
pub(super) fn key(text: &[u8], at: usize, blocks: &mut Utf8Blocks) -> Option<Key> {
    let quote = gap(text, at)?;
    if text[quote] != b'"' {
        return None;
    }
    let from = quote + 1;
    let wide = *text.get(from)? >= 0x80;
    let mut to = if wide { from } else { scan::plain_run(text, from) };
    if wide || *text.get(to)? != b'"' {
        to = wide_key(text, to, blocks)?;
    }
    if to == from || to - from >= MAX_TOKEN - 1 {
        return None;
    }
    let colon = gap(text, to + 1)?;
    if text[colon] != b':' {
        return None;
    }
    Some(Key { from, to, value: gap(text, colon + 1)?, quote: Delimiter::Double })
}

/// The end of a key that contains characters outside ASCII.
#[inline(never)]
fn wide_key(text: &[u8], at: usize, blocks: &mut Utf8Blocks) -> Option<usize> {
    if let Some(known) = blocks.ahead(text, at) {
        let end = scan::short_content_run(&text[..known], at);
        if text.get(end) == Some(&b'"') {
            return Some(end);
        }
    }
    unknown_key(text, at, blocks)
}

/// The same if the text there was not checked yet. What is rare here would cost the usual case its
/// registers.
#[inline(never)]
fn unknown_key(text: &[u8], at: usize, blocks: &mut Utf8Blocks) -> Option<usize> {
    let Content { from, end, after } = content(text, at, blocks);
    (from == at && after == After::Quote).then_some(end)
}

/// The end of the number or literal at `at`, if it is valid and something follows it (RFC 8259,
/// sections 3 and 6).
#[inline(always)]
pub(super) fn scalar(text: &[u8], at: usize) -> Option<usize> {
    let end = match text.get(at)? {
        // What a number begins with is asked first, because numbers are the most common scalars.
        ..=b'9' => number(text, at)?,
        b't' => word(text, at, b"true")?,
        b'f' => word(text, at, b"false")?,
        b'n' => word(text, at, b"null")?,
        _ => return None,
    };
    (end < text.len() && end - at < MAX_SHORT_TOKEN).then_some(end)
}

/// A run of numbers in an array, each with a comma directly after it, and then another item.
pub(super) struct Numbers {
    pub(super) count: usize,
    /// The comma before the last one, if there is more than one.
    pub(super) comma: usize,
    /// Where the last one ends.
    pub(super) end: usize,
    /// Where the next item starts.
    pub(super) item: usize,
}

/// Reads the numbers from `at` on. They are read here and not one by one with all other values,
/// because a loop of its own needs nothing but a few registers.
#[inline(never)]
pub(super) fn numbers(text: &[u8], at: usize) -> Numbers {
    let mut read = Numbers { count: 0, comma: at, end: at, item: at };
    while let Some(b'-' | b'0'..=b'9') = text.get(read.item)
        && let Some(end) = number(text, read.item)
        && end - read.item < MAX_SHORT_TOKEN
        && text.get(end) == Some(&b',')
        && let Some(item) = gap(text, end + 1)
        && text[item] != b']'
    {
        read = Numbers { count: read.count + 1, comma: read.end, end, item };
    }
    read
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

/// The end of the run of digits at `from`. Eight at a time would be fewer instructions, but each
/// number would wait for the end of the one before it, which a branch predicts.
#[inline(always)]
fn digits(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_before_what_is_read_otherwise() {
        let read = |text: &[u8]| {
            let Numbers { count, comma, end, item } = numbers(text, 0);
            (count, comma, end, item)
        };
        assert_eq!(read(b"1, -20,\n3.5e+7,null"), (3, 6, 14, 15));
        assert_eq!(read(b"123456789,123456789012,[1"), (2, 9, 22, 23));
        assert_eq!(read(b"12,\"a\""), (1, 0, 2, 3));
        for text in
            [&b"1,"[..], b"1, ", b"1,]", b"1 ,2", b"01,2", b"1.,2", b"-,2", b"1]", b"x", b""]
        {
            assert_eq!(read(text), (0, 0, 0, 0), "{text:?}");
        }
        let long = [b'1'; MAX_SHORT_TOKEN];
        assert_eq!(read(&[&long[..], b",2"].concat()).0, 0);
        assert_eq!(read(&[&long[1..], b",2"].concat()).0, 1);
    }

    #[test]
    fn content_ends_at_quotes_escapes_and_errors() {
        let after = |text: &[u8]| {
            let [content, short] = {
                let mut blocks = Utf8Blocks::NONE;
                [content(text, 0, &mut blocks), short_content(text, 0, &mut blocks)]
            }
            .map(|content| (content.from, content.end, content.after));
            assert_eq!(content, short);
            content
        };
        assert_eq!(after(b"plain\" and"), (0, 5, After::Quote));
        assert_eq!(after("å\\n木\\\"🦀\"".as_bytes()), (9, 13, After::Quote));
        assert_eq!(after(b"\\u00e9\\ud83d"), (6, 6, After::Escape));
        assert_eq!(after(b"\\uD7FFx\\u12"), (6, 7, After::Escape));
        assert_eq!(after(b"a\xf0\x9f\xa6"), (0, 1, After::Cut(3)));
        assert_eq!(after(b"a\xc3"), (0, 1, After::Cut(1)));
        assert_eq!(after(b"a\xed\xa0\x80"), (0, 1, After::Unusual));
        assert_eq!(after(b"a\xff and more"), (0, 1, After::Unusual));
        assert_eq!(after(b"a\nb"), (0, 1, After::Unusual));
        assert_eq!(after(b"open"), (0, 4, After::End));
    }
}
