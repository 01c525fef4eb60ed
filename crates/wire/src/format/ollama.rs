//! Ollama, `/api/chat` and `/api/generate`.

use super::{CallDelta, Delta, Format, Members, arguments, count, finish, piece};
use crate::{Block, FinishReason, Usage, json::Node};

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
        let [message, response, thinking, done] =
            payload.pick(["message", "response", "thinking", "done"]);
        let block = Block::default();
        if let Some(text) = piece(thinking) {
            out(Delta::Reasoning { block, text });
        }
        if let Some(text) = piece(response) {
            out(Delta::Text { block, text });
        }
        if let Some(message) = message {
            let [content, thinking, calls] = message.pick(["content", "thinking", "tool_calls"]);
            if let Some(text) = piece(thinking) {
                out(Delta::Reasoning { block, text });
            }
            if let Some(text) = piece(content) {
                out(Delta::Text { block, text });
            }
            for (position, entry) in calls.into_iter().flat_map(Node::items).enumerate() {
                self.call(position, entry, out);
            }
        }
        if done.is_some_and(|done| done.raw() == "true") {
            self.finish(payload, out);
        }
    }

    fn is_ended(&self) -> bool {
        self.done
    }
}

impl Ollama {
    /// Every entry is a whole call. Its index is useless, because every server counts it differently.
    fn call(&mut self, position: usize, entry: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [id, function] = entry.pick(["id", "function"]);
        let [name, text] = function.unwrap_or(entry).pick(["name", "arguments"]);
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

    fn finish(&mut self, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [reason, input, output] =
            payload.pick(["done_reason", "prompt_eval_count", "eval_count"]);
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
