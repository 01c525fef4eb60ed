//! Every row of the table of dialects, and the laws of the reader.

mod cut;
mod doubts;
mod markers;
mod misread;
mod openers;
mod restated;
mod segments;
mod shown;
mod tags;
mod templates;
mod unmarked;
mod values;

use wiremend_core::{Limits, MendOptions, Policy};
use wiremend_extract::{CallExtractor, CallOutcome, Dialect};
use wiremend_testkit::laws::{CallTrace, call_reader, read_calls, text_calls};

fn reader(dialect: Option<&Dialect>) -> CallExtractor {
    call_reader(dialect, &MendOptions::new().with_policy(Policy::PERMISSIVE))
}

/// Reads a text in every way. Every byte must be accounted for, and no cut may make a difference.
fn check(reader: &CallExtractor, text: &str) -> CallTrace {
    let whole = read_calls(reader, [text.as_bytes()]);
    assert_eq!(String::from_utf8_lossy(&whole.source), text);
    assert!(whole.broken.is_empty(), "{text:?}: {whole:?}");
    for cut in 0..text.len() {
        let (head, tail) = text.as_bytes().split_at(cut);
        assert_eq!(read_calls(reader, [head, tail]), whole, "{text:?} at {cut}");
    }
    assert_eq!(read_calls(reader, text.as_bytes().chunks(1)), whole, "{text:?} in bytes");
    assert_eq!(read_calls(reader, text.as_bytes().chunks(3)), whole, "{text:?} in pieces");
    // Whatever the policy, the laws hold.
    for policy in [Policy::CONSERVATIVE, Policy::STRICT] {
        let reader = reader.clone().with_mending(MendOptions::new().with_policy(policy));
        text_calls(text.as_bytes(), &reader).unwrap();
    }
    whole
}

fn named(name: &str) -> CallExtractor {
    reader(Some(Dialect::by_name(name).unwrap()))
}

#[test]
fn the_example_of_every_row_is_read_by_name_and_detected() {
    for row in Dialect::all() {
        for reader in [reader(Some(row)), reader(None)] {
            let found = check(&reader, row.example()).found;
            let first = found.calls().first();
            let first = first.unwrap_or_else(|| panic!("{}: {found:?}", row.name()));
            assert_eq!(first.name(), "book", "{}", row.name());
            assert!(first.outcome().can_run(), "{}: {found:?}", row.name());
            let arguments = String::from_utf8_lossy(first.arguments()).replace(' ', "");
            assert!(
                arguments.contains("\"seats\":2") || arguments.contains("\"seats\":\"2\""),
                "{}: {arguments}",
                row.name()
            );
            assert!(
                found.text().trim_ascii().is_empty()
                    || ["generic_json", "minimax_text", "react"].contains(&row.name()),
                "{}: {:?}",
                row.name(),
                String::from_utf8_lossy(found.text())
            );
        }
    }
}

#[test]
fn prose_around_a_call_stays_in_every_dialect() {
    for row in Dialect::all().iter().filter(|row| {
        ![
            "harmony",
            "muse",
            "muse_glimmer",
            "react",
            "deepseek_r1",
            "name_line",
            "functionary_v32",
            "minimax_text",
        ]
        .contains(&row.name())
    }) {
        let text = format!("It costs 5 < 6 [see (1)] or {{x}}.\n{}\nDone.", row.example().trim());
        let found = check(&reader(Some(row)), &text).found;
        assert!(!found.calls().is_empty(), "{}: {found:?}", row.name());
        let prose = String::from_utf8_lossy(found.text()).into_owned();
        assert!(prose.starts_with("It costs 5 < 6 [see (1)] or {x}."), "{}: {prose}", row.name());
        assert!(prose.ends_with("Done."), "{}: {prose}", row.name());
    }
}

