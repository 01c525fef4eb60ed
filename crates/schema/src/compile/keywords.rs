//! Compiles the keywords of one subschema into checks.

use std::collections::HashMap;

use jsonschema::Draft as Dialect;
use serde_json::{Map, Value};

use super::{
    SchemaError,
    checks::{
        Checks, Combined, Contains, Dependency, Dynamic, List, Listed, Names, Object, Scalar, Text,
    },
    guard::PatternRoom,
    pattern::Pattern,
    reference::{Place, join},
    shape::{Shape, ShapeId},
    walk::named_types,
};

/// State shared by all subschemas: the compiled patterns, so that each is compiled once, and what
/// remains of their limit.
pub(super) struct Keywords {
    pub(super) asserts_formats: Option<bool>,
    patterns: HashMap<String, Pattern>,
    room: PatternRoom,
}

impl Keywords {
    pub(super) fn new(asserts_formats: Option<bool>, room: PatternRoom) -> Self {
        Self { asserts_formats, patterns: HashMap::new(), room }
    }

    /// Compiles the checks of a subschema. `shape` is what is already known about it, and `part`
    /// looks up its nested subschemas.
    pub(super) fn checks(
        &mut self,
        place: &mut Place<'_>,
        shape: &Shape,
        part: &dyn Fn(&[&str]) -> Option<ShapeId>,
    ) -> Result<Checks, SchemaError> {
        let mut checks = Checks { resource: place.resource, ..Checks::default() };
        let Some(members) = place.value.as_object() else {
            checks.refuses_all = *place.value == Value::Bool(false);
            checks.accepts_all = !checks.refuses_all;
            return Ok(checks);
        };
        let (references, dynamic) = (std::mem::take(&mut place.references), place.dynamic.take());
        let pointer = place.pointer.as_str();
        let old = matches!(place.dialect, Dialect::Draft4 | Dialect::Draft6 | Dialect::Draft7);
        if old && members.contains_key("$ref") {
            // Up to draft 7, the keywords beside a reference are ignored.
            checks.combined = combined(&Map::new(), place.dialect, references, dynamic, part);
        } else {
            checks.types = members.contains_key("type").then(|| named_types(members));
            checks.strict_integers = place.dialect == Dialect::Draft4;
            checks.constant =
                members.get("const").filter(|_| place.dialect != Dialect::Draft4).cloned();
            let options = members.get("enum").and_then(Value::as_array);
            checks.options = options.map(|options| Listed::new(options));
            checks.text = self.text(members, pointer)?;
            checks.scalar = Scalar::of(members, place.dialect, self.asserts_formats).map(Box::new);
            checks.list = list(members, place.dialect, part);
            checks.object = self.object(members, place, shape, part)?;
            checks.combined = combined(members, place.dialect, references, dynamic, part);
        }
        let only_type = checks.constant.is_none()
            && checks.options.is_none()
            && checks.text.is_none()
            && checks.scalar.is_none()
            && checks.list.is_none()
            && checks.object.is_none()
            && checks.combined.is_none();
        checks.accepts_all = only_type && checks.types.is_none();
        checks.is_plain = only_type && !checks.strict_integers;
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
                    Value::from(super::shortened(pattern))
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
        if let Some(pattern) = members.get("pattern").and_then(Value::as_str) {
            text.pattern = Some(self.pattern(pattern, &join(pointer, &["pattern"]))?);
            pattern.clone_into(&mut text.spelled);
        }
        let any = text.least.is_some() || text.most.is_some() || text.pattern.is_some();
        Ok(any.then(|| Box::new(text)))
    }

