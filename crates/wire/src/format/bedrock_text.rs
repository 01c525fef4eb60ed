//! The text models of Amazon Bedrock under InvokeModel: Titan, Llama, Mistral, Command.
//!
//! Claude, Nova and the models with OpenAI's interface use their own formats there.

use super::{
    Delta, Format, Members, OBJECT, OBJECTS, Place, TEXT, entries, finish, non_empty, piece, usage,
};
use crate::{Block, json::Node};

/// The member that holds the text: for Titan, for Llama, and for the other two.
const TEXTS: [&str; 3] = ["outputText", "generation", "text"];

/// The members with several texts: for Mistral, and for Command and Titan if they were not streamed.
const LISTS: [&str; 3] = ["outputs", "generations", "results"];

/// The member that the service adds to the last event of every vendor.
const METRICS: &str = "amazon-bedrock-invocationMetrics";

/// A payload, or one of several texts in it.
const PART: Place<10> = Place::of([
    ("outputText", TEXT),
    ("generation", TEXT),
    ("text", TEXT),
    ("outputs", OBJECTS),
    ("generations", OBJECTS),
    ("results", OBJECTS),
    (METRICS, OBJECT),
    ("completionReason", TEXT),
    ("stop_reason", TEXT),
    ("finish_reason", TEXT),
])
.needs_one_of(7)
.beside(&[
    "event_type",
    "generation_token_count",
    "id",
    "index",
    "inputTextTokenCount",
    "is_finished",
    "prompt",
    "prompt_token_count",
    "tokenCount",
    "totalOutputTextTokenCount",
]);

/// A text, together with the other members of its vendor.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    let [titan, llama, command] = payload.pick(TEXTS);
    let [mistral, generations, results] =
        payload.pick(LISTS).map(|list| list.and_then(|list| list.items().next()));
    let holds = |part: Option<Node<'_>>, name: &str| part.is_some_and(|part| part.has(name));
    titan.is_some()
        || (llama.is_some() && (payload.has("stop_reason") || payload.has(METRICS)))
        || (command.is_some() && (payload.has("is_finished") || payload.has(METRICS)))
        || holds(mistral, "text")
        || holds(generations, "text")
        || holds(results, "outputText")
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct BedrockText {
    spoke: bool,
    finished: bool,
}

impl Format for BedrockText {
    fn decode(&mut self, _: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [lists @ .., metrics] = self.part(payload, out);
        for part in lists.into_iter().flat_map(entries) {
            self.part(part, out);
        }
        if let Some(metrics) = metrics {
            self.finished = true;
            let counts = usage(Some(metrics), ["inputTokenCount", "outputTokenCount"]);
            counts.into_iter().for_each(out);
        }
    }

    fn is_ended(&self) -> bool {
        self.finished
    }
}

impl BedrockText {
    /// Reads a text. Returns the lists of others, and the metrics.
    fn part<'a>(
        &mut self,
        part: Node<'a>,
        out: &mut dyn FnMut(Delta<'_>),
    ) -> [Option<Node<'a>>; 4] {
        let [titan, llama, command, outputs, generations, results, metrics, reasons @ ..] =
            PART.read(part, out);
        // The last event of Command may repeat the whole text.
        let generations = generations.filter(|_| !self.spoke);
        for text in [titan, llama, command].into_iter().filter_map(piece) {
            self.spoke = true;
            out(Delta::Text { block: Block::default(), text });
        }
        for reason in reasons {
            self.finished |= non_empty(reason).is_some();
            finish(0, reason).into_iter().for_each(&mut *out);
        }
        [outputs, generations, results, metrics]
    }
}
