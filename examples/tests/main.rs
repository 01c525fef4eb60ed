//! The examples, against a provider on the loopback interface.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(dead_code, unreachable_pub, reason = "the examples are programs")]

#[path = "../agent.rs"]
mod agent;
#[path = "../handler.rs"]
mod handler;
#[path = "../live.rs"]
mod live;

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
};

use axum::{Router, body::Body, extract::State, routing::post};
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};

/// What a provider says next, and what it was asked.
#[derive(Clone, Default)]
struct Script {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    requests: Arc<Mutex<Vec<Value>>>,
}

#[derive(Clone, Default)]
struct Reply {
    body: String,
    /// The connection breaks after the body.
    breaks: bool,
}

impl Script {
    fn new(replies: &[Reply]) -> Self {
        let script = Self::default();
        script.replies.lock().unwrap().extend(replies.iter().cloned());
        script
    }

    fn request(&self, number: usize) -> Value {
        self.requests.lock().unwrap()[number].clone()
    }
}

/// The next reply, in chunks that end anywhere.
async fn reply(State(script): State<Script>, request: String) -> Body {
    script.requests.lock().unwrap().push(serde_json::from_str(&request).unwrap());
    let Reply { body, breaks } = script.replies.lock().unwrap().pop_front().unwrap_or_default();
    let mut chunks: Vec<_> =
        body.as_bytes().chunks(37).map(|chunk| Ok::<_, io::Error>(chunk.to_vec())).collect();
    if breaks {
        chunks.push(Err(io::ErrorKind::ConnectionReset.into()));
    }
    // The server writes each of them before it asks for the next one.
    Body::from_stream(stream::iter(chunks).then(|chunk| async {
        tokio::task::yield_now().await;
        chunk
    }))
}

