//! The result of fitting a value: how its text changes, and which rules were applied.

use wiremend_core::{Path, Risk};

use super::{Applied, place::Place};
use crate::{Change, Rule, part::Part, tree::Node};

/// How many characters of a value the log keeps.
const KEPT: usize = 120;

/// The result of fitting a node: how its text changes, and whether it is valid afterwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fit {
    /// The changes, in offsets of the text of the node's tree; sorted and without overlaps.
    pub(crate) cuts: Vec<Change>,
    pub(crate) applied: Vec<Applied>,
    pub(crate) valid: bool,
    /// The places with two different results of equal risk.
    pub(crate) ambiguous: Vec<Path>,
    /// The places inside that no rule makes valid.
    pub(crate) unfit: Vec<Path>,
}

impl Fit {
    pub(super) fn clean() -> Self {
        Self { valid: true, ..Self::default() }
    }

    pub(super) fn risk(&self) -> Option<Risk> {
        self.applied.iter().map(|applied| applied.risk).max()
    }

    /// Adds the result of a nested value.
    pub(super) fn add(&mut self, inner: Self) {
        self.cuts.extend(inner.cuts);
        self.applied.extend(inner.applied);
        self.ambiguous.extend(inner.ambiguous);
        self.unfit.extend(inner.unfit);
    }
}

/// The text of a node after its changes.
pub(super) fn render(node: Node<'_>, cuts: &[Change]) -> String {
    let (text, span) = (node.tree().text(), node.span());
    let mut out = String::with_capacity(span.len());
    let mut at = span.start;
    for cut in cuts {
        out.push_str(text.get(at..cut.start).unwrap_or_default());
        out.push_str(&cut.after);
        at = cut.end;
    }
    out.push_str(text.get(at..span.end).unwrap_or_default());
    out
}

impl Fit {
    /// The approximate cost of copying the result.
    pub(super) fn size(&self) -> usize {
        let texts = self.cuts.iter().map(|cut| cut.after.len() / 64);
        let places = self.ambiguous.len() + self.unfit.len();
        8 * (1 + self.cuts.len() + self.applied.len() + places) + texts.sum::<usize>()
    }
}

/// The log entry for an applied rule.
pub(super) fn applied(
    rule: Rule,
    risk: Risk,
    place: &Place,
    part: &Part<'_>,
    node: Node<'_>,
    after: &str,
) -> Applied {
    let (span, path) = (node.span(), place.path());
    Applied {
        rule,
        risk: risk.max(rule.risk()),
        path,
        schema_path: part.pointer().to_owned(),
        start: span.start,
        end: span.end,
        before: shortened(node.raw()),
        after: shortened(after),
    }
}

/// The part of a value that the log keeps.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(KEPT).collect()
}
