//! The decoder: body bytes in, events out.

use std::borrow::Cow;

use wiremend_core::{MendOptions, Mended, Policy, Risk, buffer::BoundedBuffer, lexer::Fault, mend};

use crate::{
    ApiFormat, Doubt, ErrorKind, Framing, StreamOutcome, WireError, WireEvent, WireOptions,
    calls::{End, Entry, Sink},
    channels::Channels,
    eventstream::FrameFault,
    format::{self, Delta, Format, Members, excerpt},
    framing::{CHUNK, Frame, Unframer},
    json,
    json::Node,
    source::Source,
};

/// How many bytes of payloads are kept until the format is known.
const MOST_EARLY: usize = 64 << 10;

/// Decodes the body of a model's stream while it arrives.
///
/// Call [`push`](Self::push) any number of times, then [`finish`](Self::finish) once. The way the body
/// is split into chunks does not change the result. Text is emitted at once, the arguments of a call as
/// soon as they are certain. Memory: one line, one event, and the arguments of the open calls, each
/// within [`WireLimits`](crate::WireLimits).
///
/// ```
/// use wiremend_wire::{Decoder, StreamOutcome, WireEvent, WireOptions};
///
/// let mut decoder = Decoder::new(WireOptions::new());
/// let mut text = String::new();
/// let mut show = |event: WireEvent<'_>| {
///     if let WireEvent::Text { text: piece, .. } = event {
///         text.push_str(piece);
///     }
/// };
/// decoder.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hel", &mut show);
/// decoder.push(b"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", &mut show);
/// assert_eq!(decoder.finish(&mut show), StreamOutcome::Complete);
/// assert_eq!(text, "Hello");
/// ```
#[derive(Debug)]
pub struct Decoder {
    unframer: Unframer,
    body: Body,
    outcome: Option<StreamOutcome>,
}

/// All stages after the framing.
#[derive(Debug)]
pub(crate) struct Body {
    options: WireOptions,
    announced: bool,
    framing: Option<Framing>,
    wire: Option<ApiFormat>,
    format: Option<Box<dyn Format>>,
    channels: Channels,
    /// The payloads before the format was known, which no format recognises.
    unknown: Vec<Unknown>,
    /// Payloads of `chunk` that no format recognises: text, if the format turns out to be one in which they are.
    early: BoundedBuffer,
    overflow: bool,
    /// Whether the first payload was written as a Python literal instead of JSON, once there was one.
    python: Option<bool>,
    /// The body ended inside a frame.
    truncated: bool,
    /// A line of the event that is being read was damaged.
    torn: bool,
}

/// A payload that no format recognises.
#[derive(Debug)]
struct Unknown {
    event: String,
    /// As much of it as is kept.
    text: String,
    is_json: bool,
}

impl Unknown {
    fn new(event: &str, text: &str, is_json: bool) -> Self {
        let end = (0..=MOST_EARLY.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let text = text.get(..end.unwrap_or_default()).unwrap_or_default().to_owned();
        Self { event: event.to_owned(), text, is_json }
    }

    /// How much memory it takes.
    const fn size(&self) -> usize {
        size_of::<Self>() + self.event.len() + self.text.len()
    }
}

impl Decoder {
    /// Creates a decoder at the start of a body.
    #[must_use]
    pub fn new(options: WireOptions) -> Self {
        Self { unframer: Unframer::new(&options), body: Body::new(options), outcome: None }
    }

    /// The framing, once it is known.
    #[must_use]
    pub const fn framing(&self) -> Option<Framing> {
        self.body.framing
    }

    /// The format, once it is known.
    #[must_use]
    pub const fn format(&self) -> Option<ApiFormat> {
        self.body.wire
    }

    /// Reads a chunk of the body. Does nothing after [`finish`](Self::finish).
    pub fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(WireEvent<'_>)) {
        if self.outcome.is_some() {
            return;
        }
        self.body.announce(sink);
        let Self { unframer, body, .. } = self;
        unframer.push(chunk, &mut |frame, _| body.take(frame, sink));
    }

