//! The question for fields, and its reply: what it says, what is asked for, and which keys mean which place. Every
//! provider takes its form.

use core::time::Duration;

use serde_json::{Value, json};
use wiremend_core::{MendOptions, Policy, Risk};
use wiremend_reask::{Answer, AskKind, Native, Reask, ReaskOptions, Shape, Step};
use wiremend_schema::FitOptions;

use crate::{BOOKING, asked, booking, done, says, schema};

/// The keys that a question has, and the value after a reply. `None` if the fields are asked for again.
fn merged(schema_text: &str, wrong: &str, reply: &str) -> (Vec<String>, Option<Value>) {
    let mut reask = Reask::new(&schema(schema_text), ReaskOptions::new());
    let ask = asked(says(&mut reask, wrong));
    let keys = ask.schema().source()["properties"].as_object().unwrap().keys().cloned().collect();
    let value = match says(&mut reask, reply) {
        Step::Done(done) => Some(done.parse().unwrap()),
        step => {
            assert_eq!(asked(step).fields(), ask.fields(), "{reply}");
            None
        }
    };
    (keys, value)
}

#[test]
fn a_name_of_another_member_is_no_name_of_a_field_in_any_spelling() {
    let trip = r#"{"properties": {"days": {"type": "integer"}, "weeks": {"type": "integer", "x-aliases": ["duration"]},
        "trip": {"properties": {"days": {"type": "integer"}, "duration": {"type": "integer"}, "city": {"type": "string"}}}}}"#;
    let wrong = r#"{"days": 3, "trip": {"days": "some", "city": "Oslo"}}"#;
    for reply in [r#"{"days": 9}"#, r#"{"Days": 9}"#, r#"{"DAYS": 9, "weeks": 1}"#] {
        assert_eq!(merged(trip, wrong, reply), (vec!["trip_days".into()], None), "{reply}");
    }
    for reply in [r#"{"trip_days": 9}"#, r#"{"tripDays": 9}"#, r#"{"trip_days": 9, "Days": 3}"#] {
        let value = merged(trip, wrong, reply).1;
        assert_eq!(value, Some(json!({"days": 3, "trip": {"days": 9, "city": "Oslo"}})), "{reply}");
    }
    // The schema gives a member another name, which is the last part of the place of the field.
    let wrong = r#"{"weeks": 3, "trip": {"duration": "some", "city": "Oslo"}}"#;
    for reply in [r#"{"duration": 9}"#, r#"{"Duration": 9}"#] {
        assert_eq!(merged(trip, wrong, reply).1, None, "{reply}");
    }
    let value = merged(trip, wrong, r#"{"trip_duration": 9}"#).1;
    assert_eq!(value, Some(json!({"weeks": 3, "trip": {"duration": 9, "city": "Oslo"}})));
}

