//! Runs a loop with any client.

use core::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use crate::{
    Answer, Ask, AskKind, Done, Exhausted, Failure, Mode, Reask, Retry, RetryPolicy, Step,
};

/// A clock that can also wait. With tokio:
///
/// ```ignore
/// struct Tokio(tokio::time::Instant);
///
/// impl Timer for Tokio {
///     fn now(&self) -> Duration {
///         self.0.elapsed()
///     }
///     fn sleep(&self, time: Duration) -> impl Future<Output = ()> {
///         tokio::time::sleep(time)
///     }
/// }
/// ```
pub trait Timer {
    /// The time since any fixed moment. Loops that share a [`ModeMemory`](crate::ModeMemory) need the same one, because
    /// it compares their times.
    fn now(&self) -> Duration;

    /// Waits for that long.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()>;
}

/// A timer that does not know the time, for a loop without a deadline and without repeated calls.
#[derive(Clone, Copy, Debug)]
struct NoTimer;

impl Timer for NoTimer {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    async fn sleep(&self, _: Duration) {
        core::future::pending::<()>().await;
    }
}

/// What a driver is about to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Which correction it is, from 1; 0 for the first request.
    pub attempt: u32,
    /// How many corrections there may be.
    pub of: u32,
    /// What is asked for.
    pub kind: AskKind,
    /// How the output is constrained.
    pub mode: Mode,
    /// How long it waits before that. Not zero only for a call that failed and is made again.
    pub delay: Duration,
    /// Whether the same call is made again because it failed, rather than because of its answer.
    pub is_retry: bool,
    /// Why: the first issue of the answer, or the failure. Empty for the first request.
    pub reason: String,
}

/// Runs a [`Reask`] with a client, a timer and a policy for failed calls. Made by [`Reask::driver`].
///
/// It spawns no task. If the future is dropped, so is the call that is open, and the loop can be run again: it
/// goes on with the same call.
#[derive(Debug)]
pub struct Driver<'r, T, P> {
    reask: &'r mut Reask,
    timer: T,
    progress: P,
    retry: Option<Retry>,
}

impl Reask {
    /// Runs the loop with a client: `ask` makes one call. Failed calls are not made again, and there is no
    /// deadline; see [`driver`](Self::driver) for both.
    ///
    /// ```
    /// use wiremend_reask::{Answer, Failure, Reask, ReaskOptions};
    /// use wiremend_schema::Schema;
    /// use futures::executor::block_on;
    ///
    /// let schema = Schema::from_text(r#"{"type": "object", "required": ["days"],
    ///     "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#)?;
    /// let mut reask = Reask::new(&schema, ReaskOptions::new());
    /// let mut model = [r#"{"city": "Oslo", "days": "a few"}"#, r#"{"days": 3}"#].into_iter();
    /// let done = block_on(reask.run(|_ask| {
    ///     // A client sends the messages of the request, then those of `ask.messages(…)`.
    ///     let reply = model.next().unwrap();
    ///     async move { Ok::<_, Failure>(Answer::text(reply)) }
    /// }));
    /// assert_eq!(done.unwrap().json(), r#"{"city": "Oslo", "days": 3}"#);
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    ///
    /// # Errors
    /// The [end](Exhausted) of the loop without a valid value.
    pub async fn run<F, A>(&mut self, ask: F) -> Result<Done, Exhausted>
    where
        F: FnMut(Ask) -> A,
        A: Future<Output = Result<Answer, Failure>>,
    {
        self.driver(NoTimer).run(ask).await
    }

    /// A driver with a timer, for deadlines and for calls that are made again.
    pub const fn driver<T: Timer>(&mut self, timer: T) -> Driver<'_, T, fn(&Progress)> {
        Driver { reask: self, timer, progress: |_| (), retry: None }
    }
}

impl<'r, T: Timer, P: FnMut(&Progress)> Driver<'r, T, P> {
    /// Makes failed calls again. The seed is for the jitter of the delays, and should be different for each client.
    #[must_use]
    pub const fn with_retry(mut self, policy: RetryPolicy, seed: u64) -> Self {
        self.retry = Some(Retry::new(policy, seed));
        self
    }

