//! Calls without arguments, which leave with an empty object.
//!
//! Servers send an empty text, null or nothing for a tool without parameters, and many clients cannot read that. The
//! object is written wherever the stream holds the arguments as a whole, or the call; and otherwise into one more event
//! before the one that ends it, or that begins the next one.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::promote::chunk;
use crate::{
    ApiFormat,
    calls::EmptyCall,
    format::LEGACY,
    json::{Node, Span, quote},
};

/// The arguments of such a call.
const OBJECT: &str = "{}";

/// No format has a call deeper than this, in levels of objects and arrays.
const DEPTH: u8 = 10;

/// The members whose value is a call: its name, next to its arguments.
const CALLS: [&str; 4] = ["function", "functionCall", "function_call", "toolUse"];

/// The list whose items are calls.
const LIST: &str = "tool_calls";

/// The types of objects that are calls themselves.
const TYPES: [&str; 2] = ["function_call", "tool_use"];

/// The members of a call, or of what it is in, that identify it.
const IDS: [&str; 3] = ["call_id", "id", "toolUseId"];

/// How the arguments of a whole call are written.
#[derive(Clone, Copy)]
pub(super) struct Style {
    /// The member that has them.
    key: &'static str,
    /// They are text.
    text: bool,
}

impl Style {
    pub(super) const fn of(format: ApiFormat) -> Option<Self> {
        let (key, text) = match format {
            ApiFormat::Anthropic | ApiFormat::BedrockConverse => ("input", false),
            ApiFormat::CohereV1 => ("parameters", false),
            ApiFormat::CohereV2
            | ApiFormat::OpenAiAssistants
            | ApiFormat::OpenAiChat
            | ApiFormat::OpenAiResponses => ("arguments", true),
            ApiFormat::Gemini => ("args", false),
            ApiFormat::GeminiInteractions | ApiFormat::Ollama => ("arguments", false),
            _ => return None,
        };
        Some(Self { key, text })
    }

    pub(super) const fn value(self) -> &'static str {
        if self.text { "\"{}\"" } else { OBJECT }
    }

    /// What writes the arguments into the object of a call, if it has none.
    fn edit(self, call: Node<'_>) -> Option<(Span, String)> {
        match call.fields().filter(|(key, _)| key == self.key).last() {
            Some((_, given)) => {
                let is_empty = given.raw() == "null"
                    || given.text().is_some_and(|text| text.trim().is_empty());
                is_empty.then(|| (given.span(), self.value().to_owned()))
            }
            None => {
                let (at, comma) = (call.span().start + 1, if call.is_blank() { "" } else { "," });
                let text = format!("{}:{}{comma}", quote(self.key), self.value());
                Some((Span { start: at, end: at }, text))
            }
        }
    }
}

/// Calls without arguments that are looked for in a payload.
#[derive(Debug, Default)]
pub(crate) struct Empty<'c> {
    ids: BTreeSet<&'c str>,
    /// How many there are without an id, by name.
    names: BTreeMap<&'c str, usize>,
}

impl<'c> Empty<'c> {
    pub(crate) fn of(calls: impl IntoIterator<Item = &'c EmptyCall>) -> Self {
        let mut empty = Self::default();
        for call in calls {
            match &call.id {
                Some(id) => drop(empty.ids.insert(id)),
                None => *empty.names.entry(&call.name).or_default() += 1,
            }
        }
        empty
    }

    /// Whether that call was found. Of those without an id, `some` were.
    pub(super) fn has_found(&self, call: &EmptyCall, some: bool) -> bool {
        call.id.as_ref().map_or(some, |id| !self.ids.contains(id.as_str()))
    }

    /// What writes their arguments into the payload, where it holds them as a whole. Those that are found are taken out.
    pub(crate) fn fill(&mut self, format: ApiFormat, payload: Node<'_>) -> Vec<(Span, String)> {
        let mut edits = Vec::new();
        if let Some(style) = Style::of(format) {
            self.search(style, payload, (None, ""), DEPTH, &mut edits);
        }
        edits.sort_by_key(|(span, _)| span.start);
        edits
    }

    /// `around`: the object around the node, and its name there, or only that of the list in which it is.
    fn search(
        &mut self,
        style: Style,
        node: Node<'_>,
        around: (Option<Node<'_>>, &str),
        depth: u8,
        edits: &mut Vec<(Span, String)>,
    ) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let edit = if node.is_object() { style.edit(node) } else { None };
        if node.is_object() && self.takes(node, around, edit.is_some()) {
            edits.extend(edit);
            return;
        }
        for (key, value) in node.fields() {
            self.search(style, value, (Some(node), &key), depth, edits);
        }
        for item in node.items() {
            self.search(style, item, (None, around.1), depth, edits);
        }
    }

