//! Deadlines for a source of bytes.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::{Stream, stream::FusedStream};
use pin_project_lite::pin_project;

/// Makes futures that wait. The adapters have no clock of their own: this is that of the caller's runtime.
///
/// With the feature `tokio-time`, `TokioTimer` is one. Any function that returns a future is one, too.
pub trait Timer {
    /// Completes after a time.
    type Sleep: Future<Output = ()>;

    /// Waits for that long.
    fn sleep(&self, duration: Duration) -> Self::Sleep;
}

impl<T: Fn(Duration) -> F, F: Future<Output = ()>> Timer for T {
    type Sleep = F;

    fn sleep(&self, duration: Duration) -> F {
        self(duration)
    }
}

/// The clock of tokio.
#[cfg(feature = "tokio-time")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

#[cfg(feature = "tokio-time")]
impl Timer for TokioTimer {
    type Sleep = tokio::time::Sleep;

    fn sleep(&self, duration: Duration) -> tokio::time::Sleep {
        tokio::time::sleep(duration)
    }
}

/// How long a source may take. There is no deadline by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    idle: Option<Duration>,
    total: Option<Duration>,
}

impl Deadlines {
    /// No deadlines.
    #[must_use]
    pub const fn new() -> Self {
        Self { idle: None, total: None }
    }

    /// Sets how long to wait for one chunk. The wait begins when a poll finds nothing, and not while the caller is
    /// busy with what it got before. It goes on if the caller stops polling; then what has arrived by the next
    /// poll still comes first.
    ///
    /// ### Default
    /// No deadline.
    #[must_use]
    pub const fn with_idle(mut self, duration: Duration) -> Self {
        self.idle = Some(duration);
        self
    }

    /// Sets how long all of it may take, from the first poll on, including the time that the caller takes.
    ///
    /// ### Default
    /// No deadline.
    #[must_use]
    pub const fn with_total(mut self, duration: Duration) -> Self {
        self.total = Some(duration);
        self
    }
}

/// Why a source with deadlines failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeadlineError<E> {
    /// No chunk came for that long.
    Idle(Duration),
    /// All of it took longer than that.
    Total(Duration),
    /// The source itself failed.
    Upstream(E),
}

/// Says what failed. [`source`](std::error::Error::source) gives the cause.
impl<E> fmt::Display for DeadlineError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle(limit) => write!(f, "no bytes arrived for {limit:?}"),
            Self::Total(limit) => write!(f, "the body took longer than {limit:?}"),
            Self::Upstream(_) => f.write_str("the source failed"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for DeadlineError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Upstream(error) => Some(error),
            Self::Idle(_) | Self::Total(_) => None,
        }
    }
}

/// Items in a row that are ready, before the timers get their turn.
const READY_A_TURN: usize = 64;

pin_project! {
    /// A source with deadlines. Created with [`with_deadlines`].
    pub struct WithDeadlines<S, T: Timer> {
        #[pin]
        stream: Option<S>,
        deadlines: Deadlines,
        timer: T,
        #[pin]
        total: Option<T::Sleep>,
        #[pin]
        idle: Option<T::Sleep>,
        // How many items in a row were ready.
        ready: usize,
    }
}

/// Gives a source deadlines. When one passes, the source is dropped and the stream fails, which every adapter
/// treats like any upstream error: what was received is processed, and the error is the last item.
/// Cancel safe.
///
/// ```
/// use std::{future::ready, time::Duration};
///
/// use futures::{StreamExt, executor::block_on, stream};
/// use wiremend_stream::{Error, JsonOptions, ByteStreamExt, source};
/// use source::{DeadlineError, Deadlines, with_deadlines};
///
/// // A source that stops in the middle, and a timer for which no time is too long.
/// let silent = stream::iter([Ok::<_, std::io::Error>("[1, 2")]).chain(stream::pending());
/// let deadlines = Deadlines::new().with_idle(Duration::from_secs(30));
/// let chunks = with_deadlines(silent, deadlines, |_| ready(()));
/// let events: Vec<_> = block_on(chunks.mend(JsonOptions::new()).collect());
/// let Some(Err(Error::Upstream(DeadlineError::Idle(limit)))) = events.last() else { panic!() };
/// assert_eq!(limit.as_secs(), 30);
/// ```
pub const fn with_deadlines<S, B, E, T>(
    stream: S,
    deadlines: Deadlines,
    timer: T,
) -> WithDeadlines<S, T>
where
    S: Stream<Item = Result<B, E>>,
    T: Timer,
{
    WithDeadlines { stream: Some(stream), deadlines, timer, total: None, idle: None, ready: 0 }
}

impl<S, B, E, T> Stream for WithDeadlines<S, T>
where
    S: Stream<Item = Result<B, E>>,
    T: Timer,
{
    type Item = Result<B, DeadlineError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        let Some(stream) = this.stream.as_mut().as_pin_mut() else { return Poll::Ready(None) };
        if let Some(limit) = this.deadlines.total {
            if this.total.is_none() {
                this.total.set(Some(this.timer.sleep(limit)));
            }
            if passed(this.total.as_mut(), cx) {
                this.stream.set(None);
                return Poll::Ready(Some(Err(DeadlineError::Total(limit))));
            }
            // A source that is always ready must not keep the runtime from its timers.
            if *this.ready == READY_A_TURN {
                *this.ready = 0;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        if let Poll::Ready(item) = stream.poll_next(cx) {
            *this.ready += 1;
            this.idle.set(None);
            if item.is_none() {
                this.stream.set(None);
            }
            return Poll::Ready(item.map(|item| item.map_err(DeadlineError::Upstream)));
        }
        *this.ready = 0;
        let Some(limit) = this.deadlines.idle else { return Poll::Pending };
        if this.idle.is_none() {
            this.idle.set(Some(this.timer.sleep(limit)));
        }
        if !passed(this.idle.as_mut(), cx) {
            return Poll::Pending;
        }
        this.stream.set(None);
        Poll::Ready(Some(Err(DeadlineError::Idle(limit))))
    }
}

/// Whether a timer that runs has completed.
fn passed<F: Future<Output = ()>>(timer: Pin<&mut Option<F>>, cx: &mut Context<'_>) -> bool {
    timer.as_pin_mut().is_some_and(|timer| timer.poll(cx).is_ready())
}

impl<S, B, E, T> FusedStream for WithDeadlines<S, T>
where
    S: Stream<Item = Result<B, E>>,
    T: Timer,
{
    fn is_terminated(&self) -> bool {
        self.stream.is_none()
    }
}

impl<S: fmt::Debug, T: Timer> fmt::Debug for WithDeadlines<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithDeadlines")
            .field("stream", &self.stream)
            .field("deadlines", &self.deadlines)
            .finish_non_exhaustive()
    }
}
