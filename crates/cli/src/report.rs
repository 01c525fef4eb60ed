//! Repairs as programs and as people read them, and the words and colours of outcomes.
//!
//! People read one line for each kind, or one for each repair.

use std::{iter::once, ops::Range};

use serde::Serialize;
use wiremend_core::{Located, Outcome, Path, Repair, RepairKind, Repairs, RepairsIter, Risk};
use wiremend_response::Object;
use wiremend_schema::Change;

use crate::{
    fault::{Locator, Position, excerpt},
    visible::{BAD, BOLD, DIM, GOOD, NAME, Paint, Shown, WARN, shown},
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
fn risk_style(risk: Risk) -> anstyle::Style {
    match risk {
        Risk::Exact => GOOD,
        Risk::Likely => NAME,
        Risk::Lossy => WARN,
        Risk::Guess => BAD,
    }
}

/// The longest replaced or inserted text that a line shows, in characters.
const SPAN: usize = 40;

/// A repair, or a change made for a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit<'a> {
    code: &'static str,
    risk: Risk,
    start: usize,
    end: usize,
    after: &'a str,
}

impl<'a> From<&'a Repair> for Edit<'a> {
    fn from(repair: &'a Repair) -> Self {
        let (code, risk) = (repair.kind().code(), repair.risk());
        let (start, end) = (repair.start(), repair.end());
        Self { code, risk, start, end, after: repair.after() }
    }
}

impl<'a> From<&'a Change> for Edit<'a> {
    fn from(change: &'a Change) -> Self {
        let (code, risk) = (change.cause().code(), change.risk());
        let (start, end) = (change.start(), change.end());
        Self { code, risk, start, end, after: change.after() }
    }
}

impl Edit<'_> {
    /// The bytes of `text` that the edit replaces.
    fn before<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let end = self.end.min(text.len());
        text.get(self.start.min(end)..end).unwrap_or_default()
    }

    /// `' -> "`, `insert ,` or `delete ,`. If the input is no longer available, `before` is `None`.
    fn change(&self, paint: Paint, before: Option<&[u8]>) -> Shown {
        let bold = |text: &[u8]| paint.paint(BOLD, Shown::clipped(text, SPAN));
        let length = self.end - self.start;
        let after = bold(self.after.as_bytes());
        if length == 0 {
            return shown!("insert {}", after);
        }
        let before = match before {
            Some(before) => bold(before),
            None => shown!("{} byte{}", length, if length == 1 { "" } else { "s" }),
        };
        if self.after.is_empty() {
            shown!("delete {}", before)
        } else {
            shown!("{} -> {}", before, after)
        }
    }

    /// `bytes 1..2`, or `byte 1` if nothing is replaced.
    fn bytes(&self) -> Shown {
        if self.start == self.end {
            shown!("byte {}", self.start)
        } else {
            shown!("bytes {}..{}", self.start, self.end)
        }
    }

    /// `single-quote (exact) at $: ' -> " (bytes 1..2)`
    pub(crate) fn describe(&self, path: &Path, paint: Paint, before: Option<&[u8]>) -> Shown {
        let code = paint.paint(NAME, self.code);
        let risk = paint.paint(risk_style(self.risk), self.risk);
        let bytes = paint.paint(DIM, shown!("({})", self.bytes()));
        let (path, change) = (shown_path(path), self.change(paint, before));
        shown!("{} ({}) at {}: {} {}", code, risk, path, change, bytes)
    }
}

fn shown_path(path: &Path) -> Shown {
    Shown::message(&path.to_string())
}

