//! The ways to damage a document.

mod around;
mod quotes;
mod signs;
mod values;

use std::fmt;

use super::draft::{Change, Draft};
use crate::Seed;

/// Which ways may be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Something around or across the whole text; one of these, and nothing encoded.
    Around,
    /// Brackets that were lost or changed; one of these, and no doubtful quote.
    Brackets,
    /// Single quotes that were lost or changed; one of these, and no style.
    Doubtful,
    /// The whole text is encoded, with what delimits its strings; one of these, and no style.
    Encoded,
    /// Anything else, in any number.
    Local,
    /// How all strings are written; one of these.
    Style,
}

/// One way to damage a document so that its value is still known.
///
/// Two kinds with one name are the same.
#[derive(Clone, Copy)]
pub struct Kind {
    name: &'static str,
    example: &'static str,
    pub(super) group: Group,
    damage: fn(&Draft, &mut Seed) -> Option<Change>,
}

impl Kind {
    const fn new(
        group: Group,
        name: &'static str,
        example: &'static str,
        damage: fn(&Draft, &mut Seed) -> Option<Change>,
    ) -> Self {
        Self { name, example, group, damage }
    }

    /// All kinds.
    pub fn all() -> impl Iterator<Item = Self> {
        let groups = [
            quotes::KINDS,
            quotes::DOUBTFUL,
            signs::KINDS,
            signs::BRACKETS,
            values::KINDS,
            around::LAYOUT,
            around::KINDS,
        ];
        groups.into_iter().flatten().copied()
    }

    /// The kind with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|kind| kind.name == name)
    }

    /// The stable name, in kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// A short text that is damaged in this way.
    #[must_use]
    pub const fn example(self) -> &'static str {
        self.example
    }

    /// Damages the draft. `None` if there is no place for it, or if another reading of the text would
    /// be as good afterwards.
    pub(super) fn damage(self, draft: &Draft, seed: &mut Seed) -> Option<Change> {
        // The first place may be one with several readings.
        (0..6).find_map(|_| (self.damage)(draft, seed))
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Kind {}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The characters and escapes of a string, as written between its quotes.
fn units(inside: &str) -> impl Iterator<Item = &str> {
    let mut rest = inside;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let escape = match (first, rest.as_bytes().get(1)) {
            ('\\', Some(b'u')) => 6,
            ('\\', _) => 2,
            _ => first.len_utf8(),
        };
        let (unit, tail) = rest.split_at_checked(escape).unwrap_or((rest, ""));
        rest = tail;
        Some(unit)
    })
}

/// A string with other escapes.
fn rewritten(inside: &str, unit: impl Fn(&str) -> &str) -> String {
    units(inside).map(unit).collect()
}
