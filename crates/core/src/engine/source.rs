//! The text that the engine reads, and bounded look-ahead into it.

use core::cell::Cell;

mod look;

pub(super) use crate::signs::{ESCAPE, colour, is_literal, is_word, wide_sign};
pub(super) use crate::signs::{WideSpace, wide_space};
pub(super) use look::{Edge, Look};

/// A part of the input: from the committed position to the last byte received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    text: &'a [u8],
    base: usize,
    last: bool,
}

impl<'a> Part<'a> {
    /// The part `text`, at offset `base` of the input. `last` says that the input ends with it.
    pub(crate) const fn new(text: &'a [u8], base: usize, last: bool) -> Self {
        Self { text, base, last }
    }
}

/// A part of the input, and how many bytes of it were looked at out of turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    text: &'a [u8],
    base: usize,
    last: bool,
    work: &'a Cell<u64>,
}

impl<'a> Source<'a> {
    /// Everything that look-ahead passes, or that is looked at again, is added to `work`.
    pub(super) const fn new(part: Part<'a>, work: &'a Cell<u64>) -> Self {
        let Part { text, base, last } = part;
        Self { text, base, last, work }
    }

    /// The byte at that offset of the input.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at.wrapping_sub(self.base)).copied()
    }

    /// The text from that offset on.
    #[inline]
    pub(super) fn from(&self, at: usize) -> &'a [u8] {
        self.text.get(at.saturating_sub(self.base)..).unwrap_or_default()
    }

    /// The text between two offsets.
    #[inline]
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.text
            .get(from.saturating_sub(self.base)..to.saturating_sub(self.base))
            .unwrap_or_default()
    }

    /// The text between two offsets, all of which will be looked at again.
    pub(super) fn again(&self, from: usize, to: usize) -> &'a [u8] {
        let text = self.slice(from, to);
        self.work.set(self.work.get() + text.len() as u64);
        text
    }

    #[inline]
    pub(super) const fn text(&self) -> &'a [u8] {
        self.text
    }

    #[inline]
    pub(super) const fn base(&self) -> usize {
        self.base
    }

    /// The offset after the last byte received.
    #[inline]
    pub(super) const fn end(&self) -> usize {
        self.base + self.text.len()
    }

    #[inline]
    pub(super) const fn is_last(&self) -> bool {
        self.last
    }

    /// A cursor that sees at most `window` bytes from `at` on.
    pub(super) fn look(&self, at: usize, window: usize) -> Look<'a> {
        let text = self.from(at);
        let (text, edge) = if text.len() >= window {
            (&text[..window], Edge::Window)
        } else if self.last {
            (text, Edge::End)
        } else {
            (text, Edge::More)
        };
        Look::new(text, edge, self.work)
    }
}
