//! A tool call that has ended.

use jsonmend_core::{Mended, Outcome, Path, Repair};

use super::Doubt;
use crate::codes::coded;

/// What kind of tool a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallKind {
    /// A tool that takes free text, which is never mended.
    Custom,
    /// A function of the caller, with JSON arguments.
    Function,
    /// A tool that the provider runs itself, with JSON arguments.
    Server,
}

impl CallKind {
    /// Every kind, in alphabetical order.
    pub const ALL: &'static [Self] = &[Self::Custom, Self::Function, Self::Server];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Custom => "custom",
            Self::Function => "function",
            Self::Server => "server",
        }
    }
}

coded!(CallKind);

/// A tool call that has ended.
///
/// Run it only where [`Outcome::is_complete`] holds: under every other outcome the arguments were cut
/// off, refused or none.
///
/// ```
/// use jsonmend_core::Outcome;
/// use jsonmend_wire::{WireOptions, transcribe};
///
/// let body = br#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1",
/// data: "function":{"name":"now","arguments":""}}]},"finish_reason":"tool_calls"}]}
///
/// data: [DONE]
///
/// "#;
/// let transcript = transcribe(body, WireOptions::new());
/// let call = &transcript.calls()[0];
/// assert_eq!((call.name(), call.arguments()), ("now", "{}"));
/// assert_eq!(call.outcome(), Outcome::Unchanged);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    number: usize,
    choice: u32,
    kind: CallKind,
    id: Option<String>,
    name: String,
    raw: String,
    /// The mended text, where it differs from the raw one.
    mended: Option<String>,
    outcome: Outcome,
    repairs: Vec<Repair>,
    cut_at: Option<Path>,
    resent: bool,
    doubt: Option<Doubt>,
}

impl Call {
    /// A call of which nothing but its name is known.
    pub(super) fn new(
        number: usize,
        choice: u32,
        kind: CallKind,
        id: Option<String>,
        name: String,
    ) -> Self {
        Self {
            number,
            choice,
            kind,
            id,
            name,
            raw: String::new(),
            mended: None,
            outcome: Outcome::None,
            repairs: Vec::new(),
            cut_at: None,
            resent: false,
            doubt: None,
        }
    }

    pub(super) fn with_text(mut self, text: String, outcome: Outcome) -> Self {
        self.raw = text;
        self.outcome = outcome;
        self
    }

    /// Arguments that were valid JSON as they came.
    pub(super) fn with_valid(mut self, raw: String, resent: bool) -> Self {
        self.raw = raw;
        self.outcome = Outcome::Unchanged;
        self.resent = resent;
        self
    }

    pub(super) fn with_json(mut self, raw: String, mended: Mended, resent: bool) -> Self {
        self.cut_at = mended.cut_at().cloned();
        let (outcome, text, repairs) = mended.into_parts();
        self.mended = text.filter(|text| *text != raw);
        self.raw = raw;
        self.outcome = outcome;
        self.repairs = repairs;
        self.resent = resent;
        self
    }

    /// The same call, which is not complete for that reason: nothing that was mended of it is offered.
    pub(super) fn doubted(mut self, doubt: Doubt) -> Self {
        self.doubt = self.doubt.or(Some(doubt));
        if self.outcome.is_complete() {
            let limit = doubt == Doubt::Limit;
            self.outcome = if limit { Outcome::Overflow } else { Outcome::Cut };
            self.mended = None;
            self.repairs.clear();
        }
        self
    }

    /// The same call, whose turn did not end with a clean stop. Arguments that are valid JSON and end
    /// by themselves are complete: nothing is missing of them. What needed mending may have lost its
    /// end, a number may go on, and an empty object may hold the place of what was to come.
    pub(super) fn stopped(self) -> Self {
        if self.kind == CallKind::Custom || self.outcome == Outcome::Repaired {
            return self.doubted(Doubt::UncleanStop);
        }
        let text = self.raw.trim();
        if self.outcome != Outcome::Unchanged || !text.ends_with(['}', ']', '"']) {
            return self.doubted(Doubt::UncleanStop);
        }
        if text.strip_prefix('{').and_then(|rest| rest.trim_start().strip_prefix('}')).is_some() {
            let outcome = Outcome::None;
            return Self { outcome, doubt: Some(Doubt::UncleanStop), ..self };
        }
        self
    }

    /// Its place in the order in which the calls began, from 0.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The choice or message it belongs to.
    #[must_use]
    pub const fn choice(&self) -> u32 {
        self.choice
    }

    /// What kind of tool it is for.
    #[must_use]
    pub const fn kind(&self) -> CallKind {
        self.kind
    }

    /// Its id, if the stream gave one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The name of the tool; empty if the stream gave none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments: mended where the outcome is valid, else as they came. Arguments that a complete
    /// call left out are `{}`.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.mended.as_deref().unwrap_or(&self.raw)
    }

    /// The argument text as the stream carried it, its fragments joined. The repairs count from its
    /// start.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// What became of the arguments.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// What was mended; where nothing could be, what would have been needed.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// Why the call is not complete, although its arguments may look as if they were; `None` where the
    /// arguments themselves tell, or the call is complete.
    #[must_use]
    pub const fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// Where the arguments were cut off, for [`Outcome::Closed`] and [`Outcome::Cut`].
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.cut_at.as_ref()
    }

    /// Whether the stream sent arguments more than once, or an empty object before them;
    /// [`raw`](Self::raw) holds them once.
    #[must_use]
    pub const fn is_resent(&self) -> bool {
        self.resent
    }
}
