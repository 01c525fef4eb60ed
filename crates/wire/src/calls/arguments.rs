//! The argument text of one call: how its pieces are read, and its repair.
//!
//! Most servers send arguments in fragments, but some resend everything so far with each fragment, some
//! resend the whole once more at the end, and some start with a meaningless empty object. The reading
//! that fits is repaired live. The plain concatenation is kept as an alternative until two resends have
//! ruled it out, and wins if it is valid JSON by itself.

use wiremend_core::{
    Collected, Limits, MendOptions, Mended, Mender, Outcome, Repair, RepairKind, Repairs,
    TrailingDocuments, lexer::Brackets, mend,
};

use super::{
    Call, Doubt,
    trace::{EditLog, Joining, Piece, Release, Show, Trace, verbatim},
};
use crate::{json, work};

/// How many resends rule out the plain concatenation. One may be chance: `}` repeats legitimately.
const PROOFS: u8 = 2;

/// The length from which a repeated prefix is a resend, unless it starts with a bracket.
const SHORTEST_RESEND: usize = 8;

/// A text that is this many times as long as another one is not compared with it.
const MOST_SPACE: usize = 8;

/// The arguments of an open call.
#[derive(Debug)]
pub(super) struct ArgumentText {
    mending: MendOptions,
    limit: usize,
    /// How much more may be kept, as far as all open calls are concerned.
    room: usize,
    engine: Engine,
    /// The text, under the reading that is followed.
    reading: String,
    ending: Ending,
    /// The plain concatenation, if it differs and is not ruled out.
    plain: Option<String>,
    resends: u8,
    /// The reading is `{}`, which may be a placeholder, and has not been shown yet.
    placeholder: bool,
    /// A placeholder was dropped.
    dropped: bool,
    /// The text does not occur in the stream in this form, so it cannot be rewritten.
    composed: bool,
    /// The arguments from the start of the call, in case no fragment follows.
    seed: Option<String>,
    overflow: bool,
    /// The stream sent the text in two versions that differ.
    contradicted: bool,
    /// Something else than a repetition follows the first value.
    several: bool,
    /// Repair has stopped: from here on the text is shown verbatim.
    raw: bool,
    /// What was shown may not be what counts in the end.
    unsure: bool,
}

/// What consumes the text as it grows.
#[derive(Debug)]
enum Engine {
    /// Nothing: the text is free text, not JSON.
    Free,
    /// The text is repaired as it arrives, and if necessary repaired again as a whole at the end.
    Live(Box<Mender>),
    /// The text is rewritten in the pieces in which it arrived.
    Traced(Box<Trace>),
}

impl ArgumentText {
    pub(super) fn new(mending: MendOptions, limit: usize, free: bool) -> Self {
        let ending = Ending::new(mending.limits());
        Self {
            mending: mending.clone(),
            limit,
            room: usize::MAX,
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
            several: false,
            raw: false,
            unsure: false,
        }
    }

    /// The same, for a text that is rewritten. Free text never is.
    pub(super) fn traced(mut self, release: Release) -> Self {
        if let Engine::Live(_) = self.engine {
            self.engine = Engine::Traced(Box::new(Trace::new(self.mending.clone(), release)));
        }
        self
    }

    /// Reads with other options. What has arrived and was shown stays as it is, but the end is decided by them.
    pub(super) fn read_with(&mut self, mending: MendOptions) {
        let fresh = self.is_empty();
        match &mut self.engine {
            Engine::Live(mender) if fresh => **mender = Mender::new(mending.clone()),
            Engine::Free | Engine::Live(_) => {}
            Engine::Traced(trace) => trace.read_with(&mending, fresh),
        }
        self.mending = mending;
    }

    /// Whether a guide decides what the bytes leave open.
    pub(super) fn is_guided(&self) -> bool {
        self.mending.guide().is_some()
    }

    /// Whether the policy allows any repair.
    pub(super) fn may_be_repaired(&self) -> bool {
        self.mending.policy().max_risk().is_some()
    }

    /// Whether nothing has arrived yet, apart from a seed.
    pub(super) fn is_empty(&self) -> bool {
        self.reading.is_empty()
    }

    /// The text so far, without repairs.
    pub(super) fn so_far(&self) -> &str {
        &self.reading
    }

