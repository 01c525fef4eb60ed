//! The end of a stream because of a call or an object that nothing can fix.

use std::{future::ready, pin::pin};

use crate::source::Source;
use futures::{StreamExt, executor::block_on, stream::FusedStream};
use serde_json::json;
use wiremend_core::{MendOptions, Policy};
use wiremend_response::ResponseOptions;
use wiremend_schema::{FitOptions, Registry, Schema, SharedRegistry};
use wiremend_stream::{
    AcceptCounts, AcceptEvent, AcceptOptions, ByteStreamExt, Candidate, Decision, StoppedAt,
};

fn event(delta: &serde_json::Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
}

fn text(text: &str) -> String {
    event(&json!({"content": text}))
}

fn arguments(index: usize, name: Option<&str>, arguments: &str) -> String {
    let function = json!({"name": name, "arguments": arguments});
    event(&json!({"tool_calls": [{"index": index, "id": name, "function": function}]}))
}

const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
                   data: [DONE]\n\n";

/// A long text in deltas of 50 bytes.
fn in_deltas(long: &str, delta: impl Fn(&str) -> String) -> String {
    long.as_bytes().chunks(50).map(|piece| delta(std::str::from_utf8(piece).unwrap())).collect()
}

fn options() -> ResponseOptions {
    let schema = json!({"properties": {"n": {"type": "integer"}, "m": {}}, "required": ["n"]});
    let tools = json!([{"name": "book", "input_schema": schema.clone()}]);
    let tools = SharedRegistry::new(Registry::from_tools(&tools).unwrap());
    let schema = Schema::from_text(&schema.to_string()).unwrap();
    ResponseOptions::new()
        .with_tools(&tools)
        .with_schema(&schema, FitOptions::new())
        .with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE))
}

/// Why a stream was ended, in words, and its counts.
type End = (Option<(StoppedAt, String, usize)>, AcceptCounts);

fn accept(_: &Candidate) -> std::future::Ready<Decision> {
    ready(Decision::Accept)
}

fn end(events: impl Iterator<Item = AcceptEvent>) -> Option<(StoppedAt, String, usize)> {
    let mut stopped = None;
    for event in events {
        assert!(stopped.is_none(), "it is the last event: {event:?}");
        if let AcceptEvent::Stopped { at, issue, read, .. } = event {
            assert_eq!(read, issue.offset() + 1);
            stopped = Some((at, issue.to_string(), read));
        }
    }
    stopped
}

/// The same through the stream and the iterator, wherever the body is cut. If it was ended early, at most `given`
/// bytes were asked for.
fn read(body: &str, response: &ResponseOptions, options: AcceptOptions, given: usize) -> End {
    let through = |source: Source| {
        let mut events = pin!(source.read(response.clone()).accept(options, accept));
        let mut all = Vec::new();
        while let Some(event) = block_on(events.next()) {
            all.push(event.unwrap());
        }
        assert!(events.is_terminated());
        assert!(block_on(events.next()).is_none());
        (end(all.into_iter()), events.counts())
    };
    let whole = through(Source::cut(body.as_bytes(), body.len()).0);
    for size in [1, 2, 3, 7, 64] {
        let (source, log) = Source::cut(body.as_bytes(), size);
        assert_eq!(through(source.hesitant()), whole, "{size}");
        assert!(log.borrow().dropped);
        assert!(whole.0.is_none() || log.borrow().given * size < given + size, "{size}");
    }
    let blocking = wiremend_stream::source::from_read(body.as_bytes());
    let mut events = blocking.read(response.clone()).accept(options, accept).into_iter();
    assert_eq!(end(events.by_ref().map(Result::unwrap)), whole.0);
    assert_eq!(events.get_ref().counts(), whole.1);
    whole
}

#[test]
fn a_lost_object_ends_the_stream_early() {
    let long = format!("{{\"n\": 1.5, \"m\": \"{}\"}}", "m".repeat(5_000));
    let head = text("{\"n\": 3} ");
    let body = head.clone() + &in_deltas(&long, text) + END;
    let (stopped, counts) =
        read(&body, &options(), AcceptOptions::new().with_early_stop_at_objects(), 400);
    let words = "/n: expected integer, got number 1.5".to_owned();
    assert_eq!(stopped, Some((StoppedAt::Object(1), words, "{\"n\": 1.5".len())));
    assert_eq!((counts.accepted, counts.incomplete, counts.stopped), (1, 0, 1));
    // Only if that is wanted, and if nothing may be guessed.
    for (response, accept) in [
        (options(), AcceptOptions::new()),
        (options(), AcceptOptions::new().with_early_stop()),
        (
            options().with_mending(MendOptions::new()),
            AcceptOptions::new().with_early_stop_at_objects(),
        ),
    ] {
        let (stopped, counts) = read(&body, &response, accept, 0);
        assert_eq!(stopped, None);
        assert_eq!((counts.accepted, counts.incomplete, counts.stopped), (1, 1, 0));
    }
}

