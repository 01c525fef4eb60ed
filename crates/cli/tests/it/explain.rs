use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::{Value, json};

use crate::program::{content, json_lines, run};

#[test]
fn a_code_is_explained() {
    let done = run(&["explain", "single-quote"], "");
    assert_eq!(done.code, 0);
    for expected in ["single-quote", "['a']", r#"["a"]"#, "exact", "--off single-quote"] {
        assert!(done.stdout.contains(expected), "{expected}: {}", done.stdout);
    }
}

#[test]
fn a_rule_is_explained() {
    let done = run(&["explain", "enum-normalise"], "");
    assert_eq!(done.code, 0);
    for expected in ["enum-normalise", "RED", "likely", "--rule-off enum-normalise"] {
        assert!(done.stdout.contains(expected), "{expected}: {}", done.stdout);
    }
    assert!(run(&["explain", "enum-nearest"], "").stdout.contains("--rule-on enum-nearest"));
}

#[test]
fn the_list_is_complete_and_sorted() {
    let done = run(&["explain", "--list"], "");
    let codes: Vec<&str> =
        done.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let repairs = wiremend_core::RepairKind::ALL.iter().map(|kind| kind.code());
    let rules = wiremend_schema::Rule::ALL.iter().map(|rule| rule.code());
    let all: Vec<&str> = repairs.chain(rules).collect();
    assert_eq!(codes[..all.len()], all);

    let objects = json_lines(&run(&["explain", "--list", "--json"], "").stdout);
    assert_eq!(objects.len(), codes.len());
    for (object, code) in objects.iter().zip(codes) {
        assert_eq!(object["code"], code);
    }
}

#[test]
fn an_unknown_code_is_a_usage_error_with_a_suggestion() {
    let done = run(&["explain", "singel-quote"], "");
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("did you mean `single-quote`"), "{}", done.stderr);
    let done = run(&["explain", "zzzzzzzzzzz"], "");
    assert!(done.stderr.contains("this program prints no word `zzzzzzzzzzz`"), "{}", done.stderr);
    assert_eq!(run(&["explain"], "").code, 2);
}

#[test]
fn examples_are_true() {
    for object in json_lines(&run(&["explain", "--list", "--json"], "").stdout) {
        // The examples of schema rules are tested in wiremend-schema, and other words have none.
        if object["of"] != "syntax" {
            continue;
        }
        let (code, before) = (object["code"].as_str().unwrap(), object["before"].as_str().unwrap());
        let scope = match code {
            // The example has the number of a byte that a string cannot contain.
            "invalid-utf8" => continue,
            // The default joins the documents.
            "second-document" => &["--trailing", "first", "--scope", "first"][..],
            _ => &[],
        };
        let done = run(&[&["repair", "--quiet"], scope].concat(), before);
        // White space can remain after a deletion, so the values are compared.
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        let expected = value(object["after"].as_str().unwrap());
        assert!(expected.is_some(), "{code}");
        assert_eq!(value(&done.stdout), expected, "{code}: {before} gives {}", done.stdout);
    }
}

#[test]
fn a_word_is_explained_for_each_thing_that_it_is_a_word_for() {
    let done = run(&["explain", "cut"], "");
    assert_eq!(done.code, 0);
    for of in ["outcome ", "end of a stream ", "outcome of a call "] {
        assert!(done.stdout.lines().any(|line| line.starts_with(of)), "{of}: {}", done.stdout);
    }
    let objects = json_lines(&run(&["explain", "--json", "lossy"], "").stdout);
    let of: Vec<&str> = objects.iter().filter_map(|object| object["of"].as_str()).collect();
    assert_eq!(of, ["risk", "end of a stream"]);
}

/// The values of the members whose values are words of this program, and the names of all members.
fn collect(value: &Value, words: &mut BTreeSet<String>, fields: &mut BTreeSet<String>) {
    const MEMBERS: [&str; 12] = [
        "type", "outcome", "risk", "doubt", "matched", "code", "rule", "reason", "framing",
        "received", "wire", "format",
    ];
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                fields.insert(name.clone());
                match value.as_str().filter(|_| MEMBERS.contains(&name.as_str())) {
                    Some(word) => drop(words.insert(word.to_owned())),
                    // Their names are kinds of repair.
                    None if name == "kinds" => {
                        words.extend(value.as_object().unwrap().keys().cloned());
                    }
                    None => collect(value, words, fields),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, words, fields)),
        _ => {}
    }
}

