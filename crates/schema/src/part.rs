//! A place in a schema: all subschemas that apply to one value.

use std::collections::HashMap;

use serde_json::Value;

use crate::{
    compile::{Additional, Choices, Pattern, Schema, Searched, Shape, ShapeId, Shapes, Types},
    judge::Judge,
    names::folded,
    tree::{JsonType, Node},
};

/// The most subschemas that are combined.
const MOST: usize = 64;
/// The most patterns that are compared with a key, and the most steps that each may take.
const PATTERNS: usize = 16;
const STEPS: u64 = 4096;

/// The subschemas that apply to one value: the one that a keyword names, those that it references,
/// and those in its `allOf`. It answers the questions of fitting, cursors and guides about the
/// schema.
#[derive(Clone, Debug)]
pub(crate) struct Part<'s> {
    schema: &'s Schema,
    /// The subschemas that a value is validated against.
    tops: Vec<ShapeId>,
    /// The same, with everything that they reference and combine.
    all: Vec<ShapeId>,
}

impl<'s> Part<'s> {
    /// The place of the whole value.
    pub(crate) fn root(schema: &'s Schema) -> Self {
        Self::of(schema, vec![Shapes::ROOT])
    }

    pub(crate) fn of(schema: &'s Schema, tops: Vec<ShapeId>) -> Self {
        let mut all: Vec<ShapeId> = Vec::new();
        let mut at = 0;
        for id in &tops {
            if !all.contains(id) {
                all.push(*id);
            }
        }
        while let Some(shape) = all.get(at).and_then(|id| schema.shapes().shape(*id)) {
            for id in &shape.all_of {
                if all.len() < MOST && !all.contains(id) {
                    all.push(*id);
                }
            }
            at += 1;
        }
        Self { schema, tops, all }
    }

