//! The open containers, and the path to where the engine stands.

use alloc::{string::String, sync::Arc, vec::Vec};

use crate::{Guide, Member, Path, Step};

/// What is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Object,
    Array,
    /// `(…)` that stands for an array.
    Tuple,
    /// `name(…)` around one value; it leaves no trace in the output.
    Call,
    /// The first brace of `{{`; it leaves no trace in the output.
    Doubled,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) shape: Shape,
    /// Items begun, or keys read.
    pub(super) items: usize,
    /// Where this object's key starts and ends in `Frames::keys`; of a loose frame, in the input.
    key: (usize, usize),
    has_key: bool,
    /// Offset of the bracket.
    pub(super) start: usize,
}

/// The stack of open containers.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    stack: Vec<Frame>,
    /// The present keys of all open objects, one behind the other, as they were written.
    keys: Vec<u8>,
    /// How many frames, from the outermost, have their keys in `keys`. The others are loose: their
    /// keys are still to be had in the chunk that is being read.
    firm: usize,
    /// What the guide knows of the outermost frames, as far as it was asked.
    places: Vec<Option<Arc<dyn Guide>>>,
    /// Containers that appear in the output.
    visible: usize,
    /// The most of them that were open at a time.
    deepest: usize,
}

impl Frames {
    pub(super) fn clear(&mut self) {
        self.stack.clear();
        self.keys.clear();
        self.firm = 0;
        self.places.clear();
        self.visible = 0;
    }

    /// As new, with the same buffers.
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

    /// All frames, wrappers included.
    pub(super) fn len(&self) -> usize {
        self.stack.len()
    }

    #[inline]
    pub(super) fn top(&self) -> Option<Shape> {
        self.stack.last().map(|frame| frame.shape)
    }

    pub(super) fn top_frame(&self) -> Option<Frame> {
        self.stack.last().copied()
    }

    /// What lies directly around the top frame.
    #[inline]
    pub(super) fn parent(&self) -> Option<Shape> {
        let below = self.stack.len().checked_sub(2)?;
        self.stack.get(below).map(|frame| frame.shape)
    }

    /// The shape around the frame that has `above` frames on it.
    pub(super) fn shape_below(&self, above: usize) -> Option<Shape> {
        let mut below = self.stack.iter().rev().skip(above + 1).map(|frame| frame.shape);
        below.find(|shape| shape.is_visible())
    }

    /// How many frames lie above the innermost of these shapes: 0 when it is the top.
    pub(super) fn above(&self, wanted: impl Fn(Shape) -> bool) -> Option<usize> {
        self.stack.iter().rev().position(|frame| wanted(frame.shape))
    }

