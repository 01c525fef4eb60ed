//! Byte strings as one tree of their prefixes.

/// A set of byte strings. However many there are, a step costs a search among the bytes that may
/// come next.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// The next nodes, sorted by byte.
    next: Vec<(u8, usize)>,
    /// The strings that end here.
    ends: Vec<usize>,
}

impl Tree {
    /// The node at which all strings begin.
    pub(super) const ROOT: usize = 0;

    pub(super) fn new() -> Self {
        Self { nodes: vec![Node::default()] }
    }

    /// Adds a string with a number.
    pub(super) fn add(&mut self, id: usize, text: impl IntoIterator<Item = u8>) {
        let mut at = Self::ROOT;
        for byte in text {
            let fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            match node.next.binary_search_by_key(&byte, |(next, _)| *next) {
                Ok(found) => at = node.next.get(found).map_or(Self::ROOT, |(_, to)| *to),
                Err(place) => {
                    node.next.insert(place, (byte, fresh));
                    self.nodes.push(Node::default());
                    at = fresh;
                }
            }
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.ends.push(id);
        }
    }

    /// The node after `at` and this byte.
    pub(super) fn step(&self, at: usize, byte: u8) -> Option<usize> {
        let next = &self.nodes.get(at)?.next;
        let found = next.binary_search_by_key(&byte, |(next, _)| *next).ok()?;
        next.get(found).map(|(_, to)| *to)
    }

    /// The numbers of the strings that end at a node.
    pub(super) fn ends(&self, at: usize) -> &[usize] {
        self.nodes.get(at).map_or(&[], |node| &node.ends)
    }

    /// Whether a longer string goes on from a node.
    pub(super) fn goes_on(&self, at: usize) -> bool {
        self.nodes.get(at).is_some_and(|node| !node.next.is_empty())
    }

    /// Whether `text` begins with one of the strings, or is the beginning of one.
    pub(super) fn may_begin(&self, text: impl IntoIterator<Item = u8>) -> bool {
        let mut at = Self::ROOT;
        for byte in text {
            if !self.ends(at).is_empty() {
                return true;
            }
            match self.step(at, byte) {
                Some(next) => at = next,
                None => return false,
            }
        }
        true
    }
}
