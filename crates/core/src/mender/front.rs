//! Before the engine: finds out whether a document is in a wrapper, and takes it off.

use alloc::{boxed::Box, vec::Vec};

use super::Mender;
use crate::{
    Outcome, Output, Repair, RepairKind,
    engine::{Stop, Within},
    prose::Marks,
    unwrap::{Composer, Gate, Piece, Reader, Seen, Wrapper},
};

/// What comes before the engine.
#[derive(Clone, Debug)]
pub(super) enum Front {
    /// Nothing: the engine reads the text as it came.
    Clear,
    /// It is not known yet whether there is a wrapper. These bytes decide that, and wait.
    Gate(Gate, Vec<u8>),
    Wrapped(Box<Wrapped>),
}

/// A text of which a wrapper is taken off.
#[derive(Clone, Debug)]
pub(super) struct Wrapped {
    reader: Reader,
    composer: Composer,
    /// How many bytes were pushed, and the last of them, which are not certain yet.
    received: usize,
    kept: Vec<u8>,
    /// The text that was wrapped, while it is passed to the engine.
    inner: Vec<u8>,
    /// Where the last document ended, in the text as it was pushed.
    document_end: Option<usize>,
    /// The repair that the policy forbids.
    refused: Option<Repair>,
    repairs: usize,
    /// Whether mending has stopped, so that the text is passed on as it was pushed.
    raw: bool,
}

impl Wrapped {
    /// The state at an offset up to which everything was emitted but `kept`, and what the engine is
    /// `dropping`.
    fn new(
        wrapper: Wrapper,
        offset: usize,
        kept: Vec<u8>,
        repairs: usize,
        dropping: Option<usize>,
    ) -> Self {
        Self {
            reader: Reader::new(wrapper, offset),
            composer: Composer::new(offset - kept.len(), dropping),
            received: offset,
            kept,
            inner: Vec::new(),
            document_end: None,
            refused: None,
            repairs,
            raw: false,
        }
    }

    /// Turns more of the text into the one that was wrapped.
    fn unwrap(&mut self, chunk: &[u8], last: bool) -> Vec<u8> {
        self.received += chunk.len();
        self.kept.extend_from_slice(chunk);
        let mut inner = core::mem::take(&mut self.inner);
        inner.clear();
        self.reader.read(chunk, last, &mut inner, &mut self.composer.edits);
        inner
    }

    /// Forgets what is certain.
    fn settle(&mut self) {
        let from = self.received - self.kept.len();
        let settled = self.composer.raw().saturating_sub(from);
        self.kept.drain(..settled.min(self.kept.len()));
    }

    /// Once mending has stopped, passes on what is kept.
    fn bypass(&mut self, out: &mut dyn Output) {
        self.settle();
        self.raw = true;
        self.composer.edits.clear();
        out.settle();
        out.raw();
        out.copy(&self.kept);
        self.kept.clear();
    }
}

/// Notices a string that was not closed.
struct Unterminated(bool);

impl Output for Unterminated {
    fn copy(&mut self, _: &[u8]) {}
    fn repair(&mut self, repair: Repair) {
        let inside = [RepairKind::UnterminatedString, RepairKind::CutEscape];
        self.0 |= inside.contains(&repair.kind());
    }
}

impl Mender {
    /// Whether the document would end inside of a string value, if the input ended here. The policy
    /// does not matter to that. Costs O(depth), and reads what is [withheld](Self::withheld).
    ///
    /// ```
    /// use wiremend_core::{Mender, MendOptions};
    /// let mut mender = Mender::new(MendOptions::new());
    /// mender.push(br#"{'a': 'b', "c": "d" e"#, &mut Vec::new());
    /// assert!(mender.ends_in_string());
    /// mender.push(br#"", "f": 1"#, &mut Vec::new());
    /// assert!(!mender.ends_in_string());
    /// ```
    #[must_use]
    pub fn ends_in_string(&mut self) -> bool {
        let probe = self.engine.probe();
        let engine = core::mem::replace(&mut self.engine, probe);
        let mut probe = self.clone();
        probe.lines = None;
        self.engine = engine;
        let mut watch = Unterminated(false);
        probe.finish(&mut watch);
        watch.0
    }

    /// Says that the text begins with a document whose lines are marked, after the first mark.
    ///
    /// ```
    /// use wiremend_core::{Mender, MendOptions, prose::Marks};
    /// let text = b"{\n>   \"a\": 1\n> }";
    /// let marks = Marks::of(b"> ", text, 64, true).unwrap().unwrap();
    /// let (mut mender, mut out) = (Mender::new(MendOptions::new()), Vec::new());
    /// mender.begin_marked(marks);
    /// assert_eq!(mender.push_document(text, &mut out), Some(text.len()));
    /// assert_eq!(out, b"{\n  \"a\": 1\n}");
    /// ```
    pub fn begin_marked(&mut self, marks: Marks) {
        let wrapper = Wrapper::Lines { marks, within: true };
        self.engine.begin_document();
        self.within = Within::Other;
        self.front = Front::Wrapped(Box::new(Wrapped::new(wrapper, 0, Vec::new(), 0, None)));
    }

