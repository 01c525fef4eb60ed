//! Documents in the text of a stream that are made to match a schema.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};

use crate::program::{Run, example, file, json_lines, run, run_split};

const FENCED: &str = "openai-json-mode-fenced.sse";

/// A schema for the record in the fenced example.
fn record(extra: &Value) -> PathBuf {
    let mut schema = json!({"$id": "place", "type": "object", "properties": {
        "name": {"type": "string"}, "open": {"type": "boolean"}, "rating": {"type": "string"},
        "specialities": {"type": "array", "items": {"type": "string"}},
        "address": {"type": "object", "properties": {"postcode": {"type": "string"}}},
    }, "required": ["name"]});
    schema["properties"].as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    // Tests run in parallel, so each has its own file.
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    file(&format!("record_{number}.schema.json"), schema.to_string())
}

/// A body with these pieces of text.
fn body(texts: &[&str]) -> String {
    let event = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let said: String = texts.iter().map(|text| event(json!({"content": text}), None)).collect();
    said + &event(json!({}), Some("stop")) + "data: [DONE]\n\n"
}

fn rows(done: &Run, kind: &str) -> Vec<Value> {
    json_lines(&done.stdout).into_iter().filter(|row| row["type"] == kind).collect()
}

#[test]
fn a_document_in_the_text_is_brought_into_the_schema() {
    let schema = record(&json!({}));
    let args = ["stream", "--json", "--schema", schema.to_str().unwrap()];
    let input = example(FENCED);
    let done = run(&args, &input);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let fits = rows(&done, "object-fit");
    assert_eq!(fits.len(), 1, "{}", done.stdout);
    let fit = &fits[0];
    let value: Value = serde_json::from_str(fit["json"].as_str().unwrap()).unwrap();
    assert_eq!((&value["rating"], &value["open"]), (&json!("4.50"), &json!(true)));
    assert_eq!((&fit["outcome"], &fit["schema_id"]), (&json!("repaired"), &json!("place")));
    assert_eq!((&fit["issues"], &fit["choice"]), (&json!([]), &json!(0)));
    assert_eq!(fit["coerced"][0]["rule"], "number-to-string");
    assert!(rows(&done, "object").is_empty(), "it was not asked for as it was found");

    // The changes are an edit script for the text, from the first byte of the document.
    let text: String =
        rows(&done, "text").iter().map(|row| row["text"].as_str().unwrap()).collect();
    let mut at = usize::try_from(fit["start"].as_u64().unwrap()).unwrap();
    let mut applied = String::new();
    for change in fit["repairs"].as_array().unwrap() {
        let [start, end] = ["start", "end"].map(|key| change[key].as_u64().unwrap() as usize);
        applied.push_str(&text[at..start]);
        applied.push_str(change["after"].as_str().unwrap());
        at = end;
    }
    applied.push_str(&text[at..at + text[at..].rfind('}').unwrap() + 1]);
    assert_eq!(json!(applied), fit["json"]);

    for size in [1, 7, 4096] {
        assert_eq!(rows(&run_split(&args, &input, size), "object-fit"), fits, "{size}");
    }
}

#[test]
fn a_person_sees_the_value_and_what_was_done() {
    let schema = record(&json!({}));
    let schema = schema.to_str().unwrap();
    let done = run(&["stream", "--schema", schema], example(FENCED));
    assert_eq!(done.code, 0);
    let (_, shown) = done.stdout.split_once("[object at byte 49 by the schema]\n{").unwrap();
    assert!(shown.contains("\"rating\": \"4.50\",\n"), "{}", done.stdout);
    for expected in [
        "object at byte 49 by the schema: repaired (6 changes, 1 rule, highest risk exact)",
        "  number-to-string (exact) at $.rating",
    ] {
        assert!(done.stderr.contains(expected), "{expected}: {}", done.stderr);
    }
    // With `--objects`, it is also shown as it was found.
    let done = run(&["stream", "--objects", "--schema", schema], example(FENCED));
    assert!(done.stdout.contains("[object at byte 49]\n{"), "{}", done.stdout);
    assert!(done.stdout.contains("\"rating\": 4.50,\n"), "{}", done.stdout);
    assert!(done.stdout.contains("\"rating\": \"4.50\",\n"), "{}", done.stdout);
    let clean = run(&["stream", "--schema", schema], body(&["As in [1]: {\"name\": \"x\"}"]));
    assert!(clean.stdout.ends_with("\n[object at byte 11 by the schema]\n{\"name\": \"x\"}\n"));
    assert!(clean.stderr.starts_with("object at byte 11 by the schema: unchanged\n"));
    let quiet = run(&["stream", "-q", "--schema", schema], example(FENCED));
    assert_eq!(quiet.stderr, "");
}

