//! A gateway on threads of its own, and one in the runtime of the caller.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use tokio::{sync::Notify, time::sleep};
use wiremend_proxy::{Config, Upstream};

use crate::scene::{Client, Scene, Step, answer, call_events, chunk, chunked, last, within};

const WAYS: [Option<NonZeroUsize>; 3] = [None, NonZeroUsize::new(1), NonZeroUsize::new(2)];

const REQUEST: &str = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}";

fn configure(config: Config, url: &str) -> Config {
    config.with_upstream(Upstream::parse(url).unwrap())
}

#[tokio::test]
async fn streams_pass_at_once_and_end_well_when_the_gateway_stops() {
    let events = call_events(&["{'a': ", "True}"], "tool_calls");
    let (first, rest) = events.split_at(2);
    for threads in WAYS {
        let go = Arc::new(Notify::new());
        let steps = vec![
            chunked("text/event-stream"),
            chunk(first.concat()),
            Step::Wait(Arc::clone(&go)),
            chunk(rest.concat()),
            last(),
        ];
        let mut scene = Scene::on_threads(threads, vec![steps], configure).await;
        let mut clients = Vec::new();
        for _ in 0..5 {
            let mut client = scene.connect().await;
            client.send(REQUEST).await;
            client.until("arguments").await;
            clients.push(client);
        }
        scene.ask_to_stop();
        // Each stream waits for one of these, in any order.
        let going = tokio::spawn(async move {
            loop {
                go.notify_one();
                sleep(Duration::from_millis(5)).await;
            }
        });
        for mut client in clients {
            let reply = client.reply().await;
            assert!(reply.whole && reply.text().contains("true}"), "{threads:?}: {reply:?}");
        }
        going.abort();
        scene.stopped().await;
    }
}

#[tokio::test]
async fn everything_ends_at_once_when_the_future_is_dropped() {
    for threads in WAYS {
        let gone = Arc::new(Notify::new());
        let steps =
            vec![chunked("text/event-stream"), chunk("data: 1\n\n"), Step::Gone(Arc::clone(&gone))];
        let scene = Scene::on_threads(threads, vec![steps], configure).await;
        let mut client = scene.connect().await;
        client.send(REQUEST).await;
        client.until("data: 1").await;
        scene.end();
        assert!(!client.reply().await.whole, "{threads:?}");
        within(gone.notified()).await;
        assert!(tokio::net::TcpStream::connect(scene.address).await.is_err(), "{threads:?}");
    }
}

/// Sends a request again and again, until the other client has the head of its answer. Returns how many were answered.
async fn answered_until_it_has_a_head(scene: &Scene, mut other: Client) -> usize {
    let mut waits = tokio::spawn(async move { other.until("x-wiremend-overhead-us").await });
    for number in 0.. {
        tokio::select! {
            done = &mut waits => {
                done.unwrap();
                return number;
            }
            reply = scene.post("/", "{}") => assert_eq!(reply.status(), 200),
        }
    }
    unreachable!("it is answered at last")
}

/// Otherwise, at most one gets an answer: the thread sends nothing while it mends.
#[tokio::test]
async fn a_long_body_keeps_nobody_waiting() {
    const LENGTH: usize = 6 << 20;
    let one = NonZeroUsize::new(1);
    let arguments = "{'a': 'b'}, ".repeat(LENGTH / 12);
    let body = serde_json::json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message":
        {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": format!("[{arguments}]")}}]}}]});
    let body = body.to_string();
    let (most, end) = body.split_at(body.len() - 1);
    let (came, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let long = vec![
        Step::Send([head.as_bytes(), most.as_bytes()].concat()),
        Step::Say(Arc::clone(&came)),
        Step::Wait(Arc::clone(&go)),
        Step::Send(end.into()),
    ];
    let short = answer("application/json", "{}");
    let scene = Scene::on_threads(one, vec![long, short], configure).await;
    let mut client = scene.connect().await;
    client.send(REQUEST).await;
    within(came.notified()).await;
    go.notify_one();
    let answered = answered_until_it_has_a_head(&scene, client).await;
    assert!(answered > 4, "{answered} were answered");
}

/// Answers that are expensive, whatever they are: these are long, all of their text is markers, and all of it arrives
/// at once.
#[tokio::test]
async fn looping_answers_keep_nobody_waiting() {
    let event = serde_json::json!({"choices": [{"index": 0, "delta": {"content": "<tool_calls>".repeat(40)}}]});
    let events = format!("data: {event}\n\n").repeat(24_000);
    let looping =
        vec![chunked("text/event-stream"), chunk(events), chunk("data: [DONE]\n\n"), last()];
    let short = answer("application/json", "{}");
    let answers = vec![looping.clone(), looping, short];
    let mut scene = Scene::on_threads(NonZeroUsize::new(1), answers, configure).await;
    let mut waits = Vec::new();
    for _ in 0..2 {
        let mut client = scene.connect().await;
        let switch = "x-wiremend-calls-in-text: auto\r\ncontent-length";
        client.send(REQUEST.replace("content-length", switch)).await;
        // The provider plays the next answer for the next request.
        scene.seen().await;
        waits.push(tokio::spawn(async move { client.until("[DONE]").await }));
    }
    let mut answered = 0;
    while waits.iter().any(|wait| !wait.is_finished()) {
        assert_eq!(scene.post("/", "{}").await.status(), 200);
        answered += 1;
    }
    assert!(answered > 4, "{answered} were answered");
    for wait in waits {
        wait.await.unwrap();
    }
}

#[tokio::test]
async fn a_long_request_keeps_nobody_waiting() {
    let call = r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{'a': 1}"}}]},"#;
    let body =
        format!(r#"{{"messages":[{}{{"role":"user","content":"x"}}]}}"#, call.repeat(60_000));
    let scene =
        Scene::on_threads(NonZeroUsize::new(1), vec![answer("application/json", "{}")], configure)
            .await;
    let mut client = scene.connect().await;
    client
        .send(format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        ))
        .await;
    client.send(&body).await;
    let answered = answered_until_it_has_a_head(&scene, client).await;
    assert!(answered > 4, "{answered} were answered");
}
