//! Arguments that a repair may have got wrong, and what is certain although it looks so.

use serde_json::json;
use wiremend_core::MendOptions;
use wiremend_extract::{
    CallExtractor,
    CallOutcome::{self, Refused, Repaired, Whole},
    Dialect,
};
use wiremend_schema::Registry;

use super::{
    check,
    templates::{knowing, read},
};

fn reader(name: Option<&str>) -> CallExtractor {
    let text = json!({"type": "string"});
    let count = json!({"type": "integer"});
    let object = |members: serde_json::Value| json!({"type": "object", "properties": members});
    let declared = json!([
        {"name": "run", "parameters": object(json!({"command": text, "cwd": text, "timeout": count}))},
        {"name": "mail", "parameters": object(json!({
            "to": {"type": "array", "items": text}, "subject": text,
        }))},
        {"name": "fly", "parameters": object(json!({
            "from": text, "who": object(json!({"adults": count})), "cabin": text,
        }))},
        {"name": "now", "parameters": object(json!({}))},
    ]);
    let reader = CallExtractor::new(MendOptions::new());
    let reader = match name {
        Some(name) => reader.with_dialect(Dialect::by_name(name).unwrap().clone()),
        None => reader,
    };
    reader.with_tools(Registry::from_tools(&declared).unwrap().tools())
}

/// The arguments of the only call, and how it ends.
#[track_caller]
fn read_arguments(name: Option<&str>, text: &str) -> (String, CallOutcome) {
    let found = check(&reader(name), text).found;
    let [call] = found.calls() else { panic!("{text}: {found:?}") };
    (String::from_utf8_lossy(call.arguments()).into_owned(), call.outcome())
}

/// In three dialects, by name and detected, as an object and as a string of JSON.
#[track_caller]
fn ends(tool: &str, arguments: &str, outcome: CallOutcome) {
    for (name, text) in [
        (
            "hermes",
            format!(
                "<tool_call>\n{{\"name\": \"{tool}\", \"arguments\": {arguments}}}\n</tool_call>"
            ),
        ),
        ("mistral", format!("[TOOL_CALLS]{tool}[ARGS]{arguments}[TOOL_CALLS]now[ARGS]{{}}")),
        ("llama3_json", format!("{{\"name\": \"{tool}\", \"parameters\": {arguments}}}")),
    ] {
        for name in [Some(name), None] {
            let found = check(&reader(name), &text).found;
            let own = found.calls().first().map(wiremend_extract::FoundCall::outcome);
            assert_eq!(own, Some(outcome), "{name:?} {text}: {found:?}");
        }
    }
}

