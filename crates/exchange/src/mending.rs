//! What is mended.

use core::{error::Error, fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use wiremend_core::{Policy, Risk};
use wiremend_extract::Dialect;

use crate::ToolRule;

/// What is mended in an answer. A request may say otherwise with headers of the same names.
///
/// ```
/// use wiremend_exchange::{Mending, Mode};
/// assert_eq!(Mending::new().with_mode(Mode::Validated).mode(), Mode::Validated);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mending {
    policy: Repair,
    mode: Mode,
    arguments: Arguments,
    content: Content,
    calls_in_text: CallsInText,
    cut: CutCalls,
    history: bool,
    comment: bool,
    #[serde(rename = "tool", skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolRule>,
}

impl Default for Mending {
    fn default() -> Self {
        Self {
            policy: Repair::Likely,
            mode: Mode::Eager,
            arguments: Arguments::Fit,
            content: Content::Asked,
            calls_in_text: CallsInText::Off,
            cut: CutCalls::Pass,
            history: true,
            comment: false,
            tools: Vec::new(),
        }
    }
}

impl Mending {
    /// The defaults: repairs up to [`Risk::Likely`] of calls, of content where the request
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

    /// Sets what is done with the arguments of calls.
    ///
    /// ### Default
    /// [`Arguments::Fit`].
    #[must_use]
    pub const fn with_arguments(mut self, arguments: Arguments) -> Self {
        self.arguments = arguments;
        self
    }

