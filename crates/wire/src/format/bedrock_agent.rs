//! Agents, knowledge bases and flows of Amazon Bedrock: `InvokeAgent`, `RetrieveAndGenerateStream`,
//! `InvokeFlow`.
//!
//! The name of the event determines the type of its payload. The payload of a `chunk` is text, not JSON.
//! Only flows have an end-of-stream marker: other streams end with the body, between two frames.

use std::borrow::Cow;

use wiremend_core::lexer::Fault;

use super::{
    ANY, Arguments, CallDelta, Delta, Format, Members, OBJECT, OBJECTS, Out, Piece, Place, TEXT,
    entries, finish, non_empty, piece,
};
use crate::{
    Block, FinishReason,
    framing::CHUNK,
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

const OUTPUT: Place<1> = Place::of([("text", TEXT)]).needs(1);

const CONTROL: Place<2> =
    Place::of([("invocationInputs", OBJECTS), ("invocationId", TEXT)]).needs(1);

const INPUT: Place<2> =
    Place::of([("functionInvocationInput", OBJECT), ("apiInvocationInput", OBJECT)])
        .needs_one_of(2);

/// A function to be run, and with what.
const FUNCTION: Place<2> =
    Place::of([("function", TEXT), ("parameters", OBJECTS)]).needs(2).beside(&ABOUT);

/// A path of an interface to be called, and with what.
const API: Place<3> =
    Place::of([("apiPath", TEXT), ("parameters", OBJECTS), ("requestBody", OBJECT)])
        .needs(1)
        .needs_one_of(2)
        .beside(&ABOUT);

/// What else is said about both.
const ABOUT: [&str; 6] =
    ["actionGroup", "actionInvocationType", "agentId", "collaboratorName", "httpMethod", "verb"];

const BODY: Place<1> = Place::of([("content", OBJECT)]).needs(1);

const MEDIA: Place<1> = Place::of([("properties", OBJECTS)]).needs(1);

const PARAMETER: Place<3> = Place::of([("name", TEXT), ("value", TEXT), ("type", TEXT)]).needs(3);

const FLOW_OUTPUT: Place<1> =
    Place::of([("content", OBJECT)]).needs(1).beside(&["nodeName", "nodeType"]);

const DOCUMENT: Place<1> = Place::of([("document", ANY)]).needs(1);

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
                let [text] = OUTPUT.read(payload, out);
                if let Some(text) = piece(text) {
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
        let [inputs, id] = CONTROL.read(payload, out);
        if let (Some(id), Some(inputs)) = (non_empty(id), inputs) {
            // The same request once more.
            let request = (id.into_owned(), inputs.raw().to_owned());
            if self.request.as_ref() == Some(&request) {
                return;
            }
            self.request = Some(request);
        }
        for (position, input) in entries(inputs).enumerate() {
            let [function, api] = INPUT.read(input, out);
            let [name, parameters, body] = match (function, api) {
                (Some(wanted), _) => {
                    let [name, parameters] = FUNCTION.read(wanted, out);
                    [name, parameters, None]
                }
                (None, Some(wanted)) => API.read(wanted, out),
                (None, None) => continue,
            };
            let [content] = body.map_or([None], |body| BODY.read(body, out));
            let media = content.and_then(|content| content.fields().next());
            let [properties] = media.map_or([None], |(_, media)| MEDIA.read(media, out));
            let text = object(parameters, properties, out);
            let index = self.calls;
            self.calls = self.calls.saturating_add(1);
            out(Delta::Call(CallDelta {
                index: Some(index),
                exact: true,
                sibling: position > 0,
                id: piece(id),
                name: piece(name),
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
        let [content] = FLOW_OUTPUT.read(payload, out);
        let [document] = content.map_or([None], |content| DOCUMENT.read(content, out));
        let Some(document) = document else { return };
        let block = Block::new(0, self.outputs);
        self.outputs = self.outputs.saturating_add(1);
        if let Some(text) = piece(Some(document)).or_else(|| Piece::plain(document.raw())) {
            out(Delta::Text { block, text });
        }
    }
}

/// An object from lists of `{name, type, value}`, in which every value is a string.
fn object(parameters: Option<Node<'_>>, properties: Option<Node<'_>>, out: Out<'_>) -> String {
    let mut text = String::from("{");
    let listed = entries(parameters).chain(entries(properties));
    for (number, parameter) in listed.enumerate() {
        let [name, value, kind] = PARAMETER.read(parameter, out);
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
