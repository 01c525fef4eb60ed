//! The cost of a mender and of a partial value while they wait: state, allocations, steps.

use std::fmt::{self, Write as _};

use wiremend_core::{
    DeltaOp, Limits, MendOptions, Mender, Outcome, Output, OwnedValue, Partial, Revision,
};
use wiremend_extract::{Finder, Scope, TextSink};
use wiremend_testkit::allocations::heap_of;

/// Throws away what is found.
struct Nothing;

impl TextSink for Nothing {
    fn json(&mut self, _: &[u8]) {}
    fn end(&mut self, _: Outcome) {}
}

/// Records as tools write them.
fn records(count: usize) -> Vec<u8> {
    let mut text = String::from("[");
    for number in 0..count {
        write!(
            text,
            "{{\"id\": {number}, \"name\": \"item {number}\", \"tags\": [\"new\", \"bl\\u00fce\"], \
             \"price\": 12.50, \"sold\": true, \"note\": null}},\n  "
        )
        .unwrap();
    }
    text.push_str("{}]");
    text.into_bytes()
}

fn one_string(length: usize) -> Vec<u8> {
    format!("{{\"content\": \"{}\"}}", "a line of text\\nand é more ".repeat(length / 27))
        .into_bytes()
}

/// Counts writes.
#[derive(Default)]
struct Writes(usize);

impl fmt::Write for Writes {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        self.0 += 1;
        Ok(())
    }
}

/// Counts how much is emitted.
#[derive(Default)]
struct Counted {
    bytes: usize,
}

impl Output for Counted {
    fn copy(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
    }
}

/// `completion()` writes one closer per level and at most a quote, whatever came before. It takes no
/// steps of the engine and allocates nothing.
#[test]
fn completion_costs_one_write_per_level() {
    for depth in [1, 10, 100] {
        for before in [0, 5_000] {
            let limits = Limits::new().with_depth(200);
            let mut mender = Mender::new(MendOptions::new().with_limits(limits));
            let mut input = String::from("[");
            input.push_str(&"{\"k\": [1, \"x\"]}, ".repeat(before));
            input.push_str(&"[".repeat(depth - 1));
            input.push_str("\"open");
            mender.push(input.as_bytes(), &mut ());
            let steps = mender.steps();
            let mut writes = Writes::default();
            let heap = heap_of(|| write!(writes, "{}", mender.completion().unwrap()).unwrap());
            assert_eq!(writes.0, depth + 1, "{before} members before");
            assert_eq!(heap.count, 0);
            assert_eq!(mender.steps(), steps);
        }
    }
}

