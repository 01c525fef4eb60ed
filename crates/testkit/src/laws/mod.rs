//! The laws, one property function each.
//!
//! A law takes an input and returns `Ok(())` or the [`Violation`] it found. A law that does not apply
//! to an input (identity, for example, to a text that is not JSON) returns `Ok(())`. L13, the law of
//! absences, is about sources and not about inputs: the architecture test checks it.

mod calls;
mod decoding;
mod push;
#[cfg(feature = "schema")]
mod schema;
mod text;
mod whole;
pub mod wire;

use std::fmt;

use wiremend_core::{MendOptions, Mender};

pub use calls::{
    CallTrace, Read, ReadObjects, call_reader, cut_calls, cut_calls_read, lost_events,
    lost_events_read, lost_objects, read_calls, text_calls,
};
pub use decoding::{
    bodies_stay, chats_lose_nothing, decoding, unread_members, unread_members_read,
};
pub use push::{
    abandoned, always_valid, any_call_order, append_only, bounded, deltas_rebuild, honest_ends,
    nothing_lost, nothing_lost_at_end, partial_agrees, split_invariance, split_invariance_at,
    stable_snapshots,
};
#[cfg(feature = "schema")]
pub use schema::{hostile_schema_laws, schema_laws};
pub use text::{segments, text_abandoned, text_agreement, text_laws, text_laws_at, untouched};
pub use whole::{
    agreement, edit_script, idempotence, identity, push_agreement, space_around, text_space_around,
};

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

// The law of work: the part of L6 that counts steps.

/// The maximum number of steps per byte of any input, however it arrives.
pub const STEPS_PER_BYTE: u64 = 128;

/// What a limit may cost once, in steps.
const ONCE: u64 = 2_000;

/// The chunk sizes with which work is counted: single bytes, tokens of a model, a read of a socket,
/// the whole.
const CHUNKS: [usize; 4] = [1, 8, 4096, usize::MAX];

/// How many steps the push path takes for `input` in chunks of `size` bytes.
///
/// ```
/// use wiremend_core::MendOptions;
/// use wiremend_testkit::laws::steps;
/// let (once, twice) = (steps(b"[1, 2]", 1, &MendOptions::new()), steps(b"[1, 2, 1, 2]", 1, &MendOptions::new()));
/// assert!(once < twice);
/// ```
#[must_use]
pub fn steps(input: &[u8], size: usize, options: &MendOptions) -> u64 {
    let mut mender = Mender::new(options.clone());
    for chunk in input.chunks(size.max(1)) {
        mender.push(chunk, &mut ());
    }
    mender.finish(&mut ());
    mender.steps()
}

/// L6: `full`, which is `half` with its repeated part twice as long, takes at most twice the steps;
/// and no byte more than [`STEPS_PER_BYTE`].
///
/// A limit may end the work early; the work before it is still linear. An eighth, and the one-time
/// cost of a limit, are allowed for what does not double: the ends, and the first chunk.
///
/// # Errors
/// The size of the chunks in which the work more than doubles.
pub fn doubling(half: &[u8], full: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Bounded, full);
    for size in CHUNKS {
        let (once, twice) = (steps(half, size, options), steps(full, size, options));
        check.that(twice <= 2 * once + once / 4 + ONCE, || {
            format!("{once} steps, and {twice} for twice as much, in chunks of {size}")
        })?;
        in_proportion(&check, twice, full.len(), size)?;
    }
    Ok(())
}

/// No byte of a text takes more than [`STEPS_PER_BYTE`].
fn in_proportion(
    check: &Check<'_>,
    steps: u64,
    length: usize,
    size: usize,
) -> Result<(), Violation> {
    let most = STEPS_PER_BYTE * (length as u64 + 64);
    check.that(steps <= most, || format!("{steps} steps, at most {most}, in {size}"))
}

/// L6 for `piece`, repeated after `head`: [`doubling`] between two and four kilobytes. A limit, or the end
/// of what is looked ahead, may change once how all that follows is read. So the work may grow faster
/// there, if two doublings after it show that twice as much text takes twice as much work more.
///
/// # Errors
/// The size of the chunks in which the work grows faster than the input.
pub fn linear(head: &[u8], piece: &[u8], options: &MendOptions) -> Result<(), Violation> {
    const SIZE: usize = 2048;
    let Some(count) = SIZE.checked_div(piece.len()).map(|count| count.max(1)) else {
        return Ok(());
    };
    let of = |times: usize| [head, &piece.repeat(times * count)].concat();
    doubling(&of(1), &of(2), options)
        .or_else(|_| steady([&of(1), &of(2), &of(4)], options))
        .or_else(|_| steady([&of(2), &of(4), &of(8)], options))
        // Whole texts are read in portions of 16 kilobytes.
        .or_else(|_| steady([&of(8), &of(16), &of(32)], options))
}

/// Of three texts, each with twice as much repeated as the one before: the last step takes at most
/// twice the work of the first one.
fn steady([half, full, more]: [&[u8]; 3], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Bounded, more);
    for size in CHUNKS {
        let work = [half, full, more].map(|text| steps(text, size, options));
        check.that(is_steady(work), || {
            format!("{work:?} steps, each for twice as much, in chunks of {size}")
        })?;
        in_proportion(&check, work[2], more.len(), size)?;
    }
    Ok(())
}

/// Whether work for a length, twice and four times that length is linear in what is added.
const fn is_steady([first, second, third]: [u64; 3]) -> bool {
    let (once, twice) = (second.saturating_sub(first), third.saturating_sub(second));
    twice <= 2 * once + once / 8 + ONCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_is_linear_from_some_length_on_is_steady() {
        let work = |of: fn(u64) -> u64| is_steady([2_048, 4_096, 8_192].map(of));
        assert!(work(|length| 15 * length));
        assert!(work(|length| 15 * length - 12_000));
        assert!(!work(|length| length * length / 64));
        assert!(!work(|length| length * length.isqrt()));
    }
}
