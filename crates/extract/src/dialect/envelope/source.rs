//! The source of mended text: which bytes of it were emitted, and as what.

use super::{Envelope, EnvelopePart};
use crate::dialect::{out::Ctx, sink::CallSink};

impl Envelope {
    /// Notes what is about to be pushed to the mender.
    pub(in crate::dialect) fn note(&mut self, bytes: &[u8]) {
        if self.taken > 4096 && self.taken * 2 > self.source.len() {
            self.source.drain(..self.taken);
            self.taken = 0;
        }
        self.source.extend_from_slice(bytes);
    }

    /// What was pushed and does not belong to the value.
    pub(in crate::dialect) fn rest(&mut self) -> Vec<u8> {
        let rest = self.source.split_off(self.taken.min(self.source.len()));
        self.source.clear();
        self.taken = 0;
        rest
    }

    /// What was pushed and is not emitted yet.
    pub(in crate::dialect) fn pending(&self) -> [&[u8]; 2] {
        [&self.removed, self.unread()]
    }

    /// What was pushed and not taken.
    pub(super) fn unread(&self) -> &[u8] {
        self.source.get(self.taken..).unwrap_or_default()
    }

    pub(super) fn take(&mut self, length: usize) -> Vec<u8> {
        let end = (self.taken + length).min(self.source.len());
        let bytes = self.source.get(self.taken..end).unwrap_or_default().to_vec();
        self.taken = end;
        self.pos += bytes.len();
        bytes
    }

    /// Emits source bytes where they belong.
    pub(super) fn emit_source<S: CallSink>(&self, bytes: &[u8], ctx: &mut Ctx<'_, S>) {
        if self.call.dead && ctx.drops() {
            ctx.dropped(bytes);
        } else if self.call.dead {
            ctx.text(bytes);
        } else if matches!(self.reading, EnvelopePart::Arguments(_)) {
            ctx.raw(bytes);
        } else {
            ctx.markup(bytes);
        }
    }
}
