//! What the templates of models and the parsers of their makers say, dialect by dialect.

use jsonmend_core::{Options, Policy};
use jsonmend_extract::{CallExtractor, CallOutcome, Dialect};
use jsonmend_schema::Registry;
use serde_json::json;

use super::check;

/// A reader of a dialect, or of all of them, that knows these tools.
fn knowing(name: Option<&str>) -> CallExtractor {
    let declared = json!([
        {"name": "book", "parameters": {"type": "object", "properties": {
            "seats": {"type": "integer"}, "name": {"type": "string"}, "list": {"type": "array"},
        }}},
        {"name": "now", "parameters": {"type": "object", "properties": {}}},
        {"name": "brave_search", "parameters": {"type": "object", "properties": {
            "query": {"type": "string"},
        }}},
    ]);
    let reader = CallExtractor::new(Options::new().with_policy(Policy::PERMISSIVE));
    let reader = match name {
        Some(name) => reader.with_dialect(Dialect::by_name(name).unwrap().clone()),
        None => reader,
    };
    reader.with_tools(Registry::from_tools(&declared).unwrap().tools())
}

/// The calls of a text, and the text without them.
fn read(reader: &CallExtractor, text: &str) -> (Vec<(String, String, CallOutcome)>, String) {
    let found = check(reader, text).found;
    let calls = found.calls().iter().map(|call| {
        let arguments = String::from_utf8_lossy(call.arguments()).into_owned();
        (call.name().to_owned(), arguments, call.outcome())
    });
    (calls.collect(), String::from_utf8_lossy(found.text()).into_owned())
}

/// By name and detected, this is one call, which may be run, and no text.
#[track_caller]
fn is_call(name: &str, text: &str, arguments: &str) {
    for reader in [knowing(Some(name)), knowing(None)] {
        let (calls, rest) = read(&reader, text);
        let [(tool, found, outcome)] = &calls[..] else { panic!("{text}: {calls:?} {rest:?}") };
        assert_eq!((tool.as_str(), found.as_str()), ("book", arguments), "{text}");
        assert!(outcome.can_run(), "{text}: {outcome:?}");
        assert_eq!(rest, "", "{text}");
    }
}

/// A call of Kimi K3 with this in it.
fn k3(inner: &str) -> String {
    format!(
        "<|open|>tools<|sep|><|open|>call tool=\"book\" index=\"1\"<|sep|>{inner}<|close|>call<|sep|><|close|>tools<|sep|>"
    )
}

/// Where a server forces a call of Kimi K3, its grammar has all arguments in one element.
#[test]
fn the_arguments_of_kimi_k3_may_be_one_element() {
    for inner in [
        "<|open|>json type=\"object\"<|sep|>{\"seats\": 2}<|close|>json<|sep|>",
        "<|open|>json<|sep|>{\"seats\": 2}<|close|>json<|sep|>",
        "<|open|> json type=\"object\" <|sep|>{\"seats\": 2}<|close|> json <|sep|>",
        "<|open|>json type=\"object\"<|sep|>{\"seats\": 2}",
        "\n<|open|>json type=\"object\"<|sep|>\n{\"seats\": 2,}\n<|close|>json<|sep|>\n",
    ] {
        let reader = knowing(Some("kimi_k3"));
        is_call("kimi_k3", &k3(inner), r#"{"seats": 2}"#);
        let (calls, _) = read(&reader, &k3(inner).repeat(2));
        assert_eq!(calls.len(), 2, "{inner}");
    }
    let quoted = "<|open|>json<|sep|>{\"name\": \"<|close|>json<|sep|>\"}<|close|>json<|sep|>";
    is_call("kimi_k3", &k3(quoted), r#"{"name": "<|close|>json<|sep|>"}"#);
    is_call("kimi_k3", &k3("<|open|>json type=\"object\"<|sep|><|close|>json<|sep|>"), "{}");
    for (inner, outcome) in [
        // What comes next to the element would be missing.
        (
            "<|open|>json<|sep|>{\"seats\": 2}<|close|>json<|sep|><|open|>argument key=\"name\" type=\"string\"<|sep|>A<|close|>argument<|sep|>",
            CallOutcome::Refused,
        ),
        (
            "<|open|>argument key=\"name\" type=\"string\"<|sep|>A<|close|>argument<|sep|><|open|>json<|sep|>{\"seats\": 2}<|close|>json<|sep|>",
            CallOutcome::Refused,
        ),
        ("<|open|>json<|sep|>two seats<|close|>json<|sep|>", CallOutcome::Refused),
        ("<|open|>json<|sep|>{\"seats\":<|close|>json<|sep|>", CallOutcome::Cut),
    ] {
        for name in [Some("kimi_k3"), None] {
            let (calls, rest) = read(&knowing(name), &k3(inner));
            let outcomes: Vec<_> = calls.iter().map(|call| call.2).collect();
            assert_eq!((&outcomes[..], rest.as_str()), (&[outcome][..], ""), "{inner}");
        }
    }
    let open = k3("<|open|>json<|sep|>{\"seats\": 2");
    let cut = open.split_once("<|close|>call").unwrap().0;
    assert_eq!(read(&knowing(None), cut).0[0].2, CallOutcome::Cut);
}

/// Tokenizers write a blank on each side of the words between the control tokens.
#[test]
fn blanks_next_to_the_tokens_of_kimi_k3_are_none() {
    let text = "<|open|> tools <|sep|><|open|> call tool=\"book\" index=\"1\" <|sep|><|open|> argument key=\"seats\" type=\"number\" <|sep|>2<|close|> argument <|sep|><|close|> call <|sep|><|close|> tools <|sep|><|close|> message <|sep|><|end_of_msg|>";
    is_call("kimi_k3", text, r#"{"seats": 2}"#);
    let call = text.split_once("tools <|sep|>").unwrap().1;
    is_call("kimi_k3", call.split_once("<|close|> message").unwrap().0, r#"{"seats": 2}"#);
}

/// The template writes the type of each value, and the model has decided it.
#[test]
fn the_type_that_kimi_k3_states_is_that_of_the_value() {
    for (key, kind, value, json) in [
        ("name", "string", "2", r#"{"name": "2"}"#),
        ("name", "number", "2", r#"{"name": 2}"#),
        ("name", "null", "null", r#"{"name": null}"#),
        ("seats", "boolean", "true", r#"{"seats": true}"#),
        ("seats", "string", "2", r#"{"seats": "2"}"#),
        ("seats", "number", "two", r#"{"seats": "two"}"#),
        ("list", "array", "[1, 2,]", r#"{"list": [1, 2]}"#),
        ("list", "object", "{\"a\": 1}", r#"{"list": {"a": 1}}"#),
    ] {
        let value = format!(
            "<|open|>argument key=\"{key}\" type=\"{kind}\"<|sep|>{value}<|close|>argument<|sep|>"
        );
        is_call("kimi_k3", &k3(&value), json);
    }
}
