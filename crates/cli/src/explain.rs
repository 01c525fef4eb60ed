//! `wiremend explain`: the meaning of codes.

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
};

pub(crate) fn run(args: &ExplainArgs, session: Session) -> Result<Exit, Failure> {
    let mut out = Out::new();
    let Some(code) = &args.code else {
        let repairs = RepairKind::ALL.iter().copied().map(Entry::of_repair);
        for entry in repairs.chain(Rule::ALL.iter().copied().map(Entry::of_rule)) {
            if args.json {
                out.record(&entry.object());
            } else {
                let name = session.stdout.paint(NAME, Shown::of(entry.code).padded(28));
                let risk = Shown::of(entry.risk).padded(8);
                out.line(&shown!("{}{}{}", name, risk, entry.summary));
            }
        }
        out.flush()?;
        return Ok(Exit::Unchanged);
    };
    let entry = Entry::find(code).ok_or_else(|| {
        let rules = Rule::ALL.iter().map(|rule| rule.code());
        Failure::Usage(unknown_code(code, repair_codes().chain(rules)))
    })?;
    if args.json {
        out.record(&entry.object());
    } else {
        out.line(&entry.page(session));
    }
    out.flush()?;
    Ok(Exit::Unchanged)
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
const fn meaning(risk: Risk) -> &'static str {
    match risk {
        Risk::Exact => "there is one reading, and nothing is lost",
        Risk::Likely => {
            "the reading is strongly indicated, or nothing that carries meaning changed"
        }
        Risk::Lossy => "something the input held is dropped, because JSON cannot hold it",
        Risk::Guess => "something is invented, or one of several readings was chosen: check it",
    }
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
