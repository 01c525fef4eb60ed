//! Repairs a text that is rewritten piece by piece.

use core::ops::Range;

use jsonmend_core::{Mended, Mender, Options, Outcome, Repairs, apply, mend};

use super::edit_log::{EditLog, Piece, Recorder, Slot};
use crate::work;

/// When the pieces of a text are released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// As soon as they are certain.
    Early,
    /// When the text has ended and is complete.
    Complete,
}

/// What is done with the rest of a body after repair has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It is read.
    Read,
    /// It passes without being read.
    Unread,
}

/// The two ways to read the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
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

/// Where the last token of the document begins, if what is certain of a text holds a whole one: a bracket, a quote, or
/// all of a number or a word. The document may go on after it: a bracket that was dropped as doubled may be closed
/// again.
fn last_token(mender: &Mender, text: &str, edit_log: &EditLog) -> Option<usize> {
    let closed = || mender.completion().is_none().then(|| edit_log.certain());
    let document = text.get(..mender.document_end().or_else(closed)?)?.trim_end();
    let of_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '+' | '-' | '_');
    let before = document.trim_end_matches(of_word);
    if before.len() < document.len() {
        return Some(before.len());
    }
    Some(document.char_indices().next_back().map_or(0, |(at, _)| at))
}

/// A text that is being rewritten.
#[derive(Debug)]
pub(crate) struct Trace {
    options: Options,
    release: Release,
    /// `None` if the text is repaired as a whole, or has ended.
    mender: Option<Box<Mender>>,
    edit_log: EditLog,
    /// How much of the text the mender has read.
    fed: usize,
    pending: Vec<Pending>,
    /// Everything is forwarded verbatim.
    raw: bool,
    /// The outcome of the repair, until [`decide`](Self::decide) has released the text.
    undecided: Option<Outcome>,
}

impl Trace {
    pub(super) fn new(options: Options, release: Release) -> Self {
        let early = release == Release::Early;
        Self {
            options: options.clone(),
            release,
            mender: early.then(|| Box::new(Mender::new(options))),
            edit_log: EditLog::default(),
            fed: 0,
            pending: Vec::new(),
            raw: false,
            undecided: None,
        }
    }

    /// The same, for a text that must not be completed: if it is not complete, but left in part changed, it is cut
    /// off.
    pub(super) fn cutting(mut self) -> Self {
        self.edit_log = EditLog::cutting();
        self
    }

    pub(super) const fn release(&self) -> Release {
        self.release
    }

    /// Repairs with these options instead. Only before any text.
    pub(super) fn guide(&mut self, options: &Options) {
        self.options = options.clone();
        if let Some(mender) = &mut self.mender {
            **mender = Mender::new(options.clone());
        }
    }

    /// The mender of the text as it arrives, until it has ended.
    pub(super) fn mender(&self) -> Option<&Mender> {
        self.mender.as_deref()
    }

    /// Whether a part of the text may have been released.
    pub(super) const fn has_begun(&self) -> bool {
        self.fed > 0
    }

    /// How much of the text was read, and therefore shown or withheld.
    pub(super) const fn fed(&self) -> usize {
        self.fed
    }

    pub(crate) const fn edit_log_mut(&mut self) -> &mut EditLog {
        &mut self.edit_log
    }

    /// The log of a text that has ended.
    pub(super) fn into_edit_log(mut self) -> EditLog {
        if !self.pending.is_empty() {
            self.resolve(Reading::Resent, 0);
        }
        self.edit_log.end("");
        self.edit_log
    }

