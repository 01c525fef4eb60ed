//! Proposals of the rules that restructure a node that is not valid.
//!
//! [`proposals`] runs them in order: JSON in a string, scalars, envelopes, lists, text with several items, maps, and
//! members at another level. The fitter realises each proposal and keeps those that are valid.

use wiremend_core::{MendOptions, Policy, Risk, Step, TrailingDocuments, mend};

use super::Location;
use crate::{
    Rule, Tree,
    coerce::{coerce_node, means_nothing},
    compile::Types,
    issue::is_schema,
    judge::Judge,
    part::Part,
    tree::{JsonType, Node, equals, quoted, value},
};

/// A node that is not valid, and its place.
pub(super) struct Site<'t, 's, 'p> {
    pub(super) node: Node<'t>,
    pub(super) part: &'p Part<'s>,
    pub(super) place: &'p Location,
    /// The name of the tool or type.
    pub(super) name: Option<&'p str>,
    pub(super) max_risk: Risk,
    /// Whether the value was found in a sentence.
    pub(super) in_sentence: bool,
}

/// A form that a rule proposes.
pub(super) enum Form<'t, 's> {
    /// A nested node replaces the node.
    Inner(Node<'t>),
    /// A JSON text replaces the node.
    Text(String),
    /// The node is wrapped, and becomes the value of another part of the schema.
    Wrapped {
        before: String,
        after: &'static str,
        part: Part<'s>,
        /// The property that the node becomes; `None` for an item of a list.
        key: Option<String>,
    },
}

pub(super) struct Proposal<'t, 's> {
    pub(super) rule: Rule,
    /// The risk of the rule, or a higher one.
    pub(super) risk: Risk,
    pub(super) form: Form<'t, 's>,
    /// The highest risk that repairs inside the new form may have.
    pub(super) cap: Option<Risk>,
}

impl<'t, 's> Proposal<'t, 's> {
    fn new(rule: Rule, form: Form<'t, 's>) -> Self {
        Self { rule, risk: rule.risk(), form, cap: None }
    }

    fn text(rule: Rule, text: impl Into<String>) -> Self {
        Self::new(rule, Form::Text(text.into()))
    }

    fn inner(rule: Rule, node: Node<'t>) -> Self {
        Self::new(rule, Form::Inner(node))
    }

    fn with_risk(mut self, risk: Risk) -> Self {
        self.risk = self.risk.max(risk);
        self
    }

