//! A scalar, and what a rule proposes for it.

use wiremend_core::Risk;

use crate::Rule;

/// A scalar, as it is written in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar<'a> {
    Boolean(bool),
    Null,
    /// The number's text.
    Number(&'a str),
    /// The decoded content.
    String(&'a str),
}

/// A replacement that a rule proposes for a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coerced {
    pub(crate) rule: Rule,
    /// The risk of the rule, or a higher one.
    pub(crate) risk: Risk,
    /// The replacement, as a JSON text.
    pub(crate) text: String,
}

impl Coerced {
    pub(super) fn new(rule: Rule, text: impl Into<String>) -> Self {
        Self { rule, risk: rule.risk(), text: text.into() }
    }

    pub(super) fn with_risk(mut self, risk: Risk) -> Self {
        self.risk = self.risk.max(risk);
        self
    }
}
