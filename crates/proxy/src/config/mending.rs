//! What is mended.

use std::str::FromStr;

use jsonmend_core::{Policy, Risk};
use serde::{Deserialize, Serialize};

/// What is mended in an answer. A request may say otherwise with headers of the same names.
///
/// ```
/// use jsonmend_proxy::{Mending, Mode};
/// assert_eq!(Mending::new().with_mode(Mode::Validated).mode(), Mode::Validated);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mending {
    pub(crate) policy: Repair,
    pub(crate) mode: Mode,
    pub(crate) content: Content,
    pub(crate) calls_in_text: CallsInText,
    pub(crate) history: bool,
    pub(crate) comment: bool,
}

impl Default for Mending {
    fn default() -> Self {
        Self {
            policy: Repair::Likely,
            mode: Mode::Append,
            content: Content::Asked,
            calls_in_text: CallsInText::Off,
            history: true,
            comment: false,
        }
    }
}

impl Mending {
    /// The defaults: repairs up to [`Risk::Likely`], in append mode, of calls, of content where the request
    /// asks for JSON, and of the calls in a request's history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which repairs are made.
    #[must_use]
    pub const fn with_policy(mut self, policy: Repair) -> Self {
        self.policy = policy;
        self
    }

    /// Sets when a call leaves.
    #[must_use]
    pub const fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether content is JSON.
    #[must_use]
    pub const fn with_content(mut self, content: Content) -> Self {
        self.content = content;
        self
    }

    /// Sets whether calls are looked for in text.
    #[must_use]
    pub fn with_calls_in_text(mut self, calls: CallsInText) -> Self {
        self.calls_in_text = calls;
        self
    }

    /// Sets whether calls in the history of a request are mended.
    #[must_use]
    pub const fn with_history(mut self, yes: bool) -> Self {
        self.history = yes;
        self
    }

    /// Sets whether a stream of server-sent events ends with a comment that says what was changed.
    #[must_use]
    pub const fn with_comment(mut self, yes: bool) -> Self {
        self.comment = yes;
        self
    }

    /// Which repairs are made.
    #[must_use]
    pub const fn policy(&self) -> Repair {
        self.policy
    }

    /// When a call leaves.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether content is JSON.
    #[must_use]
    pub const fn content(&self) -> Content {
        self.content
    }

    /// Whether calls are looked for in text.
    #[must_use]
    pub const fn calls_in_text(&self) -> &CallsInText {
        &self.calls_in_text
    }
}

macro_rules! named {
    ($(#[$doc:meta])* $type:ident: $default:ident, $($(#[$each:meta])* $name:ident $code:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[non_exhaustive]
        pub enum $type {
            $($(#[$each])* $name,)*
        }

        impl FromStr for $type {
            type Err = ();

            fn from_str(name: &str) -> Result<Self, ()> {
                match name {
                    $($code => Ok(Self::$name),)*
                    _ => Err(()),
                }
            }
        }
    };
}

named! {
    /// Which repairs are made: those up to a risk. A call that was cut off is never closed, whatever this says.
    Repair: Likely,
    /// Exact repairs.
    Exact "exact",
    /// Exact and likely repairs.
    Likely "likely",
    /// These, and those that lose what the input held.
    Lossy "lossy",
    /// None: answers pass as they come.
    Off "off",
}

named! {
    /// When a call leaves.
    Mode: Append,
    /// While it arrives.
    Append "append",
    /// When it has ended: mended if it is complete, as it came if it is not.
    Validated "validated",
}

named! {
    /// Whether content is JSON, and mended as such.
    Content: Asked,
    /// If the request asks for JSON.
    Asked "asked",
    /// Always.
    Json "json",
    /// Never.
    Text "text",
}

impl Repair {
    /// The policy of the engine, or none.
    pub(crate) fn engine(self) -> Option<Policy> {
        match self {
            Self::Off => None,
            Self::Exact => Some(Policy::CONSERVATIVE.at_most(Risk::Exact)),
            Self::Likely => Some(Policy::CONSERVATIVE),
            Self::Lossy => Some(Policy::PERMISSIVE.at_most(Risk::Lossy)),
        }
    }
}

/// Whether calls that a model wrote in its text are sent on as calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum CallsInText {
    /// Every dialect is looked for.
    Auto,
    /// This dialect is looked for, or those of this model.
    Named(String),
    /// Text is text.
    Off,
}

impl From<String> for CallsInText {
    fn from(name: String) -> Self {
        match name.as_str() {
            "auto" => Self::Auto,
            "off" => Self::Off,
            _ => Self::Named(name),
        }
    }
}

impl From<CallsInText> for String {
    fn from(calls: CallsInText) -> Self {
        match calls {
            CallsInText::Auto => "auto".into(),
            CallsInText::Off => "off".into(),
            CallsInText::Named(name) => name,
        }
    }
}
