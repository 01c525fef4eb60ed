//! The one document of a whole answer.

use wiremend_core::{MendOptions, Outcome, Policy, RepairKind, TrailingDocuments};
use wiremend_extract::{Scope, find};

/// The best document, and what was done to get it.
fn best(text: &str) -> (Option<String>, Outcome) {
    let options = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
    let mended = find(text.as_bytes(), Scope::Best, &options);
    (mended.text().map(|text| text.trim().to_owned()), mended.outcome())
}

#[track_caller]
fn is(text: &str, json: &str) {
    assert_eq!(best(text).0.as_deref(), Some(json), "{text}");
}

#[track_caller]
fn is_none(text: &str) {
    assert_eq!(best(text), (None, Outcome::None), "{text}");
}

#[test]
fn a_fence_is_taken_off() {
    let object = r#"{"ok": "yes"}"#;
    for text in [
        "```json\n{\"ok\": \"yes\"}\n```",
        "```\n{\"ok\": \"yes\"}\n```",
        "   ```json\n{\"ok\": \"yes\"}\n```   ",
        "```json   \n   {\"ok\": \"yes\"}   \n```",
        "```json\n{\"ok\": \"yes\"}```",
        "```json\n{\"ok\": \"yes\"}",
        "`{\"ok\": \"yes\"}`",
        "It went well:\n\n```json\n{\"ok\": \"yes\"}\n```\n\nAnything else?",
        "Bot: The JSON you wanted: ```json\n{\"ok\": \"yes\"}\n```",
        "The data:\n\n```json\n{\"ok\": \"yes\"}\n```\n\nAnd a remark:\n\n```text\nnothing\n```",
    ] {
        is(text, object);
    }
    is("```json\n[{\"row\": 1}]\n```", r#"[{"row": 1}]"#);
    is("```json\n[{\"row\": 1}, {\"row\": 2}]```", r#"[{"row": 1}, {"row": 2}]"#);
    is("```json\n['a', '!b']\n```", r#"["a", "!b"]"#);
    is("```json\n{'a': 'b', 'c': 3}\n```", r#"{"a": "b", "c": 3}"#);
}

#[test]
fn a_fence_of_another_language_is_not_json() {
    is_none("```xml\n<a>b</a>\n```");
    // One of the systems leaves this alone. A scalar that is all there is counts, whatever its quotes are.
    is("`only words`", "\"only words\"");
    is_none("Use `only words` there.");
    is_none("```python\nrows = ['a', '!b']\n```");
    // One of the systems refuses JavaScript, too. A literal of it that is all there is means what it says.
    is("```javascript\n['a', '!b']\n```", r#"["a", "!b"]"#);
}

#[test]
fn valid_json_stays_as_it_is() {
    for text in [
        "{\"ok\": \"yes\"}",
        "[1, 2]",
        "{}",
        "[]",
        "null",
        "{ \"spaced\" :  1 }",
        "{\"name\":\"Łódź 東京\"}",
        "{\"n\": 98765432109876543210987, \"f\": 2.50, \"big\": 1e999}",
        "{\"twice\":1,\"twice\":2}",
        "{\"text\": \"The <result> tag\"}",
        "{\"text\":\"use } and { here\"}",
        "{\"text\":\"a ``` in it\"}",
        "{\"text\":\"call <tool_code>run({\\\"x\\\":1})</tool_code> now\"}",
        "{\"dir\": \"abc\\\\\"}",
    ] {
        let mended = find(text.as_bytes(), Scope::Best, &MendOptions::new());
        assert_eq!((mended.text(), mended.outcome()), (Some(text), Outcome::Unchanged), "{text}");
    }
    let fenced = "{\"help\": \"Set: \\\"server\\\": { \\\"tls\\\": true } first.\"}";
    is(&format!("```json\n{fenced}\n```"), fenced);
}

#[test]
fn text_without_a_document_is_not_changed() {
    for text in [
        "",
        "Hello, you!",
        "See [the docs](http://x) and [2].",
        "use {placeholder} there",
        "if (a) { return b; }",
        "No JSON here at all",
        "<todo>\n[-] one\n[ ] two\n[x] three\n</todo>",
    ] {
        is_none(text);
    }
    // One of the systems finds nothing here. Brackets alone are an object that was cut off, and say so.
    assert_eq!(best(&"{".repeat(500)), (Some("{}".to_owned()), Outcome::Closed));
}

#[test]
fn a_document_is_found_among_words() {
    // One of the systems refuses these, because its answers may be pages with placeholders. What is in the
    // braces shows which of both it is.
    is("Some words and {\"json\": \"inside\"}", r#"{"json": "inside"}"#);
    is("This is JSON: {\"ok\": 1} to be found", r#"{"ok": 1}"#);
    is("Result:\n{\"ok\": 1}", r#"{"ok": 1}"#);
    is("it's {\"ok\": 1}", r#"{"ok": 1}"#);
    is("a stray } {\"ok\": 1}", r#"{"ok": 1}"#);
    is("skip \"{no json}\" and take {\"ok\": true}", r#"{"ok": true}"#);
    is("Words {\"not\": \"this\"} ```json\n{\"take\": \"this\"}\n```", r#"{"take": "this"}"#);
    is("<think>[1]?</think>\n{\"ok\": 1}", r#"{"ok": 1}"#);
    is("<thinking>x</thinking>\n{\"ok\": 1}", r#"{"ok": 1}"#);
    // It also refuses a fence under headings. Whether an answer is a page about JSON cannot be seen in it:
    // the text that is dropped is reported, and who must not lose any asks for all documents and the text.
    let page =
        "## Format\n\nAn example:\n\n```json\n{\"status\": \"ok\"}\n```\n\nUse it everywhere.";
    is(page, r#"{"status": "ok"}"#);
    let mended = find(page.as_bytes(), Scope::Best, &MendOptions::new());
    assert!(mended.repairs().contains(RepairKind::LeadingProse));
}

#[test]
fn what_follows_the_document_is_dropped() {
    is("{\"files\": [\"a.so\"]}\n\n2. [Upload it](/plugins/upload)...", r#"{"files": ["a.so"]}"#);
    is("[{\"n\": \"a\"}, {\"n\": \"b\"}]\nThere is more text", r#"[{"n": "a"}, {"n": "b"}]"#);
}

#[test]
fn tags_around_a_document_are_taken_off() {
    let object = r#"{"ok": "yes"}"#;
    for text in [
        "<result>{\"ok\": \"yes\"}</result>",
        "<result>\n  {\"ok\": \"yes\"}\n</result>",
        "<result>\n```json\n{\"ok\": \"yes\"}\n```\n</result>",
        "<result><result>{\"ok\": \"yes\"}</result></result>",
        // A tag without its partner says no less. These are not touched by one of the systems.
        "<result>{\"ok\": \"yes\"}",
        "{\"ok\": \"yes\"}</result>",
        "As you asked: <result>{\"ok\": \"yes\"}</result>",
        "<tool_code>done({\"ok\": \"yes\"})</tool_code>",
        "<tool_code>print({\"ok\": \"yes\"})</tool_code>",
    ] {
        is(text, object);
    }
}

#[test]
fn a_later_document_that_is_called_the_answer_is_it() {
    let draft = "Draft:\n```json\n{\"a\": 1}\n```\n";
    is(&format!("{draft}Final:\n```json\n{{\"a\": 2}}\n```"), r#"{"a": 2}"#);
    is("I had {\"a\": 1} first. The corrected version: {\"a\": 2}", r#"{"a": 2}"#);
    // Without such a word, both belong to the answer.
    let (both, _) = best(&format!("{draft}Other:\n```json\n{{\"a\": 2}}\n```"));
    let both: serde_json::Value = serde_json::from_str(&both.unwrap()).unwrap();
    assert_eq!(both, serde_json::json!([{"a": 1}, {"a": 2}]));
    is("{\"n\":5} {\"m\":6}", r#"[{"n":5}, {"m":6}]"#);
}

#[test]
fn a_document_that_was_cut_off_is_closed_or_refused_and_says_so() {
    // Two of the systems give the text back as it is, or a null for the value that is missing.
    for (text, closed) in [
        ("```json\n{\"ok\": \"incomplete\"", r#"{"ok": "incomplete"}"#),
        ("{\"key\": \"value\", \"rest\":", r#"{"key": "value"}"#),
    ] {
        assert_eq!(best(text), (Some(closed.to_owned()), Outcome::Closed), "{text}");
        let careful = MendOptions::new().with_policy(Policy::CONSERVATIVE);
        let mended = find(text.as_bytes(), Scope::Best, &careful);
        assert_eq!((mended.text(), mended.outcome()), (None, Outcome::Cut), "{text}");
    }
}

#[test]
fn quotes_inside_of_strings_stay() {
    is("{'n': 5,}", r#"{"n": 5}"#);
    is("{'n':5}", r#"{"n":5}"#);
    is("['*']", r#"["*"]"#);
    is("{\"text\": \"Hello \"you\"!\"}", r#"{"text": "Hello \"you\"!"}"#);
    is("{'q': 'he said \"no\"'}", r#"{"q": "he said \"no\""}"#);
    is("{'q': 'that's all'}", r#"{"q": "that's all"}"#);
    is("{'q': 'one } two', 'n': 5}", r#"{"q": "one } two", "n": 5}"#);
    is("{\"q\": \"type \"end}\" then\"}", r#"{"q": "type \"end}\" then"}"#);
}
