//! Values in the spelling of other languages, and what is in strings.

use super::{
    Group::{Doubtful, Local},
    Kind,
    quotes::is_name,
    rewritten, units,
};
use crate::{
    Seed,
    damaged::{
        draft::{Change, Draft, Token},
        originals,
    },
};

pub(super) const KINDS: &[Kind] = &[
    Kind::new(Local, "python-literals", "[True, None]", |draft, _| {
        literals(draft, |text| capital(text).replace("Null", "None"))
    }),
    Kind::new(Local, "literal-case", "[TRUE, Null]", |draft, seed| {
        let upper = seed.below(2) == 0;
        literals(draft, |text| if upper { text.to_uppercase() } else { capital(text) })
    }),
    Kind::new(Local, "undefined", "[undefined]", |draft, seed| {
        one(draft, seed, &[Token::Literal], |text| (text == "null").then(|| "undefined".to_owned()))
    }),
    Kind::new(Local, "leading-plus", "[+5]", |draft, seed| {
        number(draft, seed, |text| (!text.starts_with('-')).then(|| format!("+{text}")))
    }),
    Kind::new(Local, "leading-dot", "[.5]", |draft, seed| {
        number(draft, seed, |text| text.strip_prefix("0.").map(|rest| format!(".{rest}")))
    }),
    Kind::new(Local, "trailing-dot", "[5.]", |draft, seed| {
        number(draft, seed, |text| whole(text).then(|| format!("{text}.")))
    }),
    Kind::new(Local, "underscores", "[1_000]", |draft, seed| {
        number(draft, seed, |text| grouped(text, '_'))
    }),
    Kind::new(Local, "thousands-commas", "{\"a\": 1,000}", thousands),
    Kind::new(Local, "hexadecimal", "[0x1F]", |draft, seed| number(draft, seed, hexadecimal)),
    Kind::new(Local, "number-call", "{\"a\": NumberInt(5)}", |draft, seed| {
        number(draft, seed, |text| whole(text).then(|| format!("NumberInt({text})")))
    }),
    Kind::new(Local, "string-call", "{\"a\": ObjectId(\"x\")}", |draft, seed| {
        one(draft, seed, &[Token::Text], |text| {
            (text.len() < 40).then(|| format!("ObjectId({text})"))
        })
    }),
    Kind::new(Local, "string-prefix", "{\"a\": u\"x\"}", |draft, _| {
        all(draft, &[Token::Key, Token::Text], |text| Some(format!("u{text}")))
    }),
    Kind::new(Local, "concatenation", "{\"a\": \"x\" + \"y\"}", concatenation),
    Kind::new(Local, "tuple", "{\"a\": (1, 2)}", |draft, seed| {
        list(draft, seed, "(", ")", |_| true)
    }),
    Kind::new(Local, "set", "{\"a\": {\"x\", \"y\"}}", |draft, seed| {
        list(draft, seed, "{", "}", |token| token == Token::Text)
    }),
    Kind::new(Local, "unquoted-words", "{\"a\": word}", |draft, _| bare(draft, is_name)),
    Kind::new(Local, "unquoted-phrases", "{\"a\": some words}", |draft, _| {
        bare(draft, |text| {
            text.contains(' ') && text.split(' ').all(|word| is_name(word) && word != "and")
        })
    }),
    Kind::new(Local, "unquoted-unit", "{\"a\": 15 kg}", |draft, _| {
        bare(draft, |text| text.ends_with(" kg"))
    }),
    Kind::new(Local, "unquoted-percent", "{\"a\": 50%}", |draft, _| {
        bare(draft, |text| text.len() < 5 && text.ends_with('%'))
    }),
    Kind::new(Local, "unquoted-date", "{\"a\": 2024-01-05}", |draft, _| {
        bare(draft, |text| text.len() == 10 && text.starts_with("20") && text.contains('-'))
    }),
    Kind::new(Local, "unquoted-time", "{\"a\": 09:30:00}", |draft, _| {
        bare(draft, |text| text.len() == 8 && text.as_bytes().get(2) == Some(&b':'))
    }),
    Kind::new(Local, "unquoted-version", "{\"a\": v1.2.3}", |draft, _| {
        bare(draft, |text| text.starts_with('v') && text.split('.').count() == 3)
    }),
    Kind::new(Local, "unquoted-address", "{\"a\": ada@mail.example}", |draft, _| {
        bare(draft, |text| text.contains('@') && !text.contains([' ', ',', '"', '\\', ':']))
    }),
    Kind::new(Local, "unquoted-url", "{\"a\": https://a.example/b?c=1}", |draft, _| {
        bare(draft, |text| {
            text.starts_with("https://") && !text.contains([' ', ',', '"', '\\', '\'', '('])
        })
    }),
    Kind::new(Local, "unquoted-fraction", "{\"a\": 1/3}", |draft, _| {
        bare(draft, |text| text.len() == 3 && text.as_bytes().get(1) == Some(&b'/'))
    }),
    Kind::new(Local, "unquoted-amount", "{\"a\": $12.50}", |draft, _| {
        bare(draft, |text| text.starts_with(['$', '€']) && text.ends_with(".50"))
    }),
    Kind::new(Local, "unquoted-code", "{\"a\": 0042}", |draft, _| {
        bare(draft, |text| {
            text.len() > 3
                && text.starts_with("00")
                && text.bytes().all(|byte| byte.is_ascii_digit())
        })
    }),
    Kind::new(Local, "raw-line-ends", "{\"a\": \"x\ny\"}", |draft, _| {
        inside(draft, |unit| if unit == "\\n" { "\n" } else { unit })
    }),
    Kind::new(Local, "raw-tabs", "{\"a\": \"x\ty\"}", |draft, _| {
        inside(draft, |unit| if unit == "\\t" { "\t" } else { unit })
    }),
    Kind::new(Local, "escaped-apostrophes", "{\"a\": \"it\\'s\"}", |draft, _| {
        inside(draft, |unit| if unit == "'" { "\\'" } else { unit })
    }),
    Kind::new(Doubtful, "bare-backslashes", "{\"re\": \"\\d+\\s\"}", bare_backslashes),
];

