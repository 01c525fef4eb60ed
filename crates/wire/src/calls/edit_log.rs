//! The account of one text that is written again: the pieces it came in, and what was changed.
//!
//! A piece may leave once everything in it is certain. What is changed in it follows from the
//! repairs, which are an edit script of the whole text.

use std::{borrow::Cow, collections::VecDeque};

use jsonmend_core::{Output, Repair, apply};

use crate::work;

/// A piece of arguments as it is shown.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) bytes: &'a [u8],
    /// It is as it came: mending has stopped.
    pub(super) raw: bool,
}

/// One piece, as a part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The piece says the text from `start` to `end`, behind `skip` bytes that it only repeats.
    Part { skip: usize, start: usize, end: usize },
    /// It leaves as it came.
    Raw,
    /// It says all of the text once more.
    Whole,
}

/// The pieces of a text that have not left, and the repairs.
#[derive(Debug, Default)]
pub(crate) struct EditLog {
    slots: VecDeque<Slot>,
    repairs: Vec<Repair>,
    /// How many of the repairs were written into pieces that have left.
    written: usize,
    /// The next repair reaches over the end of a piece that has left; what it inserts went with it.
    split: bool,
    /// Up to where the text is certain.
    certain: usize,
    ended: bool,
    /// The text as it came, once it has ended and was changed.
    raw: Option<String>,
}

impl EditLog {
    pub(super) fn add(&mut self, slot: Slot) {
        self.slots.push_back(slot);
    }

    pub(super) fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// Takes over repairs that were found all at once.
    pub(super) fn set_repairs(&mut self, repairs: Vec<Repair>) {
        self.repairs = repairs;
    }

    /// The text has ended; this is all of it.
    pub(super) fn end(&mut self, raw: &str) {
        if core::mem::replace(&mut self.ended, true) {
            return;
        }
        self.raw = (!self.repairs.is_empty()).then(|| raw.to_owned());
    }

    /// All that waits may leave.
    pub(super) fn release(&mut self) {
        self.certain = usize::MAX;
        work::count(self.slots.len());
        for slot in &mut self.slots {
            if *slot == Slot::Whole {
                *slot = Slot::Raw;
            }
        }
    }

    /// Whether nothing of it will be asked for any more.
    pub(crate) fn is_spent(&self) -> bool {
        self.ended && self.slots.is_empty() && self.repairs.is_empty()
    }

    /// Whether pieces wait to leave that add to the text.
    pub(crate) fn has_parts(&self) -> bool {
        self.slots.iter().any(|slot| {
            work::count(1);
            matches!(slot, Slot::Part { .. })
        })
    }

    /// Whether pieces wait to leave, whatever they say.
    pub(crate) fn has_slots(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Whether the piece may leave that is the `nth` to do so.
    pub(crate) fn may_leave(&self, nth: usize) -> bool {
        match self.slots.get(nth) {
            Some(Slot::Part { end, .. }) => self.ended || *end <= self.certain,
            Some(Slot::Raw) => true,
            Some(Slot::Whole) => self.ended,
            // Not told yet what it says.
            None => self.ended,
        }
    }

    /// Whether the next piece may leave and is not changed.
    pub(crate) fn is_next_unchanged(&self) -> bool {
        match self.slots.front() {
            Some(Slot::Part { skip: 0, end, .. }) => {
                let next = self.repairs.get(self.written);
                let last = self.ended && self.slots.len() == 1;
                self.may_leave(0) && next.is_none_or(|repair| !last && repair.start() >= *end)
            }
            Some(Slot::Whole) => self.ended && self.repairs.is_empty(),
            Some(Slot::Raw) => true,
            Some(Slot::Part { .. }) => false,
            None => self.ended,
        }
    }

    /// Lets the next piece leave: its new text, if it is changed. `text` is what it said.
    pub(crate) fn leave<'t>(&mut self, text: impl FnOnce() -> Cow<'t, str>) -> Option<String> {
        let (skip, start, end) = match self.slots.pop_front()? {
            Slot::Part { skip, start, end } => (skip, start, end),
            Slot::Raw => return None,
            Slot::Whole => return self.whole(&text()),
        };
        // What is inserted at the end of a piece belongs to the next one, if there is one.
        let last = self.ended && !self.has_parts();
        let is_here = |repair: &&Repair| last || repair.start() < end;
        if skip == 0 && self.repairs.get(self.written).filter(is_here).is_none() {
            return None;
        }
        let text = text();
        let said = text.get(skip..).unwrap_or_default();
        let between = |from: usize, to: usize| {
            said.get(from.saturating_sub(start)..to.saturating_sub(start)).unwrap_or_default()
        };
        let mut out = String::with_capacity(said.len() + 16);
        let mut at = start;
        while let Some(repair) = self.repairs.get(self.written).filter(is_here) {
            if !self.split {
                out.push_str(between(at, repair.start().min(end)));
                out.push_str(repair.after());
            }
            at = at.max(repair.end().min(end));
            self.split = repair.end() > end && !last;
            if self.split {
                break;
            }
            self.written += 1;
        }
        out.push_str(between(at, end));
        Some(out)
    }

