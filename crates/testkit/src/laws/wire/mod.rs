//! What holds for bodies: how they are framed, and how they are written again.

#[cfg(feature = "work")]
mod growth;

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use wiremend_core::Mended;
use wiremend_wire::{
    Call, CallKind, RewriteMode, RewriteOptions, RewriteOutcome, Rewriter, Rewritten, Transcript,
    WireEvent, WireOptions,
    eventstream::Message,
    sse::{SseDecoder, SseEvent, SseReading},
    transcribe,
};

use super::{Law, Violation};
use crate::{Seed, cuts::Cut};
#[cfg(feature = "work")]
pub use growth::{CHUNKS, Road, STEPS_PER_BYTE, doubling, in_proportion};

/// An event: its name, its data, and the id that applies.
type Event = (String, Vec<u8>, String);

/// The events of a whole stream, read line by line as the WHATWG specification says: the strict
/// reading, without regard for cost.
#[must_use]
pub fn naive_events(stream: &[u8]) -> Vec<Event> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let (mut events, mut id) = (Vec::new(), String::new());
    let (mut name, mut data) = (String::new(), None::<Vec<u8>>);
    let mut rest = stream;
    // A line without an end is not a line.
    while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        let (line, tail) = rest.split_at(end);
        rest = tail.strip_prefix(b"\r\n").or_else(|| tail.get(1..)).unwrap_or_default();
        if line.is_empty() {
            if let Some(data) = data.take() {
                let shown = if name.is_empty() { "message".to_owned() } else { name.clone() };
                events.push((shown, data, id.clone()));
            }
            name.clear();
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => match &mut data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => data = Some(value.to_vec()),
            },
            b"event" => name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => id = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
    }
    events
}

/// The decoder gives the events of [`naive_events`], with each of those cuts.
///
/// # Errors
/// Where it does not.
pub fn events_agree(stream: &[u8], cuts: &[Cut]) -> Result<(), Violation> {
    let want = naive_events(stream);
    for cut in cuts {
        let mut decoder = SseDecoder::new(SseReading::Strict);
        let mut seen: Vec<Event> = Vec::new();
        let mut take = |event: SseEvent<'_>| {
            if let SseEvent::Message(message) = event {
                let name = message.event().into_owned();
                seen.push((name, message.data_bytes().to_vec(), message.id().to_owned()));
            }
        };
        for chunk in cut.chunks(stream) {
            decoder.push(chunk, &mut take);
        }
        decoder.finish(&mut take);
        if seen != want {
            return Err(Violation::new(
                Law::SplitInvariance,
                stream,
                format!("{cut:?}: {seen:?}, not {want:?}"),
            ));
        }
    }
    Ok(())
}

/// The result of writing a body again.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The body that comes out.
    pub bytes: Vec<u8>,
    /// The events that came with it.
    pub said: Transcript,
    /// How it ended.
    pub outcome: RewriteOutcome,
}

/// Writes a body again, read in the chunks of a cut.
#[must_use]
pub fn rewritten(body: &[u8], options: &RewriteOptions, cut: &Cut) -> Written {
    let mut rewriter = Rewriter::new(options.clone());
    let (mut bytes, mut said) = (Vec::new(), Transcript::new());
    let mut take = |piece: Rewritten<'_>| match piece {
        Rewritten::Bytes(piece) => bytes.extend_from_slice(piece),
        Rewritten::Event(event) => said.record(&event),
        _ => {}
    };
    for chunk in cut.chunks(body) {
        rewriter.push(chunk, &mut take);
    }
    let outcome = rewriter.finish(&mut take);
    Written { bytes, said, outcome }
}