#[test]
fn what_does_not_fit_comes_with_its_issues() {
    let schema = record(&json!({"rating": {"type": "integer"}}));
    let schema = schema.to_str().unwrap();
    let done = run(&["stream", "--json", "--objects", "--schema", schema], example(FENCED));
    assert_eq!(done.code, 5);
    let (found, fit) = (&rows(&done, "object")[0], &rows(&done, "object-fit")[0]);
    assert!(found["json"].as_str().unwrap().contains("\"rating\": 4.50"));
    assert_eq!((&fit["json"], &fit["outcome"]), (&Value::Null, &json!("invalid")));
    assert_eq!(fit["repairs"], json!([]));
    assert_eq!(fit["issues"][0]["message"], "/rating: expected integer, got number 4.50");
    let done = run(&["stream", "-q", "--schema", schema], example(FENCED));
    assert!(done.stderr.contains("invalid (1 issue)\n  /rating: expected"), "{}", done.stderr);

    let args = ["stream", "--rule-off", "number-to-string", "--schema"];
    let strings = record(&json!({}));
    assert_eq!(run(&[&args[..], &[strings.to_str().unwrap()]].concat(), example(FENCED)).code, 5);
}

#[test]
fn what_a_program_acts_on_is_calls_and_values() {
    let schema = record(&json!({}));
    let args = ["stream", "--emit", "calls", "--schema", schema.to_str().unwrap()];
    let done = run(&args, example(FENCED));
    let all = json_lines(&done.stdout);
    assert_eq!((all.len(), &all[0]["type"], done.code), (1, &json!("object-fit"), 0));
    let done = run(&[&args[..], &["--objects"]].concat(), example(FENCED));
    let kinds: Vec<Value> =
        json_lines(&done.stdout).iter().map(|row| row["type"].clone()).collect();
    assert_eq!(kinds, ["object", "object-fit"]);
    // A response with calls does not need a value for the schema.
    let done = run(&args, example("openai-clean.sse"));
    assert_eq!((done.code, rows(&done, "object-fit").len()), (0, 0), "{}", done.stdout);
    let tools =
        file("no_tools.json", json!([{"name": "read_sensor", "input_schema": {}}]).to_string());
    let done = run(
        &[&args[..], &["--tools", tools.to_str().unwrap()]].concat(),
        example("openai-clean.sse"),
    );
    assert_eq!((done.code, rows(&done, "call-fit").len()), (0, 2), "{}", done.stdout);
}

#[test]
fn what_is_cut_off_is_not_passed_off_as_whole() {
    let schema = record(&json!({}));
    let args = ["stream", "--json", "--schema", schema.to_str().unwrap()];
    let cut = body(&["{\"name\": \"Har"]);
    let done = run(&args, &cut);
    assert_eq!((done.code, &rows(&done, "object-fit")[0]["outcome"]), (3, &json!("closed")));
    let done = run(&[&args[..], &["--policy", "conservative"]].concat(), &cut);
    let fit = &rows(&done, "object-fit")[0];
    assert_eq!((&fit["outcome"], &fit["json"]), (&json!("cut"), &Value::Null));

    // A call that was cut off is not complete, even if the schema requires nothing.
    let tools = file("lax_tools.json", json!([{"name": "f", "input_schema": {}}]).to_string());
    let call = |arguments: &str| {
        let piece =
            json!([{"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}}]);
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"tool_calls": piece}}]}))
    };
    for arguments in ["", "{'a': 1}"] {
        let args = ["stream", "--json", "--tools", tools.to_str().unwrap()];
        let fit = rows(&run(&args, call(arguments)), "call-fit").remove(0);
        assert_eq!(
            (&fit["outcome"], &fit["arguments"]),
            (&json!("cut"), &Value::Null),
            "{arguments}"
        );
        assert_eq!(fit["repairs"], json!([]));
    }
}

