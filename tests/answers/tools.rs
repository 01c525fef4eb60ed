//! Tool calls in an answer: which ones are found, and what is left as content.

use wiremend_core::MendOptions;
use wiremend_extract::{
    CallExtractor, CallOutcome, Dialect, FoundCall, FoundCalls, SegmentEvent, SegmentReader, Tools,
};
use wiremend_testkit::laws::text_calls;

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
    // An envelope after another object counts, too.
    yields(&format!("{{\"a\": 1}} {list}"), &one, "{\"a\": 1}");
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
    yields(&format!("A {list} b {list}"), &[look, look], "A  b");
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
            yields(&format!("{list} Bye."), &[find, find], "So. Bye.");
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
    yields(&format!("{{\"content\": \"On it.\", {list}}} Bye."), &[find], "On it. Bye.");
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
    assert_eq!(read(&format!("{{\"content\": \"a\", {list}}} ")), ["content", "call", "end"]);
    assert_eq!(read(&format!("{{{list}, \"content\": \"a\"}} ")), ["call", "end", "content"]);
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
