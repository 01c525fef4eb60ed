//! Objects around the whole value, and values that lack the object that should be around them.

use wiremend_core::Risk;

use super::{Form, Proposal, Site, scalar::is_echo};
use crate::{
    Rule,
    issue::is_schema,
    judge::Judge,
    part::Part,
    tree::{JsonType, Node, quoted},
};

/// Keys under which models put the arguments of a call, or an answer.
const CARRIERS: [&str; 16] = [
    "arguments",
    "parameters",
    "params",
    "input",
    "inputs",
    "args",
    "kwargs",
    "result",
    "response",
    "data",
    "output",
    "json",
    "json_tool_call",
    "tool_input",
    "function_args",
    "$PARAMETER_NAME",
];
/// Keys under which models put the name of a tool.
const NAMES: [&str; 6] = ["name", "tool", "tool_name", "function", "function_name", "action"];
/// Other keys of a call, besides its name and arguments.
const BESIDE: [&str; 3] = ["type", "id", "call_id"];

pub(super) fn propose<'t, 's>(
    site: &Site<'t, 's, '_>,
    judge: &mut Judge<'_>,
    found: &mut Vec<Proposal<'t, 's>>,
) {
    if !site.place.is_root {
        return;
    }
    if site.node.kind() == JsonType::Object {
        envelope(site, found);
        echo(site, found);
    }
    missing(site, judge, found);
}

fn envelope<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let declares = |key: &str| site.part.declares(key);
    let is_own = |name: &str| {
        let bare = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
        site.name.is_some_and(|own| own == name || own == bare)
            || site.part.title().is_some_and(|title| title == name)
    };
    let mut carried: Option<Node<'t>> = None;
    let mut named: Option<bool> = None;
    let mut beside = false;
    for member in site.node.children() {
        let key = member.key().unwrap_or_default();
        let key = key.as_ref();
        if declares(key) {
            return;
        }
        let carries = CARRIERS.contains(&key) || is_own(key);
        let name = member.as_str();
        if carries && (member.is_container() || name.is_some()) && carried.is_none() {
            carried = Some(member);
        } else if let Some(name) = name.filter(|_| NAMES.contains(&key) && named.is_none()) {
            named = Some(is_own(&name));
        } else if BESIDE.contains(&key) {
            beside = true;
        } else {
            return;
        }
    }
    let Some(carried) = carried else { return };
    let rule = match (named, site.name) {
        (None | Some(true), _) => Rule::UnwrapEnvelope,
        // The call is to another tool.
        (Some(false), Some(_)) => return,
        (Some(false), None) => Rule::UnwrapNamedEnvelope,
    };
    // The other members are part of the call only if this is known to be one.
    let risk = if beside && named.is_none() { Risk::Lossy } else { Risk::Likely };
    let proposal = Proposal::inner(rule, carried).with_cap(rule.risk().max(Risk::Likely));
    found.push(proposal.with_risk(risk));
}

/// The values in the place of the schema's properties.
fn echo<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    const SCHEMA: [&str; 8] = [
        "type",
        "properties",
        "required",
        "title",
        "description",
        "$schema",
        "additionalProperties",
        "$defs",
    ];
    let only_schema = site.node.children().all(|member| {
        member.key().is_some_and(|key| SCHEMA.contains(&key.as_ref()) && !site.part.declares(&key))
    });
    let inner = site.node.member("properties").filter(|node| node.kind() == JsonType::Object);
    if let Some(inner) = inner.filter(|inner| only_schema && !inner.children().any(is_schema)) {
        // Text that differs from the schema's own may have been part of the answer.
        let words = site.node.children().filter(|member| {
            member.key().is_some_and(|key| matches!(key.as_ref(), "title" | "description"))
        });
        let known = words.into_iter().all(|member| is_echo(site, member));
        let risk = if known { Risk::Exact } else { Risk::Lossy };
        let proposal = Proposal::inner(Rule::SchemaEchoRoot, inner).with_cap(Risk::Likely);
        found.push(proposal.with_risk(risk));
    }
}

/// The only property that could hold the value.
fn missing<'t, 's>(
    site: &Site<'t, 's, '_>,
    judge: &mut Judge<'_>,
    found: &mut Vec<Proposal<'t, 's>>,
) {
    if !site.part.allows(JsonType::Object) {
        return;
    }
    let required = site.part.required();
    let properties = site.part.properties();
    let key = match (required.as_slice(), properties.as_slice()) {
        ([key], _) | ([], [key]) => *key,
        _ => return,
    };
    // An object with properties of this level is incomplete; it does not lack an envelope.
    let object = site.node.kind() == JsonType::Object;
    let own = site
        .node
        .children()
        .any(|member| member.key().is_some_and(|name| site.part.declares(&name)));
    let Some(part) = site.part.property(key).filter(|_| !(object && (own || site.node.len() == 0)))
    else {
        return;
    };
    let Some(risk) = risk_of_wrapping(site, judge, key, &part) else { return };
    let risk = if site.in_sentence { Risk::Guess } else { risk };
    let before = format!("{{{}: ", quoted(key));
    let form = Form::Wrapped { before, after: "}", part, key: Some(key.to_owned()) };
    // The value must be valid for the property, except for the spelling of scalars.
    let proposal = Proposal::new(Rule::MissingEnvelope, form).with_cap(Risk::Exact);
    found.push(proposal.with_risk(risk));
}

/// How certain it is that a value belongs in a property of the missing object. `None` if renaming a
/// property is the better explanation.
fn risk_of_wrapping(
    site: &Site<'_, '_, '_>,
    judge: &mut Judge<'_>,
    key: &str,
    property: &Part<'_>,
) -> Option<Risk> {
    match site.node.kind() {
        kind if !property.allows(kind) => Some(Risk::Guess),
        // Any text could be a string, and a pattern may match a lot. A listed value is recognised
        // by its name.
        JsonType::String if property.options().is_some() => Some(Risk::Exact),
        JsonType::String if property.is_narrow() => Some(Risk::Likely),
        JsonType::String => Some(Risk::Guess),
        JsonType::Object => {
            let declared = site
                .node
                .children()
                .filter(|member| member.key().is_some_and(|name| property.names(&name)))
                .count();
            let mut members = site.node.children();
            let only = members.next().filter(|_| members.next().is_none());
            match declared {
                0 if only.is_some_and(|only| property.accepts(judge, only))
                    && site.part.requires(key) =>
                {
                    None
                }
                0 => Some(Risk::Guess),
                all if all == site.node.len() => Some(Risk::Exact),
                _ => Some(Risk::Likely),
            }
        }
        _ => Some(Risk::Exact),
    }
}
