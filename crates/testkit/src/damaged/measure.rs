//! All samples of a seed, and what is counted for them.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::Value;
use wiremend_core::{MendOptions, Policy, RepairKind, Risk, mend, readings};

use super::{Answer, Entry, Kind, Sample, Verdict};

/// So many samples of each kind, and of combinations of two, three and four kinds as many as of ten
/// kinds each; with the names that they are counted under. The same seed gives the same samples.
#[must_use]
pub fn samples(seed: u64, per_kind: u64) -> Vec<(String, Sample)> {
    let mut all: Vec<_> = Kind::all().flat_map(|kind| samples_of(kind, seed, per_kind)).collect();
    all.extend(combined_samples(seed, per_kind));
    all.extend(any_signs(seed, per_kind));
    all
}

/// So many samples of one kind.
#[must_use]
pub fn samples_of(kind: Kind, seed: u64, count: u64) -> Vec<(String, Sample)> {
    let found = seeds(seed, count).filter_map(|seed| Sample::of_kind(kind, seed));
    found.map(|sample| (kind.name().to_owned(), sample)).collect()
}

/// Samples that are damaged in two to four ways at once.
#[must_use]
pub fn combined_samples(seed: u64, per_kind: u64) -> Vec<(String, Sample)> {
    let mut all = Vec::new();
    for count in 2..=4 {
        let found = seeds(seed, per_kind * 10).filter_map(|seed| Sample::combined(count, seed));
        all.extend(found.map(|sample| (format!("{count} kinds at once"), sample)));
    }
    all
}

/// Samples in which one to three signs are damaged that nobody chose.
#[must_use]
pub fn any_signs(seed: u64, per_kind: u64) -> Vec<(String, Sample)> {
    let mut all = Vec::new();
    for (count, name) in (1..).zip(ANY_SIGNS) {
        let found = seeds(seed, per_kind * 10).filter_map(|seed| Sample::of_any_signs(count, seed));
        all.extend(found.map(|sample| (name.to_owned(), sample)));
    }
    all
}

const ANY_SIGNS: [&str; 3] = ["any sign", "any 2 signs", "any 3 signs"];

fn seeds(seed: u64, count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |number| seed << 32 | number)
}

/// The counts of whole texts and of streams, and of the same texts when they are cut off. Every repair
/// is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rates {
    /// [`Entry::Text`].
    pub whole: Tally,
    /// [`Entry::Stream`].
    pub stream: Tally,
    /// [`Entry::Text`] for texts that were cut off.
    pub whole_cut: Tally,
    /// [`Entry::Stream`] for texts that were cut off.
    pub stream_cut: Tally,
}

impl Rates {
    /// Asks for every sample, whole and cut off.
    #[must_use]
    pub fn measure(samples: &[(String, Sample)]) -> Self {
        let mut rates = Self::default();
        for (name, sample) in samples {
            let add = |tally: &mut Tally, sample: &Sample, entry| {
                tally.add(name, &sample.ask(entry, Policy::PERMISSIVE), sample.cut);
            };
            add(&mut rates.whole, sample, Entry::Text);
            add(&mut rates.stream, sample, Entry::Stream);
            if let Some(cut) = sample.cut_off(0) {
                add(&mut rates.whole_cut, &cut, Entry::Text);
                add(&mut rates.stream_cut, &cut, Entry::Stream);
            }
        }
        rates
    }

    /// By kind of damage: how many of 100 samples were mended right, and for how many the answer was
    /// wrong without a repair above likely. A Markdown table.
    #[must_use]
    pub fn by_damage(&self) -> String {
        let mut table =
            "| damage | example | right, whole | right, stream | silently wrong, whole \
                         | silently wrong, stream |\n|---|---|---|---|---|---|\n"
                .to_owned();
        let examples = Kind::all().map(|kind| (kind.name(), code(kind.example())));
        let combined = ["2", "3", "4"].map(|count| format!("{count} kinds at once"));
        let combined = combined.iter().map(|name| &name[..]).chain(ANY_SIGNS);
        let combined = combined.map(|name| (name, String::new()));
        for (name, example) in examples.chain(combined) {
            let (one, other) = (self.whole.named(name), self.stream.named(name));
            let per_cent = |part, all: usize| 100_usize.saturating_mul(part) / all.max(1);
            table += &format!(
                "| {name} | {example} | {} | {} | {} | {} |\n",
                per_cent(one.right, one.all()),
                per_cent(other.right, other.all()),
                per_cent(one.silent(), one.all()),
                per_cent(other.silent(), other.all()),
            );
        }
        table
    }

