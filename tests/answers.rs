//! Answers as programs get them from models, in the situations that five systems which people use have
//! tests for. Where those expect another outcome, a comment says why this one is right.

use serde_json::{Value, json};
use wiremend_core::{
    Limits, MendOptions, Mender, Outcome, Policy, Repair, RepairKind, TrailingDocuments,
};
use wiremend_extract::{
    CallExtractor, CallOutcome, Dialect, Finder, FoundCall, FoundCalls, Scope, SegmentEvent,
    SegmentReader, TextSink, Tools, find,
};
use wiremend_schema::{FitOptions, Schema};
use wiremend_testkit::laws::text_calls;
use wiremend_wire::sse::{SseDecoder, SseEvent, SseReading};

// The one document of a whole answer.

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

// An answer that arrives in pieces: its text with the documents in it mended, where they are.

/// The text with its documents, as it would be shown, and their outcomes.
#[derive(Default)]
struct Shown {
    text: Vec<u8>,
    outcomes: Vec<Outcome>,
}

impl TextSink for Shown {
    fn text(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn json(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn repair(&mut self, _: Repair) {}
    fn end(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }
}

fn shown(pieces: &[&str], options: &MendOptions) -> (String, Vec<Outcome>) {
    let read = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut extractor = Finder::new(Scope::All, options.clone());
        let mut shown = Shown::default();
        pieces.for_each(|piece| extractor.push(piece, &mut shown));
        extractor.finish(&mut shown);
        (String::from_utf8(shown.text).unwrap(), shown.outcomes)
    };
    let whole = read(&mut pieces.iter().map(|piece| piece.as_bytes()));
    assert_eq!(read(&mut pieces.concat().as_bytes().chunks(1)), whole, "{pieces:?}");
    whole
}

#[track_caller]
fn shows(pieces: &[&str], text: &str) {
    assert_eq!(shown(pieces, &MendOptions::new()).0, text, "{pieces:?}");
}

#[track_caller]
fn unchanged(pieces: &[&str]) {
    shows(pieces, &pieces.concat());
}

#[test]
fn what_needs_no_repair_stays_as_it_is() {
    unchanged(&["{\"n\": 7}"]);
    unchanged(&["Words first ", "{\"n\": 7}"]);
    unchanged(&["{\"n\": 7}", " and words after it"]);
    unchanged(&["{\"n\":", " 7,", "\"t\": \"two\"}"]);
    unchanged(&["Good ", "morning!"]);
    unchanged(&["{\"n\": 7} words {\"m\": 8}"]);
    unchanged(&["BEGIN: ", "{\"n\": 7}", " END"]);
    unchanged(&["{\"list\": \"one ", "[x] two\"}"]);
    unchanged(&["{\"xml\": \"one ", "<![CDATA[ two\"}"]);
    unchanged(&["See [the docs](http://x) and [1], or {name}."]);
    unchanged(&[
        "<edit>\n<diff><![CDATA[\n<<<<<<< SEARCH\nx = \"a\"\n=======\nx = \"b\"\n>>>>>>> REPLACE\n]]></diff>\n</edit>",
    ]);
    unchanged(&["<list>\n[-] one\n[ ] two\n[x] three\n</list>"]);
}

#[test]
fn each_document_is_mended_where_it_is() {
    shows(&["{'n': 7,}"], "{\"n\": 7}");
    shows(&["One {'n': 7,} two {'m': 8,} three"], "One {\"n\": 7} two {\"m\": 8} three");
    shows(&["{\"text\": \"Good \"morning\"!\"}"], "{\"text\": \"Good \\\"morning\\\"!\"}");
    shows(&["before ", "{'n': 7, 't': 'x',}"], "before {\"n\": 7, \"t\": \"x\"}");
    let (text, _) =
        shown(&["first ", "{'n': 7,}", " and CALL: run {\"x\":1}"], &MendOptions::new());
    assert_eq!(text, "first {\"n\": 7} and CALL: run {\"x\":1}");
}

#[test]
fn a_small_buffer_does_not_lose_text() {
    let options = MendOptions::new().with_limits(Limits::new().with_buffer(20));
    let pieces = ["{\"words\": \"one two three, \"more\": \"", "four five six\"}"];
    let (text, _) = shown(&pieces, &options);
    assert_eq!(text, "{\"words\": \"one two three\", \"more\": \"four five six\"}");
}

#[test]
fn a_key_without_its_value_is_dropped_when_the_text_ends() {
    // One of the systems makes up a null, and `{"foo": null` without its end where its repair fails.
    let (text, outcomes) = shown(&["{\"key\": \"value\", \"rest\":"], &MendOptions::new());
    assert_eq!((text.as_str(), &outcomes[..]), ("{\"key\": \"value\"}", &[Outcome::Closed][..]));
    let (text, outcomes) = shown(&["{\"key\":"], &MendOptions::new());
    assert_eq!((text.as_str(), &outcomes[..]), ("{}", &[Outcome::Closed][..]));
}

#[test]
fn a_closer_that_does_not_match_does_not_swallow_the_rest() {
    let (text, _) = shown(&["{\"a\": [1, 2} words {\"b\":1}"], &MendOptions::new());
    assert!(text.starts_with("{\"a\": [1, 2]}") && text.ends_with("{\"b\":1}"), "{text}");
}

/// A document that a server sends in pieces, one an event, without a format of a provider around them: the
/// events are decoded, and what they hold is read as it comes.
#[test]
fn a_document_in_the_data_of_several_events_is_one() {
    let body = "data: {\"list\": [\n\ndata: {\"n\": 1,},\n\ndata: {\"n\": 2}\n\ndata: ]}\n\n";
    for size in [1, 7, body.len()] {
        let (mut decoder, mut mender) =
            (SseDecoder::new(SseReading::Lenient), Mender::new(MendOptions::new()));
        let mut json = Vec::new();
        let mut take = |event: SseEvent<'_>| {
            if let SseEvent::Message(message) = event {
                mender.push(message.data_bytes(), &mut json);
            }
        };
        body.as_bytes().chunks(size).for_each(|chunk| decoder.push(chunk, &mut take));
        decoder.finish(&mut take);
        assert_eq!(mender.finish(&mut json), Outcome::Repaired, "{size}");
        assert_eq!(String::from_utf8(json).unwrap(), "{\"list\": [{\"n\": 1},{\"n\": 2}]}");
    }
}

