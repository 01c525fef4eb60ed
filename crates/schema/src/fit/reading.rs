//! The readings of a text: each JSON text that the input may mean, and the result of fitting its value.
//!
//! Besides the text as a whole, each of its documents is a reading, all of them together are one as a list, and words
//! without any JSON may be a string.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

use wiremend_core::{
    Lead, MendOptions, Mended, Outcome, Path, Repair, RepairKind, Risk, Step, Tail,
    TrailingDocuments, mend,
};
use wiremend_extract::{Finder, FoundDocument, FoundDocuments, Scope, find};

use super::{
    Applied, FitOptions, Fitted, Location, Permit,
    fitter::{Fit, Spelled, TreeFitter, shortened},
};
use crate::{
    Cause, Change, Issue, Rule, Tree, apply_changes,
    compile::Types,
    issue,
    judge::Judge,
    part::Part,
    script::{self, Origins},
    tree::{JsonType, TreeError, quoted},
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
    pub(super) fn of(input: &[u8], scope: Scope, options: &MendOptions) -> Self {
        let mended = find(input, scope, options);
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
    pub(super) fn new(input: &[u8], mended: Mended, options: &MendOptions) -> Self {
        let cut_at = mended.cut_at().cloned();
        let (mut forbidden, mut changes) = (None, Vec::new());
        if mended.text().is_some() {
            changes = Change::of_repairs(input, mended.repairs());
        } else {
            let mut located = mended.located(input);
            let refused = located.find(|repair| !options.policy().permits(repair));
            forbidden = refused.map(|repair| Change::syntax(&repair, located.path()));
        }
        let (outcome, text, _) = mended.into_parts();
        Self { outcome, text: text.map(Cow::Owned), changes, cut_at, forbidden }
    }

    /// The whole text as a string without quotes. The rules decide what it means.
    pub(super) fn bare(input: &[u8], options: &MendOptions) -> Option<Self> {
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
            Ok(tree) if tree.is_within(options.mending().limits()) => {
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
        let mut fit = if accepts { Fit::clean() } else { fit_invalid(tree, judge, options) };
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
        let limits = options.mending().limits();
        let mut accepted = |text: &String| {
            accepts
                || Tree::read(text)
                    .is_ok_and(|tree| tree.is_within(limits) && judge.accepts_whole(&tree))
        };
        let Some(mut output) = output.filter(|output| fit.valid && accepted(output)) else {
            let issues = self.issues(judge, tree, &fit);
            let spent = judge.is_spent();
            let outcome = if spent { Outcome::Overflow } else { Outcome::Invalid };
            return self.refused(outcome, self.with_cut(issues, input), applied);
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

    /// The issues of a value that may have been cut off. What is missing from a container that was
    /// still open is reported as cut off, not as missing.
    fn with_cut(&self, issues: Vec<Issue>, input: &[u8]) -> Vec<Issue> {
        let Some(cut_at) = &self.cut_at else { return issues };
        let end = self.value_end(input);
        let open = |issue: &Issue| cut_at.steps().starts_with(issue.path().steps());
        let cut = issues.into_iter().map(|issue| {
            if issue.is_lack() && open(&issue) { issue.before_cut(input, end) } else { issue }
        });
        cut.collect()
    }

    /// Where a value ends that was closed: before its closers, and before what follows it.
    fn value_end(&self, input: &[u8]) -> usize {
        let close = Cause::Syntax(RepairKind::MissingClose);
        let after = [RepairKind::CodeFence, RepairKind::StrayText, RepairKind::TrailingProse];
        let after = after.map(Cause::Syntax);
        let mut changes = self.changes.iter().rev().skip_while(|change| change.cause() != close);
        let end = changes.next().map_or(input.len(), Change::start);
        changes.filter(|change| after.contains(&change.cause())).fold(end, |end, change| {
            let between = input.get(change.end()..end).unwrap_or_default();
            if between.trim_ascii().is_empty() { change.start() } else { end }
        })
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
fn fit_invalid(tree: &Tree<'_>, judge: &mut Judge<'_>, options: &FitOptions) -> Fit {
    let part = Part::root(judge.schema());
    let other = judge.turn_to_another();
    let fitter = TreeFitter::new(options, judge);
    let fit = fitter.map(|mut fitter| fitter.fit(tree.root(), &part, &Location::root()));
    judge.turn_back(other);
    fit.unwrap_or_default()
}

/// For the places of issues, the rule that was applied there, and the highest risk of all that were applied there and
/// inside. There are many more applied rules than issues.
struct Mending<'f> {
    places: HashMap<Vec<Step>, (Option<Rule>, Risk)>,
    unfit: HashSet<&'f [Step]>,
}

impl<'f> Mending<'f> {
    fn of(fit: &'f Fit, issues: &[Issue]) -> Self {
        let mut places: HashMap<_, _> =
            issues.iter().map(|issue| (place(issue), (None, Risk::Exact))).collect();
        // A value that is valid as a whole would have been returned.
        places.remove([].as_slice());
        let lengths: BTreeSet<usize> = places.keys().map(Vec::len).collect();
        for applied in &fit.applied {
            let steps = applied.path.steps();
            for length in lengths.iter().take_while(|length| **length <= steps.len()) {
                let outer = steps.get(..*length).unwrap_or_default();
                let Some((rule, risk)) = places.get_mut(outer) else { continue };
                *risk = applied.risk.max(*risk);
                // If several rules apply at the same place, the first one is named.
                if *length == steps.len() {
                    rule.get_or_insert(applied.rule);
                }
            }
        }
        Self { places, unfit: fit.unfit.iter().map(wiremend_core::Path::steps).collect() }
    }

    /// The rule that mends what an issue is about, and the highest risk of all that it takes. `None` if there is no
    /// rule for it, or if what it is about is still not valid afterwards.
    fn of_issue(&self, issue: &Issue) -> Option<(Rule, Risk)> {
        let place = place(issue);
        let (rule, risk) = self.places.get(&place)?;
        let is_unfit = self.unfit.contains(place.as_slice());
        rule.filter(|_| !is_unfit).map(|rule| (rule, *risk))
    }
}

/// The place of the value that an issue is about, which may be missing.
fn place(issue: &Issue) -> Vec<Step> {
    let missing = issue.missing().map(|name| Step::Key(name.into()));
    issue.path().steps().iter().cloned().chain(missing).collect()
}

/// The most documents that are tried individually.
const MOST: usize = 16;

/// The documents in a text, with their byte ranges.
pub(super) struct Documents<'i> {
    input: &'i [u8],
    options: MendOptions,
    /// Whether a document with anything after it is rejected.
    alone: bool,
    /// All documents, including those that were cut off.
    spans: Vec<Range<usize>>,
    /// The complete documents.
    found: Vec<Range<usize>>,
}

impl<'i> Documents<'i> {
    pub(super) fn find(input: &'i [u8], options: MendOptions) -> Self {
        let alone = options.trailing_documents() == TrailingDocuments::Error;
        let options = options.with_trailing_documents(TrailingDocuments::First);
        let mut extractor = Finder::new(Scope::All, options.clone());
        let mut findings = FoundDocuments::default();
        extractor.push(input, &mut findings);
        extractor.finish(&mut findings);
        let spans = findings.documents().iter().map(span).collect();
        let complete = |found: &&FoundDocument| found.outcome().is_some_and(Outcome::is_complete);
        let complete = findings.documents().iter().filter(complete);
        let found = complete.map(span).collect();
        Self { input, options, alone, spans, found }
    }

    /// One reading for each document that the policy allows to be used alone. It deletes the
    /// surrounding text.
    pub(super) fn each(&self) -> Vec<Reading<'static>> {
        let alone = |span: &Range<usize>| {
            let mut changes = self.around(RepairKind::LeadingProse, 0..span.start)?;
            changes.extend(self.inside(span)?);
            changes.extend(self.around(RepairKind::TrailingProse, span.end..self.input.len())?);
            Some(Reading::repaired(apply_changes(self.input, &changes)?, changes))
        };
        let (answers, others): (Vec<_>, Vec<_>) =
            self.found.iter().take(MOST).partition(|span| self.is_answer(span));
        answers.into_iter().rev().chain(others).filter_map(alone).collect()
    }

    /// Whether the text before a document calls it the answer, after others that are drafts.
    fn is_answer(&self, span: &Range<usize>) -> bool {
        let lead = |span: &Range<usize>| {
            let before = self.spans.partition_point(|other| other.start < span.start);
            let start = before.checked_sub(1).and_then(|at| self.spans.get(at));
            let gap = self.input.get(start.map_or(0, |span| span.end)..span.start);
            Lead::announces_answer(gap.unwrap_or_default())
        };
        let first = self.spans.first();
        first.is_some_and(|first| first.start < span.start && !lead(first)) && lead(span)
    }

    /// The repairs of a document. As the only content of the text, its end may decide how it
    /// begins.
    fn inside(&self, span: &Range<usize>) -> Option<Vec<Change>> {
        let mended = mend(self.input.get(span.clone())?, &self.options);
        mended.text().filter(|_| mended.outcome().is_complete())?;
        let mut changes = Change::of_repairs(self.input.get(span.clone())?, mended.repairs());
        for change in &mut changes {
            change.start += span.start;
            change.end += span.start;
        }
        Some(changes)
    }

    /// Deletes the text around a document. White space needs no change; `None` if the policy
    /// forbids the deletion.
    fn around(&self, prose: RepairKind, span: Range<usize>) -> Option<Vec<Change>> {
        if self.input.get(span.clone())?.trim_ascii().is_empty() {
            return Some(Vec::new());
        }
        let kind = self.kind(prose, &span);
        let second = kind == RepairKind::SecondDocument;
        let follows = self.alone && (second || prose != RepairKind::LeadingProse);
        let allowed = self.options.policy().allows(kind) && !follows;
        allowed.then(|| vec![change(kind, span, "")])
    }

    /// What is deleted with a part of the text: `prose`, or another document.
    fn kind(&self, prose: RepairKind, span: &Range<usize>) -> RepairKind {
        // The spans are in order and do not overlap.
        let first = self.spans.partition_point(|other| other.start < span.start);
        let another = self.spans.get(first).is_some_and(|other| other.end <= span.end);
        let text = self.input.get(span.clone()).unwrap_or_default();
        match prose {
            _ if another => RepairKind::SecondDocument,
            RepairKind::LeadingProse => Lead::of(text).kind(),
            RepairKind::TrailingProse => Tail::of(text, self.options.limits().lookahead()).kind(),
            other => other,
        }
    }

    /// A reading of all documents as the items of one list, if there are several.
    pub(super) fn list(&self) -> Option<Reading<'static>> {
        if self.found.len() < 2 {
            return None;
        }
        let joined = RepairKind::LineDelimited;
        // The text around the list is prose, unless it is white space.
        let outer = |prose: RepairKind, span: &Range<usize>| {
            let blank = self.input.get(span.clone())?.trim_ascii().is_empty();
            Some(if blank { joined } else { self.kind(prose, span) })
        };
        let mut changes = Vec::new();
        let mut at = 0;
        for (index, span) in self.found.iter().enumerate() {
            let gap = at..span.start;
            changes.push(match index {
                0 => change(outer(RepairKind::LeadingProse, &gap)?, gap, "["),
                _ => change(self.kind(joined, &gap), gap, ", "),
            });
            changes.extend(self.inside(span)?);
            at = span.end;
        }
        let tail = at..self.input.len();
        changes.push(change(outer(RepairKind::TrailingProse, &tail)?, tail, "]"));
        let allowed = |change: &Change| match change.cause {
            Cause::Syntax(kind) => self.options.policy().allows(kind),
            Cause::Rule(_) => true,
        };
        let allowed = changes.iter().all(allowed);
        allowed.then(|| Some(Reading::repaired(apply_changes(self.input, &changes)?, changes)))?
    }
}

/// The byte range of a document in the input: the length of its text, corrected for its repairs.
fn span(found: &FoundDocument) -> Range<usize> {
    let (mut added, mut removed) = (0, 0);
    for repair in found.repairs() {
        added += repair.after().len();
        removed += repair.end() - repair.start();
    }
    let length = (found.json().len() + removed).saturating_sub(added);
    found.offset()..found.offset() + length
}

fn change(kind: RepairKind, span: Range<usize>, after: &'static str) -> Change {
    Change::syntax(&Repair::new(kind, span, after), Path::default())
}

/// A text that is not JSON, for a schema that asks for a string or for an object with one.
pub(super) fn fit_as_text(
    judge: &mut Judge<'_>,
    input: &[u8],
    options: &FitOptions,
    no_json: bool,
) -> Option<Fitted> {
    let text = std::str::from_utf8(input).ok().filter(|text| !text.trim().is_empty())?;
    let (part, place) = (Part::root(judge.schema()), Location::root());
    if !Permit::new(options)?.allows(Rule::WrapText, &place, &part) {
        return None;
    }
    // Broken JSON is read as text only if the schema accepts nothing else.
    let output = if part.allowed() == Types::STRING || no_json && part.allows(JsonType::String) {
        quoted(text)
    } else {
        let required = part.required();
        let [key] = required.as_slice() else { return None };
        let property = part.property(key).filter(|property| property.allows(JsonType::String))?;
        // A string with a format or pattern cannot be an arbitrary text, and unparsed JSON is not
        // text either.
        if property.is_narrow() || holds_json(text) {
            return None;
        }
        format!("{{{}: {}}}", quoted(key), quoted(text.trim()))
    };
    if !Tree::read(&output).is_ok_and(|tree| judge.accepts_whole(&tree)) {
        return None;
    }
    let cause = Cause::Rule(Rule::WrapText);
    let change = Change::new(cause, 0..input.len(), output.clone(), Path::default());
    let applied = Applied {
        rule: Rule::WrapText,
        risk: Risk::Guess,
        path: Path::default(),
        schema_path: String::new(),
        start: 0,
        end: input.len(),
        before: shortened(text),
        after: shortened(&output),
    };
    Some(Fitted {
        outcome: Outcome::Repaired,
        text: Some(output),
        mended: None,
        changes: vec![change],
        applied: vec![applied],
        issues: Vec::new(),
        cut_at: None,
    })
}

/// Whether part of a text was meant to be JSON: it begins with a bracket, or contains a brace
/// before a key and a colon, or a list that begins with a brace or a quote.
fn holds_json(text: &str) -> bool {
    let opens = |(at, bracket): (usize, &str)| {
        let inside = text.get(at + bracket.len()..).unwrap_or_default().trim_start();
        match bracket {
            "{" => opens_member(inside),
            _ => inside.starts_with(['{', '"', '\'']),
        }
    };
    text.trim_start().starts_with(['{', '[']) || text.match_indices(['{', '[']).any(opens)
}

/// Whether a text begins with `key:`, with or without quotes.
fn opens_member(inside: &str) -> bool {
    /// The longest key that is searched for, in bytes.
    const KEY: usize = 64;
    let quotes = ['"', '\'', '`', '\u{201c}', '\u{201d}'];
    let named = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    let key = inside.trim_start_matches(quotes);
    let rest = key.trim_start_matches(named);
    let length = key.len() - rest.len();
    let colon = rest.trim_start_matches(quotes).trim_start().starts_with(':');
    (1..=KEY).contains(&length) && colon
}
