//! Validates and repairs a value; the options and the result.
//!
//! A value is compared with its schema part by part. Parts that are valid are not looked at any
//! further. If a part is not valid, its content is repaired first, and then the rules propose other
//! forms of it. A proposal counts only if its result is valid. The one with the lowest risk is
//! chosen, and if two different results have the same risk, the value is refused.

mod fitter;
mod object;
mod reading;
mod reshape;
mod xml;

use std::ops::Range;

use wiremend_core::{MendOptions, Mended, Outcome, Path, Risk, Step, TrailingDocuments};
use wiremend_extract::Scope;

use super::fit::{
    reading::{Documents, Reading, Tried, fit_as_text},
    xml::Elements,
};
use crate::{
    Change, Issue, IssueCode, Rule, Rules, Schema, Tree,
    compile::{Off, ShapeId, Types},
    judge::{Judge, STEPS},
    part::Part,
    tree::JsonType,
};

pub(crate) use fitter::shortened;

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

    /// The outcome. [`Outcome::Invalid`] if the value is not valid and could not be made valid;
    /// [`Outcome::Cut`] if all that is wrong with it is that it was cut off before a part that the
    /// schema requires.
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

// The location of a value while it is compared with the schema, and which rules may be applied there.

/// How many levels of a value are followed.
const DEPTH: usize = 64;

/// The location of a value, with the context that rules depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Location {
    path: Vec<Step>,
    /// The path as a JSON Pointer, to look up which rules are enabled.
    pointer: String,
    /// Whether the value is an item of a list.
    in_array: bool,
    /// Whether it is the whole value.
    is_root: bool,
    /// Whether another string would be valid here.
    takes_strings: bool,
    /// Whether it is tried as one of several branches of a union that accept its type.
    is_choice: bool,
    forms: usize,
    depth: usize,
    /// The rules that the schema switches off here.
    off: Vec<Off>,
}

impl Location {
    pub(crate) fn root() -> Self {
        Self { is_root: true, ..Self::default() }
    }

    fn member(&self, key: &str) -> Self {
        let pointer = format!("{}/{}", self.pointer, key.replace('~', "~0").replace('/', "~1"));
        Self { in_array: false, ..self.below(Step::Key(key.into()), pointer) }
    }

    fn item(&self, index: usize) -> Self {
        let pointer = format!("{}/{index}", self.pointer);
        Self { in_array: true, ..self.below(Step::Index(index), pointer) }
    }

    fn below(&self, step: Step, pointer: String) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        let (off, depth, forms) = (self.off.clone(), self.depth + 1, self.forms);
        Self { path, pointer, depth, forms, off, ..Self::default() }
    }

    fn reshaped(&self) -> Self {
        Self { forms: self.forms + 1, depth: self.depth + 1, ..self.clone() }
    }

    /// Adds the rules that these subschemas switch off, here and below.
    fn with_switches(mut self, parts: &[Part<'_>]) -> Self {
        let shapes = parts.iter().flat_map(Part::shapes).map(|shape| &shape.off);
        self.off.extend(shapes.filter(|off| **off != Off::Nothing).cloned());
        self
    }

    fn path(&self) -> Path {
        Path::from(self.path.clone())
    }
}

/// What the result of fitting a value depends on, apart from the schema and the options. If the
/// same value is reached again at the same place, the cached result is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Visit {
    node: u32,
    parts: Vec<ShapeId>,
    pointer: String,
    flags: [bool; 4],
    forms: usize,
    depth: usize,
    off: Vec<Off>,
}

impl Location {
    /// The cache key of a node for a part of the schema.
    fn visit(&self, node: u32, part: &Part<'_>) -> Visit {
        Visit {
            node,
            parts: part.essence(),
            pointer: self.pointer.clone(),
            flags: [self.in_array, self.is_root, self.takes_strings, self.is_choice],
            forms: self.forms,
            depth: self.depth,
            off: self.off.clone(),
        }
    }
}

/// The options, with the highest risk that they allow.
#[derive(Clone, Copy)]
struct Permit<'o> {
    options: &'o FitOptions,
    max_risk: Risk,
}

impl<'o> Permit<'o> {
    /// `None` if the policy allows no repair.
    fn new(options: &'o FitOptions) -> Option<Self> {
        Some(Self { options, max_risk: options.mending().policy().max_risk()? })
    }

    fn name(&self) -> Option<&'o str> {
        self.options.name()
    }

    /// Whether a rule may be used at a place.
    fn allows(&self, rule: Rule, place: &Location, part: &Part<'_>) -> bool {
        let own = part.shapes().map(|shape| &shape.off);
        let off = place.off.iter().chain(own).any(|off| match off {
            Off::Nothing => false,
            Off::Everything => true,
            Off::Codes(codes) => codes.iter().any(|code| code == rule.code()),
        });
        rule.risk() <= self.max_risk && !off && self.options.rules().allows(rule, &place.pointer)
    }

    const fn is_in_sentence(&self) -> bool {
        self.options.in_sentence
    }

    /// Whether the policy allows a risk.
    fn takes(&self, risk: Risk) -> bool {
        risk <= self.max_risk
    }
}

// Fits a text: tries the readings of the text in turn, and returns the one that fits.

impl Schema {
    /// Finds the value in a text, mends and validates it, and makes it fit the schema within the
    /// limits of the policy.
    ///
    /// A valid value is returned unchanged. A value that cannot be made valid is returned with its
    /// issues, and nothing is changed.
    #[must_use]
    pub fn fit(&self, input: &[u8], options: &FitOptions) -> Fitted {
        fit(self, input, None, options)
    }

