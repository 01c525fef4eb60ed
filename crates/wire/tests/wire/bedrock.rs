//! Amazon Bedrock: ConverseStream, and the forms of InvokeModel. The frames are tested in `aws`.

use crate::support::{call, calls, decode, named, sse};
use wiremend_wire::{ApiFormat, CallKind, FinishReason, StreamOutcome};

const EVENTS: [(&str, &str); 14] = [
    ("messageStart", r#"{"role":"assistant","p":"ab"}"#),
    ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Hm"}}}"#),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c"}}}"#,
    ),
    ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
    ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"text":"So"}}"#),
    ("contentBlockDelta", r#"{"contentBlockIndex":1,"delta":{"citation":{"title":"t"}}}"#),
    (
        "contentBlockStart",
        r#"{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}"#,
    ),
    ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"a\":"}}}"#),
    ("contentBlockDelta", r#"{"contentBlockIndex":2,"delta":{"toolUse":{"input":"'x'}"}}}"#),
    ("contentBlockStop", r#"{"contentBlockIndex":2}"#),
    (
        "contentBlockStart",
        r#"{"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"u","name":"g","type":"server_tool_use"}}}"#,
    ),
    ("contentBlockStop", r#"{"contentBlockIndex":3}"#),
    ("messageStop", r#"{"stopReason":"tool_use"}"#),
    ("metadata", r#"{"usage":{"inputTokens":5,"outputTokens":4,"cacheReadInputTokens":1}}"#),
];

/// The same without names: each payload in a member of that name.
fn wrapped(events: &[(&str, &str)]) -> String {
    events.iter().map(|(name, payload)| format!("data: {{\"{name}\":{payload}}}\n\n")).collect()
}

#[test]
fn text_reasoning_and_calls_are_decoded_with_names_and_without() {
    for body in [named(&EVENTS), wrapped(&EVENTS)] {
        let transcript = decode(&body);
        assert_eq!(transcript.format(), Some(ApiFormat::BedrockConverse));
        assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("So", "Hm"));
        assert_eq!(
            calls(&transcript),
            [call("f", "{\"a\":\"x\"}", "repaired"), call("g", "{}", "unchanged")]
        );
        assert_eq!(transcript.calls()[0].id(), Some("t"));
        assert_eq!(transcript.calls()[1].kind(), CallKind::Server);
        assert_eq!(transcript.citations(), [r#"{"title":"t"}"#]);
        assert_eq!(transcript.finish().unwrap().reason(), FinishReason::ToolCalls);
        assert_eq!(transcript.usage().unwrap().cached(), Some(1));
        assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    }
}

#[test]
fn the_end_is_the_stop_of_the_message() {
    assert_eq!(decode(&named(&EVENTS[..11])).outcome(), StreamOutcome::Cut);
    let cut = [&EVENTS[..8], &[("messageStop", r#"{"stopReason":"max_tokens"}"#)]].concat();
    let transcript = decode(&named(&cut));
    assert_eq!(calls(&transcript), [call("f", "{\"a\":", "cut")]);
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Length);
    for (word, reason) in [
        ("guardrail_intervened", FinishReason::ContentFilter),
        ("malformed_tool_use", FinishReason::Error),
        ("model_context_window_exceeded", FinishReason::Length),
        ("end_turn", FinishReason::Stop),
    ] {
        let stop = format!("{{\"stopReason\":\"{word}\"}}");
        let transcript = decode(&named(&[EVENTS[0], ("messageStop", &stop)]));
        assert_eq!(transcript.finish().unwrap().reason(), reason, "{word}");
    }
}

#[test]
fn an_exception_as_a_payload_is_reported() {
    let body = wrapped(&EVENTS[..5]) + "data: {\"throttlingException\":{\"message\":\"slow\"}}\n\n";
    let transcript = decode(&body);
    assert_eq!(transcript.errors()[0].error_type(), Some("throttlingException"));
    assert_eq!(transcript.outcome(), StreamOutcome::Error);
}

#[test]
fn a_response_that_was_not_streamed_is_read() {
    let body = r#"{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"Hm"}}},{"text":"Hi"},{"toolUse":{"toolUseId":"t","name":"f","input":{"a": 1}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":2}}"#;
    let transcript = decode(body);
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("Hi", "Hm"));
    assert_eq!(calls(&transcript), [call("f", "{\"a\": 1}", "unchanged")]);
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn the_text_models_are_read_by_vendor() {
    const METRICS: &str =
        r#""amazon-bedrock-invocationMetrics":{"inputTokenCount":3,"outputTokenCount":2}"#;
    let with = |head: &str| format!("{head},{METRICS}}}");
    for (first, last, reason) in [
        (
            r#"{"outputText":"Hi","index":0,"completionReason":null}"#,
            with(r#"{"outputText":"!","index":0,"completionReason":"LENGTH""#),
            FinishReason::Length,
        ),
        (
            r#"{"generation":"Hi","generation_token_count":1,"stop_reason":null}"#,
            with(r#"{"generation":"!","generation_token_count":2,"stop_reason":"stop""#),
            FinishReason::Stop,
        ),
        (
            r#"{"outputs":[{"text":"Hi","stop_reason":null}]}"#,
            with(r#"{"outputs":[{"text":"!","stop_reason":"length"}]"#),
            FinishReason::Length,
        ),
        (
            r#"{"text":"Hi","is_finished":false}"#,
            with(
                r#"{"text":"!","is_finished":true,"finish_reason":"COMPLETE","generations":[{"text":"Hi!"}]"#,
            ),
            FinishReason::Stop,
        ),
    ] {
        let transcript = decode(&sse(&[first, &last]));
        assert_eq!(transcript.format(), Some(ApiFormat::BedrockText), "{first}");
        assert_eq!(transcript.text(), "Hi!", "{first}");
        assert_eq!(transcript.finish().unwrap().reason(), reason, "{first}");
        assert_eq!(transcript.usage().unwrap().input(), Some(3), "{first}");
        assert_eq!(transcript.outcome(), StreamOutcome::Complete, "{first}");
        assert_eq!(decode(&sse(&[first])).outcome(), StreamOutcome::Cut, "{first}");
    }
    let titan = r#"{"inputTextTokenCount":3,"results":[{"tokenCount":2,"outputText":"Hi","completionReason":"FINISH"}]}"#;
    let transcript = decode(titan);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("Hi", StreamOutcome::Complete));
}
