//! What one subschema asks of a value, in the form in which it is checked.

use std::{
    collections::{HashMap, HashSet},
    sync::OnceLock,
};

use jsonschema::{Draft as Dialect, Validator};
use serde_json::{Map, Value};

use super::{
    pattern::Pattern,
    shape::{ShapeId, Types},
};
use crate::tree::TreeJson;

/// The keywords of one subschema, by the type of value that they are about.
#[derive(Default)]
pub(crate) struct Checks {
    /// The schema `false`.
    pub(crate) refuses_all: bool,
    /// Whether every value is valid.
    pub(crate) accepts_all: bool,
    /// Whether nothing but `types` is asked.
    pub(crate) is_plain: bool,
    pub(crate) types: Option<Types>,
    /// In draft 4, `1.0` is no integer.
    pub(crate) strict_integers: bool,
    pub(crate) constant: Option<Value>,
    pub(crate) options: Option<Listed>,
    pub(crate) text: Option<Box<Text>>,
    pub(crate) scalar: Option<Box<Scalar>>,
    pub(crate) list: Option<Box<List>>,
    pub(crate) object: Option<Box<Object>>,
    pub(crate) combined: Option<Box<Combined>>,
    /// The schema resource that it is in, for `$dynamicRef`.
    pub(crate) resource: u16,
    /// Whether the same value may meet it in several ways that each cost something, so that the
    /// answer is worth keeping.
    pub(crate) is_shared: bool,
}

/// The values of `enum`.
pub(crate) struct Listed {
    pub(crate) all: Vec<Value>,
    texts: HashSet<String>,
    /// Numbers as `f64` has them, which is not exact: each is compared again.
    numbers: HashMap<u64, Vec<usize>>,
    /// Those that are neither.
    others: Vec<usize>,
}

impl Listed {
    pub(super) fn new(all: &[Value]) -> Self {
        let (mut texts, mut numbers, mut others) = (HashSet::new(), HashMap::new(), Vec::new());
        for (at, value) in all.iter().enumerate() {
            match value {
                Value::String(text) => {
                    texts.insert(text.clone());
                }
                Value::Number(number) => {
                    let bits = bits(number.as_f64().unwrap_or(f64::NAN));
                    numbers.entry(bits).or_insert_with(Vec::new).push(at);
                }
                _ => others.push(at),
            }
        }
        Self { all: all.to_vec(), texts, numbers, others }
    }

    pub(crate) fn holds_text(&self, text: &str) -> bool {
        self.texts.contains(text)
    }

    /// The listed values that a number may be equal to.
    pub(crate) fn numbers(&self, number: f64) -> impl Iterator<Item = &Value> {
        let found = self.numbers.get(&bits(number)).map(Vec::as_slice).unwrap_or_default();
        found.iter().filter_map(|at| self.all.get(*at))
    }

    /// The listed values that are neither text nor numbers.
    pub(crate) fn others(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.others.iter().map(|at| &self.all[*at])
    }
}

/// `0` and `-0.0` are the same number.
fn bits(number: f64) -> u64 {
    if number == 0.0 { 0 } else { number.to_bits() }
}

/// What is asked of a string.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
    pub(crate) pattern: Option<Pattern>,
    /// As the schema spells it.
    pub(crate) spelled: String,
}

/// Keywords that only the library judges: bounds of numbers, formats and encodings. They look at
/// nothing but a scalar, so their work is bounded by its length.
pub(crate) struct Scalar {
    source: Map<String, Value>,
    dialect: Dialect,
    asserts_formats: Option<bool>,
    pub(crate) of_numbers: bool,
    pub(crate) of_texts: bool,
    /// The least and the greatest whole number, where these are the only conditions of numbers.
    pub(crate) range: Option<(i64, i64)>,
    /// Made when it is first needed.
    validator: OnceLock<Option<Validator<TreeJson>>>,
}

impl Scalar {
    const NUMBERS: [&str; 5] =
        ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    const TEXTS: [&str; 3] = ["format", "contentEncoding", "contentMediaType"];

    pub(super) fn of(
        members: &Map<String, Value>,
        dialect: Dialect,
        asserts_formats: Option<bool>,
    ) -> Option<Self> {
        let old = matches!(dialect, Dialect::Draft4 | Dialect::Draft6 | Dialect::Draft7);
        let asserted = |key: &str| match key {
            "format" => asserts_formats.unwrap_or(old),
            _ => matches!(dialect, Dialect::Draft6 | Dialect::Draft7),
        };
        let mut source = Map::new();
        let (mut of_numbers, mut of_texts) = (false, false);
        for (key, value) in members {
            let number = Self::NUMBERS.contains(&key.as_str());
            let text = Self::TEXTS.contains(&key.as_str()) && asserted(key);
            if number || text {
                of_numbers |= number;
                of_texts |= text;
                source.insert(key.clone(), value.clone());
            }
        }
        if source.is_empty() {
            return None;
        }
        let bound = |key: &str, none: i64| source.get(key).map_or(Some(none), Value::as_i64);
        let only_bounds = source.keys().all(|key| matches!(key.as_str(), "minimum" | "maximum"));
        let range = bound("minimum", i64::MIN).zip(bound("maximum", i64::MAX));
        let range = range.filter(|_| only_bounds);
        let validator = OnceLock::new();
        Some(Self { source, dialect, asserts_formats, of_numbers, of_texts, range, validator })
    }

