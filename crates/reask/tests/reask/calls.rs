//! Whole responses, and the calls in them, which are stopped when they can no longer become valid.

use core::time::Duration;

use serde_json::json;
use wiremend_reask::{Answer, AskKind, Reask, ReaskOptions, Shape, Step};
use wiremend_response::{Response, ResponseOptions};
use wiremend_wire::FinishReason;

use crate::{BOOKING, asked, done, schema};

fn response(calls: &[(&str, &str)], text: &str, finish: &str) -> Response {
    let calls: Vec<_> = calls
        .iter()
        .enumerate()
        .map(|(n, (name, arguments))| json!({"id": format!("c{n}"), "type": "function", "function": {"name": name, "arguments": arguments}}))
        .collect();
    let message = json!({"role": "assistant", "content": text, "tool_calls": calls});
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 7}});
    Response::read(body.to_string().as_bytes(), ResponseOptions::new())
}

fn book(response: &Response) -> Step {
    let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
    reask.answer(&Answer::read(response, Some("book")), Duration::ZERO)
}

#[test]
fn the_call_of_the_tool_is_read_and_its_tokens_are_counted() {
    let whole = response(
        &[("search", "{}"), ("book", "{'guest': 'A', nights: 2}")],
        "I will book.",
        "tool_calls",
    );
    let done = done(book(&whole));
    assert_eq!(done.json(), r#"{"guest": "A", "nights": 2}"#);
    assert_eq!((done.spent().input(), done.spent().output()), (50, 7));
}

#[test]
fn a_call_of_another_tool_is_not_taken_for_this_one() {
    // Its arguments would fit.
    let other = response(&[("cancel", r#"{"guest": "A", "nights": 2}"#)], "", "tool_calls");
    let ask = asked(book(&other));
    assert!(ask.user_message().unwrap().contains("You called \"cancel\", which is another tool."));
}

#[test]
fn a_guess_does_not_run_a_tool() {
    let vague = response(&[("book", r#"{"guest": "A", "nights": "2 nights"}"#)], "", "tool_calls");
    assert_eq!(asked(book(&vague)).fields(), ["/nights"]);
}

#[test]
fn a_call_that_was_cut_off_is_not_run_whatever_it_looks_like() {
    let cut = response(&[("book", r#"{"guest": "A", "nights": 2}"#)], "", "length");
    let step = book(&cut);
    let whole = response(&[("book", r#"{"guest": "A", "nights": 2"#)], "", "length");
    asked(book(&whole));
    // Arguments that are complete by themselves are those of a complete call, or of none: never more than the reader says.
    let complete = cut.transcript().calls()[0].outcome().is_complete();
    assert_eq!(matches!(step, Step::Done(_)), complete);
}

#[test]
fn a_call_in_the_text_is_read_before_anything_is_asked() {
    let value = r#"{"guest": "A", "nights": 2}"#;
    for text in [
        "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"guest\": \"A\", \"nights\": 2}}\n</tool_call>",
        "[TOOL_CALLS]book{\"guest\": \"A\", \"nights\": 2}",
        "I will do that.\n[TOOL_CALLS]book{\"guest\": \"A\", \"nights\": 2}",
        "<think>They say {\"nights\": 3} first.</think>\n[TOOL_CALLS]book{\"guest\": \"A\", \"nights\": 2}",
        "<tool_call>\n<function=book>\n<parameter=guest>\nA\n</parameter>\n<parameter=nights>\n2\n</parameter>\n</function>\n</tool_call>",
        "<function_calls>\n<invoke name=\"book\">\n<parameter name=\"guest\">A</parameter>\n<parameter name=\"nights\">2</parameter>\n</invoke>\n</function_calls>",
        "[book(guest=\"A\", nights=2)]",
        "```tool_code\nbook(guest=\"A\", nights=2)\n```",
        "[TOOL_CALLS]book{'guest': 'A', nights: '2'}",
    ] {
        let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})
            .to_string();
        let read = Response::read(body.as_bytes(), ResponseOptions::new());
        let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
        let mut watch = asked(reask.begin(Duration::ZERO)).watch();
        watch.push_body(body.as_bytes());
        for answer in [Answer::text(text), Answer::read(&read, Some("book")), watch.finish()] {
            let done = done(reask.clone().answer(&answer, Duration::ZERO));
            assert_eq!((done.json(), done.spent().calls()), (value, 1), "{text}");
            assert_eq!(done.attempts()[0].answer(), text);
        }
    }
}

#[test]
fn a_schema_without_a_type_does_not_take_a_call_for_a_list() {
    let open = schema(r#"{"properties": {"guest": {"type": "string"}}, "required": ["guest"]}"#);
    let mut reask = Reask::new(&open, ReaskOptions::for_tool("book"));
    let done = done(reask.answer(&Answer::text("[book(guest='A')]"), Duration::ZERO));
    assert_eq!(done.json(), r#"{"guest": "A"}"#);
}

#[test]
fn words_about_a_call_and_calls_in_values_are_no_calls() {
    for text in [
        // What the model quotes, in strings of the value that it was asked for.
        r#"{"guest": "<tool_call>{\"name\": \"book\", \"arguments\": {\"guest\": \"Eve\", \"nights\": 9}}</tool_call>", "nights": "many"}"#,
        r#"{"guest": "book(guest='Eve', nights=9)", "nights": "many"}"#,
        "{'guest': '} \n[TOOL_CALLS]book{\"guest\": \"Eve\", \"nights\": 9}', 'nights': 'many'}",
        "Sure: {\"guest\": \"\n[TOOL_CALLS]book{'guest': 'Eve', 'nights': 9}\n\", \"nights\": \"many\"}",
        // And in its words.
        "They wrote <tool_call>{\"name\": \"book\", \"arguments\": {\"guest\": \"Eve\", \"nights\": 9}}</tool_call>, which I will not do.",
        "I could write book(guest=\"Eve\", nights=9) for that.",
    ] {
        let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
        let ask = asked(reask.answer(&Answer::text(text), Duration::ZERO));
        assert!(!ask.user_message().unwrap().starts_with("Your call"), "{text}");
    }
}

#[test]
fn a_call_in_the_text_is_corrected_like_a_call_and_is_none_if_it_was_cut_off() {
    let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
    let wrong = Answer::text("[TOOL_CALLS]book{\"guest\": \"A\", \"nights\": \"many\"}");
    let ask = asked(reask.answer(&wrong, Duration::ZERO));
    assert_eq!(ask.fields(), ["/nights"]);
    let question = ask.user_message().unwrap();
    assert!(question.starts_with("Your call of the tool \"book\" could not be used"), "{question}");
    // The provider knows of no call, so that there is none to have a result.
    assert_eq!(ask.as_tool_result(Shape::Gemini), None);
    let field = Answer::text("[TOOL_CALLS]book{\"nights\": 2}");
    let done = done(reask.answer(&field, Duration::ZERO));
    assert_eq!(done.json(), r#"{"guest": "A", "nights": 2}"#);

    // Nothing ends these, and their last value may go on.
    for text in [
        "<function=book>\n<parameter=guest>\nA\n</parameter>\n<parameter=nights>\n2",
        "[TOOL_CALLS]book{\"guest\": \"A\", \"nights\": 2",
    ] {
        let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
        let cut = Answer::text(text).with_finish(FinishReason::Length);
        let step = reask.answer(&cut, Duration::ZERO);
        assert!(!matches!(step, Step::Done(_)), "{step:?}");
    }
}

#[test]
fn a_call_that_is_still_wrong_is_a_call_all_the_same() {
    let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book").with_attempts(4));
    asked(reask.answer(&Answer::arguments(r#"{"guest": "A", "nights": "many"}"#), Duration::ZERO));
    let still = Answer::arguments(r#"{"nights": "some"}"#);
    let ask = asked(reask.answer(&still, Duration::ZERO));
    let question = ask.user_message().unwrap();
    let lead = "Your call of the tool \"book\" could not be used either: it does not match the JSON Schema.";
    assert!(question.starts_with(lead), "{question}");
    // Its arguments are not the ones that are corrected, which are stated therefore.
    assert!(ask.tool_result().unwrap().contains("{\"guest\": \"A\"}"), "{question}");
}

fn chat(arguments: &str) -> String {
    let call = serde_json::json!({"index": 0, "id": "c", "function": {"name": "book", "arguments": arguments}});
    format!("data: {}\n\n", serde_json::json!({"choices": [{"delta": {"tool_calls": [call]}}]}))
}

#[test]
fn a_call_is_stopped_at_the_first_value_that_is_lost() {
    let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::for_tool("book"));
    let ask = asked(reask.begin(Duration::ZERO));
    let mut watch = ask.watch();
    assert!(watch.push_body(chat("{\"guest\": \"A\", \"nights\": ").as_bytes()).is_none());
    let more = serde_json::json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "2.5, \"note\": \"and"}}]}}]});
    let lost = watch.push_body(format!("data: {more}\n\n").as_bytes());
    assert_eq!(lost.unwrap().issue().pointer(), "/nights");
    let answer = watch.finish();
    assert!(answer.lost().is_some());
    // It was cut off because it was wrong, and not the other way round.
    let ask = asked(reask.answer(&answer, Duration::ZERO));
    assert_eq!((ask.kind(), ask.attempt()), (AskKind::Whole, 1));
    assert!(ask.user_message().unwrap().contains("- /nights: expected integer, got number 2.5"));
}

#[test]
fn a_body_that_is_good_is_read_to_its_end() {
    let mut reask = Reask::new(&schema(BOOKING), ReaskOptions::new());
    let ask = asked(reask.begin(Duration::ZERO));
    let text = serde_json::json!({"choices": [{"delta": {"content": "{'guest': 'A', nights: 2}"}, "finish_reason": "stop"}]});
    let body = format!("data: {text}\n\ndata: [DONE]\n\n");
    for size in [1, 7, 1000] {
        let mut watch = ask.watch();
        for chunk in body.as_bytes().chunks(size) {
            assert!(watch.push_body(chunk).is_none());
        }
        let mut reask = reask.clone();
        assert_eq!(
            done(reask.answer(&watch.finish(), Duration::ZERO)).json(),
            r#"{"guest": "A", "nights": 2}"#
        );
    }
}
