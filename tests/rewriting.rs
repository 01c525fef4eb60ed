//! Rewriting whole bodies. `WIREMEND_RECORDINGS` may name a folder of recorded bodies. Those in the
//! tests are always used.

use std::{
    fs,
    path::{Path, PathBuf},
};

use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_testkit::{
    Seed,
    allocations::heap_of,
    bodies::{Places, Shape},
    cuts::{self, Cut},
    damage::Damage,
    laws::wire::{Written, never_more_runnable, rewritten},
};
use wiremend_wire::{
    RewriteMode, RewriteOptions, RewriteOutcome, Rewriter, Transcript, WireOptions,
    eventstream::Message,
    sse::{SseDecoder, SseEvent, SseReading},
    transcribe,
};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
    found.sort();
}

#[test]
fn recordings_are_unchanged() {
    let Some(folder) = std::env::var_os("WIREMEND_RECORDINGS") else { return };
    let mut paths = Vec::new();
    files(Path::new(&folder), &mut paths);
    assert!(!paths.is_empty());
    let mut changed = Vec::new();
    for path in &paths {
        let body = fs::read(path).unwrap();
        let mut seed = Seed::of(&body);
        let all = cuts::few(body.len(), &mut seed);
        // Where a call has no arguments, an empty object is written.
        let said = transcribe(&body, WireOptions::new());
        let is_empty = said.calls().iter().any(|call| call.arguments() == "{}");
        for mode in [RewriteMode::Eager, RewriteMode::Validated] {
            let options = RewriteOptions::new().with_mode(mode);
            for cut in &all {
                let Written { bytes: out, outcome, .. } = rewritten(&body, &options, cut);
                let is_same = out == body && outcome == RewriteOutcome::Unchanged;
                let is_filled = is_empty && outcome == RewriteOutcome::Mended;
                if !is_same && !is_filled {
                    changed.push((path.display().to_string(), mode, outcome));
                    break;
                }
            }
        }
    }
    assert!(changed.is_empty(), "{} of {}: {changed:#?}", changed.len(), paths.len());
}

/// The frames of an AWS event stream.
fn frames(body: &[u8]) -> Vec<&[u8]> {
    let mut rest = body;
    let mut found = Vec::new();
    while let Some(length) = rest.first_chunk::<4>() {
        let (frame, after) = rest.split_at(u32::from_be_bytes(*length) as usize);
        found.push(frame);
        rest = after;
    }
    found
}

fn replaced(text: &[u8], from: &str, to: &str) -> Vec<u8> {
    String::from_utf8_lossy(text).replace(from, to).into_bytes()
}

/// The body with every quote inside a string replaced by an apostrophe, so that arguments that come
/// as strings have single quotes.
fn with_single_quotes(body: &[u8]) -> Vec<u8> {
    if body.first() != Some(&0) {
        return replaced(body, "\\\"", "'");
    }
    let mut out = Vec::new();
    for frame in frames(body) {
        let message = Message::read(frame).unwrap();
        message.encode_with(&replaced(message.payload(), "\\\"", "'"), &mut out).unwrap();
    }
    out
}

/// Everything except the calls.
fn around(said: &Transcript) -> impl PartialEq + std::fmt::Debug {
    (said.text(), said.reasoning().to_owned(), said.refusal(), said.finish().cloned(), said.usage())
}

#[test]
fn damaged_recordings_are_mended() {
    let Some(folder) = std::env::var_os("WIREMEND_RECORDINGS") else { return };
    let mut paths = Vec::new();
    files(Path::new(&folder), &mut paths);
    let (mut mended, mut refused) = (0, 0);
    for path in &paths {
        let body = with_single_quotes(&fs::read(path).unwrap());
        let name = path.display();
        let before = transcribe(&body, WireOptions::new());
        for mode in [RewriteMode::Eager, RewriteMode::Validated] {
            let options = RewriteOptions::new().with_mode(mode);
            let Written { bytes: out, said, .. } = rewritten(&body, &options, &Cut::whole());
            for cut in cuts::few(body.len(), &mut Seed::of(&body)) {
                assert_eq!(rewritten(&body, &options, &cut).bytes, out, "{name}: {cut:?}");
            }
            let after = transcribe(&out, WireOptions::new());
            assert_eq!(around(&after), around(&before), "{name}");
            assert_eq!(after.outcome(), before.outcome(), "{name}");
            assert_eq!(after.calls().len(), before.calls().len(), "{name}");
            for (call, report) in after.calls().iter().zip(said.calls()) {
                assert_eq!((call.name(), call.id()), (report.name(), report.id()), "{name}");
                if report.outcome() == Outcome::Repaired {
                    assert_eq!(call.outcome(), Outcome::Unchanged, "{name}: {}", call.raw());
                    assert_eq!(call.arguments(), report.arguments(), "{name}");
                    mended += 1;
                } else if call.raw().contains('\'') {
                    refused += 1;
                }
            }
        }
    }
    println!("{mended} calls mended, {refused} unchanged");
    assert!(mended > 0);
}

