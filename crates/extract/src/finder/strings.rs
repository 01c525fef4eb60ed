//! Whether a text ends in a string of a document.

use super::{Finder, State};
use crate::{FoundDocuments, Scope};

impl Finder {
    /// Whether the text so far ends inside a string of a document. `false` if a string of the document
    /// has a line end in it, because the document may have been cut off there. Costs O(depth).
    ///
    /// ```
    /// use wiremend_core::MendOptions;
    /// use wiremend_extract::{Finder, FoundDocuments, Scope};
    /// let mut extractor = Finder::new(Scope::All, MendOptions::new());
    /// extractor.push(b"So: {\"tag\": \"a <", &mut FoundDocuments::default());
    /// assert!(extractor.is_in_string());
    /// extractor.push(b"b>\"", &mut FoundDocuments::default());
    /// assert!(!extractor.is_in_string());
    /// ```
    #[must_use]
    pub fn is_in_string(&mut self) -> bool {
        self.open().is_some() && self.document.is_in_string()
    }

    /// Whether the text so far ends inside a string of a document, if `ahead` follows. `last` says that
    /// nothing follows that. `None` if that is too little to know whether a document has begun.
    pub(crate) fn is_in_string_before(&mut self, ahead: &[u8], last: bool) -> Option<bool> {
        self.before(ahead, last, Self::is_in_string)
    }

    /// The same for whether it ends inside a document.
    pub(crate) fn is_in_document_before(&mut self, ahead: &[u8], last: bool) -> Option<bool> {
        self.before(ahead, last, |own| own.open().is_some())
    }

    /// What `judge` says of the text so far, if `ahead` follows.
    fn before(
        &mut self,
        ahead: &[u8],
        last: bool,
        judge: impl Fn(&mut Self) -> bool,
    ) -> Option<bool> {
        let undecided = |own: &Self| matches!(own.state, State::Text) && !own.carry.is_empty();
        if !undecided(self) {
            return Some(judge(self));
        }
        // A document is known by its window, so more makes no difference.
        let most = 2 * self.options.limits().lookahead();
        let last = last && ahead.len() <= most;
        let ahead = ahead.get(..most).unwrap_or(ahead);
        let mut probe = self.clone();
        while undecided(&probe) {
            let mut joint = std::mem::take(&mut probe.carry);
            let length = joint.len();
            joint.extend_from_slice(ahead);
            let from = probe.read(&joint, last, &mut FoundDocuments::default());
            self.steps = probe.steps;
            if matches!(probe.state, State::Text) && from < length {
                return None;
            }
            if from >= length || !matches!(probe.state, State::Document) {
                return Some(false);
            }
            probe.push(joint.get(from..length).unwrap_or_default(), &mut FoundDocuments::default());
        }
        self.steps = probe.steps;
        Some(judge(&mut probe))
    }

    /// Where it looks for documents.
    pub(crate) const fn scope(&self) -> Scope {
        self.scope
    }

    /// Whether nothing is open, and the next byte is in the middle of prose.
    pub(crate) fn is_in_prose(&self) -> bool {
        let open = !matches!(self.state, State::Text) || self.is_again() || !self.carry.is_empty();
        !open && self.prose.is_in_prose()
    }
}
