use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use serde_json::{Value, json};

use crate::program::{command, file, json_lines, run, run_split};

fn event(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "choices": [choice] }))
}

fn text(content: &str) -> String {
    event(&json!({ "content": content }), None)
}

fn call(id: &str, name: &str, fragments: &[&str]) -> String {
    let first = json!([{ "index": 0, "id": id, "type": "function",
        "function": { "name": name, "arguments": "" } }]);
    let mut body = event(&json!({ "tool_calls": first }), None);
    for fragment in fragments {
        let delta = json!([{ "index": 0, "function": { "arguments": fragment } }]);
        body.push_str(&event(&json!({ "tool_calls": delta }), None));
    }
    body
}

fn body() -> String {
    text("Let me ")
        + &text("look.")
        + &call("call_1", "weather", &["{'city': 'Par", "is', days: 3", ",}"])
        + &event(&json!({}), Some("tool_calls"))
        + "data: [DONE]\n\n"
}

#[test]
fn text_and_mended_calls_are_shown_and_the_end_is_told() {
    let path = file("stream_whole.sse", body());
    let done = run(&["stream", path.to_str().unwrap()], "");
    assert_eq!(
        done.stdout,
        "Let me look.\n[call weather (call_1)]\n{\"city\": \"Paris\", \"days\": 3}\n"
    );
    assert_eq!(done.code, 0);
    for expected in [
        "arguments of weather: repaired (7 repairs, highest risk exact)\n",
        "\n  1:2: single-quote × 4 (exact), first at $: ' -> \"\n",
        "\n  1:19: unquoted-key × 2 (exact), first at $: insert \"\n",
        "\n  1:26: extra-comma (exact) at $.days: delete ,\n",
        "complete (sse, openai-chat; finish tool_calls; 1 call, 1 repaired)",
    ] {
        assert!(done.stderr.contains(expected), "{expected}: {}", done.stderr);
    }
}

#[test]
fn a_live_pipe_is_shown_before_its_end() {
    let mut child = command(&["stream", "-"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let half = text("Hello ") + &call("c", "f", &["{'path': 'a.t"]);
    stdin.write_all(half.as_bytes()).unwrap();
    stdin.flush().unwrap();
    // The rest is written only after this has been read, so a program that waits for the end hangs.
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "Hello \n");
    line.clear();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "[call f (c)]\n");
    let mut shown = vec![0; b"{\"path\": \"a.t".len()];
    stdout.read_exact(&mut shown).unwrap();
    assert_eq!(String::from_utf8(shown).unwrap(), "{\"path\": \"a.t");

    let delta = json!([{ "index": 0, "function": { "arguments": "xt'}" } }]);
    let rest = event(&json!({ "tool_calls": delta }), Some("tool_calls")) + "data: [DONE]\n\n";
    stdin.write_all(rest.as_bytes()).unwrap();
    drop(stdin);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "xt\"}\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn calls_whose_fragments_alternate_are_shown_one_after_the_other() {
    let begin = json!([
        { "index": 0, "id": "a", "function": { "name": "f", "arguments": "" } },
        { "index": 1, "id": "b", "function": { "name": "g", "arguments": "" } },
    ]);
    let mut body = event(&json!({ "tool_calls": begin }), None);
    for (index, fragment) in [(0, "{x:"), (1, "[1"), (0, "1"), (1, ",2]"), (0, "}")] {
        let delta = json!([{ "index": index, "function": { "arguments": fragment } }]);
        body.push_str(&event(&json!({ "tool_calls": delta }), None));
    }
    body.push_str(&event(&json!({}), Some("tool_calls")));
    body.push_str("data: [DONE]\n\n");
    let done = run(&["stream", "--quiet"], &body);
    assert_eq!(done.stdout, "[call f (a)]\n{\"x\":1}\n[call g (b)]\n[1,2]\n");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
}

