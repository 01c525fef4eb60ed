//! What a model answered, and what the calls of a loop have cost.

use std::borrow::Cow;

use wiremend_core::Outcome;
use wiremend_response::{CallCheck, FittedCall, Response};
use wiremend_schema::{EarlyIssue, Tree};
use wiremend_wire::{Call, FinishReason, StreamOutcome, Usage};

/// An answer of the model: its text or the arguments of its call, why it stopped, and what it took.
///
/// ```
/// use wiremend_reask::Answer;
/// use wiremend_wire::FinishReason;
///
/// let answer = Answer::text(r#"{"title": "On re"#)
///     .with_finish(FinishReason::from_provider("length"))
///     .with_tokens(800, 100);
/// assert_eq!(answer.content(), r#"{"title": "On re"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    content: String,
    pub(crate) finish: FinishReason,
    pub(crate) taken: Taken,
    pub(crate) shown: bool,
    pub(crate) is_call: bool,
    /// Whether it has ended, whatever its text looks like, if the reader of the response knows.
    pub(crate) ended: Option<bool>,
    pub(crate) other_tool: Option<String>,
    pub(crate) call_id: Option<String>,
    pub(crate) lost: Option<Box<EarlyIssue>>,
}

impl Answer {
    /// The text of an answer, which may have words, fences and the like around the value.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: text.into(),
            finish: FinishReason::Stop,
            taken: Taken::default(),
            shown: false,
            is_call: false,
            ended: None,
            other_tool: None,
            call_id: None,
            lost: None,
        }
    }

    /// The arguments of a call. If it did not end with `stop` or `tool_calls`, say so by
    /// [`with_finish`](Self::with_finish): arguments that were cut off can look complete. They then count only
    /// if they are JSON as they are.
    #[must_use]
    pub fn arguments(raw: impl Into<String>) -> Self {
        Self { is_call: true, finish: FinishReason::ToolCalls, ..Self::text(raw) }
    }

    /// Reads a response in any format: the first call of `tool` if that is given and there is one, and otherwise
    /// the text, in which [`Reask`](crate::Reask) looks for a call of its tool. If there are calls of other tools only, the next question names the right one. The raw text that
    /// a server returned as `failed_generation` is an answer too.
    ///
    /// For several calls of one tool, use [`of_call`](Self::of_call) and a loop for each of them.
    ///
    /// ```
    /// use wiremend_reask::Answer;
    /// use wiremend_response::{Response, ResponseOptions};
    ///
    /// let body = br#"{"choices":[{"message":{"content":"{n: 1}"},"finish_reason":"stop"}],
    ///     "usage":{"prompt_tokens":9,"completion_tokens":4}}"#;
    /// let answer = Answer::read(&Response::read(body, ResponseOptions::new()), None);
    /// assert_eq!(answer.content(), "{n: 1}");
    /// ```
    #[must_use]
    pub fn read(response: &Response, tool: Option<&str>) -> Self {
        let transcript = response.transcript();
        let calls = transcript.calls();
        let own = tool.and_then(|tool| calls.iter().find(|call| is_for(call, tool, response)));
        let mut answer = match own {
            Some(call) => Self::of_call(call),
            None => Self::text(transcript.text()),
        };
        if own.is_none() && tool.is_some() {
            answer.other_tool = calls.first().map(|call| call.name().to_owned());
        }
        if answer.content.trim().is_empty() && own.is_none() {
            let failed = transcript.errors().iter().find_map(|error| error.failed_generation());
            answer.content = failed.map(str::to_owned).unwrap_or(answer.content);
        }
        answer.finish = match transcript.finish() {
            _ if !transcript.refusal().is_empty() => FinishReason::Refusal,
            Some(finish) => finish.reason(),
            None if transcript.outcome() == StreamOutcome::Complete => FinishReason::Stop,
            None => FinishReason::Other,
        };
        // A text that lacks a part may look complete. Of a call, the reader knows.
        if own.is_none() && response.lost().is_some() {
            answer.ended = Some(false);
        }
        answer.taken = transcript.usage().map(Taken::of).unwrap_or_default();
        answer
    }

    /// Reads a call of a response: its arguments, its id, and whether it has ended. Usage and refusals are those
    /// of the response; set them by [`with_usage`](Self::with_usage) and [`with_finish`](Self::with_finish).
    ///
    /// ```
    /// use wiremend_reask::{Answer, Reask, ReaskOptions, Step};
    /// use wiremend_response::{Response, ResponseOptions};
    /// use wiremend_schema::Schema;
    /// use std::time::Duration;
    ///
    /// let body = br#"{"choices":[{"message":{"tool_calls":[
    ///     {"id":"c1","function":{"name":"pay","arguments":"{\"euros\": 3}"}},
    ///     {"id":"c2","function":{"name":"pay","arguments":"{\"euros\": \"all\"}"}}]},"finish_reason":"tool_calls"}]}"#;
    /// let response = Response::read(body, ResponseOptions::new());
    /// let schema = Schema::from_text(r#"{"properties": {"euros": {"type": "integer"}}, "required": ["euros"]}"#)?;
    ///
    /// let step = |at: usize| {
    ///     let answer = Answer::of_call(response.transcript().calls()[at]);
    ///     Reask::new(&schema, ReaskOptions::for_tool("pay")).answer(&answer, Duration::ZERO)
    /// };
    /// assert!(matches!(step(0), Step::Done(_)));
    /// assert!(matches!(step(1), Step::Ask(_)));
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn of_call(call: &Call) -> Self {
        let raw = if call.raw().trim().is_empty() { call.arguments() } else { call.raw() };
        let mut answer = Self::arguments(raw);
        answer.ended = Some(!matches!(
            call.outcome(),
            Outcome::Cut | Outcome::Closed | Outcome::Overflow | Outcome::Abandoned | Outcome::None
        ));
        answer.call_id = call.id().map(str::to_owned);
        answer
    }

    /// Sets why the model stopped. What a model or a filter declined (`refusal`, `content_filter`) is never a
    /// value, and ends the loop.
    ///
    /// ### Default
    /// [`FinishReason::Stop`]; of a call, [`FinishReason::ToolCalls`].
    #[must_use]
    pub const fn with_finish(mut self, finish: FinishReason) -> Self {
        self.finish = finish;
        self
    }

    /// Sets how many tokens were read and written. If they are not set, they are estimated.
    #[must_use]
    pub const fn with_tokens(mut self, input: u64, output: u64) -> Self {
        (self.taken.input, self.taken.output) = (Some(input), Some(output));
        self
    }

    /// Sets how many tokens were read and written, as the provider stated it.
    #[must_use]
    pub const fn with_usage(mut self, usage: Usage) -> Self {
        let cost = self.taken.cost;
        self.taken = Taken::of(usage);
        self.taken.cost = cost;
        self
    }

    /// Sets what the call cost, in any unit: that of
    /// [`ReaskOptions::with_cost_budget`](crate::ReaskOptions::with_cost_budget).
    #[must_use]
    pub const fn with_cost(mut self, cost: u64) -> Self {
        self.taken.cost = cost;
        self
    }

    /// Says that some of the answer has been shown to a user, or handed to another program. Then it is never
    /// replaced: the loop goes on from its end, or ends.
    #[must_use]
    pub const fn with_shown(mut self, shown: bool) -> Self {
        self.shown = shown;
        self
    }

    /// Sets the identifier of the call, for prompts that are sent as its result.
    #[must_use]
    pub fn with_call_id(mut self, id: impl Into<String>) -> Self {
        self.call_id = Some(id.into());
        self
    }

    /// Says that the answer was stopped early, because of that early issue.
    #[must_use]
    pub(crate) fn with_lost(mut self, issue: EarlyIssue) -> Self {
        self.lost = Some(Box::new(issue));
        self
    }

    /// The text, or the arguments.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Why the answer was stopped early, if it was.
    #[must_use]
    pub fn lost(&self) -> Option<&EarlyIssue> {
        self.lost.as_deref()
    }

    /// Whether nothing of the answer can be missing at its end, as far as can be known without its value. A text
    /// shows by itself whether a value in it has ended. Of a call, any end but that of the turn may have cut it off.
    pub(crate) fn has_ended(&self) -> bool {
        let is_json = || {
            let text = self.content.trim();
            text.ends_with(['}', ']', '"']) && Tree::read(text).is_ok()
        };
        self.ended.unwrap_or_else(|| !self.is_call || self.finish.is_clean() || is_json())
    }

    /// Whether a part of the text was lost on its way. Nothing can be added to it, because it is not known where.
    pub(crate) fn is_damaged(&self) -> bool {
        !self.is_call && self.ended == Some(false)
    }

    /// The content for reading. A complete call without arguments has an empty object.
    pub(crate) fn readable(&self) -> Cow<'_, str> {
        let empty = self.is_call && self.content.trim().is_empty() && self.finish.is_clean();
        Cow::Borrowed(if empty { "{}" } else { &self.content })
    }
}

