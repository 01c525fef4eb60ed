//! Which issues of a value that does not fit are mended by rules, and which ones prevent the fit.

use std::collections::{BTreeSet, HashMap, HashSet};

use wiremend_core::{Risk, Step};

use super::made::Fit;
use crate::{Issue, Rule};

/// For the places of issues, the rule that was applied there, and the highest risk of all that were applied there and
/// inside. There are many more applied rules than issues.
pub(super) struct Mending<'f> {
    places: HashMap<Vec<Step>, (Option<Rule>, Risk)>,
    unfit: HashSet<&'f [Step]>,
}

impl<'f> Mending<'f> {
    pub(super) fn of(fit: &'f Fit, issues: &[Issue]) -> Self {
        let mut places: HashMap<_, _> =
            issues.iter().map(|issue| (place(issue), (None, Risk::Exact))).collect();
        // A value that is valid as a whole would have been returned.
        places.remove([].as_slice());
        let lengths: BTreeSet<usize> = places.keys().map(Vec::len).collect();
        for applied in &fit.applied {
            let steps = applied.path.steps();
            for length in lengths.iter().take_while(|length| **length <= steps.len()) {
                let outer = steps.get(..*length).unwrap_or_default();
                let Some((rule, risk)) = places.get_mut(outer) else { continue };
                *risk = applied.risk.max(*risk);
                // If several rules apply at the same place, the first one is named.
                if *length == steps.len() {
                    rule.get_or_insert(applied.rule);
                }
            }
        }
        Self { places, unfit: fit.unfit.iter().map(wiremend_core::Path::steps).collect() }
    }

    /// The rule that mends what an issue is about, and the highest risk of all that it takes. `None` if there is no
    /// rule for it, or if what it is about is still not valid afterwards.
    pub(super) fn of_issue(&self, issue: &Issue) -> Option<(Rule, Risk)> {
        let place = place(issue);
        let (rule, risk) = self.places.get(&place)?;
        let is_unfit = self.unfit.contains(place.as_slice());
        rule.filter(|_| !is_unfit).map(|rule| (rule, *risk))
    }
}

/// The place of the value that an issue is about, which may be missing.
fn place(issue: &Issue) -> Vec<Step> {
    let missing = issue.missing().map(|name| Step::Key(name.into()));
    issue.path().steps().iter().cloned().chain(missing).collect()
}
