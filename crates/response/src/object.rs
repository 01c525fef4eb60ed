//! Objects found in text.

use jsonmend_core::{Outcome, Path, Repair};
use jsonmend_wire::Block;

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

    /// The text that holds it.
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

    /// What was mended, sorted. The spans count from the start of the text that holds it.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// Reads it as a `T`, if it is complete.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`](jsonmend_wire::ParseError::Incomplete) if it is not complete,
    /// [`ParseError::Type`](jsonmend_wire::ParseError::Type) if it is of another type.
    #[cfg(feature = "serde_json")]
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, jsonmend_wire::ParseError> {
        jsonmend_wire::ParseError::check(self.json(), self.outcome, None)
    }

    /// Where it was cut off, for [`Outcome::Closed`] and [`Outcome::Cut`].
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.cut_at.as_ref()
    }

    /// How many bytes of its text it takes.
    #[must_use]
    pub fn length(&self) -> usize {
        let json = self.json.as_ref().map_or(0, String::len);
        let added: usize = self.repairs.iter().map(|repair| repair.after.len()).sum();
        let removed: usize = self.repairs.iter().map(|repair| repair.end - repair.start).sum();
        (json + removed).saturating_sub(added)
    }

    /// The same, cut off at that place, which is known when the text has ended.
    pub fn note_cut(&mut self, path: Path) {
        if matches!(self.outcome, Outcome::Closed | Outcome::Cut) {
            self.cut_at = Some(path);
        }
    }
}

/// Collects an object as an [`Extractor`](jsonmend_extract::Extractor) finds it.
///
/// ```
/// use jsonmend_core::Outcome;
/// use jsonmend_response::ObjectBuilder;
/// use jsonmend_wire::Block;
///
/// let mut builder = ObjectBuilder::new(0, Block::default(), 12, 1024);
/// builder.push(b"{\"a\": 1}");
/// let object = builder.end(Outcome::Unchanged);
/// assert_eq!((object.json(), object.offset()), (Some("{\"a\": 1}"), 12));
/// ```
#[derive(Clone, Debug)]
pub struct ObjectBuilder {
    number: usize,
    block: Block,
    offset: usize,
    limit: usize,
    /// `None` once it has outgrown the limit.
    json: Option<Vec<u8>>,
    repairs: Vec<Repair>,
}

impl ObjectBuilder {
    /// An object that begins at that byte of its text, of which at most `limit` bytes are kept.
    #[must_use]
    pub const fn new(number: usize, block: Block, offset: usize, limit: usize) -> Self {
        Self { number, block, offset, limit, json: Some(Vec::new()), repairs: Vec::new() }
    }

    /// Its place in the order in which the objects of the stream began, from 0.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The byte of its text where it begins.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Whether it is within the limit.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.json.is_some()
    }

    /// More of its text.
    pub fn push(&mut self, bytes: &[u8]) {
        if let Some(json) = &mut self.json {
            if json.len() + bytes.len() > self.limit {
                self.json = None;
            } else {
                json.extend_from_slice(bytes);
            }
        }
    }

    /// A repair of it.
    pub fn repair(&mut self, repair: Repair) {
        self.repairs.push(repair);
    }

    /// The object, which ended so; one that outgrew the limit is an overflow.
    #[must_use]
    pub fn end(self, outcome: Outcome) -> Object {
        let outcome = if self.json.is_some() { outcome } else { Outcome::Overflow };
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

/// Text of a model, as a string. Raw text that is not UTF-8 is kept as far as it can be.
pub(crate) fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
