//! Rewrites a provider's body: the original body in, the same body with repaired deltas out.

mod carrier;
mod empty;
mod flow;
mod item;
mod options;
mod promote;
mod withheld;

pub(crate) use empty::Empty;
pub(crate) use item::spliced;
pub use options::{RewriteMode, RewriteOptions, RewriteOutcome};

use crate::{ApiFormat, Framing, WireEvent, framing::Unframer};
use flow::Flow;

/// The output of a [`Rewriter`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Rewritten<'a> {
    /// The next bytes of the body.
    Bytes(&'a [u8]),
    /// An event of the body, as from a [`Decoder`](crate::Decoder). Arguments are those that were
    /// emitted: repaired only if the call is complete.
    Event(WireEvent<'a>),
}

/// Rewrites the body of a model's stream while it arrives, with the arguments of tool calls repaired.
///
/// Call [`push`](Self::push) any number of times, then [`finish`](Self::finish) once. Call
/// [`stop`](Self::stop) at any time. The way the body is split into chunks does not change the output
/// bytes. Events without a change are forwarded byte for byte. In an event with a change, only the
/// string that holds the delta is replaced.
///
/// What leaves of a call before its end is what came, byte for byte. Only a call that ends complete is changed:
/// one that was cut off, refused, damaged or too long leaves as it came, so a client that closes partial JSON by
/// itself runs nothing that it would not have run without the rewriter. No policy closes a call. Memory: the open event and the
/// queued events, within [`RewriteOptions::with_held`], and the memory of a
/// [`Decoder`](crate::Decoder). The length of the body may change, so do not forward `Content-Length`
/// or a digest of the body.
///
/// ```
/// use wiremend_wire::{RewriteOptions, RewriteOutcome, Rewriter, Rewritten};
///
/// let body = concat!(
///     r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":"#,
///     r#"{"name":"f","arguments":"{'a': "}}]}}]}"#, "\n\n",
///     r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":"#,
///     r#"{"arguments":"True}"}}]}}]}"#, "\n\n",
///     r#"data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#, "\n\n",
///     "data: [DONE]\n\n",
/// );
/// let mut rewriter = Rewriter::new(RewriteOptions::new());
/// let mut out = Vec::new();
/// let mut take = |piece: Rewritten<'_>| {
///     if let Rewritten::Bytes(bytes) = piece {
///         out.extend_from_slice(bytes);
///     }
/// };
/// rewriter.push(body.as_bytes(), &mut take);
/// assert_eq!(rewriter.finish(&mut take), RewriteOutcome::Mended);
/// let want = body.replace("{'a': ", r#"{\"a\": "#).replace("True}", "true}");
/// assert_eq!(String::from_utf8(out).unwrap(), want);
/// ```
#[derive(Debug)]
pub struct Rewriter {
    unframer: Unframer,
    flow: Flow,
    /// The first bytes, while they may be the magic number of a compressed body.
    head: Option<Vec<u8>>,
    encoded: bool,
    announced: bool,
    outcome: Option<RewriteOutcome>,
}

/// The magic numbers of compressed bodies: gzip and Zstandard.
const MAGIC: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];

impl Rewriter {
    /// Creates a rewriter at the start of a body.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to a decoder")]
    pub fn new(options: RewriteOptions) -> Self {
        Self {
            unframer: Unframer::new(options.wire()),
            flow: Flow::new(&options),
            head: Some(Vec::new()),
            encoded: options.is_encoded(),
            announced: false,
            outcome: None,
        }
    }

    /// The framing, once it is known.
    #[must_use]
    pub const fn framing(&self) -> Option<Framing> {
        self.flow.body.framing()
    }

    /// The format, once it is known.
    #[must_use]
    pub const fn format(&self) -> Option<ApiFormat> {
        self.flow.body.wire()
    }

