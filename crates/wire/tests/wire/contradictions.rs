//! Events that were damaged into something else, that come twice, or that say two things.

use core::slice::from_ref;

use wiremend_wire::{
    Doubt, ErrorKind, RewriteMode, RewriteOptions, Rewriter, Rewritten, StreamOutcome, WireOptions,
    eventstream::{Header, HeaderValue, encode},
};

use crate::support::{
    START, call, calls, decode, decode_bytes, doubts, finish, lines, named, piece, sse, tools,
};

/// A comment is legal; but one that holds an object is an event that lost the name of its field.
#[test]
fn a_comment_that_holds_an_object_was_an_event() {
    let rest = ": 0, \"function\": {\"arguments\": \"2\"}}]}, \"finish_reason\": null}]}\n\n";
    for (comment, outcome, stream) in [
        (": {\"choices\":[]}\n\n", "cut", StreamOutcome::Lossy),
        (rest, "cut", StreamOutcome::Lossy),
        (": ping {}\n\n", "unchanged", StreamOutcome::Complete),
        (": it says \"ping\"\n\n", "unchanged", StreamOutcome::Complete),
    ] {
        let body = [tools(START).as_str(), &piece("{\"a\": \"x"), comment, &piece("\"}")].concat();
        let transcript = decode(&(body + &finish("tool_calls")));
        assert_eq!(transcript.calls()[0].outcome().code(), outcome, "{comment}");
        assert_eq!(transcript.outcome(), stream, "{comment}");
    }
}

/// A line was lost from somewhere in it to somewhere in a later one.
#[test]
fn fields_and_names_of_two_lines_lost_an_event() {
    let event = |name: &str, rest: &str| {
        format!("{name}data: {{\"type\":\"content_block_delta\",\"index\":0,{rest}}}\n\n")
    };
    let piece = |name: &str, text: &str| {
        event(name, &format!("\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":{text}}}"))
    };
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n\
        event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"run\",\"input\":{}}}\n\n";
    let end = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
        event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n\
        event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    for (between, name, doubt) in [
        ("", "event: content_block_delta\n", None),
        ("", "event: message\n", None),
        ("", "event: content\n", None),
        ("", "event: chunk\n", None),
        ("", "", None),
        ("event: ping\n\n", "", None),
        ("x-request-id: 5\n", "", None),
        ("event: content_block_d\n\n", "", Some(Doubt::LostEvent)),
        ("event: content\n\n", "", Some(Doubt::LostEvent)),
        ("event: content_block_stop\n\n", "", Some(Doubt::LostEvent)),
        ("", "event: content_block_d\n", Some(Doubt::DamagedEvent)),
        ("", "event: content_block_start\n", Some(Doubt::DamagedEvent)),
        ("", "event: content_blevent: content_block_delta\n", Some(Doubt::DamagedEvent)),
        ("", "eveevent: content_block_delta\n", Some(Doubt::LostEvent)),
        ("event: content_block_delta\ndadata: x\n", "", Some(Doubt::LostEvent)),
    ] {
        let pieces = piece("", "\"{\\\"a\\\":1\"") + between + &piece(name, "\"}\"");
        let transcript = decode(&(start.to_owned() + &pieces + end));
        let outcome = if doubt.is_some() { "cut" } else { "unchanged" };
        assert_eq!(doubts(&transcript), [(outcome, doubt)], "{between:?} {name:?}");
    }
    // The type of the event was damaged, so its piece is lost.
    let lost =
        piece("event: content_block_delta\n", "\"2\"").replacen("\"content_", "\"conten_", 1);
    let body = [start, &piece("", "\"{\\\"a\\\":1\""), &lost, &piece("", "\"}\""), end].concat();
    assert_eq!(doubts(&decode(&body)), [("cut", Some(Doubt::DamagedEvent))]);
}

