//! Text, reasoning, documents and calls from one reader.

use wiremend_core::{MendOptions, Outcome, Policy};
use wiremend_extract::{
    CallExtractor, CallOutcome, Dialect, FoundCall, Segment, SegmentReader, Segments,
};
use wiremend_testkit::laws;

use super::{check, named, reader, templates::knowing};

fn read(reader: CallExtractor, text: &str) -> (Segments, Vec<(&'static str, String)>) {
    laws::segments(text.as_bytes(), &reader).unwrap();
    let mut reader = SegmentReader::new(reader);
    let mut found = Segments::default();
    reader.push(text.as_bytes(), &mut found);
    reader.finish_at_eos(&mut found);
    let parts = found.iter().map(|part| (part.kind(), text[part.span()].to_owned())).collect();
    (found, parts)
}

const CALL: &str = "<tool_call>{\"name\": \"book\", \"arguments\": {'seats': 2,}}</tool_call>";

#[test]
fn every_kind_of_segment_is_found_in_order() {
    let text = format!(
        "<think>Is it {{\"a\": 0}}?</think>It is {{'a': 1}}, so\n```json\n[1, 2,]\n```\n{CALL}\nDone."
    );
    let (found, parts) = read(reader(None), &text);
    let shown: Vec<(&str, &str)> =
        parts.iter().map(|(kind, source)| (*kind, source.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("markup", "<think>"),
            ("reasoning", "Is it {\"a\": 0}?"),
            ("markup", "</think>"),
            ("text", "It is "),
            ("payload", "{'a': 1}"),
            ("text", ", so\n```json\n"),
            ("payload", "[1, 2,]"),
            ("text", "\n```\n"),
            ("call", CALL),
            ("text", "\nDone."),
        ]
    );
    let payload = |at: usize| match &found.list()[at] {
        Segment::Payload(payload) => (payload.json(), payload.outcome().unwrap()),
        other => panic!("{other:?}"),
    };
    assert_eq!(payload(4), (&b"{\"a\": 1}"[..], Outcome::Repaired));
    assert_eq!(payload(6), (&b"[1, 2]"[..], Outcome::Repaired));
    let Segment::Call(_, call) = &found.list()[8] else { panic!() };
    assert_eq!((call.name(), call.outcome()), ("book", CallOutcome::Repaired));
    assert_eq!(call.raw(), b"{'seats': 2,}");
    assert_eq!(call.arguments(), b"{\"seats\": 2}");
}

#[test]
fn segments_of_every_example_cover_it() {
    for row in Dialect::all() {
        let text = format!("See {{\"a\": [1]}}.\n{}\n[2, 3] and {{x}}.", row.example());
        for reader in [reader(Some(row)), reader(None)] {
            let (found, _) = read(reader, &text);
            let calls = found.iter().filter(|part| part.kind() == "call").count();
            // Text before the call makes it a mention, and around one without a marker.
            assert!(
                calls > 0 || row.example().starts_with([' ', '<', '{', '[', 'b']),
                "{}",
                row.name()
            );
        }
    }
}

#[test]
fn unknown_and_restated_calls_are_text_and_reported() {
    let text = "<tool_call>{\"name\": \"boook\", \"arguments\": {}}</tool_call>";
    let (found, parts) = read(reader(None), text);
    assert_eq!(found.unknown().collect::<Vec<_>>(), [("boook", Some("book"))]);
    assert_eq!(
        parts.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
        ["text", "payload", "text"]
    );
    let text = "book(seats=2)\nis what I would do, so:\n[book(seats=2)]";
    let (found, parts) = read(reader(None), text);
    assert_eq!(found.restated(), [0]);
    assert_eq!(parts.len(), 2);
}

/// A call in the middle of a document ends it, and the document is not complete.
#[test]
fn a_call_ends_an_open_document() {
    let (found, parts) = read(named("hermes"), &format!("[1, {CALL} 2]"));
    assert_eq!(parts[0], ("payload", "[1, ".to_owned()));
    let Segment::Payload(payload) = &found.list()[0] else { panic!() };
    assert_eq!(payload.outcome(), Some(Outcome::Closed));
}

/// What turns out to be reasoning is one segment.
#[test]
fn what_was_reasoning_is_one_segment() {
    let text = format!("Is it [1]? {CALL} Or?</think>[2]");
    let (_, parts) = read(reader(None), &text);
    let kinds: Vec<&str> = parts.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, ["reasoning", "markup", "payload"]);
    assert_eq!(parts[0].1, format!("Is it [1]? {CALL} Or?"));
}

/// A transport that ended cuts the open call. In a dialect in which the model's own end closes a call, that
/// completes it.
#[test]
fn there_are_two_ends() {
    let rest = Dialect::text_block("raw", "show", "OUTPUT:", [""; 0]);
    let text = "OUTPUT:\nto the end";
    let ended = |at_eos: bool| {
        let mut reader = SegmentReader::new(reader(Some(&rest)));
        let mut found = Segments::default();
        reader.push(text.as_bytes(), &mut found);
        if at_eos {
            reader.finish_at_eos(&mut found);
        } else {
            reader.finish(&mut found);
        }
        let Some(Segment::Call(_, call)) = found.list().last() else { panic!() };
        call.outcome()
    };
    assert_eq!((ended(false), ended(true)), (CallOutcome::Cut, CallOutcome::Whole));
}

