//! L10 for the calls of a response, and the objects in its texts: what was cut off, lost or damaged is never reported
//! as complete.

use std::{collections::BTreeSet, sync::LazyLock};

use serde_json::{Value, json};
use wiremend_core::{MendOptions, Output as _, Partial, Policy, mend};
use wiremend_extract::{
    CallEnd, CallExtractor, CallSink, CallStart, Dialect, FoundCalls, MentionedCall, RestatedCall,
    Tools, UnknownTool,
};
use wiremend_wire::{ApiFormat, Encoder, Framing, Transcript, WireLimits, WireOptions, transcribe};

use super::{Check, Law, Violation};
use crate::{
    Seed,
    cuts::{self, Cut},
};

/// The most bytes that are read to check one law on one body. Longer bodies are checked at fewer
/// places.
const BUDGET: usize = 4_000_000;

/// Some of `count` places, so few that `each` bytes for every one of them stay within the budget.
pub(super) fn places(count: usize, each: usize, seed: &mut Seed) -> BTreeSet<usize> {
    let most = (BUDGET / each.max(1)).max(8);
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|_| seed.below(count)).collect()
}

/// The complete calls of a response: their names and their arguments, by value.
pub(super) fn complete(transcript: &Transcript) -> BTreeSet<(String, String)> {
    let calls = transcript.calls().into_iter().filter(|call| call.outcome().is_complete());
    calls.map(|call| (call.name().to_owned(), value(call.arguments()))).collect()
}

/// All calls that a response holds, complete or not.
fn all_calls(transcript: &Transcript) -> BTreeSet<(String, String)> {
    let calls = transcript.calls().into_iter();
    calls.map(|call| (call.name().to_owned(), value(call.arguments()))).collect()
}

/// JSON text in one spelling, and any other text as it is.
fn value(text: &str) -> String {
    let mended = mend(text.as_bytes(), &MendOptions::new().with_policy(Policy::STRICT));
    let Some(text) = mended.text() else { return text.to_owned() };
    let mut value = Partial::new();
    value.copy(text.as_bytes());
    value.settle();
    value.to_string()
}

