//! Arguments that may not be what was meant, and texts that may be no calls, do not run.

use serde_json::json;
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
        ("[search({query: 'a', limit: 5})]", Repaired, r#"{"query": "a", "limit": 5}"#),
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
    ] {
        assert_eq!(coding(None, text), [], "{text}");
    }
    for text in [
        "The calls:\n\nsearch(query='a')",
        "The calls:\n  search(query='a')",
        "```python\n    print(search(query='a'))\n```",
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
