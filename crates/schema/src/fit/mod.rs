//! Validates and repairs a value; the options and the result.
//!
//! A value is compared with its schema part by part. Parts that are valid are not looked at any
//! further. If a part is not valid, its content is repaired first, and then the rules propose other
//! forms of it. A proposal counts only if its result is valid. The one with the lowest risk is
//! chosen, and if two different results have the same risk, the value is refused.

mod attempts;
mod fitter;
mod object;
mod place;
mod reading;
mod reshape;
mod xml;

use std::ops::Range;

pub(crate) use fitter::shortened;
use wiremend_core::{MendOptions, Outcome, Path, Risk, TrailingDocuments};
use wiremend_extract::Scope;

use crate::{Change, Issue, Rule, Rules, Schema, judge::STEPS};

/// Options for [`Schema::fit`].
///
/// ```
/// use wiremend_core::{MendOptions, Policy};
/// use wiremend_schema::{FitOptions, Rule, Rules};
///
/// let options = FitOptions::new()
///     .with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE))
///     .with_rules(Rules::new().without(Rule::WrapInArray))
///     .with_name("search");
/// assert_eq!(options.name(), Some("search"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FitOptions {
    mending: MendOptions,
    scope: Scope,
    rules: Rules,
    name: Option<String>,
    steps: u64,
    in_sentence: bool,
}

impl FitOptions {
    /// The defaults: repairs and rules of any risk, the best reading of the text, and the rules
    /// that are on by default.
    #[must_use]
    pub fn new() -> Self {
        let mending = MendOptions::new().with_trailing_documents(TrailingDocuments::Array);
        let (rules, scope) = (Rules::new(), Scope::Best);
        Self { mending, scope, rules, name: None, steps: STEPS, in_sentence: false }
    }

    /// Sets the options for mending the text. The highest risk of their policy applies to the rules
    /// too.
    #[must_use]
    pub fn with_mending(mut self, mending: MendOptions) -> Self {
        self.mending = mending;
        self
    }

    /// Sets where in the text the value is looked for.
    #[must_use]
    pub const fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets which rules are enabled.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Sets the name of the tool or type that the value is for, so that an envelope with this name
    /// can be told apart from data.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets how much work a text may take, in steps, in addition to 256 for each of its bytes. Whatever takes more has
    /// the outcome [`Outcome::Overflow`]. A step is about the work of comparing a value with one part of the schema.
    /// [`Schema::accepts`](crate::Schema::accepts) and [`Schema::validate`](crate::Schema::validate) have the default.
    ///
    /// ### Default
    /// 33,554,432, which valid values are far below: a hostile schema can then take about a second.
    ///
    /// ```
    /// use wiremend_core::Outcome;
    /// use wiremend_schema::{FitOptions, Schema};
    ///
    /// let schema = Schema::from_text(r#"{"pattern": "(.*)*\\1z"}"#)?;
    /// let text = format!("{:?}", "a".repeat(40));
    /// let quick = FitOptions::new().with_steps(50_000);
    /// assert_eq!(schema.fit(text.as_bytes(), &quick).outcome(), Outcome::Overflow);
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub const fn with_steps(mut self, steps: u64) -> Self {
        self.steps = steps;
        self
    }

