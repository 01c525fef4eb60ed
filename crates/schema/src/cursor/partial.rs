//! The value so far, as coerced by the schema.

use std::{fmt, ops::Range};

use crate::{
    code::coded,
    tree::{JsonType, quoted},
};

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

/// One value. Children are linked, so a tree of any depth is stored in a flat list.
#[derive(Clone, Debug)]
struct Grown {
    kind: JsonType,
    state: NodeState,
    open: bool,
    key: Option<Range<usize>>,
    /// The content of a string, or the text of any other scalar.
    text: Range<usize>,
    first: Option<usize>,
    last: Option<usize>,
    next: Option<usize>,
    len: usize,
}

/// All values in a flat list; the first one is the root.
#[derive(Clone, Debug, Default)]
pub(super) struct PartialTree {
    nodes: Vec<Grown>,
    text: String,
    key: Option<Range<usize>>,
}

impl PartialTree {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.text.clear();
        self.key = None;
    }

    pub(super) fn root(&self) -> Option<Snapshot<'_>> {
        (!self.nodes.is_empty()).then_some(Snapshot { partial: self, at: 0 })
    }

    pub(super) const fn at(&self, at: usize) -> Snapshot<'_> {
        Snapshot { partial: self, at }
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    /// Stores the key of the next value.
    pub(super) fn key(&mut self, key: &str) {
        self.key = Some(self.keep(key));
    }

    /// Appends a child to `parent`.
    pub(super) fn append(
        &mut self,
        parent: Option<usize>,
        kind: JsonType,
        state: NodeState,
    ) -> usize {
        let at = self.nodes.len();
        let (key, end) = (self.key.take(), self.text.len());
        let (first, last, next) = (None, None, None);
        self.nodes.push(Grown {
            kind,
            state,
            open: true,
            key,
            text: end..end,
            first,
            last,
            next,
            len: 0,
        });
        let before = parent.and_then(|parent| self.nodes.get_mut(parent)).and_then(|parent| {
            parent.first = parent.first.or(Some(at));
            parent.len += 1;
            parent.last.replace(at)
        });
        if let Some(before) = before.and_then(|before| self.nodes.get_mut(before)) {
            before.next = Some(at);
        }
        at
    }

    /// Appends content to the last string.
    pub(super) fn grow(&mut self, at: usize, text: &str) {
        let end = self.keep(text).end;
        if let Some(node) = self.nodes.get_mut(at) {
            node.text.end = end;
        }
    }

    pub(super) fn content(&self, at: usize) -> &str {
        self.nodes.get(at).and_then(|node| self.text.get(node.text.clone())).unwrap_or_default()
    }

    pub(super) fn len(&self, at: usize) -> usize {
        self.nodes.get(at).map_or(0, |node| node.len)
    }

    pub(super) fn close(&mut self, at: usize, state: NodeState) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.open = false;
            node.state = state;
        }
    }

    pub(super) fn set_state(&mut self, at: usize, state: NodeState) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.state = state;
        }
    }

    /// Replaces a scalar.
    pub(super) fn replace(&mut self, at: usize, kind: JsonType, content: &str) {
        let text = self.keep(content);
        if let Some(node) = self.nodes.get_mut(at) {
            node.kind = kind;
            node.text = text;
        }
    }

    fn node(&self, at: usize) -> &Grown {
        &self.nodes[at]
    }

    fn slice(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// A borrowed view of one value in a [`Cursor`](super::Cursor): the part that has arrived, coerced,
/// and its state. Creating one is free.
///
/// It is displayed as JSON. Open values are closed, and [pending](NodeState::Pending) values are
/// left out.
#[derive(Clone, Copy)]
pub struct Snapshot<'c> {
    partial: &'c PartialTree,
    at: usize,
}

impl<'c> Snapshot<'c> {
    /// The type of the value. While the value is pending, the type of what was written so far.
    #[must_use]
    pub fn kind(&self) -> JsonType {
        self.partial.node(self.at).kind
    }

    /// How far the value can be relied on.
    #[must_use]
    pub fn state(&self) -> NodeState {
        self.partial.node(self.at).state
    }

    /// Whether the value may still grow.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.partial.node(self.at).open
    }

    /// Its key, decoded, if it is a member.
    #[must_use]
    pub fn key(&self) -> Option<&'c str> {
        self.partial.node(self.at).key.as_ref().map(|key| self.partial.slice(key))
    }

    /// The content of a string, as far as it has arrived.
    #[must_use]
    pub fn as_str(&self) -> Option<&'c str> {
        (self.kind() == JsonType::String).then(|| self.content())
    }

    /// The text of a number, as it is written.
    #[must_use]
    pub fn as_number(&self) -> Option<&'c str> {
        (self.kind() == JsonType::Number).then(|| self.content())
    }

    /// The boolean, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == JsonType::Boolean).then(|| self.content() == "true")
    }

    fn content(&self) -> &'c str {
        self.partial.slice(&self.partial.node(self.at).text)
    }

    /// The members or items so far, in order.
    pub fn children(&self) -> impl Iterator<Item = Snapshot<'c>> + use<'c> {
        let partial = self.partial;
        let first = partial.node(self.at).first;
        std::iter::successors(first, move |&at| partial.node(at).next)
            .map(move |at| Snapshot { partial, at })
    }

    /// The last member with this key.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Snapshot<'c>> {
        let named = |child: &Snapshot<'c>| child.key() == Some(key);
        (self.kind() == JsonType::Object).then(|| self.children().filter(named).last()).flatten()
    }

    /// The item at this position.
    #[must_use]
    pub fn item(&self, index: usize) -> Option<Snapshot<'c>> {
        (self.kind() == JsonType::Array).then(|| self.children().nth(index)).flatten()
    }

    fn is_shown(&self) -> bool {
        self.state() != NodeState::Pending
    }

    /// The first sibling from `at` on that is shown.
    fn shown(&self, at: Option<usize>) -> Option<usize> {
        let partial = self.partial;
        std::iter::successors(at, |&at| partial.node(at).next)
            .find(|&at| Snapshot { partial, at }.is_shown())
    }
}

impl fmt::Debug for Snapshot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({}, {:?})", self.kind(), self.state())
    }
}

impl fmt::Display for Snapshot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_shown() {
            return Ok(());
        }
        let mut stack = Vec::new();
        let mut at = self.at;
        loop {
            let value = Snapshot { partial: self.partial, at };
            if let Some(key) = value.key().filter(|_| at != self.at) {
                write!(f, "{}:", quoted(key))?;
            }
            match value.kind() {
                JsonType::String => f.write_str(&quoted(value.content()))?,
                JsonType::Array | JsonType::Object => {
                    let object = value.kind() == JsonType::Object;
                    f.write_str(if object { "{" } else { "[" })?;
                    if let Some(first) = self.shown(self.partial.node(at).first) {
                        stack.push(at);
                        at = first;
                        continue;
                    }
                    f.write_str(if object { "}" } else { "]" })?;
                }
                _ => f.write_str(value.content())?,
            }
            // Continues with the next sibling, or with the parent.
            loop {
                if at == self.at {
                    return Ok(());
                }
                if let Some(next) = self.shown(self.partial.node(at).next) {
                    f.write_str(",")?;
                    at = next;
                    break;
                }
                let Some(parent) = stack.pop() else { return Ok(()) };
                let object = self.partial.node(parent).kind == JsonType::Object;
                f.write_str(if object { "}" } else { "]" })?;
                at = parent;
            }
        }
    }
}
