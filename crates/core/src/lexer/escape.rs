//! Decodes strings: from the escapes of JSON to text.

use alloc::{borrow::Cow, string::String};

/// The escape at the start of some content of a string. The length is in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
pub enum Escape {
    /// A character, and the length of its escape or of the pair of escapes.
    Char(char, usize),
    /// A surrogate without its other half. Its escape has a length of 6.
    Half(u32),
    /// The content ends before it is certain what it is.
    Incomplete,
    /// It is not an escape of JSON.
    Invalid,
}

/// Decodes the escape that `content` starts with.
///
/// ```
/// use wiremend_core::lexer::{Escape, decode_escape};
/// assert_eq!(decode_escape(br"\n and more"), Escape::Char('\n', 2));
/// assert_eq!(decode_escape(br"\ud83d\ude00"), Escape::Char('😀', 12));
/// assert_eq!(decode_escape(br"\ud83d!"), Escape::Half(0xd83d));
/// assert_eq!(decode_escape(br"\ud83d"), Escape::Incomplete);
/// ```
#[must_use]
#[inline]
pub fn decode_escape(content: &[u8]) -> Escape {
    match content {
        [b'\\', b'u', rest @ ..] => match unit(rest) {
            Ok(unit) => match char::from_u32(unit) {
                Some(decoded) => Escape::Char(decoded, 6),
                None => half(unit, rest),
            },
            Err(fault) => fault,
        },
        [b'\\', escape, ..] => simple(*escape).map_or(Escape::Invalid, |c| Escape::Char(c, 2)),
        [b'\\'] | [] => Escape::Incomplete,
        _ => Escape::Invalid,
    }
}

/// Decodes the escape of a surrogate. `rest` starts with its digits.
#[inline(never)]
fn half(first: u32, rest: &[u8]) -> Escape {
    if first >= 0xdc00 {
        return Escape::Half(first);
    }
    match rest.get(4..).unwrap_or_default() {
        [b'\\', b'u', low @ ..] => match unit(low) {
            Ok(second) => {
                join_surrogates(first, second).map_or(Escape::Half(first), |c| Escape::Char(c, 12))
            }
            Err(Escape::Incomplete) => Escape::Incomplete,
            Err(_) => Escape::Half(first),
        },
        [] | [b'\\'] => Escape::Incomplete,
        _ => Escape::Half(first),
    }
}

/// The character of two surrogates, if they are the first and the second half of one.
#[must_use]
pub const fn join_surrogates(first: u32, second: u32) -> Option<char> {
    match (first, second) {
        (0xd800..=0xdbff, 0xdc00..=0xdfff) => {
            char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))
        }
        _ => None,
    }
}

/// The character that an escape of two bytes encodes.
#[inline]
const fn simple(escape: u8) -> Option<char> {
    Some(match escape {
        b'"' | b'\\' | b'/' => escape as char,
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

/// The value of the four hexadecimal digits at the start of `text`.
#[inline]
fn unit(text: &[u8]) -> Result<u32, Escape> {
    let digits = text.get(..4).unwrap_or(text);
    let mut unit = 0;
    for &digit in digits {
        unit = unit << 4 | char::from(digit).to_digit(16).ok_or(Escape::Invalid)?;
    }
    if digits.len() < 4 { Err(Escape::Incomplete) } else { Ok(unit) }
}

/// Decodes the content of a string, which is passed without its quotes. A surrogate without its
/// other half becomes U+FFFD. What is not an escape of JSON, which is in no valid text, stays as it
/// is.
///
/// ```
/// use wiremend_core::lexer::unescape;
/// assert_eq!(unescape(r"caf\u00e9 \/ \ud83d"), "café / \u{fffd}");
/// ```
#[must_use]
#[inline]
pub fn unescape(content: &str) -> Cow<'_, str> {
    match content.find('\\') {
        Some(at) => Cow::Owned(unescaped(content, at)),
        None => Cow::Borrowed(content),
    }
}

/// Like [`unescape`], for content with the first escape at `at`.
fn unescaped(content: &str, mut at: usize) -> String {
    let mut out = String::with_capacity(content.len());
    let mut rest = content;
    loop {
        let (plain, escape) = rest.split_at(at);
        out.push_str(plain);
        let length = match decode_escape(escape.as_bytes()) {
            Escape::Char(decoded, length) => {
                out.push(decoded);
                length
            }
            Escape::Half(_) => {
                out.push(char::REPLACEMENT_CHARACTER);
                6
            }
            // Half of a character at the end of the content.
            Escape::Incomplete if escape.len() >= 6 => {
                out.push(char::REPLACEMENT_CHARACTER);
                6
            }
            Escape::Incomplete | Escape::Invalid if escape.is_empty() => return out,
            Escape::Incomplete | Escape::Invalid => {
                out.push('\\');
                1
            }
        };
        rest = escape.get(length..).unwrap_or_default();
        at = rest.find('\\').unwrap_or(rest.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_surrogates() {
        for (content, text) in [
            ("", ""),
            ("plain é", "plain é"),
            (r#"a\"\\\/\n\u0041é"#, "a\"\\/\nAé"),
            (r"\b\f\n\r\t", "\u{8}\u{c}\n\r\t"),
            (r"\ud83d\ude00!", "😀!"),
            (r"\uD83D\uDE00\u00e9", "😀é"),
            (r"x\ud83d", "x\u{fffd}"),
            (r"x\ud83d\", "x\u{fffd}\\"),
            (r"\ude00\ud83d\u0041", "\u{fffd}\u{fffd}A"),
            (r"\ud83dx\ude00\ud83d\n", "\u{fffd}x\u{fffd}\u{fffd}\n"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
            (r"\\ud83d", "\\ud83d"),
            // None of these is in a valid text.
            (r"\x\u12\u12g4\", r"\x\u12\u12g4\"),
            (r"\ud83d\u12", "\u{fffd}\\u12"),
            (r"\é\u00é0", r"\é\u00é0"),
        ] {
            assert_eq!(unescape(content), text, "{content}");
        }
    }

    #[test]
    fn a_part_of_an_escape_never_says_anything_else() {
        for whole in [r"\n", r"\u00e9", r"\ud83d\ude00"] {
            let decoded = decode_escape(whole.as_bytes());
            assert!(matches!(decoded, Escape::Char(_, length) if length == whole.len()));
            for cut in 0..whole.len() {
                assert_eq!(decode_escape(&whole.as_bytes()[..cut]), Escape::Incomplete, "{cut}");
            }
        }
        for invalid in [r"\x", r"\u+041", r"\ug", "a", r"\u00 0"] {
            assert_eq!(decode_escape(invalid.as_bytes()), Escape::Invalid, "{invalid}");
        }
        for half in [r"\ude00", r"\ud83d!", r"\ud83d\n", r"\ud83d\u0041", r"\ud83d\ux"] {
            assert!(matches!(decode_escape(half.as_bytes()), Escape::Half(_)), "{half}");
        }
    }
}
