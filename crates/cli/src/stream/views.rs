//! What shows the events of a stream, and the views for programs, one JSON object per line: all of them, or calls and
//! documents alone.

use std::collections::BTreeMap;

use serde_json::{Value, json, value::RawValue};
use wiremend_core::{Located, Output as _, Partial, Revision};
use wiremend_response::Object;
use wiremend_wire::{Block, Call, Doubt, StreamOutcome, WireEvent};

use crate::{
    Session,
    fit::{CallReport, ObjectReport},
    out::{Fragments, Out},
    paint::{BAD, notice},
    report::{of_object, records},
    visible::{Shown, shown},
};

/// Where the events of a stream are shown.
pub(super) trait View {
    /// Shows an event of the stream itself.
    fn show(&mut self, event: &WireEvent<'_>);

    /// Where it writes.
    fn out(&mut self) -> &mut Out;

    /// Shows an object that was found in the text: by default as a record, like what follows.
    fn object(&mut self, object: &Object) {
        self.out().record(&found(object));
    }

    /// Shows how a call, which was just shown, matches the schema of its tool.
    fn fitted(&mut self, report: CallReport<'_>) {
        self.out().record(&report.record());
    }

    /// Shows how an object matches the schema for the text.
    fn object_fitted(&mut self, report: ObjectReport<'_>) {
        self.out().record(&report.record());
    }
}

/// Writes events to standard output.
pub(crate) struct Events {
    out: Out,
    /// For each call, by its number: an incomplete character.
    fragments: Vec<Fragments>,
    /// With `--deltas`, for each open call: its arguments so far, and the revision last written.
    values: Option<BTreeMap<usize, (Partial, Revision)>>,
}

impl Events {
    pub(crate) fn new(deltas: bool) -> Self {
        Self { out: Out::new(), fragments: Vec::new(), values: deltas.then(BTreeMap::new) }
    }

    /// Writes what `bytes` change in the arguments of a call. Raw bytes change nothing.
    fn changes(&mut self, call: usize, bytes: &[u8], raw: bool) {
        let Some(values) = &mut self.values else { return };
        let (partial, seen) = values.entry(call).or_default();
        if raw {
            // A number at the end of the repaired text is complete.
            partial.settle();
            partial.raw();
        }
        partial.copy(bytes);
        let deltas: Vec<String> = partial.since(seen).map(|delta| delta.to_string()).collect();
        *seen = partial.revision();
        self.write_deltas(call, &deltas);
    }

    /// Writes the number or literal at the end of the arguments, which the end of the call completes.
    fn last_changes(&mut self, call: &Call) {
        let Some((mut partial, seen)) =
            self.values.as_mut().and_then(|values| values.remove(&call.number()))
        else {
            return;
        };
        if call.outcome().is_valid() {
            partial.settle();
        }
        let deltas: Vec<String> = partial.since(&seen).map(|delta| delta.to_string()).collect();
        self.write_deltas(call.number(), &deltas);
    }

    /// Writes changes, each a JSON object, as events.
    fn write_deltas(&mut self, call: usize, deltas: &[String]) {
        for members in deltas.iter().filter_map(|delta| delta.strip_prefix('{')) {
            self.out.json_line(&format!("{{\"type\":\"delta\",\"call\":{call},{members}"));
        }
    }

