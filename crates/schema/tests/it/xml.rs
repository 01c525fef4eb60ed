//! XML whose elements are the fields of a schema.

use wiremend_core::{MendOptions, Outcome, Policy, Risk};
use wiremend_schema::{FitOptions, Rule, Rules, Schema, apply_changes};

fn schema() -> Schema {
    Schema::from_text(
        r#"{"type": "object", "properties": {
            "refined": {"type": "boolean"}, "count": {"type": "integer"}, "ratio": {"type": "number"},
            "text": {"type": "string"}, "level": {"enum": ["LOW", "HIGH"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "points": {"type": "array", "items": {"type": "integer"}},
            "owner": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]}}, "required": ["name"]},
            "people": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
        }, "additionalProperties": false}"#,
    )
    .unwrap()
}

fn decoded(text: &str) -> Option<String> {
    let fitted = schema().fit_xml(text, &FitOptions::new())?;
    Some(fitted.text().unwrap_or("refused").to_owned())
}

#[test]
fn fields_become_typed_members() {
    for (text, json) in [
        (
            "<task><refined>false</refined><text>a b</text></task>",
            r#"{"refined": false, "text": "a b"}"#,
        ),
        ("<count> 42 </count>", r#"{"count": 42}"#),
        ("<ratio>1.50</ratio>\n<Count>7</Count>", r#"{"ratio": 1.50, "count": 7}"#),
        ("<text>007</text>", r#"{"text": "007"}"#),
        ("<text>\n  if (a < b) <b>stop</b>\n</text>", r#"{"text": "if (a < b) <b>stop</b>"}"#),
        ("<text><![CDATA[ <x> ]]></text>", r#"{"text": " <x> "}"#),
        ("Sure:\n<task><refined>True</refined></task>\nDone.", r#"{"refined": true}"#),
        ("<tags><tag>a</tag><tag>b</tag></tags>", r#"{"tags": ["a", "b"]}"#),
        ("<tags>a</tags><tags>b</tags>", r#"{"tags": ["a", "b"]}"#),
        ("<tags></tags>", r#"{"tags": []}"#),
        ("<points><p>1</p><p>2</p></points>", r#"{"points": [1, 2]}"#),
        ("<points>[1, 2]</points>", r#"{"points": [1, 2]}"#),
        ("<owner><name>Ada</name><age/></owner>", r#"{"owner": {"name": "Ada", "age": null}}"#),
        (
            "<people><name>A</name></people><people><name>B</name></people>",
            r#"{"people": [{"name": "A"}, {"name": "B"}]}"#,
        ),
        ("<people><person><name>A</name></person></people>", r#"{"people": [{"name": "A"}]}"#),
        ("<text kind=\"plain\">x</text>", r#"{"text": "x"}"#),
    ] {
        assert_eq!(decoded(text).as_deref(), Some(json), "{text}");
    }
}

#[test]
fn a_fit_reads_elements_like_any_other_text_and_records_the_tags() {
    for (text, json) in [
        (
            "<task><refined>false</refined><text>a \"b\"\nc</text></task>",
            r#"{"refined": false, "text": "a \"b\"\nc"}"#,
        ),
        ("<tags>a</tags><count>1</count><tags>b</tags>", r#"{"tags": ["a", "b"], "count": 1}"#),
        ("<level>high</level><count>many</count>", "refused"),
        ("<points>[1, 2]</points><count>3</count>", r#"{"points": [1, 2], "count": 3}"#),
        (
            "Here:\n```xml\n<points>[1]</points>\n<count>3</count>\n```",
            r#"{"points": [1], "count": 3}"#,
        ),
        ("<text><![CDATA[ {\"count\": 1} ]]></text>", r#"{"text": " {\"count\": 1} "}"#),
        ("<text></text><refined>TRUE</refined>", r#"{"text": "", "refined": true}"#),
        ("<think>Perhaps <count>1</count>?</think><count>2</count>", r#"{"count": 2}"#),
        ("<count>1</count> or rather {\"count\": 2}", r#"{"count": 2}"#),
    ] {
        let fitted = schema().fit(text.as_bytes(), &FitOptions::new());
        assert_eq!(fitted.text().map_or("refused", str::trim), json, "{text}");
        if let Some(json) = fitted.text() {
            let made = apply_changes(text.as_bytes(), fitted.changes());
            assert_eq!(made.as_deref(), Some(json), "{text}");
            assert_eq!(fitted.outcome(), Outcome::Repaired);
        }
    }
    let fitted = schema().fit(b"<count>12</count>", &FitOptions::new());
    assert_eq!(fitted.applied()[0].rule(), Rule::XmlFields);
    assert_eq!(fitted.risk(), Some(Risk::Likely));
    assert!(
        fitted.changes().iter().all(|change| change.end() <= 7 || change.start() >= 9),
        "the number stays"
    );
}

#[test]
fn issues_have_the_positions_of_the_elements() {
    let text = "<level>high</level><count>many</count>";
    let fitted = schema().fit(text.as_bytes(), &FitOptions::new());
    assert_eq!(fitted.outcome(), Outcome::Invalid);
    let issue = &fitted.issues()[1];
    assert_eq!((issue.pointer(), &text[issue.span()]), ("/count", "many"));
    let off = FitOptions::new().with_rules(Rules::new().without(Rule::XmlFields));
    assert_eq!(schema().fit(b"<count>1</count>", &off).outcome(), Outcome::None);
    let strict = FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT));
    assert_eq!(schema().fit(b"<count>1</count>", &strict).text(), None);
}

#[test]
fn text_that_does_not_match_the_fields_is_not_read() {
    for text in [
        "",
        "plain words",
        "<p>refined</p>",
        "{\"text\": \"<b>x</b>\"}",
        "<text>cut off",
        "<owner><name>Ada</name>",
        "<owner><name>Ada</name><height>2</height></owner>",
        "<owner>words <name>Ada</name></owner>x",
        "<text>a</text><text>b</text>",
        "<text>a</text> and then <count>2</count>",
        "a < b and c > d",
    ] {
        let seen = decoded(text);
        assert!(seen.is_none() || seen.as_deref() == Some("refused"), "{text}: {seen:?}");
    }
    let list = Schema::from_text(r#"{"type": "array"}"#).unwrap();
    assert!(list.fit_xml("<a>1</a>", &FitOptions::new()).is_none());
}

#[test]
fn decoding_is_not_a_repair_but_further_changes_are() {
    let fitted = schema().fit_xml("<count>42</count>", &FitOptions::new()).unwrap();
    assert_eq!(fitted.outcome(), Outcome::Unchanged);
    assert!(fitted.changes().is_empty());
    let fitted = schema().fit_xml("<level>high</level>", &FitOptions::new()).unwrap();
    assert_eq!(fitted.text(), Some(r#"{"level": "HIGH"}"#));
    assert_eq!(fitted.applied()[0].rule(), Rule::EnumNormalise);
    let strict = FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT));
    assert_eq!(schema().fit_xml("<level>high</level>", &strict).unwrap().text(), None);
}

#[test]
fn entities_are_kept_by_default() {
    let text = "<text>a &amp;lt; b</text>";
    assert_eq!(decoded(text).as_deref(), Some(r#"{"text": "a &amp;lt; b"}"#));
    let options = FitOptions::new().with_rules(Rules::new().with(Rule::EntityUnescape));
    let fitted = schema().fit_xml(text, &options).unwrap();
    assert_eq!(fitted.text(), Some(r#"{"text": "a &lt; b"}"#));
}

#[test]
fn deep_elements_are_refused() {
    let schema =
        Schema::from_text(r##"{"type": "object", "properties": {"a": {"$ref": "#"}}}"##).unwrap();
    let deep = "<a>".repeat(5_000) + &"</a>".repeat(5_000);
    assert!(schema.fit_xml(&deep, &FitOptions::new()).is_none());
}