    fn with_cap(mut self, cap: Risk) -> Self {
        self.cap = Some(cap);
        self
    }
}

/// Collects the proposals of all rules, in the order of the rules.
pub(super) fn proposals<'t, 's>(
    site: &Site<'t, 's, '_>,
    judge: &mut Judge<'_>,
) -> Vec<Proposal<'t, 's>> {
    let mut found = Vec::new();
    let mut run = |rule: fn(&Site<'t, 's, '_>, &mut Vec<Proposal<'t, 's>>)| rule(site, &mut found);
    run(propose_parsed);
    run(propose_scalar);
    propose_envelope(site, judge, &mut found);
    let mut run = |rule: fn(&Site<'t, 's, '_>, &mut Vec<Proposal<'t, 's>>)| rule(site, &mut found);
    run(propose_list);
    run(propose_split);
    run(propose_map);
    run(propose_object);
    found
}

fn propose_parsed<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let (node, part) = (site.node, site.part);
    let wanted = part.allows(JsonType::Array) || part.allows(JsonType::Object);
    let Some(text) = node.as_str().filter(|_| wanted) else { return };
    let text = text.trim();
    let fenced = text.starts_with("```") || text.starts_with("~~~");
    if !text.starts_with(['[', '{']) && !fenced {
        return;
    }
    let rule = if fenced {
        Rule::FenceInString
    } else if site.place.is_root {
        Rule::UnwrapDoubleEncodedRoot
    } else {
        Rule::UnwrapStringified
    };
    // If another string would be valid, this one may have been meant as a string too.
    let takes_strings = site.place.takes_strings || part.allows(JsonType::String);
    if Tree::read(text).is_ok() {
        let risk = if takes_strings { Risk::Likely } else { Risk::Exact };
        found.push(Proposal::text(rule, text).with_risk(risk));
        return;
    }
    // In that case it is parsed only if nothing is missing from it.
    if takes_strings {
        return;
    }
    let policy = Policy::PERMISSIVE.at_most(site.max_risk);
    let options = MendOptions::new()
        .with_policy(policy)
        .with_trailing_documents(TrailingDocuments::Error)
        .with_guide(part.guide());
    let mended = mend(text.as_bytes(), &options);
    let lossy = mended.repairs().kinds().any(|(kind, _)| kind.risk() == Risk::Lossy);
    let risk = mended.repairs().risk();
    if let Some(inner) = mended.text().filter(|inner| inner.starts_with(['[', '{']) && !lossy) {
        found.push(Proposal::text(rule, inner).with_risk(risk.unwrap_or(Risk::Exact)));
    }
}

/// Names under which models wrap a single value.
const VALUE_KEYS: [&str; 5] = ["value", "val", "_value", "$value", "Value"];
/// Keywords of schemas that models write beside a value.
const SCHEMA_KEYS: [&str; 6] = ["type", "format", "title", "description", "nullable", "required"];

fn propose_scalar<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
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
fn is_echo(site: &Site<'_, '_, '_>, member: Node<'_>) -> bool {
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

fn propose_envelope<'t, 's>(
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
    missing_envelope(site, judge, found);
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
fn missing_envelope<'t, 's>(
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

fn propose_list<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
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

/// The most items that a text is split into.
const MOST: usize = 1_000;

fn propose_split<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let (part, wanted) = (site.part, site.part.allows(JsonType::Array) && site.part.has_items());
    let Some(text) = site.node.as_str().filter(|_| wanted && !part.allows(JsonType::String)) else {
        return;
    };
    let text = text.trim();
    if text.starts_with(['[', '{', '`']) || site.place.takes_strings {
        return;
    }
    if text.contains('\n') {
        lines(text, found);
    } else {
        commas(site, text, found);
    }
}

fn array(items: &[&str]) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    format!("[{}]", items.join(", "))
}

/// Two or more values separated by commas. Sentences are not split.
fn commas<'t, 's>(site: &Site<'t, 's, '_>, text: &str, found: &mut Vec<Proposal<'t, 's>>) {
    let separator = if text.contains(';') { ';' } else { ',' };
    let items: Vec<&str> = text.split(separator).map(str::trim).collect();
    if items.len() < 2 || items.len() > MOST || items.iter().any(|item| item.is_empty()) {
        return;
    }
    let item = site.part.item(0);
    let checked = item.options().is_some()
        || item.format().is_some()
        || !item.allowed().has(Types::STRING) && !item.allows(JsonType::Array);
    let sentence = text.contains(['"', '!', '?', '(', ')'])
        || text.contains(". ")
        || text.ends_with('.')
        || items.iter().any(|item| {
            item.split_whitespace().count() > 4
                || item.starts_with("and ")
                || item.starts_with("or ")
        });
    if checked && separator == ',' {
        let one = item.allows(JsonType::Number) && could_be_one_number(text, &item);
        let risk = if one { Risk::Guess } else { Risk::Likely };
        let proposal = Proposal::text(Rule::CsvEnumToArray, array(&items));
        found.push(proposal.with_risk(risk));
    } else if !sentence {
        found.push(Proposal::text(Rule::CsvToArray, array(&items)));
    }
}

/// Whether the commas in a text may be those of one number: between groups of digits (`1,234`), or
/// before a fraction (`3,14`).
fn could_be_one_number(text: &str, item: &Part<'_>) -> bool {
    let text = text.trim();
    let parts: Vec<&str> = text.strip_prefix('-').unwrap_or(text).split(',').collect();
    let (Some((first, rest)), true) = (parts.split_first(), parts.len() > 1) else { return false };
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let grouped = first.len() <= 3 && rest.iter().all(|part| part.len() == 3);
    let decimal = rest.len() == 1 && !item.allowed().is_whole_only();
    parts.iter().all(digits) && (grouped || decimal)
}

fn lines<'t, 's>(text: &str, found: &mut Vec<Proposal<'t, 's>>) {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() < 2 || lines.len() > MOST {
        return;
    }
    let marked: Vec<&str> = lines.iter().filter_map(|line| unmarked(line)).collect();
    if marked.len() == lines.len() {
        found.push(Proposal::text(Rule::ListMarksToArray, array(&marked)));
    } else if marked.is_empty() {
        let bare: Vec<&str> = lines.iter().map(|line| line.trim_end_matches(',')).collect();
        found.push(Proposal::text(Rule::LinesToArray, array(&bare)));
    }
}

/// A line without a leading `-`, `*`, `•`, `1.` or `1)`.
fn unmarked(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '+']) {
        return rest.starts_with(' ').then(|| rest.trim());
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix(['.', ')']).filter(|_| rest.len() < line.len())?;
    rest.starts_with(' ').then(|| rest.trim())
}

const KEY_NAMES: [&str; 6] = ["key", "name", "k", "id", "field", "property"];
const VALUE_NAMES: [&str; 3] = ["value", "val", "v"];

fn propose_map<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
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
fn object<'m>(members: impl IntoIterator<Item = (&'m str, &'m str)>) -> String {
    let members: Vec<String> =
        members.into_iter().map(|(key, value)| format!("{}: {value}", quoted(key))).collect();
    format!("{{{}}}", members.join(", "))
}

fn propose_object<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    if !site.part.allows(JsonType::Object) {
        return;
    }
    if site.node.is_null() && site.part.required().is_empty() {
        found.push(Proposal::text(Rule::NullToEmpty, "{}"));
    }
    if site.node.kind() != JsonType::Object || site.part.has_patterns() {
        return;
    }
    let forms = [
        (Rule::DottedKeys, nested(site)),
        (Rule::DottedKeys, flattened(site)),
        (Rule::HoistNested, hoisted(site)),
        (Rule::SinkNested, sunk(site)),
    ];
    for (rule, form) in forms {
        found.extend(form.map(|text| Proposal::text(rule, text)));
    }
}

