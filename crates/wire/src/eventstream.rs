//! AWS event streams (`application/vnd.amazon.eventstream`): binary frames with two checksums and
//! typed headers, as described in the AWS documentation "Event stream encoding", decoded while they arrive.
//!
//! A frame consists of the total length and the length of the headers, both 32 bits in network order, the
//! CRC-32 of these eight bytes, the headers, the payload, and the CRC-32 of everything before it.
//!
//! ```
//! use wiremend_wire::eventstream::{
//!     EventStreamDecoder, EventStreamEvent, Header, HeaderValue, encode,
//! };
//!
//! let mut body = Vec::new();
//! encode(&[Header::new(":event-type", HeaderValue::Str("messageStop"))], b"{}", &mut body)?;
//! let mut decoder = EventStreamDecoder::new();
//! let mut names = Vec::new();
//! for chunk in body.chunks(5) {
//!     decoder.push(chunk, |event| {
//!         if let EventStreamEvent::Message(message) = event {
//!             names.extend(message.text_header(":event-type").map(str::to_owned));
//!         }
//!     });
//! }
//! assert_eq!(names, ["messageStop"]);
//! # Ok::<(), wiremend_wire::eventstream::TooLong>(())
//! ```

use core::{fmt, str};

use crate::work;

/// An event of the decoder.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventStreamEvent<'a> {
    /// A broken frame. Decoding continues with the next one. If the lengths themselves are wrong, the
    /// decoder searches the input for the next lengths with a valid checksum, and reports the fault
    /// once for everything that it skips.
    Fault(FrameFault),
    /// A message.
    Message(Message<'a>),
    /// A frame exceeded the limit and was dropped.
    #[non_exhaustive]
    Oversize {
        /// The limit, in bytes.
        limit: usize,
    },
}

/// Decodes AWS event streams while they arrive.
///
/// Call [`push`](Self::push) any number of times, then [`finish`](Self::finish) once. The way the input
/// is split into chunks does not change the result. Only a frame that spans several chunks is copied.
/// Memory: one frame, within the limit.
#[derive(Clone, Debug)]
pub struct EventStreamDecoder {
    limit: usize,
    /// The part of the open frame that earlier chunks held.
    open: Vec<u8>,
    /// How many bytes of it must be buffered before it is read again.
    want: usize,
    /// How many bytes of a dropped frame are still to come.
    skip: usize,
    /// Searching for the next valid lengths.
    lost: bool,
    /// The number of bytes in all previous chunks.
    base: u64,
}

/// How much of the input was read.
enum Step {
    Used(usize),
    /// Nothing: that many bytes are needed to continue.
    Want(usize),
}

impl EventStreamDecoder {
    /// Creates a decoder at the start of a stream. Frames may be up to 8 MiB long.
    #[must_use]
    pub const fn new() -> Self {
        Self { limit: 8 << 20, open: Vec::new(), want: PRELUDE, skip: 0, lost: false, base: 0 }
    }

