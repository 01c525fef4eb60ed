//! A call that lost something, or about which the stream contradicts itself, is never complete.

use crate::support::{
    START, call, calls, decode, decode_bytes, decode_with, doubts, finish, piece, tools,
};
use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_wire::{
    ApiFormat, Decoder, Doubt, ErrorKind, FinishReason, Framing, StreamOutcome, WireEvent,
    WireLimits, WireOptions,
    eventstream::{Header, HeaderValue, encode},
    mend_arguments,
    sse::SseLimits,
};

#[test]
fn an_event_that_is_lost_leaves_the_open_call_cut() {
    for (lost, doubt) in [
        ("data: <html><body>502</body></html>\n\n", Doubt::LostEvent),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"ind\n\n",
            Doubt::LostEvent,
        ),
        ("<html>\n\n", Doubt::LostEvent),
        ("dta: {\"choices\":[]}\n\n", Doubt::LostEvent),
        ("data: {\"error\":{\"message\":\"overloaded\"}}\n\n", Doubt::StreamError),
        ("event: error\ndata: gone\n\n", Doubt::StreamError),
    ] {
        let body = [
            &tools(START),
            &piece("{\"cmd\": \"rm -rf /data"),
            lost,
            &piece("\"}"),
            &finish("tool_calls"),
        ]
        .concat();
        let transcript = decode(&body);
        assert_eq!(doubts(&transcript), [("cut", Some(doubt))], "{lost}");
        assert_eq!(transcript.calls()[0].arguments(), "{\"cmd\": \"rm -rf /data\"}");
        assert_eq!(transcript.outcome(), StreamOutcome::Error, "{lost}");
    }
}

#[test]
fn an_event_past_its_limit_leaves_the_open_call_an_overflow() {
    let long = piece(&"x".repeat(4000));
    let body =
        [tools(START).as_str(), &piece("{\"cmd\": \"rm -rf /data"), &long, &piece("\"}")].concat();
    let body = body + &finish("tool_calls");
    for limits in [SseLimits::new().with_line(2000), SseLimits::new().with_event(2000)] {
        let options = WireOptions::new().with_limits(WireLimits::new().with_sse(limits));
        let transcript = decode_with(&options, &body);
        assert_eq!(doubts(&transcript), [("overflow", Some(Doubt::Limit))]);
        assert_eq!(transcript.outcome(), StreamOutcome::Overflow);
    }
}

#[test]
fn bytes_that_are_not_text_leave_the_call_cut() {
    let body =
        [tools(START).as_str(), &piece("{\"cmd\": \"ls ÿ\"}"), &finish("tool_calls")].concat();
    let body = body.into_bytes();
    let at = body.windows(2).position(|pair| pair == "ÿ".as_bytes()).unwrap();
    let broken = [&body[..at], b"\xff", &body[at + 2..]].concat();
    let transcript = decode_bytes(&WireOptions::new(), &broken);
    assert_eq!(doubts(&transcript), [("cut", Some(Doubt::DamagedEvent))]);
}

/// An envelope that is not JSON lost something on its way, also where its repair is certain.
#[test]
fn an_envelope_that_is_not_json_leaves_the_call_cut() {
    let envelope = |text: &str| format!("data: {text}\n\n");
    for damaged in [
        // What is left of two events.
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"2"}}]},"x":null, , "x":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"role":"assistant"},"x":null,}]}"#,
        r#"{"choices":[{"index":0,lta":{"tool_calls":[{"index":0,"function":{"arguments":"2"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"argument\s":"2"}}]}}]}"#,
        "{\"choices\":[{\"index\":0,\"del\0ta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"2\"}}]}}]}",
    ] {
        let body =
            [tools(START), piece("{\"a\":1"), envelope(damaged), piece("}"), finish("tool_calls")]
                .concat();
        let transcript = decode(&body);
        assert_eq!(doubts(&transcript), [("cut", Some(Doubt::DamagedEvent))], "{damaged}");
        assert_eq!(transcript.outcome(), StreamOutcome::Lossy);
    }
    // The call begins in it, or is all there is of it.
    let start = tools(START).replace("\"index\":0,\"id\"", "\"ind\0ex\":0,\"id\"");
    let body = start + &finish("tool_calls");
    assert_eq!(doubts(&decode(&body)), [("cut", Some(Doubt::DamagedEvent))]);
    let gemini = "[{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\n\n}}]},\"finishReason\":\"STOP\"}]}]";
    assert_eq!(doubts(&decode(gemini)), [("cut", Some(Doubt::DamagedEvent))]);
    let page = "{\"is_finished\":false,\"event_type\":\"tool-calls-chunk\",\"tool_call_delta\":{\"index\":0,\"name\":\"f\",\"parameters\":\"{}\"}}\n\
        {\"is_finished\":false,\"event_type\":\"<html>\n502\n</html>\",\"tool_call_delta\":{\"index\":0,\"parameters\":\"2\"}}\n\
        {\"is_finished\":true,\"event_type\":\"stream-end\",\"finish_reason\":\"COMPLETE\"}\n";
    assert_eq!(doubts(&decode(page)), [("cut", Some(Doubt::DamagedEvent))]);
}

