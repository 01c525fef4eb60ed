//! Objects found in text.

use wiremend_core::{Outcome, Path, Repair, Repairs, buffer::BoundedBuffer};
use wiremend_wire::{Block, Doubt};

/// A JSON document found in text, and its outcome.
///
/// Treat it as complete only if [`Outcome::is_complete`] holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    number: usize,
    block: Block,
    offset: usize,
    json: Option<String>,
    raw: Option<String>,
    outcome: Outcome,
    repairs: Repairs,
    cut_at: Option<Path>,
    doubt: Option<Doubt>,
}

impl Object {
    /// Its number, from 0, in the order in which the objects of the stream began.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The text that holds it.
    #[must_use]
    pub const fn block(&self) -> Block {
        self.block
    }

    /// The byte offset of its start in that text.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Its text: valid JSON if the outcome is valid, raw otherwise. `None` if it exceeded a limit on what is
    /// kept; the outcome is then [`Outcome::Overflow`], and the fragments are all there is of it.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        self.json.as_deref()
    }

    /// Its text as the model wrote it, from [`offset`](Self::offset) on. Of one that was repaired, it is kept only with
    /// [`with_raw_objects`](crate::ResponseOptions::with_raw_objects), and up to the limits on what is kept; otherwise
    /// it is `None`.
    ///
    /// ```
    /// use wiremend_extract::Scope;
    /// use wiremend_response::{Response, ResponseOptions};
    ///
    /// let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"So: {'a': 2}.\"},\"finish_reason\":\"stop\"}]}\n\n";
    /// let options = ResponseOptions::new().with_objects(Scope::All);
    /// assert_eq!(Response::read(body, options.clone()).objects()[0].raw(), None);
    /// let response = Response::read(body, options.with_raw_objects());
    /// assert_eq!(response.objects()[0].raw(), Some("{'a': 2}"));
    /// ```
    #[must_use]
    pub fn raw(&self) -> Option<&str> {
        self.raw.as_deref().or_else(|| self.json().filter(|_| self.repairs.is_empty()))
    }

    /// How it ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Its repairs, sorted. The spans are relative to the start of the text that holds it. Not all of them
    /// are there if it has no text.
    #[must_use]
    pub const fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// Deserializes it as a `T`, if it is complete.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`](wiremend_wire::ParseError::Incomplete) if it is not complete,
    /// [`ParseError::Type`](wiremend_wire::ParseError::Type) if it does not deserialize as a `T`.
    #[cfg(feature = "serde_json")]
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, wiremend_wire::ParseError> {
        wiremend_wire::ParseError::check(self.json(), self.outcome, None)
    }

    /// Where it was cut off, for [`Outcome::Closed`] and [`Outcome::Cut`].
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.cut_at.as_ref()
    }

    /// Why it is not complete, if [something of the response was lost](Doubt::is_loss) before it ended, whether
    /// it had begun then or not: what looks like its beginning may have been its middle. Its text may be valid
    /// and lack a part, and the outcome is [`Outcome::Closed`] where it would be complete.
    #[must_use]
    pub const fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// The number of bytes of the text that it occupies, from [`offset`](Self::offset) on. What was dropped around it
    /// is not part of it, except at the end of one that is not complete. 0 if it has no text.
    #[must_use]
    pub fn length(&self) -> usize {
        let Some(total) = self.json.as_ref().map(String::len) else { return 0 };
        let (mut read, mut written) = (self.offset, 0);
        for repair in self.repairs.iter().filter(|repair| repair.start() >= self.offset) {
            written += repair.start().saturating_sub(read) + repair.after().len();
            if written >= total && repair.after().is_empty() && self.outcome.is_complete() {
                return repair.start() - self.offset;
            }
            read = repair.end();
        }
        (read + total).saturating_sub(written + self.offset)
    }

    pub(crate) fn note_raw(&mut self, raw: String) {
        if self.json.is_some() {
            self.raw = Some(raw);
        }
    }

    /// Records where the object was cut off, which is known once the text has ended.
    pub fn note_cut(&mut self, path: Path) {
        if matches!(self.outcome, Outcome::Closed | Outcome::Cut) {
            self.cut_at = Some(path);
        }
    }
}

/// Collects an object while a [`Finder`](wiremend_extract::Finder) emits it.
///
/// ```
/// use wiremend_core::Outcome;
/// use wiremend_response::ObjectBuilder;
/// use wiremend_wire::Block;
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
    json: BoundedBuffer,
    repairs: Repairs,
    doubt: Option<Doubt>,
}

impl ObjectBuilder {
    /// An object that starts at byte `offset` of its text. At most `limit` bytes of it are kept.
    #[must_use]
    pub const fn new(number: usize, block: Block, offset: usize, limit: usize) -> Self {
        let json = BoundedBuffer::new(limit);
        Self { number, block, offset, json, repairs: Repairs::new(), doubt: None }
    }

    /// Its number, from 0, in the order in which the objects of the stream began.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The byte offset of its start in its text.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Whether it is within the limit.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.json.is_whole()
    }

    /// Appends more of its text.
    pub fn push(&mut self, bytes: &[u8]) {
        self.json.push(bytes);
    }

    /// Adds a repair. Once the object has exceeded the limit, there is no text to which it applies.
    pub fn repair(&mut self, repair: &Repair) {
        if self.is_kept() {
            self.repairs.push(repair);
        }
    }

    /// Notes that something of it may be missing. Only the first reason is kept.
    ///
    /// ```
    /// use wiremend_core::Outcome;
    /// use wiremend_response::ObjectBuilder;
    /// use wiremend_wire::{Block, Doubt};
    ///
    /// let mut builder = ObjectBuilder::new(0, Block::default(), 0, 1024);
    /// builder.push(b"{\"a\": 1}");
    /// builder.note_doubt(Doubt::LostEvent);
    /// let object = builder.end(Outcome::Unchanged);
    /// assert_eq!((object.outcome(), object.doubt()), (Outcome::Closed, Some(Doubt::LostEvent)));
    /// ```
    pub fn note_doubt(&mut self, doubt: Doubt) {
        self.doubt.get_or_insert(doubt);
    }

    /// How much memory it takes, in bytes, about: its text and its repairs.
    pub(crate) fn weight(&self) -> usize {
        self.json.held() + self.repairs.memory()
    }

    /// Keeps no more of it, because of a limit on all objects.
    pub(crate) fn give_up(&mut self) {
        self.json.give_up();
        self.repairs = Repairs::new();
    }

    /// Ends the object with `outcome`, or with an overflow if it exceeded the limit.
    #[must_use]
    pub fn end(self, outcome: Outcome) -> Object {
        let outcome = match outcome {
            _ if !self.is_kept() => Outcome::Overflow,
            outcome if self.doubt.is_some() => doubted(outcome),
            outcome => outcome,
        };
        Object {
            number: self.number,
            block: self.block,
            offset: self.offset,
            json: self.json.into_bytes().map(into_text),
            raw: None,
            outcome,
            repairs: self.repairs,
            cut_at: None,
            doubt: self.doubt,
        }
    }
}

/// The outcome of a document that may lack a part.
pub(crate) const fn doubted(outcome: Outcome) -> Outcome {
    if outcome.is_complete() { Outcome::Closed } else { outcome }
}

/// Text of a model as a string. Invalid UTF-8 in raw text is replaced.
pub(crate) fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
