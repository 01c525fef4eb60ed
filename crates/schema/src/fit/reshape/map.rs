//! Maps that were written as lists of pairs, and the reverse.

use wiremend_core::Risk;

use super::{Proposal, Site};
use crate::{
    Rule,
    part::Part,
    tree::{JsonType, Node, quoted},
};

const KEY_NAMES: [&str; 6] = ["key", "name", "k", "id", "field", "property"];
const VALUE_NAMES: [&str; 3] = ["value", "val", "v"];

pub(super) fn propose<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let (node, part) = (site.node, site.part);
    match node.kind() {
        JsonType::Array if part.allows(JsonType::Object) && !part.allows(JsonType::Array) => {
            if let Some(map) = from_pairs(site) {
                found.push(Proposal::text(Rule::PairsToMap, map));
            }
            if let Some(object) = positional(site) {
                found.push(Proposal::text(Rule::PositionalArray, object));
            }
        }
        JsonType::Object if part.allows(JsonType::Array) && !part.allows(JsonType::Object) => {
            if let Some((pairs, risk)) = to_pairs(site) {
                found.push(Proposal::text(Rule::MapToPairs, pairs).with_risk(risk));
            }
        }
        _ => {}
    }
}

/// Reads `[["a", 1]]` and `[{"key": "a", "value": 1}]` as an object, if its names are not declared.
fn from_pairs(site: &Site<'_, '_, '_>) -> Option<String> {
    if site.part.further().is_none() || !site.part.properties().is_empty() || site.node.len() == 0 {
        return None;
    }
    let mut members: Vec<(String, &str)> = Vec::new();
    for item in site.node.children() {
        let (key, value) = pair(item)?;
        let key = key.as_str()?.into_owned();
        if members.iter().any(|(other, _)| *other == key) {
            return None;
        }
        members.push((key, value.raw()));
    }
    Some(object(members.iter().map(|(key, value)| (key.as_str(), *value))))
}

fn pair<'t>(item: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
    let mut parts = item.children();
    let (Some(first), Some(second), None) = (parts.next(), parts.next(), parts.next()) else {
        return None;
    };
    if item.kind() == JsonType::Array {
        return Some((first, second));
    }
    let is = |node: Node<'_>, names: &[&str]| names.iter().any(|name| node.has_key(name));
    if is(first, &KEY_NAMES) && is(second, &VALUE_NAMES) {
        Some((first, second))
    } else if is(second, &KEY_NAMES) && is(first, &VALUE_NAMES) {
        Some((second, first))
    } else {
        None
    }
}

/// Reads `{"a": 1}` as a list of objects with a name and a value. If their properties have other
/// names, the object could also be one item with the wrong names.
fn to_pairs(site: &Site<'_, '_, '_>) -> Option<(String, Risk)> {
    let item = site.part.item(0);
    let required = item.required();
    let [first, second] = required.as_slice() else { return None };
    // An object with one of these properties is a single item.
    if site.node.len() == 0 || [first, second].iter().any(|name| site.node.member(name).is_some()) {
        return None;
    }
    let (key, value, risk) = name_and_value(&item, first, second)?;
    let pairs: Vec<String> = site
        .node
        .children()
        .map(|member| {
            let name = quoted(&member.key().unwrap_or_default());
            object([(key, name.as_str()), (value, member.raw())])
        })
        .collect();
    Some((format!("[{}]", pairs.join(", ")), risk))
}

/// Decides which of two properties is the name: by what they are called, or because only one is a
/// string.
fn name_and_value<'n>(
    item: &Part<'_>,
    first: &'n str,
    second: &'n str,
) -> Option<(&'n str, &'n str, Risk)> {
    let is_text =
        |name: &str| item.property(name).is_some_and(|part| part.allows(JsonType::String));
    let called = |key: &str, value: &str| KEY_NAMES.contains(&key) && VALUE_NAMES.contains(&value);
    if called(first, second) {
        return is_text(first).then_some((first, second, Risk::Exact));
    }
    if called(second, first) {
        return is_text(second).then_some((second, first, Risk::Exact));
    }
    match (is_text(first), is_text(second)) {
        (true, false) => Some((first, second, Risk::Guess)),
        (false, true) => Some((second, first, Risk::Guess)),
        _ => None,
    }
}

/// Assigns values to the properties in order, if their types leave only one way.
fn positional(site: &Site<'_, '_, '_>) -> Option<String> {
    let required = site.part.required();
    let names: Vec<&str> =
        site.part.properties().into_iter().filter(|name| required.contains(name)).collect();
    if names.len() < 2 || names.len() != site.node.len() {
        return None;
    }
    let types: Vec<_> = names
        .iter()
        .filter_map(|name| site.part.property(name).map(|part| part.allowed()))
        .collect();
    let distinct = types
        .iter()
        .enumerate()
        .all(|(at, own)| types.iter().skip(at + 1).all(|other| !own.has(*other)));
    distinct.then(|| object(names.into_iter().zip(site.node.children().map(|item| item.raw()))))
}

/// An object with these members, whose values are JSON texts.
pub(super) fn object<'m>(members: impl IntoIterator<Item = (&'m str, &'m str)>) -> String {
    let members: Vec<String> =
        members.into_iter().map(|(key, value)| format!("{}: {value}", quoted(key))).collect();
    format!("{{{}}}", members.join(", "))
}
