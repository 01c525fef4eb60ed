//! The loop that all adapters share: upstream chunks in, events out.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use wiremend_response::{Event, ResponseOptions, ResponseReader};

use crate::{Error, telemetry};

/// How many chunks in a row may yield no event before the task yields.
const IDLE_CHUNKS: usize = 64;

/// Whether upstream has ended, and how.
#[derive(Debug)]
pub(crate) enum Upstream<E> {
    Open,
    /// It failed. The error is emitted after the last event.
    Failed(E),
    Over,
}

/// Turns chunks into events.
pub(crate) trait Reads<B> {
    type Event;

    /// The next event that is ready.
    fn next(&mut self) -> Option<Self::Event>;

    /// Reads a chunk.
    fn push(&mut self, chunk: B);

    /// Ends the input: upstream has ended.
    fn finish(&mut self);

    /// Ends the input: upstream has failed.
    fn fail(&mut self) {
        self.finish();
    }
}

/// The events of a response, until they are taken.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) reader: ResponseReader,
    events: VecDeque<Event>,
}

impl Response {
    pub(crate) fn new(options: ResponseOptions) -> Self {
        Self { reader: ResponseReader::new(options), events: VecDeque::new() }
    }

    pub(crate) fn next(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.reader.push(chunk, &mut |event| self.events.push_back(event));
    }

    pub(crate) fn finish(&mut self) {
        self.reader.finish(&mut |event| self.events.push_back(event));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

impl<B: AsRef<[u8]>> Reads<B> for Response {
    type Event = Event;

    fn next(&mut self) -> Option<Event> {
        Self::next(self)
    }
    fn push(&mut self, chunk: B) {
        Self::push(self, chunk.as_ref());
    }
    fn finish(&mut self) {
        Self::finish(self);
    }
}

/// The next event. Upstream is polled only after every previous event has been taken, and is dropped as
/// soon as it has ended.
pub(crate) fn poll<S, B, E, R>(
    mut body: Pin<&mut Option<S>>,
    upstream: &mut Upstream<E>,
    reader: &mut R,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<R::Event, Error<E>>>>
where
    S: Stream<Item = Result<B, E>>,
    R: Reads<B>,
{
    for _ in 0..IDLE_CHUNKS {
        if let Some(event) = reader.next() {
            return Poll::Ready(Some(Ok(event)));
        }
        let Some(open) = body.as_mut().as_pin_mut() else {
            let upstream = std::mem::replace(upstream, Upstream::Over);
            return Poll::Ready(match upstream {
                Upstream::Failed(error) => Some(Err(Error::Upstream(error))),
                Upstream::Open | Upstream::Over => None,
            });
        };
        match ready!(open.poll_next(cx)) {
            Some(Ok(chunk)) => reader.push(chunk),
            end => {
                body.set(None);
                *upstream = if let Some(Err(error)) = end {
                    telemetry::upstream_failed();
                    reader.fail();
                    Upstream::Failed(error)
                } else {
                    reader.finish();
                    Upstream::Over
                };
            }
        }
    }
    // Upstream is always ready but yields no events: let other tasks run.
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// Drops upstream and processes what it yielded. Calling it again does nothing.
pub(crate) fn cancel<S, B, E, R>(
    mut body: Pin<&mut Option<S>>,
    upstream: &mut Upstream<E>,
    reader: &mut R,
) where
    S: Stream<Item = Result<B, E>>,
    R: Reads<B>,
{
    body.set(None);
    if matches!(upstream, Upstream::Open) {
        reader.finish();
        *upstream = Upstream::Over;
    }
}
