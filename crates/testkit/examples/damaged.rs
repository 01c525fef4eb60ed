//! How often wiremend gets the value of damaged documents, by kind of damage, risk and repair.
//!
//! ```text
//! cargo run --release -p wiremend-testkit --example damaged -- --per-kind 70
//! cargo run --release -p wiremend-testkit --example damaged -- --kind closer-lost --show wrong
//! cargo run --release -p wiremend-testkit --example damaged -- --truncate
//! ```
//!
//! `--seed N` makes other documents. `--kind NAME` takes one kind; `--combined` takes only samples that
//! are damaged in two to four ways, and `--any-signs` only those in which signs are damaged that nobody chose. `--truncate` cuts every sample off at a random place. `--show wrong`
//! prints wrong answers, those that no repair above likely admits first, and `--show refused` prints samples
//! without an answer, `--show complete` those that were cut off and said to be complete. They are those
//! of the whole text, or with `--entry NAME` those of `stream`, `mend` or `push`, and at most 40 or
//! `--most N`. `--write FILE` writes the samples there, one JSON record a line, to ask other programs.

use std::{env, fs, process::ExitCode, thread};

use serde_json::Value;
use wiremend_core::{Policy, RepairKind, Risk};
use wiremend_testkit::damaged::{
    Answer, Entry, Kind, Sample, Tally, Verdict, any_signs, by_name, combined_samples, samples,
    samples_of,
};

/// How many samples `--show` prints by default.
const MOST_SHOWN: usize = 40;
/// The most characters of a text that are printed.
const MOST_CHARACTERS: usize = 400;

/// Which answers are printed.
#[derive(Clone, Copy)]
enum Show {
    /// Those to samples that were cut off, if they are said to be complete.
    Complete,
    Verdict(Verdict),
}

#[derive(Clone)]
struct Setting {
    seed: u64,
    per_kind: u64,
    kind: Option<Kind>,
    show: Option<Show>,
    shown_entry: Entry,
    most_shown: usize,
    truncate: bool,
    combined: bool,
    any_signs: bool,
    write: Option<String>,
}

