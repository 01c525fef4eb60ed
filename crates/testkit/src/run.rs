//! One run of the push path, with everything it emitted.

use wiremend_core::{MendOptions, Mender, Outcome, Output, Repair, Repairs};

use crate::cuts::Cut;

/// Keeps what a [`Mender`] emits, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorder {
    text: Vec<u8>,
    repairs: Repairs,
    repaired_at: Vec<usize>,
    ends: Vec<usize>,
}

impl Recorder {
    /// The text so far.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The repairs so far.
    #[must_use]
    pub const fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// For each repair, the length of the text when it was reported.
    #[must_use]
    pub fn repaired_at(&self) -> &[usize] {
        &self.repaired_at
    }

    /// Where in the text documents ended.
    #[must_use]
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }
}

impl Output for Recorder {
    fn copy(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.repaired_at.push(self.text.len());
        self.repairs.push(&repair);
    }
    fn end_document(&mut self) {
        self.ends.push(self.text.len());
    }
}

/// What could be seen after one chunk.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Moment {
    /// How much of the input was pushed.
    pub offset: usize,
    /// How long the text was.
    pub text_len: usize,
    /// How many repairs had been reported.
    pub repairs: usize,
    /// How many documents had ended.
    pub documents: usize,
    /// How many bytes were withheld.
    pub withheld: usize,
    /// What the mender would have appended to close the document.
    pub completion: Option<String>,
    /// The outcome, if it was already settled.
    pub outcome: Option<Outcome>,
}

/// A run of the push path from the first byte to the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    recorder: Recorder,
    moments: Vec<Moment>,
    outcome: Outcome,
}

impl Run {
    /// Pushes `input`, divided like that, and finishes.
    #[must_use]
    pub fn new(input: &[u8], cut: &Cut, options: &MendOptions) -> Self {
        let mut mender = Mender::new(options.clone());
        let mut recorder = Recorder::default();
        let mut moments = Vec::new();
        for chunk in cut.chunks(input) {
            mender.push(chunk, &mut recorder);
            moments.push(Moment {
                offset: mender.offset(),
                text_len: recorder.text.len(),
                repairs: recorder.repairs.len(),
                documents: recorder.ends.len(),
                withheld: mender.withheld(),
                completion: mender.completion().map(|completion| completion.to_string()),
                outcome: mender.outcome(),
            });
        }
        let outcome = mender.finish(&mut recorder);
        Self { recorder, moments, outcome }
    }

    /// What was emitted, including the end.
    #[must_use]
    pub const fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// What could be seen after each chunk.
    #[must_use]
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// How it ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The text at that moment, and the part of it that belongs to the document that was open then.
    #[must_use]
    pub fn open_text(&self, moment: &Moment) -> &[u8] {
        let start = moment.documents.checked_sub(1).and_then(|last| self.recorder.ends.get(last));
        self.recorder.text.get(start.copied().unwrap_or(0)..moment.text_len).unwrap_or_default()
    }
}
