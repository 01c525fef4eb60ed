//! Markers around headers, arguments and calls: missing, mentioned, in other words, or with no call between them.

use wiremend_core::MendOptions;
use wiremend_extract::{
    CallExtractor,
    CallOutcome::{self, *},
    Dialect, FoundCall, FoundCalls, SegmentEvent, SegmentReader, Tools,
};

use super::{check, named, reader};

const CALL: &str = "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n</tool_call>";

/// The calls of a text, in a dialect or detected, with their outcomes, and the text that is left.
pub(super) fn read(name: &str, text: &str) -> (Vec<(String, String, CallOutcome)>, String) {
    let reader = if name == "auto" { reader(None) } else { named(name) };
    let found = check(&reader, text).found;
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let calls = found
        .calls()
        .iter()
        .filter(|call| !call.in_reasoning())
        .map(|call| (call.name().to_owned(), show(call.arguments()), call.outcome()));
    (calls.collect(), show(found.text()))
}

pub(super) fn outcomes(name: &str, text: &str) -> Vec<CallOutcome> {
    read(name, text).0.into_iter().map(|call| call.2).collect()
}

/// The end of the text may stand for a marker that is missing, but not for a part of the arguments.
#[test]
fn a_value_that_is_open_at_the_end_is_cut_in_every_dialect() {
    let harmony = "<|channel|>commentary to=functions.book <|constrain|>json<|message|>";
    for (name, head) in [
        ("harmony", harmony),
        ("react", "Action: book\nAction Input: "),
        ("mistral", "[TOOL_CALLS]book[ARGS]"),
        ("minimax_text", "functions.book("),
    ] {
        for (tail, outcome) in [
            ("{\"name\": \"A", Cut),
            ("{\"name\": \"f(x)", Cut),
            ("{\"seats\": 1", Cut),
            ("{", Cut),
            ("{\"seats\": 1}", Whole),
        ] {
            for name in [name, "auto"] {
                let text = format!("{head}{tail}");
                assert_eq!(outcomes(name, &text), [outcome], "{name}: {text}");
            }
        }
    }
    for tail in ["{name:<|\"|>Ad", "{seats:1", "{name:<|\"|>Ad<|\"|>", "{"] {
        let text = format!("<|tool_call>call:book{tail}");
        assert_eq!(outcomes("gemma4", &text), [Cut], "{text}");
        assert_eq!(outcomes("auto", &text), [Cut], "{text}");
    }
    assert_eq!(outcomes("gemma4", "<|tool_call>call:book{seats:1}"), [Whole]);
}

/// A header ends at the next marker, or at the bracket of the arguments.
#[test]
fn a_header_does_not_take_the_arguments_of_the_next_call() {
    let call =
        |name: &str, arguments: &str, outcome| (name.to_owned(), arguments.to_owned(), outcome);
    let second = call("book", "{\"seats\": 2}", Whole);
    for (name, text, first) in [
        (
            "mistral",
            "[TOOL_CALLS]roll[CALL_ID]a1{}[TOOL_CALLS]book[CALL_ID]a2[ARGS]{\"seats\": 2}",
            call("roll", "{}", Whole),
        ),
        (
            "mistral",
            "[TOOL_CALLS]roll[TOOL_CALLS]book[ARGS]{\"seats\": 2}",
            call("roll", "{}", Cut),
        ),
        (
            "mistral",
            "[TOOL_CALLS]roll[CALL_ID]a1[TOOL_CALLS]book[ARGS]{\"seats\": 2}",
            call("roll", "{}", Cut),
        ),
        (
            "harmony",
            "<|channel|>commentary to=functions.roll <|constrain|>json<|channel|>commentary to=functions.book <|message|>{\"seats\": 2}<|call|>",
            call("roll", "{}", Cut),
        ),
        (
            "harmony",
            "<|channel|>commentary to=functions.roll{}<|call|><|channel|>commentary to=functions.book <|message|>{\"seats\": 2}<|call|>",
            call("roll", "{}", Whole),
        ),
    ] {
        assert_eq!(read(name, text), (vec![first, second.clone()], String::new()), "{text}");
    }
    // A name is complete where the text ends, if it is that of a tool.
    assert_eq!(outcomes("auto", "[TOOL_CALLS]book"), [Cut]);
    assert_eq!(read("auto", "[TOOL_CALLS]boo"), (vec![], "[TOOL_CALLS]boo".to_owned()));
    assert_eq!(read("mistral", "[TOOL_CALLS] and [TOOL_CALLS]").0, []);
}