    /// The number of bytes that were received but not emitted yet.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.flow.withheld() + self.head.as_ref().map_or(0, Vec::len)
    }

    /// How much memory that takes, in bytes, about: with what is kept of each event that waits, which is more than its bytes
    /// where events are small.
    ///
    /// ```
    /// use wiremend_wire::{RewriteMode, RewriteOptions, Rewriter};
    ///
    /// let mut rewriter = Rewriter::new(RewriteOptions::new().with_mode(RewriteMode::Validated));
    /// let call = r#"{"index":0,"id":"c1","function":{"name":"f","arguments":"{"}}"#;
    /// let event = format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n");
    /// rewriter.push(event.as_bytes(), &mut |_| {});
    /// let one = rewriter.memory();
    /// assert!(one > rewriter.withheld());
    /// // What keeps the connection alive is kept with no more than its bytes, and room for as many.
    /// rewriter.push(": ping\n\n".repeat(1000).as_bytes(), &mut |_| {});
    /// assert!(rewriter.memory() - one < 3 * 8000);
    /// ```
    #[must_use]
    pub fn memory(&self) -> usize {
        self.flow.memory() + self.head.as_ref().map_or(0, Vec::capacity)
    }

    /// Whether the body has reached the end that its format requires, such as `[DONE]`: if it breaks off here, nothing
    /// is missing.
    ///
    /// ```
    /// use wiremend_wire::{RewriteOptions, Rewriter};
    ///
    /// let mut rewriter = Rewriter::new(RewriteOptions::new());
    /// rewriter.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n", &mut |_| {});
    /// assert!(!rewriter.is_ended());
    /// rewriter.push(b"data: [DONE]\n\n", &mut |_| {});
    /// assert!(rewriter.is_ended());
    /// ```
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.outcome.is_none() && self.flow.body.is_ended()
    }

    /// The calls that have begun and not ended, in no particular order: the number of each, as in the events,
    /// and its arguments so far as the model wrote them, without repairs. For display only: a later piece
    /// may replace what an earlier one said, and [`CallEnded`](WireEvent::CallEnded) decides.
    ///
    /// ```
    /// use wiremend_wire::{RewriteOptions, Rewriter};
    ///
    /// let mut rewriter = Rewriter::new(RewriteOptions::new());
    /// let body = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":"#;
    /// rewriter.push(body.as_bytes(), &mut |_| {});
    /// rewriter.push(b"{\"name\":\"f\",\"arguments\":\"{'a': \"}}]}}]}\n\n", &mut |_| {});
    /// assert!(rewriter.open_calls().eq([(0, "{'a': ")]));
    /// ```
    pub fn open_calls(&self) -> impl Iterator<Item = (usize, &str)> {
        self.flow.body.open_calls()
    }

    /// Reads a chunk of the body. After the end, or after a stop, chunks pass through.
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(Rewritten<'_>)) {
        if self.outcome.is_some() || self.encoded {
            if !chunk.is_empty() {
                sink(Rewritten::Bytes(chunk));
            }
            return;
        }
        self.announce(sink);
        let Some(mut head) = self.head.take() else {
            self.read(chunk, sink);
            return;
        };
        let mut start = chunk;
        if !head.is_empty() {
            head.extend_from_slice(chunk);
            start = &head;
        }
        if MAGIC.iter().any(|magic| start.len() < magic.len() && magic.starts_with(start)) {
            self.head = Some(start.to_vec());
        } else if MAGIC.iter().any(|magic| start.starts_with(magic)) {
            self.encoded = true;
            sink(Rewritten::Bytes(start));
        } else {
            self.read(start, sink);
        }
    }

    fn read(&mut self, chunk: &[u8], sink: &mut impl FnMut(Rewritten<'_>)) {
        let Self { unframer, flow, .. } = self;
        unframer.push(chunk, &mut |frame, end| flow.take(frame, end, chunk, sink));
        self.flow.end_chunk(chunk, sink);
    }

    /// Ends the body: open calls end, and queued bytes are emitted.
    pub fn finish(&mut self, sink: &mut impl FnMut(Rewritten<'_>)) -> RewriteOutcome {
        if let Some(outcome) = self.outcome {
            return outcome;
        }
        if !self.encoded {
            self.announce(sink);
            if let Some(head) = self.head.take() {
                self.read(&head, sink);
            }
            let Self { unframer, flow, .. } = self;
            unframer.finish(&mut |frame, end| flow.take(frame, end, &[], sink));
            let ended = self.flow.end(sink);
            sink(Rewritten::Event(WireEvent::Ended(ended)));
        }
        let outcome = match (self.encoded, self.flow.overflow, self.flow.changed) {
            (true, ..) => RewriteOutcome::Encoded,
            (_, true, _) => RewriteOutcome::Overflow,
            (_, _, true) => RewriteOutcome::Mended,
            _ => RewriteOutcome::Unchanged,
        };
        self.outcome = Some(outcome);
        outcome
    }

    /// Stops rewriting: what was received and waits is emitted as it came, and later chunks pass through. No further
    /// events are emitted. An outcome that was already determined does not change. This is also the end of a body that
    /// upstream broke off: nothing is completed, and with [`RewriteOptions::with_cut_calls_withheld`], what waits of calls
    /// that have not ended is dropped.
    ///
    /// ```
    /// use wiremend_wire::{RewriteOptions, RewriteOutcome, Rewriter, Rewritten};
    ///
    /// let piece = |arguments: &str| {
    ///     let call = r#"{"index":0,"id":"c1","function":{"name":"f","arguments":"ARGUMENTS"}}"#;
    ///     let call = call.replace("ARGUMENTS", arguments);
    ///     format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n")
    /// };
    /// let mut rewriter = Rewriter::new(RewriteOptions::new());
    /// let mut out = Vec::new();
    /// let mut take = |written: Rewritten<'_>| {
    ///     if let Rewritten::Bytes(bytes) = written {
    ///         out.extend_from_slice(bytes);
    ///     }
    /// };
    /// let body = piece("{'a': ") + &piece("1}");
    /// rewriter.push(body.as_bytes(), &mut take);
    /// assert_eq!(rewriter.withheld(), body.len());
    /// // The connection is reset.
    /// assert_eq!(rewriter.stop(&mut take), RewriteOutcome::Stopped);
    /// assert_eq!(out, body.as_bytes());
    /// ```
    pub fn stop(&mut self, sink: &mut impl FnMut(Rewritten<'_>)) -> RewriteOutcome {
        if let Some(outcome) = self.outcome {
            return outcome;
        }
        if let Some(head) = self.head.take().filter(|head| !head.is_empty()) {
            sink(Rewritten::Bytes(&head));
        }
        if let Some(tracking) = self.flow.body.channels().tracking() {
            tracking.break_off();
        }
        self.flow.abandon(sink);
        self.flow.leave_all(&[], sink);
        self.outcome = Some(RewriteOutcome::Stopped);
        RewriteOutcome::Stopped
    }

    /// Emits what waits as it came, as where [`RewriteOptions::with_held`] is exceeded. Unlike after a
    /// [stop](Self::stop), the body is read on, and calls that begin later are repaired. The outcome will be
    /// [`RewriteOutcome::Overflow`].
    pub fn release(&mut self, sink: &mut impl FnMut(Rewritten<'_>)) {
        if self.outcome.is_none() && !self.encoded {
            self.flow.let_go(sink);
        }
    }

    fn announce(&mut self, sink: &mut impl FnMut(Rewritten<'_>)) {
        if !core::mem::replace(&mut self.announced, true) {
            self.flow.body.announce(&mut |event| sink(Rewritten::Event(event)));
        }
    }
}