    /// Ends the body: open calls end, and the outcome is emitted. A body that ends without its format's
    /// end-of-stream marker is [`StreamOutcome::Cut`], whatever came before.
    pub fn finish(&mut self, sink: &mut impl FnMut(WireEvent<'_>)) -> StreamOutcome {
        if let Some(outcome) = self.outcome {
            return outcome;
        }
        self.body.announce(sink);
        let Self { unframer, body, .. } = self;
        unframer.finish(&mut |frame, _| body.take(frame, sink));
        let outcome = self.body.end(sink);
        self.outcome = Some(outcome);
        sink(WireEvent::Ended(outcome));
        outcome
    }
}

impl Body {
    pub(crate) fn new(options: WireOptions) -> Self {
        Self {
            announced: false,
            framing: options.framing(),
            wire: options.format(),
            format: options.format().and_then(format::start),
            channels: Channels::new(&options),
            unknown: Vec::new(),
            early: BoundedBuffer::new(MOST_EARLY),
            overflow: false,
            python: None,
            truncated: false,
            torn: false,
            options,
        }
    }

    pub(crate) const fn options(&self) -> &WireOptions {
        &self.options
    }

    pub(crate) const fn framing(&self) -> Option<Framing> {
        self.framing
    }

    /// Whether the body may end here, and holds all that its format requires.
    pub(crate) fn is_ended(&self) -> bool {
        !self.truncated && self.format.as_ref().is_some_and(|format| format.is_ended())
    }

    pub(crate) const fn wire(&self) -> Option<ApiFormat> {
        self.wire
    }

    pub(crate) fn open_calls(&self) -> impl Iterator<Item = (usize, &str)> {
        self.channels.open_calls()
    }

    pub(crate) const fn channels(&mut self) -> &mut Channels {
        &mut self.channels
    }

    /// Reports the framing and the format, where the caller has fixed them.
    pub(crate) fn announce(&mut self, sink: Sink<'_>) {
        if let Some(format) = &self.format {
            self.channels.set_call_ends(format.call_ends());
        }
        if !core::mem::replace(&mut self.announced, true) {
            if let Some(framing) = self.options.framing() {
                sink(WireEvent::FramingDetected(framing));
            }
            if let Some(wire) = self.options.format() {
                sink(WireEvent::FormatDetected(wire));
            }
        }
    }

    pub(crate) fn take(&mut self, frame: Frame<'_>, sink: Sink<'_>) {
        match frame {
            Frame::Framing(framing) => {
                self.framing = Some(framing);
                sink(WireEvent::FramingDetected(framing));
            }
            Frame::Payload { event, data, whole } => {
                // Bytes that are not UTF-8 were replaced, so the original bytes are lost.
                let damaged = matches!(data, Cow::Owned(_)).then_some(Doubt::DamagedEvent);
                let torn = core::mem::take(&mut self.torn).then_some(Doubt::LostEvent);
                self.channels.damage(damaged.or(torn));
                self.payload(&event, &data, whole, sink);
            }
            Frame::Comment(text) => {
                // An event whose field name was damaged, or the rest of one.
                let text = text.trim();
                if text.starts_with('{') || (text.ends_with('}') && text.contains('"')) {
                    self.channels.doubt(Doubt::LostEvent);
                }
                sink(WireEvent::KeepAlive);
            }
            Frame::Field { name, value } if name == "error" => {
                self.payload("error", &value, true, sink);
            }
            Frame::Field { name, value } if self.is_torn(&name, &value) => {
                self.torn = true;
                self.fail(ErrorKind::Malformed, &value, sink);
            }
            Frame::Field { .. } => {}
            Frame::Stray(text) if text.trim_start().starts_with(['{', '[']) => {
                self.payload("", &text, true, sink);
            }
            Frame::Stray(text) if text.trim_start().starts_with('<') => {
                self.fail(ErrorKind::NotAStream, &text, sink);
            }
            Frame::Stray(text) => self.fail(ErrorKind::Malformed, &text, sink),
            Frame::Oversize { limit } => {
                self.overflow = true;
                self.channels.doubt(Doubt::Limit);
                sink(WireEvent::Oversize { limit });
            }
            Frame::Exception { name, data } => {
                let error = format::read_exception(name, &data);
                self.channels.fail(&error, sink);
            }
            Frame::Fault(FrameFault::Truncated) => self.truncated = true,
            Frame::Fault(fault) => self.fail(ErrorKind::Malformed, &fault.to_string(), sink),
            Frame::Page { text } => self.fail(ErrorKind::NotAStream, &text, sink),
        }
        self.channels.damage(None);
    }

