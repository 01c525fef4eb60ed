//! JSON values in sequence (NDJSON, or simply concatenated), or as the items of one array, decoded while
//! they arrive. Nothing outside of the values needs to be JSON.
//!
//! ```
//! use wiremend_wire::values::{ValueDecoder, ValueEvent};
//!
//! let mut decoder = ValueDecoder::array();
//! let mut seen = Vec::new();
//! for chunk in ["[{\"n\": 1}", ", {\"n\"", ": 2}]"] {
//!     decoder.push(chunk.as_bytes(), |event| {
//!         if let ValueEvent::Value { text, .. } = event {
//!             seen.push(text.into_owned());
//!         }
//!     });
//! }
//! assert_eq!(seen, ["{\"n\": 1}", "{\"n\": 2}"]);
//! ```

use std::borrow::Cow;

use wiremend_core::lexer::Brackets;

use crate::{json, work};

/// An event of the decoder, borrowed from the chunk if it lies in one chunk.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ValueEvent<'a> {
    /// A value exceeded the limit and was dropped. Decoding continues with the next one.
    #[non_exhaustive]
    Oversize {
        /// The limit, in bytes.
        limit: usize,
    },
    /// Text between the values, up to the end of its line or to the next value.
    Stray(Cow<'a, str>),
    /// An object, or in a sequence also an array, from its opening to its closing bracket. The content is
    /// not checked.
    #[non_exhaustive]
    Value {
        /// The value. Bytes that are not UTF-8 become U+FFFD.
        text: Cow<'a, str>,
        /// Whether it was closed. `false` if the end of the input flushed it.
        whole: bool,
    },
}

/// Splits a body into its JSON values, by counting brackets outside of strings.
///
/// Call [`push`](Self::push) any number of times, then [`finish`](Self::finish) once. The way the input
/// is split into chunks does not change the result. Every byte is looked at once. Only a value that
/// spans several chunks is copied. Memory: one value, within the limit.
#[derive(Clone, Debug)]
pub struct ValueDecoder {
    /// The values are items of an array, separated by commas and enclosed in brackets.
    array: bool,
    limit: usize,
    brackets: Brackets,
    /// The part of the open value that earlier chunks held.
    open: Vec<u8>,
    inside: bool,
    /// The open value exceeded the limit.
    skip: bool,
    /// Text between values.
    stray: Vec<u8>,
    /// The number of bytes in all previous chunks.
    base: u64,
}

impl ValueDecoder {
    /// For values in sequence: objects and arrays, with anything between them.
    #[must_use]
    pub fn sequence() -> Self {
        Self::new(false)
    }

    /// For the items of an array, which are objects.
    #[must_use]
    pub fn array() -> Self {
        Self::new(true)
    }

    fn new(array: bool) -> Self {
        Self {
            array,
            limit: 8 << 20,
            brackets: Brackets::default(),
            open: Vec::new(),
            inside: false,
            skip: false,
            stray: Vec::new(),
            base: 0,
        }
    }

