//! Tokens, as a reading sees them.

use alloc::{borrow::Cow, string::String};

use crate::{
    RepairKind,
    engine::{Shape, literal, shape_of},
};

/// Where the next occurrence of something is. It is looked for once, however often it is asked for.
pub(super) struct Next {
    mark: &'static [u8],
    /// From where it was looked for, and where it was found.
    known: Option<(usize, Option<usize>)>,
}

impl Next {
    pub(super) const fn new(mark: &'static [u8]) -> Self {
        Self { mark, known: None }
    }

    /// The next occurrence at or after `from`.
    pub(super) fn after(&mut self, input: &[u8], from: usize) -> Option<usize> {
        let first = |from: usize, to: usize| {
            let part = input.get(from..to.min(input.len())).unwrap_or_default();
            part.windows(self.mark.len()).position(|part| part == self.mark).map(|at| from + at)
        };
        match self.known {
            Some((asked, None)) if from >= asked => None,
            Some((asked, Some(at))) if (asked..=at).contains(&from) => Some(at),
            // A question that goes back is answered up to where the last one began.
            Some((asked, known)) if from < asked => {
                let found = first(from, asked + self.mark.len() - 1).or(known);
                self.known = Some((from, found));
                found
            }
            _ => {
                let found = first(from, input.len());
                self.known = Some((from, found));
                found
            }
        }
    }
}

/// A number, or a word that is a literal.
pub(super) struct Scalar {
    pub(super) length: usize,
    /// What is wrong with it, and what it becomes.
    pub(super) mended: Option<(RepairKind, Cow<'static, str>)>,
    pub(super) is_cut: bool,
}

/// The longest token that is looked at, in bytes. A longer one that is no plain number is text.
const LONGEST: usize = 256;

/// The length of a number of many digits at the start of `text`. One that is anything but plain is text.
fn long_number(text: &[u8]) -> Option<usize> {
    let sign = usize::from(text.first() == Some(&b'-'));
    let digits = text.iter().skip(sign).take_while(|byte| byte.is_ascii_digit()).count();
    let next = text.get(sign + digits);
    let ends = next.is_none_or(|byte| byte.is_ascii_whitespace() || b",]}".contains(byte));
    (ends && digits > 0 && text[sign] != b'0').then_some(sign + digits)
}

/// The number at the start of `text`.
pub(super) fn number(text: &[u8]) -> Option<Scalar> {
    let part = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'+' | b'-' | b'.' | b'_' | b'%' | b'/' | b':' | b'$')
            || *byte >= 0x80
    };
    if !matches!(text.first(), Some(b'0'..=b'9' | b'-' | b'+' | b'.')) {
        return None;
    }
    let length = text.iter().take(LONGEST + 1).take_while(|byte| part(byte)).count();
    if length > LONGEST {
        return long_number(text).map(|length| Scalar { length, mended: None, is_cut: false });
    }
    let mut length = until_token_space(&text[..length]);
    if let Some(comment) = text[..length].windows(2).position(|pair| pair == b"//") {
        length = comment;
    }
    if text[0] == b'+'
        && matches!(
            text.get(length..),
            Some([b' ', b'0'..=b'9', ..] | [b' ', b'(', b'0'..=b'9', ..])
        )
    {
        // A number to call.
        return None;
    }
    if text.get(length) == Some(&b'*') && text[..length].ends_with(b"/") {
        length -= 1;
    }
    let is_last = length == text.len();
    let mended = |mended| Some(Scalar { length, mended, is_cut: false });
    match shape_of(&text[..length]) {
        Shape::Valid => mended(None),
        Shape::Mend(RepairKind::TrailingDot, kept) if is_last => {
            let mended = Some((RepairKind::CutNumber, Cow::Owned(kept)));
            Some(Scalar { length, mended, is_cut: true })
        }
        Shape::Mend(kind, after) => mended(Some((kind, Cow::Owned(after)))),
        Shape::Cut(kept) if is_last => {
            let mended = Some((RepairKind::CutNumber, Cow::Owned(kept)));
            Some(Scalar { length, mended, is_cut: true })
        }
        Shape::Cut(kept) if !kept.is_empty() => {
            mended(Some((RepairKind::CutNumber, Cow::Owned(kept))))
        }
        Shape::Cut(_) | Shape::Text => None,
    }
}

/// A number with white space in it, as in `0. 85`.
pub(super) fn spaced_number(text: &[u8]) -> Option<Scalar> {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(text.first() == Some(&b'-'));
    let whole = sign + digits(sign);
    if whole == sign || whole > LONGEST {
        return None;
    }
    let blanks = |from: usize| text[from..].iter().take_while(|byte| **byte == b' ').count();
    let before = blanks(whole);
    if text.get(whole + before) != Some(&b'.') {
        return None;
    }
    let fraction = whole + before + 1;
    let after = blanks(fraction);
    let length = digits(fraction + after);
    let end = fraction + after + length;
    if before + after == 0 || before + after > 2 || length == 0 || length > LONGEST {
        return None;
    }
    let plain: String =
        text[..end].iter().filter(|byte| **byte != b' ').map(|byte| *byte as char).collect();
    matches!(shape_of(plain.as_bytes()), Shape::Valid).then(|| Scalar {
        length: end,
        mended: Some((RepairKind::DigitSeparator, Cow::Owned(plain))),
        is_cut: false,
    })
}

