//! The events of a [`Decoder`](crate::Decoder).

use core::ops::RangeInclusive;

use wiremend_core::Mended;

use crate::{ApiFormat, Call, CallKind, Doubt, Framing, WireError, error::coded};

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

/// How a stream ended.
///
/// ```
/// use wiremend_wire::{StreamOutcome, WireOptions, transcribe};
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
    /// It ended as its format requires, but a part of it was lost or damaged on the way, or is not what its
    /// format has there.
    Lossy,
    /// A limit was exceeded and something was dropped.
    Overflow,
    /// No known format matches it.
    Unrecognised,
}

impl StreamOutcome {
    /// Every outcome, in alphabetical order.
    pub const ALL: &'static [Self] =
        &[Self::Complete, Self::Cut, Self::Error, Self::Lossy, Self::Overflow, Self::Unrecognised];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Cut => "cut",
            Self::Error => "error",
            Self::Lossy => "lossy",
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
    /// What the fragments of a call show from here on may not be what it ends with: a repair was made that is
    /// more than [`Exact`](wiremend_core::Risk::Exact), or a piece seems to repeat what came before. At most
    /// once for each call. A rewriter does not report repairs in this way.
    CallUnsure {
        /// Which call.
        call: usize,
    },
    /// Content that a [`Rewriter`](crate::Rewriter) mends because it is [JSON by
    /// contract](crate::RewriteOptions::with_json_content) has ended. Not from a [`Decoder`](crate::Decoder).
    ContentEnded {
        /// Which text.
        block: Block,
        /// The text as it came. The spans of the repairs are relative to its start.
        raw: &'a str,
        /// The outcome and the repairs. If the outcome is not complete, the content was cut off, or cannot be
        /// repaired within the policy and the limits: then no repair was made that is not certain.
        mended: &'a Mended,
    },
    /// A comment or an empty payload, sent to keep the connection open.
    KeepAlive,
    /// Something was lost, damaged or contradicted: no call that is open here is complete, and neither is
    /// one that a reader of the text finds in it later. It comes before what was read next.
    Doubted(Doubt),
    /// The stream ended. The last event.
    Ended(StreamOutcome),
    /// An envelope was invalid JSON and was repaired before it was read, as this says.
    EnvelopeMended(&'a Mended),
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

coded!(StreamOutcome);

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
    /// use wiremend_wire::FinishReason;
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
    /// use wiremend_wire::FinishReason;
    /// assert_eq!(FinishReason::from_provider("end_turn"), FinishReason::Stop);
    /// assert_eq!(FinishReason::from_provider("MAX_TOKENS"), FinishReason::Length);
    /// assert_eq!(FinishReason::from_provider("no such word"), FinishReason::Other);
    /// ```
    #[must_use]
    pub fn from_provider(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "stop" | "stop_str" | "end_turn" | "stop_sequence" | "eos_token" | "eos"
            | "completed" | "complete" | "finish" | "done" => Self::Stop,
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
            "tool_calls" | "tool-calls" | "function_calls" | "tool_call" | "tool_use"
            | "function_call" | "requires_action" => Self::ToolCalls,
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
            "insufficient_system_resource"
            | "malformed_function_call"
            | "unexpected_tool_call"
            | "too_many_tool_calls"
            | "malformed_response"
            | "missing_thought_signature"
            | "malformed_model_output"
            | "malformed_tool_use" => Self::Error,
            word if word.contains("error") || word.contains("fail") => Self::Error,
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

coded!(FinishReason);
