//! How a token that begins like a number is read.

use alloc::{format, string::String};

use crate::RepairKind;

/// How a token that begins like a number is read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Valid,
    /// Not a valid number, but it can be written as one, or as a string.
    Mend(RepairKind, String),
    /// A sign, a point or an exponent mark with the rest missing.
    Cut(String),
    Text,
}

/// Removes leading zeros: `-007` becomes `-7`.
pub(super) fn without_zeros(token: &[u8]) -> String {
    let (sign, digits) = match token {
        [b'-', digits @ ..] => ("-", digits),
        digits => ("", digits),
    };
    let zeros = digits.iter().take(digits.len() - 1).take_while(|b| **b == b'0').count();
    format!("{sign}{}", String::from_utf8_lossy(&digits[zeros..]))
}

/// Classifies a token that begins like a number.
pub(crate) fn shape_of(token: &[u8]) -> Shape {
    let Ok(text) = core::str::from_utf8(token) else { return Shape::Text };
    let (sign, body) = match text.as_bytes() {
        [b'-', ..] => ("-", &text[1..]),
        [b'+', ..] => ("+", &text[1..]),
        _ => ("", text),
    };
    if matches!(body, "Infinity" | "infinity" | "inf" | "Inf" | "NaN" | "nan") {
        return Shape::Mend(RepairKind::NonFinite, "null".into());
    }
    if let Some(digits) = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X")) {
        let minus = if sign == "-" { "-" } else { "" };
        return match u128::from_str_radix(digits, 16) {
            Ok(value) if !digits.starts_with('+') => {
                Shape::Mend(RepairKind::HexNumber, format!("{minus}{value}"))
            }
            _ => Shape::Text,
        };
    }
    if let Some((over, under)) = body.split_once('/') {
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if digits(over) && digits(under) {
            return Shape::Mend(RepairKind::Fraction, format!("\"{text}\""));
        }
        return Shape::Text;
    }
    if body.contains('_') {
        let plain: String = body.chars().filter(|c| *c != '_').collect();
        let grouped = body.bytes().all(|b| b.is_ascii_digit() || b == b'_' || b == b'.')
            && !body.starts_with('_')
            && !body.ends_with('_');
        return match shape_of(plain.as_bytes()) {
            Shape::Valid if grouped => {
                let minus = if sign == "-" { "-" } else { "" };
                Shape::Mend(RepairKind::DigitSeparator, format!("{minus}{plain}"))
            }
            _ => Shape::Text,
        };
    }
    decimal(sign, body)
}

/// Classifies a decimal number without its sign.
fn decimal(sign: &str, body: &str) -> Shape {
    let bytes = body.as_bytes();
    let whole = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = whole;
    let mut fraction = None;
    if bytes.get(at) == Some(&b'.') {
        let digits = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        fraction = Some(digits);
        at += 1 + digits;
    }
    let number = at;
    let mut exponent = None;
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let digits = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        exponent = Some(digits);
        at += digits;
    }
    if at != bytes.len() {
        return Shape::Text;
    }
    if whole == 0 && fraction.unwrap_or(0) == 0 {
        return if exponent.is_some() { Shape::Text } else { Shape::Cut(String::new()) };
    }
    let minus = if sign == "-" { "-" } else { "" };
    let zeros = whole > 1 && bytes[0] == b'0';
    if zeros {
        // An identifier, a telephone number or a postal code: the zeros are significant.
        return if exponent.is_none() && fraction.is_none() && sign != "+" {
            Shape::Mend(RepairKind::LeadingZero, format!("\"{sign}{body}\""))
        } else {
            Shape::Text
        };
    }
    let lead = if whole == 0 { "0" } else { "" };
    let mantissa = if fraction == Some(0) { &body[..number - 1] } else { &body[..number] };
    if exponent == Some(0) {
        return Shape::Cut(format!("{minus}{lead}{mantissa}"));
    }
    let tail = &body[number..];
    let after = format!("{minus}{lead}{mantissa}{tail}");
    if sign == "+" {
        Shape::Mend(RepairKind::LeadingPlus, after)
    } else if whole == 0 {
        Shape::Mend(RepairKind::LeadingDot, after)
    } else if fraction == Some(0) {
        Shape::Mend(RepairKind::TrailingDot, after)
    } else {
        Shape::Valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        let mend = |kind, text: &str| Shape::Mend(kind, text.into());
        for (token, shape) in [
            ("0", Shape::Valid),
            ("-12.50e+7", Shape::Valid),
            ("+5", mend(RepairKind::LeadingPlus, "5")),
            ("-.5", mend(RepairKind::LeadingDot, "-0.5")),
            ("5.", mend(RepairKind::TrailingDot, "5")),
            ("5.e3", mend(RepairKind::TrailingDot, "5e3")),
            ("007", mend(RepairKind::LeadingZero, "\"007\"")),
            ("0x1F", mend(RepairKind::HexNumber, "31")),
            ("1_000.5", mend(RepairKind::DigitSeparator, "1000.5")),
            ("1/3", mend(RepairKind::Fraction, "\"1/3\"")),
            ("-inf", mend(RepairKind::NonFinite, "null")),
            ("12e+", Shape::Cut("12".into())),
            ("12.e", Shape::Cut("12".into())),
            ("-", Shape::Cut(String::new())),
            ("1.2.3", Shape::Text),
            ("2024-01-05", Shape::Text),
            ("50%", Shape::Text),
            ("00.5", Shape::Text),
        ] {
            assert_eq!(shape_of(token.as_bytes()), shape, "{token}");
        }
    }
}
