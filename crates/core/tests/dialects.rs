//! Texts in a consistent dialect, and long strings in small pieces, are read on the fast path: it
//! must make the edits that the rules make, wherever the text is damaged and wherever a chunk ends.
//!
//! `ROUNDS=1000000 SEED=7 cargo test --release -p wiremend-core --test dialects` runs longer, with
//! other texts.

#![allow(missing_docs, clippy::unwrap_used)]

use wiremend_core::{
    Collected, Limits, MendOptions, Mended, Mender, Outcome, Policy, RepairKind, mend,
};

/// Numbers that depend on nothing but the seed (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// A value in a dialect.
fn value(chance: &mut Chance, depth: usize, out: &mut String) {
    match chance.below(if depth == 0 { 6 } else { 10 }) {
        0 => out.push_str(chance.of(&["True", "False", "None", "true", "null", "Nope", "NaN"])),
        1 => out.push_str(chance.of(&["0", "-1.5", "1e9", "12", "1.", "007"])),
        2 => string(chance, '"', out),
        3..6 => string(chance, '\'', out),
        6 if chance.below(8) == 0 => {
            // Enough JSON for the text to count as such.
            let pieces = ["1, ", "{\"k\": [true, \"v\"]}, ", "\"word\", "];
            let piece = pieces[chance.below(3)].repeat(30 + chance.below(60));
            out.push_str(&format!("[{piece}0]"));
        }
        6..8 => {
            out.push('[');
            members(chance, out, |chance, out| value(chance, depth - 1, out));
            out.push(']');
        }
        _ => {
            out.push('{');
            members(chance, out, |chance, out| {
                match chance.below(4) {
                    0 => string(chance, '"', out),
                    1 => {
                        out.push_str(chance.of(&["a", "u", "_b1", "$", "None", "a-b", "a b", "é"]));
                    }
                    _ => string(chance, '\'', out),
                }
                out.push_str(chance.of(&[":", ": ", ": ", " : "]));
                value(chance, depth - 1, out);
            });
            out.push('}');
        }
    }
}

fn members(chance: &mut Chance, out: &mut String, member: impl Fn(&mut Chance, &mut String)) {
    let all = chance.below(4);
    for at in 0..all {
        member(chance, out);
        if at + 1 < all || chance.below(4) == 0 {
            out.push_str(chance.of(&[",", ", ", ", ", ",\n  "]));
        }
    }
}

fn string(chance: &mut Chance, quote: char, out: &mut String) {
    const PIECES: [&str; 24] = [
        "a",
        "word",
        "two words",
        "é",
        "木",
        "🦀",
        "\\n",
        "\\'",
        "\\\"",
        "\\\\",
        "\\u00e9",
        "\\b",
        "(",
        "[",
        "{",
        "}",
        ", ",
        ":",
        " ",
        "it's",
        "\"",
        "'",
        "\\x41",
        ",",
    ];
    out.push(quote);
    for _ in 0..chance.below(4) {
        // Mostly the harmless ones.
        let most = if chance.below(3) == 0 { PIECES.len() } else { 12 };
        out.push_str(PIECES[chance.below(most)]);
    }
    out.push(quote);
}

/// A text in a dialect, perhaps with a byte removed, doubled or changed, or cut off.
fn text(chance: &mut Chance) -> Vec<u8> {
    let mut text = String::from(chance.of(&["[", "{'a': ", "{a: [", "[[", "{\"a\": {"]));
    for _ in 0..=chance.below(3) {
        value(chance, 3, &mut text);
        text.push_str(chance.of(&[", ", ", 'b': ", ", c: ", "], ", "}, "]));
    }
    text.push_str(chance.of(&["]", "}", "]}", "}]", "'z']", "'z'}"]));
    let mut text = text.into_bytes();
    let at = chance.below(text.len());
    match chance.below(6) {
        0 => drop(text.remove(at)),
        1 => text.insert(at, text[at]),
        2 => text[at] = *b"'\",:{}[] \\a\xff\n".get(chance.below(14)).unwrap_or(&b' '),
        3 => text.truncate(at),
        _ => {}
    }
    text
}

/// What a mender makes of the text in pieces of that size.
fn pushed(text: &[u8], size: usize, options: &MendOptions) -> (Outcome, Collected) {
    let mut mender = Mender::new(options.clone());
    let mut out = Collected::default();
    text.chunks(size).for_each(|piece| mender.push(piece, &mut out));
    (mender.finish(&mut out), out)
}

