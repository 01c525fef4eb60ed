//! OpenAI Assistants: the events of a run.

use std::borrow::Cow;

use super::{
    ARGUMENTS, CallDelta, CallEnds, Delta, Format, LIST, Members, NUMBER, OBJECT, OBJECTS, Place,
    TEXT, again, arguments, entries, errors::read_inner_error, final_arguments, finish, non_empty,
    ordinal, piece, usage,
};
use crate::{Block, Doubt, json::Node};

const DELTA: Place<1> = Place::of([("delta", OBJECT)]).needs(1).beside(&["id", "object"]);

/// A piece of a message, or all of it.
const MESSAGE: Place<1> = Place::of([("content", OBJECTS)]).needs(1).beside(&["role"]);

/// A part. Files are not read.
const PART: Place<4> =
    Place::of([("text", OBJECT), ("refusal", TEXT), ("index", NUMBER), ("type", TEXT)])
        .needs_one_of(2)
        .beside(&["image_file", "image_url"]);

const PART_TEXT: Place<2> = Place::of([("value", TEXT), ("annotations", LIST)]).needs_one_of(2);

const STEP: Place<1> = Place::of([("step_details", OBJECT)]).needs(1);

const DETAILS: Place<1> =
    Place::of([("tool_calls", OBJECTS)]).needs(1).beside(&["message_creation", "type"]);

/// A call. The code interpreter and the search run at the provider and take no arguments.
const ENTRY: Place<4> =
    Place::of([("function", OBJECT), ("id", TEXT), ("index", NUMBER), ("type", TEXT)])
        .needs(2)
        .beside(&["code_interpreter", "file_search"]);

const FUNCTION: Place<2> =
    Place::of([("arguments", ARGUMENTS), ("name", TEXT)]).needs(1).beside(&["output"]);

const ACTION: Place<1> = Place::of([("submit_tool_outputs", OBJECT)]).needs(1).beside(&["type"]);

const WANTED: Place<1> = Place::of([("tool_calls", OBJECTS)]).needs(1);

const RUN: Place<5> = Place::of([
    ("status", TEXT),
    ("required_action", OBJECT),
    ("incomplete_details", OBJECT),
    ("last_error", OBJECT),
    ("usage", OBJECT),
])
.needs(1)
.beside(&["tool_choice", "tools"]);

/// The name of the event, or the object type of the payload.
pub(super) fn recognise(event: &str, payload: &Members<'_>) -> bool {
    event.starts_with("thread.") || object(payload.field("object")).starts_with("thread.")
}

