//! How large a schema may be. Schemas come from tool servers, which are not trusted.

use serde_json::Value;

use super::SchemaError;

/// Bounds on a schema, checked before it is compiled.
///
/// ```
/// use jsonmend_schema::{Schema, SchemaError, SchemaLimits};
/// use serde_json::json;
///
/// let limits = SchemaLimits::new().with_nodes(3);
/// let schema = json!({"type": "object", "required": ["a"], "minProperties": 1});
/// let error = Schema::compile_within(&schema, limits).unwrap_err();
/// assert!(matches!(error, SchemaError::TooManyNodes { limit: 3, .. }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaLimits {
    nodes: usize,
    properties: usize,
    depth: usize,
}

impl SchemaLimits {
    /// The defaults: 5,000 nodes, 512 properties an object, 64 levels.
    #[must_use]
    pub const fn new() -> Self {
        Self { nodes: 5_000, properties: 512, depth: 64 }
    }

    /// How many JSON values the schema may consist of.
    #[must_use]
    pub const fn with_nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// How many properties one object of it may declare.
    #[must_use]
    pub const fn with_properties(mut self, properties: usize) -> Self {
        self.properties = properties;
        self
    }

    /// How deep it may be nested, in levels; at most 127.
    #[must_use]
    pub const fn with_depth(mut self, levels: usize) -> Self {
        self.depth = if levels > 127 { 127 } else { levels };
        self
    }

    pub(super) fn check(self, schema: &Value) -> Result<(), SchemaError> {
        let mut nodes = 0;
        let mut open = vec![(schema, 0)];
        while let Some((value, depth)) = open.pop() {
            nodes += 1;
            if nodes > self.nodes {
                return Err(SchemaError::TooManyNodes { limit: self.nodes });
            }
            if depth > self.depth {
                return Err(SchemaError::TooDeep { limit: self.depth });
            }
            match value {
                Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
                Value::Object(members) => {
                    let declared = members.get("properties").and_then(Value::as_object);
                    if declared.is_some_and(|declared| declared.len() > self.properties) {
                        return Err(SchemaError::TooManyProperties { limit: self.properties });
                    }
                    open.extend(members.values().map(|member| (member, depth + 1)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// How a schema is compiled.
///
/// ```
/// use jsonmend_schema::{Schema, SchemaOptions, Tree};
///
/// let schema = serde_json::json!({"type": "string", "format": "date"});
/// let tree = Tree::read(r#""tomorrow""#)?;
/// // In draft 2020-12 a format is an annotation.
/// assert!(Schema::compile(&schema)?.accepts(&tree));
/// let options = SchemaOptions::new().with_format_assertion(true);
/// assert!(!Schema::compile_with(&schema, options)?.accepts(&tree));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaOptions {
    limits: SchemaLimits,
    asserts_formats: Option<bool>,
}

impl SchemaOptions {
    /// The defaults: the limits of [`SchemaLimits::new`], and `format` as the draft has it.
    #[must_use]
    pub const fn new() -> Self {
        Self { limits: SchemaLimits::new(), asserts_formats: None }
    }

    /// With other limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: SchemaLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether a string must be of the `format` that the schema names, whatever the draft. By
    /// default drafts 4 to 7 assert it, and 2019-09 and 2020-12 do not.
    #[must_use]
    pub const fn with_format_assertion(mut self, asserted: bool) -> Self {
        self.asserts_formats = Some(asserted);
        self
    }

    /// The limits.
    #[must_use]
    pub const fn limits(&self) -> SchemaLimits {
        self.limits
    }

    /// Whether `format` is asserted; `None` if the draft decides.
    #[must_use]
    pub const fn format_assertion(&self) -> Option<bool> {
        self.asserts_formats
    }
}
