//! What the form of a provider cannot express.

use std::fmt;

/// How something is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// It is left out of what is sent.
    Dropped,
    /// The provider allows less than the schema.
    Narrowed,
    /// The same is said in another way, and the answer has another form.
    Rewritten,
    /// The provider does not enforce it, or may refuse the request.
    Unenforced,
    /// The provider allows more than the schema.
    Widened,
    /// There is an object around the value.
    Wrapped,
}

impl LossKind {
    /// All kinds, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Dropped,
        Self::Narrowed,
        Self::Rewritten,
        Self::Unenforced,
        Self::Widened,
        Self::Wrapped,
    ];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Narrowed => "narrowed",
            Self::Rewritten => "rewritten",
            Self::Unenforced => "unenforced",
            Self::Widened => "widened",
            Self::Wrapped => "wrapped",
        }
    }
}

/// Something of a schema that the form of a provider does not express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    pointer: String,
    kind: LossKind,
    note: &'static str,
}

impl Loss {
    pub(super) fn new(place: &str, name: &str, kind: LossKind, note: &'static str) -> Self {
        let separator = if name.is_empty() { "" } else { "/" };
        Self { pointer: format!("{place}{separator}{name}"), kind, note }
    }

    /// Where it is in the schema, as a JSON Pointer.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// How it is lost.
    #[must_use]
    pub const fn kind(&self) -> LossKind {
        self.kind
    }

    /// What that means. May be empty.
    #[must_use]
    pub const fn note(&self) -> &'static str {
        self.note
    }
}

/// `/properties/code/minLength: dropped`
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(f, "{place}: {}", self.kind.code())?;
        if self.note.is_empty() { Ok(()) } else { write!(f, ", {}", self.note) }
    }
}

/// Collects losses. A longer list than a thousand would help no one.
#[derive(Debug, Default)]
pub(super) struct Losses(Vec<Loss>);

impl Losses {
    const MOST: usize = 1_000;

    pub(super) fn add(&mut self, place: &str, name: &str, kind: LossKind, note: &'static str) {
        let loss = Loss::new(place, name, kind, note);
        if self.0.len() < Self::MOST && !self.0.contains(&loss) {
            self.0.push(loss);
        }
    }

    pub(super) fn dropped(&mut self, place: &str, name: &str) {
        self.add(place, name, LossKind::Dropped, "");
    }

    pub(super) fn into_list(self) -> Vec<Loss> {
        self.0
    }
}
