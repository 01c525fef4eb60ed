//! Validate, then repair: the loop and its options.
//!
//! A value is walked together with its schema. Where a part of the value is valid for its part of
//! the schema, nothing is looked at any further. Where it is not, what is inside is repaired first,
//! then the rules propose another form. A proposal counts only if the result is valid; the one with
//! the least risk is taken, and two different results of the same risk are a refusal.

mod attempts;
mod choose;
mod documents;
mod elements;
mod integers;
mod made;
mod members;
mod permit;
mod place;
mod plan;
mod reading;
mod renames;
mod reshape;
mod walk;
mod words;

use std::ops::Range;

use jsonmend_core::{Options, Outcome, Path, Risk, TrailingDocuments};
use jsonmend_extract::Scope;

pub(crate) use made::shortened;

use crate::{Change, Issue, Rule, Rules, Schema};

/// Options for [`Schema::fit`].
///
/// ```
/// use jsonmend_core::{Options, Policy};
/// use jsonmend_schema::{FitOptions, Rule, Rules};
///
/// let options = FitOptions::new()
///     .with_engine(Options::new().with_policy(Policy::CONSERVATIVE))
///     .with_rules(Rules::new().without(Rule::WrapInArray))
///     .with_name("search");
/// assert_eq!(options.name(), Some("search"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FitOptions {
    engine: Options,
    scope: Scope,
    rules: Rules,
    name: Option<String>,
}

impl FitOptions {
    /// The defaults: repairs and rules of any risk, each marked with it; the best reading of the
    /// text; rules that are on by default.
    #[must_use]
    pub fn new() -> Self {
        let engine = Options::new().with_trailing_documents(TrailingDocuments::Array);
        Self { engine, scope: Scope::Best, rules: Rules::new(), name: None }
    }

    /// With those options for the text. The highest risk of their policy holds for the rules too.
    #[must_use]
    pub fn with_engine(mut self, engine: Options) -> Self {
        self.engine = engine;
        self
    }

    /// Where in the text the value is looked for.
    #[must_use]
    pub const fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// With those switches.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// With the name of the tool or type that the value is for. An envelope that carries the name
    /// can then be distinguished from data.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Whether several documents may become the items of a list.
    pub(crate) const fn takes_several(&self) -> bool {
        matches!(
            self.engine.trailing_documents(),
            TrailingDocuments::Array | TrailingDocuments::All
        )
    }

    /// The options for a text that is not valid JSON: the schema is its guide, unless there
    /// is another.
    pub(crate) fn engine_for(&self, schema: &Schema) -> Options {
        let engine = self.engine.clone();
        if engine.guide().is_some() { engine } else { engine.with_guide(schema.guide()) }
    }

    /// The options for the text.
    #[must_use]
    pub const fn engine(&self) -> &Options {
        &self.engine
    }

    /// Where the value is looked for.
    #[must_use]
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// The switches.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The name of the tool or type.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl Default for FitOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A rule that was applied, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub(crate) rule: Rule,
    pub(crate) risk: Risk,
    pub(crate) path: Path,
    pub(crate) schema_path: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) before: String,
    pub(crate) after: String,
}

impl Applied {
    /// The rule.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// What it had to assume: at least the risk of the rule, more where the value left another
    /// reading open or needed repairs of its own.
    #[must_use]
    pub const fn risk(&self) -> Risk {
        self.risk
    }

    /// Where in the value.
    #[must_use]
    pub const fn path(&self) -> &Path {
        &self.path
    }

    /// Where in the schema, as a JSON Pointer.
    #[must_use]
    pub fn schema_path(&self) -> &str {
        &self.schema_path
    }

    /// The first byte of the value it was applied to: an offset into the input as given.
    #[must_use]
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The end of those bytes, exclusive.
    #[must_use]
    pub const fn end(&self) -> usize {
        self.end
    }

    /// The bytes of the value it was applied to.
    #[must_use]
    pub const fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The value before, at most 120 characters of it.
    #[must_use]
    pub fn before(&self) -> &str {
        &self.before
    }

    /// The value after, at most 120 characters of it.
    #[must_use]
    pub fn after(&self) -> &str {
        &self.after
    }
}

/// What became of a text.
///
/// ```
/// use jsonmend_core::Outcome;
/// use jsonmend_schema::{FitOptions, Schema};
///
/// let schema = Schema::from_text(
///     r#"{"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}"#,
/// )?;
/// let fitted = schema.fit(br#"{tags: "[\"a\", \"b\"]"}"#, &FitOptions::new());
/// assert_eq!(fitted.text(), Some(r#"{"tags": ["a", "b"]}"#));
/// assert_eq!(fitted.outcome(), Outcome::Repaired);
/// assert_eq!(fitted.applied()[0].rule().code(), "unwrap-stringified");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    outcome: Outcome,
    text: Option<String>,
    /// The text before any rule, where it is another.
    mended: Option<String>,
    changes: Vec<Change>,
    applied: Vec<Applied>,
    issues: Vec<Issue>,
    cut_at: Option<Path>,
}

impl Fitted {
    /// Of a text of so many bytes that could not be kept.
    pub(crate) fn overflow(length: usize) -> Self {
        Self {
            outcome: Outcome::Overflow,
            text: None,
            mended: None,
            changes: Vec::new(),
            applied: Vec::new(),
            issues: vec![Issue::beyond_limits(length)],
            cut_at: None,
        }
    }

    /// How it ended. [`Outcome::Invalid`] if the value is not valid and could not be made so.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The JSON text, if it is valid for the schema.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The JSON text before any rule was applied, where the text holds JSON at all.
    #[must_use]
    pub fn mended(&self) -> Option<&str> {
        let same = self.text.as_deref().filter(|_| self.applied.is_empty());
        self.mended.as_deref().or(same)
    }

    /// The edit script: applied to the input, it gives [`Fitted::text`]. Empty where there is none.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The rules that were applied; where there is no text, those that could have been.
    #[must_use]
    pub fn applied(&self) -> &[Applied] {
        &self.applied
    }

    /// What was wrong and still is, in document order. Empty where there is a text; at least one where
    /// there is none.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// Where in the value the input was cut off, if it was. Then the text, if there is one, is only a
    /// part of what was meant.
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.cut_at.as_ref()
    }

    /// The highest risk among the changes and the rules; `None` without any change.
    #[must_use]
    pub fn risk(&self) -> Option<Risk> {
        let made = self.text.is_some();
        let rules = self.applied.iter().filter(|_| made).map(|applied| applied.risk);
        self.changes.iter().map(Change::risk).chain(rules).max()
    }
}

impl Schema {
    /// Finds the value in a text, mends it, validates it, and repairs what is not valid to fit
    /// the schema, as far as the policy allows.
    ///
    /// A value that is valid stays as it is, byte for byte. One that cannot be made valid comes back
    /// with its issues, and nothing is changed.
    #[must_use]
    pub fn fit(&self, input: &[u8], options: &FitOptions) -> Fitted {
        attempts::fit(self, input, options)
    }
}
