//! What asking again costs: a scripted model, whose answers have mistakes, against three loops.
//!
//! ```text
//! cargo run --release -p wiremend-reask --example simulate [FILE.jsonl]
//! ```
//!
//! Without a file, calls with mistakes are made here. A file has on each line a failing call: `input`, its `schema`, its
//! `name`, and `expect.accepted`, a list of objects that give the accepted values of each argument.
//!
//! The model corrects a field that is named with its place with probability 0.9, one of which only the wrong value is
//! quoted with 0.6, and one that is not mentioned with 0.2. When it writes a whole value again, it breaks each good field
//! with probability 0.02. These numbers are assumptions, the same for every loop. A token is four characters.

use core::time::Duration;
use std::{collections::BTreeSet, env, fs};

use serde_json::{Map, Value, json};
use wiremend_core::{MendOptions, Policy};
use wiremend_reask::{Answer, Ask, AskKind, Reask, ReaskOptions, Step};
use wiremend_schema::{FitOptions, Issue, Schema, Tree};

const NAMED: f64 = 0.9;
const QUOTED: f64 = 0.6;
const UNMENTIONED: f64 = 0.2;
const BREAKS: f64 = 0.02;
/// How many times each failing call is tried, with other random numbers.
const ROUNDS: u64 = 20;

/// A call that fails its schema, and what was meant.
struct Case {
    schema: Schema,
    name: String,
    wrong: String,
    meant: Value,
    /// All values that are right: for each argument, the accepted ones.
    accepted: Vec<Value>,
}

impl Case {
    fn is_right(&self, value: &Value) -> bool {
        let is_one = |accepted: &Value| {
            let (Some(accepted), Some(value)) = (accepted.as_object(), value.as_object()) else {
                return false;
            };
            let listed = |name: &str| accepted.get(name).and_then(Value::as_array);
            value.iter().all(|(name, own)| {
                listed(name).is_some_and(|all| all.iter().any(|other| is_same(own, other)))
            }) && accepted.keys().all(|name| {
                value.contains_key(name) || listed(name).is_some_and(|all| all.contains(&json!("")))
            })
        };
        is_same(value, &self.meant) || self.accepted.iter().any(is_one)
    }
}

/// splitmix64
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.bits() % u64::try_from(bound.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    fn happens(&mut self, probability: f64) -> bool {
        // 2^32 steps are fine enough.
        f64::from(u32::try_from(self.bits() >> 32).unwrap_or(0)) < probability * f64::from(u32::MAX)
    }
}

/// The model: what it believes at the moment, and what it was meant to say.
struct Model<'c> {
    belief: Value,
    case: &'c Case,
    random: Random,
}

impl Model<'_> {
    /// Thinks about each argument once more. `chance` is that of correcting one.
    fn think(&mut self, chance: impl Fn(&str, &Value) -> f64) {
        let meant = self.case.meant.as_object().cloned().unwrap_or_default();
        if !self.belief.is_object() {
            if self.random.happens(NAMED) {
                self.belief = self.case.meant.clone();
            }
            return;
        }
        let Some(belief) = self.belief.as_object_mut() else { return };
        // Each name once, so that an argument has one chance and not two.
        let names: BTreeSet<String> = meant.keys().chain(belief.keys()).cloned().collect();
        for name in names {
            let (own, right) = (belief.get(&name), meant.get(&name));
            if own == right || !self.random.happens(chance(&name, own.unwrap_or(&Value::Null))) {
                continue;
            }
            match right {
                Some(right) => belief.insert(name, right.clone()),
                None => belief.remove(&name),
            };
        }
    }

    /// Writes everything again, and breaks something now and then.
    fn rewrite(&mut self) -> String {
        if let Some(belief) = self.belief.as_object_mut() {
            for value in belief.values_mut() {
                if self.random.happens(BREAKS) {
                    *value = json!({"unsure": true});
                }
            }
        }
        self.belief.to_string()
    }

    fn reply(&mut self, ask: &Ask) -> String {
        let prompt = ask.user_message().unwrap_or_default().to_owned();
        let is_named = |name: &str| {
            prompt.contains(&format!("- /{name}")) || prompt.contains(&format!("\"{name}\" "))
        };
        let is_asked =
            |name: &str| ask.fields().iter().any(|field| field.split('/').nth(1) == Some(name));
        self.think(|name, _| {
            if is_asked(name) || is_named(name) || prompt.contains(&format!("property \"{name}\""))
            {
                NAMED
            } else {
                UNMENTIONED
            }
        });
        if ask.kind() != AskKind::Fields {
            return self.rewrite();
        }
        // The keys of the reply are those of its schema. What should not be there is null in it.
        let keys = ask.schema().source()["properties"].as_object().into_iter().flat_map(Map::keys);
        let values = keys.zip(ask.fields()).map(|(key, field)| {
            (key.clone(), self.belief.pointer(field).cloned().unwrap_or_default())
        });
        Value::Object(values.collect::<Map<_, _>>()).to_string()
    }
}

