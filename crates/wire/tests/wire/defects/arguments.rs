//! Entries 51 to 70: the text of arguments, and what is around it.

use super::{chunk, end, is, outcome, result, text_delta, tools, turn};
use crate::support::{call, calls, decode, lines, named, sse};
use wiremend_core::{MendOptions, Policy};
use wiremend_wire::{Decoder, Transcript, WireEvent, WireOptions};

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
