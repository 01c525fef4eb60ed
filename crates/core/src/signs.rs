//! Signs outside of JSON: white space and separators of other scripts, and words.

/// Begins a sequence for a terminal.
pub(crate) const ESCAPE: u8 = 0x1b;

/// The length of the longest sequence for a terminal that is recognized, in bytes.
pub(crate) const MAX_COLOUR: usize = 32;

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
