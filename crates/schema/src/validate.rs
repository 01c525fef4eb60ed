//! Validation without repair.

use crate::{Issue, Schema, Tree, issue::issues, judge::Judge};

impl Schema {
    /// Whether a value is valid. A value that takes more work than its length allows is not;
    /// [`Schema::validate`] reports that.
    #[must_use]
    pub fn accepts(&self, tree: &Tree<'_>) -> bool {
        Judge::new(self, tree.text().len()).accepts_whole(tree)
    }

    /// What is wrong with a value, in document order; empty if it is valid. If the value takes too
    /// much work to check, the last issue is an
    /// [`IssueCode::Overflow`](crate::IssueCode::Overflow).
    #[must_use]
    pub fn validate(&self, tree: &Tree<'_>) -> Vec<Issue> {
        issues(&mut Judge::new(self, tree.text().len()), tree)
    }
}
