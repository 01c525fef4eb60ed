//! A text that is written again, in the pieces in which it arrived.

use core::ops::Range;

use wiremend_core::{MendOptions, Mended, Mender, Outcome, Repairs, mend};

use super::edit_log::{EditLog, Piece, Recorder, Slot};
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
        self.resolve(Reading::Resent);
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
    pub(super) fn settle(&mut self, text: &str, reading: Reading, show: &mut dyn FnMut(Piece<'_>)) {
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
    fn resolve(&mut self, reading: Reading) {
        for pending in core::mem::take(&mut self.pending) {
            let Pending::Part { plain, resent, len } = pending else {
                self.edit_log.add(Slot::Whole);
                continue;
            };
            let Range { start, end } = if reading == Reading::Plain { plain } else { resent };
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
        reading: Reading,
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
        self.resolve(Reading::Resent);
        self.hold();
        self.edit_log.forward();
        self.raw = true;
    }
}
