//! Events that wait, and copies of events.

use std::{borrow::Cow, collections::BTreeMap};

use super::carrier::Carrier;
use crate::{
    calls::{Entry, Place, Target},
    channels::Channels,
    json,
};

/// A piece of a text in an event.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) target: Target,
    place: Option<Place>,
    said: Option<String>,
    /// How many pieces of its text stand before it in the event.
    nth: usize,
}

/// An event that waits until all its pieces may leave.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) raw: Vec<u8>,
    carrier: Carrier,
    pub(super) pieces: Vec<Piece>,
    /// How many of them are known to be free to leave.
    free: usize,
    /// What the payload was taken for from there on, if that may be written.
    envelope: Option<(usize, String)>,
}

impl Item {
    /// Bytes that wait for nothing but their turn.
    pub(super) const fn opaque(raw: Vec<u8>) -> Self {
        Self { raw, carrier: Carrier::None, pieces: Vec::new(), free: 0, envelope: None }
    }

    /// The event that said that.
    pub(super) fn new(raw: Vec<u8>, carrier: Carrier, entries: &mut Vec<Entry>) -> Self {
        let mut item = Self { raw, carrier, pieces: Vec::new(), free: 0, envelope: None };
        let mut legible = true;
        // Where the text begins in which places are counted.
        let mut origin = 0;
        let pieces = entries.iter().filter(|entry| matches!(entry, Entry::Piece { .. })).count();
        item.pieces.reserve_exact(pieces);
        let mut counts: BTreeMap<Target, usize> = BTreeMap::new();
        for entry in entries.drain(..) {
            match entry {
                Entry::Piece { target, place, said, .. } => {
                    let place = place.filter(|_| legible).map(|place| place.behind(origin));
                    let mut nth = 0;
                    if pieces > 1 {
                        let count = counts.entry(target).or_default();
                        nth = *count;
                        *count += 1;
                    }
                    item.pieces.push(Piece { target, place, said, nth });
                }
                Entry::Envelope { at, mended, allowed: true } => {
                    origin = at;
                    item.envelope = Some((at, mended));
                }
                // The places that follow count in a text that will not be written.
                Entry::Envelope { .. } => legible = false,
                Entry::End(_) | Entry::Other(_) => {}
            }
        }
        item
    }

    /// Whether all its pieces may leave.
    pub(super) fn may_leave(&mut self, channels: &mut Channels) -> bool {
        while let Some(piece) = self.pieces.get(self.free) {
            if channels
                .edit_log(piece.target)
                .is_some_and(|edit_log| !edit_log.may_leave(piece.nth))
            {
                return false;
            }
            self.free += 1;
        }
        true
    }

    /// Writes it; returns whether anything in it was changed.
    pub(super) fn write(self, channels: &mut Channels, out: &mut Vec<u8>) -> bool {
        let mut base = None;
        let mut edits: Vec<(Place, String)> = Vec::new();
        for piece in &self.pieces {
            let Some(edit_log) = channels.edit_log(piece.target) else { continue };
            let text = || match (&piece.said, piece.place) {
                (Some(said), _) => Cow::Borrowed(said.as_str()),
                (None, Some(place)) => {
                    let base = base.get_or_insert_with(|| self.base());
                    Cow::Owned(text_of(literal(base, place)))
                }
                (None, None) => Cow::Borrowed(""),
            };
            let new = edit_log.leave(text).or_else(|| piece.said.clone());
            if let (Some(new), Some(place)) = (new, piece.place) {
                let base = base.get_or_insert_with(|| self.base());
                let is_string = literal(base, place).starts_with('"');
                edits.push((place, if is_string { json::quote(&new) } else { new }));
            }
        }
        if !edits.is_empty() || self.envelope.is_some() {
            let base = base.unwrap_or_else(|| self.base());
            if self.carrier.write(&self.raw, &spliced(&base, edits), out) {
                return true;
            }
        }
        out.extend_from_slice(&self.raw);
        false
    }

    /// The payload as it was read.
    fn base(&self) -> String {
        let payload = self.carrier.payload(&self.raw).unwrap_or_default();
        match &self.envelope {
            Some((at, mended)) => payload.get(..*at).unwrap_or_default().to_owned() + mended,
            None => payload,
        }
    }
}

/// The last event that added to a text: what is still to be added goes into a copy of it.
#[derive(Debug)]
pub(super) struct Template {
    raw: Vec<u8>,
    carrier: Carrier,
    place: Place,
    /// Literals that say something else.
    others: Vec<Place>,
}

impl Template {
    pub(super) const fn new(carrier: Carrier, place: Place) -> Self {
        Self { raw: Vec::new(), carrier, place, others: Vec::new() }
    }

    pub(super) const fn carrier(&self) -> Carrier {
        self.carrier
    }

    /// Keeps another event, in the same buffers.
    pub(super) fn set(
        &mut self,
        raw: [&[u8]; 2],
        place: Place,
        others: impl Iterator<Item = Place>,
    ) {
        self.raw.clear();
        self.raw.extend(raw.into_iter().flatten());
        self.place = place;
        self.others.clear();
        self.others.extend(others);
    }

    /// A copy of the event that says `text` and nothing else.
    pub(super) fn copy(&self, text: &str) -> Option<Vec<u8>> {
        let base = self.carrier.payload(&self.raw)?;
        if !literal(&base, self.place).starts_with('"') {
            return None;
        }
        let mut edits = vec![(self.place, json::quote(text))];
        edits.extend(self.others.iter().map(|place| (*place, "\"\"".to_owned())));
        let mut out = Vec::new();
        self.carrier.write(&self.raw, &spliced(&base, edits), &mut out);
        self.carrier.detach(&out)
    }
}

fn literal(base: &str, place: Place) -> &str {
    base.get(place.start..place.end).unwrap_or_default()
}

/// The text of a string, any other value as it stands.
fn text_of(literal: &str) -> String {
    let node = json::first(literal).ok().and_then(|(node, _)| node.text());
    node.map_or_else(|| literal.to_owned(), Cow::into_owned)
}

/// `base` with other literals at some places.
fn spliced(base: &str, mut edits: Vec<(Place, String)>) -> String {
    edits.sort_by_key(|(place, _)| place.start);
    let mut out = String::with_capacity(base.len() + 32);
    let mut at = 0;
    for (place, new) in edits {
        if place.start >= at {
            out.push_str(base.get(at..place.start).unwrap_or_default());
            out.push_str(&new);
            at = place.end;
        }
    }
    out.push_str(base.get(at..).unwrap_or_default());
    out
}
