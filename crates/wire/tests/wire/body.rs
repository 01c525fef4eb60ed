//! Bodies that are not a stream of a known format: a typed result, never silent success.

use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_wire::{
    ApiFormat, ErrorKind, Framing, StreamOutcome, WireLimits, WireOptions, mend_body,
    sse::SseLimits,
};

use crate::support::{decode, decode_with};

#[test]
fn a_body_that_is_not_a_stream_is_reported() {
    for (body, framing, kind, outcome) in [
        (
            "{\"error\":{\"message\":\"no key\"}}",
            Framing::Json,
            ErrorKind::Provider,
            StreamOutcome::Error,
        ),
        (
            "{\n \"detail\": \"Not Found\"\n}\n",
            Framing::Json,
            ErrorKind::Provider,
            StreamOutcome::Error,
        ),
        (
            "[{\"error\":{\"message\":\"x\"}}]",
            Framing::JsonArray,
            ErrorKind::Provider,
            StreamOutcome::Error,
        ),
        (
            "<html><body>Bad gateway</body></html>",
            Framing::Html,
            ErrorKind::NotAStream,
            StreamOutcome::Error,
        ),
        ("upstream connect error", Framing::Text, ErrorKind::NotAStream, StreamOutcome::Error),
        ("\0\0\0\u{7f}and more", Framing::EventStream, ErrorKind::Malformed, StreamOutcome::Error),
        (
            "{\"a\":1}\n{\"a\":2}\n",
            Framing::Ndjson,
            ErrorKind::Unrecognised,
            StreamOutcome::Unrecognised,
        ),
        ("data: {\"a\":1}\n\n", Framing::Sse, ErrorKind::Unrecognised, StreamOutcome::Unrecognised),
        (
            "event: words\ndata: some words\n\n",
            Framing::Sse,
            ErrorKind::Unrecognised,
            StreamOutcome::Unrecognised,
        ),
    ] {
        let transcript = decode(body);
        assert_eq!(transcript.framing(), Some(framing), "{body}");
        assert_eq!(transcript.errors()[0].kind(), kind, "{body}");
        assert_eq!(transcript.outcome(), outcome, "{body}");
    }
}

#[test]
fn every_format_has_its_row_on_the_page_of_providers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/providers.md");
    let page = std::fs::read_to_string(path).unwrap();
    for &wire in ApiFormat::ALL {
        assert!(page.contains(&format!("\n| `{wire}` | ")), "{wire}");
        assert_eq!(ApiFormat::from_code(wire.code()), Some(wire));
    }
    assert!(ApiFormat::ALL.is_sorted_by_key(|wire| wire.code()));
}

#[test]
fn an_html_page_inside_a_stream_is_reported() {
    let body =
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n<html>\n<h1>502</h1>\n</html>\n";
    let transcript = decode(body);
    assert_eq!(transcript.errors()[0].kind(), ErrorKind::NotAStream);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("a", StreamOutcome::Error));
}

#[test]
fn an_empty_body_is_cut() {
    for body in ["", "\n\n", ": ping\n\n", "event: ping\ndata: {\"type\":\"ping\"}\n\n"] {
        assert_eq!(decode(body).outcome(), StreamOutcome::Cut, "{body:?}");
    }
}

#[test]
fn the_format_is_detected_from_the_first_payload_that_matches() {
    let body = ": x\n\ndata:\n\ndata: null\n\ndata: {\"id\":\"\"}\n\ndata: {\"choices\":[]}\n\ndata: [DONE]\n\n";
    let transcript = decode(body);
    assert_eq!(transcript.format(), Some(ApiFormat::OpenAiChat));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn options_of_the_caller_override_detection() {
    let options =
        WireOptions::new().with_framing(Framing::Ndjson).with_format(ApiFormat::OpenAiChat);
    let body = "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n";
    let transcript = decode_with(&options, body);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("a", StreamOutcome::Complete));
}

