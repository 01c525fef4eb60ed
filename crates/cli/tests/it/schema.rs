//! Values that are made to match a schema, in all commands: inputs, and documents in the text of a stream.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};

use crate::program::{Run, example, file, json_lines, run, run_split};

const SCHEMA: &str = r#"{"$id": "user", "type": "object", "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}, "age": {"type": "integer"}}, "required": ["name"]}"#;

fn tools() -> Value {
    json!([{"type": "function", "function": {"name": "add_user", "parameters": serde_json::from_str::<Value>(SCHEMA).unwrap()}},
           {"name": "drop_user", "input_schema": {"type": "object"}}])
}

fn batch(request: &Value) -> Value {
    let done = run(&["batch"], format!("{request}\n"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    json_lines(&done.stdout).remove(0)
}

#[test]
fn a_request_brings_its_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let input = r#"{name: "Ada", "tags": "[\"a\"]"}"#;
    let reply = batch(&json!({"id": 1, "op": "repair", "input": input, "schema": schema}));
    assert_eq!(reply["outcome"], "repaired");
    assert_eq!(reply["json"], r#"{"name": "Ada", "tags": ["a"]}"#);
    assert_eq!(reply["schema_id"], "user");
    assert_eq!(reply["issues"], json!([]));
    assert_eq!(reply["coerced"][0]["rule"], "unwrap-stringified");
    let codes: Vec<&str> =
        reply["repairs"].as_array().unwrap().iter().map(|r| r["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["unquoted-key", "unquoted-key", "unwrap-stringified"]);
}

#[test]
fn what_cannot_be_mended_comes_back_with_its_issues() {
    let request = json!({"op": "repair", "input": r#"{"name": null}"#, "schema": serde_json::from_str::<Value>(SCHEMA).unwrap()});
    let reply = batch(&request);
    assert_eq!((&reply["outcome"], &reply["json"]), (&json!("invalid"), &Value::Null));
    assert_eq!(reply["repairs"], json!([]));
    assert_eq!(reply["issues"][0]["pointer"], "/name");
    assert_eq!(reply["issues"][0]["message"], "/name: expected string, got null");
    assert_eq!((&reply["issues"][0]["start"], &reply["issues"][0]["end"]), (&json!(9), &json!(13)));
}

#[test]
fn the_highest_risk_holds_for_rules_too() {
    let schema = json!({"type": "array", "items": {"type": "string"}});
    let fit = |risk: &str| {
        batch(&json!({"op": "repair", "input": r#""a, b""#, "schema": schema, "max_risk": risk}))
    };
    assert_eq!(fit("likely")["json"], Value::Null);
    assert_eq!(fit("guess")["json"], r#"["a", "b"]"#);
}

#[test]
fn a_request_names_a_tool() {
    let call = |name: &str, input: &str| {
        batch(&json!({"op": "repair", "input": input, "tools": tools(), "name": name}))
    };
    let reply = call("functions.add_user", r#"{"arguments": {"name": "x", "age": "3"}}"#);
    assert_eq!(reply["json"], r#"{"name": "x", "age": 3}"#);
    assert_eq!(reply["schema_id"], "add_user");
    let error = call("ad_user", "{}")["error"].as_str().unwrap().to_owned();
    assert!(error.contains("add_user"), "{error}");
    assert!(batch(&json!({"op": "repair", "input": "{}", "tools": tools()}))["error"].is_string());
    let bad = batch(&json!({"op": "repair", "input": "{}", "schema": {"type": "strin"}}));
    assert!(bad["error"].as_str().unwrap().contains("/type"), "{bad}");
}

#[test]
fn valid_values_are_untouched_in_every_mode() {
    let input = "{\n \"name\": \"A\\u0064a\", \"size\": 3.0, \"age\": 3, \"age\": 4}";
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for mode in ["text", "stream"] {
        let reply = batch(&json!({"op": "repair", "input": input, "schema": schema, "mode": mode}));
        assert_eq!((&reply["outcome"], &reply["json"]), (&json!("unchanged"), &json!(input)));
        assert_eq!((&reply["repairs"], &reply["coerced"]), (&json!([]), &json!([])));
    }
}

#[test]
fn a_file_is_brought_into_a_schema() {
    let schema = file("repair.schema.json", SCHEMA);
    let schema = schema.to_str().unwrap();
    let done = run(&["repair", "--schema", schema], r#"{"name": "x", "tags": "a"}"#);
    assert_eq!((done.code, done.stdout.as_str()), (0, r#"{"name": "x", "tags": ["a"]}"#));
    assert!(
        done.stderr.contains("wrap-in-array × 2 (likely), first at $.tags: insert [, …"),
        "{}",
        done.stderr
    );
    let args = ["repair", "--schema", schema, "--rule-off", "wrap-in-array"];
    let done = run(&args, r#"{"name": "x", "tags": "a"}"#);
    assert_eq!((done.code, done.stdout.as_str()), (5, ""));
    assert!(done.stderr.contains(r#"/tags: expected array, got string "a""#), "{}", done.stderr);
    let done = run(&["repair", "--json", "--schema", schema], r#"{"name": 1}"#);
    assert_eq!(json_lines(&done.stdout)[0]["json"], r#"{"name": "1"}"#);
    assert_eq!(run(&["repair", "--schema", "no-such-file"], "{}").code, 6);
    let bad = file("bad.schema.json", "{");
    assert_eq!(run(&["repair", "--schema", bad.to_str().unwrap()], "{}").code, 2);
}

#[test]
fn a_tool_is_named_on_the_command_line() {
    let tools = file("tools.json", tools().to_string());
    let args = ["repair", "--tools", tools.to_str().unwrap(), "--name", "addUser", "-q"];
    assert_eq!(run(&args, r#"{"Name": "x"}"#).stdout, r#"{"name": "x"}"#);
    assert_eq!(run(&["repair", "--tools", tools.to_str().unwrap()], "{}").code, 2);
}

#[test]
fn check_says_what_is_wrong_and_what_would_change() {
    let schema = file("check.schema.json", SCHEMA);
    let schema = schema.to_str().unwrap();
    let done = run(&["check", "--schema", schema], r#"{"name": "x", "age": "3"}"#);
    assert_eq!(done.code, 1);
    assert!(
        done.stdout.contains(r#"type: /age: expected integer, got string "3""#),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("string-to-number (exact)"), "{}", done.stdout);
    let done = run(&["check", "--schema", schema], r#"{"name": "x"}"#);
    assert_eq!(done.code, 0);
    assert!(done.stdout.contains("valid JSON, and it matches the schema"), "{}", done.stdout);
    let done =
        run(&["check", "--json", "--exit-code", "--schema", schema], r#"{"tags": [1, "a"]}"#);
    assert_eq!(done.code, 5);
    let report = json_lines(&done.stdout).remove(0);
    assert_eq!(report["issues"][0]["code"], "missing");
    assert_eq!(report["coerced"][0]["rule"], "number-to-string", "what could have been done");
}

#[test]
fn xml_that_mirrors_the_schema_becomes_the_object() {
    let schema = json!({"type": "object", "properties": {
        "refined": {"type": "boolean"}, "text": {"type": "string"},
        "steps": {"type": "array", "items": {"type": "integer"}},
    }, "required": ["refined", "text"], "additionalProperties": false});
    let xml = "<task><refined>false</refined><text>Water & <b>feed</b></text><steps>1</steps><steps>2</steps></task>";
    let object = r#"{"refined": false, "text": "Water & <b>feed</b>", "steps": [1, 2]}"#;
    let path = file("task.schema.json", schema.to_string());
    let path = path.to_str().unwrap();
    let done = run(&["repair", "--schema", path], xml);
    assert_eq!((done.code, done.stdout.as_str()), (0, object));
    assert!(done.stderr.contains("xml-fields × 7 (likely), first at $"), "{}", done.stderr);
    let reply = batch(&json!({"op": "repair", "input": xml, "schema": schema}));
    assert_eq!((&reply["json"], &reply["outcome"]), (&json!(object), &json!("repaired")));
    assert_eq!(reply["coerced"][0]["rule"], "xml-fields");
    // Applying the changes to the XML gives the object.
    let (mut at, mut applied) = (0, String::new());
    for change in reply["repairs"].as_array().unwrap() {
        let [start, end] = ["start", "end"].map(|key| change[key].as_u64().unwrap() as usize);
        applied = applied + &xml[at..start] + change["after"].as_str().unwrap();
        at = end;
    }
    assert_eq!(applied + &xml[at..], object);

    let off = run(&["repair", "--schema", path, "--rule-off", "xml-fields"], xml);
    assert_eq!((off.code, off.stdout.as_str()), (4, ""), "{}", off.stderr);
    let cut = &xml[..xml.len() - "feed</b></text><steps>1</steps><steps>2</steps></task>".len()];
    let cut = batch(&json!({"op": "repair", "input": cut, "schema": schema}));
    assert_eq!(cut["json"], Value::Null, "an end is missing");
    let risk = json!({"op": "repair", "input": xml, "schema": schema, "max_risk": "exact"});
    assert_eq!(batch(&risk)["json"], Value::Null);
}

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
fn stream_body(texts: &[&str]) -> String {
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
        "object at byte 49 by the schema: repaired (6 repairs, highest risk exact)",
        "  number-to-string (exact) at $.rating",
    ] {
        assert!(done.stderr.contains(expected), "{expected}: {}", done.stderr);
    }
    // With `--objects`, it is also shown as it was found.
    let done = run(&["stream", "--objects", "--schema", schema], example(FENCED));
    assert!(done.stdout.contains("[object at byte 49]\n{"), "{}", done.stdout);
    assert!(done.stdout.contains("\"rating\": 4.50,\n"), "{}", done.stdout);
    assert!(done.stdout.contains("\"rating\": \"4.50\",\n"), "{}", done.stdout);
    let clean =
        run(&["stream", "--schema", schema], stream_body(&["As in [1]: {\"name\": \"x\"}"]));
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
    let cut = stream_body(&["{\"name\": \"Har"]);
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
    let xml =
        stream_body(&["<task><refined>fal", "se</refined><text>Water the ", "roses</text></task>"]);
    let done = run(&args, &xml);
    let fits = rows(&done, "object-fit");
    assert_eq!(fits[0]["json"], r#"{"refined": false, "text": "Water the roses"}"#);
    assert_eq!((fits.len(), done.code, &fits[0]["start"]), (1, 0, &json!(0)));
    for size in [1, 50] {
        assert_eq!(rows(&run_split(&args, &xml, size), "object-fit"), fits);
    }
    let done = run(&args, stream_body(&["I cannot help with that."]));
    assert_eq!((done.code, &rows(&done, "object-fit")[0]["outcome"]), (4, &json!("none")));
    let done = run(&args, stream_body(&[" \n"]));
    assert_eq!((done.code, rows(&done, "object-fit").len()), (4, 0));
}

#[test]
fn a_document_that_is_longer_than_what_may_be_kept_is_refused() {
    let schema = record(&json!({}));
    let args = ["stream", "--json", "--buffer", "64", "--schema", schema.to_str().unwrap()];
    let (short, long) = (r#"{"name": "x"}"#, format!(r#"{{"name": "{}"}}"#, "y".repeat(100)));
    let text =
        stream_body(&["words ", &long, " between ", short, &" more words".repeat(30), short]);
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
    let body = calls + &stream_body(&["Here: {city: 'Bergen', days: '2'} or {\"days\": 1}."]);
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
