//! Counts and times, in the text format of Prometheus. Names are those of OpenTelemetry where it has one.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use wiremend_exchange::Account;

/// The most series. Beyond, the names of models and tools, which others choose, are `other`.
const SERIES: usize = 4096;

/// The longest value of a label.
const LABEL: usize = 100;

/// The upper bounds of times, in seconds.
const TIMES: [f64; 16] = [
    0.000_01, 0.000_03, 0.000_1, 0.000_3, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0,
    100.0, 300.0,
];

/// The families: name, type, and what it counts.
const FAMILIES: &[(&str, &str, &str)] = &[
    ("gen_ai_server_request_duration_seconds", "histogram", "Time until an answer had passed"),
    (
        "gen_ai_server_time_per_output_token_seconds",
        "histogram",
        "Time of a stream after its first bytes for each token that the provider counts",
    ),
    (
        "gen_ai_server_time_to_first_token_seconds",
        "histogram",
        "Time until the first bytes of a stream left",
    ),
    ("wiremend_answers_total", "counter", "Answers by what was done to them"),
    ("wiremend_calls_total", "counter", "Calls by how they ended"),
    ("wiremend_contents_total", "counter", "JSON contents by how they ended"),
    (
        "wiremend_errors_total",
        "counter",
        "Requests that the gateway answered itself, by the reason",
    ),
    (
        "wiremend_history_calls_total",
        "counter",
        "Calls in the history of requests that were changed",
    ),
    ("wiremend_overhead_seconds", "histogram", "Time of the gateway's own work on an answer"),
    ("wiremend_reask_requests_total", "counter", "Further requests that ask for arguments"),
    ("wiremend_repairs_total", "counter", "Repairs of calls and of JSON content"),
    ("wiremend_requests_total", "counter", "Requests by upstream and status"),
];

/// A name, and the labels as they are written.
type Key = (&'static str, String);

/// Everything that is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    counters: Mutex<BTreeMap<Key, u64>>,
    times: Mutex<BTreeMap<Key, Times>>,
    pub(crate) connections: Gauge,
    pub(crate) open_answers: Gauge,
    pub(crate) held_bytes: Gauge,
}

/// A number that rises and falls.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicI64);

impl Gauge {
    pub(crate) fn add(&self, change: i64) {
        self.0.fetch_add(change, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
struct Times {
    buckets: [u64; TIMES.len()],
    sum: f64,
    count: u64,
}

/// The labels of an answer whose values others choose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Named<'a> {
    pub(crate) format: &'a str,
    pub(crate) model: &'a str,
}

/// When things happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elapsed {
    pub(crate) first: Option<Duration>,
    pub(crate) total: Duration,
    /// The time that the gateway itself took.
    pub(crate) overhead: Duration,
}

impl Metrics {
    pub(crate) fn count(&self, family: &'static str, labels: &[(&str, &str)], by: u64) {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let key = within(&counters, family, labels);
        *counters.entry(key).or_default() += by;
    }

    pub(crate) fn time(&self, family: &'static str, labels: &[(&str, &str)], time: Duration) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let key = within(&times, family, labels);
        let entry = times.entry(key).or_default();
        let seconds = time.as_secs_f64();
        for (bucket, bound) in entry.buckets.iter_mut().zip(TIMES) {
            *bucket += u64::from(seconds <= bound);
        }
        entry.sum += seconds;
        entry.count += 1;
    }

    /// Counts an answer that has ended.
    pub(crate) fn answer(&self, account: &Account, named: Named<'_>, elapsed: Elapsed) {
        let Named { format, model } = named;
        let outcome = account.verdict().code();
        self.count("wiremend_answers_total", &[("format", format), ("outcome", outcome)], 1);
        for (outcome, count) in account.ended_calls() {
            let labels = [("format", format), ("outcome", outcome.code())];
            self.count("wiremend_calls_total", &labels, *count as u64);
        }
        for (outcome, count) in account.ended_contents() {
            let labels = [("format", format), ("outcome", outcome.code())];
            self.count("wiremend_contents_total", &labels, *count as u64);
        }
        for call in account.calls().iter().chain(account.contents()) {
            for (code, risk, count) in call.repairs() {
                let labels = [
                    ("code", *code),
                    ("risk", risk.code()),
                    ("format", format),
                    ("model", model),
                    ("tool", call.tool()),
                ];
                self.count("wiremend_repairs_total", &labels, *count as u64);
            }
        }
        self.time("wiremend_overhead_seconds", &[], elapsed.overhead);
        let labels = [("gen_ai_request_model", model)];
        self.time("gen_ai_server_request_duration_seconds", &labels, elapsed.total);
        let Some(first) = elapsed.first else { return };
        self.time("gen_ai_server_time_to_first_token_seconds", &labels, first);
        let after = elapsed.total.saturating_sub(first);
        if let Some(tokens) = account.output_tokens().and_then(|tokens| u32::try_from(tokens).ok())
            && tokens > 1
        {
            self.time("gen_ai_server_time_per_output_token_seconds", &labels, after / (tokens - 1));
        }
    }

