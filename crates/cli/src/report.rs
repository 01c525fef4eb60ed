//! Repairs in machine-readable form, and the words and colours of outcomes.

use jsonmend_core::{Outcome, Repair, Risk};
use jsonmend_schema::Change;
use serde::Serialize;

use crate::{
    paint::{BAD, GOOD, NAME, Paint, WARN},
    position::{Locator, Position},
    visible::{Shown, shown},
};

/// A repair in JSON output.
#[derive(Debug, Serialize)]
pub(crate) struct Record {
    code: &'static str,
    risk: &'static str,
    start: usize,
    end: usize,
    after: String,
    path: String,
}

impl Record {
    /// The record for a text in which `offset` more bytes come first.
    pub(crate) fn shifted(mut self, offset: usize) -> Self {
        self.start += offset;
        self.end += offset;
        self
    }
}

impl From<&Repair> for Record {
    fn from(repair: &Repair) -> Self {
        Self {
            code: repair.kind().code(),
            risk: repair.risk().code(),
            start: repair.start(),
            end: repair.end(),
            after: repair.after().to_string(),
            path: repair.path().to_string(),
        }
    }
}

impl From<&Change> for Record {
    fn from(change: &Change) -> Self {
        Self {
            code: change.cause().code(),
            risk: change.risk().code(),
            start: change.start(),
            end: change.end(),
            after: change.after().to_owned(),
            path: change.path().to_string(),
        }
    }
}

/// The records of `repairs`.
pub(crate) fn records(repairs: &[Repair]) -> Vec<Record> {
    repairs.iter().map(Record::from).collect()
}

/// A repair with its position in the text.
#[derive(Debug, Serialize)]
pub(crate) struct Located {
    #[serde(flatten)]
    record: Record,
    line: usize,
    column: usize,
    before: String,
}

/// The records of `repairs`, with their positions in `text`.
pub(crate) fn located(text: &[u8], repairs: &[Repair]) -> Vec<Located> {
    let mut locator = Locator::new(text);
    let locate = |repair: &Repair| {
        let Position { line, column } = locator.at(repair.start());
        let end = repair.end().min(text.len());
        let span = text.get(repair.start().min(end)..end).unwrap_or_default();
        let before = String::from_utf8_lossy(span).into_owned();
        Located { record: Record::from(repair), line, column, before }
    };
    repairs.iter().map(locate).collect()
}

/// The name of an outcome, coloured.
pub(crate) fn outcome(paint: Paint, outcome: Outcome) -> Shown {
    let style = match outcome {
        Outcome::Unchanged => GOOD,
        Outcome::Repaired | Outcome::Closed => WARN,
        _ => BAD,
    };
    paint.paint(style, outcome)
}

/// The message of `check` for an input that is not valid: what it is not, and what can be done.
pub(crate) fn not_valid(paint: Paint, message: &str, outcome: Outcome) -> Shown {
    match outcome {
        Outcome::Repaired => paint.paint(WARN, shown!("{}, can be repaired", message)),
        Outcome::Closed => paint.paint(WARN, shown!("{}, cut off, can be closed", message)),
        _ => paint.paint(BAD, message),
    }
}

/// `3 repairs, highest risk likely`.
pub(crate) fn count(repairs: &[Repair]) -> String {
    count_of(repairs.len(), repairs.iter().map(Repair::risk).max())
}

/// The same for a number of repairs and their highest risk.
pub(crate) fn count_of(repairs: usize, risk: Option<Risk>) -> String {
    let noun = if repairs == 1 { "repair" } else { "repairs" };
    match risk {
        Some(risk) => format!("{repairs} {noun}, highest risk {risk}"),
        None => format!("no {noun}"),
    }
}

/// The colour of a risk.
pub(crate) fn risk_style(risk: Risk) -> anstyle::Style {
    match risk {
        Risk::Exact => GOOD,
        Risk::Likely => NAME,
        Risk::Lossy => WARN,
        Risk::Guess => BAD,
    }
}
