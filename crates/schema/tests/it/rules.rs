//! Each rule: where it applies, and similar cases that it must leave alone.

use std::collections::BTreeSet;

use wiremend_core::{Options, Outcome, Policy, Risk};
use wiremend_schema::{FitOptions, Fitted, Rule, Rules, Schema, apply_changes};

struct Case {
    rule: Rule,
    schema: &'static str,
    /// Inputs and their results.
    fires: &'static [(&'static str, &'static str)],
    /// Inputs to which the rule must not be applied.
    not: &'static [&'static str],
}

fn fit(schema: &str, input: &str, options: &FitOptions) -> Fitted {
    Schema::from_text(schema).unwrap().fit(input.as_bytes(), options)
}

/// Enables all rules, including those that are off by default.
fn every_rule() -> FitOptions {
    let rules = Rule::ALL.iter().fold(Rules::new(), |rules, rule| rules.with(*rule));
    FitOptions::new().with_rules(rules).with_name("lookup")
}

/// Enables the default rules and the rule under test.
fn with_rule(rule: Rule) -> FitOptions {
    FitOptions::new().with_rules(Rules::new().with(rule)).with_name("lookup")
}

const STRINGS: &str = r#"{"type": "array", "items": {"type": "string"}}"#;
const NUMBERS: &str = r#"{"type": "array", "items": {"type": "number"}}"#;
const TAGS: &str = r#"{"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"}}, "required": ["tags"]}"#;
const USER: &str = r#"{"type": "object", "properties": {"user_name": {"type": "string"}, "count": {"type": "integer"}}, "required": ["user_name", "count"]}"#;
const CLOSED: &str = r#"{"type": "object", "properties": {"limit": {"type": "integer"}, "query": {"type": "string"}}, "required": ["query"], "additionalProperties": false}"#;

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { rule: Rule::Arithmetic, schema: r#"{"properties": {"n": {"type": "number"}}}"#,
        fires: &[(r#"{"n": "2*3"}"#, r#"{"n": 6}"#)],
        not: &[r#"{"n": "2024-01-05"}"#, r#"{"n": "2*x"}"#] },
    Case { rule: Rule::BoolToString, schema: r#"{"properties": {"s": {"type": "string"}}}"#,
        fires: &[(r#"{"s": true}"#, r#"{"s": "true"}"#)],
        not: &[r#"{"s": null}"#] },
    Case { rule: Rule::ConstFill, schema: r#"{"properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]}"#,
        fires: &[(r#"{"n": 1}"#, r#"{"n": 1, "kind": "a"}"#), ("{}", r#"{"kind": "a"}"#)],
        not: &[r#"{"kind": "b"}"#, r#"{"kind": null}"#] },
    Case { rule: Rule::CsvEnumToArray, schema: NUMBERS,
        fires: &[(r#""1, 2,3.5""#, "[1, 2, 3.5]")],
        not: &[r#""1, two""#, r#""5""#, r#""1,,2""#] },
    Case { rule: Rule::CsvToArray, schema: TAGS,
        fires: &[(r#"{"tags": "a, b"}"#, r#"{"tags": ["a", "b"]}"#)],
        not: &[r#"{"tags": "Well, this is a sentence with words."}"#, r#"{"tags": "say \"a, b\""}"#, r#"{"tags": "one"}"#] },
    Case { rule: Rule::CurrencyUnitStrip, schema: r#"{"properties": {"price": {"type": "number"}}}"#,
        fires: &[(r#"{"price": "$1,234.56"}"#, r#"{"price": 1234.56}"#)],
        not: &[r#"{"price": "about $5"}"#, r#"{"price": "5 apples"}"#] },
    Case { rule: Rule::DateNormalise, schema: r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"d": {"type": "string", "format": "date"}}}"#,
        fires: &[(r#"{"d": "2024/1/5"}"#, r#"{"d": "2024-01-05"}"#)],
        not: &[r#"{"d": "01/02/2024"}"#, r#"{"d": "2024/2/31"}"#] },
    Case { rule: Rule::DatetimeSeparator, schema: r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"t": {"type": "string", "format": "date-time"}}}"#,
        fires: &[(r#"{"t": "2024-01-05 10:00:00Z"}"#, r#"{"t": "2024-01-05T10:00:00Z"}"#)],
        not: &[r#"{"t": "2024-01-05 10:00"}"#] },
    Case { rule: Rule::DateWords, schema: r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"d": {"type": "string", "format": "date"}}}"#,
        fires: &[(r#"{"d": "Jan 5, 2024"}"#, r#"{"d": "2024-01-05"}"#)],
        not: &[r#"{"d": "next Monday"}"#] },
    Case { rule: Rule::DedupeItems, schema: r#"{"items": {"type": "integer"}, "type": "array", "uniqueItems": true}"#,
        fires: &[("[1, 2, 1, 1.0]", "[1, 2]")],
        not: &[r#"[1, "x"]"#, "[[1], [1]]"] },
    Case { rule: Rule::DottedKeys, schema: r#"{"properties": {"a": {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}}, "required": ["a"]}"#,
        fires: &[(r#"{"a.b": 1}"#, r#"{"a": {"b": 1}}"#)],
        not: &[r#"{"a.c": 1}"#, r#"{"a": {}, "a.b": 1}"#] },
    Case { rule: Rule::DropNullOptional, schema: TAGS,
        fires: &[(r#"{"tags": [], "n": null}"#, r#"{"tags": []}"#), (r#"{"n": null, "tags": []}"#, r#"{"tags": []}"#)],
        not: &[r#"{"tags": null}"#, r#"{"tags": [null]}"#] },
    Case { rule: Rule::DropUnknown, schema: CLOSED,
        fires: &[(r#"{"query": "x", "note": 1}"#, r#"{"query": "x"}"#), (r#"{"a": 1, "query": "x", "b": 2, "c": 3}"#, r#"{"query": "x"}"#)],
        not: &[r#"{"quer": "x"}"#, r#"{"QUERY": "x"}"#] },
    Case { rule: Rule::EmptyObjectToArray, schema: TAGS,
        fires: &[(r#"{"tags": {}}"#, r#"{"tags": []}"#)],
        not: &[r#"{"tags": {"a": 1}}"#] },
    Case { rule: Rule::EmptyPlaceholder, schema: TAGS,
        fires: &[(r#"{"tags": [], "n": {}}"#, r#"{"tags": []}"#)],
        not: &[r#"{"tags": {}}"#, r#"{"tags": [], "n": {"a": 1}}"#] },
    Case { rule: Rule::EntityUnescape, schema: r#"{"properties": {"s": {"enum": ["a & b"]}}}"#,
        fires: &[(r#"{"s": "a &amp; b"}"#, r#"{"s": "a & b"}"#)],
        not: &[r#"{"s": "a &copy; b"}"#] },
    Case { rule: Rule::EnumLeadingToken, schema: r#"{"properties": {"c": {"enum": ["RED", "BLUE"]}}}"#,
        fires: &[(r#"{"c": "RED - the warm colour"}"#, r#"{"c": "RED"}"#)],
        not: &[r#"{"c": "RED or BLUE"}"#, r#"{"c": "INFRARED"}"#] },
    Case { rule: Rule::EnumNearest, schema: r#"{"properties": {"c": {"enum": ["kelvin", "celsius"]}}}"#,
        fires: &[(r#"{"c": "kelvni"}"#, r#"{"c": "kelvin"}"#)],
        not: &[r#"{"c": "kelp"}"#] },
    Case { rule: Rule::EnumNormalise, schema: r#"{"properties": {"c": {"enum": ["RED", "DARK_RED"]}}}"#,
        fires: &[(r#"{"c": " red "}"#, r#"{"c": "RED"}"#), (r#"{"c": "dark red"}"#, r#"{"c": "DARK_RED"}"#)],
        not: &[r#"{"c": "INFRARED"}"#, r#"{"c": 1}"#] },
    Case { rule: Rule::EnumScalarType, schema: r#"{"properties": {"n": {"enum": [1, 2]}}}"#,
        fires: &[(r#"{"n": "1"}"#, r#"{"n": 1}"#)],
        not: &[r#"{"n": "one"}"#, r#"{"n": "01"}"#] },
    Case { rule: Rule::EnumSingleList, schema: r#"{"properties": {"c": {"enum": ["RED", "BLUE"]}}}"#,
        fires: &[(r#"{"c": ["RED"]}"#, r#"{"c": "RED"}"#), (r#"{"c": ["red"]}"#, r#"{"c": "RED"}"#)],
        not: &[r#"{"c": ["RED", "BLUE"]}"#, r#"{"c": []}"#] },
    Case { rule: Rule::EnumWithinWords, schema: r#"{"properties": {"c": {"enum": ["RED", "BLUE"]}}}"#,
        fires: &[(r#"{"c": "the red one"}"#, r#"{"c": "RED"}"#)],
        not: &[r#"{"c": "not red"}"#, r#"{"c": "infrared light"}"#] },
    Case { rule: Rule::FenceInString, schema: TAGS,
        fires: &[(r#"{"tags": "```json\n[\"a\"]\n```"}"#, r#"{"tags": ["a"]}"#)],
        not: &[r#"{"tags": ["```json\n[]\n```"]}"#] },
    Case { rule: Rule::FillDefault, schema: r#"{"properties": {"a": {"type": "integer"}, "limit": {"type": "integer", "default": 10}, "o": {"default": 1}}, "required": ["a", "limit"]}"#,
        fires: &[(r#"{"a": 1}"#, r#"{"a": 1, "limit": 10}"#)],
        not: &[r#"{"limit": 1}"#, r#"{"a": 1, "limit": 5}"#] },
    Case { rule: Rule::FormatTrim, schema: r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"m": {"type": "string", "format": "email"}}}"#,
        fires: &[(r#"{"m": "<a@b.org>"}"#, r#"{"m": "a@b.org"}"#)],
        not: &[r#"{"m": "a at b.org"}"#] },
    Case { rule: Rule::FractionText, schema: r#"{"properties": {"n": {"type": "number"}, "i": {"type": "integer"}}}"#,
        fires: &[(r#"{"n": "1/2"}"#, r#"{"n": 0.5}"#)],
        not: &[r#"{"i": "1/2"}"#, r#"{"n": "1/2/3"}"#] },
    Case { rule: Rule::HoistNested, schema: r#"{"properties": {"o": {"type": "object"}, "a": {"type": "integer"}}, "required": ["a"]}"#,
        fires: &[(r#"{"o": {"a": 1}}"#, r#"{"o": {}, "a": 1}"#)],
        not: &[r#"{"o": {"a": "x"}}"#, r#"{"o": {"a": 1}, "p": {"a": 2}}"#] },
    Case { rule: Rule::IntegralFloat, schema: r#"{"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"n": {"type": "integer"}}}"#,
        fires: &[(r#"{"n": 1.0}"#, r#"{"n": 1}"#)],
        not: &[r#"{"n": 1.5}"#] },
    Case { rule: Rule::JoinArray, schema: r#"{"properties": {"s": {"type": "string"}}}"#,
        fires: &[],
        not: &[r#"{"s": ["a"]}"#, r#"{"s": ["a", 1]}"#] },
    Case { rule: Rule::JsonToString, schema: r#"{"properties": {"s": {"type": "string", "description": "The body, as JSON."}}}"#,
        fires: &[(r#"{"s": {"a":  1}}"#, r#"{"s": "{\"a\":  1}"}"#)],
        not: &[r#"{"s": null}"#] },
    Case { rule: Rule::JsonToText, schema: r#"{"properties": {"s": {"type": "string"}}}"#,
        fires: &[(r#"{"s": {"a": 1.10}}"#, r#"{"s": "{\"a\": 1.10}"}"#)],
        not: &[r#"{"s": null}"#] },
    Case { rule: Rule::KeyAlias, schema: r#"{"properties": {"path": {"type": "string", "x-aliases": ["file_path"]}}, "required": ["path"]}"#,
        fires: &[(r#"{"filePath": "x"}"#, r#"{"path": "x"}"#)],
        not: &[r#"{"file": "x"}"#, r#"{"file_path": 1, "filePath": "x"}"#] },
    Case { rule: Rule::KeyAttrLeak, schema: r#"{"properties": {"floors": {"type": "integer"}}, "required": ["floors"]}"#,
        fires: &[(r#"{"floors\" mode=\"json": 3}"#, r#"{"floors": 3}"#)],
        not: &[r#"{"floorspace": 3}"#] },
    Case { rule: Rule::KeyNormalise, schema: USER,
        fires: &[(r#"{"userName": "x", "COUNT": 1}"#, r#"{"user_name": "x", "count": 1}"#), (r#"{" user-name ": "x", "count": 1}"#, r#"{"user_name": "x", "count": 1}"#)],
        not: &[r#"{"userName": "x", "user-name": "y", "count": 1}"#, r#"{"userName": "x", "user_name": "y", "count": "z"}"#] },
    Case { rule: Rule::KeyTypo, schema: USER,
        fires: &[(r#"{"user_nmae": "x", "count": 1}"#, r#"{"user_name": "x", "count": 1}"#)],
        not: &[r#"{"nickname": "x", "count": 1}"#] },
    Case { rule: Rule::LinesToArray, schema: TAGS,
        fires: &[(r#"{"tags": "a\nb"}"#, r#"{"tags": ["a", "b"]}"#)],
        not: &[r#"{"tags": "a"}"#, r#"{"tags": "- a\nb"}"#] },
    Case { rule: Rule::ListMarksToArray, schema: TAGS,
        fires: &[(r#"{"tags": "- a\n- b"}"#, r#"{"tags": ["a", "b"]}"#), (r#"{"tags": "1. a\n2. b"}"#, r#"{"tags": ["a", "b"]}"#)],
        not: &[r#"{"tags": "- a"}"#, r#"{"tags": "a\n- b"}"#] },
    Case { rule: Rule::MapToPairs, schema: r#"{"type": "array", "items": {"type": "object", "properties": {"key": {"type": "string"}, "value": {"type": "integer"}}, "required": ["key", "value"]}}"#,
        fires: &[(r#"{"a": 1, "b": 2}"#, r#"[{"key": "a", "value": 1}, {"key": "b", "value": 2}]"#)],
        not: &[r#"{"a": "x"}"#, r#"{"key": "a", "value": 1}"#] },
    Case { rule: Rule::MissingEnvelope, schema: r#"{"type": "object", "properties": {"items": {"type": "array", "items": {"type": "integer"}}}, "required": ["items"]}"#,
        fires: &[("[1, 2]", r#"{"items": [1, 2]}"#)],
        not: &[r#"["a"]"#, "{}", r#"{"items": 1}"#] },
    Case { rule: Rule::NullToDefault, schema: r#"{"properties": {"limit": {"type": "integer", "default": 10}, "q": {"type": "string"}}, "required": ["limit", "q"]}"#,
        fires: &[(r#"{"limit": null, "q": "x"}"#, r#"{"limit": 10, "q": "x"}"#)],
        not: &[r#"{"limit": 1, "q": null}"#] },
    Case { rule: Rule::NullToEmpty, schema: TAGS,
        fires: &[(r#"{"tags": null}"#, r#"{"tags": []}"#)],
        not: &[r#"{"tags": [null]}"#] },
    Case { rule: Rule::NullWords, schema: r#"{"properties": {"n": {"type": "integer"}, "s": {"type": "string"}, "e": {"enum": ["none", "all"]}, "r": {"type": "integer"}}}"#,
        fires: &[(r#"{"s": "x", "n": "N/A"}"#, r#"{"s": "x"}"#), (r#"{"n": ""}"#, "{}")],
        not: &[r#"{"n": 1, "s": "N/A"}"#, r#"{"e": "None"}"#, r#"{"n": "never"}"#] },
    Case { rule: Rule::NumberToString, schema: r#"{"properties": {"s": {"type": "string"}, "p": {"type": "string", "pattern": "^[a-z]+$"}}}"#,
        fires: &[(r#"{"s": 1.10}"#, r#"{"s": "1.10"}"#)],
        not: &[r#"{"p": 1}"#] },
    Case { rule: Rule::NumericKeysToArray, schema: STRINGS,
        fires: &[(r#"{"0": "a", "1": "b"}"#, r#"["a", "b"]"#), (r#"{"1": "a"}"#, r#"["a"]"#)],
        not: &[r#"{"0": "a", "2": "b"}"#, r#"{"1": "b", "0": "a"}"#] },
    Case { rule: Rule::PairsToMap, schema: r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#,
        fires: &[(r#"[["a", 1], ["b", 2]]"#, r#"{"a": 1, "b": 2}"#), (r#"[{"key": "a", "value": 1}]"#, r#"{"a": 1}"#)],
        not: &[r#"[["a", 1], ["a", 2]]"#, "[[1, 2]]", "[]"] },
    Case { rule: Rule::Percent, schema: r#"{"properties": {"p": {"type": "number", "maximum": 100}, "s": {"type": "number", "maximum": 1}, "n": {"type": "number"}}}"#,
        fires: &[(r#"{"p": "50%"}"#, r#"{"p": 50}"#), (r#"{"s": "50%"}"#, r#"{"s": 0.5}"#)],
        not: &[r#"{"n": "50%"}"#] },
    Case { rule: Rule::PlaceholderObject, schema: r#"{"properties": {"n": {"type": "integer"}}}"#,
        fires: &[(r#"{"n": {"value": 3}}"#, r#"{"n": 3}"#), (r#"{"n": {"type": "integer", "value": 3}}"#, r#"{"n": 3}"#)],
        not: &[r#"{"n": {"value": 3, "unit": "m"}}"#, r#"{"n": {"count": 3}}"#] },
    Case { rule: Rule::PositionalArray, schema: USER,
        fires: &[(r#"["x", 1]"#, r#"{"user_name": "x", "count": 1}"#)],
        not: &[r#"["x"]"#, r#"["x", "y"]"#] },
    Case { rule: Rule::RenameSoleExtra, schema: USER,
        fires: &[(r#"{"who": "x", "count": 1}"#, r#"{"user_name": "x", "count": 1}"#)],
        not: &[r#"{"who": "x", "what": "y", "count": 1}"#, r#"{"who": [1], "count": 1}"#] },
    Case { rule: Rule::RootSingleList, schema: USER,
        fires: &[(r#"[{"user_name": "x", "count": 1}]"#, r#"{"user_name": "x", "count": 1}"#)],
        not: &[r#"[{"user_name": "x", "count": 1}, {"user_name": "y", "count": 2}]"#] },
    Case { rule: Rule::SchemaEchoLeaf, schema: r#"{"properties": {"name": {"type": "string", "description": "The name"}}}"#,
        fires: &[(r#"{"name": {"type": "string", "description": "Ada"}}"#, r#"{"name": "Ada"}"#)],
        not: &[r#"{"name": {"type": "string", "description": "The name"}}"#, r#"{"name": {"type": "integer", "description": "Ada"}}"#] },
    Case { rule: Rule::SchemaEchoRoot, schema: USER,
        fires: &[(r#"{"type": "object", "properties": {"user_name": "x", "count": 1}}"#, r#"{"user_name": "x", "count": 1}"#)],
        not: &[r#"{"type": "object", "properties": {"user_name": {"type": "string"}, "count": {"type": "integer"}}}"#] },
    Case { rule: Rule::SingleElement, schema: r#"{"properties": {"n": {"type": "integer"}}}"#,
        fires: &[(r#"{"n": [5]}"#, r#"{"n": 5}"#)],
        not: &[r#"{"n": [5, 6]}"#, r#"{"n": []}"#, r#"{"n": [null]}"#] },
    Case { rule: Rule::SinkNested, schema: r#"{"properties": {"o": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}}"#,
        fires: &[(r#"{"o": {}, "a": 1}"#, r#"{"o": {"a": 1}}"#)],
        not: &[r#"{"o": {}, "b": 1}"#] },
    Case { rule: Rule::StringToBool, schema: r#"{"properties": {"b": {"type": "boolean"}, "u": {"type": ["boolean", "string"]}}}"#,
        fires: &[(r#"{"b": "True"}"#, r#"{"b": true}"#)],
        not: &[r#"{"b": "maybe"}"#, r#"{"b": 1, "u": "true"}"#] },
    Case { rule: Rule::StringToNumber, schema: r#"{"properties": {"n": {"type": "number"}, "i": {"type": "integer"}, "u": {"type": ["integer", "string"]}}}"#,
        fires: &[(r#"{"n": " 4.50 "}"#, r#"{"n": 4.50}"#), (r#"{"i": "12345678901234567890"}"#, r#"{"i": 12345678901234567890}"#)],
        not: &[r#"{"n": "007"}"#, r#"{"n": "3,14"}"#, r#"{"i": "1.5"}"#, r#"{"i": true, "u": "5"}"#, r#"{"n": "0x1F"}"#] },
    Case { rule: Rule::StringUnfence, schema: r#"{"properties": {"s": {"type": "string", "pattern": "^[a-z]+$"}, "t": {"type": "string"}}}"#,
        fires: &[(r#"{"s": "`abc`"}"#, r#"{"s": "abc"}"#)],
        not: &[r#"{"s": 1, "t": "`abc`"}"#, r#"{"s": "`ABC`"}"#] },
    Case { rule: Rule::Thousands, schema: r#"{"properties": {"n": {"type": "integer"}}}"#,
        fires: &[(r#"{"n": "1,234,567"}"#, r#"{"n": 1234567}"#)],
        not: &[r#"{"n": "1,23"}"#, r#"{"n": "3,14"}"#] },
    Case { rule: Rule::ThousandsOneGroup, schema: r#"{"properties": {"n": {"type": "number"}}}"#,
        fires: &[(r#"{"n": "1,234"}"#, r#"{"n": 1234}"#)],
        not: &[r#"{"n": "3,14"}"#] },
    Case { rule: Rule::UnwrapDoubleEncodedRoot, schema: USER,
        fires: &[(r#""{\"user_name\":\"x\",\"count\":1}""#, r#"{"user_name":"x","count":1}"#)],
        not: &[r#""user_name, count""#] },
    Case { rule: Rule::UnwrapEnvelope, schema: USER,
        fires: &[
            (r#"{"arguments": {"user_name": "x", "count": 1}}"#, r#"{"user_name": "x", "count": 1}"#),
            (r#"{"lookup": {"user_name": "x", "count": 1}}"#, r#"{"user_name": "x", "count": 1}"#),
            (r#"{"name": "functions.lookup", "arguments": "{\"user_name\": \"x\", \"count\": 1}"}"#, r#"{"user_name": "x", "count": 1}"#),
        ],
        not: &[r#"{"name": "other", "arguments": {"user_name": "x", "count": 1}}"#, r#"{"arguments": {"who": "x"}}"#] },
    Case { rule: Rule::UnwrapSingleKeyList, schema: TAGS,
        fires: &[(r#"{"tags": {"items": ["a"]}}"#, r#"{"tags": ["a"]}"#)],
        not: &[r#"{"tags": {"items": ["a"], "more": 1}}"#, r#"{"tags": {"New York": ["a"]}}"#] },
    Case { rule: Rule::UnwrapStringified, schema: TAGS,
        fires: &[
            (r#"{"tags": "[\"a\", \"b\"]"}"#, r#"{"tags": ["a", "b"]}"#),
            (r#"{"tags": "['a', 'b',]"}"#, r#"{"tags": ["a", "b"]}"#),
        ],
        not: &[r#"{"tags": "a"}"#, r#"{"tags": ["[1]"]}"#] },
    Case { rule: Rule::WrapInArray, schema: TAGS,
        fires: &[(r#"{"tags": "a"}"#, r#"{"tags": ["a"]}"#)],
        not: &[r#"{"tags": "a, b"}"#, r#"{"tags": null}"#, r#"{"tags": {}}"#, r#"{"tags": "[\"a\"]"}"#, r#"{"tags": ""}"#] },
    Case { rule: Rule::WrapText, schema: r#"{"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}"#,
        fires: &[("plain words", r#"{"answer": "plain words"}"#)],
        not: &[r#"{"answer": 1}"#, "Sure! {answer: 'x', days: '3'}", "So: [{answer: 1, }"] },
    Case { rule: Rule::XmlFields, schema: USER,
        fires: &[
            ("<user_name>x</user_name><count>1</count>", r#"{"user_name": "x", "count": 1}"#),
            ("Sure:\n<user><UserName> a \"b\"\n</UserName>\n<count>2</count></user>\nDone.", r#"{"user_name": "a \"b\"", "count": 2}"#),
        ],
        not: &[
            r#"{"user_name": "<count>1</count>"}"#,
            "<user_name>x</user_name> and <count>1</count>",
            "<user_name>x</user_name><user_name>y</user_name><count>1</count>",
            "<user_name>x</user_name><count>1",
            "<p>user_name</p>",
        ] },
    Case { rule: Rule::YesNoBool, schema: r#"{"properties": {"b": {"type": "boolean"}}}"#,
        fires: &[(r#"{"b": "yes"}"#, r#"{"b": true}"#), (r#"{"b": 0}"#, r#"{"b": false}"#)],
        not: &[r#"{"b": "ja"}"#, r#"{"b": 2}"#] },
];

#[test]
fn every_rule_applies_to_its_cases() {
    for case in CASES {
        for (input, output) in case.fires {
            let fitted = fit(case.schema, input, &with_rule(case.rule));
            assert_eq!(fitted.text(), Some(*output), "{}: {input}", case.rule);
            assert!(
                fitted.applied().iter().any(|a| a.rule() == case.rule),
                "{} {input} {fitted:?}",
                case.rule
            );
            assert_eq!(apply_changes(input.as_bytes(), fitted.changes()).as_deref(), Some(*output));
            assert_ne!(fitted.outcome(), Outcome::Unchanged);
            let again = fit(case.schema, output, &every_rule());
            assert_eq!(again.outcome(), Outcome::Unchanged, "{}: {output}", case.rule);
            assert!(again.changes().is_empty());
        }
    }
}

#[test]
fn no_rule_applies_where_it_must_not() {
    for case in CASES {
        for input in case.not {
            let fitted = fit(case.schema, input, &every_rule());
            let used =
                fitted.text().is_some() && fitted.applied().iter().any(|a| a.rule() == case.rule);
            assert!(!used, "{}: {input} became {:?}", case.rule, fitted.text());
            if fitted.text().is_none() {
                // There are no issues with a text that contains no JSON.
                let reported = !fitted.issues().is_empty() || fitted.outcome() == Outcome::None;
                assert!(reported && fitted.changes().is_empty(), "{input}");
            }
        }
    }
}

#[test]
fn every_rule_can_be_switched_off() {
    for case in CASES {
        for (input, _) in case.fires {
            let rules = Rules::new().without(case.rule);
            let options = FitOptions::new().with_rules(rules).with_name("lookup");
            let fitted = fit(case.schema, input, &options);
            assert!(
                !fitted.applied().iter().any(|a| a.rule() == case.rule),
                "{}: {input}",
                case.rule
            );
        }
    }
}

#[test]
fn no_rule_exceeds_the_highest_risk() {
    for case in CASES {
        for (input, _) in case.fires {
            for &risk in Risk::ALL {
                let engine = Options::new().with_policy(Policy::PERMISSIVE.at_most(risk));
                let fitted = fit(case.schema, input, &every_rule().with_engine(engine));
                assert!(
                    fitted.risk().is_none_or(|own| own <= risk),
                    "{} {input} {risk}",
                    case.rule
                );
            }
            let strict = Options::new().with_policy(Policy::STRICT);
            assert!(
                fit(case.schema, input, &every_rule().with_engine(strict)).changes().is_empty()
            );
        }
    }
}

/// Two rules that a plain fit does not reach have tests of their own.
#[test]
fn every_rule_has_a_case() {
    let tested: BTreeSet<Rule> = CASES.iter().map(|case| case.rule).collect();
    let elsewhere = [Rule::ToolNameNormalise, Rule::UnwrapNamedEnvelope];
    for case in CASES {
        // Joining strings is tested separately, because another rule would apply first.
        let fires = !case.fires.is_empty() || case.rule == Rule::JoinArray;
        assert!(fires && !case.not.is_empty(), "{} is tested one way only", case.rule);
    }
    for rule in Rule::ALL {
        assert!(tested.contains(rule) || elsewhere.contains(rule), "{rule}");
    }
}

#[test]
fn unwrapping_an_envelope_with_an_unknown_name_is_lossy() {
    let input = r#"{"name": "f", "arguments": {"user_name": "x", "count": 1}}"#;
    let fitted = fit(USER, input, &FitOptions::new());
    assert_eq!(fitted.text(), Some(r#"{"user_name": "x", "count": 1}"#));
    assert_eq!(fitted.applied()[0].rule(), Rule::UnwrapNamedEnvelope);
    assert_eq!(fitted.risk(), Some(Risk::Lossy));
}

#[test]
fn several_strings_are_joined_only_on_request() {
    let schema = r#"{"properties": {"s": {"type": "string"}}}"#;
    let rules = Rules::new().with(Rule::JoinArray).without(Rule::JsonToText);
    let options = FitOptions::new().with_rules(rules);
    let input = r#"{"s": ["a", "b"]}"#;
    assert_eq!(fit(schema, input, &options).text(), Some(r#"{"s": "a, b"}"#));
    let without = FitOptions::new().with_rules(Rules::new().without(Rule::JsonToText));
    assert_eq!(fit(schema, input, &without).outcome(), Outcome::Invalid);
}
