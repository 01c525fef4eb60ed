//! Queued events.

use std::{borrow::Cow, collections::BTreeMap};

use super::{
    carrier::Carrier,
    withheld::{self, Without},
};
use crate::{
    calls::{EmptyCall, Entry, Fate, FoundInTexts, Slot, Target},
    channels::Channels,
    json::{self, Span},
    work,
};

/// The most bytes of events that are joined. What their buffer has room for beyond them is no more than that.
const LONGEST_JOINED: usize = 4 << 10;

/// A piece of a text in an event.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) target: Target,
    span: Option<Span>,
    decoded: Option<String>,
    /// How many pieces of the same text precede it in the event.
    nth: usize,
}

/// An event that waits until all its pieces may be released.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) raw: Vec<u8>,
    carrier: Carrier,
    pub(super) pieces: Vec<Piece>,
    /// How many of them are known to be releasable.
    free: usize,
    /// The calls that it is about which may be withheld, and where.
    about: Vec<(Target, Option<Span>)>,
    /// Of how many of them it is known what becomes of them.
    decided: usize,
    /// The text that the payload was read as from that offset on, if it may be written.
    envelope: Option<(usize, String)>,
    /// Further changes of the payload as it was read.
    changes: Vec<(Span, String)>,
}

impl Item {
    /// Bytes that only wait for their turn.
    pub(super) const fn opaque(raw: Vec<u8>) -> Self {
        Self {
            raw,
            carrier: Carrier::None,
            pieces: Vec::new(),
            free: 0,
            about: Vec::new(),
            decided: 0,
            envelope: None,
            changes: Vec::new(),
        }
    }

    /// The event that held those entries, the calls that were found in texts which it ends, and the calls that turned
    /// out to have no arguments.
    pub(super) fn new(
        raw: Vec<u8>,
        carrier: Carrier,
        entries: &mut Vec<Entry>,
    ) -> (Self, Vec<FoundInTexts>, Vec<EmptyCall>) {
        let mut item = Self { carrier, ..Self::opaque(raw) };
        let (mut found_calls, mut empty) = (Vec::new(), Vec::new());
        let mut legible = true;
        // The start of the text that spans are relative to.
        let mut origin = 0;
        let pieces = entries.iter().filter(|entry| matches!(entry, Entry::Piece { .. })).count();
        item.pieces.reserve_exact(pieces);
        let mut counts: BTreeMap<Target, usize> = BTreeMap::new();
        for entry in entries.drain(..) {
            match entry {
                Entry::Piece { target, span, decoded, .. } => {
                    let span = span.filter(|_| legible).map(|span| span.shifted(origin));
                    let mut nth = 0;
                    if pieces > 1 {
                        let count = counts.entry(target).or_default();
                        nth = *count;
                        *count += 1;
                    }
                    item.pieces.push(Piece { target, span, decoded, nth });
                }
                Entry::About { call, place } => {
                    let place = place.filter(|_| legible).map(|place| place.shifted(origin));
                    item.about.push((call, place));
                }
                Entry::Envelope { at, mended, allowed: true } => {
                    origin = at;
                    item.envelope = Some((at, on_one_line(&mended).into_owned()));
                }
                // The spans that follow refer to a text that is not written.
                Entry::Envelope { .. } => legible = false,
                Entry::Empty(call) => empty.push(*call),
                Entry::Found(found) => found_calls.push(*found),
            }
        }
        (item, found_calls, empty)
    }

    /// Whether it has nothing but bytes.
    fn is_opaque(&self) -> bool {
        self.pieces.is_empty()
            && self.about.is_empty()
            && self.envelope.is_none()
            && self.changes.is_empty()
    }

    /// Adds the bytes of the next item to its own, if neither has anything else: there may be many that are small.
    pub(super) fn joins(&mut self, next: &Self) -> bool {
        let fits = self.raw.len() + next.raw.len() <= LONGEST_JOINED;
        let joins = fits && self.is_opaque() && next.is_opaque();
        if joins {
            self.raw.extend_from_slice(&next.raw);
        }
        joins
    }

    /// How much memory it takes while it waits, in bytes: with its place in the queue, which has room for twice as many, and
    /// with those of its pieces in the logs of their texts.
    pub(super) fn memory(&self) -> usize {
        let decoded = |piece: &Piece| piece.decoded.as_ref().map_or(0, String::capacity);
        let pieces = self.pieces.capacity() * (size_of::<Piece>() + 2 * size_of::<Slot>());
        let envelope = self.envelope.as_ref().map_or(0, |(_, text)| text.capacity());
        let changes =
            self.changes.iter().map(|(_, new)| size_of::<(Span, String)>() + new.capacity());
        2 * size_of::<Self>()
            + self.raw.capacity()
            + pieces
            + self.about.capacity() * size_of::<(Target, Option<Span>)>()
            + self.pieces.iter().map(decoded).sum::<usize>()
            + envelope
            + changes.sum::<usize>()
    }

