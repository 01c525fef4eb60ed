//! White space that is not JSON's, and marks at the start of each line.

use super::{
    Group::{Around as AroundGroup, Local},
    Kind,
};
use crate::{
    Seed,
    damaged::{
        draft::{Around, Change, Draft},
        pieces::Token,
    },
};

pub(super) const KINDS: &[Kind] = &[
    Kind::new(Local, "no-break-spaces", "{\"a\":<U+00A0>1}", |draft, seed| {
        spaces(draft, seed, '\u{a0}')
    }),
    Kind::new(Local, "zero-width-spaces", "{\"a\":<U+200B> 1}", |draft, seed| {
        spaces(draft, seed, '\u{200b}')
    }),
    Kind::new(Local, "ideographic-spaces", "{\"a\":<U+3000>1}", |draft, seed| {
        spaces(draft, seed, '\u{3000}')
    }),
    Kind::new(Local, "em-spaces", "{\"a\":<U+2003>1}", |draft, seed| {
        spaces(draft, seed, '\u{2003}')
    }),
    Kind::new(Local, "inner-byte-order-marks", "{\"a\":<U+FEFF> 1}", |draft, seed| {
        spaces(draft, seed, '\u{feff}')
    }),
    Kind::new(Local, "line-separators", "{\"a\": 1,<U+2028>\"b\": 2}", |draft, seed| {
        spaces(draft, seed, '\u{2028}')
    }),
    Kind::new(Local, "null-bytes", "{\"a\":<U+0000> 1}", |draft, seed| spaces(draft, seed, '\0')),
    Kind::new(AroundGroup, "no-break-indent", "{\n<U+00A0><U+00A0>\"a\": 1\n}", |draft, _| {
        across(draft, no_break_indent)
    }),
    Kind::new(AroundGroup, "diff-marks", "+{\n+  \"a\": 1\n+}", |draft, _| {
        across(draft, |text| prefixed(text, "+"))
    }),
    Kind::new(AroundGroup, "diff-marks-spaced", "+ {\n+   \"a\": 1\n+ }", |draft, _| {
        across(draft, |text| prefixed(text, "+ "))
    }),
    Kind::new(AroundGroup, "quote-marks", "> {\n>   \"a\": 1\n> }", |draft, _| {
        across(draft, |text| prefixed(text, "> "))
    }),
    Kind::new(AroundGroup, "data-marks", "data: {\ndata:   \"a\": 1\ndata: }", |draft, _| {
        across(draft, |text| prefixed(text, "data: "))
    }),
    Kind::new(AroundGroup, "bars", "| {\n|   \"a\": 1\n| }", |draft, _| {
        across(draft, |text| prefixed(text, "| "))
    }),
    Kind::new(AroundGroup, "line-numbers", "1: {\n2:   \"a\": 1\n3: }", |draft, _| {
        across(draft, |text| numbered(text, ": "))
    }),
    Kind::new(AroundGroup, "line-numbers-bar", "1 | {\n2 |   \"a\": 1\n3 | }", |draft, _| {
        across(draft, |text| numbered(text, " | "))
    }),
    Kind::new(AroundGroup, "line-numbers-tab", "1\t{\n2\t  \"a\": 1\n3\t}", |draft, _| {
        across(draft, |text| numbered(text, "\t"))
    }),
    Kind::new(
        Local,
        "terminal-colours",
        "{<ESC>[34m\"a\"<ESC>[0m: <ESC>[32m1<ESC>[0m}",
        |draft, _| colours(draft),
    ),
];

/// Odd spaces between some of the tokens, mostly in the place of a space, and around line ends.
fn spaces(draft: &Draft, seed: &mut Seed, odd: char) -> Option<Change> {
    let places = draft.all(&[Token::Space]);
    let often = 1 + seed.below(12);
    let mut pieces = Vec::new();
    for at in places {
        if seed.below(often) > 0 {
            continue;
        }
        let text = draft.text(at);
        let text = match (text, seed.below(3)) {
            (" ", 0) if odd.is_whitespace() => odd.to_string(),
            (_, 0 | 1) => format!("{odd}{text}"),
            _ => format!("{text}{odd}"),
        };
        pieces.push((at, text));
    }
    Change::many(pieces)
}

/// A change of a text of several lines.
fn across(draft: &Draft, change: fn(&str) -> String) -> Option<Change> {
    let lines = draft.pieces().iter().any(|piece| piece.text.contains('\n'));
    lines.then(|| Change::around(Around::across(change)))?
}

fn prefixed(text: &str, mark: &str) -> String {
    text.split('\n').map(|line| format!("{mark}{line}")).collect::<Vec<_>>().join("\n")
}

fn numbered(text: &str, mark: &str) -> String {
    let lines = text.split('\n').enumerate();
    lines.map(|(at, line)| format!("{}{mark}{line}", at + 1)).collect::<Vec<_>>().join("\n")
}

fn no_break_indent(text: &str) -> String {
    let line = |line: &str| {
        let rest = line.trim_start_matches(' ');
        "\u{a0}".repeat(line.len() - rest.len()) + rest
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Scalars and keys in the colours of a terminal.
fn colours(draft: &Draft) -> Option<Change> {
    let coloured = |at: usize| {
        let colour = match draft.token(at) {
            Some(Token::Key) => "34;1",
            Some(Token::Text) => "0;32",
            _ => "0;39",
        };
        (at, format!("\u{1b}[{colour}m{}\u{1b}[0m", draft.text(at)))
    };
    let places = draft.all(&[Token::Key, Token::Text, Token::Number, Token::Literal]);
    Change::many(places.into_iter().map(coloured).collect())
}
