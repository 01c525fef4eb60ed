//! Cohere Chat, version 2.

use super::{
    ANY, ARGUMENTS, CallDelta, CallEnds, Delta, Format, Members, NUMBER, OBJECT, OBJECTS, Place,
    TEXT, arguments, count, entries, finish, is_misnamed, non_empty, ordinal, piece, unread,
};
use crate::{Block, Doubt, ErrorKind, Usage, WireError, json::Node};

const TYPES: [&str; 11] = [
    "citation-end",
    "citation-start",
    "content-delta",
    "content-end",
    "content-start",
    "message-end",
    "message-start",
    "tool-call-delta",
    "tool-call-end",
    "tool-call-start",
    "tool-plan-delta",
];

/// The events that hold a part of a call.
const NAMES: [&str; 3] = ["tool-call-delta", "tool-call-end", "tool-call-start"];

/// An event about a part of the message.
const EVENT: Place<2> =
    Place::of([("delta", OBJECT), ("index", NUMBER)]).needs(2).beside(&["id", "type"]);

/// A plan has no number.
const PLAN: Place<1> = Place::of([("delta", OBJECT)]).needs(1).beside(&["id", "index", "type"]);

const STOP: Place<1> = Place::of([("index", NUMBER)]).needs(1).beside(&["delta", "id", "type"]);

const DELTA: Place<1> = Place::of([("message", OBJECT)]).needs(1);

/// What is new in the message.
const MESSAGE: Place<4> = Place::of([
    ("content", OBJECTS),
    ("tool_calls", OBJECTS),
    ("tool_plan", TEXT),
    ("citations", ANY),
])
.needs_one_of(4)
.beside(&["role"]);

const CONTENT: Place<3> =
    Place::of([("text", TEXT), ("thinking", TEXT), ("type", TEXT)]).needs_one_of(2);

const CALL: Place<2> = Place::of([("function", OBJECT), ("id", TEXT)]).needs(2).beside(&["type"]);

const FUNCTION: Place<2> = Place::of([("arguments", ARGUMENTS), ("name", TEXT)]).needs(1);

const END: Place<3> =
    Place::of([("finish_reason", TEXT), ("error", TEXT), ("usage", OBJECT)]).needs(1);

/// A response that was not streamed.
const RESPONSE: Place<3> =
    Place::of([("message", OBJECT), ("finish_reason", TEXT), ("usage", OBJECT)])
        .needs(1)
        .beside(&["id", "logprobs"]);

/// The type belongs to this format, or the response was not streamed.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    let [kind, message, reason] = payload.pick(["type", "message", "finish_reason"]);
    let whole =
        || message.is_some_and(|message| message.has("content") || message.has("tool_calls"));
    kind.and_then(Node::text).is_some_and(|kind| TYPES.contains(&kind.as_ref()))
        || (reason.is_some() && whole())
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct CohereV2 {
    /// Calls have a number.
    numbered: bool,
    ended: bool,
}

impl Format for CohereV2 {
    fn decode(&mut self, event: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [kind, index] = payload.pick(["type", "index"]);
        let numbered = index.is_some();
        let kind = kind.and_then(Node::text);
        if kind.as_deref().is_some_and(|kind| is_misnamed(event, kind, &NAMES)) {
            out(Delta::Damaged(Doubt::DamagedEvent));
        }
        if kind.as_deref().is_some_and(|kind| kind.starts_with("tool-call-")) {
            self.numbered |= numbered;
            if self.numbered && !numbered {
                // Its number was lost, so it may be of any call.
                out(Delta::Doubt(Doubt::LostEvent));
                return;
            }
        }
        match kind.as_deref() {
            Some("content-start" | "content-delta") => {
                let [delta, index] = EVENT.read(payload, out);
                let [content, ..] = read_message(delta, out);
                for content in entries(content) {
                    read_content(ordinal(index), content, out);
                }
            }
            Some("tool-plan-delta") => {
                let [delta] = PLAN.read(payload, out);
                let [_, _, plan, _] = read_message(delta, out);
                read_plan(plan, out);
            }
            Some("tool-call-start" | "tool-call-delta") => {
                let [delta, index] = EVENT.read(payload, out);
                let [_, calls, ..] = read_message(delta, out);
                let index = ordinal(index);
                // Some versions of the service wrap the single call in a list.
                match entries(calls).next() {
                    Some(one) => read_call(index, one, out),
                    None => out(unread(0, i64::from(index))),
                }
            }
            Some("tool-call-end") => {
                let [index] = STOP.read(payload, out);
                out(Delta::CallEnd { scope: 0, index: i64::from(ordinal(index)) });
            }
            Some("citation-start") => {
                let [delta, _] = EVENT.read(payload, out);
                if let [.., Some(citation)] = read_message(delta, out) {
                    out(Delta::Citation { block: Block::default(), json: citation.raw() });
                }
            }
            Some("message-end") => {
                self.ended = true;
                let [delta] = PLAN.read(payload, out);
                if let Some(delta) = delta {
                    end(END.read(delta, out), out);
                }
            }
            Some(_) => {}
            None => self.whole(payload, out),
        }
    }

