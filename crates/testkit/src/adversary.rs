//! Inputs that are made to use up time, stack or memory, and mutations for fuzzing.
//!
//! [`hostile`] makes every kind of a catalogue; `docs/limits.md` lists it.

use std::{fmt::Write as _, sync::LazyLock};

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
type Pattern = (&'static str, String, String, String);

/// The catalogue. [`hostile`] adds bytes that are not UTF-8.
static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let lines = include_str!("../data/adversary.jsonl").lines();
    let patterns = lines.filter(|line| !line.starts_with('#'));
    patterns.map(|line| serde_json::from_str(line).expect("a line is four strings")).collect()
});

/// Bytes that no UTF-8 text contains, inside a string.
const BYTES: [(&str, u8); 2] =
    [("invalid bytes in a string", 0xff), ("incomplete characters in a string", 0xf0)];

/// Every kind in the catalogue, with its piece repeated to about `size` bytes.
#[must_use]
pub fn hostile(size: usize) -> Vec<Hostile> {
    let repeated = |(name, head, piece, tail): &Pattern| {
        let body = piece.repeat(size / piece.len());
        Hostile { name, input: [head, &body, tail].map(String::as_str).concat().into_bytes() }
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
    for (name, head, piece, tail) in PATTERNS.iter() {
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
