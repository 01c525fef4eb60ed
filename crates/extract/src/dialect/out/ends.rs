//! The ends of calls.

use super::Ctx;
use crate::dialect::sink::{CallEnd, CallOutcome, CallSink};

impl<S: CallSink> Ctx<'_, S> {
    /// Ends the open call. The event waits until it is known whether the closing marker follows.
    pub(in crate::dialect) fn end(&mut self, outcome: CallOutcome, repairs: usize, at_end: bool) {
        if !self.out.open {
            return;
        }
        self.out.open = false;
        let span = self.out.start..self.out.at;
        let outcome = match outcome {
            CallOutcome::Whole if self.out.short => CallOutcome::Cut,
            CallOutcome::Whole if self.out.refused => CallOutcome::Refused,
            CallOutcome::Whole if repairs > 0 => CallOutcome::Repaired,
            other => other,
        };
        if self.out.compared {
            let (name, waits) = (&self.out.name, self.out.waiting.is_some());
            let index = self.out.calls - usize::from(!waits);
            let repeated = self.out.stated.end(name, self.out.bare, index, outcome.can_run());
            match (repeated, &mut self.out.waiting) {
                (Some(index), Some(waiting)) => waiting.repeats(index),
                _ => self.release(),
            }
        }
        self.out.next = self.out.at;
        self.out.ran = outcome.can_run();
        self.out.ended = Some(CallEnd { outcome, span, repairs, unclosed: false, at_end });
    }

    /// The call that has just ended may not be run.
    pub(in crate::dialect) fn refuse_ended(&mut self) {
        if let Some(end) = &mut self.out.ended
            && end.outcome.can_run()
        {
            end.outcome = CallOutcome::Refused;
            self.out.ran = false;
            self.out.stated.withdraw();
        }
    }

    /// Emits the end of the last call.
    pub(in crate::dialect) fn flush_end(&mut self, closed: bool) {
        self.flush_end_at(closed, self.out.at);
    }

    pub(in crate::dialect) fn flush_end_at(&mut self, closed: bool, at: usize) {
        if let Some(mut end) = self.out.ended.take() {
            end.unclosed = !closed;
            end.span.end = end.span.end.max(at);
            self.out.to(self.sink).end(&end);
            self.flush_content();
        }
    }
}
