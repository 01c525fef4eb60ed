//! The live page: what passes now, and what passed last.
//!
//! A page reads a stream of events, and each event is made of what there is when the page has room for it.
//! So nothing waits for a page, and a slow one costs nothing but the events that it misses.

use std::{
    collections::{BTreeMap, VecDeque},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame};
use serde_json::{Value, json};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Interval, MissedTickBehavior, interval},
};
use wiremend_core::{Outcome, Risk};
use wiremend_exchange::{Account, CallNote, Verdict};
use wiremend_wire::{ApiFormat, Rewriter, WireEvent};

use crate::{
    metrics::{Elapsed, Gauge},
    recent::unix_millis,
    shared::Shared,
    timed::BoxError,
};

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

/// How many calls of an open answer are shown.
const CALLS: usize = 16;

/// How long a name is shown.
const NAME: usize = 128;

/// The most bytes of arguments of an open call that are shown.
const TEXT: usize = 4 << 10;

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Watched {
    id: u64,
    began: u64,
    upstream: String,
    content: bool,
    /// What has left of the answer.
    bytes: AtomicU64,
    /// How often something changed.
    version: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    model: String,
    status: u16,
    format: Option<ApiFormat>,
    calls: Vec<OpenCall>,
    /// How many there are, also of those that are not shown.
    begun: usize,
}

#[derive(Debug, Default)]
struct OpenCall {
    number: usize,
    tool: String,
    outcome: Option<Outcome>,
    /// The length of its arguments so far.
    bytes: usize,
    /// The beginning of what came, and of what left, if content is shown.
    came: String,
    left: Vec<u8>,
}

impl Watched {
    fn new(id: u64, upstream: &str, content: bool) -> Self {
        Self {
            id,
            began: unix_millis(),
            upstream: upstream.to_owned(),
            content,
            bytes: AtomicU64::new(0),
            version: AtomicU64::new(1),
            known: Mutex::default(),
        }
    }

    /// The number of the request, from 1.
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// Says which model was asked.
    pub(crate) fn asks(&self, model: &str) {
        self.known().model = name_shown(model);
        self.changed();
    }

    /// Says that the answer has begun.
    pub(crate) fn answers(&self, status: u16) {
        self.known().status = status;
        self.changed();
    }

    /// Says how much more of it has left.
    pub(crate) fn passed(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.changed();
    }

    pub(crate) fn note(&self, event: &WireEvent<'_>) {
        self.changed();
        match *event {
            WireEvent::FormatDetected(format) => self.known().format = Some(format),
            WireEvent::CallBegan { call, name, .. } => {
                let tool = name_shown(name.unwrap_or_default());
                let begun = OpenCall { number: call, tool, ..OpenCall::default() };
                let mut known = self.known();
                // A body that is mended again has the same calls.
                if let Some(again) = known.calls.iter_mut().find(|open| open.number == call) {
                    *again = begun;
                    return;
                }
                known.begun += 1;
                if known.calls.len() < CALLS {
                    // Most answers have one.
                    known.calls.reserve_exact(1);
                    known.calls.push(begun);
                }
            }
            WireEvent::CallNamed { call, name } => {
                self.with_call(call, |open| open.tool = name_shown(name));
            }
            WireEvent::CallFragment { call, bytes } | WireEvent::CallRaw { call, bytes } => {
                self.with_call(call, |open| {
                    open.bytes += bytes.len();
                    if self.content {
                        let room = TEXT - open.left.len();
                        open.left.extend_from_slice(&bytes[..room.min(bytes.len())]);
                    }
                });
            }
            WireEvent::CallEnded(call) => self.with_call(call.number(), |open| {
                open.outcome = Some(call.outcome());
                open.bytes = call.arguments().len();
                if self.content {
                    open.came = begin(call.raw()).to_owned();
                    open.left = begin(call.arguments()).into();
                }
            }),
            _ => {}
        }
    }

    /// Takes what has come of the open calls, if somebody looks.
    pub(crate) fn look(&self, live: &Live, rewriter: &Rewriter) {
        if !self.content || !live.has_readers() {
            return;
        }
        for (number, came) in rewriter.open_calls() {
            self.with_call(number, |open| {
                let came = begin(came);
                if open.came.len() != came.len() {
                    came.clone_into(&mut open.came);
                    // Of a call that is held, nothing leaves that would say so.
                    self.changed();
                }
            });
        }
    }

