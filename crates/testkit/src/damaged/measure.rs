//! All samples of a seed, and what is counted for them.

use wiremend_core::{Policy, RepairKind, Risk};

use super::{Entry, Kind, Sample, Tally};

/// So many samples of each kind, and of combinations of two, three and four kinds as many as of ten
/// kinds each; with the names that they are counted under. The same seed gives the same samples.
#[must_use]
pub fn samples(seed: u64, per_kind: u64) -> Vec<(String, Sample)> {
    let mut all: Vec<_> = Kind::all().flat_map(|kind| samples_of(kind, seed, per_kind)).collect();
    all.extend(combined_samples(seed, per_kind));
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
        let combined = combined.iter().map(|name| (&name[..], String::new()));
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
