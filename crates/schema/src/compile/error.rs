//! Errors in schemas.

use std::{error::Error, fmt};

use jsonschema::ValidationError;

/// Why a schema does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is not JSON.
    #[non_exhaustive]
    NotJson {
        /// The message of the JSON parser.
        message: String,
    },
    /// The schema is not valid for its draft, has a reference to something that does not exist, or
    /// has a pattern that cannot be compiled.
    #[non_exhaustive]
    Refused {
        /// Where in the schema, as a JSON Pointer.
        pointer: String,
        /// What is wrong.
        message: String,
    },
    /// The schema is nested too deeply.
    #[non_exhaustive]
    TooDeep {
        /// The limit, in levels.
        limit: usize,
    },
    /// The schema contains too many values.
    #[non_exhaustive]
    TooManyNodes {
        /// The limit.
        limit: usize,
    },
    /// The keys and strings of the schema are too long.
    #[non_exhaustive]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// A union in the schema has too many branches.
    #[non_exhaustive]
    TooManyBranches {
        /// The limit.
        limit: usize,
    },
    /// The patterns of the schema are too long, or too large when compiled.
    #[non_exhaustive]
    PatternTooLarge {
        /// The pattern that exceeds the limit, as a JSON Pointer.
        pointer: String,
        /// The limit for all patterns together, in bytes of their source.
        limit: usize,
    },
    /// An object in the schema declares too many properties.
    #[non_exhaustive]
    TooManyProperties {
        /// The limit.
        limit: usize,
    },
}

impl SchemaError {
    pub(super) fn refused(error: &ValidationError<'_>) -> Self {
        use jsonschema::error::ValidationErrorKind as Kind;
        // Here the instance is the schema itself, which the message should not repeat.
        let message = match error.kind() {
            Kind::Referencing(error) => error.to_string(),
            _ => error.masked_with("the value").to_string(),
        };
        Self::Refused { pointer: error.instance_path().to_string(), message }
    }
}

impl SchemaError {
    /// The subschema at `pointer` has a reference that cannot be resolved.
    pub(super) fn refers(pointer: &str, error: &dyn fmt::Display) -> Self {
        Self::Refused { pointer: pointer.to_owned(), message: error.to_string() }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { message } => write!(f, "the schema is not JSON: {message}"),
            Self::Refused { pointer, message } if pointer.is_empty() => {
                write!(f, "the schema is not valid: {message}")
            }
            Self::Refused { pointer, message } => {
                write!(f, "the schema is not valid at {pointer}: {message}")
            }
            Self::TooDeep { limit } => write!(f, "the schema is deeper than {limit} levels"),
            Self::TooManyNodes { limit } => write!(f, "the schema has more than {limit} nodes"),
            Self::TooLarge { limit } => {
                write!(f, "the schema has more than {limit} bytes of text")
            }
            Self::TooManyBranches { limit } => {
                write!(f, "a union of the schema has more than {limit} branches")
            }
            Self::PatternTooLarge { pointer, limit } => {
                write!(
                    f,
                    "the patterns of the schema are larger than {limit} bytes allow, at {pointer}"
                )
            }
            Self::TooManyProperties { limit } => {
                write!(f, "an object of the schema declares more than {limit} properties")
            }
        }
    }
}

impl Error for SchemaError {}
