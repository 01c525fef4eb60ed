//! The live page: what passes now, and what passed last.
//!
//! A page reads a stream of events, and each event is made of what there is when the page has room for it.
//! So nothing waits for a page, and a slow one costs nothing but the events that it misses.

mod feed;
mod page;
mod watched;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wiremend_core::Risk;
use wiremend_exchange::{Account, CallNote, Verdict};

pub(crate) use feed::Feed;
pub(crate) use page::{PAGE, POLICY};
pub(crate) use watched::{Watched, name_shown};

use crate::{metrics::Elapsed, recent::unix_millis};

/// Pages at the same time. The other connections of the admin port are for those who ask for `/health`.
const READERS: usize = 8;

/// Seconds that are plotted.
const SECONDS: usize = 120;

/// What all pages show.
#[derive(Debug)]
pub(crate) struct Live {
    started: u64,
    content: bool,
    readers: Arc<Semaphore>,
    ids: AtomicU64,
    /// The requests that are being answered.
    open: Mutex<BTreeMap<u64, Arc<Watched>>>,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// The newest one last. A second in which nothing ended has none.
    seconds: VecDeque<Second>,
    all: Second,
    /// Repairs by code. There are as many as there are kinds.
    kinds: BTreeMap<&'static str, (Risk, usize)>,
    errors: u64,
}

/// What ended in one second.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    time: u64,
    answers: u64,
    calls: u64,
    repaired: u64,
    repairs: u64,
    /// Answers that were cut off, refused, too large, or do not fit their schema.
    stopped: u64,
    bytes: u64,
    overhead_us: u64,
    /// Streams, and the sum of the times until their first bytes left.
    streams: u64,
    first_us: u64,
}

impl Second {
    fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        self.calls += other.calls;
        self.repaired += other.repaired;
        self.repairs += other.repairs;
        self.stopped += other.stopped;
        self.bytes += other.bytes;
        self.overhead_us += other.overhead_us;
        self.streams += other.streams;
        self.first_us += other.first_us;
    }

    fn row(&self) -> Value {
        json!({
            "time": self.time,
            "answers": self.answers,
            "calls": self.calls,
            "repaired": self.repaired,
            "repairs": self.repairs,
            "stopped": self.stopped,
            "bytes": self.bytes,
            "overhead_us": self.overhead_us,
            "streams": self.streams,
            "first_us": self.first_us,
        })
    }
}

impl Live {
    pub(crate) fn new(content: bool) -> Self {
        Self {
            started: unix_millis(),
            content,
            readers: Arc::new(Semaphore::new(READERS)),
            ids: AtomicU64::new(0),
            open: Mutex::default(),
            counts: Mutex::default(),
        }
    }

    /// Room for another page, if there is any.
    pub(crate) fn reader(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.readers).try_acquire_owned().ok()
    }

    /// Whether a page is open.
    fn has_readers(&self) -> bool {
        self.readers.available_permits() < READERS
    }

    /// Begins to watch a request.
    pub(crate) fn begin(&self, upstream: &str) -> Arc<Watched> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed) + 1;
        let watched = Arc::new(Watched::new(id, upstream, self.content));
        self.open().insert(id, Arc::clone(&watched));
        watched
    }

    /// Ends it.
    pub(crate) fn end(&self, watched: &Watched) {
        self.open().remove(&watched.id());
    }

    /// Counts an answer that was read.
    pub(crate) fn count(&self, watched: &Watched, account: &Account, elapsed: Elapsed) {
        let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(0);
        let calls: usize = account.ended_calls().iter().map(|(_, count)| count).sum();
        let repaired = account.calls().iter().filter(|call| !call.repairs().is_empty()).count();
        let this = Second {
            time: unix_millis() / 1000,
            answers: 1,
            calls: calls as u64,
            repaired: repaired as u64,
            repairs: account.repairs() as u64,
            stopped: u64::from(account.verdict() >= Verdict::Invalid),
            bytes: watched.bytes(),
            overhead_us: micros(elapsed.overhead),
            streams: u64::from(elapsed.first.is_some()),
            first_us: elapsed.first.map_or(0, micros),
        };
        let mut counts = self.counts();
        let Counts { seconds, all, kinds, .. } = &mut *counts;
        all.add(&this);
        match seconds.back_mut() {
            // A clock that was set back adds to the last one.
            Some(last) if last.time >= this.time => last.add(&this),
            _ => seconds.push_back(this),
        }
        while seconds.front().is_some_and(|first| first.time + (SECONDS as u64) <= this.time) {
            seconds.pop_front();
        }
        let noted = account.calls().iter().chain(account.contents());
        for (code, risk, count) in noted.flat_map(CallNote::repairs) {
            let kind = kinds.entry(code).or_insert((*risk, 0));
            *kind = (kind.0.max(*risk), kind.1 + count);
        }
    }

    /// Counts an answer of the gateway itself.
    pub(crate) fn refused(&self) {
        self.counts().errors += 1;
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Watched>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
