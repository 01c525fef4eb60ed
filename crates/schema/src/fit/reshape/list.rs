//! Values for lists.

use super::{Form, Proposal, Site};
use crate::{
    Rule,
    tree::{JsonKind, equals, value},
};

pub(super) fn propose<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    if !site.part.allows(JsonKind::Array) {
        return;
    }
    match site.node.kind() {
        JsonKind::Array => {
            without_repetitions(site, found);
            return;
        }
        JsonKind::Object if !site.part.allows(JsonKind::Object) => {
            empty_object(site, found);
            single_key(site, found);
            numeric_keys(site, found);
        }
        JsonKind::Null => null(site, found),
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

/// `{"items": […]}`. A key that is a number or has spaces in it is data.
fn single_key<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let mut members = site.node.children();
    let (Some(only), None) = (members.next(), members.next()) else { return };
    let key = only.key().unwrap_or_default();
    let name = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name && only.kind() == JsonKind::Array {
        found.push(Proposal::inner(Rule::UnwrapSingleKeyList, only));
    }
}

/// `{"0": a, "1": b}`, without gaps and in order.
fn numeric_keys<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let counted = |from: usize| {
        let keys = site.node.children().enumerate();
        keys.into_iter().all(|(at, member)| member.has_key(&(at + from).to_string()))
    };
    if site.node.len() > 0 && (counted(0) || counted(1)) {
        let items: Vec<&str> = site.node.children().map(|member| member.raw()).collect();
        found.push(Proposal::text(Rule::NumericKeysToArray, format!("[{}]", items.join(", "))));
    }
}

/// A value that would be valid as the only item.
fn wrap<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let (node, part) = (site.node, site.part);
    // A list whose items are not lists was flattened: wrapping each would make it something else.
    let nothing = node.is_null() || node.kind() == JsonKind::Object && node.len() == 0;
    if site.place.in_array || nothing || part.min_items() > 1 || !part.has_items() {
        return;
    }
    let item = part.item(0);
    if let Some(text) = node.as_str() {
        let text = text.trim();
        // Text that is a list is read as one, by another rule or not at all.
        let list = text.starts_with('[') || text.starts_with("```");
        let plain = item.allows(JsonKind::String) && !item.is_narrow();
        let object = text.starts_with('{');
        let several = plain && !object && text.contains([',', '\n', ';']);
        if list || several || text.is_empty() {
            return;
        }
    }
    // An object that has none of the properties of an item is something else.
    let alien = !item.properties().is_empty()
        && node.kind() == JsonKind::Object
        && !node.children().any(|member| member.key().is_some_and(|key| item.declares(&key)));
    if alien {
        return;
    }
    let form = Form::Wrapped { before: "[".into(), after: "]", part: item, key: None };
    found.push(Proposal::new(Rule::WrapInArray, form));
}

/// Scalars that are repeated, where the list must not repeat any.
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
