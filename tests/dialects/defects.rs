//! Every ordinary defect in an argument whose type the schema states, in every dialect.

use serde_json::{Value, json};
use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, CallOutcome, Dialect, FoundCalls, Tools};
use wiremend_schema::Registry;

use super::{DEFECTS, with_value};

/// A tool of which one argument is an object.
fn tools() -> Tools {
    let properties = json!({"seats": {"type": "object"}, "name": {"type": "string"}});
    let declared =
        json!([{"name": "book", "parameters": {"type": "object", "properties": properties}}]);
    Registry::from_tools(&declared).unwrap().tools()
}

/// What was meant by each of the defects.
fn meant(what: &str) -> Value {
    match what {
        "bare inner quotes" => json!({"at": 1, "to": "say \"b\" now"}),
        "a raw line end" => json!({"at": 1, "to": "b\nc"}),
        "a literal of Python" => json!({"at": 1, "to": true}),
        "a missing bracket" => json!({"at": 1, "to": ["b"]}),
        "a number as a string" => json!({"at": "1", "to": "b"}),
        _ => json!({"at": 1, "to": "b"}),
    }
}

fn read(reader: &CallExtractor, text: &str, size: usize) -> FoundCalls {
    let (mut reader, mut found) = (reader.clone(), FoundCalls::default());
    text.as_bytes().chunks(size).for_each(|chunk| reader.push(chunk, &mut found));
    reader.finish_at_eos(&mut found);
    found
}

/// A call that can run has what was meant, and no other value. To read an object that is in a string is the
/// second step, and the schema's.
#[test]
fn a_call_that_can_run_has_the_value_that_was_meant() {
    let (mut right, mut reported, mut wrong) = (0, 0, Vec::new());
    let tools = std::sync::Arc::new(tools());
    for row in Dialect::all() {
        let reader = CallExtractor::new(MendOptions::new()).with_dialect(row.clone());
        let reader = reader.with_tools(std::sync::Arc::clone(&tools));
        for (what, value) in DEFECTS {
            let text = with_value(row, value).unwrap();
            let found = read(&reader, &text, text.len());
            assert_eq!(read(&reader, &text, 1), found, "{} {what}", row.name());
            let call = found.calls().first().unwrap_or_else(|| panic!("{} {what}", row.name()));
            let seats = serde_json::from_slice::<Value>(call.arguments()).unwrap()["seats"].clone();
            let inside = seats.as_str().and_then(|text| serde_json::from_str(text).ok());
            let in_a_string = what == "an object in a string" && inside == Some(meant(what));
            if !call.outcome().can_run() {
                assert_ne!(call.outcome(), CallOutcome::Whole);
                reported += 1;
            } else if seats == meant(what) || in_a_string {
                right += 1;
            } else {
                wrong.push(format!("{} {what}: {seats}", row.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{right} right, {reported} reported\n{}", wrong.join("\n"));
    assert!(reported < 20, "{right} right, {reported} reported");
}