/// Repairs or changes, with the path of each, which is made when it is asked for.
pub(crate) trait Script {
    /// Passes each to `take`, in order.
    fn each(self, take: &mut dyn FnMut(Edit<'_>, &dyn Fn() -> Path));
}

impl<I: Iterator<Item = Repair>> Script for Located<'_, I> {
    fn each(mut self, take: &mut dyn FnMut(Edit<'_>, &dyn Fn() -> Path)) {
        while let Some(repair) = self.next() {
            take(Edit::from(&repair), &|| self.path());
        }
    }
}

impl Script for &[Change] {
    fn each(self, take: &mut dyn FnMut(Edit<'_>, &dyn Fn() -> Path)) {
        for change in self {
            take(Edit::from(change), &|| change.path().clone());
        }
    }
}

/// The name of the input, and how its repairs are listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listing<'a> {
    pub(crate) paint: Paint,
    /// Each line begins with it, as in the messages of a compiler.
    pub(crate) name: Option<&'a str>,
    /// One line for each repair, not for each kind.
    pub(crate) verbose: bool,
}

impl Listing<'_> {
    /// One line for each kind of repair or, with `--verbose`, for each repair. `text` is `None` if
    /// the input is no longer available.
    pub(crate) fn lines(&self, text: Option<&[u8]>, script: impl Script) -> Vec<Shown> {
        let mut locator = text.map(Locator::new);
        let (mut lines, mut kinds) = (Vec::new(), Kinds::default());
        script.each(&mut |edit, path| {
            let seen = text.zip(locator.as_mut());
            let seen = seen.map(|(text, locator)| (locator.at(edit.start), edit.before(text)));
            if self.verbose {
                lines.push(self.line(edit, &path(), seen));
            } else {
                kinds.add(self, edit, path, seen);
            }
        });
        if self.verbose { lines } else { kinds.lines(self.paint) }
    }

    /// The same with an excerpt below each line. Carets mark all repairs of the kind in the excerpt.
    pub(crate) fn paragraphs(&self, text: &[u8], repairs: &Repairs) -> Vec<Shown> {
        let mut places = Locator::new(text);
        let mut paragraph = |line: &Shown, risk, spans: &mut dyn Iterator<Item = Range<usize>>| {
            let mut spans = spans.peekable();
            let Some(first) = spans.peek() else { return line.clone() };
            let position = places.at(first.start);
            let [source, carets] = excerpt(text, spans, position);
            let carets = self.paint.paint(risk_style(risk), carets);
            shown!("{}\n{}\n{}", line, source, carets)
        };
        let located = Located::in_input(text, repairs);
        if self.verbose {
            let lines = self.lines(Some(text), located);
            let each = lines.iter().zip(repairs);
            let mut one = |(line, repair): (&Shown, Repair)| {
                paragraph(line, repair.risk(), &mut once(repair.span()))
            };
            return each.map(&mut one).collect();
        }
        let mut locator = Locator::new(text);
        let mut kinds = Kinds::default();
        located.each(&mut |edit, path| {
            kinds.add(self, edit, path, Some((locator.at(edit.start), edit.before(text))));
        });
        let of_kind = |kind: &Kind| {
            let alike = repairs.iter().filter(|repair| kind.has(&Edit::from(repair)));
            let mut spans = alike.map(|repair| repair.span());
            paragraph(&kind.line(self.paint), kind.risk, &mut spans)
        };
        kinds.0.iter().map(of_kind).collect()
    }

    /// The line for one repair: `name:1:2: single-quote (exact) at $: ' -> " (bytes 1..2)`. `seen` is
    /// its position and the bytes it replaces.
    pub(crate) fn line(
        &self,
        edit: Edit<'_>,
        path: &Path,
        seen: Option<(Position, &[u8])>,
    ) -> Shown {
        let place = self.place(edit.start, seen.map(|(position, _)| position));
        shown!("{}: {}", place, edit.describe(path, self.paint, seen.map(|(_, before)| before)))
    }

    /// `name:1:2`, or `1:2` without a name. Without a position, the byte has to do.
    fn place(&self, byte: usize, position: Option<Position>) -> Shown {
        let place = match (self.name, position) {
            (Some(name), Some(at)) => shown!("{}:{}:{}", name, at.line, at.column),
            (None, Some(at)) => shown!("{}:{}", at.line, at.column),
            (Some(name), None) => shown!("{}: byte {}", name, byte),
            (None, None) => shown!("byte {}", byte),
        };
        self.paint.paint(BOLD, place)
    }
}

/// Repairs counted by kind, in the order in which each kind first occurred.
#[derive(Debug, Default)]
pub(crate) struct Kinds(Vec<Kind>);

/// The repairs of one kind and risk, and the first of them.
#[derive(Debug)]
struct Kind {
    code: &'static str,
    risk: Risk,
    count: usize,
    place: Shown,
    path: Shown,
    change: Shown,
    /// What the first one replaces and inserts, if all of them make the same change.
    alike: Option<Same>,
}

/// A change, to compare others with it.
#[derive(Debug, PartialEq, Eq)]
struct Same {
    before: Option<Vec<u8>>,
    after: String,
}

impl Same {
    fn new(edit: &Edit<'_>, before: Option<&[u8]>) -> Self {
        Self { before: before.map(|before| head(before).to_vec()), after: edit.after.to_owned() }
    }

