//! How fast mending is, compared with `serde_json` skipping a valid text of the same kind.
//!
//! In this folder, `cargo bench --bench ratios -- --list` names the tables; names after `--`
//! select some of them.

mod ours;
mod peers;
mod tables;

use wiremend_benches::measure::{Budget, Timed};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let tables = tables::all();
    if has("--list") {
        for table in &tables {
            println!("{:18} {}", table.name, table.about);
        }
        return;
    }
    let wanted: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    let unknown = wanted.iter().find(|name| !tables.iter().any(|table| table.name == ***name));
    if let Some(unknown) = unknown {
        eprintln!("no table `{unknown}`; --list names them");
        std::process::exit(2);
    }
    // `cargo test` runs benchmarks, too. One round of a small input is enough to check that they run.
    let (budget, size) =
        if has("--bench") { (Budget::FULL, usize::MAX) } else { (Budget::ONCE, 2048) };
    println!("speed as a multiple of serde_json IgnoredAny in the same run: more is faster");
    for table in &tables {
        if wanted.is_empty() || wanted.contains(&&table.name) {
            println!("\n{}: {}", table.name, table.about);
            print(&table.measure(budget, size));
        }
    }
}

fn print(timed: &[Timed]) {
    let Some(baseline) = timed.first() else { return };
    println!("  {:30} {:>8} {:>10} {:>9} {:>9}", "", "speed", "1 / speed", "MB/s", "KiB");
    for row in timed {
        let speed = row.bytes as f64 / baseline.bytes as f64 / row.cost;
        let (rate, size) = (row.rate() / 1e6, row.bytes as f64 / 1024.0);
        println!("  {:30} {speed:8.3} {:10.2} {rate:9.0} {size:9.0}", row.name, 1.0 / speed);
    }
}
