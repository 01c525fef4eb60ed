//! Commas, colons and remarks between the tokens.

use super::{
    Group::{Doubtful, Local, Style},
    Kind,
    quotes::is_name,
};
use crate::{
    Seed,
    damaged::{
        draft::{Change, Draft},
        pieces::Token,
        readings::Edits,
        words,
    },
};

pub(super) const KINDS: &[Kind] = &[
    Kind::new(Local, "comma-lost", "[1 2]", comma_lost),
    Kind::new(Local, "commas-lost-at-line-ends", "{\"a\": 1\n\"b\": 2\n\"c\": 3}", commas_lost),
    Kind::new(Local, "comma-doubled", "[1,, 2]", |draft, seed| {
        sign(draft, seed, Token::Comma, ",,")
    }),
    Kind::new(Local, "comma-as-semicolon", "{\"a\": 1; \"b\": 2}", |draft, seed| {
        sign(draft, seed, Token::Comma, ";")
    }),
    Kind::new(Local, "commas-as-semicolons", "{\"a\": 1; \"b\": 2; \"c\": 3}", |draft, _| {
        signs(draft, Token::Comma, ";")
    }),
    Kind::new(Local, "trailing-comma", "[1, 2,]", trailing_comma),
    Kind::new(Local, "trailing-commas", "{\"a\": [1, 2,],}", trailing_commas),
    Kind::new(Local, "leading-comma", "{, \"a\": 1}", leading_comma),
    Kind::new(Local, "colon-lost", "{\"a\" 1}", colon_lost),
    Kind::new(Local, "colon-doubled", "{\"a\":: 1}", |draft, seed| {
        sign(draft, seed, Token::Colon, "::")
    }),
    Kind::new(Local, "colon-as-equals", "{\"a\" = 1}", |draft, seed| {
        sign(draft, seed, Token::Colon, " =")
    }),
    Kind::new(Local, "colons-as-equals", "{\"a\"=1, \"b\"=2}", |draft, _| {
        signs(draft, Token::Colon, "=")
    }),
    Kind::new(Local, "colons-as-arrows", "{\"a\" => 1, \"b\" => 2}", |draft, _| {
        signs(draft, Token::Colon, " =>")
    }),
    Kind::new(Local, "colon-as-comma", "{\"a\": 1, \"b\", 2}", colon_as_comma),
    Kind::new(Style, "key-equals", "{a = 1, b = \"c\"}", key_equals),
    Kind::new(Local, "block-comment", "[1, /* two */ 2]", |draft, seed| {
        comment(draft, seed, "/* ", " */", false)
    }),
    Kind::new(Local, "line-comment", "[1, // two\n2]", |draft, seed| {
        comment(draft, seed, "// ", "", true)
    }),
    Kind::new(Local, "hash-comment", "[1, # two\n2]", |draft, seed| {
        comment(draft, seed, "# ", "", true)
    }),
    Kind::new(Local, "html-comment", "[1, <!-- two --> 2]", |draft, seed| {
        comment(draft, seed, "<!-- ", " -->", false)
    }),
    Kind::new(Local, "ellipsis", "[1, 2, ...]", ellipsis),
    Kind::new(Doubtful, "stray-word", "{\"a\": 1, oops \"b\": 2}", stray_word),
    Kind::new(Doubtful, "stray-line", "{\"a\": 1,\nand then\n\"b\": 2}", stray_line),
];

fn sign(draft: &Draft, seed: &mut Seed, token: Token, text: &str) -> Option<Change> {
    Change::one(draft.any(seed, &[token], |_| true)?, text)
}

fn signs(draft: &Draft, token: Token, text: &str) -> Option<Change> {
    let places = draft.all(&[token]);
    (places.len() > 1)
        .then(|| Change::many(places.into_iter().map(|at| (at, text.to_owned())).collect()))?
}

/// A comma is gone. White space is left between the items, because two numbers would be one otherwise.
fn comma_lost(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let spaced = |at: usize| !draft.text(at + 1).is_empty();
    let at = draft.any(seed, &[Token::Comma], spaced)?;
    draft.clear(Change::one(at, ""), Edits::Signs, 1)
}

fn commas_lost(draft: &Draft, _: &mut Seed) -> Option<Change> {
    let places =
        draft.all(&[Token::Comma]).into_iter().filter(|at| draft.text(at + 1).contains('\n'));
    let places: Vec<_> = places.map(|at| (at, String::new())).collect();
    (places.len() > 1).then(|| Change::many(places))?
}