    /// Takes a call out, if the object is one of those. Without an id, it is if it has no arguments.
    fn takes(
        &mut self,
        object: Node<'_>,
        (parent, key): (Option<Node<'_>>, &str),
        is_empty: bool,
    ) -> bool {
        let [name, kind] = object.pick(["name", "type"]).map(|node| node.and_then(Node::text));
        let outer = parent.filter(|_| CALLS.contains(&key));
        let is_call = outer.is_some()
            || (parent.is_none() && key == LIST)
            || kind.is_some_and(|kind| TYPES.contains(&kind.as_ref()));
        let Some(name) = name.filter(|_| is_call) else { return false };
        let ids = [Some(object), outer].into_iter().flatten().flat_map(|node| node.pick(IDS));
        let ids: Vec<Cow<'_, str>> = ids.filter_map(|node| node?.text()).collect();
        // One that repeats the call at the end is found by its id, too.
        if ids.iter().any(|id| self.ids.remove(id.as_ref())) {
            return true;
        }
        let left = self.names.get_mut(name.as_ref());
        match left.filter(|left| is_empty && ids.is_empty() && **left > 0) {
            Some(left) => {
                *left -= 1;
                true
            }
            None => false,
        }
    }
}

/// An event that has the arguments of those calls of a scope: its name and its payload, to be inserted before the event
/// with this payload, which ends them. `None` if the format has no such event.
pub(super) fn event(
    format: ApiFormat,
    payload: Node<'_>,
    scope: u32,
    calls: &[&EmptyCall],
) -> Option<(&'static str, String)> {
    let value = quote(OBJECT);
    if format == ApiFormat::OpenAiChat {
        let function = format!("{{\"arguments\":{value}}}");
        let new = calls.iter().filter(|call| call.index != Some(LEGACY));
        let entries = new.map(|call| match call.index {
            Some(index) => format!("{{\"index\":{index},\"function\":{function}}}"),
            None => format!("{{\"function\":{function}}}"),
        });
        let entries: Vec<String> = entries.collect();
        let is_old = calls.iter().any(|call| call.index == Some(LEGACY));
        let members = [
            is_old.then(|| format!("\"function_call\":{function}")),
            (!entries.is_empty()).then(|| format!("\"tool_calls\":[{}]", entries.join(","))),
        ];
        let members: Vec<String> = members.into_iter().flatten().collect();
        let delta = format!("{{{}}}", members.join(","));
        let writes = payload.has("choices") && !members.is_empty();
        return writes.then(|| ("", chunk(payload, scope, &delta)));
    }
    let [call] = calls else { return None };
    let index = call.index?;
    let kinds = payload.pick(["type", "event_type"]).map(|kind| kind.and_then(Node::text));
    let has_type = |name: &str| kinds.iter().flatten().any(|kind| kind == name);
    match format {
        ApiFormat::Anthropic if has_type("content_block_stop") => {
            let delta = format!("{{\"type\":\"input_json_delta\",\"partial_json\":{value}}}");
            let name = "content_block_delta";
            Some((name, format!("{{\"type\":\"{name}\",\"index\":{index},\"delta\":{delta}}}")))
        }
        ApiFormat::BedrockConverse => {
            let delta = format!("{{\"toolUse\":{{\"input\":{value}}}}}");
            let inner = format!("{{\"contentBlockIndex\":{index},\"delta\":{delta}}}");
            let name = "contentBlockDelta";
            if payload.has("contentBlockStop") {
                return Some((name, format!("{{\"{name}\":{inner}}}")));
            }
            payload.has("contentBlockIndex").then_some((name, inner))
        }
        ApiFormat::GeminiInteractions if has_type("step.stop") => {
            let delta = format!("{{\"type\":\"arguments_delta\",\"arguments\":{value}}}");
            let name = "step.delta";
            Some((
                name,
                format!("{{\"event_type\":\"{name}\",\"index\":{index},\"delta\":{delta}}}"),
            ))
        }
        ApiFormat::CohereV2 if has_type("tool-call-end") => {
            let calls = format!("{{\"function\":{{\"arguments\":{value}}}}}");
            let delta = format!("{{\"message\":{{\"tool_calls\":{calls}}}}}");
            let name = "tool-call-delta";
            Some((name, format!("{{\"type\":\"{name}\",\"index\":{index},\"delta\":{delta}}}")))
        }
        _ => None,
    }
}
