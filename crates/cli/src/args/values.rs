//! The values of options.

use clap::ValueEnum;
use wiremend_core::{Policy, RepairKind, Risk, TrailingDocuments};
use wiremend_extract::Scope;
use wiremend_schema::Rule;
use wiremend_wire::ApiFormat;

use crate::codes::{repairs, unknown};

/// What `stream` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// Each tool call when it has ended, one JSON object per line; with --objects or --schema, the
    /// documents too.
    Calls,
    /// Everything that is certain, one JSON object per line.
    Events,
    /// The body itself, with the arguments of its calls repaired.
    Provider,
    /// Text and calls, for people.
    Text,
}

/// The format of a body; `None` to detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FormatArg(pub(crate) Option<ApiFormat>);

impl std::str::FromStr for FormatArg {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match (name, ApiFormat::from_code(name)) {
            ("auto", _) => Ok(Self(None)),
            (_, Some(wire)) => Ok(Self(Some(wire))),
            _ => {
                let known: Vec<&str> = ApiFormat::ALL.iter().map(|format| format.code()).collect();
                Err(format!("expected `auto` or one of {}", known.join(", ")))
            }
        }
    }
}

/// How an input is split into the pieces that are pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    Whole,
    Every(usize),
}

impl Split {
    /// The pieces of `input`. None of them is empty.
    pub(crate) fn pieces(self, input: &[u8]) -> std::slice::Chunks<'_, u8> {
        match self {
            Self::Whole => input.chunks(input.len().max(1)),
            Self::Every(size) => input.chunks(size.max(1)),
        }
    }
}

impl std::str::FromStr for Split {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "whole" => Ok(Self::Whole),
            "bytes" => Ok(Self::Every(1)),
            _ => at_least_one(text).map(Self::Every).map_err(|_| {
                "expected `whole`, `bytes`, or a number of bytes of at least 1".to_owned()
            }),
        }
    }
}

pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a number of at least 1".to_owned())
}

pub(super) fn rule(code: &str) -> Result<Rule, String> {
    Rule::from_code(code).ok_or_else(|| format!("there is no rule `{code}`"))
}

pub(super) fn repair_kind(code: &str) -> Result<RepairKind, String> {
    RepairKind::from_code(code).ok_or_else(|| unknown(code, repairs()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyArg {
    /// Exact and likely repairs. An input that was cut off is not closed.
    Conservative,
    /// Every repair.
    Permissive,
    /// No repair: anything but valid JSON is refused.
    Strict,
}

impl PolicyArg {
    pub(crate) const fn policy(self) -> Policy {
        match self {
            Self::Conservative => Policy::CONSERVATIVE,
            Self::Permissive => Policy::PERMISSIVE,
            Self::Strict => Policy::STRICT,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RiskArg {
    /// There is one reading, and nothing is lost.
    Exact,
    /// The reading is strongly indicated.
    Likely,
    /// Something is dropped.
    Lossy,
    /// Something is invented or chosen.
    Guess,
}

impl RiskArg {
    pub(crate) const fn risk(self) -> Risk {
        match self {
            Self::Exact => Risk::Exact,
            Self::Likely => Risk::Likely,
            Self::Lossy => Risk::Lossy,
            Self::Guess => Risk::Guess,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// All documents in the text.
    All,
    /// The best reading of the text, which may be several documents (not with --stream).
    Best,
    /// The documents in code fences.
    Fenced,
    /// The first document.
    First,
    /// The last document (not with --stream).
    Last,
    /// The whole text is one document.
    Whole,
}

impl ScopeArg {
    pub(crate) const fn scope(self) -> Scope {
        match self {
            Self::All => Scope::All,
            Self::Best => Scope::Best,
            Self::Fenced => Scope::Fenced,
            Self::First => Scope::First,
            Self::Last => Scope::Last,
            Self::Whole => Scope::Whole,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrailingArg {
    /// Print each document separately.
    All,
    /// Join the documents into an array (not with --stream).
    Array,
    /// Refuse the input.
    Error,
    /// Keep the first document.
    First,
    /// Keep the last document (not with --stream).
    Last,
}

impl TrailingArg {
    pub(crate) const fn trailing(self) -> TrailingDocuments {
        match self {
            Self::All => TrailingDocuments::All,
            Self::Array => TrailingDocuments::Array,
            Self::Error => TrailingDocuments::Error,
            Self::First => TrailingDocuments::First,
            Self::Last => TrailingDocuments::Last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_are_parsed() {
        let pieces = |split: &str| -> Vec<usize> {
            split.parse::<Split>().unwrap().pieces(b"abcde").map(<[u8]>::len).collect()
        };
        assert_eq!(pieces("whole"), [5]);
        assert_eq!(pieces("bytes"), [1; 5]);
        assert_eq!(pieces("2"), [2, 2, 1]);
        assert!("0".parse::<Split>().is_err());
        assert!("x".parse::<Split>().is_err());
        assert_eq!(Split::Whole.pieces(b"").count(), 0);
    }
}
