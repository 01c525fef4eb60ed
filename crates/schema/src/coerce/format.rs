//! Converts what is written for a string with a `format` or a `pattern`: dates, times, addresses, quotes around it.

use super::Coerced;
use crate::{Rule, calendar, part::Part, tree::quoted};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

pub(super) fn propose(text: &str, part: &Part<'_>, proposals: &mut Vec<Coerced>) {
    if !part.is_narrow() {
        return;
    }
    let mut push = |rule: Rule, text: &str| proposals.push(Coerced::new(rule, quoted(text)));
    match part.format() {
        Some("date") => {
            if let Some(date) = numeric_date(text) {
                push(Rule::DateNormalise, &date);
            } else if let Some(date) = worded_date(text) {
                push(Rule::DateWords, &date);
            }
        }
        Some("date-time") => {
            if let Some(time) = separated(text) {
                push(Rule::DatetimeSeparator, &time);
            }
        }
        Some(format) => {
            if let Some(inner) = trimmed(text, format) {
                push(Rule::FormatTrim, inner);
            }
        }
        None => {}
    }
    if part.options().is_none()
        && let Some(inner) = unfenced(text)
    {
        push(Rule::StringUnfence, inner);
    }
    if let Some(plain) = unescaped(text) {
        push(Rule::EntityUnescape, &plain);
    }
}

fn date(year: &str, month: u32, day: &str) -> Option<String> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let day: u32 = if digits(day) { day.parse().ok()? } else { return None };
    let fits =
        year.len() == 4 && digits(year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    fits.then(|| format!("{year}-{month:02}-{day:02}"))
}

/// Dates such as `2024/1/5`, `2024.01.05` and `20240105`, with the year first. `01/02/2024` is not
/// accepted, because it could be two different days.
fn numeric_date(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let month = text.get(4..6)?.parse().ok()?;
        return date(text.get(..4)?, month, text.get(6..)?);
    }
    let mut parts = text.split(['/', '-', '.']);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || month.len() > 2 || day.len() > 2 {
        return None;
    }
    date(year, month.parse().ok()?, day)
}

/// Dates such as `Jan 5, 2024` and `5 January 2024`.
fn worded_date(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let month = |word: &str| {
        let at = MONTHS.iter().position(|name| word.len() >= 3 && name.starts_with(word))?;
        u32::try_from(at + 1).ok()
    };
    let day = |word: &str| -> String { word.trim_end_matches(char::is_alphabetic).to_owned() };
    match words.as_slice() {
        [first, second, year] if month(first).is_some() => date(year, month(first)?, &day(second)),
        [first, second, year] => date(year, month(second)?, &day(first)),
        _ => None,
    }
}

/// Inserts the `T` and the `Z` of RFC 3339. A missing time zone is not invented.
fn separated(text: &str) -> Option<String> {
    let text = text.trim();
    let (day, time) = (text.get(..10)?, text.get(10..)?);
    let mut chars = time.chars();
    let separator = chars.next()?;
    let time = chars.as_str().trim_start();
    let numeric = day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    (numeric && matches!(separator, ' ' | 't' | 'T' | '_'))
        .then(|| format!("{day}T{}", time.replace(['z'], "Z").replace(" Z", "Z")))
        .filter(|changed| changed != text)
}

/// The text inside `<…>`, backticks, after `mailto:`, or in a link whose text is its address.
fn trimmed<'t>(text: &'t str, format: &str) -> Option<&'t str> {
    let text = text.trim_start();
    let bare = text.trim_end();
    let inner =
        |open: char, close: char| bare.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(inner) = inner('<', '>').or_else(|| inner('`', '`')) {
        return Some(inner.strip_prefix("mailto:").filter(|_| format == "email").unwrap_or(inner));
    }
    if let Some(address) = bare.strip_prefix("mailto:").filter(|_| format == "email") {
        return Some(address);
    }
    if let Some((words, address)) = inner('[', ')').and_then(|link| link.split_once("](")) {
        let less = address.split_once("://").map_or(address, |(_, rest)| rest);
        let same = words == address || words == less.trim_end_matches('/');
        let mail = address.strip_prefix("mailto:") == Some(words);
        return if mail && format == "email" { Some(words) } else { same.then_some(address) };
    }
    (bare.len() < text.len()).then_some(bare)
}

/// The text inside a fence or quotes that enclose the whole string.
fn unfenced(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some(body) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) {
        let body = body.split_once('\n').map_or(body, |(_, body)| body);
        return Some(body.trim_end_matches('\n'));
    }
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”')].iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
        (!inner.contains([*open, *close])).then_some(inner)
    })
}

