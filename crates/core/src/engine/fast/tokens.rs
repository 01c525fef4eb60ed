//! Tokens of valid JSON that are complete in one chunk.

use super::{Delimiter, MAX_TOKEN};
use crate::{engine::strings::is_plain_unit, scan};

/// The longest run of white space, and the longest number, that is read here.
pub(super) const MAX_SHORT_TOKEN: usize = 48;

/// What follows a run of string content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// A quote that may end the string.
    Quote,
    /// A double quote in a string in single quotes.
    Double,
    /// A backslash whose escape is incomplete, unusual, or half of a surrogate pair.
    Escape,
    /// The end of the chunk.
    End,
    /// The end of the chunk, in a character of which this many bytes have arrived.
    Cut(usize),
    /// A byte that is not allowed in a string.
    Unusual,
}

/// A run of string content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    /// The end of its last escape, or where it starts.
    pub(super) from: usize,
    pub(super) end: usize,
    pub(super) after: After,
}

/// Reads string content from `start` (RFC 8259, section 7).
#[inline(always)]
pub(super) fn content(text: &[u8], start: usize) -> Content {
    content_from(text, start, scan::plain_run(text, start))
}

/// Like [`content`], for content that usually ends in its first run. Everything else is not
/// inlined, so that the automaton keeps its registers.
#[inline(always)]
pub(super) fn short_content(text: &[u8], start: usize) -> Content {
    let end = short_run(text, start);
    match text.get(end) {
        Some(b'"') => Content { from: start, end, after: After::Quote },
        None => Content { from: start, end, after: After::End },
        Some(_) => wide_content(text, start, end),
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
fn wide_content(text: &[u8], start: usize, end: usize) -> Content {
    content_from(text, start, end)
}

/// Reads on from `end`, the end of the first run of plain content.
#[inline(always)]
fn content_from(text: &[u8], start: usize, end: usize) -> Content {
    let (mut from, mut end) = (start, end);
    let after = loop {
        match text.get(end) {
            Some(b'"') => break After::Quote,
            Some(b'\\') => match escape_end(text, end) {
                Some(after) => (from, end) = (after, scan::plain_run_between(text, after)),
                None => break After::Escape,
            },
            Some(0x80..) => {
                if let Some(broken) = characters(text, &mut end) {
                    break broken;
                }
                end = scan::plain_run(text, end);
            }
            Some(_) => break After::Unusual,
            None => break After::End,
        }
    };
    Content { from, end, after }
}

/// Skips characters outside ASCII. Returns what is wrong if one is incomplete or not UTF-8.
#[inline(always)]
pub(super) fn characters(text: &[u8], at: &mut usize) -> Option<After> {
    loop {
        let rest = &text[*at..];
        let word = match rest.first_chunk() {
            Some(bytes) => u32::from_le_bytes(*bytes),
            // A zero byte continues no character.
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)),
        };
        if word & 0x80 == 0 {
            return None;
        }
        let length = character_length(word);
        *at += length;
        match length {
            0 => return Some(broken_character(rest)),
            2 if word & 0x80_0000 == 0 => return None,
            3 if word & 0x8000_0000 == 0 => return None,
            2 => *at = two_byte_run(text, *at),
            3 => *at = three_byte_run(text, *at),
            _ => {}
        }
    }
}

/// The end of a run of characters of two bytes, as far as sixteen bytes can be read at a time.
#[inline(always)]
fn two_byte_run(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        let word = u128::from_le_bytes(*bytes);
        // Each lane is a lead byte and one that continues it.
        let other = word & (TWOS * 0xc0_e0) ^ (TWOS * 0x80_c0);
        // After 0xc0 and 0xc1, the character would fit in one byte.
        let rare = (word & (TWOS * 0x1e)).wrapping_sub(TWOS) & (TWOS * 0x8000);
        if other | rare != 0 {
            return at + (other | rare).trailing_zeros() as usize / 16 * 2;
        }
        at += 16;
    }
    at
}

/// The end of a run of characters of three bytes, as far as sixteen bytes can be read at a time:
/// those of China, Japan and Korea.
#[inline(always)]
fn three_byte_run(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        let word = u128::from_le_bytes(*bytes);
        // Each lane is a lead byte and two that continue it.
        let other = word & (THREES * 0xc0_c0_f0) ^ (THREES * 0x80_80_e0);
        // After 0xe0 and 0xed, not all second bytes are allowed; those are read one by one.
        let low = word & (THREES * 0x0f);
        let rare = low.wrapping_sub(THREES) | (low ^ (THREES * 0x0d)).wrapping_sub(THREES);
        let odd = other | rare & (THREES * 0x80_0000);
        if odd != 0 {
            return at + odd.trailing_zeros() as usize / 24 * 3;
        }
        at += 15;
    }
    at
}

/// The lowest bit of each of eight lanes of two bytes.
const TWOS: u128 = u128::MAX / 0xffff;

/// The lowest bit of each of five lanes of three bytes.
const THREES: u128 = 1 | 1 << 24 | 1 << 48 | 1 << 72 | 1 << 96;

/// The length of the character outside ASCII that `word` begins with, its first byte being the
/// lowest one. 0 if there is none (RFC 3629, section 4).
#[inline(always)]
const fn character_length(word: u32) -> usize {
    if word & 0xc0_e0 == 0x80_c0 {
        // Two bytes for a character that fits in one are not UTF-8.
        return if word & 0x1e == 0 { 0 } else { 2 };
    }
    if word & 0xc0_c0_f0 == 0x80_80_e0 {
        // Nor are three bytes for a character that fits in two, nor surrogates.
        let top = word & 0x20_0f;
        return if top == 0 || top == 0x20_0d { 0 } else { 3 };
    }
    // From U+10000 to U+10FFFF.
    let top = (word & 0x07) << 8 | word >> 8 & 0x30;
    let four = word & 0xc0c0_c0f8 == 0x8080_80f0 && top >= 0x0_10 && top < 0x4_10;
    if four { 4 } else { 0 }
}

