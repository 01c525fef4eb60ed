//! One reading of the text, and fitting its value.

use std::{borrow::Cow, ops::Range};

use wiremend_core::{Mended, Options, Outcome, Path, Repair, RepairKind, Risk};
use wiremend_extract::{Scope, mend_text};

use super::{
    Applied, FitOptions, Fitted, integers::Spelled, made::Fit, mending::Mending, place::Place,
    walk::Fitter,
};
use crate::{
    Change, Issue, Tree, issue,
    judge::Judge,
    part::Part,
    script::{self, Origins},
    tree::{TreeError, quoted},
};

/// The result for one reading.
pub(super) struct Tried(pub(super) Fitted);

impl Tried {
    /// Whether no other reading could be better.
    pub(super) fn is_settled(&self) -> bool {
        let least = self.0.applied.iter().all(|applied| applied.risk <= Risk::Likely);
        let honest = matches!(self.0.outcome, Outcome::Cut | Outcome::Closed | Outcome::Overflow);
        self.0.text.is_some() && least || honest && self.0.text.is_none()
    }

    /// The result with the lower risk; this one, if both are equal.
    pub(super) fn or(self, other: Self) -> Self {
        let better = match (&self.0.text, &other.0.text) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(_), Some(_)) => other.0.risk() < self.0.risk(),
        };
        if better { other } else { self }
    }
}

/// A JSON text that the input may mean.
pub(super) struct Reading<'i> {
    pub(super) outcome: Outcome,
    pub(super) text: Option<Cow<'i, str>>,
    changes: Vec<Change>,
    cut_at: Option<Path>,
    /// The first change that the policy forbids, if there is no text.
    forbidden: Option<Change>,
}

impl<'i> Reading<'i> {
    pub(super) fn of(input: &[u8], scope: Scope, options: &Options) -> Self {
        let mended = mend_text(input, scope, options);
        Self::new(input, mended, options)
    }

    /// The whole input, which is valid JSON.
    pub(super) fn valid(text: &'i str) -> Self {
        let (outcome, text) = (Outcome::Unchanged, Some(Cow::Borrowed(text)));
        Self { outcome, text, changes: Vec::new(), cut_at: None, forbidden: None }
    }

    /// A text that these changes make from the input.
    pub(super) fn repaired(text: String, changes: Vec<Change>) -> Self {
        Self {
            outcome: Outcome::Repaired,
            text: Some(Cow::Owned(text)),
            changes,
            cut_at: None,
            forbidden: None,
        }
    }

    /// The byte range of the value in the input; `None` without a value.
    pub(super) fn span(&self) -> Option<Range<usize>> {
        let tree = Tree::read(self.text.as_deref()?).ok()?;
        Some(script::origin(&self.changes, &tree.root().span()))
    }

    pub(super) fn is_list(&self) -> bool {
        self.text.as_deref().is_some_and(|text| text.trim_start().starts_with('['))
    }

    /// The reading as which `input` was mended with these options.
    pub(super) fn new(input: &[u8], mended: Mended, options: &Options) -> Self {
        let cut_at = mended.cut_at().cloned();
        let (mut forbidden, mut changes) = (None, Vec::new());
        if mended.text().is_some() {
            changes = Change::of_repairs(input, mended.repairs());
        } else {
            let mut located = mended.located(input);
            let refused = located.find(|repair| !options.policy().allows(repair.kind()));
            forbidden = refused.map(|repair| Change::syntax(&repair, located.path()));
        }
        let (outcome, text, _) = mended.into_parts();
        Self { outcome, text: text.map(Cow::Owned), changes, cut_at, forbidden }
    }

    /// The whole text as a string without quotes. The rules decide what it means.
    pub(super) fn bare(input: &[u8], options: &Options) -> Option<Self> {
        let kind = RepairKind::UnquotedString;
        let text = std::str::from_utf8(input).ok()?;
        if !options.policy().allows(kind) || text.trim().is_empty() {
            return None;
        }
        let text = quoted(text.trim());
        let repair = Repair::new(kind, 0..input.len(), text.clone());
        Some(Self::repaired(text, vec![Change::syntax(&repair, Path::default())]))
    }

