//! What callers may rely on: codes, threads, formats, and reports as JSON.

use std::{error::Error, fmt::Display, str::FromStr};

use serde_json::json;
use wiremend_core::{JsonType, RepairKind};
use wiremend_schema::{
    Applied, Cause, Change, Cursor, Draft, EarlyIssue, Expected, FitOptions, Fitted, Fitter, Issue,
    IssueCode, Node, NodeState, ParallelCall, ParseAsError, Received, Registry, RegistryError,
    Rendering, Rule, Rules, Schema, SchemaError, SchemaLimits, SchemaOptions, SharedRegistry,
    Snapshot, Standing, Tree, TreeError, UnknownCode,
};

fn coded<T>(all: &[T], code: impl Fn(&T) -> &str, what: &str)
where
    T: FromStr<Err = UnknownCode> + Display + PartialEq + std::fmt::Debug,
{
    assert!(!all.is_empty());
    for own in all {
        assert_eq!(code(own).parse::<T>().as_ref(), Ok(own));
        assert_eq!(own.to_string(), code(own));
        assert!(
            code(own).bytes().all(|byte| b"abcdefghijklmnopqrstuvwxyz0123456789-".contains(&byte))
        );
    }
    let error = "no such code".parse::<T>().unwrap_err();
    assert_eq!(error.to_string(), format!("no such {what}"));
}

#[test]
fn every_code_is_printed_and_read() {
    coded(Rule::ALL, |rule| rule.code(), "rule");
    coded(IssueCode::ALL, |code| code.code(), "issue code");
    coded(Standing::ALL, |standing| standing.code(), "standing");
    coded(NodeState::ALL, |state| state.code(), "node state");
    coded(Draft::ALL, |draft| draft.code(), "draft");
    coded(JsonType::ALL, |kind| kind.code(), "JSON type");
    let causes = [Cause::Rule(Rule::WrapInArray), Cause::Syntax(RepairKind::MissingComma)];
    coded(&causes, |cause| cause.code(), "rule or repair");
    assert!(IssueCode::ALL.windows(2).all(|pair| pair[0].code() < pair[1].code()));
}

#[test]
fn everything_can_be_sent_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<(Schema, SchemaLimits, SchemaOptions, SchemaError, Draft)>();
    shared::<(Registry, SharedRegistry, RegistryError, ParallelCall)>();
    shared::<(FitOptions, Fitted, Applied, Change, Cause, Rule, Rules, ParseAsError)>();
    shared::<(Cursor, Fitter, EarlyIssue, Standing, NodeState, Expected<'_>, Snapshot<'_>)>();
    shared::<(Tree<'_>, Node<'_>, TreeError, Issue, IssueCode, Received, Rendering, UnknownCode)>();
}

#[test]
fn an_error_that_prints_its_cause_has_no_source() {
    let schema = Schema::from_text("{").unwrap_err();
    let parse = ParseAsError::Schema(schema.clone());
    assert_eq!(parse.to_string(), schema.to_string());
    assert!(parse.source().is_none() && schema.source().is_none());
    let tools = json!([{"name": "f", "parameters": {"type": "strin"}}]);
    let error = Registry::from_tools(&tools).unwrap_err();
    assert!(error.to_string().contains("the schema is not valid") && error.source().is_none());
}

#[test]
fn formats_are_asserted_on_request() {
    let drafts =
        ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"];
    for (draft, by_default) in drafts.into_iter().zip([true, false]) {
        let schema =
            json!({"$schema": draft, "properties": {"day": {"type": "string", "format": "date"}}});
        let wrong = Tree::read(r#"{"day": "2024/1/5"}"#).unwrap();
        let compile = |options| Schema::compile_with(&schema, options).unwrap();
        assert_eq!(compile(SchemaOptions::new()).accepts(&wrong), !by_default);
        assert!(compile(SchemaOptions::new().with_format_assertion(false)).accepts(&wrong));
        let asserting = compile(SchemaOptions::new().with_format_assertion(true));
        assert_eq!(asserting.validate(&wrong)[0].code(), IssueCode::Format);
        // Subschemas assert the format too, so that a rule can fix the value.
        let fitted = asserting.fit(wrong.text().as_bytes(), &FitOptions::new());
        assert_eq!(fitted.text(), Some(r#"{"day": "2024-01-05"}"#));
        let mut stream = Fitter::new(&asserting, FitOptions::new());
        stream.push(br#"{"day": "tomorrow", "n": 1}"#);
        assert_eq!(stream.cursor().early_issues()[0].issue().code(), IssueCode::Format);
    }
    let tools = json!([{"name": "f", "parameters": {"properties": {"d": {"format": "date"}}}}]);
    let options = SchemaOptions::new().with_format_assertion(true);
    let registry = Registry::from_tools_with(&tools, options).unwrap();
    let schema = registry.resolve(Some("f"), None).schema().unwrap();
    assert!(!schema.accepts(&Tree::read(r#"{"d": "x"}"#).unwrap()));
    let limits = SchemaOptions::new().with_limits(SchemaLimits::new().with_nodes(1));
    assert!(matches!(
        Schema::compile_with(&json!({"type": "object"}), limits),
        Err(SchemaError::TooManyNodes { limit: 1, .. })
    ));
}

#[cfg(feature = "serde")]
#[test]
fn reports_have_the_spelling_of_the_command_line() {
    let schema =
        Schema::compile(&json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]}))
            .unwrap();
    let fitted = schema.fit(br#"{"n": "3"}"#, &FitOptions::new());
    let change = json!({"code": "string-to-number", "risk": "exact", "start": 6, "end": 9, "after": "3", "path": "$.n"});
    let applied = json!({
        "rule": "string-to-number", "risk": "exact", "path": "$.n", "schema_path": "/properties/n",
        "start": 6, "end": 9, "before": "\"3\"", "after": "3",
    });
    assert_eq!(
        serde_json::to_value(&fitted).unwrap(),
        json!({
            "outcome": "repaired", "json": r#"{"n": 3}"#, "repairs": [change], "issues": [],
            "coerced": [applied], "cut_at": null,
        })
    );
    let fitted = schema.fit(br#"{"n": "many"}"#, &FitOptions::new());
    let issue = json!({
        "code": "type", "pointer": "/n", "path": "$.n", "expected": "integer", "received": "string",
        "message": "/n: expected integer, got string \"many\"",
        "schema_path": "/properties/n/type", "start": 6, "end": 12,
    });
    assert_eq!(serde_json::to_value(fitted.issues()).unwrap(), json!([issue]));
    let strict = wiremend_core::MendOptions::new().with_policy(wiremend_core::Policy::STRICT);
    let mut stream = Fitter::new(&schema, FitOptions::new().with_mending(strict));
    stream.push(br#"{"n": []}"#);
    let issue = serde_json::to_value(&stream.cursor().early_issues()[0]).unwrap();
    assert_eq!((&issue["standing"], &issue["offset"]), (&json!("lost"), &json!(6)));
    assert_eq!((&issue["code"], &issue["pointer"]), (&json!("type"), &json!("/n")));
    assert_eq!(serde_json::to_value(Rule::WrapInArray).unwrap(), json!("wrap-in-array"));
    assert_eq!(
        serde_json::to_value(Cause::Rule(Rule::WrapInArray)).unwrap(),
        json!("wrap-in-array")
    );
}
