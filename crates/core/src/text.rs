//! The whole-text path and the held path.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{Collected, Mender, Options, Outcome, Output, Path, Repair};

/// The result of mending a whole text.
///
/// ```
/// use jsonmend_core::{Options, Outcome, mend};
/// let mended = mend(b"{name: 'Ada', tags: ['x',]}", &Options::new());
/// assert_eq!(mended.text(), Some(r#"{"name": "Ada", "tags": ["x"]}"#));
/// assert_eq!(mended.outcome(), Outcome::Repaired);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    outcome: Outcome,
    text: Option<String>,
    repairs: Vec<Repair>,
    cut_at: Option<Path>,
}

impl Mended {
    /// A result. `text` must be given exactly when the outcome is valid, and be what `repairs` make of the input.
    #[must_use]
    pub fn new(
        outcome: Outcome,
        text: Option<String>,
        repairs: Vec<Repair>,
        cut_at: Option<Path>,
    ) -> Self {
        debug_assert_eq!(outcome.is_valid(), text.is_some());
        Self { outcome, text, repairs, cut_at }
    }

    /// How it ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The mended text: valid JSON, or `None` where the outcome is not valid.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The repairs: sorted, without overlaps. Where there is no text, the ones that were needed.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// Where the input was cut off, for [`Outcome::Closed`] and [`Outcome::Cut`].
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.cut_at.as_ref()
    }

    /// The mended text; the input, where there is none.
    #[must_use]
    pub fn text_or<'a>(&'a self, input: &'a [u8]) -> Cow<'a, str> {
        match &self.text {
            Some(text) => Cow::Borrowed(text),
            None => String::from_utf8_lossy(input),
        }
    }

    /// Its parts: outcome, text, repairs.
    #[must_use]
    pub fn into_parts(self) -> (Outcome, Option<String>, Vec<Repair>) {
        (self.outcome, self.text, self.repairs)
    }
}

/// A [`Mender`] that also keeps the raw input, up to the buffer limit, so that the end can choose
/// among everything the whole-text path can do. The path for tool calls and validated objects.
///
/// ```
/// use jsonmend_core::{Held, Options, Outcome, Policy};
/// let mut held = Held::new(Options::new().with_policy(Policy::CONSERVATIVE));
/// held.push(br#"{"path": "a.txt", "body": "x"#, &mut ());
/// let mended = held.finish(&mut ());
/// assert_eq!(mended.outcome(), Outcome::Cut);
/// assert_eq!(mended.text(), None);
/// ```
#[derive(Clone, Debug)]
pub struct Held {
    mender: Mender,
    options: Options,
    /// The input, until it outgrows the buffer limit.
    raw: Option<Vec<u8>>,
    /// What the push path made of it.
    grown: Collected,
}

impl Held {
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

/// Valid output is UTF-8 by construction; should that ever fail, the text is kept as far as it can be.
pub(crate) fn into_string(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_else(|error| {
        debug_assert!(false, "mended text is UTF-8");
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}

/// Mends a whole text: the same rules as [`Mender`], with nothing sent ahead, so that a repair may
/// reach behind.
#[must_use]
pub fn mend(input: &[u8], options: &Options) -> Mended {
    crate::whole::mend(input, options)
}
