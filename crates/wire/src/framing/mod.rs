//! Splits body bytes into payloads: framing detection, and the framings themselves.
//!
//! The framing is detected from the first bytes. Servers send JSON errors as `text/event-stream` and
//! event streams as `text/plain`, so the header only breaks a tie. To add a framing, add a module, a
//! variant of [`Framing`], and an arm here.

mod base64;

use std::borrow::Cow;

use crate::{
    error::coded,
    eventstream::{
        EventStreamDecoder, EventStreamEvent, FrameFault, Header, HeaderValue, Message, encode,
    },
    json::{self, Node, Span},
    limits::{WireLimits, WireOptions},
    sse::{SseDecoder, SseEvent, SseReading, is_field_name},
    values::{ValueDecoder, ValueEvent},
    work,
};

/// How a body is split into payloads.
///
/// ```
/// use wiremend_wire::Framing;
/// assert_eq!(Framing::from_code("sse"), Some(Framing::Sse));
/// assert_eq!(Framing::Ndjson.code(), "ndjson");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// Binary AWS frames: see [`eventstream`](crate::eventstream).
    EventStream,
    /// An HTML page: an error of a proxy or gateway on the way to the model.
    Html,
    /// One JSON value.
    Json,
    /// A JSON array whose items are the payloads.
    JsonArray,
    /// A sequence of JSON values, usually one per line.
    Ndjson,
    /// Server-sent events.
    Sse,
    /// Anything else.
    Text,
}

impl Framing {
    /// All framings, in alphabetical order of their codes.
    pub const ALL: &'static [Self] = &[
        Self::EventStream,
        Self::Html,
        Self::Json,
        Self::JsonArray,
        Self::Ndjson,
        Self::Sse,
        Self::Text,
    ];

    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::EventStream => "event-stream",
            Self::Html => "html",
            Self::Json => "json",
            Self::JsonArray => "json-array",
            Self::Ndjson => "ndjson",
            Self::Sse => "sse",
            Self::Text => "text",
        }
    }

    /// The framing with that code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|framing| framing.code() == code)
    }
}

coded!(Framing);