/// After warm-up, a push on the clean path allocates nothing.
#[test]
fn a_push_allocates_nothing() {
    let mut wrong = Vec::new();
    for (name, input) in [("records", records(3_000)), ("one string", one_string(300_000))] {
        for size in [1, 8, 256, 4096] {
            let mut mender = Mender::new(MendOptions::new());
            let mut out = Counted::default();
            // The end of the document is not a push like the others.
            let (head, end) = input.split_at(input.len() - 100);
            let (warm, rest) = head.split_at(64 * 1024);
            warm.chunks(size).for_each(|chunk| mender.push(chunk, &mut out));
            let heap = heap_of(|| rest.chunks(size).for_each(|chunk| mender.push(chunk, &mut out)));
            mender.push(end, &mut out);
            assert_eq!(mender.finish(&mut out), Outcome::Unchanged);
            assert_eq!(out.bytes, input.len());
            if heap.count > 0 {
                wrong.push(format!("{name} in {size}: {heap:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A mender takes little more than a kilobyte; what it keeps of a document is a fixed amount per level.
#[test]
fn state_is_small() {
    assert!(size_of::<Mender>() <= 1216, "{}", size_of::<Mender>());
    assert!(size_of::<Partial>() <= 256, "{}", size_of::<Partial>());
    assert!(size_of::<Revision>() <= 48, "{}", size_of::<Revision>());
    let live = |opener: &str, levels: usize, size: usize| {
        let limits = Limits::new().with_depth(levels + 1);
        let input = opener.repeat(levels);
        let mut kept = None;
        let heap = heap_of(|| {
            let mut mender = Mender::new(MendOptions::new().with_limits(limits));
            input.as_bytes().chunks(size).for_each(|chunk| mender.push(chunk, &mut ()));
            kept = Some(mender);
        });
        drop(kept);
        heap.peak
    };
    for size in [1, 8, 256] {
        // A level costs a frame of three words, and its key. A growing vector has up to one and a half
        // times the capacity that it needs.
        for (opener, most) in [("[", 36), ("{\"key\":", 44)] {
            let a_level = (live(opener, 16_384, size) - live(opener, 64, size)) / 16_384;
            assert!(a_level <= most, "{a_level} bytes per level of {opener} in pieces of {size}");
        }
    }
}

/// The position in the input is reported the same in pieces of any size, even in the middle of a token.
#[test]
fn a_path_does_not_depend_on_chunks() {
    let texts = [
        r#"{"a": 12, "bcd": [1, {"e": true, "a longer key": "text", "f": 12.5}, 3], "g": null}"#,
        r#"{"alpha"  :  3, "b" : {"c": {"another long key": 1, "": [-1]}}, "d": "\u00e9 "}"#,
    ];
    for text in texts {
        for end in 0..=text.len() {
            let path = |size: usize| {
                let mut mender = Mender::new(MendOptions::new());
                text.as_bytes()[..end].chunks(size).for_each(|piece| mender.push(piece, &mut ()));
                mender.path()
            };
            for size in [1, 3, 8, 16] {
                assert_eq!(path(size), path(text.len()), "{:?} in pieces of {size}", &text[..end]);
            }
        }
    }
}

/// A view and the changes allocate nothing, and the changes of a small step are few, however long the
/// document is.
#[test]
fn a_snapshot_costs_what_changed() {
    let step = |before: usize| {
        let mut mender = Mender::new(MendOptions::new());
        let mut partial = Partial::new();
        let input = records(before);
        mender.push(&input[..input.len() - 3], &mut partial);
        mender.push(b"{\"last\": \"te", &mut partial);
        let seen = partial.revision();
        mender.push(b"xt\", \"more\": [1, 2", &mut partial);
        let mut deltas = 0;
        let heap = heap_of(|| {
            deltas = partial.since(&seen).filter(|delta| delta.op() != DeltaOp::AddNull).count();
            let root = partial.root().unwrap();
            assert_eq!(root.len(), before + 1);
            assert!(partial.open().is_some());
            assert_eq!(root.last().unwrap().member("last").unwrap().as_str(), Some("text"));
        });
        assert_eq!(heap.count, 0);
        deltas
    };
    // The text grows and closes, the array appears, and its first item.
    assert_eq!(step(1), 4);
    assert_eq!(step(5_000), 4);
}

/// Values of any depth are cloned, compared, printed and dropped on a small stack.
#[test]
fn nothing_is_recursive() {
    let work = || {
        const LEVELS: usize = 100_000;
        let limits = Limits::new().with_depth(LEVELS);
        let mut mender = Mender::new(MendOptions::new().with_limits(limits));
        let mut partial = Partial::new();
        let input = "[{\"a\":".repeat(LEVELS / 2);
        mender.push(input.as_bytes(), &mut partial);
        let mut copy = OwnedValue::new();
        let mut seen = Revision::default();
        mender.push(b"1", &mut partial);
        for (at, delta) in partial.since(&seen).enumerate() {
            // A path is as long as its level is deep, so all of them would be quadratic.
            if at % 10_000 == 0 {
                assert_eq!(delta.path().steps().len(), at);
                assert!(!delta.to_string().is_empty());
            }
        }
        seen = partial.revision();
        mender.finish(&mut partial);
        let owned = partial.to_owned_value();
        assert_eq!(owned, owned.clone());
        assert_ne!(owned, copy);
        assert!(format!("{owned:?}{partial:?}{:?}", owned.root()).len() > 3 * input.len());
        assert_eq!(partial.since(&seen).count(), LEVELS + 1);
        assert!(owned.root().unwrap().to_value().is_err());
        copy.clone_from(&owned);
        assert_eq!(copy.root(), owned.root());
    };
    let thread = std::thread::Builder::new().stack_size(192 * 1024).spawn(work).unwrap();
    assert!(thread.join().is_ok());
}

/// What an extractor keeps of text without JSON does not grow with it, and what it takes meanwhile is
/// no copy of its chunks.
#[test]
fn text_without_a_document_takes_almost_no_memory() {
    let prose = "There is nothing here but words, [links](http://x) and {names}. ".repeat(160);
    for scope in [Scope::All, Scope::First, Scope::Whole, Scope::Fenced] {
        for size in [1, 7, 100, 4096, prose.len()] {
            let mut kept = None;
            let heap = heap_of(|| {
                let mut extractor = Finder::new(scope, MendOptions::new());
                prose.as_bytes().chunks(size).for_each(|chunk| extractor.push(chunk, &mut Nothing));
                kept = Some(extractor);
            });
            assert!(heap.live <= 128, "{scope:?} in pieces of {size}: {heap:?}");
            assert!(heap.peak <= 512, "{scope:?} in pieces of {size}: {heap:?}");
            drop(kept);
        }
    }
    assert!(size_of::<Finder>() <= 768, "{}", size_of::<Finder>());
}
