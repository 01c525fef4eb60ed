//! Standard output for callbacks that cannot return an error.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::exit::Failure;

/// Standard output. The first error is kept for [`flush`](Self::flush), and after it nothing more is
/// written.
pub(crate) struct Out {
    out: io::BufWriter<io::StdoutLock<'static>>,
    error: Option<io::Error>,
}

impl Out {
    pub(crate) fn new() -> Self {
        Self { out: io::BufWriter::new(io::stdout().lock()), error: None }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.out.get_ref().is_terminal()
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.then(|out| out.write_all(bytes));
    }

    /// Writes a record as a line of JSON.
    pub(crate) fn record(&mut self, record: &impl Serialize) {
        self.then(|out| {
            serde_json::to_writer(&mut *out, record)?;
            writeln!(out)
        });
    }

    /// Flushes the output. An error is kept for [`flush`](Self::flush).
    pub(crate) fn hand_on(&mut self) {
        self.then(io::Write::flush);
    }

    /// Flushes the output, and returns the first error since the last call.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.hand_on();
        self.error.take().map_or(Ok(()), |error| Err(error.into()))
    }

    fn then(
        &mut self,
        write: impl FnOnce(&mut io::BufWriter<io::StdoutLock<'static>>) -> io::Result<()>,
    ) {
        if self.error.is_none() {
            self.error = write(&mut self.out).err();
        }
    }
}
