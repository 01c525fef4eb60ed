//! Server-sent events: the text format of the WHATWG HTML standard, sections 9.2.5 and 9.2.6, while
//! it arrives.
//!
//! ```
//! use jsonmend_wire::sse::{SseDecoder, SseEvent, SseReading};
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

mod limits;
mod line;

use std::borrow::Cow;

pub use limits::{SseBound, SseLimits};
use line::Line;
pub(crate) use line::is_field_name;

/// How what the specification discards is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::exhaustive_enums)]
pub enum SseReading {
    /// As the specification says: comments, unknown fields, blocks without data and an unterminated
    /// last event are dropped.
    Strict,
    /// As servers of language models need it: all of those are handed out, and so are lines that are
    /// no field at all (a bare JSON error, a page of HTML). White space before a known field is
    /// skipped.
    #[default]
    Lenient,
}

/// What the decoder hands out, borrowed from the chunk where it lies in one piece.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SseEvent<'a> {
    /// Lenient reading: consecutive lines that are no fields, joined by LF.
    Bare(Cow<'a, str>),
    /// Lenient reading: a comment, without its colon.
    Comment(Cow<'a, str>),
    /// Lenient reading: a field the specification does not know.
    Field {
        /// What stands before the colon.
        name: Cow<'a, str>,
        /// What stands behind it, one leading space dropped.
        value: Cow<'a, str>,
    },
    /// An event.
    Message(SseMessage<'a>),
    /// A line or an event passed its bound and was dropped; the next event is read again.
    Oversize {
        /// Which bound.
        bound: SseBound,
        /// Its value, in bytes.
        limit: usize,
    },
}

/// One dispatched event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SseMessage<'a> {
    event: &'a [u8],
    data: &'a [u8],
    id: &'a str,
    retry: Option<u64>,
    terminated: bool,
}

impl<'a> SseMessage<'a> {
    /// The name of the event; `message` where the stream gave none.
    #[must_use]
    pub fn event(&self) -> Cow<'a, str> {
        if self.event.is_empty() { Cow::Borrowed("message") } else { self.event_field() }
    }

    /// The value of the `event` field; empty where there was none.
    #[must_use]
    pub fn event_field(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.event)
    }

    /// The data lines, joined by LF. Bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn data(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.data)
    }

    /// The data lines, joined by LF, as they came.
    #[must_use]
    pub const fn data_bytes(&self) -> &'a [u8] {
        self.data
    }

    /// The last event id in force.
    #[must_use]
    pub const fn id(&self) -> &'a str {
        self.id
    }

    /// The reconnection time in force, in milliseconds.
    #[must_use]
    pub const fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Whether a blank line ended it; false for what the end of the input flushed.
    #[must_use]
    pub const fn is_terminated(&self) -> bool {
        self.terminated
    }
}

const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Decodes server-sent events while they arrive.
///
/// Calling order: [`push`](Self::push) any number of times, then [`finish`](Self::finish) once. How
/// the input is cut into chunks changes nothing. Every byte is looked at once; only what straddles
/// two chunks is copied. Memory: a line and an event, within [`SseLimits`].
#[derive(Clone, Debug)]
pub struct SseDecoder {
    reading: SseReading,
    limits: SseLimits,
    /// Bytes of the byte order mark seen; 3 once that is settled.
    bom: usize,
    /// A CR ended the last line: a LF that comes next belongs to it.
    after_cr: bool,
    /// The line that is open, as far as earlier chunks held it.
    line: Vec<u8>,
    /// The line that is open passed its bound.
    skip_line: bool,
    /// The event that is open passed a bound.
    skip_event: bool,
    event: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// Lines that are no fields.
    bare: Vec<u8>,
    id: String,
    retry: Option<u64>,
}

