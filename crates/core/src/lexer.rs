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

use alloc::{borrow::Cow, string::String};

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

// Finds the end of a value by its brackets, without a look at anything else.

/// Counts brackets outside of strings, across any number of pieces. It checks nothing.
///
/// ```
/// use wiremend_core::lexer::Brackets;
/// let mut brackets = Brackets::default();
/// assert_eq!(brackets.advance(br#"{"a": "}"#), None);
/// assert_eq!(brackets.advance(br#"]"} and more"#), Some(3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brackets {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Brackets {
    /// Reads on. Returns the number of bytes up to and including the bracket that closes the value,
    /// if there is one.
    #[inline]
    pub fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            if self.in_string {
                at = self.string(bytes, at);
            }
            match *bytes.get(at)? {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    self.depth += 1;
                    self.closed = false;
                }
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.closed = true;
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Reads all of `bytes`, across the ends of values.
    pub fn absorb(&mut self, mut bytes: &[u8]) {
        while let Some(used) = self.advance(bytes) {
            bytes = bytes.get(used..).unwrap_or_default();
        }
    }

    /// Whether a value was opened and closed, and none is open now.
    #[must_use]
    pub const fn is_closed(self) -> bool {
        self.closed
    }

    /// Reads the rest of a string, and returns where it ends, after its quote or with the bytes.
    #[inline]
    fn string(&mut self, bytes: &[u8], from: usize) -> usize {
        let mut at = from;
        if core::mem::take(&mut self.escaped) {
            at += 1;
        }
        loop {
            at = string_run(bytes, at, b'"').end;
            match bytes.get(at) {
                Some(b'"') => {
                    self.in_string = false;
                    return at + 1;
                }
                Some(b'\\') if at + 1 < bytes.len() => at += 2,
                Some(b'\\') => {
                    self.escaped = true;
                    return at + 1;
                }
                Some(_) => at += 1,
                None => return at,
            }
        }
    }
}

/// The length of the value at the start of a text that was checked. 0 at a closing bracket or at
/// the end.
///
/// ```
/// use wiremend_core::lexer::skip;
/// assert_eq!(skip(br#"[1, "]"], 2]"#), 8);
/// assert_eq!(skip(b"2]"), 1);
/// assert_eq!(skip(b"]"), 0);
/// ```
#[must_use]
#[inline]
pub fn skip(text: &[u8]) -> usize {
    match text.first() {
        Some(b'"') => {
            let mut brackets = Brackets { in_string: true, ..Brackets::default() };
            brackets.string(text, 1)
        }
        Some(b'{' | b'[') => Brackets::default().advance(text).unwrap_or(text.len()),
        Some(b'}' | b']') | None => 0,
        Some(_) => text.iter().position(|byte| b",]} \t\r\n".contains(byte)).unwrap_or(text.len()),
    }
}

