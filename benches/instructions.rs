//! Instructions per byte on the hot paths, counted by callgrind. A busy machine does not change this
//! number, so a change of one percent is visible.
//!
//! In this folder, `cargo bench --bench instructions` counts every path; names after `--`, such
//! as `clean` or `string/8`, select some. Each path runs once, and three times, in a separate process
//! under valgrind, and half of the difference is the cost of one run.

use std::{hint::black_box, process::Command};

use wiremend_benches::{
    documents::{self, Document},
    values::{Damage, meeting, order, tool},
};
use wiremend_core::{MendOptions, Mender, Outcome, Output, Partial};
use wiremend_extract::{Finder, Scope, TextSink};
use wiremend_schema::{FitOptions, Fitter, Schema, Tree};

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

/// What is counted of a schema.
#[derive(Clone, Copy)]
enum Fitting {
    Compile,
    /// Reading a valid value into a tree and validating it.
    Accept,
    Clean,
    Stream,
    Damaged(Damage),
}

impl Fitting {
    fn all() -> impl Iterator<Item = Self> {
        let damaged = Damage::ALL.into_iter().map(Self::Damaged);
        [Self::Compile, Self::Accept, Self::Clean, Self::Stream].into_iter().chain(damaged)
    }

    fn name(self) -> String {
        match self {
            Self::Compile => "schema/compile".to_owned(),
            Self::Accept => "schema/accept".to_owned(),
            Self::Clean => "schema/clean".to_owned(),
            Self::Stream => "schema/stream".to_owned(),
            Self::Damaged(damage) => format!("schema/{}", damage.name()),
        }
    }

    fn work(self, size: usize) -> Work {
        let source = if matches!(self, Self::Damaged(_)) { order() } else { tool() };
        let text = match self {
            Self::Compile => source.to_string(),
            Self::Damaged(damage) => damage.order(size),
            _ => meeting(size),
        };
        let (length, options) = (text.len(), FitOptions::new());
        let Ok(schema) = Schema::compile(&source) else { return Work::none() };
        let run: Box<dyn FnMut()> = match self {
            Self::Compile => Box::new(move || drop(black_box(Schema::compile(&source)))),
            Self::Accept => Box::new(move || {
                black_box(Tree::read(&text).is_ok_and(|tree| schema.accepts(&tree)));
            }),
            Self::Clean | Self::Damaged(_) => {
                Box::new(move || drop(black_box(schema.fit(text.as_bytes(), &options))))
            }
            Self::Stream => Box::new(move || {
                let mut stream = Fitter::new(&schema, options.clone());
                for chunk in text.as_bytes().chunks(16) {
                    stream.push(chunk);
                    black_box(stream.cursor().root());
                }
                drop(black_box(stream.finish()));
            }),
        };
        Work { bytes: length, run }
    }
}

/// How prose without JSON is read: the name, what is looked for, and the size of the pieces.
const PROSE: [(&str, Scope, usize); 4] = [
    ("extract/all", Scope::All, usize::MAX),
    ("extract/all/16", Scope::All, 16),
    ("extract/first", Scope::First, usize::MAX),
    ("extract/first/64", Scope::First, 64),
];

/// Receives text.
impl TextSink for Counted {
    fn text(&mut self, bytes: &[u8]) {
        self.0 += black_box(bytes).len();
    }

    fn json(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }

    fn end(&mut self, _: Outcome) {}
}

/// A path with its input.
struct Work {
    bytes: usize,
    run: Box<dyn FnMut()>,
}

impl Work {
    fn none() -> Self {
        Self { bytes: 1, run: Box::new(|| {}) }
    }

    fn of_prose(scope: Scope, piece: usize, size: usize) -> Self {
        let text = documents::paragraphs(size);
        let (bytes, mut extractor) = (text.len(), Finder::new(scope, MendOptions::new()));
        let run = move || {
            let mut out = Counted::default();
            extractor.reset();
            text.as_bytes().chunks(piece).for_each(|chunk| extractor.push(chunk, &mut out));
            extractor.finish(&mut out);
        };
        Self { bytes, run: Box::new(run) }
    }

    fn of(document: Document, path: Path, size: usize) -> Self {
        let text = document.text(size);
        let (mut mender, mut partial) = (Mender::new(MendOptions::new()), Partial::new());
        let bytes = text.len();
        let run = move || path.run(&mut mender, &mut partial, text.as_bytes());
        Self { bytes, run: Box::new(run) }
    }
}

/// Every path of every document, of prose, and of a schema: the name, and the work for a size.
fn paths() -> impl Iterator<Item = (String, Box<dyn Fn(usize) -> Work>)> {
    let documents = documents::ALL.into_iter().flat_map(|document| {
        Path::ALL.map(|path| {
            let work: Box<dyn Fn(usize) -> Work> =
                Box::new(move |size| Work::of(document, path, size));
            (path.name(document.name), work)
        })
    });
    let fittings = Fitting::all().map(|fitting| {
        let work: Box<dyn Fn(usize) -> Work> = Box::new(move |size| fitting.work(size));
        (fitting.name(), work)
    });
    let prose = PROSE.into_iter().map(|(name, scope, piece)| {
        let work: Box<dyn Fn(usize) -> Work> =
            Box::new(move |size| Work::of_prose(scope, piece, size));
        (name.to_owned(), work)
    });
    documents.chain(prose).chain(fittings)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some([name, times]) = arguments.strip_prefix(&["--run".to_owned()][..]) {
        return run(name, times.parse().unwrap_or(1), SIZE);
    }
    let listed = arguments.iter().any(|argument| argument == "--list");
    let counts = arguments.iter().any(|argument| argument == "--bench");
    let wanted: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    for (name, work) in paths() {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        if listed {
            println!("{name}");
        } else if counts {
            let bytes = work(SIZE).bytes as f64;
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
    let Some((_, work)) = paths().find(|(known, _)| known == name) else {
        eprintln!("no path `{name}`; --list names them");
        std::process::exit(2);
    };
    let mut work = work(size);
    (0..times).for_each(|_| (work.run)());
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