    fn object(
        &mut self,
        members: &Map<String, Value>,
        place: &Place<'_>,
        shape: &Shape,
        part: &dyn Fn(&[&str]) -> Option<ShapeId>,
    ) -> Result<Option<Box<Object>>, SchemaError> {
        let required = required(members, place.dialect);
        let mut object = Object {
            least: size(members, "minProperties"),
            most: size(members, "maxProperties"),
            names: Names::new(&shape.properties, &required),
            required,
            ..Object::default()
        };
        let patterns = members.get("patternProperties").and_then(Value::as_object);
        for name in patterns.into_iter().flat_map(Map::keys) {
            let Some(id) = part(&["patternProperties", name]) else { continue };
            let pointer = join(&place.pointer, &["patternProperties", name]);
            object.patterns.push((self.pattern(name, &pointer)?, id));
        }
        object.evaluates_all = members.contains_key("additionalProperties");
        object.further = part(&["additionalProperties"])
            .filter(|_| members.get("additionalProperties") != Some(&Value::Bool(true)));
        object.is_closed = members.get("additionalProperties") == Some(&Value::Bool(false));
        object.property_names =
            part(&["propertyNames"]).filter(|_| place.dialect != Dialect::Draft4);
        object.dependencies = dependencies(members, place.dialect, part);
        if evaluates(place.dialect) {
            object.unevaluated = part(&["unevaluatedProperties"]);
            object.refuses_unevaluated =
                members.get("unevaluatedProperties") == Some(&Value::Bool(false));
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
    let value = members.get(key)?;
    let whole = |size: &f64| *size >= 0.0 && size.trunc() == *size;
    value.as_u64().or_else(|| value.as_f64().filter(whole).map(|size| size as u64))
}

fn required(members: &Map<String, Value>, dialect: Dialect) -> Vec<String> {
    let names = members.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let mut names: Vec<String> = names.collect();
    // A name may be listed twice, but is required once.
    if dialect == Dialect::Draft4 || names.len() > 1 {
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
    }
    names
}

fn list(
    members: &Map<String, Value>,
    dialect: Dialect,
    part: &dyn Fn(&[&str]) -> Option<ShapeId>,
) -> Option<Box<List>> {
    let several = |key: &str| -> Vec<ShapeId> {
        let length = members.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        (0..length).filter_map(|index| part(&[key, &index.to_string()])).collect()
    };
    let newest = matches!(dialect, Dialect::Draft202012 | Dialect::Unknown);
    let mut list = List {
        least: size(members, "minItems"),
        most: size(members, "maxItems"),
        unique: members.get("uniqueItems") == Some(&Value::Bool(true)),
        ..List::default()
    };
    if newest {
        list.prefix = several("prefixItems");
        list.rest = part(&["items"]);
    } else if matches!(members.get("items"), Some(Value::Array(_))) {
        list.prefix = several("items");
        list.rest = part(&["additionalItems"]);
        list.ends_with_prefix = members.get("additionalItems") == Some(&Value::Bool(false));
    } else {
        list.rest = part(&["items"]);
    }
    let counted = evaluates(dialect);
    list.contains = part(&["contains"]).filter(|_| dialect != Dialect::Draft4).map(|of| Contains {
        of,
        least: size(members, "minContains").filter(|_| counted).unwrap_or(1),
        most: size(members, "maxContains").filter(|_| counted),
        evaluates: newest,
    });
    list.unevaluated = part(&["unevaluatedItems"]).filter(|_| counted);
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
fn dependencies(
    members: &Map<String, Value>,
    dialect: Dialect,
    part: &dyn Fn(&[&str]) -> Option<ShapeId>,
) -> Vec<Dependency> {
    let mut found = Vec::new();
    let strings = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
        if keyword != "dependencies" && !evaluates(dialect) {
            continue;
        }
        for (name, value) in members.get(keyword).and_then(Value::as_object).into_iter().flatten() {
            let schema = if keyword == "dependentRequired" { None } else { part(&[keyword, name]) };
            let mut required = strings(value);
            // Draft 3, and some schemas written since, give a single name without a list.
            required.extend(value.as_str().map(str::to_owned));
            found.push(Dependency { name: name.clone(), keyword, required, schema });
        }
    }
    found
}

fn combined(
    members: &Map<String, Value>,
    dialect: Dialect,
    references: Vec<ShapeId>,
    dynamic: Option<Dynamic>,
    part: &dyn Fn(&[&str]) -> Option<ShapeId>,
) -> Option<Box<Combined>> {
    let several = |key: &str| -> Vec<ShapeId> {
        let length = members.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        (0..length).filter_map(|index| part(&[key, &index.to_string()])).collect()
    };
    let test = part(&["if"]).filter(|_| !matches!(dialect, Dialect::Draft4 | Dialect::Draft6));
    let combined = Combined {
        all_of: several("allOf"),
        any_of: several("anyOf"),
        one_of: several("oneOf"),
        not: part(&["not"]),
        test,
        then: part(&["then"]).filter(|_| test.is_some()),
        otherwise: part(&["else"]).filter(|_| test.is_some()),
        references,
        dynamic,
    };
    let any = !combined.all_of.is_empty()
        || !combined.any_of.is_empty()
        || !combined.one_of.is_empty()
        || combined.not.is_some()
        || combined.then.is_some()
        || combined.otherwise.is_some()
        || combined.test.is_some()
        || !combined.references.is_empty()
        || combined.dynamic.is_some();
    any.then(|| Box::new(combined))
}
