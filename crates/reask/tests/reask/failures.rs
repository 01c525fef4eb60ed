//! Calls that fail: what each failure means, and what is done about it.

use core::{future::ready, time::Duration};

use futures::executor::block_on;
use wiremend_reask::{
    Answer, EndReason, Failure, FailureClass, Mode, ModeMemory, ReaskOptions, Retry, RetryPolicy,
    Step, retry_after,
};

use serde_json::json;

use crate::{asked, booking, done, ended};

const NOW: Duration = Duration::ZERO;

fn class(status: u16, body: &str) -> FailureClass {
    Failure::status(status, body).class()
}

#[test]
fn the_body_of_an_error_says_what_was_refused() {
    for body in [
        r#"{"error": {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", "param": "response_format", "code": null}}"#,
        r#"{"error": {"message": "This model does not support response format `json_schema`"}}"#,
        r#"[{"error": {"code": 400, "message": "Unknown name \"responseSchema\" at 'generation_config'", "status": "INVALID_ARGUMENT"}}]"#,
        r#"{"error": {"message": "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."}}"#,
        r#"{"error": {"message": "Invalid schema for response_format 'place'", "param": "text.format.schema"}}"#,
        r#"{"detail": "guided_json is not enabled on this server"}"#,
        "HTTP 400: json_schema not supported",
        r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"}}"#,
        r#"{"error": {"message": "* GenerateContentRequest.generation_config.response_schema.properties[a].properties: should be non-empty for OBJECT type"}}"#,
        r#"{"error": {"message": "This response_format type is unavailable now", "type": "invalid_request_error"}}"#,
        r#"{"error": {"code": 400, "message": "The specified schema produces a constraint that has too many states for serving.", "status": "INVALID_ARGUMENT"}}"#,
        r#"{"error": {"message": "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later", "code": "BadRequest"}}"#,
        r#"{"error": {"message": "Json mode is not supported for this model", "type": "invalid_request_error"}}"#,
        r#"{"error": "'response_format.type' must be 'json_schema' or 'text'"}"#,
        r#"{"object": "error", "message": "The provided JSON schema contains features not supported by xgrammar.", "code": 400}"#,
        r#"{"detail": [{"type": "extra_forbidden", "loc": ["body", "response_format"], "msg": "Extra inputs are not permitted", "input": {}}]}"#,
        r#"{"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "{\"error\": {\"message\": \"structured outputs are not currently supported\"}}"}}}"#,
        r#"{"error": {"code": 400, "message": "Controlled generation is not supported for this model."}}"#,
        r#"{"message": "json_object response format is not compatible with tools"}"#,
    ] {
        assert_eq!(class(400, body), FailureClass::ModeRefused, "{body}");
    }
    let long = r#"{"error": {"message": "The request exceeds the context length, of which 900 tokens are in the json_schema. It failed."}}"#;
    assert_eq!(class(400, long), FailureClass::Refused);
    // What is repeated of the request says nothing.
    let echo = r#"{"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required", "input": {"messages": [{"content": "Reply with JSON that fits this JSON schema. Any other key is not allowed."}]}}]}"#;
    assert_eq!(class(422, echo), FailureClass::Refused);
    let echo = r#"{"object": "error", "message": "[{'type': 'missing', 'loc': ('body', 'model'), 'msg': 'Field required', 'input': {'content': 'an invalid JSON schema'}}]"}"#;
    assert_eq!(class(400, echo), FailureClass::Refused);
    for (status, body) in [
        (400, r#"{"error": {"message": "max_tokens is too large"}}"#),
        (400, r#"{"error": {"message": "Invalid API key"}}"#),
        (401, "json_schema not supported"),
        (403, "forbidden"),
        (429, r#"{"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}"#),
    ] {
        assert_eq!(class(status, body), FailureClass::Refused, "{status} {body}");
    }
    for status in [500, 502, 503, 504, 524, 529] {
        assert_eq!(
            class(status, "Expected JSON response, json_schema invalid"),
            FailureClass::Overloaded
        );
    }
    assert_eq!(class(429, ""), FailureClass::RateLimited);
    assert_eq!(class(408, ""), FailureClass::TimedOut);
    let body = r#"{"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model.", "param": "temperature"}}"#;
    assert_eq!(class(400, body), FailureClass::TemperatureRefused);
}

/// The forms of errors in which servers and gateways say that they cannot do what a mode needs.
#[test]
fn tools_grammars_and_errors_within_errors_are_refusals_too() {
    for body in [
        // Gemini, of both interfaces.
        r#"[{"error": {"code": 400, "message": "Function calling with a response mime type: 'application/json' is unsupported", "status": "INVALID_ARGUMENT"}}]"#,
        r#"{"error": {"code": 400, "message": "Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[2].parameters.properties[1].value': Cannot find field."}}"#,
        // OpenAI.
        r#"{"error": {"message": "Unsupported parameter: 'response_format'. In the Responses API, this parameter has moved to 'text.format'.", "code": "unsupported_parameter"}}"#,
        r#"{"error": {"message": "Invalid schema for function 'book': In context=(), 'oneOf' is not permitted.", "param": "tools[0].function.parameters", "code": "invalid_function_parameters"}}"#,
        // Servers on which the output is constrained by a grammar, or by a tool.
        r#"{"error": {"code": 400, "message": "Failed to initialize samplers: failed to parse grammar", "type": "invalid_request_error"}}"#,
        r#"{"error": "json: cannot unmarshal object into Go struct field ChatRequest.response_format of type string"}"#,
        r#"{"error": {"message": "registry/library/tiny:1b does not support tools", "type": "api_error"}}"#,
        r#"{"message": "This model doesn't support tool use in streaming mode."}"#,
        r#"{"message": "Malformed input request: #/toolConfig/tools/0/toolSpec/inputSchema/json: extraneous key [$defs] is not permitted, please reformat your input and try again."}"#,
        r#"{"error": {"message": "Thinking may not be enabled when tool_choice forces tool use."}}"#,
        r#"{"error": {"message": "Thinking mode does not support this tool_choice"}}"#,
        r#"{"object": "error", "message": "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}"#,
        r#"{"message": "\"stream=true\" with structured outputs is currently not supported for reasoning models.", "param": "validation_error"}"#,
        // Gateways, which quote the error of the provider.
        r#"{"error": {"message": "No endpoints found that support tool use. To learn more, see the documentation.", "code": 404}}"#,
        r#"{"error": {"message": "Error from provider(x: 400): {\"message\": \"Unsupported JSON schema fields: {'minItems'}\", \"code\": \"wrong_api_format\"}"}}"#,
        r#"{"detail": "BadRequestError: Error code: 400 - {'error': {'message': \"This model does not support JSON mode.\", 'type': 'invalid_request_error'}}"}"#,
    ] {
        assert_eq!(class(400, body), FailureClass::ModeRefused, "{body}");
    }
    for message in [
        "`temperature` may only be set to 1 when thinking is enabled.",
        "temperature and top_p cannot both be specified for this model. Please use only one.",
        "invalid temperature: only 1 is allowed for this model",
        "Input validation error: `temperature` must be strictly positive",
    ] {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        assert_eq!(class(400, &body), FailureClass::TemperatureRefused, "{body}");
    }
}

#[test]
fn the_words_of_the_user_in_an_error_refuse_nothing() {
    // What a user may write, and what errors quote of it.
    for words in [
        "Reply in JSON mode only, other text is not supported.",
        "The temperature in Oslo is unknown. It should be stated.",
        "Is structured output unavailable? Then use a tool, tool use is not allowed otherwise.",
        "Our server says 'response_format must be json_schema' and is invalid.",
    ] {
        for message in [
            format!("Invalid value for 'content': expected an object, got \"{words}\""),
            format!("Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), \"{words}\""),
            format!(
                "1 validation error for Request\nmessages.0.content\n  Input should be a valid list [type=list_type, input_value='{words}', input_type=str]"
            ),
            format!(
                "[{{'type': 'missing', 'loc': ('body', 'model'), 'msg': 'Field required', 'input': {{'content': '{words}'}}}}]"
            ),
            format!("Could not moderate `{words}`"),
        ] {
            for body in [
                serde_json::json!({"error": {"message": message, "param": "messages[0].content"}}),
                serde_json::json!({"detail": message}),
                // The request itself, in a member of any name.
                serde_json::json!({"error": {"message": "Bad request"}, "request": {"content": words}}),
                serde_json::json!({"status": 400, "request": {"content": words}}),
            ] {
                let body = body.to_string();
                assert_eq!(class(400, &body), FailureClass::Refused, "{body}");
            }
        }
    }
    // Nor without quotes, if the error says that it is about the messages.
    let words =
        "our server says that response_format is unsupported, and that json mode is not available";
    for body in [
        json!({"error": {"message": format!("Invalid content: {words}"), "param": "messages[2].content"}}),
        json!({"error": {"message": format!("Invalid text: {words}"), "param": "input"}}),
        json!({"detail": [{"loc": ["body", "messages", 0, "content"], "msg": format!("Not allowed: {words}")}]}),
        json!({"error": {"message": format!("messages.0.content.1.text: not allowed: {words}")}}),
        json!({"error": {"message": format!("system: not allowed: {words}")}}),
        json!({"error": {"message": format!("* GenerateContentRequest.contents[0].parts[0].text: {words}")}}),
        json!({"message": format!("1 validation error for Request\nmessages.0.content\n  Not a list, but {words}")}),
    ] {
        assert_eq!(class(400, &body.to_string()), FailureClass::Refused, "{body}");
    }
    // Of a request with messages, what is beside them is what it was.
    for body in [
        json!({"error": {"message": "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.", "param": "messages"}}),
        json!({"detail": [{"loc": ["body", "messages", 0], "msg": "Field required"}, {"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}),
        json!({"message": "2 validation errors\nmessages.0.role\n  Not a role\nresponse_format\n  Extra inputs are not permitted"}),
        json!({"error": {"message": "Input validation error: unsupported response_format"}}),
    ] {
        assert_eq!(class(400, &body.to_string()), FailureClass::ModeRefused, "{body}");
    }
    // Words of the user without quotes need a clear refusal beside them.
    for message in [
        "Invalid message content: reply with JSON that fits this JSON schema. Any other key is not allowed",
        "Unexpected role in: you must use the JSON mode",
        "The tool 'lookup' of 'tool_choice' is unknown",
    ] {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        assert_eq!(class(400, &body), FailureClass::Refused, "{body}");
    }
}

#[test]
fn a_long_error_is_read_in_linear_time() {
    for unit in [" 'a", "error: \"", "\"a\" ", "it's "] {
        let body = unit.repeat((1 << 20) / unit.len());
        assert_eq!(class(400, &body), FailureClass::Refused);
    }
}

#[test]
fn modes_fall_back_one_by_one_and_then_the_failure_is_passed_on() {
    let mut reask = booking(ReaskOptions::new());
    let refused = || Failure::status(400, "json_schema not supported");
    let mut modes = vec![asked(reask.begin(NOW)).mode()];
    modes.push(asked(reask.failed(refused(), NOW)).mode());
    modes.push(asked(reask.failed(refused(), NOW)).mode());
    assert_eq!(modes, Mode::ALL);
    assert!(matches!(reask.failed(refused(), NOW), Step::Failed(_)));
    let end = ended(reask.give_up(refused()));
    assert_eq!((end.reason(), end.attempts().len()), (EndReason::Failed, 0));
}

#[test]
fn a_call_in_text_mode_says_nothing_about_the_others() {
    let memory = ModeMemory::new();
    let mut reask = booking(ReaskOptions::new().with_memory("tiny", &memory));
    let cut = Answer::text(r#"{"guest": "In"#).with_finish(wiremend_wire::FinishReason::Length);
    // The rest of a text is asked for in text mode.
    assert!(matches!(reask.answer(&cut, NOW), Step::Continue(_)));
    let refused = Failure::status(400, "json_schema not supported");
    assert!(matches!(reask.failed(refused, NOW), Step::Failed(_)));
    assert_eq!(memory.strongest("tiny", Mode::JsonSchema, NOW), Mode::JsonSchema);
}

#[test]
fn a_broken_gateway_does_not_change_the_mode() {
    let mut reask = booking(ReaskOptions::new());
    reask.begin(NOW);
    let step = reask.failed(Failure::status(524, "Expected JSON response"), NOW);
    assert!(matches!(step, Step::Failed(_)));
    assert_eq!(asked(reask.begin(NOW)).mode(), Mode::JsonSchema);
}

#[test]
fn what_a_model_does_not_support_is_remembered_for_a_while() {
    let hour = Duration::from_secs(3600);
    let memory = ModeMemory::new().with_age(hour);
    let options = || ReaskOptions::new().with_memory("tiny", &memory);
    let mut reask = booking(options());
    reask.begin(NOW);
    asked(reask.failed(Failure::status(400, "json_schema not supported"), NOW));
    assert_eq!(asked(booking(options()).begin(NOW)).mode(), Mode::JsonObject);
    assert_eq!(asked(booking(options()).begin(hour)).mode(), Mode::JsonSchema);
    let other = ReaskOptions::new().with_memory("big", &memory);
    assert_eq!(asked(booking(other).begin(NOW)).mode(), Mode::JsonSchema);

    // That a schema is refused says nothing about the model.
    for message in [
        "Invalid schema for response_format 'x': 'oneOf' is not permitted",
        "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
        "generation_config.response_schema.properties[a].items: missing field.",
    ] {
        let memory = ModeMemory::new();
        let mut reask = booking(ReaskOptions::new().with_memory("tiny", &memory));
        reask.begin(NOW);
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        assert_eq!(asked(reask.failed(Failure::status(400, body), NOW)).mode(), Mode::JsonObject);
        assert_eq!(memory.strongest("tiny", Mode::JsonSchema, NOW), Mode::JsonSchema, "{message}");
    }
}

#[test]
fn a_refusal_is_forgotten_without_a_clock_too() {
    // `Reask::run` has none, so that no time ever passes.
    let memory = ModeMemory::new();
    let run = || {
        let mut reask = booking(ReaskOptions::new().with_memory("tiny", &memory));
        let mut modes = Vec::new();
        let done = block_on(reask.run(|ask| {
            modes.push(ask.mode());
            ready(match ask.mode() {
                Mode::JsonSchema => Err(Failure::status(400, "json_schema not supported")),
                _ => Ok(Answer::text(r#"{"guest": "A", "nights": 2}"#)),
            })
        }));
        assert!(done.is_ok());
        modes
    };
    let both = [Mode::JsonSchema, Mode::JsonObject];
    assert_eq!(run(), both);
    for number in 1..=ModeMemory::MOST_LOOPS {
        assert_eq!(run(), [Mode::JsonObject], "{number}");
    }
    assert_eq!(run(), both);
    // What is refused once more is remembered once more.
    assert_eq!(run(), [Mode::JsonObject]);
}

#[test]
fn models_are_remembered_apart_and_the_oldest_refusal_is_the_first_to_go() {
    let memory = ModeMemory::new();
    let at = Duration::from_secs;
    let number = u64::try_from(ModeMemory::MOST).unwrap_or_default();
    memory.refused("both", Mode::JsonSchema, at(1));
    memory.refused("both", Mode::JsonObject, at(2));
    memory.refused("object", Mode::JsonObject, at(3));
    assert_eq!(memory.strongest("both", Mode::JsonSchema, at(4)), Mode::Text);
    assert_eq!(memory.strongest("object", Mode::JsonSchema, at(4)), Mode::JsonSchema);
    assert_eq!(memory.strongest("object", Mode::JsonObject, at(4)), Mode::Text);
    // One that is refused again is no longer the oldest.
    memory.refused("both", Mode::JsonSchema, at(5));
    for more in 0..number - 2 {
        memory.refused(&format!("model {more}"), Mode::JsonSchema, at(6 + more));
    }
    assert_eq!(memory.strongest("both", Mode::JsonObject, at(900)), Mode::JsonObject, "forgotten");
    assert_eq!(memory.strongest("both", Mode::JsonSchema, at(900)), Mode::JsonObject);
    assert_eq!(memory.strongest("object", Mode::JsonObject, at(900)), Mode::Text);
}

#[test]
fn a_retry_beside_the_machine_repeats_calls_and_corrections_are_those_of_the_machine() {
    // No driver: what a program writes that has a loop of its own.
    fn run(replies: Vec<Result<&str, Failure>>) -> (Step, usize, Duration) {
        let mut reask = booking(ReaskOptions::new().with_deadline(Duration::from_secs(3600)));
        let mut retry = Retry::new(RetryPolicy::new().with_jitter(0), 1);
        let (mut now, mut calls) = (NOW, 0);
        let mut replies = replies.into_iter();
        let mut step = reask.begin(now);
        loop {
            step = match step {
                Step::Ask(_) | Step::Continue(_) => {
                    calls += 1;
                    match replies.next().expect("no further call") {
                        Ok(text) => {
                            retry.reset();
                            reask.answer(&Answer::text(text), now)
                        }
                        Err(failure) => reask.failed(failure, now),
                    }
                }
                Step::Failed(failure) => match retry.after(&failure) {
                    Some(wait) => {
                        now += wait;
                        reask.begin(now)
                    }
                    None => reask.give_up(failure),
                },
                end => return (end, calls, now),
            };
        }
    }
    let busy = || Err(Failure::status(503, ""));
    let limited = || Err(Failure::status(429, "").with_retry_after(Duration::from_secs(7)));
    let (wrong, field) = (r#"{"guest": "A"}"#, r#"{"nights": 2}"#);

    // After an answer, the delays begin anew; a failure is no attempt, and brings the same question again.
    let (end, calls, now) = run(vec![busy(), busy(), Ok(wrong), limited(), busy(), Ok(field)]);
    let end = done(end);
    assert_eq!((end.json(), end.spent().calls()), (r#"{"guest": "A", "nights": 2}"#, 2));
    assert_eq!((calls, now), (6, Duration::from_secs(1 + 2 + 7 + 2)));
    // A rate limit is waited for six times, an overloaded server four times, an abort and a wrong key not at all.
    for (replies, made) in [
        (vec![limited(); 9], 7),
        (vec![busy(); 9], 5),
        (vec![Ok(wrong), Err(Failure::aborted())], 2),
        (vec![Err(Failure::status(401, "key"))], 1),
    ] {
        let (end, calls, _) = run(replies);
        let end = ended(end);
        assert_eq!((end.reason(), calls), (EndReason::Failed, made));
        assert!(end.failure().is_some());
    }
}

#[test]
fn a_memory_does_not_grow_for_ever() {
    let memory = ModeMemory::new();
    for number in 0..10_000u64 {
        memory.refused(&format!("model {number}"), Mode::JsonSchema, Duration::from_secs(number));
    }
    let now = Duration::from_secs(10_000);
    let is_known = |number: u64| {
        memory.strongest(&format!("model {number}"), Mode::JsonSchema, now) == Mode::JsonObject
    };
    assert_eq!((0..10_000).filter(|number| is_known(*number)).count(), ModeMemory::MOST);
    assert!(is_known(9_999));
}

#[test]
fn a_failed_generation_is_an_answer() {
    let body = |text: &str| {
        let error = serde_json::json!({"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": text});
        serde_json::json!({ "error": error }).to_string()
    };
    let valid = body(r#"<function=book>{"guest": "Ines", "nights": 2}</function>"#);
    let done =
        done(booking(ReaskOptions::for_tool("book")).failed(Failure::status(400, valid), NOW));
    assert_eq!(done.json(), r#"{"guest": "Ines", "nights": 2}"#);
    let wrong = body(r#"{"guest": "Ines", "nights": "two"}"#);
    let ask =
        asked(booking(ReaskOptions::for_tool("book")).failed(Failure::status(400, wrong), NOW));
    assert_eq!((ask.attempt(), ask.fields()), (1, &["/nights".to_owned()][..]));
}

#[test]
fn a_model_without_temperatures_is_asked_without_one() {
    let mut reask = booking(ReaskOptions::new());
    assert_eq!(asked(reask.begin(NOW)).temperature(), Some(0.0));
    let refused =
        Failure::status(400, r#"{"error": {"param": "temperature", "message": "unsupported"}}"#);
    let ask = asked(reask.failed(refused.clone(), NOW));
    assert_eq!((ask.temperature(), ask.mode()), (None, Mode::JsonSchema));
    let ask = asked(reask.answer(&Answer::text("?"), NOW));
    assert_eq!(ask.temperature(), None);
    assert!(matches!(reask.failed(refused, NOW), Step::Failed(_)));
}

#[test]
fn an_abort_ends_at_once_with_what_was_received() {
    let mut reask = booking(ReaskOptions::new());
    asked(reask.answer(&Answer::text("?").with_tokens(10, 1), NOW));
    let end = ended(reask.failed(Failure::aborted(), NOW));
    assert_eq!((end.reason(), end.spent().tokens()), (EndReason::Failed, 11));
    assert_eq!(end.failure().map(Failure::class), Some(FailureClass::Aborted));
    assert!(end.to_string().ends_with("then aborted: aborted"), "{end}");
}

#[test]
fn delays_double_up_to_the_cap() {
    let delays = |policy: RetryPolicy, failures: &[Failure]| -> Vec<u128> {
        let mut retry = Retry::new(policy, 7);
        failures.iter().map_while(|failure| retry.after(failure)).map(|d| d.as_millis()).collect()
    };
    let policy = RetryPolicy::new().with_jitter(0);
    let busy = vec![Failure::status(503, ""); 20];
    assert_eq!(
        delays(policy.with_retries(8), &busy),
        [1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]
    );
    let fast = policy.with_base(Duration::from_millis(100)).with_cap(Duration::from_millis(150));
    assert_eq!(delays(fast, &busy), [100, 150, 150, 150]);
    // Rate limits have a limit of their own.
    let limited = vec![Failure::status(429, ""); 20];
    assert_eq!(delays(policy, &limited).len(), 6);
    let slow = Failure::status(429, "").with_retry_after(Duration::from_secs(600));
    assert_eq!(delays(policy, &[slow]), Vec::<u128>::new());
    for failure in [Failure::aborted(), Failure::status(400, ""), Failure::status(401, "")] {
        assert_eq!(delays(policy, &[failure]), Vec::<u128>::new());
    }
    assert_eq!(delays(policy, &[Failure::network(""), Failure::timed_out("")]), [1000, 2000]);
}

#[test]
fn jitter_stays_within_its_bounds_and_depends_on_the_seed() {
    let first = |seed| Retry::new(RetryPolicy::new(), seed).after(&Failure::network("")).unwrap();
    let delays: Vec<Duration> = (0..500).map(first).collect();
    let (low, high) = (Duration::from_millis(750), Duration::from_millis(1250));
    assert!(delays.iter().all(|delay| (low..=high).contains(delay)));
    assert!(delays.iter().any(|delay| *delay < Duration::from_millis(800)));
    assert!(delays.iter().any(|delay| *delay > Duration::from_millis(1200)));
    assert_eq!(first(3), first(3));
    let mut retry = Retry::new(RetryPolicy::new().with_retries(40), 1);
    let longest = std::iter::from_fn(|| retry.after(&Failure::network(""))).max().unwrap();
    assert_eq!(longest, Duration::from_secs(30));
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    assert_eq!(retry_after(" 0.5 ", None), Some(Duration::from_millis(500)));
    for bad in ["-1", "NaN", "inf", "", "1e400", "tomorrow", "Wed, 99 Oct 2026 07:28:00 GMT"] {
        assert_eq!(retry_after(bad, Some("Wed, 21 Oct 2026 07:28:00 GMT")), None, "{bad}");
    }
    let leap = retry_after("Tue, 29 Feb 2028 00:00:00 GMT", Some("Mon, 28 Feb 2028 23:59:50 GMT"));
    assert_eq!(leap, Some(Duration::from_secs(10)));
    let year = retry_after("Fri, 01 Jan 2027 00:00:01 GMT", Some("Thu, 31 Dec 2026 23:59:59 GMT"));
    assert_eq!(year, Some(Duration::from_secs(2)));
    let past = retry_after("Tue, 20 Oct 2026 07:28:00 GMT", Some("Wed, 21 Oct 2026 07:28:00 GMT"));
    assert_eq!(past, Some(Duration::ZERO));
    // The obsolete forms.
    let now = Some("Wed, 21 Oct 2026 07:28:00 GMT");
    for date in ["Wednesday, 21-Oct-26 07:28:09 GMT", "Wed Oct 21 07:28:09 2026"] {
        assert_eq!(retry_after(date, now), Some(Duration::from_secs(9)), "{date}");
    }
    // More than anything can wait for.
    assert_eq!(retry_after("99999999999999999999", now), Some(Duration::MAX));
}

#[test]
fn no_time_to_wait_is_a_pause_all_the_same() {
    let mut retry = Retry::new(RetryPolicy::new(), 7);
    let failure = Failure::status(503, "").with_retry_after(Duration::ZERO);
    let pause = retry.after(&failure).unwrap();
    assert!(pause >= Duration::from_millis(500), "{pause:?}");
}
