//! An example of what a schema describes.

use serde_json::{Map, Number, Value, json};
use wiremend_core::{MendOptions, Policy};
use wiremend_extract::Scope;
use wiremend_schema::{FitOptions, Schema};

use crate::subschema::resolve;

/// How many values an example has at most.
const VALUES: usize = 200;
/// How deep it is at most.
const DEPTH: usize = 12;
/// How many properties that are not required are shown of one object.
const OPTIONAL: usize = 8;
/// The longest description that is used as the value of a string, in bytes.
const DESCRIPTION: usize = 60;
/// How long all names and texts of an example are together, in bytes. What is larger is shown as null.
const BYTES: usize = 16 << 10;
/// For how many patterns a text is looked for. Each pattern has to be compiled.
const PATTERNS: usize = 16;
/// How much work it may take to check an example, in the steps of the schema's crate.
const CHECKED: u64 = 1 << 20;
/// How much work it may take to match a text against a pattern: enough for any but one that backtracks a lot.
const MATCHED: u64 = 20_000;

/// An example of what a schema describes; see [`example`].
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    value: Value,
    is_valid: bool,
}

impl Example {
    /// The value.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// Whether it is valid for the schema. If not, it shows no more than the shape.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.is_valid
    }
}

/// Makes an example of what a schema describes, from its constants, examples, defaults, formats and bounds.
/// Strings without any of these have the description of their property.
///
/// At most 200 values with 16 KiB of text, 12 levels deep. Whether it is valid is checked.
///
/// ```
/// use wiremend_reask::example;
/// use wiremend_schema::Schema;
///
/// let schema = Schema::from_text(r#"{"type": "object", "properties": {
///     "city": {"type": "string", "description": "Name of the city"},
///     "days": {"type": "integer", "minimum": 1},
///     "unit": {"enum": ["C", "F"]}, "tags": {"type": "array"}
/// }, "required": ["city", "days"]}"#)?;
/// let example = example(&schema);
/// let text = example.value().to_string();
/// assert_eq!(text, r#"{"city":"Name of the city","days":1,"unit":"C","tags":[]}"#);
/// assert!(example.is_valid());
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[must_use]
pub fn example(schema: &Schema) -> Example {
    let full = made(schema, false);
    if full.is_valid {
        return full;
    }
    let small = made(schema, true);
    if small.is_valid { small } else { full }
}

/// The example with nothing that is not required.
pub(crate) fn smallest(schema: &Schema) -> Example {
    let small = made(schema, true);
    if small.is_valid { small } else { example(schema) }
}

fn made(schema: &Schema, required_only: bool) -> Example {
    let source = schema.source();
    let mut maker =
        Maker { root: source, left: VALUES, bytes: BYTES, patterns: PATTERNS, required_only };
    let value = maker.make(source, 0);
    let is_valid = is_valid(schema, &value, CHECKED);
    Example { value, is_valid }
}

/// Whether a value is valid as it is, as far as that can be found out in at most `steps` steps.
fn is_valid(schema: &Schema, value: &Value, steps: u64) -> bool {
    let engine = MendOptions::new().with_policy(Policy::STRICT);
    let options = FitOptions::new().with_mending(engine).with_scope(Scope::Whole).with_steps(steps);
    schema.fit(value.to_string().as_bytes(), &options).text().is_some()
}

struct Maker<'s> {
    root: &'s Value,
    left: usize,
    bytes: usize,
    patterns: usize,
    required_only: bool,
}

