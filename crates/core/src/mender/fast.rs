//! Chunks of clean text, and of a consistent dialect: they are read where they are.

use super::{
    Mender,
    emit::{Text, emit},
};
use crate::{
    Output,
    engine::{LONGEST, Within},
    scan,
};

impl Mender {
    /// Reads a chunk, or a piece of a long one.
    #[inline(never)]
    pub(super) fn push_long(&mut self, piece: &[u8], out: &mut impl Output) {
        if self.outcome.is_some() || !self.engine.on_fast_path() {
            self.read(piece, out);
        } else if let Some(rest) = self.continue_fast(piece, out) {
            self.read(rest, out);
        }
    }

    /// Emits the content at the start of a chunk, if the text so far ends in a string. Returns what is
    /// left to read, or `None` if that was all, as with most short chunks.
    #[inline(always)]
    pub(super) fn push_content<'a>(
        &mut self,
        chunk: &'a [u8],
        out: &mut impl Output,
    ) -> Option<&'a [u8]> {
        match self.within {
            Within::Clean | Within::Other => Some(chunk),
            Within::Content if chunk.len() > LONGEST => self.push_long_content(chunk, out),
            Within::Content if scan::is_plain_text(chunk) => self.emit_content(chunk, out),
            Within::Token if chunk.len() > LONGEST => Some(chunk),
            Within::Content | Within::Token => self.push_odd(chunk, out),
        }
    }

    /// Emits a short piece of content with characters outside ASCII or escapes. Otherwise, returns
    /// it.
    #[inline(always)]
    fn push_odd<'a>(&mut self, chunk: &'a [u8], out: &mut impl Output) -> Option<&'a [u8]> {
        let base = self.pushed;
        if !self.engine.read_odd_piece(chunk, base) {
            return Some(chunk);
        }
        self.pushed = base + chunk.len();
        let mut left = chunk;
        // Otherwise, the piece is inside of a character or an escape.
        if let Some(length) = self.engine.committed().checked_sub(base) {
            if !self.carry.is_empty() {
                out.copy(&self.carry);
                self.carry.clear();
            }
            if length > 0 {
                let (settled, after) = chunk.split_at(length);
                out.copy(settled);
                left = after;
            }
        }
        if !left.is_empty() {
            self.carry.append_end(chunk, left.len());
        }
        self.within = if self.carry.is_empty() { Within::Content } else { Within::Token };
        None
    }

    #[inline(never)]
    fn push_long_content<'a>(
        &mut self,
        chunk: &'a [u8],
        out: &mut impl Output,
    ) -> Option<&'a [u8]> {
        let (content, rest) = chunk.split_at(scan::long_plain_run(chunk));
        let left = self.emit_content(content, out);
        if left.is_some() {
            return Some(chunk);
        }
        (!rest.is_empty()).then_some(rest)
    }

    /// Emits plain text that continues a string, if its last bytes cannot be more than content.
    /// Otherwise, returns it.
    #[inline(always)]
    fn emit_content<'a>(&mut self, text: &'a [u8], out: &mut impl Output) -> Option<&'a [u8]> {
        if !self.engine.read_content(text, self.pushed) {
            return Some(text);
        }
        self.pushed += text.len();
        out.copy_plain(text);
        None
    }

    /// Where the text ends, if that is in a string and all before the last character or escape of it
    /// was emitted.
    #[inline(always)]
    pub(super) const fn ends_within(&self) -> Within {
        match self.engine.within() {
            Within::Other => Within::Other,
            Within::Content if !self.carry.is_empty() => Within::Clean,
            _ if !self.front.is_clear() || self.outcome.is_some() || self.raw.is_some() => {
                Within::Other
            }
            within => within,
        }
    }

    /// Reads a chunk that continues on the fast path.
    #[inline(always)]
    pub(super) fn push_piece(&mut self, chunk: &[u8], out: &mut impl Output) {
        let clean = self.engine.read_piece(&self.carry, chunk, self.pushed);
        if let Some(rest) = self.emit_fast(clean, chunk, out) {
            self.read(rest, out);
        }
    }

    /// Emits what is certain by the rules, which the fast path may withhold for longer.
    pub(super) fn leave_fast_path(&mut self, out: &mut impl Output) {
        if self.raw.is_none() && !self.carry.is_empty() {
            let mut carry = core::mem::take(&mut self.carry);
            let used = self.advance(&carry, false, out);
            carry.drop_front(used);
            self.carry = carry;
        }
    }

    /// Continues on the fast path. Returns the part of `rest` that must be read again after the
    /// withheld bytes, or `None` if all of it was read.
    pub(super) fn continue_fast<'a>(
        &mut self,
        rest: &'a [u8],
        out: &mut impl Output,
    ) -> Option<&'a [u8]> {
        let clean = self.engine.read_fast(&self.carry, rest, self.pushed);
        self.emit_fast(clean, rest, out)
    }

    /// Emits what the fast path has committed. If the input was `clean`, it has read all of `rest`.
    #[inline(always)]
    fn emit_fast<'a>(
        &mut self,
        clean: bool,
        rest: &'a [u8],
        out: &mut impl Output,
    ) -> Option<&'a [u8]> {
        let base = self.pushed;
        let committed = self.engine.committed();
        if !self.engine.is_plain() {
            let text = Text { carry: &self.carry, rest, base };
            emit(&mut self.engine, text, out, &mut self.repairs);
            let left = self.keep_uncommitted(rest, committed);
            return self.end_fast(clean, rest, left);
        }
        self.engine.emit_plain();
        let mut left = rest;
        if committed >= base {
            if !self.carry.is_empty() {
                out.copy(&self.carry);
                self.carry.clear();
            }
            if committed > base {
                let (settled, after) = rest.split_at(committed - base);
                out.copy(settled);
                left = after;
            }
        } else {
            let settled = committed.saturating_sub(base - self.carry.len());
            if settled > 0 {
                out.copy(&self.carry[..settled]);
                self.carry.drop_front(settled);
            }
        }
        self.end_fast(clean, rest, left)
    }

    /// Drops what was committed from the withheld bytes, and returns the part of `rest` that was not.
    fn keep_uncommitted<'a>(&mut self, rest: &'a [u8], committed: usize) -> &'a [u8] {
        let settled = committed.saturating_sub(self.pushed - self.carry.len());
        match settled.checked_sub(self.carry.len()) {
            Some(of_rest) => {
                self.carry.clear();
                rest.get(of_rest..).unwrap_or_default()
            }
            None => {
                self.carry.drop_front(settled);
                rest
            }
        }
    }

    /// Keeps `left`, the end of `rest` that is not committed, or returns it to be read again.
    #[inline(always)]
    fn end_fast<'a>(&mut self, clean: bool, rest: &'a [u8], left: &'a [u8]) -> Option<&'a [u8]> {
        let base = self.pushed;
        if !clean {
            self.pushed = base + rest.len() - left.len();
            return Some(left);
        }
        self.pushed = base + rest.len();
        if !left.is_empty() {
            self.carry.append_end(rest, left.len());
        }
        None
    }
}
