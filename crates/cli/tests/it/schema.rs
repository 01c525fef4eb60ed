//! Values that are made to match a schema, in all commands.

use serde_json::{Value, json};

use crate::program::{file, json_lines, run};

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
