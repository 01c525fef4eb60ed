//! Deserializes complete values into Rust types.

use core::fmt;

use serde::de::DeserializeOwned;
use wiremend_core::Outcome;

use crate::{Call, Doubt, MendedArguments};

/// Why arguments, or an object, could not be deserialized.
#[derive(Debug)]
#[non_exhaustive]
pub enum ParseError {
    /// They are not complete. The partial text is still available where it was.
    #[non_exhaustive]
    Incomplete {
        /// Their outcome.
        outcome: Outcome,
        /// Why they are not complete, if they may look complete.
        doubt: Option<Doubt>,
    },
    /// They are complete, but do not match the type: the error of `serde_json`.
    Type(serde_json::Error),
    /// The call was not fitted to a schema: no tool has its name, or the tool has no schema.
    Unfitted,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { outcome, doubt: Some(doubt) } => {
                write!(f, "not complete: {outcome}, {}", doubt.description())
            }
            Self::Incomplete { outcome, doubt: None } => write!(f, "not complete: {outcome}"),
            Self::Type(error) => error.fmt(f),
            Self::Unfitted => f.write_str("no tool with a schema has the name of the call"),
        }
    }
}

impl std::error::Error for ParseError {}

impl ParseError {
    /// Deserializes JSON text as a `T` if it is complete according to `outcome`.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`] without a text or a complete outcome, [`ParseError::Type`] if the text
    /// does not deserialize as a `T`.
    pub fn check<T: DeserializeOwned>(
        text: Option<&str>,
        outcome: Outcome,
        doubt: Option<Doubt>,
    ) -> Result<T, Self> {
        let Some(text) = text.filter(|_| outcome.is_complete()) else {
            return Err(Self::Incomplete { outcome, doubt });
        };
        serde_json::from_str(text).map_err(Self::Type)
    }
}

impl Call {
    /// Deserializes the arguments as a `T`, if the call is complete.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`] if the call is not complete, [`ParseError::Type`] if the arguments do
    /// not deserialize as a `T`.
    ///
    /// ```
    /// use wiremend_wire::{WireOptions, transcribe};
    /// # use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Add { a: i64, b: i64 }
    ///
    /// let body = br#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1",
    /// data: "function":{"name":"add","arguments":"{'a': 1, b: 2}"}}]},"finish_reason":"tool_calls"}]}
    ///
    /// "#;
    /// let add: Add = transcribe(body, WireOptions::new()).calls()[0].parse()?;
    /// assert_eq!(add.a + add.b, 3);
    /// # Ok::<(), wiremend_wire::ParseError>(())
    /// ```
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ParseError> {
        ParseError::check(Some(self.arguments()), self.outcome(), self.doubt())
    }
}

impl MendedArguments {
    /// Deserializes the arguments as a `T`, if they are complete.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`] if they are not complete, [`ParseError::Type`] if they do not
    /// deserialize as a `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ParseError> {
        self.call().parse()
    }
}
