//! What is mended, and for which tools in another way.

use core::{error::Error, fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use wiremend_core::{Policy, Risk};
use wiremend_extract::Dialect;

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

/// What is done with the arguments of the tools of a name, where that is not what [`Mending`] says.
///
/// Of the rules of an upstream, and after them those of all, the first one whose name matches counts. A
/// request can narrow it, but not widen it.
///
/// [`Mending`]: crate::Mending
///
/// ```
/// use wiremend_exchange::{Arguments, Mending, Repair, ToolRule};
/// let delete = ToolRule::new("delete_*")?.with_arguments(Arguments::Pass);
/// let search = ToolRule::new("search")?.with_policy(Repair::Lossy);
/// assert!(delete.matches("delete_user") && !search.matches("search_all"));
/// let mending = Mending::new().with_tools(vec![delete, search]);
/// # Ok::<(), wiremend_exchange::SettingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRule {
    name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Arguments>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<Repair>,
}

/// The longest pattern.
const LONGEST: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Name(String);

impl ToolRule {
    /// A rule for the tools of that name, in which `*` stands for any characters. It changes nothing yet.
    ///
    /// # Errors
    /// If the name is empty or has more than 256 bytes.
    pub fn new(name: &str) -> Result<Self, SettingError> {
        Ok(Self { name: name.to_owned().try_into()?, arguments: None, policy: None })
    }

    /// Sets what is done with the arguments.
    #[must_use]
    pub const fn with_arguments(mut self, arguments: Arguments) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Sets the highest risk of a repair, and of a change that makes the arguments fit.
    #[must_use]
    pub const fn with_policy(mut self, policy: Repair) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Whether it is for a tool of that name.
    #[must_use]
    pub fn matches(&self, tool: &str) -> bool {
        matches(self.name.0.as_bytes(), tool.as_bytes())
    }

    pub(crate) const fn arguments(&self) -> Option<Arguments> {
        self.arguments
    }

    pub(crate) const fn policy(&self) -> Option<Repair> {
        self.policy
    }
}

impl TryFrom<String> for Name {
    type Error = SettingError;

    fn try_from(name: String) -> Result<Self, SettingError> {
        if name.is_empty() || name.len() > LONGEST {
            return Err(SettingError("the name of a tool is empty or too long"));
        }
        Ok(Self(name))
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

/// Whether a name matches a pattern. Only the last star is tried again, so the work is bounded by the
/// product of the lengths.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    // Behind the last star, and how far the name was read there.
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                star = Some((at, read));
            }
            Some(byte) if *byte == name[read] => (at, read) = (at + 1, read + 1),
            _ => {
                let Some((after, tried)) = star else { return false };
                star = Some((after, tried + 1));
                (at, read) = (after, tried + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
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

    #[test]
    fn a_pattern_has_a_length() {
        assert!(ToolRule::new(&"a".repeat(LONGEST)).is_ok());
        assert!(ToolRule::new(&"a".repeat(LONGEST + 1)).is_err());
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, yes, no) in [
            ("f", vec!["f"], vec!["", "ff", "F"]),
            ("*", vec!["", "f"], vec![]),
            ("get_*", vec!["get_", "get_x"], vec!["get", "xget_"]),
            ("*_file", vec!["read_file", "_file_file"], vec!["read_files"]),
            ("a*b*c", vec!["abc", "axbxbc"], vec!["ab", "acb"]),
            ("**", vec!["x"], vec![]),
        ] {
            let rule = ToolRule::new(pattern).unwrap();
            for name in yes {
                assert!(rule.matches(name), "{pattern} {name}");
            }
            for name in no {
                assert!(!rule.matches(name), "{pattern} {name}");
            }
        }
        assert!(ToolRule::new("").is_err());
        // A pattern made to be slow is not.
        let slow = ToolRule::new(&"*a".repeat(128)).unwrap();
        assert!(
            !slow.matches(&"a".repeat(100_000).replace("aa", "ab")[..99_999].replace('a', "b"))
        );
    }
}
