//! Rewrites a provider's body: the original body in, the same body with repaired deltas out.

mod empty;
mod flow;
mod item;
mod promote;
mod withheld;

use crate::{ApiFormat, CallFinders, FitHook, Framing, WireEvent, WireOptions, framing::Unframer};
pub(crate) use empty::Empty;
use flow::Flow;
pub(crate) use item::spliced;

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

/// When the arguments of a call are emitted. In each mode they are repaired if the call is complete when it ends, and
/// verbatim if it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RewriteMode {
    /// Valid arguments are emitted as they arrive, at the latest one token, key or look-ahead later. From the first
    /// byte that needs a repair, the events wait until the call has ended.
    #[default]
    Eager,
    /// The events of a call, and everything after them, wait until the call has ended, so that a
    /// [hook](RewriteOptions::with_fit_hook) can change all of its arguments.
    Validated,
}

/// The options of a [`Rewriter`](crate::Rewriter).
///
/// ```
/// use wiremend_wire::{RewriteMode, RewriteOptions};
/// let options = RewriteOptions::new().with_mode(RewriteMode::Validated).with_held(1 << 20);
/// assert_eq!(options.mode(), RewriteMode::Validated);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewriteOptions {
    wire: WireOptions,
    mode: RewriteMode,
    json_content: bool,
    finders: Option<CallFinders>,
    withholds: bool,
    fitter: Option<FitHook>,
    encoded: bool,
    held: usize,
}

impl RewriteOptions {
    /// Arguments are repaired under [`Policy::CONSERVATIVE`](wiremend_core::Policy::CONSERVATIVE),
    /// content passes through, and the mode is [`RewriteMode::Eager`].
    #[must_use]
    pub const fn new() -> Self {
        Self {
            wire: WireOptions::new(),
            mode: RewriteMode::Eager,
            json_content: false,
            finders: None,
            withholds: false,
            fitter: None,
            encoded: false,
            held: 8 << 20,
        }
    }

    /// Sets how the body is decoded and the arguments are repaired.
    ///
    /// ### Default
    /// [`WireOptions::new`].
    #[must_use]
    pub fn with_wire(mut self, options: WireOptions) -> Self {
        self.wire = options;
        self
    }

