//! Conversion to values of `serde_json`, with the feature of that name.

use alloc::{string::String, vec::Vec};
use core::fmt;

use super::Value;
use crate::JsonType;

/// The deepest nesting of a [`serde_json::Value`]. This is also the limit of `serde_json`'s parser,
/// because its values are dropped recursively.
const MAX_DEPTH: usize = 127;

/// Something that a [`serde_json::Value`] cannot represent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unrepresentable {
    /// More than 127 levels.
    Depth,
    /// A number that is not an `f64`, as written. With the feature `arbitrary_precision` of
    /// `serde_json` this does not happen.
    Number(String),
}

impl fmt::Display for Unrepresentable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth => write!(f, "the value is deeper than {MAX_DEPTH} levels"),
            Self::Number(number) => write!(f, "the number {number} is out of range"),
        }
    }
}

impl core::error::Error for Unrepresentable {}

impl Value<'_> {
    /// Converts the value into one of `serde_json`, as if everything open were closed. If a key is
    /// repeated, its last member is kept. Costs O(its size). Needs the feature `serde_json`.
    ///
    /// ```
    /// use wiremend_core::{Mender, MendOptions, Partial};
    /// use serde_json::json;
    ///
    /// let mut mender = Mender::new(MendOptions::new());
    /// let mut partial = Partial::new();
    /// mender.push(b"{'user': {'name': 'Ad", &mut partial);
    /// let value = partial.root().unwrap().to_value().unwrap();
    /// assert_eq!(value, json!({ "user": { "name": "Ad" } }));
    /// ```
    ///
    /// # Errors
    /// If it contains something that a [`serde_json::Value`] cannot represent.
    pub fn to_value(&self) -> Result<serde_json::Value, Unrepresentable> {
        // The containers around the current value, outermost first, and the key of each.
        let mut around: Vec<(serde_json::Value, Option<&str>)> = Vec::new();
        let mut at = self.at;
        loop {
            let view = Value { tree: self.tree, at };
            let mut value = view.shallow()?;
            if let Some(first) = view.first() {
                if around.len() >= MAX_DEPTH - 1 {
                    return Err(Unrepresentable::Depth);
                }
                around.push((value, view.key()));
                at = first;
                continue;
            }
            let mut key = view.key();
            // Add it to its container. If that has no further child, add it to the next one, and so
            // on.
            loop {
                let Some((container, own_key)) = around.pop() else { return Ok(value) };
                let container = with(container, key, value);
                let node = self.tree.node(at);
                if let Some(next) = node.next {
                    around.push((container, own_key));
                    at = next.get();
                    break;
                }
                (value, key, at) = (container, own_key, node.parent);
            }
        }
    }

    /// The value itself without its children.
    fn shallow(&self) -> Result<serde_json::Value, Unrepresentable> {
        Ok(match self.kind() {
            JsonType::Array => serde_json::Value::Array(Vec::with_capacity(self.len())),
            JsonType::Boolean => serde_json::Value::Bool(self.as_bool() == Some(true)),
            JsonType::Null => serde_json::Value::Null,
            JsonType::Number => {
                let number = self.as_number().unwrap_or_default();
                let parsed = number.parse().ok();
                parsed
                    .map(serde_json::Value::Number)
                    .ok_or_else(|| Unrepresentable::Number(number.into()))?
            }
            JsonType::Object => serde_json::Value::Object(serde_json::Map::new()),
            JsonType::String => serde_json::Value::String(self.as_str().unwrap_or_default().into()),
        })
    }
}

/// Adds an item or member to a container.
fn with(
    mut container: serde_json::Value,
    key: Option<&str>,
    value: serde_json::Value,
) -> serde_json::Value {
    match &mut container {
        serde_json::Value::Object(members) => {
            members.insert(key.unwrap_or_default().into(), value);
        }
        serde_json::Value::Array(items) => items.push(value),
        _ => {}
    }
    container
}