/// What goes on with arguments that have ended would be missing in them.
#[test]
fn a_surplus_bracket_inside_of_arguments_refuses_the_call() {
    let surplus = "{\"name\": \"a\", \"meta\": {\"k\": 1}}, \"seats\": 2}";
    for (name, head, tail) in [
        (
            "kimi_k2",
            "<|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>",
            "<|tool_call_end|>",
        ),
        ("mistral", "[TOOL_CALLS]book[ARGS]", ""),
        ("functionary_v31", "<function=book>", "</function>"),
        ("harmony", "<|channel|>commentary to=functions.book <|message|>", "<|call|>"),
        ("react", "Action: book\nAction Input: ", "\nObservation: x"),
        ("name_line", "book\n", ""),
    ] {
        for name in [name, "auto"] {
            let text = format!("{head}{surplus}{tail}");
            let (calls, left) = read(name, &text);
            assert_eq!(calls.len(), 1, "{name}: {text}");
            assert_eq!(calls[0].2, Refused, "{name}: {text}");
            assert!(!left.contains("seats"), "{name}: {left}");
        }
    }
    let text = "<|tool_call>call:book{meta:{k:1}},seats:2}<tool_call|>";
    assert_eq!(read("gemma4", text).0[0].2, Refused);
    // One at the end leaves nothing out, and text does not go on with arguments.
    let text = "[TOOL_CALLS]book[ARGS]{\"seats\": 2}, and so on: \"x\"";
    assert_eq!(outcomes("mistral", text), [Whole]);
    let text = "<function=book>{\"seats\": 2}}</function>";
    assert!(outcomes("functionary_v31", text)[0].can_run());
}

/// In a string, the quotes of the next call would be escaped.
#[test]
fn a_string_that_runs_into_the_next_call_is_cut() {
    for (name, text) in [
        (
            "hermes",
            "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"name\": \"x}}\n</tool_call>\n<tool_call>\n{\"name\": \"book\", \"arguments\": {\"name\": \"y\"}}\n</tool_call>",
        ),
        (
            "kimi_k2",
            "<|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>{\"name\": \"x<|tool_call_end|><|tool_call_begin|>functions.book:1<|tool_call_argument_begin|>{\"name\": \"y\"}<|tool_call_end|>",
        ),
        (
            "gemma4",
            "<|tool_call>call:book{name:<|\"|>x}<tool_call|><|tool_call>call:book{name:<|\"|>y<|\"|>}<tool_call|>",
        ),
    ] {
        for name in [name, "auto"] {
            let (calls, left) = read(name, text);
            assert_eq!((calls[0].2, calls[1].2, calls.len()), (Cut, Whole, 2), "{name}: {text}");
            assert_eq!(
                (calls[1].1.replace(' ', ""), left),
                ("{\"name\":\"y\"}".to_owned(), String::new())
            );
        }
    }
    // A string that shows two calls is one string.
    let text = "<tool_call>{\"name\": \"book\", \"arguments\": {\"name\": \"<tool_call>{}</tool_call><tool_call>{\\\"name\\\": 1}</tool_call>\"}}</tool_call>";
    assert_eq!(outcomes("hermes", text), [Whole]);
    // A string that ends with the brackets of its call was not closed where it was meant to be.
    let text = "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"name\": \"x}}\n</tool_call>";
    assert_eq!(outcomes("hermes", text), [Cut]);
    let text = "<tool_call>{\"name\": \"book\", \"arguments\": {\"name\": \"x</tool_call>";
    assert_eq!(outcomes("hermes", text), [Repaired]);
}

