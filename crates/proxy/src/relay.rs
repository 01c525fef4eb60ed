//! The body of an answer on its way from the provider to the client, and what takes long on it: in turns, or on a thread
//! apart.

use std::{
    collections::VecDeque,
    panic::resume_unwind,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::{
    sync::OwnedSemaphorePermit,
    task::{JoinError, JoinHandle, spawn_blocking, yield_now},
    time::{Instant, Sleep, sleep},
};
use wiremend_exchange::{Account, Answer, Verdict};
use wiremend_wire::{Rewriter, Rewritten};

use crate::{
    live::Watched,
    metrics::{Elapsed, Named},
    recent::About,
    shared::{Held, Shared},
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

/// The bytes that leave at a time, although more is there to be mended.
const FRAME: usize = 16 << 10;

/// The part of the longest silence after which what keeps a connection alive no longer waits.
pub(crate) const QUIET: u32 = 20;

/// The mending of one body.
pub(crate) struct Work {
    pub(crate) answer: Box<Answer>,
    /// The time that the gateway itself took.
    pub(crate) overhead: Duration,
    out: BytesMut,
    held: Held,
    watched: Arc<Watched>,
    shared: Arc<Shared>,
    /// When the last bytes left.
    left: Instant,
    /// The comment at the end has left.
    said: bool,
    ended: bool,
    /// The last bytes took longer than others would wait.
    slow: bool,
    /// What has come and is not mended yet.
    rest: Bytes,
    /// Nothing follows that.
    ends: bool,
    /// When the others had their turn last.
    turn: Option<Instant>,
}

impl Work {
    pub(crate) fn new(answer: Box<Answer>, overhead: Duration, passing: &Passing) -> Self {
        Self {
            answer,
            overhead,
            out: BytesMut::new(),
            held: passing.shared.held(),
            watched: Arc::clone(&passing.watched),
            shared: Arc::clone(&passing.shared),
            left: Instant::now(),
            said: false,
            ended: false,
            slow: false,
            rest: Bytes::new(),
            ends: false,
            turn: None,
        }
    }

    /// What was done, and the time that it took.
    pub(crate) fn into_done(self) -> (Account, Duration) {
        (self.answer.into_account(), self.overhead)
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let began = Instant::now();
        let Self { answer, out, watched, .. } = self;
        answer.push(chunk, &mut |piece| take(out, watched, &piece));
        let memory = |answer: &Answer| answer.rewriter().map_or(0, Rewriter::memory);
        if !self.ended && !self.held.set(memory(&self.answer)) {
            // Others need the room more than this answer.
            let Self { answer, out, watched, .. } = self;
            answer.release(&mut |piece| take(out, watched, &piece));
            self.held.set(memory(&self.answer));
        }
        self.keep_alive(chunk, began);
        self.answer.rewriter().iter().for_each(|own| self.watched.look(&self.shared.live, own));
        let took = began.elapsed();
        self.slow = took > TURN;
        self.overhead += took;
    }

    /// The bytes that wait.
    fn withheld(&self) -> usize {
        self.answer.rewriter().map_or(0, Rewriter::withheld)
    }

    /// Takes a chunk, which is mended when it [goes on](Self::go_on). There must be nothing left of the last one.
    fn give(&mut self, chunk: &Bytes) {
        self.rest = chunk.clone();
    }

    /// Nothing follows.
    fn end(&mut self) {
        self.ends = true;
    }

    /// Whether there is something to mend.
    fn has_more(&self) -> bool {
        !self.rest.is_empty() || self.ends
    }

    /// Whether there is something to mend that does not take long. Few bytes may do so, too: where the last ones did, or so
    /// much waits that it takes long to read it once more, as the end of a call may make it necessary.
    fn is_short(&self) -> bool {
        self.has_more() && !self.slow && self.withheld() <= LONG
    }

    /// Mends at most so many bytes of what is there, and ends if nothing follows them.
    fn go_on(&mut self, most: usize) {
        let piece = self.rest.split_to(self.rest.len().min(most));
        if !piece.is_empty() {
            self.push(&piece);
        }
        if self.rest.is_empty() && core::mem::take(&mut self.ends) {
            self.finish();
        }
    }

    /// Whether others should have their turn.
    fn is_turn_over(&mut self) -> bool {
        self.turn.get_or_insert_with(Instant::now).elapsed() > TURN
    }

    /// What may leave, where it is much, others have their turn, or nothing is there that is mended in a short time: to send
    /// each piece takes longer than to mend it.
    fn take_frame(&mut self, turn_is_over: bool) -> Option<Bytes> {
        let waits = self.is_short() && !turn_is_over && self.out.len() < FRAME;
        if waits { None } else { self.take() }
    }

    /// Others have their turn now.
    fn pause(&mut self) {
        self.turn = None;
    }

    /// Sends on a copy of what the provider sent to keep the connection alive, if that waits for a call that is held, and
    /// nothing has left for a while.
    fn keep_alive(&mut self, chunk: &[u8], now: Instant) {
        let quiet = self.shared.config.limits().idle() / QUIET;
        let is_quiet = self.out.is_empty() && now.saturating_duration_since(self.left) > quiet;
        if is_quiet && self.answer.is_keep_alive(chunk) {
            self.out.extend_from_slice(chunk);
        }
    }

    /// Ends the body as upstream has ended it.
    pub(crate) fn finish(&mut self) {
        let began = Instant::now();
        let Self { answer, out, watched, .. } = self;
        answer.finish(&mut |piece| take(out, watched, &piece));
        self.ended = true;
        self.held.set(0);
        self.overhead += began.elapsed();
    }

    /// Ends the body where upstream failed: what waits leaves as it came.
    fn stop(&mut self) {
        let Self { answer, out, watched, .. } = self;
        answer.stop(&mut |piece| take(out, watched, &piece));
        self.ended = true;
        self.held.set(0);
    }

    /// The client has gone. Many do as soon as they have read the end of a stream, and then nothing is missing.
    fn leave(&mut self) -> Ended {
        let is_whole = self.answer.rewriter().is_some_and(Rewriter::is_ended);
        if is_whole && self.out.is_empty() {
            self.finish();
            Ended::Whole
        } else {
            self.stop();
            Ended::Open
        }
    }

    pub(crate) fn take(&mut self) -> Option<Bytes> {
        if self.out.is_empty() {
            return None;
        }
        self.left = Instant::now();
        Some(self.out.split().freeze())
    }

    /// A comment that says what was done, once, if that is wanted. Only between two events.
    fn comment(&mut self) -> Option<Bytes> {
        if core::mem::replace(&mut self.said, true) {
            return None;
        }
        self.answer.comment(Some(self.overhead)).map(Bytes::from)
    }
}

fn take(out: &mut BytesMut, watched: &Watched, piece: &Rewritten<'_>) {
    match piece {
        Rewritten::Bytes(bytes) => out.extend_from_slice(bytes),
        Rewritten::Event(event) => watched.note(event),
        _ => {}
    }
}

/// Bytes that usually take a part of a millisecond, and may take a hundred. To hand over what is shorter takes longer than
/// others would usually wait for it.
const LONG: usize = 32 << 10;

/// How long a client may keep the others of its thread waiting. What it has to do then is done in turns.
const TURN: Duration = Duration::from_millis(1);

/// Does what takes as long as these bytes do. What is long is done on another thread, because the clients of this one
/// would wait for it.
pub(crate) async fn aside<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    if bytes < LONG {
        return work();
    }
    match done(spawn_blocking(work).await) {
        Some(done) => done,
        None => std::future::pending().await,
    }
}

/// What another thread has done. `None` only where the runtime ends, and whoever asks with it.
fn done<T>(result: Result<T, JoinError>) -> Option<T> {
    match result {
        Ok(done) => Some(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => None,
        },
    }
}

/// Lets others have their turn: also those for whom something has arrived meanwhile.
fn give_way<T>(cx: &mut Context<'_>) -> Poll<T> {
    // Its first turn ends at once, and asks for another one after those of all others.
    let _ = std::pin::pin!(yield_now()).poll(cx);
    Poll::Pending
}
