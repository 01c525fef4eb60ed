//! Entries 1 to 26: framings and bytes.

use wiremend_wire::{
    ApiFormat, Decoder, ErrorKind, Framing, Transcript, WireLimits, WireOptions,
    eventstream::{Header, HeaderValue, encode},
    sse::SseLimits,
    transcribe,
};

use super::{chunk, end, is, outcome, result, text_delta, turn};
use crate::support::{decode, decode_bytes};

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
