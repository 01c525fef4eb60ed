//! Which calls are looked for in text.

use std::sync::{Arc, OnceLock};

use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, CallStartState, Dialect, FoundCalls, Tools};
use wiremend_wire::CallFinders;

use super::finder::TextCallFinder;

/// Which tool calls are looked for in the text of a response: the dialects, and the tools.
///
/// Some servers have no parser for the calls of their model, or one that misses some. Then calls arrive
/// as text. [`ResponseOptions::with_calls_in_text`](crate::ResponseOptions::with_calls_in_text) makes
/// events of them, and [`finders`](Self::finders) lets a
/// [`Rewriter`](wiremend_wire::Rewriter) send them on in the shape of the provider.
///
/// Clones share what is made ready for the first response, so create it once and clone it for each response.
///
/// ```
/// use wiremend_extract::Tools;
/// use wiremend_response::{Response, ResponseOptions, TextCalls};
///
/// let calls = TextCalls::detected().with_tools(Tools::new().with_tool("book", ["seats"], None));
/// let body = br#"data: {"choices":[{"delta":{"content":"On it. <tool_call>{'name': 'book', "}}]}
///
/// data: {"choices":[{"delta":{"content":"'arguments': {'seats': 2,}}</tool_call>"},"finish_reason":"stop"}]}
///
/// data: [DONE]
///
/// "#;
/// let response = Response::read(body, ResponseOptions::new().with_calls_in_text(calls));
/// let call = response.transcript().calls()[0];
/// assert_eq!((call.name(), call.arguments()), ("book", "{\"seats\": 2}"));
/// assert_eq!(call.dialect(), Some("hermes"));
/// assert_eq!(response.transcript().text(), "On it. ");
/// ```
#[derive(Clone, Debug)]
pub struct TextCalls {
    reader: CallExtractor,
    has_tools: bool,
    in_reasoning: bool,
    /// The reader with its dialects made ready, once a response has been read.
    made_ready: Arc<OnceLock<CallExtractor>>,
}

impl TextCalls {
    /// Looks for all dialects at once. Only known tools turn text into calls then, so
    /// [tools](Self::with_tools) must be given.
    #[must_use]
    pub fn detected() -> Self {
        Self {
            reader: CallExtractor::new(MendOptions::new()),
            has_tools: false,
            in_reasoning: false,
            made_ready: Arc::default(),
        }
    }

    fn with(self, change: impl FnOnce(CallExtractor) -> CallExtractor) -> Self {
        Self { reader: change(self.reader), made_ready: Arc::default(), ..self }
    }

    /// Looks for one dialect. A call of an unknown tool is a call, too.
    #[must_use]
    pub fn of_dialect(dialect: Dialect) -> Self {
        Self::detected().with_dialect(dialect)
    }

    /// Looks for the dialect of a model, by its name; for all of them if the name says nothing. See
    /// [`Dialect::of_model`].
    #[must_use]
    pub fn of_model(model: &str) -> Self {
        Dialect::of_model(model).cloned().map_or_else(Self::detected, Self::of_dialect)
    }

