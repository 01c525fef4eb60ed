//! Items and values as Rust types.

use std::pin::pin;

use crate::source::Source;
use futures::{FutureExt, StreamExt, executor::block_on, stream::FusedStream};
use serde::Deserialize;
use serde_json::{Value, json};
use wiremend_core::{MendOptions, Policy};
use wiremend_extract::Scope;
use wiremend_response::ResponseOptions;
use wiremend_stream::{ByteStreamExt, JsonOptions, ValueError, ValueOptions};
use wiremend_wire::{ToolPolicies, WireLimits, WireOptions, sse::SseLimits};

/// What a stream of items gave.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    items: Vec<(usize, Value)>,
    errors: Vec<String>,
}

fn note(sum: &mut Sum, error: &ValueError<&'static str>) {
    sum.errors.push(match error {
        ValueError::Type { index, json, .. } => format!("type {index:?} {json}"),
        ValueError::Upstream(error) => format!("upstream {error}"),
        other => other.to_string(),
    });
}

fn read(source: Source, pointer: &str, options: impl Into<ValueOptions>) -> Sum {
    let mut sum = Sum::default();
    let mut items = pin!(source.items::<Value>(pointer, options));
    while let Some(item) = block_on(items.next()) {
        match item {
            Ok(item) => sum.items.push((item.index(), item.into_value())),
            Err(error) => note(&mut sum, &error),
        }
    }
    assert!(items.is_terminated());
    sum
}

/// The same for every division into two chunks and into small ones, with pending polls.
fn read_every_way(text: &str, pointer: &str, options: &ValueOptions) -> Sum {
    let whole = read(Source::cut(text.as_bytes(), text.len().max(1)).0, pointer, options.clone());
    for size in 1..8 {
        let (source, _) = Source::cut(text.as_bytes(), size);
        assert_eq!(read(source.hesitant(), pointer, options.clone()), whole, "{size}: {text}");
    }
    for cut in 0..=text.len() {
        let (head, tail) = text.as_bytes().split_at(cut);
        let (source, _) = Source::new(vec![Ok(head.to_vec()), Ok(tail.to_vec())]);
        assert_eq!(read(source, pointer, options.clone()), whole, "{cut}: {text}");
    }
    whole
}

fn whole() -> ValueOptions {
    JsonOptions::new().into()
}

fn values(sum: &Sum) -> Value {
    sum.items.iter().map(|(_, value)| value.clone()).collect()
}

#[test]
fn items_of_every_kind_and_place() {
    for (text, pointer, want) in [
        (
            "[1, -2.5e3, true, false, null, 'a', [], {}, [[1]], {'a': {'b': []}}]",
            "",
            json!([1, -2500.0, true, false, null, "a", [], {}, [[1]], {"a": {"b": []}}]),
        ),
        (
            "{'a': [9], 'items': [1, [2, 3], {'items': [4]}], 'b': {'items': [5]}}",
            "/items",
            json!([1, [2, 3], {"items": [4]}]),
        ),
        (
            "{'a': {'items': [1]}, 'b': {'items': ['x\\n\"y', 'Z\u{fc}']}}",
            "b/items",
            json!(["x\n\"y", "Z\u{fc}"]),
        ),
        ("[[1], {'k/~': [2]}, [3]]", "/1/k~1~0", json!([2])),
        ("[[1], [2, 3], [4]]", "/1", json!([2, 3])),
        ("[]", "", json!([])),
        (
            "Sure:\n```json\n{items: [{a: 1,}, {a: 2}]}\n```\nBye",
            "/items",
            json!([{"a": 1}, {"a": 2}]),
        ),
        ("{'items': [1], 'items': [2, 3]}", "/items", json!([1, 2, 3])),
    ] {
        let sum = read_every_way(text, pointer, &whole());
        assert_eq!((values(&sum), &*sum.errors), (want, &[][..]), "{text}");
        assert!(sum.items.iter().enumerate().all(|(at, (index, _))| at == *index));
    }
}

