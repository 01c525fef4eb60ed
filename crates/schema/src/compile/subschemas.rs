//! The subschemas of a schema, and the targets of their references.
//!
//! References are resolved by the `jsonschema` library, which knows how identifiers, anchors and
//! relative addresses work in each draft. Nothing is fetched: a reference must lead to a place in
//! the schema or in one of the meta-schemas, or else the schema is rejected.

use std::collections::{HashMap, VecDeque};

use jsonschema::{Draft as Dialect, Registry};
use serde_json::{Map, Value};

use super::{SchemaError, checks::Dynamic, shape::ShapeId};

/// The URI by which the schema refers to itself.
const OWN_URI: &str = "json-schema:///wiremend";

/// Keywords whose value is a schema, with the first draft that has them.
const ONE: [(&str, Since); 11] = [
    ("additionalItems", Since::Draft4),
    ("additionalProperties", Since::Draft4),
    ("contains", Since::Draft6),
    ("else", Since::Draft7),
    ("if", Since::Draft7),
    ("items", Since::Draft4),
    ("not", Since::Draft4),
    ("propertyNames", Since::Draft6),
    ("then", Since::Draft7),
    ("unevaluatedItems", Since::Draft201909),
    ("unevaluatedProperties", Since::Draft201909),
];
/// Keywords whose value is a list of schemas.
const LIST: [(&str, Since); 5] = [
    ("allOf", Since::Draft4),
    ("anyOf", Since::Draft4),
    ("items", Since::Draft4),
    ("oneOf", Since::Draft4),
    ("prefixItems", Since::Draft202012),
];
/// Keywords whose value is an object of schemas.
const NAMED: [(&str, Since); 4] = [
    ("dependencies", Since::Draft4),
    ("dependentSchemas", Since::Draft201909),
    ("patternProperties", Since::Draft4),
    ("properties", Since::Draft4),
];
/// Keywords whose value is an object of schemas that apply only where they are referenced.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// The draft in which a keyword appeared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Since {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

impl Since {
    const fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Draft4 => Self::Draft4,
            Dialect::Draft6 => Self::Draft6,
            Dialect::Draft7 => Self::Draft7,
            Dialect::Draft201909 => Self::Draft201909,
            _ => Self::Draft202012,
        }
    }
}

/// Keywords that refer to another subschema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// One subschema.
pub(super) struct Subschema<'r> {
    /// Its location, as a JSON Pointer.
    pub(super) pointer: String,
    pub(super) value: &'r Value,
    pub(super) dialect: Dialect,
    /// The schema resource that contains it.
    pub(super) resource: u16,
    /// The targets of its references.
    pub(super) references: Vec<ShapeId>,
    pub(super) dynamic: Option<Dynamic>,
    /// The subschemas in its keywords, in the order of the schema.
    nested: Vec<Nested<'r>>,
}

/// A subschema in a keyword of another one.
struct Nested<'r> {
    keyword: &'r str,
    at: At<'r>,
    id: ShapeId,
}

/// Where in the value of a keyword a subschema is.
#[derive(Clone, Copy)]
enum At<'r> {
    /// It is the value.
    Whole,
    /// In a list.
    Item(usize),
    /// In an object, under this name.
    Member(&'r str),
}

impl At<'_> {
    /// The location, as a JSON Pointer. `outer` is that of the schema with the keyword.
    fn pointer(self, outer: &str, keyword: &str) -> String {
        match self {
            Self::Whole => join(outer, &[keyword]),
            Self::Item(index) => join(outer, &[keyword, &index.to_string()]),
            Self::Member(name) => join(outer, &[keyword, name]),
        }
    }
}

