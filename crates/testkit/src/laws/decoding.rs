//! The laws of the decoder of providers' responses: L1, L4, L6, L7, L8 and L9 for bodies.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use wiremend_core::Outcome;
use wiremend_wire::{
    ApiFormat, Decoder, StreamOutcome, Transcript, WireEvent, WireLimits, WireOptions, mend_body,
    transcribe,
};

use super::{
    Check, Law, Violation,
    calls::{Read, complete, places},
};
use crate::{
    Seed,
    bodies::Payloads,
    cuts::{self, Cut},
};

/// What came out of one body.
struct Run {
    events: Vec<String>,
    transcript: Transcript,
    outcome: StreamOutcome,
    /// Calls that began, and that ended.
    began: usize,
    ended: usize,
    /// Bytes of text and of arguments.
    said: usize,
    /// An event came after the last one.
    late: bool,
}

impl Run {
    fn new(body: &[u8], cut: &Cut, options: WireOptions) -> Self {
        let mut run = Self {
            events: Vec::new(),
            transcript: Transcript::new(),
            outcome: StreamOutcome::Cut,
            began: 0,
            ended: 0,
            said: 0,
            late: false,
        };
        let mut decoder = Decoder::new(options);
        for chunk in cut.chunks(body) {
            decoder.push(chunk, &mut |event| run.take(&event));
        }
        run.outcome = decoder.finish(&mut |event| run.take(&event));
        let events = run.events.len();
        decoder.push(body, &mut |event| run.take(&event));
        let again = decoder.finish(&mut |event| run.take(&event));
        run.late = again != run.outcome || run.events.len() > events;
        run
    }

    fn take(&mut self, event: &WireEvent<'_>) {
        match event {
            WireEvent::CallBegan { call, .. } => {
                self.late |= *call != self.began;
                self.began += 1;
            }
            WireEvent::CallEnded(call) => {
                self.ended += 1;
                self.said += call.raw().len();
            }
            WireEvent::Text { text, .. }
            | WireEvent::Reasoning { text, .. }
            | WireEvent::Refusal { text, .. } => self.said += text.len(),
            _ => {}
        }
        self.transcript.record(event);
        self.events.push(format!("{event:?}"));
    }
}

/// Checks the decoder on a body: the events are the same however it is divided, every call ends once,
/// the end stays the same, and no more is emitted than was received.
///
/// # Errors
/// The first law that the body breaks.
pub fn decoding(body: &[u8], options: &WireOptions, seed: &mut Seed) -> Result<(), Violation> {
    let bytes = Run::new(body, &Cut::bytes(body.len()), options.clone());
    for cut in cuts::few(body.len(), seed) {
        let run = Run::new(body, &cut, options.clone());
        Check::new(Law::SplitInvariance, body).that(run.events == bytes.events, || {
            let differ = run.events.iter().zip(&bytes.events).find(|(one, other)| one != other);
            format!("cut at {:?}: {differ:?}", cut.offsets().get(..40).unwrap_or(cut.offsets()))
        })?;
    }
    let last = bytes.events.last().cloned().unwrap_or_default();
    Check::new(Law::NoPanic, body).that(!bytes.late && last.starts_with("Ended("), || {
        format!("the end is not the end: {last}")
    })?;
    let mut calls: Vec<usize> = bytes.transcript.calls().iter().map(|call| call.number()).collect();
    calls.dedup();
    let whole = bytes.began == bytes.ended && calls.len() == bytes.ended;
    Check::new(Law::AppendOnly, body)
        .that(whole, || format!("{} calls began and {} ended", bytes.began, bytes.ended))?;
    // A byte that is not UTF-8 becomes three, and an omitted item becomes a null.
    Check::new(Law::Bounded, body)
        .that(bytes.said <= 64 + 16 * body.len(), || format!("{} bytes were said", bytes.said))
}

/// Checks that mending a body in place changes nothing in its contents, and that mending it again
/// changes nothing.
///
/// # Errors
/// The law that the body breaks.
pub fn bodies_stay(body: &[u8], options: WireOptions) -> Result<(), Violation> {
    let mended = mend_body(body, options.clone());
    if !mended.is_changed() {
        return Check::new(Law::Identity, body)
            .that(mended.body() == body, || "an unchanged body differs".to_owned());
    }
    let again = transcribe(mended.body(), options);
    let before = mended.transcript();
    Check::new(Law::NothingLost, body).that(
        again.text() == before.text()
            && again.reasoning() == before.reasoning()
            && again.finish() == before.finish()
            && again.calls().len() == before.calls().len(),
        || format!("{again:?} instead of {before:?}"),
    )?;
    for (call, old) in again.calls().into_iter().zip(before.calls()) {
        let kept = !old.outcome().is_valid()
            || (call.arguments() == old.arguments() && call.outcome() == Outcome::Unchanged);
        Check::new(Law::Idempotence, body).that(kept, || format!("{call:?} instead of {old:?}"))?;
    }
    Ok(())
}

