//! Calls without arguments leave with an empty object, if they ended well.

use wiremend_core::{MendOptions, Policy};
use wiremend_wire::{
    RewriteMode, RewriteOptions, RewriteOutcome, Rewriter, Rewritten, ToolPolicies, WireOptions,
    eventstream::{Header, HeaderValue, encode},
    mend_body,
};

use crate::{
    rewrite::rewrite,
    support::{finish, lines, named, sse, tools},
};

const MODES: [RewriteMode; 2] = [RewriteMode::Eager, RewriteMode::Validated];

/// The body leaves as that, in every mode, and then stays.
fn leaves_as(body: &str, want: &str) {
    for mode in MODES {
        let options = RewriteOptions::new().with_mode(mode);
        let out = rewrite(&options, body.as_bytes());
        assert_eq!(out.text(), want, "{mode:?}");
        let changed = body != want;
        assert_eq!(out.outcome == RewriteOutcome::Mended, changed);
        if changed {
            let calls = out.said.calls();
            assert!(
                calls.iter().all(|call| call.arguments() == "{}" && call.outcome().is_complete())
            );
            assert_eq!(rewrite(&options, want.as_bytes()).text(), want, "{mode:?} again");
        }
    }
}

/// What a server may send instead of arguments: the member, with a comma after it.
const NOTHING: [&str; 4] =
    [r#""arguments":"","#, r#""arguments":" ","#, r#""arguments":null,"#, ""];

#[test]
fn a_streamed_call_gets_its_arguments_before_the_end_of_the_choice() {
    for member in NOTHING {
        let start = tools(&format!(
            r#"{{"index":0,"id":"c","type":"function","function":{{{member}"name":"now"}}}}"#
        ));
        let end = finish("tool_calls");
        if member.contains(' ') {
            // White space waits for what follows it.
            let written = start.replace(member, r#""arguments":"{}","#);
            leaves_as(&format!("{start}{end}"), &format!("{written}{end}"));
            continue;
        }
        let added = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":null}]}"#;
        leaves_as(&format!("{start}{end}"), &format!("{start}{added}\n\n{end}"));
    }
    // In the same event.
    for member in NOTHING {
        let body = |member: &str| {
            let call = format!(r#"{{"id":"c","function":{{{member}"name":"now"}}}}"#);
            let choice =
                format!(r#"{{"delta":{{"tool_calls":[{call}]}},"finish_reason":"tool_calls"}}"#);
            sse(&[&format!("{{\"choices\":[{choice}]}}"), "[DONE]"])
        };
        let want = body(r#""arguments":"{}","#);
        leaves_as(&body(member), &want);
    }
}

#[test]
fn the_old_function_call_gets_its_arguments_too() {
    let chunk =
        |call: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"function_call":{call}}}}}]}}"#);
    let start = sse(&[&chunk(r#"{"name":"now","arguments":""}"#)]);
    let end = finish("function_call");
    let added = r#"data: {"choices":[{"index":0,"delta":{"function_call":{"arguments":"{}"}},"finish_reason":null}]}"#;
    leaves_as(&format!("{start}{end}"), &format!("{start}{added}\n\n{end}"));
}

#[test]
fn calls_of_a_choice_get_their_arguments_in_one_event() {
    let call = |index: usize, arguments: &str| {
        format!(
            r#"{{"index":{index},"id":"c{index}","function":{{"name":"now","arguments":"{arguments}"}}}}"#
        )
    };
    let start: String = [call(0, ""), call(1, r#"{\"a\": 1}"#), call(2, "")]
        .iter()
        .map(|call| tools(call))
        .collect();
    let end = finish("tool_calls");
    let added = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}},{"index":2,"function":{"arguments":"{}"}}]},"finish_reason":null}]}"#;
    for mode in MODES {
        let options = RewriteOptions::new().with_mode(mode);
        let out = rewrite(&options, format!("{start}{end}").as_bytes());
        assert_eq!(out.text(), format!("{start}{added}\n\n{end}"), "{mode:?}");
    }
}

