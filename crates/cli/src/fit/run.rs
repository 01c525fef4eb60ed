//! `repair` and `check` with a schema.

use std::io::{self, Write};

use jsonmend_core::{Options, Outcome, Risk};
use jsonmend_extract::Scope;
use jsonmend_schema::{Change, Fitted, Issue, Rendering, Tree};
use serde::Serialize;

use super::{Fitting, Target, changes};
use crate::{
    Session,
    args::RepairArgs,
    exit::{Exit, Failure},
    paint::{BAD, BOLD, DIM, NAME, Paint, notice},
    position::Locator,
    repair::end_line,
    report::{self, Record},
    visible::visible,
};

/// How many characters of a change are shown.
const SPAN: usize = 40;
/// How many changes and issues a notice lists; `check` and `--json` list all.
const LISTED: usize = 50;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report<'a> {
    file: &'a str,
    /// Whether the input is valid JSON, and valid for the schema, as it stands.
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
            fit: Fitting::new(target, fitted),
        }
    }
}

/// Writes the value, and says what was changed or is wrong.
pub(crate) fn repair(
    args: &RepairArgs,
    name: &str,
    text: &[u8],
    target: &Target,
    fitted: &Fitted,
    session: Session,
) -> Result<Outcome, Failure> {
    let mut out = io::stdout().lock();
    if args.json {
        let mut report = Report::new(name, target, fitted);
        report.json = Some(fitted.text());
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
        out.flush()?;
        return Ok(fitted.outcome());
    }
    if let Some(json) = fitted.text() {
        out.write_all(json.as_bytes())?;
        end_line(&mut out, json.as_bytes())?;
    } else if args.or_input {
        out.write_all(text)?;
    }
    out.flush()?;
    let lines = lines(name, text, fitted.changes(), session.stderr);
    if !session.quiet {
        lines.iter().take(LISTED).for_each(notice);
    }
    for issue in fitted.issues().iter().take(LISTED) {
        notice(format_args!("{name}: {}", Rendering::new().line(issue)));
    }
    if fitted.text().is_none() || !session.quiet && fitted.outcome() != Outcome::Unchanged {
        notice(format_args!("{name}: {}", summary(fitted, session.stderr)));
    }
    Ok(fitted.outcome())
}

/// Says whether a text holds a value of the schema; if not, what is wrong, and what would change.
pub(crate) fn check(
    name: &str,
    text: &[u8],
    target: &Target,
    options: Options,
    json: bool,
    session: Session,
) -> Result<Exit, Failure> {
    let fitted = target.fit(text, options, Scope::Best);
    let mut out = io::BufWriter::new(io::stdout().lock());
    if json {
        serde_json::to_writer(&mut out, &Report::new(name, target, &fitted))?;
        writeln!(out)?;
    } else if fitted.outcome() == Outcome::Unchanged {
        if !session.quiet {
            let title = session.stdout.paint(BOLD, name);
            writeln!(out, "{title}: valid JSON, and valid for the schema")?;
        }
    } else {
        for issue in before(target, &fitted) {
            let label = session.stdout.paint(BAD, issue.code());
            writeln!(out, "{name}: {label}: {}", Rendering::new().line(&issue))?;
        }
        for line in lines(name, text, fitted.changes(), session.stdout) {
            writeln!(out, "{line}")?;
        }
        writeln!(
            out,
            "{}: {}",
            session.stdout.paint(BOLD, name),
            summary(&fitted, session.stdout)
        )?;
    }
    out.flush()?;
    Ok(Exit::of(fitted.outcome()))
}

/// What was wrong with the value before any rule was applied.
fn before(target: &Target, fitted: &Fitted) -> Vec<Issue> {
    let tree = fitted.mended().filter(|_| fitted.text().is_some()).map(Tree::read);
    match tree {
        Some(Ok(tree)) => target.schema().validate(&tree),
        _ => fitted.issues().to_vec(),
    }
}

/// `name:1:2: bytes 1..2 at $: string-to-number (exact): "1" -> 1`
fn lines(name: &str, text: &[u8], changes: &[Change], paint: Paint) -> Vec<String> {
    let mut locator = Locator::new(text);
    let line = |change: &Change| {
        let at = locator.at(change.start());
        let before = text.get(change.start()..change.end()).unwrap_or_default();
        let (before, after) = (visible(before, SPAN), visible(change.after().as_bytes(), SPAN));
        let code = paint.paint(NAME, change.cause().code());
        let bytes = format!("bytes {}..{} at {}", change.start(), change.end(), change.path());
        let bytes = paint.paint(DIM, bytes);
        let risk = change.risk();
        format!("{name}:{}:{}: {bytes}: {code} ({risk}): {before} -> {after}", at.line, at.column)
    };
    changes.iter().map(line).collect()
}

/// `repaired (3 changes, 2 rules, highest risk likely)`
pub(super) fn summary(fitted: &Fitted, paint: Paint) -> String {
    let outcome = report::outcome(paint, fitted.outcome());
    let noun =
        |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    if fitted.outcome() == Outcome::Unchanged {
        return outcome;
    }
    if fitted.text().is_none() {
        return format!("{outcome} ({})", noun(fitted.issues().len(), "issue"));
    }
    let risk = fitted.risk().map_or("none", Risk::code);
    let rules = noun(fitted.applied().len(), "rule");
    format!("{outcome} ({}, {rules}, highest risk {risk})", noun(fitted.changes().len(), "change"))
}
