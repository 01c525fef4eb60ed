//! What reaches a terminal: every field of every command is filled with characters that a terminal
//! interprets or that cannot be seen, and none of them may arrive.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Write as _},
    path::PathBuf,
    process::Stdio,
    thread,
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::program::{command, file};

/// Sets the clipboard, colours what follows, and hides or turns text around. The word shows that the
/// field has arrived at all.
const BAD: &str = "MARK\x1b]52;c;QUJD\x07\x1b[31;45m\u{9b}2J\u{90}\u{202e}\u{2066}\u{2028}\u{200b}\u{feff}\u{7f}\u{e0041}\x08\r\u{85}";

/// The same for file names and arguments, which may not contain every byte.
fn name(prefix: &str) -> String {
    format!("{prefix}{}", BAD.replace('\n', ""))
}

/// Runs the program with standard output and standard error on one terminal; returns what arrived.
fn on_terminal(args: &[&str], input: &[u8]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    let slave = OpenOptions::new().read(true).write(true).open(path.to_str().unwrap()).unwrap();
    let mut program = command(args);
    program.stdout(slave.try_clone().unwrap()).stderr(Stdio::from(slave));
    let mut child = program.env("TERM", "xterm").spawn().unwrap();
    // With the last copy of the other end, what is read ends.
    drop(program);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let mut master = File::from(master);
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    // The end of a terminal is an error.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..count]);
    }
    child.wait().unwrap();
    writer.join().unwrap();
    String::from_utf8(seen).expect("what is written to a terminal is UTF-8")
}

