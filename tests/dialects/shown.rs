//! Calls that are shown, and not made: in the value of another one, in a program, in a difference between two
//! texts, and in a conversation that is over.

use wiremend_core::{Limits, MendOptions};
use wiremend_extract::{CallExtractor, CallOutcome, Dialect};
use wiremend_testkit::laws::CallTrace;

use super::{
    check,
    templates::{knowing, read},
    unmarked::tools,
};

/// Nothing in this text is a call, and all of it is left.
#[track_caller]
fn is_text(text: &str) {
    let (calls, left) = read(&knowing(None), text);
    assert!(calls.is_empty(), "{text}: {calls:?}");
    assert_eq!(left, text);
}

/// One call of `book`, with this guest and nothing else, by name and detected, and how it ends.
#[track_caller]
fn books(dialect: &str, text: &str, guest: &str, outcome: CallOutcome) {
    for reader in [knowing(Some(dialect)), knowing(None)] {
        let (calls, left) = read(&reader, text);
        let [(name, arguments, own)] = &calls[..] else { panic!("{text}: {calls:?}") };
        assert_eq!((name.as_str(), own), ("book", &outcome), "{text}: {arguments}");
        let guest = serde_json::json!({ "name": guest });
        assert_eq!(arguments.parse::<serde_json::Value>().unwrap(), guest, "{text}");
        assert_eq!(left, "", "{text}");
    }
}

/// The parts of a call with one parameter, of three dialects.
const DIALECTS: [(&str, &str, &str); 3] = [
    (
        "qwen3_coder_xml",
        "<tool_call>\n<function=book>\n<parameter=name>\n",
        "\n</parameter>\n</function>\n</tool_call>",
    ),
    (
        "minimax_m2_xml",
        "<minimax:tool_call>\n<invoke name=\"book\">\n<parameter name=\"name\">",
        "</parameter>\n</invoke>\n</minimax:tool_call>",
    ),
    (
        "glm_arg_kv",
        "<tool_call>book\n<arg_key>name</arg_key>\n<arg_value>",
        "</arg_value>\n</tool_call>",
    ),
];

#[test]
fn a_value_may_show_a_call_in_its_own_markers() {
    for (dialect, head, tail) in DIALECTS {
        let inner = format!("{head}Ada{tail}");
        for value in [
            format!("Write:\n{inner}\nand no more."),
            format!("Write:\n{inner}"),
            format!("Write {inner} there."),
            format!("{inner}\nor\n{inner}"),
            inner.clone(),
        ] {
            books(dialect, &format!("{head}{value}{tail}"), &value, CallOutcome::Whole);
        }
    }
}

/// Where the value is not closed after the call in it, nobody knows whether that is the next call.
#[test]
fn a_call_after_a_value_that_is_cut_off_is_not_made() {
    for (dialect, head, tail) in DIALECTS {
        let text = format!("{head}Write:\n{head}Ada{tail}");
        for reader in [knowing(Some(dialect)), knowing(None)] {
            let (calls, _) = read(&reader, &text);
            let ends: Vec<_> = calls.iter().map(|call| call.2).collect();
            assert_eq!(ends, [CallOutcome::Cut], "{text}: {calls:?}");
        }
    }
}

/// The transport may have cut off what closes the value, so nothing in it is made.
#[test]
fn a_call_in_a_value_is_not_made_before_the_text_ends() {
    for (dialect, head, tail) in DIALECTS {
        let text = format!("{head}Write:\n{head}Ada{tail}\nand so on.{tail}");
        for reader in [knowing(Some(dialect)), knowing(None)] {
            for end in 0..text.len() {
                let mut reader = reader.clone();
                let mut trace = CallTrace::default();
                reader.push(&text.as_bytes()[..end], &mut trace);
                reader.finish(&mut trace);
                assert!(trace.found.calls().len() <= 1, "{end} {text}: {:?}", trace.found);
            }
        }
    }
}

/// However many calls begin in values, the text is read a few times at most.
#[test]
fn looking_for_the_end_of_a_value_is_linear() {
    for (dialect, head, _) in DIALECTS {
        for dialect in [Some(dialect), None] {
            let steps = |count: usize| {
                let mut reader = knowing(dialect);
                let mut trace = CallTrace::default();
                for piece in head.repeat(count).as_bytes().chunks(64) {
                    reader.push(piece, &mut trace);
                }
                reader.finish_at_eos(&mut trace);
                reader.steps()
            };
            let (small, large) = (steps(200), steps(400));
            assert!(large < small * 3, "{dialect:?}: {small} {large}");
        }
    }
}