    /// Calls a function before each call to the model. For a stream of progress, let it send into a channel:
    ///
    /// ```
    /// use wiremend_reask::{Answer, Failure, Progress, Reask, ReaskOptions};
    /// # use wiremend_reask::Timer;
    /// # struct Clock;
    /// # impl Timer for Clock {
    /// #     fn now(&self) -> core::time::Duration { core::time::Duration::ZERO }
    /// #     async fn sleep(&self, _: core::time::Duration) {}
    /// # }
    /// use futures::{StreamExt, channel::mpsc, executor::block_on, future::join};
    /// use wiremend_schema::Schema;
    ///
    /// let schema = Schema::from_text(r#"{"type": "object", "required": ["days"]}"#)?;
    /// let mut reask = Reask::new(&schema, ReaskOptions::new());
    /// let (sender, receiver) = mpsc::unbounded();
    /// let driver = reask.driver(Clock).with_progress(move |next: &Progress| {
    ///     let _ = sender.unbounded_send(next.clone());
    /// });
    /// let mut model = ["{}", r#"{"days": 3}"#].into_iter();
    /// let run = driver.run(|_| core::future::ready(Ok::<_, Failure>(Answer::text(model.next().unwrap()))));
    /// // The stream ends with the loop, which owns the sender.
    /// let (done, shown) = block_on(join(run, receiver.map(|next| next.kind.code()).collect::<Vec<_>>()));
    /// assert_eq!((done.unwrap().json(), &shown[..]), (r#"{"days": 3}"#, &["first", "whole"][..]));
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn with_progress<Q: FnMut(&Progress)>(self, progress: Q) -> Driver<'r, T, Q> {
        Driver { reask: self.reask, timer: self.timer, progress, retry: self.retry }
    }

    /// Runs the loop. A call that is open when the time is over is dropped.
    ///
    /// # Errors
    /// The [end](Exhausted) of the loop without a valid value.
    pub async fn run<F, A>(mut self, mut ask: F) -> Result<Done, Exhausted>
    where
        F: FnMut(Ask) -> A,
        A: Future<Output = Result<Answer, Failure>>,
    {
        let mut step = self.reask.begin(self.timer.now());
        let (mut delay, mut reason) = (Duration::ZERO, String::new());
        let mut is_retry = false;
        loop {
            let next = match step {
                Step::Done(done) => return Ok(*done),
                Step::Exhausted(end) => return Err(*end),
                Step::Failed(failure) => {
                    reason = failure.to_string();
                    let wait = self.retry.as_mut().and_then(|retry| retry.after(&failure));
                    let left = self.reask.time_left_at(self.timer.now());
                    // Nothing would be left of the time after the delay.
                    let wait = wait.filter(|wait| left.is_none_or(|left| *wait < left));
                    step = match wait {
                        Some(wait) => {
                            (delay, is_retry) = (wait, true);
                            self.reask.begin(self.timer.now())
                        }
                        None => self.reask.give_up(failure),
                    };
                    continue;
                }
                Step::Ask(next) | Step::Continue(next) => next,
            };
            (self.progress)(&Progress {
                attempt: next.attempt(),
                of: next.of(),
                kind: next.kind(),
                mode: next.mode(),
                delay,
                is_retry,
                reason: core::mem::take(&mut reason),
            });
            if delay > Duration::ZERO {
                self.timer.sleep(core::mem::take(&mut delay)).await;
            }
            is_retry = false;
            let left = self.reask.time_left_at(self.timer.now());
            if left == Some(Duration::ZERO) {
                step = self.reask.run_out_of_time();
                continue;
            }
            let result = within(&self.timer, left, ask(*next)).await;
            let now = self.timer.now();
            step = match result {
                Some(Ok(answer)) => {
                    if let Some(retry) = &mut self.retry {
                        retry.reset();
                    }
                    let step = self.reask.answer(&answer, now);
                    let issue = self.reask.attempts().last().and_then(|last| last.issues().first());
                    reason = issue.map(ToString::to_string).unwrap_or_default();
                    step
                }
                Some(Err(failure)) => {
                    reason = failure.to_string();
                    self.reask.failed(failure, now)
                }
                None => self.reask.run_out_of_time(),
            };
        }
    }
}

/// Waits for a call, but not longer than the time that is left. `None` if that is over.
async fn within<T: Timer, A: Future>(
    timer: &T,
    left: Option<Duration>,
    call: A,
) -> Option<A::Output> {
    let mut call = pin!(call);
    let Some(left) = left else { return Some(call.await) };
    let mut sleep = pin!(timer.sleep(left));
    poll_fn(|context| {
        if let Poll::Ready(output) = call.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        sleep.as_mut().poll(context).map(|()| None)
    })
    .await
}
