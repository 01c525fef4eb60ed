//! Inputs that are made to use up time, stack or memory, and mutations for fuzzing.
//!
//! [`hostile`] makes every kind of a catalogue; `docs/limits.md` lists it.

use std::fmt::Write as _;

use crate::Seed;

/// A hostile input and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hostile {
    /// What it is: a name of the catalogue.
    pub name: &'static str,
    /// Its bytes.
    pub input: Vec<u8>,
}

/// A name, a beginning, the piece that is repeated, and an end.
type Pattern = (&'static str, &'static str, &'static str, &'static str);

/// The catalogue. [`hostile`] adds bytes that are not UTF-8.
const PATTERNS: &[Pattern] = &[
    ("open brackets", "", "[", ""),
    ("open braces", "", "{", ""),
    ("nested open objects", "", "{\"a\":", ""),
    ("open arrays of objects", "", "[{", ""),
    ("open parentheses", "[", "(", "]"),
    ("open doubled braces", "", "{{\"a\":", ""),
    ("closing brackets", "", "]", ""),
    ("closing braces", "", "}", ""),
    ("closing parentheses", "[1", ")", "]"),
    ("mismatched closers", "[", "{]", "]"),
    ("alternating closers", "[", "}]", ""),
    ("unmatched quotes", "", "\"", ""),
    ("unmatched quotes in a list", "[", "\"a\" \"", ""),
    ("apostrophes", "", "'", ""),
    ("backticks", "", "`", ""),
    ("apostrophes in words", "[", "it's ", "]"),
    ("members as Python prints them", "{", "'a': 'it is', 'b': None, ", "}"),
    ("short strings in single quotes", "[", "'',", "]"),
    ("literals of JavaScript", "[", "{a:'',b:[1,],},", "]"),
    ("open literals of JavaScript", "", "{a:['x',", ""),
    ("double quotes in single ones", "['", "\"\\'", "']"),
    ("a dialect and JSON by turns", "[", "{'a':1},{\"a\":1},{a:1},", "]"),
    ("inner quotes", "[\"", "a\" b", "\"]"),
    ("inner quotes of a key", "{\"", "a\" b", "\": 1}"),
    ("inner quotes before commas", "[\"", "\", ", "\"]"),
    ("inner quotes before colons", "[\"", "\": ", "\"]"),
    ("inner quotes before closers", "[\"", "\"} ", "\"]"),
    ("members with inner quotes", "{", "\"m\":\"x \"q\" y\",", "\"z\":1"),
    ("objects in the text of a string", "{\"a\": \"", "x {\"b\": \"c\", \"d\": 1} ", "\"}"),
    ("open objects in the text of a string", "{\"a\": \"", "x {\"b\": \"c\", ", "\"}"),
    (
        "strings with objects in their text",
        "{",
        "\"m\":\"x {\"b\": \"c\", \"d\": 1};\",",
        "\"z\":1",
    ),
    ("empty strings without commas", "[", "\"\"", "]"),
    ("strings without commas", "[", "\"a\" ", "]"),
    ("strings to be joined", "[", "\"a\" + ", "\"b\"]"),
    ("joined strings without an end", "", "\"a\" + ", ""),
    ("typographic quotes in a string", "[\"", "\u{201c}x\u{201d}", "\"]"),
    ("typographic quotes that open", "[", "\u{201c}", "]"),
    ("backslashes", "", "\\", ""),
    ("escaped line ends", "{", "\\n", "}"),
    ("lines of words without colons", "{", "a b\n", "}"),
    ("words before a key", "{\"a\":1,", "oops ", "\"b\":2}"),
    ("words and commas of another script", "{\"a\": ", "\u{4f60}\u{ff0c}", "}"),
    ("numbers and commas of another script", "[", "5 x \u{ff0c}", "1]"),
    ("calls with dotted names", "[", "np.a.", "(1)]"),
    ("calls with several arguments", "[", "f([1], x=2), ", "3]"),
    ("calls with open arrays", "[", "np.f([1,2),", "3]"),
    ("objects and arrays in text in single quotes", "['", "d = {'k': ['v', 2", "']"),
    ("numbers grouped by commas of another script", "{\"a\": 1", "\u{ff0c}2", ", \"b\": 3}"),
    ("extra closers in the array of a member", "{\"a\": [", "{\"b\": 1}}, ", "{}]}"),
    ("words after a document with inner quotes", "{\"a\": \"x \"y\" z\"}", " b: 2}", ""),
    ("remarks on the last line", "{\"a\": 1", " # \"b\": 2,", "}"),
    ("backslashes in a string", "[\"", "\\", "\"]"),
    ("escapes without digits", "[\"", "\\u", "\"]"),
    ("first halves of surrogate pairs", "[\"", "\\ud83d", "\"]"),
    ("second halves of surrogate pairs", "[\"", "\\ude00", "\"]"),
    ("escaped quotes of an escaped document", "{\\\"a\\\": \\\"", "\\\\", "\\\"}"),
    ("escaped line ends outside strings", "[", "\\n", "1]"),
    ("commas", "", ",", ""),
    ("commas in a list", "[", ",", "]"),
    ("commas in an object", "{", ",", "}"),
    ("colons", "", ":", ""),
    ("colons after a key", "{\"a\"", ":", "}"),
    ("equals signs", "{\"a\"", "=", "1}"),
    ("semicolons", "[", ";", "]"),
    ("plus signs", "[", "+ ", "]"),
    ("numbers without commas", "[", "1 ", "]"),
    ("digits", "[", "1", "]"),
    ("exponents", "[", "1e", "]"),
    ("signs", "[", "-", "]"),
    ("points", "[", "1.", "]"),
    ("hexadecimal prefixes", "[", "0x", "]"),
    ("grouped digits", "[", "1_", "]"),
    ("slashes between digits", "[", "1/", "]"),
    ("incomplete literals", "[", "tru ", "]"),
    ("one long word", "[", "a", "]"),
    ("words", "[", "a ", "]"),
    ("words between members", "{\"a\": 1 ", "b ", "}"),
    ("words and colons", "{a: ", "b c: ", "1}"),
    ("words and numbers without colons", "{a ", "b 1, ", "c}"),
    ("words of a key", "{", "b ", ": 1}"),
    ("words after blanks, without quotes", "{a: ", "        b", "}"),
    ("names in quoted words", "{\"a\": \"x", "\", \"b\": y", "\"}"),
    ("numbers and remarks", "{\"a\": 1 ", "(b) ", "}"),
    ("nested calls", "[", "f(", "]"),
    ("calls in a row", "[", "f(1) ", "]"),
    ("ellipses", "[", "...", "]"),
    ("dots", "[", ".", "]"),
    ("open comments", "[1 ", "/*", "]"),
    ("slashes", "[1 ", "/", "]"),
    ("comments that open comments", "[1 ", "//", "]"),
    ("line comments", "[1 ", "// x\n", "]"),
    ("line comments before a document", "", "# x\n", "[1]"),
    ("closers in remarks on the last line", "[1", " //]", ""),
    ("hash signs", "[1 ", "#", "]"),
    ("open HTML comments", "[1 ", "<!--", "]"),
    ("white space after a document", "[1]", " ", "x"),
    ("white space before a document", "", " ", "[1]"),
    ("line ends", "[", "\n", "]"),
    ("carriage returns in a string", "[\"", "\r", "\"]"),
    ("control characters in a string", "[\"", "\u{1}", "\"]"),
    ("no-break spaces", "[", "\u{a0}", "]"),
    ("fences", "", "```", ""),
    ("backticks after a fence", "```json\n", "`", ""),
    ("open fences", "", "```json\n", ""),
    ("fences in a list", "[1 ", "```", "]"),
    ("documents in a row", "", "[1] ", ""),
    ("documents on lines of their own", "", "{}\n", ""),
    ("documents and words", "", "{} and ", ""),
    ("words before a document", "", "word ", "{}"),
    ("words and open braces", "", "text {", ""),
    ("templates", "", "{word} ", ""),
    ("checkboxes", "", "- [x] ", ""),
    ("think tags", "", "<think>", ""),
    ("closing think tags", "", "</think>", ""),
    ("byte order marks", "", "\u{feff}", "[]"),
    ("characters of four bytes", "[\"", "\u{1f44d}", "\"]"),
    ("members with the same key", "{", "\"k\":{\"a\":1},", "}"),
    ("members without quotes", "{", "k:v,", "}"),
    ("members without values", "{", "\"k\":", "}"),
    ("keys without colons", "{", "\"k\" ", "}"),
    ("values without keys", "{", ": 1,", "}"),
    ("one long key", "{\"", "k", "\":1}"),
];

