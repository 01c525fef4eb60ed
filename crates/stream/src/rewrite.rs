//! The adapter that gives a provider's body again, mended.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use futures_core::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;
use wiremend_wire::{RewriteOptions, RewriteOutcome, Rewriter, Rewritten, WireEvent};

use crate::{
    Error,
    pump::{self, Reads, Upstream},
    telemetry::Watch,
};

pin_project! {
    /// Gives a provider's body again, with the arguments of tool calls mended: a stream of byte chunks in, a
    /// stream of [`Bytes`] out. With the feature `http-body`, it is an `http_body::Body`, too. Created with
    /// [`ByteStreamExt::rewrite`](crate::ByteStreamExt::rewrite).
    ///
    /// **When upstream fails**, what was withheld is emitted as it was received, and the error is the last
    /// item. Nothing is added, so the client does not take a call that was cut off for whole. Pass the error on (as a `Body`,
    /// the connection is then reset), or end the response: both look cut off to a client, as they should.
    /// When upstream ends without an error, the body ends as [`Rewriter::finish`] says.
    ///
    /// The length of the body may change, so do not forward `Content-Length` or a digest of it.
    ///
    /// **Cancel safe**: the stream, or a future waiting for its next item, may be dropped at any time.
    /// **Back-pressure**: upstream is polled only after all previous bytes have been taken.
    #[derive(Debug)]
    pub struct RewriteStream<S, E> {
        #[pin]
        body: Option<S>,
        upstream: Upstream<E>,
        writing: Writing,
    }
}

impl<S, B, E> RewriteStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    pub(crate) fn new(body: S, options: RewriteOptions) -> Self {
        let rewriter = Rewriter::new(options);
        let (out, observer) =
            (BytesMut::new(), Observer { observe: None, watch: Watch::new(true) });
        let writing = Writing { rewriter, out, observer, outcome: None };
        Self { body: Some(body), upstream: Upstream::Open, writing }
    }

    /// Passes each event of the body to `observer`, as it is emitted: for logs and counts. Replaces an earlier
    /// one. There are no events from an upstream error on.
    #[must_use]
    pub fn with_observer(mut self, observer: impl FnMut(&WireEvent<'_>) + Send + 'static) -> Self {
        self.writing.observer.observe = Some(Box::new(observer));
        self
    }

    /// Sets what logs and metrics say about the response.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: crate::Telemetry) -> Self {
        self.writing.observer.watch.set(telemetry);
        self
    }

    /// Stops reading: drops upstream. What was withheld is still emitted, as after an upstream error. Cancel
    /// safe. Calling it again does nothing.
    pub fn cancel(mut self: Pin<&mut Self>) {
        let mut this = self.as_mut().project();
        this.body.set(None);
        if matches!(this.upstream, Upstream::Open) {
            this.writing.stop();
            *this.upstream = Upstream::Over;
        }
    }
}

impl<S, E> RewriteStream<S, E> {
    /// What was done to the body, once upstream has ended. [`RewriteOutcome::Stopped`] after an upstream
    /// error.
    #[must_use]
    pub const fn outcome(&self) -> Option<RewriteOutcome> {
        self.writing.outcome
    }
}

impl<S, B, E> Stream for RewriteStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<Bytes, Error<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        let _span = this.writing.observer.watch.enter();
        pump::poll(this.body, this.upstream, this.writing, cx)
    }
}

impl<S, B, E> FusedStream for RewriteStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn is_terminated(&self) -> bool {
        let over = matches!(self.upstream, Upstream::Over);
        self.body.is_none() && self.writing.out.is_empty() && over
    }
}

/// Each chunk is a frame of data. There are no trailers: those of the source are dropped with it
/// ([`from_body`](crate::source::from_body)), because they may describe the body as it was, as a digest does.
#[cfg(feature = "http-body")]
impl<S, B, E> http_body::Body for RewriteStream<S, E>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Data = Bytes;
    type Error = Error<E>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Error<E>>>> {
        self.poll_next(cx).map(|item| item.map(|bytes| bytes.map(http_body::Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_terminated()
    }
}

/// Turns chunks into chunks.
#[derive(Debug)]
struct Writing {
    rewriter: Rewriter,
    out: BytesMut,
    observer: Observer,
    outcome: Option<RewriteOutcome>,
}

impl Writing {
    /// Nothing follows.
    fn stop(&mut self) {
        let Self { rewriter, out, observer, outcome } = self;
        *outcome = Some(rewriter.stop(&mut |piece| observer.take(out, &piece)));
    }
}

impl<B: AsRef<[u8]>> Reads<B> for Writing {
    type Event = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        (!self.out.is_empty()).then(|| self.out.split().freeze())
    }

    fn push(&mut self, chunk: B) {
        let Self { rewriter, out, observer, .. } = self;
        rewriter.push(chunk.as_ref(), &mut |piece| observer.take(out, &piece));
    }

    fn finish(&mut self) {
        let Self { rewriter, out, observer, outcome } = self;
        *outcome = Some(rewriter.finish(&mut |piece| observer.take(out, &piece)));
    }

    fn fail(&mut self) {
        self.stop();
    }
}

/// Looks at the events of a body.
type Observe = dyn FnMut(&WireEvent<'_>) + Send;

struct Observer {
    observe: Option<Box<Observe>>,
    watch: Watch,
}

impl Observer {
    fn take(&mut self, out: &mut BytesMut, piece: &Rewritten<'_>) {
        match piece {
            Rewritten::Bytes(bytes) => out.extend_from_slice(bytes),
            Rewritten::Event(event) => {
                self.watch.wire(event);
                if let Some(observe) = &mut self.observe {
                    observe(event);
                }
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observer").field(&self.observe.is_some()).finish()
    }
}
