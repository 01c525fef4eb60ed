//! The argument text of one call: which of its readings holds, and its mending.
//!
//! Servers send arguments in fragments, but some send everything so far again with each fragment,
//! some send the whole once more at the end, and some open with an empty object that means nothing.
//! The reading that fits is followed live; the plain concatenation is kept beside it until two
//! resends have ruled it out, and wins wherever it is valid JSON by itself.

use std::sync::Arc;

use jsonmend_core::{Collected, Guide, Mended, Mender, Options, Outcome, Output, mend};

use super::{
    Doubt,
    edit_log::{EditLog, Piece},
    ending::Ending,
    reading::{after_placeholder, has_open_fence, is_json, says_the_same},
    trace::{Reading, Release, Trace, as_it_came},
};
use crate::work;

/// How many resends rule the plain concatenation out. One may be chance: `}` repeats legitimately.
const PROOFS: u8 = 2;

/// From how many bytes on a repeated beginning is a resend, where it is no bracket.
const SHORTEST_RESEND: usize = 8;

/// The arguments of a call that is open.
#[derive(Debug)]
pub(super) struct ArgumentText {
    mending: Options,
    limit: usize,
    engine: Engine,
    /// The text, under the reading that is followed.
    reading: String,
    ending: Ending,
    /// The plain concatenation, where it differs and is not ruled out.
    plain: Option<String>,
    resends: u8,
    /// The reading is `{}`, which may be a placeholder, and was not shown yet.
    placeholder: bool,
    /// A placeholder was dropped.
    dropped: bool,
    /// The text stands nowhere in the stream as it is, so it cannot be written again.
    composed: bool,
    /// The arguments as the start of the call gave them, in case no fragment comes.
    seed: Option<String>,
    overflow: bool,
    /// The stream states the text in two ways that differ.
    contradicted: bool,
    /// Mending has stopped: what is shown is as it came.
    raw: bool,
}

/// What sees the text grow.
#[derive(Debug)]
enum Engine {
    /// Nothing: the text is free and no JSON.
    Free,
    /// The text is mended as it comes; what needs it is mended as a whole in the end.
    Live(Box<Mender>),
    /// The text is written again in the pieces it came in.
    Traced(Box<Trace>),
}

/// What became of the arguments.
#[derive(Debug)]
pub(super) enum Closed {
    /// There were none.
    Empty,
    /// Free text, no JSON.
    Free(String),
    /// They were longer than the limit; this is their beginning.
    Overflow(String),
    /// Their text, and what mending made of it, unless it was valid as it came. `resent`: the stream
    /// repeated them.
    Json { raw: String, mended: Option<Mended>, resent: bool },
}

impl ArgumentText {
    pub(super) fn new(mending: Options, limit: usize, free: bool) -> Self {
        let ending = Ending::new(mending.limits());
        Self {
            mending: mending.clone(),
            limit,
            engine: if free { Engine::Free } else { Engine::Live(Box::new(Mender::new(mending))) },
            reading: String::new(),
            ending,
            plain: None,
            resends: 0,
            placeholder: false,
            dropped: false,
            composed: false,
            seed: None,
            overflow: false,
            contradicted: false,
            raw: false,
        }
    }

    /// The same, for a text that is written again; free text is not.
    pub(super) fn traced(mut self, release: Release) -> Self {
        if let Engine::Live(_) = self.engine {
            self.engine = Engine::Traced(Box::new(Trace::new(self.mending.clone(), release)));
        }
        self
    }

    /// Lets what is known of the arguments settle what their bytes leave open; not once they come.
    pub(super) fn guide(&mut self, guide: Arc<dyn Guide>) {
        if !self.is_empty() {
            return;
        }
        self.mending = self.mending.clone().with_guide(guide);
        match &mut self.engine {
            Engine::Free => {}
            Engine::Live(mender) => **mender = Mender::new(self.mending.clone()),
            Engine::Traced(trace) => trace.guide(&self.mending),
        }
    }

    /// Whether nothing has come yet; a seed aside.
    pub(super) fn is_empty(&self) -> bool {
        self.reading.is_empty()
    }

    /// Whether the text so far is nothing but white space, a seed included.
    pub(super) fn is_blank(&self) -> bool {
        self.reading.trim().is_empty() && self.seed.is_none()
    }

