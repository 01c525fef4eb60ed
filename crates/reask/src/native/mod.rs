//! States a schema in the first request, so that fewer answers are wrong: as instructions, and in the form that a
//! provider takes.

mod anthropic;
mod gemini;
mod openai;

use std::fmt;

use serde_json::{Map, Value, json};
use wiremend_schema::Schema;

use crate::{example::example, prompt::harmless_json};

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

/// The API that a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// `messages` of the Messages API of Anthropic.
    Anthropic,
    /// `contents` of Gemini.
    Gemini,
    /// `messages` of OpenAI's Chat Completions, and of everything that copies them.
    OpenAiChat,
    /// `input` of OpenAI's Responses.
    OpenAiResponses,
}

impl Shape {
    /// All shapes, in alphabetical order.
    pub const ALL: &'static [Self] =
        &[Self::Anthropic, Self::Gemini, Self::OpenAiChat, Self::OpenAiResponses];

    /// A message of the user.
    ///
    /// ```
    /// use wiremend_reask::Shape;
    /// let message = Shape::Gemini.user("Hello");
    /// assert_eq!(message.to_string(), r#"{"role":"user","parts":[{"text":"Hello"}]}"#);
    /// ```
    #[must_use]
    pub fn user(self, text: &str) -> Value {
        match self {
            Self::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
            Self::Anthropic | Self::OpenAiChat | Self::OpenAiResponses => {
                json!({"role": "user", "content": text})
            }
        }
    }

    /// A message of the model.
    #[must_use]
    pub fn assistant(self, text: &str) -> Value {
        match self {
            Self::Gemini => json!({"role": "model", "parts": [{"text": text}]}),
            // Anthropic refuses white space at the end of the model's text.
            Self::Anthropic => json!({"role": "assistant", "content": text.trim_end()}),
            Self::OpenAiChat | Self::OpenAiResponses => {
                json!({"role": "assistant", "content": text})
            }
        }
    }

    /// The result of a call, which failed: `id` is that of the call. Gemini goes by the name, and `id` may be empty.
    ///
    /// ```
    /// use wiremend_reask::Shape;
    /// let message = Shape::Anthropic.tool_result("c1", "add", "no");
    /// assert_eq!(message["content"][0]["is_error"], true);
    /// ```
    #[must_use]
    pub fn tool_result(self, id: &str, name: &str, text: &str) -> Value {
        match self {
            Self::Anthropic => json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "is_error": true, "content": text},
            ]}),
            Self::Gemini => {
                let mut result = json!({"name": name, "response": {"error": text}});
                if !id.is_empty() {
                    result["id"] = json!(id);
                }
                json!({"role": "user", "parts": [{"functionResponse": result}]})
            }
            Self::OpenAiChat => json!({"role": "tool", "tool_call_id": id, "content": text}),
            Self::OpenAiResponses => {
                json!({"type": "function_call_output", "call_id": id, "output": text})
            }
        }
    }
}

// What the form of a provider cannot express, and what all forms look at in a schema.

/// How something is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossKind {
    /// It is left out of what is sent.
    Dropped,
    /// The provider allows less than the schema.
    Narrowed,
    /// The same is said in another way, and the answer has another form.
    Rewritten,
    /// The provider does not enforce it, or may refuse the request.
    Unenforced,
    /// The provider allows more than the schema.
    Widened,
    /// There is an object around the value.
    Wrapped,
}

impl LossKind {
    /// All kinds, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Dropped,
        Self::Narrowed,
        Self::Rewritten,
        Self::Unenforced,
        Self::Widened,
        Self::Wrapped,
    ];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Narrowed => "narrowed",
            Self::Rewritten => "rewritten",
            Self::Unenforced => "unenforced",
            Self::Widened => "widened",
            Self::Wrapped => "wrapped",
        }
    }
}

/// Something of a schema that the form of a provider does not express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    pointer: String,
    kind: LossKind,
    note: &'static str,
}

