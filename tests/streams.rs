//! What the adapters cost: work and memory, counted.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::pin::pin;

use futures::{StreamExt, executor::block_on, stream};
use jsonmend_stream::{JsonOptions, MendExt};
use jsonmend_testkit::allocations::{Heap, heap_of};

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
