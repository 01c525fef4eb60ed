//! An answer that was cut off: what is wrong with it, and where it goes on.

use serde_json::Value;
use wiremend_core::Path;
use wiremend_schema::{Issue, IssueCode};

use crate::{
    join::{End, is_begun_json},
    reading::Reading,
};

/// Whether an issue is only about the end of a text that was cut off, so that the value there may still become valid.
pub(crate) fn is_open(source: &Value, issue: &Issue, cut_at: Option<&Path>) -> bool {
    if issue.code() == IssueCode::Truncated {
        return true;
    }
    let is_last = cut_at.is_some_and(|cut_at| cut_at.steps() == issue.path().steps());
    is_last
        && match issue.code() {
            IssueCode::Length => keyword(issue) == "minLength",
            IssueCode::Range => may_reach_bound(source, issue),
            IssueCode::Format | IssueCode::Pattern => true,
            IssueCode::Const | IssueCode::Enum => is_begun(source, issue),
            _ => false,
        }
}

/// The keyword of the schema that the value does not satisfy.
fn keyword(issue: &Issue) -> &str {
    issue.schema_path().rsplit('/').next().unwrap_or_default()
}

/// Whether further digits can bring a number that was cut off within its bound. They only ever make
/// it larger in magnitude, and after a point by less than one of its last place.
fn may_reach_bound(source: &Value, issue: &Issue) -> bool {
    let number = issue.received().raw();
    let (is_negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    let is_below = matches!(keyword(issue), "minimum" | "exclusiveMinimum");
    if is_below == is_negative {
        return false;
    }
    // An exponent can make it anything.
    if digits.contains(['e', 'E']) {
        return true;
    }
    let place = match digits.split_once('.') {
        Some((_, decimals)) => 0.1_f64.powi(decimals.len().try_into().unwrap_or(i32::MAX)),
        None if digits == "0" => 1.0,
        None => return true,
    };
    let bound = source.pointer(issue.schema_path()).and_then(Value::as_f64);
    let magnitude = digits.parse::<f64>().ok();
    bound.zip(magnitude).is_none_or(|(bound, magnitude)| magnitude + place > bound.abs())
}

/// Whether the text that an issue is about is the beginning of one that the schema lists.
fn is_begun(source: &Value, issue: &Issue) -> bool {
    let received = issue.received();
    let begun = serde_json::from_str::<String>(received.raw()).ok();
    let (Some(begun), Some(listed)) = (begun, source.pointer(issue.schema_path())) else {
        return false;
    };
    let all = listed.as_array().map_or(std::slice::from_ref(listed), Vec::as_slice);
    all.iter().filter_map(Value::as_str).any(|listed| listed.starts_with(&begun))
}

/// The text of an answer that was cut off, without white space that is not in a string.
pub(crate) fn without_space(reading: &Reading) -> &str {
    let text = reading.text.as_str();
    let trimmed = text.trim_end();
    // If white space is part of a value or of a key, that is shorter without it.
    let is_inside =
        || End::of(text) == End::InString || is_begun_json(text) && ends_in_quotes(text);
    if trimmed.len() < text.len() && is_inside() { text } else { trimmed }
}

/// Whether JSON text ends after a quote that nothing has closed.
fn ends_in_quotes(text: &str) -> bool {
    let (mut is_inside, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_inside,
            b'"' => is_inside = !is_inside,
            _ => {}
        }
    }
    is_inside
}
