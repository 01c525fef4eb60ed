//! Cohere Chat, both versions.

use crate::support::{call, calls, decode, lines, sse};
use wiremend_wire::{ApiFormat, FinishReason, StreamOutcome};

const CALLED: [&str; 9] = [
    r#"{"type":"message-start","delta":{"message":{"role":"assistant","content":[],"tool_calls":[]}}}"#,
    r#"{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"I will"}}}"#,
    r#"{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"a","type":"function","function":{"name":"f","arguments":""}}}}}"#,
    r#"{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{\"a\":"}}}}}"#,
    r#"{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"1,}"}}}}}"#,
    r#"{"type":"tool-call-end","index":0}"#,
    r#"{"type":"tool-call-start","index":1,"delta":{"message":{"tool_calls":{"id":"b","function":{"name":"g","arguments":""}}}}}"#,
    r#"{"type":"tool-call-end","index":1}"#,
    r#"{"type":"message-end","delta":{"finish_reason":"TOOL_CALL","usage":{"billed_units":{"input_tokens":1,"output_tokens":1},"tokens":{"input_tokens":7,"output_tokens":3},"cached_tokens":2}}}"#,
];

#[test]
fn version_2_calls_are_decoded_and_the_plan_is_reasoning() {
    let transcript = decode(&sse(&CALLED));
    assert_eq!(transcript.format(), Some(ApiFormat::CohereV2));
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("", "I will"));
    assert_eq!(
        calls(&transcript),
        [call("f", "{\"a\":1}", "repaired"), call("g", "{}", "unchanged")]
    );
    let usage = transcript.usage().unwrap();
    assert_eq!((usage.input(), usage.output(), usage.cached()), (Some(7), Some(3), Some(2)));
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::ToolCalls);
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    assert_eq!(decode(&sse(&CALLED[..8])).outcome(), StreamOutcome::Cut);
}

#[test]
fn version_2_text_thinking_and_citations_are_decoded() {
    let body = sse(&[
        r#"{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"thinking","thinking":""}}}}"#,
        r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"Hm"}}}}"#,
        r#"{"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"Hi"}}}}"#,
        r#"{"type":"citation-start","index":0,"delta":{"message":{"citations":{"start":0,"end":2}}}}"#,
        r#"{"type":"message-end","delta":{"finish_reason":"ERROR","error":"it broke"}}"#,
    ]) + "data: [DONE]\n\n";
    let transcript = decode(&body);
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("Hi", "Hm"));
    assert_eq!(transcript.citations(), [r#"{"start":0,"end":2}"#]);
    assert_eq!(transcript.errors()[0].message(), "it broke");
    assert_eq!(transcript.outcome(), StreamOutcome::Error);
}

#[test]
fn version_2_response_that_was_not_streamed_is_read() {
    let body = r#"{"id":"x","finish_reason":"TOOL_CALL","message":{"role":"assistant","tool_plan":"p","content":[{"type":"text","text":"Hi"}],"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{'a':1}"}}],"citations":[{"start":0}]},"usage":{"tokens":{"input_tokens":1}}}"#;
    let transcript = decode(body);
    assert_eq!(transcript.format(), Some(ApiFormat::CohereV2));
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("Hi", "p"));
    assert_eq!(calls(&transcript), [call("f", "{\"a\":1}", "repaired")]);
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

const START: &str = r#"{"is_finished":false,"event_type":"stream-start","generation_id":"g"}"#;
const END: &str = r#"{"is_finished":true,"event_type":"stream-end","finish_reason":"MAX_TOKENS","response":{"text":"Hi","tool_calls":[{"name":"f","parameters":{"a":1}}],"meta":{"tokens":{"input_tokens":4,"output_tokens":2}}}}"#;

#[test]
fn version_1_text_is_read_once() {
    let text = r#"{"is_finished":false,"event_type":"text-generation","text":"Hi"}"#;
    let cited = r#"{"is_finished":false,"event_type":"citation-generation","citations":[{"start":0},{"start":1}]}"#;
    for payloads in [&[START, text, cited, END][..], &[START, cited, END]] {
        let transcript = decode(&lines(payloads));
        assert_eq!(transcript.format(), Some(ApiFormat::CohereV1));
        assert_eq!(transcript.text(), "Hi");
        assert_eq!(transcript.citations().len(), 2);
        assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Length);
        assert_eq!(transcript.usage().unwrap().output(), Some(2));
        assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    }
    assert_eq!(decode(&lines(&[START, text])).outcome(), StreamOutcome::Cut);
}

#[test]
fn version_1_calls_arrive_in_pieces_or_whole_and_count_once() {
    let first = r#"{"is_finished":false,"event_type":"tool-calls-chunk","text":"plan","tool_call_delta":{"index":0,"name":"f"}}"#;
    let second = r#"{"is_finished":false,"event_type":"tool-calls-chunk","tool_call_delta":{"index":0,"parameters":"{\"a\":1}"}}"#;
    let whole = r#"{"is_finished":false,"event_type":"tool-calls-generation","tool_calls":[{"name":"f","parameters":{"a":1}}]}"#;
    for payloads in [&[START, first, second, whole, END][..], &[START, whole, END], &[START, END]] {
        let transcript = decode(&lines(payloads));
        assert_eq!(calls(&transcript), [call("f", "{\"a\":1}", "unchanged")]);
    }
    assert_eq!(decode(&lines(&[START, first, second, END])).reasoning(), "plan");
}

#[test]
fn version_1_response_that_was_not_streamed_is_read() {
    let body = r#"{"response_id":"r","generation_id":"g","text":"Hi","finish_reason":"COMPLETE","tool_calls":[],"meta":{"tokens":{"input_tokens":4}}}"#;
    let transcript = decode(body);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("Hi", StreamOutcome::Complete));
}
