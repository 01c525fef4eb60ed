//! Single quotes that were lost, changed or not escaped. Each of these is made only where the rest of
//! the text leaves one reading: no other choice of as few quotes makes it JSON.

use super::{Group::Doubtful, Kind, rewritten, units};
use crate::{
    Seed,
    damaged::{
        draft::{Change, Draft},
        pieces::Token,
        readings::Edits,
    },
};

pub(super) const KINDS: &[Kind] = &[
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
