//! Calls whose arguments end before all of them came, and how far a decision looks.

use wiremend_core::{MendOptions, Policy};
use wiremend_extract::{CallOutcome, Dialect, FoundCalls};

use super::{check, named, reader, values::Quick};

/// What is in the text where the first value of a call should be is the next marker. The model stopped
/// writing the value, so nobody knows what the call was to be, although its end is there.
#[test]
fn a_marker_where_a_value_should_be_cuts_the_call() {
    // Where the end of a value follows, the value is empty and not missing. The others end no call.
    let others = [
        "</parameter",
        "</param>",
        "</seats>",
        "]<]minimax[>[</seats>",
        "</arg_value",
        "</steptml:parameter",
        "</｜DSML｜parameter",
        "</｜GCML｜parameter",
        "</｜DSML｜ parameter",
        "</ifm|arg_value",
        "</atem:parameter",
        "<|close|>argument",
        "<|sep|>",
        "<escape>",
        "<|\"|>",
    ];
    let is_marker = |tail: &str| {
        ["]<]", "<", "```"].iter().any(|begin| tail.starts_with(begin))
            && !others.iter().any(|other| tail.starts_with(other))
    };
    let mut read_cut = 0;
    for row in Dialect::all() {
        let example = row.example();
        let Some(key) = example.find("seats") else { continue };
        let at = key + example[key..].find('2').unwrap();
        for (from, _) in example[at + 1..].char_indices() {
            let tail = &example[at + 1 + from..];
            if !is_marker(tail) || row.name() == "minimax_m3" && !tail.starts_with("]<]") {
                continue;
            }
            for space in ["", "\n"] {
                let text = format!("{}{space}{tail}", &example[..at]);
                for reader in [reader(Some(row)), reader(None)] {
                    let found = check(&reader, &text).found;
                    for call in found.calls() {
                        assert_eq!(call.outcome(), CallOutcome::Cut, "{}: {text:?}", row.name());
                        assert_eq!(call.name(), "book", "{}: {text:?}", row.name());
                        read_cut += 1;
                    }
                }
            }
        }
    }
    assert!(read_cut > 150, "{read_cut}");
}

/// A closing marker says that there are no arguments. Others say that they did not come.
#[test]
fn a_call_without_arguments_is_whole_only_at_its_own_marker() {
    for (name, text, outcome) in [
        ("hermes", "<tool_call>{\"name\": \"book\", \"arguments\": </tool_call>", CallOutcome::Cut),
        ("hermes", "<tool_call>{\"name\": \"book\", \"argum</tool_call>", CallOutcome::Cut),
        ("hermes", "<tool_call>{\"name\": \"book\"</tool_call>", CallOutcome::Cut),
        (
            "hermes",
            "<tool_call>{\"name\": \"book\", \"arguments\": \"{\\\"seats\\\": \"}</tool_call>",
            CallOutcome::Cut,
        ),
        (
            "hermes",
            "<tool_call>{\"name\": \"book\", \"arguments\": {\"n\": 1e</tool_call>",
            CallOutcome::Cut,
        ),
        (
            "hermes",
            "<tool_call>{\"name\": \"book\", \"arguments\": {\"n\": 1</tool_call>",
            CallOutcome::Repaired,
        ),
        (
            "kimi_k2",
            "<|tool_call_begin|>functions.book:0<|tool_call_argument_begin|><|tool_call_end|>",
            CallOutcome::Repaired,
        ),
        (
            "kimi_k2",
            "<|tool_call_begin|>functions.book:0<|tool_call_argument_begin|><|tool_calls_section_end|>",
            CallOutcome::Cut,
        ),
        (
            "qwen3_coder_xml",
            "<tool_call>\n<function=book>\n<parameter=seats>\n<parameter=name>\nAda\n</parameter>\n</function>\n</tool_call>",
            CallOutcome::Cut,
        ),
        (
            "qwen3_coder_xml",
            "<tool_call>\n<function=book>\n<parameter=name>\n</parameter>\n</function>\n</tool_call>",
            CallOutcome::Whole,
        ),
        ("glm_arg_kv", "<tool_call>book\n<arg_key>seats</arg_key>\n</tool_call>", CallOutcome::Cut),
        ("functionary_v31", "<function=book>{\"seats\": </function>", CallOutcome::Cut),
        ("mistral", "[TOOL_CALLS]book[ARGS]", CallOutcome::Cut),
    ] {
        let found = check(&named(name), text).found;
        assert_eq!(found.calls().len(), 1, "{text}: {found:?}");
        assert_eq!(found.calls()[0].outcome(), outcome, "{text}: {found:?}");
    }
}

