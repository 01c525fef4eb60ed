//! Anthropic Messages: defects of real streams, one test each.

use crate::support::{call, calls, decode};
use wiremend_core::Outcome;
use wiremend_wire::{ApiFormat, CallKind, Doubt, FinishReason, StreamOutcome};

/// Events with their names, as the service sends them.
fn events(payloads: &[&str]) -> String {
    payloads
        .iter()
        .map(|payload| format!("event: {}\ndata: {payload}\n\n", kind(payload)))
        .collect()
}

/// The same without the names.
fn bare(payloads: &[&str]) -> String {
    payloads.iter().map(|payload| format!("data: {payload}\n\n")).collect()
}

fn kind(payload: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(payload).expect("valid JSON");
    value["type"].as_str().expect("a type").to_owned()
}

const START: &str = r#"{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":12,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const TOOL: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t0","name":"f","input":{}}}"#;
const CLOSE: &str = r#"{"type":"content_block_stop","index":0}"#;
const USED: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#;
const CUT: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}"#;

/// A fragment of the arguments of block 0.
fn piece(text: &str) -> String {
    format!(
        r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{text:?}}}}}"#
    )
}

#[test]
fn thinking_text_and_a_call_are_decoded() {
    let payloads = [
        START,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
        CLOSE,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Let me see."}  }"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\": "}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"'a.txt',}"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        USED,
        STOP,
    ];
    for body in [events(&payloads), bare(&payloads)] {
        let transcript = decode(&body);
        assert_eq!(transcript.format(), Some(ApiFormat::Anthropic));
        assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("Let me see.", "Hm."));
        assert_eq!(calls(&transcript), [call("read", "{\"path\": \"a.txt\"}", "repaired")]);
        assert_eq!(transcript.calls()[0].id(), Some("t1"));
        let usage = transcript.usage().unwrap();
        assert_eq!((usage.input(), usage.output()), (Some(12), Some(9)));
        assert_eq!(transcript.finish().unwrap().reason(), FinishReason::ToolCalls);
        assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    }
}

#[test]
fn the_event_name_may_replace_the_type() {
    let body = "event: message_start\ndata: {\"message\":{}}\n\n\
        event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n\
        event: message_stop\n\n";
    let transcript = decode(body);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("Hi", StreamOutcome::Complete));
}

#[test]
fn the_empty_input_is_a_placeholder_and_no_arguments_are_an_empty_object() {
    let body = events(&[START, TOOL, &piece(""), CLOSE, USED, STOP]);
    assert_eq!(calls(&decode(&body)), [call("f", "{}", "unchanged")]);
    let body = events(&[START, TOOL, &piece("{\"a\""), &piece(":1}"), CLOSE, USED, STOP]);
    assert_eq!(calls(&decode(&body)), [call("f", "{\"a\":1}", "unchanged")]);
}

#[test]
fn the_start_may_hold_the_whole_input() {
    let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{"query": "1.10"}}}"#;
    let transcript = decode(&events(&[START, start, CLOSE, USED, STOP]));
    assert_eq!(calls(&transcript), [call("web_search", "{\"query\": \"1.10\"}", "unchanged")]);
    assert_eq!(transcript.calls()[0].kind(), CallKind::Server);
    let both = decode(&events(&[START, start, &piece("{\"query\": \"x\"}"), CLOSE, USED, STOP]));
    // The start and the pieces contradict each other.
    assert_eq!(calls(&both), [call("web_search", "{\"query\": \"x\"}", "cut")]);
    assert_eq!(both.calls()[0].doubt(), Some(Doubt::Contradiction));
    let same = decode(&events(&[START, start, &piece("{\"query\":\"1.10\"}"), CLOSE, USED, STOP]));
    assert_eq!(calls(&same), [call("web_search", "{\"query\":\"1.10\"}", "unchanged")]);
}

#[test]
fn arguments_that_max_tokens_cut_are_cut() {
    let body = events(&[START, TOOL, &piece("{\"path\": \"/tm"), CLOSE, CUT, STOP]);
    let transcript = decode(&body);
    assert_eq!(calls(&transcript), [call("f", "{\"path\": \"/tm", "cut")]);
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Length);
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn no_arguments_at_max_tokens_are_none_though_the_block_was_closed() {
    let body = events(&[START, TOOL, CLOSE, CUT, STOP]);
    assert_eq!(calls(&decode(&body)), [call("f", "", "none")]);
    let body = events(&[START, TOOL, CLOSE]);
    assert_eq!(calls(&decode(&body)), [call("f", "", "cut")]);
    let second = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"g","input":{}}}"#;
    let body = events(&[START, TOOL, CLOSE, second, CUT, STOP]);
    assert_eq!(calls(&decode(&body)), [call("f", "{}", "unchanged"), call("g", "", "none")]);
}

#[test]
fn a_second_message_starts_the_indexes_over() {
    let body = events(&[
        START,
        TOOL,
        &piece("{\"a\": \"Spa"),
        &START.replace("\"m\"", "\"n\""),
        TOOL,
        &piece("{\"a\": 2}"),
        CLOSE,
        USED,
        STOP,
    ]);
    let transcript = decode(&body);
    assert_eq!(
        calls(&transcript),
        [call("f", "{\"a\": \"Spa", "cut"), call("f", "{\"a\": 2}", "unchanged")]
    );
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn a_stream_that_only_stops_is_cut() {
    let text =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#;
    for payloads in [&[START, text][..], &[START, text, CLOSE, USED]] {
        assert_eq!(decode(&events(payloads)).outcome(), StreamOutcome::Cut);
    }
}

#[test]
fn an_error_ends_the_stream() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let body = events(&[START, TOOL, &piece("{\"a\":1"), error]);
    let transcript = decode(&body);
    assert_eq!(transcript.errors()[0].error_type(), Some("overloaded_error"));
    assert_eq!(transcript.outcome(), StreamOutcome::Error);
    assert_eq!(transcript.calls()[0].outcome(), Outcome::Cut);
}

#[test]
fn control_characters_in_arguments_are_escaped() {
    let body = events(&[START, TOOL, &piece("{\"code\": \"a\n\tb\"}"), CLOSE, USED, STOP]);
    assert_eq!(calls(&decode(&body)), [call("f", "{\"code\": \"a\\n\\tb\"}", "repaired")]);
}

#[test]
fn a_response_that_was_not_streamed_is_read() {
    let body = r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"f","input":{"a": 1}},{"type":"tool_use","id":"u","name":"g","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}"#;
    let transcript = decode(body);
    assert_eq!(transcript.text(), "Hi");
    assert_eq!(
        calls(&transcript),
        [call("f", "{\"a\": 1}", "unchanged"), call("g", "{}", "unchanged")]
    );
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}
