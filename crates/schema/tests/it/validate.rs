//! Compiling schemas, validating trees, and rendering issues.

use serde_json::{Value, json};
use wiremend_schema::{Draft, IssueCode, Rendering, Schema, SchemaError, SchemaLimits, Tree};

fn lines(schema: &Value, text: &str) -> Vec<String> {
    let schema = Schema::compile(schema).unwrap();
    schema.validate(&Tree::read(text).unwrap()).iter().map(ToString::to_string).collect()
}

#[test]
fn every_draft_is_known() {
    let drafts = [
        ("http://json-schema.org/draft-04/schema#", Draft::Draft4),
        ("http://json-schema.org/draft-06/schema#", Draft::Draft6),
        ("http://json-schema.org/draft-07/schema#", Draft::Draft7),
        ("https://json-schema.org/draft/2019-09/schema", Draft::Draft201909),
        ("https://json-schema.org/draft/2020-12/schema", Draft::Draft202012),
    ];
    for (name, draft) in drafts {
        let schema = Schema::compile(&json!({"$schema": name, "type": "integer"})).unwrap();
        assert_eq!(schema.draft(), draft);
        assert!(schema.accepts(&Tree::read("7").unwrap()));
        assert!(!schema.accepts(&Tree::read("7.5").unwrap()));
    }
    assert_eq!(Schema::compile(&json!(true)).unwrap().draft(), Draft::Draft202012);
}

#[test]
fn a_bad_schema_is_refused_when_it_is_compiled() {
    let refused = |schema: Value| Schema::compile(&schema).unwrap_err();
    assert!(matches!(refused(json!({"type": "strin"})), SchemaError::Refused { .. }));
    assert!(matches!(refused(json!({"$ref": "#/$defs/none"})), SchemaError::Refused { .. }));
    assert!(matches!(refused(json!({"$ref": "http://x.invalid/a"})), SchemaError::Refused { .. }));
    assert!(matches!(refused(json!({"pattern": "("})), SchemaError::Refused { .. }));
    assert!(matches!(Schema::from_text("{"), Err(SchemaError::NotJson { .. })));
}

#[test]
fn a_schema_has_limits() {
    let many: serde_json::Map<String, Value> =
        (0..513).map(|n| (format!("p{n}"), json!(true))).collect();
    let error = Schema::compile(&json!({"properties": many})).unwrap_err();
    assert!(matches!(error, SchemaError::TooManyProperties { limit: 512, .. }));
    let error = Schema::compile(&json!({"enum": vec![1; 5_000]})).unwrap_err();
    assert!(matches!(error, SchemaError::TooManyNodes { limit: 5_000, .. }));
    let deep = (0..65).fold(json!({}), |inner, _| json!({ "not": inner }));
    assert!(matches!(Schema::compile(&deep), Err(SchemaError::TooDeep { limit: 64, .. })));
    let limits = SchemaLimits::new().with_depth(70);
    assert!(Schema::compile_within(&deep, limits).is_ok());
}

