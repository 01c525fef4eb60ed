//! Amazon Bedrock ConverseStream. Also used by Amazon Nova under InvokeModel.
//!
//! The name of the event determines the type of its payload. Without event names (InvokeModel, and
//! bodies recorded as JSON), the payload has one member of that name.

use super::{
    ANY, ARGUMENTS, Arguments, CallDelta, CallEnds, Delta, Format, LIST, Members, NUMBER, OBJECT,
    OBJECTS, Place, TEXT, arguments, entries, finish, non_empty, ordinal, piece, unread, usage,
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

/// An event by its name, as a member of the payload.
const NAMED: Place<9> = Place::of([
    ("contentBlockDelta", OBJECT),
    ("contentBlockStart", OBJECT),
    ("contentBlockStop", OBJECT),
    ("messageStart", OBJECT),
    ("messageStop", OBJECT),
    ("metadata", OBJECT),
    ("output", OBJECT),
    ("stopReason", TEXT),
    ("usage", OBJECT),
])
.needs_one_of(7)
.beside(&["p", "type"]);

const START: Place<2> =
    Place::of([("start", OBJECT), ("contentBlockIndex", NUMBER)]).needs(2).beside(&["p"]);

/// Other blocks begin with their first piece.
const STARTED: Place<1> =
    Place::of([("toolUse", OBJECT)]).needs(1).beside(&["image", "toolResult"]);

/// The arguments of a call come later.
const TOOL_START: Place<4> =
    Place::of([("name", TEXT), ("toolUseId", TEXT), ("type", TEXT), ("input", 0)]).needs(2);

const DELTA: Place<2> =
    Place::of([("delta", OBJECT), ("contentBlockIndex", NUMBER)]).needs(2).beside(&["p"]);

const STOP: Place<1> = Place::of([("contentBlockIndex", NUMBER)]).needs(1).beside(&["p"]);

const END: Place<1> = Place::of([("stopReason", TEXT)]).needs(1).beside(&["p"]);

/// A piece of a block, or a whole block.
const CONTENT: Place<5> = Place::of([
    ("text", TEXT),
    ("toolUse", OBJECT),
    ("reasoningContent", OBJECT),
    ("citation", ANY),
    ("citationsContent", OBJECT),
])
.needs_one_of(5)
.beside(&["audio", "cachePoint", "document", "guardContent", "image", "toolResult", "video"]);

const TOOL_USE: Place<4> =
    Place::of([("input", ARGUMENTS), ("name", TEXT), ("toolUseId", TEXT), ("type", TEXT)]).needs(1);

const REASONING: Place<2> = Place::of([("text", TEXT), ("reasoningText", OBJECT)])
    .needs_one_of(2)
    .beside(&["redactedContent", "signature"]);

const REASONED: Place<1> = Place::of([("text", TEXT)]).needs(1).beside(&["signature"]);

/// A text with its sources.
const CITED: Place<2> = Place::of([("content", OBJECTS), ("citations", LIST)]).needs(1);

/// A response that was not streamed.
const OUTPUT: Place<1> = Place::of([("message", OBJECT)]).needs(1);

const MESSAGE: Place<1> = Place::of([("content", OBJECTS)]).needs(1).beside(&["role"]);

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
        let [inner @ .., output, reason, counts] = NAMED.read(payload, out);
        for (name, inner) in EVENTS.into_iter().zip(inner) {
            if let Some(inner) = inner {
                self.event(name, inner, out);
            }
        }
        if let Some(output) = output {
            whole(output, out);
            self.stopped |= non_empty(reason).is_some();
            finish(0, reason).into_iter().for_each(&mut *out);
            usage(counts, USAGE).into_iter().for_each(out);
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
        match name {
            "contentBlockStart" => {
                let [start, index] = START.read(payload, out);
                let [tool] = start.map_or([None], |start| STARTED.read(start, out));
                if let Some(tool) = tool {
                    let [names @ .., _] = TOOL_START.read(tool, out);
                    call(ordinal(index), names, Arguments::Absent, out);
                }
            }
            "contentBlockDelta" => {
                let [delta, index] = DELTA.read(payload, out);
                match delta.filter(|delta| !delta.is_blank()) {
                    Some(delta) => content(ordinal(index), delta, out),
                    None => out(unread(0, i64::from(ordinal(index)))),
                }
            }
            "contentBlockStop" => {
                let [index] = STOP.read(payload, out);
                out(Delta::CallEnd { scope: 0, index: i64::from(ordinal(index)) });
            }
            "messageStop" => {
                self.stopped = true;
                let [reason] = END.read(payload, out);
                finish(0, reason).into_iter().for_each(out);
            }
            "metadata" => usage(payload.field("usage"), USAGE).into_iter().for_each(out),
            _ => {}
        }
    }
}

/// Reads a response that was not streamed.
fn whole(output: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
    let [message] = OUTPUT.read(output, out);
    let [blocks] = message.map_or([None], |message| MESSAGE.read(message, out));
    for (index, block) in (0_u32..).zip(entries(blocks)) {
        content(index, block, out);
        out(Delta::CallEnd { scope: 0, index: i64::from(index) });
    }
}

/// Reads a piece of a block, or a whole block.
fn content(index: u32, delta: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
    let [text, tool, reasoning, citation, cited] = CONTENT.read(delta, out);
    let block = Block::new(0, index);
    if let Some(text) = piece(text) {
        out(Delta::Text { block, text });
    }
    if let Some(reasoning) = reasoning {
        let [text, whole] = REASONING.read(reasoning, out);
        let [inner] = whole.map_or([None], |whole| REASONED.read(whole, out));
        if let Some(text) = piece(text).or_else(|| piece(inner)) {
            out(Delta::Reasoning { block, text });
        }
    }
    if let Some(tool) = tool {
        let [input, names @ ..] = TOOL_USE.read(tool, out);
        call(index, names, arguments(input), out);
    }
    if let Some(cited) = cited {
        let [content, sources] = CITED.read(cited, out);
        for part in entries(content) {
            let [text] = REASONED.read(part, out);
            if let Some(text) = piece(text) {
                out(Delta::Text { block, text });
            }
        }
        for source in sources.into_iter().flat_map(Node::items) {
            out(Delta::Citation { block, json: source.raw() });
        }
    }
    if let Some(citation) = citation {
        out(Delta::Citation { block, json: citation.raw() });
    }
}

fn call<'a>(
    index: u32,
    [name, id, kind]: [Option<Node<'a>>; 3],
    arguments: Arguments<'a>,
    out: &mut dyn FnMut(Delta<'_>),
) {
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