    /// Reads a piece of a text that may be in a wrapper, or is. `last` says that the text ends with it.
    pub(super) fn read_front(&mut self, piece: &[u8], last: bool, out: &mut dyn Output) {
        if self.outcome.is_some() || self.raw.is_some() {
            self.read_stopped(piece, out);
            return;
        }
        match core::mem::replace(&mut self.front, Front::Clear) {
            Front::Clear => self.read(piece, out),
            Front::Gate(gate, held) if held.is_empty() => self.watch(gate, piece, last, out),
            Front::Gate(gate, mut held) => {
                held.extend_from_slice(piece);
                self.watch(gate, &held, last, out);
            }
            Front::Wrapped(wrapped) => self.read_wrapped(wrapped, piece, last, out),
        }
    }

    /// After the end of the text, or once mending has stopped.
    fn read_stopped(&mut self, piece: &[u8], out: &mut dyn Output) {
        match &mut self.front {
            Front::Wrapped(wrapped) => {
                wrapped.received += piece.len();
                out.raw();
                out.copy(piece);
            }
            front => {
                *front = Front::Clear;
                self.read(piece, out);
            }
        }
    }

    /// Looks for a wrapper.
    fn watch(&mut self, mut gate: Gate, bytes: &[u8], last: bool, out: &mut dyn Output) {
        self.watched += bytes.len().min(super::JOIN) as u64;
        match gate.watch(bytes, self.engine.options(), last) {
            Seen::Clear => self.read(bytes, out),
            Seen::Open(clear) => {
                let (clear, held) = bytes.split_at(clear);
                self.read(clear, out);
                self.front = Front::Gate(gate, held.to_vec());
                if self.raw.is_some() {
                    self.front = Front::Clear;
                    self.read(held, out);
                }
            }
            Seen::Wrapped(at, wrapper) => {
                let (clear, rest) = bytes.split_at(at);
                self.read(clear, out);
                self.leave_fast_path(out);
                if self.raw.is_some() {
                    self.read(rest, out);
                    return;
                }
                // What waits for its line is before the wrapper, too.
                let waits = self.lines.as_ref().map_or(&[][..], |lines| lines.held());
                let kept = [&self.carry[..], waits].concat();
                let offset = self.pushed + waits.len();
                let wrapped =
                    Wrapped::new(wrapper, offset, kept, self.repairs, self.engine.dropping());
                self.read_wrapped(Box::new(wrapped), rest, last, out);
            }
        }
    }

    fn read_wrapped(
        &mut self,
        mut wrapped: Box<Wrapped>,
        piece: &[u8],
        last: bool,
        out: &mut dyn Output,
    ) {
        self.watched += piece.len() as u64;
        let kind = wrapped.reader.kind();
        if !self.engine.options().policy().allows(kind) {
            let at = wrapped.received;
            wrapped.refused = Some(Repair::new(kind, at..at, ""));
            self.raw = Some(Stop::Refused);
            self.carry.clear();
            wrapped.unwrap(piece, last);
            wrapped.bypass(out);
            self.front = Front::Wrapped(wrapped);
            return;
        }
        let inner = wrapped.unwrap(piece, last);
        self.read(&inner, &mut Via { out, wrapped: &mut wrapped });
        wrapped.inner = inner;
        self.settle_wrapped(wrapped, out);
    }

    /// After the engine has read: what is certain needs not be kept.
    fn settle_wrapped(&mut self, mut wrapped: Box<Wrapped>, out: &mut dyn Output) {
        if let Some(from) = self.engine.dropping() {
            let Wrapped { composer, repairs, .. } = &mut *wrapped;
            composer.drop_text(from, self.engine.committed(), |piece| {
                if let Piece::Repair(repair) = piece {
                    *repairs += 1;
                    out.repair(repair);
                }
            });
        }
        wrapped.settle();
        if self.raw.is_some() {
            if let Some(refused) = self.engine.refused() {
                let composed = wrapped.composer.clone().repair(refused.clone(), |_| ());
                wrapped.refused = Some(composed);
            }
            wrapped.bypass(out);
        }
        self.front = Front::Wrapped(wrapped);
    }

    /// Ends a text of which a wrapper was taken off.
    pub(super) fn finish_wrapped(
        &mut self,
        mut wrapped: Box<Wrapped>,
        out: &mut dyn Output,
    ) -> Outcome {
        if self.raw.is_none() {
            let inner = wrapped.unwrap(&[], true);
            self.read(&inner, &mut Via { out, wrapped: &mut wrapped });
            wrapped.inner = inner;
        }
        let mut outcome = self.finish_text(&mut Via { out, wrapped: &mut wrapped });
        if self.raw.is_none() && !self.engine.is_stopped() {
            let Wrapped { composer, repairs, .. } = &mut *wrapped;
            composer.finish(|piece| {
                if let Piece::Repair(repair) = piece {
                    *repairs += 1;
                    out.repair(repair);
                }
            });
        }
        if outcome == Outcome::Unchanged && wrapped.repairs > 0 {
            outcome = Outcome::Repaired;
        }
        self.settle_wrapped(wrapped, out);
        outcome
    }

