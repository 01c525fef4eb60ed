//! Deadlines of a source.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    pin::pin,
    rc::Rc,
    task::Poll,
    time::Duration,
};

use crate::source::Source;
use futures::{FutureExt, Stream, StreamExt, stream, stream::FusedStream};
use wiremend_core::Outcome;
use wiremend_stream::{
    ByteStreamExt, Error, JsonEvent, JsonOptions,
    source::{DeadlineError, Deadlines, with_deadlines},
};

/// A clock that is set by hand.
#[derive(Clone, Default)]
struct Clock {
    now: Rc<Cell<Duration>>,
    timers: Rc<RefCell<Vec<Duration>>>,
}

impl Clock {
    fn timer(&self) -> impl Fn(Duration) -> futures::future::LocalBoxFuture<'static, ()> + use<> {
        let clock = self.clone();
        move |duration| {
            clock.timers.borrow_mut().push(duration);
            let (now, end) = (Rc::clone(&clock.now), clock.now.get() + duration);
            poll_fn(move |_| if now.get() >= end { Poll::Ready(()) } else { Poll::Pending })
                .boxed_local()
        }
    }

    fn advance(&self, seconds: u64) {
        self.now.set(self.now.get() + Duration::from_secs(seconds));
    }
}

fn both() -> Deadlines {
    Deadlines::new().with_idle(Duration::from_secs(5)).with_total(Duration::from_secs(12))
}

#[test]
fn a_source_in_time_is_not_changed() {
    let clock = Clock::default();
    let (source, log) = Source::cut(b"some text", 2);
    let mut chunks = pin!(with_deadlines(source.hesitant(), both(), clock.timer()));
    let mut text = Vec::new();
    while !chunks.is_terminated() {
        clock.now.set(clock.now.get() + Duration::from_millis(500));
        if let Some(Some(chunk)) = chunks.next().now_or_never() {
            text.extend(chunk.unwrap());
        }
    }
    assert_eq!(text, b"some text");
    assert!(log.borrow().dropped && !log.borrow().polled_after_end);
}

#[test]
fn silence_is_an_error_and_the_source_is_let_go() {
    let clock = Clock::default();
    let silent = stream::iter([Ok("[1, "), Ok("2")]).chain(stream::pending::<Result<_, &str>>());
    let mut events = pin!(with_deadlines(silent, both(), clock.timer()).mend(JsonOptions::new()));
    while events.next().now_or_never().is_some() {}
    clock.advance(4);
    assert!(events.next().now_or_never().is_none());
    clock.advance(1);
    let mut ends = Vec::new();
    while let Some(event) = events.next().now_or_never().unwrap() {
        match event {
            Ok(JsonEvent::Ended(object)) => assert_eq!(object.outcome(), Outcome::Closed),
            Ok(_) => {}
            Err(Error::Upstream(error)) => ends.push(error),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(ends, [DeadlineError::Idle(Duration::from_secs(5))]);
}

/// Each chunk starts the wait anew, and the time that the caller takes is not the source's.
#[test]
fn only_the_wait_for_a_chunk_is_idle() {
    let clock = Clock::default();
    let (source, _) = Source::cut(b"abcdefgh", 1);
    let idle = Deadlines::new().with_idle(Duration::from_secs(5));
    let mut chunks = pin!(with_deadlines(source.hesitant(), idle, clock.timer()));
    for _ in 0..8 {
        clock.advance(100);
        assert!(chunks.next().now_or_never().is_none());
        clock.advance(4);
        assert!(chunks.next().now_or_never().unwrap().unwrap().is_ok());
    }
    assert_eq!(clock.timers.borrow().len(), 8);
}

/// A source that is always ready, and never ends, is ended by the total deadline.
#[test]
fn the_total_ends_a_source_that_never_does() {
    let clock = Clock::default();
    let endless = stream::repeat_with(|| Ok::<_, &str>("x"));
    let mut chunks = pin!(with_deadlines(endless, both(), clock.timer()));
    for _ in 0..11 {
        clock.advance(1);
        assert!(chunks.next().now_or_never().unwrap().unwrap().is_ok());
    }
    clock.advance(2);
    let end = chunks.next().now_or_never().unwrap().unwrap();
    assert_eq!(end, Err(DeadlineError::Total(Duration::from_secs(12))));
    assert!(chunks.is_terminated());
    assert_eq!(chunks.next().now_or_never(), Some(None));
}

#[test]
fn errors_of_the_source_come_through() {
    let (source, _) = Source::new(vec![Err("reset")]);
    let mut chunks = pin!(with_deadlines(source, both(), Clock::default().timer()));
    let error = chunks.next().now_or_never().unwrap().unwrap();
    assert_eq!(error, Err(DeadlineError::Upstream("reset")));
}

#[cfg(feature = "tokio-time")]
#[tokio::test(start_paused = true)]
async fn the_clock_of_tokio() {
    use wiremend_stream::source::TokioTimer;
    let silent = stream::pending::<Result<&str, &str>>();
    let mut chunks = pin!(with_deadlines(silent, both(), TokioTimer));
    let error = chunks.next().await.unwrap();
    assert_eq!(error, Err(DeadlineError::Idle(Duration::from_secs(5))));
    fn is_send<T: Send>(_: &T) {}
    is_send(&with_deadlines(stream::pending::<Result<&str, &str>>(), both(), TokioTimer));
}

/// A stream of results, to keep the bounds of the adapters honest.
fn is_source<B: AsRef<[u8]>, E>(_: &impl Stream<Item = Result<B, E>>) {}

#[test]
fn a_source_with_deadlines_is_a_source() {
    let (source, _) = Source::cut(b"x", 1);
    is_source(&with_deadlines(source, Deadlines::new(), Clock::default().timer()));
}

/// A source that is always ready lets the runtime reach its timers.
#[test]
fn a_busy_source_gives_the_timers_their_turn() {
    let endless = stream::repeat_with(|| Ok::<_, &str>("x"));
    let mut chunks = pin!(with_deadlines(endless, both(), Clock::default().timer()));
    let ready = (0..1000).filter(|_| chunks.next().now_or_never().is_some()).count();
    assert!((900..1000).contains(&ready), "{ready}");
}
