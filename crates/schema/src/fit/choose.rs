//! Chooses among several valid results.

use std::cmp::Reverse;

use serde_json::Value;

use super::made::{Fit, render};
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
    /// Several different results are equally good.
    Several,
}

/// The result with the lowest risk. If several rules lead to the same value, there is no conflict.
pub(super) fn least(node: Node<'_>, found: Vec<Fit>) -> Choice {
    rank(node, found, Fit::risk)
}

/// The best branch of a union: the lowest risk, then the fewest steps, then the fewest dropped
/// properties, then the most declared properties.
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

/// The branches selected by a discriminator, which is a property that is a constant in the
/// branches. Returns all branches if there is no discriminator or it selects none.
pub(super) fn discriminated(node: Node<'_>, part: &Part<'_>, ids: &[ShapeId]) -> Vec<ShapeId> {
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
