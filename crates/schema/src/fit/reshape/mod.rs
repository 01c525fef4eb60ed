//! Proposals of rules that restructure a node that is not valid.

mod envelope;
mod list;
mod map;
mod object;
mod scalar;
mod split;
mod stringified;

use wiremend_core::Risk;

use super::place::Place;
use crate::{Rule, judge::Judge, part::Part, tree::Node};

/// A node that is not valid, and its place.
pub(super) struct Site<'t, 's, 'p> {
    pub(super) node: Node<'t>,
    pub(super) part: &'p Part<'s>,
    pub(super) place: &'p Place,
    /// The name of the tool or type.
    pub(super) name: Option<&'p str>,
    pub(super) max_risk: Risk,
    /// Whether the value was found in a sentence.
    pub(super) in_sentence: bool,
}

/// A form that a rule proposes.
pub(super) enum Form<'t, 's> {
    /// A nested node replaces the node.
    Inner(Node<'t>),
    /// A JSON text replaces the node.
    Text(String),
    /// The node is wrapped, and becomes the value of another part of the schema.
    Wrapped {
        before: String,
        after: &'static str,
        part: Part<'s>,
        /// The property that the node becomes; `None` for an item of a list.
        key: Option<String>,
    },
}

pub(super) struct Proposal<'t, 's> {
    pub(super) rule: Rule,
    /// The risk of the rule, or a higher one.
    pub(super) risk: Risk,
    pub(super) form: Form<'t, 's>,
    /// The highest risk that repairs inside the new form may have.
    pub(super) cap: Option<Risk>,
}

impl<'t, 's> Proposal<'t, 's> {
    fn new(rule: Rule, form: Form<'t, 's>) -> Self {
        Self { rule, risk: rule.risk(), form, cap: None }
    }

    fn text(rule: Rule, text: impl Into<String>) -> Self {
        Self::new(rule, Form::Text(text.into()))
    }

    fn inner(rule: Rule, node: Node<'t>) -> Self {
        Self::new(rule, Form::Inner(node))
    }

    fn with_risk(mut self, risk: Risk) -> Self {
        self.risk = self.risk.max(risk);
        self
    }

    fn with_cap(mut self, cap: Risk) -> Self {
        self.cap = Some(cap);
        self
    }
}

/// Collects the proposals of all rules, in the order of the rules.
pub(super) fn proposals<'t, 's>(
    site: &Site<'t, 's, '_>,
    judge: &mut Judge<'_>,
) -> Vec<Proposal<'t, 's>> {
    let mut found = Vec::new();
    let mut run = |rule: fn(&Site<'t, 's, '_>, &mut Vec<Proposal<'t, 's>>)| rule(site, &mut found);
    run(stringified::propose);
    run(scalar::propose);
    envelope::propose(site, judge, &mut found);
    let mut run = |rule: fn(&Site<'t, 's, '_>, &mut Vec<Proposal<'t, 's>>)| rule(site, &mut found);
    run(list::propose);
    run(split::propose);
    run(map::propose);
    run(object::propose);
    found
}