#[test]
fn an_event_that_is_named_for_another_one_is_damaged_in_every_format_that_names_them() {
    let body = |events: &[(&str, &str)]| {
        let event = |(name, payload): &(&str, &str)| format!("event: {name}\ndata: {payload}\n\n");
        events.iter().map(event).collect::<String>()
    };
    let cohere = [
        ("message-start", r#"{"type":"message-start"}"#),
        (
            "tool-call-start",
            r#"{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"c","function":{"name":"f","arguments":"{\"a\":1"}}}}}"#,
        ),
        (
            "tool-call-delta",
            r#"{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"2"}}}}}"#,
        ),
        (
            "tool-call-delta",
            r#"{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"}"}}}}}"#,
        ),
        ("tool-call-end", r#"{"type":"tool-call-end","index":0}"#),
        ("message-end", r#"{"type":"message-end","delta":{"finish_reason":"TOOL_CALL"}}"#),
    ];
    let responses = [
        (
            "response.output_item.added",
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":""}}"#,
        ),
        (
            "response.function_call_arguments.delta",
            r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":1"}"#,
        ),
        (
            "response.function_call_arguments.delta",
            r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"2"}"#,
        ),
        (
            "response.function_call_arguments.delta",
            r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"}"}"#,
        ),
        (
            "response.output_item.done",
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","status":"completed","call_id":"c","name":"f"}}"#,
        ),
        (
            "response.completed",
            r#"{"type":"response.completed","response":{"status":"completed"}}"#,
        ),
    ];
    let interactions = [
        (
            "step.start",
            r#"{"event_type":"step.start","index":0,"step":{"type":"function_call","id":"c","name":"f","arguments":{}}}"#,
        ),
        (
            "step.delta",
            r#"{"event_type":"step.delta","index":0,"delta":{"type":"arguments_delta","arguments":"{\"a\":1"}}"#,
        ),
        (
            "step.delta",
            r#"{"event_type":"step.delta","index":0,"delta":{"type":"arguments_delta","arguments":"2"}}"#,
        ),
        (
            "step.delta",
            r#"{"event_type":"step.delta","index":0,"delta":{"type":"arguments_delta","arguments":"}"}}"#,
        ),
        ("step.stop", r#"{"event_type":"step.stop","index":0}"#),
        (
            "interaction.completed",
            r#"{"event_type":"interaction.completed","interaction":{"id":"i","status":"requires_action","object":"interaction"}}"#,
        ),
    ];
    let step = |text: &str| {
        format!(
            r#"{{"id":"s","object":"thread.run.step.delta","delta":{{"step_details":{{"type":"tool_calls","tool_calls":[{{"index":0,"id":"c","type":"function","function":{{"name":"f","arguments":{text}}}}}]}}}}}}"#
        )
    };
    let steps = [r#""{\"a\":1""#, r#""2""#, r#""}""#].map(step);
    let assistants = [
        ("thread.run.created", r#"{"id":"r","object":"thread.run","status":"queued"}"#),
        ("thread.run.step.delta", steps[0].as_str()),
        ("thread.run.step.delta", &steps[1]),
        ("thread.run.step.delta", &steps[2]),
        (
            "thread.run.requires_action",
            r#"{"id":"r","object":"thread.run","status":"requires_action"}"#,
        ),
        ("thread.run.step.completed", r#"{"id":"s","object":"thread.run.step"}"#),
    ];
    for events in [cohere, responses, interactions, assistants] {
        let transcript = decode(&body(&events));
        assert_eq!(calls(&transcript), [call("f", "{\"a\":12}", "unchanged")], "{events:?}");
        let mut damaged = events;
        let payload =
            damaged[2].1.replacen(".delta\"", ".dela\"", 1).replacen("-delta\"", "-dela\"", 1);
        damaged[2].1 = &payload;
        let transcript = decode(&body(&damaged));
        assert_eq!(doubts(&transcript), [("cut", Some(Doubt::DamagedEvent))], "{damaged:?}");
    }
}

#[test]
fn a_name_with_a_line_end_in_it_was_damaged() {
    let start = r#"{"index":0,"id":"x","function":{"name":"ru\nn","arguments":"{}"}}"#;
    let transcript = decode(&(tools(start) + &finish("tool_calls")));
    assert_eq!(doubts(&transcript), [("cut", Some(Doubt::DamagedEvent))]);
}

#[test]
fn a_turn_that_stops_cleanly_and_then_does_not_contradicts_itself() {
    let start = r#"{"index":0,"id":"x","function":{"name":"run","arguments":"{}"}}"#;
    for (first, second, errors) in
        [("tool_calls", "length", 1), ("tool_calls", "stop", 0), ("length", "tool_calls", 0)]
    {
        let choice = |reason: &str| {
            format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\n"
            )
        };
        let transcript = decode(&[tools(start), choice(first), finish(second)].concat());
        assert_eq!(transcript.errors().len(), errors, "{first}, {second}");
        assert!(transcript.errors().iter().all(|one| one.kind() == ErrorKind::Contradiction));
    }
}

/// OpenAI Responses: an announced call, and the whole output at the end.
fn announced(output: &str) -> String {
    format!(
        "data: {{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"\"}}}}\n\n\
         data: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{{\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"{{\\\"a\\\":1}}\"}}}}\n\n\
         data: {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\",\"output\":[{output}]}}}}\n\n"
    )
}

#[test]
fn a_call_that_only_the_whole_response_holds_is_not_lost() {
    let item = |id: &str, name: &str, n: u8| {
        format!(
            "{{\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":\"{id}\",\"name\":\"{name}\",\"arguments\":\"{{\\\"a\\\":{n}}}\"}}"
        )
    };
    let (first, second) = (item("c", "run", 1), item("d", "stop", 2));
    let both = [call("run", "{\"a\":1}", "unchanged"), call("stop", "{\"a\":2}", "unchanged")];
    let transcript = decode(&announced(&format!("{first},{second}")));
    assert_eq!(calls(&transcript), both);
    let transcript = decode(&announced(&format!("{second},{first}")));
    assert_eq!(calls(&transcript), both);
    // Another id for the same call.
    let transcript = decode(&announced(&item("e", "run", 1)));
    assert_eq!(calls(&transcript), both[..1]);
    // Other ids for both.
    let transcript =
        decode(&announced(&format!("{},{}", item("e", "run", 1), item("f", "stop", 2))));
    assert_eq!(calls(&transcript), both);
    assert_eq!(transcript.errors().len(), 0);
}

#[test]
fn a_call_that_a_format_sends_twice_is_one() {
    let call_of = |id: &str, n: u8| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"functionCall\":{{\"id\":\"{id}\",\"name\":\"run\",\"args\":{{\"a\":{n}}}}}}}]}}}}]}}\n\n"
        )
    };
    let end = "data: {\"candidates\":[{\"content\":{\"parts\":[]},\"finishReason\":\"STOP\"}]}\n\n";
    for (second, count) in [(call_of("x", 1), 1), (call_of("x", 2), 2), (call_of("y", 1), 2)] {
        let transcript = decode(&[call_of("x", 1).as_str(), &second, end].concat());
        assert_eq!(transcript.calls().len(), count, "{second}");
    }
}

#[test]
fn input_that_is_a_text_is_read_as_the_arguments_it_holds() {
    let body = "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"run\",\"input\":\"{\\\"a\\\": 1}\"}],\"stop_reason\":\"tool_use\"}";
    assert_eq!(calls(&decode(body)), [call("run", "{\"a\": 1}", "unchanged")]);
}

/// The program that writes the envelope writes the object in it as well, so both are valid or damaged.
#[test]
fn a_repair_inside_an_object_is_damage_as_elsewhere_in_the_envelope() {
    let body = |args: &str, colon: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"functionCall\":{{\"name\":\"one\",\"args\":{args}}}}},{{\"functionCall\":{{\"name\":\"two\",\"args\":{{}}}}}}]}},\"finishReason\"{colon} \"STOP\"}}]}}\n\n"
        )
    };
    for damaged in [body("{\"a\" 1}", ":"), body("{\"a\": 1}", ""), body("{\"a\": [1] oops}", ":")]
    {
        let transcript = decode(&damaged);
        assert_eq!(transcript.calls().len(), 2);
        for call in transcript.calls() {
            assert_eq!(call.doubt(), Some(Doubt::DamagedEvent), "{damaged}");
            assert!(!call.outcome().is_complete(), "{damaged}");
        }
    }
    assert_eq!(decode(&body("{\"a\" 1}", ":")).calls()[0].raw(), "{\"a\" 1}");
}

#[test]
fn what_is_no_call_leaves_a_rewriter_as_it_came() {
    let body = [tools(START).as_str(), &piece("\"SF\"}"), &finish("tool_calls")].concat();
    let mut out = Vec::new();
    let options = RewriteOptions::new().with_mode(RewriteMode::Validated);
    let mut rewriter = Rewriter::new(options);
    let mut sink = |piece: Rewritten<'_>| {
        if let Rewritten::Bytes(bytes) = piece {
            out.extend_from_slice(bytes);
        }
    };
    rewriter.push(body.as_bytes(), &mut sink);
    rewriter.finish(&mut sink);
    assert_eq!(String::from_utf8(out).unwrap(), body);
}

