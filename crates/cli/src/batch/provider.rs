//! The operation `stream`: the body of a provider's response.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use wiremend_core::{Located, Policy};
use wiremend_extract::Scope;
use wiremend_response::{Object, Response, ResponseOptions, ResponseReader};
use wiremend_wire::{ApiFormat, Call, Doubt, Finish, Framing, Usage, WireError, WireOptions};

use super::{
    Setting,
    request::{FramingName, Input, Request},
};
use crate::{
    fit::{CallReport, ObjectReport},
    report::{Record, of_object, records},
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
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<&'static str>,
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
            repairs: records(Located::in_input(call.raw().as_bytes(), call.repairs())),
            cut_at: call.cut_at().map(ToString::to_string),
            doubt: call.doubt().map(Doubt::code),
        }
    }
}

/// A JSON document found in the text. The spans of its repairs count in the whole `text`.
#[derive(Debug, Serialize)]
struct ObjectRecord {
    json: Option<String>,
    start: usize,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<&'static str>,
    repairs: Vec<Record>,
}

impl ObjectRecord {
    /// `offset` is where the searched text begins in the joined text.
    fn new(object: &Object, offset: usize) -> Self {
        let outcome = object.outcome();
        let repairs = records(of_object(object));
        Self {
            json: object.json().filter(|_| outcome.is_valid()).map(str::to_owned),
            start: object.offset() + offset,
            outcome: outcome.code(),
            doubt: object.doubt().map(Doubt::code),
            repairs: repairs.into_iter().map(|record| record.shifted(offset)).collect(),
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
            choice: finish.choice(),
            reason: finish.reason().code(),
            original: finish.original().to_owned(),
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
        Self {
            input: usage.input(),
            output: usage.output(),
            cached: usage.cached(),
            reasoning: usage.reasoning(),
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
            kind: error.kind().code(),
            message: error.message().to_owned(),
            code: error.code().map(str::to_owned),
            error_type: error.error_type().map(str::to_owned),
            param: error.param().map(str::to_owned),
            failed_generation: error.failed_generation().map(str::to_owned),
        }
    }
}

/// Reads a body: its calls and the JSON in its text.
pub(crate) fn stream(
    request: &Request<'_>,
    input: &Input<'_>,
    setting: Setting,
) -> Result<Streamed, String> {
    let mending = request.options(Policy::CONSERVATIVE, setting.limits);
    let mut wire = WireOptions::new().with_mending(mending);
    if let Some(format) = request.wire()? {
        wire = wire.with_format(format);
    }
    match request.framing()? {
        FramingName::Auto => {}
        FramingName::Strict => return Err("`framing`: `sse-strict` is for `events`".into()),
        FramingName::Named(framing) => wire = wire.with_framing(framing),
    }
    let mut options = ResponseOptions::new()
        .with_wire(wire)
        .with_objects(request.scope()?.unwrap_or(Scope::All))
        .with_mending(request.options(Policy::PERMISSIVE, setting.limits));
    let tools = request.registry()?;
    if let Some(tools) = &tools {
        options = options.with_tools(tools);
    }
    let target = request.object_schema()?;
    if let Some(target) = &target {
        options = options.with_schema(target.schema(), target.options());
    }
    let mut reader = ResponseReader::new(options);
    let mut response = Response::default();
    for piece in input.pieces() {
        reader.push(piece);
        std::iter::from_fn(|| reader.next_event()).for_each(|event| response.record(event));
    }
    reader.finish();
    std::iter::from_fn(|| reader.next_event()).for_each(|event| response.record(event));
    let transcript = response.transcript();
    let call_fits = tools.is_some().then(|| {
        let fits = response.call_fits().iter();
        let reports = fits.filter_map(|(call, fit)| CallReport::new(*call, fit));
        reports.filter_map(|report| to_raw_value(&report.record()).ok()).collect()
    });
    let object_fits = target.as_ref().map(|target| {
        let reports = response.object_fits().iter().map(|fit| ObjectReport::new(fit, target.id()));
        reports.filter_map(|report| to_raw_value(&report.record()).ok()).collect()
    });
    Ok(Streamed {
        framing: transcript.framing().map(Framing::code),
        wire: transcript.format().map(ApiFormat::code),
        text: transcript.text(),
        reasoning: transcript.reasoning().to_owned(),
        refusal: transcript.refusal(),
        calls: transcript.calls().into_iter().map(CallRecord::from).collect(),
        call_fits,
        objects: objects(&response),
        object_fits,
        finish: transcript.finish().map(FinishRecord::from),
        usage: transcript.usage().map(UsageRecord::from),
        // A citation is a value of an event that was read, so it is JSON.
        citations: transcript
            .citations()
            .iter()
            .filter_map(|json| RawValue::from_string(json.clone()).ok())
            .collect(),
        errors: transcript.errors().iter().map(ErrorRecord::from).collect(),
        outcome: transcript.outcome().code(),
    })
}

/// The objects of all texts, in the order of the whole text.
fn objects(response: &Response) -> Vec<ObjectRecord> {
    let transcript = response.transcript();
    let place = |object: &Object| transcript.text_offset(object.block()).unwrap_or_default();
    let mut objects: Vec<ObjectRecord> =
        response.objects().iter().map(|object| ObjectRecord::new(object, place(object))).collect();
    objects.sort_by_key(|record| record.start);
    objects
}