impl<'r> Subschema<'r> {
    fn nested(&self, keyword: &str) -> impl Iterator<Item = &Nested<'r>> {
        self.nested.iter().filter(move |nested| nested.keyword == keyword)
    }

    /// The subschema that is the value of a keyword.
    pub(super) fn one(&self, keyword: &str) -> Option<ShapeId> {
        let mut found = self.nested(keyword).filter(|nested| matches!(nested.at, At::Whole));
        found.next().map(|nested| nested.id)
    }

    /// The subschemas in the list that is the value of a keyword.
    pub(super) fn list(&self, keyword: &str) -> Vec<ShapeId> {
        let items = self.nested(keyword).filter(|nested| matches!(nested.at, At::Item(_)));
        items.map(|nested| nested.id).collect()
    }

    /// The subschemas in the object that is the value of a keyword, with their names.
    pub(super) fn named(&self, keyword: &str) -> impl Iterator<Item = (&'r str, ShapeId)> {
        self.nested(keyword).filter_map(|nested| match nested.at {
            At::Member(name) => Some((name, nested.id)),
            At::Whole | At::Item(_) => None,
        })
    }
}

/// A subschema that is still to be added.
struct Waiting<'r, R> {
    pointer: String,
    value: &'r Value,
    dialect: Dialect,
    resolver: Option<R>,
    /// The subschema that contains it, and where.
    of: Option<(ShapeId, &'r str, At<'r>)>,
}

/// All subschemas of a schema.
pub(super) struct Subschemas<'r> {
    pub(super) list: Vec<Subschema<'r>>,
    /// The subschemas by the addresses of their values.
    ids: HashMap<usize, ShapeId>,
    /// The first place that is outside of the schema itself.
    pub(super) foreign: usize,
    /// The dynamic anchors of each resource.
    pub(super) anchors: Vec<HashMap<String, ShapeId>>,
}

/// The resolver for the references of a schema; `None` if it contains neither references nor names
/// for them.
pub(super) fn registry(
    schema: &Value,
    dialect: Dialect,
) -> Result<Option<Registry<'_>>, SchemaError> {
    if !has_names(schema) {
        return Ok(None);
    }
    Registry::new()
        .draft(dialect)
        .add(OWN_URI, schema)
        .and_then(jsonschema::RegistryBuilder::prepare)
        .map(Some)
        .map_err(|error| SchemaError::refers("", &error))
}

/// Whether a schema contains a reference, or a name that one could refer to.
fn has_names(schema: &Value) -> bool {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                let names = |key: &str| REFERENCES.contains(&key) || matches!(key, "$id" | "id");
                if members.iter().any(|(key, value)| names(key) && value.is_string()) {
                    return true;
                }
                open.extend(members.values());
            }
            _ => {}
        }
    }
    false
}