/// Fails unless every call that `body` completes is one of `known`.
fn holds(
    known: &BTreeSet<(String, String)>,
    body: &[u8],
    (read, limits): (Read<'_>, WireLimits),
    what: impl Fn() -> String,
) -> Result<(), Violation> {
    let got = complete(&read(body, limits));
    let new: Vec<_> = got.difference(known).collect();
    Check::new(Law::HonestEnds, body)
        .that(new.is_empty(), || format!("{}: complete is {new:?}, of {known:?}", what()))
}

/// Reads a body within limits.
pub type Read<'r> = &'r dyn Fn(&[u8], WireLimits) -> Transcript;

/// Checks that a body that is cut off at any byte, and then ends in any way but cleanly, has no
/// complete call that is not in the whole body, with the same arguments. A long body is cut at fewer
/// places.
///
/// # Errors
/// The first cut that breaks the law.
pub fn cut_calls(body: &[u8], options: &WireOptions, seed: &mut Seed) -> Result<(), Violation> {
    let read = |body: &[u8], limits| transcribe(body, options.clone().with_limits(limits));
    cut_calls_read(body, (&read, options.limits()), seed)
}

/// Like [`cut_calls`], for another reader of bodies.
///
/// # Errors
/// The first cut that breaks the law.
pub fn cut_calls_read(
    body: &[u8],
    (read, limits): (Read<'_>, WireLimits),
    seed: &mut Seed,
) -> Result<(), Violation> {
    let whole = read(body, limits);
    let known = all_calls(&whole);
    let endings = endings(&whole);
    // On average, half of the body is read.
    let each = body.len() / 2 * endings.len();
    for place in places(body.len(), each, seed) {
        for ending in &endings {
            let cut = [body.get(..place).unwrap_or_default(), ending].concat();
            holds(&known, &cut, (read, limits), || {
                format!("cut at {place}, ended by {}", String::from_utf8_lossy(ending))
            })?;
        }
    }
    Ok(())
}

/// Checks that a body that lost any one event, in a way that leaves a trace, has no complete call that
/// is not in the whole body, with the same arguments.
///
/// # Errors
/// The first loss that breaks the law.
pub fn lost_events(body: &[u8], options: &WireOptions, seed: &mut Seed) -> Result<(), Violation> {
    let read = |body: &[u8], limits| transcribe(body, options.clone().with_limits(limits));
    lost_events_read(body, (&read, options.limits()), seed)
}

/// Like [`lost_events`], for another reader of bodies.
///
/// # Errors
/// The first loss that breaks the law.
pub fn lost_events_read(
    body: &[u8],
    (read, limits): (Read<'_>, WireLimits),
    seed: &mut Seed,
) -> Result<(), Violation> {
    let whole = read(body, limits);
    let known = all_calls(&whole);
    let framing = whole.framing().unwrap_or(Framing::Sse);
    each_loss(body, framing, limits, seed, &mut |broken, limits, what| {
        holds(&known, broken, (read, limits), what)
    })
}

/// Reads the objects in the texts of a body within limits: the JSON text of each, and whether it is complete.
pub type ReadObjects<'r> = &'r dyn Fn(&[u8], WireLimits) -> Vec<(String, bool)>;

/// Checks that a body that lost any one event, in a way that leaves a trace, has no complete object in its
/// texts that is not in the whole body, with the same value.
///
/// # Errors
/// The first loss that breaks the law.
pub fn lost_objects(
    body: &[u8],
    (read, limits): (ReadObjects<'_>, WireLimits),
    seed: &mut Seed,
) -> Result<(), Violation> {
    let framing = transcribe(body, WireOptions::new().with_limits(limits)).framing();
    let known: BTreeSet<String> =
        read(body, limits).into_iter().map(|(json, _)| value(&json)).collect();
    each_loss(body, framing.unwrap_or(Framing::Sse), limits, seed, &mut |broken, limits, what| {
        let got = read(broken, limits).into_iter().filter(|(_, complete)| *complete);
        let got: BTreeSet<String> = got.map(|(json, _)| value(&json)).collect();
        let new: Vec<_> = got.difference(&known).collect();
        Check::new(Law::HonestEnds, broken)
            .that(new.is_empty(), || format!("{}: complete is {new:?}, of {known:?}", what()))
    })
}

/// What is checked of a body that lost something: the body, the limits within which it is read, and what it
/// lost.
type CheckLoss<'c> =
    &'c mut dyn FnMut(&[u8], WireLimits, &dyn Fn() -> String) -> Result<(), Violation>;

/// Damages every event of a body in turn, and pads it beyond what the limits allow.
fn each_loss(
    body: &[u8],
    framing: Framing,
    limits: WireLimits,
    seed: &mut Seed,
    check: CheckLoss<'_>,
) -> Result<(), Violation> {
    let spans = spans(body, framing);
    for number in places(spans.len(), body.len() * DAMAGES, seed) {
        let Some(&(start, end)) = spans.get(number) else { continue };
        let (head, tail) = (&body[..start], &body[end..]);
        for damage in damages(&body[start..end], framing) {
            let broken = [head, &damage, tail].concat();
            check(&broken, limits, &|| {
                let damage = damage.get(..200).unwrap_or(&damage);
                format!("event {number} is {}", damage.escape_ascii())
            })?;
        }
    }
    if !matches!(framing, Framing::Sse | Framing::Ndjson) {
        return Ok(());
    }
    let longest = spans.iter().map(|(start, end)| end - start).max().unwrap_or_default();
    let limits = limits.with_sse(limits.sse().with_line(longest + 8).with_event(longest + 8));
    for number in places(spans.len(), body.len(), seed) {
        let Some(&(start, end)) = spans.get(number) else { continue };
        let event = String::from_utf8_lossy(&body[start..end]).into_owned();
        let padded = event.replacen('{', &format!("{{{}", " ".repeat(longest + 8)), 1);
        let broken = [&body[..start], padded.as_bytes(), &body[end..]].concat();
        check(&broken, limits, &|| format!("event {number} passes the limit"))?;
    }
    Ok(())
}

/// The events of a body, each with what ends it.
fn spans(body: &[u8], framing: Framing) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < body.len() {
        let rest = &body[at..];
        let length = match framing {
            Framing::Sse if rest.starts_with(b"\n\n") => 2,
            Framing::Sse if rest.starts_with(b"\r\n\r\n") => 4,
            Framing::Ndjson if rest.starts_with(b"\n") => 1,
            Framing::EventStream if at == start && rest.len() >= 4 => {
                let total = [rest[0], rest[1], rest[2], rest[3]];
                usize::try_from(u32::from_be_bytes(total)).unwrap_or(usize::MAX)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        at = at.saturating_add(length.max(1)).min(body.len());
        spans.push((start, at));
        start = at;
    }
    if start < body.len() {
        spans.push((start, body.len()));
    }
    spans
}

/// The number of ways in which an event is damaged.
const DAMAGES: usize = 7;

/// What may be left of an event that was damaged in transit.
fn damages(event: &[u8], framing: Framing) -> Vec<Vec<u8>> {
    if framing == Framing::EventStream {
        // One bit of the payload, so that a checksum is wrong.
        let mut flipped = event.to_vec();
        if let Some(byte) = flipped.iter_mut().rev().nth(5) {
            *byte ^= 1;
        }
        return vec![flipped];
    }
    let text = event.trim_ascii_end();
    let end = &event[text.len()..];
    let prefix: &[u8] = if framing == Framing::Sse { b"data: " } else { b"" };
    let mut damages: Vec<Vec<u8>> = [
        &b"<html><body>502 Bad Gateway</body></html>"[..],
        b"{\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}",
        b"upstream connect error",
    ]
    .iter()
    .map(|said| [prefix, said, end].concat())
    .collect();
    // The end of the line is missing, or a byte of it is not UTF-8.
    for part in [text.len() / 2, text.len() * 9 / 10, text.len().saturating_sub(1)] {
        damages.push([&text[..part], end].concat());
    }
    let mut invalid = event.to_vec();
    if let Some(byte) = invalid.get_mut(text.len() * 3 / 4) {
        *byte = 0xff;
    }
    damages.push(invalid);
    damages
}

/// The ways in which a response of that kind can end without a clean stop. The first is nothing at all.
fn endings(whole: &Transcript) -> Vec<Vec<u8>> {
    let framing = whole.framing().unwrap_or(Framing::Sse);
    let mut endings = vec![Vec::new()];
    if !matches!(framing, Framing::Sse | Framing::Ndjson) {
        return endings;
    }
    let mut say = |events: &[(&str, Value)]| {
        let mut encoder = Encoder::new(framing);
        // A line that is open ends here.
        let mut out = if framing == Framing::Sse { b"\n\n".to_vec() } else { b"\n".to_vec() };
        for (name, payload) in events {
            match payload.as_str() {
                Some(plain) => encoder.event(name, plain, &mut out),
                None => encoder.event(name, &payload.to_string(), &mut out),
            }
        }
        endings.push(out);
    };
    say(&[("error", json!({"type": "error", "error": {"message": "overloaded"}}))]);
    match whole.format() {
        Some(ApiFormat::OpenAiChat) => {
            for reason in ["length", "content_filter", "network_error", "no_such_reason"] {
                let choice = json!({"index": 0, "delta": {}, "finish_reason": reason});
                say(&[("", json!({"choices": [choice]})), ("", json!("[DONE]"))]);
            }
            say(&[("", json!("[DONE]"))]);
        }
        Some(ApiFormat::Anthropic) => {
            for reason in ["max_tokens", "refusal", "pause_turn"] {
                let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason}});
                let stop = json!({"type": "message_stop"});
                say(&[("message_delta", delta), ("message_stop", stop)]);
            }
            say(&[("message_stop", json!({"type": "message_stop"}))]);
        }
        Some(ApiFormat::OpenAiResponses) => {
            let response = json!({"status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"}, "output": []});
            let kind = "response.incomplete";
            say(&[(kind, json!({"type": kind, "response": response}))]);
            let kind = "response.failed";
            say(&[(kind, json!({"type": kind, "response": {"status": "failed"}}))]);
            let kind = "response.completed";
            say(&[(kind, json!({"type": kind}))]);
        }
        Some(ApiFormat::CohereV2) => {
            let delta = json!({"finish_reason": "MAX_TOKENS"});
            say(&[("", json!({"type": "message-end", "delta": delta}))]);
        }
        Some(ApiFormat::Gemini) => {
            let candidate = json!({"index": 0, "finishReason": "SAFETY"});
            say(&[("", json!({"candidates": [candidate]}))]);
        }
        Some(ApiFormat::Ollama) => {
            let message = json!({"role": "assistant", "content": ""});
            say(&[("", json!({"message": message, "done": true, "done_reason": "length"}))]);
        }
        _ => {}
    }
    endings
}

// The laws of the reader of calls in text: L1, L2, L6, L8 and L10.

/// Everything that a reader of calls emits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTrace {
    /// The source, in the order in which it was emitted.
    pub source: Vec<u8>,
    /// The text, the reasoning and the calls.
    pub found: FoundCalls,
    /// How many calls are open.
    open: usize,
    /// The arguments of the open call, as they were emitted.
    json: Vec<u8>,
    /// The arguments of calls that can be run and are no JSON.
    pub broken: Vec<Vec<u8>>,
}

