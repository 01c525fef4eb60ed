//! Reports: outcomes, repairs, paths.

use alloc::{borrow::Cow, string::String, sync::Arc, vec::Vec};
use core::{fmt, fmt::Write as _, ops::Range};

use crate::{RepairKind, Risk, code::by_code};

/// How the mending of one input ended.
///
/// ```
/// use jsonmend_core::Outcome;
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

/// One step from a container to one of its children.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum Step {
    /// The member with this (decoded) key. The paths of one input share it.
    Key(Arc<str>),
    /// The item at this index, from 0.
    Index(usize),
}

/// A place in a document: the steps from the root. It prints as `$.a[0]["b c"]`.
///
/// ```
/// use jsonmend_core::{Path, Step};
/// let path = Path::from(vec![Step::Key("a".into()), Step::Index(0), Step::Key("b c".into())]);
/// assert_eq!(path.to_string(), r#"$.a[0]["b c"]"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Path {
    steps: Vec<Step>,
}

impl Path {
    /// The steps, outermost first.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The path as a JSON Pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)).
    ///
    /// ```
    /// use jsonmend_core::{Path, Step};
    /// let path = Path::from(vec![Step::Key("a/b".into()), Step::Index(0)]);
    /// assert_eq!(path.to_pointer(), "/a~1b/0");
    /// ```
    #[must_use]
    pub fn to_pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.steps {
            pointer.push('/');
            match step {
                Step::Index(index) => {
                    // Writing to a string does not fail.
                    let _ = write!(pointer, "{index}");
                }
                Step::Key(key) => key.chars().for_each(|c| match c {
                    '~' => pointer.push_str("~0"),
                    '/' => pointer.push_str("~1"),
                    c => pointer.push(c),
                }),
            }
        }
        pointer
    }
}

impl From<Vec<Step>> for Path {
    fn from(steps: Vec<Step>) -> Self {
        Self { steps }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('$')?;
        for step in &self.steps {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_plain(key) => write!(f, ".{key}")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// One change: a [span](Self::span) of the input was replaced by [other text](Self::after).
///
/// The repairs of an input are sorted and do not overlap. Applying them to the input (see
/// [`apply`]) gives the output, byte for byte.
///
/// ```
/// use jsonmend_core::{Options, RepairKind, mend};
/// let mended = mend(b"{'a': None}", &Options::new());
/// let last = mended.repairs().last().unwrap();
/// assert_eq!(last.kind(), RepairKind::PythonLiteral);
/// assert_eq!((last.span(), last.after()), (6..10, "null"));
/// assert_eq!(last.path().to_string(), "$.a");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    pub(crate) kind: RepairKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) after: Cow<'static, str>,
    pub(crate) path: Path,
}

impl Repair {
    /// Creates a repair that replaces `span` by `after`.
    #[must_use]
    pub fn new(
        kind: RepairKind,
        span: Range<usize>,
        after: impl Into<Cow<'static, str>>,
        path: Path,
    ) -> Self {
        Self { kind, start: span.start, end: span.end, after: after.into(), path }
    }

    /// What was wrong.
    #[must_use]
    pub const fn kind(&self) -> RepairKind {
        self.kind
    }

    /// The risk of this kind of repair.
    #[must_use]
    pub const fn risk(&self) -> Risk {
        self.kind.risk()
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
        &self.after
    }

    /// Where in the document the repair was made.
    #[must_use]
    pub const fn path(&self) -> &Path {
        &self.path
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

    /// Returns the kind, the span, the text that replaces it, and the path.
    #[must_use]
    pub fn into_parts(self) -> (RepairKind, Range<usize>, Cow<'static, str>, Path) {
        (self.kind, self.start..self.end, self.after, self.path)
    }
}

/// Applies an edit script to the input that it was made for. Returns `None` if the repairs are not
/// sorted, overlap, or go past the end of the input.
///
/// ```
/// use jsonmend_core::{Options, apply, mend};
/// let input = b"{'a': True,}";
/// let mended = mend(input, &Options::new());
/// assert_eq!(apply(input, mended.repairs()).unwrap(), mended.text().unwrap().as_bytes());
/// ```
#[must_use]
pub fn apply(input: &[u8], repairs: &[Repair]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(input.len());
    let mut at = 0;
    for repair in repairs {
        out.extend_from_slice(input.get(at..repair.start)?);
        if repair.end < repair.start {
            return None;
        }
        out.extend_from_slice(repair.after.as_bytes());
        at = repair.end;
    }
    out.extend_from_slice(input.get(at..)?);
    Some(out)
}
