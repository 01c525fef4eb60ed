//! What is not clear is no call that may be run.

use wiremend_core::{MendOptions, Policy};
use wiremend_extract::CallOutcome;

use super::{check, templates::knowing};

/// By name and detected, this is one call with that outcome.
#[track_caller]
fn ends(name: &str, text: &str, outcome: CallOutcome) {
    for reader in [knowing(Some(name)), knowing(None)] {
        let found = check(&reader, text).found;
        assert_eq!(found.calls().len(), 1, "{text}: {found:?}");
        assert_eq!(found.calls()[0].outcome(), outcome, "{text}: {found:?}");
    }
}

/// A closing tag in a string may have ended it, if what follows is a damaged tag or text on its own line.
#[test]
fn a_closing_tag_before_a_line_end_or_a_tag_is_not_known_to_be_text() {
    for (name, head, close, damaged, tail) in [
        (
            "qwen3_coder_xml",
            "<tool_call>\n<function=book>\n<parameter=name>\nAda\n",
            "</parameter>",
            "<paramter=seats>\n3\n",
            "\n</function>\n</tool_call>",
        ),
        (
            "step3p5_xml",
            "<tool_call>\n<function=book>\n<parameter=name>\nAda\n",
            "</parameter>",
            "<paramter=seats>\n3\n",
            "\n</function>\n</tool_call>",
        ),
        (
            "minimax_m2_xml",
            "<minimax:tool_call>\n<invoke name=\"book\">\n<parameter name=\"name\">Ada",
            "</parameter>",
            "<paramter name=\"seats\">3",
            "\n</invoke>\n</minimax:tool_call>",
        ),
        (
            "glm_arg_kv",
            "<tool_call>book\n<arg_key>name</arg_key>\n<arg_value>Ada",
            "</arg_value>",
            "<argkey>seats</arg_key>\n<arg_value>3",
            "\n</tool_call>",
        ),
    ] {
        for text in [
            format!("{head}{close}\n{damaged}{close}{tail}"),
            format!("{head}{close}{damaged}{close}{tail}"),
            format!("{head}{close}\nand so on{tail}"),
            format!("{head}{close}\r\nand so on\n{close}{tail}"),
            // Nothing else closes it.
            format!("{head}{close} and so on{tail}"),
        ] {
            ends(name, &text, CallOutcome::Refused);
        }
        for text in [
            format!("{head} is before {close} here.{close}{tail}"),
            format!("{head} writes `{close}`\nat the end.{close}{tail}"),
            format!("{head} \"{close}\"{close}{tail}"),
            format!("{head}{close}{tail}"),
        ] {
            ends(name, &text, CallOutcome::Whole);
        }
    }
}

/// Keys after the object of a call would be missing in it.
#[test]
fn keys_after_the_object_of_a_call_refuse_it() {
    let call = "{\"name\": \"book\", \"arguments\": {\"seats\": 2}}";
    for (after, outcome) in [
        (", \"name\": \"x\"}}", CallOutcome::Refused),
        ("}, 'name': 'x'}", CallOutcome::Refused),
        (" \"note\": 1}", CallOutcome::Refused),
        (", note: 1", CallOutcome::Refused),
        ("}", CallOutcome::Whole),
        ("\n", CallOutcome::Whole),
    ] {
        ends("hermes", &format!("<tool_call>\n{call}{after}\n</tool_call>"), outcome);
        ends("granite4", &format!("<tool_call>{call}{after}</tool_call>"), outcome);
    }
    let open = format!("<tool_call>\n{call}, \"note\": 1");
    ends("hermes", &open, CallOutcome::Refused);
}

