//! Helpers of the tests.

use wiremend_wire::{
    Decoder, Doubt, RewriteMode, RewriteOptions, Rewriter, Rewritten, Transcript, WireEvent,
    WireOptions, transcribe,
};

/// Events as text, and their number after each push.
fn log(options: WireOptions, chunks: &[&[u8]]) -> (Vec<String>, Vec<usize>, Transcript) {
    let mut decoder = Decoder::new(options);
    let mut transcript = Transcript::new();
    let mut log = Vec::new();
    let mut ends = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, &mut |event: WireEvent<'_>| {
            transcript.record(&event);
            log.push(format!("{event:?}"));
        });
        ends.push(log.len());
    }
    decoder.finish(&mut |event| {
        transcript.record(&event);
        log.push(format!("{event:?}"));
    });
    (log, ends, transcript)
}

/// Decodes a body. Whole, byte by byte and split in two anywhere, the events must be the same, and also
/// the events so far after every byte.
pub(crate) fn decode_with(options: &WireOptions, body: &str) -> Transcript {
    decode_bytes(options, body.as_bytes())
}

/// Like [`decode_with`], for a body that is not text.
pub(crate) fn decode_bytes(options: &WireOptions, body: &[u8]) -> Transcript {
    let (whole, _, transcript) = log(options.clone(), &[body]);
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    let (single, ends, _) = log(options.clone(), &bytes);
    assert_eq!(single, whole, "byte by byte");
    for cut in 1..body.len() {
        let (head, tail) = body.split_at(cut);
        let (pair, pair_ends, _) = log(options.clone(), &[head, b"", tail]);
        assert_eq!(pair, whole, "cut at {cut}");
        assert_eq!(pair_ends[0], ends[cut - 1], "events after {cut} bytes");
    }
    transcript
}

/// Decodes a body under the default options.
pub(crate) fn decode(body: &str) -> Transcript {
    decode_with(&WireOptions::new(), body)
}

/// The calls as name, arguments and outcome.
pub(crate) fn calls(transcript: &Transcript) -> Vec<(String, String, &'static str)> {
    transcript
        .calls()
        .iter()
        .map(|call| (call.name().to_owned(), call.arguments().to_owned(), call.outcome().code()))
        .collect()
}

/// An expected triple.
pub(crate) fn call(
    name: &str,
    arguments: &str,
    outcome: &'static str,
) -> (String, String, &'static str) {
    (name.to_owned(), arguments.to_owned(), outcome)
}

/// Payloads as server-sent events without names.
pub(crate) fn sse(payloads: &[&str]) -> String {
    payloads.iter().map(|payload| format!("data: {payload}\n\n")).collect()
}

/// Server-sent events with names.
pub(crate) fn named(events: &[(&str, &str)]) -> String {
    events.iter().map(|(name, payload)| format!("event: {name}\ndata: {payload}\n\n")).collect()
}

/// Payloads, one per line.
pub(crate) fn lines(payloads: &[&str]) -> String {
    payloads.iter().map(|payload| format!("{payload}\n")).collect()
}

/// The first piece of a call.
pub(crate) const START: &str = r#"{"index":0,"id":"x","function":{"name":"run","arguments":""}}"#;

/// A chunk of OpenAI Chat with entries of tool calls.
pub(crate) fn tools(entries: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{entries}]}}}}]}}\n\n")
}

/// A piece of the arguments.
pub(crate) fn piece(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    tools(&format!(r#"{{"index":0,"function":{{"arguments":{text}}}}}"#))
}

/// The end of the turn and of the stream.
pub(crate) fn finish(reason: &str) -> String {
    let choice = format!(r#"{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}"#);
    format!("data: {{\"choices\":[{choice}]}}\n\ndata: [DONE]\n\n")
}

/// The outcome and the doubt of each call.
pub(crate) fn doubts(transcript: &Transcript) -> Vec<(&'static str, Option<Doubt>)> {
    let calls = transcript.calls();
    calls.iter().map(|call| (call.outcome().code(), call.doubt())).collect()
}

/// What a rewriter makes of a body says what the body says, in every mode. Returns what it is in the last one.
pub(crate) fn agree(body: &str) -> String {
    let of = |body: &str| {
        let transcript = transcribe(body.as_bytes(), WireOptions::new());
        let outcomes = transcript.calls().into_iter().map(|call| {
            let complete = call.outcome().is_complete();
            let arguments = complete.then(|| call.arguments().to_owned());
            (call.name().to_owned(), arguments)
        });
        outcomes.collect::<Vec<_>>()
    };
    let rewritten = |mode, size| {
        let mut out = Vec::new();
        let mut rewriter = Rewriter::new(RewriteOptions::new().with_mode(mode));
        let mut sink = |piece: Rewritten<'_>| {
            if let Rewritten::Bytes(bytes) = piece {
                out.extend_from_slice(bytes);
            }
        };
        body.as_bytes().chunks(size).for_each(|chunk| rewriter.push(chunk, &mut sink));
        rewriter.finish(&mut sink);
        String::from_utf8(out).unwrap()
    };
    let [_, last] = [RewriteMode::Eager, RewriteMode::Validated].map(|mode| {
        let out = rewritten(mode, body.len());
        assert_eq!(of(&out), of(body), "{mode:?}: {body} became {out}");
        assert_eq!(rewritten(mode, 1), out, "{mode:?}");
        out
    });
    last
}
