//! A schema as a guide for the engine: the rows of the table in docs/schema.md, and what a guide
//! must not do.

use serde_json::{Value, json};
use wiremend_core::{MendOptions, Mender, Outcome, Policy, mend};
use wiremend_extract::Scope;
use wiremend_schema::{FitOptions, Fitter, Schema};

fn compiled(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap()
}

fn object(properties: &Value) -> Schema {
    compiled(&json!({"type": "object", "properties": properties, "additionalProperties": false}))
}

fn trip() -> Schema {
    object(&json!({
        "city": {"type": "string"}, "days": {"type": "integer"}, "name": {"type": "string"},
        "age": {"type": ["integer", "null"]}, "note": {"type": "string"},
        "phone": {"type": "string"}, "zip": {"type": "integer"},
        "tags": {"type": "array", "items": {"enum": ["red", "dark blue"]}},
    }))
}

/// What the engine reads from `text` with the schema as its guide.
fn guided(schema: &Schema, text: &str) -> String {
    let options = MendOptions::new().with_guide(schema.guide());
    let mended = mend(text.as_bytes(), &options);
    // `Schema::fit` starts from the same text.
    let fitted = schema.fit(text.as_bytes(), &FitOptions::new());
    assert_eq!(fitted.mended(), mended.text(), "{text}");
    mended.text().unwrap().to_owned()
}