#[test]
fn a_response_without_documents_is_read_as_a_whole() {
    let task = json!({"type": "object", "properties": {"refined": {"type": "boolean"},
        "text": {"type": "string"}}, "required": ["refined", "text"]});
    let schema = file("task.stream.schema.json", task.to_string());
    let args = ["stream", "--json", "--schema", schema.to_str().unwrap()];
    let xml = body(&["<task><refined>fal", "se</refined><text>Water the ", "roses</text></task>"]);
    let done = run(&args, &xml);
    let fits = rows(&done, "object-fit");
    assert_eq!(fits[0]["json"], r#"{"refined": false, "text": "Water the roses"}"#);
    assert_eq!((fits.len(), done.code, &fits[0]["start"]), (1, 0, &json!(0)));
    for size in [1, 50] {
        assert_eq!(rows(&run_split(&args, &xml, size), "object-fit"), fits);
    }
    let done = run(&args, body(&["I cannot help with that."]));
    assert_eq!((done.code, &rows(&done, "object-fit")[0]["outcome"]), (4, &json!("none")));
    let done = run(&args, body(&[" \n"]));
    assert_eq!((done.code, rows(&done, "object-fit").len()), (4, 0));
}

#[test]
fn a_document_that_is_longer_than_what_may_be_kept_is_refused() {
    let schema = record(&json!({}));
    let args = ["stream", "--json", "--buffer", "64", "--schema", schema.to_str().unwrap()];
    let (short, long) = (r#"{"name": "x"}"#, format!(r#"{{"name": "{}"}}"#, "y".repeat(100)));
    let text = body(&["words ", &long, " between ", short, &" more words".repeat(30), short]);
    for size in [1, 9, 100_000] {
        let done = run_split(&args, &text, size);
        let outcomes: Vec<Value> =
            rows(&done, "object-fit").iter().map(|fit| fit["outcome"].clone()).collect();
        assert_eq!(outcomes, ["overflow", "unchanged", "unchanged"], "{size}: {}", done.stdout);
        assert_eq!(done.code, 5);
    }
    let args = ["stream", "--buffer", "64", "--schema", schema.to_str().unwrap()];
    let done = run(&args, &text);
    assert!(done.stderr.contains("longer than 64 bytes (--buffer)"), "{}", done.stderr);
}

#[test]
fn what_makes_no_sense_together_is_refused() {
    let schema = record(&json!({}));
    let schema = schema.to_str().unwrap();
    let refused = |args: &[&str]| {
        let done = run(&[&["stream"], args].concat(), "");
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{args:?}");
        done.stderr
    };
    assert!(
        refused(&["--emit", "provider", "--schema", schema]).contains("leaves the text as it is")
    );
    assert!(refused(&["--name", "place"]).contains("--schema"));
    let bad = file("bad.stream.schema.json", r#"{"type": "strin"}"#);
    assert!(refused(&["--schema", bad.to_str().unwrap()]).contains("/type"));
    assert_eq!(run(&["stream", "--schema", "no-such-file"], "").code, 6);
}

#[test]
fn batch_tells_of_schemas_what_the_command_tells() {
    let place = json!({"$id": "place", "type": "object", "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]});
    let tools = json!([{"type": "function", "function": {"name": "book", "parameters": place}}]);
    let call = |index: u32, name: &str, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        let call = json!({"index": index, "id": format!("c{index}"), "function": function});
        let choice = json!({"index": 0, "delta": {"tool_calls": [call]}});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    // A property of the schema ends the unquoted key before it.
    let calls = call(0, "book", "{city Oslo, days 3}") + &call(1, "boko", "{}");
    let body = calls + &body(&["Here: {city: 'Bergen', days: '2'} or {\"days\": 1}."]);
    let (schema_file, tools_file) = (
        file("batch.place.schema.json", place.to_string()),
        file("batch.tools.json", tools.to_string()),
    );
    let args = ["stream", "--json", "--schema", schema_file.to_str().unwrap()];
    let done = run(&[&args[..], &["--tools", tools_file.to_str().unwrap()]].concat(), &body);
    let (calls, objects) = (rows(&done, "call-fit"), rows(&done, "object-fit"));
    assert_eq!(calls[0]["arguments"], r#"{"city": "Oslo", "days": 3}"#);
    assert_eq!(
        (&calls[1]["outcome"], &calls[1]["nearest"]),
        (&json!("unknown-tool"), &json!("book"))
    );
    assert_eq!(objects[0]["json"], r#"{"city": "Bergen", "days": 2}"#);
    assert_eq!((objects.len(), &objects[1]["outcome"]), (2, &json!("invalid")));

    let request = json!({"op": "stream", "input": body, "schema": place, "tools": tools});
    for split in ["whole", "bytes", "50"] {
        let done = run(&["batch", "--split", split], request.to_string());
        let reply = json_lines(&done.stdout).remove(0);
        assert_eq!(reply["call_fits"], json!(calls), "{split}");
        assert_eq!(reply["object_fits"], json!(objects), "{split}");
        assert_eq!(reply["calls"][1]["call"], 1);
    }
    let plain = json!({"op": "stream", "input": body});
    let reply = json_lines(&run(&["batch"], plain.to_string()).stdout).remove(0);
    assert_eq!((reply.get("call_fits"), reply.get("object_fits")), (None, None));
    let bad = json!({"op": "stream", "input": "", "tools": [{"name": 1}]});
    let reply = json_lines(&run(&["batch"], bad.to_string()).stdout).remove(0);
    assert!(reply["error"].is_string(), "{reply}");
}
