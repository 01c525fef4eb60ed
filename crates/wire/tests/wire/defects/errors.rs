//! Entries 27 to 33: errors inside a response whose HTTP status was a success.

use wiremend_wire::{
    FinishReason, WireOptions,
    eventstream::{Header, HeaderValue, encode},
};

use super::{end, is, result, text_delta};
use crate::support::{decode, decode_bytes, named, sse};

#[test]
fn d27_an_error_in_place_of_choices_is_not_an_empty_success() {
    for (payload, code) in [
        ("{\"error\":{\"message\":\"m\",\"code\":429}}", Some("429")),
        ("{\"object\":\"error\",\"message\":\"m\",\"code\":40001}", Some("40001")),
        ("{\"error\":\"m\"}", None),
        ("{\"detail\":\"m\"}", None),
    ] {
        let transcript = decode(&(sse(&[payload]) + "data: [DONE]\n\n"));
        assert_eq!(result(&transcript), is("", "error"), "{payload}");
        assert_eq!(transcript.errors()[0].message(), "m");
        assert_eq!(transcript.errors()[0].code(), code);
    }
}

#[test]
fn d28_an_error_next_to_choices_is_reported() {
    for choices in
        ["[]", "[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]"]
    {
        let payload =
            format!("{{\"error\":{{\"code\":502,\"message\":\"m\"}},\"choices\":{choices}}}");
        let transcript = decode(&(text_delta("a") + &sse(&[&payload]) + "data: [DONE]\n\n"));
        assert_eq!(result(&transcript), is("a", "error"), "{choices}");
        assert_eq!(transcript.errors()[0].code(), Some("502"));
    }
}

#[test]
fn d29_an_error_event_ends_a_message_without_a_stop() {
    let body = named(&[
        ("message_start", r#"{"type":"message_start","message":{}}"#),
        (
            "content_block_delta",
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
        ),
        ("error", r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
    ]);
    let transcript = decode(&body);
    assert_eq!(result(&transcript), is("a", "error"));
    assert_eq!(transcript.errors()[0].error_type(), Some("overloaded_error"));
}

#[test]
fn d30_the_text_that_a_server_could_not_use_is_kept() {
    let payload = r#"{"error":{"message":"no call","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=f>{'a': 1}"}}"#;
    let transcript = decode(&(text_delta("a") + &named(&[("error", payload)])));
    let error = &transcript.errors()[0];
    assert_eq!(error.failed_generation(), Some("<function=f>{'a': 1}"));
    assert_eq!(error.code(), Some("tool_use_failed"));
    assert_eq!(result(&transcript), is("a", "error"));
}

#[test]
fn d31_an_exception_among_binary_frames_is_reported() {
    let mut body = Vec::new();
    let headers = [
        Header::new(":exception-type", HeaderValue::Str("serviceUnavailableException")),
        Header::new(":message-type", HeaderValue::Str("exception")),
    ];
    encode(&headers, b"{\"message\":\"later\"}", &mut body).unwrap();
    let transcript = decode_bytes(&WireOptions::new(), &body);
    assert_eq!(result(&transcript), is("", "error"));
    assert_eq!(transcript.errors()[0].message(), "later");
    assert_eq!(transcript.errors()[0].error_type(), Some("serviceUnavailableException"));
}

#[test]
fn d32_a_failed_call_is_an_error_and_not_an_empty_stop() {
    for (candidate, message) in [
        (
            r#"{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"bad: f(1"}"#,
            "bad: f(1",
        ),
        (r#"{"finishReason":"UNEXPECTED_TOOL_CALL"}"#, "UNEXPECTED_TOOL_CALL"),
    ] {
        let transcript = decode(&sse(&[&format!("{{\"candidates\":[{candidate}]}}")]));
        assert_eq!(result(&transcript), is("", "error"));
        assert_eq!(transcript.errors()[0].message(), message);
        assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Error);
    }
}

#[test]
fn d33_a_reason_before_the_text_does_not_end_it() {
    let body = sse(&[
        r#"{"candidates":[{"finishReason":"STOP","index":0}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"late"}]},"index":0}]}"#,
    ]);
    assert_eq!(result(&decode(&body)), is("late", "complete"));
    assert_eq!(decode(&(end("stop") + &text_delta("late"))).text(), "late");
}