#[test]
fn each_switch_is_for_its_own_kind() {
    let call = arguments(0, Some("book"), "{\"n\": 1.5, ") + &arguments(0, None, "\"m\": 2}");
    let object = text("{\"n\": 2.5, ") + &text("\"m\": 2}");
    let both = AcceptOptions::new().with_early_stop().with_early_stop_at_objects();
    for (body, accept, want) in [
        ([&*call, &*object], both, Some(StoppedAt::Call(0))),
        ([&*object, &*call], both, Some(StoppedAt::Object(0))),
        ([&*object, &*call], AcceptOptions::new().with_early_stop(), Some(StoppedAt::Call(0))),
        (
            [&*call, &*object],
            AcceptOptions::new().with_early_stop_at_objects(),
            Some(StoppedAt::Object(0)),
        ),
        ([&*call, &*object], AcceptOptions::new(), None),
    ] {
        let body = body.concat() + END;
        let (stopped, counts) = read(&body, &options(), accept, body.len());
        assert_eq!(stopped.as_ref().map(|stopped| stopped.0), want, "{stopped:?}");
        assert_eq!(counts.stopped, u64::from(want.is_some()));
    }
}

/// How much was read does not depend on the chunks: not even where a number is the last thing that one of them brings.
#[test]
fn a_lost_call_ends_the_stream_early() {
    let schema = json!({"properties": {"n": {"type": "integer"}, "s": {"enum": ["ab", "cd"]}}});
    let tools = json!([{"name": "book", "input_schema": schema}]);
    let tools = SharedRegistry::new(Registry::from_tools(&tools).unwrap());
    let response = ResponseOptions::new().with_tools(&tools);
    let accept = AcceptOptions::new().with_early_stop();
    for (pieces, wrong) in [
        (&["{\"n\": 1.5", ", \"m\": ", "2}"][..], "{\"n\": 1.5"),
        (&["{\"n\": 1.", "5, \"m\": 2}"], "{\"n\": 1.5"),
        (&["{'s': 'a", "c', 'm': 2}"], "{'s': 'ac"),
        (&["{\"m\": [1, 2], \"n\": fal", "se}"], "{\"m\": [1, 2], \"n\": false"),
    ] {
        let later = pieces[1..].iter().map(|piece| arguments(0, None, piece));
        let body = arguments(0, Some("book"), pieces[0]) + &later.collect::<String>() + END;
        let (stopped, counts) = read(&body, &response, accept, body.len());
        let (at, issue, read) = stopped.unwrap();
        assert_eq!((at, read), (StoppedAt::Call(0), wrong.len()), "{issue}");
        assert_eq!(counts.stopped, 1);
    }
}

/// The last bracket may be one too many, and after a repair that is not exact the whole text may be read in another
/// way: neither is a reason to stop.
#[test]
fn what_may_still_fit_ends_nothing() {
    let accept = AcceptOptions::new().with_early_stop();
    for (pieces, fits) in [
        (&["{\"n\": (1)", "}"][..], true),
        (&["{\"m\": {\"k\": 1}}", ", \"n\": 1}"], false),
        (&["{\"m\": {\"k\": 1}}"], false),
        (&["{\"m\": 1 \"k\": 2,", " \"n\": 1.5}"], false),
    ] {
        let later = pieces[1..].iter().map(|piece| arguments(0, None, piece));
        let body = arguments(0, Some("book"), pieces[0]) + &later.collect::<String>() + END;
        let (stopped, counts) = read(&body, &options(), accept, 0);
        assert_eq!(stopped, None, "{pieces:?}");
        assert_eq!(
            (counts.accepted, counts.incomplete),
            (fits.into(), (!fits).into()),
            "{pieces:?}"
        );
    }
}

/// What seems to be wrong after a loss, or with what was cut off, is no reason.
#[test]
fn what_may_lack_a_part_ends_nothing() {
    let accept = AcceptOptions::new().with_early_stop_at_objects();
    let lost = "data: {\"choi\n\n";
    for body in [
        [&text("{\"n\": 1"), lost, &text(".5, \"m\": 2} {\"m\": 1}"), END].concat(),
        [&text("{\"m\": 1"), END].concat(),
        text("{\"m\": [1, 2"),
    ] {
        let (stopped, counts) = read(&body, &options(), accept, 0);
        assert_eq!((stopped, counts.stopped), (None, 0), "{body}");
        assert_eq!(counts.accepted, 0);
    }
}
