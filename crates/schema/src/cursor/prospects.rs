//! Whether what is wrong can still become right: by what follows, or by a rule.
//!
//! A wrong yes is acceptable, a wrong no is not, because callers stop the generation when the
//! answer is no.

use std::fmt;

use serde_json::Value;
use wiremend_core::{RepairKind, Risk};

use super::{
    slots::Slot,
    walk::{Frame, Walk},
};
use crate::{Issue, IssueCode, Rule, code::coded, compile::Types, names::folded, tree::JsonType};

/// Rules that restructure the whole value.
const AROUND: [Rule; 5] = [
    Rule::MissingEnvelope,
    Rule::RootSingleList,
    Rule::SchemaEchoRoot,
    Rule::UnwrapEnvelope,
    Rule::UnwrapNamedEnvelope,
];

impl Walk {
    /// Whether one of these rules may be used at all. Slots where the schema switches it off are
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

    /// The standing of an issue with something missing from an object or array that has just ended: the required
    /// property at that position, or items.
    pub(super) fn standing_of_missing(&self, frame: &Frame, required: Option<usize>) -> Standing {
        let whole = self.frames.is_empty() && !frame.known && self.may(&AROUND);
        let keys = [Rule::KeyNormalise, Rule::KeyAlias, Rule::KeyAttrLeak];
        let constant = || {
            frame.ways.first().zip(required).is_some_and(|(own, position)| {
                let name = self.slots.get(own.way.slot).required.get(position);
                let part = self.slots.part(own.way.slot);
                let property = name.and_then(|name| part.property(name));
                property.is_some_and(|property| property.constant().is_some())
            })
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
            let part = self.slots.part(own.way.slot);
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
            .fold(Types::NONE, |all, way| all.union(self.slots.get(way.slot).types));
        let whole = types.has(Types::ARRAY.union(Types::OBJECT));
        match issue.received().kind() {
            JsonType::Array | JsonType::Object => self.may(Rule::ALL),
            JsonType::String => {
                whole && self.may(Rule::ALL)
                    || is_words_in_a_list(issue)
                    || issue.code() != IssueCode::Enum && self.slots_narrow() && self.may(Rule::ALL)
            }
            JsonType::Null => self.may(&[Rule::DropNullOptional]) && self.is_optional(issue),
            JsonType::Boolean | JsonType::Number => {
                whole && self.may(&[Rule::WrapInArray, Rule::MissingEnvelope])
            }
        }
    }

    fn slots_narrow(&self) -> bool {
        self.next.iter().any(|way| {
            let slot = self.slots.get(way.slot);
            slot.narrow && slot.options.is_none()
        })
    }

    fn is_optional(&self, issue: &Issue) -> bool {
        let Some(wiremend_core::Step::Key(key)) = issue.path().steps().last() else { return false };
        let required = |frame: &Frame| {
            frame.ways.iter().all(|own| {
                let slot = self.slots.get(own.way.slot);
                slot.required.iter().any(|name| **name == **key)
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

impl Slot {
    /// Whether a string can be invalid before it has ended.
    pub(super) const fn is_bound(&self) -> bool {
        self.options.is_some() || self.max_length.is_some()
    }

    /// Whether a string that begins like this can become valid.
    pub(super) fn may_begin(&self, content: &str, length: u64) -> bool {
        let named = |option: &Value| option.as_str().is_some_and(|name| name.starts_with(content));
        self.options.as_ref().is_none_or(|options| options.iter().any(named))
            && self.max_length.is_none_or(|most| length <= most)
    }
}

impl Walk {
    /// Whether a rule could still apply to a string that begins like this.
    pub(super) fn may_turn(&self, begun: &str) -> bool {
        let Some(max_risk) = self.max_risk else { return false };
        if max_risk > Risk::Likely || self.may(&[Rule::EntityUnescape]) {
            return self.may(Rule::ALL);
        }
        self.next.iter().any(|way| {
            let slot = self.slots.get(way.slot);
            let whole = Types::ARRAY.union(Types::OBJECT);
            if slot.types.has(whole) {
                return self.may(Rule::ALL);
            }
            match &slot.options {
                Some(options) => {
                    let own = plain(begun);
                    self.may(&[Rule::EnumNormalise, Rule::EnumScalarType])
                        && options.iter().any(|option| {
                            plain(option.as_str().unwrap_or(&option.to_string())).starts_with(&own)
                        })
                }
                None if slot.types.has(Types::STRING) => slot.narrow && self.may(Rule::ALL),
                None => {
                    slot.types.has(Types::NUMBER)
                        && numeric(begun)
                        && self.may(&[Rule::StringToNumber, Rule::Thousands])
                        || slot.types.has(Types::BOOLEAN)
                            && boolean(begun)
                            && self.may(&[Rule::StringToBool, Rule::YesNoBool])
                }
            }
        })
    }
}

/// A name without all the characters that the rules for listed values ignore, wherever they are,
/// because more text may follow.
fn plain(name: &str) -> String {
    let marks = |c: &char| c.is_whitespace() || "\"'`*“”‘’._-".contains(*c);
    name.chars().filter(|c| !marks(c)).flat_map(char::to_lowercase).collect()
}

/// Whether a string that begins like this can become a number.
fn numeric(begun: &str) -> bool {
    begun
        .chars()
        .all(|c| c.is_whitespace() || c.is_ascii_digit() || "+-.,_eE'’\u{a0}\u{202f}".contains(c))
}

/// Whether a string that begins like this can become a boolean.
fn boolean(begun: &str) -> bool {
    let begun = begun.trim_start().to_ascii_lowercase();
    let word = begun.trim_end();
    ["true", "false", "yes", "no", "on", "off", "1", "0"].iter().any(|name| name.starts_with(word))
}

// Problems that are found while a value arrives, and whether the value can still become valid.

/// Whether something that is wrong can still become valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Standing {
    /// Something is missing that may still come: a required property, more items, or the rest of a
    /// listed value.
    Pending,
    /// Nothing that follows can make the value valid as it is read so far, but a rule may fix it at
    /// the end, or the whole text may show another reading.
    Definite,
    /// Neither further input, nor another reading, nor any allowed rule can fix it, so there is no
    /// point in generating more.
    Lost,
}

impl Standing {
    /// All variants, from the mildest to the most severe.
    pub const ALL: &'static [Self] = &[Self::Pending, Self::Definite, Self::Lost];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Definite => "definite",
            Self::Lost => "lost",
        }
    }
}

coded!(Standing, "standing");

/// An issue that was found before the end of the value.
///
/// It is displayed like its issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyIssue {
    issue: Issue,
    standing: Standing,
    at: usize,
}

impl EarlyIssue {
    pub(super) const fn new(issue: Issue, standing: Standing, at: usize) -> Self {
        Self { issue, standing, at }
    }

    /// What is wrong.
    #[must_use]
    pub const fn issue(&self) -> &Issue {
        &self.issue
    }

    /// Whether it can still become valid.
    #[must_use]
    pub const fn standing(&self) -> Standing {
        self.standing
    }

    /// The byte that made the early issue certain, as an offset into the input.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.at
    }
}

impl fmt::Display for EarlyIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.issue.fmt(f)
    }
}