/// The members of a dictionary that is spread are arguments.
#[test]
fn values_in_a_dictionary_that_is_spread_must_be_known() {
    for (arguments, outcome) in [
        ("**{\"name\": name}", CallOutcome::Refused),
        ("{\"name\": seats}", CallOutcome::Refused),
        ("**{\"seats\": count}", CallOutcome::Refused),
        ("**{\"name\": <city>}", CallOutcome::Refused),
        ("**{\"name\": ${city}}", CallOutcome::Refused),
        ("**{\"name\": \"a\", 'name': \"b\"}", CallOutcome::Refused),
        ("**{\"seats\": 2 * 3}", CallOutcome::Refused),
        ("**{\"seats\": f(2)}", CallOutcome::Refused),
        ("**{\"seats\": 2}}", CallOutcome::Refused),
        ("**{\"seats\": 2, **more}", CallOutcome::Refused),
        ("**{\"name\": \"a\"", CallOutcome::Repaired),
        ("**{\"name\": \"say \"hi\" now\", 'seats': 2}", CallOutcome::Repaired),
        ("**{\"name\": 'a', \"seats\": 2,}", CallOutcome::Whole),
        ("{'name': 'a', \"seats\": 2}", CallOutcome::Whole),
    ] {
        ends("pythonic", &format!("[book({arguments})]"), outcome);
        ends(
            "lfm2_pythonic",
            &format!("<|tool_call_start|>[book({arguments})]<|tool_call_end|>"),
            outcome,
        );
    }
}

/// A name alone is what the model was about to write arguments for, unless the tool takes none. Servers that
/// know the dialect refuse that, too.
#[test]
fn a_name_alone_is_a_call_only_of_a_tool_without_parameters() {
    for (name, outcome) in [("book", CallOutcome::Refused), ("now", CallOutcome::Whole)] {
        for (dialect, text) in [
            ("hermes", format!("<tool_call>\n{{\"name\": \"{name}\"}}\n</tool_call>")),
            ("phi4mini_functools", format!("functools[{{\"name\": \"{name}\"}}]")),
        ] {
            let found = check(&knowing(None), &text).found;
            assert_eq!(found.calls()[0].outcome(), outcome, "{text}");
            let found = check(&knowing(Some(dialect)), &text).found;
            assert_eq!(found.calls()[0].outcome(), CallOutcome::Refused, "{text}");
        }
    }
    // Without markers, only that of a tool without parameters can mean nothing else.
    let found = check(&knowing(None), "{\"name\": \"now\"}").found;
    assert_eq!(found.calls()[0].outcome(), CallOutcome::Whole);
    let found = check(&knowing(None), "{\"name\": \"book\"}").found;
    assert!(found.calls().is_empty() && found.text() == b"{\"name\": \"book\"}", "{found:?}");
}

/// Control tokens are not in texts, but for one that is quoted.
#[test]
fn the_end_of_a_call_in_a_string_of_kimi_k3_refuses_it() {
    let call = |arguments: &str| {
        format!(
            "<|open|>call tool=\"book\" index=\"1\"<|sep|><|open|>json<|sep|>{arguments}<|close|>json<|sep|><|close|>call<|sep|>"
        )
    };
    let (cut, whole) = (call("{\"name\": \"Ada"), call("{\"name\": \"Ada\"}"));
    let text = format!("<|open|>tools<|sep|>{cut}{whole}<|close|>tools<|sep|>");
    for reader in [knowing(Some("kimi_k3")), knowing(None)] {
        let found = check(&reader, &text).found;
        assert!(found.calls().iter().any(|call| !call.outcome().can_run()), "{found:?}");
        assert!(found.calls().iter().all(|call| !call.outcome().can_run()
            || call.arguments() == b"{\"name\": \"Ada\"}"), "{found:?}");
    }
    // A tool that does not exist is one in this form, too.
    let unknown = whole.replace("book", "bok");
    let found = check(&knowing(Some("kimi_k3")), &unknown).found;
    assert!(!found.calls()[0].known() && found.calls()[0].outcome() == CallOutcome::Whole);
    let found = check(&knowing(None), &unknown).found;
    assert!(found.calls().is_empty() && found.unknown().count() == 1, "{found:?}");
    assert_eq!(found.text(), unknown.as_bytes());
}

