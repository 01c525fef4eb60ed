//! Fits the members of an object: renames, values, missing properties, and those that the schema rejects.
//!
//! The changes are planned member by member, and the [`Plan`] turns them into edits.

use std::ops::Range;

use wiremend_core::{Path, Risk};

use super::{
    Location,
    fitter::{Fit, TreeFitter, applied},
};
use crate::{
    Cause, Change, Rule,
    coerce::means_nothing,
    names::{distance, folded, is_comparable},
    part::Part,
    tree::{JsonType, Node, quoted},
};

impl TreeFitter<'_, '_, '_> {
    /// Fits the members in the order of the rules: first their names, then their values, then
    /// missing properties, and last the properties that the schema rejects.
    pub(super) fn members(&mut self, node: Node<'_>, part: &Part<'_>, place: &Location) -> Fit {
        let mut plan = Plan::of(node);
        let mut whole = Fit::default();
        self.rename(&mut plan, part, place, &mut whole);
        for entry in &mut plan.entries {
            self.value(entry, part, place, &mut whole);
        }
        self.fill(&mut plan, node, part, place, &mut whole);
        self.drop_unknown(&mut plan, part, place, &mut whole);
        for entry in plan.entries.iter().filter(|entry| entry.is_unfit && entry.dropped.is_none()) {
            whole.unfit.push(place.member(&entry.key).path());
        }
        whole.cuts = plan.cuts(&place.path());
        self.settle(node, part, whole)
    }

    fn value(&mut self, entry: &mut Entry<'_>, part: &Part<'_>, place: &Location, whole: &mut Fit) {
        let (member, property) = (entry.member, part.member(&entry.key));
        // Most members are valid, and have no need of a place.
        if self.keeps(member, &property) {
            return;
        }
        let below = &place.member(&entry.key);
        let mut fit = self.unkept(member, &property, below);
        let unfit = !fit.valid || fit.risk() > Some(Risk::Likely);
        // An undeclared key is data, so its member is not dropped because of its value.
        let optional = part.declares(&entry.key) && !part.requires(&entry.key);
        let absence = if unfit && optional {
            self.absence(member, &property, below)
                .filter(|rule| !fit.valid || Some(rule.risk()) < fit.risk())
        } else {
            None
        };
        if let Some(rule) = absence {
            whole.applied.push(applied(rule, rule.risk(), below, &property, member, ""));
            entry.dropped = Some(rule);
            return;
        }
        if !fit.valid
            && let Some(default) = self.default_for_null(member, &property, below)
        {
            let change = crate::Change::new(
                crate::Cause::Rule(Rule::NullToDefault),
                member.span(),
                default.clone(),
                below.path(),
            );
            let log = applied(Rule::NullToDefault, Risk::Guess, below, &property, member, &default);
            fit = Fit { cuts: vec![change], applied: vec![log], valid: true, ..Fit::default() };
        }
        entry.is_unfit = !fit.valid;
        entry.value.cuts = std::mem::take(&mut fit.cuts);
        whole.add(fit);
    }

    /// The rule that drops an optional member without a value.
    fn absence(&self, member: Node<'_>, property: &Part<'_>, place: &Location) -> Option<Rule> {
        let rule = match member.kind() {
            JsonType::Null => {
                let means = property.shapes().any(|shape| shape.keeps_null);
                (!property.allows(JsonType::Null) && !means).then_some(Rule::DropNullOptional)?
            }
            JsonType::String => {
                let word = member.as_str()?.trim().to_lowercase();
                let listed = property.options().is_some_and(|options| {
                    options.iter().filter_map(|o| o.as_str()).any(|o| o.to_lowercase() == word)
                });
                let nothing = means_nothing(&word);
                (nothing && !listed && !property.allows(JsonType::String))
                    .then_some(Rule::NullWords)?
            }
            JsonType::Object if member.len() == 0 && !property.allows(JsonType::Object) => {
                Rule::EmptyPlaceholder
            }
            _ => return None,
        };
        self.allows(rule, place, property).then_some(rule)
    }

    fn default_for_null(
        &self,
        member: Node<'_>,
        property: &Part<'_>,
        place: &Location,
    ) -> Option<String> {
        let default = property.default().filter(|_| member.is_null())?;
        self.allows(Rule::NullToDefault, place, property).then(|| default.to_string())
    }

    /// Adds missing properties whose values are known: constants first, then defaults.
    fn fill(
        &mut self,
        plan: &mut Plan<'_>,
        node: Node<'_>,
        part: &Part<'_>,
        place: &Location,
        whole: &mut Fit,
    ) {
        for key in part.required() {
            if plan.has(key) {
                continue;
            }
            let Some(property) = part.property(key) else { continue };
            let known = property.constant().map(|value| (Rule::ConstFill, value));
            let known =
                known.or_else(|| property.default().map(|value| (Rule::FillDefault, value)));
            let Some((rule, value)) = known else { continue };
            // Adding the constant that distinguishes the branches of a union is a choice between
            // them.
            let chosen = if place.is_choice { Risk::Likely } else { Risk::Exact };
            let risk = rule.risk().max(chosen);
            if self.allows(rule, place, &property) && self.permit.takes(risk) {
                let value = value.to_string();
                whole.applied.push(applied(
                    rule,
                    risk,
                    &place.member(key),
                    &property,
                    node,
                    &value,
                ));
                plan.added.push(Added { rule, risk, key: key.to_owned(), value });
            }
        }
    }

    fn drop_unknown(
        &mut self,
        plan: &mut Plan<'_>,
        part: &Part<'_>,
        place: &Location,
        whole: &mut Fit,
    ) {
        if !part.is_closed() || !self.allows(Rule::DropUnknown, place, part) {
            return;
        }
        for entry in &mut plan.entries {
            if entry.dropped.is_none() && !part.declares(&entry.key) {
                let below = place.member(&entry.key);
                let rule = Rule::DropUnknown;
                whole.applied.push(applied(rule, rule.risk(), &below, part, entry.member, ""));
                entry.dropped = Some(rule);
                entry.value.cuts.clear();
            }
        }
    }
}

