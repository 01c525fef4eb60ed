//! The adapter for a provider's body.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;

use crate::{
    Error, Event, IDLE_CHUNKS, JsonOptions, JsonStream, MendOptions, Upstream, contents::Reader,
    trace,
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
        let mut this = self.project();
        this.body.set(None);
        if matches!(this.upstream, Upstream::Open) {
            this.reader.finish();
            *this.upstream = Upstream::Over;
        }
    }
}

impl<S, B, E> Stream for MendStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<Event, Error<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        for _ in 0..IDLE_CHUNKS {
            if let Some(event) = this.reader.next() {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(body) = this.body.as_mut().as_pin_mut() else {
                let upstream = std::mem::replace(this.upstream, Upstream::Over);
                return Poll::Ready(match upstream {
                    Upstream::Failed(error) => Some(Err(Error::Upstream(error))),
                    Upstream::Open | Upstream::Over => None,
                });
            };
            match ready!(body.poll_next(cx)) {
                Some(Ok(chunk)) => this.reader.push(chunk.as_ref()),
                end => {
                    this.body.set(None);
                    this.reader.finish();
                    *this.upstream = match end {
                        Some(Err(error)) => {
                            trace::upstream_failed();
                            Upstream::Failed(error)
                        }
                        _ => Upstream::Over,
                    };
                }
            }
        }
        // Upstream is always ready and says nothing: let other tasks run.
        cx.waker().wake_by_ref();
        Poll::Pending
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
