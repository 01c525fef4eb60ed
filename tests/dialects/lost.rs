//! What is around the arguments of a call, where a part of it is missing or in other words.

use wiremend_core::MendOptions;
use wiremend_extract::{
    CallExtractor, CallOutcome::*, Dialect, FoundCall, FoundCalls, SegmentEvent, SegmentReader,
};

use super::{
    check,
    followed::{outcomes, read},
    named, reader,
};

const OPEN: &str = "{\"name\": \"book\", \"arguments\": {\"seats\": 2}";

/// Without a marker that was to come, the text of a model lacks nothing but brackets after those of the
/// arguments.
#[test]
fn the_last_brackets_may_be_missing_where_the_model_ended_the_text() {
    for (name, text, outcome) in [
        ("auto", OPEN.to_owned(), Repaired),
        ("llama3_json", OPEN.replace("arguments", "parameters"), Repaired),
        ("auto", format!("[{OPEN}]"), Repaired),
        ("auto", format!("[{OPEN}"), Repaired),
        ("mistral", format!("[TOOL_CALLS][{OPEN}]"), Repaired),
        // The arguments themselves may lack something, or what follows them does.
        ("auto", OPEN.replace("2}", "2"), Cut),
        ("auto", OPEN.replace("2}", "{\"a\": 1}"), Cut),
        ("auto", format!("{OPEN},"), Cut),
        ("auto", format!("{OPEN}, \"id\": \"a"), Cut),
        ("auto", OPEN.replace("{\"seats", "{{\"seats"), Cut),
        // A marker was to come.
        ("hermes", format!("<tool_call>{OPEN}"), Cut),
        ("auto", format!("<tool_call>{OPEN}"), Cut),
    ] {
        assert_eq!(outcomes(name, &text), [outcome], "{name}: {text}");
    }
    let first = format!("[{OPEN}}}, {OPEN}]");
    assert_eq!(outcomes("auto", &first), [Whole, Repaired], "{first}");
}

#[test]
fn they_are_cut_off_where_the_transport_ended() {
    for (name, text) in [("auto", OPEN.to_owned()), ("mistral", format!("[TOOL_CALLS][{OPEN}"))] {
        let mut reader = if name == "auto" { reader(None) } else { named(name) };
        let mut found = FoundCalls::default();
        reader.push(text.as_bytes(), &mut found);
        reader.finish(&mut found);
        let outcomes: Vec<_> = found.calls().iter().map(FoundCall::outcome).collect();
        assert_eq!(outcomes, [Cut], "{name}");
    }
}

/// The fence around a call ends it.
#[test]
fn a_fence_closes_what_is_open() {
    for (text, arguments, left) in [
        (format!("```json\n{OPEN}\n```\nDone."), "{\"seats\": 2}", "```json\n```\nDone."),
        (format!("```\n{OPEN}\n```"), "{\"seats\": 2}", "```\n```"),
        (
            format!("```json\n{}}}\n```\n", OPEN.replace('2', "\"a\\n```\\nb\"")),
            "{\"seats\": \"a\\n```\\nb\"}",
            "```json\n\n```\n",
        ),
        (
            format!("```json\n{}}}\n```\n", OPEN.replace('2', "\"a\n```\nb\"")),
            "{\"seats\": \"a\\n```\\nb\"}",
            "```json\n\n```\n",
        ),
    ] {
        let (calls, rest) = read("auto", &text);
        let calls: Vec<_> = calls.iter().map(|call| (&*call.0, &*call.1)).collect();
        assert_eq!(calls, [("book", arguments)], "{text}");
        assert_eq!(rest, left, "{text}");
    }
}

#[test]
fn an_action_is_dressed_like_a_list_a_call_or_a_sentence() {
    for name in ["book", "book()", "[book]", "book.", "`book`", "**book**", "\"book\""] {
        for input in ["{\"seats\": 2}", "`{\"seats\": 2}`"] {
            let text = format!("Action: {name}\nAction Input: {input}\nObservation: none");
            for dialect in ["react", "auto"] {
                let (calls, rest) = read(dialect, &text);
                let call = ("book".to_owned(), "{\"seats\": 2}".to_owned(), Whole);
                assert_eq!((calls, &*rest), (vec![call], "\nObservation: none"), "{text}");
            }
        }
    }
    assert_eq!(outcomes("react", "Action: book\nAction Input: `ls`"), [Refused]);
}

