//! Compares a value with its schema, and fits what is not valid.
//!
//! The [`TreeFitter`] walks the value and its part of the schema together. What it finds is a [`Fit`]: how the text
//! changes, and which rules were applied. Of several valid results the one with the lowest risk is chosen. Members of
//! objects are in `object.rs`, and the rules that restructure a value in `reshape.rs`.

use std::{cmp::Reverse, collections::HashMap, rc::Rc};

use serde_json::Value;
use wiremend_core::{Path, Risk};

use super::{
    Applied, DEPTH, FitOptions, Location, Permit, Visit,
    reshape::{self, Form, Proposal, Site},
};
use crate::{
    Cause, Change, Rule, Tree,
    coerce::LONGEST_CHOICE,
    compile::{ShapeId, Types},
    judge::Judge,
    names::folded,
    part::Part,
    script::Origins,
    tree::{JsonType, Node, equals, plain_integer},
};

/// How many forms a value may pass through, such as a string that contains a list of one string.
const FORMS: usize = 4;
/// The total size of the results that are cached.
const KEPT: usize = 1 << 17;

/// Fits one value. All work is charged to the budget of the judge, so no schema can make it grow
/// beyond a multiple of the text.
pub(crate) struct TreeFitter<'j, 's, 'o> {
    pub(super) judge: &'j mut Judge<'s>,
    pub(super) permit: Permit<'o>,
    results: Results,
}

/// Cached results for the values of one tree, if they took some work. Most values are fitted only
/// once, so a result is kept when the same value is fitted for the second time.
#[derive(Default)]
struct Results {
    /// `None` for a value that was fitted once.
    known: HashMap<Visit, Option<Rc<Fit>>>,
    size: usize,
}

impl<'j, 's, 'o> TreeFitter<'j, 's, 'o> {
    /// `None` if the policy allows no repair. The judge must already be set to the tree of the
    /// value.
    pub(crate) fn new(options: &'o FitOptions, judge: &'j mut Judge<'s>) -> Option<Self> {
        let permit = Permit::new(options)?;
        Some(Self { judge, permit, results: Results::default() })
    }

    pub(super) fn allows(&self, rule: Rule, place: &Location, part: &Part<'_>) -> bool {
        self.permit.allows(rule, place, part)
    }

    /// Whether a node is valid. Charges the budget.
    fn accepts(&mut self, part: &Part<'_>, node: Node<'_>) -> bool {
        part.accepts(self.judge, node)
    }

