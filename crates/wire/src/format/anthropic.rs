//! Anthropic Messages.
//!
//! Every message is a scope: another `message_start` in the same body restarts the indexes, unless it has the id
//! of the message before it. The type of a payload decides; if it is missing, the name of the event is used instead.

use super::{
    Arguments, CallDelta, CallEnds, Delta, Format, Members, Piece, announced::hash, arguments,
    finish, is_misnamed, kind_of, non_empty, ordinal, piece, unread, usage,
};
use crate::{Block, CallKind, json::Node};

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
            out(Delta::Damaged);
        }
        match kind.as_ref() {
            "message_start" => {
                let message = payload.field("message");
                self.begin(message, out);
                if let Some(message) = message {
                    usage(message.field("usage"), USAGE).into_iter().for_each(out);
                }
            }
            "content_block_start" => {
                let [index, block] = payload.pick(["index", "content_block"]);
                if let Some(block) = block {
                    self.block(ordinal(index), block, false, out);
                }
            }
            "content_block_delta" => {
                let [index, delta] = payload.pick(["index", "delta"]);
                match delta {
                    Some(delta) => self.delta(ordinal(index), delta, out),
                    None => out(unread(self.scope, i64::from(ordinal(index)))),
                }
            }
            "content_block_stop" => {
                let index = i64::from(ordinal(payload.field("index")));
                out(Delta::CallEnd { scope: self.scope, index });
            }
            "message_delta" => {
                let [delta, counts] = payload.pick(["delta", "usage"]);
                self.finish(delta, out);
                usage(counts, USAGE).into_iter().for_each(out);
            }
            "message_stop" => self.stopped = true,
            "message" => self.whole(payload, out),
            _ => {
                let [index, delta] = payload.pick(["index", "delta"]);
                if let (Some(_), Some(_)) = (index, delta) {
                    out(unread(self.scope, i64::from(ordinal(index))));
                }
            }
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
        let [kind, id, name, input, text, thinking] =
            block.pick(["type", "id", "name", "input", "text", "thinking"]);
        let at = Block::new(self.scope, index);
        let kind = kind.and_then(Node::text).unwrap_or_default();
        match kind.as_ref() {
            "text" => {
                if let Some(text) = piece(text) {
                    out(Delta::Text { block: at, text });
                }
            }
            "thinking" => {
                if let Some(text) = piece(thinking) {
                    out(Delta::Reasoning { block: at, text });
                }
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => out(Delta::Call(CallDelta {
                scope: self.scope,
                index: Some(i64::from(index)),
                exact: true,
                sibling: true,
                kind: (kind != "tool_use").then_some(CallKind::Server),
                id: piece(id),
                name: piece(name),
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
            })),
            _ => {}
        }
    }

    fn delta(&self, index: u32, delta: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [kind, text, thinking, json, citation] =
            delta.pick(["type", "text", "thinking", "partial_json", "citation"]);
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
            "input_json_delta" if json.is_some() || delta.has("partial_json") => {
                out(Delta::Call(CallDelta {
                    scope: self.scope,
                    index: Some(i64::from(index)),
                    exact: true,
                    arguments: arguments(json),
                    ..CallDelta::default()
                }));
            }
            "citations_delta" => {
                if let Some(citation) = citation {
                    out(Delta::Citation { block, json: citation.raw() });
                }
            }
            "signature_delta" => {}
            // Future types hold no text, but a call has pieces of one type only.
            _ => out(unread(self.scope, i64::from(index))),
        }
    }

    fn finish(&self, delta: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
        let reason = delta.and_then(|delta| delta.field("stop_reason"));
        finish(self.scope, reason).into_iter().for_each(out);
    }

    /// A response that was not streamed.
    fn whole(&mut self, message: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        self.begin(Some(message), out);
        let [content, counts] = message.pick(["content", "usage"]);
        for (index, block) in (0_u32..).zip(content.into_iter().flat_map(Node::items)) {
            self.block(index, block, true, out);
            out(Delta::CallEnd { scope: self.scope, index: i64::from(index) });
        }
        self.finish(Some(message), out);
        usage(counts, USAGE).into_iter().for_each(out);
        self.stopped = true;
    }
}
