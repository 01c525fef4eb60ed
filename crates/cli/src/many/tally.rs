//! Counts of what became of the inputs, and the report that lists it.

use std::{
    collections::{BTreeMap, HashMap},
    io::Write as _,
    path::Path,
};

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use wiremend_core::Risk;

use super::{
    verdict::{Label, Verdict},
    walk::Skipped,
};
use crate::{
    exit::Exit,
    out,
    visible::{Shown, shown},
};

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
            Shown::of(noun(self.files, "document"))
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
