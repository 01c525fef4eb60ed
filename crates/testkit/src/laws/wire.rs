//! What holds for bodies: how they are framed, and how they are written again.

#[cfg(feature = "work")]
mod growth;
mod runnable;

use wiremend_wire::{
    Call, RewriteOptions, RewriteOutcome, Rewriter, Rewritten, Transcript, WireOptions,
    sse::{SseDecoder, SseEvent, SseReading},
    transcribe,
};

use super::{Law, Violation};
use crate::cuts::Cut;
#[cfg(feature = "work")]
pub use growth::{CHUNKS, Road, STEPS_PER_BYTE, doubling, in_proportion};
pub use runnable::never_more_runnable;

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