    fn row(&self) -> Value {
        let known = self.known();
        let calls = known.calls.iter().map(|call| {
            let mut entry = json!({
                "number": call.number,
                "tool": call.tool,
                "bytes": call.bytes,
                "outcome": call.outcome.map(Outcome::code),
            });
            if self.content {
                entry["came"] = call.came.as_str().into();
                entry["left"] = String::from_utf8_lossy(&call.left).into();
            }
            entry
        });
        let calls: Vec<Value> = calls.collect();
        json!({
            "id": self.id,
            "began": self.began,
            "upstream": self.upstream,
            "model": known.model,
            "status": known.status,
            "format": known.format.map(ApiFormat::code),
            "bytes": self.bytes(),
            "calls": calls,
            "begun": known.begun,
        })
    }

    fn with_call(&self, number: usize, change: impl FnOnce(&mut OpenCall)) {
        let mut known = self.known();
        if let Some(call) = known.calls.iter_mut().find(|call| call.number == number) {
            change(call);
        }
    }

    fn changed(&self) {
        self.version.fetch_add(1, Ordering::Relaxed);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning of a name.
pub(crate) fn name_shown(name: &str) -> String {
    name.chars().take(NAME).collect()
}

/// The beginning of a text.
fn begin(text: &str) -> &str {
    let end = (0..=TEXT.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// How often the feed looks for changes.
const TICK: Duration = Duration::from_millis(200);

/// Ticks without a change, after which a comment keeps the connection open.
const SILENT: u32 = 50;

/// Open answers that are shown. The others are counted.
const OPEN: usize = 24;

/// The most bytes of answers in one event. Those that do not fit are counted.
const BYTES: usize = 1 << 20;

/// A body of server-sent events.
pub(crate) struct Feed {
    shared: Arc<Shared>,
    tick: Interval,
    silent: u32,
    /// What the page knows.
    known: Informed,
    _reader: OwnedSemaphorePermit,
}

/// How far a page has been informed.
#[derive(Debug, Default)]
struct Informed {
    begun: bool,
    /// Finished answers.
    answers: u64,
    /// The versions of the open ones.
    open: BTreeMap<u64, u64>,
    /// The last second, with the number of answers in it.
    second: (u64, u64),
    gauges: [i64; 4],
}

impl Feed {
    pub(crate) fn new(shared: Arc<Shared>, reader: OwnedSemaphorePermit) -> Self {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { shared, tick, silent: 0, known: Informed::default(), _reader: reader }
    }
}

impl Body for Feed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        loop {
            ready!(this.tick.poll_tick(cx));
            let text = match this.known.news(&this.shared) {
                Some(news) => format!("data: {news}\n\n"),
                None if this.silent >= SILENT => ": nothing new\n\n".to_owned(),
                None => {
                    this.silent += 1;
                    continue;
                }
            };
            this.silent = 0;
            return Poll::Ready(Some(Ok(Frame::data(text.into()))));
        }
    }
}

impl Informed {
    /// What the page does not know yet.
    fn news(&mut self, shared: &Shared) -> Option<String> {
        let live: &Live = &shared.live;
        let (answers, left_out, seen) = shared.recent.since(self.answers, BYTES);
        self.answers = seen;
        let (open, rows) = self.open_answers(live);
        let metrics = &shared.metrics;
        let gauges = [&metrics.open_answers, &metrics.connections, &metrics.held_bytes];
        let [streams, connections, held] = gauges.map(Gauge::get);
        let counts = live.counts();
        let errors = i64::try_from(counts.errors).unwrap_or(i64::MAX);
        let gauges = [streams, connections, held, errors];
        let last = counts.seconds.back().map_or((0, 0), |last| (last.time, last.answers));
        let same = answers.is_empty() && rows.is_empty() && last == self.second;
        if self.begun && same && gauges == self.gauges {
            return None;
        }
        // The last one that is known may have grown.
        let known = self.second.0;
        let seconds = counts.seconds.iter().filter(|second| second.time >= known);
        let seconds: Vec<Value> = seconds.map(Second::row).collect();
        let kinds = counts.kinds.iter();
        let kinds: Vec<Value> = kinds
            .map(|(code, (risk, count))| json!({"code": code, "risk": risk.code(), "count": count}))
            .collect();
        let mut news = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "now": unix_millis(),
            "started": live.started,
            "content": live.content,
            "kept": shared.recent.kept(),
            "open": streams,
            "connections": connections,
            "held": held,
            "errors": errors,
            "totals": counts.all.row(),
            "seconds": seconds,
            "shown": open,
            "streams": rows,
            "left_out": left_out,
        });
        if last != self.second || !self.begun {
            news["kinds"] = kinds.into();
        }
        drop(counts);
        (self.begun, self.second, self.gauges) = (true, last, gauges);
        // Each is JSON already.
        let mut text = news.to_string();
        text.truncate(text.len() - 1);
        text.push_str(",\"answers\":[");
        text.push_str(&answers.join(","));
        text.push_str("]}");
        Some(text)
    }