    /// Whether a field shows that a line of its event was damaged. The specification requires that unknown fields
    /// are ignored; but one that holds an object has lost its name, and one with the names of two is what is left of two
    /// lines. An event that lost its data, or the end of the one before it, shows its name here.
    fn is_torn(&self, name: &str, value: &str) -> bool {
        if name != "event" {
            return value.trim_start().starts_with('{') || is_joined(name);
        }
        let names = self.format.as_ref().map_or(&[][..], |format| format.names());
        value.contains('{') || names.iter().any(|name| value.contains(name))
    }

    fn fail(&mut self, kind: ErrorKind, text: &str, sink: Sink<'_>) {
        self.channels.fail(&WireError::new(kind, excerpt(text)), sink);
    }

    /// Reads a payload: JSON, several JSON values, the sentinel, or a keep-alive. `whole`: the framing saw
    /// its end.
    fn payload(&mut self, event: &str, data: &str, whole: bool, sink: Sink<'_>) {
        self.read(event, data, whole, sink);
        if self.format.is_none() && format::may_be_text(self.framing, event) {
            self.early.push(data.as_bytes());
        }
    }

    fn read(&mut self, event: &str, data: &str, whole: bool, sink: Sink<'_>) {
        if self.format.is_none()
            && let Some(wire) = format::detect_plain(self.framing, event, data)
        {
            self.set_format(wire, sink);
        }
        let Self { format, channels, .. } = self;
        if let Some(format) = format
            && format.decode_plain(event, data, &mut |delta| {
                channels.take(delta, Source::VERBATIM, sink);
            })
        {
            return;
        }
        let data = data.trim_end();
        let mut rest = data.trim_start();
        // Proxies may wrap a payload that is already wrapped.
        while let Some(inner) = rest.strip_prefix("data:") {
            rest = inner.trim_start();
        }
        if rest.is_empty() && !event.is_empty() {
            if let Some(error) = format::read_plain_error(event, rest) {
                self.channels.fail(&error, sink);
            } else if event.contains("delta")
                || self.format.as_ref().is_some_and(|format| format::is_part(event, format.names()))
            {
                // Its data was lost.
                self.fail(ErrorKind::Malformed, event, sink);
            } else {
                self.node(event, Node::EMPTY, Source::VERBATIM, sink);
            }
            return;
        }
        if rest.starts_with(':') && rest.contains('{') {
            // A comment in the data is none if it holds an object: a sign too many.
            self.fail(ErrorKind::Malformed, rest, sink);
            return;
        }
        if rest.is_empty() || rest.starts_with(':') || is_keep_alive(event, rest) {
            sink(WireEvent::KeepAlive);
            return;
        }
        while !rest.is_empty() {
            if let Some(after) = sentinel(rest) {
                if let Some(format) = &mut self.format {
                    format.sentinel();
                }
                rest = after.trim_start();
                continue;
            }
            match json::first_from(data, data.len() - rest.len()) {
                Ok((node, after)) => {
                    if self.python.is_none() && node.is_object() {
                        self.python = Some(false);
                    }
                    self.node(event, node, Source::VERBATIM, sink);
                    rest = after;
                }
                Err(fault) => {
                    self.broken(event, (data.len() - rest.len(), rest), (fault, whole), sink);
                    return;
                }
            }
        }
    }

