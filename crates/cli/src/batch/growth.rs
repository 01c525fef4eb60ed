//! A document that grows as its input is pushed.

use serde::de::IgnoredAny;
use wiremend_core::{Located, Options, Outcome, Repair, Repairs, RepairsIter};
use wiremend_extract::{Extractor, Scope, TextSink};

/// The maximum size of the snapshots in a reply, in bytes: it grows with the square of the input.
const MAX_SNAPSHOTS: usize = 64 << 20;

/// The result of a pushed input.
#[derive(Debug)]
pub(crate) struct Growth {
    pub(crate) outcome: Outcome,
    pub(crate) json: Vec<u8>,
    start: usize,
    repairs: Repairs,
    /// The completed document after each piece that changed it, if requested.
    pub(crate) snapshots: Option<Vec<String>>,
    /// The number of bytes emitted after each piece, if requested.
    pub(crate) emitted: Option<Vec<usize>>,
}

impl Growth {
    /// The repairs and their paths.
    pub(crate) fn located(&self) -> Located<'_, RepairsIter<'_>> {
        Located::in_mended(&self.json, self.start, &self.repairs)
    }
}

/// Pushes `pieces`, and records the state after each. The input is taken to be a single document, so
/// that a number or a string on its own counts, as it does when a text is repaired as a whole.
pub(crate) fn grow<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    options: Options,
    watch: bool,
) -> Result<Growth, String> {
    let mut extractor = Extractor::new(Scope::Whole, options);
    let mut document = Document::default();
    let mut snapshots: Vec<String> = Vec::new();
    let mut emitted = Vec::new();
    let mut size = 0;
    for piece in pieces {
        extractor.push(piece, &mut document);
        if !watch {
            continue;
        }
        emitted.push(document.json.len());
        let Some(snapshot) = document.snapshot(&extractor) else { continue };
        if snapshots.last() != Some(&snapshot) {
            size += snapshot.len();
            if size > MAX_SNAPSHOTS {
                return Err(format!("the snapshots take more than {MAX_SNAPSHOTS} bytes"));
            }
            snapshots.push(snapshot);
        }
    }
    let outcome = extractor.finish(&mut document);
    let Document { json, start, repairs } = document;
    let (snapshots, emitted) = if watch { (Some(snapshots), Some(emitted)) } else { (None, None) };
    Ok(Growth { outcome, json, start, repairs, snapshots, emitted })
}

/// The first document and the repairs of the whole input.
#[derive(Debug, Default)]
struct Document {
    json: Vec<u8>,
    /// Where the document begins.
    start: usize,
    repairs: Repairs,
}

impl Document {
    /// The document so far, completed; `None` before it begins, and once it is raw.
    fn snapshot(&self, extractor: &Extractor) -> Option<String> {
        // The output may end inside a character, which is left for later.
        let text = match std::str::from_utf8(&self.json) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(self.json.get(..error.valid_up_to())?).ok()?,
        };
        match extractor.completion() {
            Some(completion) => Some(format!("{text}{completion}")),
            // Nothing is open: the document has ended, or has not begun, or is raw.
            None => serde_json::from_str::<IgnoredAny>(text).is_ok().then(|| text.to_owned()),
        }
    }
}

impl TextSink for Document {
    fn begin(&mut self, offset: usize) {
        self.start = offset;
    }
    fn json(&mut self, bytes: &[u8]) {
        self.json.extend_from_slice(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.repairs.push(&repair);
    }
    fn end(&mut self, _: Outcome) {}
}