#[test]
fn recursion_in_the_schema_ends() {
    let schema = json!({
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}}},
        "$ref": "#/$defs/node",
    });
    assert_eq!(
        lines(&schema, r#"{"next": {"next": {"n": "x"}}}"#),
        [r#"/next/next/n: expected integer, got string "x""#]
    );
    assert!(lines(&json!({"allOf": [{"$ref": "#"}], "type": "object"}), "{}").is_empty());
}

#[test]
fn patterns_have_bounded_work() {
    let schema = Schema::compile(&json!({"pattern": "^(?=(a+)+$)(a+)+b\\1$"})).unwrap();
    let text = format!("\"{}!\"", "a".repeat(5_000));
    assert!(!schema.accepts(&Tree::read(&text).unwrap()));
}

#[test]
fn numbers_are_compared_by_their_digits() {
    let schema = json!({"type": "integer", "maximum": 9_007_199_254_740_993_u64});
    assert!(lines(&schema, "9007199254740993").is_empty());
    assert_eq!(lines(&schema, "9007199254740994").len(), 1);
    assert!(lines(&json!({"type": "integer"}), "1e400").is_empty());
    assert!(lines(&json!({"enum": [1]}), "1.0").is_empty());
    assert_eq!(lines(&json!({"uniqueItems": true}), "[1, 1.0]").len(), 1);
}

#[test]
fn issues_come_in_document_order() {
    let schema = json!({
        "properties": {
            "b": {"type": "string"},
            "a": {"type": "array", "items": {"type": "integer"}},
            "limit": {"type": "integer"},
        },
        "required": ["limit"],
        "additionalProperties": false,
    });
    assert_eq!(
        lines(&schema, r#"{"b": 1, "limitt": 3, "a": [1, "2"], "zzz": 0}"#),
        [
            r#"/: missing required property "limit" (integer); did you mean "limit"? you sent "limitt""#,
            "/b: expected string, got number 1",
            r#"/a/1: expected integer, got string "2""#,
            "/zzz: unexpected property",
        ]
    );
}

#[test]
fn unions_are_reduced_to_their_best_branch() {
    let schema = json!({"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "s": {"type": "string"}}, "required": ["kind", "s"]},
        {"type": "null"},
    ]});
    assert_eq!(lines(&schema, r#"{"kind": "b", "s": 1}"#), ["/s: expected string, got number 1"]);
    assert_eq!(lines(&schema, "7"), ["/: expected object or null, got number 7"]);
}

#[test]
fn enums_list_their_options_nearest_first() {
    let schema = json!({"enum": ["celsius", "kelvin", "fahrenheit"]});
    assert_eq!(
        lines(&schema, r#""Fahrenheit degrees""#),
        [
            r#"/: expected one of "fahrenheit", "celsius", "kelvin", got string "Fahrenheit degrees""#
        ]
    );
    let many: Vec<String> = (0..14).map(|n| format!("o{n}")).collect();
    assert!(lines(&json!({"enum": many}), "1")[0].contains("and 4 more"));
}

#[test]
fn typical_mistakes_have_hints() {
    let nested = json!({"items": {"type": "array", "items": {"type": "integer"}}});
    assert_eq!(
        lines(&nested, "[10]"),
        [
            "/0: expected array, got number 10; expected a list of lists of integers, e.g. [[10, 20], [30, 40]]"
        ]
    );
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let issues = Schema::compile(&schema).unwrap();
    let text = schema.to_string();
    let issues = issues.validate(&Tree::read(&text).unwrap());
    assert_eq!(issues.len(), 1);
    assert_eq!(issues[0].code(), IssueCode::SchemaEcho);
}

#[test]
fn an_issue_has_every_kind_of_location() {
    let schema =
        Schema::compile(&json!({"properties": {"a b": {"items": {"minLength": 2}}}})).unwrap();
    let text = r#"{"a b": ["xy", "z"]}"#;
    let issues = schema.validate(&Tree::read(text).unwrap());
    let issue = &issues[0];
    assert_eq!((issue.pointer(), issue.path().to_string().as_str()), ("/a b/1", r#"$["a b"][1]"#));
    assert_eq!(issue.schema_path(), "/properties/a b/items/minLength");
    assert_eq!(&text[issue.span()], r#""z""#);
    let json: Value = serde_json::from_str(&Rendering::new().json(&issues)).unwrap();
    assert_eq!(json[0]["code"], "length");
    assert_eq!(json[0]["received"], r#"string "z""#);
}

#[test]
fn renderings_are_bounded() {
    let schema = Schema::compile(&json!({"items": {"type": "integer"}})).unwrap();
    let text = format!("[{}1.5]", format!("{:?},", "x".repeat(1_000)).repeat(20));
    let issues = schema.validate(&Tree::read(&text).unwrap());
    assert_eq!(issues.len(), 21);
    let lines_for_model = Rendering::new().for_model(&issues);
    assert_eq!(lines_for_model.lines().count(), 9);
    assert!(lines_for_model.ends_with("+13 more"));
    assert!(lines_for_model.lines().all(|line| line.chars().count() < 200), "{lines_for_model}");
    let masked = Rendering::new().with_masked(true).for_model(&issues);
    assert!(!masked.contains('x') || !masked.contains("xx"));
}
