//! Reports: outcomes and repairs.

use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use core::{
    borrow::Borrow,
    fmt::{self, Write as _},
    ops::Range,
};

use crate::{RepairKind, Risk, code::by_code};

/// How the mending of one input ended.
///
/// ```
/// use wiremend_core::Outcome;
/// assert!(Outcome::Repaired.is_complete());
/// assert!(!Outcome::Closed.is_complete());
/// assert_eq!(Outcome::Cut.code(), "cut");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The caller gave up before the end. What was withheld was emitted raw.
    Abandoned,
    /// The input was cut off, and the document was closed. This is never a complete value.
    Closed,
    /// The input was cut off, and the policy forbids closing. The text is raw.
    Cut,
    /// The input needs a repair that the policy forbids. The text is raw.
    Invalid,
    /// The input contains no JSON.
    None,
    /// A limit was exceeded. From there on, the text is raw.
    Overflow,
    /// The input was complete but broken. The output is valid.
    Repaired,
    /// The input was valid JSON, and the output is the same.
    Unchanged,
}

impl Outcome {
    /// All outcomes, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Abandoned,
        Self::Closed,
        Self::Cut,
        Self::Invalid,
        Self::None,
        Self::Overflow,
        Self::Repaired,
        Self::Unchanged,
    ];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Abandoned => "abandoned",
            Self::Closed => "closed",
            Self::Cut => "cut",
            Self::Invalid => "invalid",
            Self::None => "none",
            Self::Overflow => "overflow",
            Self::Repaired => "repaired",
            Self::Unchanged => "unchanged",
        }
    }

    /// Whether the value is complete: the input was not cut off.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Repaired | Self::Unchanged)
    }

    /// Whether the output is valid JSON.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        matches!(self, Self::Repaired | Self::Unchanged | Self::Closed)
    }
}

by_code!(Outcome, "outcome");

/// One change: a [span](Self::span) of the input was replaced by [other text](Self::after).
///
/// The repairs of an input are sorted and do not overlap. Applying them to the input (see
/// [`apply`]) gives the output, byte for byte. Where in the document a repair was made follows from
/// the mended text; [`Paths`](crate::Paths) says it.
///
/// A repair takes five words, and allocates only if the new text is not a constant.
///
/// ```
/// use wiremend_core::{MendOptions, RepairKind, mend};
/// let mended = mend(b"{'a': None}", &MendOptions::new());
/// let last = mended.repairs().last().unwrap();
/// assert_eq!(last.kind(), RepairKind::PythonLiteral);
/// assert_eq!((last.span(), last.after()), (6..10, "null"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    pub(crate) kind: RepairKind,
    risk: Risk,
    pub(crate) start: usize,
    pub(crate) end: usize,
    after: After,
}

/// The text that a repair inserts, in two words.
#[derive(Clone)]
enum After {
    Constant(&'static str),
    // A `Box<str>` would be two words, and the enum three.
    #[allow(clippy::box_collection)]
    Own(Box<String>),
}

impl After {
    fn as_str(&self) -> &str {
        match self {
            Self::Constant(text) => text,
            Self::Own(text) => text,
        }
    }
}

impl From<Cow<'static, str>> for After {
    fn from(text: Cow<'static, str>) -> Self {
        match text {
            Cow::Borrowed(text) => Self::Constant(text),
            Cow::Owned(text) if text.is_empty() => Self::Constant(""),
            Cow::Owned(text) => Self::Own(Box::new(text)),
        }
    }
}

impl PartialEq for After {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for After {}

impl fmt::Debug for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl Repair {
    /// Creates a repair that replaces `span` by `after`.
    #[must_use]
    pub fn new(kind: RepairKind, span: Range<usize>, after: impl Into<Cow<'static, str>>) -> Self {
        let after = After::from(after.into());
        Self { kind, risk: kind.risk(), start: span.start, end: span.end, after }
    }

    /// What was wrong.
    #[must_use]
    pub const fn kind(&self) -> RepairKind {
        self.kind
    }

    /// How likely it is to be wrong: the risk of its kind, or a guess if it is [in doubt](Self::is_in_doubt).
    #[must_use]
    pub const fn risk(&self) -> Risk {
        self.risk
    }

