//! The stream of events that a live page reads.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame};
use serde_json::{Value, json};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Interval, MissedTickBehavior, interval},
};

use super::{Live, Second};
use crate::{metrics::Gauge, recent::unix_millis, shared::Shared, timed::BoxError};

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
    known: Known,
    _reader: OwnedSemaphorePermit,
}

/// How far a page has been informed.
#[derive(Debug, Default)]
struct Known {
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
        Self { shared, tick, silent: 0, known: Known::default(), _reader: reader }
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

impl Known {
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

    fn news(known: &mut Known, shared: &Shared) -> Option<Value> {
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
        let mut known = Known::default();
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
        let mut known = Known::default();
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
