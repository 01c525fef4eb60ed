//! Finds JSON and tool calls in text: in code fences, in prose, and after reasoning blocks.
//!
//! An [`Extractor`] reads the text of a model while it arrives, in any pieces. It distinguishes
//! prose from JSON, emits prose unchanged, and passes each document to a
//! [`Mender`](jsonmend_core::Mender). It is conservative: a link, a checkbox, a citation, a
//! template, a set, a line of code or a fence of another language is text. [`mend_text`] does the
//! same for a whole text.
//!
//! ```
//! use jsonmend_core::{Options, Outcome};
//! use jsonmend_extract::{Extractor, Findings, Scope};
//!
//! let mut extractor = Extractor::new(Scope::All, Options::new());
//! let mut found = Findings::default();
//! extractor.push(b"See [docs](http://x). Result: {\"ok\": tr", &mut found);
//! extractor.push(b"ue} Done.", &mut found);
//! assert_eq!(extractor.finish(&mut found), Outcome::Unchanged);
//! assert_eq!(found.documents()[0].json(), br#"{"ok": true}"#);
//! assert_eq!(found.text(), b"See [docs](http://x). Result:  Done.");
//! ```
//!
//! A [`CallExtractor`] finds the tool calls that models write as text, in the [dialects](Dialect) of
//! their families, and a [`SegmentReader`] finds both.

use std::{fmt, str::FromStr};

use jsonmend_core::UnknownCode;

mod comment;
mod dialect;
mod document;
mod extractor;
mod margin;
mod scalar;
mod segments;
mod sink;
mod whole;

pub use dialect::{
    CallEnd, CallExtractor, CallOutcome, CallSink, CallStart, CallStartState, Dialect, FoundCall,
    FoundCalls, RestatedCall, Tools, UnknownTool,
};
pub use extractor::Extractor;
pub use jsonmend_core::prose::is_reasoning_tag;
pub use segments::{Payload, Segment, SegmentEvent, SegmentReader, SegmentSink, Segments};
pub use sink::{Findings, Found, TextSink};
pub use whole::mend_text;

/// Where to look for JSON.
///
/// With [`Scope::First`], [`Scope::Whole`], [`Scope::Best`] and [`Scope::Last`] there is one
/// document. Everything around it is recorded as deleted, so its repairs turn the *whole* input
/// into the document. With [`Scope::All`] and [`Scope::Fenced`], every document has its own
/// repairs, and the text around is not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scope {
    /// Every JSON document in the text.
    All,
    /// The best document. Only for whole texts: the [`Extractor`] takes the first one.
    Best,
    /// The documents inside code fences.
    Fenced,
    /// The first document, which is an object or an array. What follows it is text.
    #[default]
    First,
    /// The last document. Only for whole texts: the [`Extractor`] takes the first one.
    Last,
    /// The whole text is one JSON document, as in tool arguments or JSON mode. It may be a scalar.
    /// Prose around a document is recorded as deleted, and also emitted as text.
    Whole,
}

impl Scope {
    /// All scopes, in alphabetical order.
    pub const ALL: &'static [Self] =
        &[Self::All, Self::Best, Self::Fenced, Self::First, Self::Last, Self::Whole];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Best => "best",
            Self::Fenced => "fenced",
            Self::First => "first",
            Self::Last => "last",
            Self::Whole => "whole",
        }
    }

    /// Whether there is one document, with everything around it recorded as deleted.
    const fn is_single(self) -> bool {
        !matches!(self, Self::All | Self::Fenced)
    }
}

/// Prints the code.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// Parses the code.
///
/// ```
/// use jsonmend_extract::Scope;
/// assert_eq!("fenced".parse(), Ok(Scope::Fenced));
/// ```
impl FromStr for Scope {
    type Err = UnknownCode;

    fn from_str(code: &str) -> Result<Self, UnknownCode> {
        let found = Self::ALL.iter().find(|scope| scope.code() == code);
        found.copied().ok_or(UnknownCode::new("scope"))
    }
}
