//! The items of a response, and which of them an event means.
//!
//! Servers number the items, name them, or both. Some give every item the same number, some give none, and some
//! make up an id for every event. So a key says something only if an item was announced with it, and what several
//! items have does not say which of them is meant.

use core::{
    hash::{Hash, Hasher},
    ops::Deref,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    hash::DefaultHasher,
};

use crate::json::Node;

/// Items beyond this number are read as one, so that their number is bounded.
pub(super) const MAX_ITEMS: u32 = 0x4000;

/// Where more open items than this have one key, the last ones are looked at.
const MOST_RIVALS: usize = 64;

/// What an item holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Call,
    Message,
    /// Work of the provider that has no text and no arguments.
    Other,
    Reasoning,
}

/// How far an item has come, and what an event does to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// A piece of it.
    Piece,
    /// All of its arguments.
    Whole,
    /// The item itself is done.
    Done,
}

/// What an event says about the item that it means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    kind: Kind,
    step: Step,
    /// The index in the output.
    index: Option<u32>,
    /// A hash of the id of the call.
    call: Option<u64>,
    /// A hash of the id of the item. In the pieces of some servers, it is that of the call.
    id: Option<u64>,
    /// A hash of the name of the tool.
    name: Option<u64>,
}

/// The items that an event may mean.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ItemMatch {
    /// None that is known.
    None,
    One(u32),
    /// Any of these. The first is the most likely one.
    Any(Vec<u32>),
}

impl From<Vec<u32>> for ItemMatch {
    fn from(places: Vec<u32>) -> Self {
        match *places {
            [] => Self::None,
            [place] => Self::One(place),
            _ => Self::Any(places),
        }
    }
}

/// A key of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// Every item has it.
    Any,
    Id(u64),
    Index(u32),
}

#[derive(Debug)]
struct Item {
    said: Said,
    /// The stream stated its beginning.
    added: bool,
    /// An event had its id, so the server does not make up an id for every event.
    addressed: bool,
}

/// The items so far, by their place: the number in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: Vec<Item>,
    /// Those that are not done.
    open: BTreeSet<(Key, Kind, u32)>,
    /// The last of each kind, done or not.
    last: BTreeMap<(Key, Kind), u32>,
}

/// An index in the output.
pub(super) fn index(node: Option<Node<'_>>) -> Option<u32> {
    u32::try_from(node?.integer()?).ok()
}

fn key(text: Option<Node<'_>>) -> Option<u64> {
    text.and_then(Node::text).filter(|text| !text.is_empty()).map(|text| hash(&text))
}

/// Whether both are known and differ.
fn differ<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

impl Said {
    /// An event about a part of an item.
    pub(super) fn of_part(kind: Kind, step: Step, payload: Node<'_>) -> Self {
        let [number, id] = payload.pick(["output_index", "item_id"]);
        Self { kind, step, index: index(number), call: None, id: key(id), name: None }
    }

    /// An event with a whole item.
    pub(super) fn of_item(kind: Kind, step: Step, index: Option<u32>, item: Node<'_>) -> Self {
        let [call, id, name] = item.pick(["call_id", "id", "name"]);
        Self { kind, step, index, call: key(call), id: key(id), name: key(name) }
    }

    pub(super) const fn is_call(self) -> bool {
        matches!(self.kind, Kind::Call)
    }

    fn keys(self) -> impl Iterator<Item = Key> {
        self.ids().chain(self.index.map(Key::Index))
    }

    /// The ids. That of the call comes first: some servers give all items one id.
    fn ids(self) -> impl Iterator<Item = Key> {
        [self.call, self.id].into_iter().flatten().map(Key::Id)
    }
}

impl Item {
    /// Whether an event has one of its ids.
    fn has_id_of(&self, said: Said) -> bool {
        [self.said.call, self.said.id].contains(&said.id)
    }

    /// Whether it is not as far as the event says.
    fn waits(&self, said: Said) -> bool {
        self.said.step < said.step.max(Step::Whole)
    }
}

impl Items {
    fn item(&self, place: u32) -> Option<&Item> {
        self.items.get(usize::try_from(place).ok()?)
    }

    fn item_mut(&mut self, place: u32) -> Option<&mut Item> {
        self.items.get_mut(usize::try_from(place).ok()?)
    }

    /// Whether the stream stated the beginning of the item.
    pub(super) fn is_added(&self, place: u32) -> bool {
        self.item(place).is_some_and(|item| item.added)
    }

