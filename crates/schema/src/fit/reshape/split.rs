//! Splits text that contains several items.

use wiremend_core::Risk;

use super::{Proposal, Site};
use crate::{
    Rule,
    compile::Types,
    part::Part,
    tree::{JsonType, quoted},
};

/// The most items that a text is split into.
const MOST: usize = 1_000;

pub(super) fn propose<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let (part, wanted) = (site.part, site.part.allows(JsonType::Array) && site.part.has_items());
    let Some(text) = site.node.as_str().filter(|_| wanted && !part.allows(JsonType::String)) else {
        return;
    };
    let text = text.trim();
    if text.starts_with(['[', '{', '`']) || site.place.takes_strings {
        return;
    }
    if text.contains('\n') {
        lines(text, found);
    } else {
        commas(site, text, found);
    }
}

fn array(items: &[&str]) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    format!("[{}]", items.join(", "))
}

/// Two or more values separated by commas. Sentences are not split.
fn commas<'t, 's>(site: &Site<'t, 's, '_>, text: &str, found: &mut Vec<Proposal<'t, 's>>) {
    let separator = if text.contains(';') { ';' } else { ',' };
    let items: Vec<&str> = text.split(separator).map(str::trim).collect();
    if items.len() < 2 || items.len() > MOST || items.iter().any(|item| item.is_empty()) {
        return;
    }
    let item = site.part.item(0);
    let checked = item.options().is_some()
        || item.format().is_some()
        || !item.allowed().has(Types::STRING) && !item.allows(JsonType::Array);
    let sentence = text.contains(['"', '!', '?', '(', ')'])
        || text.contains(". ")
        || text.ends_with('.')
        || items.iter().any(|item| {
            item.split_whitespace().count() > 4
                || item.starts_with("and ")
                || item.starts_with("or ")
        });
    if checked && separator == ',' {
        let one = item.allows(JsonType::Number) && could_be_one_number(text, &item);
        let risk = if one { Risk::Guess } else { Risk::Likely };
        let proposal = Proposal::text(Rule::CsvEnumToArray, array(&items));
        found.push(proposal.with_risk(risk));
    } else if !sentence {
        found.push(Proposal::text(Rule::CsvToArray, array(&items)));
    }
}

/// Whether the commas in a text may be those of one number: between groups of digits (`1,234`), or
/// before a fraction (`3,14`).
pub(super) fn could_be_one_number(text: &str, item: &Part<'_>) -> bool {
    let text = text.trim();
    let parts: Vec<&str> = text.strip_prefix('-').unwrap_or(text).split(',').collect();
    let (Some((first, rest)), true) = (parts.split_first(), parts.len() > 1) else { return false };
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let grouped = first.len() <= 3 && rest.iter().all(|part| part.len() == 3);
    let decimal = rest.len() == 1 && !item.allowed().is_whole_only();
    parts.iter().all(digits) && (grouped || decimal)
}

fn lines<'t, 's>(text: &str, found: &mut Vec<Proposal<'t, 's>>) {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() < 2 || lines.len() > MOST {
        return;
    }
    let marked: Vec<&str> = lines.iter().filter_map(|line| unmarked(line)).collect();
    if marked.len() == lines.len() {
        found.push(Proposal::text(Rule::ListMarksToArray, array(&marked)));
    } else if marked.is_empty() {
        let bare: Vec<&str> = lines.iter().map(|line| line.trim_end_matches(',')).collect();
        found.push(Proposal::text(Rule::LinesToArray, array(&bare)));
    }
}

/// A line without a leading `-`, `*`, `•`, `1.` or `1)`.
fn unmarked(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '+']) {
        return rest.starts_with(' ').then(|| rest.trim());
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix(['.', ')']).filter(|_| rest.len() < line.len())?;
    rest.starts_with(' ').then(|| rest.trim())
}