fn capital(text: &str) -> String {
    originals::capital(text)
}

fn literals(draft: &Draft, write: impl Fn(&str) -> String) -> Option<Change> {
    all(draft, &[Token::Literal], |text| Some(write(text)))
}

fn all(draft: &Draft, tokens: &[Token], write: impl Fn(&str) -> Option<String>) -> Option<Change> {
    let places = draft.all(tokens).into_iter();
    Change::many(places.filter_map(|at| Some((at, write(draft.text(at))?))).collect())
}

fn one(
    draft: &Draft,
    seed: &mut Seed,
    tokens: &[Token],
    write: impl Fn(&str) -> Option<String>,
) -> Option<Change> {
    let at = draft.any(seed, tokens, |at| write(draft.text(at)).is_some())?;
    Change::one(at, write(draft.text(at))?)
}

fn number(
    draft: &Draft,
    seed: &mut Seed,
    write: impl Fn(&str) -> Option<String>,
) -> Option<Change> {
    one(draft, seed, &[Token::Number], write)
}

fn whole(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The digits of a number of four digits or more in groups of three.
fn grouped(text: &str, separator: char) -> Option<String> {
    if !whole(text) || text.len() < 4 {
        return None;
    }
    let mut grouped = String::new();
    for (at, digit) in text.chars().enumerate() {
        if at > 0 && (text.len() - at).is_multiple_of(3) {
            grouped.push(separator);
        }
        grouped.push(digit);
    }
    Some(grouped)
}

/// In an array, the groups would be items.
fn thousands(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at = draft.any(seed, &[Token::Number], |at| {
        draft.in_object(at) && grouped(draft.text(at), ',').is_some()
    })?;
    Change::one(at, grouped(draft.text(at), ',')?)
}

fn hexadecimal(text: &str) -> Option<String> {
    let number: u64 = text.parse().ok()?;
    Some(format!("0x{number:X}"))
}

/// A string in two pieces.
fn concatenation(draft: &Draft, seed: &mut Seed) -> Option<Change> {
    let at = draft.any(seed, &[Token::Text], |at| units(draft.inside(at)).count() > 4)?;
    let inside: Vec<&str> = units(draft.inside(at)).collect();
    let (head, tail) = inside.split_at(1 + seed.below(inside.len() - 2));
    let plus = originals::pick(seed, &[" + ", "+", " +\n    "]);
    Change::one(at, format!("\"{}\"{plus}\"{}\"", head.concat(), tail.concat()))
}

/// An array of two or more scalars in other brackets.
fn list(
    draft: &Draft,
    seed: &mut Seed,
    open: &str,
    close: &str,
    fits: fn(Token) -> bool,
) -> Option<Change> {
    let closer = draft.any(seed, &[Token::Close], |at| {
        let Some(piece) = draft.pieces().get(at) else { return false };
        let items = draft.pieces().get(piece.opener + 1..at).unwrap_or_default();
        let scalar = |token| matches!(token, Token::Text | Token::Number | Token::Literal);
        let good =
            |token| matches!(token, Token::Comma | Token::Space) || scalar(token) && fits(token);
        piece.text == "]"
            && piece.opener > 0
            && items.iter().any(|piece| piece.token == Token::Comma)
            && items.iter().all(|piece| good(piece.token))
    })?;
    let opener = draft.pieces().get(closer)?.opener;
    Change::many(vec![(opener, open.to_owned()), (closer, close.to_owned())])
}

/// Strings of a sort lose their quotes.
fn bare(draft: &Draft, fits: impl Fn(&str) -> bool) -> Option<Change> {
    let places = draft.all(&[Token::Text]).into_iter().filter(|at| fits(draft.inside(*at)));
    Change::many(places.map(|at| (at, draft.inside(at).to_owned())).collect())
}

/// Something in the strings is written in another way.
fn inside(draft: &Draft, unit: impl Fn(&str) -> &str) -> Option<Change> {
    let strings = draft.all(&[Token::Text]).into_iter();
    let written = strings.map(|at| (at, format!("\"{}\"", rewritten(draft.inside(at), &unit))));
    Change::many(written.filter(|(at, text)| text != draft.text(*at)).collect())
}

/// Backslashes are not escaped in strings where none of them then begins an escape of JSON.
fn bare_backslashes(draft: &Draft, _: &mut Seed) -> Option<Change> {
    let strings = draft.all(&[Token::Text]).into_iter().filter(|at| {
        let units: Vec<&str> = units(draft.inside(*at)).collect();
        let harmless = |next: &&str| {
            !next.starts_with(['"', '\\', '/', 'b', 'f', 'n', 'r', 't', 'u', '\'', '`'])
        };
        let lone = |(at, unit): (usize, &&str)| {
            if *unit == "\\\\" {
                units.get(at + 1).is_some_and(harmless)
            } else {
                !unit.starts_with('\\')
            }
        };
        units.contains(&"\\\\") && units.iter().enumerate().all(lone)
    });
    let bare = |at: usize| (at, draft.text(at).replace("\\\\", "\\"));
    Change::many(strings.map(bare).collect())
}
