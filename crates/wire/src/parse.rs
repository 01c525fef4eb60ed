//! From what is complete to a Rust type.

use core::fmt;

use jsonmend_core::Outcome;
use serde::de::DeserializeOwned;

use crate::{Call, Doubt, MendedArguments};

/// Why arguments, or an object, did not become a value of a Rust type.
#[derive(Debug)]
#[non_exhaustive]
pub enum ParseError {
    /// They are not complete. What there is of them is still where it was.
    #[non_exhaustive]
    Incomplete {
        /// What became of them.
        outcome: Outcome,
        /// Why, where they may look complete.
        doubt: Option<Doubt>,
    },
    /// They are complete, and not of that type: the message of `serde_json`.
    Type(serde_json::Error),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { outcome, doubt: Some(doubt) } => {
                write!(f, "not complete: {outcome}, {}", doubt.description())
            }
            Self::Incomplete { outcome, doubt: None } => write!(f, "not complete: {outcome}"),
            Self::Type(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ParseError {}

impl ParseError {
    /// Reads JSON text as a `T` where it is complete, as its outcome says.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`] without a text or a complete outcome, [`ParseError::Type`] where the
    /// text is of another type.
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
    /// Reads the arguments as a `T`, if the call is complete.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`] if the call is not complete, [`ParseError::Type`] if the arguments are
    /// of another type.
    ///
    /// ```
    /// use jsonmend_wire::{WireOptions, transcribe};
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
    /// # Ok::<(), jsonmend_wire::ParseError>(())
    /// ```
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ParseError> {
        ParseError::check(Some(self.arguments()), self.outcome(), self.doubt())
    }
}

impl MendedArguments {
    /// Reads the arguments as a `T`, if they are complete.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`] if they are not complete, [`ParseError::Type`] if they are of another
    /// type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ParseError> {
        self.call().parse()
    }
}
