//! IBM watsonx.ai, `/text/generation_stream`.

use super::{Delta, Format, Members, count, finish, non_empty, piece};
use crate::{Block, Usage, json::Node};

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
        for result in payload.field("results").into_iter().flat_map(Node::items) {
            let [text, reason, input, output] = result.pick([
                "generated_text",
                "stop_reason",
                "input_token_count",
                "generated_token_count",
            ]);
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