// Decodes strings: from the escapes of JSON to text.

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

    #[test]
    fn the_close_is_found_at_every_cut() {
        let text = br#"{"a}\"": [1, {"b": "]\\"}], "c\n": "\""} tail"#;
        let end = text.len() - 5;
        assert_eq!(skip(text), end);
        for cut in 0..=text.len() {
            let mut brackets = Brackets::default();
            let (head, tail) = text.split_at(cut);
            let found = brackets.advance(head).or_else(|| brackets.advance(tail).map(|n| cut + n));
            assert_eq!(found, Some(end), "{cut}");
            assert!(brackets.is_closed());
        }
        let mut brackets = Brackets::default();
        let ends = text.iter().map(|byte| brackets.advance(&[*byte])).position(|end| end.is_some());
        assert_eq!(ends, Some(end - 1));
    }

    #[test]
    fn strings_and_scalars_are_skipped() {
        for (text, length) in [
            (r#""a\"b" , 1"#, 6),
            ("-1.5e3, 2", 6),
            ("true}", 4),
            ("null", 4),
            ("[[], {}]]", 8),
            (r#"{"a": "b"#, 8),
            (r#""a\"#, 3),
            ("", 0),
        ] {
            assert_eq!(skip(text.as_bytes()), length, "{text}");
        }
    }

    /// Whether the text is one value, with white space around it.
    fn read(text: &str) -> Result<bool, Fault> {
        let mut lexer = Lexer::new(text, MAX_DEPTH);
        while lexer.next_token()?.is_some() {}
        Ok(lexer.is_at_end())
    }

    #[test]
    fn the_grammar_is_that_of_the_standard() {
        for text in [
            "null",
            " [ ] ",
            "{}",
            "{ }\n",
            "[1,2.5,-0,1e400,1E-2,-0.5e+3]",
            r#"{"a":{"b":[true,false]}}"#,
            r#"{"a" : 1 , "b":[ ] }"#,
            r#""a\u00e9\n\"\\\/\b\f\r\t""#,
            "[[[]],{}]",
            "[\"\\\"]\"]",
            "\"\u{7f}é😀\"",
        ] {
            assert_eq!(read(text), Ok(true), "{text}");
        }
        for text in [
            "[1,]",
            "[,1]",
            "[,]",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "01",
            "-01",
            "1.x",
            ".5",
            "+1",
            "[-]",
            "[1.]",
            "1e+x",
            "nil",
            "[tru]",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "[1}",
            "{]",
            "[1 2]",
            "]",
            "}",
            ":",
            ",",
            "nope",
            "{\"a\":1]",
            "[\"a\":1]",
            "{1:2}",
            "é",
            "{\"a\",\"b\"}",
        ] {
            assert_eq!(read(text), Err(Fault::Invalid), "{text}");
        }
        for text in ["1 2", "nulll", "[] ]", "{}{}"] {
            assert_eq!(read(text), Ok(false), "{text}");
        }
        for text in
            ["", " ", "-", "1.", "1e", "1e-", "tru", "\"a", "\"\\u12", "\"\\", "[[", "{\"a\":"]
        {
            assert_eq!(read(text), Err(Fault::Incomplete), "{text}");
        }
    }

    #[test]
    fn every_prefix_of_a_container_is_incomplete() {
        let text = r#"{"a":[1.5e3,"x\"\u00e9",true,null,{}],"b":-1}"#;
        for cut in 0..text.len() {
            assert_eq!(read(&text[..cut]), Err(Fault::Incomplete), "{cut}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(read(&nested(MAX_DEPTH)), Ok(true));
        assert_eq!(read(&nested(MAX_DEPTH + 1)), Err(Fault::TooDeep));
        let mixed = "{\"a\":[".repeat(MAX_DEPTH / 2) + &"]}".repeat(MAX_DEPTH / 2);
        assert_eq!(read(&mixed), Ok(true));
        let mut lexer = Lexer::new("[[[]]]", 2);
        lexer.next_token().unwrap();
        lexer.next_token().unwrap();
        assert_eq!(lexer.next_token(), Err(Fault::TooDeep));
        assert_eq!(lexer.position(), 2);
    }

    #[test]
    fn what_a_text_contains_is_noted() {
        let noted = |text: &str| {
            let mut lexer = Lexer::new(text, 9);
            while lexer.next_token().unwrap().is_some() {}
            (lexer.is_escaped(), lexer.has_surrogates(), lexer.has_loose_numbers())
        };
        assert_eq!(noted("\"a\""), (false, false, false));
        assert_eq!(noted("\"\\n\""), (true, false, false));
        assert_eq!(noted("\"\\ud7ff\\ue000\""), (true, false, false));
        assert_eq!(noted("\"\\uD800\""), (true, true, false));
        for loose in ["1.5", "-0", "1e2", "[0, -0.0]"] {
            assert!(noted(loose).2, "{loose}");
        }
        assert_eq!(noted("[0, -1, 10]"), (false, false, false));
    }
}
