//! Splits body bytes into payloads: framing detection, and the framings themselves.
//!
//! The framing is detected from the first bytes. Servers send JSON errors as `text/event-stream` and
//! event streams as `text/plain`, so the header only breaks a tie. To add a framing, add a module, a
//! variant of [`Framing`], and an arm here.

mod base64;
mod encode;
mod frames;
pub(crate) mod invoke;
mod sniff;

use std::borrow::Cow;

use crate::{
    codes::coded,
    eventstream::{EventStreamDecoder, FrameFault},
    limits::{WireLimits, WireOptions},
    sse::{SseDecoder, SseEvent, SseReading},
    utf8,
    values::{ValueDecoder, ValueEvent},
};
pub use encode::Encoder;

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
            && let Some(framing) = sniff::sniff(chunk, false)
        {
            self.set_framing(framing, chunk, sink);
            return;
        }
        head.extend_from_slice(chunk);
        if let Some(framing) = sniff::sniff(&head, false) {
            self.set_framing(framing, &head, sink);
        } else {
            sniff::trim(&mut head);
            self.state = State::Unknown(head);
        }
    }

    /// Ends the body.
    pub(crate) fn finish(&mut self, sink: Sink<'_>) {
        if let State::Unknown(head) = &mut self.state {
            let head = core::mem::take(head);
            let Some(framing) = sniff::sniff(&head, true) else { return };
            self.set_framing(framing, &head, sink);
        }
        let Self { base, read, state, .. } = self;
        match state {
            State::Unknown(_) => {}
            State::Sse(decoder) => decoder.end(&mut |event, end| frame(event, *base + end, sink)),
            State::EventStream(decoder) => {
                decoder.finish(|event| frames::frame(event, *read, sink));
            }
            State::Items(decoder) => {
                decoder.end(&mut |event, end| item(event, *base + end, sink));
            }
            State::Values(decoder, count) => {
                decoder.end(&mut |event, end| value(event, *base + end, count, sink));
            }
            State::Page(head) => sink(Frame::Page { text: utf8::text(head) }, *read),
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
        let text = sniff::start(head);
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
                decoder.drive(chunk, &mut |event, end| frames::frame(event, base + end, sink));
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
