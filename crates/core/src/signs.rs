//! Signs outside of JSON: white space and separators of other scripts, and words.

/// Begins a sequence for a terminal.
pub(crate) const ESCAPE: u8 = 0x1b;

/// The length of the longest sequence for a terminal that is recognized, in bytes.
pub(crate) const MAX_COLOUR: usize = 32;

/// Whether the last byte of a text is in a sequence for a terminal, as in `ESC[1;39m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour(bool);

impl Colour {
    /// Before the first byte.
    pub(crate) const NONE: Self = Self(false);

    pub(crate) const fn is_open(self) -> bool {
        self.0
    }

    /// Reads one byte. Returns whether it belongs to such a sequence.
    pub(crate) const fn read(&mut self, byte: u8) -> bool {
        let inside = self.0;
        self.0 = byte == ESCAPE || inside && matches!(byte, b'[' | b';' | b'0'..=b'9');
        self.0 || inside && byte.is_ascii_alphabetic()
    }
}

/// The length of the sequence that sets a colour on a terminal, at the start of `text`.
pub(crate) fn colour(text: &[u8]) -> Option<usize> {
    let [ESCAPE, b'[', parameters @ ..] = text else { return None };
    let length = parameters
        .iter()
        .take(MAX_COLOUR - 2)
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'))
        .count();
    matches!(parameters.get(length), Some(b'm' | b'K')).then_some(length + 3)
}

/// U+2028.
pub(crate) const LINE_SEPARATOR: &[u8] = "\u{2028}".as_bytes();

/// White space that is not JSON's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WideSpace {
    ByteOrderMark,
    /// It separates words.
    Space,
    ZeroWidth,
}

/// The white space outside ASCII at the start of `text`, and its length in bytes.
#[inline]
pub(crate) const fn wide_space(text: &[u8]) -> Option<(WideSpace, usize)> {
    match text {
        // No-break space, next line.
        [0xc2, 0xa0 | 0x85, ..] => Some((WideSpace::Space, 2)),
        // A soft hyphen.
        [0xc2, 0xad, ..] => Some((WideSpace::ZeroWidth, 2)),
        // The spaces of U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
        [0xe1, 0x9a, 0x80, ..]
        | [0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, ..]
        | [0xe2, 0x81, 0x9f, ..]
        | [0xe3, 0x80, 0x80, ..] => Some((WideSpace::Space, 3)),
        // U+180E, U+200B to U+200F, U+202A to U+202E, U+2060 to U+2064, U+2066 to U+2069.
        [0xe1, 0xa0, 0x8e, ..]
        | [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..]
        | [0xe2, 0x81, 0xa0..=0xa4 | 0xa6..=0xa9, ..] => Some((WideSpace::ZeroWidth, 3)),
        [0xef, 0xbb, 0xbf, ..] => Some((WideSpace::ByteOrderMark, 3)),
        _ => None,
    }
}

/// The comma or colon of another script at the start of `text`, and its length in bytes.
pub(crate) fn wide_sign(text: &[u8]) -> Option<(u8, usize)> {
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
pub(crate) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-') || byte >= 0x80
}

/// Whether a word is a literal in JSON or in Python.
pub(crate) const fn is_literal(word: &[u8]) -> bool {
    matches!(word, b"true" | b"false" | b"null" | b"True" | b"False" | b"None")
}

/// A text without the white space after it.
pub(crate) const fn solid(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t' | b'\r' | b'\n'] = text {
        text = rest;
    }
    text
}
