//! The hook before a call or an object is handed out.

use std::{
    cell::Cell,
    future::{pending, poll_fn, ready},
    pin::pin,
    task::Poll,
};

use crate::source::Source;
use futures::{FutureExt, StreamExt, executor::block_on, stream::FusedStream};
use serde_json::json;
use wiremend_extract::Scope;
use wiremend_response::{CallCheck, Event, RepairSummary, Response, ResponseOptions};
use wiremend_schema::{FitOptions, Registry, Schema, SharedRegistry};
use wiremend_stream::{
    AcceptEvent, AcceptOptions, ByteStreamExt, Candidate, Decision, Judgement, Oversized, StoppedAt,
};
use wiremend_wire::Doubt;

fn piece(delta: &serde_json::Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
}

fn call(index: usize, name: &str, arguments: &str) -> String {
    let (head, tail) = arguments.split_at(arguments.len() / 2);
    let id = format!("c{index}");
    let begin = json!({"tool_calls": [{"index": index, "id": id,
        "function": {"name": name, "arguments": head}}]});
    let more = json!({"tool_calls": [{"index": index, "function": {"arguments": tail}}]});
    piece(&begin) + &piece(&more)
}

const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
                   data: [DONE]\n\n";

/// Four calls, of which the last does not fit, and an object between them.
fn body() -> String {
    [
        piece(&json!({"content": "Here:\n{'total': '3'}\nand "})),
        call(0, "book", "{'nights': '2'}"),
        call(1, "book", "{\"nights\": 30}"),
        call(2, "book", "{\"nights\": 7}"),
        call(3, "book", "{\"nights\": \"many\"}"),
        END.to_owned(),
    ]
    .concat()
}

fn options() -> ResponseOptions {
    let schema = json!({"properties": {"nights": {"type": "integer"}}, "required": ["nights"]});
    let tools = json!([{"name": "book", "input_schema": schema}]);
    let tools = SharedRegistry::new(Registry::from_tools(&tools).unwrap());
    let total = r#"{"properties": {"total": {"type": "integer"}}, "required": ["total"]}"#;
    let total = Schema::from_text(total).unwrap();
    ResponseOptions::new().with_tools(&tools).with_schema(&total, FitOptions::new())
}

/// Refuses more than 14 nights, and turns a week into six.
fn decide(candidate: &Candidate) -> Decision {
    match candidate.json().unwrap() {
        "{\"nights\": 30}" => Decision::Refuse("too long a stay".to_owned()),
        "{\"nights\": 7}" => Decision::Replace("{\"nights\": 6}".to_owned()),
        _ => Decision::Accept,
    }
}

fn judgements(source: Source, response: ResponseOptions, accept: AcceptOptions) -> Vec<Judgement> {
    let hook = |candidate: &Candidate| {
        let (mut polls, decision) = (0, decide(candidate));
        // Some answers take a while.
        poll_fn(move |cx| {
            polls += 1;
            cx.waker().wake_by_ref();
            if polls < 3 { Poll::Pending } else { Poll::Ready(decision.clone()) }
        })
    };
    let mut events = pin!(source.read(response).accept(accept, hook));
    let mut judgements = Vec::new();
    while let Some(event) = block_on(events.next()) {
        match event.unwrap() {
            AcceptEvent::Judged { judgement, .. } => judgements.push(judgement),
            AcceptEvent::Event(
                Event::CallEnded(_)
                | Event::CallFitted(_)
                | Event::ObjectEnded(_)
                | Event::ObjectFitted(_),
            ) => panic!("an end passed the hook"),
            _ => {}
        }
    }
    assert!(events.is_terminated());
    let counts = events.counts();
    let total = counts.accepted
        + counts.incomplete
        + counts.unknown_tool
        + counts.passed
        + counts.refused
        + counts.replaced
        + counts.too_long;
    assert_eq!(total, judgements.len() as u64);
    judgements
}

#[test]
fn every_call_and_object_is_judged_once_however_the_body_is_cut() {
    let want = [
        Judgement::Accepted("{\"total\": 3}".to_owned()),
        Judgement::Accepted("{\"nights\": 2}".to_owned()),
        Judgement::Refused("too long a stay".to_owned()),
        Judgement::Replaced("{\"nights\": 6}".to_owned()),
        Judgement::Incomplete,
    ];
    for size in [1, 2, 3, 7, 40, 10_000] {
        let (source, _) = Source::cut(body().as_bytes(), size);
        let judged = judgements(source.hesitant(), options(), AcceptOptions::new());
        // The object ends with its text, wherever that is.
        let mut sorted = judged.clone();
        let at = judged.iter().position(|judged| *judged == want[0]).unwrap();
        let object = sorted.remove(at);
        sorted.insert(0, object);
        assert_eq!(sorted, want, "{size}");
    }
}