/// A number whose digits are grouped by commas, as in `1,234,567`.
pub(super) fn grouped_number(text: &[u8]) -> Option<Scalar> {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(text.first() == Some(&b'-'));
    let first = digits(sign);
    let mut end = sign + first;
    if !(1..=3).contains(&first) || text.get(sign) == Some(&b'0') {
        return None;
    }
    while end < LONGEST && text.get(end) == Some(&b',') && digits(end + 1) == 3 {
        end += 4;
    }
    if end == sign + first {
        return None;
    }
    if text.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let plain: String =
        text[..end].iter().filter(|byte| **byte != b',').map(|byte| *byte as char).collect();
    Some(Scalar {
        length: end,
        mended: Some((RepairKind::DigitSeparator, Cow::Owned(plain))),
        is_cut: false,
    })
}

/// The length of the word at the start of `text`.
pub(super) fn word(text: &[u8]) -> usize {
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte >= 0x80;
    let length = text.iter().take_while(part).count();
    until_token_space(&text[..length])
}

/// How much of a word is before a space that is none in JSON, or a sign of another script.
fn until_token_space(text: &[u8]) -> usize {
    let ends = |at: &usize| {
        text[*at] >= 0x80
            && (odd_space(&text[*at..]).is_some() || wide_sign(&text[*at..]).is_some())
    };
    (0..text.len()).find(ends).unwrap_or(text.len())
}

/// The literal at the start of `text`.
pub(super) fn word_literal(text: &[u8]) -> Option<Scalar> {
    let sign = usize::from(text.first() == Some(&b'-'));
    let length = sign + word(&text[sign..]);
    if length > 16 || length == sign {
        return None;
    }
    let is_last = length == text.len();
    let (kind, json) = literal(&text[..length], is_last)?;
    Some(Scalar {
        length,
        mended: kind.map(|kind| (kind, Cow::Borrowed(json))),
        is_cut: kind == Some(RepairKind::CutLiteral),
    })
}

/// How long the character at the start of `text` is, and whether it is one.
pub(super) fn character(text: &[u8]) -> (usize, bool) {
    let longest = &text[..text.len().min(4)];
    match core::str::from_utf8(longest) {
        Ok(text) => (text.chars().next().map_or(1, char::len_utf8), true),
        Err(error) if error.valid_up_to() > 0 => {
            let valid = core::str::from_utf8(&longest[..error.valid_up_to()]).unwrap_or_default();
            (valid.chars().next().map_or(1, char::len_utf8), true)
        }
        Err(error) => (error.error_len().unwrap_or(longest.len()), false),
    }
}

/// The length of a space at the start of `text` that is none in JSON.
pub(super) fn odd_space(text: &[u8]) -> Option<usize> {
    match text {
        [0x00..=0x08 | 0x0b | 0x0c | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f, ..] => Some(1),
        // An escaped line end, and one that is escaped outside of strings.
        [b'\\', b' ' | b'\t' | b'\r' | b'\n', ..] => Some(1),
        [b'\\', b'n' | b'r' | b't', ..] => Some(2),
        [0xc2, 0xad, ..] => Some(2),
        [0xe2, 0x80, 0xaa..=0xae, ..] => Some(3),
        // A colour of a terminal (ECMA-48, section 5.4).
        [0x1b, b'[', rest @ ..] => {
            let length = rest.iter().take(16).position(|byte| (0x40..=0x7e).contains(byte))?;
            Some(2 + length + 1)
        }
        [0xc2, 0xa0, ..] => Some(2),
        [0xe2, 0x80, 0x80..=0x8f | 0xa8 | 0xa9 | 0xaf, ..] => Some(3),
        [0xe2, 0x81, 0x9f | 0xa0, ..] => Some(3),
        [0xe3, 0x80, 0x80, ..] => Some(3),
        [0xef, 0xbb, 0xbf, ..] => Some(3),
        // What byte-level tokens write for a space, a line end and a tab.
        [0xc4, 0xa0 | 0x8a | 0x89, ..] => Some(2),
        _ => None,
    }
}

/// Whether the text begins with dots that stand for more.
pub(super) fn is_ellipsis(text: &[u8]) -> bool {
    text.starts_with(b"...") || text.starts_with("…".as_bytes())
}

/// The sign of JSON that a sign of another script stands for, and its length.
pub(super) fn wide_sign(text: &[u8]) -> Option<(u8, usize)> {
    match text {
        // ， 、 ； ،
        [0xef, 0xbc, 0x8c, ..] | [0xe3, 0x80, 0x81, ..] | [0xef, 0xbc, 0x9b, ..] => Some((b',', 3)),
        [0xd8, 0x8c, ..] => Some((b',', 2)),
        // ：
        [0xef, 0xbc, 0x9a, ..] => Some((b':', 3)),
        _ => None,
    }
}

/// How much of `text` is before the white space at its end, that of other scripts too.
pub(super) fn solid(mut text: &[u8]) -> usize {
    loop {
        text = text.trim_ascii_end();
        let odd = [2, 3].into_iter().find(|length| {
            let start = text.len().checked_sub(*length);
            start.is_some_and(|start| {
                text[start] >= 0x80 && odd_space(&text[start..]) == Some(*length)
            })
        });
        match odd {
            Some(length) => text = &text[..text.len() - length],
            None => return text.len(),
        }
    }
}

/// The length of a name at the start of `text`, with modules before it, as in `np.float64`.
pub(super) fn name(text: &[u8]) -> usize {
    let mut length = word(text);
    if text.starts_with(b"new ") {
        return 4 + word(&text[4..]);
    }
    while length > 0 && text.get(length) == Some(&b'.') && !text[0].is_ascii_digit() {
        let more = word(&text[length + 1..]);
        if more == 0 {
            break;
        }
        length += 1 + more;
    }
    length
}