/// The opener of a call ends the one before it, and is read as what it is in any dialect.
#[test]
fn the_next_call_is_read_whatever_the_first_one_was() {
    let pairs = "<tool_call>book\n<arg_key>seats</arg_key>\n<arg_value>3</arg_value>\n</tool_call>";
    let python = "<|tool_call_start|>[book(seats=2)]";
    let harmony = "<|channel|>commentary to=functions.book <|message|>{\"seats\": 2}";
    for (name, text) in [
        ("auto", format!("{CALL}\n{pairs}")),
        ("auto", format!("{pairs}\n{pairs}")),
        ("auto", format!("{harmony}{harmony}<|call|>")),
        ("harmony", format!("{harmony}{harmony}<|call|>")),
        ("lfm2_pythonic", format!("{python}\n{python}<|tool_call_end|>")),
        (
            "olmo3_pythonic",
            "<function_calls>book(seats=2)\n<function_calls>book(seats=3)</function_calls>".into(),
        ),
        ("functionary_v32", ">>>book\n{\"seats\": 2}>>>book\n{\"seats\": 3}".into()),
        ("functionary_v32", ">>>book\n{\"seats\": 2}\n>>>book\n{\"seats\": 3}\n".into()),
    ] {
        let (calls, left) = read(name, &text);
        assert_eq!(calls.len(), 2, "{name}: {text}");
        assert!(calls.iter().all(|call| call.2 == Whole), "{name}: {calls:?}");
        assert_eq!(left.trim(), "", "{name}: {text}");
    }
    assert_eq!(read("functionary_v32", ">>>all\nHi>>>book\n{\"seats\": 2}").1, "Hi");
}

/// A tag that closes reasoning after a call does not make it a draft, where it is mentioned, or where no
/// text is between the two.
#[test]
fn a_closing_tag_of_reasoning_may_be_mentioned_after_a_call() {
    for (tail, left) in [
        ("\nThe tag </think> closes it.", "\nThe tag </think> closes it."),
        ("\n</think>", "\n</think>"),
    ] {
        let (calls, text) = read("auto", &format!("{CALL}{tail}"));
        assert_eq!((calls.len(), &*text), (1, left));
    }
    for tail in [" Or not.</think>Yes.", "\nOr not.\n</think>\n\nYes."] {
        assert_eq!(read("auto", &format!("{CALL}{tail}")).0.len(), 0, "{tail}");
    }
}

#[test]
fn markers_that_are_mentioned_after_a_call_stay_in_the_text() {
    let seed = "<seed:tool_call>\n<function=book>\n<parameter=seats>2</parameter>\n</function>\n</seed:tool_call>";
    for (call, tail) in [
        (CALL, "\nUse `</tool_call>` to close."),
        (CALL, " It ends with </tool_call> there."),
        (CALL, "\n<tool_call>book it"),
        (seed, " A `<seed:tool_call>` opens it."),
        (seed, " And `</seed:tool_call>` closes it."),
    ] {
        assert_eq!(read("auto", &format!("{call}{tail}")).1, tail);
    }
    // Directly after a call, a marker belongs to it.
    assert_eq!(read("auto", &format!("{CALL}\n</tool_call>\nDone.")).1.trim(), "Done.");
    for text in [
        "<|tool_call>call:unheard_of{}<tool_call|>",
        "<|channel|>commentary to=functions.unheard_of <|message|>{}<|call|>",
    ] {
        assert_eq!(read("auto", text), (vec![], text.to_owned()));
    }
}

