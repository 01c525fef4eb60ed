//! The push path: bytes in, certain text out.

use alloc::vec::Vec;
use core::fmt;

use crate::{
    Options, Outcome, Output, Path, Repair,
    engine::{Edit, Engine, Source, Stop},
};

/// Mends JSON text while it arrives.
///
/// Calling order: [`push`](Self::push) any number of times, then [`finish`](Self::finish) or
/// [`abandon`](Self::abandon) once; [`completion`](Self::completion), [`withheld`](Self::withheld)
/// and the other questions at any time; [`reset`](Self::reset) starts the next input with the same
/// buffers. After the end, further pushes pass through raw and the outcome stays the same.
///
/// Text and repairs go to the [`Output`] as they become certain; [`Collected`](crate::Collected) keeps both.
///
/// What has left is never taken back, and at every moment `output + completion()` is valid JSON.
/// How the input is cut into chunks changes nothing. Chunks end anywhere, inside a character too.
///
/// ```
/// use jsonmend_core::{Mender, Options, Outcome};
///
/// let mut mender = Mender::new(Options::new());
/// let mut text = Vec::new();
/// mender.push(b"{'city': 'Par", &mut text);
/// assert_eq!(text, br#"{"city": "Par"#);
/// assert_eq!(mender.completion().unwrap().to_string(), "\"}");
/// mender.push(b"is', }", &mut text);
/// assert_eq!(mender.finish(&mut text), Outcome::Repaired);
/// assert_eq!(text, br#"{"city": "Paris" }"#);
/// ```
///
/// Memory: less than a kilobyte, 16 bytes a level, the keys of the open levels, once more where
/// something in them was repaired, with a guide what it knows of the levels it was asked about, the
/// repairs of one push, and at most
/// [`Limits::with_buffer`](crate::Limits::with_buffer) bytes held back.
#[derive(Clone, Debug)]
pub struct Mender {
    engine: Engine,
    /// Input that is not certain yet: from the engine's mark on.
    carry: Vec<u8>,
    /// Bytes pushed so far.
    pushed: usize,
    /// Why text passes through raw, once it does.
    raw: Option<Stop>,
    outcome: Option<Outcome>,
    repairs: usize,
}

/// How much of a chunk joins what is held back before the chunk itself is read in place.
const JOIN: usize = 128;

