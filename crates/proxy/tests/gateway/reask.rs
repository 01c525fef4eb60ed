//! The model is asked again for arguments that do not fit.

use serde_json::{Value, json};
use wiremend_proxy::{Mending, Mode, Reask, Upstream};

use crate::scene::{Scene, Step, answer, call_events};

const VALIDATED: &str = "x-wiremend-mode: validated";

/// One provider's requests and answers.
struct Provider {
    path: &'static str,
    request: Value,
    /// An answer with a call of `trip` that has these arguments.
    answer: fn(Value) -> Value,
    /// Where an answer has the arguments.
    arguments: &'static str,
    /// The turns of a request.
    turns: &'static str,
    /// Where a request names the tool that must be called.
    forced: &'static str,
}

fn schema() -> Value {
    json!({"type": "object", "required": ["days", "city"], "additionalProperties": false,
        "properties": {"days": {"type": "integer"}, "city": {"type": "string"}}})
}

fn providers() -> Vec<Provider> {
    let turn = json!({"role": "user", "content": "How long?"});
    vec![
        Provider {
            path: "/v1/chat/completions",
            request: json!({"model": "m", "messages": [turn], "tools": [{"type": "function",
                "function": {"name": "trip", "description": "Plans.", "parameters": schema()}}]}),
            answer: |arguments| {
                let function = json!({"name": "trip", "arguments": arguments.to_string()});
                let call = json!({"id": "c1", "type": "function", "function": function});
                json!({"choices": [{"index": 0, "finish_reason": "tool_calls",
                    "message": {"role": "assistant", "tool_calls": [call]}}],
                    "usage": {"prompt_tokens": 10, "completion_tokens": 5}})
            },
            arguments: "/choices/0/message/tool_calls/0/function/arguments",
            turns: "messages",
            forced: "/tool_choice/function/name",
        },
        Provider {
            path: "/v1/messages",
            request: json!({"model": "m", "messages": [turn],
                "tools": [{"name": "trip", "description": "Plans.", "input_schema": schema()}]}),
            answer: |arguments| {
                json!({"type": "message", "role": "assistant", "stop_reason": "tool_use", "content":
                    [{"type": "tool_use", "id": "t1", "name": "trip", "input": arguments}],
                    "usage": {"input_tokens": 10, "output_tokens": 5}})
            },
            arguments: "/content/0/input",
            turns: "messages",
            forced: "/tool_choice/name",
        },
        Provider {
            path: "/v1beta/models/m:generateContent",
            request: json!({"contents": [{"role": "user", "parts": [{"text": "How long?"}]}],
                "tools": [{"functionDeclarations": [{"name": "trip", "description": "Plans.",
                    "parameters": schema()}]}]}),
            answer: |arguments| {
                let call = json!({"functionCall": {"name": "trip", "args": arguments}});
                json!({"candidates": [{"index": 0, "finishReason": "STOP",
                    "content": {"role": "model", "parts": [call]}}],
                    "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}})
            },
            arguments: "/candidates/0/content/parts/0/functionCall/args",
            turns: "contents",
            forced: "/toolConfig/functionCallingConfig/allowedFunctionNames/0",
        },
    ]
}

async fn scene(answers: Vec<Vec<Step>>, reask: Reask) -> Scene {
    let mending = Mending::new().with_mode(Mode::Validated);
    Scene::of_answers(answers, |config, url| {
        let config = config.with_upstream(Upstream::parse(url).unwrap());
        config.with_mending(mending).with_reask(reask)
    })
    .await
}

fn json_answer(value: &Value) -> Vec<Step> {
    answer("application/json", value.to_string())
}

#[tokio::test]
async fn what_does_not_fit_is_asked_for_again() {
    for provider in providers() {
        let wrong = (provider.answer)(json!({"days": "a few", "city": "Oslo"}));
        let right = (provider.answer)(json!({"days": 3, "city": "Oslo"}));
        let answers = vec![json_answer(&wrong), json_answer(&right)];
        let mut scene = scene(answers, Reask::new().with_attempts(2)).await;
        let body = provider.request.to_string();
        let reply = scene.post_with(provider.path, &["authorization: Bearer k"], &body).await;
        assert!(reply.whole);
        let account = reply.header("x-wiremend").unwrap();
        let want = "repaired; calls=1; repairs=1; risk=lossy; asked=1; input=10; output=5";
        assert_eq!(account, want, "{}", provider.path);
        let got: Value = serde_json::from_slice(&reply.body).unwrap();
        let arguments = got.pointer(provider.arguments).unwrap();
        let arguments = match arguments {
            Value::String(text) => serde_json::from_str(text).unwrap(),
            value => value.clone(),
        };
        assert_eq!(arguments, json!({"days": 3, "city": "Oslo"}));
        // Everything else is the first answer.
        let mut first = wrong.clone();
        *first.pointer_mut(provider.arguments).unwrap() = Value::Null;
        let mut rest = got.clone();
        *rest.pointer_mut(provider.arguments).unwrap() = Value::Null;
        assert_eq!(rest, first);
        let (asked, again) = (scene.seen().await, scene.seen().await);
        assert_eq!(asked.line(), again.line());
        assert_eq!(again.header("authorization"), Some("Bearer k"));
        let question: Value = serde_json::from_slice(&again.body).unwrap();
        let turns = question[provider.turns].as_array().unwrap();
        assert_eq!(turns[0], provider.request[provider.turns][0]);
        assert_eq!(turns.len(), 2);
        assert!(turns[1].to_string().contains("days"), "{}", turns[1]);
        assert_eq!(question.pointer(provider.forced), Some(&json!("trip")));
        assert!(question["tools"].to_string().contains("Plans."));
    }
}

#[tokio::test]
async fn nobody_is_asked_more_often_than_allowed() {
    let provider = &providers()[0];
    let wrong = (provider.answer)(json!({"days": "a few", "city": "Oslo"}));
    for (attempts, header, want) in [
        (0, "x-a: b", "invalid; calls=1; repairs=0; invalid=1; issues=1"),
        (
            1,
            "x-a: b",
            "invalid; calls=1; repairs=0; invalid=1; issues=1; asked=1; input=10; output=5",
        ),
        (9, "x-wiremend-reask: off", "invalid; calls=1; repairs=0; invalid=1; issues=1"),
    ] {
        let mut scene =
            scene(vec![json_answer(&wrong)], Reask::new().with_attempts(attempts)).await;
        let reply = scene.post_with(provider.path, &[header], &provider.request.to_string()).await;
        assert_eq!(reply.header("x-wiremend"), Some(want));
        assert_eq!(reply.text(), wrong.to_string());
        scene.seen().await;
        if want.contains("asked=1") {
            scene.seen().await;
        }
        assert!(scene.saw_no_more());
    }
}

#[tokio::test]
async fn a_provider_that_fails_or_is_slow_when_it_is_asked_again_changes_nothing() {
    let provider = &providers()[0];
    let wrong = (provider.answer)(json!({"days": "a few", "city": "Oslo"}));
    let error = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n";
    let never = vec![Step::Wait(std::sync::Arc::default())];
    for second in [vec![Step::Send(error.into())], vec![Step::Close], never] {
        let reask = Reask::new().with_attempts(3).with_seconds(1);
        let scene = scene(vec![json_answer(&wrong), second], reask).await;
        let reply = scene.post(provider.path, &provider.request.to_string()).await;
        assert_eq!(reply.text(), wrong.to_string());
        let account = reply.header("x-wiremend").unwrap();
        assert!(account.starts_with("invalid; calls=1;"), "{account}");
        assert!(account.contains("; asked="), "{account}");
    }
}

#[tokio::test]
async fn after_the_first_byte_nothing_is_asked() {
    let provider = &providers()[0];
    let mut request = provider.request.clone();
    request["stream"] = json!(true);
    let events = call_events(&["{\"days\": \"a few\", \"city\": 1}"], "tool_calls").concat();
    let events = events.replace("\"name\":\"f\"", "\"name\":\"trip\"");
    let answers = vec![answer("text/event-stream", &events)];
    let mut scene = scene(answers, Reask::new().with_attempts(2)).await;
    let reply = scene.post_with(provider.path, &[VALIDATED], &request.to_string()).await;
    assert_eq!(reply.text(), events);
    scene.seen().await;
    assert!(scene.saw_no_more());
}

#[tokio::test]
async fn few_calls_and_few_tokens_are_asked_for() {
    let provider = &providers()[0];
    let wrong = (provider.answer)(json!({"days": "a few", "city": "Oslo"}));
    let right = (provider.answer)(json!({"days": 3, "city": "Oslo"}));
    let mut many = wrong.clone();
    let call = &wrong["choices"][0]["message"]["tool_calls"][0];
    let calls = (0..9).map(|number| {
        let mut call = call.clone();
        call["id"] = json!(format!("c{number}"));
        call
    });
    many["choices"][0]["message"]["tool_calls"] = calls.collect();
    let request = provider.request.to_string();
    for (tokens, want) in [
        (
            50_000,
            "invalid; calls=9; repairs=8; risk=lossy; invalid=1; issues=1; asked=8; input=80; output=40",
        ),
        (1, "invalid; calls=9; repairs=0; invalid=9; issues=9"),
    ] {
        let reask = Reask::new().with_attempts(100).with_tokens(tokens);
        let scene = scene(vec![json_answer(&many), json_answer(&right)], reask).await;
        let reply = scene.post(provider.path, &request).await;
        assert_eq!(reply.header("x-wiremend"), Some(want));
    }
}
