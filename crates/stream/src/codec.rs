//! A codec of `tokio_util`.

use std::io;

use bytes::BytesMut;
use tokio_util::codec::Decoder;
use wiremend_response::{Event, ResponseOptions};

use crate::{pump::Response, telemetry::Watch};

/// Reads a provider's body as a codec of `tokio_util`: the events are those of
/// [`ResponseStream`](crate::ResponseStream).
///
/// When the reader fails, `FramedRead` gives the error and nothing more: calls and objects that were open do not
/// end. [`source::from_async_read`](crate::source::from_async_read) ends them. Cancel safe.
///
/// ```
/// use futures::{StreamExt, executor::block_on};
/// use wiremend_response::{Event, ResponseOptions};
/// use wiremend_stream::ResponseCodec;
/// use tokio_util::codec::FramedRead;
///
/// // A socket, or a child process.
/// let body = &b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n"[..];
/// let mut events = FramedRead::new(body, ResponseCodec::new(ResponseOptions::new()));
/// let mut text = String::new();
/// block_on(async {
///     while let Some(event) = events.next().await {
///         if let Event::Text { text: more, .. } = event? {
///             text.push_str(&more);
///         }
///     }
///     Ok::<_, std::io::Error>(())
/// })?;
/// assert_eq!(text, "Hi");
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ResponseCodec {
    response: Response,
    watch: Watch,
}

impl ResponseCodec {
    /// A codec for one body.
    #[must_use]
    pub fn new(options: ResponseOptions) -> Self {
        Self { response: Response::new(options), watch: Watch::new(true) }
    }

    /// Sets what logs and metrics say about the response.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: crate::Telemetry) -> Self {
        self.watch.set(telemetry);
        self
    }

    fn next(&mut self) -> Option<Event> {
        let _span = self.watch.enter();
        let event = self.response.next()?;
        self.watch.event(&event);
        Some(event)
    }
}

impl Decoder for ResponseCodec {
    type Item = Event;
    type Error = io::Error;

    /// Takes all bytes that are there, once the events of earlier ones have been taken.
    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Event>> {
        if let Some(event) = self.next() {
            return Ok(Some(event));
        }
        self.response.push(bytes);
        bytes.clear();
        Ok(self.next())
    }

    fn decode_eof(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Event>> {
        if let Some(event) = self.decode(bytes)? {
            return Ok(Some(event));
        }
        self.response.finish();
        Ok(self.next())
    }
}