    #[inline]
    pub(super) fn push(&mut self, shape: Shape, start: usize) {
        self.visible += usize::from(shape.is_visible());
        self.deepest = self.deepest.max(self.visible);
        let end = self.stack.last().map_or(0, |below| below.key.1);
        self.firm += usize::from(self.firm == self.stack.len());
        self.stack.push(Frame { shape, items: 0, key: (end, end), has_key: false, start });
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Frame> {
        let frame = self.stack.pop()?;
        self.visible -= usize::from(frame.shape.is_visible());
        self.firm = self.firm.min(self.stack.len());
        if self.places.len() > self.stack.len() {
            self.places.pop();
        }
        Some(frame)
    }

    /// An item of the innermost array begins.
    #[inline]
    pub(super) fn begin_item(&mut self) {
        if let Some(frame) = self.stack.last_mut() {
            frame.items += 1;
        }
    }

    #[inline]
    pub(super) fn set_items(&mut self, items: usize) {
        if let Some(frame) = self.stack.last_mut() {
            frame.items = items;
        }
    }

    /// The innermost object was opened by two braces.
    pub(super) fn double(&mut self) {
        if let Some(top) = self.stack.pop() {
            let key = (top.key.0, top.key.0);
            let outer = Frame { shape: Shape::Doubled, items: 0, has_key: false, key, ..top };
            self.stack.push(outer);
            self.stack.push(top);
            self.firm = self.stack.len();
        }
    }

    #[inline]
    pub(super) fn items(&self) -> usize {
        self.stack.last().map_or(0, |frame| frame.items)
    }

    /// The innermost object's next member has that key, as written between its quotes.
    pub(super) fn set_key(&mut self, key: &[u8]) {
        debug_assert!(self.firm + 1 >= self.stack.len(), "loose frames below");
        self.firm = self.stack.len();
        let start = self.stack.iter().rev().nth(1).map_or(0, |below| below.key.1);
        if let Some(frame) = self.stack.last_mut() {
            frame.has_key = true;
            frame.items += 1;
            self.keys.truncate(start);
            self.keys.extend_from_slice(key);
            frame.key = (start, self.keys.len());
        }
    }

    /// The innermost object's next member has the key between those offsets of the input;
    /// [`keep_keys`](Self::keep_keys) must follow before the chunk goes.
    #[inline]
    pub(super) fn point_key(&mut self, from: usize, to: usize) {
        let below = self.stack.len().saturating_sub(1);
        if let Some(frame) = self.stack.last_mut() {
            frame.has_key = true;
            frame.items += 1;
            frame.key = (from, to);
            self.firm = self.firm.min(below);
        }
    }

    /// Copies the keys that are still loose; `text` stands at `base` of the input, and `held` before
    /// it.
    #[inline]
    pub(super) fn keep_keys(&mut self, held: &[u8], text: &[u8], base: usize) {
        if self.firm < self.stack.len() {
            self.keep_loose_keys(held, text, base);
        }
    }

    fn keep_loose_keys(&mut self, held: &[u8], text: &[u8], base: usize) {
        let mut at = self.firm.checked_sub(1).map_or(0, |below| self.stack[below].key.1);
        self.keys.truncate(at);
        for frame in &mut self.stack[self.firm..] {
            let (from, to) = frame.key;
            if from < base && to > from {
                let start = base - held.len();
                self.keys.extend_from_slice(&held[from - start..to.min(base) - start]);
            }
            if to > from.max(base) {
                self.keys.extend_from_slice(&text[from.max(base) - base..to - base]);
            }
            frame.key = (at, self.keys.len());
            at = self.keys.len();
        }
        self.firm = self.stack.len();
    }

    #[inline]
    pub(super) fn clear_key(&mut self) {
        if let Some(frame) = self.stack.last_mut() {
            frame.has_key = false;
        }
    }

    /// The place of the innermost container; `root` is that of the document.
    pub(super) fn place(&mut self, root: &Arc<dyn Guide>) -> Option<Arc<dyn Guide>> {
        while self.places.len() < self.stack.len() {
            let place =
                if self.places.is_empty() { Some(Arc::clone(root)) } else { self.inside(0) };
            self.places.push(place);
        }
        self.places.last().map_or_else(|| Some(Arc::clone(root)), Clone::clone)
    }

    /// The place of the present value in the innermost container whose own place is known; of a list,
    /// of the item so far ahead.
    pub(super) fn inside(&self, ahead: usize) -> Option<Arc<dyn Guide>> {
        let at = self.places.len().checked_sub(1)?;
        let (place, frame) = (self.places[at].as_ref()?, self.stack.get(at)?);
        match frame.shape {
            Shape::Object if frame.has_key => {
                let key = self.keys.get(frame.key.0..frame.key.1)?;
                match place.member(&decode(key)) {
                    Member::Declared(place) => Some(place),
                    Member::Forbidden | Member::Open => None,
                }
            }
            Shape::Array | Shape::Tuple => place.item((frame.items + ahead).saturating_sub(1)),
            Shape::Object => None,
            Shape::Call | Shape::Doubled => Some(Arc::clone(place)),
        }
    }

    pub(super) fn path(&self) -> Path {
        let mut steps = Vec::new();
        for frame in &self.stack {
            match frame.shape {
                Shape::Object if frame.has_key => {
                    let key = self.keys.get(frame.key.0..frame.key.1).unwrap_or_default();
                    steps.push(Step::Key(decode(key)));
                }
                Shape::Array | Shape::Tuple if frame.items > 0 => {
                    steps.push(Step::Index(frame.items - 1));
                }
                Shape::Object | Shape::Array | Shape::Tuple | Shape::Call | Shape::Doubled => {}
            }
        }
        Path::from(steps)
    }

    /// The closers of all open containers, innermost first.
    pub(super) fn closers(&self) -> impl Iterator<Item = char> + '_ {
        self.stack.iter().rev().filter_map(|frame| frame.shape.closer())
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

/// A key as people read it: simple escapes undone, anything odd kept.
fn decode(raw: &[u8]) -> String {
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
