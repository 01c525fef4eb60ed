//! Where the parts of a text go.

use jsonmend_core::{Outcome, Repair};

/// Receives what an [`Extractor`](crate::Extractor) finds, in the order of the input.
///
/// Slices end anywhere, in the middle of a character too. Every byte of the input is handed to
/// exactly one of [`text`](Self::text) and [`reasoning`](Self::reasoning), or belongs to a
/// document.
pub trait TextSink {
    /// Text that is not JSON, unchanged: prose, fences, the tags around reasoning.
    fn text(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
    /// The inside of a reasoning block, unchanged.
    fn reasoning(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
    /// A document begins at that byte of the input. White space before it counts if it is kept.
    fn begin(&mut self, offset: usize) {
        let _ = offset;
    }
    /// Mended bytes of the document that is open.
    fn json(&mut self, bytes: &[u8]);
    /// Mending has stopped: the bytes of the document that come next are input as it came, and may be
    /// no JSON.
    fn raw(&mut self) {}
    /// What is certain so far of the document that is open has been handed out: a number, a literal or
    /// a key with which it ends here is whole.
    fn settle(&mut self) {}
    /// A repair in, or around, the document that is open; its span counts from the start of the
    /// input.
    fn repair(&mut self, repair: Repair) {
        let _ = repair;
    }
    /// The document that was open ended so. With a single document this comes at the end of the
    /// input, for what follows the document is part of its account.
    fn end(&mut self, outcome: Outcome);
}

impl<P: TextSink> TextSink for &mut P {
    fn text(&mut self, bytes: &[u8]) {
        (**self).text(bytes);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        (**self).reasoning(bytes);
    }
    fn begin(&mut self, offset: usize) {
        (**self).begin(offset);
    }
    fn json(&mut self, bytes: &[u8]) {
        (**self).json(bytes);
    }
    fn raw(&mut self) {
        (**self).raw();
    }
    fn settle(&mut self) {
        (**self).settle();
    }
    fn repair(&mut self, repair: Repair) {
        (**self).repair(repair);
    }
    fn end(&mut self, outcome: Outcome) {
        (**self).end(outcome);
    }
}

/// Keeps everything that is found. It grows with the input: for texts of known size.
///
/// ```
/// use jsonmend_core::Options;
/// use jsonmend_extract::{Extractor, Findings, Scope};
///
/// let mut found = Findings::default();
/// let mut extractor = Extractor::new(Scope::First, Options::new());
/// extractor.push(b"<think>[1]?</think>[2]", &mut found);
/// extractor.finish(&mut found);
/// assert_eq!(found.reasoning(), b"[1]?");
/// assert_eq!(found.documents()[0].json(), b"[2]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    text: Vec<u8>,
    reasoning: Vec<u8>,
    documents: Vec<Found>,
}

impl Findings {
    /// The text outside the documents and the reasoning.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The inside of the reasoning blocks.
    #[must_use]
    pub fn reasoning(&self) -> &[u8] {
        &self.reasoning
    }

    /// The documents, in the order of the input.
    #[must_use]
    pub fn documents(&self) -> &[Found] {
        &self.documents
    }
}

impl TextSink for Findings {
    fn text(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.reasoning.extend_from_slice(bytes);
    }
    fn begin(&mut self, offset: usize) {
        self.documents.push(Found { offset, json: Vec::new(), repairs: Vec::new(), outcome: None });
    }
    fn json(&mut self, bytes: &[u8]) {
        if let Some(found) = self.documents.last_mut() {
            found.json.extend_from_slice(bytes);
        }
    }
    fn repair(&mut self, repair: Repair) {
        if let Some(found) = self.documents.last_mut() {
            found.repairs.push(repair);
        }
    }
    fn end(&mut self, outcome: Outcome) {
        if let Some(found) = self.documents.last_mut() {
            found.outcome = Some(outcome);
        }
    }
}

/// One document of [`Findings`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    offset: usize,
    json: Vec<u8>,
    repairs: Vec<Repair>,
    outcome: Option<Outcome>,
}

impl Found {
    /// The byte of the input where it begins.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Its mended text; raw text where the outcome is not valid.
    #[must_use]
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Its repairs, sorted; the spans count from the start of the input.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// How it ended; `None` while it is open.
    #[must_use]
    pub const fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }
}
