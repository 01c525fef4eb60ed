//! The readings that have not gone on yet, the cheapest first.

use alloc::{collections::BinaryHeap, vec, vec::Vec};
use core::cmp::Reverse;

use super::{Reading, arena::Edits, rivals::Rival, same};

/// How many readings go on from a byte.
const READINGS: u8 = 24;

/// A reading that is so much dearer than one that has come as far is dropped.
const DEARER: u32 = 1_300;

/// No entry.
const NONE: u32 = u32::MAX;

/// How many buckets there are at first.
const BUCKETS: usize = 256;

/// How many entries there may be before any is forgotten.
const SWEEP: usize = 1 << 11;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It goes on when it is its turn.
    Open,
    /// It has waited, and goes on when it is its turn.
    Released,
    /// It goes on when those are dearer that are not much dearer now.
    Waiting,
    /// It has gone on.
    Passed,
    /// It is too dear to go on.
    Dropped,
}

impl Stage {
    /// Whether it may still go on.
    const fn is_live(self) -> bool {
        !matches!(self, Self::Passed | Self::Dropped)
    }
}

/// A reading at a byte.
struct Entry {
    reading: Reading,
    at: u32,
    stage: Stage,
    /// The entry before it in the same bucket.
    before: u32,
}

/// When an entry goes on: the cheapest first, and of those the one that is furthest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    cost: Reverse<u32>,
    at: u32,
    entry: Reverse<u32>,
}

/// How many rivals are kept.
const RIVALS: usize = 1 << 14;

/// All readings since the last place that was settled.
pub(super) struct Frontier {
    entries: Vec<Entry>,
    /// The last entry of each bucket. Those at one byte are in one.
    buckets: Vec<u32>,
    turns: BinaryHeap<Turn>,
    waiting: Vec<u32>,
    /// How far readings have come at what cost: both grow.
    reached: Vec<(u32, u32)>,
    /// How many entries there are when those are forgotten that matter no more.
    sweep_at: usize,
    /// The rivals that were less than `near` dearer.
    rivals: Vec<Rival>,
    near: u32,
}

/// The next reading that goes on.
pub(super) struct Next {
    pub(super) reading: Reading,
    pub(super) at: usize,
    pub(super) stage: Stage,
    entry: u32,
}

impl Frontier {
    /// `near` is how much dearer a rival may be that is kept.
    pub(super) fn new(near: u32) -> Self {
        Self {
            entries: Vec::new(),
            buckets: vec![NONE; BUCKETS],
            turns: BinaryHeap::new(),
            waiting: Vec::new(),
            reached: Vec::new(),
            sweep_at: SWEEP,
            rivals: Vec::new(),
            near,
        }
    }

    /// How much dearer than the cheapest a reading may be that is compared with it.
    pub(super) const fn near(&self) -> u32 {
        self.near
    }

    pub(super) fn add_rival(&mut self, rival: Rival) {
        self.rivals.push(rival);
    }

    /// The rivals that were kept, and are forgotten now.
    pub(super) fn take_rivals(&mut self) -> Vec<Rival> {
        core::mem::take(&mut self.rivals)
    }

