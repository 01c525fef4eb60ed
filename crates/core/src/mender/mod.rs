//! The push path: mends text while it arrives.

mod front;
mod lines;

use alloc::boxed::Box;
use core::fmt;

use crate::{
    MendOptions, Outcome, Output, Path, Repair,
    append::AppendBuffer,
    engine::{Edit, Engine, LONGEST, Part, Stop, Within},
    scan,
};
use front::{Front, Wrapped};
use lines::Lines;

pub(crate) use lines::cut_lines;

/// Mends JSON text while it arrives.
///
/// Call [`push`](Self::push) any number of times, then [`finish`](Self::finish) or
/// [`abandon`](Self::abandon) once. [`completion`](Self::completion), [`withheld`](Self::withheld)
/// and the other accessors may be called at any time. [`reset`](Self::reset) prepares for the next
/// input and keeps the buffers. After the end, further pushes pass through raw, and the outcome
/// stays the same.
///
/// Text and repairs go to the [`Output`] as soon as they are certain.
/// [`Collected`](crate::Collected) keeps both.
///
/// Text that was emitted is never changed, and at every moment `output + completion()` is valid
/// JSON. It makes no difference how the input is divided into chunks. They may end anywhere, even
/// inside a character.
///
/// ```
/// use wiremend_core::{Mender, MendOptions, Outcome};
///
/// let mut mender = Mender::new(MendOptions::new());
/// let mut text = Vec::new();
/// mender.push(b"{'city': 'Par", &mut text);
/// assert_eq!(text, br#"{"city": "Par"#);
/// assert_eq!(mender.completion().unwrap().to_string(), "\"}");
/// mender.push(b"is', }", &mut text);
/// assert_eq!(mender.finish(&mut text), Outcome::Repaired);
/// assert_eq!(text, br#"{"city": "Paris" }"#);
/// ```
///
/// Memory: less than a kilobyte, 16 bytes per level, the keys of the open levels, what a guide knows
/// of the levels that it was asked about, at most [`Limits::with_buffer`](crate::Limits::with_buffer)
/// bytes that are withheld, and about 48 bytes for each repair in these and in 16 KiB more.
#[derive(Clone, Debug)]
pub struct Mender {
    engine: Engine,
    /// The input that is not certain yet: everything after the committed position of the engine.
    carry: AppendBuffer,
    /// How many bytes were pushed so far.
    pushed: usize,
    /// Why text passes through raw, if it does.
    raw: Option<Stop>,
    outcome: Option<Outcome>,
    repairs: usize,
    front: Front,
    /// The lines of the text, if all documents are wanted.
    lines: Option<Box<Lines>>,
    /// How many bytes the front has looked at.
    watched: u64,
    /// Where the text ends, if that is in a string: what goes on in it can be emitted at once.
    within: Within,
}

/// Longer chunks are read in pieces of so many bytes, so that the repairs of one are emitted before
/// the next is read.
const PIECE: usize = 16 << 10;

/// How many bytes of a chunk are appended to the withheld ones before the rest is read in place.
const JOIN: usize = 128;

impl Mender {
    /// Creates a mender at the start of an input.
    #[must_use]
    pub fn new(options: MendOptions) -> Self {
        Self {
            lines: Lines::of(&options),
            engine: Engine::streaming(options),
            carry: AppendBuffer::default(),
            pushed: 0,
            raw: None,
            outcome: None,
            repairs: 0,
            front: Front::START,
            watched: 0,
            within: Within::Other,
        }
    }

    /// Reads a chunk, and emits what is certain now.
    #[inline]
    pub fn push(&mut self, chunk: &[u8], out: &mut impl Output) {
        if let Some(chunk) = self.push_content(chunk, out) {
            self.push_other(chunk, out);
        }
        out.settle();
    }

    /// Reads a chunk that is not only content of the current string. From here on, an output is called
    /// through a table, so that there is one copy of all this and not one for each type of output.
    fn push_other(&mut self, chunk: &[u8], out: &mut dyn Output) {
        self.engine.stop_at_end(false);
        if self.within == Within::Other || chunk.len() > PIECE || self.lines.is_some() {
            self.push_any(chunk, out);
        } else {
            self.push_piece(chunk, out);
        }
        self.within = if self.held() == 0 { self.ends_within() } else { Within::Other };
    }