/// Whether a terminal shows `c` as a character of its own.
fn is_seen(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        && !matches!(c, '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// The output without line ends and without the colours of the program.
fn without_colours(output: &str) -> String {
    let mut rest = output.replace("\r\n", "\n");
    let codes = ["0", "1", "2", "4", "31", "32", "33", "36"];
    for code in codes {
        rest = rest.replace(&format!("\x1b[{code}m"), "");
    }
    rest
}

/// Runs the program with colours, and expects nothing hidden; returns whether the field has arrived.
fn is_harmless(args: &[&str], input: &[u8]) -> bool {
    let output = on_terminal(&[args, &["--color", "always"]].concat(), input);
    let rest = without_colours(&output);
    let hidden: Vec<char> =
        rest.chars().filter(|c| !is_seen(*c) && !matches!(c, '\n' | '\t')).collect();
    assert!(hidden.is_empty(), "{args:?}: {hidden:?} in {output:?}");
    rest.contains("MARK")
}

/// The same, and expects the field to arrive.
fn arrives(args: &[&str], input: &[u8]) {
    assert!(is_harmless(args, input), "{args:?}: the field did not arrive");
}

fn path(name: &str, content: impl AsRef<[u8]>) -> String {
    file(name, content).to_str().unwrap().to_owned()
}

#[test]
fn texts_and_documents() {
    let quoted = serde_json::to_string(BAD).unwrap();
    let raw = quoted.replace("\\u001b", "\x1b");
    let texts = [
        format!("[{quoted}]"),
        format!("{{'k': '{BAD}', 'a': True}}"),
        format!("{{{quoted}: None, '{BAD}': [{{'{BAD}': Tru"),
        format!("{BAD} is {raw}\n{{'a': {raw}, {BAD}: {BAD}}} {BAD}"),
        format!("```json {BAD}\n[{raw}, {BAD}]\n```\n[{raw}"),
        format!("[1, /* {BAD} */ 2, {BAD}, \"{BAD}\"\r]"),
    ];
    for args in [
        &["trace", "--split", "whole"][..],
        &["trace", "--split", "7", "--json"],
        &["repair", "--json"],
        &["repair", "--or-input", "-v"],
        &["repair", "--or-input", "--policy", "strict"],
        &["repair", "--stream", "--json", "--scope", "all"],
        &["repair", "--lines", "--or-input", "-v"],
        &["repair", "--lines", "--json", "--policy", "strict"],
        &["check", "-v", "--policy", "strict"],
        &["check", "--json"],
    ] {
        let arrived = texts.iter().filter(|text| is_harmless(args, text.as_bytes())).count();
        assert!(arrived >= 3, "{args:?}: {arrived}");
    }
    arrives(&["check"], texts[1].as_bytes());
    arrives(&["repair", "--stream", "-v"], texts[1].as_bytes());
    arrives(&["repair", "--stream"], texts[0].as_bytes());
    arrives(&["repair"], texts[0].as_bytes());
    arrives(&["repair", "--or-input"], b"MARK \xff\x9b2J, no JSON \x1b]0;x\x07");
}

#[test]
fn a_document_on_a_terminal_has_the_same_value() {
    let value = json!({ BAD: [BAD, "\r", 1.5] });
    // White space that moves the cursor is shown as a line end.
    let text = format!("[\r{value},\r\n1]").replace("\\u001b", "\\u001B");
    let output = on_terminal(&["repair"], text.as_bytes());
    let shown: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(shown, json!([value, 1]));
    assert!(output.contains("\\u202e") && output.contains("\\u001B"), "{output}");
    // Elsewhere every byte is kept.
    let piped = crate::program::run(&["repair"], &text);
    assert_eq!(piped.stdout, text);
}

/// A bar while it runs, where nothing else is shown; and nothing is left of it.
#[test]
fn many_inputs_have_a_bar() {
    let input = path("terminal-bar.jsonl", "[1,]\n".repeat(200_000));
    let rest = ["--out", concat!(env!("CARGO_TARGET_TMPDIR"), "/terminal-bar")];
    let output = on_terminal(&[&["repair", "--lines", &input], &rest[..]].concat(), b"");
    assert!(output.contains("/976.56 KiB"), "{output:?}");
    assert!(output.trim_end().ends_with("extra-comma 200000"), "{output:?}");
    let output = on_terminal(&[&["repair", "--lines", "-q", &input], &rest[..]].concat(), b"");
    assert_eq!(output, "");
    // The output would run into it.
    let output = on_terminal(&["repair", "--lines", &input], b"");
    assert!(!output.contains("KiB"));
}

#[test]
fn arguments_and_file_names() {
    let bad = name("--");
    let wrong = name("");
    for args in [
        &[wrong.as_str()][..],
        &[&bad],
        &["repair", &bad],
        &["repair", &wrong],
        &["repair", "x", &wrong],
        &["repair", "--off", &wrong],
        &["repair", "--rule-off", &wrong],
        &["repair", "--scope", &wrong],
        &["repair", "--depth", &wrong],
        &["repair", "--max-input", &wrong],
        &["repair", "--schema", &wrong],
        &["repair", "--tools", &wrong],
        &["repair", "x", "--report", "/dev/null", &wrong],
        &["repair", "--fail-on", &wrong],
        &["stream", &wrong],
        &["stream", "--format", &wrong],
        &["stream", "--emit", &wrong],
        &["stream", "--tools", &wrong],
        &["stream", "--schema", &wrong],
        &["batch", &wrong],
        &["batch", "--split", &wrong],
        &["batch", "--threads", &wrong],
        &["check", &wrong],
        &["trace", &wrong],
        &["explain", &wrong],
    ] {
        arrives(args, b"[1]");
    }
    let named = path(&name("terminal-file-"), "{'a': 1,");
    for args in [
        &["repair", &named][..],
        &["repair", &named, "--json"],
        &["repair", &named, "--stream", "--policy", "conservative"],
        &["repair", &named, "--max-input", "3"],
        &["repair", &named, &named],
        &["repair", &named, "--json", "--jsonl"],
        &["repair", &named, "--lines", "--report", "/dev/null"],
        &["repair", &named, "--csv", "--field", "a"],
        &["check", &named],
        &["check", &named, "--json"],
        &["stream", &named],
        &["stream", &named, "--emit", "calls"],
    ] {
        arrives(args, b"");
    }
}

#[test]
fn schemas_and_tools() {
    let field = |kind: Value| {
        json!({"$id": BAD, "title": BAD, "description": BAD, "type": "object",
               "properties": {BAD: kind, "n": {"type": "integer"}}, "required": [BAD],
               "additionalProperties": false})
    };
    let kinds = [
        json!({"enum": [BAD, "other"]}),
        json!({"const": BAD}),
        json!({"type": "string", "pattern": "^MARK\u{202e}$"}),
        json!({"type": "string", "format": BAD, "minLength": 1000}),
        json!({"anyOf": [{"title": BAD, "type": "array"}, {"const": BAD}]}),
    ];
    let values = [
        json!({}).to_string(),
        json!({BAD: format!("{BAD}{BAD}"), BAD.to_uppercase(): BAD}).to_string(),
        format!("{{'{BAD}x': 1, n: '{BAD}'"),
    ];
    for (number, kind) in kinds.into_iter().enumerate() {
        let schema = field(kind);
        let in_file = path(&format!("terminal-{number}.schema.json"), schema.to_string());
        let declared = json!([{"name": BAD, "input_schema": schema}, {"name": "b"}]);
        let tools = path(&format!("terminal-{number}.tools.json"), declared.to_string());
        for value in &values {
            let value = value.as_bytes();
            arrives(&["repair", "--or-input", "--schema", &in_file], value);
            arrives(&["repair", "--json", "--schema", &in_file, "--name", "x"], value);
            arrives(&["check", "-v", "--schema", &in_file], value);
            arrives(&["repair", "--or-input", "--tools", &tools, "--name", BAD], value);
        }
    }
    // Schemas that do not compile.
    for (number, schema) in [
        json!({"$ref": format!("#/$defs/{BAD}")}).to_string(),
        json!({"$ref": format!("http://{BAD}/")}).to_string(),
        json!({"type": BAD}).to_string(),
        json!({"pattern": format!("({BAD}")}).to_string(),
        json!({"properties": {BAD: {"type": 5}}}).to_string(),
        json!({"$schema": BAD}).to_string(),
        json!({"$id": BAD, "$ref": format!("{BAD}#x")}).to_string(),
    ]
    .into_iter()
    .enumerate()
    {
        let wrong = path(&format!("terminal-wrong-{number}.json"), &schema);
        let tools =
            json!([{"name": BAD, "input_schema": serde_json::from_str::<Value>(&schema).unwrap()}]);
        let tools = path(&format!("terminal-wrong-{number}.tools.json"), tools.to_string());
        is_harmless(&["repair", "--schema", &wrong], b"[1]");
        is_harmless(&["check", "--tools", &tools], b"[1]");
        arrives(&["stream", "--tools", &tools], b"data: MARK\n\n");
        let request = json!({"id": BAD, "input": "[1]", "schema": serde_json::from_str::<Value>(&schema).unwrap()});
        arrives(&["batch"], request.to_string().as_bytes());
    }
    // The nearest tool, and files in a directory.
    let declared = json!([{"name": format!("{BAD}a")}, {"name": "other_one"}]).to_string();
    let tools = path("terminal-nearest.tools.json", declared);
    arrives(&["repair", "--tools", &tools, "--name", &name("")], b"{}");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name("terminal-tools-"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{}.json", name("x"))), "{\"type\": 5}").unwrap();
    arrives(&["repair", "--tools", folder.to_str().unwrap()], b"{}");
}

#[test]
fn requests() {
    for request in [
        json!({"id": BAD, "op": BAD, "input": BAD}).to_string(),
        json!({"id": BAD, "input": format!("{{'{BAD}': '{BAD}'")}).to_string(),
        json!({"input": format!("{{'{BAD}': '{BAD}'"), "snapshots": true, "mode": "stream"}).to_string(),
        json!({"input": "1", "policy": BAD}).to_string(),
        json!({"input": "1", "max_risk": BAD}).to_string(),
        json!({"input": "1", "framing": BAD, "op": "events"}).to_string(),
        json!({"input": "1", "wire": "MARK", "op": "stream", "id": BAD}).to_string(),
        json!({"input": "1", "tools": [{"name": BAD}, {"name": "b"}], "name": format!("{BAD}b"), "id": BAD}).to_string(),
        json!({"input": format!("event: {BAD}\ndata: {BAD}\nid: {BAD}\n\n"), "op": "events"}).to_string(),
        format!("{{\"id\": \"{}\", \"input\"", BAD.replace(|c: char| c.is_ascii_control(), "")),
        json!({"op": "stream", "input": String::from_utf8(body()).unwrap(), "tools": [{"name": "x"}]}).to_string(),
    ] {
        arrives(&["batch"], request.as_bytes());
    }
}

/// A response with the text in every field.
fn body() -> Vec<u8> {
    let choice = |delta: Value, finish: Option<&str>| json!({"id": BAD, "model": BAD, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let call = |arguments: &str| {
        json!({"tool_calls": [{"index": 0, "id": BAD, "type": "function",
               "function": {"name": BAD, "arguments": arguments}}]})
    };
    let events = [
        choice(json!({"content": format!("{BAD} {{'{BAD}': '{BAD}'}} ")}), None),
        choice(json!({"reasoning_content": BAD}), None),
        choice(json!({"refusal": BAD}), None),
        choice(call(&format!("{{'{BAD}': '{BAD}', ")), None),
        choice(
            json!({"tool_calls": [{"index": 0, "function": {"arguments": format!("'b': {BAD}")}}]}),
            None,
        ),
        choice(
            json!({"annotations": [{"type": "url_citation", "url_citation": {"url": BAD, "title": BAD}}]}),
            None,
        ),
        choice(json!({}), Some(BAD)),
        json!({"error": {"message": BAD, "type": BAD, "code": BAD, "param": BAD, "failed_generation": BAD}}),
    ];
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    let mut body = events.collect::<String>();
    body.push_str(&format!("data: {{'choices': [], 'x': '{}'}}\n\n", BAD.replace('\r', "")));
    body.push_str(&format!("data: {{\"choices\": [{{\"{BAD}"));
    body.into_bytes()
}

#[test]
fn responses() {
    let schema = json!({"type": "object", "properties": {BAD: {"const": BAD}}, "required": ["n"]});
    let schema = path("terminal-object.schema.json", schema.to_string());
    let tools = json!([{"name": BAD, "input_schema": {"type": "object", "required": [BAD],
                        "properties": {BAD: {"type": "integer"}}, "additionalProperties": false}}]);
    let tools = path("terminal-call.tools.json", tools.to_string());
    let others =
        path("terminal-others.tools.json", json!([{"name": format!("{BAD}x")}]).to_string());
    for args in [
        &["stream"][..],
        &["stream", "-v", "--objects"],
        &["stream", "--schema", &schema],
        &["stream", "--tools", &tools],
        &["stream", "--tools", &others],
        &["stream", "--json"],
        &["stream", "--json", "--deltas"],
        &["stream", "--json", "--objects", "--schema", &schema, "--tools", &tools],
        &["stream", "--emit", "calls", "--tools", &others],
        &["stream", "--emit", "provider"],
    ] {
        arrives(args, &body());
    }
    arrives(&["stream"], format!("<html>{BAD}</html>").as_bytes());
    arrives(&["stream", "--emit", "calls"], format!("<html>{BAD}</html>").as_bytes());
    arrives(&["stream", "--emit", "provider"], b"MARK\x1f\x8b\x9b\xff");
}
