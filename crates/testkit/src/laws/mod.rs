//! The laws, one property function each.
//!
//! A law takes an input and returns `Ok(())` or the [`Violation`] it found. A law that does not apply
//! to an input (identity, for example, to a text that is not JSON) returns `Ok(())`. L13, the law of
//! absences, is about sources and not about inputs: the architecture test checks it.

mod calls;
mod decoding;
mod dialects;
mod growth;
mod prefixes;
mod prose;
mod push;
#[cfg(feature = "schema")]
mod schema;
mod segments;
mod snapshots;
mod space;
mod text;
mod unread;
mod whole;
pub mod wire;

use std::fmt;

use wiremend_core::MendOptions;

pub use calls::{
    Read, ReadObjects, cut_calls, cut_calls_read, lost_events, lost_events_read, lost_objects,
};
pub use decoding::{bodies_stay, chats_lose_nothing, decoding};
pub use dialects::{CallTrace, call_reader, read_calls, text_calls};
pub use growth::{STEPS_PER_BYTE, doubling, linear, steps};
pub use prefixes::{abandoned, honest_ends, nothing_lost, nothing_lost_at_end};
pub use prose::text_agreement;
pub use push::{
    always_valid, any_call_order, append_only, bounded, split_invariance, split_invariance_at,
};
#[cfg(feature = "schema")]
pub use schema::{hostile_schema_laws, schema_laws};
pub use segments::segments;
pub use snapshots::{deltas_rebuild, partial_agrees, stable_snapshots};
pub use space::{space_around, text_space_around};
pub use text::{text_abandoned, text_laws, text_laws_at, untouched};
pub use unread::{unread_members, unread_members_read};
pub use whole::{agreement, edit_script, idempotence, identity, push_agreement};

/// A law, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Law {
    /// L1: after byte k, what has been emitted is the same however the bytes were divided.
    SplitInvariance,
    /// L2: the output is valid JSON at the end, and with its completion at every byte.
    AlwaysValid,
    /// L3: valid JSON is emitted unchanged.
    Identity,
    /// L4: what was emitted is never taken back.
    AppendOnly,
    /// L5: applying the repairs to the input gives the output.
    EditScript,
    /// L6: what is withheld is bounded.
    Bounded,
    /// L7: any order of calls works, and a settled outcome stays.
    NoPanic,
    /// L8: every byte is emitted, replaced by a repair, or returned.
    NothingLost,
    /// L9: mended text needs no mending.
    Idempotence,
    /// L10: what was cut off is never called complete.
    HonestEnds,
    /// L11: the paths agree.
    Agreement,
    /// L12: a partial value never contradicts a later one.
    StableSnapshots,
    /// L14: what leaves of a call that does not end complete is what came.
    NeverMoreRunnable,
    /// L15: white space around a text changes nothing.
    SpaceAround,
    /// L16: what stands where a call, a text or an error can be is read, or said to be lost.
    NothingUnread,
}

impl Law {
    /// The number: `L1` and so on.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::SplitInvariance => "L1",
            Self::AlwaysValid => "L2",
            Self::Identity => "L3",
            Self::AppendOnly => "L4",
            Self::EditScript => "L5",
            Self::Bounded => "L6",
            Self::NoPanic => "L7",
            Self::NothingLost => "L8",
            Self::Idempotence => "L9",
            Self::HonestEnds => "L10",
            Self::Agreement => "L11",
            Self::StableSnapshots => "L12",
            Self::NeverMoreRunnable => "L14",
            Self::SpaceAround => "L15",
            Self::NothingUnread => "L16",
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({self:?})", self.code())
    }
}

/// A law that an input breaks, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    law: Law,
    input: Vec<u8>,
    what: String,
}

impl Violation {
    /// `input` breaks `law`: `what` says the difference.
    #[must_use]
    pub fn new(law: Law, input: &[u8], what: String) -> Self {
        Self { law, input: input.to_vec(), what }
    }

    /// The law.
    #[must_use]
    pub const fn law(&self) -> Law {
        self.law
    }

    /// The whole input.
    #[must_use]
    pub fn input(&self) -> &[u8] {
        &self.input
    }

    /// The difference.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} broken by {}: {}", self.law, Shown(&self.input), self.what)
    }
}

impl std::error::Error for Violation {}

/// Prints bytes as escaped text, at most a screenful of them.
pub(crate) struct Shown<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 600;
        let head = self.0.get(..MOST).unwrap_or(self.0);
        write!(f, "`{}`", head.escape_ascii())?;
        if head.len() < self.0.len() {
            write!(f, "… ({} bytes)", self.0.len())?;
        }
        Ok(())
    }
}

/// Collects the difference of one law on one input.
#[derive(Clone, Copy)]
struct Check<'a> {
    law: Law,
    input: &'a [u8],
}

impl<'a> Check<'a> {
    const fn new(law: Law, input: &'a [u8]) -> Self {
        Self { law, input }
    }

    /// Fails with what `what` says unless `holds`.
    fn that(self, holds: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
        if holds { Ok(()) } else { Err(Violation::new(self.law, self.input, what())) }
    }

    /// Fails unless the two are equal.
    fn same<T: PartialEq + fmt::Debug>(self, of: &str, got: &T, want: &T) -> Result<(), Violation> {
        self.that(got == want, || format!("{of}: {got:?} instead of {want:?}"))
    }

    /// Fails unless the two texts are equal.
    fn same_text(self, of: &str, got: &[u8], want: &[u8]) -> Result<(), Violation> {
        self.that(got == want, || format!("{of}: {} instead of {}", Shown(got), Shown(want)))
    }
}

/// One law as a function.
pub type LawFn = fn(&[u8], &MendOptions) -> Result<(), Violation>;

/// Every law that applies to any input of the core, in order of number.
pub const ALL: [LawFn; 14] = [
    split_invariance,
    always_valid,
    identity,
    append_only,
    edit_script,
    bounded,
    any_call_order,
    nothing_lost,
    idempotence,
    honest_ends,
    agreement,
    stable_snapshots,
    partial_agrees,
    deltas_rebuild,
];

/// Checks every law in [`ALL`], and stops at the first violation.
///
/// # Errors
/// The first law that `input` breaks.
///
/// ```
/// use wiremend_core::MendOptions;
/// use wiremend_testkit::laws;
/// laws::all(br#"{"a": [1, 2.50]}"#, &MendOptions::new()).unwrap();
/// ```
pub fn all(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    ALL.iter().try_for_each(|law| law(input, options))
}
