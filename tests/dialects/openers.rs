//! Calls whose opener is missing or spelled in another way, and calls in reasoning that nothing closes.

use serde_json::json;
use wiremend_extract::{CallExtractor, CallOutcome, CallOutcome::*, Dialect};
use wiremend_schema::Registry;

use super::{check, reader};

/// Tools of which one name begins another.
fn with_tools(dialect: &str) -> CallExtractor {
    let string = json!({"type": "string"});
    let tool = |name: &str, key: &str| json!({"name": name, "parameters": {"type": "object", "properties": {key: string}}});
    let declared = json!([
        tool("read", "path"),
        tool("read_file", "path"),
        tool("mcp.list-all", "of"),
        tool("wait_2", "for"),
    ]);
    let row = Dialect::by_name(dialect);
    reader(row).with_tools(Registry::from_tools(&declared).unwrap().tools())
}

type Call = (String, String, CallOutcome);

/// The calls, and the text that is left.
fn read(dialect: &str, text: &str) -> (Vec<Call>, String) {
    let found = check(&with_tools(dialect), text).found;
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let calls = found.calls().iter();
    let calls = calls.map(|call| (call.name().into(), show(call.arguments()), call.outcome()));
    (calls.collect(), show(found.text()))
}

/// In a dialect and detected, a text has these calls and nothing else.
#[track_caller]
fn yields(dialect: &str, text: &str, expected: &[(&str, &str)]) {
    for dialect in [dialect, "auto"] {
        let (found, left) = read(dialect, text);
        let calls: Vec<_> = found.iter().map(|call| (&*call.0, &*call.1)).collect();
        assert_eq!(calls, expected, "{dialect}: {text}");
        assert!(found.iter().all(|call| call.2.can_run()), "{dialect}: {text}: {found:?}");
        assert_eq!(left.trim(), "", "{dialect}: {text}");
    }
}

/// A call of this tool is reported, and does not run.
#[track_caller]
fn reports(dialect: &str, text: &str, name: &str) {
    let (found, _) = read(dialect, text);
    assert!(!found.is_empty(), "{dialect}: lost: {text}");
    let stopped = |call: &Call| call.0 == name && !call.2.can_run();
    assert!(found.iter().all(stopped), "{dialect}: {text}: {found:?}");
}

#[track_caller]
fn is_text(dialect: &str, text: &str) {
    assert_eq!(read(dialect, text), (Vec::new(), text.to_owned()), "{dialect}");
}

