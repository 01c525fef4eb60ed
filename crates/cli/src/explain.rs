//! `wiremend explain`: the meaning of codes, and of the other words that this program prints.

use serde_json::json;
use wiremend_core::{Policy, RepairKind, Risk};
use wiremend_schema::Rule;

use crate::{
    Session,
    args::{ExplainArgs, repair_codes, unknown_code},
    exit::{Exit, Failure},
    out::Out,
    paint::{BOLD, DIM, NAME},
    visible::{Shown, shown},
    words::{self, Word},
};

pub(crate) fn run(args: &ExplainArgs, session: Session) -> Result<Exit, Failure> {
    let mut out = Out::new();
    let Some(code) = &args.code else {
        let repairs = RepairKind::ALL.iter().copied().map(Entry::of_repair);
        for entry in repairs.chain(Rule::ALL.iter().copied().map(Entry::of_rule)) {
            if args.json {
                out.record(&entry.object());
            } else {
                out.line(&row(
                    session,
                    entry.code,
                    &Shown::of(entry.risk).padded(8),
                    entry.summary,
                ));
            }
        }
        for word in words::all() {
            if args.json {
                out.record(&object(&word));
            } else {
                let of = session.stdout.paint(DIM, shown!("{}: ", word.of));
                out.line(&row(session, word.code, &of, word.meaning));
            }
        }
        out.flush()?;
        return Ok(Exit::Unchanged);
    };
    let entry = Entry::find(code);
    let meanings: Vec<Word> = words::meanings(code).collect();
    if entry.is_none() && meanings.is_empty() {
        let rules = Rule::ALL.iter().map(|rule| rule.code());
        let words = words::all().map(|word| word.code);
        return Err(Failure::Usage(unknown_code(code, repair_codes().chain(rules).chain(words))));
    }
    if args.json {
        entry.iter().for_each(|entry| out.record(&entry.object()));
        meanings.iter().for_each(|word| out.record(&object(word)));
    } else {
        entry.iter().for_each(|entry| out.line(&entry.page(session)));
        if !meanings.is_empty() {
            out.line(&page(session, code, &meanings));
        }
    }
    out.flush()?;
    Ok(Exit::Unchanged)
}

fn row(session: Session, code: &'static str, of: &Shown, summary: &'static str) -> Shown {
    shown!("{}{}{}", session.stdout.paint(NAME, Shown::of(code).padded(28)), of, summary)
}

/// The meanings of a word: a line for each thing that it is a word for.
fn page(session: Session, code: &str, meanings: &[Word]) -> Shown {
    let lines = meanings.iter().map(|word| {
        let of = session.stdout.paint(DIM, Shown::of(word.of).padded(26));
        shown!("{}{}", of, word.meaning)
    });
    let lines: Vec<Shown> = lines.collect();
    shown!("{}\n\n{}", session.stdout.paint(BOLD, code), Shown::join(&lines, "\n"))
}

fn object(word: &Word) -> serde_json::Value {
    json!({ "code": word.code, "of": word.of, "summary": word.meaning })
}

/// The description of a repair or of a schema rule.
struct Entry {
    code: &'static str,
    risk: Risk,
    summary: &'static str,
    example: (&'static str, &'static str),
    policies: Vec<&'static str>,
    /// The option that disables it or, for a rule that is off by default, enables it.
    switch: &'static str,
    of: &'static str,
}

impl Entry {
    fn find(code: &str) -> Option<Self> {
        let repair = RepairKind::from_code(code).map(Self::of_repair);
        repair.or_else(|| Rule::from_code(code).map(Self::of_rule))
    }

    fn of_repair(kind: RepairKind) -> Self {
        Self {
            code: kind.code(),
            risk: kind.risk(),
            summary: kind.summary(),
            example: kind.example(),
            policies: policies(|policy| policy.allows(kind)),
            switch: "--off",
            of: "syntax",
        }
    }

    fn of_rule(rule: Rule) -> Self {
        Self {
            code: rule.code(),
            risk: rule.risk(),
            summary: rule.summary(),
            example: rule.example(),
            policies: policies(|policy| Some(rule.risk()) <= policy.max_risk()),
            switch: if rule.is_default() { "--rule-off" } else { "--rule-on" },
            of: "schema",
        }
    }

    fn page(&self, session: Session) -> Shown {
        let paint = session.stdout;
        let (before, after) = self.example;
        let label = |text: &str| paint.paint(DIM, Shown::of(text).padded(8));
        let switch = if self.switch == "--rule-on" { "allow" } else { "refuse" };
        shown!(
            "{}\n\n{}\n\n{}  {}\n{}  {}\n\n{}  {}: {}\n{}  {}\n{}  {} {}",
            paint.paint(BOLD, self.code),
            self.summary,
            label("before"),
            Shown::clipped(before.as_bytes(), 200),
            label("after"),
            Shown::clipped(after.as_bytes(), 200),
            label("risk"),
            self.risk,
            meaning(self.risk),
            label("policies"),
            self.policies.join(", "),
            label(switch),
            self.switch,
            self.code,
        )
    }

    fn object(&self) -> serde_json::Value {
        json!({
            "code": self.code,
            "of": self.of,
            "risk": self.risk.code(),
            "summary": self.summary,
            "before": self.example.0,
            "after": self.example.1,
            "meaning": meaning(self.risk),
            "policies": self.policies,
        })
    }
}

/// What a risk means for the result.
fn meaning(risk: Risk) -> &'static str {
    words::meanings(risk.code()).find(|word| word.of == "risk").map_or("", |word| word.meaning)
}

/// The policies that allow a repair.
fn policies(allows: impl Fn(&Policy) -> bool) -> Vec<&'static str> {
    [("conservative", Policy::CONSERVATIVE), ("permissive", Policy::PERMISSIVE)]
        .into_iter()
        .filter(|(_, policy)| allows(policy))
        .map(|(name, _)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_policy_that_makes_it() {
        for &kind in RepairKind::ALL {
            assert!(Entry::of_repair(kind).policies.contains(&"permissive"), "{kind}");
        }
    }
}
