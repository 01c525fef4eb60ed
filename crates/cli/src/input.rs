//! Input from a file or standard input, with a progress bar for long files.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read},
    path::Path,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{exit::Failure, packed::Unpacked};

/// Files longer than this get a progress bar.
const LONG: u64 = 8 << 20;

/// The number of bytes to read at a time.
pub(crate) const CHUNK: usize = 64 << 10;

/// An open input.
pub(crate) struct Input {
    name: String,
    reader: Box<dyn Read + Send>,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path, quiet: bool) -> Result<Self, Failure> {
        Self::metered(path, |size| size.and_then(|size| progress(size, quiet)))
    }

    /// Opens a file. The bar is chosen by its size, if it has one, and shows what was read of it.
    pub(crate) fn metered(
        path: &Path,
        bar: impl FnOnce(Option<u64>) -> Option<ProgressBar>,
    ) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            let reader = Box::new(Metered { reader: io::stdin(), bar: bar(None) });
            return Ok(Self { name: "<stdin>".to_owned(), reader });
        }
        let name = path.display().to_string();
        let reader = File::open(path).map_err(|error| Failure::reading(&name, error))?;
        let size = reader.metadata().ok().map(|meta| meta.len());
        Ok(Self { name, reader: Box::new(Metered { reader, bar: bar(size) }) })
    }

    /// The same, unpacked if it is compressed.
    pub(crate) fn unpacked(self) -> Self {
        Self { reader: Box::new(Unpacked::new(self.reader)), ..self }
    }

    /// The name, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Reads what is available, up to the length of `buffer`; nothing at the end. It blocks only if
    /// nothing has arrived, so that the data of a slow pipe is returned at once.
    pub(crate) fn chunk<'b>(&mut self, buffer: &'b mut [u8]) -> Result<&'b [u8], Failure> {
        loop {
            match self.read(buffer) {
                Ok(count) => return Ok(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::reading(&self.name, error)),
            }
        }
    }

    /// Reads everything up to the end, which must come after at most `limit` bytes.
    pub(crate) fn read_all(&mut self, limit: usize) -> Result<Vec<u8>, Failure> {
        match read_up_to(&mut *self, limit) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(Failure::TooLong { name: self.name.clone(), limit }),
            Err(error) => Err(Failure::reading(&self.name, error)),
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

/// Shows what was read.
struct Metered<R> {
    reader: R,
    bar: Option<ProgressBar>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if let Some(bar) = &self.bar {
            bar.inc(count as u64);
        }
        Ok(count)
    }
}

impl<R> Drop for Metered<R> {
    fn drop(&mut self) {
        // One that is of several inputs is longer than this one.
        if let Some(bar) = self.bar.as_ref().filter(|bar| Some(bar.position()) >= bar.length()) {
            bar.finish_and_clear();
        }
    }
}

/// Reads everything; `None` if that is more than `limit` bytes. Devices and pipes may have no end.
pub(crate) fn read_up_to(reader: impl Read, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(most).read_to_end(&mut text)?;
    Ok((text.len() <= limit).then_some(text))
}

/// A bar for `size` bytes, if standard error is a terminal that does not also show the output.
fn progress(size: u64, quiet: bool) -> Option<ProgressBar> {
    (!quiet && size > LONG && has_screen(true)).then(|| bar(size))
}

/// Whether standard error is a terminal that nothing else is written to; `printed` says whether the
/// results go to standard output.
#[allow(clippy::disallowed_methods, reason = "only to see what they are")]
pub(crate) fn has_screen(printed: bool) -> bool {
    io::stderr().is_terminal() && !(printed && io::stdout().is_terminal())
}

pub(crate) fn bar(size: u64) -> ProgressBar {
    let bar = ProgressBar::new(size);
    match ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
