//! The JSON in the text of a stream, mended while the text grows.

use std::collections::{BTreeMap, BTreeSet};

use jsonmend_core::{Options, Outcome, Repair};
use jsonmend_extract::{Extractor, Scope, TextSink};
use jsonmend_wire::{Block, WireEvent};

use crate::fit::{ObjectFit, ObjectSchema};

/// How many texts of one stream are searched; what a stream begins beyond is shown, not searched.
const TEXTS: usize = 1024;

/// Searches every text of a stream by itself.
pub(crate) struct Objects {
    options: Options,
    /// What the documents are brought into.
    schema: Option<ObjectSchema>,
    texts: BTreeMap<Block, Text>,
    /// The choices in which a call or a document was seen.
    answered: BTreeSet<u32>,
}

/// A document that was found in a text.
#[derive(Debug, Default)]
pub(crate) struct Object {
    /// The text.
    pub(crate) block: Block,
    /// Where it begins in its text, in bytes.
    pub(crate) start: usize,
    /// Mended where the outcome is valid, else as it came.
    pub(crate) json: Vec<u8>,
    /// The spans count from the start of the text.
    pub(crate) repairs: Vec<Repair>,
}

/// Gets what is found.
pub(crate) trait Finds {
    /// A document has ended.
    fn object(&mut self, object: &Object, outcome: Outcome);

    /// A document was brought into the schema, or not.
    fn fitted(&mut self, fit: &ObjectFit<'_>);
}

impl Objects {
    pub(crate) fn new(options: Options, schema: Option<ObjectSchema>) -> Self {
        Self { options, schema, texts: BTreeMap::new(), answered: BTreeSet::new() }
    }

    /// Looks at an event; `finds` gets the documents that it ends.
    pub(crate) fn note(&mut self, event: &WireEvent<'_>, finds: &mut dyn Finds) {
        match event {
            WireEvent::Text { block, text } => {
                if self.texts.len() >= TEXTS && !self.texts.contains_key(block) {
                    return;
                }
                let open = self
                    .texts
                    .entry(*block)
                    .or_insert_with(|| Text::new(*block, &self.options, self.schema.as_ref()));
                open.push(text);
                if open.hand_out(self.schema.as_ref(), finds) {
                    self.answered.insert(block.choice);
                }
            }
            WireEvent::CallBegan { choice, .. } => {
                self.answered.insert(*choice);
            }
            WireEvent::Ended(_) => {
                for (block, text) in &mut self.texts {
                    text.extractor.finish(&mut text.documents);
                    if text.hand_out(self.schema.as_ref(), finds) {
                        self.answered.insert(block.choice);
                    }
                }
                self.answers_as_a_whole(finds);
            }
            _ => {}
        }
    }

    /// Where a choice holds neither a document nor a call, the schema may still read its texts.
    fn answers_as_a_whole(&self, finds: &mut dyn Finds) {
        let Some(schema) = &self.schema else { return };
        for (block, text) in &self.texts {
            if !self.answered.contains(&block.choice) && !text.is_blank() {
                finds.fitted(&schema.fit_text(*block, text.kept.whole()));
            }
        }
    }

    /// Whether there is a schema, and nothing in the stream that could be its value.
    pub(crate) fn found_nothing(&self) -> bool {
        let silent = self.texts.values().all(Text::is_blank);
        self.schema.is_some() && self.answered.is_empty() && silent
    }
}

/// One text.
struct Text {
    extractor: Extractor,
    documents: Documents,
    kept: Kept,
}

impl Text {
    fn new(block: Block, options: &Options, schema: Option<&ObjectSchema>) -> Self {
        let open = Object { block, ..Object::default() };
        let limit = schema.map_or(0, ObjectSchema::limit);
        Self {
            extractor: Extractor::new(Scope::All, options.clone()),
            documents: Documents { open, is_open: false, ended: Vec::new() },
            kept: Kept { limit, from: 0, bytes: Vec::new(), is_blank: true },
        }
    }

    fn is_blank(&self) -> bool {
        self.kept.is_blank
    }

    fn push(&mut self, text: &str) {
        self.kept.push(text);
        self.extractor.push(text.as_bytes(), &mut self.documents);
    }

    /// Hands out the documents that have ended; returns whether there were any.
    fn hand_out(&mut self, schema: Option<&ObjectSchema>, finds: &mut dyn Finds) -> bool {
        let ended = std::mem::take(&mut self.documents.ended);
        for (object, outcome) in &ended {
            finds.object(object, *outcome);
            if let Some(schema) = schema {
                let raw = self.kept.get(object.start, object.length());
                finds.fitted(&schema.fit(object.block, object.start, raw));
            }
        }
        let withheld = self.kept.end().saturating_sub(self.extractor.withheld());
        let open = self.documents.is_open.then_some(self.documents.open.start);
        let too_long = open.is_some_and(|start| self.kept.end() - start > self.kept.limit);
        self.kept.forget(if too_long { self.kept.end() } else { open.unwrap_or(withheld) });
        !ended.is_empty()
    }
}

impl Object {
    /// How many bytes of the text it takes: as many as it has now, but for what repairs did.
    fn length(&self) -> usize {
        let added: usize = self.repairs.iter().map(|repair| repair.after().len()).sum();
        let removed: usize = self.repairs.iter().map(|repair| repair.end() - repair.start()).sum();
        (self.json.len() + removed).saturating_sub(added)
    }
}

/// The end of a text: what may still be asked for, up to a limit.
struct Kept {
    limit: usize,
    /// Where in the text it begins.
    from: usize,
    bytes: Vec<u8>,
    /// Whether the text is nothing but white space so far.
    is_blank: bool,
}

impl Kept {
    fn push(&mut self, text: &str) {
        self.is_blank = self.is_blank && text.trim().is_empty();
        self.bytes.extend_from_slice(text.as_bytes());
    }

    const fn end(&self) -> usize {
        self.from + self.bytes.len()
    }

    /// Some bytes of the text, if they are within the limit.
    fn get(&self, start: usize, length: usize) -> Option<&[u8]> {
        let at = start.checked_sub(self.from).filter(|_| length <= self.limit)?;
        self.bytes.get(at..at.checked_add(length)?)
    }

    /// All of the text, if it is within the limit.
    fn whole(&self) -> Option<&[u8]> {
        self.get(0, self.bytes.len())
    }

    /// Where more than the limit is kept, what stands before `needed` goes.
    fn forget(&mut self, needed: usize) {
        if self.bytes.len() > self.limit {
            self.bytes.drain(..needed.saturating_sub(self.from));
            self.from = self.from.max(needed);
        }
    }
}

/// Collects what an extractor finds.
struct Documents {
    open: Object,
    is_open: bool,
    ended: Vec<(Object, Outcome)>,
}

impl TextSink for Documents {
    fn begin(&mut self, offset: usize) {
        self.open.start = offset;
        self.is_open = true;
    }
    fn json(&mut self, bytes: &[u8]) {
        self.open.json.extend_from_slice(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.open.repairs.push(repair);
    }
    fn end(&mut self, outcome: Outcome) {
        let next = Object { block: self.open.block, ..Object::default() };
        self.ended.push((std::mem::replace(&mut self.open, next), outcome));
        self.is_open = false;
    }
}
