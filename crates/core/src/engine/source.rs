//! The text the engine reads, and bounded look-ahead into it.

use super::quote::Quote;

/// A stretch of input: from the engine's mark to the last byte received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    text: &'a [u8],
    base: usize,
    last: bool,
}

impl<'a> Source<'a> {
    /// `text` stands at offset `base` of the input; `last` says that the input ends with it.
    pub(crate) const fn new(text: &'a [u8], base: usize, last: bool) -> Self {
        Self { text, base, last }
    }

    /// The byte at that offset of the input.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at.wrapping_sub(self.base)).copied()
    }

    /// The text from that offset on.
    #[inline]
    pub(super) fn from(&self, at: usize) -> &'a [u8] {
        self.text.get(at.saturating_sub(self.base)..).unwrap_or_default()
    }

    /// The text between two offsets.
    #[inline]
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.text
            .get(from.saturating_sub(self.base)..to.saturating_sub(self.base))
            .unwrap_or_default()
    }

    #[inline]
    pub(super) const fn text(&self) -> &'a [u8] {
        self.text
    }

    #[inline]
    pub(super) const fn base(&self) -> usize {
        self.base
    }

    /// The offset behind the last byte received.
    #[inline]
    pub(super) const fn end(&self) -> usize {
        self.base + self.text.len()
    }

    #[inline]
    pub(super) const fn is_last(&self) -> bool {
        self.last
    }

    /// A cursor that sees at most `window` bytes from `at` on.
    pub(super) fn look(&self, at: usize, window: usize) -> Look<'a> {
        let text = self.from(at);
        let (text, edge) = if text.len() >= window {
            (&text[..window], Edge::Window)
        } else if self.last {
            (text, Edge::End)
        } else {
            (text, Edge::More)
        };
        Look { text, at: 0, edge, escaped: false }
    }
}

/// Why looking ahead stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// The input is over.
    End,
    /// The bytes there have not arrived.
    More,
    /// The window is full.
    Window,
}

/// A cursor for look-ahead. What it answers with `Ok` stays true whatever arrives later, so that a
/// decision never depends on where a chunk ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    text: &'a [u8],
    at: usize,
    edge: Edge,
    /// Whether `\n` is white space, as in a document that is escaped once too often.
    escaped: bool,
}

impl<'a> Look<'a> {
    /// The same in a document that is escaped once too often, if it is: line ends are escaped, too.
    pub(super) const fn in_escaped(self, escaped: bool) -> Self {
        Self { escaped, ..self }
    }

    /// Whether a line end was passed.
    pub(super) fn is_broken(&self) -> bool {
        let seen = self.seen();
        seen.contains(&b'\n') || self.escaped && seen.windows(2).any(|pair| pair == b"\\n")
    }

    #[inline]
    pub(super) fn peek(&self) -> Result<u8, Edge> {
        self.text.get(self.at).copied().ok_or(self.edge)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Result<u8, Edge> {
        self.text.get(self.at + ahead).copied().ok_or(self.edge)
    }

    #[inline]
    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// The quote that stands there, and how many bytes it has.
    pub(super) fn quote(&self) -> Result<Option<(Quote, usize)>, Edge> {
        let rest = self.rest();
        if !matches!(rest.first(), Some(b'"' | b'\'' | b'`' | b'\\' | 0xc2 | 0xe2 | 0xef)) {
            return Ok(None);
        }
        match (Quote::of(rest), rest) {
            (None, [b'\\' | 0xc2 | 0xe2 | 0xef] | [0xe2, 0x80] | [0xef, 0xbc]) => Err(self.edge),
            (found, _) => Ok(found),
        }
    }

    /// Whether a prefix as in Python's `u'text'` stands there: a quote opens a string behind it. In
    /// `b": 1` and `b", ` it ends a string that has lost its other quote.
    pub(super) fn at_prefix(&self) -> Result<bool, Edge> {
        if !matches!(self.peek()?, b'u' | b'U' | b'b' | b'B' | b'f' | b'F')
            || !matches!(self.peek_at(1)?, b'"' | b'\'')
        {
            return Ok(false);
        }
        let mut behind = *self;
        behind.advance(2);
        Ok(!matches!(behind.space()?, b',' | b':' | b'}' | b']' | b')'))
    }

    /// Whether a quote stands there.
    pub(super) fn at_quote(&self) -> Result<bool, Edge> {
        Ok(self.quote()?.is_some())
    }

    /// The length of the quote that stands there, if it may close a string of that kind.
    pub(super) fn closer(&self, quote: Quote) -> Result<Option<usize>, Edge> {
        self.quote()?;
        Ok(quote.closer(self.rest()))
    }

    /// How many bytes were passed.
    #[inline]
    pub(super) const fn passed(&self) -> usize {
        self.at
    }

    /// The bytes not passed yet, as far as they can be seen.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// All that can be seen, from where the look began.
    pub(super) const fn rest_from_start(&self) -> &'a [u8] {
        self.text
    }

