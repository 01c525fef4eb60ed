//! The lexer of JSON text that is in memory as a whole, for the crates of this workspace. Not part of
//! the public API.
//!
//! * [`Lexer`] checks a text, and says what is where in it.
//! * [`skip`] passes over a value of a text that was checked.
//! * [`Brackets`] finds the end of a value in pieces of a text of which nothing is known.
//! * [`unescape`] decodes the content of a string, and [`decode_escape`] one escape of it.
//!
//! Text that arrives in pieces and is read while it does, is read by an
//! [`EventReader`](crate::EventReader).

mod brackets;
mod escape;

pub use brackets::{Brackets, skip};
pub use escape::{Escape, decode_escape, join_surrogates, unescape};

use crate::{
    JsonType,
    scan::{skip_space, string_run},
};

/// Why a text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
pub enum Fault {
    /// It ends inside a value.
    Incomplete,
    /// It is not JSON, whatever follows.
    Invalid,
    /// It is nested too deeply.
    TooDeep,
}

/// What a lexer has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
pub enum Token {
    /// The bracket that opens an array or an object.
    Begin(JsonType),
    /// The bracket that closes the innermost container.
    End,
    /// The key of a member, with its quotes. Its value follows.
    Key,
    /// A whole string, with its quotes, number or literal.
    Scalar(JsonType),
}

/// What the grammar allows next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Value,
    /// A value, or the end of an empty array.
    FirstItem,
    /// A key, or the end of an empty object.
    FirstKey,
    CommaOrEnd,
    /// Nothing: the value has ended.
    Nothing,
}

/// The deepest nesting that a lexer supports, in levels.
const MAX_DEPTH: usize = 512;

/// The open brackets, one bit each: set for an object.
#[derive(Clone, Debug)]
struct Open {
    bits: [u64; MAX_DEPTH / 64],
    depth: usize,
}

impl Open {
    /// Opens a bracket. There must be less than [`MAX_DEPTH`].
    #[inline]
    fn push(&mut self, object: bool) {
        if let Some(word) = self.bits.get_mut(self.depth / 64) {
            let bit = 1 << (self.depth % 64);
            *word = if object { *word | bit } else { *word & !bit };
            self.depth += 1;
        }
    }

    /// Whether the innermost open bracket is that of an object.
    #[inline]
    fn is_object(&self) -> bool {
        let at = self.depth.wrapping_sub(1);
        self.bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

/// Reads the first value of a text, token by token, and checks the grammar (RFC 8259). Nothing is
/// decoded or allocated, and nothing after the value is looked at.
///
/// ```
/// use wiremend_core::{JsonType, lexer::{Lexer, Token}};
///
/// let mut lexer = Lexer::new(r#"{"a": -1.5} and more"#, 100);
/// let mut seen = Vec::new();
/// while let Some(token) = lexer.next_token().unwrap() {
///     seen.push((token, lexer.start()..lexer.end()));
/// }
/// assert_eq!(seen, [
///     (Token::Begin(JsonType::Object), 0..1),
///     (Token::Key, 1..4),
///     (Token::Scalar(JsonType::Number), 6..10),
///     (Token::End, 10..11),
/// ]);
/// assert_eq!(lexer.position(), 11);
/// ```
#[derive(Clone, Debug)]
pub struct Lexer<'t> {
    text: &'t [u8],
    /// The next byte to read; after a fault, where it is.
    at: usize,
    expect: Expect,
    open: Open,
    max_depth: usize,
    start: usize,
    end: usize,
    escaped: bool,
    surrogates: bool,
    loose: bool,
}

impl<'t> Lexer<'t> {
    /// Begins at the start of a text. Deeper nesting than `max_depth`, or than 512 levels, is a
    /// [fault](Fault::TooDeep).
    #[must_use]
    #[inline]
    pub const fn new(text: &'t str, max_depth: usize) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
            expect: Expect::Value,
            open: Open { bits: [0; MAX_DEPTH / 64], depth: 0 },
            max_depth: if max_depth < MAX_DEPTH { max_depth } else { MAX_DEPTH },
            start: 0,
            end: 0,
            escaped: false,
            surrogates: false,
            loose: false,
        }
    }

    /// The first byte of the last token.
    #[must_use]
    #[inline]
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The byte after the last token.
    #[must_use]
    #[inline]
    pub const fn end(&self) -> usize {
        self.end
    }

    /// The next byte to read. After a fault, the byte where it was found.
    #[must_use]
    #[inline]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// How many containers are open.
    #[must_use]
    #[inline]
    pub const fn depth(&self) -> usize {
        self.open.depth
    }

    /// Whether the last token, a string or a key, has escapes.
    #[must_use]
    #[inline]
    pub const fn is_escaped(&self) -> bool {
        self.escaped
    }

    /// Whether a string or a key so far has an escaped surrogate, paired or not.
    #[must_use]
    pub const fn has_surrogates(&self) -> bool {
        self.surrogates
    }

    /// Whether a number so far has a fraction, an exponent or a sign before a zero.
    #[must_use]
    pub const fn has_loose_numbers(&self) -> bool {
        self.loose
    }

    /// Skips white space, and says whether that was all that is left of the text.
    #[must_use]
    pub fn is_at_end(&mut self) -> bool {
        self.at = skip_space(self.text, self.at);
        self.at == self.text.len()
    }

