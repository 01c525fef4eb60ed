//! Every dialect times every ordinary defect inside the arguments: the call is mended, or told to be cut or
//! refused. It is never lost, and nothing of it is text.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use jsonmend_core::{Options, Policy};
use jsonmend_extract::{CallExtractor, CallOutcome, Dialect, FoundCalls, Tools};

/// A value of an argument as models break it.
const DEFECTS: [(&str, &str); 12] = [
    ("a trailing comma", r#"{"at": 1, "to": "b",}"#),
    ("single quotes", r#"{'at': 1, 'to': 'b'}"#),
    ("a missing comma", r#"{"at": 1 "to": "b"}"#),
    ("bare inner quotes", r#"{"at": 1, "to": "say "b" now"}"#),
    ("a raw line end", "{\"at\": 1, \"to\": \"b\nc\"}"),
    ("a literal of Python", r#"{"at": 1, "to": True}"#),
    ("bare keys", r#"{at: 1, to: "b"}"#),
    ("a missing bracket", r#"{"at": 1, "to": ["b"}"#),
    ("a bracket too many", r#"{"at": 1, "to": "b"}}"#),
    ("an object in a string", r#""{\"at\": 1, \"to\": \"b\"}""#),
    ("a fence", "```json\n{\"at\": 1, \"to\": \"b\"}\n```"),
    ("a number as a string", r#"{"at": "1", "to": "b"}"#),
];

fn reader(row: &Dialect) -> CallExtractor {
    let tools = Tools::new().with_tool("book", ["seats", "name"], None);
    let options = Options::new().with_policy(Policy::PERMISSIVE);
    CallExtractor::new(options).with_tools(tools).with_dialect(row.clone())
}

fn read(row: &Dialect, pieces: &[&[u8]]) -> FoundCalls {
    let (mut reader, mut found) = (reader(row), FoundCalls::default());
    pieces.iter().for_each(|piece| reader.push(piece, &mut found));
    reader.finish_at_eos(&mut found);
    found
}

/// The example of a row with another value of `seats`.
fn with_value(row: &Dialect, value: &str) -> Option<String> {
    let example = row.example();
    let key = example.find("seats")?;
    let at = key + example.get(key..)?.find('2')?;
    Some([example.get(..at)?, value, example.get(at + 1..)?].concat())
}

#[test]
fn no_defect_inside_the_arguments_loses_a_call() {
    let mut failures = Vec::new();
    let (mut mended, mut told) = (0, 0);
    for row in Dialect::all() {
        for (what, value) in DEFECTS {
            let text = with_value(row, value).unwrap();
            let found = read(row, &[text.as_bytes()]);
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(read(row, &bytes), found, "{} with {what}", row.name());
            let said = String::from_utf8_lossy(found.text()).into_owned();
            let Some(call) = found.calls().first() else {
                failures.push(format!("{} with {what}: lost: {said}", row.name()));
                continue;
            };
            let json = String::from_utf8_lossy(call.arguments()).into_owned();
            match call.outcome() {
                CallOutcome::Whole | CallOutcome::Repaired => {
                    mended += 1;
                    if !json.contains("\"seats\"") || !json.contains("at") || !json.contains("to") {
                        failures.push(format!("{} with {what}: {json}", row.name()));
                    }
                }
                _ => told += 1,
            }
            if call.name() != "book" || said.contains("seats") || said.contains("\"to\"") {
                failures.push(format!("{} with {what}: text: {said}", row.name()));
            }
        }
    }
    println!("{mended} mended, {told} told");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
