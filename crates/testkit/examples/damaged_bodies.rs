//! Bodies of responses whose arguments are broken, for the tests of other readers: one JSON record a line.
//!
//! ```text
//! cargo run -p wiremend-testkit --example damaged_bodies -- FOLDER…
//! ```
//!
//! Every call of every body below the folders is broken in some ways, in turn. A record has the `body`, each byte of it as
//! the character of that number, the arguments that were `meant`, the `way`, and each call of the damaged body as the
//! reader finds it: its name, and its arguments if it is complete.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde_json::json;
use wiremend_testkit::{Seed, bodies::Places, damage::Damage, oracle};
use wiremend_wire::{WireOptions, transcribe};

/// In how many ways each call is broken.
const WAYS: usize = 3;

/// Longer bodies take longer than they tell.
const LONGEST: usize = 200_000;

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut ways = Damage::ALL.into_iter().cycle();
    for folder in env::args_os().skip(1) {
        for path in files(Path::new(&folder))? {
            let body = fs::read(&path)?;
            if body.len() <= LONGEST {
                write(&mut out, &path, &body, &mut ways)?;
            }
        }
    }
    out.flush()
}

fn write(
    out: &mut impl io::Write,
    path: &Path,
    body: &[u8],
    ways: &mut impl Iterator<Item = Damage>,
) -> io::Result<()> {
    let places = Places::of_arguments(body);
    for (number, meant) in places.texts().enumerate() {
        // Some were cut off before.
        if !oracle::is_json(meant.as_bytes()) {
            continue;
        }
        for way in ways.by_ref().take(WAYS) {
            let Some(broken) = way.apply(meant.as_bytes(), &mut Seed::new(number as u64)) else {
                continue;
            };
            let damaged = places.replaced(number, &broken);
            let said = transcribe(&damaged, WireOptions::new());
            let calls = said.calls().into_iter().map(|call| {
                json!([call.name(), call.outcome().is_complete().then(|| call.arguments())])
            });
            let record = json!({
                "name": path.file_name().map(|name| name.to_string_lossy()),
                "way": way.to_string(),
                "meant": meant,
                "body": damaged.iter().map(|byte| char::from(*byte)).collect::<String>(),
                "calls": calls.collect::<Vec<_>>(),
            });
            writeln!(out, "{record}")?;
        }
    }
    Ok(())
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}
