//! The text models of Amazon Bedrock under InvokeModel: Titan, Llama, Mistral, Command.
//!
//! Claude, Nova and the models with OpenAI's interface use their own formats there.

use super::{Delta, Format, Members, finish, non_empty, piece, usage};
use crate::{Block, json::Node};

/// The member that holds the text: for Titan, for Llama, and for the other two.
const TEXTS: [&str; 3] = ["outputText", "generation", "text"];

/// The members with several texts: for Mistral, and for Command and Titan if they were not streamed.
const LISTS: [&str; 3] = ["outputs", "generations", "results"];

/// The stop reason: for Titan, for Llama and Mistral, and for Command.
const REASONS: [&str; 3] = ["completionReason", "stop_reason", "finish_reason"];

/// The member that the service adds to the last event of every vendor.
const METRICS: &str = "amazon-bedrock-invocationMetrics";

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
        // The last event of Command may repeat the whole text.
        let [parts, generations, results] = payload.pick(LISTS);
        let generations = generations.filter(|_| !self.spoke);
        self.part(payload, out);
        for part in [parts, generations, results].into_iter().flatten().flat_map(Node::items) {
            self.part(part, out);
        }
        if let Some(metrics) = payload.field(METRICS) {
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
    fn part(&mut self, part: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        for text in part.pick(TEXTS).into_iter().filter_map(piece) {
            self.spoke = true;
            out(Delta::Text { block: Block::default(), text });
        }
        for reason in part.pick(REASONS) {
            self.finished |= non_empty(reason).is_some();
            finish(0, reason).into_iter().for_each(&mut *out);
        }
    }
}
