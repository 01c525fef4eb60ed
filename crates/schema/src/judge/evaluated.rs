//! Determines which items or members have been evaluated, for `unevaluatedItems` and
//! `unevaluatedProperties`.

use std::collections::HashSet;

use super::{Judge, ScopeId};
use crate::{
    compile::{Combined, List, Object, ShapeId},
    tree::{Instance, JsonType, Node},
};

/// The positions of evaluated items or members.
pub(super) struct Evaluated {
    all: Vec<bool>,
    /// The subschemas that have been visited, each of which counts once.
    seen: HashSet<(ShapeId, ScopeId)>,
}

impl Evaluated {
    pub(super) fn holds(&self, at: usize) -> bool {
        self.all.get(at).copied().unwrap_or_default()
    }

    fn note(&mut self, at: usize) {
        if let Some(own) = self.all.get_mut(at) {
            *own = true;
        }
    }
}

impl Judge<'_> {
    /// The positions that are evaluated by a subschema and by every subschema that it applies to
    /// the same value. Its own `unevaluatedItems` and `unevaluatedProperties` do not count.
    pub(super) fn evaluated(&mut self, part: ShapeId, node: Node<'_>, scope: ScopeId) -> Evaluated {
        self.spend_bytes(node.len());
        let mut evaluated = Evaluated { all: vec![false; node.len()], seen: HashSet::new() };
        let mut open = vec![(part, scope)];
        while let Some((id, scope)) = open.pop() {
            if self.is_spent() || !evaluated.seen.insert((id, scope)) {
                continue;
            }
            self.spend(2);
            let Some(checks) = self.shapes().checks(id) else { continue };
            let scope = self.enter(scope, checks.resource);
            let outer = id != part;
            if let Some(list) = checks.list.as_deref().filter(|_| node.kind() == JsonType::Array) {
                self.items_of(list, outer, node, scope, &mut evaluated);
            }
            let object = checks.object.as_deref().filter(|_| node.kind() == JsonType::Object);
            if let Some(object) = object {
                self.members_of(object, outer, id, node, &mut evaluated);
                let there =
                    object.dependencies.iter().filter(|own| node.member(&own.name).is_some());
                open.extend(there.filter_map(|own| own.schema).map(|id| (id, scope)));
            }
            if let Some(combined) = &checks.combined {
                let asked = self.asked(combined, node, scope);
                open.extend(asked.into_iter().map(|id| (id, scope)));
            }
        }
        evaluated
    }

    /// The subschemas that `combined` applies to the same value and that accept it.
    fn asked(&mut self, combined: &Combined, node: Node<'_>, scope: ScopeId) -> Vec<ShapeId> {
        let value = Instance::Node(node);
        let mut asked: Vec<ShapeId> = Vec::new();
        asked.extend(&combined.references);
        asked.extend(&combined.all_of);
        asked.extend(combined.dynamic.iter().map(|dynamic| self.target(scope, dynamic)));
        for id in combined.any_of.iter().chain(&combined.one_of) {
            if self.valid(*id, value, scope) {
                asked.push(*id);
            }
        }
        if let Some(test) = combined.test {
            if self.valid(test, value, scope) {
                asked.push(test);
                asked.extend(combined.then);
            } else {
                asked.extend(combined.otherwise);
            }
        }
        asked
    }

    fn items_of(
        &mut self,
        list: &List,
        outer: bool,
        node: Node<'_>,
        scope: ScopeId,
        evaluated: &mut Evaluated,
    ) {
        let all = list.rest.is_some() || list.unevaluated.is_some() && outer;
        let first = if all { node.len() } else { list.prefix.len() };
        (0..first.min(node.len())).for_each(|at| evaluated.note(at));
        let Some(contains) = list.contains.as_ref().filter(|own| own.evaluates && !all) else {
            return;
        };
        for (at, item) in node.children().enumerate() {
            if !self.spend(1) {
                return;
            }
            if self.valid(contains.of, Instance::Node(item), scope) {
                evaluated.note(at);
            }
        }
    }

    fn members_of(
        &mut self,
        object: &Object,
        outer: bool,
        id: ShapeId,
        node: Node<'_>,
        evaluated: &mut Evaluated,
    ) {
        let all = object.evaluates_all || object.unevaluated.is_some() && outer;
        for (at, member) in node.children().enumerate() {
            let Some(key) = member.key() else { continue };
            if !self.spend_bytes(1 + key.len() / 16) {
                return;
            }
            let value = Instance::Node(node);
            let known = all
                || object.names.get(key.as_bytes()).property.is_some()
                || object.patterns.iter().any(|(own, _)| self.search(own, &key, id, value));
            if known {
                evaluated.note(at);
            }
        }
    }
}
