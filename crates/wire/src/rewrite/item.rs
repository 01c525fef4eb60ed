//! Queued events.

use std::{borrow::Cow, collections::BTreeMap};

use super::withheld::{self, Without};
use crate::{
    Framing,
    calls::{EmptyCall, Entry, Fate, FoundInTexts, Slot, Target},
    channels::Channels,
    eventstream::{Header, HeaderValue, Message, encode},
    framing,
    json::{self, Span},
    sse, work,
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

// How the bytes of an event carry its payload, for every framing.

/// The header with the name of an event.
const TYPE: &str = ":event-type";

/// Maps a payload back to the bytes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    /// An item of a JSON array. What precedes it is a separator.
    Item,
    /// A frame of an AWS event stream.
    Message,
    /// The bytes are not an event.
    None,
    /// The data of a server-sent event.
    Sse,
    /// A JSON value after a separator.
    Value,
}

impl Carrier {
    /// The carrier for the events of a framing.
    pub(super) const fn of(framing: Option<Framing>) -> Self {
        match framing {
            Some(Framing::EventStream) => Self::Message,
            Some(Framing::Json | Framing::Ndjson) => Self::Value,
            Some(Framing::JsonArray) => Self::Item,
            Some(Framing::Sse) => Self::Sse,
            _ => Self::None,
        }
    }

    /// The payload in the bytes of an event.
    pub(super) fn payload(self, raw: &[u8]) -> Option<String> {
        match self {
            Self::None => None,
            Self::Sse => Some(sse::data(raw)),
            Self::Item | Self::Value => {
                Some(json::text(raw.get(self.value_at(raw)?..)?).into_owned())
            }
            Self::Message => {
                let message = find_message(raw)?;
                let payload = json::text(message.payload());
                let inner = is_chunk(&message).then(|| framing::unwrap(&payload)).flatten();
                Some(match inner {
                    Some(inner) => json::text(&inner).into_owned(),
                    None => payload.into_owned(),
                })
            }
        }
    }

    /// Writes the bytes of an event with another payload. Returns `false`, and writes nothing, if that is
    /// not possible.
    pub(super) fn write(self, raw: &[u8], payload: &str, out: &mut Vec<u8>) -> bool {
        match self {
            Self::None => false,
            Self::Sse => sse::write_with_data(raw, payload, out),
            Self::Item | Self::Value => {
                let Some(head) = self.value_at(raw).and_then(|at| raw.get(..at)) else {
                    return false;
                };
                out.extend_from_slice(head);
                out.extend_from_slice(payload.as_bytes());
                true
            }
            Self::Message => {
                let Some(message) = find_message(raw) else { return false };
                let outer = json::text(message.payload());
                let wrapped = is_chunk(&message)
                    .then(|| framing::wrap(&outer, payload.as_bytes()))
                    .flatten()
                    .filter(|_| framing::unwrap(&outer).is_some());
                let start = out.len();
                let head = raw.len() - message.frame().len();
                out.extend_from_slice(raw.get(..head).unwrap_or_default());
                let new = wrapped.as_deref().unwrap_or(payload);
                let written = message.encode_with(new.as_bytes(), out).is_ok();
                if !written {
                    out.truncate(start);
                }
                written
            }
        }
    }

    /// Makes a copy of an event self-contained, so that it can be inserted between two events, whatever
    /// was around the original.
    fn detach(self, raw: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::None => None,
            Self::Sse => {
                let start = raw.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
                let event = raw.get(start..)?;
                let event = event.strip_prefix(b"\xef\xbb\xbf").unwrap_or(event);
                let line_end = line_end(event);
                let last = event.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n'))?;
                Some([event.get(..=last)?, line_end, line_end].concat())
            }
            Self::Item => Some([b",", raw.get(self.value_at(raw)?..)?].concat()),
            Self::Value => Some([b"\n", raw.get(self.value_at(raw)?..)?].concat()),
            Self::Message => Some(find_message(raw)?.frame().to_vec()),
        }
    }

    /// Another event, in the style of an event `raw`, before which it is inserted. `None` if that is not
    /// possible.
    pub(super) fn event(self, raw: &[u8], name: &str, payload: &str) -> Option<Vec<u8>> {
        if self == Self::Sse {
            let start = raw.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
            let event = raw.get(start..)?;
            let line_end = line_end(event);
            let named = event.split(|byte| matches!(byte, b'\r' | b'\n'));
            let named = named.into_iter().any(|line| line.starts_with(b"event:"));
            let mut out = Vec::new();
            if named && !name.is_empty() {
                out.extend_from_slice(&[b"event: ", name.as_bytes(), line_end].concat());
            }
            out.extend_from_slice(&[b"data: ", payload.as_bytes(), line_end, line_end].concat());
            return Some(out);
        }
        let mut out = Vec::new();
        if let Some(message) = find_message(raw).filter(|_| self == Self::Message)
            && !name.is_empty()
            && !is_chunk(&message)
        {
            let named = message.headers().map(|header| match header.name {
                TYPE => Header::new(TYPE, HeaderValue::Str(name)),
                _ => header,
            });
            let headers: Vec<Header<'_>> = named.collect();
            encode(&headers, payload.as_bytes(), &mut out).ok()?;
            return Some(out);
        }
        if !self.write(raw, payload, &mut out) {
            return None;
        }
        let mut event = self.detach(&out)?;
        if self == Self::Value {
            event.push(b'\n');
        }
        Some(event)
    }

    /// What is left of the bytes of an event that is taken out of a stream. `None` if it cannot be.
    pub(super) fn around(self, raw: &[u8]) -> Option<[&[u8]; 2]> {
        match self {
            // Its empty line stays, because the next event may begin with the second half of it.
            Self::Sse => {
                let (lead, event) = raw.split_at_checked(self.lead(raw))?;
                let end = match event {
                    [.., b'\r', b'\n'] => event.len() - 2,
                    [.., b'\r' | b'\n'] => event.len() - 1,
                    _ => event.len(),
                };
                Some([lead, event.get(end..)?])
            }
            Self::Message => Some([raw.get(..raw.len() - find_message(raw)?.frame().len())?, b""]),
            Self::Item | Self::None | Self::Value => None,
        }
    }

    /// How many bytes of an event belong to the previous event.
    pub(super) fn lead(self, raw: &[u8]) -> usize {
        match self {
            Self::Sse => raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count(),
            _ => 0,
        }
    }

    /// The position of the value.
    fn value_at(self, raw: &[u8]) -> Option<usize> {
        let opens = |byte: &u8| *byte == b'{' || (*byte == b'[' && self == Self::Value);
        raw.iter().position(opens)
    }
}

/// How the first line of an event ends.
fn line_end(event: &[u8]) -> &'static [u8] {
    let at = event.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(event.len());
    match event.get(at..) {
        Some([b'\r', b'\n', ..]) => b"\r\n",
        Some([b'\r', ..]) => b"\r",
        _ => b"\n",
    }
}

/// The frame at the end of the bytes. Anything before it was skipped.
fn find_message(raw: &[u8]) -> Option<Message<'_>> {
    let total = |at: usize| {
        let length = raw.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*length) as usize)
    };
    (0..raw.len())
        .filter(|&at| total(at) == Some(raw.len() - at))
        .find_map(|at| Message::read(raw.get(at..)?).ok())
}

fn is_chunk(message: &Message<'_>) -> bool {
    message.text_header(TYPE) == Some(framing::CHUNK)
}
