//! Renames keys that were meant to be declared properties.

use wiremend_core::Risk;

use super::{
    made::{Fit, applied},
    place::Place,
    plan::Plan,
    walk::Fitter,
};
use crate::{
    Rule,
    issue::{distance, folded, is_comparable},
    part::Part,
};

/// The rules in the order in which they are tried.
const RULES: [Rule; 5] =
    [Rule::KeyNormalise, Rule::KeyAlias, Rule::KeyAttrLeak, Rule::KeyTypo, Rule::RenameSoleExtra];

/// The most pairs of unknown and missing names that are compared. An object with more was not meant
/// for this schema.
const PAIRS: usize = 4_096;

impl Fitter<'_, '_, '_> {
    /// Renames members to missing properties. Each source must match exactly one target, and its
    /// value must be valid there.
    pub(super) fn rename(
        &mut self,
        plan: &mut Plan<'_>,
        part: &Part<'_>,
        place: &Place,
        whole: &mut Fit,
    ) {
        // A key that matches a pattern is not unknown, and only the validator matches patterns.
        if part.has_patterns() {
            return;
        }
        let closed = part.is_closed();
        for rule in RULES {
            if !self.allows(rule, place, part) {
                continue;
            }
            let sources: Vec<usize> = (0..plan.entries.len())
                .filter(|at| plan.entries.get(*at).is_some_and(|entry| !part.declares(&entry.key)))
                .collect();
            if sources.is_empty() {
                return;
            }
            let targets: Vec<&str> = part
                .properties()
                .into_iter()
                .filter(|name| !plan.has(name) && (closed || part.requires(name)))
                .collect();
            if sources.len().saturating_mul(targets.len()) > PAIRS {
                return;
            }
            let compared = sources.len().saturating_mul(targets.len());
            if !self.judge.spend_bytes(compared.saturating_mul(8)) {
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
        // A guessed name requires a value that is valid without repair.
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

/// A name, with the forms in which it is compared.
struct Named<'n> {
    name: &'n str,
    /// Empty for a name that is too long to be a variant of another.
    folded: String,
}

impl<'n> Named<'n> {
    fn new(name: &'n str) -> Self {
        let folded = if is_comparable(name) { folded(name) } else { String::new() };
        Self { name, folded }
    }
}

/// The pairs of a source and a target that match only each other.
fn pairs<'s>(
    rule: Rule,
    plan: &Plan<'_>,
    part: &Part<'s>,
    sources: &[usize],
    targets: &[&'s str],
) -> Vec<(usize, &'s str)> {
    if rule == Rule::RenameSoleExtra {
        let missing: Vec<&str> =
            targets.iter().copied().filter(|name| part.requires(name)).collect();
        return match (sources, missing.as_slice()) {
            ([source], [target]) => vec![(*source, *target)],
            _ => Vec::new(),
        };
    }
    let key = |at: &usize| plan.entries.get(*at).map_or("", |entry| entry.key.as_str());
    let keys: Vec<Named<'_>> =
        sources.iter().map(|at| Named::new(spelled(rule, key(at)))).collect();
    let names: Vec<Named<'_>> = targets.iter().map(|name| Named::new(name)).collect();
    let aliases: Vec<Vec<String>> = match rule {
        Rule::KeyAlias => targets.iter().map(|name| aliases(part, name)).collect(),
        _ => vec![Vec::new(); targets.len()],
    };
    // The sources that resemble each target.
    let alike = |at: usize| -> Vec<usize> {
        let (Some(target), Some(aliases)) = (names.get(at), aliases.get(at)) else {
            return Vec::new();
        };
        let same = |(_, key): &(usize, &Named<'_>)| same(rule, key, target, aliases);
        keys.iter().enumerate().filter(same).map(|(source, _)| source).collect()
    };
    let found: Vec<Vec<usize>> = (0..targets.len()).map(alike).collect();
    let mut takers = vec![0_usize; sources.len()];
    for source in found.iter().flatten() {
        if let Some(count) = takers.get_mut(*source) {
            *count += 1;
        }
    }
    let mut pairs = Vec::new();
    for (target, found) in targets.iter().zip(&found) {
        if let [only] = found.as_slice()
            && takers.get(*only) == Some(&1)
            && let Some(source) = sources.get(*only)
        {
            pairs.push((*source, *target));
        }
    }
    pairs
}

/// A key without the characters that a rule ignores.
fn spelled(rule: Rule, key: &str) -> &str {
    match rule {
        Rule::KeyNormalise => key.trim_matches(|c: char| c.is_whitespace() || "\"'`".contains(c)),
        _ => key,
    }
}

/// The folded aliases of a property.
fn aliases(part: &Part<'_>, name: &str) -> Vec<String> {
    let property = part.property(name);
    let aliases = property.iter().flat_map(Part::aliases);
    aliases.filter(|alias| is_comparable(alias)).map(folded).collect()
}

fn same(rule: Rule, key: &Named<'_>, target: &Named<'_>, aliases: &[String]) -> bool {
    let comparable = is_comparable(key.name) && is_comparable(target.name);
    match rule {
        Rule::KeyNormalise => comparable && !key.folded.is_empty() && key.folded == target.folded,
        Rule::KeyAlias => is_comparable(key.name) && aliases.contains(&key.folded),
        // Words after the name are not an attribute, because an attribute has an `=`.
        Rule::KeyAttrLeak => key.name.strip_prefix(target.name).is_some_and(|rest| {
            rest.starts_with(['"', '\'', ' ', '=', '/', '>', '\\'])
                && rest.contains(['=', '"', '>'])
        }),
        Rule::KeyTypo => {
            let length = target.name.chars().count();
            let most = if length >= 7 { 2 } else { 1 };
            comparable && length >= 4 && distance(&key.folded, &target.folded, most).is_some()
        }
        _ => false,
    }
}
