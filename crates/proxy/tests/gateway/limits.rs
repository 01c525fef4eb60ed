//! Every limit of a gateway is reached.

use std::sync::Arc;

use tokio::sync::Notify;
use wiremend_proxy::{Config, Limits, Upstream};

use crate::scene::{Scene, Step, answer, call_events, chunk, chunked, last};

fn limited(limits: Limits) -> impl FnOnce(Config, &str) -> Config {
    move |config, url| config.with_limits(limits).with_upstream(Upstream::parse(url).unwrap())
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let mut scene = Scene::with(Vec::new(), limited(Limits::new().with_head_bytes(8192))).await;
    let mut client = scene.connect().await;
    client.send(format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(10_000))).await;
    assert_eq!(client.reply().await.status(), 431);
    assert!(scene.saw_no_more());
}

/// By the byte, also if all of it comes at once and the parser has room for more.
#[tokio::test]
async fn the_limit_of_a_head_is_exact() {
    for limit in [8192, 64 << 10] {
        let limits = Limits::new().with_head_bytes(limit);
        let mut scene = Scene::with(answer("text/plain", "x"), limited(limits)).await;
        let head = |length: usize| {
            let start = "GET /a?b HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
            let padding = length - start.len() - "x: \r\n\r\n".len();
            format!("{start}x: {}\r\n\r\n", "y".repeat(padding))
        };
        for (length, status) in [(limit, 200), (limit + 1, 431), (limit + 40_000, 431)] {
            let mut client = scene.connect().await;
            client.send(head(length)).await;
            assert_eq!(client.reply().await.status(), status, "{length} of {limit}");
        }
        assert_eq!(scene.seen().await.line(), "GET /a?b HTTP/1.1");
        // The target counts, too.
        let mut client = scene.connect().await;
        client.send(format!("GET /{} HTTP/1.1\r\n\r\n", "p".repeat(limit - 15))).await;
        assert_eq!(client.reply().await.status(), 431);
        assert!(scene.saw_no_more());
    }
}

#[tokio::test]
async fn a_head_has_so_many_headers() {
    let scene = Scene::new(answer("text/plain", "x")).await;
    for (headers, status) in [(100, 200), (101, 431)] {
        let mut client = scene.connect().await;
        let lines = "x: y\r\n".repeat(headers - 2);
        client
            .send(format!("GET / HTTP/1.1\r\nhost: localhost\r\n{lines}connection: close\r\n\r\n"))
            .await;
        assert_eq!(client.reply().await.status(), status, "{headers}");
    }
    for (headers, error) in [(100, None), (101, Some("upstream-failed"))] {
        let lines = "x: y\r\n".repeat(headers - 1);
        let head = format!("HTTP/1.1 200 OK\r\n{lines}content-length: 0\r\n\r\n");
        let scene = Scene::new(vec![Step::Send(head.into_bytes())]).await;
        assert_eq!(scene.post("/", "{}").await.header("x-wiremend-error"), error, "{headers}");
    }
}

#[tokio::test]
async fn the_limit_of_a_head_of_the_provider_is_exact() {
    for (over, error) in [(0, None), (1, Some("upstream-failed"))] {
        let start = "HTTP/1.1 200 \r\ncontent-length: 0\r\n";
        let padding = 8192 + over - start.len() - "x: \r\n\r\n".len();
        let head = format!("{start}x: {}\r\n\r\n", "y".repeat(padding));
        let steps = vec![Step::Send(head.into_bytes())];
        let scene = Scene::with(steps, limited(Limits::new().with_head_bytes(8192))).await;
        assert_eq!(scene.post("/", "{}").await.header("x-wiremend-error"), error);
    }
}

#[tokio::test]
async fn a_head_of_the_provider_that_is_too_long_is_an_error() {
    let head = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(10_000));
    let steps = vec![Step::Send(head.into_bytes()), Step::Close];
    let scene = Scene::with(steps, limited(Limits::new().with_head_bytes(8192))).await;
    assert_eq!(scene.post("/", "{}").await.header("x-wiremend-error"), Some("upstream-failed"));
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let mut scene =
        Scene::with(answer("text/plain", "x"), limited(Limits::new().with_body_bytes(8))).await;
    assert_eq!(scene.post("/", "{\"a\": 1}").await.status(), 200);
    scene.seen().await;
    assert_eq!(
        scene.post("/", "{\"a\": 10}").await.header("x-wiremend-error"),
        Some("body-too-large")
    );
    let mut client = scene.connect().await;
    client
        .send("POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n5\r\n12345\r\n")
        .await;
    assert_eq!(client.reply().await.status(), 413);
    assert!(scene.saw_no_more());
}

