//! What wiremend does with a document, and the two baselines.

use std::hint::black_box;

use serde::de::IgnoredAny;
use wiremend_core::{JsonType, MendOptions, Mender, Outcome, Output, Partial, mend};

/// Counts the length of the output, as a socket would.
#[derive(Default)]
struct Counted(usize);

impl Output for Counted {
    fn copy(&mut self, bytes: &[u8]) {
        self.0 += black_box(bytes).len();
    }
}

/// `serde_json` skips the text.
pub(crate) fn skip(text: &str) {
    assert!(serde_json::from_slice::<IgnoredAny>(black_box(text.as_bytes())).is_ok());
}

/// `memchr` searches for a byte that is not in the text.
pub(crate) fn search(text: &str) {
    assert!(memchr::memchr(1, black_box(text.as_bytes())).is_none());
}

/// The push path, with all repairs allowed, in pieces of `size` bytes.
pub(crate) fn push(mender: &mut Mender, text: &str, size: usize) {
    mender.reset();
    let mut out = Counted::default();
    for chunk in text.as_bytes().chunks(size) {
        mender.push(chunk, &mut out);
    }
    let outcome = mender.finish(&mut out);
    assert!(matches!(outcome, Outcome::Unchanged | Outcome::Repaired), "{outcome}");
    black_box(out.0);
}

/// The whole-text path.
pub(crate) fn mend_whole(text: &str) {
    let mended = mend(text.as_bytes(), &MendOptions::new());
    assert!(mended.text().is_some());
    drop(black_box(mended));
}

/// The push path with a snapshot after every piece.
pub(crate) fn snapshots(mender: &mut Mender, partial: &mut Partial, text: &str, size: usize) {
    mender.reset();
    partial.clear();
    for chunk in text.as_bytes().chunks(size) {
        mender.push(chunk, partial);
        // Looking up a key reads all members, because none of them has this key.
        let root = partial.root().filter(|root| root.kind() == JsonType::Object);
        let content = root.and_then(|root| root.member("content"));
        black_box((content.and_then(|text| text.as_str()), mender.completion()));
    }
    mender.finish(partial);
    assert!(partial.is_complete());
}