#[test]
fn without_a_schema_the_mended_text_is_judged() {
    let response = ResponseOptions::new().with_objects(Scope::All);
    let judged = judgements(Source::cut(body().as_bytes(), 9).0, response, AcceptOptions::new());
    assert!(judged.contains(&Judgement::Accepted("{\"total\": \"3\"}".to_owned())));
    assert!(judged.contains(&Judgement::Accepted("{\"nights\": \"many\"}".to_owned())));
}

#[test]
fn the_hook_is_never_asked_about_what_was_cut_off() {
    let text = call(0, "book", "{'nights': 2}") + END;
    for cut in 0..text.find("finish_reason").unwrap() {
        let (source, _) = Source::new(vec![Ok(text.as_bytes()[..cut].to_vec())]);
        let judged = judgements(source, ResponseOptions::new(), AcceptOptions::new());
        assert!(judged.iter().all(|judged| *judged == Judgement::Incomplete), "{cut}: {judged:?}");
    }
}

#[test]
fn what_is_longer_than_the_cap_follows_the_policy() {
    let long = format!("{{'nights': 1, 'note': '{}'}}", "n".repeat(200));
    let text = call(0, "book", &long) + &call(1, "book", "{'nights': 1}") + END;
    let mended = long.replace('\'', "\"");
    for (policy, want) in [
        (Oversized::Error, Judgement::TooLong),
        (Oversized::PassRaw, Judgement::Raw(long.clone())),
        (Oversized::PassUnchecked, Judgement::Unchecked(mended.clone())),
    ] {
        let (source, _) = Source::cut(text.as_bytes(), 31);
        let accept = AcceptOptions::new().with_cap(100, policy);
        let judged = judgements(source, options(), accept);
        assert_eq!(judged, [want, Judgement::Accepted("{\"nights\": 1}".to_owned())]);
        assert!(judged[0].json().is_none());
    }
    // By default, the cap is 65,536 bytes.
    for (length, fits) in [(65_536, true), (65_537, false)] {
        let head = "{\"nights\": 1, \"note\": \"";
        let long = format!("{head}{}\"}}", "n".repeat(length - head.len() - 2));
        let text = call(0, "book", &long) + END;
        let (source, _) = Source::cut(text.as_bytes(), 4096);
        let judged = judgements(source, options(), AcceptOptions::new());
        assert_eq!(judged, [if fits { Judgement::Accepted(long) } else { Judgement::TooLong }]);
    }
}

#[test]
fn what_is_longer_than_the_cap_and_lacks_a_part_never_passes() {
    let long = format!("{{'nights': 1, 'note': '{}'}}", "n".repeat(200));
    let text = call(0, "book", &long) + END;
    for cut in text.find("nights").unwrap()..text.find("finish_reason").unwrap() {
        for policy in [Oversized::PassRaw, Oversized::PassUnchecked] {
            let (source, _) = Source::new(vec![Ok(text.as_bytes()[..cut].to_vec())]);
            let accept = AcceptOptions::new().with_cap(10, policy);
            let judged = judgements(source, ResponseOptions::new(), accept);
            assert!(judged.iter().all(|one| *one == Judgement::Incomplete), "{cut}: {judged:?}");
        }
    }
}

#[test]
fn an_object_of_a_response_that_lost_a_part_is_not_complete() {
    let objects = ResponseOptions::new().with_objects(Scope::All);
    let text = |text: &str| piece(&json!({"content": text}));
    for (lost, complete) in [("", true), ("data: {\"choi\n\n", false), (": {\"a\": \n\n", false)] {
        for schema in [None, Some(Schema::from_text("{\"type\": \"array\"}").unwrap())] {
            let response = match &schema {
                Some(schema) => objects.clone().with_schema(schema, FitOptions::new()),
                None => objects.clone(),
            };
            let text = [&text("[1, "), lost, &text("2]"), END].concat();
            for size in [1, 7, 10_000] {
                let (source, _) = Source::cut(text.as_bytes(), size);
                let judged = judgements(source, response.clone(), AcceptOptions::new());
                let accepted = Judgement::Accepted("[1, 2]".to_owned());
                let want = if complete { accepted } else { Judgement::Incomplete };
                assert_eq!(judged, [want], "{lost}");
            }
        }
    }
}