impl SseDecoder {
    /// A decoder at the start of a stream, with the default limits.
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
            has_data: false,
            bare: Vec::new(),
            id: String::new(),
            retry: None,
        }
    }

    /// With those limits.
    #[must_use]
    pub fn with_limits(mut self, limits: SseLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The last event id in force, for a reconnection.
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        &self.id
    }

    /// The reconnection time in force, in milliseconds.
    #[must_use]
    pub const fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// How many bytes are kept of a line and an event that have not ended.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.line.len() + self.data.len() + self.bare.len()
    }

    /// Reads a chunk; `sink` gets what it completes.
    pub fn push(&mut self, chunk: &[u8], mut sink: impl FnMut(SseEvent<'_>)) {
        let mut rest = self.settle_bom(chunk);
        // Data that lies in this chunk, not copied yet.
        let mut data = None;
        if let Some((&first, tail)) = rest.split_first()
            && core::mem::take(&mut self.after_cr)
            && first == b'\n'
        {
            rest = tail;
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
            if self.line.is_empty() && !self.skip_line {
                if head.len() > self.limits.line() {
                    self.oversize_line(head.first(), &mut sink);
                } else {
                    self.read_line(head, &mut data, &mut sink);
                }
                self.skip_line = false;
            } else {
                self.carry(head, &mut sink);
                self.end_carried(&mut sink);
            }
        }
        self.carry(rest, &mut sink);
        self.keep(&mut data);
    }

    /// Ends the stream. Strict reading drops what no blank line has ended; lenient reading hands it
    /// out.
    pub fn finish(&mut self, mut sink: impl FnMut(SseEvent<'_>)) {
        let bom = core::mem::replace(&mut self.bom, 3);
        if self.reading == SseReading::Lenient {
            if (1..3).contains(&bom) {
                self.line.extend_from_slice(&BOM[..bom]);
            }
            if !self.line.is_empty() {
                self.end_carried(&mut sink);
            }
            self.dispatch(None, false, &mut sink);
        }
        self.line.clear();
        self.data.clear();
        self.bare.clear();
        self.has_data = false;
    }

    /// Drops a byte order mark at the start of the stream; what only began like one joins the line.
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

    /// Keeps a part of the line that is open.
    fn carry(&mut self, part: &[u8], sink: &mut impl FnMut(SseEvent<'_>)) {
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

    /// Reads the line that was carried over.
    fn end_carried(&mut self, sink: &mut impl FnMut(SseEvent<'_>)) {
        if core::mem::take(&mut self.skip_line) {
            return;
        }
        let mut line = core::mem::take(&mut self.line);
        let mut data = None;
        self.read_line(&line, &mut data, sink);
        self.keep(&mut data);
        line.clear();
        self.line = line;
    }

    /// A line that is too long takes its event with it, unless it is a comment.
    fn oversize_line(&mut self, first: Option<&u8>, sink: &mut impl FnMut(SseEvent<'_>)) {
        if first != Some(&b':') {
            self.skip_event = true;
        }
        sink(SseEvent::Oversize { bound: SseBound::Line, limit: self.limits.line() });
    }

    fn read_line<'c>(
        &mut self,
        text: &'c [u8],
        data: &mut Option<&'c [u8]>,
        sink: &mut impl FnMut(SseEvent<'_>),
    ) {
        let lenient = self.reading == SseReading::Lenient;
        let mut line = line::read(text);
        if matches!(line, Line::Other { .. }) && lenient && self.bare.is_empty() {
            // A known field behind white space is that field.
            match line::read(text.trim_ascii_start()) {
                Line::Other { .. } => {}
                known => line = known,
            }
        }
        if !matches!(line, Line::Other { .. } | Line::Blank) {
            self.flush_bare(sink);
        }
        match line {
            Line::Blank if text.is_empty() || !lenient => {
                let held = data.take();
                self.dispatch(held, true, sink);
            }
            Line::Blank => {}
            Line::Comment(value) if lenient => {
                sink(SseEvent::Comment(String::from_utf8_lossy(value)));
            }
            Line::Comment(_) => {}
            Line::Data(value) => self.add_data(value, data, sink),
            Line::Event(value) => {
                self.event.clear();
                self.event.extend_from_slice(value);
            }
            Line::Id(value) if !value.contains(&0) => {
                self.id.clear();
                self.id.push_str(&String::from_utf8_lossy(value));
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
                    sink(SseEvent::Field {
                        name: String::from_utf8_lossy(name),
                        value: String::from_utf8_lossy(value),
                    });
                } else {
                    self.add_bare(text, sink);
                }
            }
            Line::Other { .. } => {}
        }
    }

    fn add_data<'c>(
        &mut self,
        value: &'c [u8],
        data: &mut Option<&'c [u8]>,
        sink: &mut impl FnMut(SseEvent<'_>),
    ) {
        if self.skip_event {
            return;
        }
        let before = self.data.len() + data.map_or(0, <[u8]>::len);
        if before + usize::from(self.has_data) + value.len() > self.limits.event() {
            *data = None;
            self.data.clear();
            self.has_data = false;
            self.skip_event = true;
            sink(SseEvent::Oversize { bound: SseBound::Event, limit: self.limits.event() });
        } else if self.has_data {
            self.keep(data);
            self.data.push(b'\n');
            self.data.extend_from_slice(value);
        } else {
            self.has_data = true;
            *data = Some(value);
        }
    }

    fn add_bare(&mut self, text: &[u8], sink: &mut impl FnMut(SseEvent<'_>)) {
        if self.bare.len() + 1 + text.len() > self.limits.event() {
            self.flush_bare(sink);
        }
        if !self.bare.is_empty() {
            self.bare.push(b'\n');
        }
        self.bare.extend_from_slice(text);
    }

    /// Copies data that lies in the chunk, because the event goes on.
    fn keep(&mut self, data: &mut Option<&[u8]>) {
        if let Some(data) = data.take() {
            self.data.extend_from_slice(data);
        }
    }

    /// Ends the event that is open.
    fn dispatch(
        &mut self,
        data: Option<&[u8]>,
        terminated: bool,
        sink: &mut impl FnMut(SseEvent<'_>),
    ) {
        let named = self.reading == SseReading::Lenient && !self.event.is_empty();
        if !self.skip_event && (self.has_data || named) {
            sink(SseEvent::Message(SseMessage {
                event: &self.event,
                data: data.unwrap_or(&self.data),
                id: &self.id,
                retry: self.retry,
                terminated,
            }));
        }
        self.flush_bare(sink);
        self.event.clear();
        self.data.clear();
        self.has_data = false;
        self.skip_event = false;
    }

    fn flush_bare(&mut self, sink: &mut impl FnMut(SseEvent<'_>)) {
        if !self.bare.is_empty() {
            sink(SseEvent::Bare(String::from_utf8_lossy(&self.bare)));
            self.bare.clear();
        }
    }
}

impl Default for SseDecoder {
    /// Lenient reading.
    fn default() -> Self {
        Self::new(SseReading::default())
    }
}

#[cfg(test)]
mod tests;