/// A body that is written again comes out the same with each of those cuts. It has the same text as
/// before, and as many calls with a name or an id. If nothing is reported as changed, nothing is. No call is
/// complete in it that is not reported as complete.
///
/// # Errors
/// Where that does not hold.
pub fn rewriting(body: &[u8], options: &RewriteOptions, cuts: &[Cut]) -> Result<(), Violation> {
    let Written { bytes: whole, said, outcome } = rewritten(body, options, &Cut::whole());
    if outcome == RewriteOutcome::Unchanged && whole != body {
        return Err(Violation::new(
            Law::Identity,
            body,
            "unchanged, but not the same bytes".into(),
        ));
    }
    for cut in cuts {
        let Written { bytes: out, outcome: other, .. } = rewritten(body, options, cut);
        // How much waits at one time depends on the cut, and so does where a limit is exceeded.
        let bounded = [outcome, other].contains(&RewriteOutcome::Overflow);
        if !bounded && (out != whole || other != outcome) {
            let [out, whole] = [&out, &whole].map(|bytes| String::from_utf8_lossy(bytes));
            return Err(Violation::new(
                Law::SplitInvariance,
                body,
                format!("{cut:?}: {out:?}, not {whole:?}"),
            ));
        }
    }
    let [before, after] = [body, &whole].map(|body| transcribe(body, WireOptions::new()));
    if before.text() != after.text() || before.reasoning() != after.reasoning() {
        return Err(Violation::new(Law::NothingLost, body, "the text is another one".into()));
    }
    // A call without a name begins with its arguments: without the prose before them it may begin
    // later, or not at all.
    let named = |transcript: &Transcript| {
        let calls = transcript.calls();
        calls.iter().filter(|call| !call.name().is_empty() || call.id().is_some()).count()
    };
    if named(&before) != named(&after) {
        return Err(Violation::new(Law::NothingLost, body, "other calls come out".into()));
    }
    // What was damaged may be read as other calls.
    for ((call, report), raw) in after.calls().iter().zip(said.calls()).zip(before.calls()) {
        let complete = |call: &Call| call.outcome().is_complete();
        let is_known = complete(raw) || complete(report) || report.raw() != raw.raw();
        if complete(call) && !is_known && !states(body, call.arguments()) {
            let text = String::from_utf8_lossy(&whole);
            return Err(Violation::new(Law::HonestEnds, body, format!("a call is gained: {text}")));
        }
    }
    Ok(())
}

/// Whether a body holds these arguments whole, in a string or as a value.
#[must_use]
pub fn states(body: &[u8], arguments: &str) -> bool {
    let quoted = serde_json::to_string(arguments).unwrap_or_default();
    let holds = |text: &[u8]| !text.is_empty() && body.windows(text.len()).any(|part| part == text);
    holds(arguments.as_bytes()) || holds(quoted.as_bytes())
}

/// After a stop nothing is withheld, and later bytes pass through.
///
/// # Errors
/// Where that does not hold.
pub fn stopping(body: &[u8], options: RewriteOptions, at: usize) -> Result<(), Violation> {
    let (head, tail) = body.split_at(at.min(body.len()));
    let mut rewriter = Rewriter::new(options);
    rewriter.push(head, &mut |_| {});
    rewriter.stop(&mut |_| {});
    let mut passed = Vec::new();
    rewriter.push(tail, &mut |piece| {
        if let Rewritten::Bytes(bytes) = piece {
            passed.extend_from_slice(bytes);
        }
    });
    if rewriter.withheld() == 0 && passed == tail {
        return Ok(());
    }
    Err(Violation::new(Law::NothingLost, body, "something is withheld, or changed".into()))
}

// L14: a client of a body that was written again can run no more of a call than a client of the body as it came.

/// The members that hold arguments, or a piece of them, in any format.
const ARGUMENTS: [&str; 8] = [
    "args",
    "arguments",
    "delta",
    "input",
    "parameters",
    "partial_arguments",
    "partial_json",
    "tool_input",
];

/// The members that hold a piece of content.
const CONTENT: [&str; 6] = ["completion", "content", "delta", "response", "text", "value"];

/// At how many of the places a body is ended.
const ENDS: usize = 8;

