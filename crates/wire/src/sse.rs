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

use core::ops::Range;
use std::borrow::Cow;

use crate::{json, work};

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
        while let Some(at) = end(rest) {
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
            let is_cut = self.bare.is_empty() && begins_field_name(&self.line);
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
        if let Line::Data(value) = read(&self.line)
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
        let mut line = read(text);
        if matches!(line, Line::Other { .. }) && lenient && self.bare.is_empty() {
            line = read_indented(text);
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
                sink(SseEvent::Comment(json::text(value)), self.read);
            }
            Line::Comment(_) => {}
            Line::Data(value) => self.add_data(value, data, sink),
            Line::Event(value) => {
                if lenient && !self.event.is_empty() {
                    let value = json::text(&self.event);
                    sink(SseEvent::Field { name: "event".into(), value }, self.read);
                }
                self.event.clear();
                self.event.extend_from_slice(value);
            }
            Line::Id(value) if !value.contains(&0) => {
                self.id.clear();
                self.id.push_str(&json::text(value));
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
                    let name = json::text(name);
                    let value = json::text(value);
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
            sink(SseEvent::Bare(json::text(&self.bare)), end);
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

/// A data line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DataLine {
    /// From its first byte to its line end.
    line: Range<usize>,
    value: Range<usize>,
    /// The position after its line end.
    end: usize,
}

/// The data lines of the last event in `raw`.
fn data_lines(raw: &[u8]) -> Vec<DataLine> {
    let mut found: Vec<DataLine> = Vec::new();
    let mut ended = false;
    let mut at = if raw.starts_with(&BOM) { BOM.len() } else { 0 };
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let length = end(rest).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(length);
        let line_end = match tail {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        let end = at + length + line_end;
        if text.is_empty() {
            ended = true;
        } else if let Line::Data(value) = read_indented(text) {
            if core::mem::take(&mut ended) {
                found.clear();
            }
            let value = at + length - value.len()..at + length;
            found.push(DataLine { line: at..at + length, value, end });
        }
        at = end;
    }
    found
}

/// The data of the last event in `raw`, as the decoder returns it.
pub(crate) fn data(raw: &[u8]) -> String {
    let lines = data_lines(raw);
    let parts: Vec<&[u8]> =
        lines.iter().map(|line| raw.get(line.value.clone()).unwrap_or_default()).collect();
    json::text(&parts.join(&b'\n')).into_owned()
}

/// Writes `raw` with other data in its last event. Everything else is unchanged. Returns `false`, and
/// writes nothing, if there is no data in it.
pub(crate) fn write_with_data(raw: &[u8], data: &str, out: &mut Vec<u8>) -> bool {
    let lines = data_lines(raw);
    let Some(last) = lines.len().checked_sub(1) else { return false };
    let mut new = data.split('\n');
    let mut at = 0;
    for (number, line) in lines.iter().enumerate() {
        out.extend_from_slice(raw.get(at..line.line.start).unwrap_or_default());
        at = line.end;
        let prefix = raw.get(line.line.start..line.value.start).unwrap_or_default();
        let line_end = raw.get(line.line.end..line.end).unwrap_or_default();
        let mut put = |text: &str| {
            out.extend_from_slice(prefix);
            out.extend_from_slice(text.as_bytes());
        };
        let Some(text) = new.next() else { continue };
        put(text);
        if number == last {
            for text in new.by_ref() {
                out.extend_from_slice(if line_end.is_empty() { b"\n" } else { line_end });
                out.extend_from_slice(prefix);
                out.extend_from_slice(text.as_bytes());
            }
        }
        out.extend_from_slice(line_end);
    }
    out.extend_from_slice(raw.get(at..).unwrap_or_default());
    true
}

/// Limits on what the decoder buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseLimits {
    line: usize,
    event: usize,
}

impl SseLimits {
    /// The defaults: a line of 1 MiB, an event of 8 MiB.
    #[must_use]
    pub const fn new() -> Self {
        Self { line: 1 << 20, event: 8 << 20 }
    }

    /// Sets the maximum length of a line, in bytes without its line end.
    ///
    /// ### Default
    /// 1 MiB.
    #[must_use]
    pub const fn with_line(mut self, bytes: usize) -> Self {
        self.line = bytes;
        self
    }

    /// Sets the maximum size of an event: its joined data, in bytes.
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_event(mut self, bytes: usize) -> Self {
        self.event = bytes;
        self
    }

    /// The maximum length of a line, in bytes.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }

