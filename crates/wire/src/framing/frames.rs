//! AWS messages as frames of a body.

use std::borrow::Cow;

use super::{Frame, Sink, invoke};
use crate::{
    eventstream::{EventStreamEvent, Message},
    utf8,
};

/// Emits an event of an AWS event stream as a frame.
pub(super) fn frame(event: EventStreamEvent<'_>, end: u64, sink: Sink<'_>) {
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
    let data = utf8::text(message.payload());
    match kind {
        "exception" => sink(Frame::Exception { name: exception, data }, end),
        "error" => sink(Frame::Exception { name: code, data: Cow::Borrowed(error_message) }, end),
        _ if !exception.is_empty() => sink(Frame::Exception { name: exception, data }, end),
        _ => {
            let inner = (event == invoke::CHUNK).then(|| invoke::unwrap(&data)).flatten();
            let data = match &inner {
                Some(inner) => utf8::text(inner),
                None => data,
            };
            sink(Frame::Payload { event: Cow::Borrowed(event), data, whole: true }, end);
        }
    }
}