#[test]
fn what_is_not_there_is_an_error() {
    for (text, pointer) in [
        ("{'a': 1}", "/items"),
        ("{'items': {}}", "/items"),
        ("{'items': 3}", "/items"),
        ("[1]", "/00"),
        ("hello", ""),
    ] {
        let sum = read_every_way(text, pointer, &whole());
        assert_eq!(sum.errors, ["there is no such value in the text"], "{text}");
        assert!(sum.items.is_empty());
    }
}

/// However much of a document arrives, each item is one of the whole document, and the end is said.
#[test]
fn a_cut_document_gives_only_whole_items() {
    let text =
        "{'n': 12, 'items': [12, 345, 'ab', true, [6, 78], {'a': 'b', 'c': 90}], 'more': [1, 'x']}";
    let items = json!([12, 345, "ab", true, [6, 78], {"a": "b", "c": 90}]);
    let conservative =
        JsonOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    for options in [whole(), conservative.into()] {
        let mut before = 0;
        for cut in 1..text.len() {
            let sum = read_every_way(&text[..cut], "/items", &options);
            let found = values(&sum);
            let found = found.as_array().unwrap();
            assert_eq!(found[..], items.as_array().unwrap()[..found.len()], "{cut}");
            assert!(found.len() >= before, "{cut}");
            before = found.len();
            assert_eq!(sum.errors.len(), 1, "{cut}: {sum:?}");
        }
        assert_eq!(before, 6);
    }
}

/// An item is emitted when its last byte has arrived; a string, once it is certain which quote ends it.
#[test]
fn an_item_is_emitted_as_it_closes() {
    let text = br#"{"items": [{"a": 1}, {"a": 2}, "x", [3]"#;
    let (source, log) = Source::cut(text, 1);
    let mut items = pin!(source.items::<Value>("/items", JsonOptions::new()));
    let mut at = Vec::new();
    while let Some(Ok(_)) = block_on(items.next()) {
        at.push(log.borrow().given);
    }
    let ends: Vec<usize> = ["1}", "2}", "\"x\"", "3]"]
        .iter()
        .map(|end| String::from_utf8_lossy(text).find(end).unwrap() + end.len())
        .collect();
    let late: Vec<_> = at.iter().zip(&ends).map(|(at, end)| at - end).collect();
    assert!(late == [0, 0, 3, 0], "{at:?} {ends:?}");
}

#[test]
fn an_item_of_another_type_or_too_long_does_not_end_the_stream() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Row {
        id: u32,
    }
    let text = format!(
        "[{{'id': 1}}, {{'id': 'x'}}, {{'id': 2, 'note': '{}'}}, {{'id': 3}}]",
        "n".repeat(90)
    );
    for size in [1, 5, 1000] {
        let (source, _) = Source::cut(text.as_bytes(), size);
        let options = JsonOptions::new().with_object_limit(80);
        let items: Vec<_> = block_on(source.items::<Row>("", options).collect());
        let [Ok(first), Err(wrong), Err(long), Ok(last)] = items.as_slice() else {
            panic!("{items:?}")
        };
        assert_eq!(
            (first.value(), last.value(), last.index()),
            (&Row { id: 1 }, &Row { id: 3 }, 3)
        );
        assert!(
            matches!(wrong, ValueError::Type { index: Some(1), json, .. } if json == "{\"id\": \"x\"}")
        );
        assert!(matches!(long, ValueError::TooLong { index: Some(2), limit: 80, .. }));
    }
}

fn body(pieces: &[&str]) -> String {
    let pieces = pieces.iter().map(|text| {
        let delta = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
        format!("data: {delta}\n\n")
    });
    let finish = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    format!("{}data: {finish}\n\ndata: [DONE]\n\n", pieces.collect::<String>())
}

