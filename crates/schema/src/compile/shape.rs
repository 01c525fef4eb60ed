//! What fitting needs to know about each subschema.

use std::{collections::HashMap, sync::OnceLock};

use serde_json::Value;

use super::{
    checks::Checks,
    choices::Choices,
    types::{ShapeId, Types},
};

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
    /// `x-wiremend`: `false`, or the codes of rules that are off here and below.
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
