//! What reading a run of string content comes to.

/// What follows a run of string content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// A quote that may end the string.
    Quote,
    /// A double quote in a string in single quotes.
    Double,
    /// A backslash whose escape is incomplete, unusual, or half of a surrogate pair.
    Escape,
    /// The end of the chunk.
    End,
    /// The end of the chunk, in a character of which this many bytes have arrived.
    Cut(usize),
    /// A byte that is not allowed in a string.
    Unusual,
}

/// A run of string content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    /// The end of its last escape, or where it starts.
    pub(super) from: usize,
    pub(super) end: usize,
    pub(super) after: After,
}
