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
/// assert_eq!(error, SchemaError::TooManyNodes { limit: 3 });
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
