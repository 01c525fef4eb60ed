//! The body of an answer on its way from the provider to the client.

mod work;

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::{
    sync::OwnedSemaphorePermit,
    task::{JoinHandle, spawn_blocking},
    time::{Instant, Sleep, sleep},
};

use wiremend_exchange::{Account, Verdict};

pub(crate) use work::{QUIET, Work};

use crate::{
    aside::{done, give_way},
    live::Watched,
    metrics::{Elapsed, Named},
    recent::About,
    shared::Shared,
    timed::{BoxError, Waits, is_late},
    unpacked::Unpacked,
};

/// The bytes that are mended before it is looked whether others wait. They may cost a thousand times more than usual.
const PIECE: usize = 1 << 10;

/// How often it is looked whether a client has taken what came before an error.
const PAUSE: Duration = Duration::from_millis(5);

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It is compressed, and that is damaged.
    BadPacking,
    /// The connection to the provider ended before it.
    BrokeOff,
    /// It was silent for too long, or did not end in time.
    Late,
    /// It has not ended: if that stays so, the client has left.
    Open,
    /// The gateway answered itself, which is said where it does.
    Refused,
    Whole,
}

impl Ended {
    fn failed(error: &BoxError) -> Self {
        match error {
            late if is_late(late) => Self::Late,
            broken if broken.is::<hyper::Error>() => Self::BrokeOff,
            _ => Self::BadPacking,
        }
    }
}

/// A request that is being answered. Dropped when the answer has passed, or cannot.
pub(crate) struct Passing {
    pub(crate) shared: Arc<Shared>,
    pub(crate) about: About,
    pub(crate) watched: Arc<Watched>,
    pub(crate) began: Instant,
    /// When the first bytes of a stream left.
    pub(crate) first: Option<Instant>,
    /// Apart, because an answer that is not mended has no room for it, and neither has a request that waits for one.
    pub(crate) work: Option<Box<Work>>,
    /// What was done, and the time that it took, if that is known before the body passes.
    pub(crate) done: Option<(Account, Duration)>,
    /// Whether the client takes what is sent.
    pub(crate) waits: Waits,
    pub(crate) ended: Ended,
    pub(crate) _permit: OwnedSemaphorePermit,
}

impl Drop for Passing {
    fn drop(&mut self) {
        self.shared.metrics.open_answers.add(-1);
        // Unless the body has ended, the client has gone.
        let stopped = self.work.take().map(|mut work| {
            let left = work.leave();
            if self.ended == Ended::Open {
                self.ended = left;
            }
            work.into_done()
        });
        let total = self.began.elapsed();
        let done = self.done.take().or(stopped);
        self.log(done.as_ref().map(|(account, _)| account), total);
        let Some((account, overhead)) = done else {
            return self.shared.live.end(&self.watched);
        };
        let first = self.first.map(|first| first - self.began);
        let elapsed = Elapsed { first, total, overhead };
        let format = account.format().map_or("unknown", wiremend_wire::ApiFormat::code);
        let named = Named { format, model: &self.about.model };
        self.shared.metrics.answer(&account, named, elapsed);
        self.shared.live.count(&self.watched, &account, elapsed);
        // First the list, so that a page does not miss it.
        self.shared.recent.note(account, &self.about, elapsed);
        self.shared.live.end(&self.watched);
    }
}

impl Passing {
    /// Says how it ended.
    fn log(&self, account: Option<&Account>, took: Duration) {
        let log = &self.shared.log;
        let (verdict, format) =
            account.map_or((None, None), |of| (Some(of.verdict()), of.format()));
        let reason = match self.ended {
            Ended::Refused => return,
            Ended::BadPacking => "bad-packing",
            Ended::BrokeOff => "provider-broke-off",
            Ended::Late => "provider-slow",
            Ended::Open => "client-left",
            Ended::Whole if self.about.status >= 400 => "status",
            Ended::Whole if verdict == Some(Verdict::Overflow) => "overflow",
            Ended::Whole => "",
        };
        let event = match reason {
            "" if !self.shared.config.log().access => return,
            "" => "answered",
            _ => "failed",
        };
        let About { id, upstream, model, status, .. } = &self.about;
        let status = if *status == 0 { String::new() } else { status.to_string() };
        let said = account.map(Account::line).unwrap_or_default();
        let millis = took.as_millis();
        log.line(
            event,
            &[
                ("id", id),
                ("upstream", upstream),
                ("model", model),
                ("status", &status),
                ("reason", &reason),
                ("format", &format.map_or("", wiremend_wire::ApiFormat::code)),
                ("account", &said),
                ("ms", &millis),
            ],
        );
    }
}

pin_project! {
    /// The body of an answer.
    pub(crate) struct Relay {
        // What was read of it already.
        ready: VecDeque<Bytes>,
        failed: Option<BoxError>,
        upstream: Option<Unpacked>,
        trailers: Option<HeaderMap>,
        over: bool,
        // The mending, while it is done on another thread.
        aside: Option<JoinHandle<Box<Work>>>,
        // Waits until what left before an error is written.
        pause: Option<Pin<Box<Sleep>>>,
        passing: Passing,
    }

    impl PinnedDrop for Relay {
        fn drop(this: Pin<&mut Self>) {
            let this = this.get_mut();
            // Nobody asks again for the end of what says that it has ended.
            if this.passing.ended == Ended::Open && this.is_end_stream() {
                this.passing.ended = Ended::Whole;
            }
        }
    }
}

