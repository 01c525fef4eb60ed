//! From a schema to its shapes.

use std::collections::HashMap;

use jsonschema::Draft as Dialect;
use serde_json::{Map, Value};

use super::{
    reference::Anchors,
    shape::{Additional, Condition, Off, Shape, ShapeId, Shapes, Types},
};

/// How often the allowed types are narrowed through references. More would change nothing but
/// chains of that many references.
const ROUNDS: usize = 16;

/// Keywords whose value is a schema.
const ONE: [&str; 10] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/// Keywords whose value is an object of schemas.
const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// All parts of a schema. Every place a reference may lead to gets a shape of its own.
pub(super) fn shapes(schema: &Value, dialect: Dialect) -> Shapes {
    let mut places: Vec<(String, &Value)> = vec![(String::new(), schema)];
    let mut ids: HashMap<String, ShapeId> = HashMap::from([(String::new(), ShapeId(0))]);
    let mut anchors = Anchors::default();
    let mut at = 0;
    while let Some((pointer, value)) = places.get(at).cloned() {
        at += 1;
        let Some(members) = value.as_object() else { continue };
        anchors.note(&pointer, members);
        let mut add = |pointer: String, value| add(&mut places, &mut ids, pointer, value);
        for_each_part(members, |steps, part| add(join(&pointer, steps), part));
        // A reference may lead to where no keyword does.
        if let Some(target) = anchors.local(members)
            && let Some(part) = schema.pointer(&target)
        {
            add(target, part);
        }
    }
    let find = |pointer: String| ids.get(&pointer).copied();
    let mut all = Vec::with_capacity(places.len());
    for (pointer, value) in &places {
        let part = |steps: &[&str]| find(join(pointer, steps));
        let reference = |members: &Map<String, Value>| anchors.target(members).and_then(find);
        all.push(shape(pointer, value, dialect, &part, &reference));
    }
    let mut shapes = Shapes { all, ids };
    narrow(&mut shapes);
    shapes
}

fn add<'s>(
    places: &mut Vec<(String, &'s Value)>,
    ids: &mut HashMap<String, ShapeId>,
    pointer: String,
    value: &'s Value,
) {
    let is_schema = value.is_object() || value.is_boolean();
    if is_schema && !ids.contains_key(&pointer) {
        let id = ShapeId(u32::try_from(places.len()).unwrap_or(u32::MAX));
        ids.insert(pointer.clone(), id);
        places.push((pointer, value));
    }
}

fn for_each_part<'s>(members: &'s Map<String, Value>, mut found: impl FnMut(&[&str], &'s Value)) {
    for (key, value) in members {
        let key = key.as_str();
        match value {
            Value::Object(_) | Value::Bool(_) if ONE.contains(&key) => found(&[key], value),
            Value::Array(items) if LIST.contains(&key) => {
                for (index, item) in items.iter().enumerate() {
                    found(&[key, &index.to_string()], item);
                }
            }
            Value::Object(named) if NAMED.contains(&key) => {
                for (name, part) in named {
                    found(&[key, name], part);
                }
            }
            _ => {}
        }
    }
}

fn join(pointer: &str, steps: &[&str]) -> String {
    let mut joined = pointer.to_owned();
    for step in steps {
        joined.push('/');
        joined.push_str(&step.replace('~', "~0").replace('/', "~1"));
    }
    joined
}

