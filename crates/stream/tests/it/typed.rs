//! A value as a Rust type, while it grows.

use std::pin::pin;

use crate::source::Source;
use futures::{FutureExt, StreamExt, executor::block_on, stream::FusedStream};
use serde::Deserialize;
use serde_json::{Value, json};
use wiremend_core::Outcome;
use wiremend_response::ResponseOptions;
use wiremend_stream::{ByteStreamExt, JsonOptions, TypedEvent, ValueError, ValueOptions};

fn event(delta: &Value, reason: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
    format!("data: {}\n\n", json!({"choices": [choice]}))
}

fn body(pieces: &[&str]) -> String {
    let pieces = pieces.iter().map(|text| event(&json!({"content": text}), None));
    pieces.collect::<String>() + &event(&json!({}), Some("stop")) + "data: [DONE]\n\n"
}

#[derive(Debug, Deserialize, PartialEq)]
struct Trip {
    city: String,
    days: u32,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
struct Shown {
    city: String,
    days: Option<u32>,
}

#[test]
fn the_arguments_of_a_call_are_a_value_that_grows() {
    let call = |name: Option<&str>, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        event(&json!({"tool_calls": [{"index": 0, "id": name, "function": function}]}), None)
    };
    let body = call(Some("plan"), "{'city': 'Os") + &call(None, "lo', 'days': 3}");
    let called = event(&json!({}), Some("tool_calls")) + "data: [DONE]\n\n";
    for (end, whole) in [(&*called, true), ("", false)] {
        let source = Source::cut((body.clone() + end).as_bytes(), 30).0;
        let options = ValueOptions::arguments_of("plan", ResponseOptions::new());
        let mut events = pin!(source.hesitant().typed::<Trip>(options));
        let (mut cities, mut got) = (Vec::new(), None);
        while let Some(event) = block_on(events.next()) {
            match event {
                Ok(TypedEvent::Grew) => {
                    let shown: Shown = events.partial().unwrap().unwrap();
                    cities.push(shown.city);
                }
                Ok(TypedEvent::Whole(trip)) => got = Some(trip),
                Err(ValueError::Incomplete { outcome: Outcome::Cut, .. }) => assert!(!whole),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((&*cities[0], &**cities.last().unwrap()), ("Os", "Oslo"));
        assert_eq!(got, whole.then(|| Trip { city: "Oslo".to_owned(), days: 3 }));
    }
}

#[test]
fn a_value_that_grows_is_cancelled_or_dropped_at_any_point() {
    let text = "{'city': 'Oslo', 'days': 3}";
    for chunks in 0..=text.len() {
        let (source, log) = Source::cut(text.as_bytes(), 1);
        let mut events = Box::pin(source.hesitant().typed::<Trip>(JsonOptions::new()));
        while log.borrow().given < chunks {
            drop(events.next().now_or_never());
        }
        events.as_mut().cancel();
        assert!(log.borrow().dropped);
        let mut last = None;
        while let Some(event) = block_on(events.next()) {
            last = Some(event);
        }
        let is_whole = matches!(last, Some(Ok(TypedEvent::Whole(_))));
        assert_eq!(is_whole, chunks == text.len(), "{chunks}");
        assert!(is_whole || matches!(last, Some(Err(_))), "{chunks}");
    }
}

#[test]
fn a_value_grows_and_is_whole_at_the_end() {
    let text = "Here: {'city': 'Z\u{fc}rich', 'days': 12} Bye";
    let response = body(&["{'city': 'Z\u{fc}", "rich', 'days': 1", "2}"]);
    let cases: [(&str, ValueOptions); 2] =
        [(text, JsonOptions::new().into()), (&response, ResponseOptions::new().into())];
    for (text, options) in cases {
        for size in 1..text.len() {
            let (source, _) = Source::cut(text.as_bytes(), size);
            let mut events = pin!(source.hesitant().typed::<Trip>(options.clone()));
            let (mut last, mut trip) = (Shown::default(), None);
            while let Some(event) = block_on(events.next()) {
                match event.unwrap() {
                    TypedEvent::Grew => {
                        let shown: Shown = events.partial().unwrap().unwrap();
                        assert!(shown.city.starts_with(&last.city));
                        assert!(matches!(shown.days, None | Some(12)), "{shown:?}");
                        last = shown;
                    }
                    TypedEvent::Whole(whole) => assert_eq!(trip.replace(whole), None),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(trip, Some(Trip { city: "Z\u{fc}rich".into(), days: 12 }));
            assert!(events.is_terminated());
        }
    }
}

#[test]
fn a_value_that_is_not_whole_is_an_error() {
    let typed = |text: &str, limit: usize| {
        let (source, _) = Source::cut(text.as_bytes(), 4);
        let options = JsonOptions::new().with_object_limit(limit);
        let mut events = pin!(source.typed::<Trip>(options));
        let mut ends = Vec::new();
        while let Some(event) = block_on(events.next()) {
            match event {
                Ok(TypedEvent::Grew) => {}
                Ok(other) => panic!("{other:?}"),
                Err(error) => ends.push(error),
            }
        }
        let [end] = <[ValueError<_>; 1]>::try_from(ends).unwrap();
        end
    };
    let cut = typed("{'city': 'Oslo', 'days': 3", 100);
    assert!(matches!(cut, ValueError::Incomplete { outcome: Outcome::Closed, .. }));
    assert!(matches!(typed("{'city': 'Oslo'}", 100), ValueError::Type { index: None, .. }));
    let long = typed("{'city': 'Oslo', 'days': 3}", 20);
    assert!(matches!(long, ValueError::TooLong { index: None, limit: 20, .. }));
    assert!(matches!(typed("no", 20), ValueError::NotFound));
}
