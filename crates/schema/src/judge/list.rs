//! Checks the keywords for arrays.

use super::{Judge, What, check::Site, problem::Sink};
use crate::{
    compile::{Contains, List},
    tree::{Instance, Node, is_unique},
};

impl<'s> Judge<'s> {
    pub(super) fn list<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s List,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let (value, length) = (Instance::Node(node), node.len());
        let count = length as u64;
        let enough = checks.least.is_none_or(|least| count >= least);
        go_on!(enough || Self::report(site, value, What::MinItems, sink));
        let few = checks.most.is_none_or(|most| count <= most);
        go_on!(few || Self::report(site, value, What::MaxItems, sink));
        if checks.unique && length > 1 {
            go_on!(self.spend_bytes(2 * node.raw().len()));
            go_on!(is_unique(node) || Self::report(site, value, What::Unique, sink));
        }
        let ends = checks.ends_with_prefix && length > checks.prefix.len();
        go_on!(!ends || Self::report(site, value, What::FurtherItems, sink));
        let rest = checks.rest.filter(|_| !checks.ends_with_prefix);
        if !checks.prefix.is_empty() || rest.is_some() {
            for (at, item) in node.children().enumerate() {
                go_on!(self.spend(1));
                let Some(id) = checks.prefix.get(at).copied().or(rest) else { break };
                go_on!(self.ask(id, Instance::Node(item), site.scope, sink));
            }
        }
        match &checks.contains {
            Some(contains) => self.contains(site, contains, node, sink),
            None => true,
        }
    }

    fn contains<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        contains: &'s Contains,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let mut count = 0;
        for item in node.children() {
            go_on!(self.spend(1));
            count += u64::from(self.valid(contains.of, Instance::Node(item), site.scope));
            let over = contains.most.is_some_and(|most| count > most);
            if over || contains.most.is_none() && count >= contains.least {
                break;
            }
        }
        let value = Instance::Node(node);
        let keyword = if contains.least == 1 { "contains" } else { "minContains" };
        let enough = count >= contains.least;
        go_on!(enough || Self::report(site, value, What::Contains(keyword), sink));
        let few = contains.most.is_none_or(|most| count <= most);
        few || Self::report(site, value, What::Contains("maxContains"), sink)
    }

    pub(super) fn unevaluated_items<'t, S: Sink<'s, 't>>(
        &mut self,
        site: Site,
        checks: &'s List,
        node: Node<'t>,
        sink: &mut S,
    ) -> bool {
        let Some(id) = checks.unevaluated else { return true };
        let evaluated = self.evaluated(site.part, node, site.scope);
        let mut right = true;
        for (at, item) in node.children().enumerate() {
            go_on!(self.spend(1));
            let known = evaluated.holds(at);
            right &= known || self.valid(id, Instance::Node(item), site.scope);
        }
        right || Self::report(site, Instance::Node(node), What::UnevaluatedItems, sink)
    }
}
