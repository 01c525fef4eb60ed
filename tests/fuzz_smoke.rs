//! The fuzz bodies on their seeds, on a bounded number of mutations, and on every input that failed
//! while fuzzing. It needs no fuzzer.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::Path};

use wiremend_testkit::{Seed, adversary, fuzz};

/// Mutations per body. `WIREMEND_FUZZ_ITERATIONS` sets another number.
const ITERATIONS: usize = 1500;

fn iterations() -> usize {
    let asked = std::env::var("WIREMEND_FUZZ_ITERATIONS").ok();
    asked.and_then(|number| number.parse().ok()).unwrap_or(ITERATIONS)
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// The tokens of a libFuzzer dictionary: one quoted string per line, with the escapes `\xNN`, `\"` and `\\`.
fn dictionary(text: &str) -> Vec<Vec<u8>> {
    text.lines().filter(|line| line.starts_with('"')).map(token).collect()
}

fn token(line: &str) -> Vec<u8> {
    let inside = line.trim().trim_start_matches('"');
    let inside = inside.strip_suffix('"').unwrap_or(inside).as_bytes();
    let mut out = Vec::new();
    let mut rest = inside;
    while let Some((&byte, tail)) = rest.split_first() {
        match (byte, tail) {
            (b'\\', [b'x', high, low, tail @ ..]) => {
                let digits = [*high, *low];
                out.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
                rest = tail;
            }
            (b'\\', [next, tail @ ..]) => {
                out.push(*next);
                rest = tail;
            }
            _ => {
                out.push(byte);
                rest = tail;
            }
        }
    }
    out
}

#[test]
fn bodies_hold_on_seeds_and_mutations() {
    let fuzz_folder = wiremend_tests::root().join("fuzz");
    let starting = |folder: &str, least: usize| {
        let seeds = files(&fuzz_folder.join(folder));
        assert!(seeds.len() >= least);
        seeds
    };
    let tokens = |file: &str, least: usize| {
        let dictionary = dictionary(&fs::read_to_string(fuzz_folder.join(file)).unwrap());
        assert!(dictionary.len() >= least);
        dictionary
    };
    let texts = (starting("seeds", 10), tokens("json.dict", 40));
    let streams = (starting("streams", 8), tokens("streams.dict", 25));
    for (name, body) in fuzz::BODIES {
        let bodies = ["formats", "framing", "rewrite"].contains(name);
        let (seeds, dictionary) = if bodies { &streams } else { &texts };
        let mut seed = Seed::of(name.as_bytes());
        for (file, data) in seeds {
            body(data).unwrap_or_else(|violation| panic!("{name} on {file}: {violation}"));
        }
        for round in 0..iterations() {
            let (_, data) = seed.pick(seeds).unwrap();
            let (_, other) = seed.pick(seeds).unwrap();
            let data = adversary::mutated(data, other, dictionary, &mut seed);
            body(&data).unwrap_or_else(|violation| {
                panic!("{name}, round {round}, first byte {:?}: {violation}", data.first())
            });
        }
    }
}

#[test]
fn values_and_schemas_hold_on_seeds_and_mutations() {
    let fuzz_folder = wiremend_tests::root().join("fuzz");
    let seeds = files(&fuzz_folder.join("seeds/schema"));
    let dictionary = dictionary(&fs::read_to_string(fuzz_folder.join("json.dict")).unwrap());
    let mut seed = Seed::of(b"schema");
    for (file, data) in &seeds {
        fuzz::schema(data).unwrap_or_else(|violation| panic!("{file}: {violation}"));
    }
    for round in 0..iterations() {
        let (_, data) = seed.pick(&seeds).unwrap();
        let (_, other) = seed.pick(&seeds).unwrap();
        let data = adversary::mutated(data, other, &dictionary, &mut seed);
        fuzz::schema(&data).unwrap_or_else(|violation| {
            panic!("round {round}, first bytes {:?}: {violation}", data.get(..2));
        });
    }
}

#[test]
fn inputs_found_by_fuzzing_still_pass() {
    for (file, data) in files(&wiremend_tests::root().join("fuzz/regressions")) {
        if file.ends_with("README.md") {
            continue;
        }
        for (name, body) in fuzz::BODIES {
            body(&data).unwrap_or_else(|violation| panic!("{name} on {file}: {violation}"));
        }
    }
}

#[test]
fn the_dictionary_is_read() {
    assert_eq!(
        dictionary("# x\n\"a\\\"b\"\n\"\\xef\\\\\"\n"),
        [b"a\"b".to_vec(), b"\xef\\".to_vec()]
    );
}

#[test]
fn every_body_has_a_target() {
    let targets = wiremend_tests::root().join("fuzz/fuzz_targets");
    let names: Vec<String> = files(&targets).into_iter().map(|(name, _)| name).collect();
    for (name, _) in fuzz::BODIES {
        assert!(names.iter().any(|file| file.ends_with(&format!("{name}.rs"))), "{name}");
    }
    // The body of the gateway is in its crate.
    assert!(names.iter().any(|file| file.ends_with("request.rs")));
    assert_eq!(names.len(), fuzz::BODIES.len() + 1);
}
