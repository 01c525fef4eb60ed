//! What the values of options mean.

use clap::ValueEnum;
use jsonmend_core::{Policy, RepairKind, Risk, TrailingDocuments};
use jsonmend_extract::Scope;
use jsonmend_schema::Rule;
use jsonmend_wire::ApiFormat;

use crate::codes::{repairs, unknown};

/// What `stream` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// Each tool call once it has ended, one JSON object a line; the documents too, where --objects
    /// or --schema asks for them.
    Calls,
    /// Everything that is certain, one JSON object a line.
    Events,
    /// The body itself, with the arguments of its calls mended.
    Provider,
    /// The text and the calls as people read them.
    Text,
}

/// The format of a provider, if it is not to be told by the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireArg(pub(crate) Option<ApiFormat>);

impl std::str::FromStr for WireArg {
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

/// How an input is cut into the pieces that are pushed.
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
                "expected `whole`, `bytes`, or a number of bytes from 1 on".to_owned()
            }),
        }
    }
}

pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a number from 1 on".to_owned())
}

pub(super) fn rule(code: &str) -> Result<Rule, String> {
    Rule::from_code(code).ok_or_else(|| format!("there is no rule `{code}`"))
}

pub(super) fn repair_kind(code: &str) -> Result<RepairKind, String> {
    RepairKind::from_code(code).ok_or_else(|| unknown(code, repairs()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyArg {
    /// Up to likely; what was cut off is never closed.
    Conservative,
    /// Every repair, each with its risk.
    Permissive,
    /// None: valid JSON or a refusal.
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
    /// One reading, nothing lost.
    Exact,
    /// A strongly indicated reading.
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
    /// Every document in the text.
    All,
    /// The document that reads best (not with --stream).
    Best,
    /// The documents inside code fences.
    Fenced,
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
pub(crate) enum FollowingArg {
    /// Keep each as a text of its own.
    All,
    /// Join them into one array (not with --stream).
    Array,
    /// Refuse the input.
    Error,
    /// Keep the first.
    First,
    /// Keep the last (not with --stream).
    Last,
}

impl FollowingArg {
    pub(crate) const fn following(self) -> TrailingDocuments {
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
    fn splits_cut_as_named() {
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
