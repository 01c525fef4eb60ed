//! Builds the shapes of a schema.

use jsonschema::Draft as Dialect;
use serde_json::{Map, Value};

use super::{
    SchemaError,
    guard::PatternRoom,
    keywords::Keywords,
    reference::{self, Place, join},
    shape::{Additional, Condition, Off, Shape, ShapeId, Shapes, Types},
};

/// How often the allowed types are narrowed through references. More rounds would matter only for
/// chains of more references.
const ROUNDS: usize = 16;

/// Builds a shape for every subschema and every possible target of a reference.
pub(super) fn shapes(
    schema: &Value,
    dialect: Dialect,
    asserts_formats: Option<bool>,
    room: PatternRoom,
) -> Result<Shapes, SchemaError> {
    let registry = reference::registry(schema, dialect)?;
    let mut parts = reference::parts(schema, dialect, registry.as_ref())?;
    let mut keywords = Keywords::new(asserts_formats, room);
    let mut places = std::mem::take(&mut parts.places);
    let mut all = Vec::with_capacity(places.len());
    for place in &mut places {
        let pointer = place.pointer.clone();
        let part = |steps: &[&str]| parts.find(&join(&pointer, steps));
        let mut shape = shape(place, parts.foreign, &part);
        shape.checks = keywords.checks(place, &shape, &part)?;
        shape.is_passage = is_passage(&shape);
        all.push(shape);
    }
    let scoped = all.iter().any(|shape: &Shape| {
        shape.checks.combined.as_ref().is_some_and(|combined| combined.dynamic.is_some())
    });
    let anchors = if scoped { parts.anchors } else { Vec::new() };
    let mut shapes = Shapes { all, anchors };
    narrow(&mut shapes);
    share(&mut shapes);
    Ok(shapes)
}

fn shape(place: &Place<'_>, foreign: usize, part: &dyn Fn(&[&str]) -> Option<ShapeId>) -> Shape {
    let mut shape = Shape { pointer: place.pointer.clone(), ..Shape::default() };
    let Some(members) = place.value.as_object() else {
        shape.types = if *place.value == Value::Bool(false) { Types::NONE } else { Types::ALL };
        shape.allowed = shape.types;
        return shape;
    };
    // Subschemas outside of the caller's schema do not guide repairs.
    let dynamic = place.dynamic.iter().map(|dynamic| dynamic.target);
    let targets = place.references.iter().copied().chain(dynamic);
    shape.all_of.extend(targets.filter(|target| (target.0 as usize) < foreign));
    let old = matches!(place.dialect, Dialect::Draft4 | Dialect::Draft6 | Dialect::Draft7);
    if old && members.contains_key("$ref") {
        // Up to draft 7, the keywords beside a reference are ignored.
        return shape;
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

/// The types in `type`, or those of the values that `enum` and `const` list.
fn types(members: &Map<String, Value>) -> Types {
    let listed = match (members.get("const"), members.get("enum")) {
        (Some(only), _) => Types::of_value(only),
        (None, Some(Value::Array(options))) => {
            options.iter().fold(Types::NONE, |types, option| types.union(Types::of_value(option)))
        }
        _ => Types::ALL,
    };
    named_types(members).intersection(listed)
}

/// The types in `type`.
pub(super) fn named_types(members: &Map<String, Value>) -> Types {
    match members.get("type") {
        Some(Value::String(name)) => Types::named(name),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .fold(Types::NONE, |types, name| types.union(Types::named(name))),
        _ => Types::ALL,
    }
}

fn off(value: Option<&Value>) -> Off {
    match value {
        Some(Value::Bool(false)) => Off::Everything,
        Some(Value::Object(members)) => Off::Codes(strings(members.get("off"))),
        _ => Off::Nothing,
    }
}

/// Whether `x-nullable` or the description gives `null` a meaning, so that it is more than a
/// missing value.
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

/// Narrows the allowed types of each shape by those of the subschemas that it refers to and
/// combines.
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

/// Whether a subschema has no conditions of its own, neither for validation nor for repair.
fn is_passage(shape: &Shape) -> bool {
    let checks = &shape.checks;
    let leads = checks.combined.as_ref().is_none_or(|combined| {
        combined.not.is_none() && combined.test.is_none() && combined.dynamic.is_none()
    });
    let says = checks.refuses_all
        || checks.types.is_some()
        || checks.constant.is_some()
        || checks.options.is_some()
        || checks.text.is_some()
        || checks.scalar.is_some()
        || checks.list.is_some()
        || checks.object.is_some();
    let repairs = shape.format.is_some()
        || shape.media_type.is_some()
        || shape.title.is_some()
        || shape.description.is_some()
        || shape.default.is_some()
        || !shape.aliases.is_empty()
        || shape.off != Off::Nothing
        || shape.keeps_null;
    leads && !says && !repairs
}

/// Finds the subschemas whose answers should be cached: those that a value may reach in several
/// ways and that contain references. Without references, every subschema is reached once.
fn share(shapes: &mut Shapes) {
    // How many references lead to each subschema, in addition to its own place in the schema.
    let mut referred = vec![0_usize; shapes.all.len()];
    let mut refers = vec![false; shapes.all.len()];
    for (at, shape) in shapes.all.iter().enumerate() {
        let Some(combined) = &shape.checks.combined else { continue };
        let dynamic = combined.dynamic.iter().map(|dynamic| dynamic.target);
        for target in combined.references.iter().copied().chain(dynamic) {
            if let Some(count) = referred.get_mut(target.0 as usize) {
                *count += 1;
            }
            refers[at] = true;
        }
    }
    // Locations are sorted by their parents, so a subschema that contains a reference can be found
    // by its location.
    let mut referring: Vec<&str> = Vec::new();
    for (shape, refers) in shapes.all.iter().zip(&refers) {
        if *refers {
            referring.push(&shape.pointer);
        }
    }
    referring.sort_unstable();
    let holds = |pointer: &str| {
        let at = referring.partition_point(|other| *other < pointer);
        referring.get(at).is_some_and(|other| other.starts_with(pointer))
    };
    let shared: Vec<bool> = shapes
        .all
        .iter()
        .zip(&referred)
        .map(|(shape, referred)| *referred > 0 && holds(&shape.pointer))
        .collect();
    let anchored = shapes.anchors.iter().flat_map(|anchors| anchors.values().copied());
    let anchored: Vec<ShapeId> = anchored.collect();
    for (shape, shared) in shapes.all.iter_mut().zip(shared) {
        shape.checks.is_shared = shared;
    }
    for id in anchored {
        if let Some(shape) = shapes.all.get_mut(id.0 as usize) {
            shape.checks.is_shared = true;
        }
    }
}
