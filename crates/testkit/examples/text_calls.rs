//! How many answers of models in which calls are written as text yield the calls that were meant.
//!
//! ```text
//! cargo run --release -p wiremend-testkit --features schema --example text_calls -- answers.jsonl
//! cargo run --release -p wiremend-testkit --features schema --example text_calls -- answers.jsonl --show none
//! ```
//!
//! A line of the file is an object with `text`, the answer; `tools`, as they were declared; `class`, what
//! kind of answer it is; and `ground_truth`, a list with an object for each call: the name of the tool,
//! with an object of its parameters, each with a list of the values that are accepted, and `""` among
//! them if the parameter may be missing. Dialects are detected, and the tools are those of the line. Values are
//! compared as the Berkeley Function Calling Leaderboard does: strings without case, spaces and
//! punctuation. `--show` prints the answers of one count: `none`, `unknown`, `incomplete`, `invalid` or
//! `other`.

use std::{collections::BTreeMap, env, fs, process::ExitCode};

use serde_json::{Map, Value};
use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, FoundCalls};
use wiremend_schema::{FitOptions, Registry, Resolved};

/// What came of an answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    /// The calls that were meant.
    Meant,
    /// Calls that pass their schemas, and are others.
    Other,
    /// Calls of which one does not pass its schema.
    Invalid,
    /// Calls that may not be run, and no others.
    Incomplete,
    /// Calls of tools that do not exist, and no others.
    Unknown,
    /// No call.
    None,
}

impl Came {
    const ALL: [Self; 6] =
        [Self::Meant, Self::Other, Self::Invalid, Self::Incomplete, Self::Unknown, Self::None];

    const fn name(self) -> &'static str {
        match self {
            Self::Meant => "meant",
            Self::Other => "other",
            Self::Invalid => "invalid",
            Self::Incomplete => "incomplete",
            Self::Unknown => "unknown",
            Self::None => "none",
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (file, show) = match arguments.as_slice() {
        [file] => (file, None),
        [file, flag, name] if flag == "--show" => (file, Some(name.as_str())),
        _ => {
            eprintln!("usage: text_calls FILE [--show none|unknown|incomplete|invalid|other]");
            return ExitCode::from(2);
        }
    };
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut counts: BTreeMap<String, [usize; 6]> = BTreeMap::new();
    let (mut answers, mut as_written) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let Ok(row) = serde_json::from_str::<Value>(line) else {
            eprintln!("not an object: {line}");
            return ExitCode::FAILURE;
        };
        let (came, valid) = read(&row);
        answers += 1;
        as_written += usize::from(valid);
        let class = row["class"].as_str().unwrap_or_default().to_owned();
        if let Some(count) = counts.entry(class).or_default().get_mut(came as usize) {
            *count += 1;
        }
        if show == Some(came.name()) {
            println!("--- {}\n{}\n", row["model"], row["text"].as_str().unwrap_or_default());
        }
    }
    let total =
        |came: Came| counts.values().filter_map(|own| own.get(came as usize)).sum::<usize>();
    let calls = total(Came::Meant) + total(Came::Other) + total(Came::Invalid);
    println!("{answers} answers");
    println!("{calls} with calls that may be run");
    println!("    {as_written} of which all pass their schemas as written");
    println!("    {} of which all pass their schemas after a fit", calls - total(Came::Invalid));
    println!("    {} with the calls that were meant", total(Came::Meant));
    println!("{} with calls that may not be run alone", total(Came::Incomplete));
    println!("{} with calls of unknown tools alone", total(Came::Unknown));
    println!("{} without calls\n", total(Came::None));
    let head: Vec<String> = Came::ALL.iter().map(|came| format!("{:>11}", came.name())).collect();
    println!("{:<40}{}", "", head.concat());
    for (class, own) in &counts {
        let cells: Vec<String> = own.iter().map(|count| format!("{count:>11}")).collect();
        println!("{class:<40}{}", cells.concat());
    }
    ExitCode::SUCCESS
}

/// What came of a row, and whether its calls pass their schemas as they were written.
fn read(row: &Value) -> (Came, bool) {
    let registry = Registry::from_tools(&row["tools"]).unwrap_or_default();
    let mut reader = CallExtractor::new(MendOptions::new()).with_tools(registry.tools());
    let mut found = FoundCalls::default();
    reader.push(row["text"].as_str().unwrap_or_default().as_bytes(), &mut found);
    reader.finish_at_eos(&mut found);
    let calls: Vec<_> = found.calls().iter().filter(|call| call.outcome().can_run()).collect();
    if calls.is_empty() {
        let came = match (found.calls().is_empty(), found.unknown().next().is_none()) {
            (false, _) => Came::Incomplete,
            (_, false) => Came::Unknown,
            _ => Came::None,
        };
        return (came, false);
    }
    let mut values = Vec::new();
    let mut as_written = true;
    for call in calls {
        let Resolved::Tool { schema, .. } = registry.resolve(Some(call.name()), None) else {
            return (Came::Invalid, false);
        };
        let fitted = schema.fit(call.arguments(), &FitOptions::new());
        as_written &= fitted.text().is_some() && fitted.changes().is_empty();
        let value = fitted.text().and_then(|text| serde_json::from_str(text).ok());
        values.push((call.name().to_owned(), value));
    }
    let came = if values.iter().any(|(_, value)| value.is_none()) {
        Came::Invalid
    } else if is_meant(&values, &row["ground_truth"]) {
        Came::Meant
    } else {
        Came::Other
    };
    (came, as_written)
}

/// Whether the calls are those of the ground truth, in any order.
fn is_meant(calls: &[(String, Option<Value>)], truth: &Value) -> bool {
    let mut left: Vec<&Map<String, Value>> =
        truth.as_array().into_iter().flatten().filter_map(Value::as_object).collect();
    left.len() == calls.len()
        && calls.iter().all(|(name, value)| {
            let is = |one: &&Map<String, Value>| {
                let accepts = one.get(name).and_then(Value::as_object);
                accepts
                    .is_some_and(|accepts| value.as_ref().is_some_and(|value| fits(value, accepts)))
            };
            let found = left.iter().position(is);
            found.map(|at| left.swap_remove(at)).is_some()
        })
}

/// Whether an object has accepted values, and no others.
fn fits(value: &Value, accepts: &Map<String, Value>) -> bool {
    let Some(object) = value.as_object() else { return false };
    let list = |options: &Value| match options {
        Value::Array(options) => options.clone(),
        one => vec![one.clone()],
    };
    object.keys().all(|key| accepts.contains_key(key))
        && accepts.iter().all(|(key, options)| {
            let options = list(options);
            match object.get(key) {
                None => options.iter().any(|option| option == ""),
                Some(own) => options.iter().any(|option| match option {
                    Value::Object(inner) if own.is_object() && fits(own, inner) => true,
                    _ => folded(own) == folded(option),
                }),
            }
        })
}

/// A value without what does not count: case, spaces and punctuation of strings, the spelling of numbers.
fn folded(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let kept = text.chars().filter(|c| !" ,./-_*^'\"".contains(*c));
            Value::String(kept.collect::<String>().to_lowercase())
        }
        Value::Array(items) => items.iter().map(folded).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), folded(value))).collect())
        }
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        other => other.clone(),
    }
}
