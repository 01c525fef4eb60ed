//! The document that is open: a mender, and where it is in the input.

use jsonmend_core::{Mender, Options, Outcome, Output, Path, Repair};

use crate::TextSink;

/// The one mender of an extractor, used for its documents one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Nothing before the first document begins: most texts hold none.
    mender: Option<Box<Mender>>,
    options: Options,
    /// Where the document begins in the input.
    start: usize,
    /// Whether there were repairs.
    repaired: bool,
    /// Steps of the mender for the documents before.
    steps: u64,
    /// Where the input stood when it ended inside the document.
    cut_at: Option<Path>,
}

/// How a document took a chunk.
pub(crate) enum Taken {
    /// All of it.
    All,
    /// The document ended: so many bytes were taken from the chunk, and these of earlier chunks
    /// are after the document.
    Ended { taken: usize, back: Vec<u8> },
}

impl Document {
    pub(crate) const fn new(options: Options) -> Self {
        Self { mender: None, options, start: 0, repaired: false, steps: 0, cut_at: None }
    }

    /// Begins a document at `start` of the input.
    pub(crate) fn begin(&mut self, start: usize) {
        match &mut self.mender {
            Some(mender) => {
                self.steps += mender.steps();
                mender.reset();
            }
            None => self.mender = Some(Box::new(Mender::new(self.options.clone()))),
        }
        self.start = start;
        self.repaired = false;
        self.cut_at = None;
    }

    /// Reads a chunk, up to the document's end.
    pub(crate) fn push(&mut self, chunk: &[u8], sink: &mut impl TextSink) -> Taken {
        let mut out = Sink { sink, start: self.start, repaired: &mut self.repaired };
        let Some(mender) = &mut self.mender else { return Taken::All };
        match mender.push_document(chunk, &mut out) {
            None => Taken::All,
            Some(taken) => {
                Taken::Ended { taken: taken.min(chunk.len()), back: mender.leftover().to_vec() }
            }
        }
    }

    /// How the document ended that [`push`](Self::push) has read to its end.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.mender().and_then(Mender::outcome) {
            Some(outcome) => outcome,
            None if !self.repaired => Outcome::Unchanged,
            None => Outcome::Repaired,
        }
    }

    /// Ends the document with the input: how it ended, and what of the input turned out to stand
    /// after it.
    pub(crate) fn finish(&mut self, sink: &mut impl TextSink) -> (Outcome, Vec<u8>) {
        let mut out = Sink { sink, start: self.start, repaired: &mut self.repaired };
        let Some(mender) = &mut self.mender else { return (Outcome::None, Vec::new()) };
        self.cut_at = Some(mender.path());
        let outcome = mender.finish(&mut out);
        // A doubtful quote may have been settled by the end of the input only, and with it an end of
        // the document that lies before: what follows it is the extractor's to read.
        (outcome, mender.leftover().to_vec())
    }

    /// Gives up; what the mender has held back goes out raw.
    pub(crate) fn abandon(&mut self, sink: &mut impl TextSink) {
        let mut out = Sink { sink, start: self.start, repaired: &mut self.repaired };
        if let Some(mender) = &mut self.mender {
            mender.abandon(&mut out);
        }
    }

    /// Where in the document the input stands, or stood when it ended.
    pub(crate) fn path(&self) -> Path {
        self.cut_at.clone().or_else(|| self.mender().map(Mender::path)).unwrap_or_default()
    }

    /// Steps of the mender, for all documents.
    pub(crate) fn steps(&self) -> u64 {
        self.steps + self.mender().map_or(0, Mender::steps)
    }

    /// A new text begins: no document is open, and no steps were made.
    pub(crate) fn reset(&mut self) {
        if let Some(mender) = &mut self.mender {
            mender.reset();
        }
        self.start = 0;
        self.repaired = false;
        self.cut_at = None;
        self.steps = 0;
    }

    /// The repair that the policy forbade.
    pub(crate) fn refused(&self) -> Option<Repair> {
        self.mender().and_then(Mender::refused).map(|repair| repair.clone().shifted(self.start))
    }

    /// Whether a quote inside a string was not escaped.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.mender().is_some_and(Mender::has_unescaped_quotes)
    }

    pub(crate) fn mender(&self) -> Option<&Mender> {
        self.mender.as_deref()
    }
}

/// Hands what a mender puts out to the parts of the text.
struct Sink<'a, P> {
    sink: &'a mut P,
    start: usize,
    repaired: &'a mut bool,
}

impl<P: TextSink> Output for Sink<'_, P> {
    fn copy(&mut self, bytes: &[u8]) {
        self.sink.json(bytes);
    }
    fn raw(&mut self) {
        self.sink.raw();
    }
    fn settle(&mut self) {
        self.sink.settle();
    }
    fn repair(&mut self, repair: Repair) {
        *self.repaired = true;
        self.sink.repair(repair.shifted(self.start));
    }
}