    /// Reads a chunk of any length, whatever came before it.
    #[inline(never)]
    fn push_any(&mut self, chunk: &[u8], out: &mut dyn Output) {
        if !self.front.is_clear() {
            chunk.chunks(PIECE).for_each(|piece| self.read_front(piece, false, out));
        } else if self.lines.is_some() {
            chunk.chunks(PIECE).for_each(|piece| self.read(piece, out));
        } else if chunk.len() > PIECE {
            chunk.chunks(PIECE).for_each(|piece| self.push_long(piece, out));
        } else {
            self.push_long(chunk, out);
        }
    }

    /// Reads a chunk up to the end of the document. Returns `None` as long as the document
    /// continues, otherwise how many bytes of this chunk belong to it. If the end was recognized
    /// only by the bytes after it, it may be before this chunk. [`leftover`](Self::leftover) then
    /// returns the bytes of earlier chunks that do not belong to the document.
    ///
    /// ```
    /// use wiremend_core::{Mender, MendOptions};
    /// let mut mender = Mender::new(MendOptions::new());
    /// let mut text = Vec::new();
    /// assert_eq!(mender.push_document(b"{'a': ", &mut text), None);
    /// assert_eq!(mender.push_document(b"1} and more", &mut text), Some(2));
    /// assert_eq!(text, br#"{"a": 1}"#);
    /// ```
    pub fn push_document(&mut self, chunk: &[u8], out: &mut impl Output) -> Option<usize> {
        if self.document_ended() {
            return Some(0);
        }
        let start = self.offset();
        let end = match self.push_content(chunk, out) {
            Some(chunk) => self.push_to_end(chunk, start, out),
            None => None,
        };
        out.settle();
        end
    }

    /// Reads a chunk that is not only content of the current string, up to the end of the document. The
    /// input up to `start` was read before.
    fn push_to_end(&mut self, chunk: &[u8], start: usize, out: &mut dyn Output) -> Option<usize> {
        if start == 0 && self.front.wrapped().is_none() {
            self.engine.begin_document();
            self.front = Front::DOCUMENT;
        }
        self.engine.stop_at_end(true);
        self.lines = None;
        // What is taken off of a wrapper after the end of the document would be read again.
        let (mut rest, mut size) = (chunk, JOIN);
        while !rest.is_empty() && !self.document_ended() {
            let clear = self.front.is_clear();
            let most = if clear { PIECE } else { size };
            let (piece, tail) = rest.split_at(rest.len().min(most));
            if clear {
                self.read(piece, out);
            } else {
                self.read_front(piece, false, out);
            }
            (rest, size) = (tail, PIECE.min(2 * size));
        }
        self.within = self.ends_within();
        if let Some(end) = self.front.end_document(start) {
            return Some(end.saturating_sub(start));
        }
        let end = self.engine.document_end()?;
        self.carry.truncate(start.saturating_sub(end));
        self.pushed = start.max(end);
        Some(end.saturating_sub(start))
    }

    /// The bytes of earlier chunks that come after the end of the document, once
    /// [`push_document`](Self::push_document) or [`finish`](Self::finish) has found it. Otherwise
    /// empty.
    ///
    /// ```
    /// use wiremend_core::{Mender, MendOptions};
    /// let mut mender = Mender::new(MendOptions::new());
    /// assert_eq!(mender.push_document(b"12 ", &mut ()), None);
    /// assert_eq!(mender.push_document(b", 13", &mut ()), Some(0));
    /// assert_eq!(mender.leftover(), b" ");
    /// ```
    #[must_use]
    pub fn leftover(&self) -> &[u8] {
        match self.front.wrapped() {
            _ if !self.document_ended() => &[],
            Some(wrapped) => wrapped.kept(),
            None => &self.carry,
        }
    }

    fn read(&mut self, chunk: &[u8], out: &mut dyn Output) {
        if self.lines.is_some() && self.outcome.is_none() {
            self.read_lines(chunk, out);
        } else {
            self.read_text(chunk, out);
        }
    }