    /// Sets the maximum length of a frame, in bytes.
    #[must_use]
    pub const fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// The number of buffered bytes of an unfinished frame.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.open.len()
    }

    /// Reads a chunk. `sink` gets the events that it completes.
    pub fn push(&mut self, chunk: &[u8], mut sink: impl FnMut(EventStreamEvent<'_>)) {
        self.drive(chunk, &mut |event, _| sink(event));
    }

    /// Like [`push`](Self::push), and also passes the offset in the stream where each event ends.
    pub(crate) fn drive(&mut self, chunk: &[u8], sink: &mut dyn FnMut(EventStreamEvent<'_>, u64)) {
        let mut at = 0;
        while let Some(rest) = chunk.get(at..).filter(|rest| !rest.is_empty()) {
            if self.skip > 0 {
                let skipped = self.skip.min(rest.len());
                self.skip -= skipped;
                at += skipped;
            } else if self.open.is_empty() {
                match self.read(rest, self.base + at as u64, sink) {
                    Step::Used(used) => at += used,
                    Step::Want(want) => {
                        self.want = want;
                        self.open.extend_from_slice(rest);
                        at = chunk.len();
                    }
                }
            } else {
                let start = (self.base + at as u64).saturating_sub(self.open.len() as u64);
                let missing = self.want.saturating_sub(self.open.len()).min(rest.len());
                self.open.extend_from_slice(rest.get(..missing).unwrap_or_default());
                at += missing;
                if self.open.len() < self.want {
                    continue;
                }
                let mut open = core::mem::take(&mut self.open);
                match self.read(&open, start, sink) {
                    Step::Used(used) => {
                        open.drain(..used.min(open.len()));
                        self.want = PRELUDE;
                    }
                    Step::Want(want) => self.want = want,
                }
                self.open = open;
            }
        }
        self.base += chunk.len() as u64;
    }

    /// Ends the stream. A frame that is still open is [`FrameFault::Truncated`].
    pub fn finish(&mut self, mut sink: impl FnMut(EventStreamEvent<'_>)) {
        let broken = !self.open.is_empty() || self.skip > 0;
        self.open.clear();
        self.skip = 0;
        if broken && !core::mem::take(&mut self.lost) {
            sink(EventStreamEvent::Fault(FrameFault::Truncated));
        }
    }

    /// Reads the frame at the start of `bytes`, which are at offset `start` of the stream.
    fn read(
        &mut self,
        bytes: &[u8],
        start: u64,
        sink: &mut dyn FnMut(EventStreamEvent<'_>, u64),
    ) -> Step {
        let prelude = match Prelude::read(bytes) {
            None => return Step::Want(PRELUDE),
            Some(Ok(prelude)) if prelude.is_sound() => prelude,
            Some(other) => {
                if !core::mem::replace(&mut self.lost, true) {
                    let fault = other.err().unwrap_or(FrameFault::HeadersLength);
                    sink(EventStreamEvent::Fault(fault), start);
                }
                return Step::Used(1);
            }
        };
        self.lost = false;
        let total = prelude.total;
        if total > self.limit {
            self.skip = total.saturating_sub(bytes.len());
            let used = bytes.len().min(total);
            sink(EventStreamEvent::Oversize { limit: self.limit }, start);
            return Step::Used(used);
        }
        let Some(frame) = bytes.get(..total) else { return Step::Want(total) };
        let event = match Message::check(frame, prelude) {
            Ok(message) => EventStreamEvent::Message(message),
            Err(fault) => EventStreamEvent::Fault(fault),
        };
        sink(event, start + total as u64);
        Step::Used(total)
    }
}

impl Default for EventStreamDecoder {
    fn default() -> Self {
        Self::new()
    }
}

/// A header: its name and its value, borrowed from the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Header<'a> {
    /// Its name. The names of the protocol begin with a colon.
    pub name: &'a str,
    /// Its value.
    pub value: HeaderValue<'a>,
}

impl<'a> Header<'a> {
    /// Creates a header.
    #[must_use]
    pub const fn new(name: &'a str, value: HeaderValue<'a>) -> Self {
        Self { name, value }
    }
}

/// The value of a header.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum HeaderValue<'a> {
    /// Types 0 (true) and 1 (false).
    Bool(bool),
    /// Type 2.
    Byte(i8),
    /// Type 6; at most 65,535 bytes.
    Bytes(&'a [u8]),
    /// Type 4.
    Int(i32),
    /// Type 5.
    Long(i64),
    /// Type 3.
    Short(i16),
    /// Type 7; at most 65,535 bytes.
    Str(&'a str),
    /// Type 8: milliseconds since 1970.
    Timestamp(i64),
    /// Type 9.
    Uuid([u8; 16]),
}

impl<'a> HeaderValue<'a> {
    /// The text of a string header.
    #[must_use]
    pub const fn as_str(&self) -> Option<&'a str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }
}

/// The headers of a message, in order.
#[derive(Clone)]
pub struct Headers<'a> {
    rest: &'a [u8],
}

impl<'a> Headers<'a> {
    const fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// The next header. `Ok(None)` at the end.
    fn read(&mut self) -> Result<Option<Header<'a>>, FrameFault> {
        let Some((&length, rest)) = self.rest.split_first() else { return Ok(None) };
        let (name, rest) =
            rest.split_at_checked(usize::from(length)).ok_or(FrameFault::HeaderName)?;
        let name = str::from_utf8(name).map_err(|_| FrameFault::HeaderName)?;
        if name.is_empty() {
            return Err(FrameFault::HeaderName);
        }
        let (&kind, mut rest) = rest.split_first().ok_or(FrameFault::HeaderValue)?;
        let value = match kind {
            0 => HeaderValue::Bool(true),
            1 => HeaderValue::Bool(false),
            2 => HeaderValue::Byte(i8::from_be_bytes(array(&mut rest)?)),
            3 => HeaderValue::Short(i16::from_be_bytes(array(&mut rest)?)),
            4 => HeaderValue::Int(i32::from_be_bytes(array(&mut rest)?)),
            5 => HeaderValue::Long(i64::from_be_bytes(array(&mut rest)?)),
            6 => HeaderValue::Bytes(counted(&mut rest)?),
            7 => HeaderValue::Str(
                str::from_utf8(counted(&mut rest)?).map_err(|_| FrameFault::HeaderValue)?,
            ),
            8 => HeaderValue::Timestamp(i64::from_be_bytes(array(&mut rest)?)),
            9 => HeaderValue::Uuid(array(&mut rest)?),
            other => return Err(FrameFault::HeaderType(other)),
        };
        self.rest = rest;
        Ok(Some(Header { name, value }))
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        self.read().ok().flatten()
    }
}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

fn array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], FrameFault> {
    let (head, tail) = rest.split_first_chunk().ok_or(FrameFault::HeaderValue)?;
    *rest = tail;
    Ok(*head)
}