fn trailing_comma(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at = draft.any(seed, &[Token::Close], |at| has_items(draft, at))?;
    // The comma comes before the white space in front of the closer.
    Change::one(at - 1, format!(",{}", draft.text(at - 1)))
}

fn trailing_commas(draft: &Draft, _: &mut Seed) -> Option<Change> {
    let closers = draft.all(&[Token::Close]).into_iter().filter(|at| has_items(draft, *at));
    let places: Vec<_> = closers.map(|at| (at - 1, format!(",{}", draft.text(at - 1)))).collect();
    (places.len() > 1).then(|| Change::many(places))?
}

fn has_items(draft: &Draft, closer: usize) -> bool {
    closer.checked_sub(2).and_then(|at| draft.token(at)).is_some_and(|token| token != Token::Open)
}

fn leading_comma(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at = draft.any(seed, &[Token::Open], |at| draft.token(at + 2) != Some(Token::Close))?;
    Change::one(at, format!("{},", draft.text(at)))
}

/// A colon is gone. If there is no space after it, one takes its place.
fn colon_lost(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at = draft.any(seed, &[Token::Colon], |_| true)?;
    draft.clear(
        Change::one(at, if draft.text(at + 1).is_empty() { " " } else { "" }),
        Edits::Signs,
        1,
    )
}

fn colon_as_comma(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at = draft.any(seed, &[Token::Colon], |_| true)?;
    draft.clear(Change::one(at, ","), Edits::Signs, 1)
}

/// All keys are names without quotes, before an equals sign.
fn key_equals(draft: &Draft, _: &mut Seed) -> Option<Change> {
    let keys = draft.all(&[Token::Key]);
    let names = !keys.is_empty() && keys.iter().all(|at| is_name(draft.inside(*at)));
    let keys = keys.into_iter().map(|at| (at, draft.inside(at).to_owned()));
    let colons = draft.all(&[Token::Colon]).into_iter().map(|at| (at, " =".to_owned()));
    names.then(|| Change::many(keys.chain(colons).collect()))?
}

/// A remark after a comma or an opener, at the end of a line if it ends with the line.
fn comment(draft: &Draft, seed: &mut Seed, open: &str, close: &str, line: bool) -> Option<Change> {
    let at = draft.any(seed, &[Token::Space], |at| {
        let text = draft.text(at);
        let after = at.checked_sub(1).and_then(|at| draft.token(at));
        matches!(after, Some(Token::Comma | Token::Open))
            && !text.is_empty()
            && (!line || text.contains('\n'))
    })?;
    let words = match seed.below(3) {
        0 => words::phrase(seed),
        1 => format!("the {}'s {}", words::noun(seed), words::noun(seed)),
        _ => format!("{}: see {}, {}", words::noun(seed), words::name(seed), words::date(seed)),
    };
    Change::one(at, format!(" {open}{words}{close}{}", draft.text(at)))
}

/// Dots for further items, which there are none of.
fn ellipsis(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at =
        draft.any(seed, &[Token::Close], |at| draft.text(at) == "]" && has_items(draft, at))?;
    let dots = words::pick(seed, &["...", "…"]);
    let line = draft.text(at - 1);
    let before = if line.is_empty() { " ".to_owned() } else { line.to_owned() };
    Change::one(at - 1, format!(",{before}{dots}{line}"))
}

/// A word before a key in quotes, or after a container.
fn stray_word(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let word = words::verb(seed);
    let at = draft.any(seed, &[Token::Space], |at| {
        let (before, after) =
            (at.checked_sub(1).and_then(|at| draft.token(at)), draft.token(at + 1));
        before == Some(Token::Comma) && after == Some(Token::Key)
            || before == Some(Token::Close) && after == Some(Token::Comma) && draft.in_object(at)
    })?;
    let space = draft.text(at);
    Change::one(
        at,
        if space.contains('\n') { format!("{space}{word} ") } else { format!(" {word} ") },
    )
}

/// A line of words between two members that are on lines of their own.
fn stray_line(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at = draft.any(seed, &[Token::Space], |at| {
        at > 0
            && draft.token(at - 1) == Some(Token::Comma)
            && draft.token(at + 1) == Some(Token::Key)
            && draft.text(at).contains('\n')
    })?;
    let line = words::phrase(seed);
    Change::one(at, format!("{space}{line}{space}", space = draft.text(at)))
}
