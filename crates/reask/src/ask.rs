//! A call that is to be made.

use core::time::Duration;

use serde_json::Value;
use wiremend_schema::{FitOptions, Schema};

use crate::{
    Hint, Mode, Shape, Strength, Watch, instructions, prevent::tool_instructions, prompt::Prompt,
};

/// What a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AskKind {
    /// The rest of an answer that was cut off.
    Continue,
    /// Single fields, because the rest of the value is good.
    Fields,
    /// The original request.
    First,
    /// The whole value once more.
    Whole,
}

impl AskKind {
    /// All kinds, in alphabetical order.
    pub const ALL: &'static [Self] = &[Self::Continue, Self::Fields, Self::First, Self::Whole];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Fields => "fields",
            Self::First => "first",
            Self::Whole => "whole",
        }
    }
}

/// A call that the caller makes, with the messages to send and hints for the request.
///
/// The messages of the original request come first in any case. What follows them is
/// [`messages`](Self::messages), or [`as_tool_result`](Self::as_tool_result).
#[derive(Clone, Debug)]
pub struct Ask {
    pub(crate) kind: AskKind,
    pub(crate) call: u32,
    pub(crate) attempt: u32,
    pub(crate) of: u32,
    pub(crate) is_fresh: bool,
    pub(crate) mode: Mode,
    pub(crate) temperature: Option<f64>,
    pub(crate) tokens_left: Option<u64>,
    pub(crate) time_left: Option<Duration>,
    pub(crate) prompt: Prompt,
    pub(crate) prefix: Option<String>,
    pub(crate) fields: Vec<String>,
    pub(crate) hints: Vec<Hint>,
    pub(crate) schema: Schema,
    pub(crate) fit: FitOptions,
    pub(crate) tool: Option<String>,
    pub(crate) result_of: Option<CallRef>,
}

/// The call that a prompt may be the result of.
#[derive(Clone, Debug)]
pub(crate) struct CallRef {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
}

impl Ask {
    /// What it asks for.
    #[must_use]
    pub const fn kind(&self) -> AskKind {
        self.kind
    }

    /// The number of the call, from 1.
    #[must_use]
    pub const fn call(&self) -> u32 {
        self.call
    }

    /// Which correction it is, from 1; 0 for the first request, and as long as that is continued.
    #[must_use]
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How many corrections there may be.
    #[must_use]
    pub const fn of(&self) -> u32 {
        self.of
    }

    /// How insistent the prompt is. `None` for the first request and for continuations.
    #[must_use]
    pub fn strength(&self) -> Option<Strength> {
        let asks = matches!(self.kind, AskKind::Fields | AskKind::Whole);
        asks.then(|| Strength::of(self.attempt, self.of))
    }

    /// Whether earlier answers must not be among the messages, because the model repeats them. Otherwise they
    /// may be, but need not: the prompt repeats what it is about.
    #[must_use]
    pub const fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// How the output should be constrained.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The temperature to use. `None` if the provider refuses one.
    #[must_use]
    pub const fn temperature(&self) -> Option<f64> {
        self.temperature
    }

    /// What is left of the budget for tokens.
    #[must_use]
    pub const fn tokens_left(&self) -> Option<u64> {
        self.tokens_left
    }

    /// How much time is left until the deadline.
    #[must_use]
    pub const fn time_left(&self) -> Option<Duration> {
        self.time_left
    }

    /// The prompt, as the text of a message of the user. `None` for the first request.
    #[must_use]
    pub fn user_message(&self) -> Option<&str> {
        (self.kind != AskKind::First).then_some(self.prompt.user.as_str())
    }

    /// The prompt, as the result of the call that was not accepted. It leaves out what the call itself says.
    /// `None` for the first request.
    #[must_use]
    pub fn tool_result(&self) -> Option<&str> {
        (self.kind != AskKind::First).then_some(self.prompt.tool.as_str())
    }

    /// The answer so far, for a continuation: the model goes on after its last byte.
    #[must_use]
    pub fn prefix(&self) -> Option<&str> {
        self.prefix.as_deref()
    }

    /// The JSON Pointers of the fields that are asked for. Empty if it is the whole value.
    #[must_use]
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// What was seen in the answer before.
    #[must_use]
    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }

    /// The schema of the reply: that of the fields, if only they are asked for. In [`Mode::JsonSchema`], it goes
    /// into the request by [`Native`](crate::Native), instead of the schema of the whole.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The [instructions](crate::instructions) for that schema, for the system text of the request; for a tool, they
    /// ask for its call. A text with the schema of the whole would contradict a question for fields. `None` for a
    /// continuation, whose reply is no value.
    #[must_use]
    pub fn instructions(&self) -> Option<String> {
        (self.kind != AskKind::Continue).then(|| match &self.tool {
            Some(tool) => tool_instructions(&self.schema, tool),
            None => instructions(&self.schema),
        })
    }

    /// The name of the tool whose arguments are asked for.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// The messages that follow those of the original request: none for the first call; the answer so far and the
    /// prompt for a continuation; the prompt otherwise.
    #[must_use]
    pub fn messages(&self, shape: Shape) -> Vec<Value> {
        let prefix = self.prefix().map(|prefix| shape.assistant(prefix));
        prefix.into_iter().chain(self.user_message().map(|text| shape.user(text))).collect()
    }

    /// The prompt as the result of the call that was not accepted, for a request in which the message with that call
    /// comes right before it. A provider refuses the result of a call that it does not see.
    ///
    /// `None` if the last answer was no call, if its [identifier](crate::Answer::with_call_id) is not known (Gemini needs
    /// none), or if the question [starts afresh](Self::is_fresh). Then send [`messages`](Self::messages).
    #[must_use]
    pub fn as_tool_result(&self, shape: Shape) -> Option<Value> {
        let call = self.result_of.as_ref()?;
        let id = call.id.as_deref().or((shape == Shape::Gemini).then_some(""))?;
        Some(shape.tool_result(id, &call.name, self.tool_result()?))
    }

    /// Reads the reply while it arrives, to stop it as soon as it can no longer become valid.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch::new(self)
    }
}
