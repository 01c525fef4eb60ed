//! Keys that were meant for declared properties.

use jsonmend_core::Risk;

use super::{
    plan::Plan,
    walk::{Fit, Fitter, Place, applied},
};
use crate::{
    Rule,
    issue::{distance, folded},
    part::Part,
};

/// In the order in which they are tried.
const RULES: [Rule; 5] =
    [Rule::KeyNormalise, Rule::KeyAlias, Rule::KeyAttrLeak, Rule::KeyTypo, Rule::RenameSoleExtra];

/// The most pairs of a name that is not known and one that is missing which are compared. Where
/// there are more, the object is of another kind.
const PAIRS: usize = 4_096;

impl Fitter<'_> {
    /// Gives members the names of properties that are missing: one source for one target, and the
    /// value must be valid there.
    pub(super) fn rename(
        &mut self,
        plan: &mut Plan<'_>,
        part: &Part<'_>,
        place: &Place,
        whole: &mut Fit,
    ) {
        // A name that a pattern takes is no unknown name, and patterns are the validator's to match.
        if part.has_patterns() {
            return;
        }
        let closed = part.is_closed();
        for rule in RULES {
            if !self.allows(rule, place, part) {
                continue;
            }
            let targets: Vec<&str> = part
                .properties()
                .into_iter()
                .filter(|name| !plan.has(name) && (closed || part.requires(name)))
                .collect();
            let sources: Vec<usize> = (0..plan.entries.len())
                .filter(|at| plan.entries.get(*at).is_some_and(|entry| !part.declares(&entry.key)))
                .collect();
            if sources.len().saturating_mul(targets.len()) > PAIRS {
                return;
            }
            let pairs = pairs(rule, plan, part, &sources, &targets);
            for (source, target) in pairs {
                self.give(rule, plan, source, target, part, place, whole);
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one step of the loop above, named")]
    fn give(
        &mut self,
        rule: Rule,
        plan: &mut Plan<'_>,
        source: usize,
        target: &str,
        part: &Part<'_>,
        place: &Place,
        whole: &mut Fit,
    ) {
        let Some(property) = part.property(target) else { return };
        let Some(entry) = plan.entries.get_mut(source) else { return };
        let fit = self.fit(entry.member, &property, &place.member(target));
        // A name that is guessed must lead to a value that is valid without a repair.
        let most = (rule.risk() < Risk::Guess).then_some(Risk::Likely);
        if fit.valid && fit.risk() <= most {
            let below = place.member(target);
            let mut log = applied(rule, rule.risk(), &below, &property, entry.member, target);
            log.before.clone_from(&entry.key);
            if let Some(span) = entry.member.key_span() {
                (log.start, log.end) = (span.start, span.end);
            }
            whole.applied.push(log);
            target.clone_into(&mut entry.key);
            entry.renamed = Some(rule);
        }
    }
}

/// The pairs of a source and the only target it can be meant for, where it is the only one for it.
fn pairs<'s>(
    rule: Rule,
    plan: &Plan<'_>,
    part: &Part<'s>,
    sources: &[usize],
    targets: &[&'s str],
) -> Vec<(usize, &'s str)> {
    let key = |at: usize| plan.entries.get(at).map_or("", |entry| entry.key.as_str());
    if rule == Rule::RenameSoleExtra {
        let missing: Vec<&str> =
            targets.iter().copied().filter(|name| part.requires(name)).collect();
        return match (sources, missing.as_slice()) {
            ([source], [target]) => vec![(*source, *target)],
            _ => Vec::new(),
        };
    }
    let alike = |at: usize, target: &str| same(rule, key(at), target, part);
    let only = |found: Vec<usize>| match found.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    let mut pairs = Vec::new();
    for target in targets {
        let source = only(sources.iter().copied().filter(|at| alike(*at, target)).collect());
        let Some(source) = source else { continue };
        if targets.iter().filter(|other| alike(source, other)).count() == 1 {
            pairs.push((source, *target));
        }
    }
    pairs
}

fn same(rule: Rule, key: &str, target: &str, part: &Part<'_>) -> bool {
    match rule {
        Rule::KeyNormalise => {
            let bare = key.trim_matches(|c: char| c.is_whitespace() || "\"'`".contains(c));
            !folded(bare).is_empty() && folded(bare) == folded(target)
        }
        Rule::KeyAlias => part.property(target).is_some_and(|property| {
            property.aliases().iter().any(|alias| folded(alias) == folded(key))
        }),
        // Words after the name are not an attribute, which has an `=`.
        Rule::KeyAttrLeak => key.strip_prefix(target).is_some_and(|rest| {
            rest.starts_with(['"', '\'', ' ', '=', '/', '>', '\\'])
                && rest.contains(['=', '"', '>'])
        }),
        Rule::KeyTypo => {
            let near = |most| distance(&folded(key), &folded(target), most).is_some();
            target.chars().count() >= 4 && near(if target.chars().count() >= 7 { 2 } else { 1 })
        }
        _ => false,
    }
}
