//! OpenAI Responses, and compatible servers.
//!
//! The key of an item is its place in the output, never its id, which some servers make up for every
//! event. Content is sent up to four times: in deltas, at the end of a part, at the end of its item, and
//! in the whole response at the end. It is emitted only once.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    Arguments, CallDelta, CallEnds, Delta, Format, Members, Piece, again, announced::Announced,
    arguments, count, errors::read_inner_error, final_arguments, finish, is_misnamed, kind_of,
    non_empty, ordinal, piece,
};
use crate::{Block, CallKind, Doubt, Usage, json::Node};

/// Items beyond this number are read as one, so that their number is bounded.
const MAX_ITEMS: u32 = 0x4000;

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

/// A type that belongs to this format, or a response that was not streamed.
pub(super) fn recognise(event: &str, payload: &Members<'_>) -> bool {
    let object = payload.field("object").and_then(Node::text);
    kind_of(event, payload.field("type")).starts_with("response.")
        || (object.as_deref() == Some("response") && payload.has("output"))
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct OpenAiResponses {
    /// By their index in the output. Some servers give every item the same index.
    items: BTreeMap<u32, Item>,
    /// How many items have begun.
    begun: u32,
    /// The parts with emitted text.
    emitted: BTreeSet<(u32, Channel, u32)>,
    calls: Announced,
    ended: bool,
    /// The number of the last event, if events are numbered.
    sequence: Option<i64>,
}

#[derive(Clone, Debug)]
struct Item {
    /// Its number in the order in which the items began.
    place: u32,
    /// The stream stated its beginning.
    added: bool,
    /// The id of its call.
    id: Option<String>,
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
            out(Delta::Damaged);
        }
        if self.misses_events(payload.field("sequence_number")) {
            out(Delta::Doubt(Doubt::LostEvent));
        }
        let Some(kind) = kind.strip_prefix("response.") else {
            if payload.has("output") {
                self.whole(payload, out);
            }
            return;
        };
        match kind {
            "completed" | "incomplete" | "failed" | "cancelled" => {
                if let Some(response) = payload.field("response") {
                    self.whole(response, out);
                }
                self.ended = true;
            }
            "output_item.added" | "output_item.done" => {
                let [output, item] = payload.pick(["output_index", "item"]);
                let done = kind == "output_item.done";
                if let Some(item) = item {
                    let place = if done { self.place(output) } else { self.begin(output, item) };
                    self.item(place, item, done, out);
                }
            }
            "output_text.annotation.added" => {
                let block = self.block(payload, "content_index");
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

    /// An item begins at that index of the output.
    fn begin(&mut self, output: Option<Node<'_>>, item: Node<'_>) -> u32 {
        let index = ordinal(output).min(MAX_ITEMS);
        // An item that is announced once more is the same.
        let id = item.field("call_id").and_then(Node::text).map(Cow::into_owned);
        let known = self.items.get(&index);
        let again = known.is_some_and(|known| id.is_some() && known.id == id);
        if !again && known.is_none_or(|known| known.added) {
            self.allot(index);
        }
        if let Some(item) = self.items.get_mut(&index) {
            item.added = true;
            item.id = id;
        }
        self.place(output)
    }

    fn allot(&mut self, index: u32) -> u32 {
        let place = self.begun;
        self.begun = (self.begun + 1).min(MAX_ITEMS);
        self.items.insert(index, Item { place, added: false, id: None });
        place
    }

    /// The place of the item at that index of the output.
    fn place(&mut self, output: Option<Node<'_>>) -> u32 {
        let index = ordinal(output).min(MAX_ITEMS);
        match self.items.get(&index) {
            Some(item) => item.place,
            None => self.allot(index),
        }
    }

    /// The place of the item at that index of the whole output.
    fn placed(&self, index: u32) -> u32 {
        self.items.get(&index.min(MAX_ITEMS)).map_or(index, |item| item.place)
    }

    fn block(&mut self, payload: Node<'_>, part: &str) -> Block {
        let [output, part] = payload.pick(["output_index", part]);
        Block::new(0, self.place(output)).with_part(ordinal(part))
    }

    /// Reads a piece of a part, or all of it.
    fn part(&mut self, kind: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let Some((part, step)) = kind.rsplit_once('.') else { return };
        if kind == "content_part.done" {
            let text = payload.field("part").and_then(|part| part.field("text"));
            let block = self.block(payload, "content_index");
            again(block, text, out);
            return;
        }
        let done = match step {
            "delta" => false,
            "done" => true,
            _ => return,
        };
        let (channel, number) = match part {
            "output_text" | "output_audio_transcript" => (Channel::Text, "content_index"),
            "refusal" => (Channel::Refusal, "content_index"),
            "reasoning_text" | "reasoning" => (Channel::Reasoning, "content_index"),
            "reasoning_summary_text" | "reasoning_summary" => (Channel::Summary, "summary_index"),
            "function_call_arguments" | "mcp_call_arguments" | "custom_tool_call_input" => {
                self.argument_part(part, done, payload, out);
                return;
            }
            _ => return,
        };
        let block = self.block(payload, number);
        let [delta, text, refusal, transcript] =
            payload.pick(["delta", "text", "refusal", "transcript"]);
        if done {
            self.emit_again(channel, block, text.or(refusal).or(transcript), out);
        } else {
            self.emit(channel, block, delta, out);
        }
    }

    fn argument_part(
        &mut self,
        part: &str,
        done: bool,
        payload: Node<'_>,
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        let [output, delta, text, input, name] =
            payload.pick(["output_index", "delta", "arguments", "input", "name"]);
        let kind = match part {
            "custom_tool_call_input" => Some(CallKind::Custom),
            "mcp_call_arguments" => Some(CallKind::Server),
            _ => None,
        };
        let known = self.items.get(&ordinal(output).min(MAX_ITEMS)).filter(|_| done);
        let added = known.is_some_and(|item| item.added);
        let place = self.place(output);
        self.calls.add(place, None);
        let index = i64::from(place);
        let arguments = if done { final_arguments(text.or(input)) } else { arguments(delta) };
        // If the text is missing here, the finished item still has it.
        let ends = done && !matches!(arguments, Arguments::Absent);
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
        if is_call(item) {
            let index = i64::from(place);
            let doubt = (done && is_incomplete(item)).then_some(Doubt::Incomplete);
            let call = call(item, done);
            self.calls.add(place, call.id.as_deref());
            out(Delta::Call(CallDelta { index: Some(index), exact: true, doubt, ..call }));
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
        for (number, part) in (0_u32..).zip(summary.into_iter().flat_map(Node::items)) {
            let text = part.field("text").filter(|_| no_summary);
            self.emit(Channel::Summary, item.with_part(number), text, out);
        }
        for (number, part) in (0_u32..).zip(content.into_iter().flat_map(Node::items)) {
            let [text, refusal] = part.pick(["text", "refusal"]);
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
        let [output, status, details, error, usage] =
            response.pick(["output", "status", "incomplete_details", "error", "usage"]);
        let silent = self.emitted.is_empty();
        let called = !self.calls.is_empty();
        let calls = (0_u32..)
            .zip(output.into_iter().flat_map(Node::items))
            .filter(|(_, item)| is_call(*item));
        let mut missing =
            self.calls.missing(calls.map(|(place, item)| (place, call(item, true).id)));
        for (place, item) in (0_u32..).zip(output.into_iter().flat_map(Node::items)) {
            match (is_call(item), called) {
                (true, true) if missing.remove(&place) => {
                    // No event announced it. It takes a place that no other item can have. If its events follow
                    // after all, they belong to it.
                    let own = self.allot(MAX_ITEMS + 1);
                    let id = call(item, true).id.map(|id| id.to_string());
                    let known = Item { place: own, added: true, id };
                    self.items.entry(place.min(MAX_ITEMS)).or_insert(known);
                    self.item(own, item, true, out);
                }
                (true, true) => {
                    out(Delta::Call(CallDelta { repeats: true, ..call(item, true) }));
                }
                (true, false) => self.item(place.min(MAX_ITEMS), item, true, out),
                (false, _) if silent => {
                    self.item(place.min(MAX_ITEMS), item, true, out);
                    for part in item.field("content").into_iter().flat_map(Node::items) {
                        cite(place, part, out);
                    }
                }
                (false, _) => again_in(self.placed(place), item, out),
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

/// Whether an item is a call with arguments, or with a text instead of them.
fn is_call(item: Node<'_>) -> bool {
    let kind = item.field("type").and_then(Node::text);
    matches!(kind.as_deref(), Some("function_call" | "mcp_call" | "custom_tool_call"))
}

/// Reads the call of an item.
fn call(item: Node<'_>, done: bool) -> CallDelta<'_> {
    let [kind, id, call_id, name, text, input] =
        item.pick(["type", "id", "call_id", "name", "arguments", "input"]);
    let text = text.or(input);
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
