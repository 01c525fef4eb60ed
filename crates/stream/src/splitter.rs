//! Divides a document into the items of one of its arrays, while it arrives.

use std::{
    collections::{HashSet, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use wiremend_core::{
    EventReader, MendOptions, Outcome, ParseEvent, Repair, RepairKind, Risk, apply,
};
use wiremend_extract::{Finder, Scope, TextSink};
use wiremend_wire::Call;

use crate::channel::Document;

/// What a [`Splitter`] finds.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// The document ended. `items`: how many items closed; `found`: whether the array was there.
    Ended { outcome: Outcome, items: usize, found: bool },
    /// An item closed. Its text is `None` if it is longer than the limit. `call`: the call that holds it.
    Item { index: usize, json: Option<Vec<u8>>, call: Option<usize> },
}

/// Reads mended text. Keeps one item, and a few words for each level of nesting on the way to the array.
#[derive(Clone, Debug)]
pub(crate) struct Splitter {
    reader: EventReader,
    walk: Walk,
    /// The text has ended: what comes now may be what closes a document that was cut off.
    ending: bool,
    /// Whether a repair of the document was a guess.
    guessed: bool,
    /// Whether a repair may have dropped items.
    dropped: bool,
    /// Something of the response was lost, and this many items of the document had closed before.
    lost: Option<usize>,
    /// What was emitted of a call.
    sent: Option<Sent>,
}

/// The items that were emitted of a call: how many, and a hash of their texts.
#[derive(Clone, Debug, Default)]
struct Sent {
    items: usize,
    hash: DefaultHasher,
}

impl Sent {
    fn note(&mut self, piece: &Piece) {
        if let Piece::Item { json, .. } = piece {
            self.items += 1;
            json.hash(&mut self.hash);
        }
    }
}

/// The place in the document, and the open item.
#[derive(Clone, Debug)]
struct Walk {
    pointer: Box<[Box<str>]>,
    limit: usize,
    /// How many containers are open.
    depth: usize,
    /// The containers among them that lie on the way to the array, and the array itself.
    way: Vec<Level>,
    /// Whether the value of the last key lies on the way.
    key_fits: bool,
    found: bool,
    item: Option<Item>,
    /// Where the rest of the open item begins in the current piece.
    from: usize,
    /// How many items have begun.
    begun: usize,
    /// The call that holds them.
    call: Option<usize>,
    /// Whether an item may be several ones.
    joined: bool,
    /// The last item that closed, until it is certain.
    last: Option<Piece>,
    ready: VecDeque<Piece>,
}

#[derive(Clone, Debug)]
struct Level {
    is_array: bool,
    /// How many of its children have begun.
    children: usize,
}

#[derive(Clone, Debug)]
struct Item {
    index: usize,
    text: Vec<u8>,
    too_long: bool,
    /// Whether something that may have divided it was missing or taken away.
    is_suspect: bool,
}

impl Splitter {
    /// Finds the items of the array at a JSON Pointer. At most `limit` bytes of an item are kept.
    pub(crate) fn new(pointer: &str, limit: usize) -> Self {
        let walk = Walk {
            pointer: segments(pointer),
            limit,
            depth: 0,
            way: Vec::new(),
            key_fits: false,
            found: false,
            item: None,
            from: 0,
            begun: 0,
            call: None,
            joined: false,
            last: None,
            ready: VecDeque::new(),
        };
        Self {
            reader: EventReader::new(),
            walk,
            ending: false,
            guessed: false,
            dropped: false,
            lost: None,
            sent: None,
        }
    }

    /// An item is certain once it has closed, unless the document ended before.
    fn release(&mut self) {
        if !self.ending {
            self.walk.ready.extend(self.walk.last.take());
        }
    }

    /// Reads the arguments of a call again, as they have ended. What was emitted must be their beginning.
    fn read_again(&mut self, call: &Call, mending: &MendOptions) {
        let mut again = Self { sent: None, ..self.clone() };
        again.walk.ready.clear();
        if call.outcome().is_complete() {
            again.begin(0);
            again.mended(call);
            again.settle();
            again.end(call.outcome());
        } else {
            let mut extractor = Finder::new(Scope::Whole, mending.clone());
            extractor.push(call.raw().as_bytes(), &mut again);
            again.ending();
            extractor.finish(&mut again);
        }
        let Sent { items, hash } = self.sent.take().unwrap_or_default();
        let mut same = Sent::default();
        for piece in again.walk.ready.iter().take(items) {
            same.note(piece);
        }
        let is_same = same.items == items && same.hash.finish() == hash.finish();
        // Items may be missing from complete arguments.
        let outcome = match again.walk.ready.back() {
            Some(Piece::Ended { outcome, .. }) if call.outcome().is_complete() => *outcome,
            _ => call.outcome(),
        };
        let left = again.walk.ready.into_iter().skip(items);
        let left = left.filter(|piece| is_same && matches!(piece, Piece::Item { .. }));
        self.walk.ready = left.collect();
        let outcome = if is_same { outcome } else { Outcome::Invalid };
        let (items, found) = (items + self.walk.ready.len(), again.walk.found);
        self.walk.ready.push_back(Piece::Ended { outcome, items, found });
    }

    /// Reads the arguments of a call, with the repairs where they were made.
    fn mended(&mut self, call: &Call) {
        let (raw, arguments) = (call.raw().as_bytes(), call.arguments().as_bytes());
        if apply(raw, call.repairs()).as_deref() != Some(arguments) {
            return self.json(arguments);
        }
        let mut at = 0;
        for repair in call.repairs() {
            self.json(raw.get(at..repair.start()).unwrap_or_default());
            at = repair.end();
            let after = repair.after().to_owned();
            self.repair(repair);
            self.json(after.as_bytes());
        }
        self.json(raw.get(at..).unwrap_or_default());
    }
}

/// The keys of a JSON Pointer. Its first slash may be missing.
fn segments(pointer: &str) -> Box<[Box<str>]> {
    if pointer.is_empty() {
        return Box::default();
    }
    let keys = pointer.strip_prefix('/').unwrap_or(pointer).split('/');
    keys.map(|key| key.replace("~1", "/").replace("~0", "~").into_boxed_str()).collect()
}

impl TextSink for Splitter {
    fn begin(&mut self, _: usize) {
        self.reader.reset();
        (self.guessed, self.dropped) = (false, false);
        let walk = &mut self.walk;
        (walk.depth, walk.begun, walk.joined) = (0, 0, false);
        (walk.key_fits, walk.found) = (false, false);
        (walk.item, walk.last) = (None, None);
        walk.way.clear();
        self.lost = self.lost.map(|_| 0);
    }

    fn json(&mut self, bytes: &[u8]) {
        if self.lost.is_some() {
            return;
        }
        let (base, walk) = (self.reader.offset(), &mut self.walk);
        walk.from = 0;
        self.reader.read(bytes, &mut |at, event| walk.take(at.saturating_sub(base), bytes, event));
        let rest = bytes.get(walk.from..).unwrap_or_default();
        walk.keep(rest);
        self.release();
    }

    fn settle(&mut self) {
        if self.lost.is_some() {
            return;
        }
        let walk = &mut self.walk;
        self.reader.end_token(&mut |_, event| walk.take(0, &[], event));
        self.release();
    }

    fn raw(&mut self) {
        self.reader.stop();
    }

    fn repair(&mut self, repair: Repair) {
        let (kind, walk) = (repair.kind(), &mut self.walk);
        self.guessed |= kind.risk() == Risk::Guess;
        // Braces that are taken away may be those of items, and so may text after the document, if it looks like the
        // rest of that or if a guess ended it.
        let after = match kind {
            RepairKind::StrayText => true,
            RepairKind::SecondDocument => self.guessed,
            _ => false,
        };
        if let Some(item) = walk.item.as_mut().filter(|_| may_divide(kind)) {
            item.is_suspect = true;
        }
        self.dropped |= walk.found && (after && walk.depth == 0 || kind == RepairKind::InnerBraces);
    }

    fn end(&mut self, outcome: Outcome) {
        // The text of a complete document is JSON, so this is only a precaution.
        let broken = outcome.is_complete() && self.reader.is_broken();
        let outcome = if broken { Outcome::Invalid } else { outcome };
        let walk = &mut self.walk;
        let last = walk.last.take();
        if outcome.is_complete() {
            walk.ready.extend(last);
        } else {
            // It may have been closed only because the document was cut off in it.
            walk.begun -= usize::from(last.is_some());
        }
        walk.begun -= usize::from(walk.item.take().is_some());
        let found = walk.found;
        let (outcome, items) = match self.lost {
            Some(items) if outcome.is_complete() => (Outcome::Closed, items),
            None if (self.dropped || walk.joined) && outcome.is_complete() => {
                (Outcome::Closed, walk.begun)
            }
            lost => (outcome, lost.unwrap_or(walk.begun)),
        };
        walk.ready.push_back(Piece::Ended { outcome, items, found });
    }
}

impl Document for Splitter {
    type Emitted = Piece;

    fn ending(&mut self) {
        self.ending = true;
    }

    fn lose(&mut self) {
        let walk = &self.walk;
        let open = usize::from(walk.item.is_some()) + usize::from(walk.last.is_some());
        self.lost.get_or_insert(walk.begun.saturating_sub(open));
    }

    fn begin_call(&mut self, call: usize) {
        self.begin(0);
        self.walk.call = Some(call);
        self.sent = Some(Sent::default());
    }

    fn end_call(&mut self, call: &Call, mending: &MendOptions) {
        if self.lost.is_some() {
            self.end(call.outcome());
        } else {
            self.read_again(call, mending);
        }
    }

    fn drain(&mut self, into: &mut VecDeque<Piece>) {
        if let Some(sent) = &mut self.sent {
            self.walk.ready.iter().for_each(|piece| sent.note(piece));
        }
        into.append(&mut self.walk.ready);
    }
}

impl Walk {
    /// Reads an event at `at` of the piece `text`.
    fn take(&mut self, at: usize, text: &[u8], event: ParseEvent<'_>) {
        match event {
            ParseEvent::BeginArray => self.begin(at, Some(true)),
            ParseEvent::BeginObject => self.begin(at, Some(false)),
            ParseEvent::BeginString => self.begin(at, None),
            ParseEvent::EndArray | ParseEvent::EndObject => {
                self.depth = self.depth.saturating_sub(1);
                self.way.truncate(self.depth);
                self.end(at, text);
            }
            ParseEvent::EndString => self.end(at, text),
            ParseEvent::Key(key) => {
                let next = self.way.len().checked_sub(1).filter(|_| self.is_on_way());
                let wanted = next.and_then(|at| self.pointer.get(at));
                self.key_fits = wanted.is_some_and(|wanted| **wanted == *key);
            }
            ParseEvent::Number(number) => self.scalar(number),
            ParseEvent::Bool(true) => self.scalar("true"),
            ParseEvent::Bool(false) => self.scalar("false"),
            ParseEvent::Null => self.scalar("null"),
            _ => {}
        }
    }

    /// Whether the innermost open container lies on the way, or is the array.
    fn is_on_way(&self) -> bool {
        self.depth == self.way.len()
    }

    /// Whether the innermost open container is the array.
    fn is_in_array(&self) -> bool {
        self.is_on_way() && self.depth == self.pointer.len() + 1
    }

    /// A value begins: in the array an item, elsewhere perhaps the next container on the way.
    fn value(&mut self) -> bool {
        if self.is_in_array() {
            let (index, text) = (self.begun, Vec::new());
            self.item = Some(Item { index, text, too_long: false, is_suspect: false });
            self.begun += 1;
            return false;
        }
        if !self.is_on_way() {
            return false;
        }
        let wanted = self.way.len().checked_sub(1).and_then(|at| self.pointer.get(at));
        match (self.way.last_mut(), wanted) {
            (None, _) => true,
            (Some(Level { is_array: true, children }), Some(wanted)) => {
                let fits = is_index(wanted, *children);
                *children += 1;
                fits
            }
            _ => std::mem::take(&mut self.key_fits),
        }
    }

    /// A string, or a container, which may be an array, begins.
    fn begin(&mut self, at: usize, container: Option<bool>) {
        let is_item = self.is_in_array();
        let fits = self.value();
        if is_item {
            self.from = at;
        }
        if let Some(is_array) = container {
            let is_last = self.way.len() == self.pointer.len();
            if fits && (is_array || !is_last) {
                self.way.push(Level { is_array, children: 0 });
                self.found |= is_last;
            }
            self.depth += 1;
        }
    }

    /// A string or a container has ended.
    fn end(&mut self, at: usize, text: &[u8]) {
        if self.is_in_array() && self.item.is_some() {
            self.keep(text.get(self.from..=at).unwrap_or_default());
            self.from = text.len();
            self.close();
        }
    }

    fn scalar(&mut self, text: &str) {
        let is_item = self.is_in_array();
        self.value();
        if is_item {
            self.keep(text.as_bytes());
            self.close();
        }
    }

    /// Appends to the open item, if there is one.
    fn keep(&mut self, text: &[u8]) {
        let Some(item) = &mut self.item else { return };
        if item.text.len() + text.len() > self.limit {
            item.too_long = true;
            item.text = Vec::new();
        }
        if !item.too_long {
            item.text.extend_from_slice(text);
        }
    }

    fn close(&mut self) {
        let Some(Item { index, text, too_long, is_suspect }) = self.item.take() else { return };
        self.joined |= is_suspect && repeats_a_key(&text);
        let json = (!too_long).then_some(text);
        let earlier = self.last.replace(Piece::Item { index, json, call: self.call });
        self.ready.extend(earlier);
    }
}

/// Whether what was repaired may be what is left of the brackets between two items.
const fn may_divide(kind: RepairKind) -> bool {
    matches!(
        kind,
        RepairKind::DuplicateOpen
            | RepairKind::ExtraClose
            | RepairKind::MismatchedClose
            | RepairKind::MismatchedOpen
            | RepairKind::MissingClose
            | RepairKind::MissingComma
            | RepairKind::MissingOpen
            | RepairKind::StrayText
            | RepairKind::UnquotedString
    )
}

/// Whether an object has a key twice.
fn repeats_a_key(text: &[u8]) -> bool {
    let (mut depth, mut keys, mut repeats) = (0_usize, HashSet::new(), false);
    EventReader::new().read(text, &mut |_, event| match event {
        ParseEvent::BeginArray | ParseEvent::BeginObject => depth += 1,
        ParseEvent::EndArray | ParseEvent::EndObject => depth = depth.saturating_sub(1),
        ParseEvent::Key(key) if depth == 1 => repeats |= !keys.insert(key.to_string()),
        _ => {}
    });
    repeats
}

/// Whether a key of a JSON Pointer is that index of an array.
fn is_index(key: &str, index: usize) -> bool {
    let canonical = key == "0" || !key.starts_with(['0', '+']);
    canonical && key.parse() == Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_the_end_of_the_text_closes_is_an_item() {
        let mut splitter = Splitter::new("", 100);
        splitter.ending();
        for text in ["[[1]]", "[[2]]"] {
            splitter.begin(0);
            splitter.json(text.as_bytes());
            splitter.settle();
            splitter.end(Outcome::Closed);
        }
        let mut found = VecDeque::new();
        splitter.drain(&mut found);
        let items = found.iter().filter(|piece| matches!(piece, Piece::Item { .. }));
        assert_eq!((items.count(), found.len()), (0, 2), "{found:?}");
    }
}
