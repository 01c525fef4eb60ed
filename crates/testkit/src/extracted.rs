//! One run of the extractor, with everything it emitted.

use std::fmt;

use wiremend_core::{MendOptions, Outcome, Repair};
use wiremend_extract::{Finder, Scope, TextSink};

use crate::cuts::Cut;

/// One thing a [`Finder`] found. Neighbouring pieces of one kind are joined.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Text that is not JSON.
    Text(Vec<u8>),
    /// The content of a reasoning block.
    Reasoning(Vec<u8>),
    /// A document.
    Document(Document),
}

/// A document that a [`Finder`] found.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Document {
    /// Where in the input it began.
    pub offset: usize,
    /// Its mended bytes so far.
    pub json: Vec<u8>,
    /// Its repairs so far.
    pub repairs: Vec<Repair>,
    /// How it ended; `None` while it is open.
    pub outcome: Option<Outcome>,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(bytes) => write!(f, "text `{}`", bytes.escape_ascii()),
            Self::Reasoning(bytes) => write!(f, "reasoning `{}`", bytes.escape_ascii()),
            Self::Document(document) => document.fmt(f),
        }
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, json, repairs, outcome } = self;
        write!(f, "document at {offset} `{}` {outcome:?} {repairs:?}", json.escape_ascii())
    }
}

/// Keeps what a [`Finder`] emits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    parts: Vec<Part>,
    /// Calls that named a document although none was open; a correct extractor makes none.
    strays: usize,
}

impl Found {
    /// The parts so far, in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How many calls named a document although none was open.
    #[must_use]
    pub const fn strays(&self) -> usize {
        self.strays
    }

    /// The documents so far.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.parts.iter().filter_map(|part| match part {
            Part::Document(document) => Some(document),
            Part::Text(_) | Part::Reasoning(_) => None,
        })
    }

    /// The text around the documents, joined.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        let mut joined = Vec::new();
        for part in &self.parts {
            if let Part::Text(bytes) = part {
                joined.extend_from_slice(bytes);
            }
        }
        joined
    }

    /// The document that is open. Text may follow it before its end is reported.
    fn open(&mut self) -> Option<&mut Document> {
        let last = self.parts.iter_mut().rev().find_map(|part| match part {
            Part::Document(document) => Some(document),
            Part::Text(_) | Part::Reasoning(_) => None,
        });
        let open = last.filter(|document| document.outcome.is_none());
        self.strays += usize::from(open.is_none());
        open
    }
}

impl TextSink for Found {
    fn text(&mut self, bytes: &[u8]) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.extend_from_slice(bytes),
            _ if bytes.is_empty() => {}
            _ => self.parts.push(Part::Text(bytes.to_vec())),
        }
    }
    fn reasoning(&mut self, bytes: &[u8]) {
        match self.parts.last_mut() {
            Some(Part::Reasoning(text)) => text.extend_from_slice(bytes),
            _ if bytes.is_empty() => {}
            _ => self.parts.push(Part::Reasoning(bytes.to_vec())),
        }
    }
    fn begin(&mut self, offset: usize) {
        let document = Document { offset, json: Vec::new(), repairs: Vec::new(), outcome: None };
        self.parts.push(Part::Document(document));
    }
    fn json(&mut self, bytes: &[u8]) {
        if let Some(document) = self.open() {
            document.json.extend_from_slice(bytes);
        }
    }
    fn repair(&mut self, repair: Repair) {
        if let Some(document) = self.open() {
            document.repairs.push(repair);
        }
    }
    fn end(&mut self, outcome: Outcome) {
        if let Some(document) = self.open() {
            document.outcome = Some(outcome);
        }
    }
}

/// How much had been found after one chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How much of the input was pushed.
    pub offset: usize,
    /// How many bytes of text and of reasoning had been found.
    pub text: usize,
    /// How many documents had begun.
    pub documents: usize,
    /// How many bytes of documents had been emitted.
    pub json: usize,
    /// How many repairs had been reported.
    pub repairs: usize,
    /// How many bytes were withheld.
    pub withheld: usize,
    /// What the extractor would have appended to close the open document.
    pub completion: Option<String>,
}

impl Progress {
    fn of(found: &Found, extractor: &Finder) -> Self {
        let mut progress = Self {
            offset: extractor.offset(),
            text: 0,
            documents: 0,
            json: 0,
            repairs: 0,
            withheld: extractor.withheld(),
            completion: extractor.completion().map(|completion| completion.to_string()),
        };
        for part in &found.parts {
            match part {
                Part::Text(bytes) | Part::Reasoning(bytes) => progress.text += bytes.len(),
                Part::Document(document) => {
                    progress.documents += 1;
                    progress.json += document.json.len();
                    progress.repairs += document.repairs.len();
                }
            }
        }
        progress
    }
}

/// A run of the extractor from the first byte to the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Extraction {
    found: Found,
    progress: Vec<Progress>,
    outcome: Outcome,
}

impl Extraction {
    /// Pushes `input`, divided like that, and finishes.
    #[must_use]
    pub fn new(input: &[u8], cut: &Cut, scope: Scope, options: &MendOptions) -> Self {
        let mut extractor = Finder::new(scope, options.clone());
        let mut found = Found::default();
        let mut progress = Vec::new();
        for chunk in cut.chunks(input) {
            extractor.push(chunk, &mut found);
            progress.push(Progress::of(&found, &extractor));
        }
        let outcome = extractor.finish(&mut found);
        Self { found, progress, outcome }
    }

    /// Pushes `input` and gives up.
    #[must_use]
    pub fn abandoned(input: &[u8], scope: Scope, options: &MendOptions) -> Self {
        let mut extractor = Finder::new(scope, options.clone());
        let mut found = Found::default();
        extractor.push(input, &mut found);
        let progress = vec![Progress::of(&found, &extractor)];
        let outcome = extractor.abandon(&mut found);
        Self { found, progress, outcome }
    }

    /// What was found, including the end.
    #[must_use]
    pub const fn found(&self) -> &Found {
        &self.found
    }

    /// How much had been found after each chunk.
    #[must_use]
    pub fn progress(&self) -> &[Progress] {
        &self.progress
    }

    /// How it ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }
}
