//! Answers that a schema describes.

use serde_json::{Value, json};
use wiremend_core::{MendOptions, Policy};
use wiremend_schema::{FitOptions, Schema};

fn fit(schema: &Value, text: &str, options: &FitOptions) -> Option<Value> {
    let schema = Schema::compile(schema).unwrap();
    let fitted = schema.fit(text.as_bytes(), options);
    fitted.text().map(|text| serde_json::from_str(text).unwrap())
}

fn fits(schema: &Value, text: &str) -> Option<Value> {
    fit(schema, text, &FitOptions::new())
}

fn object(properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({"type": "object", "properties": properties, "required": names})
}

#[test]
fn the_document_of_an_answer_must_match() {
    let schema = object(&json!({"wanted": {"type": "string"}}));
    // It is a guess that the only key is another name of the only one in the schema.
    let careful =
        FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    assert_eq!(fit(&schema, "{\"other\": \"value\"}\nand words", &careful), None);
    let number = object(&json!({"n": {"type": "integer"}}));
    assert_eq!(fits(&number, "{\"n\":\"17\"}"), Some(json!({"n": 17})));
    assert_eq!(fits(&number, "{'n': 'many'}"), None);
    // Of several documents, the one that matches counts, and then the one that is called the answer.
    assert_eq!(fits(&number, "{\"m\": 1} or {\"n\": 2}"), Some(json!({"n": 2})));
    assert_eq!(
        fits(&number, "A draft: {\"n\": 1}. The final one: {\"n\": 2}"),
        Some(json!({"n": 2}))
    );
}

/// One of the systems also takes `{text: string}` for a schema, in its own notation, of which the rows of its
/// tests ask whether it has one field of text. Here a schema is JSON Schema, and that is asked of it below.
#[test]
fn words_become_the_only_text_that_is_asked_for() {
    let schema = object(&json!({"text": {"type": "string"}}));
    for words in ["Here is what I found.", "It has \"quotes\" and\nlines and \ttabs"] {
        assert_eq!(fits(&schema, words), Some(json!({"text": words})));
    }
    // Not if there is more to it, or other than text, or less than any text.
    assert_eq!(
        fits(&object(&json!({"text": {"type": "string"}, "n": {"type": "number"}})), "Words"),
        None
    );
    assert_eq!(fits(&object(&json!({"n": {"type": "number"}})), "Words"), None);
    let choice = object(&json!({"text": {"type": "string", "enum": ["a", "b"]}}));
    assert_eq!(fits(&choice, "a would do"), None);
    // Only where a guess is allowed.
    let careful =
        FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    assert_eq!(fit(&schema, "Words", &careful), None);
}

#[test]
fn json_is_not_wrapped_as_text() {
    let schema = object(&json!({"text": {"type": "string"}}));
    assert_eq!(fits(&schema, "{\"text\": \"valid\"}"), Some(json!({"text": "valid"})));
    assert_eq!(fits(&schema, "{\"text\": \"Hello\",}"), Some(json!({"text": "Hello"})));
    // Nor is it if it was cut off: then its end is missing, and is reported to be.
    assert_eq!(fits(&schema, "{\"text\": \"Hello"), Some(json!({"text": "Hello"})));
    // A backslash that begins no escape is kept. One of the systems drops it from the text.
    assert_eq!(fits(&schema, "{\"text\": \"N \\* 2\"}"), Some(json!({"text": "N \\* 2"})));
}

#[test]
fn a_schema_that_comes_back_is_no_answer() {
    let schema = object(&json!({"name": {"type": "string"}}));
    let echo = serde_json::to_string(&schema).unwrap();
    assert_eq!(fits(&schema, &echo), None);
    // Data with the keys of a schema is data.
    let issues = object(&json!({"title": {"type": "string"}, "required": {"type": "array"}}));
    let data = json!({"title": "Bug", "required": ["a", "b"]});
    assert_eq!(fits(&issues, &data.to_string()), Some(data));
    let typed = object(&json!({"type": {"type": "string"}, "data": {"type": "string"}}));
    let data = json!({"type": "object", "data": "some"});
    assert_eq!(fits(&typed, &data.to_string()), Some(data));
}
