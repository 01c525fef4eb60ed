//! Ending a stream early, because of a call or an object that nothing can fix.

use wiremend_response::Event;
use wiremend_schema::{EarlyIssue, Standing};

/// Because of what a stream was ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoppedAt {
    /// The call with this number.
    Call(usize),
    /// The object in the text with this number.
    Object(usize),
}

/// Which early issues are a reason to end a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    at_calls: bool,
    at_objects: bool,
}

impl Stop {
    pub(super) const fn new(at_calls: bool, at_objects: bool) -> Self {
        Self { at_calls, at_objects }
    }

    /// Whether an event is a reason to end the stream: because of what, and what is wrong with that.
    pub(super) fn reason(self, event: &Event) -> Option<(StoppedAt, &EarlyIssue)> {
        let (at, issue) = match event {
            Event::CallIssue { call, issue, .. } if self.at_calls => {
                (StoppedAt::Call(*call), issue)
            }
            Event::ObjectIssue { object, issue, .. } if self.at_objects => {
                (StoppedAt::Object(*object), &**issue)
            }
            _ => return None,
        };
        (issue.standing() == Standing::Lost).then_some((at, issue))
    }
}
