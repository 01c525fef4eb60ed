//! Repairs as people and machines read them.

use jsonmend_core::{Outcome, Repair, Risk};
use jsonmend_schema::Change;
use serde::Serialize;

use crate::{
    excerpt::excerpt,
    paint::{BAD, BOLD, DIM, GOOD, NAME, Paint, WARN},
    position::{Locator, Position},
    visible::visible,
};

/// How many characters of a span are shown.
const SPAN: usize = 40;

/// A repair as a machine reads it.
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
    /// The same in a text that has `offset` bytes more before it.
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
            code: change.cause.code(),
            risk: change.risk().code(),
            start: change.start,
            end: change.end,
            after: change.after.clone(),
            path: change.path.to_string(),
        }
    }
}

/// All of `repairs` as machines read them.
pub(crate) fn records(repairs: &[Repair]) -> Vec<Record> {
    repairs.iter().map(Record::from).collect()
}

/// A repair with its place in the text.
#[derive(Debug, Serialize)]
pub(crate) struct Located {
    #[serde(flatten)]
    record: Record,
    line: usize,
    column: usize,
    before: String,
}

/// All of `repairs`, with their places in `text`.
pub(crate) fn located(text: &[u8], repairs: &[Repair]) -> Vec<Located> {
    let mut locator = Locator::new(text);
    let locate = |repair: &Repair| {
        let Position { line, column } = locator.at(repair.start());
        let before = String::from_utf8_lossy(span(text, repair)).into_owned();
        Located { record: Record::from(repair), line, column, before }
    };
    repairs.iter().map(locate).collect()
}

/// The bytes a repair replaces, as far as `text` has them.
pub(crate) fn span<'a>(text: &'a [u8], repair: &Repair) -> &'a [u8] {
    let end = repair.end().min(text.len());
    text.get(repair.start().min(end)..end).unwrap_or_default()
}

/// `single-quote (exact): ' -> "`, without a place.
pub(crate) fn change(paint: Paint, repair: &Repair, before: &[u8]) -> String {
    let code = paint.paint(NAME, repair.kind());
    let risk = paint.paint(risk_style(repair.risk()), repair.risk());
    let after = visible(repair.after().as_bytes(), SPAN);
    let before = visible(before, SPAN);
    // Where the input has gone by, the span still says how much of it was replaced.
    let gone = before.is_empty().then_some(repair.end() - repair.start()).filter(|gone| *gone > 0);
    let verb = match (before.is_empty(), after.is_empty()) {
        (true, true) if gone.is_some() => format!("delete {} bytes", gone.unwrap_or_default()),
        (true, false) if gone.is_some() => {
            let gone = gone.unwrap_or_default();
            format!("{gone} bytes -> {}", paint.paint(BOLD, after))
        }
        (true, _) => format!("insert {}", paint.paint(BOLD, after)),
        (false, true) => format!("delete {}", paint.paint(BOLD, before)),
        (false, false) => {
            format!("{} -> {}", paint.paint(BOLD, before), paint.paint(BOLD, after))
        }
    };
    format!("{code} ({risk}): {verb}")
}

/// A repair on one line: `name:1:2: bytes 1..2 at $: single-quote (exact): ' -> "`.
pub(crate) fn line(
    paint: Paint,
    name: &str,
    repair: &Repair,
    seen: Option<(Position, &[u8])>,
) -> String {
    let place = match seen {
        Some((at, _)) => format!("{name}:{}:{}", at.line, at.column),
        None => name.to_owned(),
    };
    let change = change(paint, repair, seen.map_or(b"", |(_, before)| before));
    let (start, end, path) = (repair.start(), repair.end(), repair.path());
    let bytes = paint.paint(DIM, format_args!("bytes {start}..{end} at {path}"));
    format!("{}: {bytes}: {change}", paint.paint(BOLD, place))
}

/// A repair with an excerpt and carets below it.
pub(crate) fn paragraph(
    paint: Paint,
    name: &str,
    text: &[u8],
    repair: &Repair,
    locator: &mut Locator<'_>,
) -> String {
    let position = locator.at(repair.start());
    let line = line(paint, name, repair, Some((position, span(text, repair))));
    let [source, carets] = excerpt(text, repair.start(), repair.end(), position);
    let carets = paint.paint(risk_style(repair.risk()), carets);
    format!("{line}\n{source}\n{carets}")
}

/// The outcome in the colour of what it means.
pub(crate) fn outcome(paint: Paint, outcome: Outcome) -> String {
    let style = match outcome {
        Outcome::Unchanged => GOOD,
        Outcome::Repaired | Outcome::Closed => WARN,
        _ => BAD,
    };
    paint.paint(style, outcome)
}

/// `3 repairs, highest risk likely`.
pub(crate) fn count(repairs: &[Repair]) -> String {
    count_of(repairs.len(), repairs.iter().map(Repair::risk).max())
}

/// The same of so many repairs, of which that is the highest risk.
pub(crate) fn count_of(repairs: usize, risk: Option<Risk>) -> String {
    let noun = if repairs == 1 { "repair" } else { "repairs" };
    match risk {
        Some(risk) => format!("{repairs} {noun}, highest risk {risk}"),
        None => format!("no {noun}"),
    }
}

fn risk_style(risk: Risk) -> anstyle::Style {
    match risk {
        Risk::Exact => GOOD,
        Risk::Likely => NAME,
        Risk::Lossy => WARN,
        Risk::Guess => BAD,
    }
}
