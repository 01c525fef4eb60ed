//! Repairing, asking for fields or for all, keeping the best answer, and stopping.

use core::time::Duration;

use wiremend_core::{MendOptions, Policy, Risk};
use wiremend_reask::{Answer, AskKind, EndReason, Reask, ReaskOptions, Step};
use wiremend_schema::FitOptions;
use wiremend_wire::FinishReason;

use crate::{BOOKING, asked, booking, done, ended, says, schema};

#[test]
fn what_can_be_repaired_is_not_asked_for() {
    for text in [
        r#"{"guest": "Ines", "nights": 2}"#,
        "```json\n{\"guest\": \"Ines\", \"nights\": 2}\n```",
        "```\n{'guest': 'Ines', nights: 2,}\n```",
        "Here you are: {\"guest\": \"Ines\", \"nights\": \"2\"} Have a good stay!",
        r#"{"Guest": "Ines", "nights": 2.0}"#,
        "<booking><guest>Ines</guest><nights>2</nights></booking>",
    ] {
        let done = done(says(&mut booking(ReaskOptions::new()), text));
        let value: serde_json::Value = done.parse().unwrap();
        assert_eq!(value, serde_json::json!({"guest": "Ines", "nights": 2}), "{text}");
        assert_eq!((done.spent().calls(), done.attempts().len()), (1, 1));
    }
}