    /// Like [`fit`](Self::fit), for an input that was mended already: the engine does not read it
    /// again. `mended` must be what the engine makes of the whole input with the engine options of
    /// `options` and the [guide](Self::guide) of this schema, and the scope [`Scope::Whole`].
    ///
    /// ```
    /// use wiremend_core::{MendOptions, mend};
    /// use wiremend_extract::Scope;
    /// use wiremend_schema::{FitOptions, Schema};
    ///
    /// let schema = Schema::from_text(r#"{"properties": {"days": {"type": "integer"}}}"#)?;
    /// let (input, engine) = (b"{'days': '3'}", MendOptions::new());
    /// let options = FitOptions::new().with_mending(engine.clone()).with_scope(Scope::Whole);
    /// let mended = mend(input, &engine.with_guide(schema.guide()));
    /// let fitted = schema.fit_mended(input, mended, &options);
    /// assert_eq!(fitted, schema.fit(input, &options));
    /// assert_eq!(fitted.text(), Some(r#"{"days": 3}"#));
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn fit_mended(&self, input: &[u8], mended: Mended, options: &FitOptions) -> Fitted {
        fit(self, input, Some(mended), options)
    }
}

/// `mended` is the result of mending the input under these options, if the caller has it.
fn fit(schema: &Schema, input: &[u8], mended: Option<Mended>, options: &FitOptions) -> Fitted {
    let fitted = best_fit(schema, input, mended, options);
    let only_cut = fitted.issues.iter().all(|issue| issue.code() == IssueCode::Truncated);
    match fitted.outcome {
        Outcome::Invalid if only_cut => Fitted { outcome: Outcome::Cut, ..fitted },
        _ => fitted,
    }
}

fn best_fit(schema: &Schema, input: &[u8], mended: Option<Mended>, options: &FitOptions) -> Fitted {
    let judge = &mut Judge::with(schema, options.steps(), input.len());
    let tree = valid(input, options);
    let is_one = tree.is_some();
    let (first, mut fitted) = match tree {
        Some(tree) => {
            let reading = Reading::valid(tree.text());
            let fitted = reading.fit_tree(&tree, judge, input, options);
            (reading, fitted)
        }
        None => {
            let reading = match mended {
                Some(mended) => Reading::new(input, mended, options.mending()),
                None => Reading::of(input, options.scope(), &options.mending_for(schema)),
            };
            let fitted = reading.fit(judge, input, options);
            (reading, fitted)
        }
    };
    // A value that was valid from the start is the only candidate, however its numbers are written.
    let only_spelled = fitted.0.applied.iter().all(|applied| applied.rule == Rule::IntegralFloat);
    if fitted.0.outcome == Outcome::Unchanged || is_one && fitted.0.text.is_some() && only_spelled {
        return fitted.0;
    }
    let elements = Elements::find(schema, input, options);
    if let Some(elements) = elements.as_ref().filter(|elements| elements.hold(&first)) {
        // JSON inside an element is the content of that element.
        let other = elements.fit(judge, input, options);
        if other.0.text.is_some() || first.text.is_none() {
            fitted = other;
        }
        if fitted.is_settled() {
            return fitted.0;
        }
    }
    let documents = match options.scope() {
        Scope::Best if !is_one => Some(Documents::find(input, options.mending_for(schema))),
        _ => None,
    };
    let takes_list = Part::root(schema).allows(JsonType::Array) && options.takes_several();
    if let Some(list) = documents.as_ref().filter(|_| takes_list && !first.is_list()) {
        // If the schema asks for a list, several documents are its items.
        let fitted = list.list().map(|reading| reading.fit(judge, input, options).0);
        if let Some(fitted) = fitted.filter(|fitted| fitted.text.is_some()) {
            return fitted;
        }
    }
    if fitted.is_settled() {
        return fitted.0;
    }
    // If the text as a whole does not fit, one of its documents may, or its words.
    let mut readings = documents.as_ref().map(Documents::each).unwrap_or_default();
    if options.mending().trailing_documents() == TrailingDocuments::Last {
        readings.reverse();
    }
    for reading in readings.iter().filter(|reading| reading.text != first.text) {
        let other = reading.fit(judge, input, options);
        fitted = fitted.or(other);
    }
    // Words without any document may be a string without its quotes.
    let no_json = first.text.is_none() && first.outcome == Outcome::None;
    let only_object = Part::root(schema).allowed() == Types::OBJECT;
    let bare = Reading::bare(input, options.mending()).filter(|_| no_json && !only_object);
    if let Some(reading) = bare {
        let other = reading.fit(judge, input, options);
        fitted = fitted.or(other);
    }
    if let Some(elements) = elements.filter(|elements| !elements.hold(&first)) {
        let other = elements.fit(judge, input, options);
        fitted = fitted.or(other);
    }
    if let Some(other) = fit_as_text(judge, input, options, no_json) {
        fitted = fitted.or(Tried(other));
    }
    fitted.0
}

/// The tree of a text that is valid JSON already. Mending would change nothing, so the text is
/// parsed only once.
fn valid<'i>(input: &'i [u8], options: &FitOptions) -> Option<Tree<'i>> {
    let text = std::str::from_utf8(input).ok().filter(|_| options.scope() != Scope::Fenced)?;
    let tree = Tree::read(text).ok()?;
    tree.needs_no_mending(options.mending().limits()).then_some(tree)
}