/// Writes a body again in each mode, and checks at `most` places, or after each byte, what a client has by then; and
/// what it has if the body ends there, or is stopped: what it can join of a call that has not ended complete is what
/// it could join of the body as it came.
///
/// The client knows nothing of formats. It joins the strings of members that hold arguments, by the place that they
/// have in their event, and where they differ from those of the original body, they must add up to the arguments of
/// calls that were reported as complete before.
///
/// # Errors
/// Where a client has more.
pub fn never_more_runnable(
    body: &[u8],
    options: &RewriteOptions,
    most: usize,
    seed: &mut Seed,
) -> Result<(), Violation> {
    let places: BTreeSet<usize> = match body.len() {
        short if short <= most => (1..=short).collect(),
        long => (0..most).map(|_| seed.below(long) + 1).chain([long]).collect(),
    };
    let keys = [&ARGUMENTS[..], if options.json_content() { &CONTENT } else { &[] }].concat();
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        let options = options.clone().with_mode(mode);
        let mut run = Run::new(&options, &keys);
        let mut at = 0;
        for &place in &places {
            run.push(&body[at..place]);
            at = place;
            run.check(&body[..place], false)?;
        }
        run.finish();
        run.check(body, true)?;
        for &place in places.iter().step_by(places.len().div_ceil(ENDS).max(1)) {
            for stops in [false, true] {
                let mut run = Run::new(&options, &keys);
                run.push(&body[..place]);
                if stops {
                    run.stop();
                } else {
                    run.finish();
                };
                run.check(&body[..place], true)?;
            }
        }
    }
    Ok(())
}

/// A text that is rewritten, and has ended.
struct Known {
    raw: String,
    /// What is made of it, if it is complete.
    made: Option<String>,
    /// The original may have it in another form, such as twice.
    resent: bool,
}

/// A body that is written again, and what a client has of it.
struct Run<'k> {
    rewriter: Rewriter,
    keys: &'k [&'k str],
    out: Vec<u8>,
    checked: usize,
    known: Vec<Known>,
}

impl<'k> Run<'k> {
    fn new(options: &RewriteOptions, keys: &'k [&'k str]) -> Self {
        let (out, known) = (Vec::new(), Vec::new());
        Self { rewriter: Rewriter::new(options.clone()), keys, out, checked: 0, known }
    }

    fn push(&mut self, chunk: &[u8]) {
        let Self { rewriter, out, known, .. } = self;
        rewriter.push(chunk, &mut |piece| take(out, known, &piece));
    }

    fn finish(&mut self) {
        let Self { rewriter, out, known, .. } = self;
        rewriter.finish(&mut |piece| take(out, known, &piece));
    }

    fn stop(&mut self) {
        let Self { rewriter, out, known, .. } = self;
        rewriter.stop(&mut |piece| take(out, known, &piece));
    }

    /// `before`: what a client would have directly. `whole`: all of it has left.
    fn check(&mut self, before: &[u8], whole: bool) -> Result<(), Violation> {
        let is_same = before.starts_with(&self.out);
        if is_same && (!whole || before.len() == self.out.len()) {
            self.checked = self.out.len();
            return Ok(());
        }
        if !whole && core::mem::replace(&mut self.checked, self.out.len()) == self.out.len() {
            return Ok(());
        }
        let [raw, left] = [before, &self.out].map(|bytes| joined(bytes, self.keys));
        for (place, text) in &left {
            let original = raw.get(place).map(String::as_str).unwrap_or_default();
            if !self.is_explained(original, text, whole) {
                let what = format!("{place} has {text:?}, and came as {original:?}");
                return Err(Violation::new(Law::NeverMoreRunnable, before, what));
            }
        }
        Ok(())
    }

    /// Whether a joined text differs from the original only by what was made of complete texts.
    fn is_explained(&self, mut raw: &str, mut left: &str, whole: bool) -> bool {
        let is_same =
            |raw: &str, left: &str| if whole { raw == left } else { raw.starts_with(left) };
        if is_same(raw, left) {
            return true;
        }
        for known in &self.known {
            let made = known.made.as_deref().unwrap_or(&known.raw);
            match (left.strip_prefix(made), raw.strip_prefix(known.raw.as_str())) {
                // The original has it in another form, so nothing is known of what comes after it.
                (Some(_), _) if known.made.is_some() && known.resent => return true,
                (Some(rest), Some(raw_rest)) if !made.is_empty() => (left, raw) = (rest, raw_rest),
                _ => {}
            }
        }
        let begins = |known: &Known| {
            known
                .made
                .as_deref()
                .is_some_and(|made| made.starts_with(left) || same_value(made, left))
        };
        is_same(raw, left) || self.known.iter().any(begins)
    }
}