#[test]
fn text_without_a_call_is_untouched() {
    for text in [
        "An array is written [a, b], a call f(x), a tag <b>, a set {1, 2}.",
        "Use `<tool_call>` to call. See [docs](http://x) and [x](y).",
        "<tool_call> is the marker.",
        "In JSON: {\"name\": \"Ada\", \"age\": 36} and [1, 2].",
        "for (let i = 0; i < n; i++) { book[i] = {} }",
        "The book (2nd edition) is out; book it.",
        "Action: none. Then <｜DSM and <|tool_ca and [TOOL_CALLS",
        "functools is a module",
        "{\"name\": \"unheard_of\", \"arguments\": {\"a\": 1}}",
    ] {
        let found = check(&reader(None), text).found;
        assert_eq!(String::from_utf8_lossy(found.text()), text);
        assert!(found.calls().is_empty(), "{text}: {found:?}");
    }
}

/// Damage to the arguments of a call: it is whole or mended, or reported as cut or refused, but not lost.
#[test]
fn damaged_arguments_are_mended_between_markers() {
    let seats = |text: &str| text.replace(' ', "").contains("\"seats\":");
    for damaged in [
        r#"{"seats": 2,}"#,
        r#"{'seats': 2}"#,
        r#"{"seats": 2 "name": "A"}"#,
        r#"{"seats": 2, "name": "the "A" team"}"#,
        "{\"seats\": 2, \"name\": \"a\nb\"}",
        r#"{"seats": 2, "ok": True}"#,
        r#"{seats: 2}"#,
        r#"{"seats": 2"#,
        r#"{"seats": 2}}"#,
        r#""{\"seats\": 2}""#,
        "```json\n{\"seats\": 2}\n```",
        r#"{"seats": "2"}"#,
    ] {
        for row in Dialect::all() {
            let example = row.example();
            let Some(at) = example.find("{\"seats\": 2}") else { continue };
            let text = format!("{}{damaged}{}", &example[..at], &example[at + 12..]);
            let found = check(&reader(Some(row)), &text).found;
            let Some(call) = found.calls().first() else {
                // Without a marker, a fence makes it text that shows a call.
                let bare = example.starts_with(['{', '[']) || row.name() == "name_line";
                assert!(bare, "{} {damaged}: {found:?}", row.name());
                continue;
            };
            let json = String::from_utf8_lossy(call.arguments()).into_owned();
            let whole = call.outcome().can_run() && seats(&json);
            assert!(whole || !call.outcome().can_run(), "{} {damaged}: {found:?}", row.name());
        }
    }
}

/// A call that is cut off anywhere after its name is reported, and not as complete before its arguments
/// are.
#[test]
fn a_cut_call_is_reported() {
    for row in Dialect::all() {
        let example = row.example();
        let Some(from) = example.rfind("seats") else { continue };
        let Some(length) = example[from..].find('2') else { continue };
        for cut in from + 5..from + length {
            let mut reader = reader(Some(row));
            let mut trace = CallTrace::default();
            reader.push(&example.as_bytes()[..cut], &mut trace);
            reader.finish(&mut trace);
            let calls = trace.found.calls();
            assert_eq!(calls.len(), 1, "{} at {cut}: {trace:?}", row.name());
            assert_eq!(calls[0].name(), "book");
            assert!(!calls[0].outcome().can_run(), "{} at {cut}: {trace:?}", row.name());
        }
    }
}