#[test]
fn items_of_a_response() {
    let text = body(&["{'items': [{'a': 1}, {'a'", ": 2}, {'a': 3", "}]}"]);
    let sum = read_every_way(&text, "/items", &ResponseOptions::new().into());
    assert_eq!((values(&sum), sum.errors.len()), (json!([{"a": 1}, {"a": 2}, {"a": 3}]), 0));
    let all = ResponseOptions::new().with_objects(Scope::All);
    let text = body(&[
        "One:\n[{'n': 1}, {'n': 2}]\nTwo:\n[{'n': 3}, ",
        "{'n': 4}]\nThree:\n[{'n': 5}, {'n': 6",
    ]);
    let sum = read_every_way(&text, "", &all.into());
    let want =
        [(0, 1), (1, 2), (0, 3), (1, 4), (0, 5)].map(|(at, value)| (at, json!({"n": value})));
    assert_eq!(sum.items, want);
    assert_eq!(sum.errors.len(), 1);
    // An error of the provider is passed on.
    let failed = "data: {\"error\": {\"message\": \"overloaded\", \"type\": \"server_error\"}}\n\n";
    let sum = read(Source::cut(failed.as_bytes(), 9).0, "", ResponseOptions::new());
    assert_eq!(sum.errors, ["the provider reported an error"]);
}

fn call_event(index: usize, fields: &Value) -> String {
    let mut call = json!({"index": index});
    call.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}))
}

/// A call whose arguments come in these pieces.
fn call_of(index: usize, name: &str, pieces: &[&str]) -> Vec<String> {
    let (first, rest) = pieces.split_first().unwrap();
    let id = format!("c{index}");
    let begin = json!({"id": id, "function": {"name": name, "arguments": first}});
    let more = |piece| call_event(index, &json!({"function": {"arguments": piece}}));
    [call_event(index, &begin)].into_iter().chain(rest.iter().map(more)).collect()
}

const CALLED: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\
                      \"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

fn rows() -> ValueOptions {
    ValueOptions::arguments_of("add_rows", ResponseOptions::new())
}

#[test]
fn items_of_the_arguments_of_calls() {
    let text = text_event("[7, 8]");
    let other = call_of(0, "other", &["{\"rows\": [0]}"]).concat();
    let call =
        call_of(1, "add_rows", &["{'rows': [1, {'a'", ": 2}, 'th", "ree', [4]", "], 'n': 5}"]);
    let body = [text, other, call.concat(), CALLED.to_owned()].concat();
    let sum = read_every_way(&body, "/rows", &rows());
    assert_eq!((values(&sum), sum.errors.len()), (json!([1, {"a": 2}, "three", [4]]), 0));
    // Each as it closes, with the number of its call.
    let head = call.iter().take(2).map(|event| Ok(event.clone().into_bytes())).collect();
    let mut items = pin!(Source::new(head).0.items::<Value>("/rows", rows()));
    let item = block_on(items.next()).unwrap().unwrap();
    assert_eq!((item.index(), item.call(), item.into_value()), (0, Some(0), json!(1)));
    assert_eq!(block_on(items.next()).unwrap().unwrap().value(), &json!({"a": 2}));
    // No call of that tool, and a call without the array.
    let sum = read_every_way(&body, "/lines", &rows());
    assert_eq!(sum.errors, ["there is no such value in the text"]);
    let none = ValueOptions::arguments_of("add_row", ResponseOptions::new());
    let sum = read_every_way(&body, "/rows", &none);
    assert_eq!(sum.errors, ["there is no such value in the text"]);
}

/// However a call breaks off, its items are those that closed before, and the end says that it is incomplete.
#[test]
fn a_call_that_breaks_off_gives_only_whole_items() {
    let permissive = MendOptions::new().with_policy(Policy::PERMISSIVE);
    let permissive = ResponseOptions::new().with_wire(WireOptions::new().with_mending(permissive));
    // What the tool allows counts, and not what all calls may have.
    let strict = WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT));
    let policies = ToolPolicies::new(|tool| (tool == "add_rows").then_some(Policy::PERMISSIVE));
    let by_tool = ResponseOptions::new().with_wire(strict.with_policies(policies));
    for options in [ResponseOptions::new(), permissive, by_tool] {
        let options = ValueOptions::arguments_of("add_rows", options);
        for (arguments, whole) in [
            ("{\"rows\": [[1], [2], [3", 2),
            ("{\"rows\": [[1], [2], 3", 2),
            ("{\"rows\": [[1], [2], \"3", 2),
            ("{'rows': [[1], [2], {'a': 3", 2),
            ("{'rows': [[1], [2], ", 2),
            ("{'rows': [[1], [2]], 'n': ", 2),
            ("{\"rows\": [", 0),
        ] {
            for body in [
                call_of(0, "add_rows", &[arguments]).concat(),
                call_of(0, "add_rows", &[&arguments[..9], &arguments[9..]]).concat(),
                call_of(0, "add_rows", &[arguments]).concat() + CALLED,
            ] {
                let sum = read_every_way(&body, "/rows", &options);
                let want = json!(&[json!([1]), json!([2])][..whole]);
                assert_eq!((values(&sum), sum.errors.len()), (want, 1), "{body}: {sum:?}");
                let counted = sum.errors[0].ends_with("; 2 items of it had closed before");
                assert!(sum.errors[0].starts_with("the document is not complete"), "{sum:?}");
                assert!(!sum.errors[0].contains("invalid"), "{sum:?}");
                assert_eq!(counted, whole == 2, "{sum:?}");
            }
        }
    }
}

