//! Every limit of the command, and what happens where it is exceeded: see docs/limits.md.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::program::{Run, file, json_lines, run};

fn path(name: &str, content: impl AsRef<[u8]>) -> String {
    file(name, content).to_str().unwrap().to_owned()
}

fn refused(done: &Run, code: i32, message: &str) {
    assert_eq!((done.code, done.stdout.as_str()), (code, ""), "{}", done.stderr);
    assert!(done.stderr.contains(message), "{}", done.stderr);
}

#[test]
fn an_input_is_as_long_as_it_may_be() {
    for args in [&["repair", "--max-input", "5"][..], &["trace", "--max-input", "5"]] {
        assert_eq!(run(args, "[1,2]").code, 0);
        refused(&run(args, "[1,23]"), 5, "<stdin> is longer than 5 bytes (--max-input)");
    }
    let check = ["check", "--max-input", "5", "--exit-code"];
    assert_eq!(run(&check, "[1,2]").code, 0);
    refused(&run(&check, "[1,23]"), 5, "--max-input");
    refused(&run(&["check", "--max-input", "5"], "[1,23]"), 1, "--max-input");
    // What is not kept may be longer.
    let streamed = run(&["repair", "--stream", "--max-input", "5"], "[1,23]");
    assert_eq!((streamed.code, streamed.stdout.as_str()), (0, "[1,23]"));
}

#[test]
#[cfg(unix)]
fn a_device_without_an_end_is_an_error() {
    let message = "/dev/zero: schemas and tools of more than 16777216 bytes are not read";
    for option in ["--schema", "--tools"] {
        for name in ["repair", "check", "stream"] {
            refused(&run(&[name, option, "/dev/zero"], "[1]"), 2, message);
        }
    }
    let endless = run(&["repair", "/dev/zero", "--max-input", "1000000"], "");
    refused(&endless, 5, "/dev/zero is longer than 1000000 bytes");
}

#[test]
fn the_files_of_a_directory_share_a_limit() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("limits-tools");
    fs::create_dir_all(&folder).unwrap();
    let schema = |blanks: usize| format!("{{{}}}", " ".repeat(blanks));
    fs::write(folder.join("a.json"), schema(9 << 20)).unwrap();
    fs::write(folder.join("b.json"), schema(1)).unwrap();
    let args = ["repair", "--tools", folder.to_str().unwrap(), "--name", "b"];
    assert_eq!(run(&args, "{}").code, 0);
    fs::write(folder.join("b.json"), schema(9 << 20)).unwrap();
    refused(&run(&args, "{}"), 2, "schemas and tools of more than 16777216 bytes");
}

#[test]
fn tools_are_as_many_as_they_may_be() {
    let tools = |count: usize| {
        let tools: Vec<Value> = (0..count).map(|n| json!({"name": format!("t{n}")})).collect();
        json!({"result": {"tools": tools}})
    };
    let most = path("limits-1024.tools.json", tools(1024).to_string());
    assert_eq!(run(&["repair", "--tools", &most, "--name", "t9"], "{}").code, 0);
    let more = path("limits-1025.tools.json", tools(1025).to_string());
    refused(&run(&["repair", "--tools", &more, "--name", "t9"], "{}"), 2, "more than 1024 tools");
    refused(&run(&["stream", "--tools", &more], "{}"), 2, "more than 1024 tools");
    let request = json!({"input": "{}", "tools": tools(1025), "name": "t9"});
    let reply = json_lines(&run(&["batch"], request.to_string()).stdout).remove(0);
    assert_eq!(reply["error"], "more than 1024 tools");
    // The values of an enum are not tools.
    let values: Vec<Value> = (0..2000).map(|n| json!({"name": n})).collect();
    let named =
        |name| json!({"name": name, "input_schema": {"properties": {"x": {"enum": values}}}});
    let tools = json!([named("a"), named("b"), named("c")]);
    let tool = path("limits-enum.tools.json", tools.to_string());
    assert_eq!(run(&["repair", "--tools", &tool, "--name", "a"], "{}").code, 0);
}

