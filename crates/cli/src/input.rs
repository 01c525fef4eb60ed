//! Input from a file or standard input, with a progress bar for long files.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read},
    path::Path,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::exit::Failure;

/// Files longer than this get a progress bar.
const LONG: u64 = 8 << 20;

/// The number of bytes to read at a time.
pub(crate) const CHUNK: usize = 64 << 10;

/// An open input.
pub(crate) struct Input {
    name: String,
    reader: Box<dyn Read + Send>,
    bar: Option<ProgressBar>,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path, quiet: bool) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            let name = "<stdin>".to_owned();
            return Ok(Self { name, reader: Box::new(io::stdin()), bar: None });
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Failure::reading(&name, error))?;
        let bar = file.metadata().ok().and_then(|meta| progress(meta.len(), quiet));
        Ok(Self { name, reader: Box::new(file), bar })
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
        let count = self.reader.read(buffer)?;
        match &self.bar {
            Some(bar) if count == 0 => bar.finish_and_clear(),
            Some(bar) => bar.inc(count as u64),
            None => {}
        }
        Ok(count)
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
    #[allow(clippy::disallowed_methods, reason = "only to see what they are")]
    let beside = io::stderr().is_terminal() && !io::stdout().is_terminal();
    if quiet || size <= LONG || !beside {
        return None;
    }
    let bar = ProgressBar::new(size);
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    Some(bar)
}
