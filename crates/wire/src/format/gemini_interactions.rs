//! Google Gemini Interactions.
//!
//! The parts of a response are called steps. An earlier version of the service called them content.

use super::{
    Arguments, CallDelta, CallEnds, Delta, Format, Members, Piece, again, announced::Announced,
    arguments, final_arguments, finish, is_misnamed, non_empty, ordinal, piece, unread, usage,
};
use crate::{Block, CallKind, json::Node};

/// The type of the event, or a response that was not streamed.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    let [kind, object] = payload.pick(["event_type", "object"]);
    let kind = kind.and_then(Node::text).unwrap_or_default();
    let heads = ["step.", "content.", "interaction."];
    heads.iter().any(|head| kind.starts_with(head))
        || object.and_then(Node::text).is_some_and(|object| object == "interaction")
}

/// The events that hold a part of a call.
const NAMES: [&str; 3] = ["step.delta", "step.start", "step.stop"];

/// The names of the token counts.
const USAGE: [&str; 4] =
    ["total_input_tokens", "total_output_tokens", "total_cached_tokens", "total_thought_tokens"];

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct GeminiInteractions {
    spoke: bool,
    calls: Announced,
    ended: bool,
}

/// The types of the steps that are calls.
const CALLS: [&str; 2] = ["function_call", "mcp_server_tool_call"];

/// The types of the deltas that are not pieces of a call.
const OTHER_DELTAS: [&str; 6] =
    ["text", "text_annotation", "thought", "thought_signature", "thought_summary", "signature"];

impl Format for GeminiInteractions {
    fn decode(&mut self, event: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [kind, index, step, content, delta, interaction] =
            payload.pick(["event_type", "index", "step", "content", "delta", "interaction"]);
        let index = ordinal(index);
        let kind = kind.and_then(Node::text).unwrap_or_default();
        if is_misnamed(event, &kind, &NAMES) {
            out(Delta::Damaged);
        }
        match kind.as_ref() {
            "step.start" | "content.start" => {
                if let Some(step) = step.or(content) {
                    self.step(index, step, false, out);
                }
            }
            "step.delta" | "content.delta" => {
                if let Some(delta) = delta {
                    self.step(index, delta, true, out);
                }
            }
            "step.stop" | "content.stop" => {
                out(Delta::CallEnd { scope: 0, index: i64::from(index) });
            }
            kind if kind.is_empty() || kind.starts_with("interaction.") => {
                self.interaction(interaction.unwrap_or(payload), out);
            }
            _ => {}
        }
    }

    fn names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn call_ends(&self) -> CallEnds {
        CallEnds::Stated
    }

    fn is_ended(&self) -> bool {
        self.ended
    }
}

