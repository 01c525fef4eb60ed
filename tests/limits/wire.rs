//! The limits of the wire.

use std::fmt::Write as _;

use futures::{StreamExt as _, executor::block_on, stream};
use wiremend_core::Outcome;
use wiremend_response::{Event, ResponseOptions, ResponseReader};
use wiremend_stream::ByteStreamExt as _;
use wiremend_testkit::allocations::heap_of;
use wiremend_wire::{
    Decoder, ErrorKind, RewriteMode, RewriteOptions, RewriteOutcome, Rewriter, Rewritten,
    StreamOutcome, Transcript, WireError, WireEvent, WireLimits, WireOptions, sse::SseLimits,
    transcribe,
};

/// Server-sent events of the OpenAI chat format.
pub(crate) fn sse(payloads: &[String]) -> String {
    payloads.iter().map(|payload| format!("data: {payload}\n\n")).collect::<String>()
        + "data: [DONE]\n\n"
}

fn delta(fields: &str) -> String {
    format!("{{\"choices\":[{{\"index\":0,\"delta\":{{{fields}}}}}]}}")
}

pub(crate) fn content_piece(text: &str) -> String {
    delta(&format!("\"content\":{}", serde_json::json!(text)))
}

pub(crate) fn stop(reason: &str) -> String {
    format!("{{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}")
}

/// A piece of the arguments of that call.
fn piece(call: usize, text: &str) -> String {
    let arguments = serde_json::json!(text);
    delta(&format!(
        "\"tool_calls\":[{{\"index\":{call},\"id\":\"c{call}\",\"function\":{{\"name\":\"f\",\"arguments\":{arguments}}}}}]"
    ))
}

fn wire(limits: WireLimits) -> WireOptions {
    WireOptions::new().with_limits(limits)
}

/// The body again, and the outcome.
fn rewritten(body: &str, options: &RewriteOptions) -> (String, RewriteOutcome) {
    let mut out = Vec::new();
    let mut rewriter = Rewriter::new(options.clone());
    let mut take = |part: Rewritten<'_>| {
        if let Rewritten::Bytes(bytes) = part {
            out.extend_from_slice(bytes);
        }
    };
    rewriter.push(body.as_bytes(), &mut take);
    let outcome = rewriter.finish(&mut take);
    (String::from_utf8(out).unwrap(), outcome)
}

/// What is dropped is reported, the rest is read, and a rewriter forwards all of it.
fn oversize(limits: SseLimits, limit: usize) {
    let body = sse(&[
        content_piece("a"),
        content_piece(&"x".repeat(900)),
        content_piece("b"),
        stop("stop"),
    ]);
    let options = wire(WireLimits::new().with_sse(limits));
    let mut reported = 0;
    let mut reader = ResponseReader::new(ResponseOptions::new().with_wire(options.clone()));
    reader.push(body.as_bytes(), &mut |event| {
        reported +=
            usize::from(matches!(event, Event::Oversize { limit: said, .. } if said == limit));
    });
    let transcript = transcribe(body.as_bytes(), options.clone());
    assert_eq!((transcript.text().as_str(), reported), ("ab", 1));
    assert_eq!(transcript.outcome(), StreamOutcome::Overflow);
    let (out, _) = rewritten(&body, &RewriteOptions::new().with_wire(options));
    assert_eq!(out, body);
}

pub(crate) fn line() {
    oversize(SseLimits::new().with_line(500), 500);
}

pub(crate) fn event() {
    oversize(SseLimits::new().with_event(500), 500);
    // In the other framings it is the size of a value.
    let body = [content_piece("a"), content_piece(&"x".repeat(900)), content_piece("b")].join("\n");
    let limits = WireLimits::new().with_sse(SseLimits::new().with_event(500));
    let transcript = transcribe(body.as_bytes(), wire(limits));
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("ab", StreamOutcome::Overflow));
}