impl CallSink for CallTrace {
    fn text(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
        CallSink::text(&mut self.found, bytes);
    }
    fn content(&mut self, text: &[u8]) {
        self.found.content(text);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
        CallSink::reasoning(&mut self.found, bytes);
    }
    fn text_was_reasoning(&mut self) {
        self.found.text_was_reasoning();
    }
    fn markup(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
    }
    fn begin(&mut self, call: &CallStart<'_>) {
        self.open += 1;
        self.json.clear();
        self.found.begin(call);
    }
    fn raw(&mut self, bytes: &[u8]) {
        self.source.extend_from_slice(bytes);
        self.found.raw(bytes);
    }
    fn arguments(&mut self, json: &[u8]) {
        self.json.extend_from_slice(json);
        self.found.arguments(json);
    }
    fn id(&mut self, id: &str) {
        self.found.id(id);
    }
    fn end(&mut self, call: &CallEnd) {
        self.open = self.open.wrapping_sub(1);
        if call.outcome.can_run() && !crate::oracle::is_json(&self.json) {
            self.broken.push(self.json.clone());
        }
        self.found.end(call);
    }
    fn mentioned(&mut self, call: &MentionedCall<'_>) {
        CallSink::mentioned(&mut self.found, call);
    }
    fn restated(&mut self, call: &RestatedCall<'_>) {
        CallSink::restated(&mut self.found, call);
    }
    fn unknown(&mut self, tool: &UnknownTool<'_>) {
        CallSink::unknown(&mut self.found, tool);
    }
}