/// An object under construction. Each key has a JSON text or further members.
#[derive(Default)]
struct Members(Vec<(String, Content)>);

enum Content {
    Raw(String),
    Members(Vec<(String, String)>),
}

impl Members {
    fn raw(&mut self, key: &str, node: Node<'_>) {
        self.0.push((key.to_owned(), Content::Raw(node.raw().to_owned())));
    }

    /// Adds a member to the object under `key`, which is created if necessary.
    fn below(&mut self, key: &str, inner: &str, node: Node<'_>) {
        let member = (inner.to_owned(), node.raw().to_owned());
        for (own, content) in &mut self.0 {
            if own == key {
                if let Content::Members(members) = content {
                    members.push(member);
                }
                return;
            }
        }
        self.0.push((key.to_owned(), Content::Members(vec![member])));
    }

    fn text(&self) -> String {
        let texts: Vec<(&str, String)> = self
            .0
            .iter()
            .map(|(key, content)| {
                let text = match content {
                    Content::Raw(raw) => raw.clone(),
                    Content::Members(members) => {
                        object(members.iter().map(|(key, value)| (key.as_str(), value.as_str())))
                    }
                };
                (key.as_str(), text)
            })
            .collect();
        object(texts.iter().map(|(key, text)| (*key, text.as_str())))
    }
}

/// Expands `{"a.b": 1}` if `a` is an object that declares `b`.
fn nested(site: &Site<'_, '_, '_>) -> Option<String> {
    let mut members = Members::default();
    let mut moved = false;
    for member in site.node.children() {
        let key = member.key()?;
        let split = key.split_once('.').filter(|(head, rest)| {
            let inner = site.part.property(head).is_some_and(|part| part.declares(rest));
            inner && !site.part.declares(&key) && site.node.member(head).is_none()
        });
        match split {
            Some((head, rest)) => {
                moved = true;
                members.below(head, rest, member);
            }
            None => members.raw(&key, member),
        }
    }
    moved.then(|| members.text())
}

/// Flattens `{"a": {"b": 1}}` if `a.b` is declared and `a` is not.
fn flattened(site: &Site<'_, '_, '_>) -> Option<String> {
    let mut members = Members::default();
    let mut moved = false;
    for member in site.node.children() {
        let key = member.key()?;
        let dotted = |inner: Node<'_>| format!("{key}.{}", inner.key().unwrap_or_default());
        let all = member.kind() == JsonType::Object
            && member.len() > 0
            && !site.part.declares(&key)
            && member.children().all(|inner| site.part.declares(&dotted(inner)));
        if all {
            moved = true;
            for inner in member.children() {
                members.raw(&dotted(inner), inner);
            }
        } else {
            members.raw(&key, member);
        }
    }
    moved.then(|| members.text())
}

/// Moves up a missing property that is present in exactly one nested object, which does not declare
/// it.
fn hoisted(site: &Site<'_, '_, '_>) -> Option<String> {
    let missing = site.part.required().into_iter().find(|name| site.node.member(name).is_none())?;
    let mut holders = site.node.children().filter(|member| {
        let declared = member.key().is_some_and(|key| site.part.member(&key).declares(missing));
        member.member(missing).is_some() && !declared
    });
    let (Some(holder), None) = (holders.next(), holders.next()) else { return None };
    let mut members = Members::default();
    for member in site.node.children() {
        let key = member.key()?;
        if member.index() == holder.index() {
            let rest: Vec<(String, String)> = member
                .children()
                .filter(|inner| !inner.has_key(missing))
                .map(|inner| (inner.key().unwrap_or_default().into_owned(), inner.raw().to_owned()))
                .collect();
            members.0.push((key.into_owned(), Content::Members(rest)));
        } else {
            members.raw(&key, member);
        }
    }
    members.raw(missing, holder.member(missing)?);
    Some(members.text())
}

/// Moves down an undeclared property that is missing in exactly one nested object.
fn sunk(site: &Site<'_, '_, '_>) -> Option<String> {
    let unknown = site
        .node
        .children()
        .find(|member| member.key().is_some_and(|key| !site.part.declares(&key)))?;
    let name = unknown.key()?;
    let mut takers = site.node.children().filter(|member| {
        let part = member.key().map(|key| site.part.member(&key));
        let wants = part.is_some_and(|part| part.requires(&name));
        member.kind() == JsonType::Object && wants && member.member(&name).is_none()
    });
    let (Some(taker), None) = (takers.next(), takers.next()) else { return None };
    let mut members = Members::default();
    for member in site.node.children().filter(|member| member.index() != unknown.index()) {
        let key = member.key()?;
        if member.index() == taker.index() {
            let own = member.children().chain([unknown]);
            let inner = own
                .map(|inner| (inner.key().unwrap_or_default().into_owned(), inner.raw().to_owned()))
                .collect();
            members.0.push((key.into_owned(), Content::Members(inner)));
        } else {
            members.raw(&key, member);
        }
    }
    Some(members.text())
}
