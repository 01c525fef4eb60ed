//! Comparing all divisions of one text, without keeping more than one of them.

use std::{
    fmt::{self, Write as _},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use wiremend_core::{Completion, EventReader, Mender, Outcome, Output, ParseEvent, Repair};
use wiremend_extract::{Finder, TextSink};

/// A reader that takes a text in pieces.
pub(super) trait Reader {
    fn reset(&mut self);
    fn push(&mut self, chunk: &[u8], log: &mut Log);
    fn finish(&mut self, log: &mut Log) -> Outcome;
    /// What the reader says of itself.
    fn state(&self) -> State;
}

/// What can be asked of a reader between two chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    offset: usize,
    withheld: usize,
    depth: usize,
    /// The hash of what would complete the document.
    completion: Option<u64>,
    document_end: Option<usize>,
    unescaped_quotes: bool,
    outcome: Option<Outcome>,
}

/// What a reader emitted, in the same form however it was divided into slices.
#[derive(Default)]
pub(super) struct Log {
    /// All bytes.
    bytes: Vec<u8>,
    /// Between the bytes: where bytes of another kind begin, and everything else.
    marks: Vec<Mark>,
    /// The kind of the last byte.
    kind: Option<Sign>,
    /// What a reader of the mended text makes of it.
    events: Vec<u8>,
    reader: Option<EventReader>,
}

/// Something at an offset of the bytes, and its number or hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    sign: Sign,
    at: usize,
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Mended,
    Text,
    Reasoning,
    Begin,
    Repair,
    End(Option<Outcome>),
}

/// How far a log reached, and the reader's state, after a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    bytes: usize,
    marks: usize,
    events: usize,
    state: State,
}

/// Reads texts in all divisions.
#[derive(Default)]
pub(super) struct Watch {
    /// The text byte by byte.
    want: Log,
    /// The moments of that: before any byte, and after each.
    moments: Vec<Moment>,
    outcome: Option<Outcome>,
    /// Another division.
    got: Log,
}

impl Watch {
    /// Reads `text` byte by byte, and divided in two everywhere with an empty piece at both ends, or
    /// `in_three`. Says what differs, if anything does.
    pub(super) fn difference(
        &mut self,
        text: &[u8],
        reader: &mut impl Reader,
        in_three: bool,
    ) -> Option<String> {
        self.read_bytes(text, reader);
        for first in 0..=text.len() {
            let seconds = if in_three { first } else { text.len() }..=text.len();
            for second in seconds {
                if let Some(what) = self.read_divided(text, [first, second], reader) {
                    return Some(format!("divided at {first} and {second}, {what}"));
                }
            }
        }
        None
    }

    fn read_divided(
        &mut self,
        text: &[u8],
        [first, second]: [usize; 2],
        reader: &mut impl Reader,
    ) -> Option<String> {
        reader.reset();
        self.got.reset();
        for (from, to) in [(0, first), (first, second), (second, text.len())] {
            reader.push(&text[from..to], &mut self.got);
            if let Some(what) = self.compare(to, reader) {
                return Some(what);
            }
        }
        let outcome = reader.finish(&mut self.got);
        self.compare_end(outcome)
    }

    /// Reads the text that was read last with another reader. Says what differs at the end, if
    /// anything does. When something is emitted may differ: the fast path waits for the next token
    /// after a scalar and the end of its line.
    pub(super) fn disagreement(&mut self, text: &[u8], reader: &mut impl Reader) -> Option<String> {
        reader.reset();
        self.got.reset();
        reader.push(text, &mut self.got);
        let outcome = reader.finish(&mut self.got);
        self.compare_end(outcome)
    }

    fn read_bytes(&mut self, text: &[u8], reader: &mut impl Reader) {
        reader.reset();
        self.want.reset();
        self.moments.clear();
        self.moments.push(self.want.moment(reader));
        for byte in text {
            reader.push(std::slice::from_ref(byte), &mut self.want);
            self.moments.push(self.want.moment(reader));
        }
        self.outcome = Some(reader.finish(&mut self.want));
    }

    /// Compares what was emitted, and the reader, with those after `offset` bytes one by one.
    fn compare(&self, offset: usize, reader: &impl Reader) -> Option<String> {
        let (got, want) = (self.got.moment(reader), *self.moments.get(offset)?);
        let same = got == want && self.got.is_start_of(&self.want);
        (!same).then(|| {
            let (log, all) = (&self.got, &self.want);
            format!("after byte {offset} {got:?} {log:?} instead of {want:?} of {all:?}")
        })
    }

    fn compare_end(&self, outcome: Outcome) -> Option<String> {
        let (got, want) = (&self.got, &self.want);
        let lengths = |log: &Log| (log.bytes.len(), log.marks.len(), log.events.len());
        let same =
            Some(outcome) == self.outcome && lengths(got) == lengths(want) && got.is_start_of(want);
        (!same).then(|| {
            format!("at the end {outcome:?} {got:?} instead of {:?} {want:?}", self.outcome)
        })
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, events) = (self.bytes.escape_ascii(), self.events.escape_ascii());
        write!(f, "`{bytes}` with {:?} and events `{events}`", self.marks)
    }
}

impl Log {
    fn reset(&mut self) {
        self.bytes.clear();
        self.marks.clear();
        self.kind = None;
        self.events.clear();
        self.reader.get_or_insert_with(EventReader::new).reset();
    }

