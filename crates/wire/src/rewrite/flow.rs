//! The bytes of a body between input and output.

use core::hash::{Hash as _, Hasher as _};
use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
    hash::DefaultHasher,
};

use super::{
    RewriteMode, RewriteOptions, Rewritten,
    empty::{self, Empty, Style},
    item::{Carrier, Item},
    promote, withheld,
};
use crate::{
    ApiFormat, CallKind, Framing, WireEvent,
    calls::{EmptyCall, EndedContent, Entry, FoundInTexts, Release, Tracking},
    decoder::Body,
    framing::Frame,
    json,
    json::Span,
    work,
};

/// Receives the output of a rewriter.
pub(super) type Sink<'s> = &'s mut dyn FnMut(Rewritten<'_>);

/// Tracks the bytes that have been neither emitted nor queued.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) body: Body,
    held_limit: usize,
    carry_limit: usize,
    /// The part of these bytes that earlier chunks held.
    carry: Vec<u8>,
    /// The offset in the body of the first of these bytes.
    origin: u64,
    /// The offset of the current chunk.
    base: u64,
    /// The offset up to which the bytes may be emitted verbatim.
    clean: u64,
    /// The offset up to which the open event is only white space.
    blank: u64,
    /// A part of the open event has been emitted.
    torn: bool,
    /// The body has no events.
    pub(super) opaque: bool,
    queue: VecDeque<Item>,
    queued: usize,
    /// How much memory that takes.
    memory: usize,
    pub(super) changed: bool,
    pub(super) overflow: bool,
    /// A hash of the first payload, which identifies the response.
    seed: Option<u64>,
    /// Calls without arguments that the format may repeat.
    filled: Vec<EmptyCall>,
    out: Vec<u8>,
}

impl Flow {
    pub(super) fn new(options: &RewriteOptions) -> Self {
        let release = match options.mode() {
            RewriteMode::Eager => Release::Valid,
            RewriteMode::Validated => Release::Complete,
        };
        let wire = options.wire();
        let mut body = Body::new(wire.clone());
        let mut tracking = Tracking::new(wire, release, options.json_content());
        tracking.search(options.calls_in_text());
        tracking.withhold_cut(options.withholds_cut_calls());
        tracking.fit(options.fit_hook().filter(|_| release == Release::Complete));
        body.channels().track(tracking);
        let limits = wire.limits().sse();
        Self {
            body,
            held_limit: options.held(),
            carry_limit: limits.event().saturating_add(limits.line()),
            carry: Vec::new(),
            origin: 0,
            base: 0,
            clean: 0,
            blank: 0,
            torn: false,
            opaque: false,
            queue: VecDeque::new(),
            queued: 0,
            memory: 0,
            changed: false,
            overflow: false,
            seed: None,
            filled: Vec::new(),
            out: Vec::new(),
        }
    }

    /// The number of bytes that were received but not emitted yet.
    pub(super) fn withheld(&self) -> usize {
        self.carry.len() + self.queued
    }

    /// How much memory that takes, with what is kept of each event.
    pub(super) fn memory(&self) -> usize {
        self.carry.capacity() + self.memory
    }