impl Loss {
    fn new(place: &str, name: &str, kind: LossKind, note: &'static str) -> Self {
        let separator = if name.is_empty() { "" } else { "/" };
        Self { pointer: format!("{place}{separator}{name}"), kind, note }
    }

    /// Where it is in the schema, as a JSON Pointer.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// How it is lost.
    #[must_use]
    pub const fn kind(&self) -> LossKind {
        self.kind
    }

    /// What that means. May be empty.
    #[must_use]
    pub const fn note(&self) -> &'static str {
        self.note
    }
}

/// `/properties/code/minLength: dropped`
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(f, "{place}: {}", self.kind.code())?;
        if self.note.is_empty() { Ok(()) } else { write!(f, ", {}", self.note) }
    }
}

/// Collects losses. A longer list than a thousand would help no one.
#[derive(Debug, Default)]
struct Losses(Vec<Loss>);

impl Losses {
    const MOST: usize = 1_000;

    fn add(&mut self, place: &str, name: &str, kind: LossKind, note: &'static str) {
        let loss = Loss::new(place, name, kind, note);
        if self.0.len() < Self::MOST && !self.0.contains(&loss) {
            self.0.push(loss);
        }
    }

    fn dropped(&mut self, place: &str, name: &str) {
        self.add(place, name, LossKind::Dropped, "");
    }

    fn into_list(self) -> Vec<Loss> {
        self.0
    }
}

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
mod tests {
    use super::*;
    use serde_json::Map;
    use wiremend_schema::FitOptions;

    fn schema(value: &Value) -> Schema {
        Schema::compile(value).expect("a schema")
    }

    fn losses(native: &Native) -> Vec<String> {
        native.losses().iter().map(ToString::to_string).collect()
    }

    /// What strict mode of OpenAI documents, checked from outside.
    fn is_strict(schema: &Value) -> bool {
        match schema {
            Value::Array(all) => all.iter().all(is_strict),
            Value::Object(own) if own.get("type") == Some(&json!("object")) => {
                let names: Vec<&String> =
                    own["properties"].as_object().into_iter().flatten().map(|(n, _)| n).collect();
                own["additionalProperties"] == false
                    && own["required"] == json!(names)
                    && own["properties"]
                        .as_object()
                        .into_iter()
                        .flatten()
                        .all(|(_, own)| is_strict(own))
            }
            Value::Object(own) => own.values().all(is_strict),
            _ => true,
        }
    }

