//! Bodies in AWS event streams.

use jsonmend_wire::{
    ApiFormat, ErrorKind, Framing, StreamOutcome, Transcript, WireOptions,
    eventstream::{Header, HeaderValue, encode},
};

use crate::support::decode_bytes;

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
