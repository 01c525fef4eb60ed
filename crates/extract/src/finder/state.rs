//! What an extractor says about itself.

use wiremend_core::{Completion, Mender, Outcome, Path, Repair};

use super::Finder;
use crate::document::Document;

impl Finder {
    /// The first repair that the policy forbids, if a document or the text around a single one was
    /// refused. Its span is in the text. Under [`TrailingDocuments::Error`](wiremend_core::TrailingDocuments::Error), the repair that would
    /// have dropped the text after the document.
    ///
    /// ```
    /// use wiremend_core::{MendOptions, Policy, RepairKind};
    /// use wiremend_extract::{Finder, FoundDocuments, Scope};
    /// let options = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    /// let mut extractor = Finder::new(Scope::Whole, options);
    /// let mut found = FoundDocuments::default();
    /// extractor.push(br#"Here: {"a": NaN}"#, &mut found);
    /// extractor.finish(&mut found);
    /// let refused = extractor.refused().unwrap();
    /// assert_eq!((refused.kind(), refused.start()), (RepairKind::NonFinite, 12));
    /// ```
    #[must_use]
    pub fn refused(&self) -> Option<&Repair> {
        self.refused.as_ref().map(|refused| &refused.0)
    }

    /// Where in its document the [refused](Self::refused) repair would have been made. `$` if it is
    /// outside of documents.
    #[must_use]
    pub fn refused_at(&self) -> Option<&Path> {
        self.refused.as_ref().map(|refused| &refused.1)
    }

    /// What would make the open document valid, as far as it was emitted. Its `Display` output is
    /// the text to append. `None` outside of a document. Costs O(depth).
    #[must_use]
    pub fn completion(&self) -> Option<Completion<'_>> {
        self.open().and_then(Document::mender).and_then(Mender::completion)
    }

    /// Why the open document is passed through raw, if it is: a limit, or a repair that the policy
    /// forbids.
    ///
    /// ```
    /// use wiremend_core::{Limits, MendOptions, Outcome};
    /// use wiremend_extract::{Finder, FoundDocuments, Scope};
    /// let options = MendOptions::new().with_limits(Limits::new().with_depth(2));
    /// let mut extractor = Finder::new(Scope::Whole, options);
    /// extractor.push(b"[[1, ", &mut FoundDocuments::default());
    /// assert_eq!(extractor.stopped(), None);
    /// extractor.push(b"[2", &mut FoundDocuments::default());
    /// assert_eq!(extractor.stopped(), Some(Outcome::Overflow));
    /// ```
    #[must_use]
    pub fn stopped(&self) -> Option<Outcome> {
        self.open().and_then(Document::mender).and_then(Mender::outcome)
    }

    /// How many containers are open.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.open().and_then(Document::mender).map_or(0, Mender::depth)
    }

    /// How many bytes were received but not emitted yet.
    #[must_use]
    pub fn withheld(&self) -> usize {
        let inside = self.open().and_then(Document::mender).map_or(0, Mender::withheld);
        self.held.len() + self.waiting.len() + self.carry.len() + inside
    }

    /// Where the single document ended, once it has, although [`TextSink::end`] is called only at the end of
    /// the input. For the other crates.
    #[doc(hidden)]
    #[must_use]
    pub const fn document_end(&self) -> Option<usize> {
        self.margin.document_end()
    }

    /// How many steps of work were done. Grows in proportion to the input.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps + self.document.steps()
    }

    /// How many bytes were received.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.received
    }

    /// The current path in the last document. After [`Outcome::Closed`] or [`Outcome::Cut`], the
    /// path at which it was cut off.
    #[must_use]
    pub fn path(&self) -> Path {
        self.document.path()
    }

    /// The outcome, once [`finish`](Self::finish) or [`abandon`](Self::abandon) was called.
    #[must_use]
    pub const fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }
}