    /// Reads a frame, which ends at offset `end` of the body.
    pub(super) fn take(&mut self, frame: Frame<'_>, end: u64, chunk: &[u8], sink: Sink<'_>) {
        // In pieces, a part of so long an event would have been emitted.
        let length = end.saturating_sub(self.start_of_event());
        self.torn |= length > self.carry_limit as u64 + 1;
        let carrier = match &frame {
            Frame::Payload { .. } if !self.torn => Carrier::of(self.body.framing()),
            _ => Carrier::None,
        };
        // Bytes that are not UTF-8 are forwarded verbatim, so that the reader sees the damage.
        let damaged = matches!(&frame, Frame::Payload { data: Cow::Owned(_), .. });
        match &frame {
            Frame::Framing(Framing::Html | Framing::Text) => self.opaque = true,
            // What follows would not match what came before.
            Frame::Oversize { .. } | Frame::Fault(_) => self.body.channels().abandon(),
            Frame::Payload { .. } if self.torn => self.body.channels().abandon(),
            Frame::Payload { .. } if damaged => self.body.channels().abandon(),
            _ => {}
        }
        let ends_event = match &frame {
            Frame::Framing(_) | Frame::Field { .. } => false,
            // Such lines may occur between the lines of an event.
            Frame::Stray(_) if self.body.framing() == Some(Framing::Sse) => false,
            Frame::Comment(_) => self.opens_with_comment(chunk),
            _ => true,
        };
        self.torn &= !matches!(frame, Frame::Payload { .. });
        if let (Frame::Payload { data, .. }, None) = (&frame, self.seed) {
            self.seed = Some(hash(data));
        }
        self.body.take(frame, &mut |event| sink(Rewritten::Event(event)));
        self.report_contents(sink);
        let Some(mut entries) = self.take_entries() else { return };
        if self.body.wire().is_none() {
            // What is no answer of a model passes as it came.
            entries.retain(|entry| !matches!(entry, Entry::Envelope { .. }));
        }
        let has_piece =
            entries.iter().any(|entry| matches!(entry, Entry::Empty(_) | Entry::Piece { .. }));
        if ends_event || has_piece {
            self.place(end, carrier, &mut entries, chunk, sink);
        }
        // What was not placed with an event has no place.
        for entry in entries.iter_mut().rev() {
            if let Entry::Found(found) = entry {
                self.decide(found, false);
            }
        }
        if self.body.wire().is_some_and(|wire| !promote::is_supported(wire))
            && let Some(tracking) = self.body.channels().tracking()
        {
            tracking.abandon_search();
        }
        if self.body.wire().is_some_and(|wire| !withheld::is_supported(wire))
            && let Some(tracking) = self.body.channels().tracking()
        {
            tracking.withhold_cut(false);
        }
        self.give_back(entries);
    }

    /// Decides what happens to the bytes up to `end`, which held those entries.
    fn place(
        &mut self,
        end: u64,
        carrier: Carrier,
        entries: &mut Vec<Entry>,
        chunk: &[u8],
        sink: Sink<'_>,
    ) {
        let writes = !self.filled.is_empty()
            || entries.iter().any(|entry| matches!(entry, Entry::Empty(_) | Entry::Found(_)));
        let is_clean = !writes && self.is_clean(entries);
        if is_clean && self.queue.is_empty() {
            self.clean = end;
            return;
        }
        self.leave_clean(chunk, sink);
        if writes {
            self.leave_lead(carrier, chunk);
        }
        let [head, tail] = self.region(end, chunk);
        let raw = [head, tail].concat();
        work::count(raw.len());
        self.advance(end);
        if is_clean {
            // It only waits for its turn.
            self.enqueue(Item::opaque(raw));
        } else {
            let (mut item, found, empty) = Item::new(raw, carrier, entries);
            self.write_empty(empty, &mut item);
            for found in found {
                self.send_on(&found, &mut item, sink);
            }
            self.enqueue(item);
        }
        self.drain(sink);
        if self.queued > self.held_limit {
            self.let_go(sink);
        }
    }

    /// Emits what waits, because of a limit.
    pub(super) fn let_go(&mut self, sink: Sink<'_>) {
        self.overflow = true;
        self.abandon(sink);
    }

    /// Releases the pieces in those entries, if none of them has to wait or is changed.
    fn is_clean(&mut self, entries: &[Entry]) -> bool {
        work::count(entries.len());
        let channels = self.body.channels();
        let may_leave = entries.iter().all(|entry| match entry {
            Entry::Empty(_) | Entry::Envelope { .. } | Entry::Found(_) => false,
            Entry::About { call, .. } => channels.fate(*call).is_none(),
            Entry::Piece { target, decoded, .. } => {
                decoded.is_none()
                    && channels
                        .edit_log(*target)
                        .is_none_or(|edit_log| edit_log.is_only_unchanged())
            }
        });
        // Several pieces in one event are left to the queue.
        let pieces = entries.iter().filter(|entry| matches!(entry, Entry::Piece { .. })).count();
        if !may_leave || pieces > 1 {
            return false;
        }
        for entry in entries {
            if let Entry::Piece { target, .. } = entry
                && let Some(edit_log) = channels.edit_log(*target)
            {
                edit_log.leave(|| "".into());
            }
        }
        true
    }