/// One piece of a body.
#[derive(Debug)]
pub(crate) enum Frame<'a> {
    /// The framing was detected, or refined.
    Framing(Framing),
    /// An event: its name (empty if it has none) and its payload.
    Payload { event: Cow<'a, str>, data: Cow<'a, str>, whole: bool },
    /// A comment, without its colon.
    Comment(Cow<'a, str>),
    /// An error that the framing itself can express: its name and its content.
    Exception { name: &'a str, data: Cow<'a, str> },
    /// A broken frame, dropped.
    Fault(FrameFault),
    /// A field of server-sent events that is not in the specification, or the name of an event that has no data of
    /// its own.
    Field { name: Cow<'a, str>, value: Cow<'a, str> },
    /// Text that belongs to no event.
    Stray(Cow<'a, str>),
    /// A limit was exceeded, and something was dropped.
    Oversize { limit: usize },
    /// The body is not a stream. This is the part of its text that was kept.
    Page { text: Cow<'a, str> },
}

/// Receives the frames of a body, each with the offset in the body after its last byte.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(Frame<'_>, u64);

/// How many values make a sequence.
const SEVERAL: usize = 2;

/// How much of a body that is not a stream is kept, in bytes.
const PAGE: usize = 8 << 10;

/// Splits a body into frames.
#[derive(Clone, Debug)]
pub(crate) struct Unframer {
    limits: WireLimits,
    /// The framing according to the header.
    hint: Option<Framing>,
    state: State,
    /// The number of bytes before those that the framing's decoder has read.
    base: u64,
    /// The number of bytes in all previous chunks.
    read: u64,
}

#[derive(Clone, Debug)]
enum State {
    /// The first bytes, while the framing is unknown.
    Unknown(Vec<u8>),
    Sse(Box<SseDecoder>),
    EventStream(EventStreamDecoder),
    /// The items of an array.
    Items(ValueDecoder),
    /// Values in sequence, and how many there were so far.
    Values(ValueDecoder, usize),
    /// The beginning of a body that is not a stream.
    Page(Vec<u8>),
}

impl Unframer {
    /// Creates an unframer at the start of a body.
    pub(crate) fn new(options: &WireOptions) -> Self {
        let limits = options.limits();
        let state = match options.framing() {
            Some(framing) => start(framing, limits),
            None => State::Unknown(Vec::new()),
        };
        Self { limits, hint: options.hint(), state, base: 0, read: 0 }
    }

    /// Reads a chunk.
    pub(crate) fn push(&mut self, chunk: &[u8], sink: Sink<'_>) {
        self.read += chunk.len() as u64;
        let State::Unknown(head) = &mut self.state else {
            self.decode(chunk, sink);
            return;
        };
        let mut head = core::mem::take(head);
        // The first chunk is nearly always enough, and is read in place.
        if head.is_empty()
            && let Some(framing) = sniff(chunk, false)
        {
            self.set_framing(framing, chunk, sink);
            return;
        }
        head.extend_from_slice(chunk);
        if let Some(framing) = sniff(&head, false) {
            self.set_framing(framing, &head, sink);
        } else {
            trim(&mut head);
            self.state = State::Unknown(head);
        }
    }

    /// Ends the body.
    pub(crate) fn finish(&mut self, sink: Sink<'_>) {
        if let State::Unknown(head) = &mut self.state {
            let head = core::mem::take(head);
            let Some(framing) = sniff(&head, true) else { return };
            self.set_framing(framing, &head, sink);
        }
        let Self { base, read, state, .. } = self;
        match state {
            State::Unknown(_) => {}
            State::Sse(decoder) => decoder.end(&mut |event, end| frame(event, *base + end, sink)),
            State::EventStream(decoder) => {
                decoder.finish(|event| message_frame(event, *read, sink));
            }
            State::Items(decoder) => {
                decoder.end(&mut |event, end| item(event, *base + end, sink));
            }
            State::Values(decoder, count) => {
                decoder.end(&mut |event, end| value(event, *base + end, count, sink));
            }
            State::Page(head) => sink(Frame::Page { text: json::text(head) }, *read),
        }
    }

    /// Sets the framing that was detected from the bytes so far.
    fn set_framing(&mut self, framing: Framing, head: &[u8], sink: Sink<'_>) {
        let framing = match (framing, self.hint) {
            (Framing::Text, Some(Framing::Sse)) => Framing::Sse,
            (Framing::Json, Some(Framing::Ndjson)) => Framing::Ndjson,
            (framing, _) => framing,
        };
        self.state = start(framing, self.limits);
        let text = after_lead(head);
        self.base = self.read.saturating_sub(text.len() as u64);
        sink(Frame::Framing(framing), self.base);
        self.decode(text, sink);
    }

    fn decode(&mut self, chunk: &[u8], sink: Sink<'_>) {
        let base = self.base;
        match &mut self.state {
            State::Unknown(_) => {}
            State::Sse(decoder) => {
                decoder.drive(chunk, &mut |event, end| frame(event, base + end, sink));
            }
            State::EventStream(decoder) => {
                decoder.drive(chunk, &mut |event, end| message_frame(event, base + end, sink));
            }
            State::Items(decoder) => {
                decoder.drive(chunk, &mut |event, end| item(event, base + end, sink));
            }
            State::Values(decoder, count) => {
                decoder.drive(chunk, &mut |event, end| value(event, base + end, count, sink));
            }
            State::Page(head) => {
                let room = PAGE.saturating_sub(head.len()).min(chunk.len());
                head.extend_from_slice(&chunk[..room]);
            }
        }
    }
}

fn start(framing: Framing, limits: WireLimits) -> State {
    match framing {
        Framing::Sse => {
            let decoder = SseDecoder::new(SseReading::Lenient).with_limits(limits.sse());
            State::Sse(Box::new(decoder))
        }
        Framing::Json | Framing::Ndjson => {
            let count = if framing == Framing::Json { 0 } else { SEVERAL };
            State::Values(ValueDecoder::sequence().with_limit(limits.sse().event()), count)
        }
        Framing::JsonArray => State::Items(ValueDecoder::array().with_limit(limits.sse().event())),
        Framing::EventStream => {
            State::EventStream(EventStreamDecoder::new().with_limit(limits.sse().event()))
        }
        Framing::Html | Framing::Text => State::Page(Vec::new()),
    }
}

fn frame(event: SseEvent<'_>, end: u64, sink: Sink<'_>) {
    if let SseEvent::Message(message) = &event
        && !message.has_data()
    {
        sink(Frame::Field { name: "event".into(), value: message.event_field() }, end);
    }
    let frame = match event {
        SseEvent::Bare(text) => Frame::Stray(text),
        SseEvent::Comment(text) => Frame::Comment(text),
        SseEvent::Field { name, value } => Frame::Field { name, value },
        SseEvent::Message(message) => Frame::Payload {
            event: message.event_field(),
            data: message.data(),
            whole: message.is_terminated(),
        },
        SseEvent::Oversize { limit, .. } => Frame::Oversize { limit },
    };
    sink(frame, end);
}

fn item(event: ValueEvent<'_>, end: u64, sink: Sink<'_>) {
    let frame = match event {
        ValueEvent::Oversize { limit } => Frame::Oversize { limit },
        ValueEvent::Stray(text) => Frame::Stray(text),
        ValueEvent::Value { text, whole } => Frame::Payload { event: "".into(), data: text, whole },
    };
    sink(frame, end);
}

fn value(event: ValueEvent<'_>, end: u64, count: &mut usize, sink: Sink<'_>) {
    if !matches!(event, ValueEvent::Stray(_)) {
        *count += 1;
        if *count == SEVERAL {
            sink(Frame::Framing(Framing::Ndjson), end);
        }
    }
    item(event, end, sink);
}

/// Emits an event of an AWS event stream as a frame.
fn message_frame(event: EventStreamEvent<'_>, end: u64, sink: Sink<'_>) {
    match event {
        EventStreamEvent::Message(message) => read(message, end, sink),
        EventStreamEvent::Fault(fault) => sink(Frame::Fault(fault), end),
        EventStreamEvent::Oversize { limit } => sink(Frame::Oversize { limit }, end),
    }
}

/// Reads a message. An event is named by `:event-type`. An exception that the service models is named by
/// `:exception-type`. Any other error has a code and a message in its headers and no payload.
fn read(message: Message<'_>, end: u64, sink: Sink<'_>) {
    let [mut kind, mut event, mut exception, mut code, mut error_message] = [""; 5];
    for header in message.headers() {
        let Some(text) = header.value.as_str() else { continue };
        match header.name {
            ":message-type" => kind = text,
            ":event-type" => event = text,
            ":exception-type" => exception = text,
            ":error-code" => code = text,
            ":error-message" => error_message = text,
            _ => {}
        }
    }
    let data = json::text(message.payload());
    match kind {
        "exception" => sink(Frame::Exception { name: exception, data }, end),
        "error" => sink(Frame::Exception { name: code, data: Cow::Borrowed(error_message) }, end),
        _ if !exception.is_empty() => sink(Frame::Exception { name: exception, data }, end),
        _ => {
            let inner = (event == CHUNK).then(|| unwrap(&data)).flatten();
            let data = match &inner {
                Some(inner) => json::text(inner),
                None => data,
            };
            sink(Frame::Payload { event: Cow::Borrowed(event), data, whole: true }, end);
        }
    }
}

/// A body whose framing is still open after that many bytes is text.
const ENOUGH: usize = 64;

/// The framing, once the bytes determine it. `last`: no more bytes follow.
fn sniff(head: &[u8], last: bool) -> Option<Framing> {
    work::count(head.len());
    let text = after_lead(head);
    let (&first, _) = text.split_first()?;
    match first {
        b'{' => return Some(Framing::Json),
        b'[' => return Some(Framing::JsonArray),
        b'<' => return Some(Framing::Html),
        b':' => return Some(Framing::Sse),
        // Frames are far shorter than 16 MiB, so the first byte of the length is zero.
        0 => return Some(Framing::EventStream),
        0xef if !last && text.len() < 3 => return None,
        _ => {}
    }
    let end = text.iter().position(|byte| matches!(byte, b':' | b'\n' | b'\r'));
    let name = &text[..end.unwrap_or(text.len())];
    let colon = end.is_some_and(|end| text[end] == b':');
    if !is_field_name(name) {
        return Some(Framing::Text);
    }
    let known = matches!(name, b"data" | b"event" | b"id" | b"retry");
    match end {
        Some(_) if known || colon => Some(Framing::Sse),
        None if !last && text.len() < ENOUGH => None,
        None if known => Some(Framing::Sse),
        _ => Some(Framing::Text),
    }
}

/// Drops bytes that do not matter, so that the head stays short.
fn trim(head: &mut Vec<u8>) {
    let skipped = head.len() - after_lead(head).len();
    head.drain(..skipped);
}

/// The head after byte order marks and white space, which every framing ignores.
fn after_lead(head: &[u8]) -> &[u8] {
    let mut text = head;
    loop {
        let trimmed = text.trim_ascii_start();
        let after = trimmed.strip_prefix(b"\xef\xbb\xbf").unwrap_or(trimmed);
        if after.len() == text.len() {
            return text;
        }
        text = after;
    }
}

// Bedrock's `InvokeModelWithResponseStream`: the payload of a `chunk` message is
// `{"bytes": base64}`, which holds the payload in the model's own format.

/// The name of the messages that hold another payload.
pub(crate) const CHUNK: &str = "chunk";

/// The inner payload, or `None` if there is none.
pub(crate) fn unwrap(payload: &str) -> Option<Vec<u8>> {
    base64::decode(&bytes(payload)?.text()?)
}

/// The payload with another inner payload. Everything around it is unchanged.
pub(crate) fn wrap(payload: &str, inner: &[u8]) -> Option<String> {
    let Span { start, end } = bytes(payload)?.span();
    let mut out = String::with_capacity(payload.len() + inner.len());
    out.push_str(payload.get(..start)?);
    out.push('"');
    base64::encode(inner, &mut out);
    out.push('"');
    out.push_str(payload.get(end..)?);
    Some(out)
}

fn bytes(payload: &str) -> Option<Node<'_>> {
    let (node, _) = json::first(payload).ok()?;
    node.field("bytes").filter(|bytes| bytes.is_string())
}

/// Encodes payloads as a body with one framing, which a [`Decoder`](crate::Decoder) can read.
///
/// ```
/// use wiremend_wire::{Encoder, Framing};
///
/// let mut body = Vec::new();
/// let mut encoder = Encoder::new(Framing::Sse);
/// encoder.event("message_stop", r#"{"type":"message_stop"}"#, &mut body);
/// encoder.finish(&mut body);
/// assert_eq!(body, b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
/// ```
#[derive(Clone, Debug)]
pub struct Encoder {
    framing: Framing,
    begun: bool,
}

impl Encoder {
    /// Creates an encoder at the start of a body.
    #[must_use]
    pub const fn new(framing: Framing) -> Self {
        Self { framing, begun: false }
    }

    /// Appends an event to `out`. An empty `name` means no name; only server-sent events and AWS event
    /// streams have names. In a server-sent event, a name ends at its first line break, because the format
    /// cannot represent one, and a line break in the payload starts another data line. In the other framings
    /// the payload must be JSON. An event that is too long for the framing is skipped.
    pub fn event(&mut self, name: &str, payload: &str, out: &mut Vec<u8>) {
        let first = !core::mem::replace(&mut self.begun, true);
        match self.framing {
            Framing::Sse => {
                let name = name.lines().next().unwrap_or_default();
                if !name.is_empty() {
                    out.extend_from_slice(b"event: ");
                    out.extend_from_slice(name.as_bytes());
                    out.push(b'\n');
                }
                for line in payload.split('\n') {
                    out.extend_from_slice(b"data: ");
                    out.extend_from_slice(line.as_bytes());
                    out.push(b'\n');
                }
                out.push(b'\n');
            }
            Framing::EventStream => {
                let headers = [
                    Header::new(":event-type", HeaderValue::Str(name)),
                    Header::new(":content-type", HeaderValue::Str("application/json")),
                    Header::new(":message-type", HeaderValue::Str("event")),
                ];
                let _ = encode(&headers, payload.as_bytes(), out);
            }
            Framing::JsonArray => {
                out.extend_from_slice(if first { b"[" } else { b",\n" });
                out.extend_from_slice(payload.as_bytes());
            }
            Framing::Ndjson => {
                out.extend_from_slice(payload.as_bytes());
                out.push(b'\n');
            }
            Framing::Html | Framing::Json | Framing::Text => {
                out.extend_from_slice(payload.as_bytes());
            }
        }
    }

    /// Ends the body.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if self.framing == Framing::JsonArray {
            out.extend_from_slice(if core::mem::replace(&mut self.begun, true) {
                b"]"
            } else {
                b"[]"
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WireOptions;

    #[test]
    fn the_first_bytes_determine_the_framing() {
        for (head, want) in [
            ("data: {}", Framing::Sse),
            ("\u{feff}\r\n event:x", Framing::Sse),
            (": hi", Framing::Sse),
            ("error: {\"code\":1}", Framing::Sse),
            ("data\n", Framing::Sse),
            ("{\"a\"", Framing::Json),
            ("\n[{", Framing::JsonArray),
            ("<!doctype html>", Framing::Html),
            ("upstream connect error: reset", Framing::Text),
            ("Unauthorized\n", Framing::Text),
            ("\0\0\u{1}", Framing::EventStream),
        ] {
            let at = (1..=head.len()).find_map(|n| sniff(&head.as_bytes()[..n], false));
            assert_eq!(at, Some(want), "{head:?}");
        }
        assert_eq!(sniff(b"data", false), None);
        assert_eq!(sniff(b"data", true), Some(Framing::Sse));
        assert_eq!(sniff(b"Forbidden", true), Some(Framing::Text));
        assert_eq!(sniff(b" \n", true), None);
    }

    #[test]
    fn the_inner_payload_is_taken_out_and_put_back() {
        let payload = r#"{"p":"abc", "bytes":"eyJhIjoxfQ==","q":2}"#;
        assert_eq!(unwrap(payload).unwrap(), b"{\"a\":1}");
        assert_eq!(wrap(payload, b"{\"a\":1}").unwrap(), payload);
        assert_eq!(wrap(payload, b"{}").unwrap(), r#"{"p":"abc", "bytes":"e30=","q":2}"#);
        assert!(unwrap("{\"bytes\":7}").is_none() && unwrap("no").is_none());
    }

    #[test]
    fn what_was_decoded_is_written_again_byte_for_byte() {
        let events = [("a", "{\"n\": 1}"), ("", "{\"é\":\n[2]}"), ("b", "{}")];
        for framing in [Framing::Sse, Framing::Ndjson, Framing::JsonArray, Framing::EventStream] {
            let mut body = Vec::new();
            let mut encoder = Encoder::new(framing);
            for (name, payload) in events {
                encoder.event(name, payload, &mut body);
            }
            encoder.finish(&mut body);
            let mut again = Vec::new();
            let mut encoder = Encoder::new(framing);
            let mut take = |frame: Frame<'_>, _: u64| {
                if let Frame::Payload { event, data, .. } = frame {
                    encoder.event(&event, &data, &mut again);
                }
            };
            let mut unframer = Unframer::new(&WireOptions::new().with_framing(framing));
            unframer.push(&body, &mut take);
            unframer.finish(&mut take);
            encoder.finish(&mut again);
            assert_eq!(again, body, "{framing:?}");
            assert!(body.len() > 20);
        }
    }
}
