//! Numbers of JSON in bare text.

/// The number as JSON, if the text is one. Leading zeros and a plus sign are dropped, so where a string
/// is possible, too, the text is a number only if this is the same: `07030` is a code.
pub(super) fn number(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (integer, mut rest) = digits.split_at(whole);
    let integer = match integer.trim_start_matches('0') {
        "" if whole > 0 => "0",
        "" => return None,
        other => other,
    };
    let mut json = format!("{sign}{integer}");
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return None;
        }
        json.push('.');
        json.push_str(fraction.get(..length)?);
        rest = fraction.get(length..)?;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let digits = exponent.trim_start_matches(['+', '-']);
        if digits.is_empty()
            || exponent.len() > digits.len() + 1
            || !digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        json.push('e');
        json.push_str(exponent);
        rest = "";
    }
    rest.is_empty().then_some(json)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_those_of_json() {
        for (text, json) in
            [("07", "7"), ("-0", "-0"), ("+1.50", "1.50"), ("1e-3", "1e-3"), ("00", "0")]
        {
            assert_eq!(number(text).as_deref(), Some(json));
        }
        for text in ["", "-", "1.", "1e", "1e+-2", "0x1", "1 2", ".5", "42:ab"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
