//! The adapter for a channel whose value has a schema.

use std::pin::pin;

use crate::source::Source;
use futures::{
    FutureExt, StreamExt,
    executor::block_on,
    stream::{self, FusedStream},
};
use wiremend_core::{Limits, MendOptions, Outcome, Policy};
use wiremend_schema::{Cursor, EarlyIssue, FitOptions, Fitted, NodeState, Schema, Standing};
use wiremend_stream::{ByteStreamExt, Error, FitEvent};

fn trip() -> Schema {
    Schema::from_text(
        r#"{"type": "object", "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["km", "mi"]},
            "stops": {"type": "array", "items": {"type": "string"}, "maxItems": 2}
        }, "required": ["city", "days"], "additionalProperties": false}"#,
    )
    .unwrap()
}

fn conservative() -> FitOptions {
    FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE))
}

#[derive(Debug, Default, PartialEq)]
struct Sum {
    issues: Vec<EarlyIssue>,
    fitted: Option<Fitted>,
    failed: Option<&'static str>,
}

/// Reads the whole channel, and checks that final nodes do not change.
fn read(source: Source, schema: &Schema, options: FitOptions) -> Sum {
    let mut sum = Sum::default();
    let mut finals: Vec<(String, String)> = Vec::new();
    let mut events = pin!(source.fit(schema, options));
    while let Some(event) = block_on(events.next()) {
        assert_eq!(sum.failed, None);
        match event {
            Ok(FitEvent::Issue(issue)) => sum.issues.push(issue),
            Ok(FitEvent::Grew) => {
                let root = events.cursor().and_then(Cursor::root).unwrap();
                for (key, value) in &finals {
                    assert_eq!(root.member(key).unwrap().to_string(), *value);
                }
                let ended = root.children().filter(|child| child.state() == NodeState::Final);
                finals = ended
                    .map(|child| (child.key().unwrap().to_owned(), child.to_string()))
                    .collect();
            }
            Ok(FitEvent::Ended(fitted)) => {
                assert_eq!(sum.fitted, None);
                assert!(events.cursor().is_none());
                sum.fitted = Some(*fitted);
            }
            Err(Error::Upstream(error)) => sum.failed = Some(error),
            other => panic!("{other:?}"),
        }
    }
    assert!(events.is_terminated());
    sum
}

#[test]
fn however_the_text_is_cut_it_ends_as_the_whole() {
    let schema = trip();
    for text in [
        "Sure: {\"city\": 'Z\u{fc}rich', days: \"3\", 'unit': 'KM', stops: \"a\"} Bye.",
        r#"{"city": "Oslo", "days": "many", "unit": "furlong", "stops": ["a", "b", "c"], "x": 1}"#,
        r#"{"days": 3}"#,
        r#"{"city": "Os"#,
        "<city>Oslo</city><days>3</days>",
        "no JSON at all",
        "",
    ] {
        for options in [FitOptions::new(), conservative()] {
            let (source, _) = Source::new(vec![Ok(text.as_bytes().to_vec())]);
            let whole = read(source, &schema, options.clone());
            assert_eq!(whole.fitted, Some(schema.fit(text.as_bytes(), &options)), "{text}");
            for size in 1..9 {
                let (source, _) = Source::cut(text.as_bytes(), size);
                assert_eq!(read(source.hesitant(), &schema, options.clone()), whole, "{text}");
            }
            for cut in 0..=text.len() {
                let (head, tail) = text.as_bytes().split_at(cut);
                let chunks = vec![Ok(head.to_vec()), Ok(Vec::new()), Ok(tail.to_vec())];
                let (source, _) = Source::new(chunks);
                assert_eq!(read(source, &schema, options.clone()), whole, "{text} {cut}");
            }
        }
    }
}

