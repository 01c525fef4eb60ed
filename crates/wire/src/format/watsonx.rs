//! IBM watsonx.ai, `/text/generation_stream`.

use super::{
    Delta, Format, Members, NUMBER, OBJECTS, Place, TEXT, count, entries, finish, non_empty, piece,
};
use crate::{Block, Usage, json::Node};

const EVENT: Place<1> = Place::of([("results", OBJECTS)]).needs(1).beside(&[
    "created_at",
    "model_id",
    "model_version",
    "system",
]);

const RESULT: Place<4> = Place::of([
    ("generated_text", TEXT),
    ("stop_reason", TEXT),
    ("input_token_count", NUMBER),
    ("generated_token_count", NUMBER),
])
.needs(1)
.beside(&["seed"]);

/// Results that hold generated text.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    let first = payload.field("results").and_then(|results| results.items().next());
    first.is_some_and(|result| result.has("generated_text"))
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct Watsonx {
    finished: bool,
}

impl Format for Watsonx {
    fn decode(&mut self, _: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [results] = EVENT.read(payload, out);
        for result in entries(results) {
            let [text, reason, input, output] = RESULT.read(result, out);
            if let Some(text) = piece(text) {
                out(Delta::Text { block: Block::default(), text });
            }
            // The input is counted once, in the first event; the zeros in later events mean nothing.
            let input = count(input).filter(|&tokens| tokens > 0);
            let usage = Usage { input, output: count(output), ..Usage::default() };
            if usage != Usage::default() {
                out(Delta::Usage(usage));
            }
            if non_empty(reason).is_some_and(|word| !word.eq_ignore_ascii_case("not_finished")) {
                self.finished = true;
                finish(0, reason).into_iter().for_each(&mut *out);
            }
        }
    }

    fn is_ended(&self) -> bool {
        self.finished
    }
}
