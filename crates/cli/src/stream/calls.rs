//! The tool calls of a stream and nothing else: one JSON object a line.

use std::io::{self, Write as _};

use jsonmend_core::Outcome;
use jsonmend_wire::{Call, StreamOutcome, WireEvent};

use super::{
    Object, View,
    events::{ended, line},
};
use crate::{
    Session,
    exit::Failure,
    fit::CallFit,
    paint::{BAD, notice},
    visible::visible,
};

/// How much of an error is shown, in characters.
const SHOWN: usize = 200;

/// Writes each call to standard output once it has ended; errors go to standard error.
pub(crate) struct Calls {
    out: io::BufWriter<io::StdoutLock<'static>>,
    error: Option<io::Error>,
    name: String,
    session: Session,
}

impl Calls {
    pub(crate) fn new(name: &str, session: Session) -> Self {
        let out = io::BufWriter::new(io::stdout().lock());
        Self { out, error: None, name: name.to_owned(), session }
    }

    fn trouble(&self, message: &str) {
        let label = self.session.stderr.paint(BAD, "error");
        notice(format_args!("{label}: {}: {message}", self.name));
    }
}

impl View for Calls {
    fn show(&mut self, event: &WireEvent<'_>) {
        match event {
            WireEvent::CallEnded(call) if self.error.is_none() => {
                self.error = writeln!(self.out, "{}", ended(call)).err();
            }
            WireEvent::Error(error) => self.trouble(&visible(error.message.as_bytes(), SHOWN)),
            WireEvent::Oversize { limit } => {
                self.trouble(&format!("a line or an event of more than {limit} bytes was dropped"));
            }
            WireEvent::Ended(StreamOutcome::Cut) => self.trouble("broke off before its end"),
            _ => {}
        }
    }

    /// The text is not shown, and so are the documents in it.
    fn object(&mut self, _: &Object, _: Outcome) {}

    fn fitted(&mut self, _: &Call, fit: &CallFit) {
        if self.error.is_none() {
            self.error = line(&mut self.out, &fit.record()).err();
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        match self.error.take() {
            Some(error) => Err(error.into()),
            None => Ok(self.out.flush()?),
        }
    }
}