    /// Handles the rest of a payload that is not JSON: cut off, a plain-text error, or an envelope to repair.
    fn broken(
        &mut self,
        event: &str,
        (at, text): (usize, &str),
        (fault, whole): (Fault, bool),
        sink: Sink<'_>,
    ) {
        if !whole {
            sink(WireEvent::Unfinished(text));
            return;
        }
        if let Some(error) = format::read_plain_error(event, text) {
            self.channels.fail(&error, sink);
            return;
        }
        if text.starts_with('{') && fault != Fault::Incomplete {
            let policy = Policy::PERMISSIVE.at_most(Risk::Lossy);
            let options = MendOptions::new().with_policy(policy).without_search();
            let mended = mend(text.as_bytes(), &options);
            let complete = mended.outcome().is_complete();
            if let Some(Ok((node, _))) = mended.text().filter(|_| complete).map(json::first) {
                sink(WireEvent::EnvelopeMended(&mended));
                let looks_python = text.starts_with("{'");
                let is_python = *self.python.get_or_insert(looks_python) && looks_python;
                let source = Source::mended(text, mended.repairs());
                let policy = self.options.mending().policy();
                let damaged = source.is_damaged(policy, is_python);
                // The damage must remain visible to the reader of a rewritten body.
                let written = self.note_envelope(at, &mended, !damaged);
                // Nothing can be written to a text that passes through an event verbatim. So what is open is
                // abandoned before the event, and what begins in it is abandoned after it.
                if !written {
                    self.channels.abandon();
                }
                if damaged {
                    self.channels.damage(Some(Doubt::DamagedEvent));
                }
                self.node(event, node, source, sink);
                if !written {
                    self.channels.abandon();
                }
                return;
            }
        }
        if self.format.is_some() {
            self.fail(ErrorKind::Malformed, text, sink);
        } else {
            self.keep_unknown(Unknown::new(event, text, false));
        }
    }

    /// Tells a rewriter how the payload was read from `at` on. Returns `false` if the payload must be
    /// forwarded verbatim.
    fn note_envelope(&mut self, at: usize, mended: &Mended, allowed: bool) -> bool {
        let policy = self.options.mending().policy();
        let allowed = allowed && mended.repairs().iter().all(|repair| policy.permits(&repair));
        let Some(tracking) = self.channels.tracking() else { return true };
        let mended = mended.text().unwrap_or_default().to_owned();
        tracking.enter(Entry::Envelope { at, mended, allowed });
        allowed
    }

    /// Reads one JSON value of the payload `source`.
    fn node(&mut self, event: &str, node: Node<'_>, source: Source<'_>, sink: Sink<'_>) {
        if !node.is_object() {
            match node.text().and_then(|text| format::read_plain_error(event, &text)) {
                Some(error) => self.channels.fail(&error, sink),
                // Null or an empty string, sent instead of a comment.
                None => sink(WireEvent::KeepAlive),
            }
            return;
        }
        // Each look into a payload that is a whole body takes as long as the body.
        let members = Members::of(node);
        let found = format::recognise(self.wire, (self.framing, event), &members);
        let is_event = found.is_some() && !members.say_nothing();
        let error = format::read_error(event, node)
            .or_else(|| if is_event { None } else { format::read_unshaped(node) });
        if let Some(error) = &error {
            self.channels.fail(error, sink);
        }
        if self.format.is_none() {
            self.begin(event, node, found, sink);
        }
        let Self { format: Some(format), channels, .. } = self else { return };
        let mut is_foreign = false;
        format.decode(event, node, &mut |delta| {
            is_foreign |= matches!(delta, Delta::Foreign);
            channels.take(delta, source, sink);
        });
        if is_foreign && error.is_none() && !is_event {
            channels.fail(&format::read_foreign(node), sink);
        }
    }

    /// Takes the first payload of a format, or one before it.
    fn begin(&mut self, event: &str, node: Node<'_>, found: Option<ApiFormat>, sink: Sink<'_>) {
        if let Some(wire) = found {
            self.set_format(wire, sink);
        } else if node.field("type").and_then(Node::text).as_deref() == Some("ping") {
            sink(WireEvent::KeepAlive);
        } else {
            self.keep_unknown(Unknown::new(event, node.raw(), true));
        }
    }

    /// Keeps a payload until the format is known. After one that is broken, or when too many were kept, nothing
    /// better can be said than that something is.
    fn keep_unknown(&mut self, unknown: Unknown) {
        if self.unknown.last().is_some_and(|last| !last.is_json) {
            return;
        }
        let kept: usize = self.unknown.iter().map(Unknown::size).sum();
        match self.unknown.last_mut() {
            Some(last) if kept + unknown.size() > MOST_EARLY => last.is_json = false,
            _ => self.unknown.push(unknown),
        }
    }

