//! Calls in the history that a request sends again.
//!
//! A call that broke once is sent again with each request, and a provider that parses it refuses each of
//! them. So it is mended, or, where that is not certain, sent as an object that has its text. What is done
//! with the arguments of a tool is the same here as in an answer.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::{Value, json};
use wiremend_core::{MendOptions, Policy, RepairKind, Risk, mend_document};
use wiremend_wire::{FinishReason, MendedArguments};

use crate::{
    members::{Edits, Members, items},
    switches::Switches,
};

/// How many calls in the history of a request were changed.
///
/// ```
/// use wiremend_exchange::{Exchanges, Mending};
///
/// let exchanges = Exchanges::new(Mending::new());
/// let body = r#"{"messages":[{"role":"assistant","tool_calls":[
///     {"id":"c","type":"function","function":{"name":"f","arguments":"{'a': 1}"}}]}]}"#;
/// let exchange = exchanges.request("POST", "/v1/chat/completions", [])?.read(body.as_bytes());
/// assert_eq!((exchange.history().mended(), exchange.history().replaced()), (1, 0));
/// assert_eq!(exchange.body(), Some(body.replace("{'a': 1}", r#"{\"a\": 1}"#).as_str()));
/// # Ok::<(), wiremend_exchange::BadSwitch>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryFixes {
    mended: usize,
    replaced: usize,
}

/// Whose API a request is for, as far as its path says it. The shape of a body says the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// Gemini Interactions.
    Interactions,
    /// Ollama's own.
    Ollama,
    /// OpenAI Chat Completions and Responses, Cohere's version 2, and whoever follows them.
    OpenAi,
    Unknown,
}

impl History {
    pub(crate) fn of(path: &str) -> Self {
        let path = path.trim_end_matches('/');
        if path.ends_with("/api/chat") {
            Self::Ollama
        } else if path.ends_with("/interactions") {
            Self::Interactions
        } else if path.ends_with("/chat/completions")
            || path.ends_with("/v2/chat")
            || path.split('/').any(|segment| segment == "responses")
        {
            Self::OpenAi
        } else {
            Self::Unknown
        }
    }

    /// How the arguments of a function are written in the shape of OpenAI.
    const fn of_function(self) -> Wanted {
        match self {
            Self::Interactions | Self::Ollama => Wanted::Object { always: false },
            Self::OpenAi => Wanted::Text { always: true },
            Self::Unknown => Wanted::Text { always: false },
        }
    }

    /// Mends the calls of a request, as far as its switches allow it for the tool of each.
    pub(crate) fn mend<'t>(
        self,
        request: &Members<'t>,
        switches: &Switches,
        edits: &mut Edits<'t>,
    ) -> HistoryFixes {
        let mut fixed = HistoryFixes::default();
        for call in self.calls(request) {
            judge(&call, switches, &mut fixed, edits);
        }
        fixed
    }

    /// The calls in the history of a request.
    fn calls<'t>(self, request: &Members<'t>) -> Vec<Call<'t>> {
        let mut calls = Vec::new();
        let mut note = |call: Option<&'t str>, key: &'static str, wanted: Wanted| {
            calls.extend(call.and_then(|call| Call::of(call, key, wanted)));
        };
        let of_function = self.of_function();
        for message in turns(request, "messages") {
            for call in list(&message, "tool_calls").filter_map(Members::of) {
                note(call.get("function"), "arguments", of_function);
            }
            note(message.get("function_call"), "arguments", of_function);
            for text in list(&message, "content") {
                let Some(part) = Members::of(text) else { continue };
                // Both refuse a call without an object: Anthropic, and Bedrock Converse.
                let wanted = Wanted::Object { always: true };
                if part.is_of(&["tool_use", "server_tool_use", "mcp_tool_use"]) {
                    note(Some(text), "input", wanted);
                }
                note(part.get("toolUse"), "input", wanted);
            }
        }
        let of_step = ["function_call", "mcp_server_tool_call"];
        for text in list(request, "input").filter(|turn| may_hold_a_call(turn)) {
            let Some(item) = Members::of(text) else { continue };
            if self != Self::Interactions {
                // OpenAI Responses.
                if item.is_of(&["function_call"]) {
                    note(Some(text), "arguments", of_function);
                }
                continue;
            }
            // A step, or a turn that has some.
            for step in std::iter::once(text).chain(list(&item, "content")) {
                if Members::of(step).is_some_and(|step| step.is_of(&of_step)) {
                    note(Some(step), "arguments", of_function);
                }
            }
        }
        for content in turns(request, "contents") {
            for part in list(&content, "parts").filter_map(Members::of) {
                let call = part.any(&["functionCall", "function_call"]);
                note(call, "args", Wanted::Object { always: false });
            }
        }
        // Cohere's version 1: the calls, and their repetition next to the results.
        let of_cohere = Wanted::Object { always: false };
        for turn in turns(request, "chat_history") {
            for call in list(&turn, "tool_calls") {
                note(Some(call), "parameters", of_cohere);
            }
            for result in list(&turn, "tool_results").filter_map(Members::of) {
                note(result.get("call"), "parameters", of_cohere);
            }
        }
        for result in list(request, "tool_results").filter_map(Members::of) {
            note(result.get("call"), "parameters", of_cohere);
        }
        calls
    }
}

impl HistoryFixes {
    /// How many were mended.
    #[must_use]
    pub const fn mended(self) -> usize {
        self.mended
    }

    /// How many could not be, and have their text in an object.
    #[must_use]
    pub const fn replaced(self) -> usize {
        self.replaced
    }