    /// Looks for this dialect as well. After [`detected`](Self::detected), it replaces all others.
    #[must_use]
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        self.with(|reader| reader.with_dialect(dialect))
    }

    /// Looks for a dialect of the caller next to all others.
    #[must_use]
    pub fn with_registered(self, dialect: Dialect) -> Self {
        self.with(|reader| reader.with_registered(dialect))
    }

    /// Sets the tools that calls may name.
    ///
    /// ### Default
    /// Those of [`ResponseOptions::with_tools`](crate::ResponseOptions::with_tools), as of the start of the
    /// response, or none. Tools that are set here are made ready only once.
    #[must_use]
    pub fn with_tools(self, tools: impl Into<Arc<Tools>>) -> Self {
        Self { has_tools: true, ..self.with(|reader| reader.with_tools(tools)) }
    }

    /// Sets what the prompt has opened, such as a reasoning block.
    ///
    /// ### Default
    /// Nothing.
    #[must_use]
    pub fn with_start(self, start: CallStartState) -> Self {
        self.with(|reader| reader.with_start(start))
    }

    /// Sets what the prompt has already written of the answer, such as `<tool_call>` at the end of a
    /// template: see [`CallExtractor::with_prefill`]. It is before the first text of each choice, and, in
    /// a [rewriter](Self::finders), before every text.
    ///
    /// ```
    /// use wiremend_extract::Dialect;
    /// use wiremend_response::{Response, ResponseOptions, TextCalls};
    /// let dialect = Dialect::by_name("hermes").unwrap().clone();
    /// let calls = TextCalls::of_dialect(dialect).with_prefill("<tool_call>");
    /// let body = br#"{"choices":[{"index":0,"message":{"role":"assistant","content":
    ///     "{\"name\": \"ls\", \"arguments\": {}}</tool_call>"},"finish_reason":"stop"}]}"#;
    /// let response = Response::read(body, ResponseOptions::new().with_calls_in_text(calls));
    /// assert_eq!(response.transcript().calls()[0].name(), "ls");
    /// ```
    ///
    /// ### Default
    /// Nothing.
    #[must_use]
    pub fn with_prefill(self, text: impl Into<Vec<u8>>) -> Self {
        self.with(|reader| reader.with_prefill(text))
    }

    /// Makes the calls in the reasoning that the provider sends apart from the text, as servers do that take all up
    /// to the end of a block for reasoning. A [rewriter](Self::finders) sends reasoning on as it is.
    ///
    /// ```
    /// use wiremend_extract::{Dialect, Tools};
    /// use wiremend_response::{Response, ResponseOptions, TextCalls};
    /// let dialect = Dialect::by_name("hermes").unwrap().clone();
    /// let calls = TextCalls::of_dialect(dialect).with_calls_in_reasoning();
    /// let body = br#"{"choices":[{"index":0,"message":{"role":"assistant","reasoning_content":
    ///     "I look.\n<tool_call>{\"name\": \"ls\", \"arguments\": {}}</tool_call>"},"finish_reason":"stop"}]}"#;
    /// let response = Response::read(body, ResponseOptions::new().with_calls_in_text(calls));
    /// assert_eq!(response.transcript().calls()[0].name(), "ls");
    /// assert_eq!(response.transcript().reasoning(), "I look.\n");
    /// ```
    ///
    /// ### Default
    /// They are [mentioned](crate::Event::CallMentioned), and the reasoning comes as it is.
    #[must_use]
    pub fn with_calls_in_reasoning(self) -> Self {
        Self { in_reasoning: true, ..self }
    }

    /// Whether calls are made in the reasoning.
    pub(super) const fn makes_calls_in_reasoning(&self) -> bool {
        self.in_reasoning
    }

    /// Finders for [`RewriteOptions::with_calls_in_text`](wiremend_wire::RewriteOptions::with_calls_in_text).
    /// Arguments are repaired as `mending` says.
    ///
    /// ```
    /// use wiremend_core::{MendOptions, Policy};
    /// use wiremend_response::TextCalls;
    /// use wiremend_wire::{RewriteOptions, Rewriter, Rewritten};
    ///
    /// let calls = TextCalls::of_model("Qwen/Qwen3-Coder-30B-A3B-Instruct");
    /// let finders = calls.finders(&MendOptions::new().with_policy(Policy::CONSERVATIVE));
    /// let mut rewriter = Rewriter::new(RewriteOptions::new().with_calls_in_text(finders));
    /// let mut out = Vec::new();
    /// let mut take = |piece: Rewritten<'_>| {
    ///     if let Rewritten::Bytes(bytes) = piece {
    ///         out.extend_from_slice(bytes);
    ///     }
    /// };
    /// rewriter.push(br#"{"choices":[{"index":0,"message":{"role":"assistant","content":
    ///     "<function=ls>\n<parameter=path>\n/tmp\n</parameter>\n</function>"},"finish_reason":"stop"}]}"#,
    ///     &mut take);
    /// rewriter.finish(&mut take);
    /// let body = String::from_utf8(out).unwrap();
    /// assert!(body.contains(r#""content":
    ///     "","tool_calls":[{"id":"call_"#), "{body}");
    /// assert!(body.ends_with(r#""function":{"name":"ls","arguments":"{\"path\": \"/tmp\"}"}}]},"finish_reason":"tool_calls"}]}"#));
    /// ```
    #[must_use]
    pub fn finders(&self, mending: &MendOptions) -> CallFinders {
        let reader = self.clone().ready().reader.with_mending(mending.clone());
        let mending = mending.clone();
        CallFinders::new(move || Box::new(TextCallFinder::new(reader.clone(), mending.clone())))
    }

    /// Whether [tools](Self::with_tools) were set.
    #[must_use]
    pub const fn has_tools(&self) -> bool {
        self.has_tools
    }

    /// Makes the dialects ready, unless that was done for a clone.
    pub(crate) fn ready(self) -> Self {
        let make = || {
            let mut reader = self.reader.clone();
            reader.push(b"", &mut FoundCalls::default());
            reader
        };
        let reader = self.made_ready.get_or_init(make).clone();
        Self { reader, ..self }
    }

    /// A reader for one text. What the prompt has opened and written is before the `first`.
    pub(super) fn reader(&self, first: bool, mending: &MendOptions) -> CallExtractor {
        let reader = self.reader.clone().with_mending(mending.clone());
        if first { reader } else { reader.with_start(CallStartState::Text).with_prefill("") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResponseOptions;

    #[test]
    fn clones_are_made_ready_together_and_changes_are_not_shared() {
        let calls = TextCalls::detected();
        drop(ResponseOptions::new().with_calls_in_text(calls.clone()));
        assert!(calls.made_ready.get().is_some());
        let other = calls.with_tools(Tools::new().with_tool("book", ["seats"], None));
        assert!(other.made_ready.get().is_none());
    }
}