#[test]
fn a_known_name_in_a_block_that_cannot_be_read_is_reported() {
    for (text, outcome) in [
        ("<|tool_call_start|>[book(]<|tool_call_end|>", Refused),
        ("<tool_call>book\n", Refused),
        ("<|channel|>commentary to=functions.book <|constrain|>json", Cut),
    ] {
        assert_eq!(outcomes("auto", text), [outcome], "{text}");
    }
    let text = "<tool_call>write_file\n<tool_call>book\n<arg_key>seats</arg_key>\n<arg_value>3</arg_value>\n</tool_call>";
    assert_eq!(outcomes("glm_arg_kv", text), [Refused, Whole]);
}

#[test]
fn line_ends_of_windows_in_markers_are_read() {
    for (name, text) in [
        (
            "gigachat3",
            "<|message_sep|>\r\n\r\nfunction call<|role_sep|>\r\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}",
        ),
        (
            "cohere_command_r_plus",
            "Action:\r\n```json\r\n[{\"tool_name\": \"book\", \"parameters\": {\"seats\": 2}}]\r\n```",
        ),
        ("minimax_text", "```typescript\r\nfunctions.book({\"seats\": 2})\r\n```"),
    ] {
        assert_eq!(outcomes(name, text), [Whole], "{name}");
    }
}

/// A list of calls that lacks its bracket ends where text begins.
#[test]
fn text_after_a_list_without_its_bracket_is_text() {
    let call = "{\"name\": \"book\", \"arguments\": {\"seats\": 2}}";
    let single = "{'name': 'book', 'arguments': {'seats': 2}}";
    for (name, head) in [
        ("granite3", "<|tool_call|>"),
        ("jamba", "<tool_calls>"),
        ("hermes", "<tool_call>"),
        ("mistral", "[TOOL_CALLS]"),
        ("generic_json", ""),
    ] {
        for text in [
            "\nI have booked it.",
            ", I have booked it.",
            "\n\n\u{1f600} Done: \"ok\" {x}",
            "\nNote: it is booked",
        ] {
            for call in [call, single] {
                let whole = format!("{head}[{call}{text}");
                let (calls, left) = read(name, &whole);
                assert_eq!(calls.len(), 1, "{whole}");
                assert_eq!(left, text, "{whole}");
            }
        }
        for between in [", ", "\n", ";\n", ", null, ", ", // two\n", " and ", ", then\n"] {
            let whole = format!("{head}[{call}{between}{call}]");
            assert_eq!(outcomes(name, &whole).len(), 2, "{whole}");
        }
    }
}

/// An object may list calls twice, and the brackets of a list of one call may be missing.
#[test]
fn lists_of_calls_in_an_object_may_be_two_or_lack_their_brackets() {
    let book = "{\"name\": \"book\", \"arguments\": {\"seats\": 2}}";
    let now = "{\"name\": \"book\", \"arguments\": {\"seats\": 3}}";
    for (text, count) in [
        (format!("{{\"tool_calls\": [{book}], \"tool_calls\": [{now}]}}"), 2),
        (format!("{{\"tool_calls\": [{book}], \"tool_calls\": {now}}}"), 2),
        (format!("{{\"tool_calls\": {book}, \"tool_calls\": {now}}}"), 2),
        (format!("{{\"tool_calls\": [], \"tool_calls\": {now}}}"), 1),
        (format!("{{\"tool_calls\": {book}}}"), 1),
        (format!("{{\"calls\": {{\"a\": 1}}, \"tool_calls\": [{book}]}}"), 1),
    ] {
        for name in ["generic_json", "auto"] {
            let (calls, left) = read(name, &text);
            assert_eq!(calls.len(), count, "{text}: {calls:?}");
            assert!(calls.iter().all(|call| call.2 == Whole), "{text}: {calls:?}");
            assert_eq!(left, "", "{text}");
        }
    }
    let none = "{\"tool_calls\": {\"seats\": 2}}";
    assert_eq!(read("generic_json", none), (vec![], none.to_owned()));
}

