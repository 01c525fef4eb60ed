//! One text mended, and what there is to say about it.

use std::{
    collections::{BTreeMap, HashMap},
    io::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use wiremend_core::{MendOptions, Mended, Outcome, Risk};
use wiremend_extract::{Scope, find};
use wiremend_schema::{Fitted, Rendering};
use wiremend_summary::{Example, Summary};

use super::walk::Skipped;
use crate::{
    args::FailOn,
    check::Report,
    doors,
    exit::Exit,
    fault::Fault,
    fit::{self, Target},
    out, report,
    visible::{Shown, shown},
};

/// What mends each text: the same as for a single document.
pub(super) struct Engine {
    pub(super) options: MendOptions,
    pub(super) scope: Scope,
    pub(super) target: Option<Target>,
    /// The maximum length of a text.
    pub(super) limit: usize,
}

/// A text that was mended, or not.
pub(super) enum Done {
    Mended(Mended),
    Fitted(Box<Fitted>),
    /// It is the body of a streaming response.
    Body,
    TooLong,
    Panicked,
}

impl Engine {
    pub(super) fn mend(&self, text: &[u8]) -> Done {
        if text.len() > self.limit {
            return Done::TooLong;
        }
        let done = catch_unwind(AssertUnwindSafe(|| match &self.target {
            Some(target) => {
                Done::Fitted(Box::new(target.fit(text, self.options.clone(), self.scope)))
            }
            None => Done::Mended(find(text, self.scope, &self.options)),
        }));
        done.unwrap_or(Done::Panicked)
    }

    /// The same for a text that is an input of its own.
    pub(super) fn mend_input(&self, text: &[u8]) -> Done {
        if doors::is_body(text) { Done::Body } else { self.mend(text) }
    }

    /// What to say about the text. To say why takes time.
    pub(super) fn verdict(&self, text: &[u8], done: &Done, why: bool) -> Verdict {
        let mut kinds = Vec::new();
        let (repairs, risk, dropped, message) = match done {
            Done::Mended(mended) => {
                kinds.extend(mended.repairs().kinds().map(|(kind, count)| (kind.code(), count)));
                let fault = || Fault::of(text, mended, &self.options);
                let message = why.then(fault).flatten().map(Fault::into_message);
                let dropped = report::drops_document(mended.repairs());
                (mended.repairs().len(), mended.repairs().risk(), dropped, message)
            }
            Done::Fitted(fitted) => {
                for change in fitted.changes() {
                    let code = change.cause().code();
                    match kinds.iter_mut().find(|(known, _)| *known == code) {
                        Some((_, count)) => *count += 1,
                        None => kinds.push((code, 1)),
                    }
                }
                let issue = fitted.issues().first().filter(|_| why);
                let message = issue.map(|issue| Rendering::new().line(issue)).or_else(|| {
                    let (outcome, cut_at) = (fitted.outcome(), fitted.cut_at());
                    let fault = || Fault::ending(text, outcome, cut_at, &self.options);
                    why.then(fault).flatten().map(Fault::into_message)
                });
                let dropped = fit::drops_document(fitted);
                (fitted.changes().len(), fitted.risk(), dropped, message)
            }
            Done::Body => (0, None, false, Some(doors::TO_STREAM.to_owned())),
            Done::TooLong => {
                let message = format!("longer than {} bytes (--max-input)", self.limit);
                (0, None, false, Some(message))
            }
            Done::Panicked => {
                let message = "internal error: this input made wiremend panic".to_owned();
                (0, None, false, Some(message))
            }
        };
        let missing = || "another document was dropped (second-document)".to_owned();
        let taken = done.taken_line(text);
        let dropped = dropped || taken.is_some();
        // That a document was taken for the rest of another says why that one seems to be cut off.
        let message = taken.or(message).or_else(|| dropped.then(missing));
        Verdict { label: done.label(), repairs, risk, kinds, dropped, message }
    }

    /// The line of `--json`.
    pub(super) fn record(
        &self,
        name: &str,
        line: Option<u64>,
        text: &[u8],
        done: &Done,
        to: &mut Vec<u8>,
    ) {
        // Writing to memory does not fail.
        let _ = match (done, &self.target) {
            (Done::Mended(mended), _) => {
                let report = Report::new(name, text, mended, &self.options).with_json(mended);
                out::write_json(to, &report.at_line(line))
            }
            (Done::Fitted(fitted), Some(target)) => out::write_json(
                to,
                &fit::Report::new(name, target, fitted).with_json(fitted).at_line(line),
            ),
            _ => {
                let verdict = self.verdict(text, done, true);
                out::write_json(to, &verdict.row(name, line, None))
            }
        };
        to.push(b'\n');
    }
}

impl Done {
    fn label(&self) -> Label {
        match self {
            Self::Mended(mended) => Label::Of(mended.outcome()),
            Self::Fitted(fitted) => Label::Of(fitted.outcome()),
            Self::Body => Label::Body,
            Self::TooLong => Label::Of(Outcome::Overflow),
            Self::Panicked => Label::Of(Outcome::Invalid),
        }
    }

    fn taken_line(&self, text: &[u8]) -> Option<String> {
        match self {
            Self::Mended(mended) => doors::taken_line(text, doors::edits(mended.repairs())),
            Self::Fitted(fitted) => doors::taken_line(text, doors::changes(fitted)),
            Self::Body | Self::TooLong | Self::Panicked => None,
        }
    }

    /// The result, if the text could be repaired.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Mended(mended) => mended.text(),
            Self::Fitted(fitted) => fitted.text(),
            Self::Body | Self::TooLong | Self::Panicked => None,
        }
    }
}

