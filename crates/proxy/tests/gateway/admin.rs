//! The pages of the admin port.

use serde_json::Value;
use wiremend_proxy::Upstream;

use crate::scene::{Client, Scene, answer, call_events};

#[tokio::test]
async fn answers_are_counted_and_listed_without_secrets() {
    for content in [false, true] {
        let events = call_events(&["{'card': 'four-one'}"], "tool_calls").concat();
        let scene = Scene::with(answer("text/event-stream", &events), |config, url| {
            config.with_upstream(Upstream::parse(url).unwrap()).with_record(2, content)
        })
        .await;
        let headers = ["authorization: Bearer hush", "cookie: hush"];
        for number in 0..3 {
            let body = format!("{{\"model\":\"m{number}\",\"prompt\":\"hush\"}}");
            scene.post_with("/v1/chat/completions?key=hush", &headers, &body).await;
        }
        let list = scene.page("/repairs").await.text();
        let metrics = scene.page("/metrics").await.text();
        assert!(!list.contains("hush") && !metrics.contains("hush"), "{list}\n{metrics}");
        assert_eq!(list.contains("four-one"), content, "{list}");
        assert!(!metrics.contains("four-one"));
        let list: Value = serde_json::from_str(&list).unwrap();
        let answers = list["answers"].as_array().unwrap();
        assert_eq!(answers.len(), 2);
        assert_eq!(answers[0]["model"], "m2");
        assert_eq!(answers[0]["outcome"], "repaired");
        assert_eq!(answers[0]["calls"][0]["repairs"][0]["code"], "single-quote");
        for line in [
            "wiremend_answers_total{format=\"openai-chat\",outcome=\"repaired\"} 3",
            "wiremend_calls_total{format=\"openai-chat\",outcome=\"repaired\"} 3",
            "wiremend_repairs_total{code=\"single-quote\",risk=\"exact\",format=\"openai-chat\",model=\"m0\",tool=\"f\"} 4",
            "wiremend_requests_total{upstream=\"/\",status=\"200\"} 3",
            "wiremend_overhead_seconds_count 3",
            "gen_ai_server_time_to_first_token_seconds_count{gen_ai_request_model=\"m1\"} 1",
            "wiremend_held_bytes 0",
            "wiremend_open_streams 0",
        ] {
            assert!(metrics.contains(&format!("{line}\n")), "{line} is not in\n{metrics}");
        }
    }
}

#[tokio::test]
async fn the_pages_are_there_and_only_for_their_own_address() {
    let scene = Scene::new(answer("text/plain", "")).await;
    for (path, status) in [
        ("/health", 200),
        ("/ready", 200),
        ("/metrics", 200),
        ("/repairs", 200),
        ("/", 200),
        ("/x", 404),
    ] {
        assert_eq!(scene.page(path).await.status(), status, "{path}");
    }
    for (host, status) in
        [("evil.example", 403), ("127.0.0.1:1", 200), ("[::1]", 200), ("localhost:9", 200)]
    {
        let mut client = Client::connect(scene.admin).await;
        client
            .send(format!("GET /repairs HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"))
            .await;
        assert_eq!(client.reply().await.status(), status, "{host}");
    }
    for hosts in [
        "",
        "host: localhost\r\nhost: localhost\r\n",
        "host: a b\r\n",
        "host: evil\\.localhost\r\n",
    ] {
        let mut client = Client::connect(scene.admin).await;
        client.send(format!("GET /repairs HTTP/1.1\r\n{hosts}connection: close\r\n\r\n")).await;
        assert_eq!(client.reply().await.status(), 400, "{hosts}");
    }
    // The pages are on no other port.
    assert_eq!(scene.post("/metrics", "{}").await.text(), "");
}

/// Whatever others hold open, and whatever they were answered.
#[tokio::test]
async fn health_is_answered_beside_connections_that_are_held_open() {
    let scene = Scene::new(answer("text/plain", "")).await;
    let mut held = Vec::new();
    for number in 0..40 {
        let mut client = Client::connect(scene.admin).await;
        match number % 3 {
            0 => client.send("GET / HTTP/1.1\r\nhost: evil.example\r\n\r\n").await,
            1 => client.send("GET / HTTP/1.1\r\nhost: local").await,
            _ => {}
        }
        held.push(client);
        for path in ["/health", "/ready"] {
            assert_eq!(scene.page(path).await.status(), 200, "{number}");
        }
    }
    // A connection is for one request.
    assert_eq!(held[0].reply().await.status(), 403);
}
