//! Reads a text without JSON as a value, for a schema that asks for a string.

use wiremend_core::{Outcome, Path, Risk};

use super::{Applied, FitOptions, Fitted, made::shortened, permit::Permit, place::Place};
use crate::{
    Cause, Change, Rule, Tree,
    compile::Types,
    judge::Judge,
    part::Part,
    tree::{JsonType, quoted},
};

/// A text that is not JSON, for a schema that asks for a string or for an object with one.
pub(super) fn words(
    judge: &mut Judge<'_>,
    input: &[u8],
    options: &FitOptions,
    no_json: bool,
) -> Option<Fitted> {
    let text = std::str::from_utf8(input).ok().filter(|text| !text.trim().is_empty())?;
    let (part, place) = (Part::root(judge.schema()), Place::root());
    if !Permit::new(options)?.allows(Rule::WrapText, &place, &part) {
        return None;
    }
    // Broken JSON is read as text only if the schema accepts nothing else.
    let output = if part.allowed() == Types::STRING || no_json && part.allows(JsonType::String) {
        quoted(text)
    } else {
        let required = part.required();
        let [key] = required.as_slice() else { return None };
        let property = part.property(key).filter(|property| property.allows(JsonType::String))?;
        // A string with a format or pattern cannot be an arbitrary text, and unparsed JSON is not
        // text either.
        if property.is_narrow() || holds_json(text) {
            return None;
        }
        format!("{{{}: {}}}", quoted(key), quoted(text.trim()))
    };
    if !Tree::read(&output).is_ok_and(|tree| judge.accepts_whole(&tree)) {
        return None;
    }
    let cause = Cause::Rule(Rule::WrapText);
    let change = Change::new(cause, 0..input.len(), output.clone(), Path::default());
    let applied = Applied {
        rule: Rule::WrapText,
        risk: Risk::Guess,
        path: Path::default(),
        schema_path: String::new(),
        start: 0,
        end: input.len(),
        before: shortened(text),
        after: shortened(&output),
    };
    Some(Fitted {
        outcome: Outcome::Repaired,
        text: Some(output),
        mended: None,
        changes: vec![change],
        applied: vec![applied],
        issues: Vec::new(),
        cut_at: None,
    })
}

/// Whether part of a text was meant to be JSON: it begins with a bracket, or contains a brace
/// before a key and a colon, or a list that begins with a brace or a quote.
fn holds_json(text: &str) -> bool {
    let opens = |(at, bracket): (usize, &str)| {
        let inside = text.get(at + bracket.len()..).unwrap_or_default().trim_start();
        match bracket {
            "{" => opens_member(inside),
            _ => inside.starts_with(['{', '"', '\'']),
        }
    };
    text.trim_start().starts_with(['{', '[']) || text.match_indices(['{', '[']).any(opens)
}

/// Whether a text begins with `key:`, with or without quotes.
fn opens_member(inside: &str) -> bool {
    /// The longest key that is searched for, in bytes.
    const KEY: usize = 64;
    let quotes = ['"', '\'', '`', '\u{201c}', '\u{201d}'];
    let named = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    let key = inside.trim_start_matches(quotes);
    let rest = key.trim_start_matches(named);
    let length = key.len() - rest.len();
    let colon = rest.trim_start_matches(quotes).trim_start().starts_with(':');
    (1..=KEY).contains(&length) && colon
}