/// What closes a call may come twice, or after text that follows the call. In a sentence it is text.
#[test]
fn a_closing_marker_on_its_own_line_or_beside_a_call_is_markup() {
    for name in ["hermes", "auto"] {
        for (after, left) in [
            ("\n</tool_call>\n</tool_call>", ""),
            (" and\n</tool_call>", " and\n"),
            ("\nand\n</tool_call>\nbye", "\nand\n\nbye"),
            ("\n</tool_call> and </tool_call>", " and </tool_call>"),
        ] {
            let call = CALL.trim_end_matches("\n</tool_call>");
            let (calls, text) = read(name, &format!("{call}{after}"));
            assert_eq!(calls.len(), 1, "{name}: {after}");
            assert_eq!(text, left, "{name}: {after}");
        }
        let none = "Hello\n</tool_call>\nbye";
        assert_eq!(read(name, none), (vec![], none.to_owned()));
    }
}

/// A key that lists calls may be the name of a tool.
#[test]
fn a_tool_may_have_the_name_of_a_key_that_lists_calls() {
    let tools = Tools::new().with_tool("calls", ["name"], None);
    let reader = named("generic_json").with_tools(tools);
    let found = check(&reader, "{\"calls\": {\"name\": \"Ada\"}}").found;
    assert_eq!(found.calls().len(), 1, "{found:?}");
    assert_eq!(found.calls()[0].name(), "calls");
    assert_eq!(found.calls()[0].arguments(), b"{\"name\": \"Ada\"}");
}

