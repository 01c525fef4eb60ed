//! A place in a schema: everything that must hold of one value.

use std::collections::HashMap;

use serde_json::Value;

use crate::{
    compile::{Additional, Choices, Schema, Shape, ShapeId, Shapes, Types},
    issue,
    judge::Judge,
    tree::{JsonKind, Node},
};

/// The most subschemas that are looked at together.
const MOST: usize = 64;

/// The subschemas that apply to one value: the one that a keyword names, and what it refers to and
/// combines with `allOf`. It answers the questions that repair, and a cursor over a stream, have about a schema.
#[derive(Clone, Debug)]
pub(crate) struct Part<'s> {
    schema: &'s Schema,
    /// What a value is validated against.
    tops: Vec<ShapeId>,
    /// The same with everything they refer to and combine.
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

    /// Whether it is the same place.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.all == other.all
    }

    /// This place, where another subschema holds too.
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

    /// The place of the first of its subschemas, as a JSON Pointer.
    pub(crate) fn pointer(&self) -> &'s str {
        self.shapes().next().map_or("", |shape| &shape.pointer)
    }

    /// Whether a value of the tree that the judge was turned to is valid here.
    pub(crate) fn accepts(&self, judge: &mut Judge<'_>, node: Node<'_>) -> bool {
        judge.accepts(&self.tops, node)
    }

    /// The types allowed, unions included.
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

    /// The place of a property whose name, or one of its aliases, is `folded` when it is folded.
    pub(crate) fn property_alike(&self, folded: &str) -> Option<Self> {
        let alike = |shape: &Shape| shape.alike(self.schema.shapes(), folded);
        let tops: Vec<ShapeId> = self.shapes().filter_map(alike).collect();
        (!tops.is_empty()).then(|| Self::of(self.schema, tops))
    }

    /// The place of a member, declared or not.
    pub(crate) fn member(&self, key: &str) -> Self {
        self.property(key).unwrap_or_else(|| {
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

    /// The places that a member may have. There are several where patterns apply to its key: which
    /// of them match only the validator knows.
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

    /// Whether properties that are not declared are refused.
    pub(crate) fn is_closed(&self) -> bool {
        self.shapes().any(|shape| shape.additional == Additional::Closed) && !self.has_patterns()
    }

    pub(crate) fn has_patterns(&self) -> bool {
        self.shapes().any(|shape| shape.has_patterns)
    }

    /// The place of the values of properties that are not declared, if it has a schema.
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

    /// The same by their names.
    pub(crate) fn choices(&self) -> Option<&'s Choices> {
        self.shapes().find_map(|shape| {
            let options = shape.options.as_deref()?;
            Some(shape.choices.get_or_init(|| Choices::new(options)))
        })
    }

    /// The parts that say something, or ask for a choice that has not been made. Two places of the
    /// same essence ask the same of a value, whatever way led to them.
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

    /// The only value allowed, if there is only one.
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

    /// Whether something bounds what a string may hold: `enum`, `pattern`, `format`.
    pub(crate) fn is_narrow(&self) -> bool {
        self.shapes().any(|shape| shape.narrow)
    }

    pub(crate) fn title(&self) -> Option<&'s str> {
        self.shapes().find_map(|shape| shape.title.as_deref())
    }

    pub(crate) fn description(&self) -> Option<&'s str> {
        self.shapes().find_map(|shape| shape.description.as_deref())
    }

    /// The names a user gave this place with `x-aliases`, and its title.
    pub(crate) fn aliases(&self) -> Vec<&'s str> {
        let own = self.shapes().flat_map(|shape| shape.aliases.iter().map(String::as_str));
        own.chain(self.title()).collect()
    }

    /// The branches of `anyOf` and `oneOf`, list by list.
    pub(crate) fn unions(&self) -> Vec<&'s [ShapeId]> {
        let lists = self.shapes().flat_map(|shape| [&shape.any_of, &shape.one_of]);
        lists.filter(|list| !list.is_empty()).map(Vec::as_slice).collect()
    }

    /// The place with what its conditions ask of this value: `then` or `else`.
    pub(crate) fn conditioned(&self, judge: &mut Judge<'_>, node: Node<'_>) -> Self {
        let mut place = self.clone();
        for condition in self.shapes().filter_map(|shape| shape.condition) {
            let holds = judge.accepts(&[condition.test], node);
            if let Some(id) = if holds { condition.then } else { condition.otherwise } {
                // The consequence is a part of what is validated already.
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
    pub(crate) fn allows(&self, kind: JsonKind) -> bool {
        self.allowed().has(match kind {
            JsonKind::Array => Types::ARRAY,
            JsonKind::Boolean => Types::BOOLEAN,
            JsonKind::Null => Types::NULL,
            JsonKind::Number => Types::NUMBER,
            JsonKind::Object => Types::OBJECT,
            JsonKind::String => Types::STRING,
        })
    }
}

impl Shape {
    /// The subschema of a declared property.
    pub(crate) fn property(&self, key: &str) -> Option<ShapeId> {
        self.properties.iter().find(|(name, _)| name == key).map(|(_, id)| *id)
    }

    /// The subschema of the first property whose name or alias folds to `folded`. The names
    /// are folded once.
    fn alike(&self, shapes: &Shapes, folded: &str) -> Option<ShapeId> {
        let names = self.alike.get_or_init(|| {
            let mut names = HashMap::new();
            for (name, id) in &self.properties {
                let shape = shapes.shape(*id);
                let aliases = shape.into_iter().flat_map(|shape| &shape.aliases);
                for name in std::iter::once(name).chain(aliases) {
                    names.entry(issue::folded(name)).or_insert(*id);
                }
            }
            names
        });
        names.get(folded).copied()
    }
}

impl<'s> Part<'s> {
    /// The first union of which no branch has been chosen yet.
    pub(crate) fn undecided(&self) -> Option<&'s [ShapeId]> {
        self.unions().into_iter().find(|list| !list.iter().any(|id| self.all.contains(id)))
    }
}

/// What a cursor over a stream asks.
impl Part<'_> {
    /// What a value is validated against here.
    pub(crate) fn tops(&self) -> &[ShapeId] {
        &self.tops
    }

    /// Whether a string here is bound by that keyword of its own: `format` before `pattern`.
    pub(crate) fn form(&self) -> Option<String> {
        let pattern = |shape: &Shape| {
            let keyword = self.schema.source().pointer(&shape.pointer)?.get("pattern")?;
            keyword.as_str().map(|pattern| format!("a string that matches {pattern}"))
        };
        let format = self.format().map(|format| format!("a string in the format {format}"));
        format.or_else(|| self.shapes().find_map(pattern))
    }
}
