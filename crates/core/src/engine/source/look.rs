//! A cursor for bounded look-ahead.

use core::cell::Cell;

use crate::engine::quote::Quote;
use crate::signs::{
    ESCAPE, LINE_SEPARATOR, MAX_COLOUR, is_literal, is_word, wide_sign, wide_space,
};

/// Why look-ahead stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Edge {
    /// The input has ended.
    End,
    /// The next bytes have not arrived.
    More,
    /// The window has ended.
    Window,
}

/// A cursor for look-ahead. An `Ok` answer stays true whatever arrives later, so decisions never
/// depend on where a chunk ends. It counts what it passes, so that no scan is uncounted.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Look<'a> {
    text: &'a [u8],
    at: usize,
    edge: Edge,
    work: &'a Cell<u64>,
    /// Whether `\n` is white space, as in a document that is escaped one time too many.
    escaped: bool,
}

impl<'a> Look<'a> {
    /// A cursor at the start of `text`, after which is `edge`. What it passes is added to `work`.
    pub(in crate::engine) const fn new(text: &'a [u8], edge: Edge, work: &'a Cell<u64>) -> Self {
        Self { text, at: 0, edge, work, escaped: false }
    }

    /// Sets whether the document is escaped one time too many, so that line ends are escaped, too.
    pub(in crate::engine) const fn in_escaped(self, escaped: bool) -> Self {
        Self { escaped, ..self }
    }

    /// Whether a line end was passed.
    pub(in crate::engine) fn is_broken(&self) -> bool {
        let seen = self.seen();
        seen.contains(&b'\n') || self.escaped && seen.windows(2).any(|pair| pair == b"\\n")
    }

    #[inline]
    pub(in crate::engine) fn peek(&self) -> Result<u8, Edge> {
        self.text.get(self.at).copied().ok_or(self.edge)
    }

    pub(in crate::engine) fn peek_at(&self, ahead: usize) -> Result<u8, Edge> {
        self.text.get(self.at + ahead).copied().ok_or(self.edge)
    }

    #[inline]
    pub(in crate::engine) fn bump(&mut self) {
        self.advance(1);
    }

