//! Amazon Bedrock ConverseStream. Also used by Amazon Nova under InvokeModel.
//!
//! The name of the event determines the type of its payload. Without event names (InvokeModel, and
//! bodies recorded as JSON), the payload has one member of that name.

use super::{
    Arguments, CallDelta, CallEnds, Delta, Format, Members, arguments, finish, non_empty, ordinal,
    piece, unread, usage,
};
use crate::{Block, CallKind, json::Node};

const EVENTS: [&str; 6] = [
    "contentBlockDelta",
    "contentBlockStart",
    "contentBlockStop",
    "messageStart",
    "messageStop",
    "metadata",
];

/// The names of the token counts.
const USAGE: [&str; 3] = ["inputTokens", "outputTokens", "cacheReadInputTokens"];

/// The name of the event, a member of that name, or a response that was not streamed.
pub(super) fn recognise(event: &str, payload: &Members<'_>) -> bool {
    let whole = payload.has("stopReason") && payload.has("output");
    // Other formats have metadata, too.
    let mut own = EVENTS.into_iter().filter(|name| *name != "metadata");
    whole || own.any(|name| event == name || payload.has(name))
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct BedrockConverse {
    stopped: bool,
}

impl Format for BedrockConverse {
    fn decode(&mut self, event: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        if EVENTS.contains(&event) {
            self.event(event, payload, out);
            return;
        }
        let inner = payload.pick(EVENTS);
        for (name, inner) in EVENTS.into_iter().zip(inner) {
            if let Some(inner) = inner {
                self.event(name, inner, out);
            }
        }
        if let Some(output) = payload.field("output") {
            self.whole(output, payload, out);
        }
    }

    fn call_ends(&self) -> CallEnds {
        CallEnds::Stated
    }

    fn is_ended(&self) -> bool {
        self.stopped
    }
}

impl BedrockConverse {
    fn event(&mut self, name: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [index, start, delta, reason, counts] =
            payload.pick(["contentBlockIndex", "start", "delta", "stopReason", "usage"]);
        let index = ordinal(index);
        match name {
            "contentBlockStart" => {
                if let Some(tool) = start.and_then(|start| start.field("toolUse")) {
                    call(index, tool, Arguments::Absent, out);
                }
            }
            "contentBlockDelta" => {
                let known = delta.is_some_and(|delta| content(index, delta, out));
                (!known).then(|| unread(0, i64::from(index))).into_iter().for_each(out);
            }
            "contentBlockStop" => out(Delta::CallEnd { scope: 0, index: i64::from(index) }),
            "messageStop" => {
                self.stopped = true;
                finish(0, reason).into_iter().for_each(out);
            }
            "metadata" => usage(counts, USAGE).into_iter().for_each(out),
            _ => {}
        }
    }

    fn whole(&mut self, output: Node<'_>, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let blocks = output.field("message").and_then(|message| message.field("content"));
        for (index, block) in (0_u32..).zip(blocks.into_iter().flat_map(Node::items)) {
            content(index, block, out);
            out(Delta::CallEnd { scope: 0, index: i64::from(index) });
        }
        let [reason, counts] = payload.pick(["stopReason", "usage"]);
        self.stopped |= non_empty(reason).is_some();
        finish(0, reason).into_iter().for_each(&mut *out);
        usage(counts, USAGE).into_iter().for_each(out);
    }
}

/// Reads a piece of a block, or a whole block. Returns whether anything in it is known.
fn content(index: u32, delta: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) -> bool {
    let [text, tool, reasoning, citation] =
        delta.pick(["text", "toolUse", "reasoningContent", "citation"]);
    let block = Block::new(0, index);
    if let Some(text) = piece(text) {
        out(Delta::Text { block, text });
    }
    if let Some(reasoning) = reasoning {
        let [text, whole] = reasoning.pick(["text", "reasoningText"]);
        let text = piece(text).or_else(|| piece(whole?.field("text")));
        if let Some(text) = text {
            out(Delta::Reasoning { block, text });
        }
    }
    let mut known = text.is_some() || reasoning.is_some() || citation.is_some();
    if let Some(tool) = tool {
        let input = tool.field("input");
        known |= input.is_some() || tool.has("input");
        call(index, tool, arguments(input), out);
    }
    if let Some(citation) = citation {
        out(Delta::Citation { block, json: citation.raw() });
    }
    known
}

fn call<'a>(index: u32, tool: Node<'a>, arguments: Arguments<'a>, out: &mut dyn FnMut(Delta<'_>)) {
    let [id, name, kind] = tool.pick(["toolUseId", "name", "type"]);
    let server = kind.and_then(Node::text).is_some_and(|kind| kind == "server_tool_use");
    out(Delta::Call(CallDelta {
        index: Some(i64::from(index)),
        exact: true,
        sibling: true,
        kind: server.then_some(CallKind::Server),
        id: piece(id),
        name: piece(name),
        arguments,
        ..CallDelta::default()
    }));
}
