//! What a mender emits, as the envelope reads it.

use wiremend_core::{Output, Repair, RepairKind};

use super::{Envelope, EnvelopePart};
use crate::dialect::{out::Ctx, sink::CallSink};

/// Passes the output of a mender to an [`Envelope`].
pub(in crate::dialect) struct Follow<'e, 'a, S> {
    pub(in crate::dialect) envelope: &'e mut Envelope,
    pub(in crate::dialect) ctx: &'e mut Ctx<'a, S>,
}

impl<S> Follow<'_, '_, S> {
    /// Whether what is read is a part of a call: of its arguments, or next to them.
    fn is_in_call(&self) -> bool {
        let call = &self.envelope.call;
        matches!(self.envelope.reading, EnvelopePart::Arguments(_)) || call.begun && !call.ended
    }

    /// Looks at what was emitted after a repair.
    fn note(&mut self, bytes: &[u8]) {
        let doubtful = self.envelope.repairs.read(bytes);
        self.doubt(doubtful);
    }

    fn doubt(&mut self, doubtful: bool) {
        self.envelope.call.refused |= doubtful && self.is_in_call();
    }
}

impl<S: CallSink> Output for Follow<'_, '_, S> {
    fn copy(&mut self, bytes: &[u8]) {
        if self.envelope.raw {
            let source = self.envelope.take(bytes.len());
            self.envelope.emit_source(&source, self.ctx);
        } else {
            self.note(bytes);
            self.envelope.read(bytes, true, self.ctx);
        }
    }

    fn copy_plain(&mut self, bytes: &[u8]) {
        let envelope = &mut *self.envelope;
        let inside = envelope.in_string && !envelope.raw && !envelope.escaped;
        if inside && matches!(envelope.reading, EnvelopePart::Arguments(_) | EnvelopePart::Other(_))
        {
            envelope.pass(bytes, true, self.ctx);
            let doubtful = self.envelope.repairs.read_plain(bytes);
            self.doubt(doubtful);
        } else {
            self.copy(bytes);
        }
    }

    fn patch(&mut self, bytes: &[u8]) {
        self.note(bytes);
        self.envelope.read(bytes, false, self.ctx);
    }

    fn repair(&mut self, repair: Repair) {
        let length = repair.end().saturating_sub(self.envelope.pos);
        let removed = self.envelope.take(length);
        self.envelope.removed.extend_from_slice(&removed);
        self.envelope.call.repairs += 1;
        self.envelope.last_repair = Some(repair.kind());
        let short = self.envelope.repairs.stops_short(repair.kind());
        // `"arguments": "a": "b"}` lacks a brace, and is no string.
        let text = self.envelope.inner.as_ref().is_some_and(|inner| !inner.is_object());
        let quoted = repair.kind() == RepairKind::UnescapedQuote && text;
        let mut doubtful = self.envelope.repairs.note(repair.kind()) || short || quoted;
        // Where other quotes are not escaped, those that are belong to a string.
        doubtful |= repair.kind() == RepairKind::EscapedDocument && self.envelope.call.quoted;
        let next = self.envelope.unread().trim_ascii_start();
        let item = next.starts_with(b"{") || next.starts_with(b"[");
        let surplus = repair.kind() == RepairKind::MissingComma && !item;
        if self.envelope.is_between_items() && (surplus || self.envelope.removed.contains(&b'"')) {
            // A quote in the last string of an item was taken for its end.
            self.ctx.refuse_ended();
        }
        if repair.kind() == RepairKind::MissingClose {
            self.ctx.lacks_bracket();
            // An object directly after the arguments may be them, too.
            doubtful |= self.envelope.unread().trim_ascii_start().starts_with(b"{");
        }
        if self.envelope.ending.is_some() && short {
            self.envelope.short = true;
        } else {
            self.envelope.call.refused |= doubtful && self.is_in_call();
        }
    }

    fn raw(&mut self) {
        self.envelope.raw = true;
    }
}
