//! How the bytes of an event carry its payload, for every framing.

use crate::{
    Framing,
    eventstream::{Header, HeaderValue, Message, encode},
    framing, sse, utf8,
};

/// The header with the name of an event.
const TYPE: &str = ":event-type";

/// Maps a payload back to the bytes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    /// An item of a JSON array. What precedes it is a separator.
    Item,
    /// A frame of an AWS event stream.
    Message,
    /// The bytes are not an event.
    None,
    /// The data of a server-sent event.
    Sse,
    /// A JSON value after a separator.
    Value,
}

impl Carrier {
    /// The carrier for the events of a framing.
    pub(super) const fn of(framing: Option<Framing>) -> Self {
        match framing {
            Some(Framing::EventStream) => Self::Message,
            Some(Framing::Json | Framing::Ndjson) => Self::Value,
            Some(Framing::JsonArray) => Self::Item,
            Some(Framing::Sse) => Self::Sse,
            _ => Self::None,
        }
    }

    /// The payload in the bytes of an event.
    pub(super) fn payload(self, raw: &[u8]) -> Option<String> {
        match self {
            Self::None => None,
            Self::Sse => Some(sse::data(raw)),
            Self::Item | Self::Value => {
                Some(utf8::text(raw.get(self.value_at(raw)?..)?).into_owned())
            }
            Self::Message => {
                let message = find_message(raw)?;
                let payload = utf8::text(message.payload());
                let inner = is_chunk(&message).then(|| framing::unwrap(&payload)).flatten();
                Some(match inner {
                    Some(inner) => utf8::text(&inner).into_owned(),
                    None => payload.into_owned(),
                })
            }
        }
    }

    /// Writes the bytes of an event with another payload. Returns `false`, and writes nothing, if that is
    /// not possible.
    pub(super) fn write(self, raw: &[u8], payload: &str, out: &mut Vec<u8>) -> bool {
        match self {
            Self::None => false,
            Self::Sse => sse::write_with_data(raw, payload, out),
            Self::Item | Self::Value => {
                let Some(head) = self.value_at(raw).and_then(|at| raw.get(..at)) else {
                    return false;
                };
                out.extend_from_slice(head);
                out.extend_from_slice(payload.as_bytes());
                true
            }
            Self::Message => {
                let Some(message) = find_message(raw) else { return false };
                let outer = utf8::text(message.payload());
                let wrapped = is_chunk(&message)
                    .then(|| framing::wrap(&outer, payload.as_bytes()))
                    .flatten()
                    .filter(|_| framing::unwrap(&outer).is_some());
                let start = out.len();
                let head = raw.len() - message.frame().len();
                out.extend_from_slice(raw.get(..head).unwrap_or_default());
                let new = wrapped.as_deref().unwrap_or(payload);
                let written = message.encode_with(new.as_bytes(), out).is_ok();
                if !written {
                    out.truncate(start);
                }
                written
            }
        }
    }

    /// Makes a copy of an event self-contained, so that it can be inserted between two events, whatever
    /// was around the original.
    fn detach(self, raw: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::None => None,
            Self::Sse => {
                let start = raw.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
                let event = raw.get(start..)?;
                let event = event.strip_prefix(b"\xef\xbb\xbf").unwrap_or(event);
                let line_end = line_end(event);
                let last = event.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n'))?;
                Some([event.get(..=last)?, line_end, line_end].concat())
            }
            Self::Item => Some([b",", raw.get(self.value_at(raw)?..)?].concat()),
            Self::Value => Some([b"\n", raw.get(self.value_at(raw)?..)?].concat()),
            Self::Message => Some(find_message(raw)?.frame().to_vec()),
        }
    }

    /// Another event, in the style of an event `raw`, before which it is inserted. `None` if that is not
    /// possible.
    pub(super) fn event(self, raw: &[u8], name: &str, payload: &str) -> Option<Vec<u8>> {
        if self == Self::Sse {
            let start = raw.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
            let event = raw.get(start..)?;
            let line_end = line_end(event);
            let named = event.split(|byte| matches!(byte, b'\r' | b'\n'));
            let named = named.into_iter().any(|line| line.starts_with(b"event:"));
            let mut out = Vec::new();
            if named && !name.is_empty() {
                out.extend_from_slice(&[b"event: ", name.as_bytes(), line_end].concat());
            }
            out.extend_from_slice(&[b"data: ", payload.as_bytes(), line_end, line_end].concat());
            return Some(out);
        }
        let mut out = Vec::new();
        if let Some(message) = find_message(raw).filter(|_| self == Self::Message)
            && !name.is_empty()
            && !is_chunk(&message)
        {
            let named = message.headers().map(|header| match header.name {
                TYPE => Header::new(TYPE, HeaderValue::Str(name)),
                _ => header,
            });
            let headers: Vec<Header<'_>> = named.collect();
            encode(&headers, payload.as_bytes(), &mut out).ok()?;
            return Some(out);
        }
        if !self.write(raw, payload, &mut out) {
            return None;
        }
        let mut event = self.detach(&out)?;
        if self == Self::Value {
            event.push(b'\n');
        }
        Some(event)
    }

    /// What is left of the bytes of an event that is taken out of a stream. `None` if it cannot be.
    pub(super) fn around(self, raw: &[u8]) -> Option<[&[u8]; 2]> {
        match self {
            // Its empty line stays, because the next event may begin with the second half of it.
            Self::Sse => {
                let (lead, event) = raw.split_at_checked(self.lead(raw))?;
                let end = match event {
                    [.., b'\r', b'\n'] => event.len() - 2,
                    [.., b'\r' | b'\n'] => event.len() - 1,
                    _ => event.len(),
                };
                Some([lead, event.get(end..)?])
            }
            Self::Message => Some([raw.get(..raw.len() - find_message(raw)?.frame().len())?, b""]),
            Self::Item | Self::None | Self::Value => None,
        }
    }

    /// How many bytes of an event belong to the previous event.
    pub(super) fn lead(self, raw: &[u8]) -> usize {
        match self {
            Self::Sse => raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count(),
            _ => 0,
        }
    }

    /// The position of the value.
    fn value_at(self, raw: &[u8]) -> Option<usize> {
        let opens = |byte: &u8| *byte == b'{' || (*byte == b'[' && self == Self::Value);
        raw.iter().position(opens)
    }
}

/// How the first line of an event ends.
fn line_end(event: &[u8]) -> &'static [u8] {
    let at = event.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(event.len());
    match event.get(at..) {
        Some([b'\r', b'\n', ..]) => b"\r\n",
        Some([b'\r', ..]) => b"\r",
        _ => b"\n",
    }
}

/// The frame at the end of the bytes. Anything before it was skipped.
fn find_message(raw: &[u8]) -> Option<Message<'_>> {
    let total = |at: usize| {
        let length = raw.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*length) as usize)
    };
    (0..raw.len())
        .filter(|&at| total(at) == Some(raw.len() - at))
        .find_map(|at| Message::read(raw.get(at..)?).ok())
}

fn is_chunk(message: &Message<'_>) -> bool {
    message.text_header(TYPE) == Some(framing::CHUNK)
}