fn shape(
    pointer: &str,
    value: &Value,
    dialect: Dialect,
    part: &dyn Fn(&[&str]) -> Option<ShapeId>,
    reference: &dyn Fn(&Map<String, Value>) -> Option<ShapeId>,
) -> Shape {
    let mut shape = Shape { pointer: pointer.to_owned(), ..Shape::default() };
    let Some(members) = value.as_object() else {
        shape.types = if *value == Value::Bool(false) { Types::NONE } else { Types::ALL };
        shape.allowed = shape.types;
        return shape;
    };
    if let Some(target) = reference(members) {
        shape.all_of.push(target);
        // Up to draft 7 what is beside a reference is ignored.
        if matches!(dialect, Dialect::Draft4 | Dialect::Draft6 | Dialect::Draft7) {
            return shape;
        }
    }
    let list = |key: &str| -> Vec<ShapeId> {
        let length = members.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        (0..length).filter_map(|index| part(&[key, &index.to_string()])).collect()
    };
    let number = |key: &str| members.get(key).and_then(Value::as_f64);
    let text = |key: &str| members.get(key).and_then(Value::as_str).map(str::to_owned);

    shape.types = types(members);
    for name in members.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys)
    {
        shape.properties.extend(part(&["properties", name]).map(|id| (name.clone(), id)));
    }
    shape.has_patterns = members.contains_key("patternProperties");
    let patterns = members.get("patternProperties").and_then(Value::as_object);
    let patterns = patterns.into_iter().flat_map(Map::keys);
    shape.patterns = patterns.filter_map(|name| part(&["patternProperties", name])).collect();
    shape.refuses_further = members.get("additionalProperties") == Some(&Value::Bool(false));
    shape.required = strings(members.get("required"));
    shape.additional = match members.get("additionalProperties") {
        Some(Value::Bool(false)) => Additional::Closed,
        Some(Value::Object(_)) => {
            part(&["additionalProperties"]).map_or(Additional::Open, Additional::Schema)
        }
        _ if members.get("unevaluatedProperties") == Some(&Value::Bool(false)) => {
            Additional::Closed
        }
        _ => Additional::Open,
    };
    if matches!(members.get("items"), Some(Value::Array(_))) {
        shape.prefix = list("items");
        shape.items = part(&["additionalItems"]);
    } else {
        shape.prefix = list("prefixItems");
        shape.items = part(&["items"]);
    }
    shape.min_items = members.get("minItems").and_then(Value::as_u64).unwrap_or_default();
    shape.unique_items = members.get("uniqueItems") == Some(&Value::Bool(true));
    shape.options = match (members.get("const"), members.get("enum")) {
        (Some(only), _) => Some(vec![only.clone()]),
        (None, Some(Value::Array(options))) => Some(options.clone()),
        _ => None,
    };
    shape.default = members.get("default").cloned();
    shape.minimum = number("minimum").or_else(|| number("exclusiveMinimum"));
    shape.maximum = number("maximum").or_else(|| number("exclusiveMaximum"));
    shape.format = text("format");
    shape.narrow = shape.options.is_some()
        || ["pattern", "format"].iter().any(|keyword| members.contains_key(*keyword));
    shape.media_type = text("contentMediaType");
    shape.title = text("title");
    shape.description = text("description");
    shape.any_of = list("anyOf");
    shape.one_of = list("oneOf");
    shape.all_of.extend(list("allOf"));
    shape.condition = part(&["if"]).map(|test| Condition {
        test,
        then: part(&["then"]),
        otherwise: part(&["else"]),
    });
    shape.aliases = strings(members.get("x-aliases"));
    shape.off = off(members.get("x-jsonmend"));
    shape.keeps_null = keeps_null(members);
    shape
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The types of `type`, or those of the values that `enum` and `const` list.
fn types(members: &Map<String, Value>) -> Types {
    let named = match members.get("type") {
        Some(Value::String(name)) => Types::named(name),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .fold(Types::NONE, |types, name| types.union(Types::named(name))),
        _ => Types::ALL,
    };
    let listed = match (members.get("const"), members.get("enum")) {
        (Some(only), _) => Types::of_value(only),
        (None, Some(Value::Array(options))) => {
            options.iter().fold(Types::NONE, |types, option| types.union(Types::of_value(option)))
        }
        _ => Types::ALL,
    };
    named.intersection(listed)
}

fn off(value: Option<&Value>) -> Off {
    match value {
        Some(Value::Bool(false)) => Off::Everything,
        Some(Value::Object(members)) => Off::Codes(strings(members.get("off"))),
        _ => Off::Nothing,
    }
}

/// `x-nullable`, and descriptions that say what `null` does: it is a value there, not an absence.
fn keeps_null(members: &Map<String, Value>) -> bool {
    let marked =
        ["x-nullable", "nullable"].iter().any(|key| members.get(*key) == Some(&true.into()));
    let description = members.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut words = description
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .peekable();
    let mut described = false;
    while let Some(word) = words.next() {
        let acts = ["clears", "removes", "unsets", "resets", "deletes", "to", "means"];
        described |=
            word == "null" && words.peek().is_some_and(|next| acts.contains(&next.as_str()));
    }
    marked || described
}

/// Narrows the types a shape allows by what it refers to and combines.
fn narrow(shapes: &mut Shapes) {
    for shape in &mut shapes.all {
        shape.allowed = shape.types;
    }
    for _ in 0..ROUNDS {
        let mut changed = false;
        for index in 0..shapes.all.len() {
            let Some(shape) = shapes.all.get(index) else { continue };
            let of = |id: &ShapeId| shapes.shape(*id).map_or(Types::ALL, |shape| shape.allowed);
            let any = |ids: &[ShapeId]| match ids {
                [] => Types::ALL,
                _ => ids.iter().fold(Types::NONE, |types, id| types.union(of(id))),
            };
            let both = any(&shape.any_of).intersection(any(&shape.one_of));
            let allowed = shape
                .all_of
                .iter()
                .fold(shape.types.intersection(both), |types, id| types.intersection(of(id)));
            changed |= allowed != shape.allowed;
            if let Some(shape) = shapes.all.get_mut(index) {
                shape.allowed = allowed;
            }
        }
        if !changed {
            break;
        }
    }
}
