//! Reads `{"input": TEXT}` a line with a tool that is a crate; writes `{"json": TEXT}` or `{}`: the part
//! of `benches/compare` that is Rust.

use std::io::{self, BufRead as _, Write as _};

use serde_json::{Value, json};

fn reader(name: &str) -> fn(&str) -> Option<String> {
    match name {
        "jsonfix" => |text| jsonfix::repair(text).ok().map(|repaired| repaired.to_string()),
        "jsonrepair" => {
            |text| jsonrepair::repair_to_string(text, &jsonrepair::Options::default()).ok()
        }
        _ => |text| jsonrepair_rs::jsonrepair(text).ok(),
    }
}

fn main() -> io::Result<()> {
    let read = reader(&std::env::args().nth(1).unwrap_or_default());
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let text = request["input"].as_str().unwrap_or_default();
        // A peer may panic on a text that it does not expect.
        let reply = match std::panic::catch_unwind(|| read(text)) {
            Ok(Some(json)) => json!({"json": json}),
            Ok(None) | Err(_) => json!({}),
        };
        writeln!(out, "{reply}")?;
        out.flush()?;
    }
    Ok(())
}
