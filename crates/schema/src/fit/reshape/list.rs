//! Proposals for places where a list is expected.

use wiremend_core::{Risk, Step};

use super::{Form, Proposal, Site, split::could_be_one_number};
use crate::{
    Rule,
    tree::{JsonType, equals, value},
};

pub(super) fn propose<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    if !site.part.allows(JsonType::Array) {
        return;
    }
    match site.node.kind() {
        JsonType::Array => {
            without_repetitions(site, found);
            return;
        }
        JsonType::Object if !site.part.allows(JsonType::Object) => {
            empty_object(site, found);
            single_key(site, found);
            numeric_keys(site, found);
        }
        JsonType::Null => null(site, found),
        _ => {}
    }
    wrap(site, found);
}

fn empty_object<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    if site.node.len() == 0 && site.part.min_items() == 0 {
        found.push(Proposal::text(Rule::EmptyObjectToArray, "[]"));
    }
}

fn null<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    if site.part.min_items() == 0 {
        found.push(Proposal::text(Rule::NullToEmpty, "[]"));
    }
}

/// Keys that only say that a list follows.
const LISTS: [&str; 14] = [
    "array", "children", "data", "elements", "entries", "item", "items", "list", "objects",
    "records", "result", "results", "rows", "values",
];

/// Unwraps objects such as `{"items": […]}`. A key that is a number or contains spaces is data, and
/// a key that does not name a list may describe its content (`{"excluded": […]}`).
fn single_key<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let mut members = site.node.children();
    let (Some(only), None) = (members.next(), members.next()) else { return };
    let key = only.key().unwrap_or_default();
    let name = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name && only.kind() == JsonType::Array {
        let key = key.to_ascii_lowercase();
        let own = site.place.path.last().is_some_and(|step| match step {
            Step::Key(own) => alike(&own.to_ascii_lowercase(), &key),
            Step::Index(_) => false,
        });
        let plain = LISTS.contains(&key.as_str()) || own;
        let risk = if plain { Risk::Exact } else { Risk::Guess };
        found.push(Proposal::inner(Rule::UnwrapSingleKeyList, only).with_risk(risk));
    }
}

/// Whether one name is equal to the other, or its plural.
fn alike(a: &str, b: &str) -> bool {
    let plural = |one: &str, many: &str| many.strip_suffix('s') == Some(one);
    a == b || plural(a, b) || plural(b, a)
}

/// Reads `{"0": a, "1": b}` as a list, if there are no gaps and the keys are in order. If the keys
/// begin with 1, the item 0 may be missing.
fn numeric_keys<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let counted = |from: usize| {
        let keys = site.node.children().enumerate();
        keys.into_iter().all(|(at, member)| member.has_key(&(at + from).to_string()))
    };
    let (zero, one) = (counted(0), counted(1));
    if site.node.len() > 0 && (zero || one) {
        let risk = if zero { Risk::Exact } else { Risk::Likely };
        let items: Vec<&str> = site.node.children().map(|member| member.raw()).collect();
        let list = format!("[{}]", items.join(", "));
        found.push(Proposal::text(Rule::NumericKeysToArray, list).with_risk(risk));
    }
}

/// Wraps a value that would be valid as the only item.
fn wrap<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let (node, part) = (site.node, site.part);
    // A list whose items should be lists was flattened, and wrapping each item would change its
    // meaning.
    let nothing = node.is_null() || node.kind() == JsonType::Object && node.len() == 0;
    if site.place.in_array || nothing || part.min_items() > 1 || !part.has_items() {
        return;
    }
    let item = part.item(0);
    let mut risk = Risk::Likely;
    if let Some(text) = node.as_str() {
        let text = text.trim();
        // Text that looks like a list is parsed as one by another rule, or left alone.
        let list = text.starts_with('[') || text.starts_with("```");
        let plain = item.allows(JsonType::String) && !item.is_narrow();
        let object = text.starts_with('{');
        let several = plain && !object && text.contains([',', '\n', ';']);
        if list || several || text.is_empty() {
            return;
        }
        if item.allows(JsonType::Number) && could_be_one_number(text, &item) {
            risk = Risk::Guess;
        }
    }
    // An object with none of the item's properties was meant to be something else.
    let alien = !item.properties().is_empty()
        && node.kind() == JsonType::Object
        && !node.children().any(|member| member.key().is_some_and(|key| item.declares(&key)));
    if alien {
        return;
    }
    let form = Form::Wrapped { before: "[".into(), after: "]", part: item, key: None };
    found.push(Proposal::new(Rule::WrapInArray, form).with_risk(risk));
}

/// Drops repeated scalars, if the items must be unique.
fn without_repetitions<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let unique = site.part.shapes().any(|shape| shape.unique_items);
    if !unique || site.node.children().any(|item| item.is_container()) {
        return;
    }
    let mut kept: Vec<(&str, serde_json::Value)> = Vec::new();
    for item in site.node.children() {
        let Some(own) = value(item) else { return };
        if !kept.iter().any(|(_, other)| equals(item, other)) {
            kept.push((item.raw(), own));
        }
    }
    if kept.len() < site.node.len() {
        let items: Vec<&str> = kept.iter().map(|(raw, _)| *raw).collect();
        found.push(Proposal::text(Rule::DedupeItems, format!("[{}]", items.join(", "))));
    }
}