    fn read_text(&mut self, chunk: &[u8], out: &mut dyn Output) {
        if self.outcome.is_some() || self.raw.is_some() {
            self.pushed += chunk.len();
            out.raw();
            out.copy(chunk);
            return;
        }
        let mut rest = chunk;
        while self.raw.is_none() {
            if self.engine.on_fast_path() {
                match self.continue_fast(rest, out) {
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
            self.carry.append(head);
            self.pushed += head.len();
            rest = tail;
            let mut carry = core::mem::take(&mut self.carry);
            let used = self.advance(&carry, false, out);
            let open = self.raw.is_none() && !rest.is_empty() && !self.engine.on_fast_path();
            if used >= joint && open {
                // Everything withheld is committed, so the rest of the chunk can be read in place.
                let back = carry.len() - used;
                let at = chunk.len() - rest.len() - back;
                self.pushed -= back;
                rest = &chunk[at..];
                carry.clear();
            } else {
                carry.drop_front(used);
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
            // What follows the document is left to the caller.
            return;
        }
        self.carry.append(&rest[used..]);
        if self.raw.is_some() {
            self.bypass(&[], out);
        }
    }

    /// Ends the input. If the document was cut off, closes it if the policy allows that.
    ///
    /// After [`push_document`](Self::push_document) it may turn out that the document has ended
    /// before the input. [`leftover`](Self::leftover) then returns the bytes after it.
    pub fn finish(&mut self, out: &mut impl Output) -> Outcome {
        self.finish_to(out)
    }

    fn finish_to(&mut self, out: &mut dyn Output) -> Outcome {
        self.within = Within::Other;
        if let Some(outcome) = self.outcome {
            return outcome;
        }
        if matches!(self.front, Front::Gate(..)) {
            self.read_front(&[], true, out);
        }
        let outcome = match core::mem::replace(&mut self.front, Front::Clear) {
            Front::Wrapped(wrapped) => self.finish_wrapped(wrapped, out),
            Front::Clear | Front::Gate(..) => self.finish_text(out),
        };
        out.settle();
        self.outcome = Some(outcome);
        outcome
    }

    fn finish_text(&mut self, out: &mut dyn Output) -> Outcome {
        self.finish_lines(out);
        let mut outcome = None;
        if self.raw.is_none() {
            let carry = core::mem::take(&mut self.carry);
            let used = self.advance(&carry, true, out);
            self.carry = carry;
            self.carry.drop_front(used);
            if self.raw.is_none() {
                outcome = Some(self.engine.outcome(self.repairs));
            }
        }
        if !self.carry.is_empty() && !self.engine.is_stopped() {
            self.bypass(&[], out);
        }
        outcome.unwrap_or(self.raw.map_or(Outcome::Invalid, outcome_of))
    }

    /// Gives up, and emits the withheld bytes raw. An outcome that is already final stays.
    pub fn abandon(&mut self, out: &mut impl Output) -> Outcome {
        self.abandon_to(out)
    }

    fn abandon_to(&mut self, out: &mut dyn Output) -> Outcome {
        self.within = Within::Other;
        let outcome = self.outcome().unwrap_or(Outcome::Abandoned);
        if self.outcome.is_none() {
            if let Some(dropped) = self.engine.abandon() {
                self.front.dropped(dropped, out);
            }
            if let Some(lines) = self.lines.take() {
                self.carry.append(lines.held());
                self.pushed += lines.held().len();
            }
            self.abandon_front(out);
            self.outcome = Some(outcome);
        }
        outcome
    }

    /// Starts over with the same options, keeping the buffers.
    pub fn reset(&mut self) {
        self.engine.reset();
        self.carry.clear();
        self.pushed = 0;
        self.raw = None;
        self.outcome = None;
        self.repairs = 0;
        self.front = Front::START;
        self.lines = Lines::of(self.engine.options());
        self.watched = 0;
        self.within = Within::Other;
    }

    /// What would make the output so far a valid document. `None` before a document begins, after
    /// it has ended, and if text passes through raw. Costs O(depth).
    #[must_use]
    pub fn completion(&self) -> Option<Completion<'_>> {
        let open = self.raw.is_none() && self.outcome.is_none() && self.engine.in_document();
        open.then_some(Completion { engine: &self.engine })
    }

    /// How many bytes of the input were received but not emitted or dropped yet.
    #[must_use]
    pub fn withheld(&self) -> usize {
        self.front.withheld(self.carry.len() + self.held())
    }

    /// How many containers are open in the output so far.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.engine.depth()
    }

    /// How many bytes were pushed.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.front.received(self.pushed + self.held())
    }

