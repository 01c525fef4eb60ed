//! Booleans.

use super::Coerced;
use crate::{Rule, compile::Types};

pub(super) fn from_text(text: &str, allowed: Types, proposals: &mut Vec<Coerced>) {
    if !allowed.has(Types::BOOLEAN) {
        return;
    }
    let word = text.trim().to_ascii_lowercase();
    match word.as_str() {
        "true" | "false" => proposals.push(Coerced::new(Rule::StringToBool, word)),
        "yes" | "y" | "on" | "1" => proposals.push(Coerced::new(Rule::YesNoBool, "true")),
        "no" | "n" | "off" | "0" => proposals.push(Coerced::new(Rule::YesNoBool, "false")),
        _ => {}
    }
}

pub(super) fn from_number(raw: &str, allowed: Types, proposals: &mut Vec<Coerced>) {
    if !allowed.has(Types::BOOLEAN) {
        return;
    }
    // `1.0` is the same number as `1`.
    match raw.strip_suffix(".0").unwrap_or(raw) {
        "1" => proposals.push(Coerced::new(Rule::YesNoBool, "true")),
        "0" => proposals.push(Coerced::new(Rule::YesNoBool, "false")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::coerce::tests::proposals;

    const BOOLEAN: &str = r#"{"type": "boolean"}"#;

    #[test]
    fn words_for_truth_become_booleans() {
        assert_eq!(proposals(BOOLEAN, r#"" True\n""#), ["string-to-bool: true"]);
        assert_eq!(proposals(BOOLEAN, r#""FALSE""#), ["string-to-bool: false"]);
        assert_eq!(proposals(BOOLEAN, r#""Yes""#), ["yes-no-bool: true"]);
        assert_eq!(proposals(BOOLEAN, r#""off""#), ["yes-no-bool: false"]);
        assert_eq!(proposals(BOOLEAN, "1"), ["yes-no-bool: true"]);
        assert_eq!(proposals(BOOLEAN, "0.0"), ["yes-no-bool: false"]);
    }

    #[test]
    fn other_words_and_numbers_do_not() {
        for value in [r#""ja""#, r#""truthy""#, r#""""#, r#""2""#, "2", "1.5", "-1", "null"] {
            assert!(proposals(BOOLEAN, value).is_empty(), "{value}");
        }
        assert!(
            proposals(r#"{"type": ["boolean", "string"], "minLength": 9}"#, r#""true""#).is_empty()
        );
        assert!(proposals(r#"{"enum": ["yes", true]}"#, r#""no""#).is_empty());
    }
}
