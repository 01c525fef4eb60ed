//! The open containers, and the path to the current position.

mod nested;

pub(super) use nested::Nested;

use alloc::{string::String, sync::Arc, vec::Vec};

use crate::{Guide, Member, Path, Step, append::AppendBuffer};

/// The kind of an open container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Object,
    Array,
    /// `(…)` in place of an array.
    Tuple,
    /// `name(…)` around one value. It does not appear in the output.
    Call,
    /// The first brace of `{{`. It does not appear in the output.
    Doubled,
}

/// One open container, in three words. With its key, this is all the memory that a level takes.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The shape in the lowest bits, then whether it has a key, then the length of a key that is
    /// still in the chunk, then the number of items begun or keys read.
    packed: u64,
    /// Where the current key of this object starts in `Frames::keys`, or would start. It ends where
    /// that of the next frame starts; that of the innermost frame ends with `keys`.
    key_start: usize,
    /// The offset of its bracket.
    start: usize,
}

impl Frame {
    const SHAPE: u64 = 0b111;
    const HAS_KEY: u64 = 0b1000;
    const ITEM: u64 = 0b1_0000 << 10;

    #[inline]
    const fn new(shape: Shape, key_start: usize, start: usize) -> Self {
        Self { packed: shape as u64, key_start, start }
    }

    #[inline]
    const fn shape(self) -> Shape {
        match self.packed & Self::SHAPE {
            0 => Shape::Object,
            1 => Shape::Array,
            2 => Shape::Tuple,
            3 => Shape::Call,
            _ => Shape::Doubled,
        }
    }

    /// The number of items begun, or keys read.
    #[inline]
    const fn items(self) -> usize {
        (self.packed / Self::ITEM) as usize
    }

    #[inline]
    const fn has_key(self) -> bool {
        self.packed & Self::HAS_KEY != 0
    }
}

/// The stack of open containers.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    stack: Vec<Frame>,
    /// The current keys of all open objects, one after the other, as written in the input.
    keys: AppendBuffer,
    /// What the guide knows of the outermost frames. Filled only as far as it was asked.
    places: Vec<Option<Arc<dyn Guide>>>,
    /// How many open containers appear in the output.
    visible: usize,
    /// The highest value of `visible` so far.
    deepest: usize,
}

impl Frames {
    pub(super) fn clear(&mut self) {
        self.stack.clear();
        self.keys.clear();
        self.places.clear();
        self.visible = 0;
    }

