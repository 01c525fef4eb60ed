//! Items that may be several ones, because what was between them was broken: a key in them comes twice.

use std::pin::pin;

use crate::source::Source;
use futures::{StreamExt, executor::block_on};
use serde_json::{Value, json};
use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_response::ResponseOptions;
use wiremend_stream::{ByteStreamExt, JsonOptions, ValueError, ValueOptions};
use wiremend_wire::WireOptions;

/// How many items there were, and what is said of the document at its end.
type Read = (usize, Option<(Outcome, usize)>);

/// The same through the stream and the iterator, however the text is cut.
fn read(body: &str, pointer: &str, options: &ValueOptions) -> Read {
    fn note(read: &mut Read, item: Result<(), (Outcome, usize)>) {
        match item {
            Ok(()) => read.0 += 1,
            Err(why) => assert_eq!(read.1.replace(why), None),
        }
    }
    fn incomplete<E: std::fmt::Debug>(error: ValueError<E>) -> (Outcome, usize) {
        match error {
            ValueError::Incomplete { outcome, items, .. } => (outcome, items),
            other => panic!("{other:?}"),
        }
    }
    let mut whole = (0, None);
    let blocking = wiremend_stream::source::from_read(body.as_bytes());
    for item in blocking.items::<Value>(pointer, options.clone()) {
        note(&mut whole, item.map(drop).map_err(incomplete));
    }
    for size in [1, 2, 3, 7, 20] {
        let source = Source::cut(body.as_bytes(), size).0.hesitant();
        let mut items = pin!(source.items::<Value>(pointer, options.clone()));
        let mut read = (0, None);
        while let Some(item) = block_on(items.next()) {
            note(&mut read, item.map(drop).map_err(incomplete));
        }
        assert_eq!(read, whole, "{size}: {body}");
    }
    whole
}

fn event(delta: &Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
}

const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
                   data: [DONE]\n\n";

fn rows() -> ValueOptions {
    // Whatever is repaired in texts is repaired in these calls.
    let wire = WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE));
    ValueOptions::arguments_of("add", ResponseOptions::new().with_wire(wire))
}

/// The same for a channel, the text of a response and the arguments of a call.
fn of_rows(rows_text: &str) -> Read {
    let text = format!("{{\"rows\": {rows_text}}}");
    let channel = read(&text, "/rows", &JsonOptions::new().into());
    let letters: Vec<char> = text.chars().collect();
    for size in [1, 5, 1_000] {
        let pieces = letters.chunks(size).map(|piece| piece.iter().collect::<String>());
        let (mut in_text, mut in_call) = (String::new(), String::new());
        for (at, piece) in pieces.enumerate() {
            in_text += &event(&json!({"content": piece}));
            let function = json!({"name": (at == 0).then_some("add"), "arguments": piece});
            let id = (at == 0).then_some("c0");
            in_call +=
                &event(&json!({"tool_calls": [{"index": 0, "id": id, "function": function}]}));
        }
        let options = ResponseOptions::new().into();
        // A text ends because it is said.
        let end = END.replace("tool_calls", "stop");
        assert_eq!(read(&(in_text + &end), "/rows", &options), channel, "{text}");
        assert_eq!(read(&(in_call + END), "/rows", &rows()), channel, "{text}");
    }
    channel
}

#[test]
fn an_item_that_may_be_several_is_reported_as_incomplete() {
    let mut divided = 0;
    for between in
        ["", " ", "\n", ";", " and ", "|", "), (", "(", ")", ": {", ":{", "/", "<br>", "--", " * "]
    {
        for (one, two) in [
            ("'a': 1, 'b': 2", "'a': 3, 'b': 4"),
            ("\"a\": [1], \"b\": {\"k\": 1}", "\"a\": [2], \"b\": {\"k\": 2}"),
            ("a: 1, b: 2", "a: 3, b: 4"),
        ] {
            let rows = format!("[{{{one}}}, {{{one}{between}{two}}}, {{{two}}}]");
            let (items, end) = of_rows(&rows);
            // Where the brackets could be told, there are four.
            divided += usize::from(items == 4);
            let want = if items == 4 { (4, None) } else { (3, Some((Outcome::Closed, 3))) };
            assert_eq!((items, end), want, "{rows}");
        }
    }
    assert!(divided < 5, "{divided}");
    // The brackets are in a string.
    let rows = r#"[{"a": x y, "b": z,{"a": x y, "b": z,{"a": x y, "b": z}]"#;
    assert_eq!(of_rows(rows), (1, Some((Outcome::Closed, 1))));
}

/// A key that comes twice is none of our business as such, and neither is a repair.
#[test]
fn a_key_that_the_model_wrote_twice_is_no_reason() {
    for rows in [
        r#"[{"a": 1, "a": 2}, {"a": 3}]"#,
        "[{'a': 1, 'a': 2,}, {a: 3}]",
        r#"[{"a": 1 "b": 2}, {"a": 3}]"#,
        r#"[{"a": {"k": 1}, "b": {"k": 2} "k": 3}, {"a": 3}]"#,
        r#"[{"a": 1, "a": 2} {"a": 3}]"#,
        r#"[{"a": "a", "b": ["a", "a"] "c": "a"}, "a" "a"]"#,
    ] {
        let (items, end) = of_rows(rows);
        assert!(items >= 2 && end.is_none(), "{rows} {items} {end:?}");
    }
}
