//! The flat tree of the values of a document.

use alloc::{string::String, vec::Vec};
use core::num::NonZeroUsize;

use super::Value;
use crate::{JsonType, ParseEvent, Path, Step};

/// One value. Nodes are in the order in which their values begin. So the first child of a container
/// is the next node, and a subtree is a range of nodes.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: JsonType,
    pub(super) open: bool,
    pub(super) has_key: bool,
    /// Where the key starts in the text. It ends where the node's own text starts.
    pub(super) key: usize,
    /// Where the content of a string, or the text of a number or literal, starts.
    pub(super) text: usize,
    /// Where it ends. That of an open string ends with the whole text.
    end: usize,
    /// The root is its own parent.
    pub(super) parent: usize,
    /// Its index among its siblings.
    pub(super) index: usize,
    /// The next sibling. The root has none, so this is never 0.
    pub(super) next: Option<NonZeroUsize>,
    /// The last child.
    pub(super) last: Option<NonZeroUsize>,
}

/// How many bytes of a short piece are appended at a time.
const WORD: usize = 8;

/// Pieces longer than this are appended as a whole.
pub(super) const LONG: usize = 24;

/// Two words, aligned, because checking that these are UTF-8 is fast.
#[repr(align(8))]
struct Block([u8; 2 * WORD]);

/// The values so far. The first one is the root. They are numbered in the order in which they begin,
/// so that others can keep something for each of them.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    /// Keys, strings, numbers and literals, in the order of the document.
    pub(super) text: String,
    /// The innermost value that is open.
    pub(super) open: Option<usize>,
    /// Where the key of the next member starts.
    key: Option<usize>,
}

