//! The log of one text that is rewritten: the pieces in which it arrived, and the changes.
//!
//! A piece may be released once everything in it is certain. Its changes follow from the repairs, which
//! are an edit script of the whole text.

use std::{borrow::Cow, collections::VecDeque};

use jsonmend_core::{Output, Repair, Repairs, RepairsPosition, Risk, apply};

use crate::work;

/// A piece of arguments as it is shown.
#[derive(Clone, Copy)]
pub(super) enum Piece<'a> {
    /// More of the text. `raw`: repair has stopped, so it is verbatim.
    Text { bytes: &'a [u8], raw: bool },
    /// From here on, another reading of the text may be the right one.
    Unsure,
}

/// One piece, as a part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// It is released empty, because the text was cut off before it.
    Cut,
    /// The piece holds the text from `start` to `end`, after `skip` bytes that it only repeats.
    Part { skip: usize, start: usize, end: usize },
    /// It is released verbatim.
    Raw,
    /// It holds the whole text once more.
    Whole,
}

/// The pieces of a text that have not been released, and the repairs.
#[derive(Debug, Default)]
pub(crate) struct EditLog {
    slots: VecDeque<Slot>,
    repairs: Repairs,
    /// Up to which of the repairs were written into released pieces.
    written: RepairsPosition,
    /// The next repair extends past the end of a released piece, which already has its insertion.
    split: bool,
    /// The offset up to which the text is certain.
    certain: usize,
    /// The offset from which pieces wait for the end: the document needed repairs, and its last token is there.
    hold: Option<usize>,
    /// Repair has stopped: from here on the text is shown verbatim.
    stopped: bool,
    ended: bool,
    /// A text that is not complete is cut off if its beginning was released changed: the rest of it might make
    /// that complete. Otherwise, the rest is released verbatim.
    cuts: bool,
    /// A piece was released changed.
    changed: bool,
    /// Some pieces repeat what came before.
    repeats: bool,
    /// The offset up to which the text was certain before it ended or its repair stopped. A document does not end
    /// there.
    open: usize,
    /// The offset at which the text is cut off.
    cut: Option<usize>,
    /// Every piece is released verbatim.
    verbatim: bool,
    /// The original text, once it has ended and if it was changed.
    raw: Option<String>,
}

impl EditLog {
    /// The log of a text that is cut off if it is not complete, but left in part changed.
    pub(super) fn cutting() -> Self {
        Self { cuts: true, ..Self::default() }
    }

    /// Whether it is one.
    pub(super) const fn cuts(&self) -> bool {
        self.cuts
    }

    pub(super) fn add(&mut self, slot: Slot) {
        self.repeats |= matches!(slot, Slot::Part { skip: 1.., .. });
        self.slots.push_back(slot);
    }

    /// Adds a piece after the repair has stopped.
    pub(super) fn add_rest(&mut self) {
        self.slots.push_back(if self.cut.is_some() { Slot::Cut } else { Slot::Raw });
    }

    pub(super) const fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// Adds a repair of a text that has been read.
    pub(super) fn push_repair(&mut self, repair: &Repair) {
        self.repairs.push(repair);
    }

    /// The offset up to which the text is certain.
    pub(super) const fn certain(&self) -> usize {
        self.certain
    }

    /// Sets the offset up to which the text is certain.
    pub(super) const fn set_certain(&mut self, offset: usize) {
        self.certain = offset;
    }

    /// Sets repairs that were found all at once.
    pub(super) fn set_repairs(&mut self, repairs: &Repairs) {
        self.repairs = repairs.clone();
    }

    /// Ends the text. `raw` is all of it.
    pub(super) fn end(&mut self, raw: &str) {
        if core::mem::replace(&mut self.ended, true) {
            return;
        }
        let changes = !self.repairs.is_empty() || self.cut.is_some();
        self.raw = changes.then(|| raw.to_owned());
    }

    /// Sets where the last token of the document begins, if it has ended so far. If it needed repairs, that waits
    /// until the outcome of the text is known.
    pub(super) fn hold(&mut self, last_token: Option<usize>) {
        let changes = !self.repairs.is_empty() || (self.cuts && self.repeats);
        self.hold = last_token.filter(|_| changes);
        let certain = if self.stopped { self.open } else { self.certain };
        self.open = certain.min(self.hold.unwrap_or(usize::MAX));
    }

    /// Allows all waiting pieces of a text that is not complete to be released: verbatim, or if a part of it was
    /// released changed, as far as it was certain.
    pub(super) fn give_up(&mut self) {
        if !self.changed {
            self.forward();
        } else if self.cut.is_none() {
            self.cut = Some(self.open);
        }
    }

