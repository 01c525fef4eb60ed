//! The adapter for a channel of text or JSON.

mod source;

use std::pin::pin;

use futures::{FutureExt, StreamExt, executor::block_on, stream::FusedStream};
use jsonmend_core::{Options, Outcome, Policy, apply};
use jsonmend_extract::Scope;
use jsonmend_stream::{Error, JsonEvent, JsonOptions, MendExt, Object, Snapshot};
use source::Source;

#[derive(Debug, Default, PartialEq)]
struct Sum {
    text: Vec<u8>,
    reasoning: Vec<u8>,
    objects: Vec<Object>,
    failed: Option<&'static str>,
}

/// Reads it all; every snapshot on the way is one valid text.
fn read(source: Source, options: JsonOptions) -> Sum {
    let mut sum = Sum::default();
    let mut snapshot = Snapshot::default();
    let mut events = pin!(source.mend_json(options));
    while let Some(event) = block_on(events.next()) {
        assert_eq!(sum.failed, None);
        let event = match event {
            Ok(event) => event,
            Err(Error::Upstream(error)) => {
                sum.failed = Some(error);
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        snapshot.apply(&event);
        match event {
            JsonEvent::Text(text) => sum.text.extend(text),
            JsonEvent::Reasoning(text) => sum.reasoning.extend(text),
            JsonEvent::Patch { completion, .. } => {
                let json = snapshot.to_json().expect("a patch was applied");
                if completion.is_some() {
                    let again = jsonmend_core::mend(json.as_bytes(), &Options::new());
                    assert_eq!(again.outcome(), Outcome::Unchanged, "{json}");
                }
            }
            JsonEvent::Ended(object) => {
                if object.outcome().is_valid() {
                    assert_eq!(snapshot.to_json().as_deref(), object.json());
                }
                sum.objects.push(*object);
            }
            event => panic!("{event:?}"),
        }
    }
    assert!(events.is_terminated());
    sum
}

const TEXT: &str =
    "<think>hm</think>Here:\n```json\n{'city': 'Z\u{fc}rich', ok: True,}\n```\nBye {x}.";

#[test]
fn patches_and_the_object() {
    let sum = read(Source::cut(TEXT.as_bytes(), TEXT.len()).0, JsonOptions::new());
    assert_eq!(sum.reasoning, b"hm");
    let [object] = sum.objects.as_slice() else { panic!("{sum:?}") };
    assert_eq!(object.json(), Some("{\"city\": \"Z\u{fc}rich\", \"ok\": true}"));
    assert_eq!(object.outcome(), Outcome::Repaired);
    let applied = apply(TEXT.as_bytes(), object.repairs()).unwrap();
    assert_eq!(object.json().map(str::as_bytes), Some(&*applied));
    for size in 1..12 {
        let (source, _) = Source::cut(TEXT.as_bytes(), size);
        assert_eq!(read(source.hesitant(), JsonOptions::new()), sum, "{size}");
    }
    for cut in 0..=TEXT.len() {
        let (head, tail) = TEXT.as_bytes().split_at(cut);
        let (source, _) = Source::new(vec![Ok(head.to_vec()), Ok(tail.to_vec())]);
        assert_eq!(read(source, JsonOptions::new()), sum, "{cut}");
    }
}

#[test]
fn every_document_of_a_text() {
    let text = b"{\"a\": 1}\n{\"b\": [2, 3]}\n[4]\n";
    for size in [1, 3, 100] {
        let options = JsonOptions::new().with_scope(Scope::All);
        let sum = read(Source::cut(text, size).0, options);
        let json: Vec<_> = sum.objects.iter().filter_map(Object::json).collect();
        assert_eq!(json, ["{\"a\": 1}", "{\"b\": [2, 3]}", "[4]"]);
        let numbers: Vec<_> = sum.objects.iter().map(Object::number).collect();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(sum.text, b"\n\n\n");
    }
}

#[test]
fn text_that_holds_no_json_is_text() {
    let sum = read(Source::cut(b"42 is the {answer}", 2).0, JsonOptions::new());
    assert_eq!((&*sum.text, sum.objects.len()), (&b"42 is the {answer}"[..], 0));
}

#[test]
fn when_upstream_fails_what_it_gave_comes_first() {
    let (source, _) = Source::new(vec![Ok(b"{\"a\": \"b".to_vec()), Err("reset")]);
    let sum = read(source, JsonOptions::new());
    assert_eq!(sum.failed, Some("reset"));
    assert_eq!(sum.objects[0].outcome(), Outcome::Closed);
    assert_eq!(sum.objects[0].cut_at().map(ToString::to_string).as_deref(), Some("$.a"));
}

#[test]
fn what_was_cut_may_be_forbidden_to_close() {
    let options = JsonOptions::new().with_mending(Options::new().with_policy(Policy::CONSERVATIVE));
    let sum = read(Source::cut(b"{\"a\": \"b", 3).0, options);
    assert_eq!(sum.objects[0].outcome(), Outcome::Cut);
    assert_eq!(sum.objects[0].json(), Some("{\"a\": \"b"));
}

#[test]
fn an_object_beyond_the_limit_is_an_overflow() {
    let options = JsonOptions::new().with_object_limit(7);
    let (source, _) = Source::cut(b"{\"a\": 1}", 3);
    let mut events = pin!(source.mend_json(options));
    let mut joined = Vec::new();
    while let Some(Ok(event)) = block_on(events.next()) {
        match event {
            JsonEvent::Patch { append, .. } => joined.extend(append),
            JsonEvent::Ended(object) => {
                assert_eq!((object.outcome(), object.json()), (Outcome::Overflow, None));
            }
            event => panic!("{event:?}"),
        }
    }
    assert_eq!(joined, b"{\"a\": 1}");
}

#[test]
fn cancelled_at_any_point() {
    for chunks in 0..TEXT.len() {
        let (source, log) = Source::cut(TEXT.as_bytes(), 1);
        let mut events = Box::pin(source.mend_json(JsonOptions::new()));
        let (mut begun, mut ended) = (false, 0);
        let mut count = |item: Result<JsonEvent, Error<&str>>| match item {
            Ok(JsonEvent::Patch { .. }) => begun = true,
            Ok(JsonEvent::Ended(_)) => ended += 1,
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        };
        while log.borrow().given < chunks {
            if let Some(Some(item)) = events.next().now_or_never() {
                count(item);
            }
        }
        events.as_mut().cancel();
        assert!(log.borrow().dropped);
        while let Some(item) = block_on(events.next()) {
            count(item);
        }
        assert_eq!(usize::from(begun), ended, "what began has ended");
    }
}
