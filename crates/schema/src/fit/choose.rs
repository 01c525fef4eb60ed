//! The choice among results that are all valid.

use std::cmp::Reverse;

use serde_json::Value;

use super::walk::{Fit, render};
use crate::{
    Rule,
    compile::ShapeId,
    issue::folded,
    part::Part,
    tree::{Node, equals},
};

pub(super) enum Choice {
    None,
    One(Fit),
    /// Different results, equally good.
    Several,
}

/// The result of least risk. Rules that lead to the same value agree.
pub(super) fn least(node: Node<'_>, found: Vec<Fit>) -> Choice {
    rank(node, found, super::walk::Fit::risk)
}

/// The best branch of a union: of least risk, then with the fewest steps, with the fewest
/// properties dropped, with the most properties that it declares.
pub(super) fn branch(node: Node<'_>, found: Vec<(Fit, usize)>) -> Choice {
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

/// The branches that a discriminator points to: a property that is a constant in the branches. All
/// of them, if there is none or it points to none.
pub(super) fn discriminated(node: Node<'_>, part: &Part<'_>, ids: &[ShapeId]) -> Vec<ShapeId> {
    let branches: Vec<(ShapeId, Part<'_>)> =
        ids.iter().map(|id| (*id, Part::of(part.schema(), vec![*id]))).collect();
    let constant = |branch: &Part<'_>, key: &str| {
        branch.property(key).and_then(|property| property.constant().cloned())
    };
    for member in node.children() {
        let Some(key) = member.key() else { break };
        let told: Vec<(ShapeId, Value)> = branches
            .iter()
            .filter_map(|(id, branch)| Some((*id, constant(branch, &key)?)))
            .collect();
        let exact: Vec<ShapeId> =
            told.iter().filter(|(_, value)| equals(member, value)).map(|(id, _)| *id).collect();
        if !exact.is_empty() {
            return exact;
        }
        let own = member.as_str().map(|text| folded(&text));
        let alike = |value: &Value| value.as_str().map(folded) == own && own.is_some();
        let alike: Vec<ShapeId> =
            told.iter().filter(|(_, value)| alike(value)).map(|(id, _)| *id).collect();
        if !alike.is_empty() {
            return alike;
        }
    }
    ids.to_vec()
}
