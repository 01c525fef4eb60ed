//! Containers that are opened and closed within one chunk, as most are. Their keys are copied only
//! if they are still open at its end; until then, a frame says where in the chunk its key is.

use super::{Frame, Frames, Shape};

/// What the reader of a chunk keeps of the stack while it opens and closes containers.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Nested {
    /// How many frames there were at the beginning, and how many are as they were then: the keys of
    /// the others are in the chunk.
    begun: usize,
    settled: usize,
    /// How many frames there may be, and how many there were at most.
    limit: usize,
    highest: usize,
}

/// The last container that was closed.
pub(in crate::engine) struct Inner {
    pub(in crate::engine) is_object: bool,
    /// Whether the container around it is an array, and how many items or keys that one has.
    pub(in crate::engine) in_list: bool,
    pub(in crate::engine) items: usize,
}

impl Frame {
    /// The length of a key that is in the chunk.
    const LENGTH: u64 = Self::LENGTH_UNIT * Self::MAX_LENGTH as u64;
    const LENGTH_UNIT: u64 = 0b1_0000;
    /// The longest key that a frame can refer to, in bytes.
    pub(in crate::engine) const MAX_LENGTH: usize = 0x3ff;
}

const _: () = assert!(Frame::LENGTH & Frame::ITEM == 0 && Frame::LENGTH < Frame::ITEM);

impl Frames {
    /// Begins to read a chunk, in which no more than `depth` containers may be open.
    #[inline(always)]
    pub(in crate::engine) fn begin_nested(&self, depth: usize) -> Nested {
        let begun = self.stack.len();
        let limit = begun.saturating_add(depth).saturating_sub(self.visible);
        Nested { begun, settled: begun, limit, highest: begun }
    }

    #[inline(always)]
    pub(in crate::engine) fn may_nest(&self, nested: &Nested) -> bool {
        self.stack.len() < nested.limit
    }

    /// Opens an array or an object.
    #[inline(always)]
    pub(in crate::engine) fn open_nested(&mut self, list: bool, start: usize) {
        let shape = if list { Shape::Array } else { Shape::Object };
        self.stack.push(Frame::new(shape, 0, start));
    }

    /// Notes how many containers are open, before some of them are closed.
    #[inline]
    pub(in crate::engine) fn note_depth(&self, nested: &mut Nested) {
        nested.highest = nested.highest.max(self.stack.len());
    }

    /// Sets the number of keys of the innermost object, and the last one of them, which is at these
    /// indices of the chunk.
    #[inline(always)]
    pub(in crate::engine) fn set_nested_member(
        &mut self,
        nested: &Nested,
        items: usize,
        text: &[u8],
        (from, to): (usize, usize),
    ) {
        if self.stack.len() <= nested.settled {
            self.set_member(items, text, from, to);
        } else if let Some(frame) = self.stack.last_mut() {
            debug_assert!(to - from <= Frame::MAX_LENGTH);
            frame.packed = Shape::Object as u64
                + Frame::HAS_KEY
                + (to - from) as u64 * Frame::LENGTH_UNIT
                + items as u64 * Frame::ITEM;
            frame.key_start = from;
        }
    }

    /// Sets the number of items of the innermost array.
    #[inline(always)]
    pub(in crate::engine) fn set_nested_items(&mut self, nested: &Nested, items: usize) {
        if self.stack.len() <= nested.settled {
            self.set_items(items);
        } else if let Some(frame) = self.stack.last_mut() {
            frame.packed = Shape::Array as u64 + items as u64 * Frame::ITEM;
        }
    }

    /// Closes the innermost container and those around it, as long as they are inside an array or
    /// object of the input, and `goes_on` says so. After each of them, it is called with whether
    /// the container around it is an array.
    #[inline(always)]
    pub(in crate::engine) fn close_nested(
        &mut self,
        nested: &mut Nested,
        mut goes_on: impl FnMut(bool) -> bool,
    ) -> Option<Inner> {
        let mut open = self.stack.len();
        while let Some([.., around, inner]) = self.stack.get(..open) {
            if open <= nested.settled {
                if !matches!(around.shape(), Shape::Array | Shape::Object) {
                    break;
                }
                self.keys.truncate(inner.key_start);
                nested.settled = open - 1;
            }
            open -= 1;
            if !goes_on(around.packed & Frame::SHAPE == Shape::Array as u64) {
                break;
            }
        }
        let [.., around, inner] = self.stack.get(..=open)? else { return None };
        let (around, inner) = (*around, *inner);
        self.stack.truncate(open);
        Some(Inner {
            is_object: inner.packed & Frame::SHAPE == Shape::Object as u64,
            in_list: around.packed & Frame::SHAPE == Shape::Array as u64,
            items: around.items(),
        })
    }

    /// Ends a chunk: copies the keys of the containers that are still open.
    pub(in crate::engine) fn end_nested(&mut self, nested: &Nested, text: &[u8]) {
        for frame in self.stack.iter_mut().skip(nested.settled) {
            let (from, length) =
                (frame.key_start, (frame.packed & Frame::LENGTH) / Frame::LENGTH_UNIT);
            frame.key_start = self.keys.len();
            frame.packed &= !Frame::LENGTH;
            if length > 0 {
                let key = text.get(from..from + length as usize).unwrap_or_default();
                self.keys.append(key);
            }
        }
        let highest = nested.highest.max(self.stack.len());
        self.deepest = self.deepest.max(self.visible + highest - nested.begun);
        self.visible = self.visible + self.stack.len() - nested.begun;
        self.places.truncate(nested.settled);
    }
}
