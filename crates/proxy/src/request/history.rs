//! Calls in the history that a request sends again.
//!
//! A call that broke once is sent again with each request, and a provider that parses it refuses each of
//! them. So it is mended, or, where that is not certain, sent as an object that has its text.

use jsonmend_wire::{FinishReason, mend_arguments};
use serde_json::{Value, json};

use super::members::{Edits, Members, items};

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

    /// Mends the calls of a request.
    pub(crate) fn mend<'t>(self, request: &Members<'t>, edits: &mut Edits<'t>) -> Fixed {
        let mut fixed = Fixed::default();
        let list = |members: &Members<'t>, name: &str| items(members.get(name).unwrap_or_default());
        let turns = |name: &str| {
            let turns = list(request, name).into_iter().filter(|turn| may_hold_a_call(turn));
            turns.filter_map(Members::of).collect::<Vec<_>>()
        };
        for message in turns("messages") {
            let wanted = if self == Self::Objects { Wanted::Object } else { Wanted::Text };
            for call in list(&message, "tool_calls").into_iter().filter_map(Members::of) {
                let arguments =
                    call.object("function").and_then(|function| function.get("arguments"));
                fixed.judge(arguments, wanted, edits);
            }
            let legacy = message.object("function_call").and_then(|call| call.get("arguments"));
            fixed.judge(legacy, wanted, edits);
            for part in list(&message, "content").into_iter().filter_map(Members::of) {
                if part.string("type").is_some_and(|kind| kind == "tool_use") {
                    fixed.judge(part.get("input"), Wanted::Object, edits);
                }
                let converse = part.object("toolUse").and_then(|call| call.get("input"));
                fixed.judge(converse, Wanted::Object, edits);
            }
        }
        for item in turns("input") {
            if item.string("type").is_some_and(|kind| kind == "function_call") {
                fixed.judge(item.get("arguments"), Wanted::Text, edits);
            }
        }
        for content in turns("contents") {
            for part in list(&content, "parts").into_iter().filter_map(Members::of) {
                let call = part.object("functionCall").or_else(|| part.object("function_call"));
                fixed.judge(call.and_then(|call| call.get("args")), Wanted::Object, edits);
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
    fn judge<'t>(&mut self, arguments: Option<&'t str>, wanted: Wanted, edits: &mut Edits<'t>) {
        let Some(literal) = arguments.filter(|text| text.starts_with('"')) else { return };
        // An escape of half a character is in no string of Rust.
        let Ok(raw) = serde_json::from_str::<String>(literal) else { return };
        if wanted == Wanted::Text && is_json(&raw) {
            return;
        }
        let mended = mend_arguments(&raw, FinishReason::ToolCalls);
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

    fn mend(path: &str, body: &str) -> (String, usize, usize) {
        let members = Members::of(body).unwrap();
        let mut edits = Edits::new(body);
        let fixed = History::of(path).mend(&members, &mut edits);
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
}