/// What became of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Label {
    Of(Outcome),
    /// A record without the field, or with `null` or nothing in it.
    Absent,
    /// The body of a streaming response.
    Body,
    /// It could not be read, or its result could not be written.
    Failed,
}

impl Label {
    /// Those that are no outcome of mending, and what they mean.
    pub(super) const OWN: [(&'static str, &'static str); 3] = [
        ("absent", "the record does not have the field, or holds null or nothing in it"),
        ("body", "the body of a streaming response: `wiremend stream` reads it"),
        ("failed", "the input could not be read, or the result could not be written"),
    ];

    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Of(outcome) => outcome.code(),
            Self::Absent => Self::OWN[0].0,
            Self::Body => Self::OWN[1].0,
            Self::Failed => Self::OWN[2].0,
        }
    }
}

/// What there is to say about a text.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) label: Label,
    pub(super) repairs: usize,
    pub(super) risk: Option<Risk>,
    pub(super) kinds: Vec<(&'static str, usize)>,
    /// Whether a document was dropped.
    pub(super) dropped: bool,
    pub(super) message: Option<String>,
}

impl Verdict {
    /// Without repairs.
    pub(super) fn plain(label: Label, message: Option<String>) -> Self {
        Self { label, repairs: 0, risk: None, kinds: Vec::new(), dropped: false, message }
    }

    /// The exit code that it asks for.
    pub(super) fn exit(&self, fail_on: &[FailOn]) -> Exit {
        match self.label {
            Label::Of(outcome) => Exit::judged(outcome, self.dropped, self.risk, fail_on),
            Label::Absent => Exit::Unchanged,
            Label::Body => Exit::Refused,
            Label::Failed => Exit::Io,
        }
    }
}

// Counts of what became of the inputs, and the report that lists it.

/// Counts by outcome and by kind of repair.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) files: u64,
    /// Documents or records.
    pub(super) inputs: u64,
    outcomes: HashMap<Label, u64>,
    kinds: BTreeMap<&'static str, u64>,
    dropped: u64,
    pub(super) worst: Exit,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            files: 0,
            inputs: 0,
            outcomes: HashMap::new(),
            kinds: BTreeMap::new(),
            dropped: 0,
            worst: Exit::Unchanged,
        }
    }
}

impl Tally {
    pub(super) fn count(&mut self, verdict: &Verdict, exit: Exit) {
        *self.outcomes.entry(verdict.label).or_default() += 1;
        for &(kind, count) in &verdict.kinds {
            *self.kinds.entry(kind).or_default() += count as u64;
        }
        self.dropped += u64::from(verdict.dropped);
        self.worst = self.worst.max(exit);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.inputs += other.inputs;
        for (&label, count) in &other.outcomes {
            *self.outcomes.entry(label).or_default() += count;
        }
        for (kind, count) in &other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        self.dropped += other.dropped;
        self.worst = self.worst.max(other.worst);
    }

    /// Whether there were records, and none of them had the field.
    pub(super) fn all_absent(&self) -> bool {
        let absent = self.outcomes.get(&Label::Absent).copied().unwrap_or_default();
        absent > 0 && absent == self.outcomes.values().sum::<u64>()
    }

    /// `3 records in 1 file: 2 repaired, 1 none; 5 repairs: single-quote 4, extra-comma 1`
    pub(super) fn line(&self, records: bool, skipped: Skipped) -> Shown {
        let mut line = if records {
            shown!("{} in {}", noun(self.inputs, "record"), noun(self.files, "file"))
        } else {
            Shown::of(noun(self.inputs, "document"))
        };
        let listed = |counts: Vec<(u64, &str)>| {
            let counts = counts.into_iter().filter(|(count, _)| *count > 0);
            let counts: Vec<String> =
                counts.map(|(count, what)| format!("{count} {what}")).collect();
            counts.join(", ")
        };
        // It is an input that failed, not a record.
        let own = |label: Label| !records || label != Label::Failed;
        let mut outcomes: Vec<_> = self
            .outcomes
            .iter()
            .filter(|(label, _)| own(**label))
            .map(|(label, count)| (*count, label.code()))
            .collect();
        outcomes.sort_by_key(|(count, label)| (std::cmp::Reverse(*count), *label));
        line = match outcomes.is_empty() {
            true => shown!("{}: nothing to do", line),
            false => shown!("{}: {}", line, listed(outcomes)),
        };
        if let Some(&failed) = self.outcomes.get(&Label::Failed).filter(|_| records) {
            line = shown!("{}; {} failed", line, noun(failed, "file"));
        }
        if self.dropped > 0 {
            line = shown!("{}; {} dropped another document", line, self.dropped);
        }
        let repairs: u64 = self.kinds.values().sum();
        if repairs > 0 {
            let mut kinds: Vec<(u64, &str)> =
                self.kinds.iter().map(|(&kind, &count)| (count, kind)).collect();
            kinds.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            let kinds: Vec<String> =
                kinds.into_iter().map(|(count, kind)| format!("{kind} {count}")).collect();
            line = shown!("{}; {}: {}", line, noun(repairs, "repair"), kinds.join(", "));
        }
        let counts = skipped.counts();
        let skipped =
            listed(counts.into_iter().zip(Skipped::WORDS.map(|(word, _)| word)).collect());
        if skipped.is_empty() {
            line
        } else {
            shown!("{}; left out in directories: {}", line, skipped)
        }
    }
}