/// Takes the lines of `body` that are chunks of chat completions, and checks that their texts come
/// out, compared with those that `serde_json` alone puts together.
///
/// # Errors
/// The law that the body breaks.
pub fn chats_lose_nothing(body: &[u8]) -> Result<(), Violation> {
    let text = String::from_utf8_lossy(body);
    let mut stream = String::new();
    let mut said: BTreeMap<u64, String> = BTreeMap::new();
    for line in text.lines() {
        let Some(payload) = line.strip_prefix("data: ") else { continue };
        let Ok(value) = serde_json::from_str::<Value>(payload) else { continue };
        let Some(heard) = heard(&value) else { continue };
        // A line end within the payload is white space of JSON, and begins another line of data.
        let lines = payload.replace('\r', "\n").replace('\n', "\ndata: ");
        stream.push_str(&format!("data: {lines}\n\n"));
        for (choice, content) in heard {
            said.entry(choice).or_default().push_str(&content);
        }
    }
    let options = WireOptions::new().with_format(ApiFormat::OpenAiChat);
    let transcript = transcribe(stream.as_bytes(), options);
    let mut texts: Vec<String> = transcript.texts().to_vec();
    let mut wanted: Vec<String> = said.into_values().filter(|text| !text.is_empty()).collect();
    texts.sort();
    wanted.sort();
    Check::new(Law::NothingLost, stream.as_bytes())
        .that(texts == wanted, || format!("{texts:?} instead of {wanted:?}"))
}

/// The texts of a chunk by choice; `None` for anything but the plainest chunk.
fn heard(value: &Value) -> Option<Vec<(u64, String)>> {
    let choices = value.get("choices")?.as_array()?;
    let mut heard = Vec::new();
    for choice in choices {
        let index = match choice.get("index") {
            None => 0,
            Some(index) => index.as_u64().filter(|index| *index < 0xffff)?,
        };
        let delta = choice.get("delta")?.as_object()?;
        match delta.get("content") {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => heard.push((index, text.clone())),
            Some(_) => return None,
        }
    }
    Some(heard)
}

// L16: nothing at a call's place goes unread.

/// The members that hold the arguments of a call as an object. What is in it is the model's.
const ARGUMENTS: [&str; 4] = ["args", "arguments", "input", "parameters"];

/// The members that hold text. Beside one of them, another need not be there.
const TEXTS: [&str; 7] =
    ["content", "reasoning", "reasoning_content", "refusal", "response", "text", "thinking"];

/// Checks that a body in which any one member has another name, another type, or a list or an object around its value has
/// no complete call that is not in the body itself, and that it says so if it has another text or fewer calls. A body
/// that is not complete itself, or that has a call that is not, says nothing of what a change may do; nor does one
/// whose calls no ids tell apart, so that what is left of one may be a piece of another.
///
/// # Errors
/// The first change that breaks the law.
///
/// ```
/// use wiremend_testkit::{Seed, bodies::Shape, laws};
/// use wiremend_wire::WireOptions;
///
/// let body = Shape::Ollama.body(&["so far"], &[&["{\"a\": 1}"]]);
/// laws::unread_members(&body, &WireOptions::new(), &mut Seed::new(1)).unwrap();
/// ```
pub fn unread_members(
    body: &[u8],
    options: &WireOptions,
    seed: &mut Seed,
) -> Result<(), Violation> {
    let read = |body: &[u8], limits| transcribe(body, options.clone().with_limits(limits));
    unread_members_read(body, (&read, options.limits()), seed)
}