#[test]
fn a_call_that_was_cut_off_is_never_passed_off_as_complete() {
    let cut = text("Now.") + &call("c", "delete", &["{\"path\": \"/ho"]);
    let done = run(&["stream"], &cut);
    assert_eq!(done.code, 3);
    assert!(
        done.stderr.contains("arguments of delete:1:14: byte 13: the input is cut off at $.path"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("   1 | {\"path\": \"/ho\n     |              ^"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("not a complete call"), "{}", done.stderr);
    assert!(done.stderr.contains("broke off before its end"), "{}", done.stderr);
}

#[test]
fn what_is_no_stream_and_what_holds_an_error_is_told() {
    let done = run(&["stream"], "<html><body>502 Bad Gateway</body></html>");
    assert_eq!(done.code, 5);
    assert!(done.stderr.contains("not-a-stream"), "{}", done.stderr);

    let done = run(
        &["stream"],
        "data: {\"error\":{\"message\":\"too busy\",\"type\":\"overloaded\"}}\n\n",
    );
    assert_eq!(done.code, 5);
    assert!(done.stderr.contains("too busy"), "{}", done.stderr);

    let done = run(&["stream"], "data: {\"hello\": 1}\n\n");
    assert_eq!(done.code, 4);
}

#[test]
fn events_for_machines_add_up() {
    let events = json_lines(&run(&["stream", "--json"], body()).stdout);
    let joined = |kind: &str| -> String {
        let of_kind = events.iter().filter(|event| event["type"] == kind);
        of_kind.filter_map(|event| event["text"].as_str()).collect()
    };
    assert_eq!(joined("text"), "Let me look.");
    assert_eq!(joined("arguments"), "{\"city\": \"Paris\", \"days\": 3}");
    let ended = events.iter().find(|event| event["type"] == "call-end").unwrap();
    assert_eq!(ended["arguments"], joined("arguments"));
    assert_eq!(ended["outcome"], "repaired");
    assert_eq!(ended["repairs"][0]["code"], "single-quote");
    assert_eq!(events.last().unwrap(), &json!({ "type": "end", "outcome": "complete" }));
}

#[test]
fn the_policy_of_calls_is_conservative_unless_asked() {
    let cut = call("c", "f", &["{\"a\": [1"]);
    let outcome = |args: &[&str]| {
        let done = run(&[&["stream", "--json"], args].concat(), &cut);
        let events = json_lines(&done.stdout);
        events.iter().find(|event| event["type"] == "call-end").unwrap()["outcome"].clone()
    };
    assert_eq!(outcome(&[]), "cut");
    assert_eq!(outcome(&["--policy", "permissive"]), "closed");
}

#[test]
fn objects_in_the_text_are_mended_on_request() {
    let body = text("Here: {'a': [1,")
        + &text("]} and that is it.")
        + &event(&json!({}), Some("stop"))
        + "data: [DONE]\n\n";
    let done = run(&["stream", "-q"], &body);
    assert_eq!((done.code, done.stdout.as_str()), (0, "Here: {'a': [1,]} and that is it.\n"));
    let done = run(&["stream", "--objects", "--exit-code"], &body);
    assert_eq!(done.code, 1);
    assert!(done.stdout.contains("[object at byte 6]\n{\"a\": [1]}\n"), "{}", done.stdout);
    assert!(done.stderr.contains("extra-comma"), "{}", done.stderr);
    let events = json_lines(&run(&["stream", "--objects", "--json"], &body).stdout);
    let object = events.iter().find(|event| event["type"] == "object").unwrap();
    assert_eq!((&object["json"], &object["start"]), (&"{\"a\": [1]}".into(), &6.into()));
}

fn reply(request: &Value, split: &str) -> Value {
    json_lines(&run(&["batch", "--split", split], request.to_string()).stdout).remove(0)
}

#[test]
fn batch_gives_the_same_transcript_however_the_body_is_cut() {
    let body = text("Data: {'a': 1,} ok") + &body();
    let request = json!({ "id": 1, "op": "stream", "input": body });
    let whole = reply(&request, "whole");
    assert_eq!(whole["framing"], "sse");
    assert_eq!(whole["wire"], "openai-chat");
    assert_eq!(whole["text"], "Data: {'a': 1,} okLet me look.");
    assert_eq!(whole["calls"][0]["name"], "weather");
    assert_eq!(whole["calls"][0]["id"], "call_1");
    assert_eq!(whole["calls"][0]["arguments"], "{\"city\": \"Paris\", \"days\": 3}");
    assert_eq!(whole["calls"][0]["outcome"], "repaired");
    assert_eq!(whole["objects"][0]["json"], "{\"a\": 1}");
    assert_eq!(whole["objects"][0]["start"], 6);
    assert_eq!(whole["objects"][0]["repairs"][0]["start"], 7);
    assert_eq!(whole["finish"]["original"], "tool_calls");
    assert_eq!(whole["outcome"], "complete");
    for split in ["bytes", "7", "100"] {
        assert_eq!(reply(&request, split), whole, "{split}");
    }
}

#[test]
fn the_scope_says_where_documents_are() {
    let body = text("Not {'a': 1,} but\n```json\n{'b': 2}\n```\n");
    for (scope, found) in [
        ("all", vec!["{\"a\": 1}", "{\"b\": 2}"]),
        ("fenced", vec!["{\"b\": 2}"]),
        ("first", vec!["{\"a\": 1}"]),
    ] {
        let done = run(&["stream", "--emit", "calls", "--scope", scope], body.clone());
        let lines = json_lines(&done.stdout);
        let objects: Vec<&str> =
            lines.iter().filter_map(|line| line["json"].as_str()).map(str::trim).collect();
        assert_eq!(objects, found, "{scope}: {}", done.stdout);
    }
    assert_eq!(run(&["stream", "--scope", "last"], body.clone()).code, 2);
    assert_eq!(run(&["stream", "--emit", "provider", "--scope", "all"], body).code, 2);
}

#[test]
fn batch_reads_events_as_the_specification_says() {
    let body =
        ":hi\nid: 7\ndata: a\ndata:b\n\nevent: x\nretry: 30\ndata: c\r\n\r\ndata: unfinished";
    let request = json!({ "op": "events", "framing": "sse-strict", "input": body });
    let expected = json!([
        { "event": "message", "data": "a\nb", "id": "7", "retry": null },
        { "event": "x", "data": "c", "id": "7", "retry": 30 },
    ]);
    for split in ["whole", "bytes", "3"] {
        assert_eq!(reply(&request, split)["events"], expected, "{split}");
    }
}

#[test]
fn changes_of_the_arguments_are_told_where_asked() {
    let done = run(&["stream", "--json", "--deltas"], body());
    let events = json_lines(&done.stdout);
    assert!(events.iter().all(|event| event["type"] != "arguments"));
    let deltas: Vec<Value> = events.into_iter().filter(|event| event["type"] == "delta").collect();
    let delta = |op: &str, path: &str, more: Value| {
        let mut delta = json!({ "type": "delta", "call": 0, "op": op, "path": path });
        delta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        delta
    };
    let want = [
        delta("add", "", json!({ "value": {} })),
        delta("add", "/city", json!({ "value": "" })),
        // Pieces that arrive in one read are one change.
        delta("append", "/city", json!({ "text": "Paris" })),
        delta("close", "/city", json!({})),
        delta("add", "/days", json!({ "value": 3 })),
        delta("close", "", json!({})),
    ];
    assert_eq!(deltas, want);
    assert_eq!(run(&["stream", "--deltas"], "").code, 2, "it needs --json");
}

#[test]
fn batch_reads_events_leniently_unless_the_specification_is_asked_for() {
    let body = "event: a\ndata: 1\n\nevent: b\ndata: 2";
    let names = |fields: Value| {
        let mut request = json!({ "op": "events", "input": body });
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let reply = reply(&request, "3");
        let events = reply["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names: Vec<String> = events.iter().map(|event| event["event"].to_string()).collect();
        (names.concat(), reply["error"].is_string())
    };
    assert_eq!(names(json!({})), ("\"a\"\"b\"".to_owned(), false));
    assert_eq!(names(json!({ "framing": "sse" })), ("\"a\"\"b\"".to_owned(), false));
    assert_eq!(names(json!({ "framing": "sse-strict" })), ("\"a\"".to_owned(), false));
    assert_eq!(names(json!({ "framing": "html" })), (String::new(), true));
    assert_eq!(names(json!({ "framing": "carrier-pigeon" })), (String::new(), true));
}

#[test]
fn batch_reads_the_messages_of_an_aws_event_stream() {
    use wiremend_wire::eventstream::{Header, HeaderValue, encode};
    let mut body = Vec::new();
    for (name, payload) in [(":event-type", "{\"a\":1}"), (":exception-type", "{}")] {
        let headers = [Header::new(name, HeaderValue::Str("x"))];
        encode(&headers, payload.as_bytes(), &mut body).unwrap();
    }
    body.extend_from_slice(b"\0\0");
    let request = json!({ "op": "events", "input_base64": base64(&body) });
    for split in ["whole", "bytes"] {
        let reply = reply(&request, split);
        assert_eq!(reply["framing"], "event-stream");
        assert_eq!(reply["events"][0]["event"], "x");
        assert_eq!(reply["events"][0]["data"], "{\"a\":1}");
        assert_eq!(reply["events"].as_array().unwrap().len(), 2);
        assert_eq!(reply["dropped"], 1);
    }
}

#[test]
fn events_are_values_where_the_body_holds_values() {
    let lines = "{\"a\": \"}\"}\r\n{\"b\": [1.0]} {}\nwords\n{\"cut";
    let array = "\u{feff} [{\"a\": 1},\n {\"b\": [2]}]";
    let one = "{\n  \"a\": [{}]\n}\n";
    for (framing, body, told, data, dropped) in [
        ("auto", lines, "ndjson", json!(["{\"a\": \"}\"}", "{\"b\": [1.0]}", "{}"]), json!(2)),
        ("ndjson", "[1] {}", "ndjson", json!(["[1]", "{}"]), Value::Null),
        ("json", lines, "ndjson", json!(["{\"a\": \"}\"}", "{\"b\": [1.0]}", "{}"]), json!(2)),
        ("auto", one, "json", json!([one.trim()]), Value::Null),
        ("auto", array, "json-array", json!(["{\"a\": 1}", "{\"b\": [2]}"]), Value::Null),
        ("json-array", array, "json-array", json!(["{\"a\": 1}", "{\"b\": [2]}"]), Value::Null),
    ] {
        let request = json!({ "op": "events", "framing": framing, "input": body });
        for split in ["whole", "bytes", "3"] {
            let reply = reply(&request, split);
            let events = reply["events"].as_array().map(Vec::as_slice).unwrap_or_default();
            let all: Value = events.iter().map(|event| event["data"].clone()).collect();
            assert_eq!((&reply["framing"], all), (&json!(told), data.clone()), "{body} {split}");
            assert_eq!(reply["dropped"], dropped, "{body} {split}");
            assert!(events.iter().all(|event| event["event"] == "" && event["retry"].is_null()));
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}

#[test]
fn batch_tells_usage_citations_and_what_kind_of_call() {
    let body = event(&json!({ "content": "a", "annotations": [{ "url": "u", "n": 1.5 }] }), None)
        + &call("c", "f", &["{\"a\": [1"])
        + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\n";
    let reply = reply(&json!({ "op": "stream", "input": body }), "whole");
    assert_eq!(reply["usage"]["input"], 3);
    assert_eq!(reply["citations"], json!([{ "url": "u", "n": 1.5 }]));
    assert_eq!(reply["calls"][0]["kind"], "function");
    assert_eq!(reply["calls"][0]["cut_at"], "$.a[0]");
}

#[test]
fn the_format_is_that_of_the_caller_where_one_is_named() {
    let body = "{\"choices\":[{\"text\":\"a\",\"finish_reason\":\"stop\"}]}\n";
    let wire = |name: &str| {
        let events =
            json_lines(&run(&["stream", "--emit", "events", "--format", name], body).stdout);
        events.iter().find(|event| event["type"] == "wire").map(|event| event["wire"].to_string())
    };
    assert_eq!(wire("auto").as_deref(), Some("\"openai-completions\""));
    assert_eq!(wire("openai-chat").as_deref(), Some("\"openai-chat\""));
    let done = run(&["stream", "--wire", "telex"], body);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("openai-responses"), "{}", done.stderr);
    let request = json!({ "op": "stream", "input": body, "wire": "ollama", "framing": "ndjson" });
    assert_eq!(reply(&request, "whole")["wire"], "ollama");
    assert_eq!(reply(&request, "whole")["framing"], "ndjson");
    for (field, name) in [("wire", "telex"), ("framing", "sse-strict"), ("framing", "telex")] {
        let mut request = json!({ "op": "stream", "input": body });
        request[field] = name.into();
        assert!(reply(&request, "whole")["error"].is_string(), "{field}: {name}");
    }
}

#[test]
fn calls_alone_are_one_object_a_line() {
    let done = run(&["stream", "--emit", "calls"], body());
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let calls = json_lines(&done.stdout);
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["arguments"], "{\"city\": \"Paris\", \"days\": 3}");
    assert_eq!(calls[0]["outcome"], "repaired");
    let cut = call("c", "f", &["{\"a\": [1"]) + "data: {\"error\":{\"message\":\"boom\"}}\n\n";
    let done = run(&["stream", "--emit", "calls"], &cut);
    assert!(done.stderr.contains("boom"), "{}", done.stderr);
    assert_eq!(json_lines(&done.stdout)[0]["outcome"], "cut");
    assert_eq!(run(&["stream", "--json", "--emit", "calls"], "").code, 2);
}

#[test]
fn the_body_itself_comes_out_with_mended_arguments() {
    let done = run(&["stream", "--emit", "provider", "--exit-code", "-"], body());
    let mended = body()
        .replace("{'city': 'Par", "{\\\"city\\\": \\\"Par")
        .replace("is', days: 3", "is\\\", \\\"days\\\": 3")
        .replace(",}", "}");
    assert_eq!((done.stdout, done.code), (mended.clone(), 1));
    let again = run(&["stream", "--emit", "provider", "--exit-code"], &mended);
    assert_eq!((again.stdout, again.code), (mended, 0));

    let packed = run(&["stream", "--emit", "provider"], "(\u{b5}/");
    assert_eq!((packed.stdout.as_str(), packed.code), ("(\u{b5}/", 5));
    let usage = run(&["stream", "--emit", "provider", "--objects"], "");
    assert!(usage.code == 2 && usage.stderr.contains("--objects"), "{usage:?}");
}

fn tools() -> std::path::PathBuf {
    let tools = json!([{"type": "function", "function": {"name": "weather", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    }}}]);
    file("stream_tools.json", tools.to_string())
}

#[test]
fn calls_are_brought_into_the_schemas_of_their_tools() {
    let tools = tools();
    let tools = tools.to_str().unwrap();
    let done = event(&json!({}), Some("tool_calls")) + "data: [DONE]\n\n";
    let run_with = |name: &str, fragments: &[&str], emit: &str| {
        let body = call("call_1", name, fragments) + &done;
        run(&["stream", "-", "--tools", tools, "--emit", emit], &body)
    };
    let fit = |name: &str, fragments: &[&str]| {
        let shown = run_with(name, fragments, "calls");
        let rows = json_lines(&shown.stdout);
        assert_eq!((rows.len(), &rows[0]["type"]), (2, &json!("call-end")), "{}", shown.stdout);
        assert_eq!((&rows[1]["type"], &rows[1]["call"]), (&json!("call-fit"), &json!(0)));
        (rows[1].clone(), shown.code)
    };
    let (row, code) = fit("weather", &["{'city': 'Par", "is', days: \"3", "\",}"]);
    assert_eq!(row["arguments"], r#"{"city": "Paris", "days": 3}"#);
    assert_eq!((&row["outcome"], code), (&json!("repaired"), 0));
    assert_eq!(row["coerced"][0]["rule"], "string-to-number");
    assert_eq!(row["schema_id"], "weather");
    let (row, code) = fit("weather", &[r#"{"city": 5, "days": "a few"}"#]);
    assert_eq!((&row["arguments"], &row["outcome"], code), (&Value::Null, &json!("invalid"), 5));
    assert_eq!(row["issues"][1]["message"], r#"/days: expected integer, got string "a few""#);
    let (row, code) = fit("whether", &["{}"]);
    assert_eq!((&row["outcome"], &row["nearest"]), (&json!("unknown-tool"), &json!("weather")));
    assert_eq!(code, 5);
    let (row, _) = fit("weather", &[r#"{"city": "Par"#]);
    assert_eq!((&row["arguments"], &row["outcome"]), (&Value::Null, &json!("cut")));
    let (row, code) = fit("weather", &[]);
    assert_eq!((&row["issues"][0]["code"], code), (&json!("missing"), 5));

    let shown = run_with("weather", &[r#"{"city": "Paris", "days": "3"}"#], "text");
    for expected in [
        "arguments of weather by the schema: repaired",
        "string-to-number (exact) at $.days",
        r#"{"city": "Paris", "days": 3}"#,
    ] {
        assert!(shown.stderr.contains(expected), "{expected}: {}", shown.stderr);
    }
    let shown = run_with("weather", &["{}"], "provider");
    assert_eq!(shown.code, 2, "{}", shown.stderr);
}

#[test]
fn a_compressed_body_is_told_as_such() {
    // The rest is not read, so it does not have to be valid.
    for (magic, name) in [(&b"\x1f\x8b\x08\0"[..], "gzip"), (b"\x28\xb5\x2f\xfd", "Zstandard")] {
        let packed = [magic, b"\0\x03KI,I\xb4R\xa8VJ\xce"].concat();
        for size in [1, 100] {
            let done = run_split(&["stream"], &packed, size);
            assert_eq!(done.code, 5);
            let told = format!("the body is compressed ({name}): unpack it first");
            assert!(done.stderr.contains(&told), "{}", done.stderr);
        }
        let events = json_lines(&run(&["stream", "--json"], &packed).stdout);
        let error = events.iter().find(|event| event["type"] == "error").unwrap();
        assert!(error["message"].as_str().unwrap().contains(name), "{error}");
    }
}

#[test]
fn what_leaves_raw_is_marked_and_changes_no_value() {
    let body = call("call_1", "weather", &["{'unit': 'C', 'da"]);
    let events = json_lines(&run(&["stream", "--json"], &body).stdout);
    let shown = |raw: bool| -> String {
        let own = events.iter().filter(|event| event["raw"] == raw);
        own.filter_map(|event| event["text"].as_str()).collect()
    };
    assert_eq!((shown(false).as_str(), shown(true).as_str()), (r#"{"unit": "C"#, "', 'da"));
    let deltas = json_lines(&run(&["stream", "--json", "--deltas"], &body).stdout);
    let text: String = deltas.iter().filter_map(|delta| delta["text"].as_str()).collect();
    assert_eq!(text, "C");
}
