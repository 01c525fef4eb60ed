//! Server-sent events: the text format of the WHATWG HTML standard, sections 9.2.5 and 9.2.6, decoded
//! while it arrives.
//!
//! ```
//! use wiremend_wire::sse::{SseDecoder, SseEvent, SseReading};
//!
//! let mut decoder = SseDecoder::new(SseReading::Strict);
//! let mut seen = Vec::new();
//! for chunk in ["event: gre", "eting\r", "\ndata: hel", "lo\r\n\r", "\n"] {
//!     decoder.push(chunk.as_bytes(), |event| {
//!         if let SseEvent::Message(message) = event {
//!             seen.push((message.event().into_owned(), message.data().into_owned()));
//!         }
//!     });
//! }
//! assert_eq!(seen, [("greeting".to_owned(), "hello".to_owned())]);
//! ```

mod edit;
mod limits;
mod line;
mod message;

use std::borrow::Cow;

use crate::utf8;

pub(crate) use edit::{data, write_with_data};
pub use limits::{SseBound, SseLimits};
use line::Line;
pub(crate) use line::is_field_name;
pub use message::SseMessage;

/// What to do with input that the specification discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::exhaustive_enums)]
pub enum SseReading {
    /// Follows the specification: comments, unknown fields, blocks without data and an unterminated
    /// last event are dropped.
    Strict,
    /// For the servers of language models: all of those are emitted, and so are lines that are not
    /// fields at all (a bare JSON error, an HTML page). White space before a known field is skipped.
    #[default]
    Lenient,
}