fn counted<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], FrameFault> {
    let length = usize::from(u16::from_be_bytes(array(rest)?));
    let (value, tail) = rest.split_at_checked(length).ok_or(FrameFault::HeaderValue)?;
    *rest = tail;
    Ok(value)
}

/// Encodes a header. `None` if its name or its value is too long for the format.
fn write(header: &Header<'_>, out: &mut Vec<u8>) -> Option<()> {
    let length = u8::try_from(header.name.len()).ok().filter(|length| *length > 0)?;
    out.push(length);
    out.extend_from_slice(header.name.as_bytes());
    match header.value {
        HeaderValue::Bool(value) => out.push(u8::from(!value)),
        HeaderValue::Byte(value) => fixed(2, &value.to_be_bytes(), out),
        HeaderValue::Short(value) => fixed(3, &value.to_be_bytes(), out),
        HeaderValue::Int(value) => fixed(4, &value.to_be_bytes(), out),
        HeaderValue::Long(value) => fixed(5, &value.to_be_bytes(), out),
        HeaderValue::Bytes(value) => sized(6, value, out)?,
        HeaderValue::Str(value) => sized(7, value.as_bytes(), out)?,
        HeaderValue::Timestamp(value) => fixed(8, &value.to_be_bytes(), out),
        HeaderValue::Uuid(value) => fixed(9, &value, out),
    }
    Some(())
}

fn fixed(kind: u8, value: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(value);
}

fn sized(kind: u8, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let length = u16::try_from(value.len()).ok()?;
    out.push(kind);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(value);
    Some(())
}

/// Total length, length of the headers, and the checksum of both.
const PRELUDE: usize = 12;
/// The checksum at the end of a frame.
const TRAILER: usize = 4;
/// The shortest frame: no headers, no payload.
const SHORTEST: usize = PRELUDE + TRAILER;

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameFault {
    /// A header has no name, or its name is not UTF-8 or exceeds the headers.
    HeaderName,
    /// A header has an unknown type.
    HeaderType(u8),
    /// The value of a header exceeds the headers, or is text that is not UTF-8.
    HeaderValue,
    /// The headers are longer than the frame, or the frame is shorter than the minimum.
    HeadersLength,
    /// The checksum of the frame is wrong.
    #[non_exhaustive]
    MessageChecksum {
        /// The checksum of the bytes.
        computed: u32,
        /// The checksum that the frame states.
        stated: u32,
    },
    /// The checksum of the lengths is wrong. The decoder searches the following bytes for the next frame.
    #[non_exhaustive]
    PreludeChecksum {
        /// The checksum of the bytes.
        computed: u32,
        /// The checksum that the frame states.
        stated: u32,
    },
    /// The input ended inside the frame.
    Truncated,
}

impl fmt::Display for FrameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderName => f.write_str("a header has no proper name"),
            Self::HeaderType(kind) => write!(f, "a header has the unknown type {kind}"),
            Self::HeaderValue => f.write_str("the value of a header is cut off or no UTF-8"),
            Self::HeadersLength => f.write_str("the lengths of the frame contradict each other"),
            Self::MessageChecksum { computed, stated } => {
                write!(f, "the checksum of the frame is {computed:08x}, it says {stated:08x}")
            }
            Self::PreludeChecksum { computed, stated } => {
                write!(f, "the checksum of the lengths is {computed:08x}, they say {stated:08x}")
            }
            Self::Truncated => f.write_str("the input ended inside a frame"),
        }
    }
}

impl std::error::Error for FrameFault {}