    /// Whether the arguments of the item are still to come.
    pub(super) fn is_open(&self, place: u32) -> bool {
        self.item(place).is_some_and(|item| item.said.step == Step::Piece)
    }

    /// A new item, which no event has announced.
    pub(super) fn allot(&mut self, said: Said) -> u32 {
        let place = u32::try_from(self.items.len()).unwrap_or(MAX_ITEMS).min(MAX_ITEMS);
        if place < MAX_ITEMS {
            let said = Said { step: Step::Piece, ..said };
            self.items.push(Item { said, added: false, addressed: false });
            self.learn(place, said);
        }
        place
    }

    /// A new item that a whole response states.
    pub(super) fn begin_apart(&mut self, said: Said) -> u32 {
        let place = self.allot(said);
        if let Some(item) = self.item_mut(place) {
            item.added = true;
        }
        place
    }

    fn learn(&mut self, place: u32, said: Said) {
        for key in said.keys().chain([Key::Any]) {
            self.open.insert((key, said.kind, place));
            self.last.insert((key, said.kind), place);
        }
    }

    /// The stream states that an item begins. One that is announced once more is the same.
    pub(super) fn begin(&mut self, said: Said) -> u32 {
        let ids: Vec<u32> = said.ids().take(1).flat_map(|key| self.with(key, said.kind)).collect();
        let at: Vec<u32> =
            said.keys().chain([Key::Any]).flat_map(|key| self.with(key, said.kind)).collect();
        let same = |place: &u32, is_same: &dyn Fn(&Item) -> bool| {
            self.item(*place).is_some_and(|item| {
                !differ(item.said.index, said.index)
                    && !differ(item.said.name, said.name)
                    && is_same(item)
            })
        };
        let is_again = |item: &Item| {
            (said.kind == Kind::Call || item.said.step < Step::Done)
                && !differ(item.said.call, said.call)
        };
        let again = ids.into_iter().find(|place| same(place, &is_again));
        // Pieces of it may have come before.
        let early = || at.into_iter().find(|place| same(place, &|item| !item.added));
        let place = again.or_else(early).unwrap_or_else(|| self.allot(said));
        if let Some(item) = self.item_mut(place)
            && !core::mem::replace(&mut item.added, true)
        {
            item.said = Said { step: item.said.step, ..said };
            self.learn(place, said);
        }
        place
    }

    /// The items of a kind with a key: those that are open, from the last to the first, or else the last one.
    fn with(&self, key: Key, kind: Kind) -> Vec<u32> {
        let open = self.open.range((key, kind, 0)..=(key, kind, u32::MAX)).rev();
        let mut places: Vec<u32> = open.map(|at| at.2).take(MOST_RIVALS).collect();
        if places.is_empty() {
            places.extend(self.last.get(&(key, kind)));
        }
        places
    }

    /// The items that an event may mean.
    pub(super) fn find(&mut self, said: Said) -> ItemMatch {
        let mut found = self.look_up(said);
        if found == ItemMatch::None && said.kind != Kind::Call {
            // Reasoning may be a part of a message.
            let others = [Kind::Message, Kind::Reasoning].map(|kind| Said { kind, ..said });
            let mut places = others.iter().flat_map(|said| said.keys().map(|key| (key, said.kind)));
            let place = places.find_map(|(key, kind)| self.with(key, kind).first().copied());
            found = place.map_or(ItemMatch::None, ItemMatch::One);
        }
        if let ItemMatch::One(place) = found
            && let Some(item) = self.item_mut(place)
        {
            item.addressed |= said.step < Step::Done && said.id.is_some() && item.has_id_of(said);
        }
        found
    }

