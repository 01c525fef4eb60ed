//! How calls in Python begin, and where they seem to end.

use crate::dialect::json::SPACE;

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
    let name = String::from_utf8_lossy(name).into_owned();
    let empty = cursor.peek()? == Some(b')');
    Some(Some(Opening { name, length, list, quoted, braced, empty }))
}

pub(in crate::dialect) const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

pub(super) struct Cursor<'r> {
    pub(super) rest: &'r [u8],
    pub(super) at: usize,
    pub(super) eof: bool,
}

impl Cursor<'_> {
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
}

/// Follows the brackets and the strings of a call, to find where it seems to end.
#[derive(Clone, Debug)]
pub(super) struct Balance {
    /// How far the text was read.
    pub(super) at: usize,
    /// The quote of the string that has the call in it, with its quotes escaped.
    outer: Option<u8>,
    depth: usize,
    inside: Inside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    /// A string, with what closes it: so many of this byte.
    String(u8, usize),
    /// After a backslash in it.
    Escape(u8, usize),
}

impl Balance {
    pub(super) const fn new(outer: Option<u8>) -> Self {
        Self { at: 0, outer, depth: 0, inside: Inside::Nothing }
    }

    /// The place after the next bracket that closes what nothing in the text has opened.
    pub(super) fn end(&mut self, text: &[u8], eof: bool) -> Option<usize> {
        loop {
            let rest = text.get(self.at..)?;
            let (byte, mut length) = match (self.outer, rest) {
                (Some(outer), [b'\\', next, ..]) if *next == outer || *next == b'\\' => (*next, 2),
                (Some(_), [b'\\']) if !eof => return None,
                (_, [byte, ..]) => (*byte, 1),
                (_, []) => return None,
            };
            let run = rest.iter().take(3).take_while(|next| **next == byte).count();
            let quote = matches!(byte, b'"' | b'\'') && self.outer.is_none();
            if quote && run < 3 && run == rest.len() && !eof {
                return None;
            }
            self.inside = match (self.inside, byte) {
                (Inside::Escape(quote, marks), _) => Inside::String(quote, marks),
                (Inside::String(quote, marks), b'\\') => Inside::Escape(quote, marks),
                (Inside::String(quote, marks), _)
                    if byte == quote && (marks == 1 || run >= marks) =>
                {
                    length = length.max(marks);
                    Inside::Nothing
                }
                (inside @ Inside::String(..), _) => inside,
                (Inside::Nothing, b'"' | b'\'') => {
                    let marks = if quote && run == 3 { 3 } else { 1 };
                    length = length.max(marks);
                    Inside::String(byte, marks)
                }
                (Inside::Nothing, _) => {
                    match byte {
                        b'(' | b'[' | b'{' => self.depth += 1,
                        b')' | b']' | b'}' if self.depth == 0 => return Some(self.at + length),
                        b')' | b']' | b'}' => self.depth -= 1,
                        _ => {}
                    }
                    Inside::Nothing
                }
            };
            self.at += length;
        }
    }

    /// The call goes on after this place.
    pub(super) const fn goes_on(&mut self, at: usize) {
        self.at = at;
    }

    /// The same where so many bytes of the text were passed on.
    pub(super) const fn after(self, length: usize) -> Self {
        Self { at: self.at - length, ..self }
    }
}

/// The text of a call that is written in a string, whose quotes are escaped.
pub(super) fn unquoted(text: &[u8], quote: u8) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        let escaped = after.first().filter(|next| **next == quote || **next == b'\\');
        let escaped = escaped.filter(|_| *byte == b'\\');
        plain.push(*escaped.unwrap_or(byte));
        rest = after.get(usize::from(escaped.is_some())..).unwrap_or_default();
    }
    plain
}