/// A member that is present.
struct Entry<'t> {
    member: Node<'t>,
    /// Its new key.
    key: String,
    renamed: Option<Rule>,
    dropped: Option<Rule>,
    value: Fit,
    /// Whether no rule makes its value valid.
    is_unfit: bool,
}

/// A member to add.
struct Added {
    rule: Rule,
    risk: Risk,
    key: String,
    /// The value, as a JSON text.
    value: String,
}

/// The members of an object, with the planned changes.
struct Plan<'t> {
    object: Node<'t>,
    entries: Vec<Entry<'t>>,
    added: Vec<Added>,
}

impl<'t> Plan<'t> {
    fn of(object: Node<'t>) -> Self {
        let entry = |member: Node<'t>| Entry {
            member,
            key: member.key().unwrap_or_default().into_owned(),
            renamed: None,
            dropped: None,
            value: Fit::default(),
            is_unfit: false,
        };
        Self { object, entries: object.children().map(entry).collect(), added: Vec::new() }
    }

    /// Whether a member has this key, or will have it.
    fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.dropped.is_none() && entry.key == key)
            || self.added.iter().any(|added| added.key == key)
    }

    /// The edits, in order: keys, values, dropped members with the comma beside them, and the added
    /// members after the last one that is kept.
    fn cuts(&mut self, path: &Path) -> Vec<Change> {
        let cut = |rule: Rule, span: Range<usize>, after: String| {
            Change::new(Cause::Rule(rule), span, after, path.clone())
        };
        let start = |entry: &Entry<'_>| {
            entry.member.key_span().map_or(entry.member.span().start, |span| span.start)
        };
        let mut cuts = Vec::new();
        // The end of what has been kept so far.
        let mut end = None;
        let last_kept = self.entries.iter().rposition(|entry| entry.dropped.is_none());
        let mut at = 0;
        while let Some(entry) = self.entries.get_mut(at) {
            if let Some(rule) = entry.dropped {
                let first = start(entry);
                let run = self.entries.get(at..).unwrap_or_default();
                let rules = run.iter().map_while(|entry| entry.dropped);
                let length = rules.clone().count();
                // They form one change.
                let risk = rules.map(Rule::risk).max().unwrap_or(Risk::Exact);
                let next = self.entries.get(at + length).map(start);
                let last = self.entries.get(at + length - 1).map_or(first, |e| e.member.span().end);
                let span = match (next, end) {
                    (Some(next), _) => first..next,
                    (None, Some(end)) => end..last,
                    (None, None) => first..last,
                };
                cuts.push(cut(rule, span, String::new()).with_risk(risk));
                at += length;
                continue;
            }
            if let (Some(rule), Some(span)) = (entry.renamed, entry.member.key_span()) {
                cuts.push(cut(rule, span, quoted(&entry.key)));
            }
            cuts.append(&mut entry.value.cuts);
            end = Some(entry.member.span().end);
            at += 1;
        }
        self.add(last_kept, end, &mut cuts, &cut);
        cuts
    }

    fn add(
        &self,
        last_kept: Option<usize>,
        end: Option<usize>,
        cuts: &mut Vec<Change>,
        cut: &dyn Fn(Rule, Range<usize>, String) -> Change,
    ) {
        let Some(first) = self.added.first() else { return };
        let mut text = String::new();
        for added in &self.added {
            if last_kept.is_some() || !text.is_empty() {
                text.push_str(", ");
            }
            text.push_str(&quoted(&added.key));
            text.push_str(": ");
            text.push_str(&added.value);
        }
        // All added members form one change.
        let risk = self.added.iter().map(|added| added.risk).max().unwrap_or(Risk::Exact);
        // If the last members were dropped, the added ones replace them.
        let dropped_tail = self.entries.last().is_some_and(|entry| entry.dropped.is_some());
        match cuts.last_mut().filter(|_| dropped_tail) {
            Some(last) => {
                let dropped = last.clone();
                let (span, path) = (dropped.start..dropped.end, dropped.path.clone());
                *last = Change::new(Cause::Rule(first.rule), span, text, path)
                    .with_risk(dropped.risk().max(risk));
            }
            None => {
                let at = end.unwrap_or(self.object.span().start + 1);
                cuts.push(cut(first.rule, at..at, text).with_risk(risk));
            }
        }
    }
}

/// The rules in the order in which they are tried.
const RULES: [Rule; 5] =
    [Rule::KeyNormalise, Rule::KeyAlias, Rule::KeyAttrLeak, Rule::KeyTypo, Rule::RenameSoleExtra];

/// The most pairs of unknown and missing names that are compared. An object with more was not meant
/// for this schema.
const PAIRS: usize = 4_096;

impl TreeFitter<'_, '_, '_> {
    /// Renames members to missing properties. Each source must match exactly one target, and its
    /// value must be valid there.
    fn rename(&mut self, plan: &mut Plan<'_>, part: &Part<'_>, place: &Location, whole: &mut Fit) {
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
        place: &Location,
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