    #[inline]
    pub(in crate::engine) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        self.work.set(self.work.get() + bytes as u64);
    }

    /// The quote at the cursor, and its length in bytes.
    pub(in crate::engine) fn quote(&self) -> Result<Option<(Quote, usize)>, Edge> {
        let rest = self.rest();
        if !matches!(rest.first(), Some(b'"' | b'\'' | b'`' | b'\\' | 0xc2 | 0xe2 | 0xef)) {
            return Ok(None);
        }
        match (Quote::of(rest), rest) {
            (None, [b'\\' | 0xc2 | 0xe2 | 0xef] | [0xe2, 0x80] | [0xef, 0xbc]) => Err(self.edge),
            (found, _) => Ok(found),
        }
    }

    /// Whether the cursor is at a prefix as in Python's `u'text'`, with a quote after it that opens
    /// a string. In `b": 1` and `b", ` the quote ends a string whose opening quote is missing.
    pub(in crate::engine) fn at_prefix(&self) -> Result<bool, Edge> {
        let raw = matches!(self.peek()?, b'r' | b'R');
        if !raw && !matches!(self.peek()?, b'u' | b'U' | b'b' | b'B' | b'f' | b'F')
            || !matches!(self.peek_at(1)?, b'"' | b'\'')
        {
            return Ok(false);
        }
        let mut after = *self;
        after.advance(2);
        if raw {
            // With a backslash in it, the string does not say what JSON would read.
            let delimiter = self.peek_at(1)?;
            let mut inside = after;
            while inside.peek()? != delimiter {
                if inside.peek()? == b'\\' {
                    return Ok(false);
                }
                inside.bump();
            }
        }
        Ok(!matches!(after.space()?, b',' | b':' | b'}' | b']' | b')'))
    }

    /// Whether the cursor is at a quote.
    pub(in crate::engine) fn at_quote(&self) -> Result<bool, Edge> {
        Ok(self.quote()?.is_some())
    }

    /// The length of the quote at the cursor, if it may close a string of this kind.
    pub(in crate::engine) fn closer(&self, quote: Quote) -> Result<Option<usize>, Edge> {
        self.quote()?;
        Ok(quote.closer(self.rest()))
    }

    /// How many bytes were passed.
    #[inline]
    pub(in crate::engine) const fn passed(&self) -> usize {
        self.at
    }

    /// The visible bytes from the cursor on.
    pub(in crate::engine) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// All visible bytes, from the start of the look-ahead.
    pub(in crate::engine) const fn rest_from_start(&self) -> &'a [u8] {
        self.text
    }

    /// The bytes passed.
    pub(in crate::engine) fn seen(&self) -> &'a [u8] {
        self.text.get(..self.at).unwrap_or(self.text)
    }

    /// Whether the bytes from the cursor on start with `word`.
    pub(in crate::engine) fn starts_with(&self, word: &[u8]) -> Result<bool, Edge> {
        let rest = self.rest();
        let common = rest.len().min(word.len());
        if rest[..common] != word[..common] {
            return Ok(false);
        }
        if common == word.len() { Ok(true) } else { Err(self.edge) }
    }

    /// The comma or colon of another script at the cursor, and its length in bytes.
    pub(in crate::engine) fn wide_sign(&self) -> Result<Option<(u8, usize)>, Edge> {
        match (wide_sign(self.rest()), self.rest()) {
            (None, [0xd8 | 0xe3 | 0xef] | [0xe3, 0x80] | [0xef, 0xbc])
                if self.edge == Edge::More =>
            {
                Err(Edge::More)
            }
            (sign, _) => Ok(sign),
        }
    }

    /// Whether the cursor is at `sign`, a comma or a colon, of another script.
    pub(in crate::engine) fn at_wide(&self, sign: u8) -> Result<bool, Edge> {
        Ok(self.wide_sign()?.is_some_and(|(wide, _)| wide == sign))
    }

    /// The length in bytes of the white space outside ASCII at the cursor.
    fn wide_space(&self) -> Result<Option<usize>, Edge> {
        match (wide_space(self.rest()), self.rest()) {
            (None, [0xc2 | 0xe1..=0xe3 | 0xef] | [0xe1, 0x9a] | [0xe2, 0x80 | 0x81])
            | (None, [0xe3, 0x80] | [0xef, 0xbb])
                if self.edge == Edge::More =>
            {
                Err(Edge::More)
            }
            (space, _) => Ok(space.map(|(_, length)| length)),
        }
    }

    /// The length in bytes of the space or control character at the cursor, if it is not white space
    /// to JSON.
    fn odd_space(&self) -> Result<Option<usize>, Edge> {
        Ok(match self.peek()? {
            b'\n' | b'\r' | b'\t' => None,
            ESCAPE => Some(self.terminal_colour()?),
            0..=0x1f | 0x7f => Some(1),
            // The line goes on, as in a shell. The end of the input ends it, too.
            b'\\' => match self.peek_at(1) {
                Err(Edge::More) => return Err(Edge::More),
                Ok(b' ' | b'\t' | b'\n' | b'\r') | Err(Edge::End) => Some(1),
                Ok(_) | Err(Edge::Window) => None,
            },
            _ => self.wide_space()?,
        })
    }

    /// The length in bytes of the sequence that sets a colour on a terminal, at the cursor, as in
    /// `ESC [ 34 ; 1 m`; that of the control character alone if it begins none.
    pub(in crate::engine) fn terminal_colour(&self) -> Result<usize, Edge> {
        let or_alone = |next| match next {
            Err(Edge::More) => Err(Edge::More),
            Err(_) => Ok(0),
            next => next,
        };
        if or_alone(self.peek_at(1))? != b'[' {
            return Ok(1);
        }
        for at in 2..MAX_COLOUR {
            match or_alone(self.peek_at(at))? {
                b'0'..=b'9' | b';' | b':' => {}
                // `K` clears the rest of the line, as `grep` does after each colour.
                b'm' | b'K' => return Ok(at + 1),
                _ => break,
            }
        }
        Ok(1)
    }

    /// Whether odd space is at the cursor, and ends the number or literal before it. In `5\u{a0}kg`
    /// and `1\u{a0}000` it does not, because words or digits follow on the line.
    pub(in crate::engine) fn odd_space_ends(mut self) -> Result<bool, Edge> {
        if self.odd_space()?.is_none() {
            return Ok(false);
        }
        let ends = loop {
            if self.rest().starts_with(LINE_SEPARATOR) {
                break Ok(true);
            }
            match self.odd_space() {
                Ok(Some(length)) => self.advance(length),
                Ok(None) if matches!(self.peek()?, b' ' | b'\t') => self.bump(),
                Ok(None) => break self.at_value_end(),
                Err(edge) => break Err(edge),
            }
        };
        match ends {
            Err(Edge::End | Edge::Window) => Ok(true),
            ends => ends,
        }
    }

    /// Whether the cursor is at an escaped line end or tab that is white space, and not part of a word
    /// as in `C:\new`: white space, a bracket, a separator or a quote follows it.
    pub(in crate::engine) fn at_escaped_space(&self) -> Result<bool, Edge> {
        if self.peek()? != b'\\' || !matches!(self.peek_at(1)?, b'n' | b'r' | b't') {
            return Ok(false);
        }
        match self.peek_at(2) {
            Err(Edge::End) => Ok(true),
            next => Ok(b" \\\n\r\t,:{}[]\"".contains(&next?)),
        }
    }

    /// Skips the odd space at the cursor, or else one byte.
    pub(in crate::engine) fn pass_odd_space(&mut self) {
        let from = self.at;
        while let Ok(Some(length)) = self.odd_space() {
            self.advance(length);
        }
        if self.at == from {
            self.bump();
        }
    }

    /// Whether the cursor is at something that cannot be part of a value without quotes.
    fn at_value_end(&self) -> Result<bool, Edge> {
        Ok(match self.peek()? {
            b'\n' | b'\r' | b',' | b':' | b';' | b'{' | b'}' | b'[' | b']' | b')' | b'#' => true,
            b'/' => matches!(self.peek_at(1)?, b'/' | b'*'),
            b'\\' if self.escaped => matches!(self.peek_at(1)?, b'n' | b'r' | b't' | b'"'),
            _ => self.at_quote()? || self.wide_sign()?.is_some(),
        })
    }

    /// The length of the special token of a model at the cursor, which its tokenizer did not remove:
    /// `<|im_end|>`, `</s>`, `<pad>`. 0 if there is none.
    pub(in crate::engine) fn model_token(mut self) -> Result<usize, Edge> {
        const NAMES: [&[u8]; 6] = [b"<s>", b"</s>", b"<pad>", b"<unk>", b"<eos>", b"<bos>"];
        let from = self.at;
        if !self.starts_with(b"<|")? {
            for name in NAMES {
                if self.starts_with(name)? {
                    return Ok(name.len());
                }
            }
            return Ok(0);
        }
        self.advance(2);
        while self.peek()?.is_ascii_alphanumeric() || matches!(self.peek()?, b'_' | b'-') {
            self.bump();
            if self.at - from > 40 {
                return Ok(0);
            }
        }
        let closed = self.at > from + 2 && self.starts_with(b"|>")?;
        Ok(if closed { self.at + 2 - from } else { 0 })
    }

    /// Skips white space, and returns the byte after it. A comma or colon of another script is
    /// skipped up to its last byte, and returned as the ASCII one.
    #[inline]
    pub(in crate::engine) fn space(&mut self) -> Result<u8, Edge> {
        loop {
            match self.peek()? {
                b' ' | b'\n' | b'\r' | b'\t' => self.bump(),
                b'\\' if self.escaped && matches!(self.peek_at(1)?, b'n' | b'r' | b't') => {
                    self.advance(2);
                }
                byte @ (0xc2 | 0xd8 | 0xe1..=0xe3 | 0xef) => {
                    if let Some(length) = self.wide_space()? {
                        self.advance(length);
                        continue;
                    }
                    let Some((sign, length)) = self.wide_sign()? else { return Ok(byte) };
                    self.advance(length - 1);
                    return Ok(sign);
                }
                byte @ (b'\\' | 0..=0x1f | 0x7f) => match self.odd_space()? {
                    Some(length) => self.advance(length),
                    None => return Ok(byte),
                },
                byte => return Ok(byte),
            }
        }
    }

    /// Skips white space on this line, and returns the byte after it.
    pub(in crate::engine) fn blanks(&mut self) -> Result<u8, Edge> {
        loop {
            match self.peek()? {
                b' ' | b'\t' => self.bump(),
                byte => return Ok(byte),
            }
        }
    }

    /// Skips white space on this line, also outside ASCII, and returns the byte after it.
    pub(in crate::engine) fn wide_blanks(&mut self) -> Result<u8, Edge> {
        loop {
            let byte = self.blanks()?;
            match self.wide_space()? {
                Some(length) => self.advance(length),
                None => return Ok(byte),
            }
        }
    }

    /// Skips white space and comments, and returns the byte after them.
    pub(in crate::engine) fn gap(&mut self) -> Result<u8, Edge> {
        loop {
            let byte = self.space()?;
            match byte {
                b'/' => match self.peek_at(1)? {
                    b'/' => self.line()?,
                    b'*' => {
                        self.advance(2);
                        while !self.starts_with(b"*/")? {
                            self.bump();
                        }
                        self.advance(2);
                    }
                    _ => return Ok(byte),
                },
                b'#' => self.line()?,
                b'<' if self.starts_with(b"<!--")? => {
                    self.advance(4);
                    while !self.starts_with(b"-->")? {
                        self.bump();
                    }
                    self.advance(3);
                }
                _ => return Ok(byte),
            }
        }
    }

    fn line(&mut self) -> Result<(), Edge> {
        while self.peek()? != b'\n' {
            self.bump();
        }
        Ok(())
    }

    /// Skips a word: letters, digits, `_`, `$`, `-`, and everything outside ASCII.
    pub(in crate::engine) fn word(&mut self) -> Result<&'a [u8], Edge> {
        let from = self.at;
        loop {
            match self.peek()? {
                0xd8 | 0xe3 | 0xef if self.wide_sign()?.is_some() => break,
                byte if is_word(byte) => self.bump(),
                _ => break,
            }
        }
        Ok(&self.text[from..self.at])
    }

    /// Skips white space and a word. Returns whether words without quotes begin there, and not a
    /// string, number or literal.
    pub(in crate::engine) fn words(&mut self) -> Result<bool, Edge> {
        let next = self.gap()?;
        let words = is_word(next) && !next.is_ascii_digit() && next != b'-';
        if !words || self.at_quote()? || self.at_prefix()? {
            return Ok(false);
        }
        Ok(!is_literal(self.word()?))
    }

    /// Skips the rest of a string and its possible closing quote.
    pub(in crate::engine) fn through(&mut self, quote: Quote) -> Result<(), Edge> {
        let matters = |byte: &u8| match quote {
            Quote::Double => matches!(byte, b'"' | b'\\'),
            _ => matches!(byte, b'"' | b'\'' | b'`' | b'\\' | 0xc2 | 0xe2 | 0xef),
        };
        loop {
            let Some(skip) = self.rest().iter().position(matters) else {
                self.advance(self.rest().len());
                return Err(self.edge);
            };
            self.advance(skip);
            if let Some(length) = self.closer(quote)? {
                self.advance(length);
                return Ok(());
            }
            if self.peek()? == b'\\' {
                self.peek_at(1)?;
                self.bump();
            }
            self.bump();
        }
    }

    /// Skips the rest of a string whose opening quote was skipped, with its closing quote.
    pub(in crate::engine) fn string(&mut self, quote: u8) -> Result<(), Edge> {
        loop {
            let byte = self.peek()?;
            self.bump();
            if byte == b'\\' {
                self.peek()?;
                self.bump();
            } else if byte == quote {
                return Ok(());
            }
        }
    }
}
