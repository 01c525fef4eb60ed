//! What a request asks for: a document while it grows, the tool calls in a text, the body of a provider's response, or
//! the framing of a body.

use serde::{Serialize, de::IgnoredAny};
use serde_json::value::{RawValue, to_raw_value};
use wiremend_core::{Located, MendOptions, Outcome, Policy, Repair, Repairs, RepairsIter};
use wiremend_extract::{
    CallEnd, CallExtractor, CallOutcome, CallSink, CallStart, Dialect, Finder, FoundCall,
    FoundCalls, MentionedCall, RestatedCall, Scope, TextSink, UnknownTool,
};
use wiremend_response::{Object, Response, ResponseOptions, ResponseReader};
use wiremend_wire::{
    ApiFormat, Call, Doubt, Finish, Framing, Usage, WireError, WireOptions,
    eventstream::{EventStreamDecoder, EventStreamEvent, Message},
    sse::{SseDecoder, SseEvent, SseMessage, SseReading},
    values::{ValueDecoder, ValueEvent},
};

use super::{FramingName, Request, RequestInput, Setting};
use crate::{
    fit::{CallReport, ObjectReport},
    report::{Record, of_object, records},
};

/// The maximum size of the snapshots in a reply, in bytes: it grows with the square of the input.
const MAX_SNAPSHOTS: usize = 64 << 20;

/// The result of a pushed input.
#[derive(Debug)]
pub(crate) struct Growth {
    pub(crate) outcome: Outcome,
    pub(crate) json: Vec<u8>,
    start: usize,
    repairs: Repairs,
    /// The completed document after each piece that changed it, if requested.
    pub(crate) snapshots: Option<Vec<String>>,
    /// The number of bytes emitted after each piece, if requested.
    pub(crate) emitted: Option<Vec<usize>>,
}

impl Growth {
    /// The repairs and their paths.
    pub(crate) fn located(&self) -> Located<'_, RepairsIter<'_>> {
        Located::in_mended(&self.json, self.start, &self.repairs)
    }
}

/// Pushes `pieces`, and records the state after each. The input is taken to be a single document, so
/// that a number or a string on its own counts, as it does when a text is repaired as a whole.
pub(crate) fn grow<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    options: MendOptions,
    watch: bool,
) -> Result<Growth, String> {
    let mut extractor = Finder::new(Scope::Whole, options);
    let mut document = Document::default();
    let mut snapshots: Vec<String> = Vec::new();
    let mut emitted = Vec::new();
    let mut size = 0;
    for piece in pieces {
        extractor.push(piece, &mut document);
        if !watch {
            continue;
        }
        emitted.push(document.json.len());
        let Some(snapshot) = document.snapshot(&extractor) else { continue };
        if snapshots.last() != Some(&snapshot) {
            size += snapshot.len();
            if size > MAX_SNAPSHOTS {
                return Err(format!("the snapshots take more than {MAX_SNAPSHOTS} bytes"));
            }
            snapshots.push(snapshot);
        }
    }
    let outcome = extractor.finish(&mut document);
    let Document { json, start, repairs } = document;
    let (snapshots, emitted) = if watch { (Some(snapshots), Some(emitted)) } else { (None, None) };
    Ok(Growth { outcome, json, start, repairs, snapshots, emitted })
}

/// The first document and the repairs of the whole input.
#[derive(Debug, Default)]
struct Document {
    json: Vec<u8>,
    /// Where the document begins.
    start: usize,
    repairs: Repairs,
}

impl Document {
    /// The document so far, completed; `None` before it begins, and once it is raw.
    fn snapshot(&self, extractor: &Finder) -> Option<String> {
        // The output may end inside a character, which is left for later.
        let text = match std::str::from_utf8(&self.json) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(self.json.get(..error.valid_up_to())?).ok()?,
        };
        match extractor.completion() {
            Some(completion) => Some(format!("{text}{completion}")),
            // Nothing is open: the document has ended, or has not begun, or is raw.
            None => serde_json::from_str::<IgnoredAny>(text).is_ok().then(|| text.to_owned()),
        }
    }
}