impl Mender {
    /// A mender at the start of an input.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            engine: Engine::streaming(options),
            carry: Vec::new(),
            pushed: 0,
            raw: None,
            outcome: None,
            repairs: 0,
        }
    }

    /// Reads a chunk, and hands out what is certain now.
    pub fn push(&mut self, chunk: &[u8], out: &mut impl Output) {
        self.engine.stop_at_end(false);
        let open = self.outcome.is_none() && self.carry.is_empty();
        if open && self.engine.read_content(chunk, self.pushed) {
            self.pushed += chunk.len();
            out.copy_plain(chunk);
        } else if self.outcome.is_some() || !self.engine.in_lane() {
            self.read(chunk, out);
        } else {
            let clean = self.engine.read_piece(&self.carry, chunk, self.pushed);
            if let Some(rest) = self.followed(clean, chunk, out) {
                self.read(rest, out);
            }
        }
        out.settle();
    }

    /// Reads a chunk up to the end of the document: `None` while the document goes on, else how
    /// many bytes of this chunk were taken. Where the end was understood only by what follows it,
    /// the end may lie before this chunk; [`behind`](Self::behind) has the bytes between.
    ///
    /// ```
    /// use jsonmend_core::{Mender, Options};
    /// let mut mender = Mender::new(Options::new());
    /// let mut text = Vec::new();
    /// assert_eq!(mender.push_document(b"{'a': ", &mut text), None);
    /// assert_eq!(mender.push_document(b"1} and more", &mut text), Some(2));
    /// assert_eq!(text, br#"{"a": 1}"#);
    /// ```
    pub fn push_document(&mut self, chunk: &[u8], out: &mut impl Output) -> Option<usize> {
        if self.document_ended() {
            return Some(0);
        }
        let start = self.pushed;
        self.engine.stop_at_end(true);
        self.read(chunk, out);
        out.settle();
        let end = self.engine.document_end()?;
        self.carry.truncate(start.saturating_sub(end));
        self.pushed = start.max(end);
        Some(end.saturating_sub(start))
    }

    /// After [`push_document`](Self::push_document) has seen the end, or [`finish`](Self::finish)
    /// has found it: bytes of earlier chunks that lie after it.
    #[must_use]
    pub fn behind(&self) -> &[u8] {
        if self.document_ended() { &self.carry } else { &[] }
    }

    fn read(&mut self, chunk: &[u8], out: &mut impl Output) {
        if self.outcome.is_some() || self.raw.is_some() {
            self.pushed += chunk.len();
            out.raw();
            out.copy(chunk);
            return;
        }
        let mut rest = chunk;
        while self.raw.is_none() {
            if self.engine.in_lane() {
                match self.follow(rest, out) {
                    Some(left) => rest = left,
                    None => return,
                }
            }
            if self.carry.is_empty() || rest.is_empty() {
                break;
            }
            if self.engine.is_stopped() {
                return;
            }
            let (head, tail) = rest.split_at(rest.len().min(JOIN));
            let joint = self.carry.len();
            self.carry.extend_from_slice(head);
            self.pushed += head.len();
            rest = tail;
            let mut carry = core::mem::take(&mut self.carry);
            let used = self.advance(&carry, false, out);
            let open = self.raw.is_none() && !rest.is_empty() && !self.engine.in_lane();
            if used >= joint && open {
                // Everything held back is settled: what is open lies in the chunk, read it there.
                let back = carry.len() - used;
                let at = chunk.len() - rest.len() - back;
                self.pushed -= back;
                rest = &chunk[at..];
                carry.clear();
            } else {
                carry.drain(..used);
            }
            self.carry = carry;
        }
        if self.raw.is_some() {
            self.bypass(rest, out);
            return;
        }
        if rest.is_empty() {
            return;
        }
        self.pushed += rest.len();
        let used = self.advance(rest, false, out);
        if self.engine.is_stopped() && self.raw.is_none() {
            // What stands behind the document is the caller's.
            return;
        }
        self.carry.extend_from_slice(&rest[used..]);
        if self.raw.is_some() {
            self.bypass(&[], out);
        }
    }

    /// Goes on in the clean lane: what that leaves of `rest`, to be read again after what is held
    /// back; `None` if it read all.
    fn follow<'a>(&mut self, rest: &'a [u8], out: &mut impl Output) -> Option<&'a [u8]> {
        let clean = self.engine.read_lane(&self.carry, rest, self.pushed);
        self.followed(clean, rest, out)
    }

    /// Hands out what the clean lane has settled of `rest`, all of which it read if it was clean.
    #[inline(always)]
    fn followed<'a>(
        &mut self,
        clean: bool,
        rest: &'a [u8],
        out: &mut impl Output,
    ) -> Option<&'a [u8]> {
        let base = self.pushed;
        let mark = self.engine.mark();
        self.engine.emit_plain();
        let mut left = rest;
        if mark >= base {
            if !self.carry.is_empty() {
                out.copy(&self.carry);
                self.carry.clear();
            }
            if mark > base {
                let (settled, behind) = rest.split_at(mark - base);
                out.copy(settled);
                left = behind;
            }
        } else {
            let settled = mark.saturating_sub(base - self.carry.len());
            if settled > 0 {
                out.copy(&self.carry[..settled]);
                self.carry.copy_within(settled.., 0);
                self.carry.truncate(base - mark);
            }
        }
        if !clean {
            self.pushed = base + rest.len() - left.len();
            return Some(left);
        }
        self.pushed = base + rest.len();
        if !left.is_empty() {
            append_end(&mut self.carry, rest, left.len());
        }
        None
    }

    /// Ends the input: settles what is open, closes what was cut off if the policy allows it.
    ///
    /// After [`push_document`](Self::push_document) the document may turn out to have ended before
    /// the input did; [`behind`](Self::behind) then has what is after it.
    pub fn finish(&mut self, out: &mut impl Output) -> Outcome {
        if let Some(outcome) = self.outcome {
            return outcome;
        }
        let mut outcome = None;
        if self.raw.is_none() {
            let carry = core::mem::take(&mut self.carry);
            let used = self.advance(&carry, true, out);
            self.carry = carry;
            self.carry.drain(..used);
            if self.raw.is_none() {
                outcome = Some(self.engine.outcome(self.repairs));
            }
        }
        if !self.carry.is_empty() && !self.engine.is_stopped() {
            self.bypass(&[], out);
        }
        out.settle();
        let outcome = outcome.unwrap_or(self.raw.map_or(Outcome::Invalid, outcome_of));
        self.outcome = Some(outcome);
        outcome
    }

    /// Gives up: flushes what was held back, raw. An outcome that stands already stays.
    pub fn abandon(&mut self, out: &mut impl Output) -> Outcome {
        let outcome = self.outcome().unwrap_or(Outcome::Abandoned);
        if self.outcome.is_none() {
            if let Some(dropped) = self.engine.abandon() {
                out.repair(dropped);
            }
            self.bypass(&[], out);
            self.outcome = Some(outcome);
        }
        outcome
    }

    /// Starts over with the same options and buffers.
    pub fn reset(&mut self) {
        self.engine.reset();
        self.carry.clear();
        self.pushed = 0;
        self.raw = None;
        self.outcome = None;
        self.repairs = 0;
    }

    /// What would make the output so far a valid document: `None` before a document begins, after
    /// one has ended, and once text passes through raw. Costs O(depth).
    #[must_use]
    pub fn completion(&self) -> Option<Completion<'_>> {
        let open = self.raw.is_none() && self.outcome.is_none() && self.engine.in_document();
        open.then_some(Completion { engine: &self.engine })
    }

    /// How many bytes of the input were received and are not settled yet.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.carry.len()
    }

    /// How many containers are open in the output so far.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.engine.depth()
    }

    /// How many bytes were pushed.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.pushed
    }

    /// How many repairs were handed out.
    #[must_use]
    pub const fn repair_count(&self) -> usize {
        self.repairs
    }

    /// Where in the document the input stands now; after [`Outcome::Closed`] or [`Outcome::Cut`],
    /// where it was cut off.
    #[must_use]
    pub fn path(&self) -> Path {
        self.engine.path()
    }

    /// The repair that the policy forbade, where that made the outcome
    /// [`Invalid`](Outcome::Invalid).
    #[must_use]
    pub const fn refused(&self) -> Option<&Repair> {
        self.engine.refused()
    }

    /// The outcome, once the end was reached or nothing that follows can change it.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome.or_else(|| self.raw.map(outcome_of))
    }

    /// Where the last document that was read ended: an offset into the input.
    #[must_use]
    pub const fn document_end(&self) -> Option<usize> {
        self.engine.document_end()
    }

    /// How many steps of work were done; grows in proportion to the input.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.engine.steps()
    }

    /// Whether a string so far held quotes that were not escaped, apostrophes aside: one of them may
    /// have ended it, and the document, too early or too late.
    ///
    /// ```
    /// use jsonmend_core::{Mender, Options};
    /// let mut mender = Mender::new(Options::new());
    /// mender.push(br#"{"a": "it's", "b": ""#, &mut ());
    /// assert!(!mender.has_unescaped_quotes());
    /// mender.push(br#"say "hi" now", "c": 1}"#, &mut ());
    /// assert!(mender.has_unescaped_quotes());
    /// ```
    #[must_use]
    pub const fn has_unescaped_quotes(&self) -> bool {
        self.engine.unescaped() > 0
    }

    /// Whether a whole document has been read.
    #[must_use]
    pub fn document_ended(&self) -> bool {
        self.engine.documents() > 0
    }

    /// Lets the engine read `text`, which starts at the mark; returns how much of it is settled.
    fn advance(&mut self, text: &[u8], last: bool, out: &mut impl Output) -> usize {
        let base = self.pushed - text.len();
        let stop = self.engine.run(Source::new(text, base, last)).err();
        let mark = self.engine.mark();
        emit(&mut self.engine, text, base, out, &mut self.repairs);
        self.raw = stop;
        mark - base
    }

    /// Hands out everything held back and `rest` as they came.
    fn bypass(&mut self, rest: &[u8], out: &mut impl Output) {
        if self.raw.is_none() {
            self.raw = Some(Stop::Refused);
        }
        out.settle();
        out.raw();
        if !self.carry.is_empty() {
            out.copy(&self.carry);
            self.carry.clear();
        }
        if !rest.is_empty() {
            self.pushed += rest.len();
            out.copy(rest);
        }
    }
}

