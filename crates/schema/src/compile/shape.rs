//! What fitting needs to know about each subschema.

use std::{collections::HashMap, sync::OnceLock};

use serde_json::Value;

use super::checks::Checks;
use crate::{names::folded, tree::JsonType};

/// All subschemas of a schema; the first one is the root.
#[derive(Default)]
pub(crate) struct Shapes {
    pub(super) all: Vec<Shape>,
    /// The conditions of each of them. They are kept apart because validation looks at nothing else.
    pub(super) checks: Vec<Checks>,
    /// The dynamic anchors of each resource; empty if no reference depends on them.
    pub(super) anchors: Vec<HashMap<String, ShapeId>>,
}

impl Shapes {
    pub(crate) const ROOT: ShapeId = ShapeId(0);

    pub(crate) fn shape(&self, id: ShapeId) -> Option<&Shape> {
        self.all.get(id.0 as usize)
    }

    #[inline]
    pub(crate) fn checks(&self, id: ShapeId) -> Option<&Checks> {
        self.checks.get(id.0 as usize)
    }

    /// Whether a reference may have different targets, depending on how it was reached.
    pub(crate) const fn is_scoped(&self) -> bool {
        !self.anchors.is_empty()
    }

    /// The subschema that has a dynamic anchor in a resource.
    pub(crate) fn anchor(&self, resource: u16, name: &str) -> Option<ShapeId> {
        self.anchors.get(usize::from(resource))?.get(name).copied()
    }
}

/// The keywords of one subschema that fitting considers.
#[derive(Default)]
pub(crate) struct Shape {
    /// The location in the schema, as a JSON Pointer.
    pub(crate) pointer: String,
    /// The types that `type` names; all of them if it is absent.
    pub(crate) types: Types,
    /// The types that are allowed by the subschema and everything that it combines.
    pub(crate) allowed: Types,
    /// In the order of the schema.
    pub(crate) properties: Vec<(String, ShapeId)>,
    pub(crate) has_patterns: bool,
    /// The subschemas of `patternProperties`.
    pub(crate) patterns: Vec<ShapeId>,
    /// Whether `additionalProperties` is `false`.
    pub(crate) refuses_further: bool,
    pub(crate) required: Vec<String>,
    pub(crate) additional: Additional,
    pub(crate) prefix: Vec<ShapeId>,
    pub(crate) items: Option<ShapeId>,
    pub(crate) min_items: u64,
    pub(crate) unique_items: bool,
    pub(crate) options: Option<Vec<Value>>,
    /// The same values indexed by name; built when a rule first needs them.
    pub(crate) choices: OnceLock<Choices>,
    pub(crate) default: Option<Value>,
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    pub(crate) format: Option<String>,
    /// Whether a pattern, format or enum restricts the strings.
    pub(crate) narrow: bool,
    pub(crate) media_type: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) any_of: Vec<ShapeId>,
    pub(crate) one_of: Vec<ShapeId>,
    /// `allOf` and the target of `$ref`, which must hold as well.
    pub(crate) all_of: Vec<ShapeId>,
    pub(crate) condition: Option<Condition>,
    pub(crate) aliases: Vec<String>,
    /// `x-wiremend`: `false`, or the codes of rules that are off here and below.
    pub(crate) off: Off,
    /// Whether `null` has a meaning here, although `type` does not include it.
    pub(crate) keeps_null: bool,
    /// Whether the subschema has no conditions of its own and only leads to others.
    pub(crate) is_passage: bool,
    /// The properties by their folded names and aliases; built when a guide first needs them.
    pub(crate) alike: OnceLock<HashMap<String, ShapeId>>,
}

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shape").field("pointer", &self.pointer).finish_non_exhaustive()
    }
}

/// The value of `additionalProperties`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Additional {
    /// Absent, or `true`.
    #[default]
    Open,
    /// `false`
    Closed,
    /// A schema.
    Schema(ShapeId),
}

/// `if`, `then` and `else`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub(crate) test: ShapeId,
    pub(crate) then: Option<ShapeId>,
    pub(crate) otherwise: Option<ShapeId>,
}

/// The rules that a schema switches off for a subschema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Off {
    #[default]
    Nothing,
    Everything,
    /// The rules with these codes.
    Codes(Vec<String>),
}

/// The most mentions of values that are considered in one text. A text with more is not a choice.
const MOST: usize = 256;

