//! The body of an answer on its way from the provider to the client.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use jsonmend_wire::{Framing, RewriteOptions, Rewriter, Rewritten};
use pin_project_lite::pin_project;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, Sleep, sleep},
};

use crate::{
    account::{Account, Verdict},
    live::Watched,
    metrics::{Elapsed, Named},
    recent::About,
    shared::{Held, Shared},
    timed::{BoxError, Waits, is_late},
    unpacked::Unpacked,
};

/// Chunks in a row that come to nothing, before others get their turn.
const CHUNKS_A_TURN: usize = 64;

/// The mending of one body.
pub(crate) struct Work {
    rewriter: Rewriter,
    pub(crate) account: Account,
    out: BytesMut,
    held: Held,
    watched: Arc<Watched>,
    shared: Arc<Shared>,
    /// The last bytes that left, which say whether an event has ended.
    last: [u8; 4],
    /// When they left.
    left: Instant,
    /// Whether what has come ends with the end of an event.
    whole_events: bool,
    /// Whether nothing but white space has come.
    blank: bool,
    ended: bool,
}

impl Work {
    pub(crate) fn new(options: RewriteOptions, account: Account, passing: &Passing) -> Self {
        Self {
            rewriter: Rewriter::new(options),
            account,
            out: BytesMut::new(),
            held: passing.shared.held(),
            watched: Arc::clone(&passing.watched),
            shared: Arc::clone(&passing.shared),
            last: *b"\n\n\n\n",
            left: Instant::now(),
            whole_events: true,
            blank: true,
            ended: false,
        }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let began = Instant::now();
        let chunk = self.pass_blank(chunk);
        let Self { rewriter, account, out, watched, .. } = self;
        rewriter.push(chunk, &mut |piece| take(out, account, watched, &piece));
        if !self.ended && !self.held.set(self.rewriter.withheld()) {
            // Others need the room more than this answer.
            let Self { rewriter, account, out, watched, .. } = self;
            rewriter.release(&mut |piece| take(out, account, watched, &piece));
            self.held.set(self.rewriter.withheld());
        }
        self.keep_alive(chunk, began);
        self.watched.look(&self.shared.live, &self.rewriter);
        self.account.overhead += began.elapsed();
    }

    /// Sends on the white space at the start of a body, which may keep the connection alive. Returns the rest.
    fn pass_blank<'c>(&mut self, chunk: &'c [u8]) -> &'c [u8] {
        if !self.blank {
            return chunk;
        }
        let rest = chunk.trim_ascii_start();
        self.blank = rest.is_empty();
        self.out.extend_from_slice(&chunk[..chunk.len() - rest.len()]);
        rest
    }

    /// Sends on a copy of what the provider sent to keep the connection alive, if that waits for a call that is held, and
    /// nothing has left for a while.
    fn keep_alive(&mut self, chunk: &[u8], now: Instant) {
        let ends = chunk.ends_with(b"\n\n") || chunk.ends_with(b"\r\n\r\n");
        let began = core::mem::replace(&mut self.whole_events, ends);
        let quiet = self.shared.config.limits().idle() / QUIET;
        if began
            && ends
            && self.out.is_empty()
            && self.rewriter.withheld() > 0
            && now.saturating_duration_since(self.left) > quiet
            && self.is_between_events()
            && is_keep_alive(chunk)
        {
            self.out.extend_from_slice(chunk);
        }
    }

    /// Ends the body as upstream has ended it.
    pub(crate) fn finish(&mut self) {
        let began = Instant::now();
        if !self.ended {
            let Self { rewriter, account, out, watched, .. } = self;
            account.body = Some(rewriter.finish(&mut |piece| take(out, account, watched, &piece)));
        }
        self.ended = true;
        self.held.set(0);
        self.account.overhead += began.elapsed();
    }

    /// Ends the body where upstream failed: what waits leaves as it came.
    fn stop(&mut self) {
        if !self.ended {
            let Self { rewriter, account, out, watched, .. } = self;
            account.body = Some(rewriter.fail(&mut |piece| take(out, account, watched, &piece)));
        }
        self.ended = true;
        self.held.set(0);
    }

    /// The client has gone. Many do as soon as they have read the end of a stream, and then nothing is missing.
    fn leave(&mut self) -> Ended {
        if self.rewriter.is_ended() && self.out.is_empty() {
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
        let bytes = self.out.split().freeze();
        self.left = Instant::now();
        let kept = &bytes[bytes.len().saturating_sub(4)..];
        self.last.rotate_left(kept.len());
        self.last[4 - kept.len()..].copy_from_slice(kept);
        Some(bytes)
    }

    /// A comment that says what was done. Only between two events.
    fn comment(&mut self) -> Option<Bytes> {
        if !self.is_between_events() {
            return None;
        }
        let overhead = self.account.overhead.as_micros();
        Some(format!(": jsonmend {}; overhead-us={overhead}\n\n", self.account.line()).into())
    }

    /// Whether what has left ends with the end of a server-sent event.
    fn is_between_events(&self) -> bool {
        let ended = self.last.ends_with(b"\n\n")
            || self.last == *b"\r\n\r\n"
            || self.last.ends_with(b"\r\r");
        ended && self.rewriter.framing() == Some(Framing::Sse)
    }
}