    /// The text with all repairs, where `text` is what it was.
    fn whole(&self, text: &str) -> Option<String> {
        self.raw.as_deref().filter(|raw| *raw == text)?;
        String::from_utf8(apply(text.as_bytes(), &self.repairs)?).ok()
    }

    /// Takes what has to stand behind the last piece, which has left.
    pub(crate) fn take_rest(&mut self) -> Option<String> {
        if !self.ended || self.has_parts() {
            return None;
        }
        let rest = self.repairs.get(self.written + usize::from(self.split)..)?;
        let text: String = rest.iter().map(Repair::after).collect();
        self.written = self.repairs.len();
        self.split = false;
        (!text.is_empty()).then_some(text)
    }

    /// What may be put behind the text as it came, where nothing in it needed a change.
    pub(crate) fn suffix(&self) -> Option<String> {
        let raw = self.raw.as_deref()?;
        let mended = String::from_utf8(apply(raw.as_bytes(), &self.repairs)?).ok()?;
        mended.strip_prefix(raw).filter(|rest| !rest.is_empty()).map(Into::into)
    }
}

/// Keeps the account while a mender hands out text.
pub(super) struct Recorder<'a> {
    pub(super) edit_log: &'a mut EditLog,
    pub(super) show: &'a mut dyn FnMut(Piece<'_>),
    raw: bool,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(edit_log: &'a mut EditLog, show: &'a mut dyn FnMut(Piece<'_>)) -> Self {
        Self { edit_log, show, raw: false }
    }
}

impl Output for Recorder<'_> {
    fn copy(&mut self, bytes: &[u8]) {
        self.edit_log.certain = self.edit_log.certain.saturating_add(bytes.len());
        if !bytes.is_empty() {
            (self.show)(Piece { bytes, raw: self.raw });
        }
    }

    fn patch(&mut self, bytes: &[u8]) {
        (self.show)(Piece { bytes, raw: self.raw });
    }

    fn raw(&mut self) {
        self.raw = true;
    }

    fn repair(&mut self, repair: Repair) {
        self.edit_log.certain = self.edit_log.certain.max(repair.end());
        self.edit_log.repairs.push(repair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonmend_core::{Mender, Options};

    /// The pieces as they leave, and what stands behind them.
    fn rewritten(pieces: &[&str]) -> (Vec<String>, Option<String>) {
        let mut edit_log = EditLog::default();
        let mut mender = Mender::new(Options::new());
        let mut left: Vec<String> = Vec::new();
        let mut start = 0;
        let leave = |edit_log: &mut EditLog, left: &mut Vec<String>| {
            while edit_log.has_parts() && edit_log.may_leave(0) {
                let piece = pieces[left.len()];
                let new = edit_log.leave(|| piece.into());
                assert_ne!(new.as_deref(), Some(piece), "a change that changes nothing");
                left.push(new.unwrap_or_else(|| piece.to_owned()));
            }
        };
        for piece in pieces {
            edit_log.add(Slot::Part { skip: 0, start, end: start + piece.len() });
            start += piece.len();
            let show: &mut dyn FnMut(Piece<'_>) = &mut |_| {};
            let mut out = Recorder::new(&mut edit_log, show);
            mender.push(piece.as_bytes(), &mut out);
            leave(&mut edit_log, &mut left);
        }
        mender.finish(&mut Recorder::new(&mut edit_log, &mut |_| {}));
        edit_log.end(&pieces.concat());
        leave(&mut edit_log, &mut left);
        (left, edit_log.take_rest())
    }

    #[test]
    fn pieces_leave_mended_and_add_up_to_the_mended_text() {
        for text in [
            r#"{"a": "b", "c": [1, 2]}"#,
            r#"{'a': True, b: None,}"#,
            r#"{"a": 1, /* a long comment */ "b": 2,,}"#,
            r#"{"a": 1} and words behind"#,
            r#"{"a": [1, {"b": "cut o"#,
        ] {
            let want = jsonmend_core::mend(text.as_bytes(), &Options::new());
            for size in [1, 2, 3, 5, 8, 100] {
                let pieces: Vec<&str> =
                    text.as_bytes().chunks(size).map(|p| std::str::from_utf8(p).unwrap()).collect();
                let (left, rest) = rewritten(&pieces);
                let all = left.concat() + rest.as_deref().unwrap_or_default();
                assert_eq!(Some(all.as_str()), want.text(), "{text} by {size}");
            }
        }
    }

    #[test]
    fn what_was_not_changed_says_so() {
        let (left, rest) = rewritten(&["{\"a\"", ": [1, ", "2]", "}"]);
        assert_eq!((left.concat().as_str(), rest), ("{\"a\": [1, 2]}", None));
        let (left, rest) = rewritten(&["{\"a\": \"x"]);
        assert_eq!((left, rest.as_deref()), (vec!["{\"a\": \"x".to_owned()], Some("\"}")));
    }

    #[test]
    fn a_piece_that_only_repeats_is_emptied() {
        let mut edit_log = EditLog::default();
        edit_log.add(Slot::Part { skip: 3, start: 3, end: 3 });
        edit_log.certain = 3;
        assert_eq!(edit_log.leave(|| "abc".into()).as_deref(), Some(""));
    }
}
