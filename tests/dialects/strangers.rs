//! Calls that are not written as the dialect writes them, which are read or reported, and never passed on
//! without a word.

use wiremend_extract::CallOutcome::{self, Refused, Whole};

use super::{
    check,
    templates::{knowing, read},
};

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
