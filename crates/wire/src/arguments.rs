//! The arguments of one call, for callers that already have the whole text.

use wiremend_core::{MendOptions, Outcome, Path, Policy, Repairs};

use crate::{Call, Doubt, FinishReason, calls::judge, codes::coded};

/// The outcome of the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArgumentsOutcome {
    /// They were cut off, or may have been: do not run the call.
    Cut,
    /// They need a repair that the policy forbids, or exceeded a limit: do not run the call.
    Refused,
    /// They were invalid, and were repaired.
    Repaired,
    /// They were valid, or empty after a clean stop.
    Whole,
}

impl ArgumentsOutcome {
    /// Every outcome, in alphabetical order of the codes.
    pub const ALL: &'static [Self] = &[Self::Cut, Self::Refused, Self::Repaired, Self::Whole];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::Refused => "refused",
            Self::Repaired => "repaired",
            Self::Whole => "whole",
        }
    }

    /// Whether the call may be run.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Repaired | Self::Whole)
    }
}

impl From<Outcome> for ArgumentsOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Unchanged => Self::Whole,
            Outcome::Repaired => Self::Repaired,
            Outcome::Closed | Outcome::Cut | Outcome::None => Self::Cut,
            _ => Self::Refused,
        }
    }
}

coded!(ArgumentsOutcome);

/// The repaired arguments of a call. Returned by [`mend_arguments`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MendedArguments {
    call: Call,
}

impl MendedArguments {
    /// Repairs arguments with other options than [`mend_arguments`]: another policy, other limits, a
    /// guide. Arguments of any length are read.
    #[must_use]
    pub fn new(raw: &str, finish: FinishReason, options: &MendOptions) -> Self {
        Self { call: judge(raw, finish, options) }
    }

    #[cfg(feature = "serde_json")]
    pub(crate) const fn call(&self) -> &Call {
        &self.call
    }

    /// The arguments as JSON text, if the call may be run with them.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.call.outcome().is_complete().then(|| self.call.arguments())
    }

    /// The outcome of the arguments.
    #[must_use]
    pub fn outcome(&self) -> ArgumentsOutcome {
        self.call.outcome().into()
    }

    /// The original arguments. The spans of the repairs are relative to their start.
    #[must_use]
    pub fn raw(&self) -> &str {
        self.call.raw()
    }

    /// The repairs. If the arguments could not be repaired, the repairs that would have been needed.
    #[must_use]
    pub const fn repairs(&self) -> &Repairs {
        self.call.repairs()
    }

    /// Where the arguments were cut off, if they were.
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.call.cut_at()
    }

    /// Why they are not treated as complete, although they may look complete.
    #[must_use]
    pub const fn doubt(&self) -> Option<Doubt> {
        self.call.doubt()
    }
}

/// Repairs the arguments of one tool call: `raw` is their text as the provider sent it, `finish` the
/// reason with which the turn ended.
///
/// This is for code that already has the whole text, from a response that was not streamed or from a
/// client library, and would otherwise replace what it cannot parse with `{}` or null. Only the
/// [`value`](MendedArguments::value) may be run. Empty arguments are `{}` after a clean stop. After any
/// other stop they count as cut off, and so do arguments that need a repair to look complete.
///
/// Arguments are repaired under [`Policy::CONSERVATIVE`]: only repairs that are certain or strongly
/// indicated.
///
/// ```
/// use wiremend_wire::{ArgumentsOutcome, FinishReason, mend_arguments};
///
/// let stop = FinishReason::from_provider("tool_calls");
/// let mended = mend_arguments("{'city': 'Oslo', 'days': 3,}", stop);
/// assert_eq!(mended.value(), Some(r#"{"city": "Oslo", "days": 3}"#));
/// assert_eq!(mended.repairs().len(), 7);
///
/// // Half a path is not a path.
/// let cut = mend_arguments(r#"{"path": "/home/ada"#, FinishReason::from_provider("max_tokens"));
/// assert_eq!((cut.value(), cut.outcome()), (None, ArgumentsOutcome::Cut));
///
/// // Missing arguments are an empty object only if the model finished.
/// assert_eq!(mend_arguments("", stop).value(), Some("{}"));
/// assert_eq!(mend_arguments("", FinishReason::Length).value(), None);
/// ```
#[must_use]
pub fn mend_arguments(raw: &str, finish: FinishReason) -> MendedArguments {
    MendedArguments::new(raw, finish, &MendOptions::new().with_policy(Policy::CONSERVATIVE))
}
