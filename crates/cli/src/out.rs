//! Standard output. All commands write to it through [`Out`].

use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write as _};

use serde::Serialize;

use crate::{
    exit::Failure,
    fragment::Fragments,
    json,
    visible::{Shown, push_visible},
};

/// Standard output. The first error is kept for [`flush`](Self::flush), and after it nothing more is
/// written.
///
/// A document, or other text that is not of this program, is written byte for byte to a file or a
/// pipe. On a terminal, what cannot be seen in it is shown.
pub(crate) struct Out {
    out: BufWriter<StdoutLock<'static>>,
    terminal: bool,
    error: Option<io::Error>,
    /// On a terminal: the beginning of a character that is not whole yet.
    open: Fragments,
    /// On a terminal: a carriage return was the last character of the document.
    returned: bool,
}

impl Out {
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn new() -> Self {
        let out = io::stdout().lock();
        let terminal = out.is_terminal();
        let out = BufWriter::new(out);
        Self { out, terminal, error: None, open: Fragments::default(), returned: false }
    }

    pub(crate) const fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Writes a line for people.
    pub(crate) fn line(&mut self, line: &Shown) {
        self.then(|out| writeln!(out, "{}", line.as_str()));
    }

    /// Writes a piece of text that is not of this program.
    pub(crate) fn text(&mut self, bytes: &[u8]) {
        if !self.terminal {
            return self.then(|out| out.write_all(bytes));
        }
        let mut seen = String::with_capacity(bytes.len());
        for c in self.open.push(bytes).chars() {
            if matches!(c, '\n' | '\t') { seen.push(c) } else { push_visible(&mut seen, c) }
        }
        self.then(|out| out.write_all(seen.as_bytes()));
    }

    /// Writes a piece of a JSON document. On a terminal, what cannot be seen in its strings is
    /// escaped, so the value that is shown is the same.
    pub(crate) fn document(&mut self, bytes: &[u8]) {
        if !self.terminal {
            return self.then(|out| out.write_all(bytes));
        }
        let text = self.open.push(bytes);
        let mut seen = String::with_capacity(text.len());
        for c in text.chars() {
            // A carriage return would let the next line cover this one. It is white space here.
            match c {
                '\r' => seen.push('\n'),
                '\n' if self.returned => {}
                c => seen.push(c),
            }
            self.returned = c == '\r';
        }
        let seen = json::escaped(&seen);
        self.then(|out| out.write_all(seen.as_bytes()));
    }

    /// Ends a line on a terminal. Elsewhere the output is exactly the result.
    pub(crate) fn end_line(&mut self, text: &[u8]) {
        if self.terminal && !text.ends_with(b"\n") {
            self.text(b"\n");
        }
    }

    /// Writes a record as a line of JSON.
    pub(crate) fn record(&mut self, record: &impl Serialize) {
        self.then(|out| {
            json::write(out, record)?;
            writeln!(out)
        });
    }

    /// Writes a line that is JSON already.
    pub(crate) fn json_line(&mut self, json: &str) {
        self.then(|out| writeln!(out, "{}", json::escaped(json)));
    }

    /// For lines of JSON that [`json::write`] has made. Errors are the caller's.
    pub(crate) const fn lines(&mut self) -> &mut impl io::Write {
        &mut self.out
    }

    /// Flushes the output. An error is kept for [`flush`](Self::flush).
    pub(crate) fn hand_on(&mut self) {
        self.then(io::Write::flush);
    }

    /// Flushes the output, and returns the first error since the last call.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.hand_on();
        self.check()
    }

    /// Returns the first error, so that a command can stop early.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        self.error.take().map_or(Ok(()), |error| Err(error.into()))
    }

    fn then(&mut self, write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = write(&mut self.out).err();
        }
    }
}
