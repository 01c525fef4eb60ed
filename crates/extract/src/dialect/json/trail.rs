//! What follows the value of a payload: white space, a fence and the closing marker.

use super::{CLOSE, JsonCall, SPACE, Step};
use crate::dialect::{markers::MarkersHere, out::Ctx, sink::CallSink};

/// Whether a marker closes a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    None,
    Due,
    /// Without it, the call is refused.
    Required,
}

impl JsonCall {
    pub(super) fn trail<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Step {
        if self.envelope.is_bare() || self.envelope.is_dead() || !ctx.out.made {
            ctx.flush_end(!self.closes());
            return Step::Done(0);
        }
        let space = rest.iter().take(SPACE).take_while(|byte| byte.is_ascii_whitespace()).count();
        let after = rest.get(space..).unwrap_or_default();
        if after.is_empty() && !eof {
            return Step::Wait;
        }
        if !self.fenced.is_empty() {
            if after.len() < self.fenced.len() && self.fenced.starts_with(after) && !eof {
                return Step::Wait;
            }
            if after.starts_with(self.fenced) {
                let length = space + std::mem::take(&mut self.fenced).len();
                ctx.markup(rest.get(..length).unwrap_or_default());
                return Step::Read(length);
            }
        }
        // One bracket too many belongs to the call: where no marker follows, only directly after it.
        if (self.closes() || space == 0) && matches!(after.first(), Some(b'}' | b']')) {
            ctx.markup(rest.get(..space + 1).unwrap_or_default());
            return Step::Read(space + 1);
        }
        match self.stops.at(after, eof) {
            MarkersHere::Partial => Step::Wait,
            MarkersHere::Here(found) => {
                // Only the closing marker is a part of the block.
                let closing = found.iter().find(|(id, _)| *id == CLOSE);
                let length = closing.map_or(0, |(_, length)| space + length);
                ctx.markup(rest.get(..length).unwrap_or_default());
                self.flush_end(closing.is_some() || !self.closes(), ctx);
                Step::Done(length)
            }
            MarkersHere::Nothing => {
                let length = if eof && self.is_half_a_marker(after) { rest.len() } else { 0 };
                ctx.markup(rest.get(..length).unwrap_or_default());
                self.flush_end(!self.closes(), ctx);
                Step::Done(length)
            }
        }
    }

    fn flush_end<S: CallSink>(&self, closed: bool, ctx: &mut Ctx<'_, S>) {
        if !closed && self.closing == Closing::Required {
            ctx.refuse_ended();
        }
        if !self.within {
            ctx.flush_end(closed);
        }
    }
}
