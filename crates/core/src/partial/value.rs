//! The borrowed view of a value.

use core::fmt::{self, Write as _};

use super::{OwnedValue, tree::Tree};
use crate::{JsonType, Path};

/// A borrowed view of one value in a [`Partial`](super::Partial) or an [`OwnedValue`]. Creating one
/// costs nothing.
///
/// Two values are equal if they have the same content in the same order, and the same parts of them
/// are open.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    pub(super) tree: &'a Tree,
    pub(super) at: usize,
}

impl<'a> Value<'a> {
    /// Its type.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> JsonType {
        self.tree.node(self.at).kind
    }

    /// Whether it is a string or container that has not been closed, so that it may still grow.
    #[must_use]
    #[inline]
    pub fn is_open(&self) -> bool {
        self.tree.node(self.at).open
    }

    /// The key, if this is a member of an object.
    #[must_use]
    pub fn key(&self) -> Option<&'a str> {
        self.tree.key_of(self.at)
    }

    /// Its path in the document. Costs O(depth).
    #[must_use]
    pub fn path(&self) -> Path {
        self.tree.path(self.at)
    }

    /// The content of a string, as far as it has arrived.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> Option<&'a str> {
        (self.kind() == JsonType::String).then(|| self.text())
    }

    /// The text of a number, as written.
    #[must_use]
    pub fn as_number(&self) -> Option<&'a str> {
        (self.kind() == JsonType::Number).then(|| self.text())
    }

    /// The value, if it is a Boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == JsonType::Boolean).then(|| self.text() == "true")
    }

    /// How many items or members it has so far. 0 if it is not a container.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        let last = self.tree.node(self.at).last;
        last.map_or(0, |last| self.tree.node(last.get()).index + 1)
    }

    /// Whether it has no items or members so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items of an array, or the values of an object's members, in order.
    pub fn children(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let tree = self.tree;
        core::iter::successors(self.first(), move |&at| {
            tree.node(at).next.map(core::num::NonZeroUsize::get)
        })
        .map(move |at| Value { tree, at })
    }

    /// The last member with this key. Costs O(members).
    #[must_use]
    #[inline]
    pub fn member(&self, key: &str) -> Option<Value<'a>> {
        let tree = self.tree;
        let (mut next, mut found) = (self.first(), None);
        while let Some(at) = next {
            if tree.has_key(at, key) {
                found = Some(Value { tree, at });
            }
            next = tree.node(at).next.map(core::num::NonZeroUsize::get);
        }
        found
    }

    /// The item at this index. Costs O(index).
    #[must_use]
    pub fn item(&self, index: usize) -> Option<Value<'a>> {
        (self.kind() == JsonType::Array).then(|| self.children().nth(index)).flatten()
    }

    /// The last item or member. If this value is open, the document grows there.
    #[must_use]
    pub fn last(&self) -> Option<Value<'a>> {
        let last = self.tree.node(self.at).last?;
        Some(Value { tree: self.tree, at: last.get() })
    }

    /// Copies it. Costs O(its size).
    #[must_use]
    pub fn to_owned_value(&self) -> OwnedValue {
        OwnedValue { tree: self.tree.subtree(self.at) }
    }

    /// The first item or member.
    #[cfg(feature = "serde")]
    pub(crate) fn first_child(&self) -> Option<Self> {
        Some(Self { tree: self.tree, at: self.first()? })
    }

    /// The item or member after this one.
    #[cfg(feature = "serde")]
    pub(crate) fn sibling(&self) -> Option<Self> {
        let next = self.tree.node(self.at).next?;
        Some(Self { tree: self.tree, at: next.get() })
    }

    #[inline]
    fn text(&self) -> &'a str {
        self.tree.text_of(self.at)
    }

    #[inline]
    pub(super) fn first(&self) -> Option<usize> {
        self.tree.node(self.at).last.map(|_| self.at + 1)
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.tree.same(self.at, other.tree, other.at)
    }
}

/// Prints JSON text without white space, as if everything open were closed. Costs O(its size).
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_with(f, |_| true)
    }
}

impl<'a> Value<'a> {
    /// Its number, in the order in which the values of the document begin.
    #[doc(hidden)]
    #[must_use]
    pub const fn index(&self) -> usize {
        self.at
    }

    /// Prints it like [`Display`](fmt::Display), without the values inside it that are not `shown`.
    #[doc(hidden)]
    pub fn write_with(
        &self,
        f: &mut fmt::Formatter<'_>,
        shown: impl Fn(Value<'a>) -> bool,
    ) -> fmt::Result {
        let tree = self.tree;
        let shown = |at: Option<usize>| {
            core::iter::successors(at, |&at| tree.node(at).next.map(core::num::NonZeroUsize::get))
                .find(|&at| shown(Value { tree, at }))
        };
        let mut at = self.at;
        loop {
            let value = Value { tree, at };
            if at != self.at
                && let Some(key) = value.key()
            {
                write_string(f, key)?;
                f.write_char(':')?;
            }
            match value.kind() {
                JsonType::String => write_string(f, value.text())?,
                JsonType::Boolean | JsonType::Null | JsonType::Number => {
                    f.write_str(value.text())?;
                }
                kind @ (JsonType::Array | JsonType::Object) => {
                    f.write_char(if kind == JsonType::Object { '{' } else { '[' })?;
                    if let Some(first) = shown(value.first()) {
                        at = first;
                        continue;
                    }
                    f.write_char(closer(kind))?;
                }
            }
            // Continue with the next sibling, or with that of a container around.
            loop {
                if at == self.at {
                    return Ok(());
                }
                let node = tree.node(at);
                if let Some(next) = shown(node.next.map(core::num::NonZeroUsize::get)) {
                    f.write_char(',')?;
                    at = next;
                    break;
                }
                at = node.parent;
                f.write_char(closer(tree.node(at).kind))?;
            }
        }
    }
}

/// Prints its JSON text, and whether it is open.
impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({self}{})", if self.is_open() { ", open" } else { "" })
    }
}

const fn closer(kind: JsonType) -> char {
    if matches!(kind, JsonType::Object) { '}' } else { ']' }
}

/// Writes a JSON string.
pub(super) fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') {
        let (plain, special) = rest.split_at(at);
        f.write_str(plain)?;
        let mut chars = special.chars();
        match chars.next() {
            Some('"') => f.write_str("\\\"")?,
            Some('\\') => f.write_str("\\\\")?,
            Some('\n') => f.write_str("\\n")?,
            Some('\r') => f.write_str("\\r")?,
            Some('\t') => f.write_str("\\t")?,
            Some(control) => write!(f, "\\u{:04x}", control as u32)?,
            None => {}
        }
        rest = chars.as_str();
    }
    f.write_str(rest)?;
    f.write_char('"')
}