/// Some servers print a Python object instead of JSON. They do so in every event.
#[test]
fn envelopes_in_python_are_whole_where_the_first_one_was_python() {
    let python = |text: &str| {
        let text = text.replace("\\\"", "\u{1}").replace('"', "'").replace('\u{1}', "\"");
        text.replace("null", "None")
    };
    let json = [tools(START), piece("{\"a\": "), piece("1}"), finish("tool_calls")].concat();
    assert_eq!(calls(&decode(&python(&json))), [call("run", "{\"a\": 1}", "unchanged")]);
    let whole = python(&tools(START).replace("\"\"", "\"{}\""));
    let end = python(&finish("tool_calls"));
    assert_eq!(calls(&decode(&(whole + &end))), [call("run", "{}", "unchanged")]);
    let mixed = [tools(START), python(&piece("{}")), finish("tool_calls")].concat();
    assert_eq!(doubts(&decode(&mixed)), [("cut", Some(Doubt::DamagedEvent))]);
}

/// The server writes the object, as JSON.
#[test]
fn arguments_that_are_an_object_are_cut_where_they_are_no_json() {
    let ollama = |arguments: &str| {
        // A quote that is missing would divide the values of a sequence in another way.
        let (before, after) =
            if arguments.contains('\n') { ("", "\n") } else { ("data: ", "\n\n") };
        format!(
            "{before}{{\"message\":{{\"tool_calls\":[{{\"function\":{{\"name\":\"f\",\"arguments\":{arguments}}}}}]}},\"done\":true,\"done_reason\":\"stop\"}}{after}"
        )
    };
    for arguments in [
        "{\"path\":\"/et\r\n2ab\r\nc/x\"}",
        "{\"city\":Francisco\", \"days\": 12}",
        "{ity\":\"Oslo\", \"days\": 12}",
        "{city: 'Oslo', \"on\": True,}",
        "{\"city\" \"Oslo\"}",
        "{\"re\": \"\\d\"}",
    ] {
        let transcript = decode(&ollama(arguments));
        assert_eq!(doubts(&transcript), [("cut", Some(Doubt::DamagedEvent))], "{arguments}");
        assert_eq!(transcript.calls()[0].raw(), arguments);
    }
    let transcript = decode(&ollama("{\"on\": True}"));
    assert_eq!(calls(&transcript), [call("f", "{\"on\": true}", "repaired")]);
}

