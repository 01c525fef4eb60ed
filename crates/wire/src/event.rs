//! The events of a [`Decoder`](crate::Decoder).

use core::ops::RangeInclusive;

use jsonmend_core::Repair;

use crate::{ApiFormat, Call, CallKind, Framing, codes::coded};

/// Identifies a text of the response.
///
/// A response holds one text per choice (OpenAI), or one per content block (Anthropic, where `choice`
/// counts the messages spliced into one body).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Block {
    /// The choice, or the message, from 0.
    pub(crate) choice: u32,
    /// The content block in it, from 0.
    pub(crate) block: u32,
    /// The part of the block, from 0, where blocks have parts (OpenAI Responses and Assistants).
    pub(crate) part: u32,
}

impl Block {
    /// The first part of that block.
    #[must_use]
    pub const fn new(choice: u32, block: u32) -> Self {
        Self { choice, block, part: 0 }
    }

    /// Another part of the block.
    #[must_use]
    pub const fn with_part(mut self, part: u32) -> Self {
        self.part = part;
        self
    }

    /// The choice, or the message, from 0.
    #[must_use]
    pub const fn choice(&self) -> u32 {
        self.choice
    }

    /// The content block in it, from 0.
    #[must_use]
    pub const fn block(&self) -> u32 {
        self.block
    }

    /// The part of the block, from 0, where blocks have parts (OpenAI Responses and Assistants).
    #[must_use]
    pub const fn part(&self) -> u32 {
        self.part
    }

    /// Every block.
    pub(crate) const fn all() -> RangeInclusive<Self> {
        Self::new(0, 0)..=Self::new(u32::MAX, u32::MAX).with_part(u32::MAX)
    }

    /// Every block of a choice.
    pub(crate) const fn of_choice(choice: u32) -> RangeInclusive<Self> {
        Self::new(choice, 0)..=Self::new(choice, u32::MAX).with_part(u32::MAX)
    }

    /// Every part of a block.
    pub(crate) const fn parts(choice: u32, block: u32) -> RangeInclusive<Self> {
        Self::new(choice, block)..=Self::new(choice, block).with_part(u32::MAX)
    }
}

/// Why the model stopped, across all formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishReason {
    /// The request was cancelled.
    Cancelled,
    /// A content filter stopped it.
    ContentFilter,
    /// Something failed.
    Error,
    /// It reached a token or time limit: its last output may be cut off.
    Length,
    /// A reason that this crate does not know; see [`Finish::original`].
    Other,
    /// It paused a long turn, to be continued.
    Pause,
    /// It declined to answer.
    Refusal,
    /// It finished, or reached a stop sequence.
    Stop,
    /// It requests tool calls.
    ToolCalls,
}

impl FinishReason {
    /// Every reason, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Cancelled,
        Self::ContentFilter,
        Self::Error,
        Self::Length,
        Self::Other,
        Self::Pause,
        Self::Refusal,
        Self::Stop,
        Self::ToolCalls,
    ];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::ContentFilter => "content-filter",
            Self::Error => "error",
            Self::Length => "length",
            Self::Other => "other",
            Self::Pause => "pause",
            Self::Refusal => "refusal",
            Self::Stop => "stop",
            Self::ToolCalls => "tool-calls",
        }
    }

    /// Whether the turn finished by itself. After any other reason, including one that this crate does not
    /// know, the last output may be cut off.
    ///
    /// ```
    /// use jsonmend_wire::FinishReason;
    /// assert!(FinishReason::ToolCalls.is_clean());
    /// assert!(!FinishReason::ContentFilter.is_clean());
    /// assert!(!FinishReason::Other.is_clean());
    /// ```
    #[must_use]
    pub const fn is_clean(self) -> bool {
        matches!(self, Self::Stop | Self::ToolCalls)
    }

    /// Maps a provider's word to a reason. It accepts the vocabulary of every provider.
    ///
    /// ```
    /// use jsonmend_wire::FinishReason;
    /// assert_eq!(FinishReason::from_provider("end_turn"), FinishReason::Stop);
    /// assert_eq!(FinishReason::from_provider("MAX_TOKENS"), FinishReason::Length);
    /// assert_eq!(FinishReason::from_provider("no such word"), FinishReason::Other);
    /// ```
    #[must_use]
    pub fn from_provider(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "stop" | "end_turn" | "stop_sequence" | "eos_token" | "eos" | "completed"
            | "complete" | "finish" | "done" => Self::Stop,
            "length"
            | "max_tokens"
            | "max_output_tokens"
            | "max_completion_tokens"
            | "max_prompt_tokens"
            | "token_limit"
            | "model_length"
            | "incomplete"
            | "error_limit"
            | "time_limit"
            | "stop_limit"
            | "timeout"
            | "expired"
            | "model_context_window_exceeded" => Self::Length,
            "tool_calls" | "tool_call" | "tool_use" | "function_call" | "requires_action" => {
                Self::ToolCalls
            }
            "content_filter"
            | "content_filtered"
            | "guardrail_intervened"
            | "error_toxic"
            | "safety"
            | "recitation"
            | "blocklist"
            | "prohibited_content"
            | "spii"
            | "image_safety"
            | "image_prohibited_content"
            | "image_recitation"
            | "jailbreak"
            | "model_armor"
            | "sensitive"
            | "language" => Self::ContentFilter,
            "refusal" => Self::Refusal,
            "pause_turn" => Self::Pause,
            "cancelled" | "canceled" | "cancelling" | "user_cancel" | "abort" => Self::Cancelled,
            "error"
            | "failed"
            | "insufficient_system_resource"
            | "malformed_function_call"
            | "unexpected_tool_call"
            | "too_many_tool_calls"
            | "malformed_response"
            | "missing_thought_signature"
            | "network_error"
            | "malformed_model_output"
            | "malformed_tool_use" => Self::Error,
            _ => Self::Other,
        }
    }
}

