//! Arguments that may not be what was meant, and texts that may be no calls, do not run.

use serde_json::json;
use wiremend_core::{MendOptions, Policy};
use wiremend_extract::{
    CallOutcome::{self, Cut, Refused, Repaired, Whole},
    FoundCall,
};
use wiremend_schema::Registry;

use super::{check, templates::knowing};

/// The outcomes of the calls of a text, in this dialect or detected.
#[track_caller]
fn outcomes(name: Option<&str>, text: &str) -> Vec<CallOutcome> {
    let found = check(&knowing(name), text).found;
    found.calls().iter().map(FoundCall::outcome).collect()
}

/// A call in JSON whose argument has this source, by name and detected, after a name and in an object.
#[track_caller]
fn named(value: &str, outcome: CallOutcome) {
    let object = format!(
        "<tool_call>\n{{\"name\": \"book\", \"arguments\": {{\"name\": {value}}}}}\n</tool_call>"
    );
    let alone = format!(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0\
         <|tool_call_argument_begin|>{{\"name\": {value}}}<|tool_call_end|><|tool_calls_section_end|>"
    );
    for (name, text) in [("hermes", object), ("kimi_k2", alone)] {
        for name in [Some(name), None] {
            assert_eq!(outcomes(name, &text), [outcome], "{name:?} {text}");
        }
    }
}

/// What a program computes is not the value that is written in it.
#[test]
fn an_expression_in_place_of_a_value_refuses_the_call() {
    for value in [
        "upper(\"ada\")",
        "str(5)",
        "new Date(2024)",
        "len(x)",
        "user.name(x)",
        "f\"dear {name}\"",
        "<name>",
        "{{name}}",
        "${name}",
        "$name",
        "\"Ada\" if x else \"Bob\"",
        "\"Ada\" or \"Bob\"",
        "\"Ada\" \"Bob\"",
    ] {
        named(value, Refused);
    }
    for value in [
        "Ada",
        "f\"dear Ada\"",
        "u\"Ada\"",
        "$5 more",
        "\"say \"hi\" now\"",
        "\"5\" of rain, 6\" of snow\"",
        "\"a \"b\" c \"d\" e\"",
        "\"print(\"a\" + \"b\")\"",
    ] {
        named(value, Repaired);
    }
}

/// The string before it may lack one of its quotes.
#[test]
fn an_expression_after_a_string_without_its_first_quote_refuses_the_call() {
    for (name, outcome) in [("<name>", Refused), ("Ada", Repaired), ("len(x)", Refused)] {
        let members = format!("\"list\": a\", \"name\": {name}");
        let call = format!("{{\"name\": \"book\", \"arguments\": {{{members}}}}}");
        let text = format!("<tool_call>\n{call}\n</tool_call>");
        assert_eq!(outcomes(Some("hermes"), &text), [outcome], "{text}");
    }
}

/// A quote in a string may have been its end, and then the brackets of the call are not text.
#[test]
fn a_string_that_takes_in_the_brackets_of_its_call_is_cut() {
    for value in ["\"a\" * 2", "\"a\" (b)", "\"a\" = 1", "\"a\" [0]", "\"a\")"] {
        named(value, Cut);
    }
    for value in ["\"%s\" % d", "\"a\" + b", "\"a\".upper()"] {
        named(value, Refused);
    }
    for value in ["\"say \"x\". Ok\"", "\"a \"b\" + c\""] {
        named(value, Repaired);
    }
}

/// A string of Python that was not closed where it should be takes in what follows.
#[test]
fn a_string_with_the_call_of_another_tool_refuses_the_call() {
    for text in [
        "book(\"Ada\", x)\nbrave_search(query=\"b\")",
        "[book(name=\"Ada\", list), brave_search(query=\"b\")]",
        "book(name='Ada'; seats=2)\nbrave_search(query='b')",
        "book(name: \"Ada\", seats: 2)\nbrave_search(query: \"b\")",
    ] {
        assert!(!outcomes(None, text).iter().any(|outcome| outcome.can_run()), "{text}");
    }
    let printed = "book(name='print('hi')\nx')";
    assert_eq!(outcomes(None, printed), [Repaired]);
}

/// Arguments that lack the brace before them are no string, and a brace or a comma at the end of the
/// arguments says that more was due.
#[test]
fn arguments_that_lack_a_part_do_not_run() {
    let call =
        |tail: &str| format!("<tool_call>{{\"name\": \"book\", \"arguments\": {tail}</tool_call>");
    for (tail, outcome) in [
        ("\"name\": \"Ada\", \"seats\": 2}}", Refused),
        ("{\n", Cut),
        ("{\"name\": \"Ada\",\n", Cut),
        ("{\"name\": \"Ada\",}}", Repaired),
        ("{\"name\": \"Ada\",}", Repaired),
        ("{\"name\": \"Ada\"", Repaired),
    ] {
        for name in [Some("hermes"), None] {
            assert_eq!(outcomes(name, &call(tail)), [outcome], "{name:?} {tail}");
        }
    }
}

/// The first quote of a string is missing, so that all others have the other role.
#[test]
fn a_string_of_a_dialect_without_its_first_quote_refuses_the_call() {
    for (name, open, quote, close) in [
        ("gemma4", "<|tool_call>", "<|\"|>", "<tool_call|>"),
        ("functiongemma", "<start_function_call>", "<escape>", "<end_function_call>"),
    ] {
        for text in ["Ada", "def f():\n    pass"] {
            let broken =
                format!("{open}call:book{{name:a{quote},list:{quote}{text}{quote}}}{close}");
            let found = outcomes(Some(name), &broken);
            assert!(!found.iter().any(|outcome| outcome.can_run()), "{found:?} {broken}");
            let whole = format!("{open}call:book{{name:{quote}{text}{quote}}}{close}");
            assert_eq!(outcomes(Some(name), &whole), [Whole], "{whole}");
        }
    }
}

/// A parenthesis in arguments is not the end of the call.
#[test]
fn a_function_in_arguments_in_parentheses_refuses_the_call() {
    for value in ["get_name()", "JSON.stringify({a: 1})", "now() "] {
        let text =
            format!("```typescript\nfunctions.book({{\"name\": {value}, \"seats\": 2}})\n```");
        for name in [Some("minimax_text"), None] {
            let found = outcomes(name, &text);
            assert!(!found.iter().any(|outcome| outcome.can_run()), "{found:?} {text}");
        }
    }
    let lacking = "```typescript\nfunctions.book({\"seats\": 2)\n```";
    assert_eq!(outcomes(Some("minimax_text"), lacking), [Repaired]);
}

/// What a tool has returned may be anything, and a function that is declared is not called.
#[test]
fn results_and_declarations_do_not_run() {
    let call = "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";
    for tag in ["tool_response", "tool_result", "function_results"] {
        let text = format!("<{tag}>\n{call}\n</{tag}>\n");
        for name in [Some("hermes"), None] {
            assert_eq!(outcomes(name, &text), [], "{text}");
            assert_eq!(outcomes(name, &format!("{text}{call}")), [Whole], "{text}");
            assert_eq!(outcomes(name, &format!("In <{tag}>\n{call}")), [Whole], "{text}");
        }
    }
    for text in [
        "- brave_search(query: str): the web\n- now(): the time",
        "interface Tools {\n  now(): Date;\n  brave_search(query: string): string[];\n}",
        "{\"default\": \"now()\"}",
        "[\"a\", \"now()\"]",
        "<button onclick=\"book(name='Ada')\">",
    ] {
        assert_eq!(outcomes(None, text), [], "{text}");
    }
    for text in ["[\"now()\"]", "now()", "brave_search(query: \"str\")"] {
        assert_eq!(outcomes(None, text), [Whole], "{text}");
    }
}

#[test]
fn a_number_that_is_not_complete_refuses_the_call_wherever_it_is() {
    for seats in ["2e", "1e+", "2e-"] {
        let call = format!("{{\"name\": \"book\", \"arguments\": {{\"seats\": {seats}}}}}");
        let text = format!("<tool_call>\n{call}\n</tool_call>");
        assert_eq!(outcomes(Some("hermes"), &text), [Refused], "{text}");
    }
}

/// A comma in a number makes one of it or two.
#[test]
fn a_list_with_a_number_in_groups_refuses_the_call() {
    for (seats, outcome) in
        [("[1,000, 2,000]", Refused), ("[10,05]", Refused), ("[\"x\",001,002]", Repaired)]
    {
        named(seats, outcome);
    }
}

/// What control tokens address to the user is an answer, whatever it looks like.
#[test]
fn an_answer_that_looks_like_a_call_does_not_run() {
    let call = "{\"name\": \"book\", \"arguments\": {\"name\": \"Ada\"}}";
    let action = "<|START_ACTION|>[{\"tool_name\": \"now\", \"parameters\": {}}]<|END_ACTION|>";
    let commentary =
        "<|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>";
    for (text, expected) in [
        (format!("<|channel|>final<|message|>{call}<|return|>"), &[][..]),
        (format!("<|channel|>final<|message|>{call}<|end|>{commentary}"), &[Whole]),
        (format!("<|START_RESPONSE|>{call}<|END_RESPONSE|>"), &[]),
        (format!("<|START_RESPONSE|>Wait.<|END_RESPONSE|>{action}"), &[Whole]),
        (format!("<|START_RESPONSE|>Wait.{action}"), &[Whole]),
        (format!("<|START_RESPONSE|>Wait.<|END_RESPONSE|>\n{call}"), &[Whole]),
    ] {
        assert_eq!(outcomes(None, &text), expected, "{text}");
    }
}

/// Quotes of two kinds around one string, and members in a list, in the dialects with their own quotes.
#[test]
fn a_string_with_two_kinds_of_quotes_refuses_the_call() {
    for (arguments, outcome) in [
        ("name:\"Ada<|\"|>", Refused),
        ("name:\"Ada<|\"|>,seats:2", Refused),
        ("name:<|\"|>Ada<|\"|>,tags:[<|\"|>a<|\"|>,seats:2", Refused),
        ("name:\"Ada\",seats:2", Whole),
        ("name:\"a < b\",seats:2", Whole),
        ("name:<|\"|>Ada<|\"|>,tags:[{seats:2}]", Whole),
    ] {
        let text = format!("<|tool_call>call:book{{{arguments}}}<tool_call|>");
        assert_eq!(outcomes(Some("gemma4"), &text), [outcome], "{text}");
    }
}

/// One object of arguments is expected, and nobody says which of two are meant.
#[test]
fn two_objects_of_arguments_refuse_the_call() {
    let text = "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0\
        <|tool_call_argument_begin|>{\"name\": \"Ada\"}{\"name\": \"Bob\"}<|tool_call_end|>\
        <|tool_calls_section_end|>";
    for name in [Some("kimi_k2"), None] {
        assert_eq!(outcomes(name, text), [Refused]);
    }
}

/// An object may have a key with the name of a tool, or be the record of a call.
#[test]
fn data_that_looks_like_a_call_does_not_run() {
    for (text, expected) in [
        ("{\"book\": {\"name\": \"Dune\", \"seats\": 1}, \"shelf\": 4}", &[Refused][..]),
        ("{\"now\": {}, \"uptime\": 5}", &[Refused]),
        ("{\"tool\": \"book\", \"input\": {\"name\": \"A\"}, \"output\": \"table 5\"}", &[Refused]),
        ("{\"name\": \"book\", \"arguments\": {\"name\": \"A\"}, \"error\": null}", &[Refused]),
        ("{\"book\": {\"name\": \"Dune\"}, \"now\": {}}", &[Whole, Whole]),
        ("{\"book\": {\"name\": \"Dune\"}, \"thought\": \"done\"}", &[Whole]),
        ("Sure: `{\"name\": \"now\", \"arguments\": {}}` it is.", &[]),
        ("`{\"name\": \"now\", \"arguments\": {}}`", &[Whole]),
        ("{\"history\": [{\"name\": \"now\", \"arguments\": {}}], \"turns\": 1}", &[]),
        ("{\"seen\": [1, {\"name\": \"now\", \"arguments\": {}}]}", &[]),
        (
            &format!("{{\"seen\":\n{}{{\"name\": \"now\", \"arguments\": {{}}}}}}", " ".repeat(40)),
            &[],
        ),
        ("{\"last\": {\"name\": \"now\", \"arguments\": {}}}", &[]),
        ("So, the call:\n{\"name\": \"now\", \"arguments\": {}}", &[Whole]),
        ("// {\"name\": \"now\", \"arguments\": {}}\nsend();", &[]),
        ("# {\"name\": \"now\", \"arguments\": {}}", &[]),
        ("<!-- {\"name\": \"now\", \"arguments\": {}} -->", &[]),
        ("| now | {\"name\": \"now\", \"arguments\": {}} |", &[]),
    ] {
        assert_eq!(outcomes(None, text), expected, "{text}");
    }
}

/// Several objects or lists after one marker, also where no marker closes them.
#[test]
fn a_block_without_a_closing_marker_may_have_several_values() {
    let call = "{\"name\": \"book\", \"arguments\": {\"name\": \"Ada\"}}";
    for text in [
        format!("[TOOL_CALLS][{call}][{call}]"),
        format!("[TOOL_CALLS][{call}], [{call}]"),
        format!("[TOOL_CALLS]{call}\n{call}"),
    ] {
        for name in [Some("mistral"), None] {
            assert_eq!(outcomes(name, &text), [Whole, Whole], "{text}");
        }
    }
}

/// The outcomes and arguments of the calls of a text, with the tools of coding agents.
#[track_caller]
fn coding(name: Option<&str>, text: &str) -> Vec<(CallOutcome, String)> {
    let object =
        |properties: serde_json::Value| json!({"type": "object", "properties": properties});
    let text_of = json!({"type": "string"});
    let declared = json!([
        {"name": "python", "parameters": object(json!({"code": text_of}))},
        {"name": "read_file", "parameters": object(json!({
            "path": text_of, "start_line": {"type": "integer"},
        }))},
        {"name": "search", "parameters": object(json!({
            "query": text_of, "limit": {"type": "integer"},
            "tags": {"type": "array", "items": text_of},
        }))},
        {"name": "attempt_completion", "parameters": object(json!({
            "result": text_of, "command": text_of,
        }))},
        {"name": "now", "parameters": object(json!({}))},
    ]);
    let reader = knowing(name).with_tools(Registry::from_tools(&declared).unwrap().tools());
    let found = check(&reader, text).found;
    let arguments = |call: &FoundCall| {
        String::from_utf8_lossy(call.arguments()).replace(",  ", ", ").replace(":  ", ": ")
    };
    found.calls().iter().map(|call| (call.outcome(), arguments(call))).collect()
}

#[track_caller]
fn coded(name: &str, text: &str, outcome: CallOutcome, arguments: &str) {
    for name in [Some(name), None] {
        let found = coding(name, text);
        let [(own, json)] = &found[..] else { panic!("{name:?} {text}: {found:?}") };
        assert_eq!(*own, outcome, "{name:?} {text}: {json}");
        if outcome.can_run() {
            assert_eq!(json, arguments, "{name:?} {text}");
        }
    }
}

/// A quote before a bracket in a program is a part of it, if the program goes on.
#[test]
fn programs_with_quotes_in_brackets_are_not_cut() {
    for (text, outcome, arguments) in [
        ("[python(code='print(d['a'])')]", Repaired, r#"{"code": "print(d['a'])"}"#),
        ("[python(code='x = d['a'] + 1')]", Repaired, r#"{"code": "x = d['a'] + 1"}"#),
        ("[python(code='x = 1']", Repaired, r#"{"code": "x = 1"}"#),
        ("[search(query='a', tags=['x, 'y'])]", Refused, ""),
        ("[search(query=a', limit=5)]", Refused, ""),
        ("[search({query: 'a', limit: 5})]", Whole, r#"{"query": "a", "limit": 5}"#),
    ] {
        coded("pythonic", text, outcome, arguments);
    }
}

#[test]
fn tags_in_values_that_are_damaged_or_doubled_refuse_the_call() {
    let qwen = |path: &str| {
        format!(
            "<tool_call>\n<function=read_file>\n<parameter=path>\n{path}\n</function>\n</tool_call>"
        )
    };
    coded("qwen3_coder_xml", &qwen("x</parameter"), Refused, "");
    coded("qwen3_coder_xml", &qwen("x</parameter>"), Whole, r#"{"path": "x"}"#);
    coded("xml_tool_tags", "<read_file>\n<path>x</path</read_file>", Refused, "");
    coded("xml_tool_tags", "<read_file>\n<path>x</path>\n</path>\n</read_file>", Refused, "");
    let twice = "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value><arg_value>x</arg_value>\n</tool_call>";
    coded("glm_arg_kv", twice, Refused, "");
    let twice = "<|open|>tools<|sep|><|open|>call tool=\"read_file\" index=\"1\"<|sep|>\
        <|open|>argument key=\"path\" type=\"string\"<|sep|><|sep|>x<|close|>argument<|sep|>\
        <|close|>call<|sep|>";
    coded("kimi_k3", twice, Refused, "");
}

/// A line end after a value is the template's where the closing tag is missing, and the value's where it is not.
#[test]
fn a_value_without_its_closing_tag_ends_before_the_line_end() {
    let call = |close: &str| {
        format!(
            "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>x\n{close}<arg_key>start_line</arg_key>\n\
             <arg_value>3</arg_value>\n</tool_call>"
        )
    };
    coded("glm_arg_kv", &call(""), Repaired, r#"{"path": "x", "start_line": 3}"#);
    let closed = call("</arg_value>\n");
    coded("glm_arg_kv", &closed, Whole, r#"{"path": "x\n", "start_line": 3}"#);
}

/// The mark that ends a section ends it where the value does.
#[test]
fn the_end_of_a_section_in_a_program_is_a_part_of_it() {
    for (code, json) in [
        ("if a[b[0]]>1: pass", "if a[b[0]]>1: pass"),
        ("print(\"]]>\")", "print(\\\"]]>\\\")"),
        ("a ]]> <b>", "a ]]> <b>"),
    ] {
        let text = format!(
            "<function name=\"python\"><param name=\"code\"><![CDATA[{code}]]></param></function>"
        );
        coded("minicpm5_xml", &text, Whole, &format!("{{\"code\": \"{json}\"}}"));
    }
    // Where another one begins, this one may have ended before.
    let text = "<function name=\"python\"><param name=\"code\"><![CDATA[a]]> b<![CDATA[c]]></param></function>";
    coded("minicpm5_xml", text, Refused, "");
}

/// A tool with several parameters may have tags for them, also if it usually has its text as its body.
#[test]
fn a_tool_that_takes_its_whole_body_may_have_parameters() {
    for (body, json) in [
        (
            "<result>\nDone.\n</result>\n<command>ls</command>",
            r#"{"result": "Done.", "command": "ls"}"#,
        ),
        ("<result>Done.</result>", r#"{"result": "Done."}"#),
        ("Done: <b>x</b>.", r#"{"result": "Done: <b>x</b>."}"#),
    ] {
        let text = format!("<attempt_completion>\n{body}\n</attempt_completion>");
        coded("xml_tool_tags", &text, Whole, json);
    }
}

#[test]
fn statements_of_a_program_do_not_run() {
    for text in [
        "```python\nfor q in ['a', 'b']:\n    search(query=q)\n```",
        "if False:\r\n\tnow()\r\n",
        "INSERT INTO t VALUES (now());",
        "The calls:\n  search(query='a')",
        "```python\nif late:\n    print(search(query='a'))\n```",
    ] {
        assert_eq!(coding(None, text), [], "{text}");
    }
    for text in [
        "The calls:\n\nsearch(query='a')",
        "The calls:\nsearch(query='a')",
        "```python\n    found = search(query='a')\n```",
    ] {
        assert_eq!(coding(None, text).len(), 1, "{text}");
    }
}

/// The tag of a block of reasoning in a sentence or a program opens none, and what follows closes none.
#[test]
fn reasoning_tags_in_one_line_are_mentioned() {
    for text in [
        "```python\nre.sub(r'<think>.*?</think>', '', s)\n```\nDone.",
        "Models such as R1 emit <think>reasoning</think> first, and then the answer.",
    ] {
        for name in [Some("hermes"), None] {
            let found = check(&knowing(name), text).found;
            assert_eq!(String::from_utf8_lossy(found.text()), text);
        }
    }
    let found = check(&knowing(None), "It is <think> here\nand so on</think>Yes.").found;
    assert_eq!(String::from_utf8_lossy(found.text()), "Yes.");
}

// What is not clear is no call that may be run.

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
        "`<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>`",
    ] {
        let found = check(&knowing(None), text).found;
        assert!(found.calls().is_empty() && found.text() == text.as_bytes(), "{text}: {found:?}");
    }
    for (text, rest) in [
        ("`{\"name\": \"book\", \"arguments\": {\"seats\": 2}}`", "``"),
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

/// What is next to the arguments says which tool is meant.
#[test]
fn a_doubtful_repair_in_the_object_of_a_call_refuses_it() {
    for call in [
        r#"{"name": "bo": "book", "arguments": {"seats": 2}}"#,
        r#"{"name": x "book", "arguments": {"seats": 2}}"#,
        r#"{"name": "book", "seats", "arguments": {"seats": 2}}"#,
        r#"{"arguments": {"seats": 2}, "name": "bo": "book"}"#,
    ] {
        let text = format!("<tool_call>{call}</tool_call>");
        assert_eq!(outcomes(Some("hermes"), &text), [Refused], "{text}");
    }
}

/// A list names no parameter.
#[test]
fn a_list_in_the_place_of_arguments_refuses_the_call() {
    for value in ["[]", "[2]", "[{\"seats\": 2}]"] {
        for call in [
            format!("{{\"name\": \"book\", \"arguments\": {value}}}"),
            format!("{{\"arguments\": {value}, \"name\": \"book\"}}"),
        ] {
            let text = format!("<tool_call>{call}</tool_call>");
            assert_eq!(outcomes(Some("hermes"), &text), [Refused], "{text}");
        }
    }
}
