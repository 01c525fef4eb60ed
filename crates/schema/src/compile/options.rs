//! Limits and options for compiling a schema, and why one does not compile.
//!
//! Schemas come from tool servers, which are not trusted, so their size is limited.

use std::{error::Error, fmt};

use jsonschema::ValidationError;
use serde_json::{Map, Value};

/// Limits on a schema, which are checked before it is compiled.
///
/// ```
/// use wiremend_schema::{Schema, SchemaError, SchemaLimits};
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
    branches: usize,
    depth: usize,
    bytes: usize,
    patterns: usize,
    tools: usize,
}

impl SchemaLimits {
    /// The defaults: 5,000 nodes, 512 properties per object, 512 branches per union, 64 levels, 1
    /// MiB of text, of which 64 KiB may be patterns, and 1,024 tools.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            nodes: 5_000,
            properties: 512,
            branches: 512,
            depth: 64,
            bytes: 1 << 20,
            patterns: 64 << 10,
            tools: 1_024,
        }
    }

    /// Sets how many JSON values the schema may contain.
    #[must_use]
    pub const fn with_nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// Sets how many properties one object may declare.
    #[must_use]
    pub const fn with_properties(mut self, properties: usize) -> Self {
        self.properties = properties;
        self
    }

    /// Sets how many branches one `anyOf`, `oneOf` or `allOf` may have.
    #[must_use]
    pub const fn with_branches(mut self, branches: usize) -> Self {
        self.branches = branches;
        self
    }

    /// Sets how deeply the schema may be nested, in levels; at most 127.
    #[must_use]
    pub const fn with_depth(mut self, levels: usize) -> Self {
        self.depth = if levels > 127 { 127 } else { levels };
        self
    }

    /// Sets the total length of all keys and strings, in bytes. The JSON Pointers of all values
    /// together may be four times as long.
    #[must_use]
    pub const fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets the total length of all patterns, in bytes. A single pattern may have an eighth of
    /// that. Compiled patterns may take 256 times as much memory.
    #[must_use]
    pub const fn with_patterns(mut self, bytes: usize) -> Self {
        self.patterns = bytes;
        self
    }

    /// Sets how many tools a declaration may contain, and how many schemas may be read together,
    /// for a [`Registry`](crate::Registry). Together, their schemas may have twenty times as many
    /// nodes as a single schema.
    #[must_use]
    pub const fn with_tools(mut self, tools: usize) -> Self {
        self.tools = tools;
        self
    }

    pub(crate) const fn tools(self) -> usize {
        self.tools
    }

    /// How many nodes several schemas may have together.
    pub(crate) const fn total_nodes(self) -> usize {
        self.nodes.saturating_mul(20)
    }

    pub(super) const fn pattern_room(self) -> PatternRoom {
        PatternRoom { limit: self.patterns, spelled: 0, compiled: 0 }
    }

    /// Returns the number of nodes, or an error if the schema exceeds the limits.
    pub(super) fn check(self, schema: &Value) -> Result<usize, SchemaError> {
        let (mut nodes, mut bytes, mut pointers) = (0, 0_usize, 0_usize);
        // Each value, with its depth and the length of its pointer.
        let mut open = vec![(schema, 0, 0_usize)];
        while let Some((value, depth, pointer)) = open.pop() {
            nodes += 1;
            pointers = pointers.saturating_add(pointer);
            if nodes > self.nodes {
                return Err(SchemaError::TooManyNodes { limit: self.nodes });
            }
            if depth > self.depth {
                return Err(SchemaError::TooDeep { limit: self.depth });
            }
            match value {
                Value::Array(items) => {
                    open.extend(items.iter().map(|item| (item, depth + 1, pointer + 4)));
                }
                Value::Object(members) => {
                    self.check_object(members)?;
                    for (key, member) in members {
                        bytes = bytes.saturating_add(key.len());
                        open.push((member, depth + 1, pointer + 1 + key.len()));
                    }
                }
                Value::String(text) => bytes = bytes.saturating_add(text.len()),
                _ => {}
            }
            if bytes > self.bytes || pointers > self.bytes.saturating_mul(4) {
                return Err(SchemaError::TooLarge { limit: self.bytes });
            }
        }
        Ok(nodes)
    }

    fn check_object(self, members: &Map<String, Value>) -> Result<(), SchemaError> {
        for key in ["properties", "patternProperties"] {
            let declared = members.get(key).and_then(Value::as_object);
            if declared.is_some_and(|declared| declared.len() > self.properties) {
                return Err(SchemaError::TooManyProperties { limit: self.properties });
            }
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let branches = members.get(key).and_then(Value::as_array);
            if branches.is_some_and(|branches| branches.len() > self.branches) {
                return Err(SchemaError::TooManyBranches { limit: self.branches });
            }
        }
        Ok(())
    }
}

/// What remains of the limit on patterns while a schema is compiled.
pub(super) struct PatternRoom {
    limit: usize,
    spelled: usize,
    compiled: usize,
}