fn noun(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// A row of the report.
#[derive(Debug, Serialize)]
pub(super) struct Row<'a> {
    file: &'a str,
    /// The line on which the record begins, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    outcome: &'static str,
    risk: Option<&'static str>,
    repairs: usize,
    kinds: Kinds<'a>,
    dropped: bool,
    message: Option<&'a str>,
}

#[derive(Debug)]
struct Kinds<'a>(&'a [(&'static str, usize)]);

impl Serialize for Kinds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (kind, count) in self.0 {
            map.serialize_entry(kind, count)?;
        }
        map.end()
    }
}

impl Verdict {
    pub(super) fn row<'a>(
        &'a self,
        file: &'a str,
        line: Option<u64>,
        field: Option<&'a str>,
    ) -> Row<'a> {
        Row {
            file,
            line,
            field,
            outcome: self.label.code(),
            risk: self.risk.map(Risk::code),
            repairs: self.repairs,
            kinds: Kinds(&self.kinds),
            dropped: self.dropped,
            message: self.message.as_deref(),
        }
    }
}

/// How many examples of each name a summary has.
const EXAMPLES: usize = 20;

/// A summary of what is counted here; the writer adds it to its own.
pub(super) fn summary() -> Summary<String> {
    Summary::new(EXAMPLES)
}

impl Verdict {
    /// Adds it to a summary, with the text and what it became as an example if one is wanted. The source of a
    /// record is its file, and that of a document its directory.
    pub(super) fn summarize(
        &self,
        to: &mut Summary<String>,
        file: &str,
        line: Option<u64>,
        field: Option<&str>,
        text: Option<(&[u8], &Done)>,
    ) {
        let folder = || Path::new(file).parent().and_then(Path::to_str).filter(|f| !f.is_empty());
        let kinds: Vec<(&str, u64)> =
            self.kinds.iter().map(|&(kind, count)| (kind, count as u64)).collect();
        let risk = match self.label {
            Label::Of(_) => Some(self.risk.map_or("none", Risk::code)),
            Label::Absent | Label::Body | Label::Failed => None,
        };
        let source = Some(if line.is_some() { file } else { folder().unwrap_or(".") });
        let row = wiremend_summary::Row { source, outcome: self.label.code(), risk, kinds: &kinds };
        let example = to.wants(&row).then(|| {
            let mut place = file.to_owned();
            for part in [line.map(|line| format!(":{line}")), field.map(|name| format!(" {name}"))]
            {
                place.push_str(&part.unwrap_or_default());
            }
            let (text, json) = text.map(|(text, done)| (text, done.text())).unzip();
            Example::new(place, text, json.flatten().map(str::as_bytes), self.message.as_deref())
        });
        to.add(&row, example);
    }
}

/// The form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    JsonLines,
    Csv,
}

/// The first line of a report in CSV.
pub(super) const HEADER: &str = "file,line,field,outcome,risk,repairs,kinds,dropped,message\n";

impl Form {
    /// The form that the name of the report asks for.
    pub(super) fn of(path: &Path) -> Self {
        if path.extension().is_some_and(|ending| ending == "csv") {
            Self::Csv
        } else {
            Self::JsonLines
        }
    }

    pub(super) fn write(self, row: &Row<'_>, to: &mut Vec<u8>) {
        // Writing to memory does not fail.
        match self {
            Self::JsonLines => {
                let _ = out::write_json(to, row);
                to.push(b'\n');
            }
            Self::Csv => {
                let kinds: Vec<String> =
                    row.kinds.0.iter().map(|(kind, count)| format!("{kind}={count}")).collect();
                cell(row.file, to);
                let _ =
                    write!(to, ",{}", row.line.map(|line| line.to_string()).unwrap_or_default());
                to.push(b',');
                cell(row.field.unwrap_or_default(), to);
                let _ = write!(to, ",{},{}", row.outcome, row.risk.unwrap_or_default());
                let _ = write!(to, ",{},{},{},", row.repairs, kinds.join(" "), row.dropped);
                cell(row.message.unwrap_or_default(), to);
                to.push(b'\n');
            }
        }
    }
}

/// A cell, in quotes if it needs them. What cannot be seen in it is shown.
fn cell(text: &str, to: &mut Vec<u8>) {
    let shown = Shown::of(text);
    super::field::push_cell(shown.as_str().as_bytes(), b',', false, to);
}