// Answers that a schema describes.

fn fit(schema: &Value, text: &str, options: &FitOptions) -> Option<Value> {
    let schema = Schema::compile(schema).unwrap();
    let fitted = schema.fit(text.as_bytes(), options);
    fitted.text().map(|text| serde_json::from_str(text).unwrap())
}

fn fits(schema: &Value, text: &str) -> Option<Value> {
    fit(schema, text, &FitOptions::new())
}

fn object(properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({"type": "object", "properties": properties, "required": names})
}

#[test]
fn the_document_of_an_answer_must_match() {
    let schema = object(&json!({"wanted": {"type": "string"}}));
    // It is a guess that the only key is another name of the only one in the schema.
    let careful =
        FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    assert_eq!(fit(&schema, "{\"other\": \"value\"}\nand words", &careful), None);
    let number = object(&json!({"n": {"type": "integer"}}));
    assert_eq!(fits(&number, "{\"n\":\"17\"}"), Some(json!({"n": 17})));
    assert_eq!(fits(&number, "{'n': 'many'}"), None);
    // Of several documents, the one that matches counts, and then the one that is called the answer.
    assert_eq!(fits(&number, "{\"m\": 1} or {\"n\": 2}"), Some(json!({"n": 2})));
    assert_eq!(
        fits(&number, "A draft: {\"n\": 1}. The final one: {\"n\": 2}"),
        Some(json!({"n": 2}))
    );
}

/// One of the systems also takes `{text: string}` for a schema, in its own notation, of which the rows of its
/// tests ask whether it has one field of text. Here a schema is JSON Schema, and that is asked of it below.
#[test]
fn words_become_the_only_text_that_is_asked_for() {
    let schema = object(&json!({"text": {"type": "string"}}));
    for words in ["Here is what I found.", "It has \"quotes\" and\nlines and \ttabs"] {
        assert_eq!(fits(&schema, words), Some(json!({"text": words})));
    }
    // Not if there is more to it, or other than text, or less than any text.
    assert_eq!(
        fits(&object(&json!({"text": {"type": "string"}, "n": {"type": "number"}})), "Words"),
        None
    );
    assert_eq!(fits(&object(&json!({"n": {"type": "number"}})), "Words"), None);
    let choice = object(&json!({"text": {"type": "string", "enum": ["a", "b"]}}));
    assert_eq!(fits(&choice, "a would do"), None);
    // Only where a guess is allowed.
    let careful =
        FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    assert_eq!(fit(&schema, "Words", &careful), None);
}

