//! The text that the engine reads, and bounded look-ahead into it.

use core::cell::Cell;

use super::quote::Quote;

/// A part of the input: from the committed position to the last byte received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    text: &'a [u8],
    base: usize,
    last: bool,
}

impl<'a> Part<'a> {
    /// The part `text`, at offset `base` of the input. `last` says that the input ends with it.
    pub(crate) const fn new(text: &'a [u8], base: usize, last: bool) -> Self {
        Self { text, base, last }
    }
}

/// A part of the input, and how many bytes of it look-ahead has passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    text: &'a [u8],
    base: usize,
    last: bool,
    work: &'a Cell<u64>,
}

impl<'a> Source<'a> {
    /// Everything that look-ahead passes is added to `work`.
    pub(super) const fn new(part: Part<'a>, work: &'a Cell<u64>) -> Self {
        let Part { text, base, last } = part;
        Self { text, base, last, work }
    }

    /// The part of the input from `at` to its end.
    pub(super) fn rest(&self, at: usize) -> Part<'a> {
        Part::new(self.from(at), at, self.last)
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

    /// The offset after the last byte received.
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
        Look { text, at: 0, edge, escaped: false, work: self.work }
    }
}

/// Why look-ahead stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
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
pub(super) struct Look<'a> {
    text: &'a [u8],
    at: usize,
    edge: Edge,
    work: &'a Cell<u64>,
    /// Whether `\n` is white space, as in a document that is escaped one time too many.
    escaped: bool,
}

