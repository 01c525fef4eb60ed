//! A question for fields: it says what it is about, and asks for it in a form that every provider takes.

use core::time::Duration;

use serde_json::{Value, json};
use wiremend_reask::{Answer, AskKind, Native, Reask, ReaskOptions, Shape};

use crate::{BOOKING, asked, booking, done, says, schema};

const NOW: Duration = Duration::ZERO;

#[test]
fn a_question_for_fields_says_what_it_is_about_in_every_rendering() {
    let wrong = r#"{"guest": "Ines Pax", "rooms": [{"beds": 2}], "nights": "two or three"}"#;
    for repeats in 0..2 {
        let mut reask = booking(ReaskOptions::new());
        for _ in 0..repeats {
            asked(says(&mut reask, wrong));
        }
        let ask = asked(says(&mut reask, wrong));
        assert_eq!((ask.kind(), ask.is_fresh()), (AskKind::Fields, repeats == 1));
        assert!(ask.tool_result().unwrap().contains("Ines Pax"));
        for shape in Shape::ALL {
            let text = Value::from(ask.messages(*shape)).to_string();
            assert!(text.contains("Ines Pax") && text.contains("beds"), "{shape:?} {text}");
            assert_eq!(ask.as_tool_result(*shape), None, "the answer was no call");
        }
    }
}

#[test]
fn the_result_of_a_call_does_not_repeat_the_call_right_before_it() {
    let options = || ReaskOptions::for_tool("book");
    let mut reask = Reask::new(&schema(BOOKING), options());
    let call = r#"{"guest": "Ines Pax", "nights": "two", "rooms": "none"}"#;
    let ask = asked(reask.answer(&Answer::arguments(call), NOW));
    assert!(ask.user_message().unwrap().contains("Ines Pax"));
    assert!(!ask.tool_result().unwrap().contains("Ines Pax"));
    // The call before the next question holds only a field.
    let ask = asked(reask.answer(&Answer::arguments(r#"{"nights": 2}"#), NOW));
    assert_eq!(ask.fields(), ["/rooms"]);
    assert!(ask.tool_result().unwrap().contains("Ines Pax"), "{:?}", ask.tool_result());
    // What was repeated is asked for without the call.
    let mut reask = Reask::new(&schema(BOOKING), options());
    asked(reask.answer(&Answer::arguments(call), NOW));
    let ask = asked(reask.answer(&Answer::arguments(call), NOW));
    assert!(ask.is_fresh() && ask.tool_result().unwrap().contains("Ines Pax"));
}

#[test]
fn the_parts_that_are_kept_keep_their_places() {
    let mut reask = booking(ReaskOptions::new());
    let rooms = r#"{"guest": "A", "nights": 1, "rooms": ["sea", {"beds": 1.5}, {"beds": 3}]}"#;
    let ask = asked(says(&mut reask, rooms));
    assert_eq!(ask.fields(), ["/rooms/0", "/rooms/1/beds"]);
    let kept = r#"{"guest": "A", "nights": 1, "rooms": [null, {}, {"beds": 3}]}"#;
    assert!(ask.user_message().unwrap().contains(kept), "{:?}", ask.user_message());
}

#[test]
fn the_keys_of_a_reply_are_names_that_every_provider_takes() {
    let names = r#"{"type": "object", "properties": {
        "a": {"type": "object", "properties": {"b": {"type": "integer"}}}, "a_b": {"type": "integer"},
        "na me": {"type": "integer"}, "definitions": {"type": "integer"},
        "list": {"type": "array", "items": {"type": "integer"}}, "ok": {}
    }}"#;
    let wrong =
        r#"{"a": {"b": []}, "a_b": [], "na me": [], "definitions": [], "list": [1, []], "ok": 1}"#;
    let mut reask = Reask::new(&schema(names), ReaskOptions::for_tool("f"));
    let ask = asked(reask.answer(&Answer::arguments(wrong), NOW));
    assert_eq!(ask.fields(), ["/a/b", "/a_b", "/na me", "/definitions", "/list/1"]);
    let properties = ask.schema().source()["properties"].as_object().unwrap();
    let keys: Vec<&String> = properties.keys().collect();
    assert_eq!(keys, ["field_1", "a_b", "field_2", "field_3", "list_1"]);
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    assert!(keys.iter().all(|key| (1..=64).contains(&key.len()) && key.chars().all(is_safe)));
    let prompt = ask.user_message().unwrap();
    let optional = |line: &str| format!("{line}, or null to leave it out");
    for line in [
        optional("- field_1: /a/b"),
        optional("- a_b: /a_b"),
        optional("- field_2: /na me"),
        "- list_1: /list/1".to_owned(),
    ] {
        assert!(prompt.lines().any(|own| own == line), "{line} in {prompt}");
    }
    let reply = r#"{"a_b": 2, "field_1": 1, "field_2": 3, "field_3": 4, "list_1": 5}"#;
    assert_eq!(
        done(says(&mut reask, reply)).parse::<Value>().unwrap(),
        json!({"a": {"b": 1}, "a_b": 2, "na me": 3, "definitions": 4, "list": [1, 5], "ok": 1})
    );
    // A long pointer has a number, too.
    let long = "n".repeat(80);
    let text = json!({"properties": {&long: {"type": "integer"}, "ok": {}}}).to_string();
    let mut reask = Reask::new(&schema(&text), ReaskOptions::new());
    let ask = asked(says(&mut reask, &format!(r#"{{"{long}": [], "ok": 1}}"#)));
    assert!(ask.schema().source()["properties"].get("field_1").is_some());
}

#[test]
fn nothing_in_a_question_for_fields_states_the_schema_of_the_whole() {
    let mut reask = booking(ReaskOptions::new());
    let first = asked(reask.begin(NOW));
    assert!(first.instructions().unwrap().contains("\"guest\""));
    let ask = asked(says(&mut reask, r#"{"guest": "Ines", "nights": "two"}"#));
    let instructions = ask.instructions().unwrap();
    assert!(instructions.contains("\"nights\"") && !instructions.contains("\"guest\""));
    assert!(instructions.ends_with("\n{\"nights\":1}"), "{instructions}");
    for shape in Shape::ALL {
        let native = Native::output(ask.schema(), *shape, "booking");
        let text = native.value().to_string();
        assert!(text.contains("\"nights\"") && !text.contains("\"guest\""), "{text}");
    }
    assert!(ask.user_message().unwrap().contains("not with the whole value"));
    // A model that is to call a tool is not asked to reply with a value.
    let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
    let instructions = asked(reask.begin(NOW)).instructions().unwrap();
    assert!(instructions.starts_with("Call the tool \"book\". Its arguments"), "{instructions}");
}

#[test]
fn what_should_not_be_there_stays_until_the_model_says_so() {
    let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
    let wrong = Answer::arguments(r#"{"guest": "Ines", "nights": "two", "dog": "Rex"}"#);
    let ask = asked(reask.answer(&wrong, NOW));
    assert_eq!(ask.fields(), ["/nights", "/dog"]);
    // The reply does not mention the dog.
    let ask = asked(says(&mut reask, r#"{"nights": 2}"#));
    assert_eq!(ask.fields(), ["/dog"]);
    let done = done(says(&mut reask, r#"{"dog": null}"#));
    assert_eq!(done.json(), r#"{"guest": "Ines", "nights": 2}"#);
}
