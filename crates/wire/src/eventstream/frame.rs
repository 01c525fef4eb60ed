//! A frame: its layout, its faults, and its message.

use core::fmt;

use super::{
    crc::checksum,
    header::{self, Header, Headers},
};

/// Total length, length of the headers, and the checksum of both.
pub(super) const PRELUDE: usize = 12;
/// The checksum at the end of a frame.
const TRAILER: usize = 4;
/// The shortest frame: no headers, no payload.
pub(super) const SHORTEST: usize = PRELUDE + TRAILER;

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
    pub(super) fn check(frame: &'a [u8], prelude: Prelude) -> Result<Self, FrameFault> {
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
pub(super) struct Prelude {
    pub(super) total: usize,
    headers: usize,
}

impl Prelude {
    /// The prelude at the start of `bytes`. `None` if there are too few.
    pub(super) fn read(bytes: &[u8]) -> Option<Result<Self, FrameFault>> {
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
    pub(super) const fn is_sound(self) -> bool {
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
        if header::write(header, out).is_none() {
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