    /// Sets what is done with the arguments of single tools.
    ///
    /// ### Default
    /// The same as with those of all.
    #[must_use]
    pub fn with_tools(mut self, rules: Vec<ToolRule>) -> Self {
        self.tools = rules;
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

    /// Sets what becomes of calls that a finish cuts off.
    ///
    /// ### Default
    /// [`CutCalls::Pass`].
    #[must_use]
    pub const fn with_cut(mut self, cut: CutCalls) -> Self {
        self.cut = cut;
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

    /// What is done with the arguments of calls.
    #[must_use]
    pub const fn arguments(&self) -> Arguments {
        self.arguments
    }

    /// What is done with the arguments of single tools.
    #[must_use]
    pub fn tools(&self) -> &[ToolRule] {
        &self.tools
    }

    /// Whether content is JSON.
    #[must_use]
    pub const fn content(&self) -> Content {
        self.content
    }

    /// What becomes of calls that a finish cuts off.
    #[must_use]
    pub const fn cut(&self) -> CutCalls {
        self.cut
    }

    /// Whether calls are looked for in text.
    #[must_use]
    pub const fn calls_in_text(&self) -> &CallsInText {
        &self.calls_in_text
    }

    /// Whether calls in the history of a request are mended.
    #[must_use]
    pub const fn history(&self) -> bool {
        self.history
    }

    /// Whether a stream of server-sent events ends with a comment that says what was changed.
    #[must_use]
    pub const fn comment(&self) -> bool {
        self.comment
    }
}

/// A setting that cannot be used. The message repeats no value.
///
/// ```
/// use wiremend_exchange::ToolRule;
/// let error = ToolRule::new("").unwrap_err();
/// assert_eq!(error.to_string(), "the name of a tool is empty or too long");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingError(pub(crate) &'static str);

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for SettingError {}

macro_rules! named {
    ($(#[$doc:meta])* $type:ident, $($(#[$each:meta])* $name:ident $code:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[non_exhaustive]
        pub enum $type {
            $($(#[$each])* $name,)*
        }

        impl FromStr for $type {
            type Err = SettingError;

            fn from_str(name: &str) -> Result<Self, SettingError> {
                match name {
                    $($code => Ok(Self::$name),)*
                    _ => Err(SettingError("there is no such value")),
                }
            }
        }
    };
}

named! {
    /// Which repairs are made: those up to a risk. A call that was cut off is never closed, whatever this says.
    ///
    /// ```
    /// use wiremend_exchange::Repair;
    /// assert_eq!("likely".parse(), Ok(Repair::Likely));
    /// ```
    Repair,
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
    /// When a call leaves. In each mode it leaves mended if it is complete when it ends, and as it came if it is not.
    ///
    /// ```
    /// use wiremend_exchange::Mode;
    /// assert_eq!("validated".parse(), Ok(Mode::Validated));
    /// ```
    Mode,
    /// What is valid leaves while it arrives. From the first byte that needs a repair, the call waits for its end.
    Eager "eager",
    /// When it has ended, so that it can be fitted to a schema.
    Validated "validated",
}

named! {
    /// What is done with the arguments of calls.
    ///
    /// ```
    /// use wiremend_exchange::Arguments;
    /// assert_eq!("fit".parse(), Ok(Arguments::Fit));
    /// ```
    Arguments,
    /// They pass as they came, even if they are broken.
    Pass "pass",
    /// They are repaired as JSON.
    Mend "mend",
    /// They are repaired, and then fitted to the schema of their tool, which the request declares. Only in
    /// [`Mode::Validated`]; in [`Mode::Eager`], they are repaired.
    Fit "fit",
}

named! {
    /// What becomes of a call that was cut off: by a finish such as `length`, or because its arguments or the answer stop
    /// within it.
    ///
    /// ```
    /// use wiremend_exchange::CutCalls;
    /// assert_eq!("withhold".parse(), Ok(CutCalls::Withhold));
    /// ```
    CutCalls,
    /// It leaves as it came.
    Pass "pass",
    /// It is taken out of the answer, also if its arguments are valid JSON.
    Withhold "withhold",
}

named! {
    /// Whether content is JSON, and mended as such.
    ///
    /// ```
    /// use wiremend_exchange::Content;
    /// assert_eq!("asked".parse(), Ok(Content::Asked));
    /// ```
    Content,
    /// If the request asks for JSON.
    Asked "asked",
    /// Always.
    Json "json",
    /// Never.
    Text "text",
}

impl Arguments {
    /// The one that does less.
    pub(crate) fn narrowed(self, by: Self) -> Self {
        let rank = |arguments: Self| match arguments {
            Self::Pass => 0,
            Self::Mend => 1,
            Self::Fit => 2,
        };
        if rank(by) < rank(self) { by } else { self }
    }
}

impl Repair {
    /// The one that allows less.
    pub(crate) fn narrowed(self, by: Self) -> Self {
        let rank = |policy: Self| match policy {
            Self::Off => 0,
            Self::Exact => 1,
            Self::Likely => 2,
            Self::Lossy => 3,
        };
        if rank(by) < rank(self) { by } else { self }
    }

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
///
/// ```
/// use wiremend_exchange::CallsInText;
/// assert_eq!(CallsInText::try_from("auto".to_owned()), Ok(CallsInText::Auto));
/// assert!(CallsInText::try_from("hermez".to_owned()).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum CallsInText {
    /// Every dialect is looked for.
    Auto,
    /// This dialect is looked for, or that of this model.
    Named(String),
    /// Text is text.
    Off,
}

impl CallsInText {
    /// Whether a name says something, which code may have set. One that says nothing would look for all dialects, which
    /// nobody asked for.
    ///
    /// # Errors
    /// If it is neither a dialect nor a model whose dialect is known.
    ///
    /// ```
    /// use wiremend_exchange::CallsInText;
    /// assert!(CallsInText::Named("hermes".to_owned()).check().is_ok());
    /// assert!(CallsInText::Named("hermez".to_owned()).check().is_err());
    /// ```
    pub fn check(&self) -> Result<(), SettingError> {
        match self {
            Self::Named(name) if Dialect::by_name(name).or(Dialect::of_model(name)).is_none() => {
                let what =
                    "no dialect, no model whose dialect is known, and neither `auto` nor `off`";
                Err(SettingError(what))
            }
            _ => Ok(()),
        }
    }
}

impl TryFrom<String> for CallsInText {
    type Error = SettingError;

    fn try_from(name: String) -> Result<Self, SettingError> {
        let calls = match name.as_str() {
            "auto" => Self::Auto,
            "off" => Self::Off,
            _ => Self::Named(name),
        };
        calls.check()?;
        Ok(calls)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_that_is_not_known_is_refused() {
        for (name, known) in [
            ("off", true),
            ("auto", true),
            ("hermes", true),
            ("Qwen/Qwen3-Coder-480B-A35B-Instruct", true),
            ("hermez", false),
            ("my-own-model", false),
            ("Auto", false),
            ("", false),
        ] {
            assert_eq!(CallsInText::try_from(name.to_owned()).is_ok(), known, "{name}");
        }
    }
}