/// The place of the event says which call it is for: between that call and the next one.
#[test]
fn calls_that_have_no_number_of_their_own_get_an_event_before_the_next_one() {
    for numbers in ["", "\"index\":0,"] {
        let call = |id: &str, arguments: &str| {
            tools(&format!(
                r#"{{{numbers}"id":"{id}","function":{{"name":"now","arguments":"{arguments}"}}}}"#
            ))
        };
        let added = sse(&[&format!(
            r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{{numbers}"function":{{"arguments":"{{}}"}}}}]}},"finish_reason":null}}]}}"#
        )]);
        let end = finish("tool_calls");
        let (first, last) = (call("a", ""), call("z", ""));
        let full = call("b", r#"{\"a\": 1}"#);
        for (came, want) in [
            ([&*first, &full], [&*first, &added, &full].concat()),
            ([&*full, &last], [&*full, &last, &added].concat()),
            ([&*first, &last], [&*first, &added, &last, &added].concat()),
        ] {
            for mode in MODES {
                let options = RewriteOptions::new().with_mode(mode);
                let out = rewrite(&options, (came.concat() + &end).as_bytes());
                assert_eq!(out.text(), want.clone() + &end, "{mode:?}");
                assert_eq!(rewrite(&options, &out.bytes).text(), out.text(), "{mode:?} again");
            }
        }
        // Arguments that come later are those of the call that they name.
        let late = tools(&format!(r#"{{{numbers}"id":"a","function":{{"arguments":"{{}}"}}}}"#));
        let body = first.clone() + &last + &late + &end;
        let out = rewrite(&RewriteOptions::new(), body.as_bytes());
        let out = out.text();
        assert!(out == body || out == first.clone() + &last + &late + &added + &end, "{out}");
    }
    // In one event, each has its own place.
    let body = |first: &str, last: &str| {
        let call = |id: &str, text: &str| {
            format!(r#"{{"id":"{id}","function":{{"name":"now","arguments":"{text}"}}}}"#)
        };
        tools(&format!("{},{}", call("a", first), call("b", last))) + &finish("tool_calls")
    };
    leaves_as(&body("", "{}"), &body("{}", "{}"));
}

#[test]
fn a_call_that_did_not_end_well_stays_as_it_came() {
    let start = tools(r#"{"index":0,"id":"c","function":{"name":"now","arguments":""}}"#);
    let lost = "data: {\"choices\":[{\"delta\":{\"tool_\n\n";
    for end in
        ["", &finish("length"), "data: [DONE]\n\n", &(lost.to_owned() + &finish("tool_calls"))]
    {
        leaves_as(&format!("{start}{end}"), &format!("{start}{end}"));
    }
    // Neither does one whose tool is left alone.
    let body = format!("{start}{}", finish("tool_calls"));
    for policies in [
        ToolPolicies::new(|tool| (tool == "now").then_some(Policy::STRICT)),
        ToolPolicies::new(|_| Some(Policy::STRICT)),
    ] {
        let wire = WireOptions::new().with_policies(policies);
        let out = rewrite(&RewriteOptions::new().with_wire(wire), body.as_bytes());
        assert_eq!(out.text(), body);
    }
    let strict = WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT));
    assert_eq!(rewrite(&RewriteOptions::new().with_wire(strict), body.as_bytes()).text(), body);
}

#[test]
fn a_body_that_was_not_streamed_gets_them_in_their_place() {
    let arguments = |key: &str, value: &str| format!("\"{key}\":{value},");
    let bodies: [(&str, &str, &str); 8] = [
        (
            "arguments",
            r#""{}""#,
            r#"{"choices":[{"message":{"tool_calls":[{"id":"c","type":"function","function":{@"name":"now"}}]},"finish_reason":"tool_calls"}]}"#,
        ),
        (
            "arguments",
            r#""{}""#,
            r#"{"choices":[{"message":{"function_call":{@"name":"now"}},"finish_reason":"function_call"}]}"#,
        ),
        (
            "arguments",
            r#""{}""#,
            r#"{"object":"response","status":"completed","output":[{"type":"function_call",@"id":"i","call_id":"c","name":"now","status":"completed"}]}"#,
        ),
        (
            "arguments",
            r#""{}""#,
            r#"{"id":"m","finish_reason":"TOOL_CALL","message":{"role":"assistant","tool_calls":[{"id":"c","function":{@"name":"now"}}]}}"#,
        ),
        (
            "input",
            "{}",
            r#"{"type":"message","role":"assistant","content":[{"type":"tool_use",@"id":"c","name":"now"},{"type":"text","text":"so"}],"stop_reason":"tool_use"}"#,
        ),
        (
            "input",
            "{}",
            r#"{"output":{"message":{"role":"assistant","content":[{"toolUse":{@"toolUseId":"c","name":"now"}}]}},"stopReason":"tool_use"}"#,
        ),
        (
            "args",
            "{}",
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{@"name":"now"}}]},"finishReason":"STOP"}]}"#,
        ),
        (
            "arguments",
            "{}",
            r#"{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{@"name":"now"}}]},"done":true,"done_reason":"stop"}"#,
        ),
    ];
    for (key, value, body) in bodies {
        // Where there is no such member, it is written first.
        let mut bare = body.replacen('@', "", 1);
        let open = body[..body.find('@').unwrap()].rfind('{').unwrap() + 1;
        let written = format!("{}{}{}", &bare[..open], arguments(key, value), &bare[open..]);
        leaves_as(&bare, &written);
        for nothing in ["null", "\"\""] {
            bare = body.replacen('@', &arguments(key, nothing), 1);
            let want = body.replacen('@', &arguments(key, value), 1);
            leaves_as(&bare, &want);
            let mended = mend_body(bare.as_bytes(), WireOptions::new());
            assert_eq!(String::from_utf8_lossy(mended.body()), want);
        }
        // What is stated stays.
        let stated =
            body.replacen('@', &arguments(key, if value == "{}" { "{ }" } else { "\"{ }\"" }), 1);
        leaves_as(&stated, &stated);
    }
}

