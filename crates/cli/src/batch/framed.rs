//! The operation `events`: the framing of a body.

use serde::Serialize;
use wiremend_wire::{
    Framing,
    eventstream::{EventStreamDecoder, EventStreamEvent, Message},
    sse::{SseDecoder, SseEvent, SseMessage, SseReading},
    values::{ValueDecoder, ValueEvent},
};

use super::request::{FramingName, Input, Request};

/// The reply of the operation `events`.
#[derive(Debug, Serialize)]
pub(crate) struct Framed {
    framing: &'static str,
    events: Vec<EventRecord>,
    /// The number of lines, events or frames that were dropped because they were too long or broken;
    /// left out if it is zero.
    #[serde(skip_serializing_if = "is_zero")]
    dropped: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One event.
#[derive(Debug, Serialize)]
struct EventRecord {
    event: String,
    data: String,
    /// The last event id.
    id: String,
    /// The reconnection time, in milliseconds.
    retry: Option<u64>,
}

/// Splits a body into its events.
pub(crate) fn events(request: &Request<'_>, input: &Input<'_>) -> Result<Framed, String> {
    let framing = match request.framing()? {
        FramingName::Strict => return Ok(server_sent(input, SseReading::Strict)),
        FramingName::Named(framing) => framing,
        FramingName::Auto => told_by(input.whole()),
    };
    match framing {
        Framing::EventStream => Ok(frames(input)),
        Framing::Json | Framing::Ndjson | Framing::JsonArray => Ok(values(input, framing)),
        Framing::Sse => Ok(server_sent(input, SseReading::Lenient)),
        other => Err(format!("`framing`: `{}` has no events", other.code())),
    }
}

/// The framing of a body, by its first byte.
fn told_by(body: &[u8]) -> Framing {
    let text = body.trim_ascii_start();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    match text.first() {
        // The length of a frame is far below 16 MiB, so its first byte is zero.
        Some(0) => Framing::EventStream,
        Some(b'{') => Framing::Json,
        Some(b'[') => Framing::JsonArray,
        _ => Framing::Sse,
    }
}

fn server_sent(input: &Input<'_>, reading: SseReading) -> Framed {
    let mut framed = Framed::new(Framing::Sse);
    let mut decoder = SseDecoder::new(reading);
    let mut record = |event: SseEvent<'_>| match event {
        SseEvent::Message(message) => framed.events.push(EventRecord::from(&message)),
        SseEvent::Oversize { .. } => framed.dropped += 1,
        // Comments, and other parts that the lenient reading recognises.
        _ => {}
    };
    for piece in input.pieces() {
        decoder.push(piece, &mut record);
    }
    decoder.finish(&mut record);
    framed
}

fn frames(input: &Input<'_>) -> Framed {
    let mut framed = Framed::new(Framing::EventStream);
    let mut decoder = EventStreamDecoder::new();
    let mut record = |event: EventStreamEvent<'_>| match event {
        EventStreamEvent::Message(message) => framed.events.push(EventRecord::from(&message)),
        _ => framed.dropped += 1,
    };
    for piece in input.pieces() {
        decoder.push(piece, &mut record);
    }
    decoder.finish(&mut record);
    framed
}

fn values(input: &Input<'_>, framing: Framing) -> Framed {
    let mut framed = Framed::new(framing);
    let mut decoder = match framing {
        Framing::JsonArray => ValueDecoder::array(),
        _ => ValueDecoder::sequence(),
    };
    let mut record = |event: ValueEvent<'_>| match event {
        ValueEvent::Value { text, whole: true, .. } => framed.events.push(EventRecord {
            event: String::new(),
            data: text.into_owned(),
            id: String::new(),
            retry: None,
        }),
        // Cut off, too long, or not a value.
        _ => framed.dropped += 1,
    };
    for piece in input.pieces() {
        decoder.push(piece, &mut record);
    }
    decoder.finish(&mut record);
    if framing == Framing::Json && framed.events.len() > 1 {
        framed.framing = Framing::Ndjson.code();
    }
    framed
}

impl Framed {
    const fn new(framing: Framing) -> Self {
        Self { framing: framing.code(), events: Vec::new(), dropped: 0 }
    }
}

impl From<&SseMessage<'_>> for EventRecord {
    fn from(message: &SseMessage<'_>) -> Self {
        Self {
            event: message.event().into_owned(),
            data: message.data().into_owned(),
            id: message.id().to_owned(),
            retry: message.retry(),
        }
    }
}

/// The name of a message is its type, or the type of its exception.
impl From<&Message<'_>> for EventRecord {
    fn from(message: &Message<'_>) -> Self {
        let names = [":event-type", ":exception-type", ":error-code"];
        let of = |name: &&str| {
            let mut headers = message.headers();
            headers.find(|header| header.name == *name)?.value.as_str().map(str::to_owned)
        };
        Self {
            event: names.iter().find_map(of).unwrap_or_default(),
            data: String::from_utf8_lossy(message.payload()).into_owned(),
            id: String::new(),
            retry: None,
        }
    }
}