#[test]
fn one_field_is_asked_for_and_put_back() {
    let mut reask = booking(ReaskOptions::new());
    let ask =
        asked(says(&mut reask, r#"{"guest": "Ines", "rooms": [{"beds": 1.10}, {"beds": 2}]}"#));
    assert_eq!(ask.kind(), AskKind::Fields);
    assert_eq!(ask.fields(), ["/nights", "/rooms/0/beds"]);
    assert_eq!((ask.attempt(), ask.of(), ask.call()), (1, 2, 2));
    assert_eq!(ask.temperature(), Some(0.0));
    let done = done(says(&mut reask, r#"{"/rooms/0/beds": 1, "/nights": "4"}"#));
    assert_eq!(
        done.json(),
        r#"{"guest": "Ines", "rooms": [{"beds": 1}, {"beds": 2}], "nights": 4}"#
    );
    assert_eq!(done.attempts().len(), 2);
    assert_eq!(done.fitted().text(), Some(done.json()));
}

#[test]
fn a_reply_to_a_question_for_fields_may_have_other_forms() {
    for (reply, guest) in [
        (r#"{"/nights": 4}"#, "Ines"),
        (r#"{"nights": 4}"#, "Ines"),
        ("```json\n{'/nights': '4'}\n```", "Ines"),
        ("4", "Ines"),
        // The whole value is welcome, and counts as it is.
        (r#"{"guest": "Ines Pax", "nights": 4}"#, "Ines Pax"),
    ] {
        let mut reask = booking(ReaskOptions::new());
        asked(says(&mut reask, r#"{"guest": "Ines"}"#));
        let done = done(says(&mut reask, reply));
        let value: serde_json::Value = done.parse().unwrap();
        assert_eq!(value, serde_json::json!({"guest": guest, "nights": 4}), "{reply}");
    }
}

#[test]
fn a_reply_with_some_of_the_fields_is_kept() {
    let mut reask = booking(ReaskOptions::new());
    let ask = asked(says(&mut reask, r#"{"guest": "", "nights": "many", "note": "late"}"#));
    assert_eq!(ask.fields(), ["/guest", "/nights"]);
    let ask = asked(says(&mut reask, r#"{"/nights": 4}"#));
    assert_eq!(ask.fields(), ["/guest"]);
    let done = done(says(&mut reask, r#"{"/guest": "Ines"}"#));
    assert_eq!(done.json(), r#"{"guest": "Ines", "nights": 4, "note": "late"}"#);
}

#[test]
fn null_leaves_a_property_out_that_need_not_be_there() {
    let strict = || {
        let engine = MendOptions::new().with_policy(Policy::STRICT);
        ReaskOptions::new().with_fit(FitOptions::new().with_mending(engine))
    };
    let wrong = r#"{"guest": "Ines", "nights": 0, "note": null}"#;
    let mut reask = booking(strict());
    let ask = asked(says(&mut reask, wrong));
    assert_eq!(ask.fields(), ["/nights", "/note"]);
    let prompt = ask.user_message().unwrap();
    assert!(
        prompt.contains("\n- nights: /nights\n- note: /note, or null to leave it out\n"),
        "{prompt}"
    );
    // A provider that needs every property allows null for this one.
    assert_eq!(ask.schema().source()["required"], serde_json::json!(["nights"]));
    // It is taken out although the reply is wrong otherwise, and no repair is needed for it.
    let mut other = reask.clone();
    let ask = asked(says(&mut other, r#"{"nights": -1, "note": null}"#));
    assert_eq!(ask.fields(), ["/nights"]);
    let end = done(says(&mut reask, r#"{"nights": 2, "note": null}"#));
    assert_eq!((end.json(), end.fitted().risk()), (r#"{"guest": "Ines", "nights": 2}"#, None));
    // Where null is a value, it is set.
    let nullable = schema(
        r#"{"properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "integer"}, "c": {}}, "required": ["b"]}"#,
    );
    let mut reask = Reask::new(&nullable, strict());
    assert_eq!(asked(says(&mut reask, r#"{"a": "x", "b": 1}"#)).fields(), ["/a"]);
    assert_eq!(done(says(&mut reask, r#"{"a": null}"#)).json(), r#"{"a": null, "b": 1}"#);
}

#[test]
fn a_misnamed_property_does_not_stay() {
    let fit = FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    let mut reask = booking(ReaskOptions::new().with_fit(fit));
    let ask = asked(says(&mut reask, r#"{"guest": "Ines", "nigths": 4}"#));
    assert_eq!(ask.fields(), ["/nights"]);
    assert_eq!(
        done(says(&mut reask, r#"{"/nights": 4}"#)).json(),
        r#"{"guest": "Ines", "nights": 4}"#
    );
}

#[test]
fn an_unknown_property_is_removed_only_if_the_model_says_so() {
    let fit = FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    let mut reask = booking(ReaskOptions::new().with_fit(fit));
    let wrong = r#"{"guest": "Ines", "nights": 4, "dog": true}"#;
    let ask = asked(says(&mut reask, wrong));
    assert_eq!(ask.fields(), ["/dog"]);
    assert_eq!(
        done(says(&mut reask, r#"{"/dog": null}"#)).json(),
        r#"{"guest": "Ines", "nights": 4}"#
    );
}

#[test]
fn a_whole_answer_is_asked_for_where_nothing_is_good() {
    for text in ["", "Which hotel?", "[]", r#"{"nights": "many"}"#, "17", BOOKING] {
        let ask = asked(says(&mut booking(ReaskOptions::new()), text));
        assert_eq!(ask.kind(), AskKind::Whole, "{text}");
        assert!(ask.fields().is_empty());
    }
}

#[test]
fn the_arguments_of_an_unknown_branch_are_asked_for_as_a_whole() {
    let pets = schema(
        r#"{"properties": {"id": {"type": "integer"}, "pet": {"oneOf": [
        {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind", "lives"]},
        {"properties": {"kind": {"const": "dog"}, "barks": {"type": "boolean"}}, "required": ["kind", "barks"]}
    ]}}, "required": ["id", "pet"]}"#,
    );
    let mut reask = Reask::new(&pets, ReaskOptions::new());
    let ask = asked(says(&mut reask, r#"{"id": 7, "pet": {"kind": "cow", "barks": true}}"#));
    assert_eq!(ask.fields(), ["/pet"]);
    assert!(
        ask.user_message().unwrap().contains(r#"one of "cat", "dog""#),
        "{:?}",
        ask.user_message()
    );
    let done = done(says(&mut reask, r#"{"/pet": {"kind": "dog", "barks": true}}"#));
    assert_eq!(done.json(), r#"{"id": 7, "pet": {"kind": "dog", "barks": true}}"#);
}

#[test]
fn fields_bring_their_definitions() {
    let tree = schema(
        r##"{"type": "object", "properties": {"name": {"type": "string"}, "root": {"$ref": "#/$defs/node"}},
        "required": ["name", "root"], "$defs": {
            "node": {"type": "object", "properties": {"size": {"$ref": "#/$defs/size"}, "next": {"$ref": "#/$defs/node"}}, "required": ["size"]},
            "size": {"type": "integer", "minimum": 1}, "unused": {"type": "null"}
        }}"##,
    );
    let mut reask = Reask::new(&tree, ReaskOptions::new());
    let ask = asked(says(&mut reask, r#"{"name": "a", "root": {"size": 1, "next": {"size": 0}}}"#));
    assert_eq!(ask.fields(), ["/root/next/size"]);
    let source = ask.schema().source();
    assert!(source["$defs"].get("size").is_some() && source["$defs"].get("unused").is_none());
    let done = done(says(&mut reask, r#"{"/root/next/size": 5}"#));
    assert_eq!(done.json(), r#"{"name": "a", "root": {"size": 1, "next": {"size": 5}}}"#);
}

#[test]
fn a_field_of_a_schema_that_cannot_be_taken_apart_is_not_asked_for() {
    // The part refers to the whole.
    let list = schema(
        r##"{"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#"}}, "required": ["n"]}"##,
    );
    let mut reask = Reask::new(&list, ReaskOptions::new());
    let ask = asked(says(&mut reask, r#"{"n": 1, "next": 2}"#));
    assert_eq!(ask.kind(), AskKind::Whole);
}

#[test]
fn the_second_identical_answer_changes_the_question_and_the_third_ends() {
    let mut reask = booking(ReaskOptions::new().with_attempts(9));
    let first = asked(says(&mut reask, r#"{"guest": "Ines", "nights": "some"}"#));
    assert!(!first.is_fresh());
    // The same value in another order and spelling, and then in a reply for the field.
    let second = asked(says(&mut reask, "{'nights': 'some', 'guest': 'Ines'}"));
    assert!(second.is_fresh());
    assert_eq!(second.temperature(), Some(0.7));
    assert!(!second.user_message().unwrap().contains("This was the answer"));
    let end = ended(says(&mut reask, r#"{"/nights": "some"}"#));
    assert_eq!(end.reason(), EndReason::Repeated);
    assert_eq!(end.attempts().len(), 3);
    assert_eq!(end.issues()[0].pointer(), "/nights");
}

#[test]
fn a_loop_without_progress_ends() {
    let mut reask = booking(ReaskOptions::new().with_attempts(30));
    let mut answers = 0;
    let end = loop {
        answers += 1;
        let text = format!(r#"{{"guest": "Ines", "nights": "about {answers} or so"}}"#);
        match says(&mut reask, &text) {
            wiremend_reask::Step::Ask(_) => {}
            step => break ended(step),
        }
    };
    assert_eq!((end.reason(), answers), (EndReason::NoProgress, 3));
    // The first one is as good as any.
    assert!(end.best().unwrap().text().contains("about 1 or so"));
}

#[test]
fn progress_goes_on_as_long_as_it_lasts() {
    let mut reask = booking(ReaskOptions::new().with_attempts(9).with_fields(0));
    asked(says(&mut reask, r#"{"guest": "", "nights": 0, "rooms": [1, 2]}"#));
    asked(says(&mut reask, r#"{"guest": "", "nights": 0, "rooms": [1]}"#));
    asked(says(&mut reask, r#"{"guest": "", "nights": 0}"#));
    asked(says(&mut reask, r#"{"guest": "A", "nights": 0}"#));
    let done = done(says(&mut reask, r#"{"guest": "A", "nights": 1}"#));
    assert_eq!(done.spent().calls(), 5);
}

#[test]
fn the_number_of_attempts_is_that_of_corrections() {
    for attempts in 0..3 {
        let mut reask = booking(ReaskOptions::new().with_attempts(attempts).with_fields(0));
        let texts = ["not json", r#"{"nights": 1}"#, r#"{"guest": "A"}"#, "still not json"];
        let last = usize::try_from(attempts).unwrap();
        for text in &texts[..last] {
            asked(says(&mut reask, text));
        }
        let end = ended(says(&mut reask, texts[last]));
        assert_eq!(end.attempts().len(), last + 1);
        assert_eq!(end.reason(), EndReason::Attempts);
        assert_eq!(end.attempts()[last].text(), texts[last]);
    }
}

#[test]
fn after_the_end_it_is_the_same_end() {
    let mut reask = booking(ReaskOptions::new().with_attempts(0));
    let first = ended(says(&mut reask, "no"));
    let again = ended(says(&mut reask, r#"{"guest": "A", "nights": 1}"#));
    assert_eq!((first.reason(), again.attempts().len()), (again.reason(), 1));
    assert!(reask.has_ended());

    let mut reask = booking(ReaskOptions::new());
    done(says(&mut reask, r#"{"guest": "A", "nights": 1}"#));
    let again = done(says(&mut reask, "no"));
    assert_eq!((again.json(), again.spent().calls()), (r#"{"guest": "A", "nights": 1}"#, 1));
}

#[test]
fn a_filter_and_a_refusal_are_not_argued_with() {
    for word in ["content_filter", "refusal"] {
        let finish = wiremend_wire::FinishReason::from_provider(word);
        let answer = Answer::text("I cannot help with that.").with_finish(finish);
        let end = ended(booking(ReaskOptions::new()).answer(&answer, Duration::ZERO));
        assert_eq!(end.reason(), EndReason::Refused, "{word}");
    }
}

#[test]
fn prose_for_a_single_text_is_an_answer_and_prose_for_more_is_kept() {
    let answer = schema(
        r#"{"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}"#,
    );
    let text = "The bridge opened in 1932, after eight years.";
    let done = done(says(&mut Reask::new(&answer, ReaskOptions::new()), text));
    assert_eq!(done.parse::<serde_json::Value>().unwrap()["answer"], text);

    // What cannot be used is still there at the end, word for word.
    let mut reask = booking(ReaskOptions::new());
    let ask = asked(says(&mut reask, text));
    assert!(ask.user_message().unwrap().contains(text));
    asked(says(&mut reask, text));
    let end = ended(says(&mut reask, text));
    assert_eq!(end.best().unwrap().text(), text);
}

#[test]
fn the_best_answer_is_not_the_last_one() {
    let mut reask = booking(ReaskOptions::new().with_fields(0));
    asked(says(&mut reask, "I am not sure."));
    asked(says(&mut reask, r#"{"guest": "Ines"}"#));
    let end = ended(says(&mut reask, r#"{"guest": 1.5, "nights": {}, "rooms": 3}"#));
    assert_eq!(end.best().unwrap().text(), r#"{"guest": "Ines"}"#);
    assert_eq!(end.issues().len(), 1);
    let words = end.to_string();
    assert!(words.starts_with("no valid answer (attempts); answer 1: /: no JSON value"), "{words}");
}

#[test]
fn a_list_in_which_everything_is_wrong_is_asked_for_as_a_whole() {
    let table = schema(
        r#"{"type": "object", "properties": {"name": {"type": "string"}, "rows": {"type": "array",
        "items": {"type": "array", "items": {"type": "integer"}}}}, "required": ["name", "rows"]}"#,
    );
    // The lists inside were left out, so there are too many items.
    let mut reask = Reask::new(&table, ReaskOptions::for_tool("test"));
    let wrong = Answer::arguments(r#"{"name": "x", "rows": ["a", "b", "c", "d"]}"#);
    let ask = asked(reask.answer(&wrong, Duration::ZERO));
    assert_eq!(ask.fields(), ["/rows"]);
    let done = done(says(&mut reask, r#"{"/rows": [[1, 2], [3, 4]]}"#));
    assert_eq!(done.json(), r#"{"name": "x", "rows": [[1, 2], [3, 4]]}"#);

    let mut reask = Reask::new(&table, ReaskOptions::for_tool("test"));
    let wrong = Answer::arguments(r#"{"name": "x", "rows": [[1, 2], "c", ["d"]]}"#);
    let ask = asked(reask.answer(&wrong, Duration::ZERO));
    assert_eq!(ask.fields(), ["/rows/1", "/rows/2/0"]);
}

#[test]
fn a_reply_never_drops_what_was_not_asked_for() {
    let source = serde_json::json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"sku": {"type": "string"}, "qty": {"type": "integer"}},
                    "required": ["sku", "qty"]
                }
            }
        },
        "required": ["items"]
    });
    let schema = schema(&source.to_string());
    let first = r#"{"id": "o-17", "items": [{"sku": "A", "qty": 1}, {"sku": "B", "qty": "some"}]}"#;
    let right = serde_json::json!({"id": "o-17", "items": [{"sku": "A", "qty": 1}, {"sku": "B", "qty": 2}]});
    for reply in [
        r#"{"items": [{"sku": "B", "qty": 2}]}"#,
        r#"{"items": []}"#,
        r#"{"id": "o-17", "items": [{"sku": "A", "qty": 1}]}"#,
        r#"{"error": "I do not know", "items": []}"#,
    ] {
        let mut reask = Reask::new(&schema, ReaskOptions::new());
        asked(says(&mut reask, first));
        // It is no answer, so the same is asked for again.
        asked(says(&mut reask, reply));
        let done = done(says(&mut reask, r#"{"items_1_qty": 2}"#));
        assert_eq!(done.parse::<serde_json::Value>().unwrap(), right, "{reply}");
    }
    for reply in [
        r#"{"items_1_qty": 2, "why": "two"}"#,
        r#"{"answer": {"items_1_qty": 2}}"#,
        "Sure!\n{\"items_1_qty\": 2}",
        r#"{"items": [{"sku": "A", "qty": 1}, {"sku": "B", "qty": 2}]}"#,
    ] {
        let mut reask = Reask::new(&schema, ReaskOptions::new());
        asked(says(&mut reask, first));
        let done = done(says(&mut reask, reply));
        assert_eq!(done.parse::<serde_json::Value>().unwrap(), right, "{reply}");
    }
}

#[test]
fn what_was_asked_for_may_become_another_kind_of_value() {
    let schema = schema(
        r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#,
    );
    for reply in [r#"{"city": "Oslo", "days": 3}"#, r#"{"days": 3}"#, r#"{"reply": {"days": 3}}"#] {
        let mut reask = Reask::new(&schema, ReaskOptions::new());
        let ask = asked(says(&mut reask, r#"{"city": "Oslo", "days": {"from": "a", "to": "b"}}"#));
        assert_eq!(ask.fields(), ["/days"]);
        let done = done(says(&mut reask, reply));
        let value: serde_json::Value = done.parse().unwrap();
        assert_eq!(value, serde_json::json!({"city": "Oslo", "days": 3}), "{reply}");
    }
}

#[test]
fn a_part_of_the_value_is_no_wrapper_of_the_fields() {
    let schema = schema(
        r#"{"type": "object", "properties": {
            "n": {"type": "integer"},
            "sub": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "name": {"type": "string"}
        }}"#,
    );
    // Also if the answer left it out.
    for first in [r#"{"n": "x", "sub": {"n": 1}, "name": "a"}"#, r#"{"n": "x", "name": "a"}"#] {
        let mut reask = Reask::new(&schema, ReaskOptions::new());
        asked(says(&mut reask, first));
        asked(says(&mut reask, r#"{"sub": {"n": 5}}"#));
    }
}

#[test]
fn a_list_of_values_beside_null_is_asked_for_on_its_own() {
    let node = r##"{"$ref": "#/$defs/node"}, {"type": "null"}"##;
    let schema = schema(&format!(
        r#"{{"type": "object", "properties": {{"first": {{"anyOf": [{node}]}}, "name": {{"type": "string"}}}}, "required": ["first"],
            "$defs": {{"node": {{"type": "object", "properties": {{
                "kind": {{"enum": ["leaf", "branch"]}}, "size": {{"type": "integer"}}
            }}, "required": ["kind", "size"]}}}}}}"#
    ));
    let mut reask = Reask::new(&schema, ReaskOptions::new());
    let ask = asked(says(&mut reask, r#"{"first": {"kind": "rock", "size": 2}, "name": "a"}"#));
    assert_eq!(ask.fields(), ["/first/kind"]);
}

#[test]
fn the_repairs_of_every_answer_count_for_the_risk_of_the_value() {
    let schema = schema(
        r#"{"type": "object", "properties": {
            "n": {"type": "integer"}, "name": {"type": "string"}, "k": {"type": "integer"}
        }, "required": ["n", "name"]}"#,
    );
    for (first, reply, risk) in [
        (r#"{"n": "x", "name": "a"}"#, r#"{"n": 3}"#, None),
        // Of the reply.
        (r#"{"n": "x", "name": "a"}"#, "{'n': 3}", Some(Risk::Exact)),
        (r#"{"n": "x", "name": "a"}"#, r#"{"n": 3, "n": 4}"#, Some(Risk::Guess)),
        // Of the answer that the reply was put into.
        (r#"{"n": "x", "name": "a",}"#, r#"{"n": 3}"#, Some(Risk::Exact)),
        // The reply changes what was good.
        (r#"{"n": "x", "name": "a"}"#, r#"{"n": 3, "name": "b"}"#, Some(Risk::Likely)),
    ] {
        let mut reask = Reask::new(&schema, ReaskOptions::new());
        let ask = asked(says(&mut reask, first));
        assert_eq!(ask.fields(), ["/n"], "{first}");
        let done = done(says(&mut reask, reply));
        assert_eq!(done.risk(), risk, "{first} {reply} {}", done.json());
    }
}

#[test]
fn a_member_of_the_value_is_no_other_name_for_a_field() {
    let schema = schema(
        r#"{"type": "object", "properties": {
            "name": {"type": "string"},
            "stops": {"type": "array", "items": {"type": "object", "properties": {
                "name": {"type": "string"}, "day": {"type": "integer"}
            }, "required": ["name", "day"]}}
        }, "required": ["name", "stops"]}"#,
    );
    let mut reask = Reask::new(&schema, ReaskOptions::new());
    let first =
        r#"{"name": "Trip", "stops": [{"name": "Oslo", "day": 1}, {"name": [], "day": 2}]}"#;
    let ask = asked(says(&mut reask, first));
    assert_eq!(ask.fields(), ["/stops/1/name"]);
    let step = says(&mut reask, r#"{"name": "Journey"}"#);
    if let Step::Done(done) = &step {
        assert!(!done.json().contains("Journey"), "{}", done.json());
    }
}

const WRONG: &str = r#"{"guest": "Ines Pax", "nights": "two", "note": "by the sea"}"#;

/// Replies to a question for `/nights` that are no reply.
const OFF: [&str; 6] = [
    "I am sorry, I do not know how many nights.",
    "[1, 2, 3]",
    r#"{"status": "fine", "code": 7}"#,
    "{}",
    "",
    r#"{"guest": 4, "rooms": "all"}"#,
];

#[test]
fn a_reply_in_the_wrong_form_replaces_nothing() {
    for off in OFF {
        let mut reask = booking(ReaskOptions::new());
        asked(says(&mut reask, WRONG));
        let ask = asked(says(&mut reask, off));
        assert_eq!((ask.kind(), ask.fields()), (AskKind::Fields, &["/nights".to_owned()][..]));
        let prompt = ask.user_message().unwrap();
        assert!(prompt.contains("Ines Pax") && prompt.contains("by the sea"), "{prompt}");
        let done = done(says(&mut reask, r#"{"nights": 2}"#));
        assert_eq!(done.json(), r#"{"guest": "Ines Pax", "nights": 2, "note": "by the sea"}"#);
        assert_eq!(done.attempts()[1].answer(), off, "it is not lost");
    }
}

#[test]
fn the_best_answer_at_the_end_is_the_one_with_the_good_parts() {
    for off in OFF {
        let mut reask = booking(ReaskOptions::new().with_attempts(1));
        asked(says(&mut reask, WRONG));
        let end = ended(says(&mut reask, off));
        assert_eq!(end.reason(), EndReason::Attempts, "{off}");
        assert_eq!(end.best().unwrap().text(), WRONG, "{off}");
        assert_eq!(end.issues()[0].pointer(), "/nights");
    }
    // The order does not matter.
    for off in OFF {
        let mut reask = booking(ReaskOptions::new().with_attempts(1));
        asked(says(&mut reask, off));
        assert_eq!(ended(says(&mut reask, WRONG)).best().unwrap().text(), WRONG, "{off}");
    }
}

#[test]
fn the_whole_is_asked_for_with_the_best_answer() {
    // Nothing in it can be asked for on its own.
    let mut reask = booking(ReaskOptions::new().with_fields(0));
    asked(says(&mut reask, WRONG));
    let ask = asked(says(&mut reask, "Let me think about it first."));
    assert_eq!(ask.kind(), AskKind::Whole);
    // It is no progress, so earlier answers are left out.
    assert!(ask.is_fresh());
    assert!(ask.user_message().unwrap().contains("- /nights: expected integer"));
    assert!(ask.hints().iter().any(|hint| hint.code() == "prose"));
}

#[test]
fn of_equals_the_last_one_is_corrected_and_the_first_one_is_the_best() {
    let mut reask = booking(ReaskOptions::new());
    asked(says(&mut reask, WRONG));
    let ask = asked(says(&mut reask, r#"{"nights": 0}"#));
    assert!(ask.user_message().unwrap().contains("- /nights: "), "{:?}", ask.user_message());
    assert!(ask.user_message().unwrap().contains("got number 0"), "{:?}", ask.user_message());
    let end = ended(says(&mut reask, r#"{"nights": -4}"#));
    assert_eq!(end.best().unwrap().text(), WRONG);
}

#[test]
fn a_reply_that_was_cut_off_is_not_put_into_the_rest() {
    let length = |text: &str| Answer::text(text).with_finish(FinishReason::Length);
    for reply in ["1", r#"{"nights": 1"#, r#"{"nights": "#, "```json\n{\"nights\": 1"] {
        let mut reask = booking(ReaskOptions::new());
        asked(says(&mut reask, WRONG));
        let ask = asked(reask.answer(&length(reply), Duration::ZERO));
        assert_eq!((ask.kind(), ask.fields()), (AskKind::Fields, &["/nights".to_owned()][..]));
        assert!(ask.user_message().unwrap().contains("Ines Pax"), "{reply}");
    }
    let mut reask = booking(ReaskOptions::new());
    asked(says(&mut reask, WRONG));
    let closed = length("{\"nights\": 12}");
    assert!(done(reask.answer(&closed, Duration::ZERO)).json().contains("\"nights\": 12"));
    // The arguments of a call count only if they are JSON as they are.
    let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
    asked(says(&mut reask, WRONG));
    let call = Answer::arguments("{nights: 12}").with_finish(FinishReason::Length);
    assert_eq!(asked(reask.answer(&call, Duration::ZERO)).fields(), ["/nights"]);
}
