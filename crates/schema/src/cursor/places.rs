//! The places of a schema that a stream has visited. Each is looked up only once, so the cost of a
//! token does not depend on the size of the schema.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    Draft, Schema,
    compile::{Additional, Shape, ShapeId, Types},
    part::Part,
};

/// The most combinations of union branches that are followed for one value. A value with more is
/// not checked.
pub(super) const WAYS: usize = 32;
/// The most places that are cached. A schema within its limits has far fewer.
const MOST: usize = 1 << 16;

/// Identifies a place by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PlaceId(u32);

impl PlaceId {
    /// A place without conditions.
    pub(super) const FREE: Self = Self(0);
}

/// The conditions of a place that can be checked in a stream.
#[derive(Clone, Debug)]
pub(super) struct Place {
    tops: Vec<ShapeId>,
    pub(super) types: Types,
    /// Whether the type is the only condition for a scalar.
    pub(super) plain: bool,
    /// Whether the type and the list of values are the only conditions.
    pub(super) listed: bool,
    /// Whether an object or array needs no further check at its end.
    pub(super) followed: bool,
    pub(super) options: Option<Vec<Value>>,
    pub(super) max_length: Option<u64>,
    pub(super) min_items: u64,
    pub(super) max_items: Option<u64>,
    pub(super) max_members: Option<u64>,
    /// Whether a pattern, format or enum restricts the strings.
    pub(super) narrow: bool,
    pub(super) required: Vec<String>,
    /// Whether undeclared keys are rejected.
    pub(super) closed: bool,
    members: HashMap<String, Member>,
    further: Option<PlaceId>,
    /// How many items have a place of their own; the others share one.
    prefix: usize,
    items: Vec<Option<PlaceId>>,
    ways: Option<Vec<PlaceId>>,
}

/// What a place requires of one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// `None` if the member is not allowed.
    pub(super) place: Option<PlaceId>,
    /// Its position in the list of required properties.
    pub(super) required: Option<usize>,
    pub(super) declared: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Places {
    schema: Schema,
    all: Vec<Place>,
    ids: HashMap<Vec<ShapeId>, PlaceId>,
    /// The readings of the whole value.
    root: Vec<PlaceId>,
}

impl Places {
    pub(super) fn new(schema: &Schema) -> Self {
        let free = Place::of(&Part::of(schema, Vec::new()), Vec::new());
        let ids = HashMap::from([(Vec::new(), PlaceId::FREE)]);
        let mut places = Self { schema: schema.clone(), all: vec![free], ids, root: Vec::new() };
        let root = places.place(&Part::root(schema));
        places.root = places.ways(root).to_vec();
        places
    }

    /// The readings of the whole value.
    pub(super) fn root(&self) -> &[PlaceId] {
        &self.root
    }

    pub(super) const fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(super) fn get(&self, id: PlaceId) -> &Place {
        // Identifiers are created only for places that are stored.
        &self.all[id.0 as usize]
    }

    pub(super) fn part(&self, id: PlaceId) -> Part<'_> {
        Part::of(&self.schema, self.get(id).tops.clone())
    }

    /// The readings of a place: one for each choice of union branches.
    pub(super) fn ways(&mut self, id: PlaceId) -> &[PlaceId] {
        if self.get(id).ways.is_none() {
            let ways = self.follow(id);
            self.all[id.0 as usize].ways = Some(ways);
        }
        self.get(id).ways.as_deref().unwrap_or_default()
    }

    fn follow(&mut self, id: PlaceId) -> Vec<PlaceId> {
        let schema = self.schema.clone();
        let mut ways = Vec::new();
        let mut open = vec![Part::of(&schema, self.get(id).tops.clone())];
        let mut steps = 0;
        while let Some(part) = open.pop() {
            steps += 1;
            if steps > 2 * WAYS || ways.len() + open.len() > WAYS {
                return vec![PlaceId::FREE];
            }
            match part.undecided() {
                Some(branches) => open.extend(branches.iter().rev().map(|id| part.and(*id))),
                None => {
                    let way = self.place(&part);
                    if !ways.contains(&way) {
                        ways.push(way);
                    }
                }
            }
        }
        ways
    }

    /// What a place requires of a member.
    pub(super) fn member(&mut self, id: PlaceId, key: &str) -> Member {
        let place = self.get(id);
        if let Some(member) = place.members.get(key) {
            return *member;
        }
        let required = place.required.iter().position(|name| name == key);
        let schema = self.schema.clone();
        let part = Part::of(&schema, self.get(id).tops.clone());
        let declared = part.declares(key);
        if !declared && required.is_none() {
            let place = if self.get(id).closed { None } else { Some(self.further(id, &part, key)) };
            return Member { place, required, declared };
        }
        let refused = part.shapes().any(|shape| refuses(&schema, shape, key));
        let place = (!refused).then(|| self.place(&part.member(key)));
        let member = Member { place, required, declared };
        // Only names in the schema are cached, because the names in the input are unbounded.
        self.all[id.0 as usize].members.insert(key.to_owned(), member);
        member
    }

    fn further(&mut self, id: PlaceId, part: &Part<'_>, key: &str) -> PlaceId {
        if let Some(further) = self.get(id).further {
            return further;
        }
        let further = self.place(&part.member(key));
        self.all[id.0 as usize].further = Some(further);
        further
    }

    /// The place of an item.
    pub(super) fn item(&mut self, id: PlaceId, index: usize) -> PlaceId {
        let place = self.get(id);
        let index = index.min(place.prefix);
        if let Some(Some(item)) = place.items.get(index) {
            return *item;
        }
        let schema = self.schema.clone();
        let part = Part::of(&schema, self.get(id).tops.clone()).item(index);
        let item = self.place(&part);
        if let Some(slot) = self.all[id.0 as usize].items.get_mut(index) {
            *slot = Some(item);
        }
        item
    }

    fn place(&mut self, part: &Part<'_>) -> PlaceId {
        let tops = part.tops().to_vec();
        if let Some(id) = self.ids.get(&tops) {
            return *id;
        }
        let Some(id) = u32::try_from(self.all.len()).ok().filter(|_| self.all.len() < MOST) else {
            return PlaceId::FREE;
        };
        self.all.push(Place::of(part, tops.clone()));
        self.ids.insert(tops, PlaceId(id));
        PlaceId(id)
    }
}

