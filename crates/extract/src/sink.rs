//! The output of extraction.

use wiremend_core::{Outcome, Repair, Repairs};

/// Receives what a [`Finder`](crate::Finder) finds, in the order of the input.
///
/// Slices may end anywhere, even inside a character. Every byte of the input is passed to either
/// [`text`](Self::text) or [`reasoning`](Self::reasoning), or belongs to a document.
pub trait TextSink {
    /// Receives text that is not JSON, unchanged: prose, fences, and the tags around reasoning.
    fn text(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
    /// Receives the content of a reasoning block, unchanged.
    fn reasoning(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
    /// A document begins at this offset of the input, or at the white space before it that is kept.
    fn begin(&mut self, offset: usize) {
        let _ = offset;
    }
    /// Receives mended bytes of the open document.
    fn json(&mut self, bytes: &[u8]);
    /// Mending has stopped. The bytes of the document that follow are raw input, and may not be
    /// JSON.
    fn raw(&mut self) {}
    /// Called when everything that is certain of the open document was emitted. If it ends with a
    /// number, a literal or a key, that is complete.
    fn settle(&mut self) {}
    /// Receives a repair in the open document, or around it. Its span is in the input.
    fn repair(&mut self, repair: Repair) {
        let _ = repair;
    }
    /// The open document ends before this offset of the input. Called before [`end`](Self::end), where
    /// there may be several documents: with [`Scope::All`](crate::Scope::All) and
    /// [`Scope::Fenced`](crate::Scope::Fenced).
    fn end_at(&mut self, offset: usize) {
        let _ = offset;
    }
    /// The open document has ended with this outcome. With a single document, this is called at the
    /// end of the input, because the repairs include what follows the document.
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
    fn end_at(&mut self, offset: usize) {
        (**self).end_at(offset);
    }
    fn end(&mut self, outcome: Outcome) {
        (**self).end(outcome);
    }
}

/// Collects everything that is found. Its size grows with the input.
///
/// ```
/// use wiremend_core::MendOptions;
/// use wiremend_extract::{Finder, FoundDocuments, Scope};
///
/// let mut found = FoundDocuments::default();
/// let mut extractor = Finder::new(Scope::First, MendOptions::new());
/// extractor.push(b"<think>[1]?</think>[2]", &mut found);
/// extractor.finish(&mut found);
/// assert_eq!(found.reasoning(), b"[1]?");
/// assert_eq!(found.documents()[0].json(), b"[2]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundDocuments {
    text: Vec<u8>,
    reasoning: Vec<u8>,
    documents: Vec<FoundDocument>,
}

impl FoundDocuments {
    /// The text outside of documents and reasoning.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The content of the reasoning blocks.
    #[must_use]
    pub fn reasoning(&self) -> &[u8] {
        &self.reasoning
    }

    /// The documents, in the order of the input.
    #[must_use]
    pub fn documents(&self) -> &[FoundDocument] {
        &self.documents
    }
}

impl TextSink for FoundDocuments {
    fn text(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        self.reasoning.extend_from_slice(bytes);
    }
    fn begin(&mut self, offset: usize) {
        self.documents.push(FoundDocument {
            offset,
            json: Vec::new(),
            repairs: Repairs::new(),
            outcome: None,
        });
    }
    fn json(&mut self, bytes: &[u8]) {
        if let Some(found) = self.documents.last_mut() {
            found.json.extend_from_slice(bytes);
        }
    }
    fn repair(&mut self, repair: Repair) {
        if let Some(found) = self.documents.last_mut() {
            found.repairs.push(&repair);
        }
    }
    fn end(&mut self, outcome: Outcome) {
        if let Some(found) = self.documents.last_mut() {
            found.outcome = Some(outcome);
        }
    }
}

/// One document of [`FoundDocuments`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDocument {
    offset: usize,
    json: Vec<u8>,
    repairs: Repairs,
    outcome: Option<Outcome>,
}

impl FoundDocument {
    /// The offset in the input at which it begins.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Its mended text, or raw text if the outcome is not valid.
    #[must_use]
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Its repairs, sorted. Their spans are in the input.
    #[must_use]
    pub const fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// Its outcome, or `None` while it is open.
    #[must_use]
    pub const fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }
}
