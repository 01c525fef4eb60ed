//! States a schema in the first request, so that fewer answers are wrong.

mod anthropic;
mod gemini;
mod loss;
mod openai;

use serde_json::{Map, Value, json};
use wiremend_schema::Schema;

use crate::{Shape, example::example, prompt::frame::harmless_json};
use loss::Losses;
pub use loss::{Loss, LossKind};

/// The schema as instructions, with an example: for the system text of the first request, and in
/// [`Mode::JsonObject`](crate::Mode::JsonObject) and [`Mode::Text`](crate::Mode::Text) the only way to state it.
///
/// ```
/// use wiremend_reask::instructions;
/// use wiremend_schema::Schema;
///
/// let schema = Schema::from_text(r#"{"type": "object", "properties": {"days": {"type": "integer"}}}"#)?;
/// assert!(instructions(&schema).ends_with("\n{\"days\":0}"));
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[must_use]
pub fn instructions(schema: &Schema) -> String {
    stated(
        "Reply with one JSON value and nothing else: no other words, no code fence. It must be valid for this JSON Schema:",
        schema,
    )
}

/// The same for the arguments of a tool.
pub(crate) fn tool_instructions(schema: &Schema, tool: &str) -> String {
    stated(
        &format!("Call the tool {tool:?}. Its arguments must be valid for this JSON Schema:"),
        schema,
    )
}

fn stated(order: &str, schema: &Schema) -> String {
    let shown = example(schema);
    let about = if shown.is_valid() {
        "An example of its form, whose values are made up:"
    } else {
        "Its form, with values that are made up and need not be valid:"
    };
    // A schema may be somebody else's, as those of tool servers are.
    let source = harmless_json(&schema.source().to_string());
    format!("{order}\n{source}\n\n{about}\n{}", harmless_json(&shown.value().to_string()))
}

/// A schema in the form in which a provider takes it, and what that form cannot express.
///
/// What is lost here is only lost for the provider: an answer is still validated against the whole schema. An answer
/// in another form than the schema's, such as `null` for an optional property, is one that the rules of
/// [`Schema::fit`] understand.
///
/// ```
/// use wiremend_reask::{LossKind, Native, Shape};
/// use wiremend_schema::Schema;
///
/// let schema = Schema::from_text(r#"{"type": "object", "properties": {
///     "code": {"type": "string", "minLength": 2}, "note": {"type": "string"}
/// }, "required": ["code"], "additionalProperties": false}"#)?;
/// let native = Native::output(&schema, Shape::OpenAiChat, "place");
/// assert_eq!(native.value()["json_schema"]["strict"], true);
/// assert_eq!(native.schema()["properties"]["note"]["type"].to_string(), r#"["string","null"]"#);
/// let losses: Vec<_> = native.losses().iter().map(ToString::to_string).collect();
/// assert_eq!(losses, [
///     "/properties/code/minLength: dropped",
///     "/properties/note: rewritten, an optional property is required and may be null",
/// ]);
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    value: Value,
    schema: Value,
    is_strict: bool,
    losses: Vec<Loss>,
}

impl Native {
    /// The member of a request that constrains its output:
    ///
    /// | shape | goes into |
    /// |---|---|
    /// | [`Shape::OpenAiChat`] | `response_format` |
    /// | [`Shape::OpenAiResponses`] | `text.format` |
    /// | [`Shape::Gemini`] | `generationConfig`, beside what is there |
    /// | [`Shape::Anthropic`] | the request, beside what is there: `tools` with one tool, and `tool_choice`, which Anthropic refuses together with extended thinking |
    #[must_use]
    pub fn output(schema: &Schema, shape: Shape, name: &str) -> Self {
        let mut made = Self::of(schema, shape);
        let name = made.name(shape, name);
        if shape == Shape::Anthropic {
            made.unenforced(TOOL);
        }
        let (own, strict) = (&made.schema, made.is_strict);
        made.value = match shape {
            Shape::OpenAiChat => json!({"type": "json_schema", "json_schema": {
                "name": name, "strict": strict, "schema": own,
            }}),
            Shape::OpenAiResponses => {
                json!({"type": "json_schema", "name": name, "strict": strict, "schema": own})
            }
            Shape::Gemini => {
                json!({"responseMimeType": "application/json", "responseSchema": own})
            }
            Shape::Anthropic => json!({
                "tools": [{"name": name, "description": "Returns the answer.", "input_schema": own}],
                "tool_choice": {"type": "tool", "name": name},
            }),
        };
        made
    }

    /// The definition of a tool whose arguments have the schema, for the list of tools of a request; of Gemini, for
    /// `functionDeclarations`.
    #[must_use]
    pub fn tool(schema: &Schema, shape: Shape, name: &str, description: &str) -> Self {
        let mut made = Self::of(schema, shape);
        let name = made.name(shape, name);
        if matches!(shape, Shape::Anthropic | Shape::Gemini) {
            made.unenforced(TOOL);
        }
        let (own, strict) = (&made.schema, made.is_strict);
        made.value = match shape {
            Shape::OpenAiChat => json!({"type": "function", "function": {
                "name": name, "description": description, "strict": strict, "parameters": own,
            }}),
            Shape::OpenAiResponses => json!({
                "type": "function", "name": name, "description": description, "strict": strict, "parameters": own,
            }),
            Shape::Gemini => json!({"name": name, "description": description, "parameters": own}),
            Shape::Anthropic => {
                json!({"name": name, "description": description, "input_schema": own})
            }
        };
        made
    }

