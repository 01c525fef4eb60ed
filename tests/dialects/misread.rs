//! Arguments that a repair may have got wrong, and what is certain although it looks so.

use serde_json::json;
use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, CallOutcome, Dialect};
use wiremend_schema::Registry;

use super::check;
use CallOutcome::{Refused, Repaired, Whole};

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
fn read(name: Option<&str>, text: &str) -> (String, CallOutcome) {
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
        assert_eq!(read(name, &inside).1, Refused);
        let last = text(r#"{"from": "A", "who": {"adults": 2}"#);
        let (arguments, outcome) = read(name, &last);
        assert_eq!(arguments.replace('\n', ""), r#"{"from": "A", "who": {"adults": 2}}"#);
        assert_eq!(outcome, Repaired);
        let whole = text(r#"{"from": "A", "who": {"adults": 2, "cabin": "x"}}}"#);
        assert_eq!(read(name, &whole).1, Whole);
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
        let (arguments, outcome) = read(name, text);
        assert_eq!(arguments, r#"{"command": "git commit -m \"fix it\""}"#);
        assert_eq!(outcome, Repaired);
        assert_eq!(read(name, &text[..text.len() - 2]).1, CallOutcome::Cut);
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
                assert_eq!(read(name, &text), ("{}".to_owned(), Whole), "{text}");
            }
        }
    }
    let (arguments, _) =
        read(None, "Action: now\nAction Input: the time in a city far away from here");
    assert_eq!(arguments, "\"the time in a city far away from here\"");
    let (arguments, _) = read(None, "Action: run\nAction Input: None");
    assert_eq!(arguments, "\"None\"");
    let text = "<tool_call>\n{\"name\": \"now\", \"arguments\": \"\"}\n</tool_call>";
    assert_eq!(read(None, text), ("{}".to_owned(), Whole));
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
            let (arguments, own) = read(name, &text);
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
        assert_eq!(read(Some(name), &text).1, Refused, "{text}");
    }
    // A quotation after a call, and one around it, are none of that.
    let call = r#"{"name": "run", "arguments": {"command": "ls"}}"#;
    for text in [format!("{call} and \"so\" on"), format!("'{call}'"), format!("{call}.")] {
        assert_eq!(read(None, &text).1, Whole, "{text}");
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
        let (arguments, own) = read(Some("pythonic"), &text);
        assert_eq!(own, outcome, "{text}: {arguments}");
        if outcome == Repaired {
            let value = serde_json::from_str::<serde_json::Value>(&arguments).unwrap();
            assert_eq!(value["command"], code[1..code.len() - 1], "{text}");
        }
    }
    let (arguments, outcome) = read(None, r#"run(command="f(.a=="b") | g")"#);
    assert_eq!((&*arguments, outcome), (r#"{"command": "f(.a==\"b\") | g"}"#, Repaired));
}