/// Tokens that end a turn, and brackets that nothing has opened, belong to the call before them. Anywhere
/// else they are text.
#[test]
fn the_end_of_a_turn_and_brackets_too_many_belong_to_the_call() {
    let alone = r#"{"name": "book", "arguments": {"seats": 2}}"#;
    for stop in
        ["</s>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "\n</s>", "<end_of_turn></s>"]
    {
        for name in ["hermes", "auto"] {
            let (calls, text) = read(name, &format!("Wait. {CALL}{stop}"));
            assert_eq!((calls.len(), text.trim_end()), (1, "Wait."), "{name} {stop}");
        }
        let (calls, text) = read("auto", &format!("{alone}{stop}"));
        assert_eq!((calls.len(), text.as_str()), (1, ""), "{stop}");
    }
    for (tail, left) in [
        ("}", ""),
        ("]", ""),
        ("}}]\nDone.", "\nDone."),
        ("\n}", ""),
        ("}}}}}", "}}}}}"),
        ("\n</summary>", "\n</summary>"),
        ("\nHi</s>", "\nHi</s>"),
        (&format!("{}\n</s>", " ".repeat(300)), &format!("{}\n</s>", " ".repeat(300))),
    ] {
        let (calls, text) = read("auto", &format!("{alone}{tail}"));
        assert_eq!((calls.len(), text.as_str()), (1, left), "{tail}");
    }
    // In a sentence, nothing is called.
    for text in [format!("{alone}}} it is"), format!("[see {alone}]")] {
        assert_eq!(read("auto", &text), (vec![], text));
    }
}

/// A sentence about a call, the text of a link and what a loop makes are no calls that may run.
#[test]
fn a_call_in_python_that_is_a_part_of_something_else_does_not_run() {
    for text in ["[book(seats=2)](https://example.org)", "[book(seats=2)](https://example.org)\n"] {
        assert_eq!(outcomes("pythonic", text), [Refused], "{text}");
        assert_eq!(outcomes("auto", text), [], "{text}");
    }
    for name in ["auto", "pythonic"] {
        for text in ["[book(seats=n) for n in (1, 2)]", "[book(seats=2) if x else book(seats=3)]"] {
            let calls = outcomes(name, text);
            assert!(calls.iter().all(|call| *call == Refused), "{text}");
            assert!(name == "auto" || !calls.is_empty(), "{text}");
        }
    }
    for text in [
        "book(seats=2) is what I do.",
        "Error: book(seats=2) failed",
        "book(seats=2)\tbooks",
        "book(seats=2), which books.",
        "book(seats=2). It failed.",
        "I can run this: book(seats=2). Shall I?",
        "Shall I run this: book(seats=2)?",
        "book(seats=2): two seats",
        "1. `book(seats=2)` passed",
        "- book(seats=2) → passed",
        "- book(seats=2) => passed",
        "- book(seats=2) (passed)",
        "- book(seats=2) – two seats",
        "- book(seats=2) - two seats",
        "**book(seats=2)** books two seats",
        "[book(seats=2)] books.",
        "[book(seats=2)] (two seats)",
        "book(seats=2) and then book(seats=3)",
    ] {
        assert_eq!(outcomes("auto", text), [], "{text}");
    }
    for text in ["book(name=self.name)", "book(name=lambda: 2)"] {
        assert_eq!(outcomes("auto", text), [Refused], "{text}");
    }
    for (text, count, rest) in [
        ("book(seats=2) book(seats=3)", 2, ""),
        ("book(seats=2) # two seats", 1, " # two seats"),
        ("book(seats=2)\nThis books.", 1, "\nThis books."),
        ("book(seats=2),\nwhich books.", 1, ",\nwhich books."),
        ("book(seats=2).", 1, "."),
        ("- book(seats=2)\n- book(seats=3)\n", 2, "- \n- \n"),
        ("book(name=\"lambda: 2\")", 1, ""),
        ("book(name=selfless)", 1, ""),
    ] {
        let (calls, left) = read("auto", text);
        assert_eq!((calls.len(), left.as_str()), (count, rest), "{text}");
        assert!(calls.iter().all(|call| call.2.can_run()), "{text}");
    }
}

// What is around the arguments of a call, where a part of it is missing or in other words.

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
        assert_eq!(outcomes("bare_json", &text)[0], Refused, "{text}");
        let first = outcomes("auto", &text).first().copied();
        assert!(!first.is_some_and(CallOutcome::can_run), "{text}");
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

// Markers around calls, and what becomes of them if no call follows.

/// A call of a tool that does not exist stays text as a whole: the markers around it do not disappear.
#[test]
fn a_call_that_stays_text_keeps_the_markers_around_it() {
    for row in Dialect::all() {
        // Headers of messages are never meant for the user.
        if row.has_messages() {
            continue;
        }
        let text = format!("Like this: \n{} \nDone.", row.example().replace("book", "unheard_of"));
        let text = text.replace("</think>", "");
        let found = check(&reader(None), &text).found;
        assert!(found.calls().is_empty(), "{}: {found:?}", row.name());
        assert_eq!(String::from_utf8_lossy(found.text()), text, "{}", row.name());
    }
}

/// Once a call was made, the markers around it are no text, and those of a later call still may be.
#[test]
fn only_the_markers_around_a_call_leave_the_text() {
    let call = |name: &str| {
        format!(
            "<function_calls><invoke name=\"{name}\"><parameter name=\"seats\">2</parameter></invoke></function_calls>"
        )
    };
    let text = format!("One. {} two {} three.", call("book"), call("unheard_of"));
    let found = check(&reader(None), &text).found;
    assert_eq!(found.calls().len(), 1);
    let left = format!("One.  two {} three.", call("unheard_of"));
    assert_eq!(String::from_utf8_lossy(found.text()), left);
}

/// A marker that nothing follows is not shown to the user.
#[test]
fn a_marker_at_the_end_is_no_text() {
    let text = "Wait.\n<|tool_calls_section_begin|>";
    let found = check(&named("kimi_k2"), text).found;
    assert_eq!(found.text(), b"Wait.\n");
}

/// The markers before a call are part of what is held back, and there are never many.
#[test]
fn markers_without_a_call_are_not_collected() {
    let mut reader = named("kimi_k2");
    let mut found = wiremend_extract::FoundCalls::default();
    reader.push(
        b"<|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
        &mut found,
    );
    for _ in 0..1000 {
        reader.push(b"<|tool_calls_section_begin|> ", &mut found);
        assert!(reader.withheld() < 2048, "{}", reader.withheld());
    }
}

/// A key without a value cuts the call. What follows it in the call is not passed on as text.
#[test]
fn the_rest_of_a_call_without_a_value_is_no_text() {
    for (name, text) in [
        (
            "hunyuan_v3",
            "A<tool_calls><tool_call>book<tool_sep><arg_key>seats</arg_key>two</tool_call></tool_calls>B",
        ),
        (
            "glm_arg_kv",
            "A<tool_call>book\n<arg_key>seats</arg_key>\n2\n<arg_key>name</arg_key>\n<arg_value>Ada</arg_value>\n</tool_call>B",
        ),
    ] {
        let found = check(&named(name), text).found;
        assert_eq!(found.text(), b"AB", "{found:?}");
        assert_eq!(found.calls()[0].outcome(), CallOutcome::Cut);
    }
}

/// A call that begins in a reasoning block does not leave the tag that closes the block in the text.
#[test]
fn the_end_of_a_block_in_which_a_call_began_is_no_text() {
    let text = "<think>I need <|tool_call_start|>[book(seats=2)]<|tool_call_end|> now</think>Done.";
    let found = check(&named("lfm2_pythonic"), text).found;
    assert_eq!(found.reasoning(), b"I need ");
    assert_eq!(found.text(), b" nowDone.");
    assert_eq!(found.calls().len(), 1);
    assert!(!found.calls()[0].in_reasoning());
}

/// Calls before a closing tag that nothing opened were drafts, which a later call does not repeat.
#[test]
fn what_turns_out_to_be_reasoning_has_no_calls() {
    let call = "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>";
    let text = format!("{call}\nI could do that.</think>{call}");
    let found = check(&reader(None), &text).found;
    let drafts: Vec<bool> = found.calls().iter().map(FoundCall::in_reasoning).collect();
    assert_eq!(drafts, [true, false]);
    assert!(found.restated().is_empty());
}

/// A closing marker that the end of the input cut off is neither text nor a part of the call.
#[test]
fn a_marker_that_is_cut_off_is_no_part_of_a_name() {
    let text = "<tool_call>{\"name\": \"book\"</tool";
    let found = check(&named("hermes"), text).found;
    assert_eq!((found.calls()[0].name(), found.calls()[0].outcome()), ("book", CallOutcome::Cut));
    let text = "<tool_call>{\"name\": \"book\", \"arguments\": {}}</tool_c";
    let found = check(&named("hermes"), text).found;
    assert_eq!((found.text(), found.calls()[0].outcome()), (&b""[..], CallOutcome::Whole));
}

/// A control token that a sentence mentions is a part of it.
#[test]
fn a_control_token_that_is_mentioned_is_text() {
    for (name, text) in [
        ("kimi_k3", "To call, write <|open|>tools<|sep|> first."),
        (
            "kimi_k3",
            "It ends with `<|close|>tools<|sep|>`, and \"<|close|>think<|sep|>\" is before it.",
        ),
        (
            "kimi_k3",
            "The section <|open|>response<|sep|> is closed by <|close|>response<|sep|>, too.",
        ),
        ("kimi_k3", "Say <|end_of_msg|> at the end."),
        ("harmony", "The header <|channel|>final<|message|> begins it, and (<|end|>) ends it."),
        ("muse", "First `<|start|>assistant<|message|>`, then <|eom|>."),
        ("inkling", "Use <|content_text|> and <|end_message|>: both."),
        ("hermes", "It ends with <|im_end|>."),
    ] {
        let found = check(&named(name), text).found;
        assert_eq!(String::from_utf8_lossy(found.text()), text, "{name}");
        assert!(found.calls().is_empty() && found.reasoning().is_empty(), "{name}: {found:?}");
    }
    let text = "<|open|>response<|sep|>Use `<|open|>tools<|sep|>`.<|close|>response<|sep|><|close|>message<|sep|>";
    let found = check(&named("kimi_k3"), text).found;
    assert_eq!(String::from_utf8_lossy(found.text()), "Use `<|open|>tools<|sep|>`.");
}
