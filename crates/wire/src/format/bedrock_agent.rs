//! Agents, knowledge bases and flows of Amazon Bedrock: `InvokeAgent`, `RetrieveAndGenerateStream`,
//! `InvokeFlow`.
//!
//! The name of the event determines the type of its payload. The payload of a `chunk` is text, not JSON.
//! Only flows have an end-of-stream marker: other streams end with the body, between two frames.

use std::borrow::Cow;

use jsonmend_core::lexer::Fault;

use super::{Arguments, CallDelta, Delta, Format, Members, Piece, finish, non_empty, piece};
use crate::{
    Block, FinishReason,
    framing::invoke::CHUNK,
    json::{self, Node, escape, quote},
};

/// The names of the events. Detection also requires the framing, because others use such names.
const EVENTS: [&str; 8] = [
    "citation",
    "files",
    "flowCompletionEvent",
    "flowOutputEvent",
    "guardrail",
    "output",
    "returnControl",
    "trace",
];

/// The name of the event, in an AWS event stream.
pub(super) fn recognise(event: &str, _: &Members<'_>) -> bool {
    EVENTS.contains(&event)
}

/// Text where the models of Bedrock send an object: anything that cannot be one.
pub(super) fn recognise_plain(event: &str, data: &str) -> bool {
    is_text(event) && !may_be_object(data)
}

/// Whether the payload of an event is text.
pub(super) fn is_text(event: &str) -> bool {
    event == CHUNK
}

/// Whether a payload may be an object, or several. A frame holds all of it, so one that is not closed is none.
fn may_be_object(data: &str) -> bool {
    let begins = |text: &str| text.trim_start().starts_with('{');
    begins(data)
        && match json::first(data) {
            Ok((_, rest)) => rest.is_empty() || begins(rest),
            Err(fault) => fault != Fault::Incomplete,
        }
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct BedrockAgent {
    /// How many calls were returned to the caller.
    calls: i64,
    /// The last request to the caller: its id, and what it asks for.
    request: Option<(String, String)>,
    /// How many outputs of a flow there were so far. Each is a block.
    outputs: u32,
    spoke: bool,
    flow: bool,
    ended: bool,
}

impl Format for BedrockAgent {
    fn decode(&mut self, event: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        match event {
            "output" => {
                self.spoke = true;
                if let Some(text) = piece(payload.field("text")) {
                    out(Delta::Text { block: Block::default(), text });
                }
            }
            "citation" => {
                let json = payload.field("citation").unwrap_or(payload).raw();
                out(Delta::Citation { block: Block::default(), json });
            }
            "returnControl" => self.return_control(payload, out),
            "guardrail" => {
                let action = non_empty(payload.field("action")).unwrap_or_default();
                if action == "INTERVENED" {
                    let reason = FinishReason::ContentFilter;
                    out(Delta::Finish { scope: 0, reason, original: action });
                }
            }
            "flowOutputEvent" => self.output(payload, out),
            "flowCompletionEvent" => {
                self.ended = true;
                let reason = payload.field("completionReason");
                if non_empty(reason).as_deref() == Some("SUCCESS") {
                    let original = Cow::Borrowed("SUCCESS");
                    out(Delta::Finish { scope: 0, reason: FinishReason::Stop, original });
                } else {
                    finish(0, reason).into_iter().for_each(out);
                }
            }
            // The trace of the agent, and files, are not part of the answer.
            _ => {}
        }
    }

    fn decode_plain(&mut self, event: &str, data: &str, out: &mut dyn FnMut(Delta<'_>)) -> bool {
        let is_text = is_text(event);
        if let Some(text) = Piece::plain(data).filter(|_| is_text) {
            self.spoke = true;
            out(Delta::Text { block: Block::default(), text });
        }
        is_text
    }

    fn is_ended(&self) -> bool {
        if self.flow { self.ended } else { self.ended || self.spoke }
    }
}

impl BedrockAgent {
    /// The agent asks the caller to run something.
    fn return_control(&mut self, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [id, inputs] = payload.pick(["invocationId", "invocationInputs"]);
        if let (Some(id), Some(inputs)) = (non_empty(id), inputs) {
            // The same request once more.
            let request = (id.into_owned(), inputs.raw().to_owned());
            if self.request.as_ref() == Some(&request) {
                return;
            }
            self.request = Some(request);
        }
        for (position, input) in inputs.into_iter().flat_map(Node::items).enumerate() {
            let [function, api] = input.pick(["functionInvocationInput", "apiInvocationInput"]);
            let Some(wanted) = function.or(api) else { continue };
            let [name, path, parameters, body] =
                wanted.pick(["function", "apiPath", "parameters", "requestBody"]);
            let properties = body
                .and_then(|body| body.field("content"))
                .and_then(|content| content.fields().next())
                .and_then(|(_, media)| media.field("properties"));
            let text = object(parameters, properties);
            let index = self.calls;
            self.calls = self.calls.saturating_add(1);
            out(Delta::Call(CallDelta {
                index: Some(index),
                exact: true,
                sibling: position > 0,
                id: piece(id),
                name: piece(name).or_else(|| piece(path)),
                arguments: Arguments::Composed(&text),
                ..CallDelta::default()
            }));
            out(Delta::CallEnd { scope: 0, index });
        }
        self.ended = true;
        let reason = FinishReason::ToolCalls;
        out(Delta::Finish { scope: 0, reason, original: "returnControl".into() });
    }

    /// The output of a node of a flow: a text, or a value.
    fn output(&mut self, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        self.flow = true;
        let document = payload.field("content").and_then(|content| content.field("document"));
        let Some(document) = document else { return };
        let block = Block::new(0, self.outputs);
        self.outputs = self.outputs.saturating_add(1);
        if let Some(text) = piece(Some(document)).or_else(|| Piece::plain(document.raw())) {
            out(Delta::Text { block, text });
        }
    }
}

/// An object from lists of `{name, type, value}`, in which every value is a string.
fn object(parameters: Option<Node<'_>>, properties: Option<Node<'_>>) -> String {
    let mut text = String::from("{");
    let listed = parameters.into_iter().chain(properties).flat_map(Node::items);
    for (number, parameter) in listed.enumerate() {
        let [name, kind, value] = parameter.pick(["name", "type", "value"]);
        text.push_str(if number > 0 { ",\"" } else { "\"" });
        escape(&name.and_then(Node::text).unwrap_or_default(), &mut text);
        text.push_str("\":");
        let value = value.and_then(Node::scalar).unwrap_or_default();
        let is_text = kind.and_then(Node::text).is_none_or(|kind| kind == "string");
        match json::first(&value) {
            Ok((_, "")) if !is_text => text.push_str(&value),
            _ => text.push_str(&quote(&value)),
        }
    }
    text.push('}');
    text
}
