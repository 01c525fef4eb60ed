//! What the adapters cost: work and memory, counted.

use std::pin::pin;

use futures::{FutureExt, StreamExt, executor::block_on, stream};
use wiremend_extract::Scope;
use wiremend_response::ResponseOptions;
use wiremend_stream::{ByteStreamExt, JsonOptions};
use wiremend_testkit::allocations::{Heap, heap_of};
use wiremend_wire::RewriteOptions;

/// A list of records with a few defects each.
fn records(count: usize) -> String {
    let record = |at: usize| {
        format!("{{'id': {at}, 'name': \"item {at}\", tags: ['new', 'old',], 'sold': True}}")
    };
    let records: Vec<String> = (0..count).map(record).collect();
    format!("{{'items': [{}], 'total': {count}}}", records.join(",\n"))
}

/// Reads all items in pieces of that size.
fn read(text: &str, size: usize, count: usize) -> Heap {
    heap_of(|| {
        let chunks = stream::iter(text.as_bytes().chunks(size)).map(Ok::<_, &str>);
        let mut items = pin!(chunks.items::<serde_json::Value>("/items", JsonOptions::new()));
        let mut seen = 0;
        while let Some(item) = block_on(items.next()) {
            let item = item.unwrap();
            assert_eq!((item.index(), &item.value()["id"]), (seen, &serde_json::json!(seen)));
            seen += 1;
        }
        assert_eq!(seen, count);
    })
}

/// Items cost the same however many there are: what is allocated is linear, and what is kept is not more
/// than one item and what a chunk brings.
#[test]
fn items_are_linear_and_keep_nothing() {
    for size in [7, 64, 4096] {
        let few = read(&records(2_000), size, 2_000);
        let many = read(&records(32_000), size, 32_000);
        assert!(many.count <= 16 * few.count + few.count / 8, "{size}: {few:?} {many:?}");
        assert!(many.total <= 17 * few.total, "{size}: {few:?} {many:?}");
        assert!(many.peak <= few.peak + 512, "{size}: {few:?} {many:?}");
        assert!(many.peak <= 16 * 1024 + 24 * size as u64, "{size}: {many:?}");
        assert_eq!(many.live, 0, "{size}");
    }
}

/// What a stream keeps while it waits for more of a body, its own size included.
fn idle(pieces: &[&str], options: &ResponseOptions) -> u64 {
    let mut kept = None;
    let heap = heap_of(|| {
        let body = stream::iter(pieces.iter().copied()).map(Ok::<_, &str>).chain(stream::pending());
        let mut events = Box::pin(body.read(options.clone()));
        while events.next().now_or_never().is_some() {}
        kept = Some(events);
    });
    drop(kept);
    u64::try_from(heap.live).unwrap()
}

/// Thousands of streams at once: each keeps a few kilobytes while it waits.
#[test]
fn an_idle_stream_is_small() {
    const PROSE: &str = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Let me look \
                         into that. \"}}]}\n\n";
    let prose = [PROSE; 40];
    let plain = ResponseOptions::new();
    let searched = ResponseOptions::new().with_objects(Scope::All);
    let measured =
        [idle(&[], &plain), idle(&prose, &plain), idle(&[], &searched), idle(&prose, &searched)];
    println!("idle: {measured:?}");
    let [fresh, with_prose, _, searched_prose] = measured;
    assert!(fresh <= 4 * 1024, "{fresh}");
    assert!(with_prose <= 8 * 1024, "{with_prose}");
    assert!(searched_prose <= 9 * 1024, "{searched_prose}");
}

/// A response that never ends takes no more memory than a short one, through any adapter.
#[test]
fn what_never_ends_keeps_nothing() {
    let event = |text: &str| {
        let choice = serde_json::json!({"index": 0, "delta": {"content": text}});
        format!("data: {}\n\n", serde_json::json!({"choices": [choice]}))
    };
    let (opening, piece) = (event("["), event("{'a': 1, 'b': 'see [1]'}, "));
    let peak = |events: usize, adapter: usize| {
        let heap = heap_of(|| {
            let pieces = std::iter::repeat_n(piece.as_str(), events);
            let body = std::iter::once(opening.as_str()).chain(pieces).map(Ok::<_, &str>);
            let body = stream::iter(body);
            let searched = ResponseOptions::new().with_objects(Scope::First);
            let read = match adapter {
                0 => block_on(body.read(ResponseOptions::new()).count()),
                1 => block_on(body.rewrite(RewriteOptions::new()).count()),
                _ => block_on(body.items::<serde_json::Value>("", searched).count()),
            };
            assert!(read >= events, "{adapter}: {read}");
        });
        heap.peak
    };
    for adapter in 0..3 {
        let (short, long) = (peak(200, adapter), peak(20_000, adapter));
        assert!(long <= short + 1024, "{adapter}: {short} and {long} bytes");
    }
}
