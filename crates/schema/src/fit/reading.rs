//! From a text to a value: the readings of the text, and the one that fits.

use std::{collections::HashMap, ops::Range};

use jsonmend_core::{Mended, Options, Outcome, Path, Repair, RepairKind, Risk, TrailingDocuments};
use jsonmend_extract::{Scope, mend_text};

use super::{
    Applied, Fit, FitOptions, Fitted, Fitter, Place, documents::Documents, elements::Elements,
    integers::Spelled, words::words,
};
use crate::{
    Change, Issue, Rule, Schema, Tree,
    compile::Types,
    part::Part,
    script,
    tree::{JsonKind, TreeError, quoted},
};

pub(super) fn fit(schema: &Schema, input: &[u8], options: &FitOptions) -> Fitted {
    let tree = valid(input, options);
    let is_one = tree.is_some();
    let (first, mut fitted) = match tree {
        Some(tree) => {
            let reading = Reading::valid(tree.text());
            let fitted = reading.fit_tree(&tree, schema, input, options);
            (reading, fitted)
        }
        None => {
            let reading = Reading::of(input, options.scope(), &options.engine_for(schema));
            let fitted = reading.fit(schema, input, options);
            (reading, fitted)
        }
    };
    // A value that is valid as it came is the only one, however its numbers are spelled.
    let only_spelled = fitted.0.applied.iter().all(|applied| applied.rule == Rule::IntegralFloat);
    if fitted.0.outcome == Outcome::Unchanged || is_one && fitted.0.text.is_some() && only_spelled {
        return fitted.0;
    }
    let elements = Elements::find(schema, input, options);
    if let Some(elements) = elements.as_ref().filter(|elements| elements.hold(&first)) {
        // JSON inside an element is content of it.
        let other = elements.fit(schema, input, options);
        if other.0.text.is_some() || first.text.is_none() {
            fitted = other;
        }
        if fitted.is_settled() {
            return fitted.0;
        }
    }
    let documents = match options.scope() {
        Scope::Best if !is_one => Some(Documents::find(input, options.engine_for(schema))),
        _ => None,
    };
    let takes_list = Part::root(schema).allows(JsonKind::Array) && options.takes_several();
    if let Some(list) = documents.as_ref().filter(|_| takes_list && !first.is_list()) {
        // Several documents are items of the list that the schema asks for.
        let fitted = list.list().map(|reading| reading.fit(schema, input, options).0);
        if let Some(fitted) = fitted.filter(|fitted| fitted.text.is_some()) {
            return fitted;
        }
    }
    if fitted.is_settled() {
        return fitted.0;
    }
    // What the text as a whole does not give, a document in it may, or its words.
    let mut readings = documents.as_ref().map(Documents::each).unwrap_or_default();
    if options.engine().trailing_documents() == TrailingDocuments::Last {
        readings.reverse();
    }
    for reading in readings.iter().filter(|reading| reading.text != first.text) {
        let other = reading.fit(schema, input, options);
        fitted = fitted.or(other);
    }
    // Words without a document in them may be a value without its quotes.
    let no_json = first.text.is_none() && first.outcome == Outcome::None;
    let only_object = Part::root(schema).allowed() == Types::OBJECT;
    let bare = Reading::bare(input, options.engine()).filter(|_| no_json && !only_object);
    if let Some(reading) = bare {
        let other = reading.fit(schema, input, options);
        fitted = fitted.or(other);
    }
    if let Some(elements) = elements.filter(|elements| !elements.hold(&first)) {
        let other = elements.fit(schema, input, options);
        fitted = fitted.or(other);
    }
    if let Some(other) = words(schema, input, options, no_json) {
        fitted = fitted.or(Tried(other));
    }
    fitted.0
}

/// The tree of a text that is valid JSON. Then mending would find nothing to do, and the
/// text is read but once.
fn valid<'i>(input: &'i [u8], options: &FitOptions) -> Option<Tree<'i>> {
    let text = std::str::from_utf8(input).ok().filter(|_| options.scope() != Scope::Fenced)?;
    let tree = Tree::read(text).ok()?;
    tree.needs_no_mending(options.engine().limits()).then_some(tree)
}

/// What became of one reading.
pub(super) struct Tried(pub(super) Fitted);

impl Tried {
    /// Whether no other reading could do better.
    fn is_settled(&self) -> bool {
        let least = self.0.applied.iter().all(|applied| applied.risk <= Risk::Likely);
        let honest = matches!(self.0.outcome, Outcome::Cut | Outcome::Closed | Outcome::Overflow);
        self.0.text.is_some() && least || honest && self.0.text.is_none()
    }

