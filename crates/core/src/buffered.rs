//! The held path: a text that is shown while it grows and mended as a whole at its end.

use alloc::vec::Vec;

use crate::{Collected, Mended, Mender, Options, Outcome, Output, mend, mended::into_string};

/// A [`Mender`] that also keeps the raw input, up to the buffer limit, so that the end can choose
/// among everything the whole-text path can do. For texts whose
/// complete reading matters more than what is shown while they arrive.
///
/// ```
/// use jsonmend_core::{BufferedMender, Options, Outcome, Policy};
/// let mut held = BufferedMender::new(Options::new().with_policy(Policy::CONSERVATIVE));
/// held.push(br#"{"path": "a.txt", "body": "x"#, &mut ());
/// let mended = held.finish(&mut ());
/// assert_eq!(mended.outcome(), Outcome::Cut);
/// assert_eq!(mended.text(), None);
/// ```
#[derive(Clone, Debug)]
pub struct BufferedMender {
    mender: Mender,
    options: Options,
    /// The input, until it outgrows the buffer limit.
    raw: Option<Vec<u8>>,
    /// What the push path made of it.
    grown: Collected,
}

impl BufferedMender {
    /// A held mender at the start of an input.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            mender: Mender::new(options.clone()),
            options,
            raw: Some(Vec::new()),
            grown: Collected::default(),
        }
    }

    /// Reads a chunk; `out` sees the value grow, as from [`Mender::push`].
    pub fn push(&mut self, chunk: &[u8], out: &mut impl Output) {
        if let Some(raw) = &mut self.raw {
            if raw.len() + chunk.len() > self.options.limits().buffer() {
                self.raw = None;
            } else {
                raw.extend_from_slice(chunk);
            }
        }
        self.mender.push(chunk, &mut (&mut self.grown, out));
    }

    /// Ends the input, and chooses. While the input fits the buffer limit, the result is what
    /// [`mend`] makes of it, which may differ from what `out` has seen; beyond, it is what `out`
    /// has seen.
    pub fn finish(&mut self, out: &mut impl Output) -> Mended {
        let cut_at = self.mender.path();
        let outcome = self.mender.finish(&mut (&mut self.grown, out));
        if let Some(raw) = self.raw.take() {
            return mend(&raw, &self.options);
        }
        let cut_at = matches!(outcome, Outcome::Closed | Outcome::Cut).then_some(cut_at);
        let (text, repairs) = core::mem::take(&mut self.grown).into_parts();
        let text = outcome.is_valid().then(|| into_string(text));
        Mended::new(outcome, text, repairs, cut_at)
    }

    /// What the push path has made of the input so far.
    #[must_use]
    pub const fn grown(&self) -> &Collected {
        &self.grown
    }

    /// The mender that shows the value grow.
    #[must_use]
    pub const fn mender(&self) -> &Mender {
        &self.mender
    }
}
