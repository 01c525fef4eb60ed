//! `responseSchema` of Gemini: a part of OpenAPI 3.0, without references.

use serde_json::{Map, Value, json};

use super::{LossKind, Losses, SILENT, declared, joined};
use crate::subschema::resolve;

/// How deep a schema may be after its references are replaced. A recursive one ends there.
const LEVELS: usize = 16;
/// How many schemas there may be after that.
const NODES: usize = 4_000;

/// Keywords that are kept as they are.
const KEPT: [&str; 3] = ["description", "title", "default"];
/// Keywords that are kept, because the model reads them. Whether they are enforced depends on the model: some ignore
/// one, some refuse a request with too many of them.
const BOUNDS: [&str; 9] = [
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "minProperties",
    "maxProperties",
];
/// Where the references lead to. They are replaced.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
const FORMATS: [&str; 6] = ["date-time", "enum", "float", "double", "int32", "int64"];

pub(super) fn translated(source: &Value, losses: &mut Losses) -> Value {
    Translator { root: source, losses, left: NODES }.schema(source, "", 1)
}

struct Translator<'s, 'l> {
    root: &'s Value,
    losses: &'l mut Losses,
    left: usize,
}

impl Translator<'_, '_> {
    fn schema(&mut self, schema: &Value, place: &str, level: usize) -> Value {
        self.left = self.left.saturating_sub(1);
        if level > LEVELS || self.left == 0 {
            let note = "too deep, or recursive: any text is allowed here";
            self.losses.add(place, "", LossKind::Widened, note);
            return json!({"type": "STRING"});
        }
        let resolved = resolve(self.root, schema);
        let Some(own) = resolved.as_object() else {
            self.losses.add(place, "", LossKind::Narrowed, "Gemini needs a type: text");
            return json!({"type": "STRING"});
        };
        if let Some(parts) = own.get("allOf").and_then(Value::as_array) {
            let parts = parts.iter().map(|part| resolve(self.root, part));
            if let Some(joined) = joined(own, parts) {
                return self.schema(&joined, place, level + 1);
            }
            self.losses.dropped(place, "allOf");
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(branches) = own.get(keyword).and_then(Value::as_array) else { continue };
            if !["properties", "items"].iter().any(|form| own.contains_key(*form)) {
                return self.union(own, keyword, branches, place, level);
            }
            // What is said beside the union holds for each branch.
            let mut common = own.clone();
            common.remove(keyword);
            let parts = branches.iter().map(|branch| resolve(self.root, branch));
            if parts.clone().all(only_requires) {
                let note = "which properties are needed together cannot be said";
                self.losses.add(place, keyword, LossKind::Widened, note);
                return self.schema(&Value::Object(common), place, level + 1);
            }
            let each = parts.map(|part| joined(&common, std::iter::once(part)));
            return match each.collect::<Option<Vec<Value>>>() {
                Some(branches) => self.union(&Map::new(), keyword, &branches, place, level),
                None => self.union(own, keyword, branches, place, level),
            };
        }
        self.typed(own, place, level)
    }

    /// Beside `anyOf`, nothing but a description may be said.
    fn union(
        &mut self,
        own: &Map<String, Value>,
        keyword: &str,
        branches: &[Value],
        place: &str,
        level: usize,
    ) -> Value {
        if keyword == "oneOf" {
            self.losses.add(place, keyword, LossKind::Widened, "more than one may fit");
        }
        let is_null =
            |branch: &Value| resolve(self.root, branch).get("type") == Some(&json!("null"));
        let (nulls, plain): (Vec<_>, Vec<_>) =
            branches.iter().enumerate().partition(|(_, branch)| is_null(branch));
        let mut all: Vec<Value> = plain
            .into_iter()
            .map(|(number, branch)| {
                self.schema(branch, &format!("{place}/{keyword}/{number}"), level + 1)
            })
            .collect();
        let other = |name: &&String| {
            *name != keyword && *name != "description" && *name != "type" && !is_silent(name)
        };
        for name in own.keys().filter(other) {
            self.losses.dropped(place, name);
        }
        let mut made = Map::new();
        if let (1, Some(Value::Object(only))) = (all.len(), all.first_mut()) {
            made = std::mem::take(only);
        } else {
            made.insert("anyOf".to_owned(), Value::Array(all));
        }
        made.extend(own.get("description").map(|text| ("description".to_owned(), text.clone())));
        if !nulls.is_empty() {
            made.insert("nullable".to_owned(), Value::Bool(true));
        }
        Value::Object(made)
    }

