//! What is mended.

use serde_json::{Value, json};
use wiremend_testkit::bodies::Shape;

use crate::scene::{Scene, answer, call_events};

/// The media type of a shape, and a path that asks for it.
fn place(shape: Shape) -> (&'static str, &'static str) {
    match shape {
        Shape::AnthropicChunks | Shape::BedrockAgent | Shape::BedrockText | Shape::Converse => {
            ("application/vnd.amazon.eventstream", "/model/m/converse-stream")
        }
        Shape::ChatArray | Shape::GeminiArray => {
            ("application/json", "/models/m:streamGenerateContent")
        }
        Shape::ChatBody => ("application/json", "/v1/chat/completions"),
        Shape::ChatLines | Shape::CohereV1 | Shape::Ollama | Shape::OllamaGenerate => {
            ("application/x-ndjson", "/api/chat")
        }
        _ => ("text/event-stream", "/v1/x"),
    }
}

#[tokio::test]
async fn clean_bodies_of_every_format_pass_byte_for_byte() {
    for shape in Shape::ALL {
        for mode in ["eager", "validated"] {
            let body = shape.body(&["so \\u00e9", "far"], &[&["{\"a\"", " :1.0e5}"], &["{}"]]);
            let (kind, path) = place(shape);
            let scene = Scene::new(answer(kind, &body)).await;
            let mode = format!("x-wiremend-mode: {mode}");
            let reply = scene.post_with(path, &[&mode], "{}").await;
            assert_eq!(
                String::from_utf8_lossy(&reply.body),
                String::from_utf8_lossy(&body),
                "{shape:?}"
            );
            assert!(reply.whole);
        }
    }
}

