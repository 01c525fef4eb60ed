//! The conditions that one subschema puts on a value, prepared for validation.

use std::{collections::HashMap, sync::OnceLock};

use jsonschema::{Draft as Dialect, Validator};
use serde_json::{Map, Value};

use super::{
    pattern::Pattern,
    shape::{ShapeId, Types},
};
use crate::tree::TreeJson;

/// The keywords of one subschema, grouped by the type of value that they apply to.
#[derive(Default)]
pub(crate) struct Checks {
    /// Whether this is the schema `false`.
    pub(crate) refuses_all: bool,
    /// Whether every value is valid.
    pub(crate) accepts_all: bool,
    /// Whether `types` is the only condition.
    pub(crate) is_plain: bool,
    /// Whether a keyword applies other subschemas to the value, or to what they leave unevaluated.
    pub(crate) has_others: bool,
    pub(crate) types: Option<Types>,
    /// Whether `1.0` is not an integer, as in draft 4.
    pub(crate) strict_integers: bool,
    pub(crate) values: Option<Box<Values>>,
    pub(crate) text: Option<Box<Text>>,
    pub(crate) scalar: Option<Box<Scalar>>,
    pub(crate) list: Option<Box<List>>,
    pub(crate) object: Option<Box<Object>>,
    pub(crate) combined: Option<Box<Combined>>,
    /// The schema resource that contains this subschema, for `$dynamicRef`.
    pub(crate) resource: u16,
    /// Whether the same value may reach this subschema in several ways, at a cost, so that the
    /// answer should be cached.
    pub(crate) is_shared: bool,
}

/// `const` and `enum`.
pub(crate) struct Values {
    pub(crate) constant: Option<Value>,
    pub(crate) options: Option<Listed>,
}

/// The values of `enum`.
pub(crate) struct Listed {
    pub(crate) all: Vec<Value>,
    /// The positions of the strings, sorted by their length and bytes.
    texts: Vec<usize>,
    /// Numbers by their `f64` bits. Since that is inexact, a match is compared again.
    numbers: HashMap<u64, Vec<usize>>,
    /// The positions of values that are neither strings nor numbers.
    others: Vec<usize>,
}

impl Listed {
    pub(super) fn new(all: &[Value]) -> Self {
        let (mut texts, mut numbers, mut others) = (Vec::new(), HashMap::new(), Vec::new());
        for (at, value) in all.iter().enumerate() {
            match value {
                Value::String(_) => texts.push(at),
                Value::Number(number) => {
                    let bits = bits(number.as_f64().unwrap_or(f64::NAN));
                    numbers.entry(bits).or_insert_with(Vec::new).push(at);
                }
                _ => others.push(at),
            }
        }
        let text = |at: &usize| all.get(*at).and_then(Value::as_str).unwrap_or_default();
        texts.sort_by_key(|at| (text(at).len(), text(at)));
        Self { all: all.to_vec(), texts, numbers, others }
    }

    pub(crate) fn holds_text(&self, text: &str) -> bool {
        let own = |at: &usize| self.all.get(*at).and_then(Value::as_str).unwrap_or_default();
        let order = |at: &usize| (own(at).len(), own(at)).cmp(&(text.len(), text));
        self.texts.binary_search_by(order).is_ok()
    }

    /// The listed values that may be equal to a number.
    pub(crate) fn numbers(&self, number: f64) -> impl Iterator<Item = &Value> {
        let found = self.numbers.get(&bits(number)).map(Vec::as_slice).unwrap_or_default();
        found.iter().filter_map(|at| self.all.get(*at))
    }

    /// The listed values that are neither strings nor numbers.
    pub(crate) fn others(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.others.iter().map(|at| &self.all[*at])
    }
}

/// Makes the bits of `0` and `-0.0` the same, because the numbers are equal.
fn bits(number: f64) -> u64 {
    if number == 0.0 { 0 } else { number.to_bits() }
}

/// The keywords for strings.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
    pub(crate) pattern: Option<Pattern>,
    /// The pattern as the schema spells it.
    pub(crate) spelled: String,
}

/// Keywords that the `jsonschema` library checks: bounds of numbers, formats and encodings. Each
/// one looks at a single scalar, so the work is bounded by its length.
pub(crate) struct Scalar {
    source: Map<String, Value>,
    dialect: Dialect,
    asserts_formats: Option<bool>,
    pub(crate) of_numbers: bool,
    pub(crate) of_texts: bool,
    /// The smallest and largest whole number, if these are the only conditions on numbers.
    pub(crate) range: Option<(i64, i64)>,
    /// Built when it is first needed.
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

