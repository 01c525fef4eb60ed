//! Takes the entries of calls out of a payload.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    ApiFormat,
    json::{self, Node, Span},
};

/// Whether calls can be taken out of a body of that format.
pub(super) const fn is_supported(format: ApiFormat) -> bool {
    matches!(
        format,
        ApiFormat::Anthropic
            | ApiFormat::Gemini
            | ApiFormat::Ollama
            | ApiFormat::OpenAiChat
            | ApiFormat::OpenAiResponses
    )
}

/// A payload without some calls.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Without {
    /// These edits take them out.
    Edits(Vec<(Span, String)>),
    /// All of it was about them.
    Nothing,
    /// They have no place that could be taken out.
    Unknown,
}

/// Takes calls out of a payload, given where it has something about them.
pub(super) fn without(payload: &str, places: Vec<Option<Span>>) -> Without {
    // An event with a type is about one thing. Of a place that is not known, another one says more.
    let is_typed = || {
        let root = payload.find('{').and_then(|at| json::first_from(payload, at).ok());
        root.is_some_and(|(root, _)| root.has("type"))
    };
    let known = places.iter().any(Option::is_some);
    let edits = known.then(|| edits(payload, places.into_iter().flatten())).flatten();
    match edits {
        Some(edits) => Without::Edits(edits),
        None if is_typed() => Without::Nothing,
        None => Without::Unknown,
    }
}

/// The edits that take out what is at those places. `None` if something there has no holder of its own.
fn edits(payload: &str, places: impl Iterator<Item = Span>) -> Option<Vec<(Span, String)>> {
    let mut lists: BTreeMap<usize, (Node<'_>, BTreeSet<usize>)> = BTreeMap::new();
    let mut edits = Vec::new();
    for place in places {
        match holder(payload, place)? {
            Holder::Item(list, at) => {
                lists
                    .entry(list.span().start)
                    .or_insert_with(|| (list, BTreeSet::new()))
                    .1
                    .insert(at);
            }
            Holder::Member(value) => edits.push((value.span(), "null".to_owned())),
        }
    }
    for (list, taken) in lists.values() {
        take_out(*list, taken, &mut edits);
    }
    Some(edits)
}

/// What holds a call, and nothing else.
#[derive(Clone, Copy)]
enum Holder<'p> {
    /// An item of a list, by its number.
    Item(Node<'p>, usize),
    /// The value of a member.
    Member(Node<'p>),
}

/// The innermost holder of what is at a place.
fn holder(payload: &str, place: Span) -> Option<Holder<'_>> {
    let has = |node: Node<'_>| node.span().start <= place.start && place.end <= node.span().end;
    let mut at = payload.find('{')?;
    let mut node = loop {
        let (node, rest) = json::first_from(payload, at).ok()?;
        if has(node) || rest.is_empty() {
            break node;
        }
        at = payload.len() - rest.len();
    };
    let (mut key, mut holder) = (String::new(), None);
    while node.span() != place {
        node = if node.is_array() {
            let (number, item) = node.items().enumerate().find(|(_, item)| has(*item))?;
            // A choice holds more than its calls.
            if !["", "candidates", "choices"].contains(&key.as_str()) {
                holder = Some(Holder::Item(node, number));
            }
            item
        } else {
            let (name, value) = node.fields().find(|(_, value)| has(*value))?;
            if name == "function_call" {
                holder = Some(Holder::Member(value));
            }
            key = name.into_owned();
            value
        };
    }
    holder
}

/// Takes items out of a list, each with a comma.
fn take_out(list: Node<'_>, taken: &BTreeSet<usize>, edits: &mut Vec<(Span, String)>) {
    let items: Vec<Span> = list.items().map(Node::span).collect();
    let kept = (0..items.len()).rev().find(|number| !taken.contains(number));
    let mut take = |start, end| edits.push((Span { start, end }, String::new()));
    for pair in items.windows(2).enumerate().filter(|(number, _)| taken.contains(number)) {
        if let (number, [item, next]) = pair
            && kept.is_some_and(|kept| number < kept)
        {
            take(item.start, next.start);
        }
    }
    let start =
        kept.and_then(|kept| items.get(kept)).map_or(list.span().start + 1, |kept| kept.end);
    if let Some(last) = items.last().filter(|_| kept.is_none_or(|kept| kept + 1 < items.len())) {
        take(start, last.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::item::spliced;

    #[test]
    fn a_call_is_taken_out_of_what_holds_more() {
        for (payload, names, want) in [
            (r#"{"tool_calls": [{"n": "a"}]}"#, "a", Some(r#"{"tool_calls": []}"#)),
            (
                r#"{"output": [{"n": "a"}, {"n": "b"}, {"n": "c"}]}"#,
                "b",
                Some(r#"{"output": [{"n": "a"}, {"n": "c"}]}"#),
            ),
            (
                r#"{"output": [{"n": "a"}, {"n": "b"}, {"n": "c"}]}"#,
                "bc",
                Some(r#"{"output": [{"n": "a"}]}"#),
            ),
            (
                r#"{"output": [{"n": "a"}, {"n": "b"}, {"n": "c"}]}"#,
                "ac",
                Some(r#"{"output": [{"n": "b"}]}"#),
            ),
            (r#"{"parts": [{"n": "a"} , {"n": "b"}]}"#, "ab", Some(r#"{"parts": []}"#)),
            (
                r#"{"choices": [{"delta": {"role": "x", "function_call": {"n": "a"}}}]}"#,
                "a",
                Some(r#"{"choices": [{"delta": {"role": "x", "function_call": null}}]}"#),
            ),
            (
                r#"{"choices": [{"message": {"tool_calls": [{"f": {"n": "a"}}], "x": [1]}}]}"#,
                "a",
                Some(r#"{"choices": [{"message": {"tool_calls": [], "x": [1]}}]}"#),
            ),
            (r#"{"type": "delta", "n": "a"}"#, "a", None),
            (r#"{"choices": [{"n": "a"}]}"#, "a", None),
        ] {
            let places = names.chars().map(|name| {
                let start = payload.find(&format!("\"{name}\"")).unwrap();
                Span { start, end: start + 3 }
            });
            let left = without(payload, places.map(Some).collect());
            let Without::Edits(edits) = left else {
                let typed =
                    if payload.contains("type") { Without::Nothing } else { Without::Unknown };
                assert_eq!((left, None), (typed, want), "{payload}");
                continue;
            };
            let written = spliced(payload, edits);
            assert_eq!(Some(written.as_str()), want, "{payload} without {names}");
        }
    }
}