    /// Forgets all readings.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.buckets.truncate(BUCKETS);
        self.buckets.fill(NONE);
        self.turns.clear();
        self.waiting.clear();
        self.reached.clear();
    }

    /// A reading has come to a byte. Of two that expect the same there, the cheaper one stays.
    pub(super) fn arrive(&mut self, at: usize, mut reading: Reading) {
        if self.is_dear(at, reading.cost) {
            return;
        }
        reading.state = reading.code();
        let place = at as u32;
        let bucket = at % self.buckets.len();
        let mut known = self.buckets[bucket];
        while let Some(entry) = self.entries.get_mut(known as usize) {
            if entry.at == place && same(&entry.reading, &reading) {
                let rival = Rival::of(&entry.reading, &reading);
                if rival.dearer < self.near && self.rivals.len() < RIVALS {
                    self.rivals.push(rival);
                }
                if reading.cost < entry.reading.cost {
                    (entry.reading, entry.stage) = (reading, Stage::Open);
                    self.turns.push(Turn::new(&reading, place, known, 0));
                }
                return;
            }
            known = entry.before;
        }
        let index = self.entries.len() as u32;
        let before = core::mem::replace(&mut self.buckets[bucket], index);
        self.entries.push(Entry { reading, at: place, stage: Stage::Open, before });
        self.turns.push(Turn::new(&reading, place, index, 0));
        if self.entries.len() > 4 * self.buckets.len() {
            self.link(4 * self.buckets.len());
        }
    }

    /// The next reading that goes on, if one does that costs less than `bound`.
    pub(super) fn next(&mut self, bound: u32) -> Option<Next> {
        loop {
            let turn = self.turns.peek().filter(|turn| turn.cost.0 < bound);
            let Some(&Turn { at, entry: Reverse(index), .. }) = turn else {
                // Those that wait may still be cheaper.
                if !self.release(bound) {
                    return None;
                }
                continue;
            };
            self.turns.pop();
            let Entry { reading, stage, .. } = self.entries[index as usize];
            if !stage.is_live() {
                continue;
            }
            let place = at as usize;
            let too_dear = self.is_dear(place, reading.cost) || self.is_crowded(place);
            if stage == Stage::Open && too_dear {
                self.entries[index as usize].stage = Stage::Dropped;
                continue;
            }
            self.entries[index as usize].stage = Stage::Passed;
            self.waiting.retain(|other| *other != index);
            self.reach(at, reading.cost);
            return Some(Next { reading, at: place, stage, entry: index });
        }
    }

    /// The reading goes on when all have that are less than `apart` dearer.
    pub(super) fn wait(&mut self, next: &Next, apart: u32) {
        self.entries[next.entry as usize].stage = Stage::Waiting;
        self.waiting.push(next.entry);
        self.turns.push(Turn::new(&next.reading, next.at as u32, next.entry, apart));
    }

    /// Lets all go on that wait and cost less than `bound`. Whether there is one.
    pub(super) fn release(&mut self, bound: u32) -> bool {
        let Self { entries, waiting, turns, .. } = self;
        let before = waiting.len();
        waiting.retain(|index| {
            let entry = &mut entries[*index as usize];
            let stays = entry.reading.cost >= bound;
            if !stays {
                entry.stage = Stage::Released;
                turns.push(Turn::new(&entry.reading, entry.at, *index, 0));
            }
            stays
        });
        waiting.len() < before
    }

    /// Whether a reading costs too much at a byte.
    fn is_dear(&self, at: usize, cost: u32) -> bool {
        let first = self.reached.partition_point(|(reached, _)| (*reached as usize) < at);
        self.reached.get(first).is_some_and(|(_, best)| cost > best.saturating_add(DEARER))
    }

    /// Whether enough readings have gone on from a byte.
    fn is_crowded(&self, at: usize) -> bool {
        let mut passed = 0;
        let mut known = self.buckets[at % self.buckets.len()];
        while let Some(entry) = self.entries.get(known as usize) {
            passed += u8::from(entry.at as usize == at && entry.stage == Stage::Passed);
            if passed == READINGS {
                return true;
            }
            known = entry.before;
        }
        false
    }

    fn reach(&mut self, at: u32, cost: u32) {
        if self.reached.last().is_none_or(|(reached, _)| *reached < at) {
            while self.reached.last().is_some_and(|(_, other)| *other >= cost) {
                self.reached.pop();
            }
            self.reached.push((at, cost));
        }
    }

    /// Puts all entries into so many buckets.
    fn link(&mut self, buckets: usize) {
        self.buckets.clear();
        self.buckets.resize(buckets, NONE);
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let bucket = &mut self.buckets[entry.at as usize % buckets];
            entry.before = core::mem::replace(bucket, index as u32);
        }
    }

    /// Forgets what matters no more, if there is much.
    pub(super) fn sweep(&mut self) {
        if self.entries.len() < self.sweep_at {
            return;
        }
        for index in 0..self.entries.len() {
            let Entry { at, stage, reading, .. } = self.entries[index];
            if stage == Stage::Open && self.is_dear(at as usize, reading.cost) {
                self.entries[index].stage = Stage::Dropped;
            }
        }
        let live = |entry: &&Entry| entry.stage.is_live();
        let first = self.entries.iter().filter(live).map(|entry| entry.at).min();
        self.entries.retain(|entry| first.is_some_and(|first| entry.at >= first));
        self.sweep_at = (2 * self.entries.len()).max(SWEEP);
        self.link(self.buckets.len());
        self.turns.clear();
        self.waiting.clear();
        let open = self.entries.iter_mut().enumerate();
        for (index, entry) in open.filter(|(_, entry)| entry.stage.is_live()) {
            entry.stage = Stage::Open;
            self.turns.push(Turn::new(&entry.reading, entry.at, index as u32, 0));
        }
    }

    /// The lists of edits that are needed, and the rivals.
    pub(super) fn edits(&mut self) -> (impl Iterator<Item = &mut Edits>, &mut Vec<Rival>) {
        let live = |entry: &&mut Entry| entry.stage.is_live();
        let live = self.entries.iter_mut().filter(live);
        (live.flat_map(|entry| entry.reading.lists()), &mut self.rivals)
    }
}

impl Turn {
    const fn new(reading: &Reading, at: u32, entry: u32, later: u32) -> Self {
        Self { cost: Reverse(reading.cost.saturating_add(later)), at, entry: Reverse(entry) }
    }
}
