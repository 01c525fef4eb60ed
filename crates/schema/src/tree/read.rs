//! Parses a text into a tree, without recursion.

use std::{error::Error, fmt};

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

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    /// A value or the end of an empty array.
    FirstItem,
    /// A key or the end of an empty object.
    FirstKey,
    Key,
    CommaOrEnd,
}

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
    let read = Read { nodes, deepest: 0, surrogates: false, loose: false };
    let mut reader = Reader { bytes: text.as_bytes(), at: 0, read, inner: None, outer: Vec::new() };
    reader.run()?;
    Ok(reader.read)
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
    is_object: bool,
    /// How many members or items it has so far.
    len: u32,
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    read: Read,
    /// The innermost open container.
    inner: Option<Open>,
    /// The containers around it, innermost last.
    outer: Vec<Open>,
}

impl Reader<'_> {
    fn run(&mut self) -> Result<(), TreeError> {
        let mut expect = Expect::Value;
        let mut key = Key::default();
        loop {
            self.space();
            let Some(byte) = self.peek() else { return self.fail() };
            match (expect, byte) {
                (Expect::FirstItem, b']') | (Expect::FirstKey, b'}') => self.close(),
                (Expect::FirstKey | Expect::Key, b'"') => {
                    key = self.key()?;
                    expect = Expect::Value;
                    continue;
                }
                (Expect::Value | Expect::FirstItem, b'[' | b'{') => {
                    expect = self.open(byte, std::mem::take(&mut key))?;
                    continue;
                }
                (Expect::Value | Expect::FirstItem, _) => {
                    self.scalar(byte, std::mem::take(&mut key))?;
                }
                (Expect::CommaOrEnd, b',') => {
                    self.at += 1;
                    expect = if self.is_in(true) { Expect::Key } else { Expect::Value };
                    continue;
                }
                (Expect::CommaOrEnd, b']') if self.is_in(false) => self.close(),
                (Expect::CommaOrEnd, b'}') if self.is_in(true) => self.close(),
                _ => return self.fail(),
            }
            if self.inner.is_none() {
                self.space();
                return if self.at == self.bytes.len() { Ok(()) } else { self.fail() };
            }
            expect = Expect::CommaOrEnd;
        }
    }

    fn fail<T>(&self) -> Result<T, TreeError> {
        Err(TreeError::NotJson { at: self.at })
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Whether the innermost container is an object, or an array.
    fn is_in(&self, object: bool) -> bool {
        self.inner.is_some_and(|open| open.is_object == object)
    }

    #[allow(clippy::cast_possible_truncation, reason = "the length of the text was checked")]
    fn offset(&self) -> u32 {
        self.at as u32
    }

    /// Adds a node for a value that ends here or is open, and returns its index.
    #[allow(clippy::cast_possible_truncation, reason = "there are fewer nodes than bytes")]
    #[inline]
    fn push(&mut self, kind: JsonType, start: u32, escaped: bool, key: Key) -> u32 {
        let index = self.read.nodes.len() as u32;
        let parent = match &mut self.inner {
            Some(open) => {
                open.len += 1;
                open.index
            }
            None => index,
        };
        self.read.nodes.push(Entry {
            kind,
            escaped,
            key_escaped: key.escaped,
            start,
            end: self.offset(),
            key: (key.start, key.end),
            next: index + 1,
            parent,
            len: 0,
        });
        index
    }

    fn open(&mut self, byte: u8, key: Key) -> Result<Expect, TreeError> {
        let depth = self.outer.len() + usize::from(self.inner.is_some()) + 1;
        if depth > MAX_DEPTH {
            return Err(TreeError::TooDeep);
        }
        self.read.deepest = self.read.deepest.max(depth);
        let (kind, expect) = match byte {
            b'[' => (JsonType::Array, Expect::FirstItem),
            _ => (JsonType::Object, Expect::FirstKey),
        };
        let index = self.push(kind, self.offset(), false, key);
        let open = Open { index, is_object: kind == JsonType::Object, len: 0 };
        self.outer.extend(self.inner.replace(open));
        self.at += 1;
        Ok(expect)
    }

    #[allow(clippy::cast_possible_truncation, reason = "there are fewer nodes than bytes")]
    fn close(&mut self) {
        self.at += 1;
        let (end, next) = (self.offset(), self.read.nodes.len() as u32);
        let open = std::mem::replace(&mut self.inner, self.outer.pop());
        let Some(Open { index, len, .. }) = open else { return };
        if let Some(entry) = self.read.nodes.get_mut(index as usize) {
            entry.end = end;
            entry.next = next;
            entry.len = len;
        }
    }

    fn key(&mut self) -> Result<Key, TreeError> {
        let start = self.offset();
        let escaped = self.string()?;
        let end = self.offset();
        self.space();
        if self.peek() != Some(b':') {
            return self.fail();
        }
        self.at += 1;
        Ok(Key { start, end, escaped })
    }

    fn scalar(&mut self, byte: u8, key: Key) -> Result<(), TreeError> {
        let start = self.offset();
        let mut escaped = false;
        let kind = match byte {
            b'"' => {
                escaped = self.string()?;
                JsonType::String
            }
            b't' => self.word(b"true", JsonType::Boolean)?,
            b'f' => self.word(b"false", JsonType::Boolean)?,
            b'n' => self.word(b"null", JsonType::Null)?,
            _ => {
                self.number()?;
                JsonType::Number
            }
        };
        self.push(kind, start, escaped, key);
        Ok(())
    }

    fn word(&mut self, word: &[u8], kind: JsonType) -> Result<JsonType, TreeError> {
        if !self.bytes.get(self.at..).unwrap_or_default().starts_with(word) {
            return self.fail();
        }
        self.at += word.len();
        Ok(kind)
    }

    /// Reads a string; returns whether it has escapes.
    fn string(&mut self) -> Result<bool, TreeError> {
        self.at += 1;
        let mut escaped = false;
        loop {
            self.plain();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    self.escape()?;
                    escaped = true;
                }
                _ => return self.fail(),
            }
        }
    }

    /// Skips bytes that need no attention, which are neither quotes nor backslashes nor control
    /// characters, eight at a time.
    fn plain(&mut self) {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const HIGHS: u64 = ONES * 0x80;
        // Sets the high bit of each byte below `limit`; exact up to the first such byte.
        let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGHS;
        while let Some(bytes) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            let word = u64::from_le_bytes(*bytes);
            let quote = below(word ^ (ONES * u64::from(b'"')), 1);
            let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
            let found = quote | backslash | below(word, 0x20);
            if found != 0 {
                self.at += (found.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while self.peek().is_some_and(|byte| byte >= 0x20 && !matches!(byte, b'"' | b'\\')) {
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<(), TreeError> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let digits = self.bytes.get(self.at + 2..self.at + 6).unwrap_or_default();
                if digits.len() != 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return self.fail();
                }
                // D800 to DFFF
                self.read.surrogates |=
                    matches!(digits, [b'd' | b'D', second, ..] if *second >= b'8');
                self.at += 6;
            }
            _ => return self.fail(),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), TreeError> {
        let signed = self.peek() == Some(b'-');
        self.at += usize::from(signed);
        match self.peek() {
            Some(b'0') => {
                self.read.loose |= signed;
                self.at += 1;
            }
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.read.loose = true;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.read.loose = true;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), TreeError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { self.fail() } else { Ok(()) }
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
