//! The limits of what issues and rules say about a value.

use serde_json::{Value, json};
use wiremend_core::Outcome;
use wiremend_schema::{FitOptions, Schema};

fn compile(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap()
}

pub(crate) fn issues() {
    let schema = compile(&json!({"items": {"type": "integer"}}));
    let issues = |count: usize| {
        let text = format!("[{}]", vec!["\"x\""; count].join(","));
        schema.fit(text.as_bytes(), &FitOptions::new()).issues().len()
    };
    assert_eq!((issues(999), issues(1_000), issues(1_200)), (999, 1_000, 1_000));
}

pub(crate) fn named_values() {
    let schema = compile(&json!({"enum": ["b", "c".repeat(4_000)]}));
    let fit = |filler: usize| {
        let text = format!("\"{}{}\"", "C".repeat(4_000), "!".repeat(filler));
        schema.fit(text.as_bytes(), &FitOptions::new()).outcome()
    };
    assert_eq!(
        (fit(0), fit(96), fit(97)),
        (Outcome::Repaired, Outcome::Repaired, Outcome::Invalid)
    );
}

/// Once enough names were compared, options come as the schema lists them.
pub(crate) fn compared_names() {
    let mut options: Vec<String> =
        (0..99).map(|n| format!("option {}", "abc".repeat(n + 1))).collect();
    options.push("qqqqzzzz".to_owned());
    let schema = compile(&json!({"items": {"enum": options}}));
    let text = format!("[{}]", vec!["\"qqqq???zzzz\""; 400].join(","));
    let fitted = schema.fit(text.as_bytes(), &FitOptions::new());
    let nearest = |at: usize| fitted.issues()[at].to_string().contains("\"qqqqzzzz\"");
    assert_eq!((fitted.issues().len(), nearest(0), nearest(399)), (400, true, false));
}
