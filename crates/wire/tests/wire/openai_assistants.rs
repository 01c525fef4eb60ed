//! OpenAI Assistants.

use crate::support::{call, calls, decode, named};
use wiremend_wire::{ApiFormat, FinishReason, StreamOutcome};

fn run(status: &str, more: &str) -> String {
    format!(r#"{{"object":"thread.run","status":"{status}"{more}}}"#)
}

fn step(index: i32, call: &str) -> String {
    format!(
        r#"{{"object":"thread.run.step.delta","delta":{{"step_details":{{"type":"tool_calls","tool_calls":[{{"index":{index},{call}}}]}}}}}}"#
    )
}

const STEP: &str = r#"{"object":"thread.run.step","type":"tool_calls"}"#;

#[test]
fn text_is_emitted_once_and_the_run_states_the_end() {
    let body = named(&[
        ("thread.run.created", &run("queued", "")),
        ("thread.message.created", r#"{"object":"thread.message","content":[]}"#),
        (
            "thread.message.delta",
            r#"{"object":"thread.message.delta","delta":{"content":[{"index":0,"type":"text","text":{"value":"Hi","annotations":[]}}]}}"#,
        ),
        (
            "thread.message.delta",
            r#"{"object":"thread.message.delta","delta":{"content":[{"index":0,"type":"text","text":{"value":"!","annotations":[{"type":"file_citation"}]}}]}}"#,
        ),
        (
            "thread.message.completed",
            r#"{"object":"thread.message","content":[{"type":"text","text":{"value":"Hi!"}}]}"#,
        ),
        (
            "thread.run.completed",
            &run("completed", r#","usage":{"prompt_tokens":3,"completion_tokens":2}"#),
        ),
        ("done", "[DONE]"),
    ]);
    let transcript = decode(&body);
    assert_eq!(transcript.format(), Some(ApiFormat::OpenAiAssistants));
    assert_eq!(transcript.text(), "Hi!");
    assert_eq!(transcript.citations(), [r#"{"type":"file_citation"}"#]);
    assert_eq!(transcript.usage().unwrap().output(), Some(2));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn calls_of_two_steps_that_count_from_0_are_two() {
    let first = r#""id":"a","type":"function","function":{"name":"f","arguments":""}"#;
    let second = r#""id":"b","type":"function","function":{"name":"g","arguments":"{'b':2}"}"#;
    let code = r#""id":"x","type":"code_interpreter","code_interpreter":{"input":"1+1"}"#;
    let wanted = r#","required_action":{"submit_tool_outputs":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"b","function":{"name":"g","arguments":"{'b':2}"}}]}}"#;
    let body = named(&[
        ("thread.run.step.created", STEP),
        ("thread.run.step.delta", &step(0, first)),
        ("thread.run.step.delta", &step(0, r#""function":{"arguments":"{\"a\":1}"}"#)),
        ("thread.run.step.completed", STEP),
        ("thread.run.step.delta", &step(0, code)),
        ("thread.run.step.delta", &step(1, second)),
        ("thread.run.requires_action", &run("requires_action", wanted)),
        ("done", "[DONE]"),
    ]);
    let transcript = decode(&body);
    assert_eq!(
        calls(&transcript),
        [call("f", "{\"a\":1}", "unchanged"), call("g", "{\"b\":2}", "repaired")]
    );
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::ToolCalls);
}

#[test]
fn calls_that_only_the_run_names_are_read() {
    let wanted = r#","required_action":{"submit_tool_outputs":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{}"}}]}}"#;
    let body = named(&[
        ("thread.run.requires_action", &run("requires_action", wanted)),
        ("done", "[DONE]"),
    ]);
    assert_eq!(decode(&body).calls().len(), 2);
}

#[test]
fn a_run_that_failed_or_was_cut_is_reported() {
    let failed = run("failed", r#","last_error":{"code":"rate_limit","message":"m"}"#);
    let transcript = decode(&named(&[("thread.run.failed", &failed), ("done", "[DONE]")]));
    assert_eq!(transcript.errors()[0].code(), Some("rate_limit"));
    assert_eq!(transcript.outcome(), StreamOutcome::Error);

    let short = run("incomplete", r#","incomplete_details":{"reason":"max_completion_tokens"}"#);
    let call_ = r#""id":"a","function":{"name":"f","arguments":"{\"a\": \"Spa"}"#;
    let body =
        named(&[("thread.run.step.delta", &step(0, call_)), ("thread.run.incomplete", &short)]);
    let transcript = decode(&body);
    assert_eq!(calls(&transcript), [call("f", "{\"a\": \"Spa", "cut")]);
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Length);

    let body = named(&[("thread.run.in_progress", &run("in_progress", ""))]);
    assert_eq!(decode(&body).outcome(), StreamOutcome::Cut);
}
