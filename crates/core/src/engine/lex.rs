//! The token that the engine is inside of.

use super::{number, quote};

/// The token that the engine is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lex {
    /// Between tokens.
    None,
    /// In a string, with or without quotes.
    Text(Text),
    /// In a number that is longer than the look-ahead.
    Digits(number::Part),
    /// In a comment.
    Comment(Comment),
    /// In text before a document.
    Prose,
    /// In words between members that belong to none of them.
    Stray,
    /// After the last document. Everything is dropped.
    Tail,
}

/// A string that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) quote: quote::Quote,
    pub(super) is_key: bool,
    /// How many quotes delimit it: 1, 2 or 3, or 0 for a string without quotes.
    pub(super) quotes: u8,
    /// How many brackets are open in a string without quotes.
    pub(super) nested: u8,
    /// Whether a string without quotes lost only its opening one. `None` until a backslash asks.
    pub(super) unopened: Option<bool>,
}

impl Text {
    /// A string that `quotes` quotes delimit.
    pub(super) const fn new(quote: quote::Quote, is_key: bool, quotes: u8) -> Self {
        Self { quote, is_key, quotes, nested: 0, unopened: None }
    }
}

/// A value in double quotes, as in valid JSON.
pub(super) const PLAIN: Text = Text::new(quote::Quote::Double, false, 1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comment {
    Block,
    Line,
    Markup,
}