#[test]
fn the_content_type_breaks_ties_and_nothing_else() {
    let event = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let words = format!("busy, please wait\n\n{event}");
    let one = "{\"message\":{\"content\":\"a\"},\"done\":true}\n";
    let detect = |body: &str, content_type: &str| {
        let options = WireOptions::new().with_content_type(content_type);
        let transcript = decode_with(&options, body);
        (transcript.framing(), transcript.text())
    };
    let a = || "a".to_owned();
    assert_eq!(detect(&words, "Text/Event-Stream;charset=UTF-8"), (Some(Framing::Sse), a()));
    assert_eq!(detect(&words, "text/plain"), (Some(Framing::Text), String::new()));
    assert_eq!(detect(one, "application/x-ndjson"), (Some(Framing::Ndjson), a()));
    assert_eq!(detect(one, "application/json"), (Some(Framing::Json), a()));
    // If the bytes determine the framing, they decide.
    for content_type in ["application/json", "application/x-ndjson", "text/html", ""] {
        assert_eq!(detect(event, content_type), (Some(Framing::Sse), a()), "{content_type}");
        assert_eq!(detect("<p>", content_type).0, Some(Framing::Html));
    }
    assert_eq!(detect(one, "text/event-stream"), (Some(Framing::Json), a()));
}

#[test]
fn chunks_one_a_line_are_read_without_server_sent_events() {
    let body = "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n{\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n";
    let transcript = decode(body);
    assert_eq!(transcript.framing(), Some(Framing::Ndjson));
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("ab", StreamOutcome::Complete));
}

#[test]
fn an_event_past_its_bound_is_an_overflow_and_the_rest_is_read() {
    let limits = WireLimits::new().with_sse(SseLimits::new().with_line(80));
    let body = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\ndata: {{\"choices\":[{{\"delta\":{{\"content\":\"b\"}}}}]}}\n\ndata: [DONE]\n\n",
        "a".repeat(100)
    );
    let transcript = decode_with(&WireOptions::new().with_limits(limits), &body);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("b", StreamOutcome::Overflow));
}

#[test]
fn no_bytes_make_it_panic() {
    let mut seed = 7_u32;
    let alphabet: Vec<u8> = b"data: {}[]\"\\:,\n\r\0<\xef\xbb\xbf\xffeventchoicsdltyp1-.u".to_vec();
    for _ in 0..2000 {
        let body: Vec<u8> = (0..60)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                alphabet[(seed >> 16) as usize % alphabet.len()]
            })
            .collect();
        let whole = wiremend_wire::transcribe(&body, WireOptions::new());
        let mut decoder = wiremend_wire::Decoder::new(WireOptions::new());
        let mut pieces = wiremend_wire::Transcript::new();
        for byte in &body {
            decoder.push(std::slice::from_ref(byte), &mut |event| pieces.record(&event));
        }
        decoder.finish(&mut |event| pieces.record(&event));
        assert_eq!(whole, pieces, "{:?}", String::from_utf8_lossy(&body));
    }
}

#[test]
fn a_body_that_is_cut_off_in_the_name_of_a_field_is_no_error() {
    let call = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\
                \"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\": 1}\"}}]}}]}\n\n";
    let finish =
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
    for part in ["d", "da", "dat", "e", "id", "retr"] {
        let cut = decode(&format!("{call}{part}"));
        assert_eq!(cut.outcome(), StreamOutcome::Cut, "{part}");
        let whole = decode(&format!("{call}{finish}{part}"));
        assert_eq!(whole.outcome(), StreamOutcome::Complete, "{part}");
    }
}

// Response bodies that were not streamed, mended in place.

/// The repaired body, and the outcomes of its calls.
fn mended(body: &str, options: WireOptions) -> (String, Vec<Outcome>) {
    let mended = mend_body(body.as_bytes(), options);
    let outcomes = mended.transcript().calls().iter().map(|call| call.outcome()).collect();
    assert_eq!(mended.is_changed(), mended.body() != body.as_bytes());
    (String::from_utf8(mended.into_body().into_owned()).unwrap(), outcomes)
}

