//! The current document: a mender and its place in the input.

use wiremend_core::{MendOptions, Mender, Outcome, Output, Path, Repair, prose::Marks};

use crate::TextSink;

/// The mender of an extractor, which is used for one document after another.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Created when the first document begins, because most texts contain none.
    mender: Option<Box<Mender>>,
    options: MendOptions,
    /// The offset in the input where the document begins.
    start: usize,
    /// Whether one of its repairs so far leaves its end in doubt, if there were any.
    repaired: Option<bool>,
    /// The steps of the mender for earlier documents.
    steps: u64,
    /// The path in the document at which the input ended.
    cut_at: Option<Path>,
}

/// The result of reading a chunk.
pub(crate) enum Taken {
    /// All of it.
    All,
    /// The document has ended. `taken` bytes of the chunk belong to it, and `back` are bytes of
    /// earlier chunks that do not.
    Ended { taken: usize, back: Vec<u8> },
}

impl Document {
    pub(crate) const fn new(options: MendOptions) -> Self {
        Self { mender: None, options, start: 0, repaired: None, steps: 0, cut_at: None }
    }

    /// Begins a document at offset `start` of the input, whose lines may be marked.
    pub(crate) fn begin(&mut self, start: usize, marks: Option<Marks>) {
        match &mut self.mender {
            Some(mender) => {
                self.steps += mender.steps();
                mender.reset();
            }
            None => self.mender = Some(Box::new(Mender::new(self.options.clone()))),
        }
        if let (Some(mender), Some(marks)) = (&mut self.mender, marks) {
            mender.begin_marked(marks);
        }
        self.start = start;
        self.repaired = None;
        self.cut_at = None;
    }

    /// Reads a chunk up to the end of the document.
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

    /// The outcome of a document that [`push`](Self::push) has read to its end.
    pub(crate) fn outcome(&self) -> Outcome {
        match self.mender().and_then(Mender::outcome) {
            Some(outcome) => outcome,
            None if self.repaired.is_none() => Outcome::Unchanged,
            None => Outcome::Repaired,
        }
    }

    /// Ends the document with the input. Returns its outcome, and the bytes that turned out not to
    /// belong to it.
    pub(crate) fn finish(&mut self, sink: &mut impl TextSink) -> (Outcome, Vec<u8>) {
        let mut out = Sink { sink, start: self.start, repaired: &mut self.repaired };
        let Some(mender) = &mut self.mender else { return (Outcome::None, Vec::new()) };
        self.cut_at = Some(mender.path());
        let outcome = mender.finish(&mut out);
        // The end of the input may have decided about an uncertain quote, so that the document has
        // ended earlier. The extractor reads the bytes after that end.
        (outcome, mender.leftover().to_vec())
    }

    /// Gives up. What the mender has withheld is emitted raw.
    pub(crate) fn abandon(&mut self, sink: &mut impl TextSink) {
        let mut out = Sink { sink, start: self.start, repaired: &mut self.repaired };
        if let Some(mender) = &mut self.mender {
            mender.abandon(&mut out);
        }
    }

    /// The current path in the document, or the path at which the input ended.
    pub(crate) fn path(&self) -> Path {
        self.cut_at.clone().or_else(|| self.mender().map(Mender::path)).unwrap_or_default()
    }

    /// The steps of the mender for all documents.
    pub(crate) fn steps(&self) -> u64 {
        self.steps + self.mender().map_or(0, Mender::steps)
    }

    /// Resets for a new text.
    pub(crate) fn reset(&mut self) {
        if let Some(mender) = &mut self.mender {
            mender.reset();
        }
        self.start = 0;
        self.repaired = None;
        self.cut_at = None;
        self.steps = 0;
    }

    /// The repair that the policy forbade, and its path.
    pub(crate) fn refused(&self) -> Option<(Repair, Path)> {
        let mender = self.mender()?;
        Some((mender.refused()?.clone().shifted(self.start), mender.refused_at()?))
    }

    /// Whether quotes in strings were not escaped.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.mender().is_some_and(Mender::has_unescaped_quotes)
    }

    /// Whether what was read of it ends inside a string.
    pub(crate) fn ends_in_string(&mut self) -> bool {
        self.mender.as_mut().is_some_and(|mender| mender.ends_in_string())
    }

    /// Whether a repair leaves it in doubt where the document ends.
    pub(crate) fn is_guessed(&self) -> bool {
        self.repaired == Some(true)
    }

    pub(crate) fn mender(&self) -> Option<&Mender> {
        self.mender.as_deref()
    }
}

/// Passes the output of a mender to a [`TextSink`].
struct Sink<'a, P> {
    sink: &'a mut P,
    start: usize,
    repaired: &'a mut Option<bool>,
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
        *self.repaired = (*self.repaired).max(Some(repair.kind().doubts_end()));
        self.sink.repair(repair.shifted(self.start));
    }
}