/// What is left of an object after a loss is complete nowhere: not in events, fits or counts.
#[test]
fn what_a_loss_leaves_is_complete_nowhere() {
    let schema = r#"{"properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;
    let schema = Schema::from_text(schema).unwrap();
    let options = ResponseOptions::new().with_schema(&schema, FitOptions::new());
    let text = |text: &str| piece(&json!({"content": text}));
    let end = END.replace("tool_calls", "stop");
    for (lost, is_whole) in [("", true), ("data: {\"choi\n\n", false)] {
        let body = [&text("{\"n\": \"1\", "), lost, &text("\"m\": 2}"), &end].concat();
        let response = Response::read(body.as_bytes(), options.clone());
        let (object, fit) = (&response.objects()[0], &response.fitted_objects()[0]);
        assert_eq!(object.outcome().is_complete(), is_whole, "{object:?}");
        assert_eq!(fit.outcome().is_complete(), is_whole, "{fit:?}");
        let doubt = (!is_whole).then_some(Doubt::LostEvent);
        assert_eq!([object.doubt(), fit.doubt(), response.lost()], [doubt; 3]);
        // The text is there to be shown.
        assert_eq!(object.json(), Some("{\"n\": \"1\", \"m\": 2}"));
        assert_eq!(fit.json(), Some("{\"n\": 1, \"m\": 2}"));
        let summary = RepairSummary::of(&response);
        assert_eq!(
            (summary.incomplete(), summary.is_coerced()),
            (usize::from(!is_whole), is_whole)
        );
    }
}

#[test]
fn nothing_is_polled_while_the_hook_waits() {
    let (source, log) = Source::cut(body().as_bytes(), 16);
    let answered = Cell::new(false);
    let hook = |_: &Candidate| {
        poll_fn(|_| if answered.get() { Poll::Ready(Decision::Accept) } else { Poll::Pending })
    };
    let mut events = pin!(source.read(ResponseOptions::new()).accept(AcceptOptions::new(), hook));
    // Until the hook is asked, every event is ready. The waiting future is dropped each time.
    while events.next().now_or_never().is_some() {}
    let polls = log.borrow().polls;
    for _ in 0..10 {
        assert!(events.next().now_or_never().is_none());
    }
    assert_eq!(log.borrow().polls, polls);
    answered.set(true);
    let mut judged = 0;
    while let Some(event) = block_on(events.next()) {
        judged += usize::from(matches!(event, Ok(AcceptEvent::Judged { .. })));
    }
    assert_eq!(judged, 4, "nothing was lost");
}

/// A hook that never answers holds the stream up, and is dropped with it.
#[test]
fn a_hook_that_never_answers_is_dropped_with_the_stream() {
    let (source, log) = Source::cut(body().as_bytes(), 16);
    let hook = |_: &Candidate| pending::<Decision>();
    let mut events =
        Box::pin(source.read(ResponseOptions::new()).accept(AcceptOptions::new(), hook));
    while events.next().now_or_never().is_some() {}
    assert!(!log.borrow().dropped);
    drop(events);
    assert!(log.borrow().dropped);
}

/// Whatever has been polled: the source is dropped at once, and after `cancel`, what is complete is still judged.
#[test]
fn dropped_or_cancelled_at_any_point() {
    let whole = judgements(Source::cut(body().as_bytes(), 40).0, options(), AcceptOptions::new());
    let mut polls = 0;
    loop {
        let hook = |candidate: &Candidate| {
            let (mut asked, decision) = (false, decide(candidate));
            poll_fn(move |cx| {
                cx.waker().wake_by_ref();
                let answers = std::mem::replace(&mut asked, true);
                if answers { Poll::Ready(decision.clone()) } else { Poll::Pending }
            })
        };
        let begin = || {
            let (source, log) = Source::cut(body().as_bytes(), 40);
            let events = source.hesitant().read(options()).accept(AcceptOptions::new(), hook);
            let mut events = Box::pin(events);
            let mut judged = Vec::new();
            for _ in 0..polls {
                // The future is dropped whether it is ready or not.
                if let Some(Some(Ok(AcceptEvent::Judged { judgement, .. }))) =
                    events.next().now_or_never()
                {
                    judged.push(judgement);
                }
            }
            (events, log, judged)
        };
        let (events, log, _) = begin();
        let ended = events.is_terminated();
        drop(events);
        assert!(log.borrow().dropped);
        let (mut events, log, mut judged) = begin();
        events.as_mut().cancel();
        assert!(log.borrow().dropped);
        while let Some(event) = block_on(events.next()) {
            if let AcceptEvent::Judged { judgement, .. } = event.unwrap() {
                judged.push(judgement);
            }
        }
        // At most one was open in addition.
        let complete = judged.iter().zip(&whole).take_while(|(one, other)| one == other).count();
        assert!(judged.len() <= complete + 1, "{polls}: {judged:?}");
        assert!(judged[complete..].iter().all(|last| *last == Judgement::Incomplete));
        if ended {
            assert_eq!(judged, whole);
            break;
        }
        polls += 1;
    }
    assert!(polls > 40, "{polls}");
}

