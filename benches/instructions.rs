//! Instructions per byte on the hot paths, counted by callgrind. A busy machine does not change this
//! number, so a change of one percent is visible.
//!
//! In this folder, `cargo bench --bench instructions` counts every path; names after `--`, such
//! as `clean` or `string/8`, select some. Each path runs once, and three times, in a separate process
//! under valgrind, and half of the difference is the cost of one run.

use std::{hint::black_box, process::Command};

use jsonmend_benches::documents::{self, Document};
use jsonmend_core::{Mender, Options, Output, Partial};

/// How much of each document is read: enough for the caches to be warm, little enough for valgrind.
const SIZE: usize = 128 << 10;

/// The sizes of pieces; 0 is the whole document.
const PIECES: [usize; 5] = [0, 4096, 256, 8, 1];

/// An output that only receives slices.
#[derive(Default)]
struct Counted(usize);

impl Output for Counted {
    fn copy(&mut self, bytes: &[u8]) {
        self.0 += black_box(bytes).len();
    }
}

/// What is counted.
#[derive(Clone, Copy)]
enum Path {
    Push(usize),
    Snapshots,
}

impl Path {
    const ALL: [Self; 6] = [
        Self::Push(PIECES[0]),
        Self::Push(PIECES[1]),
        Self::Push(PIECES[2]),
        Self::Push(PIECES[3]),
        Self::Push(PIECES[4]),
        Self::Snapshots,
    ];

    fn name(self, document: &str) -> String {
        match self {
            Self::Push(0) => format!("{document}/whole"),
            Self::Push(size) => format!("{document}/{size}"),
            Self::Snapshots => format!("{document}/snapshots"),
        }
    }

    fn run(self, mender: &mut Mender, partial: &mut Partial, text: &[u8]) {
        mender.reset();
        match self {
            Self::Push(size) => {
                let mut out = Counted::default();
                let size = if size == 0 { text.len() } else { size };
                text.chunks(size).for_each(|chunk| mender.push(black_box(chunk), &mut out));
                mender.finish(&mut out);
            }
            Self::Snapshots => {
                partial.clear();
                for chunk in text.chunks(8) {
                    mender.push(black_box(chunk), partial);
                    black_box((partial.root().map(|root| root.is_open()), mender.completion()));
                }
                mender.finish(partial);
            }
        }
    }
}

/// Every path of every document.
fn paths() -> impl Iterator<Item = (Document, Path)> {
    documents::ALL.into_iter().flat_map(|document| Path::ALL.map(|path| (document, path)))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some([name, times]) = arguments.strip_prefix(&["--run".to_owned()][..]) {
        return run(name, times.parse().unwrap_or(1), SIZE);
    }
    let listed = arguments.iter().any(|argument| argument == "--list");
    let counts = arguments.iter().any(|argument| argument == "--bench");
    let wanted: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    for (document, path) in paths() {
        let name = path.name(document.name);
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        if listed {
            println!("{name}");
        } else if counts {
            let bytes = document.text(SIZE).len() as f64;
            match (instructions(&name, 1), instructions(&name, 3)) {
                (Some(once), Some(thrice)) => {
                    println!("{name:18} {:8.2} instructions a byte", (thrice - once) / 2.0 / bytes);
                }
                _ => return eprintln!("valgrind does not run; `apt-get install valgrind` has it"),
            }
        } else {
            // `cargo test` runs benchmarks, too. A small input is enough to check that they run.
            run(&name, 1, 1024);
        }
    }
}

/// What the counted process does.
fn run(name: &str, times: usize, size: usize) {
    let Some((document, path)) = paths().find(|(d, path)| path.name(d.name) == name) else {
        eprintln!("no path `{name}`; --list names them");
        std::process::exit(2);
    };
    let text = document.text(size);
    let (mut mender, mut partial) = (Mender::new(Options::new()), Partial::new());
    for _ in 0..times {
        path.run(&mut mender, &mut partial, text.as_bytes());
    }
}

/// The instructions of a process that runs the path `times` times.
fn instructions(name: &str, times: usize) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args(["--run", name, &times.to_string()])
        .output()
        .ok()?;
    let report = String::from_utf8_lossy(&output.stderr);
    let line = report.lines().find_map(|line| line.split_once("Collected : "))?.1;
    line.trim().parse().ok()
}