    fn call_ends(&self) -> CallEnds {
        CallEnds::Stated
    }

    fn names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn is_ended(&self) -> bool {
        self.ended
    }
}

impl CohereV2 {
    /// A response that was not streamed.
    fn whole(&mut self, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [message, reason, usage] = RESPONSE.read(payload, out);
        let [content, calls, plan, citations] =
            message.map_or([None; 4], |message| MESSAGE.needs(1).read(message, out));
        read_plan(plan, out);
        for (index, part) in (0_u32..).zip(entries(content)) {
            read_content(index, part, out);
        }
        for (index, call) in (0_u32..).zip(entries(calls)) {
            read_call(index, call, out);
            out(Delta::CallEnd { scope: 0, index: i64::from(index) });
        }
        for citation in citations.into_iter().flat_map(Node::items) {
            out(Delta::Citation { block: Block::default(), json: citation.raw() });
        }
        end([reason, None, usage], out);
        self.ended |= reason.is_some();
    }
}

/// Reads how the message ended: the reason, an error, and the tokens.
fn end([reason, error, usage]: [Option<Node<'_>>; 3], out: &mut dyn FnMut(Delta<'_>)) {
    if let Some(message) = non_empty(error) {
        out(Delta::Fail(Box::new(WireError::new(ErrorKind::Provider, message))));
    }
    finish(0, reason).into_iter().for_each(&mut *out);
    read_usage(usage, out);
}

/// Reads what a delta says is new in the message.
fn read_message<'a>(
    delta: Option<Node<'a>>,
    out: &mut dyn FnMut(Delta<'_>),
) -> [Option<Node<'a>>; 4] {
    let [message] = delta.map_or([None], |delta| DELTA.read(delta, out));
    message.map_or([None; 4], |message| MESSAGE.read(message, out))
}

fn read_content(index: u32, content: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
    let [text, thinking, _] = CONTENT.read(content, out);
    let block = Block::new(0, index);
    if let Some(text) = piece(thinking) {
        out(Delta::Reasoning { block, text });
    }
    if let Some(text) = piece(text) {
        out(Delta::Text { block, text });
    }
}

/// Reads the model's plan for its tools, which is not part of the answer.
fn read_plan(plan: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
    if let Some(text) = piece(plan) {
        out(Delta::Reasoning { block: Block::default(), text });
    }
}

fn read_call(index: u32, call: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
    let [function, id] = CALL.read(call, out);
    let [text, name] = function.map_or([None; 2], |function| FUNCTION.read(function, out));
    out(Delta::Call(CallDelta {
        index: Some(i64::from(index)),
        exact: true,
        sibling: true,
        id: piece(id),
        name: piece(name),
        arguments: arguments(text),
        ..CallDelta::default()
    }));
}

/// Reads the tokens that the model saw, if they are listed separately from the billed ones.
pub(super) fn read_usage(usage: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
    let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
    let [tokens, billed, cached] = usage.pick(["tokens", "billed_units", "cached_tokens"]);
    let Some(tokens) = tokens.or(billed) else { return };
    let [input, output] = tokens.pick(["input_tokens", "output_tokens"]);
    out(Delta::Usage(Usage {
        input: count(input),
        output: count(output),
        cached: count(cached),
        reasoning: None,
    }));
}