impl<'a> Look<'a> {
    /// Sets whether the document is escaped one time too many, so that line ends are escaped, too.
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
        self.advance(1);
    }

    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        self.work.set(self.work.get() + bytes as u64);
    }

    /// The quote at the cursor, and its length in bytes.
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

    /// Whether the cursor is at a prefix as in Python's `u'text'`, with a quote after it that opens
    /// a string. In `b": 1` and `b", ` the quote ends a string whose opening quote is missing.
    pub(super) fn at_prefix(&self) -> Result<bool, Edge> {
        if !matches!(self.peek()?, b'u' | b'U' | b'b' | b'B' | b'f' | b'F')
            || !matches!(self.peek_at(1)?, b'"' | b'\'')
        {
            return Ok(false);
        }
        let mut after = *self;
        after.advance(2);
        Ok(!matches!(after.space()?, b',' | b':' | b'}' | b']' | b')'))
    }

    /// Whether the cursor is at a quote.
    pub(super) fn at_quote(&self) -> Result<bool, Edge> {
        Ok(self.quote()?.is_some())
    }

    /// The length of the quote at the cursor, if it may close a string of this kind.
    pub(super) fn closer(&self, quote: Quote) -> Result<Option<usize>, Edge> {
        self.quote()?;
        Ok(quote.closer(self.rest()))
    }

    /// How many bytes were passed.
    #[inline]
    pub(super) const fn passed(&self) -> usize {
        self.at
    }

    /// The visible bytes from the cursor on.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// All visible bytes, from the start of the look-ahead.
    pub(super) const fn rest_from_start(&self) -> &'a [u8] {
        self.text
    }

    /// The bytes passed.
    pub(super) fn seen(&self) -> &'a [u8] {
        self.text.get(..self.at).unwrap_or(self.text)
    }

    /// Whether the bytes from the cursor on start with `word`.
    pub(super) fn starts_with(&self, word: &[u8]) -> Result<bool, Edge> {
        let rest = self.rest();
        let common = rest.len().min(word.len());
        if rest[..common] != word[..common] {
            return Ok(false);
        }
        if common == word.len() { Ok(true) } else { Err(self.edge) }
    }

    /// The comma or colon of another script at the cursor, and its length in bytes.
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

    /// Whether the cursor is at `sign`, a comma or a colon, of another script.
    pub(super) fn at_wide(&self, sign: u8) -> Result<bool, Edge> {
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
            _ => self.wide_space()?,
        })
    }

    /// The length in bytes of the sequence that sets a colour on a terminal, at the cursor, as in
    /// `ESC [ 34 ; 1 m`; that of the control character alone if it begins none.
    pub(super) fn terminal_colour(&self) -> Result<usize, Edge> {
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
    pub(super) fn odd_space_ends(mut self) -> Result<bool, Edge> {
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
    pub(super) fn at_escaped_space(&self) -> Result<bool, Edge> {
        if self.peek()? != b'\\' || !matches!(self.peek_at(1)?, b'n' | b'r' | b't') {
            return Ok(false);
        }
        match self.peek_at(2) {
            Err(Edge::End) => Ok(true),
            next => Ok(b" \\\n\r\t,:{}[]\"".contains(&next?)),
        }
    }

    /// Skips the odd space at the cursor, or else one byte.
    pub(super) fn pass_odd_space(&mut self) {
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

    /// Skips white space, and returns the byte after it. A comma or colon of another script is
    /// skipped up to its last byte, and returned as the ASCII one.
    #[inline]
    pub(super) fn space(&mut self) -> Result<u8, Edge> {
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
                byte @ (0..=0x1f | 0x7f) => match self.odd_space()? {
                    Some(length) => self.advance(length),
                    None => return Ok(byte),
                },
                byte => return Ok(byte),
            }
        }
    }

    /// Skips white space on this line, and returns the byte after it.
    pub(super) fn blanks(&mut self) -> Result<u8, Edge> {
        loop {
            match self.peek()? {
                b' ' | b'\t' => self.bump(),
                byte => return Ok(byte),
            }
        }
    }

    /// Skips white space and comments, and returns the byte after them.
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

    /// Skips white space and a word. Returns whether words without quotes begin there, and not a
    /// string, number or literal.
    pub(super) fn words(&mut self) -> Result<bool, Edge> {
        let next = self.gap()?;
        let words = is_word(next) && !next.is_ascii_digit() && next != b'-';
        if !words || self.at_quote()? || self.at_prefix()? {
            return Ok(false);
        }
        Ok(!is_literal(self.word()?))
    }

    /// Skips the rest of a string and its possible closing quote.
    pub(super) fn through(&mut self, quote: Quote) -> Result<(), Edge> {
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

/// Begins a sequence for a terminal.
pub(super) const ESCAPE: u8 = 0x1b;

/// The length of the longest sequence for a terminal that is recognized, in bytes.
const MAX_COLOUR: usize = 32;

/// U+2028.
const LINE_SEPARATOR: &[u8] = "\u{2028}".as_bytes();

/// White space that is not JSON's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WideSpace {
    ByteOrderMark,
    /// It separates words.
    Space,
    ZeroWidth,
}

/// The white space outside ASCII at the start of `text`, and its length in bytes.
pub(crate) const fn wide_space(text: &[u8]) -> Option<(WideSpace, usize)> {
    match text {
        // No-break space, next line.
        [0xc2, 0xa0 | 0x85, ..] => Some((WideSpace::Space, 2)),
        // The spaces of U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
        [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, ..]
        | [0xe2, 0x81, 0x9f, ..]
        | [0xe3, 0x80, 0x80, ..] => Some((WideSpace::Space, 3)),
        // U+200B to U+200F, U+2060.
        [0xe2, 0x80, 0x8b..=0x8f, ..] | [0xe2, 0x81, 0xa0, ..] => Some((WideSpace::ZeroWidth, 3)),
        [0xef, 0xbb, 0xbf, ..] => Some((WideSpace::ByteOrderMark, 3)),
        _ => None,
    }
}

/// The comma or colon of another script at the start of `text`, and its length in bytes.
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

/// Whether a byte may be part of a word without quotes.
#[inline]
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-') || byte >= 0x80
}

/// Whether a word is a literal in JSON or in Python.
pub(super) const fn is_literal(word: &[u8]) -> bool {
    matches!(word, b"true" | b"false" | b"null" | b"True" | b"False" | b"None")
}
