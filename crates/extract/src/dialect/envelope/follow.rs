//! What a mender emits, as the envelope reads it.

use wiremend_core::{Output, Repair, RepairKind};

use super::{Envelope, Mark, State};
use crate::dialect::{out::Ctx, sink::CallSink};

/// Passes the output of a mender to an [`Envelope`].
pub(in crate::dialect) struct Follow<'e, 'a, S> {
    pub(in crate::dialect) envelope: &'e mut Envelope,
    pub(in crate::dialect) ctx: &'e mut Ctx<'a, S>,
}

impl<S: CallSink> Follow<'_, '_, S> {
    /// Notes a repair, or what shows that one is doubtful.
    fn mark(&mut self, repair: Option<RepairKind>, doubtful: bool) {
        let at = self.envelope.kept.json.len();
        match (&self.envelope.state, &mut self.envelope.begun) {
            (State::Arguments(_), Some(begun)) => begun.note(repair, doubtful, self.ctx),
            (State::Kept, _) if doubtful || repair.is_some() => {
                self.envelope.kept.marks.push(Mark { at, repair, doubtful });
            }
            _ => {}
        }
    }

    /// Looks at what was emitted after a repair.
    fn note(&mut self, doubtful: bool) {
        if doubtful {
            self.mark(None, true);
        }
    }
}

impl<S: CallSink> Output for Follow<'_, '_, S> {
    fn copy(&mut self, bytes: &[u8]) {
        if self.envelope.raw {
            self.envelope.kept.read(bytes.len());
            if !matches!(self.envelope.state, State::Kept) {
                self.envelope.pass_source(self.ctx);
            }
        } else {
            let doubtful = self.envelope.repairs.read(bytes);
            self.note(doubtful);
            self.envelope.read(bytes, true, self.ctx);
        }
    }

    fn copy_plain(&mut self, bytes: &[u8]) {
        let scan = self.envelope.scan;
        let inside = self.envelope.is_named() || scan.in_string && !scan.escaped;
        if inside && !self.envelope.raw {
            self.envelope.pass(bytes, true, self.ctx);
            let doubtful = self.envelope.repairs.read_plain(bytes);
            self.note(doubtful);
        } else {
            self.copy(bytes);
        }
    }

    fn patch(&mut self, bytes: &[u8]) {
        let doubtful = self.envelope.repairs.read(bytes);
        self.note(doubtful);
        self.envelope.read(bytes, false, self.ctx);
    }

    fn repair(&mut self, repair: Repair) {
        let envelope = &mut *self.envelope;
        envelope.kept.read(repair.end().saturating_sub(envelope.kept.offset()));
        let kind = repair.kind();
        let short = envelope.repairs.stops_short(kind);
        let mut doubtful = envelope.repairs.note(kind) || short;
        let next = envelope.kept.unread().trim_ascii_start();
        let object = next.starts_with(b"{");
        let surplus = kind == RepairKind::MissingComma && !object && !next.starts_with(b"[");
        if envelope.is_between_items() && (surplus || envelope.kept.removed().contains(&b'"')) {
            // A quote in the last string of an item was taken for its end.
            self.ctx.refuse_ended();
        }
        // An object directly after the arguments may be them, too.
        doubtful |= kind == RepairKind::MissingClose && object;
        if let Some(ended) = envelope.ended.as_mut().filter(|_| short) {
            ended.short = true;
            doubtful = false;
        }
        self.mark(Some(kind), doubtful);
    }

    fn raw(&mut self) {
        self.envelope.raw = true;
    }
}
