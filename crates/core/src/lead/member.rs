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
    /// The colon after such a key, on the same line.
    OddColon,
}

impl Member {
    /// The state after one more byte.
    pub(super) const fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::OddKey(_) | Self::OddColon | Self::Opening(_), b'\n') => Self::None,
            (Self::Comma, b'\n') => Self::CommaLine,
            (_, b' ' | b'\t' | b'\r' | b'\n') => self,
            (_, b'"') => Self::Quote,
            (Self::Quote, b':') => Self::Colon,
            (Self::CommaLine, b'\'' | b'`') | (Self::Opening(1), 0x80..) => Self::OddKey(false),
            (Self::CommaLine, 0xC2) | (Self::Opening(2), 0x80) => Self::Opening(1),
            (Self::CommaLine, 0xE2) => Self::Opening(2),
            (Self::OddKey(true), b':') => Self::OddColon,
            // A quote, or the last byte of one. No more of the key follows it.
            (Self::OddKey(_), b'\'' | b'`' | 0x98..=0xBB) => Self::OddKey(true),
            (Self::OddKey(_), 0x80..) | (Self::OddKey(false), b'!'..=b'+' | b'-'..) => {
                Self::OddKey(false)
            }
            (_, b',') => Self::Comma,
            _ => Self::None,
        }
    }

    /// Whether a key and its colon were read last.
    pub(super) const fn is_named(self) -> bool {
        matches!(self, Self::Colon | Self::OddColon)
    }
}
