//! A JSON text as a tree of nodes with byte ranges.
//!
//! The tree is an arena in document order over its text: a container is followed by its content.
//! Strings and numbers are decoded on demand, and the spelling of numbers, the order of keys and
//! duplicate keys are preserved.

mod json;
mod read;
mod text;

use std::{borrow::Cow, fmt, ops::Range};

pub(crate) use wiremend_core::JsonType;
use wiremend_core::{Limits, lexer::unescape};

pub(crate) use json::{Instance, TreeJson, equals, is_unique, value};
pub use read::TreeError;
pub(crate) use text::{escaped, is_integer, plain_integer, quoted};

/// The deepest nesting that a [`Tree`] supports, in levels.
pub const MAX_DEPTH: usize = 127;

/// A JSON text, parsed into nodes with byte ranges.
///
/// ```
/// use wiremend_core::JsonType;
/// use wiremend_schema::Tree;
///
/// let tree = Tree::read(r#"{"price": 1.10, "tags": ["a", "b"]}"#)?;
/// let price = tree.root().member("price").unwrap();
/// assert_eq!((price.kind(), price.raw()), (JsonType::Number, "1.10"));
/// assert_eq!(price.span(), 10..14);
/// let tags = tree.at("/tags/1").unwrap();
/// assert_eq!(tags.as_str().as_deref(), Some("b"));
/// # Ok::<(), wiremend_schema::TreeError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Tree<'t> {
    text: &'t str,
    nodes: Vec<Entry>,
    deepest: usize,
    surrogates: bool,
    loose: bool,
}

/// One node. Offsets are 32 bits, so longer texts are rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    kind: JsonType,
    /// Whether the value is a string with escapes.
    escaped: bool,
    /// Whether the key has escapes.
    key_escaped: bool,
    start: u32,
    end: u32,
    /// The bytes of the key, with its quotes; empty for a value that is not a member.
    key: (u32, u32),
    /// The index after the last node inside this one.
    next: u32,
    /// The index of the container; its own for the root.
    parent: u32,
    /// How many members or items it holds.
    len: u32,
}

impl<'t> Tree<'t> {
    /// Parses a JSON text (RFC 8259), which may be surrounded by white space.
    ///
    /// # Errors
    /// If the text is not JSON, is nested deeper than [`MAX_DEPTH`], or is longer than 4 GiB.
    pub fn read(text: &'t str) -> Result<Self, TreeError> {
        let read::Read { nodes, deepest, surrogates, loose } = read::read(text)?;
        Ok(Self { text, nodes, deepest, surrogates, loose })
    }

    /// Whether mending within these limits would leave the text as it is: nothing is too deep, and
    /// no escape of a surrogate can lack its other half.
    pub(crate) fn needs_no_mending(&self, limits: Limits) -> bool {
        self.is_within(limits) && !self.surrogates
    }

    /// Whether no value is too deep for these limits.
    pub(crate) fn is_within(&self, limits: Limits) -> bool {
        self.deepest <= limits.depth()
    }

    /// The text that the tree was parsed from.
    #[must_use]
    pub const fn text(&self) -> &'t str {
        self.text
    }

    /// The root.
    #[must_use]
    pub const fn root(&self) -> Node<'_> {
        Node { tree: self, index: 0 }
    }

    /// The node with that index, if there is one.
    pub(crate) fn node(&self, index: u32) -> Option<Node<'_>> {
        ((index as usize) < self.nodes.len()).then_some(Node { tree: self, index })
    }

    /// The whole numbers that are not plain digits (`3.0`, `1e3`, `-0`), in document order.
    pub(crate) fn loose_integers(&self) -> impl Iterator<Item = Node<'_>> {
        let nodes = if self.loose { self.nodes.as_slice() } else { &[] };
        let numbers = nodes.iter().zip(0..).filter(|(entry, _)| entry.kind == JsonType::Number);
        let nodes = numbers.map(|(_, index)| Node { tree: self, index });
        nodes.filter(|node| {
            let raw = node.raw();
            (raw.contains(['.', 'e', 'E']) || raw == "-0") && is_integer(raw)
        })
    }

    /// The number of nodes, which is at least one.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node at a JSON Pointer (RFC 6901). If a key is repeated, its last member counts.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<Node<'_>> {
        let mut node = self.root();
        if pointer.is_empty() {
            return Some(node);
        }
        for step in pointer.strip_prefix('/')?.split('/') {
            let step = step.replace("~1", "/").replace("~0", "~");
            node = match node.kind() {
                JsonType::Object => node.member(&step)?,
                JsonType::Array => node.children().nth(step.parse().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }
}

impl fmt::Debug for Tree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tree").field("text", &self.text).field("nodes", &self.nodes.len()).finish()
    }
}

/// A node of a [`Tree`]: a value and its location. It is cheap to copy.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree<'t>,
    index: u32,
}

