//! Compiles schemas: once, offline and within limits.

mod build;
mod checks;
mod options;
mod pattern;
mod shape;
mod subschemas;

use std::{fmt, sync::Arc};

pub(crate) use checks::{Checks, Combined, Contains, Dynamic, List, Listed, Object, Scalar, Text};
use jsonschema::Draft as Dialect;
pub use options::{SchemaError, SchemaLimits, SchemaOptions};
pub(crate) use pattern::{Pattern, Searched};
use serde_json::Value;
pub(crate) use shape::{Additional, Choices, Off, Shape, Shapes, words};
pub(crate) use shape::{ShapeId, Types};

use crate::code::coded;

/// The drafts of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Draft {
    /// Draft 4
    Draft4,
    /// Draft 6
    Draft6,
    /// Draft 7
    Draft7,
    /// 2019-09
    Draft201909,
    /// 2020-12
    Draft202012,
}

impl Draft {
    /// All drafts, from the oldest to the newest.
    pub const ALL: &'static [Self] =
        &[Self::Draft4, Self::Draft6, Self::Draft7, Self::Draft201909, Self::Draft202012];

    /// The stable name, such as `draft-07` or `2020-12`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Draft4 => "draft-04",
            Self::Draft6 => "draft-06",
            Self::Draft7 => "draft-07",
            Self::Draft201909 => "2019-09",
            Self::Draft202012 => "2020-12",
        }
    }
}

coded!(Draft, "draft");

/// A compiled JSON Schema. It is cheap to clone and can be shared between threads.
///
/// ```
/// use wiremend_schema::{Schema, Tree};
///
/// let schema = Schema::from_text(r#"{"type": "array", "items": {"type": "integer"}}"#)?;
/// assert!(schema.accepts(&Tree::read("[1, 2.0]")?));
/// let tree = Tree::read(r#"[1, "2"]"#)?;
/// assert_eq!(schema.validate(&tree)[0].to_string(), r#"/1: expected integer, got string "2""#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    source: Value,
    dialect: Dialect,
    shapes: Shapes,
    nodes: usize,
}

impl Schema {
    /// Compiles a schema.
    /// The draft is the one that `$schema` names, or else 2020-12. References may point only into
    /// the schema itself; nothing is fetched. `format` is asserted if the draft asserts it.
    ///
    /// # Errors
    /// If the schema exceeds [`SchemaLimits::new`], is not valid for its draft, refers to something
    /// outside itself, or has a pattern that cannot be compiled.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Self::compile_within(schema, SchemaLimits::new())
    }

    /// Compiles a schema like [`Schema::compile`], with other limits.
    ///
    /// # Errors
    /// The same as [`Schema::compile`].
    pub fn compile_within(schema: &Value, limits: SchemaLimits) -> Result<Self, SchemaError> {
        Self::compile_with(schema, SchemaOptions::new().with_limits(limits))
    }

    /// Compiles a schema like [`Schema::compile`], with options.
    ///
    /// # Errors
    /// The same as [`Schema::compile`].
    pub fn compile_with(schema: &Value, options: SchemaOptions) -> Result<Self, SchemaError> {
        let nodes = options.limits().check(schema)?;
        jsonschema::meta::options()
            .validate(schema)
            .map_err(|error| SchemaError::refused(&error))?;
        let dialect = Dialect::default().detect(schema);
        let room = options.limits().pattern_room();
        let shapes = build::shapes(schema, dialect, options.format_assertion(), room)?;
        Ok(Self(Arc::new(Compiled { source: schema.clone(), dialect, shapes, nodes })))
    }

    /// Compiles a schema from its text.
    ///
    /// # Errors
    /// If the text is not JSON, and the same as [`Schema::compile`].
    pub fn from_text(text: &str) -> Result<Self, SchemaError> {
        let value = serde_json::from_str(text)
            .map_err(|error| SchemaError::NotJson { message: error.to_string() })?;
        Self::compile(&value)
    }

    /// The schema as it was passed to the compiler.
    #[must_use]
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    /// The draft of the schema.
    #[must_use]
    pub fn draft(&self) -> Draft {
        match self.0.dialect {
            Dialect::Draft4 => Draft::Draft4,
            Dialect::Draft6 => Draft::Draft6,
            Dialect::Draft7 => Draft::Draft7,
            Dialect::Draft201909 => Draft::Draft201909,
            _ => Draft::Draft202012,
        }
    }

    /// The `$id` of the schema (`id` in draft 4), if it has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        let key = if self.0.dialect == Dialect::Draft4 { "id" } else { "$id" };
        self.0.source.get(key).and_then(Value::as_str)
    }

    pub(crate) fn shapes(&self) -> &Shapes {
        &self.0.shapes
    }

    /// How many JSON values the schema contains.
    pub(crate) fn nodes(&self) -> usize {
        self.0.nodes
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("id", &self.id()).field("draft", &self.draft()).finish()
    }
}
