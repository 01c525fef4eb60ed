//! Ending a stream early, because of a call or an object that nothing can fix.

use jsonmend_response::Event;
use jsonmend_schema::{Finding, Standing};

/// Because of what a stream was ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoppedAt {
    /// The call with this number.
    Call(usize),
    /// The object in the text with this number.
    Object(usize),
}

/// Looks for a reason to end a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop {
    at_calls: bool,
    at_objects: bool,
    /// How much was read of what is open, in bytes of mended text.
    read: Vec<(StoppedAt, usize)>,
}

impl Stop {
    pub(super) const fn new(at_calls: bool, at_objects: bool) -> Self {
        Self { at_calls, at_objects, read: Vec::new() }
    }

    /// Looks at an event. If it is a reason to end the stream: because of what, what is wrong with that, and how much
    /// of it was read.
    pub(super) fn note<'e>(&mut self, event: &'e Event) -> Option<(StoppedAt, &'e Finding, usize)> {
        let (at, finding) = match event {
            Event::CallFragment { call, json, .. } if self.at_calls => {
                self.grow(StoppedAt::Call(*call), json.len());
                return None;
            }
            Event::ObjectFragment { object, json, .. } if self.at_objects => {
                self.grow(StoppedAt::Object(*object), json.len());
                return None;
            }
            Event::CallEnded(call) => {
                self.close(StoppedAt::Call(call.number()));
                return None;
            }
            Event::ObjectEnded(object) => {
                self.close(StoppedAt::Object(object.number()));
                return None;
            }
            Event::CallFound { call, finding, .. } if self.at_calls => {
                (StoppedAt::Call(*call), finding)
            }
            Event::ObjectFound { object, finding, .. } if self.at_objects => {
                (StoppedAt::Object(*object), &**finding)
            }
            _ => return None,
        };
        let read = self.read.iter().find(|(open, _)| *open == at).map_or(0, |(_, read)| *read);
        (finding.standing() == Standing::Lost).then_some((at, finding, read))
    }

    fn grow(&mut self, at: StoppedAt, bytes: usize) {
        match self.read.iter_mut().find(|(open, _)| *open == at) {
            Some((_, read)) => *read += bytes,
            None => self.read.push((at, bytes)),
        }
    }

    fn close(&mut self, at: StoppedAt) {
        self.read.retain(|(open, _)| *open != at);
    }
}