impl Relay {
    pub(crate) fn new(upstream: Option<Unpacked>, passing: Passing) -> Self {
        let ready = VecDeque::new();
        Self {
            ready,
            failed: None,
            upstream,
            trailers: None,
            over: false,
            aside: None,
            pause: None,
            passing,
        }
    }

    /// Whether nothing is mended.
    fn is_passed_on(&self) -> bool {
        self.passing.work.is_none() && self.aside.is_none()
    }

    /// Puts what was read already before the rest. If there is an error, there is no rest.
    pub(crate) fn with_ready(mut self, ready: VecDeque<Bytes>, failed: Option<BoxError>) -> Self {
        (self.ready, self.failed) = (ready, failed);
        self
    }

    pub(crate) fn with_trailers(mut self, trailers: Option<HeaderMap>) -> Self {
        self.trailers = trailers;
        self
    }
}

impl Body for Relay {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut this = self.project();
        loop {
            if let Some(task) = &mut *this.aside {
                let Some(work) = done(ready!(Pin::new(task).poll(cx))) else {
                    return Poll::Pending;
                };
                (*this.aside, this.passing.work) = (None, Some(work));
            }
            let mends = this.passing.work.is_some();
            if let Some(work) = &mut this.passing.work {
                let turn_is_over = work.is_turn_over();
                if let Some(bytes) = work.take_frame(turn_is_over) {
                    this.passing.first.get_or_insert_with(Instant::now);
                    this.passing.watched.passed(bytes.len());
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                if turn_is_over {
                    work.pause();
                    return give_way(cx);
                }
                if work.is_short() {
                    work.go_on(PIECE);
                    continue;
                }
            }
            if let Some(mut work) = this.passing.work.take_if(|work| work.has_more()) {
                *this.aside = Some(spawn_blocking(move || {
                    work.go_on(usize::MAX);
                    work
                }));
                continue;
            }
            if *this.over {
                if this.failed.is_none()
                    && let Some(comment) =
                        this.passing.work.as_mut().and_then(|work| work.comment())
                {
                    return Poll::Ready(Some(Ok(Frame::data(comment))));
                }
                // An error closes the connection, with what was not written yet.
                if this.failed.is_some() {
                    let first = this.pause.is_none();
                    let pause = this.pause.get_or_insert_with(|| Box::pin(sleep(Duration::ZERO)));
                    if first || this.passing.waits.get() {
                        ready!(pause.as_mut().poll(cx));
                        pause.as_mut().reset(Instant::now() + PAUSE);
                        ready!(pause.as_mut().poll(cx));
                    }
                }
                let end = this.failed.take().map(Err);
                return Poll::Ready(
                    end.or_else(|| this.trailers.take().map(|t| Ok(Frame::trailers(t)))),
                );
            }
            let next = match (this.ready.pop_front(), &this.failed) {
                (Some(chunk), _) => Some(Ok(Frame::data(chunk))),
                (None, Some(_)) => this.failed.take().map(Err),
                (None, None) => match &mut this.upstream {
                    Some(upstream) => match Pin::new(upstream).poll_frame(cx) {
                        Poll::Ready(next) => next,
                        Poll::Pending => {
                            this.passing.work.iter_mut().for_each(|work| work.pause());
                            return Poll::Pending;
                        }
                    },
                    None => None,
                },
            };
            let frame = match next {
                Some(Ok(frame)) => frame.into_data().map_err(|frame| frame.into_trailers().ok()),
                Some(Err(error)) => {
                    // The connection is dropped at once, and so is what the provider still sends.
                    *this.upstream = None;
                    this.passing.work.iter_mut().for_each(|work| work.stop());
                    this.passing.ended = Ended::failed(&error);
                    (*this.failed, *this.over) = (Some(error), true);
                    continue;
                }
                None => {
                    *this.upstream = None;
                    Err(None)
                }
            };
            match frame {
                Ok(chunk) if mends => {
                    this.passing.work.iter_mut().for_each(|work| work.give(&chunk));
                }
                Ok(chunk) => {
                    this.passing.watched.passed(chunk.len());
                    return Poll::Ready(Some(Ok(Frame::data(chunk))));
                }
                Err(trailers) => {
                    *this.trailers = trailers.or(this.trailers.take());
                    this.passing.ended = Ended::Whole;
                    this.passing.work.iter_mut().for_each(|work| work.end());
                    *this.over = true;
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_passed_on()
            && self.ready.is_empty()
            && self.trailers.is_none()
            && self.failed.is_none()
            && self.upstream.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        if !self.is_passed_on() || !self.ready.is_empty() {
            return SizeHint::default();
        }
        self.upstream.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