#[test]
fn the_policy_is_that_of_the_reader_of_calls() {
    let strict = reader(None).with_mending(MendOptions::new().with_policy(Policy::STRICT));
    let (found, _) = read(strict, "{'a': 1}");
    let Segment::Payload(payload) = &found.list()[0] else { panic!() };
    assert_eq!(payload.outcome(), Some(Outcome::Invalid));
}

/// Nothing in a string of a document is a marker, a tag or a call.
#[test]
fn nothing_in_a_string_of_a_document_is_a_call() {
    let within = CALL.replace('"', "\\\"");
    for value in [
        within.as_str(),
        "use </think> to end, or <think>",
        "I would do [book(seats=2)] or <book><seats>2</seats></book>",
        "<tool_call>\\n<function=book>\\n<parameter=seats>2</parameter>\\n</function>\\n</tool_call>",
        "<|channel|>commentary to=functions.book <|message|>{}<|call|>",
    ] {
        for document in [
            format!("{{\"note\": \"{value}\"}}"),
            format!("{{\n  \"a\": [1, true],\n  \"note\": [\"b\", \"{value}\"]\n}}"),
            format!("{{'note': '{value}',}}"),
        ] {
            for (before, after) in
                [("", ""), ("So it is:\n", "\nDone."), ("```json\n", "\n```\n"), ("Here: ", " ")]
            {
                let text = format!("{before}{document}{after}");
                for reader in [reader(None), named("hermes"), named("pythonic")] {
                    let (found, parts) = read(reader, &text);
                    let payloads = found.iter().filter(|part| part.kind() == "payload").count();
                    assert_eq!(payloads, 1, "{text}: {parts:?}");
                    assert!(parts.contains(&("payload", document.clone())), "{text}: {parts:?}");
                    let other = |kind: &str| !["text", "payload"].contains(&kind);
                    assert!(!parts.iter().any(|part| other(part.0)), "{text}: {parts:?}");
                }
            }
        }
    }
}

/// A document that was cut off in a string does not swallow the call after it.
#[test]
fn a_call_after_a_document_that_was_cut_off_is_found() {
    for text in [
        format!("{{\"note\": \"It was late\n{CALL}"),
        format!("{{\"note\": \"It was late\"{CALL}"),
        format!("{{\"note\": \"It was late\"}}{CALL}"),
        format!("{{\"note\": {CALL}"),
        format!("{{\"note\": \"a\", {CALL}"),
    ] {
        let (found, parts) = read(named("hermes"), &text);
        let Some(Segment::Call(_, call)) = found.list().last() else { panic!("{parts:?}") };
        assert_eq!(call.arguments(), b"{\"seats\": 2}", "{text}");
    }
}

/// Nor does one without its brackets swallow what comes after its paragraph.
#[test]
fn a_document_ends_with_its_paragraph() {
    let call = "[book(seats=2)]";
    for (text, count) in [
        (format!("{{\"notes\": [\"a\",\n{call}"), 0),
        (format!("{{\"notes\": [\"a\",\n\n{call}"), 1),
        (format!("[\"a\", {{\"b\": \"c\"}}]\n{call}"), 1),
        (format!("See [the \"docs\"](x) and [\"a\"].\n{call}"), 1),
    ] {
        let found = check(&knowing(None), &text).found;
        assert_eq!(found.calls().len(), count, "{text}: {found:?}");
    }
}

/// Each call of a list begins where the one before it ends, with the source of its name.
#[test]
fn the_spans_of_the_calls_of_a_list_follow_one_another() {
    let call =
        |seats: u32| format!("{{\"name\": \"book\", \"arguments\": {{\"seats\": {seats}}}}}");
    let (one, two) = (call(1), call(2));
    for (name, text, second) in [
        (
            "jamba",
            format!("<tool_calls>[{one}, {two}]</tool_calls>"),
            format!("{two}]</tool_calls>"),
        ),
        ("mistral", format!("[TOOL_CALLS][{one},\n {two}]"), format!("{two}]")),
        ("hermes", format!("<tool_call>[{one}, {}", &two[..40]), two[..40].to_owned()),
        ("llama3_json", "{\"book\": {\"seats\": 1}, \"now\": {}}".into(), "\"now\": {}}".into()),
    ] {
        let found = check(&knowing(Some(name)), &text).found;
        let spans: Vec<_> = found.calls().iter().filter_map(FoundCall::end).collect();
        let [first, last] = &spans[..] else { panic!("{text}: {found:?}") };
        assert_eq!(first.span.end, last.span.start, "{text}");
        assert_eq!(&text[last.span.clone()], second, "{text}");
    }
}
