//! Anthropic Text Completions, the API before Messages. Also used by Claude 2 on Bedrock.

use super::{Delta, Format, Members, Place, TEXT, finish, non_empty, piece};
use crate::{Block, json::Node};

const COMPLETION: Place<2> = Place::of([("completion", TEXT), ("stop_reason", TEXT)])
    .needs(1)
    .beside(&["id", "log_id", "model", "stop", "type"]);

/// The type, or the two members that every chunk has.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    let [kind, text] = payload.pick(["type", "completion"]);
    let typed = kind.and_then(Node::text).is_some_and(|kind| kind == "completion");
    text.is_some_and(Node::is_string) && (typed || payload.has("stop_reason"))
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct AnthropicComplete {
    finished: bool,
}

impl Format for AnthropicComplete {
    fn decode(&mut self, _: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [text, reason] = COMPLETION.read(payload, out);
        if let Some(text) = piece(text) {
            out(Delta::Text { block: Block::default(), text });
        }
        self.finished |= non_empty(reason).is_some();
        finish(0, reason).into_iter().for_each(out);
    }

    fn is_ended(&self) -> bool {
        self.finished
    }
}