    /// How many bytes wait for the next line.
    fn held(&self) -> usize {
        self.lines.as_ref().map_or(0, |lines| lines.held().len())
    }

    /// How many repairs were emitted.
    #[must_use]
    pub fn repair_count(&self) -> usize {
        self.front.wrapped().map_or(self.repairs, Wrapped::repairs)
    }

    /// The current path in the document. After [`Outcome::Closed`] or [`Outcome::Cut`], the path at
    /// which it was cut off.
    #[must_use]
    pub fn path(&self) -> Path {
        self.engine.path()
    }

    /// The repair that the policy forbids, if it made the outcome [`Invalid`](Outcome::Invalid).
    #[must_use]
    pub fn refused(&self) -> Option<&Repair> {
        match self.front.wrapped() {
            Some(wrapped) => wrapped.refused(),
            None => self.engine.refused(),
        }
    }

    /// Where in the document the [refused](Self::refused) repair would have been made.
    #[must_use]
    pub fn refused_at(&self) -> Option<Path> {
        self.refused().map(|_| self.engine.path())
    }

    /// The outcome, once the input has ended or nothing that follows can change it.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome.or_else(|| self.raw.map(outcome_of))
    }

    /// The offset in the input at which the last document ended.
    #[must_use]
    pub fn document_end(&self) -> Option<usize> {
        match self.front.wrapped() {
            Some(wrapped) => wrapped.document_end(),
            None => self.engine.document_end(),
        }
    }

    /// How many steps of work were done. Grows in proportion to the input.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.engine.steps() + self.watched
    }

    /// Whether any string so far contained quotes that were not escaped, except apostrophes. One of
    /// them may have ended the string, or the whole document, too early or too late.
    ///
    /// ```
    /// use wiremend_core::{Mender, MendOptions};
    /// let mut mender = Mender::new(MendOptions::new());
    /// mender.push(br#"{"a": "it's", "b": ""#, &mut ());
    /// assert!(!mender.has_unescaped_quotes());
    /// mender.push(br#"say "hi" now", "c": 1}"#, &mut ());
    /// assert!(mender.has_unescaped_quotes());
    /// ```
    #[must_use]
    pub const fn has_unescaped_quotes(&self) -> bool {
        self.engine.unescaped() > 0
    }

    /// Whether a whole document was read.
    #[must_use]
    pub fn document_ended(&self) -> bool {
        self.engine.documents() > 0
    }

    /// Runs the engine on `text`, which starts at its committed position. Returns how much of it is
    /// committed.
    fn advance(&mut self, text: &[u8], last: bool, out: &mut dyn Output) -> usize {
        let base = self.pushed - text.len();
        let stop = self.engine.run(Part::new(text, base, last)).err();
        let committed = self.engine.committed();
        emit(&mut self.engine, Text { carry: &[], rest: text, base }, out, &mut self.repairs);
        self.raw = stop;
        // A document that has ended may have taken more than the text that is left.
        committed.saturating_sub(base).min(text.len())
    }

    /// Emits the withheld bytes and `rest` unchanged.
    fn bypass(&mut self, rest: &[u8], out: &mut dyn Output) {
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

/// The outcome of an input whose text passes through raw.
const fn outcome_of(stop: Stop) -> Outcome {
    match stop {
        Stop::Cut => Outcome::Cut,
        Stop::Nothing => Outcome::None,
        Stop::Crowded | Stop::Overflow => Outcome::Overflow,
        Stop::Refused => Outcome::Invalid,
    }
}

/// What closes the document that was emitted so far. See [`Mender::completion`].
///
/// Its `Display` output is the text to append.
#[derive(Clone, Copy, Debug)]
pub struct Completion<'a> {
    engine: &'a Engine,
}

impl fmt::Display for Completion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.engine.write_completion(f)
    }
}

// Emission: the committed text with its edits applied.

/// The input that is not emitted yet: what was withheld, and the rest of the chunk at `base`.
#[derive(Clone, Copy)]
struct Text<'a> {
    carry: &'a [u8],
    rest: &'a [u8],
    base: usize,
}