impl Place {
    fn of(part: &Part<'_>, tops: Vec<ShapeId>) -> Self {
        let schema = part.schema();
        let sources: Vec<&Map<String, Value>> =
            part.shapes().filter_map(|s| source(schema, s)).collect();
        let least = |key: &str| sources.iter().filter_map(|s| s.get(key)?.as_u64()).min();
        let only = |known: &[&str]| {
            sources.iter().all(|source| {
                source.keys().all(|key| known.contains(&key.as_str()) || key.starts_with("x-"))
            })
        };
        let resolved = part.shapes().all(|shape| {
            let refers = source(schema, shape)
                .is_some_and(|source| REFERENCES.iter().any(|key| source.contains_key(*key)));
            !refers || !shape.all_of.is_empty()
        });
        let types = part.allowed();
        // In draft 4, `1.0` is not an integer, which only the validator checks.
        let strict = schema.draft() == Draft::Draft4
            && types.has(Types::INTEGER)
            && !types.has(Types::NUMBER.without(Types::INTEGER));
        let settled = resolved && !strict && part.undecided().is_none();
        let known = [&SILENT[..], &REFERENCES, &FOR_CONTAINERS].concat();
        let prefix = part.shapes().map(|shape| shape.prefix.len()).max().unwrap_or_default();
        let mut required: Vec<String> = part.required().into_iter().map(str::to_owned).collect();
        let countable = required.len() <= 128;
        required.truncate(128);
        Self {
            types,
            listed: settled && only(&known),
            plain: settled && part.options().is_none() && only(&known),
            followed: resolved
                && countable
                && only(&[&known[..], &FOR_SCALARS].concat())
                && !sources
                    .iter()
                    .any(|source| UNFOLLOWED.iter().any(|key| source.contains_key(*key))),
            options: part.options().map(<[Value]>::to_vec),
            max_length: least("maxLength"),
            min_items: part.min_items(),
            max_items: least("maxItems"),
            max_members: least("maxProperties"),
            narrow: part.is_narrow(),
            required,
            closed: part.shapes().any(|shape| closes(schema, shape)),
            members: HashMap::new(),
            further: None,
            prefix,
            items: vec![None; prefix + 1],
            ways: None,
            tops,
        }
    }
}

/// Keywords without conditions, or whose conditions the places cover.
const SILENT: [&str; 21] = [
    "$schema",
    "$id",
    "id",
    "$defs",
    "definitions",
    "$comment",
    "$anchor",
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "nullable",
    "type",
    "allOf",
    "anyOf",
    "enum",
    "const",
];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords without conditions for scalars.
const FOR_CONTAINERS: [&str; 20] = [
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
];
/// Those of them that apply to the whole object or array.
const UNFOLLOWED: [&str; 13] = [
    "patternProperties",
    "propertyNames",
    "minProperties",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "enum",
    "const",
];
/// Keywords without conditions for objects and arrays.
const FOR_SCALARS: [&str; 10] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "contentMediaType",
];

fn source<'s>(schema: &'s Schema, shape: &Shape) -> Option<&'s Map<String, Value>> {
    schema.source().pointer(&shape.pointer).and_then(Value::as_object)
}

/// Whether every undeclared key is rejected. `unevaluatedProperties` depends on branches that other
/// members select, so it is not checked before the end.
fn closes(schema: &Schema, shape: &Shape) -> bool {
    shape.additional == Additional::Closed
        && !shape.has_patterns
        && source(schema, shape)
            .is_some_and(|s| s.get("additionalProperties") == Some(&Value::Bool(false)))
}

fn refuses(schema: &Schema, shape: &Shape, key: &str) -> bool {
    closes(schema, shape) && shape.property(key).is_none()
}
