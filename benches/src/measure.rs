//! Times contenders by turns, so that a slow moment of the machine touches all of them.

use std::time::{Duration, Instant};

/// A named piece of work on a number of bytes.
pub struct Contender<'a> {
    name: String,
    bytes: usize,
    work: Box<dyn FnMut() + 'a>,
}

impl<'a> Contender<'a> {
    /// A contender of that name, whose work reads `bytes` bytes.
    pub fn new(name: impl Into<String>, bytes: usize, work: impl FnMut() + 'a) -> Self {
        Self { name: name.into(), bytes, work: Box::new(work) }
    }

    /// The shortest of a few runs. Work that takes long runs once: a pause of the machine is a small
    /// part of it, while it can be most of what short work seems to take.
    fn time(&mut self) -> Duration {
        const SHORT: Duration = Duration::from_millis(10);
        let mut best = Duration::MAX;
        for _ in 0..4 {
            let start = Instant::now();
            (self.work)();
            best = start.elapsed().min(best);
            if best > SHORT {
                break;
            }
        }
        best
    }
}

/// The best time of one contender.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timed {
    /// Its name.
    pub name: String,
    /// How many bytes it read.
    pub bytes: usize,
    /// The shortest of its rounds: the one that was disturbed least.
    pub best: Duration,
}

impl Timed {
    /// Bytes a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.best.as_secs_f64()
    }
}

/// How long a table may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// The fewest rounds that count, however long they take.
    pub least: usize,
    /// The most rounds.
    pub most: usize,
    /// When to begin no further round.
    pub time: Duration,
}

impl Budget {
    /// Enough rounds that a busy machine leaves one of them alone.
    pub const FULL: Self = Self { least: 5, most: 60, time: Duration::from_secs(4) };
    /// One round, to see that everything runs.
    pub const ONCE: Self = Self { least: 1, most: 1, time: Duration::ZERO };
}

/// Times each contender within `budget`, after a round that is not counted. Before each of them the
/// first one, the yardstick, is timed again: it must not have had a better machine than the others.
pub fn interleaved(contenders: &mut [Contender<'_>], budget: Budget) -> Vec<Timed> {
    let mut best = vec![Duration::MAX; contenders.len()];
    let begin = Instant::now();
    for round in 0..=budget.most {
        if round > budget.least && begin.elapsed() > budget.time {
            break;
        }
        for at in 1..contenders.len() {
            for turn in [0, at] {
                let took = contenders[turn].time();
                if round > 0 {
                    best[turn] = took.min(best[turn]);
                }
            }
        }
    }
    let timed = |(c, best): (&Contender<'_>, Duration)| Timed {
        name: c.name.clone(),
        bytes: c.bytes,
        best,
    };
    contenders.iter().zip(best).map(timed).collect()
}
