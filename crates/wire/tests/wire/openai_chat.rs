//! OpenAI Chat Completions: defects of real servers, one test each.

use crate::support::{call, calls, decode, decode_with};
use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_wire::{
    ApiFormat, Doubt, ErrorKind, FinishReason, StreamOutcome, WireLimits, WireOptions,
};

/// Chunks that hold one delta of choice 0 each, and no end.
fn deltas(deltas: &[&str]) -> String {
    deltas
        .iter()
        .map(|delta| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n"))
        .collect()
}

/// The same, and the end of a turn that calls tools.
fn turn(chunks: &[&str]) -> String {
    deltas(chunks) + &end("tool_calls")
}

fn end(reason: &str) -> String {
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\ndata: [DONE]\n\n"
    )
}

/// A delta of tool calls, from entries.
fn tools(entries: &str) -> String {
    format!("{{\"tool_calls\":[{entries}]}}")
}

#[test]
fn text_and_the_end_are_emitted() {
    let body = deltas(&[
        r#"{"role":"assistant","content":""}"#,
        r#"{"content":"Hé"}"#,
        r#"{"content":"llo"}"#,
    ]) + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
        + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"completion_tokens_details\":{\"reasoning_tokens\":1}}}\n\n"
        + "data: [DONE]\n\n";
    let transcript = decode(&body);
    assert_eq!(transcript.text(), "Héllo");
    assert_eq!(transcript.format(), Some(ApiFormat::OpenAiChat));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    let usage = transcript.usage().unwrap();
    assert_eq!((usage.input(), usage.output(), usage.reasoning()), (Some(7), Some(2), Some(1)));
    let finish = transcript.finish().unwrap();
    assert_eq!((finish.reason(), finish.original()), (FinishReason::Stop, "stop"));
}