    /// Records a piece of `len` bytes, and the part of the text that it holds under each reading.
    pub(super) fn note(&mut self, plain: Range<usize>, resent: Range<usize>, len: usize) {
        if self.raw {
            self.edit_log.add_rest();
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
    pub(super) fn settle(&mut self, text: &str, reading: Reading, show: &mut dyn FnMut(Piece<'_>)) {
        self.resolve(reading, 0);
        if let Some(mender) = &mut self.mender {
            let more = text.get(self.fed..).unwrap_or_default();
            mender.push(more.as_bytes(), &mut Recorder::new(&mut self.edit_log, show));
            self.edit_log.hold(last_token(mender, text, &self.edit_log));
            self.fed = text.len();
            if self.edit_log.has_stopped() && self.edit_log.cuts() {
                self.edit_log.give_up();
            }
        }
    }

    /// Decides which part each piece holds. The first `dropped` bytes of the text are left out.
    fn resolve(&mut self, reading: Reading, dropped: usize) {
        for pending in self.pending.drain(..) {
            let Pending::Part { plain, resent, len } = pending else {
                self.edit_log.add(Slot::Whole);
                continue;
            };
            let part = if reading == Reading::Plain { plain } else { resent };
            let start = part.start.saturating_sub(dropped);
            let end = part.end.saturating_sub(dropped);
            self.edit_log.add(Slot::Part { skip: len.saturating_sub(end - start), start, end });
        }
    }

    /// Ends the text. `text` is all of it, after `dropped` bytes that do not count. What waits then is released
    /// by [`decide`](Self::decide).
    pub(super) fn finish(
        &mut self,
        text: &str,
        reading: Reading,
        dropped: usize,
        show: &mut dyn FnMut(Piece<'_>),
    ) -> Mended {
        let Some(mut mender) = self.mender.take() else {
            self.resolve(reading, dropped);
            let mended = self.mend_whole(text);
            self.undecided = Some(mended.outcome());
            return mended;
        };
        self.resolve(reading, 0);
        let mut out = Recorder::new(&mut self.edit_log, show);
        mender.push(text.get(self.fed..).unwrap_or_default().as_bytes(), &mut out);
        let last = last_token(&mender, text, out.edit_log);
        out.edit_log.hold(last);
        let path = mender.path();
        let outcome = mender.finish(&mut out);
        let last = last_token(&mender, text, out.edit_log).or(last);
        out.edit_log.hold(last);
        work::count(usize::try_from(mender.steps()).unwrap_or(usize::MAX));
        self.undecided = Some(outcome);
        if outcome == Outcome::Abandoned {
            return self.mend_whole(text);
        }
        let repairs = self.edit_log.repairs().clone();
        let mended = outcome.is_valid().then(|| apply(text.as_bytes(), &repairs)).flatten();
        let mended = mended.and_then(|mended| String::from_utf8(mended).ok());
        let outcome =
            if mended.is_none() && outcome.is_valid() { Outcome::Invalid } else { outcome };
        let cut_at = matches!(outcome, Outcome::Closed | Outcome::Cut).then_some(path);
        Mended::new(outcome, mended, repairs, cut_at)
    }

    /// Releases what waits of a text that has ended: as `repaired`, with the repairs that make it so, if it is
    /// complete, and otherwise verbatim, or not at all. A text that the policy closes is released as it was repaired.
    pub(super) fn decide(
        &mut self,
        text: &str,
        repaired: Option<(&str, &Repairs)>,
        show: &mut dyn FnMut(Piece<'_>),
    ) {
        let Some(outcome) = self.undecided.take() else { return };
        match (self.release, repaired) {
            (Release::Early, None) if self.edit_log.cuts() && outcome != Outcome::Closed => {
                self.edit_log.give_up();
            }
            // Nothing was released changed, so all of it can leave as it came.
            (Release::Early, None)
                if outcome != Outcome::Closed && !self.edit_log.left_changed() =>
            {
                self.edit_log.forward();
            }
            (Release::Early, None) if outcome == Outcome::Repaired => self.edit_log.forward_rest(),
            (Release::Early, _) => {}
            (Release::Complete, Some((shown, repairs))) => {
                self.edit_log.set_repairs(repairs);
                show(Piece::Text { bytes: shown.as_bytes(), raw: false });
            }
            (Release::Complete, None) => {
                self.edit_log.forward();
                show(Piece::Text { bytes: text.as_bytes(), raw: true });
            }
        }
        self.edit_log.end(text);
    }

    /// Whether the whole text is held, in pieces that can be changed.
    pub(super) fn is_held(&self) -> bool {
        self.release == Release::Complete && !self.raw && self.edit_log.has_parts()
    }

    /// Repairs a text that is forwarded repaired only if it is then complete.
    fn mend_whole(&self, text: &str) -> Mended {
        work::count(text.len());
        let mended = mend(text.as_bytes(), &self.options);
        let leaves_raw = self.raw || mended.outcome() == Outcome::Closed;
        if leaves_raw { verbatim(mended) } else { mended }
    }

    /// Stops rewriting: what is not certain yet, and everything that follows, is forwarded verbatim, or not at all.
    pub(crate) fn abandon(&mut self, rest: Rest, show: &mut dyn FnMut(Piece<'_>)) {
        match (self.release, rest) {
            (Release::Complete, _) => self.edit_log.forward(),
            (Release::Early, Rest::Read) if self.edit_log.cuts() => self.edit_log.give_up(),
            (Release::Early, _) => self.edit_log.release(),
        }
        if let Some(mender) = &mut self.mender {
            mender.abandon(&mut Recorder::new(&mut self.edit_log, show));
        }
        for _ in self.pending.drain(..) {
            self.edit_log.add_rest();
        }
        self.raw = true;
    }
}
