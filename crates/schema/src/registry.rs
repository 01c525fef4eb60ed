//! The schemas of tools, found by the names that models use for them.
//!
//! A [`Registry`] reads the declarations of tools in the forms that the APIs have for them, and finds the tool that a
//! call names. A [`SharedRegistry`] can be replaced while others use it, and [`parallel_calls`] splits a call that
//! holds several.

use std::{
    collections::BTreeMap,
    error::Error,
    fmt,
    ops::Range,
    sync::{Arc, PoisonError, RwLock},
};

use serde_json::{Map, Value};
use wiremend_extract::Tools;

use crate::{
    Rules, Schema, SchemaError, SchemaLimits, SchemaOptions,
    names::{distance, folded},
    part::Part,
    tree::{JsonType, Tree},
};

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
        let wanted = keys(name);
        let mut found = self.tools.iter().filter(|(own, _)| wanted.contains(&key(own)));
        match (found.next(), found.next()) {
            (Some((own, tool)), None) => Some((own, tool)),
            _ => None,
        }
    }

    fn nearest(&self, name: &str) -> Option<&str> {
        let wanted = key(name);
        self.names()
            .filter_map(|own| distance(&key(own), &wanted, 3).map(|cost| (cost, own)))
            .min()
            .map(|(_, own)| own)
    }
}

/// A registry that is shared between threads. Readers keep the version that they loaded, and a swap
/// does not wait for them.
///
/// ```
/// use wiremend_schema::{Registry, SharedRegistry};
/// let shared = SharedRegistry::new(Registry::new());
/// let before = shared.load();
/// shared.swap(Registry::new().with_default(wiremend_schema::Schema::from_text("true")?));
/// assert!(before.resolve(None, None).schema().is_none());
/// assert!(shared.load().resolve(None, None).schema().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SharedRegistry(Arc<RwLock<Arc<Registry>>>);

impl SharedRegistry {
    /// Creates a shared registry.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(registry))))
    }

    /// The current registry.
    #[must_use]
    pub fn load(&self) -> Arc<Registry> {
        // Nothing panics while the lock is held, and an `Arc` is never half written.
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the registry, and returns the previous one.
    pub fn swap(&self, registry: Registry) -> Arc<Registry> {
        let mut place = self.0.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut place, Arc::new(registry))
    }
}

/// The keys of schemas in the declarations of OpenAI and Gemini, Anthropic, MCP, and JSON mode.
const SCHEMAS: [&str; 7] = [
    "parameters",
    "parametersJsonSchema",
    "parameters_json_schema",
    "input_schema",
    "inputSchema",
    "schema",
    "json_schema",
];

/// The levels in which Gemini's type names are converted.
const DEPTH: usize = 64;

impl Registry {
    /// Creates a registry of the tools that a request or a server declares.
    ///
    /// It reads OpenAI's `tools` and `functions`, Anthropic's `tools`, Gemini's
    /// `functionDeclarations`, and the response to MCP's `tools/list`; either the list itself, or
    /// an object that contains it. A tool without a schema accepts any object.
    ///
    /// # Errors
    /// If there is no such list, a schema does not compile, or the tools exceed the limits
    /// ([`SchemaLimits::with_tools`]).
    pub fn from_tools(declared: &Value) -> Result<Self, RegistryError> {
        Self::from_tools_with(declared, SchemaOptions::new())
    }

    /// Creates a registry like [`Registry::from_tools`], with options for the schemas.
    ///
    /// # Errors
    /// The same as [`Registry::from_tools`].
    pub fn from_tools_with(
        declared: &Value,
        options: SchemaOptions,
    ) -> Result<Self, RegistryError> {
        let mut registry = Self::new();
        let mut room = Room::new(options.limits());
        for tool in tools(declared)? {
            let members = member(tool, &["function"]).and_then(Value::as_object);
            let Some(members) = members.or_else(|| tool.as_object()) else {
                return Err(RegistryError::Shape { expected: "an object for each tool" });
            };
            if let Some(Value::Array(inner)) = member(tool, &DECLARATIONS) {
                for members in inner.iter().filter_map(Value::as_object) {
                    registry = registry.declare(members, options, &mut room)?;
                }
            } else {
                registry = registry.declare(members, options, &mut room)?;
            }
        }
        Ok(registry)
    }

    /// Creates a registry of named schemas, such as the files of a directory. Each is found by its
    /// name, without `.json` and `.schema`, and by its `$id`.
    ///
    /// # Errors
    /// If a text is not JSON or not a schema, or if there are too many.
    pub fn from_texts<'t>(
        texts: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<Self, RegistryError> {
        let mut registry = Self::new();
        let mut room = Room::new(SchemaLimits::new());
        for (file, text) in texts {
            room.begin()?;
            let name = file.strip_suffix(".json").unwrap_or(file);
            let name = name.strip_suffix(".schema").unwrap_or(name);
            let schema = Schema::from_text(text)
                .map_err(|error| RegistryError::Schema { name: name.to_owned(), error })?;
            room.take(&schema)?;
            registry = registry.with_schema(schema.clone()).with_tool(name, schema);
        }
        Ok(registry)
    }

