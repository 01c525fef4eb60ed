//! How all strings of a document are written.

use super::{Group::Style, Kind, rewritten};
use crate::{
    Seed,
    damaged::{
        draft::{Change, Draft},
        pieces::Token,
    },
};

pub(super) const KINDS: &[Kind] = &[
    Kind::new(Style, "single-quotes", "{'a': 'it\\'s'}", |draft, _| {
        every(draft, |text| Some(single(text)))
    }),
    Kind::new(Style, "python-repr", "{'a': \"it's\", 'b': None}", python),
    Kind::new(Style, "smart-quotes", "{“a”: “b”}", |draft, _| between(draft, "“", "”")),
    Kind::new(Style, "low-quotes", "{„a“: „b“}", |draft, _| between(draft, "„", "“")),
    Kind::new(Style, "guillemets", "{«a»: «b»}", |draft, _| between(draft, "«", "»")),
    Kind::new(Style, "backtick-quotes", "{`a`: `b`}", |draft, _| every(draft, backtick)),
    Kind::new(Style, "doubled-quotes", "{\"\"a\"\": \"\"b\"\"}", |draft, _| repeated(draft, "\"")),
    Kind::new(Style, "triple-quotes", "{\"a\": \"\"\"b\"\"\"}", triple),
    Kind::new(Style, "unquoted-keys", "{a: \"b\"}", |draft, _| unquoted_keys(draft, |_| None)),
    Kind::new(Style, "js-literal", "{a: 'b'}", |draft, _| {
        unquoted_keys(draft, |text| Some(single(text)))
    }),
];

/// Writes every string in another way; `None` if one of them cannot be.
fn every(draft: &Draft, write: impl Fn(&str) -> Option<String>) -> Option<Change> {
    let strings = draft.all(&[Token::Key, Token::Text]);
    let written = strings.into_iter().map(|at| Some((at, write(draft.inside(at))?)));
    Change::many(written.collect::<Option<_>>()?)
}

fn single(inside: &str) -> String {
    let inside = rewritten(inside, |unit| match unit {
        "\\\"" => "\"",
        "'" => "\\'",
        other => other,
    });
    format!("'{inside}'")
}

/// Backticks, where no string contains one, or a template of JavaScript.
fn backtick(inside: &str) -> Option<String> {
    let inside = rewritten(inside, |unit| if unit == "\\\"" { "\"" } else { unit });
    (!inside.contains('`') && !inside.contains("${")).then(|| format!("`{inside}`"))
}

/// What Python prints: double quotes around a text with an apostrophe and no double quote.
fn python(draft: &Draft, _: &mut Seed) -> Option<Change> {
    let repr = |inside: &str| {
        if inside.contains('\'') && !inside.contains("\\\"") {
            format!("\"{inside}\"")
        } else {
            single(inside)
        }
    };
    let mut change = every(draft, |inside| Some(repr(inside)))?;
    change.pieces.extend(draft.all(&[Token::Literal]).into_iter().map(|at| {
        let literal = match draft.text(at) {
            "true" => "True",
            "false" => "False",
            _ => "None",
        };
        (at, literal.to_owned())
    }));
    Some(change)
}

/// Typographic quotes, where no string contains one.
fn between(draft: &Draft, open: &str, close: &str) -> Option<Change> {
    every(draft, |inside| {
        let plain = !inside.contains(['“', '”', '„', '«', '»', '「', '」']);
        plain.then(|| format!("{open}{inside}{close}"))
    })
}

/// More quotes around all strings that neither are empty nor begin or end with a quote.
fn repeated(draft: &Draft, more: &str) -> Option<Change> {
    let mut change = every(draft, |inside| {
        let edge = inside.starts_with("\\\"") || inside.ends_with("\\\"");
        (!edge).then(|| format!("{more}\"{inside}\"{more}"))
    })?;
    change.pieces.retain(|(at, _)| !draft.inside(*at).is_empty());
    Some(change)
}

/// Three quotes around the values.
fn triple(draft: &Draft, _: &mut Seed) -> Option<Change> {
    let mut change = repeated(draft, "\"\"")?;
    change.pieces.retain(|(at, _)| draft.token(*at) == Some(Token::Text));
    Change::many(change.pieces)
}

/// Keys that are names lose their quotes, and other strings are written by `write`.
fn unquoted_keys(draft: &Draft, write: impl Fn(&str) -> Option<String>) -> Option<Change> {
    let is_key = |at: usize| draft.token(at) == Some(Token::Key) && is_name(draft.inside(at));
    let strings = draft.all(&[Token::Key, Token::Text]);
    strings.iter().any(|at| is_key(*at)).then_some(())?;
    let written = |at: usize| {
        let inside = draft.inside(at);
        if is_key(at) { Some((at, inside.to_owned())) } else { Some((at, write(inside)?)) }
    };
    Change::many(strings.into_iter().filter_map(written).collect())
}

/// A name that is no literal.
pub(super) fn is_name(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let literal = ["true", "false", "null", "none", "undefined", "nan", "infinity"];
    begins
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !literal.contains(&text.to_lowercase().as_str())
}
