//! Gemini and Vertex AI, and Gemini Interactions.

use crate::support::{call, calls, decode, named, sse};
use wiremend_wire::{ApiFormat, FinishReason, Framing, StreamOutcome};

/// A candidate with those parts and, if it is not empty, that reason.
fn parts(parts: &str, reason: &str) -> String {
    let reason = match reason {
        "" => String::new(),
        word => format!(",\"finishReason\":\"{word}\""),
    };
    format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}}{reason},"index":0}}]}}"#
    )
}

#[test]
fn text_thoughts_and_calls_are_decoded_from_events_and_from_an_array() {
    let payloads = [
        parts(r#"{"text":"Hm","thought":true},{"text":"So","thoughtSignature":"c2ln"}"#, ""),
        parts(r#"{"text":" it"},{"functionCall":{"name":"f","args":{"n": 1.10}}},{"functionCall":{"name":"g"}}"#, ""),
        parts(r#"{"text":""}"#, "STOP"),
        r#"{"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":3,"thoughtsTokenCount":2},"modelVersion":"m"}"#.to_owned(),
    ];
    let events = format!("data: {}\r\n\r\n", payloads.join("\r\n\r\ndata: "));
    let array = format!("[{}\r\n]", payloads.join("\n,\r\n"));
    for (body, framing) in [(events, Framing::Sse), (array, Framing::JsonArray)] {
        let transcript = decode(&body);
        assert_eq!(transcript.framing(), Some(framing));
        assert_eq!(transcript.format(), Some(ApiFormat::Gemini));
        assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("So it", "Hm"));
        assert_eq!(
            calls(&transcript),
            [call("f", "{\"n\": 1.10}", "unchanged"), call("g", "{}", "unchanged")]
        );
        assert_eq!(transcript.usage().unwrap().reasoning(), Some(2));
        assert_eq!(transcript.finish().unwrap().original(), "STOP");
        assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    }
}

#[test]
fn arguments_may_be_a_text() {
    let body = sse(&[&parts(r#"{"functionCall":{"name":"f","args":"{'a':1}"}}"#, "STOP")]);
    assert_eq!(calls(&decode(&body)), [call("f", "{\"a\":1}", "repaired")]);
}

#[test]
fn the_reason_may_be_early_repeated_or_unknown() {
    let body = sse(&[
        &parts("", "STOP"),
        &parts(r#"{"text":"late"}"#, ""),
        &parts(r#"{"text":"r"}"#, "NEW_REASON"),
    ]);
    let transcript = decode(&body);
    assert_eq!(transcript.text(), "later");
    let finish = transcript.finish().unwrap();
    assert_eq!((finish.reason(), finish.original()), (FinishReason::Other, "NEW_REASON"));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    assert_eq!(decode(&sse(&[&parts(r#"{"text":"a"}"#, "")])).outcome(), StreamOutcome::Cut);
}

#[test]
fn a_failed_call_is_an_error_with_the_message_of_the_service() {
    let failed = r#"{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: call:f{a:1","index":0}]}"#;
    let unexpected = r#"{"candidates":[{"finishReason":"UNEXPECTED_TOOL_CALL","index":0}]}"#;
    for (payload, message, kind) in [
        (failed, "Malformed function call: call:f{a:1", "MALFORMED_FUNCTION_CALL"),
        (unexpected, "UNEXPECTED_TOOL_CALL", "UNEXPECTED_TOOL_CALL"),
    ] {
        let transcript = decode(&sse(&[payload]));
        assert_eq!(transcript.errors()[0].message(), message);
        assert_eq!(transcript.errors()[0].error_type(), Some(kind));
        assert_eq!(transcript.finish().unwrap().reason(), FinishReason::Error);
        assert_eq!(transcript.outcome(), StreamOutcome::Error);
    }
}

#[test]
fn a_prompt_that_was_blocked_has_an_answer_of_its_own() {
    let body =
        sse(&[r#"{"promptFeedback":{"blockReason":"SAFETY","blockReasonMessage":"Reasons"}}"#]);
    let transcript = decode(&body);
    assert_eq!((transcript.refusal().as_str(), transcript.text().as_str()), ("Reasons", ""));
    let finish = transcript.finish().unwrap();
    assert_eq!((finish.reason(), finish.original()), (FinishReason::ContentFilter, "SAFETY"));
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

#[test]
fn an_error_without_a_field_name_inside_a_stream_is_reported() {
    let error = "{\n  \"error\": {\n    \"code\": 499,\n    \"message\": \"gone\",\n    \"status\": \"CANCELLED\"\n  }\n}\n";
    let body = sse(&[&parts(r#"{"text":"a"}"#, "STOP")]) + error;
    let transcript = decode(&body);
    assert_eq!((transcript.text().as_str(), transcript.outcome()), ("a", StreamOutcome::Error));
    assert_eq!(transcript.errors()[0].error_type(), Some("CANCELLED"));
}

#[test]
fn citations_are_emitted_verbatim() {
    let body = sse(&[
        r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"citationMetadata":{"citationSources":[{"uri": "u"}]},"groundingMetadata":{"webSearchQueries":["q"]},"finishReason":"STOP"}]}"#,
    ]);
    assert_eq!(decode(&body).citations(), [r#"{"uri": "u"}"#, r#"{"webSearchQueries":["q"]}"#]);
}

#[test]
fn candidates_are_read_apart_and_a_wrapped_response_is_unwrapped() {
    let two = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP","index":0},{"content":{"parts":[{"text":"b"}]},"index":1}]}"#;
    let rest =
        r#"{"candidates":[{"content":{"parts":[{"text":"c"}]},"finishReason":"STOP","index":1}]}"#;
    let transcript = decode(&sse(&[two, rest]));
    assert_eq!(transcript.texts(), ["a", "bc"]);
    assert_eq!(decode(&sse(&[two])).outcome(), StreamOutcome::Cut);
    let wrapped: Vec<String> =
        [two, rest].iter().map(|payload| format!("{{\"response\":{payload}}}")).collect();
    let wrapped: Vec<&str> = wrapped.iter().map(String::as_str).collect();
    assert_eq!(decode(&sse(&wrapped)).texts(), ["a", "bc"]);
}

/// A piece of a call whose arguments arrive leaf by leaf.
fn leaf(path: &str, value: &str, goes_on: bool) -> String {
    let goes_on = if goes_on { ",\"willContinue\":true" } else { "" };
    parts(
        &format!(
            r#"{{"functionCall":{{"partialArgs":[{{"jsonPath":"{path}",{value}{goes_on}}}],"willContinue":true}}}}"#
        ),
        "",
    )
}

fn begin() -> String {
    parts(r#"{"functionCall":{"name":"f","willContinue":true}}"#, "")
}

fn of(payloads: &[String]) -> String {
    sse(&payloads.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn arguments_sent_leaf_by_leaf_make_a_document() {
    let leaves = [
        begin(),
        leaf("$.to[0].name", r#""stringValue":"Pa""#, true),
        leaf("$.to[0].name", r#""stringValue":"ris \"x\"""#, true),
        leaf("$.to[0].name", r#""stringValue":"""#, false),
        leaf("$.to[0].days", r#""numberValue":2.50"#, false),
        leaf("$.to[1]", r#""nullValue":"NULL_VALUE""#, false),
        leaf("$.ok", r#""boolValue":true"#, false),
    ];
    let want = r#"{"to":[{"name":"Paris \"x\"","days":2.50},null],"ok":true}"#;
    let close = parts(r#"{"functionCall":{}}"#, "");
    let other = parts(r#"{"functionCall":{"name":"g","args":{}}}"#, "");
    let stop = parts("", "STOP");
    // The end may be missing: another call, or the finish reason, replaces it.
    for tail in
        [&[close.clone(), stop.clone()][..], std::slice::from_ref(&stop), &[other, stop.clone()]]
    {
        let transcript = decode(&of(&[&leaves[..], tail].concat()));
        assert_eq!(calls(&transcript)[0], call("f", want, "unchanged"));
        assert_eq!(
            transcript.calls().len(),
            if tail.len() == 2 && tail[0] != close { 2 } else { 1 }
        );
    }
    let empty = decode(&of(&[begin(), close, stop]));
    assert_eq!(calls(&empty), [call("f", "{}", "unchanged")]);
}

#[test]
fn leaves_that_break_off_are_cut() {
    let text = leaf("$.path", r#""stringValue":"/tm""#, true);
    let number = leaf("$.a.b", r#""numberValue":1"#, false);
    for (leaf, reason, raw) in [
        (&text, "MAX_TOKENS", "{\"path\":\"/tm"),
        (&text, "STOP", "{\"path\":\"/tm"),
        (&number, "MAX_TOKENS", "{\"a\":{\"b\":1"),
    ] {
        let transcript = decode(&of(&[begin(), leaf.clone(), parts("", reason)]));
        assert_eq!(calls(&transcript), [call("f", raw, "cut")], "{reason}");
    }
}

#[test]
fn a_leaf_that_fits_nowhere_is_reported_and_leaves_the_call_cut() {
    let body = of(&[
        begin(),
        leaf("$.a[1]", r#""numberValue":1"#, false),
        leaf("$.a[0]", r#""numberValue":0"#, false),
        parts("", "STOP"),
    ]);
    let transcript = decode(&body);
    assert!(transcript.errors()[0].message().contains("$.a[0]"), "{:?}", transcript.errors());
    assert_eq!(calls(&transcript), [call("f", "{\"a\":[null,1]}", "cut")]);
}

#[test]
fn interactions_are_read_by_their_steps() {
    let events = [
        (
            "interaction.created",
            r#"{"interaction":{"status":"in_progress"},"event_type":"interaction.created"}"#,
        ),
        ("step.start", r#"{"index":0,"step":{"type":"thought"},"event_type":"step.start"}"#),
        (
            "step.delta",
            r#"{"index":0,"delta":{"type":"thought_summary","content":{"type":"text","text":"Hm"}},"event_type":"step.delta"}"#,
        ),
        (
            "step.delta",
            r#"{"index":0,"delta":{"type":"thought_signature","signature":"c2ln"},"event_type":"step.delta"}"#,
        ),
        ("step.stop", r#"{"index":0,"event_type":"step.stop"}"#),
        (
            "step.start",
            r#"{"index":1,"step":{"type":"function_call","id":"c","name":"f","arguments":{}},"event_type":"step.start"}"#,
        ),
        (
            "step.delta",
            r#"{"index":1,"delta":{"type":"arguments_delta","arguments":"{'a':"},"event_type":"step.delta"}"#,
        ),
        (
            "step.delta",
            r#"{"index":1,"delta":{"type":"arguments_delta","arguments":"1}"},"event_type":"step.delta"}"#,
        ),
        ("step.stop", r#"{"index":1,"event_type":"step.stop"}"#),
        (
            "step.delta",
            r#"{"index":2,"delta":{"type":"text","text":"Hi"},"event_type":"step.delta"}"#,
        ),
        (
            "interaction.completed",
            r#"{"interaction":{"status":"requires_action","usage":{"total_input_tokens":9,"total_output_tokens":3,"total_thought_tokens":2}},"event_type":"interaction.completed"}"#,
        ),
        ("done", "[DONE]"),
    ];
    let transcript = decode(&named(&events));
    assert_eq!(transcript.format(), Some(ApiFormat::GeminiInteractions));
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("Hi", "Hm"));
    assert_eq!(calls(&transcript), [call("f", "{\"a\":1}", "repaired")]);
    assert_eq!(transcript.calls()[0].id(), Some("c"));
    assert_eq!(transcript.usage().unwrap().input(), Some(9));
    assert_eq!(transcript.finish().unwrap().reason(), FinishReason::ToolCalls);
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
    assert_eq!(decode(&named(&events[..10])).outcome(), StreamOutcome::Cut);
}

#[test]
fn an_interaction_that_was_not_streamed_is_read() {
    let body = r#"{"object":"interaction","status":"completed","outputs":[{"type":"thought","summary":[{"type":"text","text":"Hm"}]},{"type":"function_call","id":"c","name":"f","arguments":{"a":1}},{"type":"text","text":"Hi","annotations":[{"source":"u"}]},{"type":"google_search_call","id":"s","arguments":{"queries":["q"]}}]}"#;
    let transcript = decode(body);
    assert_eq!((transcript.text().as_str(), transcript.reasoning()), ("Hi", "Hm"));
    assert_eq!(calls(&transcript), [call("f", "{\"a\":1}", "unchanged")]);
    assert_eq!(transcript.citations(), [r#"{"source":"u"}"#]);
    assert_eq!(transcript.outcome(), StreamOutcome::Complete);
}

/// Within one payload, every call is one. In the next one, a call with the same id is the same once more.
#[test]
fn equal_calls_with_one_id_are_two_in_one_list_and_one_in_two() {
    let payload = |calls: &[&str]| {
        let parts: Vec<String> = calls
            .iter()
            .map(|arguments| {
                format!(r#"{{"functionCall":{{"id":"c","name":"f","args":{arguments}}}}}"#)
            })
            .collect();
        format!(r#"{{"candidates":[{{"content":{{"parts":[{}]}}}}]}}"#, parts.join(","))
    };
    let end = r#"{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}"#;
    let one = r#"{"a":1}"#;
    for (payloads, want) in [
        (vec![payload(&[one, one])], 2),
        (vec![payload(&[one, one, one])], 3),
        (vec![payload(&[one]), payload(&[one])], 1),
        (vec![payload(&[one]), payload(&[r#"{"a":2}"#])], 2),
    ] {
        let mut events: Vec<&str> = payloads.iter().map(String::as_str).collect();
        events.push(end);
        let said = calls(&decode(&sse(&events)));
        assert_eq!(said.len(), want, "{payloads:?}");
        assert!(said.iter().all(|(.., outcome)| *outcome == "unchanged"), "{said:?}");
    }
}
