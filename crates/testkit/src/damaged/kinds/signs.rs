//! Commas, colons and remarks between the tokens.

use super::{
    Group::{Brackets, Doubtful, Local, Style},
    Kind,
    quotes::is_name,
};
use crate::{
    Seed,
    damaged::{
        draft::{Change, Draft, Token},
        judge::{self, Edits},
        originals,
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
        0 => originals::phrase(seed),
        1 => format!("the {}'s {}", originals::noun(seed), originals::noun(seed)),
        _ => format!(
            "{}: see {}, {}",
            originals::noun(seed),
            originals::name(seed),
            originals::date(seed)
        ),
    };
    Change::one(at, format!(" {open}{words}{close}{}", draft.text(at)))
}

/// Dots for further items, which there are none of.
fn ellipsis(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at =
        draft.any(seed, &[Token::Close], |at| draft.text(at) == "]" && has_items(draft, at))?;
    let dots = originals::pick(seed, &["...", "…"]);
    let line = draft.text(at - 1);
    let before = if line.is_empty() { " ".to_owned() } else { line.to_owned() };
    Change::one(at - 1, format!(",{before}{dots}{line}"))
}

/// A word before a key in quotes, or after a container.
fn stray_word(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let word = originals::verb(seed);
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
    let line = originals::phrase(seed);
    Change::one(at, format!("{space}{line}{space}", space = draft.text(at)))
}

// Brackets that were lost, added or changed. Those in the middle are damaged only where the rest of
// the text leaves one reading.

pub(super) const BRACKETS: &[Kind] = &[
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
    judge::best(&parts.concat(), Edits::Signs, 1).map(|_| change)
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
