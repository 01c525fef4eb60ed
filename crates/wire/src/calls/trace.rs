//! A text that is written again, in the pieces in which it arrived.

use core::ops::Range;
use std::{borrow::Cow, collections::VecDeque};

use wiremend_core::{
    MendOptions, Mended, Mender, Outcome, Output, Repair, Repairs, RepairsPosition, Risk, apply,
    mend,
};

use crate::work;

/// When the pieces of a text are released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// At once, as long as nothing needs a repair; from there on, when the text has ended.
    Valid,
    /// When the text has ended.
    Complete,
}

/// The two ways to read the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joining {
    /// They are concatenated.
    Plain,
    /// Some of them repeat what came before.
    Resent,
}

/// A piece whose part of the text is not decided yet.
#[derive(Clone, Debug)]
enum Pending {
    /// A piece of `len` bytes, which holds one part of the text or another, depending on the reading.
    Part { plain: Range<usize>, resent: Range<usize>, len: usize },
    /// The whole text once more.
    Whole,
}

/// The result for a text that is forwarded verbatim: it was neither closed nor repaired.
pub(super) fn verbatim(mended: Mended) -> Mended {
    let outcome = match mended.outcome() {
        Outcome::Closed => Outcome::Cut,
        Outcome::Repaired => Outcome::Abandoned,
        _ => return mended,
    };
    let cut_at = mended.cut_at().cloned();
    Mended::new(outcome, None, mended.repairs().clone(), cut_at)
}

/// A text that is being rewritten. What leaves before its end is what came.
#[derive(Debug)]
pub(crate) struct Trace {
    options: MendOptions,
    /// Reads the text as it arrives, as long as nothing needs a repair.
    mender: Option<Box<Mender>>,
    edit_log: EditLog,
    /// How much of the text the mender has read.
    fed: usize,
    pending: Vec<Pending>,
    /// Everything is forwarded verbatim.
    raw: bool,
}

impl Trace {
    pub(super) fn new(options: MendOptions, release: Release) -> Self {
        let mut trace = Self {
            options: options.clone(),
            mender: None,
            edit_log: EditLog::default(),
            fed: 0,
            pending: Vec::new(),
            raw: false,
        };
        match release {
            Release::Valid => trace.mender = Some(Box::new(Mender::new(options))),
            Release::Complete => trace.hold(),
        }
        trace
    }

    /// Repairs with these options instead. `fresh`: nothing has arrived yet.
    pub(super) fn read_with(&mut self, options: &MendOptions, fresh: bool) {
        self.options = options.clone();
        if let Some(mender) = self.mender.as_mut().filter(|_| fresh) {
            **mender = Mender::new(options.clone());
        }
    }

    /// The mender of the text as it arrives, as long as nothing needs a repair.
    pub(super) fn mender(&self) -> Option<&Mender> {
        self.mender.as_deref()
    }

    /// Whether a part of the text has been released.
    pub(super) const fn has_left(&self) -> bool {
        self.edit_log.left() > 0
    }

    pub(crate) const fn edit_log_mut(&mut self) -> &mut EditLog {
        &mut self.edit_log
    }

    /// The log of a text that has ended.
    pub(super) fn into_edit_log(mut self) -> EditLog {
        self.resolve(Joining::Resent);
        self.edit_log.end("");
        self.edit_log
    }

    /// What comes from here on waits for the end of the text.
    pub(super) fn hold(&mut self) {
        self.mender = None;
        self.edit_log.hold();
    }

    /// Records a piece of `len` bytes, and the part of the text that it holds under each reading.
    pub(super) fn note(&mut self, plain: Range<usize>, resent: Range<usize>, len: usize) {
        if self.raw {
            self.edit_log.add(Slot::Raw);
        } else {
            self.pending.push(Pending::Part { plain, resent, len });
        }
    }

    /// Records a piece that holds the whole text once more.
    pub(super) fn note_whole(&mut self) {
        if self.raw {
            self.edit_log.add(Slot::Raw);
        } else {
            self.pending.push(Pending::Whole);
        }
    }

    /// Makes the undecided pieces empty.
    pub(super) fn drop_pending(&mut self) {
        for pending in &mut self.pending {
            if let Pending::Part { plain, resent, .. } = pending {
                *plain = 0..0;
                *resent = 0..0;
            }
        }
    }

