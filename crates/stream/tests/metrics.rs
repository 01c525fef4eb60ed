//! The counters, through the public path from one end to the other.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "it/source.rs"]
mod source;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{StreamExt, executor::block_on};
use metrics::{
    Counter, CounterFn, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use serde_json::json;
use source::Source;
use wiremend_core::{MendOptions, Policy};
use wiremend_extract::Scope;
use wiremend_response::{Response, ResponseOptions};
use wiremend_schema::{FitOptions, Registry, Schema, SharedRegistry};
use wiremend_stream::{
    AcceptOptions, ByteStreamExt, Candidate, Decision, JsonOptions, Oversized, Telemetry,
};
use wiremend_wire::RewriteOptions;

/// Keeps each counter under its name and labels.
#[derive(Debug, Default)]
struct Counters(Mutex<BTreeMap<String, Arc<Count>>>);

#[derive(Debug, Default)]
struct Count(AtomicU64);

impl CounterFn for Count {
    fn increment(&self, value: u64) {
        self.0.fetch_add(value, Ordering::Relaxed);
    }
    fn absolute(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

impl Recorder for Counters {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let labels = key.labels().map(|label| format!("{}={}", label.key(), label.value()));
        let key = format!("{} {}", key.name(), labels.collect::<Vec<_>>().join(" "));
        let mut counters = self.0.lock().unwrap();
        Counter::from_arc(Arc::clone(counters.entry(key).or_default()))
    }
    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }
    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

impl Counters {
    /// The sum of the counters of that name which have all of those labels.
    fn sum(&self, name: &str, labels: &str) -> u64 {
        let counters = self.0.lock().unwrap();
        let has = |key: &str| {
            let mut words = key.split(' ');
            words.next() == Some(&format!("wiremend_{name}_total"))
                && labels.split_whitespace().all(|label| key.split(' ').any(|own| own == label))
        };
        let of_name = counters.iter().filter(|(key, _)| has(key));
        of_name.map(|(_, count)| count.0.load(Ordering::Relaxed)).sum()
    }
}

fn event(delta: &serde_json::Value, reason: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
    format!("data: {}\n\n", json!({"choices": [choice]}))
}

fn call(index: usize, name: &str, arguments: &str) -> String {
    let function = json!({"name": name, "arguments": arguments});
    let call = json!({"index": index, "id": format!("c{index}"), "function": function});
    event(&json!({"tool_calls": [call]}), None)
}

/// A call that is repaired and coerced, one that fits, one that cannot be repaired, and an object.
fn body() -> String {
    [
        event(&json!({"content": "So: {'total': 3}"}), None),
        call(0, "book", "{'nights': '2'}"),
        call(1, "book", "{\"nights\": 7}"),
        call(2, "invented", "{\"a\": }"),
        event(&json!({}), Some("tool_calls")),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

fn options() -> ResponseOptions {
    let schema = json!({"properties": {"nights": {"type": "integer"}}, "required": ["nights"]});
    let tools = Registry::from_tools(&json!([{"name": "book", "input_schema": schema}])).unwrap();
    ResponseOptions::new().with_tools(&SharedRegistry::new(tools)).with_objects(Scope::All)
}

fn telemetry() -> Telemetry {
    Telemetry::new().with_model("m-1").with_tools(["book"])
}

#[test]
fn a_response_moves_the_counters_streamed_and_not() {
    let counters = Counters::default();
    metrics::with_local_recorder(&counters, || {
        for size in [1, 10_000] {
            let source = Source::cut(body().as_bytes(), size).0.hesitant();
            let events = source.read(options()).with_telemetry(telemetry());
            block_on(events.for_each(|_| async {}));
        }
        telemetry().record(&Response::read(body().as_bytes(), options()));
    });
    for (times, streaming) in [(2, "streaming=true"), (1, "streaming=false")] {
        let all = format!("{streaming} model=m-1 format=openai-chat");
        let sum = |name: &str, labels: &str| counters.sum(name, &format!("{all} {labels}"));
        assert_eq!(sum("attempts", "kind=call tool=book"), 2 * times, "{counters:?}");
        assert_eq!(sum("attempts", "kind=call tool=other"), times);
        assert_eq!(sum("attempts", "kind=object tool=none"), times);
        assert_eq!(sum("outcomes", "kind=call outcome=repaired"), times);
        assert_eq!(sum("outcomes", "kind=call outcome=unchanged"), times);
        assert_eq!(sum("outcomes", "kind=call outcome=invalid tool=other"), times);
        assert_eq!(sum("fallbacks", "kind=call tool=other"), times);
        // The apostrophes of the call, and those of the object.
        assert_eq!(sum("repairs", "tool=book code=single-quote risk=exact"), 4 * times);
        assert_eq!(sum("repairs", "kind=object code=single-quote"), 2 * times);
        assert_eq!(sum("repairs", "tool=other"), 0, "they were not made");
        assert_eq!(sum("fits", "fits=coerced"), times);
        assert_eq!(sum("fits", "fits=as-is"), times);
        assert_eq!(sum("fits", "kind=call tool=book"), 2 * times);
        assert_eq!(sum("cut_calls", "") + sum("overflows", ""), 0);
    }
    assert_eq!(counters.sum("attempts", "tool=invented"), 0);
}

#[test]
fn cut_calls_and_overflows_are_counted() {
    let counters = Counters::default();
    metrics::with_local_recorder(&counters, || {
        let cut = call(0, "book", "{\"nights\": 2");
        let (source, _) = Source::cut(cut.as_bytes(), 9);
        let events = source.read(ResponseOptions::new()).with_telemetry(telemetry());
        block_on(events.for_each(|_| async {}));
        let (source, _) = Source::cut(body().as_bytes(), 9);
        let small = ResponseOptions::new().with_objects(Scope::All).with_object_limit(4);
        block_on(source.read(small).for_each(|_| async {}));
    });
    assert_eq!(counters.sum("cut_calls", "tool=book outcome=cut"), 0, "no such label");
    assert_eq!(counters.sum("cut_calls", "tool=book streaming=true"), 1);
    assert_eq!(counters.sum("overflows", "kind=object model=unknown"), 1);
}

#[test]
fn judgements_are_counted() {
    let counters = Counters::default();
    let mut counts = Vec::new();
    metrics::with_local_recorder(&counters, || {
        for (options, accept) in [
            (options(), AcceptOptions::new()),
            (options().with_object_limit(4), AcceptOptions::new().with_cap(12, Oversized::Error)),
        ] {
            let (source, _) = Source::cut(body().as_bytes(), 9);
            let hook = |candidate: &Candidate| {
                let refuses = matches!(candidate, Candidate::Object { .. });
                std::future::ready(match refuses {
                    true => Decision::Refuse("not now".to_owned()),
                    false => Decision::Accept,
                })
            };
            let mut events =
                Box::pin(source.read(options).with_telemetry(telemetry()).accept(accept, hook));
            while block_on(events.next()).is_some() {}
            counts.push(events.counts());
        }
    });
    let sum = |labels: &str| counters.sum("judgements", labels);
    assert_eq!((counts[0].accepted, counts[0].refused, counts[0].too_long), (2, 1, 0));
    assert_eq!(sum("kind=object tool=none judgement=refused"), 1, "{counters:?}");
    assert_eq!(sum("kind=call tool=book judgement=accepted"), 2 + counts[1].accepted);
    // The object passed a limit of the response, and the calls that of the hook.
    assert!(counts[1].too_long > 1 && counts[1].refused == 0, "{counts:?}");
    assert_eq!(sum("judgement=too-long"), counts[1].too_long);
    assert_eq!(sum("kind=object judgement=too-long"), 1);
}

/// What was open when the stream was ended early is counted like any other that was cut off.
#[test]
fn an_early_stop_is_counted_with_what_was_open() {
    let total = r#"{"properties": {"total": {"type": "integer"}}, "required": ["total"]}"#;
    let total = Schema::from_text(total).unwrap();
    let response = options()
        .with_schema(&total, FitOptions::new())
        .with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    let calls = call(0, "invented", "{\"a\": 1, ") + &call(1, "book", "{\"nights\": 1.5, ");
    let object = event(&json!({"content": "{\"total\": 1.5, "}), None);
    let rest = event(&json!({"content": "and on"}), None).repeat(200);
    for (body, of_stopped, of_calls) in [
        (object.clone() + &calls + &rest, "kind=call tool=book", 2),
        (calls + &object + &rest, "kind=object tool=none", 2),
        (object + &rest, "kind=object tool=none", 0),
    ] {
        let accept = AcceptOptions::new();
        let accept = match of_stopped.starts_with("kind=call") {
            true => accept.with_early_stop(),
            false => accept.with_early_stop_at_objects(),
        };
        for size in [1, 30, body.len()] {
            let counters = Counters::default();
            let hook = |_: &Candidate| std::future::ready(Decision::Accept);
            metrics::with_local_recorder(&counters, || {
                let (source, log) = Source::cut(body.as_bytes(), size);
                let events = source.read(response.clone()).with_telemetry(telemetry());
                let mut events = Box::pin(events.accept(accept, hook));
                while block_on(events.next()).is_some() {}
                assert_eq!(events.counts().stopped, 1);
                assert!(log.borrow().given * size < 1_000 || size == body.len());
            });
            let sum = |name: &str, labels: &str| counters.sum(name, labels);
            assert_eq!(sum("judgements", "judgement=stopped"), 1, "{counters:?}");
            assert_eq!(sum("judgements", &format!("{of_stopped} judgement=stopped")), 1);
            assert_eq!(sum("attempts", "kind=call"), of_calls, "{counters:?}");
            assert_eq!(sum("attempts", "kind=object"), 1);
            assert_eq!(sum("cut_calls", ""), of_calls);
            assert_eq!(sum("outcomes", "kind=object outcome=cut"), 1);
        }
    }
}

#[test]
fn every_adapter_moves_the_counters() {
    let text = "{'a': 1}";
    let schema = Schema::from_text("{\"type\": \"object\"}").unwrap();
    let run = |read: &dyn Fn(Source)| {
        let counters = Counters::default();
        let (source, _) = Source::cut(text.as_bytes(), 3);
        metrics::with_local_recorder(&counters, || read(source));
        counters
    };
    let json = run(&|source| {
        let events = source.mend(JsonOptions::new()).with_telemetry(telemetry());
        block_on(events.for_each(|_| async {}));
    });
    assert_eq!(json.sum("repairs", "kind=object model=m-1 code=single-quote"), 2, "{json:?}");
    let fitted = run(&|source| {
        let options = FitOptions::new();
        let events = source.fit(&schema, options).with_telemetry(telemetry());
        block_on(events.for_each(|_| async {}));
    });
    assert_eq!(fitted.sum("fits", "kind=value model=m-1"), 1, "{fitted:?}");
    let body = body();
    let rewritten = Counters::default();
    metrics::with_local_recorder(&rewritten, || {
        let (source, _) = Source::cut(body.as_bytes(), 30);
        let mended = source.rewrite(RewriteOptions::new()).with_telemetry(telemetry());
        block_on(mended.for_each(|_| async {}));
    });
    assert_eq!(rewritten.sum("attempts", "kind=call format=openai-chat model=m-1"), 3);
    assert_eq!(rewritten.sum("repairs", "kind=call tool=book code=single-quote"), 4);
}
