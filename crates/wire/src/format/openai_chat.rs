//! OpenAI Chat Completions, and compatible servers.
//!
//! Every choice is a scope, and its text is one block. Variations in the fields of a delta (null, missing,
//! a list of parts instead of a text, an object instead of a text) are handled here. The router decides
//! which call a piece belongs to, because servers disagree about `index` and `id`.

use std::collections::BTreeSet;

use super::{
    ANY, ARGUMENTS, CallDelta, Delta, Format, LIST, MAX_CHOICE, Members, NUMBER, OBJECT, OBJECTS,
    Out, Place, TEXT, arguments, count, entries, errors::read_inner_error, is_of_a_call, non_empty,
    ordinal, piece, said,
};
use crate::{Block, CallKind, Doubt, FinishReason, Usage, json::Node};

const CHUNK: Place<4> =
    Place::of([("choices", OBJECTS), ("usage", OBJECT), ("x_groq", OBJECT), ("citations", LIST)])
        .needs(1)
        .beside(&[
            "created",
            "error",
            "id",
            "model",
            "obfuscation",
            "object",
            "p",
            "provider",
            "service_tier",
            "system_fingerprint",
            "timings",
            "tools",
            "type",
        ]);

const CHOICE: Place<7> = Place::of([
    ("index", NUMBER),
    ("delta", OBJECT),
    ("message", OBJECT),
    ("text", TEXT),
    ("finish_reason", TEXT),
    ("native_finish_reason", TEXT),
    ("error", ANY),
])
.needs(1)
.needs_one_of(3)
.beside(&[
    "content_filter_offsets",
    "content_filter_raw",
    "content_filter_result",
    "content_filter_results",
    "logprobs",
    "seed",
    "stop_reason",
    "token_ids",
    "usage",
]);

/// A delta, or a whole message.
const DELTA: Place<10> = Place::of([
    ("content", TEXT | LIST),
    ("reasoning_content", TEXT),
    ("reasoning", TEXT),
    ("reasoning_text", TEXT),
    ("thinking", TEXT),
    ("reasoning_details", OBJECTS),
    ("refusal", TEXT),
    ("tool_calls", OBJECTS),
    ("function_call", OBJECT),
    ("annotations", LIST),
])
.needs_one_of(10)
.beside(&[
    "audio",
    "context",
    "executed_tools",
    "images",
    "name",
    "obfuscation",
    "reasoning_opaque",
    "role",
]);

/// A whole message, which has content, if only null.
const MESSAGE: Place<10> = DELTA.needs(1).needs_one_of(0);

/// A part of the content.
const PART: Place<3> = Place::of([("text", TEXT), ("thinking", TEXT | LIST), ("type", TEXT)])
    .needs_one_of(2)
    .of_type(&["text", "thinking"]);

/// A piece of a call. Some servers leave out the object around name and arguments.
const ENTRY: Place<8> = Place::of([
    ("id", TEXT),
    ("function", OBJECT),
    ("custom", OBJECT),
    ("arguments", ARGUMENTS),
    ("input", ARGUMENTS),
    ("index", NUMBER),
    ("type", TEXT),
    ("name", TEXT),
])
.needs(1)
.needs_one_of(4)
.beside(&["extra_content"]);

const FUNCTION: Place<3> =
    Place::of([("arguments", ARGUMENTS), ("input", ARGUMENTS), ("name", TEXT)]).needs_one_of(2);

