//! Whole numbers that are not plain digits: after fitting, they can be read as integers.

use serde_json::{Value, json};
use wiremend_core::{Mender, Options, Outcome, Policy, Risk};
use wiremend_schema::{
    Applied, Cause, Cursor, FitOptions, Fitted, NodeState, Rule, Rules, Schema, apply_changes,
};

fn fit(schema: &Value, input: &str) -> Fitted {
    Schema::compile(schema).unwrap().fit(input.as_bytes(), &FitOptions::new())
}

fn text(schema: &Value, input: &str) -> String {
    let fitted = fit(schema, input);
    let text = fitted.text().unwrap_or_else(|| panic!("{input}: {fitted:?}")).to_owned();
    assert_eq!(apply_changes(input.as_bytes(), fitted.changes()).as_deref(), Some(text.as_str()));
    assert_eq!(fit(schema, &text).outcome(), Outcome::Unchanged, "{text}");
    text
}

fn integer() -> Value {
    json!({"type": "integer"})
}

#[test]
fn a_whole_number_can_be_read_as_an_integer() {
    for input in ["3.0", "3e0", "300e-2", "0.3E+1", "\"3.0\"", "\" 3.00 \"", "[3.0]"] {
        assert_eq!(text(&integer(), input), "3", "{input}");
        assert_eq!(serde_json::from_str::<i64>(&text(&integer(), input)).unwrap(), 3);
    }
    for input in ["-0.0", "-0", "0.0", "0e7", "\"-0\""] {
        assert_eq!(text(&integer(), input), "0", "{input}");
    }
    let huge = "123456789012345678901234567890";
    assert_eq!(text(&integer(), &format!("{huge}.0")), huge);
    assert_eq!(
        text(&integer(), "9007199254740993.0"),
        "9007199254740993",
        "no float is in between"
    );
}

