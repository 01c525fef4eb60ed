//! What fitting needs to know about each subschema.

use std::{collections::HashMap, sync::OnceLock};

use serde_json::Value;

use super::{checks::Checks, choices::Choices};
use crate::tree::JsonType;

/// Identifies a shape by its position in [`Shapes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ShapeId(pub(super) u32);

/// All subschemas of a schema; the first one is the root.
#[derive(Default)]
pub(crate) struct Shapes {
    pub(super) all: Vec<Shape>,
    /// The conditions of each of them. They are kept apart because validation looks at nothing else.
    pub(super) checks: Vec<Checks>,
    /// The dynamic anchors of each resource; empty if no reference depends on them.
    pub(super) anchors: Vec<HashMap<String, ShapeId>>,
}

impl Shapes {
    pub(crate) const ROOT: ShapeId = ShapeId(0);

    pub(crate) fn shape(&self, id: ShapeId) -> Option<&Shape> {
        self.all.get(id.0 as usize)
    }

    #[inline]
    pub(crate) fn checks(&self, id: ShapeId) -> Option<&Checks> {
        self.checks.get(id.0 as usize)
    }

    /// Whether a reference may have different targets, depending on how it was reached.
    pub(crate) const fn is_scoped(&self) -> bool {
        !self.anchors.is_empty()
    }

    /// The subschema that has a dynamic anchor in a resource.
    pub(crate) fn anchor(&self, resource: u16, name: &str) -> Option<ShapeId> {
        self.anchors.get(usize::from(resource))?.get(name).copied()
    }
}

/// The keywords of one subschema that fitting considers.
#[derive(Default)]
pub(crate) struct Shape {
    /// The location in the schema, as a JSON Pointer.
    pub(crate) pointer: String,
    /// The types that `type` names; all of them if it is absent.
    pub(crate) types: Types,
    /// The types that are allowed by the subschema and everything that it combines.
    pub(crate) allowed: Types,
    /// In the order of the schema.
    pub(crate) properties: Vec<(String, ShapeId)>,
    pub(crate) has_patterns: bool,
    /// The subschemas of `patternProperties`.
    pub(crate) patterns: Vec<ShapeId>,
    /// Whether `additionalProperties` is `false`.
    pub(crate) refuses_further: bool,
    pub(crate) required: Vec<String>,
    pub(crate) additional: Additional,
    pub(crate) prefix: Vec<ShapeId>,
    pub(crate) items: Option<ShapeId>,
    pub(crate) min_items: u64,
    pub(crate) unique_items: bool,
    pub(crate) options: Option<Vec<Value>>,
    /// The same values indexed by name; built when a rule first needs them.
    pub(crate) choices: OnceLock<Choices>,
    pub(crate) default: Option<Value>,
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    pub(crate) format: Option<String>,
    /// Whether a pattern, format or enum restricts the strings.
    pub(crate) narrow: bool,
    pub(crate) media_type: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) any_of: Vec<ShapeId>,
    pub(crate) one_of: Vec<ShapeId>,
    /// `allOf` and the target of `$ref`, which must hold as well.
    pub(crate) all_of: Vec<ShapeId>,
    pub(crate) condition: Option<Condition>,
    pub(crate) aliases: Vec<String>,
    /// `x-jsonmend`: `false`, or the codes of rules that are off here and below.
    pub(crate) off: Off,
    /// Whether `null` has a meaning here, although `type` does not include it.
    pub(crate) keeps_null: bool,
    /// Whether the subschema has no conditions of its own and only leads to others.
    pub(crate) is_passage: bool,
    /// The properties by their folded names and aliases; built when a guide first needs them.
    pub(crate) alike: OnceLock<HashMap<String, ShapeId>>,
}

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shape").field("pointer", &self.pointer).finish_non_exhaustive()
    }
}

/// The value of `additionalProperties`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Additional {
    /// Absent, or `true`.
    #[default]
    Open,
    /// `false`
    Closed,
    /// A schema.
    Schema(ShapeId),
}

/// `if`, `then` and `else`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub(crate) test: ShapeId,
    pub(crate) then: Option<ShapeId>,
    pub(crate) otherwise: Option<ShapeId>,
}

/// The rules that a schema switches off for a subschema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Off {
    #[default]
    Nothing,
    Everything,
    /// The rules with these codes.
    Codes(Vec<String>),
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const ALL: Self = Self(0x7F);
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    /// A number without a fraction.
    pub(crate) const INTEGER: Self = Self(4);
    /// Any number. Includes [`Types::INTEGER`].
    pub(crate) const NUMBER: Self = Self(8 | 4);
    pub(crate) const STRING: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);

    /// The types with their names, in the order in which messages list them.
    const NAMED: [(Self, &'static str); 7] = [
        (Self::STRING, "string"),
        (Self::NUMBER, "number"),
        (Self::INTEGER, "integer"),
        (Self::BOOLEAN, "boolean"),
        (Self::ARRAY, "array"),
        (Self::OBJECT, "object"),
        (Self::NULL, "null"),
    ];

    pub(crate) fn named(name: &str) -> Self {
        Self::NAMED.iter().find(|(_, own)| *own == name).map_or(Self::NONE, |(types, _)| *types)
    }

    /// The type of a value.
    pub(crate) fn of_value(value: &Value) -> Self {
        match value {
            Value::Array(_) => Self::ARRAY,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Null => Self::NULL,
            Value::Number(_) => Self::NUMBER,
            Value::Object(_) => Self::OBJECT,
            Value::String(_) => Self::STRING,
        }
    }

    /// Whether a value has one of the types.
    pub(crate) fn take(self, kind: JsonType, is_integer: impl FnOnce() -> bool) -> bool {
        match kind {
            JsonType::Array => self.has(Self::ARRAY),
            JsonType::Boolean => self.has(Self::BOOLEAN),
            JsonType::Null => self.has(Self::NULL),
            JsonType::Number => {
                self.has(Self::NUMBER.without(Self::INTEGER))
                    || self.has(Self::INTEGER) && is_integer()
            }
            JsonType::Object => self.has(Self::OBJECT),
            JsonType::String => self.has(Self::STRING),
        }
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the set contains any type of `other`.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether numbers are allowed here, but only whole ones.
    pub(crate) const fn is_whole_only(self) -> bool {
        self.has(Self::INTEGER) && !self.has(Self::NUMBER.without(Self::INTEGER))
    }

    /// The names of all types in alphabetical order, such as `array or null`.
    pub(crate) fn listed(self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for (types, name) in Self::NAMED {
            let covered = types == Self::INTEGER && names.contains(&"number");
            if self.0 & types.0 == types.0 && !covered {
                names.push(name);
            }
        }
        names.sort_unstable();
        names.join(" or ")
    }

    /// The names of the types, such as `integer or null`.
    pub(crate) fn names(self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for (types, name) in Self::NAMED {
            let whole = self.0 & types.0 == types.0;
            let covered = types == Self::INTEGER && names.contains(&"number");
            if whole && !covered {
                names.push(name);
            }
        }
        names.join(" or ")
    }
}

impl Default for Types {
    fn default() -> Self {
        Self::ALL
    }
}
