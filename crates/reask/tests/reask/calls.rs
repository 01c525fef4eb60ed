//! Whole responses, and the calls in them.

use core::time::Duration;

use jsonmend_reask::{Answer, Reask, ReaskOptions};
use jsonmend_response::{Response, ResponseOptions};
use serde_json::json;

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

fn book(response: &Response) -> jsonmend_reask::Step {
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
    assert_eq!(matches!(step, jsonmend_reask::Step::Done(_)), complete);
}
