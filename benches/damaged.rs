//! How many damaged documents wiremend and its peers mend right.
//!
//! `cargo bench --bench damaged` prints, for each kind of damage, how many of 100 samples come out with
//! the value of the document. A peer that panics has no answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wiremend_benches::apart::{Apart, answer};
use wiremend_core::Policy;
use wiremend_testkit::damaged::{Entry, Kind, Sample, Verdict, samples};

type Mend = fn(&str) -> Option<String>;

/// The peers that mend whole texts, through the function that each of them recommends.
const PEERS: [(&str, Mend); 3] = [
    ("jsonfix", |text| jsonfix::repair(text).ok().map(|mended| mended.to_string())),
    ("jsonrepair-rs", |text| jsonrepair_rs::jsonrepair(text).ok()),
    ("partial-json-fixer", |text| Some(partial_json_fixer::fix_json(text))),
];

/// One more, in a process of its own: on some texts with strings in backticks, it takes memory without
/// end.
const APART: &str = "jsonrepair";

fn jsonrepair(text: &str) -> Option<String> {
    jsonrepair::repair_to_string(text, &jsonrepair::Options::default()).ok()
}

fn main() {
    if answer(jsonrepair) {
        return;
    }
    let bench = std::env::args().any(|argument| argument == "--bench");
    // `cargo test` runs benchmarks, too.
    let samples = samples(2, if bench { 70 } else { 1 });
    std::panic::set_hook(Box::new(|_| {}));
    let mut names: Vec<&str> = Kind::all().map(Kind::name).collect();
    names.extend(["2 kinds at once", "3 kinds at once", "4 kinds at once"]);
    print!("{:26} {:>6} {:>8} {:>8}", "right, of 100", "all", "wiremend", "stream");
    PEERS.iter().for_each(|(name, _)| print!(" {name:>18}"));
    println!(" {APART:>18}");
    let mut apart = Apart::default();
    let mut total = Row::default();
    for name in names {
        let mut row = Row::default();
        samples
            .iter()
            .filter(|(of, _)| of == name)
            .for_each(|(_, sample)| row.add(sample, &mut apart));
        row.print(name);
        total.merge(&row);
    }
    total.print("all");
}

/// How many samples, and the right answers of each program.
#[derive(Default)]
struct Row {
    all: usize,
    right: [usize; 2 + PEERS.len() + 1],
}

impl Row {
    fn add(&mut self, sample: &Sample, apart: &mut Apart) {
        self.all += 1;
        let ours = [Entry::Text, Entry::Stream]
            .map(|entry| sample.ask(entry, Policy::PERMISSIVE).verdict == Verdict::Right);
        let theirs = PEERS.map(|(_, mend)| {
            let mended = catch_unwind(AssertUnwindSafe(|| mend(&sample.text)));
            mended.ok().flatten().is_some_and(|json| sample.has_value(json.as_bytes()))
        });
        let last = apart.mend(&sample.text).is_some_and(|json| sample.has_value(json.as_bytes()));
        let right = ours.into_iter().chain(theirs).chain([last]);
        self.right.iter_mut().zip(right).for_each(|(count, right)| *count += usize::from(right));
    }

    fn merge(&mut self, other: &Self) {
        self.all += other.all;
        self.right.iter_mut().zip(other.right).for_each(|(count, more)| *count += more);
    }

    fn print(&self, name: &str) {
        let per_cent = |count: usize| 100.0 * count as f64 / self.all.max(1) as f64;
        print!("{name:26} {:>6}", self.all);
        for (at, &count) in self.right.iter().enumerate() {
            let width = if at < 2 { 8 } else { 18 };
            print!(" {:>width$.1}", per_cent(count));
        }
        println!();
    }
}