#[test]
fn a_request_is_as_long_as_it_may_be() {
    let done =
        run(&["batch", "--max-line", "20"], "{\"input\":\"[1,2,345]\"}\n{\"input\":\"[1,2]\"}\n");
    let replies = json_lines(&done.stdout);
    assert_eq!(done.code, 0);
    assert_eq!(replies[0]["error"], "the line is longer than 20 bytes");
    assert_eq!(replies[1]["json"], "[1,2]");
}

#[test]
fn snapshots_are_as_long_as_they_may_be() {
    // Each snapshot holds the document so far.
    let mut chunks = vec![format!("[\"{}", "x".repeat(1 << 20))];
    chunks.extend(vec!["x".to_owned(); 64]);
    let done = run(&["batch"], json!({"chunks": chunks, "snapshots": true}).to_string());
    let reply = json_lines(&done.stdout).remove(0);
    assert_eq!(reply["error"], "the snapshots take more than 67108864 bytes");
}

#[test]
fn threads_are_as_many_as_they_may_be() {
    let done = run(&["batch", "--threads", "100000"], "{\"input\":\"[1]\"}");
    assert_eq!((done.code, json_lines(&done.stdout).len()), (0, 1), "{}", done.stderr);
}

#[test]
fn issues_are_listed_up_to_a_number() {
    let schema = path("limits.schema.json", r#"{"items": {"maximum": 1}}"#);
    let input = json!(vec![2; 60]).to_string();
    let done = run(&["repair", "--schema", &schema], &input);
    let issues = |done: &Run| done.stderr.lines().filter(|line| line.contains("/5")).count();
    assert_eq!(done.code, 5, "{}", done.stderr);
    // /5 and /50 to /59, of which the first fifty issues hold /5 alone.
    assert_eq!(issues(&done), 1, "{}", done.stderr);
    assert!(done.stderr.contains("… and 10 more issues (--verbose lists all)"), "{}", done.stderr);
    assert_eq!(issues(&run(&["repair", "-v", "--schema", &schema], &input)), 11);
}

#[test]
fn messages_are_as_long_as_they_may_be() {
    let key = "k".repeat(100_000);
    let schema = path("limits-keys.schema.json", r#"{"additionalProperties": false}"#);
    let input = format!("{{'{key}': {{'{key}': True, '{key}");
    let longest = |args: &[&str]| {
        let done = run(args, &input);
        let lines = done.stderr.lines().chain(done.stdout.lines().filter(|_| args[0] != "repair"));
        lines.map(|line| line.chars().count()).max().unwrap()
    };
    for args in [
        &["repair", "-v"][..],
        &["repair", "--policy", "conservative"],
        &["repair", "--schema", &schema],
        &["check", "--schema", &schema],
    ] {
        let longest = longest(args);
        assert!((1000..1300).contains(&longest), "{args:?}: {longest}");
    }
    assert!(longest(&["check"]) < 1300);
    assert!(longest(&["trace", "--split", "whole"]) < 1300);
}

#[test]
fn short_documents_are_joined_up_to_a_number() {
    let numbers = |count: usize| "1\n".repeat(count);
    assert_eq!(run(&["repair", "--max-documents", "100"], numbers(100)).code, 0);
    let done = run(&["repair", "--max-documents", "100"], numbers(101));
    refused(&done, 5, "100 short documents (--max-documents)");
    assert_eq!(run(&["repair", "--max-documents", "101"], numbers(101)).code, 0);
}

#[test]
fn finish_reasons_are_listed_up_to_a_number() {
    let event = |n: usize| json!({"choices": [{"index": n, "delta": {"content": "x"}, "finish_reason": "stop"}]});
    let body: String = (0..40).map(|n| format!("data: {}\n\n", event(n))).collect();
    let done = run(&["stream"], body + "data: [DONE]\n\n");
    assert!(done.stderr.contains("choice 15 finish stop; 24 more"), "{}", done.stderr);
}
