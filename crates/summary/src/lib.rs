//! What became of many texts: how many had which outcome, risk and kinds of repair, by source, with the
//! first examples of each.
//!
//! ```
//! use wiremend_summary::{Example, Row, Summary};
//!
//! let mut summary = Summary::new(20);
//! let row = Row { source: Some("small"), outcome: "repaired", risk: Some("exact"), kinds: &[("single-quote", 2)] };
//! let example = summary.wants(&row).then(|| Example::new(1, Some(b"{'a': 1}"), Some(b"{\"a\": 1}"), None));
//! summary.add(&row, example);
//! assert_eq!(summary.rows(), 1);
//! assert_eq!(summary.lines()[2].name, "single-quote");
//! assert!(summary.page("Answers").contains("{&#39;a&#39;: 1}"));
//! ```
//!
//! Memory is bounded: names are codes, texts of examples are cut, and sources from the 1,001st on are
//! counted together.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    fmt,
};

use wiremend_core::RepairKind;
use wiremend_schema::Rule;

mod page;

/// Further sources are counted together.
const SOURCES: usize = 1000;

/// The longest text of an example, in characters.
const LONGEST: usize = 500;

const OTHERS: &str = "(others)";

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum What {
    /// How a text ended.
    Outcome,
    /// The highest risk of its repairs.
    Risk,
    /// The kinds of its repairs. A text may have several.
    Kind,
}

impl What {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Outcome, Self::Risk, Self::Kind];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Outcome => "outcome",
            Self::Risk => "risk",
            Self::Kind => "kind",
        }
    }
}

/// What became of one text.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct Row<'a> {
    /// Where the text is from, such as a model or a file.
    pub source: Option<&'a str>,
    /// How it ended.
    pub outcome: &'a str,
    /// The highest risk of its repairs. `None` where no text was mended, so that it has no share in risks.
    pub risk: Option<&'a str>,
    /// Each kind of repair, and how many there were.
    pub kinds: &'a [(&'a str, u64)],
}

impl<'a> Row<'a> {
    fn names(&self) -> impl Iterator<Item = (What, &'a str, Option<u64>)> + '_ {
        let risk = self.risk.map(|risk| (What::Risk, risk, None));
        let kinds = self.kinds.iter().map(|&(kind, count)| (What::Kind, kind, Some(count)));
        [(What::Outcome, self.outcome, None)].into_iter().chain(risk).chain(kinds)
    }
}

/// A text that was mended, what it became, and why it is not whole; each cut to 500 characters.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct Example<P> {
    /// Where it is: the number of a row, or a file and a line.
    pub place: P,
    /// Its source.
    pub source: Option<String>,
    /// What it was.
    pub text: Option<String>,
    /// What it became.
    pub json: Option<String>,
    /// Why it failed or is not whole.
    pub message: Option<String>,
}

impl<P> Example<P> {
    /// An example of the row that it is added with.
    #[must_use]
    pub fn new(place: P, text: Option<&[u8]>, json: Option<&[u8]>, message: Option<&str>) -> Self {
        let message = message.map(|message| beginning(message.as_bytes()));
        let (text, json) = (text.map(beginning), json.map(beginning));
        Self { place, source: None, text, json, message }
    }
}

/// The beginning of a text.
fn beginning(text: &[u8]) -> String {
    // No character has more than four bytes.
    let start = String::from_utf8_lossy(text.get(..LONGEST * 4).unwrap_or(text));
    match start.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", start.get(..end).unwrap_or_default()),
        None => start.into_owned(),
    }
}

/// A count of one name for one source.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct Line<'a, P> {
    /// What is counted.
    pub what: What,
    /// The outcome, risk or kind.
    pub name: &'a str,
    /// The source.
    pub source: Option<&'a str>,
    /// How many rows.
    pub rows: u64,
    /// Their share of the rows of the source.
    pub share: f64,
    /// How many repairs: of a kind, those of the kind.
    pub repairs: u64,
    /// The examples that are from this source.
    pub examples: Vec<&'a Example<P>>,
}

/// Counts, with so many examples of each outcome, risk and kind.
#[derive(Clone, Debug)]
pub struct Summary<P> {
    most: usize,
    rows: u64,
    sources: Vec<(Option<String>, u64)>,
    /// The places of named sources in the list.
    named: HashMap<String, usize>,
    unnamed: Option<usize>,
    names: BTreeMap<What, BTreeMap<String, Name<P>>>,
}

#[derive(Clone, Debug)]
struct Name<P> {
    /// By the place of the source.
    counts: BTreeMap<usize, Count>,
    examples: Vec<Example<P>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    rows: u64,
    repairs: u64,
}