#[test]
fn every_word_that_is_printed_is_explained() {
    let (mut words, mut fields) = (BTreeSet::new(), BTreeSet::new());
    let mut read = |args: &[&str], input: &[u8]| {
        for line in json_lines(&run(args, input).stdout) {
            // What a provider sends along has names of its own.
            if line["type"] != "citation" {
                collect(&line, &mut words, &mut fields);
            }
        }
    };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/streams");
    let mut last = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let body = fs::read(entry.unwrap().path()).unwrap();
        last.clone_from(&body);
        for body in [&body[..], &body[..body.len() / 2]] {
            read(&["stream", "--json"], body);
            read(&["stream", "--json", "--deltas", "--objects"], body);
        }
    }
    let text = b"<think>x</think>See {'a': 1} <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call><tool_call>";
    read(&["extract", "--emit", "segments"], text);
    let texts = "{'a': 1}\n[1, 2\nnone\n{\"a\": 1} {\"b\": 2}\n[1,,, \n";
    read(&["repair", "--lines", "--json"], texts.as_bytes());
    read(
        &["repair", "--stream", "--json", "--scope", "all", "--policy", "conservative"],
        texts.as_bytes(),
    );
    read(&["repair", "--lines", "--json", "--max-input", "3"], texts.as_bytes());
    read(&["trace", "--json"], texts.as_bytes());
    read(&["trace", "--json", "--readings"], br#"{"from": "Oslo"to": "Rome"}"#);
    read(&["explain", "--list", "--json"], b"");
    read(&["repair", "--json", "--policy", "strict"], b"{'a': 1}");
    for op in ["repair", "stream", "events", "calls"] {
        let input = String::from_utf8_lossy(if op == "stream" { &last } else { text });
        let request =
            json!({ "id": 1, "op": op, "input": input, "snapshots": true, "mode": "stream" });
        read(&["batch"], request.to_string().as_bytes());
    }
    let schema =
        crate::program::file("words.schema.json", r#"{"type": "object", "required": ["b"]}"#);
    read(&["check", "--json", "--schema", schema.to_str().unwrap()], b"{'a': 1}");
    // The first line of a report in CSV has the names that a row has.
    let folder = crate::program::folder("words");
    let many = folder.join("many.jsonl");
    fs::write(&many, "{\"a\": \"[1\"}\n{\"a\": 1}\n").unwrap();
    let (rows, table) = (folder.join("report.jsonl"), folder.join("report.csv"));
    for report in [&rows, &table] {
        let args = ["repair", "-q", "--field", "a", many.to_str().unwrap(), "--report"];
        run(&[&args[..], &[report.to_str().unwrap()]].concat(), "");
    }
    let header: BTreeSet<String> =
        content(&table).lines().next().unwrap().split(',').map(str::to_owned).collect();
    let row = &json_lines(&content(&rows))[0];
    assert_eq!(header, row.as_object().unwrap().keys().cloned().collect());
    collect(row, &mut words, &mut fields);
    assert!(words.len() > 40, "{words:?}");
    let list = json_lines(&run(&["explain", "--list", "--json"], "").stdout);
    let known = |of: Option<&str>| -> BTreeSet<String> {
        let listed = list.iter().filter(|word| of.is_none_or(|of| word["of"] == of));
        listed.map(|word| word["code"].as_str().unwrap().to_owned()).collect()
    };
    // The provider's own code of an error is no word of this program.
    let of_any = known(None);
    assert_eq!(words.difference(&of_any).collect::<Vec<_>>(), [""; 0]);
    let of_field = known(Some("field"));
    assert_eq!(fields.difference(&of_field).collect::<Vec<_>>(), [""; 0]);
    // What the last line says.
    for word in ["documents", "records", "dropped", "hidden", "body"] {
        assert!(of_any.contains(word), "{word}");
    }
}