#[test]
fn json_is_not_wrapped_as_text() {
    let schema = object(&json!({"text": {"type": "string"}}));
    assert_eq!(fits(&schema, "{\"text\": \"valid\"}"), Some(json!({"text": "valid"})));
    assert_eq!(fits(&schema, "{\"text\": \"Hello\",}"), Some(json!({"text": "Hello"})));
    // Nor is it if it was cut off: then its end is missing, and is reported to be.
    assert_eq!(fits(&schema, "{\"text\": \"Hello"), Some(json!({"text": "Hello"})));
    // A backslash that begins no escape is kept. One of the systems drops it from the text.
    assert_eq!(fits(&schema, "{\"text\": \"N \\* 2\"}"), Some(json!({"text": "N \\* 2"})));
}

#[test]
fn a_schema_that_comes_back_is_no_answer() {
    let schema = object(&json!({"name": {"type": "string"}}));
    let echo = serde_json::to_string(&schema).unwrap();
    assert_eq!(fits(&schema, &echo), None);
    // Data with the keys of a schema is data.
    let issues = object(&json!({"title": {"type": "string"}, "required": {"type": "array"}}));
    let data = json!({"title": "Bug", "required": ["a", "b"]});
    assert_eq!(fits(&issues, &data.to_string()), Some(data));
    let typed = object(&json!({"type": {"type": "string"}, "data": {"type": "string"}}));
    let data = json!({"type": "object", "data": "some"});
    assert_eq!(fits(&typed, &data.to_string()), Some(data));
}

// Tool calls in an answer: which ones are found, and what is left as content.

fn reader() -> CallExtractor {
    let tools = [("look", "where"), ("find", "query"), ("open_file", "path")];
    let tools = tools
        .iter()
        .fold(Tools::new(), |tools, (name, parameter)| tools.with_tool(*name, [*parameter], None));
    CallExtractor::new(MendOptions::new()).with_tools(tools)
}

fn read(reader: &CallExtractor, text: &str) -> FoundCalls {
    text_calls(text.as_bytes(), reader).unwrap();
    let (mut reader, mut found) = (reader.clone(), FoundCalls::default());
    reader.push(text.as_bytes(), &mut found);
    reader.finish_at_eos(&mut found);
    found
}

#[track_caller]
fn yields(text: &str, calls: &[(&str, &str)], content: &str) {
    let found = read(&reader(), text);
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let got: Vec<_> =
        found.calls().iter().map(|call| (call.name(), show(call.arguments()))).collect();
    let expected: Vec<_> = calls.iter().map(|(name, json)| (*name, (*json).to_owned())).collect();
    assert_eq!(got, expected, "{text}");
    assert!(found.calls().iter().all(|call| call.outcome().can_run()), "{text}: {found:?}");
    assert_eq!(show(found.text()).trim(), content, "{text}");
}

