//! Text Generation Inference, `/generate_stream`, and `/generate` without streaming.

use super::{Delta, FLAG, Format, Members, OBJECT, Place, TEXT, again, count, finish, piece};
use crate::{Block, FinishReason, Usage, json::Node};

const EVENT: Place<3> =
    Place::of([("token", OBJECT), ("generated_text", TEXT), ("details", OBJECT)])
        .needs(1)
        .beside(&["index", "top_tokens"]);

const TOKEN: Place<2> =
    Place::of([("text", TEXT), ("special", FLAG)]).needs(2).beside(&["id", "logprob"]);

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
        let [token, generated, details] = EVENT.read(payload, out);
        let block = Block::default();
        if let Some(token) = token {
            let [text, special] = TOKEN.read(token, out);
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
