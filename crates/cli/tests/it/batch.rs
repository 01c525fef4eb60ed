use serde_json::{Value, json};

use crate::program::{json_lines, run};

fn replies(args: &[&str], requests: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
    let done = run(&[&["batch"], args].concat(), lines.join("\n"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    json_lines(&done.stdout)
}

#[test]
fn replies_come_in_the_order_of_the_requests() {
    let requests: Vec<Value> = (0..300)
        .map(|n| {
            let items = "[1],".repeat(if n % 7 == 0 { 3000 } else { n % 5 });
            json!({ "id": n, "input": format!("[{items}'{n}']") })
        })
        .collect();
    for threads in ["1", "8"] {
        let replies = replies(&["--threads", threads], &requests);
        assert_eq!(replies.len(), requests.len());
        for (n, reply) in replies.iter().enumerate() {
            assert_eq!(reply["id"], n);
            assert!(reply["json"].as_str().unwrap().ends_with(&format!("\"{n}\"]")), "{reply}");
        }
    }
}

#[test]
fn a_reply_has_the_repairs() {
    let reply = &replies(&[], &[json!({ "id": "x", "input": "{'a': [True]" })])[0];
    assert_eq!(reply["outcome"], "closed");
    assert_eq!(reply["json"], "{\"a\": [true]}");
    assert_eq!(
        reply["repairs"][2],
        json!({ "code": "python-literal", "risk": "exact", "start": 7, "end": 11, "after": "true", "path": "$.a[0]" })
    );
    assert_eq!(reply.get("snapshots"), None);
}

#[test]
fn every_bad_line_gets_an_error_and_costs_no_other() {
    let lines = concat!(
        "{\"id\": 1, \"input\": \"[1]\"}\n",
        "nonsense\n",
        "{\"id\": [2, 1.10], \"op\": \"dance\", \"input\": \"\"}\n",
        "{\"id\": 3}\n",
        "\n",
        "{\"id\": 4, \"input\": 5}\n",
        "{\"id\": 5, \"input_base64\": \"%\"}\n",
        "[]\n",
        "{\"id\": 6, \"policy\": \"brave\", \"input\": \"\"}\n",
        "{\"input\": \"[2]\", \"extra\": {\"deep\": []}}",
    );
    let done = run(&["batch"], lines);
    assert_eq!(done.code, 0);
    let replies = json_lines(&done.stdout);
    let ids: Vec<String> = replies.iter().map(|reply| reply["id"].to_string()).collect();
    assert_eq!(
        ids,
        ["1", "null", "[2,1.10]", "3", "4", "5", "null", "6", "null"].map(|id| {
            // serde_json prints its own reading of the value; the line itself has `1.10`.
            id.replace("1.10", "1.1")
        })
    );
    assert!(done.stdout.contains("\"id\":[2, 1.10]"), "{}", done.stdout);
    let failed: Vec<bool> = replies.iter().map(|reply| reply["error"].is_string()).collect();
    assert_eq!(failed, [false, true, true, true, true, true, true, true, false]);
    assert_eq!(replies[8]["json"], "[2]");
}

#[test]
fn a_lone_surrogate_and_bytes_that_are_not_utf8_reach_the_engine() {
    let mut line =
        b"{\"id\": 1, \"input\": \"[\\\"a\\ud83d\\\"]\"}\n{\"id\": 2, \"input\": \"[\\\"".to_vec();
    line.extend_from_slice(b"\xff\\\"]\"}\n");
    let done = run(&["batch"], &line);
    let replies = json_lines(&done.stdout);
    assert_eq!(replies.len(), 2, "{}", done.stdout);
    for reply in replies {
        assert_eq!(reply["outcome"], "repaired", "{reply}");
        let json = reply["json"].as_str().unwrap();
        assert!(serde_json::from_str::<Value>(json).is_ok(), "{json}");
    }
}

#[test]
fn a_line_over_the_limit_is_skipped() {
    let lines = format!("{{\"input\":\"{}\"}}\n{{\"id\":2,\"input\":\"[1]\"}}\n", "x".repeat(500));
    let done = run(&["batch", "--max-line", "100"], lines);
    let replies = json_lines(&done.stdout);
    assert!(replies[0]["error"].as_str().unwrap().contains("longer than 100"), "{}", replies[0]);
    assert_eq!(replies[1]["json"], "[1]");
}

#[test]
fn split_cuts_what_is_pushed_and_chunks_beat_it() {
    let text = r#"{"a": [1, "b"]}"#;
    let request = json!({ "input": text, "mode": "stream", "snapshots": true });
    let pieces = |args: &[&str], request: &Value| {
        let reply = &replies(args, std::slice::from_ref(request))[0];
        assert_eq!(reply["json"], text, "{reply}");
        assert_eq!(reply["outcome"], "unchanged");
        reply["emitted"].as_array().unwrap().len()
    };
    assert_eq!(pieces(&[], &request), 1);
    assert_eq!(pieces(&["--split", "bytes"], &request), text.len());
    assert_eq!(pieces(&["--split", "4"], &request), 4);
    let mut chunked = request.clone();
    chunked["chunks"] = json!([text.split_at(3).0, text.split_at(3).1]);
    assert_eq!(pieces(&["--split", "bytes"], &chunked), 2);
    let bad = run(&["batch", "--split", "0"], "");
    assert_eq!(bad.code, 2);
}

#[test]
fn snapshots_are_valid_and_grow() {
    for mode in ["text", "stream"] {
        let request =
            json!({ "input": "Sure: {'a': 'xyz', 'b': [1, 22,", "mode": mode, "snapshots": true });
        let reply = &replies(&["--split", "bytes"], &[request])[0];
        let snapshots = reply["snapshots"].as_array().unwrap();
        assert!(snapshots.len() >= 6, "{reply}");
        for snapshot in snapshots {
            let text = snapshot.as_str().unwrap();
            assert!(serde_json::from_str::<Value>(text).is_ok(), "{text}");
        }
        assert!(snapshots.windows(2).all(|two| two[0] != two[1]), "{reply}");
        let emitted: Vec<u64> =
            reply["emitted"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        assert!(emitted.windows(2).all(|two| two[0] <= two[1]), "{emitted:?}");
        assert_eq!(reply["json"], "{\"a\": \"xyz\", \"b\": [1, 22]}");
    }
}

#[test]
fn policy_and_risk_are_those_of_the_request() {
    let outcome = |fields: Value| {
        let mut request = json!({ "input": "['a', b]" });
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        replies(&[], &[request])[0]["outcome"].clone()
    };
    assert_eq!(outcome(json!({})), "repaired");
    assert_eq!(outcome(json!({ "policy": "strict" })), "invalid");
    assert_eq!(outcome(json!({ "max_risk": "exact" })), "invalid");
    assert_eq!(outcome(json!({ "max_risk": "likely" })), "repaired");
    assert_eq!(outcome(json!({ "policy": "strict", "max_risk": "guess" })), "invalid");
}

#[test]
fn the_scope_says_which_document_counts() {
    let text = "One {\"a\": 1}, then:\n```json\n{\"b\": 2}\n```\nand {\"c\": 3}";
    let scopes = ["first", "last", "fenced", "best", "inner"];
    let requests: Vec<Value> =
        scopes.iter().map(|scope| json!({"input": text, "scope": scope})).collect();
    let replies = replies(&[], &requests);
    let found: Vec<_> = replies.iter().map(|reply| reply["json"].as_str().map(str::trim)).collect();
    let [a, b, c] = ["{\"a\": 1}", "{\"b\": 2}", "{\"c\": 3}"].map(Some);
    assert_eq!(found, [a, c, b, b, None]);
    assert_eq!(replies[4]["error"], "`scope`: `inner` is not known");
}

#[test]
fn several_values_become_one_array_in_text_mode_only() {
    let in_mode = |mode: &str| {
        replies(&[], &[json!({ "input": "{\"a\":1}\n{\"b\":2}", "mode": mode })])[0]["json"].clone()
    };
    assert_eq!(in_mode("text"), "[{\"a\":1},\n{\"b\":2}]");
    assert_eq!(in_mode("stream"), "{\"a\":1}");
}

#[test]
fn a_line_that_cannot_be_answered_says_why_and_keeps_its_id() {
    for (line, id, error) in [
        (r#"{"id":1,"input":"[1]","input":"[2]"}"#, "1", "the field `input` is given twice"),
        (r#"{"id":1,"id":2,"input":"[1]"}"#, "1", "the field `id` is given twice"),
        (r#"{"id":"a"}"#, "\"a\"", "none of `input`, `input_base64` and `chunks` is given"),
        (r#"{"id":2,"op":"events"}"#, "2", "`chunks`"),
        (r#"{"id":3,"input":"[1"#, "3", "the line is not valid JSON: "),
        (
            r#"{"id":4,"input":[]}"#,
            "4",
            "expected a string (within the first 18 bytes of the line)",
        ),
        ("words", "null", "a request is a JSON object"),
    ] {
        let done = run(&["batch"], line);
        let reply = &json_lines(&done.stdout)[0];
        assert_eq!((reply["id"].to_string().as_str(), done.code), (id, 0), "{line}");
        assert!(reply["error"].as_str().unwrap().contains(error), "{line}: {reply}");
    }
    let long = format!("{{\"id\": 9, \"input\": \"{}\"}}", "x".repeat(100));
    let reply = json_lines(&run(&["batch", "--max-line", "50"], long).stdout).remove(0);
    assert_eq!((reply["id"].to_string().as_str(), reply["error"].is_string()), ("9", true));
}