/// Serves an application until the test ends, and returns where.
async fn serve(app: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

async fn provider(script: &Script) -> String {
    let app = Router::new().route("/v1/chat/completions", post(reply));
    serve(app.with_state(script.clone())).await
}

fn event(delta: &Value, reason: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
    format!("data: {}\n\n", json!({"choices": [choice]}))
}

fn done(reason: &str) -> String {
    event(&json!({}), Some(reason)) + "data: [DONE]\n\n"
}

fn text(pieces: &[&str]) -> String {
    pieces.iter().map(|piece| event(&json!({"content": piece}), None)).collect()
}

/// The calls of a turn, each with its arguments in two pieces.
fn calls(calls: &[(&str, &str)]) -> String {
    let call = |(index, (name, arguments)): (usize, &(&str, &str))| {
        let (head, tail) = arguments.split_at(arguments.len() / 2);
        let begin = json!({"index": index, "id": format!("call_{index}"), "type": "function",
            "function": {"name": name, "arguments": head}});
        let more = json!({"index": index, "function": {"arguments": tail}});
        [begin, more].map(|call| event(&json!({"tool_calls": [call]}), None)).concat()
    };
    calls.iter().enumerate().map(call).collect()
}

fn whole(body: String) -> Reply {
    Reply { body, breaks: false }
}

#[tokio::test]
async fn an_agent_runs_what_fits_and_says_what_does_not() {
    let script = Script::new(&[
        whole(
            text(&["Let me ", "look."])
                + &calls(&[
                    ("get_weather", "{'city': 'Oslo', days: '3',}"),
                    ("book_room", r#"{"city": "Oslo", "nights": "some", "breakfast": True}"#),
                    ("get_wether", "{}"),
                ])
                + &done("tool_calls"),
        ),
        whole(
            calls(&[("book_room", r#"{"city": "Oslo", "nights": 2, "breakfast": true}"#)])
                + &done("tool_calls"),
        ),
        whole(text(&["Take an umbrella."]) + &done("stop")),
    ]);
    let mut out = Vec::new();
    agent::answer(&provider(&script).await, "A room in Oslo, please", &mut out).await.unwrap();
    let out = String::from_utf8(out).unwrap();
    for said in ["Let me look.", "[get_weather: 3 days of rain in Oslo]", "Take an umbrella."] {
        assert!(out.contains(said), "{said}: {out}");
    }
    // The model sees its calls as they were mended, and what is wrong with those that did not run.
    let second = script.request(1);
    let messages = second["messages"].as_array().unwrap();
    let called = &messages[1]["tool_calls"];
    assert_eq!(called[0]["function"]["arguments"], r#"{"city": "Oslo", "days": 3}"#);
    assert_eq!(messages[2]["content"], "3 days of rain in Oslo");
    let wrong = messages[3]["content"].as_str().unwrap();
    assert!(wrong.contains("/nights: expected integer"), "{wrong}");
    assert_eq!(messages[4]["content"], "There is no tool get_wether. There is get_weather.");
    let third = script.request(2);
    assert_eq!(third["messages"][6]["content"], "2 nights in Oslo, with breakfast");
}

#[tokio::test]
async fn an_agent_runs_nothing_of_a_response_that_breaks_off() {
    let call = calls(&[("get_weather", r#"{"city": "Oslo", "days": 3}"#)]);
    for (body, breaks) in [
        (call.clone(), true),
        (call.clone(), false),
        (calls(&[("get_weather", r#"{"city": "Oslo", "days": 3"#)]) + &done("length"), false),
        (call.clone() + "data: {\"error\": {\"message\": \"overloaded\"}}\n\n", false),
    ] {
        let script = Script::new(&[Reply { body, breaks }]);
        let mut out = Vec::new();
        let end = agent::answer(&provider(&script).await, "Oslo?", &mut out).await;
        let out = String::from_utf8(out).unwrap();
        assert!(!out.contains("rain"), "{out}");
        // A limit of tokens leaves an answer that is complete, with a call that is not.
        assert!(end.is_err() || out.contains("did not arrive whole"), "{end:?} {out}");
    }
}

#[tokio::test]
async fn a_handler_mends_calls_on_their_way() {
    let broken = text(&["See: {'a'}"]) + &calls(&[("add", "{'a': 1, 'b': True}")]);
    let script = Script::new(&[
        whole(broken.clone() + &done("tool_calls")),
        Reply { body: broken.clone(), breaks: true },
    ]);
    let url = serve(handler::app(provider(&script).await)).await + "/v1/chat/completions";
    let client = reqwest::Client::new();
    let request = json!({"model": "any", "stream": true});
    let answer = client.post(&url).json(&request).send().await.unwrap();
    let mended = answer.text().await.unwrap();
    let quotes = [("{'a': 1, ", "{\\\"a\\\": 1, "), ("'b': True}", "\\\"b\\\": true}")];
    let want = quotes.iter().fold(broken, |body, (from, to)| body.replace(from, to));
    assert_eq!(mended, want + &done("tool_calls"));
    assert_eq!(script.request(0), request, "the request is sent on as it is");
    // What breaks off does so for the client, too.
    let answer = client.post(&url).json(&request).send().await.unwrap();
    assert!(answer.text().await.is_err());
}

#[tokio::test]
async fn a_list_is_shown_as_it_arrives_and_returned_once_it_is_whole() {
    let list = [
        "Here:\n```json\n[{'name': 'Os",
        "lo', 'people': 700_",
        "000}, {'name': 'Ber\x1b[2J",
        "gen', 'people': 290000}]",
        "\n```",
    ];
    let script = Script::new(&[
        whole(text(&list) + &done("stop")),
        whole(text(&list[..3]) + &done("length")),
    ]);
    let url = provider(&script).await;
    let mut out = Vec::new();
    let cities = live::ask(&url, &mut out).await.unwrap();
    let shown: Vec<_> = cities.iter().map(|city| (city.name.as_str(), city.people)).collect();
    assert_eq!(shown, [("Oslo", 700_000), ("Ber\x1b[2Jgen", 290_000)]);
    let out = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2, "{out:?}");
    assert!(lines[0].ends_with("Oslo                     700000"), "{out:?}");
    assert!(lines[0].contains("Os "), "it was shown while it grew: {out:?}");
    assert!(!out.contains("\x1b[2J") && lines[1].ends_with("290000"), "{out:?}");
    // What was cut off is not a list, and its last line is taken back.
    let mut out = Vec::new();
    let cut = live::ask(&url, &mut out).await.unwrap_err();
    assert_eq!(cut.to_string(), "the document is not complete: its end is missing");
    assert!(out.ends_with(b"\r\x1b[K"), "{:?}", String::from_utf8_lossy(&out));
}