impl TextSink for Document {
    fn begin(&mut self, offset: usize) {
        self.start = offset;
    }
    fn json(&mut self, bytes: &[u8]) {
        self.json.extend_from_slice(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.repairs.push(&repair);
    }
    fn end(&mut self, _: Outcome) {}
}

/// The reply of the operation `calls`.
#[derive(Debug, Serialize)]
pub(crate) struct Extracted {
    /// The dialect of the first call.
    format: Option<String>,
    content: String,
    reasoning: String,
    calls: Vec<TextCallRecord>,
    /// Calls that may not be run.
    incomplete: Vec<TextCallRecord>,
    unknown: Vec<UnknownRecord>,
    restated: Vec<RestatedRecord>,
    mentioned: Vec<MentionedRecord>,
}

/// A call in a text.
#[derive(Debug, Serialize)]
struct TextCallRecord {
    name: String,
    id: Option<String>,
    arguments: String,
    outcome: &'static str,
    format: String,
    /// How the end of the call was found.
    matched: &'static str,
    repairs: usize,
    start: usize,
    end: usize,
    /// The known tool with the most similar name, if the name is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<String>,
    /// False for a call of a tool that is not declared, if any are.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<bool>,
}

/// A call of a tool that does not exist.
#[derive(Debug, Serialize)]
struct UnknownRecord {
    name: String,
    nearest: Option<String>,
    format: String,
    start: usize,
}

/// A call that is only mentioned.
#[derive(Debug, Serialize)]
struct MentionedRecord {
    name: String,
    format: String,
    start: usize,
}

/// A call that is stated again.
#[derive(Debug, Serialize)]
struct RestatedRecord {
    name: String,
    format: String,
    start: usize,
    /// Where the call begins that it repeats.
    repeats: usize,
}

/// Reads the tool calls in a text.
pub(crate) fn calls(
    request: &Request<'_>,
    input: &RequestInput<'_>,
    setting: Setting,
) -> Result<Extracted, String> {
    let options = request.options(Policy::PERMISSIVE, setting.limits);
    let tools = request.call_tools()?;
    let mut content = Content { has_tools: !tools.is_empty(), ..Content::default() };
    let mut reader = CallExtractor::new(options).with_tools(tools).with_prefill(request.prefill());
    if let Some(dialect) = request.dialect()? {
        reader = reader.with_dialect(dialect.clone());
    }
    for piece in input.pieces() {
        reader.push(piece, &mut content);
    }
    match request.eos() {
        true => reader.finish_at_eos(&mut content),
        false => reader.finish(&mut content),
    }
    Ok(content.finish(input.whole()))
}

/// Collects what is found, with the places of text.
#[derive(Debug, Default)]
struct Content {
    found: FoundCalls,
    /// How much of the input was emitted.
    at: usize,
    /// Where each stretch of text is, and the text.
    texts: Vec<(usize, Vec<u8>)>,
    nearest: Vec<Option<String>>,
    unknown: Vec<UnknownRecord>,
    restated: Vec<RestatedRecord>,
    mentioned: Vec<MentionedRecord>,
    /// Where each call begins.
    starts: Vec<usize>,
    blocks: Vec<Block>,
    /// The length of the last marker.
    tag: usize,
    /// How many calls were made in what turned out to be reasoning, and where it ends.
    drafts: Option<(usize, usize)>,
    has_tools: bool,
}

/// Calls without text between them, with the markers around them.
#[derive(Debug)]
struct Block {
    start: usize,
    end: usize,
    /// Where the last call ended. What follows may belong to what comes next.
    called: usize,
    calls: usize,
}

impl Content {
    /// So many bytes of markers or arguments.
    fn source(&mut self, length: usize) {
        if let Some(block) = self.blocks.last_mut().filter(|block| block.end == self.at) {
            block.end += length;
        }
        self.at += length;
    }
}

impl CallSink for Content {
    fn text(&mut self, bytes: &[u8]) {
        match self.texts.last_mut() {
            Some((start, text)) if *start + text.len() == self.at => text.extend_from_slice(bytes),
            _ => self.texts.push((self.at, bytes.to_vec())),
        }
        self.at += bytes.len();
    }
    fn content(&mut self, text: &[u8]) {
        self.texts.push((self.at, text.to_vec()));
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        if let Some(block) = self.blocks.last_mut().filter(|block| block.end == self.at) {
            block.end = block.called;
        }
        self.at += bytes.len();
        CallSink::reasoning(&mut self.found, bytes);
    }
    fn text_was_reasoning(&mut self) {
        let texts = std::mem::take(&mut self.texts);
        if self.blocks.is_empty() {
            let texts = texts.iter().map(|(_, text)| text);
            texts.for_each(|text| CallSink::reasoning(&mut self.found, text));
        } else {
            // Calls in it are none, and what was taken for one is part of it, up to the tag.
            self.drafts = Some((self.found.calls().len(), self.at - self.tag));
            self.blocks.clear();
            self.unknown.clear();
            self.restated.clear();
            self.mentioned.clear();
        }
    }
    fn markup(&mut self, bytes: &[u8]) {
        self.tag = bytes.len();
        self.source(bytes.len());
    }
    fn begin(&mut self, call: &CallStart<'_>) {
        match self.blocks.last_mut().filter(|block| block.end == self.at) {
            Some(block) => block.calls += 1,
            None => {
                let at = self.at;
                self.blocks.push(Block { start: at, end: at, called: at, calls: 1 });
            }
        }
        self.starts.push(call.offset);
        self.nearest.push(call.nearest.map(str::to_owned));
        self.found.begin(call);
    }
    fn raw(&mut self, bytes: &[u8]) {
        self.source(bytes.len());
    }
    fn arguments(&mut self, json: &[u8]) {
        self.found.arguments(json);
    }
    fn end(&mut self, call: &CallEnd) {
        if let Some(block) = self.blocks.last_mut() {
            block.called = call.span.end;
        }
        self.found.end(call);
    }
    fn restated(&mut self, call: &RestatedCall<'_>) {
        self.restated.push(RestatedRecord {
            name: call.name.to_owned(),
            format: call.dialect.name().to_owned(),
            start: call.offset,
            repeats: self.starts.get(call.index).copied().unwrap_or_default(),
        });
    }
    fn mentioned(&mut self, call: &MentionedCall<'_>) {
        self.mentioned.push(MentionedRecord {
            name: call.name.to_owned(),
            format: call.dialect.name().to_owned(),
            start: call.offset,
        });
    }
    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        self.unknown.push(UnknownRecord {
            name: tool.name.to_owned(),
            nearest: tool.nearest.map(str::to_owned),
            format: tool.dialect.name().to_owned(),
            start: tool.offset,
        });
    }
}

