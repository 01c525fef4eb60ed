//! The strict mode of OpenAI: every object closed, every property required, a part of the keywords, and limits.

use serde_json::{Map, Value, json};

use super::{LossKind, Losses, SILENT, below, declared, is_plain_object, joined, wrapped};
use crate::subschema::resolve;

/// The most properties of all objects together.
const PROPERTIES: usize = 5_000;
/// The most levels of nesting.
const LEVELS: usize = 10;
/// The most values of all enums together.
const VALUES: usize = 1_000;
/// The most characters of the values of one enum that has more than [`MANY`] of them.
const LISTED: usize = 15_000;
const MANY: usize = 250;
/// The most characters of all names and enum values together.
const CHARACTERS: usize = 120_000;

/// Keywords that are kept as they are.
const KEPT: [&str; 11] = [
    "type",
    "description",
    "title",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// The schema for strict mode; or, if that cannot express it, the schema itself and `false`.
pub(super) fn strict(source: &Value, losses: &mut Losses) -> (Value, bool) {
    let mut maker = Maker::new(source);
    let is_wrapped = !is_plain_object(resolve(source, source));
    let definitions = maker.definitions();
    let own = without_definitions(if is_wrapped { source } else { resolve(source, source) });
    let mut made = maker.schema(&own, "", 1);
    if is_wrapped {
        maker.losses.add("", "", LossKind::Wrapped, "the answer is in the property \"value\"");
        // A reference to the root would lead to the object around it.
        maker.is_strict &= !source.to_string().contains("\"$ref\":\"#\"");
        made = wrapped(&made, definitions);
    } else if let Value::Object(members) = &mut made {
        members.extend(definitions);
    }
    let is_large =
        maker.properties > PROPERTIES || maker.values > VALUES || maker.characters > CHARACTERS;
    if is_large {
        maker.fail("", "", "larger than strict mode allows");
    }
    if maker.is_strict {
        *losses = maker.losses;
        return (made, true);
    }
    for loss in maker.losses.into_list() {
        if loss.kind() == LossKind::Unenforced {
            losses.add(loss.pointer(), "", LossKind::Unenforced, loss.note());
        }
    }
    if is_wrapped {
        losses.add("", "", LossKind::Wrapped, "the answer is in the property \"value\"");
        let mut moved = Map::new();
        for keyword in ["$defs", "definitions"] {
            moved.extend(source.get(keyword).map(|own| (keyword.to_owned(), own.clone())));
        }
        return (wrapped(&without_definitions(source), moved), false);
    }
    (source.clone(), false)
}

fn without_definitions(schema: &Value) -> Value {
    let mut own = schema.clone();
    if let Value::Object(members) = &mut own {
        members.retain(|keyword, _| keyword != "$defs" && keyword != "definitions");
    }
    own
}

struct Maker<'s> {
    root: &'s Value,
    losses: Losses,
    is_strict: bool,
    properties: usize,
    values: usize,
    characters: usize,
}

impl<'s> Maker<'s> {
    fn new(root: &'s Value) -> Self {
        let losses = Losses::default();
        Self { root, losses, is_strict: true, properties: 0, values: 0, characters: 0 }
    }

    fn fail(&mut self, place: &str, name: &str, note: &'static str) {
        self.is_strict = false;
        self.losses.add(place, name, LossKind::Unenforced, note);
    }

    fn definitions(&mut self) -> Map<String, Value> {
        let mut made = Map::new();
        for keyword in ["$defs", "definitions"] {
            let own = self.root.get(keyword).and_then(Value::as_object);
            for (name, schema) in own.into_iter().flatten() {
                let place = below(&format!("/{keyword}"), name);
                let schema = self.schema(schema, &place, 1);
                if made.insert(name.clone(), schema).is_some() {
                    self.fail(&place, "", "another definition has this name");
                }
            }
        }
        if made.is_empty() {
            made
        } else {
            Map::from_iter([("$defs".to_owned(), Value::Object(made))])
        }
    }

