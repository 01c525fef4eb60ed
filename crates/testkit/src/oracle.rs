//! Decides what is JSON, without asking wiremend.

use serde::de::IgnoredAny;

/// Whether `text` is one JSON text by the grammar: any depth, any number, any escape.
///
/// ```
/// use wiremend_testkit::oracle::is_json;
/// assert!(is_json(br#"[1e999, "\ud800"]"#));
/// assert!(!is_json(b"[1,]"));
/// ```
#[must_use]
pub fn is_json(text: &[u8]) -> bool {
    // `IgnoredAny` skips what it reads without recursion, and therefore without a limit on depth.
    std::str::from_utf8(text).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// Whether `text` is a sequence of JSON texts, at least one.
#[must_use]
pub fn are_documents(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    documents.next().is_some_and(|first| first.is_ok())
        && documents.all(|document| document.is_ok())
}

/// Whether most consumers can read `text`: JSON with a depth of at most 127, numbers within `f64`, and
/// no lone surrogate.
#[must_use]
pub fn is_usable(text: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(text).is_ok()
}

/// One step of reading a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
pub enum Token {
    /// `{`
    OpenObject,
    /// `[`
    OpenArray,
    /// `}` or `]`
    Close,
    /// A key, as written between its quotes.
    Key(Vec<u8>),
    /// A string value, as written between its quotes.
    Text(Vec<u8>),
    /// A number or a literal, as written.
    Scalar(Vec<u8>),
}

/// A [`Token`] and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placed {
    /// The token.
    pub token: Token,
    /// Its first byte.
    pub start: usize,
    /// The offset after its last byte.
    pub end: usize,
}

/// The tokens of a JSON text, in order; `None` if it is not JSON.
///
/// ```
/// use wiremend_testkit::oracle::{Token, tokens};
/// let tokens = tokens(br#"{"a": 1}"#).unwrap();
/// assert_eq!(tokens[1].token, Token::Key(b"a".to_vec()));
/// assert_eq!(tokens[2].start, 6);
/// ```
#[must_use]
pub fn tokens(text: &[u8]) -> Option<Vec<Placed>> {
    if !is_json(text) {
        return None;
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    // The text is known to be valid, so the last sign alone decides whether a string is a key.
    let mut in_object = Vec::new();
    let mut key_next = false;
    while let Some(&byte) = text.get(at) {
        let start = at;
        at += 1;
        let token = match byte {
            b'{' | b'[' => {
                in_object.push(byte == b'{');
                key_next = byte == b'{';
                if key_next { Token::OpenObject } else { Token::OpenArray }
            }
            b'}' | b']' => {
                in_object.pop();
                Token::Close
            }
            b',' => {
                key_next = in_object.last() == Some(&true);
                continue;
            }
            b':' => {
                key_next = false;
                continue;
            }
            b'"' => {
                at = end_of_string(text, at);
                let inside = text.get(start + 1..at - 1)?.to_vec();
                if key_next { Token::Key(inside) } else { Token::Text(inside) }
            }
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => {
                let ends =
                    |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                at = text.iter().skip(at).position(ends).map_or(text.len(), |run| at + run);
                Token::Scalar(text.get(start..at)?.to_vec())
            }
        };
        tokens.push(Placed { token, start, end: at });
    }
    Some(tokens)
}

/// The offset after the closing quote of the string whose content starts at `at`.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// The deepest nesting of a JSON text, in levels.
#[must_use]
pub fn depth(tokens: &[Placed]) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for placed in tokens {
        match placed.token {
            Token::OpenObject | Token::OpenArray => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::Key(_) | Token::Text(_) | Token::Scalar(_) => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The longest stretch of a JSON text that a streaming reader may have to withhold at once: a key, a
/// number or a literal, with the separators and the white space on both sides. A key is emitted with
/// its value, so a number or a literal is withheld together with its key.
#[must_use]
pub fn longest_hold(text: &[u8], tokens: &[Placed]) -> usize {
    let end_before =
        |at: usize| at.checked_sub(1).and_then(|at| tokens.get(at)).map_or(0, |t| t.end);
    let start_after = |at: usize| tokens.get(at + 1).map_or(text.len(), |next| next.start);
    let hold = |(at, placed): (usize, &Placed)| {
        let around = (placed.start - end_before(at)) + (start_after(at) - placed.end);
        match placed.token {
            Token::Text(_) => around + 2,
            Token::Key(_) => {
                let scalar = |next: &&Placed| matches!(next.token, Token::Scalar(_));
                let value = tokens.get(at + 1).filter(scalar);
                let of_value = value.map_or(0, |value| start_after(at + 1) - value.start);
                around + placed.end - placed.start + of_value
            }
            Token::OpenObject | Token::OpenArray | Token::Close | Token::Scalar(_) => {
                around + placed.end - placed.start
            }
        }
    };
    tokens.iter().enumerate().map(hold).max().unwrap_or(0)
}

/// Whether a string or a key of the text contains half of an escaped surrogate pair.
#[must_use]
pub fn has_lone_surrogate(tokens: &[Placed]) -> bool {
    tokens.iter().any(|placed| match &placed.token {
        Token::Key(raw) | Token::Text(raw) => {
            let quoted = [b"\"", raw.as_slice(), b"\""].concat();
            serde_json::from_slice::<String>(&quoted).is_err()
        }
        Token::OpenObject | Token::OpenArray | Token::Close | Token::Scalar(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_has_no_limit_here() {
        let deep = ["[".repeat(100_000), "]".repeat(100_000)].concat();
        assert!(is_json(deep.as_bytes()));
        assert_eq!(depth(&tokens(deep.as_bytes()).unwrap()), 100_000);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", " ", "[1,]", "{\"a\"}", "01", "\"\n\"", "[] []", "nul", "\"\\x\""] {
            assert!(!is_json(text.as_bytes()), "{text}");
        }
        assert!(!is_json(b"\"\xe9\""));
        assert!(are_documents(b"[] {} 1") && !are_documents(b" ") && !are_documents(b"[] ["));
    }

    #[test]
    fn surrogates_are_told_apart() {
        let lone = |text: &str| has_lone_surrogate(&tokens(text.as_bytes()).unwrap());
        assert!(lone(r#"["\ud83d"]"#) && lone(r#"{"\ude00": 1}"#));
        assert!(!lone(r#"["\ud83d\ude00", "\\ud83d"]"#));
    }

    #[test]
    fn keys_and_values_are_told_apart() {
        let tokens = tokens(br#"{"a": ["b", {"c": "d"}], "e": "f"}"#).unwrap();
        let keys = tokens.iter().filter(|placed| matches!(placed.token, Token::Key(_))).count();
        assert_eq!(keys, 3);
    }
}