/// Calls side by side, and one in the middle of which an event was lost.
#[test]
fn items_of_several_calls_and_of_one_that_lost_an_event() {
    let first = call_of(0, "add_rows", &["{\"rows\": [1, ", "2, 3]}"]);
    let second = call_of(1, "add_rows", &["{\"rows\": [4, ", "5, 6]}"]);
    let body = [&*first[0], &second[0], &first[1], &second[1], CALLED].concat();
    // In the order in which they arrive.
    let want =
        [(0, 1), (1, 4), (0, 2), (0, 3), (1, 5), (1, 6)].map(|(call, value)| (Some(call), value));
    for size in [1, 7, 60, 10_000] {
        let source = Source::cut(body.as_bytes(), size).0;
        let items: Vec<_> = block_on(source.items::<u32>("/rows", rows()).collect());
        let items = items.into_iter().map(Result::unwrap);
        let items: Vec<_> = items.map(|item| (item.call(), item.into_value())).collect();
        assert_eq!(items, want, "{size}");
    }
    let pieces = call_of(0, "add_rows", &["{\"rows\": [[1], [2", ", 2.5], [3], ", "[4]]}"]);
    let body = [&*pieces[0], "data: {\"choi\n\n", &pieces[2], CALLED].concat();
    let sum = read_every_way(&body, "/rows", &rows());
    assert_eq!(values(&sum), json!([[1]]));
    let incomplete = "the document is not complete: invalid; 1 item of it had closed before";
    assert_eq!(sum.errors, ["the provider reported an error", incomplete]);
}

#[test]
fn upstream_errors_and_limits_are_reported() {
    let (source, log) = Source::new(vec![Ok(b"[1, 2, [3".to_vec()), Err("reset")]);
    let sum = read(source, "", JsonOptions::new());
    assert_eq!(values(&sum), json!([1, 2]));
    let incomplete =
        "the document is not complete: its end is missing; 2 items of it had closed before"
            .to_owned();
    assert_eq!(sum.errors, [incomplete, "upstream reset".to_owned()]);
    assert!(log.borrow().dropped && !log.borrow().polled_after_end);
    // A limit of the mender.
    let limits = wiremend_core::Limits::new().with_depth(2);
    let options = JsonOptions::new().with_mending(MendOptions::new().with_limits(limits));
    let sum = read_every_way("[[1], [2], [[3]], [4]]", "", &options.into());
    assert_eq!(values(&sum), json!([[1], [2]]));
    assert_eq!(
        sum.errors,
        ["the document is not complete: overflow; 2 items of it had closed before"]
    );
}

#[test]
fn cancelled_or_dropped_at_any_point() {
    let text = "[1, {'a': 2}, 'three', [4]]";
    for chunks in 0..=text.len() {
        let (source, log) = Source::cut(text.as_bytes(), 1);
        let mut items = Box::pin(source.hesitant().items::<Value>("", JsonOptions::new()));
        let mut sum = Sum::default();
        let mut take = |item: Result<wiremend_stream::Item<Value>, _>| match item {
            Ok(item) => sum.items.push((item.index(), item.into_value())),
            Err(error) => note(&mut sum, &error),
        };
        while log.borrow().given < chunks {
            // The future of `next` is dropped after one poll.
            if let Some(Some(item)) = items.next().now_or_never() {
                take(item);
            }
        }
        items.as_mut().cancel();
        items.as_mut().cancel();
        assert!(log.borrow().dropped);
        while let Some(item) = block_on(items.next()) {
            take(item);
        }
        let cut = read(Source::cut(&text.as_bytes()[..chunks], 100).0, "", JsonOptions::new());
        assert_eq!(sum, cut, "{chunks}");
    }
}

