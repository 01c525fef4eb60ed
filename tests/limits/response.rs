//! The limits of responses, of the stream adapters, and of what issues and rules say about a value.

use futures::{StreamExt as _, executor::block_on, stream};
use serde_json::{Value, json};
use wiremend_core::Outcome;
use wiremend_extract::{Dialect, Scope};
use wiremend_response::{Event, ResponseOptions, TextCalls};
use wiremend_schema::{FitOptions, Schema};
use wiremend_stream::{ByteStreamExt as _, JsonEvent, JsonOptions, ValueError};
use wiremend_wire::{WireLimits, WireOptions, transcribe};

use super::wire::{content_piece, events_of, sse, stop};

pub(crate) fn object() {
    let body = sse(&[content_piece("{'a': 12}"), stop("stop")]);
    for (limit, outcome, text) in
        [(9, Outcome::Repaired, Some("{\"a\": 12}")), (8, Outcome::Overflow, None)]
    {
        let options = ResponseOptions::new().with_objects(Scope::All).with_object_limit(limit);
        assert_eq!(objects(&body, &options), [(outcome, text.map(str::to_owned))]);
        let options = JsonOptions::new().with_object_limit(limit);
        let chunks = stream::iter([Ok::<_, std::io::Error>("{'a': 12}")]);
        let events: Vec<JsonEvent> = block_on(chunks.mend(options).map(Result::unwrap).collect());
        let [JsonEvent::Patch { append, .. }, JsonEvent::Ended(object)] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!((&append[..], object.outcome()), (&b"{\"a\": 12}"[..], outcome));
        assert_eq!(object.json(), text);
    }
}

/// The objects of a response in the order in which they ended. Their fragments add up to their text.
fn objects(body: &str, options: &ResponseOptions) -> Vec<(Outcome, Option<String>)> {
    let mut shown: Vec<Vec<u8>> = Vec::new();
    let mut ended = Vec::new();
    for event in events_of(body, options) {
        match event {
            Event::ObjectBegan { .. } => shown.push(Vec::new()),
            Event::ObjectFragment { object, json: bytes, .. }
            | Event::ObjectRaw { object, text: bytes, .. } => {
                shown[object].extend_from_slice(&bytes);
            }
            Event::ObjectEnded(object) => {
                let text = String::from_utf8(shown[object.number()].clone()).unwrap();
                assert!(object.json().is_none_or(|json| json == text), "{text}");
                assert!(text.ends_with('}'), "{text}");
                ended.push((object.outcome(), object.json().map(str::to_owned)));
            }
            _ => {}
        }
    }
    ended
}

pub(crate) fn open_objects() {
    let of = |choice: usize, text: &str| {
        content_piece(text).replace("\"index\":0", &format!("\"index\":{choice}"))
    };
    // Four texts at a time, each with an object; there is room for two.
    let begin = (0..4).map(|choice| of(choice, "{\"a\": \"12345678\""));
    let end = (0..4).map(|choice| of(choice, "}"));
    let body = sse(&begin.chain(end).collect::<Vec<_>>());
    let options = ResponseOptions::new().with_objects(Scope::All).with_open_objects_limit(40);
    let kept = (Outcome::Unchanged, Some("{\"a\": \"12345678\"}".to_owned()));
    let beyond = (Outcome::Overflow, None);
    let ended = objects(&body, &options);
    assert_eq!(ended, [kept.clone(), kept.clone(), beyond.clone(), beyond.clone()]);
    // Repairs count too.
    let broken = body.replace("\\\"12345678", "\\\"1234'5678").replace("\\\"a\\\"", "'a'");
    let beyond_with_repairs = objects(&broken, &options).into_iter().filter(|it| *it == beyond);
    assert_eq!(beyond_with_repairs.count(), 3);
    // What has ended makes room.
    let one_by_one: Vec<String> =
        (0..10).map(|choice| of(choice, "{\"a\": \"12345678\"}")).collect();
    assert_eq!(objects(&sse(&one_by_one), &options), vec![kept; 10]);
}

pub(crate) fn searched_texts() {
    let of =
        |choice: usize| content_piece("{}").replace("\"index\":0", &format!("\"index\":{choice}"));
    let body = sse(&(0..1_030).map(of).collect::<Vec<_>>());
    let options = ResponseOptions::new().with_objects(Scope::All);
    assert_eq!(objects(&body, &options).len(), 1_024);
    let transcript = transcribe(body.as_bytes(), WireOptions::new());
    assert_eq!(transcript.text().len(), 2 * 1_030);
}

