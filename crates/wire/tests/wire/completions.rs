//! The formats that stream a text and no calls, and Ollama.

use crate::support::{call, calls, decode, lines, named, sse};
use wiremend_wire::{ApiFormat, FinishReason, StreamOutcome};

#[test]
fn openai_completions_are_read_by_choice() {
    let payloads = [
        r#"{"object":"text_completion","choices":[{"text":"a","index":1,"finish_reason":""}]}"#,
        r#"{"choices":[{"text":"b","index":0,"finish_reason":null}]}"#,
        r#"{"choices":[{"text":"c","index":1,"finish_reason":"length"}]}"#,
        r#"{"choices":[{"text":"","index":0,"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":3}}"#,
    ];
    let transcript = decode(&sse(&payloads));
    assert_eq!(transcript.format(), Some(ApiFormat::OpenAiCompletions));
    assert_eq!(transcript.texts(), ["ac", "b"]);
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Stop);
    assert_eq!(transcript.usage().unwrap().output(), Some(3));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    assert_eq!(decode(&sse(&payloads[..3])).outcome(), StreamOutcome::Cut);
    // The first chunk may only show that it has choices.
    let late = [r#"{"choices":[],"prompt_filter_results":[]}"#, payloads[1], payloads[3]];
    let transcript = decode(&sse(&late));
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("b", StreamOutcome::Complete));
    // Amazon's service names the reason differently.
    let transcript = decode(r#"{"choices":[{"text":"a","stop_reason":"length"}]}"#);
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Length);
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn anthropic_completions_are_read_with_a_type_and_without() {
    let typed = [
        r#"{"type":"completion","completion":" Hi","stop_reason":null}"#,
        r#"{"type": "ping"}"#,
        r#"{"type":"completion","completion":"","stop_reason":"stop_sequence","stop":"\n\nHuman:"}"#,
    ];
    let bare = [
        r#"{"completion":" Hi","stop_reason":null}"#,
        r#"{"completion":"","stop_reason":"stop_sequence"}"#,
    ];
    for payloads in [&typed[..], &bare] {
        let transcript = decode(&sse(payloads));
        assert_eq!(transcript.format(), Some(ApiFormat::AnthropicComplete));
        assert_eq!(transcript.text(), " Hi");
        assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Stop);
        assert_eq!(transcript.outcome(), StreamOutcome::Complete);
        assert_eq!(decode(&sse(&payloads[..1])).outcome(), StreamOutcome::Cut);
    }
}

#[test]
fn ollama_chats_are_read_a_line_at_a_time() {
    let payloads = [
        r#"{"model":"m","message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}"#,
        r#"{"message":{"role":"assistant","content":"Hi"},"done":false}"#,
        r#"{"message":{"content":"","tool_calls":[{"function":{"index":0,"name":"f","arguments":{"n": 1e400}}},{"function":{"index":0,"name":"f","arguments":"{'a':1}"}}]},"done":false}"#,
        r#"{"message":{"content":""},"done":true,"done_reason":"length","prompt_eval_count":3,"eval_count":2}"#,
    ];
    let transcript = decode(&lines(&payloads));
    assert_eq!(transcript.format(), Some(ApiFormat::Ollama));
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("Hi", "Hm"));
    assert_eq!(
        calls(&transcript),
        [call("f", "{\"n\": 1e400}", "unchanged"), call("f", "{'a':1}", "cut")]
    );
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Length);
    assert_eq!(transcript.usage().unwrap().input(), Some(3));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    let broken = lines(&payloads[..2]) + "{\"error\":\"no memory\"}\n";
    let transcript = decode(&broken);
    assert_eq!(transcript.errors()[0].message(), "no memory");
    assert_eq!(transcript.outcome(), StreamOutcome::Error);
}

