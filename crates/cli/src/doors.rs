//! Which command an input is for, if it is not this one.

use wiremend_wire::{Decoder, Framing, WireEvent, WireOptions};

use crate::visible::{Shown, shown};

/// As much of a text as is looked at.
const HEAD: usize = 16 << 10;

/// Whether a text is the body of a streaming response: events, or lines, of a known format.
pub(crate) fn is_body(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    if ![&b"data:"[..], b"event:", b"id:", b":", b"{"].iter().any(|start| text.starts_with(start)) {
        return false;
    }
    let (mut framing, mut known) = (None, false);
    Decoder::new(WireOptions::new()).push(
        text.get(..HEAD).unwrap_or(text),
        &mut |event| match event {
            WireEvent::FramingDetected(found) => framing = Some(found),
            WireEvent::FormatDetected(_) => known = true,
            _ => {}
        },
    );
    match framing {
        Some(Framing::Sse) => known,
        // A single object may be a response that is no stream.
        Some(Framing::Ndjson) => known && text.contains(&b'\n'),
        _ => false,
    }
}

/// What to say about it.
pub(crate) fn to_stream(name: &str) -> Shown {
    shown!("{}: this is the body of a streaming response: `wiremend stream` reads it", name)
}
