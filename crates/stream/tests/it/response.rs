//! The adapter for a provider's body.

use std::{collections::BTreeMap, pin::pin, sync::Arc, task::Poll};

use crate::source::Source;
use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt, executor::block_on, future::poll_fn, stream};
use futures::{stream::FusedStream, task::noop_waker};
use wiremend_core::{Outcome, apply};
use wiremend_extract::Scope;
use wiremend_response::{Event, Object, ResponseOptions};
use wiremend_stream::{ByteStreamExt, Error};
use wiremend_wire::{Block, Call, StreamOutcome};

/// Text with an object and reasoning in it, and two calls side by side.
const BODY: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"<think>{\\\"no\\\": 1}</think>\\n\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Caf\u{e9}: {'ok': Tr\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ue, n: [1,]} and [x] {\\\"b\\\": 2}\"}}]}\n\n",
    ": keep-alive\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",",
    "\"type\":\"function\",\"function\":{\"name\":\"one\",\"arguments\":\"{'x': \"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",",
    "\"type\":\"function\",\"function\":{\"name\":\"two\",\"arguments\":\"{\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,",
    "\"function\":{\"arguments\":\"1}\"}},{\"index\":1,\"function\":{\"arguments\":\"}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: [DONE]\n\n",
);

/// The combined events of a stream.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    text: BTreeMap<Block, String>,
    reasoning: String,
    fragments: BTreeMap<usize, Vec<u8>>,
    objects: Vec<Object>,
    calls: Vec<Arc<Call>>,
    finished: usize,
    errors: usize,
    ended: Option<StreamOutcome>,
    failed: Option<&'static str>,
}

impl Sum {
    fn add(&mut self, item: Result<Event, Error<&'static str>>) {
        assert_eq!(self.failed, None, "the error is the last item");
        match item {
            Ok(event) => {
                assert_eq!(self.ended, None, "{event:?} after the end");
                self.event(event);
            }
            Err(Error::Upstream(error)) => self.failed = Some(error),
            Err(error) => panic!("{error}"),
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Text { block, text, .. } => self.text.entry(block).or_default().push_str(&text),
            Event::Reasoning { text, .. } => self.reasoning.push_str(&text),
            Event::ObjectBegan { object, .. } => {
                assert_eq!(object, self.fragments.len());
                self.fragments.insert(object, Vec::new());
            }
            Event::ObjectFragment { object, json, .. } => {
                self.fragments.get_mut(&object).expect("it has begun").extend(json);
            }
            Event::ObjectEnded(object) => self.objects.push(*object),
            Event::CallEnded(call) => self.calls.push(call),
            Event::Finish(_) => self.finished += 1,
            Event::Error(_) => self.errors += 1,
            Event::Ended(outcome) => self.ended = Some(outcome),
            _ => {}
        }
    }

    fn of(stream: impl Stream<Item = Result<Event, Error<&'static str>>>) -> Self {
        let mut sum = Self::default();
        block_on(stream.for_each(|item| {
            sum.add(item);
            futures::future::ready(())
        }));
        sum
    }
}

fn whole() -> Sum {
    Sum::of(Source::cut(BODY.as_bytes(), BODY.len()).0.read(taken_out()))
}

