//! Reading a text into a tree, without recursion.

use std::{error::Error, fmt};

use super::{Entry, JsonKind, MAX_DEPTH};

/// Why a text has no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TreeError {
    /// The text is no JSON from this byte on.
    NotJson {
        /// An offset into the text, in bytes.
        at: usize,
    },
    /// It is nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// It is longer than 4 GiB.
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

pub(super) fn read(text: &str) -> Result<Vec<Entry>, TreeError> {
    if u32::try_from(text.len()).is_err() {
        return Err(TreeError::TooLong);
    }
    let mut reader = Reader { bytes: text.as_bytes(), at: 0, nodes: Vec::new(), open: Vec::new() };
    reader.run()?;
    Ok(reader.nodes)
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    nodes: Vec<Entry>,
    /// The containers that are open, innermost last.
    open: Vec<u32>,
}

impl Reader<'_> {
    fn run(&mut self) -> Result<(), TreeError> {
        let mut expect = Expect::Value;
        let mut key = (0, 0);
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
                    expect = self.open_container(byte, std::mem::take(&mut key))?;
                    continue;
                }
                (Expect::Value | Expect::FirstItem, _) => {
                    self.scalar(byte, std::mem::take(&mut key))?;
                }
                (Expect::CommaOrEnd, b',') => {
                    self.at += 1;
                    expect = match self.container() {
                        Some(JsonKind::Object) => Expect::Key,
                        _ => Expect::Value,
                    };
                    continue;
                }
                (Expect::CommaOrEnd, b']') if self.container() == Some(JsonKind::Array) => {
                    self.close();
                }
                (Expect::CommaOrEnd, b'}') if self.container() == Some(JsonKind::Object) => {
                    self.close();
                }
                _ => return self.fail(),
            }
            if self.open.is_empty() {
                self.space();
                return if self.at == self.bytes.len() { Ok(()) } else { self.fail() };
            }
            expect = Expect::CommaOrEnd;
        }
    }

    fn fail<T>(&self) -> Result<T, TreeError> {
        Err(TreeError::NotJson { at: self.at })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn container(&self) -> Option<JsonKind> {
        let index = *self.open.last()?;
        self.nodes.get(index as usize).map(|entry| entry.kind)
    }

    #[allow(clippy::cast_possible_truncation, reason = "the length of the text was checked")]
    fn offset(&self) -> u32 {
        self.at as u32
    }

    #[allow(clippy::cast_possible_truncation, reason = "there are fewer nodes than bytes")]
    fn push(&mut self, kind: JsonKind, start: u32, key: (u32, u32)) -> u32 {
        let index = self.nodes.len() as u32;
        let parent = self.open.last().copied();
        if let Some(entry) = parent.and_then(|parent| self.nodes.get_mut(parent as usize)) {
            entry.len += 1;
        }
        self.nodes.push(Entry {
            kind,
            start,
            end: start,
            key,
            next: index + 1,
            parent: parent.unwrap_or(index),
            len: 0,
        });
        index
    }

    fn open_container(&mut self, byte: u8, key: (u32, u32)) -> Result<Expect, TreeError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(TreeError::TooDeep);
        }
        let (kind, expect) = match byte {
            b'[' => (JsonKind::Array, Expect::FirstItem),
            _ => (JsonKind::Object, Expect::FirstKey),
        };
        let index = self.push(kind, self.offset(), key);
        self.open.push(index);
        self.at += 1;
        Ok(expect)
    }

    #[allow(clippy::cast_possible_truncation, reason = "there are fewer nodes than bytes")]
    fn close(&mut self) {
        self.at += 1;
        let (end, next) = (self.offset(), self.nodes.len() as u32);
        let open = self.open.pop();
        if let Some(entry) = open.and_then(|index| self.nodes.get_mut(index as usize)) {
            entry.end = end;
            entry.next = next;
        }
    }

    fn key(&mut self) -> Result<(u32, u32), TreeError> {
        let start = self.offset();
        self.string()?;
        let end = self.offset();
        self.space();
        if self.peek() != Some(b':') {
            return self.fail();
        }
        self.at += 1;
        Ok((start, end))
    }

    fn scalar(&mut self, byte: u8, key: (u32, u32)) -> Result<(), TreeError> {
        let start = self.offset();
        let kind = match byte {
            b'"' => {
                self.string()?;
                JsonKind::String
            }
            b't' => self.word(b"true", JsonKind::Boolean)?,
            b'f' => self.word(b"false", JsonKind::Boolean)?,
            b'n' => self.word(b"null", JsonKind::Null)?,
            _ => {
                self.number()?;
                JsonKind::Number
            }
        };
        let end = self.offset();
        let index = self.push(kind, start, key);
        if let Some(entry) = self.nodes.get_mut(index as usize) {
            entry.end = end;
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8], kind: JsonKind) -> Result<JsonKind, TreeError> {
        if !self.bytes.get(self.at..).unwrap_or_default().starts_with(word) {
            return self.fail();
        }
        self.at += word.len();
        Ok(kind)
    }

    fn string(&mut self) -> Result<(), TreeError> {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(0x20..) => self.at += 1,
                _ => return self.fail(),
            }
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
                self.at += 6;
            }
            _ => return self.fail(),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), TreeError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
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
    fn what_is_json_is_read_and_what_is_not_is_refused() {
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
        assert_eq!(read(&nested(MAX_DEPTH + 1)), Err(TreeError::TooDeep));
        assert_eq!(read(&"[".repeat(1 << 20)), Err(TreeError::TooDeep));
    }
}
