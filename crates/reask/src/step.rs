//! What is to be done next, and how a loop ended.

use core::fmt;

use wiremend_core::Risk;
use wiremend_schema::{Fitted, Issue};

use crate::{Ask, AskKind, Failure, Spent, rank::Rank};

/// What is to be done next.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Step {
    /// Ask the model.
    Ask(Box<Ask>),
    /// Ask the model to go on: the answer is not wrong, it was cut off.
    Continue(Box<Ask>),
    /// There is a valid value.
    Done(Box<Done>),
    /// There is none, and nothing more will be asked.
    Exhausted(Box<Exhausted>),
    /// The call failed, which is not about the answer. The same call may be made again, when a
    /// [`Retry`](crate::Retry) says so, or the loop may be [given up](crate::Reask::give_up).
    Failed(Failure),
}

/// A valid value, and how it was obtained.
#[derive(Clone, Debug)]
pub struct Done {
    pub(crate) json: String,
    pub(crate) fitted: Fitted,
    pub(crate) risk: Option<Risk>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) spent: Spent,
}

impl Done {
    /// The value, as JSON text. It is what was validated, byte for byte.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The value as a Rust type.
    ///
    /// # Errors
    /// If the type refuses the value.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.json)
    }

    /// The highest risk of all that was done to get from the answers to the value: of the repairs of each answer that
    /// is part of it, and of how they were put together. `None` if it is what the model wrote.
    ///
    /// Besides repairs, it counts as *likely* that an answer which was cut off inside of a string goes on with the
    /// next one, that a repetition or words around the rest are left out, and that a reply for single fields which
    /// states other parts of the value anew means what it says. Of a field that is stated twice, one is a *guess*.
    #[must_use]
    pub const fn risk(&self) -> Option<Risk> {
        self.risk
    }

    /// What was repaired in the text that the value was read from, which may be put together from several answers.
    /// Its positions are those of [`Attempt::text`] of the last attempt. See [`risk`](Self::risk) for all of them.
    #[must_use]
    pub const fn fitted(&self) -> &Fitted {
        &self.fitted
    }

    /// Every answer, the last one included.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// What all calls took together.
    #[must_use]
    pub const fn spent(&self) -> &Spent {
        &self.spent
    }
}

/// An answer, and what was wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub(crate) kind: AskKind,
    pub(crate) answer: String,
    pub(crate) text: String,
    pub(crate) json: Option<String>,
    pub(crate) issues: Vec<Issue>,
    pub(crate) is_cut: bool,
    pub(crate) rank: Rank,
    pub(crate) risk: Option<Risk>,
}

impl Attempt {
    /// The highest risk of what was done to read it, as [`Done::risk`] is for the value.
    #[must_use]
    pub const fn risk(&self) -> Option<Risk> {
        self.risk
    }

    /// What had been asked for.
    #[must_use]
    pub const fn kind(&self) -> AskKind {
        self.kind
    }

    /// The answer as it was received.
    #[must_use]
    pub fn answer(&self) -> &str {
        &self.answer
    }

    /// The text that was validated: the answer; for a continuation, all that was written so far; for fields,
    /// the value with the fields in it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The JSON in it, with its syntax repaired. It need not be valid for the schema.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        self.json.as_deref()
    }

    /// What was wrong. Empty for a valid value that was refused.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// Whether it was cut off, or stopped early by a [`Watch`](crate::Watch).
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// Why nothing more is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EndReason {
    /// The model was asked as often as it may be.
    Attempts,
    /// The budget for the cost is spent.
    Cost,
    /// The time is over.
    Deadline,
    /// A call failed, and is not repeated.
    Failed,
    /// Two answers in a row were no better than the best one before.
    NoProgress,
    /// The model declined to answer, or a filter stopped it. What it wrote is no value, even if it is valid.
    Refused,
    /// The same answer came for the third time.
    Repeated,
    /// A part of the answer has been shown, so that it cannot be replaced.
    Shown,
    /// The budget for tokens is spent.
    Tokens,
}

impl EndReason {
    /// All reasons, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Attempts,
        Self::Cost,
        Self::Deadline,
        Self::Failed,
        Self::NoProgress,
        Self::Refused,
        Self::Repeated,
        Self::Shown,
        Self::Tokens,
    ];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Attempts => "attempts",
            Self::Cost => "cost",
            Self::Deadline => "deadline",
            Self::Failed => "failed",
            Self::NoProgress => "no-progress",
            Self::Refused => "refused",
            Self::Repeated => "repeated",
            Self::Shown => "shown",
            Self::Tokens => "tokens",
        }
    }
}

/// The end of a loop without a valid value, with everything that was received.
#[derive(Clone, Debug)]
pub struct Exhausted {
    pub(crate) reason: EndReason,
    pub(crate) best: Option<usize>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) spent: Spent,
    pub(crate) failure: Option<Failure>,
}

impl Exhausted {
    /// Why nothing more is asked.
    #[must_use]
    pub const fn reason(&self) -> EndReason {
        self.reason
    }

    /// The answer that is nearest to a valid one: with something good in it rather than with other JSON or none, whole
    /// rather than cut off, with the largest share of good values, with the fewest issues, and the first of equals. It
    /// is *not* valid, or was [refused](EndReason::Refused). `None` if there was no answer.
    #[must_use]
    pub fn best(&self) -> Option<&Attempt> {
        self.attempts.get(self.best?)
    }

    /// What is wrong with the [best](Self::best) answer.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        self.best().map(Attempt::issues).unwrap_or_default()
    }

    /// Every answer.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// What all calls took together.
    #[must_use]
    pub const fn spent(&self) -> &Spent {
        &self.spent
    }

    /// The failure that ended it.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}

/// The reason, the first issue of every answer, and the failure.
impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no valid answer ({})", self.reason.code())?;
        for (number, attempt) in self.attempts.iter().enumerate() {
            match attempt.issues.first() {
                Some(issue) => write!(f, "; answer {}: {issue}", number + 1)?,
                None if self.reason == EndReason::Refused => {
                    write!(f, "; answer {}: refused", number + 1)?;
                }
                None => write!(f, "; answer {}: not complete", number + 1)?,
            }
        }
        match &self.failure {
            Some(failure) if !self.attempts.is_empty() => write!(f, "; then {failure}"),
            Some(failure) => write!(f, "; {failure}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Exhausted {}
