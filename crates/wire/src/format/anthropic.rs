//! Anthropic Messages.
//!
//! Every message is a scope: another `message_start` in the same body restarts the indexes, unless it has the id
//! of the message before it. The type of a payload decides; if it is missing, the name of the event is used instead.

use super::{
    ANY, ARGUMENTS, Arguments, CallDelta, CallEnds, Delta, Format, Members, NULL, NUMBER, OBJECT,
    OBJECTS, Piece, Place, TEXT, arguments, entries, finish, is_empty_object, is_misnamed,
    items::hash, kind_of, non_empty, ordinal, piece, unread, usage,
};
use crate::{Block, CallKind, Doubt, json::Node};

/// The types that identify the format. A ping does not: other formats send it, too.
const TYPES: [&str; 7] = [
    "content_block_delta",
    "content_block_start",
    "content_block_stop",
    "message",
    "message_delta",
    "message_start",
    "message_stop",
];

/// The events that hold a part of a call.
const NAMES: [&str; 3] = ["content_block_delta", "content_block_start", "content_block_stop"];

/// The type belongs to this format, and nothing indicates another format.
pub(super) fn recognise(event: &str, payload: &Members<'_>) -> bool {
    let kind = kind_of(event, payload.field("type"));
    // Other formats name their events "message", too.
    let other = kind == "message" && !(payload.has("content") && payload.has("role"));
    TYPES.contains(&kind.as_ref()) && !other && !payload.has("choices")
}

const MESSAGE_START: Place<1> = Place::of([("message", OBJECT)]).needs(1).beside(&["type"]);

/// At its start, a message is empty.
const EMPTY_MESSAGE: Place<2> = Place::of([("content", 0), ("usage", OBJECT)]);

const BLOCK_START: Place<2> =
    Place::of([("content_block", OBJECT), ("index", NUMBER)]).needs(2).beside(&["type"]);

const BLOCK_DELTA: Place<2> =
    Place::of([("delta", OBJECT), ("index", NUMBER)]).needs(2).beside(&["type"]);

const BLOCK_STOP: Place<1> = Place::of([("index", NUMBER)]).needs(1).beside(&["type"]);

const MESSAGE_DELTA: Place<2> =
    Place::of([("delta", OBJECT), ("usage", OBJECT)]).needs(1).beside(&["type"]);

const END: Place<1> = Place::of([("stop_reason", TEXT)]).needs(1);

/// A response that was not streamed.
const MESSAGE: Place<3> =
    Place::of([("content", OBJECTS), ("stop_reason", TEXT), ("usage", OBJECT)]).needs(2);

/// The types of blocks that are calls: of the caller, and of the provider.
const CALLS: [&str; 3] = ["tool_use", "server_tool_use", "mcp_tool_use"];

const TEXT_BLOCK: Place<2> = Place::of([("text", TEXT), ("type", TEXT)]).needs(1);

const THINKING_BLOCK: Place<2> = Place::of([("thinking", TEXT), ("type", TEXT)]).needs(1);

const CALL_BLOCK: Place<4> =
    Place::of([("input", ARGUMENTS), ("name", TEXT), ("id", TEXT), ("type", TEXT)]).needs(3);

/// A piece of a block.
const DELTA: Place<5> = Place::of([
    ("text", TEXT),
    ("thinking", TEXT),
    ("partial_json", TEXT | NULL),
    ("citation", ANY),
    ("type", TEXT),
])
.needs_one_of(4)
.of_type(&["text_delta", "thinking_delta", "input_json_delta", "citations_delta"]);

/// The names of the token counts.
const USAGE: [&str; 3] = ["input_tokens", "output_tokens", "cache_read_input_tokens"];

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct Anthropic {
    /// The open message, from 0.
    scope: u32,
    started: bool,
    /// A hash of its id.
    id: Option<u64>,
    stopped: bool,
}

impl Format for Anthropic {
    fn decode(&mut self, event: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let kind = kind_of(event, payload.field("type"));
        if is_misnamed(event, &kind, &NAMES) {
            out(Delta::Damaged(Doubt::DamagedEvent));
        }
        match kind.as_ref() {
            "message_start" => {
                let [message] = MESSAGE_START.read(payload, out);
                self.begin(message, out);
                if let Some(message) = message {
                    let [_, counts] = EMPTY_MESSAGE.read(message, out);
                    usage(counts, USAGE).into_iter().for_each(out);
                }
            }
            "content_block_start" => {
                let [block, index] = BLOCK_START.read(payload, out);
                if let Some(block) = block {
                    self.block(ordinal(index), block, false, out);
                }
            }
            "content_block_delta" => {
                let [delta, index] = BLOCK_DELTA.read(payload, out);
                match delta {
                    Some(delta) => self.delta(ordinal(index), delta, out),
                    None => out(unread(self.scope, i64::from(ordinal(index)))),
                }
            }
            "content_block_stop" => {
                let [index] = BLOCK_STOP.read(payload, out);
                out(Delta::CallEnd { scope: self.scope, index: i64::from(ordinal(index)) });
            }
            "message_delta" => {
                let [delta, counts] = MESSAGE_DELTA.read(payload, out);
                if let Some(delta) = delta {
                    let [reason] = END.read(delta, out);
                    finish(self.scope, reason).into_iter().for_each(&mut *out);
                }
                usage(counts, USAGE).into_iter().for_each(out);
            }
            "message_stop" => self.stopped = true,
            "message" => self.whole(payload, out),
            // Future types have members of their own.
            kind if kind.is_empty() || payload.has("delta") || payload.has("content_block") => {
                out(Delta::Damaged(Doubt::LostEvent));
            }
            _ => {}
        }
    }