    /// Emits the bytes that belong to the previous event, before another is inserted.
    fn leave_lead(&mut self, carrier: Carrier, chunk: &[u8]) {
        let read = self.base + chunk.len() as u64;
        let [head, tail] = self.region(read, chunk);
        let lead = match carrier.lead(head) {
            lead if lead == head.len() => lead + carrier.lead(tail),
            lead => lead,
        };
        if lead > 0 {
            let end = self.origin + lead as u64;
            let [head, tail] = self.region(end, chunk);
            let raw = [head, tail].concat();
            self.advance(end);
            self.enqueue(Item::opaque(raw));
        }
    }

    fn start_of_event(&self) -> u64 {
        self.clean.max(self.origin)
    }

    /// Ends the body after all frames were read.
    pub(super) fn end(&mut self, sink: Sink<'_>) -> crate::StreamOutcome {
        let outcome = self.body.end(&mut |event| sink(Rewritten::Event(event)));
        self.report_contents(sink);
        if let Some(entries) = self.take_entries() {
            self.give_back(entries);
        }
        self.drain(sink);
        self.leave_all(&[], sink);
        outcome
    }

    /// Forwards everything that waits as it came.
    pub(super) fn abandon(&mut self, sink: Sink<'_>) {
        self.body.channels().abandon();
        self.drain(sink);
    }

    fn enqueue(&mut self, item: Item) {
        self.queued += item.raw.len();
        if let Some(last) = self.queue.back_mut() {
            let before = last.memory();
            if last.joins(&item) {
                self.memory = (self.memory + last.memory()).saturating_sub(before);
                return;
            }
        }
        self.memory += item.memory();
        self.queue.push_back(item);
    }

    /// Emits the events that may be released.
    pub(super) fn drain(&mut self, sink: Sink<'_>) {
        let channels = self.body.channels();
        while self.queue.front_mut().is_some_and(|item| item.may_leave(channels)) {
            let Some(item) = self.queue.pop_front() else { break };
            self.queued = self.queued.saturating_sub(item.raw.len());
            self.memory = self.memory.saturating_sub(item.memory());
            self.changed |= item.write(channels, &mut self.out);
        }
        if !self.out.is_empty() {
            sink(Rewritten::Bytes(&self.out));
            self.out.clear();
        }
    }

    /// Ends a chunk.
    pub(super) fn end_chunk(&mut self, chunk: &[u8], sink: Sink<'_>) {
        if self.opaque {
            self.leave_all(chunk, sink);
            return;
        }
        let read = self.base + chunk.len() as u64;
        self.leave_clean(chunk, sink);
        let left = usize::try_from(self.origin.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.carry.extend_from_slice(chunk.get(left..).unwrap_or_default());
        self.base = read;
        if self.carry.len() > self.carry_limit || (self.torn && !self.carry.is_empty()) {
            self.torn = true;
            if self.queue.is_empty() {
                self.leave_all(&[], sink);
            } else {
                let raw = core::mem::take(&mut self.carry);
                self.origin = read;
                self.clean = read;
                self.enqueue(Item::opaque(raw));
            }
        }
    }

    /// Emits everything that remains, including the chunk.
    pub(super) fn leave_all(&mut self, chunk: &[u8], sink: Sink<'_>) {
        self.clean = self.base + chunk.len() as u64;
        self.leave_clean(chunk, sink);
        self.base = self.clean;
    }

    /// Emits what may be forwarded verbatim.
    fn leave_clean(&mut self, chunk: &[u8], sink: Sink<'_>) {
        if self.clean <= self.origin {
            return;
        }
        for part in self.region(self.clean, chunk) {
            if !part.is_empty() {
                sink(Rewritten::Bytes(part));
            }
        }
        self.advance(self.clean);
    }

    /// The bytes from the first remaining one up to `end`: those of earlier chunks, and those of this
    /// one.
    fn region<'b>(&'b self, end: u64, chunk: &'b [u8]) -> [&'b [u8]; 2] {
        self.bytes(self.origin, end, chunk)
    }

