//! Elements in values, in the dialects whose parameters are elements themselves.

use serde_json::json;
use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, CallOutcome, Dialect};
use wiremend_schema::Registry;

use super::check;

const MARK: &str = "]<]minimax[>[";

fn reader(with_tools: bool) -> CallExtractor {
    let dialect = Dialect::by_name("minimax_m3").unwrap().clone();
    let reader = CallExtractor::new(MendOptions::new()).with_dialect(dialect);
    let declared = json!([{"name": "note", "parameters": {"type": "object", "properties": {
        "text": {"type": "string"},
        "place": {"type": "string"},
        "meta": {"type": "object", "properties": {"code": {"type": "integer"}}},
        "list": {"type": "array", "items": {"type": "string"}},
    }}}]);
    let tools = Registry::from_tools(&declared).unwrap().tools();
    if with_tools { reader.with_tools(tools) } else { reader }
}

/// The arguments and the outcome of a call with these parameters, in which every tag has its mark.
fn read(with_tools: bool, parameters: &str) -> (String, CallOutcome) {
    let inner = parameters.replace('<', &format!("{MARK}<"));
    let text = format!(
        "{MARK}<tool_call>\n{MARK}<invoke name=\"note\">{inner}{MARK}</invoke>\n{MARK}</tool_call>"
    );
    let found = check(&reader(with_tools), &text).found;
    assert!(found.text().is_empty(), "{text}: {found:?}");
    let [call] = found.calls() else { panic!("{text}: {found:?}") };
    (String::from_utf8_lossy(call.arguments()).replace(MARK, ""), call.outcome())
}

