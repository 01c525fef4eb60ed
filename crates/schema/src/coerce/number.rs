//! Converts text that contains exactly one number, or a sum that the model wrote out instead of computing.

use super::Coerced;
use crate::{
    Rule,
    compile::Types,
    part::Part,
    tree::{is_integer, plain_integer},
};

/// Currency signs and words that may precede or follow an amount.
const CURRENCIES: [&str; 12] =
    ["$", "€", "£", "¥", "₹", "US$", "USD", "EUR", "GBP", "JPY", "INR", "CHF"];
/// Units that can be dropped, because they are implied by the property.
const UNITS: [&str; 46] = [
    "%", "mm", "cm", "m", "km", "in", "ft", "mi", "mile", "miles", "meter", "meters", "metre",
    "metres", "g", "kg", "lb", "lbs", "oz", "mg", "ml", "l", "s", "sec", "seconds", "ms", "min",
    "minutes", "h", "hour", "hours", "day", "days", "week", "weeks", "month", "months", "year",
    "years", "px", "pt", "em", "mph", "°", "°C", "°F",
];

pub(super) fn from_text(text: &str, part: &Part<'_>, proposals: &mut Vec<Coerced>) {
    let allowed = part.allowed();
    if !allowed.has(Types::NUMBER) {
        return;
    }
    let text = text.trim();
    let whole_only = !allowed.has(Types::NUMBER.without(Types::INTEGER));
    let mut push = |rule: Rule, number: String| {
        if !whole_only || is_integer(&number) {
            proposals.push(Coerced::new(rule, number));
        }
    };
    if is_number(text) {
        push(Rule::StringToNumber, text.to_owned());
    } else if let Some((number, doubtful)) = grouped(text) {
        push(if doubtful { Rule::ThousandsOneGroup } else { Rule::Thousands }, number);
    } else if let Some(number) = percent(text, part) {
        push(Rule::Percent, number);
    } else if let Some(number) = with_unit(text, part) {
        push(Rule::CurrencyUnitStrip, number);
    } else if let Some(number) = fraction(text).filter(|_| !whole_only) {
        push(Rule::FractionText, number);
    } else if let Some(number) = calculated(text) {
        push(Rule::Arithmetic, number);
    }
}

/// Converts `1.0` to `1` for drafts in which only `1` is an integer. In the other drafts `1.0` is
/// valid, and is rewritten once the whole value is valid.
pub(super) fn whole(raw: &str, part: &Part<'_>, proposals: &mut Vec<Coerced>) {
    if part.allowed().is_whole_only() {
        let digits = plain_integer(raw).map(|digits| Coerced::new(Rule::IntegralFloat, digits));
        proposals.extend(digits);
    }
}

/// Whether a text is a JSON number (RFC 8259, section 6), without anything around it.
fn is_number(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    starts && crate::Tree::read(text).is_ok_and(|tree| tree.root().span() == (0..text.len()))
}

/// A number whose digits are grouped by threes, and whether the separator could be a decimal comma.
fn grouped(text: &str) -> Option<(String, bool)> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let separator = whole.chars().find(|c| !c.is_ascii_digit())?;
    if !matches!(separator, ',' | '_' | ' ' | '\u{a0}' | '\u{202f}') {
        return None;
    }
    let mut groups = whole.split(separator);
    let first = groups.next()?;
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let leads = is_digits(first) && first.len() <= 3 && !first.starts_with('0');
    let mut count = 0;
    for group in groups {
        if !is_digits(group) || group.len() != 3 {
            return None;
        }
        count += 1;
    }
    if !leads || fraction.is_some_and(|fraction| !is_digits(fraction)) {
        return None;
    }
    let joined: String = whole.chars().filter(char::is_ascii_digit).collect();
    let number = match fraction {
        Some(fraction) => format!("{sign}{joined}.{fraction}"),
        None => format!("{sign}{joined}"),
    };
    Some((number, separator == ',' && count == 1 && fraction.is_none()))
}

fn plain(text: &str) -> Option<String> {
    let text = text.trim();
    if is_number(text) { Some(text.to_owned()) } else { grouped(text).map(|(number, _)| number) }
}

/// A number such as `$1,234.56` or `12 kg`, with a sign or unit that is either well known or named
/// in the description.
fn with_unit(text: &str, part: &Part<'_>) -> Option<String> {
    for sign in CURRENCIES {
        let after_sign = text.strip_prefix(sign).and_then(plain);
        if let Some(number) = after_sign.or_else(|| text.strip_suffix(sign).and_then(plain)) {
            return Some(number);
        }
    }
    let at = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (number, unit) = text.split_at_checked(at)?;
    let unit = unit.trim();
    let described = part.description().unwrap_or_default().to_lowercase();
    let in_description = !unit.is_empty()
        && described.split(|c: char| !c.is_alphanumeric()).any(|word| word == unit.to_lowercase());
    if in_description || UNITS.contains(&unit) && unit != "%" { plain(number) } else { None }
}

