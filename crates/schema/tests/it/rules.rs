//! Each rule: where it applies, and similar cases that it must leave alone; how a risk grows where the value leaves
//! another reading open; and that `docs/schema.md` has a row for it.

use std::collections::BTreeSet;

use wiremend_core::{MendOptions, Outcome, Policy, Risk};
use wiremend_schema::{FitOptions, Fitted, Rule, Rules, Schema, apply_changes};

struct Case {
    rule: Rule,
    schema: &'static str,
    /// Inputs and their results.
    fires: &'static [(&'static str, &'static str)],
    /// Inputs to which the rule must not be applied.
    not: &'static [&'static str],
}

fn fit_with(schema: &str, input: &str, options: &FitOptions) -> Fitted {
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
            let fitted = fit_with(case.schema, input, &with_rule(case.rule));
            assert_eq!(fitted.text(), Some(*output), "{}: {input}", case.rule);
            assert!(
                fitted.applied().iter().any(|a| a.rule() == case.rule),
                "{} {input} {fitted:?}",
                case.rule
            );
            assert_eq!(apply_changes(input.as_bytes(), fitted.changes()).as_deref(), Some(*output));
            assert_ne!(fitted.outcome(), Outcome::Unchanged);
            let again = fit_with(case.schema, output, &every_rule());
            assert_eq!(again.outcome(), Outcome::Unchanged, "{}: {output}", case.rule);
            assert!(again.changes().is_empty());
        }
    }
}

#[test]
fn no_rule_applies_where_it_must_not() {
    for case in CASES {
        for input in case.not {
            let fitted = fit_with(case.schema, input, &every_rule());
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
            let fitted = fit_with(case.schema, input, &options);
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
                let engine = MendOptions::new().with_policy(Policy::PERMISSIVE.at_most(risk));
                let fitted = fit_with(case.schema, input, &every_rule().with_mending(engine));
                assert!(
                    fitted.risk().is_none_or(|own| own <= risk),
                    "{} {input} {risk}",
                    case.rule
                );
            }
            let strict = MendOptions::new().with_policy(Policy::STRICT);
            assert!(
                fit_with(case.schema, input, &every_rule().with_mending(strict))
                    .changes()
                    .is_empty()
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
    let fitted = fit_with(USER, input, &FitOptions::new());
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
    assert_eq!(fit_with(schema, input, &options).text(), Some(r#"{"s": "a, b"}"#));
    let without = FitOptions::new().with_rules(Rules::new().without(Rule::JsonToText));
    assert_eq!(fit_with(schema, input, &without).outcome(), Outcome::Invalid);
}

/// Enables all rules, including those that are off by default.
fn fit_with_every_rule(schema: &str, input: &str) -> Fitted {
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
        let fitted = fit_with_every_rule(schema, input);
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
        let fitted = fit_with_every_rule(&object(property), input);
        assert_eq!(fitted.text(), None, "{what}: {input}");
        assert_eq!(fitted.outcome(), Outcome::Invalid, "{what}: {input}");
    }
}

fn fit(schema: &str, input: &str) -> Fitted {
    Schema::from_text(schema).unwrap().fit(input.as_bytes(), &FitOptions::new())
}

/// The fitted text, the first rule that was used, and the highest risk.
fn found(schema: &str, input: &str) -> Option<(String, Rule, Risk)> {
    let fitted = fit(schema, input);
    let text = fitted.text()?.to_owned();
    let risk = fitted.risk()?;
    // A policy that allows only this risk gives the same result.
    let engine = MendOptions::new().with_policy(Policy::PERMISSIVE.at_most(risk));
    let again = Schema::from_text(schema).unwrap();
    let again = again.fit(input.as_bytes(), &FitOptions::new().with_mending(engine));
    assert_eq!(again.text(), Some(text.as_str()), "{input}");
    Some((text, fitted.applied()[0].rule(), risk))
}

/// An input, the fitted text, the first rule that was used, and the risk.
type RiskCase<'c> = (&'c str, Option<(&'c str, Rule, Risk)>);

fn check(schema: &str, cases: &[RiskCase<'_>]) {
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

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_rule_has_a_row_with_its_risk_and_its_switch() {
    let page = page();
    for rule in Rule::ALL {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{rule}` | ")));
        let row = row.unwrap_or_else(|| panic!("no row for {rule}"));
        let cells: Vec<&str> = row.split(" | ").collect();
        let off = if rule.is_default() { "" } else { " (off by default)" };
        assert_eq!(cells[1], format!("{}{off}", rule.risk()), "{rule}");
        assert_eq!(cells[2], rule.summary(), "{rule}");
    }
}

#[test]
fn every_row_is_a_rule() {
    let page = page();
    let table = page.split("## The rules").nth(1).unwrap().split("## Issues").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let codes: Vec<&str> = rows.map(|(code, _)| code).collect();
    assert_eq!(codes, Rule::ALL.iter().map(|rule| rule.code()).collect::<Vec<_>>());
}
