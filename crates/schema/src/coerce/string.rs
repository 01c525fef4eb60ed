//! Converts numbers and booleans to strings.

use super::Coerced;
use crate::{Rule, compile::Types, part::Part, tree::quoted};

/// Keeps the digits as they are written: `1.10` becomes `"1.10"`.
pub(super) fn from_number(raw: &str, part: &Part<'_>, proposals: &mut Vec<Coerced>) {
    if takes_text(part) && !part.allowed().has(Types::NUMBER) {
        proposals.push(Coerced::new(Rule::NumberToString, quoted(raw)));
    }
}

pub(super) fn from_boolean(value: bool, part: &Part<'_>, proposals: &mut Vec<Coerced>) {
    if takes_text(part) {
        let text = if value { r#""true""# } else { r#""false""# };
        proposals.push(Coerced::new(Rule::BoolToString, text));
    }
}

/// Whether the schema accepts a string here without listing its value; listed values have rules of
/// their own.
fn takes_text(part: &Part<'_>) -> bool {
    part.allowed().has(Types::STRING) && part.options().is_none()
}

#[cfg(test)]
mod tests {
    use crate::coerce::tests::proposals;

    #[test]
    fn numbers_and_booleans_keep_their_spelling() {
        let string = r#"{"type": "string"}"#;
        assert_eq!(proposals(string, "1.10"), [r#"number-to-string: "1.10""#]);
        assert_eq!(proposals(string, "1e3"), [r#"number-to-string: "1e3""#]);
        assert_eq!(proposals(string, "true"), [r#"bool-to-string: "true""#]);
    }

    #[test]
    fn allowed_nulls_and_numbers_are_kept() {
        assert!(proposals(r#"{"type": "string"}"#, "null").is_empty());
        assert!(proposals(r#"{"type": ["string", "number"], "minimum": 5}"#, "1").is_empty());
        assert!(proposals(r#"{"type": "array"}"#, "1").is_empty());
    }
}