impl Maker<'_> {
    fn make(&mut self, schema: &Value, depth: usize) -> Value {
        self.left = self.left.saturating_sub(1);
        let schema = resolve(self.root, schema);
        if depth > DEPTH || self.left == 0 {
            return Value::Null;
        }
        for keyword in ["const", "example", "default"] {
            if let Some(value) = schema.get(keyword) {
                return self.copied(value);
            }
        }
        for keyword in ["examples", "enum"] {
            if let Some(value) = schema.get(keyword).and_then(|own| own.get(0)) {
                return self.copied(value);
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches = schema.get(keyword).and_then(Value::as_array);
            let plain = |branch: &&Value| kind(resolve(self.root, branch)) != "null";
            if let Some(branch) = branches.and_then(|all| all.iter().find(plain).or(all.first())) {
                let merged = merged(schema, [resolve(self.root, branch)]);
                return self.make(&merged, depth + 1);
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let merged = merged(schema, parts.iter().map(|part| resolve(self.root, part)));
            return self.make(&merged, depth + 1);
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "string" => self.string(schema),
            "integer" => number(schema, true),
            "number" => number(schema, false),
            "boolean" => Value::Bool(false),
            _ => Value::Null,
        }
    }

    /// A value of the schema itself, which may be of any size.
    fn copied(&mut self, value: &Value) -> Value {
        if self.has_room(size(value)) { value.clone() } else { Value::Null }
    }

    fn has_room(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }

    fn string(&mut self, schema: &Value) -> Value {
        let text = match schema.get("pattern").and_then(Value::as_str) {
            Some(pattern) if self.patterns == 0 => pattern.to_owned(),
            Some(pattern) => {
                self.patterns -= 1;
                matching(schema, pattern)
            }
            None => plain(schema),
        };
        if self.has_room(text.len()) { Value::String(text) } else { Value::Null }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let other = schema.get("additionalProperties").filter(|other| other.is_object());
        let mut made = Map::new();
        let mut optional = if self.required_only { 0 } else { OPTIONAL };
        for (name, own) in properties.into_iter().flatten() {
            if !required.contains(&name.as_str()) {
                // What cannot be there is not shown.
                if optional == 0 || self.left < VALUES / 4 || own == false {
                    continue;
                }
                optional -= 1;
            }
            if self.has_room(name.len()) {
                made.insert(name.clone(), self.make(own, depth + 1));
            }
        }
        for name in required {
            if !made.contains_key(name) && self.has_room(name.len()) {
                let value = other.map_or(Value::Null, |own| self.make(own, depth + 1));
                made.insert(name.to_owned(), value);
            }
        }
        let least = length(schema, "minProperties").min(3).max(usize::from(!self.required_only));
        if let (Some(own), None) = (other, properties) {
            for number in made.len()..least {
                made.insert(format!("name{}", number + 1), self.make(own, depth + 1));
            }
        }
        Value::Object(made)
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Value {
        let placed = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        let placed = placed("prefixItems").or_else(|| placed("items"));
        let mut items: Vec<Value> =
            placed.into_iter().flatten().map(|own| self.make(own, depth + 1)).collect();
        let Some(own) = schema.get("items").filter(|own| own.is_object()) else {
            return Value::Array(items);
        };
        let is_needed = placed.is_none() && schema.get("maxItems") != Some(&json!(0));
        let least = length(schema, "minItems").min(8).max(usize::from(is_needed));
        while items.len() < least && self.left > 0 {
            let mut item = self.make(own, depth + 1);
            if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
                item = another(item, items.len(), own);
            }
            items.push(item);
        }
        Value::Array(items)
    }
}

/// A further value that is different from those before it.
fn another(item: Value, number: usize, schema: &Value) -> Value {
    let listed = schema.get("enum").and_then(|own| own.get(number));
    match item {
        _ if listed.is_some() => listed.cloned().unwrap_or_default(),
        Value::String(text) if number > 0 => Value::String(format!("{text} {}", number + 1)),
        Value::Number(old) => match old.as_i64() {
            Some(old) => json!(old.saturating_add(i64::try_from(number).unwrap_or_default())),
            None => Value::Number(old),
        },
        item => item,
    }
}

/// The type that a schema asks for, or that its keywords are for.
fn kind(schema: &Value) -> &str {
    let named = match schema.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null")
        }
        _ => None,
    };
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.get(keyword).is_some());
    match named {
        Some(name) => name,
        None if has(&["properties", "required", "additionalProperties"]) => "object",
        None if has(&["items", "prefixItems", "minItems"]) => "array",
        None if has(&["pattern", "format", "minLength", "maxLength"]) => "string",
        None if has(&["minimum", "maximum", "multipleOf"]) => "number",
        None => "null",
    }
}

/// One schema from several that hold together: their properties and required names are joined, and of
/// everything else the last one counts.
fn merged<'s>(schema: &Value, parts: impl IntoIterator<Item = &'s Value>) -> Value {
    let mut all = schema.as_object().cloned().unwrap_or_default();
    for keyword in ["anyOf", "oneOf", "allOf"] {
        all.remove(keyword);
    }
    for part in parts {
        for (keyword, own) in part.as_object().into_iter().flatten() {
            match (all.get_mut(keyword), own) {
                (Some(Value::Object(known)), Value::Object(more)) if keyword == "properties" => {
                    known.extend(more.iter().map(|(name, own)| (name.clone(), own.clone())));
                }
                (Some(Value::Array(known)), Value::Array(more)) if keyword == "required" => {
                    known.extend(more.iter().cloned());
                }
                _ => {
                    all.insert(keyword.clone(), own.clone());
                }
            }
        }
    }
    Value::Object(all)
}