/// A message with verified checksums and headers, borrowed from its frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    frame: &'a [u8],
    headers: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Message<'a> {
    /// The headers, in order.
    #[must_use]
    pub const fn headers(&self) -> Headers<'a> {
        Headers::new(self.headers)
    }

    /// The value of the first header of that name, if it is a string.
    #[must_use]
    pub fn text_header(&self, name: &str) -> Option<&'a str> {
        self.headers().find(|header| header.name == name)?.value.as_str()
    }

    /// The payload.
    #[must_use]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The whole frame, verbatim.
    #[must_use]
    pub const fn frame(&self) -> &'a [u8] {
        self.frame
    }

    /// Reads a whole frame.
    ///
    /// # Errors
    /// The fault, if there is one. [`FrameFault::HeadersLength`] if the length of `frame` is not the length
    /// that it states.
    pub fn read(frame: &'a [u8]) -> Result<Self, FrameFault> {
        let prelude = Prelude::read(frame).ok_or(FrameFault::Truncated)??;
        if prelude.total != frame.len() {
            return Err(FrameFault::HeadersLength);
        }
        Self::check(frame, prelude)
    }

    /// Reads a frame of the length that its prelude states.
    fn check(frame: &'a [u8], prelude: Prelude) -> Result<Self, FrameFault> {
        let (body, trailer) =
            frame.split_last_chunk::<TRAILER>().ok_or(FrameFault::HeadersLength)?;
        let (headers, payload) = body
            .get(PRELUDE..)
            .and_then(|rest| rest.split_at_checked(prelude.headers))
            .ok_or(FrameFault::HeadersLength)?;
        // An unreadable header says more than the checksum, which is then usually wrong, too.
        let mut all = Headers::new(headers);
        while all.read()?.is_some() {}
        let stated = u32::from_be_bytes(*trailer);
        let computed = checksum(body);
        if stated != computed {
            return Err(FrameFault::MessageChecksum { computed, stated });
        }
        Ok(Self { frame, headers, payload })
    }

    /// Encodes a frame with the headers of this message, byte for byte, and another payload.
    ///
    /// # Errors
    /// [`TooLong`] if the frame would exceed 4 GiB.
    pub fn encode_with(&self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
        let start = begin(out);
        out.extend_from_slice(self.headers);
        end(start, self.headers.len(), payload, out)
    }
}

impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("headers", &self.headers())
            .field("payload", &String::from_utf8_lossy(self.payload))
            .finish()
    }
}

/// The lengths of a frame, with a verified checksum.
#[derive(Clone, Copy, Debug)]
struct Prelude {
    total: usize,
    headers: usize,
}

impl Prelude {
    /// The prelude at the start of `bytes`. `None` if there are too few.
    fn read(bytes: &[u8]) -> Option<Result<Self, FrameFault>> {
        let (lengths, rest) = bytes.split_first_chunk::<8>()?;
        let (stated, _) = rest.split_first_chunk()?;
        let stated = u32::from_be_bytes(*stated);
        let computed = checksum(lengths);
        if stated != computed {
            return Some(Err(FrameFault::PreludeChecksum { computed, stated }));
        }
        let [t0, t1, t2, t3, h0, h1, h2, h3] = *lengths;
        let total = u32::from_be_bytes([t0, t1, t2, t3]) as usize;
        let headers = u32::from_be_bytes([h0, h1, h2, h3]) as usize;
        Some(Ok(Self { total, headers }))
    }

    /// Whether the lengths are possible for a frame.
    const fn is_sound(self) -> bool {
        self.total >= SHORTEST && self.headers <= self.total - SHORTEST
    }
}

/// A frame, or a part of one, is too long for the format: a name that is empty or longer than 255 bytes,
/// a value longer than 65,535 bytes, or a frame longer than 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too long for an AWS event stream")
    }
}

impl std::error::Error for TooLong {}

/// Encodes a message as one frame, and appends it to `out`.
///
/// ```
/// use wiremend_wire::eventstream::{Header, HeaderValue, Message, encode};
///
/// let mut frame = Vec::new();
/// encode(&[Header::new(":event-type", HeaderValue::Str("chunk"))], b"{}", &mut frame)?;
/// let message = Message::read(&frame)?;
/// assert_eq!(message.text_header(":event-type"), Some("chunk"));
/// assert_eq!(message.payload(), b"{}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TooLong`]. `out` is then unchanged.
pub fn encode(headers: &[Header<'_>], payload: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    let start = begin(out);
    for header in headers {
        if write(header, out).is_none() {
            out.truncate(start);
            return Err(TooLong);
        }
    }
    let length = out.len() - start - PRELUDE;
    end(start, length, payload, out)
}

/// Reserves space for the prelude.
fn begin(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; PRELUDE]);
    start
}