#[test]
fn text_next_to_elements_refuses_the_call() {
    for parameters in [
        "<meta>about<code>7</code></meta>",
        "<meta><code>7</code>about</meta>",
        "<meta>\n about <code>7</code>\n</meta>",
        "<meta>7<code>7</code></meta>",
        "<meta><code>7<part>1</part></code></meta>",
        "<meta>about<code>7</meta>",
        "<list>a<item>b</item></list>",
        "<other>about<code>7</code></other>",
    ] {
        for with_tools in [false, true] {
            let (arguments, outcome) = read(with_tools, parameters);
            assert_eq!(outcome, CallOutcome::Refused, "{parameters}: {arguments}");
        }
    }
    // No tag is lost, and what comes afterwards is still read.
    let (arguments, _) = read(false, "<meta>about<code>7</code></meta><text>a</text>");
    assert_eq!(arguments, r#"{"meta": "about<code>7</code>", "text": "a"}"#);
}

#[test]
fn a_string_of_the_schema_may_have_tags_in_it() {
    for (value, text) in [
        ("see <b>this</b>", "see <b>this</b>"),
        ("<b>this</b> and <text>that</text>", "<b>this</b> and <text>that</text>"),
        ("a <b>", "a <b>"),
    ] {
        let (arguments, outcome) = read(true, &format!("<text>{value}</text>"));
        assert_eq!(arguments, json!({ "text": text }).to_string().replace("\":\"", "\": \""));
        assert_eq!(outcome, CallOutcome::Whole, "{value}");
    }
}

#[test]
fn a_parameter_ends_a_string_whose_closing_tag_is_missing() {
    let (arguments, outcome) = read(true, "<text>Miami<place>US</place>");
    assert_eq!(arguments, r#"{"text": "Miami", "place": "US"}"#);
    assert_eq!(outcome, CallOutcome::Repaired);
    // Without a schema, nobody knows whether it is an element of the value.
    let (_, outcome) = read(false, "<text>Miami<place>US</place>");
    assert_eq!(outcome, CallOutcome::Refused);
}

#[test]
fn a_missing_closing_tag_of_an_element_is_a_repair() {
    for (parameters, expected) in [
        ("<meta><code>7</meta>", r#"{"meta": {"code": 7}}"#),
        ("<meta><code>7</code></other></meta>", r#"{"meta": {"code": 7}}"#),
    ] {
        let (arguments, outcome) = read(false, parameters);
        assert_eq!(arguments, expected, "{parameters}");
        assert_eq!(outcome, CallOutcome::Repaired, "{parameters}");
    }
    // The schema says that the element is in the value, and not next to it.
    for (with_tools, expected) in [(true, CallOutcome::Repaired), (false, CallOutcome::Refused)] {
        let (arguments, outcome) = read(with_tools, "<meta><code>7</code>");
        assert_eq!((&*arguments, outcome), (r#"{"meta": {"code": 7}}"#, expected));
    }
    // What is in it may as well come after it.
    let (_, outcome) = read(false, "<meta><code><item>7</item></meta>");
    assert_eq!(outcome, CallOutcome::Refused);
    let (arguments, outcome) = read(true, "<meta>\n<code>7</code>\n</meta>");
    assert_eq!((&*arguments, outcome), (r#"{"meta": {"code": 7}}"#, CallOutcome::Whole));
}

#[test]
fn elements_below_the_deepest_level_refuse_the_call() {
    for (depth, outcome) in [(31, CallOutcome::Whole), (40, CallOutcome::Refused)] {
        let nested = format!("{}7{}", "<a>".repeat(depth), "</a>".repeat(depth));
        let (arguments, found) = read(false, &format!("<meta>{nested}</meta>"));
        assert_eq!(found, outcome, "{arguments}");
    }
}

/// The arguments and the outcome of a call whose tags have the names of the tool and its parameters.
fn read_tags(parameters: &str) -> (String, CallOutcome) {
    let declared = json!([{"name": "plan", "parameters": {"type": "object", "properties": {
        "title": {"type": "string"},
        "when": {"type": "object", "properties": {
            "date": {"type": "string"}, "hour": {"type": "integer"}, "title": {"type": "string"},
        }},
        "people": {"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string"},
        }}},
        "args": {"type": "object", "properties": {"file": {"type": "array", "items": {
            "type": "object", "properties": {"path": {"type": "string"}},
        }}}},
        "tags": {"type": "array", "items": {"type": "string"}},
    }}}]);
    let tools = Registry::from_tools(&declared).unwrap().tools();
    let dialect = Dialect::by_name("xml_tool_tags").unwrap().clone();
    let detected = CallExtractor::new(MendOptions::new()).with_tools(tools);
    let named = detected.clone().with_dialect(dialect);
    let text = format!("<plan>\n{parameters}\n</plan>");
    let [one, other] = [named, detected].map(|reader| {
        let found = check(&reader, &text).found;
        let [call] = found.calls() else { panic!("{text}: {found:?}") };
        (String::from_utf8_lossy(call.arguments()).into_owned(), call.outcome())
    });
    assert_eq!(one, other, "{text}");
    one
}

/// Where the schema has objects and lists, models write elements in elements.
#[test]
fn tags_with_the_names_of_parameters_may_have_elements_in_them() {
    for (parameters, expected) in [
        (
            "<when>\n<date>2025-01-01</date>\n<hour>9</hour>\n</when>",
            r#"{"when": {"date": "2025-01-01", "hour": 9}}"#,
        ),
        (
            "<people>\n<person><name>Ada</name></person>\n<person><name>Al</name></person>\n</people>",
            r#"{"people": [{"name": "Ada"}, {"name": "Al"}]}"#,
        ),
        (
            "<args>\n<file>\n<path>a.rs</path>\n</file>\n</args>",
            r#"{"args": {"file": [{"path": "a.rs"}]}}"#,
        ),
        (
            "<args><file><path>a</path></file><file><path>b</path></file></args>",
            r#"{"args": {"file": [{"path": "a"}, {"path": "b"}]}}"#,
        ),
        ("<tags><tag>a</tag><tag>b</tag></tags>", r#"{"tags": ["a", "b"]}"#),
        (
            "<when><title>Sync</title></when><title>Week</title>",
            r#"{"when": {"title": "Sync"}, "title": "Week"}"#,
        ),
        ("<when>{\"date\": \"May\"}</when>", r#"{"when": {"date": "May"}}"#),
        ("<title>in <date>May</date></title>", r#"{"title": "in <date>May</date>"}"#),
    ] {
        assert_eq!(
            read_tags(parameters),
            (expected.to_owned(), CallOutcome::Whole),
            "{parameters}"
        );
    }
    let (arguments, outcome) = read_tags("<when><date>May</date>");
    assert_eq!(
        (arguments.as_str(), outcome),
        (r#"{"when": {"date": "May"}}"#, CallOutcome::Repaired)
    );
    for parameters in [
        "<when>May <date>1</date></when>",
        "<when><date>1</date> May</when>",
        "<when><date day=\"1\">May</date></when>",
        "<when>\n<title>Sync</title>",
    ] {
        let (arguments, outcome) = read_tags(parameters);
        assert_eq!(outcome, CallOutcome::Refused, "{parameters}: {arguments}");
    }
}
