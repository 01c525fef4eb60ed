//! A tool call that has ended.

use wiremend_core::{Mended, Outcome, Path, Repairs};

use crate::error::coded;

/// The kind of tool that a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallKind {
    /// A tool that takes free text, which is never repaired.
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
/// Run it only if [`Outcome::is_complete`] holds. Under any other outcome the arguments were cut off,
/// refused or missing.
///
/// ```
/// use wiremend_core::Outcome;
/// use wiremend_wire::{WireOptions, transcribe};
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
    /// The repaired text, if it differs from the raw one.
    mended: Option<String>,
    outcome: Outcome,
    repairs: Repairs,
    cut_at: Option<Path>,
    resent: bool,
    doubt: Option<Doubt>,
    guided: bool,
    fitted: bool,
    dialect: Option<String>,
}

impl Call {
    /// A call with only a name.
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
            repairs: Repairs::new(),
            cut_at: None,
            resent: false,
            doubt: None,
            guided: false,
            fitted: false,
            dialect: None,
        }
    }

    /// A call that a reader found in a text, in the syntax of a dialect: its name, the identifier that the
    /// model gave it, and the result of mending its arguments. `raw` is the JSON text that the repairs are
    /// relative to: what the model wrote, or where its dialect is not JSON, what was decoded from it.
    /// `dialect` names the dialect. With a `doubt`, the call is not complete.
    #[must_use]
    pub fn in_text(
        (number, choice): (usize, u32),
        (name, id): (String, Option<String>),
        dialect: &str,
        (raw, mended): (String, Mended),
        doubt: Option<Doubt>,
    ) -> Self {
        let call = Self::new(number, choice, CallKind::Function, id, name);
        let call = Self { dialect: Some(dialect.to_owned()), ..call }.with_json(raw, mended, false);
        match doubt {
            Some(doubt) => call.doubted(doubt),
            None => call,
        }
    }

    /// The same call with another number, for a reader that counts further calls.
    #[must_use]
    pub const fn with_number(mut self, number: usize) -> Self {
        self.number = number;
        self
    }

    /// The name of the dialect in which the call was found in a text. `None` for a call of the format.
    #[must_use]
    pub fn dialect(&self) -> Option<&str> {
        self.dialect.as_deref()
    }

    pub(super) fn with_text(mut self, text: String, outcome: Outcome) -> Self {
        self.raw = text;
        self.outcome = outcome;
        self
    }

    /// Sets arguments that were valid JSON without repair.
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

    /// Marks the call as not complete for that reason, and discards its repaired arguments. The reason also
    /// explains why a rewriter abandoned their repair.
    pub(super) fn doubted(mut self, doubt: Doubt) -> Self {
        self.doubt = self.doubt.or(Some(doubt));
        if self.outcome.is_complete() || self.outcome == Outcome::Abandoned {
            let limit = doubt == Doubt::Limit;
            self.outcome = if limit { Outcome::Overflow } else { Outcome::Cut };
            self.mended = None;
            self.repairs = Repairs::new();
        }
        self
    }

    /// Judges the call for a turn that did not end with a clean stop. Arguments that are valid JSON and
    /// end by themselves are complete: nothing is missing. But arguments that needed repair may have lost
    /// their end, a number may go on, and an empty object may be a placeholder for arguments to come.
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

    /// Sets arguments that a hook made of the raw ones.
    pub(super) fn fitted(mut self, text: String) -> Self {
        self.fitted = text != self.arguments();
        if text == self.raw {
            self.mended = None;
            self.outcome = Outcome::Unchanged;
        } else {
            self.mended = Some(text);
            self.outcome = Outcome::Repaired;
        }
        self
    }

    /// Whether a [hook](crate::FitHook) changed the arguments. [`repairs`](Self::repairs) has only the
    /// repairs that the engine made before that.
    #[must_use]
    pub const fn is_fitted(&self) -> bool {
        self.fitted
    }

    /// Sets whether a guide helped to read the arguments.
    pub(super) const fn guided(mut self, guided: bool) -> Self {
        self.guided = guided;
        self
    }

    /// Whether a [guide](crate::Guides) was there from the first byte of the arguments.
    #[must_use]
    pub const fn is_guided(&self) -> bool {
        self.guided
    }

    /// Its number, from 0, in the order in which the calls began.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The choice or message it belongs to.
    #[must_use]
    pub const fn choice(&self) -> u32 {
        self.choice
    }

    /// The kind of tool that it is for.
    #[must_use]
    pub const fn kind(&self) -> CallKind {
        self.kind
    }

    /// Its id, if the stream sent one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The name of the tool. Empty if the stream sent none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments: repaired if the outcome is valid, otherwise verbatim. They are `{}` for a complete
    /// call without arguments.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.mended.as_deref().unwrap_or(&self.raw)
    }

    /// The original argument text, with its fragments concatenated. The spans of the repairs are relative
    /// to its start.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The outcome of the arguments.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The repairs. If the arguments could not be repaired, the repairs that would have been needed.
    #[must_use]
    pub const fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// Why the call is not complete, although its arguments may look complete. `None` if the arguments
    /// themselves show it, or if the call is complete.
    #[must_use]
    pub const fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// Where the arguments were cut off, for [`Outcome::Closed`] and [`Outcome::Cut`].
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.cut_at.as_ref()
    }

    /// Whether the stream sent the arguments more than once, or an empty object before them.
    /// [`raw`](Self::raw) holds them once.
    #[must_use]
    pub const fn is_resent(&self) -> bool {
        self.resent
    }
}

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
