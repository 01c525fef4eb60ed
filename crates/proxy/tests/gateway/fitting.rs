//! Arguments are fitted to the schemas that a request declares.

use serde_json::{Value, json};
use wiremend_proxy::{Arguments, Mending, Mode, Repair, ToolRule, Upstream};
use wiremend_testkit::bodies::Shape;
use wiremend_wire::{WireOptions, transcribe};

use crate::scene::{Reply, Scene, answer, call_events};

const EVENTS: &str = "text/event-stream";
const CHAT: &str = "/v1/chat/completions";
const VALIDATED: [&str; 2] = ["x-wiremend-mode: validated", "x-wiremend-comment: on"];

/// A request with a tool of that name, which takes a number of days.
fn request(tool: &str) -> String {
    let schema = json!({"type": "object", "required": ["days"], "additionalProperties": false,
        "properties": {"days": {"type": "integer"}, "note": {"type": "string"}}});
    json!({"stream": true, "tools": [{"type": "function",
        "function": {"name": tool, "parameters": schema}}]})
    .to_string()
}

fn stream(pieces: &[&str], finish: &str) -> Vec<crate::scene::Step> {
    answer(EVENTS, call_events(pieces, finish).concat())
}

fn said(reply: &Reply) -> (String, &'static str) {
    let transcript = transcribe(&reply.body, WireOptions::new());
    let call = &transcript.calls()[0];
    (call.raw().to_owned(), call.outcome().code())
}

fn account(reply: &Reply) -> String {
    let text = reply.text();
    let comment = text.lines().find_map(|line| line.strip_prefix(": wiremend "));
    comment.unwrap_or_default().split("; overhead").next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn arguments_of_a_held_call_fit_their_schema_when_they_leave() {
    let scene = Scene::new(stream(&["{'days': ", "\"3\", \"no", "te\": 7}"], "tool_calls")).await;
    let reply = scene.post_with(CHAT, &VALIDATED, &request("f")).await;
    assert_eq!(said(&reply), (r#"{"days": 3, "note": "7"}"#.to_owned(), "unchanged"));
    assert_eq!(account(&reply), "repaired; calls=1; repairs=4; risk=exact");
    // As many events as came, and a comment.
    assert_eq!(reply.text().matches("data: ").count(), 6);
    let listed: Value = serde_json::from_slice(&scene.page("/repairs").await.body).unwrap();
    let repairs = &listed["answers"][0]["calls"][0]["repairs"];
    let codes: Vec<&str> =
        repairs.as_array().unwrap().iter().filter_map(|repair| repair["code"].as_str()).collect();
    assert_eq!(codes, ["single-quote", "string-to-number", "number-to-string"]);
}

#[tokio::test]
async fn arguments_of_every_format_fit_their_schema() {
    for shape in Shape::IN_PIECES {
        let body = shape.body(&["so"], &[&["{\"days\":", " \"3\"}"]]);
        let name = transcribe(&body, WireOptions::new()).calls()[0].name().to_owned();
        let kind = if body.starts_with(b"data") || body.starts_with(b"event") {
            EVENTS
        } else {
            "application/x-ndjson"
        };
        let scene = Scene::new(answer(kind, &body)).await;
        let reply = scene.post_with("/v1/x", &VALIDATED[..1], &request(&name)).await;
        assert_eq!(said(&reply), ("{\"days\": 3}".to_owned(), "unchanged"), "{shape:?}");
    }
}

#[tokio::test]
async fn nothing_is_fitted_that_may_have_left_or_that_is_not_whole() {
    let pieces = ["{'days': ", "\"3\"}"];
    let scene = Scene::new(stream(&pieces, "tool_calls")).await;
    let reply = scene.post_with(CHAT, &VALIDATED[1..], &request("f")).await;
    assert_eq!(said(&reply), ("{\"days\": \"3\"}".to_owned(), "unchanged"));
    // It was stopped by a limit, so the call may be a part of what was meant.
    for (pieces, finish) in [(&pieces, "length"), (&["{\"days\": ", "\"3\""], "tool_calls")] {
        let body = call_events(pieces, finish).concat();
        let scene = Scene::new(answer(EVENTS, &body)).await;
        let reply = scene.post_with(CHAT, &VALIDATED[..1], &request("f")).await;
        assert_eq!(reply.text(), body);
    }
}

#[tokio::test]
async fn what_cannot_be_made_to_fit_leaves_as_it_was_mended() {
    let scene = Scene::new(stream(&["{'days': 'a few', more: 1}"], "tool_calls")).await;
    let reply = scene.post_with(CHAT, &VALIDATED, &request("f")).await;
    let (arguments, outcome) = said(&reply);
    assert_eq!(arguments, r#"{"days": "a few", "more": 1}"#);
    assert_eq!(outcome, "unchanged");
    let said = account(&reply);
    assert!(said.starts_with("invalid; calls=1; repairs=6; risk="), "{said}");
    assert!(said.ends_with("; invalid=1; issues=2"), "{said}");
}

#[tokio::test]
async fn a_whole_body_says_in_its_head_what_was_fitted() {
    let call = |arguments: &str| {
        json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}]}}]})
        .to_string()
    };
    let scene = Scene::new(answer("application/json", call("{\"days\": \"3\"}"))).await;
    let request = request("f").replace("\"stream\":true,", "");
    let reply = scene.post_with(CHAT, &VALIDATED[..1], &request).await;
    assert_eq!(reply.text(), call("{\"days\": 3}"));
    let account = reply.header("x-wiremend").unwrap();
    assert_eq!(account, "repaired; calls=1; repairs=1; risk=exact");
    assert!(reply.whole);
}

