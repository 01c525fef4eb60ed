//! What comes before a place of text.

use super::{
    CallExtractor,
    ground::{Dress, Seat},
    trial::Verdict,
};
use crate::dialect::wake::is_word;

/// How many bytes before a place are kept.
pub(super) const LAST: usize = 16;

/// What precedes a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextBefore {
    /// Whether nothing but white space was read.
    pub(super) at_start: bool,
    /// Whether there is text between the last call and the place.
    pub(super) spoke: bool,
    /// Whether a marker of the dialect comes directly before it.
    pub(super) marked: bool,
    /// Whether calls without a marker are made there, once it was judged.
    pub(super) judged: Option<bool>,
    pub(super) seat: Seat,
    /// The bytes before it.
    pub(super) last: [u8; LAST],
}

/// What a call without a marker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Made,
    /// It depends on what else is there.
    Judged,
    Mentioned,
    Text,
}

impl TextBefore {
    /// After a marker, where a line might as well begin.
    pub(super) const AFTER_MARKUP: Self = Self {
        at_start: false,
        spoke: false,
        marked: false,
        judged: None,
        seat: Seat::Free,
        last: [b'\n'; LAST],
    };

    /// The byte directly before it.
    pub(super) const fn prev(&self) -> u8 {
        self.last[LAST - 1]
    }

    /// The byte before that.
    const fn before(&self) -> u8 {
        self.last[LAST - 2]
    }

    /// What a call without a marker is here. `data` says that a program may assign it.
    pub(super) fn standing(&self, named: bool, data: bool) -> Standing {
        match (self.judged, self.seat) {
            (_, Seat::Shown | Seat::Within(_) | Seat::Data) => Standing::Mentioned,
            (_, Seat::Free) | (Some(true), _) => Standing::Made,
            _ if named || self.marked => Standing::Made,
            (Some(false), _) => Standing::Text,
            (None, Seat::Own(Dress::Assigned)) if data => Standing::Mentioned,
            (None, Seat::Own(_)) => Standing::Judged,
            (None, Seat::After(_) | Seat::Below) => Standing::Mentioned,
        }
    }

    /// Whether its line may begin here.
    pub(super) fn begins_line(&self) -> bool {
        matches!(self.seat, Seat::Free | Seat::Own(Dress::Plain) | Seat::Below | Seat::Within(true))
            && self.is_line_start()
    }

    /// Whether the place is inside of a word.
    pub(super) const fn in_word(self) -> bool {
        is_word(self.prev())
    }

    /// Whether a marker that is one byte, repeated, has more of it before it.
    pub(super) fn repeats(self, marker: &str) -> bool {
        !marker.is_empty() && marker.bytes().all(|byte| byte == self.prev())
    }

    /// Whether a sentence only mentions the control token here, before `after`: it is in quotes, or, if
    /// `spaced` counts, there is a space before it and one or a punctuation mark after it. `None` waits
    /// for more.
    pub(super) fn mentions(self, after: Option<&[u8]>, spaced: bool, eof: bool) -> Option<bool> {
        let quoted = matches!(self.prev(), b'`' | b'"' | b'\'' | b'(');
        if !(quoted || spaced && self.prev() == b' ') {
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
        matches!(self.prev(), b'\n')
            || self.prev() == b' ' && matches!(self.before(), b'\n' | b' ')
            || self.at_start
    }
}

impl CallExtractor {
    /// Whether the text is for the user, or what a tool has returned, so that no call begins in it.
    pub(super) const fn is_quiet(&self) -> bool {
        self.for_user || self.in_result
    }

    /// The byte that is so far before a place.
    pub(super) fn before(&self, rest: &[u8], at: usize, distance: usize) -> Option<u8> {
        match at.checked_sub(distance) {
            Some(at) => rest.get(at).copied(),
            None => self.last.get((at + LAST).checked_sub(distance)?).copied(),
        }
    }

    pub(super) fn place(&mut self, rest: &[u8], at: usize) -> TextBefore {
        let text = rest.get(..at).unwrap_or_default();
        let mut last = self.last;
        keep_last(&mut last, text);
        let line = self.ground.line();
        TextBefore {
            at_start: !self.out.spoke && self.out.count() == 0 && !self.seen,
            spoke: self.spoke || text.iter().any(|byte| !byte.is_ascii_whitespace()),
            marked: false,
            judged: match self.verdict {
                Some(Verdict::Calls(left)) => (at < left).then_some(true),
                Some(Verdict::Text(last)) => (line <= last).then_some(false),
                None => None,
            },
            seat: match self.ground.seat() {
                seat if !self.judges => seat,
                seat @ (Seat::Within(_) | Seat::Data) => seat,
                _ => Seat::Free,
            },
            last,
        }
    }
}

/// Appends bytes to the last ones, as far as there is room.
pub(super) fn keep_last(last: &mut [u8; LAST], bytes: &[u8]) {
    let tail = &bytes[bytes.len().saturating_sub(LAST)..];
    last.copy_within(tail.len().., 0);
    last[LAST - tail.len()..].copy_from_slice(tail);
}