    fn is(&self, edit: &Edit<'_>, before: Option<&[u8]>) -> bool {
        self.before.as_deref() == before.map(head) && self.after == edit.after
    }
}

/// As much of a replaced text as is compared with that of others: more than a line shows.
fn head(before: &[u8]) -> &[u8] {
    before.get(..4 * SPAN).unwrap_or(before)
}

impl Kinds {
    /// Counts a repair. `seen` is its position and the bytes it replaces. The path is asked for if it
    /// is the first of its kind.
    pub(crate) fn add(
        &mut self,
        listing: &Listing<'_>,
        edit: Edit<'_>,
        path: impl Fn() -> Path,
        seen: Option<(Position, &[u8])>,
    ) {
        let before = seen.map(|(_, before)| before);
        if let Some(kind) = self.0.iter_mut().find(|kind| kind.has(&edit)) {
            kind.count += 1;
            if kind.alike.as_ref().is_some_and(|same| !same.is(&edit, before)) {
                kind.alike = None;
            }
            return;
        }
        self.0.push(Kind {
            code: edit.code,
            risk: edit.risk,
            count: 1,
            place: listing.place(edit.start, seen.map(|(position, _)| position)),
            path: shown_path(&path()),
            change: edit.change(listing.paint, before),
            alike: Some(Same::new(&edit, before)),
        });
    }

    /// One line for each kind.
    pub(crate) fn lines(&self, paint: Paint) -> Vec<Shown> {
        self.0.iter().map(|kind| kind.line(paint)).collect()
    }
}

impl Kind {
    fn has(&self, edit: &Edit<'_>) -> bool {
        (self.code, self.risk) == (edit.code, edit.risk)
    }

    /// `name:1:2: single-quote × 16 (exact), first at $: ' -> "`
    fn line(&self, paint: Paint) -> Shown {
        let Self { count, place, path, change, .. } = self;
        let code = paint.paint(NAME, self.code);
        let risk = paint.paint(risk_style(self.risk), self.risk);
        if *count == 1 {
            return shown!("{}: {} ({}) at {}: {}", place, code, risk, path, change);
        }
        let more = if self.alike.is_some() { "" } else { ", …" };
        let first = shown!("first at {}: {}{}", path, change, more);
        shown!("{}: {} × {} ({}), {}", place, code, count, risk, first)
    }
}

#[cfg(test)]
mod tests {
    use wiremend_core::{MendOptions, mend};

    use super::*;
    use crate::args::Color;

    const TEXT: &str = "{'a': True,\n 'b': None}";

    fn listing(verbose: bool) -> Listing<'static> {
        Listing { paint: Paint::stdout(Color::Never), name: Some("f"), verbose }
    }

    fn repairs() -> Repairs {
        mend(TEXT.as_bytes(), &MendOptions::new()).repairs().clone()
    }

    fn lines(listing: Listing<'_>, text: Option<&str>) -> Vec<Shown> {
        let repairs = repairs();
        let located = Located::in_input(TEXT.as_bytes(), &repairs);
        listing.lines(text.map(str::as_bytes), located)
    }

    #[test]
    fn each_kind_is_one_line() {
        let lines = lines(listing(false), Some(TEXT));
        assert_eq!(
            lines.iter().map(Shown::as_str).collect::<Vec<_>>(),
            [
                "f:1:2: single-quote × 4 (exact), first at $: ' -> \"",
                "f:1:7: python-literal × 2 (exact), first at $.a: True -> true, …",
            ]
        );
    }

    #[test]
    fn each_repair_is_one_line_if_verbose() {
        let lines = lines(listing(true), Some(TEXT));
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[0].as_str(), "f:1:2: single-quote (exact) at $: ' -> \" (bytes 1..2)");
        assert_eq!(
            lines[5].as_str(),
            "f:2:7: python-literal (exact) at $.b: None -> null (bytes 18..22)"
        );
    }

    #[test]
    fn carets_mark_all_repairs_of_a_kind_on_the_line() {
        let paragraphs = listing(false).paragraphs(TEXT.as_bytes(), &repairs());
        assert_eq!(paragraphs.len(), 2);
        let first = paragraphs[0].as_str();
        assert!(first.ends_with("\n   1 | {'a': True,␊\n     |  ^ ^"), "{first}");
    }

    #[test]
    fn a_place_without_the_text_is_its_byte() {
        let lines = lines(Listing { name: None, ..listing(true) }, None);
        assert_eq!(
            lines[0].as_str(),
            "byte 1: single-quote (exact) at $: 1 byte -> \" (bytes 1..2)"
        );
    }
}