fn take(out: &mut Vec<u8>, known: &mut Vec<Known>, piece: &Rewritten<'_>) {
    match piece {
        Rewritten::Bytes(bytes) => out.extend_from_slice(bytes),
        Rewritten::Event(WireEvent::CallEnded(call)) => known.push(Known::of_call(call)),
        Rewritten::Event(WireEvent::ContentEnded { raw, mended, .. }) => {
            known.push(Known::of_content(raw, mended));
        }
        _ => {}
    }
}

impl Known {
    fn of_call(call: &Call) -> Self {
        let complete = call.outcome().is_complete() && call.kind() != CallKind::Custom;
        let made = complete.then(|| call.arguments().to_owned());
        Self { raw: call.raw().to_owned(), made, resent: call.is_resent() }
    }

    fn of_content(raw: &str, mended: &Mended) -> Self {
        let made = mended.text().filter(|_| mended.outcome().is_complete());
        Self { raw: raw.to_owned(), made: made.map(Into::into), resent: false }
    }
}

fn same_value(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| serde_json::from_str::<Value>(text).ok());
    one.is_some() && one == other
}

/// What a client joins: the texts in members of those names, by their place in an event.
fn joined(body: &[u8], keys: &[&str]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for payload in payloads(body) {
        if let Ok(value) = serde_json::from_slice::<Value>(&payload) {
            collect(&value, "", "", keys, &mut found);
        }
    }
    found
}

/// The payloads of a body that a strict reader finds: the data of events, the payloads of frames, the lines, or the
/// whole.
fn payloads(body: &[u8]) -> Vec<Vec<u8>> {
    if body.first() == Some(&0) {
        return frames(body);
    }
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Array(items)) => {
            return items.iter().map(|item| item.to_string().into_bytes()).collect();
        }
        Ok(_) => return vec![body.to_vec()],
        Err(_) => {}
    }
    let events = naive_events(body);
    if events.is_empty() {
        // Around those of an array that is not whole there is a bracket or a comma.
        let lines = body.split(|byte| *byte == b'\n');
        let around = |byte: &u8| matches!(byte, b'[' | b',' | b' ' | b'\r');
        let item = |line: &[u8]| line.iter().skip_while(|byte| around(byte)).copied().collect();
        return lines.map(item).collect();
    }
    events.into_iter().map(|(_, data, _)| data).collect()
}

fn frames(mut rest: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some(length) =
        rest.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes) as usize)
        && let Some((frame, after)) = rest.split_at_checked(length).filter(|_| length > 0)
    {
        rest = after;
        let Ok(message) = Message::read(frame) else { continue };
        let outer = serde_json::from_slice::<Value>(message.payload()).unwrap_or_default();
        let inner = outer.get("bytes").and_then(Value::as_str);
        let inner = inner.and_then(|bytes| STANDARD.decode(bytes).ok());
        found.push(inner.unwrap_or_else(|| message.payload().to_vec()));
    }
    found
}

/// Collects texts. The place of one is made of the keys on its way, and of what numbers the objects on it.
fn collect(
    value: &Value,
    place: &str,
    key: &str,
    keys: &[&str],
    found: &mut BTreeMap<String, String>,
) {
    let holds = keys.contains(&key);
    match value {
        Value::String(text) if holds => {
            found.entry(place.to_owned()).or_default().push_str(text);
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                let index = item.get("index").map_or(number.to_string(), Value::to_string);
                collect(item, &format!("{place}/{index}"), key, keys, found);
            }
        }
        Value::Object(members) => {
            let numbers =
                ["index", "item_id", "output_index", "content_index", "contentBlockIndex"];
            let numbers = numbers.map(|name| members.get(name).map(Value::to_string));
            let number = numbers.into_iter().flatten().collect::<Vec<_>>().join(",");
            // The arguments as a whole.
            if ["args", "arguments", "input", "parameters"].contains(&key) {
                found.insert(format!("{place}:{number}"), value.to_string());
            }
            for (name, member) in members {
                collect(member, &format!("{place}/{number}/{name}"), name, keys, found);
            }
        }
        _ => {}
    }
}
