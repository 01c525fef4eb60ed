//! What is wrong so far, and whether it can still become valid.

use std::fmt;

use crate::{Issue, code::coded};

/// Whether something that is wrong can still become valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Standing {
    /// What is missing may still come: a required property, more items, the rest of a named value.
    Pending,
    /// Nothing that follows can make the value valid as it is written. A rule may mend it at the end.
    Definite,
    /// Neither what follows nor a rule that is allowed can mend it. There is no use in generating more.
    Lost,
}

impl Standing {
    /// All of them, from the mildest to the worst.
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

/// An issue that was found before the end.
///
/// It prints as its issue does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    issue: Issue,
    standing: Standing,
    at: usize,
}

impl Finding {
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

    /// The byte that settled it: an offset into the input as given.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.at
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.issue.fmt(f)
    }
}
