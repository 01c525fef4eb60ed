//! Why a schema was refused.

use std::{error::Error, fmt};

use jsonschema::ValidationError;

/// Why a schema does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is no JSON.
    #[non_exhaustive]
    NotJson {
        /// What the reader said.
        message: String,
    },
    /// It is not a valid schema of its draft, refers to something that is not there, or holds a
    /// pattern that cannot be compiled.
    #[non_exhaustive]
    Refused {
        /// Where in the schema, as a JSON Pointer.
        pointer: String,
        /// What is wrong.
        message: String,
    },
    /// It is nested too deep.
    #[non_exhaustive]
    TooDeep {
        /// The limit, in levels.
        limit: usize,
    },
    /// It has too many values.
    #[non_exhaustive]
    TooManyNodes {
        /// The limit.
        limit: usize,
    },
    /// Its keys and strings are too long.
    #[non_exhaustive]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// One of its unions has too many branches.
    #[non_exhaustive]
    TooManyBranches {
        /// The limit.
        limit: usize,
    },
    /// Its patterns are too long, or too large when they are compiled.
    #[non_exhaustive]
    PatternTooLarge {
        /// The pattern that passed the limit, as a JSON Pointer.
        pointer: String,
        /// The limit for all of them, as they are written, in bytes.
        limit: usize,
    },
    /// One of its objects declares too many properties.
    #[non_exhaustive]
    TooManyProperties {
        /// The limit.
        limit: usize,
    },
}

impl SchemaError {
    pub(super) fn refused(error: &ValidationError<'_>) -> Self {
        use jsonschema::error::ValidationErrorKind as Kind;
        // The instance is the schema here, and is not repeated in the message.
        let message = match error.kind() {
            Kind::Referencing(error) => error.to_string(),
            _ => error.masked_with("the value").to_string(),
        };
        Self::Refused { pointer: error.instance_path().to_string(), message }
    }
}

impl SchemaError {
    /// A reference of the part at `pointer` leads nowhere.
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
