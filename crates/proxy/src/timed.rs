//! Deadlines: of a body that arrives, and of a connection that takes nothing.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep, sleep_until},
};

use crate::headers::not_own;

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

pin_project! {
    /// A body that must not be silent for too long, and must end in time.
    pub(crate) struct Timed {
        #[pin]
        body: Incoming,
        idle: Duration,
        #[pin]
        silent: Sleep,
        #[pin]
        total: Sleep,
        // Something was asked for, and has not arrived.
        waits: bool,
        // When it must have arrived. The timer may be set to an earlier time: to set it for each event costs more
        // than to set it again when it is over.
        patience: Instant,
    }
}

impl Timed {
    pub(crate) fn new(body: Incoming, idle: Duration, end: Instant) -> Self {
        let patience = Instant::now() + idle;
        Self { body, idle, silent: sleep(idle), total: sleep_until(end), waits: false, patience }
    }
}

impl Body for Timed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut this = self.project();
        let next = this.body.poll_frame(cx);
        if next.is_pending() && !core::mem::replace(this.waits, true) {
            *this.patience = Instant::now() + *this.idle;
        }
        // A body that always has something to send passes its end, too.
        if this.total.deadline() <= Instant::now() || this.total.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err(late())));
        }
        match next {
            Poll::Pending => loop {
                ready!(this.silent.as_mut().poll(cx));
                if *this.patience <= Instant::now() {
                    return Poll::Ready(Some(Err(late())));
                }
                this.silent.as_mut().reset(*this.patience);
            },
            Poll::Ready(next) => {
                *this.waits = false;
                let frame = |mut frame: Frame<Bytes>| {
                    frame.trailers_mut().into_iter().for_each(not_own);
                    frame
                };
                Poll::Ready(next.map(|next| next.map(frame).map_err(Into::into)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn late() -> BoxError {
    io::Error::from(io::ErrorKind::TimedOut).into()
}

pub(crate) fn is_late(error: &BoxError) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
}

pin_project! {
    /// A connection that is closed if it takes nothing for too long while there is something to send.
    pub(crate) struct Taken<C> {
        #[pin]
        connection: C,
        patience: Duration,
        #[pin]
        stuck: Sleep,
        waits: Waits,
    }
}

/// Whether a connection has something to send that is not taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits(Arc<AtomicBool>);

impl Waits {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets it, and returns what it was.
    fn set(&self, waits: bool) -> bool {
        self.0.swap(waits, Ordering::Relaxed)
    }
}

impl<C> Taken<C> {
    pub(crate) fn new(connection: C, patience: Duration, waits: Waits) -> Self {
        Self { connection, patience, stuck: sleep(patience), waits }
    }

    fn check<T>(
        mut stuck: Pin<&mut Sleep>,
        waits: &Waits,
        patience: Duration,
        written: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            waits.set(false);
            return written;
        }
        if !waits.set(true) {
            stuck.as_mut().reset(Instant::now() + patience);
        }
        stuck.poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<C: AsyncRead> AsyncRead for Taken<C> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.project().connection.poll_read(cx, into)
    }
}

impl<C: AsyncWrite> AsyncWrite for Taken<C> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        let written = this.connection.poll_write(cx, bytes);
        Self::check(this.stuck, this.waits, *this.patience, written, cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        let written = this.connection.poll_write_vectored(cx, slices);
        Self::check(this.stuck, this.waits, *this.patience, written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().connection.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().connection.poll_shutdown(cx)
    }
}
