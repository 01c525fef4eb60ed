//! OpenAI Completions, the API before Chat Completions, and compatible servers.

use std::collections::BTreeSet;

use super::{
    Delta, Format, MAX_CHOICE, Members, NUMBER, OBJECT, OBJECTS, Place, TEXT, entries, finish,
    non_empty, openai_chat::read_usage, ordinal, piece,
};
use crate::{Block, json::Node};

const CHUNK: Place<2> = Place::of([("choices", OBJECTS), ("usage", OBJECT)]).needs(1).beside(&[
    "created",
    "error",
    "id",
    "model",
    "object",
    "provider",
    "service_tier",
    "system_fingerprint",
]);

const CHOICE: Place<4> = Place::of([
    ("text", TEXT),
    ("index", NUMBER),
    ("finish_reason", TEXT),
    ("stop_reason", TEXT | NUMBER),
])
.needs(2)
.beside(&["logprobs", "seed"]);

/// A choice holds its text directly.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    let first = payload.field("choices").and_then(|choices| choices.items().next());
    first.is_some_and(|choice| choice.has("text") && !choice.has("delta") && !choice.has("message"))
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct OpenAiCompletions {
    /// Choices that have not finished.
    open: BTreeSet<u32>,
    finished: bool,
    sentinel: bool,
}

impl Format for OpenAiCompletions {
    fn decode(&mut self, _: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [choices, usage] = CHUNK.read(payload, out);
        for choice in entries(choices) {
            let [text, index, reason, stop] = CHOICE.read(choice, out);
            let scope = ordinal(index).min(MAX_CHOICE);
            if let Some(text) = piece(text) {
                self.open.insert(scope);
                out(Delta::Text { block: Block::new(scope, 0), text });
            }
            // Without the first member, Bedrock sends the second.
            let reason = if choice.has("finish_reason") { reason } else { stop };
            if non_empty(reason).is_some() {
                self.open.remove(&scope);
                self.finished = true;
            }
            finish(scope, reason).into_iter().for_each(&mut *out);
        }
        if let Some(usage) = usage.filter(|usage| usage.is_object()) {
            out(Delta::Usage(read_usage(usage)));
        }
    }

    fn sentinel(&mut self) {
        self.sentinel = true;
    }

    fn is_ended(&self) -> bool {
        self.sentinel || (self.finished && self.open.is_empty())
    }
}
