//! Which issues of a value that does not fit are mended by rules, and which ones prevent the fit.

use std::collections::HashSet;

use jsonmend_core::Risk;

use super::{Applied, made::Fit};
use crate::{
    Issue, Rule,
    issue::{pointer_of, pointer_to},
};

/// The rules that were applied to the parts of a value, in the order of their places.
pub(super) struct Mending<'f> {
    /// The places end in a slash, so that all that is inside of one begins with it.
    applied: Vec<(String, &'f Applied)>,
    unfit: HashSet<String>,
}

impl<'f> Mending<'f> {
    pub(super) fn of(fit: &'f Fit) -> Self {
        let place = |applied: &'f Applied| (pointer_of(&applied.path) + "/", applied);
        let mut applied: Vec<_> = fit.applied.iter().map(place).collect();
        // If several rules apply at the same place, the first one stays the first.
        applied.sort_by(|a, b| a.0.cmp(&b.0));
        Self { applied, unfit: fit.unfit.iter().map(pointer_of).collect() }
    }

    /// The rule that mends what an issue is about, and the highest risk of all that it takes. `None` if there is no
    /// rule for it, or if what it is about is still not valid afterwards.
    pub(super) fn of_issue(&self, issue: &Issue) -> Option<(Rule, Risk)> {
        let place = pointer_to(issue.pointer(), issue.missing());
        // A value that is valid as a whole would have been returned.
        if place.is_empty() || self.unfit.contains(&place) {
            return None;
        }
        let inside = place + "/";
        let at = self.applied.partition_point(|(place, _)| *place < inside);
        let own = self.applied.get(at..).unwrap_or_default();
        let (_, first) = own.first().filter(|(place, _)| *place == inside)?;
        let all = own.iter().take_while(|(place, _)| place.starts_with(&inside));
        let risk = all.map(|(_, applied)| applied.risk).max()?;
        Some((first.rule, risk))
    }
}