/// Bytes that no UTF-8 text contains, inside a string.
const BYTES: [(&str, u8); 2] =
    [("invalid bytes in a string", 0xff), ("incomplete characters in a string", 0xf0)];

/// Every kind in the catalogue, with its piece repeated to about `size` bytes.
#[must_use]
pub fn hostile(size: usize) -> Vec<Hostile> {
    let repeated = |&(name, head, piece, tail): &Pattern| {
        let body = piece.repeat(size / piece.len());
        Hostile { name, input: [head, body.as_str(), tail].concat().into_bytes() }
    };
    let of_bytes = |(name, byte): (&'static str, u8)| {
        let input = [&b"[\""[..], &vec![byte; size], b"\"]"].concat();
        Hostile { name, input }
    };
    PATTERNS.iter().map(repeated).chain(BYTES.into_iter().map(of_bytes)).collect()
}

/// The catalogue, in Markdown: what each kind is, and what it repeats.
#[must_use]
pub fn catalogue() -> String {
    let mut out = String::from("| kind | begins | repeats | ends |\n|---|---|---|---|\n");
    let shown = |text: &str| match text {
        "" => String::new(),
        _ => {
            let unusual =
                |c: char| c.is_control() || c.is_whitespace() && c != ' ' || c == '\u{feff}';
            let spelled =
                |c: char| if unusual(c) { c.escape_default().to_string() } else { c.into() };
            format!("`` {} ``", text.chars().map(spelled).collect::<String>())
        }
    };
    for (name, head, piece, tail) in PATTERNS {
        let cells = [head, piece, tail].map(|text| shown(text));
        let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
    }
    for (name, byte) in BYTES {
        let _ = writeln!(out, "| {name} | {} | byte 0x{byte:x} | {} |", shown("[\""), shown("\"]"));
    }
    out
}