/// Writes payload, lengths and checksums.
fn end(start: usize, headers: usize, payload: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    let total = u32::try_from(headers + payload.len() + SHORTEST);
    let (Ok(total), Ok(headers)) = (total, u32::try_from(headers)) else {
        out.truncate(start);
        return Err(TooLong);
    };
    out.extend_from_slice(payload);
    let mut prelude = [0; PRELUDE];
    prelude[..4].copy_from_slice(&total.to_be_bytes());
    prelude[4..8].copy_from_slice(&headers.to_be_bytes());
    let sum = checksum(&prelude[..8]);
    prelude[8..].copy_from_slice(&sum.to_be_bytes());
    out[start..start + PRELUDE].copy_from_slice(&prelude);
    let sum = checksum(&out[start..]);
    out.extend_from_slice(&sum.to_be_bytes());
    Ok(())
}

// CRC-32 as defined in ISO 3309, reflected, with the polynomial of zlib and PNG. Eight bytes per step.

const POLYNOMIAL: u32 = 0xedb8_8320;

/// `TABLES[k][b]` is the checksum of `b` followed by `k` zero bytes.
const TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        k += 1;
    }
    tables
};

/// The checksum of `bytes`.
fn checksum(bytes: &[u8]) -> u32 {
    work::count(bytes.len());
    let mut value = u32::MAX;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let mut next = 0;
        for (at, &byte) in word.iter().enumerate() {
            let mixed = if at < 4 { byte ^ value.to_le_bytes()[at] } else { byte };
            next ^= TABLES[7 - at][usize::from(mixed)];
        }
        value = next;
    }
    for &byte in words.remainder() {
        value = (value >> 8) ^ TABLES[0][usize::from(byte ^ value.to_le_bytes()[0])];
    }
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One bit at a time, as the standard defines it.
    fn by_bits(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |value, &byte| {
            (0..8).fold(value ^ u32::from(byte), |value, _| {
                (value >> 1) ^ if value & 1 == 1 { super::POLYNOMIAL } else { 0 }
            })
        })
    }

    #[test]
    fn it_is_the_checksum_of_the_standard() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        let bytes: Vec<u8> = (0..100_u8).map(|byte| byte.wrapping_mul(37)).collect();
        for len in 0..bytes.len() {
            assert_eq!(checksum(&bytes[..len]), by_bits(&bytes[..len]), "{len}");
        }
    }

    /// Every type of header.
    const HEADERS: [Header<'_>; 10] = [
        Header::new(":event-type", HeaderValue::Str("chunk")),
        Header::new("yes", HeaderValue::Bool(true)),
        Header::new("no", HeaderValue::Bool(false)),
        Header::new("byte", HeaderValue::Byte(-3)),
        Header::new("short", HeaderValue::Short(-300)),
        Header::new("int", HeaderValue::Int(-70_000)),
        Header::new("long", HeaderValue::Long(-5_000_000_000)),
        Header::new("bytes", HeaderValue::Bytes(b"\0\xff")),
        Header::new("time", HeaderValue::Timestamp(1_700_000_000_123)),
        Header::new("uuid", HeaderValue::Uuid(*b"0123456789abcdef")),
    ];

    fn frame(payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&HEADERS, payload, &mut out).unwrap();
        out
    }

    /// Frames as their payload, other events as their debug text.
    fn read(limit: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut decoder = EventStreamDecoder::new().with_limit(limit);
        let mut seen = Vec::new();
        let mut sink = |event: EventStreamEvent<'_>| {
            seen.push(match event {
                EventStreamEvent::Message(message) => {
                    String::from_utf8_lossy(message.payload()).into_owned()
                }
                other => format!("{other:?}"),
            });
        };
        for chunk in chunks {
            decoder.push(chunk, &mut sink);
        }
        decoder.finish(&mut sink);
        seen
    }

    /// Reads the body whole, byte by byte, and split at every position.
    fn at_every_cut(limit: usize, body: &[u8]) -> Vec<String> {
        let whole = read(limit, &[body]);
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(read(limit, &bytes), whole);
        for at in 0..=body.len() {
            let (head, tail) = body.split_at(at);
            assert_eq!(read(limit, &[head, b"", tail]), whole, "{at}");
        }
        whole
    }

    #[test]
    fn what_was_encoded_is_decoded_and_encodes_to_the_same() {
        let one = frame(b"{\"a\":1}");
        let message = Message::read(&one).unwrap();
        assert_eq!(message.headers().collect::<Vec<_>>(), HEADERS);
        let mut again = Vec::new();
        message.encode_with(message.payload(), &mut again).unwrap();
        assert_eq!(again, one);
        let body = [one, frame(b""), frame(b"two")].concat();
        assert_eq!(at_every_cut(1000, &body), ["{\"a\":1}", "", "two"]);
    }

    #[test]
    fn a_frame_without_headers_and_payload_is_sixteen_bytes() {
        let mut out = Vec::new();
        encode(&[], b"", &mut out).unwrap();
        assert_eq!(out.len(), 16);
        assert_eq!(at_every_cut(16, &out), [""]);
    }

    #[test]
    fn a_wrong_checksum_costs_its_frame_only() {
        let mut broken = frame(b"one");
        let last = broken.len() - 6;
        broken[last] ^= 1;
        let seen = at_every_cut(1000, &[broken, frame(b"two")].concat());
        assert!(seen[0].contains("MessageChecksum"), "{seen:?}");
        assert_eq!(seen[1..], ["two"]);
    }

    #[test]
    fn wrong_lengths_are_passed_over_to_the_next_frame() {
        let mut broken = frame(b"one");
        broken[3] ^= 1;
        let seen = at_every_cut(1000, &[frame(b"zero"), broken, frame(b"two")].concat());
        assert!(seen[1].contains("PreludeChecksum"), "{seen:?}");
        assert_eq!([&seen[0], &seen[2]], ["zero", "two"]);
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn an_oversize_frame_is_dropped_and_the_next_is_read() {
        let body = [frame(&[b'x'; 400]), frame(b"two")].concat();
        assert_eq!(at_every_cut(300, &body), ["Oversize { limit: 300 }", "two"]);
    }

    #[test]
    fn an_end_inside_a_frame_is_reported() {
        let whole = frame(b"one");
        for end in 1..whole.len() {
            assert_eq!(read(1000, &[&whole[..end]]), ["Fault(Truncated)"], "{end}");
        }
        assert!(read(1000, &[]).is_empty());
    }

    /// A frame with those bytes as headers, and valid checksums.
    fn with_headers(headers: &[u8]) -> Vec<u8> {
        let total = u32::try_from(headers.len() + 16).unwrap();
        let mut out = [total.to_be_bytes(), (total - 16).to_be_bytes()].concat();
        out.extend(checksum(&out).to_be_bytes());
        out.extend(headers);
        out.extend(checksum(&out).to_be_bytes());
        out
    }

    #[test]
    fn broken_headers_are_reported_by_kind() {
        let cases: [(&[u8], FrameFault); 7] = [
            (b"\0", FrameFault::HeaderName),
            (b"\x05ab", FrameFault::HeaderName),
            (b"\x01\xff\x00", FrameFault::HeaderName),
            (b"\x01a", FrameFault::HeaderValue),
            (b"\x01a\x60", FrameFault::HeaderType(0x60)),
            (b"\x01a\x07\0\x09xy", FrameFault::HeaderValue),
            (b"\x01a\x07\0\x01\xff", FrameFault::HeaderValue),
        ];
        for (headers, fault) in cases {
            let body = [with_headers(headers), frame(b"next")].concat();
            assert_eq!(at_every_cut(1000, &body), [format!("Fault({fault:?})"), "next".to_owned()]);
        }
        assert_eq!(at_every_cut(1000, &with_headers(b"\x01a\x01")), [""]);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_leaves_the_output_alone() {
        let long = "n".repeat(256);
        let text = "v".repeat(65_536);
        for header in [
            Header::new("", HeaderValue::Bool(true)),
            Header::new(&long, HeaderValue::Bool(true)),
            Header::new("a", HeaderValue::Str(&text)),
        ] {
            let mut out = vec![1];
            assert_eq!(encode(&[header], b"", &mut out), Err(TooLong));
            assert_eq!(out, [1]);
        }
    }

    #[test]
    fn a_header_that_cannot_be_read_says_more_than_the_checksum() {
        let mut broken = with_headers(b"\x01a\x60");
        let last = broken.len() - 1;
        broken[last] ^= 1;
        assert_eq!(read(1000, &[&broken]), ["Fault(HeaderType(96))"]);
    }
}
