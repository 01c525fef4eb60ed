//! Converts one scalar to what its part of the schema expects.
//!
//! These are pure functions of a token and a [`Part`]: fitting calls them for a node, and a cursor
//! for a token that has just ended. They only make proposals; the caller validates them. Numbers, listed values and
//! strings with a format have files of their own; the rest is here.

mod enumeration;
mod format;
mod number;

use wiremend_core::Risk;

use crate::{
    Rule,
    compile::Types,
    part::Part,
    tree::{JsonType, Node, quoted},
};

pub(crate) use enumeration::LONGEST as LONGEST_CHOICE;

/// Collects the proposals of all rules for a scalar that is not valid at `part`, in the order of
/// the rules.
pub(crate) fn coerce(scalar: Scalar<'_>, part: &Part<'_>) -> Vec<Coerced> {
    let mut proposals = Vec::new();
    if let Some(choices) = part.choices() {
        enumeration::propose(scalar, choices, &mut proposals);
    }
    let allowed = part.allowed();
    match scalar {
        Scalar::String(text) if !allowed.has(Types::STRING) => {
            if part.options().is_none() {
                boolean_from_text(text, allowed, &mut proposals);
                number::from_text(text, part, &mut proposals);
            }
        }
        Scalar::String(text) => {
            format::propose(text, part, &mut proposals);
            format::propose_epoch(text, part, &mut proposals);
        }
        Scalar::Number(raw) => {
            boolean_from_number(raw, allowed, &mut proposals);
            number::whole(raw, part, &mut proposals);
            string_from_number(raw, part, &mut proposals);
            format::propose_epoch(raw, part, &mut proposals);
        }
        Scalar::Boolean(value) => string_from_boolean(value, part, &mut proposals),
        Scalar::Null => {}
    }
    proposals
}

/// The same for a node. Objects and arrays get no proposals.
pub(crate) fn coerce_node(node: Node<'_>, part: &Part<'_>) -> Vec<Coerced> {
    match node.kind() {
        JsonType::String => {
            let text = node.as_str().unwrap_or_default();
            coerce(Scalar::String(&text), part)
        }
        JsonType::Number => coerce(Scalar::Number(node.raw()), part),
        JsonType::Boolean => coerce(Scalar::Boolean(node.raw() == "true"), part),
        JsonType::Null => coerce(Scalar::Null, part),
        JsonType::Array | JsonType::Object => Vec::new(),
    }
}

fn boolean_from_text(text: &str, allowed: Types, proposals: &mut Vec<Coerced>) {
    if !allowed.has(Types::BOOLEAN) {
        return;
    }
    let word = text.trim().to_ascii_lowercase();
    match word.as_str() {
        "true" | "false" => proposals.push(Coerced::new(Rule::StringToBool, word)),
        "yes" | "y" | "on" | "1" => proposals.push(Coerced::new(Rule::YesNoBool, "true")),
        "no" | "n" | "off" | "0" => proposals.push(Coerced::new(Rule::YesNoBool, "false")),
        _ => {}
    }
}

fn boolean_from_number(raw: &str, allowed: Types, proposals: &mut Vec<Coerced>) {
    if !allowed.has(Types::BOOLEAN) {
        return;
    }
    // `1.0` is the same number as `1`.
    match raw.strip_suffix(".0").unwrap_or(raw) {
        "1" => proposals.push(Coerced::new(Rule::YesNoBool, "true")),
        "0" => proposals.push(Coerced::new(Rule::YesNoBool, "false")),
        _ => {}
    }
}

/// Keeps the digits as they are written: `1.10` becomes `"1.10"`.
fn string_from_number(raw: &str, part: &Part<'_>, proposals: &mut Vec<Coerced>) {
    if takes_text(part) && !part.allowed().has(Types::NUMBER) {
        proposals.push(Coerced::new(Rule::NumberToString, quoted(raw)));
    }
}