    fn typed(&mut self, own: &Map<String, Value>, place: &str, level: usize) -> Value {
        let (kinds, mut is_nullable) = kinds(own);
        is_nullable |= own.get("nullable") == Some(&Value::Bool(true));
        let listed = own.get("enum").and_then(Value::as_array);
        is_nullable |=
            listed.is_some_and(|values| values.contains(&Value::Null)) && !own.contains_key("type");
        if let [_, _, ..] = kinds.as_slice() {
            let each = kinds.iter().map(|kind| {
                let mut branch = own.clone();
                branch.insert("type".to_owned(), json!(kind));
                self.typed(&branch, place, level + 1)
            });
            let each: Vec<Value> = each.collect();
            let mut made = json!({ "anyOf": each });
            if is_nullable {
                made["nullable"] = Value::Bool(true);
            }
            return made;
        }
        let kind = kinds.first().copied().unwrap_or_else(|| {
            let note = "Gemini needs a type: text";
            self.losses.add(place, "type", LossKind::Narrowed, note);
            "string"
        });
        let mut made = Map::new();
        made.insert("type".to_owned(), json!(kind.to_ascii_uppercase()));
        for (keyword, value) in own {
            match keyword.as_str() {
                name if KEPT.contains(&name) => {
                    made.insert(keyword.clone(), value.clone());
                }
                name if BOUNDS.contains(&name) => {
                    made.insert(keyword.clone(), value.clone());
                    let note = "a model may ignore it";
                    self.losses.add(place, name, LossKind::Unenforced, note);
                }
                "format" if value.as_str().is_some_and(|name| FORMATS.contains(&name)) => {
                    made.insert(keyword.clone(), value.clone());
                }
                "enum" => {
                    self.values(value.as_array().map(Vec::as_slice), keyword, place, &mut made);
                }
                "const" => {
                    self.values(Some(std::slice::from_ref(value)), keyword, place, &mut made);
                }
                "properties" | "required" | "items" | "type" | "nullable" | "allOf" => {}
                "additionalProperties" if *value == true => {}
                "additionalProperties" if *value == false => {
                    self.losses.add(place, keyword, LossKind::Widened, "");
                }
                name if is_silent(name) => {}
                name => self.losses.dropped(place, name),
            }
        }
        if is_nullable {
            made.insert("nullable".to_owned(), Value::Bool(true));
        }
        match kind {
            "object" => self.object(own, place, level, &mut made),
            "array" => self.array(own, place, level, &mut made),
            _ => {}
        }
        Value::Object(made)
    }

    /// Only text can be listed.
    fn values(
        &mut self,
        values: Option<&[Value]>,
        keyword: &str,
        place: &str,
        made: &mut Map<String, Value>,
    ) {
        let values = values.unwrap_or_default();
        // An empty text in a list is refused.
        let is_text = |value: &&Value| value.as_str().is_some_and(|text| !text.is_empty());
        let texts: Vec<&Value> = values.iter().filter(is_text).collect();
        let others = values.iter().filter(|value| !value.is_string() && !value.is_null()).count();
        if others == 0 && !texts.is_empty() {
            if values.contains(&json!("")) {
                let note = "an empty text cannot be listed";
                self.losses.add(place, keyword, LossKind::Narrowed, note);
            }
            made.insert("enum".to_owned(), json!(texts));
            return;
        }
        // The model can still read it.
        let listed: Vec<String> = values.iter().take(50).map(Value::to_string).collect();
        let known = made.get("description").and_then(Value::as_str).unwrap_or_default();
        let text = format!("{known} One of: {}.", listed.join(", "));
        made.insert("description".to_owned(), json!(text.trim_start()));
        self.losses.add(
            place,
            keyword,
            LossKind::Widened,
            "only text can be listed: see the description",
        );
    }

    fn object(
        &mut self,
        own: &Map<String, Value>,
        place: &str,
        level: usize,
        made: &mut Map<String, Value>,
    ) {
        let mut all = Map::new();
        for (name, schema, place) in declared(own, place) {
            all.insert(name.clone(), self.schema(schema, &place, level + 1));
        }
        if all.is_empty() {
            let note = "an object without declared properties may be refused";
            self.losses.add(place, "properties", LossKind::Unenforced, note);
        }
        let names: Vec<Value> =
            own.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let known: Vec<Value> = names
            .into_iter()
            .filter(|name| name.as_str().is_some_and(|name| all.contains_key(name)))
            .collect();
        if !known.is_empty() {
            made.insert("required".to_owned(), Value::Array(known));
        }
        // Without it, the properties come in alphabetical order.
        made.insert("propertyOrdering".to_owned(), all.keys().cloned().collect());
        made.insert("properties".to_owned(), Value::Object(all));
    }

    fn array(
        &mut self,
        own: &Map<String, Value>,
        place: &str,
        level: usize,
        made: &mut Map<String, Value>,
    ) {
        let items = match own.get("items").filter(|items| items.is_object()) {
            Some(items) => self.schema(items, &format!("{place}/items"), level + 1),
            None => {
                let note = "Gemini needs a schema for the items: text";
                self.losses.add(place, "items", LossKind::Narrowed, note);
                json!({"type": "STRING"})
            }
        };
        made.insert("items".to_owned(), items);
    }
}

/// Whether a schema says only which properties must be there.
fn only_requires(schema: &Value) -> bool {
    schema.as_object().is_some_and(|own| {
        own.contains_key("required")
            && own.keys().all(|name| name == "required" || name == "type" || is_silent(name))
    })
}

fn is_silent(keyword: &str) -> bool {
    SILENT.contains(&keyword) || DEFINITIONS.contains(&keyword)
}

/// The types, without `null`, and whether that is one of them.
fn kinds(own: &Map<String, Value>) -> (Vec<&str>, bool) {
    let mut kinds: Vec<&str> = match own.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let all = kinds.len();
    kinds.retain(|kind| *kind != "null");
    let is_nullable = kinds.len() < all;
    if kinds.is_empty() {
        let listed = own.get("enum").and_then(|values| values.get(0)).or_else(|| own.get("const"));
        kinds.extend(match listed {
            Some(Value::String(_)) => Some("string"),
            Some(Value::Number(number)) => Some(if number.is_f64() { "number" } else { "integer" }),
            Some(Value::Bool(_)) => Some("boolean"),
            _ if own.contains_key("properties") => Some("object"),
            _ if own.contains_key("items") => Some("array"),
            _ => None,
        });
    }
    (kinds, is_nullable)
}