#[tokio::test]
async fn a_whole_body_that_is_too_long_to_hold_passes_and_is_mended_while_it_does() {
    let body = r#"{"choices":[{"index":0,"message":{"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{'a': 1}"}}]},"finish_reason":"tool_calls"}]}"#;
    let scene =
        Scene::with(answer("application/json", body), limited(Limits::new().with_held_bytes(100)))
            .await;
    let reply = scene.post("/v1/chat/completions", "{}").await;
    assert_eq!(reply.text(), body.replace("{'a': 1}", r#"{\"a\": 1}"#));
    assert_eq!(reply.header("x-wiremend"), Some("streaming"));
}

#[tokio::test]
async fn a_call_that_is_too_long_to_hold_passes_as_it_came() {
    let long = format!("{{'a': '{}'}}", "x".repeat(500));
    let events = call_events(&[&long[..250], &long[250..]], "tool_calls").concat();
    let scene = Scene::with(
        answer("text/event-stream", &events),
        limited(Limits::new().with_held_bytes(300)),
    )
    .await;
    let headers = ["x-wiremend-mode: validated", "x-wiremend-comment: on"];
    let reply = scene.post_with("/v1/chat/completions", &headers, "{}").await;
    let text = reply.text();
    assert!(text.starts_with(&events), "{text}");
    assert!(text[events.len()..].starts_with(": wiremend overflow;"), "{text}");
}

#[tokio::test]
async fn what_all_answers_may_hold_is_bounded() {
    let limits = Limits::new().with_all_held_bytes(200);
    let long = format!("{{'a': '{}'}}", "x".repeat(500));
    let events = call_events(&[&long], "tool_calls");
    let mut steps = vec![chunked("text/event-stream")];
    steps.extend(events.iter().map(chunk));
    steps.push(last());
    let events = events.concat();
    let scene = Scene::with(steps, limited(limits)).await;
    let headers = ["x-wiremend-mode: validated"];
    let reply = scene.post_with("/v1/chat/completions", &headers, "{}").await;
    assert_eq!(reply.text(), events);
    let body = format!("{{\"a\": \"{}\"}}", "x".repeat(300));
    let reply = scene.post("/v1/chat/completions", &body).await;
    assert_eq!((reply.status(), reply.header("x-wiremend-error")), (503, Some("too-busy")));
    assert!(scene.page("/metrics").await.text().contains("wiremend_held_bytes 0\n"));
}

#[tokio::test]
async fn no_more_than_so_many_requests_are_answered_at_once() {
    let go = Arc::new(Notify::new());
    let steps = vec![
        chunked("text/event-stream"),
        chunk("data: 1\n\n"),
        Step::Wait(Arc::clone(&go)),
        last(),
    ];
    let scene = Scene::with(steps, limited(Limits::new().with_open_answers(1))).await;
    let mut client = scene.connect().await;
    client.send("POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}").await;
    client.until("data: 1").await;
    assert_eq!(scene.post("/", "{}").await.header("x-wiremend-error"), Some("too-busy"));
    assert_eq!(scene.page("/ready").await.status(), 503);
    go.notify_one();
    assert!(client.reply().await.whole);
    go.notify_one();
    assert_eq!(scene.post("/", "{}").await.status(), 200);
}

#[tokio::test]
async fn no_more_than_so_many_clients_are_let_in() {
    let mut scene =
        Scene::with(answer("text/plain", "x"), limited(Limits::new().with_connections(1))).await;
    let mut first = scene.connect().await;
    first.send("GET / HTTP/1.1\r\nhost: localhost\r\n").await;
    let mut second = scene.connect().await;
    second.send("GET /second HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await;
    first.send("connection: close\r\n\r\n").await;
    assert_eq!(first.reply().await.status(), 200);
    assert_eq!(second.reply().await.status(), 200);
    assert_eq!(scene.seen().await.line(), "GET / HTTP/1.1");
    assert_eq!(scene.seen().await.line(), "GET /second HTTP/1.1");
}

/// These are about time, so that they wait; they do not measure.
mod of_time {
    use super::*;

    #[tokio::test]
    async fn a_head_that_does_not_end_is_not_waited_for() {
        let mut scene = Scene::with(Vec::new(), limited(Limits::new().with_head_seconds(1))).await;
        let mut client = scene.connect().await;
        client.send("GET / HTTP/1.1\r\nx: ").await;
        assert!(!client.reply().await.whole);
        // Nor is a connection that says nothing.
        let mut client = scene.connect().await;
        client.reply().await;
        assert!(scene.saw_no_more());
    }

    #[tokio::test]
    async fn a_body_that_does_not_come_is_not_waited_for() {
        let mut scene = Scene::with(Vec::new(), limited(Limits::new().with_idle_seconds(1))).await;
        let mut client = scene.connect().await;
        client.send("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{").await;
        let reply = client.reply().await;
        assert_eq!((reply.status(), reply.header("x-wiremend-error")), (408, Some("client-slow")));
        assert!(scene.saw_no_more());
    }

    /// The queue of a listener that takes nobody is full after a few connections.
    #[tokio::test]
    async fn a_provider_that_accepts_nobody_is_not_waited_for() {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = Vec::new();
        let full = std::time::Duration::from_millis(300);
        while let Ok(Ok(stream)) =
            tokio::time::timeout(full, tokio::net::TcpStream::connect(address)).await
        {
            waiting.push(stream);
            assert!(waiting.len() < 1000, "the queue has no end");
        }
        let scene = Scene::with(Vec::new(), |config, _| {
            let limits = Limits::new().with_connect_seconds(1);
            let upstream = Upstream::parse(&format!("http://{address}")).unwrap();
            config.with_limits(limits).with_upstream(upstream)
        })
        .await;
        let reply = scene.post("/", "{}").await;
        assert_eq!(reply.header("x-wiremend-error"), Some("upstream-unreachable"));
    }

    #[tokio::test]
    async fn a_provider_that_does_not_begin_is_an_error() {
        let gone = Arc::new(Notify::new());
        let limits = Limits::new().with_answer_seconds(1);
        let scene = Scene::with(vec![Step::Gone(Arc::clone(&gone))], limited(limits)).await;
        let reply = scene.post("/", "{}").await;
        assert_eq!(
            (reply.status(), reply.header("x-wiremend-error")),
            (504, Some("upstream-slow"))
        );
        gone.notified().await;
    }

    #[tokio::test]
    async fn a_provider_that_falls_silent_breaks_off() {
        let gone = Arc::new(Notify::new());
        let steps =
            vec![chunked("text/event-stream"), chunk("data: 1\n\n"), Step::Gone(Arc::clone(&gone))];
        let scene = Scene::with(steps, limited(Limits::new().with_idle_seconds(1))).await;
        let reply = scene.post("/", "{}").await;
        assert_eq!((reply.whole, reply.text().as_str()), (false, "data: 1\n\n"));
        gone.notified().await;
    }

    #[tokio::test]
    async fn a_stream_without_an_end_breaks_off() {
        let steps = vec![
            Step::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999999999\r\n\r\n".to_vec()),
            Step::Flood(usize::MAX),
        ];
        let scene = Scene::with(steps, limited(Limits::new().with_total_seconds(1))).await;
        let reply = scene.post("/", "{}").await;
        assert!(!reply.whole && !reply.body.is_empty());
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_dropped() {
        let gone = Arc::new(Notify::new());
        let steps = vec![
            Step::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec()),
            Step::Flood(64 << 20),
            Step::Gone(Arc::clone(&gone)),
        ];
        let scene = Scene::with(steps, limited(Limits::new().with_idle_seconds(1))).await;
        let mut client = scene.connect().await;
        client.send("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}").await;
        client.until("data: x").await;
        // It reads no more. The provider cannot send all, and its connection is closed.
        loop {
            let open = scene.page("/metrics").await.text().contains("wiremend_open_streams 1\n");
            if !open {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        drop(client);
    }

    #[tokio::test]
    async fn what_does_not_end_is_not_waited_for_when_the_gateway_stops() {
        let steps = vec![
            chunked("text/event-stream"),
            chunk("data: 1\n\n"),
            Step::Gone(Arc::new(Notify::new())),
        ];
        let mut scene = Scene::with(steps, limited(Limits::new().with_drain_seconds(1))).await;
        let mut client = scene.connect().await;
        client.send("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}").await;
        client.until("data: 1").await;
        scene.ask_to_stop();
        assert!(!client.reply().await.whole);
        scene.stopped().await;
    }
}
