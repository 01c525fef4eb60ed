//! How the arguments of each tool are read.

use std::borrow::Cow;

use wiremend_core::{MendOptions, Policy};

use super::is_foreign;
use crate::{Guides, ToolPolicies, WireOptions};

/// What the name of a tool says of its arguments.
#[derive(Debug)]
pub(crate) struct ToolOptions {
    mending: MendOptions,
    guides: Option<Guides>,
    policies: Option<ToolPolicies>,
}

impl ToolOptions {
    pub(crate) fn new(options: &WireOptions) -> Self {
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

    /// The name of the tool that a name means in which a character is that no name has, if it is declared: that name
    /// itself, or what is before the character.
    pub(super) fn declared(&self, name: &str) -> Option<String> {
        // Policies may have an answer for every name.
        let declared = |name: &str| match (&self.guides, &self.policies) {
            (Some(guides), _) => guides.declared(name),
            (None, policies) => policies.as_ref()?.find(name).map(|_| name.to_owned()),
        };
        let (head, _) = name.split_at(name.find(is_foreign)?);
        let whole = declared(name);
        if whole.as_deref() == Some(name) { whole } else { declared(head).or(whole) }
    }

    /// The same, or the name as it is.
    pub(super) fn clean<'n>(&self, name: &'n str) -> Cow<'n, str> {
        self.declared(name).map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// The options for the tool of that name. As long as it has none, it may be any tool: where tools have policies,
    /// nothing is repaired for it.
    pub(crate) fn of(&self, name: Option<&str>) -> MendOptions {
        let options = self.mending.clone();
        let name = name.map(|name| self.clean(name));
        let name = name.as_deref();
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