impl Text<'_> {
    /// The offset of its first byte.
    const fn start(&self) -> usize {
        self.base - self.carry.len()
    }

    /// Emits the bytes between two offsets.
    #[inline]
    fn copy(&self, from: usize, to: usize, out: &mut dyn Output) {
        if from < self.base {
            let start = self.start();
            let end = to.min(self.base);
            if from < end {
                out.copy(&self.carry[from - start..end - start]);
            }
        }
        let from = from.max(self.base);
        if from < to {
            out.copy(&self.rest[from - self.base..to - self.base]);
        }
    }
}

/// Emits the text that was committed since the last time, with the edits applied.
fn emit(engine: &mut Engine, text: Text<'_>, out: &mut dyn Output, count: &mut usize) {
    let committed = engine.committed();
    let mut at = engine.emitted().max(text.start());
    if engine.is_plain() {
        engine.emit_plain();
        text.copy(at, committed, out);
        return;
    }
    engine.drain(|edit| match edit {
        Edit::Replace(repair, _) => {
            text.copy(at, repair.start, out);
            at = at.max(repair.end);
            *count += 1;
            let after = repair.shared_after();
            out.repair(repair);
            if !after.is_empty() {
                out.patch(after.as_bytes());
            }
        }
        Edit::EndDocument { end, .. } => {
            text.copy(at, end, out);
            at = at.max(end);
            out.end_document();
        }
    });
    if engine.dropping().is_none_or(|from| from > at) {
        let upto = engine.dropping().unwrap_or(committed).min(committed);
        text.copy(at, upto, out);
    }
}

// Chunks of clean text, and of a consistent dialect: they are read where they are.

impl Mender {
    /// Reads a chunk, or a piece of a long one.
    #[inline(never)]
    fn push_long(&mut self, piece: &[u8], out: &mut dyn Output) {
        if self.outcome.is_some() || !self.engine.on_fast_path() {
            self.read(piece, out);
        } else if let Some(rest) = self.continue_fast(piece, out) {
            self.read(rest, out);
        }
    }