    /// The one with the lower risk; this one, if they are equal.
    fn or(self, other: Self) -> Self {
        let better = match (&self.0.text, &other.0.text) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(_), Some(_)) => other.0.risk() < self.0.risk(),
        };
        if better { other } else { self }
    }
}

/// A JSON text in the input.
pub(super) struct Reading {
    outcome: Outcome,
    text: Option<String>,
    changes: Vec<Change>,
    cut_at: Option<Path>,
    /// The repairs that were needed, where there is no text.
    needed: Vec<Repair>,
}

impl Reading {
    fn of(input: &[u8], scope: Scope, options: &Options) -> Self {
        let mended = mend_text(input, scope, options);
        Self::new(mended)
    }

    /// The whole input, which is valid JSON.
    fn valid(text: &str) -> Self {
        let (outcome, text) = (Outcome::Unchanged, Some(text.to_owned()));
        Self { outcome, text, changes: Vec::new(), cut_at: None, needed: Vec::new() }
    }

    /// A text that was made of the input by these changes.
    pub(super) fn repaired(text: String, changes: Vec<Change>) -> Self {
        Self {
            outcome: Outcome::Repaired,
            text: Some(text),
            changes,
            cut_at: None,
            needed: Vec::new(),
        }
    }

    /// The bytes of its value in the input; `None` without one.
    pub(super) fn span(&self) -> Option<Range<usize>> {
        let tree = Tree::read(self.text.as_deref()?).ok()?;
        Some(script::origin(&self.changes, &tree.root().span()))
    }

    fn is_list(&self) -> bool {
        self.text.as_deref().is_some_and(|text| text.trim_start().starts_with('['))
    }

    fn new(mended: Mended) -> Self {
        let cut_at = mended.cut_at().cloned();
        let (outcome, text, repairs) = mended.into_parts();
        let changes = repairs.iter().map(Change::from).collect();
        let needed = if text.is_none() { repairs } else { Vec::new() };
        Self { outcome, text, changes, cut_at, needed }
    }

    /// The whole text as a string without quotes. The rules decide what it means.
    fn bare(input: &[u8], options: &Options) -> Option<Self> {
        let kind = RepairKind::UnquotedString;
        let text = std::str::from_utf8(input).ok()?;
        if !options.policy().allows(kind) || text.trim().is_empty() {
            return None;
        }
        let text = quoted(text.trim());
        let repair = Repair::new(kind, 0..input.len(), text.clone(), Path::default());
        Some(Self::repaired(text, vec![Change::from(&repair)]))
    }

    /// Brings the value of this reading into the schema.
    pub(super) fn fit(&self, schema: &Schema, input: &[u8], options: &FitOptions) -> Tried {
        let Some(text) = &self.text else {
            return self.refused(self.outcome, self.unread(input, options), Vec::new());
        };
        match Tree::read(text) {
            // A list of documents is a level deeper than they are.
            Ok(tree) if tree.is_within(options.engine().limits()) => {
                self.fit_tree(&tree, schema, input, options)
            }
            Err(TreeError::NotJson { .. }) => {
                let several = Issue::syntax(
                    Path::default(),
                    "one value is expected, the text holds several",
                    0..input.len(),
                );
                self.refused(Outcome::Invalid, vec![several], Vec::new())
            }
            Ok(_) | Err(_) => {
                self.refused(Outcome::Overflow, vec![Issue::beyond_limits(input.len())], Vec::new())
            }
        }
    }

    fn refused(&self, outcome: Outcome, issues: Vec<Issue>, applied: Vec<Applied>) -> Tried {
        let (text, mended, changes) = (None, self.text.clone(), Vec::new());
        let cut_at = self.cut_at.clone();
        Tried(Fitted { outcome, text, mended, changes, applied, issues, cut_at })
    }

