//! What other systems accept and reject when they validate, in cases of our own: the same outcome here, or why another
//! is right. Validating changes nothing; making a value fit is a second step, which says what it changed.

use wiremend_core::{Options, Outcome, Policy, Risk};
use wiremend_schema::{FitOptions, Fitted, Rule, Schema, SchemaOptions, Tree};

use crate::schema;

fn accepts(schema: &Schema, text: &str) -> bool {
    schema.accepts(&Tree::read(text).unwrap())
}

fn fit(schema: &Schema, text: &str, policy: Policy) -> Fitted {
    let engine = Options::new().with_policy(policy);
    schema.fit(text.as_bytes(), &FitOptions::new().with_engine(engine))
}

/// The issues of a text, each on a line, without any repair.
fn issues(schema: &str, text: &str) -> Vec<String> {
    let schema = crate::schema(schema);
    let fitted = fit(&schema, text, Policy::STRICT);
    fitted.issues().iter().map(ToString::to_string).collect()
}

#[test]
fn days_and_times_are_those_of_the_calendar() {
    // A day, or a time with or without its zone; formats are asserted in draft 7.
    let event = schema(
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"at": {"anyOf": [
            {"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}, {"type": "null"},
            {"type": "string", "pattern": "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3])(:[0-5]\\d){2}$"}
        ]}}, "required": ["at"]}"#,
    );
    let is_accepted = |at: &str| accepts(&event, &format!("{{\"at\": {at}}}"));
    for at in [
        "\"2027-03-04T08:15:00\"",
        "\"2027-03-04T08:15:00Z\"",
        "\"2027-03-04T08:15:00-03:30\"",
        "\"2028-02-29\"",
        "null",
    ] {
        assert!(is_accepted(at), "{at}");
    }
    for at in [
        "\"2027/03/04 08:15\"",
        "\"2027-02-29\"",
        "\"2027-14-01\"",
        "\"2027-03-04T08:15\"",
        "\"2027-03-32T08:15:00\"",
        "\"2027-03-04T24:30:00\"",
        "\"2027-03-04T08:60:00\"",
        "\"2027-03-04T08:15:75\"",
        "true",
    ] {
        assert!(!is_accepted(at), "{at}");
    }
}