/// The position of a value; `None` if several values share the name.
type Only = Option<usize>;

/// The values listed by one part of a schema, indexed by name.
pub(crate) struct Choices {
    all: Vec<Value>,
    exact: HashMap<String, Only>,
    folded: HashMap<String, Only>,
    /// The values that are not strings, by their JSON text.
    written: HashMap<String, Only>,
    /// The names in lower case; `None` for values that are not strings.
    lower: Vec<Option<String>>,
    words: Vec<Vec<String>>,
    /// The positions of names, by their first word.
    by_word: HashMap<String, Vec<usize>>,
}

fn note(names: &mut HashMap<String, Only>, name: String, at: usize) {
    names.entry(name).and_modify(|only| *only = None).or_insert(Some(at));
}

impl Choices {
    pub(crate) fn new(all: &[Value]) -> Self {
        let mut choices = Self {
            all: all.to_vec(),
            exact: HashMap::new(),
            folded: HashMap::new(),
            written: HashMap::new(),
            lower: Vec::with_capacity(all.len()),
            words: Vec::with_capacity(all.len()),
            by_word: HashMap::new(),
        };
        for (at, value) in all.iter().enumerate() {
            choices.lower.push(value.as_str().map(str::to_lowercase));
            choices.words.push(value.as_str().map(words).unwrap_or_default());
            match value {
                Value::String(name) => {
                    note(&mut choices.exact, name.clone(), at);
                    note(&mut choices.folded, folded(name), at);
                    if let Some(word) = choices.words.last().and_then(|words| words.first()) {
                        choices.by_word.entry(word.clone()).or_default().push(at);
                    }
                }
                Value::Null => {
                    note(&mut choices.written, "null".to_owned(), at);
                    note(&mut choices.written, "None".to_owned(), at);
                }
                Value::Bool(_) | Value::Number(_) => {
                    note(&mut choices.written, value.to_string(), at);
                }
                Value::Array(_) | Value::Object(_) => {}
            }
        }
        choices
    }

    fn only(&self, names: &HashMap<String, Only>, name: &str) -> Option<&Value> {
        names.get(name).copied().flatten().and_then(|at| self.all.get(at))
    }

    /// The value with exactly that name.
    pub(crate) fn exact(&self, name: &str) -> Option<&Value> {
        self.only(&self.exact, name)
    }

    /// The only value whose name is equal to `folded` after folding.
    pub(crate) fn folded(&self, folded: &str) -> Option<&Value> {
        self.only(&self.folded, folded).filter(|_| !folded.is_empty())
    }

    /// The only value that is written like this and is not a string. The case of booleans does not
    /// matter.
    pub(crate) fn written(&self, text: &str) -> Option<&Value> {
        let boolean = ["true", "false"].into_iter().find(|word| text.eq_ignore_ascii_case(word));
        self.only(&self.written, boolean.unwrap_or(text))
    }

    /// The only value whose lower-case name satisfies `same`.
    pub(crate) fn only_like(&self, same: impl Fn(&str) -> bool) -> Option<&Value> {
        let names = self.lower.iter().zip(&self.all);
        let mut found = names.filter(|(name, _)| name.as_deref().is_some_and(&same));
        let (_, first) = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The only value whose words occur in the text, complete and in order. Where two overlap, the
    /// longer one counts.
    pub(crate) fn named(&self, text: &[String]) -> Option<&Value> {
        let mut found: Vec<(usize, (usize, usize))> = Vec::new();
        for (start, word) in text.iter().enumerate() {
            for at in self.by_word.get(word).into_iter().flatten() {
                let Some(name) = self.words.get(*at) else { continue };
                if text.get(start..).is_some_and(|rest| rest.starts_with(name)) {
                    found.push((*at, (start, start + name.len())));
                }
                if found.len() > MOST {
                    return None;
                }
            }
        }
        let covered = |(start, end): (usize, usize)| {
            found.iter().any(|(_, (s, e))| *s <= start && end <= *e && e - s > end - start)
        };
        let mut free = found.iter().filter(|(_, place)| !covered(*place)).map(|(at, _)| *at);
        let first = self.all.get(free.next()?)?;
        free.all(|other| self.all.get(other) == Some(first)).then_some(first)
    }
}

/// The words of a text, in lower case.
pub(crate) fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

// Sets of JSON types, and the identities of subschemas.

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