pub(crate) fn texts_searched_for_calls() {
    let call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let of =
        |choice: usize| content_piece(call).replace("\"index\":0", &format!("\"index\":{choice}"));
    let body = sse(&(0..1_030).map(of).collect::<Vec<_>>());
    let hermes = Dialect::by_name("hermes").unwrap().clone();
    let options = ResponseOptions::new().with_calls_in_text(TextCalls::of_dialect(hermes));
    let events = events_of(&body, &options);
    let calls = events.iter().filter(|event| matches!(event, Event::CallEnded(_))).count();
    assert_eq!(calls, 1_024);
}

pub(crate) fn texts_searched_for_items() {
    let of =
        |choice: usize| content_piece("[1]").replace("\"index\":0", &format!("\"index\":{choice}"));
    let body = sse(&(0..1_030).map(of).collect::<Vec<_>>());
    let chunks = stream::iter([Ok::<_, std::io::Error>(body)]);
    let items: Vec<Result<_, _>> =
        block_on(chunks.items::<u8>("", ResponseOptions::new()).collect());
    let refused = items.iter().filter(|item| matches!(item, Err(ValueError::TooManyTexts)));
    assert_eq!(refused.count(), 1);
    assert_eq!(items.iter().filter(|item| item.is_ok()).count(), 1_024);
}

pub(crate) fn idle_chunks() {
    let mut chunks = 0;
    let endless = stream::repeat_with(|| {
        chunks += 1;
        Ok::<_, std::io::Error>("")
    });
    let mut events = Box::pin(endless.mend(JsonOptions::new()));
    let waker = futures::task::noop_waker();
    let mut context = std::task::Context::from_waker(&waker);
    assert!(events.as_mut().poll_next_unpin(&mut context).is_pending());
    drop(events);
    assert_eq!(chunks, 64);
}

/// How the calls ended that are found in the text of a response, and what of them is kept.
fn calls_in_text(text: &str, limits: WireLimits) -> Vec<(Outcome, Option<String>)> {
    let hermes = Dialect::by_name("hermes").unwrap().clone();
    let options = ResponseOptions::new()
        .with_wire(WireOptions::new().with_limits(limits))
        .with_calls_in_text(TextCalls::of_dialect(hermes));
    let mut ended = Vec::new();
    for event in events_of(&sse(&[content_piece(text), stop("stop")]), &options) {
        if let Event::CallEnded(call) = event {
            let kept = (!call.arguments().is_empty()).then(|| call.arguments().to_owned());
            ended.push((call.outcome(), kept));
        }
    }
    ended
}

pub(crate) fn calls_in_texts() {
    let text = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call> ".repeat(2);
    for (most, found) in [(2, 2), (1, 1)] {
        let ended = calls_in_text(&text, WireLimits::new().with_calls(most));
        assert_eq!(ended.len(), found, "at most {most}");
    }
}

pub(crate) fn arguments_in_texts() {
    let text = r#"<tool_call>{"name": "f", "arguments": {"a": "0123456789"}}</tool_call>"#;
    let whole = (Outcome::Unchanged, Some("{\"a\": \"0123456789\"}".to_owned()));
    assert_eq!(calls_in_text(text, WireLimits::new().with_arguments(40)), [whole]);
    let over = calls_in_text(text, WireLimits::new().with_arguments(10));
    assert_eq!(over, [(Outcome::Overflow, None)]);
}

// The limits of what issues and rules say about a value.

fn compile(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap()
}

pub(crate) fn issues() {
    let schema = compile(&json!({"items": {"type": "integer"}}));
    let issues = |count: usize| {
        let text = format!("[{}]", vec!["\"x\""; count].join(","));
        schema.fit(text.as_bytes(), &FitOptions::new()).issues().len()
    };
    assert_eq!((issues(999), issues(1_000), issues(1_200)), (999, 1_000, 1_000));
}

pub(crate) fn named_values() {
    let schema = compile(&json!({"enum": ["b", "c".repeat(4_000)]}));
    let fit = |filler: usize| {
        let text = format!("\"{}{}\"", "C".repeat(4_000), "!".repeat(filler));
        schema.fit(text.as_bytes(), &FitOptions::new()).outcome()
    };
    assert_eq!(
        (fit(0), fit(96), fit(97)),
        (Outcome::Repaired, Outcome::Repaired, Outcome::Invalid)
    );
}

/// Once enough names were compared, options come as the schema lists them.
pub(crate) fn compared_names() {
    let mut options: Vec<String> =
        (0..99).map(|n| format!("option {}", "abc".repeat(n + 1))).collect();
    options.push("qqqqzzzz".to_owned());
    let schema = compile(&json!({"items": {"enum": options}}));
    let text = format!("[{}]", vec!["\"qqqq???zzzz\""; 400].join(","));
    let fitted = schema.fit(text.as_bytes(), &FitOptions::new());
    let nearest = |at: usize| fitted.issues()[at].to_string().contains("\"qqqqzzzz\"");
    assert_eq!((fitted.issues().len(), nearest(0), nearest(399)), (400, true, false));
}
