//! Counts steps, for tests of how the work grows with the schema and the value. Without the feature
//! `work`, nothing is counted.

#[cfg(feature = "work")]
use std::cell::Cell;

#[cfg(feature = "work")]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// How many steps this thread has taken so far. A step is the unit of the limit on work in
/// `docs/limits.md`. Requires the feature `work`.
///
/// ```
/// use wiremend_schema::{Schema, Tree, steps};
///
/// let schema = Schema::from_text(r#"{"items": {"type": "integer"}}"#)?;
/// let before = steps();
/// assert!(schema.accepts(&Tree::read("[1, 2, 3]")?));
/// assert!(steps() - before >= 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "work")]
#[must_use]
pub fn steps() -> u64 {
    STEPS.get()
}

/// Adds to the count.
#[cfg(feature = "work")]
pub(super) fn count(steps: u64) {
    STEPS.set(STEPS.get() + steps);
}

/// Does nothing.
#[cfg(not(feature = "work"))]
#[inline]
pub(super) const fn count(_: u64) {}
