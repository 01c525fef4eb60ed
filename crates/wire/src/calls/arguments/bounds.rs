//! How much of the arguments of a call is kept.

use super::{ArgumentText, Engine, Piece, Show};

impl ArgumentText {
    /// How many bytes are kept.
    pub(in crate::calls) fn kept(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.reading.len() + length(&self.plain) + length(&self.seed)
    }

    /// Sets how much more may be kept.
    pub(in crate::calls) const fn set_room(&mut self, bytes: usize) {
        self.room = bytes;
    }

    /// Whether a limit allows no more of the text.
    pub(super) fn exceeds(&self, text: &str) -> bool {
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
    pub(super) fn pass_limit(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
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
    pub(super) fn grow_within_limit(&mut self, text: &str, show: &mut dyn FnMut(Piece<'_>)) {
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
