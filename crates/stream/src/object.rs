//! Objects found in text.

use jsonmend_core::{Outcome, Path, Repair};
use jsonmend_wire::Block;

use crate::trace;

/// A JSON document found in text, and what became of it.
///
/// Trust it as complete only where [`Outcome::is_complete`] holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    number: usize,
    block: Block,
    offset: usize,
    json: Option<String>,
    outcome: Outcome,
    repairs: Vec<Repair>,
    cut_at: Option<Path>,
}

impl Object {
    /// Its place in the order in which the objects of the stream began, from 0.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The text it stands in.
    #[must_use]
    pub const fn block(&self) -> Block {
        self.block
    }

    /// The byte of that text where it begins.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Its text: valid JSON where the outcome is valid, raw otherwise. `None` if it outgrew the limit
    /// for objects; the outcome is then [`Outcome::Overflow`].
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        self.json.as_deref()
    }

    /// How it ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// What was mended, sorted. The spans count from the start of the text it stands in.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// Where it was cut off, for [`Outcome::Closed`] and [`Outcome::Cut`].
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.cut_at.as_ref()
    }

    /// Notes where it was cut off, which is known when the text has ended.
    pub(crate) fn note_cut(&mut self, path: Path) {
        if matches!(self.outcome, Outcome::Closed | Outcome::Cut) {
            self.cut_at = Some(path);
        }
    }
}

/// An object that has begun.
#[derive(Debug)]
pub(crate) struct Growing {
    number: usize,
    block: Block,
    offset: usize,
    /// `None` once it has outgrown the limit.
    json: Option<Vec<u8>>,
    repairs: Vec<Repair>,
}

impl Growing {
    pub(crate) const fn new(number: usize, block: Block, offset: usize) -> Self {
        Self { number, block, offset, json: Some(Vec::new()), repairs: Vec::new() }
    }

    pub(crate) const fn number(&self) -> usize {
        self.number
    }

    /// Whether it is within the limit.
    pub(crate) const fn is_kept(&self) -> bool {
        self.json.is_some()
    }

    pub(crate) fn push(&mut self, bytes: &[u8], limit: usize) {
        if let Some(json) = &mut self.json {
            if json.len() + bytes.len() > limit {
                self.json = None;
            } else {
                json.extend_from_slice(bytes);
            }
        }
    }

    pub(crate) fn repair(&mut self, repair: Repair) {
        self.repairs.push(repair);
    }

    pub(crate) fn end(self, outcome: Outcome) -> Object {
        let outcome = if self.json.is_some() { outcome } else { Outcome::Overflow };
        trace::document(self.number, outcome, &self.repairs, self.json.as_ref().map(Vec::len));
        Object {
            number: self.number,
            block: self.block,
            offset: self.offset,
            json: self.json.map(into_text),
            outcome,
            repairs: self.repairs,
            cut_at: None,
        }
    }
}

/// Text of a model, as a string. Raw text that is no UTF-8 is kept as far as it can be.
pub(crate) fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