/// How long a value is, but for its escapes and quotes. The depth is that of the schema, which is limited.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.iter().map(|(name, own)| name.len() + size(own)).sum(),
    }
}

fn length(schema: &Value, keyword: &str) -> usize {
    let number = schema.get(keyword).and_then(Value::as_u64).unwrap_or_default();
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A text for a schema without a pattern.
fn plain(schema: &Value) -> String {
    let named = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    let short = |text: &&str| text.len() <= DESCRIPTION && !text.contains('\n') && !text.is_empty();
    let format = named("format").and_then(sample);
    let text = format.or(named("description").filter(short)).or(named("title").filter(short));
    let mut text = text.unwrap_or("text").to_owned();
    let least = length(schema, "minLength").min(1_000);
    let most =
        length(schema, "maxLength").max(usize::from(schema.get("maxLength").is_none()) * 1_000);
    if text.chars().count() > most {
        text = "text".to_owned();
    }
    text = text
        .chars()
        .chain(std::iter::repeat_n('x', least))
        .take(text.chars().count().max(least))
        .collect();
    text.chars().take(most).collect()
}

/// A text that matches a pattern, if one of some usual ones does. Otherwise the pattern itself, which says more
/// than any other text that is wrong.
fn matching(schema: &Value, pattern: &str) -> String {
    const TEXTS: &[&str] = &[
        "text",
        "Text",
        "TEXT",
        "a",
        "A",
        "AB",
        "ABC",
        "abc123",
        "a-b",
        "a_b",
        "A1",
        "AB12",
        "AB-12",
        "ABC-123",
        "AB1234",
        "1",
        "12",
        "123",
        "1234",
        "12345",
        "123456",
        "12345678",
        "1.0",
        "1.0.0",
        "v1.0.0",
        "12:30",
        "12:30:00",
        "2026-01-31",
        "2026-01",
        "2026",
        "+15550100",
        "555-0100",
        "#00aaff",
        "name@example.org",
        "https://example.org/",
        "text text",
        "Text text",
        "/path",
    ];
    let Ok(own) = Schema::compile(schema) else { return pattern.to_owned() };
    let fits = |text: &&&str| is_valid(&own, &Value::from(**text), MATCHED);
    TEXTS.iter().find(fits).map_or_else(|| pattern.to_owned(), |text| (*text).to_owned())
}

/// An example of a format.
fn sample(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T12:30:00Z",
        "time" => "12:30:00Z",
        "duration" => "P1DT12H",
        "email" | "idn-email" => "name@example.org",
        "hostname" | "idn-hostname" => "example.org",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "iri" | "url" => "https://example.org/",
        "uri-reference" | "iri-reference" => "/path",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "json-pointer" => "/path",
        "regex" => "^a+$",
        _ => return None,
    })
}

fn number(schema: &Value, whole: bool) -> Value {
    let named = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let step = named("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let least = named("minimum").into_iter().chain(named("exclusiveMinimum"));
    let most = named("maximum").into_iter().chain(named("exclusiveMaximum"));
    let (least, most) = (least.reduce(f64::max), most.reduce(f64::min));
    let mut value = match (least, most) {
        (Some(least), _) if least > 0.0 || most.is_some_and(|most| most < 0.0) => {
            (least / step).ceil() * step
        }
        (None, Some(most)) if most < 0.0 => (most / step).floor() * step,
        _ => 0.0,
    };
    if named("exclusiveMinimum").is_some_and(|least| value <= least) {
        // Between two bounds that are close there may be no whole step.
        let middle = most.zip(least).map(|(most, least)| (most + least) / 2.0);
        let next = value + step;
        value = middle.filter(|_| !whole && most.is_some_and(|m| next >= m)).unwrap_or(next);
    }
    if named("exclusiveMaximum").is_some_and(|most| value >= most) {
        value -= step;
    }
    // Below 2^53, whole numbers are exact.
    if value.fract() == 0.0 && value.abs() < 9e15 {
        #[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
        return json!(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}
