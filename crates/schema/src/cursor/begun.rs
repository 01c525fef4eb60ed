//! Strings that have not ended: what they can still become.

use serde_json::Value;
use wiremend_core::Risk;

use super::{places::Place, spelled, walk::Walk};
use crate::{Rule, compile::Types};

impl Place {
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
            let place = self.places.get(way.place);
            let whole = Types::ARRAY.union(Types::OBJECT);
            if place.types.has(whole) {
                return self.may(Rule::ALL);
            }
            match &place.options {
                Some(options) => {
                    let own = plain(begun);
                    self.may(&[Rule::EnumNormalise, Rule::EnumScalarType])
                        && options.iter().any(|option| {
                            plain(option.as_str().unwrap_or(&spelled(option))).starts_with(&own)
                        })
                }
                None if place.types.has(Types::STRING) => place.narrow && self.may(Rule::ALL),
                None => {
                    place.types.has(Types::NUMBER)
                        && numeric(begun)
                        && self.may(&[Rule::StringToNumber, Rule::Thousands])
                        || place.types.has(Types::BOOLEAN)
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