/// A percentage, if the bounds of the property show whether 50% means `0.5` or `50`.
fn percent(text: &str, part: &Part<'_>) -> Option<String> {
    let number = text.strip_suffix('%')?.trim();
    let maximum = part.maximum()?;
    if !is_number(number) {
        return None;
    }
    if maximum <= 1.0 {
        return Some(hundredth(number));
    }
    (maximum == 100.0).then(|| number.to_owned())
}

/// Moves the decimal point two places to the left.
fn hundredth(number: &str) -> String {
    let value: f64 = number.parse().unwrap_or_default();
    (value / 100.0).to_string()
}

/// Computes a fraction such as `1/2`.
fn fraction(text: &str) -> Option<String> {
    let (above, below) = text.split_once('/')?;
    let digits = |text: &str| -> Option<u32> {
        let text = text.trim();
        (text.len() <= 6 && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse().ok())?
    };
    let (above, below) = (digits(above)?, digits(below)?);
    (below != 0).then(|| (f64::from(above) / f64::from(below)).to_string())
}

/// The longest expression that is evaluated, in bytes.
const LONGEST_SUM: usize = 100;

/// Evaluates an expression of numbers, `+ - * /` and parentheses; `None` for anything else. An
/// expression contains `*`, `/`, `+`, or a minus with a space around it, so `2024-01-05` and
/// `555-0100` are not expressions.
fn calculated(text: &str) -> Option<String> {
    let signs = |c: char| "0123456789.+-*/() ".contains(c);
    let joins = text.contains(['*', '/'])
        || text.trim_start_matches('+').contains('+')
        || text.contains(" - ");
    if text.len() > LONGEST_SUM || !text.chars().all(signs) || !joins {
        return None;
    }
    let value = Term { bytes: text.as_bytes(), at: 0 }.evaluate()?;
    value.is_finite().then(|| value.to_string())
}

struct Term<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Term<'_> {
    /// Uses two stacks instead of recursion.
    fn evaluate(mut self) -> Option<f64> {
        let mut values: Vec<f64> = Vec::new();
        let mut signs: Vec<u8> = Vec::new();
        let mut wants_value = true;
        while let Some(byte) = self.next() {
            match (byte, wants_value) {
                (b'(', true) => signs.push(b'('),
                (b'-', true) => {
                    self.at -= 1;
                    values.push(self.number()?);
                    wants_value = false;
                }
                (b'0'..=b'9' | b'.', true) => {
                    self.at -= 1;
                    values.push(self.number()?);
                    wants_value = false;
                }
                (b')', false) => {
                    while *signs.last()? != b'(' {
                        apply(&mut values, signs.pop()?)?;
                    }
                    signs.pop();
                }
                (b'+' | b'-' | b'*' | b'/', false) => {
                    while signs.last().is_some_and(|last| rank(*last) >= rank(byte)) {
                        apply(&mut values, signs.pop()?)?;
                    }
                    signs.push(byte);
                    wants_value = true;
                }
                _ => return None,
            }
        }
        while let Some(sign) = signs.pop() {
            apply(&mut values, sign)?;
        }
        match (values.as_slice(), wants_value) {
            ([value], false) => Some(*value),
            _ => None,
        }
    }

    fn next(&mut self) -> Option<u8> {
        while self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    fn number(&mut self) -> Option<f64> {
        let rest = self.bytes.get(self.at..)?;
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
        let length = sign + rest.get(sign..)?.iter().take_while(digits).count();
        self.at += length;
        std::str::from_utf8(rest.get(..length)?).ok()?.parse().ok()
    }
}

fn rank(sign: u8) -> u8 {
    match sign {
        b'*' | b'/' => 2,
        b'+' | b'-' => 1,
        _ => 0,
    }
}

