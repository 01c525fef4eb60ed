//! Which answers are read, by what they say that they are.

use serde_json::json;

use crate::scene::{Reply, Scene, Step, call_events};

const PATH: &str = "/v1/chat/completions";

fn whole(arguments: &str) -> String {
    let function = json!({"name": "f", "arguments": arguments});
    let call = json!([{"id": "c1", "type": "function", "function": function}]);
    json!({"choices": [{"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "tool_calls": call}}]})
    .to_string()
}

/// The answer to a request, whose head has this status and these lines.
async fn reply(method: &str, status: &str, lines: &str, body: &[u8]) -> Reply {
    let head = format!("HTTP/1.1 {status}\r\n{lines}content-length: {}\r\n\r\n", body.len());
    let scene = Scene::new(vec![Step::Send([head.as_bytes(), body].concat())]).await;
    let mut client = scene.connect().await;
    let length = "content-length: 2\r\nconnection: close\r\n\r\n{}";
    client.send(format!("{method} {PATH} HTTP/1.1\r\nhost: localhost\r\n{length}")).await;
    client.reply().await
}

#[tokio::test]
async fn an_answer_without_a_media_type_is_read() {
    let (broken, mended) = (whole("{'a': 1}"), whole("{\"a\": 1}"));
    for (body, want) in [
        (broken.clone(), mended.clone()),
        (mended.clone(), mended.clone()),
        (
            call_events(&["{'a': ", "1}"], "tool_calls").concat(),
            call_events(&["{\"a\": ", "1}"], "tool_calls").concat(),
        ),
    ] {
        let reply = reply("POST", "200 OK", "", body.as_bytes()).await;
        assert_eq!(
            (reply.header("x-wiremend"), reply.text(), reply.whole),
            (Some("streaming"), want, true)
        );
    }
    // What is neither passes as it came.
    for body in [b"\0\xff{'a': 1}\x89PNG\r\n".as_slice(), b"<html>{'a': 1}</html>", b"so {'a': 1}"]
    {
        assert_eq!(reply("POST", "200 OK", "", body).await.body, body);
    }
    let reply = reply("GET", "200 OK", "", broken.as_bytes()).await;
    assert_eq!((reply.header("x-wiremend"), reply.text()), (Some("untouched"), broken));
}

#[tokio::test]
async fn an_answer_without_a_body_keeps_its_head() {
    for status in ["200 OK", "202 Accepted"] {
        let reply = reply("POST", status, "etag: \"e\"\r\n", b"").await;
        assert_eq!(
            (reply.header("x-wiremend"), reply.header("content-length"), reply.header("etag")),
            (Some("untouched"), Some("0"), Some("\"e\""))
        );
    }
    let scene =
        Scene::new(vec![Step::Send(b"HTTP/1.1 204 No Content\r\netag: \"e\"\r\n\r\n".to_vec())])
            .await;
    let reply = scene.post(PATH, "{}").await;
    assert_eq!((reply.status(), reply.header("etag")), (204, Some("\"e\"")));
    assert_eq!(reply.header("x-wiremend"), Some("untouched"));
}

#[tokio::test]
async fn json_by_its_older_name_is_json() {
    let kind = "content-type: text/json; charset=utf-8\r\n";
    for method in ["POST", "GET"] {
        let reply = reply(method, "200 OK", kind, whole("{'a': 1}").as_bytes()).await;
        assert_eq!(reply.text(), whole("{\"a\": 1}"));
        assert!(reply.header("x-wiremend").unwrap().starts_with("repaired; calls=1; "));
    }
}

/// It may be a file, in which nothing is to change.
#[tokio::test]
async fn bytes_of_no_known_kind_are_left_alone() {
    let kind = "content-type: application/octet-stream\r\n";
    for body in [whole("{'a': 1}"), call_events(&["{'a': 1}"], "tool_calls").concat()] {
        let reply = reply("POST", "200 OK", kind, body.as_bytes()).await;
        assert_eq!((reply.header("x-wiremend"), reply.text()), (Some("untouched"), body));
    }
}
