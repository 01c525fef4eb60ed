//! What a mender emits, as the envelope reads it.

use jsonmend_core::{Output, Repair};

use super::{Envelope, Reading};
use crate::dialect::{
    arguments::{is_doubtful, stops_short},
    out::Ctx,
    sink::CallSink,
};

/// Passes the output of a mender to an [`Envelope`].
pub(in crate::dialect) struct Follow<'e, 'a, S> {
    pub(in crate::dialect) envelope: &'e mut Envelope,
    pub(in crate::dialect) ctx: &'e mut Ctx<'a, S>,
}

impl<S: CallSink> Output for Follow<'_, '_, S> {
    fn copy(&mut self, bytes: &[u8]) {
        if self.envelope.raw {
            let source = self.envelope.take(bytes.len());
            self.envelope.emit_source(&source, self.ctx);
        } else {
            self.envelope.read(bytes, true, self.ctx);
        }
    }

    fn copy_plain(&mut self, bytes: &[u8]) {
        let envelope = &mut *self.envelope;
        let inside = envelope.in_string && !envelope.raw && !envelope.escaped;
        if inside && matches!(envelope.reading, Reading::Arguments(_) | Reading::Other(_)) {
            envelope.pass(bytes, true, self.ctx);
        } else {
            self.copy(bytes);
        }
    }

    fn patch(&mut self, bytes: &[u8]) {
        self.envelope.read(bytes, false, self.ctx);
    }

    fn repair(&mut self, repair: Repair) {
        let length = repair.end().saturating_sub(self.envelope.pos);
        let removed = self.envelope.take(length);
        self.envelope.removed.extend_from_slice(&removed);
        self.envelope.call.repairs += 1;
        self.envelope.last_repair = Some(repair.kind());
        let call = &mut self.envelope.call;
        let inside = matches!(self.envelope.reading, Reading::Arguments(_));
        call.refused |= (inside || call.begun && !call.ended) && is_doubtful(repair.kind());
        self.envelope.short |= self.envelope.ending.is_some() && stops_short(repair.kind());
    }

    fn raw(&mut self) {
        self.envelope.raw = true;
    }
}
