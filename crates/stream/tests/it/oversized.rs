//! What becomes of calls and objects that are too long, and the text of objects as it was written.

use std::{future::ready, pin::pin};

use crate::source::Source;
use futures::{StreamExt, executor::block_on};
use serde_json::json;
use wiremend_core::{Limits, MendOptions, Outcome};
use wiremend_extract::Scope;
use wiremend_response::{Event, Object, ResponseOptions, ResponseReader};
use wiremend_schema::{FitOptions, Registry, Schema, SharedRegistry};
use wiremend_stream::{
    AcceptEvent, AcceptOptions, ByteStreamExt, Candidate, Decision, Judgement, Oversized,
};

const POLICIES: [Oversized; 3] = [Oversized::Error, Oversized::PassRaw, Oversized::PassUnchecked];

fn event(delta: &serde_json::Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
}

/// A text in deltas of some characters.
fn text(text: &str, size: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    let pieces = letters.chunks(size).map(|piece| piece.iter().collect::<String>());
    pieces.map(|piece| event(&json!({"content": piece}))).collect()
}

fn call(arguments: &str) -> String {
    let function = json!({"name": "book", "arguments": arguments});
    event(&json!({"tool_calls": [{"index": 0, "id": "c0", "function": function}]}))
}

const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
                   data: [DONE]\n\n";

fn without_schema() -> ResponseOptions {
    ResponseOptions::new().with_objects(Scope::All)
}

fn with_schema() -> ResponseOptions {
    let schema = json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let tools = json!([{"name": "book", "input_schema": schema.clone()}]);
    let tools = SharedRegistry::new(Registry::from_tools(&tools).unwrap());
    let schema = Schema::from_text(&schema.to_string()).unwrap();
    ResponseOptions::new().with_tools(&tools).with_schema(&schema, FitOptions::new())
}

/// Accepts everything, and is asked only about what is short.
fn accept(candidate: &Candidate) -> std::future::Ready<Decision> {
    assert!(candidate.json().unwrap().len() < 100, "{candidate:?}");
    ready(Decision::Accept)
}

/// The same through the stream and the iterator, wherever the body is cut.
fn judged(body: &str, response: &ResponseOptions, options: AcceptOptions) -> Vec<Judgement> {
    let judgement = |event| match event {
        AcceptEvent::Judged { judgement, .. } => Some(judgement),
        _ => None,
    };
    let blocking = wiremend_stream::source::from_read(body.as_bytes());
    let events = blocking.read(response.clone()).accept(options, accept).into_iter();
    let judged: Vec<_> = events.filter_map(|event| judgement(event.unwrap())).collect();
    for size in [1, 7, 64, body.len()] {
        let source = Source::cut(body.as_bytes(), size).0.hesitant();
        let events = pin!(source.read(response.clone()).accept(options, accept));
        let through = events.filter_map(|event| ready(judgement(event.unwrap())));
        assert_eq!(block_on(through.collect::<Vec<_>>()), judged, "{size}");
    }
    judged
}

#[test]
fn the_policy_holds_for_objects_as_for_calls() {
    let long = format!("{{'n': '1', 'note': '{}'}}", "n".repeat(200));
    let mended = long.replace('\'', "\"");
    let short = Judgement::Accepted("{\"n\": 1}".to_owned());
    for policy in POLICIES {
        let want = match policy {
            Oversized::PassRaw => Judgement::Raw(long.clone()),
            Oversized::PassUnchecked => Judgement::Unchecked(mended.clone()),
            _ => Judgement::TooLong,
        };
        let accept = AcceptOptions::new().with_cap(100, policy);
        let response = with_schema().with_raw_objects();
        assert_eq!(judged(&(call(&long) + END), &response, accept), std::slice::from_ref(&want));
        for size in [1, 9, 1_000] {
            let body = text(&format!("So: {long} and {{'n': '1'}}"), size) + END;
            assert_eq!(judged(&body, &response, accept), [want.clone(), short.clone()]);
            let response = without_schema().with_raw_objects();
            assert_eq!(judged(&body, &response, accept)[0], want);
            // Of an object that was repaired, what was written is not there unless that is wanted.
            if policy == Oversized::PassRaw {
                assert_eq!(judged(&body, &with_schema(), accept)[0], Judgement::TooLong);
                let unchanged = body.replace('\'', "\\\"");
                let raw = Judgement::Raw(mended.clone());
                assert_eq!(judged(&unchanged, &with_schema(), accept)[0], raw);
            }
        }
    }
}

#[test]
fn an_object_that_is_too_long_for_its_fit_follows_the_policy() {
    let long = format!("{{'n': '1', 'note': '{}'}}", "n".repeat(200));
    let mending = MendOptions::new().with_limits(Limits::new().with_buffer(100));
    let response = with_schema().with_raw_objects().with_mending(mending);
    for (policy, want) in [
        (Oversized::Error, Judgement::TooLong),
        (Oversized::PassRaw, Judgement::Raw(long.clone())),
        (Oversized::PassUnchecked, Judgement::Unchecked(long.replace('\'', "\""))),
    ] {
        let accept = AcceptOptions::new().with_cap(10_000, policy);
        for size in [1, 9, 1_000] {
            let body = text(&long, size) + END;
            assert_eq!(judged(&body, &response, accept), std::slice::from_ref(&want), "{size}");
        }
        // A text without an object that is too long to be read as a whole is never one that may pass.
        let body = text(&"n ".repeat(200), 50) + END;
        assert_eq!(judged(&body, &response, accept), [Judgement::TooLong]);
    }
}