/// A container of `levels` levels, open to the end: alternating arrays and objects.
#[must_use]
pub fn nested(levels: usize) -> Vec<u8> {
    (0..levels)
        .flat_map(|level| if level % 2 == 0 { &b"["[..] } else { b"{\"k\":" })
        .copied()
        .collect()
}

/// One string of `size` bytes in an array.
#[must_use]
pub fn long_string(size: usize) -> Vec<u8> {
    [&b"[\""[..], &vec![b'x'; size], b"\"]"].concat()
}

/// Changes `text` in a few places that `seed` chooses: flips, drops or repeats bytes, inserts tokens
/// of `dictionary`, cuts off the end, or splices in `other`.
#[must_use]
pub fn mutated(text: &[u8], other: &[u8], dictionary: &[Vec<u8>], seed: &mut Seed) -> Vec<u8> {
    let mut out = text.to_vec();
    for _ in 0..=seed.below(5) {
        let at = seed.below(out.len() + 1);
        match seed.below(8) {
            0 => {
                if let Some(byte) = out.get_mut(at) {
                    *byte ^= 1 << seed.below(8);
                }
            }
            1 => drop(out.drain(at..(at + 1 + seed.below(4)).min(out.len()).max(at))),
            2 => {
                let end = (at + 1 + seed.below(16)).min(out.len());
                let piece = out.get(at..end).unwrap_or_default().repeat(1 + seed.below(3));
                out.splice(at..at, piece);
            }
            3 if seed.below(4) == 0 => out.truncate(at),
            4 => {
                let from = seed.below(other.len() + 1);
                let piece = other.get(from..(from + seed.below(24)).min(other.len()));
                out.splice(at..at, piece.unwrap_or_default().iter().copied());
            }
            _ => {
                if let Some(token) = seed.pick(dictionary) {
                    out.splice(at..at, token.iter().copied());
                }
            }
        }
    }
    out
}
