//! Times contenders in turn, so that a slow moment of the machine affects all of them.

use std::time::{Duration, Instant};

/// Named work on a number of bytes.
pub struct Contender<'a> {
    name: String,
    bytes: usize,
    work: Box<dyn FnMut() + 'a>,
}

impl<'a> Contender<'a> {
    /// Creates a contender whose work reads `bytes` bytes.
    pub fn new(name: impl Into<String>, bytes: usize, work: impl FnMut() + 'a) -> Self {
        Self { name: name.into(), bytes, work: Box::new(work) }
    }

    /// The shortest of a few runs. Long work runs only once, because a pause of the machine is a small
    /// part of its time.
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

/// The times of one contender.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Timed {
    /// Its name.
    pub name: String,
    /// How many bytes it read.
    pub bytes: usize,
    /// The shortest of its rounds, which was disturbed least.
    pub best: Duration,
    /// Its time as a multiple of the baseline's time just before: the median of all rounds. The two
    /// ran under the same conditions, which may not be true for the best rounds of both.
    pub cost: f64,
}

impl Timed {
    /// Bytes per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.best.as_secs_f64()
    }
}

/// How long a table may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// The minimum number of rounds, however long they take.
    pub least: usize,
    /// The maximum number of rounds.
    pub most: usize,
    /// The time after which no further round begins.
    pub time: Duration,
}

impl Budget {
    /// Enough rounds for at least one that a busy machine does not disturb.
    pub const FULL: Self = Self { least: 5, most: 60, time: Duration::from_secs(4) };
    /// One round, to check that everything runs.
    pub const ONCE: Self = Self { least: 1, most: 1, time: Duration::ZERO };
}

/// Times each contender within `budget`, after a round that is not counted. Before each of them, the
/// first one, which is the baseline, is timed again, and the two are compared.
pub fn interleaved(contenders: &mut [Contender<'_>], budget: Budget) -> Vec<Timed> {
    let mut best = vec![Duration::MAX; contenders.len()];
    let mut costs = vec![Vec::new(); contenders.len()];
    let begin = Instant::now();
    for round in 0..=budget.most {
        if round > budget.least && begin.elapsed() > budget.time {
            break;
        }
        for at in 1..contenders.len() {
            let [baseline, took] = [0, at].map(|turn| contenders[turn].time());
            if round > 0 {
                best[0] = baseline.min(best[0]);
                best[at] = took.min(best[at]);
                costs[at].push(took.as_secs_f64() / baseline.as_secs_f64().max(1e-9));
            }
        }
    }
    let timed = |((c, best), costs): ((&Contender<'_>, Duration), Vec<f64>)| Timed {
        name: c.name.clone(),
        bytes: c.bytes,
        best,
        cost: median(costs).unwrap_or(1.0),
    };
    contenders.iter().zip(best).zip(costs).map(timed).collect()
}

fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}
