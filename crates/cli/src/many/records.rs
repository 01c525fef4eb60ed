//! Inputs of any length divided into records, in pieces that hold some of them.

use std::io::{self, Read};

/// The number of bytes to read at a time.
const READ: usize = 128 << 10;

/// Some records of an input.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    /// Where each record ends, with its line end.
    pub(crate) ends: Vec<usize>,
    /// The line on which it begins, from 1.
    pub(crate) line: u64,
    /// Whether it begins within a record that is too long. Without an end, it is a further part of that.
    pub(crate) inside: bool,
}

/// How the records of an input end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ends {
    /// With a line.
    Lines,
    /// With a line, if it is not within quotes.
    Rows { delimiter: u8 },
}

/// Where the reader of a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowState {
    #[default]
    CellStart,
    Plain,
    Quoted,
    /// After a quote within quotes: the end of them, or the first of two that stand for one.
    Quote,
}

impl RowState {
    pub(crate) const fn is_quoted(self) -> bool {
        matches!(self, Self::Quoted)
    }

    pub(crate) const fn step(&mut self, byte: u8, delimiter: u8) {
        *self = match (*self, byte) {
            (Self::CellStart | Self::Quote, b'"') => Self::Quoted,
            (Self::Quoted, b'"') => Self::Quote,
            (Self::Quoted, _) => Self::Quoted,
            (_, b'\n') => Self::CellStart,
            (_, byte) if byte == delimiter => Self::CellStart,
            _ => Self::Plain,
        };
    }
}

/// Divides an input into batches, each with all records that a read has completed. A record that is
/// longer than `limit` comes in parts.
pub(crate) struct Records<R> {
    input: R,
    ends: Ends,
    limit: usize,
    state: RowState,
    buffer: Vec<u8>,
    /// How much of the buffer was looked at: there is no end in it.
    seen: usize,
    line: u64,
    inside: bool,
}

impl<R: Read> Records<R> {
    pub(crate) fn new(input: R, ends: Ends, limit: usize) -> Self {
        let state = RowState::default();
        Self { input, ends, limit, state, buffer: Vec::new(), seen: 0, line: 1, inside: false }
    }

