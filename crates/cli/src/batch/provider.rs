//! The operation `stream`: the body of a provider's response.

use jsonmend_core::{Options, Outcome, Policy};
use jsonmend_extract::{Extractor, Findings, Found, Scope};
use jsonmend_wire::{
    ApiFormat, Call, Decoder, Finish, Framing, Transcript, Usage, WireError, WireEvent, WireOptions,
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{
    Setting,
    request::{FramingName, Input, Request},
};
use crate::{
    fit::ObjectFit,
    report::{Record, records},
    stream::{Finds, Object, Objects},
};

/// The reply of the operation `stream`.
#[derive(Debug, Serialize)]
pub(crate) struct Streamed {
    framing: Option<&'static str>,
    wire: Option<&'static str>,
    text: String,
    reasoning: String,
    refusal: String,
    calls: Vec<CallRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_fits: Option<Vec<Box<RawValue>>>,
    objects: Vec<ObjectRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_fits: Option<Vec<Box<RawValue>>>,
    finish: Option<FinishRecord>,
    usage: Option<UsageRecord>,
    citations: Vec<Box<RawValue>>,
    errors: Vec<ErrorRecord>,
    outcome: &'static str,
}

/// A tool call. The spans of its repairs count in the raw argument text.
#[derive(Debug, Serialize)]
pub(crate) struct CallRecord {
    call: usize,
    name: String,
    id: Option<String>,
    kind: &'static str,
    choice: u32,
    arguments: String,
    outcome: &'static str,
    repairs: Vec<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at: Option<String>,
}

impl From<&Call> for CallRecord {
    fn from(call: &Call) -> Self {
        Self {
            call: call.number(),
            name: call.name().to_owned(),
            id: call.id().map(str::to_owned),
            kind: call.kind().code(),
            choice: call.choice(),
            arguments: call.arguments().to_owned(),
            outcome: call.outcome().code(),
            repairs: records(call.repairs()),
            cut_at: call.cut_at().map(ToString::to_string),
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
    /// `offset` is where the searched text begins in the joined text.
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

/// Token counts; null if the stream has none.
#[derive(Debug, Serialize)]
pub(crate) struct UsageRecord {
    input: Option<u64>,
    output: Option<u64>,
    cached: Option<u64>,
    reasoning: Option<u64>,
}

impl From<Usage> for UsageRecord {
    fn from(usage: Usage) -> Self {
        let Usage { input, output, cached, reasoning, .. } = usage;
        Self { input, output, cached, reasoning }
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

/// Decodes a body, repairs its calls, and looks for JSON in its text.
pub(crate) fn stream(
    request: &Request<'_>,
    input: &Input<'_>,
    setting: Setting,
) -> Result<Streamed, String> {
    let mending = request.options(Policy::CONSERVATIVE, setting.limits);
    let mut options = WireOptions::new().with_mending(mending);
    if let Some(wire) = request.wire()? {
        options = options.with_format(wire);
    }
    match request.framing()? {
        FramingName::Auto => {}
        FramingName::Strict => return Err("`framing`: `sse-strict` is for `events`".into()),
        FramingName::Named(framing) => options = options.with_framing(framing),
    }
    let in_text = request.options(Policy::PERMISSIVE, setting.limits);
    let tools = request.call_schemas(options.mending().clone())?;
    // Together with the result of each call.
    let mut tools = tools.map(|tools| (tools, Vec::new()));
    if let Some((tools, _)) = &tools {
        options = options.with_guides(tools.guides());
    }
    let schema = request.object_schema(in_text.clone())?;
    let mut fitting = schema.map(|schema| Objects::new(in_text.clone(), Some(schema)));
    let mut object_fits = ObjectFits::default();
    let mut decoder = Decoder::new(options);
    let mut transcript = Transcript::new();
    let mut take = |event: WireEvent<'_>| {
        if let (WireEvent::CallEnded(call), Some((tools, fits))) = (&event, &mut tools) {
            fits.extend(tools.fit(call).and_then(|fit| to_raw_value(&fit.record()).ok()));
        }
        if let Some(fitting) = &mut fitting {
            fitting.note(&event, &mut object_fits);
        }
        transcript.record(&event);
    };
    for piece in input.pieces() {
        decoder.push(piece, &mut take);
    }
    decoder.finish(&mut take);
    let object_fits = fitting.is_some().then_some(object_fits.0);
    Ok(Streamed {
        framing: transcript.framing().map(Framing::code),
        wire: transcript.format().map(ApiFormat::code),
        text: transcript.text(),
        reasoning: transcript.reasoning().to_owned(),
        refusal: transcript.refusal(),
        calls: transcript.calls().into_iter().map(CallRecord::from).collect(),
        call_fits: tools.map(|(_, fits)| fits),
        objects: objects(&transcript, &in_text),
        object_fits,
        finish: transcript.finish().map(FinishRecord::from),
        usage: transcript.usage().map(UsageRecord::from),
        // A citation is part of an event that was read as JSON, so it is valid.
        citations: transcript
            .citations()
            .iter()
            .filter_map(|json| RawValue::from_string(json.clone()).ok())
            .collect(),
        errors: transcript.errors().iter().map(ErrorRecord::from).collect(),
        outcome: transcript.outcome().code(),
    })
}

/// How the documents in the text match the schema.
#[derive(Default)]
struct ObjectFits(Vec<Box<RawValue>>);

impl Finds for ObjectFits {
    fn object(&mut self, _: &Object, _: Outcome) {}

    fn fitted(&mut self, fit: &ObjectFit<'_>) {
        self.0.extend(to_raw_value(&fit.record()).ok());
    }
}

/// The JSON documents in the texts. Each text is searched separately, so a document cannot span two
/// of them.
fn objects(transcript: &Transcript, options: &Options) -> Vec<ObjectRecord> {
    let mut objects = Vec::new();
    let mut offset = 0;
    for text in transcript.texts() {
        let mut found = Findings::default();
        let mut extractor = Extractor::new(Scope::All, options.clone());
        extractor.push(text.as_bytes(), &mut found);
        extractor.finish(&mut found);
        objects.extend(found.documents().iter().map(|found| ObjectRecord::new(found, offset)));
        offset += text.len();
    }
    objects
}