    /// Resets to the initial state, keeping the buffers.
    pub(super) fn reset(&mut self) {
        self.clear();
        self.deepest = 0;
    }

    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.visible
    }

    pub(super) fn deepest(&self) -> usize {
        self.deepest
    }

    /// The number of all frames, including those that do not appear in the output.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.stack.len()
    }

    /// The same containers without their keys, so that a copy takes no more than the depth.
    pub(super) fn without_keys(&self) -> Self {
        let bare = |frame: &Frame| Frame {
            packed: frame.packed & !Frame::HAS_KEY,
            key_start: 0,
            ..*frame
        };
        let stack = self.stack.iter().map(bare).collect();
        Self { stack, visible: self.visible, deepest: self.deepest, ..Self::default() }
    }

    #[inline]
    pub(super) fn top(&self) -> Option<Shape> {
        self.stack.last().map(|frame| frame.shape())
    }

    /// The shape of the frame directly around the top one.
    #[inline]
    pub(super) fn parent(&self) -> Option<Shape> {
        let below = self.stack.len().checked_sub(2)?;
        self.stack.get(below).map(|frame| frame.shape())
    }

    /// The shape of the visible container around the frame that has `above` frames on top of it.
    pub(super) fn shape_below(&self, above: usize) -> Option<Shape> {
        let mut below = self.stack.iter().rev().skip(above + 1).map(|frame| frame.shape());
        below.find(|shape| shape.is_visible())
    }

    /// How many frames are above the innermost one of a wanted shape. 0 if that is the top.
    pub(super) fn above(&self, wanted: impl Fn(Shape) -> bool) -> Option<usize> {
        self.stack.iter().rev().position(|frame| wanted(frame.shape()))
    }

    /// The offset of the bracket of the innermost container.
    pub(super) fn start(&self) -> usize {
        self.stack.last().map_or(0, |frame| frame.start)
    }

    #[inline]
    pub(super) fn push(&mut self, shape: Shape, start: usize) {
        self.visible += usize::from(shape.is_visible());
        self.deepest = self.deepest.max(self.visible);
        self.stack.push(Frame::new(shape, self.keys.len(), start));
    }

    /// Closes the innermost container.
    #[inline]
    pub(super) fn pop(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        self.visible -= usize::from(frame.shape().is_visible());
        self.keys.truncate(frame.key_start);
        self.leave_place();
    }

    /// Drops what the guide knew of a container that was closed.
    #[inline]
    fn leave_place(&mut self) {
        if self.places.len() > self.stack.len() {
            self.places.pop();
        }
    }

    /// Counts an item of the innermost array.
    #[inline]
    pub(super) fn begin_item(&mut self) {
        if let Some(frame) = self.stack.last_mut() {
            frame.packed += Frame::ITEM;
        }
    }

    #[inline]
    pub(super) fn set_items(&mut self, items: usize) {
        if let Some(frame) = self.stack.last_mut() {
            frame.packed = frame.packed % Frame::ITEM + items as u64 * Frame::ITEM;
        }
    }

    /// Sets the number of keys of the innermost object, and the last one of them, which is at these
    /// indices of `text`.
    #[inline(never)]
    pub(super) fn set_member(&mut self, items: usize, text: &[u8], from: usize, to: usize) {
        let Some(frame) = self.stack.last_mut() else { return };
        frame.packed = Frame::new(Shape::Object, 0, 0).packed | Frame::HAS_KEY;
        frame.packed += items as u64 * Frame::ITEM;
        self.keys.truncate(frame.key_start);
        self.keys.append(text.get(from..to).unwrap_or_default());
    }

    /// Notes that the innermost object was opened with two braces.
    pub(super) fn double(&mut self) {
        if let Some(top) = self.stack.pop() {
            self.stack.push(Frame::new(Shape::Doubled, top.key_start, top.start));
            self.stack.push(top);
        }
    }

    #[inline]
    pub(super) fn items(&self) -> usize {
        self.stack.last().map_or(0, |frame| frame.items())
    }

    /// Sets the next key of the innermost object, as written between its quotes.
    #[inline]
    pub(super) fn set_key(&mut self, key: &[u8]) {
        self.set_split_key(&[], key);
    }

    /// Like [`set_key`](Self::set_key), for a key that arrived in two chunks.
    #[inline(always)]
    pub(super) fn set_split_key(&mut self, before: &[u8], after: &[u8]) {
        if let Some(frame) = self.stack.last_mut() {
            self.keys.truncate(frame.key_start);
            self.keys.append(before);
            self.keys.append(after);
            frame.packed = (frame.packed | Frame::HAS_KEY) + Frame::ITEM;
        }
    }

    /// Removes the last byte of the current key.
    pub(super) fn shorten_key(&mut self) {
        if self.stack.last().is_some_and(|frame| self.keys.len() > frame.key_start) {
            self.keys.truncate(self.keys.len() - 1);
        }
    }

    #[inline]
    pub(super) fn clear_key(&mut self) {
        if let Some(frame) = self.stack.last_mut() {
            frame.packed &= !Frame::HAS_KEY;
        }
    }

    /// What the guide knows of the innermost container. `root` is what it knows of the document.
    pub(super) fn place(&mut self, root: &Arc<dyn Guide>) -> Option<Arc<dyn Guide>> {
        while self.places.len() < self.stack.len() {
            let place =
                if self.places.is_empty() { Some(Arc::clone(root)) } else { self.inside(0) };
            self.places.push(place);
        }
        self.places.last().map_or_else(|| Some(Arc::clone(root)), Clone::clone)
    }

    /// What the guide knows of the current value in the innermost container whose own place is
    /// known. In an array, this is the item `ahead` places further on.
    pub(super) fn inside(&self, ahead: usize) -> Option<Arc<dyn Guide>> {
        let at = self.places.len().checked_sub(1)?;
        let (place, frame) = (self.places[at].as_ref()?, self.stack.get(at)?);
        match frame.shape() {
            Shape::Object if frame.has_key() => {
                let end = self.stack.get(at + 1).map_or(self.keys.len(), |above| above.key_start);
                let key = self.keys.get(frame.key_start..end)?;
                match place.member(&decode(key)) {
                    Member::Declared(place) => Some(place),
                    Member::Forbidden | Member::Open => None,
                }
            }
            Shape::Array | Shape::Tuple => place.item((frame.items() + ahead).saturating_sub(1)),
            Shape::Object => None,
            Shape::Call | Shape::Doubled => Some(Arc::clone(place)),
        }
    }

    pub(super) fn path(&self) -> Path {
        let steps = self.stack.iter().enumerate().filter_map(|(at, frame)| match frame.shape() {
            Shape::Object => self.name(at).map(|name| Step::Key(name.into())),
            Shape::Array | Shape::Tuple => frame.items().checked_sub(1).map(Step::Index),
            Shape::Call | Shape::Doubled => None,
        });
        Path::from(steps.collect::<Vec<_>>())
    }

    /// The present key of a frame, decoded, if it is an object that has one.
    fn name(&self, at: usize) -> Option<String> {
        let frame = self.stack.get(at).filter(|frame| frame.has_key())?;
        let end = self.stack.get(at + 1).map_or(self.keys.len(), |above| above.key_start);
        Some(decode(self.keys.get(frame.key_start..end).unwrap_or_default()))
    }

    /// The closers of all open containers, from the innermost outwards.
    pub(super) fn closers(&self) -> impl Iterator<Item = char> + '_ {
        self.stack.iter().rev().filter_map(|frame| frame.shape().closer())
    }

    /// The closers of all open containers, from the outermost inwards.
    pub(super) fn closers_from_outermost(&self) -> impl Iterator<Item = char> + '_ {
        self.stack.iter().filter_map(|frame| frame.shape().closer())
    }
}

impl Shape {
    pub(super) const fn is_visible(self) -> bool {
        matches!(self, Self::Object | Self::Array | Self::Tuple)
    }

    pub(super) const fn is_list(self) -> bool {
        matches!(self, Self::Array | Self::Tuple)
    }

    pub(super) const fn closer(self) -> Option<char> {
        match self {
            Self::Object => Some('}'),
            Self::Array | Self::Tuple => Some(']'),
            Self::Call | Self::Doubled => None,
        }
    }
}

/// Decodes a key for display: simple escapes are decoded, and anything unusual is kept.
pub(super) fn decode(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    if !text.contains('\\') {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('u') => {
                let digits = chars.as_str().get(..4).unwrap_or_default();
                match u32::from_str_radix(digits, 16).ok().and_then(char::from_u32) {
                    Some(decoded) => {
                        out.push(decoded);
                        chars = chars.as_str()[4..].chars();
                    }
                    None => out.push_str("\\u"),
                }
            }
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}