/// Whether a call is one of that tool, by its name or by the registry that read it.
fn is_for(call: &Call, tool: &str, response: &Response) -> bool {
    let mut fitted = response.fitted_calls().iter();
    let fitted = fitted.find(|fitted| fitted.call().number() == call.number());
    match fitted.map(FittedCall::check) {
        Some(CallCheck::Fitted { tool: own, .. }) => own == tool,
        _ => call.name() == tool,
    }
}

/// Characters per token, where a provider does not count tokens. Four is the usual estimate for English
/// and for JSON.
const CHARACTERS_PER_TOKEN: u64 = 4;

/// The sum of what all calls of a loop took.
///
/// ```
/// use wiremend_reask::{Answer, Reask, ReaskOptions};
/// use wiremend_schema::Schema;
/// use core::time::Duration;
///
/// let mut reask = Reask::new(&Schema::from_text("{}")?, ReaskOptions::new());
/// reask.answer(&Answer::text("[1]").with_tokens(12, 3).with_cost(40), Duration::ZERO);
/// assert_eq!((reask.spent().tokens(), reask.spent().cost()), (15, 40));
/// assert!(!reask.spent().is_estimated());
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    calls: u32,
    input: u64,
    output: u64,
    cost: u64,
    estimated: bool,
}

impl Spent {
    /// How many answers there were.
    #[must_use]
    pub const fn calls(&self) -> u32 {
        self.calls
    }

