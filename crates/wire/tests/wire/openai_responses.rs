//! OpenAI Responses: deviations of real servers, one test each.

use crate::support::{call, calls, decode, named, sse};
use wiremend_wire::{ApiFormat, CallKind, FinishReason, StreamOutcome};

const CREATED: &str = r#"{"type":"response.created","response":{"object":"response","status":"in_progress","error":null,"output":[]}}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":8,"output_tokens":5,"input_tokens_details":{"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":2}}}}"#;

/// An item of a function call, at one place of the output.
fn item(step: &str, at: u32, id: &str, arguments: &str, status: &str) -> String {
    format!(
        r#"{{"type":"response.output_item.{step}","output_index":{at},"item":{{"type":"function_call","id":"i","call_id":"{id}","name":"f","arguments":{arguments:?},"status":"{status}"}}}}"#
    )
}

fn delta(at: u32, text: &str) -> String {
    format!(
        r#"{{"type":"response.function_call_arguments.delta","item_id":"made up {at}{}","output_index":{at},"delta":{text:?}}}"#,
        text.len()
    )
}

fn done(at: u32, text: &str) -> String {
    format!(
        r#"{{"type":"response.function_call_arguments.done","item_id":"another","output_index":{at},"arguments":{text:?}}}"#
    )
}

#[test]
fn text_reasoning_and_a_refusal_are_emitted_once() {
    let payloads = [
        CREATED,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","summary":[]}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"Hm"}"#,
        r#"{"type":"response.reasoning_summary_text.done","output_index":0,"summary_index":0,"text":"Hm"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"message","content":[]}}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"content_index":1,"delta":"So","obfuscation":"x"}"#,
        r#"{"type":"response.output_text.done","output_index":1,"content_index":1,"text":"So"}"#,
        r#"{"type":"response.output_text.annotation.added","output_index":1,"content_index":1,"annotation":{"type":"url_citation","url":"u"}}"#,
        r#"{"type":"response.refusal.delta","output_index":1,"content_index":2,"delta":"no"}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"So"},{"type":"refusal","refusal":"no"}]}}"#,
        COMPLETED,
    ];
    let transcript = decode(&sse(&payloads));
    assert_eq!(transcript.format(), Some(ApiFormat::OpenAiResponses));
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("So", "Hm"));
    assert_eq!(transcript.refusal(), "no");
    assert_eq!(transcript.citations(), [r#"{"type":"url_citation","url":"u"}"#]);
    let usage = transcript.usage().unwrap();
    assert_eq!((usage.input(), usage.output()), (Some(8), Some(5)));
    assert_eq!((usage.cached(), usage.reasoning()), (Some(4), Some(2)));
    let finish = transcript.finish().unwrap();
    assert_eq!((finish.reason(), finish.original()), (FinishReason::Stop, "completed"));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn text_without_deltas_is_taken_from_the_finished_part() {
    let text =
        r#"{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Hi"}"#;
    let message = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"Hi"}]}}"#;
    let whole = r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}}"#;
    for payloads in
        [&[CREATED, text, message, COMPLETED][..], &[CREATED, message, COMPLETED], &[whole]]
    {
        assert_eq!(decode(&sse(payloads)).text(), "Hi");
    }
    let (added, item) = (item("added", 0, "c", "", ""), item("done", 0, "c", "{'a':1}", ""));
    for payloads in [
        &[CREATED, &added, &done(0, "{'a':1}"), &item, COMPLETED][..],
        &[CREATED, &added, &delta(0, "{'a'"), &done(0, "{'a':1}"), &item, COMPLETED],
        &[CREATED, &added, &item, COMPLETED],
        &[CREATED, &item, COMPLETED],
    ] {
        assert_eq!(calls(&decode(&sse(payloads))), [call("f", "{\"a\":1}", "repaired")]);
    }
    assert_eq!(calls(&decode(&sse(&[whole]))), [call("f", "{}", "unchanged")]);
}

#[test]
fn calls_are_distinguished_by_their_place_and_never_by_the_id_of_the_event() {
    let payloads = [
        CREATED,
        &item("added", 0, "c0", "", "in_progress"),
        &item("added", 1, "c1", "", "in_progress"),
        &delta(1, "{\"b\""),
        &delta(0, "{\"a\""),
        &delta(1, ":2}"),
        &delta(0, ":1}"),
        &done(0, "{\"a\":1}"),
        &item("done", 0, "c0", "{\"a\":1}", "completed"),
        &item("done", 1, "c1", "{\"b\":2}", "completed"),
        r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","call_id":"c0","name":"f","arguments":"{\"a\":1}"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"b\":2}"}]}}"#,
    ];
    let transcript = decode(&sse(&payloads));
    assert_eq!(
        calls(&transcript),
        [call("f", "{\"a\":1}", "unchanged"), call("f", "{\"b\":2}", "unchanged")]
    );
    assert_eq!(transcript.calls()[1].id(), Some("c1"));
    assert!(transcript.calls().iter().all(|call| !call.is_resent()));
}

