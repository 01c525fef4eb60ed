//! `input_schema` of Anthropic's tools: JSON Schema 2020-12, of an object without a union at its root, whose properties
//! have plain names.

use serde_json::{Map, Value};

use super::{LossKind, Losses, below, is_plain_object, wrapped};
use crate::subschema::resolve;

/// The longest name of a property, in characters.
const NAME: usize = 64;

pub(super) fn input(source: &Value, losses: &mut Losses) -> Value {
    let mut made = source.clone();
    modernised(&mut made, "", losses);
    let names = source.get("properties").and_then(Value::as_object);
    let has_plain_names = names.into_iter().flat_map(Map::keys).all(|name| is_plain(name));
    let is_direct = source.get("$ref").is_none() && is_plain_object(source);
    if is_direct && has_plain_names {
        return made;
    }
    losses.add("", "", LossKind::Wrapped, "the answer is in the property \"value\"");
    if resolve(source, source).to_string().contains("\"$ref\":\"#\"") {
        losses.add(
            "",
            "$ref",
            LossKind::Unenforced,
            "a reference to the root leads to the object around it",
        );
    }
    let mut definitions = Map::new();
    if let Value::Object(members) = &mut made {
        for keyword in ["$defs", "definitions", "$schema"] {
            definitions.extend(members.remove(keyword).map(|own| (keyword.to_owned(), own)));
        }
    }
    wrapped(&made, definitions)
}

/// Whether Anthropic takes the name for a property of the root. Those further inside may have any.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=NAME).contains(&name.len()) && name.chars().all(plain)
}

/// Replaces what only older drafts have. A schema is at most as deep as its limits allow.
fn modernised(schema: &mut Value, place: &str, losses: &mut Losses) {
    let Value::Object(members) = schema else {
        if let Value::Array(items) = schema {
            for (number, item) in items.iter_mut().enumerate() {
                modernised(item, &format!("{place}/{number}"), losses);
            }
        }
        return;
    };
    if members
        .get("$schema")
        .is_some_and(|dialect| dialect.as_str().is_some_and(|d| !d.contains("2020-12")))
    {
        members.remove("$schema");
    }
    if members.get("items").is_some_and(Value::is_array)
        && let Some(items) = members.remove("items")
    {
        members.insert("prefixItems".to_owned(), items);
        if let Some(rest) = members.remove("additionalItems") {
            members.insert("items".to_owned(), rest);
        }
        losses.add(place, "items", LossKind::Rewritten, "as prefixItems");
    }
    for (keyword, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if members.get(keyword).is_some_and(Value::is_boolean) {
            let is_exclusive = members.remove(keyword) == Some(Value::Bool(true));
            if let Some(limit) = is_exclusive.then(|| members.remove(bound)).flatten() {
                members.insert(keyword.to_owned(), limit);
                losses.add(place, keyword, LossKind::Rewritten, "as a number");
            }
        }
    }
    for (keyword, value) in members.iter_mut() {
        let place = below(place, keyword);
        match (keyword.as_str(), value) {
            // Data may look like a schema.
            ("const" | "enum" | "default" | "example" | "examples", _) => {}
            // A name may look like a keyword.
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => {
                for (name, value) in named.iter_mut() {
                    modernised(value, &below(&place, name), losses);
                }
            }
            (_, value) => modernised(value, &place, losses),
        }
    }
}