#[test]
fn a_format_that_states_ends_gets_them_before_the_end_of_the_call() {
    let anthropic = |start: &str, more: &[(&str, &str)]| {
        let mut events = vec![
            ("message_start", r#"{"type":"message_start","message":{}}"#),
            ("content_block_start", start),
        ];
        events.extend(more);
        events.extend([
            ("content_block_stop", r#"{"type":"content_block_stop","index":1}"#),
            ("message_delta", r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#),
            ("message_stop", r#"{"type":"message_stop"}"#),
        ]);
        named(&events)
    };
    let silent = (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    );
    let added = (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
    );
    // White space becomes the object.
    let start = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"now","input":{}}}"#;
    let blank = (silent.0, &*silent.1.replace(r#""""#, r#"" ""#));
    leaves_as(&anthropic(start, &[blank, blank]), &anthropic(start, &[added, silent]));
    for input in ["", r#","input":null"#, r#","input":"""#] {
        let start = format!(
            r#"{{"type":"content_block_start","index":1,"content_block":{{"type":"tool_use","id":"t","name":"now"{input}}}}}"#
        );
        leaves_as(&anthropic(&start, &[]), &anthropic(&start, &[added]));
        leaves_as(&anthropic(&start, &[silent]), &anthropic(&start, &[silent, added]));
    }
    // An empty object at the start counts, and is what the provider itself sends.
    let start = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"now","input":{}}}"#;
    for more in [&[][..], &[silent]] {
        let body = anthropic(start, more);
        leaves_as(&body, &body);
    }
    let cohere = |more: &[&str]| {
        let mut events = vec![
            r#"{"type":"message-start","id":"m","delta":{"message":{"role":"assistant"}}}"#,
            r#"{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"c","type":"function","function":{"name":"now","arguments":""}}}}}"#,
        ];
        events.extend(more);
        events.push(r#"{"type":"tool-call-end","index":0}"#);
        events.push(r#"{"type":"message-end","delta":{"finish_reason":"TOOL_CALL"}}"#);
        sse(&events)
    };
    let added = r#"{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{}"}}}}}"#;
    leaves_as(&cohere(&[]), &cohere(&[added]));
    let steps = |more: &[&str], arguments: &str| {
        let mut events = vec![
            r#"{"event_type":"interaction.created","interaction":{"id":"i","status":"in_progress"}}"#,
            r#"{"event_type":"step.start","index":0,"step":{"type":"function_call","id":"c","name":"now"}}"#,
        ];
        events.extend(more);
        let call = format!(r#"{{"type":"function_call","id":"c","name":"now"{arguments}}}"#);
        let end = format!(
            r#"{{"event_type":"interaction.completed","interaction":{{"id":"i","status":"requires_action","steps":[{call}]}}}}"#
        );
        events.extend([r#"{"event_type":"step.stop","index":0}"#, &end]);
        sse(&events)
    };
    let step = r#"{"event_type":"step.delta","index":0,"delta":{"type":"arguments_delta","arguments":"{}"}}"#;
    for nothing in [r#","arguments":null"#, r#","arguments":"""#] {
        leaves_as(&steps(&[], nothing), &steps(&[step], r#","arguments":{}"#));
    }
    // If the turn did not end by itself, the call may have been cut off.
    let cut = cohere(&[]).replace("TOOL_CALL", "MAX_TOKENS");
    leaves_as(&cut, &cut);
}

#[test]
fn the_whole_response_repeats_them() {
    let body = |item: &str, response: &str| {
        let added = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"now","arguments":""}}"#;
        let call = |arguments: &str| {
            format!(
                r#"{{"type":"function_call","id":"i","call_id":"c","name":"now","status":"completed","arguments":"{arguments}"}}"#
            )
        };
        let done = format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{}}}"#,
            call(item)
        );
        let completed = format!(
            r#"{{"type":"response.completed","response":{{"status":"completed","output":[{}]}}}}"#,
            call(response)
        );
        sse(&[added, &done, &completed])
    };
    leaves_as(&body("", ""), &body("{}", "{}"));
    // Wherever they are stated, and whatever is there.
    let body = |delta: &str, arguments: &str| {
        let added = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"i","call_id":"c","name":"now","arguments":""}}"#;
        let item = format!(
            r#"{{"type":"function_call","id":"i","call_id":"c","name":"now","status":"completed","arguments":{arguments}}}"#
        );
        let mut events = vec![added.to_owned()];
        events.extend((!delta.is_empty()).then(|| format!(
            r#"{{"type":"response.function_call_arguments.delta","item_id":"i","output_index":0,"delta":{delta}}}"#
        )));
        events.extend([
            format!(
                r#"{{"type":"response.function_call_arguments.done","item_id":"i","output_index":0,"name":"now","arguments":{arguments}}}"#
            ),
            format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#),
            format!(
                r#"{{"type":"response.completed","response":{{"status":"completed","output":[{item}]}}}}"#
            ),
        ]);
        sse(&events.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let object = r#""{}""#;
    for nothing in [r#""""#, "null"] {
        leaves_as(&body("", nothing), &body("", object));
    }
    leaves_as(&body(r#"" ""#, r#"" ""#), &body(object, object));
}

/// A list of all calls repeats them before the end of the turn.
#[test]
fn a_list_that_repeats_the_calls_gets_them() {
    let cohere = |list: &str| {
        let calls = format!(r#"[{{"name":"now"{list}}}]"#);
        let end = format!(
            r#"{{"is_finished":true,"event_type":"stream-end","finish_reason":"COMPLETE","response":{{"generation_id":"g","text":"","tool_calls":{calls}}}}}"#
        );
        lines(&[
            r#"{"is_finished":false,"event_type":"stream-start","generation_id":"g"}"#,
            r#"{"is_finished":false,"event_type":"tool-calls-chunk","tool_call_delta":{"index":0,"name":"now"}}"#,
            &format!(
                r#"{{"is_finished":false,"event_type":"tool-calls-generation","text":"","tool_calls":{calls}}}"#
            ),
            &end,
        ])
    };
    for nothing in [r#","parameters":null"#, r#","parameters":"""#] {
        leaves_as(&cohere(nothing), &cohere(r#","parameters":{}"#));
    }
}

#[test]
fn calls_that_come_whole_in_a_stream_get_them_in_their_place() {
    let gemini = |args: &str, reason: &str| {
        let call = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{{args}"name":"now"}}}}]}}}}]}}"#
        );
        let end = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":""}}]}},"finishReason":"{reason}"}}]}}"#
        );
        sse(&[&call, &end])
    };
    let ollama = |arguments: &str, reason: &str| {
        let call = format!(
            r#"{{"message":{{"content":"","tool_calls":[{{"function":{{{arguments}"name":"now"}}}}]}},"done":false}}"#
        );
        let end = format!(r#"{{"message":{{"content":""}},"done":true,"done_reason":"{reason}"}}"#);
        lines(&[&call, &end])
    };
    for (args, arguments) in [
        ("", ""),
        (r#""args":null,"#, r#""arguments":null,"#),
        (r#""args":"","#, r#""arguments":"","#),
    ] {
        leaves_as(&gemini(args, "STOP"), &gemini(r#""args":{},"#, "STOP"));
        leaves_as(&ollama(arguments, "stop"), &ollama(r#""arguments":{},"#, "stop"));
        leaves_as(&gemini(args, "MAX_TOKENS"), &gemini(args, "MAX_TOKENS"));
        leaves_as(&ollama(arguments, "length"), &ollama(arguments, "length"));
    }
}

#[test]
fn frames_get_an_event_of_their_own() {
    let body = |events: &[(&str, &str)]| {
        let mut body = Vec::new();
        for (name, payload) in events {
            let headers = [
                Header::new(":event-type", HeaderValue::Str(name)),
                Header::new(":message-type", HeaderValue::Str("event")),
            ];
            encode(&headers, payload.as_bytes(), &mut body).unwrap();
        }
        body
    };
    let start = r#"{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"now"}}}"#;
    let delta = |input: &str| {
        format!(r#"{{"contentBlockIndex":1,"delta":{{"toolUse":{{"input":"{input}"}}}}}}"#)
    };
    let (silent, added) = (delta(""), delta("{}"));
    let head = [("contentBlockStart", start), ("contentBlockDelta", &silent)];
    let tail = [
        ("contentBlockStop", r#"{"contentBlockIndex":1}"#),
        ("messageStop", r#"{"stopReason":"tool_use"}"#),
    ];
    let came = body(&[&head[..], &tail].concat());
    let want = body(&[&head[..], &[("contentBlockDelta", &added)], &tail].concat());
    for mode in MODES {
        let options = RewriteOptions::new().with_mode(mode);
        assert_eq!(rewrite(&options, &came).bytes, want);
        assert_eq!(rewrite(&options, &want).bytes, want);
    }
}

/// What begins a call waits for nothing, whatever comes of it.
#[test]
fn the_start_of_a_call_is_not_held() {
    for mode in MODES {
        let mut rewriter = Rewriter::new(RewriteOptions::new().with_mode(mode));
        let mut left = 0;
        let start = tools(r#"{"index":0,"id":"c","function":{"name":"now"}}"#);
        rewriter.push(start.as_bytes(), &mut |piece| {
            if let Rewritten::Bytes(bytes) = piece {
                left += bytes.len();
            }
        });
        assert_eq!((left, rewriter.withheld()), (start.len(), 0));
    }
}
