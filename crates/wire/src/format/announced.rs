//! The calls that a stream has announced, for a format that repeats all of them at the end.

use core::{
    hash::{Hash, Hasher},
    ops::Deref,
};

use std::{collections::BTreeSet, hash::DefaultHasher};

/// Calls beyond this number are not noted, so that their number is bounded.
const MAX_CALLS: usize = 0x1_0000;

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// Their places in the response.
    places: BTreeSet<u32>,
    /// Hashes of their ids.
    ids: BTreeSet<u64>,
}

impl Announced {
    /// A piece of the call at `place` arrived.
    pub(super) fn add(&mut self, place: u32, id: Option<&str>) {
        if self.places.len() < MAX_CALLS {
            self.places.insert(place);
        }
        if let Some(id) = id.filter(|_| self.ids.len() < MAX_CALLS) {
            self.ids.insert(hash(id));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether there was a call at `place`.
    pub(super) fn has(&self, place: u32) -> bool {
        self.places.contains(&place)
    }

    /// Which calls of the repetition no event announced, by their places in it. Servers may give calls other
    /// ids there, so an id that is not known is not enough: there must be more calls than were announced.
    pub(super) fn missing<I: Deref<Target = str>>(
        &self,
        calls: impl Iterator<Item = (u32, Option<I>)>,
    ) -> BTreeSet<u32> {
        let (mut count, mut unknown) = (0_usize, Vec::new());
        for (place, id) in calls {
            count += 1;
            let known = match id {
                Some(id) => self.ids.contains(&hash(&id)),
                None => self.places.contains(&place),
            };
            if !known {
                unknown.push(place);
            }
        }
        let more = count.saturating_sub(self.places.len());
        unknown.split_off(unknown.len().saturating_sub(more)).into_iter().collect()
    }
}

/// A hash of an id.
pub(super) fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
