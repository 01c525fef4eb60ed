//! Puts an answer that was cut off together with what the model wrote when it was asked to go on.

use wiremend_core::{MendOptions, Mender, Outcome, Policy};

/// The shortest repetition of the end of an answer that is taken for one, in bytes.
const OVERLAP: usize = 12;
/// How far back a repetition is looked for, in bytes.
const LONGEST: usize = 512;

/// The longest words before the rest that are taken for words to the reader, in bytes.
const WORDS: usize = 200;

/// A way to read the text that came after an answer that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// Whether it is the prefix and all that came after it, or either of them alone.
    pub(crate) is_plain: bool,
}

/// What a way to read a text is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It counts, with repairs if need be.
    Likely,
    /// It counts only as it is, because with repairs almost anything could be read.
    Exact,
    /// It never counts. If it fits best, no other way does either.
    Rival,
}

/// Ways to read `more` after `prefix`, the likeliest first. There is at least one.
///
/// Models repeat the last words, put the rest into a code fence, announce it, or begin again although they were
/// asked to go on, with the same key or with another one. If something of the prefix has been shown, every way begins with it.
pub(crate) fn readings(prefix: &str, more: &str, is_shown: bool) -> Vec<Joined> {
    let mut all: Vec<Joined> = Vec::new();
    let mut push = |text: String, kind: Kind, is_plain: bool| {
        if !all.iter().any(|known| known.text == text) {
            all.push(Joined { text, kind, is_plain });
        }
    };
    let announced = announced_fence(more);
    let again = [Some(more), announced, unfenced(more), announced_line(more)];
    let end = End::of(prefix);
    let is_anew =
        again.iter().flatten().any(|more| begins_again(prefix, more) || end.excludes(more));
    if is_anew && (!is_shown || more.starts_with(prefix)) {
        push(more.to_owned(), Kind::Likely, true);
    }
    let after = if is_anew { Kind::Exact } else { Kind::Likely };
    for (more, is_plain) in [(announced, false), (Some(more), true), (unfenced(more), false)] {
        let Some(more) = more else { continue };
        let overlap = overlap(prefix, more);
        if overlap > 0 && overlap < prefix.len() {
            push(format!("{prefix}{}", more.get(overlap..).unwrap_or_default()), after, false);
        }
        push(format!("{prefix}{more}"), after, is_plain);
    }
    if let Some(rest) = announced_line(more) {
        push(format!("{prefix}{rest}"), Kind::Rival, false);
    }
    if is_anew && is_shown {
        // What was written after the prefix is of no use.
        push(prefix.to_owned(), Kind::Likely, true);
    }
    if !is_shown {
        push(more.to_owned(), Kind::Exact, true);
    }
    all
}

/// Where a text was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A value may begin there.
    BeforeValue,
    InString,
    /// At any other place of a document. No bracket opens there.
    Elsewhere,
}

impl End {
    pub(crate) fn of(text: &str) -> Self {
        let mut mender = Mender::new(MendOptions::new());
        mender.push(text.as_bytes(), &mut Vec::new());
        if mender.ends_in_string() {
            return Self::InString;
        }
        // Before a document, anything may be said.
        let Some(completion) = mender.completion().map(|rest| rest.to_string()) else {
            return Self::BeforeValue;
        };
        // The quote before the comma is open as long as it may be a part of the string.
        let is_in_list = completion.trim_start_matches('"').starts_with(']');
        match text.trim_end().chars().next_back() {
            Some(':' | '[') => Self::BeforeValue,
            Some(',') if is_in_list => Self::BeforeValue,
            _ => Self::Elsewhere,
        }
    }

    /// Whether a rest begins with a bracket that cannot open there, so that it is a new answer. In a string, a bracket
    /// is a character like any other, and only what looks like the beginning of JSON is taken for one.
    fn excludes(self, more: &str) -> bool {
        match self {
            Self::BeforeValue => false,
            Self::InString => opens_json(more),
            Self::Elsewhere => more.trim_start().starts_with(['{', '[']),
        }
    }
}

/// Whether a text begins with an object and its first key, in any spelling, or with a list and a quote.
fn opens_json(text: &str) -> bool {
    let inside = text.trim_start_matches(|c: char| c.is_whitespace() || c == '[');
    let is_list = text.trim_start().len() > inside.len();
    let Some(inside) = inside.strip_prefix('{').map(str::trim_start) else {
        return is_list && inside.starts_with(['"', '\'']);
    };
    let after = match inside.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        Some(quote) => inside.get(1..).and_then(|key| key.split_once(quote)).map(|(_, rest)| rest),
        None => Some(inside.trim_start_matches(|c: char| c.is_alphanumeric() || "_$-".contains(c)))
            .filter(|rest| rest.len() < inside.len()),
    };
    after.is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// Whether a text is the beginning of JSON text, without any repair but for a code fence.
