//! Surrogate pairs that are split across two strings.

use std::borrow::Cow;

use wiremend_core::lexer::{Escape, decode_escape, join_surrogates};

/// Joins the texts of consecutive strings. If one ends with the first half of a pair, that half waits for
/// the second half at the start of the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Halves {
    high: Option<u32>,
}

/// Replaces a surrogate without its other half.
const LONE: char = char::REPLACEMENT_CHARACTER;

impl Halves {
    /// Whether a half is waiting.
    pub(crate) const fn is_waiting(self) -> bool {
        self.high.is_some()
    }

    /// The text that is certain. `literal` is the string as written in the payload, `text` its decoded
    /// text, with U+FFFD for every lone half.
    pub(crate) fn join<'a>(&mut self, literal: &str, text: &'a str) -> Cow<'a, str> {
        let waiting = self.high.take();
        self.high = high_at_end(literal);
        let low = waiting.and_then(|_| low_at_start(literal));
        let mut rest = text;
        if self.high.is_some() {
            rest = rest.strip_suffix(LONE).unwrap_or(rest);
        }
        let Some(high) = waiting else { return Cow::Borrowed(rest) };
        let head = match low {
            Some(low) => {
                rest = rest.strip_prefix(LONE).unwrap_or(rest);
                join_surrogates(high, low).unwrap_or(LONE)
            }
            None => LONE,
        };
        Cow::Owned(format!("{head}{rest}"))
    }

    /// The remaining text at the end.
    pub(crate) fn finish(&mut self) -> &'static str {
        if self.high.take().is_some() { "\u{fffd}" } else { "" }
    }
}

/// The first half of a pair, if a string ends with one.
fn high_at_end(literal: &str) -> Option<u32> {
    // The quote after it shows that the other half does not follow.
    let (before, escape) = literal.split_at_checked(literal.len().checked_sub(7)?)?;
    // After an odd number of backslashes, the one that seems to open the escape is itself escaped.
    let escaped = before.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
    match decode_escape(escape.as_bytes()) {
        Escape::Half(unit @ 0xd800..=0xdbff) if !escaped => Some(unit),
        _ => None,
    }
}

/// The second half of a pair, if a string starts with one.
fn low_at_start(literal: &str) -> Option<u32> {
    match decode_escape(literal.strip_prefix('"')?.as_bytes()) {
        Escape::Half(unit @ 0xdc00..) => Some(unit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn joined(literals: &[&str]) -> String {
        let mut halves = Halves::default();
        let mut out = String::new();
        for literal in literals {
            let text = json::first(literal).unwrap().0.text().unwrap();
            out.push_str(&halves.join(literal, &text));
        }
        out + halves.finish()
    }

    #[test]
    fn a_pair_is_joined_over_two_strings() {
        assert_eq!(joined(&[r#""a\ud83d""#, r#""\ude00b""#]), "a😀b");
        assert_eq!(joined(&[r#""\ud83d""#, r#""\ude00\ud83d""#, r#""\uDE00""#]), "😀😀");
        assert_eq!(joined(&[r#""\ud83d""#, r#""x""#]), "\u{fffd}x");
        assert_eq!(joined(&[r#""\ud83d""#, r#""\ud83d""#, r#""\ude00""#]), "\u{fffd}😀");
        assert_eq!(joined(&[r#""a\ud83d""#]), "a\u{fffd}");
        assert_eq!(joined(&[r#""\ude00a""#]), "\u{fffd}a");
    }

    #[test]
    fn what_only_looks_like_a_half_is_left_alone() {
        assert_eq!(joined(&[r#""\\ud83d""#, r#""\ude00""#]), "\\ud83d\u{fffd}");
        assert_eq!(joined(&[r#""a\\\ud83d""#, r#""\ude00""#]), "a\\😀");
        assert_eq!(joined(&[r#""\ud83d\ude00""#, r#""\ude00""#]), "😀\u{fffd}");
        assert_eq!(joined(&["\"\u{fffd}\"", "\"\u{fffd}\""]), "\u{fffd}\u{fffd}");
    }
}
