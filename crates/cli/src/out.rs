//! Standard output. All commands write to it through [`Out`].
//!
//! What cannot be seen in the strings of the JSON that this program writes is written as `\u` escapes. The value is the
//! same, and a line of it can be shown on any terminal.

use std::{
    borrow::Cow,
    fmt::Write as _,
    fs::Metadata,
    io::{self, BufWriter, IsTerminal as _, StdoutLock, Write},
};

use serde::Serialize;
use serde_json::{Serializer, ser::Formatter};

use crate::{
    exit::Failure,
    visible::{Shown, is_invisible, push_visible},
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
        let seen = escaped_json(&seen);
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
            write_json(out, record)?;
            writeln!(out)
        });
    }

    /// Writes a line that is JSON already.
    pub(crate) fn json_line(&mut self, json: &str) {
        self.then(|out| writeln!(out, "{}", escaped_json(json)));
    }

    /// For lines of JSON that [`write_json`] has made. Errors are the caller's.
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

/// What standard output is, if that can be known.
#[cfg(unix)]
#[allow(clippy::disallowed_methods, reason = "only to see what it is")]
pub(crate) fn metadata() -> Option<Metadata> {
    use std::{fs::File, os::fd::AsFd as _};
    let descriptor = io::stdout().as_fd().try_clone_to_owned().ok()?;
    File::from(descriptor).metadata().ok()
}

#[cfg(not(unix))]
pub(crate) fn metadata() -> Option<Metadata> {
    None
}

/// Writes a value, without a line end.
pub(crate) fn write_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Visible)).map_err(io::Error::from)
}

/// JSON text in which what cannot be seen is escaped. White space remains.
///
/// It occurs in strings only, so the value is the same.
fn escaped_json(json: &str) -> Cow<'_, str> {
    let plain = |c: char| !is_invisible(c) || matches!(c, '\t' | '\n' | '\r');
    if json.chars().all(plain) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if plain(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(out)
}

/// Compact JSON with escapes.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        out.write_all(escaped_json(fragment).as_bytes())
    }

    /// Values that are passed on as they came: the `id` of a request, and citations.
    fn write_raw_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        out.write_all(escaped_json(fragment).as_bytes())
    }
}

/// Turns bytes into strings, and holds back an incomplete character.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fragments {
    /// The first bytes of a character: at most three.
    open: Vec<u8>,
}

impl Fragments {
    /// The text that `bytes` complete. Invalid UTF-8 becomes U+FFFD.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let mut joined = std::mem::take(&mut self.open);
        joined.extend_from_slice(bytes);
        let mut text = String::with_capacity(joined.len());
        let mut chunks = joined.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            // Only at the end can the rest of the character still arrive.
            if chunks.peek().is_none() && may_continue(invalid) {
                self.open = invalid.to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// U+FFFD if the input ended inside a character.
    pub(crate) fn finish(&mut self) -> String {
        if std::mem::take(&mut self.open).is_empty() {
            String::new()
        } else {
            char::REPLACEMENT_CHARACTER.to_string()
        }
    }
}

/// Whether `bytes` are the beginning of a character.
fn may_continue(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::RawValue};

    use super::*;

    #[test]
    fn the_value_is_the_same_and_everything_can_be_seen() {
        let text = "a\"\\\n\x1b\x7f\u{9b}\u{202e}\u{2028}\u{200b}\u{e0041}é漢";
        let value = json!({ text: [text, 1.5, null] });
        let mut line = Vec::new();
        write_json(&mut line, &value).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert!(!line.chars().any(is_invisible), "{line}");
        assert!(
            line.contains("\\u202e") && line.contains("\\udb40\\udc41") && line.contains("é漢")
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
    }

    #[test]
    fn raw_values_are_escaped_too() {
        let raw = RawValue::from_string("[1.10, \"\u{202e}\"]".to_owned()).unwrap();
        let mut line = Vec::new();
        write_json(&mut line, &raw).unwrap();
        assert_eq!(line, b"[1.10, \"\\u202e\"]");
        assert!(matches!(escaped_json("[1,\r\n\t\"é\"]"), Cow::Borrowed(_)));
    }

    fn whole(pieces: &[&[u8]]) -> String {
        let mut fragments = Fragments::default();
        let mut text: String = pieces.iter().map(|piece| fragments.push(piece)).collect();
        text.push_str(&fragments.finish());
        text
    }

    #[test]
    fn every_cut_gives_the_same_text() {
        for bytes in ["aé漢𝄞z".as_bytes(), b"a\xff\xe6\xbcz\xf0\x9d\x84", b"\xed\xa0\xbd\xe6"]
        {
            let expected = String::from_utf8_lossy(bytes);
            for cut in 0..=bytes.len() {
                assert_eq!(whole(&[&bytes[..cut], &bytes[cut..]]), expected, "cut {cut}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(whole(&single), expected);
        }
    }

    #[test]
    fn whole_characters_are_not_kept_back() {
        let mut fragments = Fragments::default();
        assert_eq!(fragments.push("aé".as_bytes()), "aé");
        assert_eq!(fragments.push(b"\xc3"), "");
        assert_eq!(fragments.push(b"\xa9"), "é");
    }
}
