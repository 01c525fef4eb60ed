//! Converts seconds and milliseconds since 1970 to dates.

use super::Coerced;
use crate::{Rule, part::Part, tree::quoted};

const DAY: u64 = 24 * 60 * 60;

/// Ten digits are seconds and thirteen are milliseconds; any other number of digits is too
/// ambiguous. Unix time is in UTC, so no time zone is invented. For the format `date` the time must
/// be midnight, because the time of day would be lost otherwise.
pub(super) fn propose(digits: &str, part: &Part<'_>, proposals: &mut Vec<Coerced>) {
    let Some((seconds, millis)) = read(digits) else { return };
    let (days, of_day) = (seconds / DAY, seconds % DAY);
    let text = match part.format() {
        Some("date") if of_day == 0 && millis == 0 => date(days),
        Some("date-time") => {
            let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
            let fraction = if millis == 0 { String::new() } else { format!(".{millis:03}") };
            format!("{}T{hour:02}:{minute:02}:{second:02}{fraction}Z", date(days))
        }
        _ => return,
    };
    proposals.push(Coerced::new(Rule::DateWords, quoted(&text)));
}

fn read(digits: &str) -> Option<(u64, u64)> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    match digits.len() {
        10 => Some((number, 0)),
        13 => Some((number / 1000, number % 1000)),
        _ => None,
    }
}

/// The date `days` days after 1970-01-01, in the Gregorian calendar.
fn date(mut days: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    // Thirteen digits of milliseconds end in the year 2286, so this takes a few hundred iterations
    // at most.
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use crate::coerce::tests::proposals;

    fn with_format(format: &str, value: &str) -> Vec<String> {
        let schema = format!(
            r#"{{"$schema": "http://json-schema.org/draft-07/schema#", "type": "string", "format": "{format}"}}"#
        );
        proposals(&schema, value).into_iter().filter(|p| p.starts_with("date-words")).collect()
    }

    #[test]
    fn seconds_and_milliseconds_become_dates() {
        for (format, value, text) in [
            ("date", "1704412800", "2024-01-05"),
            ("date", "\"1704412800\"", "2024-01-05"),
            ("date", "1709164800000", "2024-02-29"),
            ("date", "4107542400", "2100-03-01"),
            ("date", "1735603200", "2024-12-31"),
            ("date-time", "1704450645", "2024-01-05T10:30:45Z"),
            ("date-time", "1704450645250", "2024-01-05T10:30:45.250Z"),
        ] {
            assert_eq!(with_format(format, value), [format!("date-words: \"{text}\"")], "{value}");
        }
        for (format, value) in [
            ("date", "1704412801"),
            ("date", "20240105"),
            ("date-time", "170441280"),
            ("date-time", "1704412800.5"),
            ("date-time", "-1704412800"),
            ("time", "1704412800"),
        ] {
            assert_eq!(with_format(format, value), [""; 0], "{format} {value}");
        }
    }
}
