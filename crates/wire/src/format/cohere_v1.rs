//! Cohere Chat, version 1.

use super::{
    Arguments, CallDelta, Delta, Format, again, arguments, cohere_v2::read_usage, finish,
    non_empty, piece,
};
use crate::{Block, json::Node};

/// An event with its type, or a response that was not streamed.
pub(super) fn recognise(_: &str, payload: Node<'_>) -> bool {
    let streamed = payload.has("event_type") && payload.has("is_finished");
    let whole = payload.has("generation_id") && payload.has("text");
    streamed || whole
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct CohereV1 {
    /// The calls arrived in pieces. The list that follows repeats them.
    called: bool,
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

    fn is_ended(&self) -> bool {
        self.ended
    }
}

impl CohereV1 {
    fn piece(&mut self, delta: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [index, name, parameters] = delta.pick(["index", "name", "parameters"]);
        self.called = true;
        out(Delta::Call(CallDelta {
            index: index.and_then(Node::integer),
            name: non_empty(name),
            arguments: arguments(parameters),
            ..CallDelta::default()
        }));
    }

    /// Whole calls.
    fn calls(&mut self, calls: Option<Node<'_>>, out: &mut dyn FnMut(Delta<'_>)) {
        if self.called {
            return;
        }
        self.called = calls.is_some();
        for (index, call) in (0_i64..).zip(calls.into_iter().flat_map(Node::items)) {
            let [name, parameters] = call.pick(["name", "parameters"]);
            let arguments: Arguments<'_> = arguments(parameters);
            out(Delta::Call(CallDelta {
                index: Some(index),
                exact: true,
                name: non_empty(name),
                arguments,
                ..CallDelta::default()
            }));
            out(Delta::CallEnd { scope: 0, index });
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
