//! Sets of JSON types, and the identities of subschemas.

use serde_json::Value;

use crate::tree::JsonType;

/// Identifies a [`Shape`](super::Shape) by its position in [`Shapes`](super::Shapes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ShapeId(pub(super) u32);

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const ALL: Self = Self(0x7F);
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    /// A number without a fraction.
    pub(crate) const INTEGER: Self = Self(4);
    /// Any number. Includes [`Types::INTEGER`].
    pub(crate) const NUMBER: Self = Self(8 | 4);
    pub(crate) const STRING: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);

    /// The types with their names, in the order in which messages list them.
    const NAMED: [(Self, &'static str); 7] = [
        (Self::STRING, "string"),
        (Self::NUMBER, "number"),
        (Self::INTEGER, "integer"),
        (Self::BOOLEAN, "boolean"),
        (Self::ARRAY, "array"),
        (Self::OBJECT, "object"),
        (Self::NULL, "null"),
    ];

    pub(crate) fn named(name: &str) -> Self {
        Self::NAMED.iter().find(|(_, own)| *own == name).map_or(Self::NONE, |(types, _)| *types)
    }

    /// The types that a value of the keyword `type` names; all of them if there is none.
    pub(super) fn of_keyword(value: Option<&Value>) -> Self {
        match value {
            Some(Value::String(name)) => Self::named(name),
            Some(Value::Array(names)) => names
                .iter()
                .filter_map(Value::as_str)
                .fold(Self::NONE, |types, name| types.union(Self::named(name))),
            _ => Self::ALL,
        }
    }

    /// The type of a value.
    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Array(_) => Self::ARRAY,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Null => Self::NULL,
            Value::Number(_) => Self::NUMBER,
            Value::Object(_) => Self::OBJECT,
            Value::String(_) => Self::STRING,
        }
    }

    /// Whether a value has one of the types.
    pub(crate) fn take(self, kind: JsonType, is_integer: impl FnOnce() -> bool) -> bool {
        match kind {
            JsonType::Array => self.has(Self::ARRAY),
            JsonType::Boolean => self.has(Self::BOOLEAN),
            JsonType::Null => self.has(Self::NULL),
            JsonType::Number => {
                self.has(Self::NUMBER.without(Self::INTEGER))
                    || self.has(Self::INTEGER) && is_integer()
            }
            JsonType::Object => self.has(Self::OBJECT),
            JsonType::String => self.has(Self::STRING),
        }
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the set contains any type of `other`.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether numbers are allowed here, but only whole ones.
    pub(crate) const fn is_whole_only(self) -> bool {
        self.has(Self::INTEGER) && !self.has(Self::NUMBER.without(Self::INTEGER))
    }

    /// The names of all types in alphabetical order, such as `array or null`.
    pub(crate) fn listed(self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for (types, name) in Self::NAMED {
            let covered = types == Self::INTEGER && names.contains(&"number");
            if self.0 & types.0 == types.0 && !covered {
                names.push(name);
            }
        }
        names.sort_unstable();
        names.join(" or ")
    }

    /// The names of the types, such as `integer or null`.
    pub(crate) fn names(self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for (types, name) in Self::NAMED {
            let whole = self.0 & types.0 == types.0;
            let covered = types == Self::INTEGER && names.contains(&"number");
            if whole && !covered {
                names.push(name);
            }
        }
        names.join(" or ")
    }
}

impl Default for Types {
    fn default() -> Self {
        Self::ALL
    }
}
