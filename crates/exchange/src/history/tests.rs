//! Histories of every provider.

use serde_json::{Value, json};

use super::*;
use crate::{Arguments, Mending, Repair, ToolRule};

fn mend(path: &str, body: &str) -> (String, usize, usize) {
    let members = Members::of(body).unwrap();
    let mut edits = Edits::new(body);
    let switches = Switches::of(Mending::new());
    let fixed = History::of(path).mend(&members, &switches, &mut edits);
    (edits.apply(), fixed.mended(), fixed.replaced())
}

#[test]
fn a_broken_call_is_mended_in_the_shape_of_each_provider() {
    let text = (r#""{'a': 1}""#, r#""{\"a\": 1}""#);
    let object = (r#""{'a': 1}""#, r#"{"a": 1}"#);
    for (path, before, after, (from, to)) in [
        (
            "/v1/chat/completions",
            r#"{"messages":[{"tool_calls":[{"function":{"name":"f","arguments": "#,
            r#" }}]}]}"#,
            text,
        ),
        ("/v1/chat/completions", r#"{"messages":[{"function_call":{"arguments":"#, r#"}}]}"#, text),
        ("/v1/responses", r#"{"input":[{"type":"function_call","arguments":"#, r#"}]}"#, text),
        (
            "/api/chat",
            r#"{"messages":[{"tool_calls":[{"function":{"arguments":"#,
            r#"}}]}]}"#,
            object,
        ),
        (
            "/v1/messages",
            r#"{"messages":[{"content":[{"type":"tool_use","input":"#,
            r#"}]}]}"#,
            object,
        ),
        (
            "/model/m/converse",
            r#"{"messages":[{"content":[{"toolUse":{"input":"#,
            r#"}}]}]}"#,
            object,
        ),
        (
            "/x:generateContent",
            r#"{"contents":[{"parts":[{"functionCall":{"args":"#,
            r#"}}]}]}"#,
            object,
        ),
    ] {
        let got = mend(path, &format!("{before}{from}{after}"));
        assert_eq!(got, (format!("{before}{to}{after}"), 1, 0));
    }
}

#[test]
fn a_call_that_was_cut_off_is_never_completed() {
    let body = r#"{"messages":[{"tool_calls":[{"function":{"arguments":"{\"path\": \"/tm"}}]}]}"#;
    let (sent, mended, replaced) = mend("/v1/chat/completions", body);
    assert_eq!((mended, replaced), (0, 1));
    let sent: Value = serde_json::from_str(&sent).unwrap();
    let arguments = &sent["messages"][0]["tool_calls"][0]["function"]["arguments"];
    let arguments: Value = serde_json::from_str(arguments.as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({"invalid_json": "{\"path\": \"/tm"}));
}

/// For each kind of history, its path, and its text around the object that has the arguments.
const OPENAI: (&str, &str, &str) =
    ("/v1/chat/completions", r#"{"messages":[{"tool_calls":[{"function":"#, "}]}]}");
const RESPONSES: (&str, &str, &str) = ("/openai/responses", r#"{"input":["#, "]}");
const OLLAMA: (&str, &str, &str) =
    ("/api/chat", r#"{"messages":[{"tool_calls":[{"function":"#, "}]}]}");
const ANTHROPIC: (&str, &str, &str) = ("/v1/messages", r#"{"messages":[{"content":["#, "]}]}");
const CONVERSE: (&str, &str, &str) =
    ("/model/m/converse", r#"{"messages":[{"content":[{"toolUse":"#, "}]}]}");
const GEMINI: (&str, &str, &str) =
    ("/m:generateContent", r#"{"contents":[{"parts":[{"functionCall":"#, "}]}]}");
const STEPS: (&str, &str, &str) = ("/v1beta/interactions", r#"{"input":["#, "]}");
const TURNS: (&str, &str, &str) =
    ("/v1beta/interactions", r#"{"input":[{"role":"model","content":["#, "]}]}");
const COHERE: (&str, &str, &str) =
    ("/v1/chat", r#"{"chat_history":[{"role":"CHATBOT","tool_calls":["#, "]}]}");
const RESULTS: (&str, &str, &str) = ("/v1/chat", r#"{"tool_results":[{"call":"#, "}]}");
const ELSEWHERE: (&str, &str, &str) =
    ("/v1/other", r#"{"messages":[{"tool_calls":[{"function":"#, "}]}]}");

/// What is sent of the object that has the arguments, and how many were mended and replaced.
fn sent((path, before, after): (&str, &str, &str), call: &str) -> (String, usize, usize) {
    let (body, mended, replaced) = mend(path, &format!("{before}{call}{after}"));
    serde_json::from_str::<Value>(&body).unwrap();
    let call = body.strip_prefix(before).unwrap().strip_suffix(after).unwrap();
    (call.to_owned(), mended, replaced)
}

#[test]
fn arguments_of_another_type_are_sent_in_the_one_that_is_wanted() {
    for (place, call, want) in [
        (OPENAI, r#"{"arguments":{"a": 1.0}}"#, r#"{"arguments":"{\"a\": 1.0}"}"#),
        (OPENAI, r#"{"arguments":null}"#, r#"{"arguments":"{}"}"#),
        (OPENAI, r#"{"arguments":""}"#, r#"{"arguments":"{}"}"#),
        (OPENAI, r#"{"name":"f"}"#, r#"{"arguments":"{}","name":"f"}"#),
        (OPENAI, "{}", r#"{"arguments":"{}"}"#),
        (OPENAI, r#"{"arguments":"null"}"#, r#"{"arguments":"{}"}"#),
        (OPENAI, r#"{"arguments":" "}"#, r#"{"arguments":"{}"}"#),
        (OPENAI, r#"{"arguments":"\"\""}"#, r#"{"arguments":"{}"}"#),
        (OPENAI, r#"{"arguments":"\"{\\\"a\\\": 1.0}\""}"#, r#"{"arguments":"{\"a\": 1.0}"}"#),
        (OPENAI, r#"{"arguments":"\"{'a': 1}\""}"#, r#"{"arguments":"{\"a\": 1}"}"#),
        (
            OPENAI,
            r#"{"arguments":"\"\\\"{\\\\\\\"a\\\\\\\": 1}\\\"\""}"#,
            r#"{"arguments":"{\"a\": 1}"}"#,
        ),
        (OLLAMA, r#"{"arguments":"null"}"#, r#"{"arguments":{}}"#),
        (GEMINI, r#"{"args":""}"#, r#"{"args":{}}"#),
        (
            ANTHROPIC,
            r#"{"type":"tool_use","input":"\"{\\\"a\\\": 1}\""}"#,
            r#"{"type":"tool_use","input":{"a": 1}}"#,
        ),
        (
            RESPONSES,
            r#"{"type":"function_call","arguments":{}}"#,
            r#"{"type":"function_call","arguments":"{}"}"#,
        ),
        (RESPONSES, r#"{"type":"function_call"}"#, r#"{"arguments":"{}","type":"function_call"}"#),
        (OLLAMA, r#"{"arguments":"{}"}"#, r#"{"arguments":{}}"#),
        (ANTHROPIC, r#"{"type":"tool_use","input":null}"#, r#"{"type":"tool_use","input":{}}"#),
        (ANTHROPIC, r#"{"type":"tool_use"}"#, r#"{"input":{},"type":"tool_use"}"#),
        (
            ANTHROPIC,
            r#"{"type":"server_tool_use","input":"{'a': 1}"}"#,
            r#"{"type":"server_tool_use","input":{"a": 1}}"#,
        ),
        (
            ANTHROPIC,
            r#"{"type":"mcp_tool_use","input":" {\"a\": 1}"}"#,
            r#"{"type":"mcp_tool_use","input": {"a": 1}}"#,
        ),
        (CONVERSE, r#"{"toolUseId":"t"}"#, r#"{"input":{},"toolUseId":"t"}"#),
        (
            STEPS,
            r#"{"type":"function_call","arguments":"{'a': 1}"}"#,
            r#"{"type":"function_call","arguments":{"a": 1}}"#,
        ),
        (
            TURNS,
            r#"{"type":"mcp_server_tool_call","arguments":"{}"}"#,
            r#"{"type":"mcp_server_tool_call","arguments":{}}"#,
        ),
        (COHERE, r#"{"parameters":"{'a': 1}"}"#, r#"{"parameters":{"a": 1}}"#),
        (RESULTS, r#"{"parameters":"{}"}"#, r#"{"parameters":{}}"#),
    ] {
        assert_eq!(sent(place, call), (want.to_owned(), 1, 0), "{call}");
    }
}

#[test]
fn arguments_that_give_no_object_are_sent_as_one_with_their_text() {
    for (place, call, want) in [
        (
            ANTHROPIC,
            r#"{"type":"tool_use","input":[1]}"#,
            r#"{"type":"tool_use","input":{"invalid_json":"[1]"}}"#,
        ),
        (
            ANTHROPIC,
            r#"{"type":"tool_use","input":5}"#,
            r#"{"type":"tool_use","input":{"invalid_json":"5"}}"#,
        ),
        (
            ANTHROPIC,
            r#"{"type":"server_tool_use","input":"{\"a\": \"x"}"#,
            r#"{"type":"server_tool_use","input":{"invalid_json":"{\"a\": \"x"}}"#,
        ),
        (GEMINI, r#"{"args":[1]}"#, r#"{"args":{"invalid_json":"[1]"}}"#),
        (OPENAI, r#"{"arguments":[1]}"#, r#"{"arguments":"{\"invalid_json\":\"[1]\"}"}"#),
        (OPENAI, r#"{"arguments":"[1]"}"#, r#"{"arguments":"{\"invalid_json\":\"[1]\"}"}"#),
        (OPENAI, r#"{"arguments":"5"}"#, r#"{"arguments":"{\"invalid_json\":\"5\"}"}"#),
        (OPENAI, r#"{"arguments":true}"#, r#"{"arguments":"{\"invalid_json\":\"true\"}"}"#),
        (
            OPENAI,
            r#"{"arguments":"\"{\\\"a\\\": \""}"#,
            r#"{"arguments":"{\"invalid_json\":\"\\\"{\\\\\\\"a\\\\\\\": \\\"\"}"}"#,
        ),
        (OLLAMA, r#"{"arguments":true}"#, r#"{"arguments":{"invalid_json":"true"}}"#),
        (COHERE, r#"{"parameters":"{\"a\""}"#, r#"{"parameters":{"invalid_json":"{\"a\""}}"#),
    ] {
        assert_eq!(sent(place, call), (want.to_owned(), 0, 1), "{call}");
    }
}

/// They are taken, or it is not known that they are not.
#[test]
fn a_type_that_may_be_right_stays() {
    for (place, call) in [
        (GEMINI, r#"{"name":"f"}"#),
        (GEMINI, r#"{"args":null}"#),
        (OLLAMA, r#"{"arguments":null}"#),
        (OLLAMA, r#"{"name":"f"}"#),
        (STEPS, r#"{"type":"function_call","arguments":{"a":"{'x"}}"#),
        (STEPS, r#"{"type":"function_call"}"#),
        (STEPS, r#"{"type":"text","text":"{'","arguments":"{'"}"#),
        (COHERE, r#"{"name":"f"}"#),
        (COHERE, r#"{"parameters":{"a":"{'x"}}"#),
        (ANTHROPIC, r#"{"type":"text","text":"tool_use"}"#),
        (ANTHROPIC, r#"{"type":"tool_use","input":{"a":"{'x"}}"#),
        (ELSEWHERE, r#"{"arguments":{"a":"{'x"}}"#),
        (ELSEWHERE, r#"{"arguments":null}"#),
        (ELSEWHERE, r#"{"arguments":"null"}"#),
        (ELSEWHERE, r#"{"arguments":"[1]"}"#),
        (ELSEWHERE, r#"{"name":"f"}"#),
    ] {
        assert_eq!(sent(place, call), (call.to_owned(), 0, 0), "{call}");
    }
}

/// A strict parser takes no body that has one.
#[test]
fn half_a_character_is_replaced_under_a_policy_that_allows_it() {
    let (path, before, after) = OPENAI;
    let sent = |call: &str, policy: Repair| {
        let text = format!("{before}{call}{after}");
        let members = Members::of(&text).unwrap();
        let mut edits = Edits::new(&text);
        let switches = Switches::of(Mending::new().with_policy(policy));
        let fixed = History::of(path).mend(&members, &switches, &mut edits);
        let sent: Value = serde_json::from_str(&edits.apply()).unwrap();
        let function = &sent["messages"][0]["tool_calls"][0]["function"];
        (function["arguments"].as_str().unwrap().to_owned(), fixed)
    };
    let (mended, replaced) =
        (HistoryFixes { mended: 1, replaced: 0 }, HistoryFixes { mended: 0, replaced: 1 });
    let whole = r#"{"arguments":"{\"a\": \"x\ud83d\"}"}"#;
    let text = "{\"a\": \"x\u{fffd}\"}";
    let as_text = |text: &str| json!({ "invalid_json": text }).to_string();
    assert_eq!(sent(whole, Repair::Lossy), (text.to_owned(), mended));
    assert_eq!(sent(whole, Repair::Likely), (as_text(text), replaced));
    // A call that was cut off within a character is none that is complete, under any policy.
    let cut = r#"{"arguments":"{\"a\": \"x\ud83d"}"#;
    let text = "{\"a\": \"x\u{fffd}";
    assert_eq!(sent(cut, Repair::Lossy), (as_text(text), replaced));
}

#[test]
fn what_is_right_stays() {
    for body in [
        r#"{"messages":[{"tool_calls":[{"function":{"arguments":"{\"a\" :1.0}"}}]}]}"#,
        // A tool whose input is free text, and what is null where nothing was called.
        r#"{"messages":[{"tool_calls":[{"type":"custom","custom":{"input":"{'"}}],"function_call":null}]}"#,
        r#"{"messages":[{"tool_calls":null,"content":null}],"input":null}"#,
        // An escape of half a character within the arguments is JSON.
        r#"{"messages":[{"tool_calls":[{"function":{"arguments":"{\"a\":\"\\ud83d\"}"}}]}]}"#,
        r#"{"messages":[{"content":[{"type":"tool_use","input":{"a":"{'x"}},{"type":"text","input":"{'"}]}]}"#,
        r#"{"messages":[{"content":"{'a'"}],"input":"{'a'"}"#,
        r#"{"input":[{"type":"custom_tool_call","arguments":"{'"}]}"#,
    ] {
        assert_eq!(mend("/v1/chat/completions", body), (body.to_owned(), 0, 0));
    }
}

/// What an answer with these arguments would be spared, the history is spared, too.
#[test]
fn the_history_is_mended_under_the_policy_of_its_tool() {
    // Only a likely repair makes these JSON.
    let raw = r#"{"cmd": "echo "hi" and go", "n": 1}"#;
    let given = Value::String(raw.to_owned()).to_string();
    let body = |tool: &str| {
        format!(
            r#"{{"messages":[{{"tool_calls":[{{"function":{{"name":"{tool}","arguments":{given}}}}}]}}]}}"#
        )
    };
    let sent = |switches: &Switches, tool: &str| {
        let text = body(tool);
        let members = Members::of(&text).unwrap();
        let mut edits = Edits::new(&text);
        History::of("/v1/chat/completions").mend(&members, switches, &mut edits);
        let sent: Value = serde_json::from_str(&edits.apply()).unwrap();
        let arguments = &sent["messages"][0]["tool_calls"][0]["function"]["arguments"];
        arguments.as_str().unwrap().to_owned()
    };
    let mended = json!({"cmd": "echo \"hi\" and go", "n": 1});
    let replaced = json!({ "invalid_json": raw });
    let is = |text: String, want: &Value| serde_json::from_str::<Value>(&text).unwrap() == *want;
    let plain = || Mending::new();
    let of = Switches::of;
    assert!(is(sent(&of(plain()), "f"), &mended));
    let exact = of(plain().with_policy(Repair::Exact));
    assert!(is(sent(&exact, "f"), &replaced));
    // What is certain is mended under it, too.
    assert_eq!(mend("/v1/chat/completions", &body("f").replace(&given, r#""{'a': 1}""#)).1, 1);
    for passes in [
        plain().with_policy(Repair::Off),
        plain().with_arguments(Arguments::Pass),
        plain().with_history(false),
    ] {
        assert_eq!(sent(&of(passes), "f"), raw);
    }
    let rule = |name| ToolRule::new(name).unwrap();
    let rules = vec![
        rule("delete_*").with_policy(Repair::Off),
        rule("move_*").with_arguments(Arguments::Pass),
        rule("read_*").with_policy(Repair::Exact),
    ];
    let rules = of(plain().with_tools(rules));
    assert_eq!(sent(&rules, "delete_user"), raw);
    assert_eq!(sent(&rules, "move_user"), raw);
    assert!(is(sent(&rules, "read_user"), &replaced));
    assert!(is(sent(&rules, "f"), &mended));
}

/// Not even where the provider wants an object: a rule that says so goes before what may help.
#[test]
fn arguments_that_are_to_pass_are_not_made_an_object() {
    let body = r#"{"messages":[{"content":[{"type":"tool_use","name":"f","input":"{}"}]}]}"#;
    let members = Members::of(body).unwrap();
    let mut edits = Edits::new(body);
    let switches = Switches::of(Mending::new().with_arguments(Arguments::Pass));
    History::of("/v1/messages").mend(&members, &switches, &mut edits);
    assert!(edits.is_empty());
}