/// The end of one choice or message, as the stream states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    /// Which choice or message.
    pub(crate) choice: u32,
    /// Why it ended.
    pub(crate) reason: FinishReason,
    /// The provider's own word.
    pub(crate) original: String,
}

impl Finish {
    /// Which choice or message.
    #[must_use]
    pub const fn choice(&self) -> u32 {
        self.choice
    }

    /// Why it ended.
    #[must_use]
    pub const fn reason(&self) -> FinishReason {
        self.reason
    }

    /// The provider's own word.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.original
    }
}

/// Token counts, as far as the stream states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens read.
    pub(crate) input: Option<u64>,
    /// Tokens written.
    pub(crate) output: Option<u64>,
    /// Tokens read from a cache.
    pub(crate) cached: Option<u64>,
    /// Tokens of reasoning, where they are counted separately.
    pub(crate) reasoning: Option<u64>,
}

impl Usage {
    /// Tokens read.
    #[must_use]
    pub const fn input(&self) -> Option<u64> {
        self.input
    }

    /// Tokens written.
    #[must_use]
    pub const fn output(&self) -> Option<u64> {
        self.output
    }

    /// Tokens read from a cache.
    #[must_use]
    pub const fn cached(&self) -> Option<u64> {
        self.cached
    }

    /// Tokens of reasoning, where they are counted separately.
    #[must_use]
    pub const fn reasoning(&self) -> Option<u64> {
        self.reasoning
    }

    /// Updates the counts with those that `later` states.
    pub(crate) fn update(&mut self, later: Self) {
        self.input = later.input.or(self.input);
        self.output = later.output.or(self.output);
        self.cached = later.cached.or(self.cached);
        self.reasoning = later.reasoning.or(self.reasoning);
    }
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A call that had already ended was sent again with different arguments.
    Contradiction,
    /// Arguments arrived for a call that had already ended.
    LateArguments,
    /// A payload that is not JSON.
    Malformed,
    /// The body is not a stream: an HTML page, plain text, or a framing that is not supported.
    NotAStream,
    /// The provider reported an error inside the response.
    Provider,
    /// More calls than [`WireLimits::with_calls`](crate::WireLimits::with_calls) allows.
    TooManyCalls,
    /// No payload matched a known format.
    Unrecognised,
}

impl ErrorKind {
    /// Every kind, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Contradiction,
        Self::LateArguments,
        Self::Malformed,
        Self::NotAStream,
        Self::Provider,
        Self::TooManyCalls,
        Self::Unrecognised,
    ];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Contradiction => "contradiction",
            Self::LateArguments => "late-arguments",
            Self::Malformed => "malformed",
            Self::NotAStream => "not-a-stream",
            Self::Provider => "provider",
            Self::TooManyCalls => "too-many-calls",
            Self::Unrecognised => "unrecognised",
        }
    }
}

/// An error inside a response whose HTTP status was a success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The kind.
    pub(crate) kind: ErrorKind,
    /// The message.
    pub(crate) message: String,
    /// The provider's code, or the status, as text.
    pub(crate) code: Option<String>,
    /// The provider's error type.
    pub(crate) error_type: Option<String>,
    /// The parameter that caused it.
    pub(crate) param: Option<String>,
    /// The raw text of the model that the server could not use.
    pub(crate) failed_generation: Option<String>,
}

