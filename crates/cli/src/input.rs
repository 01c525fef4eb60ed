//! Input from a file or standard input, with a progress bar for long files.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, BufRead, BufReader, Chain, Cursor, IsTerminal as _, Read},
    path::{Path, PathBuf},
};

use flate2::read::MultiGzDecoder;
use indicatif::{ProgressBar, ProgressStyle};
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

use crate::exit::Failure;

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

// Compressed inputs, unpacked as they are read: gzip and Zstandard, of any number of members.
//
// How an input begins says what it is, not its name. What a small input unpacks to has no bound, so
// nothing is unpacked that the reader has not asked for.

/// How compressed data begins, what it is called, and the command that unpacks it.
pub(crate) const PACKED: [(&[u8], &str, &str); 2] =
    [(b"\x1f\x8b", "gzip", "gzip -dc"), (b"\x28\xb5\x2f\xfd", "Zstandard", "zstd -dc")];

/// What the names of compressed files end in.
const ENDINGS: [&str; 2] = ["gz", "zst"];

/// The name without the ending of a compressed file.
pub(crate) fn unpacked_name(path: &Path) -> PathBuf {
    let packed = path.extension().is_some_and(|ending| ENDINGS.iter().any(|e| ending == *e));
    match path.file_stem().filter(|_| packed) {
        Some(stem) => path.with_file_name(stem),
        None => path.to_owned(),
    }
}

/// Whether the name is that of a file of JSON Lines, compressed or not.
pub(crate) fn is_lines_name(path: &Path) -> bool {
    let ending = |ending: &OsStr| ending == "jsonl" || ending == "ndjson";
    unpacked_name(path).extension().is_some_and(ending)
}

type Source = Box<dyn Read + Send>;

/// What the source holds, unpacked if it is compressed.
pub(crate) struct Unpacked(State);

enum State {
    /// Nothing was read yet.
    Unseen(Source),
    Open(Source),
}

impl Unpacked {
    pub(crate) fn new(source: impl Read + Send + 'static) -> Self {
        Self(State::Unseen(Box::new(source)))
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let State::Unseen(source) = &mut self.0 {
            let opened = open(std::mem::replace(source, Box::new(io::empty())))?;
            self.0 = State::Open(opened);
        }
        match &mut self.0 {
            State::Unseen(_) => Ok(0),
            State::Open(source) => source.read(buffer),
        }
    }
}

/// Looks at the first bytes. Of a text, it waits for one byte only: the first that begins nothing that is
/// compressed decides.
fn open(mut source: Source) -> io::Result<Source> {
    let mut head = Vec::new();
    let known = |head: &[u8]| PACKED.iter().position(|(magic, ..)| head.starts_with(magic));
    let may_become = |head: &[u8]| PACKED.iter().any(|(magic, ..)| magic.starts_with(head));
    while known(&head).is_none() && may_become(&head) {
        let mut byte = [0];
        match source.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => head.extend(byte),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let packing = known(&head);
    let whole = Cursor::new(head).chain(source);
    Ok(match packing {
        None => Box::new(whole),
        Some(0) => Box::new(MultiGzDecoder::new(whole)),
        Some(_) => Box::new(Frames::new(whole)),
    })
}

/// The frames of Zstandard data.
struct Frames {
    source: BufReader<Chain<Cursor<Vec<u8>>, Source>>,
    decoder: FrameDecoder,
    /// Whether a frame was begun and not ended.
    open: bool,
}

impl Frames {
    fn new(source: Chain<Cursor<Vec<u8>>, Source>) -> Self {
        Self { source: BufReader::new(source), decoder: FrameDecoder::new(), open: false }
    }

    /// Begins the next frame; false at the end of the data.
    fn next(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            let length = match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.open = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => u64::from(length),
                Err(error) => return Err(invalid(error)),
            };
            if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(false)
    }

    /// Ends a frame that was read to its end.
    fn end(&mut self) -> io::Result<()> {
        self.open = false;
        let stated = self.decoder.get_checksum_from_data();
        match stated.is_none_or(|stated| self.decoder.get_calculated_checksum() == Some(stated)) {
            true => Ok(()),
            false => Err(invalid("the checksum of a frame is wrong")),
        }
    }
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.open && !self.next()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(invalid)?;
            }
            match self.decoder.read(buffer)? {
                0 if !buffer.is_empty() => self.end()?,
                count => return Ok(count),
            }
        }
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write as _;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    /// Gives one byte at a time.
    struct Slow(Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer.get_mut(..1).unwrap_or_default())
        }
    }

    fn unpacked(data: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Unpacked::new(Slow(Cursor::new(data.clone()))).read_to_end(&mut text)?;
        let mut at_once = Vec::new();
        Unpacked::new(Cursor::new(data)).read_to_end(&mut at_once)?;
        assert_eq!(text, at_once);
        Ok(text)
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        for pack in [gzip, zstd] {
            let two = [pack(b"[1]\n"), pack(b""), pack(&b"[2]".repeat(50_000))].concat();
            assert_eq!(unpacked(two).unwrap(), [&b"[1]\n"[..], &b"[2]".repeat(50_000)].concat());
        }
        let skipped = [zstd(b"a"), b"\x50\x2a\x4d\x18\x03\0\0\0xyz".to_vec(), zstd(b"b")].concat();
        assert_eq!(unpacked(skipped).unwrap(), b"ab");
    }

    #[test]
    fn a_text_is_as_it_is() {
        for text in [&b""[..], b"(", b"(a)", b"\x1f", b"\x1fa", b"[1]", b"\x28\xb5\x2f"] {
            assert_eq!(unpacked(text.to_vec()).unwrap(), text);
        }
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_an_error() {
        let text = b"some text that is packed, and packed".repeat(20);
        for pack in [gzip, zstd] {
            let whole = pack(&text);
            for cut in [5, whole.len() / 2, whole.len() - 1] {
                assert!(unpacked(whole[..cut].to_vec()).is_err(), "{cut}");
            }
            let mut damaged = whole.clone();
            let last = damaged.len() - 3;
            damaged[last] ^= 1;
            assert!(unpacked(damaged).is_err());
            assert!(unpacked([whole, b"rest".to_vec()].concat()).is_err());
        }
    }
}
