//! What the form of a provider cannot express, and what all forms look at in a schema.

use std::fmt;

use serde_json::{Map, Value, json};

/// How something is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// It is left out of what is sent.
    Dropped,
    /// The provider allows less than the schema.
    Narrowed,
    /// The same is said in another way, and the answer has another form.
    Rewritten,
    /// The provider does not enforce it, or may refuse the request.
    Unenforced,
    /// The provider allows more than the schema.
    Widened,
    /// There is an object around the value.
    Wrapped,
}

impl LossKind {
    /// All kinds, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Dropped,
        Self::Narrowed,
        Self::Rewritten,
        Self::Unenforced,
        Self::Widened,
        Self::Wrapped,
    ];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Narrowed => "narrowed",
            Self::Rewritten => "rewritten",
            Self::Unenforced => "unenforced",
            Self::Widened => "widened",
            Self::Wrapped => "wrapped",
        }
    }
}

/// Something of a schema that the form of a provider does not express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    pointer: String,
    kind: LossKind,
    note: &'static str,
}

impl Loss {
    pub(super) fn new(place: &str, name: &str, kind: LossKind, note: &'static str) -> Self {
        let separator = if name.is_empty() { "" } else { "/" };
        Self { pointer: format!("{place}{separator}{name}"), kind, note }
    }

    /// Where it is in the schema, as a JSON Pointer.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// How it is lost.
    #[must_use]
    pub const fn kind(&self) -> LossKind {
        self.kind
    }

    /// What that means. May be empty.
    #[must_use]
    pub const fn note(&self) -> &'static str {
        self.note
    }
}

/// `/properties/code/minLength: dropped`
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(f, "{place}: {}", self.kind.code())?;
        if self.note.is_empty() { Ok(()) } else { write!(f, ", {}", self.note) }
    }
}

/// Collects losses. A longer list than a thousand would help no one.
#[derive(Debug, Default)]
pub(super) struct Losses(Vec<Loss>);

impl Losses {
    const MOST: usize = 1_000;

    pub(super) fn add(&mut self, place: &str, name: &str, kind: LossKind, note: &'static str) {
        let loss = Loss::new(place, name, kind, note);
        if self.0.len() < Self::MOST && !self.0.contains(&loss) {
            self.0.push(loss);
        }
    }

    pub(super) fn dropped(&mut self, place: &str, name: &str) {
        self.add(place, name, LossKind::Dropped, "");
    }

    pub(super) fn into_list(self) -> Vec<Loss> {
        self.0
    }
}

/// Keywords that say nothing about values, and are left out without a loss.
pub(super) const SILENT: [&str; 7] =
    ["$schema", "$id", "$comment", "examples", "example", "x-aliases", "x-wiremend"];

/// The place of a member of the schema at `place`, as a JSON Pointer.
pub(super) fn below(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The declared properties of an object, each with its place.
pub(super) fn declared<'s>(
    own: &'s Map<String, Value>,
    place: &str,
) -> impl Iterator<Item = (&'s String, &'s Value, String)> {
    let place = format!("{place}/properties");
    let all = own.get("properties").and_then(Value::as_object);
    all.into_iter().flatten().map(move |(name, schema)| (name, schema, below(&place, name)))
}

/// An object around a schema, for providers that only take objects.
pub(super) fn wrapped(schema: &Value, definitions: Map<String, Value>) -> Value {
    let mut made = Map::new();
    made.insert("type".to_owned(), json!("object"));
    made.insert("properties".to_owned(), json!({ "value": schema }));
    made.insert("required".to_owned(), json!(["value"]));
    made.insert("additionalProperties".to_owned(), Value::Bool(false));
    made.extend(definitions);
    Value::Object(made)
}

/// Whether a schema, in itself, is one of objects only, without a union.
pub(super) fn is_plain_object(schema: &Value) -> bool {
    let unions = ["anyOf", "oneOf", "allOf"].iter().any(|keyword| schema.get(keyword).is_some());
    let typed = match schema.get("type") {
        Some(kind) => kind == "object",
        None => schema.get("properties").is_some(),
    };
    typed && !unions
}

/// One schema from several that hold together, if no keyword but those of objects is in more than one of them. A part
/// that consists of parts itself may be a part of itself, and is not joined.
pub(super) fn joined<'s>(
    own: &Map<String, Value>,
    parts: impl Iterator<Item = &'s Value>,
) -> Option<Value> {
    let mut all = own.clone();
    all.remove("allOf");
    for part in parts {
        let part = part.as_object().filter(|part| !part.contains_key("allOf"))?;
        for (keyword, value) in part {
            match (all.get_mut(keyword), value) {
                (Some(Value::Object(known)), Value::Object(more)) if keyword == "properties" => {
                    if more.keys().any(|name| known.contains_key(name)) {
                        return None;
                    }
                    known.extend(more.iter().map(|(name, own)| (name.clone(), own.clone())));
                }
                (Some(Value::Array(known)), Value::Array(more)) if keyword == "required" => {
                    known.extend(more.iter().cloned());
                }
                (Some(known), value) if known != value => return None,
                _ => {
                    all.insert(keyword.clone(), value.clone());
                }
            }
        }
    }
    Some(Value::Object(all))
}
