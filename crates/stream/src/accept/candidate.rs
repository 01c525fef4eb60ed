//! What a hook is asked about, and what became of it.

use std::sync::Arc;

use wiremend_core::Outcome;
use wiremend_response::Object;
#[cfg(feature = "schema")]
use wiremend_response::{CallCheck, FittedCall, FittedObject};
use wiremend_wire::Call;

use super::{AcceptOptions, Oversized};

/// A call or an object that has ended, complete and valid as far as the library knows: what the hook
/// decides about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Candidate {
    /// A tool call. With tools, its arguments fit the schema of the tool, or the tool has none.
    #[non_exhaustive]
    Call {
        /// The call.
        call: Arc<Call>,
        /// How it fits the schema of its tool. `None` without tools.
        #[cfg(feature = "schema")]
        fit: Option<Box<FittedCall>>,
    },
    /// An object in the text. With a schema, it fits.
    #[non_exhaustive]
    Object {
        /// The object. `None` for a text that only the schema could read, as a whole.
        object: Option<Box<Object>>,
        /// How it fits the schema for the text. `None` without a schema.
        #[cfg(feature = "schema")]
        fit: Option<Box<FittedObject>>,
    },
}

impl Candidate {
    /// The name of the tool to judge a call by: the one under which it is registered if there are
    /// tools, otherwise the one that the model wrote. The model may write it in another way, such as
    /// `functions.delete` for `delete`, so a hook that compares [`Call::name`] can be bypassed.
    /// `None` for an object.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match self {
            #[cfg(feature = "schema")]
            Self::Call { call, fit: Some(fit) } => match fit.check() {
                CallCheck::Fitted { tool, .. } => Some(tool),
                _ => Some(call.name()),
            },
            Self::Call { call, .. } => Some(call.name()),
            Self::Object { .. } => None,
        }
    }

    /// The JSON text: fitted to the schema if there is one, otherwise mended. `None` if it is not complete
    /// or does not fit, and so must not be used.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        match self {
            #[cfg(feature = "schema")]
            Self::Call { fit: Some(fit), .. } if !matches!(fit.check(), CallCheck::Unchecked) => {
                fit.arguments()
            }
            #[cfg(feature = "schema")]
            Self::Object { fit: Some(fit), .. } => {
                fit.json().filter(|_| fit.outcome().is_complete())
            }
            Self::Call { .. } | Self::Object { .. } => self.mended(),
        }
    }

    /// The mended text, before any schema. `None` if it is not complete.
    fn mended(&self) -> Option<&str> {
        match self {
            Self::Call { call, .. } => call.outcome().is_complete().then(|| call.arguments()),
            Self::Object { object, .. } => {
                let object = object.as_ref()?;
                object.json().filter(|_| object.outcome().is_complete())
            }
        }
    }

    /// The text as the model wrote it, if nothing of it is missing.
    fn raw(&self) -> Option<&str> {
        match self {
            Self::Call { call, .. } => {
                let is_there = call.outcome().is_complete() || call.outcome() == Outcome::Invalid;
                (is_there && call.doubt().is_none()).then(|| call.raw())
            }
            Self::Object { object, .. } => {
                let object = object.as_ref()?;
                let is_there =
                    object.outcome().is_complete() || object.outcome() == Outcome::Invalid;
                object.raw().filter(|_| is_there && object.doubt().is_none())
            }
        }
    }

    /// Whether it is a call of a tool that is not registered.
    fn is_of_unknown_tool(&self) -> bool {
        match self {
            #[cfg(feature = "schema")]
            Self::Call { fit: Some(fit), .. } => matches!(fit.check(), CallCheck::Unknown { .. }),
            _ => false,
        }
    }

    /// Whether it passed a limit of the response, so that its text is not there.
    fn has_overflowed(&self) -> bool {
        match self {
            Self::Call { call, .. } => call.outcome() == Outcome::Overflow,
            Self::Object { object: Some(object), .. } => object.outcome() == Outcome::Overflow,
            Self::Object { object: None, .. } => self.is_too_long_to_fit(),
        }
    }

    /// Whether it is an object with more bytes than are kept to fit it to the schema.
    fn is_too_long_to_fit(&self) -> bool {
        match self {
            #[cfg(feature = "schema")]
            Self::Object { fit: Some(fit), .. } => fit.fitted().is_none(),
            _ => false,
        }
    }

    /// Whether the text as the model wrote it was kept.
    fn has_raw(&self) -> bool {
        match self {
            Self::Call { .. } => true,
            Self::Object { object, .. } => {
                object.as_ref().is_some_and(|object| object.raw().is_some())
            }
        }
    }

    /// `call` or `object`, and the name of the tool.
    pub(crate) fn kind(&self) -> (&'static str, &str) {
        match self {
            Self::Call { call, .. } => ("call", call.name()),
            Self::Object { .. } => ("object", ""),
        }
    }

    /// How many bytes it has: the larger one of the mended text and what a schema made of it.
    fn length(&self) -> usize {
        let mended = match self {
            Self::Call { call, .. } => call.arguments().len().max(call.raw().len()),
            Self::Object { object, .. } => object.as_ref().map_or(0, |object| {
                let lengths = [object.json(), object.raw()].map(|text| text.map_or(0, str::len));
                lengths[0].max(lengths[1])
            }),
        };
        mended.max(self.json().map_or(0, str::len))
    }
}

