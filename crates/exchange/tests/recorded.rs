//! Recorded bodies, and those of the fuzzer: they leave the same however they are divided, and say what they said.
//!
//! `WIREMEND_RECORDINGS=DIR` adds every file under a folder of recorded bodies.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use wiremend_exchange::{Exchange, Exchanges, Mending, Mode};
use wiremend_testkit::cuts::Cut;
use wiremend_wire::{Rewritten, Transcript, WireOptions, transcribe};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn exchange(mode: Mode) -> Exchange {
    let exchanges = Exchanges::new(Mending::new().with_mode(mode));
    let request = exchanges.request("POST", "/v1/chat/completions", []).unwrap();
    request.read(b"{\"stream\": true}")
}

fn through(exchange: &Exchange, body: &[u8], cut: &Cut) -> (Vec<u8>, String) {
    // No type is said: the body says what it is.
    let mut answer = exchange.answer(200, []);
    let mut sent = Vec::new();
    let mut take = |piece: Rewritten<'_>| {
        if let Rewritten::Bytes(bytes) = piece {
            sent.extend_from_slice(bytes);
        }
    };
    cut.chunks(body).for_each(|chunk| answer.push(chunk, &mut take));
    answer.finish(&mut take);
    (sent, answer.into_account().to_json().to_string())
}

/// The text, how it ended, and each call with the arguments that a client may run.
fn said(body: &[u8]) -> (String, String, Vec<(String, Option<String>)>) {
    let transcript: Transcript = transcribe(body, WireOptions::new());
    let call = |call: &wiremend_wire::Call| {
        let arguments = call.outcome().is_complete().then(|| call.arguments().to_owned());
        (call.name().to_owned(), arguments)
    };
    let calls = transcript.calls().into_iter().map(call).collect();
    (transcript.text(), transcript.outcome().code().to_owned(), calls)
}

#[test]
fn recorded_bodies_say_what_they_said_however_they_are_divided() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![(root.join("examples/streams"), 0), (root.join("fuzz/streams"), 1)];
    folders.extend(env::var_os("WIREMEND_RECORDINGS").map(|folder| (folder.into(), 0)));
    let mut read = 0;
    for (folder, skip) in folders {
        for path in files(&folder) {
            let body = fs::read(&path).unwrap();
            let body = &body[skip.min(body.len())..];
            for mode in [Mode::Eager, Mode::Validated] {
                let exchange = exchange(mode);
                let whole = through(&exchange, body, &Cut::at(Vec::new()));
                let name = format!("{} {mode:?}", path.display());
                for cut in [Cut::bytes(body.len()), Cut::every(7, body.len()), Cut::special(body)] {
                    assert!(through(&exchange, body, &cut) == whole, "{name}");
                }
                assert_eq!(said(&whole.0), said(body), "{name}");
                read += 1;
            }
        }
    }
    assert!(read >= 40, "only {read} were read");
}
