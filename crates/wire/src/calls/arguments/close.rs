//! The end of the arguments: which reading holds, and its repair as a whole.

use wiremend_core::{Collected, Mended, Mender, Outcome, mend};

use super::{ArgumentText, Engine};
use crate::{
    calls::{
        edit_log::{Piece, Show},
        reading::{after_placeholder, is_json},
        trace::{Reading, Trace, verbatim},
    },
    work,
};

/// The result of the arguments.
#[derive(Debug)]
pub(in crate::calls) enum Closed {
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
    pub(in crate::calls) fn close(&mut self, show: &mut dyn FnMut(Piece<'_>)) -> Closed {
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
            let mended = trace.finish(&plain, Reading::Plain, 0, show);
            return Closed::Json { raw: plain, mended: Some(mended), resent: false };
        }
        let mut raw = core::mem::take(&mut self.reading);
        let rest = after_placeholder(&raw).filter(|_| !trace.has_left()).map(str::len);
        let dropped = rest.map_or(0, |rest| raw.len() - rest);
        raw.drain(..dropped);
        let mended = trace.finish(&raw, Reading::Resent, dropped, show);
        let mended = if self.composed { verbatim(mended) } else { mended };
        let resent = self.resends > 0 || self.dropped || dropped > 0;
        Closed::Json { raw, mended: Some(mended), resent }
    }

    fn mends(&self, text: &str) -> bool {
        work::count(text.len());
        mend(text.as_bytes(), &self.mending).outcome().is_complete()
    }
}
