//! Entries 34 to 40: envelopes.

use wiremend_wire::FinishReason;

use super::{end, is, outcome, result, text_delta, tools};
use crate::support::{call, calls, decode, named, sse};

#[test]
fn d34_choices_may_be_empty() {
    let body = sse(&["{\"choices\":[],\"id\":\"\"}"])
        + &text_delta("a")
        + &sse(&["{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}"])
        + &end("stop");
    assert_eq!(result(&decode(&body)), is("a", "complete"));
}

#[test]
fn d35_choices_may_be_null() {
    let body = sse(&["{\"choices\":null}"]) + &text_delta("a") + &end("stop");
    assert_eq!(result(&decode(&body)), is("a", "complete"));
}

#[test]
fn d36_a_choice_may_have_no_delta() {
    let filter = "{\"choices\":[{\"index\":0,\"content_filter_results\":{},\"content_filter_offsets\":{\"start_offset\":0}}]}";
    let body = text_delta("a") + &sse(&[filter]) + &text_delta("b") + &end("stop");
    assert_eq!(result(&decode(&body)), is("ab", "complete"));
}

#[test]
fn d37_an_empty_reason_ends_nothing_and_a_repeated_one_counts_once() {
    let empty = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\"}]}\n\n";
    assert_eq!(result(&decode(empty)), is("a", "cut"));
    let body = empty.to_owned() + &text_delta("b");
    // No reason at all: the sentinel ends the stream.
    assert_eq!(result(&decode(&(body.clone() + "data: [DONE]\n\n"))), is("ab", "complete"));
    let twice = decode(&(body + &end("stop") + &end("stop")));
    assert_eq!(result(&twice), is("ab", "complete"));
    assert_eq!(twice.finish().unwrap().reason(), FinishReason::Stop);
}

#[test]
fn d38_a_reason_does_not_complete_a_cut_call() {
    assert_eq!(outcome(&["{\"path\": \"/tm"]), is("{\"path\": \"/tm", "cut"));
    let native = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\",\"native_finish_reason\":\"length\"}]}\n\n";
    let body =
        tools(r#"{"index":0,"id":"c","function":{"name":"f","arguments":"{'a': 1"}}"#) + native;
    let transcript = decode(&body);
    assert_eq!(calls(&transcript), [call("f", "{'a': 1", "cut")]);
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Length);
    assert_eq!(transcript.finish().unwrap().original(), "tool_calls");
}

#[test]
fn d39_ids_of_events_do_not_identify_items() {
    let item = |step: &str, id: &str, arguments: &str| {
        format!(
            r#"{{"type":"response.output_item.{step}","output_index":0,"item":{{"type":"function_call","id":"{id}","call_id":"c","name":"f","arguments":"{arguments}"}}}}"#
        )
    };
    let delta = |id: &str, text: &str| {
        format!(
            r#"{{"type":"response.function_call_arguments.delta","item_id":"{id}","output_index":0,"delta":"{text}"}}"#
        )
    };
    let body = sse(&[
        &item("added", "q1", ""),
        &delta("q2", "{\\\"a\\\""),
        &delta("q3", ":1}"),
        &item("done", "q4", "{\\\"a\\\":1}"),
        r#"{"type":"response.completed","response":{"status":"completed"}}"#,
    ]);
    assert_eq!(calls(&decode(&body)), [call("f", "{\"a\":1}", "unchanged")]);
}

#[test]
fn d40_a_second_message_in_one_body_cuts_off_the_first() {
    let block = |text: &str| {
        format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
        )
    };
    let start = r#"{"type":"message_start","message":{}}"#;
    let body = named(&[
        ("message_start", start),
        ("content_block_delta", &block("a")),
        ("message_start", start),
        ("content_block_delta", &block("b")),
        ("message_stop", r#"{"type":"message_stop"}"#),
    ]);
    let transcript = decode(&body);
    assert_eq!(transcript.texts(), ["a", "b"]);
    assert_eq!(transcript.outcome().code(), "complete");
}