#[test]
fn every_row_of_the_page_is_true() {
    let rows = [
        ("{city: Oslo days: 3}", r#"{"city": "Oslo", "days": 3}"#),
        ("{name Bob, age 3}", r#"{"name": "Bob", "age": 3}"#),
        (r#"{"days": 1 name "x"}"#, r#"{"days": 1, "name": "x"}"#),
        (r#"{"name": "Bob" age": 3}"#, r#"{"name": "Bob", "age": 3}"#),
        (
            r#"{"note": "put "x", "y": "z" here", "days": 1}"#,
            r#"{"note": "put \"x\", \"y\": \"z\" here", "days": 1}"#,
        ),
        (r#"{"phone": 55 (ext 7)}"#, r#"{"phone": "55 (ext 7)"}"#),
        (r#"{"zip": 007}"#, r#"{"zip": 7}"#),
        (r#"{"name": Infinity}"#, r#"{"name": "Infinity"}"#),
        (r#"{"tags": [dark blue red]}"#, r#"{"tags": ["dark blue", "red"]}"#),
    ];
    for (text, want) in rows {
        assert_eq!(guided(&trip(), text), want, "{text}");
        let alone = mend(text.as_bytes(), &MendOptions::new().without_search());
        assert_ne!(alone.text(), Some(want), "{text}");
    }
}

#[test]
fn only_exact_names_are_declared_and_other_spellings_are_not_refused() {
    let schema = object(&json!({
        "title": {"type": "string"},
        "max_days": {"type": "integer", "x-aliases": ["limit"]},
    }));
    let text = |name: &str| format!("{{title: a b {name}: 3}}");
    assert_eq!(guided(&schema, &text("max_days")), r#"{"title": "a b", "max_days": 3}"#);
    for name in ["maxDays", "MAX-DAYS", "limit", "most"] {
        assert_eq!(guided(&schema, &text(name)), format!(r#"{{"title": "a b {name}: 3"}}"#));
    }
    let quoted = |name: &str| format!(r#"{{"title": "say "a", "{name}": 3}}"#);
    for name in ["maxDays", "limit"] {
        let want = format!(r#"{{"title": "say \"a", "{name}": 3}}"#);
        assert_eq!(guided(&schema, &quoted(name)), want);
    }
}

#[test]
fn references_and_unions_lead_to_the_place() {
    let schema = compiled(&json!({
        "$defs": {"leg": {"type": "object", "properties": {"to": {"type": "string"}, "km": {"type": "number"}}}},
        "properties": {
            "legs": {"type": "array", "items": {"$ref": "#/$defs/leg"}},
            "last": {"anyOf": [{"$ref": "#/$defs/leg"}, {"type": "null"}]},
            "more": {"oneOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]},
        },
    }));
    let text = "{legs: [{to: Oslo km: 3}], last: {to: New York km: 4}, more: {b: x a: y}}";
    let want = r#"{"legs": [{"to": "Oslo", "km": 3}], "last": {"to": "New York", "km": 4}, "more": {"b": "x", "a": "y"}}"#;
    assert_eq!(guided(&schema, text), want);
}

#[test]
fn the_order_of_branches_does_not_matter() {
    let (free, listed) = (json!({"type": "string"}), json!({"enum": ["red", "green"]}));
    for branches in [[&free, &listed], [&listed, &free]] {
        let schema = object(&json!({"tags": {"type": "array", "items": {"anyOf": branches}}}));
        assert_eq!(guided(&schema, "{tags: [red green]}"), r#"{"tags": ["red green"]}"#);
    }
}

#[test]
fn a_value_that_a_stream_reports_as_lost_is_lost() {
    let schema = trip();
    for text in [
        r#"{"days": 1, "tags": [red dark blue]}"#,
        "{city 'Oslo', days 3}",
        r#"{"zip": 007}"#,
        r#"{"phone": +47 (22) 99, "days": 2}"#,
    ] {
        let options = FitOptions::new()
            .with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE))
            .with_scope(Scope::Whole);
        let mut stream = Fitter::new(&schema, options);
        text.bytes().for_each(|byte| stream.push(&[byte]));
        stream.end();
        assert_eq!(stream.cursor().lost(), None, "{text}");
        assert!(stream.finish().text().is_some(), "{text}");
    }
}

#[test]
fn a_union_with_many_branches_gives_no_advice() {
    let branches: Vec<Value> =
        (0..40).map(|at| json!({"properties": {format!("k{at}"): {"type": "string"}}})).collect();
    let schema = compiled(&json!({"anyOf": branches}));
    assert_eq!(guided(&schema, "{a: x k3: y}"), r#"{"a": "x k3: y"}"#);
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = compiled(&json!({
        "anyOf": [{"$ref": "#"}, {"properties": {"a": {"$ref": "#"}, "n": {"type": "integer"}}}],
    }));
    assert_eq!(guided(&schema, "{a: {a: {n: 1}} n: 2}"), r#"{"a": {"a": {"n": 1}}, "n": 2}"#);
}

#[test]
fn valid_json_is_kept_even_if_it_does_not_fit() {
    let schema = trip();
    for text in [
        r#"{"city": "a", "world": {"x": "y, \"days\": 3"}, "city": [1, "name: x"]}"#,
        r#"{"phone": 12, "zip": "007", "tags": ["dark", "blue"], "days": {}}"#,
        r#"[{"city days: 3": "x"}, 5, null]"#,
    ] {
        let options = MendOptions::new().with_policy(Policy::STRICT).with_guide(schema.guide());
        assert_eq!(mend(text.as_bytes(), &options).outcome(), Outcome::Unchanged, "{text}");
        let mut mender = Mender::new(options);
        text.bytes().for_each(|byte| mender.push(&[byte], &mut ()));
        assert_eq!(mender.finish(&mut ()), Outcome::Unchanged, "{text}");
    }
}

#[test]
fn a_guide_from_the_caller_takes_precedence() {
    let options =
        FitOptions::new().with_mending(MendOptions::new().with_guide(object(&json!({})).guide()));
    // The guide rejects every name, so the words remain part of the first value.
    let fitted = trip().fit(b"{city: Oslo days: 3}", &options);
    assert_eq!(fitted.text(), Some(r#"{"city": "Oslo days: 3"}"#));
}

#[test]
fn a_value_in_a_string_has_the_guide_of_its_place() {
    let schema = object(&json!({"trip": {
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    }}));
    let fitted = schema.fit(br#"{"trip": "{city: Oslo days: 3}"}"#, &FitOptions::new());
    assert_eq!(fitted.text(), Some(r#"{"trip": {"city": "Oslo", "days": 3}}"#));
}

#[test]
fn the_cursor_sees_the_member_before_the_end() {
    let mut stream = Fitter::new(&trip(), FitOptions::new());
    stream.push(b"{\"city\": New York days: \"3\", \"note\": \"");
    stream.push(b"words that come slowly, one by one, until there is no end of them");
    let root = stream.cursor().root().unwrap();
    assert_eq!(root.member("city").unwrap().as_str(), Some("New York"));
    assert_eq!(root.member("days").unwrap().as_number(), Some("3"));
    stream.push(b"\"}");
    let fitted = stream.finish();
    assert!(fitted.text().unwrap().starts_with(r#"{"city": "New York", "days": 3, "note": "w"#));
}

#[test]
fn a_known_name_shows_where_a_document_is() {
    let fitted = trip().fit(b"Here: {city: Oslo, days: 3}\nDone.", &FitOptions::new());
    assert_eq!(fitted.text(), Some(r#"{"city": "Oslo", "days": 3}"#));
    let mut stream = Fitter::new(&trip(), FitOptions::new());
    stream.push(
        b"Here: {city: Oslo, days: \"3\", \"note\": \"words that come slowly, one by one, un",
    );
    assert_eq!(stream.cursor().root().unwrap().member("days").unwrap().as_number(), Some("3"));
}