#[test]
fn ollama_generations_are_read() {
    let body = lines(&[
        r#"{"model":"m","thinking":"Hm","response":"","done":false}"#,
        r#"{"model":"m","response":"Hi","done":false}"#,
        r#"{"model":"m","response":"","done":true}"#,
    ]);
    let transcript = decode(&body);
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("Hi", "Hm"));
    assert_eq!(transcript.finish().unwrap().original(), "stop");
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn tgi_tokens_are_read_and_the_whole_text_counts_once() {
    let payloads = [
        r#"{"index":1,"token":{"id":5,"text":"Hi","logprob":-0.1,"special":false},"generated_text":null,"details":null}"#,
        r#"{"index":2,"token":{"id":2,"text":"</s>","special":true},"generated_text":"Hi","details":{"finish_reason":"eos_token","generated_tokens":2}}"#,
    ];
    let transcript = decode(&sse(&payloads));
    assert_eq!(transcript.format(), Some(ApiFormat::Tgi));
    assert_eq!(transcript.text(), "Hi");
    let finish = transcript.finish().unwrap();
    assert_eq!((finish.reason(), finish.original()), (FinishReason::Stop, "eos_token"));
    assert_eq!(transcript.usage().unwrap().output(), Some(2));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    assert_eq!(decode(&sse(&payloads[..1])).outcome(), StreamOutcome::Cut);
    let error = r#"{"error":"Request failed during generation","error_type":"generation"}"#;
    let transcript = decode(&sse(&[payloads[0], error]));
    assert_eq!(transcript.errors()[0].error_type(), Some("generation"));
    let whole = decode(r#"[{"generated_text":"Hi"}]"#);
    assert_eq!((whole.text().as_str(), whole.outcome()), ("Hi", StreamOutcome::Complete));
}

#[test]
fn watsonx_results_are_read() {
    let payloads = [
        r#"{"model_id":"m","results":[{"generated_text":"","generated_token_count":0,"input_token_count":8,"stop_reason":"not_finished"}]}"#,
        r#"{"results":[{"generated_text":"Hi","generated_token_count":1,"input_token_count":0,"stop_reason":"NOT_FINISHED"}]}"#,
        r#"{"results":[{"generated_text":"!","generated_token_count":2,"input_token_count":0,"stop_reason":"max_tokens"}]}"#,
    ];
    let transcript = decode(&named(&payloads.map(|payload| ("message", payload))));
    assert_eq!(transcript.format(), Some(ApiFormat::Watsonx));
    assert_eq!(transcript.text(), "Hi!");
    let usage = transcript.usage().unwrap();
    assert_eq!((usage.input(), usage.output()), (Some(8), Some(2)));
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Length);
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    assert_eq!(decode(&sse(&payloads[..2])).outcome(), StreamOutcome::Cut);
    let error = r#"{"errors":[{"code":"invalid_request","message":"m"}],"status_code":400}"#;
    let transcript = decode(error);
    assert_eq!(transcript.errors()[0].code(), Some("invalid_request"));
}

#[test]
fn replicate_text_is_the_payload_itself() {
    let events = [
        "event: output\nid: 1:0\ndata:\n\n",
        "event: output\ndata: {\n\n",
        "event: output\ndata:  \"a\":\n\n",
        "event: output\ndata:  1}\n\n",
        "event: output\ndata: \ndata: \n\n",
        "event: output\ndata: [DONE]\n\n",
        "event: output\ndata: {\"choices\": 1\n\n",
        "event: done\ndata: {}\n\n",
    ];
    let transcript = decode(&(": hi\n\n".to_owned() + &events.concat()));
    assert_eq!(transcript.format(), Some(ApiFormat::Replicate));
    assert_eq!(transcript.text(), "{ \"a\": 1}\n[DONE]{\"choices\": 1");
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    assert_eq!(decode(&events[..5].concat()).outcome(), StreamOutcome::Cut);
    let cancelled = events[1].to_owned() + "event: done\ndata: {\"reason\": \"canceled\"}\n\n";
    assert_eq!(decode(&cancelled).finish().unwrap().reason(), FinishReason::Cancelled);
    let failed = events[1].to_owned() + "event: error\ndata: {\"detail\": \"broke\"}\n\n";
    let transcript = decode(&failed);
    assert_eq!(transcript.errors()[0].message(), "broke");
    assert_eq!(transcript.outcome(), StreamOutcome::Error);
}