    fn of(schema: &Schema, shape: Shape) -> Self {
        let mut losses = Losses::default();
        let (made, is_strict) = match shape {
            Shape::OpenAiChat | Shape::OpenAiResponses => {
                openai::strict(schema.source(), &mut losses)
            }
            Shape::Gemini => (gemini::translated(schema.source(), &mut losses), true),
            Shape::Anthropic => (anthropic::input(schema.source(), &mut losses), false),
        };
        Self { value: Value::Null, schema: made, is_strict, losses: losses.into_list() }
    }

    /// Says that the provider shows the schema to the model, but does not enforce it.
    fn unenforced(&mut self, note: &'static str) {
        self.is_strict = false;
        self.losses.push(Loss::new("", "", LossKind::Unenforced, note));
    }

    /// A name as the provider allows it.
    fn name(&mut self, shape: Shape, name: &str) -> String {
        let longest = if shape == Shape::Anthropic { 128 } else { 64 };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let mut made: String =
            name.chars().map(|c| if plain(c) { c } else { '_' }).take(longest).collect();
        let starts_well = made.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts_well {
            made = format!("_{made}").chars().take(longest).collect();
        }
        if made != name {
            self.losses.push(Loss::new(
                "",
                "name",
                LossKind::Rewritten,
                "not all signs are allowed",
            ));
        }
        made
    }

    /// The value for the request.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// The schema in it.
    #[must_use]
    pub const fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether the provider constrains the model to [this schema](Self::schema), but for its
    /// [losses](Self::losses). OpenAI does not, if strict mode cannot express it: then the schema is sent as it is,
    /// without `strict`. Anthropic and Gemini show the schema of a tool to the model, and enforce nothing of it.
    #[must_use]
    pub const fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// What the provider does not enforce, or enforces otherwise, in the order of the schema, and then what is about
    /// the whole.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }
}

/// What is lost with a tool that is not strict.
const TOOL: &str = "the schema of a tool is shown to the model, but not enforced";

/// Keywords that say nothing about values, and are left out without a loss.
const SILENT: [&str; 7] =
    ["$schema", "$id", "$comment", "examples", "example", "x-aliases", "x-wiremend"];

/// The place of a member of the schema at `place`, as a JSON Pointer.
fn below(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The declared properties of an object, each with its place.
fn declared<'s>(
    own: &'s Map<String, Value>,
    place: &str,
) -> impl Iterator<Item = (&'s String, &'s Value, String)> {
    let place = format!("{place}/properties");
    let all = own.get("properties").and_then(Value::as_object);
    all.into_iter().flatten().map(move |(name, schema)| (name, schema, below(&place, name)))
}

/// An object around a schema, for providers that only take objects.
fn wrapped(schema: &Value, definitions: Map<String, Value>) -> Value {
    let mut made = Map::new();
    made.insert("type".to_owned(), json!("object"));
    made.insert("properties".to_owned(), json!({ "value": schema }));
    made.insert("required".to_owned(), json!(["value"]));
    made.insert("additionalProperties".to_owned(), Value::Bool(false));
    made.extend(definitions);
    Value::Object(made)
}

/// Whether a schema, in itself, is one of objects only, without a union.
fn is_plain_object(schema: &Value) -> bool {
    let unions = ["anyOf", "oneOf", "allOf"].iter().any(|keyword| schema.get(keyword).is_some());
    let typed = match schema.get("type") {
        Some(kind) => kind == "object",
        None => schema.get("properties").is_some(),
    };
    typed && !unions
}

/// One schema from several that hold together, if no keyword but those of objects is in more than one of them. A part
/// that consists of parts itself may be a part of itself, and is not joined.
fn joined<'s>(own: &Map<String, Value>, parts: impl Iterator<Item = &'s Value>) -> Option<Value> {
    let mut all = own.clone();
    all.remove("allOf");
    for part in parts {
        let part = part.as_object().filter(|part| !part.contains_key("allOf"))?;
        for (keyword, value) in part {
            match (all.get_mut(keyword), value) {
                (Some(Value::Object(known)), Value::Object(more)) if keyword == "properties" => {
                    if more.keys().any(|name| known.contains_key(name)) {
                        return None;
                    }
                    known.extend(more.iter().map(|(name, own)| (name.clone(), own.clone())));
                }
                (Some(Value::Array(known)), Value::Array(more)) if keyword == "required" => {
                    known.extend(more.iter().cloned());
                }
                (Some(known), value) if known != value => return None,
                _ => {
                    all.insert(keyword.clone(), value.clone());
                }
            }
        }
    }
    Some(Value::Object(all))
}

#[cfg(test)]
mod tests;
