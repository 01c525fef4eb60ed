//! Builds the shapes of a schema.

use jsonschema::Draft as Dialect;
use serde_json::{Map, Value};

use super::{
    SchemaError,
    checks::Checks,
    guard::PatternRoom,
    keywords::Keywords,
    reference::{self, Place, keyword},
    shape::{Additional, Condition, Off, Shape, Shapes},
    types::{ShapeId, Types},
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
    let mut checks = Vec::with_capacity(places.len());
    for place in &mut places {
        let mut shape = shape(place, parts.foreign);
        let own = keywords.checks(place, &shape)?;
        shape.is_passage = is_passage(&shape, &own);
        all.push(shape);
        checks.push(own);
    }
    let scoped = checks.iter().any(|checks: &Checks| {
        checks.combined.as_ref().is_some_and(|combined| combined.dynamic.is_some())
    });
    let anchors = if scoped { parts.anchors } else { Vec::new() };
    let mut shapes = Shapes { all, checks, anchors };
    narrow(&mut shapes);
    share(&mut shapes);
    Ok(shapes)
}

fn shape(place: &Place<'_>, foreign: usize) -> Shape {
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
    if old && keyword(members, "$ref").is_some() {
        // Up to draft 7, the keywords beside a reference are ignored.
        return shape;
    }
    let get = |key: &str| keyword(members, key);
    let number = |key: &str| get(key).and_then(Value::as_f64);
    let text = |key: &str| get(key).and_then(Value::as_str).map(str::to_owned);

    shape.types = types(members);
    let properties = place.named("properties");
    shape.properties = properties.map(|(name, id)| (name.to_owned(), id)).collect();
    shape.has_patterns = get("patternProperties").is_some();
    shape.patterns = place.named("patternProperties").map(|(_, id)| id).collect();
    shape.refuses_further = get("additionalProperties") == Some(&Value::Bool(false));
    shape.required = strings(get("required"));
    shape.additional = match get("additionalProperties") {
        Some(Value::Bool(false)) => Additional::Closed,
        Some(Value::Object(_)) => {
            place.one("additionalProperties").map_or(Additional::Open, Additional::Schema)
        }
        _ if get("unevaluatedProperties") == Some(&Value::Bool(false)) => Additional::Closed,
        _ => Additional::Open,
    };
    if matches!(get("items"), Some(Value::Array(_))) {
        shape.prefix = place.list("items");
        shape.items = place.one("additionalItems");
    } else {
        shape.prefix = place.list("prefixItems");
        shape.items = place.one("items");
    }
    shape.min_items = get("minItems").and_then(Value::as_u64).unwrap_or_default();
    shape.unique_items = get("uniqueItems") == Some(&Value::Bool(true));
    shape.options = match (get("const"), get("enum")) {
        (Some(only), _) => Some(vec![only.clone()]),
        (None, Some(Value::Array(options))) => Some(options.clone()),
        _ => None,
    };
    shape.default = get("default").cloned();
    shape.minimum = number("minimum").or_else(|| number("exclusiveMinimum"));
    shape.maximum = number("maximum").or_else(|| number("exclusiveMaximum"));
    shape.format = text("format");
    shape.narrow = shape.options.is_some()
        || ["pattern", "format"].iter().any(|keyword| get(keyword).is_some());
    shape.media_type = text("contentMediaType");
    shape.title = text("title");
    shape.description = text("description");
    shape.any_of = place.list("anyOf");
    shape.one_of = place.list("oneOf");
    shape.all_of.extend(place.list("allOf"));
    shape.condition = place.one("if").map(|test| Condition {
        test,
        then: place.one("then"),
        otherwise: place.one("else"),
    });
    shape.aliases = strings(get("x-aliases"));
    shape.off = off(get("x-wiremend"));
    shape.keeps_null = keeps_null(members);
    shape
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The types in `type`, or those of the values that `enum` and `const` list.
fn types(members: &Map<String, Value>) -> Types {
    let listed = match (keyword(members, "const"), keyword(members, "enum")) {
        (Some(only), _) => Types::of_value(only),
        (None, Some(Value::Array(options))) => {
            options.iter().fold(Types::NONE, |types, option| types.union(Types::of_value(option)))
        }
        _ => Types::ALL,
    };
    Types::of_keyword(keyword(members, "type")).intersection(listed)
}

fn off(value: Option<&Value>) -> Off {
    match value {
        Some(Value::Bool(false)) => Off::Everything,
        Some(Value::Object(members)) => Off::Codes(strings(keyword(members, "off"))),
        _ => Off::Nothing,
    }
}

/// Whether `x-nullable` or the description gives `null` a meaning, so that it is more than a
/// missing value.
fn keeps_null(members: &Map<String, Value>) -> bool {
    let marked =
        ["x-nullable", "nullable"].iter().any(|key| keyword(members, key) == Some(&true.into()));
    let description = keyword(members, "description").and_then(Value::as_str).unwrap_or_default();
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
fn is_passage(shape: &Shape, checks: &Checks) -> bool {
    let leads = checks.combined.as_ref().is_none_or(|combined| {
        combined.not.is_none() && combined.test.is_none() && combined.dynamic.is_none()
    });
    let says = checks.refuses_all
        || checks.types.is_some()
        || checks.values.is_some()
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
    for (at, checks) in shapes.checks.iter().enumerate() {
        let Some(combined) = &checks.combined else { continue };
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
    for (checks, shared) in shapes.checks.iter_mut().zip(shared) {
        checks.is_shared = shared;
    }
    for id in anchored {
        if let Some(checks) = shapes.checks.get_mut(id.0 as usize) {
            checks.is_shared = true;
        }
    }
}
