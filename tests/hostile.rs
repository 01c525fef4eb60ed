//! Inputs that are made to use up time, stack or memory: each ends in a typed outcome, on a small
//! stack, with memory that the limits bound.

use std::{collections::HashSet, sync::Arc};

use wiremend_core::{Limits, MendOptions, Mender, Outcome, TrailingDocuments, coverage, mend};
use wiremend_extract::{Finder, Scope, find};
use wiremend_testkit::{
    adversary::{self, Hostile},
    allocations::heap_of,
    cuts::Cut,
    extracted::Found,
    guides::Outline,
    laws,
    run::Recorder,
};

const MEGABYTE: usize = 1 << 20;

/// Far less than one stack frame per level would take, at 100,000 levels.
const STACK: usize = 192 * 1024;

/// Runs `work` on a thread with a small stack.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap();
    assert!(thread.join().is_ok());
}

/// Uses everything that the push path offers, in chunks of `size` bytes; returns the outcome.
fn push_all(input: &[u8], size: usize, options: &MendOptions) -> Outcome {
    let mut mender = Mender::new(options.clone());
    for chunk in input.chunks(size) {
        mender.push(chunk, &mut ());
    }
    let completion = mender.completion().map(|completion| completion.to_string());
    drop((completion, mender.path().to_string(), format!("{mender:?}"), mender.clone()));
    mender.finish(&mut ())
}

/// The named inputs of ten megabytes.
fn ten_megabytes() -> Vec<Hostile> {
    let wanted = ["open brackets", "open braces", "unmatched quotes", "backslashes"];
    let all = adversary::hostile(10 * MEGABYTE);
    let picked: Vec<_> = all.into_iter().filter(|h| wanted.contains(&h.name)).collect();
    assert_eq!(picked.len(), wanted.len());
    picked
}

#[test]
fn ten_megabytes_end_whole_and_byte_by_byte() {
    on_a_small_stack(|| {
        for hostile in ten_megabytes() {
            let whole = push_all(&hostile.input, hostile.input.len(), &MendOptions::new());
            let bytes = push_all(&hostile.input, 1, &MendOptions::new());
            assert_eq!(whole, bytes, "{}", hostile.name);
            drop(mend(&hostile.input, &MendOptions::new()));
        }
    });
}

#[test]
fn ten_megabytes_of_one_string_are_a_string() {
    let input = adversary::long_string(10 * MEGABYTE);
    for size in [1, 4096, input.len()] {
        assert_eq!(push_all(&input, size, &MendOptions::new()), Outcome::Unchanged);
    }
    let mended = mend(&input, &MendOptions::new());
    assert_eq!(mended.text().map(str::as_bytes), Some(&input[..]));
}

#[test]
fn a_hundred_thousand_levels_overflow_or_close() {
    on_a_small_stack(|| {
        let input = adversary::nested(100_000);
        for size in [1, 4096, input.len()] {
            assert_eq!(push_all(&input, size, &MendOptions::new()), Outcome::Overflow);
        }
        assert_eq!(mend(&input, &MendOptions::new()).outcome(), Outcome::Overflow);
        let deep = MendOptions::new().with_limits(Limits::new().with_depth(200_000));
        for size in [4096, input.len()] {
            assert_eq!(push_all(&input, size, &deep), Outcome::Closed);
        }
        assert_eq!(mend(&input, &deep).outcome(), Outcome::Closed);
    });
}

#[test]
fn every_pattern_ends_the_same_whole_and_byte_by_byte() {
    ends_the_same([0b1000_0000, 0b1000_0001]);
}

/// With a small window.
#[test]
fn every_pattern_ends_the_same_whole_and_byte_by_byte_in_a_small_window() {
    ends_the_same([0b0100_0000, 0b0100_0001]);
}