    fn bytes<'b>(&'b self, start: u64, end: u64, chunk: &'b [u8]) -> [&'b [u8]; 2] {
        let carried = self.base.saturating_sub(self.carry.len() as u64);
        let part = |bytes: &'b [u8], from: u64| {
            let at = |offset: u64| {
                usize::try_from(offset.saturating_sub(from))
                    .map_or(bytes.len(), |at| at.min(bytes.len()))
            };
            bytes.get(at(start)..at(end).max(at(start))).unwrap_or_default()
        };
        [part(&self.carry, carried), part(chunk, self.base)]
    }

    /// Drops the bytes up to `end`.
    fn advance(&mut self, end: u64) {
        let gone = end.saturating_sub(self.origin);
        let gone = usize::try_from(gone).unwrap_or(usize::MAX).min(self.carry.len());
        self.carry.drain(..gone);
        self.origin = end;
        self.clean = self.clean.max(end);
    }

    /// Whether a comment is between two events, and not inside one.
    fn opens_with_comment(&mut self, chunk: &[u8]) -> bool {
        let read = self.base + chunk.len() as u64;
        let start = self.start_of_event().max(self.blank);
        let bytes = || self.bytes(start, read, chunk).into_iter().flatten();
        let space = bytes().take_while(|byte| byte.is_ascii_whitespace()).count();
        let opens = bytes().nth(space) == Some(&b':');
        work::count(space);
        self.blank = start + space as u64;
        opens
    }

    /// Says what came of JSON content that has ended.
    fn report_contents(&mut self, sink: Sink<'_>) {
        let Some(tracking) = self.body.channels().tracking() else { return };
        for EndedContent { block, raw, mended } in &tracking.take_contents() {
            let event = WireEvent::ContentEnded { block: *block, raw, mended };
            sink(Rewritten::Event(event));
        }
    }

    fn take_entries(&mut self) -> Option<Vec<Entry>> {
        self.body.channels().tracking().map(Tracking::take_entries)
    }

    /// Ends what was read of a payload.
    fn give_back(&mut self, mut entries: Vec<Entry>) {
        entries.clear();
        if let Some(tracking) = self.body.channels().tracking() {
            tracking.end_payload(entries);
            self.overflow |= tracking.has_overflowed();
        }
    }
}

// Writes the arguments of calls that have none.

impl Flow {
    /// Writes the arguments of calls which, as it turned out with this event, have none, and of those that it repeats.
    fn write_empty(&mut self, calls: Vec<EmptyCall>, item: &mut Item) {
        let Some(format) = self.body.wire() else { return };
        let mut here = Vec::new();
        for call in calls {
            // What held nothing where they belong waits, and so does the event that stated the end of the call.
            let value = Style::of(format).map_or("", Style::value);
            let mut last = None;
            for (at, waiting) in self.queue.iter_mut().enumerate() {
                let before = waiting.memory();
                if waiting.fill(call.target, value) {
                    last = Some(at);
                    self.memory = (self.memory + waiting.memory()).saturating_sub(before);
                }
            }
            item.fill(call.target, value);
            match last {
                Some(at) => {
                    self.write_before(at, format, &call);
                    self.filled.push(call);
                }
                None => here.push(call),
            }
        }
        if !self.filled.is_empty() {
            fill_in(format, item, &mut Empty::of(&self.filled));
        }
        for event in fill(format, item, &here) {
            self.changed = true;
            self.enqueue(event);
        }
        self.filled.extend(here);
        // The other formats do not repeat them.
        if !matches!(
            format,
            ApiFormat::CohereV1 | ApiFormat::GeminiInteractions | ApiFormat::OpenAiResponses
        ) {
            self.filled.clear();
        }
    }

    /// Writes the arguments of a call into a waiting event, or before it.
    fn write_before(&mut self, at: usize, format: ApiFormat, call: &EmptyCall) {
        let Some(item) = self.queue.get_mut(at) else { return };
        let before = item.memory();
        let events = fill(format, item, core::slice::from_ref(call));
        let lead = if events.is_empty() { None } else { item.take_lead() };
        let after = item.memory() + lead.iter().chain(&events).map(Item::memory).sum::<usize>();
        self.memory = (self.memory + after).saturating_sub(before);
        self.changed |= !events.is_empty();
        self.queued += events.iter().map(|event| event.raw.len()).sum::<usize>();
        for event in lead.into_iter().chain(events).rev() {
            self.queue.insert(at, event);
        }
    }
}

