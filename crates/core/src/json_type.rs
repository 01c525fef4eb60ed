//! The types of JSON.

use crate::code::by_code;

/// The type of a JSON value.
///
/// ```
/// use wiremend_core::JsonType;
/// assert_eq!(JsonType::from_code("boolean"), Some(JsonType::Boolean));
/// assert!(JsonType::Array.is_container());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum JsonType {
    /// A list of items.
    Array,
    /// `true` or `false`.
    Boolean,
    /// `null`.
    Null,
    /// A number, whole or not.
    Number,
    /// Members.
    Object,
    /// A string.
    String,
}

impl JsonType {
    /// All types, in alphabetical order.
    pub const ALL: &'static [Self] =
        &[Self::Array, Self::Boolean, Self::Null, Self::Number, Self::Object, Self::String];

    /// The name of the type in JSON Schema.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    /// The type with this name.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        code.parse().ok()
    }

    /// Whether values of this type hold others.
    #[must_use]
    pub const fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Object)
    }
}

by_code!(JsonType, "JSON type");