    fn set_format(&mut self, wire: ApiFormat, sink: Sink<'_>) {
        self.wire = Some(wire);
        self.format = format::start(wire);
        if let Some(format) = &self.format {
            self.channels.set_call_ends(format.call_ends());
        }
        sink(WireEvent::FormatDetected(wire));
        let unknown = core::mem::take(&mut self.unknown);
        let early = self.read_early(sink);
        let is_broken = |unknown: &&Unknown| early.map_or(!unknown.is_json, |all| !all);
        if let Some(broken) = unknown.iter().find(is_broken) {
            self.fail(ErrorKind::Malformed, &broken.text, sink);
        } else if early.is_none() {
            unknown.iter().for_each(|unknown| self.doubt_early(unknown));
        }
    }

    /// Whether a payload that did not show its format held something of it.
    fn doubt_early(&mut self, unknown: &Unknown) {
        let Unknown { event, text, .. } = unknown;
        let (Some(format), Ok((node, _))) = (&mut self.format, json::first(text)) else { return };
        let mut lost = false;
        format.decode(event, node, &mut |delta| {
            lost |=
                !matches!(delta, Delta::Usage(_) | Delta::Finish { .. } | Delta::CallEnd { .. });
        });
        if lost {
            self.channels.doubt(Doubt::LostEvent);
        }
    }

    /// Reads the payloads that came before the format was known, if they are text in it. Returns whether all of
    /// them were kept.
    fn read_early(&mut self, sink: Sink<'_>) -> Option<bool> {
        let early = core::mem::replace(&mut self.early, BoundedBuffer::new(0)).into_bytes();
        let text = early.as_ref().map(|early| String::from_utf8_lossy(early));
        let Self { format: Some(format), channels, .. } = self else { return None };
        let mut take = |delta: Delta<'_>| channels.take_late(delta, sink);
        let is_text = format.decode_plain(CHUNK, text.as_deref().unwrap_or_default(), &mut take);
        is_text.then_some(text.is_some())
    }

    pub(crate) fn end(&mut self, sink: Sink<'_>) -> StreamOutcome {
        let ended = self.is_ended();
        // If the body states its end, but not the end of a turn, that turn ended uncleanly.
        self.channels.end(if ended { End::Unclean } else { End::Broken }, sink);
        if self.channels.has_failed() {
            return StreamOutcome::Error;
        }
        if self.overflow {
            return StreamOutcome::Overflow;
        }
        if let (None, Some(unknown)) = (self.wire, self.unknown.first()) {
            let text = excerpt(&unknown.text);
            sink(WireEvent::Error(&WireError::new(ErrorKind::Unrecognised, text)));
            return StreamOutcome::Unrecognised;
        }
        match ended {
            false => StreamOutcome::Cut,
            true if self.channels.is_lossy() => StreamOutcome::Lossy,
            true => StreamOutcome::Complete,
        }
    }
}

/// The names of events, and the words, that keep a connection open.
const KEEP_ALIVES: [&str; 5] = ["heartbeat", "keep-alive", "keep_alive", "keepalive", "ping"];

/// Whether a payload that is not an object only keeps the connection open.
fn is_keep_alive(event: &str, text: &str) -> bool {
    let is_known = |word: &str| KEEP_ALIVES.iter().any(|known| word.eq_ignore_ascii_case(known));
    !text.starts_with(['{', '[']) && (is_known(event) || is_known(text))
}

/// Whether the name of a field is what is left of two lines: the beginning of one field, and another.
fn is_joined(name: &str) -> bool {
    const FIELDS: [&str; 4] = ["data", "event", "id", "retry"];
    let head = ["data", "event"].iter().find_map(|field| name.strip_suffix(field));
    head.is_some_and(|head| !head.is_empty() && FIELDS.iter().any(|field| field.starts_with(head)))
}

/// What follows the sentinel `[DONE]`, in the spellings of servers, if the text begins with it.
fn sentinel(text: &str) -> Option<&str> {
    let whole = ["[done]", "DONE", "done"].contains(&text).then_some("");
    text.strip_prefix("[DONE]").or(whole)
}