/// The key of the only call in the old `function_call` field.
pub(crate) const LEGACY: i64 = i64::MIN;

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
        let [choices, usage, groq, sources] = CHUNK.read(payload, out);
        for choice in entries(choices) {
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
        let [index, delta, message, text, finish, native, error] = CHOICE.read(choice, out);
        let scope = ordinal(index).min(MAX_CHOICE);
        // A server that does not stream, or was not asked to, sends the whole message instead. If it sends both,
        // they say the same.
        if let (Some(delta), Some(message)) = (delta, message)
            && is_of_a_call("", message)
            && !is_of_a_call("", delta)
        {
            out(Delta::Damaged(Doubt::LostEvent));
        }
        // What belongs into the delta may be beside it.
        if delta.is_some_and(Node::is_blank) && DELTA.is_in(choice) {
            out(Delta::Damaged(Doubt::LostEvent));
        }
        if let Some(delta) = delta {
            self.delta(scope, DELTA.read(delta, out), out);
        } else if let Some(message) = message {
            self.delta(scope, MESSAGE.read(message, out), out);
        } else if let Some(text) = piece(text) {
            // A completions stream whose first chunks did not show that it is one.
            self.open.insert(scope);
            out(Delta::Text { block: Block::new(scope, 0), text });
        }
        if let Some(error) = error.filter(|error| !error.is_blank()) {
            out(Delta::Fail(Box::new(read_inner_error(error))));
        }
        // An empty reason ends nothing.
        if let Some(original) = non_empty(finish) {
            let reason = FinishReason::from_provider(&original);
            // A router translates the finish reason of the model's server, and may lose information.
            let native = non_empty(native).filter(|_| reason.is_clean());
            let native = native.map(|word| (FinishReason::from_provider(&word), word));
            let native =
                native.filter(|(reason, _)| *reason != FinishReason::Other && !reason.is_clean());
            // The word of the router does not say what failed.
            let (reason, original) = match native {
                Some((FinishReason::Error, word)) => (FinishReason::Error, word),
                Some((native, _)) => (native, original),
                None => (reason, original),
            };
            self.open.remove(&scope);
            self.finished = true;
            out(Delta::Finish { scope, reason, original });
        }
    }

    fn delta(
        &mut self,
        scope: u32,
        [content, reasoning @ .., details, refusal, calls, legacy, notes]: [Option<Node<'_>>; 10],
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        let block = Block::new(scope, 0);
        let mut spoke = false;
        // The same reasoning may occur in several fields.
        if let Some(text) = reasoning.into_iter().find_map(piece) {
            spoke = true;
            out(Delta::Reasoning { block, text });
        } else {
            for detail in entries(details) {
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
        for (position, entry) in entries(calls).enumerate() {
            spoke = true;
            let call = read_call(scope, position, entry, out);
            out(Delta::Call(call));
        }
        spoke |= legacy.is_some();
        // Some servers write a call in the old form and in the new one.
        let repeats = |legacy: &Node<'_>| entries(calls).any(|entry| is_same(entry, *legacy));
        if let Some(legacy) = legacy.filter(|legacy| !repeats(legacy)) {
            let [text, input, name] = FUNCTION.read(legacy, out);
            out(Delta::Call(CallDelta {
                scope,
                index: Some(LEGACY),
                exact: true,
                name: piece(name),
                arguments: arguments(said([text, input])),
                ..CallDelta::default()
            }));
        }
        for note in notes.into_iter().flat_map(Node::items) {
            out(Delta::Citation { block, json: note.raw() });
        }
        if spoke {
            self.open.insert(scope);
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
        if let Some(text) = piece(Some(part)) {
            spoke = true;
            out(Delta::Text { block, text });
            continue;
        }
        let [text, thinking, _] = PART.read(part, out);
        if let Some(thinking) = thinking {
            let pieces = thinking.items().map(|part| piece(part.field("text")));
            for text in pieces.chain([piece(Some(thinking))]).flatten() {
                spoke = true;
                out(Delta::Reasoning { block, text });
            }
        } else if let Some(text) = piece(text) {
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

fn read_call<'a>(scope: u32, position: usize, entry: Node<'a>, out: Out<'_>) -> CallDelta<'a> {
    let [id, function, custom, text, input, index, kind, name] = ENTRY.read(entry, out);
    let is_custom = custom.is_some() || kind.and_then(Node::text).as_deref() == Some("custom");
    let [inner @ .., inner_name] =
        custom.or(function).map_or([None; 3], |body| FUNCTION.read(body, out));
    let text = said(inner.into_iter().chain([text, input]));
    let name = inner_name.or(name);
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
        arguments: arguments(text),
        entry: Some(entry.span()),
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
