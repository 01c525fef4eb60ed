//! Finds JSON and tool calls in text: in code fences, in prose, and after reasoning blocks.
//!
//! A [`Finder`] reads the text of a model while it arrives, in any pieces. It distinguishes
//! prose from JSON, emits prose unchanged, and passes each document to a
//! [`Mender`](wiremend_core::Mender). It is conservative: a link, a checkbox, a citation, a
//! template, a set, a line of code or a fence of another language is text. [`find`] does the
//! same for a whole text.
//!
//! ```
//! use wiremend_core::{MendOptions, Outcome};
//! use wiremend_extract::{Finder, FoundDocuments, Scope};
//!
//! let mut extractor = Finder::new(Scope::All, MendOptions::new());
//! let mut found = FoundDocuments::default();
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

use wiremend_core::{TrailingDocuments, UnknownCode};

mod comment;
mod dialect;
mod document;
mod finder;
mod margin;
mod scalar;
mod segments;
mod sink;
mod whole;

pub use dialect::{
    CallEnd, CallExtractor, CallOutcome, CallSink, CallStart, CallStartState, Dialect, FoundCall,
    FoundCalls, MentionedCall, RestatedCall, Tools, UnknownTool,
};
pub use finder::Finder;
pub use segments::{Payload, Segment, SegmentEvent, SegmentReader, SegmentSink, Segments};
pub use sink::{FoundDocument, FoundDocuments, TextSink};
pub use whole::find;
pub use wiremend_core::prose::is_reasoning_tag;

/// Where to look for JSON.
///
/// Several documents are all the result, unless one is asked for. For [`find`], they are one
/// array, or a sequence with [`TrailingDocuments::All`]: with [`Scope::All`] and [`Scope::Fenced`], and
/// with [`Scope::Best`] and [`Scope::Whole`] if the options say so ([`TrailingDocuments::Array`]). What
/// is dropped because one was asked for is a repair, [`RepairKind::SecondDocument`].
///
/// With [`Scope::First`], [`Scope::Whole`], [`Scope::Best`] and [`Scope::Last`], a [`Finder`] finds
/// one document. Everything around it is recorded as deleted, so its repairs turn the *whole* input
/// into the document. With [`Scope::All`] and [`Scope::Fenced`], and with [`Scope::Whole`] and
/// [`TrailingDocuments::All`], every document has its own repairs, and the text around is not recorded.
///
/// [`RepairKind::SecondDocument`]: wiremend_core::RepairKind::SecondDocument
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scope {
    /// Every JSON document in the text.
    All,
    /// The best reading of the text, and of several documents the best one, if one is wanted. Only for
    /// whole texts: the [`Finder`] takes the first one.
    Best,
    /// The documents inside code fences.
    Fenced,
    /// The first document, which is an object or an array. What follows it is text.
    #[default]
    First,
    /// The last document. Only for whole texts: the [`Finder`] takes the first one.
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

    /// Whether all documents of a text are wanted, and not one of them.
    const fn takes_several(self, trailing: TrailingDocuments) -> bool {
        match (self, trailing) {
            (Self::First | Self::Last, _) => false,
            (_, TrailingDocuments::All | TrailingDocuments::Array) => true,
            (Self::All | Self::Fenced, TrailingDocuments::First) => true,
            _ => false,
        }
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
/// use wiremend_extract::Scope;
/// assert_eq!("fenced".parse(), Ok(Scope::Fenced));
/// ```
impl FromStr for Scope {
    type Err = UnknownCode;

    fn from_str(code: &str) -> Result<Self, UnknownCode> {
        let found = Self::ALL.iter().find(|scope| scope.code() == code);
        found.copied().ok_or(UnknownCode::new("scope"))
    }
}
