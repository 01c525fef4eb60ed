//! Markers and tags in strings of documents in the text, which are none.

use wiremend_core::{Limits, MendOptions};
use wiremend_extract::{CallExtractor, FoundCalls};

use crate::readers::reader;

fn run<'t>(reader: &CallExtractor, chunks: impl IntoIterator<Item = &'t [u8]>) -> FoundCalls {
    let (mut reader, mut found) = (reader.clone(), FoundCalls::default());
    for chunk in chunks {
        reader.push(chunk, &mut found);
    }
    reader.finish_at_eos(&mut found);
    found
}

/// How many calls there are, and the text, which must be the same at every cut.
#[track_caller]
fn read(reader: &CallExtractor, text: &str) -> (usize, String) {
    let show = |found: &FoundCalls| {
        (found.calls().len(), String::from_utf8_lossy(found.text()).into_owned())
    };
    let whole = show(&run(reader, [text.as_bytes()]));
    for cut in 1..text.len() {
        let (head, tail) = text.as_bytes().split_at(cut);
        assert_eq!(show(&run(reader, [head, tail])), whole, "{text} at {cut}");
    }
    for size in [1, 7] {
        assert_eq!(show(&run(reader, text.as_bytes().chunks(size))), whole, "{text} by {size}");
    }
    whole
}

/// What begins a call, with its dialect.
const CALLS: [(&str, &str); 8] = [
    ("hermes", "<tool_call>{'name': 'book', 'arguments': {'seats': 2}}</tool_call>"),
    ("mistral", "[TOOL_CALLS]book[ARGS]{'seats': 2}"),
    (
        "kimi_k2",
        "<|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
    ),
    (
        "qwen3_coder_xml",
        "<tool_call><function=book><parameter=seats>2</parameter></function></tool_call>",
    ),
    ("gemma4", "<|tool_call>call:book{seats:2}<tool_call|>"),
    ("xml_tool_tags", "<book><seats>2</seats></book>"),
    ("deepseek_dsml_v4", "<｜DSML｜invoke name='book'></｜DSML｜invoke>"),
    ("olmo3_pythonic", "<function_calls>book(seats=2)</function_calls>"),
];

#[test]
fn a_call_in_a_string_of_a_document_is_text() {
    for (name, call) in CALLS {
        for text in [
            format!("{{\"note\": \"{call}\"}}"),
            format!("It is written like this: {{\"a\": [1, \"{call}\"], \"b\": 2}} in JSON."),
            format!("As JSON: [\"{call}\", 2]."),
            format!("So [1] and [x] and {{\"a\": \"{call}\"}}"),
            format!("```json\n{{\"note\": \"see {call} there\"}}\n```\nDone."),
        ] {
            for reader in [reader(Some(name)), reader(None)] {
                assert_eq!(read(&reader, &text), (0, text.clone()), "{name}");
            }
        }
    }
}

#[test]
fn a_call_after_a_document_or_between_its_tokens_is_a_call() {
    for (name, call) in CALLS {
        for (text, rest) in [
            (format!("So {{\"a\": \"b\"}} and {call}"), "So {\"a\": \"b\"} and "),
            (format!("So {{\"a\": \"b\", {call}"), "So {\"a\": \"b\", "),
            // The string has run over the end of its line, so the document was cut off.
            (format!("So {{\"a\": \"b\n{call}"), "So {\"a\": \"b\n"),
            // What comes before a call is not before the text that follows it.
            (format!("{{\"a\": {call}\n{call}"), "{\"a\": "),
        ] {
            for named in [Some(name), None] {
                let (calls, left) = read(&reader(named), &text);
                // Detected, a call is made where a line begins, and not after a part of a sentence.
                // What directly follows a call that is shown is shown with it.
                // A tag with the name of a tool is no marker in the middle of a line, so that nothing is shown.
                let tag = name == "xml_tool_tags" && text.starts_with("{\"a\": <");
                if tag && named.is_none() {
                    continue;
                }
                let begins = format!("b\n{call}");
                let made = named.is_some() || text.contains(&begins);
                let rest = match named {
                    Some(_) => rest.to_owned(),
                    None => text.replace(&begins, "b\n"),
                };
                assert_eq!((calls > 0, left), (made, rest), "{name}: {text}");
            }
        }
    }
}

#[test]
fn a_tag_of_reasoning_in_a_string_is_text() {
    let text = "As JSON: {\"tags\": [\"<think>\", \"</think>\"]}.";
    assert_eq!(read(&reader(Some("hermes")), text), (0, text.to_owned()));
    assert_eq!(read(&reader(None), text), (0, text.to_owned()));
}

#[test]
fn what_begins_a_document_is_known_after_long_prose() {
    // A lead-in, a label and a fence count, however much prose comes before them.
    let prose = "It was late in the year, and the 7 of them had walked for hours.\n".repeat(300);
    let (name, call) = CALLS[0];
    for size in [1, 16, 333, 4096, 1 << 20] {
        for lead in ["The answer: ", "The answer:\n\n", "```json\n", "> "] {
            let text = format!("{prose}{lead}{{\"note\": \"{call}\"}}");
            for reader in [reader(Some(name)), reader(None)] {
                let found = run(&reader, text.as_bytes().chunks(size));
                assert_eq!(found.calls().len(), 0, "{lead:?} by {size}");
                assert_eq!(String::from_utf8_lossy(found.text()), text);
            }
        }
        // So does a string that is longer than what is kept, with brackets before it.
        let text = format!("{{x}} {prose}: {{\"a\": \"{}{call}\"}}", prose.replace('\n', " "));
        let found = run(&reader(Some(name)), text.as_bytes().chunks(size));
        assert_eq!((found.calls().len(), found.text()), (0, text.as_bytes()));
        let text = format!("{prose}{{x}} and [1] {call}");
        let found = run(&reader(Some(name)), text.as_bytes().chunks(size));
        assert_eq!(found.calls().len(), 1);
    }
}

#[test]
fn a_document_that_exceeds_a_limit_hides_no_call() {
    let (name, call) = CALLS[0];
    let options = MendOptions::new().with_limits(Limits::new().with_depth(2));
    let reader = reader(Some(name)).with_mending(options);
    let (calls, _) = read(&reader, &format!("So: [[[[{call}]]]]"));
    assert_eq!(calls, 1);
}