#[test]
fn citations_are_emitted_verbatim() {
    let body =
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"annotations\":[{\"n\": 1.10}]}}]}\n\n";
    let chunks = stream::iter([Ok::<_, &'static str>(Bytes::from_static(body.as_bytes()))]);
    let events: Vec<_> = block_on(chunks.read(taken_out()).collect());
    let cited = events
        .iter()
        .any(|event| matches!(event, Ok(Event::Citation { json, .. }) if json == "{\"n\": 1.10}"));
    assert!(cited, "{events:?}");
}

#[test]
fn events_and_finished_objects() {
    let sum = whole();
    assert_eq!(sum.text[&Block::default()], "<think></think>\nCaf\u{e9}:  and [x] ");
    assert_eq!(sum.reasoning, "{\"no\": 1}");
    let json: Vec<_> = sum.objects.iter().map(Object::json).collect();
    assert_eq!(json, [Some("{\"ok\": true, \"n\": [1]}"), Some("{\"b\": 2}")]);
    let outcomes: Vec<_> = sum.objects.iter().map(Object::outcome).collect();
    assert_eq!(outcomes, [Outcome::Repaired, Outcome::Unchanged]);
    for object in &sum.objects {
        assert_eq!(object.json().map(str::as_bytes), Some(&*sum.fragments[&object.number()]));
    }
    let arguments: Vec<_> = sum.calls.iter().map(|call| call.arguments()).collect();
    assert_eq!(arguments, ["{\"x\": 1}", "{}"]);
    assert_eq!((sum.finished, sum.errors, sum.failed), (1, 0, None));
    assert_eq!(sum.ended, Some(StreamOutcome::Complete));
}

#[test]
fn repairs_of_an_object_count_in_its_text() {
    let sum = whole();
    let text = "<think>{\"no\": 1}</think>\nCaf\u{e9}: {'ok': True, n: [1,]} and [x] {\"b\": 2}";
    let object = &sum.objects[0];
    let end = text.find(" and").unwrap();
    let mended = apply(&text.as_bytes()[..end], object.repairs()).unwrap();
    assert_eq!(&mended[object.offset()..], object.json().unwrap().as_bytes());
}

#[test]
fn cuts_and_pauses_change_nothing() {
    let whole = whole();
    for size in [1, 2, 3, 7, 64, 100] {
        let (source, _) = Source::cut(BODY.as_bytes(), size);
        assert_eq!(Sum::of(source.read(taken_out())), whole, "{size}");
        let (source, _) = Source::cut(BODY.as_bytes(), size);
        assert_eq!(Sum::of(source.hesitant().read(taken_out())), whole, "{size}");
    }
    for cut in 0..=BODY.len() {
        let (head, tail) = BODY.as_bytes().split_at(cut);
        let chunks = vec![Ok(head.to_vec()), Ok(Vec::new()), Ok(tail.to_vec())];
        assert_eq!(Sum::of(Source::new(chunks).0.read(taken_out())), whole, "{cut}");
    }
}

#[test]
fn upstream_waits_until_the_events_are_taken() {
    let (source, log) = Source::cut(BODY.as_bytes(), 200);
    let mut events = pin!(source.read(taken_out()));
    let waker = noop_waker();
    let mut cx = std::task::Context::from_waker(&waker);
    assert_eq!(log.borrow().polls, 0, "nothing happens before the first poll");
    let mut several = 0;
    let mut at_last_poll = 0;
    let mut of_this_chunk = 0;
    while let Poll::Ready(Some(_)) = events.as_mut().poll_next(&mut cx) {
        let polls = log.borrow().polls;
        if polls == at_last_poll {
            of_this_chunk += 1;
        } else {
            several += usize::from(of_this_chunk > 1);
            of_this_chunk = 1;
            at_last_poll = polls;
        }
    }
    assert!(several > 0, "some chunk gave more than one event between two polls of upstream");
}

#[test]
fn one_item_polls_upstream_no_further_than_it_must() {
    let (source, log) = Source::cut(BODY.as_bytes(), BODY.len() / 2);
    let mut events = pin!(source.read(taken_out()));
    for _ in 0..5 {
        assert!(block_on(events.next()).is_some());
        assert_eq!(log.borrow().given, 1);
    }
}

#[test]
fn waiting_may_be_given_up_at_any_point() {
    let (source, _) = Source::cut(BODY.as_bytes(), 5);
    let mut events = pin!(source.hesitant().read(taken_out()));
    let mut sum = Sum::default();
    block_on(async {
        while !events.is_terminated() {
            // Every other future is dropped before it is ready.
            if let Some(Some(item)) = events.next().now_or_never() {
                sum.add(item);
            }
        }
    });
    assert_eq!(sum, whole());
}

#[test]
fn dropped_at_any_point() {
    let mut items = 0;
    loop {
        let (source, log) = Source::cut(BODY.as_bytes(), 16);
        let mut events = Box::pin(source.hesitant().read(taken_out()));
        let mut ended = false;
        for _ in 0..items {
            ended |= block_on(events.next()).is_none();
        }
        drop(events);
        assert!(log.borrow().dropped);
        if ended {
            break;
        }
        items += 1;
    }
    assert!(items > 10);
}

#[test]
fn cancelled_at_any_point() {
    for chunks in 0..BODY.len().div_ceil(40) {
        let (source, log) = Source::cut(BODY.as_bytes(), 40);
        let mut events = Box::pin(source.read(taken_out()));
        let mut sum = Sum::default();
        while log.borrow().given < chunks {
            sum.add(block_on(events.next()).unwrap());
        }
        events.as_mut().cancel();
        assert!(log.borrow().dropped, "the connection is let go at once");
        events.as_mut().cancel();
        while let Some(item) = block_on(events.next()) {
            sum.add(item);
        }
        assert!(events.is_terminated());
        assert!(sum.ended.is_some());
        assert_eq!(sum.failed, None);
        assert_eq!(sum.objects.len(), sum.fragments.len(), "what began has ended");
    }
}

#[test]
fn when_upstream_fails_its_events_come_first() {
    for cut in 0..=BODY.len() {
        let (head, tail) = BODY.as_bytes().split_at(cut);
        let chunks = vec![Ok(head.to_vec()), Err("reset"), Ok(tail.to_vec())];
        let (source, log) = Source::new(chunks);
        let failed = Sum::of(source.read(taken_out()));
        assert_eq!(failed.failed, Some("reset"));
        assert!(log.borrow().dropped && !log.borrow().polled_after_end);
        let ended = Sum::of(Source::new(vec![Ok(head.to_vec())]).0.read(taken_out()));
        assert_eq!(Sum { failed: None, ..failed }, ended);
    }
}

#[test]
fn an_end_is_an_end() {
    let (source, log) = Source::new(vec![Ok(BODY.into()), Err("late")]);
    let mut events = pin!(source.read(taken_out()));
    block_on(async {
        while events.next().await.is_some() {
            assert!(!log.borrow().polled_after_end);
        }
        for _ in 0..3 {
            assert!(events.is_terminated());
            assert!(events.next().await.is_none());
        }
    });
}

#[test]
fn a_cut_call_is_never_complete() {
    let cut = BODY.find("\"1}").unwrap();
    let (source, _) = Source::cut(&BODY.as_bytes()[..cut], 9);
    let sum = Sum::of(source.read(taken_out()));
    assert_eq!(sum.ended, Some(StreamOutcome::Cut));
    assert!(sum.calls.iter().all(|call| !call.outcome().is_complete()));
}

/// Objects are found, and removed from the text.
fn taken_out() -> ResponseOptions {
    ResponseOptions::new().with_objects(Scope::All).without_objects_in_text()
}

fn content(text: &str, options: ResponseOptions) -> Sum {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let body =
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    Sum::of(Source::cut(body.as_bytes(), 11).0.read(options))
}

#[test]
fn a_cut_object_is_closed_and_reports_where() {
    let sum = content("{\"a\": [1, {\"b\": \"x", taken_out());
    assert_eq!(sum.objects[0].outcome(), Outcome::Closed);
    assert_eq!(sum.objects[0].json(), Some("{\"a\": [1, {\"b\": \"x\"}]}"));
    let path = sum.objects[0].cut_at().map(ToString::to_string);
    assert_eq!(path.as_deref(), Some("$.a[1].b"));
}

#[test]
fn the_scope_of_objects_is_an_option() {
    let text = "A {\"a\": 1} b\n```json\n{\"c\": 1}\n```";
    for (scope, objects) in [(Scope::All, 2), (Scope::Fenced, 1), (Scope::Whole, 1)] {
        let sum = content(text, taken_out().with_objects(scope));
        assert_eq!(sum.objects.len(), objects, "{scope:?}");
    }
    let sum = content(text, ResponseOptions::new());
    assert_eq!((sum.objects.len(), &*sum.text[&Block::default()]), (0, text));
}

#[test]
fn an_object_beyond_the_limit_is_an_overflow() {
    for (limit, outcome) in [(8, Outcome::Unchanged), (7, Outcome::Overflow)] {
        let sum = content("{\"a\": 1}", taken_out().with_object_limit(limit));
        assert_eq!(sum.objects[0].outcome(), outcome);
        assert_eq!(sum.objects[0].json().is_some(), limit == 8);
        assert_eq!(sum.fragments[&0], b"{\"a\": 1}");
    }
}

#[test]
fn a_source_without_events_does_not_block_the_task() {
    let empty = stream::repeat_with(|| Ok::<_, &str>(Bytes::new()));
    let mut events = pin!(empty.read(taken_out()));
    let polled = block_on(poll_fn(|cx| Poll::Ready(events.as_mut().poll_next(cx))));
    assert!(polled.is_pending());
}

#[test]
fn adapters_can_be_sent_and_shared() {
    fn is_send<T: Send>(_: &T) {}
    let body = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"x"))]);
    let events = body.read(taken_out());
    is_send(&events);
}

#[tokio::test]
async fn it_runs_under_tokio() {
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<Bytes>(1);
    let producer = tokio::spawn(async move {
        for chunk in BODY.as_bytes().chunks(13) {
            sender.send(Bytes::copy_from_slice(chunk)).await.unwrap();
        }
    });
    let body = stream::poll_fn(move |cx| receiver.poll_recv(cx)).map(Ok::<_, &'static str>);
    let mut events = pin!(body.read(taken_out()));
    let mut sum = Sum::default();
    while let Some(item) = events.next().await {
        sum.add(item);
        tokio::task::yield_now().await;
    }
    producer.await.unwrap();
    assert_eq!(sum, whole());
}
