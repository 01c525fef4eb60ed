//! Counts steps, for the test that twice the input takes twice the work: bytes searched or checked,
//! entries looked at, and the steps of the repair engine. Without the feature `work` nothing is counted.

#[cfg(feature = "work")]
use core::cell::Cell;

#[cfg(feature = "work")]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// How many steps this thread has counted so far. Only with the feature `work`.
///
/// ```
/// use wiremend_wire::{WireOptions, steps, transcribe};
///
/// let before = steps();
/// transcribe(b"data: {\"choices\":[]}\n\n", WireOptions::new());
/// assert!(steps() - before > 20);
/// ```
#[cfg(feature = "work")]
#[must_use]
pub fn steps() -> u64 {
    STEPS.get()
}

/// Adds to the count.
#[cfg(feature = "work")]
pub(crate) fn count(steps: usize) {
    STEPS.set(STEPS.get() + steps as u64);
}

/// Does nothing.
#[cfg(not(feature = "work"))]
#[inline]
pub(crate) const fn count(_: usize) {}
