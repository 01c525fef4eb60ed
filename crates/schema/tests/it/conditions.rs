//! The conditions of each rule: further cases that it fixes, similar cases that it must leave
//! alone, and what no rule does.

use wiremend_core::Outcome;
use wiremend_schema::{FitOptions, Fitted, Rule, Rules, Schema};

/// Enables all rules, including those that are off by default.
fn fit(schema: &str, input: &str) -> Fitted {
    let rules = Rule::ALL.iter().fold(Rules::new(), |rules, rule| rules.with(*rule));
    let options = FitOptions::new().with_rules(rules).with_name("lookup");
    Schema::from_text(schema).unwrap().fit(input.as_bytes(), &options)
}

/// A rule, a schema, a value, and the expected result.
#[rustfmt::skip]
const MENDED: &[(Rule, &str, &str, &str)] = &[
    (Rule::Arithmetic, r#"{"properties": {"n": {"type": "number"}}}"#, r#"{"n": "(10 + 2) / 4"}"#, r#"{"n": 3}"#),
    (Rule::CurrencyUnitStrip, r#"{"properties": {"n": {"type": "number"}}}"#, r#"{"n": "12 kg"}"#, r#"{"n": 12}"#),
    (Rule::CurrencyUnitStrip, r#"{"properties": {"n": {"type": "integer"}}}"#, r#"{"n": "12px"}"#, r#"{"n": 12}"#),
    (Rule::CsvEnumToArray, r#"{"type": "array", "items": {"enum": ["a", "b"]}}"#, r#""a, b""#, r#"["a", "b"]"#),
    (Rule::DateWords, r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"d": {"type": "string", "format": "date"}}}"#, r#"{"d": 1704412800}"#, r#"{"d": "2024-01-05"}"#),
    (Rule::DottedKeys, r#"{"properties": {"a.b": {"type": "integer"}}, "required": ["a.b"], "additionalProperties": false}"#, r#"{"a": {"b": 1}}"#, r#"{"a.b": 1}"#),
    (Rule::EnumLeadingToken, r#"{"enum": ["RED", "BLUE"]}"#, r#""RED (the warm one)""#, r#""RED""#),
    (Rule::EnumNormalise, r#"{"enum": ["RED", "BLUE"]}"#, r#""**Red**.""#, r#""RED""#),
    (Rule::EnumScalarType, r#"{"enum": ["1", "2"]}"#, "1", r#""1""#),
    (Rule::FormatTrim, r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"u": {"type": "string", "format": "uri"}}}"#, r#"{"u": "[http://a.example](http://a.example)"}"#, r#"{"u": "http://a.example"}"#),
    (Rule::FormatTrim, r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"m": {"type": "string", "format": "email"}}}"#, r#"{"m": "mailto:a@b.org"}"#, r#"{"m": "a@b.org"}"#),
    (Rule::KeyNormalise, r#"{"properties": {"max_results": {"type": "integer"}}, "required": ["max_results"]}"#, r#"{"max results": 1}"#, r#"{"max_results": 1}"#),
    (Rule::KeyAlias, r#"{"properties": {"path": {"type": "string", "title": "File name"}}, "required": ["path"]}"#, r#"{"file_name": "x"}"#, r#"{"path": "x"}"#),
    (Rule::MissingEnvelope, r#"{"type": "object", "properties": {"item": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}}, "required": ["item"]}"#, r#"{"a": 1}"#, r#"{"item": {"a": 1}}"#),
    (Rule::PairsToMap, r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#, r#"[{"name": "a", "value": 1}]"#, r#"{"a": 1}"#),
    (Rule::SingleElement, r#"{"properties": {"o": {"type": "object", "required": ["a"]}}}"#, r#"{"o": [{"a": 1}]}"#, r#"{"o": {"a": 1}}"#),
    (Rule::StringToBool, r#"{"properties": {"b": {"type": "boolean"}}}"#, r#"{"b": " FALSE "}"#, r#"{"b": false}"#),
    (Rule::StringToNumber, r#"{"properties": {"n": {"type": "number"}}}"#, r#"{"n": "1e3"}"#, r#"{"n": 1e3}"#),
    (Rule::StringUnfence, r#"{"properties": {"s": {"type": "string", "pattern": "^[a-z]+$"}}}"#, r#"{"s": "```\nabc\n```"}"#, r#"{"s": "abc"}"#),
    (Rule::Thousands, r#"{"properties": {"n": {"type": "number"}}}"#, r#"{"n": "1,234.56"}"#, r#"{"n": 1234.56}"#),
    (Rule::Thousands, r#"{"properties": {"n": {"type": "integer"}}}"#, r#"{"n": "1_234"}"#, r#"{"n": 1234}"#),
    (Rule::Thousands, r#"{"properties": {"n": {"type": "integer"}}}"#, r#"{"n": "1 234 567"}"#, r#"{"n": 1234567}"#),
    (Rule::UnwrapEnvelope, r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#, r#"{"$PARAMETER_NAME": {"a": 1}}"#, r#"{"a": 1}"#),
    (Rule::UnwrapEnvelope, r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#, r#"{"json_tool_call": {"a": 1}}"#, r#"{"a": 1}"#),
    (Rule::UnwrapEnvelope, r#"{"title": "Reply", "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#, r#"{"Reply": {"a": 1}}"#, r#"{"a": 1}"#),
    (Rule::UnwrapStringified, r#"{"properties": {"l": {"type": "array", "items": {"type": "integer"}}}}"#, r#"{"l": "[1,2"}"#, r#"{"l": [1,2]}"#),
    (Rule::UnwrapStringified, r#"{"properties": {"o": {"type": "object", "properties": {"a": {"type": "integer"}}}}}"#, r#"{"o": "{'a':1}"}"#, r#"{"o": {"a":1}}"#),
    (Rule::YesNoBool, r#"{"properties": {"b": {"type": "boolean"}}}"#, r#"{"b": "Off"}"#, r#"{"b": false}"#),
];

#[test]
fn further_cases_are_fixed() {
    let mut broken = Vec::new();
    for (rule, schema, input, output) in MENDED {
        let fitted = Schema::from_text(schema)
            .unwrap()
            .fit(input.as_bytes(), &FitOptions::new().with_name("lookup"));
        let used = fitted.applied().iter().any(|a| a.rule() == *rule);
        if !used || fitted.text() != Some(*output) {
            broken.push(format!("{rule}: {input} became {:?}", fitted.text()));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A rule, a schema, a value, and why the rule must not apply to it.
#[rustfmt::skip]
const LEFT_ALONE: &[(Rule, &str, &str, &str)] = &[
    (Rule::BoolToString, r#"{"properties": {"s": {"enum": ["yes", "no"]}}}"#, r#"{"s": true}"#, "the list has no such word"),
    (Rule::ConstFill, r#"{"properties": {"kind": {"const": "a"}, "n": {}}}"#, r#"{"n": 1}"#, "it is optional"),
    (Rule::CsvEnumToArray, r#"{"type": "array", "items": {"enum": ["a", "b"]}}"#, r#""a, c""#, "one part is not an enum value"),
    (Rule::CsvToArray, r#"{"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}}"#, r#""a, B""#, "one part is not valid"),
    (Rule::CurrencyUnitStrip, r#"{"properties": {"n": {"type": "number"}}}"#, r#"{"n": "$5 to $6"}"#, "two numbers"),
    (Rule::CurrencyUnitStrip, r#"{"properties": {"n": {"type": "number", "description": "The distance in km"}}}"#, r#"{"n": "12 parsecs"}"#, "a unit that is not the one described"),
    (Rule::DottedKeys, r#"{"properties": {"a.b": {"type": "integer"}, "a": {"type": "object", "properties": {"b": {}}}}}"#, r#"{"a.b": "x"}"#, "a key with a dot is declared"),
    (Rule::DropUnknown, r#"{"properties": {"a": {"type": "integer"}}}"#, r#"{"a": "x", "note": 1}"#, "the object is open"),
    (Rule::DropUnknown, r#"{"properties": {"a": {"type": "integer"}}, "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": false}"#, r#"{"a": "1", "x-b": 1}"#, "a pattern declares it"),
    (Rule::EmptyObjectToArray, r#"{"properties": {"l": {"type": "array", "minItems": 1}}, "required": ["l"]}"#, r#"{"l": {}}"#, "items are expected"),
    (Rule::EmptyPlaceholder, r#"{"properties": {"o": {"type": "object", "required": ["a"]}}}"#, r#"{"o": {}}"#, "an object is expected"),
    (Rule::EmptyPlaceholder, r#"{"properties": {"n": {"type": "integer"}}, "required": ["n"]}"#, r#"{"n": {}}"#, "it is required"),
    (Rule::EnumNormalise, r#"{"enum": ["red", "RED"]}"#, r#""Red""#, "two enum values are alike"),
    (Rule::EnumNormalise, r#"{"enum": [true, null]}"#, r#""TRUE""#, "no enum value is a string"),
    (Rule::EnumScalarType, r#"{"enum": [1, 1.5]}"#, r#""1.50""#, "another spelling"),
    (Rule::EnumSingleList, r#"{"type": "array", "items": {"enum": ["RED"]}, "minItems": 2}"#, r#"["RED"]"#, "a list is expected"),
    (Rule::FenceInString, r#"{"properties": {"s": {"type": "string", "maxLength": 3}}}"#, r#"{"s": "```json\n[1]\n```"}"#, "a string is expected"),
    (Rule::FillDefault, r#"{"properties": {"a": {"type": "integer"}, "limit": {"type": "integer", "default": "ten"}}, "required": ["a", "limit"]}"#, r#"{"a": 1}"#, "the default is not valid"),
    (Rule::FillDefault, r#"{"properties": {"a": {"type": "integer"}, "limit": {"default": 1}}, "required": ["a"]}"#, r#"{"a": "1"}"#, "it is optional"),
    (Rule::FormatTrim, r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"u": {"type": "string", "format": "uri"}}}"#, r#"{"u": "[here](http://a.example)"}"#, "the words are not the address"),
    (Rule::KeyAlias, r#"{"properties": {"path": {"type": "string", "x-aliases": ["file"]}}, "required": ["path"]}"#, r#"{"path": 1, "file": "x"}"#, "the target is there"),
    (Rule::KeyNormalise, r#"{"properties": {"user_name": {"type": "string"}}, "required": ["user_name"], "patternProperties": {"^user": {}}}"#, r#"{"userName": "x"}"#, "a pattern declares the key"),
    (Rule::KeyTypo, r#"{"properties": {"limit": {"type": "integer"}}, "required": ["limit"]}"#, r#"{"limitt": "many"}"#, "the value is not valid there"),
    (Rule::KeyTypo, r#"{"properties": {"ab": {"type": "integer"}}, "required": ["ab"]}"#, r#"{"ac": 1}"#, "the name is short"),
    (Rule::MapToPairs, r#"{"type": "array", "items": {"type": "object", "properties": {"from": {"type": "string"}, "to": {"type": "string"}}, "required": ["from", "to"]}}"#, r#"{"a": "b"}"#, "either could be the key"),
    (Rule::MissingEnvelope, r#"{"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "array"}}, "required": ["a", "b"]}"#, "[1]", "two candidates"),
    (Rule::NullToEmpty, r#"{"properties": {"l": {"type": "array", "minItems": 1}}, "required": ["l"]}"#, r#"{"l": null}"#, "items are expected"),
    (Rule::NullToEmpty, r#"{"properties": {"o": {"type": "object", "required": ["a"]}}, "required": ["o"]}"#, r#"{"o": null}"#, "properties are expected"),
    (Rule::NullWords, r#"{"properties": {"n": {"type": "integer"}}, "required": ["n"]}"#, r#"{"n": "N/A"}"#, "it is required"),
    (Rule::NumberToString, r#"{"properties": {"s": {"enum": ["1", "2"]}}}"#, r#"{"s": 3}"#, "the list has no such text"),
    (Rule::NumberToString, r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"s": {"type": "string", "format": "date"}}}"#, r#"{"s": 5}"#, "the format does not take it"),
    (Rule::PairsToMap, r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "integer"}}"#, r#"[["a", 1]]"#, "properties are declared"),
    (Rule::PlaceholderObject, r#"{"properties": {"o": {"type": "object", "required": ["a"]}}}"#, r#"{"o": {"value": 1}}"#, "an object is expected"),
    (Rule::PositionalArray, r#"{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]}"#, r#"["x", "y"]"#, "the properties are of one type"),
    (Rule::RenameSoleExtra, r#"{"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]}"#, r#"{"c": "x"}"#, "two are missing"),
    (Rule::SchemaEchoRoot, r#"{"type": "object", "properties": {"a": {"type": "integer"}, "properties": {"type": "object"}}, "required": ["a"]}"#, r#"{"properties": {"a": 1}}"#, "a property has that name"),
    (Rule::SinkNested, r#"{"properties": {"o": {"type": "object", "properties": {"a": {}}, "required": ["a"]}, "p": {"type": "object", "properties": {"a": {}}, "required": ["a"]}}}"#, r#"{"o": {}, "p": {}, "a": 1}"#, "two places"),
    (Rule::SingleElement, r#"{"type": "array", "items": {"type": "integer"}, "minItems": 2}"#, "[5]", "a list is expected"),
    (Rule::StringToBool, r#"{"properties": {"b": {"type": ["boolean", "string"]}, "n": {"type": "integer"}}}"#, r#"{"b": "true", "n": "1"}"#, "a string is allowed"),
    (Rule::StringToNumber, r#"{"properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^[a-z]+$"}]}}}"#, r#"{"n": "007"}"#, "leading zeros"),
    (Rule::StringUnfence, r#"{"properties": {"s": {"type": "string", "maxLength": 3}}}"#, r#"{"s": "`abc`"}"#, "free text"),
    (Rule::Thousands, r#"{"properties": {"n": {"type": "number"}}}"#, r#"{"n": "1,234"}"#, "one group could be decimals"),
    (Rule::UnwrapDoubleEncodedRoot, r#"{"anyOf": [{"type": "object", "required": ["a"]}, {"type": "string", "maxLength": 3}]}"#, r#""{\"b\": 1}""#, "the inside is not valid"),
    (Rule::UnwrapEnvelope, r#"{"type": "object", "properties": {"arguments": {"type": "object"}, "a": {"type": "integer"}}, "required": ["a"]}"#, r#"{"arguments": {"a": 1}}"#, "the tool has that property"),
    (Rule::UnwrapStringified, r#"{"properties": {"l": {"type": "array", "items": {"type": "integer"}}}}"#, r#"{"l": "[1, {}]"}"#, "the inside is not valid"),
    (Rule::UnwrapStringified, r#"{"properties": {"s": {"type": "string", "maxLength": 2}}}"#, r#"{"s": "[1]"}"#, "a string is expected"),
    (Rule::WrapInArray, r#"{"properties": {"l": {"type": "array", "items": {"type": "integer"}, "minItems": 2}}}"#, r#"{"l": 5}"#, "more items are expected"),
    (Rule::WrapInArray, r#"{"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}"#, "[1, 2]", "an item of a list"),
    (Rule::WrapText, r#"{"type": "object", "properties": {"a": {"type": "string", "format": "date"}}, "required": ["a"]}"#, "some day", "the property has a form"),
    (Rule::YesNoBool, r#"{"properties": {"b": {"type": ["boolean", "string"]}, "n": {"type": "integer"}}}"#, r#"{"b": "yes", "n": "1"}"#, "a string is allowed"),
    (Rule::YesNoBool, r#"{"properties": {"b": {"enum": ["yes", true]}, "n": {"type": "integer"}}}"#, r#"{"b": "yes", "n": "1"}"#, "the list has the word"),
];

#[test]
fn rules_respect_their_conditions() {
    let mut broken = Vec::new();
    for (rule, schema, input, why) in LEFT_ALONE {
        let fitted = fit(schema, input);
        if fitted.text().is_some() && fitted.applied().iter().any(|a| a.rule() == *rule) {
            broken.push(format!("{rule} ({why}): {input} became {:?}", fitted.text()));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// No rule may do any of this, even if all rules and any risk are allowed.
#[test]
fn no_rule_does_what_is_forbidden() {
    let object = |property: &str| {
        format!(r#"{{"type": "object", "properties": {{"v": {property}}}, "required": ["v"]}}"#)
    };
    for (property, input, what) in [
        (r#"{"type": "integer"}"#, r#"{"v": 1.5}"#, "rounding"),
        (r#"{"type": "integer"}"#, r#"{"v": "8.85e-12"}"#, "rounding"),
        (r#"{"type": "number"}"#, r#"{"v": "The answer is 10,000"}"#, "a number out of prose"),
        (r#"{"type": "number"}"#, r#"{"v": "3,14"}"#, "a decimal comma"),
        (
            r#"{"type": "array", "items": {"type": "integer"}}"#,
            r#"{"v": [1, "x", 3]}"#,
            "dropping an item",
        ),
        (r#"{"type": "array", "maxItems": 1}"#, r#"{"v": [1, 2]}"#, "dropping an item"),
        (r#"{"type": "string", "maxLength": 2}"#, r#"{"v": "abc"}"#, "cutting a string"),
        (r#"{"type": "integer", "maximum": 5}"#, r#"{"v": 6}"#, "cutting a number"),
        (r#"{"type": "array"}"#, "{}", "an empty list for what is missing"),
        (r#"{"type": "string"}"#, "{}", "an empty string for what is missing"),
        (r#"{"type": "object"}"#, "{}", "an empty object for what is missing"),
        (r#"{"type": "string"}"#, r#"{"v": null}"#, "an empty string for null"),
        (r#"{"type": "integer"}"#, r#"{"v": [5, 6]}"#, "the first of several"),
        (r#"{"enum": ["RED", "BLUE"]}"#, r#"{"v": "INFRARED"}"#, "a part of a word"),
        (r#"{"enum": ["RED", "BLUE"]}"#, r#"{"v": "RED or BLUE"}"#, "one of two that are named"),
        (
            r#"{"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}"#,
            r#"{"v": [10, 20]}"#,
            "a list for each item",
        ),
    ] {
        let fitted = fit(&object(property), input);
        assert_eq!(fitted.text(), None, "{what}: {input}");
        assert_eq!(fitted.outcome(), Outcome::Invalid, "{what}: {input}");
    }
}
