//! OpenAI Chat Completions, and compatible servers.
//!
//! Every choice is a scope, and its text is one block. Variations in the fields of a delta (null, missing,
//! a list of parts instead of a text, an object instead of a text) are handled here. The router decides
//! which call a piece belongs to, because servers disagree about `index` and `id`.

use std::collections::BTreeSet;

use super::{
    Arguments, CallDelta, Delta, Format, MAX_CHOICE, Members, arguments, count, hides_a_call,
    holds_more, non_empty, ordinal, piece,
};
use crate::{Block, CallKind, Doubt, FinishReason, Usage, json::Node};

/// The key of the only call in the old `function_call` field.
const LEGACY: i64 = i64::MIN;

/// `choices` is present, even if empty or null.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    payload.has("choices")
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct OpenAiChat {
    /// Choices that have not finished.
    open: BTreeSet<u32>,
    /// How many of the sources that every chunk lists were emitted.
    cited: usize,
    finished: bool,
    sentinel: bool,
}

impl Format for OpenAiChat {
    fn decode(&mut self, _: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [choices, usage, groq, sources] =
            payload.pick(["choices", "usage", "x_groq", "citations"]);
        if choices.is_none() && usage.is_none() && hides_a_call(payload, &[]) {
            out(Delta::Doubt(Doubt::LostEvent));
        }
        for choice in choices.into_iter().flat_map(Node::items) {
            self.choice(choice, out);
        }
        for source in sources.into_iter().flat_map(Node::items).skip(self.cited) {
            self.cited += 1;
            out(Delta::Citation { block: Block::default(), json: source.raw() });
        }
        let usage = usage.or_else(|| groq?.field("usage"));
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

impl OpenAiChat {
    fn choice(&mut self, choice: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [index, delta, message, text, finish, native] = choice.pick([
            "index",
            "delta",
            "message",
            "text",
            "finish_reason",
            "native_finish_reason",
        ]);
        let scope = ordinal(index).min(MAX_CHOICE);
        // A server that does not stream, or was not asked to, sends the whole message instead.
        if let Some(delta) = delta.or(message) {
            self.delta(scope, delta, out);
        } else if let Some(text) = piece(text) {
            // A completions stream whose first chunks did not show that it is one.
            self.open.insert(scope);
            out(Delta::Text { block: Block::new(scope, 0), text });
        } else if hides_a_call(choice, &[]) {
            out(Delta::Doubt(Doubt::LostEvent));
        }
        // An empty reason ends nothing.
        if let Some(original) = non_empty(finish) {
            let mut reason = FinishReason::from_provider(&original);
            // A router translates the finish reason of the model's server, and may lose information.
            let native = native.and_then(Node::text).map(|word| FinishReason::from_provider(&word));
            if let Some(native) = native.filter(|native| *native != FinishReason::Other)
                && reason.is_clean()
                && !native.is_clean()
            {
                reason = native;
            }
            self.open.remove(&scope);
            self.finished = true;
            out(Delta::Finish { scope, reason, original });
        }
    }

    fn delta(&mut self, scope: u32, delta: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [content, thinking, reasoning, details, refusal, calls, legacy, notes] = delta.pick([
            "content",
            "reasoning_content",
            "reasoning",
            "reasoning_details",
            "refusal",
            "tool_calls",
            "function_call",
            "annotations",
        ]);
        let block = Block::new(scope, 0);
        let mut spoke = false;
        // The same reasoning may occur in several fields.
        let thought = piece(thinking).or_else(|| piece(reasoning));
        if let Some(text) = thought {
            spoke = true;
            out(Delta::Reasoning { block, text });
        } else {
            for detail in details.into_iter().flat_map(Node::items) {
                let [text, summary] = detail.pick(["text", "summary"]);
                if let Some(text) = piece(text).or_else(|| piece(summary)) {
                    spoke = true;
                    out(Delta::Reasoning { block, text });
                }
            }
        }
        if let Some(content) = content {
            spoke |= read_content(block, content, out);
        }
        if let Some(text) = piece(refusal) {
            spoke = true;
            out(Delta::Refusal { block, text });
        }
        for (position, entry) in calls.into_iter().flat_map(Node::items).enumerate() {
            spoke = true;
            let call = read_call(scope, position, entry);
            if call.name.is_none()
                && matches!(call.arguments, Arguments::Absent)
                && is_unread(entry)
            {
                out(Delta::Doubt(Doubt::LostEvent));
            }
            out(Delta::Call(call));
        }
        spoke |= legacy.is_some();
        // Some servers write a call in the old form and in the new one.
        let repeats = |legacy: &Node<'_>| {
            calls.into_iter().flat_map(Node::items).any(|entry| is_same(entry, *legacy))
        };
        if let Some(legacy) = legacy.filter(|legacy| !repeats(legacy)) {
            let [name, text] = legacy.pick(["name", "arguments"]);
            out(Delta::Call(CallDelta {
                scope,
                index: Some(LEGACY),
                exact: true,
                name: piece(name),
                arguments: arguments(text),
                ..CallDelta::default()
            }));
        }
        for note in notes.into_iter().flat_map(Node::items) {
            out(Delta::Citation { block, json: note.raw() });
        }
        if spoke {
            self.open.insert(scope);
        } else if hides_a_call(delta, &["tool_calls", "function_call"]) {
            out(Delta::Doubt(Doubt::LostEvent));
        }
    }
}

/// Reads content, which is a text or a list of parts. Returns whether there was any.
fn read_content(block: Block, content: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) -> bool {
    if let Some(text) = piece(Some(content)) {
        out(Delta::Text { block, text });
        return true;
    }
    let mut spoke = false;
    for part in content.items() {
        let [text, thinking] = part.pick(["text", "thinking"]);
        if let Some(thinking) = thinking {
            let pieces = thinking.items().map(|part| piece(part.field("text")));
            for text in pieces.chain([piece(Some(thinking))]).flatten() {
                spoke = true;
                out(Delta::Reasoning { block, text });
            }
        } else if let Some(text) = piece(text).or_else(|| piece(Some(part))) {
            spoke = true;
            out(Delta::Text { block, text });
        }
    }
    spoke
}

/// Whether an entry of `tool_calls` says what `function_call` says, by the byte.
fn is_same(entry: Node<'_>, legacy: Node<'_>) -> bool {
    let Some(function) = entry.field("function") else { return false };
    let both = ["name", "arguments"].map(|name| (function.field(name), legacy.field(name)));
    both.into_iter().all(|(one, other)| one.map(Node::raw) == other.map(Node::raw))
}

/// Whether an entry of a call has content, but nothing that is read: neither a name nor arguments.
fn is_unread(entry: Node<'_>) -> bool {
    let [function, custom] = entry.pick(["function", "custom"]);
    let body = custom.or(function);
    let read = ["name", "arguments", "input"];
    match body {
        Some(body) => !read.iter().any(|name| body.has(name)) && holds_more(body, &[]),
        None => !read.iter().any(|name| entry.has(name)) && hides_a_call(entry, &[]),
    }
}

fn read_call(scope: u32, position: usize, entry: Node<'_>) -> CallDelta<'_> {
    let [index, id, kind, function, custom] =
        entry.pick(["index", "id", "type", "function", "custom"]);
    let is_custom = custom.is_some() || kind.and_then(Node::text).as_deref() == Some("custom");
    // Some servers leave out the object around name and arguments.
    let body = custom.or(function).unwrap_or(entry);
    let [name, text, input] = body.pick(["name", "arguments", "input"]);
    CallDelta {
        scope,
        index: index.and_then(Node::integer).filter(|index| *index >= 0),
        exact: false,
        sibling: position > 0,
        typed: kind.is_some(),
        kind: is_custom.then_some(CallKind::Custom),
        // One provider's client library writes "null" for a missing id.
        id: piece(id).filter(|id| **id != *"null"),
        name: piece(name),
        arguments: arguments(text.or(input)),
        ..CallDelta::default()
    }
}

pub(super) fn read_usage(usage: Node<'_>) -> Usage {
    let [input, output, read, written] = usage.pick([
        "prompt_tokens",
        "completion_tokens",
        "prompt_tokens_details",
        "completion_tokens_details",
    ]);
    Usage {
        input: count(input),
        output: count(output),
        cached: count(read.and_then(|details| details.field("cached_tokens"))),
        reasoning: count(written.and_then(|details| details.field("reasoning_tokens"))),
    }
}
