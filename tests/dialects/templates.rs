//! What the templates of models and the parsers of their makers say, dialect by dialect.

use serde_json::json;
use wiremend_core::{MendOptions, Policy};
use wiremend_extract::{CallExtractor, CallOutcome, CallStartState, Dialect, FoundCalls};
use wiremend_schema::Registry;
use wiremend_testkit::laws::CallTrace;

use super::{check, reader};

/// A reader of a dialect, or of all of them, that knows these tools.
pub(super) fn knowing(name: Option<&str>) -> CallExtractor {
    let declared = json!([
        {"name": "book", "parameters": {"type": "object", "properties": {
            "seats": {"type": "integer"}, "name": {"type": "string"}, "list": {"type": "array"},
        }}},
        {"name": "now", "parameters": {"type": "object", "properties": {}}},
        {"name": "brave_search", "parameters": {"type": "object", "properties": {
            "query": {"type": "string"},
        }}},
    ]);
    let reader = CallExtractor::new(MendOptions::new().with_policy(Policy::PERMISSIVE));
    let reader = match name {
        Some(name) => reader.with_dialect(Dialect::by_name(name).unwrap().clone()),
        None => reader,
    };
    reader.with_tools(Registry::from_tools(&declared).unwrap().tools())
}

/// The calls of a text, and the text without them.
pub(super) fn read(
    reader: &CallExtractor,
    text: &str,
) -> (Vec<(String, String, CallOutcome)>, String) {
    let found = check(reader, text).found;
    let calls = found.calls().iter().map(|call| {
        let arguments = String::from_utf8_lossy(call.arguments()).into_owned();
        (call.name().to_owned(), arguments, call.outcome())
    });
    (calls.collect(), String::from_utf8_lossy(found.text()).into_owned())
}

/// By name and detected, this is one call, which may be run, and no text.
#[track_caller]
pub(super) fn is_call(name: &str, text: &str, arguments: &str) {
    for reader in [knowing(Some(name)), knowing(None)] {
        let (calls, rest) = read(&reader, text);
        let [(tool, found, outcome)] = &calls[..] else { panic!("{text}: {calls:?} {rest:?}") };
        assert_eq!((tool.as_str(), found.as_str()), ("book", arguments), "{text}");
        assert!(outcome.can_run(), "{text}: {outcome:?}");
        assert_eq!(rest, "", "{text}");
    }
}

/// A call of Kimi K3 with this in it.
fn k3(inner: &str) -> String {
    format!(
        "<|open|>tools<|sep|><|open|>call tool=\"book\" index=\"1\"<|sep|>{inner}<|close|>call<|sep|><|close|>tools<|sep|>"
    )
}