#[derive(Clone, Copy)]
enum Loop {
    Ours { repair: Policy },
    Usual { repair: Option<Policy> },
}

#[derive(Default)]
struct Sums {
    runs: usize,
    valid: usize,
    right: usize,
    calls: usize,
    tokens: usize,
    calls_of_valid: usize,
    at_once: usize,
}

impl Sums {
    fn add(&mut self, value: Option<&str>, case: &Case, calls: usize, tokens: usize) {
        self.runs += 1;
        self.calls += calls;
        self.tokens += tokens;
        if let Some(value) = value {
            self.valid += 1;
            self.calls_of_valid += calls;
            self.at_once += usize::from(calls == 0);
            let value: Option<Value> = serde_json::from_str(value).ok();
            self.right += usize::from(value.is_some_and(|value| case.is_right(&value)));
        }
    }

    fn print(&self, name: &str) {
        let share = |part: usize| 100.0 * ratio(part, self.runs);
        println!(
            "{name:<34} valid {:5.1} %  as meant {:5.1} %  without asking {:5.1} %  asks per failing call {:.2}  calls per success {:.2}  tokens per success {:.0}",
            share(self.valid),
            share(self.right),
            share(self.at_once),
            ratio(self.calls, self.runs),
            1.0 + ratio(self.calls_of_valid, self.valid),
            ratio(self.tokens, self.valid),
        );
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(k, v)| b.get(k).is_some_and(|other| is_same(v, other)))
        }
        _ => a == b,
    }
}

/// The options of a loop with that policy.
fn fit_options(case: &Case, repair: Policy) -> FitOptions {
    let engine = MendOptions::new().with_policy(repair);
    FitOptions::new().with_mending(engine).with_name(case.name.as_str())
}

/// The fewest calls per success that a loop with that repair can reach, if a question corrects each wrong argument
/// with probability `chance`, breaks nothing, and may be asked twice.
fn bound(cases: &[Case], repair: Policy, chance: f64) -> f64 {
    let (mut asks, mut successes) = (0.0, 0.0);
    for case in cases {
        let fitted = case.schema.fit(case.wrong.as_bytes(), &fit_options(case, repair));
        if fitted.text().is_some() && fitted.outcome().is_complete() {
            successes += 1.0;
            continue;
        }
        let argument = |issue: &Issue| {
            let first = issue.pointer().split('/').nth(1).map(str::to_owned);
            first.or_else(|| issue.missing().map(str::to_owned)).unwrap_or_default()
        };
        // What is mended once the rest fits need not be corrected.
        let left = fitted.issues().iter().filter(|issue| issue.mended_by().is_none());
        let wrong: BTreeSet<String> = left.map(argument).collect();
        let all = |chance: f64| wrong.iter().map(|_| chance).product::<f64>();
        let (once, twice) = (all(chance), all(1.0 - (1.0 - chance).powi(2)));
        asks += 2.0f64.mul_add(twice - once, once);
        successes += twice;
    }
    1.0 + asks / successes
}

const fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// Our loop: repair, then ask for what is wrong.
fn ours(case: &Case, seed: u64, repair: Policy, sums: &mut Sums) {
    let fit = fit_options(case, repair);
    let mut reask =
        Reask::new(&case.schema, ReaskOptions::for_tool(case.name.as_str()).with_fit(fit));
    let belief = serde_json::from_str(&case.wrong).unwrap_or_default();
    let mut model = Model { belief, case, random: Random(seed) };
    let mut step = reask.answer(&Answer::arguments(case.wrong.as_str()), Duration::ZERO);
    let (mut calls, mut spent) = (0, 0);
    loop {
        match step {
            Step::Ask(ask) => {
                let reply = model.reply(&ask);
                calls += 1;
                // The request itself, with the schema of what is asked for, is sent again with every call.
                spent += tokens(&ask.schema().source().to_string())
                    + tokens(ask.user_message().unwrap_or_default())
                    + tokens(&reply);
                step = reask.answer(&Answer::text(reply), Duration::ZERO);
            }
            Step::Done(done) => return sums.add(Some(done.json()), case, calls, spent),
            _ => return sums.add(None, case, calls, spent),
        }
    }
}

/// The usual loop: the first message of a validator, which quotes a value and names no place, and everything again.
fn usual(case: &Case, seed: u64, repair: Option<Policy>, sums: &mut Sums) {
    let belief = serde_json::from_str(&case.wrong).unwrap_or_default();
    let mut model = Model { belief, case, random: Random(seed) };
    let (mut text, mut conversation, mut spent) = (case.wrong.clone(), String::new(), 0);
    for calls in 0..=2 {
        let value = match repair {
            Some(policy) => {
                let fitted = case.schema.fit(text.as_bytes(), &fit_options(case, policy));
                fitted.text().filter(|_| fitted.outcome().is_complete()).map(str::to_owned)
            }
            None => Tree::read(&text)
                .ok()
                .filter(|tree| case.schema.accepts(tree))
                .map(|_| text.clone()),
        };
        if value.is_some() || calls == 2 {
            return sums.add(value.as_deref(), case, calls, spent);
        }
        let issues = Tree::read(&text).map(|tree| case.schema.validate(&tree)).unwrap_or_default();
        let (said, name) = match issues.first() {
            Some(issue) if issue.missing().is_some() => {
                let name = issue.missing().unwrap_or_default();
                (format!("\"{name}\" is a required property"), name.to_owned())
            }
            Some(issue) => (
                format!("{} is not valid: {}", issue.received().raw(), issue.expected()),
                String::new(),
            ),
            None => ("not JSON".to_owned(), String::new()),
        };
        conversation.push_str(&text);
        conversation.push_str(&said);
        model.think(|own, value| {
            let quoted = said.starts_with(&value.to_string());
            if own == name {
                NAMED
            } else if quoted {
                QUOTED
            } else {
                UNMENTIONED
            }
        });
        text = model.rewrite();
        spent += tokens(&case.schema.source().to_string()) + tokens(&conversation) + tokens(&text);
    }
}

