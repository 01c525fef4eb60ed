//! What is said about an answer.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;
use wiremend_proxy::{Mending, Repair, ToolRule, Upstream};

use crate::scene::{Scene, Step, answer, call_events, chunk, chunked, within};

const BROKEN: &str = r#"{"choices":[{"index":0,"message":{"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{'a': 1,}"}}]},"finish_reason":"tool_calls"}]}"#;

#[tokio::test]
async fn the_head_of_a_whole_body_says_what_was_done() {
    for (body, line) in [
        (BROKEN.to_owned(), "repaired; calls=1; repairs=3; risk=exact"),
        (BROKEN.replace("'a': 1,", r#"\"a\":1"#), "unchanged; calls=1; repairs=0"),
        (BROKEN.replace("{'a': 1,}", "{'a"), "cut; calls=1; repairs=0; incomplete=1"),
        (r#"{"object":"list","data":[]}"#.to_owned(), "untouched"),
        (
            BROKEN.replace("'a': 1,", r#"\"a\":1"#).replace("arguments", "argument"),
            "cut; calls=1; repairs=0; incomplete=1",
        ),
        (
            BROKEN.replace("'a': 1,", r#"\"a\":1"#).replace("tool_calls\":", "tool_call\":"),
            "lossy; calls=0; repairs=0",
        ),
        (
            format!(r#"{{"error":{{"message":"boom"}},{}"#, &BROKEN[1..]).replace("'a': 1,", ""),
            "error; calls=1; repairs=0",
        ),
        (r#"{"error":{"message":"boom"}}"#.to_owned(), "error; calls=0; repairs=0"),
    ] {
        let scene = Scene::new(answer("application/json; charset=utf-8", &body)).await;
        let reply = scene.post("/v1/chat/completions", "{}").await;
        assert_eq!(reply.header("x-wiremend"), Some(line));
        assert!(reply.header("x-wiremend-overhead-us").unwrap().parse::<u64>().is_ok());
        assert_eq!(reply.header("content-length"), Some(reply.body.len().to_string().as_str()));
        assert_eq!(reply.text() == body, !line.starts_with("repaired"));
    }
}

#[tokio::test]
async fn a_stream_ends_with_a_comment_where_that_is_switched_on() {
    let events = call_events(&["{'a': 1}"], "tool_calls").concat();
    let mended = events.replace("{'a': 1}", r#"{\"a\": 1}"#);
    let scene = Scene::new(answer("text/event-stream", &events)).await;
    let reply = scene.post("/v1/chat/completions", "{}").await;
    assert_eq!((reply.text(), reply.header("x-wiremend")), (mended.clone(), Some("streaming")));
    let reply = scene.post_with("/v1/chat/completions", &["x-wiremend-comment: on"], "{}").await;
    let text = reply.text();
    let comment = text.strip_prefix(&mended).unwrap();
    assert!(
        comment.starts_with(": wiremend repaired; calls=1; repairs=2; risk=exact; overhead-us="),
        "{comment}"
    );
    assert!(comment.ends_with("\n\n") && comment.matches('\n').count() == 2);
    // Not within an event, and not in a body of another kind.
    let open = events.trim_end();
    let scene = Scene::new(answer("text/event-stream", open)).await;
    let reply = scene.post_with("/v1/chat/completions", &["x-wiremend-comment: on"], "{}").await;
    assert_eq!(reply.text(), mended.trim_end());
}

#[tokio::test]
async fn the_switch_of_another_gateway_is_understood_and_taken_out() {
    let off = Mending::new().with_policy(Repair::Off);
    let mut scene = Scene::with(answer("application/json", BROKEN), |config, url| {
        config.with_mending(off).with_upstream(Upstream::parse(url).unwrap())
    })
    .await;
    let path = "/v1/chat/completions";
    let reply = scene.post(path, "{\"a\":1}").await;
    assert_eq!(
        (reply.header("x-wiremend"), scene.seen().await.body.as_slice()),
        (Some("untouched"), b"{\"a\":1}".as_slice())
    );
    let reply = scene.post(path, r#"{"plugins":[{"id":"response-healing"}],"a":1}"#).await;
    assert!(reply.header("x-wiremend").unwrap().starts_with("repaired"));
    assert_eq!(scene.seen().await.body, b"{\"a\":1}");
    let reply = scene.post_with(path, &["x-enable-plugins: response-healing"], "{\"a\":1}").await;
    assert!(reply.header("x-wiremend").unwrap().starts_with("repaired"));
    let seen = scene.seen().await;
    assert_eq!(
        (seen.header("x-enable-plugins"), seen.body.as_slice()),
        (None, b"{\"a\":1}".as_slice())
    );
    // What the request says in a header of the gateway goes before it.
    let headers = ["x-enable-plugins: response-healing", "x-wiremend-policy: off"];
    let body = r#"{"plugins":[{"id":"response-healing"},{"id":"response-healing"}],"a":1}"#;
    let reply = scene.post_with(path, &headers, body).await;
    assert_eq!(reply.header("x-wiremend"), Some("untouched"));
    assert_eq!(scene.seen().await.body, b"{\"a\":1}");
}

/// A whole answer with that content.
fn content(text: &str, finish: &str) -> String {
    let message = json!({"role": "assistant", "content": text});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).to_string()
}

#[tokio::test]
async fn the_account_has_what_was_done_to_content() {
    let path = "/v1/chat/completions";
    let asked = r#"{"model": "m", "response_format": {"type": "json_object"}}"#;
    for (text, finish, line, sent) in [
        (
            "{'a': True,}",
            "stop",
            "repaired; calls=0; contents=1; repairs=4; risk=exact",
            r#"{"a": true}"#,
        ),
        ("{\"a\": 1}", "stop", "unchanged; calls=0; contents=1; repairs=0", "{\"a\": 1}"),
        // What is not whole leaves as it came.
        (
            "{'name': 'Ad",
            "length",
            "cut; calls=0; contents=1; repairs=0; incomplete=1",
            "{'name': 'Ad",
        ),
        ("{'a': 1}", "length", "cut; calls=0; contents=1; repairs=0; incomplete=1", "{'a': 1}"),
        (
            "```json\n{\"a\": 1, \"b\": [1",
            "length",
            "cut; calls=0; contents=1; repairs=0; incomplete=1",
            "```json\n{\"a\": 1, \"b\": [1",
        ),
        (
            "The answer: {a: 1} and {b: 2}",
            "stop",
            "refused; calls=0; contents=1; repairs=0; incomplete=1",
            "The answer: {a: 1} and {b: 2}",
        ),
    ] {
        let scene = Scene::new(answer("application/json", content(text, finish))).await;
        let reply = scene.post(path, asked).await;
        assert_eq!((reply.header("x-wiremend"), reply.text()), (Some(line), content(sent, finish)));
        let list: Value = serde_json::from_str(&scene.page("/repairs").await.text()).unwrap();
        let listed = &list["answers"][0]["contents"][0];
        assert_eq!((listed["bytes"].as_u64(), listed.get("tool")), (Some(text.len() as u64), None));
        let metrics = scene.page("/metrics").await.text();
        let counted = |family: &str| metrics.contains(&format!("\n{family}"));
        assert!(counted("wiremend_contents_total{format=\"openai-chat\""), "{metrics}");
        assert_eq!(counted("wiremend_repairs_total{"), line.starts_with("repaired"), "{metrics}");
    }
}

#[tokio::test]
async fn the_account_has_the_repairs_of_calls_in_the_text() {
    let text = "<tool_call>{\"name\": \"rm\", \"arguments\": {'a': 1}}</tool_call>";
    let body = content(text, "stop");
    let header = ["x-wiremend-calls-in-text: hermes"];
    let path = "/v1/chat/completions";
    let scene = Scene::new(answer("application/json", &body)).await;
    let reply = scene.post_with(path, &header, "{}").await;
    assert_eq!(reply.header("x-wiremend"), Some("repaired; calls=1; repairs=2; risk=exact"));
    let list: Value = serde_json::from_str(&scene.page("/repairs").await.text()).unwrap();
    let call = &list["answers"][0]["calls"][0];
    assert_eq!((&call["tool"], &call["repairs"][0]["count"]), (&json!("rm"), &json!(2)));
    // A rule for the tool holds for such a call, too.
    let rule = ToolRule::new("r*").unwrap().with_policy(Repair::Off);
    let mending = Mending::new().with_tools(vec![rule]);
    let scene = Scene::with(answer("application/json", &body), |config, url| {
        config.with_mending(mending).with_upstream(Upstream::parse(url).unwrap())
    })
    .await;
    assert_eq!(scene.post_with(path, &header, "{}").await.text(), body);
}

#[tokio::test]
async fn a_client_that_closes_at_the_end_of_a_stream_does_not_cut_it() {
    for (ends, outcome) in [(true, "repaired"), (false, "cut")] {
        let mut events = call_events(&["{'a': [1", ", 2", "]}"], "tool_calls");
        if !ends {
            events.truncate(3);
        }
        let gone = Arc::new(Notify::new());
        let steps = vec![
            chunked("text/event-stream"),
            chunk(events.concat()),
            Step::Gone(Arc::clone(&gone)),
        ];
        let scene = Scene::new(steps).await;
        let mut client = scene.connect().await;
        client
            .send("POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}")
            .await;
        client.until(if ends { "[DONE]" } else { "c1" }).await;
        client.leave().await;
        gone.notified().await;
        let line = format!("outcome=\"{outcome}\"}} 1");
        let counted = async {
            while !scene
                .page("/metrics")
                .await
                .text()
                .lines()
                .any(|text| text.starts_with("wiremend_answers_total") && text.ends_with(&line))
            {
                tokio::task::yield_now().await;
            }
        };
        within(counted).await;
    }
}
