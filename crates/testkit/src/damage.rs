//! Named ways to break a JSON text, as models and transports do.

use std::fmt;

use crate::Seed;

/// One way to break a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Damage {
    /// A closer is written twice.
    AddCloser,
    /// A comma is written twice, or before a closer.
    AddComma,
    /// An opener is written twice.
    AddOpener,
    /// A backslash before a letter that does not need one.
    BadEscape,
    /// A byte order mark at the start.
    ByteOrderMark,
    /// A comment between two tokens.
    Comment,
    /// A colon is written as an equals sign.
    ColonAsEquals,
    /// A closer is left out.
    DropCloser,
    /// A colon is left out.
    DropColon,
    /// A comma is left out.
    DropComma,
    /// A quote is left out.
    DropQuote,
    /// An ellipsis before a closer.
    Ellipsis,
    /// A code fence around the text.
    Fence,
    /// A byte inside a string that is not UTF-8.
    InvalidUtf8,
    /// Words before the text.
    LeadingProse,
    /// Literals in the spelling of Python.
    PythonLiterals,
    /// A raw line break inside a string.
    RawNewline,
    /// A second document after the first.
    SecondDocument,
    /// Strings in single quotes.
    SingleQuotes,
    /// Strings in typographic quotes.
    SmartQuotes,
    /// A closer of the wrong shape.
    SwapCloser,
    /// Words after the text.
    TrailingProse,
    /// The end is cut off.
    Truncate,
    /// Escaped quotes lose their backslash.
    UnescapeQuotes,
    /// Quotes in the middle of a string.
    InnerQuotes,
    /// Strings lose their quotes.
    UnquoteStrings,
}

impl Damage {
    /// Every way.
    pub const ALL: [Self; 26] = [
        Self::AddCloser,
        Self::AddComma,
        Self::AddOpener,
        Self::BadEscape,
        Self::ByteOrderMark,
        Self::Comment,
        Self::ColonAsEquals,
        Self::DropCloser,
        Self::DropColon,
        Self::DropComma,
        Self::DropQuote,
        Self::Ellipsis,
        Self::Fence,
        Self::InvalidUtf8,
        Self::LeadingProse,
        Self::PythonLiterals,
        Self::RawNewline,
        Self::SecondDocument,
        Self::SingleQuotes,
        Self::SmartQuotes,
        Self::SwapCloser,
        Self::TrailingProse,
        Self::Truncate,
        Self::UnescapeQuotes,
        Self::InnerQuotes,
        Self::UnquoteStrings,
    ];

    /// Breaks `text` this way, at a place that `seed` chooses; `None` if there is no such place.
    #[must_use]
    pub fn apply(self, text: &[u8], seed: &mut Seed) -> Option<Vec<u8>> {
        let marks = Marks::of(text);
        match self {
            Self::AddCloser => doubled(text, seed.pick(&marks.closers)?),
            Self::AddComma => {
                let at = seed.pick(&[marks.commas, marks.closers].concat()).copied()?;
                Some(spliced(text, at..at, b","))
            }
            Self::AddOpener => doubled(text, seed.pick(&marks.openers)?),
            Self::BadEscape => inside_string(text, &marks, seed, b"\\d"),
            Self::ByteOrderMark => Some(spliced(text, 0..0, "\u{feff}".as_bytes())),
            Self::Comment => {
                let comment = *seed.pick(&[&b"/* note */"[..], b"// note\n", b"# note\n"])?;
                let at = seed.pick(&[marks.commas, marks.closers].concat()).copied()?;
                Some(spliced(text, at..at, comment))
            }
            Self::ColonAsEquals => replaced(text, seed.pick(&marks.colons)?, b"="),
            Self::DropCloser => replaced(text, seed.pick(&marks.closers)?, b""),
            Self::DropColon => replaced(text, seed.pick(&marks.colons)?, b" "),
            Self::DropComma => replaced(text, seed.pick(&marks.commas)?, b" "),
            Self::DropQuote => replaced(text, seed.pick(&marks.quotes)?, b""),
            Self::Ellipsis => {
                let at = seed.pick(&marks.closers).copied()?;
                Some(spliced(text, at..at, b", ..."))
            }
            Self::Fence => Some([b"```json\n", text, b"\n```\n"].concat()),
            Self::InvalidUtf8 => inside_string(text, &marks, seed, b"\xe9"),
            Self::LeadingProse => Some([b"Here is the result:\n", text].concat()),
            Self::PythonLiterals => python(text, &marks),
            Self::RawNewline => inside_string(text, &marks, seed, b"\n"),
            Self::SecondDocument => Some([text, b"\n{\"second\": 2}"].concat()),
            Self::SingleQuotes => requoted(text, &marks, "'", "'"),
            Self::SmartQuotes => requoted(text, &marks, "\u{201c}", "\u{201d}"),
            Self::SwapCloser => {
                let at = seed.pick(&marks.closers)?;
                let other = if text.get(*at) == Some(&b'}') { b"]" } else { b"}" };
                replaced(text, at, other)
            }
            Self::TrailingProse => Some([text, b"\nLet me know if this helps."].concat()),
            Self::Truncate => text.get(..seed.below(text.len())).map(<[u8]>::to_vec),
            Self::UnescapeQuotes => unescaped(text),
            Self::InnerQuotes => inside_string(text, &marks, seed, b" \"so-called\" "),
            Self::UnquoteStrings => requoted(text, &marks, "", ""),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A text and what was done to it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damaged {
    /// The broken text.
    pub text: Vec<u8>,
    /// What was done, in order.
    pub done: Vec<Damage>,
}

impl fmt::Debug for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` after {:?}", self.text.escape_ascii(), self.done)
    }
}

/// Breaks `text` in up to `count` ways that `seed` chooses. For a reader of responses, it goes into the body of a reply:
///
/// ```
/// use wiremend_testkit::{Seed, bodies::{Reply, Shape}, damage};
///
/// let damaged = damage::damaged(br#"{"a": [1, 2]}"#, 2, &mut Seed::new(3));
/// assert_eq!(damaged.done.len(), 2);
/// let arguments = String::from_utf8_lossy(&damaged.text);
/// let body = Reply::new(Shape::Chat).with_call([arguments]).body();
/// assert!(body.starts_with(b"data: "));
/// ```
#[must_use]
pub fn damaged(text: &[u8], count: usize, seed: &mut Seed) -> Damaged {
    let mut damaged = Damaged { text: text.to_vec(), done: Vec::new() };
    // Not every way applies to every text, so a few tries may have no effect.
    for _ in 0..count * 4 {
        if damaged.done.len() == count {
            break;
        }
        let Some(&way) = seed.pick(&Damage::ALL) else { break };
        if let Some(text) = way.apply(&damaged.text, seed) {
            damaged.text = text;
            damaged.done.push(way);
        }
    }
    damaged
}

/// The positions of punctuation outside of strings, as far as they can be found in a text that may
/// already be broken.
#[derive(Default)]
struct Marks {
    openers: Vec<usize>,
    closers: Vec<usize>,
    commas: Vec<usize>,
    colons: Vec<usize>,
    /// Opening and closing quotes, alternating.
    quotes: Vec<usize>,
}

impl Marks {
    fn of(text: &[u8]) -> Self {
        let mut marks = Self::default();
        let mut in_string = false;
        let mut escaped = false;
        for (at, &byte) in text.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'"' => {
                    in_string = !in_string;
                    marks.quotes.push(at);
                }
                b'\\' => escaped = in_string,
                _ if in_string => {}
                b'{' | b'[' => marks.openers.push(at),
                b'}' | b']' => marks.closers.push(at),
                b',' => marks.commas.push(at),
                b':' => marks.colons.push(at),
                _ => {}
            }
        }
        marks
    }

    /// The opening and the closing quote of each string.
    fn strings(&self) -> impl Iterator<Item = (usize, usize)> {
        self.quotes.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)))
    }
}