impl Setting {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut setting = Self {
            seed: 1,
            per_kind: 70,
            kind: None,
            show: None,
            shown_entry: Entry::Text,
            most_shown: MOST_SHOWN,
            truncate: false,
            combined: false,
            any_signs: false,
            write: None,
        };
        while let Some(flag) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{flag}` needs a value"));
            let number = |text: String| text.parse().map_err(|_| format!("`{text}` is no number"));
            match flag.as_str() {
                "--seed" => setting.seed = number(value()?)?,
                "--per-kind" => setting.per_kind = number(value()?)?,
                "--kind" => {
                    let name = value()?;
                    let kind =
                        Kind::named(&name).ok_or_else(|| format!("there is no kind `{name}`"))?;
                    setting.kind = Some(kind);
                }
                "--show" => {
                    setting.show = match value()?.as_str() {
                        "complete" => Some(Show::Complete),
                        "wrong" => Some(Show::Verdict(Verdict::Wrong)),
                        "refused" => Some(Show::Verdict(Verdict::Refused)),
                        other => return Err(format!("`--show {other}` is not known")),
                    }
                }
                "--entry" => {
                    let name = value()?;
                    let entry = Entry::ALL.into_iter().find(|entry| entry.name() == name);
                    setting.shown_entry =
                        entry.ok_or_else(|| format!("there is no entry `{name}`"))?;
                }
                "--most" => {
                    setting.most_shown = value()?.parse().map_err(|_| "`--most` needs a number")?;
                }
                "--truncate" => setting.truncate = true,
                "--combined" => setting.combined = true,
                "--any-signs" => setting.any_signs = true,
                "--write" => setting.write = Some(value()?),
                _ => return Err(format!("`{flag}` is not known")),
            }
        }
        Ok(setting)
    }

    /// The samples, each with the name of its row.
    fn samples(&self) -> Vec<(String, Sample)> {
        let all = match self.kind {
            Some(kind) => samples_of(kind, self.seed, self.per_kind),
            None if self.any_signs => any_signs(self.seed, self.per_kind),
            None if self.combined => combined_samples(self.seed, self.per_kind),
            None => samples(self.seed, self.per_kind),
        };
        if !self.truncate {
            return all;
        }
        let cut = |(name, sample): (String, Sample)| Some((name, sample.cut_off(self.seed)?));
        all.into_iter().filter_map(cut).collect()
    }
}

/// The tallies of each entry, first with the permissive policy, then with the conservative one.
#[derive(Default)]
struct Results {
    tallies: [[Tally; 4]; 2],
    shown: Vec<(usize, Answer)>,
}

const POLICIES: [Policy; 2] = [Policy::PERMISSIVE, Policy::CONSERVATIVE];

fn ask(samples: &[(String, Sample)], from: usize, setting: &Setting) -> Results {
    let mut results = Results::default();
    for (at, (name, sample)) in samples.iter().enumerate() {
        for (policy, tallies) in POLICIES.into_iter().zip(&mut results.tallies) {
            for (entry, tally) in Entry::ALL.into_iter().zip(tallies) {
                let answer = sample.ask(entry, policy);
                tally.add(name, &answer, sample.cut);
                let wanted = match setting.show {
                    Some(Show::Complete) => sample.cut && answer.complete,
                    Some(Show::Verdict(verdict)) => answer.verdict == verdict,
                    None => false,
                };
                let wanted = wanted && entry == setting.shown_entry;
                if wanted && policy == Policy::PERMISSIVE {
                    results.shown.push((from + at, answer));
                }
            }
        }
    }
    results
}

fn main() -> ExitCode {
    let setting = match Setting::read(env::args().skip(1)) {
        Ok(setting) => setting,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let samples = setting.samples();
    if let Some(path) = &setting.write {
        return write(path, &samples);
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let size = samples.len().div_ceil(threads).max(1);
    let mut all = Results::default();
    thread::scope(|scope| {
        let work = samples.chunks(size).enumerate().map(|(part, samples)| {
            let setting = &setting;
            scope.spawn(move || ask(samples, part * size, setting))
        });
        for work in work.collect::<Vec<_>>() {
            let Ok(results) = work.join() else { continue };
            for (all, tallies) in all.tallies.iter_mut().zip(&results.tallies) {
                all.iter_mut().zip(tallies).for_each(|(all, tally)| all.merge(tally));
            }
            all.shown.extend(results.shown);
        }
    });
    report(&all);
    show(&samples, all.shown, setting.most_shown);
    ExitCode::SUCCESS
}

fn percent((right, all): (usize, usize)) -> String {
    if all == 0 {
        "-".to_owned()
    } else {
        format!("{:.1} % of {all}", 100.0 * right as f64 / all as f64)
    }
}

fn report(results: &Results) {
    let [permissive, conservative] = &results.tallies;
    let [whole, stream, ..] = permissive;
    println!("{}", by_name(whole, stream));
    println!("right, by the highest risk of the answer{:>12} {:>22}", "whole", "stream");
    for &risk in Risk::ALL {
        println!(
            "{:28} {:>22} {:>22}",
            risk.code(),
            percent(whole.of_risk(risk)),
            percent(stream.of_risk(risk))
        );
    }
    println!("\nright, by a repair in the answer{:>20} {:>22}", "whole", "stream");
    for &kind in RepairKind::ALL {
        let (one, other) = (whole.of_repair(kind), stream.of_repair(kind));
        println!("{:28} {:>22} {:>22}", kind.code(), percent(one), percent(other));
    }
    println!(
        "\n{:24} {:>18} {:>8} {:>14} {:>8} {:>14}",
        "", "right", "wrong", "silently wrong", "refused", "cut, complete"
    );
    for (policy, tallies) in
        ["permissive", "conservative"].into_iter().zip([permissive, conservative])
    {
        for (entry, tally) in Entry::ALL.into_iter().zip(tallies) {
            let total = tally.total();
            let name = format!("{policy} {}", entry.name());
            let wrong = total.answered() - total.right;
            println!(
                "{name:24} {:>18} {wrong:>8} {:>14} {:>8} {:>14}",
                percent((total.right, total.all())),
                total.silent(),
                total.refused,
                tally.complete_cuts()
            );
        }
    }
}

/// Prints answers, the ones with the least risk and the shortest texts first.
fn show(samples: &[(String, Sample)], mut shown: Vec<(usize, Answer)>, most: usize) {
    let length = |at: usize| samples.get(at).map_or(0, |(_, sample)| sample.text.len());
    shown.sort_by_key(|(at, answer)| (answer.risk > Risk::Likely, length(*at)));
    for (at, answer) in shown.into_iter().take(most) {
        let Some((_, sample)) = samples.get(at) else { continue };
        let kinds: Vec<&str> = answer.kinds.iter().map(|kind| kind.code()).collect();
        let ended = if answer.complete { "complete" } else { "not complete" };
        println!("\n--- {:?}: {}, {ended}: {}", sample.kinds, answer.risk.code(), kinds.join(" "));
        let value = answer.json.as_deref().map(serde_json::from_str::<Value>);
        let (path, [answered, right]) = match &value {
            Some(Ok(value)) => difference(value, &sample.value),
            _ => (String::new(), ["nothing".to_owned(), sample.value.to_string()]),
        };
        println!("input  {}", around(&sample.text, &path));
        println!("at     ${path}");
        println!("answer {}", short(&answered, MOST_CHARACTERS));
        println!("right  {}", short(&right, MOST_CHARACTERS));
    }
}

/// The path of the first place where two values differ, and what they have there.
fn difference(one: &Value, other: &Value) -> (String, [String; 2]) {
    let pairs: Vec<(String, &Value, &Value)> = match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            let pairs = one.iter().zip(other).enumerate();
            pairs.map(|(at, (one, other))| (format!("[{at}]"), one, other)).collect()
        }
        (Value::Object(one), Value::Object(other)) => one
            .iter()
            .zip(other)
            .take_while(|((key, _), (other, _))| key == other)
            .map(|((key, one), (_, other))| (format!(".{key}"), one, other))
            .collect(),
        _ => Vec::new(),
    };
    match pairs.into_iter().find(|(_, one, other)| one != other) {
        Some((step, one, other)) => {
            let (rest, values) = difference(one, other);
            (step + &rest, values)
        }
        None => (String::new(), [one.to_string(), other.to_string()]),
    }
}

/// A short text, or the part of it with the last key of a path.
fn around(text: &str, path: &str) -> String {
    let key = path.rsplit('.').next().and_then(|step| step.split('[').next()).unwrap_or_default();
    let at = if key.is_empty() { 0 } else { text.find(key).unwrap_or_default() };
    let before =
        text.get(..at).map_or(0, |head| head.chars().count()).saturating_sub(MOST_CHARACTERS / 4);
    let part: String = text.chars().skip(before).collect();
    format!("{}{}", if before > 0 { "… " } else { "" }, short(&part, MOST_CHARACTERS))
}

fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    format!("{head} … ({} bytes)", text.len())
}

/// Writes the samples for other programs: the text, the value, and the name of the row.
fn write(path: &str, samples: &[(String, Sample)]) -> ExitCode {
    let mut lines = String::new();
    for (name, sample) in samples {
        let record = serde_json::json!({
            "kind": name, "input": sample.text, "value": sample.value, "cut": sample.cut
        });
        lines += &record.to_string();
        lines.push('\n');
    }
    match fs::write(path, lines) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}