#[test]
fn the_change_is_recorded_and_exact() {
    let schema = json!({"properties": {"n": {"type": "integer"}}});
    let fitted = fit(&schema, r#"{"n": 3.0, "m": 3.0}"#);
    assert_eq!(fitted.text(), Some(r#"{"n": 3, "m": 3.0}"#));
    assert_eq!((fitted.outcome(), fitted.risk()), (Outcome::Repaired, Some(Risk::Exact)));
    assert_eq!(fitted.mended(), Some(r#"{"n": 3.0, "m": 3.0}"#));
    let [change] = fitted.changes() else { panic!("{fitted:?}") };
    assert_eq!(change.cause(), Cause::Rule(Rule::IntegralFloat));
    assert_eq!((change.start()..change.end(), change.path().to_string().as_str()), (6..9, "$.n"));
    let [applied] = fitted.applied() else { panic!("{fitted:?}") };
    assert_eq!((applied.before(), applied.after()), ("3.0", "3"));
    assert_eq!(applied.schema_path(), "/properties/n");
    // A repair of the syntax and another rule form one change with this one.
    let fitted = fit(&schema, "{n: '3.0'}");
    assert_eq!(fitted.text(), Some(r#"{"n": 3}"#));
    let rules: Vec<Rule> = fitted.applied().iter().map(Applied::rule).collect();
    assert_eq!(rules, [Rule::StringToNumber, Rule::IntegralFloat]);
    assert!(fitted.applied().iter().all(|applied| (applied.start(), applied.end()) == (4, 9)));
}

#[test]
fn other_numbers_keep_their_spelling() {
    for schema in [
        json!({"type": "number"}),
        json!({}),
        json!({"type": ["integer", "number"]}),
        json!({"type": "number", "multipleOf": 1}),
        json!({"enum": [3]}),
    ] {
        assert_eq!(fit(&schema, "3.0").outcome(), Outcome::Unchanged, "{schema}");
    }
    assert_eq!(fit(&integer(), "3.5").text(), None);
    // Numbers that no integer type can represent are not expanded.
    for input in ["1e65", "1e999999999", "1e99999999999999999999"] {
        assert_eq!(fit(&integer(), input).text(), Some(input));
    }
}

#[test]
fn every_alternative_must_accept_only_whole_numbers() {
    let union = |branches: Value| json!({"properties": {"n": {"anyOf": branches}}});
    let n = r#"{"n": 3.0}"#;
    for branches in [
        json!([{"type": "integer"}, {"type": "null"}]),
        json!([{"type": "integer"}, {"type": "string"}]),
        json!([{"type": "integer"}, {"type": "number", "maximum": 2}]),
        json!([{"type": "integer"}, {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}]),
    ] {
        assert_eq!(text(&union(branches.clone()), n), r#"{"n": 3}"#, "{branches}");
    }
    for branches in [
        json!([{"type": "integer"}, {"type": "number"}]),
        json!([{"type": "integer"}, {}]),
        json!([{"type": "integer", "maximum": 2}, {"type": "number"}]),
    ] {
        assert_eq!(fit(&union(branches.clone()), n).text(), Some(n), "{branches}");
    }
    // The branches of an enclosing union.
    let kinds = json!({"oneOf": [
        {"properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]},
        {"properties": {"kind": {"const": "b"}, "n": {"type": "number"}}, "required": ["kind"]},
    ]});
    assert_eq!(text(&kinds, r#"{"kind": "a", "n": 1.0}"#), r#"{"kind": "a", "n": 1}"#);
    assert_eq!(text(&kinds, r#"{"kind": "b", "n": 1.0}"#), r#"{"kind": "b", "n": 1.0}"#);
}

#[test]
fn lists_maps_references_and_conditions_are_followed() {
    for (schema, input, output) in [
        (json!({"items": {"type": "integer"}}), "[1.0, 2, 3e0]", "[1, 2, 3]"),
        (
            json!({"prefixItems": [{"type": "number"}, {"type": "integer"}]}),
            "[1.0, 1.0, 1.0]",
            "[1.0, 1, 1.0]",
        ),
        (json!({"additionalProperties": {"type": "integer"}}), r#"{"a": 1.0}"#, r#"{"a": 1}"#),
        (
            json!({"patternProperties": {"^n": {"type": "integer"}, "^s": {"type": "string"}}, "additionalProperties": false}),
            r#"{"n": 1.0}"#,
            r#"{"n": 1}"#,
        ),
        (
            json!({"patternProperties": {"^n": {"type": "integer"}}}),
            r#"{"n": 1.0, "m": 1.0}"#,
            // Only the validator knows which keys a pattern matches, and other members may be
            // anything.
            r#"{"n": 1.0, "m": 1.0}"#,
        ),
        (
            json!({"$defs": {"t": {"properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"}),
            r#"{"n": 1.0, "next": {"next": {"n": 2.0}}}"#,
            r#"{"n": 1, "next": {"next": {"n": 2}}}"#,
        ),
        (
            json!({"properties": {"n": {"type": "number"}}, "allOf": [{"properties": {"n": {"type": "integer"}}}]}),
            r#"{"n": 1.0}"#,
            r#"{"n": 1}"#,
        ),
        (
            json!({"if": {"required": ["a"]}, "then": {"properties": {"n": {"type": "integer"}}}, "else": {"properties": {"n": {"type": "number"}}}}),
            r#"{"n": 1.0, "a": 1}"#,
            r#"{"n": 1, "a": 1}"#,
        ),
        (
            json!({"properties": {"n": {"type": "integer", "default": 7.0}, "m": {}}, "required": ["n"]}),
            r#"{"m": 1}"#,
            r#"{"m": 1, "n": 7}"#,
        ),
    ] {
        assert_eq!(text(&schema, input), output, "{schema}");
    }
}

#[test]
fn the_rule_can_be_switched_off() {
    let schema = json!({"properties": {"n": {"type": "integer"}}});
    let input = r#"{"n": 3.0}"#;
    let compiled = Schema::compile(&schema).unwrap();
    for options in [
        FitOptions::new().with_rules(Rules::new().without(Rule::IntegralFloat)),
        FitOptions::new().with_rules(Rules::new().without_at("/n", Rule::IntegralFloat)),
        FitOptions::new().with_rules(Rules::none()),
        FitOptions::new().with_engine(Options::new().with_policy(Policy::STRICT)),
    ] {
        let fitted = compiled.fit(input.as_bytes(), &options);
        assert_eq!((fitted.text(), fitted.outcome()), (Some(input), Outcome::Unchanged));
        let mut cursor = Cursor::new(&compiled, &options);
        let mut mender = Mender::new(options.engine().clone());
        mender.push(input.as_bytes(), &mut cursor);
        assert_eq!(cursor.root().unwrap().to_string(), r#"{"n":3.0}"#);
    }
    for off in [json!(false), json!({"off": ["integral-float"]})] {
        let inside = json!({"properties": {"n": {"type": "integer", "x-wiremend": off}}});
        assert_eq!(fit(&inside, input).outcome(), Outcome::Unchanged);
        let above = json!({"x-wiremend": off, "properties": {"n": {"type": "integer"}}});
        assert_eq!(fit(&above, input).outcome(), Outcome::Unchanged);
    }
}

#[test]
fn a_cursor_shows_the_digits_and_does_not_withdraw_them() {
    let schema = json!({"properties": {
        "n": {"type": "integer"}, "s": {"type": "integer"}, "f": {"type": "number"},
        "u": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
    }});
    let compiled = Schema::compile(&schema).unwrap();
    let input = r#"{"n": 3.0, "s": "4.0", "f": 5.0, "u": 6.0, "x": 7.0}"#;
    let mut cursor = Cursor::new(&compiled, &FitOptions::new());
    let mut mender = Mender::new(Options::new());
    mender.push(input.as_bytes(), &mut cursor);
    mender.finish(&mut cursor);
    let root = cursor.root().unwrap();
    assert_eq!(root.to_string(), r#"{"n":3,"s":4,"f":5.0,"u":6.0,"x":7.0}"#);
    let state = |key: &str| root.member(key).unwrap().state();
    assert_eq!(
        (state("n"), state("s"), state("f")),
        (NodeState::Final, NodeState::Final, NodeState::Final)
    );
    assert_eq!((state("u"), state("x")), (NodeState::Tentative, NodeState::Tentative));
    let fitted = compiled.fit(input.as_bytes(), &FitOptions::new());
    assert_eq!(fitted.changes(), cursor.changes());
}

#[test]
fn the_work_is_bounded_whatever_the_unions() {
    let mut item = json!({"type": "integer"});
    for _ in 0..10 {
        item = json!({"anyOf": [{"type": "array", "items": item.clone()}, item]});
    }
    let limits = wiremend_schema::SchemaLimits::new().with_nodes(1 << 20).with_depth(127);
    let schema = Schema::compile_within(&json!({"type": "array", "items": item}), limits).unwrap();
    let many = format!("[{}]", vec!["1.0"; 2_000].join(","));
    let fitted = schema.fit(many.as_bytes(), &FitOptions::new());
    assert!(fitted.text().is_some());
    let deep = format!("{}1.0{}", "[".repeat(100), "]".repeat(100));
    let nested = json!({"$defs": {"l": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/l"}}]}}, "$ref": "#/$defs/l"});
    assert_eq!(
        fit(&nested, &deep).text(),
        Some(deep.as_str()),
        "beyond 64 levels nothing is changed"
    );
}
