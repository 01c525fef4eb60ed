//! Escapes and control characters in strings.

use alloc::{format, string::String};

use super::{
    Engine, Flow, Source, Step, Text,
    quote::Quote,
    quotes::Inner,
    source::{Edge, Look},
    state::Stray,
    try_peek,
};
use crate::RepairKind;

impl Engine {
    /// A raw control character.
    pub(super) fn control(&mut self, byte: u8, text: Text) -> Step {
        let at = self.pos;
        let span = at..at + 1;
        match byte {
            b'\n' => self.edit(RepairKind::UnescapedControl, span, "\\n")?,
            b'\r' => self.edit(RepairKind::UnescapedControl, span, "\\r")?,
            b'\t' => self.edit(RepairKind::UnescapedControl, span, "\\t")?,
            0x08 => self.edit(RepairKind::UnescapedControl, span, "\\b")?,
            0x0c => self.edit(RepairKind::UnescapedControl, span, "\\f")?,
            _ => self.edit(RepairKind::UnescapedControl, span, format!("\\u{byte:04x}"))?,
        }
        self.pos += 1;
        let space = matches!(byte, b'\n' | b'\r' | b'\t');
        match byte {
            b'\n' => self.string.inner.line_end(),
            _ if space => self.string.inner.space(),
            _ => {}
        }
        if !(space && self.string.tail.is_some_and(|tail| self.pos - tail <= self.window)) {
            self.commit_text(text);
        }
        Ok(Flow::Go)
    }

    /// A backslash.
    pub(super) fn escape(&mut self, source: &Source<'_>, text: Text) -> Step {
        let at = self.pos;
        let Some(next) = source.byte(at + 1) else {
            if !source.is_last() {
                return Ok(Flow::Wait);
            }
            self.cut_off()?;
            self.edit(RepairKind::CutEscape, at..at + 1, "")?;
            self.pos += 1;
            return Ok(Flow::Go);
        };
        // The string begins with `C:\`.
        let drive = at == self.lex_start + 2 && self.string.inner.is_after_colon();
        self.string.inner.escape(next);
        if text.quote == Quote::Escaped {
            return self.doubled_escape(source, text, next);
        }
        if try_peek!(self.is_literal_escape(source), false) {
            self.string.inner.escape(b'\\');
            self.edit(RepairKind::LiteralEscape, at..at, "\\")?;
            self.pos += 1;
            self.commit_text(text);
            return Ok(Flow::Go);
        }
        match next {
            b'"' if text.quotes == 2 && text.quote == Quote::Double => {
                // A table in CSV doubles every quote: `\""` is one, and `\""""` one at the end.
                let mut look = source.look(at + 1, self.window);
                while try_peek!(look.peek(), 0) == b'"' {
                    look.bump();
                }
                self.pos += 2;
                if look.passed().is_multiple_of(2) {
                    self.edit(RepairKind::DoubledQuote, at + 2..at + 3, "")?;
                    self.pos += 1;
                }
            }
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.pos += 2,
            b'u' => return self.unicode_escape(source, text, at),
            b'x' if text.quote == Quote::Single => return self.control_escape(source, text),
            b'\'' | b'`' => {
                let own =
                    matches!((text.quote, next), (Quote::Single, b'\'') | (Quote::Backtick, b'`'));
                let kind = if own { text.quote.kind() } else { RepairKind::BadEscape };
                self.edit(kind, at..at + 1, "")?;
                self.pos += 2;
            }
            _ => {
                if next.is_ascii_alphabetic() && !text.is_key && self.string.stray != Stray::Path {
                    if self.string.stray == Stray::None && self.reads_again(source) {
                        return Ok(Flow::Go);
                    }
                    self.string.stray = if drive { Stray::Path } else { Stray::Seen };
                }
                self.edit(RepairKind::BadEscape, at..at, "\\")?;
                self.pos += 1;
            }
        }
        self.commit_text(text);
        Ok(Flow::Go)
    }