#[test]
fn an_event_in_one_chunk_costs_no_allocation() {
    let event = "event: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"h\u{e9}\"}}]}\nid: 7\n\n";
    let chunk = event.repeat(200);
    let mut decoder = SseDecoder::new(SseReading::Lenient);
    let mut seen = 0;
    let mut take = |event: SseEvent<'_>| {
        if let SseEvent::Message(message) = event {
            seen += message.data().len();
        }
    };
    // The buffers for names and ids are allocated with the first event.
    decoder.push(event.as_bytes(), &mut take);
    let heap = heap_of(|| decoder.push(chunk.as_bytes(), &mut take));
    assert_eq!(heap.count, 0);
    assert!(seen > 200 * 40);
}

/// What is sent to keep a connection alive may be three bytes, and so many of them may wait for a call that is held.
#[test]
fn events_that_wait_take_little_more_than_their_bytes() {
    let call = |choice: usize, arguments: &str| {
        let function = serde_json::json!({"name": "f", "arguments": arguments});
        let call = serde_json::json!({"index": 0, "id": "c", "function": function});
        let delta = serde_json::json!({"index": choice, "delta": {"tool_calls": [call]}});
        serde_json::json!({"choices": [delta]}).to_string()
    };
    let piece = |choice: usize, arguments: &str| {
        let call = serde_json::json!({"index": 0, "function": {"arguments": arguments}});
        let delta = serde_json::json!({"index": choice, "delta": {"tool_calls": [call]}});
        serde_json::json!({"choices": [delta]}).to_string()
    };
    let event = |payload: &str| format!("data: {payload}\n\n");
    let text = r#"{"choices":[{"index":1,"delta":{"content":"x"}}]}"#;
    let both = event(&call(0, "{'a': 1, ")) + &event(&call(1, "["));
    // The bytes that one byte takes at most: room for as many, and for an event that changes what is kept of it.
    for (what, begin, unit, most) in [
        ("comments", event(&call(0, "{'a': 1, ")), ":\n\n".to_owned(), 2),
        ("pings", event(&call(0, "{'a': 1, ")), ": ping\n\n".to_owned(), 2),
        ("empty lines", event(&call(0, "{'a': 1, ")), "\n\n".to_owned(), 3),
        ("named pings", event(&call(0, "{'a': 1, ")), "event: ping\ndata: {}\n\n".to_owned(), 3),
        ("lines", call(0, "{'a': 1, ") + "\n", "\n".to_owned(), 3),
        ("other choices", event(&call(0, "{'a': 1, ")), event(text), 2),
        ("valid calls of other choices", both, event(&piece(1, "1,")), 5),
        ("the call", event(&call(0, "{'a': [")), event(&piece(0, "1,")), 6),
    ] {
        let body = unit.repeat((256 << 10) / unit.len());
        let mut rewriter = Rewriter::new(RewriteOptions::new());
        rewriter.push(begin.as_bytes(), &mut |_| {});
        let mut chunks = body.as_bytes().chunks(16 << 10);
        let before = rewriter.memory();
        let heap = heap_of(|| chunks.by_ref().for_each(|chunk| rewriter.push(chunk, &mut |_| {})));
        let (live, memory) = (heap.live, (rewriter.memory() - before) as i64);
        println!(
            "{what}: {} bytes, {:.1} for each byte, counted as {memory}",
            live,
            live as f64 / body.len() as f64
        );
        assert!(live <= most * body.len() as i64, "{what}: {heap:?} for {} bytes", body.len());
        // The text of a call is limited apart.
        assert!(live <= memory + memory / 4 + (16 << 10), "{what}: {heap:?}, counted as {memory}");
    }
}

#[test]
fn the_cost_of_rewriting_grows_with_the_length() {
    let event = |text: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"function\":\
             {{\"name\":\"f\",\"arguments\":\"{text}\"}}}}]}}}}]}}\n\n"
        )
    };
    let clean = event("[") + &event("true, ").repeat(2000);
    let mut rewriter = Rewriter::new(RewriteOptions::new());
    let heap = heap_of(|| rewriter.push(clean.as_bytes(), &mut |_| {}));
    // The text of the arguments is kept, and one or two events wait.
    assert!(heap.peak < 64 << 10, "{heap:?}");
}

