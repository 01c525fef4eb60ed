//! Checks every text of a few tokens, on all cores: `exhaustive TOKENS [ALPHABET] [FROM]`.
//!
//! ```text
//! cargo run --release -p wiremend-testkit --example exhaustive -- 5
//! cargo run --release -p wiremend-testkit --example exhaustive -- 6 scalars 1118481
//! ```
//!
//! FROM is the number of the first text, for a run that was interrupted: the progress says from where
//! to continue. 1,118,481 is the first text of six tokens. `EXHAUSTIVE_THREADS` sets the number of
//! threads. The first texts that break a law are printed, and the exit status is 1.

use std::{
    collections::BTreeSet,
    env,
    ops::Range,
    process::ExitCode,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use wiremend_testkit::{
    exhaustive::{Alphabet, Checker, count},
    laws::Violation,
};

/// How many texts a thread takes at a time.
const BLOCK: u64 = 4096;
/// How many violations are printed.
const MOST_SHOWN: u64 = 50;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let tokens = arguments.next().and_then(|tokens| tokens.parse().ok());
    let name = arguments.next().unwrap_or_else(|| "signs".to_owned());
    let from = arguments.next().map_or(Some(0), |from| from.parse().ok());
    let alphabet = Alphabet::ALL.into_iter().find(|(known, _)| *known == name);
    let (Some(tokens @ 0..=12), Some((_, alphabet)), Some(from)) = (tokens, alphabet, from) else {
        eprintln!("usage: exhaustive TOKENS [documents|parts|scalars|signs] [FROM]");
        return ExitCode::from(2);
    };
    let threads = env::var("EXHAUSTIVE_THREADS").ok().and_then(|threads| threads.parse().ok());
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let run = Mutex::new(Run::new(from, count(tokens)));
    thread::scope(|scope| {
        for _ in 0..threads.unwrap_or_else(cores) {
            scope.spawn(|| work(&run, alphabet));
        }
    });
    let Ok(run) = run.into_inner() else { return ExitCode::FAILURE };
    run.report("done");
    if run.broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn work(run: &Mutex<Run>, alphabet: Alphabet) {
    let (mut checker, mut text) = (Checker::new(), Vec::new());
    // If another thread has panicked, what it shared is still sound.
    let take = || run.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    loop {
        let Some(block) = take().next() else { break };
        for number in block.clone() {
            alphabet.write_text(number, &mut text);
            if let Err(violation) = checker.check(&text) {
                take().add(number, &violation);
                checker = Checker::new();
            }
        }
        take().done(block.start);
    }
}

/// What the threads share.
struct Run {
    from: u64,
    next: u64,
    end: u64,
    /// The blocks that were taken and are not done.
    open: BTreeSet<u64>,
    broken: u64,
    began: Instant,
    reported: Instant,
}

impl Run {
    fn new(from: u64, end: u64) -> Self {
        let now = Instant::now();
        Self { from, next: from, end, open: BTreeSet::new(), broken: 0, began: now, reported: now }
    }

    fn next(&mut self) -> Option<Range<u64>> {
        let block = self.next..self.end.min(self.next.saturating_add(BLOCK));
        if block.is_empty() {
            return None;
        }
        self.open.insert(block.start);
        self.next = block.end;
        Some(block)
    }

    fn add(&mut self, number: u64, violation: &Violation) {
        self.broken += 1;
        if self.broken <= MOST_SHOWN {
            println!("number {number}: {violation}");
        }
    }

    fn done(&mut self, block: u64) {
        self.open.remove(&block);
        if self.reported.elapsed() > Duration::from_secs(10) {
            self.reported = Instant::now();
            self.report("so far");
        }
    }

    fn report(&self, when: &str) {
        let upto = self.open.first().copied().unwrap_or(self.next).min(self.end);
        let (read, seconds) = (upto.saturating_sub(self.from), self.began.elapsed().as_secs());
        let of = self.end.saturating_sub(self.from);
        eprintln!(
            "{when}: {read} of {of} texts in {seconds} s, {} break a law; continue from {upto}",
            self.broken
        );
    }
}
