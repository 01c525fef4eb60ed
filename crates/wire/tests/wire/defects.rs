//! Defects of real streams: one test per entry of `docs/providers.md`, named by its number.

use wiremend_core::{MendOptions, Policy};
use wiremend_wire::{
    ApiFormat, Decoder, ErrorKind, FinishReason, Framing, Transcript, WireEvent, WireLimits,
    WireOptions,
    eventstream::{Header, HeaderValue, encode},
    sse::SseLimits,
    transcribe,
};

use crate::support::{call, calls, decode, decode_bytes, lines, named, sse};

/// A chunk of chat completions with one delta.
fn chunk(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
}

/// A chunk with a text delta.
fn text_delta(text: &str) -> String {
    chunk(&format!("{{\"content\":{text:?}}}"))
}

/// A chunk with entries of tool calls.
fn tools(entries: &str) -> String {
    chunk(&format!("{{\"tool_calls\":[{entries}]}}"))
}

/// The end of a choice, and of the stream.
fn end(reason: &str) -> String {
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\ndata: [DONE]\n\n"
    )
}

/// A turn with one call whose arguments arrive in those pieces.
fn turn(pieces: &[&str]) -> String {
    let mut body = tools(r#"{"index":0,"id":"c","function":{"name":"f","arguments":""}}"#);
    for piece in pieces {
        let text = serde_json::Value::from(*piece);
        body += &tools(&format!(r#"{{"index":0,"function":{{"arguments":{text}}}}}"#));
    }
    body + &end("tool_calls")
}

/// The arguments and the outcome of the only call of such a turn.
fn outcome(pieces: &[&str]) -> (String, &'static str) {
    let transcript = decode(&turn(pieces));
    let calls = transcript.calls();
    assert_eq!(calls.len(), 1, "{pieces:?}");
    (calls[0].arguments().to_owned(), calls[0].outcome().code())
}

/// An expected pair.
fn is(arguments: &str, outcome: &'static str) -> (String, &'static str) {
    (arguments.to_owned(), outcome)
}

/// The text, and how the stream ended.
fn result(transcript: &Transcript) -> (String, &'static str) {
    (transcript.text(), transcript.outcome().code())
}

// Entries 1 to 26: framings and bytes.

/// Decodes in pieces of one size.
fn in_pieces(body: &[u8], size: usize) -> Transcript {
    let mut decoder = Decoder::new(WireOptions::new());
    let mut transcript = Transcript::new();
    for piece in body.chunks(size) {
        decoder.push(piece, &mut |event| transcript.record(&event));
    }
    decoder.finish(&mut |event| transcript.record(&event));
    transcript
}

#[test]
fn d01_characters_divided_by_the_network_are_joined() {
    assert_eq!(result(&decode(&(text_delta("aé北😀") + &end("stop")))), is("aé北😀", "complete"));
}

#[test]
fn d02_characters_divided_inside_arguments_are_joined() {
    assert_eq!(outcome(&["{\"city\": \"北", "京😀\"}"]), is("{\"city\": \"北京😀\"}", "unchanged"));
}

#[test]
fn d03_pieces_of_every_size_give_the_same_characters() {
    let body = text_delta("北京😀é") + &end("stop");
    for size in 1..=5 {
        assert_eq!(result(&in_pieces(body.as_bytes(), size)), is("北京😀é", "complete"));
    }
}

#[test]
fn d04_a_divided_crlf_is_one_line_end() {
    let body = (text_delta("a") + &text_delta("b") + &end("stop")).replace('\n', "\r\n");
    assert_eq!(result(&decode(&body)), is("ab", "complete"));
}

#[test]
fn d05_every_kind_of_line_end_is_accepted() {
    let body = text_delta("a") + &text_delta("b") + &end("stop");
    for line_end in ["\n", "\r\n", "\r"] {
        assert_eq!(result(&decode(&body.replace('\n', line_end))), is("ab", "complete"));
    }
}

#[test]
fn d06_a_bare_carriage_return_ends_a_line() {
    let body = text_delta("a").replace("\n\n", "\r\r\n") + &end("stop");
    assert_eq!(result(&decode(&body)), is("a", "complete"));
}

#[test]
fn d07_an_event_divided_inside_a_line_is_one_event() {
    let body = text_delta("a") + &text_delta("b") + &end("stop");
    let cut = body.len() / 3;
    let mut decoder = Decoder::new(WireOptions::new());
    let mut transcript = Transcript::new();
    for piece in [&body[..cut], &body[cut..]] {
        decoder.push(piece.as_bytes(), &mut |event| transcript.record(&event));
    }
    decoder.finish(&mut |event| transcript.record(&event));
    assert_eq!(result(&transcript), is("ab", "complete"));
}

#[test]
fn d08_the_last_event_counts_without_its_blank_line() {
    for tail in ["", "\n"] {
        let body = text_delta("a")
            + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
            + tail;
        assert_eq!(result(&decode(&body)), is("a", "complete"));
        assert_eq!(
            result(&decode(&(text_delta("a") + "data: [DONE]" + tail))),
            is("a", "complete")
        );
    }
}

#[test]
fn d09_the_space_after_the_colon_is_optional() {
    let body = (text_delta("a") + &end("stop")).replace("data: ", "data:");
    assert_eq!(result(&decode(&body)), is("a", "complete"));
}

#[test]
fn d10_data_on_several_lines_is_one_payload() {
    let body =
        "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\ndata: \"a\"}}]}\n\n".to_owned();
    assert_eq!(result(&decode(&(body + &end("stop")))), is("a", "complete"));
}

#[test]
fn d11_a_byte_order_mark_is_skipped() {
    let body = "\u{feff}".to_owned() + &text_delta("a") + &end("stop");
    assert_eq!(result(&decode(&body)), is("a", "complete"));
}

#[test]
fn d12_comments_keep_the_connection_alive() {
    let body =
        ": ping\n\n:\n\n: ping - now\n".to_owned() + &text_delta("a") + ":\n\n" + &end("stop");
    assert_eq!(result(&decode(&body)), is("a", "complete"));
}

#[test]
fn d13_a_comment_and_a_blank_line_are_not_an_event() {
    let transcript = decode(&(text_delta("a") + ": ping\n\n\n\nevent: ping\n\n" + &end("stop")));
    assert_eq!(result(&transcript), is("a", "complete"));
    assert!(transcript.errors().is_empty());
}

#[test]
fn d14_keep_alive_signals_in_place_of_data_are_not_data() {
    let signs = "data: : keepalive\n\ndata: \"\"\n\ndata:\n\n";
    let transcript = decode(&(signs.to_owned() + &text_delta("a") + signs + &end("stop")));
    assert_eq!(result(&transcript), is("a", "complete"));
    assert!(transcript.errors().is_empty());
}

#[test]
fn d15_null_is_not_data() {
    let body = text_delta("a") + "data: null\n\n" + &text_delta("b") + &end("stop");
    assert_eq!(result(&decode(&body)), is("ab", "complete"));
}

#[test]
fn d16_only_lines_beyond_the_limit_are_lost() {
    let long = "x".repeat(900 << 10);
    let body = text_delta("a") + &text_delta(&long) + &end("stop");
    for size in [1 << 12, usize::MAX] {
        assert_eq!(in_pieces(body.as_bytes(), size).text().len(), long.len() + 1);
    }
    let limits = WireLimits::new().with_sse(SseLimits::new().with_line(1 << 10));
    let transcript = transcribe(
        (text_delta("a") + &text_delta(&long) + &text_delta("b") + &end("stop")).as_bytes(),
        WireOptions::new().with_limits(limits),
    );
    assert_eq!(result(&transcript), is("ab", "overflow"));
}

#[test]
fn d17_the_first_bytes_decide_the_framing_despite_a_wrong_header() {
    let events = text_delta("a") + &end("stop");
    assert_eq!(decode(&events).framing(), Some(Framing::Sse));
    // Events where binary frames are expected.
    let named = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let transcript = decode(named);
    assert_eq!(
        (transcript.framing(), transcript.format()),
        (Some(Framing::Sse), Some(ApiFormat::Anthropic))
    );
    assert_eq!(decode("{\"error\":\"m\"}").framing(), Some(Framing::Json));
}

#[test]
fn d18_a_page_of_html_is_reported() {
    for body in
        ["<!DOCTYPE html>\n<p>502</p>".to_owned(), text_delta("a") + "<html><p>502</p></html>\n"]
    {
        let transcript = decode(&body);
        assert_eq!(transcript.errors()[0].kind(), ErrorKind::NotAStream);
        assert!(transcript.errors()[0].message().contains("502"));
        assert_eq!(transcript.outcome().code(), "error");
    }
}

#[test]
fn d19_an_error_without_a_field_name_is_reported() {
    let body = text_delta("a") + "{\"error\": {\n  \"message\": \"gone\"\n}}\n\n";
    let transcript = decode(&body);
    assert_eq!(result(&transcript), is("a", "error"));
    assert_eq!(transcript.errors()[0].message(), "gone");
}

#[test]
fn d20_an_error_in_an_error_field_is_reported() {
    let transcript =
        decode(&(text_delta("a") + "error: {\"code\":500,\"message\":\"no slot\"}\n\n"));
    assert_eq!(result(&transcript), is("a", "error"));
    assert_eq!(transcript.errors()[0].code(), Some("500"));
}

#[test]
fn d21_an_error_in_words_is_reported() {
    let transcript = decode(&(text_delta("a") + "data: error: out of memory\n\n"));
    assert_eq!(transcript.errors()[0].message(), "error: out of memory");
    assert_eq!(transcript.errors()[0].kind(), ErrorKind::Provider);
}

#[test]
fn d22_unicode_line_separators_do_not_end_a_line() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}e";
    let payload = serde_json::json!({ "content": text }).to_string();
    assert!(payload.contains('\u{2028}'));
    assert_eq!(result(&decode(&(chunk(&payload) + &end("stop")))), is(text, "complete"));
}

#[test]
fn d23_a_field_name_inside_text_is_text() {
    let text = "say data: x\n\ndata: [DONE]\n\n";
    assert_eq!(result(&decode(&(text_delta(text) + &end("stop")))), is(text, "complete"));
}

fn message(payload: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let headers = [
        Header::new(":event-type", HeaderValue::Str("contentBlockDelta")),
        Header::new(":message-type", HeaderValue::Str("event")),
    ];
    encode(&headers, payload.as_bytes(), &mut out).unwrap();
    out
}

#[test]
fn d24_a_damaged_binary_frame_is_reported() {
    let text = message(r#"{"contentBlockIndex":0,"delta":{"text":"a"}}"#);
    let stop = message(r#"{"messageStop":{"stopReason":"end_turn"}}"#);
    let half = [text.clone(), stop[..stop.len() - 3].to_vec()].concat();
    assert_eq!(result(&decode_bytes(&WireOptions::new(), &half)), is("a", "cut"));
    let mut wrong = [text.clone(), text].concat();
    let last = wrong.len() - 10;
    wrong[last] ^= 1;
    let transcript = decode_bytes(&WireOptions::new(), &wrong);
    assert_eq!(result(&transcript), is("a", "error"));
    assert!(transcript.errors()[0].message().contains("checksum"));
}

#[test]
fn d25_a_body_without_its_end_mark_is_cut() {
    assert_eq!(result(&decode(&text_delta("a"))), is("a", "cut"));
    let transcript = decode(&turn(&["{\"a\": 1, \"b\": \"x"])[..300]);
    assert_eq!(transcript.outcome().code(), "cut");
    assert_eq!(transcript.calls()[0].outcome().code(), "cut");
}

#[test]
fn d26_two_values_on_one_line_are_two_payloads() {
    let one = text_delta("a");
    let two = text_delta("b");
    let line = format!("{}{}", one.trim_end(), &two["data: ".len()..]);
    assert_eq!(result(&decode(&(line + &end("stop")))), is("ab", "complete"));
    let lines = "{\"response\":\"a\",\"done\":false}{\"response\":\"b\",\"done\":true}\n";
    assert_eq!(result(&decode(lines)), is("ab", "complete"));
}

// Entries 27 to 33: errors inside a response whose HTTP status was a success.

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

// Entries 34 to 40: envelopes.

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

// Entries 41 to 50: which call a piece belongs to.

/// A turn with those entries, one per chunk.
fn calls_of(entries: &[&str]) -> Transcript {
    let chunks: String = entries.iter().map(|entry| tools(entry)).collect();
    decode(&(chunks + &end("tool_calls")))
}

fn two(first: &str, second: &str) -> [(String, String, &'static str); 2] {
    [call("f", first, "unchanged"), call("g", second, "unchanged")]
}

#[test]
fn d41_the_index_may_be_missing() {
    let seen = calls_of(&[
        r#"{"id":"a","function":{"name":"f","arguments":"{\"n\""}}"#,
        r#"{"function":{"arguments":":1}"}}"#,
        r#"{"id":"b","function":{"name":"g","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&seen), two("{\"n\":1}", "{}"));
}

#[test]
fn d42_the_index_may_be_null() {
    let seen = calls_of(&[
        r#"{"index":null,"id":"a","function":{"name":"f","arguments":"{\"n\""}}"#,
        r#"{"index":null,"function":{"arguments":":1}"}}"#,
        r#"{"index":null,"id":"b","function":{"name":"g","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&seen), two("{\"n\":1}", "{}"));
}

#[test]
fn d43_the_index_may_be_0_for_every_call() {
    let seen = calls_of(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&seen), two("{\"n\":1}", "{}"));
    let body = lines(&[
        r#"{"message":{"content":"","tool_calls":[{"function":{"index":0,"name":"f","arguments":{"n":1}}},{"function":{"index":0,"name":"g","arguments":{}}}]},"done":true}"#,
    ]);
    assert_eq!(calls(&decode(&body)), two("{\"n\":1}", "{}"));
}

#[test]
fn broken_arguments_end_where_mending_ends_them() {
    for (first, mended) in [
        (r#"{'n': '5\"'}"#, r#"{"n": "5\""}"#),
        (r#"{\"n\": \"a 5\" disk\"}"#, r#"{"n": "a 5\" disk"}"#),
        (r#"It is: \"{\"n\": 1,}"#, r#"{"n": 1}"#),
    ] {
        let seen = calls_of(&[
            &format!(r#"{{"index":0,"function":{{"name":"f","arguments":"{first}"}}}}"#),
            r#"{"index":0,"function":{"name":"f","arguments":"{\"n\":2}"}}"#,
        ]);
        let second = call("f", "{\"n\":2}", "unchanged");
        assert_eq!(calls(&seen), [call("f", mended, "repaired"), second], "{first}");
    }
}

#[test]
fn d44_the_index_is_a_name_and_not_a_position() {
    for (first, second) in [(1, 2), (7, 3), (-1, 0), (0, 40_000)] {
        let seen = calls_of(&[
            &format!(
                r#"{{"index":{first},"id":"a","function":{{"name":"f","arguments":"{{\"n\""}}}}"#
            ),
            &format!(r#"{{"index":{first},"function":{{"arguments":":1}}"}}}}"#),
            &format!(
                r#"{{"index":{second},"id":"b","function":{{"name":"g","arguments":"{{}}"}}}}"#
            ),
        ]);
        assert_eq!(calls(&seen), two("{\"n\":1}", "{}"), "{first}, {second}");
    }
}

#[test]
fn d45_one_index_twice_in_one_chunk_is_two_calls() {
    let seen = calls_of(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}},{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&seen), two("{\"n\":1}", "{}"));
}

#[test]
fn d46_fragments_of_parallel_calls_go_to_their_calls() {
    let seen = calls_of(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\""}},{"index":1,"id":"b","function":{"name":"g","arguments":"{\"m\""}}"#,
        r#"{"index":1,"function":{"arguments":":"}},{"index":0,"function":{"arguments":":"}}"#,
        r#"{"index":0,"function":{"arguments":"1}"}}"#,
        r#"{"index":1,"function":{"arguments":"2}"}}"#,
    ]);
    assert_eq!(calls(&seen), two("{\"n\":1}", "{\"m\":2}"));
}

#[test]
fn d47_the_id_may_be_missing_or_empty_later() {
    for id in ["", r#""id":"","#, r#""id":null,"#] {
        let seen = calls_of(&[
            &format!(r#"{{"index":0,{id}"function":{{"name":"f","arguments":"{{\"n\""}}}}"#),
            &format!(r#"{{"index":0,{id}"function":{{"arguments":":1}}"}}}}"#),
            &format!(r#"{{"index":1,{id}"function":{{"name":"g","arguments":"{{}}"}}}}"#),
        ]);
        assert_eq!(calls(&seen), two("{\"n\":1}", "{}"), "{id}");
        assert_eq!(seen.calls()[0].id(), None);
    }
    let seen = calls_of(&[
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\""}}"#,
        r#"{"index":0,"id":"","function":{"arguments":":1}"}}"#,
    ]);
    assert_eq!((seen.calls().len(), seen.calls()[0].id()), (1, Some("a")));
}

#[test]
fn d48_id_and_name_may_come_in_different_deltas() {
    for (first, second) in [
        (r#""id":"a""#, r#""function":{"name":"f"}"#),
        (r#""function":{"name":"f"}"#, r#""id":"a""#),
    ] {
        let seen = calls_of(&[
            &format!("{{\"index\":0,{first}}}"),
            &format!("{{\"index\":0,{second}}}"),
            r#"{"index":0,"function":{"arguments":"{}"}}"#,
        ]);
        assert_eq!(calls(&seen), [call("f", "{}", "unchanged")], "{first}");
        assert_eq!(seen.calls()[0].id(), Some("a"), "{first}");
    }
}

#[test]
fn d49_an_id_in_every_delta_is_neither_a_new_call_nor_a_longer_id() {
    for later in ["a", "z"] {
        let seen = calls_of(&[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\""}}"#,
            &format!(r#"{{"index":0,"id":"{later}","function":{{"arguments":":"}}}}"#),
            &format!(r#"{{"index":0,"id":"{later}","function":{{"arguments":"1}}"}}}}"#),
        ]);
        assert_eq!(calls(&seen), [call("f", "{\"n\":1}", "unchanged")], "{later}");
        assert_eq!(seen.calls()[0].id(), Some("a"), "{later}");
    }
}

#[test]
fn d50_a_name_may_be_repeated_split_or_null() {
    let repeated = calls_of(&[
        r#"{"index":0,"id":"a","function":{"name":"read_file","arguments":"{\"n\""}}"#,
        r#"{"index":0,"id":"a","function":{"name":"read_file","arguments":":1}"}}"#,
        r#"{"index":0,"function":{"name":null,"arguments":null}}"#,
    ]);
    assert_eq!(calls(&repeated), [call("read_file", "{\"n\":1}", "unchanged")]);
    let split = calls_of(&[
        r#"{"index":0,"id":"a","function":{"name":"read_"}}"#,
        r#"{"index":0,"function":{"name":"file"}}"#,
        r#"{"index":0,"function":{"arguments":"{}"}}"#,
    ]);
    assert_eq!(calls(&split), [call("read_file", "{}", "unchanged")]);
}

// Entries 51 to 70: the text of arguments, and what is around it.

#[test]
fn d51_text_repeated_with_each_piece_counts_once() {
    let pieces = ["{\"a\"", "{\"a\": 1", "{\"a\": 1, \"b\": 2", "{\"a\": 1, \"b\": 2}"];
    assert_eq!(outcome(&pieces), is("{\"a\": 1, \"b\": 2}", "unchanged"));
    let same = ["{\"a\": 1}"; 3];
    assert_eq!(outcome(&same), is("{\"a\": 1}", "unchanged"));
}

#[test]
fn d52_text_repeated_after_its_pieces_counts_once() {
    assert_eq!(outcome(&["{\"a\":", " 1}", "{\"a\": 1}"]), is("{\"a\": 1}", "unchanged"));
    // The first piece twice, followed by the rest: the concatenation is valid, so it wins.
    let twice = decode(&turn(&["{\"a\": {\"a\": ", "1}}"]));
    assert_eq!(calls(&twice), [call("f", "{\"a\": {\"a\": 1}}", "unchanged")]);
}

#[test]
fn d53_an_empty_object_before_the_real_one_is_dropped() {
    assert_eq!(outcome(&["{}", "{\"a\":", "1}"]), is("{\"a\":1}", "unchanged"));
    assert_eq!(outcome(&["{}{\"a\":1}"]), is("{\"a\":1}", "unchanged"));
}

#[test]
fn d54_no_arguments_are_an_empty_object() {
    assert_eq!(outcome(&[]), is("{}", "unchanged"));
    assert_eq!(outcome(&["", ""]), is("{}", "unchanged"));
    let null = tools(r#"{"index":0,"id":"c","function":{"name":"f","arguments":null}}"#);
    assert_eq!(calls(&decode(&(null + &end("tool_calls")))), [call("f", "{}", "unchanged")]);
    let body = named(&[
        (
            "content_block_start",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
        ),
        (
            "content_block_delta",
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        ),
        ("content_block_stop", r#"{"type":"content_block_stop","index":0}"#),
        ("message_delta", r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#),
        ("message_stop", r#"{"type":"message_stop"}"#),
    ]);
    assert_eq!(calls(&decode(&body)), [call("f", "{}", "unchanged")]);
}

#[test]
fn d55_an_object_in_place_of_a_text_and_the_reverse_are_read() {
    let object = tools(r#"{"index":0,"id":"c","function":{"name":"f","arguments":{"n": 1.10}}}"#);
    let seen = decode(&(object + &end("tool_calls")));
    assert_eq!(calls(&seen), [call("f", "{\"n\": 1.10}", "unchanged")]);
    let text = lines(&[
        r#"{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{'n':1}"}}]},"done":true}"#,
    ]);
    assert_eq!(calls(&decode(&text)), [call("f", "{\"n\":1}", "repaired")]);
    let args = sse(&[
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":"{\"n\":1}"}}]},"finishReason":"STOP"}]}"#,
    ]);
    assert_eq!(calls(&decode(&args)), [call("f", "{\"n\":1}", "unchanged")]);
}

#[test]
fn d56_arguments_cut_off_by_a_limit_are_never_complete() {
    let entry =
        r#"{"index":0,"id":"c","function":{"name":"f","arguments":"{'path': '/srv', 'mode"}}"#;
    let body = tools(entry) + &end("length");
    assert_eq!(decode(&body).calls()[0].outcome().code(), "cut");
    let closing =
        WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE));
    let transcript = wiremend_wire::transcribe(body.as_bytes(), closing);
    let outcome = transcript.calls()[0].outcome();
    assert_eq!((outcome.code(), outcome.is_complete()), ("closed", false));
}

#[test]
fn d57_a_call_without_its_last_bracket_is_not_complete() {
    assert_eq!(outcome(&["{\"a\": [1, 2]"]), is("{\"a\": [1, 2]", "cut"));
    assert_eq!(outcome(&["{\"a\": {\"b\": \"c\"}"]), is("{\"a\": {\"b\": \"c\"}", "cut"));
}

#[test]
fn d58_arguments_without_their_beginning_are_refused() {
    let seen = decode(&turn(&["code\": \"upt", "ime\"}"]));
    assert_eq!(seen.calls()[0].raw(), "code\": \"uptime\"}");
    assert!(!seen.calls()[0].outcome().is_complete());
}

#[test]
fn d59_raw_control_characters_are_escaped() {
    let (arguments, outcome) = outcome(&["{\"code\": \"a\nb\tc", "\u{8}d\"}"]);
    assert_eq!(outcome, "repaired");
    let value: serde_json::Value = serde_json::from_str(&arguments).unwrap();
    assert_eq!(value["code"], "a\nb\tc\u{8}d");
}

#[test]
fn d60_invalid_escapes_keep_their_backslash() {
    let (arguments, outcome) = outcome(&["{\"re\": \"\\d+\", \"at\": \"C:\\", "users\"}"]);
    assert_eq!(outcome, "repaired");
    let value: serde_json::Value = serde_json::from_str(&arguments).unwrap();
    assert_eq!((&value["re"], &value["at"]), (&"\\d+".into(), &"C:\\users".into()));
}

#[test]
fn d61_bare_words_and_half_quoted_ones_are_quoted() {
    let mended = is("{\"who\": \"Dave\", \"n\": 1}", "repaired");
    assert_eq!(outcome(&["{\"who\": Da", "ve, \"n\": 1}"]), mended);
    assert_eq!(
        outcome(&["{\"action\": list_windows\"}"]),
        is("{\"action\": \"list_windows\"}", "repaired")
    );
    assert_eq!(outcome(&["{\"n\":?}"]), is("{\"n\":\"?\"}", "repaired"));
}

#[test]
fn d62_special_tokens_after_the_value_are_dropped_or_the_call_is_refused() {
    for token in ["<|call|>", "<|endoftext|>", "</tool_call>", "</s>"] {
        assert_eq!(outcome(&["{\"a\": 1}", token]), is("{\"a\": 1}", "repaired"), "{token}");
    }
    // This one looks like another document, and nothing shows that it is not.
    assert_eq!(outcome(&["{\"a\": 1}", "[ARGS]"]).1, "invalid");
}

#[test]
fn d63_literals_of_python_become_json() {
    let mended = is("{\"a\": true, \"b\": null, \"c\": \"it's\"}", "repaired");
    assert_eq!(outcome(&["{'a': Tr", "ue, 'b': None, 'c': \"it's\"}"]), mended);
}

#[test]
fn d64_json_inside_a_string_is_a_string() {
    let text = "{\"items\": \"[{\\\"id\\\": 1}]\"}";
    assert_eq!(outcome(&[text]), is(text, "unchanged"));
}

#[test]
fn d65_prose_and_white_space_after_the_value_are_accepted() {
    assert_eq!(outcome(&["{\"a\": 1}", "\n\nNow I wait."]), is("{\"a\": 1}", "repaired"));
    let blank = " \n".repeat(50);
    let (arguments, outcome) = outcome(&["{\"a\": 1}", &blank, &blank]);
    assert_eq!((arguments.trim(), outcome), ("{\"a\": 1}", "unchanged"));
}

#[test]
fn d66_an_envelope_with_nan_or_infinity_is_mended() {
    let odd = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"logprobs\":{\"content\":[{\"logprob\":-Infinity},{\"logprob\":NaN}]}}]}\n\n";
    assert_eq!(result(&decode(&(odd.to_owned() + &end("stop")))), is("a", "complete"));
}

#[test]
fn d67_half_a_character_is_joined_with_the_next_delta() {
    let body =
        chunk(r#"{"content":"a\ud83d"}"#) + &chunk(r#"{"content":"\ude00b"}"#) + &end("stop");
    assert_eq!(result(&decode(&body)), is("a😀b", "complete"));
    let body = chunk(r#"{"reasoning_content":"\ud83d"}"#)
        + &chunk(r#"{"reasoning_content":"\ude00"}"#)
        + &chunk(r#"{"content":"x\ud83d"}"#)
        + &end("stop");
    let transcript = decode(&body);
    assert_eq!((transcript.reasoning(), transcript.text().as_str()), ("😀", "x\u{fffd}"));
    let entries = [
        r#"{"index":0,"id":"c","function":{"name":"f","arguments":"{\"e\": \"\ud83d"}}"#,
        r#"{"index":0,"function":{"arguments":"\ude00\"}"}}"#,
    ];
    let body = tools(entries[0]) + &tools(entries[1]) + &end("tool_calls");
    assert_eq!(calls(&decode(&body)), [call("f", "{\"e\": \"😀\"}", "unchanged")]);
    // Escapes inside the arguments are complete once the pieces are joined.
    assert_eq!(
        outcome(&["{\"e\": \"\\ud83d", "\\ude00\"}"]),
        is("{\"e\": \"\\ud83d\\ude00\"}", "unchanged")
    );
    // What the server lost cannot be recovered.
    assert_eq!(decode(&(text_delta("\u{fffd}\u{fffd}") + &end("stop"))).text(), "\u{fffd}\u{fffd}");
}

#[test]
fn d68_calls_that_leak_into_the_text_are_text_and_divide_no_string() {
    let leaked = "<tool_call>{\"name\": \"f\"}</tool_call>";
    let transcript = decode(&(text_delta(leaked) + &end("stop")));
    assert_eq!((transcript.text().as_str(), transcript.calls().len()), (leaked, 0));
    let text = "{\"html\": \"<p></tool_call></p>\"}";
    assert_eq!(outcome(&["{\"html\": \"<p></tool", "_call></p>\"}"]), is(text, "unchanged"));
}

#[test]
fn d69_a_call_ends_once_and_fragments_never_contradict_it() {
    let body = turn(&["{\"a\": ", "1, 'b'", ": 2}"]);
    let mut decoder = Decoder::new(WireOptions::new());
    let (mut grown, mut ended) = (Vec::new(), Vec::new());
    let mut sink = |event: WireEvent<'_>| match event {
        WireEvent::CallFragment { bytes, .. } | WireEvent::CallRaw { bytes, .. } => {
            grown.extend_from_slice(bytes);
        }
        WireEvent::CallEnded(call) => ended.push(call.arguments().to_owned()),
        _ => {}
    };
    for byte in body.as_bytes() {
        decoder.push(std::slice::from_ref(byte), &mut sink);
    }
    decoder.finish(&mut sink);
    assert_eq!(ended, ["{\"a\": 1, \"b\": 2}"]);
    assert_eq!(grown, ended[0].as_bytes());
    // Cut arguments are emitted verbatim, and marked as cut.
    let body = turn(&["{'a': 'b', 'c", "d"]).replace("data: [DONE]\n\n", "");
    let (mut mended, mut raw) = (Vec::new(), Vec::new());
    let mut decoder = Decoder::new(WireOptions::new());
    let mut sink = |event: WireEvent<'_>| match event {
        WireEvent::CallFragment { bytes, .. } => mended.extend_from_slice(bytes),
        WireEvent::CallRaw { bytes, .. } => raw.extend_from_slice(bytes),
        _ => {}
    };
    decoder.push(body.as_bytes(), &mut sink);
    decoder.finish(&mut sink);
    assert_eq!((&mended[..], &raw[..]), (&br#"{"a": "b"#[..], &b"', 'cd"[..]));
}

#[test]
fn d70_nothing_is_requested_again() {
    // The decoder has no connection: a retry time is data, and a body that ended is over.
    let body = "retry: 1\n".to_owned() + &text_delta("a") + &end("stop");
    let mut decoder = Decoder::new(WireOptions::new());
    let mut transcript = Transcript::new();
    decoder.push(body.as_bytes(), &mut |event| transcript.record(&event));
    decoder.finish(&mut |event| transcript.record(&event));
    let before = transcript.clone();
    decoder.push(body.as_bytes(), &mut |event| transcript.record(&event));
    decoder.finish(&mut |event| transcript.record(&event));
    assert_eq!(transcript, before);
    assert_eq!(result(&transcript), is("a", "complete"));
}