    fn declare(
        self,
        members: &Map<String, Value>,
        options: SchemaOptions,
        room: &mut Room,
    ) -> Result<Self, RegistryError> {
        room.begin()?;
        let Some(name) = members.get("name").and_then(Value::as_str) else {
            // A built-in tool of the provider without a schema, such as web search.
            return match members.get("type") {
                Some(_) => Ok(self),
                None => Err(RegistryError::Shape { expected: "a name for each tool" }),
            };
        };
        let schema = SCHEMAS.iter().find_map(|key| members.get(*key)).cloned();
        let schema = lower_types(schema.unwrap_or_else(|| serde_json::json!({"type": "object"})));
        let schema = Schema::compile_with(&schema, options)
            .map_err(|error| RegistryError::Schema { name: name.to_owned(), error })?;
        room.take(&schema)?;
        Ok(self.with_tool(name, schema))
    }
}

/// What remains of the limits on tools.
struct Room {
    limits: SchemaLimits,
    tools: usize,
    nodes: usize,
}

impl Room {
    const fn new(limits: SchemaLimits) -> Self {
        Self { limits, tools: 0, nodes: 0 }
    }

    /// Counts a tool, before its schema is compiled.
    const fn begin(&mut self) -> Result<(), RegistryError> {
        self.tools += 1;
        let limit = self.limits.tools();
        if self.tools > limit { Err(RegistryError::TooManyTools { limit }) } else { Ok(()) }
    }

    /// Counts the nodes of a schema.
    fn take(&mut self, schema: &Schema) -> Result<(), RegistryError> {
        self.nodes += schema.nodes();
        let limit = self.limits.total_nodes();
        if self.nodes > limit { Err(RegistryError::TooManyNodes { limit }) } else { Ok(()) }
    }
}

const DECLARATIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];

fn member<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().find_map(|key| value.get(*key))
}

/// The list of tools, inside of any known container.
fn tools(declared: &Value) -> Result<&[Value], RegistryError> {
    let mut value = declared;
    // A request contains `tools`, and a response of MCP contains `result`, which contains `tools`.
    for _ in 0..4 {
        let keys =
            ["tools", "functions", "result", "functionDeclarations", "function_declarations"];
        match value {
            Value::Array(items) => return Ok(items),
            Value::Object(_) => match member(value, &keys) {
                Some(inner) => value = inner,
                None if value.get("name").is_some() || value.get("function").is_some() => {
                    return Ok(std::slice::from_ref(value));
                }
                None => break,
            },
            _ => break,
        }
    }
    Err(RegistryError::Shape { expected: "a list of tools, or an object that holds one" })
}

/// Converts Gemini's `STRING` to `string`, and `nullable` to a type that includes `null`.
fn lower_types(schema: Value) -> Value {
    let mut schema = schema;
    let mut open = vec![(&mut schema, 0)];
    while let Some((value, depth)) = open.pop() {
        match value {
            Value::Object(members) if depth < DEPTH => {
                let nullable = members.get("nullable") == Some(&Value::Bool(true));
                let upper = match members.get("type") {
                    Some(Value::String(name)) if name.chars().all(|c| c.is_ascii_uppercase()) => {
                        Some(name.to_lowercase())
                    }
                    _ => None,
                };
                if let Some(name) = upper {
                    let kind = if nullable {
                        serde_json::json!([name, "null"])
                    } else {
                        Value::String(name)
                    };
                    members.insert("type".into(), kind);
                }
                open.extend(members.values_mut().map(|member| (member, depth + 1)));
            }
            Value::Array(items) if depth < DEPTH => {
                open.extend(items.iter_mut().map(|item| (item, depth + 1)));
            }
            _ => {}
        }
    }
    schema
}

/// Prefixes that providers and templates put before a name.
const PREFIXES: [&str; 6] = ["functions", "function", "default_api", "tools", "tool", "api"];

/// A name without its case and separators.
fn key(name: &str) -> String {
    folded(name)
}

