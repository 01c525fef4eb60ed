//! What the prompt has written of the answer: the end of a template, or a call that it opens.

use wiremend_extract::{
    CallExtractor, CallOutcome, Dialect, FoundCalls, Segment, SegmentReader, Segments,
};

use crate::readers::reader;

/// Reads a text at every cut. What is not decided and what was emitted is the text, and no more.
fn read(reader: &CallExtractor, text: &str) -> FoundCalls {
    let run = |chunks: &[&[u8]]| {
        let (mut reader, mut found) = (reader.clone(), FoundCalls::default());
        // An empty chunk only makes the reader ready.
        reader.push(b"", &mut found);
        let mut read = 0;
        for chunk in chunks {
            reader.push(chunk, &mut found);
            read += chunk.len();
            let rest = reader.clone().reset();
            assert_eq!(rest.len(), reader.withheld());
            assert!(text.as_bytes()[..read].ends_with(&rest), "{text}");
        }
        reader.finish_at_eos(&mut found);
        found
    };
    let whole = run(&[text.as_bytes()]);
    for cut in 1..text.len() {
        let (head, tail) = text.as_bytes().split_at(cut);
        assert_eq!(run(&[head, tail]), whole, "{text} at {cut}");
    }
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    assert_eq!(run(&bytes), whole, "{text}");
    whole
}

#[test]
fn the_call_that_the_prompt_opened_is_read() {
    for (name, prefill, text) in [
        (
            "hermes",
            "<tool_call>",
            "\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n</tool_call>",
        ),
        (
            "hermes",
            "<tool_call>\n",
            "{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n</tool_call>",
        ),
        (
            "hermes",
            "<tool_call>\n{\"name\": \"book\", \"arguments\":",
            " {\"seats\": 2}}\n</tool_call>",
        ),
        (
            "hermes",
            "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"se",
            "ats\": 2}}\n</tool_call>",
        ),
        (
            "hermes",
            "<think>\n\n</think>\n\n<tool_call>",
            "{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>",
        ),
        ("mistral", "[TOOL_CALLS]", "book[ARGS]{\"seats\": 2}"),
        ("mistral", "[TOOL_CALLS]", "[{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]"),
        ("mistral", "[TOOL_CALLS]book[ARGS]", "{\"seats\": 2}"),
        (
            "kimi_k2",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.",
            "book:0<|tool_call_argument_begin|>{\"seats\": 2}<|tool_call_end|>",
        ),
        (
            "qwen3_coder_xml",
            "<tool_call>\n<function=",
            "book>\n<parameter=seats>\n2\n</parameter>\n</function>\n</tool_call>",
        ),
        (
            "harmony",
            "<|start|>assistant<|channel|>commentary to=functions.book <|message|>",
            "{\"seats\": 2}<|call|>",
        ),
        ("llama3_json", "{\"name\": \"", "book\", \"parameters\": {\"seats\": 2}}"),
        ("pythonic", "[", "book(seats=2)]"),
    ] {
        for reader in [reader(Some(name)), reader(None)] {
            let found = read(&reader.with_prefill(prefill), text);
            let [call] = found.calls() else { panic!("{prefill}{text}: {found:?}") };
            assert_eq!((call.name(), call.outcome()), ("book", CallOutcome::Whole), "{prefill}");
            assert_eq!(String::from_utf8_lossy(call.arguments()).replace(' ', ""), "{\"seats\":2}");
            let span = &call.end().unwrap().span;
            assert!(span.start == 0 && span.end <= text.len(), "{prefill}{text}: {span:?}");
            assert!(found.text().is_empty() && found.reasoning().is_empty(), "{found:?}");
        }
    }
}