    /// Whether both are the same place.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.all == other.all
    }

    /// The place where another subschema applies as well.
    pub(crate) fn and(&self, more: ShapeId) -> Self {
        let mut tops = self.tops.clone();
        tops.push(more);
        Self::of(self.schema, tops)
    }

    pub(crate) const fn schema(&self) -> &'s Schema {
        self.schema
    }

    pub(crate) fn shapes(&self) -> impl Iterator<Item = &'s Shape> + '_ {
        self.all.iter().filter_map(|id| self.schema.shapes().shape(*id))
    }

    /// The location of the first subschema, as a JSON Pointer.
    pub(crate) fn pointer(&self) -> &'s str {
        self.shapes().next().map_or("", |shape| &shape.pointer)
    }

    /// Whether a value of the judge's current tree is valid here.
    pub(crate) fn accepts(&self, judge: &mut Judge<'_>, node: Node<'_>) -> bool {
        judge.accepts(&self.tops, node)
    }

    /// The types that are allowed, including those in unions.
    pub(crate) fn allowed(&self) -> Types {
        self.shapes().fold(Types::ALL, |types, shape| types.intersection(shape.allowed))
    }

    /// Whether `key` is declared in `properties`.
    pub(crate) fn declares(&self, key: &str) -> bool {
        self.shapes().any(|shape| shape.property(key).is_some())
    }

    /// Whether `key` is declared here or in a branch of a union.
    pub(crate) fn names(&self, key: &str) -> bool {
        let branch = |id: &ShapeId| Self::of(self.schema, vec![*id]).declares(key);
        self.declares(key) || self.unions().into_iter().flatten().any(branch)
    }

    /// The place of a declared property.
    pub(crate) fn property(&self, key: &str) -> Option<Self> {
        let tops: Vec<ShapeId> = self.shapes().filter_map(|shape| shape.property(key)).collect();
        (!tops.is_empty()).then(|| Self::of(self.schema, tops))
    }

    /// The place of the property whose name or alias is equal to `folded` after folding.
    pub(crate) fn property_alike(&self, folded: &str) -> Option<Self> {
        let alike = |shape: &Shape| shape.alike(self.schema.shapes(), folded);
        let tops: Vec<ShapeId> = self.shapes().filter_map(alike).collect();
        (!tops.is_empty()).then(|| Self::of(self.schema, tops))
    }

    /// The place of a member that `properties` or `patternProperties` declare.
    pub(crate) fn declared(&self, key: &str) -> Option<Self> {
        let by_pattern = || {
            let objects = self.all.iter().filter_map(|id| self.schema.shapes().checks(*id));
            let patterns = objects.filter_map(|checks| checks.object.as_ref());
            let patterns = patterns.flat_map(|object| &object.patterns).take(PATTERNS);
            let fits =
                |pattern: &Pattern| pattern.search(key, |steps| steps <= STEPS) == Searched::Match;
            let own = patterns.filter(|(pattern, _)| fits(pattern));
            let tops: Vec<ShapeId> = own.map(|(_, id)| *id).collect();
            (!tops.is_empty()).then(|| Self::of(self.schema, tops))
        };
        self.property(key).or_else(by_pattern)
    }

    /// The place of a member, declared or not.
    pub(crate) fn member(&self, key: &str) -> Self {
        self.declared(key).unwrap_or_else(|| {
            let has_patterns = self.shapes().any(|shape| shape.has_patterns);
            let further = |shape: &Shape| match shape.additional {
                Additional::Schema(id) => Some(id),
                Additional::Open | Additional::Closed => None,
            };
            let tops =
                if has_patterns { Vec::new() } else { self.shapes().filter_map(further).collect() };
            Self::of(self.schema, tops)
        })
    }

    /// The places that a member may have. There are several if the schema has patterns for keys,
    /// because only the validator matches them.
    pub(crate) fn members(&self, key: &str) -> Vec<Self> {
        let by_pattern = |shape: &&Shape| shape.has_patterns;
        let shape = self.shapes().find(by_pattern).filter(|_| self.property(key).is_none());
        let Some(shape) = shape else { return vec![self.member(key)] };
        let one = |id: ShapeId| Self::of(self.schema, vec![id]);
        let mut places: Vec<Self> = shape.patterns.iter().copied().map(one).collect();
        match shape.additional {
            Additional::Schema(id) => places.push(one(id)),
            Additional::Closed if shape.refuses_further => {}
            Additional::Open | Additional::Closed => places.push(Self::of(self.schema, Vec::new())),
        }
        places
    }

    /// The declared properties, in the order of the schema.
    pub(crate) fn properties(&self) -> Vec<&'s str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.shapes().flat_map(|shape| &shape.properties) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// The names of the required properties.
    pub(crate) fn required(&self) -> Vec<&'s str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.shapes().flat_map(|shape| &shape.required) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    pub(crate) fn requires(&self, key: &str) -> bool {
        self.shapes().any(|shape| shape.required.iter().any(|name| name == key))
    }

    /// Whether undeclared properties are rejected.
    pub(crate) fn is_closed(&self) -> bool {
        self.shapes().any(|shape| shape.additional == Additional::Closed) && !self.has_patterns()
    }

    pub(crate) fn has_patterns(&self) -> bool {
        self.shapes().any(|shape| shape.has_patterns)
    }

    /// The place of undeclared properties, if they have a schema.
    pub(crate) fn further(&self) -> Option<Self> {
        self.shapes().find_map(|shape| match shape.additional {
            Additional::Schema(id) => Some(Self::of(self.schema, vec![id])),
            Additional::Open | Additional::Closed => None,
        })
    }

    /// The place of an item.
    pub(crate) fn item(&self, index: usize) -> Self {
        let of = |shape: &Shape| shape.prefix.get(index).copied().or(shape.items);
        Self::of(self.schema, self.shapes().filter_map(of).collect())
    }

    pub(crate) fn has_items(&self) -> bool {
        self.shapes().any(|shape| shape.items.is_some() || !shape.prefix.is_empty())
    }

    pub(crate) fn min_items(&self) -> u64 {
        self.shapes().map(|shape| shape.min_items).max().unwrap_or_default()
    }

    /// The values of `enum` or `const`.
    pub(crate) fn options(&self) -> Option<&'s [Value]> {
        self.shapes().find_map(|shape| shape.options.as_deref())
    }

    /// The same values, indexed by name.
    pub(crate) fn choices(&self) -> Option<&'s Choices> {
        self.shapes().find_map(|shape| {
            let options = shape.options.as_deref()?;
            Some(shape.choices.get_or_init(|| Choices::new(options)))
        })
    }

    /// The subschemas that have conditions of their own, or a union that is not decided yet. Two
    /// places with the same essence have the same conditions, however they were reached.
    pub(crate) fn essence(&self) -> Vec<ShapeId> {
        let open =
            |list: &[ShapeId]| !list.is_empty() && !list.iter().any(|id| self.all.contains(id));
        let counts = |id: &&ShapeId| {
            self.schema.shapes().shape(**id).is_some_and(|shape| {
                !shape.is_passage || open(&shape.any_of) || open(&shape.one_of)
            })
        };
        self.all.iter().filter(counts).copied().collect()
    }

    /// The only allowed value, if there is exactly one.
    pub(crate) fn constant(&self) -> Option<&'s Value> {
        self.options().and_then(|options| match options {
            [only] => Some(only),
            _ => None,
        })
    }

    pub(crate) fn default(&self) -> Option<&'s Value> {
        self.shapes().find_map(|shape| shape.default.as_ref())
    }

    pub(crate) fn format(&self) -> Option<&'s str> {
        self.shapes().find_map(|shape| shape.format.as_deref())
    }

    pub(crate) fn maximum(&self) -> Option<f64> {
        self.shapes().filter_map(|shape| shape.maximum).reduce(f64::min)
    }

    /// Whether an `enum`, `pattern` or `format` restricts the strings.
    pub(crate) fn is_narrow(&self) -> bool {
        self.shapes().any(|shape| shape.narrow)
    }

    pub(crate) fn title(&self) -> Option<&'s str> {
        self.shapes().find_map(|shape| shape.title.as_deref())
    }

    pub(crate) fn description(&self) -> Option<&'s str> {
        self.shapes().find_map(|shape| shape.description.as_deref())
    }

    /// The other names of this place: its `x-aliases` and its title.
    pub(crate) fn aliases(&self) -> Vec<&'s str> {
        let own = self.shapes().flat_map(|shape| shape.aliases.iter().map(String::as_str));
        own.chain(self.title()).collect()
    }

    /// The branches of each `anyOf` and `oneOf`.
    fn unions(&self) -> Vec<&'s [ShapeId]> {
        let lists = self.shapes().flat_map(|shape| [&shape.any_of, &shape.one_of]);
        lists.filter(|list| !list.is_empty()).map(Vec::as_slice).collect()
    }

    /// The place including the conditions of `then` or `else` that apply to this value.
    pub(crate) fn conditioned(&self, judge: &mut Judge<'_>, node: Node<'_>) -> Self {
        let mut place = self.clone();
        for condition in self.shapes().filter_map(|shape| shape.condition) {
            let holds = judge.accepts(&[condition.test], node);
            if let Some(id) = if holds { condition.then } else { condition.otherwise } {
                // Validation already includes the consequence.
                for id in Self::of(self.schema, vec![id]).all {
                    if place.all.len() < MOST && !place.all.contains(&id) {
                        place.all.push(id);
                    }
                }
            }
        }
        place
    }

    /// Whether a type is allowed.
    pub(crate) fn allows(&self, kind: JsonType) -> bool {
        self.allowed().has(match kind {
            JsonType::Array => Types::ARRAY,
            JsonType::Boolean => Types::BOOLEAN,
            JsonType::Null => Types::NULL,
            JsonType::Number => Types::NUMBER,
            JsonType::Object => Types::OBJECT,
            JsonType::String => Types::STRING,
        })
    }
}

