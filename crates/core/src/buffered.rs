//! Mending while the text arrives, and once more as a whole at its end.

use crate::{
    Collected, MendOptions, Mended, Mender, Outcome, Output, buffer::BoundedBuffer, mend,
    mended::into_string,
};

/// A [`Mender`] that also keeps the raw input, up to the buffer limit, and mends it again as a
/// whole at the end. Use it where the final result matters more than what is shown meanwhile.
///
/// ```
/// use wiremend_core::{BufferedMender, MendOptions, Outcome, Policy};
/// let mut buffered = BufferedMender::new(MendOptions::new().with_policy(Policy::CONSERVATIVE));
/// buffered.push(br#"{"path": "a.txt", "body": "x"#, &mut ());
/// let mended = buffered.finish(&mut ());
/// assert_eq!(mended.outcome(), Outcome::Cut);
/// assert_eq!(mended.text(), None);
/// ```
#[derive(Clone, Debug)]
pub struct BufferedMender {
    mender: Mender,
    options: MendOptions,
    raw: BoundedBuffer,
    /// What the push path has emitted.
    grown: Collected,
}

impl BufferedMender {
    /// Creates a buffered mender at the start of an input.
    #[must_use]
    pub fn new(options: MendOptions) -> Self {
        Self {
            mender: Mender::new(options.clone()),
            raw: BoundedBuffer::new(options.limits().buffer()),
            options,
            grown: Collected::default(),
        }
    }

    /// Reads a chunk. `out` receives what [`Mender::push`] emits.
    pub fn push(&mut self, chunk: &[u8], out: &mut impl Output) {
        self.raw.push(chunk);
        self.mender.push(chunk, &mut (&mut self.grown, out));
    }

    /// Ends the input. If all of it fits the buffer limit, the result is that of [`mend`], which
    /// may differ from what `out` has received; otherwise it is what `out` has received.
    pub fn finish(&mut self, out: &mut impl Output) -> Mended {
        let cut_at = self.mender.path();
        let outcome = self.mender.finish(&mut (&mut self.grown, out));
        if let Some(raw) = self.raw.get() {
            return mend(raw, &self.options);
        }
        let cut_at = matches!(outcome, Outcome::Closed | Outcome::Cut).then_some(cut_at);
        let (text, repairs) = core::mem::take(&mut self.grown).into_parts();
        let text = outcome.is_valid().then(|| into_string(text));
        Mended::new(outcome, text, repairs, cut_at)
    }

    /// What the push path has emitted so far.
    #[must_use]
    pub const fn grown(&self) -> &Collected {
        &self.grown
    }

    /// The mender of the push path.
    #[must_use]
    pub const fn mender(&self) -> &Mender {
        &self.mender
    }
}
