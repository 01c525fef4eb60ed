//! Why a model stopped, over all formats.

use crate::codes::coded;

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