/// How many prefixes of an input are read.
const LONGEST_PREFIX: usize = 160;

/// Reads a text in pieces, up to its own end.
#[must_use]
pub fn read_calls<'p>(
    reader: &CallExtractor,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> CallTrace {
    let (mut reader, mut trace) = (reader.clone(), CallTrace::default());
    for piece in pieces {
        reader.push(piece, &mut trace);
    }
    reader.finish_at_eos(&mut trace);
    trace
}

/// A reader for a dialect, or for all, that knows the tools `book` and `write_file`.
#[must_use]
pub fn call_reader(dialect: Option<&Dialect>, options: &MendOptions) -> CallExtractor {
    // All rows are made ready once.
    static ALL: LazyLock<CallExtractor> = LazyLock::new(|| ready(None));
    dialect
        .map_or_else(|| ALL.clone(), |dialect| ready(Some(dialect)))
        .with_mending(options.clone())
}

fn ready(dialect: Option<&Dialect>) -> CallExtractor {
    let tools = Tools::new().with_tool("book", ["seats", "name"], None).with_tool(
        "write_file",
        ["path", "content"],
        None,
    );
    let reader = CallExtractor::new(MendOptions::new()).with_tools(tools);
    let mut reader = match dialect {
        Some(dialect) => reader.with_dialect(dialect.clone()),
        None => reader,
    };
    reader.push(b"", &mut FoundCalls::default());
    reader
}

/// Checks at every byte that what was emitted, and what a reset returns, is what was received.
fn decided(input: &[u8], reader: &CallExtractor) -> Result<(), Violation> {
    let check = Check::new(Law::NothingLost, input);
    let (mut reader, mut trace) = (reader.clone(), CallTrace::default());
    for (at, byte) in input.iter().take(LONGEST_PREFIX).enumerate() {
        reader.push(std::slice::from_ref(byte), &mut trace);
        let withheld = reader.withheld();
        let rest = reader.clone().reset();
        check.same("what is withheld", &withheld, &rest.len())?;
        let given = [&trace.source[..], &rest].concat();
        check.same_text("what was emitted and not decided", &given, &input[..=at])?;
    }
    Ok(())
}

/// Checks a reader of calls on `input`: the source that it emits is the input, a reset gives back
/// what was not emitted, no cut makes a difference, every call that begins also ends, and the arguments of one that can be run are JSON.
///
/// # Errors
/// The first law that `input` breaks.
pub fn text_calls(input: &[u8], reader: &CallExtractor) -> Result<(), Violation> {
    let whole = read_calls(reader, [input]);
    Check::new(Law::NothingLost, input).same_text("the source", &whole.source, input)?;
    Check::new(Law::HonestEnds, input).same("open calls", &whole.open, &0)?;
    let broken: Vec<_> = whole.broken.iter().map(|json| String::from_utf8_lossy(json)).collect();
    Check::new(Law::AlwaysValid, input)
        .that(broken.is_empty(), || format!("the arguments {broken:?}"))?;
    decided(input, reader)?;
    let cuts = if input.len() <= 120 {
        cuts::thorough(input.len())
    } else {
        cuts::few(input.len(), &mut Seed::of(input))
    };
    let check = Check::new(Law::SplitInvariance, input);
    for cut in cuts.iter().chain([&Cut::bytes(input.len())]) {
        let trace = read_calls(reader, cut.chunks(input));
        let at = || format!("cut at {:?}", cut.offsets().get(..40).unwrap_or(cut.offsets()));
        check.that(trace == whole, || format!("{}: {trace:?} instead of {whole:?}", at()))?;
    }
    Ok(())
}