#[test]
fn an_envelope_lists_the_calls() {
    let one = [("open_file", r#"{"path": "a.txt"}"#)];
    let list = r#"{"toolCalls": [{"name": "open_file", "arguments": {"path": "a.txt"}}], "needsMoreWork": true}"#;
    yields(list, &one, "");
    yields(&format!("On it.\n\n{list}"), &one, "On it.");
    yields(&format!("So:\n```json\n{list}\n```"), &one, "So:\n```json\n\n```");
    yields(r#"{"name": "open_file", "arguments": {"path": "a.txt"}}"#, &one, "");
    yields(r#"[{"name": "open_file", "arguments": {"path": "a.txt"}}]"#, &one, "");
    yields(r#"{"function_call": {"name": "open_file", "arguments": {"path": "a.txt"}}}"#, &one, "");
    yields(r#"{"tool": {"name": "open_file", "arguments": {"path": "a.txt"}}}"#, &one, "");
    // An envelope after another object counts, too, on lines of its own.
    yields(&format!("{{\"a\": 1}}\n{list}"), &one, "{\"a\": 1}");
}

#[test]
fn an_envelope_without_calls_is_text() {
    for text in [
        r#"{"content": "It is 7", "needsMoreWork": false}"#,
        r#"{"content": "Hi!"}"#,
        r#"{"content": ""}"#,
        "It is 7.",
        "",
        "There is no JSON in this answer",
    ] {
        yields(text, &[], text.trim());
    }
}

#[test]
fn calls_between_tags_are_all_found() {
    let look = ("look", r#"{"where": "."}"#);
    let list =
        r#"<function_calls>[{"name": "look", "arguments": {"where": "."}}]</function_calls>"#;
    yields(list, &[look], "");
    yields(&format!("I will look.\n{list}"), &[look], "I will look.");
    yields(&format!("A.{list} B. {list}"), &[look, look], "A. B.");
    // What closes the block may be in a string.
    let text = r#"<function_calls>[{"name": "look", "arguments": {"where": "</function_calls>"}}]</function_calls>"#;
    yields(text, &[("look", r#"{"where": "</function_calls>"}"#)], "");
    let invoke = |value: &str| {
        format!("<invoke name=\"open_file\"><parameter name=\"path\">{value}</parameter></invoke>")
    };
    let opened = ("open_file", r#"{"path": "a"}"#);
    yields(&format!("<function_calls>{}</function_calls>", invoke("a")), &[opened], "");
    let both = format!("<function_calls>\n{}{}\n</function_calls>", invoke("a"), invoke("a"));
    yields(&both, &[opened, opened], "");
    let text = "<|tool_calls_section_begin|><|tool_call_begin|>{\"name\": \"look\", \"arguments\": {}}<|tool_call_end|><|tool_calls_section_end|>";
    yields(text, &[("look", "{}")], "");
}

#[test]
fn a_call_of_no_tool_is_text() {
    // `CALL: find {…}` is the notation of one program. Who uses it registers it as a dialect.
    let text = "CALL: find {\"query\": \"x\"}";
    yields(text, &[], text);
    let own = Dialect::named("call", "CALL: ", " ", [""; 0]);
    let found = read(&reader().with_registered(own), text);
    assert_eq!(found.calls()[0].name(), "find");
    assert_eq!(found.calls()[0].arguments(), br#"{"query": "x"}"#);
    // A line of a diff has the marker of a dialect in it, and the name may be that of a tool.
    let text = "<<<<<<< look\n{\"a\": 1}\n=======\n{\"a\": 2}\n>>>>>>> find\n{\"b\": 3}";
    yields(text, &[], text);
    let text = "<nothing><where>x</where></nothing>";
    yields(text, &[], text);
}

#[test]
fn items_that_are_no_calls_are_passed_over() {
    let call = r#"{"name": "find", "arguments": {"query": "x"}}"#;
    let find = ("find", r#"{"query": "x"}"#);
    for item in [
        r#"{"arguments": {"query": "y"}}"#,
        r#"{"name": "", "arguments": {}}"#,
        r#"{"arguments": {}, "name": ""}"#,
        r#"{"name": 5, "arguments": {}}"#,
        r#"{"query": "y"}"#,
        "{}",
    ] {
        for items in [format!("{call}, {item}, {call}"), format!("{item}, {call}, {item}, {call}")]
        {
            let list = format!("{{\"toolCalls\": [{items}], \"content\": \"So.\"}}");
            yields(&format!("{list}\nBye."), &[find, find], "So.\nBye.");
            yields(&format!("<tool_call>{list}</tool_call>"), &[find, find], "So.");
        }
        // Without a call, there is nothing that it could be a part of.
        let text = format!("{{\"toolCalls\": [{item}], \"content\": \"So.\"}}");
        yields(&text, &[], &text);
    }
    // The tool that is named does not exist, and the item says so.
    let text = format!("{{\"toolCalls\": [{call}, {{\"name\": \"sing\", \"arguments\": {{}}}}]}}");
    let found = read(&reader(), &text);
    assert_eq!(found.unknown().map(|(name, _)| name).collect::<Vec<_>>(), ["sing"]);
}

#[test]
fn the_content_next_to_calls_is_for_the_user() {
    let list = r#""tool_calls": [{"name": "find", "arguments": {"query": "x"}}]"#;
    let find = ("find", r#"{"query": "x"}"#);
    yields(
        &format!("{{{list}, \"content\": \"It is\\n\\\"here\\\" \\ud83d\\ude00\"}}"),
        &[find],
        "It is\n\"here\" 😀",
    );
    yields(&format!("{{\"content\": \"On it.\", {list}}}\nBye."), &[find], "On it.\nBye.");
    yields(&format!("{{{list}, 'content': 'On it.',}}"), &[find], "On it.");
    let call = r#""function_call": {"name": "find", "arguments": {"query": "x"}}"#;
    yields(&format!("{{\"content\": \"On it.\", {call}}}"), &[find], "On it.");
    for content in ["null", "\"\"", "{\"a\": 1}", "[\"a\"]"] {
        yields(&format!("{{\"content\": {content}, {list}}}"), &[find], "");
    }
    // So it is in the object of the call itself, unless it is an argument.
    let call = r#"{"name": "find", "arguments": {"query": "x"}, "content": "y"}"#;
    yields(call, &[find], "y");
    // It is text before the first call, and after the last one.
    let read = |text: &str| {
        let mut events = Vec::new();
        let mut segments = SegmentReader::new(reader());
        segments.push(text.as_bytes(), &mut |event: SegmentEvent<'_>| match event {
            SegmentEvent::Content(_) => events.push("content"),
            SegmentEvent::CallBegan(_) => events.push("call"),
            SegmentEvent::CallEnded(_) => events.push("end"),
            _ => {}
        });
        segments.finish_at_eos(&mut |event: SegmentEvent<'_>| {
            assert!(!matches!(event, SegmentEvent::Content(_)));
        });
        events
    };
    assert_eq!(
        read(&format!("{{\"content\": \"a\", {list}}}\nBye.\nThen")),
        ["content", "call", "end"]
    );
    assert_eq!(
        read(&format!("{{{list}, \"content\": \"a\"}}\nBye.\nThen")),
        ["call", "end", "content"]
    );
}

#[test]
fn a_call_that_came_without_arguments_is_not_run() {
    // One of the systems leaves the markup in the content for its caller to find. Here, the call is
    // reported with its name, and cannot be run.
    for text in [
        "<|tool_calls_section_begin|><|tool_call_begin|>find<|tool_call_end|><|tool_calls_section_end|>",
        "So <|tool_call_begin|>find<|tool_call_end|> done.",
        "{\"toolCalls\": [{\"name\": \"find\"",
    ] {
        let found = read(&reader(), text);
        let outcomes: Vec<_> = found.calls().iter().map(FoundCall::outcome).collect();
        assert!(!outcomes.contains(&CallOutcome::Whole), "{text}: {found:?}");
        assert!(!outcomes.contains(&CallOutcome::Repaired), "{text}: {found:?}");
        assert!(!outcomes.is_empty() || found.text() == text.as_bytes(), "{text}: {found:?}");
    }
}

#[test]
fn words_between_markers_of_a_caller_are_a_document_or_text() {
    use wiremend_extract::{Scope, find};
    let best = |text: &str| {
        let mended = find(text.as_bytes(), Scope::Best, &MendOptions::new());
        mended.text().map(|text| text.trim().to_owned())
    };
    let text = "CHART_START\n{\"mark\": \"bar\"}\nCHART_END\n\nSTEPS_START\nAdd a title\nSTEPS_END";
    assert_eq!(best(text).as_deref(), Some("{\"mark\": \"bar\"}"));
    let rows = "ROWS_START\n[\n {\"n\": \"a\"},\n {\"n\": \"b\"}\n]\nROWS_END";
    assert_eq!(best(rows).as_deref(), Some("[\n {\"n\": \"a\"},\n {\"n\": \"b\"}\n]"));
    assert_eq!(best("ROWS_START\n[]\nROWS_END").as_deref(), Some("[]"));
    // Who wants to know which block is which registers the markers.
    let reader = reader()
        .with_registered(Dialect::json_block("chart", "chart", "CHART_START", ["CHART_END"]))
        .with_registered(Dialect::text_block("steps", "steps", "STEPS_START", ["STEPS_END"]));
    let found = read(&reader, text);
    let calls: Vec<_> = found.calls().iter().map(|call| (call.name(), call.arguments())).collect();
    assert_eq!(calls, [("chart", &br#"{"mark": "bar"}"#[..]), ("steps", br#""Add a title""#)]);
    // Neither block, or one that is empty, is none.
    for text in ["Nothing here", "CHART_START\n\nCHART_END"] {
        assert!(read(&reader, text).calls().is_empty());
    }
}