pub(crate) fn calls() {
    let body = sse(&[
        piece(0, "{'a': 1}"),
        piece(1, "{'a': 1}"),
        piece(2, "{'a': 1}"),
        stop("tool_calls"),
    ]);
    let options = wire(WireLimits::new().with_calls(1));
    let transcript = transcribe(body.as_bytes(), options.clone());
    let kinds: Vec<_> = transcript.errors().iter().map(WireError::kind).collect();
    assert_eq!((transcript.calls().len(), kinds), (1, vec![ErrorKind::TooManyCalls]));
    assert_eq!(transcript.outcome(), StreamOutcome::Error);
    let (out, _) = rewritten(&body, &RewriteOptions::new().with_wire(options));
    let first = sse(&[
        piece(0, "{\"a\": 1}"),
        piece(1, "{'a': 1}"),
        piece(2, "{'a': 1}"),
        stop("tool_calls"),
    ]);
    assert_eq!(out, first);
}

/// What the events say of each call: its fragments, mended and then raw, joined.
fn shown(events: &[Event]) -> Vec<String> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for event in events {
        match event {
            Event::CallBegan { .. } => texts.push(Vec::new()),
            Event::CallFragment { call, json: bytes, .. }
            | Event::CallRaw { call, text: bytes, .. } => {
                texts[*call].extend_from_slice(bytes);
            }
            _ => {}
        }
    }
    texts.into_iter().map(|text| String::from_utf8(text).unwrap()).collect()
}

/// All events of a body, by the reader, and the same by the stream.
pub(crate) fn events_of(body: &str, options: &ResponseOptions) -> Vec<Event> {
    let mut reader = ResponseReader::new(options.clone());
    let mut events = Vec::new();
    reader.push(body.as_bytes(), &mut |event| events.push(event));
    reader.finish(&mut |event| events.push(event));
    let chunks = stream::iter([Ok::<_, std::io::Error>(body.to_owned())]);
    let streamed: Vec<Event> = block_on(chunks.read(options.clone()).map(Result::unwrap).collect());
    assert_eq!(streamed, events);
    events
}

/// The outcomes of the calls, and what is kept of them.
fn outcomes(transcript: &Transcript) -> Vec<(Outcome, String)> {
    transcript.calls().iter().map(|call| (call.outcome(), call.raw().to_owned())).collect()
}

pub(crate) fn arguments() {
    let texts = ["{\"a\": 1, ", "\"b\": 2, ", "\"c\": 3", ", \"d\": 4}"];
    let pieces = texts.map(|text| piece(0, text));
    let body = sse(&[&pieces[..], &[stop("tool_calls")]].concat());
    let options = wire(WireLimits::new().with_arguments(20));
    let transcript = transcribe(body.as_bytes(), options.clone());
    let beginning = texts[..2].concat();
    assert_eq!(outcomes(&transcript), [(Outcome::Overflow, beginning)]);
    let events = events_of(&body, &ResponseOptions::new().with_wire(options.clone()));
    assert_eq!(shown(&events), [texts.concat()]);
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        let options = RewriteOptions::new().with_wire(options.clone()).with_mode(mode);
        assert_eq!(rewritten(&body, &options), (body.clone(), RewriteOutcome::Unchanged));
        let mut rewriter = Rewriter::new(options);
        let mut text = Vec::new();
        rewriter.push(body.as_bytes(), &mut |part| {
            if let Rewritten::Event(
                WireEvent::CallFragment { bytes, .. } | WireEvent::CallRaw { bytes, .. },
            ) = part
            {
                text.extend_from_slice(bytes);
            }
        });
        assert_eq!(text, texts.concat().as_bytes(), "{mode:?}");
    }
}

