//! How calls in Python begin, their keys, and the escapes of their strings.

use crate::dialect::{arguments, json::SPACE};

/// The longest name of a function or a parameter, in bytes.
pub(super) const LONGEST_NAME: usize = 128;

/// The beginning of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dialect) struct Opening {
    pub(in crate::dialect) name: String,
    /// The length of everything up to the parenthesis and with it.
    pub(in crate::dialect) length: usize,
    /// Whether a list begins with it.
    pub(in crate::dialect) list: bool,
    /// The quote, if the call is written in a string.
    pub(in crate::dialect) quoted: Option<u8>,
    /// Whether that string is in braces: `{'f(…)'}`. Its quotes are then rarely escaped in the call.
    pub(in crate::dialect) braced: bool,
    /// Whether it has no arguments.
    pub(in crate::dialect) empty: bool,
}

/// Finds the call at the start of `rest`. The outer `None` waits for more.
pub(in crate::dialect) fn open(rest: &[u8], eof: bool) -> Option<Option<Opening>> {
    let mut cursor = Cursor { rest, at: 0, eof };
    let list = cursor.peek()? == Some(b'[');
    if list {
        cursor.at += 1;
        cursor.space();
    }
    let braced = cursor.peek()? == Some(b'{');
    if braced {
        cursor.at += 1;
        cursor.space();
    }
    let mut quoted = match cursor.peek()? {
        Some(quote @ (b'"' | b'\'')) => {
            cursor.at += 1;
            Some(quote)
        }
        _ => None,
    };
    let start = cursor.at;
    loop {
        match cursor.peek()? {
            Some(b'\\') if cursor.at - start <= LONGEST_NAME => {
                cursor.at += 1;
                if cursor.peek()? != Some(b'_') {
                    return Some(None);
                }
                cursor.at += 1;
            }
            Some(byte) if is_name(byte) && cursor.at - start <= LONGEST_NAME => cursor.at += 1,
            _ => break,
        }
    }
    let name = rest.get(start..cursor.at).unwrap_or_default();
    if !name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
        return Some(None);
    }
    // `'f'(…)` is a quoted name, and `'f(…)'` a quoted call.
    if quoted.is_some() && cursor.peek()? == quoted {
        cursor.at += 1;
        quoted = None;
    }
    if cursor.peek()? != Some(b'(') || braced && quoted.is_none() {
        return Some(None);
    }
    cursor.at += 1;
    let length = cursor.at;
    cursor.space();
    let first = cursor.peek()?;
    let plausible = match first {
        Some(b')' | b'"' | b'\'' | b'[' | b'{' | b'(' | b'-' | b'0'..=b'9' | b'\\') => true,
        Some(byte) if is_name(byte) => {
            let word = cursor.word()?;
            cursor.space();
            match cursor.peek()? {
                Some(b'=' | b',' | b')' | b':' | b'\\') => true,
                // The input ends inside of what may be an argument.
                None => eof,
                _ => matches!(word, b"True" | b"False" | b"None"),
            }
        }
        // A dictionary that is spread, or a variable that holds one.
        Some(b'*') => {
            cursor.at += 1;
            cursor.at += usize::from(cursor.peek()? == Some(b'*'));
            cursor.space();
            let written = matches!(cursor.peek()?, Some(b'{' | b'['));
            let variable = !cursor.word()?.is_empty();
            written || variable && matches!(cursor.peek()?, Some(b')' | b',' | b'('))
        }
        // A comment.
        Some(b'#') => {
            cursor.at += 1;
            cursor.peek()?.is_none_or(|byte| byte.is_ascii_whitespace())
        }
        None => eof,
        _ => false,
    };
    let name = String::from_utf8_lossy(name).into_owned();
    let empty = first == Some(b')');
    Some(plausible.then_some(Opening { name, length, list, quoted, braced, empty }))
}

/// A name without the backslashes with which Markdown escapes its underscores.
pub(super) fn unescaped(name: &[u8]) -> String {
    let plain: Vec<u8> = name.iter().copied().filter(|byte| *byte != b'\\').collect();
    String::from_utf8_lossy(&plain).into_owned()
}

pub(in crate::dialect) const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

pub(super) struct Cursor<'r> {
    pub(super) rest: &'r [u8],
    pub(super) at: usize,
    pub(super) eof: bool,
}

impl<'r> Cursor<'r> {
    /// The next byte. The outer `None` waits for more.
    pub(super) fn peek(&self) -> Option<Option<u8>> {
        match self.rest.get(self.at) {
            Some(byte) => Some(Some(*byte)),
            None if self.eof || self.at > 4 * SPACE => Some(None),
            None => None,
        }
    }