impl<P> Default for Name<P> {
    fn default() -> Self {
        Self { counts: BTreeMap::new(), examples: Vec::new() }
    }
}

impl<P: Clone + fmt::Display> Summary<P> {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(examples: usize) -> Self {
        Self {
            most: examples,
            rows: 0,
            sources: Vec::new(),
            named: HashMap::new(),
            unnamed: None,
            names: BTreeMap::new(),
        }
    }

    /// Whether one of the names of this row has too few examples.
    #[must_use]
    pub fn wants(&self, row: &Row<'_>) -> bool {
        let has = |what, name| self.names.get(&what).and_then(|names| names.get(name));
        row.names().any(|(what, name, _)| {
            has(what, name).map_or(0, |name| name.examples.len()) < self.most
        })
    }

    /// Counts a row.
    pub fn add(&mut self, row: &Row<'_>, example: Option<Example<P>>) {
        let source = self.source(row.source, 1);
        self.rows += 1;
        let all = row.kinds.iter().map(|(_, count)| count).sum();
        let example = example.map(|example| Example {
            source: self.sources.get(source).and_then(|(name, _)| name.clone()),
            ..example
        });
        for (what, name, repairs) in row.names() {
            let most = self.most;
            let known = self.name(what, name);
            let count = known.counts.entry(source).or_default();
            count.rows += 1;
            count.repairs += repairs.unwrap_or(all);
            if known.examples.len() < most {
                known.examples.extend(example.clone());
            }
        }
    }

    /// Adds what was counted apart. Its rows come after those that are here.
    pub fn merge(&mut self, other: Self) {
        let places: Vec<usize> =
            other.sources.iter().map(|(name, rows)| self.source(name.as_deref(), *rows)).collect();
        self.rows += other.rows;
        for (what, names) in other.names {
            for (name, found) in names {
                let most = self.most;
                let known = self.name(what, &name);
                for (place, count) in found.counts {
                    let place = places.get(place).copied().unwrap_or_default();
                    let known = known.counts.entry(place).or_default();
                    known.rows += count.rows;
                    known.repairs += count.repairs;
                }
                let free = most.saturating_sub(known.examples.len());
                known.examples.extend(found.examples.into_iter().take(free));
            }
        }
    }

    /// The place of a source, whose rows are counted.
    fn source(&mut self, name: Option<&str>, rows: u64) -> usize {
        let known = match name {
            Some(name) => self.named.get(name).copied(),
            None => self.unnamed,
        };
        let name = match known {
            None if self.sources.len() >= SOURCES => Some(OTHERS),
            _ => name,
        };
        let known = known.or_else(|| name.and_then(|name| self.named.get(name).copied()));
        let place = known.unwrap_or_else(|| {
            let place = self.sources.len();
            self.sources.push((name.map(str::to_owned), 0));
            match name {
                Some(name) => {
                    self.named.insert(name.to_owned(), place);
                }
                None => self.unnamed = Some(place),
            }
            place
        });
        if let Some((_, known)) = self.sources.get_mut(place) {
            *known += rows;
        }
        place
    }

    fn name(&mut self, what: What, name: &str) -> &mut Name<P> {
        self.names.entry(what).or_default().entry(name.to_owned()).or_default()
    }

    /// How many rows were counted. It is the sum of the outcomes.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// All counts: outcomes, then risks, then kinds; by source, and the most frequent first.
    #[must_use]
    pub fn lines(&self) -> Vec<Line<'_, P>> {
        let mut lines = Vec::new();
        for (&what, names) in &self.names {
            for (name, found) in names {
                for (&place, &Count { rows, repairs }) in &found.counts {
                    let Some((source, of)) = self.sources.get(place) else { continue };
                    let source = source.as_deref();
                    let own = |example: &&Example<P>| example.source.as_deref() == source;
                    let examples = found.examples.iter().filter(own).collect();
                    let share = share(rows, *of);
                    lines.push(Line { what, name, source, rows, share, repairs, examples });
                }
            }
        }
        lines.sort_by_key(|line| (line.what, line.source, Reverse(line.rows)));
        lines
    }

    /// As a page of HTML that needs nothing else.
    #[must_use]
    pub fn page(&self, title: &str) -> String {
        page::page(self, title)
    }

    /// The same as a part of another page, with its style.
    #[must_use]
    pub fn part(&self) -> String {
        page::part(self)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a share")]
fn share(rows: u64, of: u64) -> f64 {
    rows as f64 / of.max(1) as f64
}

/// What a kind of repair means.
fn about(kind: &str) -> &'static str {
    let rule = || Rule::from_code(kind).map(Rule::summary);
    RepairKind::from_code(kind).map(RepairKind::summary).or_else(rule).unwrap_or_default()
}
