//! Malicious schemas and values.

use serde_json::{Map, Value, json};
use wiremend_core::Outcome;
use wiremend_schema::{
    FitOptions, IssueCode, Registry, RegistryError, Schema, SchemaError, SchemaLimits,
    SchemaOptions, Tree,
};

/// A pattern that backtracks without end on a few letters that it does not match.
const ENDLESS: &str = r"(.*)*\1z";

fn letters() -> String {
    "a".repeat(20) + "!"
}

#[test]
fn a_pattern_that_cannot_be_decided_is_an_issue_wherever_it_is() {
    let (endless, text) = (json!({"pattern": ENDLESS}), letters());
    let member = format!(r#"{{"s": "{text}"}}"#);
    let name = format!(r#"{{"{text}": 1}}"#);
    let cases = [
        (endless.clone(), format!("\"{text}\""), IssueCode::Pattern),
        (json!({"properties": {"s": endless}}), member.clone(), IssueCode::Pattern),
        (json!({"additionalProperties": endless}), member.clone(), IssueCode::Pattern),
        (json!({"items": endless}), format!("[1, \"{text}\"]"), IssueCode::Pattern),
        (json!({"items": {"items": endless}}), format!("[[\"{text}\"]]"), IssueCode::Pattern),
        (json!({"patternProperties": {ENDLESS: false}}), name.clone(), IssueCode::Pattern),
        (json!({"propertyNames": endless}), name, IssueCode::Name),
        (json!({"not": {"properties": {"s": endless}}}), member.clone(), IssueCode::Pattern),
        (json!({"anyOf": [{"properties": {"s": endless}}, false]}), member, IssueCode::Pattern),
    ];
    for (schema, input, code) in cases {
        let schema = Schema::compile(&schema).unwrap();
        let tree = Tree::read(&input).unwrap();
        assert!(!schema.accepts(&tree), "{input}");
        assert_eq!(schema.validate(&tree)[0].code(), code, "{input}");
        let fitted = schema.fit(input.as_bytes(), &FitOptions::new());
        assert_eq!((fitted.outcome(), fitted.text()), (Outcome::Invalid, None), "{input}");
        assert_eq!(fitted.issues()[0].code(), code, "{input}");
    }
}

#[test]
fn a_schema_has_a_limit_on_bytes() {
    let compile = |schema: &Value, limits| Schema::compile_within(schema, limits).map(drop);
    let branches = |n: usize| json!({"anyOf": vec![json!(true); n]});
    assert!(compile(&branches(512), SchemaLimits::new()).is_ok());
    let error = compile(&branches(513), SchemaLimits::new()).unwrap_err();
    assert!(matches!(error, SchemaError::TooManyBranches { limit: 512, .. }), "{error}");
    assert!(compile(&branches(513), SchemaLimits::new().with_branches(600)).is_ok());

    let long = |n: usize| json!({"description": "x".repeat(n)});
    assert!(compile(&long((1 << 20) - 11), SchemaLimits::new()).is_ok());
    let error = compile(&long(1 << 20), SchemaLimits::new()).unwrap_err();
    assert!(matches!(error, SchemaError::TooLarge { limit: 1_048_576, .. }), "{error}");
    // Each of many values below one long key has a long pointer.
    let items: Vec<Value> = (0..100).map(|n| json!({"minimum": n})).collect();
    let deep = json!({"$defs": {("k".repeat(100_000)): {"allOf": items}}});
    let error = compile(&deep, SchemaLimits::new()).unwrap_err();
    assert!(matches!(error, SchemaError::TooLarge { .. }), "{error}");
    assert!(compile(&deep, SchemaLimits::new().with_bytes(10 << 20)).is_ok());

    let names: Map<String, Value> = (0..513).map(|n| (format!("^p{n}"), json!(true))).collect();
    let error = compile(&json!({"patternProperties": names}), SchemaLimits::new()).unwrap_err();
    assert!(matches!(error, SchemaError::TooManyProperties { limit: 512, .. }), "{error}");
}

#[test]
fn patterns_have_limits_individually_and_together() {
    let error = |schema: Value| Schema::compile(&schema).unwrap_err();
    let long = error(json!({"pattern": "a".repeat(8_193)}));
    assert!(matches!(long, SchemaError::PatternTooLarge { limit: 65_536, .. }), "{long}");
    assert!(Schema::compile(&json!({"pattern": "a".repeat(8_192)})).is_ok());
    let many: Vec<Value> =
        (0..9).map(|n| json!({"pattern": format!("{n}{}", "a".repeat(8_000))})).collect();
    let many = error(json!({"allOf": many}));
    assert!(matches!(many, SchemaError::PatternTooLarge { .. }), "{many}");
    // A pattern that is short, but large when compiled.
    let grown: Vec<Value> =
        (0..20).map(|n| json!({"pattern": format!("^(a{{100}}){{{}}}$", 40 + n)})).collect();
    let grown = error(json!({"allOf": grown}));
    assert!(matches!(grown, SchemaError::PatternTooLarge { .. }), "{grown}");
    // The same pattern counts only once.
    let same = vec![json!({"pattern": "b".repeat(7_000)}); 100];
    assert!(Schema::compile(&json!({"allOf": same})).is_ok());
}

#[test]
fn a_registry_has_a_limit_on_tools() {
    let tools = |n: usize, schema: Value| -> Value {
        (0..n).map(|n| json!({"name": format!("t{n}"), "inputSchema": schema})).collect()
    };
    assert!(Registry::from_tools(&tools(1_024, json!({}))).is_ok());
    let error = Registry::from_tools(&tools(1_025, json!({}))).unwrap_err();
    assert!(matches!(error, RegistryError::TooManyTools { limit: 1_024, .. }), "{error}");
    let few = SchemaOptions::new().with_limits(SchemaLimits::new().with_tools(2).with_nodes(10));
    assert!(Registry::from_tools_with(&tools(3, json!({})), few).is_err());
    // Each schema is small enough, but not all of them together.
    let limits = SchemaLimits::new().with_nodes(10);
    let options = SchemaOptions::new().with_limits(limits);
    let wide = tools(30, json!({"required": ["a", "b", "c", "d", "e", "f"]}));
    let error = Registry::from_tools_with(&wide, options).unwrap_err();
    assert!(matches!(error, RegistryError::TooManyNodes { limit: 200, .. }), "{error}");
    let texts: Vec<(String, &str)> = (0..1_025).map(|n| (format!("s{n}.json"), "true")).collect();
    let texts = texts.iter().map(|(name, text)| (name.as_str(), *text));
    assert!(matches!(Registry::from_texts(texts), Err(RegistryError::TooManyTools { .. })));
}

#[test]
fn cyclic_references_add_no_conditions() {
    let accepts = |schema: Value, text: &str| {
        Schema::compile(&schema).unwrap().accepts(&Tree::read(text).unwrap())
    };
    assert!(accepts(json!({"$ref": "#"}), "1"));
    let circle = json!({"$ref": "#/$defs/a", "$defs": {
        "a": {"allOf": [{"$ref": "#/$defs/b"}], "minimum": 3},
        "b": {"anyOf": [{"$ref": "#/$defs/a"}]},
    }});
    assert!(accepts(circle.clone(), "4"));
    assert!(!accepts(circle, "2"));
    // A chain of references that is longer than any stack.
    let mut definitions: Map<String, Value> = (0..1_500)
        .map(|n| (format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", n + 1)})))
        .collect();
    definitions.insert("d1500".into(), json!({"type": "integer"}));
    let chain = Schema::compile(&json!({"$ref": "#/$defs/d0", "$defs": definitions})).unwrap();
    let fitted = chain.fit(b"1", &FitOptions::new());
    assert_eq!(fitted.outcome(), Outcome::Overflow);
    assert_eq!(fitted.mended(), Some("1"));
}

#[test]
fn the_deepest_value_with_a_union_at_each_level_is_validated() {
    let node = json!({"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/list"}]});
    let schema = json!({"$ref": "#/$defs/node", "$defs": {
        "node": node, "list": {"allOf": [{"type": "array", "items": {"$ref": "#/$defs/node"}}]},
    }});
    let schema = Schema::compile(&schema).unwrap();
    let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(127), "]".repeat(127));
    assert!(schema.accepts(&Tree::read(&nested("1")).unwrap()));
    assert!(!schema.accepts(&Tree::read(&nested("1.5")).unwrap()));
}
