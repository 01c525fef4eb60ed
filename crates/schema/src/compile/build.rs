//! Builds the shape and the checks of every subschema from its keywords.

use std::collections::HashMap;

use jsonschema::Draft as Dialect;
use serde_json::{Map, Value};

use super::{
    SchemaError,
    checks::{
        Checks, Combined, Contains, Dependency, Dynamic, List, Listed, Names, Object, Scalar, Text,
        Values,
    },
    options::PatternRoom,
    pattern::Pattern,
    shape::{Additional, Condition, Off, Shape, ShapeId, Shapes, Types},
    subschemas::{self, Subschema, join, keyword},
};

/// How many characters of a pattern an error message repeats.
const SHOWN: usize = 80;
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
    let registry = subschemas::registry(schema, dialect)?;
    let mut parts = subschemas::collect(schema, dialect, registry.as_ref())?;
    let mut keywords = Keywords::new(asserts_formats, room);
    let mut subschemas = std::mem::take(&mut parts.list);
    let mut all = Vec::with_capacity(subschemas.len());
    let mut checks = Vec::with_capacity(subschemas.len());
    for subschema in &mut subschemas {
        let mut shape = shape(subschema, parts.foreign);
        let own = keywords.checks(subschema, &shape)?;
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

fn shape(subschema: &Subschema<'_>, foreign: usize) -> Shape {
    let mut shape = Shape { pointer: subschema.pointer.clone(), ..Shape::default() };
    let Some(members) = subschema.value.as_object() else {
        shape.types = if *subschema.value == Value::Bool(false) { Types::NONE } else { Types::ALL };
        shape.allowed = shape.types;
        return shape;
    };
    // Subschemas outside of the caller's schema do not guide repairs.
    let dynamic = subschema.dynamic.iter().map(|dynamic| dynamic.target);
    let targets = subschema.references.iter().copied().chain(dynamic);
    shape.all_of.extend(targets.filter(|target| (target.0 as usize) < foreign));
    let old = matches!(subschema.dialect, Dialect::Draft4 | Dialect::Draft6 | Dialect::Draft7);
    if old && keyword(members, "$ref").is_some() {
        // Up to draft 7, the keywords beside a reference are ignored.
        return shape;
    }
    let get = |key: &str| keyword(members, key);
    let number = |key: &str| get(key).and_then(Value::as_f64);
    let text = |key: &str| get(key).and_then(Value::as_str).map(str::to_owned);

    shape.types = types(members);
    let properties = subschema.named("properties");
    shape.properties = properties.map(|(name, id)| (name.to_owned(), id)).collect();
    shape.has_patterns = get("patternProperties").is_some();
    shape.patterns = subschema.named("patternProperties").map(|(_, id)| id).collect();
    shape.refuses_further = get("additionalProperties") == Some(&Value::Bool(false));
    shape.required = strings(get("required"));
    shape.additional = match get("additionalProperties") {
        Some(Value::Bool(false)) => Additional::Closed,
        Some(Value::Object(_)) => {
            subschema.one("additionalProperties").map_or(Additional::Open, Additional::Schema)
        }
        _ if get("unevaluatedProperties") == Some(&Value::Bool(false)) => Additional::Closed,
        _ => Additional::Open,
    };
    if matches!(get("items"), Some(Value::Array(_))) {
        shape.prefix = subschema.list("items");
        shape.items = subschema.one("additionalItems");
    } else {
        shape.prefix = subschema.list("prefixItems");
        shape.items = subschema.one("items");
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
    shape.any_of = subschema.list("anyOf");
    shape.one_of = subschema.list("oneOf");
    shape.all_of.extend(subschema.list("allOf"));
    shape.condition = subschema.one("if").map(|test| Condition {
        test,
        then: subschema.one("then"),
        otherwise: subschema.one("else"),
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

/// State shared by all subschemas: the compiled patterns, so that each is compiled once, and what
/// remains of their limit.
struct Keywords {
    asserts_formats: Option<bool>,
    patterns: HashMap<String, Pattern>,
    room: PatternRoom,
}

impl Keywords {
    fn new(asserts_formats: Option<bool>, room: PatternRoom) -> Self {
        Self { asserts_formats, patterns: HashMap::new(), room }
    }

    /// Compiles the checks of a subschema. `shape` is what is already known about it.
    fn checks(
        &mut self,
        subschema: &mut Subschema<'_>,
        shape: &Shape,
    ) -> Result<Checks, SchemaError> {
        let mut checks = Checks { resource: subschema.resource, ..Checks::default() };
        let Some(members) = subschema.value.as_object() else {
            checks.refuses_all = *subschema.value == Value::Bool(false);
            checks.accepts_all = !checks.refuses_all;
            return Ok(checks);
        };
        let (references, dynamic) =
            (std::mem::take(&mut subschema.references), subschema.dynamic.take());
        let pointer = subschema.pointer.as_str();
        let old = matches!(subschema.dialect, Dialect::Draft4 | Dialect::Draft6 | Dialect::Draft7);
        if old && keyword(members, "$ref").is_some() {
            // Up to draft 7, the keywords beside a reference are ignored.
            checks.combined = combined(None, references, dynamic);
        } else {
            checks.types = keyword(members, "type").map(|named| Types::of_keyword(Some(named)));
            checks.strict_integers = subschema.dialect == Dialect::Draft4;
            let constant =
                keyword(members, "const").filter(|_| subschema.dialect != Dialect::Draft4);
            let options = keyword(members, "enum").and_then(Value::as_array);
            checks.values = (constant.is_some() || options.is_some()).then(|| {
                let options = options.map(|options| Listed::new(options));
                Box::new(Values { constant: constant.cloned(), options })
            });
            checks.text = self.text(members, pointer)?;
            checks.scalar =
                Scalar::of(members, subschema.dialect, self.asserts_formats).map(Box::new);
            checks.list = list(members, subschema);
            checks.object = self.object(members, subschema, shape)?;
            checks.combined = combined(Some(subschema), references, dynamic);
        }
        let only_type = checks.values.is_none()
            && checks.text.is_none()
            && checks.scalar.is_none()
            && checks.list.is_none()
            && checks.object.is_none()
            && checks.combined.is_none();
        checks.accepts_all = only_type && checks.types.is_none();
        checks.is_plain = only_type && !checks.strict_integers;
        checks.has_others = checks.combined.is_some()
            || checks.list.as_ref().is_some_and(|list| list.unevaluated.is_some())
            || checks.object.as_ref().is_some_and(|object| object.unevaluated.is_some());
        Ok(checks)
    }

    fn pattern(&mut self, pattern: &str, pointer: &str) -> Result<Pattern, SchemaError> {
        if let Some(known) = self.patterns.get(pattern) {
            return Ok(known.clone());
        }
        self.room.spell(pattern, pointer)?;
        let Some(compiled) = Pattern::compile(pattern) else {
            return Err(SchemaError::Refused {
                pointer: pointer.to_owned(),
                message: format!(
                    "{} is not a regular expression, or is too large",
                    Value::from(shortened(pattern))
                ),
            });
        };
        self.room.compile(compiled.bytes, pointer)?;
        self.patterns.insert(pattern.to_owned(), compiled.pattern.clone());
        Ok(compiled.pattern)
    }

    fn text(
        &mut self,
        members: &Map<String, Value>,
        pointer: &str,
    ) -> Result<Option<Box<Text>>, SchemaError> {
        let mut text = Text {
            least: size(members, "minLength"),
            most: size(members, "maxLength"),
            ..Text::default()
        };
        if let Some(pattern) = keyword(members, "pattern").and_then(Value::as_str) {
            text.pattern = Some(self.pattern(pattern, &join(pointer, &["pattern"]))?);
            pattern.clone_into(&mut text.spelled);
        }
        let any = text.least.is_some() || text.most.is_some() || text.pattern.is_some();
        Ok(any.then(|| Box::new(text)))
    }

    fn object(
        &mut self,
        members: &Map<String, Value>,
        subschema: &Subschema<'_>,
        shape: &Shape,
    ) -> Result<Option<Box<Object>>, SchemaError> {
        let required = required(members, subschema.dialect);
        let mut object = Object {
            least: size(members, "minProperties"),
            most: size(members, "maxProperties"),
            names: Names::new(&shape.properties, &required),
            required,
            ..Object::default()
        };
        for (name, id) in subschema.named("patternProperties") {
            let pointer = join(&subschema.pointer, &["patternProperties", name]);
            object.patterns.push((self.pattern(name, &pointer)?, id));
        }
        object.evaluates_all = keyword(members, "additionalProperties").is_some();
        object.further = subschema
            .one("additionalProperties")
            .filter(|_| keyword(members, "additionalProperties") != Some(&Value::Bool(true)));
        object.is_closed = keyword(members, "additionalProperties") == Some(&Value::Bool(false));
        object.property_names =
            subschema.one("propertyNames").filter(|_| subschema.dialect != Dialect::Draft4);
        object.dependencies = dependencies(members, subschema);
        if evaluates(subschema.dialect) {
            object.unevaluated = subschema.one("unevaluatedProperties");
            object.refuses_unevaluated =
                keyword(members, "unevaluatedProperties") == Some(&Value::Bool(false));
        }
        let any = object.least.is_some()
            || object.most.is_some()
            || !object.required.is_empty()
            || !shape.properties.is_empty()
            || !object.patterns.is_empty()
            || object.evaluates_all
            || object.property_names.is_some()
            || !object.dependencies.is_empty()
            || object.unevaluated.is_some();
        Ok(any.then(|| Box::new(object)))
    }
}

/// Whether a draft has `unevaluatedItems` and `unevaluatedProperties`.
const fn evaluates(dialect: Dialect) -> bool {
    !matches!(dialect, Dialect::Draft4 | Dialect::Draft6 | Dialect::Draft7)
}

/// A number of items, members or characters. A number too large for the type cannot be exceeded
/// anyway.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn size(members: &Map<String, Value>, key: &str) -> Option<u64> {
    let value = keyword(members, key)?;
    let whole = |size: &f64| *size >= 0.0 && size.trunc() == *size;
    value.as_u64().or_else(|| value.as_f64().filter(whole).map(|size| size as u64))
}

fn required(members: &Map<String, Value>, dialect: Dialect) -> Vec<String> {
    let names = keyword(members, "required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let mut names: Vec<String> = names.collect();
    // A name may be listed twice, but is required once.
    if dialect == Dialect::Draft4 || names.len() > 1 {
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
    }
    names
}

fn list(members: &Map<String, Value>, subschema: &Subschema<'_>) -> Option<Box<List>> {
    let dialect = subschema.dialect;
    let newest = matches!(dialect, Dialect::Draft202012 | Dialect::Unknown);
    let mut list = List {
        least: size(members, "minItems"),
        most: size(members, "maxItems"),
        unique: keyword(members, "uniqueItems") == Some(&Value::Bool(true)),
        ..List::default()
    };
    if newest {
        list.prefix = subschema.list("prefixItems");
        list.rest = subschema.one("items");
    } else if matches!(keyword(members, "items"), Some(Value::Array(_))) {
        list.prefix = subschema.list("items");
        list.rest = subschema.one("additionalItems");
        list.ends_with_prefix = keyword(members, "additionalItems") == Some(&Value::Bool(false));
    } else {
        list.rest = subschema.one("items");
    }
    let counted = evaluates(dialect);
    list.contains =
        subschema.one("contains").filter(|_| dialect != Dialect::Draft4).map(|of| Contains {
            of,
            least: size(members, "minContains").filter(|_| counted).unwrap_or(1),
            most: size(members, "maxContains").filter(|_| counted),
            evaluates: newest,
        });
    list.unevaluated = subschema.one("unevaluatedItems").filter(|_| counted);
    let any = list.least.is_some()
        || list.most.is_some()
        || list.unique
        || !list.prefix.is_empty()
        || list.rest.is_some()
        || list.contains.is_some()
        || list.unevaluated.is_some();
    any.then(|| Box::new(list))
}

/// `dependencies`, and its successors `dependentRequired` and `dependentSchemas`.
fn dependencies(members: &Map<String, Value>, subschema: &Subschema<'_>) -> Vec<Dependency> {
    let mut found = Vec::new();
    let strings = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    for key in ["dependencies", "dependentRequired", "dependentSchemas"] {
        if key != "dependencies" && !evaluates(subschema.dialect) {
            continue;
        }
        // The subschemas come in the order of the names, some of which have none.
        let mut schemas = subschema.named(key).peekable();
        for (name, value) in keyword(members, key).and_then(Value::as_object).into_iter().flatten()
        {
            let schema = schemas.next_if(|(own, _)| own == name).map(|(_, id)| id);
            let mut required = strings(value);
            // Draft 3, and some schemas written since, give a single name without a list.
            required.extend(value.as_str().map(str::to_owned));
            found.push(Dependency { name: name.clone(), keyword: key, required, schema });
        }
    }
    found
}

/// `subschema` is `None` if the keywords beside a reference are ignored.
fn combined(
    subschema: Option<&Subschema<'_>>,
    references: Vec<ShapeId>,
    dynamic: Option<Dynamic>,
) -> Option<Box<Combined>> {
    let mut combined = Combined { references, dynamic, ..Combined::default() };
    if let Some(subschema) = subschema {
        combined.all_of = subschema.list("allOf");
        combined.any_of = subschema.list("anyOf");
        combined.one_of = subschema.list("oneOf");
        combined.not = subschema.one("not");
        combined.test = subschema.one("if");
        combined.then = subschema.one("then").filter(|_| combined.test.is_some());
        combined.otherwise = subschema.one("else").filter(|_| combined.test.is_some());
    }
    let any = !combined.all_of.is_empty()
        || !combined.any_of.is_empty()
        || !combined.one_of.is_empty()
        || combined.not.is_some()
        || combined.test.is_some()
        || !combined.references.is_empty()
        || combined.dynamic.is_some();
    any.then(|| Box::new(combined))
}

/// The beginning of a text, for an error message.
fn shortened(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
