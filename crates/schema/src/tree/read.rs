//! Parses a text into a tree, without recursion.

use std::{error::Error, fmt, ops::Range};

use wiremend_core::lexer::{Fault, Lexer, Token};

use super::{Entry, JsonType, MAX_DEPTH};

/// The most nodes that memory is reserved for in advance.
const MOST_RESERVED: usize = 1024;

/// Why a text could not be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TreeError {
    /// The text is not JSON from this byte on.
    #[non_exhaustive]
    NotJson {
        /// An offset into the text, in bytes.
        at: usize,
    },
    /// The text is nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// The text is longer than 4 GiB.
    TooLong,
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { at } => write!(f, "not JSON at byte {at}"),
            Self::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels"),
            Self::TooLong => f.write_str("longer than 4 GiB"),
        }
    }
}

impl Error for TreeError {}

/// The result of parsing.
pub(super) struct Read {
    pub(super) nodes: Vec<Entry>,
    /// The most containers that were open at the same time.
    pub(super) deepest: usize,
    /// Whether a string or key has an escaped surrogate, paired or not.
    pub(super) surrogates: bool,
    /// Whether a number has a fraction, an exponent or a sign before a zero.
    pub(super) loose: bool,
}

pub(super) fn read(text: &str) -> Result<Read, TreeError> {
    if u32::try_from(text.len()).is_err() {
        return Err(TreeError::TooLong);
    }
    // The number of nodes is only estimated, with an upper bound.
    let nodes = Vec::with_capacity((text.len() / 16 + 1).min(MOST_RESERVED));
    let mut reader = Reader { nodes, inner: None, outer: Vec::new() };
    let mut lexer = Lexer::new(text, MAX_DEPTH);
    let (mut key, mut deepest) = (Key::default(), 0);
    loop {
        let token = match lexer.next_token() {
            Ok(Some(token)) => token,
            Ok(None) if lexer.is_at_end() => break,
            Err(Fault::TooDeep) => return Err(TreeError::TooDeep),
            _ => return Err(TreeError::NotJson { at: lexer.position() }),
        };
        let (start, end) = (offset(lexer.start()), offset(lexer.end()));
        match token {
            Token::Key => key = Key { start, end, escaped: lexer.is_escaped() },
            Token::Scalar(kind) => {
                let escaped = kind == JsonType::String && lexer.is_escaped();
                reader.push(kind, start..end, escaped, std::mem::take(&mut key));
            }
            Token::Begin(kind) => {
                deepest = deepest.max(lexer.depth());
                reader.open(kind, start, std::mem::take(&mut key));
            }
            Token::End => reader.close(end),
        }
    }
    let (surrogates, loose) = (lexer.has_surrogates(), lexer.has_loose_numbers());
    Ok(Read { nodes: reader.nodes, deepest, surrogates, loose })
}

#[allow(clippy::cast_possible_truncation, reason = "the length of the text was checked")]
const fn offset(at: usize) -> u32 {
    at as u32
}

/// The bytes of a member's key, with its quotes.
#[derive(Clone, Copy, Default)]
struct Key {
    start: u32,
    end: u32,
    escaped: bool,
}

/// An open container.
#[derive(Clone, Copy)]
struct Open {
    index: u32,
    /// How many members or items it has so far.
    len: u32,
}

struct Reader {
    nodes: Vec<Entry>,
    /// The innermost open container.
    inner: Option<Open>,
    /// The containers around it, innermost last.
    outer: Vec<Open>,
}

impl Reader {
    /// Adds a node for a value that has ended or is open, and returns its index.
    #[inline]
    fn push(&mut self, kind: JsonType, span: Range<u32>, escaped: bool, key: Key) -> u32 {
        // There are fewer nodes than bytes.
        let index = offset(self.nodes.len());
        let parent = match &mut self.inner {
            Some(open) => {
                open.len += 1;
                open.index
            }
            None => index,
        };
        self.nodes.push(Entry {
            kind,
            escaped,
            key_escaped: key.escaped,
            start: span.start,
            end: span.end,
            key: (key.start, key.end),
            next: index + 1,
            parent,
            len: 0,
        });
        index
    }

    fn open(&mut self, kind: JsonType, start: u32, key: Key) {
        let index = self.push(kind, start..start, false, key);
        self.outer.extend(self.inner.replace(Open { index, len: 0 }));
    }

    fn close(&mut self, end: u32) {
        let next = offset(self.nodes.len());
        let open = std::mem::replace(&mut self.inner, self.outer.pop());
        let Some(Open { index, len }) = open else { return };
        if let Some(entry) = self.nodes.get_mut(index as usize) {
            entry.end = end;
            entry.next = next;
            entry.len = len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_json_is_read_and_anything_else_is_refused() {
        for text in [
            "null",
            " [ ] ",
            "{}",
            "[1,2.5,-0,1e400,1E-2]",
            r#"{"a":{"b":[true,false]}}"#,
            r#""a\u00e9\n""#,
            "[[[]],{}]",
        ] {
            assert!(read(text).is_ok(), "{text}");
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(), "{text}");
        }
        for text in [
            "",
            " ",
            "[",
            "[1",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "1e",
            "tru",
            "nulll",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "[1}",
            "{]",
            "1 2",
            "[1 2]",
            "]",
            "}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(read(&nested(MAX_DEPTH + 1)).err(), Some(TreeError::TooDeep));
        assert_eq!(read(&"[".repeat(1 << 20)).err(), Some(TreeError::TooDeep));
    }
}