    /// `None` if the library refuses a keyword that its own rules for schemas let pass.
    pub(crate) fn validator(&self) -> Option<&Validator<TreeJson>> {
        let build = || {
            let options = jsonschema::options_for::<TreeJson>().offline().with_draft(self.dialect);
            let options = match self.asserts_formats {
                Some(asserted) => options.should_validate_formats(asserted),
                None => options,
            };
            options.build(&Value::Object(self.source.clone())).ok()
        };
        self.validator.get_or_init(build).as_ref()
    }
}

/// What is asked of an array.
#[derive(Default)]
pub(crate) struct List {
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
    pub(crate) unique: bool,
    pub(crate) prefix: Vec<ShapeId>,
    /// The schema of the items after the prefix.
    pub(crate) rest: Option<ShapeId>,
    /// Whether `rest` is the `additionalItems` of a prefix, and `false`.
    pub(crate) ends_with_prefix: bool,
    pub(crate) contains: Option<Contains>,
    pub(crate) unevaluated: Option<ShapeId>,
}

/// `contains`, and how many items it is about.
pub(crate) struct Contains {
    pub(crate) of: ShapeId,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    /// Whether an item that is of the kind counts as evaluated: from draft 2020-12 on.
    pub(crate) evaluates: bool,
}

/// What is asked of an object.
#[derive(Default)]
pub(crate) struct Object {
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
    pub(crate) required: Vec<String>,
    /// The names that the schema knows.
    pub(crate) names: Names,
    pub(crate) patterns: Vec<(Pattern, ShapeId)>,
    /// `additionalProperties`, unless it accepts everything.
    pub(crate) further: Option<ShapeId>,
    /// Whether `further` is `false`.
    pub(crate) is_closed: bool,
    /// Whether `additionalProperties` is there at all: then every property is evaluated.
    pub(crate) evaluates_all: bool,
    pub(crate) property_names: Option<ShapeId>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) unevaluated: Option<ShapeId>,
    /// Whether `unevaluated` is `false`.
    pub(crate) refuses_unevaluated: bool,
}

/// What holds if a property is there.
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) keyword: &'static str,
    pub(crate) required: Vec<String>,
    pub(crate) schema: Option<ShapeId>,
}

/// What is known of a name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Name {
    pub(crate) property: Option<ShapeId>,
    /// Its position among the required ones.
    pub(crate) required: Option<usize>,
}

/// The declared and the required names, sorted by length and bytes.
#[derive(Default)]
pub(crate) struct Names(Vec<(String, Name)>);

impl Names {
    pub(super) fn new(properties: &[(String, ShapeId)], required: &[String]) -> Self {
        let mut names: HashMap<&str, Name> = HashMap::new();
        for (name, id) in properties {
            names.entry(name).or_default().property = Some(*id);
        }
        for (at, name) in required.iter().enumerate() {
            names.entry(name).or_default().required = Some(at);
        }
        let mut names: Vec<(String, Name)> =
            names.into_iter().map(|(name, known)| (name.to_owned(), known)).collect();
        names.sort_unstable_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
        Self(names)
    }

    pub(crate) fn get(&self, key: &str) -> Name {
        /// As many names are looked through faster than they are divided.
        const FEW: usize = 16;
        if self.0.len() <= FEW {
            let found = self.0.iter().find(|(name, _)| name == key);
            return found.map_or_else(Name::default, |(_, known)| *known);
        }
        let order = |(name, _): &(String, Name)| (name.len(), name.as_str()).cmp(&(key.len(), key));
        let found = self.0.binary_search_by(order).ok().and_then(|at| self.0.get(at));
        found.map_or_else(Name::default, |(_, known)| *known)
    }
}

/// Keywords that ask other subschemas about the same value.
#[derive(Default)]
pub(crate) struct Combined {
    pub(crate) all_of: Vec<ShapeId>,
    pub(crate) any_of: Vec<ShapeId>,
    pub(crate) one_of: Vec<ShapeId>,
    pub(crate) not: Option<ShapeId>,
    pub(crate) test: Option<ShapeId>,
    pub(crate) then: Option<ShapeId>,
    pub(crate) otherwise: Option<ShapeId>,
    /// `$ref`, and the others where they lead to one place only.
    pub(crate) references: Vec<ShapeId>,
    /// `$dynamicRef` and `$recursiveRef`.
    pub(crate) dynamic: Option<Dynamic>,
}

impl Combined {
    /// Whether `if` decides anything.
    pub(crate) const fn is_conditional(&self) -> bool {
        self.then.is_some() || self.otherwise.is_some()
    }
}

/// A reference whose target depends on how it was reached.
pub(crate) struct Dynamic {
    /// The name of the anchor.
    pub(crate) anchor: String,
    /// Where it leads if no resource on the way has such an anchor.
    pub(crate) target: ShapeId,
}