pub(crate) fn is_begun_json(text: &str) -> bool {
    let mut mender = Mender::new(MendOptions::new().with_policy(Policy::STRICT));
    mender.push(unfenced(text).unwrap_or(text).as_bytes(), &mut Vec::new());
    mender.finish(&mut Vec::new()) == Outcome::Cut
}

/// The inside of the code fence in which a text ends, if there are only words before it.
fn announced_fence(text: &str) -> Option<&str> {
    let at = text.find("```").filter(|at| *at > 0)?;
    let (words, fence) = text.split_at_checked(at)?;
    is_announcement(words)
        .then(|| unfenced(fence))
        .flatten()
        .filter(|inside| !inside.contains("```"))
}

/// What follows the first line of a text, if that line announces it.
fn announced_line(text: &str) -> Option<&str> {
    let (line, rest) = text.split_once('\n')?;
    (is_announcement(line) && line.trim_end().ends_with(':')).then_some(rest)
}

/// Whether a text is words without any sign of JSON.
fn is_announcement(words: &str) -> bool {
    let has_words = words.chars().any(char::is_alphabetic);
    has_words && words.len() <= WORDS && !words.contains(['{', '}', '[', ']', '"'])
}

/// Whether the model began again instead of going on: with the same characters, white space aside, or with the
/// same first key.
fn begins_again(prefix: &str, more: &str) -> bool {
    /// How much of the beginning is compared, in characters.
    const COMPARED: usize = 16;
    let start: String = prefix.chars().filter(|c| !c.is_whitespace()).take(COMPARED).collect();
    let begun = start.chars().count() >= 2 && start.contains(['{', '[', '`', '<']);
    let mut other = more.chars().filter(|c| !c.is_whitespace());
    let is_same = start.chars().all(|c| other.next() == Some(c));
    let key = first_key(prefix);
    begun && (is_same || key.is_some() && key == first_key(more))
}

/// The brackets before the first key of a text that begins with these, and the key.
fn first_key(text: &str) -> Option<(usize, &str)> {
    let inside = text.trim_start_matches(|c: char| c.is_whitespace() || c == '{' || c == '[');
    let before = text.get(..text.len() - inside.len())?;
    let brackets = before.chars().filter(|c| !c.is_whitespace()).count();
    let (key, rest) = inside.strip_prefix('"')?.split_once('"')?;
    (before.trim_end().ends_with('{') && rest.trim_start().starts_with(':'))
        .then_some((brackets, key))
}

/// How many bytes at the start of `more` repeat the end of `prefix`. What repeats itself, like a list of zeros, goes
/// on as it was.
fn overlap(prefix: &str, more: &str) -> usize {
    let most = more.len().min(prefix.len()).min(LONGEST);
    let repeats = |length: &usize| {
        more.is_char_boundary(*length) && more.get(..*length).is_some_and(|s| prefix.ends_with(s))
    };
    let longest = (OVERLAP..=most).rev().find(repeats).unwrap_or_default();
    // It repeats itself if a shorter part of it is repeated as well.
    let is_periodic = (1..longest).rev().take_while(|length| 2 * length >= longest).any(|length| {
        let repeated = more.get(..longest).unwrap_or_default().as_bytes();
        repeated.get(..length) == repeated.get(longest - length..)
    });
    if is_periodic { 0 } else { longest }
}

