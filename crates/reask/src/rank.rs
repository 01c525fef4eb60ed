//! How near an answer is to a valid one.

use core::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::Value;
use wiremend_core::{Risk, Step};
use wiremend_schema::{Issue, IssueCode, Node, Tree};

use crate::subschema::{Child, child};

/// How near an answer is to a valid one. The lower one is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rank {
    pub(crate) form: Form,
    /// How many single values are good. Those that the schema does not know do not count.
    good: u64,
    pub(crate) issues: u64,
}

/// What kind of answer it is, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    Whole,
    Cut,
    /// Nothing in it is good.
    Empty,
    /// JSON of another type than the schema asks for, or the schema itself.
    Other,
    NoJson,
}

impl Rank {
    pub(crate) fn of(source: &Value, json: Option<&str>, issues: &[Issue], is_cut: bool) -> Self {
        let is_other = |issue: &Issue| {
            let codes = [IssueCode::Type, IssueCode::SchemaEcho, IssueCode::Overflow];
            issue.pointer().is_empty() && codes.contains(&issue.code())
        };
        let tree = json.and_then(|json| Tree::read(json).ok());
        // What repair mends is as good as what was right. If it mends all there is, there is another reason why the
        // whole does not fit.
        let wrong: Vec<&Issue> = issues.iter().filter(|issue| !is_mended(issue)).collect();
        let wrong = if wrong.is_empty() { issues.iter().collect() } else { wrong };
        let (form, good) = match tree {
            None => (Form::NoJson, 0),
            Some(_) if issues.iter().any(is_other) => (Form::Other, 0),
            Some(tree) => {
                let good = good(source, Some(source), tree.root(), Some(&Marks::of(&wrong)));
                match (good, is_cut) {
                    (0, _) if !issues.is_empty() => (Form::Empty, 0),
                    (good, true) => (Form::Cut, good),
                    (good, false) => (Form::Whole, good),
                }
            }
        };
        Self { form, good, issues: u64::try_from(wrong.len()).unwrap_or(u64::MAX) }
    }

    /// Whether there is less to correct than in the other answer: what the loop takes for progress.
    pub(crate) fn is_progress(&self, other: &Self) -> bool {
        self < other && (self.form < other.form || self.issues < other.issues)
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of the values that there should be, the share of those that are good. A short answer has few
        // issues, and an answer to another question has none but for what is missing.
        let share = |own: &Self, other: &Self| {
            u128::from(own.good) * (u128::from(other.good) + u128::from(other.issues))
        };
        let by_share = || share(other, self).cmp(&share(self, other));
        self.form.cmp(&other.form).then_with(by_share).then_with(|| self.issues.cmp(&other.issues))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether repair mends what an issue is about as soon as the rest fits, and more than guesses it.
pub(crate) fn is_mended(issue: &Issue) -> bool {
    issue.mended_by().is_some_and(|(_, risk)| risk <= Risk::Likely)
}

/// The places that issues are about.
#[derive(Debug, Default)]
struct Marks {
    is_wrong: bool,
    below: BTreeMap<String, Marks>,
}

impl Marks {
    fn of(issues: &[&Issue]) -> Self {
        let mut all = Self::default();
        // What is missing has no value, and the object that it is missing in may be good otherwise.
        for issue in issues.iter().filter(|issue| issue.missing().is_none()) {
            let mut place = &mut all;
            for step in issue.path().steps() {
                let step = match step {
                    Step::Key(key) => key.to_string(),
                    Step::Index(index) => index.to_string(),
                };
                place = place.below.entry(step).or_default();
            }
            // Of the whole, only the type says that nothing in it is of use.
            place.is_wrong = !issue.path().steps().is_empty();
        }
        all
    }
}

/// The depth is that of the tree, which is limited. Without a schema, every value is known.
fn good(root: &Value, schema: Option<&Value>, node: Node<'_>, marks: Option<&Marks>) -> u64 {
    if marks.is_some_and(|marks| marks.is_wrong) {
        return 0;
    }
    if !node.is_container() {
        return 1;
    }
    let marks = marks.filter(|marks| !marks.below.is_empty());
    let mut all = 0u64;
    for (index, own) in node.children().enumerate() {
        let step = match own.key() {
            Some(key) => Step::Key(key.as_ref().into()),
            None => Step::Index(index),
        };
        let inner = match schema.map(|schema| child(root, schema, &step)) {
            None | Some(Child::Unknown) => None,
            Some(Child::Described(schema)) => Some(schema),
            Some(Child::Undeclared) => continue,
        };
        let below = marks.and_then(|marks| match &step {
            Step::Key(key) => marks.below.get(&**key),
            Step::Index(index) => marks.below.get(&index.to_string()),
        });
        all = all.saturating_add(good(root, inner, own, below));
    }
    all
}

#[cfg(test)]
mod tests {
    use wiremend_schema::{FitOptions, Schema};

    use super::*;

    const TRIP: &str = r#"{"type": "object", "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "stops": {"type": "array", "items": {"type": "string"}}
    }, "required": ["days"]}"#;

    fn rank(text: &str) -> Rank {
        let schema = Schema::from_text(TRIP).unwrap_or_else(|e| panic!("{e}"));
        let fitted = schema.fit(text.as_bytes(), &FitOptions::new());
        let json = fitted.mended().or(fitted.text());
        Rank::of(schema.source(), json, fitted.issues(), fitted.cut_at().is_some())
    }

    #[test]
    fn what_holds_more_of_what_was_asked_for_is_nearer() {
        // From the best to the worst.
        let texts = [
            r#"{"city": "Oslo", "stops": ["Voss", "Gol"], "days": "a few"}"#,
            r#"{"city": "Oslo", "days": "a few"}"#,
            r#"{"city": "Oslo", "stops": [{}, {}], "days": "a few"}"#,
            r#"{"city": "Oslo", "stops": ["Vo"#,
            r#"{"state": "fine", "code": 7}"#,
            "[1, 2, 3]",
            "I do not know.",
        ];
        let ranks = texts.map(rank);
        for (pair, texts) in ranks.windows(2).zip(texts.windows(2)) {
            assert!(pair[0] < pair[1], "{texts:?} {pair:?}");
        }
        // What repair mends once the rest fits is as good as what is right, and correcting it is no progress.
        let mended = rank(r#"{"city": "Oslo", "stops": "[\"Voss\", \"Gol\"]", "days": "a few"}"#);
        assert!(mended < ranks[1] && !ranks[0].is_progress(&mended));
        assert_eq!(rank(r#"{"city": 7, "days": "a few"}"#), ranks[1]);
        // One issue fewer is progress, and one good value more is none.
        assert!(rank(texts[1]).is_progress(&rank(texts[2])));
        assert!(!rank(texts[0]).is_progress(&rank(texts[1])));
        assert_eq!(
            rank(texts[1]).cmp(&rank(r#"{"city": "Bergen", "days": "some"}"#)),
            Ordering::Equal
        );
    }
}
