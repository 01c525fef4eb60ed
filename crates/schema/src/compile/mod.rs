//! Compiling a schema: once, offline, within limits.

mod error;
mod guard;
mod reference;
mod shape;
mod walk;

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use jsonschema::{
    Draft as Dialect, PatternOptions, Registry, Retrieve, ValidationOptions, Validator,
};
use serde_json::{Value, json};

pub use error::SchemaError;
pub use guard::{SchemaLimits, SchemaOptions};
pub(crate) use shape::{Additional, Off, Shape, ShapeId, Shapes, Types};

use crate::{
    code::coded,
    issue::Issue,
    tree::{Instance, Node, Tree, TreeJson},
};

/// How often a pattern with look-around may step back before it counts as not matched.
const BACKTRACKS: usize = 100_000;
/// The largest compiled pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 20;
/// The name under which the schema refers to itself while a part of it is compiled.
const OWN_URI: &str = "json-schema:///jsonmend";

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

    /// The stable name: `draft-07`, `2020-12`.
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

/// A compiled JSON Schema. Cheap to clone, and shared between threads.
///
/// ```
/// use jsonmend_schema::{Schema, Tree};
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
    asserts_formats: Option<bool>,
    validator: Validator<TreeJson>,
    shapes: Shapes,
    /// The schema as its parts refer to it; made with the first part.
    registry: OnceLock<Option<Registry<'static>>>,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// The draft is the one `$schema` names; without it, 2020-12. References lead to places in the
    /// schema itself; nothing is fetched. `format` is asserted where the draft asserts it.
    ///
    /// # Errors
    /// A schema that is larger than [`SchemaLimits::new`] allows, is no valid schema of its draft,
    /// refers to something outside itself, or has a pattern that cannot be compiled.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Self::compile_within(schema, SchemaLimits::new())
    }

    /// As [`Schema::compile`], with other limits.
    ///
    /// # Errors
    /// As there.
    pub fn compile_within(schema: &Value, limits: SchemaLimits) -> Result<Self, SchemaError> {
        Self::compile_with(schema, SchemaOptions::new().with_limits(limits))
    }

    /// As [`Schema::compile`], with options.
    ///
    /// # Errors
    /// As there.
    pub fn compile_with(schema: &Value, options: SchemaOptions) -> Result<Self, SchemaError> {
        options.limits().check(schema)?;
        let dialect = Dialect::default().detect(schema);
        let asserts_formats = options.format_assertion();
        let validator = validation(asserts_formats)
            .build(schema)
            .map_err(|error| SchemaError::refused(&error))?;
        let shapes = walk::shapes(schema, dialect);
        let (source, registry) = (schema.clone(), OnceLock::new());
        let compiled = Compiled { source, dialect, asserts_formats, validator, shapes, registry };
        Ok(Self(Arc::new(compiled)))
    }

    /// Compiles a schema from its text.
    ///
    /// # Errors
    /// Where the text is no JSON, and as in [`Schema::compile`].
    pub fn from_text(text: &str) -> Result<Self, SchemaError> {
        let value = serde_json::from_str(text)
            .map_err(|error| SchemaError::NotJson { message: error.to_string() })?;
        Self::compile(&value)
    }

    /// The schema as it was given.
    #[must_use]
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    /// Its draft.
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

    /// Its `$id` (`id` in draft 4), if it has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        let key = if self.0.dialect == Dialect::Draft4 { "id" } else { "$id" };
        self.0.source.get(key).and_then(Value::as_str)
    }

    /// Whether a value is valid.
    #[must_use]
    pub fn accepts(&self, tree: &Tree<'_>) -> bool {
        self.0.validator.is_valid(Instance::Node(tree.root()))
    }

    /// What is wrong with a value, in document order; empty if it is valid.
    #[must_use]
    pub fn validate(&self, tree: &Tree<'_>) -> Vec<Issue> {
        crate::issue::issues(self, tree)
    }

    pub(crate) fn shapes(&self) -> &Shapes {
        &self.0.shapes
    }

    pub(crate) fn validator(&self) -> &Validator<TreeJson> {
        &self.0.validator
    }

    /// Whether a value is valid for a part of the schema. The validator of the part is made when
    /// it is first asked for: few parts of a schema ever are.
    pub(crate) fn part_accepts(&self, part: ShapeId, node: Node<'_>) -> bool {
        if part == Shapes::ROOT {
            return self.0.validator.is_valid(Instance::Node(node));
        }
        let Some(shape) = self.0.shapes.shape(part) else { return true };
        let validator = shape.validator.get_or_init(|| self.part(&shape.pointer).map(Box::new));
        // A part that cannot be compiled on its own accepts nothing, so nothing is repaired by it.
        validator.as_ref().is_some_and(|validator| validator.is_valid(Instance::Node(node)))
    }

    fn part(&self, pointer: &str) -> Option<Validator<TreeJson>> {
        let registry = self.0.registry.get_or_init(|| {
            Registry::new()
                .draft(self.0.dialect)
                .add(OWN_URI, self.0.source.clone())
                .and_then(jsonschema::RegistryBuilder::prepare)
                .ok()
        });
        let registry = registry.as_ref()?;
        validation(self.0.asserts_formats)
            .with_draft(self.0.dialect)
            .with_registry(registry)
            .build(&json!({ "$ref": format!("{OWN_URI}#{}", fragment(pointer)) }))
            .ok()
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("id", &self.id()).field("draft", &self.draft()).finish()
    }
}

/// What every validator has in common.
fn validation<'r>(
    asserts_formats: Option<bool>,
) -> ValidationOptions<'r, Arc<dyn Retrieve>, TreeJson> {
    let options = jsonschema::options_for::<TreeJson>().offline().with_pattern_options(patterns());
    match asserts_formats {
        Some(asserted) => options.should_validate_formats(asserted),
        None => options,
    }
}

fn patterns() -> PatternOptions<jsonschema::FancyRegex> {
    PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS).size_limit(PATTERN_SIZE)
}

/// A JSON Pointer as a URI fragment (RFC 6901, section 6).
fn fragment(pointer: &str) -> String {
    let mut out = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'$' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