    /// Tokens read.
    #[must_use]
    pub const fn input(&self) -> u64 {
        self.input
    }

    /// Tokens written.
    #[must_use]
    pub const fn output(&self) -> u64 {
        self.output
    }

    /// Tokens read and written.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The cost, in the unit in which the caller states it.
    #[must_use]
    pub const fn cost(&self) -> u64 {
        self.cost
    }

    /// Whether some of the tokens were not counted by the provider, but estimated from the length of the
    /// texts: four characters are one token.
    #[must_use]
    pub const fn is_estimated(&self) -> bool {
        self.estimated
    }

    /// Adds a call. Counts that are not known are estimated: `prompt` tokens were read, and the answer has `answer`
    /// bytes.
    pub(crate) fn add(&mut self, taken: Taken, prompt: u64, answer: usize) {
        self.calls = self.calls.saturating_add(1);
        self.estimated |= taken.input.is_none() || taken.output.is_none();
        let input = taken.input.unwrap_or(prompt);
        let output = taken.output.unwrap_or_else(|| tokens(answer));
        self.input = self.input.saturating_add(input);
        self.output = self.output.saturating_add(output);
        self.cost = self.cost.saturating_add(taken.cost);
    }
}

/// What one call took, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    input: Option<u64>,
    output: Option<u64>,
    cost: u64,
}

impl Taken {
    const fn of(usage: Usage) -> Self {
        Self { input: usage.input(), output: usage.output(), cost: 0 }
    }
}

/// An estimate of the tokens of a text of that length.
pub(crate) fn tokens(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX).div_ceil(CHARACTERS_PER_TOKEN)
}
