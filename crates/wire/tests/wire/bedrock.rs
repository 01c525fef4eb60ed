//! Amazon Bedrock: ConverseStream, and the forms of InvokeModel. The frames are tested in `aws`.

use wiremend_wire::{
    ApiFormat, CallKind, Decoder, ErrorKind, FinishReason, Framing, RewriteOptions, Rewriter,
    Rewritten, StreamOutcome, Transcript, WireEvent, WireOptions,
    eventstream::{Header, HeaderValue, encode},
};

use crate::support::{call, calls, decode, decode_bytes, named, sse};

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

// Bodies in AWS event streams.

fn message(kind: &str, name: (&str, &str), payload: &str) -> Vec<u8> {
    let headers = [
        Header::new(name.0, HeaderValue::Str(name.1)),
        Header::new(":content-type", HeaderValue::Str("application/json")),
        Header::new(":message-type", HeaderValue::Str(kind)),
    ];
    let mut out = Vec::new();
    encode(&headers, payload.as_bytes(), &mut out).unwrap();
    out
}

/// A `chunk` message around base64.
fn chunk(base64: &str) -> Vec<u8> {
    message("event", (":event-type", "chunk"), &format!("{{\"bytes\":\"{base64}\",\"p\":\"ab\"}}"))
}

/// An Anthropic Messages response with the text "Hi", in base64.
const ANSWER: [&str; 3] = [
    // {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}
    "eyJ0eXBlIjoiY29udGVudF9ibG9ja19kZWx0YSIsImluZGV4IjowLCJkZWx0YSI6eyJ0eXBlIjoidGV4dF9kZWx0YSIsInRleHQiOiJIaSJ9fQ==",
    // {"type":"message_delta","delta":{"stop_reason":"end_turn"}}
    "eyJ0eXBlIjoibWVzc2FnZV9kZWx0YSIsImRlbHRhIjp7InN0b3BfcmVhc29uIjoiZW5kX3R1cm4ifX0=",
    // {"type":"message_stop"}
    "eyJ0eXBlIjoibWVzc2FnZV9zdG9wIn0=",
];

fn read(body: &[u8]) -> Transcript {
    decode_bytes(&WireOptions::new(), body)
}

fn answer() -> Vec<u8> {
    ANSWER.map(chunk).concat()
}

#[test]
fn the_payloads_of_invoke_model_are_taken_out_of_their_chunks() {
    let seen = read(&answer());
    assert_eq!(seen.framing(), Some(Framing::EventStream));
    assert_eq!((seen.format(), seen.text().as_str()), (Some(ApiFormat::Anthropic), "Hi"));
    assert_eq!(seen.outcome(), StreamOutcome::Complete);
    assert!(seen.errors().is_empty());
}

#[test]
fn an_exception_is_an_error_of_the_provider() {
    let name = (":exception-type", "modelStreamErrorException");
    let exception = message("exception", name, "{\"message\":\"no capacity\"}");
    let seen = read(&[chunk(ANSWER[0]), exception].concat());
    assert_eq!((seen.text().as_str(), seen.outcome()), ("Hi", StreamOutcome::Error));
    let error = &seen.errors()[0];
    assert_eq!((error.kind(), error.message()), (ErrorKind::Provider, "no capacity"));
    assert_eq!(error.error_type(), Some("modelStreamErrorException"));

    let headers = [
        Header::new(":message-type", HeaderValue::Str("error")),
        Header::new(":error-code", HeaderValue::Str("internal")),
        Header::new(":error-message", HeaderValue::Str("it broke")),
    ];
    let mut body = Vec::new();
    encode(&headers, b"", &mut body).unwrap();
    let seen = read(&body);
    assert_eq!(seen.errors()[0].to_string(), "provider: it broke");
    assert_eq!(seen.errors()[0].error_type(), Some("internal"));
}

#[test]
fn a_body_that_ends_inside_a_frame_is_cut() {
    let whole = answer();
    let padded = [whole.clone(), message("event", (":event-type", "metadata"), "{}")].concat();
    for body in [&whole[..whole.len() - 1], &padded[..padded.len() - 9], &padded[..9]] {
        assert_eq!(read(body).outcome(), StreamOutcome::Cut);
    }
}

