//! Calls that were cut off are taken out of a body, if that is switched on.

use crate::{rewrite::rewrite, support::decode};
use serde_json::{Value, json};
use wiremend_wire::{Framing, RewriteMode, RewriteOptions, RewriteOutcome, StreamOutcome};

fn events(list: &[Value]) -> String {
    let event = |event: &Value| match event["type"].as_str() {
        Some(name) => format!("event: {name}\r\ndata: {event}\r\n\r\n"),
        None => format!("data: {event}\n\n"),
    };
    list.iter().map(event).collect()
}

/// The body without the calls that were cut off, and the outcomes that were reported.
fn withheld(body: &str) -> (String, Vec<&'static str>) {
    let on = RewriteOptions::new().with_cut_calls_withheld(true);
    let out = rewrite(&on, body.as_bytes());
    let held = rewrite(&on.clone().with_mode(RewriteMode::Validated), body.as_bytes());
    assert_eq!(out.text(), held.text());
    assert_eq!(rewrite(&RewriteOptions::new(), body.as_bytes()).text(), body);
    assert_eq!(out.outcome == RewriteOutcome::Mended, out.text() != body);
    let outcomes = out.said.calls().iter().map(|call| call.outcome().code()).collect();
    // The empty lines of events stay.
    let mut text = out.text().to_owned();
    while text.contains("\r\n\r\n\r\n") {
        text = text.replace("\r\n\r\n\r\n", "\r\n\r\n");
    }
    (text, outcomes)
}

/// The calls that are left, and the finish reason.
fn left(body: &str) -> (Vec<String>, String) {
    let said = decode(body);
    assert_eq!(said.outcome(), StreamOutcome::Complete, "{body}");
    let names = said.calls().iter().map(|call| call.name().to_owned()).collect();
    (names, said.finish().unwrap().original().to_owned())
}

fn chat(delta: &Value, reason: Option<&str>) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
}

fn chat_call(index: usize, name: &str, arguments: &str) -> Value {
    json!({"tool_calls": [{"index": index, "id": format!("c{index}"), "type": "function", "function": {"name": name, "arguments": arguments}}]})
}

#[test]
fn the_last_call_of_a_chat_is_taken_out() {
    let more = |text: &str| json!({"tool_calls": [{"index": 1, "function": {"arguments": text}}]});
    for (pieces, reason, names) in [
        (["{\"p\": ", "1}"], "length", &["a"][..]),
        (["{\"p\": ", "1"], "content_filter", &["a"]),
        (["{'p': ", "1}"], "length", &["a"]),
        (["", "{'p': "], "length", &["a"]),
        (["{\"p\": ", "1}"], "tool_calls", &["a", "b"]),
    ] {
        let body = events(&[
            chat(&json!({"role": "assistant", "content": "so"}), None),
            chat(&chat_call(0, "a", "{\"x\": 0}"), None),
            chat(&chat_call(1, "b", ""), None),
            chat(&more(pieces[0]), None),
            chat(&more(pieces[1]), None),
            chat(&json!({}), Some(reason)),
        ]) + "data: [DONE]\n\n";
        let (out, outcomes) = withheld(&body);
        assert_eq!(left(&out), (names.iter().map(|name| (*name).into()).collect(), reason.into()));
        let cut = reason != "tool_calls";
        assert_eq!(outcomes, ["unchanged", if cut { "cut" } else { "unchanged" }]);
        assert_eq!(out.contains("\"c1\""), !cut, "{out}");
        assert_eq!(out.matches("\"tool_calls\":[]").count(), if cut { 3 } else { 0 });
    }
}

/// It may be finished, so nothing that follows its beginning leaves.
#[test]
fn everything_waits_that_follows_the_beginning_of_a_call() {
    let begin = events(&[chat(&chat_call(0, "a", "{\"p\": 1}"), None)]);
    let options = RewriteOptions::new().with_cut_calls_withheld(true);
    let mut rewriter = wiremend_wire::Rewriter::new(options);
    rewriter.push(begin.as_bytes(), &mut |_| {});
    assert_eq!(rewriter.withheld(), begin.len());
}

/// Frameworks close JSON that stops halfway, whatever the finish reason is and where none comes.
#[test]
fn a_call_without_an_end_is_taken_out() {
    let open = [
        chat(&chat_call(0, "a", "{\"x\": 0}"), None),
        chat(&chat_call(1, "b", "{\"p\": \"/"), None),
    ];
    let taken = |body: &str| {
        let (out, outcomes) = withheld(body);
        assert_eq!(outcomes, ["unchanged", "cut"]);
        assert!(out.contains("c0") && !out.contains("c1"), "{out}");
        out
    };
    let ended = events(&open) + &events(&[chat(&json!({}), Some("tool_calls"))]);
    assert_eq!(left(&taken(&ended)).0, ["a"]);
    let broken = events(&open);
    let out = taken(&broken);
    // The same where the connection breaks off.
    let mut rewriter =
        wiremend_wire::Rewriter::new(RewriteOptions::new().with_cut_calls_withheld(true));
    let mut bytes = Vec::new();
    let mut take = |piece: wiremend_wire::Rewritten<'_>| {
        if let wiremend_wire::Rewritten::Bytes(more) = piece {
            bytes.extend_from_slice(more);
        }
    };
    rewriter.push(broken.as_bytes(), &mut take);
    rewriter.stop(&mut take);
    assert_eq!(String::from_utf8(bytes).unwrap(), out);
}