    fn call_ends(&self) -> CallEnds {
        CallEnds::Stated
    }

    fn names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn is_ended(&self) -> bool {
        self.stopped
    }
}

impl Anthropic {
    /// A message begins. Whatever is open in the previous one is aborted. One with the same id is the same.
    fn begin(&mut self, message: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
        let id = message.and_then(|message| non_empty(message.field("id"))).map(|id| hash(&id));
        let again = id.is_some() && id == self.id;
        if self.started && !again {
            out(Delta::Abort { scope: self.scope });
            self.scope = self.scope.saturating_add(1);
        }
        self.id = id;
        self.started = true;
        self.stopped = false;
    }

    /// A block. `whole`: nothing of it follows.
    fn block(&self, index: u32, block: Node<'_>, whole: bool, out: &mut dyn FnMut(Delta<'_>)) {
        let at = Block::new(self.scope, index);
        let kind = block.field("type").and_then(Node::text).unwrap_or_default();
        match kind.as_ref() {
            "text" => {
                let [text, _] = TEXT_BLOCK.read(block, out);
                if let Some(text) = piece(text) {
                    out(Delta::Text { block: at, text });
                }
            }
            "thinking" => {
                let [text, _] = THINKING_BLOCK.read(block, out);
                if let Some(text) = piece(text) {
                    out(Delta::Reasoning { block: at, text });
                }
            }
            kind if CALLS.contains(&kind) => {
                let [input, name, id, _] = CALL_BLOCK.read(block, out);
                out(Delta::Call(CallDelta {
                    scope: self.scope,
                    index: Some(i64::from(index)),
                    exact: true,
                    sibling: true,
                    kind: (kind != "tool_use").then_some(CallKind::Server),
                    id: piece(id),
                    name: piece(name),
                    empty: is_empty_object(input),
                    // An empty object is a placeholder; a non-empty one may be all there is.
                    arguments: match input {
                        Some(input) if whole && input.is_object() && !input.is_blank() => {
                            Arguments::Whole(input)
                        }
                        Some(input) if whole && input.is_string() && !input.is_blank() => {
                            Arguments::Fragment(Piece::of_any(input))
                        }
                        Some(input) if !input.is_blank() => Arguments::Seed(Piece::of_any(input)),
                        _ => Arguments::Absent,
                    },
                    ..CallDelta::default()
                }));
            }
            "" if !block.is_blank() => out(Delta::Damaged(Doubt::LostEvent)),
            // Results of the provider's tools, and future types.
            _ => {}
        }
    }

    fn delta(&self, index: u32, delta: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [text, thinking, json, citation, kind] = DELTA.read(delta, out);
        let block = Block::new(self.scope, index);
        let kind = kind.and_then(Node::text).unwrap_or_default();
        match kind.as_ref() {
            "text_delta" => {
                if let Some(text) = piece(text) {
                    out(Delta::Text { block, text });
                }
            }
            "thinking_delta" => {
                if let Some(text) = piece(thinking) {
                    out(Delta::Reasoning { block, text });
                }
            }
            "input_json_delta" => out(Delta::Call(CallDelta {
                scope: self.scope,
                index: Some(i64::from(index)),
                exact: true,
                arguments: arguments(json),
                ..CallDelta::default()
            })),
            "citations_delta" => {
                if let Some(citation) = citation {
                    out(Delta::Citation { block, json: citation.raw() });
                }
            }
            "signature_delta" => {}
            // Future types hold no text, but a call has pieces of one type only.
            _ if [text, thinking, json].iter().all(Option::is_none) => {
                out(unread(self.scope, i64::from(index)));
            }
            _ => out(Delta::Damaged(Doubt::LostEvent)),
        }
    }

    /// A response that was not streamed.
    fn whole(&mut self, message: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        self.begin(Some(message), out);
        let [content, reason, counts] = MESSAGE.read(message, out);
        for (index, block) in (0_u32..).zip(entries(content)) {
            self.block(index, block, true, out);
            out(Delta::CallEnd { scope: self.scope, index: i64::from(index) });
        }
        finish(self.scope, reason).into_iter().for_each(&mut *out);
        usage(counts, USAGE).into_iter().for_each(out);
        self.stopped = true;
    }
}