#[test]
fn a_frame_with_a_wrong_checksum_leaves_the_open_call_cut() {
    let frame = |name: &str, payload: &str| {
        let headers = [
            Header::new(":event-type", HeaderValue::Str(name)),
            Header::new(":message-type", HeaderValue::Str("event")),
        ];
        let mut out = Vec::new();
        encode(&headers, payload.as_bytes(), &mut out).unwrap();
        out
    };
    let delta = |text: &str| {
        let input = serde_json::to_string(text).unwrap();
        let delta =
            format!(r#"{{"contentBlockIndex":0,"delta":{{"toolUse":{{"input":{input}}}}}}}"#);
        frame("contentBlockDelta", &delta)
    };
    let start = r#"{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t","name":"run"}}}"#;
    let mut lost = delta("/old/cache");
    let at = lost.len() - 8;
    lost[at] ^= 1;
    let body = [
        frame("contentBlockStart", start),
        delta("{\"cmd\": \"rm -rf /data"),
        lost,
        delta("\"}"),
        frame("contentBlockStop", r#"{"contentBlockIndex":0}"#),
        frame("messageStop", r#"{"stopReason":"tool_use"}"#),
    ]
    .concat();
    let transcript = decode_bytes(&WireOptions::new(), &body);
    assert_eq!(doubts(&transcript), [("cut", Some(Doubt::LostEvent))]);
}

#[test]
fn a_call_whose_first_event_is_missing_is_cut() {
    let body = [piece("{\"a\": 1}").as_str(), &finish("tool_calls")].concat();
    assert_eq!(doubts(&decode(&body)), [("cut", Some(Doubt::MissingStart))]);
    // The server repeats the name, and the event with the first piece is lost.
    let named = |text: &str| {
        let text = serde_json::to_string(text).unwrap();
        tools(&format!(r#"{{"index":0,"id":"x","function":{{"name":"run","arguments":{text}}}}}"#))
    };
    let body = ["data: {\"choi\n\n", &named("\"b\": 2}"), &finish("tool_calls")].concat();
    assert!(!decode(&body).calls()[0].outcome().is_complete());
}

#[test]
fn deltas_that_spell_another_text_than_the_done_event_leave_the_call_cut() {
    let body = |delta: &str, done: &str| {
        let [delta, done] = [delta, done].map(|text| serde_json::to_string(text).unwrap());
        format!(
            "data: {{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"\"}}}}\n\n\
             data: {{\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":{delta}}}\n\n\
             data: {{\"type\":\"response.function_call_arguments.done\",\"output_index\":0,\"arguments\":{done}}}\n\n\
             data: {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\",\"output\":[]}}}}\n\n"
        )
    };
    for (delta, done, want) in [
        ("{\"cmd\": \"ls\"}", "{\"cmd\": \"ls\"}", ("unchanged", None)),
        ("{\"cmd\": \"ls\"}", "{\"cmd\":\"l\\u0073\"}", ("unchanged", None)),
        ("{\"cmd\": \"l", "{\"cmd\": \"ls\"}", ("unchanged", None)),
        ("{\"cmd\": \"ls\"}", "{\"cmd\": \"rm\"}", ("cut", Some(Doubt::Contradiction))),
        (
            "{\"cmd\": \"rm /data\"}",
            "{\"cmd\": \"rm /data/old\"}",
            ("cut", Some(Doubt::Contradiction)),
        ),
    ] {
        assert_eq!(doubts(&decode(&body(delta, done))), [want], "{delta} {done}");
    }
}

#[test]
fn a_gap_in_the_numbers_of_the_events_leaves_the_call_cut() {
    let body = |numbers: [u32; 5]| {
        let [a, b, c, d, e] = numbers;
        format!(
            "data: {{\"type\":\"response.output_item.added\",\"sequence_number\":{a},\"output_index\":0,\"item\":{{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"\"}}}}\n\n\
             data: {{\"type\":\"response.function_call_arguments.delta\",\"sequence_number\":{b},\"output_index\":0,\"delta\":\"{{\\\"a\\\": \\\"x\"}}\n\n\
             data: {{\"type\":\"response.function_call_arguments.delta\",\"sequence_number\":{c},\"output_index\":0,\"delta\":\"\\\"}}\"}}\n\n\
             data: {{\"type\":\"response.output_item.done\",\"sequence_number\":{d},\"output_index\":0,\"item\":{{\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":\"c\",\"name\":\"run\"}}}}\n\n\
             data: {{\"type\":\"response.completed\",\"sequence_number\":{e},\"response\":{{\"status\":\"completed\",\"output\":[]}}}}\n\n"
        )
    };
    assert_eq!(doubts(&decode(&body([4, 5, 6, 7, 8]))), [("unchanged", None)]);
    assert_eq!(doubts(&decode(&body([0; 5]))), [("unchanged", None)]);
    assert_eq!(doubts(&decode(&body([4, 5, 7, 8, 9]))), [("cut", Some(Doubt::LostEvent))]);
}

#[test]
fn an_item_that_the_provider_calls_incomplete_is_cut() {
    let body = "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"status\":\"incomplete\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"{}\"}}\n\n\
        data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n";
    assert_eq!(doubts(&decode(body)), [("cut", Some(Doubt::Incomplete))]);
}

#[test]
fn a_fence_in_two_pieces_is_no_repetition_and_an_open_fence_is_cut() {
    let body = |pieces: &[&str]| {
        let pieces: String = pieces.iter().map(|text| piece(text)).collect();
        tools(START) + &pieces + &finish("tool_calls")
    };
    let open = decode(&body(&["``", "`json\n{\"a\"", ": 1}\n"]));
    assert_eq!(doubts(&open), [("cut", Some(Doubt::OpenFence))]);
    assert_eq!(open.calls()[0].raw(), "```json\n{\"a\": 1}\n");
    let cut = decode(&body(&["`", "``json\n{\"a\": \"x"]));
    assert_eq!(
        (cut.calls()[0].outcome(), cut.calls()[0].raw()),
        (Outcome::Cut, "```json\n{\"a\": \"x")
    );
    let whole = decode(&body(&["`", "``json\n{\"a\": 1}\n``", "`"]));
    assert_eq!(calls(&whole), [call("run", "{\"a\": 1}", "repaired")]);
}

#[test]
fn arguments_that_are_an_object_are_mended_under_the_policy_of_the_calls() {
    let ollama = "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"list\",\"arguments\":{\"limit\": NaN}}}]},\"done\":true,\"done_reason\":\"stop\"}\n";
    let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"list\",\"args\":{\"limit\": NaN}}}]},\"finishReason\":\"STOP\"}]}\n\n";
    for body in [ollama, gemini] {
        let with = |policy| WireOptions::new().with_mending(MendOptions::new().with_policy(policy));
        for policy in [Policy::STRICT, Policy::CONSERVATIVE] {
            let refused = decode_with(&with(policy), body);
            let refused = refused.calls()[0];
            assert!(!refused.outcome().is_valid(), "{refused:?}");
            assert_eq!(
                (refused.raw(), refused.arguments()),
                ("{\"limit\": NaN}", "{\"limit\": NaN}")
            );
        }
        let mended = decode_with(&with(Policy::PERMISSIVE), body);
        let mended = mended.calls()[0];
        assert_eq!((mended.raw(), mended.arguments()), ("{\"limit\": NaN}", "{\"limit\": null}"));
        assert_eq!(mended.repairs().len(), 1);
        assert_eq!(mended.outcome(), Outcome::Repaired);
    }
    let harmless = "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"list\",\"arguments\":{\"limit\": 5}}}]},\"logprob\":NaN,\"done\":true,\"done_reason\":\"stop\"}\n";
    let transcript = decode(harmless);
    assert_eq!(calls(&transcript), [call("list", "{\"limit\": 5}", "unchanged")]);
}

#[test]
fn raw_fragments_are_marked_as_raw() {
    let body = [
        tools(START).as_str(),
        &piece("{\"a\": 1, \"b\": NaN, "),
        &piece("\"c\": 2}"),
        &finish("tool_calls"),
    ]
    .concat();
    let (mut mended, mut raw) = (Vec::new(), Vec::new());
    let mut decoder = Decoder::new(WireOptions::new());
    let mut take = |event: WireEvent<'_>| match event {
        WireEvent::CallFragment { bytes, .. } => mended.extend_from_slice(bytes),
        WireEvent::CallRaw { bytes, .. } => raw.extend_from_slice(bytes),
        _ => {}
    };
    for byte in body.as_bytes().chunks(1) {
        decoder.push(byte, &mut take);
    }
    decoder.finish(&mut take);
    assert_eq!(String::from_utf8_lossy(&raw), ", \"b\": NaN, \"c\": 2}");
    assert_eq!(String::from_utf8_lossy(&mended), "{\"a\": 1");
}

/// A repair with another possible reading, and a piece that may repeat the text, are announced once, before the
/// fragments that they affect.
#[test]
fn a_call_that_may_be_read_otherwise_says_so() {
    for (pieces, before) in [
        (&["{\"a\": [1, 2], ", "\"b\": 3}"][..], None),
        (&["{'a': True, ", "b: None,}"], None),
        (&["{\"a\": 1, ", "\"b\": 2 \"c\": 3 \"d\": 4}"], Some("{\"a\": 1, \"b\": 2")),
        // A key is shown with its value.
        (&["{\"a\": ", "{\"a\": 1", "}"], Some("{")),
    ] {
        let pieces: String = pieces.iter().map(|json| piece(json)).collect();
        let body = [&tools(START), &pieces, &finish("tool_calls")].map(String::as_str).concat();
        for size in [1, body.len()] {
            let (mut mended, mut unsure) = (String::new(), Vec::new());
            let mut decoder = Decoder::new(WireOptions::new());
            let mut take = |event: WireEvent<'_>| match event {
                WireEvent::CallFragment { bytes, .. } => {
                    mended.push_str(&String::from_utf8_lossy(bytes));
                }
                WireEvent::CallUnsure { call } => unsure.push((call, mended.clone())),
                _ => {}
            };
            body.as_bytes().chunks(size).for_each(|chunk| decoder.push(chunk, &mut take));
            decoder.finish(&mut take);
            let want: Vec<_> = before.map(|before| (0, before.to_owned())).into_iter().collect();
            assert_eq!(unsure, want, "{size}: {mended}");
        }
    }
}

#[test]
fn agents_of_bedrock_are_read_by_the_names_of_their_events() {
    let frame = |name: &str, payload: &str| {
        let headers = [
            Header::new(":event-type", HeaderValue::Str(name)),
            Header::new(":message-type", HeaderValue::Str("event")),
        ];
        let mut out = Vec::new();
        encode(&headers, payload.as_bytes(), &mut out).unwrap();
        out
    };
    let answer = [
        frame("output", "{\"text\":\"It is \"}"),
        frame("citation", "{\"citation\":{\"n\":1}}"),
        frame("output", "{\"text\":\"noon.\"}"),
    ]
    .concat();
    let transcript = decode_bytes(&WireOptions::new(), &answer);
    assert_eq!(transcript.framing(), Some(Framing::EventStream));
    assert_eq!(transcript.format(), Some(ApiFormat::BedrockAgent));
    assert_eq!(
        (transcript.text().as_str(), transcript.citations()),
        ("It is noon.", &["{\"n\":1}".to_owned()][..])
    );
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    // The base64 of "Hi there".
    let agent = [
        frame("trace", "{\"trace\":{}}"),
        frame("chunk", "{\"bytes\":\"SGkgdGhlcmU=\"}"),
        frame("returnControl", "{\"invocationId\":\"i1\",\"invocationInputs\":[{\"functionInvocationInput\":{\"actionGroup\":\"g\",\"function\":\"book\",\"parameters\":[{\"name\":\"city\",\"type\":\"string\",\"value\":\"12\"},{\"name\":\"days\",\"type\":\"integer\",\"value\":\"3\"}]}}]}"),
    ]
    .concat();
    let transcript = decode_bytes(&WireOptions::new(), &agent);
    assert_eq!(transcript.text(), "Hi there");
    assert_eq!(calls(&transcript), [call("book", "{\"city\":\"12\",\"days\":3}", "unchanged")]);
    assert_eq!(transcript.calls()[0].id(), Some("i1"));
    // The same names over server-sent events are another service.
    let other = decode("event: output\ndata: It is noon.\n\nevent: done\ndata: {}\n\n");
    assert_eq!(other.format(), Some(ApiFormat::Replicate));
}

#[test]
fn a_call_that_is_stated_again_with_other_arguments_after_its_end_is_an_error() {
    let body = "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"\"}}\n\n\
        data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"{\\\"a\\\": 1}\"}}\n\n\
        data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"{\\\"a\\\": 2}\"}]}}\n\n";
    let transcript = decode(body);
    assert_eq!(transcript.errors()[0].kind(), ErrorKind::Contradiction);
    assert_eq!(transcript.outcome(), StreamOutcome::Error);
}

/// Anthropic Messages: one tool block with those pieces, and what comes after them.
fn anthropic(pieces: &[&str], rest: &str) -> String {
    let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"run","input":{}}}"#;
    let mut body =
        format!("data: {{\"type\":\"message_start\",\"message\":{{}}}}\n\ndata: {start}\n\n");
    for text in pieces {
        let text = serde_json::to_string(text).unwrap();
        body += &format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":{text}}}}}\n\n"
        );
    }
    body + rest
}

const STOP: &str = "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n";

fn ended(reason: &str) -> String {
    format!(
        "data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{reason}\"}}}}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"
    )
}

#[test]
fn a_stated_end_vouches_for_what_needed_repair_only_where_the_turn_goes_on() {
    let of = |pieces: &[&str], rest: &str| {
        let transcript = decode(&anthropic(pieces, &(STOP.to_owned() + rest)));
        transcript.calls()[0].outcome().code()
    };
    let broken = ["{'a'", ": 1}"];
    assert_eq!(of(&broken, &ended("tool_use")), "repaired");
    for rest in [ended("max_tokens"), ended("refusal"), ended("pause_turn"), String::new()] {
        assert_eq!(of(&broken, &rest), "cut", "{rest}");
        assert_eq!(of(&["{\"a\": 1}"], &rest), "unchanged", "{rest}");
    }
    // What follows the value is a defect, too.
    assert_eq!(of(&["{\"a\": 1}}"], &ended("tool_use")), "repaired");
    assert_eq!(of(&["{\"a\": 1}}"], ""), "cut");
    // The quotes of a query that was cut off look as if they ended it.
    assert_eq!(
        of(&["{\"sql\":\"select \"a\" from {t} where x = \"}"], &ended("max_tokens")),
        "cut"
    );
    // The end of the block is missing.
    let transcript = decode(&anthropic(&["{\"a\": 1}"], &ended("tool_use")));
    assert_eq!(doubts(&transcript), [("cut", Some(Doubt::LostEvent))]);
}

#[test]
fn what_is_left_of_lost_pieces_is_no_call() {
    for left in ["\"SF\"}", "12}", "true}", "``"] {
        let body = [tools(START).as_str(), &piece(left), &finish("tool_calls")].concat();
        let transcript = decode(&body);
        assert!(!transcript.calls()[0].outcome().is_complete(), "{left}: {transcript:?}");
    }
    for lost in [
        "event: content_block_delta\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delt,\"partial_json\":\"Y\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"Y\"}}\n\n",
    ] {
        let rest = "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"Z\\\"}\"}}\n\n";
        let rest = [lost, rest, STOP, &ended("tool_use")].concat();
        let transcript = decode(&anthropic(&["{\"a\":\"X"], &rest));
        assert!(!transcript.calls()[0].outcome().is_complete(), "{lost}");
    }
    let half = [
        tools(START).as_str(),
        &tools(r#"{"index":0,"function":{"arguments":"{\"a\":\"\ud83d"}}"#),
        &piece("\"}"),
        &finish("tool_calls"),
    ]
    .concat();
    assert_eq!(doubts(&decode(&half)), [("cut", Some(Doubt::DamagedEvent))]);
}

#[test]
fn keep_alives_in_words_and_repeated_chunks_do_no_harm() {
    for word in
        ["event: ping\ndata: ping\n\n", "data: keep-alive\n\n", "event: heartbeat\ndata: 12:30\n\n"]
    {
        let body =
            [tools(START).as_str(), word, &piece("{\"a\": 1}"), &finish("tool_calls")].concat();
        let transcript = decode(&body);
        assert_eq!(calls(&transcript), [call("run", "{\"a\": 1}", "unchanged")], "{word}");
        assert_eq!(transcript.outcome(), StreamOutcome::Complete, "{word}");
    }
    let last = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n";
    let transcript = decode(&[last, last, "data: [DONE]\n\n"].concat());
    assert_eq!(calls(&transcript), [call("run", "{}", "unchanged")]);
    let added = "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"\"}}\n\n";
    let done = "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"{\\\"a\\\":1}\"}}\n\n";
    let end = "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n";
    let transcript = decode(&[added, added, done, end].concat());
    assert_eq!(calls(&transcript), [call("run", "{\"a\":1}", "unchanged")]);
}

#[test]
fn what_is_left_of_an_object_is_none_also_where_its_text_is_there_already() {
    for (left, complete) in [
        ("\"SF\"}", false),
        ("[\"a\"]}", false),
        ("['a', True]", true),
        ("[\"a\"]", true),
        ("{'a': 1}", true),
        ("```json\nnull\n```", true),
        ("\u{feff}null", true),
        ("None", true),
        ("```json\n\"SF\"}\n```", false),
    ] {
        let mended = mend_arguments(left, FinishReason::ToolCalls);
        assert_eq!(mended.value().is_some(), complete, "{left}: {mended:?}");
        let body = [tools(START).as_str(), &piece(left), &finish("tool_calls")].concat();
        assert_eq!(decode(&body).calls()[0].outcome().is_complete(), complete, "{left}");
    }
}

#[test]
fn arguments_in_the_start_of_a_block_that_ended_stay_whole_where_the_body_breaks_off() {
    let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"t","name":"run","input":{"q":1}}}"#;
    let body =
        format!("data: {{\"type\":\"message_start\",\"message\":{{}}}}\n\ndata: {start}\n\n");
    assert_eq!(doubts(&decode(&body)), [("cut", Some(Doubt::BodyEnded))]);
    assert_eq!(doubts(&decode(&(body + STOP))), [("unchanged", None)]);
}
