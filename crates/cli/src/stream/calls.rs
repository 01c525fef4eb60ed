//! `--emit calls`: the tool calls of a stream and, on request, the documents in its text, one JSON
//! object per line.

use wiremend_wire::{StreamOutcome, WireEvent};

use super::{View, events::ended};
use crate::{
    Session,
    out::Out,
    paint::{BAD, notice},
    visible::{Shown, shown},
};

/// The length at which error messages are clipped, in characters.
const SHOWN: usize = 200;

/// Writes each call and document to standard output when it has ended. Errors go to standard error.
pub(crate) struct Calls {
    out: Out,
    name: String,
    session: Session,
}

impl Calls {
    pub(crate) fn new(name: &str, session: Session) -> Self {
        Self { out: Out::new(), name: name.to_owned(), session }
    }

    fn trouble(&self, message: &Shown) {
        let label = self.session.stderr.paint(BAD, "error");
        notice(&shown!("{}: {}: {}", label, self.name, message));
    }
}

impl View for Calls {
    fn show(&mut self, event: &WireEvent<'_>) {
        match event {
            WireEvent::CallEnded(call) => self.out.record(&ended(call)),
            WireEvent::Error(error) => {
                self.trouble(&Shown::clipped(error.message().as_bytes(), SHOWN));
            }
            WireEvent::Oversize { limit } => {
                self.trouble(&shown!(
                    "a line or an event of more than {} bytes was dropped",
                    limit
                ));
            }
            WireEvent::Ended(StreamOutcome::Cut) => {
                self.trouble(&shown!("broke off before its end"));
            }
            _ => {}
        }
    }

    fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}
