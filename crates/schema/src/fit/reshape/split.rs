//! Text that holds several items.

use super::{Proposal, Site};
use crate::{
    Rule,
    compile::Types,
    tree::{JsonKind, quoted},
};

/// The most items a text is split into.
const MOST: usize = 1_000;

pub(super) fn propose<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let (part, wanted) = (site.part, site.part.allows(JsonKind::Array) && site.part.has_items());
    let Some(text) = site.node.as_str().filter(|_| wanted && !part.allows(JsonKind::String)) else {
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

/// Two values or more with commas between them. Sentences are no lists.
fn commas<'t, 's>(site: &Site<'t, 's, '_>, text: &str, found: &mut Vec<Proposal<'t, 's>>) {
    let separator = if text.contains(';') { ';' } else { ',' };
    let items: Vec<&str> = text.split(separator).map(str::trim).collect();
    if items.len() < 2 || items.len() > MOST || items.iter().any(|item| item.is_empty()) {
        return;
    }
    let item = site.part.item(0);
    let told = item.options().is_some()
        || item.format().is_some()
        || !item.allowed().has(Types::STRING) && !item.allows(JsonKind::Array);
    let sentence = text.contains(['"', '!', '?', '(', ')'])
        || text.contains(". ")
        || text.ends_with('.')
        || items.iter().any(|item| {
            item.split_whitespace().count() > 4
                || item.starts_with("and ")
                || item.starts_with("or ")
        });
    if told && separator == ',' {
        found.push(Proposal::text(Rule::CsvEnumToArray, array(&items)));
    } else if !sentence {
        found.push(Proposal::text(Rule::CsvToArray, array(&items)));
    }
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

/// The line without `-`, `*`, `•`, `1.` or `1)` before it.
fn unmarked(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '+']) {
        return rest.starts_with(' ').then(|| rest.trim());
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix(['.', ')']).filter(|_| rest.len() < line.len())?;
    rest.starts_with(' ').then(|| rest.trim())
}