impl Content {
    fn finish(self, input: &[u8]) -> Extracted {
        let mut texts = self.texts;
        let (mut calls, mut incomplete) = (Vec::new(), Vec::new());
        let (drafts, thought) = self.drafts.unwrap_or_default();
        let mut found = self.found.calls().iter().zip(self.nearest).skip(drafts);
        for block in self.blocks {
            let (before, lost) = (calls.len(), incomplete.len());
            let mut put_back = Vec::new();
            for (call, nearest) in found.by_ref().take(block.calls) {
                let record = TextCallRecord::new(call, nearest);
                if call.outcome().can_run() {
                    calls.push(record);
                    continue;
                }
                // What came of such a call is reported, and its text is still there to be read,
                // unless it was a message to something that is none of the tools.
                let message = call.outcome() == CallOutcome::Refused
                    && !(call.known() && self.has_tools)
                    && Dialect::by_name(call.dialect()).is_some_and(Dialect::has_messages);
                if !message {
                    put_back.push(record.start..record.end);
                }
                incomplete.push(record);
            }
            if calls.len() == before && put_back.len() == incomplete.len() - lost {
                // The markers around calls of which none can be run are text, too.
                put_back.clear();
                put_back.push(block.start..block.end);
            }
            for span in put_back {
                texts.push((span.start, input.get(span).unwrap_or_default().to_vec()));
            }
        }
        texts.sort_by_key(|(start, _)| *start);
        let content: Vec<u8> = texts.into_iter().flat_map(|(_, text)| text).collect();
        let said = self.found.reasoning();
        let reasoning = match self.drafts {
            Some(_) => [input.get(..thought).unwrap_or_default(), said].concat(),
            None => said.to_vec(),
        };
        Extracted {
            format: self.found.calls().get(drafts).map(|call| call.dialect().to_owned()),
            content: String::from_utf8_lossy(&content).into_owned(),
            reasoning: String::from_utf8_lossy(&reasoning).into_owned(),
            calls,
            incomplete,
            unknown: self.unknown,
            restated: self.restated,
            mentioned: self.mentioned,
        }
    }
}

