//! A whole text in a wrapper.

use alloc::{collections::VecDeque, vec::Vec};

use super::{Composer, Piece, Reader, Wrapper};
use crate::{Mended, Outcome, Repair, Repairs};

/// A text is read in pieces of so many bytes when its edits are listed, so that only theirs are kept.
const PIECE: usize = 16 << 10;

/// The text in a wrapper that begins at `at`.
pub(crate) fn unwrapped(input: &[u8], at: usize, wrapper: Wrapper) -> Vec<u8> {
    let (before, rest) = input.split_at(at);
    let mut inner = Vec::with_capacity(input.len());
    inner.extend_from_slice(before);
    let mut reader = Reader::new(wrapper, at);
    let mut edits = VecDeque::new();
    for piece in rest.chunks(PIECE) {
        reader.read(piece, false, &mut inner, &mut edits);
        edits.clear();
    }
    reader.read(&[], true, &mut inner, &mut edits);
    inner
}

/// What mending that text has led to, as a result for the text as it was given.
pub(crate) fn wrapped(input: &[u8], at: usize, wrapper: Wrapper, mended: Mended) -> Mended {
    let mut edits = Edits {
        rest: input.get(at..).unwrap_or_default(),
        reader: Some(Reader::new(wrapper, at)),
        composer: Composer::new(0, None),
        repairs: Repairs::new(),
        scratch: Vec::new(),
    };
    let cut_at = mended.cut_at().cloned();
    let (outcome, text, inner) = mended.into_parts();
    for repair in &inner {
        edits.repair(input, repair);
    }
    let valid = text.is_some();
    let repairs = if valid { edits.finish() } else { edits.repairs };
    let outcome = match outcome {
        Outcome::Unchanged if !repairs.is_empty() => Outcome::Repaired,
        outcome => outcome,
    };
    Mended::new(outcome, text, repairs, cut_at)
}

/// The repairs so far, and what the next ones need.
struct Edits<'a> {
    rest: &'a [u8],
    reader: Option<Reader>,
    composer: Composer,
    repairs: Repairs,
    scratch: Vec<u8>,
}

impl Edits<'_> {
    /// Up to where the text that was wrapped is known. `None` once that is all of it.
    fn known(&self) -> Option<usize> {
        self.reader.as_ref().map(Reader::inner)
    }

    /// Reads a piece.
    fn read(&mut self) {
        let Some(reader) = &mut self.reader else { return };
        let (piece, rest) = self.rest.split_at(self.rest.len().min(PIECE));
        self.scratch.clear();
        reader.read(piece, rest.is_empty(), &mut self.scratch, &mut self.composer.edits);
        self.rest = rest;
        if rest.is_empty() {
            self.reader = None;
        }
    }

    fn repair(&mut self, input: &[u8], repair: Repair) {
        let (start, end) = (repair.start(), repair.end());
        self.pass(start);
        // Only the edits of one piece are kept, however much the repair drops.
        while let Some(known) = self.known().filter(|known| *known <= end) {
            let repairs = &mut self.repairs;
            self.composer.drop_text(start, known, |piece| keep(repairs, piece));
            self.read();
        }
        let repairs = &mut self.repairs;
        let repair = self.composer.repair(repair, |piece| keep(repairs, piece));
        if input.get(repair.span()) != Some(repair.after().as_bytes()) {
            self.repairs.push(&repair);
        }
    }

    /// Passes everything up to `to`, a piece at a time.
    fn pass(&mut self, to: usize) {
        while let Some(known) = self.known().filter(|known| *known <= to) {
            let repairs = &mut self.repairs;
            self.composer.pass(known, |piece| keep(repairs, piece));
            self.read();
        }
        let repairs = &mut self.repairs;
        self.composer.pass(to, |piece| keep(repairs, piece));
    }

    fn finish(mut self) -> Repairs {
        while let Some(known) = self.known() {
            let repairs = &mut self.repairs;
            self.composer.pass(known, |piece| keep(repairs, piece));
            self.read();
        }
        let repairs = &mut self.repairs;
        self.composer.finish(|piece| keep(repairs, piece));
        self.repairs
    }
}

fn keep(repairs: &mut Repairs, piece: Piece) {
    if let Piece::Repair(repair) = piece {
        repairs.push(&repair);
    }
}
