//! How far the reading is certain.

use super::{Engine, Lex, Look, Source, Stop, Text, state::Stray};

impl Engine {
    /// Stops if more is withheld than the limit allows. What counts is how far the engine has read,
    /// and not how much has arrived, so that the division into chunks does not matter.
    #[inline]
    pub(super) fn check_withheld(&self) -> Result<(), Stop> {
        self.check_withheld_at(self.pos)
    }

    /// Like [`check_withheld`](Self::check_withheld), as if the engine had read up to `pos`.
    #[inline]
    pub(super) fn check_withheld_at(&self, pos: usize) -> Result<(), Stop> {
        let withheld = pos.saturating_sub(self.committed);
        if withheld > self.max_withheld { Err(Stop::Overflow) } else { Ok(()) }
    }

    /// Commits everything that was read so far, unless too much was withheld.
    #[inline]
    pub(super) fn commit(&mut self) {
        if self.check_withheld().is_err() {
            self.ending.over = true;
            return;
        }
        self.commit_content();
    }

    /// Commits everything that was read so far, however much it is.
    #[inline]
    pub(super) fn commit_content(&mut self) {
        self.committed = self.pos;
        self.script.commit();
        self.committed_in_string = matches!(self.lex, Lex::Text(text) if !text.is_key);
        self.string.closed = None;
    }

    /// A look-ahead cursor with the usual window.
    pub(super) fn look<'a>(&mut self, source: &Source<'a>, at: usize) -> Look<'a> {
        source.look(at, self.window).in_escaped(self.document.escaped)
    }

    /// Commits content that no later byte can change.
    #[inline]
    pub(super) fn commit_text(&mut self, text: Text) {
        self.string.tail = None;
        if !text.is_key {
            self.commit_content();
        }
    }

    /// Consumes `length` bytes of content.
    #[inline]
    pub(super) fn consume_text(&mut self, rest: &[u8], length: usize, text: Text) {
        if length == 0 {
            return;
        }
        self.pos += length;
        if text.is_key {
            return;
        }
        self.string.inner.content(&rest[..length]);
        if self.string.stray == Stray::Path && rest[..length].iter().any(u8::is_ascii_whitespace) {
            self.string.stray = Stray::Seen;
        }
        // If only white space follows a comma, a lost quote may have been before it.
        let blank = rest[..length].iter().rev().take_while(|b| **b == b' ').count();
        if blank == length && self.string.tail.is_some_and(|at| self.pos - at <= self.window) {
            return;
        }
        if blank < length && rest[length - blank - 1] == b',' && blank < self.window {
            self.committed = self.pos - blank - 1;
            self.script.commit();
            self.committed_in_string = true;
            self.string.tail = Some(self.committed);
            return;
        }
        self.commit_text(text);
    }

    /// Records that the document is cut off. Stops if the policy forbids closing it.
    pub(super) fn cut_off(&mut self) -> Result<(), Stop> {
        if !self.options.policy().closes_cut() {
            return Err(Stop::Cut);
        }
        if self.ending.cut.is_none() {
            self.ending.cut = Some(self.frames.path());
        }
        Ok(())
    }
}