#[test]
fn whole_bodies_lose_the_entry() {
    let call = |name: &str| json!({"id": name, "type": "function", "function": {"name": name, "arguments": "{\"p\": 1}"}});
    let chat = |calls: Value| json!({"choices": [{"message": {"content": null, "tool_calls": calls}, "finish_reason": "length"}]});
    let (out, outcomes) = withheld(&chat(json!([call("a"), call("b")])).to_string());
    assert_eq!(out, chat(json!([call("a")])).to_string());
    assert_eq!(outcomes, ["unchanged", "cut"]);
    let block =
        |name: &str| json!({"type": "tool_use", "id": name, "name": name, "input": {"p": 1}});
    let message = |content: Value| json!({"type": "message", "role": "assistant", "content": content, "stop_reason": "max_tokens", "usage": {"output_tokens": 3}});
    let text = json!({"type": "text", "text": "so"});
    let body = message(json!([text, block("a"), block("b")])).to_string();
    assert_eq!(withheld(&body).0, message(json!([text, block("a")])).to_string());
}

#[test]
fn anthropic_loses_the_events_of_the_block() {
    let block = |index: usize, block: Value, delta: Value| {
        [
            json!({"type": "content_block_start", "index": index, "content_block": block}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]
    };
    let tool = |index: usize, text: &str| {
        let begun =
            json!({"type": "tool_use", "id": format!("t{index}"), "name": "f", "input": {}});
        block(index, begun, json!({"type": "input_json_delta", "partial_json": text}))
    };
    let start = [
        json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}}),
    ];
    let text =
        block(0, json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": "so"}));
    let end = [
        json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 3}}),
        json!({"type": "message_stop"}),
    ];
    for cut in ["{\"p\": 1}", "{\"p\": 1", "{'p': 1}"] {
        let first = tool(1, "{\"q\": 2}");
        let body = events(&[&start[..], &text, &first, &tool(2, cut), &end].concat());
        let want = events(&[&start[..], &text, &first, &end].concat());
        assert_eq!(withheld(&body), (want, vec!["unchanged", "cut"]));
    }
    // A text after the call: that was cut off, and the call was not.
    let last =
        block(2, json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": "a"}));
    let body = events(&[&start[..], &text, &tool(1, "{}"), &last, &end].concat());
    assert_eq!(withheld(&body).0, body);
}

#[test]
fn responses_lose_the_events_of_the_item_and_the_item() {
    let item = |id: &str, text: &str| json!({"type": "function_call", "id": id, "call_id": id, "name": "f", "arguments": text});
    let call = |number: usize, id: &str, text: &str| {
        let kind = "response.function_call_arguments";
        let at = |kind: String, key: &str, value: Value| {
            let mut event = json!({"type": kind, "item_id": id, "output_index": number});
            event[key] = value;
            event
        };
        [
            at("response.output_item.added".into(), "item", item(id, "")),
            at(format!("{kind}.delta"), "delta", text.into()),
            at(format!("{kind}.done"), "arguments", text.into()),
            at("response.output_item.done".into(), "item", item(id, text)),
        ]
    };
    let start = [
        json!({"type": "response.created", "response": {"id": "r", "object": "response", "output": []}}),
    ];
    let end = |items: &[Value]| {
        let details = json!({"reason": "max_output_tokens"});
        [
            json!({"type": "response.incomplete", "response": {"id": "r", "object": "response", "status": "incomplete", "incomplete_details": details, "output": items}}),
        ]
    };
    for cut in ["{\"p\": 1}", "{\"p\": 1"] {
        let (a, b) = (item("a", "{}"), item("b", cut));
        let first = call(0, "a", "{}");
        let body =
            events(&[&start[..], &first, &call(1, "b", cut), &end(&[a.clone(), b])].concat());
        let want = events(&[&start[..], &first, &end(&[a])].concat());
        assert_eq!(withheld(&body), (want, vec!["unchanged", "cut"]));
    }
}

#[test]
fn calls_that_are_objects_are_taken_out_of_their_list() {
    let part = |name: &str| json!({"functionCall": {"name": name, "args": {"list": [1, 2]}}});
    let gemini = |parts: Value, reason: &str| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}]});
    let body = events(&[gemini(json!([{"text": "so"}, part("a"), part("b")]), "MAX_TOKENS")]);
    let want = events(&[gemini(json!([{"text": "so"}, part("a")]), "MAX_TOKENS")]);
    assert_eq!(withheld(&body).0, want);
    let body = events(&[gemini(json!([part("a")]), "STOP")]);
    assert_eq!(withheld(&body).0, body);
    let line = |calls: Value, done: bool| {
        let mut line = json!({"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": done});
        if done {
            line["done_reason"] = "length".into();
        }
        line.to_string() + "\n"
    };
    let call = json!({"function": {"name": "a", "arguments": {"list": [1, 2]}}});
    let body = line(json!([call]), false) + &line(json!([]), true);
    let (out, outcomes) = withheld(&body);
    assert_eq!(out, line(json!([]), false) + &line(json!([]), true));
    assert_eq!((outcomes, decode(&out).framing()), (vec!["cut"], Some(Framing::Ndjson)));
}