    /// By kind of repair, how many of 100 answers with such a repair were right; by risk, how many of
    /// those in which it is the highest. A Markdown table.
    #[must_use]
    pub fn by_repair(&self) -> String {
        let head = "right, whole | right, stream | right, whole, cut off | right, stream, cut off";
        let mut table = format!("| answers with | {head} |\n|---|---|---|---|---|\n");
        let mut row = |name: &str, counts: &dyn Fn(&Tally) -> (usize, usize)| {
            table += &format!("| {name}");
            for tally in [&self.whole, &self.stream, &self.whole_cut, &self.stream_cut] {
                let (right, all) = counts(tally);
                table += &format!(" | {}", per_cent(right, all));
            }
            table += " |\n";
        };
        for &kind in RepairKind::ALL {
            row(kind.code(), &|tally| tally.of_repair(kind));
        }
        for &risk in Risk::ALL {
            row(&format!("nothing above {}", risk.code()), &|tally| tally.of_risk(risk));
        }
        table
    }
}

/// How much dearer the next reading is, in steps: up to each of these, and beyond.
const DISTANCES: [u32; 5] = [100, 250, 500, 800, 1_000];

/// By how much dearer the next reading with another value is, how many of 100 whole texts are read right that
/// need no repair of a kind above likely: those that are damaged as models do it, and those in which signs are
/// damaged that nobody chose. A Markdown table.
#[must_use]
pub fn by_distance(samples: &[(String, Sample)]) -> String {
    let mut counts = [[(0, 0); 2]; DISTANCES.len() + 2];
    for (name, sample) in samples {
        let options = MendOptions::new();
        let mended = mend(sample.text.as_bytes(), &options);
        let is_likely = mended.repairs().kinds().all(|(kind, _)| kind.risk() <= Risk::Likely);
        if !mended.outcome().is_complete() || !is_likely {
            continue;
        }
        let Some(taken) = mended.text() else { continue };
        let found = readings(sample.text.as_bytes(), &options);
        let Some(first) = found.first() else { continue };
        let step = match found.get(1) {
            _ if !same_value(&first.text, taken) => 0,
            Some(next) => 1 + DISTANCES.partition_point(|to| *to <= next.cost - first.cost),
            None => 1 + DISTANCES.len(),
        };
        let (right, all) = &mut counts[step][usize::from(ANY_SIGNS.contains(&&name[..]))];
        *right += usize::from(sample.has_value(taken.as_bytes()));
        *all += 1;
    }
    let mut table =
        "| next reading | right, kinds | right, any signs |\n|---|---|---|\n".to_owned();
    let froms = [0].iter().chain(&DISTANCES);
    let between = froms.zip(&DISTANCES).map(|(from, to)| format!("{from} to {to} dearer"));
    let names = ["cheaper".to_owned()].into_iter().chain(between);
    let names = names.chain(["dearer still, or none".to_owned()]);
    for (name, [kinds, signs]) in names.zip(counts) {
        table += &format!(
            "| {name} | {} | {} |\n",
            per_cent(kinds.0, kinds.1),
            per_cent(signs.0, signs.1)
        );
    }
    table
}

/// Whether two JSON texts have the same value.
fn same_value(one: &str, other: &str) -> bool {
    let value = |text| serde_json::from_str::<Value>(text).ok();
    value(one) == value(other)
}

/// Rounded down, so that 100 is all, and of how many. Fewer than five show nothing.
fn per_cent(part: usize, all: usize) -> String {
    match (100 * part).checked_div(all) {
        Some(per_cent) if all >= 5 => format!("{per_cent} % of {all}"),
        _ => String::new(),
    }
}

/// A text as inline code in a table.
fn code(text: &str) -> String {
    let text = text.replace('\n', "␊").replace('\t', "␉").replace('|', "\\|");
    let marks = if text.contains("``") {
        "````"
    } else if text.contains('`') {
        "``"
    } else {
        "`"
    };
    let space = if text.contains('`') { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

/// How many answers were right, wrong, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Right answers.
    pub right: usize,
    /// Wrong answers, by their risk: exact, likely, lossy, guess.
    pub wrong: [usize; 4],
    /// Samples without an answer.
    pub refused: usize,
}

impl Counts {
    fn add(&mut self, answer: &Answer) {
        match answer.verdict {
            Verdict::Right => self.right += 1,
            Verdict::Refused => self.refused += 1,
            Verdict::Wrong => {
                if let Some(count) = self.wrong.get_mut(answer.risk as usize) {
                    *count += 1;
                }
            }
        }
    }

    /// All samples.
    #[must_use]
    pub fn all(&self) -> usize {
        self.answered() + self.refused
    }

    /// The samples with an answer.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.right + self.wrong.iter().sum::<usize>()
    }

    /// The wrong answers of which no repair is more than likely.
    #[must_use]
    pub const fn silent(&self) -> usize {
        self.wrong[0] + self.wrong[1]
    }
}

