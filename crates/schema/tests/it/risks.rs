//! A risk is a promise about the possible readings. If the value leaves another reading open, the
//! risk of a rule is higher.

use wiremend_core::{Options, Policy, Risk};
use wiremend_schema::{FitOptions, Fitted, Rule, Schema};

fn fit(schema: &str, input: &str) -> Fitted {
    Schema::from_text(schema).unwrap().fit(input.as_bytes(), &FitOptions::new())
}

/// The fitted text, the first rule that was used, and the highest risk.
fn found(schema: &str, input: &str) -> Option<(String, Rule, Risk)> {
    let fitted = fit(schema, input);
    let text = fitted.text()?.to_owned();
    let risk = fitted.risk()?;
    // A policy that allows only this risk gives the same result.
    let engine = Options::new().with_policy(Policy::PERMISSIVE.at_most(risk));
    let again = Schema::from_text(schema).unwrap();
    let again = again.fit(input.as_bytes(), &FitOptions::new().with_engine(engine));
    assert_eq!(again.text(), Some(text.as_str()), "{input}");
    Some((text, fitted.applied()[0].rule(), risk))
}

/// An input, the fitted text, the first rule that was used, and the risk.
type Case<'c> = (&'c str, Option<(&'c str, Rule, Risk)>);

fn check(schema: &str, cases: &[Case<'_>]) {
    for (input, expected) in cases {
        let expected = expected.map(|(text, rule, risk)| (text.to_owned(), rule, risk));
        assert_eq!(found(schema, input), expected, "{schema} {input}");
    }
}

#[test]
fn an_object_is_wrapped_by_the_names_in_it() {
    let declared = r#"{"type": "object", "properties": {"item": {"type": "object", "properties":
        {"a": {"type": "integer"}, "b": {"type": "integer"}}}}, "required": ["item"]}"#;
    let rule = Rule::MissingEnvelope;
    check(
        declared,
        &[
            (r#"{"a": 1, "b": 2}"#, Some((r#"{"item": {"a": 1, "b": 2}}"#, rule, Risk::Exact))),
            (r#"{"a": 1, "c": 2}"#, Some((r#"{"item": {"a": 1, "c": 2}}"#, rule, Risk::Likely))),
            (r#"{"c": 1, "d": 2}"#, Some((r#"{"item": {"c": 1, "d": 2}}"#, rule, Risk::Guess))),
            (
                r#"{"thing": {"a": 1}}"#,
                Some((r#"{"item": {"a": 1}}"#, Rule::RenameSoleExtra, Risk::Guess)),
            ),
        ],
    );
    let nullable = r#"{"type": "object", "properties": {"item": {"anyOf": [{"type": "null"},
        {"type": "object", "properties": {"a": {"type": "integer"}}}]}}, "required": ["item"]}"#;
    check(nullable, &[(r#"{"a": 1}"#, Some((r#"{"item": {"a": 1}}"#, rule, Risk::Exact)))]);
}

#[test]
fn an_open_map_has_no_names_to_go_by() {
    let open = r#"{"type": "object", "properties": {"price_list": {"type": "object"}}, "required": ["price_list"]}"#;
    let renamed = r#"{"price_list": {"apple": 1.5}}"#;
    check(
        open,
        &[
            (r#"{"prices": {"apple": 1.5}}"#, Some((renamed, Rule::RenameSoleExtra, Risk::Guess))),
            (
                r#"{"apple": 1.5, "pear": 2}"#,
                Some((
                    r#"{"price_list": {"apple": 1.5, "pear": 2}}"#,
                    Rule::MissingEnvelope,
                    Risk::Guess,
                )),
            ),
        ],
    );
    let numbers = r#"{"type": "object", "properties": {"price_list": {"type": "object", "additionalProperties":
        {"type": "number"}}}, "required": ["price_list"]}"#;
    check(
        numbers,
        &[
            (r#"{"prices": {"apple": 1.5}}"#, Some((renamed, Rule::RenameSoleExtra, Risk::Guess))),
            (r#"{"apple": 1.5}"#, Some((renamed, Rule::MissingEnvelope, Risk::Guess))),
        ],
    );
}

#[test]
fn a_scalar_is_wrapped_by_its_form() {
    let of = |property: &str| {
        format!(r#"{{"type": "object", "properties": {{"p": {property}}}, "required": ["p"]}}"#)
    };
    let rule = Rule::MissingEnvelope;
    check(
        &of(r#"{"enum": ["RED"]}"#),
        &[(r#""RED""#, Some((r#"{"p": "RED"}"#, rule, Risk::Exact)))],
    );
    check(
        &of(r#"{"type": "string", "pattern": "^[a-z]+$"}"#),
        &[(r#""abc""#, Some((r#"{"p": "abc"}"#, rule, Risk::Likely)))],
    );
    check(
        &of(r#"{"type": "string"}"#),
        &[(r#""abc""#, Some((r#"{"p": "abc"}"#, rule, Risk::Guess)))],
    );
    check(
        &of(r#"{"type": "array"}"#),
        &[("[1, 2]", Some((r#"{"p": [1, 2]}"#, rule, Risk::Exact)))],
    );
}

#[test]
fn a_value_of_another_type_is_wrapped_on_a_guess() {
    let schema =
        r#"{"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p"]}"#;
    let text = r#"{"p": "1"}"#;
    check(
        schema,
        &[
            ("1", Some((text, Rule::MissingEnvelope, Risk::Guess))),
            ("[1]", Some((text, Rule::SingleElement, Risk::Guess))),
        ],
    );
}

#[test]
fn a_comma_may_belong_to_one_number() {
    let integers = r#"{"type": "array", "items": {"type": "integer"}}"#;
    let rule = Rule::CsvEnumToArray;
    check(
        integers,
        &[
            (r#""1, 234""#, Some(("[1, 234]", rule, Risk::Likely))),
            (r#""3,14""#, Some(("[3, 14]", rule, Risk::Likely))),
            (r#""1,2,3""#, Some(("[1, 2, 3]", rule, Risk::Likely))),
            (r#""1,234""#, None),
            (r#""1,234,567""#, None),
        ],
    );
    let numbers = r#"{"type": "array", "items": {"type": "number"}}"#;
    check(numbers, &[(r#""3,14""#, Some(("[3, 14]", rule, Risk::Guess)))]);
}

#[test]
fn null_may_be_the_name_of_a_value_or_no_value() {
    let schema = |required: &str| {
        format!(
            r#"{{"type": "object", "properties": {{"mode": {{"enum": ["none", "fast"]}}}}, "required": {required}}}"#
        )
    };
    let input = r#"{"mode": null}"#;
    check(
        &schema(r#"["mode"]"#),
        &[(input, Some((r#"{"mode": "none"}"#, Rule::EnumScalarType, Risk::Guess)))],
    );
    check(&schema("[]"), &[(input, Some(("{}", Rule::DropNullOptional, Risk::Likely)))]);
    check(
        r#"{"enum": ["null", "fast"]}"#,
        &[("null", Some((r#""null""#, Rule::EnumScalarType, Risk::Likely)))],
    );
}

#[test]
fn a_constant_is_exact_unless_it_chooses_a_branch() {
    let one = r#"{"type": "object", "properties": {"kind": {"const": "a"}, "n": {}}, "required": ["kind", "n"]}"#;
    let filled = r#"{"n": 1, "kind": "a"}"#;
    check(one, &[(r#"{"n": 1}"#, Some((filled, Rule::ConstFill, Risk::Exact)))]);
    let other = r#"{"type": "object", "properties": {"kind": {"const": "b"}, "m": {}}, "required": ["kind", "m"]}"#;
    check(
        &format!(r#"{{"anyOf": [{one}, {other}]}}"#),
        &[(r#"{"n": 1}"#, Some((filled, Rule::ConstFill, Risk::Likely)))],
    );
    check(
        &format!(r#"{{"anyOf": [{one}, {{"type": "null"}}]}}"#),
        &[(r#"{"n": 1}"#, Some((filled, Rule::ConstFill, Risk::Exact)))],
    );
}

#[test]
fn dropping_text_beside_a_value_is_lossy_unless_it_is_from_the_schema() {
    let schema = r#"{"properties": {"n": {"type": "integer", "description": "How many"}}}"#;
    let (three, rule) = (r#"{"n": 3}"#, Rule::PlaceholderObject);
    check(
        schema,
        &[
            (r#"{"n": {"value": 3}}"#, Some((three, rule, Risk::Exact))),
            (r#"{"n": {"type": "integer", "value": 3}}"#, Some((three, rule, Risk::Exact))),
            (r#"{"n": {"value": 3, "description": "How many"}}"#, Some((three, rule, Risk::Exact))),
            (r#"{"n": {"value": 3, "description": "at most"}}"#, Some((three, rule, Risk::Lossy))),
        ],
    );
    let root = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#;
    let (one, rule) = (r#"{"a": 1}"#, Rule::SchemaEchoRoot);
    check(
        root,
        &[
            (
                r#"{"type": "object", "properties": {"a": 1}, "required": ["a"]}"#,
                Some((one, rule, Risk::Exact)),
            ),
            (r#"{"title": "Mine", "properties": {"a": 1}}"#, Some((one, rule, Risk::Lossy))),
        ],
    );
    let rule = Rule::UnwrapEnvelope;
    check(
        root,
        &[
            (r#"{"data": {"a": 1}}"#, Some((one, rule, Risk::Likely))),
            (r#"{"id": 7, "data": {"a": 1}}"#, Some((one, rule, Risk::Lossy))),
        ],
    );
}

#[test]
fn an_object_for_a_list_may_be_an_item_or_lack_its_first() {
    let pairs = |key: &str, value: &str| {
        format!(
            r#"{{"type": "array", "items": {{"type": "object", "properties": {{"{key}": {{"type": "string"}},
            "{value}": {{"type": "integer"}}}}, "required": ["{key}", "{value}"]}}}}"#
        )
    };
    let rule = Rule::MapToPairs;
    check(
        &pairs("key", "value"),
        &[(r#"{"a": 1}"#, Some((r#"[{"key": "a", "value": 1}]"#, rule, Risk::Exact)))],
    );
    check(
        &pairs("city", "days"),
        &[(r#"{"Oslo": 1}"#, Some((r#"[{"city": "Oslo", "days": 1}]"#, rule, Risk::Guess)))],
    );
    let rule = Rule::NumericKeysToArray;
    check(
        r#"{"type": "array"}"#,
        &[
            (r#"{"0": "a", "1": "b"}"#, Some((r#"["a", "b"]"#, rule, Risk::Exact))),
            (r#"{"1": "a", "2": "b"}"#, Some((r#"["a", "b"]"#, rule, Risk::Likely))),
        ],
    );
}

#[test]
fn a_string_may_be_meant_where_another_string_is_valid() {
    let list = r#"{"type": "array", "items": {"type": "integer"}}"#;
    let rule = Rule::UnwrapStringified;
    let of = |property: &str| format!(r#"{{"properties": {{"l": {property}}}}}"#);
    let (input, output) = (r#"{"l": "[1, 2]"}"#, r#"{"l": [1, 2]}"#);
    check(&of(list), &[(input, Some((output, rule, Risk::Exact)))]);
    check(
        &of(&format!(r#"{{"anyOf": [{list}, {{"type": "string", "maxLength": 3}}]}}"#)),
        &[(input, Some((output, rule, Risk::Likely)))],
    );
}