    /// Whether all its pieces may be released.
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
        while let Some(&(call, _)) = self.about.get(self.decided) {
            if channels.fate(call) == Some(Fate::Open) {
                return false;
            }
            self.decided += 1;
        }
        true
    }

    /// Writes it. Returns whether anything in it was changed.
    pub(super) fn write(self, channels: &mut Channels, out: &mut Vec<u8>) -> bool {
        // An envelope that was mended would make a text readable that leaves as it came.
        let mut is_legible = true;
        let mut base = None;
        let mut edits: Vec<(Span, String)> = self.changes.clone();
        for piece in &self.pieces {
            let Some(edit_log) = channels.edit_log(piece.target) else { continue };
            let text = || match (&piece.decoded, piece.span) {
                (Some(decoded), _) => Cow::Borrowed(decoded.as_str()),
                (None, Some(span)) => {
                    let base = base.get_or_insert_with(|| self.base());
                    Cow::Owned(text_of(literal(base, span)))
                }
                (None, None) => Cow::Borrowed(""),
            };
            let is_verbatim = edit_log.is_verbatim();
            is_legible &= self.envelope.is_none() || !is_verbatim;
            let decoded = piece.decoded.as_ref().filter(|_| !is_verbatim);
            let new = edit_log.leave(text).or_else(|| decoded.cloned());
            if let (Some(new), Some(span)) = (new, piece.span) {
                let base = base.get_or_insert_with(|| self.base());
                let is_string = literal(base, span).starts_with('"');
                // A value that only repeats another one stays: nothing can stand in its place.
                if is_string || !new.is_empty() {
                    edits.push((span, if is_string { json::quote(&new) } else { new }));
                }
            }
        }
        let taken =
            self.about.iter().filter(|(call, _)| channels.fate(*call) == Some(Fate::Withheld));
        let taken: Vec<Option<Span>> = taken.map(|(_, place)| *place).collect();
        if !taken.is_empty() {
            let base = base.get_or_insert_with(|| self.base());
            match withheld::without(base, taken) {
                Without::Edits(more) => edits.extend(more),
                Without::Nothing => {
                    if let Some(rest) = self.carrier.around(&self.raw) {
                        out.extend(rest.into_iter().flatten());
                        return true;
                    }
                }
                Without::Unknown => {}
            }
        }
        if is_legible && (!edits.is_empty() || self.envelope.is_some()) {
            let base = base.unwrap_or_else(|| self.base());
            if self.carrier.write(&self.raw, &spliced(&base, edits), out) {
                return true;
            }
        }
        out.extend_from_slice(&self.raw);
        false
    }

    /// Writes `value` where the arguments of a call belong and nothing is. Returns whether it waits for that call.
    pub(super) fn fill(&mut self, call: Target, value: &str) -> bool {
        work::count(1 + self.pieces.len());
        let waits = self.pieces.iter().any(|piece| piece.target == call);
        if waits {
            let base = self.base();
            let pieces = self.pieces.iter().filter(|piece| piece.target == call);
            let void = |span: &Span| matches!(literal(&base, *span), "null" | "\"\"");
            let void = pieces.filter_map(|piece| piece.span).filter(void);
            self.changes.extend(void.map(|span| (span, value.to_owned())).collect::<Vec<_>>());
        }
        waits
    }

    /// Another event, to be inserted before this one.
    pub(super) fn event_before(&self, name: &str, payload: &str) -> Option<Self> {
        self.carrier.event(&self.raw, name, &on_one_line(payload)).map(Self::opaque)
    }

    /// Takes the bytes that belong to the event before this one, if there are any.
    pub(super) fn take_lead(&mut self) -> Option<Self> {
        let lead = self.carrier.lead(&self.raw);
        let rest = self.raw.split_off(lead);
        let lead = core::mem::replace(&mut self.raw, rest);
        (!lead.is_empty()).then(|| Self::opaque(lead))
    }

    /// Changes the payload as it was read, beside its pieces.
    pub(super) fn change(&mut self, changes: Vec<(Span, String)>) {
        self.changes.extend(changes);
    }

    /// The payload as it was read.
    pub(super) fn base(&self) -> String {
        let payload = self.carrier.payload(&self.raw).unwrap_or_default();
        match &self.envelope {
            Some((at, mended)) => payload.get(..*at).unwrap_or_default().to_owned() + mended,
            None => payload,
        }
    }
}

fn literal(base: &str, span: Span) -> &str {
    span.of(base).unwrap_or_default()
}

/// The text of a string, or any other value as written.
fn text_of(literal: &str) -> String {
    let node = json::first(literal).ok().and_then(|(node, _)| node.text());
    node.map_or_else(|| literal.to_owned(), Cow::into_owned)
}

/// `base` with other literals at some spans.
pub(crate) fn spliced(base: &str, mut edits: Vec<(Span, String)>) -> String {
    edits.sort_by_key(|(span, _)| span.start);
    let mut out = String::with_capacity(base.len() + 32);
    let mut at = 0;
    for (span, new) in edits {
        if span.start >= at {
            out.push_str(base.get(at..span.start).unwrap_or_default());
            out.push_str(&on_one_line(&new));
            at = span.end;
        }
    }
    out.push_str(base.get(at..).unwrap_or_default());
    out
}

/// JSON without line ends: they would end a line of the body, or a field of an event. A string has none that is raw.
fn on_one_line(text: &str) -> Cow<'_, str> {
    match text.contains(['\r', '\n']) {
        true => Cow::Owned(text.replace(['\r', '\n'], " ")),
        false => Cow::Borrowed(text),
    }
}