    /// Whether the text so far is whole.
    pub(super) fn is_closed(&mut self) -> bool {
        if self.placeholder {
            return true;
        }
        // What mends the text knows, unless it has stopped, or waits to see what a quote means.
        if let Engine::Live(mender) = &self.engine
            && mender.outcome().is_none()
        {
            let end = mender.document_end().filter(|_| mender.completion().is_none());
            match end.and_then(|end| self.reading.as_bytes().get(end..)) {
                Some(rest) if rest.trim_ascii().is_empty() => return true,
                None if mender.withheld() == 0 => return false,
                _ => {}
            }
        }
        self.ending.is_reached(&self.reading)
    }

    /// Whether the value is complete, and nothing that may still come could change how it is read.
    pub(super) fn has_ended(&mut self) -> bool {
        let ends = |mender: &Mender| mender.document_ended() && mender.completion().is_none();
        if self.placeholder || self.plain.is_some() || self.contradicted || self.seed.is_some() {
            return false;
        }
        match &self.engine {
            Engine::Free => false,
            Engine::Live(mender) => ends(mender),
            Engine::Traced(trace) => match trace.mender() {
                Some(mender) => ends(mender),
                None => self.ending.is_reached(&self.reading),
            },
        }
    }

    /// Why the text is not taken for complete, whatever it looks like.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        let seed = self.seed.as_deref().filter(|_| !self.reading.trim().is_empty());
        if self.contradicted || seed.is_some_and(|seed| !says_the_same(seed, &self.reading)) {
            return Some(Doubt::Contradiction);
        }
        (!self.is_free() && has_open_fence(&self.reading)).then_some(Doubt::OpenFence)
    }

    const fn is_free(&self) -> bool {
        matches!(self.engine, Engine::Free)
    }

    /// Whether `text` is what has come so far, perhaps with more after it. A first byte or two of
    /// anything but an object or an array repeat by chance: the back-ticks of a fence do.
    pub(super) fn is_resend(&self, text: &str) -> bool {
        let telling = self.reading.len() >= SHORTEST_RESEND
            || self.reading.trim_start().starts_with(['{', '[']);
        telling && text.starts_with(&self.reading)
    }

    /// Remembers arguments that count only where no fragment comes.
    pub(super) fn seed(&mut self, text: &str) {
        if text.len() <= self.limit {
            self.seed = Some(text.to_owned());
        } else {
            self.overflow = true;
        }
    }

    /// Reads the next piece; `show` gets what is certain.
    pub(super) fn push(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        self.absorb(text, show);
        self.follow(show);
    }

    /// Reads the next piece of a text that the format puts together.
    pub(super) fn compose(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        self.composed = true;
        self.push(text, show);
    }

    /// Reads a piece that can be written again; returns whether it is waited for.
    pub(super) fn push_piece(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) -> bool {
        if self.overflow || !matches!(self.engine, Engine::Traced(_)) {
            self.push(text, show);
            return false;
        }
        let before = (self.reading.len(), self.plain.as_ref().map(String::len));
        let dropped = self.absorb(text, show);
        let resent_from = if dropped { 0 } else { before.0 };
        let resent = resent_from..self.reading.len();
        let plain = match &self.plain {
            Some(plain) => before.1.unwrap_or(resent_from)..plain.len(),
            None => resent.clone(),
        };
        if let Engine::Traced(trace) = &mut self.engine {
            trace.note(plain, resent, text.len());
        }
        self.follow(show);
        true
    }

    /// Reads the next piece; returns whether an empty object before it was dropped.
    fn absorb(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) -> bool {
        if self.overflow || text.is_empty() {
            return false;
        }
        let longest = self.reading.len().max(self.plain.as_ref().map_or(0, String::len));
        if longest + text.len() > self.limit {
            self.pass_limit(show);
            return false;
        }
        if let Engine::Free = self.engine {
            self.grow(text, show);
            return false;
        }
        if self.reading.is_empty()
            && let Some(rest) = after_placeholder(text)
        {
            self.dropped = true;
            self.grow(rest, show);
            return false;
        }
        if self.reading.is_empty() && text.trim() == "{}" {
            self.reading.push_str(text);
            self.placeholder = true;
            return false;
        }
        if self.is_resend(text) && self.counts_as_resend(text) {
            self.settle_placeholder(show);
            self.resends = (self.resends + 1).min(PROOFS);
            self.plain = (self.resends < PROOFS).then(|| {
                let mut plain = self.plain.take().unwrap_or_else(|| self.reading.clone());
                plain.push_str(text);
                plain
            });
            let tail = text.get(self.reading.len()..).unwrap_or_default();
            self.grow(tail, show);
            return false;
        }
        let dropped = self.placeholder && text.trim_start().starts_with('{');
        if dropped {
            self.placeholder = false;
            self.dropped = true;
            self.reading.clear();
            self.ending.reset();
            if let Engine::Traced(trace) = &mut self.engine {
                trace.drop_pending();
            }
        }
        self.settle_placeholder(show);
        if let Some(plain) = &mut self.plain {
            plain.push_str(text);
        }
        self.grow(text, show);
        dropped
    }

    /// Has the text mended that is written again, as far as its reading is settled.
    fn follow(&mut self, show: &mut dyn FnMut(Piece<'_>)) {
        if let Engine::Traced(trace) = &mut self.engine
            && !self.placeholder
            && self.plain.is_none()
        {
            trace.settle(&self.reading, Reading::Resent, show);
        }
    }

    fn pass_limit(&mut self, show: &mut dyn FnMut(Piece<'_>)) {
        self.overflow = true;
        self.give_up(show);
    }

    /// What is written again leaves as it came, from here on.
    pub(super) fn give_up(&mut self, show: &mut dyn FnMut(Piece<'_>)) {
        if let Engine::Traced(trace) = &mut self.engine {
            trace.give_up(show);
        }
    }

    /// Reads all of the text once more: what the fragments left out is added.
    /// Returns whether the piece is waited for, as [`push_piece`](Self::push_piece) does.
    pub(super) fn complete(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) -> bool {
        if self.reading.is_empty() {
            return self.push_piece(text, show);
        }
        if self.placeholder && text.trim() != "{}" && text.trim_start().starts_with('{') {
            return self.push_piece(text, show);
        }
        // An empty object that was dropped before the text may come once more with it.
        let text = after_placeholder(text).filter(|_| self.dropped).unwrap_or(text);
        if let Some(rest) = text.strip_prefix(self.reading.as_str()) {
            self.settle_placeholder(show);
            self.grow_within_limit(rest, show);
        } else if self.plain.as_deref() != Some(text) && !says_the_same(&self.reading, text) {
            self.contradicted = true;
        }
        let Engine::Traced(trace) = &mut self.engine else { return false };
        trace.note_whole();
        self.follow(show);
        true
    }

    fn grow_within_limit(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        if self.reading.len() + text.len() > self.limit {
            self.pass_limit(show);
        } else if !self.overflow && !text.is_empty() {
            self.grow(text, show);
        }
    }

    /// An equal piece is a resend where the text was complete, or where resends were seen before.
    fn counts_as_resend(&mut self, text: &str) -> bool {
        text.len() > self.reading.len() || self.resends > 0 || self.is_closed()
    }

    fn settle_placeholder(&mut self, show: &mut dyn FnMut(Piece<'_>)) {
        if core::mem::take(&mut self.placeholder)
            && let Engine::Live(mender) = &mut self.engine
        {
            mender.push(self.reading.as_bytes(), &mut Show { show, raw: &mut self.raw });
        }
    }

    fn grow(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        match &mut self.engine {
            Engine::Live(mender) => {
                mender.push(text.as_bytes(), &mut Show { show, raw: &mut self.raw });
            }
            Engine::Free => show(Piece { bytes: text.as_bytes(), raw: true }),
            Engine::Traced(_) => {}
        }
        self.reading.push_str(text);
    }

    /// Ends the arguments, and chooses the reading. `cut`: the stream broke off in them.
    pub(super) fn close(&mut self, cut: bool, show: &mut dyn FnMut(Piece<'_>)) -> Closed {
        if self.reading.trim().is_empty()
            && let Some(seed) = self.seed.take()
        {
            if let Engine::Traced(_) = self.engine {
                let mended = as_it_came(mend(seed.as_bytes(), &self.mending));
                return Closed::Json { raw: seed, mended: Some(mended), resent: false };
            }
            self.reading.clear();
            self.push(&seed, show);
        }
        if self.overflow {
            return Closed::Overflow(core::mem::take(&mut self.reading));
        }
        if self.reading.trim().is_empty() {
            return Closed::Empty;
        }
        self.settle_placeholder(show);
        self.follow(show);
        match core::mem::replace(&mut self.engine, Engine::Free) {
            Engine::Free => Closed::Free(core::mem::take(&mut self.reading)),
            Engine::Live(mender) => self.close_live(*mender, show),
            Engine::Traced(mut trace) => {
                let closed = self.close_traced(&mut trace, cut, show);
                self.engine = Engine::Traced(trace);
                closed
            }
        }
    }

    fn close_live(&mut self, mut mender: Mender, show: &mut dyn FnMut(Piece<'_>)) -> Closed {
        let outcome = mender.finish(&mut Show { show, raw: &mut self.raw });
        work::count(usize::try_from(mender.steps()).unwrap_or(usize::MAX));
        if let Some(plain) = self.plain.take()
            && (is_json(&plain) || (!outcome.is_complete() && self.mends(&plain)))
        {
            let mended = Some(mend(plain.as_bytes(), &self.mending));
            return Closed::Json { raw: plain, mended, resent: false };
        }
        let raw = core::mem::take(&mut self.reading);
        if let Some(rest) = after_placeholder(&raw) {
            let mended = Some(mend(rest.as_bytes(), &self.mending));
            return Closed::Json { raw: rest.to_owned(), mended, resent: true };
        }
        let resent = self.resends > 0 || self.dropped;
        if outcome == Outcome::Unchanged {
            return Closed::Json { raw, mended: None, resent };
        }
        // The whole text may tell more than what was read as it came, up to the limit for that.
        let mended = if raw.len() <= self.mending.limits().buffer() {
            mend(raw.as_bytes(), &self.mending)
        } else {
            self.mend_again(&raw)
        };
        Closed::Json { raw, mended: Some(mended), resent }
    }

    /// What mending a text as it comes makes of it: nothing of that was kept.
    fn mend_again(&self, text: &str) -> Mended {
        work::count(text.len());
        let mut mender = Mender::new(self.mending.clone());
        let mut out = Collected::default();
        mender.push(text.as_bytes(), &mut out);
        let path = mender.path();
        let outcome = mender.finish(&mut out);
        let (mended, repairs) = out.into_parts();
        let mended = outcome.is_valid().then(|| String::from_utf8(mended).ok()).flatten();
        let outcome =
            if mended.is_none() && outcome.is_valid() { Outcome::Invalid } else { outcome };
        let cut_at = matches!(outcome, Outcome::Closed | Outcome::Cut).then_some(path);
        Mended::new(outcome, mended, repairs, cut_at)
    }

    /// As [`close_live`](Self::close_live). What has left already counts: only a text that is kept
    /// to its end can lose an empty object that came in pieces.
    fn close_traced(
        &mut self,
        trace: &mut Trace,
        cut: bool,
        show: &mut dyn FnMut(Piece<'_>),
    ) -> Closed {
        if let Some(plain) = self.plain.take()
            && (is_json(&plain) || (!self.mends(&self.reading) && self.mends(&plain)))
        {
            let mended = trace.finish(&plain, Reading::Plain, 0, cut, show);
            return Closed::Json { raw: plain, mended: Some(mended), resent: false };
        }
        let mut raw = core::mem::take(&mut self.reading);
        let rest = after_placeholder(&raw).filter(|_| !trace.has_begun()).map(str::len);
        let dropped = rest.map_or(0, |rest| raw.len() - rest);
        raw.drain(..dropped);
        let mended = trace.finish(&raw, Reading::Resent, dropped, cut, show);
        let mended = if self.composed { as_it_came(mended) } else { mended };
        let resent = self.resends > 0 || self.dropped || dropped > 0;
        Closed::Json { raw, mended: Some(mended), resent }
    }

    /// The account of the pieces that are still waited for.
    pub(super) fn edit_log_mut(&mut self) -> Option<&mut EditLog> {
        match &mut self.engine {
            Engine::Traced(trace) => Some(trace.edit_log_mut()),
            Engine::Free | Engine::Live(_) => None,
        }
    }

    /// The same, once the text has ended.
    pub(super) fn into_edit_log(self) -> Option<EditLog> {
        match self.engine {
            Engine::Traced(trace) => Some(trace.into_edit_log()),
            Engine::Free | Engine::Live(_) => None,
        }
    }

    fn mends(&self, text: &str) -> bool {
        work::count(text.len());
        mend(text.as_bytes(), &self.mending).outcome().is_complete()
    }
}

/// Hands mended bytes on.
struct Show<'a> {
    show: &'a mut dyn FnMut(Piece<'_>),
    raw: &'a mut bool,
}

impl Output for Show<'_> {
    fn copy(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            (self.show)(Piece { bytes, raw: *self.raw });
        }
    }

    fn raw(&mut self) {
        *self.raw = true;
    }
}

#[cfg(test)]
mod tests;
