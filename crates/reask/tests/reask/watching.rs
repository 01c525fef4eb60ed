//! Stopping a reply that can no longer become valid.

use core::time::Duration;

use wiremend_reask::{AskKind, Reask, ReaskOptions};

use crate::{BOOKING, asked, done, schema};

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
