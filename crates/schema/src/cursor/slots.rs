//! The slots of a schema that a stream has visited. Each is looked up only once, so the cost of a
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
/// The most slots that are cached. A schema within its limits has far fewer.
const MOST: usize = 1 << 16;

/// Identifies a slot by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SlotId(u32);

impl SlotId {
    /// A slot without conditions.
    pub(super) const FREE: Self = Self(0);
}

/// The conditions of a slot that can be checked in a stream.
#[derive(Clone, Debug)]
pub(super) struct Slot {
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
    closed: bool,
    members: HashMap<String, Member>,
    further: Option<SlotId>,
    /// How many items have a slot of their own; the others share one.
    prefix: usize,
    items: Vec<Option<SlotId>>,
    ways: Option<Vec<SlotId>>,
}

/// What a slot requires of one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// `None` if the member is not allowed.
    pub(super) slot: Option<SlotId>,
    /// Its position in the list of required properties.
    pub(super) required: Option<usize>,
    pub(super) declared: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Slots {
    schema: Schema,
    all: Vec<Slot>,
    ids: HashMap<Vec<ShapeId>, SlotId>,
    /// The readings of the whole value.
    root: Vec<SlotId>,
}

impl Slots {
    pub(super) fn new(schema: &Schema) -> Self {
        let free = Slot::of(&Part::of(schema, Vec::new()), Vec::new());
        let ids = HashMap::from([(Vec::new(), SlotId::FREE)]);
        let mut slots = Self { schema: schema.clone(), all: vec![free], ids, root: Vec::new() };
        let root = slots.slot(&Part::root(schema));
        slots.root = slots.ways(root).to_vec();
        slots
    }

    /// The readings of the whole value.
    pub(super) fn root(&self) -> &[SlotId] {
        &self.root
    }

    pub(super) const fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(super) fn get(&self, id: SlotId) -> &Slot {
        // Identifiers are created only for slots that are stored.
        &self.all[id.0 as usize]
    }

    pub(super) fn part(&self, id: SlotId) -> Part<'_> {
        Part::of(&self.schema, self.get(id).tops.clone())
    }

    /// The readings of a slot: one for each choice of union branches.
    pub(super) fn ways(&mut self, id: SlotId) -> &[SlotId] {
        if self.get(id).ways.is_none() {
            let ways = self.follow(id);
            self.all[id.0 as usize].ways = Some(ways);
        }
        self.get(id).ways.as_deref().unwrap_or_default()
    }

    fn follow(&mut self, id: SlotId) -> Vec<SlotId> {
        let schema = self.schema.clone();
        let mut ways = Vec::new();
        let mut open = vec![Part::of(&schema, self.get(id).tops.clone())];
        let mut steps = 0;
        while let Some(part) = open.pop() {
            steps += 1;
            if steps > 2 * WAYS || ways.len() + open.len() > WAYS {
                return vec![SlotId::FREE];
            }
            match part.undecided() {
                Some(branches) => open.extend(branches.iter().rev().map(|id| part.and(*id))),
                None => {
                    let way = self.slot(&part);
                    if !ways.contains(&way) {
                        ways.push(way);
                    }
                }
            }
        }
        ways
    }

    /// What a slot requires of a member.
    pub(super) fn member(&mut self, id: SlotId, key: &str) -> Member {
        let slot = self.get(id);
        if let Some(member) = slot.members.get(key) {
            return *member;
        }
        let required = slot.required.iter().position(|name| name == key);
        let schema = self.schema.clone();
        let part = Part::of(&schema, self.get(id).tops.clone());
        let declared = part.declares(key);
        if !declared && required.is_none() {
            let slot = if self.get(id).closed { None } else { Some(self.further(id, &part, key)) };
            return Member { slot, required, declared };
        }
        let refused = part.shapes().any(|shape| refuses(&schema, shape, key));
        let slot = (!refused).then(|| self.slot(&part.member(key)));
        let member = Member { slot, required, declared };
        // Only names in the schema are cached, because the names in the input are unbounded.
        self.all[id.0 as usize].members.insert(key.to_owned(), member);
        member
    }

    fn further(&mut self, id: SlotId, part: &Part<'_>, key: &str) -> SlotId {
        if part.has_patterns() {
            return self.slot(&part.member(key));
        }
        if let Some(further) = self.get(id).further {
            return further;
        }
        let further = self.slot(&part.member(key));
        self.all[id.0 as usize].further = Some(further);
        further
    }

    /// The slot of an item.
    pub(super) fn item(&mut self, id: SlotId, index: usize) -> SlotId {
        let slot = self.get(id);
        let index = index.min(slot.prefix);
        if let Some(Some(item)) = slot.items.get(index) {
            return *item;
        }
        let schema = self.schema.clone();
        let part = Part::of(&schema, self.get(id).tops.clone()).item(index);
        let item = self.slot(&part);
        if let Some(slot) = self.all[id.0 as usize].items.get_mut(index) {
            *slot = Some(item);
        }
        item
    }

    fn slot(&mut self, part: &Part<'_>) -> SlotId {
        let tops = part.tops().to_vec();
        if let Some(id) = self.ids.get(&tops) {
            return *id;
        }
        let Some(id) = u32::try_from(self.all.len()).ok().filter(|_| self.all.len() < MOST) else {
            return SlotId::FREE;
        };
        self.all.push(Slot::of(part, tops.clone()));
        self.ids.insert(tops, SlotId(id));
        SlotId(id)
    }
}

impl Slot {
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

/// Keywords without conditions, or whose conditions the slots cover.
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