    /// A schema is at most as deep as its limits allow, so the recursion is bounded.
    fn schema(&mut self, schema: &Value, place: &str, level: usize) -> Value {
        let Some(own) = schema.as_object() else {
            self.fail(place, "", "any value is allowed here");
            return json!({});
        };
        if level > LEVELS {
            self.fail(place, "", "nested more deeply than strict mode allows");
            return json!({});
        }
        if let Some(target) = own.get("$ref").and_then(Value::as_str) {
            for keyword in own.keys().filter(|keyword| *keyword != "$ref") {
                self.losses.dropped(place, keyword);
            }
            let target = target.replacen("#/definitions/", "#/$defs/", 1);
            if target != "#" && !target.starts_with("#/$defs/") {
                self.fail(place, "$ref", "only definitions can be referred to");
            }
            return json!({ "$ref": target });
        }
        if let Some(parts) = own.get("allOf").and_then(Value::as_array) {
            let parts = parts.iter().map(|part| resolve(self.root, part));
            if let Some(joined) = joined(own, parts) {
                return self.schema(&joined, place, level);
            }
            self.losses.dropped(place, "allOf");
        }
        let mut made = Map::new();
        for (keyword, value) in own {
            match keyword.as_str() {
                name if KEPT.contains(&name) => {
                    made.insert(keyword.clone(), value.clone());
                }
                "format" if value.as_str().is_some_and(|name| FORMATS.contains(&name)) => {
                    made.insert(keyword.clone(), value.clone());
                }
                "enum" | "const" => self.values(keyword, value, place, &mut made),
                "anyOf" | "oneOf" => self.union(keyword, value, place, level, &mut made),
                "items" if value.is_object() => {
                    let items = self.schema(value, &format!("{place}/items"), level + 1);
                    made.insert("items".to_owned(), items);
                }
                "properties" | "required" | "additionalProperties" | "allOf" | "nullable" => {}
                name if SILENT.contains(&name) => {}
                name => self.losses.dropped(place, name),
            }
        }
        let is_object =
            made.get("type").map_or(own.contains_key("properties"), |kind| names(kind, "object"));
        if is_object {
            self.object(own, place, level, &mut made);
        } else if made.get("type").is_some_and(|kind| names(kind, "array"))
            && !made.contains_key("items")
        {
            self.fail(place, "items", "strict mode needs a schema for the items");
        }
        let says =
            ["type", "enum", "const", "anyOf"].iter().any(|keyword| made.contains_key(*keyword));
        if !says {
            self.fail(place, "", "strict mode needs a type");
        }
        if own.get("nullable") == Some(&Value::Bool(true)) {
            return nullable(Value::Object(made));
        }
        Value::Object(made)
    }

    fn values(&mut self, keyword: &str, value: &Value, place: &str, made: &mut Map<String, Value>) {
        let listed = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        self.values += listed.len();
        let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
        let characters = listed.iter().map(length).sum::<usize>();
        self.characters += characters;
        if listed.len() > MANY && characters > LISTED {
            self.fail(place, keyword, "longer than strict mode allows for one list");
        }
        made.insert(keyword.to_owned(), value.clone());
    }

    fn union(
        &mut self,
        keyword: &str,
        value: &Value,
        place: &str,
        level: usize,
        made: &mut Map<String, Value>,
    ) {
        if keyword == "oneOf" {
            self.losses.add(place, keyword, LossKind::Widened, "more than one may fit");
        }
        let branches = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut all: Vec<Value> = Vec::new();
        for (number, branch) in branches.iter().enumerate() {
            all.push(self.schema(branch, &format!("{place}/{keyword}/{number}"), level));
        }
        made.insert("anyOf".to_owned(), Value::Array(all));
    }

    fn object(
        &mut self,
        own: &Map<String, Value>,
        place: &str,
        level: usize,
        made: &mut Map<String, Value>,
    ) {
        let properties = own.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = own
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        match own.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            Some(Value::Object(_)) => {
                self.fail(place, "additionalProperties", "names must be known");
            }
            _ if properties.is_none_or(Map::is_empty) => {
                self.fail(place, "properties", "names must be known");
            }
            _ => {
                let note = "no other properties are allowed";
                self.losses.add(place, "additionalProperties", LossKind::Narrowed, note);
            }
        }
        if required.iter().any(|name| properties.is_none_or(|own| !own.contains_key(*name))) {
            self.fail(place, "required", "a required property is not declared");
        }
        let mut all = Map::new();
        for (name, schema, place) in declared(own, place) {
            self.properties += 1;
            self.characters += name.chars().count();
            let mut value = self.schema(schema, &place, level + 1);
            if !required.contains(&name.as_str()) {
                let note = "an optional property is required and may be null";
                self.losses.add(&place, "", LossKind::Rewritten, note);
                value = nullable(value);
            }
            all.insert(name.clone(), value);
        }
        made.insert(
            "type".to_owned(),
            made.get("type").cloned().unwrap_or_else(|| json!("object")),
        );
        made.insert("required".to_owned(), all.keys().cloned().collect());
        made.insert("properties".to_owned(), Value::Object(all));
        made.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

fn names(kind: &Value, name: &str) -> bool {
    kind == name || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == name))
}

/// The schema for the same values and `null`.
fn nullable(schema: Value) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    let plain = !members.contains_key("const") && !members.contains_key("anyOf");
    match members.get_mut("type") {
        Some(Value::String(kind)) if plain => {
            let kinds = if kind == "null" { json!("null") } else { json!([kind, "null"]) };
            members.insert("type".to_owned(), kinds);
        }
        Some(Value::Array(kinds)) if plain => {
            if !kinds.contains(&json!("null")) {
                kinds.push(json!("null"));
            }
        }
        _ => return json!({"anyOf": [Value::Object(members), {"type": "null"}]}),
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.push(Value::Null);
    }
    Value::Object(members)
}
