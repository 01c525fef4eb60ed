//! What passes, passes as it came.

use std::sync::{Arc, atomic::Ordering};

use tokio::sync::Notify;
use wiremend_proxy::{Limits, Upstream};

use crate::scene::{Scene, Step, answer, call_events, chunk, chunked, last, within};

#[tokio::test]
async fn a_request_passes_but_for_what_must_change() {
    let mut scene = Scene::with(answer("application/json", "{}"), |config, url| {
        let upstream = Upstream::new("/p", &format!("{url}/base/")).unwrap();
        config.with_upstream(upstream)
    })
    .await;
    let body = "{ \"a\": 1.0, \"é\":\"\\u00e9\",\"a\":2 }\n";
    let headers = [
        "authorization: Bearer secret",
        "accept-encoding: gzip, br",
        "x-wiremend-mode: validated",
        "x-own: a",
    ];
    scene.post_with("/p/v1/x?k=%20&z", &headers, body).await;
    let seen = scene.seen().await;
    assert_eq!(seen.line(), "POST /base/v1/x?k=%20&z HTTP/1.1");
    assert_eq!(seen.body, body.as_bytes());
    assert_eq!(seen.all("host"), [scene.provider.to_string()]);
    assert_eq!(seen.all("authorization"), ["Bearer secret"]);
    assert_eq!(seen.all("accept-encoding"), ["identity"]);
    assert_eq!(seen.all("x-own"), ["a"]);
    assert_eq!(seen.all("content-length"), [body.len().to_string()]);
    assert!(!seen.head.contains("wiremend"), "{}", seen.head);
    let reply = scene.post("/q", body).await;
    assert_eq!((reply.status(), reply.header("x-wiremend-error")), (404, Some("no-upstream")));
    assert!(reply.text().contains("it begins with /p\""), "{}", reply.text());
    assert!(scene.saw_no_more());
}

#[tokio::test]
async fn any_method_and_any_body_pass() {
    let mut scene = Scene::new(answer("application/octet-stream", b"\0\xff{'a': 1}")).await;
    for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"] {
        let mut client = scene.connect().await;
        let body = "3\r\n{'a\r\n1\r\n\n\r\n0\r\n\r\n";
        client
            .send(format!(
                "{method} /v1/files HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/pdf\r\n\
                 transfer-encoding: chunked\r\nconnection: close\r\n\r\n{body}"
            ))
            .await;
        let reply = client.reply().await;
        assert_eq!((reply.status(), reply.body.as_slice()), (200, b"\0\xff{'a': 1}".as_slice()));
        assert_eq!(reply.header("x-wiremend"), Some("untouched"));
        let seen = scene.seen().await;
        assert_eq!(seen.line(), format!("{method} /v1/files HTTP/1.1"));
        assert_eq!(seen.body, b"{'a\n");
    }
}