    /// Gives up on a text that may be in a wrapper, or is.
    pub(super) fn abandon_front(&mut self, out: &mut dyn Output) {
        match core::mem::replace(&mut self.front, Front::Clear) {
            Front::Clear => self.bypass(&[], out),
            Front::Gate(_, held) => self.bypass(&held, out),
            Front::Wrapped(mut wrapped) => {
                self.carry.clear();
                self.raw.get_or_insert(Stop::Refused);
                wrapped.bypass(out);
                self.front = Front::Wrapped(wrapped);
            }
        }
    }
}

/// Receives what the engine makes of the text that was wrapped, and emits it as edits of the text as
/// it was pushed.
struct Via<'a> {
    out: &'a mut dyn Output,
    wrapped: &'a mut Wrapped,
}

impl Output for Via<'_> {
    fn copy(&mut self, bytes: &[u8]) {
        let Self { out, wrapped } = self;
        if wrapped.raw {
            return;
        }
        let (mut rest, count) = (bytes, &mut wrapped.repairs);
        let mut take = |length: usize| {
            let (taken, left) = rest.split_at(length.min(rest.len()));
            rest = left;
            taken
        };
        wrapped.composer.pass_by(bytes.len(), |piece| match piece {
            Piece::Copy(length) => out.copy(take(length)),
            Piece::Patch(length) => out.patch(take(length)),
            Piece::Repair(repair) => {
                *count += 1;
                out.repair(repair);
            }
        });
    }

    fn patch(&mut self, bytes: &[u8]) {
        self.out.patch(bytes);
    }

    fn repair(&mut self, repair: Repair) {
        let Self { out, wrapped } = self;
        let Wrapped { composer, kept, received, repairs, .. } = &mut **wrapped;
        let from = *received - kept.len();
        let repair = composer.repair(repair, |piece| {
            if let Piece::Repair(repair) = piece {
                *repairs += 1;
                out.repair(repair);
            }
        });
        let span = repair.start().saturating_sub(from)..repair.end().saturating_sub(from);
        if kept.get(span) != Some(repair.after().as_bytes()) || repair.start() < from {
            *repairs += 1;
            out.repair(repair);
        }
    }

    fn end_document(&mut self) {
        self.wrapped.document_end = Some(self.wrapped.composer.raw());
        self.out.end_document();
    }

    fn raw(&mut self) {
        self.wrapped.raw = true;
    }
}

impl Front {
    /// Before a text, and before a document.
    pub(super) const START: Self = Self::Gate(Gate::START, Vec::new());
    pub(super) const DOCUMENT: Self = Self::Gate(Gate::DOCUMENT, Vec::new());

    /// Emits the repair that drops text after a document.
    pub(super) fn dropped(&mut self, repair: Repair, out: &mut dyn Output) {
        match self {
            Self::Wrapped(wrapped) => Via { out, wrapped }.repair(repair),
            Self::Clear | Self::Gate(..) => out.repair(repair),
        }
    }

    pub(super) const fn is_clear(&self) -> bool {
        matches!(self, Self::Clear)
    }

    /// How many bytes wait before the engine; in a wrapper, all that are not certain.
    pub(super) fn withheld(&self, carried: usize) -> usize {
        match self {
            Self::Clear => carried,
            Self::Gate(_, held) => carried + held.len(),
            Self::Wrapped(wrapped) => wrapped.kept.len(),
        }
    }

    /// How many bytes were pushed, of which so many have reached the engine.
    pub(super) fn received(&self, pushed: usize) -> usize {
        match self {
            Self::Clear => pushed,
            Self::Gate(_, held) => pushed + held.len(),
            Self::Wrapped(wrapped) => wrapped.received,
        }
    }

    pub(super) fn wrapped(&self) -> Option<&Wrapped> {
        match self {
            Self::Wrapped(wrapped) => Some(wrapped),
            Self::Clear | Self::Gate(..) => None,
        }
    }

    /// Where the last document ended of which a wrapper was taken off. Forgets what was pushed from
    /// `start` on.
    pub(super) fn end_document(&mut self, start: usize) -> Option<usize> {
        let Self::Wrapped(wrapped) = self else { return None };
        let end = wrapped.document_end?;
        let from = wrapped.received - wrapped.kept.len();
        wrapped.kept.truncate(start.saturating_sub(from));
        wrapped.received = from + wrapped.kept.len();
        Some(end)
    }
}

impl Wrapped {
    pub(super) fn refused(&self) -> Option<&Repair> {
        self.refused.as_ref()
    }

    pub(super) const fn document_end(&self) -> Option<usize> {
        self.document_end
    }

    /// What was pushed and is not certain, or comes after the document.
    pub(super) fn kept(&self) -> &[u8] {
        &self.kept
    }

    pub(super) const fn repairs(&self) -> usize {
        self.repairs
    }
}
