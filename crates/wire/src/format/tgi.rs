//! Text Generation Inference, `/generate_stream`, and `/generate` without streaming.

use super::{Delta, Format, Members, again, count, finish, piece};
use crate::{Block, FinishReason, Usage, json::Node};

/// One token per event, or only the generated text.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    let [token] = payload.pick(["token"]);
    token.is_some_and(|token| token.has("text")) || payload.has("generated_text")
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct Tgi {
    spoke: bool,
    finished: bool,
}

impl Format for Tgi {
    fn decode(&mut self, _: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [token, generated, details] = payload.pick(["token", "generated_text", "details"]);
        let block = Block::default();
        if let Some(token) = token {
            let [text, special] = token.pick(["text", "special"]);
            // A special token ends the text and is not part of it.
            let special = special.is_some_and(|special| special.raw() == "true");
            if let Some(text) = piece(text).filter(|_| !special) {
                self.spoke = true;
                out(Delta::Text { block, text });
            }
        }
        let Some(generated) = generated else { return };
        // The last token repeats the whole text.
        if self.spoke {
            again(block, Some(generated), out);
        } else if let Some(text) = piece(Some(generated)) {
            out(Delta::Text { block, text });
        }
        self.finished = true;
        let [reason, output] = details
            .map_or([None, None], |details| details.pick(["finish_reason", "generated_tokens"]));
        let stop = Delta::Finish { scope: 0, reason: FinishReason::Stop, original: "stop".into() };
        out(finish(0, reason).unwrap_or(stop));
        if let Some(output) = count(output) {
            out(Delta::Usage(Usage { output: Some(output), ..Usage::default() }));
        }
    }

    fn is_ended(&self) -> bool {
        self.finished
    }
}