fn string_from_boolean(value: bool, part: &Part<'_>, proposals: &mut Vec<Coerced>) {
    if takes_text(part) {
        let text = if value { r#""true""# } else { r#""false""# };
        proposals.push(Coerced::new(Rule::BoolToString, text));
    }
}

/// Whether the schema accepts a string here without listing its value; listed values have rules of
/// their own.
fn takes_text(part: &Part<'_>) -> bool {
    part.allowed().has(Types::STRING) && part.options().is_none()
}

/// Words that mean that there is no value.
const NOTHING: [&str; 10] = [
    "",
    "null",
    "none",
    "nil",
    "n/a",
    "na",
    "undefined",
    "unknown",
    "not specified",
    "not provided",
];

/// Whether the word means that there is no value. It is trimmed, and in lower case.
pub(crate) fn means_nothing(word: &str) -> bool {
    NOTHING.contains(&word)
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::{Schema, part::Part, tree::Tree};

    /// The proposals for a JSON scalar under a schema, as `code: text`, whether they are valid or
    /// not.
    pub(crate) fn proposals(schema: &str, value: &str) -> Vec<String> {
        let schema = Schema::from_text(schema).unwrap();
        let tree = Tree::read(value).unwrap();
        let proposals = super::coerce_node(tree.root(), &Part::root(&schema));
        proposals.iter().map(|found| format!("{}: {}", found.rule, found.text)).collect()
    }

    const BOOLEAN: &str = r#"{"type": "boolean"}"#;

    #[test]
    fn words_for_truth_become_booleans() {
        assert_eq!(proposals(BOOLEAN, r#"" True\n""#), ["string-to-bool: true"]);
        assert_eq!(proposals(BOOLEAN, r#""FALSE""#), ["string-to-bool: false"]);
        assert_eq!(proposals(BOOLEAN, r#""Yes""#), ["yes-no-bool: true"]);
        assert_eq!(proposals(BOOLEAN, r#""off""#), ["yes-no-bool: false"]);
        assert_eq!(proposals(BOOLEAN, "1"), ["yes-no-bool: true"]);
        assert_eq!(proposals(BOOLEAN, "0.0"), ["yes-no-bool: false"]);
    }

    #[test]
    fn other_words_and_numbers_do_not() {
        for value in [r#""ja""#, r#""truthy""#, r#""""#, r#""2""#, "2", "1.5", "-1", "null"] {
            assert!(proposals(BOOLEAN, value).is_empty(), "{value}");
        }
        assert!(
            proposals(r#"{"type": ["boolean", "string"], "minLength": 9}"#, r#""true""#).is_empty()
        );
        assert!(proposals(r#"{"enum": ["yes", true]}"#, r#""no""#).is_empty());
    }

    #[test]
    fn numbers_and_booleans_keep_their_spelling() {
        let string = r#"{"type": "string"}"#;
        assert_eq!(proposals(string, "1.10"), [r#"number-to-string: "1.10""#]);
        assert_eq!(proposals(string, "1e3"), [r#"number-to-string: "1e3""#]);
        assert_eq!(proposals(string, "true"), [r#"bool-to-string: "true""#]);
    }

    #[test]
    fn allowed_nulls_and_numbers_are_kept() {
        assert!(proposals(r#"{"type": "string"}"#, "null").is_empty());
        assert!(proposals(r#"{"type": ["string", "number"], "minimum": 5}"#, "1").is_empty());
        assert!(proposals(r#"{"type": "array"}"#, "1").is_empty());
    }
}

// A scalar, and what a rule proposes for it.

/// A scalar, as it is written in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar<'a> {
    Boolean(bool),
    Null,
    /// The number's text.
    Number(&'a str),
    /// The decoded content.
    String(&'a str),
}

/// A replacement that a rule proposes for a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coerced {
    pub(crate) rule: Rule,
    /// The risk of the rule, or a higher one.
    pub(crate) risk: Risk,
    /// The replacement, as a JSON text.
    pub(crate) text: String,
}

impl Coerced {
    fn new(rule: Rule, text: impl Into<String>) -> Self {
        Self { rule, risk: rule.risk(), text: text.into() }
    }

    fn with_risk(mut self, risk: Risk) -> Self {
        self.risk = self.risk.max(risk);
        self
    }
}
