//! What is sent when.

use std::time::Duration;

use crate::{Seed, transport::Delivery};

/// How long a plan waits. Nothing but this depends on time: the chunks are those of the delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    delay: Duration,
    total: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { delay: Duration::ZERO, total: Duration::from_secs(10) }
    }
}

impl Pace {
    /// No delays.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The longest delay before a chunk. A seed chooses each. Default: none.
    #[must_use]
    pub const fn with_delay(mut self, longest: Duration) -> Self {
        self.delay = longest;
        self
    }

    /// The longest time for all delays of a plan together. Default: 10 seconds.
    #[must_use]
    pub const fn with_total(mut self, longest: Duration) -> Self {
        self.total = longest;
        self
    }

    pub(super) const fn total(self) -> Duration {
        self.total
    }
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    after: Duration,
    what: What,
}

impl Step {
    /// How long to wait first.
    #[must_use]
    pub const fn after(&self) -> Duration {
        self.after
    }

    /// What to do then.
    #[must_use]
    pub const fn what(&self) -> &What {
        &self.what
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The body ends as bodies end.
    End,
    /// The connection breaks.
    Reset,
    /// A chunk is sent. It is never empty.
    Send(Vec<u8>),
}

/// What is sent when. It does no IO, so it can drive a server of any kind.
///
/// ```
/// use wiremend_testkit::{Case, Seed, chaos::{Pace, Plan, What}};
///
/// let case = Case::random(&mut Seed::new(7));
/// let plan = Plan::new(&case.delivery(), Pace::new(), &mut Seed::new(7));
/// assert!(matches!(plan.steps().last().unwrap().what(), What::End | What::Reset));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
}

impl Plan {
    /// A plan for what is to arrive.
    #[must_use]
    pub fn new(delivery: &Delivery, pace: Pace, seed: &mut Seed) -> Self {
        let mut left = pace.total;
        let mut wait = || {
            let most = usize::try_from(pace.delay.as_micros()).unwrap_or(usize::MAX - 1);
            let micros = u64::try_from(seed.below(most + 1)).unwrap_or_default();
            let after = Duration::from_micros(micros).min(left);
            left -= after;
            after
        };
        let chunks = delivery.chunks().into_iter().filter(|chunk| !chunk.is_empty());
        let mut steps: Vec<Step> =
            chunks.map(|chunk| Step { after: wait(), what: What::Send(chunk.to_vec()) }).collect();
        let last = if delivery.is_reset() { What::Reset } else { What::End };
        steps.push(Step { after: wait(), what: last });
        Self { steps }
    }

    /// The steps, in order. The last one ends the body or breaks the connection, and no other does.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Case;

    #[test]
    fn a_plan_sends_what_is_delivered_in_bounded_time() {
        for number in 0..100 {
            let case = Case::random(&mut Seed::new(number));
            let total = Duration::from_millis(20);
            let pace = Pace::new().with_delay(Duration::from_millis(8)).with_total(total);
            let plan = Plan::new(&case.delivery(), pace, &mut Seed::new(number));
            let mut sent = Vec::new();
            let mut ends = Vec::new();
            for step in plan.steps() {
                match step.what() {
                    What::Send(chunk) => sent.extend_from_slice(chunk),
                    what => ends.push(what.clone()),
                }
            }
            assert_eq!(sent, case.delivery().bytes());
            assert_eq!(ends, [if case.delivery().is_reset() { What::Reset } else { What::End }]);
            assert!(plan.steps().iter().map(Step::after).sum::<Duration>() <= total);
        }
    }
}
