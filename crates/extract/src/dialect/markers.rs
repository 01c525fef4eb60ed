//! The markers that are looked for, as one automaton.

use std::sync::Arc;

use super::tree::Tree;

/// A set of byte strings, found at a place of a text in time that is proportional to the longest.
///
/// It makes no difference how many there are: a byte that begins none costs one look-up in a table. A clone
/// shares them.
#[derive(Clone, Debug)]
pub(super) struct Markers {
    /// Whether a marker begins with this byte.
    first: Arc<[bool; 256]>,
    tree: Arc<Tree>,
}

/// What is at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkersHere {
    /// No marker begins here.
    Nothing,
    /// The text ends inside of what may be a marker.
    Partial,
    /// The markers that are here, the longest first: their number and length.
    Here(Vec<(usize, usize)>),
}

impl Markers {
    pub(super) fn new<'m>(markers: impl IntoIterator<Item = (usize, &'m str)>) -> Self {
        let (mut first, mut tree) = ([false; 256], Tree::new());
        for (id, marker) in markers.into_iter().filter(|(_, marker)| !marker.is_empty()) {
            if let Some(flag) =
                marker.bytes().next().and_then(|byte| first.get_mut(usize::from(byte)))
            {
                *flag = true;
            }
            tree.add(id, marker.bytes());
        }
        Self { first: Arc::new(first), tree: Arc::new(tree) }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        !self.first.contains(&true)
    }

    /// Whether a marker begins with this byte.
    #[inline]
    pub(super) fn begins_with(&self, byte: u8) -> bool {
        self.first.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// Whether `text` begins with a marker, or is the beginning of one.
    pub(super) fn may_begin(&self, text: &[u8]) -> bool {
        self.tree.may_begin(text.iter().copied())
    }

    /// What is at the start of `text`. If a longer marker may be there, too, this waits for it,
    /// unless the text has ended.
    pub(super) fn at(&self, text: &[u8], eof: bool) -> MarkersHere {
        let mut found = Vec::new();
        let mut at = Tree::ROOT;
        for (read, byte) in text.iter().enumerate() {
            let Some(next) = self.tree.step(at, *byte) else { return Self::settle(found) };
            at = next;
            found.extend(self.tree.ends(at).iter().map(|id| (*id, read + 1)));
        }
        if self.tree.goes_on(at) && !eof { MarkersHere::Partial } else { Self::settle(found) }
    }

    fn settle(mut found: Vec<(usize, usize)>) -> MarkersHere {
        if found.is_empty() {
            return MarkersHere::Nothing;
        }
        // The rows keep their order among markers of one length.
        found.sort_by_key(|(id, length)| (usize::MAX - length, *id));
        MarkersHere::Here(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_marker_comes_first_and_is_waited_for() {
        let set = Markers::new([(0, "<call>"), (1, "<calls>"), (2, "<call"), (3, "[")]);
        assert_eq!(set.at(b"x", false), MarkersHere::Nothing);
        assert_eq!(set.at(b"<cal", false), MarkersHere::Partial);
        assert_eq!(set.at(b"<cal", true), MarkersHere::Nothing);
        assert_eq!(set.at(b"<call", false), MarkersHere::Partial);
        assert_eq!(set.at(b"<call", true), MarkersHere::Here(vec![(2, 5)]));
        assert_eq!(set.at(b"<call>", false), MarkersHere::Here(vec![(0, 6), (2, 5)]));
        assert_eq!(set.at(b"[", false), MarkersHere::Here(vec![(3, 1)]));
        assert!(set.begins_with(b'<') && !set.begins_with(b'c'));
    }
}