    /// Says whether the text was found in a sentence. The words around a list may then belong to the answer, so that it
    /// is a *guess* that it only lacks its [envelope](Rule::MissingEnvelope).
    ///
    /// ### Default
    /// It was not.
    ///
    /// ```
    /// use wiremend_core::Risk;
    /// use wiremend_schema::{FitOptions, Schema};
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"type": "object", "properties": {"items": {"type": "array"}, "n": {"type": "integer"}}, "required": ["items"]}"#,
    /// )?;
    /// let risk = |options: &FitOptions| schema.fit(b"[{\"id\": 1}]", options).risk();
    /// assert_eq!(risk(&FitOptions::new()), Some(Risk::Exact));
    /// // From: The items are [{"id": 1}], and n is 2.
    /// assert_eq!(risk(&FitOptions::new().in_sentence(true)), Some(Risk::Guess));
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub const fn in_sentence(mut self, in_sentence: bool) -> Self {
        self.in_sentence = in_sentence;
        self
    }

    /// Whether several documents may become the items of a list.
    const fn takes_several(&self) -> bool {
        matches!(
            self.mending.trailing_documents(),
            TrailingDocuments::Array | TrailingDocuments::All
        )
    }

    /// The options for a text that is not valid JSON. The schema is the guide, unless the options
    /// have another one.
    pub(crate) fn mending_for(&self, schema: &Schema) -> MendOptions {
        let mending = self.mending.clone();
        if mending.guide().is_some() { mending } else { mending.with_guide(schema.guide()) }
    }

    /// The options for mending the text.
    #[must_use]
    pub const fn mending(&self) -> &MendOptions {
        &self.mending
    }

    /// Where in the text the value is looked for.
    #[must_use]
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// Which rules are enabled.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// How much work a text may take, in steps.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps
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

    /// The risk of this application: at least the risk of the rule, and higher if the value left
    /// another reading open or needed repairs of its own.
    #[must_use]
    pub const fn risk(&self) -> Risk {
        self.risk
    }

    /// The path of the value.
    #[must_use]
    pub const fn path(&self) -> &Path {
        &self.path
    }

    /// The location in the schema, as a JSON Pointer.
    #[must_use]
    pub fn schema_path(&self) -> &str {
        &self.schema_path
    }

    /// The first byte of the value that the rule was applied to, as an offset into the input.
    #[must_use]
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The end of that value, exclusive.
    #[must_use]
    pub const fn end(&self) -> usize {
        self.end
    }

    /// The byte range of the value that the rule was applied to.
    #[must_use]
    pub const fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The value before, at most its first 120 characters.
    #[must_use]
    pub fn before(&self) -> &str {
        &self.before
    }

    /// The value after, at most its first 120 characters.
    #[must_use]
    pub fn after(&self) -> &str {
        &self.after
    }
}

/// The result of fitting a text to a schema.
///
/// ```
/// use wiremend_core::Outcome;
/// use wiremend_schema::{FitOptions, Schema};
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
    /// The text before any rule was applied, if it is different.
    mended: Option<String>,
    changes: Vec<Change>,
    applied: Vec<Applied>,
    issues: Vec<Issue>,
    cut_at: Option<Path>,
}

impl Fitted {
    /// The result for a text that was too long to be kept.
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

    /// The outcome. [`Outcome::Invalid`] if the value is not valid and could not be made valid.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The JSON text, if it is valid for the schema.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The JSON text before any rule was applied, if the input contains JSON.
    #[must_use]
    pub fn mended(&self) -> Option<&str> {
        let same = self.text.as_deref().filter(|_| self.applied.is_empty());
        self.mended.as_deref().or(same)
    }

    /// The edit script. Applied to the input, it produces [`Fitted::text`]. Empty if there is no
    /// text.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The rules that were applied. If there is no text, the rules that could have been applied.
    #[must_use]
    pub fn applied(&self) -> &[Applied] {
        &self.applied
    }

    /// What is wrong with the value, in document order. Empty if there is a text; otherwise there
    /// is at least one issue.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// Where in the value the input was cut off, if it was. The text, if there is one, is then only
    /// a part of what was meant.
    #[must_use]
    pub const fn cut_at(&self) -> Option<&Path> {
        self.cut_at.as_ref()
    }

    /// The highest risk among the changes and rules; `None` if nothing was changed.
    #[must_use]
    pub fn risk(&self) -> Option<Risk> {
        let made = self.text.is_some();
        let rules = self.applied.iter().filter(|_| made).map(|applied| applied.risk);
        self.changes.iter().map(Change::risk).chain(rules).max()
    }
}
