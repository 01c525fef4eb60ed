//! Decides whether a rule could still fix what no further input can.
//!
//! A wrong yes is acceptable, a wrong no is not, because callers stop the generation when the
//! answer is no.

use wiremend_core::{RepairKind, Risk};

use super::{
    finding::Standing,
    walk::{Frame, Walk},
};
use crate::{Issue, IssueCode, Rule, compile::Types, issue::folded, tree::JsonType};

/// Rules that restructure the whole value.
const AROUND: [Rule; 5] = [
    Rule::MissingEnvelope,
    Rule::RootSingleList,
    Rule::SchemaEchoRoot,
    Rule::UnwrapEnvelope,
    Rule::UnwrapNamedEnvelope,
];

impl Walk {
    /// Whether one of these rules may be used at all. Places where the schema switches it off are
    /// not considered.
    pub(super) fn may(&self, rules: &[Rule]) -> bool {
        self.max_risk.is_some_and(|max| {
            rules.iter().any(|rule| rule.risk() <= max && self.options.rules().allows(*rule, ""))
        })
    }

    /// Whether the enabled rules can change so much that nothing is lost before the end.
    fn is_open_ended(&self) -> bool {
        let several = self.frames.iter().any(|frame| frame.ways.len() > 1);
        self.unsure
            || several && self.may(Rule::ALL)
            || self.max_risk == Some(Risk::Guess) && self.may(Rule::ALL)
            || self.frames.first().is_none_or(|root| !root.known) && self.may(&AROUND)
    }

    /// The standing of an issue with the current value or key.
    pub(super) fn standing(&self, issue: &Issue) -> Standing {
        let salvage = self.is_open_ended()
            || match issue.code() {
                IssueCode::Unexpected => self.key_may_fit(issue),
                IssueCode::Count => {
                    self.may(&[Rule::DropUnknown, Rule::DropNullOptional, Rule::EmptyPlaceholder])
                }
                _ => self.next.len() > 1 && self.may(Rule::ALL) || self.value_may_fit(issue),
            };
        standing(salvage)
    }

    pub(super) fn standing_of_count(&self) -> Standing {
        standing(self.is_open_ended() || self.may(&[Rule::DedupeItems]))
    }

    /// The standing of an issue with something missing from an object or array that has just ended.
    pub(super) fn standing_of_missing(&self, frame: &Frame, issue: &Issue) -> Standing {
        let whole = self.frames.is_empty() && !frame.known && self.may(&AROUND);
        let keys = [Rule::KeyNormalise, Rule::KeyAlias, Rule::KeyAttrLeak];
        let constant = || {
            let part = frame.ways.first().map(|own| self.places.part(own.way.place));
            let name = issue.expected().strip_prefix("required property ");
            let name: Option<String> = name.and_then(|name| serde_json::from_str(name).ok());
            part.zip(name)
                .and_then(|(part, name)| part.property(&name))
                .is_some_and(|property| property.constant().is_some())
        };
        let empty = self.partial.len(frame.node) == 0;
        // The bracket that seems to end the value may be one too many, and the rest may follow it.
        let goes_on = self.frames.is_empty()
            && !self.ends_with_root
            && self.max_risk.is_some_and(|max| RepairKind::ExtraClose.risk() <= max);
        let salvage = whole
            || goes_on
            || self.unsure
            || frame.ways.len() > 1 && self.may(Rule::ALL)
            || !self.frames.is_empty() && self.is_open_ended()
            || self.max_risk == Some(Risk::Guess) && self.may(Rule::ALL)
            || frame.unknown && self.may(&keys)
            || empty && self.may(&[Rule::EmptyPlaceholder, Rule::EmptyObjectToArray])
            || self.may(&[Rule::ConstFill]) && constant();
        standing(salvage)
    }

    fn key_may_fit(&self, issue: &Issue) -> bool {
        let Some(frame) = self.frames.last() else { return true };
        let Some(wiremend_core::Step::Key(key)) = issue.path().steps().last() else { return true };
        if self.may(&[Rule::DropUnknown]) {
            return true;
        }
        frame.ways.iter().any(|own| {
            let part = self.places.part(own.way.place);
            part.properties().iter().any(|name| {
                let alias = || part.property(name).is_some_and(|part| !part.aliases().is_empty());
                self.may(&[Rule::KeyNormalise])
                    && folded(key.trim_matches(['"', '\'', '`'])) == folded(name)
                    || self.may(&[Rule::KeyAttrLeak]) && key.starts_with(name)
                    || self.may(&[Rule::KeyAlias]) && alias()
            })
        })
    }

    fn value_may_fit(&self, issue: &Issue) -> bool {
        let types = self
            .next
            .iter()
            .fold(Types::NONE, |all, way| all.union(self.places.get(way.place).types));
        let whole = types.has(Types::ARRAY.union(Types::OBJECT));
        match issue.received().kind() {
            JsonType::Array | JsonType::Object => self.may(Rule::ALL),
            JsonType::String => {
                whole && self.may(Rule::ALL)
                    || is_words_in_a_list(issue)
                    || issue.code() != IssueCode::Enum
                        && self.places_narrow()
                        && self.may(Rule::ALL)
            }
            JsonType::Null => self.may(&[Rule::DropNullOptional]) && self.is_optional(issue),
            JsonType::Boolean | JsonType::Number => {
                whole && self.may(&[Rule::WrapInArray, Rule::MissingEnvelope])
            }
        }
    }

    fn places_narrow(&self) -> bool {
        self.next.iter().any(|way| {
            let place = self.places.get(way.place);
            place.narrow && place.options.is_none()
        })
    }

    fn is_optional(&self, issue: &Issue) -> bool {
        let Some(wiremend_core::Step::Key(key)) = issue.path().steps().last() else { return false };
        let required = |frame: &Frame| {
            frame.ways.iter().all(|own| {
                let place = self.places.get(own.way.place);
                place.required.iter().any(|name| **name == **key)
            })
        };
        !self.frames.last().is_some_and(required)
    }
}

/// Whether the whole-text path may find several listed values where the stream found one string.
fn is_words_in_a_list(issue: &Issue) -> bool {
    matches!(issue.path().steps().last(), Some(wiremend_core::Step::Index(_)))
        && issue.code() == IssueCode::Enum
        && issue.received().raw().contains([' ', '\t'])
}

const fn standing(salvage: bool) -> Standing {
    if salvage { Standing::Definite } else { Standing::Lost }
}