    /// Whether another reading of the text, which gives another value without this repair, is nearly as likely. This is
    /// known only of whole texts, and of repairs that have a rival.
    ///
    /// ```
    /// use wiremend_core::{MendOptions, RepairKind, Risk, mend};
    /// // A quote in the string, or one too many after it.
    /// let mended = mend(br#"{"a": "5"", "b": 1}"#, &MendOptions::new());
    /// let repair = mended.repairs().first().unwrap();
    /// assert_eq!((repair.kind(), repair.risk()), (RepairKind::UnescapedQuote, Risk::Guess));
    /// assert!(repair.is_in_doubt());
    /// ```
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.risk > self.kind.risk()
    }

    /// The same repair, in doubt.
    #[must_use]
    pub(crate) fn in_doubt(mut self) -> Self {
        self.risk = Risk::Guess;
        self
    }

    /// The bytes of the input that are replaced. Empty if something is inserted.
    #[must_use]
    pub const fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The start of its [span](Self::span).
    #[must_use]
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The end of its [span](Self::span).
    #[must_use]
    pub const fn end(&self) -> usize {
        self.end
    }

    /// The text in the output instead. Empty if something is deleted.
    #[must_use]
    pub fn after(&self) -> &str {
        self.after.as_str()
    }

    /// The inserted text, for use after the repair was passed on. Constants are not copied.
    pub(crate) fn shared_after(&self) -> Cow<'static, str> {
        match &self.after {
            After::Constant(text) => Cow::Borrowed(text),
            After::Own(text) => Cow::Owned(String::clone(text)),
        }
    }

    /// The same repair with another span.
    #[must_use]
    pub fn with_span(mut self, span: Range<usize>) -> Self {
        (self.start, self.end) = (span.start, span.end);
        self
    }

    /// The same repair, for an input with `offset` more bytes at its start.
    #[must_use]
    pub fn shifted(mut self, offset: usize) -> Self {
        self.start += offset;
        self.end += offset;
        self
    }

    /// Returns the kind, the span, and the text that replaces it.
    #[must_use]
    pub fn into_parts(self) -> (RepairKind, Range<usize>, Cow<'static, str>) {
        let after = match self.after {
            After::Constant(text) => Cow::Borrowed(text),
            After::Own(text) => Cow::Owned(*text),
        };
        (self.kind, self.start..self.end, after)
    }
}

/// One line: what was wrong, where, and what became of it. Control characters are escaped, so that it stays one.
///
/// ```
/// use wiremend_core::{MendOptions, mend};
/// let mended = mend(b"{'a': None, // ?", &MendOptions::new());
/// let lines: Vec<String> = mended.repairs().into_iter().map(|repair| repair.to_string()).collect();
/// assert_eq!(lines[2..4], ["python-literal at 6..10: replaced by `null`", "extra-comma at 10..11: deleted"]);
/// assert_eq!(lines[5], "missing-close at 16: inserted `}`");
/// ```
impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.kind.code(), self.start)?;
        if self.start < self.end {
            write!(f, "..{}", self.end)?;
        }
        if self.after().is_empty() {
            return f.write_str(": deleted");
        }
        f.write_str(if self.start < self.end { ": replaced by `" } else { ": inserted `" })?;
        for c in self.after().chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { f.write_char(c)? }
        }
        f.write_str("`")
    }
}

/// Applies an edit script to the input that it was made for. Returns `None` if the repairs are not
/// sorted, overlap, or go past the end of the input.
///
/// ```
/// use wiremend_core::{MendOptions, apply, mend};
/// let input = b"{'a': True,}";
/// let mended = mend(input, &MendOptions::new());
/// assert_eq!(apply(input, mended.repairs()).unwrap(), mended.text().unwrap().as_bytes());
/// ```
#[must_use]
pub fn apply<R: Borrow<Repair>>(
    input: &[u8],
    repairs: impl IntoIterator<Item = R>,
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(input.len());
    let mut at = 0;
    for repair in repairs {
        let repair = repair.borrow();
        out.extend_from_slice(input.get(at..repair.start)?);
        if repair.end < repair.start {
            return None;
        }
        out.extend_from_slice(repair.after().as_bytes());
        at = repair.end;
    }
    out.extend_from_slice(input.get(at..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_takes_five_words() {
        assert_eq!(size_of::<After>(), 2 * size_of::<usize>());
        assert!(size_of::<Repair>() <= 5 * size_of::<usize>());
    }
}