/// An event of the decoder, borrowed from the chunk if it lies in one chunk.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SseEvent<'a> {
    /// Lenient reading: consecutive lines that are not fields, joined by LF.
    Bare(Cow<'a, str>),
    /// Lenient reading: a comment, without its colon.
    Comment(Cow<'a, str>),
    /// Lenient reading: a field that is not in the specification, or the name of an event for which a later line of
    /// the same event has another.
    #[non_exhaustive]
    Field {
        /// The text before the colon.
        name: Cow<'a, str>,
        /// The text after the colon, without one leading space.
        value: Cow<'a, str>,
    },
    /// An event.
    Message(SseMessage<'a>),
    /// A line or an event exceeded its limit and was dropped. Decoding continues with the next event.
    #[non_exhaustive]
    Oversize {
        /// The limit that was exceeded.
        bound: SseBound,
        /// Its value, in bytes.
        limit: usize,
    },
}

const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Decodes server-sent events while they arrive.
///
/// Call [`push`](Self::push) any number of times, then [`finish`](Self::finish) once. The way the input
/// is split into chunks does not change the result. Every byte is looked at once. Only what spans
/// several chunks is copied. Memory: a line and an event, within [`SseLimits`].
#[derive(Clone, Debug)]
pub struct SseDecoder {
    reading: SseReading,
    limits: SseLimits,
    /// How many bytes of the byte order mark were read. 3 once that is decided.
    bom: usize,
    /// A CR ended the last line. If an LF comes next, it belongs to it.
    after_cr: bool,
    /// The part of the open line that earlier chunks held.
    line: Vec<u8>,
    /// The open line exceeded its limit.
    skip_line: bool,
    /// The open event exceeded a limit.
    skip_event: bool,
    event: Vec<u8>,
    /// The data of the open event that was copied so far, from `data_at` on.
    data: Vec<u8>,
    data_at: usize,
    has_data: bool,
    /// Lines that are not fields.
    bare: Vec<u8>,
    id: String,
    retry: Option<u64>,
    /// The number of bytes in all previous chunks.
    base: u64,
    /// The offset after the last line and its line end, where the next line begins.
    read: u64,
}

impl SseDecoder {
    /// Creates a decoder at the start of a stream, with the default limits.
    #[must_use]
    pub fn new(reading: SseReading) -> Self {
        Self {
            reading,
            limits: SseLimits::new(),
            bom: 0,
            after_cr: false,
            line: Vec::new(),
            skip_line: false,
            skip_event: false,
            event: Vec::new(),
            data: Vec::new(),
            data_at: 0,
            has_data: false,
            bare: Vec::new(),
            id: String::new(),
            retry: None,
            base: 0,
            read: 0,
        }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: SseLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The current last event ID, for a reconnection.
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        &self.id
    }

    /// The current reconnection time, in milliseconds.
    #[must_use]
    pub const fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// The number of buffered bytes of an unfinished line and an unfinished event.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.line.len() + self.data.len() - self.data_at + self.bare.len()
    }

    /// Reads a chunk. `sink` gets the events that it completes.
    pub fn push(&mut self, chunk: &[u8], mut sink: impl FnMut(SseEvent<'_>)) {
        self.drive(chunk, &mut |event, _| sink(event));
    }

    /// Like [`push`](Self::push), and also passes the offset in the stream where each event ends.
    pub(crate) fn drive(&mut self, chunk: &[u8], sink: &mut impl FnMut(SseEvent<'_>, u64)) {
        let mut rest = self.settle_bom(chunk);
        // Data that lies in this chunk and is not copied yet.
        let mut data = None;
        if let Some((&first, tail)) = rest.split_first()
            && core::mem::take(&mut self.after_cr)
            && first == b'\n'
        {
            rest = tail;
            self.read += 1;
        }
        while let Some(at) = line::end(rest) {
            let (head, tail) = rest.split_at(at);
            rest = match tail {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
            let start = core::mem::replace(&mut self.read, self.base + offset_of(chunk, rest));
            if self.line.is_empty() && !self.skip_line {
                if head.len() > self.limits.line() {
                    self.oversize_line(head.first(), sink);
                } else {
                    self.read_line(head, start, &mut data, sink);
                }
                self.skip_line = false;
            } else {
                self.carry(head, sink);
                self.end_carried(start, sink);
            }
        }
        self.carry(rest, sink);
        self.keep(&mut data);
        self.base += chunk.len() as u64;
    }

    /// Ends the stream. Strict reading drops an event that no blank line has ended. Lenient reading
    /// emits it.
    pub fn finish(&mut self, mut sink: impl FnMut(SseEvent<'_>)) {
        self.end(&mut |event, _| sink(event));
    }

    /// Like [`finish`](Self::finish); see [`drive`](Self::drive).
    pub(crate) fn end(&mut self, sink: &mut impl FnMut(SseEvent<'_>, u64)) {
        let bom = core::mem::replace(&mut self.bom, 3);
        let start = core::mem::replace(&mut self.read, self.base);
        if self.reading == SseReading::Lenient {
            if (1..3).contains(&bom) {
                self.line.extend_from_slice(&BOM[..bom]);
            }
            // A stream that was cut off in the name of a field brought nothing with it.
            let is_cut = self.bare.is_empty() && line::begins_field_name(&self.line);
            if !(self.line.is_empty() || is_cut) {
                self.end_carried(start, sink);
            }
            self.dispatch(None, false, sink);
        }
        self.line.clear();
        self.data.clear();
        self.data_at = 0;
        self.bare.clear();
        self.has_data = false;
    }

    /// Drops a byte order mark at the start of the stream. An incomplete one becomes part of the line.
    fn settle_bom<'c>(&mut self, mut chunk: &'c [u8]) -> &'c [u8] {
        while self.bom < 3 {
            match chunk.split_first() {
                Some((byte, tail)) if *byte == BOM[self.bom] => {
                    self.bom += 1;
                    chunk = tail;
                }
                Some(_) => {
                    self.line.extend_from_slice(&BOM[..self.bom]);
                    self.bom = 3;
                }
                None => break,
            }
        }
        chunk
    }

    /// Buffers a part of the open line.
    fn carry(&mut self, part: &[u8], sink: &mut impl FnMut(SseEvent<'_>, u64)) {
        if part.is_empty() || self.skip_line {
            return;
        }
        if self.line.len() + part.len() > self.limits.line() {
            let first = self.line.first().or(part.first()).copied();
            self.line.clear();
            self.skip_line = true;
            self.oversize_line(first.as_ref(), sink);
        } else {
            self.line.extend_from_slice(part);
        }
    }

    /// Reads the buffered line.
    fn end_carried(&mut self, start: u64, sink: &mut impl FnMut(SseEvent<'_>, u64)) {
        if core::mem::take(&mut self.skip_line) {
            return;
        }
        if let Line::Data(value) = line::read(&self.line)
            && self.bare.is_empty()
            && !(self.has_data || self.skip_event)
            && value.len() <= self.limits.event()
        {
            // The first data line stays in place: the two buffers are swapped.
            self.data_at = self.line.len() - value.len();
            self.has_data = true;
            core::mem::swap(&mut self.line, &mut self.data);
            self.line.clear();
            return;
        }
        let mut line = core::mem::take(&mut self.line);
        let mut data = None;
        self.read_line(&line, start, &mut data, sink);
        self.keep(&mut data);
        line.clear();
        self.line = line;
    }

    /// A line that is too long invalidates its event, unless it is a comment.
    fn oversize_line(&mut self, first: Option<&u8>, sink: &mut impl FnMut(SseEvent<'_>, u64)) {
        if first != Some(&b':') {
            self.skip_event = true;
        }
        let limit = self.limits.line();
        sink(SseEvent::Oversize { bound: SseBound::Line, limit }, self.read);
    }

    /// Reads the line that begins at offset `start` of the stream.
    fn read_line<'c>(
        &mut self,
        text: &'c [u8],
        start: u64,
        data: &mut Option<&'c [u8]>,
        sink: &mut impl FnMut(SseEvent<'_>, u64),
    ) {
        let lenient = self.reading == SseReading::Lenient;
        let mut line = line::read(text);
        if matches!(line, Line::Other { .. }) && lenient && self.bare.is_empty() {
            line = line::read_indented(text);
        }
        if !self.bare.is_empty() && !matches!(line, Line::Other { .. } | Line::Blank) {
            self.flush_bare(start, sink);
        }
        match line {
            Line::Blank if text.is_empty() || !lenient => {
                let held = data.take();
                self.dispatch(held, true, sink);
            }
            Line::Blank => {}
            Line::Comment(value) if lenient => {
                sink(SseEvent::Comment(utf8::text(value)), self.read);
            }
            Line::Comment(_) => {}
            Line::Data(value) => self.add_data(value, data, sink),
            Line::Event(value) => {
                if lenient && !self.event.is_empty() {
                    let value = utf8::text(&self.event);
                    sink(SseEvent::Field { name: "event".into(), value }, self.read);
                }
                self.event.clear();
                self.event.extend_from_slice(value);
            }
            Line::Id(value) if !value.contains(&0) => {
                self.id.clear();
                self.id.push_str(&utf8::text(value));
            }
            Line::Id(_) => {}
            Line::Retry(value) => {
                if !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
                    let digits = value.iter().map(|byte| u64::from(byte - b'0'));
                    self.retry =
                        Some(digits.fold(0, |n, digit| n.saturating_mul(10).saturating_add(digit)));
                }
            }
            Line::Other { name, value } if lenient => {
                if self.bare.is_empty() && name.len() < text.len() && is_field_name(name) {
                    let name = utf8::text(name);
                    let value = utf8::text(value);
                    sink(SseEvent::Field { name, value }, self.read);
                } else {
                    self.add_bare(text, start, sink);
                }
            }
            Line::Other { .. } => {}
        }
    }

    fn add_data<'c>(
        &mut self,
        value: &'c [u8],
        data: &mut Option<&'c [u8]>,
        sink: &mut impl FnMut(SseEvent<'_>, u64),
    ) {
        if self.skip_event {
            return;
        }
        let before = self.data.len() - self.data_at + data.map_or(0, <[u8]>::len);
        if before + usize::from(self.has_data) + value.len() > self.limits.event() {
            *data = None;
            self.clear_data();
            self.skip_event = true;
            let limit = self.limits.event();
            sink(SseEvent::Oversize { bound: SseBound::Event, limit }, self.read);
        } else if self.has_data {
            self.keep(data);
            self.data.push(b'\n');
            self.data.extend_from_slice(value);
        } else {
            self.has_data = true;
            *data = Some(value);
        }
    }

    fn add_bare(&mut self, text: &[u8], start: u64, sink: &mut impl FnMut(SseEvent<'_>, u64)) {
        if self.bare.len() + 1 + text.len() > self.limits.event() {
            self.flush_bare(start, sink);
        }
        if !self.bare.is_empty() {
            self.bare.push(b'\n');
        }
        self.bare.extend_from_slice(text);
    }

    /// Copies data that lies in the chunk, because the event continues.
    fn keep(&mut self, data: &mut Option<&[u8]>) {
        if let Some(data) = data.take() {
            self.data.extend_from_slice(data);
        }
    }

    fn clear_data(&mut self) {
        self.data.clear();
        self.data_at = 0;
        self.has_data = false;
    }

    /// Ends the open event.
    fn dispatch(
        &mut self,
        data: Option<&[u8]>,
        terminated: bool,
        sink: &mut impl FnMut(SseEvent<'_>, u64),
    ) {
        let named = self.reading == SseReading::Lenient && !self.event.is_empty();
        if !self.skip_event && (self.has_data || named) {
            let kept = self.data.get(self.data_at..).unwrap_or_default();
            let message = SseMessage {
                event: &self.event,
                data: data.unwrap_or(kept),
                has_data: self.has_data,
                id: &self.id,
                retry: self.retry,
                terminated,
            };
            sink(SseEvent::Message(message), self.read);
        }
        if !self.bare.is_empty() {
            self.flush_bare(self.read, sink);
        }
        self.event.clear();
        self.clear_data();
        self.skip_event = false;
    }

    fn flush_bare(&mut self, end: u64, sink: &mut impl FnMut(SseEvent<'_>, u64)) {
        if !self.bare.is_empty() {
            sink(SseEvent::Bare(utf8::text(&self.bare)), end);
            self.bare.clear();
        }
    }
}

/// The offset in `chunk` at which its tail `rest` begins.
const fn offset_of(chunk: &[u8], rest: &[u8]) -> u64 {
    chunk.len().saturating_sub(rest.len()) as u64
}

impl Default for SseDecoder {
    /// A decoder with lenient reading.
    fn default() -> Self {
        Self::new(SseReading::default())
    }
}

#[cfg(test)]
mod tests;