/// What became of a call or an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Judgement {
    /// The hook accepted it: its text.
    Accepted(String),
    /// It is cut off, may lack a part, cannot be repaired, or does not fit its schema. The hook was not asked. The
    /// candidate says why.
    Incomplete,
    /// It is too long ([`Oversized`]), and passed as received ([`Oversized::PassRaw`]).
    Raw(String),
    /// The hook refused it, for this reason.
    Refused(String),
    /// The hook replaced it with this text.
    Replaced(String),
    /// It is too long ([`Oversized`]), or longer than a limit of the response, past which nothing of it is kept. The hook
    /// was not asked.
    TooLong,
    /// It is too long ([`Oversized`]), and passed without a schema or the hook ([`Oversized::PassUnchecked`]).
    Unchecked(String),
    /// It calls a tool that is not registered, whatever its arguments are. The hook was not asked. The
    /// [fit](Candidate::Call::fit) of the candidate has the nearest name.
    UnknownTool,
}

impl Judgement {
    /// A stable lowercase code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Incomplete => "incomplete",
            Self::Raw(_) => "raw",
            Self::Refused(_) => "refused",
            Self::Replaced(_) => "replaced",
            Self::TooLong => "too-long",
            Self::Unchecked(_) => "unchecked",
            Self::UnknownTool => "unknown-tool",
        }
    }

    /// The JSON text to use: what was accepted or replaced. `None` for everything else, including what passed
    /// unchecked.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        match self {
            Self::Accepted(json) | Self::Replaced(json) => Some(json),
            _ => None,
        }
    }
}

/// The judgement about a candidate, unless the hook has to be asked.
pub(super) fn judge(candidate: &Candidate, options: AcceptOptions) -> Option<Judgement> {
    if candidate.is_of_unknown_tool() {
        return Some(Judgement::UnknownTool);
    }
    if candidate.has_overflowed() {
        return Some(Judgement::TooLong);
    }
    if candidate.length() > options.cap || candidate.is_too_long_to_fit() {
        let passed = match options.oversized {
            Oversized::PassRaw if candidate.has_raw() => {
                candidate.raw().map(|text| Judgement::Raw(text.to_owned()))
            }
            Oversized::PassUnchecked => {
                candidate.mended().map(|json| Judgement::Unchecked(json.to_owned()))
            }
            Oversized::Error | Oversized::PassRaw => Some(Judgement::TooLong),
        };
        return Some(passed.unwrap_or(Judgement::Incomplete));
    }
    candidate.json().is_none().then_some(Judgement::Incomplete)
}
