//! Response bodies that were not streamed, mended in place.

use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_wire::{StreamOutcome, WireOptions, mend_body};

/// The repaired body, and the outcomes of its calls.
fn mended(body: &str, options: WireOptions) -> (String, Vec<Outcome>) {
    let mended = mend_body(body.as_bytes(), options);
    let outcomes = mended.transcript().calls().iter().map(|call| call.outcome()).collect();
    assert_eq!(mended.is_changed(), mended.body() != body.as_bytes());
    (String::from_utf8(mended.into_body().into_owned()).unwrap(), outcomes)
}

#[test]
fn only_the_strings_of_broken_arguments_are_replaced() {
    for (body, broken, whole) in [
        (
            "\u{feff} {\"choices\":[{\"index\":0,\"message\":{\"content\":\"{'x'}\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"n\\\": 1e400}\"}},{\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":@}}]},\"finish_reason\":\"tool_calls\"}],  \"x\": [1.10]}\n",
            r#""{'a': \"\u00e9\",}""#,
            r#""{\"a\": \"é\"}""#,
        ),
        (
            r#"{"object":"response","status":"completed","output":[{"type":"custom_tool_call","call_id":"s","name":"sh","input":"{'a'"},{"type":"function_call","call_id":"c","name":"f","arguments":@}]}"#,
            r#""{a: 'b'}""#,
            r#""{\"a\": \"b\"}""#,
        ),
        (
            r#"{"finish_reason":"TOOL_CALL","message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":@}}]}}"#,
            r#""{\"a\":1,}""#,
            r#""{\"a\":1}""#,
        ),
        (
            r#"[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":@}},{"functionCall":{"name":"g","args":{}}}]},"finishReason":"STOP"}]}]"#,
            r#""{'a':1}""#,
            r#""{\"a\":1}""#,
        ),
        (
            r#"{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":@}],"stop_reason":"tool_use"}"#,
            r#""{'a':1}""#,
            r#""{\"a\":1}""#,
        ),
    ] {
        let (out, outcomes) = mended(&body.replace('@', broken), WireOptions::new());
        assert_eq!(out, body.replace('@', whole));
        assert!(outcomes.iter().all(|outcome| outcome.is_complete()), "{outcomes:?}");
        // The output is unchanged when it is processed again.
        assert_eq!(mended(&out, WireOptions::new()).0, out);
    }
}

#[test]
fn cut_arguments_stay_under_every_policy() {
    let body = |arguments: &str| {
        format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"a","function":{{"name":"f","arguments":{arguments}}}}}]}},"finish_reason":"length"}}]}}"#
        )
    };
    let cut = body(r#""{'a': [1""#);
    assert_eq!(mended(&cut, WireOptions::new()), (cut.clone(), vec![Outcome::Cut]));
    let closing =
        WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::PERMISSIVE));
    assert_eq!(mended(&cut, closing), (cut, vec![Outcome::Closed]));
    let strict = WireOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT));
    let broken = body(r#""{'a': 1}""#);
    assert_eq!(mended(&broken, strict).0, broken);
}

#[test]
fn empty_arguments_become_an_object_beside_others_that_are_repaired() {
    let body = |arguments: &str, other: &str, reason: &str| {
        format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"a","function":{{{arguments}"name":"f"}}}},{{"id":"b","function":{{"name":"g","arguments":"{other}"}}}}]}},"finish_reason":"{reason}"}}]}}"#
        )
    };
    let object = r#""arguments":"{}","#;
    for arguments in
        ["", r#""arguments":"","#, r#""arguments":null,"#, r#""arguments":" ","#, object]
    {
        let (out, outcomes) = mended(&body(arguments, "{'x':1}", "tool_calls"), WireOptions::new());
        assert_eq!(out, body(object, r#"{\"x\":1}"#, "tool_calls"));
        assert_eq!(outcomes, [Outcome::Unchanged, Outcome::Repaired]);
        // A limit may have cut them off.
        let cut = body(arguments, r#"{\"x\":1}"#, "length");
        assert_eq!(mended(&cut, WireOptions::new()).0, cut);
    }
}

#[test]
fn other_bodies_are_unchanged() {
    for (body, outcome) in [
        ("", StreamOutcome::Cut),
        ("<html>", StreamOutcome::Error),
        ("{\"error\":{\"message\":\"m\"}}", StreamOutcome::Error),
        ("{\"a\":1}", StreamOutcome::Unrecognised),
        ("{\"choices\":[{\"mess", StreamOutcome::Cut),
        (
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{'a':1}\"}}]},\"finish_reason\":\"stop\"}]}\n\n",
            StreamOutcome::Complete,
        ),
    ] {
        let mended = mend_body(body.as_bytes(), WireOptions::new());
        assert_eq!(mended.body(), body.as_bytes());
        assert_eq!(mended.transcript().outcome(), outcome, "{body}");
    }
    assert_eq!(mend_body(b"{\"choices\":\xff}", WireOptions::new()).body(), b"{\"choices\":\xff}");
}