#[test]
fn fragments_make_a_call_and_it_is_mended() {
    let body = turn(&[
        &tools(
            r#"{"index":0,"id":"c1","type":"function","function":{"name":"add","arguments":""}}"#,
        ),
        &tools(r#"{"index":0,"function":{"arguments":"{'a': "}}"#),
        &tools(r#"{"index":0,"function":{"arguments":"True,"}}"#),
        &tools(r#"{"index":0,"function":{"arguments":"}"}}"#),
    ]);
    let transcript = decode(&body);
    assert_eq!(calls(&transcript), [call("add", "{\"a\": true}", "repaired")]);
    let all = transcript.calls();
    assert_eq!(all[0].id(), Some("c1"));
    assert_eq!(all[0].raw(), "{'a': True,}");
    let applied = wiremend_core::apply(all[0].raw().as_bytes(), all[0].repairs()).unwrap();
    assert_eq!(applied, all[0].arguments().as_bytes());
}

#[test]
fn valid_arguments_are_unchanged() {
    let body = turn(&[&tools(
        r#"{"index":0,"id":"c","function":{"name":"f","arguments":"{\"n\" : 1.10,\"big\":12345678901234567890123}"}}"#,
    )]);
    let transcript = decode(&body);
    assert_eq!(
        calls(&transcript),
        [call("f", r#"{"n" : 1.10,"big":12345678901234567890123}"#, "unchanged")]
    );
    assert!(transcript.calls()[0].repairs().is_empty());
}

#[test]
fn choices_interleave_and_each_text_stays_whole() {
    let body = "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b1\"}},{\"index\":0,\"delta\":{\"content\":\"a1\"}}]}\n\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a2\"},\"finish_reason\":\"stop\"}]}\n\n\
        data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b2\"},\"finish_reason\":\"length\"}]}\n\n";
    let transcript = decode(body);
    assert_eq!(transcript.texts(), ["b1b2", "a1a2"]);
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Stop);
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn choices_may_be_empty_null_or_without_a_delta() {
    let body = "data: {\"choices\":[],\"prompt_filter_results\":[]}\n\n\
        data: {\"choices\":null}\n\n\
        data: {\"choices\":[{\"index\":0,\"content_filter_results\":{}}]}\n\n"
        .to_owned()
        + &deltas(&[r#"{"content":null}"#, r#"{"content":"x"}"#])
        + &end("stop");
    assert_eq!(decode(&body).text(), "x");
}

#[test]
fn content_may_be_a_list_of_parts() {
    let body = deltas(&[
        r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}"#,
        r#"{"content":[{"type":"text","text":"so"},{"type":"reference","reference_ids":[1]}]}"#,
    ]) + &end("stop");
    let transcript = decode(&body);
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("so", "hm"));
}

#[test]
fn reasoning_has_three_names_and_counts_once() {
    let body = deltas(&[
        r#"{"reasoning_content":"a"}"#,
        r#"{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b"}]}"#,
        r#"{"reasoning":null,"reasoning_details":[{"type":"reasoning.text","text":"c"}]}"#,
        r#"{"reasoning_content":"d","reasoning":"d"}"#,
        r#"{"refusal":"no"}"#,
    ]) + &end("stop");
    let transcript = decode(&body);
    assert_eq!(transcript.reasoning(), "abcd");
    assert_eq!(transcript.refusal(), "no");
}

#[test]
fn the_old_function_call_is_a_call() {
    let body = deltas(&[
        r#"{"function_call":{"name":"f","arguments":""}}"#,
        r#"{"function_call":{"arguments":"{\"a\":1}"}}"#,
    ]) + &end("function_call");
    assert_eq!(calls(&decode(&body)), [call("f", "{\"a\":1}", "unchanged")]);
}

/// Some servers write a call in the old form and in the new one, streamed or not. What differs is another call.
#[test]
fn a_call_in_both_forms_is_one() {
    let both = |name: &str, arguments: &str| {
        format!(
            r#"{{"function_call":{{{name}"arguments":"{arguments}"}},"tool_calls":[{{"index":0,"function":{{{name}"arguments":"{arguments}"}}}}]}}"#
        )
    };
    let (begin, end_of) = (both(r#""name":"f","#, r#"{\"a\":"#), both("", "1}"));
    let body = deltas(&[&begin, &end_of]) + &end("tool_calls");
    assert_eq!(calls(&decode(&body)), [call("f", "{\"a\":1}", "unchanged")]);
    let body = deltas(&[&both(r#""name":"f","#, "{}")]) + &end("tool_calls");
    let body = body.replacen("\"name\":\"f\"", "\"name\":\"g\"", 1);
    assert_eq!(calls(&decode(&body)).len(), 2);
}

#[test]
fn parallel_calls_interleave() {
    let body = turn(&[
        &tools(r#"{"index":1,"id":"x","function":{"name":"f","arguments":"{\"a"}}"#),
        &tools(r#"{"index":4,"id":"y","function":{"name":"g","arguments":"{\"b"}}"#),
        &tools(
            r#"{"index":1,"function":{"arguments":"\":1}"}},{"index":4,"function":{"arguments":"\":2}"}}"#,
        ),
    ]);
    assert_eq!(
        calls(&decode(&body)),
        [call("f", "{\"a\":1}", "unchanged"), call("g", "{\"b\":2}", "unchanged")]
    );
}

#[test]
fn an_index_that_is_missing_null_or_negative_is_made_up() {
    for index in ["", "\"index\":null,", "\"index\":-1,"] {
        let body = turn(&[
            &tools(&format!(
                r#"{{{index}"id":"x","function":{{"name":"f","arguments":"{{\"a\""}}}}"#
            )),
            &tools(&format!(r#"{{{index}"function":{{"arguments":":1}}"}}}}"#)),
            &tools(&format!(r#"{{{index}"id":"y","function":{{"name":"f","arguments":"{{}}"}}}}"#)),
            &tools(&format!(r#"{{{index}"id":"x","function":{{"arguments":" "}}}}"#)),
        ]);
        assert_eq!(
            calls(&decode(&body)),
            // The second call ends the first, and white space after that means nothing.
            [call("f", "{\"a\":1}", "unchanged"), call("f", "{}", "unchanged")],
            "{index}"
        );
    }
}

#[test]
fn an_index_that_is_always_0_gives_way_to_the_id_of_an_open_call() {
    let piece = |id: &str, name: &str, text: &str| {
        let name = if name.is_empty() { String::new() } else { format!("\"name\":\"{name}\",") };
        tools(&format!(
            "{{\"index\":0,\"id\":\"{id}\",\"function\":{{{name}\"arguments\":\"{text}\"}}}}"
        ))
    };
    for repeated in [false, true] {
        let later = |name: &'static str| if repeated { name } else { "" };
        let body = turn(&[
            &piece("a", "transfer", r#"{\"from\":"#),
            &piece("b", "delete", r#"{\"path\":"#),
            &piece("a", later("transfer"), r#"\"savings\"}"#),
            &piece("b", later("delete"), r#"\"/tmp\"}"#),
        ]);
        assert_eq!(
            calls(&decode(&body)),
            [
                call("transfer", r#"{"from":"savings"}"#, "unchanged"),
                call("delete", r#"{"path":"/tmp"}"#, "unchanged"),
            ]
        );
    }
}

#[test]
fn an_index_that_is_always_0_does_not_merge_calls() {
    let body = turn(&[
        &tools(r#"{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}}"#),
        &tools(r#"{"index":0,"id":"y","function":{"name":"f","arguments":"{\"a\":2}"}}"#),
        &tools(r#"{"index":0,"id":"z","function":{"name":"g","arguments":""}}"#),
    ]);
    assert_eq!(
        calls(&decode(&body)),
        [
            call("f", "{\"a\":1}", "unchanged"),
            call("f", "{\"a\":2}", "unchanged"),
            call("g", "{}", "unchanged")
        ]
    );
}

#[test]
fn one_index_twice_in_one_delta_is_two_calls() {
    let body = turn(&[&tools(
        r#"{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}},{"index":0,"function":{"name":"f","arguments":"{\"a\":2}"}}"#,
    )]);
    assert_eq!(
        calls(&decode(&body)),
        [call("f", "{\"a\":1}", "unchanged"), call("f", "{\"a\":2}", "unchanged")]
    );
}

#[test]
fn an_id_that_is_missing_empty_or_changing_is_no_new_call() {
    for id in [
        "",
        "\"id\":\"\",",
        "\"id\":null,",
        "\"id\":\"null\",",
        "\"id\":\"x\",",
        "\"id\":\"other\",",
    ] {
        let body = turn(&[
            &tools(r#"{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\""}}"#),
            &tools(&format!(r#"{{"index":0,{id}"function":{{"arguments":":1}}"}}}}"#)),
        ]);
        let transcript = decode(&body);
        assert_eq!(calls(&transcript), [call("f", "{\"a\":1}", "unchanged")], "{id}");
        assert_eq!(transcript.calls()[0].id(), Some("x"));
    }
}

#[test]
fn id_and_name_may_arrive_separately() {
    let body = turn(&[
        &tools(r#"{"index":0,"id":"x","function":{"name":null}}"#),
        &tools(r#"{"index":0,"function":{"name":"f"}}"#),
        &tools(r#"{"index":0,"function":{"arguments":"{}"}}"#),
    ]);
    let transcript = decode(&body);
    assert_eq!(calls(&transcript), [call("f", "{}", "unchanged")]);
    assert_eq!(transcript.calls()[0].id(), Some("x"));
}

#[test]
fn a_name_may_be_repeated_null_or_split() {
    let body = turn(&[
        &tools(r#"{"index":0,"id":"x","function":{"name":"get_","arguments":""}}"#),
        &tools(r#"{"index":0,"function":{"name":"weather"}}"#),
        &tools(r#"{"index":0,"function":{"name":"get_weather","arguments":"{\"a\""}}"#),
        &tools(r#"{"index":0,"function":{"name":"get_weather","arguments":":1}"}}"#),
        &tools(r#"{"index":1,"function":{"name":null,"arguments":""}}"#),
    ]);
    assert_eq!(calls(&decode(&body))[0], call("get_weather", "{\"a\":1}", "unchanged"));
    assert_eq!(calls(&decode(&body)).len(), 1);
}

#[test]
fn arguments_may_be_an_object_null_or_missing() {
    let body = turn(&[
        &tools(r#"{"index":0,"id":"x","function":{"name":"f","arguments":{"n": 1e400}}}"#),
        &tools(r#"{"index":1,"id":"y","function":{"name":"g","arguments":null}}"#),
        &tools(r#"{"index":2,"id":"z","function":{"name":"h"}}"#),
    ]);
    assert_eq!(
        calls(&decode(&body)),
        [
            call("f", r#"{"n": 1e400}"#, "unchanged"),
            call("g", "{}", "unchanged"),
            call("h", "{}", "unchanged")
        ]
    );
}

#[test]
fn arguments_sent_again_count_once() {
    let entry = |text: &str| {
        tools(&format!(r#"{{"index":0,"id":"x","function":{{"name":"f","arguments":{text:?}}}}}"#))
    };
    for pieces in [
        &["{\"a\"", "{\"a\": 1", "{\"a\": 1, \"b\"", "{\"a\": 1, \"b\": 2}"][..],
        &["{\"a\": 1, ", "\"b\": 2}", "{\"a\": 1, \"b\": 2}"],
        &["{}", "{\"a\": 1, ", "\"b\": 2}"],
        &["{\"a\": 1, \"b\": 2}", "{\"a\": 1, \"b\": 2}", "{\"a\": 1, \"b\": 2}"],
    ] {
        let entries: Vec<String> = pieces.iter().map(|piece| entry(piece)).collect();
        let body = turn(&entries.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(
            calls(&decode(&body)),
            [call("f", "{\"a\": 1, \"b\": 2}", "unchanged")],
            "{pieces:?}"
        );
    }
}

#[test]
fn an_empty_or_repeated_finish_reason_is_settled() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\"}]}\n\n"
        .to_owned()
        + &deltas(&[r#"{"content":"b"}"#]);
    assert_eq!(decode(&body).outcome(), StreamOutcome::Cut);
    let twice = body + &end("stop") + &end("stop");
    let transcript = decode(&twice);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("ab", StreamOutcome::Complete));
}

#[test]
fn a_stream_may_end_without_the_sentinel_but_not_without_a_reason() {
    let text = deltas(&[r#"{"content":"a"}"#]);
    assert_eq!(decode(&text).outcome(), StreamOutcome::Cut);
    let reason = text.clone() + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}";
    assert_eq!(decode(&reason).outcome(), StreamOutcome::Complete);
    assert_eq!(decode(&(text + "data: [DONE]")).outcome(), StreamOutcome::Complete);
}

#[test]
fn cut_arguments_are_cut_whatever_the_reason() {
    for reason in ["length", "tool_calls", "stop"] {
        let body = deltas(&[&tools(
            r#"{"index":0,"id":"x","function":{"name":"f","arguments":"{\"path\": \"/tm"}}"#,
        )]) + &end(reason);
        assert_eq!(calls(&decode(&body)), [call("f", "{\"path\": \"/tm", "cut")], "{reason}");
    }
}

#[test]
fn a_call_whose_end_nothing_states_is_cut_where_the_stream_breaks_off() {
    let one = tools(r#"{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}}"#);
    let transcript = decode(&deltas(&[&one]));
    assert_eq!(calls(&transcript), [call("f", "{\"a\":1}", "cut")]);
    assert_eq!(transcript.calls()[0].doubt(), Some(Doubt::BodyEnded));
    assert_eq!(transcript.outcome(), StreamOutcome::Cut);
    // The next call ends the previous one.
    let two = tools(r#"{"index":1,"id":"y","function":{"name":"g","arguments":"{}"}}"#);
    let transcript = decode(&deltas(&[&one, &two]));
    assert_eq!(calls(&transcript), [call("f", "{\"a\":1}", "unchanged"), call("g", "{}", "cut")]);
}

#[test]
fn complete_arguments_stay_complete_where_the_turn_ends_uncleanly() {
    for (text, outcome) in [
        ("{\\\"a\\\":1}", "unchanged"),
        ("[1]", "unchanged"),
        // A number may go on, and an empty object may be a placeholder.
        ("12", "cut"),
        ("{}", "none"),
        ("{ }", "none"),
        // Arguments that needed repair may have lost their end.
        ("{'a':1}", "cut"),
    ] {
        let call =
            format!(r#"{{"index":0,"id":"x","function":{{"name":"f","arguments":"{text}"}}}}"#);
        let body = deltas(&[&tools(&call)]);
        let reasons =
            ["length", "content_filter", "network_error", "refusal", "pause_turn", "whatever"];
        for tail in reasons.map(end).into_iter().chain(["data: [DONE]\n\n".to_owned()]) {
            let transcript = decode(&(body.clone() + &tail));
            assert_eq!(transcript.calls()[0].outcome().code(), outcome, "{text} {tail}");
        }
    }
}

#[test]
fn no_arguments_are_an_empty_object_only_after_a_clean_stop() {
    let two = deltas(&[
        &tools(r#"{"index":0,"id":"x","function":{"name":"f","arguments":""}}"#),
        &tools(r#"{"index":1,"id":"y","function":{"name":"g","arguments":""}}"#),
    ]);
    let native = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\",\"native_finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
    for (tail, outcome) in [
        (end("length"), "none"),
        (native.to_owned(), "none"),
        ("data: [DONE]\n\n".to_owned(), "none"),
        (String::new(), "cut"),
    ] {
        let transcript = decode(&(two.clone() + &tail));
        assert_eq!(calls(&transcript), [call("f", "", outcome), call("g", "", outcome)], "{tail}");
    }
    let whole = decode(&(two + &end("tool_calls")));
    assert!(whole.calls().iter().all(|call| call.outcome() == Outcome::Unchanged));
}

#[test]
fn a_permissive_caller_gets_the_cut_call_closed_and_reported() {
    let body = deltas(&[&tools(
        r#"{"index":0,"id":"x","function":{"name":"f","arguments":"{\"path\": \"/tm"}}"#,
    )]) + &end("length");
    let options =
        WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE));
    assert_eq!(calls(&decode_with(&options, &body)), [call("f", "{\"path\": \"/tm\"}", "closed")]);
}

#[test]
fn free_text_of_a_custom_tool_is_left_alone() {
    let body = turn(&[
        &tools(
            r#"{"index":0,"id":"x","type":"custom","custom":{"name":"sh","input":"echo 'a' {"}}"#,
        ),
        &tools(r#"{"index":0,"custom":{"input":" | tee {'x'"}}"#),
    ]);
    assert_eq!(calls(&decode(&body)), [call("sh", "echo 'a' { | tee {'x'", "unchanged")]);
}

#[test]
fn signs_of_life_are_no_data() {
    let body = ": keep-alive\n\n:\n\ndata: : keepalive\n\ndata:\n\ndata: null\n\ndata: \"\"\n\ndata: data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"
        .to_owned() + &end("stop");
    let transcript = decode(&body);
    assert_eq!((transcript.text().as_str(), transcript.errors().len()), ("x", 0));
}

#[test]
fn two_chunks_in_one_event_are_two_chunks() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}{\"choices\":[{\"delta\":{\"content\":\"c\"}}]}\n\n"
        .to_owned() + &end("stop");
    assert_eq!(decode(&body).text(), "abc");
}

#[test]
fn errors_inside_the_stream_are_reported_in_every_form() {
    let text = deltas(&[r#"{"content":"a"}"#]);
    for (error, message) in [
        (
            "data: {\"error\":{\"message\":\"overloaded\",\"code\":502},\"choices\":[]}\n\n",
            "overloaded",
        ),
        (
            "data: {\"error\":{\"message\":\"gone\"},\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
            "gone",
        ),
        (
            "event: error\ndata: {\"error\":{\"message\":\"bad tool\",\"failed_generation\":\"{'a'\"}}\n\n",
            "bad tool",
        ),
        ("data: {\"object\":\"error\",\"message\":\"too long\"}\n\n", "too long"),
        ("error: {\"code\":500,\"message\":\"no slot\"}\n\n", "no slot"),
        ("{\n  \"error\": {\n    \"message\": \"stopped\"\n  }\n}\n", "stopped"),
        ("data: error: out of memory\n\n", "error: out of memory"),
        ("event: error\ndata: plain words\n\n", "plain words"),
    ] {
        let transcript = decode(&(text.clone() + error));
        assert_eq!(transcript.text(), "a", "{error}");
        assert_eq!(transcript.errors()[0].message(), message, "{error}");
        assert_eq!(transcript.errors()[0].kind(), ErrorKind::Provider, "{error}");
        assert_eq!(transcript.outcome(), StreamOutcome::Error, "{error}");
    }
}

#[test]
fn a_payload_that_is_not_json_is_reported() {
    let body = deltas(&[r#"{"content":"a"}"#]) + "data: what is this\n\n" + &end("stop");
    let transcript = decode(&body);
    assert_eq!(transcript.errors()[0].kind(), ErrorKind::Malformed);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("a", StreamOutcome::Error));
}

#[test]
fn a_broken_envelope_is_mended() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"logprobs\":NaN}]}\n\n"
        .to_owned()
        + &end("stop");
    let transcript = decode(&body);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("a", StreamOutcome::Complete));
}

#[test]
fn a_chunk_that_breaks_off_is_a_cut_and_no_error() {
    let body = deltas(&[r#"{"content":"a"}"#]) + "data: {\"choices\":[{\"delta\":{\"cont";
    let transcript = decode(&body);
    assert_eq!((transcript.errors().len(), transcript.outcome()), (0, StreamOutcome::Cut));
}

#[test]
fn a_response_that_was_not_streamed_is_read() {
    let body = r#"{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"y","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
    let transcript = decode(body);
    assert_eq!((transcript.text().as_str(), transcript.calls().len()), ("Hi", 2));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn arguments_after_the_end_of_their_call_are_reported() {
    let body =
        deltas(&[&tools(r#"{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}"#)])
            + &end("tool_calls")
            + &deltas(&[&tools(r#"{"index":0,"function":{"arguments":"late"}}"#)]);
    assert_eq!(decode(&body).errors()[0].kind(), ErrorKind::LateArguments);
}

#[test]
fn limits_have_outcomes() {
    let entry = |n: usize| {
        tools(&format!(
            r#"{{"index":{n},"id":"c{n}","function":{{"name":"f","arguments":"{{\"a\":1}}"}}}}"#
        ))
    };
    let body = turn(&[&entry(0), &entry(1), &entry(2)]);
    let calls =
        decode_with(&WireOptions::new().with_limits(WireLimits::new().with_calls(2)), &body);
    assert_eq!((calls.calls().len(), calls.errors()[0].kind()), (2, ErrorKind::TooManyCalls));
    let short =
        decode_with(&WireOptions::new().with_limits(WireLimits::new().with_arguments(3)), &body);
    assert!(short.calls().iter().all(|call| call.outcome() == Outcome::Overflow));
}