/// Where a server forces a call of Kimi K3, its grammar has all arguments in one element.
#[test]
fn the_arguments_of_kimi_k3_may_be_one_element() {
    for inner in [
        "<|open|>json type=\"object\"<|sep|>{\"seats\": 2}<|close|>json<|sep|>",
        "<|open|>json<|sep|>{\"seats\": 2}<|close|>json<|sep|>",
        "<|open|> json type=\"object\" <|sep|>{\"seats\": 2}<|close|> json <|sep|>",
        "<|open|>json type=\"object\"<|sep|>{\"seats\": 2}",
        "\n<|open|>json type=\"object\"<|sep|>\n{\"seats\": 2,}\n<|close|>json<|sep|>\n",
    ] {
        let reader = knowing(Some("kimi_k3"));
        is_call("kimi_k3", &k3(inner), r#"{"seats": 2}"#);
        let (calls, _) = read(&reader, &k3(inner).repeat(2));
        assert_eq!(calls.len(), 2, "{inner}");
    }
    let quoted = "<|open|>json<|sep|>{\"name\": \"<|close|>json<|sep|>\"}<|close|>json<|sep|>";
    is_call("kimi_k3", &k3(quoted), r#"{"name": "<|close|>json<|sep|>"}"#);
    is_call("kimi_k3", &k3("<|open|>json type=\"object\"<|sep|><|close|>json<|sep|>"), "{}");
    for (inner, outcome) in [
        // What comes next to the element would be missing.
        (
            "<|open|>json<|sep|>{\"seats\": 2}<|close|>json<|sep|><|open|>argument key=\"name\" type=\"string\"<|sep|>A<|close|>argument<|sep|>",
            CallOutcome::Refused,
        ),
        (
            "<|open|>argument key=\"name\" type=\"string\"<|sep|>A<|close|>argument<|sep|><|open|>json<|sep|>{\"seats\": 2}<|close|>json<|sep|>",
            CallOutcome::Refused,
        ),
        ("<|open|>json<|sep|>two seats<|close|>json<|sep|>", CallOutcome::Refused),
        ("<|open|>json<|sep|>{\"seats\":<|close|>json<|sep|>", CallOutcome::Cut),
    ] {
        for name in [Some("kimi_k3"), None] {
            let (calls, rest) = read(&knowing(name), &k3(inner));
            let outcomes: Vec<_> = calls.iter().map(|call| call.2).collect();
            assert_eq!((&outcomes[..], rest.as_str()), (&[outcome][..], ""), "{inner}");
        }
    }
    let open = k3("<|open|>json<|sep|>{\"seats\": 2");
    let cut = open.split_once("<|close|>call").unwrap().0;
    assert_eq!(read(&knowing(None), cut).0[0].2, CallOutcome::Cut);
}

/// In autodetection, a call of an unknown tool is text, with what closes its parts.
#[test]
fn an_unknown_call_of_kimi_k3_is_all_of_its_text() {
    let call = "<|open|>call tool=\"cook\" index=\"1\"<|sep|><|open|>argument key=\"seats\" type=\"number\"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|>";
    let text = format!("<|open|>tools<|sep|>{call}<|close|>tools<|sep|>");
    assert_eq!(read(&knowing(None), &text), (Vec::new(), call.to_owned()));
}

/// Tokenizers write a blank on each side of the words between the control tokens.
#[test]
fn blanks_next_to_the_tokens_of_kimi_k3_are_none() {
    let text = "<|open|> tools <|sep|><|open|> call tool=\"book\" index=\"1\" <|sep|><|open|> argument key=\"seats\" type=\"number\" <|sep|>2<|close|> argument <|sep|><|close|> call <|sep|><|close|> tools <|sep|><|close|> message <|sep|><|end_of_msg|>";
    is_call("kimi_k3", text, r#"{"seats": 2}"#);
    let call = text.split_once("tools <|sep|>").unwrap().1;
    is_call("kimi_k3", call.split_once("<|close|> message").unwrap().0, r#"{"seats": 2}"#);
}

/// The template writes the type of each value, and the model has decided it.
#[test]
fn the_type_that_kimi_k3_states_is_that_of_the_value() {
    for (key, kind, value, json) in [
        ("name", "string", "2", r#"{"name": "2"}"#),
        ("name", "number", "2", r#"{"name": 2}"#),
        ("name", "null", "null", r#"{"name": null}"#),
        ("seats", "boolean", "true", r#"{"seats": true}"#),
        ("seats", "string", "2", r#"{"seats": "2"}"#),
        ("seats", "number", "two", r#"{"seats": "two"}"#),
        ("list", "array", "[1, 2,]", r#"{"list": [1, 2]}"#),
        ("list", "object", "{\"a\": 1}", r#"{"list": {"a": 1}}"#),
    ] {
        let value = format!(
            "<|open|>argument key=\"{key}\" type=\"{kind}\"<|sep|>{value}<|close|>argument<|sep|>"
        );
        is_call("kimi_k3", &k3(&value), json);
    }
}

/// The prompt of Functionary 3.2 ends with `>>>`, so an answer begins with the recipient.
#[test]
fn functionary_goes_on_with_the_recipient_that_its_prompt_has_opened() {
    for (text, calls, rest) in [
        ("book\n{\"seats\": 2}", 1, ""),
        ("book\r\n{\"seats\": 2}<|eot_id|>", 1, ""),
        ("all\nOn it.>>>book\n{\"seats\": 2}", 1, "On it."),
        ("all\nOn it.", 0, "On it."),
        ("book\n{\"seats\": 2}\n>>>now\n{}", 2, ""),
        ("unheard\n{\"seats\": 2}", 1, ""),
        // Without arguments it is a word.
        (
            "book\nis a word, and so is {\"seats\": 2}",
            0,
            "book\nis a word, and so is {\"seats\": 2}",
        ),
        ("all is well", 0, "all is well"),
        ("The book\n{\"seats\": 2}", 0, "The book\n{\"seats\": 2}"),
        ("book", 0, "book"),
    ] {
        let (found, left) = read(&knowing(Some("functionary_v32")), text);
        assert_eq!((found.len(), left.as_str()), (calls, rest), "{text}: {found:?}");
        assert!(found.iter().all(|call| call.2.can_run()), "{text}: {found:?}");
    }
    let after_prefill = knowing(Some("functionary_v32")).with_prefill(">>>");
    assert_eq!(read(&after_prefill, "book\n{\"seats\": 2}").0.len(), 1);
    assert_eq!(read(&after_prefill, "all\nOn it.").1, "On it.");
    // In a reasoning block, which the prompt has opened instead, there is no recipient.
    let thinks = knowing(Some("functionary_v32")).with_start(CallStartState::Reasoning);
    assert_eq!(read(&thinks, "book\n{\"seats\": 2}").0.len(), 0);
    // After it has been used, the reader expects a header again.
    let mut reader = knowing(Some("functionary_v32"));
    let mut found = FoundCalls::default();
    reader.push(b"Hello.", &mut found);
    reader.reset();
    reader.push(b"book\n{\"seats\": 2}", &mut found);
    assert_eq!(found.calls().len(), 1);
}

/// Llama 3 calls the tools that it knows by itself as methods.
#[test]
fn the_own_tools_of_llama_are_called_as_methods() {
    let call = |text: &str| {
        let named = read(&knowing(Some("llama3_json")), text);
        assert_eq!(read(&knowing(None), text), named, "{text}");
        named
    };
    for text in [
        "<|python_tag|>brave_search.call(query=\"seats in \"Rome\"\")",
        "<|python_tag|>brave_search.call(query=\"seats in \"Rome\"\")<|eom_id|>",
        "<|python_tag|> brave_search.call(query=\"seats in \\\"Rome\\\"\")\n<|eot_id|>",
        "<|python_tag|>[brave_search(query='seats in \"Rome\"')]<|eom_id|>",
    ] {
        let (calls, rest) = call(text);
        assert_eq!((calls.len(), rest.as_str()), (1, ""), "{text}: {calls:?}");
        assert_eq!(calls[0].0, "brave_search");
        assert_eq!(calls[0].1, r#"{"query": "seats in \"Rome\""}"#, "{text}");
    }
    let two = "<|python_tag|>brave_search.call(query=\"a\"); brave_search.call(query=\"b\")";
    assert_eq!(call(two).0.len(), 2);
    let cut = "<|python_tag|>brave_search.call(query=\"a";
    assert_eq!(call(cut).0[0].2, CallOutcome::Cut);
    // A program is none, and the name of a tool that does not exist counts only in the dialect of the caller.
    for program in ["<|python_tag|>print(1)", "<|python_tag|>x = brave_search.call"] {
        assert_eq!(call(program), (Vec::new(), program.to_owned()));
    }
    let unknown = "<|python_tag|>wolfram_alpha.call(query=\"1 + 1\")";
    assert_eq!(read(&knowing(Some("llama3_json")), unknown).0[0].0, "wolfram_alpha");
    assert_eq!(read(&knowing(None), unknown), (Vec::new(), unknown.to_owned()));
    // Where the text begins with the call, the server has removed the token.
    let (calls, rest) = call("brave_search.call(query=\"a\")");
    assert_eq!(
        (calls[0].0.as_str(), calls[0].2, rest.as_str()),
        ("brave_search", CallOutcome::Whole, "")
    );
    for text in ["wolfram_alpha.call(query=\"a\")", "brave_search.call is a method"] {
        assert_eq!(call(text), (Vec::new(), text.to_owned()));
    }
    // In a sentence, a call without the token is mentioned.
    let prose = "I used brave_search.call(query=\"a\") before.";
    assert_eq!(call(prose), (Vec::new(), prose.to_owned()));
}

/// In Inkling, the token that begins a call ends a block of reasoning, and the prompt ends with that of a
/// message. A call without `args` has none.
#[test]
fn a_call_of_inkling_needs_neither_the_end_of_the_reasoning_nor_arguments() {
    let call =
        "<|content_invoke_tool_json|>{\"name\": \"book\", \"args\": {\"seats\": 2}}<|end_message|>";
    for name in [Some("inkling"), None] {
        let text = format!("<|content_thinking|>Seats first.{call}<|content_model_end_sampling|>");
        let found = check(&knowing(name), &text).found;
        assert_eq!((found.calls().len(), found.text()), (1, &b""[..]), "{found:?}");
        assert_eq!(found.reasoning(), b"Seats first.");
        let text = "<|content_thinking|>It is <|content_invoke_tool_json|>, but not yet.";
        let found = check(&knowing(name), text).found;
        assert!(found.calls().is_empty() && found.text().is_empty(), "{found:?}");
        for arguments in ["", ", \"args\": {}", ", \"args\": null"] {
            let text = format!(
                "<|message_model|>now<|content_invoke_tool_json|>{{\"name\": \"now\"{arguments}}}<|end_message|>"
            );
            let (calls, rest) = read(&knowing(name), &text);
            assert_eq!((calls.len(), rest.as_str()), (1, ""));
            assert_eq!((calls[0].1.as_str(), calls[0].2), ("{}", CallOutcome::Whole), "{text}");
        }
        let cut = "<|message_model|>now<|content_invoke_tool_json|>{\"name\": \"now\"";
        assert_eq!(read(&knowing(name), cut).0[0].2, CallOutcome::Cut);
    }
    let (calls, rest) = read(&knowing(Some("inkling")), &format!("book{call}"));
    assert_eq!((calls.len(), rest.as_str()), (1, ""));
    let (calls, rest) = read(&knowing(Some("inkling")), &format!("Now{call}"));
    assert_eq!((calls.len(), rest.as_str()), (1, "Now"));
    for token in ["<|content_invoke_tool_text|>", "<|content_tool_error|>"] {
        let text = format!("<|message_model|>{token}No seats.<|end_message|>");
        assert_eq!(read(&knowing(Some("inkling")), &text), (Vec::new(), "No seats.".to_owned()));
    }
    let text = "book <|content_type|> is text";
    assert_eq!(read(&knowing(Some("inkling")), text), (Vec::new(), text.to_owned()));
    let horizon =
        "<ifm|tool_calls><ifm|tool_call>{\"name\": \"now\"}</ifm|tool_call></ifm|tool_calls>";
    let (calls, rest) = read(&knowing(Some("k2_horizon")), horizon);
    assert_eq!((calls[0].1.as_str(), calls[0].2, rest.as_str()), ("{}", CallOutcome::Whole, ""));
}

/// Directly after a call, the tokens of all rows are markup, because dialects share the markers before it.
#[test]
fn tokens_after_a_call_of_a_detected_dialect_are_no_text() {
    let list = "[{\"name\": \"book\", \"arguments\": {\"seats\": 2}}]";
    let seats = r#"{"seats": 2}"#;
    is_call("phi4mini_functools", &format!("<|tool_call|>{list}<|/tool_call|>"), seats);
    is_call("phi4mini_functools", &format!("<|tool_call|>{list}<|/tool_call|><|end|>"), seats);
    is_call("phi4mini_functools", &format!("functools{list}\n<|/tool_call|>"), seats);
    let python = "<|tool_call_start|>[book(seats=2)]<|tool_call_end|><|im_end|>";
    is_call("lfm2_pythonic", python, seats);
    let text = format!("{python} Say <|/tool_call|> or <|im_end|>.");
    assert_eq!(read(&knowing(None), &text).1, " Say <|/tool_call|> or <|im_end|>.");
}

/// Next to a block between markers, the same call without markers says what is in it.
#[test]
fn a_call_that_is_echoed_next_to_its_block_is_one() {
    let block = "<|tool_call_start|>[book(seats=2)]<|tool_call_end|>";
    for (text, calls) in [
        (format!("{block}[book(seats=2)]<|im_end|>"), 1),
        (format!("{block}<|im_end|>\n[book(seats=2)]"), 1),
        (format!("[book(seats=2)]\n{block}"), 1),
        (format!("{block}[book(seats=3)]"), 2),
        (format!("{block}{block}"), 2),
        ("[book(seats=2), book(seats=2)]".to_owned(), 2),
    ] {
        let found = check(&knowing(None), &text).found;
        assert_eq!(found.calls().len(), calls, "{text}: {found:?}");
        let all = if text.contains('3') || text.matches(block).count() != 1 { 0 } else { 1 };
        assert_eq!(found.restated().len(), all, "{text}: {found:?}");
    }
}

/// Releases of Hunyuan have a suffix of their own in each tag.
#[test]
fn the_tags_of_hunyuan_have_a_suffix() {
    for name in ["hunyuan_v3", "hunyuan_v4"] {
        for (text, reasoning, rest) in [
            ("<think:7f3a>Hm.</think:7f3a>Hello.", "Hm.", "Hello."),
            (
                "<think:opensource>Is </think:x> it?</think:opensource>Hello.",
                "Is </think:x> it?",
                "Hello.",
            ),
            ("Hm.</think:7f3a>Hello.", "Hm.", "Hello."),
            ("<think>Hm.</think>Hello.", "Hm.", "Hello."),
            (
                "Write `<think:x>` and <think: or <think:a b>.",
                "",
                "Write `<think:x>` and <think: or <think:a b>.",
            ),
            ("<think:", "", "<think:"),
        ] {
            for reader in [knowing(Some(name)), knowing(None)] {
                let trace = check(&reader, text);
                let found = trace.found;
                // Text that turned out to be reasoning is told of, and is not moved.
                let all = [found.reasoning(), found.text()].concat();
                assert_eq!(String::from_utf8_lossy(&all), [reasoning, rest].concat(), "{text}");
                assert_eq!(found.calls().len(), 0);
            }
        }
    }
}

/// The tags that a template writes around its answer are no text where it writes them.
#[test]
fn the_tags_around_an_answer_are_no_text() {
    for (name, text, rest) in [
        ("ernie45", "<response>\nHello.\n</response>\n", "\nHello.\n\n"),
        ("ernie45", "<think>Hm.</think>\n\n<response>\nHello.\n</response>\n", "\n\n\nHello.\n\n"),
        ("hunyuan_a13b", "<think>\nHm.\n</think>\n<answer>\nHello.\n</answer>", "\n\nHello.\n"),
        (
            "hunyuan_a13b",
            "<answer>Write `<answer>` and `</answer>`.</answer>",
            "Write `<answer>` and `</answer>`.",
        ),
        ("ernie45", "Write <response>x</response>.", "Write <response>x</response>."),
        ("ernie45", "It is:\n<response>\n</response>\n", "It is:\n<response>\n</response>\n"),
        ("hermes", "<response>\nHello.\n</response>\n", "<response>\nHello.\n</response>\n"),
    ] {
        let found = check(&knowing(Some(name)), text).found;
        assert_eq!(String::from_utf8_lossy(found.text()), rest, "{name}: {text}");
    }
    let text = "<response>\nHello.\n</response>\n";
    assert_eq!(read(&knowing(None), text).1, text);
    let call = "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"seats\": 2}}\n</tool_call>\n";
    let (calls, rest) =
        read(&knowing(Some("ernie45")), &format!("<response>\nOn it.\n</response>\n\n{call}"));
    assert_eq!((calls.len(), rest.trim()), (1, "On it."));
}

/// The prompt of Muse ends with `<|start|>assistant`, so the first message begins with its recipient.
#[test]
fn the_first_message_of_muse_has_no_start() {
    let think = " to=self<|message|>Shall I call <atem:invoke name=\"now\"></atem:invoke>?<|eom|>";
    for name in [Some("muse"), None] {
        for header in ["<|start|>assistant to=user<|message|>", "<|start|>assistant<|message|>"] {
            let text = format!("{think}{header}Hello.<|eot|>");
            let found = check(&knowing(name), &text).found;
            assert_eq!(String::from_utf8_lossy(found.text()), "Hello.", "{text}");
            assert!(found.reasoning().starts_with(b"Shall I call") && found.calls().is_empty());
        }
        // No call begins in what is for the user, with or without a marker.
        for answer in [
            "\nbook(seats=2)\n",
            "{\"name\": \"book\", \"arguments\": {\"seats\": 2}}",
            "Like [book(seats=2)]",
            "<atem:invoke name=\"now\"></atem:invoke>",
        ] {
            let found = check(&knowing(name), &format!(" to=user<|message|>{answer}<|eot|>")).found;
            assert_eq!(String::from_utf8_lossy(found.text()), answer);
            assert!(found.calls().is_empty(), "{answer}: {found:?}");
        }
        for text in ["to=the shop", "to=", " to=self, I said", "to=book<|nothing|>"] {
            assert_eq!(read(&knowing(name), text), (Vec::new(), text.to_owned()));
        }
    }
    let call = "to=book<|message|><atem:function_calls>\n<atem:invoke name=\"book\">\n<atem:parameter name=\"seats\">2</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|>";
    is_call("muse", call, r#"{"seats": 2}"#);
    is_call("muse", &format!(" {call}"), r#"{"seats": 2}"#);
    let harmony = " to=functions.book<|channel|>commentary <|constrain|>json<|message|>{\"seats\": 2}<|call|>";
    is_call("harmony", harmony, r#"{"seats": 2}"#);
    // Without a recipient, it is the user, as in the template.
    let (calls, rest) = read(&knowing(Some("muse")), "<|message|>Hello, book(seats=2).<|eot|>");
    assert_eq!((calls.len(), rest.as_str()), (0, "Hello, book(seats=2)."));
}

/// The beginning of a long text is read apart, and that makes no difference.
#[test]
fn a_long_text_may_begin_with_a_header() {
    let long = "word ".repeat(260);
    let text = format!(" to=self<|message|>{long}<|eom|><|start|>assistant to=user<|message|>Hi.");
    let found = check(&knowing(None), &text).found;
    assert_eq!((found.text(), found.reasoning().len()), (&b"Hi."[..], long.len()));
    let text = format!("book\n{{\"name\": \"{long}\"}}");
    is_call("functionary_v32", &text, &format!("{{\"name\": \"{long}\"}}"));
    let name = "x".repeat(1500);
    assert_eq!(read(&knowing(Some("functionary_v32")), &name).1, name);
}

/// In autodetection, tags are of the row whose markers are around them.
#[test]
fn tags_that_rows_share_are_those_of_the_markers_around_them() {
    for (name, text) in [
        (
            "dots",
            "<dots_function_call><invoke name=\"book\"><parameter name=\"floor\">2</parameter></invoke></dots_function_call>",
        ),
        (
            "minimax_m2_xml",
            "<minimax:tool_call>\n<invoke name=\"book\">\n<parameter name=\"floor\">2</parameter>\n</invoke>\n</minimax:tool_call>",
        ),
        (
            "step3_steptml",
            "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><invoke name=\"book\"><parameter name=\"floor\">2</parameter></invoke><｜tool_call_end｜><｜tool_calls_end｜>",
        ),
        (
            "anthropic_function_calls",
            "<function_calls><invoke name=\"book\"><parameter name=\"floor\">2</parameter></invoke></function_calls>",
        ),
    ] {
        let named = check(&knowing(Some(name)), text).found;
        let found = check(&knowing(None), text).found;
        assert_eq!(found.calls()[0].dialect(), name, "{text}");
        assert_eq!(found.calls()[0].arguments(), named.calls()[0].arguments(), "{text}");
        assert_eq!(found.text(), b"");
    }
    // Tags that the row around them cannot read are those of another.
    let mixed = "<dots_function_call><steptml:invoke name=\"book\"><steptml:parameter name=\"seats\">2</steptml:parameter></steptml:invoke></dots_function_call>";
    assert_eq!(read(&knowing(None), mixed).0[0].1, r#"{"seats": 2}"#);
}

// Blocks between markers of the caller, which are the input of one tool.

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
fn read_blocks(reader: &CallExtractor, text: &str) -> (Vec<(String, String, CallOutcome)>, String) {
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
            assert_eq!(read_blocks(&reader, text), (vec![expected], left.to_owned()), "{text}");
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
            assert_eq!(read_blocks(&reader, text), (vec![], text.to_owned()));
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