    /// `None` if the library rejects a keyword that its meta-schema accepts.
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

/// The keywords for arrays.
#[derive(Default)]
pub(crate) struct List {
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
    pub(crate) unique: bool,
    pub(crate) prefix: Vec<ShapeId>,
    /// The schema of the items after `prefixItems`.
    pub(crate) rest: Option<ShapeId>,
    /// Whether `rest` comes from `additionalItems: false`.
    pub(crate) ends_with_prefix: bool,
    pub(crate) contains: Option<Contains>,
    pub(crate) unevaluated: Option<ShapeId>,
}

/// `contains`, and how many items must match it.
pub(crate) struct Contains {
    pub(crate) of: ShapeId,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    /// Whether matching items count as evaluated, which they do from draft 2020-12 on.
    pub(crate) evaluates: bool,
}

/// The keywords for objects.
#[derive(Default)]
pub(crate) struct Object {
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
    pub(crate) required: Vec<String>,
    /// The names that `properties` and `required` mention.
    pub(crate) names: Names,
    pub(crate) patterns: Vec<(Pattern, ShapeId)>,
    /// `additionalProperties`, unless it accepts every value.
    pub(crate) further: Option<ShapeId>,
    /// Whether `further` is `false`.
    pub(crate) is_closed: bool,
    /// Whether `additionalProperties` is present, which makes every property evaluated.
    pub(crate) evaluates_all: bool,
    pub(crate) property_names: Option<ShapeId>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) unevaluated: Option<ShapeId>,
    /// Whether `unevaluated` is `false`.
    pub(super) refuses_unevaluated: bool,
}

/// The conditions that apply if a property is present.
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) keyword: &'static str,
    pub(crate) required: Vec<String>,
    pub(crate) schema: Option<ShapeId>,
}

/// What the schema says about a property name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Name {
    pub(crate) property: Option<ShapeId>,
    /// Its position in the list of required properties.
    pub(crate) required: Option<usize>,
}

/// The declared and the required names: a few in the order of the schema, more sorted by length and
/// bytes.
#[derive(Default)]
pub(crate) struct Names(Vec<(String, Name)>);

impl Names {
    /// For this few names, a linear scan is faster than bisection.
    const FEW: usize = 16;

    pub(super) fn new(properties: &[(String, ShapeId)], required: &[String]) -> Self {
        let declared = |(name, id): &(String, ShapeId)| {
            (name.clone(), Name { property: Some(*id), required: None })
        };
        let mut names = Self(properties.iter().map(declared).collect());
        names.sort();
        let mut others = Vec::new();
        for (at, name) in required.iter().enumerate() {
            match names.find(name.as_bytes(), 0).and_then(|found| names.0.get_mut(found)) {
                Some((_, known)) => known.required = Some(at),
                None => others.push((name.clone(), Name { property: None, required: Some(at) })),
            }
        }
        names.0.append(&mut others);
        names.sort();
        names
    }

    fn sort(&mut self) {
        if self.0.len() > Self::FEW {
            self.0.sort_unstable_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
        }
    }

    /// The position of a name. `likely` is looked at first.
    #[inline]
    pub(crate) fn find(&self, key: &[u8], likely: usize) -> Option<usize> {
        match self.0.get(likely) {
            Some((name, _)) if name.as_bytes() == key => Some(likely),
            _ => self.search(key),
        }
    }

    #[inline(never)]
    fn search(&self, key: &[u8]) -> Option<usize> {
        let is_own = |(name, _): &(String, Name)| name.as_bytes() == key;
        if self.0.len() <= Self::FEW {
            return self.0.iter().position(is_own);
        }
        let order =
            |(name, _): &(String, Name)| (name.len(), name.as_bytes()).cmp(&(key.len(), key));
        self.0.binary_search_by(order).ok()
    }

    /// What is known about the name at a position.
    pub(crate) fn name(&self, at: Option<usize>) -> Name {
        at.and_then(|at| self.0.get(at)).map_or_else(Name::default, |(_, known)| *known)
    }

    pub(crate) fn get(&self, key: &[u8]) -> Name {
        self.name(self.find(key, 0))
    }
}

/// Keywords that apply other subschemas to the same value.
#[derive(Default)]
pub(crate) struct Combined {
    pub(crate) all_of: Vec<ShapeId>,
    pub(crate) any_of: Vec<ShapeId>,
    pub(crate) one_of: Vec<ShapeId>,
    pub(crate) not: Option<ShapeId>,
    pub(crate) test: Option<ShapeId>,
    pub(crate) then: Option<ShapeId>,
    pub(crate) otherwise: Option<ShapeId>,
    /// `$ref`, and the dynamic references that have only one possible target.
    pub(crate) references: Vec<ShapeId>,
    /// `$dynamicRef` and `$recursiveRef`.
    pub(crate) dynamic: Option<Dynamic>,
}

impl Combined {
    /// Whether `if` has any effect.
    pub(crate) const fn is_conditional(&self) -> bool {
        self.then.is_some() || self.otherwise.is_some()
    }
}

/// A reference whose target depends on the path that led to it.
pub(crate) struct Dynamic {
    /// The name of the anchor.
    pub(crate) anchor: String,
    /// The target if no enclosing resource has such an anchor.
    pub(crate) target: ShapeId,
}
