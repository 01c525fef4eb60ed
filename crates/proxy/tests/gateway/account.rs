//! What is said about an answer.

use jsonmend_proxy::{Mending, Repair, Upstream};

use crate::scene::{Scene, answer, call_events};

const BROKEN: &str = r#"{"choices":[{"index":0,"message":{"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{'a': 1,}"}}]},"finish_reason":"tool_calls"}]}"#;

#[tokio::test]
async fn the_head_of_a_whole_body_says_what_was_done() {
    for (body, line) in [
        (BROKEN.to_owned(), "repaired; calls=1; repairs=3; risk=exact"),
        (BROKEN.replace("'a': 1,", r#"\"a\":1"#), "unchanged; calls=1; repairs=0"),
        (BROKEN.replace("{'a': 1,}", "{'a"), "cut; calls=1; repairs=0; incomplete=1"),
        (r#"{"object":"list","data":[]}"#.to_owned(), "untouched"),
    ] {
        let scene = Scene::new(answer("application/json; charset=utf-8", &body)).await;
        let reply = scene.post("/v1/chat/completions", "{}").await;
        assert_eq!(reply.header("x-jsonmend"), Some(line));
        assert!(reply.header("x-jsonmend-overhead-us").unwrap().parse::<u64>().is_ok());
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
    assert_eq!((reply.text(), reply.header("x-jsonmend")), (mended.clone(), Some("streaming")));
    let reply = scene.post_with("/v1/chat/completions", &["x-jsonmend-comment: on"], "{}").await;
    let text = reply.text();
    let comment = text.strip_prefix(&mended).unwrap();
    assert!(
        comment.starts_with(": jsonmend repaired; calls=1; repairs=2; risk=exact; overhead-us="),
        "{comment}"
    );
    assert!(comment.ends_with("\n\n") && comment.matches('\n').count() == 2);
    // Not within an event, and not in a body of another kind.
    let open = events.trim_end();
    let scene = Scene::new(answer("text/event-stream", open)).await;
    let reply = scene.post_with("/v1/chat/completions", &["x-jsonmend-comment: on"], "{}").await;
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
        (reply.header("x-jsonmend"), scene.seen().await.body.as_slice()),
        (Some("untouched"), b"{\"a\":1}".as_slice())
    );
    let reply = scene.post(path, r#"{"plugins":[{"id":"response-healing"}],"a":1}"#).await;
    assert!(reply.header("x-jsonmend").unwrap().starts_with("repaired"));
    assert_eq!(scene.seen().await.body, b"{\"a\":1}");
    let reply = scene.post_with(path, &["x-enable-plugins: response-healing"], "{\"a\":1}").await;
    assert!(reply.header("x-jsonmend").unwrap().starts_with("repaired"));
    let seen = scene.seen().await;
    assert_eq!(
        (seen.header("x-enable-plugins"), seen.body.as_slice()),
        (None, b"{\"a\":1}".as_slice())
    );
}