#[test]
fn a_lost_value_is_reported_at_once_and_reading_can_stop() {
    let schema = trip();
    let chunks = [r#"{"city": "Oslo", "#, r#""days": 1.5, "#, r#""unit": "km"}"#, " and more"];
    let chunks = chunks.map(|chunk| Ok(chunk.as_bytes().to_vec()));
    let (source, log) = Source::new(chunks.to_vec());
    let mut events = pin!(source.fit(&schema, conservative()));
    let lost = loop {
        match block_on(events.next()).unwrap().unwrap() {
            FitEvent::Issue(issue) => break issue,
            FitEvent::Grew => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((lost.standing(), lost.issue().pointer()), (Standing::Lost, "/days"));
    assert_eq!(log.borrow().given, 2, "nothing was asked for beyond what settled it");
    events.as_mut().cancel();
    assert!(log.borrow().dropped);
    let mut last = None;
    while let Some(Ok(event)) = block_on(events.next()) {
        last = Some(event);
    }
    let Some(FitEvent::Ended(fitted)) = last else { panic!("{last:?}") };
    assert_eq!(fitted.text(), None);
    events.as_mut().cancel();
    assert!(block_on(events.next()).is_none());
}

#[test]
fn received_bytes_are_processed_before_the_error() {
    let schema = trip();
    let text = br#"{"city": "Oslo", "days": 3}"#.to_vec();
    let (source, log) = Source::new(vec![Ok(text), Err("reset"), Ok(vec![b'x'])]);
    let sum = read(source, &schema, conservative());
    assert_eq!(sum.failed, Some("reset"));
    assert_eq!(sum.fitted.unwrap().outcome(), Outcome::Unchanged);
    assert!(!log.borrow().polled_after_end && log.borrow().dropped);
    let cut = Source::new(vec![Ok(br#"{"city": "Os"#.to_vec()), Err("reset")]).0;
    assert_eq!(read(cut, &schema, conservative()).fitted.unwrap().outcome(), Outcome::Cut);
}

#[test]
fn a_wait_that_is_given_up_loses_nothing() {
    let schema = trip();
    let text = r#"{"city": "Oslo", "days": "3", "unit": "mile"}"#;
    let (source, _) = Source::cut(text.as_bytes(), 3);
    let whole = read(source, &schema, conservative());
    let (source, log) = Source::cut(text.as_bytes(), 3);
    let mut events = pin!(source.hesitant().fit(&schema, conservative()));
    let mut sum = Sum::default();
    loop {
        // A future that is dropped after one poll, as in a `select!`.
        let Some(event) = events.next().now_or_never() else { continue };
        match event {
            Some(Ok(FitEvent::Issue(issue))) => sum.issues.push(issue),
            Some(Ok(FitEvent::Ended(fitted))) => sum.fitted = Some(*fitted),
            Some(Ok(_)) => {}
            Some(Err(error)) => panic!("{error}"),
            None => break,
        }
    }
    assert_eq!(sum, whole);
    assert!(!log.borrow().polled_after_end);
}

#[test]
fn cancelled_or_dropped_at_any_point() {
    let schema = trip();
    let text = r#"{"city": "Oslo", "days": "3", "unit": "mile"}"#;
    for polls in 0.. {
        let begin = || {
            let (source, log) = Source::cut(text.as_bytes(), 3);
            let stream = source.hesitant().fit(&schema, conservative());
            let mut events = Box::pin(stream);
            // The futures are dropped whether they are ready or not.
            let ended = (0..polls).filter(|_| events.next().now_or_never() == Some(None)).count();
            (events, log, ended > 0)
        };
        let (events, log, ended) = begin();
        drop(events);
        assert!(log.borrow().dropped);
        let (mut events, log, _) = begin();
        events.as_mut().cancel();
        assert!(log.borrow().dropped);
        if ended {
            assert!(polls > text.len() / 3, "{polls}");
            break;
        }
        let mut last = None;
        while let Some(event) = block_on(events.next()) {
            last = Some(event.unwrap());
        }
        let given = text.get(..log.borrow().given * 3).unwrap_or(text);
        if let Some(FitEvent::Ended(fitted)) = last {
            assert_eq!(*fitted, schema.fit(given.as_bytes(), &conservative()));
        } else {
            assert_eq!(last, None, "it had ended");
        }
    }
}

#[test]
fn upstream_is_polled_only_on_demand() {
    let schema = trip();
    let text = r#"{"city": "Oslo", "days": 3, "stops": ["a", "b", "c", "d"]}"#;
    let (source, log) = Source::cut(text.as_bytes(), 50);
    let mut events = pin!(source.fit(&schema, conservative()));
    assert_eq!(log.borrow().polls, 0);
    assert!(matches!(block_on(events.next()), Some(Ok(FitEvent::Issue(_)))));
    assert_eq!(log.borrow().polls, 1);
    assert!(matches!(block_on(events.next()), Some(Ok(FitEvent::Grew))));
    assert_eq!(log.borrow().polls, 1, "there was an event left");
}

#[test]
fn a_value_past_the_buffer_limit_is_shown_and_not_fitted() {
    let schema = trip();
    let limits = Limits::new().with_buffer(1024);
    let options = FitOptions::new().with_mending(MendOptions::new().with_limits(limits));
    let text = format!(r#"{{"days": 3, "city": "{}"}}"#, "x".repeat(4096));
    let chunks: Vec<_> =
        text.as_bytes().chunks(100).map(|chunk| Ok::<_, ()>(chunk.to_vec())).collect();
    let events = stream::iter(chunks).fit(&schema, options);
    let events: Vec<_> = block_on(events.collect());
    assert!(events.iter().filter(|event| **event == Ok(FitEvent::Grew)).count() > 30);
    let Some(Ok(FitEvent::Ended(fitted))) = events.last() else { panic!("{events:?}") };
    assert_eq!(fitted.outcome(), Outcome::Overflow);
}
