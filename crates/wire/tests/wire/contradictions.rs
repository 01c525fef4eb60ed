//! Events that were damaged into something else, that come twice, or that say two things.

use crate::support::{START, call, calls, decode, doubts, finish, piece, tools};
use wiremend_wire::{
    Doubt, ErrorKind, RewriteMode, RewriteOptions, Rewriter, Rewritten, StreamOutcome,
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