    /// The first line of a table, which says how the others are to be read. It has to end within the
    /// first bytes.
    pub(crate) fn header(&mut self) -> io::Result<Vec<u8>> {
        while !self.buffer.contains(&b'\n') && self.buffer.len() < 8 * READ && self.fill()? {}
        let end = self.buffer.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let rest = self.buffer.split_off(end.unwrap_or(self.buffer.len()));
        self.line += 1;
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    pub(crate) const fn divided_by(&mut self, delimiter: u8) {
        self.ends = Ends::Rows { delimiter };
    }

    /// Reads some more; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let held = self.buffer.len();
        self.buffer.resize(held + READ, 0);
        let read = loop {
            match self.input.read(self.buffer.get_mut(held..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(held + *read.as_ref().unwrap_or(&0));
        Ok(read? > 0)
    }

    /// The next batch; `None` at the end. After an error, what was read of a record that did not end is
    /// not handed out: it is not known to be whole.
    pub(crate) fn next(&mut self) -> io::Result<Option<Batch>> {
        loop {
            let mut ends = Vec::new();
            self.divide(&mut ends);
            if let Some(&end) = ends.last() {
                let rest = self.buffer.split_off(end);
                self.seen = rest.len();
                let bytes = std::mem::replace(&mut self.buffer, rest);
                return Ok(Some(self.batch(bytes, ends)));
            }
            if self.buffer.len() > self.limit.max(READ) {
                let bytes = std::mem::take(&mut self.buffer);
                self.seen = 0;
                let part = self.batch(bytes, Vec::new());
                self.inside = true;
                return Ok(Some(part));
            }
            if !self.fill()? {
                let bytes = std::mem::take(&mut self.buffer);
                let end = bytes.len();
                self.seen = 0;
                return Ok((end > 0).then(|| self.batch(bytes, vec![end])));
            }
        }
    }

    fn divide(&mut self, ends: &mut Vec<usize>) {
        let from = self.seen;
        let new = self.buffer.get(from..).unwrap_or_default().iter().zip(from + 1..);
        match self.ends {
            Ends::Lines => ends.extend(new.filter(|(byte, _)| **byte == b'\n').map(|(_, end)| end)),
            Ends::Rows { delimiter } => {
                for (&byte, end) in new {
                    let quoted = self.state.is_quoted();
                    self.state.step(byte, delimiter);
                    if byte == b'\n' && !quoted {
                        ends.push(end);
                    }
                }
            }
        }
        self.seen = self.buffer.len();
    }

    fn batch(&mut self, bytes: Vec<u8>, ends: Vec<usize>) -> Batch {
        let inside = std::mem::take(&mut self.inside);
        let line = self.line;
        self.line += lines(&bytes);
        Batch { bytes, ends, line, inside }
    }
}

/// How many lines end in `bytes`.
pub(crate) fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// A record without its line end, and the line end.
pub(crate) fn without_end(record: &[u8]) -> (&[u8], &[u8]) {
    let text = record.strip_suffix(b"\n").unwrap_or(record);
    let text =
        if text.len() < record.len() { text.strip_suffix(b"\r").unwrap_or(text) } else { text };
    record.split_at(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of so many bytes.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len()).min(self.0.len());
            let (now, rest) = self.0.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.0 = rest;
            Ok(count)
        }
    }

    /// The records, each with its line; a part of a long one has a mark.
    fn records(text: &[u8], ends: Ends, size: usize, limit: usize) -> Vec<(u64, String)> {
        let mut records = Records::new(Pieces(text, size), ends, limit);
        let mut found = Vec::new();
        while let Some(batch) = records.next().unwrap() {
            let mut start = 0;
            let mut line = batch.line;
            for end in batch.ends {
                let record = &batch.bytes[start..end];
                found.push((line, String::from_utf8(record.to_vec()).unwrap()));
                line += lines(record);
                start = end;
            }
        }
        found
    }

    #[test]
    fn lines_are_the_same_however_they_are_read() {
        let text = b"a\n\nbc\r\nd";
        let expected =
            [(1, "a\n"), (2, "\n"), (3, "bc\r\n"), (4, "d")].map(|(n, s)| (n, s.to_owned()));
        for size in 1..=text.len() {
            assert_eq!(records(text, Ends::Lines, size, 100), expected);
        }
        assert_eq!(records(b"", Ends::Lines, 1, 100), []);
    }

    #[test]
    fn a_row_may_have_several_lines() {
        let text = b"a,\"b\n\"\"c\"\"\n\"\nd,e\"\nf,\"g";
        let expected = [(1, "a,\"b\n\"\"c\"\"\n\"\n"), (4, "d,e\"\n"), (5, "f,\"g")]
            .map(|(n, s)| (n, s.to_owned()));
        for size in 1..=text.len() {
            assert_eq!(records(text, Ends::Rows { delimiter: b',' }, size, 100), expected);
        }
    }

    #[test]
    fn a_long_record_comes_in_parts() {
        let text = [&b"a\n"[..], &b"x".repeat(3 * READ), b"\nb\n"].concat();
        let mut records = Records::new(Pieces(&text, 1000), Ends::Lines, 10);
        let mut batches = Vec::new();
        while let Some(batch) = records.next().unwrap() {
            assert!(batch.bytes.len() <= READ + 1000);
            batches.push((batch.line, batch.inside, batch.ends.len(), batch.bytes.len()));
        }
        assert_eq!(batches.first(), Some(&(1, false, 1, 2)));
        assert_eq!(batches.iter().map(|batch| batch.3).sum::<usize>(), text.len());
        assert!(batches.iter().any(|batch| (batch.0, batch.1, batch.2) == (2, false, 0)));
        assert!(batches.iter().any(|batch| (batch.0, batch.1, batch.2) == (2, true, 0)));
        let (line, inside, ends, _) = batches[batches.len() - 1];
        assert!((line, inside, ends) == (3, false, 1) || (line, inside, ends) == (2, true, 2));
    }

    #[test]
    fn an_end_of_line_may_have_two_bytes() {
        assert_eq!(without_end(b"a\r\n"), (&b"a"[..], &b"\r\n"[..]));
        assert_eq!(without_end(b"a\r\r\n"), (&b"a\r"[..], &b"\r\n"[..]));
        assert_eq!(without_end(b"a\n"), (&b"a"[..], &b"\n"[..]));
        assert_eq!(without_end(b"a\r"), (&b"a\r"[..], &b""[..]));
    }
}