    /// Whether the text so far, including a seed, is only white space.
    pub(super) fn is_blank(&self) -> bool {
        self.reading.trim().is_empty() && self.seed.is_none()
    }

    /// Whether the text so far is complete.
    pub(super) fn is_closed(&mut self) -> bool {
        if self.placeholder {
            return true;
        }
        // The mender knows, unless it has stopped or waits to see what a quote means.
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

    /// Whether the value is complete and nothing that may follow could change how it is read.
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
                // The same reading, although the text is held.
                None => {
                    let mut mender = Mender::new(self.mending.clone());
                    mender.push(self.reading.as_bytes(), &mut ());
                    work::count(usize::try_from(mender.steps()).unwrap_or(usize::MAX));
                    ends(&mender)
                }
            },
        }
    }

    /// Whether the text is a complete value that needed no repair.
    pub(super) fn has_ended_valid(&mut self) -> bool {
        if self.reading.trim().is_empty() {
            return self.seed.as_deref().is_some_and(is_json);
        }
        let clean = match &self.engine {
            Engine::Free => return true,
            // What follows the document is only judged at the end.
            Engine::Live(mender) => {
                let rest = mender.document_end().and_then(|end| self.reading.get(end..));
                let only = rest.is_none_or(|rest| rest.trim().is_empty());
                only && mender.repair_count() == 0 && mender.outcome().is_none()
            }
            Engine::Traced(_) => is_json(&self.reading),
        };
        clean && (self.has_ended() || self.placeholder)
    }

    /// Why the text is not treated as complete, whatever it looks like.
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

    /// Whether `text` repeats the text so far, perhaps with more after it.
    pub(super) fn is_resend(&self, text: &str) -> bool {
        self.resent(text).is_some()
    }

    /// How much of `text` repeats the text so far. The first byte or two repeat by chance unless they open an
    /// object or an array: the back-ticks of a fence do.
    fn resent(&self, text: &str) -> Option<usize> {
        let telling = self.reading.len() >= SHORTEST_RESEND
            || self.reading.trim_start().starts_with(['{', '[']);
        repeated(&self.reading, text).filter(|_| telling)
    }

    /// Whether `text` is the whole value once more, written in another way.
    pub(super) fn is_again(&mut self, text: &str) -> bool {
        if self.several
            || self.placeholder
            || self.is_free()
            || !text.trim_start().starts_with(['{', '['])
            || !self.is_closed()
        {
            return false;
        }
        // Something else is compared once, and a text that is much longer not at all.
        let is_short = self.reading.len() / MOST_SPACE > text.len();
        self.several = is_short || !says_the_same(&self.reading, text);
        !self.several
    }

    /// Stores arguments that only count if no fragment follows.
    pub(super) fn seed(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        if text.len() > self.limit.min(self.room) {
            self.pass_limit(text, show);
        } else if !self.overflow {
            self.seed = Some(text.to_owned());
        }
    }

    /// Reads the next piece. `show` gets what is certain.
    pub(super) fn push(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        self.absorb(text, show);
        self.follow(show);
    }

    /// Reads the next piece of a text that the format assembles itself.
    pub(super) fn compose(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        self.composed = true;
        self.push(text, show);
    }

    /// Reads a piece that can be rewritten. Returns whether it is tracked.
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

    /// Reads a value. One that repeats the text stays as a whole, because nothing can stand in its place.
    pub(super) fn push_whole(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) -> bool {
        if !self.is_again(text) {
            return self.push_piece(text, show);
        }
        self.dropped = true;
        let Engine::Traced(trace) = &mut self.engine else { return false };
        trace.note_whole();
        self.follow(show);
        true
    }

    /// Reads the next piece. Returns whether an empty object before it was dropped.
    fn absorb(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) -> bool {
        if text.is_empty() {
            return false;
        }
        if self.overflow || self.exceeds(text) {
            self.pass_limit(text, show);
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
        let resent = self.resent(text).filter(|resent| self.counts_as_resend(text.len() - resent));
        if resent.is_none() && self.is_again(text) {
            self.resends = (self.resends + 1).min(PROOFS);
            self.plain = self.plain.take().filter(|_| self.resends < PROOFS);
            return false;
        }
        if let Some(resent) = resent {
            self.settle_placeholder(show);
            // Until it is ruled out, the plain concatenation may still be what counts.
            if !core::mem::replace(&mut self.unsure, true) {
                show(Piece::Unsure);
            }
            self.resends = (self.resends + 1).min(PROOFS);
            self.plain = (self.resends < PROOFS).then(|| {
                let mut plain = self.plain.take().unwrap_or_else(|| self.reading.clone());
                plain.push_str(text);
                plain
            });
            let tail = text.get(resent..).unwrap_or_default();
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

    /// Repairs the text that is rewritten, as far as its reading is settled.
    fn follow(&mut self, show: &mut dyn FnMut(Piece<'_>)) {
        if let Engine::Traced(trace) = &mut self.engine
            && !self.placeholder
            && self.plain.is_none()
        {
            trace.settle(&self.reading, Joining::Resent, show);
        }
    }

    /// Stops rewriting: everything is forwarded verbatim from here on.
    pub(super) fn abandon(&mut self) {
        if let Engine::Traced(trace) = &mut self.engine {
            trace.abandon();
        }
    }

    /// What comes from here on is not released before the end.
    pub(super) fn hold(&mut self) {
        if let Engine::Traced(trace) = &mut self.engine {
            trace.hold();
        }
    }

    /// Reads the whole text sent once more, and adds what the fragments left out.
    /// Returns whether the piece is tracked, like [`push_piece`](Self::push_piece).
    pub(super) fn complete(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) -> bool {
        if self.reading.is_empty() {
            return self.push_piece(text, show);
        }
        if self.placeholder && text.trim() != "{}" && text.trim_start().starts_with('{') {
            return self.push_piece(text, show);
        }
        // An empty object that was dropped before the text may be repeated with it.
        let text = after_placeholder(text)
            .filter(|rest| self.dropped || *rest == self.reading)
            .unwrap_or(text);
        let resent = match self.is_free() {
            true => text.starts_with(&self.reading).then_some(self.reading.len()),
            false => repeated(&self.reading, text),
        };
        if let Some(resent) = resent {
            self.settle_placeholder(show);
            self.grow_within_limit(text.get(resent..).unwrap_or_default(), show);
        } else if self.plain.as_deref() != Some(text) && !says_the_same(&self.reading, text) {
            self.contradicted = true;
        }
        let Engine::Traced(trace) = &mut self.engine else { return false };
        trace.note_whole();
        self.follow(show);
        true
    }

    /// Reads the whole arguments once more, as a value: they count if there are none, and otherwise must say
    /// the same. Returns whether the piece is tracked, like [`push_piece`](Self::push_piece).
    pub(super) fn repeat(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) -> bool {
        let blank = self.placeholder && text.trim_start().starts_with('{');
        if self.reading.trim().is_empty() || blank {
            return self.push_piece(text, show);
        }
        self.contradicted |= !says_the_same(&self.reading, text);
        false
    }

    /// Whether a piece that repeats the text, with `more` bytes after it, is a resend: there is more, the text was
    /// complete, or there were resends before.
    fn counts_as_resend(&mut self, more: usize) -> bool {
        more > 0 || self.resends > 0 || self.is_closed()
    }

    fn settle_placeholder(&mut self, show: &mut dyn FnMut(Piece<'_>)) {
        if core::mem::take(&mut self.placeholder)
            && let Engine::Live(mender) = &mut self.engine
        {
            mender.push(
                self.reading.as_bytes(),
                &mut Show { show, raw: &mut self.raw, unsure: &mut self.unsure },
            );
        }
    }

    fn grow(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        match &mut self.engine {
            Engine::Live(mender) => {
                mender.push(
                    text.as_bytes(),
                    &mut Show { show, raw: &mut self.raw, unsure: &mut self.unsure },
                );
            }
            Engine::Free => show(Piece::Text { bytes: text.as_bytes(), raw: true }),
            Engine::Traced(_) => {}
        }
        self.reading.push_str(text);
    }

    /// Releases arguments that were held back until it was known how the call ended.
    /// `script` is what makes them of the text, if that is more than the repairs of the call.
    pub(super) fn decide(
        &mut self,
        call: &Call,
        script: Option<&Repairs>,
        show: &mut dyn FnMut(Piece<'_>),
    ) {
        if let Engine::Traced(trace) = &mut self.engine {
            let complete = call.outcome().is_complete();
            let repaired = complete.then(|| (call.arguments(), script.unwrap_or(call.repairs())));
            // What is left of it is white space, which the call does not have.
            let text = if self.reading.is_empty() { call.raw() } else { &self.reading };
            trace.decide(text, repaired, show);
        }
    }

    /// What makes an empty object of arguments that are white space, if that can still be written.
    pub(super) fn fill(&self) -> Option<Repairs> {
        let mut script = Repairs::new();
        let text = 0..self.reading.len();
        script.push(&Repair::new(RepairKind::MissingValue, text.clone(), "{}"));
        (!text.is_empty() && self.may_be_repaired() && self.is_held()).then_some(script)
    }

    /// Whether the text has ended, and all of it is still held, in pieces that can be changed.
    pub(super) fn is_held(&self) -> bool {
        match &self.engine {
            Engine::Traced(trace) => !self.composed && trace.is_held(),
            Engine::Free | Engine::Live(_) => false,
        }
    }

    /// Holds the event that is read, which may have no piece of the text.
    pub(super) fn hold_event(&mut self) {
        if let Engine::Traced(trace) = &mut self.engine {
            let end = self.reading.len();
            trace.hold();
            trace.note(end..end, end..end, 0);
        }
    }

    /// The log of the pieces that are still tracked.
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
}

// How much of the arguments of a call is kept.

impl ArgumentText {
    /// How many bytes are kept.
    pub(super) fn kept(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.reading.len() + length(&self.plain) + length(&self.seed)
    }

    /// Sets how much more may be kept.
    pub(super) const fn set_room(&mut self, bytes: usize) {
        self.room = bytes;
    }

    /// Whether a limit allows no more of the text.
    fn exceeds(&self, text: &str) -> bool {
        let plain = self.plain.as_ref().map(String::len);
        let longest = self.reading.len().max(plain.unwrap_or_default());
        let grows = match plain {
            Some(_) => 2 * text.len(),
            // A resend begins the plain concatenation.
            None => self.reading.len() + 2 * text.len(),
        };
        longest + text.len() > self.limit
            || text.len() > self.room
            || grows > self.room && (plain.is_some() || self.is_resend(text))
    }

    /// A limit is exceeded: what was kept stays, and what is not kept is shown verbatim.
    fn pass_limit(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        if !core::mem::replace(&mut self.overflow, true) {
            self.settle_placeholder(show);
            self.plain = None;
            match &mut self.engine {
                Engine::Free => {}
                Engine::Live(mender) => {
                    mender.abandon(&mut Show {
                        show,
                        raw: &mut self.raw,
                        unsure: &mut self.unsure,
                    });
                }
                Engine::Traced(trace) => {
                    trace.abandon();
                    trace.show_rest(&self.reading, show);
                }
            }
        }
        show(Piece::Text { bytes: text.as_bytes(), raw: true });
    }

    /// Adds to the text, within the limits.
    fn grow_within_limit(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
        if text.is_empty() {
            return;
        }
        if self.overflow || self.reading.len() + text.len() > self.limit || text.len() > self.room {
            self.pass_limit(text, show);
        } else {
            self.grow(text, show);
        }
    }
}

/// The result of the arguments.
#[derive(Debug)]
pub(super) enum Closed {
    /// There were none.
    Empty,
    /// Free text, not JSON.
    Free(String),
    /// They exceeded the limit; this is their beginning.
    Overflow(String),
    /// Their text and its repair. `mended` is `None` if the text was already valid. `resent`: the
    /// stream repeated them.
    Json { raw: String, mended: Option<Mended>, resent: bool },
}

impl ArgumentText {
    /// Ends the arguments, and chooses the reading.
    pub(super) fn close(&mut self, show: &mut dyn FnMut(Piece<'_>)) -> Closed {
        if self.reading.trim().is_empty()
            && let Some(seed) = self.seed.take()
        {
            if let Engine::Traced(_) = self.engine {
                let mended = verbatim(mend(seed.as_bytes(), &self.mending));
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
                let closed = self.close_traced(&mut trace, show);
                self.engine = Engine::Traced(trace);
                closed
            }
        }
    }

    fn close_live(&mut self, mut mender: Mender, show: &mut dyn FnMut(Piece<'_>)) -> Closed {
        let outcome =
            mender.finish(&mut Show { show, raw: &mut self.raw, unsure: &mut self.unsure });
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
        // The whole text may show more than reading it incrementally did, up to the buffer limit.
        let mended = if raw.len() <= self.mending.limits().buffer() {
            mend(raw.as_bytes(), &self.mending)
        } else {
            self.mend_again(&raw)
        };
        Closed::Json { raw, mended: Some(mended), resent }
    }

    /// Repeats the repair of a text as it arrives, because its output was not kept.
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

    /// Like [`close_live`](Self::close_live). Only a text of which nothing was released can lose an empty object that
    /// arrived in pieces.
    fn close_traced(&mut self, trace: &mut Trace, show: &mut dyn FnMut(Piece<'_>)) -> Closed {
        if let Some(plain) = self.plain.take()
            && (is_json(&plain) || (!self.mends(&self.reading) && self.mends(&plain)))
        {
            let mended = trace.finish(&plain, Joining::Plain, 0, show);
            return Closed::Json { raw: plain, mended: Some(mended), resent: false };
        }
        let mut raw = core::mem::take(&mut self.reading);
        let rest = after_placeholder(&raw).filter(|_| !trace.has_left()).map(str::len);
        let dropped = rest.map_or(0, |rest| raw.len() - rest);
        raw.drain(..dropped);
        let mended = trace.finish(&raw, Joining::Resent, dropped, show);
        let mended = if self.composed { verbatim(mended) } else { mended };
        let resent = self.resends > 0 || self.dropped || dropped > 0;
        Closed::Json { raw, mended: Some(mended), resent }
    }

    fn mends(&self, text: &str) -> bool {
        work::count(text.len());
        mend(text.as_bytes(), &self.mending).outcome().is_complete()
    }
}

/// The text after a leading `{}`, if another object follows.
pub(super) fn after_placeholder(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("{}")?.trim_start();
    rest.starts_with('{').then_some(rest)
}

/// How much of `text` repeats what `before` says, if it begins with all of it, whatever the white space between
/// tokens.
pub(super) fn repeated(before: &str, text: &str) -> Option<usize> {
    /// How much more white space than text may be passed over.
    const MOST_SPACE: usize = 8;
    if text.starts_with(before) {
        return Some(before.len());
    }
    if before.len() / MOST_SPACE > text.len() {
        return None;
    }
    let (one, other) = (before.as_bytes(), text.as_bytes());
    let spaces = |bytes: &[u8], from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| json::is_space(char::from(**byte))).count()
    };
    let divides = |byte: Option<&u8>| matches!(byte, Some(b'{' | b'}' | b'[' | b']' | b',' | b':'));
    let (mut at, mut to) = (0, 0);
    let (mut quote, mut last) = (None, Some(&b'{'));
    loop {
        if quote.is_none() {
            let (here, there) = (spaces(one, at), spaces(other, to));
            let (next, same) = (one.get(at + here), other.get(to + there));
            // Between two words, white space means something.
            let free = divides(last) || divides(next) || (next.is_none() && divides(same));
            if (here == 0) != (there == 0) && !free {
                return (next.is_none() && here == 0).then_some(to);
            }
            (at, to) = (at + here, to + there);
        }
        let Some(byte) = one.get(at) else {
            work::count(at + to);
            return Some(to);
        };
        if other.get(to) != Some(byte) {
            work::count(at + to);
            return None;
        }
        let length = if quote.is_some() && *byte == b'\\' { 2 } else { 1 };
        if length == 2 && one.get(at + 1) != other.get(to + 1) {
            // An escape of which only the beginning has arrived.
            return (at + 1 == one.len()).then_some(to + 1);
        }
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'"') => quote = Some(b'"'),
            (None, b'\'') if divides(last) => quote = Some(b'\''),
            _ => {}
        }
        (at, to, last) = (at + length, to + length, Some(byte));
    }
}

/// Whether two texts are the same JSON value, however it is written.
fn says_the_same(one: &str, other: &str) -> bool {
    if one == other || json::meaning(one) == json::meaning(other) {
        return true;
    }
    mended_meaning(one).is_some_and(|one| mended_meaning(other) == Some(one))
}

/// What a text says once it is repaired as a stream of it is, if it can be.
pub(super) fn mended_meaning(text: &str) -> Option<u64> {
    work::count(text.len());
    mend(text.as_bytes(), &MendOptions::new().without_search()).text().map(json::meaning)
}

/// Whether repaired arguments are an object, an array that the model itself closed, or a literal such as
/// null that was only spelled or wrapped in another way. Anything else may be what is left of an object
/// whose start was lost: `"Oslo"}`, or an array and a brace.
pub(super) fn is_whole_value(raw: &str, mended: &Mended) -> bool {
    let text = mended.text().unwrap_or(raw).trim_start();
    let closed = raw.trim_end().ends_with([']', '`']);
    let harmless = [
        RepairKind::ByteOrderMark,
        RepairKind::CodeFence,
        RepairKind::LiteralCase,
        RepairKind::PythonLiteral,
    ];
    text.starts_with('{')
        || (text.starts_with('[') && closed)
        || mended.repairs().iter().all(|repair| harmless.contains(&repair.kind()))
}

/// Whether a code fence begins before the value and none ends after it.
fn has_open_fence(text: &str) -> bool {
    let Some(fence) = text.find("```") else { return false };
    let opens = text.find(['{', '[']).is_none_or(|value| fence < value);
    let closes = text.rfind("```") > text.rfind(['}', ']']).max(Some(fence));
    opens && !closes
}

pub(super) fn is_json(text: &str) -> bool {
    json::first(text).is_ok_and(|(_, rest)| rest.is_empty())
}

/// The maximum number of withheld bytes that are considered: twice the usual look-ahead and some
/// reserve. If more are withheld, it is not because of a quote that the end of the text would decide.
const MAX_WITHHELD: usize = 256;

/// Follows a text lazily: only if asked, because most streams identify their calls.
///
/// It reads the text like a repair with every permission, whatever the caller's policy allows. So a
/// repaired body is split into the same calls as the original: `{'a': '5"'}` and `{"a": "5\""}` end alike.
#[derive(Debug)]
struct Ending {
    limits: Limits,
    mender: Option<Box<Mender>>,
    /// How much of the text the mender has read.
    read: usize,
    /// Decides if a limit was exceeded.
    brackets: Brackets,
    balanced: usize,
}

impl Ending {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, mender: None, read: 0, brackets: Brackets::default(), balanced: 0 }
    }

    /// Whether `text` is complete. It must start with the text of the previous call.
    fn is_reached(&mut self, text: &str) -> bool {
        let limits = self.limits;
        let mender = self.mender.get_or_insert_with(|| {
            let options = MendOptions::new()
                .with_trailing_documents(TrailingDocuments::All)
                .with_limits(limits);
            Box::new(Mender::new(options))
        });
        let before = mender.steps();
        mender.push(text.as_bytes().get(self.read..).unwrap_or_default(), &mut ());
        self.read = text.len();
        work::count(usize::try_from(mender.steps() - before).unwrap_or(usize::MAX));
        if mender.outcome() == Some(Outcome::Overflow) {
            return self.is_balanced(text);
        }
        if mender.document_ended() && mender.completion().is_none() {
            return true;
        }
        // The mender may wait for more to decide what the last quote means. Here nothing follows.
        let withheld = mender.withheld();
        let tail = text.as_bytes().get(text.len() - withheld.min(text.len())..).unwrap_or_default();
        let closed = matches!(tail.trim_ascii_end().last(), Some(b'}' | b']'));
        if withheld == 0 || withheld > MAX_WITHHELD || !closed {
            return false;
        }
        work::count(withheld + mender.depth());
        mender.clone().finish(&mut ()).is_complete()
    }

    /// Whether the text has brackets and they are balanced.
    fn is_balanced(&mut self, text: &str) -> bool {
        let rest = text.as_bytes().get(self.balanced..).unwrap_or_default();
        work::count(rest.len());
        self.brackets.absorb(rest);
        self.balanced = text.len();
        self.brackets.is_closed()
    }

    /// Restarts with an empty text.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.limits);
    }
}

#[cfg(test)]
mod tests {
    use wiremend_core::Policy;

    use super::*;

    #[test]
    fn a_text_is_whole_where_mending_finds_its_end() {
        for (text, whole) in [
            (r#"{"a": "b}"}"#, true),
            (r#"{'a': 'it is 5"'}"#, true),
            (r#"{"a": "the 5" disk"}"#, true),
            (r#"Quoted "{"a": 1,}"#, true),
            (r#"{"a": 1} {"b": 2}"#, true),
            (r#"{"a": 1} {"b": 2"#, false),
            (r#"{"a": {"b": 1}"#, false),
            (r#"{"a": "}"#, false),
            ("", false),
            ("words", false),
        ] {
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let mut ending = Ending::new(Limits::new());
                ending.is_reached(&text[..cut]);
                assert_eq!(ending.is_reached(text), whole, "{text} at {cut}");
            }
        }
    }

    #[test]
    fn past_a_limit_the_brackets_decide() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        let key = format!("{{\"{}\":1}}", "k".repeat(70_000));
        for text in [deep, key] {
            let mut ending = Ending::new(Limits::new());
            assert!(!ending.is_reached(&text[..text.len() - 1]));
            assert!(ending.is_reached(&text));
            assert!(
                Ending::new(Limits::new().with_depth(1000).with_buffer(1 << 20)).is_reached(&text)
            );
        }
    }

    fn raw(pieces: &[&str]) -> (String, bool) {
        let mending = MendOptions::new().with_policy(Policy::CONSERVATIVE);
        let mut text = ArgumentText::new(mending, 1000, false);
        for piece in pieces {
            text.push(piece, &mut |_| {});
        }
        match text.close(&mut |_| {}) {
            Closed::Json { raw, resent, .. } => (raw, resent),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn fragments_are_joined() {
        assert_eq!(
            raw(&["{\"a\"", ": [", "1", "1", "]", "}"]),
            ("{\"a\": [11]}".to_owned(), false)
        );
    }

    #[test]
    fn cumulative_resends_replace() {
        let pieces = ["{\"a\"", "{\"a\": 1", "{\"a\": 1, \"b\": 2", "{\"a\": 1, \"b\": 2}"];
        assert_eq!(raw(&pieces), ("{\"a\": 1, \"b\": 2}".to_owned(), true));
        assert_eq!(raw(&pieces[2..]), ("{\"a\": 1, \"b\": 2}".to_owned(), true));
    }

    #[test]
    fn the_whole_sent_again_counts_once() {
        assert_eq!(raw(&["{\"a\":", "1}", "{\"a\":1}"]), ("{\"a\":1}".to_owned(), true));
    }

    #[test]
    fn what_only_looks_like_a_resend_is_kept() {
        assert_eq!(raw(&["[", "[1]", "]"]), ("[[1]]".to_owned(), false));
        assert_eq!(raw(&["{\"a\":", "{\"a\":", "{}", "}", "}"]).0, "{\"a\":{\"a\":{}}}");
    }

    #[test]
    fn all_of_the_text_once_more_adds_what_is_missing() {
        let mending = MendOptions::new().with_policy(Policy::CONSERVATIVE);
        for (pieces, want) in [
            (&[][..], "{\"a\":[1,1]}"),
            (&["{\"a\":["], "{\"a\":[1,1]}"),
            (&["{\"a\":[1,1]}"], "{\"a\":[1,1]}"),
            (&["{\"b\":2}"], "{\"b\":2}"),
        ] {
            let mut text = ArgumentText::new(mending.clone(), 12, false);
            for piece in pieces {
                text.push(piece, &mut |_| {});
            }
            text.complete("{\"a\":[1,1]}", &mut |_| {});
            let Closed::Json { raw, .. } = text.close(&mut |_| {}) else { panic!("{want}") };
            assert_eq!(raw, want);
        }
    }

    #[test]
    fn an_empty_object_before_the_real_one_is_dropped() {
        let real = ("{\"a\":1}".to_owned(), true);
        assert_eq!(raw(&["{}", "{\"a\"", ":1}"]), real);
        assert_eq!(raw(&["{", "}", "{\"a\":1}"]), real);
        assert_eq!(raw(&["{}\n{\"a\"", ":1}"]), real);
        assert_eq!(raw(&["{}"]), ("{}".to_owned(), false));
    }
}