/// The kind, the message, and the provider's code if there is one.
impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind.code(), self.message)?;
        match &self.code {
            Some(code) => write!(f, " ({code})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for WireError {}

impl WireError {
    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The provider's code, or the status, as text.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// The provider's error type.
    #[must_use]
    pub fn error_type(&self) -> Option<&str> {
        self.error_type.as_deref()
    }

    /// The parameter that caused it.
    #[must_use]
    pub fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }

    /// The raw text of the model that the server could not use.
    #[must_use]
    pub fn failed_generation(&self) -> Option<&str> {
        self.failed_generation.as_deref()
    }

    /// The same error with another message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// An error with only a message.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            code: None,
            error_type: None,
            param: None,
            failed_generation: None,
        }
    }
}

/// How a stream ended.
///
/// ```
/// use jsonmend_wire::{StreamOutcome, WireOptions, transcribe};
/// let cut = transcribe(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n", WireOptions::new());
/// assert_eq!(cut.outcome(), StreamOutcome::Cut);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamOutcome {
    /// It ended as its format requires.
    Complete,
    /// It was cut off before that.
    Cut,
    /// It contains an error.
    Error,
    /// A limit was exceeded and something was dropped.
    Overflow,
    /// No known format matches it.
    Unrecognised,
}

impl StreamOutcome {
    /// Every outcome, in alphabetical order.
    pub const ALL: &'static [Self] =
        &[Self::Complete, Self::Cut, Self::Error, Self::Overflow, Self::Unrecognised];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Cut => "cut",
            Self::Error => "error",
            Self::Overflow => "overflow",
            Self::Unrecognised => "unrecognised",
        }
    }
}

/// An event of a [`Decoder`](crate::Decoder). Events are emitted as soon as they are certain.
///
/// Calls are numbered from 0 in the order in which they begin.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WireEvent<'a> {
    /// A source that the provider cites for the text of that block.
    Citation {
        /// Which text.
        block: Block,
        /// The provider's own JSON, verbatim.
        json: &'a str,
    },
    /// A tool call began.
    CallBegan {
        /// Which call.
        call: usize,
        /// The choice or message it belongs to.
        choice: u32,
        /// What kind of tool.
        kind: CallKind,
        /// Its id, if the stream has sent it yet.
        id: Option<&'a str>,
        /// Its name, if the stream has sent it yet.
        name: Option<&'a str>,
    },
    /// A tool call ended: name, id, arguments, outcome and repairs.
    CallEnded(&'a Call),
    /// More of the arguments of a call, repaired. For display only: [`CallEnded`](Self::CallEnded) decides.
    CallFragment {
        /// Which call.
        call: usize,
        /// JSON text. It may end inside a character.
        bytes: &'a [u8],
    },
    /// The name of a call became known, or grew.
    CallNamed {
        /// Which call.
        call: usize,
        /// The whole name so far.
        name: &'a str,
    },
    /// More of a call, verbatim: the text of a custom tool, which is not JSON, or arguments from the point
    /// where repair stopped because of a limit or of a repair that the policy forbids.
    CallRaw {
        /// Which call.
        call: usize,
        /// Text that need not be JSON.
        bytes: &'a [u8],
    },
    /// A comment or an empty payload, sent to keep the connection open.
    KeepAlive,
    /// The stream ended. The last event.
    Ended(StreamOutcome),
    /// An envelope was invalid JSON and was repaired before it was read.
    EnvelopeMended(&'a [Repair]),
    /// An error. At most 64 are emitted.
    Error(&'a WireError),
    /// A choice or message finished.
    Finish(&'a Finish),
    /// The framing was detected, or refined (a second JSON value makes it NDJSON).
    FramingDetected(Framing),
    /// A line or an event exceeded a limit and was dropped. Reading continues.
    Oversize {
        /// The limit, in bytes.
        limit: usize,
    },
    /// More of the model's reasoning.
    Reasoning {
        /// Which text.
        block: Block,
        /// The text.
        text: &'a str,
    },
    /// More of a refusal.
    Refusal {
        /// Which text.
        block: Block,
        /// The text.
        text: &'a str,
    },
    /// More text.
    Text {
        /// Which text.
        block: Block,
        /// The text.
        text: &'a str,
    },
    /// The payload in which the stream was cut off, verbatim.
    Unfinished(&'a str),
    /// Token counts, merged over the stream so far.
    Usage(Usage),
    /// The format was detected.
    FormatDetected(ApiFormat),
}

coded!(ErrorKind, FinishReason, StreamOutcome);