/// The counts of one way to mend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    by_name: BTreeMap<String, Counts>,
    /// Right answers and all, by risk.
    by_risk: [(usize, usize); 4],
    /// Right answers and all of those with a repair of the kind.
    by_repair: BTreeMap<RepairKind, (usize, usize)>,
    total: Counts,
    complete_cuts: usize,
}

impl Tally {
    /// Counts an answer under a name. `cut` says that the sample was cut off.
    pub fn add(&mut self, name: &str, answer: &Answer, cut: bool) {
        self.total.add(answer);
        self.by_name.entry(name.to_owned()).or_default().add(answer);
        self.complete_cuts += usize::from(cut && answer.complete);
        if answer.verdict == Verdict::Refused {
            return;
        }
        let right = usize::from(answer.verdict == Verdict::Right);
        if let Some((of_risk, all)) = self.by_risk.get_mut(answer.risk as usize) {
            *of_risk += right;
            *all += 1;
        }
        for kind in &answer.kinds {
            let (of_kind, all) = self.by_repair.entry(*kind).or_default();
            *of_kind += right;
            *all += 1;
        }
    }

    /// The counts under a name.
    #[must_use]
    pub fn named(&self, name: &str) -> Counts {
        self.by_name.get(name).copied().unwrap_or_default()
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// The counts of all samples.
    #[must_use]
    pub const fn total(&self) -> Counts {
        self.total
    }

    /// The right answers and all of those whose highest risk is this one.
    #[must_use]
    pub fn of_risk(&self, risk: Risk) -> (usize, usize) {
        self.by_risk.get(risk as usize).copied().unwrap_or_default()
    }

    /// The right answers and all of those that contain a repair of this kind.
    #[must_use]
    pub fn of_repair(&self, kind: RepairKind) -> (usize, usize) {
        self.by_repair.get(&kind).copied().unwrap_or_default()
    }

    /// How many samples that were cut off were said to be complete.
    #[must_use]
    pub const fn complete_cuts(&self) -> usize {
        self.complete_cuts
    }

    /// Adds the counts of another tally.
    pub fn merge(&mut self, other: &Self) {
        let sum = |one: &mut Counts, other: &Counts| {
            one.right += other.right;
            one.refused += other.refused;
            one.wrong.iter_mut().zip(other.wrong).for_each(|(one, other)| *one += other);
        };
        sum(&mut self.total, &other.total);
        self.complete_cuts += other.complete_cuts;
        for (name, counts) in &other.by_name {
            sum(self.by_name.entry(name.clone()).or_default(), counts);
        }
        for ((right, all), (more_right, more)) in self.by_risk.iter_mut().zip(other.by_risk) {
            *right += more_right;
            *all += more;
        }
        for (kind, (more_right, more)) in &other.by_repair {
            let (right, all) = self.by_repair.entry(*kind).or_default();
            *right += more_right;
            *all += more;
        }
    }
}

/// The table of two tallies, by name, those with the fewest right answers first.
#[must_use]
pub fn by_name(whole: &Tally, stream: &Tally) -> String {
    let mut table = format!(
        "{:26} {:>5}  {:>5} {:>6} {:>6} {:>5} {:>5} {:>7}  {:>5} {:>6} {:>6} {:>5} {:>5} {:>7}\n",
        "", "", "whole", "wrong:", "", "", "", "", "stream", "wrong:", "", "", "", ""
    );
    let _ = writeln!(
        table,
        "{:26} {:>5}  {:>5} {:>6} {:>6} {:>5} {:>5} {:>7}  {:>6} {:>6} {:>6} {:>5} {:>5} {:>7}",
        "kind",
        "all",
        "right",
        "exact",
        "likely",
        "lossy",
        "guess",
        "refused",
        "right",
        "exact",
        "likely",
        "lossy",
        "guess",
        "refused"
    );
    let mut names: Vec<&str> = whole.names().collect();
    names.sort_by_key(|name| {
        let counts = whole.named(name);
        (counts.right * 1000 / counts.all().max(1), stream.named(name).right)
    });
    let row = |table: &mut String, name: &str, one: Counts, other: Counts| {
        let part = |counts: Counts| {
            let [exact, likely, lossy, guess] = counts.wrong;
            format!(
                "{:>5} {exact:>6} {likely:>6} {lossy:>5} {guess:>5} {:>7}",
                counts.right, counts.refused
            )
        };
        let _ = writeln!(table, "{name:26} {:>5}  {}   {}", one.all(), part(one), part(other));
    };
    for name in names {
        row(&mut table, name, whole.named(name), stream.named(name));
    }
    row(&mut table, "all", whole.total(), stream.total());
    table
}
