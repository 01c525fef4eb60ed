//! Rewriting whole bodies. `JSONMEND_RECORDINGS` may name a folder of recorded bodies; those in the
//! tests are always run.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use jsonmend_testkit::{
    Seed,
    cuts::{self, Cut},
};
use jsonmend_wire::{RewriteMode, RewriteOptions, RewriteOutcome, Rewriter, Rewritten};

/// The bytes that come out, and the outcome.
fn rewrite(options: RewriteOptions, body: &[u8], cut: &Cut) -> (Vec<u8>, RewriteOutcome) {
    let mut rewriter = Rewriter::new(options);
    let mut out = Vec::new();
    let mut take = |piece: Rewritten<'_>| {
        if let Rewritten::Bytes(bytes) = piece {
            out.extend_from_slice(bytes);
        }
    };
    for chunk in cut.chunks(body) {
        rewriter.push(chunk, &mut take);
    }
    let outcome = rewriter.finish(&mut take);
    (out, outcome)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
    found.sort();
}

#[test]
fn recordings_leave_as_they_came() {
    let Some(folder) = std::env::var_os("JSONMEND_RECORDINGS") else { return };
    let mut paths = Vec::new();
    files(Path::new(&folder), &mut paths);
    assert!(!paths.is_empty());
    let mut changed = Vec::new();
    for path in &paths {
        let body = fs::read(path).unwrap();
        let mut seed = Seed::of(&body);
        let all = cuts::few(body.len(), &mut seed);
        for mode in [RewriteMode::Append, RewriteMode::Validated] {
            for json in [false, true] {
                let options = RewriteOptions::new().with_mode(mode).with_json_content(json);
                for cut in &all {
                    let (out, outcome) = rewrite(options, &body, cut);
                    if out != body || outcome != RewriteOutcome::Unchanged {
                        changed.push((path.display().to_string(), mode, json, outcome));
                        break;
                    }
                }
            }
        }
    }
    assert!(changed.is_empty(), "{} of {}: {changed:#?}", changed.len(), paths.len());
}
