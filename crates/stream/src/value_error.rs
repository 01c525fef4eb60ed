//! Why there is no typed value.

use std::fmt;

use wiremend_core::Outcome;
use wiremend_wire::{Doubt, WireError};

use crate::Error;

/// Why an item or a value could not be given as a Rust type.
#[derive(Debug)]
#[non_exhaustive]
pub enum ValueError<E> {
    /// The document is not complete: it was cut off, needs a repair that the policy forbids, or passed a
    /// limit.
    #[non_exhaustive]
    Incomplete {
        /// How it ended.
        outcome: Outcome,
        /// How many items of the array had closed before, including those that were not of the type.
        /// 0 for a value that is no array.
        items: usize,
    },
    /// An item, or the value, is complete and does not fit the schema. Items that follow are still emitted.
    #[cfg(feature = "schema")]
    #[non_exhaustive]
    Fit {
        /// The position of the item. `None` for the whole value.
        index: Option<usize>,
        /// The JSON text.
        json: String,
        /// What is wrong with it: at least one issue.
        issues: Vec<wiremend_schema::Issue>,
    },
    /// Something of the response was lost or damaged, so what follows may lack a part, and is not given. Comes once
    /// for each loss that is not a [`Provider`](Self::Provider) error itself.
    Lost(Doubt),
    /// There is no document, or it has no array in that place.
    NotFound,
    /// The provider reported an error inside the response.
    Provider(Box<WireError>),
    /// An item, or the value, is longer than the limit on what is kept. Items that follow are still emitted.
    #[non_exhaustive]
    TooLong {
        /// The position of the item. `None` for the whole value.
        index: Option<usize>,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The response has more texts than are read (1,024). The others are not read.
    TooManyTexts,
    /// An item, or the value, is complete and is not of the type. Items that follow are still emitted.
    #[non_exhaustive]
    Type {
        /// The position of the item. `None` for the whole value.
        index: Option<usize>,
        /// The JSON text.
        json: String,
        /// Why it is not of the type.
        error: serde_json::Error,
    },
    /// The stream of bytes failed. Everything it yielded before the failure has already been emitted.
    Upstream(E),
}

impl<E> From<Error<E>> for ValueError<E> {
    fn from(error: Error<E>) -> Self {
        Self::Upstream(error.into_inner())
    }
}

/// Says what failed, with the first issue of a value that does not fit. [`source`](std::error::Error::source)
/// gives the cause.
impl<E> fmt::Display for ValueError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { outcome, items } => {
                f.write_str("the document is not complete: ")?;
                match outcome {
                    // What was closed is not, although its text is valid.
                    Outcome::Closed | Outcome::Cut => f.write_str("its end is missing")?,
                    other => write!(f, "{other}")?,
                }
                match items {
                    0 => Ok(()),
                    1 => f.write_str("; 1 item of it had closed before"),
                    items => write!(f, "; {items} items of it had closed before"),
                }
            }
            #[cfg(feature = "schema")]
            Self::Fit { index, issues, .. } => {
                match index {
                    Some(index) => write!(f, "item {index} does not fit the schema")?,
                    None => f.write_str("the value does not fit the schema")?,
                }
                let (first, more) = (issues.first(), issues.len().saturating_sub(1));
                first.map_or(Ok(()), |issue| write!(f, ": {issue}"))?;
                if more == 0 { Ok(()) } else { write!(f, "; and {more} more") }
            }
            Self::Lost(doubt) => write!(f, "a part of the response was lost: {doubt}"),
            Self::NotFound => f.write_str("there is no such value in the text"),
            Self::Provider(_) => f.write_str("the provider reported an error"),
            Self::TooLong { index: Some(index), limit } => {
                write!(f, "item {index} is longer than {limit} bytes")
            }
            Self::TooLong { index: None, limit } => {
                write!(f, "the value is longer than {limit} bytes")
            }
            Self::TooManyTexts => f.write_str("the response has too many texts"),
            Self::Type { index: Some(index), .. } => write!(f, "item {index} is of another type"),
            Self::Type { index: None, .. } => f.write_str("the value is of another type"),
            Self::Upstream(_) => f.write_str("the stream of bytes failed"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for ValueError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Provider(error) => Some(&**error),
            Self::Type { error, .. } => Some(error),
            Self::Upstream(error) => Some(error),
            _ => None,
        }
    }
}