    /// Decides the reading. `text` is the text so far.
    pub(super) fn settle(&mut self, text: &str, reading: Joining, show: &mut dyn FnMut(Piece<'_>)) {
        self.resolve(reading);
        if let Some(mender) = &mut self.mender {
            let more = text.get(self.fed..).unwrap_or_default();
            mender.push(more.as_bytes(), &mut Recorder::new(&mut self.edit_log, show));
            self.fed = text.len();
            if self.edit_log.is_held() {
                self.mender = None;
            }
        }
    }

    /// Decides which part each piece holds. From the first that also repeats something, the text is held.
    fn resolve(&mut self, reading: Joining) {
        for pending in core::mem::take(&mut self.pending) {
            let Pending::Part { plain, resent, len } = pending else {
                self.edit_log.add(Slot::Whole);
                continue;
            };
            let Range { start, end } = if reading == Joining::Plain { plain } else { resent };
            let skip = len.saturating_sub(end - start);
            if skip > 0 {
                self.hold();
            }
            self.edit_log.add(Slot::Part { skip, start, end });
        }
    }

    /// Ends the text. `text` is all of it, after `dropped` bytes that do not count. What waits then is released
    /// by [`decide`](Self::decide).
    pub(super) fn finish(
        &mut self,
        text: &str,
        reading: Joining,
        dropped: usize,
        show: &mut dyn FnMut(Piece<'_>),
    ) -> Mended {
        self.resolve(reading);
        if let Some(mut mender) = self.mender.take() {
            let mut out = Recorder::new(&mut self.edit_log, show);
            mender.push(text.get(self.fed..).unwrap_or_default().as_bytes(), &mut out);
            let outcome = mender.finish(&mut out);
            work::count(usize::try_from(mender.steps()).unwrap_or(usize::MAX));
            if outcome == Outcome::Unchanged {
                return Mended::new(outcome, Some(text.to_owned()), Repairs::new(), None);
            }
        }
        self.edit_log.drop_start(dropped);
        work::count(text.len());
        let mended = mend(text.as_bytes(), &self.options);
        let is_closed = mended.outcome() == Outcome::Closed;
        if self.raw || is_closed || !self.edit_log.takes(mended.repairs()) {
            verbatim(mended)
        } else {
            mended
        }
    }

    /// Releases what waits of a text that has ended: as `repaired`, with the repairs that make it so, if it is
    /// complete, and otherwise verbatim.
    pub(super) fn decide(
        &mut self,
        text: &str,
        repaired: Option<(&str, &Repairs)>,
        show: &mut dyn FnMut(Piece<'_>),
    ) {
        match repaired {
            Some((repaired, repairs)) => {
                self.edit_log.set_repairs(repairs);
                match text
                    .get(..self.edit_log.certain())
                    .and_then(|head| repaired.strip_prefix(head))
                {
                    Some(rest) => show(Piece::Text { bytes: rest.as_bytes(), raw: false }),
                    None => show(Piece::Unsure),
                }
            }
            None => {
                self.show_rest(text, show);
                self.edit_log.forward();
            }
        }
        self.edit_log.end(text);
    }

    /// Shows the rest of a text that is not repaired.
    pub(super) fn show_rest(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        let bytes = text.get(self.edit_log.certain()..).unwrap_or_default().as_bytes();
        if !bytes.is_empty() {
            show(Piece::Text { bytes, raw: true });
        }
        self.edit_log.set_certain(text.len());
    }

    /// Whether the whole text is held, in pieces that can be changed.
    pub(super) fn is_held(&self) -> bool {
        !self.raw && !self.has_left() && self.edit_log.has_parts()
    }

    /// Stops rewriting: what waits, and everything that follows, is forwarded verbatim.
    pub(crate) fn abandon(&mut self) {
        self.resolve(Joining::Resent);
        self.hold();
        self.edit_log.forward();
        self.raw = true;
    }
}

// The log of one text that is rewritten: the pieces in which it arrived, and the changes.
//
// A piece may be released once everything in it is certain. Its changes follow from the repairs, which
// are an edit script of the whole text.

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
pub(crate) enum Slot {
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
    /// The offset up to which the text may be released as it came.
    certain: usize,
    /// From there on, it waits for its end.
    held: bool,
    /// The offset up to which it was released.
    left: usize,
    ended: bool,
    /// Every piece is released verbatim.
    verbatim: bool,
    /// The original text, once it has ended and if it was changed.
    raw: Option<String>,
}

impl EditLog {
    pub(super) fn add(&mut self, slot: Slot) {
        self.slots.push_back(slot);
    }

    /// Adds a repair of a text that has been read.
    pub(super) fn push_repair(&mut self, repair: &Repair) {
        self.repairs.push(repair);
    }

    /// The offset up to which the text may be released as it came.
    pub(super) const fn certain(&self) -> usize {
        self.certain
    }

    /// Sets that offset.
    pub(super) const fn set_certain(&mut self, offset: usize) {
        self.certain = offset;
    }

    /// What is not certain yet waits for the end of the text.
    pub(super) const fn hold(&mut self) {
        self.held = true;
    }

    /// Whether the text waits for its end.
    pub(super) const fn is_held(&self) -> bool {
        self.held
    }

    /// The offset up to which the text was released.
    pub(super) const fn left(&self) -> usize {
        self.left
    }

    /// Sets repairs that were found all at once.
    fn set_repairs(&mut self, repairs: &Repairs) {
        self.repairs = repairs.clone();
    }

    /// Whether these repairs can still be made: they are in what was not released.
    pub(super) fn takes(&self, repairs: &Repairs) -> bool {
        let first = repairs.iter().next();
        first.is_none_or(|first| first.start() >= self.left && self.has_parts())
    }

    /// Drops bytes at the start of a text of which nothing was released.
    fn drop_start(&mut self, dropped: usize) {
        for slot in &mut self.slots {
            if let Slot::Part { skip, start, end } = slot {
                let length = *end - *start;
                *start = start.saturating_sub(dropped);
                *end = end.saturating_sub(dropped);
                *skip += length - (*end - *start);
            }
        }
    }

    /// Ends the text. `raw` is all of it.
    pub(super) fn end(&mut self, raw: &str) {
        if !core::mem::replace(&mut self.ended, true) && !self.repairs.is_empty() {
            self.raw = Some(raw.to_owned());
        }
    }

    /// Allows all waiting pieces to be released.
    pub(super) const fn release(&mut self) {
        self.certain = usize::MAX;
    }

    /// Allows all waiting pieces to be released verbatim.
    pub(super) fn forward(&mut self) {
        work::count(self.slots.len());
        self.slots.iter_mut().for_each(|slot| *slot = Slot::Raw);
        self.verbatim = true;
    }

    /// Whether pieces are released verbatim, even if their literals were read in another way.
    pub(crate) const fn is_verbatim(&self) -> bool {
        self.verbatim
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
    fn has_parts(&self) -> bool {
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
            // Where the text is held, an empty piece may be one whose literal is written in another way.
            Some(&Slot::Part { skip: 0, start, end }) => {
                self.ended || (end <= self.certain && (start < end || !self.held))
            }
            Some(Slot::Raw) => true,
            // `None`: its slot is not known yet, or it is the end of a call that may have no arguments.
            None => self.ended || self.verbatim,
            Some(Slot::Part { .. } | Slot::Whole) => self.ended,
        }
    }

    /// Whether only one piece waits, which may be released and is not changed.
    pub(crate) fn is_only_unchanged(&self) -> bool {
        if self.slots.len() > 1 {
            return false;
        }
        match self.slots.front() {
            Some(Slot::Part { skip: 0, end, .. }) => {
                let next = self.repairs.iter_at(self.written).next();
                let unchanged = |repair: Repair| !self.ended && repair.start() >= *end;
                self.may_leave(0) && next.is_none_or(unchanged)
            }
            Some(Slot::Whole) => self.ended && self.repairs.is_empty(),
            Some(Slot::Raw) => true,
            Some(Slot::Part { .. }) => false,
            None => self.ended,
        }
    }

    /// Releases the next piece. Returns its new text, if it changed. `text` is the original one.
    pub(crate) fn leave<'t>(&mut self, text: impl FnOnce() -> Cow<'t, str>) -> Option<String> {
        let (skip, start, end) = match self.slots.pop_front()? {
            Slot::Part { skip, start, end } => (skip, start, end),
            Slot::Raw => return None,
            Slot::Whole => return self.whole(&text()),
        };
        self.left = end;
        // An insertion at the end of a piece belongs to the next one, if there is one.
        let last = self.ended && !self.has_parts();
        let is_here = |repair: &Repair| last || repair.start() < end;
        let mut repairs = self.repairs.iter_at(self.written);
        if skip == 0 && repairs.clone().next().filter(is_here).is_none() {
            return None;
        }
        let text = text();
        let piece = text.get(skip..).unwrap_or_default();
        let between = |from: usize, to: usize| {
            piece.get(from.saturating_sub(start)..to.saturating_sub(start)).unwrap_or_default()
        };
        let mut out = String::with_capacity(piece.len() + 16);
        let mut at = start;
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
        self.raw.as_deref().filter(|raw| *raw == text)?;
        String::from_utf8(apply(text.as_bytes(), &self.repairs)?).ok()
    }
}

/// Shows a text as a mender finds it valid, up to the first repair.
struct Recorder<'a> {
    edit_log: &'a mut EditLog,
    show: &'a mut dyn FnMut(Piece<'_>),
}