/// What a sentence shows in inline code, or says of a function, is no call.
#[test]
fn what_a_sentence_shows_is_no_call() {
    for text in [
        "Write `<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>` to book.",
        "- `<|python_tag|>book.call(seats=2)` books",
        "So `[TOOL_CALLS]book[ARGS]{\"seats\": 2}` it is",
        "As `<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>` says",
        "book() is a function.",
        "now() is one, too.",
        "| Function | Result |\n|---|---|\n| book(seats=2) | two |\n",
        "+ book(seats=2)",
        "x = a + book(seats=2)",
    ] {
        let found = check(&knowing(None), text).found;
        assert!(found.calls().is_empty() && found.text() == text.as_bytes(), "{text}: {found:?}");
    }
    for (text, rest) in [
        ("`<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>`", "``"),
        (
            "I call `\n<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>",
            "I call `\n",
        ),
    ] {
        let found = check(&knowing(None), text).found;
        assert!(found.calls().len() == 1 && found.text() == rest.as_bytes(), "{text}: {found:?}");
    }
}

/// An attribute that is damaged may have a part of a value in it.
#[test]
fn a_damaged_tag_of_a_parameter_refuses_the_call() {
    for (name, text) in [
        (
            "deepseek_dsml_v32",
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"book\">\n<｜DSML｜parameter name=\"name\" string=\"true>Ada</｜DSML｜parameter>\n<｜DSML｜parameter name=\"seats\" string=\"false\">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ),
        (
            "minimax_m2_xml",
            "<minimax:tool_call>\n<invoke name=\"book\">\n<parameter name=\"name\"Ada -> Bob</parameter>\n</invoke>\n</minimax:tool_call>",
        ),
        (
            "minimax_m2_xml",
            "<minimax:tool_call>\n<invoke name=\"book\">\n<parameter name=\"name\" value=\"Ada\"></parameter>\n</invoke>\n</minimax:tool_call>",
        ),
        (
            "minicpm5_xml",
            "<function name=\"book\"><param name=\"name\"Ada Byron></param></function>",
        ),
        (
            "k2_horizon",
            "<ifm|tool_calls><ifm|tool_call>book<ifm|arg_key>name</ifm|ag_key><ifm|arg_value>Ada</ifm|arg_value></ifm|tool_call></ifm|tool_calls>",
        ),
        // The tag that closes a value is misspelled, or the one that opens the next is missing.
        (
            "seed_oss_xml",
            "<seed:tool_call>\n<function=book>\n<parameter=name>Ada</paramter>\n<parameter=seats>2</parameter>\n</function>\n</seed:tool_call>",
        ),
        (
            "spark25",
            "<tool_call>book<arg_key>name</arg_key><arg_value>Ada</arg_value>seats<arg_value>2</arg_value></tool_call>",
        ),
        // A control token in a value ends it only if the call ends there.
        (
            "k2_horizon",
            "<ifm|tool_calls><ifm|tool_call>book<ifm|arg_key>name</ifm|arg_key><ifm|arg_value>x</ifm|tool_call>y</ifm|arg_value><ifm|arg_key>seats</ifm|arg_key><ifm|arg_value>27</ifm|arg_value></ifm|tool_call></ifm|tool_calls>",
        ),
    ] {
        for reader in [knowing(Some(name)), knowing(None)] {
            let found = check(&reader, text).found;
            assert!(!found.calls().is_empty(), "{text}: {found:?}");
            assert!(
                found.calls().iter().all(|call| !call.outcome().can_run()),
                "{text}: {found:?}"
            );
        }
    }
}

/// The same in tags with the names of tools and parameters.
#[test]
fn text_after_a_closing_tag_is_not_known_to_be_in_the_value() {
    for text in [
        "<book>\n<name>Ada</name>\n\nThe table is by the window.",
        "<book>\n<name>Ada</name>\n<sets>2</sets>\n</book>",
        "<book>\n<name>Ada</name>\n2</seats>\n</book>",
        "<book>\n<name><name>Ada</name>\n</book>",
    ] {
        let found = check(&knowing(Some("xml_tool_tags")), text).found;
        assert_eq!(found.calls().len(), 1, "{text}: {found:?}");
        assert!(!found.calls()[0].outcome().can_run(), "{text}: {found:?}");
    }
    let text = "<book>\n<name>a </name> in it</name>\n</book>";
    let found = check(&knowing(Some("xml_tool_tags")), text).found;
    assert_eq!(found.calls()[0].arguments(), b"{\"name\": \"a </name> in it\"}");
    assert_eq!(found.calls()[0].outcome(), CallOutcome::Whole);
}

/// Of two objects with arguments, neither is known to be meant.
#[test]
fn arguments_that_are_given_twice_refuse_the_call() {
    for second in ["arguments", "parameters"] {
        let text = format!(
            "<tool_call>\n{{\"name\": \"book\", \"arguments\": {{\"name\": \"Ada\"}}, \"{second}\": {{\"name\": \"Bob\"}}}}\n</tool_call>"
        );
        ends("hermes", &text, CallOutcome::Refused);
    }
}

/// A quote that may have ended its string, or is the first one of the next argument.
#[test]
fn strings_that_may_have_ended_earlier_refuse_the_call() {
    for arguments in [
        "name='Ada' seats=2",
        "name='Ada, seats=2), book(name='Bob'",
        "name='Ada'seats=2",
        "name='Ada' if late else 'Bob'",
        "name='Ada' or 'Bob'",
        "name='Ada' == 'Bob'",
    ] {
        let text = format!("[book({arguments}, seats=3)]");
        for reader in [knowing(Some("pythonic")), knowing(None)] {
            let found = check(&reader, &text).found;
            assert!(!found.calls().is_empty(), "{text}: {found:?}");
            assert!(
                found.calls().iter().all(|call| !call.outcome().can_run()),
                "{text}: {found:?}"
            );
        }
    }
    for (arguments, name) in [
        ("name='She said 'hi' and left'", "She said 'hi' and left"),
        ("name='It's here'", "It's here"),
        ("name='print('a' if b else 'c')'", "print('a' if b else 'c')"),
    ] {
        let found = check(&knowing(Some("pythonic")), &format!("[book({arguments})]")).found;
        assert!(found.calls()[0].outcome().can_run(), "{arguments}: {found:?}");
        let json: serde_json::Value = serde_json::from_slice(found.calls()[0].arguments()).unwrap();
        assert_eq!(json["name"], name);
    }
}

/// A bracket that is missing is added only if the policy allows it.
#[test]
fn a_dictionary_that_is_spread_is_closed_if_that_is_allowed() {
    for (policy, outcome) in
        [(Policy::PERMISSIVE, CallOutcome::Repaired), (Policy::STRICT, CallOutcome::Refused)]
    {
        let reader = knowing(Some("pythonic")).with_mending(MendOptions::new().with_policy(policy));
        let found = check(&reader, "[book(**{\"seats\": 2)]").found;
        assert_eq!(found.calls()[0].outcome(), outcome, "{found:?}");
    }
}

/// A repair that drops something of the arguments, or chooses one of several readings, is no basis to run them.
#[test]
fn arguments_of_which_something_is_dropped_or_invented_are_refused() {
    for (arguments, outcome) in [
        ("{\"name\": \"Ada\", \"seats\": 2 * 3}", CallOutcome::Refused),
        ("{\"name\": \"Ada\" Byron, \"seats\": 2}", CallOutcome::Refused),
        ("{\"name\": \"Ada\", \"seats\": }", CallOutcome::Refused),
        ("{\"name\": \"Ada\", ...}", CallOutcome::Refused),
        ("{\"name\": \"Ada\", \"seats\": NaN}", CallOutcome::Refused),
        ("{\"name\": \"Ada\", {\"seats\": 2}}", CallOutcome::Refused),
        ("\"{\\\"name\\\": \\\"Ada\\\", \\\"seats\\\": 2 * 3}\"", CallOutcome::Refused),
        ("{'name': 'Ada' 'seats': 2,}", CallOutcome::Repaired),
        ("{\"name\": \"the \"Ada\" here\", \"seats\": 2}", CallOutcome::Repaired),
    ] {
        let call = format!("{{\"name\": \"book\", \"arguments\": {arguments}}}");
        ends("hermes", &format!("<tool_call>\n{call}\n</tool_call>"), outcome);
        ends("granite4", &format!("<tool_call>{call}</tool_call>"), outcome);
    }
    // Next to the arguments, and where the arguments are next to the name.
    for members in [
        "\"seats\": 2 * 3",
        "\"arguments\": {\"seats\": 2} oops",
        "\"arguments\": {\"seats\": 2}, oops",
    ] {
        let call = format!("<tool_call>\n{{\"name\": \"book\", {members}}}\n</tool_call>");
        ends("hermes", &call, CallOutcome::Refused);
    }
    // Two calls, of which the first lacks its brackets.
    let two = "{\"name\": \"book\", \"arguments\": {\"name\": \"Ada\"\n{\"name\": \"now\", \"arguments\": {}}";
    ends("hermes", &format!("<tool_call>\n{two}\n</tool_call>"), CallOutcome::Refused);
}

/// A number or a word that is not complete is cut, with or without white space before the marker.
#[test]
fn values_that_are_cut_before_a_marker_are_cut() {
    for (seats, outcome) in [
        ("-", CallOutcome::Cut),
        ("-\n", CallOutcome::Cut),
        ("2.\n", CallOutcome::Cut),
        ("2e\r\n", CallOutcome::Cut),
        ("tru\n", CallOutcome::Cut),
        ("true\n", CallOutcome::Repaired),
        ("2\n", CallOutcome::Repaired),
        ("2.\n}}", CallOutcome::Repaired),
    ] {
        let call = format!("{{\"name\": \"book\", \"arguments\": {{\"seats\": {seats}");
        ends("hermes", &format!("<tool_call>\n{call}</tool_call>"), outcome);
        let seats = seats.trim_end_matches('}');
        if seats.len() == seats.trim_end_matches('\n').len() || outcome == CallOutcome::Cut {
            let text = format!("<|tool_call>call:book{{seats:{seats}<tool_call|>");
            ends("gemma4", &text, outcome);
        }
    }
}

/// The quotes of a dialect leave no doubt that a string has ended.
#[test]
fn what_follows_a_string_with_quotes_of_a_dialect_is_no_part_of_it() {
    for (body, outcome) in [
        ("name:@Ada@seats:2}", CallOutcome::Repaired),
        ("name:@Ada@\n@seats@:2}", CallOutcome::Repaired),
        ("name:@Ada@, seats:2}", CallOutcome::Whole),
        ("name:@Ada@ or \"Bob\"}", CallOutcome::Refused),
        ("name:@Ada@ Byron, seats:2}", CallOutcome::Refused),
        ("name:@Ada@ {seats:2}}", CallOutcome::Refused),
    ] {
        let gemma = body.replace('@', "<|\"|>");
        ends("gemma4", &format!("<|tool_call>call:book{{{gemma}<tool_call|>"), outcome);
        let body = body.replace('@', "<escape>");
        let text = format!("<start_function_call>call:book{{{body}<end_function_call>");
        ends("functiongemma", &text, outcome);
    }
}

/// Arguments are an object. Anything else is taken only where a key says that it is the arguments.
#[test]
fn arguments_that_are_no_object_are_refused_unless_a_key_names_them() {
    for (name, text) in [
        ("mistral", "[TOOL_CALLS]book[ARGS][ARGS]{\"name\": \"Ada\"}"),
        ("mistral", "[TOOL_CALLS]book[ARGS]\"name\"{: \"Ada\"}"),
        ("functionary_v31", "<function=book>\"name\"{: \"Ada\"}</function>"),
        ("functionary_v31", "<function=book>[\"Ada\"]</function>"),
    ] {
        ends(name, text, CallOutcome::Refused);
    }
    let apertus = "<|tools_prefix|>[{\"book\": \"name\": \"Ada\"}]<|tools_suffix|>";
    let found = check(&knowing(Some("apertus")), apertus).found;
    assert_eq!(found.calls()[0].outcome(), CallOutcome::Refused);
    let said = "<tool_call>\n{\"name\": \"book\", \"arguments\": \"Ada\"}\n</tool_call>";
    ends("hermes", said, CallOutcome::Whole);
}
