//! The value so far, as coerced by the schema.

use std::fmt;

use wiremend_core::{JsonType, Value, tree::Tree};

use crate::code::coded;

/// How far a value in a [`Snapshot`] can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeState {
    /// The value has begun, but it is not known yet what it will be: a string that may become a
    /// number when it ends, or the beginning of a listed value. It is not shown.
    Pending,
    /// The value can be shown. It may still grow, and if it does not fit its schema, a rule may
    /// change it at the end.
    Tentative,
    /// The value has ended and fits its schema. It will not change, unless an enclosing value is
    /// restructured at the end.
    Final,
}

impl NodeState {
    /// All states, in the order in which a value passes through them.
    pub const ALL: &'static [Self] = &[Self::Pending, Self::Tentative, Self::Final];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Tentative => "tentative",
            Self::Final => "final",
        }
    }
}

coded!(NodeState, "node state");

/// The tree of the core, with a state for each value.
#[derive(Clone, Debug, Default)]
pub(super) struct PartialTree {
    tree: Tree,
    /// By the number of the value.
    states: Vec<NodeState>,
}

impl PartialTree {
    pub(super) fn clear(&mut self) {
        self.tree.clear();
        self.states.clear();
    }

    pub(super) fn root(&self) -> Option<Snapshot<'_>> {
        self.at(0)
    }

    /// The value with that number.
    pub(super) fn at(&self, at: usize) -> Option<Snapshot<'_>> {
        self.tree.value(at).map(|value| Snapshot { value, states: &self.states })
    }

    /// Stores the key of the next value.
    pub(super) fn key(&mut self, key: &str) {
        self.tree.key(key);
    }

    /// Adds a string or a container, and returns its number.
    pub(super) fn begin(&mut self, kind: JsonType, state: NodeState) -> usize {
        self.states.push(state);
        self.tree.begin(kind)
    }

    /// Adds another scalar, and returns its number.
    pub(super) fn scalar(&mut self, kind: JsonType, spelled: &str) -> usize {
        self.states.push(NodeState::Tentative);
        self.tree.scalar(kind, spelled)
    }

    /// Appends content to the open string.
    pub(super) fn grow(&mut self, text: &str) {
        self.tree.extend(text);
    }

    /// The content of a string.
    pub(super) fn content(&self, at: usize) -> &str {
        self.tree.value(at).and_then(|value| value.as_str()).unwrap_or_default()
    }

    /// How many items or members it has so far.
    pub(super) fn len(&self, at: usize) -> usize {
        self.tree.value(at).map_or(0, |value| value.len())
    }

    /// Ends a value.
    pub(super) fn close(&mut self, at: usize, state: NodeState) {
        if self.tree.value(at).is_some_and(|value| value.is_open()) {
            self.tree.close();
        }
        self.set_state(at, state);
    }

    pub(super) fn set_state(&mut self, at: usize, state: NodeState) {
        if let Some(own) = self.states.get_mut(at) {
            *own = state;
        }
    }

    /// Makes another scalar of the last value, which is one.
    pub(super) fn replace_last(&mut self, kind: JsonType, spelled: &str) {
        self.tree.replace_last(kind, spelled);
    }
}

/// A borrowed view of one value in a [`Cursor`](super::Cursor): the part that has arrived, coerced,
/// and its state. Creating one is free.
///
/// It is displayed as JSON. Open values are closed, and [pending](NodeState::Pending) values are
/// left out.
#[derive(Clone, Copy)]
pub struct Snapshot<'c> {
    value: Value<'c>,
    states: &'c [NodeState],
}

impl<'c> Snapshot<'c> {
    /// The type of the value. While the value is pending, the type of what was written so far.
    #[must_use]
    pub fn kind(&self) -> JsonType {
        self.value.kind()
    }

    /// How far the value can be relied on.
    #[must_use]
    pub fn state(&self) -> NodeState {
        self.state_of(self.value)
    }

    fn state_of(&self, value: Value<'c>) -> NodeState {
        self.states.get(value.index()).copied().unwrap_or(NodeState::Tentative)
    }

    /// Whether the value may still grow.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.value.is_open()
    }

    /// Its key, decoded, if it is a member.
    #[must_use]
    pub fn key(&self) -> Option<&'c str> {
        self.value.key()
    }

    /// The content of a string, as far as it has arrived.
    #[must_use]
    pub fn as_str(&self) -> Option<&'c str> {
        self.value.as_str()
    }

    /// The text of a number, as it is written.
    #[must_use]
    pub fn as_number(&self) -> Option<&'c str> {
        self.value.as_number()
    }

    /// The boolean, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        self.value.as_bool()
    }

    /// The members or items so far, in order.
    pub fn children(&self) -> impl Iterator<Item = Snapshot<'c>> + use<'c> {
        let states = self.states;
        self.value.children().map(move |value| Snapshot { value, states })
    }

    /// The last member with this key.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Snapshot<'c>> {
        self.value.member(key).map(|value| Snapshot { value, ..*self })
    }

    /// The item at this position.
    #[must_use]
    pub fn item(&self, index: usize) -> Option<Snapshot<'c>> {
        self.value.item(index).map(|value| Snapshot { value, ..*self })
    }
}

impl fmt::Debug for Snapshot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({}, {:?})", self.kind(), self.state())
    }
}

impl fmt::Display for Snapshot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value| self.state_of(value) != NodeState::Pending;
        if shown(self.value) { self.value.write_with(f, shown) } else { Ok(()) }
    }
}