    /// All of it, as text.
    pub(crate) fn render(&self) -> String {
        let mut out = String::new();
        let counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        for &(family, kind, help) in FAMILIES {
            let _ = writeln!(out, "# HELP {family} {help}.\n# TYPE {family} {kind}");
            for ((_, labels), value) in counters.iter().filter(|((name, _), _)| *name == family) {
                let _ = writeln!(out, "{family}{} {value}", braces(labels));
            }
            for ((_, labels), times) in times.iter().filter(|((name, _), _)| *name == family) {
                let comma = if labels.is_empty() { "" } else { "," };
                for (bucket, bound) in times.buckets.iter().zip(TIMES) {
                    let _ =
                        writeln!(out, "{family}_bucket{{{labels}{comma}le=\"{bound}\"}} {bucket}");
                }
                let Times { sum, count, .. } = times;
                let _ = writeln!(out, "{family}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}");
                let _ = writeln!(out, "{family}_sum{} {sum}", braces(labels));
                let _ = writeln!(out, "{family}_count{} {count}", braces(labels));
            }
        }
        let gauges = [
            ("wiremend_connections", "Connections of clients", &self.connections),
            ("wiremend_held_bytes", "Bytes of answers that are held", &self.held_bytes),
            ("wiremend_open_streams", "Requests that are being answered", &self.open_answers),
        ];
        for (name, help, gauge) in gauges {
            let _ =
                writeln!(out, "# HELP {name} {help}.\n# TYPE {name} gauge\n{name} {}", gauge.get());
        }
        out
    }
}

/// The key of a series, without the names that others choose if there are too many.
fn within<V>(known: &BTreeMap<Key, V>, family: &'static str, labels: &[(&str, &str)]) -> Key {
    let key = (family, written(labels, false));
    if known.len() < SERIES || known.contains_key(&key) {
        return key;
    }
    (family, written(labels, true))
}

fn written(labels: &[(&str, &str)], other: bool) -> String {
    let mut out = String::new();
    for (name, value) in labels {
        let chosen = name.ends_with("model") || *name == "tool";
        let value = if other && chosen { "other" } else { value };
        let comma = if out.is_empty() { "" } else { "," };
        let _ = write!(out, "{comma}{name}=\"");
        for c in value.chars().take(LABEL) {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '\n' => out.push_str("\\n"),
                c if c.is_control() => out.push('\u{fffd}'),
                c => out.push(c),
            }
        }
        out.push('"');
    }
    out
}

fn braces(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_others_choose_are_escaped_and_bounded() {
        let metrics = Metrics::default();
        metrics.count("wiremend_repairs_total", &[("tool", "a\"b\\c\nd\u{7}")], 2);
        assert!(
            metrics
                .render()
                .contains("wiremend_repairs_total{tool=\"a\\\"b\\\\c\\nd\u{fffd}\"} 2\n")
        );
        for number in 0..2 * SERIES {
            let (model, tool) = (number.to_string(), number.to_string());
            metrics.count(
                "wiremend_repairs_total",
                &[("code", "c"), ("model", &model), ("tool", &tool)],
                1,
            );
        }
        assert!(metrics.counters.lock().unwrap().len() <= SERIES + 1);
        let text = metrics.render();
        assert!(text.contains(r#"{code="c",model="other",tool="other"} 4097"#));
    }

    #[test]
    fn times_are_counted_in_all_buckets_above() {
        let metrics = Metrics::default();
        metrics.time("wiremend_overhead_seconds", &[], Duration::from_micros(20));
        let text = metrics.render();
        assert!(text.contains("wiremend_overhead_seconds_bucket{le=\"0.00001\"} 0\n"));
        assert!(text.contains("wiremend_overhead_seconds_bucket{le=\"0.00003\"} 1\n"));
        assert!(text.contains("wiremend_overhead_seconds_count 1\n"));
    }
}
