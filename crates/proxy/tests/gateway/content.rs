//! JSON content is fitted to the schema that a request states for it.

use serde_json::{Value, json};
use wiremend_testkit::bodies::Shape;
use wiremend_wire::{WireOptions, transcribe};

use crate::scene::{Reply, Scene, answer};

const CHAT: &str = "/v1/chat/completions";
const VALIDATED: [&str; 2] = ["x-wiremend-mode: validated", "x-wiremend-comment: on"];

/// A whole answer of Chat Completions.
fn body(content: &str, finish: &str) -> String {
    let message = json!({"role": "assistant", "content": content});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).to_string()
}

fn schema() -> Value {
    json!({"type": "object", "required": ["days"], "additionalProperties": false,
        "properties": {"days": {"type": "integer"}, "note": {"type": "string"}}})
}

/// A request for content of that schema.
fn request() -> String {
    let named = json!({"name": "answer", "strict": true, "schema": schema()});
    json!({"response_format": {"type": "json_schema", "json_schema": named}}).to_string()
}

fn account(reply: &Reply) -> String {
    let text = reply.text();
    let comment = text.lines().find_map(|line| line.strip_prefix(": wiremend "));
    comment.unwrap_or_default().split("; overhead").next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn content_of_a_whole_body_fits_its_schema() {
    let scene = Scene::new(answer("application/json", body("{'days': \"3\"}", "stop"))).await;
    let reply = scene.post_with(CHAT, &VALIDATED[..1], &request()).await;
    assert_eq!(reply.text(), body("{\"days\": 3}", "stop"));
    let line = reply.header("x-wiremend").unwrap();
    assert_eq!(line, "repaired; calls=0; contents=1; repairs=3; risk=exact");
    let listed: Value = serde_json::from_slice(&scene.page("/repairs").await.body).unwrap();
    let repairs = listed["answers"][0]["contents"][0]["repairs"].as_array().unwrap().clone();
    let codes: Vec<&str> = repairs.iter().filter_map(|repair| repair["code"].as_str()).collect();
    assert_eq!(codes, ["single-quote", "string-to-number"]);
    // What is right passes byte for byte, and so does everything where values are not converted.
    let right = body(" {\"note\": \"\\u0078\", \"days\" : 3}\n", "stop");
    let scene = Scene::new(answer("application/json", &right)).await;
    let reply = scene.post_with(CHAT, &VALIDATED[..1], &request()).await;
    assert_eq!(
        (reply.text(), reply.header("x-wiremend").unwrap()),
        (right, "unchanged; calls=0; contents=1; repairs=0")
    );
}

#[tokio::test]
async fn content_of_every_format_fits_its_schema() {
    let asked = json!({"stream": true, "guided_json": schema()}).to_string();
    for shape in Shape::ALL {
        // Their texts are no strings of JSON, so nothing in them can be replaced.
        let is_text = !matches!(shape, Shape::BedrockAgent | Shape::Replicate);
        let sent = shape.body(&["{\"days\":", " \"3\"}"], &[]);
        let kind = match sent.first() {
            Some(b'd' | b'e') => "text/event-stream",
            Some(b'{') => "application/x-ndjson",
            Some(b'[') => "application/json",
            _ => "application/vnd.amazon.eventstream",
        };
        let scene = Scene::new(answer(kind, &sent)).await;
        let reply = scene.post_with("/v1/x", &VALIDATED[..1], &asked).await;
        let said = transcribe(&reply.body, WireOptions::new());
        let want = if is_text { "{\"days\": 3}" } else { "{\"days\": \"3\"}" };
        assert_eq!(said.text(), want, "{shape:?}: {}", reply.text());
        assert_eq!(reply.body != sent, is_text);
        assert_eq!(said.outcome(), wiremend_wire::StreamOutcome::Complete);
        // What has left is not taken back.
        let reply = scene.post("/v1/x", &asked).await;
        assert_eq!(reply.body, sent, "{shape:?}");
    }
}

#[tokio::test]
async fn content_that_is_not_whole_is_not_fitted() {
    for (content, finish, line) in [
        ("{\"days\": \"3\"}", "length", "cut"),
        ("{\"days\": \"3\"", "stop", "cut"),
        ("It takes three days.", "stop", "cut"),
    ] {
        let sent = body(content, finish);
        let scene = Scene::new(answer("application/json", &sent)).await;
        let reply = scene.post_with(CHAT, &VALIDATED[..1], &request()).await;
        assert_eq!(reply.text(), sent);
        assert!(reply.header("x-wiremend").unwrap().starts_with(line));
    }
}

#[tokio::test]
async fn content_that_cannot_be_made_to_fit_leaves_as_it_was_mended() {
    let events = Shape::Chat.body(&["{'days': 'a few', ", "more: 1}"], &[]);
    let scene = Scene::new(answer("text/event-stream", events)).await;
    let asked = request().replacen('{', "{\"stream\": true, ", 1);
    let reply = scene.post_with(CHAT, &VALIDATED, &asked).await;
    let said = transcribe(&reply.body, WireOptions::new());
    assert_eq!(said.text(), r#"{"days": "a few", "more": 1}"#);
    let line = account(&reply);
    assert!(line.starts_with("invalid; calls=0; contents=1; repairs=6; risk="), "{line}");
    assert!(line.ends_with("; invalid=1; issues=2"), "{line}");
}

/// A call and content that end with the same event are told apart.
#[tokio::test]
async fn a_call_and_content_are_fitted_each_to_its_own_schema() {
    let call = json!([{"id": "c", "type": "function",
        "function": {"name": "f", "arguments": "{\"days\": \"4\"}"}}]);
    let sent = |content: &str, arguments: &str| {
        let mut call = call.clone();
        call[0]["function"]["arguments"] = arguments.into();
        let message = json!({"role": "assistant", "content": content, "tool_calls": call});
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
            .to_string()
    };
    let came = sent("{\"days\": \"soon\"}", "{\"days\": \"4\"}");
    let scene = Scene::new(answer("application/json", &came)).await;
    let mut asked: Value = serde_json::from_str(&request()).unwrap();
    asked["tools"] =
        json!([{"type": "function", "function": {"name": "f", "parameters": schema()}}]);
    let reply = scene.post_with(CHAT, &VALIDATED[..1], &asked.to_string()).await;
    assert_eq!(reply.text(), sent("{\"days\": \"soon\"}", "{\"days\": 4}"));
    let listed: Value = serde_json::from_slice(&scene.page("/repairs").await.body).unwrap();
    let answer = &listed["answers"][0];
    assert_eq!(answer["calls"][0]["repairs"][0]["code"], "string-to-number");
    assert_eq!(answer["calls"][0].get("issues"), None);
    assert_eq!(answer["contents"][0]["issues"], 1);
    assert_eq!(answer["outcome"], "invalid");
}

#[tokio::test]
async fn the_policy_of_the_request_holds_for_content() {
    // A key in another spelling is a likely reading.
    let scene = Scene::new(answer("application/json", body("{\"Days\": 3}", "stop"))).await;
    for (policy, want) in
        [("likely", "{\"days\": 3}"), ("exact", "{\"Days\": 3}"), ("off", "{\"Days\": 3}")]
    {
        let headers = [VALIDATED[0], &format!("x-wiremend-policy: {policy}")];
        assert_eq!(
            scene.post_with(CHAT, &headers, &request()).await.text(),
            body(want, "stop"),
            "{policy}"
        );
    }
    let headers = [VALIDATED[0], "x-wiremend-content: text"];
    assert_eq!(
        scene.post_with(CHAT, &headers, &request()).await.text(),
        body("{\"Days\": 3}", "stop")
    );
}