#[tokio::test]
async fn each_tool_has_its_own_rule() {
    let rule = |name: &str| ToolRule::new(name).unwrap();
    for (rules, want) in [
        (vec![rule("f").with_arguments(Arguments::Mend)], "{\"days\": \"3\", \"note\": \"x\"}"),
        (vec![rule("*").with_arguments(Arguments::Pass)], "{days: \"3\", note: \"x\"}"),
        (vec![rule("g*")], "{\"days\": 3, \"note\": \"x\"}"),
        (vec![rule("f").with_policy(Repair::Off), rule("*")], "{days: \"3\", note: \"x\"}"),
    ] {
        let steps = stream(&["{days: \"3\", ", "note: \"x\"}"], "tool_calls");
        let mending = Mending::new().with_mode(Mode::Validated).with_tools(rules.clone());
        let scene = Scene::with(steps, |config, url| {
            config.with_upstream(Upstream::parse(url).unwrap()).with_mending(mending)
        })
        .await;
        let reply = scene.post(CHAT, &request("f")).await;
        assert_eq!(said(&reply).0, want, "{rules:?}");
        // In the other mode, a call that passes does so from its first byte.
        let reply = scene.post_with(CHAT, &["x-wiremend-mode: eager"], &request("f")).await;
        assert_eq!(said(&reply).0.starts_with("{days"), want.starts_with("{days"), "{rules:?}");
    }
}

/// A name in pieces, and one after the arguments.
#[tokio::test]
async fn the_rule_of_a_tool_holds_for_its_whole_name() {
    let entry = |function: Value| {
        let delta = json!({"tool_calls": [{"index": 0, "function": function}]});
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
    };
    let start = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function"}]}}]}"#;
    let end = call_events(&[], "tool_calls").pop().unwrap();
    let end = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#
        .to_owned()
        + "\n\n"
        + &end;
    let (one, two) = (json!({"name": "dele"}), json!({"name": "te_all"}));
    let name = json!({"name": "delete_all"});
    // One needs an exact repair, the other a likely one. Neither fits the schema of the tool.
    let (exact, likely) = (r#"{'days': "3"}"#, r#"{"days": "3" "note": "x"}"#);
    let rule = || ToolRule::new("delete_*").unwrap();
    for (rule, exact_left, likely_left) in [
        (rule().with_arguments(Arguments::Pass), exact, likely),
        (rule().with_policy(Repair::Off), exact, likely),
        (rule().with_policy(Repair::Exact), r#"{"days": 3}"#, likely),
        (
            rule().with_arguments(Arguments::Mend),
            r#"{"days": "3"}"#,
            r#"{"days": "3", "note": "x"}"#,
        ),
        (rule(), r#"{"days": 3}"#, r#"{"days": 3, "note": "x"}"#),
    ] {
        for (came, left) in [(exact, exact_left), (likely, likely_left)] {
            let arguments = json!({ "arguments": came });
            for pieces in [
                [&one, &two, &arguments].as_slice(),
                &[&arguments, &name],
                &[&json!({}), &arguments, &name],
            ] {
                let pieces: String = pieces.iter().map(|piece| entry((*piece).clone())).collect();
                let body = format!("{start}\n\n{pieces}{end}");
                let mending = Mending::new().with_tools(vec![rule.clone()]);
                let scene = Scene::with(answer(EVENTS, &body), |config, url| {
                    config.with_upstream(Upstream::parse(url).unwrap()).with_mending(mending)
                })
                .await;
                let reply = scene.post_with(CHAT, &VALIDATED[..1], &request("delete_all")).await;
                assert_eq!(said(&reply).0, left, "{rule:?} {body}");
                // Where values are not converted, the same repairs are made.
                let reply = scene.post(CHAT, &request("delete_all")).await;
                assert_eq!(said(&reply).0 == came, left == came, "{rule:?} {body}");
            }
        }
    }
}

#[tokio::test]
async fn rules_of_an_upstream_come_first() {
    let file = "[mending]\nmode = \"validated\"\n[[mending.tool]]\nname = \"f\"\narguments = \"pass\"\n\
                [[upstream]]\nurl = \"URL\"\n[[upstream.tool]]\nname = \"f\"\npolicy = \"exact\"\n";
    let scene = Scene::with(stream(&["{days: \"3\"}"], "tool_calls"), |_, url| {
        wiremend_proxy::Config::read(&file.replace("URL", url), []).unwrap()
    })
    .await;
    let reply = scene.post(CHAT, &request("f")).await;
    assert_eq!(said(&reply).0, "{\"days\": 3}");
}