    /// Fits the value of this reading to the schema.
    pub(super) fn fit(&self, judge: &mut Judge<'_>, input: &[u8], options: &FitOptions) -> Tried {
        let Some(text) = &self.text else {
            return self.refused(self.outcome, self.unread(input), Vec::new());
        };
        match Tree::read(text) {
            // A list of documents is one level deeper than the documents.
            Ok(tree) if tree.is_within(options.engine().limits()) => {
                self.fit_tree(&tree, judge, input, options)
            }
            Err(TreeError::NotJson { .. }) => {
                let several = Issue::syntax(
                    Path::default(),
                    "expected one value, but the text contains several",
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
        let (text, mended, changes) = (None, self.text.as_deref().map(str::to_owned), Vec::new());
        let cut_at = self.cut_at.clone();
        Tried(Fitted { outcome, text, mended, changes, applied, issues, cut_at })
    }

    /// The same, with the tree of the text.
    pub(super) fn fit_tree(
        &self,
        tree: &Tree<'_>,
        judge: &mut Judge<'_>,
        input: &[u8],
        options: &FitOptions,
    ) -> Tried {
        let (text, accepts) = (tree.text(), judge.accepts_whole(tree));
        let mut fit = if accepts { Fit::clean() } else { made(tree, judge, options) };
        if judge.is_spent() {
            return self.overflow(input.len());
        }
        let mut applied = self.placed(&fit.applied);
        let (mut changes, mut output) = (self.changes.clone(), Some(text.to_owned()));
        if !accepts {
            let cuts: Vec<Change> = std::mem::take(&mut fit.cuts)
                .into_iter()
                .filter(|cut| cut.start < cut.end || !cut.after.is_empty())
                .collect();
            changes = script::compose(&self.changes, text, &cuts);
            output = crate::apply_changes(input, &changes);
        }
        // The result is validated once more as a whole, so that no value is returned that the
        // schema rejects.
        let limits = options.engine().limits();
        let mut accepted = |text: &String| {
            accepts
                || Tree::read(text)
                    .is_ok_and(|tree| tree.is_within(limits) && judge.accepts_whole(&tree))
        };
        let Some(mut output) = output.filter(|output| fit.valid && accepted(output)) else {
            let issues = self.issues(judge, tree, &fit);
            let spent = judge.is_spent();
            let outcome = if spent { Outcome::Overflow } else { Outcome::Invalid };
            return self.refused(outcome, self.with_cut(issues, input.len()), applied);
        };
        // A value that was valid from the start is not read again unless it contains such numbers.
        let loose = !accepts || tree.loose_integers().next().is_some();
        let spelled = if loose { Spelled::of(&output, judge, options) } else { None };
        if let Some(spelled) = spelled {
            applied.extend(spelled.placed(&changes));
            changes = script::compose(&changes, &output, &spelled.cuts);
            output = spelled.text;
        }
        let changed = self.outcome == Outcome::Unchanged && !changes.is_empty();
        let outcome = if changed { Outcome::Repaired } else { self.outcome };
        let mended = self.text.as_deref().filter(|_| !applied.is_empty()).map(str::to_owned);
        let text = Some(output);
        let cut_at = self.cut_at.clone();
        Tried(Fitted { outcome, text, mended, changes, applied, issues: Vec::new(), cut_at })
    }

    /// The result for a value that takes too much work.
    fn overflow(&self, length: usize) -> Tried {
        self.refused(Outcome::Overflow, vec![Issue::too_much_work(length)], Vec::new())
    }

    /// The rules that were applied, with their positions in the input.
    fn placed(&self, applied: &[Applied]) -> Vec<Applied> {
        // Sorted by position, so that the script is read only once.
        let mut order: Vec<usize> = (0..applied.len()).collect();
        order.sort_by_key(|at| applied.get(*at).map(|own| (own.start, own.end)));
        let (mut origins, mut before) = (Origins::new(&self.changes), 0);
        let mut placed: Vec<Applied> = applied.to_vec();
        for at in order {
            let Some(own) = placed.get_mut(at) else { continue };
            let span = own.start..own.end;
            // A nested value starts before the previous one ended, so the script is read again.
            let span = if span.start < before {
                script::origin(&self.changes, &span)
            } else {
                before = span.end;
                origins.of(&span)
            };
            (own.start, own.end) = (span.start, span.end);
        }
        placed
    }

    /// What is wrong with the value as it was read, with positions in the input. If a rule would
    /// fix an issue, the hint says so, to distinguish it from the issues that prevent the fit.
    fn issues(&self, judge: &mut Judge<'_>, tree: &Tree<'_>, fit: &Fit) -> Vec<Issue> {
        let issues = issue::issues(judge, tree);
        let mending = Mending::of(fit, &issues);
        let placed = |issue: Issue| {
            let span = script::origin(&self.changes, &issue.span());
            let issue = issue.with_span(span);
            if fit.ambiguous.contains(issue.path()) {
                let is_free = issue.hint().is_none();
                let hint = "it could be read in more than one way";
                return if is_free { issue.with_hint(hint) } else { issue };
            }
            match mending.of_issue(&issue) {
                Some((rule, risk)) => issue.with_mending(rule, risk),
                None => issue,
            }
        };
        issues.into_iter().map(placed).collect()
    }

    /// The issues of a text of `length` bytes that may have been cut off. What is missing from a
    /// container that was still open is reported as cut off, not as missing.
    fn with_cut(&self, issues: Vec<Issue>, length: usize) -> Vec<Issue> {
        let Some(cut_at) = &self.cut_at else { return issues };
        let open = |issue: &Issue| cut_at.steps().starts_with(issue.path().steps());
        let cut = issues.into_iter().map(|issue| {
            if issue.is_lack() && open(&issue) { issue.before_cut(length) } else { issue }
        });
        cut.collect()
    }

    /// Why there is no value.
    fn unread(&self, input: &[u8]) -> Vec<Issue> {
        let issue = match (self.outcome, &self.cut_at, &self.forbidden) {
            (Outcome::Cut, Some(path), _) => Issue::truncated(path.clone(), input.len()),
            (Outcome::Overflow, ..) => Issue::beyond_limits(input.len()),
            (_, _, Some(repair)) => {
                let (cause, span) = (repair.cause(), repair.start()..repair.end());
                let start = span.start;
                let reason =
                    format!("not JSON at byte {start}: {cause}, which the policy does not repair");
                Issue::syntax(repair.path().clone(), reason, span)
            }
            _ => Issue::syntax(Path::default(), "no JSON value in the text", 0..input.len()),
        };
        vec![issue]
    }
}

/// Fits a value that is not valid.
fn made(tree: &Tree<'_>, judge: &mut Judge<'_>, options: &FitOptions) -> Fit {
    let part = Part::root(judge.schema());
    let other = judge.turn_to_another();
    let fitter = Fitter::new(options, judge);
    let fit = fitter.map(|mut fitter| fitter.fit(tree.root(), &part, &Place::root()));
    judge.turn_back(other);
    fit.unwrap_or_default()
}
