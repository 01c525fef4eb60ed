//! Reads tools as providers declare them.

use serde_json::{Map, Value};

use super::{Registry, RegistryError};
use crate::{Schema, SchemaLimits, SchemaOptions};

/// The keys of schemas in the declarations of OpenAI and Gemini, Anthropic, MCP, and JSON mode.
const SCHEMAS: [&str; 6] =
    ["parameters", "parametersJsonSchema", "input_schema", "inputSchema", "schema", "json_schema"];

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