#[tokio::test]
async fn an_error_of_the_provider_passes() {
    let body = "{\"error\": {\"message\": \"slow down\",}}";
    let head = format!(
        "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\nretry-after: 7\r\n\
         x-request-id: r\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let scene = Scene::new(vec![Step::Send(head.into_bytes())]).await;
    let reply = scene.post("/v1/chat/completions", "{}").await;
    assert_eq!((reply.status(), reply.text().as_str()), (429, body));
    assert_eq!((reply.header("retry-after"), reply.header("x-request-id")), (Some("7"), Some("r")));
    assert!(reply.whole);
}

#[tokio::test]
async fn an_event_leaves_before_the_next_one_comes() {
    let events = call_events(&["{\"a\": \"x", "y\"}"], "tool_calls");
    let (mut steps, mut go) = (vec![chunked("text/event-stream")], Vec::new());
    for event in &events {
        let next = Arc::new(Notify::new());
        steps.extend([chunk(event), Step::Wait(Arc::clone(&next))]);
        go.push(next);
    }
    steps.push(last());
    let scene = Scene::new(steps).await;
    let mut client = scene.connect().await;
    client.send("POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").await;
    for (go, text) in go.iter().zip(["\"c1\"", "\\\"x\"", "y\\\"}\"", "\"tool_calls\"}", "[DONE]"])
    {
        client.until(text).await;
        go.notify_one();
    }
    let reply = client.reply().await;
    assert!(reply.whole);
    assert_eq!(reply.text(), events.concat());
}

/// Also while a call is held, and nothing else may leave.
#[tokio::test]
async fn what_keeps_a_connection_alive_passes() {
    for ping in [": still here\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n"] {
        for quiet in [false, true] {
            let go = Arc::new(Notify::new());
            let events = call_events(&["{\"a\":", "1}"], "tool_calls");
            let steps = vec![
                chunked("text/event-stream"),
                chunk(events[..2].concat()),
                Step::Wait(Arc::clone(&go)),
                chunk(ping),
                Step::Wait(Arc::clone(&go)),
                chunk(events[2..].concat()),
                last(),
            ];
            // A twentieth of it is a tenth of a second.
            let limits = Limits::new().with_idle_seconds(if quiet { 2 } else { 300 });
            let scene = Scene::with(steps, |config, url| {
                config.with_limits(limits).with_upstream(Upstream::parse(url).unwrap())
            })
            .await;
            let mut client = scene.connect().await;
            let head = "POST /v1/x HTTP/1.1\r\nhost: localhost\r\nx-wiremend-mode: validated\r\n";
            client.send(format!("{head}content-length: 2\r\nconnection: close\r\n\r\n{{}}")).await;
            client.until("\"c1\"").await;
            if quiet {
                tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            }
            go.notify_one();
            if quiet {
                client.until(ping).await;
                assert!(!client.so_far().contains(&events[1]), "the call is not held");
            }
            go.notify_one();
            let reply = client.reply().await;
            // Where it would have had to wait, it comes twice: nothing changes its place.
            let copy = if quiet { ping } else { "" };
            let all = [&events[0], copy, &events[1], ping, &events[2..].concat()].concat();
            assert_eq!((reply.whole, reply.text()), (true, all));
        }
    }
}

/// What looks like it may be the rest of something that has not left.
#[tokio::test]
async fn nothing_but_what_keeps_a_connection_alive_comes_twice() {
    let events = call_events(&["{\"a\":", "1}"], "tool_calls");
    for (before, piece) in [
        // The rest of a comment, and of a line of data.
        (": he said", ": yes\n\n"),
        // Other events.
        ("", "event: ping\ndata: {\"type\":\"pong\"}\n\n"),
        ("", "\n\n"),
    ] {
        let go = Arc::new(Notify::new());
        let steps = vec![
            chunked("text/event-stream"),
            chunk([&events[..2].concat(), before].concat()),
            Step::Wait(Arc::clone(&go)),
            chunk(piece),
            chunk(events[2..].concat()),
            last(),
        ];
        let limits = Limits::new().with_idle_seconds(2);
        let scene = Scene::with(steps, |config, url| {
            config.with_limits(limits).with_upstream(Upstream::parse(url).unwrap())
        })
        .await;
        let waits = async {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            go.notify_one();
        };
        let headers = ["x-wiremend-mode: validated"];
        let (reply, ()) = tokio::join!(scene.post_with("/v1/x", &headers, "{}"), waits);
        let all = [&events[..2].concat(), before, piece, &events[2..].concat()].concat();
        assert_eq!(reply.text(), all);
    }
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_request_to_the_provider() {
    for kind in ["text/event-stream", "application/octet-stream"] {
        let gone = Arc::new(Notify::new());
        let steps = vec![chunked(kind), chunk("data: {}\n\n"), Step::Gone(Arc::clone(&gone))];
        let scene = Scene::new(steps).await;
        let mut client = scene.connect().await;
        client
            .send("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}")
            .await;
        client.until("data: {}").await;
        drop(client);
        within(gone.notified()).await;
    }
    // Before the head of the answer, too.
    let gone = Arc::new(Notify::new());
    let mut scene = Scene::new(vec![Step::Gone(Arc::clone(&gone))]).await;
    let mut client = scene.connect().await;
    client
        .send("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}")
        .await;
    scene.seen().await;
    drop(client);
    within(gone.notified()).await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_breaks_off_for_the_client() {
    let events = call_events(&["{'a': ", "1, 'b"], "tool_calls");
    let steps = vec![chunked("text/event-stream"), chunk(events[..3].concat()), Step::Close];
    let scene = Scene::new(steps).await;
    let reply = scene.post_with("/v1/chat/completions", &["x-wiremend-comment: on"], "{}").await;
    assert!(!reply.whole);
    assert_eq!(reply.text(), events[..3].concat());
    // A body that was not streamed, too.
    let body = "{\"choices\":[{\"message\":{\"content\":\"x\"";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n";
    let scene = Scene::new(vec![Step::Send([head, body].concat().into_bytes()), Step::Close]).await;
    let reply = scene.post("/v1/chat/completions", "{}").await;
    assert_eq!((reply.whole, reply.text().as_str()), (false, body));
}

/// Also if the provider speaks a version in which the end of a connection ends a body.
#[tokio::test]
async fn an_answer_of_an_older_version_breaks_off_as_well() {
    let events = call_events(&["{'a': ", "1}"], "tool_calls").concat();
    for (sent, whole) in [(events.len(), true), (events.len() - 40, false)] {
        for (policy, length) in [("likely", true), ("off", true), ("likely", false)] {
            let length = if length {
                format!("content-length: {}\r\n", events.len())
            } else {
                String::new()
            };
            let head =
                format!("HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n{length}\r\n");
            let steps = vec![
                Step::Send(head.into_bytes()),
                Step::Send(events.as_bytes()[..sent].to_vec()),
                Step::Close,
            ];
            let scene = Scene::new(steps).await;
            let policy = format!("x-wiremend-policy: {policy}");
            let reply = scene.post_with("/v1/chat/completions", &[&policy], "{}").await;
            assert!(reply.head.starts_with("HTTP/1.1 200 "), "{}", reply.head);
            // Without a length, the end of the connection is the end.
            assert_eq!(reply.whole, whole || length.is_empty(), "{policy}, {length}");
        }
    }
}

/// Also what a slow client has not taken yet when it breaks off.
#[tokio::test]
async fn everything_that_came_before_an_answer_broke_off_arrives() {
    for policy in ["likely", "off"] {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999999\r\n\r\n";
        let steps = vec![Step::Send(head.into()), Step::Flood(12 << 20), Step::Close];
        let scene = Scene::new(steps).await;
        let mut client = scene.connect().await;
        client
            .send(format!(
                "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-wiremend-policy: {policy}\r\ncontent-length: 2\r\n\r\n{{}}"
            ))
            .await;
        // The client waits until nothing moves any more, so that the end waits in the gateway.
        let mut before = usize::MAX;
        while scene.sent.load(Ordering::SeqCst) != before {
            before = scene.sent.load(Ordering::SeqCst);
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        let reply = client.reply().await;
        assert!(!reply.whole);
        assert_eq!(reply.body.len(), scene.sent.load(Ordering::SeqCst), "{policy}");
    }
}

#[tokio::test]
async fn trailers_pass() {
    let body = call_events(&["{'a': 1}"], "tool_calls").concat();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntrailer: x-check\r\n\
                transfer-encoding: chunked\r\n\r\n";
    let end = Step::Send(b"0\r\nx-check: 7\r\n\r\n".to_vec());
    let scene = Scene::new(vec![Step::Send(head.into()), chunk(body), end]).await;
    let reply = scene.post_with("/v1/chat/completions", &["te: trailers"], "{}").await;
    assert!(reply.whole);
    assert_eq!(reply.header("trailer"), Some("x-check"));
    assert!(reply.trailers.contains("x-check: 7"), "{:?}", reply.trailers);
}

#[tokio::test]
async fn broken_json_that_is_no_answer_of_a_model_passes() {
    for kind in ["application/json", "text/plain"] {
        for body in ["{'a': 1}", "{a: 1}\n{b: 2}\n", "[1, 2,"] {
            let scene = Scene::new(answer(kind, body)).await;
            let reply = scene.post("/v1/chat/completions", "{}").await;
            assert_eq!(reply.text(), body, "{kind}");
        }
    }
}

#[tokio::test]
async fn trailers_of_a_whole_body_pass() {
    let body = r#"{"object": "list", "data": []}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntrailer: x-check\r\n\
                transfer-encoding: chunked\r\n\r\n";
    let end = Step::Send(b"0\r\nx-check: 7\r\n\r\n".to_vec());
    let scene = Scene::new(vec![Step::Send(head.into()), chunk(body), end]).await;
    let reply = scene.post_with("/v1/chat/completions", &["te: trailers"], "{}").await;
    assert!(reply.whole && reply.text() == body);
    assert_eq!((reply.header("trailer"), reply.header("content-length")), (Some("x-check"), None));
    assert!(reply.trailers.contains("x-check: 7"), "{:?}", reply.trailers);
}

/// A whole answer with one call.
fn call_body(arguments: &str) -> String {
    let function = serde_json::json!({"name": "f", "arguments": arguments});
    let message = serde_json::json!({"tool_calls": [{"id": "1", "function": function}]});
    serde_json::json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
        .to_string()
}

/// Some providers send white space while a whole answer is made.
#[tokio::test]
async fn white_space_before_a_whole_body_keeps_the_connection_alive() {
    let body = call_body("{'a': 1}");
    let go = Arc::new(Notify::new());
    let steps = vec![
        chunked("application/json"),
        chunk("\n"),
        Step::Wait(Arc::clone(&go)),
        chunk("\n"),
        chunk(&body),
        last(),
    ];
    let scene = Scene::with(steps, |config, url| {
        let limits = Limits::new().with_idle_seconds(2);
        config.with_limits(limits).with_upstream(Upstream::parse(url).unwrap())
    })
    .await;
    let mut client = scene.connect().await;
    let head =
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}";
    client.send(head).await;
    // It arrives before the answer does.
    client.until("\r\n\r\n1\r\n\n").await;
    go.notify_one();
    let reply = client.reply().await;
    assert_eq!(reply.header("x-wiremend"), Some("streaming"));
    assert_eq!(reply.text(), format!("\n\n{}", call_body("{\"a\": 1}")));
}

#[tokio::test]
async fn what_the_client_does_not_take_is_not_asked_of_the_provider() {
    let most = 512 << 20;
    for policy in ["likely", "off"] {
        let steps = vec![
            Step::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec()),
            Step::Flood(most),
            Step::Close,
        ];
        let scene = Scene::new(steps).await;
        let mut client = scene.connect().await;
        client
            .send(format!(
                "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-wiremend-policy: {policy}\r\ncontent-length: 2\r\n\r\n{{}}"
            ))
            .await;
        client.until("data: x").await;
        // Until nothing moves any more: what the sockets hold, and no more.
        let mut before = usize::MAX;
        loop {
            for _ in 0..200 {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
            let now = scene.sent.load(Ordering::SeqCst);
            if now == before {
                break;
            }
            before = now;
        }
        assert!(before < most / 8, "the provider could send {before} bytes");
    }
}

#[tokio::test]
async fn a_gateway_that_is_asked_to_stop_ends_what_it_began() {
    let go = Arc::new(Notify::new());
    let steps = vec![
        chunked("text/event-stream"),
        chunk("data: 1\n\n"),
        Step::Wait(Arc::clone(&go)),
        chunk("data: 2\n\n"),
        last(),
    ];
    let mut scene = Scene::new(steps).await;
    let mut client = scene.connect().await;
    client
        .send("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}")
        .await;
    client.until("data: 1").await;
    scene.ask_to_stop();
    // Nobody else is let in.
    while tokio::net::TcpStream::connect(scene.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(scene.page("/ready").await.status(), 503);
    go.notify_one();
    let reply = client.reply().await;
    assert!(reply.whole && reply.text().ends_with("data: 2\n\n"), "{reply:?}");
    scene.stopped().await;
}
