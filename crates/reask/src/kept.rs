//! Compares a value that the model sent again with what it should have kept.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use wiremend_core::JsonType;
use wiremend_schema::{Node, Tree};

/// How a whole value differs from the one it replaces, apart from the parts that were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// A part is missing.
    pub(crate) lacks: bool,
    /// A part that both have is another one.
    pub(crate) contradicts: bool,
}

/// Compares `sent` with `base`. The parts at `asked`, which are JSON Pointers, may differ or be missing; those at
/// `repaired` may differ, because they are not valid as they are.
pub(crate) fn difference<'p>(
    base: &Tree<'_>,
    sent: &Tree<'_>,
    asked: impl Iterator<Item = &'p str>,
    repaired: impl Iterator<Item = &'p str>,
) -> Difference {
    let place = |pointer: &str| base.at(pointer).map(|node| node.span().start);
    let asked: HashSet<usize> = asked.filter_map(place).collect();
    let repaired: HashSet<usize> = repaired.filter_map(place).collect();
    let mut found = Difference::default();
    let mut left = vec![(base.root(), sent.root())];
    while let Some((base, sent)) = left.pop() {
        if asked.contains(&base.span().start) || repaired.contains(&base.span().start) {
            continue;
        }
        if base.kind() != sent.kind() && (base.is_container() || sent.is_container()) {
            found = Difference { lacks: true, contradicts: true };
            continue;
        }
        match base.kind() {
            JsonType::Object => {
                let members: HashMap<Cow<'_, str>, Node<'_>> =
                    sent.children().filter_map(|child| Some((child.key()?, child))).collect();
                for child in base.children() {
                    let sent = child.key().and_then(|key| members.get(&key));
                    match sent {
                        Some(sent) => left.push((child, *sent)),
                        None => found.lacks |= !asked.contains(&child.span().start),
                    }
                }
            }
            JsonType::Array => {
                found.lacks |= sent.len() < base.len();
                found.contradicts |= sent.len() != base.len();
                left.extend(base.children().zip(sent.children()));
            }
            JsonType::String => found.contradicts |= base.as_str() != sent.as_str(),
            _ => found.contradicts |= base.raw() != sent.raw(),
        }
    }
    found
}
