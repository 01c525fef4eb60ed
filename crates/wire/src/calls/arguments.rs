//! The argument text of one call: which of its readings holds, and its mending.
//!
//! Servers send arguments in fragments, but some send everything so far again with each fragment,
//! some send the whole once more at the end, and some open with an empty object that means nothing.
//! The reading that fits is followed live; the plain concatenation is kept beside it until two
//! resends have ruled it out, and wins wherever it is valid JSON by itself.

use jsonmend_core::{Held, Mended, Options, Output, mend};

use crate::json::{self, Balance};

/// How many resends rule the plain concatenation out. One may be chance: `}` repeats legitimately.
const PROOFS: u8 = 2;

/// The arguments of a call that is open.
#[derive(Debug)]
pub(super) struct ArgumentText {
    mending: Options,
    limit: usize,
    /// Sees the text grow; `None` where the text is free and no JSON.
    held: Option<Box<Held>>,
    /// The text, under the reading that is followed.
    reading: String,
    balance: Balance,
    /// The plain concatenation, where it differs and is not ruled out.
    plain: Option<String>,
    resends: u8,
    /// The reading is `{}`, which may be a placeholder, and was not shown yet.
    placeholder: bool,
    /// The arguments as the start of the call gave them, in case no fragment comes.
    seed: Option<String>,
    overflow: bool,
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
    /// Their text, and what mending made of it. `resent`: the stream repeated them.
    Json { raw: String, mended: Mended, resent: bool },
}

impl ArgumentText {
    pub(super) fn new(mending: Options, limit: usize, free: bool) -> Self {
        Self {
            mending,
            limit,
            held: (!free).then(|| Box::new(Held::new(mending))),
            reading: String::new(),
            balance: Balance::default(),
            plain: None,
            resends: 0,
            placeholder: false,
            seed: None,
            overflow: false,
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

    /// Whether the brackets of the text so far are balanced.
    pub(super) const fn is_closed(&self) -> bool {
        self.balance.is_closed()
    }

    /// Whether `text` is what has come so far, perhaps with more behind it.
    pub(super) fn is_resend(&self, text: &str) -> bool {
        !self.reading.is_empty() && text.starts_with(&self.reading)
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
    pub(super) fn push(&mut self, text: &str, show: &mut dyn FnMut(&[u8])) {
        if self.overflow || text.is_empty() {
            return;
        }
        let longest = self.reading.len().max(self.plain.as_ref().map_or(0, String::len));
        if longest + text.len() > self.limit {
            self.overflow = true;
            return;
        }
        if self.held.is_none() {
            self.grow(text, show);
            return;
        }
        if self.reading.is_empty() && text.trim() == "{}" {
            self.reading.push_str(text);
            self.balance.absorb(text.as_bytes());
            self.placeholder = true;
            return;
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
            return;
        }
        if self.placeholder && text.trim_start().starts_with('{') {
            self.placeholder = false;
            self.reading.clear();
            self.balance = Balance::default();
        }
        self.settle_placeholder(show);
        if let Some(plain) = &mut self.plain {
            plain.push_str(text);
        }
        self.grow(text, show);
    }

    /// Reads all of the text once more: what the fragments left out is added.
    pub(super) fn complete(&mut self, text: &str, show: &mut dyn FnMut(&[u8])) {
        if self.reading.is_empty() {
            self.push(text, show);
        } else if let Some(rest) = text.strip_prefix(self.reading.as_str()) {
            self.settle_placeholder(show);
            self.grow_within_limit(rest, show);
        }
    }

    fn grow_within_limit(&mut self, text: &str, show: &mut dyn FnMut(&[u8])) {
        if self.reading.len() + text.len() > self.limit {
            self.overflow = true;
        } else if !self.overflow && !text.is_empty() {
            self.grow(text, show);
        }
    }

    /// An equal piece is a resend where the text was complete, or where resends were seen before.
    fn counts_as_resend(&self, text: &str) -> bool {
        text.len() > self.reading.len() || self.is_closed() || self.resends > 0
    }

    fn settle_placeholder(&mut self, show: &mut dyn FnMut(&[u8])) {
        if core::mem::take(&mut self.placeholder)
            && let Some(held) = &mut self.held
        {
            held.push(self.reading.as_bytes(), &mut Show(show));
        }
    }

    fn grow(&mut self, text: &str, show: &mut dyn FnMut(&[u8])) {
        match &mut self.held {
            Some(held) => held.push(text.as_bytes(), &mut Show(show)),
            None => show(text.as_bytes()),
        }
        self.balance.absorb(text.as_bytes());
        self.reading.push_str(text);
    }

    /// Ends the arguments, and chooses the reading.
    pub(super) fn close(mut self, show: &mut dyn FnMut(&[u8])) -> Closed {
        if self.reading.trim().is_empty()
            && let Some(seed) = self.seed.take()
        {
            self.reading.clear();
            self.push(&seed, show);
        }
        if self.overflow {
            return Closed::Overflow(self.reading);
        }
        if self.reading.trim().is_empty() {
            return Closed::Empty;
        }
        self.settle_placeholder(show);
        let Some(mut held) = self.held.take() else { return Closed::Free(self.reading) };
        let mended = held.finish(&mut Show(show));
        if let Some(plain) = self.plain.take()
            && (is_json(&plain) || (!mended.outcome().is_complete() && self.mends(&plain)))
        {
            let mended = mend(plain.as_bytes(), &self.mending);
            return Closed::Json { raw: plain, mended, resent: false };
        }
        if let Some(rest) = behind_placeholder(&self.reading) {
            let mended = mend(rest.as_bytes(), &self.mending);
            return Closed::Json { raw: rest.to_owned(), mended, resent: true };
        }
        Closed::Json { raw: self.reading, mended, resent: self.resends > 0 }
    }

    fn mends(&self, text: &str) -> bool {
        mend(text.as_bytes(), &self.mending).outcome().is_complete()
    }
}

/// The text behind a leading `{}`, where another object follows.
fn behind_placeholder(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("{}")?.trim_start();
    rest.starts_with('{').then_some(rest)
}

fn is_json(text: &str) -> bool {
    json::first(text).is_ok_and(|(_, rest)| rest.is_empty())
}

/// Hands mended bytes on.
struct Show<'a>(&'a mut dyn FnMut(&[u8]));

impl Output for Show<'_> {
    fn copy(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            (self.0)(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonmend_core::Policy;

    fn raw(pieces: &[&str]) -> (String, bool) {
        let mending = Options::new().with_policy(Policy::CONSERVATIVE);
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
        let mending = Options::new().with_policy(Policy::CONSERVATIVE);
        for (pieces, want) in [
            (&[][..], "{\"a\":[1,1]}"),
            (&["{\"a\":["], "{\"a\":[1,1]}"),
            (&["{\"a\":[1,1]}"], "{\"a\":[1,1]}"),
            (&["{\"b\":2}"], "{\"b\":2}"),
        ] {
            let mut text = ArgumentText::new(mending, 12, false);
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
        assert_eq!(raw(&["{}", "{\"a\"", ":1}"]).0, "{\"a\":1}");
        assert_eq!(raw(&["{", "}", "{\"a\":1}"]).0, "{\"a\":1}");
        assert_eq!(raw(&["{}"]).0, "{}");
    }
}
