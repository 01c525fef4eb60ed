//! Brackets that were lost, added or changed. Those in the middle are damaged only where the rest of
//! the text leaves one reading.

use super::{Group::Brackets, Kind};
use crate::{
    Seed,
    damaged::{
        draft::{Change, Draft},
        pieces::Token,
        readings::{self, Edits},
    },
};

pub(super) const KINDS: &[Kind] = &[
    Kind::new(Brackets, "last-closer-lost", "{\"a\": [1]", |draft, _| {
        Change::one(draft.last(), "")
    }),
    Kind::new(Brackets, "last-closers-lost", "{\"a\": [1", closers_lost),
    Kind::new(Brackets, "last-closer-wrong", "{\"a\": [1]]", |draft, _| {
        Change::one(draft.last(), other(draft, draft.last()))
    }),
    Kind::new(Brackets, "last-closer-doubled", "{\"a\": [1]}}", |draft, _| {
        Change::one(draft.last(), draft.text(draft.last()).repeat(2))
    }),
    Kind::new(Brackets, "last-closers-swapped", "{\"a\": [1}]", swapped),
    Kind::new(Brackets, "closer-wrong", "{\"a\": [1}, \"b\": 2}", |draft, seed| {
        middle(draft, seed, Token::Close, other)
    }),
    Kind::new(Brackets, "closer-doubled", "{\"a\": {\"b\": 1}}, \"c\": 2}", |draft, seed| {
        middle(draft, seed, Token::Close, |draft, at| draft.text(at).repeat(2))
    }),
    Kind::new(Brackets, "closer-added", "{\"a\": {\"b\": 1}], \"c\": 2}", |draft, seed| {
        middle(draft, seed, Token::Close, |draft, at| draft.text(at).to_owned() + &other(draft, at))
    }),
    Kind::new(Brackets, "closer-lost", "{\"a\": [1, \"b\": 2}", |draft, seed| {
        middle(draft, seed, Token::Close, |_, _| String::new())
    }),
    Kind::new(
        Brackets,
        "closer-lost-by-layout",
        "{\n  \"a\": {\n    \"b\": 1,\n  \"c\": 2\n}",
        by_layout,
    ),
    Kind::new(Brackets, "opener-wrong", "{\"a\": {1, 2]}", |draft, seed| {
        middle(draft, seed, Token::Open, other)
    }),
    Kind::new(Brackets, "opener-lost", "{\"a\": \"b\": 1}, \"c\": 2}", |draft, seed| {
        middle(draft, seed, Token::Open, |_, _| String::new())
    }),
    Kind::new(Brackets, "opener-doubled", "{{\"a\": 1}", |draft, seed| {
        middle(draft, seed, Token::Open, |draft, at| draft.text(at).repeat(2))
    }),
    Kind::new(Brackets, "braces-doubled", "{{\"a\": 1}}", braces_doubled),
    Kind::new(Brackets, "outer-braces-lost", "\"a\": 1, \"b\": 2", |draft, _| outer(draft, "{")),
    Kind::new(Brackets, "outer-brackets-lost", "{\"a\": 1}, {\"a\": 2}", |draft, _| {
        outer(draft, "[")
    }),
];

/// The bracket of the other shape.
fn other(draft: &Draft, at: usize) -> String {
    let other = match draft.text(at) {
        "{" => "[",
        "[" => "{",
        "}" => "]",
        _ => "}",
    };
    other.to_owned()
}

/// Another text for one bracket that is neither the first nor among those at the end.
fn middle(
    draft: &Draft,
    seed: &mut Seed,
    token: Token,
    text: fn(&Draft, usize) -> String,
) -> Option<Change> {
    let last = last_token(draft)?;
    let at = draft.any(seed, &[token], |at| at > 0 && at < last)?;
    draft.clear(Change::one(at, text(draft, at)), Edits::Signs, 1)
}

/// The last token before the closers at the end.
fn last_token(draft: &Draft) -> Option<usize> {
    draft.pieces().iter().rposition(|piece| !matches!(piece.token, Token::Close | Token::Space))
}

/// The closers at the end, from the first to the last one.
fn closers(draft: &Draft) -> Option<Vec<usize>> {
    let last = last_token(draft)?;
    let closers =
        (last + 1..draft.pieces().len()).filter(|at| draft.token(*at) == Some(Token::Close));
    let closers: Vec<usize> = closers.collect();
    (closers.len() > 1).then_some(closers)
}

fn closers_lost(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let closers = closers(draft)?;
    let first = seed.below(closers.len() - 1);
    Change::many(closers.into_iter().skip(first).map(|at| (at, String::new())).collect())
}

/// The last two closers, which differ, in the wrong order.
fn swapped(draft: &Draft, _: &mut Seed) -> Option<Change> {
    let closers = closers(draft)?;
    let (&first, &second) = (closers.get(closers.len() - 2)?, closers.last()?);
    let (one, two) = (draft.text(first), draft.text(second));
    (one != two).then(|| Change::many(vec![(first, two.to_owned()), (second, one.to_owned())]))?
}

/// A closer is lost with its line. Several places for it would make the text JSON, and the next line
/// shows which one was meant: it is a member or an item of the container outside.
fn by_layout(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let last = last_token(draft)?;
    let at = draft.any(seed, &[Token::Close], |at| {
        at > 1 && at < last && draft.text(at - 1).contains('\n') && draft.before_line_end(at)
    })?;
    let change = Change::many(vec![(at - 1, String::new()), (at, String::new())])?;
    let mut parts: Vec<&str> = draft.pieces().iter().map(|piece| &piece.text[..]).collect();
    for (at, text) in &change.pieces {
        *parts.get_mut(*at)? = text;
    }
    readings::best(&parts.concat(), Edits::Signs, 1).map(|_| change)
}

/// The whole document in two pairs of braces.
fn braces_doubled(draft: &Draft, _: &mut Seed) -> Option<Change> {
    (draft.text(0) == "{")
        .then(|| Change::many(vec![(0, "{{".to_owned()), (draft.last(), "}}".to_owned())]))?
}

/// The outer brackets are gone, and there is more than one member or item inside of them.
fn outer(draft: &Draft, opener: &str) -> Option<Change> {
    let several =
        draft.pieces().iter().any(|piece| piece.token == Token::Comma && piece.depth == 1);
    let objects = opener == "{" || draft.text(2) == "{";
    (draft.text(0) == opener && several && objects)
        .then(|| Change::many(vec![(0, String::new()), (draft.last(), String::new())]))?
}
