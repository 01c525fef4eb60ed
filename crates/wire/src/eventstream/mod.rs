//! AWS event streams (`application/vnd.amazon.eventstream`): binary frames with two checksums and
//! typed headers, as of the AWS documentation "Event stream encoding", while they arrive.
//!
//! A frame is the total length and the length of the headers, both 32 bits in network order, the
//! CRC-32 of these eight bytes, the headers, the payload, and the CRC-32 of everything before.
//!
//! ```
//! use jsonmend_wire::eventstream::{
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
//! # Ok::<(), jsonmend_wire::eventstream::TooLong>(())
//! ```

mod crc;
mod frame;
mod header;

pub use frame::{FrameFault, Message, TooLong, encode};
pub use header::{Header, HeaderValue, Headers};

use frame::{PRELUDE, Prelude};

/// What the decoder hands out.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventStreamEvent<'a> {
    /// A frame that is broken; the next one is read again. Where the lengths themselves are wrong,
    /// the input is searched for the next lengths whose checksum is right, and the fault is told
    /// once for all that is passed over.
    Fault(FrameFault),
    /// A message.
    Message(Message<'a>),
    /// A frame passed its bound and was dropped.
    Oversize {
        /// The bound, in bytes.
        limit: usize,
    },
}

/// Decodes AWS event streams while they arrive.
///
/// Calling order: [`push`](Self::push) any number of times, then [`finish`](Self::finish) once. How
/// the input is cut into chunks changes nothing. Only a frame that straddles two chunks is copied.
/// Memory: one frame, within the limit.
#[derive(Clone, Debug)]
pub struct EventStreamDecoder {
    limit: usize,
    /// The frame that is open, as far as earlier chunks held it.
    open: Vec<u8>,
    /// How many bytes of it must be there before it is looked at again.
    want: usize,
    /// Bytes of a dropped frame that are still to come.
    skip: usize,
    /// Searching for the next lengths that hold.
    lost: bool,
    /// Bytes of all chunks before the present one.
    base: u64,
}

/// How much of the bytes was read.
enum Step {
    Used(usize),
    /// Nothing: it takes so many bytes to go on.
    Want(usize),
}

impl EventStreamDecoder {
    /// A decoder at the start of a stream; frames may have 8 MiB.
    #[must_use]
    pub const fn new() -> Self {
        Self { limit: 8 << 20, open: Vec::new(), want: PRELUDE, skip: 0, lost: false, base: 0 }
    }

    /// With that bound on the length of a frame, in bytes.
    #[must_use]
    pub const fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// How many bytes are kept of a frame that has not ended.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.open.len()
    }

    /// Reads a chunk; `sink` gets what it completes.
    pub fn push(&mut self, chunk: &[u8], mut sink: impl FnMut(EventStreamEvent<'_>)) {
        self.drive(chunk, &mut |event, _| sink(event));
    }

    /// As [`push`](Self::push), and tells where in the stream the bytes of each event end.
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

    /// Ends the stream: a frame that is open is [`FrameFault::Truncated`].
    pub fn finish(&mut self, mut sink: impl FnMut(EventStreamEvent<'_>)) {
        let broken = !self.open.is_empty() || self.skip > 0;
        self.open.clear();
        self.skip = 0;
        if broken && !core::mem::take(&mut self.lost) {
            sink(EventStreamEvent::Fault(FrameFault::Truncated));
        }
    }

    /// Reads the frame at the start of `bytes`, which stand at `start` of the stream.
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