#[test]
fn what_is_too_long_and_lacks_a_part_never_passes() {
    let long = format!("{{'n': 1, 'note': '{}'}}", "n".repeat(50));
    let lost = "data: {\"choi\n\n";
    for policy in [Oversized::PassRaw, Oversized::PassUnchecked] {
        let accept = AcceptOptions::new().with_cap(10, policy);
        let response = with_schema().with_raw_objects();
        for cut in 13..long.len() {
            let body = text(&long[..cut], 7) + END;
            assert_eq!(judged(&body, &response, accept), [Judgement::Incomplete], "{cut}");
            let (head, tail) = long.split_at(cut);
            let body = [&text(head, 7), lost, &text(tail, 7), END].concat();
            let judged = judged(&body, &response, accept);
            assert!(judged.iter().all(|one| *one == Judgement::Incomplete), "{cut}: {judged:?}");
        }
    }
}

/// The objects of a text: the same wherever it is cut.
fn objects(content: &str, options: &ResponseOptions) -> Vec<Object> {
    let read = |size: usize, chunk: usize| {
        let mut reader = ResponseReader::new(options.clone());
        let mut objects = Vec::new();
        let mut take = |event| {
            if let Event::ObjectEnded(object) = event {
                objects.push(*object);
            }
        };
        let body = text(content, size) + END;
        for chunk in body.as_bytes().chunks(chunk) {
            reader.push(chunk, &mut take);
        }
        reader.finish(&mut take);
        objects
    };
    let whole = read(10_000, 1 << 20);
    for (size, chunk) in [(1, 1), (1, 64), (2, 100), (3, 1 << 20), (7, 9), (50, 3)] {
        assert_eq!(read(size, chunk), whole, "{size} {chunk}");
    }
    whole
}

#[test]
fn the_text_of_an_object_is_kept_as_it_was_written() {
    let prose =
        "and so on, \"quoted\" [not JSON], for quite a while, until there is no more of it. ";
    let written = [
        "{'a': 1, /* x */ b: [Tr\u{fc}e, 2,]}",
        "{\"a\": \"say \"b\" }",
        "{'c': [1, 2}",
        "{\"d\": 3}",
    ];
    let content = written.map(|one| prose.to_owned() + one).concat() + prose;
    for response in [without_schema(), with_schema()] {
        let found = objects(&content, &response.clone().with_raw_objects());
        let raw: Vec<_> = found.iter().map(|object| object.raw().unwrap()).collect();
        assert_eq!(raw, written);
        let raw: Vec<_> =
            objects(&content, &response).iter().map(|one| one.raw().is_some()).collect();
        assert_eq!(raw, [false, false, false, true]);
    }
    // What is around a single one is dropped from it.
    for scope in [Scope::Whole, Scope::First] {
        let single = with_schema().with_objects(scope).with_raw_objects();
        for (before, after) in
            [("Here:\n```json\n", "\n```\nDone."), ("So: ", " and more"), ("", "")]
        {
            let found = objects(&format!("{before}{{'n': '1',}}{after}"), &single);
            assert_eq!(found[0].raw(), Some("{'n': '1',}"), "{before}");
            assert_eq!((found[0].offset(), found[0].length()), (before.len(), 11));
        }
    }
    let open = objects("So: {'a': [1, 2", &without_schema().with_raw_objects());
    assert_eq!((open[0].raw(), open[0].outcome()), (Some("{'a': [1, 2"), Outcome::Closed));
}

#[test]
fn the_limits_hold_for_what_was_written() {
    let object = "{'a': 1, /* 0123456789 */ 'b': 2}";
    let mended = objects(object, &without_schema())[0].json().unwrap().len();
    assert!(mended < object.len());
    let content = format!("{object} and {{'c': 1}}");
    for (limit, kept) in [(object.len(), true), (object.len() - 1, false), (mended, false)] {
        let response = without_schema().with_raw_objects().with_object_limit(limit);
        let found = objects(&content, &response);
        assert!(found[0].json().is_some());
        assert_eq!(found[0].raw(), kept.then_some(object), "{limit}");
        assert_eq!(found[1].raw(), Some("{'c': 1}"));
    }
    let too_long = objects(&content, &without_schema().with_raw_objects().with_object_limit(9));
    assert_eq!((too_long[0].json(), too_long[0].raw()), (None, None));
    // What was written of all open objects, with their repaired texts, counts towards one limit.
    let note = "n".repeat(1_000);
    let body = |index: usize, content: &str| {
        let choice = json!({"index": index, "delta": {"content": content}});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let open: String = (0..10).map(|index| body(index, &format!("{{'a': '{note}"))).collect();
    let closed: String = (0..10).map(|index| body(index, "'}")).collect();
    let response = without_schema().with_raw_objects().with_open_objects_limit(16_000);
    let mut reader = ResponseReader::new(response);
    let mut ended = Vec::new();
    reader.push((open + &closed + END).as_bytes(), &mut |event| {
        if let Event::ObjectEnded(object) = event {
            ended.push((object.json().is_some(), object.raw().is_some()));
        }
    });
    assert!(ended.iter().all(|(json, _)| *json), "{ended:?}");
    let raw = ended.iter().filter(|(_, raw)| *raw).count();
    assert!((3..9).contains(&raw), "{ended:?}");
}