impl TextCallRecord {
    fn new(call: &FoundCall, nearest: Option<String>) -> Self {
        let end = call.end();
        Self {
            name: call.name().to_owned(),
            id: call.id().map(str::to_owned),
            arguments: String::from_utf8_lossy(call.arguments()).into_owned(),
            outcome: call.outcome().code(),
            format: call.dialect().to_owned(),
            matched: match end {
                Some(end) if end.at_end => "end-of-input",
                Some(end) if end.unclosed => "marker-missing",
                _ => "closed",
            },
            repairs: end.map_or(0, |end| end.repairs),
            start: end.map_or(0, |end| end.span.start),
            end: end.map_or(0, |end| end.span.end),
            nearest,
            known: (!call.known()).then_some(false),
        }
    }
}

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
struct CallRecord {
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
struct FinishRecord {
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
struct UsageRecord {
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
struct ErrorRecord {
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
    input: &RequestInput<'_>,
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
    let mut record = |event| response.record(event);
    for piece in input.pieces() {
        reader.push(piece, &mut record);
    }
    reader.finish(&mut record);
    let transcript = response.transcript();
    let call_fits = tools.is_some().then(|| {
        let reports = response.fitted_calls().iter().filter_map(CallReport::new);
        reports.filter_map(|report| to_raw_value(&report.record()).ok()).collect()
    });
    let object_fits = target.as_ref().map(|target| {
        let reports =
            response.fitted_objects().iter().map(|fit| ObjectReport::new(fit, target.id()));
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

/// The reply of the operation `events`.
#[derive(Debug, Serialize)]
pub(crate) struct Framed {
    framing: &'static str,
    events: Vec<EventRecord>,
    /// The number of lines, events or frames that were dropped because they were too long or broken;
    /// left out if it is zero.
    #[serde(skip_serializing_if = "is_zero")]
    dropped: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One event.
#[derive(Debug, Serialize)]
struct EventRecord {
    event: String,
    data: String,
    /// The last event id.
    id: String,
    /// The reconnection time, in milliseconds.
    retry: Option<u64>,
}

/// Splits a body into its events.
pub(crate) fn events(request: &Request<'_>, input: &RequestInput<'_>) -> Result<Framed, String> {
    let framing = match request.framing()? {
        FramingName::Strict => return Ok(server_sent(input, SseReading::Strict)),
        FramingName::Named(framing) => framing,
        FramingName::Auto => told_by(input.whole()),
    };
    match framing {
        Framing::EventStream => Ok(frames(input)),
        Framing::Json | Framing::Ndjson | Framing::JsonArray => Ok(values(input, framing)),
        Framing::Sse => Ok(server_sent(input, SseReading::Lenient)),
        other => Err(format!("`framing`: `{}` has no events", other.code())),
    }
}

/// The framing of a body, by its first byte.
fn told_by(body: &[u8]) -> Framing {
    let text = body.trim_ascii_start();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    match text.first() {
        // The length of a frame is far below 16 MiB, so its first byte is zero.
        Some(0) => Framing::EventStream,
        Some(b'{') => Framing::Json,
        Some(b'[') => Framing::JsonArray,
        _ => Framing::Sse,
    }
}

fn server_sent(input: &RequestInput<'_>, reading: SseReading) -> Framed {
    let mut framed = Framed::new(Framing::Sse);
    let mut decoder = SseDecoder::new(reading);
    let mut record = |event: SseEvent<'_>| match event {
        SseEvent::Message(message) => framed.events.push(EventRecord::from(&message)),
        SseEvent::Oversize { .. } => framed.dropped += 1,
        // Comments, and other parts that the lenient reading recognises.
        _ => {}
    };
    for piece in input.pieces() {
        decoder.push(piece, &mut record);
    }
    decoder.finish(&mut record);
    framed
}

fn frames(input: &RequestInput<'_>) -> Framed {
    let mut framed = Framed::new(Framing::EventStream);
    let mut decoder = EventStreamDecoder::new();
    let mut record = |event: EventStreamEvent<'_>| match event {
        EventStreamEvent::Message(message) => framed.events.push(EventRecord::from(&message)),
        _ => framed.dropped += 1,
    };
    for piece in input.pieces() {
        decoder.push(piece, &mut record);
    }
    decoder.finish(&mut record);
    framed
}

fn values(input: &RequestInput<'_>, framing: Framing) -> Framed {
    let mut framed = Framed::new(framing);
    let mut decoder = match framing {
        Framing::JsonArray => ValueDecoder::array(),
        _ => ValueDecoder::sequence(),
    };
    let mut record = |event: ValueEvent<'_>| match event {
        ValueEvent::Value { text, whole: true, .. } => framed.events.push(EventRecord {
            event: String::new(),
            data: text.into_owned(),
            id: String::new(),
            retry: None,
        }),
        // Cut off, too long, or not a value.
        _ => framed.dropped += 1,
    };
    for piece in input.pieces() {
        decoder.push(piece, &mut record);
    }
    decoder.finish(&mut record);
    if framing == Framing::Json && framed.events.len() > 1 {
        framed.framing = Framing::Ndjson.code();
    }
    framed
}

impl Framed {
    const fn new(framing: Framing) -> Self {
        Self { framing: framing.code(), events: Vec::new(), dropped: 0 }
    }
}

impl From<&SseMessage<'_>> for EventRecord {
    fn from(message: &SseMessage<'_>) -> Self {
        Self {
            event: message.event().into_owned(),
            data: message.data().into_owned(),
            id: message.id().to_owned(),
            retry: message.retry(),
        }
    }
}

/// The name of a message is its type, or the type of its exception.
impl From<&Message<'_>> for EventRecord {
    fn from(message: &Message<'_>) -> Self {
        let names = [":event-type", ":exception-type", ":error-code"];
        let of = |name: &&str| {
            let mut headers = message.headers();
            headers.find(|header| header.name == *name)?.value.as_str().map(str::to_owned)
        };
        Self {
            event: names.iter().find_map(of).unwrap_or_default(),
            data: String::from_utf8_lossy(message.payload()).into_owned(),
            id: String::new(),
            retry: None,
        }
    }
}