    /// Emits the content at the start of a chunk, if the text so far ends in a string. Returns what is
    /// left to read, or `None` if that was all, as with most short chunks.
    #[inline(always)]
    fn push_content<'a>(&mut self, chunk: &'a [u8], out: &mut impl Output) -> Option<&'a [u8]> {
        match self.within {
            Within::Clean | Within::Other => Some(chunk),
            Within::Content if chunk.len() > LONGEST => self.push_long_content(chunk, out),
            Within::Content if scan::is_plain_text(chunk) => self.emit_content(chunk, out),
            Within::Token if chunk.len() > LONGEST => Some(chunk),
            Within::Content | Within::Token => self.push_odd(chunk, out),
        }
    }

    /// Emits a short piece of content with characters outside ASCII or escapes. Otherwise, returns
    /// it.
    #[inline(always)]
    fn push_odd<'a>(&mut self, chunk: &'a [u8], out: &mut impl Output) -> Option<&'a [u8]> {
        let base = self.pushed;
        if !self.engine.read_odd_piece(chunk, base) {
            return Some(chunk);
        }
        self.pushed = base + chunk.len();
        let mut left = chunk;
        // Otherwise, the piece is inside of a character or an escape.
        if let Some(length) = self.engine.committed().checked_sub(base) {
            if !self.carry.is_empty() {
                out.copy(&self.carry);
                self.carry.clear();
            }
            if length > 0 {
                let (settled, after) = chunk.split_at(length);
                out.copy(settled);
                left = after;
            }
        }
        if !left.is_empty() {
            self.carry.append_end(chunk, left.len());
        }
        self.within = if self.carry.is_empty() { Within::Content } else { Within::Token };
        None
    }

    #[inline(never)]
    fn push_long_content<'a>(
        &mut self,
        chunk: &'a [u8],
        out: &mut impl Output,
    ) -> Option<&'a [u8]> {
        let (content, rest) = chunk.split_at(scan::long_plain_run(chunk));
        let left = self.emit_content(content, out);
        if left.is_some() {
            return Some(chunk);
        }
        (!rest.is_empty()).then_some(rest)
    }

    /// Emits plain text that continues a string, if its last bytes cannot be more than content.
    /// Otherwise, returns it.
    #[inline(always)]
    fn emit_content<'a>(&mut self, text: &'a [u8], out: &mut impl Output) -> Option<&'a [u8]> {
        if !self.engine.read_content(text, self.pushed) {
            return Some(text);
        }
        self.pushed += text.len();
        out.copy_plain(text);
        None
    }

    /// Where the text ends, if that is in a string and all before the last character or escape of it
    /// was emitted.
    #[inline(always)]
    const fn ends_within(&self) -> Within {
        match self.engine.within() {
            Within::Other => Within::Other,
            Within::Content if !self.carry.is_empty() => Within::Clean,
            _ if !self.front.is_clear() || self.outcome.is_some() || self.raw.is_some() => {
                Within::Other
            }
            within => within,
        }
    }

    /// Reads a chunk that continues on the fast path.
    #[inline(always)]
    fn push_piece(&mut self, chunk: &[u8], out: &mut dyn Output) {
        let clean = self.engine.read_piece(&self.carry, chunk, self.pushed);
        if let Some(rest) = self.emit_fast(clean, chunk, out) {
            self.read(rest, out);
        }
    }

    /// Emits what is certain by the rules, which the fast path may withhold for longer.
    fn leave_fast_path(&mut self, out: &mut dyn Output) {
        if self.raw.is_none() && !self.carry.is_empty() {
            let mut carry = core::mem::take(&mut self.carry);
            let used = self.advance(&carry, false, out);
            carry.drop_front(used);
            self.carry = carry;
        }
    }

    /// Continues on the fast path. Returns the part of `rest` that must be read again after the
    /// withheld bytes, or `None` if all of it was read.
    fn continue_fast<'a>(&mut self, rest: &'a [u8], out: &mut dyn Output) -> Option<&'a [u8]> {
        let clean = self.engine.read_fast(&self.carry, rest, self.pushed);
        self.emit_fast(clean, rest, out)
    }

    /// Emits what the fast path has committed. If the input was `clean`, it has read all of `rest`.
    #[inline(always)]
    fn emit_fast<'a>(
        &mut self,
        clean: bool,
        rest: &'a [u8],
        out: &mut dyn Output,
    ) -> Option<&'a [u8]> {
        let base = self.pushed;
        let committed = self.engine.committed();
        if !self.engine.is_plain() {
            let text = Text { carry: &self.carry, rest, base };
            emit(&mut self.engine, text, out, &mut self.repairs);
            let left = self.keep_uncommitted(rest, committed);
            return self.end_fast(clean, rest, left);
        }
        self.engine.emit_plain();
        let mut left = rest;
        if committed >= base {
            if !self.carry.is_empty() {
                out.copy(&self.carry);
                self.carry.clear();
            }
            if committed > base {
                let (settled, after) = rest.split_at(committed - base);
                out.copy(settled);
                left = after;
            }
        } else {
            let settled = committed.saturating_sub(base - self.carry.len());
            if settled > 0 {
                out.copy(&self.carry[..settled]);
                self.carry.drop_front(settled);
            }
        }
        self.end_fast(clean, rest, left)
    }

    /// Drops what was committed from the withheld bytes, and returns the part of `rest` that was not.
    fn keep_uncommitted<'a>(&mut self, rest: &'a [u8], committed: usize) -> &'a [u8] {
        let settled = committed.saturating_sub(self.pushed - self.carry.len());
        match settled.checked_sub(self.carry.len()) {
            Some(of_rest) => {
                self.carry.clear();
                rest.get(of_rest..).unwrap_or_default()
            }
            None => {
                self.carry.drop_front(settled);
                rest
            }
        }
    }

    /// Keeps `left`, the end of `rest` that is not committed, or returns it to be read again.
    #[inline(always)]
    fn end_fast<'a>(&mut self, clean: bool, rest: &'a [u8], left: &'a [u8]) -> Option<&'a [u8]> {
        let base = self.pushed;
        if !clean {
            self.pushed = base + rest.len() - left.len();
            return Some(left);
        }
        self.pushed = base + rest.len();
        if !left.is_empty() {
            self.carry.append_end(rest, left.len());
        }
        None
    }
}
