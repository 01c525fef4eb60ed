//! Cohere Chat, version 1.

use super::{
    ARGUMENTS, CallDelta, CallEnds, Delta, Format, LIST, Members, NUMBER, OBJECT, OBJECTS, Place,
    TEXT, again, arguments, cohere_v2::read_usage, entries, final_arguments, finish,
    items::Announced, piece,
};
use crate::{Block, Doubt, json::Node};

const TEXT_EVENT: Place<1> = Place::of([("text", TEXT)]).needs(1).beside(&ENVELOPE);

const CALLS_CHUNK: Place<2> =
    Place::of([("tool_call_delta", OBJECT), ("text", TEXT)]).needs_one_of(2).beside(&ENVELOPE);

const CALLS_EVENT: Place<1> = Place::of([("tool_calls", OBJECTS)]).needs(1).beside(&ENVELOPE);

const END: Place<2> =
    Place::of([("response", OBJECT), ("finish_reason", TEXT)]).needs(1).beside(&ENVELOPE);

/// What every event has.
const ENVELOPE: [&str; 3] = ["event_type", "is_finished", "response_id"];

/// A piece of a call, or a whole one.
const CALL: Place<3> = Place::of([("parameters", ARGUMENTS), ("name", TEXT), ("index", NUMBER)])
    .needs(1)
    .beside(&["generation_id"]);

/// The whole response.
const RESPONSE: Place<6> = Place::of([
    ("generation_id", TEXT),
    ("text", TEXT),
    ("tool_calls", OBJECTS),
    ("citations", LIST),
    ("finish_reason", TEXT),
    ("meta", OBJECT),
])
.needs(2)
.beside(&["chat_history"]);

/// An event with its type, or a response that was not streamed.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    let streamed = payload.has("event_type") && payload.has("is_finished");
    let whole = payload.has("generation_id") && payload.has("text");
    streamed || whole
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct CohereV1 {
    /// The calls so far. A list that follows repeats them.
    calls: Announced,
    /// Some piece of a call had no index, so the list cannot be compared with them.
    unnumbered: bool,
    spoke: bool,
    ended: bool,
}

impl Format for CohereV1 {
    fn decode(&mut self, _: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let kind = payload.field("event_type").and_then(Node::text);
        let block = Block::default();
        match kind.as_deref() {
            Some("text-generation") => {
                let [text] = TEXT_EVENT.read(payload, out);
                if let Some(text) = piece(text) {
                    self.spoke = true;
                    out(Delta::Text { block, text });
                }
            }
            Some("tool-calls-chunk") => {
                let [delta, text] = CALLS_CHUNK.read(payload, out);
                // The plan of the model is not part of the answer.
                if let Some(text) = piece(text) {
                    out(Delta::Reasoning { block, text });
                }
                if let Some(delta) = delta {
                    self.piece(delta, out);
                }
            }
            Some("tool-calls-generation") => {
                let [calls] = CALLS_EVENT.read(payload, out);
                self.calls(calls, out);
            }
            Some("citation-generation") => cite(payload.field("citations"), out),
            Some("stream-end") => {
                self.ended = true;
                let [response, reason] = END.read(payload, out);
                if let Some(response) = response {
                    self.rest(response, out);
                }
                finish(0, reason).into_iter().for_each(&mut *out);
            }
            Some(_) => {}
            None => {
                let [citations, reason] = self.rest(payload, out);
                cite(citations, out);
                self.ended |= reason.is_some();
                finish(0, reason).into_iter().for_each(&mut *out);
            }
        }
    }

    fn call_ends(&self) -> CallEnds {
        CallEnds::Repeated
    }

    fn is_ended(&self) -> bool {
        self.ended
    }
}

impl CohereV1 {
    fn piece(&mut self, delta: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [parameters, name, index] = CALL.read(delta, out);
        let index = index.and_then(Node::integer);
        match index.and_then(|index| u32::try_from(index).ok()) {
            Some(place) => self.calls.add(place, None),
            None => self.unnumbered = true,
        }
        if self.unnumbered && !self.calls.is_empty() {
            // An index was lost.
            out(Delta::Doubt(Doubt::LostEvent));
        }
        out(Delta::Call(CallDelta {
            index,
            name: piece(name),
            arguments: arguments(parameters),
            ..CallDelta::default()
        }));
    }

    /// Whole calls, which repeat those that arrived in pieces.
    fn calls(&mut self, calls: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
        if self.unnumbered {
            return;
        }
        let streamed = !self.calls.is_empty();
        let calls = || (0_u32..).zip(entries(calls));
        let missing = self.calls.missing(calls().map(|(place, _)| (place, None::<&str>)));
        for (place, call) in calls() {
            let [parameters, name, _] = CALL.read(call, out);
            let index = i64::from(place);
            let is_missing = missing.contains(&place);
            self.calls.add(place, None);
            out(Delta::Call(CallDelta {
                index: Some(index),
                exact: true,
                repeats: !is_missing,
                name: piece(name),
                arguments: final_arguments(parameters),
                ..CallDelta::default()
            }));
            if is_missing {
                out(Delta::CallEnd { scope: 0, index });
            }
        }
        if streamed && calls().next().is_some() {
            out(Delta::CallsRepeated { scope: 0 });
        }
    }

    /// Reads the whole response, after a stream or instead of one, for anything that is still missing. Returns
    /// its citations, and why it ended.
    fn rest<'a>(
        &mut self,
        response: Node<'a>,
        out: &mut dyn FnMut(Delta<'_>),
    ) -> [Option<Node<'a>>; 2] {
        let [_, text, calls, citations, reason, meta] = RESPONSE.read(response, out);
        if self.spoke {
            again(Block::default(), text, out);
        } else if let Some(text) = piece(text) {
            self.spoke = true;
            out(Delta::Text { block: Block::default(), text });
        }
        self.calls(calls, out);
        read_usage(meta, out);
        [citations, reason]
    }
}

fn cite(citations: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
    for citation in citations.into_iter().flat_map(Node::items) {
        out(Delta::Citation { block: Block::default(), json: citation.raw() });
    }
}
