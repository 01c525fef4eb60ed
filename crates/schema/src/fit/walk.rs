//! Compares a value with its schema, and fits what is not valid.

use std::{collections::HashMap, rc::Rc};

use super::{
    Applied, FitOptions,
    choose::{self, Choice},
    made::{Fit, applied, render},
    permit::Permit,
    place::{DEPTH, Place, Visit},
    reshape::{self, Form, Proposal, Site},
};
use crate::{
    Cause, Change, Rule, Tree,
    coerce::LONGEST_CHOICE,
    compile::{ShapeId, Types},
    judge::Judge,
    part::Part,
    tree::{JsonType, Node},
};

/// How many forms a value may pass through, such as a string that contains a list of one string.
const FORMS: usize = 4;
/// The total size of the results that are cached.
const KEPT: usize = 1 << 17;

/// Fits one value. All work is charged to the budget of the judge, so no schema can make it grow
/// beyond a multiple of the text.
pub(crate) struct Fitter<'j, 's, 'o> {
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

impl<'j, 's, 'o> Fitter<'j, 's, 'o> {
    /// `None` if the policy allows no repair. The judge must already be set to the tree of the
    /// value.
    pub(crate) fn new(options: &'o FitOptions, judge: &'j mut Judge<'s>) -> Option<Self> {
        let permit = Permit::new(options)?;
        Some(Self { judge, permit, results: Results::default() })
    }

    pub(super) fn allows(&self, rule: Rule, place: &Place, part: &Part<'_>) -> bool {
        self.permit.allows(rule, place, part)
    }

    /// Whether a node is valid. Charges the budget.
    pub(super) fn accepts(&mut self, part: &Part<'_>, node: Node<'_>) -> bool {
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
    pub(crate) fn fit(&mut self, node: Node<'_>, part: &Part<'_>, place: &Place) -> Fit {
        if self.keeps(node, part) { Fit::clean() } else { self.unkept(node, part, place) }
    }

    /// Whether a node stays as it is, because it is valid.
    pub(super) fn keeps(&mut self, node: Node<'_>, part: &Part<'_>) -> bool {
        self.judge.spend(16);
        self.accepts(part, node)
    }

    /// Fits a node that is not valid. The recursion is bounded by the depth of a place.
    pub(super) fn unkept(&mut self, node: Node<'_>, part: &Part<'_>, place: &Place) -> Fit {
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
    fn made(&mut self, node: Node<'_>, part: &Part<'_>, place: &Place) -> Fit {
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
        match choose::least(node, found) {
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

    fn inside(&mut self, node: Node<'_>, part: &Part<'_>, place: &Place) -> Fit {
        match node.kind() {
            JsonType::Object if part.allows(JsonType::Object) => self.members(node, part, place),
            JsonType::Array if part.allows(JsonType::Array) => self.items(node, part, place),
            _ => Fit::default(),
        }
    }

    fn items(&mut self, node: Node<'_>, part: &Part<'_>, place: &Place) -> Fit {
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
    fn branches(&mut self, node: Node<'_>, part: &Part<'_>, ids: &[ShapeId], place: &Place) -> Fit {
        let takes_strings = place.takes_strings || part.allowed().has(Types::STRING);
        let ids = choose::discriminated(node, part, ids);
        let takes = |id: &&ShapeId| Part::of(part.schema(), vec![**id]).allows(node.kind());
        let is_choice = place.is_choice || ids.iter().filter(takes).count() > 1;
        let depth = place.depth + 1;
        let place = &Place { takes_strings, is_choice, depth, ..place.clone() };
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
        match choose::branch(node, found) {
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
        place: &Place,
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