impl<'a> Recorder<'a> {
    pub(super) fn new(edit_log: &'a mut EditLog, show: &'a mut dyn FnMut(Piece<'_>)) -> Self {
        Self { edit_log, show }
    }
}

impl Output for Recorder<'_> {
    fn copy(&mut self, bytes: &[u8]) {
        if !self.edit_log.held && !bytes.is_empty() {
            self.edit_log.certain += bytes.len();
            (self.show)(Piece::Text { bytes, raw: false });
        }
    }

    fn patch(&mut self, _: &[u8]) {
        self.edit_log.held = true;
    }

    fn raw(&mut self) {
        self.edit_log.held = true;
    }

    fn repair(&mut self, _: Repair) {
        self.edit_log.held = true;
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
    use wiremend_core::{MendOptions, Mended, Mender, Outcome, mend};

    use super::*;

    /// The pieces as they are released.
    fn rewritten(pieces: &[&str], mended: &Mended) -> Vec<String> {
        let mut edit_log = EditLog::default();
        let mut mender = Mender::new(MendOptions::new());
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
            mender.push(piece.as_bytes(), &mut Recorder::new(&mut edit_log, &mut |_| {}));
            leave(&mut edit_log, &mut left);
            assert!(pieces.concat().starts_with(&left.concat()), "repaired before the end");
        }
        if mended.outcome().is_complete() && edit_log.takes(mended.repairs()) {
            edit_log.set_repairs(mended.repairs());
        }
        edit_log.end(&pieces.concat());
        leave(&mut edit_log, &mut left);
        left
    }

