//! Blocks between markers of the caller, which are the input of one tool.

use wiremend_extract::{CallExtractor, CallOutcome, Dialect};
use wiremend_testkit::laws::CallTrace;

use super::{check, reader};

fn chart() -> Dialect {
    Dialect::json_block("chart", "draw", "CHART_START", ["CHART_END"])
}

fn raw() -> Dialect {
    Dialect::text_block("raw", "show", "<<<RAW_OUTPUT>>>", ["<<<END_RAW_OUTPUT>>>"])
}

/// Alone, and next to all other dialects.
fn readers() -> [CallExtractor; 2] {
    let alone = reader(Some(&chart())).with_dialect(raw());
    [alone, reader(None).with_registered(chart()).with_registered(raw())]
}

/// The calls, with their outcomes, and the text.
fn read(reader: &CallExtractor, text: &str) -> (Vec<(String, String, CallOutcome)>, String) {
    let found = check(reader, text).found;
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let calls = found.calls().iter().map(|call| {
        assert!(["chart", "raw"].contains(&call.dialect()));
        (call.name().to_owned(), show(call.arguments()), call.outcome())
    });
    (calls.collect(), show(found.text()))
}

#[test]
fn what_is_between_the_markers_of_a_caller_is_the_input_of_a_tool() {
    use CallOutcome::{Cut, Repaired, Whole};
    for (text, name, input, outcome, left) in [
        ("CHART_START\n{\"a\": 1}\nCHART_END", "draw", "{\"a\": 1}", Whole, ""),
        ("So:\nCHART_START [1, 2] CHART_END Done.", "draw", "[1, 2]", Whole, "So:\n Done."),
        ("CHART_START\n{'a': 1,}\nCHART_END", "draw", "{\"a\": 1}", Repaired, ""),
        (
            "CHART_START\n{\"a\": \"CHART_END\"}\nCHART_END",
            "draw",
            "{\"a\": \"CHART_END\"}",
            Whole,
            "",
        ),
        ("CHART_START\n{\"a\": \"b", "draw", "{\"a\": \"b\"}", Cut, ""),
        ("CHART_START {\"a\": [1 CHART_END", "draw", "{\"a\": [1 ]}", Repaired, ""),
        (
            "<<<RAW_OUTPUT>>>\nAs it \"is\",\n<b>\n<<<END_RAW_OUTPUT>>>",
            "show",
            "\"As it \\\"is\\\",\\n<b>\"",
            Whole,
            "",
        ),
        (
            "A <<<RAW_OUTPUT>>> {\"a\": <<<END <<<END_RAW_OUTPUT>>> b",
            "show",
            "\" {\\\"a\\\": <<<END \"",
            Whole,
            "A  b",
        ),
        (
            "<<<RAW_OUTPUT>>><tool_call>{}</tool_call><<<END_RAW_OUTPUT>>>",
            "show",
            "\"<tool_call>{}</tool_call>\"",
            Whole,
            "",
        ),
        ("<<<RAW_OUTPUT>>>\nAs far as <<<END_RAW", "show", "\"As far as <<<END_RAW\"", Cut, ""),
    ] {
        for reader in readers() {
            let expected = (name.to_owned(), input.to_owned(), outcome);
            assert_eq!(read(&reader, text), (vec![expected], left.to_owned()), "{text}");
        }
    }
}

#[test]
fn a_marker_that_is_mentioned_is_text() {
    for text in [
        "CHART_START begins a chart, and CHART_END ends it.",
        "CHART_START\n\nCHART_END",
        "MY_CHART_START {\"a\": 1}",
        "<<<RAW_OUT",
    ] {
        for reader in readers() {
            assert_eq!(read(&reader, text), (vec![], text.to_owned()));
        }
    }
}

#[test]
fn a_block_without_a_closing_marker_is_whole_where_the_model_ended() {
    let rest = Dialect::text_block("raw", "show", "OUTPUT:", [""; 0]);
    let reader = reader(Some(&rest));
    let text = "OUTPUT:\nto the end";
    for (at_eos, outcome) in [(true, CallOutcome::Whole), (false, CallOutcome::Cut)] {
        let (mut reader, mut trace) = (reader.clone(), CallTrace::default());
        reader.push(text.as_bytes(), &mut trace);
        if at_eos {
            reader.finish_at_eos(&mut trace);
        } else {
            reader.finish(&mut trace);
        }
        let call = &trace.found.calls()[0];
        assert_eq!((call.arguments(), call.outcome()), (&b"\"to the end\""[..], outcome));
    }
    check(&reader, text);
}

/// A text leaves as it comes.
#[test]
fn a_long_block_is_not_held_back() {
    for reader in readers() {
        let (mut reader, mut trace) = (reader, CallTrace::default());
        reader.push(b"<<<RAW_OUTPUT>>>", &mut trace);
        let mut most = 0;
        for _ in 0..5_000 {
            reader.push(b"<<<END_RAW words\n", &mut trace);
            most = most.max(reader.withheld());
        }
        assert!(most < 30, "{most}");
        assert!(trace.found.calls()[0].arguments().len() > 80_000);
    }
}