pub(crate) fn open_arguments() {
    // Four calls are open at a time: two of them find room, until one has ended.
    let begin: Vec<String> = (0..4).map(|call| piece(call, "{\"a\": \"12345678\"")).collect();
    let end: Vec<String> = (0..4).map(|call| piece(call, "}")).collect();
    let body = sse(&[&begin[..], &end[..], &[stop("tool_calls")]].concat());
    let options = wire(WireLimits::new().with_open_arguments(40));
    let transcript = transcribe(body.as_bytes(), options.clone());
    let whole = "{\"a\": \"12345678\"}";
    let complete = (Outcome::Unchanged, whole.to_owned());
    let none = (Outcome::Overflow, String::new());
    assert_eq!(outcomes(&transcript), [complete.clone(), complete.clone(), none.clone(), none]);
    let events = events_of(&body, &ResponseOptions::new().with_wire(options.clone()));
    assert_eq!(shown(&events), [whole; 4]);
    for mode in [RewriteMode::Eager, RewriteMode::Validated] {
        let options = RewriteOptions::new().with_wire(options.clone()).with_mode(mode);
        assert_eq!(rewritten(&body, &options), (body.clone(), RewriteOutcome::Unchanged));
        let broken = body.replace("\\\"", "'");
        let (out, outcome) = rewritten(&broken, &options);
        let mended = body.replace("c2", "").matches("\\\"a").count();
        assert_eq!((out.matches("\\\"a").count(), outcome), (mended / 2, RewriteOutcome::Mended));
    }
    // A hundred calls, each within its own limit, take no more memory than that.
    let long = "x".repeat(1_000);
    let rounds = (0..10).flat_map(|_| (0..100).map(|call| piece(call, &format!("\"{long}"))));
    let wide = sse(&rounds.collect::<Vec<_>>());
    let heap = |limits: WireLimits| {
        heap_of(|| {
            let mut decoder = Decoder::new(wire(limits));
            wide.as_bytes().chunks(4096).for_each(|chunk| decoder.push(chunk, &mut |_| {}));
        })
    };
    let [bounded, unbounded] =
        [64 << 10, 8 << 20].map(|bytes| heap(WireLimits::new().with_open_arguments(bytes)).peak);
    assert!(bounded < 512 << 10 && unbounded > 1 << 20, "{bounded} and {unbounded}");
    // What has ended makes room.
    let turn = |call: usize| {
        sse(&[piece(call, whole), stop("tool_calls")]).replace("data: [DONE]\n\n", "")
    };
    let body: String = (0..10).map(turn).collect::<String>() + "data: [DONE]\n\n";
    let transcript = transcribe(body.as_bytes(), options);
    assert_eq!(outcomes(&transcript).iter().filter(|call| **call == complete).count(), 10);
}

pub(crate) fn content() {
    let pieces = ["{'a': 1, ", "'b': 2, ", "'c': 3}"].map(content_piece);
    let body = sse(&[&pieces[..], &[stop("stop")]].concat());
    for limits in [
        WireLimits::new().with_arguments(12),
        WireLimits::new().with_open_arguments(12),
        WireLimits::new().with_calls(0),
    ] {
        let options = RewriteOptions::new().with_wire(wire(limits)).with_json_content(true);
        let (out, outcome) = rewritten(&body, &options);
        assert_eq!(outcome, RewriteOutcome::Overflow, "{limits:?}");
        assert!(out.ends_with(&body[body.find("'b'").unwrap()..]), "{out}");
        let validated = options.with_mode(RewriteMode::Validated);
        assert_eq!(rewritten(&body, &validated), (body.clone(), RewriteOutcome::Overflow));
    }
}

pub(crate) fn envelope_depth() {
    let deep = |levels: usize| {
        let extra = "[".repeat(levels) + &"]".repeat(levels);
        sse(&[content_piece("a").replacen('{', &format!("{{\"extra\":{extra},"), 1), stop("stop")])
    };
    assert_eq!(transcribe(deep(500).as_bytes(), WireOptions::new()).text(), "a");
    let transcript = transcribe(deep(600).as_bytes(), WireOptions::new());
    assert_eq!(transcript.text(), "");
    assert_eq!(transcript.errors()[0].kind(), ErrorKind::Malformed);
    assert_eq!(transcript.outcome(), StreamOutcome::Error);
}

pub(crate) fn errors() {
    let payloads: Vec<String> = (0..100).map(|n| format!("{{broken {n}: [}}")).collect();
    let transcript = transcribe(
        sse(&[&[content_piece("a")][..], &payloads[..], &[stop("stop")]].concat()).as_bytes(),
        WireOptions::new(),
    );
    assert_eq!((transcript.errors().len(), transcript.outcome()), (64, StreamOutcome::Error));
}

