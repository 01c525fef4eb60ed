//! Calls of responses that were cut off, or that lost an event, are never complete.
//!
//! `JSONMEND_RECORDINGS=DIR` adds every file under a folder of recorded bodies.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::Path};

use jsonmend_core::{Options, Policy};
use jsonmend_testkit::{Seed, bodies::Shape, laws};
use jsonmend_wire::WireOptions;

fn options() -> [WireOptions; 2] {
    let permissive = Options::new().with_policy(Policy::PERMISSIVE);
    [WireOptions::new(), WireOptions::new().with_mending(permissive)]
}

/// The bodies in the repository, and those that the testkit makes.
fn bodies() -> Vec<(String, Vec<u8>)> {
    let mut bodies = Vec::new();
    let calls: [&[&[&str]]; 7] = [
        &[&["{\"cmd\": \"rm -rf /data", "/old\"}"]],
        &[&["{\"a\"", ": 1}"], &["{}"], &["{\"b\": [1, ", "{\"c\": 2}", "]}"]],
        &[&["{'a': ", "True, ", "}"], &["[1", "2]"]],
        &[&["{}", "{\"a\": 1}"]],
        &[&["{\"a\"", "{\"a\": 1", "{\"a\": 1, \"b\": 2}"]],
        &[&["`", "``json\n{\"a\": ", "1}\n```"]],
        &[&["", ""], &["{", "}"]],
    ];
    for shape in Shape::IN_PIECES {
        for (number, calls) in calls.iter().enumerate() {
            let body = shape.body(&["Let me ", "see."], calls);
            bodies.push((format!("{shape:?} {number}"), body));
        }
    }
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/streams"), &mut bodies);
    bodies
}

fn add(folder: &Path, bodies: &mut Vec<(String, Vec<u8>)>) {
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add(&path, bodies);
        } else if path.extension().is_none_or(|name| name != "md") {
            bodies.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

#[test]
fn no_call_that_was_cut_off_is_complete() {
    let mut seed = Seed::new(17);
    for (name, body) in bodies() {
        for options in options() {
            laws::cut_calls(&body, &options, &mut seed)
                .unwrap_or_else(|violation| panic!("{name}: {violation}"));
        }
    }
}

#[test]
fn no_call_that_lost_an_event_is_complete() {
    let mut seed = Seed::new(19);
    for (name, body) in bodies() {
        for options in options() {
            laws::lost_events(&body, &options, &mut seed)
                .unwrap_or_else(|violation| panic!("{name}: {violation}"));
        }
    }
}

#[test]
fn recordings_keep_the_laws_of_calls() {
    let Some(folder) = std::env::var_os("JSONMEND_RECORDINGS") else { return };
    let mut bodies = Vec::new();
    add(Path::new(&folder), &mut bodies);
    assert!(!bodies.is_empty(), "no recordings in {}", folder.display());
    let (mut seed, mut broken) = (Seed::new(18), 0);
    for (name, body) in bodies {
        let options = WireOptions::new();
        let laws = [
            laws::cut_calls(&body, &options, &mut seed),
            laws::lost_events(&body, &options, &mut seed),
        ];
        for violation in laws.into_iter().filter_map(Result::err) {
            broken += 1;
            println!("{name}: {}: {}", violation.law(), violation.what());
        }
    }
    assert_eq!(broken, 0);
}