    /// The maximum size of an event, in bytes.
    #[must_use]
    pub const fn event(&self) -> usize {
        self.event
    }
}

impl Default for SseLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// The limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseBound {
    /// [`SseLimits::with_event`].
    Event,
    /// [`SseLimits::with_line`].
    Line,
}

/// How many bytes are checked together.
const BLOCK: usize = 32;

/// The position of the first LF or CR. Whole blocks are searched without branching.
fn end(bytes: &[u8]) -> Option<usize> {
    if bytes.first().is_some_and(|&byte| ends(byte) != 0) {
        work::count(1);
        return Some(0);
    }
    let mut at = 0;
    for block in bytes.chunks_exact(BLOCK) {
        if block.iter().fold(0, |found, &byte| found | ends(byte)) != 0 {
            break;
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let found = rest.iter().position(|&byte| ends(byte) != 0).map(|found| at + found);
    work::count(1 + found.unwrap_or(bytes.len()));
    found
}

/// 1 for a byte that ends a line, otherwise 0.
const fn ends(byte: u8) -> u8 {
    (byte == b'\n') as u8 | (byte == b'\r') as u8
}

/// One line, parsed according to the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Blank,
    Comment(&'a [u8]),
    Data(&'a [u8]),
    Event(&'a [u8]),
    Id(&'a [u8]),
    Retry(&'a [u8]),
    Other { name: &'a [u8], value: &'a [u8] },
}

/// Splits a line into field and value.
fn read(line: &[u8]) -> Line<'_> {
    // Nearly all lines.
    if let Some(value) = line.strip_prefix(b"data:") {
        return Line::Data(value.strip_prefix(b" ").unwrap_or(value));
    }
    if line.is_empty() {
        return Line::Blank;
    }
    let (name, value) = match line.iter().position(|&byte| byte == b':') {
        Some(at) => (&line[..at], &line[at + 1..]),
        None => (line, &line[line.len()..]),
    };
    let value = value.strip_prefix(b" ").unwrap_or(value);
    match name {
        b"" => Line::Comment(value),
        b"data" => Line::Data(value),
        b"event" => Line::Event(value),
        b"id" => Line::Id(value),
        b"retry" => Line::Retry(value),
        _ => Line::Other { name, value },
    }
}

/// The lenient reading of a line that is not a field: a known field after white space is that field.
fn read_indented(line: &[u8]) -> Line<'_> {
    match read(line.trim_ascii_start()) {
        Line::Other { .. } => read(line),
        known => known,
    }
}

/// Whether `line` is the beginning of the name of a known field, and not all of it.
fn begins_field_name(line: &[u8]) -> bool {
    let names: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];
    !line.is_empty() && names.iter().any(|name| name.starts_with(line) && name.len() > line.len())
}

/// Whether `name` could be the name of a field, and not the start of JSON, markup or prose.
pub(crate) fn is_field_name(name: &[u8]) -> bool {
    (1..=32).contains(&name.len())
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// One dispatched event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SseMessage<'a> {
    event: &'a [u8],
    data: &'a [u8],
    has_data: bool,
    id: &'a str,
    retry: Option<u64>,
    terminated: bool,
}

impl<'a> SseMessage<'a> {
    /// The name of the event. `message` if the stream sent none.
    #[must_use]
    pub fn event(&self) -> Cow<'a, str> {
        if self.event.is_empty() { Cow::Borrowed("message") } else { self.event_field() }
    }

    /// The value of the `event` field. Empty if there was none.
    #[must_use]
    pub fn event_field(&self) -> Cow<'a, str> {
        json::text(self.event)
    }

    /// The data lines, joined by LF. Bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn data(&self) -> Cow<'a, str> {
        json::text(self.data)
    }

    /// The data lines, joined by LF, without decoding.
    #[must_use]
    pub const fn data_bytes(&self) -> &'a [u8] {
        self.data
    }

    /// Whether the event has a data line, if only an empty one.
    pub(crate) const fn has_data(&self) -> bool {
        self.has_data
    }

    /// The current last event ID.
    #[must_use]
    pub const fn id(&self) -> &'a str {
        self.id
    }

    /// The current reconnection time, in milliseconds.
    #[must_use]
    pub const fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Whether a blank line ended it. `false` if the end of the input flushed it.
    #[must_use]
    pub const fn is_terminated(&self) -> bool {
        self.terminated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(raw: &str, data: &str) -> String {
        let mut out = Vec::new();
        assert!(write_with_data(raw.as_bytes(), data, &mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn everything_but_the_data_stays() {
        for (raw, old, new, want) in [
            ("data: a\n\n", "a", "b", "data: b\n\n"),
            (
                "event: x\r\ndata:a\r\nid: 1\r\n\r\n",
                "a",
                "b",
                "event: x\r\ndata:b\r\nid: 1\r\n\r\n",
            ),
            (": hi\rdata: a\r\r", "a", "b", ": hi\rdata: b\r\r"),
            ("data: a\n\ndata: b\n\n", "b", "c", "data: a\n\ndata: c\n\n"),
            ("data: a\ndata: b\n\n", "a\nb", "x\ny", "data: x\ndata: y\n\n"),
            ("data: a\n: c\ndata: b\n\n", "a\nb", "x", "data: x\n: c\n\n"),
            ("data: a\n\n", "a", "x\ny", "data: x\ndata: y\n\n"),
            ("\u{feff} data: a", "a", "x\ny", "\u{feff} data: x\n data: y"),
        ] {
            assert_eq!(data(raw.as_bytes()), old, "{raw:?}");
            assert_eq!(with(raw, new), want, "{raw:?}");
            assert_eq!(with(raw, old), raw, "{raw:?}");
        }
        assert!(!write_with_data(b": hi\n\n", "x", &mut Vec::new()));
    }

    #[test]
    fn line_ends_are_found_at_every_position() {
        for len in 0..40 {
            for at in 0..len {
                for byte in [b'\n', b'\r'] {
                    let mut text = vec![0x8b_u8; len];
                    text[at] = byte;
                    assert_eq!(end(&text), Some(at));
                }
            }
            assert_eq!(end(&vec![b'\x0b'; len]), None);
        }
    }

    #[test]
    fn one_space_is_dropped() {
        assert_eq!(read(b"data:  x"), Line::Data(b" x"));
        assert_eq!(read(b"data"), Line::Data(b""));
        assert_eq!(read(b":"), Line::Comment(b""));
        assert_eq!(read(b"Data: x"), Line::Other { name: b"Data", value: b"x" });
    }

    /// Everything that a decoder emits, in order, as text.
    fn decode(reading: SseReading, limits: SseLimits, chunks: &[&[u8]]) -> Vec<String> {
        let mut decoder = SseDecoder::new(reading).with_limits(limits);
        let mut seen = Vec::new();
        let mut note = |event: SseEvent<'_>| {
            seen.push(match event {
                SseEvent::Message(m) => {
                    format!(
                        "{}|{}|{}|{:?}|{}",
                        m.event(),
                        m.data(),
                        m.id(),
                        m.retry(),
                        m.is_terminated()
                    )
                }
                other => format!("{other:?}"),
            });
        };
        for chunk in chunks {
            decoder.push(chunk, &mut note);
        }
        decoder.finish(&mut note);
        seen
    }

    /// The result, which must be equal when split in two anywhere, byte by byte, and with empty chunks.
    fn all_cuts(reading: SseReading, limits: SseLimits, input: &[u8]) -> Vec<String> {
        let whole = decode(reading, limits, &[input]);
        for cut in 0..=input.len() {
            let (head, tail) = input.split_at(cut);
            assert_eq!(decode(reading, limits, &[head, b"", tail]), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(decode(reading, limits, &bytes), whole, "byte by byte");
        whole
    }

    fn strict(input: &[u8]) -> Vec<String> {
        all_cuts(SseReading::Strict, SseLimits::new(), input)
    }

    fn lenient(input: &[u8]) -> Vec<String> {
        all_cuts(SseReading::Lenient, SseLimits::new(), input)
    }

    #[test]
    fn every_line_end_ends_a_line() {
        let input = b"data: one\r\ndata: two\r\n\r\ndata: three\r\rdata: four\n\n\rdata: five\n\r";
        let want =
            ["one\ntwo", "three", "four", "five"].map(|data| format!("message|{data}||None|true"));
        assert_eq!(strict(input), want);
    }

    #[test]
    fn a_cr_ends_its_event_before_the_next_byte_comes() {
        let mut decoder = SseDecoder::new(SseReading::Strict);
        let mut seen = 0;
        decoder.push(b"data: x\r\r", |_| seen += 1);
        assert_eq!(seen, 1);
        decoder.push(b"\ndata: y\n\n", |_| seen += 1);
        assert_eq!(seen, 2);
    }

    #[test]
    fn one_byte_order_mark_is_dropped_and_only_at_the_start() {
        let input = b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\ndata: c\n\n";
        assert_eq!(strict(input), ["message|a||None|true", "message|c||None|true"]);
        assert_eq!(strict(b"\xef\xbbdata: a\n\n"), Vec::<String>::new());
    }

    #[test]
    fn ids_persist_and_a_nul_voids_them() {
        let input = b"id: 7\nevent: n\n\ndata: a\n\nid: 8\0\ndata: b\n\nid\ndata: c\n\n";
        assert_eq!(
            strict(input),
            ["message|a|7|None|true", "message|b|7|None|true", "message|c||None|true"]
        );
    }

    #[test]
    fn retry_takes_digits_only() {
        let input = b"retry: 1500\n\ndata: a\n\nretry: +9\nretry: 9 \nretry:\ndata: b\n\nretry: 99999999999999999999\ndata: c\n\n";
        assert_eq!(
            strict(input),
            [
                "message|a||Some(1500)|true".to_owned(),
                "message|b||Some(1500)|true".to_owned(),
                format!("message|c||Some({})|true", u64::MAX)
            ]
        );
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_and_cost_nothing_else() {
        let input = b"data: caf\xe9 \xe5\x8c\n\ndata: \xe5\x8c\x97\n\n";
        assert_eq!(
            strict(input),
            ["message|caf\u{fffd} \u{fffd}||None|true", "message|北||None|true"]
        );
    }

    #[test]
    fn strict_drops_what_the_specification_drops() {
        let input = b": note\nevent: x\n\nerror: {\"a\":1}\n{\"bare\":1}\ndata: a\n\ndata: cut";
        assert_eq!(strict(input), ["message|a||None|true"]);
    }

    #[test]
    fn lenient_hands_out_comments_fields_bare_lines_and_the_last_event() {
        let input = b": note\n\nerror: {\"a\": 1}\n\n{\n  \"error\": {\n    \"code\": 7\n  }\n}\n\n data: a\n\nevent: ping\n\ndata: cut";
        assert_eq!(
            lenient(input),
            [
                "Comment(\"note\")",
                "Field { name: \"error\", value: \"{\\\"a\\\": 1}\" }",
                "Bare(\"{\\n  \\\"error\\\": {\\n    \\\"code\\\": 7\\n  }\\n}\")",
                "message|a||None|true",
                "ping|||None|true",
                "message|cut||None|false",
            ]
        );
    }

    #[test]
    fn a_page_of_html_is_bare_text() {
        let input = b"<html>\n<body class=\"a: b\">\nBad gateway\n</body>\n</html>\n";
        assert_eq!(lenient(input).len(), 1);
        assert_eq!(strict(input).len(), 0);
    }

    #[test]
    fn a_line_past_its_bound_takes_its_event_along_and_the_next_is_read() {
        let limits = SseLimits::new().with_line(12);
        let input =
            b"data: one\ndata: far too long\ndata: two\n\n: a comment too long\ndata: three\n\n";
        assert_eq!(
            all_cuts(SseReading::Strict, limits, input),
            [
                "Oversize { bound: Line, limit: 12 }",
                "Oversize { bound: Line, limit: 12 }",
                "message|three||None|true",
            ]
        );
    }

    #[test]
    fn an_event_past_its_bound_is_dropped_and_the_next_is_read() {
        let limits = SseLimits::new().with_event(8);
        let input = b"data: abc\ndata: def\ndata: ghi\ndata: j\n\ndata: 12345678\n\n";
        assert_eq!(
            all_cuts(SseReading::Strict, limits, input),
            ["Oversize { bound: Event, limit: 8 }", "message|12345678||None|true"]
        );
    }

    #[test]
    fn data_in_one_chunk_is_borrowed_from_it() {
        let chunk = b"data: {\"a\":1}\n\n";
        SseDecoder::default().push(chunk, |event| {
            let SseEvent::Message(message) = event else { panic!("{event:?}") };
            assert!(chunk.as_ptr_range().contains(&message.data_bytes().as_ptr()));
        });
    }

    #[test]
    fn a_stream_that_is_cut_off_in_the_name_of_a_field_ends_there() {
        for part in ["d", "dat", "e", "even", "i", "r", "retr"] {
            assert_eq!(lenient(format!("data: a\n\n{part}").as_bytes()), ["message|a||None|true"]);
            let open = format!("data: a\n{part}");
            assert_eq!(lenient(open.as_bytes()), ["message|a||None|false"], "{part}");
        }
        // These are something else.
        for text in ["f", "dx", "{", "d\n"] {
            assert_eq!(lenient(format!("data: a\n\n{text}").as_bytes()).len(), 2, "{text}");
        }
    }
}