    #[test]
    fn pieces_leave_as_they_came_until_the_end_and_add_up_to_the_mended_text() {
        for text in [
            r#"{"a": "b", "c": [1, 2]}"#,
            r#"{'a': True, b: None,}"#,
            r#"{"a": 1, /* a long comment */ "b": 2,,}"#,
            r#"{"a": 1} and words after"#,
            r#"{"a": [1, {"b": "cut o"#,
        ] {
            let mended = mend(text.as_bytes(), &MendOptions::new());
            let cut = mended.outcome() == Outcome::Closed;
            let want = mended.text().filter(|_| !cut).unwrap_or(text);
            for size in [1, 2, 3, 5, 8, 100] {
                let pieces: Vec<&str> =
                    text.as_bytes().chunks(size).map(|p| std::str::from_utf8(p).unwrap()).collect();
                assert_eq!(rewritten(&pieces, &mended).concat(), want, "{text} by {size}");
            }
        }
    }

    #[test]
    fn a_piece_that_only_repeats_is_emptied() {
        let mut edit_log = EditLog::default();
        edit_log.add(Slot::Part { skip: 3, start: 3, end: 3 });
        edit_log.certain = 3;
        assert!(!edit_log.may_leave(0));
        assert_eq!(edit_log.leave(|| "abc".into()).as_deref(), Some(""));
    }
}
