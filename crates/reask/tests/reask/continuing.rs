//! Answers that were cut off, and answers of which something has been shown.

use core::time::Duration;

use wiremend_core::Risk;
use wiremend_reask::{Answer, AskKind, EndReason, Mode, Reask, ReaskOptions, Shape, Step};
use wiremend_schema::{FitOptions, Rule, Rules};
use wiremend_wire::FinishReason;

use crate::{asked, booking, continued, done, ended, says, schema};

fn cut(text: &str) -> Answer {
    Answer::text(text).with_finish(FinishReason::Length)
}

#[test]
fn what_was_cut_off_is_continued() {
    let mut reask = booking(ReaskOptions::new());
    let ask = continued(reask.answer(&cut(r#"{"guest": "In"#), Duration::ZERO));
    assert_eq!((ask.kind(), ask.attempt(), ask.mode()), (AskKind::Continue, 0, Mode::Text));
    assert_eq!(ask.prefix(), Some(r#"{"guest": "In"#));
    let messages = ask.messages(Shape::OpenAiChat);
    assert_eq!(
        messages[0],
        serde_json::json!({"role": "assistant", "content": "{\"guest\": \"In"})
    );
    assert_eq!((messages.len(), &messages[1]["role"]), (2, &serde_json::json!("user")));
    let ask = continued(reask.answer(&cut("es\", \"nig"), Duration::ZERO));
    assert_eq!(ask.prefix(), Some(r#"{"guest": "Ines", "nig"#));
    let done = done(says(&mut reask, "hts\": 3}"));
    assert_eq!(done.json(), r#"{"guest": "Ines", "nights": 3}"#);
    assert_eq!(done.attempts().len(), 3);
}

#[test]
fn what_the_model_adds_to_the_rest_is_left_out() {
    for rest in [
        "```json\nes\", \"nights\": 3}\n```",
        "{\"guest\": \"Ines\", \"nights\": 3}",
        "  {\"guest\": \"Ines\", \"nights\": 3}\n",
    ] {
        let mut reask = booking(ReaskOptions::new());
        continued(reask.answer(&cut(r#"{"guest": "In"#), Duration::ZERO));
        let done = done(says(&mut reask, rest));
        assert_eq!(
            done.parse::<serde_json::Value>().unwrap(),
            serde_json::json!({"guest": "Ines", "nights": 3}),
            "{rest}"
        );
    }
}

#[test]
fn words_before_the_rest_do_not_become_part_of_a_string() {
    let prefix = r#"{"guest": "In"#;
    for words in ["Sure, here is the rest: ", "Of course!\n\n", "Here's how it goes on:\n"] {
        for shown in [false, true] {
            let mut reask = booking(ReaskOptions::new());
            continued(reask.answer(&cut(prefix).with_shown(shown), Duration::ZERO));
            let reply = format!("{words}```json\nes\", \"nights\": 3}}\n```");
            let done = done(says(&mut reask, &reply));
            assert_eq!(done.json(), r#"{"guest": "Ines", "nights": 3}"#, "{reply}");
            assert_eq!(done.attempts()[1].answer(), reply, "nothing is lost");
        }
    }
    // Announced, and from the beginning.
    let mut reask = booking(ReaskOptions::new());
    continued(reask.answer(&cut(prefix), Duration::ZERO));
    let reply = "Here is all of it:\n```json\n{\"guest\": \"Ines\", \"nights\": 3}\n```";
    assert_eq!(done(says(&mut reask, reply)).json(), r#"{"guest": "Ines", "nights": 3}"#);
}

#[test]
fn words_that_may_or_may_not_be_meant_for_the_reader_are_not_guessed_at() {
    let prefix = r#"{"nights": 3, "guest": "In"#;
    let reply = "Here is the rest:\nes\"}";
    let mut reask = booking(ReaskOptions::new());
    continued(reask.answer(&cut(prefix), Duration::ZERO));
    let ask = asked(says(&mut reask, reply));
    assert_eq!(ask.kind(), AskKind::Whole);
    assert_eq!(reask.attempts()[1].text(), prefix);
    assert_eq!(reask.attempts()[1].answer(), reply);
    let mut reask = booking(ReaskOptions::new());
    continued(reask.answer(&cut(prefix).with_shown(true), Duration::ZERO));
    assert_eq!(ended(says(&mut reask, reply)).reason(), EndReason::Shown);
    // Lines in a text whose line breaks are as raw as the others are.
    let mut reask = booking(ReaskOptions::new());
    continued(reask.answer(&cut(r#"{"nights": 3, "guest": "A", "note": ""#), Duration::ZERO));
    let done = done(says(&mut reask, "To bring:\na tent\na rope\"}"));
    assert_eq!(done.parse::<serde_json::Value>().unwrap()["note"], "To bring:\na tent\na rope");
}

#[test]
fn what_is_cut_off_and_wrong_is_asked_for_again() {
    let mut reask = booking(ReaskOptions::new());
    let ask = asked(
        reask.answer(&cut(r#"{"guest": "Ines", "nights": "many", "note": "we c"#), Duration::ZERO),
    );
    assert_eq!(ask.kind(), AskKind::Whole);
}

#[test]
fn a_value_at_the_end_is_wrong_only_if_nothing_can_make_it_right() {
    let place = schema(
        r#"{"type": "object", "properties": {"view": {"enum": ["sea", "yard"]}, "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "name": {"type": "string", "minLength": 3, "maxLength": 5}, "beds": {"type": "integer", "minimum": 10, "maximum": 40},
            "kind": {"const": "room"}, "day": {"type": "string", "format": "date"}}}"#,
    );
    let is_continued = |text: &str| {
        let mut reask = Reask::new(&place, ReaskOptions::new());
        matches!(reask.answer(&cut(text), Duration::ZERO), Step::Continue(_))
    };
    for text in [
        r#"{"view": "se"#,
        r#"{"view": ""#,
        r#"{"kind": "ro"#,
        r#"{"code": "A"#,
        r#"{"name": "Io"#,
        r#"{"day": "2027-0"#,
        r#"{"beds": 1"#,
    ] {
        assert!(is_continued(text), "{text}");
    }
    for text in [
        r#"{"view": "sky"#,
        r#"{"kind": "kitchen"#,
        r#"{"name": "Ioanna"#,
        r#"{"beds": 41"#,
        r#"{"beds": [1"#,
        // These values have ended.
        r#"{"view": "se", "#,
        r#"{"beds": 1, "name": "Io"#,
    ] {
        assert!(!is_continued(text), "{text}");
    }
}

/// Further digits only make a number larger in magnitude.
#[test]
fn a_number_goes_on_only_if_digits_can_bring_it_within_its_bound() {
    let is_continued = |bound: &str, text: &str| {
        let text_of_schema = format!(r#"{{"properties": {{"t": {{"type": "number", {bound}}}}}}}"#);
        let mut reask = Reask::new(&schema(&text_of_schema), ReaskOptions::new());
        matches!(reask.answer(&cut(&format!("{{\"t\": {text}")), Duration::ZERO), Step::Continue(_))
    };
    for (bound, text, is_open) in [
        (r#""minimum": 10"#, "1", true),
        (r#""exclusiveMinimum": 1.5"#, "1", true),
        (r#""minimum": 0.95"#, "0.9", true),
        (r#""minimum": 0.5"#, "0", true),
        (r#""maximum": -20"#, "-3", true),
        (r#""minimum": 1e6"#, "1e", true),
        (r#""minimum": 1"#, "0.5", false),
        (r#""minimum": 2"#, "1.5", false),
        (r#""minimum": 5"#, "0", false),
        (r#""minimum": -3"#, "-5", false),
        (r#""maximum": 4"#, "5", false),
        (r#""exclusiveMaximum": 5"#, "5", false),
    ] {
        assert_eq!(is_continued(bound, text), is_open, "{bound}: {text}");
    }
}

#[test]
fn an_answer_is_not_continued_for_ever() {
    let mut reask = booking(ReaskOptions::new());
    for part in ["{\"guest\": \"a", "b", "c"] {
        continued(reask.answer(&cut(part), Duration::ZERO));
    }
    let ask = asked(reask.answer(&cut("d"), Duration::ZERO));
    assert!(ask.hints().iter().any(|hint| hint.code() == "cut-off"));
    // A continuation that brings nothing is none.
    let mut reask = booking(ReaskOptions::new());
    continued(reask.answer(&cut("{\"guest\": \"a"), Duration::ZERO));
    asked(reask.answer(&cut(""), Duration::ZERO));
}

#[test]
fn a_number_at_the_end_may_go_on() {
    let number = schema(r#"{"type": "integer"}"#);
    let mut reask = Reask::new(&number, ReaskOptions::new());
    continued(reask.answer(&cut("12"), Duration::ZERO));
    assert_eq!(done(says(&mut reask, "34")).json(), "1234");
    assert_eq!(done(says(&mut Reask::new(&number, ReaskOptions::new()), "12")).json(), "12");
}

#[test]
fn what_was_shown_is_never_replaced() {
    // Wrong: an honest end.
    let mut reask = booking(ReaskOptions::new());
    let wrong = Answer::text(r#"{"guest": "Ines", "nights": "many"}"#).with_shown(true);
    let end = ended(reask.answer(&wrong, Duration::ZERO));
    assert_eq!((end.reason(), end.issues().len()), (EndReason::Shown, 1));

    // Cut off: it goes on from there, and nothing else.
    let prefix = r#"{"guest": "Ines", "note": "by the "#;
    for (rest, value) in [
        ("sea\", \"nights\": 2}", Some("by the sea")),
        (r#"{"guest": "Ines", "note": "by the sea", "nights": 2}"#, Some("by the sea")),
        (r#"{"guest": "Ines", "note": "at the lake", "nights": 2}"#, None),
    ] {
        let mut reask = booking(ReaskOptions::new());
        let ask = continued(reask.answer(&cut(prefix).with_shown(true), Duration::ZERO));
        assert_eq!(ask.prefix(), Some(prefix));
        match (says(&mut reask, rest), value) {
            (Step::Done(done), Some(value)) => {
                assert!(done.attempts().last().unwrap().text().starts_with(prefix));
                assert_eq!(done.parse::<serde_json::Value>().unwrap()["note"], value);
            }
            (step, None) => assert_eq!(ended(step).reason(), EndReason::Shown),
            (step, _) => panic!("{rest}: {step:?}"),
        }
    }
}

#[test]
fn a_call_that_was_cut_off_is_made_again() {
    let mut reask = Reask::new(&schema(crate::BOOKING), ReaskOptions::for_tool("book"));
    let answer =
        Answer::arguments(r#"{"guest": "Ines", "nights": 2"#).with_finish(FinishReason::Length);
    let ask = asked(reask.answer(&answer, Duration::ZERO));
    assert_eq!(ask.kind(), AskKind::Whole);
}

#[test]
fn a_rest_that_begins_anew_is_the_answer_unless_something_was_shown() {
    let schema = schema(
        r#"{"type": "object", "properties": {
            "title": {"type": "string"}, "body": {"type": "string"}, "n": {"type": "integer"}
        }, "required": ["title", "body", "n"], "additionalProperties": false}"#,
    );
    for rest in [
        "```json\n{\"title\": \"Hello world\", \"body\": \"x y z w\", \"n\": 1}\n```",
        "Sorry, here it is again:\n{\"title\": \"Hello world\", \"body\": \"x y z w\", \"n\": 1}",
        "{\n  \"title\": \"Hello world\",\n  \"body\": \"x y z w\",\n  \"n\": 1,\n}",
    ] {
        for shown in [false, true] {
            let mut reask = Reask::new(&schema, ReaskOptions::new());
            let first = cut(r#"{"title": "Hello world", "body": "x y z"#).with_shown(shown);
            continued(reask.answer(&first, Duration::ZERO));
            let step = says(&mut reask, rest);
            if shown {
                // It can neither go on from what was shown nor replace it.
                assert_eq!(ended(step).reason(), EndReason::Shown, "{rest}");
            } else {
                let done = done(step);
                assert_eq!(
                    done.parse::<serde_json::Value>().unwrap(),
                    serde_json::json!({"title": "Hello world", "body": "x y z w", "n": 1}),
                    "{rest}"
                );
            }
        }
    }
}

#[test]
fn a_list_of_equal_items_loses_none_of_them() {
    let schema = schema(r#"{"type": "array", "items": {"type": "integer"}}"#);
    let mut reask = Reask::new(&schema, ReaskOptions::new());
    continued(reask.answer(&cut("[0, 0, 0, 0, 0, 0, 0, "), Duration::ZERO));
    let done = done(says(&mut reask, " 0, 0, 0, 0, 0, 0, 0, 1]"));
    assert_eq!(done.parse::<Vec<u8>>().unwrap().len(), 15);
    assert_eq!(done.risk(), None);
}

#[test]
fn what_goes_on_in_a_string_or_was_taken_from_words_is_likely() {
    for (prefix, rest, risk) in [
        (r#"{"guest": "In"#, "es\", \"nights\": 3}", Some(Risk::Likely)),
        (r#"{"guest": "Ines", "nig"#, "hts\": 3}", None),
        (r#"{"guest": "Ines","#, " \"nights\": 3}", None),
        (r#"{"guest": "Ines","#, " \"nights\": 3,}", Some(Risk::Exact)),
        (r#"{"guest": "Ines","#, "```json\n \"nights\": 3}\n```", Some(Risk::Likely)),
        (r#"{"guest": "Ines","#, "{\"guest\": \"Ines\", \"nights\": 3}", None),
    ] {
        let mut reask = booking(ReaskOptions::new());
        continued(reask.answer(&cut(prefix), Duration::ZERO));
        let done = done(says(&mut reask, rest));
        assert_eq!(done.risk(), risk, "{prefix}{rest}");
        assert_eq!(done.attempts().last().unwrap().risk(), risk);
    }
}

#[test]
fn the_risk_of_an_earlier_join_stays() {
    let mut reask = booking(ReaskOptions::new());
    continued(reask.answer(&cut(r#"{"guest": "In"#), Duration::ZERO));
    continued(reask.answer(&cut("es\", "), Duration::ZERO));
    let done = done(says(&mut reask, "\"nights\": 3}"));
    assert_eq!((done.fitted().risk(), done.risk()), (None, Some(Risk::Likely)));
}

#[test]
fn a_new_beginning_with_other_keys_does_not_become_part_of_what_was_shown() {
    for prefix in [r#"{"guest": "In"#, r#"{"guest": "Ines", "ni"#, r#"{"guest": "Ines", "#] {
        for rest in [
            r#"{"nights": 3, "guest": "Ines"}"#,
            r#"{"nights": 3, "guest": "Ines",}"#,
            r#"{'nights': 3, 'guest': 'Ines'}"#,
            r#"{nights: 3, guest: "Ines"}"#,
            "```json\n{\"nights\": 3, \"guest\": \"Ines\"}\n```",
            "Sorry, once more:\n```json\n{\"nights\": 3, \"guest\": \"Ines\"}\n```",
        ] {
            // Any text would be a guest, and nothing else need be there.
            let open = r#"{"properties": {"guest": {"type": "string"}, "nights": {"type": "integer"}}, "required": ["guest"]}"#;
            let mut reask = Reask::new(&schema(open), ReaskOptions::new());
            continued(reask.answer(&cut(prefix).with_shown(true), Duration::ZERO));
            assert_eq!(ended(says(&mut reask, rest)).reason(), EndReason::Shown, "{prefix}{rest}");
            // If nothing was shown, it is the answer.
            let mut reask = Reask::new(&schema(open), ReaskOptions::new());
            continued(reask.answer(&cut(prefix), Duration::ZERO));
            let value: serde_json::Value = done(says(&mut reask, rest)).parse().unwrap();
            assert_eq!(value, serde_json::json!({"guest": "Ines", "nights": 3}), "{prefix}{rest}");
        }
    }
}

#[test]
fn brackets_that_may_be_where_the_answer_was_cut_off_go_on_from_there() {
    for shown in [false, true] {
        for (prefix, rest, value) in [
            // In a string, a bracket is a character.
            (r#"{"nights": 3, "guest": "In"#, "{es}\"}", r#"{"nights": 3, "guest": "In{es}"}"#),
            (r#"{"nights": 3, "guest": "In"#, "{a: b}\"}", r#"{"nights": 3, "guest": "In{a: b}"}"#),
            (
                r#"{"nights": 3, "guest": "In"#,
                "{\\\"a\\\": 1}\"}",
                r#"{"nights": 3, "guest": "In{\"a\": 1}"}"#,
            ),
            (
                r#"{"nights": 3, "guest": "Ines", "rooms": [{"beds": 1}, "#,
                "{\"beds\": 2,}]}",
                r#"{"nights": 3, "guest": "Ines", "rooms": [{"beds": 1}, {"beds": 2}]}"#,
            ),
            (
                r#"{"nights": 3, "guest": "Ines", "rooms": "#,
                "[{\"beds\": 2,}]}",
                r#"{"nights": 3, "guest": "Ines", "rooms": [{"beds": 2}]}"#,
            ),
        ] {
            let mut reask = booking(ReaskOptions::new());
            continued(reask.answer(&cut(prefix).with_shown(shown), Duration::ZERO));
            let found: serde_json::Value = done(says(&mut reask, rest)).parse().unwrap();
            assert_eq!(found, serde_json::from_str::<serde_json::Value>(value).unwrap(), "{rest}");
        }
        // It goes on although it is cut off once more.
        let mut reask = booking(ReaskOptions::new());
        let prefix = r#"{"nights": 3, "guest": "In"#;
        continued(reask.answer(&cut(prefix).with_shown(shown), Duration::ZERO));
        let ask = continued(reask.answer(&cut("{a: b"), Duration::ZERO));
        assert_eq!(ask.prefix(), Some(r#"{"nights": 3, "guest": "In{a: b"#));
    }
}

#[test]
fn a_text_that_was_cut_off_anywhere_goes_on_as_it_was() {
    let any = schema(r#"{"type": "object"}"#);
    for text in [
        r#"{"a": "see {name: x} and [\"y\"]", "b": [{"c": 1}, {"d": [[], [2]]}], "e": {"f": {}}}"#,
        r#"{"code": "let x = {a: 1}; [\"b\"]", "json": "{\"a\": [1, {\"b\": 2}]}", "n": [0, 0, 0, 0, 0, 0, 1]}"#,
        r#"{"x y": 1, "a \" b ": {"c  d": "e: "}, "f, ": ["g, ", " "]}"#,
        "{\n  \"list\": [\n    \"a\",\n    {\"b\": null}\n  ],\n  \"x{y\": true\n}",
    ] {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        // Before a second byte, there is nothing to go on from.
        for at in 2..text.len() - 1 {
            for shown in [false, true] {
                let mut reask = Reask::new(&any, ReaskOptions::new());
                let (start, rest) = text.split_at(at);
                continued(reask.answer(&cut(start).with_shown(shown), Duration::ZERO));
                let (middle, end) = rest.split_at(rest.len() / 2);
                let end = match reask.answer(&cut(middle), Duration::ZERO) {
                    Step::Continue(_) => done(says(&mut reask, end)),
                    step => panic!("{start} + {middle}: {step:?}"),
                };
                assert_eq!(end.parse::<serde_json::Value>().unwrap(), value, "{start} + {rest}");
            }
        }
    }
}

#[test]
fn an_answer_that_repair_mends_so_far_goes_on() {
    let mut reask = booking(ReaskOptions::new());
    let text = r#"{"nights": "3", "note": "late", "gu"#;
    let ask = continued(reask.answer(&cut(text), Duration::ZERO));
    assert_eq!(ask.prefix(), Some(text));
    let done = done(says(&mut reask, r#"est": "Ines"}"#));
    assert_eq!(done.json(), r#"{"nights": 3, "note": "late", "guest": "Ines"}"#);
    // What nothing mends is asked for.
    let mut reask = booking(ReaskOptions::new());
    asked(reask.answer(&cut(r#"{"nights": "some", "note": "late", "gu"#), Duration::ZERO));
    // Nor does a rule that is off.
    let rules = Rules::new().without(Rule::StringToNumber);
    let strict = ReaskOptions::new().with_fit(FitOptions::new().with_rules(rules));
    asked(booking(strict).answer(&cut(text), Duration::ZERO));
}