    /// Whether any was changed.
    #[must_use]
    pub const fn is_any(self) -> bool {
        self.mended + self.replaced > 0
    }
}

/// The items of the array that a member is.
fn list<'t>(members: &Members<'t>, name: &str) -> impl Iterator<Item = &'t str> + use<'t> {
    items(members.get(name).unwrap_or_default()).into_iter()
}

/// The turns of a history that have calls.
fn turns<'t>(request: &Members<'t>, name: &str) -> impl Iterator<Item = Members<'t>> + use<'t> {
    list(request, name).filter(|turn| may_hold_a_call(turn)).filter_map(Members::of)
}

/// Whether it is worth reading a turn. Most of a long history is text and results.
fn may_hold_a_call(turn: &str) -> bool {
    let marks = [
        "tool_calls",
        "function_call",
        "tool_use",
        "toolUse",
        "functionCall",
        "mcp_server_tool_call",
        "tool_results",
    ];
    marks.iter().any(|mark| turn.contains(mark))
}

/// What arguments are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// A string that holds JSON. `always`: an object, and a call without it is refused.
    Text { always: bool },
    /// An object. `always`: a call without it is refused.
    Object { always: bool },
}

/// The object that has the arguments of a call, and its name.
struct Call<'t> {
    text: &'t str,
    members: Members<'t>,
    key: &'static str,
    wanted: Wanted,
}

impl<'t> Call<'t> {
    fn of(text: &'t str, key: &'static str, wanted: Wanted) -> Option<Self> {
        Some(Self { text, members: Members::of(text)?, key, wanted })
    }
}

/// What becomes of arguments.
enum Fix {
    /// They are right, or become so, as this JSON.
    Mended(String),
    /// They cannot be mended: this is their text.
    Replaced(String),
}

/// Changes the arguments of a call that its provider would refuse.
fn judge<'t>(
    call: &Call<'t>,
    switches: &Switches,
    fixed: &mut HistoryFixes,
    edits: &mut Edits<'t>,
) {
    let tool = call.members.string("name").unwrap_or_default();
    // Arguments that are to pass as they come do so here, too, whatever the provider makes of them.
    let Some(policy) = switches.policy_of_history(&tool) else { return };
    let given = call.members.get(call.key);
    let fix = match given {
        None | Some("null") => of_none(call.wanted),
        Some(value) => of_value(value, call.wanted, policy),
    };
    let json = match fix {
        None => return,
        Some(Fix::Mended(json)) => {
            fixed.mended += 1;
            json
        }
        Some(Fix::Replaced(text)) => {
            fixed.replaced += 1;
            json!({ "invalid_json": text }).to_string()
        }
    };
    let by = match call.wanted {
        Wanted::Text { .. } => Value::String(json).to_string(),
        Wanted::Object { .. } => json,
    };
    match given {
        Some(given) => edits.replace(given, by),
        None => edits.insert(call.text, &call.members, call.key, &by),
    }
}

/// A call without arguments has none: an empty object, where that must be said.
fn of_none(wanted: Wanted) -> Option<Fix> {
    let (Wanted::Text { always } | Wanted::Object { always }) = wanted;
    always.then(|| Fix::Mended("{}".to_owned()))
}

/// Arguments that are a string or another value. A string may hold what was cut off, so nothing of it is completed.
fn of_value(value: &str, wanted: Wanted, policy: Policy) -> Option<Fix> {
    let is_string = value.starts_with('"');
    let (raw, is_whole) = if is_string { decoded(value)? } else { (value.to_owned(), true) };
    let is_right = match wanted {
        Wanted::Text { always: true } => is_string && is_whole && is_object(&raw) && is_json(&raw),
        Wanted::Text { always: false } => !is_string || (is_whole && is_json(&raw)),
        Wanted::Object { .. } => !is_string && is_object(value),
    };
    if is_right {
        return None;
    }
    let json = if is_whole || policy.allows(RepairKind::LoneSurrogate) {
        let any = wanted == Wanted::Text { always: false };
        object_of(&raw, any, &MendOptions::new().with_policy(policy))
    } else {
        None
    };
    Some(json.map_or(Fix::Replaced(raw), Fix::Mended))
}

/// The object that a text gives: itself, or what the string in it holds. Nothing and null are arguments that there are
/// none of. `any`: it need not be an object.
fn object_of(raw: &str, any: bool, options: &MendOptions) -> Option<String> {
    let mut text = Cow::Borrowed(raw);
    // A string in a string has twice as many backslashes, so there are few of them.
    loop {
        let mended = MendedArguments::new(&text, FinishReason::ToolCalls, options);
        let value = mended.value()?;
        let json = value.trim();
        if any || is_object(json) {
            return Some(value.to_owned());
        }
        match json {
            "null" => return Some("{}".to_owned()),
            string if string.starts_with('"') => {
                let (inner, is_whole) = decoded(string)?;
                if !is_whole && !options.policy().allows(RepairKind::LoneSurrogate) {
                    return None;
                }
                text = Cow::Owned(inner);
            }
            _ => return None,
        }
    }
}

fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{')
}

/// The text of a string, and whether all of it is characters. Half of a surrogate pair is none: it becomes
/// U+FFFD.
fn decoded(literal: &str) -> Option<(String, bool)> {
    if let Ok(text) = serde_json::from_str(literal) {
        return Some((text, true));
    }
    let options = MendOptions::new().with_policy(Policy::PERMISSIVE.at_most(Risk::Lossy));
    let mended = mend_document(format!("[{literal}]").as_bytes(), &options);
    let [text] = serde_json::from_str::<[String; 1]>(mended.text()?).ok()?;
    Some((text, false))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
