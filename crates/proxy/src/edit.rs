//! A change of the arguments of a call, as it is listed.

use wiremend_core::Risk;

/// The most edits of a call that are listed. All are counted.
pub(crate) const EDITS: usize = 256;

/// A change of the arguments that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) code: &'static str,
    pub(crate) risk: Risk,
    /// What is there instead. Empty if content is not kept.
    pub(crate) after: String,
}