#[test]
fn what_the_prompt_has_written_is_never_passed_on() {
    for (prefill, text) in [
        ("<tool_call>", "I cannot do that."),
        ("<tool_call>\n{\"name\": \"", "Sorry."),
        ("So:\n", "Two."),
        ("[TOOL_CALLS]", " is the marker"),
        ("<tool_call>", "<"),
    ] {
        for reader in [reader(Some("hermes")), reader(None)] {
            let found = read(&reader.with_prefill(prefill), text);
            assert!(found.calls().iter().all(|call| !call.outcome().can_run()), "{found:?}");
            let raw: usize = found.calls().iter().map(|call| call.end().unwrap().span.len()).sum();
            assert_eq!(found.text().len() + raw, text.len(), "{prefill}{text}: {found:?}");
        }
    }
    // Reasoning that the prompt opened, and a later call with its own place.
    let reader = reader(Some("hermes")).with_prefill("<think>\n");
    let call = "<tool_call>{\"name\": \"book\", \"arguments\": {}}</tool_call>";
    let found = read(&reader, &format!("Two.</think>{call}"));
    assert_eq!((found.reasoning(), found.text()), (&b"Two."[..], &b""[..]));
    assert_eq!(found.calls()[0].end().unwrap().span, 12..12 + call.len());
}

#[test]
fn a_reader_starts_over_with_it() {
    let mut reader = reader(Some("hermes")).with_prefill("<tool_call>");
    let text = b"{\"name\": \"book\", \"arguments\": {}}</tool_call>";
    for _ in 0..2 {
        let mut found = FoundCalls::default();
        reader.push(text, &mut found);
        reader.finish_at_eos(&mut found);
        assert_eq!(found.calls().len(), 1);
        assert_eq!(reader.reset(), b"");
    }
    // Nothing of the input was decided.
    reader.push(b"{\"na", &mut FoundCalls::default());
    assert_eq!(reader.reset(), b"{\"na");
    // Without any input, the call that was opened is no call, and its marker no text.
    let mut found = FoundCalls::default();
    reader.finish(&mut found);
    assert!(found.calls().is_empty() && found.text().is_empty());
}

#[test]
fn segments_cover_the_input_alone() {
    let reader = reader(None).with_prefill("<tool_call>{\"name\": \"book\", ");
    let text = b"\"arguments\": {}}</tool_call> So: {'a': 1}";
    let mut reader = SegmentReader::new(reader);
    let mut found = Segments::default();
    reader.push(text, &mut found);
    reader.finish_at_eos(&mut found);
    let kinds: Vec<&str> = found.iter().map(Segment::kind).collect();
    assert_eq!(kinds, ["call", "text", "payload"]);
    let joined: Vec<&[u8]> = found.iter().map(|segment| &text[segment.span()]).collect();
    assert_eq!(joined.concat(), text);
}

/// Wherever a prompt ends in an answer, the rest of it yields the same calls, and the rest of the text.
#[test]
fn a_text_whose_beginning_the_prompt_has_written_yields_the_same_calls() {
    for row in Dialect::all() {
        let text = format!("So: {}\nDone.", row.example());
        let reader = reader(Some(row.name()));
        let calls = |found: &FoundCalls| -> Vec<_> {
            let calls = found.calls().iter();
            calls
                .map(|call| (call.name().to_owned(), call.arguments().to_vec(), call.outcome()))
                .collect()
        };
        let run = |reader: &CallExtractor, text: &str| {
            let (mut reader, mut found) = (reader.clone(), FoundCalls::default());
            reader.push(text.as_bytes(), &mut found);
            reader.finish_at_eos(&mut found);
            found
        };
        let whole = run(&reader, &text);
        for (cut, _) in text.char_indices().skip(1) {
            let (head, tail) = text.split_at(cut);
            let found = run(&reader.clone().with_prefill(head), tail);
            assert_eq!(calls(&found), calls(&whole), "{} at {cut}: {head}", row.name());
            assert!(whole.text().ends_with(found.text()), "{} at {cut}", row.name());
            let ends = found.calls().iter().filter_map(|call| call.end());
            for (end, before) in ends.zip(whole.calls().iter().filter_map(|call| call.end())) {
                let span =
                    before.span.start.saturating_sub(cut)..before.span.end.saturating_sub(cut);
                assert_eq!(end.span, span, "{} at {cut}", row.name());
            }
        }
    }
}
