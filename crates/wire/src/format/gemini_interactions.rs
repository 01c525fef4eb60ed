//! Google Gemini Interactions.
//!
//! The parts of a response are called steps. An earlier version of the service called them content.

use super::{
    ARGUMENTS, Arguments, CallDelta, CallEnds, Delta, Format, LIST, Members, NULL, NUMBER, OBJECT,
    OBJECTS, Piece, Place, TEXT, again, arguments, entries, final_arguments, finish,
    is_empty_object, is_misnamed, items::Announced, non_empty, ordinal, piece, said, unread, usage,
};
use crate::{Block, CallKind, Doubt, json::Node};

/// The type of the event, or a response that was not streamed.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    let [kind, object] = payload.pick(["event_type", "object"]);
    let kind = kind.and_then(Node::text).unwrap_or_default();
    let heads = ["step.", "content.", "interaction."];
    heads.iter().any(|head| kind.starts_with(head))
        || object.and_then(Node::text).is_some_and(|object| object == "interaction")
}

const START: Place<3> = Place::of([("index", NUMBER), ("step", OBJECT), ("content", OBJECT)])
    .needs(1)
    .needs_one_of(2)
    .beside(&ENVELOPE);

const DELTA: Place<2> =
    Place::of([("delta", OBJECT), ("index", NUMBER)]).needs(2).beside(&ENVELOPE);

const STOP: Place<1> = Place::of([("index", NUMBER)]).needs(1).beside(&ENVELOPE);

const EVENT: Place<4> = Place::of([
    ("interaction", OBJECT),
    ("status", TEXT),
    ("outputs", OBJECTS),
    ("steps", OBJECTS),
])
.needs_one_of(2)
.beside(&["event_id", "event_type", "id", "interaction_id", "object"]);

/// The whole response.
const INTERACTION: Place<4> =
    Place::of([("status", TEXT), ("outputs", OBJECTS), ("steps", OBJECTS), ("usage", OBJECT)]);

/// The same if it is all there is.
const ALL: Place<3> = Place::of([("outputs", OBJECTS), ("steps", OBJECTS), ("status", TEXT)])
    .needs_one_of(2)
    .beside(&[
        "agent",
        "created",
        "event_id",
        "event_type",
        "id",
        "interaction_id",
        "model",
        "object",
        "previous_interaction_id",
        "role",
        "service_tier",
        "updated",
        "usage",
    ]);

/// What every event has.
const ENVELOPE: [&str; 2] = ["event_id", "event_type"];

/// A step that is not a call, or a piece of one.
const STEP: Place<5> = Place::of([
    ("text", TEXT),
    ("content", OBJECTS),
    ("summary", OBJECTS),
    ("annotations", LIST),
    ("type", TEXT),
])
.needs_one_of(4)
.beside(&["signature"])
.of_type(&["model_output", "text", "thought", "thought_summary"]);

const TEXT_PART: Place<2> = Place::of([("text", TEXT), ("type", TEXT)])
    .needs(1)
    .beside(&["annotations"])
    .of_type(&["text"]);

/// A call, or a piece of one.
const CALL: Place<5> = Place::of([
    ("arguments", ARGUMENTS),
    ("partial_arguments", TEXT | NULL),
    ("name", TEXT),
    ("id", TEXT),
    ("type", TEXT),
])
.needs_one_of(2)
.beside(&["server_name", "signature"]);

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
        let kind = payload.field("event_type").and_then(Node::text).unwrap_or_default();
        if is_misnamed(event, &kind, &NAMES) {
            out(Delta::Damaged(Doubt::DamagedEvent));
        }
        match kind.as_ref() {
            "step.start" | "content.start" => {
                let [index, step, content] = START.read(payload, out);
                if let Some(step) = step.or(content) {
                    self.step(ordinal(index), step, false, out);
                }
            }
            "step.delta" | "content.delta" => {
                let [delta, index] = DELTA.read(payload, out);
                if let Some(delta) = delta {
                    self.step(ordinal(index), delta, true, out);
                }
            }
            "step.stop" | "content.stop" => {
                let [index] = STOP.read(payload, out);
                out(Delta::CallEnd { scope: 0, index: i64::from(ordinal(index)) });
            }
            kind if kind.is_empty() || kind.starts_with("interaction.") => {
                let [interaction, ..] = EVENT.read(payload, out);
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
        let kind = step.field("type").and_then(Node::text).unwrap_or_default();
        let block = Block::new(0, index);
        if kind.ends_with("_call") || kind == "arguments_delta" {
            self.call(index, &kind, step, delta, out);
            return;
        }
        let [text, content, summary, notes, _] = STEP.read(step, out);
        if delta && !OTHER_DELTAS.contains(&kind.as_ref()) {
            out(unread(0, i64::from(index)));
        }
        let thought = kind.starts_with("thought");
        let mut say = |text: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)| {
            let Some(text) = piece(text) else { return };
            self.spoke = true;
            match kind.as_ref() {
                // The result of a provider's tool is not text of the model.
                kind if kind.ends_with("_result") => {}
                _ if thought => out(Delta::Reasoning { block, text }),
                _ => out(Delta::Text { block, text }),
            }
        };
        for part in entries(content).chain(entries(summary)) {
            let [text, _] = TEXT_PART.read(part, out);
            say(text, out);
        }
        say(text, out);
        for note in notes.into_iter().flat_map(Node::items) {
            out(Delta::Citation { block, json: note.raw() });
        }
    }

    fn call(
        &mut self,
        index: u32,
        kind: &str,
        step: Node<'_>,
        delta: bool,
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        // The provider's own searches have no name, and do not count as calls.
        if !CALLS.contains(&kind) && kind != "arguments_delta" {
            return;
        }
        let [text, partial, name, id, _] = CALL.read(step, out);
        self.spoke = true;
        let id = piece(id);
        self.calls.add(index, id.as_deref());
        out(Delta::Call(CallDelta {
            index: Some(i64::from(index)),
            exact: true,
            kind: (kind == "mcp_server_tool_call").then_some(CallKind::Server),
            id,
            name: piece(name),
            empty: is_empty_object(text),
            arguments: match said([text, partial]) {
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
        let [text, _, name, id, kind] = CALL.read(step, out);
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
        let [status, outputs, steps, counts] = INTERACTION.read(interaction, out);
        usage(counts, USAGE).into_iter().for_each(&mut *out);
        let status_word = non_empty(status).unwrap_or_default();
        if status_word.is_empty() || status_word == "in_progress" {
            return;
        }
        self.ended = true;
        let again = self.spoke;
        if !again {
            ALL.read(interaction, out);
        }
        let whole = entries(outputs.or(steps));
        let calls = (0_u32..).zip(entries(outputs.or(steps))).filter(|(_, step)| is_call(*step));
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
