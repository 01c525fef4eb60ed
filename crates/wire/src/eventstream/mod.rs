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

mod crc;
mod frame;
mod header;

pub use frame::{FrameFault, Message, TooLong, encode};
pub use header::{Header, HeaderValue, Headers};

use frame::{PRELUDE, Prelude};

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

#[cfg(test)]
mod tests;
