//! Replies about the body of a provider's response.

use jsonmend_core::{Options, Outcome, Policy};
use jsonmend_extract::{Extractor, Findings, Found, Scope};
use jsonmend_wire::{
    Call, Decoder, Finish, Framing, Transcript, Wire, WireError, WireOptions,
    sse::{SseDecoder, SseEvent, SseReading},
};
use serde::Serialize;

use super::{
    Setting,
    request::{Input, Request},
};
use crate::report::{Record, records};

/// What the operation `stream` answers.
#[derive(Debug, Serialize)]
pub(crate) struct Streamed {
    framing: Option<&'static str>,
    wire: Option<&'static str>,
    text: String,
    reasoning: String,
    refusal: String,
    calls: Vec<CallRecord>,
    objects: Vec<ObjectRecord>,
    finish: Option<FinishRecord>,
    errors: Vec<ErrorRecord>,
    outcome: &'static str,
}

/// A tool call. The spans of its repairs count in the raw argument text.
#[derive(Debug, Serialize)]
pub(crate) struct CallRecord {
    name: String,
    id: Option<String>,
    arguments: String,
    outcome: &'static str,
    repairs: Vec<Record>,
}

impl From<&Call> for CallRecord {
    fn from(call: &Call) -> Self {
        Self {
            name: call.name().to_owned(),
            id: call.id().map(str::to_owned),
            arguments: call.arguments().to_owned(),
            outcome: call.outcome().code(),
            repairs: records(call.repairs()),
        }
    }
}

/// A JSON document found in the text. The spans of its repairs count in the whole `text`.
#[derive(Debug, Serialize)]
struct ObjectRecord {
    json: Option<String>,
    start: usize,
    outcome: &'static str,
    repairs: Vec<Record>,
}

impl ObjectRecord {
    /// `offset`: where the text that was searched begins in the whole one.
    fn new(found: &Found, offset: usize) -> Self {
        let outcome = found.outcome().unwrap_or(Outcome::Abandoned);
        let repairs = found.repairs().iter().cloned().map(|repair| repair.shifted(offset));
        Self {
            json: outcome.is_valid().then(|| String::from_utf8_lossy(found.json()).into_owned()),
            start: found.offset() + offset,
            outcome: outcome.code(),
            repairs: records(&repairs.collect::<Vec<_>>()),
        }
    }
}

/// Why the model stopped.
#[derive(Debug, Serialize)]
pub(crate) struct FinishRecord {
    choice: u32,
    reason: &'static str,
    original: String,
}

impl From<&Finish> for FinishRecord {
    fn from(finish: &Finish) -> Self {
        Self {
            choice: finish.choice,
            reason: finish.reason.code(),
            original: finish.original.clone(),
        }
    }
}

/// An error inside the response.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorRecord {
    kind: &'static str,
    message: String,
    code: Option<String>,
    #[serde(rename = "type")]
    error_type: Option<String>,
    param: Option<String>,
    failed_generation: Option<String>,
}

impl From<&WireError> for ErrorRecord {
    fn from(error: &WireError) -> Self {
        Self {
            kind: error.kind.code(),
            message: error.message.clone(),
            code: error.code.clone(),
            error_type: error.error_type.clone(),
            param: error.param.clone(),
            failed_generation: error.failed_generation.clone(),
        }
    }
}

/// Decodes a body, mends its calls, and looks for JSON in its text.
pub(crate) fn stream(request: &Request<'_>, input: &Input<'_>, setting: Setting) -> Streamed {
    let mending = request.options(Policy::CONSERVATIVE, setting.limits);
    let mut decoder = Decoder::new(WireOptions::new().with_mending(mending));
    let mut transcript = Transcript::new();
    for piece in input.pieces() {
        decoder.push(piece, &mut |event| transcript.record(&event));
    }
    decoder.finish(&mut |event| transcript.record(&event));
    Streamed {
        framing: transcript.framing().map(Framing::code),
        wire: transcript.wire().map(Wire::code),
        text: transcript.text(),
        reasoning: transcript.reasoning().to_owned(),
        refusal: transcript.refusal(),
        calls: transcript.calls().into_iter().map(CallRecord::from).collect(),
        objects: objects(&transcript, request.options(Policy::PERMISSIVE, setting.limits)),
        finish: transcript.finish().map(FinishRecord::from),
        errors: transcript.errors().iter().map(ErrorRecord::from).collect(),
        outcome: transcript.outcome().code(),
    }
}

/// The JSON documents in the texts, each text searched by itself: none reaches from one into
/// another.
fn objects(transcript: &Transcript, options: Options) -> Vec<ObjectRecord> {
    let mut objects = Vec::new();
    let mut offset = 0;
    for text in transcript.texts() {
        let mut found = Findings::default();
        let mut extractor = Extractor::new(Scope::All, options);
        extractor.push(text.as_bytes(), &mut found);
        extractor.finish(&mut found);
        objects.extend(found.documents().iter().map(|found| ObjectRecord::new(found, offset)));
        offset += text.len();
    }
    objects
}

/// What the operation `events` answers.
#[derive(Debug, Serialize)]
pub(crate) struct Framed {
    framing: &'static str,
    events: Vec<EventRecord>,
    /// How many lines or events passed a bound and were dropped; left out where none did.
    #[serde(skip_serializing_if = "is_zero")]
    dropped: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One server-sent event.
#[derive(Debug, Serialize)]
struct EventRecord {
    event: String,
    data: String,
    /// The last event id in force.
    id: String,
    /// The reconnection time in force, in milliseconds.
    retry: Option<u64>,
}

/// Cuts a body into server-sent events, as the specification reads them.
pub(crate) fn events(input: &Input<'_>) -> Framed {
    let mut framed = Framed { framing: "sse", events: Vec::new(), dropped: 0 };
    let mut decoder = SseDecoder::new(SseReading::Strict);
    let mut record = |event: SseEvent<'_>| match event {
        SseEvent::Message(message) => framed.events.push(EventRecord {
            event: message.event().into_owned(),
            data: message.data().into_owned(),
            id: message.id().to_owned(),
            retry: message.retry(),
        }),
        SseEvent::Oversize { .. } => framed.dropped += 1,
        // The strict reading hands out nothing else.
        _ => {}
    };
    for piece in input.pieces() {
        decoder.push(piece, &mut record);
    }
    decoder.finish(&mut record);
    framed
}
