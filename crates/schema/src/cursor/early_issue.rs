//! Problems that are found while a value arrives, and whether the value can still become valid.

use std::fmt;

use crate::{Issue, code::coded};

/// Whether something that is wrong can still become valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Standing {
    /// Something is missing that may still come: a required property, more items, or the rest of a
    /// listed value.
    Pending,
    /// Nothing that follows can make the value valid as it is read so far, but a rule may fix it at
    /// the end, or the whole text may show another reading.
    Definite,
    /// Neither further input, nor another reading, nor any allowed rule can fix it, so there is no
    /// point in generating more.
    Lost,
}

impl Standing {
    /// All variants, from the mildest to the most severe.
    pub const ALL: &'static [Self] = &[Self::Pending, Self::Definite, Self::Lost];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Definite => "definite",
            Self::Lost => "lost",
        }
    }
}

coded!(Standing, "standing");

/// An issue that was found before the end of the value.
///
/// It is displayed like its issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyIssue {
    issue: Issue,
    standing: Standing,
    at: usize,
}

impl EarlyIssue {
    pub(super) const fn new(issue: Issue, standing: Standing, at: usize) -> Self {
        Self { issue, standing, at }
    }

    /// What is wrong.
    #[must_use]
    pub const fn issue(&self) -> &Issue {
        &self.issue
    }

    /// Whether it can still become valid.
    #[must_use]
    pub const fn standing(&self) -> Standing {
        self.standing
    }

    /// The byte that made the early issue certain, as an offset into the input.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.at
    }
}

impl fmt::Display for EarlyIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.issue.fmt(f)
    }
}