#[test]
fn an_upstream_error_comes_last() {
    let mut chunks = vec![Ok(body().into_bytes())];
    chunks.push(Err("reset"));
    let (source, _) = Source::new(chunks);
    let hook = |_: &Candidate| ready(Decision::Accept);
    let events = source.read(options()).accept(AcceptOptions::new(), hook);
    let events: Vec<_> = block_on(events.collect());
    assert!(events.last().unwrap().is_err());
    assert_eq!(events.iter().filter(|event| event.is_err()).count(), 1);
}

#[test]
fn a_lost_call_ends_the_stream_early() {
    let text = call(0, "book", "{'nights': 3}")
        + &call(1, "book", &format!("{{\"nights\": 1.5, \"note\": \"{}\"}}", "n".repeat(5_000)))
        + END;
    let (source, log) = Source::cut(text.as_bytes(), 64);
    let hook = |_: &Candidate| ready(Decision::Accept);
    let accept = AcceptOptions::new().with_early_stop();
    let mut events = pin!(source.read(options()).accept(accept, hook));
    let mut last = None;
    while let Some(event) = block_on(events.next()) {
        last = Some(event.unwrap());
    }
    let Some(AcceptEvent::Stopped { at: StoppedAt::Call(1), issue, read, .. }) = last else {
        panic!("{last:?}")
    };
    assert_eq!(issue.issue().pointer(), "/nights");
    assert!((14..3000).contains(&read), "{read}");
    assert!(log.borrow().dropped && log.borrow().given * 64 < text.len() - 2_000);
    assert!(events.is_terminated());
    assert!(block_on(events.next()).is_none());
    assert_eq!((events.counts().stopped, events.counts().accepted), (1, 1));
}

#[test]
fn a_hook_works_over_a_blocking_reader() {
    let text = call(0, "book", "{'nights': 30}") + &call(1, "book", "{'nights': 2}") + END;
    for waits in [false, true] {
        let polls = std::cell::Cell::new(0);
        let hook = |candidate: &Candidate| {
            let decision = decide(candidate);
            let (answer, receiver) = futures::channel::oneshot::channel();
            // Another thread answers, after a while or at once.
            std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(if waits { 5 } else { 0 }));
                answer.send(decision)
            });
            let (mut receiver, polls) = (receiver, &polls);
            std::future::poll_fn(move |cx| {
                polls.set(polls.get() + 1);
                receiver.poll_unpin(cx).map(Result::unwrap)
            })
        };
        let source = wiremend_stream::source::from_read(text.as_bytes());
        let events = source.read(options()).accept(AcceptOptions::new(), hook);
        let mut events = events.into_iter();
        let mut judged = Vec::new();
        for event in events.by_ref() {
            if let AcceptEvent::Judged { judgement, .. } = event.unwrap() {
                judged.push(judgement);
            }
        }
        let refused = Judgement::Refused("too long a stay".to_owned());
        assert_eq!(judged, [refused, Judgement::Accepted("{\"nights\": 2}".to_owned())]);
        assert_eq!(events.get_ref().counts().refused, 1);
        // Once when it is asked, and once when it is woken.
        assert!(polls.get() <= 4, "{polls:?}");
    }
}

#[test]
fn a_call_of_an_unknown_tool_is_judged_as_that_whatever_its_arguments() {
    let long = format!("{{\"nights\": 2, \"note\": \"{}\"}}", "x".repeat(500));
    for arguments in ["{\"nights\": 2}", "{\"nights\": ", "", long.as_str()] {
        let body = call(0, "boook", arguments) + &call(1, "book", "{\"nights\": 2}") + END;
        for oversized in [Oversized::Error, Oversized::PassRaw, Oversized::PassUnchecked] {
            let accept = AcceptOptions::new().with_cap(100, oversized);
            let judged = judgements(Source::cut(body.as_bytes(), 7).0, options(), accept);
            let accepted = Judgement::Accepted("{\"nights\": 2}".to_owned());
            assert_eq!(judged, [Judgement::UnknownTool, accepted], "{arguments}");
        }
    }
    // The candidate has the name that was meant.
    let source = Source::cut((call(0, "boook", "{}") + END).as_bytes(), 9).0;
    let hook = |_: &Candidate| ready(Decision::Accept);
    let mut events = pin!(source.read(options()).accept(AcceptOptions::new(), hook));
    let mut nearest = None;
    while let Some(event) = block_on(events.next()) {
        if let AcceptEvent::Judged {
            candidate: Candidate::Call { fit: Some(fit), .. },
            judgement,
            ..
        } = event.unwrap()
        {
            let CallCheck::Unknown { nearest: name, .. } = fit.check() else { panic!("{fit:?}") };
            nearest.clone_from(name);
            assert_eq!((judgement.code(), judgement.json()), ("unknown-tool", None));
        }
    }
    assert_eq!(nearest.as_deref(), Some("book"));
    assert_eq!(events.counts().unknown_tool, 1);
}