#[test]
fn the_statements_of_a_program_are_not_calls() {
    for code in [
        "def main():\n    total = 1\n    book(seats=2)\n    return now()\n",
        "async function main() {\n  const a = 1;\n  await book({seats: 2});\n}\n",
        "for i in range(3):\n    print(i)\n\n    book(seats=2)\n",
        "class A:\n\n    def run(self):\n        x = 1\n        book(seats=2)\n",
        "x = lambda: book(seats=2)\n",
        "x = lambda seats: book(seats=2)\n",
        "const run = () => book({seats: 2});\n",
    ] {
        is_text(&format!("Here it is:\n{code}"));
        is_text(&format!("Here it is:\n\n```python\n{code}```\nDone."));
        is_text(&format!("Here it is:\n~~~\n{code}~~~\n"));
    }
    is_text("def main():\r\r\n    book(seats=2)\n");
    is_text("```ts\n/**\n * book({seats: 2})\n */\n```");
}

/// Not everything that is indented belongs to a block.
#[test]
fn calls_next_to_a_block_are_read() {
    let call = ("book", r#"{"seats":2}"#);
    for text in [
        "```python\n    book(seats=2)\n```",
        "1. First:\n    ```python\n    book(seats=2)\n    ```\n",
        "The call:\n\n    book(seats=2)\n",
        "The call:\nbook(seats=2)\n",
        "That is done ✅\n\nbook(seats=2)\n",
        "- [x]\nbook(seats=2)\n",
        "I will do this:\n- `book(seats=2)`\n",
        "```python\n# Two come.\nbooked = book(seats=2)\n```",
        "```diff\n- a\n```\nbook(seats=2)",
        "````md\n```diff\n````\nbook(seats=2)",
    ] {
        let reader = CallExtractor::new(MendOptions::new()).with_tools(tools());
        let found = check(&reader, text).found;
        let calls: Vec<_> = found
            .calls()
            .iter()
            .map(|call| (call.name(), String::from_utf8_lossy(call.arguments()).replace(' ', "")))
            .collect();
        assert_eq!(calls, [(call.0, call.1.to_owned())], "{text}: {found:?}");
    }
}

#[test]
fn neither_side_of_a_difference_is_a_call() {
    is_text("```diff\n- book(seats=2)\n+ book(seats=3)\n```");
    is_text("```diff\n- {\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n```\n");
    is_text("````patch\n```\n+ book(seats=3)\n````");
}

#[test]
fn the_calls_of_a_conversation_were_made_before() {
    let call =
        r#"{"role": "assistant", "tool_calls": [{"name": "book", "arguments": {"seats": 2}}]}"#;
    for role in ["user", "system", "developer", "tool"] {
        is_text(&format!("[{{\"role\": \"{role}\", \"content\": \"Two.\"}}, {call}]"));
        is_text(&format!("[\n{{\"content\": \"Two.\", \"role\": \"{role}\"}},\n{call}, {call}]\n"));
    }
    let (calls, left) = read(&knowing(None), &format!("[{call}]"));
    assert_eq!((calls.len(), left.as_str()), (1, ""));
}

#[test]
fn a_map_of_schemas_declares_a_tool() {
    is_text(
        r#"{"name": "book", "parameters": {"seats": {"type": "integer"}, "name": {"type": "string"}}}"#,
    );
    is_text(r#"{"name": "book", "parameters": {"name": {"description": "Who comes."}}}"#);
    let (calls, _) = read(&knowing(None), r#"{"name": "book", "parameters": {"name": "type"}}"#);
    assert_eq!(calls[0].1, r#"{"name": "type"}"#);
}

/// What comes after a second marker may be what was meant.
#[test]
fn arguments_after_arguments_refuse_the_call() {
    let object = r#"{"seats": 2}"#;
    for (name, text) in [
        ("mistral", format!("[TOOL_CALLS]book[ARGS]{object}[ARGS]{object}")),
        ("mistral", format!("[TOOL_CALLS]book[ARGS]{{}}{object}")),
        ("react", format!("Action: book\nAction Input: {object}\nAction Input: {object}")),
        (
            "deepseek_v31",
            format!(
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>book<｜tool▁sep｜>{object}\
                 <｜tool▁sep｜>{object}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
            ),
        ),
        (
            "kimi_k2",
            format!(
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0\
                 <|tool_call_argument_begin|>{object} <|tool_call_argument_begin|>{object}\
                 <|tool_call_end|><|tool_calls_section_end|>"
            ),
        ),
    ] {
        for reader in [knowing(Some(name)), knowing(None)] {
            let (calls, left) = read(&reader, &text);
            assert_eq!(calls.len(), 1, "{text}: {calls:?}");
            assert_eq!((calls[0].2, left.as_str()), (CallOutcome::Refused, ""), "{text}");
        }
    }
}

/// The text for the user is not lost, wherever the call is next to it.
#[test]
fn the_content_next_to_a_call_is_text() {
    let call = r#"{"name": "book", "arguments": {"seats": 2}}"#;
    for (text, content) in [
        (
            format!(r#"[{{"role": "assistant", "tool_calls": [{call}], "content": "On it."}}]"#),
            "On it.",
        ),
        (
            format!(
                r#"[{{"content": "One. ", "tool_calls": [{call}]}}, {{"content": "Two.", "tool_calls": [{call}]}}]"#
            ),
            "One. Two.",
        ),
        (
            r#"{"content": "On it.", "name": "book", "arguments": {"seats": 2}}"#.to_owned(),
            "On it.",
        ),
        (
            r#"{"name": "book", "arguments": {"seats": 2}, "content": "On it."}"#.to_owned(),
            "On it.",
        ),
        (r#"{"content": "On it.", "tool": "book", "seats": 2}"#.to_owned(), "On it."),
    ] {
        let found = check(&knowing(None), &text).found;
        assert!(found.calls().iter().all(|call| call.outcome().can_run()), "{text}: {found:?}");
        assert!(!found.calls().is_empty(), "{text}: {found:?}");
        assert_eq!(String::from_utf8_lossy(found.text()), content, "{text}");
    }
}

/// Nothing is held back for it.
#[test]
fn a_value_that_shows_a_call_may_be_longer_than_the_limit() {
    let limits = Limits::new().with_buffer(256);
    for (dialect, head, tail) in DIALECTS {
        let inner = format!("{head}Ada{tail}");
        let value = format!("Write:\n{inner}\n{}{inner}\nDone.", "and so on, ".repeat(60));
        for reader in [knowing(Some(dialect)), knowing(None)] {
            let reader = reader.with_mending(MendOptions::new().with_limits(limits));
            for (text, outcome) in [
                (format!("{head}{value}{tail}"), CallOutcome::Whole),
                (format!("{head}{value}"), CallOutcome::Cut),
            ] {
                let (calls, _) = read(&reader, &text);
                let [(_, arguments, own)] = &calls[..] else { panic!("{text}: {calls:?}") };
                assert_eq!(*own, outcome, "{text}: {arguments}");
                let arguments: serde_json::Value = arguments.parse().unwrap();
                assert_eq!(arguments, serde_json::json!({ "name": value }), "{text}");
            }
        }
    }
}

#[test]
fn what_shows_how_a_function_is_used_is_no_call() {
    let object = r#"{"name": "book", "arguments": {"seats": 2}}"#;
    is_text("Observation: book(seats=2)");
    is_text(&format!("Thought: It is done.\nObservation:\n{object}"));
    is_text("Usage: book(seats=2)\n");
    is_text("For example:\n>>> book(seats=2)\n2\n>>> now()\n'10:00'\n");
    for label in ["Output", "Syntax", "Example", "For example", "Wrong"] {
        is_text(&format!("{label}: book(seats=2)\n"));
    }
    is_text("In [1]: book(seats=2)\nOut[1]: 2\n");
    is_text("Set B1 to `=now()`.");
    is_text("@book(seats=2)\ndef f(): pass");
    is_text("- [x] book(seats=2)\n- [ ] now()\n");
    is_text("```python\ndef a():\n    return book(seats=2)\n```");
    is_text("> Assistant: book(seats=2)");
    is_text(&format!("> Assistant: {object}"));
    for item in [
        "- `now()`: the time",
        "- `now()` - the time",
        "1. `now()`",
        "* **now()**:",
        "**`now()`**",
        "now() - the time",
    ] {
        is_text(&format!("I have these tools:\n\n{item}\n{item}\n"));
    }
    for program in ["expected = ", "messages.append(", "prompt = '", "x=f("] {
        is_text(&format!("```python\n{program}{object}"));
    }
    for language in ["go", "rust", "C++", "mermaid", "sql", "yaml title=\"a\""] {
        is_text(&format!("```{language}\nbook(seats=2)\n{object}\n```"));
    }
    for text in ["book(seats=2) -> dict", "First: book(seats=2)", "book(seats=2) = 2"] {
        is_text(text);
    }
    for text in ["book(seats=2)\n-> done", "First:\nbook(seats=2)"] {
        let (calls, _) = read(&knowing(None), text);
        assert_eq!(calls[0].2, CallOutcome::Whole, "{text}: {calls:?}");
    }
}

/// Models mix the markers of their dialect with calls of another one. Neither marker is text.
#[test]
fn markers_around_the_call_of_another_dialect_are_markup() {
    let object = r#"{"name": "book", "arguments": {"seats": 2}}"#;
    for text in [
        "<tool_call>book(seats=2)</tool_call>".to_owned(),
        "<tool_call>\n[book(seats=2)]\n</tool_call>\n".to_owned(),
        "<function_call> book(seats=2)</function_call>".to_owned(),
        format!("<tool_calls>\n<tool_call>\n{object}\n</tool_call>\n</tool_calls>"),
        format!(
            "<tool_calls><tool_call>{object}</tool_call><tool_call>{object}</tool_call></tool_calls>"
        ),
    ] {
        let (calls, left) = read(&knowing(None), &text);
        assert!(!calls.is_empty(), "{text}");
        assert!(calls.iter().all(|call| call.2 == CallOutcome::Whole), "{text}: {calls:?}");
        assert_eq!(left.trim(), "", "{text}");
    }
    for text in [
        "<tool_call>walk(seats=2)</tool_call>",
        "The tag <tool_call> comes first. Then: no call.",
        "<tool_calls>\n<tool_call>\n{\"name\": \"walk\", \"arguments\": {}}\n</tool_call>\n</tool_calls>",
    ] {
        is_text(text);
    }
}

/// What a program puts into a string is not called by its author.
#[test]
fn a_string_of_a_program_shows_calls() {
    let json = "{\"name\": \"book\", \"arguments\": {\"name\": \"Ada\"}}";
    for call in [
        format!("<tool_call>{json}</tool_call>"),
        "[TOOL_CALLS]book[ARGS]{\"name\": \"Ada\"}".into(),
        "<function=book>{\"name\": \"Ada\"}</function>".into(),
        json.into(),
    ] {
        for text in [
            format!("```python\nreply = '{call}'\nsend(reply)\n```"),
            format!("print('{call}')"),
            format!("answer='{call}'\n"),
            format!("I would write '{call}' here."),
            format!("I would write \"{call}\" here."),
        ] {
            is_text(&text);
        }
        // Quotes alone are no program, but what a marker begins is no text; and a string ends in its line.
        let (calls, _) = read(&knowing(None), &format!("'{call}'"));
        assert_eq!(calls.len(), usize::from(call.starts_with('{')), "{call}");
        let (calls, _) = read(&knowing(None), &format!("x = '\n{call}"));
        assert_eq!(calls.len(), 1, "{call}");
    }
}

/// A call without a marker is made where it is all of the text, a fence, or the first or the last lines.
#[test]
fn a_call_is_all_that_its_place_holds() {
    let json = "{\"name\": \"book\", \"arguments\": {\"name\": \"Ada\"}}";
    for call in [json, "[book(name=\"Ada\")]", "book(name=\"Ada\")", "book\n{\"name\": \"Ada\"}"] {
        for (before, after) in [
            ("You could write ", " to book."),
            ("It was ", ", which failed."),
            ("I book a table: ", " and wait."),
            ("I use ", "."),
            ("`", "` is how to book."),
            ("", " and wait."),
            ("So:\n", "\nand wait."),
            ("So:\n\n", "\n\nAnd wait."),
            ("```\nx = 1\n", "\n```"),
            ("```\n", "\nsend(x)\n```\n"),
        ] {
            let text = format!("{before}{call}{after}");
            let found = check(&knowing(None), &text).found;
            assert!(
                found.calls().is_empty() && found.text() == text.as_bytes(),
                "{text}: {found:?}"
            );
            assert_eq!(found.mentioned().next(), Some("book"), "{text}");
        }
        for (before, after) in [
            ("", ""),
            ("So:\n", ""),
            ("So:\n\n", "\n\n"),
            ("", "\nand wait."),
            ("So:\n```\n", "\n```\nand wait."),
            // Where the fence ends on the line of the call.
            ("So:\n```\n", "```\nand wait."),
            ("So:\n```json\n# Two come.\n", "\n```"),
            ("<|im_start|>", "<|im_end|>"),
        ] {
            let text = format!("{before}{call}{after}");
            let (calls, left) = read(&knowing(None), &text);
            assert_eq!(calls.len(), 1, "{text}: {left}");
            assert_eq!(calls[0].2, CallOutcome::Whole, "{text}");
        }
    }
    // The arguments are those of its parameters.
    is_text("[book(name=\"Ada\", floor=2)]");
    is_text("{\"name\": \"book\", \"arguments\": {\"floor\": 2}}");
}

/// In a fence of a program, each statement at its margin is a place, and what is done with the result is none of
/// the call.
#[test]
fn a_statement_of_a_program_is_a_call() {
    let call = "book(name=\"Ada\")";
    for (before, after, count) in [
        ("import tools\n\n", "\nprint(\"done\")\n", 1),
        ("def f(x):\n    return x\n\nseat = ", "\nseat\n", 1),
        ("        print(", ")\n", 1),
        ("", " + book(name=\"Bo\")\n", 2),
        ("functions.", "\nfunctions.book({\"name\": \"Bo\"})\n", 2),
        ("book({name: \"Bo\"});\n", ";\n", 2),
        // Whether these are done is not known.
        ("def main():\n    ", "\n", 0),
        ("for x in y:\n  ", "\n", 0),
        ("if late: ", "\n", 0),
        ("return ", "\n", 0),
        ("x = f'{", "}'\n", 0),
        ("# ", "\n", 0),
        ("x = '''\n", "\n'''\n", 0),
    ] {
        let text = format!("So:\n```python\n{before}{call}{after}```\nThat is all.");
        let found = check(&knowing(None), &text).found;
        assert_eq!(found.calls().len(), count, "{text}: {found:?}");
        assert!(found.calls().iter().all(|call| call.outcome() == CallOutcome::Whole), "{text}");
    }
    // A word without quotes is a variable there.
    for (text, count) in
        [("```python\nguest = \"Ada\"\nbook(name=guest)\n```", 0), ("[book(name=Ada)]", 1)]
    {
        let found = check(&knowing(None), text).found;
        assert_eq!(found.calls().len(), count, "{text}: {found:?}");
    }
    // Other lines of a fence that is no program say what it shows.
    is_text("```\nUsage:\nbook(name=\"Ada\")\n```");
    // Sums and functions around calls are all that a message holds, too.
    for text in [format!("[{call}] + [{call}]"), format!("print({call})\n")] {
        let (calls, _) = read(&knowing(None), &text);
        let whole = calls.iter().all(|call| call.2 == CallOutcome::Whole);
        assert!(!calls.is_empty() && whole, "{text}");
    }
}

/// Detected, a marker after text of its line begins a call only where a sentence ends, or directly.
#[test]
fn a_marker_is_where_a_template_puts_it() {
    let call = "<tool_call>{\"name\": \"book\", \"arguments\": {\"name\": \"Ada\"}}</tool_call>";
    for (before, count) in [
        ("", 1),
        ("On it.", 1),
        ("On it. ", 1),
        ("好的。", 1),
        ("On it", 1),
        ("On it:\n", 1),
        ("Example: ", 0),
        ("例如：", 0),
        ("the call ", 0),
        ("(", 0),
    ] {
        let text = format!("{before}{call}");
        let found = check(&knowing(None), &text).found;
        assert_eq!(found.calls().len(), count, "{text}");
        assert_eq!(found.mentioned().count(), 1 - count, "{text}");
        let named = check(&knowing(Some("hermes")), &text).found;
        assert_eq!(named.calls().len(), 1, "{text}");
    }
}

/// What directly follows a call that is shown is shown with it, so that no half of two calls is made.
#[test]
fn calls_after_one_that_is_shown_are_shown() {
    let call = "<tool_call>{\"name\": \"book\", \"arguments\": {\"name\": \"Ada\"}}</tool_call>";
    let invoke = "<invoke name=\"book\"><parameter name=\"name\">Ada</parameter></invoke>";
    for text in [
        format!("Both: {call}{call} Done."),
        format!("Both: {call}\n{call}\nDone."),
        format!("Both: <minimax:tool_call>\n{invoke}\n{invoke}\n</minimax:tool_call> Done."),
    ] {
        let found = check(&knowing(None), &text).found;
        assert!(found.calls().is_empty() && found.text() == text.as_bytes(), "{text}: {found:?}");
        assert_eq!(found.mentioned().count(), 2, "{text}");
    }
}

/// Nothing in code, a quotation, a comment, or the turn of another is called, in any dialect.
#[test]
fn what_is_shown_is_not_called() {
    for row in Dialect::all() {
        // An action begins a line, and these messages are said to whom they are addressed.
        if row.name() == "react" || row.has_messages() {
            continue;
        }
        let call = row.example().replace("</think>\n", "").trim().to_owned();
        let quoted = call.replace('\n', "\n> ");
        for text in [
            format!("Write `` {call} `` to book."),
            format!("They wrote “{call}” there."),
            format!("<!-- {call} -->\nThat is all."),
            format!("text = \"\"\"\n{call}\n\"\"\"\n"),
            format!("It said:\n> {quoted}\n"),
            format!("<|im_start|>user\n{call}\n<|im_end|>"),
            format!("User:\n{call}\n"),
            format!("Example: {call}\nSo."),
        ] {
            // A marker of its own may begin a line in the example.
            let shown = !call.contains('\n') || !text.starts_with(['E', 'W', 'T']);
            let found = check(&knowing(None), &text).found;
            assert!(!shown || found.calls().is_empty(), "{}: {text}: {found:?}", row.name());
        }
    }
}

/// The call of a tool that does not exist is text up to its end, and nothing in it is called.
#[test]
fn nothing_in_a_call_of_an_unknown_tool_is_called() {
    let inner = "book(name=\"Ada\")";
    for text in [
        format!(
            "<tool_call>\n<function=boat>\n<parameter=name>\n{inner}\n</parameter>\n</function>\n</tool_call>"
        ),
        format!(
            "<tool_call>boat\n<arg_key>name</arg_key>\n<arg_value>\n{inner}\n</arg_value>\n</tool_call>"
        ),
        format!(
            "<minimax:tool_call>\n<invoke name=\"boat\">\n<parameter name=\"name\">\n{inner}\n</parameter>\n</invoke>\n</minimax:tool_call>"
        ),
        format!("<|tool_call_start|>[boat(name=\"\"\"\n{inner}\n\"\"\")]<|tool_call_end|>"),
        format!("Action: boat\nAction Input: Ada\n{inner}\n"),
    ] {
        is_text(&text);
        // What follows it is read.
        let text = format!(
            "{text}\nObservation: none.\n<tool_call>{{\"name\": \"book\", \"arguments\": {{}}}}</tool_call>"
        );
        let (calls, _) = read(&knowing(None), &text);
        assert_eq!(calls.len(), 1, "{text}: {calls:?}");
    }
}

/// Markers count neither in inline code of a message or of a thought, nor in a text in which nothing is called.
#[test]
fn markers_are_shown_in_code_and_in_foreign_text() {
    let call = "<tool_call>{\"name\": \"book\", \"arguments\": {\"name\": \"Ada\"}}</tool_call>";
    for text in [
        format!("```diff\n-{call}\n```\n"),
        format!("```html\n{call}\n```\n"),
        format!("> {call}\n"),
        format!("| Hermes | {call} |\n"),
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    book(\"Ada\")\n".into(),
    ] {
        is_text(&text);
    }
    let thought = format!("<think>The tag `</think>` ends it:\n{call}\nNo.</think>Hi.");
    for name in [None, Some("hermes")] {
        let (calls, left) = read(&knowing(name), &thought);
        assert_eq!((calls.len(), &*left), (0, "Hi."));
    }
    let header = "<|channel|>commentary to=functions.book <|message|>{\"name\": \"Ada\"}<|call|>";
    let text = format!("<|channel|>final<|message|>The text `{header}` is a call.<|return|>");
    let (calls, left) = read(&knowing(Some("harmony")), &text);
    assert_eq!((calls.len(), left), (0, format!("The text `{header}` is a call.")));
}