/// What is inside the code fence that a text begins with.
fn unfenced(text: &str) -> Option<&str> {
    let (first, rest) = text.trim_start().split_once('\n')?;
    let is_fence = first.starts_with("```") && !first.trim_start_matches('`').contains('`');
    let end = rest.trim_end();
    is_fence.then(|| {
        end.strip_suffix("```").map_or(rest, |inside| inside.strip_suffix('\n').unwrap_or(inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_where_a_text_ends_is_that_of_the_repaired_text() {
        for (text, end) in [
            ("", End::BeforeValue),
            ("```json\n", End::BeforeValue),
            (r#"{"a": "#, End::BeforeValue),
            (r#"{"a": ["x", "#, End::BeforeValue),
            (r#"{"a": [{"b": 1}, "#, End::BeforeValue),
            (r#"{"a": [[], ["#, End::BeforeValue),
            ("{'a': ['x', ", End::BeforeValue),
            (r#"{"a": "x"#, End::InString),
            (r#"{"a": ["x: "#, End::InString),
            (r#"{"a": "x", "#, End::Elsewhere),
            (r#"{"a": ["x"], "#, End::Elsewhere),
            (r#"[{"a": 1, "#, End::Elsewhere),
            (r#"[{"a": {}, "#, End::Elsewhere),
            (r#"{"a": [{}, "#, End::BeforeValue),
            (r#"{"a": "x", "b"#, End::Elsewhere),
            (r#"{"a": ["x""#, End::Elsewhere),
            (r#"{"a": 1"#, End::Elsewhere),
            ("{", End::Elsewhere),
        ] {
            assert_eq!(End::of(text), end, "{text}");
        }
    }

    #[test]
    fn in_a_string_only_what_looks_like_json_begins_anew() {
        for text in ["{\"a\": 1", " { 'a' : 1", "{a_b: 1", "[ {\"a\": 1", "[\"a\"", "[\n 'a'"] {
            assert!(opens_json(text), "{text}");
        }
        for text in [
            "{",
            "{}",
            "{name}",
            "{name, or else: none}",
            "{\\\"a\\\": 1}",
            "[1] says",
            "\"a\": 1",
            "",
        ] {
            assert!(!opens_json(text), "{text}");
        }
    }

    #[test]
    fn a_text_without_repairs_is_begun_json() {
        assert!(is_begun_json(r#"{"a": "set {color: red"#));
        for text in [
            r#"{"a": [1, {"b": "c"#,
            r#"{"a": 1, "b"#,
            r#"{"a": "#,
            r#"["a", "#,
            "```json\n{\"a\": tr",
        ] {
            assert!(is_begun_json(text), "{text}");
        }
        for text in [
            "{a: 1",
            r#"{"a": "set {"color": "red"#,
            r#"{"a": "x", {"#,
            "{'a': 'b",
            "words",
            "{}",
            "",
        ] {
            assert!(!is_begun_json(text), "{text}");
        }
    }

    fn texts(prefix: &str, more: &str, is_shown: bool) -> Vec<String> {
        readings(prefix, more, is_shown).into_iter().map(|joined| joined.text).collect()
    }

    #[test]
    fn the_rest_is_read_in_all_likely_ways() {
        let prefix = r#"{"note": "the quick brown fox"#;
        let whole = format!("{prefix} jumps\"}}");
        assert_eq!(texts(prefix, " jumps\"}", true), [whole.as_str()]);
        assert_eq!(texts(prefix, "quick brown fox jumps\"}", true)[0], whole);
        assert!(texts(prefix, "```json\n jumps\"}\n```", true).contains(&whole));
        assert_eq!(texts(prefix, &whole, false)[0], whole);
        assert_eq!(texts(prefix, &whole, true)[0], whole, "it goes on where it was cut off");
    }

    #[test]
    fn items_that_are_all_alike_are_not_taken_for_a_repetition() {
        for (prefix, more) in [
            ("[0, 0, 0, 0, 0, 0, 0, ", "0, 0, 0, 0, 0, 0, 0, 1]"),
            ("[1, 2, 3, 1, 2, 3, 1, 2, 3, ", "1, 2, 3, 1, 2, 3, 4]"),
        ] {
            assert_eq!(texts(prefix, more, true)[0], format!("{prefix}{more}"));
        }
    }

    #[test]
    fn an_announced_rest_is_read_without_its_announcement() {
        let prefix = r#"{"note": "the quick brown fox"#;
        let whole = format!("{prefix} jumps\"}}");
        for words in ["Sure, here's the rest: ", "Sure!\n\n", "Of course.\n"] {
            let more = format!("{words}```json\n jumps\"}}\n```\n");
            assert_eq!(texts(prefix, &more, true)[0], whole, "{more}");
        }
        // A fence in the middle of a string, and one with words after it, belong to the string.
        for more in [": \"a\", \"b\": \"```\n c\"}", " says:\n```\nmore\n```\nand jumps\"}"] {
            assert_eq!(texts(prefix, more, true)[0], format!("{prefix}{more}"));
        }
        let kinds = |more| -> Vec<Kind> {
            readings(prefix, more, true).into_iter().map(|joined| joined.kind).collect()
        };
        assert_eq!(kinds("Here it is:\n jumps\"}"), [Kind::Likely, Kind::Rival]);
        assert_eq!(kinds(" jumps.\nIt does.\"}"), [Kind::Likely]);
    }

    #[test]
    fn what_was_shown_stays() {
        let prefix = r#"{"note": "the quick brown fox"#;
        let other = r#"{"note": "the quick red fox jumps"}"#;
        assert!(texts(prefix, other, true).iter().all(|text| text.starts_with(prefix)));
        let anew = readings(prefix, other, true);
        assert!(anew.iter().all(|joined| joined.kind == Kind::Exact || joined.text == prefix));
        for other in ["{\n  \"note\": \"a\"}", "{\"note\" : \"b\"}"] {
            let anew = readings(prefix, other, true);
            assert!(anew.iter().all(|joined| joined.kind != Kind::Likely || joined.text == prefix));
        }
        assert_eq!(texts(prefix, other, false)[0], other);
    }
}
