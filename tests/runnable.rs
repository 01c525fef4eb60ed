//! No client runs more of a call, or reads more of a text that is JSON, through a rewriter than without it.
//!
//! `WIREMEND_RECORDINGS=DIR` adds every file under a folder of recorded bodies.

use std::path::Path;

use wiremend_core::{MendOptions, Policy};
use wiremend_testkit::{
    Seed,
    bodies::{Places, Shape},
    damage::Damage,
    laws::wire::never_more_runnable,
};
use wiremend_wire::{RewriteOptions, WireOptions};

/// Under each policy, with content that is text, and with content that is JSON.
fn options() -> impl Iterator<Item = RewriteOptions> {
    let policies = [Policy::CONSERVATIVE, Policy::PERMISSIVE, Policy::STRICT];
    policies.into_iter().flat_map(|policy| {
        let wire = WireOptions::new().with_mending(MendOptions::new().with_policy(policy));
        [false, true]
            .map(|json| RewriteOptions::new().with_wire(wire.clone()).with_json_content(json))
    })
}

fn check(name: &str, body: &[u8], most: usize) {
    for options in options() {
        never_more_runnable(body, &options, most, &mut Seed::of(body))
            .unwrap_or_else(|violation| panic!("{name}: {violation}"));
    }
}

/// A body of each shape: broken, cut, sent twice, in halves, and under a finish that is none.
#[test]
fn a_body_of_each_shape_says_no_more_at_any_byte() {
    let calls: [&[&[&str]]; 8] = [
        &[&["{'cmd': 'rm -rf /data", "/old'}"]],
        &[&["{\"cmd\": \"rm -rf /data", "/old'}"]],
        &[&["{\"a\"", ": 1,", "}"], &["{}"], &["{\"b\": [1, ", "{'c': NaN}", "]}"]],
        &[&["{'a': ", "True, ", "}"], &["[1", "2]"]],
        &[&["{}", "{'a': 1}"], &["{\"b\": ", "tru"]],
        &[&["{'a'", "{'a': 1", "{'a': 1, 'b': 2}"]],
        &[&["`", "``json\n{\"a\": ", "1}\n```"]],
        &[&["{\"a\": 1}", ", \"b\": 2", "}"]],
    ];
    for shape in Shape::IN_PIECES {
        for (number, calls) in calls.iter().enumerate() {
            for text in [&["so ", "far"][..], &["{'a': [1, ", "2]", "}"], &["{\"a\": [1, ", "2"]] {
                let body = shape.body(text, calls);
                check(&format!("{shape:?} {number}"), &body, 60);
                let end = String::from_utf8_lossy(&body).replace("tool_calls\"", "length\"");
                check(&format!("{shape:?} {number}, cut"), end.as_bytes(), 20);
            }
        }
    }
}

#[test]
fn no_byte_of_a_stream_says_more() {
    for shape in [Shape::Anthropic, Shape::Chat, Shape::Responses, Shape::ChatLines] {
        for calls in
            [&["{\"a\": [\"x", "\", 'y'", ", True]", ",}"][..], &["{\"a\": {", "'b': \"", "c"]]
        {
            check(&format!("{shape:?}"), &shape.body(&["{'a'", ": 1}"], &[calls]), usize::MAX);
        }
    }
}

/// The bodies in the repository, those of the fuzzer, and recorded ones, as they are and damaged.
#[test]
fn recorded_bodies_say_no_more() {
    let root = wiremend_tests::root();
    let recordings = std::env::var_os("WIREMEND_RECORDINGS");
    let mut folders = vec![(root.join("examples/streams"), 0), (root.join("fuzz/streams"), 1)];
    folders.extend(recordings.map(|folder| (folder.into(), 0)));
    for (folder, skip) in folders {
        for path in files(&folder) {
            let body = std::fs::read(&path).unwrap();
            let body = &body[skip.min(body.len())..];
            let name = path.display().to_string();
            let most = (200_000 / body.len().max(1)).clamp(2, 40);
            check(&name, body, most);
            let places = Places::of_arguments(body);
            for (number, text) in places.texts().enumerate().take(2) {
                let mut seed = Seed::of(text.as_bytes());
                for way in
                    Damage::ALL.into_iter().filter(|_| seed.below(6) == 0).collect::<Vec<_>>()
                {
                    if let Some(broken) = way.apply(text.as_bytes(), &mut seed) {
                        let body = places.replaced(number, &broken);
                        check(&format!("{name}, {way}"), &body, most.min(6));
                    }
                }
            }
        }
    }
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