#[tokio::test]
async fn broken_arguments_of_every_format_are_mended() {
    for shape in Shape::IN_PIECES {
        for mode in ["eager", "validated"] {
            let broken = shape.body(&["so"], &[&["{'a':", " True, b: [1,]}"]]);
            let (kind, path) = place(shape);
            let scene = Scene::new(answer(kind, &broken)).await;
            let mode = format!("x-wiremend-mode: {mode}");
            let reply = scene.post_with(path, &[&mode], "{}").await;
            let said = wiremend_wire::transcribe(&reply.body, wiremend_wire::WireOptions::new());
            let call = &said.calls()[0];
            assert_eq!(call.outcome().code(), "unchanged", "{shape:?}: {}", reply.text());
            assert_eq!(call.arguments(), r#"{"a": true, "b": [1]}"#, "{shape:?}");
            assert_eq!(said.text(), "so");
        }
    }
}

/// Of the formats that give the arguments of a whole body as text.
#[tokio::test]
async fn broken_arguments_of_whole_bodies_are_mended() {
    let function = json!({"name": "f", "arguments": "{'a': 1, b: [1,]}"});
    let call = json!([{"id": "c1", "type": "function", "function": function}]);
    let item = json!({"type": "function_call", "id": "i", "call_id": "c1", "name": "f",
        "arguments": "{'a': 1, b: [1,]}", "status": "completed"});
    for (path, body) in [
        (
            "/v1/chat/completions",
            json!({"choices": [{"index": 0, "finish_reason": "tool_calls",
            "message": {"role": "assistant", "tool_calls": call}}]}),
        ),
        ("/v1/responses", json!({"object": "response", "status": "completed", "output": [item]})),
        (
            "/v1/threads/t/runs",
            json!({"object": "thread.run", "status": "requires_action",
            "required_action": {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": call}}}),
        ),
        (
            "/v2/chat",
            json!({"id": "m", "finish_reason": "TOOL_CALL",
            "message": {"role": "assistant", "tool_calls": call}}),
        ),
    ] {
        let body = body.to_string();
        let scene = Scene::new(answer("application/json", &body)).await;
        for mode in ["eager", "validated"] {
            let reply = scene.post_with(path, &[&format!("x-wiremend-mode: {mode}")], "{}").await;
            let want = body.replace("{'a': 1, b: [1,]}", r#"{\"a\": 1, \"b\": [1]}"#);
            assert_eq!(reply.text(), want, "{path}");
            let line = reply.header("x-wiremend").unwrap();
            assert!(line.starts_with("repaired; calls=1; "), "{path}: {line}");
        }
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_never_completed() {
    for finish in ["length", "tool_calls"] {
        for policy in ["exact", "likely", "lossy"] {
            let events = call_events(&["{\"path\": ", "\"/tm"], finish).concat();
            let scene = Scene::new(answer("text/event-stream", &events)).await;
            let policy = format!("x-wiremend-policy: {policy}");
            let headers = [policy.as_str(), "x-wiremend-comment: on"];
            let reply = scene.post_with("/v1/chat/completions", &headers, "{}").await;
            let text = reply.text();
            let (body, comment) = text.split_at(events.len());
            assert_eq!(body, events);
            assert!(
                comment.starts_with(": wiremend cut; calls=1; repairs=0; incomplete=1; "),
                "{comment}"
            );
        }
    }
    // Not even what could be mended of it is.
    let events = call_events(&["{'path': ", "'/tmp', ", "'a': 'x"], "length").concat();
    let scene = Scene::new(answer("text/event-stream", &events)).await;
    for mode in ["eager", "validated"] {
        let mode = format!("x-wiremend-mode: {mode}");
        let reply = scene.post_with("/v1/chat/completions", &[&mode], "{}").await;
        assert_eq!(reply.text(), events);
    }
}

#[tokio::test]
async fn a_call_without_arguments_leaves_with_an_empty_object() {
    for finish in ["tool_calls", "length"] {
        let events = call_events(&[""], finish).concat();
        let scene = Scene::new(answer("text/event-stream", &events)).await;
        for mode in ["x-wiremend-mode: validated", "x-wiremend-comment: on"] {
            let headers = [mode, "x-wiremend-comment: on"];
            let headers = if mode == headers[1] { &headers[1..] } else { &headers[..] };
            let reply = scene.post_with("/v1/chat/completions", headers, "{}").await;
            let text = reply.text();
            if finish == "length" {
                assert!(text.starts_with(&events), "{text}");
                continue;
            }
            assert_eq!(text.matches(r#""arguments":"{}""#).count(), 1, "{text}");
            // What was written is no repair of what the model wrote.
            assert!(text.contains(": wiremend repaired; calls=1; repairs=0;"), "{text}");
        }
        let headers = ["x-wiremend-arguments: pass"];
        assert_eq!(scene.post_with("/v1/chat/completions", &headers, "{}").await.text(), events);
    }
    let body = |arguments: Value| {
        let function = json!({"name": "now", "arguments": arguments});
        let calls = json!([{"id": "c", "type": "function", "function": function}]);
        json!({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]})
            .to_string()
    };
    for nothing in [json!(""), Value::Null] {
        let scene = Scene::new(answer("application/json", body(nothing))).await;
        let reply = scene.post("/v1/chat/completions", "{}").await;
        assert_eq!(reply.text(), body(json!("{}")));
        assert_eq!(reply.header("x-wiremend"), Some("repaired; calls=1; repairs=0"));
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_taken_out_if_that_is_switched_on() {
    let events = call_events(&["{\"path\": ", "\"/tmp\"}"], "length").concat();
    let scene = Scene::new(answer("text/event-stream", &events)).await;
    let path = "/v1/chat/completions";
    assert_eq!(scene.post(path, "{}").await.text(), events);
    let headers = ["x-wiremend-cut: withhold", "x-wiremend-comment: on"];
    let text = scene.post_with(path, &headers, "{}").await.text();
    let said = wiremend_wire::transcribe(text.as_bytes(), wiremend_wire::WireOptions::new());
    assert!(said.calls().is_empty() && text.contains("\"tool_calls\":[]"), "{text}");
    assert_eq!(said.finish().unwrap().original(), "length");
    assert!(
        text.contains(": wiremend cut; calls=1; repairs=0; incomplete=1; body=changed"),
        "{text}"
    );
}

#[tokio::test]
async fn the_tools_of_the_request_decide_what_the_bytes_leave_open() {
    let events = call_events(&["{city 'New York', days 3}"], "tool_calls").concat();
    let scene = Scene::new(answer("text/event-stream", &events)).await;
    let with = json!({"tools": [{"type": "function", "function": {"name": "f", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}]});
    let arguments = |body: &[u8]| {
        let said = wiremend_wire::transcribe(body, wiremend_wire::WireOptions::new());
        said.calls()[0].raw().to_owned()
    };
    let reply = scene.post("/v1/chat/completions", &with.to_string()).await;
    assert_eq!(arguments(&reply.body), r#"{"city": "New York", "days": 3}"#);
    let reply = scene.post("/v1/chat/completions", "{}").await;
    assert_ne!(arguments(&reply.body), r#"{"city": "New York", "days": 3}"#);
}

#[tokio::test]
async fn content_is_json_where_the_request_asks_for_it() {
    let body = json!({"choices": [{"index": 0, "message": {"role": "assistant",
        "content": "{'a': True,}"}, "finish_reason": "stop"}]})
    .to_string();
    let mended = body.replace("{'a': True,}", "{\\\"a\\\": true}");
    let scene = Scene::new(answer("application/json", &body)).await;
    let asked = r#"{"response_format": {"type": "json_object"}}"#;
    let path = "/v1/chat/completions";
    assert_eq!(scene.post(path, asked).await.text(), mended);
    assert_eq!(scene.post(path, "{}").await.text(), body);
    assert_eq!(scene.post_with(path, &["x-wiremend-content: json"], "{}").await.text(), mended);
    assert_eq!(scene.post_with(path, &["x-wiremend-content: text"], asked).await.text(), body);
    assert_eq!(scene.post_with(path, &["x-wiremend-policy: off"], asked).await.text(), body);
}

#[tokio::test]
async fn calls_in_the_text_are_sent_on_as_calls_where_that_is_asked() {
    let body = json!({"choices": [{"index": 0, "message": {"role": "assistant",
        "content": "<tool_call>{\"name\": \"f\", \"arguments\": {'a': 1}}</tool_call>"},
        "finish_reason": "stop"}]})
    .to_string();
    let scene = Scene::new(answer("application/json", &body)).await;
    let path = "/v1/chat/completions";
    assert_eq!(scene.post(path, "{}").await.text(), body);
    for dialect in ["auto", "hermes"] {
        let header = format!("x-wiremend-calls-in-text: {dialect}");
        let reply = scene.post_with(path, &[&header], "{}").await;
        let value: Value = serde_json::from_slice(&reply.body).unwrap();
        let choice = &value["choices"][0];
        assert_eq!(choice["finish_reason"], "tool_calls");
        assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], r#"{"a": 1}"#);
        assert_eq!(reply.header("content-length"), Some(reply.body.len().to_string().as_str()));
    }
}

#[tokio::test]
async fn a_broken_call_in_the_history_is_mended_before_it_is_sent_again() {
    let mut scene = Scene::new(answer("application/json", "{}")).await;
    let history = r#"{"messages": [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{'a': 1}"}}, {"id": "2", "function": {"name": "f", "arguments": "{\"a\": \"x"}}]}], "seed": 1.0}"#;
    let reply = scene.post("/v1/chat/completions", history).await;
    assert_eq!(reply.header("x-wiremend-request"), Some("history; mended=1; replaced=1"));
    let want = history
        .replace("{'a': 1}", r#"{\"a\": 1}"#)
        .replace(r#""{\"a\": \"x""#, r#""{\"invalid_json\":\"{\\\"a\\\": \\\"x\"}""#);
    let seen = scene.seen().await;
    assert_eq!(String::from_utf8_lossy(&seen.body), want);
    assert_eq!(seen.all("content-length"), [want.len().to_string()]);
    let metrics = scene.page("/metrics").await.text();
    assert!(
        metrics.contains("wiremend_history_calls_total{outcome=\"replaced\"} 1\n"),
        "{metrics}"
    );
    for header in
        ["x-wiremend-history: off", "x-wiremend-policy: off", "x-wiremend-arguments: pass"]
    {
        let reply = scene.post_with("/v1/chat/completions", &[header], history).await;
        assert_eq!(reply.header("x-wiremend-request"), None);
        assert_eq!(scene.seen().await.body, history.as_bytes());
    }
}

/// As the arguments of an answer are, so are those of the history mended under the policy of the request, of
/// the upstream, and of the tool.
#[tokio::test]
async fn the_history_is_mended_under_the_policy_that_holds() {
    let raw = r#"{"cmd": "echo "hi" and go", "n": 1}"#;
    let given = json!(raw).to_string();
    let body = |tool: &str| {
        format!(
            r#"{{"messages":[{{"tool_calls":[{{"function":{{"name":"{tool}","arguments":{given}}}}}]}}]}}"#
        )
    };
    let replaced = |tool: &str| {
        let value = format!("{{\"invalid_json\":{given}}}");
        body(tool).replace(&given, &json!(value).to_string())
    };
    let path = "/v1/chat/completions";
    let mut scene = Scene::with(answer("application/json", "{}"), |_, url| {
        let file = format!(
            "[[upstream]]\nurl = \"{url}\"\npolicy = \"exact\"\n\
             [[upstream.tool]]\nname = \"delete_*\"\npolicy = \"off\"\narguments = \"pass\"\n"
        );
        wiremend_proxy::Config::read(&file, []).unwrap()
    })
    .await;
    scene.post(path, &body("f")).await;
    assert_eq!(String::from_utf8_lossy(&scene.seen().await.body), replaced("f"));
    scene.post(path, &body("delete_user")).await;
    assert_eq!(String::from_utf8_lossy(&scene.seen().await.body), body("delete_user"));
    let mut scene = Scene::new(answer("application/json", "{}")).await;
    scene.post_with(path, &["x-wiremend-policy: exact"], &body("f")).await;
    assert_eq!(String::from_utf8_lossy(&scene.seen().await.body), replaced("f"));
    scene.post_with(path, &["x-wiremend-arguments: pass"], &body("f")).await;
    assert_eq!(String::from_utf8_lossy(&scene.seen().await.body), body("f"));
}