/// Calls with one to three mistakes of the kinds that models make. Some can be repaired, and some cannot.
fn made(count: usize) -> Vec<Case> {
    let schema = json!({"type": "object", "properties": {
        "route": {"type": "string"}, "seats": {"type": "integer", "minimum": 1}, "class": {"enum": ["first", "second"]},
        "stops": {"type": "array", "items": {"type": "string"}}, "bikes": {"type": "boolean"},
        "limit": {"type": "number"}, "remark": {"type": "string"},
    }, "required": ["route", "seats", "class", "stops"], "additionalProperties": false});
    let meant = json!({"route": "Bergen line", "seats": 2, "class": "second", "stops": ["Voss", "Myrdal"], "bikes": true,
        "limit": 450.5, "remark": "A window seat, if there is one left, and please no change of trains on the way."});
    let repairable = [
        ("seats", json!("2")),
        ("class", json!("Second")),
        ("stops", json!("[\"Voss\", \"Myrdal\"]")),
        ("bikes", json!("true")),
        ("limit", json!("450.5")),
        ("bikes", json!("yes")),
        ("class", json!(["second"])),
    ];
    let wrong = [
        ("seats", json!("a pair")),
        ("class", json!("economy")),
        ("stops", json!({"first": "Voss"})),
        ("bikes", json!("one")),
        ("limit", json!("cheap")),
        ("seats", Value::Null),
        ("route", Value::Null),
    ];
    let compiled = Schema::compile(&schema).expect("a schema");
    let mut random = Random(11);
    let mut cases = Vec::new();
    while cases.len() < count {
        let mut value = meant.clone();
        for _ in 0..=random.below(3) {
            let list: &[_] = if random.happens(0.7) { &repairable } else { &wrong };
            let (name, mistake) = &list[random.below(list.len())];
            value[*name] = mistake.clone();
            if mistake.is_null() && random.happens(0.5) {
                value.as_object_mut().map(|own| own.remove(*name));
            }
        }
        cases.push(Case {
            schema: compiled.clone(),
            name: "book".into(),
            wrong: value.to_string(),
            meant: meant.clone(),
            accepted: Vec::new(),
        });
    }
    cases
}

/// The failing calls of a file. Where several values are accepted, the first one is meant.
fn read(path: &str) -> Vec<Case> {
    let text = fs::read_to_string(path).expect("a file");
    let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    rows.filter_map(|row| {
        let accepted = row["expect"]["accepted"].get(0)?.as_object()?;
        let first = |values: &Value| values.get(0).cloned().unwrap_or(Value::Null);
        // An empty text among the accepted values says that the argument may be absent.
        let kept = accepted
            .iter()
            .filter(|(_, values)| !values.as_array().is_some_and(|all| all.contains(&json!(""))));
        let meant =
            Value::Object(kept.map(|(name, values)| (name.clone(), first(values))).collect());
        let schema = Schema::compile(&row["schema"]).ok()?;
        let text = meant.to_string();
        let is_valid = Tree::read(&text).is_ok_and(|tree| schema.accepts(&tree));
        let (name, wrong) = (row["name"].as_str()?.to_owned(), row["input"].as_str()?.to_owned());
        let accepted = row["expect"]["accepted"].as_array().cloned().unwrap_or_default();
        is_valid.then_some(Case { schema, name, wrong, meant, accepted })
    })
    .collect()
}

fn main() {
    let path = env::args().nth(1);
    let cases = path.as_deref().map_or_else(|| made(400), read);
    println!("{} failing calls, {ROUNDS} rounds each", cases.len());
    let usual = |repair| Loop::Usual { repair };
    let ours = |repair| Loop::Ours { repair };
    let loops = [
        ("all again, raw text, no repair", usual(None)),
        ("all again, raw text, repair: likely", usual(Some(Policy::CONSERVATIVE))),
        ("ours, no repair", ours(Policy::STRICT)),
        ("ours, repair: likely", ours(Policy::CONSERVATIVE)),
        ("ours, repair: guess", ours(Policy::PERMISSIVE)),
    ];
    for (name, run) in loops {
        let mut sums = Sums::default();
        for round in 0..ROUNDS {
            for (number, case) in (0u64..).zip(&cases) {
                let seed = number.wrapping_mul(1_000_003).wrapping_add(round);
                match run {
                    Loop::Ours { repair } => self::ours(case, seed, repair, &mut sums),
                    Loop::Usual { repair } => self::usual(case, seed, repair, &mut sums),
                }
            }
        }
        sums.print(name);
    }
    println!("The fewest calls per success, with repair up to likely:");
    for (name, chance) in [("if every question is answered right", 1.0), ("with this model", NAMED)]
    {
        println!("{name:<36} {:.2}", bound(&cases, Policy::CONSERVATIVE, chance));
    }
}