    pub(super) fn space(&mut self) {
        let rest = self.rest.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    /// The same on one line.
    pub(super) fn blanks(&mut self) {
        let rest = self.rest.get(self.at..).unwrap_or_default();
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
        self.at += rest.iter().take(SPACE).take_while(blank).count();
    }

    pub(super) fn word(&mut self) -> Option<&'r [u8]> {
        let start = self.at;
        while self.at - start < LONGEST_NAME {
            match self.peek()? {
                Some(byte) if is_name(byte) => self.at += 1,
                // Markdown escapes underscores.
                Some(b'\\') => {
                    let escaped = Cursor { at: self.at + 1, ..*self };
                    if escaped.peek()? != Some(b'_') {
                        break;
                    }
                    self.at += 2;
                }
                _ => break,
            }
        }
        self.rest.get(start..self.at)
    }
}

/// The key of a keyword argument, with the sign after it. `None` waits for more.
pub(super) fn key(cursor: &mut Cursor<'_>) -> Option<Option<String>> {
    let quote = match cursor.peek()? {
        Some(quote @ (b'"' | b'\'')) => Some(quote),
        _ => None,
    };
    cursor.at += usize::from(quote.is_some());
    let mut name = Vec::new();
    let start = cursor.at;
    loop {
        match cursor.peek()? {
            Some(b'\\') if cursor.at - start <= LONGEST_NAME => cursor.at += 1,
            Some(byte) if (is_name(byte) || byte >= 0x80) && name.len() <= LONGEST_NAME => {
                name.push(byte);
                cursor.at += 1;
            }
            _ => break,
        }
    }
    if name.is_empty() || name.first().is_some_and(u8::is_ascii_digit) {
        return Some(None);
    }
    if let Some(quote) = quote {
        if cursor.peek()? != Some(quote) {
            return Some(None);
        }
        cursor.at += 1;
    }
    cursor.space();
    match cursor.peek()? {
        Some(b'=') => {
            cursor.at += 1;
            if cursor.peek()? == Some(b'=') {
                return Some(None);
            }
        }
        Some(b':') => {
            cursor.at += 1;
        }
        _ => return Some(None),
    }
    Some(Some(String::from_utf8_lossy(&name).into_owned()))
}

/// The JSON for an escape of Python, and its length. `None` waits for more. If the text is Markdown,
/// an escaped underscore is one.
pub(super) fn escape(
    rest: &[u8],
    raw: bool,
    markdown: bool,
    eof: bool,
) -> Option<(usize, Vec<u8>)> {
    let Some(&byte) = rest.get(1) else { return eof.then(|| (1, b"\\\\".to_vec())) };
    let mut json = Vec::new();
    if markdown && byte == b'_' {
        return Some((2, b"_".to_vec()));
    }
    if raw {
        arguments::escape(rest.get(..2)?, &mut json);
        return Some((2, json));
    }
    let digits = match byte {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => 0,
    };
    if digits > 0 {
        let hex = rest.get(2..).unwrap_or_default();
        let read = hex.iter().take(digits).take_while(|byte| byte.is_ascii_hexdigit()).count();
        if read == hex.len() && read < digits && !eof {
            return None;
        }
        if read == digits {
            let hex = std::str::from_utf8(hex.get(..digits)?).ok()?;
            let code = u32::from_str_radix(hex, 16).unwrap_or(0xFFFD);
            match char::from_u32(code) {
                Some(c) => {
                    arguments::escape(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut json);
                }
                // Half of a pair, which may be completed by the next escape.
                None => json.extend_from_slice(format!("\\u{:04x}", code & 0xFFFF).as_bytes()),
            }
            return Some((2 + digits, json));
        }
    }
    let plain: &[u8] = match byte {
        b'n' => b"\n",
        b't' => b"\t",
        b'r' => b"\r",
        b'b' => b"\x08",
        b'f' => b"\x0c",
        b'a' => b"\x07",
        b'v' => b"\x0b",
        b'0' => b"\0",
        b'\n' => b"",
        b'\\' | b'\'' | b'"' => rest.get(1..2)?,
        // Python keeps a backslash that begins no escape.
        _ => b"\\",
    };
    let length = if plain == b"\\" && byte != b'\\' { 1 } else { 2 };
    arguments::escape(plain, &mut json);
    Some((length, json))
}