pub(crate) fn names() {
    let named = |name: &str| {
        delta(&format!(
            "\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\"function\":{{\"name\":\"{name}\"}}}}]"
        ))
    };
    let body = sse(&[
        named(&"a".repeat(1_000)),
        named("bcd"),
        named(&"e".repeat(30)),
        piece(0, "{}"),
        stop("tool_calls"),
    ]);
    let transcript = transcribe(body.as_bytes(), WireOptions::new());
    assert_eq!(transcript.calls()[0].name(), "a".repeat(1_000) + "bcd");
}

pub(crate) fn page_of_html() {
    let body = format!("<html><body>{}</body></html>", "sorry ".repeat(4_000));
    let transcript = transcribe(body.as_bytes(), WireOptions::new());
    let error = &transcript.errors()[0];
    assert_eq!((error.kind(), transcript.outcome()), (ErrorKind::NotAStream, StreamOutcome::Error));
    assert!(error.message().len() <= 8 << 10, "{}", error.message().len());
    let (out, _) = rewritten(&body, &RewriteOptions::new());
    assert_eq!(out, body);
}

pub(crate) fn error_excerpt() {
    let body = sse(&[content_piece("a"), format!("{{broken: [ {}", "no ".repeat(2_000))]);
    let transcript = transcribe(body.as_bytes(), WireOptions::new());
    let kept = transcript.errors()[0].message();
    assert!((2_000..=2_048).contains(&kept.len()), "{}", kept.len());
    // What a provider says is whole.
    let said = "no ".repeat(2_000);
    let body = sse(&[format!("{{\"error\":{{\"message\":\"{said}\"}}}}")]);
    assert_eq!(transcribe(body.as_bytes(), WireOptions::new()).errors()[0].message(), said);
}

pub(crate) fn choices() {
    let of =
        |choice: u64| content_piece("a").replace("\"index\":0", &format!("\"index\":{choice}"));
    let body = sse(&[of(1), of(65_535), of(70_000), of(80_000)]);
    assert_eq!(transcribe(body.as_bytes(), WireOptions::new()).texts(), ["a", "aaa"]);
}

pub(crate) fn halves() {
    let half = |choice: usize, half: &str| {
        format!("{{\"choices\":[{{\"index\":{choice},\"delta\":{{\"content\":\"{half}\"}}}}]}}")
    };
    let first = (0..1_030).map(|choice| half(choice, "\\ud83d"));
    let second = (0..1_030).map(|choice| half(choice, "\\ude00"));
    let body = sse(&first.chain(second).collect::<Vec<_>>());
    let text = transcribe(body.as_bytes(), WireOptions::new()).text();
    assert_eq!(text.matches('\u{1f600}').count(), 1_024);
    assert_eq!(text.matches('\u{fffd}').count(), 2 * 6);
}

pub(crate) fn items() {
    let mut body = String::new();
    for item in 0..16_400 {
        let _ = write!(
            body,
            "data: {{\"type\":\"response.output_text.delta\",\"output_index\":{item},\"content_index\":0,\"delta\":\"a\"}}\n\n"
        );
    }
    let transcript = transcribe(body.as_bytes(), WireOptions::new());
    assert_eq!(transcript.text().len(), 16_400);
    assert_eq!(transcript.texts().len(), 16_385);
}

pub(crate) fn leaves() {
    let leaf = |path: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"functionCall\":{{\"name\":\"f\",\"partialArgs\":[{{\"jsonPath\":\"{path}\",\"numberValue\":1}}],\"willContinue\":true}}}}]}}}}]}}\n\n"
        )
    };
    let kinds = |path: &str| {
        let transcript = transcribe(leaf(path).as_bytes(), WireOptions::new());
        transcript.errors().iter().map(WireError::kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&format!("$.a{}", "[0]".repeat(255))), []);
    assert_eq!(kinds(&format!("$.a{}", "[0]".repeat(256))), [ErrorKind::Malformed]);
    assert_eq!(kinds("$.a[64]"), []);
    assert_eq!(kinds("$.a[65]"), [ErrorKind::Malformed]);
}