/// What is wrong with the character outside ASCII that `rest` begins with: it is cut off by the end
/// of the text, or not UTF-8.
pub(super) const fn broken_character(rest: &[u8]) -> After {
    match *rest {
        [0xc2..=0xf4] => After::Cut(1),
        [0xe0, 0xa0..=0xbf] | [0xe1..=0xec | 0xee | 0xef, 0x80..=0xbf] | [0xed, 0x80..=0x9f] => {
            After::Cut(2)
        }
        [0xf0, 0x90..=0xbf] | [0xf1..=0xf3, 0x80..=0xbf] | [0xf4, 0x80..=0x8f] => After::Cut(2),
        [0xf0, 0x90..=0xbf, 0x80..=0xbf]
        | [0xf1..=0xf3, 0x80..=0xbf, 0x80..=0xbf]
        | [0xf4, 0x80..=0x8f, 0x80..=0xbf] => After::Cut(3),
        _ => After::Unusual,
    }
}

/// Continues a character of which the first `had` bytes are in `bytes`. Returns how many there are
/// now, and whether these are all; `None` if they are not UTF-8.
#[inline(always)]
pub(super) fn continue_character(
    bytes: &mut [u8; 4],
    had: usize,
    text: &[u8],
) -> Option<(usize, bool)> {
    let all = match bytes[0] {
        ..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    };
    let mut has = had;
    for &byte in text.iter().take(all - had) {
        *bytes.get_mut(has)? = byte;
        has += 1;
    }
    if has == all {
        (character_length(u32::from_le_bytes(*bytes)) == all).then_some((all, true))
    } else {
        matches!(broken_character(&bytes[..has]), After::Cut(_)).then_some((has, false))
    }
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

#[inline]
fn wide_gap(text: &[u8], from: usize) -> Option<usize> {
    // A single space is the most common gap.
    if text.get(from) == Some(&b' ') && *text.get(from + 1)? > b' ' {
        return Some(from + 1);
    }
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
pub(super) fn key(text: &[u8], at: usize) -> Option<Key> {
    let quote = gap(text, at)?;
    if text[quote] != b'"' {
        return None;
    }
    let from = quote + 1;
    let mut to = scan::plain_run(text, from);
    if *text.get(to)? != b'"' {
        to = wide_key(text, to)?;
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
fn wide_key(text: &[u8], at: usize) -> Option<usize> {
    let Content { from, end, after } = content(text, at);
    (from == at && after == After::Quote).then_some(end)
}

/// The end of the number or literal at `at`, if it is valid and something follows it (RFC 8259,
/// sections 3 and 6).
#[inline(always)]
pub(super) fn scalar(text: &[u8], at: usize) -> Option<usize> {
    let end = match text.get(at)? {
        b't' => word(text, at, b"true")?,
        b'f' => word(text, at, b"false")?,
        b'n' => word(text, at, b"null")?,
        _ => number(text, at)?,
    };
    (end < text.len() && end - at < MAX_SHORT_TOKEN).then_some(end)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_its_length() {
        let bytes = [0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
        for first in 0x80..=0xff {
            for second in bytes {
                for third in bytes {
                    for fourth in bytes {
                        let all = [first, second, third, fourth];
                        let valid = (2..=4).find(|&length| {
                            core::str::from_utf8(&all[..length])
                                .is_ok_and(|text| text.chars().count() == 1)
                        });
                        let found = character_length(u32::from_le_bytes(all));
                        assert_eq!(found, valid.unwrap_or(0), "{all:x?}");
                        for length in 1..4 {
                            let cut = match core::str::from_utf8(&all[..length]) {
                                Err(error) if is_cut_in_first(error) => After::Cut(length),
                                _ => After::Unusual,
                            };
                            assert_eq!(broken_character(&all[..length]), cut, "{all:x?}, {length}");
                        }
                    }
                }
            }
        }
    }

    /// Whether the first character is cut off.
    fn is_cut_in_first(error: core::str::Utf8Error) -> bool {
        error.error_len().is_none() && error.valid_up_to() == 0
    }

    #[test]
    fn runs_of_wide_characters_are_checked() {
        type Run = fn(&[u8], usize) -> usize;
        let runs: [(Run, &str, usize); 2] =
            [(two_byte_run, "Приветыñçöß", 16), (three_byte_run, "北方地区的", 15)];
        for (run, characters, size) in runs {
            let mut text = [characters.as_bytes(); 2].concat();
            text.push(b'"');
            assert!(run(&text, 0) > text.len() - size, "{text:x?}");
            for at in 0..=size {
                for byte in 0..=255 {
                    let before = core::mem::replace(&mut text[at], byte);
                    let end = run(&text, 0);
                    assert!(core::str::from_utf8(&text[..end]).is_ok(), "{text:x?}");
                    // It goes on to the character that is not one of them.
                    assert!(end + 3 > at, "{text:x?}");
                    text[at] = before;
                }
            }
        }
    }

    #[test]
    fn content_ends_at_quotes_escapes_and_errors() {
        let after = |text: &[u8]| {
            let [content, short] = [content(text, 0), short_content(text, 0)]
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
