//! A partial value that is owned.

use core::fmt;

use super::{DeltaOp, Value, tree::Tree};
use crate::{JsonType, Path, Step};

/// A partial value that is owned: a snapshot that may outlive its [`Partial`](super::Partial), be
/// sent to another thread, and be kept up to date there by applying [changes](DeltaOp).
///
/// The tree is flat: cloning, comparing, printing and dropping are not recursive.
///
/// ```
/// use wiremend_core::{Revision, Mender, MendOptions, OwnedValue, Partial};
///
/// let mut mender = Mender::new(MendOptions::new());
/// let (mut partial, mut seen) = (Partial::new(), Revision::default());
/// let mut elsewhere = OwnedValue::new();
/// for piece in ["{'city': 'Par", "is', 'zip': 75", "001}"] {
///     mender.push(piece.as_bytes(), &mut partial);
///     for delta in partial.since(&seen) {
///         elsewhere.apply(&delta.path(), &delta.op()).unwrap();
///     }
///     seen = partial.revision();
///     assert_eq!(elsewhere, partial.to_owned_value());
/// }
/// assert_eq!(elsewhere.to_string(), r#"{"city":"Paris","zip":75001}"#);
/// ```
#[derive(Clone, Default)]
pub struct OwnedValue {
    pub(super) tree: Tree,
}

/// A [`DeltaOp`] does not fit the value it was applied to, because another one is missing or was
/// applied in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misplaced;

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the change does not fit the value")
    }
}

impl core::error::Error for Misplaced {}

impl OwnedValue {
    /// Creates one without a value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The value, or `None` if there is none yet.
    #[must_use]
    pub fn root(&self) -> Option<Value<'_>> {
        (!self.tree.nodes.is_empty()).then_some(Value { tree: &self.tree, at: 0 })
    }

    /// Whether there is a value that has ended, either by itself or because it was closed where it
    /// was cut off.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.tree.is_complete()
    }

    /// Applies a change. Costs O(depth) and the size of the change.
    ///
    /// # Errors
    /// [`Misplaced`] if the path is not where the value grows, or the value there does not allow
    /// this change. The value then stays as it is.
    pub fn apply(&mut self, path: &Path, change: &DeltaOp<'_>) -> Result<(), Misplaced> {
        let steps = path.steps();
        if matches!(change, DeltaOp::Append(_) | DeltaOp::Close) {
            let at = self.tree.open.filter(|&at| self.tree.is_at(at, steps)).ok_or(Misplaced)?;
            match change {
                DeltaOp::Append(text) if self.tree.node(at).kind == JsonType::String => {
                    self.tree.extend(text);
                }
                DeltaOp::Close => self.tree.close(),
                _ => return Err(Misplaced),
            }
            return Ok(());
        }
        self.step_into(steps)?;
        match change {
            DeltaOp::AddArray => _ = self.tree.begin(JsonType::Array),
            DeltaOp::AddBool(true) => _ = self.tree.scalar(JsonType::Boolean, "true"),
            DeltaOp::AddBool(false) => _ = self.tree.scalar(JsonType::Boolean, "false"),
            DeltaOp::AddNull => _ = self.tree.scalar(JsonType::Null, "null"),
            DeltaOp::AddNumber(number) => _ = self.tree.scalar(JsonType::Number, number),
            DeltaOp::AddObject => _ = self.tree.begin(JsonType::Object),
            DeltaOp::AddString => _ = self.tree.begin(JsonType::String),
            DeltaOp::Append(_) | DeltaOp::Close => {}
        }
        Ok(())
    }

    /// Makes sure that the next value is added at this path.
    fn step_into(&mut self, steps: &[Step]) -> Result<(), Misplaced> {
        let Some((step, container)) = steps.split_last() else {
            return if self.tree.nodes.is_empty() { Ok(()) } else { Err(Misplaced) };
        };
        let at = self.tree.open.filter(|&at| self.tree.is_at(at, container)).ok_or(Misplaced)?;
        let open = Value { tree: &self.tree, at };
        match (open.kind(), step) {
            (JsonType::Object, Step::Key(key)) => self.tree.key(key),
            (JsonType::Array, Step::Index(index)) if *index == open.len() => {}
            _ => return Err(Misplaced),
        }
        Ok(())
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        value.to_owned_value()
    }
}

impl PartialEq for OwnedValue {
    fn eq(&self, other: &Self) -> bool {
        self.root() == other.root()
    }
}

/// Prints JSON text without white space, as if everything open were closed. Empty if there is no
/// value.
impl fmt::Display for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root().map_or(Ok(()), |root| fmt::Display::fmt(&root, f))
    }
}

impl fmt::Debug for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedValue").field(&self.root()).finish()
    }
}
