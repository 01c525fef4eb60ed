//! How the arguments of each tool are read.

use wiremend_core::{Options, Policy};

use super::is_foreign;
use crate::{Guides, ToolPolicies, WireOptions};

/// What the name of a tool says of its arguments.
#[derive(Debug)]
pub(super) struct ToolOptions {
    mending: Options,
    guides: Option<Guides>,
    policies: Option<ToolPolicies>,
}

impl ToolOptions {
    pub(super) fn new(options: &WireOptions) -> Self {
        Self {
            mending: options.mending().clone(),
            guides: options.guides().cloned(),
            policies: options.policies().cloned(),
        }
    }

    /// The policy of a tool that has none of its own.
    pub(super) const fn policy(&self) -> Policy {
        self.mending.policy()
    }

    /// The declared tool that a name means: one of that name, or of what is before the first character that is in no
    /// name.
    pub(super) fn declared<'n>(&self, name: &'n str) -> Option<&'n str> {
        // Policies may have an answer for every name.
        let is_declared = |name: &&str| match (&self.guides, &self.policies) {
            (Some(guides), _) => guides.find(name).is_some(),
            (None, policies) => policies.as_ref().is_some_and(|all| all.find(name).is_some()),
        };
        let (head, _) = name.split_at(name.find(is_foreign)?);
        [name, head].into_iter().find(is_declared)
    }

    /// The same, or the name as it is.
    pub(super) fn clean<'n>(&self, name: &'n str) -> &'n str {
        self.declared(name).unwrap_or(name)
    }

    /// The options for the tool of that name. As long as it has none, it may be any tool: where tools have policies,
    /// nothing is repaired for it.
    pub(super) fn of(&self, name: Option<&str>) -> Options {
        let options = self.mending.clone();
        let name = name.map(|name| self.clean(name));
        let policy = self.policies.as_ref().and_then(|policies| match name {
            Some(name) => policies.find(name),
            None => Some(Policy::STRICT),
        });
        let options = match policy {
            Some(policy) => options.with_policy(policy),
            None => options,
        };
        match name.and_then(|name| self.guides.as_ref()?.find(name)) {
            Some(guide) => options.with_guide(guide),
            None => options,
        }
    }
}