/// Collects all subschemas, including every target of a reference.
pub(super) fn collect<'r>(
    schema: &'r Value,
    dialect: Dialect,
    registry: Option<&'r Registry<'r>>,
) -> Result<Subschemas<'r>, SchemaError> {
    let own =
        jsonschema::uri::from_str(OWN_URI).map_err(|error| SchemaError::refers("", &error))?;
    let root = registry.map(|registry| registry.resolver(own));
    let mut parts = Subschemas::new();
    let mut numbers: HashMap<String, u16> = HashMap::new();
    // References to places that are not known as subschemas yet, but may turn out to be.
    let mut later = Vec::new();
    let first =
        Waiting { pointer: String::new(), value: schema, dialect, resolver: root, of: None };
    let mut queue = VecDeque::from([first]);
    let mut foreign = None;
    let (pointers, anchored) = match registry {
        Some(_) => pointers(schema),
        None => (HashMap::new(), false),
    };
    loop {
        while let Some(Waiting { pointer, value, dialect, resolver, of }) = queue.pop_front() {
            if !value.is_object() && !value.is_boolean() {
                continue;
            }
            if let Some(known) = parts.ids.get(&address(value)).copied() {
                parts.nest(of, known);
                continue;
            }
            let refused = |error: &dyn std::fmt::Display| SchemaError::refers(&pointer, error);
            let dialect = if value.as_object().is_some_and(|own| keyword(own, "$schema").is_some())
            {
                dialect.detect(value)
            } else {
                dialect
            };
            let resource = dialect.create_resource_ref(value);
            let is_resource = pointer.is_empty() || resource.id().is_some();
            let resolver = match resolver {
                Some(outer) => {
                    Some(outer.in_subresource(resource).map_err(|error| refused(&error))?)
                }
                None => None,
            };
            // Without references, all subschemas belong to one resource.
            let number = resolver.as_ref().map_or(0, |own| {
                let next = u16::try_from(numbers.len()).unwrap_or(u16::MAX);
                *numbers.entry(own.base_uri().as_str().to_owned()).or_insert(next)
            });
            let id = parts.add(pointer.clone(), value, dialect, number);
            parts.nest(of, id);
            if let Some(members) = value.as_object() {
                if let Some(resolver) = &resolver {
                    parts.note_anchors(members, is_resource, id);
                    for name in REFERENCES {
                        let reference = keyword(members, name).and_then(Value::as_str);
                        let Some(reference) = reference.filter(|_| applies(name, dialect)) else {
                            continue;
                        };
                        let found = resolver.lookup(reference).map_err(|error| refused(&error))?;
                        later.push((id, name, reference, found.into_inner()));
                    }
                }
                // Up to draft 7, the keywords beside a reference are ignored.
                if Since::of(dialect) > Since::Draft7 || keyword(members, "$ref").is_none() {
                    for_each_part(members, dialect, anchored, |keyword, at, part| {
                        queue.push_back(Waiting {
                            pointer: at.pointer(&pointer, keyword),
                            value: part,
                            dialect,
                            resolver: resolver.clone(),
                            of: Some((id, keyword, at)),
                        });
                    });
                }
            }
        }
        let open =
            later.iter().find(|(_, _, _, (target, ..))| !parts.ids.contains_key(&address(target)));
        let Some((from, _, reference, (target, resolver, dialect))) = open else { break };
        // A reference may lead to a place that no keyword leads to, or out of the schema.
        let pointer = match pointers.get(&address(target)) {
            Some(pointer) => pointer.clone(),
            None => {
                foreign.get_or_insert(parts.list.len());
                format!("{reference}#{}", parts.list.len())
            }
        };
        if !target.is_object() && !target.is_boolean() {
            let from = parts.list.get(from.0 as usize).map_or("", |subschema| &subschema.pointer);
            let reason = format!("{reference} leads to no schema");
            return Err(SchemaError::refers(from, &reason));
        }
        let (dialect, resolver) = (*dialect, Some(resolver.clone()));
        queue.push_back(Waiting { pointer, value: target, dialect, resolver, of: None });
    }
    parts.foreign = foreign.unwrap_or(parts.list.len());
    for (from, name, reference, (target, ..)) in later {
        let Some(target_id) = parts.ids.get(&address(target)).copied() else { continue };
        parts.refer(from, target_id, anchor(name, reference, target));
    }
    Ok(parts)
}

impl<'r> Subschemas<'r> {
    fn new() -> Self {
        Self { list: Vec::new(), ids: HashMap::new(), foreign: 0, anchors: Vec::new() }
    }

    fn add(
        &mut self,
        pointer: String,
        value: &'r Value,
        dialect: Dialect,
        resource: u16,
    ) -> ShapeId {
        let id = ShapeId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.ids.insert(address(value), id);
        let (references, dynamic, nested) = (Vec::new(), None, Vec::new());
        self.list.push(Subschema {
            pointer,
            value,
            dialect,
            resource,
            references,
            dynamic,
            nested,
        });
        while self.anchors.len() <= usize::from(resource) {
            self.anchors.push(HashMap::new());
        }
        id
    }

    /// Records where a subschema is nested.
    fn nest(&mut self, of: Option<(ShapeId, &'r str, At<'r>)>, id: ShapeId) {
        let Some((outer, keyword, at)) = of else { return };
        if let Some(outer) = self.list.get_mut(outer.0 as usize) {
            outer.nested.push(Nested { keyword, at, id });
        }
    }

    fn note_anchors(&mut self, members: &Map<String, Value>, is_resource: bool, id: ShapeId) {
        let Some(subschema) = self.list.get(id.0 as usize) else { return };
        let Some(anchors) = self.anchors.get_mut(usize::from(subschema.resource)) else { return };
        if let Some(name) = members.get("$dynamicAnchor").and_then(Value::as_str) {
            anchors.insert(name.to_owned(), id);
        }
        if is_resource && members.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            anchors.insert(String::new(), id);
        }
    }

    /// Records a reference. If only one resource has the anchor, the target is always the same.
    fn refer(&mut self, from: ShapeId, target: ShapeId, anchor: Option<String>) {
        let several = |anchor: &String| {
            self.anchors.iter().filter(|anchors| anchors.contains_key(anchor)).count() > 1
        };
        let anchor = anchor.filter(several);
        let Some(subschema) = self.list.get_mut(from.0 as usize) else { return };
        match anchor {
            Some(anchor) => subschema.dynamic = Some(Dynamic { anchor, target }),
            None => subschema.references.push(target),
        }
    }
}