    /// The text that `bytes` add to the arguments of a call.
    fn fragment(&mut self, call: usize, bytes: &[u8]) -> String {
        if call >= self.fragments.len() {
            self.fragments.resize(call + 1, Fragments::default());
        }
        self.fragments.get_mut(call).map(|open| open.push(bytes)).unwrap_or_default()
    }
}

impl View for Events {
    fn show(&mut self, event: &WireEvent<'_>) {
        if let WireEvent::CallEnded(call) = event {
            self.last_changes(call);
        }
        let event = match event {
            WireEvent::CallFragment { call, bytes } | WireEvent::CallRaw { call, bytes } => {
                let raw = matches!(event, WireEvent::CallRaw { .. });
                if self.values.is_some() {
                    return self.changes(*call, bytes, raw);
                }
                let text = self.fragment(*call, bytes);
                if text.is_empty() {
                    return;
                }
                json!({ "type": "arguments", "call": call, "text": text, "raw": raw })
            }
            WireEvent::CallBegan { call, choice, kind, id, name } => json!({
                "type": "call", "call": call, "choice": choice, "kind": kind.code(),
                "id": id, "name": name,
            }),
            WireEvent::CallNamed { call, name } => {
                json!({ "type": "call-name", "call": call, "name": name })
            }
            WireEvent::CallEnded(call) => ended(call),
            WireEvent::Text { block, text } => piece("text", *block, text),
            WireEvent::Reasoning { block, text } => piece("reasoning", *block, text),
            WireEvent::Refusal { block, text } => piece("refusal", *block, text),
            WireEvent::FramingDetected(framing) => {
                json!({ "type": "framing", "framing": framing.code() })
            }
            WireEvent::FormatDetected(wire) => json!({ "type": "wire", "wire": wire.code() }),
            WireEvent::EnvelopeMended(mended) => {
                let text = mended.text().unwrap_or_default().as_bytes();
                let repairs = Located::in_mended(text, 0, mended.repairs());
                json!({ "type": "envelope", "repairs": records(repairs) })
            }
            WireEvent::Citation { block, json } => json!({
                "type": "citation", "choice": block.choice(), "block": block.block(),
                "part": block.part(), "citation": RawValue::from_string((*json).to_owned()).ok(),
            }),
            WireEvent::Error(error) => json!({
                "type": "error", "kind": error.kind().code(), "message": error.message(),
                "code": error.code(), "error_type": error.error_type(), "param": error.param(),
                "failed_generation": error.failed_generation(),
            }),
            WireEvent::Finish(finish) => json!({
                "type": "finish", "choice": finish.choice(), "reason": finish.reason().code(),
                "original": finish.original(),
            }),
            WireEvent::Usage(usage) => json!({
                "type": "usage", "input": usage.input(), "output": usage.output(),
                "cached": usage.cached(), "reasoning": usage.reasoning(),
            }),
            WireEvent::Oversize { limit } => json!({ "type": "oversize", "limit": limit }),
            WireEvent::Unfinished(text) => json!({ "type": "unfinished", "text": text }),
            WireEvent::Ended(outcome) => json!({ "type": "end", "outcome": outcome.code() }),
            // Keep-alives, and events of later versions of the decoder.
            _ => return,
        };
        self.out.record(&event);
    }

    fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}

/// A document that was found in the text.
fn found(object: &Object) -> Value {
    let place = object.block();
    json!({
        "type": "object", "choice": place.choice(), "block": place.block(),
        "part": place.part(),
        "start": object.offset(),
        "json": object.json().filter(|_| object.outcome().is_valid()),
        "outcome": object.outcome().code(), "repairs": records(of_object(object)),
        "doubt": object.doubt().map(Doubt::code),
    })
}

/// A call that has ended.
fn ended(call: &Call) -> Value {
    json!({
        "type": "call-end", "call": call.number(), "id": call.id(), "name": call.name(),
        "arguments": call.arguments(), "outcome": call.outcome().code(),
        "repairs": records(Located::in_input(call.raw().as_bytes(), call.repairs())),
        "cut_at": call.cut_at().map(ToString::to_string),
        "doubt": call.doubt().map(Doubt::code),
    })
}

fn piece(kind: &str, block: Block, text: &str) -> Value {
    json!({
        "type": kind, "choice": block.choice(), "block": block.block(), "part": block.part(),
        "text": text,
    })
}

/// The length at which error messages are clipped, in characters.
const SHOWN: usize = 200;

/// Writes each call and document to standard output when it has ended. Errors go to standard error.
pub(crate) struct Calls {
    out: Out,
    name: String,
    session: Session,
}

impl Calls {
    pub(crate) fn new(name: &str, session: Session) -> Self {
        Self { out: Out::new(), name: name.to_owned(), session }
    }

    fn trouble(&self, message: &Shown) {
        let label = self.session.stderr.paint(BAD, "error");
        notice(&shown!("{}: {}: {}", label, self.name, message));
    }
}

impl View for Calls {
    fn show(&mut self, event: &WireEvent<'_>) {
        match event {
            WireEvent::CallEnded(call) => self.out.record(&ended(call)),
            WireEvent::Error(error) => {
                self.trouble(&Shown::clipped(error.message().as_bytes(), SHOWN));
            }
            WireEvent::Oversize { limit } => {
                self.trouble(&shown!(
                    "a line or an event of more than {} bytes was dropped",
                    limit
                ));
            }
            WireEvent::Ended(StreamOutcome::Cut) => {
                self.trouble(&shown!("broke off before its end"));
            }
            _ => {}
        }
    }

    fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}