#[test]
fn the_fast_path_makes_the_edits_of_the_rules() {
    // With less than this buffer, the fast path is not used.
    let slow = Limits::new().with_buffer(4000);
    let number = |name| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let mut chance = Chance(number("SEED").unwrap_or(0x5eed));
    for round in 0..number("ROUNDS").unwrap_or(6000) {
        let text = text(&mut chance);
        let policy = if round % 2 == 0 { Policy::PERMISSIVE } else { Policy::CONSERVATIVE };
        let fast = MendOptions::new().with_policy(policy);
        let rules = fast.clone().with_limits(slow);
        let shown = String::from_utf8_lossy(&text);
        let want = pushed(&text, text.len().max(1), &rules);
        for size in [text.len().max(1), 1500, 700, 350, 64, 33, 8, 3, 1] {
            assert_eq!(pushed(&text, size, &fast), want, "{shown} in pieces of {size}");
        }
        // The whole-text path tries how the rest of a text reads, within a number of steps. The fast
        // path takes fewer, so it may try more.
        let (fast, rules) = (mend(&text, &fast), mend(&text, &rules));
        let tried = |mended: &Mended| mended.repairs().contains(RepairKind::AmbiguousQuote);
        if !tried(&fast) && !tried(&rules) {
            assert_eq!(fast, rules, "{shown}");
        }
    }
}

/// A long string of JSON in a list, usually with escapes or characters outside ASCII, and perhaps
/// damaged.
fn long_string(chance: &mut Chance) -> Vec<u8> {
    const PIECES: [&str; 30] = [
        "\\n",
        "\\\"",
        "\\\\",
        "\\u00e9",
        "\\u00E9",
        "\\ud7ff",
        "\\t",
        "\\/",
        "a",
        "word",
        "two words",
        " ",
        "  ",
        ", ",
        ".",
        "1",
        "é",
        "木",
        "🦀",
        "\u{a0}",
        "(",
        ",",
        "{",
        "]",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\x41",
        "\\'",
        "\"",
        "\n",
    ];
    let mut text = String::from(chance.of(&["[\"", "{\"k\": \"", "[1, \"v\", \""]));
    let most = [8, 14, 16, 20, 27, 30][chance.below(6)];
    for _ in 0..chance.below(24) {
        text.push_str(PIECES[chance.below(most)]);
    }
    text.push_str(chance.of(&["\"]", "\"}", "\", \"w\": 1}", "\", 2]", "\\\"]", "", "\", b\"]"]));
    text.into_bytes()
}

#[test]
fn the_fast_path_reads_strings_in_pieces_like_the_rules() {
    let slow = Limits::new().with_buffer(4000);
    let number = |name| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let mut chance = Chance(number("SEED").unwrap_or(0xe5c));
    for _ in 0..number("ROUNDS").unwrap_or(6000) {
        let text = long_string(&mut chance);
        let fast = MendOptions::new();
        let rules = fast.clone().with_limits(slow);
        let shown = String::from_utf8_lossy(&text);
        let want = pushed(&text, text.len().max(1), &rules);
        for size in [1, 2, 3, 5, 7, 8, 9, 11, 13, 16, 17, 64] {
            assert_eq!(pushed(&text, size, &fast), want, "{shown} in pieces of {size}");
        }
    }
}

#[test]
fn nothing_is_remembered_of_an_earlier_string() {
    let slow = MendOptions::new().with_limits(Limits::new().with_buffer(4000));
    for text in [
        r#"["f" d"," "":}"#,
        r#"["a "b" c", 1, "v", "w", 2, "x "y","z"]"#,
        r#"{""a"": "x", "b": ""c", "d": 1}"#,
        r#"[""a"", "x", ""b", 1]"#,
        r#"[""a"", 1, {"k": 2}, ""b", 1]"#,
    ] {
        let want = pushed(text.as_bytes(), text.len(), &slow);
        for size in [1, 3, 8, 64] {
            assert_eq!(pushed(text.as_bytes(), size, &MendOptions::new()), want, "{text} {size}");
        }
    }
}

#[test]
fn a_dialect_that_was_left_for_a_while_is_entered_again() {
    // What the fast path remembers of the dialect must not outlive it, wherever a chunk ends.
    let clean = "{\"k\": \"v\", \"n\": [1, 2]}, ".repeat(40);
    let text =
        format!("[{{'a': '  x  '}}, {clean}{{\"k\": \"v\", 'b': \"w\", c: 'y'}}, {clean}['z']]");
    let want = text.replace('\'', "\"").replace("c:", "\"c\":");
    for size in (1..text.len()).step_by(7).chain([text.len()]) {
        let (outcome, out) = pushed(text.as_bytes(), size, &MendOptions::new());
        assert_eq!((outcome, out.to_text()), (Outcome::Repaired, want.clone()), "{size}");
        assert_eq!(out.repairs().len(), 12, "{size}");
    }
}
