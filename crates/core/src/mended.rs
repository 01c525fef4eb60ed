//! The result of mending a whole text.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{Located, Outcome, Path, RepairKind, Repairs, RepairsIter};

/// The result of mending a whole text.
///
/// ```
/// use wiremend_core::{MendOptions, Outcome, mend};
/// let mended = mend(b"{name: 'Ada', tags: ['x',]}", &MendOptions::new());
/// assert_eq!(mended.text(), Some(r#"{"name": "Ada", "tags": ["x"]}"#));
/// assert_eq!(mended.outcome(), Outcome::Repaired);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    outcome: Outcome,
    text: Option<String>,
    repairs: Repairs,
    cut_at: Option<Path>,
}

impl Mended {
    /// Creates a result. `text` must be given exactly if the outcome is valid, and must be what
    /// `repairs` make of the input.
    #[must_use]
    pub fn new(
        outcome: Outcome,
        text: Option<String>,
        repairs: Repairs,
        cut_at: Option<Path>,
    ) -> Self {
        debug_assert_eq!(outcome.is_valid(), text.is_some());
        Self { outcome, text, repairs, cut_at }
    }

    /// How mending ended.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The mended text: valid JSON, or `None` if the outcome is not valid.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Whether the text holds a document that the result does not: because one was asked for, or because
    /// it is `{}` or `[]` beside the only other one. The outcome is then [`Outcome::Repaired`], as for any
    /// lossy repair, or worse.
    ///
    /// ```
    /// use wiremend_core::{MendOptions, TrailingDocuments, mend};
    /// let first = mend(b"{\"a\": 1}\n{\"b\": 2}", &MendOptions::new());
    /// assert!(first.drops_document());
    /// let all = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
    /// assert!(!mend(b"{\"a\": 1}\n{\"b\": 2}", &all).drops_document());
    /// ```
    #[must_use]
    pub fn drops_document(&self) -> bool {
        self.repairs.contains(RepairKind::SecondDocument)
    }

    /// The repairs, sorted and without overlaps. If there is no text, the ones that were needed.
    #[must_use]
    pub const fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// The repairs, and where in the document each was made. `input` is the text that was mended. If
    /// that did not lead to valid JSON, the paths are those of what it led to.
    #[must_use]
    pub fn located<'a>(&'a self, input: &'a [u8]) -> Located<'a, RepairsIter<'a>> {
        Located::in_input(input, &self.repairs)
    }

    /// Where the input was cut off, for [`Outcome::Closed`] and [`Outcome::Cut`].
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.cut_at.as_ref()
    }

    /// The mended text, or the input if there is none.
    #[must_use]
    pub fn text_or<'a>(&'a self, input: &'a [u8]) -> Cow<'a, str> {
        match &self.text {
            Some(text) => Cow::Borrowed(text),
            None => String::from_utf8_lossy(input),
        }
    }

    /// Returns outcome, text and repairs.
    #[must_use]
    pub fn into_parts(self) -> (Outcome, Option<String>, Repairs) {
        (self.outcome, self.text, self.repairs)
    }
}

/// Valid output is always UTF-8. If that should ever fail, invalid bytes become U+FFFD.
pub(crate) fn into_string(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_else(|error| {
        debug_assert!(false, "mended text is UTF-8");
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}