impl PatternRoom {
    /// Counts the source of a pattern, before it is parsed.
    pub(super) fn spell(&mut self, pattern: &str, pointer: &str) -> Result<(), SchemaError> {
        self.spelled = self.spelled.saturating_add(pattern.len());
        if self.spelled > self.limit || pattern.len() > self.limit / 8 {
            return Err(SchemaError::PatternTooLarge {
                pointer: pointer.to_owned(),
                limit: self.limit,
            });
        }
        Ok(())
    }

    /// Counts the size of a compiled pattern, in bytes.
    pub(super) fn compile(&mut self, bytes: usize, pointer: &str) -> Result<(), SchemaError> {
        self.compiled = self.compiled.saturating_add(bytes);
        if self.compiled > self.limit.saturating_mul(256) {
            return Err(SchemaError::PatternTooLarge {
                pointer: pointer.to_owned(),
                limit: self.limit,
            });
        }
        Ok(())
    }
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// Options for compiling a schema.
///
/// ```
/// use wiremend_schema::{Schema, SchemaOptions, Tree};
///
/// let schema = serde_json::json!({"type": "string", "format": "date"});
/// let tree = Tree::read(r#""tomorrow""#)?;
/// // In draft 2020-12, `format` is an annotation.
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
    /// The defaults: the limits of [`SchemaLimits::new`], and the meaning that the draft gives to
    /// `format`.
    #[must_use]
    pub const fn new() -> Self {
        Self { limits: SchemaLimits::new(), asserts_formats: None }
    }

    /// Sets the limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: SchemaLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets whether a string must match the `format` in the schema, whatever the draft. By default,
    /// drafts 4 to 7 assert it, and 2019-09 and 2020-12 do not.
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

/// Why a schema does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is not JSON.
    #[non_exhaustive]
    NotJson {
        /// The message of the JSON parser.
        message: String,
    },
    /// The schema is not valid for its draft, has a reference to something that does not exist, or
    /// has a pattern that cannot be compiled.
    #[non_exhaustive]
    Refused {
        /// Where in the schema, as a JSON Pointer.
        pointer: String,
        /// What is wrong.
        message: String,
    },
    /// The schema is nested too deeply.
    #[non_exhaustive]
    TooDeep {
        /// The limit, in levels.
        limit: usize,
    },
    /// The schema contains too many values.
    #[non_exhaustive]
    TooManyNodes {
        /// The limit.
        limit: usize,
    },
    /// The keys and strings of the schema are too long.
    #[non_exhaustive]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// A union in the schema has too many branches.
    #[non_exhaustive]
    TooManyBranches {
        /// The limit.
        limit: usize,
    },
    /// The patterns of the schema are too long, or too large when compiled.
    #[non_exhaustive]
    PatternTooLarge {
        /// The pattern that exceeds the limit, as a JSON Pointer.
        pointer: String,
        /// The limit for all patterns together, in bytes of their source.
        limit: usize,
    },
    /// An object in the schema declares too many properties.
    #[non_exhaustive]
    TooManyProperties {
        /// The limit.
        limit: usize,
    },
}

impl SchemaError {
    pub(super) fn refused(error: &ValidationError<'_>) -> Self {
        use jsonschema::error::ValidationErrorKind as Kind;
        // Here the instance is the schema itself, which the message should not repeat.
        let message = match error.kind() {
            Kind::Referencing(error) => error.to_string(),
            _ => error.masked_with("the value").to_string(),
        };
        Self::Refused { pointer: error.instance_path().to_string(), message }
    }
}

impl SchemaError {
    /// The subschema at `pointer` has a reference that cannot be resolved.
    pub(super) fn refers(pointer: &str, error: &dyn fmt::Display) -> Self {
        Self::Refused { pointer: pointer.to_owned(), message: error.to_string() }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { message } => write!(f, "the schema is not JSON: {message}"),
            Self::Refused { pointer, message } if pointer.is_empty() => {
                write!(f, "the schema is not valid: {message}")
            }
            Self::Refused { pointer, message } => {
                write!(f, "the schema is not valid at {pointer}: {message}")
            }
            Self::TooDeep { limit } => write!(f, "the schema is deeper than {limit} levels"),
            Self::TooManyNodes { limit } => write!(f, "the schema has more than {limit} nodes"),
            Self::TooLarge { limit } => {
                write!(f, "the schema has more than {limit} bytes of text")
            }
            Self::TooManyBranches { limit } => {
                write!(f, "a union of the schema has more than {limit} branches")
            }
            Self::PatternTooLarge { pointer, limit } => {
                write!(
                    f,
                    "the patterns of the schema are larger than {limit} bytes allow, at {pointer}"
                )
            }
            Self::TooManyProperties { limit } => {
                write!(f, "an object of the schema declares more than {limit} properties")
            }
        }
    }
}

impl Error for SchemaError {}
