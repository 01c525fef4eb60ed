//! Looks up schemas by the name of a tool, by their identifier, or by default.

mod calls;
mod import;
mod names;
mod parallel;
mod shared;

use std::{collections::BTreeMap, error::Error, fmt};

pub use parallel::{ParallelCall, parallel_calls};
pub use shared::SharedRegistry;

use crate::{Rules, Schema, SchemaError, issue::distance};

/// A collection of schemas, which finds the schema that a value is for.
///
/// ```
/// use wiremend_schema::{Registry, Resolved};
/// use serde_json::json;
///
/// let registry = Registry::from_tools(&json!([
///     {"name": "search", "input_schema": {"type": "object", "required": ["query"]}},
/// ]))?;
/// assert!(matches!(registry.resolve(Some("functions.search"), None), Resolved::Tool { .. }));
/// let Resolved::Unknown { nearest, .. } = registry.resolve(Some("serach"), None) else { panic!() };
/// assert_eq!(nearest, Some("search"));
/// # Ok::<(), wiremend_schema::RegistryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Registry {
    tools: BTreeMap<String, Tool>,
    ids: BTreeMap<String, Schema>,
    default: Option<Schema>,
}

/// A tool: its schema, and which rules are enabled for it.
#[derive(Clone, Debug)]
struct Tool {
    schema: Schema,
    rules: Rules,
}

/// The schema that a value is for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Resolved<'r> {
    /// The default schema, if nothing else was named.
    #[non_exhaustive]
    Default {
        /// The schema.
        schema: &'r Schema,
    },
    /// The schema with that identifier.
    #[non_exhaustive]
    Id {
        /// The schema.
        schema: &'r Schema,
    },
    /// No name was given, and there is no default schema.
    None,
    /// The schema of a tool.
    #[non_exhaustive]
    Tool {
        /// The name under which the tool is registered, which may differ in spelling from the
        /// requested name.
        name: &'r str,
        /// The schema of its arguments.
        schema: &'r Schema,
        /// Which rules are enabled for it.
        rules: &'r Rules,
    },
    /// There is no such tool.
    #[non_exhaustive]
    Unknown {
        /// The tool whose name is closest to the requested one, if any is close. This is a
        /// suggestion; it is never used in place of the tool that was named.
        nearest: Option<&'r str>,
    },
}

impl<'r> Resolved<'r> {
    /// The schema, if one was found.
    #[must_use]
    pub const fn schema(&self) -> Option<&'r Schema> {
        match self {
            Self::Default { schema } | Self::Id { schema } | Self::Tool { schema, .. } => {
                Some(*schema)
            }
            Self::None | Self::Unknown { .. } => None,
        }
    }
}

/// Why a declaration of tools was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryError {
    /// There are too many tools.
    #[non_exhaustive]
    TooManyTools {
        /// The limit.
        limit: usize,
    },
    /// The schemas are too large together.
    #[non_exhaustive]
    TooManyNodes {
        /// How many JSON values all schemas together may contain.
        limit: usize,
    },
    /// A schema does not compile.
    #[non_exhaustive]
    Schema {
        /// The name of the tool.
        name: String,
        /// What is wrong.
        error: SchemaError,
    },
    /// The declaration has an unknown form.
    #[non_exhaustive]
    Shape {
        /// What was expected.
        expected: &'static str,
    },
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema { name, error } => write!(f, "tool {name}: {error}"),
            Self::TooManyTools { limit } => write!(f, "more than {limit} tools"),
            Self::TooManyNodes { limit } => {
                write!(f, "the schemas of the tools have more than {limit} nodes together")
            }
            Self::Shape { expected } => {
                write!(f, "not a declaration of tools: expected {expected}")
            }
        }
    }
}

impl Error for RegistryError {}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub const fn new() -> Self {
        Self { tools: BTreeMap::new(), ids: BTreeMap::new(), default: None }
    }

    /// Adds a tool or type. If the name is already taken, the new one replaces it.
    #[must_use]
    pub fn with_tool(mut self, name: impl Into<String>, schema: Schema) -> Self {
        self.tools.insert(name.into(), Tool { schema, rules: Rules::new() });
        self
    }

    /// Sets which rules are enabled for a registered tool. Has no effect for an unknown one.
    #[must_use]
    pub fn with_rules(mut self, name: &str, rules: Rules) -> Self {
        if let Some(tool) = self.tools.get_mut(name) {
            tool.rules = rules;
        }
        self
    }

    /// Adds a schema that is found by its own `$id`. Has no effect if it has none.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Self {
        if let Some(id) = schema.id().map(str::to_owned) {
            self.ids.insert(id, schema);
        }
        self
    }

    /// Sets the schema for values that name no other.
    #[must_use]
    pub fn with_default(mut self, schema: Schema) -> Self {
        self.default = Some(schema);
        self
    }

    /// Finds the schema for a value: by the name of the tool, then by the identifier of the schema,
    /// then the default. The default is not used for an unknown tool.
    #[must_use]
    pub fn resolve(&self, name: Option<&str>, id: Option<&str>) -> Resolved<'_> {
        if let Some(name) = name.filter(|_| !self.tools.is_empty()) {
            return match self.find(name) {
                Some((name, tool)) => {
                    Resolved::Tool { name, schema: &tool.schema, rules: &tool.rules }
                }
                None => Resolved::Unknown { nearest: self.nearest(name) },
            };
        }
        let by_id = id.and_then(|id| self.ids.get(id)).map(|schema| Resolved::Id { schema });
        let default = || self.default.as_ref().map(|schema| Resolved::Default { schema });
        by_id.or_else(default).unwrap_or(Resolved::None)
    }

    /// The names of the tools, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The tool with that name, or the only one whose name differs from it just in spelling
    /// ([`Rule::ToolNameNormalise`](crate::Rule::ToolNameNormalise)).
    fn find(&self, name: &str) -> Option<(&str, &Tool)> {
        if let Some((own, tool)) = self.tools.get_key_value(name) {
            return Some((own, tool));
        }
        let wanted = names::keys(name);
        let mut found = self.tools.iter().filter(|(own, _)| wanted.contains(&names::key(own)));
        match (found.next(), found.next()) {
            (Some((own, tool)), None) => Some((own, tool)),
            _ => None,
        }
    }

    fn nearest(&self, name: &str) -> Option<&str> {
        let key = names::key(name);
        self.names()
            .filter_map(|own| distance(&names::key(own), &key, 3).map(|cost| (cost, own)))
            .min()
            .map(|(_, own)| own)
    }
}