/// The names that a name may refer to: the name itself, and the name without a prefix before a dot
/// and without the number of the call after a colon.
fn keys(name: &str) -> Vec<String> {
    let bare = match name.rsplit_once(':') {
        Some((bare, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ => name,
    };
    let mut keys = vec![key(bare)];
    let prefix = bare.split_once('.').or_else(|| bare.split_once('/'));
    if let Some((_, rest)) = prefix.filter(|(prefix, _)| PREFIXES.contains(prefix)) {
        keys.push(key(rest));
    }
    keys
}

impl Registry {
    /// The tools, for a [`CallExtractor`](wiremend_extract::CallExtractor): their names, the order of
    /// their parameters, for arguments that are given by position, and the types of these, for values
    /// that are written as bare text.
    ///
    /// ```
    /// use wiremend_core::MendOptions;
    /// use wiremend_extract::{CallExtractor, FoundCalls};
    /// use wiremend_schema::Registry;
    /// use serde_json::json;
    ///
    /// let registry = Registry::from_tools(&json!([{"name": "book", "parameters": {
    ///     "type": "object", "properties": {"seats": {"type": "integer"}},
    /// }}]))?;
    /// let mut reader = CallExtractor::new(MendOptions::new()).with_tools(registry.tools());
    /// let mut found = FoundCalls::default();
    /// reader.push(b"[book(2)]", &mut found);
    /// reader.finish_at_eos(&mut found);
    /// assert_eq!(found.calls()[0].arguments(), br#"{"seats": 2}"#);
    /// # Ok::<(), wiremend_schema::RegistryError>(())
    /// ```
    #[must_use]
    pub fn tools(&self) -> Tools {
        self.tools.iter().fold(Tools::new(), |tools, (name, tool)| {
            let parameters = Part::root(&tool.schema).properties();
            tools.with_tool(name, parameters, Some(tool.schema.guide()))
        })
    }
}

/// The tool that models invent for parallel calls, without case and separators.
const NAME: &str = "multitooluseparallel";

/// One of several calls inside the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParallelCall {
    name: String,
    arguments: Range<usize>,
}

impl ParallelCall {
    /// The name as it is written, such as `functions.search`.
    /// [`Registry::resolve`](Registry::resolve) recognises such spellings.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The byte range of its arguments in the text.
    #[must_use]
    pub fn arguments(&self) -> Range<usize> {
        self.arguments.clone()
    }
}

/// The calls inside a call of `multi_tool_use.parallel`, a tool that models invent. `None` for any
/// other tool, and if one of the calls has no name or no object of arguments.
///
/// ```
/// use wiremend_schema::parallel_calls;
/// let text = r#"{"tool_uses": [{"recipient_name": "functions.add", "parameters": {"a": 1}}]}"#;
/// let calls = parallel_calls("multi_tool_use.parallel", text).unwrap();
/// assert_eq!(calls[0].name(), "functions.add");
/// assert_eq!(&text[calls[0].arguments()], r#"{"a": 1}"#);
/// assert!(parallel_calls("add", text).is_none());
/// ```
#[must_use]
pub fn parallel_calls(name: &str, arguments: &str) -> Option<Vec<ParallelCall>> {
    if !keys(name).iter().any(|key| key == NAME) {
        return None;
    }
    let tree = Tree::read(arguments).ok()?;
    let uses = tree.root().member("tool_uses")?;
    if uses.kind() != JsonType::Array || uses.len() == 0 {
        return None;
    }
    uses.children()
        .map(|call| {
            let name = call.member("recipient_name").or_else(|| call.member("name"))?;
            let arguments = call.member("parameters").or_else(|| call.member("arguments"))?;
            let object = arguments.kind() == JsonType::Object;
            let name = name.as_str().filter(|_| object)?.into_owned();
            Some(ParallelCall { name, arguments: arguments.span() })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{key, keys, parallel_calls};

    #[test]
    fn a_name_is_known_in_every_spelling() {
        for name in [
            "functions.get_weather",
            "getWeather",
            "get-weather",
            "get.weather",
            "get_weather:0",
            "default_api.get_weather",
            "Get Weather",
            "functions.get_weather:12",
        ] {
            assert!(keys(name).contains(&key("get_weather")), "{name}");
        }
        for name in ["get_weathers", "my.get_weather", "weather", "get_weather:x"] {
            assert!(!keys(name).contains(&key("get_weather")), "{name}");
        }
    }

    #[test]
    fn all_calls_are_found_or_none() {
        let calls = |text: &str| parallel_calls("multi_tool_use.parallel", text);
        let two = r#"{"tool_uses": [{"recipient_name": "f", "parameters": {}}, {"name": "g", "arguments": {"x": 1}}]}"#;
        assert_eq!(calls(two).unwrap().len(), 2);
        for text in [
            "",
            "{}",
            "[]",
            r#"{"tool_uses": []}"#,
            r#"{"tool_uses": [{"recipient_name": "f"}]}"#,
            r#"{"tool_uses": [{"recipient_name": "f", "parameters": "{}"}]}"#,
            r#"{"tool_uses": [{"recipient_name": 1, "parameters": {}}]}"#,
        ] {
            assert_eq!(calls(text), None, "{text}");
        }
    }
}
