//! Shows how an object grows, as text and as changes: `cargo run -p wiremend --example snapshots`.

use futures::{StreamExt, executor::block_on, stream};
use wiremend::{
    partial::OwnedValue,
    stream::{ByteStreamExt, JsonEvent, JsonOptions, TextSnapshot},
};

/// What a model might say, in the pieces in which it might arrive.
const CHUNKS: &[&str] = &[
    "Here is the bo",
    "ok:\n```json\n{'title': 'The Sea",
    " and Me', tags: ['sea',",
    " \"travel\",], pages: 21",
    "2, lent: Fal",
    "se}\n```\nEnjoy!",
];

fn main() {
    patches();
    deltas();
}

/// The text of the object, closed at every moment.
fn patches() {
    let channel = stream::iter(CHUNKS.iter().copied()).map(Ok::<_, std::convert::Infallible>);
    let mut events = channel.mend(JsonOptions::new());
    let mut snapshot = TextSnapshot::default();
    while let Some(Ok(event)) = block_on(events.next()) {
        snapshot.apply(&event);
        match event {
            JsonEvent::Text(text) => println!("text      {:?}", String::from_utf8_lossy(&text)),
            JsonEvent::Patch { .. } => {
                println!("snapshot  {}", snapshot.to_json().unwrap_or_default());
            }
            JsonEvent::Ended(object) => {
                println!("object    {} ({})", object.json().unwrap_or_default(), object.outcome());
                for repair in object.repairs() {
                    println!("  {:5}..{:<5} {}", repair.start(), repair.end(), repair.kind());
                }
            }
            _ => {}
        }
    }
}

/// Its changes, applied to a value elsewhere, such as on a screen.
fn deltas() {
    let channel = stream::iter(CHUNKS.iter().copied()).map(Ok::<_, std::convert::Infallible>);
    let mut events = channel.mend(JsonOptions::new().with_deltas());
    let mut screen = OwnedValue::new();
    while let Some(Ok(event)) = block_on(events.next()) {
        if let JsonEvent::Delta { path, change, .. } = event {
            println!("delta     {path}: {change:?}");
            if screen.apply(&path, &change).is_err() {
                println!("a change was lost on the way");
            }
        }
    }
    println!("screen    {screen}");
}
