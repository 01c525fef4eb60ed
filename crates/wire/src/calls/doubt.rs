//! Why a call is not treated as complete, whatever its arguments look like.

use crate::codes::coded;

/// Why a call is not treated as complete, although its arguments may look complete.
///
/// A stream can lose an event, be cut off, or contradict itself, and what is left of a call can still
/// be valid JSON: `{"cmd": "rm -rf /data` and `"}`, with an event lost between them. Such a call
/// ends as [`Outcome::Cut`](wiremend_core::Outcome::Cut) or, if a limit was the reason, as
/// [`Outcome::Overflow`](wiremend_core::Outcome::Overflow).
///
/// ```
/// use wiremend_core::Outcome;
/// use wiremend_wire::{Doubt, WireOptions, transcribe};
///
/// // The body ends before it states the end of the call.
/// let body = br#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1",
/// data: "function":{"name":"now","arguments":"{}"}}]}}]}
///
/// "#;
/// let transcript = transcribe(body, WireOptions::new());
/// let call = &transcript.calls()[0];
/// assert_eq!((call.outcome(), call.doubt()), (Outcome::Cut, Some(Doubt::BodyEnded)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Doubt {
    /// The body ended, or another message began, before the end of the call was stated.
    BodyEnded,
    /// The stream sent the arguments, or the name, in two versions that differ.
    Contradiction,
    /// An event that may belong to the call was damaged: it has bytes that are not UTF-8, half of a
    /// character is missing, or it is not the JSON that its server writes.
    DamagedEvent,
    /// The provider marked the call as incomplete.
    Incomplete,
    /// A line or an event exceeded a limit and was dropped while the call was open.
    Limit,
    /// An event was lost or could not be read while the call was open: the event that ends the call is
    /// one. Or one was lost earlier, and the arguments needed repairs.
    LostEvent,
    /// The first event of the call is missing: its name was never sent.
    MissingStart,
    /// The arguments were broken, and what they were repaired to is not an object: something before it
    /// may have been lost.
    NoObject,
    /// The arguments begin with a code fence that is never closed.
    OpenFence,
    /// The stream reported an error while the call was open.
    StreamError,
    /// The turn did not end with a clean stop, and the end of the call was not stated either.
    UncleanStop,
}

impl Doubt {
    /// Every reason, in alphabetical order of the codes.
    pub const ALL: &'static [Self] = &[
        Self::BodyEnded,
        Self::Contradiction,
        Self::DamagedEvent,
        Self::Incomplete,
        Self::Limit,
        Self::LostEvent,
        Self::MissingStart,
        Self::NoObject,
        Self::OpenFence,
        Self::StreamError,
        Self::UncleanStop,
    ];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::BodyEnded => "body-ended",
            Self::Contradiction => "contradiction",
            Self::DamagedEvent => "damaged-event",
            Self::Incomplete => "incomplete",
            Self::Limit => "limit",
            Self::LostEvent => "lost-event",
            Self::MissingStart => "missing-start",
            Self::NoObject => "no-object",
            Self::OpenFence => "open-fence",
            Self::StreamError => "stream-error",
            Self::UncleanStop => "unclean-stop",
        }
    }

    /// Whether a part of the response may be missing, and so of a text that is being read: no object that ends
    /// later in a text of the response is complete. The other reasons concern calls.
    ///
    /// ```
    /// use wiremend_wire::Doubt;
    ///
    /// assert!(Doubt::LostEvent.is_loss());
    /// assert!(!Doubt::UncleanStop.is_loss());
    /// ```
    #[must_use]
    pub const fn is_loss(self) -> bool {
        matches!(self, Self::DamagedEvent | Self::Limit | Self::LostEvent | Self::StreamError)
    }

    /// A description, to be used as the end of a sentence about the call.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::BodyEnded => "the stream ended before the call did",
            Self::Contradiction => "the stream contradicts itself about the call",
            Self::DamagedEvent => "an event that may belong to the call was damaged",
            Self::Incomplete => "the provider marks the call as incomplete",
            Self::Limit => "a line or an event passed a limit while the call was open",
            Self::LostEvent => "an event that may belong to the call was lost",
            Self::MissingStart => "the first event of the call is missing",
            Self::NoObject => "the arguments were broken, and are not an object",
            Self::OpenFence => "the arguments begin with a code fence that is never closed",
            Self::StreamError => "the stream reported an error while the call was open",
            Self::UncleanStop => "the turn did not end with a clean stop",
        }
    }
}

coded!(Doubt);