    /// Allows all waiting pieces to be released.
    pub(super) fn release(&mut self) {
        self.certain = usize::MAX;
        self.hold = None;
        work::count(self.slots.len());
        for slot in &mut self.slots {
            if *slot == Slot::Whole {
                *slot = Slot::Raw;
            }
        }
    }

    /// Allows all waiting pieces to be released verbatim, of which none was released yet.
    pub(super) fn forward(&mut self) {
        self.release();
        self.slots.iter_mut().for_each(|slot| *slot = Slot::Raw);
        self.verbatim = true;
    }

    /// Allows the waiting pieces to be released verbatim, after others that were released with repairs.
    pub(super) fn forward_rest(&mut self) {
        self.release();
        self.slots.iter_mut().for_each(|slot| *slot = Slot::Raw);
        self.forget();
    }

    /// Whether pieces are released verbatim, even if their literals were read in another way.
    pub(crate) const fn is_verbatim(&self) -> bool {
        self.verbatim
    }

    /// Whether a piece was released changed.
    pub(super) const fn left_changed(&self) -> bool {
        self.changed
    }

    /// Whether repair has stopped.
    pub(super) const fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether the log is no longer needed.
    pub(crate) fn is_spent(&self) -> bool {
        self.ended && self.slots.is_empty() && self.repairs.is_empty()
    }

    /// How much memory the text and its repairs take, in bytes, about.
    pub(super) fn weight(&self) -> usize {
        let raw = self.raw.as_ref().map_or(0, String::len);
        raw + self.repairs.memory()
    }

    /// Drops what only a repetition of the whole text would need.
    pub(super) fn forget(&mut self) {
        self.raw = None;
        self.repairs = Repairs::new();
        self.written = RepairsPosition::default();
    }

    /// Whether pieces that add to the text wait to be released.
    pub(crate) fn has_parts(&self) -> bool {
        self.slots.iter().any(|slot| {
            work::count(1);
            matches!(slot, Slot::Part { .. })
        })
    }

    /// Whether any pieces wait to be released.
    pub(crate) fn has_slots(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Whether the `nth` waiting piece may be released.
    pub(crate) fn may_leave(&self, nth: usize) -> bool {
        match self.slots.get(nth) {
            // A piece that only repeats is changed, so some of the text must be certain.
            Some(Slot::Part { skip, end, .. }) => {
                let certain = self.certain.min(self.hold.unwrap_or(usize::MAX));
                let is_certain = *end <= certain && (*skip == 0 || certain > 0);
                self.ended || self.cut.is_some() || is_certain
            }
            Some(Slot::Cut | Slot::Raw) => true,
            Some(Slot::Whole) => self.ended,
            // Its slot is not known yet.
            None => self.ended,
        }
    }

    /// Whether the next piece may be released and is not changed.
    pub(crate) fn is_next_unchanged(&self) -> bool {
        match self.slots.front() {
            Some(Slot::Part { skip: 0, end, .. }) => {
                let next = self.repairs.iter_at(self.written).next();
                let last = self.ended && self.slots.len() == 1;
                self.may_leave(0)
                    && self.cut.is_none_or(|cut| *end <= cut)
                    && next.is_none_or(|repair| !last && repair.start() >= *end)
            }
            Some(Slot::Whole) => self.ended && self.repairs.is_empty() && self.cut.is_none(),
            Some(Slot::Raw) => true,
            Some(Slot::Cut | Slot::Part { .. }) => false,
            None => self.ended,
        }
    }

    /// Releases the next piece. Returns its new text, if it changed. `text` is the original one.
    pub(crate) fn leave<'t>(&mut self, text: impl FnOnce() -> Cow<'t, str>) -> Option<String> {
        let (skip, start, whole_end) = match self.slots.pop_front()? {
            Slot::Part { skip, start, end } => (skip, start, end),
            Slot::Raw => return None,
            Slot::Cut => return (!text().is_empty()).then(String::new),
            Slot::Whole => return self.whole(&text()),
        };
        let end = self.cut.map_or(whole_end, |cut| whole_end.min(cut));
        // An insertion at the end of a piece belongs to the next one, if there is one.
        let last = self.ended && !self.has_parts() && self.cut.is_none();
        let is_here = |repair: &Repair| last || repair.start() < end;
        let mut repairs = self.repairs.iter_at(self.written);
        if skip == 0 && end == whole_end && repairs.clone().next().filter(is_here).is_none() {
            return None;
        }
        self.changed = true;
        let text = text();
        let piece = text.get(skip..).unwrap_or_default();
        let between = |from: usize, to: usize| {
            piece.get(from.saturating_sub(start)..to.saturating_sub(start)).unwrap_or_default()
        };
        let mut out = String::with_capacity(piece.len() + 16);
        let mut at = start.min(end);
        while let Some(repair) = repairs.next().filter(is_here) {
            if !self.split {
                out.push_str(between(at, repair.start().min(end)));
                out.push_str(repair.after());
            }
            at = at.max(repair.end().min(end));
            self.split = repair.end() > end && !last;
            if self.split {
                break;
            }
            self.written = repairs.position();
        }
        out.push_str(between(at, end));
        Some(out)
    }

