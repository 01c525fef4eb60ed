//! Rewrites whole numbers that have a fraction of zeros, an exponent or the sign of `-0`, if the
//! schema accepts only whole numbers.
//!
//! JSON Schema calls `3.0` an integer, but most programs that read JSON do not, so it becomes `3`.

use wiremend_core::Risk;

use super::{
    Applied, FitOptions,
    made::{Fit, applied},
    place::{DEPTH, Place},
    walk::Fitter,
};
use crate::{
    Cause, Change, Rule,
    judge::Judge,
    part::Part,
    script::Origins,
    tree::{Node, Tree, plain_integer},
};

/// The most readings of one value through the unions of a schema. A value with more is left alone.
const WAYS: usize = 32;

/// A container of such a number, the subschemas that it is valid for, and its place.
type Open<'t, 's> = (Node<'t>, Vec<Part<'s>>, Place);

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
        let fit = Fitter::new(options, judge).map(|mut fitter| fitter.integers(&tree));
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

impl Fitter<'_, '_, '_> {
    /// The changes to the numbers of a valid value, in document order. In a union, every branch
    /// that accepts the value must accept only whole numbers there.
    pub(super) fn integers(&mut self, tree: &Tree<'_>) -> Fit {
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
        self.integer(tree.root(), vec![Part::root(schema)], Place::root(), &mut open, &mut fit);
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
        place: Place,
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