    /// Works on the tree of another text, if it is JSON.
    fn on_tree<T>(&mut self, text: &str, work: impl FnOnce(&mut Self, Node<'_>) -> T) -> Option<T> {
        if !self.judge.spend_bytes(16 + text.len()) {
            return None;
        }
        let tree = Tree::read(text).ok()?;
        let (answers, results) = (self.judge.turn_to_another(), std::mem::take(&mut self.results));
        let made = work(self, tree.root());
        self.judge.turn_back(answers);
        self.results = results;
        Some(made)
    }

    /// Fits a node to its part of the schema.
    pub(crate) fn fit(&mut self, node: Node<'_>, part: &Part<'_>, place: &Location) -> Fit {
        if self.keeps(node, part) { Fit::clean() } else { self.unkept(node, part, place) }
    }

    /// Whether a node stays as it is, because it is valid.
    pub(super) fn keeps(&mut self, node: Node<'_>, part: &Part<'_>) -> bool {
        self.judge.spend(16);
        self.accepts(part, node)
    }

    /// Fits a node that is not valid. The recursion is bounded by the depth of a place.
    pub(super) fn unkept(&mut self, node: Node<'_>, part: &Part<'_>, place: &Location) -> Fit {
        /// A result is cached if it took at least this many steps.
        const WORTH_KEEPING: u64 = 4_096;
        self.judge.spend_bytes(place.pointer.len() / 4);
        if place.depth >= DEPTH || self.judge.is_spent() {
            return Fit::default();
        }
        let visit = || place.visit(node.index(), part);
        let is_empty = self.results.known.is_empty();
        let known = if is_empty { None } else { self.results.known.get(&visit()).cloned() };
        if let Some(Some(known)) = known {
            self.judge.spend_bytes(known.size());
            return Fit::clone(&known);
        }
        let left = self.judge.left();
        let made = self.made(node, part, place);
        if left - self.judge.left() < WORTH_KEEPING || self.judge.is_spent() {
            return made;
        }
        if known.is_none() {
            self.results.known.insert(visit(), None);
        } else if self.results.size + made.size() <= KEPT {
            self.results.size += made.size();
            self.results.known.insert(visit(), Some(Rc::new(made.clone())));
        }
        made
    }

    /// The same, for a node that is not valid.
    fn made(&mut self, node: Node<'_>, part: &Part<'_>, place: &Location) -> Fit {
        let part = &part.conditioned(self.judge, node);
        let place = &place.clone().with_switches(std::slice::from_ref(part));
        if let Some(branches) = part.undecided() {
            return self.branches(node, part, branches, place);
        }
        let inside = self.inside(node, part, place);
        if inside.valid && inside.risk() <= Some(wiremend_core::Risk::Likely) {
            return inside;
        }
        let mut found = Vec::new();
        if place.forms < FORMS && self.pay_for_proposals(node, part) {
            let (name, max_risk) = (self.permit.name(), self.permit.max_risk);
            let in_sentence = self.permit.is_in_sentence() && node.parent().is_none();
            let site = Site { node, part, place, name, max_risk, in_sentence };
            for proposal in reshape::proposals(&site, self.judge) {
                if self.allows(proposal.rule, place, part) && self.permit.takes(proposal.risk) {
                    found.extend(self.realise(node, part, place, &proposal));
                }
            }
        }
        if inside.valid {
            found.push(inside.clone());
        }
        self.judge.spend_bytes(found.iter().map(Fit::size).sum());
        match least_risky(node, found) {
            Choice::One(fit) => fit,
            Choice::None => inside,
            Choice::Several => Fit { ambiguous: vec![place.path()], valid: false, ..inside },
        }
    }

    /// Charges for looking at a value in every other form: its text, its members and the
    /// properties, and the listed values.
    fn pay_for_proposals(&mut self, node: Node<'_>, part: &Part<'_>) -> bool {
        let text = node.raw().len();
        let listed = part.options().map_or(0, <[_]>::len);
        let compared = listed.saturating_mul(2) + text.min(LONGEST_CHOICE) * 4;
        let members = if node.kind() == JsonType::Object { node.len() } else { 0 };
        let declared: usize = part.shapes().map(|shape| shape.properties.len()).sum();
        self.judge.spend_bytes(64 + text / 2)
            && self.judge.spend_bytes(compared)
            && self.judge.spend_bytes(members.saturating_add(declared).saturating_mul(4))
    }

    fn inside(&mut self, node: Node<'_>, part: &Part<'_>, place: &Location) -> Fit {
        match node.kind() {
            JsonType::Object if part.allows(JsonType::Object) => self.members(node, part, place),
            JsonType::Array if part.allows(JsonType::Array) => self.items(node, part, place),
            _ => Fit::default(),
        }
    }

    fn items(&mut self, node: Node<'_>, part: &Part<'_>, place: &Location) -> Fit {
        let mut whole = Fit::default();
        for (index, item) in node.children().enumerate() {
            let part = part.item(index);
            // Most items are valid, and have no need of a place.
            if !self.keeps(item, &part) {
                let below = place.item(index);
                let fit = self.unkept(item, &part, &below);
                if !fit.valid {
                    whole.unfit.push(below.path());
                }
                whole.add(fit);
            }
        }
        self.settle(node, part, whole)
    }

    /// Checks whether a node is valid after the changes inside it.
    pub(super) fn settle(&mut self, node: Node<'_>, part: &Part<'_>, mut fit: Fit) -> Fit {
        if !fit.cuts.is_empty() {
            let text = render(node, &fit.cuts);
            let valid = self.on_tree(&text, |fitter, root| fitter.accepts(part, root));
            fit.valid = valid.unwrap_or_default();
        }
        fit
    }

    /// Fits each branch of a union separately, and chooses the best.
    fn branches(
        &mut self,
        node: Node<'_>,
        part: &Part<'_>,
        ids: &[ShapeId],
        place: &Location,
    ) -> Fit {
        let takes_strings = place.takes_strings || part.allowed().has(Types::STRING);
        let ids = discriminated(node, part, ids);
        let takes = |id: &&ShapeId| Part::of(part.schema(), vec![**id]).allows(node.kind());
        let is_choice = place.is_choice || ids.iter().filter(takes).count() > 1;
        let depth = place.depth + 1;
        let place = &Location { takes_strings, is_choice, depth, ..place.clone() };
        let mut found = Vec::new();
        let mut unfit: Option<Fit> = None;
        for id in ids {
            if !self.judge.spend(64) {
                break;
            }
            let branch = part.and(id);
            let fit = self.fit(node, &branch, place);
            if fit.valid {
                let known = node.children().filter_map(|child| child.key());
                let matched = known.filter(|key| branch.declares(key)).count();
                found.push((fit, matched));
            } else if unfit.as_ref().is_none_or(|other| other.applied.len() < fit.applied.len()) {
                unfit = Some(fit);
            }
        }
        match best_branch(node, found) {
            Choice::One(fit) => fit,
            Choice::None => unfit.unwrap_or_default(),
            Choice::Several => Fit { ambiguous: vec![place.path()], ..Fit::default() },
        }
    }

    /// Applies a proposal and fits the result. `None` if the result is not valid.
    fn realise(
        &mut self,
        node: Node<'_>,
        part: &Part<'_>,
        place: &Location,
        proposal: &Proposal<'_, '_>,
    ) -> Option<Fit> {
        let (rule, span) = (proposal.rule, node.span());
        let cut = |span, after: &str| {
            Change::new(Cause::Rule(rule), span, after, place.path()).with_risk(proposal.risk)
        };
        let mut fit = match &proposal.form {
            Form::Text(text) => {
                let fitted = self.on_tree(text, |fitter, root| {
                    let inner = fitter.fit(root, part, &place.reshaped());
                    let text = render(root, &inner.cuts);
                    (inner, text)
                });
                let (inner, text) = fitted?;
                // All edits to the text form one change.
                let risk = inner.risk().unwrap_or(proposal.risk);
                let applied = inner.applied.into_iter().map(|applied| Applied {
                    start: span.start,
                    end: span.end,
                    ..applied
                });
                Fit {
                    cuts: vec![cut(span.clone(), &text).with_risk(risk)],
                    applied: applied.collect(),
                    valid: inner.valid,
                    ..Fit::default()
                }
            }
            Form::Inner(inner) => {
                let kept = inner.span();
                let inner = self.fit(*inner, part, &place.reshaped());
                let mut cuts = vec![cut(span.start..kept.start, "")];
                cuts.extend(inner.cuts);
                cuts.push(cut(kept.end..span.end, ""));
                Fit { cuts, ..inner }
            }
            Form::Wrapped { before, after, part: inner_part, key } => {
                let below = match key {
                    Some(key) => place.member(key),
                    None => place.item(0),
                };
                let inner = self.fit(node, inner_part, &below.reshaped());
                if !inner.valid {
                    return None;
                }
                let mut cuts = vec![cut(span.start..span.start, before)];
                cuts.extend(inner.cuts);
                cuts.push(cut(span.end..span.end, after));
                self.settle(node, part, Fit { cuts, ..inner })
            }
        };
        let cap = proposal.cap.is_none_or(|cap| fit.risk() <= Some(cap));
        if !fit.valid || !cap {
            return None;
        }
        let after = render(node, &fit.cuts);
        fit.applied.insert(0, applied(proposal.rule, proposal.risk, place, part, node, &after));
        Some(fit)
    }
}

/// How many characters of a value the log keeps.
const LOGGED: usize = 120;

/// The result of fitting a node: how its text changes, and whether it is valid afterwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fit {
    /// The changes, in offsets of the text of the node's tree; sorted and without overlaps.
    pub(super) cuts: Vec<Change>,
    pub(crate) applied: Vec<Applied>,
    pub(crate) valid: bool,
    /// The places with two different results of equal risk.
    pub(super) ambiguous: Vec<Path>,
    /// The places inside that no rule makes valid.
    pub(super) unfit: Vec<Path>,
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
fn render(node: Node<'_>, cuts: &[Change]) -> String {
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
    fn size(&self) -> usize {
        let texts = self.cuts.iter().map(|cut| cut.after.len() / 64);
        let places = self.ambiguous.len() + self.unfit.len();
        8 * (1 + self.cuts.len() + self.applied.len() + places) + texts.sum::<usize>()
    }
}

/// The log entry for an applied rule.
pub(super) fn applied(
    rule: Rule,
    risk: Risk,
    place: &Location,
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
    text.chars().take(LOGGED).collect()
}

enum Choice {
    None,
    One(Fit),
    /// Several different results are equally good.
    Several,
}

/// The result with the lowest risk. If several rules lead to the same value, there is no conflict.
fn least_risky(node: Node<'_>, found: Vec<Fit>) -> Choice {
    rank(node, found, Fit::risk)
}

/// The best branch of a union: the lowest risk, then the fewest steps, then the fewest dropped
/// properties, then the most declared properties.
fn best_branch(node: Node<'_>, found: Vec<(Fit, usize)>) -> Choice {
    let dropped =
        |fit: &Fit| fit.applied.iter().filter(|applied| applied.rule == Rule::DropUnknown).count();
    let key = |(fit, matched): &(Fit, usize)| {
        (fit.risk(), fit.applied.len(), dropped(fit), Reverse(*matched))
    };
    let Some(best) = found.iter().map(key).min() else { return Choice::None };
    let of_best = found.into_iter().filter(|entry| key(entry) == best).map(|(fit, _)| fit);
    rank(node, of_best.collect(), |_| ())
}

fn rank<K: Ord>(node: Node<'_>, found: Vec<Fit>, key: impl Fn(&Fit) -> K) -> Choice {
    let Some(best) = found.iter().map(&key).min() else { return Choice::None };
    let mut of_best = found.into_iter().filter(|fit| key(fit) == best);
    let Some(first) = of_best.next() else { return Choice::None };
    let value =
        |fit: &Fit| -> Option<Value> { serde_json::from_str(&render(node, &fit.cuts)).ok() };
    let mut others = of_best.peekable();
    if others.peek().is_some() {
        let own = value(&first);
        if others.any(|other| value(&other) != own) {
            return Choice::Several;
        }
    }
    Choice::One(first)
}

/// The branches selected by a discriminator, which is a property that is a constant in the
/// branches. Returns all branches if there is no discriminator or it selects none.
fn discriminated(node: Node<'_>, part: &Part<'_>, ids: &[ShapeId]) -> Vec<ShapeId> {
    let mut constants: Vec<(&str, Vec<(ShapeId, &Value)>)> = Vec::new();
    for id in ids {
        let branch = Part::of(part.schema(), vec![*id]);
        for key in branch.properties() {
            let Some(value) = branch.property(key).and_then(|property| property.constant()) else {
                continue;
            };
            match constants.iter_mut().find(|(own, _)| *own == key) {
                Some((_, constant_in)) => constant_in.push((*id, value)),
                None => constants.push((key, vec![(*id, value)])),
            }
        }
    }
    for (key, constant_in) in &constants {
        let Some(member) = node.member(key) else { continue };
        let pointed = |same: &dyn Fn(&Value) -> bool| -> Vec<ShapeId> {
            constant_in.iter().filter(|(_, value)| same(value)).map(|(id, _)| *id).collect()
        };
        let own = member.as_str().map(|text| folded(&text));
        let exact = pointed(&|value| equals(member, value));
        let alike = pointed(&|value| own.is_some() && value.as_str().map(folded) == own);
        if let Some(found) = [exact, alike].into_iter().find(|found| !found.is_empty()) {
            return found;
        }
    }
    ids.to_vec()
}

/// The most readings of one value through the unions of a schema. A value with more is left alone.
const WAYS: usize = 32;

/// A container of such a number, the subschemas that it is valid for, and its place.
type Open<'t, 's> = (Node<'t>, Vec<Part<'s>>, Location);

/// A valid text whose whole numbers are rewritten as digits.
pub(super) struct Spelled {
    pub(super) text: String,
    /// The changes, in offsets of the text before rewriting.
    pub(super) cuts: Vec<Change>,
    applied: Vec<Applied>,
}

impl Spelled {
    /// `None` if there is nothing to change, or the schema does not accept both spellings.
    pub(super) fn of(text: &str, judge: &mut Judge<'_>, options: &FitOptions) -> Option<Self> {
        let tree = Tree::read(text).ok()?;
        tree.loose_integers().next()?;
        let other = judge.turn_to_another();
        let fit = TreeFitter::new(options, judge).map(|mut fitter| fitter.integers(&tree));
        judge.turn_back(other);
        let fit = fit?;
        let spelled = crate::apply_changes(text.as_bytes(), &fit.cuts)?;
        let mut valid = || Tree::read(&spelled).is_ok_and(|tree| judge.accepts_whole(&tree));
        if fit.cuts.is_empty() || !valid() {
            return None;
        }
        Some(Self { text: spelled, cuts: fit.cuts, applied: fit.applied })
    }

