//! Mended text into a writer.

use std::{
    fmt,
    io::{self, Write},
};

use wiremend_core::Output;

/// An [`Output`] that writes the mended text to any [`Write`].
///
/// Mending itself does not fail, so the first error of the writer is remembered: nothing more is
/// written after it, and [`finish`](Self::finish) returns it. It makes many small writes; give it a
/// [`BufWriter`](io::BufWriter) where a write is expensive.
///
/// ```
/// use wiremend::{Mender, MendOptions, repair::WriteOutput};
///
/// let mut out = WriteOutput::new(Vec::new());
/// let mut mender = Mender::new(MendOptions::new());
/// for chunk in ["{'city': 'Par", "is',}"] {
///     mender.push(chunk.as_bytes(), &mut out);
///     if out.error().is_some() {
///         break;
///     }
/// }
/// mender.finish(&mut out);
/// assert_eq!(out.finish()?, br#"{"city": "Paris"}"#);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct WriteOutput<W> {
    writer: W,
    error: Option<io::Error>,
    written: u64,
}

impl<W> WriteOutput<W> {
    /// Nothing has been written yet.
    #[must_use]
    pub const fn new(writer: W) -> Self {
        Self { writer, error: None, written: 0 }
    }

    /// The first error of the writer.
    #[must_use]
    pub const fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// How many bytes the writer has taken.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// The writer.
    #[must_use]
    pub const fn writer(&self) -> &W {
        &self.writer
    }

    /// The writer and its first error.
    #[must_use]
    pub fn into_parts(self) -> (W, Option<io::Error>) {
        (self.writer, self.error)
    }
}

impl<W: Write> WriteOutput<W> {
    /// Flushes the writer and returns it.
    ///
    /// # Errors
    /// The first error of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.writer.flush()?;
        Ok(self.writer)
    }
}

impl<W: Write> Output for WriteOutput<W> {
    fn copy(&mut self, bytes: &[u8]) {
        if self.error.is_some() {
            return;
        }
        match self.writer.write_all(bytes) {
            Ok(()) => self.written += bytes.len() as u64,
            Err(error) => self.error = Some(error),
        }
    }
}

impl<W> fmt::Debug for WriteOutput<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteOutput")
            .field("error", &self.error)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiremend_core::{MendOptions, Mender, Outcome};

    /// Takes so many bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            Ok(taken)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_first_error_is_remembered() {
        let mut out = WriteOutput::new(Full(8));
        let mut mender = Mender::new(MendOptions::new());
        for byte in b"{'a': [1, 2, 3]}" {
            mender.push(&[*byte], &mut out);
        }
        assert_eq!(mender.finish(&mut out), Outcome::Repaired);
        assert_eq!(out.error().map(io::Error::kind), Some(io::ErrorKind::StorageFull));
        assert!(out.written() <= 8);
        assert!(out.finish().is_err_and(|error| error.kind() == io::ErrorKind::StorageFull));
    }
}
