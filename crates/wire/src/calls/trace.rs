//! Mending a text that is written again piece by piece.

use core::ops::Range;

use jsonmend_core::{Mended, Mender, Options, Outcome, apply, mend};

use super::edit_log::{EditLog, Piece, Recorder, Slot};
use crate::work;

/// When the pieces of a text leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// As soon as they are certain.
    Early,
    /// When the text has ended and is complete.
    Complete,
}

/// Which of two readings of the pieces holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// They are joined.
    Plain,
    /// Some of them repeat what came before.
    Resent,
}

/// A piece of which it is open what it says.
#[derive(Clone, Debug)]
enum Pending {
    /// `len` bytes, which say one part of the text or another, as the reading has it.
    Part { plain: Range<usize>, resent: Range<usize>, len: usize },
    /// All of the text once more.
    Whole,
}

/// What is said of a text that leaves as it came: it was neither closed nor repaired.
pub(super) fn as_it_came(mended: Mended) -> Mended {
    let outcome = match mended.outcome() {
        Outcome::Closed => Outcome::Cut,
        Outcome::Repaired => Outcome::Abandoned,
        _ => return mended,
    };
    let cut_at = mended.cut_at().cloned();
    Mended::new(outcome, None, mended.repairs().to_vec(), cut_at)
}

/// A text on its way.
#[derive(Debug)]
pub(crate) struct Trace {
    options: Options,
    /// `None` where the text is mended as a whole.
    mender: Option<Box<Mender>>,
    edit_log: EditLog,
    /// How much of the text the mender has got.
    fed: usize,
    pending: Vec<Pending>,
    /// Everything leaves as it came.
    raw: bool,
}

impl Trace {
    pub(super) fn new(options: Options, release: Release) -> Self {
        let early = release == Release::Early;
        Self {
            options: options.clone(),
            mender: early.then(|| Box::new(Mender::new(options))),
            edit_log: EditLog::default(),
            fed: 0,
            pending: Vec::new(),
            raw: false,
        }
    }

    /// Mends with these options instead; before any text.
    pub(super) fn guide(&mut self, options: &Options) {
        self.options = options.clone();
        if let Some(mender) = &mut self.mender {
            **mender = Mender::new(options.clone());
        }
    }

    /// What mends the text as it comes, until it has ended.
    pub(super) fn mender(&self) -> Option<&Mender> {
        self.mender.as_deref()
    }

    /// Whether a part of the text may have left.
    pub(super) const fn has_begun(&self) -> bool {
        self.fed > 0
    }

    pub(crate) const fn edit_log_mut(&mut self) -> &mut EditLog {
        &mut self.edit_log
    }

    /// The account of a text that has ended.
    pub(super) fn into_edit_log(mut self) -> EditLog {
        if !self.pending.is_empty() {
            self.resolve(Reading::Resent, 0);
        }
        self.edit_log.end("");
        self.edit_log
    }

    /// A piece of `len` bytes came; under each reading it says that part of the text.
    pub(super) fn note(&mut self, plain: Range<usize>, resent: Range<usize>, len: usize) {
        if self.raw {
            self.edit_log.add(Slot::Raw);
        } else {
            self.pending.push(Pending::Part { plain, resent, len });
        }
    }

    /// A piece came that says all of the text once more.
    pub(super) fn note_whole(&mut self) {
        if self.raw {
            self.edit_log.add(Slot::Raw);
        } else {
            self.pending.push(Pending::Whole);
        }
    }

    /// The pieces that are open say nothing.
    pub(super) fn drop_pending(&mut self) {
        for pending in &mut self.pending {
            if let Pending::Part { plain, resent, .. } = pending {
                *plain = 0..0;
                *resent = 0..0;
            }
        }
    }

    /// A reading holds: `text` is what the pieces say so far.
    pub(super) fn settle(&mut self, text: &str, reading: Reading, show: &mut dyn FnMut(Piece<'_>)) {
        self.resolve(reading, 0);
        if let Some(mender) = &mut self.mender {
            let more = text.get(self.fed..).unwrap_or_default();
            mender.push(more.as_bytes(), &mut Recorder::new(&mut self.edit_log, show));
            self.fed = text.len();
        }
    }

    /// Fixes what the open pieces say, of a text whose first `dropped` bytes are left out.
    fn resolve(&mut self, reading: Reading, dropped: usize) {
        for pending in self.pending.drain(..) {
            let Pending::Part { plain, resent, len } = pending else {
                self.edit_log.add(Slot::Whole);
                continue;
            };
            let said = if reading == Reading::Plain { plain } else { resent };
            let start = said.start.saturating_sub(dropped);
            let end = said.end.saturating_sub(dropped);
            self.edit_log.add(Slot::Part { skip: len.saturating_sub(end - start), start, end });
        }
    }

    /// The text has ended: `text` is all of it, behind `dropped` bytes that do not count. `cut`:
    /// what needed mending may have lost its end.
    pub(super) fn finish(
        &mut self,
        text: &str,
        reading: Reading,
        dropped: usize,
        cut: bool,
        show: &mut dyn FnMut(Piece<'_>),
    ) -> Mended {
        let Some(mut mender) = self.mender.take() else {
            self.resolve(reading, dropped);
            let mended = self.mend_whole(text);
            if mended.outcome().is_complete() && !cut {
                self.edit_log.set_repairs(mended.repairs().to_vec());
            }
            let shown = mended.text_or(text.as_bytes());
            show(Piece { bytes: shown.as_bytes(), raw: mended.text().is_none() });
            self.edit_log.end(text);
            return mended;
        };
        self.resolve(reading, 0);
        let mut out = Recorder::new(&mut self.edit_log, show);
        mender.push(text.get(self.fed..).unwrap_or_default().as_bytes(), &mut out);
        let path = mender.path();
        let outcome = mender.finish(&mut out);
        work::count(usize::try_from(mender.steps()).unwrap_or(usize::MAX));
        self.edit_log.end(text);
        let repairs = self.edit_log.repairs().to_vec();
        let mended = outcome.is_valid().then(|| apply(text.as_bytes(), &repairs)).flatten();
        let mended = mended.and_then(|mended| String::from_utf8(mended).ok());
        let outcome =
            if mended.is_none() && outcome.is_valid() { Outcome::Invalid } else { outcome };
        let cut_at = matches!(outcome, Outcome::Closed | Outcome::Cut).then_some(path);
        Mended::new(outcome, mended, repairs, cut_at)
    }

    /// Mends a text that leaves mended only where it is complete then.
    fn mend_whole(&self, text: &str) -> Mended {
        work::count(text.len());
        let mended = mend(text.as_bytes(), &self.options);
        let leaves_raw = self.raw || mended.outcome() == Outcome::Closed;
        if leaves_raw { as_it_came(mended) } else { mended }
    }

    /// What comes from here on, and what is not certain yet, leaves as it came.
    pub(crate) fn give_up(&mut self, show: &mut dyn FnMut(Piece<'_>)) {
        if let Some(mender) = &mut self.mender {
            mender.abandon(&mut Recorder::new(&mut self.edit_log, show));
        }
        for _ in self.pending.drain(..) {
            self.edit_log.add(Slot::Raw);
        }
        self.edit_log.release();
        self.raw = true;
    }
}