/// Where the policy does not allow to close the arguments, the call is cut.
#[test]
fn a_call_that_may_not_be_closed_is_cut() {
    for text in [
        "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2</tool_call>",
        "<tool_call>{\"name\": \"book\", \"arguments\": {\"name\": \"two</tool_call>",
        "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": </tool_call>",
    ] {
        let policy = Policy::CONSERVATIVE;
        let found =
            check(&named("hermes").with_mending(MendOptions::new().with_policy(policy)), text)
                .found;
        assert_eq!(found.calls()[0].outcome(), CallOutcome::Cut, "{text}");
    }
}

/// The markers around calls end the call whose string was not closed, too.
#[test]
fn an_open_string_ends_before_all_markers_at_the_end() {
    let cases = [
        (
            "kimi_k2",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>{\"name\": \"A",
            "<|tool_call_end|><|tool_calls_section_end|>",
        ),
        (
            "kimi_k2",
            "<|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>{\"name\": \"A",
            "<|tool_call_end|>\n<|tool_calls_section_end|>\n",
        ),
        (
            "deepseek_v31",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>book<｜tool▁sep｜>{\"name\": \"A",
            "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ),
    ];
    for (name, head, tail) in cases {
        for reader in [named(name), reader(None)] {
            let found = check(&reader, &format!("{head}{tail}")).found;
            let [call] = found.calls() else { panic!("{name}: {found:?}") };
            assert_eq!(call.arguments(), br#"{"name": "A"}"#, "{name}: {found:?}");
            // Text after the markers may be content of the string.
            let found = check(&reader, &format!("{head}{tail} and so on")).found;
            assert!(
                found.calls().iter().all(|call| call.outcome() != CallOutcome::Whole),
                "{name}"
            );
        }
    }
}

/// Where arguments are due and another call begins, or the text ends, they are missing.
#[test]
fn calls_that_end_where_their_arguments_are_due_are_cut() {
    for (name, text) in [
        ("xml_tool_tags", "<book>\n<book>"),
        ("xml_tool_tags", "<book>\n<book>\n<seats>2</seats>\n</book>"),
        ("react", "Thought: x\nAction: book\nAction Input:"),
        ("react", "Action: book\nAction Input: \n"),
    ] {
        let found = check(&named(name), text).found;
        assert_eq!(found.calls()[0].outcome(), CallOutcome::Cut, "{text}");
    }
    let observed = "Action: book\nAction Input: \nObservation: none";
    let found = check(&named("react"), observed).found;
    assert_eq!(found.calls()[0].outcome(), CallOutcome::Whole);
}

#[test]
fn a_fence_of_json_may_end_with_carriage_returns() {
    let call = "function<｜tool▁sep｜>book\r\n```json\r\n{\"seats\": 2}\r\n```<｜tool▁call▁end｜>";
    let text = format!("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{call}<｜tool▁calls▁end｜>");
    let found = check(&named("deepseek_v3"), &text).found;
    assert_eq!(found.calls()[0].outcome(), CallOutcome::Whole);
    assert_eq!(found.calls()[0].arguments(), b"{\"seats\": 2}");
    // Without the first marker, and with the fence's end on the line of the arguments.
    for end in ["\n```", "```"] {
        let text = format!(
            "function<｜tool▁sep｜>book\n```json\n{{\"seats\": 2}}{end}<｜tool▁call▁end｜>"
        );
        for reader in [named("deepseek_v3"), reader(None)] {
            let found = check(&reader, &text).found;
            assert_eq!(found.calls()[0].outcome(), CallOutcome::Whole, "{text}");
            assert_eq!(found.text(), b"", "{text}");
        }
    }
}

/// A call that the transport cut off after its name is one, and it is cut, however many markers come before
/// the name. If the model ended it there, it is refused.
#[test]
fn a_call_that_ends_with_its_name_is_reported_once() {
    for (name, text) in [
        ("qwen3_coder_xml", "<tool_call>\n<function=book"),
        ("step3p5_xml", "<tool_call>\n<function=book"),
        ("hunyuan_v3", "<tool_calls>\n<tool_call>book<"),
        ("k2_horizon", "<ifm|tool_calls><ifm|tool_call>book<"),
        ("hermes", "<tool_call>\nbook"),
    ] {
        for eos in [false, true] {
            let mut reader = named(name);
            let mut found = FoundCalls::default();
            reader.push(text.as_bytes(), &mut found);
            if eos {
                reader.finish_at_eos(&mut found);
            } else {
                reader.finish(&mut found);
            }
            let outcome = if eos { CallOutcome::Refused } else { CallOutcome::Cut };
            let calls = found.calls().iter().map(|call| (call.name(), call.outcome()));
            assert_eq!(calls.collect::<Vec<_>>(), [("book", outcome)], "{name}: {text}");
        }
        check(&named(name), text);
    }
}

// How far a decision looks: what is beyond its window counts neither if it has arrived nor if it has not.

/// Around the sizes of the windows, every text is read alike as a whole and in bytes.
#[test]
fn no_length_of_white_space_or_names_makes_a_cut_matter() {
    let mut reader = Quick::new();
    for length in [1, 126, 127, 128, 129, 254, 255, 256, 257, 300, 510, 511, 512, 513, 600, 1100] {
        let (gap, name) = (" ".repeat(length), "a".repeat(length));
        for text in [
            "[\"book\"~, {\"seats\": 2}]",
            "[~\"book\", {\"seats\": 2}]",
            "[[~\"book\", {\"seats\": 2}]]",
            "{~\"name\": \"book\", \"seats\": 2}",
            "[{~\"name\": \"book\", \"seats\": 2}]",
            "Sure.book\n{~\"seats\": 2}",
            "book\n~{\"seats\": 2}",
            "Sure.book\n{\"@\": 2}",
            "[book(seats=2~)~]~.",
            "[book(~seats~=~2~,~guest_name='x')]~.",
            "[book(seats=2),~book(seats=3)]",
            "book(seats=2)~{ }",
            "book(seats=2)~\nbook(seats=3)",
            "['book(seats=2)'~]~.",
            "{'book(seats=2)'~}~.",
            "[~book(seats=2)]",
            "book(guest_name='x'~# x\n)",
            "book(guest_name='x'~,~y)",
            "book(guest_name=<@>)",
            "book(seats=1@)",
            "book(@=2)",
            "book(\\@=2)",
            "{\"name\": \"@\", \"seats\": 2}",
            "[\"@\", {\"seats\": 2}]",
            "functions.book(~{\"seats\": 2})",
            "<tool_call>~{\"name\": \"book\", \"arguments\": {\"seats\": 2}}~</tool_call>.",
            "<tool_call>~```json\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n```~</tool_call>.",
            "<tool_calls>~<tool_call>{\"name\": \"book\", \"arguments\": {}}</tool_call></tool_calls>.",
            "<function=book>~{\"seats\": 2}~</function>.",
            "<|python_start|>~[book(seats=2)]~<|python_end|>.",
            "Action:~book\nAction Input:~{\"seats\": 2}",
            "<start_function_call>call:book{seats:2}~}~<end_function_call>.",
        ] {
            reader.read(&text.replace('~', &gap).replace('@', &name));
        }
        let escaped = "\\_".repeat(length);
        reader.read(&format!("book{escaped}(seats=2)"));
        reader.read(&format!("book(seats{escaped}=2)"));
    }
}

/// Within the windows, white space makes no difference to what is a call, and far beyond them there is none.
#[test]
fn a_call_may_be_far_from_what_shows_it_but_not_too_far() {
    let mut reader = Quick::new();
    for text in ["[\"book\"~, {\"seats\": 2}]", "book\n~{\"seats\": 2}"] {
        for (length, calls) in [(100, 1), (2000, 0)] {
            let text = text.replace('~', &" ".repeat(length));
            assert_eq!(reader.read(&text).0.len(), calls, "{text}");
        }
    }
}

/// How a quote is meant may be certain only where the text ends. The brackets after it are those of the model.
#[test]
fn a_call_with_all_its_brackets_is_complete_where_the_text_ends() {
    let outcome = |name: &str, text: &str| check(&named(name), text).found.calls()[0].outcome();
    for (name, open) in [("llama3_json", ""), ("hermes", "<tool_call>")] {
        for call in [
            r#"{"name": "book", "parameters": {seats": 2}}"#,
            r#"{"name": "book", parameters": {"seats": 2}}"#,
        ] {
            assert_eq!(outcome(name, &format!("{open}{call}")), CallOutcome::Repaired, "{call}");
        }
        // A bracket that the model did not write may be where more was due.
        for call in [
            r#"{"name": "book", "parameters": {"seats": [2, {"a": 1}}"#,
            r#"{"name": "book", "parameters": {"name": "Ada}}"#,
            r#"{"parameters": {"seats": 2}, "name": "book""#,
        ] {
            assert_eq!(outcome(name, &format!("{open}{call}")), CallOutcome::Cut, "{call}");
        }
    }
}