fn apply(values: &mut Vec<f64>, sign: u8) -> Option<()> {
    let (right, left) = (values.pop()?, values.pop()?);
    values.push(match sign {
        b'+' => left + right,
        b'-' => left - right,
        b'*' => left * right,
        b'/' if right != 0.0 => left / right,
        _ => return None,
    });
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{super::tests::proposals, calculated};

    const NUMBER: &str = r#"{"type": "number"}"#;

    const INTEGER: &str = r#"{"type": "integer"}"#;

    #[test]
    fn numbers_in_strings_keep_their_spelling() {
        assert_eq!(proposals(NUMBER, r#"" 4.50 ""#), ["string-to-number: 4.50"]);
        assert_eq!(proposals(INTEGER, r#""1e3""#), ["string-to-number: 1e3"]);
        assert_eq!(
            proposals(INTEGER, r#""12345678901234567890""#),
            ["string-to-number: 12345678901234567890"]
        );
    }

    #[test]
    fn identifiers_that_look_like_numbers_are_kept() {
        for value in ["007", "0x1F", "+5", "1.", ".5", "5.5.5", "1e", "NaN", "", "-"] {
            let found = proposals(NUMBER, &format!("{value:?}"));
            assert!(!found.iter().any(|found| found.starts_with("string-to-number")), "{value}");
        }
        assert!(
            proposals(r#"{"type": ["number", "string"], "maxLength": 1}"#, r#""42""#).is_empty()
        );
        assert!(proposals(INTEGER, r#""4.5""#).is_empty());
        assert!(proposals(INTEGER, "4.5").is_empty(), "nothing is rounded");
    }

    #[test]
    fn grouped_digits_are_joined() {
        assert_eq!(proposals(NUMBER, r#""1,234,567""#), ["thousands: 1234567"]);
        assert_eq!(proposals(NUMBER, r#""-1,234.50""#), ["thousands: -1234.50"]);
        assert_eq!(proposals(NUMBER, r#""1_234""#), ["thousands: 1234"]);
        assert_eq!(proposals(NUMBER, r#""1,234""#), ["thousands-one-group: 1234"]);
        for value in ["3,14", "1,23", "1,2345", "12,34,567", "0,123", "1,234,", "1.234,56"] {
            assert!(proposals(NUMBER, &format!("{value:?}")).is_empty(), "{value}");
        }
    }

    #[test]
    fn redundant_currencies_and_units_are_dropped() {
        for (value, number) in
            [("$1,234.56", "1234.56"), ("12 kg", "12"), ("12px", "12"), ("5 EUR", "5")]
        {
            assert_eq!(
                proposals(NUMBER, &format!("{value:?}")),
                [format!("currency-unit-strip: {number}")]
            );
        }
        let described = r#"{"type": "integer", "description": "How many apples"}"#;
        assert_eq!(proposals(described, r#""12 apples""#), ["currency-unit-strip: 12"]);
        for value in ["12 pears", "12 kg or 3 kg", "The answer is 10,000", "about 5", "5 to 6 km"] {
            assert!(proposals(described, &format!("{value:?}")).is_empty(), "{value}");
        }
    }

    #[test]
    fn percentages_are_read_by_their_bounds() {
        assert_eq!(proposals(r#"{"type": "number", "maximum": 1}"#, r#""50%""#), ["percent: 0.5"]);
        assert_eq!(
            proposals(r#"{"type": "number", "maximum": 100}"#, r#""50 %""#),
            ["percent: 50"]
        );
        assert!(proposals(NUMBER, r#""50%""#).is_empty());
    }

    #[test]
    fn fractions_are_divided_and_sums_computed() {
        assert_eq!(proposals(NUMBER, r#""1/2""#), ["fraction-text: 0.5"]);
        assert!(proposals(INTEGER, r#""1/2""#).is_empty());
        assert!(proposals(NUMBER, r#""1/0""#).is_empty());
        assert_eq!(proposals(NUMBER, r#""2*3.5""#), ["arithmetic: 7"]);
        assert!(proposals(NUMBER, r#""2024-01-05""#).is_empty());
    }

    #[test]
    fn a_fraction_of_zeros_is_dropped_for_draft_4() {
        let draft4 = r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}"#;
        assert_eq!(proposals(draft4, "1.0"), ["integral-float: 1"]);
        assert_eq!(proposals(draft4, "12e2"), ["integral-float: 1200"]);
        assert!(proposals(draft4, "1.5").is_empty());
    }

    #[test]
    fn operators_have_precedence() {
        for (term, result) in [
            ("2*3.14159", "6.28318"),
            ("10/4", "2.5"),
            ("1 + 2 * 3", "7"),
            ("(1+2)*3", "9"),
            ("8 - 2 - 1", "5"),
            ("2*-3", "-6"),
            ("((2))*2", "4"),
        ] {
            assert_eq!(calculated(term).as_deref(), Some(result), "{term}");
        }
    }

    #[test]
    fn other_text_is_left_alone() {
        for text in [
            "",
            "5",
            "+5",
            "-5",
            "1-2",
            "2024-01-05",
            "1/0",
            "2*",
            "*2",
            "(2*3",
            "2*3)",
            "2 3*4",
            "1..2*3",
            "a*b",
            "()",
            "(*)",
        ] {
            assert_eq!(calculated(text), None, "{text}");
        }
        assert_eq!(calculated(&"(".repeat(1_000)), None);
    }
}
