//! From a text to a Rust type.

use std::{error::Error, fmt};

use serde::de::DeserializeOwned;

use crate::{FitOptions, Fitted, Rendering, Schema, SchemaError};

/// Why a text did not become a value of a Rust type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParseError {
    /// The schema of the type does not compile.
    Schema(SchemaError),
    /// The value fits the schema, but not the type.
    Type {
        /// Where in the value, as serde tells it: `items[2].price`. `.` is the whole value.
        path: String,
        /// What serde says.
        message: String,
        /// The value and what was done to it.
        fitted: Box<Fitted>,
    },
    /// The text holds no value that fits the schema. [`Fitted::issues`] says why.
    Unfit(Box<Fitted>),
}

impl ParseError {
    /// What became of the text, if it was read.
    #[must_use]
    pub fn fitted(&self) -> Option<&Fitted> {
        match self {
            Self::Schema(_) => None,
            Self::Type { fitted, .. } | Self::Unfit(fitted) => Some(fitted),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(error) => error.fmt(f),
            Self::Type { path, message, .. } => write!(f, "{path}: {message}"),
            Self::Unfit(fitted) if fitted.issues().is_empty() => {
                write!(f, "no value that fits the schema: {}", fitted.outcome())
            }
            Self::Unfit(fitted) => {
                write!(
                    f,
                    "the value does not fit the schema:\n{}",
                    Rendering::new().for_model(fitted.issues())
                )
            }
        }
    }
}

impl Error for ParseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Schema(error) => Some(error),
            Self::Type { .. } | Self::Unfit(_) => None,
        }
    }
}

impl Schema {
    /// [Fits](Schema::fit) a text and reads it as a `T`, which should be the type that the schema
    /// was written for. With the value comes what was done to the text.
    ///
    /// ```
    /// use jsonmend_schema::{FitOptions, ParseError, Schema};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Order { count: u8 }
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"properties": {"count": {"type": "integer"}}, "required": ["count"]}"#,
    /// )?;
    /// let (order, fitted) = schema.parse_as::<Order>(b"{count: '4'}", &FitOptions::new())?;
    /// assert_eq!((order.count, fitted.text()), (4, Some(r#"{"count": 4}"#)));
    ///
    /// let error = schema.parse_as::<Order>(b"{\"count\": 400}", &FitOptions::new()).err().unwrap();
    /// assert!(error.to_string().starts_with("count: invalid value: integer `400`"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ParseError::Unfit`] if there is no text that fits; [`ParseError::Type`] if serde refuses it.
    pub fn parse_as<T: DeserializeOwned>(
        &self,
        input: &[u8],
        options: &FitOptions,
    ) -> Result<(T, Fitted), ParseError> {
        let fitted = self.fit(input, options);
        let Some(text) = fitted.text() else { return Err(ParseError::Unfit(Box::new(fitted))) };
        let mut reader = serde_json::Deserializer::from_str(text);
        match serde_path_to_error::deserialize(&mut reader) {
            Ok(value) => Ok((value, fitted)),
            Err(error) => Err(ParseError::Type {
                path: error.path().to_string(),
                message: error.inner().to_string(),
                fitted: Box::new(fitted),
            }),
        }
    }
}

/// Reads a text as a `T`, by the schema that `T` derives. For more than one text, make the schema
/// once, with [`Schema::of`], and call [`Schema::parse_as`].
///
/// ```
/// use jsonmend_schema::{FitOptions, parse_as};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Trip { city: String, days: Option<u32> }
///
/// let (trip, _) = parse_as::<Trip>(b"{city: 'Oslo', days: '3'}", &FitOptions::new())?;
/// assert_eq!((trip.city.as_str(), trip.days), ("Oslo", Some(3)));
/// # Ok::<(), jsonmend_schema::ParseError>(())
/// ```
///
/// # Errors
/// As [`Schema::parse_as`], and [`ParseError::Schema`] if the schema does not compile.
#[cfg(feature = "schemars")]
pub fn parse_as<T: DeserializeOwned + schemars::JsonSchema>(
    input: &[u8],
    options: &FitOptions,
) -> Result<(T, Fitted), ParseError> {
    Schema::of::<T>().map_err(ParseError::Schema)?.parse_as(input, options)
}

#[cfg(feature = "schemars")]
impl Schema {
    /// Compiles the schema that a Rust type derives.
    ///
    /// # Errors
    /// As [`Schema::compile`].
    pub fn of<T: schemars::JsonSchema>() -> Result<Self, SchemaError> {
        Self::compile(&schemars::schema_for!(T).to_value())
    }
}