#[test]
fn a_marker_inside_a_string_is_part_of_it() {
    let text = "<tool_call>{\"name\": \"write_file\", \"arguments\": {\"path\": \"a\", \"content\": \"</tool_call><tool_call>{}\"}}</tool_call>";
    let found = check(&named("hermes"), text).found;
    assert_eq!(found.calls().len(), 1);
    assert!(found.calls()[0].arguments().ends_with(b"\"</tool_call><tool_call>{}\"}"));
    let text = "<tool_call>\n<function=write_file>\n<parameter=content>\nuse </parameter> to end\n</parameter>\n</function>\n</tool_call>";
    let found = check(&named("qwen3_coder_xml"), text).found;
    assert_eq!(found.calls()[0].arguments(), br#"{"content": "use </parameter> to end"}"#);
}

#[test]
fn values_keep_their_space() {
    let text = "<tool_call>\n<function=write_file>\n<parameter=content>\n    indented\n\n</parameter>\n</function>\n</tool_call>";
    let found = check(&named("qwen3_coder_xml"), text).found;
    assert_eq!(found.calls()[0].arguments(), br#"{"content": "    indented\n"}"#);
}

/// A long string argument leaves as it comes after a marker and a name, in every dialect but those of Python.
#[test]
fn a_long_argument_is_not_held_back() {
    let long = "word word\n".repeat(2_000);
    for (name, before) in [
        ("hermes", "<tool_call>{\"name\": \"write_file\", \"arguments\": {\"content\": \""),
        (
            "hermes",
            "<tool_call>{\"type\": \"function\", \"function\": {\"name\": \"write_file\", \"arguments\": {\"content\": \"",
        ),
        (
            "mistral",
            "[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {}}, {\"name\": \"write_file\", \"arguments\": {\"content\": \"",
        ),
        ("apertus", "<|tools_prefix|>[{\"write_file\": {\"content\": \""),
        (
            "kimi_k2",
            "<|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>{\"content\": \"",
        ),
        ("qwen3_coder_xml", "<tool_call>\n<function=write_file>\n<parameter=content>\n"),
        (
            "minimax_m2_xml",
            "<minimax:tool_call><invoke name=\"write_file\"><parameter name=\"content\">",
        ),
        (
            "deepseek_dsml_v4",
            "<｜DSML｜invoke name=\"write_file\"><｜DSML｜parameter name=\"content\" string=\"true\">",
        ),
        ("glm_arg_kv", "<tool_call>write_file\n<arg_key>content</arg_key>\n<arg_value>"),
        ("minimax_m3", "]<]minimax[>[<invoke name=\"write_file\">]<]minimax[>[<content>"),
        ("gemma4", "<|tool_call>call:write_file{content:<|\"|>"),
        ("xml_tool_tags", "<write_file><content>"),
    ] {
        let mut reader = named(name);
        let mut trace = CallTrace::default();
        reader.push(before.as_bytes(), &mut trace);
        let mut most = 0;
        for piece in long.as_bytes().chunks(16) {
            reader.push(piece, &mut trace);
            most = most.max(reader.withheld());
        }
        assert!(most < 300, "{name}: {most}");
        let emitted = trace.found.calls().last().unwrap().arguments().len();
        assert!(emitted > long.len() - 300, "{name}: {emitted}");
    }
}

/// What comes before the name waits for it, within the limit, and so does a call without a marker.
#[test]
fn a_call_in_json_is_kept_within_the_limit() {
    let limits = Limits::new().with_buffer(200);
    let options = MendOptions::new().with_limits(limits);
    for (name, open, close) in [("hermes", "<tool_call>", "</tool_call>"), ("bare_json", "", "")] {
        for (length, calls) in [(100, 1), (300, 0)] {
            let arguments = format!("{{\"content\": \"{}\"}}", "word ".repeat(length / 5));
            let text = format!(
                "{open}{{\"arguments\": {arguments}, \"name\": \"write_file\"}}{close} and more"
            );
            let found = check(&named(name).with_mending(options.clone()), &text).found;
            assert_eq!(found.calls().len(), calls, "{text}: {found:?}");
            let left = if calls == 1 { " and more" } else { &text };
            assert_eq!(String::from_utf8_lossy(found.text()), left);
        }
    }
}

/// The arguments of a call in Python wait for their end. What is longer than the limit is refused, and no call
/// in it runs.
#[test]
fn a_call_in_python_is_kept_within_the_limit() {
    let limits = Limits::new().with_buffer(200);
    let options = MendOptions::new().with_policy(Policy::PERMISSIVE).with_limits(limits);
    for (lines, outcome) in [(10, CallOutcome::Whole), (60, CallOutcome::Refused)] {
        let content = "now()\n".repeat(lines);
        let text = format!("[write_file(content='''{content}'''), now()]");
        let found = check(&named("pythonic").with_mending(options.clone()), &text).found;
        let calls: Vec<_> =
            found.calls().iter().map(|call| (call.name(), call.outcome())).collect();
        assert_eq!(calls, [("write_file", outcome), ("now", CallOutcome::Whole)]);
        assert!(found.text().is_empty(), "{found:?}");
    }
}

/// Work grows with the input, whatever it is.
#[test]
fn work_is_linear() {
    for unit in [
        "<tool_call>",
        "<tool_call>{\"name\": \"",
        "<tool_call>{\"arguments\": \"",
        "[book(",
        "{\"name\":",
        "<function=book>\n<parameter=",
        "</parameter>",
        "<｜DSML｜",
        "<|tool_calls_section_begin|>",
        "<think>",
        "</think>x",
        "]<]minimax[>[<",
        "<tool_calls> ",
        "Action: x\n",
        "<|channel|>",
        "[",
        "{",
        "<",
        "<book><seats>",
        "'book(",
        "functools[{",
        "book\n",
        "<|open|>call",
    ] {
        for row in
            [None, Some("hermes"), Some("qwen3_coder_xml"), Some("pythonic"), Some("xml_tool_tags")]
        {
            let steps = |count: usize| {
                let mut reader = row.map_or_else(|| reader(None), named);
                let mut trace = CallTrace::default();
                for piece in unit.repeat(count).as_bytes().chunks(64) {
                    reader.push(piece, &mut trace);
                }
                reader.finish(&mut trace);
                reader.steps()
            };
            let (small, large) = (steps(200), steps(400));
            assert!(large < small * 3, "{unit:?} {row:?}: {small} {large}");
        }
    }
}

/// Many calls in one push cost no more than each of them in one of its own.
#[test]
fn work_is_linear_in_the_number_of_calls() {
    for unit in [
        "[\"book\", {\"seats\": 2}], ",
        "[\"book\", {\"seats\": 2}, 3], ",
        "{\"name\": \"book\", \"seats\": 2}\n",
        "{\"name\": \"book\", \"arguments\": {\"seats\": 2}} ",
        "book\n{\"seats\": 2}\n",
        "book(seats=2)\n",
        "'book(seats=2)' ",
        "{'book(seats=2)'}\n",
    ] {
        let steps = |count: usize| {
            let mut reader = reader(None).with_tools(unmarked::tools());
            let mut trace = CallTrace::default();
            reader.push(unit.repeat(count).as_bytes(), &mut trace);
            reader.finish(&mut trace);
            reader.steps()
        };
        let (small, large) = (steps(1500), steps(3000));
        assert!(large < small * 9 / 4, "{unit:?}: {small} {large}");
        assert!(large < 64 * 3000 * unit.len() as u64, "{unit:?}: {large}");
    }
}

/// An object is read once at its end, and a few times before that for a header.
#[test]
fn work_is_linear_in_the_objects_of_a_payload() {
    for unit in [
        "{\"a\": {\"b\": {\"c\": {\"d\": {}}}}}, ",
        "{\"arguments\": {\"seats\": 2}}, ",
        "{'name': 'book', 'arguments': {'seats': 2}}, ",
        "{\"tool_calls\": [{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]}, ",
    ] {
        let calls = "{\"tool_calls\": [";
        for open in ["<tool_call>[", "[", &format!("<tool_call>{calls}"), calls] {
            let steps = |count: usize| {
                let mut reader = named(if open.starts_with('<') { "hermes" } else { "bare_json" });
                let mut trace = CallTrace::default();
                reader.push(format!("{open}{}", unit.repeat(count)).as_bytes(), &mut trace);
                reader.finish(&mut trace);
                reader.steps()
            };
            let (small, large) = (steps(700), steps(1400));
            assert!(large < small * 9 / 4, "{open}{unit}: {small} {large}");
            assert!(large < 16 * 1400 * unit.len() as u64, "{open}{unit}: {large}");
        }
    }
}

/// Models leave out the marker between the name and the arguments.
#[test]
fn a_missing_marker_before_the_arguments_costs_nothing() {
    for (name, text) in [
        (
            "kimi_k2",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0{\"seats\": 2}<|tool_call_end|><|tool_calls_section_end|>",
        ),
        (
            "kimi_k2",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0\n{\"seats\": 2}<|tool_call_end|><|tool_calls_section_end|>",
        ),
        (
            "deepseek_v31",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>book{\"seats\": 2}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ),
        ("mistral", "[TOOL_CALLS]book{\"seats\": 2}"),
        ("functionary_v31", "<function=book{\"seats\": 2}</function>"),
    ] {
        for reader in [named(name), reader(None)] {
            let found = check(&reader, text).found;
            assert_eq!(found.calls().len(), 1, "{name}: {found:?}");
            assert_eq!(found.calls()[0].name(), "book");
            assert_eq!(found.calls()[0].arguments(), b"{\"seats\": 2}", "{name}");
            assert_eq!(String::from_utf8_lossy(found.text()), "", "{name}");
        }
    }
}

#[test]
fn what_may_be_a_code_is_no_number_unless_the_schema_says_so() {
    for (name, text, arguments, outcome) in [
        (
            "qwen3_coder_xml",
            "<tool_call>\n<function=book>\n<parameter=seats>\n07030\n</parameter>\n</function>\n</tool_call>",
            r#"{"seats": "07030"}"#,
            CallOutcome::Whole,
        ),
        (
            "qwen3_coder_xml",
            "<tool_call>\n<function=book>\n<parameter=seats>\n+4\n</parameter>\n</function>\n</tool_call>",
            r#"{"seats": "+4"}"#,
            CallOutcome::Whole,
        ),
        ("pythonic", "[book(seats=07)]", r#"{"seats": 7}"#, CallOutcome::Repaired),
        ("pythonic", "[book(seats=0.5)]", r#"{"seats": 0.5}"#, CallOutcome::Whole),
    ] {
        let found = check(&named(name), text).found;
        let call = &found.calls()[0];
        assert_eq!(String::from_utf8_lossy(call.arguments()), arguments, "{text}");
        assert_eq!(call.outcome(), outcome, "{text}");
    }
}

/// Whether a marker is inside a string does not depend on what the policy allows at the end.
#[test]
fn a_marker_inside_a_string_of_a_broken_payload_is_part_of_it() {
    for text in [
        "<tool_call>{'name': 'book', 'arguments': {'name': 'use </tool_call> here', 'seats': 2}}</tool_call>",
        "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2,, \"name\": \"use </tool_call> here\"}}</tool_call>",
    ] {
        let strict =
            named("hermes").with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
        for reader in [named("hermes"), strict] {
            let call = check(&reader, text).found.calls()[0].clone();
            let json = String::from_utf8_lossy(call.arguments()).into_owned();
            assert!(json.contains("\"use </tool_call> here\""), "{json}");
            assert_eq!(call.outcome(), CallOutcome::Repaired, "{text}");
        }
    }
}

/// A string that was not closed does not swallow the end of its call.
#[test]
fn an_open_string_ends_at_the_last_marker() {
    for (name, text) in [
        ("hermes", "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": \"two</tool_call>"),
        ("gemma4", "<|tool_call>call:book{seats:<|\"|>two<tool_call|>"),
        ("functiongemma", "<start_function_call>call:book{seats:<escape>two<end_function_call>\n"),
    ] {
        let found = check(&named(name), text).found;
        let call = &found.calls()[0];
        let json = String::from_utf8_lossy(call.arguments()).replace(' ', "");
        assert_eq!(
            (&*json, call.outcome()),
            ("{\"seats\":\"two\"}", CallOutcome::Repaired),
            "{text}"
        );
    }
    let text = "<|tool_call>call:book{name:<|\"|>a <tool_call|> b<|\"|>}<tool_call|>";
    let found = check(&named("gemma4"), text).found;
    assert_eq!(found.calls()[0].arguments(), b"{\"name\":\"a <tool_call|> b\"}");
}

/// A value of an argument as models break it.
const DEFECTS: [(&str, &str); 12] = [
    ("a trailing comma", r#"{"at": 1, "to": "b",}"#),
    ("single quotes", r#"{'at': 1, 'to': 'b'}"#),
    ("a missing comma", r#"{"at": 1 "to": "b"}"#),
    ("bare inner quotes", r#"{"at": 1, "to": "say "b" now"}"#),
    ("a raw line end", "{\"at\": 1, \"to\": \"b\nc\"}"),
    ("a literal of Python", r#"{"at": 1, "to": True}"#),
    ("bare keys", r#"{at: 1, to: "b"}"#),
    ("a missing bracket", r#"{"at": 1, "to": ["b"}"#),
    ("a bracket too many", r#"{"at": 1, "to": "b"}}"#),
    ("an object in a string", r#""{\"at\": 1, \"to\": \"b\"}""#),
    ("a fence", "```json\n{\"at\": 1, \"to\": \"b\"}\n```"),
    ("a number as a string", r#"{"at": "1", "to": "b"}"#),
];

/// The example of a row with another value of `seats`.
fn with_value(row: &Dialect, value: &str) -> Option<String> {
    let example = row.example();
    let key = example.find("seats")?;
    let at = key + example.get(key..)?.find('2')?;
    Some([example.get(..at)?, value, example.get(at + 1..)?].concat())
}

/// Every dialect times every ordinary defect inside the arguments: the call is mended, or reported as cut or
/// refused. It is never lost, and nothing of it is text.
#[test]
fn no_defect_inside_the_arguments_loses_a_call() {
    let mut failures = Vec::new();
    let mut mended = 0;
    for row in Dialect::all() {
        for (what, value) in DEFECTS {
            let text = with_value(row, value).unwrap();
            let found = check(&reader(Some(row)), &text).found;
            let said = String::from_utf8_lossy(found.text()).into_owned();
            let Some(call) = found.calls().first() else {
                failures.push(format!("{} with {what}: lost: {said}", row.name()));
                continue;
            };
            let json = String::from_utf8_lossy(call.arguments()).into_owned();
            if call.outcome().can_run() {
                mended += 1;
                if !json.contains("\"seats\"") || !json.contains("at") || !json.contains("to") {
                    failures.push(format!("{} with {what}: {json}", row.name()));
                }
            }
            if call.name() != "book" || said.contains("seats") || said.contains("\"to\"") {
                failures.push(format!("{} with {what}: text: {said}", row.name()));
            }
        }
    }
    // Most are mended, and not only reported.
    assert!(mended > 600, "{mended}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// The keys of a call are the caller's, between markers, without any, and next to all other dialects.
#[test]
fn a_caller_names_the_keys_of_its_calls() {
    let own = |open: &'static str, close: &'static str| {
        Dialect::json("ours", open, [close]).with_keys(["do"], ["with"], ["steps"])
    };
    let call = r#"{"do": "book", "with": {"seats": 2}}"#;
    for text in [
        call.to_owned(),
        format!("[{call}]"),
        format!(r#"{{"steps": [{call}, {call}]}}"#),
        format!("Done: {call} and\n{call}."),
    ] {
        let calls = text.matches("book").count();
        let named = reader(Some(&own("", "")));
        let detected = reader(None).with_registered(own("", ""));
        for reader in [named, detected] {
            let found = check(&reader, &text).found;
            // Detected, what is in a sentence is only mentioned.
            let mentioned = text.contains("Done") && found.mentioned().next().is_some();
            let made = if mentioned { 1 } else { calls };
            assert_eq!(found.calls().len(), made, "{text}: {found:?}");
            assert!(found.calls().iter().all(|call| call.arguments() == b"{\"seats\": 2}"));
        }
        let found = check(&reader(None), &text).found;
        assert!(found.calls().is_empty(), "{text}: {found:?}");
        let text = format!("RUN {text} END");
        let found = check(&reader(Some(&own("RUN ", "END"))), &text).found;
        assert!(text.contains("Done") || found.calls().len() == calls, "{text}: {found:?}");
    }
    // The keys that models use are read as ever, and those of nobody are not.
    let reader = reader(Some(&own("", "")));
    let found = check(&reader, r#"{"name": "book", "arguments": {"seats": 2}}"#).found;
    assert_eq!(found.calls().len(), 1);
    let found = check(&reader, r#"{"run": "book", "on": {"seats": 2}}"#).found;
    assert!(found.calls().is_empty());
}
