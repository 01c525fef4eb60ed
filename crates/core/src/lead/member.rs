//! Members in the text before a document, which show that it is part of a larger one.

/// How much of a member was read last, not counting white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    None,
    Quote,
    Colon,
    Comma,
    /// A comma that ends a line.
    CommaLine,
    /// In the opening quote of a key, with this many bytes of it still to come.
    Opening(u8),
    /// A key in quotes that JSON does not have, at the start of a line. Whether it may have ended.
    OddKey(bool),
    /// A word at the start of a line, which may be a key without quotes. Whether it has ended.
    Word(bool),
    /// The colon after such a key, on the same line.
    OddColon,
}

impl Member {
    /// The state after one more byte.
    pub(super) const fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::OddKey(_) | Self::Word(_) | Self::OddColon | Self::Opening(_), b'\n') => {
                Self::None
            }
            (Self::Comma, b'\n') => Self::CommaLine,
            (Self::Word(_), b' ' | b'\t') => Self::Word(true),
            (_, b' ' | b'\t' | b'\r' | b'\n') => self,
            (_, b'"') => Self::Quote,
            (Self::Quote, b':' | b'=') => Self::Colon,
            // The rest of `=>`, and the bytes of a wide space.
            (Self::Colon | Self::OddColon, b'>' | 0x80..) => Self::OddColon,
            (Self::Quote, 0x80..) => Self::Word(true),
            (Self::CommaLine, b'\'' | b'`') | (Self::Opening(1), 0x80..) => Self::OddKey(false),
            (Self::CommaLine, 0xC2) | (Self::Opening(2), 0x80) => Self::Opening(1),
            (Self::CommaLine, 0xE2) => Self::Opening(2),
            (Self::CommaLine, b'a'..=b'z' | b'A'..=b'Z' | b'_') => Self::Word(false),
            (Self::Word(false), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | 0x80..) => {
                Self::Word(false)
            }
            (Self::Word(true), 0x80..) => Self::Word(true),
            (Self::Word(_) | Self::OddKey(true), b':') => Self::OddColon,
            (Self::OddKey(true), b'=') => Self::OddColon,
            // A quote, or the last byte of one. No more of the key follows it.
            (Self::OddKey(_), b'\'' | b'`' | 0x98..=0xBB) => Self::OddKey(true),
            (Self::OddKey(_), 0x80..) | (Self::OddKey(false), b'!'..=b'+' | b'-'..) => {
                Self::OddKey(false)
            }
            (_, b',' | b';') => Self::Comma,
            _ => Self::None,
        }
    }

    /// The state after letters, with blanks between them if `blanks`.
    pub(super) const fn after_letters(self, blanks: bool) -> Self {
        match self {
            Self::OddKey(false) => self,
            Self::Word(false) if !blanks => self,
            _ => Self::None,
        }
    }

    /// Whether a key and its colon were read last.
    pub(super) const fn is_named(self) -> bool {
        matches!(self, Self::Colon | Self::OddColon)
    }
}