/// Appends the last `length` bytes of `text`, at least one. Most often they are few, and a copy of
/// a length that is not known costs more to call, and to guess the branches of, than to make.
#[inline(always)]
fn append_end(held: &mut Vec<u8>, text: &[u8], length: usize) {
    match text.last_chunk() {
        Some(word) if length <= 8 => {
            let word = u64::from_le_bytes(*word) >> (64 - 8 * length);
            let end = held.len() + length;
            held.extend_from_slice(&word.to_le_bytes());
            held.truncate(end);
        }
        _ => held.extend_from_slice(&text[text.len() - length..]),
    }
}

/// How an input ends whose text passes through raw.
const fn outcome_of(stop: Stop) -> Outcome {
    match stop {
        Stop::Cut => Outcome::Cut,
        Stop::Nothing => Outcome::None,
        Stop::Overflow => Outcome::Overflow,
        Stop::Refused => Outcome::Invalid,
    }
}

/// Writes what lies between the engine's last mark and the present one, edits applied.
fn emit(engine: &mut Engine, text: &[u8], base: usize, out: &mut impl Output, count: &mut usize) {
    let mark = engine.mark();
    let mut at = engine.emitted().max(base);
    if engine.is_plain() {
        engine.emit_plain();
        if mark > at {
            out.copy(&text[at - base..mark - base]);
        }
        return;
    }
    engine.drain(|edit| match edit {
        Edit::Replace(repair, _) => {
            if repair.start > at {
                out.copy(&text[at - base..repair.start - base]);
            }
            at = at.max(repair.end);
            *count += 1;
            let after = repair.after.clone();
            out.repair(repair);
            if !after.is_empty() {
                out.patch(after.as_bytes());
            }
        }
        Edit::EndDocument { end, .. } => {
            if end > at {
                out.copy(&text[at - base..end - base]);
                at = end;
            }
            out.end_document();
        }
    });
    if engine.dropping().is_none_or(|from| from > at) {
        let upto = engine.dropping().unwrap_or(mark).min(mark);
        if upto > at {
            out.copy(&text[at - base..upto - base]);
        }
    }
}

/// What closes the document as far as it has left; see [`Mender::completion`].
///
/// It prints as the bytes to append.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    engine: &'a Engine,
}

impl fmt::Display for Completion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.engine.write_completion(f)
    }
}
