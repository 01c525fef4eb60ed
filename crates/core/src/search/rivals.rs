//! The readings that another one was preferred to, and what they do otherwise.

use alloc::vec::Vec;

use super::{Reading, Search, arena::Edits};
use crate::{Repair, Repairs};

/// A reading that another one of the same state was preferred to.
#[derive(Clone, Copy)]
pub(super) struct Rival {
    /// The edits of the one that was preferred, and its own.
    pub(super) preferred: Edits,
    pub(super) edits: Edits,
    /// How much dearer it was.
    pub(super) dearer: u32,
}

impl Rival {
    pub(super) fn of(one: &Reading, other: &Reading) -> Self {
        let (preferred, rival) = if other.cost < one.cost { (other, one) } else { (one, other) };
        let dearer = rival.cost - preferred.cost;
        Self { preferred: preferred.edits, edits: rival.edits, dearer }
    }

    pub(super) fn lists(&mut self) -> [&mut Edits; 2] {
        [&mut self.preferred, &mut self.edits]
    }
}

/// What a reading does otherwise than the cheapest one.
#[derive(Clone, Debug)]
pub(crate) struct Other {
    /// How much dearer it is.
    pub(crate) dearer: u32,
    /// The repairs that the cheapest one makes in the place of its own.
    cheapest: Vec<Repair>,
    own: Vec<Repair>,
}

impl Other {
    /// All its repairs, if these are those of the cheapest reading.
    pub(crate) fn repairs(&self, cheapest: &Repairs) -> Repairs {
        let same = |repair: &Repair| !is_among(repair, &self.cheapest);
        let mut repairs: Vec<Repair> = cheapest.iter().filter(same).collect();
        repairs.extend(self.own.iter().cloned());
        repairs.sort_by_key(|repair| (repair.start, repair.end));
        repairs.into_iter().collect()
    }

    /// The repairs that the cheapest one makes in the place of others.
    pub(crate) fn instead(&self) -> &[Repair] {
        &self.cheapest
    }

    /// Where it begins to differ.
    pub(crate) fn start(&self) -> usize {
        let both = self.cheapest.iter().chain(&self.own);
        both.map(|repair| repair.start).min().unwrap_or_default()
    }
}

/// Whether a repair is one of those in a sorted list.
pub(crate) fn is_among(repair: &Repair, sorted: &[Repair]) -> bool {
    let place = |repair: &Repair| (repair.start, repair.end);
    let from = sorted.partition_point(|other| place(other) < place(repair));
    sorted[from..]
        .iter()
        .take_while(|other| place(other) == place(repair))
        .any(|other| other == repair)
}

/// How many are compared with the cheapest reading.
const NEAREST: usize = 64;

impl Search<'_> {
    /// The nearest readings that would have come as far as the cheapest one with these edits, if it had not been
    /// preferred to them on the way.
    pub(super) fn find_others(&mut self, cheapest: Edits) {
        let mut rivals = self.frontier.take_rivals();
        if rivals.is_empty() {
            return;
        }
        let path = self.lists.path(cheapest);
        rivals.retain(|rival| path.binary_search(&rival.preferred).is_ok());
        rivals.sort_by_key(|rival| rival.dearer);
        for Rival { preferred, edits, dearer } in rivals.into_iter().take(NEAREST) {
            let (own, common) = self.lists.since(edits, &path);
            // The cheapest one has these edits, but is not the reading that was preferred.
            if common > preferred {
                continue;
            }
            let (mut own, _) = self.made_by(own);
            let (mut cheapest, _) = self.made_by(self.lists.between(common, preferred));
            // What both make is no difference.
            let both: Vec<Repair> =
                own.iter().filter(|repair| is_among(repair, &cheapest)).cloned().collect();
            own.retain(|repair| !is_among(repair, &both));
            cheapest.retain(|repair| !is_among(repair, &both));
            let other = Other { dearer, cheapest, own };
            if !(other.own.is_empty() && other.cheapest.is_empty()) {
                self.others.push(other);
            }
        }
        self.others.sort_by_key(|other| other.dearer);
        self.others.truncate(NEAREST);
    }
}
