//! The markers that are looked for, as one automaton.

/// A set of byte strings, found at a place of a text in time that is proportional to the longest.
///
/// All markers share one tree of prefixes, so it makes no difference how many there are: a byte that
/// begins none costs one look-up in a table.
#[derive(Clone, Debug)]
pub(super) struct Markers {
    /// Whether a marker begins with this byte.
    first: Box<[bool; 256]>,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// The next nodes, sorted by byte.
    next: Vec<(u8, usize)>,
    /// The markers that end here.
    ends: Vec<usize>,
}

/// What is at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No marker begins here.
    Nothing,
    /// The text ends inside of what may be a marker.
    Partial,
    /// The markers that are here, the longest first: their number and length.
    Here(Vec<(usize, usize)>),
}

impl Markers {
    pub(super) fn new<'m>(markers: impl IntoIterator<Item = (usize, &'m str)>) -> Self {
        let mut set = Self { first: Box::new([false; 256]), nodes: vec![Node::default()] };
        for (id, marker) in markers {
            set.add(id, marker.as_bytes());
        }
        set
    }

    fn add(&mut self, id: usize, marker: &[u8]) {
        let Some(first) = marker.first() else { return };
        if let Some(flag) = self.first.get_mut(usize::from(*first)) {
            *flag = true;
        }
        let mut at = 0;
        for &byte in marker {
            let fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            match node.next.binary_search_by_key(&byte, |(next, _)| *next) {
                Ok(found) => at = node.next.get(found).map_or(0, |(_, to)| *to),
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

    /// Whether a marker begins with this byte.
    #[inline]
    pub(super) fn begins_with(&self, byte: u8) -> bool {
        self.first.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// Whether `text` begins with a marker, or is the beginning of one.
    pub(super) fn may_begin(&self, text: &[u8]) -> bool {
        let mut at = 0;
        for byte in text {
            let Some(node) = self.nodes.get(at) else { return false };
            if !node.ends.is_empty() {
                return true;
            }
            match node.next.binary_search_by_key(byte, |(next, _)| *next) {
                Ok(next) => at = node.next.get(next).map_or(0, |(_, to)| *to),
                Err(_) => return false,
            }
        }
        true
    }

    /// What is at the start of `text`. If a longer marker may be there, too, this waits for it,
    /// unless the text has ended.
    pub(super) fn at(&self, text: &[u8], eof: bool) -> Found {
        let mut found = Vec::new();
        let mut at = 0;
        for (read, byte) in text.iter().enumerate() {
            let Some(node) = self.nodes.get(at) else { break };
            let Ok(next) = node.next.binary_search_by_key(byte, |(next, _)| *next) else {
                return Self::settle(found);
            };
            at = node.next.get(next).map_or(0, |(_, to)| *to);
            let ends = self.nodes.get(at).map_or(&[][..], |node| &node.ends);
            found.extend(ends.iter().map(|id| (*id, read + 1)));
        }
        let open = self.nodes.get(at).is_some_and(|node| !node.next.is_empty());
        if open && !eof { Found::Partial } else { Self::settle(found) }
    }

    fn settle(mut found: Vec<(usize, usize)>) -> Found {
        if found.is_empty() {
            return Found::Nothing;
        }
        // The rows keep their order among markers of one length.
        found.sort_by_key(|(id, length)| (usize::MAX - length, *id));
        Found::Here(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_marker_comes_first_and_is_waited_for() {
        let set = Markers::new([(0, "<call>"), (1, "<calls>"), (2, "<call"), (3, "[")]);
        assert_eq!(set.at(b"x", false), Found::Nothing);
        assert_eq!(set.at(b"<cal", false), Found::Partial);
        assert_eq!(set.at(b"<cal", true), Found::Nothing);
        assert_eq!(set.at(b"<call", false), Found::Partial);
        assert_eq!(set.at(b"<call", true), Found::Here(vec![(2, 5)]));
        assert_eq!(set.at(b"<call>", false), Found::Here(vec![(0, 6), (2, 5)]));
        assert_eq!(set.at(b"[", false), Found::Here(vec![(3, 1)]));
        assert!(set.begins_with(b'<') && !set.begins_with(b'c'));
    }
}