    /// Sets the maximum length of a value, in bytes.
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// The number of buffered bytes of an unfinished value and of text between values.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.open.len() + self.stray.len()
    }

    /// Reads a chunk. `sink` gets the events that it completes.
    pub fn push(&mut self, chunk: &[u8], mut sink: impl FnMut(ValueEvent<'_>)) {
        self.drive(chunk, &mut |event, _| sink(event));
    }

    /// Ends the input. A value that is still open is emitted as far as it has arrived.
    pub fn finish(&mut self, mut sink: impl FnMut(ValueEvent<'_>)) {
        self.end(&mut |event, _| sink(event));
    }

    /// Like [`push`](Self::push), and also passes the offset in the input where each event ends.
    pub(crate) fn drive(&mut self, chunk: &[u8], sink: Sink<'_>) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let at = self.base + (chunk.len() - rest.len()) as u64;
            if !self.inside {
                let Some(found) = self.skip_between(rest, at, sink) else { break };
                rest = &rest[found..];
                self.flush_stray(at + found as u64, sink);
                self.brackets = Brackets::default();
                self.inside = true;
                self.skip = false;
            }
            let end = self.brackets.advance(rest);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            work::count(part.len());
            rest = after;
            let at = self.base + (chunk.len() - rest.len()) as u64;
            if !self.skip && self.open.len() + part.len() > self.limit {
                self.skip = true;
                self.open.clear();
                sink(ValueEvent::Oversize { limit: self.limit }, at);
            }
            match (self.skip, end) {
                (true, None) => {}
                (true, Some(_)) => self.inside = false,
                (false, None) => self.open.extend_from_slice(part),
                (false, Some(_)) if self.open.is_empty() => {
                    self.inside = false;
                    value(part, true, at, sink);
                }
                (false, Some(_)) => {
                    self.inside = false;
                    self.open.extend_from_slice(part);
                    value(&self.open, true, at, sink);
                    self.open.clear();
                }
            }
        }
        self.base += chunk.len() as u64;
    }

    /// Like [`finish`](Self::finish), and also passes the offset in the input where each event ends.
    pub(crate) fn end(&mut self, sink: Sink<'_>) {
        if self.inside && !self.skip {
            value(&self.open, false, self.base, sink);
        }
        self.inside = false;
        self.open.clear();
        self.flush_stray(self.base, sink);
    }

    /// Finds the start of the next value in `rest`, which is at offset `start` of the stream.
    fn skip_between(&mut self, rest: &[u8], start: u64, sink: Sink<'_>) -> Option<usize> {
        for (at, &byte) in rest.iter().enumerate() {
            work::count(1);
            match byte {
                b'{' => return Some(at),
                b'\n' | b'\r' => self.flush_stray(start + at as u64, sink),
                b'[' | b']' | b',' if self.array => {}
                b'[' => return Some(at),
                // White space, and the bytes of a byte order mark.
                b' ' | b'\t' | 0xef | 0xbb | 0xbf if self.stray.is_empty() => {}
                _ if self.stray.len() < self.limit => self.stray.push(byte),
                _ => {}
            }
        }
        None
    }

    fn flush_stray(&mut self, end: u64, sink: Sink<'_>) {
        if !self.stray.is_empty() {
            sink(ValueEvent::Stray(json::text(&self.stray)), end);
            self.stray.clear();
        }
    }
}

/// Receives the events, each with the offset after its last byte.
type Sink<'s> = &'s mut dyn FnMut(ValueEvent<'_>, u64);

fn value(text: &[u8], whole: bool, end: u64, sink: Sink<'_>) {
    sink(ValueEvent::Value { text: json::text(text), whole }, end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(mut decoder: ValueDecoder, chunks: &[&[u8]]) -> Vec<String> {
        let mut seen = Vec::new();
        let mut sink = |event: ValueEvent<'_>| {
            seen.push(match event {
                ValueEvent::Value { text, whole } => {
                    format!("{text}{}", if whole { "" } else { "~" })
                }
                other => format!("{other:?}"),
            });
        };
        for chunk in chunks {
            decoder.push(chunk, &mut sink);
        }
        decoder.finish(&mut sink);
        assert_eq!(decoder.withheld(), 0);
        seen
    }

    #[test]
    fn values_come_out_at_every_cut() {
        let cases: [(bool, &str, &[&str]); 4] = [
            (false, "{\"a\":\"}\"}\n{\"b\":[]}\n", &["{\"a\":\"}\"}", "{\"b\":[]}"]),
            (false, "{\n \"a\": {\"b\"", &["{\n \"a\": {\"b\"~"]),
            (true, "[{\"a\":1}\n,\r\n{\"b\":2}]", &["{\"a\":1}", "{\"b\":2}"]),
            (false, "{}\noops\n{}", &["{}", "Stray(\"oops\")", "{}"]),
        ];
        for (array, text, want) in cases {
            let decoder = || ValueDecoder::new(array).with_limit(100);
            for at in 0..=text.len() {
                let (head, tail) = text.as_bytes().split_at(at);
                assert_eq!(cut(decoder(), &[head, tail]), want, "{at}");
            }
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(cut(decoder(), &bytes), want);
        }
    }

    #[test]
    fn a_value_past_the_limit_is_dropped_and_the_next_is_read() {
        let text = b"{\"a\":\"0123456789\"}{\"b\":1}";
        for at in 0..=text.len() {
            let (head, tail) = text.split_at(at);
            let seen = cut(ValueDecoder::array().with_limit(10), &[head, tail]);
            assert_eq!(seen, ["Oversize { limit: 10 }", "{\"b\":1}"], "{at}");
        }
    }
}
