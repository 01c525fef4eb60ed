//! OpenAI Responses, and compatible servers.
//!
//! Which item an event means is decided in [`items`](super::items). Content is sent up to four times: in deltas,
//! at the end of a part, at the end of its item, and in the whole response at the end. It is emitted only once.

use std::collections::BTreeSet;

use super::{
    ARGUMENTS, Arguments, CallDelta, CallEnds, Delta, Format, Members, NULL, NUMBER, OBJECT,
    OBJECTS, Piece, Place, TEXT, again, arguments, count, entries,
    errors::read_inner_error,
    final_arguments, finish, is_misnamed,
    items::{Announced, ItemMatch, Items, Kind, MAX_ITEMS, Said, Step, index},
    kind_of, non_empty, ordinal, piece, said, unread,
};
use crate::{Block, CallKind, Doubt, Usage, json::Node};

/// Parts beyond this number count as emitted, so that their number is bounded.
const MAX_PARTS: usize = 0x1_0000;

/// The events that hold a part of a call.
const NAMES: [&str; 8] = [
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.mcp_call_arguments.delta",
    "response.mcp_call_arguments.done",
    "response.output_item.added",
    "response.output_item.done",
];

/// What events may have.
const ENVELOPE: [&str; 9] = [
    "content_index",
    "item_id",
    "logprobs",
    "obfuscation",
    "output_index",
    "response_id",
    "sequence_number",
    "summary_index",
    "type",
];

const ENDED: Place<1> = Place::of([("response", OBJECT)]).needs(1).beside(&ENVELOPE);

const ITEM_EVENT: Place<2> =
    Place::of([("item", OBJECT), ("output_index", NUMBER)]).needs(1).beside(&ENVELOPE);

/// A piece of a text or of arguments.
const PIECE: Place<2> =
    Place::of([("delta", TEXT | NULL), ("output_index", NUMBER)]).needs(2).beside(&ENVELOPE);

/// All of a text, or of arguments.
const WHOLE_PIECE: Place<7> = Place::of([
    ("output_index", NUMBER),
    ("text", TEXT),
    ("refusal", TEXT),
    ("transcript", TEXT),
    ("arguments", ARGUMENTS),
    ("input", TEXT | NULL),
    ("name", TEXT),
])
.needs(1)
.needs_one_of(5)
.beside(&ENVELOPE);

const PART_EVENT: Place<1> = Place::of([("part", OBJECT)]).needs(1).beside(&ENVELOPE);

const PART: Place<3> = Place::of([("text", TEXT), ("refusal", TEXT), ("type", TEXT)])
    .needs_one_of(2)
    .of_type(&["output_text", "reasoning_text", "refusal", "summary_text", "text"]);

/// An item of any type.
const ITEM: Place<8> = Place::of([
    ("arguments", ARGUMENTS),
    ("input", TEXT),
    ("content", OBJECTS),
    ("summary", OBJECTS),
    ("name", TEXT),
    ("call_id", TEXT),
    ("id", TEXT),
    ("type", TEXT),
])
.needs_one_of(4)
.beside(&["encrypted_content", "phase", "role", "status"])
.of_type(&["custom_tool_call", "function_call", "mcp_call", "message", "reasoning"]);

/// The whole response, with what it repeats of the request.
const RESPONSE: Place<5> = Place::of([
    ("output", OBJECTS),
    ("status", TEXT),
    ("incomplete_details", OBJECT),
    ("error", OBJECT | TEXT),
    ("usage", OBJECT),
])
.beside(&["instructions", "metadata", "prompt", "reasoning", "text", "tool_choice", "tools"]);