impl<'t> Node<'t> {
    #[inline]
    fn entry(&self) -> &'t Entry {
        // An index always comes from the tree itself.
        &self.tree.nodes[self.index as usize]
    }

    /// The type of the value.
    #[must_use]
    pub fn kind(&self) -> JsonType {
        self.entry().kind
    }

    /// The byte range of the value in the text.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        let entry = self.entry();
        entry.start as usize..entry.end as usize
    }

    /// The value as it is written.
    #[must_use]
    pub fn raw(&self) -> &'t str {
        self.tree.text.get(self.span()).unwrap_or_default()
    }

    /// The byte range of the key with its quotes, if the value is a member.
    #[must_use]
    pub fn key_span(&self) -> Option<Range<usize>> {
        let (start, end) = self.entry().key;
        (start < end).then_some(start as usize..end as usize)
    }

    /// The decoded key, if the value is a member.
    #[must_use]
    pub fn key(&self) -> Option<Cow<'t, str>> {
        let Entry { key: (start, end), key_escaped, .. } = *self.entry();
        (start < end).then(|| self.content(start, end, key_escaped))
    }

    /// The bytes of the key, unless it has escapes or there is none.
    #[inline]
    pub(crate) fn plain_key(&self) -> Option<&'t [u8]> {
        let Entry { key: (start, end), key_escaped, .. } = *self.entry();
        let inside = start as usize + 1..(end as usize).max(1) - 1;
        self.tree.text.as_bytes().get(inside).filter(|_| !key_escaped && start < end)
    }

    /// The decoded string, if the value is one.
    #[must_use]
    pub fn as_str(&self) -> Option<Cow<'t, str>> {
        let Entry { kind, start, end, escaped, .. } = *self.entry();
        (kind == JsonType::String).then(|| self.content(start, end, escaped))
    }

    /// The text between the quote at `start` and the one before `end`.
    #[inline]
    fn content(&self, start: u32, end: u32, escaped: bool) -> Cow<'t, str> {
        let inside = start as usize + 1..end as usize - 1;
        let content = self.tree.text.get(inside).unwrap_or_default();
        if escaped { unescape(content) } else { Cow::Borrowed(content) }
    }

    /// The boolean, if the value is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == JsonType::Boolean).then(|| self.raw() == "true")
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.kind() == JsonType::Null
    }

    /// Whether the value is a number without a fractional part, however it is written (`1.0`,
    /// `1e3`).
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.kind() == JsonType::Number && is_integer(self.raw())
    }

    /// The number of members or items; 0 for a scalar.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.entry().len as usize
    }

    /// Whether the value is an object or an array.
    #[must_use]
    pub fn is_container(&self) -> bool {
        self.kind().is_container()
    }

    /// The members or items, in order.
    #[must_use]
    pub fn children(&self) -> Children<'t> {
        let entry = self.entry();
        Children { tree: self.tree, at: self.index + 1, end: entry.next }
    }

    /// The members or items, starting from the one with index `from` if it is given.
    pub(crate) fn children_from(&self, from: Option<u32>) -> Children<'t> {
        let all = self.children();
        Children { at: from.unwrap_or(all.at), ..all }
    }

    /// The member with that key; the last one, if there are several.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Node<'t>> {
        if self.kind() != JsonType::Object {
            return None;
        }
        self.children().filter(|member| member.has_key(key)).last()
    }

    /// The parent; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Node<'t>> {
        (self.index != 0).then(|| Node { tree: self.tree, index: self.entry().parent })
    }

    pub(crate) fn has_key(&self, key: &str) -> bool {
        match self.plain_key() {
            Some(own) => own == key.as_bytes(),
            None => self.key().is_some_and(|own| own == key),
        }
    }

    pub(crate) const fn index(&self) -> u32 {
        self.index
    }

    pub(crate) const fn tree(&self) -> &'t Tree<'t> {
        self.tree
    }

    /// The JSON Pointer (RFC 6901) from the root.
    #[must_use]
    pub fn pointer(&self) -> String {
        let mut steps = Vec::new();
        let mut node = *self;
        while let Some(parent) = node.parent() {
            steps.push(match node.key() {
                Some(key) => key.replace('~', "~0").replace('/', "~1"),
                None => parent
                    .children()
                    .position(|item| item.index == node.index)
                    .unwrap_or_default()
                    .to_string(),
            });
            node = parent;
        }
        steps.iter().rev().fold(String::new(), |pointer, step| pointer + "/" + step)
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({} at {:?})", self.kind(), self.span())
    }
}

/// The members or items of a node.
#[derive(Clone, Debug)]
pub struct Children<'t> {
    tree: &'t Tree<'t>,
    at: u32,
    end: u32,
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        if self.at >= self.end {
            return None;
        }
        let node = Node { tree: self.tree, index: self.at };
        self.at = node.entry().next;
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_spans_and_paths() {
        let text = " {\"a\": [1, {\"b/c\": null}], \"a\": \"\\u00e9\"} ";
        let tree = Tree::read(text).unwrap();
        let root = tree.root();
        assert_eq!((root.kind(), root.len()), (JsonType::Object, 2));
        assert_eq!(root.member("a").unwrap().as_str().unwrap(), "é", "the last one counts");
        let first = root.children().next().unwrap();
        let null = first.children().nth(1).unwrap().member("b/c").unwrap();
        assert_eq!(null.pointer(), "/a/1/b~1c");
        assert_eq!(null.raw(), "null");
        assert_eq!(null.parent().unwrap().raw(), "{\"b/c\": null}");
        assert_eq!(first.children().next().unwrap().raw(), "1");
        assert_eq!(&text[first.key_span().unwrap()], "\"a\"");
    }

    #[test]
    fn pointers_lead_to_nodes() {
        let tree = Tree::read(r#"{"a~b": [[], {"": 7}]}"#).unwrap();
        assert_eq!(tree.at("/a~0b/1/").unwrap().raw(), "7");
        assert_eq!(tree.at("").unwrap().len(), 1);
        assert!(tree.at("/a~0b/2").is_none());
        assert!(tree.at("a").is_none());
    }

    #[test]
    fn keys_with_escapes_are_found() {
        let tree = Tree::read(r#"{"\u0061": 1, "a\"b": 2}"#).unwrap();
        assert_eq!(tree.root().member("a").unwrap().raw(), "1");
        assert_eq!(tree.root().member("a\"b").unwrap().raw(), "2");
        assert!(tree.root().member("\\u0061").is_none());
    }
}
