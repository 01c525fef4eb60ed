//! The adapter for a channel of text or JSON.

use std::pin::pin;

use crate::source::Source;
use bytes::Bytes;
use futures::{
    FutureExt, StreamExt,
    executor::block_on,
    stream::{self, FusedStream},
};
use wiremend_core::{MendOptions, Outcome, OwnedValue, Policy, apply};
use wiremend_extract::Scope;
use wiremend_response::Object;
use wiremend_stream::{ByteStreamExt, Error, JsonEvent, JsonOptions, TextSnapshot};

#[derive(Debug, Default, PartialEq)]
struct Sum {
    text: Vec<u8>,
    reasoning: Vec<u8>,
    objects: Vec<Object>,
    failed: Option<&'static str>,
}

/// Reads the whole channel, and checks that every snapshot is valid JSON.
fn read(source: Source, options: JsonOptions) -> Sum {
    let mut sum = Sum::default();
    let mut snapshot = TextSnapshot::default();
    let mut events = pin!(source.mend(options));
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
                    let again = wiremend_core::mend(json.as_bytes(), &MendOptions::new());
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
fn a_limit_is_told_before_the_text_that_is_raw() {
    for deltas in [false, true] {
        let limits = wiremend_core::Limits::new().with_depth(2);
        let options = JsonOptions::new().with_mending(MendOptions::new().with_limits(limits));
        let options = if deltas { options.with_deltas() } else { options };
        let (mut mended, mut raw, mut outcome) = (Vec::new(), None, None);
        let mut events = pin!(Source::cut(b"['a', [[1]]]", 5).0.mend(options));
        while let Some(event) = block_on(events.next()) {
            match event.unwrap() {
                JsonEvent::Patch { append, .. } => {
                    raw.as_mut().unwrap_or(&mut mended).extend_from_slice(&append);
                }
                JsonEvent::Raw => assert_eq!(raw.replace(Vec::new()), None, "said once"),
                JsonEvent::Ended(object) => outcome = Some(object.outcome()),
                JsonEvent::Delta { .. } => assert_eq!(raw, None),
                event => panic!("{event:?}"),
            }
        }
        assert_eq!(outcome, Some(Outcome::Overflow));
        let text: (&[u8], &[u8]) = if deltas { (b"", b"") } else { (b"[\"a\", [", b"[1]]]") };
        assert_eq!((mended.as_slice(), raw.as_deref()), (text.0, Some(text.1)));
    }
}

#[test]
fn every_record_of_a_channel_is_mended_however_many_there_are() {
    let text = "{'a': True, 'b': None, 'c': 'd'}\n".repeat(2_000);
    let options = JsonOptions::new().with_scope(Scope::All);
    let sum = read(Source::cut(text.as_bytes(), 4096).0, options);
    assert_eq!(sum.objects.len(), 2_000);
    assert!(sum.objects.iter().all(|object| object.outcome() == Outcome::Repaired));
}

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
fn when_upstream_fails_its_events_come_first() {
    let (source, _) = Source::new(vec![Ok(b"{\"a\": \"b".to_vec()), Err("reset")]);
    let sum = read(source, JsonOptions::new());
    assert_eq!(sum.failed, Some("reset"));
    assert_eq!(sum.objects[0].outcome(), Outcome::Closed);
    assert_eq!(sum.objects[0].cut_at().map(ToString::to_string).as_deref(), Some("$.a"));
}

#[test]
fn a_policy_may_forbid_closing_a_cut_document() {
    let options =
        JsonOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
    let sum = read(Source::cut(b"{\"a\": \"b", 3).0, options);
    assert_eq!(sum.objects[0].outcome(), Outcome::Cut);
    assert_eq!(sum.objects[0].json(), Some("{\"a\": \"b"));
}

#[test]
fn an_object_beyond_the_limit_is_an_overflow() {
    let options = JsonOptions::new().with_object_limit(7);
    let (source, _) = Source::cut(b"{\"a\": 1}", 3);
    let mut events = pin!(source.mend(options));
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
        let mut events = Box::pin(source.mend(JsonOptions::new()));
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

/// Where a slice of bytes lies in memory.
fn place(bytes: &[u8]) -> std::ops::Range<usize> {
    let start = bytes.as_ptr().addr();
    start..start + bytes.len()
}

/// Unrepaired bytes are a slice of the upstream chunk.
#[test]
fn clean_runs_are_slices_of_the_chunk() {
    let prose = "Some text. ".repeat(50);
    let body = format!("{{\"content\": \"{}", "a line, of text ".repeat(200));
    let chunks =
        [prose.as_bytes(), body.as_bytes(), &b"and more of the same. ".repeat(100), b"'\"}"];
    let chunks = chunks.map(|chunk| Bytes::from(chunk.to_vec()));
    let source = stream::iter(chunks.clone()).map(Ok::<_, &str>);
    let options = JsonOptions::new().with_scope(Scope::All);
    let mut events = pin!(source.mend(options));
    let (mut sliced, mut copied) = (0, 0);
    while let Some(event) = block_on(events.next()) {
        let bytes = match event.unwrap() {
            JsonEvent::Patch { append, .. } => append,
            JsonEvent::Text(text) => text,
            JsonEvent::Ended(object) => {
                assert_eq!(object.outcome(), Outcome::Unchanged);
                continue;
            }
            event => panic!("{event:?}"),
        };
        let own = place(&bytes);
        let inside = |chunk: &Bytes| {
            let chunk = place(chunk);
            chunk.start <= own.start && own.end <= chunk.end
        };
        if chunks.iter().any(inside) {
            sliced += bytes.len();
        } else {
            copied += bytes.len();
        }
    }
    assert_eq!(sliced + copied, chunks.iter().map(Bytes::len).sum::<usize>());
    assert!(copied < 100, "{copied} bytes were copied, {sliced} were not");
}

/// A repaired run is joined to its neighbours, however the input is split.
#[test]
fn mended_runs_are_whole_patches() {
    let text = b"{'a': 'b', 'c': [True, False,], d: \"e\"}";
    let whole = read(Source::cut(text, text.len()).0, JsonOptions::new());
    for size in 1..text.len() {
        assert_eq!(read(Source::cut(text, size).0, JsonOptions::new()), whole);
    }
    let (source, _) = Source::cut(text, text.len());
    let events: Vec<_> = block_on(source.mend(JsonOptions::new()).collect());
    let patches = events.iter().filter(|e| matches!(e, Ok(JsonEvent::Patch { .. }))).count();
    assert_eq!(patches, 1, "{events:?}");
}

/// Deltas rebuild every document, whatever the chunks, and a chunk that ends nothing adds none.
#[test]
fn deltas_rebuild_every_document() {
    let text = "{'city': 'Z\u{fc}rich', ok: True, n: [1.10, 2_000]} and [\"x\", {\"y\": null}]";
    let options = JsonOptions::new().with_scope(Scope::All).with_deltas();
    for size in [1, 2, 3, 7, 100] {
        let (source, _) = Source::cut(text.as_bytes(), size);
        let mut events = pin!(source.hesitant().mend(options.clone()));
        let (mut value, mut values) = (OwnedValue::new(), Vec::new());
        while let Some(event) = block_on(events.next()) {
            match event.unwrap() {
                JsonEvent::Delta { path, change, .. } => value.apply(&path, &change).unwrap(),
                JsonEvent::Ended(object) => {
                    assert!(value.is_complete());
                    let spelled: serde_json::Value =
                        serde_json::from_str(object.json().unwrap()).unwrap();
                    let rebuilt: serde_json::Value =
                        serde_json::from_str(&value.to_string()).unwrap();
                    assert_eq!(rebuilt, spelled);
                    values.push(std::mem::take(&mut value).to_string());
                }
                JsonEvent::Text(_) => {}
                event => panic!("{event:?}"),
            }
        }
        let want =
            ["{\"city\":\"Z\u{fc}rich\",\"ok\":true,\"n\":[1.10,2000]}", "[\"x\",{\"y\":null}]"];
        assert_eq!(values, want, "{size}");
    }
}

#[test]
fn deltas_of_a_scalar_and_of_a_raw_document() {
    let deltas = |text: &[u8], options: JsonOptions| {
        let (source, _) = Source::cut(text, 2);
        let events: Vec<_> = block_on(source.mend(options.with_deltas()).collect());
        let mut value = OwnedValue::new();
        for event in events {
            if let JsonEvent::Delta { path, change, .. } = event.unwrap() {
                value.apply(&path, &change).unwrap();
            }
        }
        value.to_string()
    };
    assert_eq!(deltas(b"12345", JsonOptions::new()), "12345");
    assert_eq!(deltas(b"\"ab\"", JsonOptions::new()), "\"ab\"");
    let strict = JsonOptions::new().with_mending(MendOptions::new().with_policy(Policy::STRICT));
    assert_eq!(deltas(b"[1, 2, True, 3]", strict), "[1,2]");
    // No deltas are emitted beyond the object limit.
    let long = format!("[\"{}\", 12]", "abcd".repeat(100));
    let shown = deltas(long.as_bytes(), JsonOptions::new().with_object_limit(200));
    let length = shown.strip_prefix("[\"abcd").unwrap().strip_suffix("\"]").unwrap().len();
    assert!((100..200).contains(&length), "{shown}");
}

#[test]
fn upstream_waits_until_the_events_are_taken() {
    let (source, log) = Source::cut(b"{\"a\": 1} {\"b\": 2} {\"c\": 3} [4] [5] [6]", 20);
    let mut events = pin!(source.mend(JsonOptions::new().with_scope(Scope::All)));
    assert_eq!(log.borrow().polls, 0, "nothing happens before the first poll");
    let (mut several, mut at_last_poll) = (0, 0);
    while let Some(event) = block_on(events.next()) {
        event.unwrap();
        let polls = log.borrow().polls;
        if polls == at_last_poll {
            several += 1;
        }
        assert!(polls <= at_last_poll + 2, "a chunk was asked for while events were left");
        at_last_poll = polls;
    }
    assert!(several > 3, "some chunk gave more than one event between two polls of upstream");
    assert!(!log.borrow().polled_after_end);
}

/// A future that waits for the next item may be dropped at any time: nothing is lost.
#[test]
fn waiting_may_be_given_up_at_any_point() {
    let options = JsonOptions::new();
    let whole = read(Source::cut(TEXT.as_bytes(), 4).0, options.clone());
    let (source, _) = Source::cut(TEXT.as_bytes(), 4);
    let mut events = pin!(source.hesitant().mend(options));
    let (mut objects, mut given_up) = (Vec::new(), 0);
    loop {
        // The future of `next` is dropped after one poll.
        match events.next().now_or_never() {
            None => given_up += 1,
            Some(Some(Ok(JsonEvent::Ended(object)))) => objects.push(*object),
            Some(Some(_)) => {}
            Some(None) => break,
        }
    }
    assert!(given_up > 10);
    assert_eq!(objects, whole.objects);
}

#[test]
fn dropped_at_any_point() {
    for items in 0..20 {
        let (source, log) = Source::cut(TEXT.as_bytes(), 3);
        let mut events = Box::pin(source.mend(JsonOptions::new()));
        for _ in 0..items {
            drop(block_on(events.next()));
        }
        drop(events);
        assert!(log.borrow().dropped);
    }
}
