//! Rewrites whole numbers that are not written as plain digits; see [`Rule::IntegralFloat`].

use std::ops::Range;

use wiremend_core::{Path, Risk};

use super::{
    partial::NodeState,
    places::PlaceId,
    walk::{Walk, Way},
};
use crate::{
    Applied, Cause, Change, Rule,
    fit::shortened,
    issue::pointer_of,
    tree::{JsonType, plain_integer},
};

impl Walk {
    /// Rewrites a valid number as digits if every remaining reading accepts only whole numbers.
    /// Returns the state of the node, which is not final if the end of the value may still decide.
    pub(super) fn spell(
        &mut self,
        node: usize,
        raw: &str,
        left: &[Way],
        span: Range<usize>,
        path: Path,
    ) -> NodeState {
        let rule = Rule::IntegralFloat;
        let number = self.partial.at(node).is_some_and(|own| own.kind() == JsonType::Number);
        let Some(first) = left.first().filter(|_| number && self.may(&[rule])) else {
            return if left.is_empty() { NodeState::Tentative } else { NodeState::Final };
        };
        let Some(digits) = plain_integer(raw) else { return NodeState::Final };
        let whole_only = |way: &Way| self.places.get(way.place).types.is_whole_only();
        if !left.iter().all(whole_only) {
            let open = left.iter().any(|way| whole_only(way) || way.place == PlaceId::FREE);
            return if open { NodeState::Tentative } else { NodeState::Final };
        }
        let off = left.iter().any(|way| self.is_off(rule, way));
        if off || !self.options.rules().allows(rule, &pointer_of(&path)) {
            return NodeState::Final;
        }
        self.applied.push(Applied {
            rule,
            risk: Risk::Exact,
            path: path.clone(),
            schema_path: self.places.part(first.place).pointer().to_owned(),
            start: span.start,
            end: span.end,
            before: shortened(raw),
            after: shortened(&digits),
        });
        self.partial.replace_last(JsonType::Number, &digits);
        let last =
            self.changes.last_mut().filter(|last| (last.start, last.end) == (span.start, span.end));
        match last {
            // Another rule has already changed these bytes.
            Some(last) => last.after = digits,
            None => self.changes.push(Change::new(Cause::Rule(rule), span, digits, path)),
        }
        NodeState::Final
    }
}