#[test]
fn other_words_for_arguments_and_thoughts() {
    let call = "{\"tool\": \"book\", \"tool_args\": {\"seats\": 2}}";
    for text in [
        call.to_owned(),
        call.replace("tool_args", "function_arguments"),
        call.replace("{\"tool\"", "{\"rationale\": \"Two come.\", \"tool\""),
        call.replace("}}", "}, \"reason\": \"Two come.\"}"),
        format!("{{\"thinking\": \"Two come.\", \"tool_calls\": [{call}]}}"),
        format!("{{\"analysis\": \"Two come.\", \"tool_call\": {call}}}"),
        format!("<tool_use>{call}</tool_use>"),
    ] {
        let (calls, rest) = read("auto", &text);
        let call = ("book".to_owned(), "{\"seats\": 2}".to_owned(), Whole);
        assert_eq!((calls, &*rest), (vec![call], ""), "{text}");
    }
    // What comes of a call may have such a name, and steps of a plan are none.
    for text in [
        format!("{{\"answer\": \"Two.\", \"tool_calls\": [{call}]}}"),
        call.replace("{\"tool\"", "{\"step\": 1, \"tool\""),
    ] {
        assert_eq!(read("auto", &text), (vec![], text));
    }
}

/// An object after the arguments may be them.
#[test]
fn a_second_object_refuses_the_call() {
    let doubled = OPEN.replace("{\"seats", "{}{\"seats");
    for text in [format!("[{doubled}}}]"), format!("[{OPEN} {OPEN}}}]")] {
        assert_eq!(outcomes("auto", &text)[0], Refused, "{text}");
    }
    // A comma says that another item follows.
    assert_eq!(outcomes("auto", &format!("[{OPEN}, {OPEN}}}]")), [Repaired, Whole]);
}

/// Templates of Mistral write the identifier after the arguments.
#[test]
fn an_identifier_after_the_arguments_is_told() {
    let call = "{\"name\": \"book\", \"arguments\": {\"seats\": 2}, \"id\": \"c1\"}";
    for (name, text) in [
        ("hermes", format!("<tool_call>{call}</tool_call>")),
        ("mistral", format!("[TOOL_CALLS][{call}]")),
        ("auto", format!("{{\"tool_calls\": [{call}]}}")),
        ("auto", call.replace("\"id\": \"c1\"}", "\"tool_call_id\": \"c1\"}")),
        // Before them, it is known when the call begins.
        ("auto", format!("{{\"id\": \"c1\", {}", &call[1..]).replace(", \"id\": \"c1\"}", "}")),
    ] {
        let reader = if name == "auto" { reader(None) } else { named(name) };
        let found = check(&reader, &text).found;
        let [call] = found.calls() else { panic!("{text}: {found:?}") };
        assert_eq!((call.id(), call.outcome()), (Some("c1"), Whole), "{text}");
    }
}

/// Parsers of JSON take the last of two names.
#[test]
fn a_second_name_refuses_the_call() {
    let call = "{\"name\": \"book\", \"arguments\": {\"seats\": 2}, \"name\": \"other\"}";
    assert_eq!(outcomes("auto", call), [Refused]);
    assert_eq!(outcomes("hermes", &format!("<tool_call>{call}</tool_call>")), [Refused]);
    let named = "{\"function\": {\"name\": \"write_file\", \"arguments\": {}}, \"name\": \"a\"}";
    assert_eq!(outcomes("auto", named), [Whole]);
}

/// A call begins after a call of an unknown tool that is text, and that one after the last call.
#[test]
fn what_is_unknown_in_a_list_has_its_own_place() {
    let (known, unknown) =
        ("{\"name\": \"book\", \"arguments\": {}}", "{\"name\": \"boat\", \"arguments\": {}}");
    for (text, first, starts) in [
        (format!("[{unknown}, {known}]"), 0, unknown.len() + 3),
        (format!("[{known}, {unknown}]"), known.len() + 3, 0),
    ] {
        let mut places = (0, 0);
        let mut segments = SegmentReader::new(reader(None));
        let mut sink = |event: SegmentEvent<'_>| match event {
            SegmentEvent::Unknown(tool) => places.0 = tool.offset,
            SegmentEvent::CallEnded(end) => places.1 = end.span.start,
            _ => {}
        };
        segments.push(text.as_bytes(), &mut sink);
        segments.finish_at_eos(&mut sink);
        assert_eq!(places, (first, starts), "{text}");
    }
}

/// White space before a closing marker is skipped, so that one may be written with it.
#[test]
fn a_closing_marker_may_begin_with_white_space() {
    for own in [
        Dialect::named("own", "CALL_START ", " ", [" CALL_END"]),
        Dialect::named("own", "CALL_START ", " ", ["CALL_END"]),
    ] {
        let reader = CallExtractor::new(MendOptions::new()).with_dialect(own);
        let found = check(&reader, "CALL_START book {\"seats\": 2} CALL_END.").found;
        assert_eq!(found.text(), b".");
        assert!(!found.calls()[0].end().unwrap().unclosed);
    }
}
