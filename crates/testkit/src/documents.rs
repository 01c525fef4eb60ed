//! Valid JSON texts for property tests: texts, not values, so that white space, number spellings,
//! escapes and duplicate keys are part of what is generated.

use proptest::{collection::vec, prelude::*, sample::select};

/// A JSON text of any shape, including scalars at the root.
pub fn document() -> impl Strategy<Value = String> {
    padded(value(4))
}

/// A JSON text with an object or an array at its root.
pub fn container() -> impl Strategy<Value = String> {
    padded(prop_oneof![object(value(3).boxed()), array(value(3).boxed())])
}

fn padded(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (space(), inner, space()).prop_map(|(before, inner, after)| [before, &inner, after].concat())
}

fn value(depth: u32) -> BoxedStrategy<String> {
    scalar()
        .prop_recursive(depth, 48, 5, |inner| prop_oneof![object(inner.clone()), array(inner)])
        .boxed()
}

fn object(inner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let member = (key(), space(), space(), inner)
        .prop_map(|(key, before, after, value)| format!("{key}{before}:{after}{value}"));
    listed("{", member.boxed(), "}")
}

fn array(inner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    listed("[", inner, "]")
}

/// Items between brackets, with unusual white space around each.
fn listed(
    open: &'static str,
    item: BoxedStrategy<String>,
    close: &'static str,
) -> BoxedStrategy<String> {
    let spaced =
        (space(), item, space()).prop_map(|(before, item, after)| [before, &item, after].concat());
    (vec(spaced, 0..5), space())
        .prop_map(move |(items, empty)| match items.as_slice() {
            [] => format!("{open}{empty}{close}"),
            items => format!("{open}{}{close}", items.join(",")),
        })
        .boxed()
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        5 => Just(""),
        3 => Just(" "),
        1 => select(vec!["\n", "\n  ", "\r\n", "\t", "      ", " \n \t "]),
    ]
}

fn scalar() -> BoxedStrategy<String> {
    prop_oneof![
        2 => select(vec!["null", "true", "false"]).prop_map(str::to_owned),
        3 => number(),
        5 => string(),
    ]
    .boxed()
}

/// Numbers in every spelling of the grammar, including those far outside the range of a double.
fn number() -> impl Strategy<Value = String> {
    let sign = select(vec!["", "-"]);
    let whole = prop_oneof![Just("0".to_owned()), "[1-9][0-9]{0,3}", "[1-9][0-9]{18,30}"];
    let fraction = prop_oneof![3 => Just(String::new()), 1 => "\\.[0-9]{1,3}", 1 => "\\.[0-9]{20}"];
    let exponent = prop_oneof![4 => Just(String::new()), 1 => "[eE][+-]?[0-9]{1,3}"];
    (sign, whole, fraction, exponent)
        .prop_map(|(sign, whole, fraction, exponent)| format!("{sign}{whole}{fraction}{exponent}"))
}

/// A few names that are often repeated, so that there are duplicate keys, and any string.
fn key() -> BoxedStrategy<String> {
    let name = select(vec!["\"a\"", "\"id\"", "\"name\"", "\"first name\"", "\"\"", "\"x-y\""]);
    prop_oneof![4 => name.prop_map(str::to_owned), 1 => string()].boxed()
}

/// What strings are made of: words, other scripts, escapes, and punctuation that has a meaning outside
/// of strings.
const FRAGMENTS: &[&str] = &[
    "word",
    "two words",
    "it's",
    "don't",
    " ",
    "0",
    "3.5%",
    "e",
    "n",
    "é",
    "ü",
    "Ω",
    "語",
    "👍🏽",
    "\u{2028}",
    "\u{feff}",
    "\\n",
    "\\t",
    "\\\"",
    "\\\\",
    "\\/",
    "\\u00e9",
    "\\ud83d\\ude00",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    ", ",
    ": ",
    "'",
    "`",
    "```",
    "//",
    "/*",
    "#",
    "<b>",
    "</think>",
    "null",
    "\\\"k\\\": 1",
    "“",
    "”",
    "...",
    "$",
    "http://x.example/?a=1&b=[2]",
];

/// Text that looks like the end of a string, or like what follows one, so that a reader loses its
/// place.
const SIGNS: &[&str] = &["{", "}", "[", "]", ",", ":", ", ", "}, ", ";", " ", "x", "1", "\\\""];

fn string() -> BoxedStrategy<String> {
    prop_oneof![
        3 => vec(select(FRAGMENTS), 0..6),
        2 => vec(select(SIGNS), 0..4),
    ]
    .prop_map(|fragments| format!("\"{}\"", fragments.concat()))
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle;

    proptest! {
        #[test]
        fn documents_are_json(text in document()) {
            prop_assert!(oracle::is_json(text.as_bytes()));
        }

        #[test]
        fn containers_are_containers(text in container()) {
            let tokens = oracle::tokens(text.as_bytes()).unwrap();
            prop_assert!(matches!(
                tokens[0].token,
                oracle::Token::OpenObject | oracle::Token::OpenArray
            ));
        }
    }
}