#[test]
fn items_that_all_have_the_same_place_are_distinguished() {
    let payloads = [
        CREATED,
        &item("added", 0, "c0", "", ""),
        &delta(0, "{\"a\":1}"),
        &item("done", 0, "c0", "{\"a\":1}", ""),
        &item("added", 0, "c1", "", ""),
        &delta(0, "{\"a\":2}"),
        &item("done", 0, "c1", "{\"a\":2}", ""),
        COMPLETED,
    ];
    assert_eq!(
        calls(&decode(&sse(&payloads))),
        [call("f", "{\"a\":1}", "unchanged"), call("f", "{\"a\":2}", "unchanged")]
    );
}

#[test]
fn a_cut_call_is_cut_even_if_its_item_is_done() {
    let incomplete = r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}}"#;
    let payloads = [
        CREATED,
        &item("added", 0, "c", "", "in_progress"),
        &delta(0, "{\"path\": \"/tm"),
        &done(0, "{\"path\": \"/tm"),
        &item("done", 0, "c", "{\"path\": \"/tm", "incomplete"),
        incomplete,
    ];
    let transcript = decode(&sse(&payloads));
    assert_eq!(calls(&transcript), [call("f", "{\"path\": \"/tm", "cut")]);
    let finish = transcript.finish().unwrap();
    assert_eq!(finish.reason(), FinishReason::Length);
    assert_eq!(finish.original(), "max_output_tokens");
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn tools_of_the_provider_and_free_text_are_calls_of_their_kind() {
    let payloads = [
        CREATED,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"mcp_call","id":"m","name":"ask","server_label":"s","arguments":""}}"#,
        r#"{"type":"response.mcp_call_arguments.delta","output_index":0,"delta":"{\"q\":1,}"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"mcp_call","id":"m","name":"ask","arguments":"{\"q\":1,}"}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"custom_tool_call","call_id":"c","name":"sh","input":""}}"#,
        r#"{"type":"response.custom_tool_call_input.delta","output_index":1,"delta":"echo {'a'"}"#,
        r#"{"type":"response.custom_tool_call_input.done","output_index":1,"input":"echo {'a'"}"#,
        r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"web_search_call","id":"w"}}"#,
        r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"web_search_call","id":"w","action":{"query":"x"}}}"#,
        COMPLETED,
    ];
    let transcript = decode(&sse(&payloads));
    assert_eq!(
        calls(&transcript),
        [call("ask", "{\"q\":1}", "repaired"), call("sh", "echo {'a'", "unchanged")]
    );
    let kinds: Vec<CallKind> = transcript.calls().iter().map(|call| call.kind()).collect();
    assert_eq!(kinds, [CallKind::Server, CallKind::Custom]);
}

#[test]
fn an_error_is_reported_in_each_of_its_forms() {
    for (payload, message, code) in [
        (r#"{"type":"error","code":"busy","message":"m","sequence_number":2}"#, "m", "busy"),
        (r#"{"type":"error","error":{"code":"busy","message":"m"}}"#, "m", "busy"),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"busy","message":"m"}}}"#,
            "m",
            "busy",
        ),
    ] {
        let transcript = decode(&sse(&[CREATED, payload]));
        assert_eq!(transcript.errors()[0].message(), message, "{payload}");
        assert_eq!(transcript.errors()[0].code(), Some(code), "{payload}");
        assert_eq!(transcript.outcome(), StreamOutcome::Error, "{payload}");
    }
}

#[test]
fn the_end_is_an_event_and_nothing_else() {
    let text =
        r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a"}"#;
    assert_eq!(decode(&sse(&[CREATED, text])).outcome(), StreamOutcome::Cut);
    assert_eq!(decode(&(sse(&[CREATED, text]) + "data: [DONE]\n\n")).outcome(), StreamOutcome::Cut);
    let cancelled =
        r#"{"type":"response.cancelled","response":{"status":"cancelled","output":[]}}"#;
    let transcript = decode(&sse(&[CREATED, text, cancelled]));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Cancelled);
}

#[test]
fn the_event_name_may_replace_the_type() {
    let body = named(&[
        ("response.output_text.delta", r#"{"output_index":0,"content_index":0,"delta":"a"}"#),
        ("response.completed", r#"{"response":{"status":"completed"}}"#),
    ]);
    let transcript = decode(&body);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("a", StreamOutcome::Complete));
}

#[test]
fn a_response_that_was_not_streamed_is_read() {
    let body = r#"{"id":"r","object":"response","status":"completed","error":null,"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]},{"type":"message","content":[{"type":"output_text","text":"Hi","annotations":[{"type":"x"}]}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\": [1,}"}],"usage":{"input_tokens":1,"output_tokens":2}}"#;
    let transcript = decode(body);
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("Hi", "Hm"));
    assert_eq!(transcript.calls()[0].id(), Some("c"));
    assert_eq!(transcript.citations(), [r#"{"type":"x"}"#]);
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}
