//! The driver: progress, failed calls, deadlines, and futures that are dropped.

use core::{
    cell::{Cell, RefCell},
    future::{Future, pending, ready},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures::executor::block_on;
use wiremend_reask::{
    Answer, Ask, EndReason, Failure, Progress, ReaskOptions, RetryPolicy, Step, Timer,
};

use crate::booking;

const VALID: &str = r#"{"guest": "A", "nights": 2}"#;

/// A clock that passes only while somebody sleeps.
#[derive(Debug, Default)]
pub(crate) struct Clock(Cell<Duration>);

impl Timer for &Clock {
    fn now(&self) -> Duration {
        self.0.get()
    }
    async fn sleep(&self, time: Duration) {
        self.0.set(self.0.get() + time);
    }
}

type Reply = Result<Answer, Failure>;

fn model(replies: Vec<Reply>) -> impl FnMut(Ask) -> core::future::Ready<Reply> {
    let mut replies = replies.into_iter();
    move |_| ready(replies.next().expect("no further call"))
}

fn text(text: &str) -> Reply {
    Ok(Answer::text(text))
}

#[test]
fn failed_calls_are_made_again_and_wrong_answers_are_corrected() {
    let clock = Clock::default();
    let seen = RefCell::new(Vec::new());
    let note = |progress: &Progress| {
        seen.borrow_mut().push((progress.attempt, progress.is_retry, progress.delay.as_millis()));
    };
    let limited = Failure::status(429, "").with_retry_after(Duration::from_millis(1234));
    let replies = vec![
        Err(Failure::status(503, "")),
        text("no"),
        Err(limited),
        text(r#"{"guest": "A"}"#),
        text(r#"{"/nights": 2}"#),
    ];
    let mut reask = booking(ReaskOptions::new());
    let driver =
        reask.driver(&clock).with_retry(RetryPolicy::new().with_jitter(0), 1).with_progress(note);
    let done = block_on(driver.run(model(replies))).unwrap();
    assert_eq!(done.json(), VALID);
    assert_eq!(
        *seen.borrow(),
        [(0, false, 0), (0, true, 1000), (1, false, 0), (1, true, 1234), (2, false, 0)]
    );
    assert_eq!(done.spent().calls(), 3, "failures are no answers");
    assert_eq!(clock.0.get(), Duration::from_millis(2234));
}

#[test]
fn without_a_policy_a_failure_ends_the_loop_with_what_there_is() {
    let mut reask = booking(ReaskOptions::new());
    let wrong = Answer::text("no").with_tokens(10, 1);
    let end =
        block_on(reask.run(model(vec![Ok(wrong), Err(Failure::timed_out("30 s"))]))).unwrap_err();
    assert_eq!((end.reason(), end.spent().tokens()), (EndReason::Failed, 11));
    assert!(
        end.to_string().contains("no JSON value") && end.to_string().contains("timed-out: 30 s"),
        "{end}"
    );
    for failure in [Failure::aborted(), Failure::status(401, "key")] {
        let clock = Clock::default();
        let mut reask = booking(ReaskOptions::new());
        let driver = reask.driver(&clock).with_retry(RetryPolicy::new(), 1);
        let end = block_on(driver.run(model(vec![Err(failure)]))).unwrap_err();
        assert_eq!((end.reason(), clock.0.get()), (EndReason::Failed, Duration::ZERO));
    }
}

#[test]
fn a_call_does_not_outlast_the_deadline() {
    let clock = Clock::default();
    let mut reask = booking(ReaskOptions::new().with_deadline(Duration::from_secs(9)));
    let end = block_on(reask.driver(&clock).run(|_| pending::<Reply>())).unwrap_err();
    assert_eq!(end.reason(), EndReason::Deadline);
    // A delay that would outlast it is not begun.
    let clock = Clock::default();
    let mut reask = booking(ReaskOptions::new().with_deadline(Duration::from_secs(9)));
    let driver = reask.driver(&clock).with_retry(RetryPolicy::new(), 1);
    let slow = Failure::status(503, "").with_retry_after(Duration::from_secs(10));
    let end = block_on(driver.run(model(vec![Err(slow)]))).unwrap_err();
    assert_eq!((end.reason(), end.failure().is_some()), (EndReason::Failed, true));
}

#[test]
fn a_dropped_run_can_be_run_again() {
    let mut reask = booking(ReaskOptions::new());
    let calls = Cell::new(0);
    {
        let mut run = pin!(reask.run(|_| {
            calls.set(calls.get() + 1);
            let first = calls.get() == 1;
            async move { if first { text(r#"{"guest": "A"}"#) } else { pending().await } }
        }));
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(run.as_mut().poll(&mut context), Poll::Pending));
    }
    assert_eq!((calls.get(), reask.spent().calls()), (2, 1));
    let done = block_on(reask.run(|ask| {
        assert_eq!((ask.attempt(), ask.fields()), (1, &["/nights".to_owned()][..]));
        ready(text(r#"{"/nights": 2}"#))
    }));
    assert_eq!(done.unwrap().json(), VALID);
}

/// Is pending that often, and then ready.
struct Late<T> {
    polls: usize,
    value: Option<T>,
}

impl<T: Unpin> Future for Late<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        match self.polls.checked_sub(1) {
            Some(left) => {
                self.polls = left;
                Poll::Pending
            }
            None => Poll::Ready(self.value.take().expect("it is polled again")),
        }
    }
}

/// A clock on which every sleep is pending once.
#[derive(Default)]
struct Slow(Cell<Duration>);

impl Timer for &Slow {
    fn now(&self) -> Duration {
        self.0.get()
    }

    async fn sleep(&self, time: Duration) {
        Late { polls: 1, value: Some(()) }.await;
        self.0.set(self.0.get() + time);
    }
}

#[test]
fn a_run_can_be_dropped_wherever_it_waits() {
    // A delay after a failure, and a call with and without a deadline beside it.
    let script = [
        Err(Failure::status(503, "")),
        text("no"),
        Err(Failure::status(429, "")),
        text(r#"{"guest": "A"}"#),
        text(r#"{"nights": 2}"#),
    ];
    for deadline in [None, Some(Duration::from_secs(100_000))] {
        let mut drops = 0;
        loop {
            let clock = Slow::default();
            let options = ReaskOptions::new();
            let mut reask = booking(match deadline {
                Some(deadline) => options.with_deadline(deadline),
                None => options,
            });
            let answered = Cell::new(0);
            let call = |_: Ask| {
                let answered = &answered;
                let reply = script[answered.get()].clone();
                async move {
                    let reply = Late { polls: 1, value: Some(reply) }.await;
                    answered.set(answered.get() + 1);
                    reply
                }
            };
            let mut context = Context::from_waker(Waker::noop());
            let mut is_dropped = true;
            {
                let driver = reask.driver(&clock).with_retry(RetryPolicy::new(), 1);
                let mut run = pin!(driver.run(call));
                for _ in 0..=drops {
                    is_dropped = run.as_mut().poll(&mut context).is_pending();
                    if !is_dropped {
                        break;
                    }
                }
            }
            if !is_dropped {
                break;
            }
            // The same question again, and everything that was answered counts once.
            let driver = reask.driver(&clock).with_retry(RetryPolicy::new(), 1);
            let mut run = pin!(driver.run(call));
            let end = loop {
                if let Poll::Ready(end) = run.as_mut().poll(&mut context) {
                    break end;
                }
            };
            let done = end.unwrap();
            assert_eq!((done.json(), done.spent().calls()), (VALID, 3), "{drops} {deadline:?}");
            assert_eq!(answered.get(), script.len());
            drops += 1;
        }
        assert!(drops >= 7, "five calls and two delays: {drops}");
    }
}

#[test]
fn an_abort_while_it_waits_ends_the_loop_at_once() {
    let clock = Slow::default();
    let mut reask = booking(ReaskOptions::new());
    let calls = Cell::new(0);
    {
        let driver = reask.driver(&clock).with_retry(RetryPolicy::new(), 1);
        let mut run = pin!(driver.run(|_| {
            calls.set(calls.get() + 1);
            ready(Err::<Answer, _>(Failure::status(503, "")))
        }));
        let mut context = Context::from_waker(Waker::noop());
        assert!(run.as_mut().poll(&mut context).is_pending());
    }
    let Step::Exhausted(end) = reask.give_up(Failure::aborted()) else { panic!() };
    // It ends because of the abort, and not because of the failure before.
    assert_eq!((end.reason(), end.failure()), (EndReason::Failed, Some(&Failure::aborted())));
    assert_eq!(calls.get(), 1);
    let again = block_on(reask.run(|_| pending::<Reply>())).unwrap_err();
    assert_eq!(again.reason(), EndReason::Failed);
}

#[test]
fn a_run_can_be_sent_to_another_thread() {
    fn is_send<T: Send>(_: &T) {}
    let mut reask = booking(ReaskOptions::new());
    is_send(&reask.run(|_| async { text(VALID) }));
}
