//! What the engine remembers besides its position, grouped by what it belongs to.

use super::quotes;
use crate::{Path, Repair, RepairKind, prose::Prose, tail::Remainder};

/// The comma before a member or an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comma {
    pub(super) at: usize,
    /// In bytes. 0 if the comma was inserted.
    pub(super) length: usize,
}

impl Comma {
    /// A comma that is in the input.
    pub(super) const fn read(at: usize) -> Self {
        Self { at, length: 1 }
    }

    pub(super) const fn end(self) -> usize {
        self.at + self.length
    }
}

/// The member or item that is being read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Member {
    /// The comma before it. `None` before the first one.
    pub(super) comma: Option<Comma>,
    /// Where its key starts.
    pub(super) key_start: usize,
    /// Whether that key has no value, and where the last key before it starts that has one.
    pub(super) is_unpaired: bool,
    pub(super) last_pair: usize,
    /// How many edits were made before it.
    pub(super) edits_before: usize,
    /// Where the last value starts before which a colon was inserted.
    pub(super) without_colon: Option<usize>,
}

/// What is between two tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    /// The end of the last bracket or value, after which the next token is expected.
    pub(super) start: usize,
    /// The start of a gap that is so long that it was committed, and that held a line end.
    pub(super) broken: Option<usize>,
}

/// What is known of the backslashes in a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stray {
    /// Each started an escape.
    #[default]
    None,
    /// One before a letter did not.
    Seen,
    /// Neither did one in a path that begins with a drive and has not ended: `C:\Users`.
    Path,
}

/// The string that was opened last. What delimits it is in [`Text`](super::Text).
#[derive(Clone, Debug, Default)]
pub(super) struct OpenString {
    /// How many quotes in it were read as part of it.
    pub(super) inner_quotes: usize,
    pub(super) inner: quotes::Inner,
    /// Whether quotes in it are written twice.
    pub(super) doubles: bool,
    /// Whether a backslash in it started no escape.
    pub(super) stray: Stray,
    /// Whether it is in two quotes.
    pub(super) doubled: bool,
    /// Whether a quote in it that was read as part of it neither begins nor ends a quotation.
    pub(super) unpaired: bool,
    /// A comma in it after which only white space has followed.
    pub(super) tail: Option<usize>,
    /// Its closing quote, as long as it can still be continued.
    pub(super) closed: Option<usize>,
}

/// The container that was closed last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Closed {
    pub(super) is_object: bool,
    /// The end of its closing bracket.
    pub(super) end: usize,
}

/// The document that began last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Document {
    pub(super) start: usize,
    /// The end of the last one that has ended.
    pub(super) end: Option<usize>,
    /// Whether it was the argument of a call.
    pub(super) wrapped: bool,
    /// Whether a fence was closed after it. What follows does not belong to it.
    pub(super) fenced: bool,
    /// Whether it appears to be escaped one time too many.
    pub(super) escaped: bool,
    /// Whether a closer came too early, or an opener twice, if a closer turns out to be one too many.
    pub(super) doubtful: bool,
    /// Whether a repair in it may have lost text or was a guess.
    pub(super) guessed: bool,
}

/// The documents of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Documents {
    /// How many have ended.
    pub(super) count: usize,
    /// The start and the end of the last of these.
    pub(super) last: Option<(usize, usize)>,
    /// How many there may be.
    pub(super) most: usize,
    /// Whether only the first and the last of them are recorded.
    pub(super) forgets: bool,
    /// Whether those after the first can still be joined or chosen.
    pub(super) several: bool,
}

/// Text after the last document, all of which is dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropping {
    pub(super) from: usize,
    pub(super) kind: RepairKind,
    /// What it leaves open, if it has signs of the document, or the document was in doubt.
    pub(super) rest: Option<Remainder>,
    /// Whether it has signs of the document.
    pub(super) goes_on: bool,
}

/// What reading the whole rest of the text has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rest {
    /// The offset from which the rest was read, and what it leaves open.
    pub(super) remainder: Option<(usize, Remainder)>,
    /// What was known of the text before a scalar that ended, which may turn out to be text, and up to
    /// which offset.
    pub(super) before_scalar: Option<(Prose, usize)>,
}

/// What stopped the engine, or cut off the document.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending {
    /// Where the document was cut off.
    pub(super) cut: Option<Path>,
    /// The repair that the policy forbade.
    pub(super) refused: Option<Repair>,
    /// Whether more was withheld than the limit allows.
    pub(super) over: bool,
}
