//! Cohere Chat, version 1.

use super::{
    CallDelta, CallEnds, Delta, Format, Members, again, announced::Announced, arguments,
    cohere_v2::read_usage, final_arguments, finish, piece,
};
use crate::{Block, Doubt, json::Node};

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
        let [kind, text, delta, calls, citations, response] = payload.pick([
            "event_type",
            "text",
            "tool_call_delta",
            "tool_calls",
            "citations",
            "response",
        ]);
        let block = Block::default();
        match kind.and_then(Node::text).as_deref() {
            Some("text-generation") => {
                if let Some(text) = piece(text) {
                    self.spoke = true;
                    out(Delta::Text { block, text });
                }
            }
            Some("tool-calls-chunk") => {
                // The plan of the model is not part of the answer.
                if let Some(text) = piece(text) {
                    out(Delta::Reasoning { block, text });
                }
                if let Some(delta) = delta {
                    self.piece(delta, out);
                }
            }
            Some("tool-calls-generation") => self.calls(calls, out),
            Some("citation-generation") => cite(citations, out),
            Some("stream-end") => {
                self.ended = true;
                let [reason] = payload.pick(["finish_reason"]);
                if let Some(response) = response {
                    self.rest(response, out);
                }
                finish(0, reason).into_iter().for_each(&mut *out);
            }
            Some(_) => {}
            None => {
                let [reason] = payload.pick(["finish_reason"]);
                self.rest(payload, out);
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
        let [index, name, parameters] = delta.pick(["index", "name", "parameters"]);
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
        let calls = || (0_u32..).zip(calls.into_iter().flat_map(Node::items));
        let missing = self.calls.missing(calls().map(|(place, _)| (place, None::<&str>)));
        for (place, call) in calls() {
            let [name, parameters] = call.pick(["name", "parameters"]);
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

    /// Reads the whole response, after a stream or instead of one, for anything that is still missing.
    fn rest(&mut self, response: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [text, calls, meta] = response.pick(["text", "tool_calls", "meta"]);
        if self.spoke {
            again(Block::default(), text, out);
        } else if let Some(text) = piece(text) {
            self.spoke = true;
            out(Delta::Text { block: Block::default(), text });
        }
        self.calls(calls, out);
        read_usage(meta, out);
    }
}

fn cite(citations: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
    for citation in citations.into_iter().flat_map(Node::items) {
        out(Delta::Citation { block: Block::default(), json: citation.raw() });
    }
}