    /// Sets when the content of the body is emitted.
    ///
    /// ### Default
    /// [`RewriteMode::Eager`].
    #[must_use]
    pub const fn with_mode(mut self, mode: RewriteMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether the content must be JSON (JSON mode, structured outputs), and is repaired, too.
    ///
    /// ### Default
    /// No: content is text, and passes through.
    #[must_use]
    pub const fn with_json_content(mut self, yes: bool) -> Self {
        self.json_content = yes;
        self
    }

    /// Looks for calls in the text, and sends those that are complete on in the shape of the provider:
    /// their text is removed, and `tool_calls`, `tool_use` or `functionCall` comes before the end of the
    /// choice. Where that end says that the model stopped by itself, it says afterwards that it stopped for
    /// tool calls. See docs/streams.md.
    ///
    /// From the first call in a text on, the events wait for the end of the choice. A call that is cut
    /// off or refused stays in the text, and so do all calls of a turn that does not end, of a body that
    /// lost something, and of a format other than OpenAI Chat, Anthropic Messages, Cohere's version 2, Gemini and Ollama.
    /// Does nothing for content that is [JSON](Self::with_json_content).
    ///
    /// ### Default
    /// Text passes through.
    #[must_use]
    pub fn with_calls_in_text(mut self, finders: CallFinders) -> Self {
        self.finders = Some(finders);
        self
    }

    /// Sets whether calls are withheld that were cut off: those whose outcome is [`Outcome::Cut`](wiremend_core::Outcome::Cut)
    /// or `Closed`, because their arguments, their turn or the body stopped within them, and what the model was
    /// writing when its turn ended for another reason than a stop or a call for tools, also if its arguments are valid
    /// JSON. Such a call is taken out of the body, and its outcome is not complete; the finish reason stays. A client
    /// that runs whatever calls it finds then runs none that was cut off. Calls that ended before that leave.
    ///
    /// All that follows the beginning of a call waits until it is known how its turn goes on, within
    /// [`with_held`](Self::with_held). In formats other than OpenAI Chat and Responses, Anthropic Messages, Gemini and
    /// Ollama, nothing is withheld.
    ///
    /// ### Default
    /// No: they leave as they came.
    ///
    /// ```
    /// use wiremend_wire::{RewriteOptions, Rewriter, Rewritten};
    ///
    /// let entry = r#"{"id":"c","type":"function","function":{"name":"rm","arguments":"{\"path\":\"/tmp\"}"}}"#;
    /// let body = format!(
    ///     r#"{{"choices":[{{"message":{{"tool_calls":[{entry}]}},"finish_reason":"length"}}]}}"#
    /// );
    /// let mut rewriter = Rewriter::new(RewriteOptions::new().with_cut_calls_withheld(true));
    /// let mut out = Vec::new();
    /// let mut take = |piece: Rewritten<'_>| {
    ///     if let Rewritten::Bytes(bytes) = piece {
    ///         out.extend_from_slice(bytes);
    ///     }
    /// };
    /// rewriter.push(body.as_bytes(), &mut take);
    /// rewriter.finish(&mut take);
    /// assert_eq!(String::from_utf8(out).unwrap(), body.replace(entry, ""));
    /// ```
    #[must_use]
    pub const fn with_cut_calls_withheld(mut self, yes: bool) -> Self {
        self.withholds = yes;
        self
    }

    /// Whether calls are withheld that were cut off.
    #[must_use]
    pub const fn withholds_cut_calls(&self) -> bool {
        self.withholds
    }

    /// Sets what changes the arguments of complete calls, and complete content that is
    /// [JSON](Self::with_json_content), beyond repairs. Only in [`RewriteMode::Validated`], because nothing that was
    /// emitted is taken back.
    ///
    /// ### Default
    /// Nothing does.
    #[must_use]
    pub fn with_fit_hook(mut self, fitter: FitHook) -> Self {
        self.fitter = Some(fitter);
        self
    }

    /// Sets the `Content-Encoding` of the response. With any value other than `identity`, the body passes
    /// through verbatim, and the outcome is [`RewriteOutcome::Encoded`].
    ///
    /// ### Default
    /// None. A body that starts like gzip or Zstandard data is still treated as encoded.
    #[must_use]
    pub fn with_content_encoding(mut self, encoding: &str) -> Self {
        let name = encoding.trim_ascii();
        self.encoded = !(name.is_empty() || name.eq_ignore_ascii_case("identity"));
        self
    }

    /// Sets how many bytes of events may be queued. Beyond that, everything open is forwarded verbatim,
    /// and the outcome is [`RewriteOutcome::Overflow`].
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_held(mut self, bytes: usize) -> Self {
        self.held = bytes;
        self
    }

    /// How the body is decoded.
    #[must_use]
    pub const fn wire(&self) -> &WireOptions {
        &self.wire
    }

    /// When the content of the body is emitted.
    #[must_use]
    pub const fn mode(&self) -> RewriteMode {
        self.mode
    }

    /// Whether the content is JSON.
    #[must_use]
    pub const fn json_content(&self) -> bool {
        self.json_content
    }

    /// What looks for calls in the text.
    #[must_use]
    pub const fn calls_in_text(&self) -> Option<&CallFinders> {
        self.finders.as_ref()
    }

    /// What changes the arguments of complete calls, and complete content.
    #[must_use]
    pub const fn fit_hook(&self) -> Option<&FitHook> {
        self.fitter.as_ref()
    }

    /// Whether the response has a `Content-Encoding`.
    #[must_use]
    pub const fn is_encoded(&self) -> bool {
        self.encoded
    }

    /// How many bytes of events may be queued.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.held
    }
}

impl Default for RewriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// The result of rewriting a body. It says nothing about the calls in it; the events do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RewriteOutcome {
    /// The body is compressed. It was forwarded verbatim.
    Encoded,
    /// Something was changed.
    Mended,
    /// The queue exceeded [`RewriteOptions::with_held`], or JSON content a limit of
    /// [`WireLimits`](crate::WireLimits): what was open then was forwarded verbatim.
    Overflow,
    /// [`Rewriter::stop`](crate::Rewriter::stop) was called.
    Stopped,
    /// Every byte was forwarded verbatim.
    Unchanged,
}

impl RewriteOutcome {
    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Encoded => "encoded",
            Self::Mended => "mended",
            Self::Overflow => "overflow",
            Self::Stopped => "stopped",
            Self::Unchanged => "unchanged",
        }
    }
}