fn object(stated: Option<Node<'_>>) -> Cow<'_, str> {
    stated.and_then(Node::text).unwrap_or_default()
}

/// The events that hold a part of a call.
const NAMES: [&str; 2] = ["thread.run.requires_action", "thread.run.step.delta"];

/// Whether the name of an event contradicts the object in it. The name is the object and what happened to it,
/// unless the object is itself a change.
fn is_misnamed(event: &str, object: &str) -> bool {
    let is_change = |name: &str| name.ends_with(".delta");
    NAMES.iter().any(|name| event.contains(name))
        && !(event.starts_with(object) && is_change(event) == is_change(object))
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct OpenAiAssistants {
    /// Messages and steps, in the order in which they began.
    message: u32,
    step: u32,
    /// There was content in the open message.
    spoke: bool,
    ended: bool,
}

impl Format for OpenAiAssistants {
    fn decode(&mut self, event: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let object = object(payload.field("object"));
        if is_misnamed(event, &object) {
            out(Delta::Damaged(Doubt::DamagedEvent));
        }
        match object.as_ref() {
            "thread.message.delta" => {
                let [delta] = DELTA.read(payload, out);
                let [content] = delta.map_or([None], |delta| MESSAGE.read(delta, out));
                self.message(content, out);
            }
            "thread.message" if event.is_empty() || event.ends_with(".completed") => {
                // The message is repeated once it is complete.
                if self.spoke {
                    self.again(payload.field("content"), out);
                } else {
                    let [content] = MESSAGE.read(payload, out);
                    self.message(content, out);
                }
                out(Delta::TextEnd { choice: 0, block: self.message });
                self.spoke = false;
                self.message = self.message.saturating_add(1);
            }
            "thread.run.step.delta" => {
                let [delta] = DELTA.read(payload, out);
                let [details] = delta.map_or([None], |delta| STEP.read(delta, out));
                let [calls] = details.map_or([None], |details| DETAILS.read(details, out));
                for (place, entry) in (0_i64..).zip(entries(calls)) {
                    self.call(place, entry, out);
                }
            }
            "thread.run.step" if event.ends_with(".completed") => {
                self.step = self.step.saturating_add(1);
            }
            "thread.run" => self.run(payload, out),
            "" if !payload.is_blank() => out(Delta::Damaged(Doubt::LostEvent)),
            _ => {}
        }
    }

    fn sentinel(&mut self) {
        self.ended = true;
    }

    fn names(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn call_ends(&self) -> CallEnds {
        CallEnds::Repeated
    }

    fn is_ended(&self) -> bool {
        self.ended
    }
}

impl OpenAiAssistants {
    fn message(&mut self, content: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
        for (place, part) in (0_u32..).zip(entries(content)) {
            let [text, refusal, index, _] = PART.read(part, out);
            let number = index.map_or(place, |index| ordinal(Some(index)));
            let block = Block::new(0, self.message).with_part(number);
            let [value, annotations] = text.map_or([None; 2], |text| PART_TEXT.read(text, out));
            if let Some(text) = piece(value) {
                self.spoke = true;
                out(Delta::Text { block, text });
            }
            if let Some(text) = piece(refusal) {
                self.spoke = true;
                out(Delta::Refusal { block, text });
            }
            for annotation in annotations.into_iter().flat_map(Node::items) {
                out(Delta::Citation { block, json: annotation.raw() });
            }
        }
    }

    /// Reports the repetition of the texts of the message.
    fn again(&self, content: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
        for (place, part) in (0_u32..).zip(content.into_iter().flat_map(Node::items)) {
            let block = Block::new(0, self.message).with_part(place);
            again(block, part.field("text").and_then(|text| text.field("value")), out);
        }
    }

    fn call(&mut self, place: i64, entry: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [function, id, index, _] = ENTRY.read(entry, out);
        let Some(function) = function else { return };
        let [text, name] = FUNCTION.read(function, out);
        let index = index.and_then(Node::integer).unwrap_or(place);
        out(Delta::Call(CallDelta {
            // Every step counts from 0.
            index: Some((i64::from(self.step) << 32).saturating_add(index & 0xffff_ffff)),
            id: piece(id),
            name: piece(name),
            arguments: arguments(text),
            ..CallDelta::default()
        }));
    }

    fn run(&mut self, run: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [status, action, details, error, counts] = RUN.read(run, out);
        let known = ["queued", "in_progress", "cancelling"];
        if non_empty(status).is_none_or(|status| known.contains(&status.as_ref())) {
            return;
        }
        // The requested calls are repeated as a whole.
        let [wanted] = action.map_or([None], |action| ACTION.read(action, out));
        let [calls] = wanted.map_or([None], |wanted| WANTED.read(wanted, out));
        let mut repeated = false;
        for entry in entries(calls) {
            let [function, id, _, _] = ENTRY.read(entry, out);
            let Some(function) = function else { continue };
            repeated = true;
            let [text, name] = FUNCTION.read(function, out);
            out(Delta::Call(CallDelta {
                id: piece(id),
                name: piece(name),
                arguments: final_arguments(text),
                ..CallDelta::default()
            }));
        }
        if repeated {
            out(Delta::CallsRepeated { scope: 0 });
        }
        if let Some(error) = error.filter(|error| !error.is_blank()) {
            out(Delta::Fail(Box::new(read_inner_error(error))));
        }
        let counts = usage(counts, ["prompt_tokens", "completion_tokens"]);
        counts.into_iter().for_each(&mut *out);
        self.ended = true;
        let reason = details.and_then(|details| details.field("reason"));
        finish(0, reason).or_else(|| finish(0, status)).into_iter().for_each(out);
    }
}
