//! Which type of Arrow the values of a schema have.
//!
//! A type is chosen only where each value that fits the schema has a place in it. Where the schema allows
//! more, such as values of several types, the value stays JSON text.

use std::{collections::HashMap, sync::Arc};

use arrow_schema::{DataType, Field, Fields};
use serde_json::{Map, Value};

/// Deeper values stay JSON text: what reads them is recursive.
const DEPTH: usize = 32;

/// What is left after so many parts stays JSON text: definitions can refer to one another twice each.
const PARTS: usize = 10_000;

/// What a value becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Boolean,
    Integer,
    Number,
    Text,
    /// JSON text.
    Json,
    List(Box<Shape>),
    /// An object with any names.
    Map(Box<Shape>),
    /// An object with these names.
    Struct(Members),
}

/// The members of a struct, and where each is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Members {
    pub(crate) list: Vec<(String, Shape)>,
    places: HashMap<String, usize>,
}

impl Members {
    fn new(list: Vec<(String, Shape)>) -> Self {
        let places = list.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        Self { list, places }
    }

    pub(crate) fn find(&self, name: &str) -> Option<(usize, &Shape)> {
        let at = *self.places.get(name)?;
        Some((at, &self.list.get(at)?.1))
    }

    pub(crate) fn fields(&self) -> Fields {
        self.list.iter().map(|(name, shape)| Field::new(name, shape.kind(), true)).collect()
    }
}

impl Shape {
    /// The shape of the values that fit a schema. The objects in it that become structs are closed: what the
    /// schema does not name has no place there, so the schema has to say what is to be done with it.
    pub(crate) fn of(schema: &mut Value) -> Self {
        let mut closed = Vec::new();
        let mut reader =
            Reader { root: schema, closed: &mut closed, open: vec![String::new()], parts: PARTS };
        let shape = reader.shape("", DEPTH);
        for pointer in closed {
            if let Some(Value::Object(object)) = schema.pointer_mut(&pointer) {
                object.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
        }
        shape
    }

    pub(crate) fn kind(&self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::Number => DataType::Float64,
            Self::Text | Self::Json => DataType::Utf8,
            Self::List(items) => DataType::List(Arc::new(Field::new("item", items.kind(), true))),
            Self::Map(values) => DataType::Map(Self::entries(values), false),
            Self::Struct(members) => DataType::Struct(members.fields()),
        }
    }

    pub(crate) fn entries(values: &Self) -> Arc<Field> {
        let key = Field::new("key", DataType::Utf8, false);
        let entry = Fields::from(vec![key, Field::new("value", values.kind(), true)]);
        Arc::new(Field::new("entries", DataType::Struct(entry), false))
    }
}

struct Reader<'a> {
    root: &'a Value,
    /// The places of objects that become structs.
    closed: &'a mut Vec<String>,
    /// The references that are being followed: a value that holds itself stays JSON text.
    open: Vec<String>,
    parts: usize,
}

impl Reader<'_> {
    fn shape(&mut self, pointer: &str, depth: usize) -> Shape {
        let Some(Value::Object(schema)) = self.root.pointer(pointer).filter(|_| depth > 0) else {
            return Shape::Json;
        };
        let Some(parts) = self.parts.checked_sub(1) else { return Shape::Json };
        self.parts = parts;
        let inner = |part: &str| format!("{pointer}/{part}");
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let Some(target) = target.strip_prefix('#').filter(|_| is_alone(schema, "$ref")) else {
                return Shape::Json;
            };
            let target = unescaped(target);
            if self.open.contains(&target) {
                return Shape::Json;
            }
            self.open.push(target.clone());
            let shape = self.shape(&target, depth - 1);
            self.open.pop();
            return shape;
        }
        for word in ["anyOf", "oneOf", "allOf"] {
            let Some(Value::Array(branches)) = schema.get(word) else { continue };
            let mut some = (0..branches.len()).filter(|at| !is_null(&branches[*at]));
            return match (some.next(), some.next()) {
                (Some(at), None) if is_alone(schema, word) => {
                    self.shape(&inner(&format!("{word}/{at}")), depth - 1)
                }
                _ => Shape::Json,
            };
        }
        let is = |known: &[&str]| type_of(schema).is_some_and(|kind| known.contains(&kind));
        if is(&["boolean"]) {
            Shape::Boolean
        } else if is(&["integer"]) {
            Shape::Integer
        } else if is(&["number"]) {
            Shape::Number
        } else if is(&["string"]) {
            Shape::Text
        } else if is(&["array"]) {
            match schema.get("prefixItems") {
                None => Shape::List(Box::new(self.shape(&inner("items"), depth - 1))),
                Some(_) => Shape::Json,
            }
        } else if is(&["object"]) {
            self.object(schema, pointer, depth)
        } else {
            Shape::Json
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, pointer: &str, depth: usize) -> Shape {
        let open = schema.get("additionalProperties");
        if schema.contains_key("patternProperties") {
            return Shape::Json;
        }
        match (schema.get("properties"), open) {
            (Some(Value::Object(members)), None | Some(Value::Bool(false)))
                if !members.is_empty() =>
            {
                self.closed.push(pointer.to_owned());
                let member = |name: &String| {
                    let place = name.replace('~', "~0").replace('/', "~1");
                    let shape = self.shape(&format!("{pointer}/properties/{place}"), depth - 1);
                    (name.clone(), shape)
                };
                Shape::Struct(Members::new(members.keys().map(member).collect()))
            }
            (None, Some(Value::Object(_))) => {
                let place = format!("{pointer}/additionalProperties");
                Shape::Map(Box::new(self.shape(&place, depth - 1)))
            }
            _ => Shape::Json,
        }
    }
}

/// Whether nothing beside the word says more about the type.
fn is_alone(schema: &Map<String, Value>, word: &str) -> bool {
    const WORDS: [&str; 10] = [
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "type",
        "properties",
        "items",
        "enum",
        "const",
        "additionalProperties",
    ];
    WORDS.iter().all(|other| *other == word || !schema.contains_key(*other))
}

/// Whether only null fits.
fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
        || schema.get("const") == Some(&Value::Null)
}

/// The one type that values have that are not null, as far as the schema says it.
fn type_of(schema: &Map<String, Value>) -> Option<&str> {
    let of_values = |values: &mut dyn Iterator<Item = &Value>| {
        let mut kinds: Vec<&'static str> = values.filter_map(kind_of).collect();
        if kinds.contains(&"number") {
            kinds.retain(|kind| *kind != "integer");
        }
        kinds.dedup();
        <[&str; 1]>::try_from(kinds).ok().map(|[kind]| kind)
    };
    match (schema.get("type"), schema.get("enum"), schema.get("const")) {
        (Some(Value::String(kind)), ..) => Some(kind),
        (Some(Value::Array(kinds)), ..) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            match (kinds.next(), kinds.next(), kinds.next()) {
                (Some(kind), None, _) => Some(kind),
                (Some("integer" | "number"), Some("integer" | "number"), None) => Some("number"),
                _ => None,
            }
        }
        (None, Some(Value::Array(values)), _) => of_values(&mut values.iter()),
        (None, _, Some(value)) => of_values(&mut std::iter::once(value)),
        // Pydantic, dataclasses and most people leave it away.
        (None, ..) if schema.contains_key("properties") => Some("object"),
        _ => None,
    }
}

/// The type of a value of an enumeration. `None` for null.
fn kind_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_f64() => Some("number"),
        Value::Number(_) => Some("integer"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("object"),
    }
}

/// A fragment of a reference as a JSON Pointer.
fn unescaped(fragment: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(fragment.len()), fragment.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