    /// The applied rules, with their positions in the input. `changes` is the script that led from
    /// the input to the text.
    pub(super) fn placed(&self, changes: &[Change]) -> Vec<Applied> {
        let mut origins = Origins::new(changes);
        let placed = self.applied.iter().map(|applied| {
            let span = origins.of(&(applied.start..applied.end));
            Applied { start: span.start, end: span.end, ..applied.clone() }
        });
        placed.collect()
    }
}

impl TreeFitter<'_, '_, '_> {
    /// The changes to the numbers of a valid value, in document order. In a union, every branch
    /// that accepts the value must accept only whole numbers there.
    fn integers(&mut self, tree: &Tree<'_>) -> Fit {
        let schema = self.judge.schema();
        let mut fit = Fit::clean();
        let loose: Vec<usize> = tree.loose_integers().map(|node| node.span().start).collect();
        if loose.is_empty() {
            return fit;
        }
        let holds = |node: Node<'_>| {
            let span = node.span();
            let next = loose.get(loose.partition_point(|at| *at < span.start));
            next.is_some_and(|at| *at < span.end)
        };
        let mut open: Vec<Open<'_, '_>> = Vec::new();
        self.integer(tree.root(), vec![Part::root(schema)], Location::root(), &mut open, &mut fit);
        while let Some((node, ways, place)) = open.pop() {
            for (index, child) in node.children().enumerate().filter(|(_, child)| holds(*child)) {
                let mut parts: Vec<Part<'_>> = Vec::new();
                let below = match child.key() {
                    Some(key) => {
                        parts.extend(ways.iter().flat_map(|way| way.members(&key)));
                        place.member(&key)
                    }
                    None => {
                        parts.extend(ways.iter().map(|way| way.item(index)));
                        place.item(index)
                    }
                };
                // If patterns may give a member several places, only those that accept it.
                if parts.len() > ways.len() {
                    parts.retain(|part| self.accepts(part, child));
                }
                self.integer(child, parts, below, &mut open, &mut fit);
            }
        }
        fit.cuts.sort_by_key(|cut| cut.start);
        fit.applied.sort_by_key(|applied| applied.start);
        fit
    }

    /// Handles one value that is, or contains, such a number.
    fn integer<'t, 's>(
        &mut self,
        node: Node<'t>,
        parts: Vec<Part<'s>>,
        place: Location,
        open: &mut Vec<Open<'t, 's>>,
        fit: &mut Fit,
    ) {
        let Some(ways) = self.ways(node, parts) else { return };
        let place = place.with_switches(&ways);
        if node.is_container() {
            if place.depth < DEPTH {
                open.push((node, ways, place));
            }
            return;
        }
        let whole_only = ways.iter().all(|way| way.allowed().is_whole_only());
        let rule = Rule::IntegralFloat;
        let allowed = |part: &Part<'_>| self.allows(rule, &place, part);
        let Some(part) = ways.first().filter(|part| whole_only && allowed(part)) else { return };
        let Some(digits) = plain_integer(node.raw()) else { return };
        fit.applied.push(applied(rule, Risk::Exact, &place, part, node, &digits));
        fit.cuts.push(Change::new(Cause::Rule(rule), node.span(), digits, place.path()));
    }

    /// The readings through unions and conditions in which a value is valid. `None` if there are
    /// too many, or none.
    fn ways<'s>(&mut self, node: Node<'_>, parts: Vec<Part<'s>>) -> Option<Vec<Part<'s>>> {
        let (mut open, mut ways) = (parts, Vec::new());
        let mut steps = 0;
        while let Some(part) = open.pop() {
            steps += 1;
            if steps > 2 * WAYS || open.len() + ways.len() >= WAYS || !self.judge.spend(8) {
                return None;
            }
            let part = part.conditioned(self.judge, node);
            match part.undecided() {
                Some(branches) => {
                    for id in branches {
                        if self.accepts(&Part::of(part.schema(), vec![*id]), node) {
                            open.push(part.and(*id));
                        }
                    }
                }
                None if ways.iter().any(|way: &Part<'_>| way.is_same(&part)) => {}
                None => ways.push(part),
            }
        }
        (!ways.is_empty()).then_some(ways)
    }
}
