//! Clients and providers that mean harm.

use crate::scene::{Scene, Step, answer, call_events};

#[tokio::test]
async fn a_client_chooses_no_host_and_leaves_no_path() {
    let mut scene = Scene::new(answer("text/plain", "x")).await;
    for (target, status) in [
        ("http://169.254.169.254/latest", 400),
        ("https://evil.example/", 400),
        ("/../secret", 400),
        ("/a/%2e%2e/b", 400),
        ("*", 400),
    ] {
        let mut client = scene.connect().await;
        client
            .send(format!("GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
            .await;
        assert_eq!(client.reply().await.status(), status, "{target}");
    }
    let mut client = scene.connect().await;
    client.send("CONNECT evil.example:443 HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert_eq!(client.reply().await.status(), 405);
    assert!(scene.saw_no_more());
    let mut client = scene.connect().await;
    client.send("GET / HTTP/1.1\r\nhost: 169.254.169.254\r\nx-forwarded-host: evil\r\nconnection: close\r\n\r\n").await;
    assert_eq!(client.reply().await.status(), 200);
    assert_eq!(scene.seen().await.all("host"), [scene.provider.to_string()]);
}

/// A page of a website whose name was made to point to this machine does not get through to a server that is here. What is
/// no website's name passes, and so does what the operator has named.
#[tokio::test]
async fn a_name_that_was_made_to_point_here_is_refused() {
    let mut scene = Scene::with(answer("text/plain", "x"), |config, url| {
        let upstream = wiremend_proxy::Upstream::parse(url).unwrap();
        config.with_upstream(upstream).with_hosts(["models.example"])
    })
    .await;
    for (version, hosts, error) in [
        ("1.1", "host: evil.example\r\n", Some("host-not-allowed")),
        ("1.0", "host: evil.example:80\r\n", Some("host-not-allowed")),
        ("1.1", "host: localhost.evil.example\r\n", Some("host-not-allowed")),
        ("1.1", "", Some("bad-host")),
        ("1.1", "host: \r\n", Some("bad-host")),
        ("1.1", "host: evil.example\\localhost\r\n", Some("bad-host")),
        ("1.1", "host: localhost\r\nhost: evil.example\r\n", Some("bad-host")),
        ("1.0", "", None),
        ("1.1", "host: Models.example:8484\r\n", None),
        ("1.1", "host: localhost:1\r\n", None),
        ("1.1", "host: [::1]\r\norigin: https://evil.example\r\n", None),
    ] {
        let mut client = scene.connect().await;
        client.send(format!("GET / HTTP/{version}\r\n{hosts}connection: close\r\n\r\n")).await;
        let reply = client.reply().await;
        assert_eq!(reply.header("x-wiremend-error"), error, "{hosts}");
        if error.is_some() {
            assert_eq!(reply.header("connection"), Some("close"));
            assert!(scene.saw_no_more(), "{hosts}");
        } else {
            // What the upstream checks itself, it can go on checking.
            let origin = hosts.contains("origin").then_some("https://evil.example");
            assert_eq!(scene.seen().await.header("origin"), origin);
        }
    }
}

/// Whatever the lengths of a request say, the provider gets one request, with one length, and what follows
/// it on the connection is not read as another one.
#[tokio::test]
async fn no_request_is_smuggled_within_another() {
    let inner = "GET /smuggled HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for lengths in [
        "content-length: 4\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ncontent-length: 4",
        "content-length: 4\r\ncontent-length: 9",
        "content-length: 4, 9",
        "content-length: +4",
        "transfer-encoding: xchunked",
        "transfer-encoding: chunked, identity",
        "transfer-encoding : chunked",
        "content-length: 4\r\n transfer-encoding: chunked",
        "content-length: 0\r\ntransfer-encoding:\x0bchunked",
    ] {
        for path in ["/v1/chat/completions", "/upload"] {
            let mut scene = Scene::new(answer("text/plain", "x")).await;
            let mut client = scene.connect().await;
            let kind = if path == "/upload" { "a/b" } else { "application/json" };
            client
                .send(format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n{lengths}\r\n\r\n0\r\n\r\n{inner}"))
                .await;
            let reply = client.reply().await;
            let answers =
                reply.head.matches("HTTP/1.1").count() + reply.text().matches("HTTP/1.1").count();
            assert_eq!(answers, 1, "{lengths}: {reply:?}");
            if reply.status() == 200 {
                let seen = scene.seen().await;
                assert!(seen.body.is_empty(), "{lengths}");
                assert!(
                    seen.all("content-length").len() + seen.all("transfer-encoding").len() == 1,
                    "{}",
                    seen.head
                );
            }
            assert!(scene.saw_no_more(), "{lengths}");
        }
    }
}

#[tokio::test]
async fn no_header_is_injected() {
    let events =
        call_events(&["{'a': 1}"], "tool_calls").concat().replace("\"f\"", "\"f\\r\\nx-evil: 1\"");
    let scene = Scene::new(answer("text/event-stream", &events)).await;
    let headers = ["x-wiremend-comment: on", "x-wiremend-calls-in-text: auto"];
    let reply =
        scene.post_with("/v1/chat/completions", &headers, r#"{"model":"a\r\nx-evil: 1"}"#).await;
    assert!(!reply.head.contains("evil"), "{}", reply.head);
    assert!(!reply.text().contains("\nx-evil"));
    let metrics = scene.page("/metrics").await.text();
    assert!(!metrics.contains("\nx-evil"), "{metrics}");
    for (switch, said) in [
        ("calls-in-text: a\tb", "x-wiremend-calls-in-text is there once, and is off, auto"),
        ("calls-in-text: hermez", "x-wiremend-calls-in-text is there once"),
        ("mode: eager\r\nx-wiremend-mode: eager", "x-wiremend-mode is there once, and is eager or"),
        ("mod: eager", "x-wiremend-mod is none of x-wiremend-policy, x-wiremend-mode, "),
    ] {
        let reply = scene.post_with("/", &[&format!("x-wiremend-{switch}")], "{}").await;
        assert_eq!((reply.status(), reply.header("x-wiremend-error")), (400, Some("bad-switch")));
        assert!(reply.text().contains(said), "{}", reply.text());
        assert!(!reply.text().contains("hermez"));
    }
}

/// At the end of a body, as in its head.
#[tokio::test]
async fn nobody_else_speaks_for_the_gateway() {
    let trailer = "trailer: x-check, x-wiremend, x-wiremend-error";
    let end = "0\r\nx-check: 7\r\nx-wiremend: repaired\r\nX-Wiremend-Error: too-busy\r\n\r\n";
    for kind in ["text/event-stream", "application/json", "image/png"] {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n{trailer}\r\nx-wiremend-error: too-busy\r\n\
             transfer-encoding: chunked\r\n\r\n"
        );
        let steps = [Step::Send(head.into()), Step::Send(b"2\r\n{}\r\n".to_vec())];
        let mut scene = Scene::new([&steps[..], &[Step::Send(end.into())]].concat()).await;
        let mut client = scene.connect().await;
        client
            .send(format!(
                "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: image/png\r\nte: trailers\r\n\
                 connection: close\r\n{trailer}\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n{end}"
            ))
            .await;
        let reply = client.reply().await;
        assert!(reply.whole && reply.header("x-wiremend-error").is_none(), "{}", reply.head);
        assert!(reply.trailers.contains("x-check: 7"), "{}", reply.trailers);
        assert!(!reply.trailers.to_lowercase().contains("wiremend"), "{}", reply.trailers);
        assert_eq!(scene.seen().await.body, b"{}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_an_error_that_repeats_nothing() {
    for bytes in [
        "SSH-2.0-x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
        // Nobody asked for another protocol.
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nx",
        "",
    ] {
        let scene = Scene::new(vec![Step::Send(bytes.into()), Step::Close]).await;
        let reply = scene.post("/v1/x?key=secret", "{}").await;
        assert_eq!(
            (reply.status(), reply.header("x-wiremend-error")),
            (502, Some("upstream-failed"))
        );
        assert!(
            !reply.text().contains("secret") && !reply.text().contains(&scene.provider.to_string())
        );
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_an_error() {
    let scene = Scene::with(Vec::new(), |config, _| {
        // Nobody listens on the discard port of loopback.
        config.with_upstream(wiremend_proxy::Upstream::parse("http://127.0.0.1:9").unwrap())
    })
    .await;
    let reply = scene.post("/v1/x", "{}").await;
    assert_eq!(
        (reply.status(), reply.header("x-wiremend-error")),
        (502, Some("upstream-unreachable"))
    );
}