fn spliced(text: &[u8], span: std::ops::Range<usize>, by: &[u8]) -> Vec<u8> {
    let (head, tail) = (text.get(..span.start), text.get(span.end..));
    [head.unwrap_or(text), by, tail.unwrap_or_default()].concat()
}

fn replaced(text: &[u8], at: &usize, by: &[u8]) -> Option<Vec<u8>> {
    (*at < text.len()).then(|| spliced(text, *at..*at + 1, by))
}

fn doubled(text: &[u8], at: &usize) -> Option<Vec<u8>> {
    text.get(*at).map(|&byte| spliced(text, *at..*at, &[byte]))
}

/// Inserts `what` somewhere inside a string, at the start of a character and not inside an escape.
fn inside_string(text: &[u8], marks: &Marks, seed: &mut Seed, what: &[u8]) -> Option<Vec<u8>> {
    let strings: Vec<_> = marks.strings().collect();
    let &(open, close) = seed.pick(&strings)?;
    let inside = text.get(open + 1..close)?;
    let before_escape = inside.iter().position(|&byte| byte == b'\\').unwrap_or(inside.len());
    let mut at = open + 1 + seed.below(before_escape + 1);
    while text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        at += 1;
    }
    Some(spliced(text, at..at, what))
}

fn requoted(text: &[u8], marks: &Marks, open: &str, close: &str) -> Option<Vec<u8>> {
    marks.strings().next()?;
    let mut out = Vec::new();
    let mut at = 0;
    for (start, end) in marks.strings() {
        out.extend_from_slice(text.get(at..start)?);
        out.extend_from_slice(open.as_bytes());
        out.extend_from_slice(text.get(start + 1..end)?);
        out.extend_from_slice(close.as_bytes());
        at = end + 1;
    }
    out.extend_from_slice(text.get(at..)?);
    Some(out)
}

fn python(text: &[u8], marks: &Marks) -> Option<Vec<u8>> {
    let mut out = text.to_vec();
    let mut changed = false;
    let inside = |at: usize| marks.strings().any(|(open, close)| (open..close).contains(&at));
    for (json, python) in [("true", "True"), ("false", "False"), ("null", "None")] {
        for at in 0..text.len() {
            let span = at..at + json.len();
            if text.get(span.clone()) == Some(json.as_bytes()) && !inside(at) {
                out.get_mut(span)?.copy_from_slice(python.get(..json.len())?.as_bytes());
                // `False` is as long as `false`, `True` as `true` and `None` as `null`.
                changed = true;
            }
        }
    }
    changed.then_some(out)
}

fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(b'"')) => {}
            (b'\\', Some(&next)) => {
                out.extend([byte, next]);
                bytes.next();
            }
            _ => out.push(byte),
        }
    }
    (out.len() < text.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle;

    const TEXT: &[u8] = br#"{"a": ["x \"y\" z", null, true], "b": {"c": 1.5}}"#;

    #[test]
    fn every_way_breaks_a_text_that_has_the_place_for_it() {
        for way in Damage::ALL {
            for seed in 0..20 {
                let broken = way.apply(TEXT, &mut Seed::new(seed)).expect("there is a place");
                assert!(!oracle::is_json(&broken), "{way}: {}", broken.escape_ascii());
            }
        }
    }

    #[test]
    fn damage_adds_up_and_repeats() {
        let once = damaged(TEXT, 3, &mut Seed::new(11));
        assert_eq!(once.done.len(), 3);
        assert_eq!(once, damaged(TEXT, 3, &mut Seed::new(11)));
    }
}