// Formats that say everything twice: the repetition must say the same, and what only the repetition
// holds is read.

const CONTRADICTED: (&str, Option<Doubt>) = ("cut", Some(Doubt::Contradiction));
const LOST: (&str, Option<Doubt>) = ("cut", Some(Doubt::LostEvent));
const WHOLE: (&str, Option<Doubt>) = ("unchanged", None);

/// Assistants: two calls in pieces, and the run that requires them.
fn assistants(first: &str, required: &str) -> String {
    let step = |call: &str| {
        format!(
            r#"{{"object":"thread.run.step.delta","delta":{{"step_details":{{"type":"tool_calls","tool_calls":[{call}]}}}}}}"#
        )
    };
    let required = format!(
        r#"{{"object":"thread.run","status":"requires_action","required_action":{{"submit_tool_outputs":{{"tool_calls":[{required}]}}}}}}"#
    );
    named(&[
        (
            "thread.run.step.delta",
            &step(r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#),
        ),
        (
            "thread.run.step.delta",
            &step(&format!(
                r#"{{"index":0,"function":{{"arguments":{}}}}}"#,
                serde_json::to_string(first).unwrap()
            )),
        ),
        (
            "thread.run.step.delta",
            &step(r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}"#),
        ),
        ("thread.run.requires_action", &required),
        ("done", "[DONE]"),
    ])
}

fn required(id: &str, name: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(r#"{{"id":"{id}","function":{{"name":"{name}","arguments":{text}}}}}"#)
}

#[test]
fn a_call_that_is_repeated_is_not_complete_before_that() {
    for (first, again, want) in [
        (r#"{"city":"Francisco"}"#, r#"{"city":"San Francisco"}"#, CONTRADICTED),
        (r#"{"p":"C:\\dir"}"#, r#"{"p":"C:\\dir\\sub"}"#, CONTRADICTED),
        (r#"{"p":"caf"}"#, r#"{"p":"café"}"#, CONTRADICTED),
        (r#"{"q":"rm -rf /data/x"}"#, r#"{"q":"rm -rf / data/x"}"#, CONTRADICTED),
        (r#"{"q":[1,2]}"#, r#"{"q":[2,1]}"#, CONTRADICTED),
        (r#"{"q":1}"#, r#"{"q":"1"}"#, CONTRADICTED),
        (r#"{"a":"é/","b":1.0}"#, r#"{ "b": 1, "a": "\u00e9\/" }"#, WHOLE),
        (r#"{"a":1}"#, r#"{"a":1}"#, WHOLE),
    ] {
        let both = [required("a", "f", again), required("b", "g", "{}")].join(",");
        assert_eq!(doubts(&decode(&assistants(first, &both))), [want, WHOLE], "{first} {again}");
    }
    // A call that the repetition of all calls does not hold.
    let transcript = decode(&assistants("{\"a\":1}", &required("b", "g", "{}")));
    assert_eq!(doubts(&transcript), [CONTRADICTED, WHOLE]);
}

const COHERE: &str = r#"{"is_finished":false,"event_type":"stream-start","generation_id":"g"}"#;
const COHERE_END: &str =
    r#"{"is_finished":true,"event_type":"stream-end","finish_reason":"COMPLETE"}"#;

fn cohere_piece(delta: &str) -> String {
    format!(
        r#"{{"is_finished":false,"event_type":"tool-calls-chunk","tool_call_delta":{{{delta}}}}}"#
    )
}

/// Cohere, version 1: pieces, and all calls. Both events that repeat them say the same.
fn cohere(pieces: &[&str], all: &str) -> [String; 2] {
    let pieces: Vec<String> = pieces.iter().map(|delta| cohere_piece(delta)).collect();
    let of = |last: &[&str]| {
        let mut body = vec![COHERE];
        body.extend(pieces.iter().map(String::as_str));
        body.extend(last);
        lines(&body)
    };
    let generation = format!(
        r#"{{"is_finished":false,"event_type":"tool-calls-generation","tool_calls":[{all}]}}"#
    );
    let end = format!(
        r#"{{"is_finished":true,"event_type":"stream-end","finish_reason":"COMPLETE","response":{{"tool_calls":[{all}]}}}}"#
    );
    [of(&[&generation, COHERE_END]), of(&[&generation, &end])]
}

#[test]
fn calls_of_cohere_are_compared_with_the_list_that_repeats_them() {
    let start = r#""index":0,"name":"f""#;
    let whole = r#""index":0,"parameters":"{\"a\":1}""#;
    let one = r#"{"name":"f","parameters":{"a":1}}"#;
    let f = call("f", "{\"a\":1}", "unchanged");
    for body in cohere(&[start, whole], one) {
        assert_eq!(calls(&decode(&body)), from_ref(&f));
    }
    for other in [r#"{"name":"f","parameters":{"a":12}}"#, r#"{"name":"g","parameters":{"a":1}}"#] {
        for body in cohere(&[start, whole], other) {
            assert_eq!(doubts(&decode(&body)), [CONTRADICTED], "{other}");
        }
    }
    // All pieces of the arguments are lost, or the last one.
    for body in cohere(&[start], one) {
        assert_eq!(calls(&decode(&body)), from_ref(&f));
    }
    for body in cohere(&[start, r#""index":0,"parameters":"{\"a\"""#], one) {
        assert_eq!(doubts(&decode(&body)), [CONTRADICTED]);
    }
    // All pieces of a call are lost.
    for body in
        cohere(&[start, whole], &format!("{one},{{\"name\":\"g\",\"parameters\":{{\"b\":2}}}}"))
    {
        assert_eq!(calls(&decode(&body)), [f.clone(), call("g", "{\"b\":2}", "unchanged")]);
    }
    // The index of the start is lost or another one: the list says which arguments the call has, and that it
    // is one.
    for lost in [r#""name":"f""#, r#""index":1,"name":"f""#] {
        for body in cohere(&[lost, whole], one) {
            let transcript = decode(&body);
            let complete =
                transcript.calls().into_iter().filter(|call| call.outcome().is_complete());
            assert!(complete.clone().count() < 2, "{lost}");
            assert!(complete.into_iter().all(|call| call.arguments() == "{\"a\":1}"), "{lost}");
        }
    }
    // A server that leaves out the index does so in every piece.
    let body = lines(&[
        COHERE,
        &cohere_piece(r#""name":"f""#),
        &cohere_piece(r#""parameters":"{\"a\":1}""#),
        COHERE_END,
    ]);
    assert_eq!(calls(&decode(&body)), [f]);
}

fn interactions(steps: &[&str], last: &str) -> String {
    let last = format!(
        r#"{{"event_type":"interaction.completed","interaction":{{"status":"requires_action","object":"interaction"{last}}}}}"#
    );
    let mut payloads = vec![
        r#"{"event_type":"interaction.created","interaction":{"status":"in_progress","object":"interaction"}}"#,
    ];
    payloads.extend(steps);
    payloads.push(&last);
    sse(&payloads)
}

const F: &str = r#"{"event_type":"step.start","index":0,"step":{"type":"function_call","id":"a","name":"f","arguments":{}}}"#;
const F_TEXT: &str = r#"{"event_type":"step.delta","index":0,"delta":{"type":"arguments_delta","arguments":"{\"a\":1}"}}"#;
const F_STOP: &str = r#"{"event_type":"step.stop","index":0}"#;
const G: &str = r#"{"event_type":"step.start","index":1,"step":{"type":"function_call","id":"b","name":"g","arguments":{}}}"#;
const G_TEXT: &str = r#"{"event_type":"step.delta","index":1,"delta":{"type":"arguments_delta","arguments":"{\"b\":2}"}}"#;
const G_STOP: &str = r#"{"event_type":"step.stop","index":1}"#;

#[test]
fn every_step_of_an_interaction_has_an_end() {
    for (steps, want) in [
        (&[F, F_TEXT, F_STOP, G, G_TEXT, G_STOP][..], [WHOLE, WHOLE]),
        (&[F, F_STOP, G, G_STOP], [WHOLE, WHOLE]),
        (&[F, G, G_TEXT, G_STOP], [LOST, WHOLE]),
        (&[F, F_TEXT, G, G_TEXT, G_STOP], [LOST, WHOLE]),
        (&[F, F_TEXT, F_STOP, G, G_TEXT], [WHOLE, LOST]),
        (&[F, F_TEXT, F_STOP, G], [WHOLE, LOST]),
        (
            &[
                F,
                r#"{"event_type":"step.delta","index":0,"delta":{"type":"arguments_dlta","arguments":"{}"}}"#,
                F_TEXT,
                F_STOP,
                G,
                G_TEXT,
                G_STOP,
            ],
            [LOST, WHOLE],
        ),
    ] {
        assert_eq!(doubts(&decode(&interactions(steps, ""))), want, "{steps:?}");
    }
}

#[test]
fn the_steps_at_the_end_of_an_interaction_are_compared_and_fill_in() {
    let f = r#"{"type":"function_call","id":"a","name":"f","arguments":{"a":1}}"#;
    let g = r#"{"type":"function_call","id":"b","name":"g","arguments":{"b":2}}"#;
    let both = [call("f", "{\"a\":1}", "unchanged"), call("g", "{\"b\":2}", "unchanged")];
    let of =
        |steps: &[&str], all: &str| decode(&interactions(steps, &format!(",\"steps\":[{all}]")));
    let streamed = [F, F_TEXT, F_STOP, G, G_TEXT, G_STOP];
    let transcript = of(&streamed, &format!("{f},{g}"));
    assert_eq!(calls(&transcript), both);
    assert!(transcript.errors().is_empty());
    let transcript = of(&streamed[..3], &format!("{f},{g}"));
    assert_eq!(calls(&transcript), both);
    assert!(transcript.errors().is_empty());
    // The first one is lost, and the places in the list are others.
    let transcript = of(&streamed[3..], &format!("{f},{g}"));
    assert_eq!(calls(&transcript), [both[1].clone(), both[0].clone()]);
    assert!(transcript.errors().is_empty());
    let transcript = of(&streamed, &format!("{},{g}", f.replace(":1", ":3")));
    assert_eq!(transcript.errors()[0].kind(), ErrorKind::Contradiction);
    // A repetition does not replace the end of a step.
    assert_eq!(doubts(&of(&[F, F_TEXT], f)), [LOST]);
}

#[test]
fn the_name_where_the_arguments_end_is_that_of_the_item() {
    let body = |name: &str, item: &str| {
        sse(&[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"run","arguments":""}}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\":1}"}"#,
            &format!(
                r#"{{"type":"response.function_call_arguments.done","output_index":0,{name}"arguments":"{{\"a\":1}}"}}"#
            ),
            &format!(
                r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"function_call","status":"completed","call_id":"c","name":"{item}","arguments":"{{\"a\":1}}"}}}}"#
            ),
            r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#,
        ])
    };
    assert_eq!(doubts(&decode(&body("", "run"))), [WHOLE]);
    assert_eq!(doubts(&decode(&body("\"name\":\"run\",", "run"))), [WHOLE]);
    assert_eq!(doubts(&decode(&body("\"name\":\"ran\",", "run"))), [CONTRADICTED]);
    // The arguments have ended before the item.
    let transcript = decode(&body("", "ran"));
    assert_eq!(doubts(&transcript), [WHOLE]);
    assert_eq!(transcript.errors()[0].kind(), ErrorKind::Contradiction);
}

#[test]
fn a_response_that_is_whole_too_early_makes_no_call_twice() {
    let item = |id: &str, name: &str| {
        format!(
            r#"{{"type":"function_call","status":"completed","call_id":"{id}","name":"{name}","arguments":"{{}}"}}"#
        )
    };
    let event = |kind: &str, index: u8, item: &str| {
        format!(r#"{{"type":"response.output_item.{kind}","output_index":{index},"item":{item}}}"#)
    };
    let (f, g) = (item("a", "f"), item("b", "g"));
    let whole = format!(
        r#"{{"type":"response.completed","response":{{"status":"completed","output":[{f},{g}]}}}}"#
    );
    let added = |item: &str| item.replace("{}", "");
    let body = sse(&[
        &event("added", 0, &added(&f)),
        &event("done", 0, &f),
        &whole,
        &event("added", 1, &added(&g)),
        &event("done", 1, &g),
        &whole,
    ]);
    assert_eq!(calls(&decode(&body)), [call("f", "{}", "unchanged"), call("g", "{}", "unchanged")]);
}

#[test]
fn requests_of_an_agent_count_once_and_equal_calls_in_one_are_two() {
    let frame = |id: &str, calls: &[&str]| {
        let inputs: Vec<String> = calls
            .iter()
            .map(|name| {
                format!(r#"{{"functionInvocationInput":{{"function":"{name}","parameters":[]}}}}"#)
            })
            .collect();
        let payload =
            format!(r#"{{"invocationId":"{id}","invocationInputs":[{}]}}"#, inputs.join(","));
        let headers = [
            Header::new(":event-type", HeaderValue::Str("returnControl")),
            Header::new(":message-type", HeaderValue::Str("event")),
        ];
        let mut out = Vec::new();
        encode(&headers, payload.as_bytes(), &mut out).unwrap();
        out
    };
    for (frames, count) in [
        (vec![frame("i", &["roll", "roll"])], 2),
        (vec![frame("i", &["roll"]), frame("i", &["roll"])], 1),
        (vec![frame("i", &["roll", "stop"]), frame("i", &["roll", "stop"])], 2),
        (vec![frame("i", &["roll"]), frame("j", &["roll"])], 2),
    ] {
        let transcript = decode_bytes(&WireOptions::new(), &frames.concat());
        assert_eq!(transcript.calls().len(), count);
    }
}
