//! The bytes of a body between input and output.

mod empty;
mod found;

use std::{borrow::Cow, collections::VecDeque};

use super::{
    Rewritten,
    carrier::Carrier,
    item::Item,
    options::{RewriteMode, RewriteOptions},
    promote, withheld,
};
use crate::{
    Framing, WireEvent,
    calls::{EmptyCall, EndedContent, Entry, Release, Tracking},
    decoder::Body,
    framing::Frame,
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
            self.seed = Some(found::hash(data));
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