#[test]
fn a_bare_name_is_no_name_of_a_field_if_another_object_has_it_too() {
    let trip = r#"{"properties": {"name": {"type": "string"},
        "stay": {"properties": {"days": {"type": "integer", "x-aliases": ["length"]}, "city": {"type": "string"}}},
        "hike": {"properties": {"days": {"type": "integer"}, "length": {"type": "integer"}}},
        "legs": {"type": "array", "items": {"properties": {"hours": {"type": "integer"}, "to": {"type": "string"}}}}}}"#;
    let stay = r#"{"name": "A", "stay": {"days": "some", "city": "Oslo"}, "hike": {"days": 4}}"#;
    // It may state that of the hike again, or another one.
    for reply in
        [r#"{"days": 4}"#, r#"{"days": 9}"#, r#"{"Days": 9}"#, r#"{"answer": {"days": 9}}"#]
    {
        assert_eq!(merged(trip, stay, reply).1, None, "{reply}");
    }
    let value = json!({"name": "A", "stay": {"days": 9, "city": "Oslo"}, "hike": {"days": 4}});
    for reply in [
        r#"{"stay_days": 9}"#,
        r#"{"/stay/days": 9}"#,
        r#"{"stay.days": 9}"#,
        r#"{"length": 9}"#,
        r#"{"stay": {"days": 9}}"#,
    ] {
        assert_eq!(merged(trip, stay, reply).1, Some(value.clone()), "{reply}");
    }
    // The same of the other names of the field.
    let hike = r#"{"stay": {"days": "some", "city": "Oslo"}, "hike": {"length": 4}}"#;
    assert_eq!(merged(trip, hike, r#"{"length": 9}"#).1, None);
    let value = json!({"stay": {"days": 9, "city": "Oslo"}, "hike": {"length": 4}});
    assert_eq!(merged(trip, hike, r#"{"days": 9}"#).1, Some(value));
    // And of the items of a list.
    let legs =
        r#"{"name": "A", "legs": [{"hours": 2, "to": "Voss"}, {"hours": "long", "to": "Gol"}]}"#;
    assert_eq!(merged(trip, legs, r#"{"hours": 3}"#).1, None);
    let value =
        json!({"name": "A", "legs": [{"hours": 2, "to": "Voss"}, {"hours": 3, "to": "Gol"}]});
    assert_eq!(merged(trip, legs, r#"{"legs_1_hours": 3}"#).1, Some(value));
    let legs = r#"{"name": "A", "legs": [{"to": "Voss"}, {"hours": "long", "to": "Gol"}]}"#;
    let value = json!({"name": "A", "legs": [{"to": "Voss"}, {"hours": 3, "to": "Gol"}]});
    assert_eq!(merged(trip, legs, r#"{"hours": 3}"#).1, Some(value));
}

#[test]
fn the_members_of_a_definition_are_members_too_and_have_titles() {
    let trip = r##"{"$ref": "#/$defs/trip", "$defs": {"trip": {"properties": {
        "nights": {"type": "integer", "title": "Length"}, "stay": {"properties": {"length": {"type": "integer"}, "city": {"type": "string"}}}
    }}}}"##;
    let wrong = r#"{"stay": {"length": "some", "city": "Oslo"}}"#;
    assert_eq!(merged(trip, wrong, r#"{"length": 9}"#).1, None);
    assert_eq!(merged(trip, wrong, r#"{"nights": 9}"#).1, None);
    let value = merged(trip, wrong, r#"{"stay_length": 9}"#).1;
    assert_eq!(value, Some(json!({"stay": {"length": 9, "city": "Oslo"}})));
}

#[test]
fn a_field_keeps_the_names_that_its_schema_gives_it() {
    let stay = r#"{"properties": {"nights": {"type": "integer", "x-aliases": ["length_of_stay"]},
        "guest": {"type": "string"}}, "required": ["nights"]}"#;
    let value = merged(stay, r#"{"guest": "Ines"}"#, r#"{"length_of_stay": 2}"#).1;
    assert_eq!(value, Some(json!({"guest": "Ines", "nights": 2})));
}

#[test]
fn the_key_of_a_field_is_no_name_of_another_member() {
    let steps = r#"{"properties": {"steps": {"type": "array", "items": {"type": "integer"}},
        "steps_1": {"type": "integer"}, "field_1": {"type": "integer"}}}"#;
    let wrong = r#"{"steps": [1, "some"], "steps_1": 7}"#;
    // A reply with that key states the member and not the item.
    assert_eq!(merged(steps, wrong, r#"{"steps_1": 9}"#), (vec!["field_2".into()], None));
    let value = merged(steps, wrong, r#"{"field_2": 2}"#).1;
    assert_eq!(value, Some(json!({"steps": [1, 2], "steps_1": 7})));
}

#[test]
fn a_whole_reply_may_state_what_was_left_to_repair_in_another_way() {
    let trip = r#"{"type": "object", "properties": {"seats": {"type": "integer"}, "class": {"enum": ["first", "second"]},
        "bikes": {"type": "boolean"}, "remark": {"type": "string"}}, "required": ["seats", "class"]}"#;
    let wrong = r#"{"seats": "2", "class": "economy", "bikes": "yes", "remark": "late"}"#;
    for (reply, value, risk) in [
        // As repair would have made it.
        (
            r#"{"seats": 2, "class": "second", "bikes": true, "remark": "late"}"#,
            json!({"seats": 2, "class": "second", "bikes": true, "remark": "late"}),
            None,
        ),
        // The model says what it meant.
        (
            r#"{"seats": 3, "class": "second", "bikes": false, "remark": "late"}"#,
            json!({"seats": 3, "class": "second", "bikes": false, "remark": "late"}),
            None,
        ),
        // What was valid as it was is another thing.
        (
            r#"{"seats": 2, "class": "second", "bikes": true, "remark": "early"}"#,
            json!({"seats": 2, "class": "second", "bikes": true, "remark": "early"}),
            Some(Risk::Likely),
        ),
        // It is not lost if the reply lacks it.
        (
            r#"{"seats": 2, "class": "second", "remark": "late"}"#,
            json!({"seats": 2, "class": "second", "bikes": true, "remark": "late"}),
            Some(Risk::Likely),
        ),
    ] {
        let mut reask = Reask::new(&schema(trip), ReaskOptions::for_tool("book"));
        let ask = asked(reask.answer(&Answer::arguments(wrong), Duration::ZERO));
        assert_eq!(ask.fields(), ["/class"]);
        let done = done(reask.answer(&Answer::arguments(reply), Duration::ZERO));
        assert_eq!((done.parse::<Value>().unwrap(), done.risk()), (value, risk), "{reply}");
    }
}

#[test]
fn what_is_mended_once_the_rest_fits_is_not_asked_for() {
    let trip = schema(
        r#"{"type": "object", "properties": {"seats": {"type": "integer"}, "class": {"enum": ["first", "second"]},
            "bikes": {"type": "boolean"}, "stops": {"type": "array", "items": {"type": "string"}},
            "period": {"enum": ["two_weeks", "season"]}}, "required": ["seats", "class"]}"#,
    );
    // Nothing in it is valid as it is, and most of it is after repairs.
    let wrong = r#"{"seats": "2", "class": "economy", "bikes": "yes", "stops": "[\"Voss\"]"}"#;
    for options in [ReaskOptions::new(), ReaskOptions::for_tool("book")] {
        let mut reask = Reask::new(&trip, options);
        let ask = asked(says(&mut reask, wrong));
        assert_eq!((ask.kind(), ask.fields()), (AskKind::Fields, &["/class".to_owned()][..]));
        let prompt = ask.user_message().unwrap();
        assert!(prompt.contains("- /class: expected one of"), "{prompt}");
        assert!(!prompt.contains("- /seats") && !prompt.contains("- /bikes"), "{prompt}");
        let done = done(says(&mut reask, r#"{"class": "second"}"#));
        assert_eq!(
            done.parse::<serde_json::Value>().unwrap(),
            serde_json::json!({"seats": 2, "class": "second", "bikes": true, "stops": ["Voss"]})
        );
        assert_eq!(done.risk(), Some(Risk::Likely));
    }
    // Also what is missing, where only one value is possible, and an item of a list among others.
    let legs = schema(
        r#"{"properties": {"kind": {"const": "trip"}, "class": {"enum": ["first", "second"]},
            "hours": {"type": "array", "items": {"type": "integer"}}}, "required": ["kind", "class"]}"#,
    );
    let mut reask = Reask::new(&legs, ReaskOptions::new());
    let ask = asked(says(&mut reask, r#"{"class": "economy", "hours": [1, "2", "long"]}"#));
    assert_eq!(ask.fields(), ["/class", "/hours/2"]);
    let whole = done(says(&mut reask, r#"{"class": "first", "hours_2": 3}"#));
    let value = json!({"kind": "trip", "class": "first", "hours": [1, 2, 3]});
    assert_eq!(whole.parse::<Value>().unwrap(), value);
    // There is no limit to how many.
    let (many, mended) = (r#""1", "#.repeat(50), "1,".repeat(50));
    let mut reask = Reask::new(&legs, ReaskOptions::new());
    let wrong = format!(r#"{{"kind": "trip", "class": "first", "hours": [{many}"long"]}}"#);
    assert_eq!(asked(says(&mut reask, &wrong)).fields(), ["/hours/50"]);
    let json = done(says(&mut reask, r#"{"hours_50": 1}"#)).json().replace(' ', "");
    assert!(json.contains(&format!("[{mended}1]")), "{json}");
    // What repair could only guess is asked for if something has to be asked for anyway.
    let mut reask = Reask::new(&trip, ReaskOptions::new());
    let guess = r#"{"seats": 2, "class": "first", "period": "the last two weeks"}"#;
    assert_eq!(done(says(&mut reask.clone(), guess)).risk(), Some(Risk::Guess));
    let ask = asked(says(&mut reask, &guess.replace("first", "economy")));
    assert_eq!(ask.fields(), ["/class", "/period"]);
    // The prompt does not say that it would be.
    let prompt = ask.user_message().unwrap();
    let line = prompt.lines().find(|line| line.starts_with("- /period: ")).unwrap();
    assert!(line.ends_with("got string \"the last two weeks\""), "{line}");
    // Without repair, everything is asked for.
    let engine = MendOptions::new().with_policy(Policy::STRICT);
    let strict = ReaskOptions::new().with_fit(FitOptions::new().with_mending(engine));
    let ask = asked(says(
        &mut Reask::new(&trip, strict),
        r#"{"seats": "2", "class": "first", "bikes": "yes"}"#,
    ));
    assert_eq!(ask.fields(), ["/seats", "/bikes"]);
}

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