impl Shape {
    /// The subschema of a declared property.
    pub(crate) fn property(&self, key: &str) -> Option<ShapeId> {
        self.properties.iter().find(|(name, _)| name == key).map(|(_, id)| *id)
    }

    /// The subschema of the first property whose name or alias is equal to `wanted` after folding.
    /// The names are folded only once.
    fn alike(&self, shapes: &Shapes, wanted: &str) -> Option<ShapeId> {
        let names = self.alike.get_or_init(|| {
            let mut names = HashMap::new();
            for (name, id) in &self.properties {
                let shape = shapes.shape(*id);
                let aliases = shape.into_iter().flat_map(|shape| &shape.aliases);
                for name in std::iter::once(name).chain(aliases) {
                    names.entry(folded(name)).or_insert(*id);
                }
            }
            names
        });
        names.get(wanted).copied()
    }
}

impl<'s> Part<'s> {
    /// The first union whose branch has not been chosen yet.
    pub(crate) fn undecided(&self) -> Option<&'s [ShapeId]> {
        self.unions().into_iter().find(|list| !list.iter().any(|id| self.all.contains(id)))
    }
}

/// Questions of a cursor.
impl Part<'_> {
    /// The subschemas that a value is validated against.
    pub(crate) fn tops(&self) -> &[ShapeId] {
        &self.tops
    }

    /// The `format` or else the `pattern` of a string, in words.
    pub(crate) fn form(&self) -> Option<String> {
        let pattern = |shape: &Shape| {
            let keyword = self.schema.source().pointer(&shape.pointer)?.get("pattern")?;
            keyword.as_str().map(|pattern| format!("a string that matches {pattern}"))
        };
        let format = self.format().map(|format| format!("a string in the format {format}"));
        format.or_else(|| self.shapes().find_map(pattern))
    }
}
