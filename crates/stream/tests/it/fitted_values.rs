//! Items and values that are fitted to a schema before they become Rust types.

use std::pin::pin;

use crate::source::Source;
use futures::{StreamExt, executor::block_on};
use serde_json::{Value, json};
use wiremend_core::{MendOptions, Policy};
use wiremend_response::ResponseOptions;
use wiremend_schema::{FitOptions, Schema};
use wiremend_stream::{ByteStreamExt, Item, JsonOptions, TypedEvent, ValueError, ValueOptions};
use wiremend_wire::WireOptions;

fn schema() -> Schema {
    let text = r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["days"]}"#;
    Schema::from_text(text).unwrap()
}

fn fitted(options: impl Into<ValueOptions>) -> ValueOptions {
    options.into().with_schema(&schema(), FitOptions::new())
}

/// What is said of an error.
fn said(error: &ValueError<&'static str>) -> String {
    match error {
        ValueError::Fit { index, json, issues, .. } => {
            format!("{index:?} {json}: {}", issues.first().unwrap())
        }
        other => other.to_string(),
    }
}

fn items(source: Source, options: &ValueOptions) -> Vec<Result<Value, String>> {
    let items = source.items::<Value>("/items", options.clone());
    let read = items.map(|item| item.map(Item::into_value).map_err(|error| said(&error)));
    block_on(read.collect())
}

fn typed(source: Source, options: &ValueOptions) -> Vec<Result<Value, String>> {
    let mut events = pin!(source.typed::<Value>(options.clone()));
    let mut read = Vec::new();
    while let Some(event) = block_on(events.next()) {
        match event {
            Ok(TypedEvent::Whole(value)) => read.push(Ok(value)),
            Ok(_) => {}
            Err(error) => read.push(Err(said(&error))),
        }
    }
    read
}

/// The same at every cut, and in small pieces.
fn every_way<T: PartialEq + std::fmt::Debug>(body: &str, read: impl Fn(Source) -> T) -> T {
    let whole = read(Source::cut(body.as_bytes(), body.len().max(1)).0);
    for size in [1, 2, 3, 7] {
        let (source, _) = Source::cut(body.as_bytes(), size);
        assert_eq!(read(source.hesitant()), whole, "{size}: {body}");
    }
    for cut in 0..=body.len() {
        let (head, tail) = body.as_bytes().split_at(cut);
        let (source, _) = Source::new(vec![Ok(head.to_vec()), Ok(tail.to_vec())]);
        assert_eq!(read(source), whole, "{cut}: {body}");
    }
    whole
}

/// A response that calls the tool `plan` with these arguments.
fn call(arguments: &str) -> String {
    let function = json!({"name": "plan", "arguments": arguments});
    let call = json!([{"index": 0, "id": "c", "function": function}]);
    let begun = json!({"choices": [{"index": 0, "delta": {"tool_calls": call}}]});
    let ended = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    format!("data: {begun}\n\ndata: {ended}\n\ndata: [DONE]\n\n")
}

const ITEMS: &str =
    "{'items': [{'days': '3'}, {'days': 'a few'}, {'city': 'Oslo'}, {'days': 4.0}, {'days': 5}]}";

fn read_items() -> Vec<Result<Value, String>> {
    vec![
        Ok(json!({"days": 3})),
        Err(r#"Some(1) {"days": "a few"}: /days: expected integer, got string "a few""#.to_owned()),
        Err(r#"Some(2) {"city": "Oslo"}: /: missing required property "days" (integer)"#.to_owned()),
        Ok(json!({"days": 4})),
        Ok(json!({"days": 5})),
    ]
}

#[test]
fn each_item_is_fitted_and_the_next_ones_follow() {
    let options = fitted(JsonOptions::new());
    assert_eq!(every_way(ITEMS, |source| items(source, &options)), read_items());
    let options = fitted(ValueOptions::arguments_of("plan", ResponseOptions::new()));
    assert_eq!(every_way(&call(ITEMS), |source| items(source, &options)), read_items());
}

/// An item is fitted as it closes, not at the end of the array.
#[test]
fn an_item_that_is_there_has_been_fitted() {
    let (source, log) = Source::cut(ITEMS.as_bytes(), 1);
    let mut items = pin!(source.items::<Value>("/items", fitted(JsonOptions::new())));
    assert!(block_on(items.next()).unwrap().is_ok());
    let closed = ITEMS.find('}').unwrap() + 1;
    assert!(log.borrow().given <= closed + 1, "{}", log.borrow().given);
}

/// However much of a document arrives, what is cut off is never fitted: closed, it might fit.
#[test]
fn what_is_cut_off_is_incomplete_with_a_schema_too() {
    let whole = read_items();
    let options = fitted(JsonOptions::new());
    for cut in 1..ITEMS.len() - 1 {
        let mut read = items(Source::cut(&ITEMS.as_bytes()[..cut], 1_000).0, &options);
        let end = read.pop().unwrap().unwrap_err();
        assert!(end.contains("not complete") || end.contains("no such value"), "{cut}: {end}");
        assert_eq!(read[..], whole[..read.len()], "{cut}");
        let value = typed(Source::cut(&ITEMS.as_bytes()[..cut], 1_000).0, &options);
        assert!(value.iter().all(Result::is_err), "{cut}: {value:?}");
    }
}

#[test]
fn a_whole_value_is_fitted() {
    for (text, want) in [
        ("{'city': 'Oslo', 'days': '3'}", Ok(json!({"city": "Oslo", "days": 3}))),
        // The schema decides what the bytes leave open.
        ("{city: New York days: 3}", Ok(json!({"city": "New York", "days": 3}))),
        (
            "{'days': 'a few'}",
            Err(r#"None {"days": "a few"}: /days: expected integer, got string "a few""#.to_owned()),
        ),
    ] {
        let options = fitted(JsonOptions::new());
        let want = [want];
        assert_eq!(every_way(text, |source| typed(source, &options)), want, "{text}");
        // What is open in the arguments of a call is a guess, which its policy forbids.
        let wire = WireOptions::new().with_mending(MendOptions::new());
        let response = ResponseOptions::new().with_wire(wire);
        let options = fitted(ValueOptions::arguments_of("plan", response));
        assert_eq!(every_way(&call(text), |source| typed(source, &options)), want, "{text}");
    }
    // Without a schema, the text stands.
    let options = JsonOptions::new().into();
    let read = typed(Source::cut(b"{'days': '3'}", 1).0, &options);
    assert_eq!(read, [Ok(json!({"days": "3"}))]);
}

/// The policy for the repairs bounds the rules, whatever the options for the schema say.
#[test]
fn the_policy_bounds_the_rules() {
    let strict = MendOptions::new().with_policy(Policy::STRICT);
    let wire = WireOptions::new().with_mending(strict.clone());
    for options in [
        fitted(JsonOptions::new().with_mending(strict)),
        fitted(ValueOptions::arguments_of("plan", ResponseOptions::new().with_wire(wire))),
    ] {
        let is_call = format!("{options:?}").contains("plan");
        for (text, fits) in [("{\"days\": 3}", true), ("{\"days\": \"3\"}", false)] {
            let body = if is_call { call(text) } else { text.to_owned() };
            let read = typed(Source::cut(body.as_bytes(), 9).0, &options);
            assert_eq!(read.len(), 1);
            assert_eq!(read[0].is_ok(), fits, "{text}: {read:?}");
        }
    }
}
