//! How all strings of a document are written.

use super::{
    Group::{Doubtful, Style},
    Kind, rewritten, units,
};
use crate::{
    Seed,
    damaged::{
        draft::{Change, Draft, Token},
        judge::Edits,
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

// Single quotes that were lost, changed or not escaped. Each of these is made only where the rest of
// the text leaves one reading: no other choice of as few quotes makes it JSON.

pub(super) const DOUBTFUL: &[Kind] = &[
    Kind::new(Doubtful, "mixed-quotes", "{\"a\": \"b”}", mixed),
    Kind::new(Doubtful, "quote-and-apostrophe", "{\"a\": 'b\"}", apostrophe),
    Kind::new(Doubtful, "one-doubled-quote", "{\"a\": \"b\"\", \"c\": 1}", doubled),
    Kind::new(Doubtful, "key-opening-quote-lost", "{a\": 1}", |draft, seed| {
        lost(draft, seed, Token::Key, true)
    }),
    Kind::new(Doubtful, "key-closing-quote-lost", "{\"a: 1}", |draft, seed| {
        lost(draft, seed, Token::Key, false)
    }),
    Kind::new(Doubtful, "opening-quote-lost", "{\"a\": b\", \"c\": 1}", |draft, seed| {
        lost(draft, seed, Token::Text, true)
    }),
    Kind::new(Doubtful, "closing-quote-lost", "{\"a\": \"b, \"c\": 1}", |draft, seed| {
        lost(draft, seed, Token::Text, false)
    }),
    Kind::new(Doubtful, "last-closing-quote-lost", "{\"a\": [\"b]}", last),
    Kind::new(Doubtful, "inner-quotes", "{\"a\": \"he said \"no\" twice\"}", inner),
    Kind::new(
        Doubtful,
        "all-inner-quotes",
        "{\"a\": \"x \"y\" z\", \"b\": \"<a href=\"/\">\"}",
        all_inner,
    ),
];

/// A quote is gone. For an item of an array, the other reading is a quote inside of a longer string,
/// unless the line ends there.
fn lost(draft: &Draft, seed: &mut Seed, token: Token, opening: bool) -> Option<Change> {
    let at = draft.any(seed, &[token], |at| {
        let inner = at + 3 < draft.last();
        !draft.inside(at).is_empty() && (token == Token::Key || inner)
    })?;
    let text = draft.text(at);
    let text = if opening { text.get(1..) } else { text.get(..text.len() - 1) };
    draft.clear(Change::one(at, text?), Edits::Signs, 1)
}

/// The last string of the document has lost its closing quote, and the brackets are all there.
fn last(draft: &Draft, _: &mut Seed) -> Option<Change> {
    let at = draft.all(&[Token::Key, Token::Text, Token::Number, Token::Literal]).pop()?;
    (draft.token(at) == Some(Token::Text)).then_some(())?;
    let text = draft.text(at);
    draft.clear(Change::one(at, text.get(..text.len() - 1)?), Edits::Signs, 1)
}

/// One quote of a string is a typographic one, where no string contains one of these.
fn mixed(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let plain = |at: usize| !draft.inside(at).is_empty() && !draft.inside(at).contains(['“', '”']);
    let at = draft.any(seed, &[Token::Key, Token::Text], plain)?;
    let inside = draft.inside(at);
    let (begin, end) = match seed.below(2) {
        0 => (inside.len() + 1, format!("\"{inside}”")),
        _ => (0, format!("“{inside}\"")),
    };
    // Without the typographic quote, it has to be clear where one is missing.
    let mut without = draft.text(at).to_owned();
    without.remove(begin);
    draft.one_reading(&Change::one(at, without)?, Edits::Signs, 1).then_some(())?;
    Change::one(at, end)
}

/// One quote of a string is an apostrophe, where the string contains none.
fn apostrophe(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let plain = |at: usize| !draft.inside(at).is_empty() && !draft.inside(at).contains('\'');
    let at = draft.any(seed, &[Token::Key, Token::Text], plain)?;
    let inside = draft.inside(at);
    let (begin, end) = match seed.below(2) {
        0 => (inside.len() + 1, format!("\"{inside}'")),
        _ => (0, format!("'{inside}\"")),
    };
    let mut without = draft.text(at).to_owned();
    without.remove(begin);
    draft.one_reading(&Change::one(at, without)?, Edits::Signs, 1).then_some(())?;
    Change::one(at, end)
}

/// One quote of a string is written twice, where the string has no quote at its edges.
fn doubled(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at = draft.any(seed, &[Token::Key, Token::Text], |at| {
        let inside = draft.inside(at);
        !inside.is_empty() && !inside.starts_with("\\\"") && !inside.ends_with("\\\"")
    })?;
    let text = draft.text(at);
    match seed.below(2) {
        0 => Change::one(at, format!("\"{text}")),
        _ => Change::one(at, format!("{text}\"")),
    }
}

fn escaped_quotes(inside: &str) -> usize {
    units(inside).filter(|unit| *unit == "\\\"").count()
}

fn unescaped(text: &str) -> String {
    rewritten(text, |unit| if unit == "\\\"" { "\"" } else { unit })
}

/// The quotes in one string are not escaped.
fn inner(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at = draft
        .any(seed, &[Token::Text], |at| (1..40).contains(&escaped_quotes(draft.inside(at))))?;
    let count = escaped_quotes(draft.inside(at));
    let text = format!("\"{}\"", unescaped(draft.inside(at)));
    clear_quotes(draft, Change::one(at, text)?, count)
}

/// The quotes in all strings are not escaped.
fn all_inner(draft: &Draft, _: &mut Seed) -> Option<Change> {
    let strings = draft.all(&[Token::Text]).into_iter();
    let with_quotes: Vec<usize> =
        strings.filter(|at| escaped_quotes(draft.inside(*at)) > 0).collect();
    let count = with_quotes.iter().map(|at| escaped_quotes(draft.inside(*at))).sum();
    (with_quotes.len() > 1).then_some(())?;
    let text = |at: usize| (at, format!("\"{}\"", unescaped(draft.inside(at))));
    clear_quotes(draft, Change::many(with_quotes.into_iter().map(text).collect())?, count)
}

/// The change if no other reading has as few quotes inside of strings.
fn clear_quotes(draft: &Draft, change: Change, count: usize) -> Option<Change> {
    let count = u8::try_from(count).ok().filter(|count| *count <= 60)?;
    draft.quotes_clear(&change, count).then_some(change)
}