/// Writes the arguments of those calls into an event that holds them. Returns events to insert before it, for the
/// others.
fn fill(format: ApiFormat, item: &mut Item, calls: &[EmptyCall]) -> Vec<Item> {
    if calls.is_empty() {
        return Vec::new();
    }
    let mut empty = Empty::of(calls);
    let found = fill_in(format, item, &mut empty);
    let mut scopes: BTreeMap<u32, Vec<&EmptyCall>> = BTreeMap::new();
    let to_add = |call: &&EmptyCall| call.is_addressed && !call.is_written;
    for call in calls.iter().filter(to_add).filter(|call| !empty.has_found(call, found)) {
        scopes.entry(call.scope).or_default().push(call);
    }
    let payload = item.base();
    let Some(root) = root(&payload) else { return Vec::new() };
    let events = scopes.iter().filter_map(|(scope, calls)| {
        let (name, payload) = empty::event(format, root, *scope, calls)?;
        item.event_before(name, &payload)
    });
    events.collect()
}

/// Returns whether there were any.
fn fill_in(format: ApiFormat, item: &mut Item, empty: &mut Empty<'_>) -> bool {
    let payload = item.base();
    let Some(root) = root(&payload) else { return false };
    let edits = empty.fill(format, root);
    let found = !edits.is_empty();
    item.change(edits);
    found
}

fn root(payload: &str) -> Option<json::Node<'_>> {
    Some(json::first_from(payload, payload.find('{')?).ok()?.0)
}

/// How calls that were found in text are written.
struct Planned {
    /// The events to insert.
    events: Vec<Item>,
    /// The changes of the event that ends the choice.
    changes: Vec<(Span, String)>,
}

impl Flow {
    /// Sends calls on that were found in the texts of a choice, which that event ends.
    fn send_on(&mut self, found: &FoundInTexts, item: &mut Item, sink: Sink<'_>) {
        let choice = found.choice;
        let planned = if self.is_allowed(found) { self.plan(found, item) } else { None };
        self.decide(found, planned.is_some());
        let Some(planned) = planned else { return };
        item.change(planned.changes);
        for event in planned.events {
            self.enqueue(event);
        }
        self.changed = true;
        for call in &found.calls {
            let Some(number) = self.body.channels().begin_found() else { break };
            let (kind, name) = (CallKind::Function, Some(call.name.as_str()));
            sink(Rewritten::Event(WireEvent::CallBegan {
                call: number,
                choice,
                kind,
                id: None,
                name,
            }));
            let ended = call.to_call(number, choice);
            sink(Rewritten::Event(WireEvent::CallEnded(&ended)));
        }
    }

    /// Whether each tool may have the repairs that its call needed.
    fn is_allowed(&self, found: &FoundInTexts) -> bool {
        let options = self.body.options();
        let Some(policies) = options.policies() else { return true };
        let used = options.mending().policy();
        found.calls.iter().all(|call| {
            policies.find(&call.name).is_none_or(|policy| call.is_allowed(&policy, &used))
        })
    }

    /// How the calls are written. `None` if they have no place.
    fn plan(&mut self, found: &FoundInTexts, item: &Item) -> Option<Planned> {
        let format = self.body.wire()?;
        let seed = self.seed.unwrap_or_default();
        let (call, block) = self.body.channels().next_indices(found.choice);
        let context = promote::Context { call, block, seed };
        let plan = promote::plan(format, &item.base(), found, context)?;
        let events = plan.events.iter().map(|(name, payload)| item.event_before(name, payload));
        Some(Planned { events: events.collect::<Option<_>>()?, changes: plan.edits })
    }

    fn decide(&mut self, found: &FoundInTexts, accepted: bool) {
        if let Some(tracking) = self.body.channels().tracking() {
            tracking.decide(found, accepted);
        }
    }
}

/// What identifies a payload.
fn hash(text: &str) -> u64 {
    work::count(text.len());
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
