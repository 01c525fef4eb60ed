//! The options of `repair` for many inputs and for the records in them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wiremend_core::Risk;

use super::at_least_one;

/// The heading of these options.
const MANY: &str = "Many inputs and records";

/// Several inputs, what is in them, and where the results go.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ManyArgs {
    /// Print each document on one line, without white space. It is implied by several inputs and by a
    /// directory.
    #[arg(long, help_heading = MANY)]
    pub(crate) jsonl: bool,

    /// Each line of an input is a record of its own: JSON Lines. A bad one costs no other.
    #[arg(long, help_heading = MANY, conflicts_with = "csv")]
    pub(crate) lines: bool,

    /// The inputs are tables: CSV with a first row of names, or the same with tabs or semicolons. It is
    /// implied by --field for a name that ends in .csv or .tsv.
    #[arg(long, help_heading = MANY, requires = "field")]
    pub(crate) csv: bool,

    /// Repair only the text in this field of each record; the rest passes byte for byte. `/a/0/b` is a
    /// JSON Pointer. May be repeated.
    #[arg(long, help_heading = MANY, value_name = "NAME")]
    pub(crate) field: Vec<String>,

    /// Which files of a directory are read, by name or, with a `/`, by path: `*.json`, `logs/**/*.txt`.
    /// May be repeated [default: all whose name does not begin with a dot].
    #[arg(long = "match", help_heading = MANY, value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,

    /// Write each result to a file of the same name in this directory.
    #[arg(long, help_heading = MANY, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Replace each file by its result, if it could be repaired. Never half of a file: the result is
    /// written beside it and renamed.
    #[arg(long, help_heading = MANY, conflicts_with = "out")]
    pub(crate) in_place: bool,

    /// Write the outcome of every document or record to this file: as CSV if its name ends in .csv, else
    /// as JSON Lines.
    #[arg(long, help_heading = MANY, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Keep the records that could not be repaired in this file, as they came, and out of the output.
    #[arg(long, help_heading = MANY, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,

    /// In place of what could not be repaired, write `null`, so that there is a line for each input.
    #[arg(long, help_heading = MANY, conflicts_with_all = ["or_input", "in_place", "out"])]
    pub(crate) or_null: bool,

    /// Number of worker threads [default: one per core].
    #[arg(long, help_heading = MANY, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
}

impl ManyArgs {
    /// Whether an option was given that a single document has no use for.
    pub(crate) fn is_used(&self) -> bool {
        let flags = [self.jsonl, self.lines, self.csv, self.in_place, self.or_null];
        let files = [&self.out, &self.report, &self.rejects];
        flags.contains(&true)
            || files.iter().any(|file| file.is_some())
            || !self.field.is_empty()
            || !self.patterns.is_empty()
            || self.threads.is_some()
    }

    /// Whether the inputs hold records.
    pub(crate) fn has_records(&self) -> bool {
        self.lines || self.csv || !self.field.is_empty()
    }
}

/// What makes a run fail, besides an input that could not be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A repair that is likely right, or riskier.
    Likely,
    /// A repair that drops something, or riskier.
    Lossy,
    /// A repair that invents or chooses something.
    Guess,
    /// Something is missing: the input was cut off, or a document was dropped.
    Cut,
}

impl FailOn {
    /// The lowest risk that fails.
    pub(crate) const fn risk(self) -> Option<Risk> {
        match self {
            Self::Likely => Some(Risk::Likely),
            Self::Lossy => Some(Risk::Lossy),
            Self::Guess => Some(Risk::Guess),
            Self::Cut => None,
        }
    }
}