#[test]
fn only_the_strings_of_broken_arguments_are_replaced() {
    for (body, broken, whole) in [
        (
            "\u{feff} {\"choices\":[{\"index\":0,\"message\":{\"content\":\"{'x'}\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"n\\\": 1e400}\"}},{\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":@}}]},\"finish_reason\":\"tool_calls\"}],  \"x\": [1.10]}\n",
            r#""{'a': \"\u00e9\",}""#,
            r#""{\"a\": \"é\"}""#,
        ),
        (
            r#"{"object":"response","status":"completed","output":[{"type":"custom_tool_call","call_id":"s","name":"sh","input":"{'a'"},{"type":"function_call","call_id":"c","name":"f","arguments":@}]}"#,
            r#""{a: 'b'}""#,
            r#""{\"a\": \"b\"}""#,
        ),
        (
            r#"{"finish_reason":"TOOL_CALL","message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":@}}]}}"#,
            r#""{\"a\":1,}""#,
            r#""{\"a\":1}""#,
        ),
        (
            r#"[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":@}},{"functionCall":{"name":"g","args":{}}}]},"finishReason":"STOP"}]}]"#,
            r#""{'a':1}""#,
            r#""{\"a\":1}""#,
        ),
        (
            r#"{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":@}],"stop_reason":"tool_use"}"#,
            r#""{'a':1}""#,
            r#""{\"a\":1}""#,
        ),
    ] {
        let (out, outcomes) = mended(&body.replace('@', broken), WireOptions::new());
        assert_eq!(out, body.replace('@', whole));
        assert!(outcomes.iter().all(|outcome| outcome.is_complete()), "{outcomes:?}");
        // The output is unchanged when it is processed again.
        assert_eq!(mended(&out, WireOptions::new()).0, out);
    }
}

#[test]
fn cut_arguments_stay_under_every_policy() {
    let body = |arguments: &str| {
        format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"a","function":{{"name":"f","arguments":{arguments}}}}}]}},"finish_reason":"length"}}]}}"#
        )
    };
    let cut = body(r#""{'a': [1""#);
    assert_eq!(mended(&cut, WireOptions::new()), (cut.clone(), vec![Outcome::Cut]));
    let closing =
        WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE));
    assert_eq!(mended(&cut, closing), (cut, vec![Outcome::Closed]));
    let strict = WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT));
    let broken = body(r#""{'a': 1}""#);
    assert_eq!(mended(&broken, strict).0, broken);
}

#[test]
fn empty_arguments_become_an_object_beside_others_that_are_repaired() {
    let body = |arguments: &str, other: &str, reason: &str| {
        format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"a","function":{{{arguments}"name":"f"}}}},{{"id":"b","function":{{"name":"g","arguments":"{other}"}}}}]}},"finish_reason":"{reason}"}}]}}"#
        )
    };
    let object = r#""arguments":"{}","#;
    for arguments in
        ["", r#""arguments":"","#, r#""arguments":null,"#, r#""arguments":" ","#, object]
    {
        let (out, outcomes) = mended(&body(arguments, "{'x':1}", "tool_calls"), WireOptions::new());
        assert_eq!(out, body(object, r#"{\"x\":1}"#, "tool_calls"));
        assert_eq!(outcomes, [Outcome::Unchanged, Outcome::Repaired]);
        // A limit may have cut them off.
        let cut = body(arguments, r#"{\"x\":1}"#, "length");
        assert_eq!(mended(&cut, WireOptions::new()).0, cut);
    }
}

#[test]
fn other_bodies_are_unchanged() {
    for (body, outcome) in [
        ("", StreamOutcome::Cut),
        ("<html>", StreamOutcome::Error),
        ("{\"error\":{\"message\":\"m\"}}", StreamOutcome::Error),
        ("{\"a\":1}", StreamOutcome::Unrecognised),
        ("{\"choices\":[{\"mess", StreamOutcome::Cut),
        (
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{'a':1}\"}}]},\"finish_reason\":\"stop\"}]}\n\n",
            StreamOutcome::Complete,
        ),
    ] {
        let mended = mend_body(body.as_bytes(), WireOptions::new());
        assert_eq!(mended.body(), body.as_bytes());
        assert_eq!(mended.transcript().outcome(), outcome, "{body}");
    }
    assert_eq!(mend_body(b"{\"choices\":\xff}", WireOptions::new()).body(), b"{\"choices\":\xff}");
}