    /// The same, of the tree of its text.
    fn fit_tree(
        &self,
        tree: &Tree<'_>,
        schema: &Schema,
        input: &[u8],
        options: &FitOptions,
    ) -> Tried {
        let (text, accepts) = (tree.text(), schema.accepts(tree));
        let fit = match Fitter::new(options, text.len()) {
            _ if accepts => Fit::clean(),
            Some(mut fitter) => fitter.fit(tree.root(), &Part::root(schema), &Place::root()),
            None => Fit::default(),
        };
        let applied = |applied: &Applied| {
            let span = script::origin(&self.changes, &(applied.start..applied.end));
            Applied { start: span.start, end: span.end, ..applied.clone() }
        };
        let mut applied: Vec<Applied> = fit.applied.iter().map(applied).collect();
        let (mut changes, mut output) = (self.changes.clone(), Some(text.to_owned()));
        if !accepts {
            let cuts: Vec<Change> = fit
                .cuts
                .into_iter()
                .filter(|cut| cut.start < cut.end || !cut.after.is_empty())
                .collect();
            changes = script::compose(&self.changes, text, &cuts);
            output = crate::apply_changes(input, &changes);
        }
        // What the walk found is checked once more, as a whole: a value is returned only if the
        // schema accepts it.
        let limits = options.engine().limits();
        let accepted = |text: &String| {
            accepts
                || Tree::read(text)
                    .is_ok_and(|tree| tree.is_within(limits) && schema.accepts(&tree))
        };
        let Some(mut output) = output.filter(|output| fit.valid && accepted(output)) else {
            let issues = self.issues(schema, tree, &fit.ambiguous, &fit.applied);
            let issues = self.with_cut(issues, input.len());
            return self.refused(Outcome::Invalid, issues, applied);
        };
        // A value that is valid as it came is not read again unless it has such numbers.
        let loose = !accepts || tree.loose_integers().next().is_some();
        let spelled = if loose { Spelled::of(&output, schema, options) } else { None };
        if let Some(spelled) = spelled {
            applied.extend(spelled.placed(&changes));
            changes = script::compose(&changes, &output, &spelled.cuts);
            output = spelled.text;
        }
        let changed = self.outcome == Outcome::Unchanged && !changes.is_empty();
        let outcome = if changed { Outcome::Repaired } else { self.outcome };
        let mended = self.text.clone().filter(|_| !applied.is_empty());
        let text = Some(output);
        let cut_at = self.cut_at.clone();
        Tried(Fitted { outcome, text, mended, changes, applied, issues: Vec::new(), cut_at })
    }

    /// What is wrong with the value as it was read, with places in the input. What a rule would mend
    /// says so, so that it can be told from what is in the way.
    fn issues(
        &self,
        schema: &Schema,
        tree: &Tree<'_>,
        ambiguous: &[Path],
        applied: &[Applied],
    ) -> Vec<Issue> {
        // Of several rules at a place the first is named.
        let rules: HashMap<&Path, &Applied> =
            applied.iter().rev().map(|applied| (&applied.path, applied)).collect();
        let placed = |issue: Issue| {
            let span = script::origin(&self.changes, &issue.span());
            let rule = rules.get(issue.path());
            let issue = issue.with_span(span);
            match (issue.hint(), rule) {
                (Some(_), _) => issue,
                _ if ambiguous.contains(issue.path()) => {
                    issue.with_hint("it could be read in more than one way")
                }
                (None, Some(Applied { rule, risk, .. })) => {
                    issue.with_hint(format!("{rule} ({risk}) mends this once the rest fits"))
                }
                (None, None) => issue,
            }
        };
        schema.validate(tree).into_iter().map(placed).collect()
    }

    /// The issues of a text of so many bytes that may have been cut off: what is missing from a
    /// container that was still open then is not missing, it had not come yet.
    fn with_cut(&self, issues: Vec<Issue>, length: usize) -> Vec<Issue> {
        let Some(cut_at) = &self.cut_at else { return issues };
        let open = |issue: &Issue| cut_at.steps().starts_with(issue.path().steps());
        let cut = issues.into_iter().map(|issue| {
            if issue.is_lack() && open(&issue) { issue.before_cut(length) } else { issue }
        });
        cut.collect()
    }

    /// Why there is no value.
    fn unread(&self, input: &[u8], options: &FitOptions) -> Vec<Issue> {
        let policy = options.engine().policy();
        let refused = self.needed.iter().find(|repair| !policy.allows(repair.kind()));
        let issue = match (self.outcome, &self.cut_at, refused) {
            (Outcome::Cut, Some(path), _) => Issue::truncated(path.clone(), input.len()),
            (Outcome::Overflow, ..) => Issue::beyond_limits(input.len()),
            (_, _, Some(repair)) => {
                let (kind, start) = (repair.kind(), repair.start());
                let reason =
                    format!("not JSON at byte {start}: {kind}, which the policy does not repair");
                Issue::syntax(repair.path().clone(), reason, repair.span())
            }
            _ => Issue::syntax(Path::default(), "no JSON value in the text", 0..input.len()),
        };
        vec![issue]
    }
}
