//! A cursor that follows a value while it arrives.

use wiremend_core::Output as _;
use wiremend_schema::{Cursor, EarlyIssue, FitOptions, Schema};

/// Follows the arguments of a call, or an object in the text.
#[derive(Debug)]
pub(crate) struct Along {
    cursor: Cursor,
    /// How many early issues have been taken.
    taken: usize,
}

impl Along {
    pub(crate) fn new(schema: &Schema, options: &FitOptions) -> Self {
        Self { cursor: Cursor::new(schema, options), taken: 0 }
    }

    /// The same, for a value with which its text ends.
    pub(crate) fn ending_with_root(mut self) -> Self {
        self.cursor.end_with_root();
        self
    }

    pub(crate) const fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Reads more of the mended text.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        self.cursor.copy(bytes);
    }

    /// A number or a literal that the text ends with so far is complete.
    pub(crate) fn settle(&mut self) {
        self.cursor.settle();
    }

    /// The whole text may be read in another way, so nothing is lost from here on.
    pub(crate) const fn doubt_reading(&mut self) {
        self.cursor.doubt_reading();
    }

    /// The text from here on is raw, and says nothing about what was meant.
    pub(crate) fn stop(&mut self) {
        self.cursor.settle();
        self.cursor.raw();
    }

    /// The early issues since the last call.
    pub(crate) fn take_issues(&mut self) -> &[EarlyIssue] {
        let issues = self.cursor.early_issues();
        let new = issues.get(self.taken..).unwrap_or_default();
        self.taken = issues.len();
        new
    }
}
