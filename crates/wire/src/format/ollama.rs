//! Ollama, `/api/chat` and `/api/generate`.

use super::{
    ANY, ARGUMENTS, CallDelta, Delta, FLAG, Format, Members, NUMBER, OBJECT, OBJECTS, Place, TEXT,
    arguments, count, entries, finish, piece,
};
use crate::{Block, FinishReason, Usage, json::Node};

const EVENT: Place<7> = Place::of([
    ("message", OBJECT),
    ("response", TEXT),
    ("thinking", TEXT),
    ("done", FLAG),
    ("done_reason", TEXT),
    ("prompt_eval_count", NUMBER),
    ("eval_count", NUMBER),
])
.needs_one_of(3)
.beside(&[
    "context",
    "created_at",
    "error",
    "eval_duration",
    "load_duration",
    "model",
    "prompt_eval_duration",
    "total_duration",
]);

const MESSAGE: Place<3> =
    Place::of([("content", TEXT), ("thinking", TEXT), ("tool_calls", OBJECTS)])
        .needs_one_of(3)
        .beside(&["images", "role", "tool_name"]);

/// A call. Some servers leave out the object around name and arguments.
const ENTRY: Place<4> =
    Place::of([("function", OBJECT), ("arguments", ARGUMENTS), ("id", ANY), ("name", TEXT)])
        .needs_one_of(2)
        .beside(&["index", "type"]);

const FUNCTION: Place<2> =
    Place::of([("arguments", ARGUMENTS), ("name", TEXT)]).needs(1).beside(&["index"]);

/// `done`, together with a message or a response.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    payload.has("done") && (payload.has("message") || payload.has("response"))
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct Ollama {
    /// How many calls there were so far.
    calls: i64,
    done: bool,
}

impl Format for Ollama {
    fn decode(&mut self, _: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [message, response, thinking, done, counts @ ..] = EVENT.read(payload, out);
        let block = Block::default();
        if let Some(text) = piece(thinking) {
            out(Delta::Reasoning { block, text });
        }
        if let Some(text) = piece(response) {
            out(Delta::Text { block, text });
        }
        if let Some(message) = message {
            let [content, thinking, calls] = MESSAGE.read(message, out);
            if let Some(text) = piece(thinking) {
                out(Delta::Reasoning { block, text });
            }
            if let Some(text) = piece(content) {
                out(Delta::Text { block, text });
            }
            for (position, entry) in entries(calls).enumerate() {
                self.call(position, entry, out);
            }
        }
        if done.is_some_and(|done| done.raw() == "true") {
            self.finish(counts, out);
        }
    }

    fn is_ended(&self) -> bool {
        self.done
    }
}

impl Ollama {
    /// Every entry is a whole call. Its index is useless, because every server counts it differently.
    fn call(&mut self, position: usize, entry: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [function, text, id, name] = ENTRY.read(entry, out);
        let [inner, inner_name] =
            function.map_or([None; 2], |function| FUNCTION.read(function, out));
        let (text, name) = (inner.or(text), inner_name.or(name));
        let index = self.calls;
        self.calls = self.calls.saturating_add(1);
        out(Delta::Call(CallDelta {
            index: Some(index),
            exact: true,
            sibling: position > 0,
            id: piece(id),
            name: piece(name),
            arguments: arguments(text),
            ..CallDelta::default()
        }));
        out(Delta::CallEnd { scope: 0, index });
    }

    fn finish(
        &mut self,
        [reason, input, output]: [Option<Node<'_>>; 3],
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        self.done = true;
        // Versions before 0.1.39 sent no reason.
        let stop = Delta::Finish { scope: 0, reason: FinishReason::Stop, original: "stop".into() };
        out(finish(0, reason).unwrap_or(stop));
        let usage = Usage { input: count(input), output: count(output), ..Usage::default() };
        if usage != Usage::default() {
            out(Delta::Usage(usage));
        }
    }
}
