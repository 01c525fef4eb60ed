//! Repairs in machine-readable form, and the words and colours of outcomes.

use serde::Serialize;
use wiremend_core::{Located, Outcome, Path, Repair, RepairKind, Repairs, RepairsIter, Risk};
use wiremend_response::Object;
use wiremend_schema::Change;

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
    /// The record of a repair at this place of the document.
    pub(crate) fn new(repair: &Repair, path: &Path) -> Self {
        Self {
            code: repair.kind().code(),
            risk: repair.risk().code(),
            start: repair.start(),
            end: repair.end(),
            after: repair.after().to_owned(),
            path: path.to_string(),
        }
    }

    /// The record for a text in which `offset` more bytes come first.
    pub(crate) fn shifted(mut self, offset: usize) -> Self {
        self.start += offset;
        self.end += offset;
        self
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

/// The records of repairs.
pub(crate) fn records(mut repairs: Located<'_, RepairsIter<'_>>) -> Vec<Record> {
    let mut records = Vec::with_capacity(repairs.size_hint().0);
    while let Some(repair) = repairs.next() {
        records.push(Record::new(&repair, &repairs.path()));
    }
    records
}

/// The repairs of an object, with their paths.
pub(crate) fn of_object(object: &Object) -> Located<'_, RepairsIter<'_>> {
    let json = object.json().unwrap_or_default().as_bytes();
    Located::in_mended(json, object.offset(), object.repairs())
}

/// A repair with its position in the text.
#[derive(Debug, Serialize)]
pub(crate) struct Placed {
    #[serde(flatten)]
    record: Record,
    line: usize,
    column: usize,
    before: String,
}

/// The records of `repairs`, with their positions in `text`.
pub(crate) fn placed(text: &[u8], repairs: &Repairs) -> Vec<Placed> {
    let mut locator = Locator::new(text);
    let locate = |record: Record| {
        let Position { line, column } = locator.at(record.start);
        let end = record.end.min(text.len());
        let span = text.get(record.start.min(end)..end).unwrap_or_default();
        let before = String::from_utf8_lossy(span).into_owned();
        Placed { record, line, column, before }
    };
    records(Located::in_input(text, repairs)).into_iter().map(locate).collect()
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

/// Whether a document was dropped.
pub(crate) fn drops_document(repairs: &Repairs) -> bool {
    repairs.contains(RepairKind::SecondDocument)
}

/// `3 repairs, highest risk likely`.
pub(crate) fn count(repairs: &Repairs) -> String {
    count_of(repairs.len(), repairs.risk())
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
