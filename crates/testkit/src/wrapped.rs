//! Texts in a wrapper: marks before each line, HTML entities, escapes, quotes around all of it.

use crate::Seed;

/// A mark before each line. `#` is the number of the line.
const MARKS: &[&str] = &[
    "+", "+ ", "-", "> ", ">", "| ", "data: ", "data:", "#: ", "# | ", "#\t", "  # ", "#. ", "* ",
    "│ ", "  > ",
];

/// A way to wrap a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrapper {
    /// A mark before each line.
    Marks(&'static str),
    /// HTML entities for its quotes, and for `&`, `<` and `>`.
    Entities,
    /// What is between the quotes when the text is written as a JSON string, twice.
    Escapes,
}

impl Wrapper {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        MARKS.iter().copied().map(Self::Marks).chain([Self::Entities, Self::Escapes])
    }

    /// Any of them.
    #[must_use]
    pub fn any(seed: &mut Seed) -> Self {
        let all: Vec<Self> = Self::all().collect();
        seed.pick(&all).copied().unwrap_or(Self::Entities)
    }

    /// Wraps a text.
    #[must_use]
    pub fn wrap(self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Marks(mark) => marked(text, mark),
            Self::Entities => replaced(text, |byte| match byte {
                b'"' => Some("&quot;"),
                b'\'' => Some("&#39;"),
                b'&' => Some("&amp;"),
                b'<' => Some("&lt;"),
                b'>' => Some("&gt;"),
                _ => None,
            }),
            Self::Escapes => escaped(&escaped(text)),
        }
    }
}

/// Puts the first item of an object or array on a line of its own, so that all lines can be marked.
#[must_use]
pub fn on_lines(text: &[u8]) -> Vec<u8> {
    let text = text.trim_ascii();
    match text {
        [open @ (b'{' | b'['), rest @ ..] => {
            [&[*open], &b"\n  "[..], rest.trim_ascii_start()].concat()
        }
        _ => text.to_vec(),
    }
}

/// A text in a wrapper: mostly all of it, sometimes with other text around it, or only a part.
#[must_use]
pub fn wrapped(text: &[u8], seed: &mut Seed) -> Vec<u8> {
    const BEFORE: &[&str] =
        &["", "", "", "\n", "Here:\n", "```\n", "```diff\n", "\u{feff}", "x = ", "> \n"];
    const AFTER: &[&str] =
        &["", "", "", "\n", "\nDone.", "\n```\n", "\n+", "\n> Done & done.", " &quot;"];
    let lines = if seed.below(4) == 0 { text.to_vec() } else { on_lines(text) };
    let inside = Wrapper::any(seed).wrap(&lines);
    let part = if seed.below(5) == 0 { seed.below(inside.len() + 1) } else { inside.len() };
    let pick =
        |texts: &[&'static str], seed: &mut Seed| seed.pick(texts).copied().unwrap_or_default();
    let (before, after) = (pick(BEFORE, seed), pick(AFTER, seed));
    [before.as_bytes(), inside.get(..part).unwrap_or_default(), after.as_bytes()].concat()
}

fn marked(text: &[u8], mark: &str) -> Vec<u8> {
    let line = |(at, line): (usize, &[u8])| {
        [mark.replace('#', &(at + 1).to_string()).as_bytes(), line].concat()
    };
    let lines: Vec<_> = text.split(|byte| *byte == b'\n').enumerate().map(line).collect();
    lines.join(&b'\n')
}

fn escaped(text: &[u8]) -> Vec<u8> {
    replaced(text, |byte| match byte {
        b'"' => Some("\\\""),
        b'\\' => Some("\\\\"),
        b'\n' => Some("\\n"),
        b'\r' => Some("\\r"),
        b'\t' => Some("\\t"),
        _ => None,
    })
}

fn replaced(text: &[u8], by: impl Fn(u8) -> Option<&'static str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    for byte in text {
        match by(*byte) {
            Some(after) => out.extend_from_slice(after.as_bytes()),
            None => out.push(*byte),
        }
    }
    out
}
