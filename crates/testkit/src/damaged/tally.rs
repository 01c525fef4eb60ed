//! Counts of answers, and the tables made of them.

use std::{collections::BTreeMap, fmt::Write as _};

use wiremend_core::{RepairKind, Risk};

use super::{Answer, Verdict};

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