/// Like [`unread_members`], for another reader of bodies.
///
/// # Errors
/// The first change that breaks the law.
pub fn unread_members_read(
    body: &[u8],
    (read, limits): (Read<'_>, WireLimits),
    seed: &mut Seed,
) -> Result<(), Violation> {
    let said = read(body, limits);
    let calls = said.calls();
    let holds_all = calls.iter().all(|call| call.outcome().is_complete());
    let ids: BTreeSet<_> = calls.iter().filter_map(|call| call.id()).collect();
    let tells_apart = calls.len() < 2 || ids.len() == calls.len();
    if said.outcome() != StreamOutcome::Complete || !holds_all || !tells_apart {
        return Ok(());
    }
    let payloads = Payloads::of(body);
    let mut changes = Vec::new();
    for (number, payload) in payloads.iter().enumerate() {
        let mut paths = Vec::new();
        members(payload, &mut Vec::new(), &mut paths);
        changes.extend(paths.into_iter().map(|path| (number, path)));
    }
    for chosen in places(changes.len(), body.len() * CHANGES.len(), seed) {
        let Some((number, path)) = changes.get(chosen) else { continue };
        let Some(payload) = payloads.iter().nth(*number) else { continue };
        for change in CHANGES {
            let Some(changed) = change.apply(payload, path) else { continue };
            let other = payloads.replaced(*number, &changed);
            hides_nothing(&said, &read(&other, limits)).map_err(|what| {
                let change = format!("{change:?} of {path:?} in payload {number}");
                Violation::new(Law::NothingUnread, &other, format!("{change}: {what}"))
            })?;
        }
    }
    Ok(())
}

/// Compares what a body says with what it says after a change.
fn hides_nothing(said: &Transcript, changed: &Transcript) -> Result<(), String> {
    let [known, got] = [said, changed].map(|said| {
        complete(said)
            .into_iter()
            .map(|(name, json)| (name, by_value(&json)))
            .collect::<BTreeSet<_>>()
    });
    let new: Vec<_> = got.difference(&known).collect();
    if !new.is_empty() {
        return Err(format!("complete is {new:?}, of {known:?}"));
    }
    if changed.outcome() != StreamOutcome::Complete {
        return Ok(());
    }
    let [before, after] = [said, changed].map(|said| (said.text(), said.calls().len()));
    if before.0 == after.0 && before.1 <= after.1 {
        return Ok(());
    }
    Err(format!("{after:?} without a word, and not {before:?}"))
}

/// JSON text with every number in one spelling: a body that says `1` and later `1.0` says the same.
fn by_value(json: &str) -> String {
    fn spell(value: &mut Value) {
        match value {
            Value::Number(number) => *value = json!(number.as_f64()),
            Value::Array(items) => items.iter_mut().for_each(spell),
            Value::Object(members) => members.values_mut().for_each(spell),
            _ => {}
        }
    }
    let Ok(mut value) = serde_json::from_str(json) else { return json.to_owned() };
    spell(&mut value);
    value.to_string()
}

/// A step to a member: its name, or the number of an item.
#[derive(Clone, Debug)]
enum Step {
    Item(usize),
    Member(String),
}

/// The paths of all members.
fn members(value: &Value, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                path.push(Step::Member(name.clone()));
                found.push(path.clone());
                if !(value.is_object() && ARGUMENTS.contains(&name.as_str())) {
                    members(value, path, found);
                }
                path.pop();
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                path.push(Step::Item(number));
                members(item, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

/// What happens to a member.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// Its name loses its last letter.
    Clipped,
    Flag,
    InList,
    InObject,
    List,
    Number,
    Object,
    /// It has another name.
    Renamed,
    /// Its value is the JSON text of it.
    Text,
}

const CHANGES: [Change; 9] = [
    Change::Clipped,
    Change::Flag,
    Change::InList,
    Change::InObject,
    Change::List,
    Change::Number,
    Change::Object,
    Change::Renamed,
    Change::Text,
];

/// Whether it is there, and holds nothing.
fn is_empty(value: &Value) -> bool {
    value.as_str() == Some("")
        || value.as_array().is_some_and(Vec::is_empty)
        || value.as_object().is_some_and(serde_json::Map::is_empty)
}

impl Change {
    /// The payload with the changed member. `None` if that makes none that its format does not have.
    fn apply(self, payload: &Value, path: &[Step]) -> Option<Value> {
        let mut changed = payload.clone();
        let (last, outer) = path.split_last()?;
        let Step::Member(name) = last else { return None };
        let mut at = &mut changed;
        for step in outer {
            at = match step {
                Step::Item(number) => at.get_mut(number)?,
                Step::Member(name) => at.get_mut(name)?,
            };
        }
        let object = at.as_object_mut()?;
        let value = object.remove(name)?;
        // A member that is not known may be a new one, beside a known one that is empty, or that is a text.
        let is_known = |(name, value): (&String, &Value)| {
            is_empty(value) || value.is_string() && TEXTS.contains(&name.as_str())
        };
        if matches!(self, Self::Clipped | Self::Renamed) && object.iter().any(is_known) {
            return None;
        }
        let is_arguments = ARGUMENTS.contains(&name.as_str());
        let (name, value) = match self {
            Self::Clipped => {
                let clipped = name.get(..name.len().checked_sub(1)?)?;
                (
                    Some(clipped)
                        .filter(|name| !name.is_empty() && !object.contains_key(*name))?
                        .to_owned(),
                    value,
                )
            }
            Self::Renamed => (format!("x_{name}"), value),
            Self::Flag if !value.is_boolean() => (name.clone(), json!(true)),
            Self::InList => (name.clone(), json!([value])),
            Self::InObject if !is_arguments => (name.clone(), json!({ "x_inner": value })),
            Self::List if !value.is_array() => (name.clone(), json!([[1, 2]])),
            Self::Number if !value.is_number() => (name.clone(), json!(5)),
            Self::Object if !value.is_object() && !is_arguments => {
                (name.clone(), json!({ "x_inner": "x" }))
            }
            Self::Text if !value.is_string() => (name.clone(), json!(value.to_string())),
            _ => return None,
        };
        object.insert(name, value);
        Some(changed)
    }
}