    fn moment(&self, reader: &impl Reader) -> Moment {
        Moment {
            bytes: self.bytes.len(),
            marks: self.marks.len(),
            events: self.events.len(),
            state: reader.state(),
        }
    }

    fn is_start_of(&self, other: &Self) -> bool {
        other.bytes.starts_with(&self.bytes)
            && other.marks.starts_with(&self.marks)
            && other.events.starts_with(&self.events)
    }

    fn note(&mut self, kind: Sign, bytes: &[u8]) {
        if self.kind != Some(kind) && !bytes.is_empty() {
            self.mark(kind, 0);
            self.kind = Some(kind);
        }
        self.bytes.extend_from_slice(bytes);
    }

    fn mark(&mut self, sign: Sign, number: u64) {
        self.marks.push(Mark { sign, at: self.bytes.len(), number });
    }

    fn mended(&mut self, bytes: &[u8]) {
        self.note(Sign::Mended, bytes);
        if let Some(reader) = &mut self.reader {
            reader.read(bytes, &mut |_, event| note_event(&mut self.events, event));
        }
    }

    fn repaired(&mut self, repair: &Repair) {
        let mut hasher = DefaultHasher::new();
        repair.kind().hash(&mut hasher);
        repair.span().hash(&mut hasher);
        repair.after().hash(&mut hasher);
        self.mark(Sign::Repair, hasher.finish());
    }

    fn stopped(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.stop();
        }
    }

    fn settled(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.end_token(&mut |_, event| note_event(&mut self.events, event));
        }
    }
}

/// A piece of a string is noted byte by byte, because it may come in any pieces.
fn note_event(events: &mut Vec<u8>, event: ParseEvent<'_>) {
    match event {
        ParseEvent::BeginArray => events.push(b'['),
        ParseEvent::BeginObject => events.push(b'{'),
        ParseEvent::BeginString => events.push(b'<'),
        ParseEvent::Bool(value) => events.push(if value { b't' } else { b'f' }),
        ParseEvent::EndArray => events.push(b']'),
        ParseEvent::EndDocument => events.push(b'.'),
        ParseEvent::EndObject => events.push(b'}'),
        ParseEvent::EndString => events.push(b'>'),
        ParseEvent::Key(key) => {
            events.push(b'k');
            events.extend_from_slice(key.as_bytes());
            events.push(b':');
        }
        ParseEvent::Null => events.push(b'n'),
        ParseEvent::Number(number) => {
            events.push(b'#');
            events.extend_from_slice(number.as_bytes());
            events.push(b';');
        }
        ParseEvent::Text(text) => text.bytes().for_each(|byte| events.extend([b'"', byte])),
        _ => events.push(b'?'),
    }
}

impl Output for Log {
    fn copy(&mut self, bytes: &[u8]) {
        self.mended(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.repaired(&repair);
    }
    fn end_document(&mut self) {
        self.mark(Sign::End(None), 0);
    }
    fn raw(&mut self) {
        self.stopped();
    }
    fn settle(&mut self) {
        self.settled();
    }
}

impl TextSink for Log {
    fn text(&mut self, bytes: &[u8]) {
        self.note(Sign::Text, bytes);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.note(Sign::Reasoning, bytes);
    }
    fn begin(&mut self, offset: usize) {
        self.mark(Sign::Begin, offset as u64);
        if let Some(reader) = &mut self.reader {
            reader.reset();
        }
    }
    fn json(&mut self, bytes: &[u8]) {
        self.mended(bytes);
    }
    fn raw(&mut self) {
        self.stopped();
    }
    fn settle(&mut self) {
        self.settled();
    }
    fn repair(&mut self, repair: Repair) {
        self.repaired(&repair);
    }
    fn end(&mut self, outcome: Outcome) {
        self.mark(Sign::End(Some(outcome)), 0);
    }
}

/// Hashes what is written.
struct Hashed(u64);

impl fmt::Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text.bytes().fold(self.0, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Ok(())
    }
}

fn hash_of(completion: Completion<'_>) -> u64 {
    let mut hashed = Hashed(0xcbf2_9ce4_8422_2325);
    let _ = write!(hashed, "{completion}");
    hashed.0
}

impl Reader for Mender {
    fn reset(&mut self) {
        Self::reset(self);
    }
    fn push(&mut self, chunk: &[u8], log: &mut Log) {
        Self::push(self, chunk, log);
    }
    fn finish(&mut self, log: &mut Log) -> Outcome {
        Self::finish(self, log)
    }
    fn state(&self) -> State {
        State {
            offset: self.offset(),
            withheld: self.withheld(),
            depth: self.depth(),
            completion: self.completion().map(hash_of),
            document_end: self.document_end(),
            unescaped_quotes: self.has_unescaped_quotes(),
            outcome: self.outcome(),
        }
    }
}

impl Reader for Finder {
    fn reset(&mut self) {
        Self::reset(self);
    }
    fn push(&mut self, chunk: &[u8], log: &mut Log) {
        Self::push(self, chunk, log);
    }
    fn finish(&mut self, log: &mut Log) -> Outcome {
        Self::finish(self, log)
    }
    fn state(&self) -> State {
        State {
            offset: self.offset(),
            withheld: self.withheld(),
            depth: self.depth(),
            completion: self.completion().map(hash_of),
            document_end: None,
            unescaped_quotes: false,
            outcome: self.outcome(),
        }
    }
}