    fn look_up(&self, said: Said) -> ItemMatch {
        let named = said.ids().find_map(|key| {
            let mut places = self.with(key, said.kind);
            places.retain(|place| {
                self.item(*place).is_some_and(|item| !differ(item.said.call, said.call))
            });
            (!places.is_empty()).then_some(places)
        });
        let numbered = said.index.map(|index| self.with(Key::Index(index), said.kind));
        match (named, numbered.filter(|places| !places.is_empty())) {
            (Some(mut named), Some(numbered)) => {
                let unlike =
                    [self.narrow(named.clone(), said), self.narrow(numbered.clone(), said)];
                // One that is done still has both.
                let has_both = |item: &Item| item.said.index == said.index;
                named.retain(|place| self.item(*place).is_some_and(has_both));
                match named.is_empty() {
                    // The id says one thing, and the index another.
                    true => ItemMatch::Any(unlike.concat()),
                    false => self.narrow(named, said).into(),
                }
            }
            (Some(places), None) => self.narrow(places, said).into(),
            (None, Some(places)) => {
                let places = self.narrow(places, said);
                // Its id may be that of another item, which is not known.
                match places.iter().any(|place| self.is_denied(*place, said)) {
                    true => ItemMatch::Any(places),
                    false => places.into(),
                }
            }
            (None, None) => {
                let mut places = self.narrow(self.with(Key::Any, said.kind), said);
                let repeats = said.step > Step::Piece && said.kind != Kind::Call;
                places.retain(|place| {
                    self.item(*place).is_some_and(|item| {
                        (repeats || item.waits(said)) && !differ(item.said.index, said.index)
                    }) && !self.is_denied(*place, said)
                });
                places.into()
            }
        }
    }

    /// Whether an event has another id, although other events had that of the item.
    fn is_denied(&self, place: u32, said: Said) -> bool {
        let is_other = |item: &Item| item.addressed && !item.has_id_of(said);
        said.step < Step::Done && said.id.is_some() && self.item(place).is_some_and(is_other)
    }

    /// Those of some items that fit an event best, from the most likely one on.
    fn narrow(&self, mut places: Vec<u32>, said: Said) -> Vec<u32> {
        let named = |item: &Item| !differ(item.said.name, said.name);
        let waits = |item: &Item| named(item) && item.waits(said);
        for test in [&named as &dyn Fn(&Item) -> bool, &waits] {
            let fits = |place: &u32| self.item(*place).is_some_and(test);
            if places.iter().any(fits) {
                places.retain(fits);
            }
        }
        if said.step > Step::Piece {
            places.reverse();
        }
        places
    }

    /// An event with everything in an item was read.
    pub(super) fn end(&mut self, place: u32, step: Step) {
        let Some(item) = self.item_mut(place) else { return };
        item.said.step = item.said.step.max(step);
        let said = item.said;
        if step == Step::Done {
            for key in said.keys().chain([Key::Any]) {
                self.open.remove(&(key, said.kind, place));
            }
        }
    }

    /// The place of an item of the whole response, of which it is the `number`th. `by_id`: its id says which it is.
    pub(super) fn of_whole(&self, said: Said, number: u32, by_id: bool) -> Option<u32> {
        let first = |key| self.with(key, said.kind).first().copied();
        let named = said.ids().filter(|_| by_id).find_map(first);
        let at = || first(Key::Index(number));
        let nth = || {
            let item = self.item(number)?;
            (item.said.index.is_none() && item.said.kind == said.kind).then_some(number)
        };
        named.or_else(at).or_else(nth)
    }
}

/// Calls beyond this number are not noted, so that their number is bounded.
const MAX_CALLS: usize = 0x1_0000;

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// Their places in the response.
    places: BTreeSet<u32>,
    /// Hashes of their ids.
    ids: BTreeSet<u64>,
}

impl Announced {
    /// A piece of the call at `place` arrived.
    pub(super) fn add(&mut self, place: u32, id: Option<&str>) {
        if self.places.len() < MAX_CALLS {
            self.places.insert(place);
        }
        if let Some(id) = id.filter(|_| self.ids.len() < MAX_CALLS) {
            self.ids.insert(hash(id));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether there was a call at `place`.
    pub(super) fn has(&self, place: u32) -> bool {
        self.places.contains(&place)
    }

    /// Which calls of the repetition no event announced, by their places in it. Servers may give calls other
    /// ids there, so an id that is not known is not enough: there must be more calls than were announced.
    pub(super) fn missing<I: Deref<Target = str>>(
        &self,
        calls: impl Iterator<Item = (u32, Option<I>)>,
    ) -> BTreeSet<u32> {
        let (mut count, mut unknown) = (0_usize, Vec::new());
        for (place, id) in calls {
            count += 1;
            let known = match id {
                Some(id) => self.ids.contains(&hash(&id)),
                None => self.places.contains(&place),
            };
            if !known {
                unknown.push(place);
            }
        }
        let more = count.saturating_sub(self.places.len());
        unknown.split_off(unknown.len().saturating_sub(more)).into_iter().collect()
    }
}

/// A hash of an id.
pub(super) fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
