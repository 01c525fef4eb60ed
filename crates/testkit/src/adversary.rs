//! Inputs made to cost time, stack or memory, and mutations for fuzzing.

use crate::Seed;

/// A hostile input and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hostile {
    /// What it is.
    pub name: String,
    /// Its bytes.
    pub input: Vec<u8>,
}

/// Beginnings, the piece that is repeated, and an end.
const PATTERNS: &[(&str, &str, &str)] = &[
    ("", "[", ""),
    ("", "{", ""),
    ("", "\"", ""),
    ("", "\\", ""),
    ("", "{\"a\":", ""),
    ("", "[{", ""),
    ("", "]", ""),
    ("", "}", ""),
    ("", ",", ""),
    ("[", ",", "]"),
    ("", ":", ""),
    ("{\"a\"", ":", "}"),
    ("", "'", ""),
    ("", "`", ""),
    ("[\"", "\\", "\"]"),
    ("[\"", "\\u", "\"]"),
    ("[\"", "\\ud83d", "\"]"),
    ("[\"", "a\" b", "\"]"),
    ("[\"", "\", ", "\"]"),
    ("[\"", "\": ", "\"]"),
    ("{\"", "a\" b", "\": 1}"),
    ("[", "\"a\" ", "]"),
    ("[", "\"a\"+", "\"b\"]"),
    ("[", "1 ", "]"),
    ("[", "1", "]"),
    ("[", "1e", "]"),
    ("[", "-", "]"),
    ("[", "0x", "]"),
    ("[", "1_", "]"),
    ("[", "tru ", "]"),
    ("[", "a", "]"),
    ("[", "a ", "]"),
    ("[", "f(", "]"),
    ("[", "f(1) ", "]"),
    ("[", "(", "]"),
    ("[", "...", "]"),
    ("[1 ", "/*", "]"),
    ("[1 ", "/", "]"),
    ("[1 ", "//", "]"),
    ("[1 ", "// x\n", "]"),
    ("[1 ", "#", "]"),
    ("[1]", " ", "x"),
    ("", " ", "[1]"),
    ("[", "\n", "]"),
    ("", "```", ""),
    ("```json\n", "`", ""),
    ("", "```json\n", ""),
    ("", "[1] ", ""),
    ("", "{}\n", ""),
    ("", "word ", "{}"),
    ("", "{word} ", ""),
    ("", "<think>", ""),
    ("", "\u{feff}", "[]"),
    ("[\"", "\u{1f44d}", "\"]"),
    ("[\"", "\u{201c}x\u{201d}", "\"]"),
    ("{", "\"k\":{\"a\":1},", "}"),
    ("{", "k:v,", "}"),
    ("{\\\"a\\\": \\\"", "\\\\", "\\\"}"),
    ("{\"", "k", "\":1}"),
];

/// Every hostile pattern, each repeated to about `size` bytes, and two made of bytes that are no
/// UTF-8.
#[must_use]
pub fn hostile(size: usize) -> Vec<Hostile> {
    let mut all: Vec<Hostile> = PATTERNS
        .iter()
        .map(|(head, piece, tail)| {
            let body = piece.repeat(size / piece.len());
            let name = format!("{head}({piece})*{tail}").escape_debug().to_string();
            Hostile { name, input: [*head, body.as_str(), *tail].concat().into_bytes() }
        })
        .collect();
    for (name, byte) in [("0xff in a string", 0xff), ("0xf0 in a string", 0xf0)] {
        let input = [&b"[\""[..], &vec![byte; size], b"\"]"].concat();
        all.push(Hostile { name: name.to_owned(), input });
    }
    all
}

/// A container of `levels` levels, open to the end: arrays and objects by turns.
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

/// Changes `text` in a few places that `seed` chooses: bytes flipped, dropped or repeated, tokens of
/// `dictionary` written in, the end cut off, `other` spliced in.
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