#[test]
fn upstream_waits_until_the_items_are_taken() {
    let (source, log) = Source::cut(b"[1,2,3,4,5,6,7,8,9]", 9);
    let mut items = pin!(source.items::<u32>("", JsonOptions::new()));
    assert_eq!(log.borrow().polls, 0, "nothing happens before the first poll");
    for _ in 0..3 {
        assert!(block_on(items.next()).unwrap().is_ok());
        assert_eq!(log.borrow().given, 1);
    }
}
fn text_event(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
}

/// What was lost in the middle of a text leaves JSON that looks whole. Nothing that ends after it is whole.
#[test]
fn a_part_of_the_response_that_was_lost_is_an_error() {
    let limits = WireLimits::new().with_sse(SseLimits::new().with_line(300));
    let options = ResponseOptions::new().with_wire(WireOptions::new().with_limits(limits));
    let long = format!("2, \"{}\", ", "x".repeat(400));
    let done = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let body = [&text_event("[1, "), &text_event(&long), &text_event("3]"), done].concat();
    let sum = read_every_way(&body, "", &options.clone().into());
    assert_eq!(values(&sum), json!([1]));
    let incomplete =
        "the document is not complete: its end is missing; 1 item of it had closed before";
    assert_eq!(sum.errors, ["a part of the response was lost: limit", incomplete]);
    // An error that says so comes once.
    let events = [&text_event("[1, "), "data: {\"choi\n\n", &text_event("3]"), done];
    let sum = read_every_way(&events.concat(), "", &options.into());
    assert_eq!(values(&sum), json!([1]));
    assert_eq!(sum.errors, ["the provider reported an error", incomplete]);
}

/// The end of a text closes what is open in every document that it brings, not only in the first one.
#[test]
fn what_the_end_of_a_text_closes_is_no_item() {
    for before in ["", "{} ", "[1] ", "1. [x] ", "See [1] and ", "[[3]] ", "{'a': 1} "] {
        for open in ["[[2", "[2", "[\"2", "[{\"a\": 2", "[[2], [2"] {
            let text = format!("{before}{open}");
            let options = JsonOptions::new().with_scope(Scope::All);
            let sum = read_every_way(&text, "", &options.into());
            let whole = open.starts_with("[[2],");
            let twos = sum.items.iter().filter(|(_, value)| value.to_string().contains('2'));
            assert!(twos.count() <= usize::from(whole), "{text}: {sum:?}");
        }
    }
}

#[test]
fn a_text_without_json_has_no_array() {
    for text in ["", " ", "There is none.", "no"] {
        for scope in [Scope::All, Scope::First, Scope::Whole] {
            let options = JsonOptions::new().with_scope(scope);
            let sum = read_every_way(text, "/items", &options.into());
            assert_eq!((sum.items.len(), sum.errors.len()), (0, 1), "{text}: {sum:?}");
        }
    }
}

/// What a repair drops may be items. What comes after a whole document is another one.
#[test]
fn items_that_a_repair_drops_are_missed() {
    for (text, items, errors) in [
        (r#"{"items": [{"id": 1}, ], {"id": 3}, {"id": 4}]}"#, 1, 1),
        (r#"{"items": [{"id": 1}, ], {"id": 3}]}"#, 1, 1),
        (r#"{"items": [{"id": 1}, {"id": 2}]} {"other": 3}"#, 2, 0),
        ("{\"items\": [{'id': 1}, {'id': 2}]}\nThat is all.", 2, 0),
    ] {
        for size in [1, 5, text.len()] {
            let sum = read(Source::cut(text.as_bytes(), size).0, "/items", JsonOptions::new());
            assert_eq!((sum.items.len(), sum.errors.len()), (items, errors), "{text} {sum:?}");
        }
    }
}