#[test]
fn a_broken_frame_is_an_error_and_the_rest_is_read() {
    let mut body = answer();
    let tail = chunk(ANSWER[0]);
    let last = body.len() - 8;
    body[last] ^= 1;
    let seen = read(&[body, tail].concat());
    assert_eq!((seen.text().as_str(), seen.outcome()), ("HiHi", StreamOutcome::Error));
    assert_eq!(seen.errors()[0].kind(), ErrorKind::Malformed);
    assert!(seen.errors()[0].message().contains("checksum"));
}

/// The base64 of a text.
fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - group.len()));
        let digit = |at: usize| char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]);
        let digits: String = (0..=group.len()).map(digit).collect();
        format!("{digits:=<4}")
    };
    text.as_bytes().chunks(3).map(group).collect()
}

/// A text in pieces, as an agent sends it.
fn agent(pieces: &[&str]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| chunk(&base64(piece))).collect()
}

#[test]
fn an_agent_that_answers_with_json_loses_nothing() {
    for text in ["{\"city\": \"Oslo\"}\n", "[1, {\"a\": 2}]", "{} and {}", "{'a': NaN} "] {
        for cut in 1..text.len() {
            let body = agent(&[&text[..cut], &text[cut..]]);
            let seen = read(&body);
            let said = (seen.text(), seen.outcome(), seen.errors().len());
            // Two objects may be those of a model that is not known.
            let want = match seen.format() {
                None => (String::new(), StreamOutcome::Unrecognised, 1),
                Some(_) => (text.to_owned(), StreamOutcome::Complete, 0),
            };
            assert_eq!(said, want, "{text} cut at {cut}");
            let trace = message("event", (":event-type", "trace"), "{}");
            let seen = read(&[body, trace].concat());
            assert_eq!(seen.format(), Some(ApiFormat::BedrockAgent), "{text} cut at {cut}");
            let said = (seen.text(), seen.outcome(), seen.errors().len());
            assert_eq!(said, (text.to_owned(), StreamOutcome::Complete, 0), "{text} cut at {cut}");
        }
    }
}

#[test]
fn an_object_that_no_format_knows_is_text_only_if_the_body_is_that_of_an_agent() {
    let alone = agent(&["{\"city\": \"Oslo\"}"]);
    let seen = read(&alone);
    assert_eq!((seen.format(), seen.outcome()), (None, StreamOutcome::Unrecognised));
    assert_eq!(seen.errors()[0].message(), "{\"city\": \"Oslo\"}");
    let fixed = WireOptions::new().with_format(ApiFormat::BedrockAgent);
    let seen = decode_bytes(&fixed, &alone);
    assert_eq!(
        (seen.text().as_str(), seen.outcome()),
        ("{\"city\": \"Oslo\"}", StreamOutcome::Complete)
    );
    let model = [alone, answer()].concat();
    let seen = read(&model);
    assert_eq!((seen.format(), seen.text().as_str()), (Some(ApiFormat::Anthropic), "Hi"));
}

#[test]
fn json_of_an_agent_that_was_forwarded_before_it_was_known_is_not_rewritten_from_its_middle() {
    let trace = message("event", (":event-type", "trace"), "{}");
    let body = [agent(&["{}"]), trace, agent(&[" {'a': 1}"])].concat();
    for cut in 0..body.len() {
        let mut rewriter = Rewriter::new(RewriteOptions::new().with_json_content(true));
        let (mut out, mut text) = (Vec::new(), String::new());
        let mut take = |piece: Rewritten<'_>| match piece {
            Rewritten::Bytes(bytes) => out.extend_from_slice(bytes),
            Rewritten::Event(WireEvent::Text { text: more, .. }) => text.push_str(more),
            _ => {}
        };
        rewriter.push(&body[..cut], &mut take);
        rewriter.push(&body[cut..], &mut take);
        rewriter.finish(&mut take);
        assert_eq!((out == body, text.as_str()), (true, "{} {'a': 1}"), "cut at {cut}");
    }
}

#[test]
fn what_is_kept_of_early_payloads_is_bounded() {
    let text = format!("{{\"a\": \"{}\"}}", "x".repeat(40 << 10));
    let body = agent(&[&text, &text, "end"]);
    let mut decoder = Decoder::new(WireOptions::new());
    let mut transcript = Transcript::new();
    decoder.push(&body, &mut |event| transcript.record(&event));
    decoder.finish(&mut |event| transcript.record(&event));
    assert_eq!(transcript.text(), "end");
    assert_eq!(transcript.errors()[0].kind(), ErrorKind::Malformed);
}