/// Clients give the identifiers of Kimi K2 back with other punctuation, and the model goes on with theirs.
#[test]
fn the_declared_tool_is_found_in_an_identifier() {
    let call = |id: &str| {
        format!(
            "<|tool_call_begin|>{id}<|tool_call_argument_begin|>{{\"path\": \"x\"}}<|tool_call_end|>"
        )
    };
    let section =
        |calls: &str| format!("<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>");
    for id in [
        "functions.read:0",
        "functions_read_1",
        "functions-read-1",
        "functionsread5",
        "functions.read12",
        "functions_read:3",
        "functionsread",
        "read:0",
        "read_0",
        "read",
    ] {
        yields("kimi_k2", &section(&call(id)), &[("read", r#"{"path": "x"}"#)]);
        let both = section(&[call(id), call("functions_read_file_7")].concat());
        let read = r#"{"path": "x"}"#;
        yields("kimi_k2", &both, &[("read", read), ("read_file", read)]);
    }
    for (id, tool) in
        [("functions_mcp_list_all_0", "mcp.list-all"), ("functions.wait_2:1", "wait_2")]
    {
        yields("kimi_k2", &section(&call(id)), &[(tool, r#"{"path": "x"}"#)]);
    }
    let found = check(&with_tools("kimi_k2"), &section(&call("functions_read_1"))).found;
    assert_eq!(found.calls()[0].id(), Some("functions_read_1"));
    // What is no number is another tool, and so is a number that nothing sets apart.
    let own = section(
        &call("call_8f2")
            .replace("{\"path\": \"x\"}", "{\"name\": \"read\", \"arguments\": {\"path\": \"x\"}}"),
    );
    yields("kimi_k2", &own, &[("read", r#"{"path": "x"}"#)]);
    for id in ["functions_read_x", "functionsreader", "read5", "xread_1", "call_1"] {
        let found = check(&with_tools("kimi_k2"), &section(&call(id))).found;
        assert!(!found.calls()[0].known(), "{id}: {found:?}");
        let found = check(&with_tools("auto"), &section(&call(id))).found;
        assert!(found.calls().is_empty() && found.unknown().count() == 1, "{id}: {found:?}");
    }
}

/// A bar is a bar, of whatever kind and however often.
#[test]
fn bars_are_spelled_in_every_way() {
    for bar in ["｜", "｜｜", "|", "||", "‖", "∥", "｜|", " | ", " ｜ "] {
        for name in ["deepseek_dsml_v32", "deepseek_dsml_v4", "deepseek_dsml_v41", "gigachat35"] {
            let example = Dialect::by_name(name).unwrap().example();
            let text = example.replace('｜', bar).replace("book", "read").replace("seats", "path");
            yields(name, &text, &[("read", "{\"path\": \"2\"}")]);
            let two = format!("{text}\n{text}");
            yields(name, &two, &[("read", "{\"path\": \"2\"}"), ("read", "{\"path\": \"2\"}")]);
        }
    }
    let json = "<｜｜DSML｜｜invoke name=\"read\">{\"path\": \"x\"}</｜｜DSML｜｜invoke>";
    yields("deepseek_dsml_v4", json, &[("read", r#"{"path": "x"}"#)]);
}

#[test]
fn the_markers_of_llama_4_hold_json_too() {
    let call =
        |path: &str| format!("{{\"name\": \"read\", \"parameters\": {{\"path\": \"{path}\"}}}}");
    for name in ["llama4_pythonic", "pythonic"] {
        for text in [
            format!("<|python_start|>{}<|python_end|>", call("x")),
            format!("<|python_start|>\n{}\n<|python_end|><|eot|>", call("x")),
            format!("<|python_start|>{}", call("x")),
            format!("<|python_start|>[{}]<|python_end|>", call("x")),
        ] {
            let (found, left) = read(name, &text);
            assert_eq!(
                found,
                [("read".into(), r#"{"path": "x"}"#.into(), Whole)],
                "{name}: {text}"
            );
            assert!(["", "<|eot|>"].contains(&left.trim()), "{name}: {text}: {left}");
        }
        let two = format!("<|python_start|>{}; {}<|python_end|>", call("x"), call("y"));
        let both = [("read", r#"{"path": "x"}"#), ("read", r#"{"path": "y"}"#)];
        yields(name, &two, &both);
        yields(name, "<|python_start|>[read(path='x')]<|python_end|>", &both[..1]);
    }
}

/// The name of a tool at the start of a line, and what follows names in a dialect.
#[test]
fn a_call_without_its_opener_is_read() {
    let x = r#"{"path": "x"}"#;
    let glm = "<arg_key>path</arg_key><arg_value>x</arg_value></tool_call>";
    for (dialect, tail) in [
        ("functionary_v31", "{\"path\": \"x\"}</function>".to_owned()),
        ("functionary_v31", ">{\"path\": \"x\"}</function>".to_owned()),
        ("functionary_v31", ">{\"path\": \"x\"}\n</function>".to_owned()),
        ("glm_arg_kv", glm.to_owned()),
        ("glm_arg_kv", format!("\n{glm}")),
        ("hunyuan_v3", format!("<tool_sep>\n{glm}")),
        ("kimi_k2", ":0<|tool_call_argument_begin|>{\"path\": \"x\"}<|tool_call_end|>".to_owned()),
        (
            "kimi_k2",
            ":0<|tool_call_argument_begin|>{\"path\": \"x\"}<|tool_calls_section_end|>".to_owned(),
        ),
        ("deepseek_v31", "<｜tool▁sep｜>{\"path\": \"x\"}<｜tool▁call▁end｜>".to_owned()),
        ("mistral", "[ARGS]{\"path\": \"x\"}".to_owned()),
    ] {
        let text = format!("read{tail}");
        yields(dialect, &text, &[("read", x)]);
        yields(dialect, &format!("{text}read_file{tail}"), &[("read", x), ("read_file", x)]);
        for dialect in [dialect, "auto"] {
            let (found, left) = read(dialect, &format!("I read it.\n{text}\nSo."));
            assert_eq!(found.len(), 1, "{dialect}: {text}");
            assert!(left.starts_with("I read it.\n") && left.ends_with("So."), "{left}");
        }
        // In a sentence, in code, after the name of another tool, it is text.
        for text in
            [format!("It wrote read{tail}"), format!("`read{tail}`"), format!("> read{tail}")]
        {
            let (found, _) = read("auto", &text);
            assert!(found.iter().all(|call| !call.2.can_run()), "{text}: {found:?}");
        }
        let (found, _) = read("auto", &format!("spread{tail}"));
        assert!(found.is_empty(), "{tail}: {found:?}");
    }
}

/// What closes the call has to follow where nothing else says that it is one.
#[test]
fn a_call_without_its_markers_is_reported() {
    for text in ["read{\"path\": \"x\"}", "read>{\"path\": \"x\"}\n\nSo.", "read{\"path\": \"x\""] {
        reports("auto", text, "read");
        reports("functionary_v31", text, "read");
    }
    for text in
        ["read<arg_key>path</arg_key><arg_value>x", "read<arg_key>path</arg_key></tool_call>"]
    {
        reports("auto", text, "read");
        reports("glm_arg_kv", text, "read");
    }
    for text in [
        "read{path}",
        "read{\"other\": 1}</function>",
        "read {\"path\": \"x\"}",
        "readers{\"path\": 1}",
    ] {
        is_text("auto", text);
        is_text("functionary_v31", text);
    }
}

#[test]
fn tags_without_their_brackets_are_reported() {
    let call = "invoke name=\"read\">\nparameter name=\"path\">xparameter>\ninvoke>";
    for text in [
        call.to_owned(),
        format!("{call}\n{call}\n"),
        format!("I read it.\n{call}"),
        format!("<minimax:tool_call>\n{call}\n</minimax:tool_call>"),
    ] {
        reports("minimax_m2_xml", &text, "read");
        reports("auto", &text, "read");
    }
    let call = "function=read>\nparameter=path>\nx\n</parameter>\n</function>";
    reports("qwen3_coder_xml", call, "read");
    reports("auto", call, "read");
    let (_, left) = read("minimax_m2_xml", "I read it.\ninvoke name=\"read\">\ninvoke>\nSo.");
    assert_eq!(left, "I read it.\n\nSo.");
    for text in ["Write invoke name=\"read\"> to read.", "invoke name=\"write\">", "function=read"]
    {
        is_text("auto", text);
    }
}

/// The tokens between the tag around calls and that of a call may be lost.
#[test]
fn tags_of_kimi_k3_that_run_together_are_read() {
    let call = |name: &str, close: &str| {
        format!(
            "call tool=\"{name}\" index=\"1\"<|sep|><|open|>argument key=\"path\" type=\"string\"<|sep|>x{close}argument<|sep|><|close|>call<|sep|>"
        )
    };
    let x = r#"{"path": "x"}"#;
    let one = format!("<|open|>tools{}", call("read", "<|close|>"));
    yields("kimi_k3", &one, &[("read", x)]);
    yields("kimi_k3", &format!("{one}<|close|>tools<|sep|>"), &[("read", x)]);
    let two = format!("{one}<|open|>{}", call("read_file", "<|close|>"));
    yields("kimi_k3", &two, &[("read", x), ("read_file", x)]);
    let (found, left) = read("auto", &format!("I read it.\n{one}"));
    assert_eq!((found.len(), &*left), (1, "I read it.\n"));
    let lost = one.replace("<|sep|><|open|>argument", "<|open|>argument");
    for dialect in ["kimi_k3", "auto"] {
        reports(dialect, &lost, "read");
        is_text(dialect, "A `<|open|>tools` reads, and <|open|>tools read.");
    }
    // A value that runs into the next tag is not known.
    for dialect in ["kimi_k3", "auto"] {
        reports(dialect, &format!("<|open|>tools{}", call("read", "")), "read");
    }
}

/// Nothing closes the reasoning, so the call in it may be meant: it is reported, and stays reasoning.
#[test]
fn a_call_in_reasoning_that_is_not_closed_is_reported() {
    for row in Dialect::all() {
        let example = row.example().replace("book", "read").replace("seats", "path");
        let marked = example.starts_with(['<', '[', ']']) && !row.has_messages();
        let bare =
            ["xlam", "pythonic", "deepseek_r1", "cohere_command", "react"].contains(&row.name());
        if !marked || bare || example.starts_with("[{") {
            continue;
        }
        for (open, close) in
            [("<think>", "</think>"), ("<reasoning>", "</reasoning>"), ("[THINK]", "[/THINK]")]
        {
            let text = format!("{open}\nLet me read it.\n{example}");
            for dialect in [row.name(), "auto"] {
                let (found, left) = read(dialect, &text);
                assert!(found.iter().any(|call| call.0 == "read"), "{dialect}: lost: {text}");
                assert_eq!(left, "", "{dialect}: {text}");
                // A token ends the reasoning, and a tag does not.
                let token = example.starts_with("<|") || example.starts_with("<｜");
                assert_eq!(
                    found.iter().any(|call| call.2.can_run()),
                    token,
                    "{dialect}: {text}: {found:?}"
                );
                let closed = format!("{text}\n{close}\nSo.");
                let (found, _) = read(dialect, &closed);
                assert!(token || found.is_empty(), "{dialect}: {closed}: {found:?}");
            }
        }
    }
    let call = "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"x\"}}\n</tool_call>";
    for dialect in ["hermes", "auto"] {
        // What it speaks of is no call.
        for text in [
            "<think>\nI may write <tool_call> to read.",
            "<think>\nread it",
            "<think>\n`<tool_call>` may read.",
        ] {
            assert_eq!(read(dialect, text).0, [], "{dialect}: {text}");
        }
        let text = format!("<think>\nI read.\n{call}\n{call}");
        assert_eq!(read(dialect, &text).0, [("read".into(), "{}".into(), Cut)], "{dialect}");
        for text in [
            "<think>\nI read.\nread(path='x')",
            "<think>\n{\"name\": \"read\", \"arguments\": {\"path\": \"x\"}}",
        ] {
            assert_eq!(read("auto", text).0, [("read".into(), "{}".into(), Cut)], "{text}");
        }
        let started = with_tools(dialect).with_start(wiremend_extract::CallStartState::Reasoning);
        let found = check(&started, call).found;
        assert_eq!(found.calls().len(), 1, "{dialect}: {found:?}");
        assert!(!found.calls()[0].outcome().can_run() && found.text().is_empty(), "{dialect}");
    }
}