/// A type that belongs to this format, or a response that was not streamed.
pub(super) fn recognise(event: &str, payload: &Members<'_>) -> bool {
    let object = payload.field("object").and_then(Node::text);
    kind_of(event, payload.field("type")).starts_with("response.")
        || (object.as_deref() == Some("response") && payload.has("output"))
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct OpenAiResponses {
    items: Items,
    /// The parts with emitted text.
    emitted: BTreeSet<(u32, Channel, u32)>,
    calls: Announced,
    ended: bool,
    /// The number of the last event, if events are numbered.
    sequence: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Channel {
    Reasoning,
    Refusal,
    Summary,
    Text,
}

impl Format for OpenAiResponses {
    fn decode(&mut self, event: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let kind = kind_of(event, payload.field("type"));
        if is_misnamed(event, &kind, &NAMES) {
            out(Delta::Damaged(Doubt::DamagedEvent));
        }
        if self.misses_events(payload.field("sequence_number")) {
            out(Delta::Doubt(Doubt::LostEvent));
        }
        let Some(kind) = kind.strip_prefix("response.") else {
            if payload.has("output") {
                self.whole(payload, out);
            } else if kind.is_empty() && !payload.is_blank() {
                out(Delta::Damaged(Doubt::LostEvent));
            }
            return;
        };
        match kind {
            "completed" | "incomplete" | "failed" | "cancelled" => {
                let [response] = ENDED.read(payload, out);
                if let Some(response) = response {
                    self.whole(response, out);
                }
                self.ended = true;
            }
            "output_item.added" | "output_item.done" => {
                let [item, output] = ITEM_EVENT.read(payload, out);
                if let Some(item) = item {
                    self.whole_item(index(output), item, kind == "output_item.done", out);
                }
            }
            "output_text.annotation.added" => {
                let said = Said::of_part(Kind::Message, Step::Piece, payload);
                let block = self.block(said, payload, "content_index", out);
                if let Some(annotation) = payload.field("annotation") {
                    out(Delta::Citation { block, json: annotation.raw() });
                }
            }
            _ => self.part(kind, payload, out),
        }
    }

    fn call_ends(&self) -> CallEnds {
        CallEnds::Stated
    }

    fn names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn is_ended(&self) -> bool {
        self.ended
    }
}

impl OpenAiResponses {
    /// Whether events are missing before the event with that number.
    fn misses_events(&mut self, number: Option<Node<'_>>) -> bool {
        let Some(number) = number.and_then(Node::integer) else { return false };
        // A server that repeats an event, or gives every event the same number, skips nothing.
        let last = self.sequence.replace(number);
        last.is_some_and(|last| number > last.saturating_add(1))
    }

    /// Reads an item that begins or is done.
    fn whole_item(
        &mut self,
        index: Option<u32>,
        item: Node<'_>,
        done: bool,
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        let step = if done { Step::Done } else { Step::Piece };
        let said = Said::of_item(kind_of_item(item), step, index, item);
        let place = match done {
            true => self.place(said, out),
            false => Some(self.items.begin(said)),
        };
        if let Some(place) = place {
            self.item(place, item, done, out);
            self.items.end(place, step);
        }
    }

    /// The place of the item that an event means. `None` if it may be that of several calls: none of them is
    /// complete, and what the event holds is nobody's.
    fn place(&mut self, said: Said, out: &mut dyn FnMut(Delta<'_>)) -> Option<u32> {
        match self.items.find(said) {
            ItemMatch::None => Some(self.items.allot(said)),
            ItemMatch::One(place) => Some(place),
            ItemMatch::Any(places) if said.is_call() => {
                if !places.iter().any(|place| self.items.is_open(*place)) {
                    out(Delta::Doubt(Doubt::LostEvent));
                }
                places.into_iter().for_each(|place| out(unread(0, i64::from(place))));
                None
            }
            ItemMatch::Any(places) => places.first().copied(),
        }
    }

    fn block(
        &mut self,
        said: Said,
        payload: Node<'_>,
        part: &str,
        out: &mut dyn FnMut(Delta<'_>),
    ) -> Block {
        let place = self.place(said, out).unwrap_or_default();
        Block::new(0, place).with_part(ordinal(payload.field(part)))
    }

    /// Reads a piece of a part, or all of it.
    fn part(&mut self, kind: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let Some((part, step)) = kind.rsplit_once('.') else { return };
        if kind == "content_part.done" {
            let [part] = PART_EVENT.read(payload, out);
            let [text, ..] = part.map_or([None; 3], |part| PART.read(part, out));
            let said = Said::of_part(Kind::Message, Step::Whole, payload);
            let block = self.block(said, payload, "content_index", out);
            again(block, text, out);
            return;
        }
        let (done, step) = match step {
            "delta" => (false, Step::Piece),
            "done" => (true, Step::Whole),
            _ => return,
        };
        let (channel, number) = match part {
            "output_text" | "output_audio_transcript" => (Channel::Text, "content_index"),
            "refusal" => (Channel::Refusal, "content_index"),
            "reasoning_text" | "reasoning" => (Channel::Reasoning, "content_index"),
            "reasoning_summary_text" | "reasoning_summary" => (Channel::Summary, "summary_index"),
            "function_call_arguments" | "mcp_call_arguments" | "custom_tool_call_input" => {
                self.argument_part(part, step, payload, out);
                return;
            }
            _ => return,
        };
        let kind = match channel {
            Channel::Reasoning | Channel::Summary => Kind::Reasoning,
            Channel::Refusal | Channel::Text => Kind::Message,
        };
        let block = self.block(Said::of_part(kind, step, payload), payload, number, out);
        if done {
            let [_, text, refusal, transcript, ..] = WHOLE_PIECE.read(payload, out);
            self.emit_again(channel, block, text.or(refusal).or(transcript), out);
        } else {
            let [delta, _] = PIECE.read(payload, out);
            self.emit(channel, block, delta, out);
        }
    }

    fn argument_part(
        &mut self,
        part: &str,
        step: Step,
        payload: Node<'_>,
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        let done = step > Step::Piece;
        let (name, arguments) = if done {
            let [_, _, _, _, text, input, name] = WHOLE_PIECE.read(payload, out);
            (name, final_arguments(said([text, input])))
        } else {
            let [delta, _] = PIECE.read(payload, out);
            (None, arguments(delta))
        };
        let kind = match part {
            "custom_tool_call_input" => Some(CallKind::Custom),
            "mcp_call_arguments" => Some(CallKind::Server),
            _ => None,
        };
        let said = Said::of_part(Kind::Call, step, payload);
        let Some(place) = self.place(said, out) else { return };
        let added = done && self.items.is_added(place);
        self.calls.add(place, None);
        let index = i64::from(place);
        // If the text is missing here, the finished item still has it.
        let ends = done && !arguments.is_absent();
        out(Delta::Call(CallDelta {
            index: Some(index),
            exact: true,
            kind,
            // It must be the name of the item. Without an item, the finished item must still bring the id.
            name: piece(name).filter(|_| added),
            arguments,
            ..CallDelta::default()
        }));
        if ends {
            out(Delta::CallEnd { scope: 0, index });
            self.items.end(place, step);
        }
    }

    fn emit(
        &mut self,
        channel: Channel,
        block: Block,
        text: Option<Node<'_>>,
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        let Some(text) = piece(text) else { return };
        if self.emitted.len() < MAX_PARTS {
            self.emitted.insert((block.block, channel, block.part.min(MAX_ITEMS)));
        }
        out(match channel {
            Channel::Reasoning | Channel::Summary => Delta::Reasoning { block, text },
            Channel::Refusal => Delta::Refusal { block, text },
            Channel::Text => Delta::Text { block, text },
        });
    }

    /// Emits text that no delta has emitted, and otherwise reports its repetition.
    fn emit_again(
        &mut self,
        channel: Channel,
        block: Block,
        text: Option<Node<'_>>,
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        let emitted = self.emitted.contains(&(block.block, channel, block.part.min(MAX_ITEMS)));
        if !emitted && self.emitted.len() < MAX_PARTS {
            self.emit(channel, block, text, out);
        } else if channel == Channel::Text {
            again(block, text, out);
        }
    }

    fn item(&mut self, place: u32, item: Node<'_>, done: bool, out: &mut dyn FnMut(Delta<'_>)) {
        ITEM.read(item, out);
        if is_call(item) {
            let index = i64::from(place);
            let doubt = (done && is_incomplete(item)).then_some(Doubt::Incomplete);
            let call = call(item, done);
            self.calls.add(place, call.id.as_deref());
            let sibling = true;
            out(Delta::Call(CallDelta { index: Some(index), exact: true, sibling, doubt, ..call }));
            // An incomplete item ends with the response.
            if done && doubt.is_none() {
                out(Delta::CallEnd { scope: 0, index });
            }
        } else if done {
            // Until an item is done, its content arrives in deltas.
            self.message(place, item, out);
            if !is_incomplete(item) {
                out(Delta::TextEnd { choice: 0, block: place });
            }
        }
    }

    fn message(&mut self, place: u32, item: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [kind, content, summary] = item.pick(["type", "content", "summary"]);
        let channel = match kind.and_then(Node::text).as_deref() {
            Some("message") => Channel::Text,
            Some("reasoning") => Channel::Reasoning,
            // Work of the provider that takes no arguments.
            _ => return,
        };
        let item = Block::new(0, place);
        // Servers number the parts arbitrarily, so only the channel decides what was emitted.
        let channels = [Channel::Summary, channel, Channel::Refusal];
        let [no_summary, no_text, no_refusal] = channels.map(|channel| {
            let of_item = (place, channel, 0)..=(place, channel, MAX_ITEMS);
            self.emitted.len() < MAX_PARTS && self.emitted.range(of_item).next().is_none()
        });
        for (number, part) in (0_u32..).zip(entries(summary)) {
            let [text, ..] = PART.read(part, out);
            self.emit(Channel::Summary, item.with_part(number), text.filter(|_| no_summary), out);
        }
        for (number, part) in (0_u32..).zip(entries(content)) {
            let [text, refusal, _] = PART.read(part, out);
            let block = item.with_part(number);
            self.emit(channel, block, text.filter(|_| no_text), out);
            if channel == Channel::Text && !no_text {
                again(block, text, out);
            }
            self.emit(Channel::Refusal, block, refusal.filter(|_| no_refusal), out);
        }
    }

    /// Reads the whole response, at the end of a stream or instead of one.
    fn whole(&mut self, response: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [output, status, details, error, usage] = RESPONSE.read(response, out);
        let silent = self.emitted.is_empty();
        let called = !self.calls.is_empty();
        let calls = (0_u32..).zip(entries(output)).filter(|(_, item)| is_call(*item));
        let mut missing =
            self.calls.missing(calls.map(|(place, item)| (place, call(item, true).id)));
        for (number, item) in (0_u32..).zip(entries(output)) {
            let said = Said::of_item(kind_of_item(item), Step::Done, Some(number), item);
            match (is_call(item), called) {
                (true, true) if !missing.remove(&number) => {
                    out(Delta::Call(CallDelta { repeats: true, ..call(item, true) }));
                }
                // No event announced it. If its events follow after all, they belong to it.
                (true, _) => {
                    let place = self.items.begin_apart(said);
                    self.item(place, item, true, out);
                }
                (false, _) => {
                    let known = self.items.of_whole(said, number, !silent);
                    if silent {
                        let place = known.unwrap_or_else(|| self.items.allot(said));
                        self.item(place, item, true, out);
                        for part in item.field("content").into_iter().flat_map(Node::items) {
                            cite(place, part, out);
                        }
                    } else {
                        again_in(known.unwrap_or(number), item, out);
                    }
                }
            }
        }
        if let Some(error) = error.filter(|error| !error.is_blank()) {
            out(Delta::Fail(Box::new(read_inner_error(error))));
        }
        read_usage(usage, out);
        let reason = details.and_then(|details| details.field("reason"));
        let ended = non_empty(status)
            .is_some_and(|status| !matches!(status.as_ref(), "in_progress" | "queued"));
        if ended {
            self.ended = true;
            let reason = finish(0, reason).or_else(|| finish(0, status));
            reason.into_iter().for_each(out);
        }
    }
}

/// Reports the repetition of the texts of a streamed message.
fn again_in(place: u32, item: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
    if item.field("type").and_then(Node::text).as_deref() == Some("message") {
        for (number, part) in (0_u32..).zip(item.field("content").into_iter().flat_map(Node::items))
        {
            again(Block::new(0, place).with_part(number), part.field("text"), out);
        }
    }
}

/// Whether a finished item states that its end is missing.
fn is_incomplete(item: Node<'_>) -> bool {
    let status = item.field("status").and_then(Node::text);
    matches!(status.as_deref(), Some("incomplete" | "failed" | "cancelled"))
}

fn kind_of_item(item: Node<'_>) -> Kind {
    match item.field("type").and_then(Node::text).as_deref() {
        _ if is_call(item) => Kind::Call,
        Some("message") => Kind::Message,
        Some("reasoning") => Kind::Reasoning,
        _ => Kind::Other,
    }
}

/// Whether an item is a call with arguments, or with a text instead of them.
fn is_call(item: Node<'_>) -> bool {
    let kind = item.field("type").and_then(Node::text);
    matches!(kind.as_deref(), Some("function_call" | "mcp_call" | "custom_tool_call"))
}

/// Reads the call of an item.
fn call(item: Node<'_>, done: bool) -> CallDelta<'_> {
    let [kind, id, call_id, name] = item.pick(["type", "id", "call_id", "name"]);
    let [text, input] = ["arguments", "input"]
        .map(|key| item.fields().filter(|(own, _)| own == key).last().map(|(_, text)| text));
    let text = said([text, input]);
    let kind = match kind.and_then(Node::text).as_deref() {
        Some("custom_tool_call") => Some(CallKind::Custom),
        Some("mcp_call") => Some(CallKind::Server),
        _ => None,
    };
    CallDelta {
        kind,
        id: piece(call_id).or_else(|| piece(id)),
        name: piece(name),
        // An item starts with an empty text; a non-empty one may be all there is.
        arguments: match (done, text) {
            (true, text) => final_arguments(text),
            (false, Some(text)) if text.is_blank() => Arguments::Absent,
            (false, Some(text)) => Arguments::Seed(Piece::of_any(text)),
            (false, None) => Arguments::Absent,
        },
        ..CallDelta::default()
    }
}

fn cite(place: u32, part: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
    for annotation in part.field("annotations").into_iter().flat_map(Node::items) {
        out(Delta::Citation { block: Block::new(0, place), json: annotation.raw() });
    }
}

fn read_usage(usage: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
    let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
    let [input, output, read, written] = usage.pick([
        "input_tokens",
        "output_tokens",
        "input_tokens_details",
        "output_tokens_details",
    ]);
    out(Delta::Usage(Usage {
        input: count(input),
        output: count(output),
        cached: count(read.and_then(|details| details.field("cached_tokens"))),
        reasoning: count(written.and_then(|details| details.field("reasoning_tokens"))),
    }));
}
