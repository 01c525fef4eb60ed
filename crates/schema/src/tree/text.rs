//! Writes strings and numbers.

use std::borrow::Cow;

/// The most zeros that an exponent may expand to. No integer type of a common language can
/// represent a number with more.
const MOST_ZEROS: usize = 64;

/// Encodes a text as a JSON string, with quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match escaped(c) {
            Some(escape) => out.push_str(&escape),
            None => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The escape for a character that a JSON string cannot contain as it is.
pub(crate) fn escaped(c: char) -> Option<Cow<'static, str>> {
    Some(match c {
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        '\t' => "\\t".into(),
        c if c < ' ' => format!("\\u{:04x}", u32::from(c)).into(),
        _ => return None,
    })
}

/// Whether a JSON number has no fractional part. The text is examined, so that large and precise
/// numbers are not rounded.
pub(crate) fn is_integer(number: &str) -> bool {
    if number.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent),
        None => (number, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    if whole.trim_matches(['-', '0']).is_empty() && fraction.is_empty() {
        return true;
    }
    // If the exponent is too large to parse, only its sign matters.
    let exponent = exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    });
    let digits = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
    if exponent >= 0 || !fraction.is_empty() {
        return digits(fraction) <= exponent;
    }
    // In `1200e-2`, the exponent may only remove zeros.
    digits(whole) - digits(whole.trim_end_matches('0')) >= exponent.saturating_neg()
}

/// The digits of a whole number that is written with a fraction, an exponent or as `-0`: `3.0`
/// becomes `3`, and `12e2` becomes `1200`. `None` for a number that is not whole, consists of
/// digits already, or would get more than [`MOST_ZEROS`] zeros.
pub(crate) fn plain_integer(number: &str) -> Option<String> {
    let (sign, rest) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    if !rest.contains(['.', 'e', 'E']) {
        return (number == "-0").then(|| "0".to_owned());
    }
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let mut digits = [whole, fraction].concat().trim_start_matches('0').to_owned();
    if digits.is_empty() {
        return Some("0".to_owned());
    }
    // The number consists of the digits, with this many zeros added or removed.
    let zeros = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    match usize::try_from(zeros) {
        Ok(zeros) if zeros <= MOST_ZEROS => digits.extend(std::iter::repeat_n('0', zeros)),
        Ok(_) => return None,
        Err(_) => {
            let ending = digits.len() - digits.trim_end_matches('0').len();
            let taken =
                usize::try_from(zeros.unsigned_abs()).ok().filter(|taken| *taken <= ending)?;
            digits.truncate(digits.len() - taken);
        }
    }
    Some(format!("{sign}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_written() {
        for text in ["", "a", "é\u{1F600}", "\"\\/\n\r\t\u{8}\u{c}\u{0}\u{7f}"] {
            assert_eq!(serde_json::from_str::<String>(&quoted(text)).unwrap(), text);
        }
    }

    #[test]
    fn integers_are_recognised_by_their_digits() {
        for number in [
            "0", "-0", "0.0", "1", "-12", "1.0", "1.50e1", "1e3", "1200e-2", "1e400", "0e-9",
            "0.10e1",
        ] {
            assert!(is_integer(number), "{number}");
        }
        for number in ["0.5", "1.5", "15e-1", "1.25e1", "1e-1", "-1.0000000000000000000001"] {
            assert!(!is_integer(number), "{number}");
        }
        assert!(is_integer("123456789012345678901234567890"));
        assert!(is_integer("1e99999999999999999999"));
        assert!(!is_integer("1e-99999999999999999999"));
    }

    #[test]
    fn whole_numbers_are_written_as_plain_digits() {
        for (number, digits) in [
            ("3.0", "3"),
            ("-3.000", "-3"),
            ("3e0", "3"),
            ("300e-2", "3"),
            ("300.00E-2", "3"),
            ("1.50e1", "15"),
            ("12e+2", "1200"),
            ("0.10e1", "1"),
            ("0.001e3", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e999999999999999999999", "0"),
            ("9007199254740993.0", "9007199254740993"),
            ("123456789012345678901234567890.0", "123456789012345678901234567890"),
        ] {
            assert_eq!(plain_integer(number).as_deref(), Some(digits), "{number}");
        }
        assert_eq!(plain_integer("1e64").map(|digits| digits.len()), Some(65));
        for number in [
            "3",
            "-3",
            "0",
            "3.5",
            "35e-1",
            "1e-1",
            "1.25e1",
            "1e65",
            "1e999999999",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "1e-9223372036854775808",
            "0.5",
        ] {
            assert_eq!(plain_integer(number), None, "{number}");
        }
    }
}
