//! Proposals for places where a scalar is expected: other spellings, and unwrapping.

use wiremend_core::Risk;

use super::{Proposal, Site};
use crate::{
    Rule,
    coerce::{coerce_node, means_nothing},
    compile::Types,
    tree::{JsonType, Node, quoted},
};

/// Names under which models wrap a single value.
const VALUE_KEYS: [&str; 5] = ["value", "val", "_value", "$value", "Value"];
/// Keywords of schemas that models write beside a value.
const SCHEMA_KEYS: [&str; 6] = ["type", "format", "title", "description", "nullable", "required"];

pub(super) fn propose<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    for coerced in coerce_node(site.node, site.part) {
        let proposal = Proposal::text(coerced.rule, coerced.text);
        found.push(proposal.with_risk(coerced.risk));
    }
    null_word(site, found);
    match site.node.kind() {
        JsonType::Object if !site.part.allows(JsonType::Object) => {
            placeholder(site, found);
            schema_leaf(site, found);
            written_out(site, found);
        }
        JsonType::Array if !site.part.allows(JsonType::Array) => {
            single(site, found);
            written_out(site, found);
            joined(site, found);
        }
        _ => {}
    }
}

/// Replaces a word for nothing, if `null` is allowed and a string is not.
fn null_word<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let Some(text) = site.node.as_str().filter(|_| site.part.allows(JsonType::Null)) else {
        return;
    };
    let word = text.trim().to_lowercase();
    if means_nothing(&word) && !site.place.takes_strings {
        found.push(Proposal::text(Rule::NullWords, "null"));
    }
}

/// Unwraps `{"value": x}`, if the other members are keywords of a schema. Text in them that is not
/// from the schema is lost.
fn placeholder<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let own = site.place.path.last().and_then(|step| match step {
        wiremend_core::Step::Key(key) => Some(&**key),
        wiremend_core::Step::Index(_) => None,
    });
    let is_word =
        |member: &Node<'_>| member.key().is_some_and(|key| SCHEMA_KEYS.contains(&key.as_ref()));
    let mut data = site.node.children().filter(|member| !is_word(member));
    let (Some(only), None) = (data.next(), data.next()) else { return };
    let key = only.key().unwrap_or_default();
    if VALUE_KEYS.contains(&key.as_ref()) || own == Some(key.as_ref()) {
        let known = site.node.children().filter(is_word).all(|member| is_echo(site, member));
        let risk = if known { Risk::Exact } else { Risk::Lossy };
        found.push(Proposal::inner(Rule::PlaceholderObject, only).with_risk(risk));
    }
}

/// Whether a member repeats what the schema says about this place.
pub(super) fn is_echo(site: &Site<'_, '_, '_>, member: Node<'_>) -> bool {
    let (key, text) = (member.key().unwrap_or_default(), member.as_str());
    let text = text.as_deref();
    match key.as_ref() {
        "type" => text.is_some_and(|name| site.part.allowed().has(Types::named(name))),
        "format" => text.is_some() && text == site.part.format(),
        "title" => text.is_some() && text == site.part.title(),
        "description" => text.is_some() && text == site.part.description(),
        "nullable" | "required" => member.kind() == JsonType::Boolean,
        _ => false,
    }
}

/// Reads `{"type": "string", "description": "Ada"}` as a value that was written in the place of a
/// description.
fn schema_leaf<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let mut types = false;
    let mut rest: Option<Node<'t>> = None;
    for member in site.node.children() {
        let key = member.key().unwrap_or_default();
        let text = member.as_str();
        if key == "type"
            && text.as_deref().is_some_and(|name| site.part.allowed().has(Types::named(name)))
        {
            types = true;
        } else if rest.replace(member).is_some() {
            return;
        }
    }
    let Some(rest) = rest.filter(|rest| types && !rest.is_container()) else { return };
    let text = rest.as_str();
    let echoed = text.is_some() && text.as_deref() == site.part.description();
    let titled = text.is_some() && text.as_deref() == site.part.title();
    if !echoed && !titled {
        found.push(Proposal::inner(Rule::SchemaEchoLeaf, rest));
    }
}

/// Unwraps a list with exactly one item.
fn single<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let mut items = site.node.children();
    let (Some(only), None) = (items.next(), items.next()) else { return };
    let rule = if site.part.options().is_some() {
        Rule::EnumSingleList
    } else if site.place.is_root && only.kind() == JsonType::Object {
        Rule::RootSingleList
    } else {
        Rule::SingleElement
    };
    if !only.is_null() {
        found.push(Proposal::inner(rule, only));
    }
}

/// Writes an object or array as text, for a string.
fn written_out<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    if !site.part.allows(JsonType::String) || site.part.options().is_some() {
        return;
    }
    let description = site.part.description().unwrap_or_default().to_lowercase();
    let described = description.split(|c: char| !c.is_alphanumeric()).any(|word| word == "json");
    let media = site.part.shapes().filter_map(|shape| shape.media_type.as_deref());
    let typed =
        media.into_iter().any(|media| media == "application/json" || media.ends_with("+json"));
    let rule = if described || typed { Rule::JsonToString } else { Rule::JsonToText };
    found.push(Proposal::text(rule, quoted(site.node.raw())));
}

/// Joins several strings into one. Off by default.
fn joined<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let strings: Option<Vec<_>> = site.node.children().map(|item| item.as_str()).collect();
    if let Some(strings) =
        strings.filter(|strings| strings.len() > 1 && site.part.allows(JsonType::String))
    {
        found.push(Proposal::text(Rule::JoinArray, quoted(&strings.join(", "))));
    }
}