#[test]
fn a_quotation_that_is_not_closed_refuses_the_call() {
    for (tool, arguments) in [
        ("run", r#"{"command": "git commit -m "fix it", "timeout": 5}"#),
        ("run", r#"{"command": "git commit -m \"fix it, "timeout": 5}"#),
        ("run", r#"{"command": "echo ("a", "timeout": 5}"#),
        ("mail", r#"{"to": ["a@b.c, "d@e.f"], "subject": "x"}"#),
    ] {
        ends(tool, arguments, Refused);
    }
    for arguments in [
        r#"{"command": "git commit -m "fix it" now", "timeout": 5}"#,
        r#"{"command": "print("a")", "timeout": 5}"#,
        r#"{"command": "a 6" pipe", "timeout": 5}"#,
    ] {
        ends("run", arguments, Repaired);
    }
    ends("run", r#"{"command": "echo \"a", "timeout": 5}"#, Whole);
}

/// A backslash before a quote may be the last character of the string.
#[test]
fn a_backslash_at_the_end_of_a_path_refuses_the_call() {
    ends("run", r#"{"cwd": "C:\\proj\", "command": "dir"}"#, Refused);
    ends("run", r#"{"command": "ls\", "timeout": 5}"#, Refused);
    ends("run", r#"{"command": "say \"a\", "timeout": 5}"#, Repaired);
    ends("run", r#"{"command": "a pipe of 5\", "timeout": 5}"#, Repaired);
    ends("run", r#"{"cwd": "C:\\proj\\", "command": "dir"}"#, Whole);
}

/// What is written with letters that no escape has was not escaped at all.
#[test]
fn an_escape_in_a_string_without_escapes_refuses_the_call() {
    ends("run", r#"{"command": "grep -E '\bfoo\s' f"}"#, Refused);
    ends("run", r#"{"command": "sed 's/\/usr\/\d+/x/' f"}"#, Refused);
    ends("run", r#"{"command": "grep -E '\d+\n' f"}"#, Repaired);
    ends("run", r#"{"command": "a\/b"}"#, Whole);
}

#[test]
fn a_member_in_the_wrong_object_refuses_the_call() {
    let text = |arguments: &str| {
        format!("<tool_call>\n{{\"name\": \"fly\", \"arguments\": {arguments}\n</tool_call>")
    };
    for name in [Some("hermes"), None] {
        let inside = text(r#"{"from": "A", "who": {"adults": 2, "cabin": "x"}}"#);
        assert_eq!(read_arguments(name, &inside).1, Refused);
        let last = text(r#"{"from": "A", "who": {"adults": 2}"#);
        let (arguments, outcome) = read_arguments(name, &last);
        assert_eq!(arguments.replace('\n', ""), r#"{"from": "A", "who": {"adults": 2}}"#);
        assert_eq!(outcome, Repaired);
        let whole = text(r#"{"from": "A", "who": {"adults": 2, "cabin": "x"}}}"#);
        assert_eq!(read_arguments(name, &whole).1, Whole);
    }
}

#[test]
fn a_key_that_comes_twice_refuses_the_call() {
    ends("run", r#"{"command": "ls", "command": "rm"}"#, Refused);
    ends("run", r#"{"command": "ls", "cwd": "a", "cwd": "a"}"#, Refused);
    ends("run", r#"{"command": "ls", "cwd": "command"}"#, Whole);
    ends("mail", r#"{"to": ["to", "subject", "to"], "subject": "to"}"#, Whole);
    ends("fly", r#"{"who": {"adults": 2, "from": "x"}, "from": "A"}"#, Whole);
}

/// Nothing closes the call of Mistral but the end of the text, and a quote is not certain before.
#[test]
fn a_quote_before_the_end_of_the_text_cuts_no_call_off() {
    for name in [Some("mistral"), None] {
        let text = r#"[TOOL_CALLS]run[ARGS]{"command": "git commit -m "fix it""}"#;
        let (arguments, outcome) = read_arguments(name, text);
        assert_eq!(arguments, r#"{"command": "git commit -m \"fix it\""}"#);
        assert_eq!(outcome, Repaired);
        assert_eq!(read_arguments(name, &text[..text.len() - 2]).1, CallOutcome::Cut);
    }
}

/// A tool without parameters gets nothing, however models write that.
#[test]
fn no_input_is_an_empty_object_for_a_tool_without_parameters() {
    for input in ["None", "null", "N/A", "", "{}", "\"\"", "No input", " none "] {
        for text in [
            format!("Action: now\nAction Input: {input}\nObservation: 12"),
            format!("Action: now\nAction Input: {input}"),
        ] {
            for name in [Some("react"), None] {
                assert_eq!(read_arguments(name, &text), ("{}".to_owned(), Whole), "{text}");
            }
        }
    }
    let (arguments, _) =
        read_arguments(None, "Action: now\nAction Input: the time in a city far away from here");
    assert_eq!(arguments, "\"the time in a city far away from here\"");
    let (arguments, _) = read_arguments(None, "Action: run\nAction Input: None");
    assert_eq!(arguments, "\"None\"");
    let text = "<tool_call>\n{\"name\": \"now\", \"arguments\": \"\"}\n</tool_call>";
    assert_eq!(read_arguments(None, text), ("{}".to_owned(), Whole));
}

/// In tags that are named like tools, a value with a tag in it was not escaped.
#[test]
fn entities_after_a_tag_are_a_part_of_the_document() {
    for (value, expected, outcome) in [
        ("<p>1 &lt; 2</p>", "<p>1 &lt; 2</p>", Whole),
        ("a &lt; b &amp;&amp; c", "a < b && c", Whole),
        ("a && b &lt; c", "a && b < c", Whole),
        ("a &amp; b <b>", "a & b <b>", Refused),
    ] {
        let text = format!("<run>\n<command>{value}</command>\n</run>");
        for name in [Some("xml_tool_tags"), None] {
            let expected = json!({ "command": expected });
            let (arguments, own) = read_arguments(name, &text);
            assert_eq!(arguments.parse::<serde_json::Value>().unwrap(), expected, "{text}");
            assert_eq!(own, outcome, "{text}");
        }
    }
}

/// A quote that has lost its backslash ends the string for a parser. What follows shows that it was none.
#[test]
fn a_quote_that_lost_its_backslash_cuts_no_value_off() {
    let one = r#"{"command": "awk '{print \"a"}' f"}"#;
    let two = r#"{"name": "run", "arguments": {"command": "{\"a\": {\"b\": \"c"}}\n"}}"#;
    let key = r#"{"name": "run", "arguments": {"command": "{\"a\": \"b", \"c\": \"d\"}"}}"#;
    let deep = r#"{"command": "cat > x <<E\n[1, {\"b\": \"c"}]\nE\nls", "cwd": "/"}"#;
    for (name, text) in [
        ("harmony", format!("<|channel|>commentary to=functions.run <|message|>{deep}<|call|>")),
        (
            "kimi_k2",
            format!(
                "<|tool_call_begin|>functions.run:0<|tool_call_argument_begin|>{one}<|tool_call_end|>"
            ),
        ),
        ("harmony", format!("<|channel|>commentary to=functions.run <|message|>{one}<|call|>")),
        ("mistral", format!("[TOOL_CALLS]run[ARGS]{one}")),
        ("react", format!("Action: run\nAction Input: {one}\nObservation: none")),
        ("hermes", format!("<tool_call>\n{two}\n</tool_call>")),
        ("hermes", format!("<tool_call>\n{key}\n</tool_call>")),
        ("llama3_json", two.to_owned()),
        ("nemotron_toolcall", format!("<TOOLCALL>[{two}]</TOOLCALL>")),
    ] {
        assert_eq!(read_arguments(Some(name), &text).1, Refused, "{text}");
    }
    // A quotation after a call, and one around it, are none of that.
    let call = r#"{"name": "run", "arguments": {"command": "ls"}}"#;
    for text in [format!("{call}\n\"so\" on"), format!("'{call}'"), format!("{call}.")] {
        assert_eq!(read_arguments(None, &text).1, Whole, "{text}");
    }
}

/// Quotes in strings of Python, which a program in it needs, are told from the end of the string.
#[test]
fn programs_in_strings_of_python_are_whole_or_refused() {
    for (code, outcome) in [
        ("'d['a'] = 1'", Repaired),
        ("'df[df['a'] > 3]'", Repaired),
        ("'it's fine'", Repaired),
        ("'git commit -m 'fix it'", Refused),
        ("'ls), now(x='y'", Refused),
        ("'ls'', cwd='/'", Refused),
    ] {
        let text = format!("[run(command={code})]");
        let (arguments, own) = read_arguments(Some("pythonic"), &text);
        assert_eq!(own, outcome, "{text}: {arguments}");
        if outcome == Repaired {
            let value = serde_json::from_str::<serde_json::Value>(&arguments).unwrap();
            assert_eq!(value["command"], code[1..code.len() - 1], "{text}");
        }
    }
    let (arguments, outcome) = read_arguments(None, r#"run(command="f(.a=="b") | g")"#);
    assert_eq!((&*arguments, outcome), (r#"{"command": "f(.a==\"b\") | g"}"#, Repaired));
}

// Calls that are not written as the dialect writes them, which are read or reported, and never passed on
// without a word.

#[track_caller]
fn calls(name: Option<&str>, text: &str, expected: &[(&str, &str, CallOutcome)], left: &str) {
    let (calls, text_left) = read(&knowing(name), text);
    let calls: Vec<_> = calls
        .iter()
        .map(|(name, json, outcome)| (name.as_str(), json.as_str(), *outcome))
        .collect();
    assert_eq!((calls.as_slice(), text_left.as_str()), (expected, left), "{name:?} {text}");
}

/// Between the markers of a dialect that was named, another one names a known tool.
#[test]
fn a_call_of_another_dialect_is_reported() {
    let elements = "<tool_call>\n<function=book>\n<parameter=seats>\n2\n</parameter>\n</function>\n</tool_call>";
    for (name, text) in [
        ("hermes", elements),
        ("hermes", "<tool_call>\nbook(seats=2)\n</tool_call>"),
        ("gemma4", "<|tool_call>call:book\n{seats:2}<tool_call|>"),
        ("glm_arg_kv", "<tool_call>book\n<seats>2</seats>\n</tool_call>"),
        ("qwen3_coder_xml", "<function=book\n<parameter=seats>\n2\n</parameter>\n</function>"),
        ("deepseek_v3", "<｜tool▁call▁begin｜>book<｜tool▁sep｜>{\"seats\":2}<｜tool▁call▁end｜>"),
    ] {
        let text = format!("Wait. {text} Done.");
        let (calls, left) = read(&knowing(Some(name)), &text);
        let calls: Vec<_> = calls.iter().map(|call| (call.0.as_str(), call.2)).collect();
        assert_eq!(calls, [("book", Refused)], "{name} {text}");
        assert_eq!(left, "Wait.  Done.", "{name}");
    }
    // Without the name of a tool, it is text.
    for text in [
        "<tool_call> is a marker",
        "<tool_call>\nfly(to=2)\n</tool_call>",
        "Use `<tool_call>book` here",
        "</tool_call> the book",
    ] {
        calls(Some("hermes"), text, &[], text);
        calls(Some("qwen3_coder_xml"), text, &[], text);
    }
}

/// A word that runs over the end of what is looked at is not the tool whose name it begins with.
#[test]
fn a_name_that_is_not_seen_as_a_whole_is_not_known() {
    for blanks in 80..100 {
        let text = format!("<tool_call>{}bookings are open.", " ".repeat(blanks));
        calls(Some("hermes"), &text, &[], &text);
    }
}

#[test]
fn a_header_without_the_kind_of_the_call_is_read() {
    let text = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>book\n```json\n{\"seats\": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>";
    calls(Some("deepseek_v3"), text, &[("book", "{\"seats\": 2}", Whole)], "");
}

/// Calls in Python without a list are calls after the marker that says so.
#[test]
fn a_marker_is_as_good_as_a_list() {
    let text = "<|python_start|>book(seats=2)\nnow()<|python_end|>";
    let both = [("book", "{\"seats\": 2}", Whole), ("now", "{}", Whole)];
    calls(Some("llama4_pythonic"), text, &both, "");
    for text in ["book(seats=2)", "<|python_start|>print(2)<|python_end|>"] {
        calls(Some("llama4_pythonic"), text, &[], text);
    }
}

#[test]
fn labels_in_bold_are_labels() {
    for name in [Some("react"), None] {
        for label in ["**Action:**", "**Action**:", "Action:"] {
            let input = label.replace("Action", "Action Input");
            let text = format!("{label} book\n{input} {{\"seats\": 2}}");
            calls(name, &text, &[("book", "{\"seats\": 2}", Whole)], "");
        }
        calls(name, "**Action items:** book\n", &[], "**Action items:** book\n");
    }
    let text =
        "**Thought:** one\n**Action:** brave_search\n**Action Input:** rain\n**Observation:** wet";
    let found = check(&knowing(Some("react")), text).found;
    assert_eq!(found.reasoning(), b" one\n");
    assert_eq!(found.text(), b"\n**Observation:** wet");
}

#[test]
fn a_tag_that_closes_itself_is_a_call_without_arguments() {
    for (name, text) in [
        (Some("xml_tool_tags"), "<now/>"),
        (None, "<now />"),
        (None, "<invoke name=\"now\"/>"),
        (None, "<function_calls><invoke name=\"now\" /></function_calls>"),
        (Some("qwen3_coder_xml"), "<tool_call><function=now/></tool_call>"),
    ] {
        calls(name, text, &[("now", "{}", Whole)], "");
    }
}

/// They may be arguments, which would be lost.
#[test]
fn attributes_that_mean_nothing_refuse_the_call() {
    for (name, text) in [
        (Some("xml_tool_tags"), "<book name=\"Ada\"></book>"),
        (Some("xml_tool_tags"), "<book name=\"Ada\"><seats>2</seats></book>"),
        (Some("xml_tool_tags"), "<book seats=\"2\"/>"),
        (None, "<book seats=\"2\"/>"),
        (None, "<invoke name=\"book\" seats=\"2\"></invoke>"),
    ] {
        let (calls, _) = read(&knowing(name), text);
        assert_eq!(calls.iter().map(|call| call.2).collect::<Vec<_>>(), [Refused], "{text}");
    }
    // Where HTML has such a tag, it is text.
    calls(None, "<book/>", &[], "<book/>");
}

#[test]
fn both_spellings_of_a_tag_end_the_reasoning() {
    for text in ["<think>a</thinking>b", "<thinking>a</think>b", "<think>a</Thinking>b"] {
        let found = check(&knowing(None), text).found;
        assert_eq!((found.reasoning(), found.text()), (&b"a"[..], &b"b"[..]), "{text}");
    }
}
