//! Calls in the history that a request sends again.
//!
//! A call that broke once is sent again with each request, and a provider that parses it refuses each of
//! them. So it is mended, or, where that is not certain, sent as an object that has its text. What is done
//! with the arguments of a tool is the same here as in an answer.

use jsonmend_core::Options;
use jsonmend_wire::{FinishReason, MendedArguments};
use serde_json::{Value, json};

use super::{
    Switches,
    members::{Edits, Members, items},
};

/// How many calls of a history were changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fixed {
    /// They were mended.
    pub(crate) mended: usize,
    /// They could not be: their text is in an object.
    pub(crate) replaced: usize,
}

/// How a provider wants the arguments of `tool_calls`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// As a string that holds JSON.
    Strings,
    /// As an object.
    Objects,
}

/// What the arguments are to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Text,
    Object,
}

impl History {
    pub(crate) fn of(path: &str) -> Self {
        // Ollama's own API.
        if path.ends_with("/api/chat") { Self::Objects } else { Self::Strings }
    }

    /// Mends the calls of a request, as far as its switches allow it for the tool of each.
    pub(crate) fn mend<'t>(
        self,
        request: &Members<'t>,
        switches: &Switches,
        edits: &mut Edits<'t>,
    ) -> Fixed {
        let mut fixed = Fixed::default();
        let list = |members: &Members<'t>, name: &str| items(members.get(name).unwrap_or_default());
        let turns = |name: &str| {
            let turns = list(request, name).into_iter().filter(|turn| may_hold_a_call(turn));
            turns.filter_map(Members::of).collect::<Vec<_>>()
        };
        let mut judge = |call: Option<Members<'t>>, key: &str, wanted: Wanted| {
            if let Some(call) = call {
                fixed.judge(&call, (key, wanted), switches, edits);
            }
        };
        for message in turns("messages") {
            let wanted = if self == Self::Objects { Wanted::Object } else { Wanted::Text };
            for call in list(&message, "tool_calls").into_iter().filter_map(Members::of) {
                judge(call.object("function"), "arguments", wanted);
            }
            judge(message.object("function_call"), "arguments", wanted);
            for part in list(&message, "content").into_iter().filter_map(Members::of) {
                judge(part.object("toolUse"), "input", Wanted::Object);
                if part.string("type").is_some_and(|kind| kind == "tool_use") {
                    judge(Some(part), "input", Wanted::Object);
                }
            }
        }
        for item in turns("input") {
            if item.string("type").is_some_and(|kind| kind == "function_call") {
                judge(Some(item), "arguments", Wanted::Text);
            }
        }
        for content in turns("contents") {
            for part in list(&content, "parts").into_iter().filter_map(Members::of) {
                let call = part.object("functionCall").or_else(|| part.object("function_call"));
                judge(call, "args", Wanted::Object);
            }
        }
        fixed
    }
}

impl Fixed {
    pub(crate) const fn is_any(self) -> bool {
        self.mended + self.replaced > 0
    }

    /// Changes arguments that are a string: one that is not JSON, or one where an object is wanted.
    fn judge<'t>(
        &mut self,
        call: &Members<'t>,
        (key, wanted): (&str, Wanted),
        switches: &Switches,
        edits: &mut Edits<'t>,
    ) {
        let Some(literal) = call.get(key).filter(|text| text.starts_with('"')) else { return };
        let tool = call.string("name").unwrap_or_default();
        // Arguments that are to pass as they come do so here, too, whatever the provider makes of them.
        let Some(policy) = switches.policy_of_history(&tool) else { return };
        // An escape of half a character is in no string of Rust.
        let Ok(raw) = serde_json::from_str::<String>(literal) else { return };
        if wanted == Wanted::Text && is_json(&raw) {
            return;
        }
        let options = Options::new().with_policy(policy);
        let mended = MendedArguments::new(&raw, FinishReason::ToolCalls, &options);
        let value = mended.value().filter(|value| wanted == Wanted::Text || value.starts_with('{'));
        let json = match value {
            Some(value) => {
                self.mended += 1;
                value.to_owned()
            }
            None => {
                self.replaced += 1;
                json!({ "invalid_json": raw }).to_string()
            }
        };
        let by = if wanted == Wanted::Text { Value::String(json).to_string() } else { json };
        edits.replace(literal, by);
    }
}

/// Whether it is worth reading a turn. Most of a long history is text and results.
fn may_hold_a_call(turn: &str) -> bool {
    let marks = ["tool_calls", "function_call", "tool_use", "toolUse", "functionCall"];
    marks.iter().any(|mark| turn.contains(mark))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Arguments, Mending, Repair, ToolRule};

    fn mend(path: &str, body: &str) -> (String, usize, usize) {
        let members = Members::of(body).unwrap();
        let mut edits = Edits::new(body);
        let switches = Switches::of(Mending::new());
        let fixed = History::of(path).mend(&members, &switches, &mut edits);
        (edits.apply(), fixed.mended, fixed.replaced)
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
            (
                "/v1/chat/completions",
                r#"{"messages":[{"function_call":{"arguments":"#,
                r#"}}]}"#,
                text,
            ),
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
        let body =
            r#"{"messages":[{"tool_calls":[{"function":{"arguments":"{\"path\": \"/tm"}}]}]}"#;
        let (sent, mended, replaced) = mend("/v1/chat/completions", body);
        assert_eq!((mended, replaced), (0, 1));
        let sent: Value = serde_json::from_str(&sent).unwrap();
        let arguments = &sent["messages"][0]["tool_calls"][0]["function"]["arguments"];
        let arguments: Value = serde_json::from_str(arguments.as_str().unwrap()).unwrap();
        assert_eq!(arguments, json!({"invalid_json": "{\"path\": \"/tm"}));
    }

    #[test]
    fn what_is_right_stays() {
        for body in [
            r#"{"messages":[{"tool_calls":[{"function":{"arguments":"{\"a\" :1.0}"}}]}]}"#,
            r#"{"messages":[{"tool_calls":[{"function":{"arguments":{"a":"{'x"}}}]}]}"#,
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
        let is =
            |text: String, want: &Value| serde_json::from_str::<Value>(&text).unwrap() == *want;
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
}
