//! What comes before a place of text.

use super::{
    CallExtractor,
    defined::{LAST, goes_on, is_defined},
};
use crate::dialect::wake::is_word;

/// What precedes a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) prev: u8,
    pub(super) before: u8,
    /// Whether nothing but white space was read.
    pub(super) at_start: bool,
    /// Whether a function is defined here: the word before is `def` or the like.
    pub(super) defined: bool,
    /// Whether a sentence or a comment goes on here.
    pub(super) goes_on: bool,
    /// Whether nothing but blanks comes before it on its line.
    pub(super) begins_line: bool,
    /// Whether there is text between the last call and the place.
    pub(super) spoke: bool,
}

impl Place {
    /// After a marker, where a line might as well begin.
    pub(super) const AFTER_MARKUP: Self = Self {
        prev: b'\n',
        before: b'\n',
        at_start: false,
        defined: false,
        goes_on: false,
        begins_line: true,
        spoke: false,
    };

    /// Whether the place is inside of a word.
    pub(super) const fn in_word(self) -> bool {
        is_word(self.prev)
    }

    /// Whether a marker that is one byte, repeated, has more of it before it.
    pub(super) fn repeats(self, marker: &str) -> bool {
        !marker.is_empty() && marker.bytes().all(|byte| byte == self.prev)
    }

    /// Whether a sentence only mentions the control token here, before `after`: it is in quotes, or, if
    /// `spaced` counts, there is a space before it and one or a punctuation mark after it. `None` waits
    /// for more.
    pub(super) fn mentions(self, after: Option<&[u8]>, spaced: bool, eof: bool) -> Option<bool> {
        let quoted = matches!(self.prev, b'`' | b'"' | b'\'' | b'(');
        if !(quoted || spaced && self.prev == b' ') {
            return Some(false);
        }
        match after.unwrap_or_default() {
            [] => eof.then_some(false),
            [b'`' | b'"' | b'\'' | b')', ..] => Some(true),
            [b' ' | b'.' | b',' | b';' | b':' | b'?' | b'!', ..] => Some(spaced),
            _ => Some(false),
        }
    }

    pub(super) const fn is_line_start(self) -> bool {
        matches!(self.prev, b'\n')
            || self.prev == b' ' && matches!(self.before, b'\n' | b' ')
            || self.at_start
    }
}

impl CallExtractor {
    /// The byte that is so far before a place.
    pub(super) fn before(&self, rest: &[u8], at: usize, distance: usize) -> Option<u8> {
        match at.checked_sub(distance) {
            Some(at) => rest.get(at).copied(),
            None => self.last.get((at + LAST).checked_sub(distance)?).copied(),
        }
    }

    pub(super) fn place(&self, rest: &[u8], at: usize) -> Place {
        let back = |distance: usize| self.before(rest, at, distance);
        Place {
            defined: is_defined(back),
            goes_on: goes_on(back, self.out.count() > 0),
            spoke: self.spoke || rest.iter().take(at).any(|byte| !byte.is_ascii_whitespace()),
            prev: back(1).unwrap_or(b'\n'),
            before: back(2).unwrap_or(b'\n'),
            at_start: !self.out.spoke && self.out.count() == 0 && !self.seen,
            begins_line: self.begins_line(rest, at),
        }
    }

    /// Whether nothing but blanks comes before a place on its line.
    fn begins_line(&self, rest: &[u8], at: usize) -> bool {
        // Further back, nobody knows: the line is indented by more than what is kept.
        let bytes = (1..=LAST).map(|distance| self.before(rest, at, distance));
        let mut bytes = bytes.map(|byte| byte.unwrap_or(b'\n'));
        bytes.find(|byte| !matches!(byte, b' ' | b'\t')) == Some(b'\n')
    }
}
