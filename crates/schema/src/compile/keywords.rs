//! Compiles the keywords of one subschema into checks.

use std::collections::HashMap;

use jsonschema::Draft as Dialect;
use serde_json::{Map, Value};

use super::{
    SchemaError,
    checks::{
        Checks, Combined, Contains, Dependency, Dynamic, List, Listed, Names, Object, Scalar, Text,
        Values,
    },
    guard::PatternRoom,
    pattern::Pattern,
    reference::{Place, join, keyword},
    shape::Shape,
    types::{ShapeId, Types},
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

    /// Compiles the checks of a subschema. `shape` is what is already known about it.
    pub(super) fn checks(
        &mut self,
        place: &mut Place<'_>,
        shape: &Shape,
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
        if old && keyword(members, "$ref").is_some() {
            // Up to draft 7, the keywords beside a reference are ignored.
            checks.combined = combined(None, references, dynamic);
        } else {
            checks.types = keyword(members, "type").map(|named| Types::of_keyword(Some(named)));
            checks.strict_integers = place.dialect == Dialect::Draft4;
            let constant = keyword(members, "const").filter(|_| place.dialect != Dialect::Draft4);
            let options = keyword(members, "enum").and_then(Value::as_array);
            checks.values = (constant.is_some() || options.is_some()).then(|| {
                let options = options.map(|options| Listed::new(options));
                Box::new(Values { constant: constant.cloned(), options })
            });
            checks.text = self.text(members, pointer)?;
            checks.scalar = Scalar::of(members, place.dialect, self.asserts_formats).map(Box::new);
            checks.list = list(members, place);
            checks.object = self.object(members, place, shape)?;
            checks.combined = combined(Some(place), references, dynamic);
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
        place: &Place<'_>,
        shape: &Shape,
    ) -> Result<Option<Box<Object>>, SchemaError> {
        let required = required(members, place.dialect);
        let mut object = Object {
            least: size(members, "minProperties"),
            most: size(members, "maxProperties"),
            names: Names::new(&shape.properties, &required),
            required,
            ..Object::default()
        };
        for (name, id) in place.named("patternProperties") {
            let pointer = join(&place.pointer, &["patternProperties", name]);
            object.patterns.push((self.pattern(name, &pointer)?, id));
        }
        object.evaluates_all = keyword(members, "additionalProperties").is_some();
        object.further = place
            .one("additionalProperties")
            .filter(|_| keyword(members, "additionalProperties") != Some(&Value::Bool(true)));
        object.is_closed = keyword(members, "additionalProperties") == Some(&Value::Bool(false));
        object.property_names =
            place.one("propertyNames").filter(|_| place.dialect != Dialect::Draft4);
        object.dependencies = dependencies(members, place);
        if evaluates(place.dialect) {
            object.unevaluated = place.one("unevaluatedProperties");
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

fn list(members: &Map<String, Value>, place: &Place<'_>) -> Option<Box<List>> {
    let dialect = place.dialect;
    let newest = matches!(dialect, Dialect::Draft202012 | Dialect::Unknown);
    let mut list = List {
        least: size(members, "minItems"),
        most: size(members, "maxItems"),
        unique: keyword(members, "uniqueItems") == Some(&Value::Bool(true)),
        ..List::default()
    };
    if newest {
        list.prefix = place.list("prefixItems");
        list.rest = place.one("items");
    } else if matches!(keyword(members, "items"), Some(Value::Array(_))) {
        list.prefix = place.list("items");
        list.rest = place.one("additionalItems");
        list.ends_with_prefix = keyword(members, "additionalItems") == Some(&Value::Bool(false));
    } else {
        list.rest = place.one("items");
    }
    let counted = evaluates(dialect);
    list.contains =
        place.one("contains").filter(|_| dialect != Dialect::Draft4).map(|of| Contains {
            of,
            least: size(members, "minContains").filter(|_| counted).unwrap_or(1),
            most: size(members, "maxContains").filter(|_| counted),
            evaluates: newest,
        });
    list.unevaluated = place.one("unevaluatedItems").filter(|_| counted);
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
fn dependencies(members: &Map<String, Value>, place: &Place<'_>) -> Vec<Dependency> {
    let mut found = Vec::new();
    let strings = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    for key in ["dependencies", "dependentRequired", "dependentSchemas"] {
        if key != "dependencies" && !evaluates(place.dialect) {
            continue;
        }
        // The subschemas come in the order of the names, some of which have none.
        let mut schemas = place.named(key).peekable();
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

/// `place` is `None` if the keywords beside a reference are ignored.
fn combined(
    place: Option<&Place<'_>>,
    references: Vec<ShapeId>,
    dynamic: Option<Dynamic>,
) -> Option<Box<Combined>> {
    let mut combined = Combined { references, dynamic, ..Combined::default() };
    if let Some(place) = place {
        combined.all_of = place.list("allOf");
        combined.any_of = place.list("anyOf");
        combined.one_of = place.list("oneOf");
        combined.not = place.one("not");
        combined.test = place.one("if");
        combined.then = place.one("then").filter(|_| combined.test.is_some());
        combined.otherwise = place.one("else").filter(|_| combined.test.is_some());
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