    /// The text as it was released, if `text` is the original.
    fn whole(&self, text: &str) -> Option<String> {
        self.raw.as_deref().filter(|raw| *raw == text && !self.verbatim)?;
        let Some(cut) = self.cut else {
            return String::from_utf8(apply(text.as_bytes(), &self.repairs)?).ok();
        };
        let (mut out, mut at) = (String::new(), 0);
        for repair in self.repairs.iter().take_while(|repair| repair.start() < cut) {
            out.push_str(text.get(at..repair.start())?);
            out.push_str(repair.after());
            at = repair.end();
        }
        out.push_str(text.get(at..cut.max(at))?);
        Some(out)
    }

    /// Takes what must be appended after the last piece, which has been released.
    pub(crate) fn take_rest(&mut self) -> Option<String> {
        if !self.ended || self.has_parts() || self.verbatim || self.cut.is_some() {
            return None;
        }
        let rest = self.repairs.iter_at(self.written).skip(usize::from(self.split));
        let mut text = String::new();
        rest.for_each(|repair| text.push_str(repair.after()));
        self.written = self.repairs.end();
        self.split = false;
        (!text.is_empty()).then_some(text)
    }

    /// What can be appended to the original text, if nothing inside it needed a change.
    pub(crate) fn suffix(&self) -> Option<String> {
        let raw = self.raw.as_deref()?;
        let mended = String::from_utf8(apply(raw.as_bytes(), &self.repairs)?).ok()?;
        mended.strip_prefix(raw).filter(|rest| !rest.is_empty()).map(Into::into)
    }
}

/// Updates the log while a mender emits text.
pub(super) struct Recorder<'a> {
    pub(super) edit_log: &'a mut EditLog,
    pub(super) show: &'a mut dyn FnMut(Piece<'_>),
}

impl<'a> Recorder<'a> {
    pub(super) fn new(edit_log: &'a mut EditLog, show: &'a mut dyn FnMut(Piece<'_>)) -> Self {
        Self { edit_log, show }
    }
}

impl Output for Recorder<'_> {
    fn copy(&mut self, bytes: &[u8]) {
        self.edit_log.certain = self.edit_log.certain.saturating_add(bytes.len());
        if !bytes.is_empty() {
            (self.show)(Piece::Text { bytes, raw: self.edit_log.stopped });
        }
    }

    fn patch(&mut self, bytes: &[u8]) {
        (self.show)(Piece::Text { bytes, raw: self.edit_log.stopped });
    }

    fn raw(&mut self) {
        if !core::mem::replace(&mut self.edit_log.stopped, true) {
            self.edit_log.open =
                self.edit_log.certain.min(self.edit_log.hold.unwrap_or(usize::MAX));
        }
    }

    fn repair(&mut self, repair: Repair) {
        self.edit_log.certain = self.edit_log.certain.max(repair.end());
        self.edit_log.repairs.push(&repair);
    }
}

/// Emits repaired bytes, without an account.
pub(super) struct Show<'a> {
    pub(super) show: &'a mut dyn FnMut(Piece<'_>),
    /// Repairing has stopped.
    pub(super) raw: &'a mut bool,
    /// Another reading may be the right one.
    pub(super) unsure: &'a mut bool,
}

impl Output for Show<'_> {
    fn copy(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            (self.show)(Piece::Text { bytes, raw: *self.raw });
        }
    }

    fn raw(&mut self) {
        *self.raw = true;
    }

    fn repair(&mut self, repair: Repair) {
        if repair.kind().risk() > Risk::Exact && !core::mem::replace(self.unsure, true) {
            (self.show)(Piece::Unsure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonmend_core::{Mender, Options};

    /// The pieces as they are released, and what is appended after them.
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
            r#"{"a": 1} and words after"#,
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
    fn unchanged_pieces_are_not_rewritten() {
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