/// Decodes the five predefined entities of XML, and no others.
fn unescaped(text: &str) -> Option<String> {
    if !text.contains('&') {
        return None;
    }
    let plain = text
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    (plain != text).then_some(plain)
}

const DAY: u64 = 24 * 60 * 60;

/// Ten digits are seconds and thirteen are milliseconds; any other number of digits is too
/// ambiguous. Unix time is in UTC, so no time zone is invented. For the format `date` the time must
/// be midnight, because the time of day would be lost otherwise.
pub(super) fn propose_epoch(digits: &str, part: &Part<'_>, proposals: &mut Vec<Coerced>) {
    let Some((seconds, millis)) = epoch(digits) else { return };
    let text = match part.format() {
        Some("date") if seconds.is_multiple_of(DAY) && millis == 0 => calendar::date(seconds / DAY),
        Some("date-time") => {
            let fraction = if millis == 0 { String::new() } else { format!(".{millis:03}") };
            format!("{}{fraction}Z", calendar::date_time(seconds))
        }
        _ => return,
    };
    proposals.push(Coerced::new(Rule::DateWords, quoted(&text)));
}

fn epoch(digits: &str) -> Option<(u64, u64)> {
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

#[cfg(test)]
mod tests {
    use super::super::tests::proposals;

    fn with_format(format: &str, value: &str) -> Vec<String> {
        proposals(&format!(r#"{{"type": "string", "format": "{format}"}}"#), value)
    }

    #[test]
    fn dates_are_written_with_the_year_first() {
        for value in [r#""2024/1/5""#, r#""2024.01.05""#, r#""20240105""#, r#""2024-1-5""#] {
            assert_eq!(with_format("date", value), [r#"date-normalise: "2024-01-05""#], "{value}");
        }
        for value in [r#""Jan 5, 2024""#, r#""5 January 2024""#, r#""January 5th 2024""#] {
            assert_eq!(with_format("date", value), [r#"date-words: "2024-01-05""#], "{value}");
        }
        for value in
            [r#""01/02/2024""#, r#""5/1/24""#, r#""tomorrow""#, r#""2024/13/5""#, r#""2024""#]
        {
            assert!(with_format("date", value).is_empty(), "{value}");
        }
    }

    #[test]
    fn times_get_their_separators_and_no_zone() {
        assert_eq!(
            with_format("date-time", r#""2024-01-05 10:00:00z""#),
            [r#"datetime-separator: "2024-01-05T10:00:00Z""#]
        );
        assert!(with_format("date-time", r#""2024-01-05T10:00:00""#).is_empty());
        assert!(with_format("date-time", r#""January 5 10:00""#).is_empty());
    }

    #[test]
    fn marks_around_addresses_are_trimmed() {
        let trim = |format, value| with_format(format, value).first().cloned().unwrap_or_default();
        assert_eq!(trim("uri", r#""<http://a.org>""#), r#"format-trim: "http://a.org""#);
        assert_eq!(trim("email", r#""mailto:a@b.org""#), r#"format-trim: "a@b.org""#);
        assert_eq!(trim("uri", r#""[a.org](http://a.org)""#), r#"format-trim: "http://a.org""#);
        assert_eq!(
            trim("uri", r#""[the docs](http://a.org)""#),
            "",
            "the words say something else"
        );
        assert!(proposals(r#"{"type": "string"}"#, r#""<http://a.org>""#).is_empty());
    }

    #[test]
    fn quotes_are_removed_only_for_patterns_and_formats() {
        let pattern = r#"{"type": "string", "pattern": "^[a-z]+$"}"#;
        assert_eq!(proposals(pattern, r#""`abc`""#), [r#"string-unfence: "abc""#]);
        assert_eq!(proposals(pattern, r#""```txt\nabc\n```""#), [r#"string-unfence: "abc""#]);
        assert!(proposals(pattern, r#""'a' and 'b'""#).is_empty());
        assert!(proposals(r#"{"type": "string", "maxLength": 2}"#, r#""`abc`""#).is_empty());
    }

    fn with_draft_7_format(format: &str, value: &str) -> Vec<String> {
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
            assert_eq!(
                with_draft_7_format(format, value),
                [format!("date-words: \"{text}\"")],
                "{value}"
            );
        }
        for (format, value) in [
            ("date", "1704412801"),
            ("date", "20240105"),
            ("date-time", "170441280"),
            ("date-time", "1704412800.5"),
            ("date-time", "-1704412800"),
            ("time", "1704412800"),
        ] {
            assert_eq!(with_draft_7_format(format, value), [""; 0], "{format} {value}");
        }
    }
}