/// Whether a draft supports a reference keyword.
const fn applies(keyword: &str, dialect: Dialect) -> bool {
    match keyword.len() {
        // `$ref`
        4 => true,
        // `$dynamicRef`
        11 => matches!(dialect, Dialect::Draft202012 | Dialect::Unknown),
        // `$recursiveRef`
        _ => matches!(dialect, Dialect::Draft201909),
    }
}

/// The anchor through which a reference may lead to something other than `target`.
fn anchor(keyword: &str, reference: &str, target: &Value) -> Option<String> {
    match keyword {
        "$dynamicRef" => {
            let (_, name) = reference.rsplit_once('#')?;
            let own = target.get("$dynamicAnchor").and_then(Value::as_str)?;
            (own == name).then(|| name.to_owned())
        }
        "$recursiveRef" => {
            let recursive = target.get("$recursiveAnchor") == Some(&Value::Bool(true));
            recursive.then(String::new)
        }
        _ => None,
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value) as usize
}

/// The JSON Pointers of all values of the schema, by their addresses, and whether any of them is a
/// dynamic anchor.
fn pointers(schema: &Value) -> (HashMap<usize, String>, bool) {
    let (mut pointers, mut anchored) = (HashMap::new(), false);
    let mut open = vec![(String::new(), schema)];
    while let Some((pointer, value)) = open.pop() {
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                open.extend(items.map(|(at, item)| (join(&pointer, &[&at.to_string()]), item)));
            }
            Value::Object(members) => {
                anchored |= ["$dynamicAnchor", "$recursiveAnchor"]
                    .iter()
                    .any(|key| members.contains_key(*key));
                open.extend(members.iter().map(|(key, part)| (join(&pointer, &[key]), part)));
            }
            _ => {}
        }
        pointers.insert(address(value), pointer);
    }
    (pointers, anchored)
}

/// Calls `found` for each nested subschema that the draft applies to a value, and with `all` for
/// definitions too.
fn for_each_part<'s>(
    members: &'s Map<String, Value>,
    dialect: Dialect,
    all: bool,
    mut found: impl FnMut(&'s str, At<'s>, &'s Value),
) {
    let own = Since::of(dialect);
    let knows = |known: &[(&str, Since)], key: &str| {
        known.iter().any(|(name, since)| *name == key && *since <= own)
    };
    for (key, value) in members {
        let key = key.as_str();
        match value {
            Value::Object(_) | Value::Bool(_) if knows(&ONE, key) => {
                found(key, At::Whole, value);
            }
            Value::Array(items) if knows(&LIST, key) => {
                for (index, item) in items.iter().enumerate() {
                    found(key, At::Item(index), item);
                }
            }
            Value::Object(named)
                if knows(&NAMED, key)
                    || all && own >= Since::Draft201909 && DEFINITIONS.contains(&key) =>
            {
                for (name, part) in named {
                    found(key, At::Member(name), part);
                }
            }
            _ => {}
        }
    }
}

/// Appends steps to a JSON Pointer.
pub(super) fn join(pointer: &str, steps: &[&str]) -> String {
    let length = steps.iter().map(|step| step.len() + 1).sum::<usize>();
    let mut joined = String::with_capacity(pointer.len() + length);
    joined.push_str(pointer);
    for step in steps {
        joined.push('/');
        if step.contains(['~', '/']) {
            joined.push_str(&step.replace('~', "~0").replace('/', "~1"));
        } else {
            joined.push_str(step);
        }
    }
    joined
}

/// The value of a keyword. Most schemas have few keywords, and comparing them is then faster than
/// hashing.
pub(super) fn keyword<'m>(members: &'m Map<String, Value>, name: &str) -> Option<&'m Value> {
    const FEW: usize = 16;
    if members.len() > FEW {
        return members.get(name);
    }
    members.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}
