//! What a fitter makes of arguments and of content, for every split.

use wiremend_wire::{FitHook, Fittable, RewriteMode, RewriteOptions, RewriteOutcome};

use crate::{
    rewrite::rewrite,
    support::{lines, named, sse},
};

/// Removes the quotes of `"3"`.
fn options() -> RewriteOptions {
    let fitter = FitHook::new(|given| {
        let at = given.raw().find("\"3\"")?;
        Some(vec![(at..at + 3, "3".to_owned())])
    });
    RewriteOptions::new()
        .with_mode(RewriteMode::Validated)
        .with_json_content(true)
        .with_fit_hook(fitter)
}

/// A text in two pieces, in the shape of several providers.
fn bodies(one: &str, two: &str) -> Vec<String> {
    let [both, one, two] =
        [&(one.to_owned() + two), one, two].map(|text| serde_json::json!(text).to_string());
    let chat = |text: &str| format!("{{\"choices\":[{{\"delta\":{{\"content\":{text}}}}}]}}");
    let delta = |text: &str| {
        format!(
            "{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":{text}}}}}"
        )
    };
    let block =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    let stop = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    let part = |text: &str, end: &str| {
        format!("{{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":{text}}}]}}{end}}}]}}")
    };
    let line =
        |text: &str, done: &str| format!("{{\"message\":{{\"content\":{text}}},\"done\":{done}}}");
    let output = |text: &str| {
        format!(
            "{{\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":{text}}}"
        )
    };
    let done = format!(
        "{{\"type\":\"response.output_text.done\",\"output_index\":0,\"content_index\":0,\"text\":{both}}}"
    );
    let completed = format!(
        "{{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\",\"output\":[{{\"type\":\"message\",\"content\":[{{\"type\":\"output_text\",\"text\":{both}}}]}}]}}}}"
    );
    vec![
        sse(&[
            &chat(&one),
            &chat(&two),
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            "[DONE]",
        ]),
        named(&[
            ("message_start", r#"{"type":"message_start","message":{}}"#),
            ("content_block_start", block),
            ("content_block_delta", &delta(&one)),
            ("content_block_delta", &delta(&two)),
            ("content_block_stop", r#"{"type":"content_block_stop","index":0}"#),
            ("message_delta", stop),
            ("message_stop", r#"{"type":"message_stop"}"#),
        ]),
        sse(&[&part(&one, ""), &part(&two, ",\"finishReason\":\"STOP\"")]),
        lines(&[&line(&one, "false"), &line(&two, "false"), &line("\"\"", "true")]),
        sse(&[&output(&one), &output(&two), &done, &completed]),
        format!(
            "{{\"choices\":[{{\"message\":{{\"content\":{both}}},\"finish_reason\":\"stop\"}}]}}"
        ),
    ]
}

#[test]
fn content_is_fitted_in_the_pieces_in_which_it_came() {
    let came = bodies(r#"{"n": ""#, r#"3", "m": "x"}"#);
    let left = bodies(r#"{"n": 3"#, r#", "m": "x"}"#);
    for (came, left) in came.iter().zip(&left) {
        let out = rewrite(&options(), came.as_bytes());
        assert_eq!((out.text(), out.outcome), (left.as_str(), RewriteOutcome::Mended));
    }
}

#[test]
fn content_that_is_not_whole_is_not_shown_to_a_fitter() {
    for body in bodies(r#"{"n": "3""#, "") {
        let out = rewrite(&options(), body.as_bytes());
        assert_eq!((out.text(), out.outcome), (body.as_str(), RewriteOutcome::Unchanged));
    }
    // Neither is text that need not be JSON, nor what may have left.
    let plain = [options().with_json_content(false), options().with_mode(RewriteMode::Eager)];
    for options in plain {
        for body in bodies(r#"{"n": ""#, "3\"}") {
            assert_eq!(rewrite(&options, body.as_bytes()).text(), body);
        }
    }
}

#[test]
fn arguments_that_are_an_object_stay_on_their_line() {
    let fitter = FitHook::new(|given| {
        let at = given.raw().find("\"[")?;
        Some(vec![(at..given.raw().len() - 1, "[\n 1,\r\n 2\n]".to_owned())])
    });
    let options = options().with_fit_hook(fitter);
    let ollama = |args: &str| {
        let call = format!("{{\"function\":{{\"name\":\"f\",\"arguments\":{{\"a\": {args}}}}}}}");
        let said =
            format!("{{\"message\":{{\"content\":\"\",\"tool_calls\":[{call}]}},\"done\":false}}");
        lines(&[&said, r#"{"message":{"content":""},"done":true,"done_reason":"stop"}"#])
    };
    let gemini = |args: &str| {
        let call = format!("{{\"functionCall\":{{\"name\":\"f\",\"args\":{{\"a\": {args}}}}}}}");
        sse(&[&format!(
            "{{\"candidates\":[{{\"content\":{{\"parts\":[{call}]}},\"finishReason\":\"STOP\"}}]}}"
        )])
    };
    for make in [&ollama as &dyn Fn(&str) -> String, &gemini] {
        let out = rewrite(&options, make(r#""[\n 1,\r\n 2\n]""#).as_bytes());
        assert_eq!(out.text(), make("[  1,   2 ]"));
    }
}

#[test]
fn content_that_begins_in_a_damaged_event_leaves_as_it_came() {
    for options in [options(), RewriteOptions::new().with_json_content(true)] {
        for body in bodies("{'n': 'x@", "y'}") {
            let mut body = body.into_bytes();
            let at = body.iter().position(|byte| *byte == b'@').unwrap();
            body[at] = 0xff;
            let bytes = rewrite(&options, &body).bytes;
            assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&body));
        }
    }
}

#[test]
fn a_fitter_is_told_what_it_is_given() {
    let fitter = FitHook::new(|given| {
        let by = match given {
            Fittable::Call(call) => call.name().to_owned(),
            Fittable::Content { raw, mended, .. } => {
                format!("{} of {}", mended.text().unwrap_or_default(), raw.len())
            }
            _ => return None,
        };
        let by = serde_json::json!({ "by": by }).to_string();
        Some(vec![(0..given.raw().len(), by)])
    });
    let options = options().with_fit_hook(fitter);
    let body = |content: &str, arguments: &str| {
        let function = serde_json::json!({"name": "f", "arguments": arguments});
        let calls = serde_json::json!([{"id": "c", "function": function}]);
        let message = serde_json::json!({"content": content, "tool_calls": calls});
        serde_json::json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string()
    };
    let out = rewrite(&options, body("{'a': 1}", "{}").as_bytes());
    assert_eq!(out.text(), body(r#"{"by":"{\"a\": 1} of 8"}"#, r#"{"by":"f"}"#));
}