    /// The next token. `None` once the value has ended.
    ///
    /// # Errors
    /// If the text is not JSON from here on, ends here, or is nested too deeply. Nothing may be read
    /// after that.
    #[inline]
    pub fn next_token(&mut self) -> Result<Option<Token>, Fault> {
        if self.expect == Expect::Nothing {
            return Ok(None);
        }
        let mut byte = self.past_space()?;
        let mut expect = self.expect;
        if expect == Expect::CommaOrEnd && byte == b',' {
            self.at += 1;
            byte = self.past_space()?;
            if self.open.is_object() {
                return if byte == b'"' { self.key() } else { Err(Fault::Invalid) };
            }
            expect = Expect::Value;
        }
        self.start = self.at;
        match (expect, byte) {
            (Expect::FirstKey, b'"') => return self.key(),
            (Expect::FirstItem, b']') => {}
            (Expect::Value | Expect::FirstItem, b'[' | b'{') => return self.begin(byte == b'{'),
            (Expect::Value | Expect::FirstItem, _) => {
                let kind = self.scalar(byte)?;
                self.end = self.at;
                self.value_ended();
                return Ok(Some(Token::Scalar(kind)));
            }
            _ => {}
        }
        self.close(expect, byte)
    }

    /// The next byte that is not white space.
    #[inline]
    fn past_space(&mut self) -> Result<u8, Fault> {
        self.at = skip_space(self.text, self.at);
        self.peek().ok_or(Fault::Incomplete)
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn value_ended(&mut self) {
        self.expect = if self.open.depth == 0 { Expect::Nothing } else { Expect::CommaOrEnd };
    }

    #[inline]
    fn begin(&mut self, object: bool) -> Result<Option<Token>, Fault> {
        if self.open.depth == self.max_depth {
            return Err(Fault::TooDeep);
        }
        self.open.push(object);
        self.at += 1;
        self.end = self.at;
        let (kind, expect) = if object {
            (JsonType::Object, Expect::FirstKey)
        } else {
            (JsonType::Array, Expect::FirstItem)
        };
        self.expect = expect;
        Ok(Some(Token::Begin(kind)))
    }

    #[inline]
    fn close(&mut self, expect: Expect, byte: u8) -> Result<Option<Token>, Fault> {
        let closer = if self.open.is_object() { b'}' } else { b']' };
        if byte != closer || expect == Expect::Value {
            return Err(Fault::Invalid);
        }
        self.open.depth -= 1;
        self.at += 1;
        self.end = self.at;
        self.value_ended();
        Ok(Some(Token::End))
    }

    #[inline]
    fn key(&mut self) -> Result<Option<Token>, Fault> {
        self.start = self.at;
        self.string()?;
        self.end = self.at;
        if self.past_space()? != b':' {
            return Err(Fault::Invalid);
        }
        self.at += 1;
        self.expect = Expect::Value;
        Ok(Some(Token::Key))
    }

    #[inline]
    fn scalar(&mut self, first: u8) -> Result<JsonType, Fault> {
        match first {
            b'"' => self.string().map(|()| JsonType::String),
            b't' => self.word(b"true", JsonType::Boolean),
            b'f' => self.word(b"false", JsonType::Boolean),
            b'n' => self.word(b"null", JsonType::Null),
            _ => self.number().map(|()| JsonType::Number),
        }
    }

    #[inline]
    fn word(&mut self, word: &[u8], kind: JsonType) -> Result<JsonType, Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(kind);
        }
        Err(if word.starts_with(rest) { Fault::Incomplete } else { Fault::Invalid })
    }

    /// Reads a string or a key, from its opening quote to after its closing one.
    #[inline]
    fn string(&mut self) -> Result<(), Fault> {
        self.escaped = false;
        self.at = string_run(self.text, self.at + 1, b'"').end;
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(());
        }
        self.escaped_string()
    }

    /// Continues a string at its first escape, or at what is not allowed in it.
    #[inline(never)]
    fn escaped_string(&mut self) -> Result<(), Fault> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(Fault::Invalid),
                None => return Err(Fault::Incomplete),
            }
            self.escaped = true;
            self.at = string_run(self.text, self.at, b'"').end;
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        match self.text.get(self.at + 1).ok_or(Fault::Incomplete)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.text.get(self.at + 2..).unwrap_or_default();
                let digits = digits.get(..4).unwrap_or(digits);
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(Fault::Invalid);
                }
                if digits.len() < 4 {
                    return Err(Fault::Incomplete);
                }
                // D800 to DFFF
                self.surrogates |= matches!(digits, [b'd' | b'D', second, ..] if *second >= b'8');
                self.at += 6;
            }
            _ => return Err(Fault::Invalid),
        }
        Ok(())
    }

    #[inline]
    fn number(&mut self) -> Result<(), Fault> {
        let signed = self.peek() == Some(b'-');
        self.at += usize::from(signed);
        if self.peek() == Some(b'0') {
            self.loose |= signed;
            self.at += 1;
            if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(Fault::Invalid);
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.loose = true;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.loose = true;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Fault> {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        match self.peek() {
            _ if self.at > from => Ok(()),
            Some(_) => Err(Fault::Invalid),
            None => Err(Fault::Incomplete),
        }
    }
}

#[cfg(test)]
mod tests;
