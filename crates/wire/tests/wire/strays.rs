//! Pieces that fit no call, or in which nothing is known: what they held belongs to some call, so no call
//! that may have lost it is complete.

use crate::support::{START, call, calls, decode, decode_with, doubts, finish, piece, sse, tools};
use wiremend_core::Policy;
use wiremend_wire::{Doubt, StreamOutcome, ToolPolicies, WireOptions};

const LOST: (&str, Option<Doubt>) = ("cut", Some(Doubt::LostEvent));
const NAMELESS: (&str, Option<Doubt>) = ("cut", Some(Doubt::MissingStart));
const WHOLE: (&str, Option<Doubt>) = ("unchanged", None);

/// An entry of a call with an index, as a chunk of its own.
fn entry(index: i32, rest: &str) -> String {
    tools(&format!("{{\"index\":{index},{rest}}}"))
}

#[test]
fn pieces_without_a_start_may_belong_to_any_call_that_is_open() {
    let start = |index| entry(index, r#""id":"c0","function":{"name":"wipe","arguments":""}"#);
    let text = |index, text: &str| {
        let text = serde_json::to_string(text).unwrap();
        entry(index, &format!("\"function\":{{\"arguments\":{text}}}"))
    };
    // The index of the start is another one, so it has no arguments.
    let body = [start(1), text(0, "{\"dry\":"), text(0, "true}"), finish("tool_calls")].concat();
    assert_eq!(doubts(&decode(&body)), [LOST, NAMELESS]);
    let unnumbered = tools(r#"{"id":"c0","function":{"name":"wipe","arguments":""}}"#);
    let body = [unnumbered, text(1, "{\"dry\":true}"), finish("tool_calls")].concat();
    assert_eq!(doubts(&decode(&body)), [LOST, NAMELESS]);
    // The index of a piece in the middle is another one.
    let body =
        [start(0), text(0, "{\"n\":1"), text(1, "2"), text(0, "}"), finish("tool_calls")].concat();
    assert_eq!(doubts(&decode(&body))[0], LOST);
    // It is of another choice.
    let other = text(0, "2").replace("\"choices\":[{\"index\":0", "\"choices\":[{\"index\":1");
    let body = [start(0), text(0, "{\"n\":1"), other, text(0, "}"), finish("tool_calls")].concat();
    assert_eq!(doubts(&decode(&body))[0], LOST);
    // Complete arguments before the stray piece need nothing more.
    let body =
        [start(0), text(0, "{\"n\":1}"), text(1, "{\"x\":2}"), finish("tool_calls")].concat();
    assert_eq!(doubts(&decode(&body)), [WHOLE, NAMELESS]);
}

#[test]
fn a_call_that_gets_its_name_late_is_no_stray() {
    let body = [
        entry(0, r#""id":"a","function":{"name":"f","arguments":"{\"a\":"}"#),
        entry(1, r#""id":"b","function":{"arguments":"{\"b\":"}"#),
        entry(1, r#""function":{"name":"g","arguments":"2}"}"#),
        entry(0, r#""function":{"arguments":"1}"}"#),
        finish("tool_calls"),
    ]
    .concat();
    assert_eq!(
        calls(&decode(&body)),
        [call("f", "{\"a\":1}", "unchanged"), call("g", "{\"b\":2}", "unchanged")]
    );
}

#[test]
fn a_call_without_arguments_after_a_loss_may_have_lost_them() {
    let lost = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"ind\n\n";
    let body = [lost, &tools(START), &finish("tool_calls")].concat();
    assert_eq!(doubts(&decode(&body)), [LOST]);
    let body = [lost, &tools(START), &piece("{\"a\":1}"), &finish("tool_calls")].concat();
    assert_eq!(doubts(&decode(&body)), [WHOLE]);
}

#[test]
fn another_id_after_an_id_that_was_repeated_is_another_call() {
    let part =
        |id: &str, rest: &str| tools(&format!("{{\"id\":\"{id}\",\"function\":{{{rest}}}}}"));
    let head =
        [part("c0", r#""name":"f","arguments":"""#), part("c0", r#""arguments":"{\"a\": \"x""#)]
            .concat();
    // The start of the second call was lost, and the end of the first one.
    let body = [
        head.as_str(),
        &part("c1", r#""arguments":"rc/main""#),
        &part("c1", r#""arguments":"\"}""#),
        &finish("tool_calls"),
    ]
    .concat();
    let transcript = decode(&body);
    assert_eq!(transcript.calls().len(), 2);
    assert!(transcript.calls().iter().all(|call| !call.outcome().is_complete()));
    // A server that makes up an id for every piece never repeats one.
    let body = [
        part("c0", r#""name":"f","arguments":"{\"a\": \"x""#),
        part("c1", r#""arguments":"y""#),
        part("c2", r#""arguments":"\"}""#),
        finish("tool_calls"),
    ]
    .concat();
    assert_eq!(calls(&decode(&body)), [call("f", "{\"a\": \"xy\"}", "unchanged")]);
}

#[test]
fn the_id_of_a_call_with_another_name_contradicts_it() {
    let body = [
        entry(0, r#""id":"c","function":{"name":"f","arguments":"{\"a\":1}"}"#),
        entry(0, r#""id":"c","function":{"name":"g","arguments":""}"#),
        finish("tool_calls"),
    ]
    .concat();
    assert_eq!(doubts(&decode(&body)), [("cut", Some(Doubt::Contradiction))]);
}

#[test]
fn an_id_of_its_own_after_a_loss_may_be_that_of_a_call_whose_start_was_lost() {
    let start = |id: &str, name: &str| {
        entry(0, &format!("{id}\"function\":{{\"name\":\"{name}\",\"arguments\":\"\"}}"))
    };
    let text = |id: &str| entry(0, &format!("{id}\"function\":{{\"arguments\":\"{{}}\"}}"));
    let end = finish("tool_calls");
    let torn = piece("so far").replace("choices", "choice");
    // The first one is that of the call with the id `a`, and none of the server's own making.
    for (own, other, outcome) in [
        (r#""id":"b","#, r#""id":"a","#, LOST),
        ("", r#""id":"a","#, LOST),
        (r#""id":"b","#, r#""id":"b","#, WHOLE),
        (r#""id":"b","#, "", WHOLE),
    ] {
        let body = [&torn, &start(own, "read"), &text(other), &end].map(String::as_str).concat();
        assert_eq!(doubts(&decode(&body)), [outcome], "{own} {other}");
        let body = [start(own, "read"), text(other), end.clone()].concat();
        assert_eq!(doubts(&decode(&body)), [WHOLE], "{own} {other}");
    }
    let both = [start(r#""id":"a","#, "f"), start(r#""id":"b","#, "read"), text(r#""id":"a","#)];
    let body = [&both[..], &[text(r#""id":"b","#), end.clone()]].concat().concat();
    let [first, second] = ["f", "read"].map(|name| call(name, "{}", "unchanged"));
    assert_eq!(calls(&decode(&body)), [first, second]);
    let body = body.replacen("choices", "choice", 1);
    assert_eq!(doubts(&decode(&body)), [LOST]);
}

#[test]
fn a_call_without_the_number_that_others_have_lost_what_came_under_it() {
    let numbered = entry(0, r#""id":"a","function":{"name":"f","arguments":"{\"n\":1}"}"#);
    let call = |text: &str| {
        let text = serde_json::to_string(text).unwrap();
        tools(&format!(r#"{{"id":"b","function":{{"name":"re","arguments":{text}}},"inde":1}}"#))
    };
    let end = finish("tool_calls");
    for (text, outcome) in [("", LOST), ("{'n':2}", LOST), ("{\"n\":2}", WHOLE)] {
        let body = [numbered.as_str(), &call(text), &end].concat();
        assert_eq!(doubts(&decode(&body)), [WHOLE, outcome], "{text}");
    }
    let body = [&call(""), numbered.as_str(), &end].concat();
    assert_eq!(doubts(&decode(&body)), [LOST, WHOLE]);
    assert_eq!(doubts(&decode(&[call(""), end].concat())), [WHOLE]);
}

#[test]
fn an_id_that_is_no_text_was_damaged() {
    for (id, outcome) in [
        (r#""a""#, StreamOutcome::Complete),
        ("null", StreamOutcome::Complete),
        ("true", StreamOutcome::Lossy),
        ("5", StreamOutcome::Lossy),
        (r#"["a"]"#, StreamOutcome::Lossy),
    ] {
        let start = entry(0, &format!(r#""id":{id},"function":{{"name":"f","arguments":""}}"#));
        let text = entry(0, r#""function":{"arguments":"{}"}"#);
        let said = decode(&[start, text, finish("tool_calls")].concat());
        assert_eq!(said.outcome(), outcome, "{id}");
    }
}

#[test]
fn a_chunk_whose_members_have_damaged_names_was_lost() {
    let chunk = |text: &str| format!("data: {text}\n\n");
    for (middle, want) in [
        (entry(0, r#""function":{"argumens":"2"}"#), LOST),
        (entry(0, r#""functio":{"arguments":"2"}"#), LOST),
        (
            chunk(
                r#"{"object":"chat.completion.chunk","choises":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"2"}}]}}]}"#,
            ),
            LOST,
        ),
        (
            chunk(
                r#"{"choices":[{"index":0,"delt":{"tool_calls":[{"index":0,"function":{"arguments":"2"}}]}}]}"#,
            ),
            LOST,
        ),
        (
            chunk(
                r#"{"choices":[{"index":0,"delta":{"tool_cals":[{"index":0,"function":{"arguments":"2"}}]}}]}"#,
            ),
            LOST,
        ),
        (entry(0, r#""function":{"arguments":"","name":null}"#), WHOLE),
        (entry(0, r#""function":{}"#), WHOLE),
        (entry(0, r#""type":"function","extra_content":{"signature":"x"}"#), WHOLE),
        (chunk(r#"{"object":"chat.completion.chunk","timings":{"ms":1}}"#), WHOLE),
        (chunk(r#"{"choices":[{"index":0,"delta":{"obfuscation":"x"},"logprobs":{}}]}"#), WHOLE),
        (chunk(r#"{"choices":[],"usage":{"prompt_tokens":1}}"#), WHOLE),
    ] {
        let body =
            [tools(START), piece("{\"a\":1"), middle.clone(), piece("}"), finish("tool_calls")]
                .concat();
        assert_eq!(doubts(&decode(&body)), [want], "{middle}");
    }
}

#[test]
fn a_piece_of_a_block_in_which_nothing_is_known_was_lost() {
    let of = |middle: &str| {
        sse(&[
            r#"{"type":"message_start","message":{}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1"}}"#,
            middle,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"}"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
            r#"{"type":"message_stop"}"#,
        ])
    };
    for (middle, want) in [
        (
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_jsn_delta","partial_json":"2"}}"#,
            LOST,
        ),
        (
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial":"2"}}"#,
            LOST,
        ),
        (
            r#"{"type":"content_block_delta","index":1,"dlta":{"type":"input_json_delta","partial_json":"2"}}"#,
            LOST,
        ),
        (
            r#"{"type":"conten_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"2"}}"#,
            LOST,
        ),
        (
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            WHOLE,
        ),
        (
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}"#,
            WHOLE,
        ),
        (
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"s"}}"#,
            WHOLE,
        ),
        (r#"{"type":"ping"}"#, WHOLE),
    ] {
        assert_eq!(doubts(&decode(&of(middle))), [want], "{middle}");
    }
    let converse = |middle: &str| {
        sse(&[
            r#"{"contentBlockStart":{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}}"#,
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{\"a\":1"}}}}"#,
            middle,
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":"}"}}}}"#,
            r#"{"contentBlockStop":{"contentBlockIndex":0}}"#,
            r#"{"messageStop":{"stopReason":"tool_use"}}"#,
        ])
    };
    for (middle, want) in [
        (r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUs":{"input":"2"}}}}"#, LOST),
        (r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"inpt":"2"}}}}"#, LOST),
        (
            r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":""}}}}"#,
            WHOLE,
        ),
    ] {
        assert_eq!(doubts(&decode(&converse(middle))), [want], "{middle}");
    }
}

#[test]
fn a_piece_that_lost_the_number_that_others_have_may_be_of_any_call() {
    let of = |middle: &str| {
        sse(&[
            r#"{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"a","function":{"name":"f","arguments":"{}"}}}}}"#,
            r#"{"type":"tool-call-end","index":0}"#,
            r#"{"type":"tool-call-start","index":1,"delta":{"message":{"tool_calls":{"id":"b","function":{"name":"g","arguments":"{\"a\":1"}}}}}"#,
            middle,
            r#"{"type":"tool-call-delta","index":1,"delta":{"message":{"tool_calls":{"function":{"arguments":"}"}}}}}"#,
            r#"{"type":"tool-call-end","index":1}"#,
            r#"{"type":"message-end","delta":{"finish_reason":"TOOL_CALL"}}"#,
        ])
    };
    for (middle, want) in [
        (
            r#"{"type":"tool-call-delta","delta":{"message":{"tool_calls":{"function":{"arguments":"2"}}}}}"#,
            LOST,
        ),
        (
            r#"{"type":"tool-call-delta","index":1,"delta":{"message":{"tool_call":{"function":{"arguments":"2"}}}}}"#,
            LOST,
        ),
        (
            r#"{"type":"tool-call-delta","index":1,"delta":{"message":{"tool_calls":{"function":{"argument":"2"}}}}}"#,
            LOST,
        ),
        (
            r#"{"type":"tool-call-delta","index":1,"delta":{"message":{"tool_calls":{"function":{"arguments":""}}}}}"#,
            WHOLE,
        ),
    ] {
        let transcript = decode(&of(middle));
        assert_eq!(doubts(&transcript), [WHOLE, want], "{middle}");
        assert!(transcript.errors().is_empty(), "{middle}");
    }
}

/// Parts of a Gemini response, one payload each, and the end.
fn vertex(parts: &[&str]) -> String {
    let mut payloads: Vec<String> = parts
        .iter()
        .map(|part| {
            format!(
                "{{\"candidates\":[{{\"content\":{{\"parts\":[{{\"functionCall\":{part}}}]}}}}]}}"
            )
        })
        .collect();
    payloads.push(r#"{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}"#.to_owned());
    sse(&payloads.iter().map(String::as_str).collect::<Vec<_>>())
}

const VERTEX: &str = r#"{"name":"f","willContinue":true}"#;

#[test]
fn a_leaf_without_a_value_was_damaged() {
    for leaf in [
        r#"{"jsonPath":"$.n","numberValu":12}"#,
        r#"{"jsonPath":"$.n"}"#,
        r#"{"jsonPath":"$.n","stringValue":null}"#,
    ] {
        let leaf = format!("{{\"partialArgs\":[{leaf}],\"willContinue\":true}}");
        assert_eq!(doubts(&decode(&vertex(&[VERTEX, &leaf, "{}"]))), [LOST], "{leaf}");
    }
    let first = r#"{"partialArgs":[{"jsonPath":"$.a","stringValue":"San","willContinue":true}],"willContinue":true}"#;
    for (second, complete) in [
        (r#"{"jsonPath":"$.a","stringValu":" Jose"}"#, false),
        (r#"{"jsonPath":"$.a","numberValue":1}"#, false),
        (r#"{"jsonPath":"$.a","stringValue":" Jose"}"#, true),
        (r#"{"jsonPath":"$.a"}"#, true),
    ] {
        let second = format!("{{\"partialArgs\":[{second}],\"willContinue\":true}}");
        let transcript = decode(&vertex(&[VERTEX, first, &second, "{}"]));
        assert_eq!(transcript.calls()[0].outcome().is_complete(), complete, "{second}");
    }
    let null = r#"{"partialArgs":[{"jsonPath":"$.n","nullValue":null}],"willContinue":true}"#;
    assert_eq!(
        calls(&decode(&vertex(&[VERTEX, null, "{}"]))),
        [call("f", "{\"n\":null}", "unchanged")]
    );
    // The name of the member that holds the leaves is damaged.
    let hidden = r#"{"partialArg":[{"jsonPath":"$.n","numberValue":1}],"willContinue":true}"#;
    assert_eq!(doubts(&decode(&vertex(&[VERTEX, hidden, "{}"]))), [LOST]);
}

#[test]
fn a_call_that_was_to_continue_and_did_not_is_cut() {
    let leaf = r#"{"partialArgs":[{"jsonPath":"$.a","numberValue":1}],"willContinue":true}"#;
    assert_eq!(doubts(&decode(&vertex(&[VERTEX]))), [LOST]);
    assert_eq!(doubts(&decode(&vertex(&[VERTEX, VERTEX, leaf, "{}"]))), [LOST, WHOLE]);
    // The format states that there are none.
    assert_eq!(doubts(&decode(&vertex(&[VERTEX, "{}"]))), [WHOLE]);
    // A leaf before a call may be one of its leaves, unless something ended between them.
    let next = r#"{"name":"g","willContinue":true}"#;
    let other = r#"{"partialArgs":[{"jsonPath":"$.b","numberValue":1}],"willContinue":true}"#;
    assert_eq!(
        doubts(&decode(&vertex(&[VERTEX, leaf, "{}", other, next, leaf, "{}"]))),
        [WHOLE, LOST]
    );
    assert_eq!(
        doubts(&decode(&vertex(&[VERTEX, leaf, "{}", other, "{}", next, leaf, "{}"]))),
        [WHOLE, WHOLE]
    );
}

/// A chunk of OpenAI Chat with such members of the choice.
fn chat(members: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,{members}}}]}}\n\n")
}

#[test]
fn calls_are_read_or_missed_wherever_a_chunk_can_hold_them() {
    let call = |members: &str| {
        format!(r#"{{"index":0,"id":"x","type":"function","function":{{"name":"run",{members}}}}}"#)
    };
    let whole = call(r#""arguments":"{\"n\":1000}""#);
    let object = chat(&format!("\"delta\":{{\"tool_calls\":{whole}}}"));
    let transcript = decode(&(object + &finish("tool_calls")));
    assert_eq!(calls(&transcript), [self::call("run", "{\"n\":1000}", "unchanged")]);
    for lost in [
        chat(&format!("\"delta\":{{}},\"tool_calls\":[{whole}]")),
        chat(&format!("\"delta\":{{\"tool_calls\":{}}}", serde_json::to_string(&whole).unwrap())),
        chat(&format!("\"delta\":[{{\"tool_calls\":[{whole}]}}]")),
        chat(&format!("\"delta\":{{}},\"message\":{{\"tool_calls\":[{whole}]}}")),
        chat("\"delta\":{}"),
        tools(&call(r#""args":"{\"n\":1000}""#)),
        tools(&call(r#""parameters":{"n":1000}"#)),
        tools(&call(r#""arguments":1000"#)),
        tools(&call(r#""arguments":["{\"n\":1000}"]"#)),
        "data: {\"choices\":\"none\"}\n\n".to_owned(),
    ] {
        let transcript = decode(&(lost.clone() + &finish("tool_calls")));
        assert_eq!(transcript.outcome(), StreamOutcome::Lossy, "{lost}");
        assert!(transcript.calls().iter().all(|call| !call.outcome().is_complete()), "{lost}");
    }
}

#[test]
fn a_text_beside_an_empty_delta_was_lost() {
    for (beside, outcome) in [
        (r#""content":"Hi""#, StreamOutcome::Lossy),
        (r#""reasoning_content":"Hm""#, StreamOutcome::Lossy),
        (r#""content":null"#, StreamOutcome::Complete),
        (r#""matched_stop":"Hi""#, StreamOutcome::Complete),
    ] {
        let body = chat(&format!(r#""delta":{{}},{beside}"#)) + &finish("stop");
        assert_eq!(decode(&body).outcome(), outcome, "{beside}");
    }
}

#[test]
fn a_piece_of_another_type_was_lost() {
    for other in ["0", "true", "[0]", "{\"zero\":0}"] {
        let piece_of =
            |text: &str| tools(&format!(r#"{{"index":0,"function":{{"arguments":{text}}}}}"#));
        let body =
            [tools(START), piece("{\"n\":1"), piece_of(other), piece("}"), finish("tool_calls")]
                .concat();
        let transcript = decode(&body);
        assert!(!transcript.calls()[0].outcome().is_complete(), "{other}");
    }
}

/// Null is what servers send before the first piece of the arguments, beside the name, and after the last one. In the
/// place of another piece it is a text that was lost.
#[test]
fn null_in_the_place_of_a_piece_was_lost() {
    let null = tools(r#"{"index":0,"function":{"arguments":null}}"#);
    let start = tools(r#"{"index":0,"id":"x","function":{"name":"run","arguments":null}}"#);
    let end = finish("tool_calls");
    let text = "{\"n\":1";
    for (events, want) in [
        ([&*start, &piece(text), &piece("}"), &null], WHOLE),
        ([&*start, &null, &null, &null], WHOLE),
        ([&*start, &piece(text), &null, &piece("}")], LOST),
        ([&*start, &null, &piece(text), &piece("}")], LOST),
        ([&*tools(START), &null, &piece(text), &piece("}")], LOST),
    ] {
        assert_eq!(doubts(&decode(&(events.concat() + &end))), [want], "{events:?}");
    }
    let anthropic = |delta: &str| {
        let event = |text: &str| {
            format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{text}}}}}"#
            )
        };
        sse(&[
            r#"{"type":"message_start","message":{}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"run","input":{}}}"#,
            &event(r#""{\"n\":1""#),
            &event(delta),
            &event("\"}\""),
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
            r#"{"type":"message_stop"}"#,
        ])
    };
    assert_eq!(doubts(&decode(&anthropic("\"000\""))), [WHOLE]);
    assert_eq!(doubts(&decode(&anthropic("null"))), [LOST]);
    let responses = |delta: &str| {
        let event = |text: &str| {
            format!(
                r#"{{"type":"response.function_call_arguments.delta","output_index":0,"delta":{text}}}"#
            )
        };
        sse(&[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"run","arguments":""}}"#,
            &event(r#""{\"n\":1""#),
            &event(delta),
            &event("\"}\""),
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"run"}}"#,
            r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#,
        ])
    };
    assert_eq!(doubts(&decode(&responses("\"000\""))), [WHOLE]);
    assert_eq!(doubts(&decode(&responses("null"))), [LOST]);
}

#[test]
fn a_call_after_the_end_of_its_turn_is_not_complete() {
    let body = finish("stop").replace("data: [DONE]\n\n", "")
        + &tools(START)
        + &piece("{}")
        + "data: [DONE]\n\n";
    assert_eq!(doubts(&decode(&body)), [("cut", Some(Doubt::BodyEnded))]);
}

#[test]
fn a_name_that_no_tool_can_have_was_damaged() {
    let body = |name: &str| {
        tools(&format!(
            r#"{{"index":0,"id":"x","function":{{"name":"{name}","arguments":"{{}}"}}}}"#
        )) + &finish("tool_calls")
    };
    let declared = WireOptions::new()
        .with_policies(ToolPolicies::new(|name| (name == "run").then_some(Policy::CONSERVATIVE)));
    for name in ["run<|channel|>commentary", "run</arg_value>", "run\\n", "run now"] {
        let cut = [("cut", Some(Doubt::DamagedEvent))];
        assert_eq!(doubts(&decode(&body(name))), cut, "{name}");
        let clean = decode_with(&declared, &body(name));
        assert_eq!(calls(&clean), [call("run", "{}", "unchanged")], "{name}");
        let other = name.replace("run", "walk");
        assert_eq!(doubts(&decode_with(&declared, &body(&other))), cut, "{other}");
    }
}

#[test]
fn errors_of_any_shape_are_errors() {
    let text = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    for (payload, message) in [
        (r#"{"code":500,"message":"boom"}"#, "boom"),
        (
            r#"{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}"#,
            "rate limit",
        ),
        (r#"{"message":"boom","statusCode":429}"#, "boom"),
        (r#"{"status":"error","detail":"boom"}"#, "boom"),
        (r#"{"success":false,"msg":"boom"}"#, "boom"),
        (r#"{"error_code":17,"error_msg":"boom"}"#, "boom"),
        (r#"{"error":true,"message":"boom"}"#, "boom"),
        (r#"{"choices":[],"result":{"code":"Throttled","message":"boom"}}"#, "boom"),
        // Of whatever it says nothing is known here.
        (r#"{"Error":{"Message":"boom"}}"#, "boom"),
        (r#"{"Fault":{"Id":"e1","Info":["too many requests"]}}"#, "too many requests"),
        (r#"{"failure":7}"#, r#"{"failure":7}"#),
    ] {
        let transcript = decode(&format!("{text}data: {payload}\n\ndata: [DONE]\n\n"));
        assert_eq!(transcript.outcome(), StreamOutcome::Error, "{payload}");
        assert_eq!(transcript.errors()[0].message(), message, "{payload}");
    }
    for payload in [
        r#"{"choices":[],"base_resp":{"status_code":0,"status_msg":""}}"#,
        r#"{"choices":[],"base_resp":{"status_code":200,"status_msg":"ok"}}"#,
    ] {
        let transcript = decode(&format!("{text}data: {payload}\n\ndata: [DONE]\n\n"));
        assert_eq!(transcript.outcome(), StreamOutcome::Complete, "{payload}");
    }
    for (reason, native, message) in
        [("error", "null", "error"), ("stop", "\"network_error\"", "network_error")]
    {
        let end = chat(&format!(
            "\"delta\":{{}},\"finish_reason\":\"{reason}\",\"native_finish_reason\":{native}"
        ));
        let transcript = decode(&format!("{text}{end}data: [DONE]\n\n"));
        assert_eq!(transcript.outcome(), StreamOutcome::Error, "{reason}");
        assert_eq!(transcript.errors()[0].message(), message, "{reason}");
    }
}

#[test]
fn a_sign_too_many_before_an_object_is_damage() {
    let event = tools(START).replacen("data: ", "data: :", 1);
    let body = event + &piece("{}") + &finish("tool_calls");
    let transcript = decode(&body);
    assert_eq!(transcript.outcome(), StreamOutcome::Error);
    assert!(transcript.calls().iter().all(|call| !call.outcome().is_complete()));
}

#[test]
fn an_event_says_in_its_lines_what_it_lost() {
    let output = |text: &str| format!("event: output\nid: 1\ndata: {text}\n\n");
    let done = "event: done\ndata: {}\n\n";
    for (torn, outcome) in [
        (output("b"), StreamOutcome::Complete),
        (output("b").replace("\ndata: ", "data: "), StreamOutcome::Error),
        (output("b").replace("data: ", "ata: "), StreamOutcome::Error),
        (output("b").replacen('\n', "", 1), StreamOutcome::Error),
    ] {
        let transcript =
            decode(&[output("a"), torn.clone(), output("c"), done.to_owned()].concat());
        assert_eq!(transcript.outcome(), outcome, "{torn}");
    }
    // A call that begins in an event that lost a line lost it as well.
    let start = vertex(&[VERTEX]).lines().next().unwrap_or_default().to_owned();
    let leaf = r#"{"partialArgs":[{"jsonPath":"$.a","numberValue":1}],"willContinue":true}"#;
    let rest = vertex(&[leaf, leaf, "{}"]).replacen("data: ", "ta: ", 1);
    let transcript = decode(&format!("{start}\n{rest}"));
    assert!(transcript.calls().iter().all(|call| !call.outcome().is_complete()));
}
