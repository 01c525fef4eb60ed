//! The last answers, for `/repairs` and the live page.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};
use wiremend_exchange::{Account, HistoryFixes};

use crate::metrics::Elapsed;

/// What is known about a request, for the list and for labels. Nothing of its headers, its query or its body.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// The number of the request.
    pub(crate) id: u64,
    pub(crate) upstream: String,
    pub(crate) model: String,
    pub(crate) status: u16,
    pub(crate) fixed: HistoryFixes,
}

/// The last answers.
#[derive(Debug)]
pub(crate) struct Recent {
    kept: usize,
    answers: Mutex<Answers>,
}

#[derive(Debug, Default)]
struct Answers {
    /// The last one first.
    kept: VecDeque<Arc<Answer>>,
    /// How many there have been.
    seen: u64,
}

impl Recent {
    pub(crate) fn new(kept: usize) -> Self {
        Self { kept, answers: Mutex::default() }
    }

    /// How many answers are kept.
    pub(crate) const fn kept(&self) -> usize {
        self.kept
    }

    pub(crate) fn note(&self, account: Account, about: &About, elapsed: Elapsed) {
        if self.kept == 0 {
            return;
        }
        let account = account.settled();
        let answer = Answer { account, about: about.clone(), elapsed, ended: unix_millis() };
        let mut answers = self.lock();
        answers.seen += 1;
        answers.kept.truncate(self.kept - 1);
        answers.kept.push_front(Arc::new(answer));
    }

    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answers as JSON, the last one first.
    pub(crate) fn list(&self) -> String {
        let (answers, _, _) = self.since(0, usize::MAX);
        format!("{{\"answers\":[{}]}}", answers.join(","))
    }

    /// The answers after the first `before` ones, the last one first, as far as they are kept and take no more than
    /// `bytes`; how many are left out; and how many there have been.
    pub(crate) fn since(&self, before: u64, bytes: usize) -> (Vec<String>, u64, u64) {
        let answers = self.lock();
        let seen = answers.seen;
        let new = seen.saturating_sub(before);
        let kept = answers.kept.iter().take(usize::try_from(new).unwrap_or(usize::MAX));
        let kept: Vec<Arc<Answer>> = kept.map(Arc::clone).collect();
        // Nobody who is answered waits for the pages.
        drop(answers);
        let mut size = 0;
        let fit = kept.iter().map(|answer| answer.json().to_string()).take_while(|answer| {
            size += answer.len();
            size <= bytes
        });
        let fit: Vec<String> = fit.collect();
        let left_out = new - fit.len() as u64;
        (fit, left_out, seen)
    }
}

/// An answer that has ended. It becomes JSON when somebody asks.
#[derive(Debug)]
struct Answer {
    account: Account,
    about: About,
    elapsed: Elapsed,
    ended: u64,
}

impl Answer {
    fn json(&self) -> Value {
        let Self { account, about, elapsed, ended } = self;
        let mut entry = json!({
            "id": about.id,
            "unix_time": ended / 1000,
            "upstream": about.upstream,
            "model": about.model,
            "status": about.status,
        });
        let rest = json!({
            "history": {"mended": about.fixed.mended(), "replaced": about.fixed.replaced()},
            "milliseconds": millis(elapsed.total),
            "first_milliseconds": elapsed.first.map(millis),
            "overhead_microseconds": elapsed.overhead.as_micros() as u64,
        });
        if let (Value::Object(members), Value::Object(done), Value::Object(rest)) =
            (&mut entry, account.to_json(), rest)
        {
            members.extend(done.into_iter().chain(rest));
        }
        entry
    }
}

/// Milliseconds with three decimals.
fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

/// The time, in milliseconds of the Unix epoch.
pub(crate) fn unix_millis() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
