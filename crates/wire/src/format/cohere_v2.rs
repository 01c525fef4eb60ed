//! Cohere Chat, version 2.

use super::{
    Arguments, CallDelta, CallEnds, Delta, Format, Members, arguments, count, finish, is_misnamed,
    non_empty, ordinal, piece, unread,
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
        let [kind, index, delta] = payload.pick(["type", "index", "delta"]);
        let (numbered, index) = (index.is_some(), ordinal(index));
        let message = || delta?.field("message");
        let kind = kind.and_then(Node::text);
        if kind.as_deref().is_some_and(|kind| is_misnamed(event, kind, &NAMES)) {
            out(Delta::Damaged);
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
                if let Some(content) = message().and_then(|message| message.field("content")) {
                    read_content(index, content, out);
                }
            }
            Some("tool-plan-delta") => read_plan(message(), out),
            Some("tool-call-start" | "tool-call-delta") => {
                let calls = message().and_then(|message| message.field("tool_calls"));
                // Some versions of the service wrap the single call in a list.
                let listed = calls.filter(|calls| calls.is_array());
                let one = listed.map_or(calls, |calls| calls.items().next());
                if let Some(one) = one {
                    read_call(index, one, out);
                } else {
                    out(unread(0, i64::from(index)));
                }
            }
            Some("tool-call-end") => out(Delta::CallEnd { scope: 0, index: i64::from(index) }),
            Some("citation-start") => {
                if let Some(citation) = message().and_then(|message| message.field("citations")) {
                    out(Delta::Citation { block: Block::default(), json: citation.raw() });
                }
            }
            Some("message-end") => {
                self.ended = true;
                if let Some(delta) = delta {
                    self.end(delta, out);
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
    fn end(&mut self, delta: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [reason, error, usage] = delta.pick(["finish_reason", "error", "usage"]);
        finish(0, reason).into_iter().for_each(&mut *out);
        if let Some(message) = non_empty(error) {
            out(Delta::Fail(Box::new(WireError::new(ErrorKind::Provider, message))));
        }
        read_usage(usage, out);
    }

    /// A response that was not streamed.
    fn whole(&mut self, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let message = payload.field("message");
        read_plan(message, out);
        let [content, calls, citations] = message
            .map_or([None; 3], |message| message.pick(["content", "tool_calls", "citations"]));
        for (index, part) in (0_u32..).zip(content.into_iter().flat_map(Node::items)) {
            read_content(index, part, out);
        }
        for (index, call) in (0_u32..).zip(calls.into_iter().flat_map(Node::items)) {
            read_call(index, call, out);
            out(Delta::CallEnd { scope: 0, index: i64::from(index) });
        }
        for citation in citations.into_iter().flat_map(Node::items) {
            out(Delta::Citation { block: Block::default(), json: citation.raw() });
        }
        self.end(payload, out);
        self.ended |= payload.field("finish_reason").is_some();
    }
}

fn read_content(index: u32, content: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
    let [text, thinking] = content.pick(["text", "thinking"]);
    let block = Block::new(0, index);
    if let Some(text) = piece(thinking) {
        out(Delta::Reasoning { block, text });
    }
    if let Some(text) = piece(text) {
        out(Delta::Text { block, text });
    }
}

/// Reads the model's plan for its tools, which is not part of the answer.
fn read_plan(message: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
    if let Some(text) = message.and_then(|message| piece(message.field("tool_plan"))) {
        out(Delta::Reasoning { block: Block::default(), text });
    }
}

fn read_call(index: u32, call: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
    let [id, function] = call.pick(["id", "function"]);
    let [name, text] = function.map_or([None; 2], |function| function.pick(["name", "arguments"]));
    if name.is_none() && text.is_none() {
        out(unread(0, i64::from(index)));
    }
    let arguments: Arguments<'_> = arguments(text);
    out(Delta::Call(CallDelta {
        index: Some(i64::from(index)),
        exact: true,
        sibling: true,
        id: piece(id),
        name: piece(name),
        arguments,
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
