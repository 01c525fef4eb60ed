//! Calls of responses that were cut off, or that lost an event, are never complete, and neither are the objects
//! in their texts.
//!
//! `WIREMEND_RECORDINGS=DIR` adds every file under a folder of recorded bodies.

use std::{fs, path::Path};

use wiremend_core::{MendOptions, Policy};
use wiremend_extract::Scope;
use wiremend_response::{Object, Response, ResponseOptions};
use wiremend_testkit::{Seed, bodies::Shape, laws, transport::Events};
use wiremend_wire::{WireLimits, WireOptions};

fn options() -> [WireOptions; 2] {
    let permissive = MendOptions::new().with_policy(Policy::PERMISSIVE);
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
fn nothing_at_the_place_of_a_call_goes_unread() {
    let mut seed = Seed::new(23);
    let calls: &[&[&str]] = &[&["{\"n\": 1", "000", "}"], &["{\"a\": \"x\"}"]];
    for shape in Shape::ALL {
        let body = shape.body(&["so ", "far"], calls);
        laws::unread_members(&body, &WireOptions::new(), &mut seed)
            .unwrap_or_else(|violation| panic!("{shape:?}: {violation}"));
    }
}

/// Responses with objects in their texts, in every format, in pieces that leave an object where one of them is
/// lost.
fn texts() -> Vec<(String, Vec<u8>)> {
    let texts: [&[&str]; 6] = [
        &["[1, ", "2, ", "3]"],
        &[
            "Sure:\n```json\n{\"a\": {\"b\"",
            ": [1, {\"c\"",
            ": 2}, ",
            "{\"d\": 3}]}, ",
            "\"e\": 4}\n```",
        ],
        &["{\"a\": ", "{\"b\": ", "{\"c\": 1", "}}}"],
        &["{'a': ", "True, ", "'b': 'x", " y'", ", }"],
        &["One: {\"a\": 1}. Two: ", "{\"b\": ", "[2]}. ", "Three: ", "[3, ", "4]"],
        &["{\"a\": \"see ", "{\\\"b\\\": 1}\", ", "\"c\": [[1], ", "[2]]}"],
    ];
    let mut bodies = Vec::new();
    // What Replicate writes is plain text, so that damage leaves no trace.
    for shape in Shape::ALL.into_iter().filter(|shape| *shape != Shape::Replicate) {
        for (number, text) in texts.iter().enumerate() {
            bodies.push((format!("{shape} {number}"), shape.body(text, &[])));
        }
    }
    bodies
}

fn objects(body: &[u8], limits: WireLimits, scope: Scope, mending: &MendOptions) -> Response {
    let options = ResponseOptions::new().with_wire(WireOptions::new().with_limits(limits));
    Response::read(body, options.with_mending(mending.clone()).with_objects(scope))
}

fn ends(response: &Response) -> Vec<(String, bool)> {
    let end = |object: &Object| {
        (object.json().unwrap_or_default().to_owned(), object.outcome().is_complete())
    };
    response.objects().iter().map(end).collect()
}

/// The ways in which a body breaks the law of [`laws::lost_objects`], damaged in every way, or without one of its
/// events where that is noticed.
fn broken_objects(
    body: &[u8],
    (policies, scopes): (&[Policy], &[Scope]),
    seed: &mut Seed,
) -> Vec<String> {
    let mut broken = Vec::new();
    for &policy in policies {
        let mending = MendOptions::new().with_policy(policy);
        for &scope in scopes {
            let read = |body: &[u8], limits| ends(&objects(body, limits, scope, &mending));
            if let Err(violation) = laws::lost_objects(body, (&read, WireLimits::new()), seed) {
                broken.push(violation.what().to_owned());
            }
            let known = read(body, WireLimits::new());
            let events = Events::of(body);
            for lost in 0..events.len() {
                let rest: Vec<usize> = (0..events.len()).filter(|event| *event != lost).collect();
                let response = objects(&events.body_of(&rest), WireLimits::new(), scope, &mending);
                let left = ends(&response);
                let is_new = |end: &&(String, bool)| end.1 && !known.contains(end);
                if let (Some(_), Some(new)) = (response.lost(), left.iter().find(is_new)) {
                    broken.push(format!("event {lost} is lost: {} is complete", new.0));
                }
            }
        }
    }
    broken
}

#[test]
fn no_object_that_lost_an_event_is_complete() {
    let mut seed = Seed::new(20);
    let mut failures = 0;
    for (name, body) in texts() {
        let policies = [Policy::PERMISSIVE, Policy::CONSERVATIVE];
        let scopes = [Scope::All, Scope::First, Scope::Whole];
        for what in broken_objects(&body, (&policies, &scopes), &mut seed) {
            println!("{name}: {what}");
            failures += 1;
        }
    }
    assert_eq!(failures, 0);
}

#[test]
fn recordings_keep_the_laws_of_calls() {
    let Some(folder) = std::env::var_os("WIREMEND_RECORDINGS") else { return };
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
        // Most recordings hold no JSON in their texts.
        let found = objects(&body, WireLimits::new(), Scope::All, &MendOptions::new());
        let scopes: &[Scope] = if found.objects().is_empty() { &[] } else { &[Scope::All] };
        for what in broken_objects(&body, (&[Policy::PERMISSIVE], scopes), &mut seed) {
            broken += 1;
            println!("{name}: {what}");
        }
    }
    assert_eq!(broken, 0);
}