#[test]
fn validating_converts_nothing() {
    for (kind, wrong) in [
        (r#"{"type": "boolean"}"#, "\"true\""),
        (r#"{"enum": [0, 1, 2]}"#, "\"1\""),
        (r#"{"type": "number"}"#, "\"7\""),
    ] {
        let value = schema(&format!(r#"{{"properties": {{"a": {kind}}}}}"#));
        let text = format!("{{\"a\": {wrong}}}");
        assert!(!accepts(&value, &text));
        // Making it fit does, and says so. Without repairs, the text comes back as it is, with its issues.
        let fitted = fit(&value, &text, Policy::PERMISSIVE);
        assert_eq!((fitted.text().is_some(), fitted.applied().len()), (true, 1), "{text}");
        let strict = fit(&value, &text, Policy::STRICT);
        assert_eq!((strict.text(), strict.mended()), (None, Some(text.as_str())));
        assert_eq!(strict.outcome(), Outcome::Invalid);
    }
    let urgency = schema(r#"{"type": "integer", "minimum": 1, "maximum": 5}"#);
    assert!(["1", "5"].iter().all(|text| accepts(&urgency, text)));
    assert!(["0", "6", "2.5", "\"high\""].iter().all(|text| !accepts(&urgency, text)));
    let reason = schema(r#"{"type": "string", "minLength": 1}"#);
    assert!(accepts(&reason, "\"x\"") && !accepts(&reason, "\"\""));
}

#[test]
fn unknown_names_other_names_and_defaults_are_a_matter_of_the_schema() {
    let grade = schema(
        r#"{"type": "object", "properties": {"grade": {"type": "integer", "x-aliases": ["grade_value"]},
            "why": {"type": "string"}, "tags": {"type": "array", "default": []}},
        "required": ["grade", "why", "tags"], "additionalProperties": false}"#,
    );
    let made = |text: &str| {
        let fitted = fit(&grade, text, Policy::PERMISSIVE);
        let rules: Vec<Rule> =
            fitted.applied().iter().map(wiremend_schema::Applied::rule).collect();
        (fitted.text().map(str::to_owned), rules, fitted.risk())
    };
    let text = r#"{"grade": 3, "why": "ok", "tags": [], "more": 1}"#;
    let kept = r#"{"grade": 3, "why": "ok", "tags": []}"#;
    assert_eq!(made(text), (Some(kept.into()), vec![Rule::DropUnknown], Some(Risk::Lossy)));
    let text = r#"{"grade_value": 3, "why": "ok", "tags": []}"#;
    assert_eq!(made(text), (Some(kept.into()), vec![Rule::KeyAlias], Some(Risk::Likely)));
    // The declared name is the one that counts.
    let text = r#"{"grade": 3, "grade_value": 9, "why": "ok", "tags": []}"#;
    assert_eq!(made(text).0.as_deref(), Some(kept));
    let text = r#"{"grade": 3, "why": "ok"}"#;
    assert_eq!(made(text), (Some(kept.into()), vec![Rule::FillDefault], Some(Risk::Guess)));
    // Elsewhere, every object is closed. Here a schema that does not say so accepts more, also through a reference.
    for open in [
        r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
        r#"{"properties": {"a": {"type": "string"}}}"#,
        r##"{"type": "object", "$ref": "#/definitions/own", "definitions": {"own": {"properties": {"a": {"type": "string"}}}}}"##,
    ] {
        assert!(accepts(&schema(open), r#"{"a": "x", "b": "y"}"#), "{open}");
    }
}

#[test]
fn what_is_no_json_is_repaired_or_reported_and_never_valid_as_it_is() {
    let any = schema("{}");
    for text in [
        r#"{"a": "b"}"#,
        "[1, 2]",
        "null",
        "17",
        "\"word\"",
        "true",
        r#"{"a": {"b": [1, {"c": true}], "d": null}}"#,
        r#"["It's fine"]"#,
        r#"{"sum": "2 * 3 = 6"}"#,
    ] {
        let fitted = fit(&any, text, Policy::STRICT);
        assert_eq!((fitted.text(), fitted.outcome()), (Some(text), Outcome::Unchanged));
    }
    for (text, made) in [
        ("{\"a\": word}", Some(r#"{"a": "word"}"#)),
        ("{\"a\": \"b\",}", Some(r#"{"a": "b"}"#)),
        ("{a: \"b\"}", Some(r#"{"a": "b"}"#)),
        ("[\"a\", 'b']", Some(r#"["a", "b"]"#)),
        ("{'a': 'b'}", Some(r#"{"a": "b"}"#)),
        ("{\"a\": two words}", Some(r#"{"a": "two words"}"#)),
        (r#"{"p": "C:\user\*"}"#, Some(r#"{"p": "C:\\user\\*"}"#)),
        ("", None),
    ] {
        assert!(Tree::read(text).is_err());
        assert_eq!(fit(&any, text, Policy::STRICT).text(), None, "{text}");
        let fitted = fit(&any, text, Policy::PERMISSIVE);
        assert_eq!(fitted.text(), made, "{text}");
        assert!(made.is_none() || fitted.outcome() == Outcome::Repaired);
    }
    // What was cut off may be closed, but is not complete.
    for text in ["{\"a\":", "{\"a\": ", "{\"a\": \"b}"] {
        assert!(!fit(&any, text, Policy::PERMISSIVE).outcome().is_complete(), "{text}");
    }
}

#[test]
fn issues_say_what_to_do() {
    let person = r#"{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "number"}},
        "required": ["name", "age"], "additionalProperties": false}"#;
    assert_eq!(issues(person, r#"{"name": "Ana", "age": 31}"#), Vec::<String>::new());
    for (schema, text, issue) in [
        (person, r#"{"name": "Ana"}"#, "/: missing required property \"age\" (number)"),
        (
            person,
            r#"{"name": "Ana", "age": "thirty-one"}"#,
            "/age: expected number, got string \"thirty-one\"",
        ),
        (person, r#"{"name": "Ana", "age": 1, "cat": 1}"#, "/cat: unexpected property"),
        (
            r#"{"properties": {"role": {"enum": ["reader", "writer"]}}}"#,
            r#"{"role": "owner"}"#,
            "/role: expected one of \"reader\", \"writer\", got string \"owner\"",
        ),
        (
            r#"{"properties": {"user": {"properties": {"home": {"required": ["city"], "properties": {"city": {"type": "string"}}}}}}}"#,
            r#"{"user": {"home": {}}}"#,
            "/user/home: missing required property \"city\" (string)",
        ),
        // Elsewhere, null is called an object.
        (person, r#"{"name": null, "age": 1}"#, "/name: expected string, got null"),
    ] {
        assert_eq!(issues(schema, text), [issue], "{text}");
    }
    for (schema, text, bound) in [
        (r#"{"properties": {"age": {"maximum": 150}}}"#, r#"{"age": 170}"#, "150"),
        (r#"{"properties": {"name": {"minLength": 3}}}"#, r#"{"name": "ab"}"#, "3"),
    ] {
        let all = issues(schema, text);
        assert!(all.len() == 1 && all[0].contains(bound), "{all:?}");
    }
}

#[test]
fn a_schema_is_read_as_it_is_written() {
    assert!(Schema::from_text("not a schema").is_err());
    // Elsewhere, objects in parts of a schema are closed one by one, so that nothing fits all parts.
    let parts = schema(
        r#"{"allOf": [{"type": "object", "properties": {"a": {"type": "number"}}}, {"type": "object", "properties": {"b": {"type": "string"}}}]}"#,
    );
    assert!(accepts(&parts, r#"{"a": 1, "b": "x"}"#));
    // And a dialect is no reason to refuse every answer.
    let newest = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}"#;
    assert!(accepts(&schema(newest), r#"{"a": "b"}"#));
    // In the newest drafts a format says nothing, unless somebody wants it to.
    let link = serde_json::json!({"type": "string", "format": "uri"});
    assert!(Schema::compile(&link).unwrap().accepts(&Tree::read("\"ab\"").unwrap()));
    let asserted = SchemaOptions::new().with_format_assertion(true);
    let strict = Schema::compile_with(&link, asserted).unwrap();
    assert!(!accepts(&strict, "\"ab\"") && accepts(&strict, "\"https://example.org/\""));
}
