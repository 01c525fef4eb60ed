//! Times contenders by turns, so that a slow moment of the machine touches all of them.

use std::time::{Duration, Instant};

/// A named piece of work.
pub struct Contender<'a> {
    name: &'static str,
    work: Box<dyn FnMut() + 'a>,
}

impl<'a> Contender<'a> {
    /// A contender of that name.
    pub fn new(name: &'static str, work: impl FnMut() + 'a) -> Self {
        Self { name, work: Box::new(work) }
    }
}

/// The best time of one contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timed {
    /// Its name.
    pub name: &'static str,
    /// The shortest of its rounds: the one that was disturbed least.
    pub best: Duration,
}

/// Runs every contender once a round, `rounds` times, after one round that is not counted.
pub fn interleaved(contenders: &mut [Contender<'_>], rounds: usize) -> Vec<Timed> {
    let mut best = vec![Duration::MAX; contenders.len()];
    for round in 0..=rounds {
        for (contender, best) in contenders.iter_mut().zip(&mut best) {
            let start = Instant::now();
            (contender.work)();
            let took = start.elapsed();
            if round > 0 {
                *best = took.min(*best);
            }
        }
    }
    contenders.iter().zip(best).map(|(c, best)| Timed { name: c.name, best }).collect()
}