    #[test]
    fn strict_mode_closes_everything_and_says_what_it_costs() {
        let source = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {
            "id": {"type": "string", "format": "uuid", "maxLength": 36},
            "when": {"type": "string", "format": "iri"},
            "kind": {"oneOf": [{"const": "a"}, {"const": "b"}]},
            "part": {"$ref": "#/definitions/part", "description": "gone"},
            "tags": {"type": "array", "items": {"enum": ["x", "y"]}, "uniqueItems": true},
        }, "required": ["id", "kind"], "definitions": {
            "part": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}, "additionalProperties": false},
        }});
        let native = Native::output(&schema(&source), Shape::OpenAiResponses, "my form!");
        assert!(native.is_strict());
        assert_eq!(
            (&native.value()["name"], &native.value()["strict"]),
            (&json!("my_form_"), &json!(true))
        );
        assert!(is_strict(native.schema()), "{}", native.schema());
        assert_eq!(
            native.schema()["properties"]["part"],
            json!({"anyOf": [{"$ref": "#/$defs/part"}, {"type": "null"}]})
        );
        let lost = losses(&native);
        for expected in [
            "/properties/id/maxLength: dropped",
            "/properties/when/format: dropped",
            "/properties/kind/oneOf: widened, more than one may fit",
            "/properties/part/description: dropped",
            "/properties/tags/uniqueItems: dropped",
            "/additionalProperties: narrowed, no other properties are allowed",
            "/properties/tags: rewritten, an optional property is required and may be null",
            "/name: rewritten, not all signs are allowed",
        ] {
            assert!(lost.iter().any(|loss| loss == expected), "{expected} in {lost:#?}");
        }
        // What the provider then returns is understood.
        let answer = r#"{"id": "123e4567-e89b-12d3-a456-426614174000", "kind": "a", "when": null, "part": null, "tags": null}"#;
        let fitted = schema(&source).fit(answer.as_bytes(), &FitOptions::new());
        assert_eq!(
            fitted.text(),
            Some(r#"{"id": "123e4567-e89b-12d3-a456-426614174000", "kind": "a"}"#)
        );
    }

    #[test]
    fn what_strict_mode_cannot_say_is_sent_as_it_is() {
        for (source, place) in [
            (
                json!({"type": "object", "additionalProperties": {"type": "integer"}}),
                "/additionalProperties",
            ),
            (json!({"type": "object", "properties": {"any": {}}}), "/properties/any"),
            (
                json!({"type": "object", "properties": {"list": {"type": "array"}}}),
                "/properties/list/items",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "object"}}}),
                "/properties/a/properties",
            ),
            (json!({"type": "object", "properties": {}, "required": ["b"]}), "/required"),
        ] {
            let native = Native::tool(&schema(&source), Shape::OpenAiChat, "f", "does it");
            assert_eq!(native.value()["function"]["strict"], false, "{source}");
            assert_eq!(native.schema(), &source);
            let lost = losses(&native);
            assert!(
                lost.iter().any(|loss| loss.starts_with(&format!("{place}: unenforced"))),
                "{lost:?}"
            );
        }
        let mut deep = json!({"type": "string"});
        for _ in 0..12 {
            deep = json!({"type": "object", "properties": {"a": deep}, "required": ["a"], "additionalProperties": false});
        }
        assert!(!Native::output(&schema(&deep), Shape::OpenAiChat, "deep").is_strict());
    }

    #[test]
    fn what_is_not_an_object_comes_in_one() {
        for (source, inner) in [
            (json!({"type": "array", "items": {"type": "integer"}}), json!([1, 2])),
            (json!({"type": "integer"}), json!(12)),
            (json!({"enum": ["a", "b"]}), json!("a")),
            (
                json!({"anyOf": [
                    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false},
                    {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"], "additionalProperties": false},
                ]}),
                json!({"b": "x"}),
            ),
        ] {
            let own = schema(&source);
            for shape in [Shape::OpenAiChat, Shape::Anthropic] {
                let native = Native::output(&own, shape, "v");
                assert_eq!(native.schema()["required"], json!(["value"]), "{source}");
                assert!(native.losses().iter().any(|loss| loss.kind() == LossKind::Wrapped));
            }
            let answer = json!({ "value": inner }).to_string();
            let fitted = own.fit(answer.as_bytes(), &FitOptions::new());
            let value =
                fitted.text().map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
            assert_eq!(value, Some(inner), "{source}");
        }
    }

    #[test]
    fn gemini_has_no_references_and_lists_only_text() {
        let source = json!({"type": "object", "properties": {
            "size": {"$ref": "#/$defs/size"}, "n": {"enum": [1, 2]}, "at": {"type": ["string", "null"], "format": "uuid"},
            "either": {"type": ["integer", "string"]}, "kind": {"const": "a"},
            "tree": {"$ref": "#/$defs/tree"},
        }, "required": ["size"], "additionalProperties": false, "$defs": {
            "size": {"type": "integer", "exclusiveMinimum": 0},
            "tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}},
        }});
        let native = Native::output(&schema(&source), Shape::Gemini, "v");
        let text = native.schema().to_string();
        assert!(!text.contains("$ref") && !text.contains("additionalProperties"), "{text}");
        let properties = &native.schema()["properties"];
        assert_eq!(properties["size"], json!({"type": "INTEGER"}));
        assert_eq!(properties["n"], json!({"type": "INTEGER", "description": "One of: 1, 2."}));
        assert_eq!(properties["at"], json!({"type": "STRING", "nullable": true}));
        assert_eq!(properties["either"]["anyOf"], json!([{"type": "INTEGER"}, {"type": "STRING"}]));
        assert_eq!(properties["kind"], json!({"type": "STRING", "enum": ["a"]}));
        assert_eq!(native.schema()["propertyOrdering"][0], "size");
        let lost = losses(&native);
        assert!(lost.iter().any(|loss| loss.contains("recursive")), "{lost:?}");
        assert!(native.is_strict());
        assert!(
            lost.contains(&"/properties/size/exclusiveMinimum: dropped".to_owned()),
            "{lost:?}"
        );
    }

    #[test]
    fn what_gemini_only_shows_to_the_model_is_reported() {
        let source = json!({"type": "object", "properties": {
            "code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 8}, "n": {"type": "integer", "minimum": 1},
        }});
        let native = Native::output(&schema(&source), Shape::Gemini, "v");
        assert_eq!(native.schema()["properties"]["code"]["pattern"], "^[a-z]+$");
        let lost = losses(&native);
        for place in
            ["/properties/code/pattern", "/properties/code/maxLength", "/properties/n/minimum"]
        {
            assert!(
                lost.contains(&format!("{place}: unenforced, a model may ignore it")),
                "{lost:?}"
            );
        }
        // A function is called as the model likes.
        let tool = Native::tool(&schema(&source), Shape::Gemini, "v", "");
        assert!(
            !tool.is_strict() && losses(&tool).last().is_some_and(|loss| loss.contains("a tool"))
        );
    }

    #[test]
    fn a_schema_that_multiplies_itself_stays_small() {
        let mut definitions = Map::new();
        for level in 0..20 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(
                format!("d{level}"),
                json!({"type": "object", "properties": {"a": next, "b": next, "c": next}}),
            );
        }
        definitions.insert("d20".to_owned(), json!({"type": "string"}));
        let source = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        let native = Native::output(&schema(&source), Shape::Gemini, "v");
        assert!(native.schema().to_string().len() < 1 << 20);
        assert!(native.losses().len() <= 1_000);
    }

    #[test]
    fn anthropic_takes_the_newest_draft() {
        let source = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false},
            "items": {"type": "object", "properties": {"a/name": {"type": "array", "items": [{"type": "string"}]}}},
        }});
        let native = Native::tool(&schema(&source), Shape::Anthropic, "f", "does it");
        let made = &native.value()["input_schema"];
        assert_eq!(made["properties"]["pair"]["prefixItems"][1]["type"], "integer");
        assert_eq!(made["properties"]["pair"]["items"], false);
        assert!(made.get("$schema").is_none() && Schema::compile(made).is_ok());
        assert_eq!(
            losses(&native),
            [
                "/properties/pair/items: rewritten, as prefixItems",
                "/properties/items/properties/a~1name/items: rewritten, as prefixItems",
                "/: unenforced, the schema of a tool is shown to the model, but not enforced",
            ]
        );
        assert!(
            !native.is_strict()
                && !Native::output(&schema(&source), Shape::Anthropic, "f").is_strict()
        );
        // A name that it refuses is further inside, and the answer is understood.
        for name in ["a name", "", "\u{e9}t\u{e9}", &"n".repeat(65)] {
            let source = json!({"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]});
            let own = schema(&source);
            let native = Native::output(&own, Shape::Anthropic, "f");
            assert_eq!(native.schema()["required"], json!(["value"]), "{name}");
            assert!(losses(&native)[0].starts_with("/: wrapped"));
            let answer = json!({"value": {name: 3}}).to_string();
            let fitted = own.fit(answer.as_bytes(), &FitOptions::new());
            let value =
                fitted.text().map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
            assert_eq!(value, Some(json!({name: 3})));
        }
        let draft4 = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {
            "n": {"type": "integer", "minimum": 1, "exclusiveMinimum": true},
            "m": {"type": "integer", "minimum": 1, "exclusiveMinimum": false},
        }});
        let native = Native::tool(&schema(&draft4), Shape::Anthropic, "f", "");
        assert_eq!(
            native.schema()["properties"]["n"],
            json!({"type": "integer", "exclusiveMinimum": 1})
        );
        assert_eq!(native.schema()["properties"]["m"], json!({"type": "integer", "minimum": 1}));
    }

    #[test]
    fn a_schema_that_is_a_part_of_itself_has_an_end() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let source = json!({"$ref": "#/$defs/a", "$defs": {
                "a": {"type": "object", "properties": {"n": {"type": "integer"}}, keyword: [{"$ref": "#/$defs/a"}]},
                "b": {keyword: [{"$ref": "#/$defs/c"}]}, "c": {keyword: [{"$ref": "#/$defs/b"}]},
            }});
            for shape in Shape::ALL {
                let native = Native::output(&schema(&source), *shape, "v");
                assert!(native.schema().to_string().len() < 1 << 16, "{shape:?}");
            }
            assert!(example(&schema(&source)).value().to_string().len() < 1 << 16);
        }
    }

    #[test]
    fn gemini_keeps_the_form_beside_a_union() {
        let own = json!({"type": "object", "properties": {
            "a": {"type": "string"}, "b": {"type": "integer"}
        }, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
        let native = Native::output(&schema(&own), Shape::Gemini, "v");
        assert_eq!(native.schema()["type"], "OBJECT", "{}", native.schema());
        assert_eq!(native.schema()["properties"]["b"]["type"], "INTEGER");
        assert!(losses(&native).iter().any(|loss| loss.contains("anyOf")), "{:?}", losses(&native));
        // Each branch has the common properties.
        let own = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "oneOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "integer"}}, "required": ["b"]}
        ]});
        let native = Native::output(&schema(&own), Shape::Gemini, "v");
        for (branch, name) in [(0, "a"), (1, "b")] {
            let branch = &native.schema()["anyOf"][branch];
            assert_eq!(branch["required"], json!(["id", name]), "{}", native.schema());
            assert_eq!(branch["properties"]["id"]["type"], "STRING");
        }
    }

    #[test]
    fn gemini_lists_no_empty_text_and_no_null() {
        let own = json!({"type": "object", "properties": {"e": {"enum": ["", "x", null]}}});
        let native = Native::output(&schema(&own), Shape::Gemini, "v");
        let listed = &native.schema()["properties"]["e"];
        assert_eq!((&listed["enum"], &listed["nullable"]), (&json!(["x"]), &json!(true)));
        assert!(losses(&native).iter().any(|loss| loss.contains("/properties/e")));
    }

    #[test]
    fn strict_mode_has_one_place_for_definitions_and_a_limit_for_each_list() {
        let two = json!({"type": "object", "properties": {
            "a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/definitions/x"}
        }, "$defs": {"x": {"type": "string"}}, "definitions": {"x": {"type": "integer"}}});
        let native = Native::output(&schema(&two), Shape::OpenAiChat, "v");
        assert_eq!(native.value()["json_schema"]["strict"], false, "{}", native.value());
        assert!(!losses(&native).is_empty());
        for (count, length, is_strict) in [(251, 59, true), (251, 60, false), (250, 60, true)] {
            let values: Vec<String> =
                (0..count).map(|number| format!("{number:0length$}")).collect();
            let long =
                json!({"type": "object", "properties": {"e": {"type": "string", "enum": values}}});
            let native = Native::output(&schema(&long), Shape::OpenAiChat, "v");
            assert_eq!(native.value()["json_schema"]["strict"], is_strict, "{count} {length}");
        }
    }
}