    /// Whether the backslash here and the letter after it, which would be an escape, are both text:
    /// a backspace or a form feed, part of a path, or a command of LaTeX, in a string with a backslash
    /// that starts no escape.
    fn is_literal_escape(&mut self, source: &Source<'_>) -> Result<bool, Edge> {
        let letter = source.byte(self.pos + 1);
        let Some(letter @ (b'b' | b'f' | b'n' | b'r' | b't')) = letter else { return Ok(false) };
        let look = self.look(source, self.pos + 1);
        match letter {
            _ if self.string.stray == Stray::None => Ok(false),
            b'b' | b'f' => Ok(true),
            _ if self.string.stray == Stray::Path => Ok(look.peek_at(1)?.is_ascii_alphanumeric()),
            _ => begins_command(look),
        }
    }

    /// Reads a string of a whole text from its start again, once it is known that it has a backslash that
    /// starts no escape, if one before it seemed to. Returns whether it does.
    fn reads_again(&mut self, source: &Source<'_>) -> bool {
        let read = source.again(self.lex_start, self.pos);
        let doubtful = |pair: &[u8]| matches!(pair, [b'\\', b'b' | b'f' | b'n' | b'r' | b't']);
        let edited = self.script.before(self.lex_start) < self.script.edits.len();
        if !self.whole || edited || !read.windows(2).any(doubtful) {
            return false;
        }
        // A path is one word so far, whose first backslash seemed to begin an escape.
        let drive = matches!(read, [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
        let path = drive && !read.iter().any(u8::is_ascii_whitespace);
        self.string.stray = if path { Stray::Path } else { Stray::Seen };
        self.pos = self.lex_start;
        self.string.inner = Inner::default();
        true
    }

    /// A backslash in a document that is escaped one time too many.
    fn doubled_escape(&mut self, source: &Source<'_>, text: Text, next: u8) -> Step {
        let at = self.pos;
        match next {
            b'"' => return self.quote(source, text, 2),
            b'\\' => {
                // Remove one level: `\\\"` becomes `\"`, `\\n` becomes `\n`, and `\\\\` becomes
                // `\\`.
                let Some(third) = source.byte(at + 2) else {
                    if !source.is_last() {
                        return Ok(Flow::Wait);
                    }
                    self.cut_off()?;
                    self.edit(RepairKind::CutEscape, at..at + 2, "")?;
                    self.pos += 2;
                    return Ok(Flow::Go);
                };
                if third == b'\\' {
                    let Some(fourth) = source.byte(at + 3) else {
                        if !source.is_last() {
                            return Ok(Flow::Wait);
                        }
                        self.cut_off()?;
                        self.edit(RepairKind::CutEscape, at..at + 3, "")?;
                        self.pos += 3;
                        return Ok(Flow::Go);
                    };
                    let (after, length) = match fourth {
                        b'"' => ("\\\"", 4),
                        b'\\' => ("\\\\", 4),
                        _ => ("\\\\", 3),
                    };
                    self.edit(RepairKind::EscapedDocument, at..at + length, after)?;
                    self.pos += length;
                } else if third == b'u'
                    && let Some(whole) = escaped_pair(source.from(at))
                {
                    if !whole {
                        if !source.is_last() {
                            return Ok(Flow::Wait);
                        }
                        self.cut_off()?;
                        self.edit(RepairKind::CutEscape, at..source.end(), "")?;
                        self.pos = source.end();
                        return Ok(Flow::Go);
                    }
                    self.edit(RepairKind::EscapedDocument, at..at + 2, "\\")?;
                    self.edit(RepairKind::EscapedDocument, at + 7..at + 9, "\\")?;
                    self.pos += ESCAPED_PAIR;
                } else {
                    let escapes_unit = third == b'u'
                        && match hex4(source.from(at + 3)) {
                            Hex::Value(value) => !(0xd800..=0xdfff).contains(&value),
                            Hex::Bad => false,
                            Hex::Short if !source.is_last() => return Ok(Flow::Wait),
                            Hex::Short => false,
                        };
                    let after = match third {
                        b'"' => "\\\"",
                        b'u' if escapes_unit => "\\",
                        b'/' | b'b' | b'f' | b'n' | b'r' | b't' => "\\",
                        _ => "\\\\",
                    };
                    let length = if third == b'"' { 3 } else { 2 };
                    // An escaped backslash before anything else is one in the document, too.
                    if third == b'"' || after.len() < length {
                        self.edit(RepairKind::EscapedDocument, at..at + length, after)?;
                    }
                    // Skip what the backslash escapes as well: half an escape would not be valid
                    // text.
                    self.pos += match third {
                        b'u' if escapes_unit => 7,
                        b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 3,
                        _ => length,
                    };
                }
            }
            // An escape of the outer level is the character itself, which must stay escaped.
            b'n' | b'r' | b't' | b'b' | b'f' | b'/' => self.pos += 2,
            b'u' => return self.unicode_escape(source, text, at),
            _ => {
                self.edit(RepairKind::BadEscape, at..at, "\\")?;
                self.pos += 1;
            }
        }
        self.commit_text(text);
        Ok(Flow::Go)
    }

    /// `\x` in a string in apostrophes: Python's `repr` writes what cannot be printed like this, control
    /// characters, the no-break space and the soft hyphen. With other digits it may be part of a path
    /// or a pattern.
    fn control_escape(&mut self, source: &Source<'_>, text: Text) -> Step {
        let at = self.pos;
        let value = match source.from(at + 2) {
            [high, low, ..] => {
                let digits = [high, low].map(|digit| (*digit as char).to_digit(16));
                if let [Some(high), Some(low)] = digits { Some(high * 16 + low) } else { None }
            }
            [] | [_] if !source.is_last() => return Ok(Flow::Wait),
            _ => None,
        };
        match value {
            Some(value @ (0..=0x1f | 0x7f | 0xa0 | 0xad)) => {
                self.edit(text.quote.kind(), at..at + 4, format!("\\u{value:04x}"))?;
                self.pos += 4;
            }
            _ => {
                self.edit(RepairKind::BadEscape, at..at, "\\")?;
                self.pos += 1;
            }
        }
        self.commit_text(text);
        Ok(Flow::Go)
    }

    /// `\u` and what follows.
    pub(super) fn unicode_escape(&mut self, source: &Source<'_>, text: Text, at: usize) -> Step {
        let rest = source.from(at + 2);
        let first = match hex4(rest) {
            Hex::Value(value) => value,
            Hex::Bad if rest.first() == Some(&b'{') && text.quote != Quote::Escaped => {
                return self.code_point(source, text, at);
            }
            Hex::Bad => {
                self.edit(RepairKind::BadEscape, at..at, "\\")?;
                self.pos = at + 2;
                self.commit_text(text);
                return Ok(Flow::Go);
            }
            Hex::Short => return self.cut_escape(source, at),
        };
        let lone = match first {
            0xd800..=0xdbff => match rest.get(4..).unwrap_or_default() {
                [b'\\', b'u', low @ ..] => match hex4(low) {
                    Hex::Value(0xdc00..=0xdfff) => {
                        self.pos = at + 12;
                        self.commit_text(text);
                        return Ok(Flow::Go);
                    }
                    Hex::Value(_) | Hex::Bad => true,
                    Hex::Short => return self.cut_escape(source, at),
                },
                [] | [b'\\'] => return self.cut_escape(source, at),
                _ => true,
            },
            0xdc00..=0xdfff => true,
            _ => false,
        };
        if lone {
            self.edit(RepairKind::LoneSurrogate, at..at + 6, "\\ufffd")?;
        }
        self.pos = at + 6;
        self.commit_text(text);
        Ok(Flow::Go)
    }

    /// `\u{1F600}`, a code point as JavaScript escapes it (ECMA-262, section 12.9.4).
    fn code_point(&mut self, source: &Source<'_>, text: Text, at: usize) -> Step {
        let digits = &source.from(at + 3);
        let length = digits.iter().take(7).take_while(|byte| byte.is_ascii_hexdigit()).count();
        if length == digits.len() && length < 7 && !source.is_last() {
            return Ok(Flow::Wait);
        }
        let closed = digits.get(length) == Some(&b'}');
        let value = core::str::from_utf8(&digits[..length]).ok();
        let value = value.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match value.and_then(char::from_u32).filter(|_| closed) {
            Some(character) => {
                let mut units = [0; 2];
                let units = character.encode_utf16(&mut units).iter();
                let escaped = units.map(|unit| format!("\\u{unit:04x}")).collect::<String>();
                self.edit(RepairKind::BadEscape, at..at + length + 4, escaped)?;
                self.pos = at + length + 4;
            }
            None => {
                self.edit(RepairKind::BadEscape, at..at, "\\")?;
                self.pos = at + 2;
            }
        }
        self.commit_text(text);
        Ok(Flow::Go)
    }

    /// An escape of which not all has arrived.
    fn cut_escape(&mut self, source: &Source<'_>, at: usize) -> Step {
        if !source.is_last() {
            return Ok(Flow::Wait);
        }
        self.cut_off()?;
        self.edit(RepairKind::CutEscape, at..source.end(), "")?;
        self.pos = source.end();
        Ok(Flow::Go)
    }
}

/// Commands of LaTeX whose first letter makes an escape of JSON, and whose other letters are no word or
/// name that may begin a line of code: not `\ni` or `\to`, because `i = 0` and `o = 1` do.
const COMMANDS: [&[u8]; 20] = [
    b"nabla",
    b"neq",
    b"newcommand",
    b"noindent",
    b"nolimits",
    b"nonumber",
    b"notin",
    b"rangle",
    b"rbrace",
    b"rceil",
    b"rfloor",
    b"rho",
    b"right",
    b"rightarrow",
    b"tfrac",
    b"therefore",
    b"theta",
    b"tilde",
    b"times",
    b"triangle",
];

/// More of them, where a brace follows.
const COMMANDS_WITH_BRACE: [&[u8]; 7] =
    [b"ref", b"tag", b"text", b"textbf", b"textit", b"textrm", b"texttt"];

/// Whether a command of LaTeX begins with `text`, if its first letter makes an escape of JSON.
pub(crate) fn is_command(text: &[u8]) -> bool {
    let length = text.iter().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (name, rest) = text.split_at(length);
    COMMANDS.contains(&name) || rest.first() == Some(&b'{') && COMMANDS_WITH_BRACE.contains(&name)
}

/// Whether a command of LaTeX begins at `look`.
fn begins_command(mut look: Look<'_>) -> Result<bool, Edge> {
    let next = loop {
        match look.peek() {
            Ok(byte) if byte.is_ascii_alphabetic() && look.passed() < 16 => look.bump(),
            Err(Edge::More) => return Err(Edge::More),
            other => break other.ok(),
        }
    };
    let name = look.seen();
    Ok(COMMANDS.contains(&name) || next == Some(b'{') && COMMANDS_WITH_BRACE.contains(&name))
}

/// The length of both halves of a character in a document that is escaped one time too many.
const ESCAPED_PAIR: usize = 14;

/// Whether the text begins with those, or may if more of it arrives. `None` if not.
fn escaped_pair(text: &[u8]) -> Option<bool> {
    let seen = text.get(..ESCAPED_PAIR).unwrap_or(text);
    let is_part = seen.iter().enumerate().all(|(at, byte)| match at {
        0 | 1 | 7 | 8 => *byte == b'\\',
        2 | 9 => *byte == b'u',
        3 | 10 => matches!(byte, b'd' | b'D'),
        4 => matches!(byte, b'8' | b'9' | b'a' | b'b' | b'A' | b'B'),
        11 => matches!(byte, b'c'..=b'f' | b'C'..=b'F'),
        _ => byte.is_ascii_hexdigit(),
    });
    // Before the first digits, it may be any other escape.
    (is_part && seen.len() > 4).then_some(seen.len() == ESCAPED_PAIR)
}

enum Hex {
    Value(u32),
    Bad,
    Short,
}

fn hex4(text: &[u8]) -> Hex {
    let mut value = 0;
    for at in 0..4 {
        let Some(digit) = text.get(at) else { return Hex::Short };
        let Some(digit) = (*digit as char).to_digit(16) else { return Hex::Bad };
        value = value * 16 + digit;
    }
    Hex::Value(value)
}
