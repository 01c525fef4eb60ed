//! Converts one scalar to what its part of the schema expects.
//!
//! These are pure functions of a token and a [`Part`]: fitting calls them for a node, and a cursor
//! for a token that has just ended. They only make proposals; the caller validates them.

mod arithmetic;
mod boolean;
mod enumeration;
mod epoch;
mod format;
mod nothing;
mod number;
mod string;

pub(crate) use enumeration::LONGEST as LONGEST_CHOICE;
pub(crate) use nothing::means_nothing;
use wiremend_core::Risk;

use crate::{
    Rule,
    compile::Types,
    part::Part,
    tree::{JsonType, Node},
};

/// A scalar, as it is written in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar<'a> {
    Boolean(bool),
    Null,
    /// The number's text.
    Number(&'a str),
    /// The decoded content.
    String(&'a str),
}

/// A replacement that a rule proposes for a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coerced {
    pub(crate) rule: Rule,
    /// The risk of the rule, or a higher one.
    pub(crate) risk: Risk,
    /// The replacement, as a JSON text.
    pub(crate) text: String,
}

impl Coerced {
    fn new(rule: Rule, text: impl Into<String>) -> Self {
        Self { rule, risk: rule.risk(), text: text.into() }
    }

    fn with_risk(mut self, risk: Risk) -> Self {
        self.risk = self.risk.max(risk);
        self
    }
}

/// Collects the proposals of all rules for a scalar that is not valid at `part`, in the order of
/// the rules.
pub(crate) fn coerce(scalar: Scalar<'_>, part: &Part<'_>) -> Vec<Coerced> {
    let mut proposals = Vec::new();
    if let Some(choices) = part.choices() {
        enumeration::propose(scalar, choices, &mut proposals);
    }
    let allowed = part.allowed();
    match scalar {
        Scalar::String(text) if !allowed.has(Types::STRING) => {
            if part.options().is_none() {
                boolean::from_text(text, allowed, &mut proposals);
                number::from_text(text, part, &mut proposals);
            }
        }
        Scalar::String(text) => {
            format::propose(text, part, &mut proposals);
            epoch::propose(text, part, &mut proposals);
        }
        Scalar::Number(raw) => {
            boolean::from_number(raw, allowed, &mut proposals);
            number::whole(raw, part, &mut proposals);
            string::from_number(raw, part, &mut proposals);
            epoch::propose(raw, part, &mut proposals);
        }
        Scalar::Boolean(value) => string::from_boolean(value, part, &mut proposals),
        Scalar::Null => {}
    }
    proposals
}

/// The same for a node. Objects and arrays get no proposals.
pub(crate) fn coerce_node(node: Node<'_>, part: &Part<'_>) -> Vec<Coerced> {
    match node.kind() {
        JsonType::String => {
            let text = node.as_str().unwrap_or_default();
            coerce(Scalar::String(&text), part)
        }
        JsonType::Number => coerce(Scalar::Number(node.raw()), part),
        JsonType::Boolean => coerce(Scalar::Boolean(node.raw() == "true"), part),
        JsonType::Null => coerce(Scalar::Null, part),
        JsonType::Array | JsonType::Object => Vec::new(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::{Schema, part::Part, tree::Tree};

    /// The proposals for a JSON scalar under a schema, as `code: text`, whether they are valid or
    /// not.
    pub(crate) fn proposals(schema: &str, value: &str) -> Vec<String> {
        let schema = Schema::from_text(schema).unwrap();
        let tree = Tree::read(value).unwrap();
        let proposals = super::coerce_node(tree.root(), &Part::root(&schema));
        proposals.iter().map(|found| format!("{}: {}", found.rule, found.text)).collect()
    }
}