impl Tree {
    /// The value with this number.
    #[must_use]
    #[inline]
    pub fn value(&self, at: usize) -> Option<Value<'_>> {
        (at < self.nodes.len()).then_some(Value { tree: self, at })
    }

    /// Whether the root has ended.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.open.is_none() && !self.nodes.is_empty()
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.text.clear();
        self.open = None;
        self.key = None;
    }

    /// Applies an event. Of several documents, only the first is kept.
    #[inline]
    pub(super) fn take(&mut self, event: ParseEvent<'_>) {
        if self.is_complete() {
            return;
        }
        match event {
            ParseEvent::Text(text) => self.extend(text),
            ParseEvent::BeginArray => _ = self.begin(JsonType::Array),
            ParseEvent::BeginObject => _ = self.begin(JsonType::Object),
            ParseEvent::BeginString => _ = self.begin(JsonType::String),
            ParseEvent::Bool(value) => {
                self.scalar(JsonType::Boolean, if value { "true" } else { "false" });
            }
            ParseEvent::EndArray | ParseEvent::EndObject | ParseEvent::EndString => self.close(),
            ParseEvent::EndDocument => {}
            ParseEvent::Key(key) => self.key(key),
            ParseEvent::Null => _ = self.scalar(JsonType::Null, "null"),
            ParseEvent::Number(number) => _ = self.scalar(JsonType::Number, number),
        }
    }

    /// Sets the key of the next value.
    pub fn key(&mut self, key: &str) {
        self.key = Some(self.text.len());
        self.text.push_str(key);
    }

    /// Appends to the open string. No other text is appended meanwhile, so the text of a string is
    /// contiguous, and that of an open string ends with the whole text.
    #[inline]
    pub fn extend(&mut self, text: &str) {
        if self.open.is_some() {
            self.text.push_str(text);
        }
    }

    /// Like [`extend`](Self::extend), for one character.
    #[inline]
    pub(super) fn push(&mut self, character: char) {
        if self.open.is_some() {
            self.text.push(character);
        }
    }

    /// Like [`extend`](Self::extend), for text that is known to be ASCII and is usually the length
    /// of a token. Converting it to `str` would take longer than everything else, except in an
    /// aligned block.
    #[inline]
    pub(super) fn extend_ascii(&mut self, text: &[u8]) {
        if self.open.is_none() {
            return;
        }
        match text.first_chunk() {
            Some(word) if text.len() == WORD => self.push_word(word),
            _ => self.push_ascii(text),
        }
    }

    #[inline]
    fn push_word(&mut self, word: &[u8; WORD]) {
        let mut block = Block([b' '; 2 * WORD]);
        block.0[..WORD].copy_from_slice(word);
        if let Some(word) = core::str::from_utf8(&block.0).ok().and_then(|text| text.get(..WORD)) {
            self.text.push_str(word);
        }
    }

    fn push_ascii(&mut self, text: &[u8]) {
        if text.len() > LONG {
            self.text.push_str(core::str::from_utf8(text).unwrap_or_default());
            return;
        }
        let mut rest = text;
        while let Some((word, tail)) = rest.split_first_chunk() {
            self.push_word(word);
            rest = tail;
        }
        self.text.extend(rest.iter().map(|byte| char::from(byte & 0x7f)));
    }

    /// Begins a string or a container, and returns its number.
    pub fn begin(&mut self, kind: JsonType) -> usize {
        let text = self.text.len();
        let at = self.append(kind, text, true);
        self.open = Some(at);
        at
    }

    /// Adds a scalar, and returns its number.
    pub fn scalar(&mut self, kind: JsonType, spelled: &str) -> usize {
        let text = self.text.len();
        self.text.push_str(spelled);
        self.append(kind, text, false)
    }

    /// Makes another scalar of the last value, which is one. A string that was open is closed.
    pub fn replace_last(&mut self, kind: JsonType, spelled: &str) {
        let Some(last) = self.nodes.len().checked_sub(1) else { return };
        if self.open == Some(last) {
            self.close();
        }
        if let Some(node) = self.nodes.get_mut(last) {
            self.text.truncate(node.text);
            self.text.push_str(spelled);
            node.kind = kind;
            node.end = self.text.len();
        }
    }

    /// Closes the innermost open value.
    pub fn close(&mut self) {
        let Some(at) = self.open else { return };
        let end = self.text.len();
        if let Some(node) = self.nodes.get_mut(at) {
            node.open = false;
            if node.kind == JsonType::String {
                node.end = end;
            }
            self.open = (at > 0).then_some(node.parent);
        }
    }

    /// Appends a value to the open container.
    fn append(&mut self, kind: JsonType, text: usize, open: bool) -> usize {
        let at = self.nodes.len();
        let (parent, index) = self.link(at);
        let key = self.key.take();
        self.nodes.push(Node {
            kind,
            open,
            has_key: key.is_some(),
            key: key.unwrap_or(text),
            text,
            end: self.text.len(),
            parent,
            index,
            next: None,
            last: None,
        });
        at
    }

    /// Makes the value that will be at `at` the last child of the open container. Returns the index
    /// of that, and its own among its siblings.
    #[inline]
    fn link(&mut self, at: usize) -> (usize, usize) {
        let Some(parent) = self.open else { return (0, 0) };
        let own = NonZeroUsize::new(at);
        let container = self.nodes.get_mut(parent);
        let before = container.and_then(|node| core::mem::replace(&mut node.last, own));
        match before.and_then(|before| self.nodes.get_mut(before.get())) {
            Some(before) => {
                before.next = own;
                (parent, before.index + 1)
            }
            None => (parent, 0),
        }
    }

    /// The node at an index that is known to be valid.
    #[inline]
    pub(super) fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    /// The end of the text of a value.
    #[inline]
    pub(super) fn end_of(&self, at: usize) -> usize {
        let node = self.node(at);
        if node.open && node.kind == JsonType::String { self.text.len() } else { node.end }
    }

    /// The text of a value.
    #[inline]
    pub(super) fn text_of(&self, at: usize) -> &str {
        let node = self.node(at);
        if node.open && node.kind == JsonType::String {
            return self.text.get(node.text..).unwrap_or_default();
        }
        self.slice(node.text, node.end)
    }

    #[inline]
    pub(super) fn slice(&self, from: usize, to: usize) -> &str {
        self.text.get(from..to).unwrap_or_default()
    }

    #[inline]
    pub(super) fn key_of(&self, at: usize) -> Option<&str> {
        let node = self.node(at);
        node.has_key.then(|| self.slice(node.key, node.text))
    }

    #[inline]
    pub(super) fn has_key(&self, at: usize, key: &str) -> bool {
        let node = self.node(at);
        // Most keys differ in length.
        node.text - node.key == key.len()
            && node.has_key
            && self.text.as_bytes().get(node.key..node.text) == Some(key.as_bytes())
    }

    /// The index after the last node of the subtree at `at`.
    pub(super) fn subtree_end(&self, at: usize) -> usize {
        let mut at = at;
        loop {
            let node = self.node(at);
            match node.next {
                Some(next) => return next.get(),
                None if at == 0 => return self.nodes.len(),
                None => at = node.parent,
            }
        }
    }

    /// Copies the subtree at `at` into a tree of its own.
    pub(super) fn subtree(&self, at: usize) -> Self {
        let end = self.subtree_end(at);
        let base = self.node(at).text;
        let text_end = match self.nodes.get(end) {
            Some(next) => next.key,
            // The key of a member without a value is not part of it.
            None => self.key.unwrap_or(self.text.len()),
        };
        let rebased = |next: Option<NonZeroUsize>| {
            next.and_then(|next| NonZeroUsize::new(next.get().saturating_sub(at)))
        };
        let mut nodes: Vec<Node> = self.nodes[at..end].to_vec();
        for node in &mut nodes {
            node.key = node.key.saturating_sub(base);
            node.text -= base;
            node.end -= base;
            node.parent = node.parent.saturating_sub(at);
            node.next = rebased(node.next);
            node.last = rebased(node.last);
        }
        if let Some(root) = nodes.first_mut() {
            root.has_key = false;
            root.index = 0;
            root.next = None;
        }
        Self {
            nodes,
            text: self.slice(base, text_end).into(),
            open: self.open.filter(|open| (at..end).contains(open)).map(|open| open - at),
            key: None,
        }
    }

    /// Whether two subtrees have the same values, and the same ones are open. The keys of their
    /// roots do not matter.
    pub(super) fn same(&self, at: usize, other: &Self, other_at: usize) -> bool {
        let (end, other_end) = (self.subtree_end(at), other.subtree_end(other_at));
        let root = |node: &Node, own: usize| node.parent.saturating_sub(own);
        end - at == other_end - other_at
            && (at..end).zip(other_at..other_end).all(|(one, two)| {
                let (a, b) = (self.node(one), other.node(two));
                a.kind == b.kind
                    && a.open == b.open
                    && self.text_of(one) == other.text_of(two)
                    && (one == at
                        || root(a, at) == root(b, other_at)
                            && self.key_of(one) == other.key_of(two))
            })
    }

    /// The step to the value from its container.
    fn step(&self, at: usize) -> Step {
        match self.key_of(at) {
            Some(key) => Step::Key(key.into()),
            None => Step::Index(self.node(at).index),
        }
    }

    /// The steps from the root to the value.
    pub(super) fn path(&self, at: usize) -> Path {
        let mut steps = Vec::new();
        let mut at = at;
        while at > 0 {
            steps.push(self.step(at));
            at = self.node(at).parent;
        }
        steps.reverse();
        Path::from(steps)
    }

    /// Whether these steps lead from the root to the value.
    pub(super) fn is_at(&self, at: usize, steps: &[Step]) -> bool {
        let mut at = at;
        for step in steps.iter().rev() {
            let matches = match step {
                Step::Key(key) => self.key_of(at) == Some(key),
                Step::Index(index) => {
                    at > 0 && self.key_of(at).is_none() && self.node(at).index == *index
                }
            };
            if !matches {
                return false;
            }
            at = self.node(at).parent;
        }
        at == 0
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn the_last_scalar_is_replaced() {
        let mut tree = Tree::default();
        tree.begin(JsonType::Object);
        tree.key("a");
        let open = tree.begin(JsonType::String);
        tree.extend("42 ");
        tree.replace_last(JsonType::Number, "42");
        assert!(!tree.value(open).unwrap().is_open());
        tree.key("b");
        tree.scalar(JsonType::Number, "3.0");
        tree.replace_last(JsonType::Number, "3");
        tree.replace_last(JsonType::String, "three");
        tree.key("c");
        tree.begin(JsonType::Array);
        assert_eq!(tree.value(0).unwrap().to_string(), r#"{"a":42,"b":"three","c":[]}"#);
        assert!(tree.value(4).is_none());
        let mut clone = tree.clone();
        clone.clear();
        clone.replace_last(JsonType::Null, "null");
        assert!(clone.value(0).is_none());
    }

    #[test]
    fn plain_pieces_of_any_length_are_kept_whole() {
        let text: String = (0..60).map(|at| char::from(b' ' + at)).collect();
        for length in 0..text.len() {
            let mut tree = Tree::default();
            tree.extend_ascii(text.as_bytes());
            assert_eq!(tree.text, "", "no string is open");
            tree.begin(JsonType::String);
            text.as_bytes().chunks(length.max(1)).for_each(|piece| tree.extend_ascii(piece));
            assert_eq!(tree.text_of(0), text, "in pieces of {length}");
            tree.close();
            assert_eq!(tree.text_of(0), text, "in pieces of {length}");
        }
    }
}