// No client runs more of a call, or reads more of a text that is JSON, through a rewriter than without it.
//
// `WIREMEND_RECORDINGS=DIR` adds every file under a folder of recorded bodies.

/// Under each policy, with content that is text, and with content that is JSON.
fn options() -> impl Iterator<Item = RewriteOptions> {
    let policies = [Policy::CONSERVATIVE, Policy::PERMISSIVE, Policy::STRICT];
    policies.into_iter().flat_map(|policy| {
        let wire = WireOptions::new().with_mending(MendOptions::new().with_policy(policy));
        [false, true]
            .map(|json| RewriteOptions::new().with_wire(wire.clone()).with_json_content(json))
    })
}

fn check(name: &str, body: &[u8], most: usize) {
    for options in options() {
        never_more_runnable(body, &options, most, &mut Seed::of(body))
            .unwrap_or_else(|violation| panic!("{name}: {violation}"));
    }
}

/// A body of each shape: broken, cut, sent twice, in halves, and under a finish that is none.
#[test]
fn a_body_of_each_shape_says_no_more_at_any_byte() {
    let calls: [&[&[&str]]; 8] = [
        &[&["{'cmd': 'rm -rf /data", "/old'}"]],
        &[&["{\"cmd\": \"rm -rf /data", "/old'}"]],
        &[&["{\"a\"", ": 1,", "}"], &["{}"], &["{\"b\": [1, ", "{'c': NaN}", "]}"]],
        &[&["{'a': ", "True, ", "}"], &["[1", "2]"]],
        &[&["{}", "{'a': 1}"], &["{\"b\": ", "tru"]],
        &[&["{'a'", "{'a': 1", "{'a': 1, 'b': 2}"]],
        &[&["`", "``json\n{\"a\": ", "1}\n```"]],
        &[&["{\"a\": 1}", ", \"b\": 2", "}"]],
    ];
    for shape in Shape::IN_PIECES {
        for (number, calls) in calls.iter().enumerate() {
            for text in [&["so ", "far"][..], &["{'a': [1, ", "2]", "}"], &["{\"a\": [1, ", "2"]] {
                let body = shape.body(text, calls);
                check(&format!("{shape:?} {number}"), &body, 60);
                let end = String::from_utf8_lossy(&body).replace("tool_calls\"", "length\"");
                check(&format!("{shape:?} {number}, cut"), end.as_bytes(), 20);
            }
        }
    }
}

#[test]
fn no_byte_of_a_stream_says_more() {
    for shape in [Shape::Anthropic, Shape::Chat, Shape::Responses, Shape::ChatLines] {
        for calls in
            [&["{\"a\": [\"x", "\", 'y'", ", True]", ",}"][..], &["{\"a\": {", "'b': \"", "c"]]
        {
            check(&format!("{shape:?}"), &shape.body(&["{'a'", ": 1}"], &[calls]), usize::MAX);
        }
    }
}

/// The bodies in the repository, those of the fuzzer, and recorded ones, as they are and damaged.
#[test]
fn recorded_bodies_say_no_more() {
    let root = wiremend_tests::root();
    let recordings = std::env::var_os("WIREMEND_RECORDINGS");
    let mut folders = vec![(root.join("examples/streams"), 0), (root.join("fuzz/streams"), 1)];
    folders.extend(recordings.map(|folder| (folder.into(), 0)));
    for (folder, skip) in folders {
        let mut paths = Vec::new();
        files(&folder, &mut paths);
        for path in paths {
            let body = std::fs::read(&path).unwrap();
            let body = &body[skip.min(body.len())..];
            let name = path.display().to_string();
            let most = (200_000 / body.len().max(1)).clamp(2, 40);
            check(&name, body, most);
            let places = Places::of_arguments(body);
            for (number, text) in places.texts().enumerate().take(2) {
                let mut seed = Seed::of(text.as_bytes());
                for way in
                    Damage::ALL.into_iter().filter(|_| seed.below(6) == 0).collect::<Vec<_>>()
                {
                    if let Some(broken) = way.apply(text.as_bytes(), &mut seed) {
                        let body = places.replaced(number, &broken);
                        check(&format!("{name}, {way}"), &body, most.min(6));
                    }
                }
            }
        }
    }
}
