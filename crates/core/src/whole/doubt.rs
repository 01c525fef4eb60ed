//! Where another reading of a whole text, which gives another value, is nearly as likely.

use alloc::vec::Vec;

use super::without_space;
use crate::{
    MendOptions, Outcome, Policy, Repair, Repairs, Risk, TrailingDocuments, apply,
    engine::{Engine, Part},
    search::{self, Answer},
};

/// How much dearer than the cheapest another reading must be for the repairs not to be in doubt.
pub(super) const NEAR: u32 = 250;

/// Repairs in whose place another reading makes others.
pub(super) struct Doubt {
    repairs: Vec<Repair>,
    /// Where the other reading begins to differ.
    at: usize,
}

impl Doubt {
    /// What one reading does otherwise than another one.
    pub(super) fn between(one: &Repairs, other: &Repairs) -> Self {
        let (one, other): (Vec<_>, Vec<_>) = (one.iter().collect(), other.iter().collect());
        let only = |these: &[Repair], those: &[Repair]| -> Vec<Repair> {
            these.iter().filter(|repair| !search::is_among(repair, those)).cloned().collect()
        };
        let (repairs, others) = (only(&one, &other), only(&other, &one));
        let at = repairs.iter().chain(&others).map(|repair| repair.start).min();
        Self { repairs, at: at.unwrap_or_default() }
    }

    /// The repairs that are in doubt, of all that were made: those that the other reading does not make, or the one
    /// next to what it does otherwise.
    fn of(&self, all: &[Repair]) -> Vec<usize> {
        let is_made = |repair: &Repair| search::is_among(repair, &self.repairs);
        let made = |(index, repair): (usize, &Repair)| is_made(repair).then_some(index);
        let made: Vec<usize> = all.iter().enumerate().filter_map(made).collect();
        if !made.is_empty() {
            return made;
        }
        let apart = |repair: &Repair| repair.start.abs_diff(self.at);
        let next = all.iter().enumerate().min_by_key(|(_, repair)| apart(repair));
        next.map(|(index, _)| index).into_iter().collect()
    }
}

impl Answer {
    /// Where a reading that gives another value is less than [`NEAR`] dearer, of those that give JSON.
    pub(super) fn doubts(&self, text: &[u8], options: &MendOptions) -> Vec<Doubt> {
        let guide = options.guide();
        if self.others.is_empty() {
            return Vec::new();
        }
        let Some(own) = apply(text, &self.repairs) else { return Vec::new() };
        let misfits = |text: &[u8]| guide.map_or(0, |guide| search::misfits(text, guide).0);
        let (value, fit) = (without_space(&own), misfits(&own));
        let near = self.others.iter().filter(|other| {
            json_of(text, &other.repairs(&self.repairs), options).is_some_and(|json| {
                let misfit = misfits(&json).saturating_sub(fit);
                other.dearer + search::MISFIT * misfit < NEAR && without_space(&json) != value
            })
        });
        near.map(|other| Doubt { repairs: other.instead().to_vec(), at: other.start() }).collect()
    }
}

/// Marks what is in doubt, unless some of it is a guess anyway.
pub(super) fn mark(repairs: &mut [Repair], doubts: &[Doubt]) {
    let doubts: Vec<Vec<usize>> = doubts.iter().map(|doubt| doubt.of(repairs)).collect();
    for doubted in doubts {
        if doubted.iter().any(|index| repairs[*index].kind.risk() == Risk::Guess) {
            continue;
        }
        for index in doubted {
            repairs[index] = repairs[index].clone().in_doubt();
        }
    }
}

/// What repairs make of a text, if it is JSON: one document or several.
pub(super) fn json_of(text: &[u8], repairs: &Repairs, options: &MendOptions) -> Option<Vec<u8>> {
    let json = apply(text, repairs)?;
    documents(&json, options).map(|_| json)
}

/// How many documents a text of JSON has, and how deep they are.
pub(super) fn documents(text: &[u8], options: &MendOptions) -> Option<(usize, usize)> {
    let strict = MendOptions::new().with_policy(Policy::STRICT).with_limits(options.limits());
    let strict = strict.with_trailing_documents(TrailingDocuments::All);
    let mut engine = Engine::streaming(strict);
    engine.run(Part::new(text, 0, true)).ok()?;
    (engine.outcome(0) == Outcome::Unchanged).then(|| (engine.documents(), engine.deepest()))
}
