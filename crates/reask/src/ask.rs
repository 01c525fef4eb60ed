//! A call that is to be made, and a reader of the reply to it while that arrives.

use core::time::Duration;

use serde_json::Value;
use wiremend_response::{Event, Response, ResponseOptions, ResponseReader};
use wiremend_schema::{EarlyIssue, FitOptions, Fitter, Registry, Schema, SharedRegistry, Standing};

use crate::{
    Answer, Hint, Mode, Shape, Strength, instructions, native::tool_instructions, prompt::Prompt,
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

/// Reads a reply while it arrives, and says when it can no longer become valid, so that generating the rest of
/// it can be saved.
///
/// [`push_text`](Self::push_text) is for the text that a client has taken out of a response already;
/// [`push_body`](Self::push_body) for the bytes of the body, streamed or whole, in any format. Use one of them.
///
/// ```
/// use wiremend_reask::{Reask, ReaskOptions, Step};
/// use wiremend_core::{MendOptions, Policy};
/// use wiremend_schema::{FitOptions, Schema};
/// use core::time::Duration;
///
/// let schema = Schema::from_text(r#"{"properties": {"n": {"type": "integer"}}, "required": ["n"]}"#)?;
/// let fit = FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
/// let mut reask = Reask::new(&schema, ReaskOptions::new().with_fit(fit));
/// let Step::Ask(ask) = reask.begin(Duration::ZERO) else { panic!() };
///
/// let mut watch = ask.watch();
/// assert!(watch.push_text("{\"n\": ").is_none());
/// assert_eq!(watch.push_text("1.5, ").unwrap().to_string(), "/n: expected integer, got number 1.5");
/// // The request is cancelled here, and the model is asked again.
/// let Step::Ask(ask) = reask.answer(&watch.finish(), Duration::ZERO) else { panic!() };
/// assert_eq!(ask.attempt(), 1);
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[derive(Debug)]
pub struct Watch {
    /// Follows the text. Not if it is the rest of another text, or the values of single fields.
    text: Option<Fitter>,
    content: String,
    body: Option<(Box<ResponseReader>, Box<Response>)>,
    options: ResponseOptions,
    tool: Option<String>,
    lost: Option<EarlyIssue>,
}

impl Watch {
    fn new(ask: &Ask) -> Self {
        let is_whole = matches!(ask.kind, AskKind::First | AskKind::Whole);
        let mut options = ResponseOptions::new();
        if let Some(tool) = ask.tool.as_deref().filter(|_| is_whole) {
            let registry = Registry::new().with_tool(tool, ask.schema.clone());
            let wire = options.wire().clone().with_mending(ask.fit.mending().clone());
            options = options.with_wire(wire).with_tools(&SharedRegistry::new(registry));
        }
        Self {
            text: is_whole.then(|| Fitter::new(&ask.schema, ask.fit.clone())),
            content: String::new(),
            body: None,
            options,
            tool: ask.tool.clone(),
            lost: None,
        }
    }

    /// Takes the next piece of the text. Returns the reason to stop, once there is one.
    pub fn push_text(&mut self, text: &str) -> Option<&EarlyIssue> {
        self.content.push_str(text);
        self.follow(text);
        self.lost.as_ref()
    }

    /// Takes the next bytes of the body. Returns the reason to stop, once there is one.
    pub fn push_body(&mut self, bytes: &[u8]) -> Option<&EarlyIssue> {
        let options = &self.options;
        let (mut reader, mut response) = self
            .body
            .take()
            .unwrap_or_else(|| (Box::new(ResponseReader::new(options.clone())), Box::default()));
        reader.push(bytes, &mut |event| self.take(event, &mut response));
        self.body = Some((reader, response));
        self.lost.as_ref()
    }

    /// Why the reply can no longer become valid, if it cannot.
    #[must_use]
    pub const fn lost(&self) -> Option<&EarlyIssue> {
        self.lost.as_ref()
    }

    /// The answer. If it was lost, it does not matter whether it went on.
    #[must_use]
    pub fn finish(mut self) -> Answer {
        let answer = match self.body.take() {
            Some((mut reader, mut response)) => {
                reader.finish(&mut |event| self.take(event, &mut response));
                Answer::read(&response, self.tool.as_deref())
            }
            None => Answer::text(self.content),
        };
        match self.lost {
            Some(issue) => answer.with_lost(issue),
            None => answer,
        }
    }

    fn take(&mut self, event: Event, response: &mut Response) {
        match &event {
            Event::CallIssue { issue, .. } if issue.standing() == Standing::Lost => {
                self.lost.get_or_insert_with(|| issue.clone());
            }
            // With a tool, text is what comes before the call.
            Event::Text { text, .. } if self.tool.is_none() => self.follow(text),
            _ => {}
        }
        response.record(event);
    }

    fn follow(&mut self, text: &str) {
        let Some(stream) = &mut self.text else { return };
        stream.push(text.as_bytes());
        if self.lost.is_none() {
            self.lost = stream.cursor().lost().cloned();
        }
    }
}