    /// The open answers that are shown, and those of them that have changed.
    fn open_answers(&mut self, live: &Live) -> (Vec<u64>, Vec<Value>) {
        // The oldest ones, so that what is shown does not change all the time.
        let watched: Vec<_> = live.open().values().take(OPEN).map(Arc::clone).collect();
        let (mut ids, mut rows, mut versions) = (Vec::new(), Vec::new(), BTreeMap::new());
        for watched in watched {
            let (id, version) = (watched.id(), watched.version());
            ids.push(id);
            versions.insert(id, version);
            if self.open.get(&id) != Some(&version) {
                rows.push(watched.row());
            }
        }
        self.open = versions;
        (ids, rows)
    }
}

#[cfg(test)]
mod tests {
    use wiremend_exchange::Account;
    use wiremend_wire::WireEvent;

    use super::*;
    use crate::{
        config::{Config, Upstream},
        metrics::Elapsed,
        recent::About,
    };

    fn shared(kept: usize) -> Shared {
        let upstream = Upstream::parse("http://127.0.0.1:1").unwrap();
        Shared::new(Config::new().with_upstream(upstream).with_record(kept, true)).unwrap()
    }

    fn news(known: &mut Informed, shared: &Shared) -> Option<Value> {
        known.news(shared).map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn a_page_is_shown_a_bounded_part_of_what_passes() {
        let shared = shared(10);
        let watched: Vec<_> = (0..OPEN + 6).map(|_| shared.live.begin("/")).collect();
        for call in 0..20 {
            let (kind, name) = (wiremend_wire::CallKind::Function, Some("f"));
            watched[0].note(&WireEvent::CallBegan { call, choice: 0, kind, id: None, name });
            let bytes = "\u{e9}".repeat(3000).into_bytes();
            watched[0].note(&WireEvent::CallFragment { call, bytes: &bytes });
        }
        let mut known = Informed::default();
        let all = news(&mut known, &shared).unwrap();
        assert_eq!(all["streams"].as_array().unwrap().len(), OPEN);
        let first = &all["streams"][0];
        assert_eq!((first["calls"].as_array().unwrap().len(), &first["begun"]), (16, &json!(20)));
        assert_eq!(first["calls"][0]["left"].as_str().unwrap().len(), 4096);
        assert_eq!(first["calls"][0]["bytes"], 6000);
        // Then only what has changed.
        assert_eq!(news(&mut known, &shared), None);
        watched[3].passed(7);
        let changed = news(&mut known, &shared).unwrap();
        assert_eq!(changed["streams"].as_array().unwrap().len(), 1);
        assert_eq!(
            (&changed["streams"][0]["id"], &changed["streams"][0]["bytes"]),
            (&json!(4), &json!(7))
        );
        shared.live.end(&watched[0]);
        let changed = news(&mut known, &shared).unwrap();
        assert!(!changed["shown"].as_array().unwrap().contains(&json!(1)));
    }

    #[test]
    fn what_does_not_fit_into_an_event_is_counted() {
        let shared = shared(10);
        let mut known = Informed::default();
        news(&mut known, &shared).unwrap();
        let elapsed = Elapsed { first: None, total: Duration::ZERO, overhead: Duration::ZERO };
        let model = "m".repeat(BYTES / 3);
        for id in 1..=12 {
            let about = About { id, model: model.clone(), ..About::default() };
            shared.recent.note(Account::default(), &about, elapsed);
        }
        let next = news(&mut known, &shared).unwrap();
        let answers = next["answers"].as_array().unwrap();
        assert_eq!((answers.len(), &answers[0]["id"]), (2, &json!(12)));
        assert_eq!(next["left_out"], 10);
        assert_eq!(news(&mut known, &shared), None);
    }
}