impl GeminiInteractions {
    /// Reads the start of a step, a piece of it, or all of it.
    fn step(&mut self, index: u32, step: Node<'_>, delta: bool, out: &mut dyn FnMut(Delta<'_>)) {
        let [kind, text, content, summary, name] =
            step.pick(["type", "text", "content", "summary", "name"]);
        let kind = kind.and_then(Node::text).unwrap_or_default();
        let block = Block::new(0, index);
        if kind.ends_with("_call") || kind == "arguments_delta" {
            self.call(index, &kind, name, step, delta, out);
            return;
        }
        if delta && !OTHER_DELTAS.contains(&kind.as_ref()) {
            out(unread(0, i64::from(index)));
        }
        let thought = kind.starts_with("thought");
        let listed = [content, summary].into_iter().flatten();
        let inner = listed.flat_map(|node| node.items().chain(node.is_object().then_some(node)));
        let texts = inner.map(|part| part.field("text")).chain([text]);
        for text in texts.filter_map(piece) {
            self.spoke = true;
            match kind.as_ref() {
                // The result of a provider's tool is not text of the model.
                kind if kind.ends_with("_result") => {}
                _ if thought => out(Delta::Reasoning { block, text }),
                _ => out(Delta::Text { block, text }),
            }
        }
        for note in step.field("annotations").into_iter().flat_map(Node::items) {
            out(Delta::Citation { block, json: note.raw() });
        }
    }

    fn call(
        &mut self,
        index: u32,
        kind: &str,
        name: Option<Node<'_>>,
        step: Node<'_>,
        delta: bool,
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        // The provider's own searches have no name, and do not count as calls.
        if !CALLS.contains(&kind) && kind != "arguments_delta" {
            return;
        }
        let [id, text, partial] = step.pick(["id", "arguments", "partial_arguments"]);
        self.spoke = true;
        let id = piece(id);
        self.calls.add(index, id.as_deref());
        out(Delta::Call(CallDelta {
            index: Some(i64::from(index)),
            exact: true,
            kind: (kind == "mcp_server_tool_call").then_some(CallKind::Server),
            id,
            name: piece(name),
            arguments: match text.or(partial) {
                // A step starts with an empty object; a non-empty one may be all there is.
                Some(text) if !delta && text.is_blank() => Arguments::Absent,
                Some(text) if !delta && !text.is_string() => Arguments::Seed(Piece::of_any(text)),
                text => arguments(text),
            },
            ..CallDelta::default()
        }));
    }

    /// Reads a call of the whole response, which repeats the streamed ones.
    fn call_again(
        &self,
        place: u32,
        step: Node<'_>,
        is_missing: bool,
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        let [kind, id, name, text] = step.pick(["type", "id", "name", "arguments"]);
        let server = kind.and_then(Node::text).is_some_and(|kind| kind != "function_call");
        // A call that no event announced takes a place that no other call has.
        let apart = i64::from(is_missing && self.calls.has(place)) << 32;
        let index = i64::from(place) | apart;
        out(Delta::Call(CallDelta {
            index: Some(index),
            exact: true,
            repeats: !is_missing,
            kind: server.then_some(CallKind::Server),
            id: piece(id),
            name: piece(name),
            arguments: match text {
                Some(text) if text.is_blank() => Arguments::Absent,
                text => final_arguments(text),
            },
            ..CallDelta::default()
        }));
        if is_missing {
            out(Delta::CallEnd { scope: 0, index });
        }
    }

    /// Reads the state of the whole response.
    fn interaction(&mut self, interaction: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [status, counts, outputs, steps] =
            interaction.pick(["status", "usage", "outputs", "steps"]);
        usage(counts, USAGE).into_iter().for_each(&mut *out);
        let status_word = non_empty(status).unwrap_or_default();
        if status_word.is_empty() || status_word == "in_progress" {
            return;
        }
        self.ended = true;
        let again = self.spoke;
        let whole = outputs.or(steps).into_iter().flat_map(Node::items);
        let calls = outputs.or(steps).into_iter().flat_map(Node::items);
        let calls = (0_u32..).zip(calls).filter(|(_, step)| is_call(*step));
        let missing = self
            .calls
            .missing(calls.map(|(place, step)| (place, step.field("id").and_then(Node::text))));
        for (index, step) in (0_u32..).zip(whole) {
            if again && is_call(step) {
                self.call_again(index, step, missing.contains(&index), out);
            } else if again {
                repeat(index, step, out);
            } else {
                self.step(index, step, false, out);
                out(Delta::CallEnd { scope: 0, index: i64::from(index) });
            }
        }
        finish(0, status).into_iter().for_each(out);
    }
}

/// Whether a step is a call.
fn is_call(step: Node<'_>) -> bool {
    step.field("type").and_then(Node::text).is_some_and(|kind| CALLS.contains(&kind.as_ref()))
}

/// Reads what was streamed and is repeated at the end.
fn repeat(index: u32, step: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
    let [text, content] = step.pick(["text", "content"]);
    let listed = content.into_iter().flat_map(Node::items).map(|part| part.field("text"));
    for text in listed.chain([text]) {
        again(Block::new(0, index), text, out);
    }
}
