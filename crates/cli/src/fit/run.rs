//! `repair` and `check` with a schema.

use serde::Serialize;
use wiremend_core::{Options, Outcome, RepairKind, Risk};
use wiremend_extract::Scope;
use wiremend_schema::{Cause, Fitted, Issue, Rendering, Tree};

use super::{Fitting, Target, changes};
use crate::{
    Session,
    args::RepairArgs,
    exit::{Exit, Failure},
    listing::Listing,
    out::Out,
    paint::{BAD, BOLD, Paint, notice},
    report::{self, Record},
    visible::{Shown, shown},
};

/// The number of issues that are listed; `check`, `--json` and `--verbose` list all.
const LISTED: usize = 50;

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    file: &'a str,
    /// Whether the input is valid JSON and matches the schema, without changes.
    valid: bool,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Option<&'a str>>,
    repairs: Vec<Record>,
    #[serde(flatten)]
    fit: Fitting,
}

impl<'a> Report<'a> {
    fn new(file: &'a str, target: &Target, fitted: &'a Fitted) -> Self {
        Self {
            file,
            valid: fitted.outcome() == Outcome::Unchanged,
            outcome: fitted.outcome().code(),
            json: None,
            repairs: changes(fitted.changes()),
            fit: Fitting::new(target.id().map(str::to_owned), fitted),
        }
    }
}

/// Writes the value, and reports what was changed or is wrong.
pub(crate) fn repair(
    args: &RepairArgs,
    name: &str,
    text: &[u8],
    target: &Target,
    fitted: &Fitted,
    session: Session,
) -> Result<Outcome, Failure> {
    let mut out = Out::new();
    if args.json {
        let mut report = Report::new(name, target, fitted);
        report.json = Some(fitted.text());
        out.record(&report);
        out.flush()?;
        return Ok(fitted.outcome());
    }
    if let Some(json) = fitted.text() {
        out.document(json.as_bytes());
        out.end_line(json.as_bytes());
    } else if args.or_input {
        out.text(text);
    }
    out.flush()?;
    if !session.quiet {
        let listing = Listing { paint: session.stderr, name: Some(name), verbose: session.verbose };
        listing.lines(Some(text), fitted.changes()).iter().for_each(notice);
    }
    let listed = if session.verbose { usize::MAX } else { LISTED };
    for issue in fitted.issues().iter().take(listed) {
        notice(&shown!("{}: {}", name, Shown::message(&Rendering::new().line(issue))));
    }
    if let Some(more) = more_issues(fitted.issues().len(), listed) {
        notice(&shown!("{}: {}", name, more));
    }
    if fitted.text().is_none() || !session.quiet && fitted.outcome() != Outcome::Unchanged {
        notice(&shown!("{}: {}", name, summary(fitted, session.stderr)));
    }
    Ok(fitted.outcome())
}

/// Whether a document was dropped, because another one fits the schema.
pub(crate) fn drops_document(fitted: &Fitted) -> bool {
    let second = Cause::Syntax(RepairKind::SecondDocument);
    fitted.changes().iter().any(|change| change.cause() == second)
}

/// `… and 3 more issues (--verbose lists all)`, if there are more than are listed.
pub(crate) fn more_issues(issues: usize, listed: usize) -> Option<Shown> {
    let more = issues.checked_sub(listed).filter(|more| *more > 0)?;
    let noun = if more == 1 { "issue" } else { "issues" };
    Some(shown!("… and {} more {} (--verbose lists all)", more, noun))
}

/// Reports whether a text matches the schema and, if not, what is wrong and what would change.
pub(crate) fn check(
    name: &str,
    text: &[u8],
    target: &Target,
    options: Options,
    json: bool,
    session: Session,
) -> Result<Exit, Failure> {
    let fitted = target.fit(text, options, Scope::Best);
    let mut out = Out::new();
    if json {
        out.record(&Report::new(name, target, &fitted));
    } else if fitted.outcome() == Outcome::Unchanged {
        if !session.quiet {
            let title = session.stdout.paint(BOLD, name);
            out.line(&shown!("{}: valid JSON, and it matches the schema", title));
        }
    } else {
        for issue in before(target, &fitted) {
            let label = session.stdout.paint(BAD, issue.code());
            out.line(&shown!(
                "{}: {}: {}",
                name,
                label,
                Shown::message(&Rendering::new().line(&issue))
            ));
        }
        let listing = Listing { paint: session.stdout, name: Some(name), verbose: session.verbose };
        for line in listing.lines(Some(text), fitted.changes()) {
            out.line(&line);
        }
        let title = session.stdout.paint(BOLD, name);
        let state = report::not_valid(session.stdout, "not valid", fitted.outcome());
        out.line(&shown!("{}: {} ({})", title, state, counts(&fitted)));
    }
    out.flush()?;
    Ok(Exit::of(fitted.outcome()).without(drops_document(&fitted)))
}

/// The issues of the value before any rule was applied.
fn before(target: &Target, fitted: &Fitted) -> Vec<Issue> {
    let tree = fitted.mended().filter(|_| fitted.text().is_some()).map(Tree::read);
    match tree {
        Some(Ok(tree)) => target.schema().validate(&tree),
        _ => fitted.issues().to_vec(),
    }
}

/// `repaired (3 changes, 2 rules, highest risk likely)`
pub(super) fn summary(fitted: &Fitted, paint: Paint) -> Shown {
    let outcome = report::outcome(paint, fitted.outcome());
    if fitted.outcome() == Outcome::Unchanged {
        return outcome;
    }
    shown!("{} ({})", outcome, counts(fitted))
}

/// `3 changes, 2 rules, highest risk likely`, or `1 issue`
fn counts(fitted: &Fitted) -> String {
    let noun =
        |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    if fitted.text().is_none() {
        return noun(fitted.issues().len(), "issue");
    }
    let risk = fitted.risk().map_or("none", Risk::code);
    let rules = noun(fitted.applied().len(), "rule");
    format!("{}, {rules}, highest risk {risk}", noun(fitted.changes().len(), "change"))
}