/// The part of the longest silence after which what keeps a connection alive no longer waits.
pub(crate) const QUIET: u32 = 20;

/// Whether a chunk has nothing but comments and pings.
fn is_keep_alive(chunk: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(chunk) else { return false };
    let pings = |line: &str| {
        let text: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        line.starts_with(':')
            || ["", "event:ping", "data:{\"type\":\"ping\"}"].contains(&text.as_str())
    };
    !text.trim().is_empty() && text.lines().all(pings)
}

fn take(out: &mut BytesMut, account: &mut Account, watched: &Watched, piece: &Rewritten<'_>) {
    match piece {
        Rewritten::Bytes(bytes) => out.extend_from_slice(bytes),
        Rewritten::Event(event) => {
            watched.note(event);
            account.note(event);
        }
        _ => {}
    }
}

/// How often it is looked whether a client has taken what came before an error.
const PAUSE: Duration = Duration::from_millis(5);

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The answer broke off, for this reason.
    Failed(&'static str),
    /// It has not ended: if that stays so, the client has left.
    Open,
    /// The gateway answered itself, which is said where it does.
    Refused,
    Whole,
}

impl Ended {
    fn failed(error: &BoxError) -> Self {
        Self::Failed(match error {
            late if is_late(late) => "provider-slow",
            broken if broken.is::<hyper::Error>() => "provider-broke-off",
            _ => "bad-packing",
        })
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
    /// What was done, if that is known before the body passes.
    pub(crate) account: Option<Account>,
    pub(crate) comment: bool,
    /// The coding that the answer came in, if it was unpacked.
    pub(crate) unpacked: Option<&'static str>,
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
            work.account
        });
        let account = self.account.take().or(stopped);
        let elapsed = Elapsed {
            first: self.first.map(|first| first - self.began),
            total: self.began.elapsed(),
        };
        self.log(account.as_ref(), elapsed.total);
        let Some(account) = account else {
            return self.shared.live.end(&self.watched);
        };
        let format = account.format.map_or("unknown", jsonmend_wire::ApiFormat::code);
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
        let (verdict, format) = account.map_or((None, None), |of| (Some(of.verdict()), of.format));
        let reason = match self.ended {
            Ended::Refused => return,
            Ended::Failed(reason) => reason,
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
                ("format", &format.map_or("", jsonmend_wire::ApiFormat::code)),
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
        Self { ready, failed: None, upstream, trailers: None, over: false, pause: None, passing }
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
        for _ in 0..CHUNKS_A_TURN {
            if let Some(work) = &mut this.passing.work
                && let Some(bytes) = work.take()
            {
                this.passing.first.get_or_insert_with(Instant::now);
                this.passing.watched.passed(bytes.len());
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            if *this.over {
                if core::mem::take(&mut this.passing.comment)
                    && this.failed.is_none()
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
                    Some(upstream) => ready!(Pin::new(upstream).poll_frame(cx)),
                    None => None,
                },
            };
            let frame = match next {
                Some(Ok(frame)) => frame,
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
                    this.passing.work.iter_mut().for_each(|work| work.finish());
                    this.passing.ended = Ended::Whole;
                    *this.over = true;
                    continue;
                }
            };
            match frame.into_data() {
                Ok(chunk) => match &mut this.passing.work {
                    Some(work) => work.push(&chunk),
                    None => {
                        this.passing.watched.passed(chunk.len());
                        return Poll::Ready(Some(Ok(Frame::data(chunk))));
                    }
                },
                Err(frame) => {
                    *this.trailers = frame.into_trailers().ok();
                    this.passing.work.iter_mut().for_each(|work| work.finish());
                    this.passing.ended = Ended::Whole;
                    *this.over = true;
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.passing.work.is_none()
            && self.ready.is_empty()
            && self.trailers.is_none()
            && self.failed.is_none()
            && self.upstream.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        if self.passing.work.is_some() || !self.ready.is_empty() {
            return SizeHint::default();
        }
        self.upstream.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
