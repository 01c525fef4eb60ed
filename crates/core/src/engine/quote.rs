//! The quotes that delimit strings.

use crate::RepairKind;

/// What delimits a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    Backtick,
    Double,
    /// `\"`, in a document that is escaped one time too many.
    Escaped,
    Single,
    Smart,
}

impl Quote {
    /// The quote at the start of `text`, and its length in bytes.
    pub(crate) fn of(text: &[u8]) -> Option<(Self, usize)> {
        match text {
            [b'"', ..] => Some((Self::Double, 1)),
            [b'\'', ..] => Some((Self::Single, 1)),
            [b'`', ..] => Some((Self::Backtick, 1)),
            [b'\\', b'"', ..] => Some((Self::Escaped, 2)),
            // ´ « »
            [0xc2, 0xb4, ..] => Some((Self::Backtick, 2)),
            [0xc2, 0xab | 0xbb, ..] => Some((Self::Smart, 2)),
            // ‘ ’ ‚ ‛ “ ” „ ‟
            [0xe2, 0x80, 0x98..=0x9f, ..] => Some((Self::Smart, 3)),
            // ″
            [0xe2, 0x80, 0xb3, ..] => Some((Self::Smart, 3)),
            // ＂
            [0xef, 0xbc, 0x82, ..] => Some((Self::Smart, 3)),
            _ => None,
        }
    }

    /// The length of the quote at the start of `text`, if it may close a string of this kind.
    pub(crate) fn closer(self, text: &[u8]) -> Option<usize> {
        let (quote, length) = Self::of(text)?;
        let closes = match self {
            Self::Backtick => matches!(quote, Self::Backtick | Self::Single),
            Self::Smart => matches!(quote, Self::Smart | Self::Double),
            Self::Escaped => matches!(quote, Self::Escaped | Self::Double),
            Self::Double | Self::Single => quote == self,
        };
        closes.then_some(length)
    }

    /// How long the quote of another kind is that ends `content`, which has lost its closing quote,
    /// as in `"text”`. 0 if there is none, or it belongs to the content, which has its counterpart.
    pub(super) fn mistaken_closer(self, content: &[u8]) -> usize {
        let ends = |length: &usize| {
            let (before, sign) = content.split_at_checked(content.len().wrapping_sub(*length))?;
            let (quote, found) = Self::of(sign)?;
            let alone = !matches!(quote, Self::Escaped | Self::Double) && found == *length;
            // Inches.
            let alone =
                alone && !(sign == "″".as_bytes() && before.last().is_some_and(u8::is_ascii_digit));
            let counterpart = |at: usize| match (Self::of(&before[at..]), quote) {
                // An apostrophe has a letter before it.
                (Some((Self::Single, _)), Self::Single) => {
                    at == 0 || !before[at - 1].is_ascii_alphanumeric()
                }
                (Some((found, _)), _) => found == quote,
                (None, _) => false,
            };
            (alone && quote != self && !(0..before.len()).any(counterpart)).then_some(*length)
        };
        [1, 2, 3].iter().find_map(ends).unwrap_or(0)
    }

    /// The byte at which a search for the end of the string stops.
    pub(super) const fn stop(self) -> u8 {
        match self {
            Self::Single => b'\'',
            Self::Backtick | Self::Smart | Self::Double | Self::Escaped => b'"',
        }
    }

    /// The repair that turns it into `"`.
    pub(crate) const fn kind(self) -> RepairKind {
        match self {
            Self::Backtick => RepairKind::BacktickQuote,
            Self::Double => RepairKind::DoubledQuote,
            Self::Escaped => RepairKind::EscapedDocument,
            Self::Single => RepairKind::SingleQuote,
            Self::Smart => RepairKind::SmartQuote,
        }
    }
}
