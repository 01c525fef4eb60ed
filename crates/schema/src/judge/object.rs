//! Checks the keywords for objects.

use super::{Judge, Problem, What, check::Site, problem::Sink};
use crate::{
    compile::Object,
    tree::{Instance, Node},
};

impl<'s> Judge<'s> {
    pub(super) fn object<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s Object,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let (value, count) = (Instance::Node(node), node.len() as u64);
        let enough = checks.least.is_none_or(|least| count >= least);
        go_on!(enough || Self::report(site, value, What::MinProperties, sink));
        let few = checks.most.is_none_or(|most| count <= most);
        go_on!(few || Self::report(site, value, What::MaxProperties, sink));
        go_on!(self.members(site, checks, node, sink));
        for dependency in &checks.dependencies {
            go_on!(self.spend(1 + count / 4));
            if node.member(&dependency.name).is_none() {
                continue;
            }
            for name in &dependency.required {
                go_on!(self.spend(1 + count / 4));
                let what = What::Required(dependency.keyword, name);
                go_on!(node.member(name).is_some() || Self::report(site, value, what, sink));
            }
            if let Some(id) = dependency.schema {
                go_on!(self.ask(id, value, site.scope, sink));
            }
        }
        true
    }

    /// Checks the members one by one, and then the required members.
    fn members<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s Object,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let mut given = Given::new(checks.required.len());
        let mut unexpected = Vec::new();
        // Members usually come in the order of the schema.
        let mut next = 0;
        for member in node.children() {
            let decoded;
            let key = match member.plain_key() {
                Some(key) => key,
                None => {
                    decoded = member.key().unwrap_or_default();
                    decoded.as_bytes()
                }
            };
            go_on!(self.spend_bytes(1 + key.len() / 16));
            let found = checks.names.find(key, next);
            next = found.map_or(next, |at| at + 1);
            let known = checks.names.name(found);
            if let Some(at) = known.required {
                given.note(at);
            }
            if let Some(names) = checks.property_names {
                let name = member.key().unwrap_or_default();
                let right = self.valid(names, Instance::Name(&name), site.scope);
                go_on!(right || Self::report(site, Instance::Node(node), What::Names, sink));
            }
            let mut declared = known.property.is_some();
            if let Some(id) = known.property {
                go_on!(self.ask(id, Instance::Node(member), site.scope, sink));
            }
            for (pattern, id) in &checks.patterns {
                let name = member.key().unwrap_or_default();
                if self.search(pattern, &name, site.part, Instance::Node(node)) {
                    declared = true;
                    go_on!(self.ask(*id, Instance::Node(member), site.scope, sink));
                }
            }
            let Some(further) = checks.further.filter(|_| !declared) else { continue };
            if !checks.is_closed {
                go_on!(self.ask(further, Instance::Node(member), site.scope, sink));
            } else if S::FIRST {
                return false;
            } else {
                go_on!(self.spend(8));
                unexpected.push(member);
            }
        }
        go_on!(Self::refuse(site, node, "additionalProperties", unexpected, sink));
        given.is_complete()
            || given.missing().all(|at| {
                let Some(name) = checks.required.get(at) else { return true };
                let what = What::Required("required", name);
                self.spend(1) && Self::report(site, Instance::Node(node), what, sink)
            })
    }

    /// Reports members that the schema rejects, if there are any.
    pub(super) fn refuse<'t, S: Sink<'s, 't>>(
        site: Site,
        node: Node<'t>,
        keyword: &'static str,
        members: Vec<Node<'t>>,
        sink: &mut S,
    ) -> bool {
        let Site { part, scope } = site;
        let what = What::Unexpected(keyword);
        members.is_empty() || sink.report(Problem { node, part, scope, what, members })
    }

    pub(super) fn unevaluated_members<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s Object,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let Some(id) = checks.unevaluated else { return true };
        let evaluated = self.evaluated(site.part, node, site.scope);
        let mut unexpected = Vec::new();
        for (at, member) in node.children().enumerate() {
            go_on!(self.spend(1));
            if !evaluated.holds(at) && !self.valid(id, Instance::Node(member), site.scope) {
                go_on!(!S::FIRST);
                unexpected.push(member);
            }
        }
        Self::refuse(site, node, "unevaluatedProperties", unexpected, sink)
    }
}

/// The required members that are present.
enum Given {
    Few { noted: u64, all: usize },
    Many(Vec<bool>),
}

impl Given {
    fn new(all: usize) -> Self {
        if all <= 64 { Self::Few { noted: 0, all } } else { Self::Many(vec![false; all]) }
    }

    fn note(&mut self, at: usize) {
        match self {
            Self::Few { noted, .. } => *noted |= 1 << at,
            Self::Many(given) => {
                if let Some(given) = given.get_mut(at) {
                    *given = true;
                }
            }
        }
    }

    /// Whether no required member is missing.
    fn is_complete(&self) -> bool {
        match self {
            Self::Few { noted, all } => noted.count_ones() as usize == *all,
            Self::Many(given) => given.iter().all(|given| *given),
        }
    }

    /// The positions of the required members that are missing.
    fn missing(&self) -> impl Iterator<Item = usize> {
        let all = match self {
            Self::Few { all, .. } => *all,
            Self::Many(given) => given.len(),
        };
        (0..all).filter(|at| match self {
            Self::Few { noted, .. } => noted & (1 << at) == 0,
            Self::Many(given) => !given.get(*at).copied().unwrap_or_default(),
        })
    }
}
