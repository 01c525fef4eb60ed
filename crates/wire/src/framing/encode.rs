//! The encoder: payloads in, a body out.

use super::Framing;
use crate::eventstream::{Header, HeaderValue, encode};

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
    use crate::{
        WireOptions,
        framing::{Frame, Unframer},
    };

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