/// With these options: of each pair, the second has a guide that makes no sense.
fn ends_the_same(options: [u8; 2]) {
    on_a_small_stack(move || {
        let mut wrong = Vec::new();
        for Hostile { name, input, .. } in adversary::hostile(100_000) {
            for options in options.map(wiremend_testkit::fuzz::options) {
                let [whole, bytes] = [Cut::whole(), Cut::bytes(input.len())].map(|cut| {
                    let mut mender = Mender::new(options.clone());
                    let mut out = Recorder::default();
                    for chunk in cut.chunks(&input) {
                        mender.push(chunk, &mut out);
                        // What was read and is withheld, and the look-ahead after it.
                        let limits = options.limits();
                        if mender.withheld() > limits.buffer() + limits.lookahead() {
                            wrong.push(format!("{name}: {} bytes withheld", mender.withheld()));
                            break;
                        }
                    }
                    (mender.finish(&mut out), out)
                });
                if whole.0 != bytes.0 {
                    wrong.push(format!("{name}: {} whole, {} byte by byte", whole.0, bytes.0));
                } else if whole.1 != bytes.1 {
                    wrong.push(format!("{name}: text or repairs differ, {}", whole.0));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    });
}

#[test]
fn every_pattern_ends_in_the_whole_text_path() {
    on_a_small_stack(|| {
        for Hostile { name, input, .. } in adversary::hostile(200_000) {
            let mended = mend(&input, &MendOptions::new());
            assert_eq!(mended.text().is_some(), mended.outcome().is_valid(), "{name}");
        }
    });
}

#[test]
fn every_pattern_ends_in_the_extractor() {
    on_a_small_stack(|| {
        let mut wrong = Vec::new();
        for Hostile { name, input, .. } in adversary::hostile(100_000) {
            let [whole, bytes] = [input.len(), 1].map(|size| {
                let mut extractor = Finder::new(Scope::All, MendOptions::new());
                let mut found = Found::default();
                for chunk in input.chunks(size) {
                    extractor.push(chunk, &mut found);
                }
                (extractor.finish(&mut found), found)
            });
            if whole != bytes {
                wrong.push(format!("{name}: {} whole, {} byte by byte", whole.0, bytes.0));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    });
}

/// Twice the input takes no more memory: what is kept depends on the limits alone.
#[test]
fn the_memory_of_the_push_path_depends_on_the_limits() {
    let options = MendOptions::new();
    let mut wrong = Vec::new();
    let limits = options.limits();
    // What is withheld, and the repairs in it and in the piece that is read: one for each byte, and
    // more room than that as the list grows.
    let repairs = 3 * (limits.buffer() + (16 << 10)) * size_of::<wiremend_core::Repair>();
    let most = (16 * limits.buffer() + repairs) as u64;
    for Hostile { name, input, .. } in adversary::hostile(MEGABYTE) {
        for size in [1024, input.len()] {
            let mut mender = Mender::new(options.clone());
            let heap = heap_of(|| {
                for chunk in input.chunks(size) {
                    mender.push(chunk, &mut ());
                }
                mender.finish(&mut ());
            });
            // One chunk may be kept together with what was withheld before it.
            let most = most + if size == 1024 { 0 } else { 4 * input.len() as u64 };
            if heap.peak > most {
                wrong.push(format!("{name} in chunks of {size}: {heap:?}, at most {most}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What small documents cost, many of them in one text: a fixed multiple of the text, however they
/// are separated and whether or not they are kept.
#[test]
fn many_documents_take_a_small_multiple_of_their_text() {
    const SIZE: usize = 400_000;
    let units = [
        "{} ",
        "1\n",
        "[1]",
        "\"a\"\n",
        "{\"a\":1}\n",
        "[1];",
        "{},",
        "`{}` ",
        "```json\n{}\n```\n",
        "```json\n[1]\n```\n",
        "```json\n{\"a\":1}\n```\n",
        "a {\"b\":1} c\n",
        "see: {\"b\":1}\n\nthen ",
        "<think>a</think>{\"a\":1}\n",
        "<tool_call>{\"a\":1}</tool_call>\n",
        "{'a':1}\n",
    ];
    // The number of documents and of repairs that any text may hold takes memory of its own.
    let base = MendOptions::new().with_limits(Limits::new().with_documents(10_000).with_report(0));
    let array = base.clone().with_trailing_documents(TrailingDocuments::Array);
    let all = base.clone().with_trailing_documents(TrailingDocuments::All);
    let mut wrong = Vec::new();
    for unit in units {
        let input = unit.repeat(SIZE / unit.len());
        for options in [&array, &all, &base] {
            let heap = heap_of(|| drop(find(input.as_bytes(), Scope::Best, options)));
            // A list that grows has up to twice the room it needs, and moves into that.
            if heap.peak > 24 * SIZE as u64 {
                wrong.push(format!("{unit:?}: {} times the text", heap.peak / SIZE as u64));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn short_documents_beyond_the_limit_are_an_overflow() {
    let limits = Limits::new().with_documents(100);
    let options =
        MendOptions::new().with_limits(limits).with_trailing_documents(TrailingDocuments::Array);
    let joined = |unit: &str, count: usize| {
        find(unit.repeat(count).as_bytes(), Scope::Best, &options).outcome()
    };
    assert_eq!(joined("[1]\n", 100), Outcome::Repaired);
    assert_eq!(joined("[1]\n", 101), Outcome::Overflow);
    // Long ones may be as many as fit.
    assert_eq!(joined("[\"sixteen bytes\"]\n", 5_000), Outcome::Repaired);
}

/// Clean text is emitted as slices of the caller's chunk, so allocations do not grow with it.
#[test]
fn clean_text_is_not_copied() {
    let item = br#"{"name": "Ada Lovelace", "born": 1815, "tags": ["x", "y"], "ok": true}, "#;
    let heap = |items: usize| {
        let input = [&b"["[..], &item.repeat(items), b"0]"].concat();
        let mut mender = Mender::new(MendOptions::new());
        heap_of(|| {
            for chunk in input.chunks(4096) {
                mender.push(chunk, &mut ());
            }
            assert_eq!(mender.finish(&mut ()), Outcome::Unchanged);
        })
    };
    let (short, long) = (heap(1_000), heap(10_000));
    assert!(long.peak <= short.peak + 4096, "{short:?} {long:?}");
    assert!(long.peak <= 16 * 1024, "{long:?}");
}

/// L6: twice the input takes twice the work, counted in steps and bytes and not in time; in single
/// bytes, in pieces of 8 and of 4,096 bytes, and whole.
#[test]
fn twice_the_input_is_twice_the_work() {
    let (half, full) = (adversary::hostile(10_000), adversary::hostile(20_000));
    let names: HashSet<&str> = full.iter().map(|hostile| hostile.name).collect();
    assert!(names.len() >= 30 && names.len() == full.len(), "{} kinds", names.len());
    let mut wrong = Vec::new();
    // By default, with a small window, and with a guide that is asked at every doubt.
    let outline =
        serde_json::json!({"a": "string", "b": "number", "k": {"a": "number"}, "*": "none"});
    let guided = MendOptions::new().with_guide(Arc::new(Outline::new(outline)));
    for options in [MendOptions::new(), wiremend_testkit::fuzz::options(0b0100_0000), guided] {
        for (half, full) in half.iter().zip(&full) {
            if let Err(violation) = laws::doubling(&half.input, &full.input, &options) {
                wrong.push(format!("{}: {}", full.name, violation.what()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same for the whole-text path, which never turns to the other reading.
#[test]
fn twice_the_input_is_twice_the_work_in_the_whole_text_path() {
    let (half, full) = (adversary::hostile(10_000), adversary::hostile(20_000));
    let odd = adversary::hostile(10_004);
    let limits = Limits::new().with_report(usize::MAX).with_depth(1_000);
    let mut wrong = Vec::new();
    for trailing in [TrailingDocuments::First, TrailingDocuments::Array] {
        let options = MendOptions::new().with_limits(limits).with_trailing_documents(trailing);
        for (half, full) in half.iter().zip(&full) {
            let [mut once, twice] = [half, full].map(|it| coverage::steps(&it.input, &options));
            if twice > 2 * once {
                // With one piece more, every other quote may open a string instead of ending one.
                let odd = odd.iter().find(|odd| odd.name == half.name);
                once = once.max(odd.map_or(0, |odd| coverage::steps(&odd.input, &options)));
            }
            // What is known only at the end of the input is not yet known in half of it.
            if twice > 2 * once + once / 4 + 4_000 {
                wrong.push(format!("{}: {once} steps, then {twice}", full.name));
            }
            // The window is wider than that of the push path.
            let most = 4 * laws::STEPS_PER_BYTE * full.input.len() as u64;
            if twice > most {
                wrong.push(format!("{}: {twice} steps, at most {most}", full.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Paths are made when they are asked for, so that the keys of open objects are not kept for each
/// repair in them.
#[test]
fn repairs_under_a_long_key_do_not_copy_it() {
    let input = |key: usize| format!("{{\"{}\": [{}]}}", "k".repeat(key), "'a',".repeat(4_900));
    let peak = |key: usize| {
        let input = input(key);
        let heap = heap_of(|| {
            let mended = mend(input.as_bytes(), &MendOptions::new());
            assert_eq!(mended.outcome(), Outcome::Repaired);
            let mut located = mended.located(input.as_bytes());
            assert!(located.by_ref().last().is_some());
            let place = located.path().to_string();
            assert_eq!(place.len(), key + "$.[4899]".len());
        });
        heap.peak
    };
    // What is kept for each byte of a key is the text, in and out, and a few copies.
    let (short, long) = (peak(900), peak(30_000));
    assert!(long <= short + 16 * 30_000, "{short}, then {long}");
    for size in [1, 64] {
        assert_eq!(
            push_all(input(30_000).as_bytes(), size, &MendOptions::new()),
            Outcome::Repaired
        );
    }
}
