//! The JSON in the text of a stream, mended while the text grows.

use std::collections::BTreeMap;

use jsonmend_core::{Options, Outcome, Repair};
use jsonmend_extract::{Extractor, Parts, Scope};
use jsonmend_wire::{Block, WireEvent};

/// How many texts of one stream are searched; what a stream begins beyond is shown, not searched.
const TEXTS: usize = 1024;

/// Searches every text of a stream by itself.
pub(crate) struct Objects {
    options: Options,
    texts: BTreeMap<Block, (Extractor, Documents)>,
}

/// A document that was found in a text.
#[derive(Debug, Default)]
pub(crate) struct Object {
    /// Where it begins in its text, in bytes.
    pub(crate) start: usize,
    /// Mended where the outcome is valid, else as it came.
    pub(crate) json: Vec<u8>,
    /// The spans count from the start of the text.
    pub(crate) repairs: Vec<Repair>,
}

impl Objects {
    pub(crate) fn new(options: Options) -> Self {
        Self { options, texts: BTreeMap::new() }
    }

    /// Looks at an event; `found` gets the documents that it ends.
    pub(crate) fn note(&mut self, event: &WireEvent<'_>, found: &mut dyn FnMut(Object, Outcome)) {
        match event {
            WireEvent::Text { block, text } => {
                if self.texts.len() >= TEXTS && !self.texts.contains_key(block) {
                    return;
                }
                let (extractor, documents) = self.texts.entry(*block).or_insert_with(|| {
                    (Extractor::new(Scope::All, self.options.clone()), Documents::default())
                });
                extractor.push(text.as_bytes(), documents);
                documents.hand_out(found);
            }
            WireEvent::Ended(_) => {
                for (extractor, documents) in self.texts.values_mut() {
                    extractor.finish(documents);
                    documents.hand_out(found);
                }
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct Documents {
    open: Object,
    ended: Vec<(Object, Outcome)>,
}

impl Documents {
    fn hand_out(&mut self, found: &mut dyn FnMut(Object, Outcome)) {
        self.ended.drain(..).for_each(|(object, outcome)| found(object, outcome));
    }
}

impl Parts for Documents {
    fn begin(&mut self, offset: usize) {
        self.open = Object { start: offset, ..Object::default() };
    }
    fn json(&mut self, bytes: &[u8]) {
        self.open.json.extend_from_slice(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.open.repairs.push(repair);
    }
    fn end(&mut self, outcome: Outcome) {
        self.ended.push((std::mem::take(&mut self.open), outcome));
    }
}
