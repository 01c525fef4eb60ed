//! The adapter for a provider's body.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;

use crate::{
    Error, Event, JsonOptions, JsonStream, MendOptions,
    contents::Reader,
    pump::{self, Reads, Upstream},
};

pin_project! {
    /// Reads a provider's body: a stream of byte chunks in, a stream of [`Event`]s out.
    ///
    /// How the body is cut into chunks changes what the pieces are, not what they add up to. When
    /// upstream fails, what it gave is settled first (calls and objects that are open end, and
    /// [`Event::Ended`] says how the response stood); the error comes last. Then the stream has ended, and stays ended.
    /// Upstream is dropped as soon as it has ended.
    ///
    /// **Cancel safe**: it may be dropped, and waiting for its next item may be given up, at any time.
    /// **Back-pressure**: upstream is polled only when all events before were taken.
    ///
    /// ```
    /// use futures::{StreamExt, executor::block_on, stream};
    /// use jsonmend_stream::{Event, MendOptions, MendStream};
    /// use jsonmend_wire::StreamOutcome;
    ///
    /// let chunk = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n";
    /// let body = stream::iter([Ok(chunk), Err("connection reset")]);
    /// let events: Vec<_> = block_on(MendStream::new(body, MendOptions::new()).collect());
    /// let [.., ended, error] = events.as_slice() else { unreachable!() };
    /// assert_eq!(*ended, Ok(Event::Ended(StreamOutcome::Cut)));
    /// assert!(error.is_err());
    /// ```
    #[derive(Debug)]
    pub struct MendStream<S, E> {
        #[pin]
        body: Option<S>,
        upstream: Upstream<E>,
        reader: Reader,
    }
}

impl<S, B, E> MendStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    /// Reads `body`.
    #[must_use]
    pub fn new(body: S, options: MendOptions) -> Self {
        Self { body: Some(body), upstream: Upstream::Open, reader: Reader::new(options) }
    }

    /// Stops reading: drops upstream, and settles what was received, as at the end of the body. What
    /// is left to hand out still comes. Cancel safe; does nothing the second time.
    pub fn cancel(self: Pin<&mut Self>) {
        let this = self.project();
        pump::cancel(this.body, this.upstream, this.reader);
    }
}

impl<S, B, E> Stream for MendStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<Event, Error<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        pump::poll(this.body, this.upstream, this.reader, cx)
    }
}

impl<S, B, E> FusedStream for MendStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn is_terminated(&self) -> bool {
        self.body.is_none() && self.reader.is_empty() && matches!(self.upstream, Upstream::Over)
    }
}

impl<B: AsRef<[u8]>> Reads<B> for Reader {
    type Event = Event;

    fn next(&mut self) -> Option<Event> {
        Reader::next(self)
    }
    fn push(&mut self, chunk: B) {
        Reader::push(self, chunk.as_ref());
    }
    fn finish(&mut self) {
        Reader::finish(self);
    }
}

/// Puts a mending adapter behind any stream of byte chunks.
pub trait MendExt<B, E>: Stream<Item = Result<B, E>> + Sized
where
    B: AsRef<[u8]>,
{
    /// Reads the stream as a provider's body. Cancel safe.
    fn mend(self, options: MendOptions) -> MendStream<Self, E> {
        MendStream::new(self, options)
    }

    /// Reads the stream as text or JSON, with no provider's envelope around. Cancel safe. Chunks are
    /// `Bytes`, or what turns into them without a copy (`Vec<u8>`, `String`, `&'static str`).
    fn mend_json(self, options: JsonOptions) -> JsonStream<Self, E>
    where
        B: Into<Bytes>,
    {
        JsonStream::new(self, options)
    }
}

impl<S, B, E> MendExt<B, E> for S
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
}