    /// The bytes passed.
    pub(super) fn seen(&self) -> &'a [u8] {
        self.text.get(..self.at).unwrap_or(self.text)
    }

    /// Whether the text goes on with `word`.
    pub(super) fn starts_with(&self, word: &[u8]) -> Result<bool, Edge> {
        let rest = self.rest();
        let common = rest.len().min(word.len());
        if rest[..common] != word[..common] {
            return Ok(false);
        }
        if common == word.len() { Ok(true) } else { Err(self.edge) }
    }

    /// The comma or colon of another script that stands there, and how many bytes it has.
    pub(super) fn wide_sign(&self) -> Result<Option<(u8, usize)>, Edge> {
        match (wide_sign(self.rest()), self.rest()) {
            (None, [0xd8 | 0xe3 | 0xef] | [0xe3, 0x80] | [0xef, 0xbc])
                if self.edge == Edge::More =>
            {
                Err(Edge::More)
            }
            (sign, _) => Ok(sign),
        }
    }

    /// Whether that comma, or that colon, of another script stands there.
    pub(super) fn at_wide(&self, sign: u8) -> Result<bool, Edge> {
        Ok(self.wide_sign()?.is_some_and(|(wide, _)| wide == sign))
    }

    /// Passes white space; the byte behind it. A comma or colon of another script is passed up to its
    /// last byte, and counts as one.
    #[inline]
    pub(super) fn space(&mut self) -> Result<u8, Edge> {
        loop {
            match self.peek()? {
                b' ' | b'\n' | b'\r' | b'\t' => self.bump(),
                b'\\' if self.escaped && matches!(self.peek_at(1)?, b'n' | b'r' | b't') => {
                    self.advance(2);
                }
                byte @ (0xd8 | 0xe3 | 0xef) => {
                    let Some((sign, length)) = self.wide_sign()? else { return Ok(byte) };
                    self.advance(length - 1);
                    return Ok(sign);
                }
                byte => return Ok(byte),
            }
        }
    }

    /// Passes white space on this line; the byte behind it.
    pub(super) fn blanks(&mut self) -> Result<u8, Edge> {
        loop {
            match self.peek()? {
                b' ' | b'\t' => self.bump(),
                byte => return Ok(byte),
            }
        }
    }

    /// Passes white space and comments; the byte behind them.
    pub(super) fn gap(&mut self) -> Result<u8, Edge> {
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

    /// Passes a word: letters, digits, `_`, `$`, `-`, and everything beyond ASCII.
    pub(super) fn word(&mut self) -> Result<&'a [u8], Edge> {
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

    /// Passes white space and a word; whether words without quotes begin there: no string, number or
    /// literal.
    pub(super) fn words(&mut self) -> Result<bool, Edge> {
        let next = self.gap()?;
        let words = is_word(next) && !next.is_ascii_digit() && next != b'-';
        if !words || self.at_quote()? || self.at_prefix()? {
            return Ok(false);
        }
        Ok(!is_literal(self.word()?))
    }

    /// Passes the rest of a string and the quote that may close it.
    pub(super) fn through(&mut self, quote: Quote) -> Result<(), Edge> {
        let matters = |byte: &u8| match quote {
            Quote::Double => matches!(byte, b'"' | b'\\'),
            _ => matches!(byte, b'"' | b'\'' | b'`' | b'\\' | 0xc2 | 0xe2 | 0xef),
        };
        loop {
            let Some(skip) = self.rest().iter().position(matters) else {
                self.at = self.text.len();
                return Err(self.edge);
            };
            self.at += skip;
            if let Some(length) = self.closer(quote)? {
                self.at += length;
                return Ok(());
            }
            if self.peek()? == b'\\' {
                self.peek_at(1)?;
                self.at += 1;
            }
            self.at += 1;
        }
    }

    /// Passes a string whose opening quote was passed; stands behind its closing quote after.
    pub(super) fn string(&mut self, quote: u8) -> Result<(), Edge> {
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

/// The comma or colon of another script that `text` begins with, and how many bytes it has.
pub(super) fn wide_sign(text: &[u8]) -> Option<(u8, usize)> {
    match text {
        // ， 、 ：
        [0xef, 0xbc, 0x8c, ..] | [0xe3, 0x80, 0x81, ..] => Some((b',', 3)),
        [0xef, 0xbc, 0x9a, ..] => Some((b':', 3)),
        // ،
        [0xd8, 0x8c, ..] => Some((b',', 2)),
        _ => None,
    }
}

/// Whether a byte may stand in a bare word.
#[inline]
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-') || byte >= 0x80
}

/// Whether a word is a literal of JSON, or Python's name of one.
pub(super) const fn is_literal(word: &[u8]) -> bool {
    matches!(word, b"true" | b"false" | b"null" | b"True" | b"False" | b"None")
}
