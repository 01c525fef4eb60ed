//! `input_schema` of Anthropic's tools: JSON Schema 2020-12, of an object without a union at its root.

use serde_json::{Map, Value};

use super::{
    is_plain_object,
    loss::{LossKind, Losses},
    wrapped,
};
use crate::subschema::resolve;

/// The longest name of a property, in characters.
const NAME: usize = 64;

pub(super) fn input(source: &Value, losses: &mut Losses) -> Value {
    let mut made = source.clone();
    modernised(&mut made, "", losses);
    let is_direct = source.get("$ref").is_none() && is_plain_object(source);
    if is_direct {
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
    let names = members.get("properties").and_then(Value::as_object);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    for name in names.into_iter().flat_map(Map::keys) {
        if name.is_empty() || name.chars().count() > NAME || !name.chars().all(plain) {
            let note = "the name of a property may be refused";
            losses.add(&format!("{place}/properties"), name, LossKind::Unenforced, note);
        }
    }
    for (keyword, value) in members.iter_mut() {
        let place = format!("{place}/{keyword}");
        match (keyword.as_str(), value) {
            // Data may look like a schema.
            ("const" | "enum" | "default" | "example" | "examples", _) => {}
            // A name may look like a keyword.
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => {
                for (name, value) in named.iter_mut() {
                    modernised(value, &format!("{place}/{name}"), losses);
                }
            }
            (_, value) => modernised(value, &place, losses),
        }
    }
}
