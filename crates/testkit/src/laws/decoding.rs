//! The laws of the decoder of providers' responses: L1, L4, L6, L7, L8 and L9 for bodies.

use std::collections::BTreeMap;

use serde_json::Value;
use wiremend_core::Outcome;
use wiremend_wire::{
    ApiFormat, Decoder, StreamOutcome, Transcript, WireEvent, WireOptions, mend_body, transcribe,
};

use super::{Check, Law, Violation};
use crate::{
    Seed,
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
